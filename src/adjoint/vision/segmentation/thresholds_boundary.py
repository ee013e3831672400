"""Thresholds from pixels near boundaries: the three-level image of White and Rohrer, and objects along scan lines.

Fu, Gonzalez & Lee (1987), §8.2.2, (8.2-24).
"""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray
from ..images.gradients import gradient_magnitude, laplacian, sobel
from ..images.histograms import histogram
from ..images.options import finite_number

__all__ = ["boundary_histogram", "boundary_labels", "boundary_objects", "fill_scan_lines"]


def boundary_labels(image, level, *, objects: str = "dark") -> np.ndarray:
    """The three-level image s, (rows, columns) int8: 0 off edges, +1 and -1 on the two sides of an edge.

    A pixel is on an edge if G = |G_u| + |G_v| of Sobel's gradient is at least `level`. There s is +1 where the
    Laplacian is not negative, which is the dark side, and -1 on the light side. With `objects="light"` the signs are
    swapped, so that +1 is always the side of the object.

        >>> row = np.array([30] * 4 + [20] + [10] * 4 + [20] + [30] * 4, np.uint8)
        >>> boundary_labels(np.tile(row, (3, 1)), 30)[1]
        array([ 0,  0,  0, -1,  1,  1,  0,  0,  1,  1, -1,  0,  0,  0], dtype=int8)

    Fu, Gonzalez & Lee (1987), (8.2-24).
    """
    T = finite_number(level, "level", "boundary_labels")
    if objects not in ("dark", "light"):
        raise ArgumentError(f"boundary_labels: objects is {objects!r:.60}; it must be 'dark' or 'light'")
    f = gray(image, "boundary_labels")
    edge = (gradient_magnitude(sobel(f), "absolute") >= T).view(np.int8)
    dark = (laplacian(f) >= 0).view(np.int8)
    return edge * (2 * dark - 1) if objects == "dark" else edge * (1 - 2 * dark)


def fill_scan_lines(labels, *, direction: str = "horizontal") -> np.ndarray:
    """The objects of a three-level image, (rows, columns) bool, by the structure of its scan lines.

    Along a line, an object begins with -1, +1, goes on with 0 or +1, and ends with +1, -1. So it is a run between two
    successive -1 that begins and ends with +1 (one pixel may be both). The run, with its first and last +1, becomes
    True. `direction` is "horizontal" (rows) or "vertical" (columns).

        >>> fill_scan_lines(np.array([[0, -1, 1, 1, 0, 0, 1, -1, 0, -1, 0, 1, -1]])).astype(int)
        array([[0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]])

    Fu, Gonzalez & Lee (1987), §8.2.2.
    """
    s = gray(labels, "fill_scan_lines")
    if direction not in ("horizontal", "vertical"):
        raise ArgumentError(f"fill_scan_lines: direction is {direction!r:.60}; it must be 'horizontal' or 'vertical'")
    if s.dtype.kind not in "if":
        raise ArgumentError(
            f"fill_scan_lines: labels -1, 0 and +1 are needed, as boundary_labels gives them, got {s.dtype}"
        )
    if direction == "vertical":
        return fill_scan_lines(s.T).T
    columns = s.shape[1]
    flat = np.ascontiguousarray(s).ravel()
    minus = np.flatnonzero(flat < 0)
    first, last = minus[:-1] + 1, minus[1:] - 1
    whole = (first // columns == last // columns) & (first <= last) & (minus[:-1] // columns == minus[1:] // columns)
    first, last = first[whole], last[whole]
    objects = (flat[first] > 0) & (flat[last] > 0)
    turns = np.zeros(flat.size + 1, np.int8)
    turns[first[objects]] = 1
    turns[last[objects] + 1] = -1
    return np.cumsum(turns[:-1], dtype=np.int8).view(bool).reshape(s.shape)


def boundary_objects(image, level, *, objects: str = "dark", direction: str = "horizontal") -> np.ndarray:
    """The objects (rows, columns) bool with edges at least as steep as `level`: `boundary_labels`, then lines filled.

    It finds strokes and parts against a background that varies slowly, where no single threshold does. A line on which
    an edge is too weak stays empty.

        >>> row = np.array([30] * 4 + [20] + [10] * 4 + [20] + [30] * 4, np.uint8)
        >>> boundary_objects(np.tile(row, (3, 1)), 30)[1].nonzero()[0]
        array([4, 5, 6, 7, 8, 9])

    Fu, Gonzalez & Lee (1987), §8.2.2, after White and Rohrer (1983).
    """
    return fill_scan_lines(boundary_labels(image, level, objects=objects), direction=direction)


def boundary_histogram(image, level, levels: int | None = None) -> np.ndarray:
    """The histogram (L,) of the pixels on edges alone, where the gradient |G_u| + |G_v| is at least `level`.

    Its two peaks are about equally high, however small the object is, so that a threshold between them is found more
    easily: `optimum_threshold(fit_mixture(boundary_histogram(image, level)))`. `levels` is as in `histogram`.

        >>> f = np.full((9, 9), 200, np.uint8)
        >>> f[3:6, 3:6] = 50
        >>> histogram(f)[[50, 200]], boundary_histogram(f, 100)[[50, 200]]
        (array([ 9, 72]), array([ 8, 16]))

    Fu, Gonzalez & Lee (1987), §8.2.2.
    """
    T = finite_number(level, "level", "boundary_histogram")
    f = gray(image, "boundary_histogram")
    edge = gradient_magnitude(sobel(f), "absolute") >= T
    if not edge.any():
        raise ArgumentError(f"boundary_histogram: no pixel has a gradient of {level!r} or more")
    return histogram(f[edge][None], levels)
