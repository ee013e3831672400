"""Limits, speeds and jumps of a motion that is sampled at every tick."""

from __future__ import annotations

import numpy as np

from ...dynamics.regressors import coordinate_names
from ...model.robot import Robot
from ..running.joint_paths import speed_limits

__all__: list[str] = []

_SLACK = 1e-6  # [rad, m] of positions
_FASTER = 1.01  # speeds between ticks are those of chords
_JUMP = 3.0  # times the speed limit: no motion does that between two ticks


def positions_beyond(robot: Robot, q: np.ndarray, period: float) -> str:
    """What leaves the limits of positions at q (N, nq), in words; "" if nothing does."""
    over = np.maximum(robot.lower - q, q - robot.upper)
    k, j = np.unravel_index(int(np.argmax(over)), over.shape)
    if over[k, j] <= _SLACK:
        return ""
    name, (value, out) = coordinate_names(robot)[j], (_measure(robot, int(j), x) for x in (q[k, j], over[k, j]))
    return f"joint '{name}' is at {value}, {out} beyond its limit, {k * period:.2f} s into the move"


def speeds_beyond(robot: Robot, q: np.ndarray, period: float) -> tuple[str, str]:
    """What is too fast or jumps between ticks of q (N, nq): a code, "limit" or "branch", and words; "" if nothing."""
    if len(q) < 2:
        return "", ""
    allowed = np.asarray(speed_limits(robot).velocity, float)
    limit = np.asarray(robot.velocity_limit, float)
    speed = np.abs(np.diff(q, axis=0)) / period
    share = speed / allowed
    k, j = np.unravel_index(int(np.argmax(share)), share.shape)
    name, when = coordinate_names(robot)[j], f"{k * period:.2f} s into the move"
    if share[k, j] > _JUMP:
        return "branch", f"joint '{name}' jumps by {_measure(robot, int(j), abs(q[k + 1, j] - q[k, j]))}, {when}"
    with np.errstate(invalid="ignore"):
        share = np.where(np.isfinite(limit), speed / limit, 0.0)
    k, j = np.unravel_index(int(np.argmax(share)), share.shape)
    if share[k, j] <= _FASTER:
        return "", ""
    name, when = coordinate_names(robot)[j], f"{k * period:.2f} s into the move"
    fast, most = (f"{_measure(robot, int(j), x)}/s" for x in (speed[k, j], limit[j]))
    return "limit", f"joint '{name}' moves at {fast}, and its limit is {most}, {when}"


def _measure(robot: Robot, j: int, x: float) -> str:
    """A coordinate in words: degrees of joints that turn, mm of those that slide."""
    own = [kind for i, kind in enumerate(robot.joint_types) if i not in robot.mimics]
    slides = len(own) == robot.nq and own[j] == "prismatic"
    return f"{1e3 * x:.4g} mm" if slides else f"{np.degrees(x):.4g}°"
