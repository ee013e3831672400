"""Commands about where a robot's frames are and how they move: `fk` and `jacobian`."""

from typing import TYPE_CHECKING, Annotated

import typer

from .guard import note
from .options import Degrees, Expressed, FrameOption, Json, Out, QOption, with_robot
from .output import SHOWN, UNITS, print_json, print_line, print_matrix, print_pairs, print_table, write_columns
from .output import number as shown_number
from .robots import frame_or_default
from .values import configurations

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot

__all__ = ["fk", "jacobian", "more", "q_columns", "told"]

RelativeTo = Annotated[
    str | None, typer.Option("--relative-to", metavar="NAME", help="Another frame to see it from, instead of the base.")
]

# --- fk ---------------------------------------------------------------------------------------------------------------


@with_robot
def fk(
    robot: "Robot",
    q: QOption = None,
    frame: FrameOption = None,
    relative_to: RelativeTo = None,
    degrees: Degrees = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Forward kinematics: where a frame is, of one configuration or of a file of them.

    Examples:

      adjoint fk puma560 --q 0,-45,90,0,30,0 --degrees
      adjoint fk arm.urdf --q "0 0.5 1" --frame gripper --json
      adjoint fk arm.urdf --q samples.csv --out poses.csv
      adjoint fk arm.urdf --q - --out - < samples.csv

    The position is in metres. Roll, pitch and yaw are angles about the fixed x, y and z axes of the base:
    R = Rz(yaw) Ry(pitch) Rx(roll). The quaternion has its real part first. CSV files have the columns q_<joint>,
    x, y, z, qw, qx, qy, qz; NPZ files have the arrays q and T (4, 4).
    """
    from ..kinematics import forward_kinematics

    tip, at = frame_or_default(robot, frame), configurations(robot, q, degrees=degrees)
    T = forward_kinematics(robot, at, tip, relative_to=relative_to)
    if out is not None:
        write_columns(out, q_columns(robot, at) | _pose_columns(T), {"q": at, "T": T})
        told(out, len(T.reshape(-1, 16)))
    elif as_json:
        print_json(
            {"robot": robot.name, "frame": tip, "relative_to": relative_to, "units": UNITS, "q": at, **pose_data(T)}
        )
    elif T.ndim == 2:
        _print_pose(T, f"frame '{tip}' of {robot.name}, seen from {relative_to or robot.base_name}", degrees)
    else:
        _print_poses(T, degrees)


def q_columns(robot: "Robot", q: "np.ndarray") -> dict[str, "np.ndarray"]:
    """Return {q_<joint>: numbers (N,)}, the columns of CSV files that all commands write and read."""
    from ..dynamics.regressors import coordinate_names

    rows = q.reshape(-1, robot.nq)
    return {f"q_{name}": rows[:, k] for k, name in enumerate(coordinate_names(robot))}


def pose_data(T: "np.ndarray") -> dict[str, "np.ndarray"]:
    """Return a pose in its usual forms, as data."""
    from ..lie import so3

    R = T[..., :3, :3]
    return {"position": T[..., :3, 3], "rpy": so3.to_rpy(R), "quat_wxyz": so3.to_quat_wxyz(R), "T": T}


def _pose_columns(T: "np.ndarray") -> dict[str, "np.ndarray"]:
    data = pose_data(T.reshape(-1, 4, 4))
    found = {name: data["position"][:, k] for k, name in enumerate("xyz")}
    return found | {f"q{name}": data["quat_wxyz"][:, k] for k, name in enumerate("wxyz")}


def _print_pose(T: "np.ndarray", title: str, degrees: bool) -> None:
    import numpy as np

    data = pose_data(T)
    turns = np.degrees(data["rpy"]) if degrees else data["rpy"]
    print_line(title, "bold")
    print_pairs(
        {
            "position": f"{_row(data['position'])}  m",
            "roll pitch yaw": f"{_row(turns)}  {'deg' if degrees else 'rad'}",
            "quaternion": f"{_row(data['quat_wxyz'])}  w x y z",
        }
    )
    print_line("matrix")
    cells = [[shown_number(x) for x in row] for row in T]
    widths = [max(len(row[k]) for row in cells) for k in range(4)]
    for row in cells:
        print_line("  ".join(["", *(x.rjust(w) for x, w in zip(row, widths, strict=True))]))


def _row(values: "np.ndarray") -> str:
    return "  ".join(shown_number(x) for x in values)


def _print_poses(T: "np.ndarray", degrees: bool) -> None:
    import numpy as np

    data = pose_data(T)
    turns, unit = (np.degrees(data["rpy"]), "deg") if degrees else (data["rpy"], "rad")
    rows = [[k, *p.tolist(), *r.tolist()] for k, (p, r) in enumerate(zip(data["position"], turns, strict=True))]
    header = ["sample", "x [m]", "y [m]", "z [m]", f"roll [{unit}]", f"pitch [{unit}]", f"yaw [{unit}]"]
    print_table(header, rows[:SHOWN])
    more(len(rows))


def more(n: int) -> None:
    """Say how many rows of a table are not shown."""
    if n > SHOWN:
        print_line(f"... and {n - SHOWN} more; --out FILE writes all")


def told(out: str, n: int) -> None:
    """Say how many rows were written, if not to standard output."""
    if out != "-":
        note(f"wrote {n} row{'s' * (n != 1)} to {out}")


# --- jacobian ---------------------------------------------------------------------------------------------------------


@with_robot
def jacobian(
    robot: "Robot",
    q: QOption = None,
    frame: FrameOption = None,
    expressed: Annotated[
        Expressed,
        typer.Option(help="How twists are expressed: seen from the frame, at it along the base's axes, or the base's."),
    ] = Expressed.body,
    relative_to: RelativeTo = None,
    degrees: Degrees = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The Jacobian of a frame: the twist V = J v that joint velocities v cause, angular rows first.

    Examples:

      adjoint jacobian puma560 --q 0,-0.8,1.6,0,0.5,0
      adjoint jacobian arm.urdf --q samples.csv --out jacobians.npz

    Rows wx, wy, wz are the angular velocity and vx, vy, vz the linear part of the twist: seen from the frame (body), or
    the velocity of its origin along the base's axes (world), or seen from the base (space). A small singular value
    means that the frame is nearly unable to move in some direction. NPZ files have the arrays q and J; CSV files have
    J11 ... J6n.
    """
    import numpy as np

    from ..dynamics.regressors import dof_names
    from ..kinematics import jacobian

    tip, at = frame_or_default(robot, frame), configurations(robot, q, degrees=degrees)
    J = jacobian(robot, at, tip, str(expressed), relative_to=relative_to)
    sigma = np.linalg.svd(J, compute_uv=False)
    if out is not None:
        flat = J.reshape(-1, 6 * robot.nv)
        names = [f"J{i}{j}" for i in range(1, 7) for j in range(1, robot.nv + 1)]
        write_columns(out, q_columns(robot, at) | {n: flat[:, k] for k, n in enumerate(names)}, {"q": at, "J": J})
        told(out, len(flat))
    elif as_json:
        data = {"robot": robot.name, "frame": tip, "expressed": str(expressed), "units": UNITS, "q": at, "J": J}
        print_json(data | {"singular_values": sigma})
    elif J.ndim == 2:
        print_line(f"Jacobian of frame '{tip}' of {robot.name}, expressed in '{expressed}'", "bold")
        print_matrix(J, ["wx", "wy", "wz", "vx", "vy", "vz"], dof_names(robot))
        print_line(f"singular values  {_row(sigma)}")
    else:
        rows = [[k, *map(float, row)] for k, row in enumerate(sigma)]
        print_table(["sample", *(f"sigma {k}" for k in range(1, sigma.shape[-1] + 1))], rows[:SHOWN])
        more(len(rows))
