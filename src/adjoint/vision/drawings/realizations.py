"""Whether a labelled drawing shows something that can exist: planes for all of its regions, by a linear program.

Labels that fit at all junctions are necessary, but not sufficient: Penrose's triangle has them. A labelled drawing is
that of solids if its regions can be planes that meet at convex and concave lines, and lie behind each other at
occluding ones (Sugihara 1986, "Machine Interpretation of Line Drawings"). How near the plane of a region is to the eye,
q = a u + b v + c, is linear in the image: q is the height towards the eye in a parallel view, and 1/depth in a
perspective one. So all these conditions are linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import positive
from .line_drawings import Drawing, line_regions

__all__ = ["Realization", "realize_drawing"]

_LABELS = ("+", "-", ">", "<")


class Realization(NamedTuple):
    """Planes of a labelled drawing: whether it is `possible`, and `planes` (regions, 3), the background's first.

    Row r is (a, b, c): q = a u + b v + c tells how near region r is at an image point (u, v), in a unit of its own.
    `margin` is how far the least clear of all conditions is from failing, in the same unit. If the drawing is not
    possible, `planes` are None.
    """

    possible: bool
    margin: float
    planes: np.ndarray | None


def realize_drawing(drawing: Drawing, labels, *, tolerance: float = 1e-6) -> Realization:
    """The `Realization` of a `drawing` with `labels`, one for each line: whether its regions can be planes.

        >>> from adjoint.vision.drawings.line_drawings import Drawing
        >>> cube = Drawing(
        ...     [[2, 0], [4, 1], [4, 3], [2, 4], [0, 3], [0, 1], [2, 2]],
        ...     [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [6, 1], [6, 3], [6, 5]],
        ... )
        >>> realize_drawing(cube, ">>>>>>+++").possible, realize_drawing(cube, ">>>>>>+-+").possible
        (True, False)

    A possible drawing has a margin above `tolerance`, which also is how far planes may miss each other: many drawings,
    such as those of truncated pyramids, are possible only if their vertices are exact to that.
    """
    given = tuple(labels) if np.iterable(labels) else ()
    tolerance = positive(tolerance, "realize_drawing: tolerance", or_zero=True)
    if (
        not isinstance(drawing, Drawing)
        or len(given) != len(drawing.lines)
        or not all(isinstance(x, str) and x in _LABELS for x in given)
    ):
        raise ArgumentError("realize_drawing: a Drawing and one label of '+', '-', '>', '<' for each line are needed")
    from scipy.optimize import linprog

    center = (drawing.vertices.max(axis=0) + drawing.vertices.min(axis=0)) / 2
    scale = np.abs(drawing.vertices - center).max()
    equal, less = _conditions((drawing.vertices - center) / scale, drawing.lines, given, line_regions(drawing))
    n = equal.shape[1] - 1
    found = linprog(
        np.eye(n + 1)[n] * -1.0, less, np.zeros(len(less)), equal, np.zeros(len(equal)),
        bounds=[(-1, 1)] * n + [(None, 1)], options={"primal_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    margin = float(found.x[n]) if found.status == 0 else 0.0
    if margin <= tolerance:
        return Realization(False, margin, None)
    a, b, c = found.x[:n].reshape(-1, 3).T
    return Realization(
        True, margin, np.stack([a / scale, b / scale, c - (a * center[0] + b * center[1]) / scale], axis=1)
    )


def _conditions(vertices: np.ndarray, lines: np.ndarray, labels, regions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of equal · (planes, margin) = 0 and less · (planes, margin) ≤ 0."""
    count = int(regions.max()) + 1
    equal, less = [np.zeros(3 * count + 1)], []

    def nearer(front: int, behind: int, point, margin: float) -> np.ndarray:
        """The row of q_behind - q_front + margin · m, at a point."""
        row = np.zeros(3 * count + 1)
        row[3 * behind : 3 * behind + 3] += [*point, 1.0]
        row[3 * front : 3 * front + 3] -= [*point, 1.0]
        row[-1] = margin
        return row

    for (a, b), label, (left, right) in zip(lines, labels, regions.tolist(), strict=True):
        p, q = vertices[a], vertices[b]
        middle = (p + q) / 2
        if label in "<>":
            front, behind = (right, left) if label == ">" else (left, right)
            less += [nearer(front, behind, p, 0.0), nearer(front, behind, q, 0.0), nearer(front, behind, middle, 1.0)]
            continue
        equal += [nearer(left, right, p, 0.0), nearer(left, right, q, 0.0)]
        to_right = np.array([-(q - p)[1], (q - p)[0]]) / np.linalg.norm(q - p)  # v points downwards
        # Over the region to the right, the plane of the left one goes on in front if the edge is convex, else behind.
        front, behind = (left, right) if label == "+" else (right, left)
        less.append(nearer(front, behind, middle + to_right, 1.0))
    return np.array(equal), np.array(less)


def __dir__() -> list[str]:
    return __all__
