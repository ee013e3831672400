"""Extrema of a trajectory: the lowest and highest q, v, a and jerk of every joint, and when they are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.joints import JOINTS
from ..model.robot import Robot
from .manifold import joint_places
from .peaks import refined_extremes
from .polynomials import Extremes, Order, rate_extremes

if TYPE_CHECKING:
    from .piecewise import Trajectory

__all__ = ["Extrema", "extrema"]


class Extrema(NamedTuple):
    """The `Extremes` of q, v, a and jerk: `lowest`, `highest`, `at_lowest` and `at_highest` [s], (..., n) each."""

    q: Extremes
    v: Extremes
    a: Extremes
    jerk: Extremes


def extrema(trajectory: Trajectory) -> Extrema:
    """The `Extrema` of a trajectory; see `Trajectory.extrema`."""
    knots = trajectory.knots[..., None, :]  # for every coordinate
    c, lengths = np.moveaxis(trajectory.coefficients, -3, -2), np.diff(knots)
    # Pieces that last no time do not count, unless none lasts: the first one is then where the robot stands.
    counts = (lengths > 0) | ((knots[..., -1:] == 0) & (np.arange(trajectory.pieces) == 0))
    whole = rate_extremes(
        Order(trajectory.degree + 1), knots[..., :-1], lengths, counts.astype(float), c
    )  # (..., n, 4)
    q, v, a, jerk = (Extremes(*(x[..., k] for x in whole)) for k in range(4))
    found = Extrema(q, v, a, jerk)
    return found if trajectory.anchors is None else _on_manifold(trajectory, found)


# --- joints of several degrees of freedom -----------------------------------------------------------------------------


def _on_manifold(trajectory: Trajectory, found: Extrema) -> Extrema:
    """The extrema, in which those of joints of several degrees of freedom are replaced by refined samples."""
    robot: Robot = trajectory.robot  # type: ignore[assignment]  # a trajectory with anchors has one
    single = [(q.start, v.start) for q, v, screws in joint_places(robot) if screws is None]
    lengths, rates = _positions(robot), [k for k in range(robot.nv) if k not in {v for _, v in single}]

    def values(part: Trajectory, t: np.ndarray) -> np.ndarray:
        sample = part(t)
        return np.concatenate([sample.q[..., lengths], *(x[..., rates] for x in sample[1:])], axis=-1)

    refined = refined_extremes(trajectory, values)
    ends = np.cumsum([len(lengths), *[len(rates)] * 3])

    def merged(exact: Extremes, n: int, to: list[int], source: list[int], columns: list[int], k: int) -> Extremes:
        parts = []
        for x, y in zip(exact, refined, strict=True):
            new = np.full((*x.shape[:-1], n), np.nan)
            new[..., to] = x[..., source]
            new[..., columns] = y[..., ends[k] - len(columns) : ends[k]]
            parts.append(new)
        return Extremes(*parts)

    at_q, at_v = [q for q, _ in single], [v for _, v in single]
    of_rates = [merged(x, robot.nv, at_v, at_v, rates, k) for k, x in enumerate(found[1:], 1)]
    return Extrema(merged(found.q, robot.nq, at_q, at_v, lengths, 0), *of_rates)


def _positions(robot: Robot) -> list[int]:
    """Places in q of the coordinates of joints of several degrees of freedom that belong to no quaternion."""
    at, places = robot.layout, []
    for i, kind in enumerate(robot.joint_types):
        row = JOINTS[kind]
        if i not in robot.mimics and row.nv > 1:
            places += range(at.q_start[i], at.q_start[i] + row.nq - 4 * row.has_quaternion)
    return places
