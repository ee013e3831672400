"""Play: a shaft in a wider hole, or a ball in a wider socket, as inequalities about a nominal placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from ...errors import ArgumentError
from ..features import Feature
from .constraint_rows import Equation, clearance_of
from .relation_makers import Relation
from .relation_systems import RelationSystem
from .sources import Side

__all__ = ["fit_clearance", "play_equations"]


def fit_clearance(shaft: Feature, hole: Feature) -> float:
    """The clearance [m] of a fit: the radius of the hole or socket minus that of the shaft or ball.

        >>> from adjoint.world.features import Feature, feature_frame
        >>> pin = Feature("pin", "shaft", feature_frame([0, 0, 0], [0, 0, -1]), radius=0.0099)
        >>> bore = Feature("bore", "hole", feature_frame([0, 0, 0], [0, 0, 1]), radius=0.01)
        >>> round(fit_clearance(pin, bore), 9)
        0.0001

    It is NaN if a radius is not known. A shaft that is too thick is refused with a `SolveError`.
    """
    if not isinstance(shaft, Feature) or not isinstance(hole, Feature):
        raise ArgumentError(
            f"fit_clearance: two features are needed, got {type(shaft).__name__}, {type(hole).__name__}"
        )
    return clearance_of(Relation("fits", f"shaft.{shaft.name}", f"hole.{hole.name}"), shaft, hole)


def play_equations(system: RelationSystem, x: np.ndarray, sides: int) -> RelationSystem:
    """The system with inequalities in the place of the equations of fits that have play, about the solution x."""
    table = np.concatenate([np.eye(3, 4).reshape(1, 12), x.reshape(-1, 12)]).reshape(-1, 3, 4)
    equations, rows, owner = [], [], []
    for k, relation in enumerate(system.relations):
        of = np.flatnonzero(system.owner == k)
        loose = _is_loose(relation, system.equations[of[0]])
        kept = [m for m in of if system.bounds[m] or not loose]
        equations += [system.equations[m] for m in kept]
        rows += [system.rows[m] for m in kept]
        owner += [k] * len(kept)
        if loose:
            first = next(int(m) for m in of if not system.bounds[m])
            for equation, row in _play(system, relation, first, table, sides):
                equations.append(equation)
                rows.append(row)
                owner.append(k)
    return dataclasses.replace(
        system, equations=tuple(equations), rows=np.array(rows).reshape(-1, 21), owner=np.array(owner, int)
    )


def _is_loose(relation: Relation, equation: Equation) -> bool:
    """Whether a relation is a fit with play."""
    f, g = equation.first.feature, equation.second.feature
    if relation.kind not in ("fits", "in_") or f is None or g is None:
        return False
    return clearance_of(relation, f, g) > 0


def _play(
    system: RelationSystem, relation: Relation, m: int, table, sides: int
) -> Iterator[tuple[Equation, np.ndarray]]:
    """The inequalities of one fit: points of the shaft are within the clearance of the axis, for many directions."""
    equation, row = system.equations[m], system.rows[m]
    inner_first = equation.second.feature.kind in ("hole", "socket")  # type: ignore[union-attr]
    inner, outer = (equation.first, equation.second) if inner_first else (equation.second, equation.first)
    i, j = (int(row[0]), int(row[1])) if inner_first else (int(row[1]), int(row[0]))
    f: Feature = inner.feature  # type: ignore[assignment]
    g: Feature = outer.feature  # type: ignore[assignment]
    c = clearance_of(relation, f, g)
    F, G = system.local_frame(inner), system.local_frame(outer)
    at_f, at_g = _placed(table[i], F), _placed(table[j], G)
    if g.kind == "socket":
        directions, points = _ball(), [F[:, 3]]
    else:
        angles = 2 * np.pi * np.arange(sides) / sides
        directions = np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=1)
        points = [F[:, 3]] if f.kind == "sphere" else list(_engaged(relation, f, g, F, at_f, at_g, system.length))
    for P in points:
        for d in directions:
            made = np.zeros(21)
            made[:4], made[5] = (i, j, 1, 1), 1.0
            made[11:14], made[14:17], made[17:20], made[20] = G[:, :3] @ d, P, G[:, 3], c / system.length
            side_a, side_b = Side(inner.part, f, inner.label), Side(outer.part, g, outer.label)
            zero = np.zeros(3)
            yield Equation(side_a, side_b, (0, 1.0, 0, 0), zero, zero, zero, zero, c, bound=True), made


def _placed(M: np.ndarray, F: np.ndarray) -> np.ndarray:
    """The frame (3, 4) of a feature in the world, in units of the system."""
    return np.concatenate([M[:, :3] @ F[:, :3], (M[:, :3] @ F[:, 3] + M[:, 3])[:, None]], axis=1)


def _engaged(relation: Relation, f: Feature, g: Feature, F, at_f, at_g, length: float) -> Iterator[np.ndarray]:
    """The two points (3,) of a shaft's axis, in its part, where the engaged length begins and ends."""
    tip = at_g[:, 0] @ (at_f[:, 3] - at_g[:, 3])  # along the hole's axis; 0 is its mouth
    low = max(tip, -g.length / length) if g.length > 0 else tip
    high = min(tip + f.length / length, 0.0) if f.length > 0 else 0.0
    if not high - low > 1e-9:
        what = "the shaft is not in the hole at the nominal pose; relate its depth, or give play=False"
        raise ArgumentError(f"pose_bounds: {relation}: {what}")
    for t in (low, high):
        yield F[:, 3] - F[:, 0] * (t - tip)


def _ball() -> np.ndarray:
    """Twenty-six directions (26, 3): the polytope around a unit ball whose faces have these normals."""
    grid = np.array([[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) != (0, 0, 0)])
    return grid / np.linalg.norm(grid, axis=1, keepdims=True)


def __dir__() -> list[str]:
    return __all__
