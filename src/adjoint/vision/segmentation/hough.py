"""The Hough transform: lines, segments, circles, and any curve that is given by coefficients.

A line is u cos θ + v sin θ = ρ, with θ from -π/2 to π/2, and ρ [pixels] of either sign. The book's x is the row v, and
its y the column u: (8.2-4), x cos θ + y sin θ = ρ, is the same line with the angle π/2 - θ; see `textbook_line`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from ...errors import ArgumentError
from ...extras import package
from ...model.input_checks import count, floats, positive
from ..image_checks import binary, gray, opencv

__all__ = [
    "CurveVotes",
    "HoughCircles",
    "HoughLines",
    "LineVotes",
    "curve_peaks",
    "hough_circles",
    "hough_curve",
    "hough_lines",
    "hough_segments",
    "hough_votes",
    "textbook_line",
]

_CHUNK = 2**21  # votes that are counted at once


# --- lines ------------------------------------------------------------------------------------------------------------


class LineVotes(NamedTuple):
    """`votes` (m, n) of pixels for the lines with distances `rho` (m,) [pixels] and angles `theta` (n,) [rad]."""

    votes: np.ndarray
    rho: np.ndarray
    theta: np.ndarray


class HoughLines(NamedTuple):
    """Lines u cos θ + v sin θ = ρ, those with the most `votes` first: `rho` (n,) [pixels] and `theta` (n,) [rad]."""

    rho: np.ndarray
    theta: np.ndarray
    votes: np.ndarray


def hough_votes(edges, *, angles=None) -> LineVotes:
    """The accumulator of the Hough transform for lines: each edge pixel votes for all lines through it.

        >>> found = hough_votes(np.eye(100, dtype=bool))
        >>> i, j = np.unravel_index(found.votes.argmax(), found.votes.shape)
        >>> found.votes[i, j], found.rho[i], np.rad2deg(found.theta[j])                   # v = u, u cos θ + v sin θ = 0
        (np.uint64(100), np.float64(0.0), np.float64(-45.0))

    - `edges` (rows, columns) is a binary image.
    - `angles` (n,) [rad] are the θ of the lines u cos θ + v sin θ = ρ; by default 180 from -π/2 on, a degree apart. The
      distances ρ are whole numbers of pixels, up to the diagonal of the image on both sides of 0.

    It wraps `skimage.transform.hough_line`. Fu, Gonzalez & Lee (1987), (8.2-4).
    """
    transform = package("skimage.transform", "vision", "hough_votes")
    theta = None if angles is None else floats(angles)
    if theta is not None and (theta.ndim != 1 or not theta.size or not np.isfinite(theta).all()):
        raise ArgumentError(f"hough_votes: angles must be finite numbers (n,) [rad], got shape {theta.shape}")
    votes, theta, rho = transform.hough_line(binary(edges, "hough_votes"), theta=theta)
    return LineVotes(votes, rho, theta)


def hough_lines(
    edges, *, most: int = 10, angles=None, at_least: float | None = None, apart: int = 9, angle_apart: int = 10
) -> HoughLines:
    """The lines with the most edge pixels on them.

        >>> edges = np.zeros((50, 80), bool)
        >>> edges[20, 10:70] = True
        >>> hough_lines(edges)                                                              # the line v = 20
        HoughLines(rho=array([-20.]), theta=array([-1.57079633]), votes=array([60], dtype=uint64))

    - `edges` (rows, columns) is a binary image, and `angles` are those of `vision.hough_votes`.
    - `most` is the largest number of lines.
    - `at_least` is the number of votes that a line needs; None takes half of those of the best line.
    - `apart` [pixels] and `angle_apart` [steps of angles] keep two lines from being found for one edge.

    It wraps `skimage.transform.hough_line_peaks`. Fu, Gonzalez & Lee (1987), §8.2.1.
    """
    transform = package("skimage.transform", "vision", "hough_lines")
    votes, rho, theta = hough_votes(edges, angles=angles)
    least = None if at_least is None else positive(at_least, "hough_lines: at_least", or_zero=True)
    if not votes.any() or (least is not None and votes.max() < least):
        return HoughLines(np.zeros(0), np.zeros(0), np.zeros(0, votes.dtype))
    found = transform.hough_line_peaks(
        votes, theta, rho, min_distance=count(apart, "hough_lines: apart"),
        min_angle=count(angle_apart, "hough_lines: angle_apart"),
        threshold=None if least is None else np.nextafter(least, 0), num_peaks=count(most, "hough_lines: most"),
    )  # fmt: skip
    votes, theta, rho = (np.asarray(each) for each in found)
    return HoughLines(rho, theta, votes)


def textbook_line(rho, theta) -> tuple[np.ndarray, np.ndarray]:
    """The (ρ, θ) of the same line with rows and columns exchanged, x cos θ + y sin θ = ρ, where x is the row.

        >>> textbook_line(5.0, 0.25)
        (array(5.), array(1.32079633))

    θ becomes π/2 - θ, and is brought to [-π/2, π/2), which may turn the sign of ρ. It is its own inverse: it leads from
    the book's lines to those of this library as well. `rho` and `theta` have any shapes that fit together.
    """
    rho, theta = np.broadcast_arrays(floats(rho), np.pi / 2 - floats(theta))
    turns = np.floor(theta / np.pi + 0.5)
    return np.where(turns % 2 == 0, rho, -rho), np.asarray(theta - np.pi * turns)


def hough_segments(
    edges, *, at_least: int = 50, shortest: float = 30.0, gap: float = 3.0, step: float = 1.0,
    angle_step: float = np.pi / 180,
) -> np.ndarray:  # fmt: skip
    """Segments (n, 4) of lines, as (u, v, u, v) of their ends [pixels], long ones found first.

        >>> edges = np.zeros((50, 80), bool)
        >>> edges[20, 10:70] = True
        >>> hough_segments(edges).tolist()
        [[10, 20, 69, 20]]

    - `edges` (rows, columns) is a binary image.
    - `at_least` votes make a line; its segments have `shortest` [pixels] or more, and `gap` [pixels] or less between
      neighbouring edge pixels.
    - `step` [pixels] and `angle_step` [rad] are those of the accumulator.

    It wraps `cv2.HoughLinesP`, the probabilistic transform, whose random numbers are the same in every call.
    """
    cv2 = opencv("hough_segments")
    image = binary(edges, "hough_segments").astype(np.uint8)  # a copy: OpenCV may change it
    found = cv2.HoughLinesP(
        image, positive(step, "hough_segments: step"), positive(angle_step, "hough_segments: angle_step"),
        count(at_least, "hough_segments: at_least"), minLineLength=positive(shortest, "hough_segments: shortest"),
        maxLineGap=positive(gap, "hough_segments: gap", or_zero=True),
    )  # fmt: skip
    return np.zeros((0, 4), np.int32) if found is None else found.reshape(-1, 4)


# --- circles ----------------------------------------------------------------------------------------------------------


class HoughCircles(NamedTuple):
    """Circles, those with the most votes first: `centers` (n, 2) as (u, v), and `radii` (n,), in pixels."""

    centers: np.ndarray
    radii: np.ndarray


def hough_circles(
    image, *, radii: tuple[int, int], apart: float | None = None, edge: float = 100.0, at_least: float = 30.0
) -> HoughCircles:
    """Circles in an 8-bit gray image, by its edges and their directions.

        >>> v, u = np.mgrid[:100, :120]
        >>> image = np.where((u - 50) ** 2 + (v - 40) ** 2 < 20**2, 200, 50).astype(np.uint8)
        >>> found = hough_circles(image, radii=(10, 30), at_least=15)
        >>> np.abs(found.centers - [50, 40]).max() < 1.5, np.abs(found.radii - 20).max() < 1.5
        (np.True_, np.True_)

    - `image` (rows, columns) is of uint8. Smooth it first if it is noisy.
    - `radii` are the smallest and the largest radius [pixels].
    - `apart` [pixels] is the least distance of two centers; None takes the smallest radius.
    - `edge` is the gradient that makes an edge, the upper limit of Canny's detector; `at_least` are the votes that make
      a center: fewer find more circles, and false ones.

    It wraps `cv2.HoughCircles`, whose centers lie on a grid of halves. `vision.hough_curve` counts votes as the book
    does, for (8.2-5) and other curves.
    """
    cv2 = opencv("hough_circles")
    image = gray(image, "hough_circles")
    if image.dtype != np.uint8:
        raise ArgumentError(f"hough_circles: the image must be of uint8, got {image.dtype}")
    least, largest = _radii(radii)
    found = cv2.HoughCircles(
        image, cv2.HOUGH_GRADIENT, 1, max(least, 1) if apart is None else positive(apart, "hough_circles: apart"),
        param1=positive(edge, "hough_circles: edge"), param2=positive(at_least, "hough_circles: at_least"),
        minRadius=least, maxRadius=largest,
    )  # fmt: skip
    circles = np.zeros((0, 3)) if found is None else found.reshape(-1, found.shape[-1])[:, :3].astype(float)
    return HoughCircles(circles[:, :2], circles[:, 2])


def _radii(radii) -> tuple[int, int]:
    try:
        least, most = (count(each, "hough_circles: radii") for each in radii)
    except (TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        least, most = 1, 0
    if not 0 <= least <= most or most == 0:
        raise ArgumentError(f"hough_circles: radii must be a smallest and a largest radius [pixels], got {radii!r:.60}")
    return least, most


# --- any curve --------------------------------------------------------------------------------------------------------


class CurveVotes(NamedTuple):
    """`votes` (n_1, ..., n_k): how many points lie on the curves with the coefficients `grids`, k arrays (n_i,)."""

    votes: np.ndarray
    grids: tuple[np.ndarray, ...]


def hough_curve(points, solve: Callable, free: Sequence, solved) -> CurveVotes:
    """The accumulator for curves g(x, c) = 0 with coefficients c: each point votes for all curves through it.

        >>> points = [(5, 3), (1, 3), (3, 5), (3, 1)]                                       # a circle about (3, 3)
        >>> grid = np.arange(0, 7)
        >>> found = hough_curve(points, lambda u, v, a, b: np.hypot(u - a, v - b), [grid, grid], grid)
        >>> curve_peaks(found, most=1)
        (array([[3., 3., 2.]]), array([4]))

    All coefficients but the last are stepped through their values, the last one is solved for, rounded to the nearest
    of its values, and its cell gets a vote. Solutions that are NaN or beyond the ends of the grid do not vote.

    - `points` (n, 2) are (u, v), such as `np.argwhere(edges)[:, ::-1]`.
    - `solve(u, v, c_1, ..., c_k-1)` gives c_k; it is called with arrays that broadcast against each other.
    - `free` has k - 1 grids (n_i,), the values of c_1 ... c_k-1, in any order.
    - `solved` (n_k,) is the grid of c_k: equally spaced, growing numbers.

    Time and memory grow with the number of cells: three coefficients of 100 values are a million. Fu, Gonzalez & Lee
    (1987), §8.2.1.
    """
    points = np.atleast_2d(floats(points))
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ArgumentError(f"hough_curve: points must be finite numbers (n, 2), (u, v), got shape {points.shape}")
    grids = tuple(_grid(each, "free") for each in free)
    last = _grid(solved, "solved")
    spacing = np.diff(last)
    if len(last) < 2 or spacing[0] <= 0 or not np.allclose(spacing, spacing[0], rtol=1e-6, atol=0):
        raise ArgumentError("hough_curve: solved must have two values or more, which grow in equal steps")
    cells = int(np.prod([len(grid) for grid in grids]))
    mesh = np.meshgrid(*grids, indexing="ij") if grids else [np.zeros(())]
    flat = [each.reshape(1, -1) for each in mesh]
    votes, base = np.zeros(cells * len(last), np.int64), np.arange(cells) * len(last)
    step = max(1, _CHUNK // cells)
    for i in range(0, len(points), step):
        u, v = points[i : i + step].T[..., None]
        with np.errstate(invalid="ignore", divide="ignore"):
            cell = (np.asarray(solve(u, v, *(flat if grids else ())), float) - last[0]) / spacing[0]
            cell = np.broadcast_to(np.rint(cell), (len(u), cells))
        inside = (cell >= 0) & (cell < len(last))
        votes += np.bincount((base + np.where(inside, cell, 0).astype(np.int64))[inside], minlength=len(votes))
    return CurveVotes(votes.reshape(*(len(grid) for grid in grids), len(last)), (*grids, last))


def _grid(values, name: str) -> np.ndarray:
    grid = floats(values)
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all():
        raise ArgumentError(f"hough_curve: each grid of `{name}` must be finite numbers (n,), got shape {grid.shape}")
    return grid


def curve_peaks(
    votes: CurveVotes, *, most: int = 10, at_least: int = 1, apart: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The curves with the most votes: their coefficients (n, k), and their votes (n,), the best first.

    - `votes` is the result of `vision.hough_curve`, whose example shows this function, too.
    - `most` and `at_least` are the largest number of curves, and the smallest number of votes.
    - `apart` is a number of cells: a curve has at least as many votes as all that differ by so many cells or less.
    """
    if not isinstance(votes, CurveVotes):
        raise ArgumentError(f"curve_peaks: votes must be a CurveVotes, as hough_curve gives it, got {votes!r:.60}")
    counts, size = votes.votes, 2 * count(apart, "curve_peaks: apart") + 1
    peak = (counts == ndimage.maximum_filter(counts, size, mode="constant")) & (counts >= max(at_least, 1))
    at = np.argwhere(peak)
    order = np.argsort(-counts[peak], kind="stable")[: count(most, "curve_peaks: most")]
    chosen = at[order]
    return np.stack([grid[k] for grid, k in zip(votes.grids, chosen.T, strict=True)], axis=1), counts[peak][order]
