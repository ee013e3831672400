"""Explanations why no motion was found: which limit is in the way, when, and what would help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...goals.search import goal_errors
from ...model.robot import Robot
from ..torque import true_torque
from .motion import Motion, spline_motion
from .path import Strays, amount

__all__ = ["why_not"]

_LONGEST = 1000.0  # slower motions are tried up to this many times the duration asked for


def why_not(
    motion: Motion, missed: Strays, status: str, ends: tuple[np.ndarray, np.ndarray], times: tuple[float, float]
) -> str:
    """An explanation in words.

    `motion` is the one that exceeds the limits least and misses its path by `missed`, `status` the solver's last word,
    `ends` are the states (q, v) at both ends, each (2, n), and `times` the shortest and longest duration allowed [s].
    """
    lasting = f"{times[1]:g} s" if times[0] == times[1] else f"{times[0]:g} to {times[1]:g} s"
    lines = [f"no motion of '{motion.robot.name}' in {lasting} within all limits was found ({status})"]
    off = "" if missed.none else _off_path(motion)
    exceeded = _worst(motion) if motion.excess.any() else "" if off else "The goal is missed"
    slower = "" if off else _slower(motion, ends, times)
    lines += filter(None, [off, exceeded, _held(motion.robot, ends), slower])
    return ". ".join(lines)


def _off_path(motion: Motion) -> str:
    """A sentence about the goal of the path that is missed most, and when."""
    errors = goal_errors(motion.robot, motion.path, motion(motion.times).q)
    k, i = np.unravel_index(np.argmax(errors), errors.shape)
    return (
        f"The nearest one leaves its path: it misses {amount(motion.path[i], errors[k, i])} at "
        f"t = {motion.times[k]:.3g} s. A tolerance of this goal, other ends, or more `starts` or `segments` may help"
    )


def _worst(motion: Motion) -> str:
    """A sentence about the limit that is exceeded most, and when."""
    at = motion.limits.worst
    assert at is not None
    if at.kind == "position":
        where = f"{at.value:.4g} at t = {at.time:.3g} s, beyond its limit {at.limit:.4g}"
        return f"The nearest one puts joint '{at.joint}' at {where}"
    ratio = 1 + at.relative
    over = f"{at.relative:.1%} above" if ratio < 2 else f"{ratio:.3g} times"
    return (
        f"The nearest one takes a {'speed' if at.kind == 'velocity' else at.kind} of {abs(at.value):.4g} in joint "
        f"'{at.joint}' at t = {at.time:.3g} s, {over} its limit {abs(at.limit):.4g}"
    )


def _held(robot: Robot, ends: tuple[np.ndarray, np.ndarray]) -> str:
    """A sentence about an end at which a joint is too weak to hold against gravity; "" if there is none."""
    for label, (q, _) in zip(("start", "goal"), ends, strict=True):
        hold = np.abs(true_torque(robot, q, 0 * q, 0 * q))
        i = int(np.argmax(hold / robot.effort_limit))
        if hold[i] > robot.effort_limit[i]:
            return (
                f"At the {label}, joint '{robot.joint_names[i]}' cannot even hold still: gravity takes "
                f"{hold[i]:.4g} of its {robot.effort_limit[i]:.4g}"
            )
    return ""


def _slower(motion: Motion, ends: tuple[np.ndarray, np.ndarray], times: tuple[float, float]) -> str:
    """A sentence about the duration that is needed.

    The straight spline of a longer duration may keep all limits, or that bent onto the path, if the motion is from rest
    to rest; the shortest such duration is found by bisection.
    """
    apart = np.abs(ends[1][0] - ends[0][0])
    least = float(np.max(apart / motion.robot.velocity_limit))
    if least > times[1]:
        return f"Speed limits alone need {least:.4g} s"

    if motion.path and (motion.spline is None or np.any([v for _, v in ends])):
        return ""

    def holds(T: float) -> bool:
        if motion.path and motion.spline:
            return not replace(motion.spline, trajectory=motion.spline.trajectory.lasting(T)).excess.any()
        return not spline_motion(motion.robot, *ends, T).excess.any()

    which = "spline bent onto the path" if motion.path else "straight spline"

    low, high = times[1], 2 * times[1]
    while not holds(high):
        low, high = high, 2 * high
        if high > _LONGEST * times[1]:
            return f"A slower motion does not help along the {which} between the ends; more `starts` may find a swing"
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return f"The {which} needs {high:.3g} s, so less than that will do; more `segments` or `starts` may help too"
