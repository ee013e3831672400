"""What each relation says of its two frames, as equations: the table `RELATIONS` and the rows that it makes.

A feature is a plane (a face), a line (a shaft, hole or edge) or a point (a vertex, or the centre of a ball or socket).
All relations are made of directions (x₁·x₂), and of points, lines and planes at a distance from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from ...errors import ArgumentError, SolveError
from ..features import Feature
from .relation_makers import Relation
from .row_kernels import WIDTH
from .sources import Side, Source

__all__ = ["Equation", "clearance_of", "equations_of", "middle_of"]

_CLASS = {"face": "plane", "shaft": "line", "hole": "line", "edge": "line"}
_CLASS |= dict.fromkeys(("sphere", "socket", "vertex"), "point")
_ORDER = {"point": 0, "line": 1, "plane": 2}
_ZERO = np.zeros(3)


class Equation(NamedTuple):
    """s₀ u·w + s₁ w·Δ + s₂ Δ·Δ + s₃ (w·Δ)² = c (or <= c) between directions and points of two parts, in their frames.

    `first` carries a and P, `second` carries b and Q. Lengths are in m; `is_length` tells in what the residual is.
    """

    first: Side
    second: Side
    s: tuple[float, float, float, float]
    a: np.ndarray
    b: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    c: float
    bound: bool = False
    is_length: bool = True

    def row(self, i: int, j: int, shifts: tuple[np.ndarray, np.ndarray], length: float) -> np.ndarray:
        """The row (21,) for the parts i and j with lengths in units of `length`, from points shifted by `shifts`."""
        s0, s1, s2, s3 = self.s
        P, Q = (self.P - shifts[0]) / length, (self.Q - shifts[1]) / length
        scaled = [s0, s1, s2 * length, s3 * length]
        c = self.c / length if self.is_length else self.c
        return np.concatenate([[i, j, self.bound, 1.0], scaled, self.a, self.b, P, Q, [c]]).reshape(WIDTH)


class _Ends(NamedTuple):
    """The two sides of a relation with their features."""

    one: Side
    two: Side

    @property
    def f(self) -> Feature:
        return self.one.feature  # type: ignore[return-value]  # only relations between features ask

    @property
    def g(self) -> Feature:
        return self.two.feature  # type: ignore[return-value]


# --- pieces -----------------------------------------------------------------------------------------------------------


def _dot(ends: _Ends, a, b, c: float) -> Equation:
    """u·w = c."""
    return Equation(ends.one, ends.two, (1.0, 0, 0, 0), a, b, _ZERO, _ZERO, c, is_length=False)


def _height(ends: _Ends, P, b, Q, c: float, bound: bool = False) -> Equation:
    """w·(x - y) = c: the point P of the first side is at height c along b of the second."""
    return Equation(ends.one, ends.two, (0, 1.0, 0, 0), _ZERO, b, P, Q, c, bound)


def _same_direction(ends: _Ends, sense: str) -> Iterator[Equation]:
    """The x axes are parallel; with a sense, u·w = ±1 tells the two apart and takes no further freedom."""
    x, R = ends.f.axis, ends.g.T_part_feature[:3, :3]
    yield _dot(ends, x, R[:, 1], 0.0)
    yield _dot(ends, x, R[:, 2], 0.0)
    if sense != "either":
        yield _dot(ends, x, R[:, 0], 1.0 if sense == "same" else -1.0)


def _apart(ends: _Ends, distance: float, sense: str) -> Iterator[Equation]:
    """Two features at a distance; the second is of the higher class."""
    kinds = _CLASS[ends.f.kind], _CLASS[ends.g.kind]
    P, Q, R = ends.f.origin, ends.g.origin, ends.g.T_part_feature[:3, :3]
    if kinds[1] == "plane":
        if kinds[0] == "plane":
            yield from _same_direction(ends, sense)
        elif kinds[0] == "line":
            yield _dot(ends, ends.f.axis, R[:, 0], 0.0)
        yield _height(ends, P, R[:, 0], Q, distance)
        return
    if kinds == ("line", "line"):
        yield from _same_direction(ends, sense)
    if distance == 0:
        for axis in R.T if kinds[1] == "point" else R.T[1:]:
            yield _height(ends, P, axis, Q, 0.0)
        return
    # (|Δ|² - d²) / 2d, or with Δ⊥ for a line, is a length, and its slope is 1 where it is 0.
    across = -0.5 / distance if kinds[1] == "line" else 0.0
    yield Equation(ends.one, ends.two, (0, 0, 0.5 / distance, across), _ZERO, R[:, 0], P, Q, distance / 2)


def _ordered(ends: _Ends) -> _Ends:
    """The sides in such an order that the second is of the higher class."""
    later = _ORDER[_CLASS[ends.f.kind]] > _ORDER[_CLASS[ends.g.kind]]
    return _Ends(ends.two, ends.one) if later else ends


# --- relations --------------------------------------------------------------------------------------------------------


def _reach(feature: Feature, relation: Relation) -> float:
    """How far the surface of a feature is from its point or line: its radius, or 0 for edges and vertices."""
    if feature.kind in ("edge", "vertex"):
        return 0.0
    if not feature.radius > 0:
        raise ArgumentError(f"{relation}: '{feature.name}' needs a radius")
    return feature.radius


def _against(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    for feature in (ends.f, ends.g):
        if feature.kind in ("hole", "socket"):
            what = "a hole or socket has no outer side; use fits or in_"
            raise ArgumentError(f"{relation}: '{feature.name}' is a {feature.kind}: {what}")
    ends = _ordered(ends)
    kinds = _CLASS[ends.f.kind], _CLASS[ends.g.kind]
    if kinds == ("plane", "plane"):
        yield from _apart(ends, 0.0, "opposed")
    elif kinds[1] == "plane":
        yield from _apart(ends, _reach(ends.f, relation), "either")
    else:
        yield from _apart(ends, _reach(ends.f, relation) + _reach(ends.g, relation), "either")


def clearance_of(relation: Relation, f: Feature, g: Feature) -> float:
    """The radius of the hole or socket minus that of the shaft or ball [m]; NaN if one is not known."""
    inner, outer = (f, g) if g.kind in ("hole", "socket") else (g, f)
    pairs = ("shaft", "hole"), ("sphere", "hole"), ("sphere", "socket")
    if (inner.kind, outer.kind) not in pairs:
        what = "a shaft in a hole, a sphere in a socket or a sphere in a hole"
        raise ArgumentError(f"{relation}: it needs {what}, got a {f.kind} and a {g.kind}")
    clearance = outer.radius - inner.radius
    if clearance < -1e-9 * outer.radius:
        words = f"'{inner.name}' with radius {1e3 * inner.radius:.6g} mm is too thick for '{outer.name}'"
        raise SolveError(
            f"{relation}: {words} with radius {1e3 * outer.radius:.6g} mm; the clearance is {1e3 * clearance:.6g} mm"
        )
    return clearance


def _fits(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    clearance_of(relation, ends.f, ends.g)
    yield from _apart(_ordered(ends), 0.0, "opposed")


def _in(ends: _Ends, relation: Relation, source: Source) -> Iterator[Equation]:
    if ends.one.feature is None and ends.two.feature is None:
        yield from _in_box(ends, source)
        return
    if ends.one.feature is None or ends.two.feature is None:
        raise ArgumentError(f"{relation}: both sides must be features or both must be parts")
    yield from _fits(ends, relation)
    hole, inner = (ends.two, ends.one) if ends.g.kind == "hole" else (ends.one, ends.two)
    bore: Feature = hole.feature  # type: ignore[assignment]
    tip: Feature = inner.feature  # type: ignore[assignment]
    if bore.kind == "hole":
        down = _Ends(inner, hole)
        yield _height(down, tip.origin, bore.axis, bore.origin, 0.0, bound=True)
        if bore.length > 0:
            yield _height(down, tip.origin, -bore.axis, bore.origin, bore.length, bound=True)


def _in_box(ends: _Ends, source: Source) -> Iterator[Equation]:
    low, high = source.box(ends.two.part)
    for corner in source.corners(ends.one.part):
        for k in range(3):
            yield _height(ends, corner, np.eye(3)[k], _ZERO, high[k], bound=True)
            yield _height(ends, corner, -np.eye(3)[k], _ZERO, -low[k], bound=True)


def middle_of(feature: Feature) -> np.ndarray:
    """The middle (3,) of a feature in its part: the centroid of the outline of a face, else the origin."""
    if feature.outline is None:
        return feature.origin
    y, z = feature.outline.T
    cross = y * np.roll(z, -1) - np.roll(y, -1) * z
    area = cross.sum() / 2
    if not abs(area) > 0:
        return feature.origin
    middle = [((c + np.roll(c, -1)) * cross).sum() / (6 * area) for c in (y, z)]
    return feature.origin + feature.T_part_feature[:3, 1:3] @ middle


def _on(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    for feature in (ends.f, ends.g):
        if feature.kind != "face":
            raise ArgumentError(f"{relation}: '{feature.name}' is a {feature.kind}; both sides must be faces")
    if ends.g.outline is None:
        raise ArgumentError(f"{relation}: '{ends.g.name}' has no outline that could be left; use against")
    yield from _apart(ends, 0.0, "opposed")
    R, middle = ends.g.T_part_feature[:3, :3], middle_of(ends.f)
    for y, z, offset in ConvexHull(ends.g.outline).equations:
        yield _height(ends, middle, R[:, 1] * y + R[:, 2] * z, ends.g.origin, -offset, bound=True)


def _need_classes(ends: _Ends, relation: Relation, allowed: tuple[tuple[str, str], ...], words: str) -> None:
    kinds = _CLASS[ends.f.kind], _CLASS[ends.g.kind]
    if kinds not in allowed and kinds[::-1] not in allowed:
        raise ArgumentError(f"{relation}: it needs {words}, got a {ends.f.kind} and a {ends.g.kind}")


_PLANES, _LINES, _MIXED = ("plane", "plane"), ("line", "line"), ("line", "plane")


def _coplanar(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    _need_classes(ends, relation, (_PLANES,), "two faces")
    yield from _apart(ends, 0.0, "same")


def _aligned(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    _need_classes(ends, relation, (_LINES,), "two shafts, holes or edges")
    yield from _apart(ends, 0.0, relation.sense)


def _parallel(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    _need_classes(ends, relation, (_PLANES, _LINES, _MIXED), "faces, shafts, holes or edges")
    if ends.f.kind != ends.g.kind and "face" in (ends.f.kind, ends.g.kind):
        if relation.sense != "either":
            raise ArgumentError(f"{relation}: an axis and a face have no sense; leave sense out")
        yield _dot(ends, ends.f.axis, ends.g.axis, 0.0)
    else:
        yield from _same_direction(ends, relation.sense)


def _perpendicular(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    _need_classes(ends, relation, (_PLANES, _LINES, _MIXED), "faces, shafts, holes or edges")
    if ends.f.kind != ends.g.kind and "face" in (ends.f.kind, ends.g.kind):
        yield from _same_direction(ends, "either")
    else:
        yield _dot(ends, ends.f.axis, ends.g.axis, 0.0)


def _at_distance(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    kinds = _CLASS[ends.f.kind], _CLASS[ends.g.kind]
    ends = _ordered(ends)
    if "plane" not in kinds and relation.value < 0:
        raise ArgumentError(f"{relation}: the distance between points and axes must be 0 or more")
    if relation.sense and kinds not in (_PLANES, _LINES):
        raise ArgumentError(f"{relation}: only two faces or two axes have a sense; leave sense out")
    yield from _apart(ends, relation.value, relation.sense or ("opposed" if kinds == _PLANES else "either"))


def _at_angle(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    _need_classes(ends, relation, (_PLANES, _LINES, _MIXED), "faces, shafts, holes or edges")
    cosine = np.cos(relation.value)
    if relation.value in (0.0, np.pi):
        yield from _same_direction(ends, "same" if cosine > 0 else "opposed")
    else:
        yield _dot(ends, ends.f.axis, ends.g.axis, cosine)


def _centred(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    _need_classes(ends, relation, (_PLANES, _LINES, _MIXED, ("point", "line"), ("point", "plane")), "a face or an axis")
    ends = _Ends(ends.two, ends.one) if _CLASS[ends.g.kind] == "point" else ends
    for axis in ends.g.T_part_feature[:3, 1:3].T:
        yield _height(ends, middle_of(ends.f), axis, middle_of(ends.g), 0.0)


def _coincident(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    del relation
    yield from _apart(_ordered(ends), 0.0, "either")


def _fixed_at(ends: _Ends, relation: Relation) -> Iterator[Equation]:
    F, G = ends.one.frame, ends.two.frame @ np.reshape(relation.T, (4, 4))
    for k in range(3):
        for m in range(3):
            yield _dot(ends, F[:3, k], G[:3, m], float(k == m))
    for axis in G[:3, :3].T:
        yield _height(ends, F[:3, 3], axis, G[:3, 3], 0.0)


RELATIONS: dict[str, Callable[[_Ends, Relation], Iterator[Equation]]] = {
    "against": _against,
    "aligned": _aligned,
    "at_angle": _at_angle,
    "at_distance": _at_distance,
    "centred": _centred,
    "coincident": _coincident,
    "coplanar": _coplanar,
    "fits": _fits,
    "fixed_at": _fixed_at,
    "on": _on,
    "parallel": _parallel,
    "perpendicular": _perpendicular,
}


def equations_of(relation: Relation, source: Source) -> list[Equation]:
    """The equations and bounds of one relation; errors name the relation and the function of the user."""
    ends = _Ends(*source.sides(relation))
    try:
        if relation.kind == "in_":
            return list(_in(ends, relation, source))
        if relation.kind not in RELATIONS:
            raise ArgumentError(
                f"there is no kind of relation '{relation.kind}'; there are {', '.join(RELATIONS)}, in_"
            )
        return list(RELATIONS[relation.kind](ends, relation))
    except (ArgumentError, SolveError) as error:
        raise type(error)(f"{source.caller}: {error}") from None


def __dir__() -> list[str]:
    return __all__
