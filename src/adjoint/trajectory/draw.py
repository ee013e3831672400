"""Plots of motions; they need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..extras import package
from ..model.robot import Robot
from .along import mover
from .peaks import piece_times
from .torque import true_torque

if TYPE_CHECKING:
    from .optimal.motion import Motion
    from .piecewise import Trajectory

__all__ = ["draw_motion", "draw_trajectory", "saved_figure"]

_SAMPLES = 600  # of a curve
_WIDTH = 100  # letters that fit beside each other below the figure


def draw_motion(motion: Motion, target: Path) -> Path:
    """Draws positions, velocities and torques of each joint over time into a file; limits dotted, the spline dashed."""
    robot = motion.robot
    rows = (
        ("q", "position [rad or m]", (robot.lower, robot.upper)),
        ("v", "velocity [rad/s or m/s]", (-robot.velocity_limit, robot.velocity_limit)),
        ("tau", "torque [N m or N]", (-robot.effort_limit, robot.effort_limit)),
    )
    curves = [_curves(motion), *([_curves(motion.spline)] if motion.spline else [])]
    figure = _figure("Motion.plot", len(rows))
    for axes, (field, label, limits) in zip(figure.axes, rows, strict=True):
        lines = axes.plot(curves[0]["t"], curves[0][field], label=robot.joint_names)
        for beside in curves[1:]:
            for line, dashed in zip(lines, beside[field].T, strict=True):
                axes.plot(beside["t"], dashed, "--", color=line.get_color(), lw=0.8)
        _finish(axes, label, limits)
    return saved_figure(figure, _title(motion), target)


def draw_trajectory(trajectory: Trajectory, target: Path, robot: Robot | None) -> Path:
    """Draws a trajectory into a file; see `Trajectory.plot`."""
    if trajectory.batch:
        raise ArgumentError(f"plot draws one trajectory, this is a batch {trajectory.batch}: trajectory[i].plot(...)")
    if robot is not None or trajectory.robot is not None:
        robot = mover(trajectory, robot, "plot")
    t = piece_times(trajectory.knots, max(32, _SAMPLES // trajectory.pieces)).ravel()  # jumps become upright lines
    q, v, a, _ = trajectory(t)
    rows = [
        (q, "position [rad or m]", () if robot is None else (robot.lower, robot.upper)),
        (v, "velocity [rad/s or m/s]", () if robot is None else (-robot.velocity_limit, robot.velocity_limit)),
        (a, "acceleration [rad/s² or m/s²]", ()),
    ]
    if robot is not None:
        rows.append((true_torque(robot, q, v, a), "torque [N m or N]", (-robot.effort_limit, robot.effort_limit)))
    figure = _figure("Trajectory.plot", len(rows))
    names = None if robot is None else (coordinate_names(robot), dof_names(robot))
    for k, (axes, (values, label, limits)) in enumerate(zip(figure.axes, rows, strict=True)):
        axes.plot(t, values, label=trajectory.joint_names if names is None else names[k > 0])
        _finish(axes, label, limits)
        for knot in trajectory.knots[1:-1]:
            axes.axvline(knot, color="0.85", lw=0.6, zorder=0)
    title = f"{trajectory.duration:g} s, {trajectory.pieces} piece{'s' * (trajectory.pieces > 1)}"
    return saved_figure(figure, title if robot is None else f"{robot.name}: {title}", target)


# --- parts ------------------------------------------------------------------------------------------------------------


def _figure(caller: str, rows: int) -> Any:
    """A figure with so many rows over one axis of time."""
    figure = package("matplotlib.figure", "plot", caller).Figure(figsize=(8, 3 * rows), layout="constrained")
    figure.subplots(rows, 1, sharex=True)
    return figure


def _finish(axes, label: str, limits: Sequence[np.ndarray]) -> None:
    """Adds the label and the limits to a row whose curves are drawn."""
    low, high = axes.get_ylim()
    reach = high - low
    for limit in limits:
        near = (low - reach / 2 < limit) & (limit < high + reach / 2)  # a limit far away would flatten the curves
        for number, x in enumerate(np.unique(limit[near])):
            joints = np.flatnonzero(limit == x)
            color = f"C{joints[0] % 10}" if len(joints) == 1 else "0.3"
            axes.axhline(x, ls=":", lw=1, color=color)
            if 1 < len(joints) < len(limit):  # it must be seen whose limit it is
                names = ", ".join(axes.lines[k].get_label() for k in joints)
                side, ha = ((1.0, "right"), (0.0, "left"))[number % 2]  # limits may be near to each other
                at = {"xy": (side, x), "xycoords": ("axes fraction", "data"), "xytext": (2 - 4 * side, 1)}
                axes.annotate(names, **at, textcoords="offset points", ha=ha, fontsize=6, color=color)
    axes.set_ylabel(label)
    axes.margins(x=0)


def saved_figure(figure, title: str, target: Path) -> Path:
    """Give a figure over time its title and the legend of its first row, and write it into a file."""
    figure.axes[0].set_title(title, fontsize=10 if len(title) > 60 else None)
    figure.axes[-1].set_xlabel("time [s]")
    lines, names = figure.axes[0].get_legend_handles_labels()
    columns = max(1, min(6, len(names), _WIDTH // (max(map(len, names)) + 6)))
    figure.legend(lines, names, loc="outside lower center", frameon=False, ncols=columns)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(target, dpi=150)
    except ValueError as error:
        raise ArgumentError(f"plot: {target}: {error}") from None
    return target


def _curves(motion: Motion) -> dict[str, np.ndarray]:
    """Times, positions, velocities and torques to draw."""
    t = motion.times
    at = motion(t)
    return {"t": t, "q": at.q, "v": at.v, "tau": motion.torques(t).tau}


def _title(motion: Motion) -> str:
    beside = f" ({motion.improvement:.0%} less than the spline, dashed)" if motion.spline else ""
    worst = np.max(motion.excess)
    return f"{motion.robot.name}: {motion.objective} {motion.cost:.4g}{beside}" + (", limits exceeded" if worst else "")
