"""The command `ik`: configurations in which a frame is at a pose."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import ArgumentError
from .guard import FAILED, note
from .options import Degrees, FrameOption, Json, Out, with_robot
from .output import SHOWN, UNITS, number, print_json, print_line, print_table, write_columns
from .poses import more, q_columns, told
from .robots import frame_or_default
from .values import Scales, angle_scales, configurations, csv_rows, need_finite, numbers, read_text, turning

if TYPE_CHECKING:
    import numpy as np

    from ..inverse import Solutions
    from ..model import Robot

__all__ = ["ik", "pose_matrices"]


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
        typer.Option(
            "--near", metavar="NUMBERS", help="Joint positions; the nearest solution is marked and comes first."
        ),
    ] = None,
    redundancy: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Of arms with seven joints: the parameter that a pose leaves free."),
    ] = None,
    numeric: Annotated[
        bool, typer.Option("--numeric", help="Search numerically, even if there is a closed form.")
    ] = False,
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
    if not robot.path(robot.frame(tip).body):
        raise ArgumentError(f"ik: no joint of robot '{robot.name}' moves frame '{tip}'")
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

    x = _pose_numbers(text, degrees)
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
    return se3.from_rotation_translation(so3.from_rpy(x[..., 3:]), x[..., :3])


def _pose_numbers(text: str, degrees: bool) -> "np.ndarray":
    """Return the numbers of poses in the form that their count, or the header of a file, tells."""
    from ..files import read_npz

    name = text.partition(".npz:")[0] + ".npz" if ".npz:" in text else text
    if name.endswith(".npz") and Path(name).is_file():
        key = text.partition(".npz:")[2] or "T"
        arrays = read_npz(Path(name))
        if key in arrays and arrays[key].shape[-2:] == (4, 4):
            return need_finite(arrays[key].reshape(-1, 16), _FORMS[16], f"--pose: {text}")
        raise ArgumentError(f"{name}: '{key}' must be poses (..., 4, 4); it has {', '.join(arrays)}")
    if text == "-" or Path(text).is_file():
        return _pose_rows(text, degrees)
    if Path(text).suffix.lower() in (".csv", ".npz") or ".npz:" in text:
        raise ArgumentError(f"--pose: {name}: there is no such file")
    count = len([word for word in re.split(r"[,\s]+", text.split(";")[0].strip(" ,[]()")) if word])
    if count not in _FORMS:
        forms = "3 (x,y,z), 6 (x,y,z,roll,pitch,yaw), 7 (x,y,z,qw,qx,qy,qz), 12 or 16 (a matrix)"
        raise ArgumentError(f"--pose: {text!r:.60} is no file and has {count} numbers; a pose has {forms}")
    return numbers(text, _FORMS[count], "--pose", alike=False, scales=_scales(_FORMS[count], degrees))


def _scales(columns: list[str], degrees: bool) -> Scales:
    return angle_scales((name in ("roll", "pitch", "yaw") for name in columns), degrees)


def _pose_rows(text: str, degrees: bool) -> "np.ndarray":
    """Return the rows of a CSV file that has the columns of one of the forms."""
    import sys

    lines = (sys.stdin.read() if text == "-" else read_text(Path(text))).splitlines()
    for columns in (_FORMS[7], _FORMS[6], _FORMS[16], _FORMS[12], _FORMS[3]):
        try:
            rows = csv_rows(lines, columns, "--pose", _scales(columns, degrees))
        except ArgumentError:
            continue
        return need_finite(rows, columns, f"--pose: {'standard input' if text == '-' else text}")
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
        note(
            f"a pose leaves one number free, {meaning.redundancy}: --redundancy sets it; a numeric search chooses here"
        )
        return None
    return inverse_kinematics(robot, T, tip, redundancy=redundancy)


class _Shown(NamedTuple):
    """The coordinates that a table shows: those that move the frame, with their names, and factors to their unit."""

    places: list[int]
    names: list[str]
    factors: "np.ndarray"
    unit: str

    def row(self, q: "np.ndarray") -> list[float]:
        """Return the coordinates that are shown, in their unit."""
        return (q[self.places] * self.factors).tolist()


def _shown(robot: "Robot", tip: str, degrees: bool) -> _Shown:
    import numpy as np

    from ..dynamics.regressors import coordinate_names
    from ..model import JOINTS

    bodies = {robot.mimics[i].source if i in robot.mimics else i for i in robot.path(robot.frame(tip).body)}
    starts = {i: robot.layout.q_start[i] for i in sorted(bodies)}
    places = [start + k for i, start in starts.items() for k in range(JOINTS[robot.joint_types[i]].nq)]
    turns, angle = turning(robot, "q")[places], "deg" if degrees else "rad"
    unit = angle if turns.all() else f"{angle} and m" if turns.any() else "m"
    names = coordinate_names(robot)
    return _Shown(places, [names[k] for k in places], np.where(turns & degrees, 180 / np.pi, 1.0), f"q in {unit}")


def _show_branches(
    robot: "Robot", tip: str, T: "np.ndarray", found: "Solutions", start: "np.ndarray", degrees: bool, as_json: bool
) -> bool:
    """Show all branches of one pose; return whether one of them is within the limits."""
    from ..inverse import branches, nearest_solution

    method, chosen = branches(robot, tip).method, int(nearest_solution(robot, found, start).branch)
    rows = _branch_rows(robot, tip, found)
    if as_json:
        data = {"robot": robot.name, "frame": tip, "units": UNITS, "method": method, "T": T}
        print_json(data | {"nearest": chosen, "solutions": rows})
        return chosen >= 0
    exact, usable = (sum(row[key] for row in rows) for key in ("exact", "within_limits"))
    shown = _shown(robot, tip, degrees)
    print_line(f"frame '{tip}' of {robot.name}: {exact} solutions, {usable} within the limits", "bold")
    print_line(f"{method}; {shown.unit}")
    rows.sort(key=lambda row: (row["branch"] != chosen, not row["within_limits"], not row["exact"]))
    cells = []
    for row in rows:
        mark = "> " if row["branch"] == chosen else "  "
        limits = "within" if row["within_limits"] else "beyond" if row["exact"] else "no reach"
        cells.append([mark + f"{row['branch']} {row['meaning']}".strip(), limits, *shown.row(row["q"])])
    print_table(["branch", "limits", *shown.names], cells, digits=5)
    return chosen >= 0


def _branch_rows(robot: "Robot", tip: str, found: "Solutions") -> list[dict[str, Any]]:
    """Return what is known of each branch; branches without an order are left out where they do not exist."""
    from ..inverse import branches, within_limits

    meaning, inside, rows = branches(robot, tip).branches, within_limits(robot, found), []
    ordered = any(branch.roots for branch in meaning)
    for k, branch in enumerate(meaning):
        label = " ".join(x for x in (branch.arm, branch.elbow) if x)
        exact, usable = bool(found.exact[k]), bool(inside.exact[k])
        q = inside.q[k] if usable else found.q[k]
        if exact or ordered:
            rows.append({"branch": k, "meaning": label, "exact": exact, "within_limits": usable, "q": q})
    return rows


def _show_chosen(
    robot: "Robot", tip: str, T: "np.ndarray", found: "Solutions | None", start: "np.ndarray", degrees: bool,
    out: str | None, as_json: bool,
) -> bool:  # fmt: skip
    """Show one configuration for each pose; return whether all have one."""
    import numpy as np

    q, success, error = _chosen(robot, tip, T, found, start)
    method = "numeric" if found is None else "closed form"
    if out is not None:
        write_columns(out, q_columns(robot, q), {"q": q})
        told(out, len(q))
    elif as_json:
        data = {"robot": robot.name, "frame": tip, "units": UNITS, "method": method, "success": success, "q": q}
        print_json(data if error is None else data | {"error": error})
    else:
        shown = _shown(robot, tip, degrees)
        worst = "" if error is None else f", largest error {number(np.max(error), 2)}"
        print_line(f"frame '{tip}' of {robot.name}, {method}{worst}; {shown.unit}", "bold")
        answers = zip(success, q, strict=True)
        rows = [[k, "found" if ok else "not found", *shown.row(x)] for k, (ok, x) in enumerate(answers)]
        print_table(["pose", "", *shown.names], rows[:SHOWN], digits=5)
        more(len(rows))
    if not success.all():
        note(f"{np.count_nonzero(~success)} of {len(success)} poses have no solution within the limits")
    return bool(success.all())


def _chosen(
    robot: "Robot", tip: str, T: "np.ndarray", found: "Solutions | None", start: "np.ndarray"
) -> tuple["np.ndarray", "np.ndarray", "np.ndarray | None"]:
    """Return q (N, nq), whether each is a solution within the limits, and the errors of a numeric search."""
    import numpy as np

    from ..goals import find_configuration
    from ..inverse import nearest_solution

    if found is not None:
        q = nearest_solution(robot, found, start).q.reshape(-1, robot.nq)
        return q, np.asarray(np.isfinite(q).all(axis=-1)), None
    search = find_configuration(robot, {tip: T}, start=start)
    return search.q.reshape(-1, robot.nq), np.atleast_1d(search.success), np.atleast_1d(search.error)
