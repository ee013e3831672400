"""Rules of the model doctor about limits: of positions, velocities and efforts, and of joints that mimic others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .configuration import neutral
from .doctor_model import FAR, Model
from .parts import Finding

__all__ = ["RATES", "followers", "position_limits", "rates"]


def position_limits(model: Model) -> Iterator[Finding]:
    """Yield findings about position limits."""
    robot, home = model.robot, neutral(model.robot)
    for body in robot.bodies:
        if body.joint.mimic is not None:
            continue
        for k in range(body.joint.q.start, body.joint.q.stop):
            low, high, at = robot.lower[k], robot.upper[k], home[k]
            for level, code, message in _range_faults(body.joint.type, low, high, at, model.size):
                yield model.joint(level, code, body.joint.name, message)


def _range_faults(kind: str, low: float, high: float, home: float, size: float) -> Iterator[tuple[str, str, str]]:
    """Yield (level, code, message) of what is odd about the limits of one coordinate; `size` [m] is the robot's."""
    largest = max((abs(x) for x in (low, high) if np.isfinite(x)), default=0.0)
    if low > high:
        yield "error", "limits-reversed", f"lower limit {low:g} above upper limit {high:g}"
    elif low == high:
        yield "warning", "no-range", f"limits {low:g} and {high:g} leave nothing to move; such a joint is fixed"
    elif not low <= home <= high:
        yield "note", "neutral-out-of-limits", f"the neutral {home:g} is outside {low:.4g} .. {high:.4g}"
    if kind in ("revolute", "continuous", "helical") and largest > 4 * np.pi:
        limits = f"limits {low:g} .. {high:g} rad"
        if largest > 720:
            yield "note", "endless-limits", f"{limits} mean none; such a joint is continuous"
        else:
            yield "warning", "limits-in-degrees", f"{limits} are {largest / 2 / np.pi:.3g} turns: degrees?"
    if kind == "prismatic" and FAR < largest < 1e5 and 0 < 20 * size < largest:
        yield "warning", "limits-in-mm", f"limits {low:g} .. {high:g} m of a robot of {size:.3g} m: mm?"


RATES = {
    "velocity_limit": "velocity limit", "effort_limit": "effort limit", "damping": "damping", "friction": "friction",
    "armature": "armature",
}  # fmt: skip
"""The fields of a robot that have a number for each degree of freedom, and their names in messages."""


def rates(model: Model) -> Iterator[Finding]:
    """Yield findings about negative limits of velocity and effort, about limits of 0, and about negative losses."""
    for body in model.robot.bodies:
        if body.joint.mimic is not None:
            continue
        for field, name in RATES.items():
            value, code = getattr(model.robot, field)[body.joint.v].min(initial=np.inf), name.replace(" ", "-")
            if value < 0:
                yield model.joint(
                    "error", f"negative-{code}", body.joint.name, f"{name} {value:g}; it must not be negative"
                )
            elif value == 0 and "limit" in name:
                yield model.joint("warning", f"zero-{code}", body.joint.name, f"{name} 0: it could never move")


def followers(model: Model) -> Iterator[Finding]:
    """Yield findings about joints that mimic another one, which leads them out of their own limits."""
    robot = model.robot
    for i, mimic in robot.mimics.items():
        name, source = robot.body_joint_names[i], robot.bodies[mimic.source].joint
        spec = model.specs.get(name)
        led = np.array([robot.lower[source.q.start], robot.upper[source.q.start]])
        if spec is None or not np.all(np.isfinite(led)):
            continue
        low, high = sorted(mimic.multiplier * led + mimic.offset)
        slack = 1e-3 * (high - low)  # limits in files have few digits
        if low < np.min(spec.lower) - slack or high > np.max(spec.upper) + slack:
            message = (
                f"'{source.name}' leads it through {low:.4g} .. {high:.4g}, its own limits are "
                f"{np.min(spec.lower):.4g} .. {np.max(spec.upper):.4g}"
            )
            yield model.joint("warning", "mimic-out-of-limits", name, message)
