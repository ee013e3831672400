"""`Learned`: a fact that geometry told when a refinement failed, and where parts were at that time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...world import World
from ..strips.task_types import Fact, fact_text

__all__ = ["Learned"]

_NEAR = 2e-3  # [m] and [rad]: parts that have moved less are where they were


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """A fact such as ("obstructs", "b", "a") or ("unreachable", "arm", "a", "shelf"), with its `reason` in words.

    It was true for parts at `poses` {name: (4, 4)}, and holds as long as all of them are there. `stuck` tells that the
    robot could not begin to move from where it stood.
    """

    fact: Fact
    reason: str
    poses: dict[str, np.ndarray]
    stuck: bool = False

    def holds_in(self, world: World) -> bool:
        """Whether all parts of the fact are where they were when it was learned."""
        return all(name in world.parts and is_near(world.pose(name), T) for name, T in self.poses.items())

    def __repr__(self) -> str:
        return f"<Learned {fact_text(self.fact)}: {self.reason}>"


def learned(world: World, fact: Fact, reason: str, *, stuck: bool = False) -> Learned:
    """The fact, true for the parts that it names where they are now."""
    poses = {name: np.array(world.pose(name)) for name in fact[1:] if name in world.parts}
    return Learned(fact, reason, poses, stuck)


def is_near(T: np.ndarray, U: np.ndarray) -> bool:
    """Whether two poses (4, 4) differ by less than 2 mm and 2 mrad."""
    return bool(np.abs(np.asarray(T) - np.asarray(U)).max() < _NEAR)
