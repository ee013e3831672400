"""Checks of what users ask of `spline_motion` and `optimal_motion`."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, floats, positive
from ...model.joints import JOINTS
from ...model.needs import need_robot
from ...model.robot import Robot

__all__ = [
    "COSTS", "check_cost", "check_options", "check_robot", "durations", "effort_weights", "require_inward", "seconds",
    "state",
]  # fmt: skip

COSTS = ("effort", "energy", "kinetic")


def check_robot(robot: Robot, caller: str) -> None:
    """Raises an `ArgumentError` unless every joint has one coordinate, and limits of speed and torque above 0."""
    need_robot(robot, caller)
    several = [
        name
        for name, kind in zip(robot.body_joint_names, robot.joint_types, strict=True)
        if JOINTS[kind].nv != 1 or JOINTS[kind].nq != 1
    ]
    if several:
        raise ArgumentError(
            f"{caller}: joint '{several[0]}' of robot '{robot.name}' has several degrees of freedom; the splines are "
            "for joints with one, as sums of orientations are no orientations. robot.locked holds a joint still"
        )
    if not robot.nv:
        raise ArgumentError(f"{caller}: robot '{robot.name}' has no joint to move")
    for what, limit in (("velocity", robot.velocity_limit), ("effort", robot.effort_limit)):
        if np.any(limit <= 0):
            name = robot.joint_names[int(np.argmin(limit))]
            raise ArgumentError(
                f"{caller}: joint '{name}' of robot '{robot.name}' has {what} limit {limit.min():g}; it must be "
                f"positive, robot.replace({what}_limit=...) gives others, infinity for none"
            )


def state(robot: Robot, value, label: str) -> np.ndarray:
    """A state (q, v) (2, n) within the limits, from q (n,) at rest or from a pair q, v."""
    n = robot.nv
    given = floats(value)
    if given.shape == (n,):
        given = np.stack([given, np.zeros(n)])
    if given.shape != (2, n) or not np.isfinite(given).all():
        what = f"q ({n},) or a pair q, v of finite numbers, each ({n},)"
        raise ArgumentError(f"{label} must be {what}, got {value!r}")
    q, v = given
    for what, x, low, high in (
        ("q", q, robot.lower, robot.upper),
        ("v", v, -robot.velocity_limit, robot.velocity_limit),
    ):
        if np.any((x < low) | (x > high)):
            i = int(np.argmax(np.maximum(low - x, x - high)))
            bounds = f"outside its limits {low[i]:g} ... {high[i]:g}"
            raise ArgumentError(f"{label}: {what} of joint '{robot.joint_names[i]}' is {x[i]:g}, {bounds}")
    return given


def seconds(value, label: str) -> float:
    """A positive time [s] whose square neither overflows nor underflows."""
    found = positive(value, f"{label} [s]")
    if not 1e-150 < found < 1e150:
        raise ArgumentError(f"{label} is {found:g} s; rates of such a motion are no floating-point numbers")
    return found


def effort_weights(robot: Robot, weights, caller: str) -> np.ndarray:
    """The weights w (n,) of the effort.

    If none are given they are 1 / τmax², so that the effort compares torques with their limits, or 1 if a joint has no
    limit.
    """
    if weights is None:
        limit = robot.effort_limit
        return 1 / limit**2 if np.isfinite(limit).all() else np.ones(robot.nv)
    found = floats(weights)
    if found.shape != (robot.nv,) or not np.all((found >= 0) & np.isfinite(found)) or not found.any():
        what = f"numbers ({robot.nv},), none negative and not all zero"
        raise ArgumentError(f"{caller}: weights must be {what}, got {weights!r}")
    return found


def check_cost(cost: str, caller: str) -> None:
    """Raises an `ArgumentError` unless `cost` is one of `COSTS`."""
    if not isinstance(cost, str) or cost not in COSTS:
        raise ArgumentError(f"{caller}: cost is {cost!r}; it must be one of {', '.join(map(repr, COSTS))}")


def check_options(robot: Robot, cost: str, weights, segments: int, starts: int, max_iterations: int) -> None:
    """Raises an `ArgumentError` about options that are out of range or do not fit the cost."""
    for name, value in (("segments", segments), ("starts", starts), ("max_iterations", max_iterations)):
        if count(value, f"optimal_motion: {name}") < 1:
            raise ArgumentError(f"optimal_motion: {name} must be 1 or more, got {value!r}")
    effort_weights(robot, weights, "optimal_motion")
    if cost != "effort" and weights is not None:
        raise ArgumentError(f"optimal_motion: weights are those of the effort; cost={cost!r} has none")
    if cost == "energy" and not np.isfinite(robot.effort_limit).all():
        name = robot.joint_names[int(np.argmax(robot.effort_limit))]
        raise ArgumentError(
            f"optimal_motion: joint '{name}' of robot '{robot.name}' has no torque limit, and without one the least "
            "energy takes torques without bound for no time at all; robot.replace(effort_limit=...) gives limits"
        )


def require_inward(robot: Robot, q: np.ndarray, v: np.ndarray, label: str, moves: str) -> None:
    """Raises an `ArgumentError` if a joint is on a limit and v leads beyond it."""
    for i in np.flatnonzero(((q >= robot.upper) & (v > 0)) | ((q <= robot.lower) & (v < 0))):
        raise ArgumentError(
            f"{label}: joint '{robot.joint_names[i]}' is on its limit {q[i]:g} and {moves} beyond it, with a speed of "
            f"{abs(v[i]):g}; on a limit a joint rests, or its velocity has the other sign"
        )


def durations(duration) -> tuple[float, float]:
    """The shortest and the longest duration allowed."""
    given = duration if isinstance(duration, (tuple, list)) else (duration, duration)
    if len(given) != 2:
        raise ArgumentError(f"optimal_motion: duration must be seconds or a pair of them, got {duration!r}")
    low, high = (seconds(x, "optimal_motion: duration") for x in given)
    if low > high:
        raise ArgumentError(f"optimal_motion: duration is {low:g} to {high:g} s; the first must not be the longer one")
    return low, high
