"""The command `simulate`: a robot under control, in time."""

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .guard import FAILED, note
from .motions import read_trajectory
from .options import Degrees, Json, with_robot
from .output import UNITS, number, print_json, print_line, print_table, progress
from .values import configurations, numbers, rates

if TYPE_CHECKING:
    import numpy as np

    from ..control import Law
    from ..model import Robot
    from ..simulation import Run
    from ..trajectory import Trajectory

__all__ = ["simulate"]


class Controller(StrEnum):
    """Controllers of `simulate`."""

    none = "none"
    pd = "pd"
    computed_torque = "computed-torque"


_RECORDED = 1000  # about so many states of a run are kept, unless the user says otherwise


@with_robot
def simulate(
    robot: "Robot",
    controller: Annotated[
        Controller | None, typer.Option(help="By default none, or computed-torque if there is a goal or a trajectory.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", help="Where it starts, as --q of fk; by default where the trajectory does, or neutral."
        ),
    ] = None,
    v: Annotated[str | None, typer.Option("--v", metavar="NUMBERS", help="Joint velocities at the start.")] = None,
    goal: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="Where it shall go; a smooth motion of half the duration leads there."),
    ] = None,
    trajectory: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A motion to follow, that trajectory make wrote.")
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="By default 2, or the duration of the trajectory in whole steps."),
    ] = None,
    dt: Annotated[float, typer.Option(metavar="SECONDS", help="The time step.")] = 0.001,
    frequency: Annotated[
        float,
        typer.Option(
            metavar="RAD/S", help="How stiff the control is: errors decay as with a spring of this frequency.", min=0.0
        ),
    ] = 10.0,
    kp: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Gains of positions, in place of --frequency.")
    ] = None,
    kd: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Gains of velocities, in place of --frequency.")
    ] = None,
    saturate: Annotated[
        bool, typer.Option("--saturate", help="Keep joint forces within the robot's effort limits.")
    ] = False,
    integrator: Annotated[
        str, typer.Option(metavar="NAME", help="semi_implicit, rk4, or another name of adjoint.simulation.")
    ] = "semi_implicit",
    degrees: Degrees = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the run into a .npz file, or a table into .parquet."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw curves into a .png, .pdf or .svg.")
    ] = None,
    animate: Annotated[
        Path | None,
        typer.Option("--animate", metavar="FILE", help="Draw the moving robot into a .html page, or a .gif."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a robot that swings freely, or that a controller moves to a goal or along a trajectory.

    Examples:

      adjoint simulate puma560 --start 0,-0.5,1,0,0,0 --duration 3 --animate swing.html
      adjoint simulate puma560 --goal 1,-0.8,2,0.3,0.7,0 --controller pd --plot run.png
      adjoint simulate arm.urdf --trajectory move.npz --out run.npz

    Controllers: pd is a spring and a damper in every joint, with compensation of gravity; computed-torque also knows
    the robot's dynamics. The table shows, for every joint, where it starts and ends, how far it was from where it
    should be, and its largest force. The exit code is 1 if the run does not stay finite: then take a shorter --dt, or
    softer control.
    """
    motion = _motion(robot, start, goal, trajectory, duration, degrees)
    chosen = str(controller or (Controller.none if motion is None else Controller.computed_torque))
    if motion is None and chosen != "none":
        raise ArgumentError(f"simulate: the controller {chosen} needs --goal or --trajectory")
    q = configurations(robot, start, "--start", degrees) if start or motion is None else motion(0.0).q
    seconds = _seconds(duration, trajectory, motion, dt)
    law = None if chosen == "none" else _law(robot, chosen, motion, q, frequency, kp, kd, saturate)
    began = time.perf_counter()
    run = _run(robot, law, q, rates(robot, v, "--v", degrees), seconds, dt, integrator)
    took = time.perf_counter() - began
    files = _write(run, out, plot, animate)
    if as_json:
        print_json(_data(run, chosen, took) | {"files": files})
    else:
        _show(run, chosen, seconds, dt, took, degrees)
        for name in files:
            note(f"wrote {name}")
    if not run.finite.all():
        note(f"error: {_diverged(run)}; a shorter --dt or softer control may help")
        raise typer.Exit(FAILED)


def _diverged(run: "Run") -> str:
    """Return when a run has left the finite numbers, and the joint that was the fastest before."""
    import numpy as np

    from ..dynamics.regressors import dof_names

    good = np.isfinite(run.q).all(axis=-1) & np.isfinite(run.v).all(axis=-1)
    first = int(np.argmin(good))
    name = dof_names(run.robot)[int(np.argmax(np.abs(run.v[max(first - 1, 0)])))]
    return f"the simulation diverged: numbers are not finite from {run.t[first]:g} s on, and joint '{name}' was fastest"


def _motion(
    robot: "Robot", start: str | None, goal: str | None, file: Path | None, duration: float | None, degrees: bool
) -> "Trajectory | None":
    """Return the motion that is wanted, or None."""
    from ..trajectory import quintic

    if file is not None and goal is not None:
        raise ArgumentError("simulate: give either --goal or --trajectory")
    if file is not None:
        return read_trajectory(robot, file)
    if goal is None:
        return None
    q_0, q_1 = (configurations(robot, x, option, degrees) for x, option in ((start, "--start"), (goal, "--goal")))
    return quintic(q_0, q_1, 0.5 * (duration or 2.0), robot=robot)


def _seconds(duration: float | None, file: Path | None, motion: "Trajectory | None", dt: float) -> float:
    """Return the duration: by default that of the trajectory in a file, in whole steps."""
    import math

    if duration is not None or motion is None or file is None:
        return 2.0 if duration is None else duration
    return math.ceil(motion.duration / dt - 1e-9) * dt if dt > 0 else motion.duration


def _law(
    robot: "Robot", name: str, motion: "Trajectory | None", q: "np.ndarray", frequency: float,
    kp: str | None, kd: str | None, saturate: bool,
) -> "Law":  # fmt: skip
    """Return the controller; its gains make the error decay like e'' + 2ω e' + ω² e = 0, unless they are given."""
    import numpy as np

    from .. import control
    from ..dynamics import mass_matrix

    names = [f"joint {k}" for k in range(robot.nv)]
    size = np.diagonal(mass_matrix(robot, q)) if name == "pd" else 1.0
    p = numbers(kp, names, "--kp") if kp else frequency**2 * size
    d = numbers(kd, names, "--kd") if kd else 2 * np.sqrt(p * size)
    law = (
        control.pd(motion, kp=p, kd=d, gravity=True, model=robot)
        if name == "pd"
        else control.computed_torque(robot, motion, kp=p, kd=d)
    )
    if saturate and not np.isfinite(robot.effort_limit).any():
        raise ArgumentError(f"--saturate: robot '{robot.name}' has no effort limits")
    return control.saturated(law) if saturate else law


def _run(
    robot: "Robot", law: "Law | None", q: "np.ndarray", v: "np.ndarray", seconds: float, dt: float, integrator: str
) -> "Run":
    """Run the simulation; about a thousand states are kept."""
    from ..simulation import simulate
    from ..simulation.running import divisor_near

    steps = max(1, round(seconds / dt)) if dt > 0 and 0 < seconds / dt < 1e12 else 1
    record = 1 if steps <= 2 * _RECORDED else divisor_near(steps, steps // _RECORDED)
    with progress("simulate") as tell:
        return simulate(
            robot, law, q=q, v=v, duration=seconds, dt=dt, integrator=integrator, record=record, progress=tell
        )


def _write(run: "Run", out: Path | None, plot: Path | None, animate: Path | None) -> list[str]:
    """Write the files that are wanted; return their names."""
    wanted = ((out, run.save), (plot, run.plot), (animate, run.animate))
    return [str(write(path)) for path, write in wanted if path is not None]


def _data(run: "Run", controller: str, took: float) -> dict[str, Any]:
    import numpy as np

    energy = run.energy.total
    found = {
        "robot": run.robot.name,
        "controller": controller,
        "units": UNITS,
        "duration": run.t[-1],
        "dt": run.setup.dt,
    }
    found |= {"seconds": took, "finite": bool(run.finite), "q": run.q[-1], "v": run.v[-1]}
    found |= {"largest_tau": np.abs(run.tau).max(axis=0), "energy": {"start": energy[0], "end": energy[-1]}}
    if run.setup.law is not None:
        found |= {"error": run.error[-1], "largest_error": np.abs(run.error).max(axis=0)}
    return found


def _show(run: "Run", controller: str, seconds: float, dt: float, took: float, degrees: bool) -> None:
    """Print what happened to every joint."""
    import numpy as np

    from ..dynamics.regressors import dof_names
    from .values import turning

    robot, n = run.robot, run.robot.nv
    turn = np.where(turning(robot, "v") & degrees, 180 / np.pi, 1.0)
    blank = np.full(n, np.inf)
    ends = (turn * run.q[0], turn * run.q[-1]) if robot.nq == n else (blank, blank)
    errors = (blank, blank)
    if run.setup.law is not None:
        errors = (turn * np.abs(run.error).max(axis=0), turn * run.error[-1])
    tau = np.abs(run.tau).max(axis=0) if run.setup.law is not None else blank
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(np.isfinite(robot.effort_limit) & np.isfinite(tau), 100 * tau / robot.effort_limit, np.inf)
    columns = (*ends, *errors, turn * np.abs(run.v).max(axis=0), tau, parts)
    rows = [[name, *map(float, row)] for name, *row in zip(dof_names(robot), *columns, strict=True)]
    print_line(
        f"{robot.name}, {controller}: {seconds:g} s in {round(seconds / dt)} steps, computed in {took:.2f} s", "bold"
    )
    header = ["joint", "start", "end", "largest error", "error at end", "largest |v|", "largest |tau|", "% of limit"]
    print_table(header, rows)
    energy = run.energy.total
    print_line(f"energy {number(energy[0])} J at the start, {number(energy[-1])} J at the end")
