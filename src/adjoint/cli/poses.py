"""Commands about where a robot's frames are: `fk`, `ik` and `jacobian`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .guard import FAILED, note
from .options import Degrees, Expressed, FrameOption, Json, Out, QOption, with_robot
from .output import SHOWN, print_json, print_line, print_matrix, print_pairs, print_table, write_columns
from .output import number as shown_number
from .robots import frame_or_default
from .values import configurations, csv_rows, numbers, turning

if TYPE_CHECKING:
    import numpy as np

    from ..inverse import Solutions
    from ..model import Robot

__all__ = ["fk", "ik", "jacobian", "more", "pose_matrices", "q_columns"]

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
        _told(out, len(T.reshape(-1, 16)))
    elif as_json:
        print_json({"robot": robot.name, "frame": tip, "relative_to": relative_to, "q": at, **pose_data(T)})
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


def _told(out: str, n: int) -> None:
    if out != "-":
        note(f"wrote {n} row{'s' * (n != 1)} to {out}")


# --- jacobian ---------------------------------------------------------------------------------------------------------


@with_robot
def jacobian(
    robot: "Robot",
    q: QOption = None,
    frame: FrameOption = None,
    expressed: Annotated[
        Expressed, typer.Option(help="How twists are expressed: along the base's axes at the frame, body, or space.")
    ] = Expressed.world,
    relative_to: RelativeTo = None,
    degrees: Degrees = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The Jacobian of a frame: the twist V = J v that joint velocities v cause, angular rows first.

    Examples:

      adjoint jacobian puma560 --q 0,-0.8,1.6,0,0.5,0
      adjoint jacobian arm.urdf --q samples.csv --out jacobians.npz

    Rows wx, wy, wz are the angular velocity and vx, vy, vz the velocity of the frame's origin (--expressed world),
    or the twist seen from the frame (body) or from the base (space). A small singular value means that the frame is
    nearly unable to move in some direction. NPZ files have the arrays q and J; CSV files have J11 ... J6n.
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
        write_columns(
            out, q_columns(robot, at) | {n: flat[:, k] for k, n in enumerate(names)}, {"q": at, "J": J}
        )
        _told(out, len(flat))
    elif as_json:
        data = {"robot": robot.name, "frame": tip, "expressed": str(expressed), "q": at, "J": J}
        print_json(data | {"singular_values": sigma})
    elif J.ndim == 2:
        print_line(f"Jacobian of frame '{tip}' of {robot.name}, expressed in '{expressed}'", "bold")
        print_matrix(J, ["wx", "wy", "wz", "vx", "vy", "vz"], dof_names(robot))
        print_line(f"singular values  {_row(sigma)}")
    else:
        rows = [[k, *map(float, row)] for k, row in enumerate(sigma)]
        print_table(["sample", *(f"sigma {k}" for k in range(1, sigma.shape[-1] + 1))], rows[:SHOWN])
        more(len(rows))


# --- ik ---------------------------------------------------------------------------------------------------------------


@with_robot
def ik(
    robot: "Robot",
    pose: Annotated[
        str,
        typer.Option(
            "--pose",
            metavar="NUMBERS|FILE",
            help="Where the frame shall be: x,y,z,roll,pitch,yaw; or x,y,z,qw,qx,qy,qz; or 16 numbers of a matrix, row "
            "after row; or x,y,z for the position alone. Or a file with such columns, poses.npz:T, or - for CSV on "
            "standard input. In m and rad; 30deg and pi/2 are numbers too.",
            show_default=False,
        ),
    ],
    frame: FrameOption = None,
    near: Annotated[
        str | None,
        typer.Option("--near", metavar="NUMBERS", help="Joint positions; the nearest solution is marked and comes first."),
    ] = None,
    redundancy: Annotated[
        float | None, typer.Option(help="Of arms with seven joints: the parameter that a pose leaves free.")
    ] = None,
    numeric: Annotated[bool, typer.Option("--numeric", help="Search numerically, even if there is a closed form.")] = False,
    degrees: Degrees = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Inverse kinematics: all configurations in which a frame is at a pose.

    Examples:

      adjoint ik puma560 --pose 0.4,0.15,0.3,0,180,0 --degrees
      adjoint ik arm.urdf --pose 0.3,0,0.4,1,0,0,0 --near 0,0.5,1,0,0,0
      adjoint ik humanoid.urdf --frame left_hand --pose 0.3,0.2,0.1
      adjoint ik arm.urdf --pose poses.csv --out q.csv

    With a closed form, each branch is listed: whether it reaches the pose, and whether it is within the joint limits.
    Without one, or for a position alone, a numeric search gives one configuration within the limits. Of a file, every
    pose gets one configuration: the one nearest to --near, or to the middle of the limits. The exit code is 1 if a
    pose has no solution within the limits.
    """
    from ..inverse.choice import middle_of_limits

    tip, T = frame_or_default(robot, frame), pose_matrices(pose, degrees)
    start = middle_of_limits(robot) if near is None else configurations(robot, near, "--near", degrees)
    alone = T.shape[-1] != 4
    found = None if numeric or alone else _closed_form(robot, T, tip, redundancy)
    if found is not None and T.ndim == 2 and out is None:
        ok = _show_branches(robot, tip, T, found, start, degrees, as_json)
    else:
        ok = _show_chosen(robot, tip, T, found, start, degrees, out, as_json)
    if not ok:
        raise typer.Exit(FAILED)


_FORMS: dict[int, list[str]] = {
    6: ["x", "y", "z", "roll", "pitch", "yaw"],
    7: ["x", "y", "z", "qw", "qx", "qy", "qz"],
    12: [f"T{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3, 4)],
    16: [f"T{i}{j}" for i in (1, 2, 3, 4) for j in (1, 2, 3, 4)],
    3: ["x", "y", "z"],
}


def pose_matrices(text: str, degrees: bool) -> "np.ndarray":
    """Return poses (4, 4) or (N, 4, 4), or positions (3,) or (N, 3)."""
    import numpy as np

    from ..lie import se3, so3

    x = _pose_numbers(text)
    n = x.shape[-1]
    if n == 3:
        return x
    if n in (12, 16):
        rows = x.reshape(*x.shape[:-1], n // 4, 4)
        last = np.broadcast_to([0.0, 0, 0, 1], (*x.shape[:-1], 1, 4))
        return rows if n == 16 else np.concatenate([rows, last], axis=-2)
    if n == 7:
        size = np.linalg.norm(x[..., 3:], axis=-1, keepdims=True)
        if not np.all(np.abs(size - 1) < 1e-3):
            raise ArgumentError("--pose: qw,qx,qy,qz must be a unit quaternion, real part first")
        return se3.from_rotation_translation(so3.from_quat_wxyz(x[..., 3:] / size), x[..., :3])
    turns = np.radians(x[..., 3:]) if degrees else x[..., 3:]
    return se3.from_rotation_translation(so3.from_rpy(turns), x[..., :3])


def _pose_numbers(text: str) -> "np.ndarray":
    """Return the numbers of poses in the form that their count, or the header of a file, tells."""
    from ..files import read_npz

    name = text.partition(".npz:")[0] + ".npz" if ".npz:" in text else text
    if name.endswith(".npz") and Path(name).is_file():
        key = text.partition(".npz:")[2] or "T"
        arrays = read_npz(Path(name))
        if key in arrays and arrays[key].shape[-2:] == (4, 4):
            return arrays[key].reshape(-1, 16)
        raise ArgumentError(f"{name}: '{key}' must be poses (..., 4, 4); it has {', '.join(arrays)}")
    if text == "-" or Path(text).is_file():
        return _pose_rows(text)
    count = len([word for word in re.split(r"[,\s]+", text.split(";")[0].strip(" ,[]()")) if word])
    if count not in _FORMS:
        forms = "3 (x,y,z), 6 (x,y,z,roll,pitch,yaw), 7 (x,y,z,qw,qx,qy,qz), 12 or 16 (a matrix)"
        raise ArgumentError(f"--pose: {text!r:.60} is no file and has {count} numbers; a pose has {forms}")
    return numbers(text, _FORMS[count], "--pose", alike=False)


def _pose_rows(text: str) -> "np.ndarray":
    """Return the rows of a CSV file that has the columns of one of the forms."""
    import io
    import sys

    content = sys.stdin.read() if text == "-" else Path(text).read_text(encoding="utf-8-sig")
    for columns in (_FORMS[7], _FORMS[6], _FORMS[16], _FORMS[12], _FORMS[3]):
        try:
            return csv_rows(io.StringIO(content), columns, "--pose")
        except ArgumentError:
            continue
    raise ArgumentError(f"--pose: {text} has no columns of poses: x, y, z and roll, pitch, yaw or qw, qx, qy, qz")


def _closed_form(robot: "Robot", T: "np.ndarray", tip: str, redundancy: float | None) -> "Solutions | None":
    """Return all branches, or None if there is no closed form, or one with a parameter that nobody gave."""
    from ..inverse import branches, inverse_kinematics

    try:
        meaning = branches(robot, tip)
    except ArgumentError as error:
        note(f"no closed form ({error}); a numeric search finds one configuration")
        return None
    if meaning.redundancy and redundancy is None:
        note(f"a pose leaves one number free, {meaning.redundancy}: --redundancy sets it; a numeric search chooses here")
        return None
    return inverse_kinematics(robot, T, tip, redundancy=redundancy)


def _show_branches(
    robot: "Robot", tip: str, T: "np.ndarray", found: "Solutions", start: "np.ndarray", degrees: bool, as_json: bool
) -> bool:
    """Show all branches of one pose; return whether one of them is within the limits."""
    from ..inverse import branches, nearest_solution, within_limits

    meaning, inside = branches(robot, tip), within_limits(robot, found)
    chosen = int(nearest_solution(robot, found, start).branch)
    rows = []
    for k, branch in enumerate(meaning.branches):
        label = " ".join(x for x in (branch.arm, branch.elbow) if x)
        rows.append({"branch": k, "meaning": label, "exact": bool(found.exact[k]), "within_limits": bool(inside.exact[k])})
        rows[-1]["q"] = inside.q[k] if inside.exact[k] else found.q[k]
    rows = [row for row in rows if row["exact"] or any(branch.roots for branch in meaning.branches)]
    if as_json:
        data = {"robot": robot.name, "frame": tip, "method": meaning.method, "T": T, "nearest": chosen, "solutions": rows}
        print_json(data)
        return chosen >= 0
    exact, usable = (sum(row[key] for row in rows) for key in ("exact", "within_limits"))
    print_line(f"frame '{tip}' of {robot.name}: {exact} solutions, {usable} within the limits", "bold")
    print_line(meaning.method)
    rows.sort(key=lambda row: (row["branch"] != chosen, not row["within_limits"], not row["exact"]))
    cells = [
        [("> " if row["branch"] == chosen else "  ") + f"{row['branch']} {row['meaning']}".strip(), _reached(row),
         *_in_unit(robot, row["q"], degrees)]
        for row in rows
    ]  # fmt: skip
    print_table(["branch", "", *_q_header(robot, degrees)], cells)
    return chosen >= 0


def _reached(row: dict[str, Any]) -> str:
    return "within limits" if row["within_limits"] else "beyond limits" if row["exact"] else "out of reach"


def _in_unit(robot: "Robot", q: "np.ndarray", degrees: bool) -> list[float]:
    import numpy as np

    return (np.where(turning(robot, "q"), np.degrees(q), q) if degrees else q).tolist()


def _q_header(robot: "Robot", degrees: bool) -> list[str]:
    from ..dynamics.regressors import coordinate_names

    return [f"{name} [deg]" if degrees and turns else name
            for name, turns in zip(coordinate_names(robot), turning(robot, "q"), strict=True)]  # fmt: skip


def _show_chosen(
    robot: "Robot",
    tip: str,
    T: "np.ndarray",
    found: "Solutions | None",
    start: "np.ndarray",
    degrees: bool,
    out: str | None,
    as_json: bool,
) -> bool:
    """Show one configuration for each pose; return whether all have one."""
    import numpy as np

    from ..goals import find_configuration
    from ..inverse import nearest_solution

    if found is not None:
        q = nearest_solution(robot, found, start).q
        success, error = np.isfinite(q).all(axis=-1), None
    else:
        search = find_configuration(robot, {tip: T}, start=start)
        q, success, error = search.q, search.success, search.error
    q, success = q.reshape(-1, robot.nq), np.atleast_1d(success)
    if out is not None:
        write_columns(out, q_columns(robot, q), {"q": q})
        _told(out, len(q))
    elif as_json:
        data = {"robot": robot.name, "frame": tip, "method": "closed form" if found is not None else "numeric"}
        print_json(data | {"success": success, "q": q} | ({} if error is None else {"error": np.atleast_1d(error)}))
    else:
        rows = [[k, "found" if ok else "not found", *_in_unit(robot, x, degrees)]
                for k, (ok, x) in enumerate(zip(success, q, strict=True))]  # fmt: skip
        print_table(["pose", "", *_q_header(robot, degrees)], rows[:SHOWN])
        more(len(rows))
    if not success.all():
        note(f"{np.count_nonzero(~success)} of {len(success)} poses have no solution within the limits")
    return bool(success.all())
