"""`Actor`: a robot and its motion, as a page shows them; or many motions of the same robot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ArgumentError
from ..model.configuration import neutral
from ..model.robot import Robot

__all__ = [
    "ENDLESS",
    "Actor",
    "Ball",
    "Curves",
    "configurations",
    "frame_times",
    "settled",
    "shown_at_first",
    "thinned",
]

ENDLESS = 1e4
"""A limit [rad, m] that is larger is none: files write it for joints that turn without end."""

_MOST_FRAMES = 100_000
_LOST = 1e9  # [rad, m] a run that gets here is lost, as one that becomes NaN


class Ball(NamedTuple):
    """A ball, such as a load: its centers (runs, frames, 3) [m] in the robot's base, and a radius (runs,) [m] each."""

    centers: np.ndarray
    radii: np.ndarray


class Curves(NamedTuple):
    """What a plot beside a motion shows: `values` (frames, k) with k labels, a name and a unit.

    They are those of the first run; with (runs, frames, k), those of the first runs.
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    values: np.ndarray


class Actor(NamedTuple):
    """A robot at times t (frames,) [s], with configurations q (runs, frames, nq); one frame stands still.

    Without a color, such as "#e07b22", the robot has the colors of its shapes. Lengths are in m, or in another `unit`.
    A robot that is drawn from its joints gets a hand, unless `hand` is False: then something else shows its hand.
    """

    name: str
    robot: Robot
    t: np.ndarray
    q: np.ndarray
    color: str | None = None
    balls: tuple[Ball, ...] = ()
    curves: tuple[Curves, ...] = ()
    unit: str = "m"
    hand: bool = True


def shown_at_first(robot: Robot) -> np.ndarray:
    """The configuration (nq,) in which a robot is shown if nobody says another: neutral, or as near as limits allow."""
    return np.clip(neutral(robot), robot.lower, robot.upper)


def configurations(robot: Robot, q, caller: str) -> np.ndarray:
    """Configurations (k, nq) that a user gives as q (nq,) or (k, nq); for None, the one that is shown at first."""
    if q is None:
        return shown_at_first(robot)[None]
    try:
        found = np.array(unmasked(q), float)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{caller}: q must be numbers, got {q!r:.60}") from None
    if found.ndim not in (1, 2) or found.shape[-1] != robot.nq or not len(np.atleast_2d(found)):
        wanted = f"({robot.nq},) or (k, {robot.nq})"
        raise ArgumentError(f"{caller}: q has shape {found.shape}; it must be {wanted} for robot '{robot.name}'")
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: q contains NaN or infinity")
    return np.atleast_2d(found)


def frame_times(start: float, end: float, rate: float, caller: str) -> np.ndarray:
    """The times (frames,) [s] from start to end, `rate` of them in a second; the last comes earlier, if it must."""
    if not (end - start) * rate <= _MOST_FRAMES:
        raise ArgumentError(f"{caller}: {rate:g} pictures a second are more than {_MOST_FRAMES} in all")
    times = start + np.arange(int((end - start) * rate + 1e-6) + 1) / rate
    return times if end - times[-1] < 1e-3 / rate else np.append(times, end)


def thinned(t: np.ndarray, rate: float, caller: str) -> np.ndarray:
    """Times (frames,) [s] of which about `rate` are in a second; all of t (N,), if there are no more."""
    if len(t) - 1 <= (t[-1] - t[0]) * rate * (1 + 1e-9):
        return t
    return frame_times(float(t[0]), float(t[-1]), rate, caller)


def settled(q: np.ndarray, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Which of the runs q (runs, frames, nq) are not lost from the start, and where they are: lost ones stay in place.

    The two are numbers (drawn,) of runs, and configurations (drawn, frames, nq).
    """
    finite = np.cumprod((np.abs(q) < _LOST).all(axis=-1), axis=1)  # (runs, frames)
    drawn = np.flatnonzero(finite[:, 0])
    if not len(drawn):
        raise ArgumentError(f"{caller}: no run that would be drawn starts with finite numbers")
    last = finite[drawn].sum(axis=1) - 1
    at = np.minimum(np.arange(q.shape[1]), last[:, None])
    return drawn, np.take_along_axis(q[drawn], at[..., None], axis=1)
