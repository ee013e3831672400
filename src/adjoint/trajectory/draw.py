"""Plots of motions; they need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..extras import package

if TYPE_CHECKING:
    from .optimal.motion import Motion

__all__ = ["draw_motion"]


def draw_motion(motion: Motion, target: Path) -> Path:
    """Draws positions, velocities and torques of each joint over time into a file; limits dotted, the spline dashed."""
    Figure = package("matplotlib.figure", "plot", "Motion.plot").Figure
    robot = motion.robot
    rows = (
        ("q", "position [rad or m]", (robot.lower, robot.upper)),
        ("v", "velocity [rad/s or m/s]", (-robot.velocity_limit, robot.velocity_limit)),
        ("tau", "torque [N m or N]", (-robot.effort_limit, robot.effort_limit)),
    )
    curves = [_curves(motion), *([_curves(motion.spline)] if motion.spline else [])]
    figure = Figure(figsize=(8, 9), layout="constrained")
    for axes, (field, label, limits) in zip(figure.subplots(3, 1, sharex=True), rows, strict=True):
        for i, name in enumerate(robot.joint_names):
            (line,) = axes.plot(curves[0]["t"], curves[0][field][:, i], label=name)
            for beside in curves[1:]:
                axes.plot(beside["t"], beside[field][:, i], "--", color=line.get_color(), lw=0.8)
        low, high = axes.get_ylim()
        reach = high - low
        for i, limit in ((i, limit[i]) for limit in limits for i in range(robot.nv)):
            if low - reach / 2 < limit < high + reach / 2:  # a limit far away would flatten the curves
                axes.axhline(limit, ls=":", color=f"C{i % 10}", lw=1)
        axes.set_ylabel(label)
        axes.margins(x=0)
    figure.axes[0].set_title(_title(motion))
    figure.axes[0].legend(frameon=False, ncols=min(6, robot.nv))
    figure.axes[-1].set_xlabel("time [s]")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=150)
    return target


def _curves(motion: Motion) -> dict[str, np.ndarray]:
    """Times, positions, velocities and torques to draw."""
    t = motion.times
    at = motion(t)
    return {"t": t, "q": at.q, "v": at.v, "tau": motion.torques(t)}


def _title(motion: Motion) -> str:
    beside = f" ({motion.improvement:.0%} less than the spline, dashed)" if motion.spline else ""
    worst = np.max(motion.excess)
    return f"{motion.robot.name}: {motion.objective} {motion.cost:.4g}{beside}" + (", limits exceeded" if worst else "")
