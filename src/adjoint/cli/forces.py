"""The command about forces: `torque`."""

from typing import TYPE_CHECKING, Annotated

import typer

from .guard import note
from .options import Degrees, FrameOption, Json, Out, QOption, with_robot
from .output import SHOWN, UNITS, print_json, print_line, print_table, write_columns
from .poses import more, q_columns
from .robots import frame_or_default
from .values import configurations, numbers, rates, turning

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot

__all__ = ["torque"]


@with_robot
def torque(
    robot: "Robot",
    q: QOption = None,
    v: Annotated[
        str | None, typer.Option("--v", metavar="NUMBERS|FILE", help="Joint velocities, as --q; by default 0.")
    ] = None,
    a: Annotated[
        str | None, typer.Option("--a", metavar="NUMBERS|FILE", help="Joint accelerations, as --q; by default 0.")
    ] = None,
    payload: Annotated[
        float, typer.Option(metavar="KG", help="The mass of a load at the frame's origin.", min=0.0)
    ] = 0.0,
    wrench: Annotated[
        str | None,
        typer.Option(metavar="MX,MY,MZ,FX,FY,FZ", help="What acts on the frame, in N m and N, seen from it."),
    ] = None,
    frame: FrameOption = None,
    degrees: Degrees = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Inverse dynamics: the joint forces of a motion, or those that hold the robot still.

    Examples:

      adjoint torque puma560 --q 0,-0.8,1.6,0,0.5,0              what holds it there
      adjoint torque arm.urdf --q 0,0.5 --v 1,0 --a 0,2          what moves it so
      adjoint torque arm.urdf --q motion.csv --v motion.csv --a motion.csv --out recording.csv
      adjoint torque puma560 --payload 2.5                       with 2.5 kg at the tool

    Forces are tau = M(q) a + C(q, v) v + gravity + friction, in N m for joints that turn and N for those that slide.
    CSV files have the columns q_<joint>, v_<joint>, a_<joint> and tau_<joint>, which identify reads; files that are
    given may have more columns than needed.
    """
    import numpy as np

    from ..dynamics import gravity_torque, inverse_dynamics
    from ..dynamics.regressors import dof_names

    tip = frame_or_default(robot, frame)
    loaded = _loaded(robot, tip, payload)
    at, rate, gain = (
        configurations(robot, q, degrees=degrees),
        rates(robot, v, "--v", degrees),
        rates(robot, a, "--a", degrees),
    )
    acting = {}
    if wrench is not None:
        names = ["mx", "my", "mz", "fx", "fy", "fz"]
        acting = {"frames": tip, "applied_wrenches": numbers(wrench, names, "--wrench", alike=False)}
    at, rate, gain = _broadcast(at, rate, gain)
    tau = inverse_dynamics(loaded, at, rate, gain, **acting)
    if out is not None:
        columns = {"v": rate, "a": gain, "tau": tau}
        write_columns(out, q_columns(robot, at) | _columns(robot, columns), {"q": at, **columns})
        if out != "-":
            note(f"wrote {len(tau.reshape(-1, robot.nv))} rows to {out}")
    elif as_json:
        gravity = gravity_torque(loaded, at)
        data = {"robot": robot.name, "units": UNITS, "q": at, "v": rate, "a": gain, "tau": tau}
        print_json(data | {"gravity": gravity})
    elif tau.ndim == 1:
        _print_one(robot, at, rate, gain, tau, degrees)
    else:
        rows = [[k, *map(float, row)] for k, row in enumerate(np.asarray(tau))]
        print_table(["sample", *dof_names(robot)], rows[:SHOWN])
        more(len(rows))


def _loaded(robot: "Robot", tip: str, payload: float) -> "Robot":
    from ..lie import inertia

    return robot.with_payload(tip, inertia.sphere.eager(payload, 0.0)) if payload else robot


def _broadcast(*arrays: "np.ndarray") -> list["np.ndarray"]:
    """Return states with as many samples as the longest has."""
    import numpy as np

    from ..errors import ArgumentError

    counts = {len(x) for x in arrays if x.ndim == 2}
    if len(counts) > 1:
        raise ArgumentError(f"--q, --v and --a have {' and '.join(map(str, sorted(counts)))} samples; one is for all")
    n = counts.pop() if counts else 0
    return [np.broadcast_to(x, (n, x.shape[-1])) for x in arrays] if n else list(arrays)


def _columns(robot: "Robot", arrays: dict[str, "np.ndarray"]) -> dict[str, "np.ndarray"]:
    from ..dynamics.regressors import dof_names

    return {
        f"{field}_{name}": x.reshape(-1, robot.nv)[:, k]
        for field, x in arrays.items()
        for k, name in enumerate(dof_names(robot))
    }


def _print_one(
    robot: "Robot", q: "np.ndarray", v: "np.ndarray", a: "np.ndarray", tau: "np.ndarray", degrees: bool
) -> None:
    """Show the force of every joint beside its limit."""
    import numpy as np

    from ..dynamics.regressors import dof_names

    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(np.isfinite(robot.effort_limit), 100 * np.abs(tau) / robot.effort_limit, np.inf)
    own = q if robot.nq == robot.nv else np.full(robot.nv, np.inf)
    turn = np.where(turning(robot, "v") & degrees, 180 / np.pi, 1.0)
    table = zip(dof_names(robot), turn * own, turn * v, turn * a, tau, robot.effort_limit, parts, strict=True)
    rows = [[name, *map(float, row), "over" if row[-1] > 100 and np.isfinite(row[-1]) else ""] for name, *row in table]
    print_line(f"joint forces of {robot.name} [N m, N]{'; angles in deg' * degrees}", "bold")
    print_table(["joint", "q", "v", "a", "tau", "limit", "% of limit", ""], rows)
