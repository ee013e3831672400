"""The equations of a set of relations for some unknown parts, in units and about points that make them well scaled.

Lengths are divided by a typical length of the features. Each unknown part turns about the middle of its own features,
and the world's origin is moved to the middle of the fixed ones: results depend neither on the units nor on where the
origins of frames are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from .constraint_rows import Equation, equations_of
from .relation_makers import Relation
from .row_kernels import Lane, Size, descend, moved, row_slopes
from .sources import WORLD, Side, Source

__all__ = ["RelationSystem", "relation_system"]

_WORLD_POSE = np.eye(3, 4).reshape(1, 12)
EXACT = 1e-30  # |r|² at which a descent has nothing left to do: residuals of rounding errors
STEPS = 100


@dataclass(frozen=True, eq=False)
class RelationSystem:
    """Rows (m, 21) of relations between unknown parts and the world, and how poses become their variables.

    `parts` are the unknown parts, `owner` (m,) is the number of each row's relation, `centres` (n, 3) [m] are points of
    the parts, `origin` (3,) is a point of the world and `length` [m] the unit of lengths.
    """

    parts: tuple[str, ...]
    relations: tuple[Relation, ...]
    equations: tuple[Equation, ...]
    rows: np.ndarray
    owner: np.ndarray
    centres: np.ndarray
    origin: np.ndarray
    length: float
    directions: np.ndarray  # (3, 3): the axes of a fixed feature, along which freedoms are told
    known: dict[str, np.ndarray]  # {part: T_world_part} of the parts that stay

    @property
    def size(self) -> Size:
        return Size(len(self.parts))

    @cached_property
    def bounds(self) -> np.ndarray:
        """Which rows are inequalities (m,)."""
        return self.rows[:, 2] > 0

    @cached_property
    def lengths(self) -> np.ndarray:
        """Which rows speak of lengths (m,); the others compare directions."""
        return np.array([equation.is_length for equation in self.equations], bool)

    @cached_property
    def units(self) -> np.ndarray:
        """What residuals are multiplied by (m,) for radians and metres."""
        return np.where(self.lengths, self.length, 1.0)

    def variables(self, T: np.ndarray) -> np.ndarray:
        """Poses (..., n, 4, 4) of the parts in the world as variables (..., 12 n)."""
        p = (np.einsum("...nij,nj->...ni", T[..., :3, :3], self.centres) + T[..., :3, 3] - self.origin) / self.length
        return np.concatenate([T[..., :3, :3], p[..., None]], axis=-1).reshape(*T.shape[:-3], 12 * len(self.parts))

    def poses(self, x: np.ndarray) -> np.ndarray:
        """Poses (..., n, 4, 4) [m] of variables (..., 12 n)."""
        M = x.reshape(*x.shape[:-1], len(self.parts), 3, 4)
        T = np.zeros((*M.shape[:-2], 4, 4))
        T[..., :3, :3], T[..., 3, 3] = M[..., :3], 1.0
        T[..., :3, 3] = M[..., 3] * self.length + self.origin - np.einsum("...nij,nj->...ni", M[..., :3], self.centres)
        return T

    def local_frame(self, side: Side) -> np.ndarray:
        """The frame [R p] (3, 4) of a side in its unknown part, or in the world for a known part, in these units."""
        if side.part in self.parts:
            F, shift = side.frame, self.centres[self.parts.index(side.part)]
        else:
            F, shift = self.known[side.part] @ side.frame, self.origin
        return np.concatenate([F[:3, :3], ((F[:3, 3] - shift) / self.length)[:, None]], axis=1)

    def moved(self, x: np.ndarray, move: np.ndarray) -> np.ndarray:
        """Variables after small motions (..., 6 n)."""
        return moved(self.size, x, move)

    def settled(self, x: np.ndarray, rows: np.ndarray | None = None) -> Lane:
        """The ends of descents from variables (k, 12 n)."""
        return descend(self.size, x, self.rows if rows is None else rows, float(STEPS), EXACT)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals r (..., m) without units and their slopes J (..., m, 6 n) at variables (..., 12 n)."""
        n, m = len(self.parts), len(self.rows)
        table = np.concatenate(
            [np.broadcast_to(_WORLD_POSE, (*x.shape[:-1], 1, 12)), x.reshape(*x.shape[:-1], n, 12)], -2
        )
        i, j = self.rows[:, 0].astype(int), self.rows[:, 1].astype(int)
        found = row_slopes(self.rows, table[..., i, :], table[..., j, :])
        J = np.zeros((*x.shape[:-1], m, n + 1, 6))
        at = np.arange(m)
        J[..., at, i, :] += found.first
        J[..., at, j, :] += found.second
        return found.residual, J[..., 1:, :].reshape(*x.shape[:-1], m, 6 * n)

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """Residuals (..., m) in radians (sines and cosines of angles) and metres."""
        return self.slopes(x)[0] * self.units

    def misses(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much each relation is missed: angles [rad] and distances [m], both (..., relations)."""
        r = self._stretched(self.residuals(x))
        shape = (*x.shape[:-1], len(self.relations))
        angles, distances = np.zeros(shape), np.zeros(shape)
        for k in range(len(self.relations)):
            of = self.owner == k
            angles[..., k] = self._angle(r, np.flatnonzero(of & ~self.lengths))
            distances[..., k] = np.sqrt((r[..., of & self.lengths] ** 2).sum(axis=-1))
        return angles, distances

    def _stretched(self, r: np.ndarray) -> np.ndarray:
        """The residuals (|Δ|² - d²) / 2d of distances between points and lines become |Δ| - d."""
        for k, equation in enumerate(self.equations):
            if equation.s[2]:
                d = 2 * equation.c
                r[..., k] = np.sqrt(np.maximum(d * d + 2 * d * r[..., k], 0.0)) - d
        return r

    def _angle(self, r: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The angle [rad] that the residuals between directions of one relation stand for."""
        size = np.sqrt((r[..., rows] ** 2).sum(axis=-1))
        if len(rows) == 1:  # one cosine
            wanted = self.equations[rows[0]].c
            return np.abs(np.arccos(np.clip(r[..., rows[0]] + wanted, -1, 1)) - np.arccos(wanted))
        if len(rows) == 2:  # two components of a unit vector that should be 0: the sine of the angle
            return np.arcsin(np.minimum(size, 1.0))
        # The chord of two unit vectors has the length 2 sin(angle / 2), and |R - 1|² = 8 sin²(angle / 2).
        return 2 * np.arcsin(np.minimum(size / (2.0 if len(rows) <= 3 else np.sqrt(8.0)), 1.0))

    def part_of(self, chosen: Sequence[int]) -> RelationSystem:
        """The system of some of the relations, by their numbers, with the same units."""
        at = np.flatnonzero(np.isin(self.owner, chosen))
        renamed = {k: n for n, k in enumerate(chosen)}
        return RelationSystem(
            self.parts,
            tuple(self.relations[k] for k in chosen),
            tuple(self.equations[k] for k in at),
            self.rows[at],
            np.array([renamed[k] for k in self.owner[at]], int),
            self.centres,
            self.origin,
            self.length,
            self.directions,
            self.known,
        )


def relation_system(source: Source, parts: Sequence[str], relations: Sequence[Relation]) -> RelationSystem:
    """The `RelationSystem` of relations for unknown parts; all other parts stay where they are."""
    number = {part: k + 1 for k, part in enumerate(parts)}
    equations, owner = [], []
    for k, relation in enumerate(relations):
        sides = source.sides(relation)
        if not any(side.part in number for side in sides):
            where = " and ".join(f"'{side.part}'" for side in sides)
            raise ArgumentError(
                f"{source.caller}: {relation}: neither {where} is placed here, so it cannot be fulfilled"
            )
        found = equations_of(relation, source)
        equations += found
        owner += [k] * len(found)
    frames = _frames(source, relations)
    centres = np.array([_middle([F[:3, 3] for side, F in frames if side.part == part]) for part in parts])
    fixed = [source.pose(side.part) @ F for side, F in frames if side.part not in number]
    origin = _middle([G[:3, 3] for G in fixed])
    spread = [F[:3, 3] - centres[number[side.part] - 1] for side, F in frames if side.part in number]
    length = _length([*spread, *(G[:3, 3] - origin for G in fixed)], [side for side, _ in frames])
    rows = []
    for equation in equations:
        equation = _in_world(equation, source, number)
        first, second = number.get(equation.first.part, 0), number.get(equation.second.part, 0)
        shifts = tuple(centres[k - 1] if k else origin for k in (first, second))
        rows.append(equation.row(first, second, shifts, length))  # type: ignore[arg-type]  # two of them
    axes = fixed[0][:3, :3] if fixed else np.eye(3)
    table = np.array(rows).reshape(-1, 21)
    known = {side.part: source.pose(side.part) for side, _ in frames if side.part not in number}
    return RelationSystem(
        tuple(parts),
        tuple(relations),
        tuple(equations),
        table,
        np.array(owner, int),
        centres,
        origin,
        length,
        axes,
        known,
    )


def _frames(source: Source, relations: Sequence[Relation]) -> list[tuple[Side, np.ndarray]]:
    """All sides of relations with their frames in their parts; the target of `fixed_at` counts for its second side."""
    found = []
    for relation in relations:
        one, two = source.sides(relation)
        target = two.frame @ np.reshape(relation.T, (4, 4)) if relation.T else two.frame
        found += [(one, one.frame), (two, target)]
    return found


def _middle(points: list[np.ndarray]) -> np.ndarray:
    return np.mean(points, axis=0) if points else np.zeros(3)


def _length(offsets: list[np.ndarray], sides: list[Side]) -> float:
    """A typical length: the largest of all offsets from the middles, radii and outlines."""
    sizes = [float(np.linalg.norm(offset)) for offset in offsets]
    for side in sides:
        if side.feature is not None:
            sizes += [side.feature.radius] if side.feature.radius > 0 else []
            sizes += [] if side.feature.outline is None else [float(np.abs(side.feature.outline).max())]
    largest = max(sizes, default=0.0)
    return largest if largest > 1e-12 else 1.0


def _in_world(equation: Equation, source: Source, number: dict[str, int]) -> Equation:
    """The equation with the sides that belong to known parts given in the world."""
    one, two = equation.first, equation.second
    if one.part not in number:
        T = source.pose(one.part)
        equation = equation._replace(first=Side(WORLD, one.feature, one.label), a=T[:3, :3] @ equation.a)
        equation = equation._replace(P=T[:3, :3] @ equation.P + T[:3, 3])
    if two.part not in number:
        T = source.pose(two.part)
        equation = equation._replace(second=Side(WORLD, two.feature, two.label), b=T[:3, :3] @ equation.b)
        equation = equation._replace(Q=T[:3, :3] @ equation.Q + T[:3, 3])
    return equation


def __dir__() -> list[str]:
    return __all__
