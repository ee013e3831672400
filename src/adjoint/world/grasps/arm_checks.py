"""Configurations of an arm that bring a hand to many poses, and whether the arm is free there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...collision.checking import is_free
from ...collision.clearances import pair_clearances
from ...collision.collision_models import CollisionModel
from ...errors import ArgumentError
from ...goals.search import find_configuration
from ...inverse.arms import arm_of
from ...lie import se3
from ...model.configuration import random_configuration
from ...model.robot import Robot
from ..motion.arm_branches import arm_branches

__all__: list[str] = []

REDUNDANT = 12  # values of the parameter of an arm with seven joints
STARTS = 6  # of a search, where there is no closed form


class Reached(NamedTuple):
    """Configurations q (n, k, nq) at n poses, and which of them (n, k) are there and within limits."""

    q: np.ndarray
    good: np.ndarray


def reached(robot: Robot, tool: str, T_base_tool: np.ndarray, rng: np.random.Generator) -> Reached:
    """All configurations (in closed form), or some (by a search), in which the tool is at poses (n, 4, 4)."""
    try:
        arm = arm_of(robot, tool)
    except ArgumentError:
        return _searched(robot, tool, T_base_tool, rng)
    return Reached(*arm_branches(robot, tool, T_base_tool, arm, REDUNDANT))


def _searched(robot: Robot, tool: str, T_base_tool: np.ndarray, rng: np.random.Generator) -> Reached:
    starts = random_configuration(robot, STARTS, rng=rng)
    found = find_configuration(robot, {tool: T_base_tool[:, None]}, start=starts, rng=0, seeds=0, tolerance=1e-9)
    return Reached(found.q, found.success)


def free_of(model: CollisionModel, found: Reached) -> np.ndarray:
    """Which of the configurations (n, k) are there and free, in one call."""
    free = found.good.copy()
    if free.any():
        free[free] = is_free(model, found.q[found.good])
    return free


def blocking(model: CollisionModel, q: np.ndarray) -> list[str]:
    """What the arm meets at each of q (n, nq): the name of an obstacle, or of the arm itself."""
    if not len(q):
        return []
    found, others = pair_clearances(model, q), set(model.obstacle_names)
    nearest = [found.names[k][1] for k in found.clearances.argmin(axis=-1)]
    return [f"'{name.partition('#')[0]}'" if name in others else "itself" for name in nearest]


def tool_poses(T_world_base: np.ndarray, T_world_grip: np.ndarray, T_tool_grip: np.ndarray) -> np.ndarray:
    """The poses (..., 4, 4) of the tool in the base for grip frames (..., 4, 4) in the world."""
    return np.linalg.inv(T_world_base) @ T_world_grip @ np.asarray(se3.inverse(np.asarray(T_tool_grip)))
