"""Line drawings as data: vertices and lines, the junctions where lines meet, and the regions between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...compile.front.arguments import as_input
from ...errors import ArgumentError
from ...lazy import cached_property
from ...model.input_checks import positive

__all__ = ["Drawing", "Junction", "drawing_junctions", "line_regions"]

_FAR = 1e100  # squares of what is nearer do not overflow
_MOST = 2000  # lines: all pairs of them are looked at
_NAMES = {0: "alone", 1: "end", 2: "L", 3: "fork"}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A line drawing: straight lines between vertices, which meet or cross only there.

    - `vertices` (n, 2) are image points (u, v): u to the right and v downwards.
    - `lines` (m, 2) are pairs of numbers of vertices, from 0 on; a line runs from the first to the second.

        >>> triangle = Drawing([[0, 0], [4, 0], [2, 3]], [[0, 1], [1, 2], [2, 0]])
        >>> triangle
        <Drawing: 3 vertices, 3 lines>
    """

    vertices: np.ndarray
    lines: np.ndarray

    def __post_init__(self):
        vertices = np.array(as_input(self.vertices, "vertices", "Drawing"), float)
        lines = np.array(as_input(self.lines, "lines", "Drawing"))
        if vertices.ndim != 2 or vertices.shape[1] != 2 or not (np.abs(vertices) < _FAR).all():
            raise ArgumentError(f"Drawing: vertices must be finite numbers (n, 2), got shape {vertices.shape}")
        if lines.ndim != 2 or lines.shape[1:] != (2,) or not len(lines) or (lines != np.round(lines)).any():
            raise ArgumentError(f"Drawing: lines must be pairs of numbers of vertices (m, 2), got shape {lines.shape}")
        if len(lines) > _MOST or len(vertices) > 2 * _MOST:
            raise ArgumentError(
                f"Drawing: there are {len(lines)} lines and {len(vertices)} vertices; at most {_MOST} lines and "
                f"{2 * _MOST} vertices fit"
            )
        if lines.min() < 0 or lines.max() >= len(vertices):
            bad = int(np.argmax(((lines < 0) | (lines >= len(vertices))).any(axis=1)))
            raise ArgumentError(
                f"Drawing: line {bad} is {[int(k) for k in lines[bad]]}; vertices are 0 to {len(vertices) - 1}"
            )
        lines = lines.astype(int)
        if len(np.unique(np.sort(lines, axis=1), axis=0)) < len(lines):
            raise ArgumentError("Drawing: two lines join the same vertices")
        if (vertices[lines[:, 0]] == vertices[lines[:, 1]]).all(axis=1).any():
            bad = int(np.argmax((vertices[lines[:, 0]] == vertices[lines[:, 1]]).all(axis=1)))
            raise ArgumentError(f"Drawing: line {bad}, {lines[bad].tolist()}, has no length")
        _check_places(vertices)
        for array in (vertices, lines):
            array.setflags(write=False)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "lines", lines)
        _check_crossings(vertices, lines)

    def __repr__(self) -> str:
        return f"<Drawing: {len(self.vertices)} vertices, {len(self.lines)} lines>"

    @cached_property
    def fans(self) -> tuple[tuple[int, ...], ...]:
        """For each vertex, the numbers of its lines in counter-clockwise order, as seen."""
        outward = self.vertices[self.lines[:, 1]] - self.vertices[self.lines[:, 0]]
        ends: list[list[tuple[float, int]]] = [[] for _ in self.vertices]
        for line, ((a, b), (u, v)) in enumerate(zip(self.lines.tolist(), outward.tolist(), strict=True)):
            ends[a].append((float(np.arctan2(-v, u)), line))
            ends[b].append((float(np.arctan2(v, -u)), line))
        return tuple(tuple(line for _, line in sorted(some)) for some in ends)

    def angle(self, line: int, vertex: int) -> float:
        """The direction [rad] of a line away from one of its vertices, counter-clockwise from the u axis as seen."""
        a, b = self.lines[line]
        u, v = (self.vertices[b] - self.vertices[a]) * (1 if a == vertex else -1)
        return float(np.arctan2(-v, u))


def _check_places(vertices: np.ndarray) -> None:
    """Raise an `ArgumentError` if two vertices are the same point: lines that meet there would not be joined."""
    _, first, place = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[place.ravel()] != np.arange(len(vertices)))
    if again.size:
        b = int(again[0])
        a = int(first[place.ravel()[b]])
        raise ArgumentError(f"Drawing: vertices {a} and {b} are the same point; lines that meet need the same vertex")


def _check_crossings(vertices: np.ndarray, lines: np.ndarray) -> None:
    """Raise an `ArgumentError` if two lines cross, or a vertex lies on a line, where it does not end."""
    p, q = vertices[lines[:, 0]], vertices[lines[:, 1]]
    along = q - p

    def side(points):  # (m, k): twice the area between line m and point k
        away = points[None] - p[:, None]
        return along[:, None, 0] * away[..., 1] - along[:, None, 1] * away[..., 0]

    from_p, from_q = side(p), side(q)
    size = np.abs(along).max() ** 2
    first, second = np.sign(np.where(np.abs(from_p) < 1e-12 * size, 0, from_p)), np.sign(from_q)
    second = np.where(np.abs(from_q) < 1e-12 * size, 0, second)
    shared = (lines[:, None, :, None] == lines[None, :, None, :]).any(axis=(2, 3))
    crossed = (first * second < 0) & (first * second < 0).T & ~shared
    if crossed.any():
        a, b = np.argwhere(crossed)[0]
        raise ArgumentError(f"Drawing: lines {a} and {b} cross; a vertex is needed there")
    on = np.abs(side(vertices)) < 1e-12 * size
    share = ((vertices[None] - p[:, None]) * along[:, None]).sum(axis=-1) / (along * along).sum(axis=-1)[:, None]
    on &= (share > 0) & (share < 1)
    on[np.arange(len(lines))[:, None], lines] = False
    if on.any():
        line, vertex = np.argwhere(on)[0]
        raise ArgumentError(f"Drawing: vertex {vertex} lies on line {line}, which must end there and begin again")


# --- junctions --------------------------------------------------------------------------------------------------------


class Junction(NamedTuple):
    """Lines that meet at a `vertex`: the `kind` "L", "arrow", "fork", "T" or another, and the `lines` in order.

    The order is counter-clockwise as seen, from the first line after the largest gap on: (barb, shaft, barb) of an
    arrow, and (bar, stem, bar) of a T. Other kinds are "straight" (two lines that go on as one), "end", "alone", "K",
    "X", "peak" and "multi", which no trihedral corner has in a general view.
    """

    vertex: int
    kind: str
    lines: tuple[int, ...]


def drawing_junctions(drawing: Drawing, *, straight: float = 1e-3) -> tuple[Junction, ...]:
    """The `Junction` at each vertex of a `drawing`, from its geometry.

        >>> box = Drawing([[0, 0], [3, -1], [5, 1], [2, 2]], [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
        >>> [junction.kind for junction in drawing_junctions(box)]
        ['arrow', 'L', 'arrow', 'L']

    Three lines are an arrow if they lie within 180°, a T if two of them form a straight line, and else a fork. Lines
    are taken as one straight line if their angle differs from 180° by less than `straight` [rad].
    """
    if not isinstance(drawing, Drawing):
        raise ArgumentError(f"drawing_junctions: a Drawing is needed, got {type(drawing).__name__}")
    straight = positive(straight, "drawing_junctions: straight", or_zero=True)
    return tuple(_junction(drawing, vertex, straight) for vertex in range(len(drawing.vertices)))


def _junction(drawing: Drawing, vertex: int, straight: float) -> Junction:
    fan = drawing.fans[vertex]
    if len(fan) < 2:
        return Junction(vertex, _NAMES[len(fan)], fan)
    angles = np.array([drawing.angle(line, vertex) for line in fan])
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    first = (int(np.argmax(gaps)) + 1) % len(fan)
    beyond = gaps.max() - np.pi
    if len(fan) == 2:
        kind = "straight" if abs(beyond) <= straight else "L"
    elif len(fan) == 3:
        kind = "T" if abs(beyond) <= straight else "arrow" if beyond > 0 else "fork"
    else:
        kind = _many(angles, gaps.max(), straight)
    return Junction(vertex, kind, fan[first:] + fan[:first])


def _many(angles: np.ndarray, gap: float, straight: float) -> str:
    """The kind of a junction of four lines or more."""
    turns = np.abs(np.angle(np.exp(1j * (angles[:, None] - angles[None]))))
    pairs = int((np.pi - turns <= straight).sum()) // 2
    if len(angles) > 4:
        return "multi"
    return "X" if pairs == 2 else "K" if pairs == 1 else "peak" if gap > np.pi else "multi"


# --- regions ----------------------------------------------------------------------------------------------------------


def line_regions(drawing: Drawing) -> np.ndarray:
    """The regions (m, 2) to the left and to the right of each line of a `drawing`; region 0 is the background.

        >>> triangle = Drawing([[0, 0], [4, 0], [2, 3]], [[0, 1], [1, 2], [2, 0]])
        >>> line_regions(triangle).tolist()
        [[0, 1], [0, 1], [0, 1]]

    Left and right are as seen by someone who walks along the line. A drawing inside a region of another one has that
    region around it.
    """
    if not isinstance(drawing, Drawing):
        raise ArgumentError(f"line_regions: a Drawing is needed, got {type(drawing).__name__}")
    cycle_of, cycles = _cycles(drawing)
    areas = [_area(drawing.vertices[cycle]) for cycle in cycles]
    inner = [k for k, area in enumerate(areas) if area > 0]
    number = {k: r for r, k in enumerate(sorted(inner, key=lambda k: min(cycles[k])), 1)}
    component = _components(drawing)
    for k, cycle in enumerate(cycles):
        if areas[k] <= 0:  # the outside of a part of the drawing, which may lie in a region of another part
            point = drawing.vertices[cycle[0]]
            around = [
                j for j in inner
                if component[cycles[j][0]] != component[cycle[0]] and _inside(point, drawing.vertices[cycles[j]])
            ]  # fmt: skip
            number[k] = number[min(around, key=lambda j: areas[j])] if around else 0
    return np.array([[number[cycle_of[line, 0]], number[cycle_of[line, 1]]] for line in range(len(drawing.lines))])


def _cycles(drawing: Drawing) -> tuple[dict[tuple[int, int], int], list[list[int]]]:
    """Walks around regions, which stay to the left: {(line, backwards): walk}, and the vertices of each walk."""
    lines, cycle_of, cycles = drawing.lines.tolist(), {}, []
    for start in ((line, way) for line in range(len(lines)) for way in (0, 1)):
        if start in cycle_of:
            continue
        half, vertices = start, []
        while half not in cycle_of:
            cycle_of[half] = len(cycles)
            line, way = half
            vertices.append(lines[line][way])
            at = lines[line][1 - way]
            fan = drawing.fans[at]
            line = fan[fan.index(line) - 1]  # the next line clockwise
            half = (line, 0 if lines[line][0] == at else 1)
        cycles.append(vertices)
    return cycle_of, cycles


def _area(points: np.ndarray) -> float:
    """Twice the area inside a walk that is counter-clockwise as seen; v points downwards."""
    u, v = points.T
    return float(-(u * np.roll(v, -1) - v * np.roll(u, -1)).sum())


def _components(drawing: Drawing) -> list[int]:
    """For each vertex, a number that connected vertices share."""
    found = list(range(len(drawing.vertices)))
    for a, b in drawing.lines.tolist():
        one, other = found[a], found[b]
        if one != other:
            found = [one if k == other else k for k in found]
    return found


def _inside(point: np.ndarray, polygon: np.ndarray) -> bool:
    u, v = (polygon - point).T
    ahead_u, ahead_v = np.roll(u, -1), np.roll(v, -1)
    crossing = (v > 0) != (ahead_v > 0)
    where = u[crossing] - v[crossing] * (ahead_u - u)[crossing] / (ahead_v - v)[crossing]
    return bool((where > 0).sum() % 2)


def __dir__() -> list[str]:
    return __all__
