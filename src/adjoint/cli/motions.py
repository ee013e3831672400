"""The commands `trajectory make`, `check`, `retime`, `sample` and `plot`: motions of joints in files."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .guard import FAILED, note
from .options import Degrees, FrameOption, Json, with_robot
from .output import number, print_json, print_line, print_table, progress, write_columns
from .poses import q_columns
from .reaching import pose_matrices
from .robots import frame_or_default
from .values import configurations, numbers

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot
    from ..trajectory import LimitReport, Trajectory

__all__ = ["check", "make", "plot", "read_trajectory", "retime", "sample"]


class Kind(StrEnum):
    """Kinds of motions."""

    cubic = "cubic"
    quintic = "quintic"
    septic = "septic"
    trapezoidal = "trapezoidal"
    s_curve = "s_curve"
    spline = "spline"
    minimum_time_spline = "minimum_time_spline"
    time_optimal = "time_optimal"
    line = "line"


FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A trajectory that make wrote: .npz, .json or .csv.", show_default=False)
]
Velocity = Annotated[
    str | None,
    typer.Option("--velocity", metavar="LIMIT", help="Limit of velocities: a number, or one for each joint."),
]
Acceleration = Annotated[
    str | None, typer.Option("--acceleration", metavar="LIMIT", help="Limit of accelerations, likewise.")
]
Jerk = Annotated[str | None, typer.Option("--jerk", metavar="LIMIT", help="Limit of jerks, likewise.")]
TrajectoryOut = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the trajectory into a .npz, .json or .csv file.")
]


# --- make -------------------------------------------------------------------------------------------------------------


@with_robot
def make(
    robot: "Robot",
    kind: Annotated[Kind, typer.Option(metavar="KIND", help="The kind of motion, one of those above.")] = Kind.quintic,
    start: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Where it starts, as --q of fk; by default neutral.")
    ] = None,
    goal: Annotated[str | None, typer.Option(metavar="NUMBERS", help="Where it ends.")] = None,
    via: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS|FILE", help="Points between, or all points: '0,0; 1,0.5', points.csv, - for CSV."
        ),
    ] = None,
    pose: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Of kind line: the pose at the end, as --pose of ik.")
    ] = None,
    frame: FrameOption = None,
    duration: Annotated[float | None, typer.Option(metavar="SECONDS", help="How long it lasts.", min=0.0)] = None,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    jerk: Jerk = None,
    degrees: Degrees = False,
    out: TrajectoryOut = None,
    as_json: Json = False,
) -> None:
    """Make a motion of a robot's joints, and say whether the robot's limits allow it.

    Examples:

      adjoint trajectory make puma560 --goal 1,-0.8,2,0.3,0.7,0 --duration 1.5 --out move.npz
      adjoint trajectory make panda --kind s_curve --goal 0,0,0,-1.5,0,1.5,0,0 --acceleration 5 --jerk 50
      adjoint trajectory make arm.urdf --kind time_optimal --via points.csv --acceleration 10
      adjoint trajectory make puma560 --kind line --start 0,-0.8,2,0,0.5,0 --pose 0.5,0.2,0.1,0,pi,0 --duration 2

    Kinds: cubic, quintic and septic go from start to goal in the duration. trapezoidal and s_curve take the shortest
    time under the limits of velocity, acceleration and jerk. spline passes all points in even times; with
    minimum_time_spline the times are the shortest that all limits allow. time_optimal is the fastest motion along a
    smooth path through the points, within velocities, accelerations and the robot's torques. line moves the frame
    straight to the pose.
    """
    limits = _limits(robot, velocity, acceleration, jerk)
    points = _points(robot, start, goal, via, degrees, str(kind) != "line")
    with progress(f"{kind}"):
        if kind == Kind.line:
            motion = _line(robot, points[0], pose, frame, duration, degrees)
        else:
            motion = _made(robot, str(kind), points, duration, limits)
    _finish(robot, motion, out, as_json, limits)


def _limits(robot: "Robot", velocity: str | None, acceleration: str | None, jerk: str | None) -> dict[str, Any]:
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    names = [f"joint {k}" for k in range(robot.nv)]
    return {name: numbers(text, names, f"--{name}", finite=False) for name, text in given.items() if text is not None}


def _points(
    robot: "Robot", start: str | None, goal: str | None, via: str | None, degrees: bool, need_goal: bool
) -> "np.ndarray":
    """Return all points (N, nq) of the motion: the start, those between, and the goal."""
    import numpy as np

    inner = configurations(robot, via, "--via", degrees).reshape(-1, robot.nq) if via is not None else None
    rows = []
    if start is not None or inner is None or len(inner) + (goal is not None) < 2:
        rows.append(configurations(robot, start, "--start", degrees))
    if inner is not None:
        rows += list(inner)
    if goal is not None:
        rows.append(configurations(robot, goal, "--goal", degrees))
    if need_goal and len(rows) < 2:
        raise ArgumentError("trajectory make: there is no goal; give --goal, or points with --via")
    return np.array(rows)


def _made(
    robot: "Robot", kind: str, points: "np.ndarray", duration: float | None, limits: dict[str, Any]
) -> "Trajectory":
    from .. import trajectory

    function = getattr(trajectory, kind)
    if kind in ("cubic", "quintic", "septic", "trapezoidal", "s_curve") and len(points) != 2:
        raise ArgumentError(
            f"trajectory make: {kind} goes from start to goal; spline and time_optimal take points between"
        )
    if kind in ("cubic", "quintic", "septic", "spline"):
        _refuse(kind, limits)
        seconds = _needed(duration, kind, "--duration")
        if kind == "spline":
            return function(points, durations=[seconds / (len(points) - 1)] * (len(points) - 1), robot=robot)
        more = {} if kind == "septic" else {"robot": robot}
        return function(points[0], points[1], seconds, **more)
    if kind in ("trapezoidal", "s_curve"):
        for name in ("acceleration", "jerk") if kind == "s_curve" else ("acceleration",):
            _needed(limits.get(name), kind, f"--{name}")
        _refuse(kind, limits)
        return function(points[0], points[1], duration=duration, robot=robot, **limits)
    found = function(points, robot=robot, **limits)
    return found if duration is None else found.lasting(duration)


def _needed(value: Any, kind: str, option: str) -> Any:
    if value is None:
        raise ArgumentError(f"trajectory make: {kind} needs {option}")
    return value


def _refuse(kind: str, limits: dict[str, Any]) -> None:
    """Raise `ArgumentError` if there are limits that a kind of motion does not take."""
    allowed = {"s_curve": ("velocity", "acceleration", "jerk"), "trapezoidal": ("velocity", "acceleration")}.get(
        kind, ()
    )
    extra = [name for name in limits if name not in allowed]
    if extra:
        raise ArgumentError(f"trajectory make: {kind} takes no --{extra[0]}; trajectory check compares it with limits")


def _line(
    robot: "Robot", q: "np.ndarray", pose: str | None, frame: str | None, duration: float | None, degrees: bool
) -> "Trajectory":
    from .. import trajectory
    from ..kinematics import forward_kinematics

    tip = frame_or_default(robot, frame)
    T_1 = pose_matrices(_needed(pose, "line", "--pose"), degrees)
    if T_1.shape != (4, 4):
        raise ArgumentError("trajectory make: line needs one pose with an orientation, such as x,y,z,roll,pitch,yaw")
    profile = trajectory.quintic([0.0], [1.0], _needed(duration, "line", "--duration"))
    path = trajectory.line(forward_kinematics(robot, q, tip), T_1, profile=profile)
    return trajectory.joint_motion(robot, path, tip, start=q)


def _finish(robot: "Robot", motion: "Trajectory", out: Path | None, as_json: bool, limits: dict[str, Any]) -> None:
    """Write and describe a motion that was made."""
    report = motion.limits_hold(robot, **limits)
    if out is not None:
        motion.save(out)
    if as_json:
        print_json(_summary(motion, report) | {"file": out})
        return
    print_line(
        f"{motion.duration:.6g} s, {motion.pieces} piece{'s' * (motion.pieces > 1)} of degree {motion.degree}", "bold"
    )
    _print_extrema(motion)
    print_line(str(report), "green" if report else "red")
    if out is not None:
        note(f"wrote {out}")


def _summary(motion: "Trajectory", report: "LimitReport") -> dict[str, Any]:
    worst = report.worst
    return {
        "duration": motion.duration,
        "pieces": motion.pieces,
        "degree": motion.degree,
        "limits_hold": bool(report),
        "worst": worst._asdict() | {"index": list(worst.index)},
        "message": str(report),
    }


def _print_extrema(motion: "Trajectory") -> None:
    import numpy as np

    found, names = motion.extrema(), motion.joint_names
    tops = [np.maximum(np.abs(x.lowest), np.abs(x.highest)) for x in (found.v, found.a, found.jerk)]
    header = ["joint", "lowest q", "highest q", "largest |v|", "|a|", "|jerk|"]
    columns = [*((found.q.lowest, found.q.highest) if len(found.q.lowest) == len(names) else ()), *tops]
    header = header if len(columns) == 5 else [header[0], *header[3:]]
    rows = [[name, *map(float, row)] for name, *row in zip(names, *columns, strict=True)]
    for row, jumps in zip(rows, _jumps(motion, tops[1]), strict=True):
        row[-1] = "jumps" if jumps else row[-1]
    if any(row[-1] == "jumps" for row in rows):  # then the column is text
        rows = [[*row[:-1], x if isinstance(x := row[-1], str) else number(x)] for row in rows]
    print_table(header, rows)


def _jumps(motion: "Trajectory", largest: "np.ndarray") -> "np.ndarray":
    """Return of which joints (nv,) the acceleration jumps where pieces meet: no jerk, of any size, does that."""
    import numpy as np

    inner = motion.knots[1:-1]
    if not len(inner):
        return np.zeros(len(largest), bool)
    near = 1e-9 * motion.duration
    before, after = motion(inner - near).a, motion(inner + near).a
    return np.abs(after - before).max(axis=0) > 1e-5 * largest


# --- check ------------------------------------------------------------------------------------------------------------


def read_trajectory(robot: "Robot", path: Path) -> "Trajectory":
    """Return the trajectory of a file, which fits the robot."""
    from ..trajectory import Trajectory

    return Trajectory.load(path, robot)


@with_robot
def check(
    robot: "Robot",
    file: FileArgument,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    jerk: Jerk = None,
    as_json: Json = False,
) -> None:
    """Check a motion against the limits of positions, velocities and torques, at every time.

    Examples:

      adjoint trajectory check panda move.npz
      adjoint trajectory check panda move.npz --acceleration 10 --jerk 100

    The limits are those of the robot's model. Robots have none of acceleration and jerk; give them to have them
    looked at. Each row is the time at which a joint is farthest towards a limit, and how much of the limit it uses.
    The exit code is 1 if a limit is exceeded.
    """
    limits, motion = _limits(robot, velocity, acceleration, jerk), read_trajectory(robot, file)
    report = motion.limits_hold(robot, **limits)
    if as_json:
        print_json(_summary(motion, report))
    else:
        _print_reach(report)
        print_line(str(report), "green" if report else "red")
    if not report:
        raise typer.Exit(FAILED)


def _print_reach(report: "LimitReport") -> None:
    import numpy as np

    rows = []
    for kind, reach in report.reach.items():
        for k, joint in enumerate(report.joints[kind]):
            value, time, limit, excess, relative = (float(np.asarray(x)[..., k]) for x in reach)
            if np.isfinite(excess):
                rows.append(
                    [
                        kind,
                        joint,
                        value,
                        limit,
                        time,
                        100 * (1 + relative),
                        "" if relative <= report.tolerance else "over",
                    ]
                )
    if rows:
        print_table(["limit of", "joint", "farthest", "limit", "at [s]", "% used", ""], rows)


# --- retime -----------------------------------------------------------------------------------------------------------


@with_robot
def retime(
    robot: "Robot",
    file: FileArgument,
    duration: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="The new duration; all of it is slower or faster.")
    ] = None,
    fastest: Annotated[
        bool, typer.Option("--fastest", help="The shortest time along the same path that all limits allow.")
    ] = False,
    velocity: Velocity = None,
    acceleration: Acceleration = None,
    jerk: Jerk = None,
    points: Annotated[
        int, typer.Option(metavar="N", help="Of --fastest: how many points of the path are kept exactly.", min=3)
    ] = 50,
    out: TrajectoryOut = None,
    as_json: Json = False,
) -> None:
    """Give a motion other times: another duration, or the fastest one that velocities and torques allow.

    Examples:

      adjoint trajectory retime panda move.npz --duration 3 --out slow.npz
      adjoint trajectory retime panda move.npz --fastest --acceleration 20 --out fast.npz

    With --fastest, a smooth path through points of the motion is run from rest to rest as fast as limits of
    velocities, accelerations and torques allow; with --jerk, jerks are bounded too.
    """
    motion, limits = read_trajectory(robot, file), _limits(robot, velocity, acceleration, jerk)
    if fastest == (duration is not None):
        raise ArgumentError("trajectory retime: give either --duration or --fastest")
    with progress("retime"):
        changed = motion.lasting(duration) if duration is not None else _fastest(robot, motion, points, limits)
    if not as_json:
        print_line(f"{number(motion.duration)} s before")
    _finish(robot, changed, out, as_json, limits)


def _fastest(robot: "Robot", motion: "Trajectory", points: int, limits: dict[str, Any]) -> "Trajectory":
    import numpy as np

    from ..trajectory import time_optimal

    q = motion(np.linspace(0, motion.duration, 20 * points)).q
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])
    if not way[-1] > 0:
        raise ArgumentError("trajectory retime: nothing moves, there is no path")
    even = np.searchsorted(way, np.linspace(0, way[-1], points))  # a motion may rest; points of a path differ
    kept = q[np.unique(np.clip(even, 0, len(q) - 1))]
    return time_optimal(kept, robot=robot, parameters="chord", **limits)


# --- sample and plot --------------------------------------------------------------------------------------------------


@with_robot
def sample(
    robot: "Robot",
    file: FileArgument,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Samples in a second.", min=1e-3)] = 100.0,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="A .csv or .npz file; - is CSV on standard output.")
    ] = "-",
) -> None:
    """Write a motion as a table: time, positions, velocities, accelerations and torques.

    Examples:

      adjoint trajectory sample panda move.npz --rate 1000 --out move.csv
      adjoint trajectory sample panda move.npz --rate 10 | column -s, -t

    The columns are time, q_<joint>, v_<joint>, a_<joint> and tau_<joint>, in SI units and radians; torque and
    identify read such files.
    """
    import numpy as np

    from ..dynamics import inverse_dynamics
    from ..dynamics.regressors import dof_names

    motion = read_trajectory(robot, file)
    t = np.append(np.arange(0, motion.duration, 1 / rate), motion.duration)
    t = t[:-1] if len(t) > 1 and t[-1] - t[-2] < 1e-9 else t
    at = motion(t)
    fields = {"v": at.v, "a": at.a, "tau": inverse_dynamics(robot, at.q, at.v, at.a)}
    columns = {"time": t} | q_columns(robot, at.q)
    for name, x in fields.items():
        columns |= {f"{name}_{joint}": x[:, k] for k, joint in enumerate(dof_names(robot))}
    write_columns(out, columns, {"time": t, "q": at.q, **fields})
    if out != "-":
        note(f"wrote {len(t)} rows to {out}")


@with_robot
def plot(
    robot: "Robot",
    file: FileArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The picture: .png, .pdf or .svg.", show_default=False)
    ],
) -> None:
    """Draw positions, velocities, accelerations and torques of a motion over time; limits are dotted.

    Example:

      adjoint trajectory plot panda move.npz --out move.png

    This needs Matplotlib, which the extra plot of adjoint installs.
    """
    note(f"wrote {read_trajectory(robot, file).plot(out, robot)}")
