"""Relations that cannot all hold: a smallest set of them that contradict each other, told in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...errors import SolveError
from .relation_makers import Relation
from .relation_systems import RelationSystem
from .walks import solutions

__all__ = ["Conflict", "ContradictionError", "conflict_in"]

_HEAVY = 1e3  # weight of the relations that are to hold while the last one is missed as little as possible
_BEST = 8  # descents that are followed to their end
_DUST = 1e-4  # [rad]
_PAIRS = 12  # up to so many relations, all pairs are tried first


class Conflict(NamedTuple):
    """Relations that cannot all hold, though every smaller choice of them can.

    While all but the last hold, the last one is missed by at least `angle` [rad] and `distance` [m].
    """

    relations: tuple[Relation, ...]
    angle: float
    distance: float

    def __str__(self) -> str:
        names = [str(relation) for relation in self.relations]
        if len(names) == 1:
            return f"{names[0]} cannot hold: {self._missing()}"
        listed = ", ".join(names[:-1]) + " and " + names[-1]
        both = "both" if len(names) == 2 else "all"
        return f"{listed} cannot {both} hold: {self._missing()}"

    def _missing(self) -> str:
        # Positions say nothing while directions differ. Descents that end with a miss leave a little of both.
        if self.angle > (_DUST if self.distance > 1e-6 else 1e-6):
            return f"the directions are {np.degrees(self.angle):.4g}° apart"
        if self.distance > 1e-9:
            return f"the positions are {1000 * self.distance:.4g} mm apart"
        return "they miss each other by less than 1 nm; a larger tolerance would accept them"


class ContradictionError(SolveError):
    """Relations contradict each other; `conflict` has a smallest set of those that do."""

    def __init__(self, message: str, conflict: Conflict):
        super().__init__(message)
        self.conflict = conflict


def conflict_in(system: RelationSystem, starts: np.ndarray, tolerance: float) -> Conflict | None:
    """A smallest set of relations that no placement fulfils, or None if one fulfils them all.

    Single relations and pairs are tried first, then relations are left out one by one while the rest still contradict.
    """

    def fails(chosen: Sequence[int]) -> bool:
        return len(solutions(system.part_of(chosen), starts, tolerance)) == 0

    everything = list(range(len(system.relations)))
    if not fails(everything):
        return None
    few = combinations(everything, 2) if 2 < len(everything) <= _PAIRS else []
    for chosen in [*((k,) for k in everything), *few]:
        if fails(chosen):
            return _told(system, list(chosen), starts)
    chosen = everything
    for k in everything:
        rest = [m for m in chosen if m != k]
        if rest and fails(rest):
            chosen = rest
    return _told(system, chosen, starts)


def _told(system: RelationSystem, chosen: list[int], starts: np.ndarray) -> Conflict:
    """The conflict with the least misses of its last relation."""
    part = system.part_of(chosen)
    rows = part.rows.copy()
    rows[part.owner != len(chosen) - 1, 3] = _HEAVY if len(chosen) > 1 else 1.0
    ends = part.settled(starts, rows)
    best = np.argsort(ends.cost)[:_BEST]
    # Descents to a residual that is not 0 are slow: the best of them go on.
    for _ in range(5):
        ends = part.settled(ends.poses[best] if len(ends.cost) > _BEST else ends.poses, rows)
    angles, distances = part.misses(ends.poses[np.argmin(ends.cost)])
    return Conflict(part.relations, float(angles[-1]), float(distances[-1]))


def __dir__() -> list[str]:
    return __all__
