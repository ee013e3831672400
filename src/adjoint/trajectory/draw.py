"""Figures of motions over time; they need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing.style import CURVES, finished, house_style, time_figure
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..model.robot import Robot
from .along import mover
from .peaks import piece_times
from .torque import true_torque

if TYPE_CHECKING:
    from .optimal.motion import Motion
    from .piecewise import Trajectory
    from .poses.pose_trajectory import PoseTrajectory

__all__ = ["motion_figure", "pose_figure", "trajectory_figure"]

_SAMPLES = 600  # of a curve


def motion_figure(motion: Motion) -> Any:
    """Positions, velocities and torques of each joint over time; limits are dotted, and the spline is dashed."""
    robot = motion.robot
    rows = (
        ("q", "position [rad or m]", (robot.lower, robot.upper)),
        ("v", "velocity [rad/s or m/s]", (-robot.velocity_limit, robot.velocity_limit)),
        ("tau", "torque [N m or N]", (-robot.effort_limit, robot.effort_limit)),
    )
    curves = [_curves(motion), *([_curves(motion.spline)] if motion.spline else [])]
    with house_style("Motion.plot"):
        figure = time_figure("Motion.plot", len(rows))
        for axes, (field, label, limits) in zip(figure.axes, rows, strict=True):
            lines = axes.plot(curves[0]["t"], curves[0][field], label=robot.joint_names)
            for beside in curves[1:]:
                for line, dashed in zip(lines, beside[field].T, strict=True):
                    axes.plot(beside["t"], dashed, "--", color=line.get_color(), lw=0.8)
            _finish(axes, label, limits)
        return finished(figure, _title(motion))


def trajectory_figure(trajectory: Trajectory, robot: Robot | None = None) -> Any:
    """A trajectory over time; see `Trajectory.plot`."""
    if trajectory.batch:
        raise ArgumentError(f"plot draws one trajectory, this is a batch {trajectory.batch}: trajectory[i].plot(...)")
    if robot is not None or trajectory.robot is not None:
        robot = mover(trajectory, robot, "plot")
    t = _times(trajectory)
    q, v, a, _ = trajectory(t)
    rows = [
        (q, "position [rad or m]", () if robot is None else (robot.lower, robot.upper)),
        (v, "velocity [rad/s or m/s]", () if robot is None else (-robot.velocity_limit, robot.velocity_limit)),
        (a, "acceleration [rad/s² or m/s²]", ()),
    ]
    if robot is not None:
        rows.append((true_torque(robot, q, v, a), "torque [N m or N]", (-robot.effort_limit, robot.effort_limit)))
    names = None if robot is None else (coordinate_names(robot), dof_names(robot))
    with house_style("Trajectory.plot"):
        figure = time_figure("Trajectory.plot", len(rows))
        for k, (axes, (values, label, limits)) in enumerate(zip(figure.axes, rows, strict=True)):
            axes.plot(t, values, label=trajectory.joint_names if names is None else names[k > 0])
            _finish(axes, label, limits)
            _mark_knots(axes, trajectory)
        title = f"{trajectory.duration:g} s, {trajectory.pieces} piece{'s' * (trajectory.pieces > 1)}"
        return finished(figure, title if robot is None else f"{robot.name}: {title}")


def pose_figure(path: PoseTrajectory) -> Any:
    """The position, the angular velocity and the velocity of a frame over time, along x, y, z of space."""
    if path.batch:
        raise ArgumentError(f"plot draws one motion of a frame, this is a batch {path.batch}: plot(path[i])")
    t = _times(path)
    T, twist, _ = path(t)
    R = T[..., :3, :3]
    rows = (
        (T[..., :3, 3], "position [m]"),
        (np.einsum("tij,tj->ti", R, twist[..., :3]), "angular velocity [rad/s]"),
        (np.einsum("tij,tj->ti", R, twist[..., 3:]), "velocity [m/s]"),
    )
    with house_style("plot"):
        figure = time_figure("plot", len(rows))
        for axes, (values, label) in zip(figure.axes, rows, strict=True):
            axes.plot(t, values, label=("x", "y", "z"))
            _finish(axes, label, ())
            _mark_knots(axes, path)
        return finished(figure, f"motion of a frame, {float(path.duration):g} s")


# --- parts ------------------------------------------------------------------------------------------------------------


def _times(motion: Trajectory | PoseTrajectory) -> np.ndarray:
    """Times to draw, of each piece; where pieces meet, jumps become upright lines."""
    return piece_times(motion.knots, max(32, _SAMPLES // motion.pieces)).ravel()


def _mark_knots(axes, motion: Trajectory | PoseTrajectory) -> None:
    for knot in motion.knots[1:-1]:
        axes.axvline(knot, color="0.85", lw=0.6, zorder=0)


def _finish(axes, label: str, limits: Sequence[np.ndarray]) -> None:
    """Adds the label and the limits to a row whose curves are drawn."""
    low, high = axes.get_ylim()
    reach = high - low
    for limit in limits:
        near = (low - reach / 2 < limit) & (limit < high + reach / 2)  # a limit far away would flatten the curves
        for number, x in enumerate(np.unique(limit[near])):
            joints = np.flatnonzero(limit == x)
            color = CURVES[joints[0] % len(CURVES)] if len(joints) == 1 else "0.3"
            axes.axhline(x, ls=":", lw=1, color=color)
            if 1 < len(joints) < len(limit):  # it must be seen whose limit it is
                names = ", ".join(axes.lines[k].get_label() for k in joints)
                side, ha = ((1.0, "right"), (0.0, "left"))[number % 2]  # limits may be near to each other
                at = {"xy": (side, x), "xycoords": ("axes fraction", "data"), "xytext": (2 - 4 * side, 1)}
                axes.annotate(names, **at, textcoords="offset points", ha=ha, fontsize=6, color=color)
    axes.set_ylabel(label)


def _curves(motion: Motion) -> dict[str, np.ndarray]:
    """Times, positions, velocities and torques to draw."""
    t = motion.times
    at = motion(t)
    return {"t": t, "q": at.q, "v": at.v, "tau": motion.torques(t).tau}


def _title(motion: Motion) -> str:
    beside = f" ({motion.improvement:.0%} less than the spline, dashed)" if motion.spline else ""
    worst = np.max(motion.excess)
    return f"{motion.robot.name}: {motion.objective} {motion.cost:.4g}{beside}" + (", limits exceeded" if worst else "")
