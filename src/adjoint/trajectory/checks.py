"""Checks of what users give for trajectories: knots, the times between them, and rates at both ends."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..model.configuration import neutral
from ..model.input_checks import floats, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .manifold import has_manifold_joints
from .quantities import SHORTEST, broadcast
from .states import ends

__all__ = ["common_batch", "end_rates", "given_start", "knot_positions", "plain_joints", "segment_times", "spans"]


def knot_positions(caller: str, knots, *, least: int, most: int | None = None, label: str = "knots") -> np.ndarray:
    """Finite knots (..., N, n), with N of `least` to `most`, or an `ArgumentError` that names the bad one."""
    found = floats(knots)
    many = f"{least}" if most == least else f"at least {least}"
    fits = found.ndim >= 2 and found.shape[-2] >= least and (most is None or found.shape[-2] <= most)
    if not fits or found.shape[-1] == 0:
        got = f"shape {found.shape}" if found.ndim else repr(knots)[:60]
        raise ArgumentError(f"{caller}: {label} must be numbers (..., N, n), with {many} of them (N), got {got}")
    if not np.isfinite(found).all():
        place = np.argwhere(~np.isfinite(found))[0]
        which = ", ".join(map(str, place))
        raise ArgumentError(f"{caller}: {label}[{which}] is {found[tuple(place)]:g}; all must be finite numbers")
    return found


def segment_times(caller: str, times, count: int, label: str = "times") -> np.ndarray:
    """Positive durations (..., count) of segments [s], or an `ArgumentError` that names the bad one."""
    found = floats(times)
    if found.ndim == 0 or found.shape[-1] != count:
        got = f"shape {found.shape}" if found.ndim else repr(times)[:60]
        raise ArgumentError(f"{caller}: {label} must be {count} durations [s], (..., {count}), got {got}")
    bad = ~((found > SHORTEST) & (found < 1 / SHORTEST))
    if bad.any():
        place = np.argwhere(bad)[0]
        which = ", ".join(map(str, place))
        raise ArgumentError(f"{caller}: {label}[{which}] is {found[tuple(place)]:g} s; a segment needs a positive time")
    return found


def spans(caller: str, times, durations, knots: int) -> np.ndarray:
    """The durations (..., knots - 1) between knots, from their times (..., knots) or from the durations themselves."""
    if (times is None) == (durations is None):
        raise ArgumentError(f"{caller} needs either the times of its {knots} knots or the durations between them")
    if times is None:
        return segment_times(caller, durations, knots - 1, "durations")
    found = floats(times)
    if found.ndim == 0 or found.shape[-1] != knots:
        got = f"shape {found.shape}" if found.ndim else repr(times)[:60]
        raise ArgumentError(f"{caller}: times must be those of the {knots} knots [s], (..., {knots}), got {got}")
    h = np.diff(found, axis=-1)
    bad = ~((h > SHORTEST) & (h < 1 / SHORTEST))
    if bad.any():
        place = np.argwhere(bad)[0]
        before, after = (", ".join(map(str, (*place[:-1], place[-1] + k))) for k in (0, 1))
        a, b = found[tuple(place)], found[(*place[:-1], place[-1] + 1)]
        raise ArgumentError(f"{caller}: times must grow from knot to knot, but times[{before}] is {a:g} and "
                            f"times[{after}] is {b:g}")  # fmt: skip
    return h


def end_rates(caller: str, n: int, velocity, acceleration, label: str, robot: Robot | None = None) -> np.ndarray:
    """Velocity and acceleration (..., 2, n) at an end; each is given as (..., n) or as one number for all joints."""
    still = np.zeros(n) if robot is None else neutral(robot)
    _, v, a = ends(caller, robot, (still, velocity, acceleration), label)
    return np.stack([v, a], axis=-2)


def given_start(caller: str, robot: Robot, start, *, batch: bool = False) -> np.ndarray | None:
    """The finite configuration (nq,) near which a motion begins, (..., nq) with `batch`; None if none is given."""
    if start is None:
        return None
    found = vectors(start, robot.nq, "start", caller)
    if found.ndim > 1 and not batch:
        raise ArgumentError(f"{caller}: start has shape {found.shape}; one configuration, ({robot.nq},), is needed")
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: start contains NaN or infinity")
    return found


def plain_joints(caller: str, robot: Robot | None, n: int) -> None:
    """Raise `ArgumentError` if a robot is given that has not n joints of one degree of freedom each."""
    if robot is None:
        return
    need_robot(robot, caller)
    if has_manifold_joints(robot):
        raise ArgumentError(f"{caller} is for joints of one degree of freedom; `spline` takes robot '{robot.name}'")
    if robot.nq != n:
        raise ArgumentError(f"{caller}: robot '{robot.name}' has {robot.nq} joints; knots of {n} were given")


def common_batch(caller: str, **cores: tuple[np.ndarray, int]) -> tuple[int, ...]:
    """The shape of the batch of arrays, each given with the number of axes of one sample."""
    return broadcast(caller, **{name: x.shape[: x.ndim - core] for name, (x, core) in cores.items()})
