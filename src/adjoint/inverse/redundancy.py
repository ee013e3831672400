"""Arms with one joint more than a pose needs: the parameter of a configuration, and the best one for a purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..kinematics.dexterity import manipulability
from ..model.input_checks import count, floats, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .arm_angle import arm_angle_of
from .arms import Arm, arm_of
from .choice import middle_of_limits, nearest_copy
from .closed_form import inverse_kinematics

__all__ = ["BestRedundancy", "best_redundancy", "redundancy_of"]

_PEAKS, _ZOOMS, _FINER = 4, 6, 17  # a zoom looks at 17 values between the neighbours of each peak: 8 times finer


def _redundant(robot: Robot, frame: str, caller: str) -> Arm:
    arm = arm_of(robot, frame)
    if not arm.is_redundant:
        raise ArgumentError(
            f"{caller}: robot '{robot.name}' has {arm.chain.count} joints on the way to frame '{frame}', and a pose "
            "leaves none of them free; `inverse_kinematics` gives its configurations"
        )
    return arm


@kernel(robot=static, q="nq", frame=static)
def redundancy_of(robot: Robot, q, frame: str) -> Any:
    """The redundancy parameter of a configuration q (nq,): what `inverse_kinematics` needs to find q again.

    It is the arm angle [rad], or the coordinate of the locked joint.

        >>> psi = redundancy_of(arm7, q7, "tool")
    """
    arm = _redundant(robot, frame, "redundancy_of")
    own = [q[i] for i in arm.chain.places]
    return arm_angle_of(arm.axes, own) if arm.lock is None else own[arm.chain.gears[arm.lock].coordinate]


class BestRedundancy(NamedTuple):
    """The best configurations `q` (..., nq), their `redundancy` (...,), and the `value` (...,) of the objective there.

    Where no configuration inside the joint limits reaches the pose, all are NaN.
    """

    q: np.ndarray
    redundancy: np.ndarray
    value: np.ndarray


def best_redundancy(
    robot: Robot, T, frame: str, objective: str = "limits", *, q=None, samples: int = 64
) -> BestRedundancy:
    """Return the best configuration over all values of the redundancy parameter and all branches, for T (..., 4, 4).

        >>> best = best_redundancy(arm7, T7, "tool", "nearest", q=q7)

    `objective` is

    - "nearest": the least distance from q (..., nq); `value` is that distance;
    - "limits": the largest margin of the joint that is nearest to a limit; `value` is the margin as a part of half the
      joint's range, 1 in the middle and 0 at a limit;
    - "manipulability": the largest `manipulability` of the frame.

    All configurations are inside the joint limits. The parameter is searched on a grid of `samples` values, which is
    then refined around the best; a narrow optimum between two values of the grid can be missed.
    """
    need_robot(robot, "best_redundancy")
    arm, samples = _redundant(robot, frame, "best_redundancy"), max(8, count(samples, "best_redundancy: samples"))
    score = _objective(robot, frame, arm, objective, q)
    T = floats(T)
    if T.shape[-2:] != (4, 4):
        raise ArgumentError(f"best_redundancy: T must be poses (..., 4, 4), got shape {T.shape}")
    if q is not None:
        try:
            np.broadcast_shapes(T.shape[:-2], np.shape(q)[:-1])
        except ValueError:
            raise ArgumentError(
                f"best_redundancy: T {T.shape[:-2]} and q {np.shape(q)[:-1]} do not broadcast"
            ) from None
    low, high = _range(robot, arm)
    # Both ends of a circle are the same point.
    grid = np.linspace(low, high, samples, endpoint=arm.lock is not None)
    centers = _peaks(_best_on(robot, T, frame, grid[:, None], score), grid)
    width = (high - low) / (samples - 1)
    for _ in range(_ZOOMS):
        finer = centers[..., None] + np.linspace(-width, width, _FINER)
        found = _best_on(robot, T, frame, np.clip(finer, low, high) if arm.lock is not None else finer, score)
        centers = np.where(np.isnan(found.redundancy), centers, found.redundancy)
        width = 2 * width / (_FINER - 1)
    best = np.where(np.isnan(found.value), -np.inf, found.value).argmax(axis=-1)[..., None]
    q_best = np.take_along_axis(found.q, best[..., None], axis=-2)[..., 0, :]
    psi, value = (np.take_along_axis(x, best, axis=-1)[..., 0] for x in (found.redundancy, found.value))
    psi = psi - 2 * np.pi * np.rint(psi / (2 * np.pi)) if arm.lock is None else psi
    return BestRedundancy(q_best, psi, -value if objective == "nearest" else value)


def _peaks(found: BestRedundancy, grid: np.ndarray) -> np.ndarray:
    """The values (..., 4) of the parameter at the highest points of a grid (m,) that no neighbour exceeds."""
    value = np.where(np.isnan(found.value), -np.inf, found.value)
    higher = np.maximum(np.roll(value, 1, axis=-1), np.roll(value, -1, axis=-1))
    peaks = np.where(value >= higher, value, -np.inf)
    return grid[np.argsort(-peaks, axis=-1, kind="stable")[..., :_PEAKS]]


def _range(robot: Robot, arm: Arm) -> tuple[float, float]:
    """The values that the parameter can have."""
    if arm.lock is None:
        return -np.pi, np.pi
    place = arm.chain.places[arm.chain.gears[arm.lock].coordinate]
    low, high = float(robot.lower[place]), float(robot.upper[place])
    reach = np.pi if arm.axes[arm.lock].kind == "R" else 1.0
    if np.isfinite(low) == np.isfinite(high):
        return (low, high) if np.isfinite(low) else (-reach, reach)
    return (low, low + 2 * reach) if np.isfinite(low) else (high - 2 * reach, high)


def _best_on(robot: Robot, T, frame: str, grid, score: Callable) -> BestRedundancy:
    """The best of all branches and of the last axis of `grid` (..., c, m), for each of its c rows."""
    found = inverse_kinematics(robot, T[..., None, None, :, :], frame, redundancy=grid)  # (..., c, m, k, nq)
    q, value = score(found.q)
    value = np.where(found.exact & np.isfinite(value), value, -np.inf)
    flat = value.reshape(*value.shape[:-2], -1)
    at = flat.argmax(axis=-1)[..., None]
    best = np.take_along_axis(flat, at, axis=-1)[..., 0]
    q = np.take_along_axis(q.reshape(*flat.shape, robot.nq), at[..., None], axis=-2)[..., 0, :]
    psi = np.take_along_axis(np.broadcast_to(grid, value.shape[:-1]), at // value.shape[-1], axis=-1)[..., 0]
    there = np.isfinite(best)
    return BestRedundancy(
        np.where(there[..., None], q, np.nan), np.where(there, psi, np.nan), np.where(there, best, np.nan)
    )


def _objective(robot: Robot, frame: str, arm: Arm, objective: str, q) -> Callable:
    """A function of solutions (..., c, m, k, nq): their copies inside the limits, and their value, -inf if outside."""
    if objective not in ("nearest", "limits", "manipulability"):
        raise ArgumentError(
            f"best_redundancy: objective is {objective!r}; it must be 'nearest', 'limits' or 'manipulability'"
        )
    if (objective == "nearest") != (q is not None):
        raise ArgumentError("best_redundancy: q= is needed for the objective 'nearest', and for no other")
    near = (
        middle_of_limits(robot) if q is None else vectors(q, robot.nq, "q", "best_redundancy")[..., None, None, None, :]
    )

    own = list(arm.chain.places)
    moves = np.isin(np.arange(robot.nq), own)
    low, high = robot.lower[own], robot.upper[own]

    def margin(x: np.ndarray) -> np.ndarray:
        half = 0.5 * (high - low)
        with np.errstate(invalid="ignore"):
            parts = np.minimum(x[..., own] - low, high - x[..., own]) / half
        return np.where(np.isfinite(half) & (half > 0), parts, np.inf).min(axis=-1)

    def score(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, inside = nearest_copy(robot, found, near)
        if objective == "nearest":  # coordinates that do not move the frame stay where they are
            x = np.where(moves, x, near)
            value = -np.sqrt(((x - near) ** 2).sum(axis=-1))
        elif objective == "limits":
            value = np.minimum(margin(x), 1.0)
        else:
            value = manipulability(robot, x, frame)
        return x, np.where(inside, value, -np.inf)

    return score
