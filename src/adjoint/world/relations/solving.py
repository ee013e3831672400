"""`placements` and `solve_relations`: all placements of parts that fulfil relations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import ArgumentError, SolveError
from ...model.input_checks import count, positive
from ...randomness import Rng, generator
from ...sensing.scene.scene_checks import pose
from .conflicts import ContradictionError, conflict_in
from .families import Family, family_at, grouped
from .freedoms import RANK
from .relation_makers import Relation
from .relation_systems import RelationSystem, relation_system
from .sources import Source, source_of
from .walks import holds, random_starts, solutions, tangents, towards, walk

__all__ = ["Placements", "placements", "solve_relations"]

_MOST_PARTS = 8
_ROUNDS = 6  # of starts at most; two rounds without a new family end the search


@dataclass(frozen=True, eq=False, repr=False)
class Placements:
    """All placements that fulfil relations; a sequence of `Family`, nearest first.

    - `parts` are the unknown parts, `relations` those that hold.
    - `families` are the connected sets of placements, each with a nominal pose and its freedoms.
    - `taken` (relations,) says how many freedoms each relation takes away after those before it.
    - `redundant` are the relations that take none away from all others together. Such a relation may still choose
      between families, as the sense of an axis does.

    `str` gives a table in words.
    """

    parts: tuple[str, ...]
    relations: tuple[Relation, ...]
    families: tuple[Family, ...]
    taken: tuple[int, ...]
    redundant: tuple[Relation, ...]

    def __len__(self) -> int:
        return len(self.families)

    def __getitem__(self, k: int) -> Family:
        return self.families[k]

    def __iter__(self) -> Iterator[Family]:
        return iter(self.families)

    @property
    def T_world_part(self) -> np.ndarray:
        """The nominal pose (4, 4) of the only part in the nearest family."""
        return self.families[0].T_world_part

    @property
    def poses(self) -> dict[str, np.ndarray]:
        """{part: T_world_part (4, 4)} of the nearest family."""
        return self.families[0].poses

    @property
    def dof(self) -> int:
        """The freedoms of the nearest family."""
        return self.families[0].dof

    def nearest(self, poses) -> Any:
        """The placement of all families that is nearest to a pose (4, 4), or to {part: pose}."""
        target = self.families[0]._variables(poses, "nearest")
        found = [family._walked(target) for family in self.families]
        best = int(np.argmin([np.linalg.norm(towards(x[None], target)) for x in found]))
        T = self.families[best].system.poses(found[best])
        return T[0] if len(self.parts) == 1 else dict(zip(self.parts, T, strict=True))

    def sample(self, *, rng: Rng = None, spread: float = 0.1) -> Any:
        """A random placement of a random family; see `Family.sample`."""
        rng = generator(rng, "sample")
        return self.families[rng.integers(len(self.families))].sample(rng=rng, spread=spread)

    def __str__(self) -> str:
        wide = max(len(str(relation)) for relation in self.relations)
        lines = [f"{'relation':<{wide}}  takes away"]
        for relation, taken in zip(self.relations, self.taken, strict=True):
            note = " (redundant)" if relation in self.redundant else ""
            lines.append(f"{relation!s:<{wide}}  {taken}{note}")
        for k, family in enumerate(self.families):
            moves = "; ".join(map(str, family.freedoms)) or "none"
            lines.append(f"family {k}: {family.dof} of {6 * len(self.parts)} freedoms are left: {moves}")
            if family.shaky:
                lines.append(f"  {family.shaky} more exist to first order only: the parts are shaky there")
        return "\n".join(lines)

    def __repr__(self) -> str:
        left = ", ".join(str(family.dof) for family in self.families)
        return f"<Placements of {', '.join(self.parts)}: {len(self)} families with {left} dof>"


def placements(
    world: Any,
    part: str,
    relations: Relation | Sequence[Relation],
    *,
    near=None,
    starts: int = 64,
    tolerance: float = 1e-9,
    rng: Rng = 0,
) -> Placements:
    """All placements of a part that fulfil relations, as families with their freedoms.

        >>> from adjoint.world.features import Feature, feature_frame
        >>> from adjoint.world.relations import against, fits
        >>> peg = [Feature("bottom", "face", feature_frame([0, 0, 0], [0, 0, -1])),
        ...        Feature("shaft", "shaft", feature_frame([0, 0, 0], [0, 0, -1]), radius=0.01)]
        >>> block = [Feature("floor", "face", feature_frame([0, 0, 0.02], [0, 0, 1])),
        ...          Feature("hole", "hole", feature_frame([0, 0, 0.05], [0, 0, 1]), radius=0.01)]
        >>> found = placements({"peg": peg, "block": block}, "peg",
        ...                    [fits("peg.shaft", "block.hole"), against("peg.bottom", "block.floor")])
        >>> print(found)
        relation                        takes away
        peg.shaft fits block.hole       4
        peg.bottom against block.floor  1
        family 0: 1 of 6 freedoms are left: rotation about (0, 0, 1) through (0, 0, 0.02)

    - `world` is a `World`, or {part: features}, where features are a mapping, a sequence or a `Part`; a pair
      (T_world_part, features) tells where the part is, which is at the origin otherwise.
    - `part` is the name of the part to place; all others stay where they are. Relations name features, "peg.bottom".
    - `near` (4, 4) is the pose to which nominal poses are nearest; by default where the part is now.
    - A placement counts if all equations hold up to `tolerance` [rad, m].

    Descents on SE(3) begin at `near` and at random poses, `starts` of them in each round: first the rotations, as in
    (10.9-5), then positions, too. Rounds end when two bring no new family. Solutions are one family if a walk along
    the relations connects them. The freedoms are the null space of the equations' slopes: singular values below 1e-6
    count as 0. If no placement exists, a `ContradictionError` names a smallest set of relations that contradict each
    other. Fu, Gonzalez & Lee (1987), Sec. 10.9.1; Ambler & Popplestone (1975).
    """
    given = None if near is None else {part: near}
    return _solved(world, [part], relations, given, starts, tolerance, rng, "placements")


def solve_relations(
    world: Any,
    parts: Sequence[str],
    relations: Sequence[Relation],
    *,
    near: Mapping[str, Any] | None = None,
    starts: int = 64,
    tolerance: float = 1e-9,
    rng: Rng = 0,
) -> Placements:
    """All placements of several unknown parts together that fulfil relations among them and with the world.

        >>> from adjoint.world.features import Feature, feature_frame
        >>> from adjoint.world.relations import against, fits
        >>> cube = [Feature("top", "face", feature_frame([0, 0, 1], [0, 0, 1])),
        ...         Feature("bottom", "face", feature_frame([0, 0, 0], [0, 0, -1]))]
        >>> stack = solve_relations({"a": cube, "b": cube, "c": cube}, ["b", "c"],
        ...                         [against("b.bottom", "a.top"), against("c.bottom", "b.top")])
        >>> stack.dof, round(float(stack.poses["c"][2, 3]), 9)
        (6, 2.0)

    Arguments and results are those of `placements`; `near` is {part: pose}. The unknown parts are solved together, at
    most eight of them, so a chain may close: each freedom moves all parts at once.
    """
    if isinstance(parts, str):
        raise ArgumentError(f"solve_relations: 'parts' must be a sequence of names, got {parts!r:.60}")
    return _solved(world, list(parts), relations, near, starts, tolerance, rng, "solve_relations")


def _solved(world, parts, relations, near, starts, tolerance, rng, caller) -> Placements:
    source = source_of(world, caller)
    relations = checked_relations(relations, caller)
    _check_parts(source, parts, relations, caller)
    tolerance = positive(tolerance, f"{caller}: tolerance")
    starts = max(count(starts, f"{caller}: starts"), 1)
    generator_ = generator(rng, caller)
    system = relation_system(source, parts, relations)
    given = {} if near is None else dict(near)
    T = np.array([pose(given.get(part, source.pose(part)), "near", caller) for part in parts])
    goal = system.variables(T)
    families = _families(system, goal, starts, tolerance, generator_)
    if not families:
        tries = np.concatenate([goal[None], random_starts(system, 2 * starts, generator_)])
        conflict = conflict_in(system, tries, tolerance)
        if conflict is None:
            raise SolveError(f"{caller}: few starts lead to a placement; give more starts than {starts}")
        raise ContradictionError(f"{caller}: {conflict}", conflict)
    taken, redundant = _shares(system, families[0].x)
    redundant = () if families[0].shaky else redundant  # ranks tell too little there
    return Placements(tuple(parts), relations, tuple(families), taken, redundant)


def checked_relations(relations, caller: str) -> tuple[Relation, ...]:
    """Relations as a tuple; one alone stands for itself."""
    found = (relations,) if isinstance(relations, Relation) else tuple(relations)
    if not found:
        raise ArgumentError(f"{caller}: there are no relations; without one, every pose is a placement")
    for relation in found:
        if not isinstance(relation, Relation):
            raise ArgumentError(f"{caller}: {relation!r:.60} is not a Relation; against(...) and its kin make them")
    return found


def _check_parts(source: Source, parts: list[str], relations: Sequence[Relation], caller: str) -> None:
    for part in parts:
        source.need_part(part)
    if not 1 <= len(parts) <= _MOST_PARTS or len(set(parts)) != len(parts):
        raise ArgumentError(f"{caller}: 'parts' must be 1 to {_MOST_PARTS} different names, got {parts}")
    related = {side.part for relation in relations for side in source.sides(relation)}
    for part in parts:
        if part not in related:
            raise ArgumentError(f"{caller}: no relation names part '{part}'")


def _families(system: RelationSystem, goal, starts: int, tolerance: float, rng) -> list[Family]:
    """All families that some rounds of starts find, nearest to the goal first."""
    found, groups, idle = np.zeros((0, len(goal))), [], 0
    for k in range(_ROUNDS):
        x = random_starts(system, starts, rng)
        x = np.concatenate([goal[None], x]) if k == 0 else x
        x = _generic(system, solutions(system, x, tolerance), tolerance, rng)
        # One member of each known group stands for all: the new solutions are sorted in.
        found = np.concatenate([*(group[:4] for group in groups), x])
        before, groups = len(groups), grouped(system, found) if len(found) else []
        idle = idle + 1 if len(groups) <= before else 0
        if idle == (2 if groups else 3):
            break
    ends = [_nominal(system, group, goal, tolerance) for group in groups]
    ends.sort(key=lambda x: round(float(np.linalg.norm(towards(x[None], goal))), 9))
    return [family_at(system, x, tolerance) for x in ends]


def _generic(system: RelationSystem, x: np.ndarray, tolerance: float, rng) -> np.ndarray:
    """The solutions moved along their freedoms by random amounts: so none is at a special place of its family."""
    if len(x) == 0:
        return x
    P, _ = tangents(system, x)
    move = np.einsum("kij,kj->ki", P, 0.2 * rng.normal(size=(len(x), P.shape[-1])))
    ends = system.settled(system.moved(x, move)).poses
    return ends[holds(system, ends, tolerance)]


def _nominal(system: RelationSystem, group: np.ndarray, goal: np.ndarray, tolerance: float) -> np.ndarray:
    """The member of a family that is nearest to the goal, and well inside of bounds."""
    gaps = np.linalg.norm(towards(group, goal), axis=1)
    member = group[np.argmin(gaps)]
    x = walk(system, member[None], goal)[0][0]
    if not system.bounds.any():
        return x
    return _inside(system, x, member, goal, tolerance)


def _inside(
    system: RelationSystem, x: np.ndarray, member: np.ndarray, goal: np.ndarray, tolerance: float
) -> np.ndarray:
    """A placement whose bounds hold with at least half of the largest margin that can be had."""
    rows, low, high = system.rows.copy(), 0.0, 4.0

    def settled(margin: float) -> np.ndarray:
        rows[:, 20] = np.where(system.bounds, system.rows[:, 20] - margin, system.rows[:, 20])
        return system.settled(x[None], rows).poses[0]

    for _ in range(24):
        margin = (low + high) / 2
        ends = settled(margin)
        tighter = dataclasses.replace(system, rows=rows)
        low, high = (margin, high) if holds(tighter, ends, tolerance) else (low, margin)
    ends = settled(low / 2)
    return ends if holds(system, ends, tolerance) else member


def _shares(system: RelationSystem, x: np.ndarray) -> tuple[tuple[int, ...], tuple[Relation, ...]]:
    """How many freedoms each relation takes after those before it, and which of them the others make redundant."""
    J = system.slopes(x)[1]
    owner = np.where(system.bounds, -1, system.owner)

    def rank(chosen) -> int:
        rows = J[np.isin(owner, chosen)]
        s = np.linalg.svd(rows, compute_uv=False) if len(rows) else np.zeros(1)
        return int((s > RANK * max(1.0, s[0])).sum())

    everything = list(range(len(system.relations)))
    ranks = [rank(everything[:k]) for k in range(len(everything) + 1)]
    taken = tuple(int(b - a) for a, b in pairwise(ranks))
    spare = tuple(
        relation
        for k, relation in enumerate(system.relations)
        if (owner == k).any() and not (system.bounds & (system.owner == k)).any()
        and rank([m for m in everything if m != k]) == ranks[-1]
    )  # fmt: skip
    return taken, spare


def __dir__() -> list[str]:
    return __all__
