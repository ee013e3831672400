"""Edge pixels become edges: neighbours with similar gradients are linked, in all directions or along rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, one_of, positive
from ..image_checks import gray
from .adjacency import checked_labels, components_of_pairs

__all__ = ["EdgeRuns", "edge_pixels", "edge_runs", "link_edges"]

_MOST_LABELS = 2**20  # that small images may have, too


def link_edges(
    gradient, *, stronger_than: float, magnitude_within: float | None = None, angle_within: float = np.pi / 12,
    either_way: bool = False, size: int = 3, smallest: int = 1,
) -> np.ndarray:  # fmt: skip
    """Labels (rows, columns) of linked edges: edge pixels whose gradients are alike in neighbourhoods. 0 is no edge.

        >>> u = np.array([[9.0, 9, 0, 0], [0, 9, 0, 5], [0, 0, 0, 5]])
        >>> link_edges((u, np.zeros((3, 4))), stronger_than=1, magnitude_within=2)
        array([[1, 1, 0, 0],
               [0, 1, 0, 2],
               [0, 0, 0, 2]], dtype=int32)

    Two edge pixels in one neighbourhood are linked if their magnitudes G and directions θ are similar,

        |G - G'| <= T                                                                                       (8.2-1)
        |θ - θ'| < A                                                                                        (8.2-3)

    and what is linked, directly or by others, is one edge. Angles are compared by the cosine of their difference, so
    directions of 179° and -179° are similar. Edges are numbered by their first pixels in raster order.

    - `gradient` is a pair (u, v) of arrays (rows, columns), such as `vision.sobel(image)`.
    - `stronger_than` makes a pixel an edge pixel: G = √(u² + v²) is above it.
    - `magnitude_within` is T; None compares no magnitudes.
    - `angle_within` is A [rad], up to π.
    - `either_way` takes opposite gradients as similar: the two sides of a thin line then are one edge.
    - `size` is the width of the neighbourhood: 3, 5, ... pixels.
    - `smallest` is the number of pixels of the smallest edge that is kept.

    Fu, Gonzalez & Lee (1987), §8.2.1.
    """
    u, v = _components(gradient, "link_edges")
    G = np.hypot(u, v)
    T = np.inf if magnitude_within is None else positive(magnitude_within, "link_edges: magnitude_within", or_zero=True)
    A = _angle(angle_within, "link_edges")
    least = positive(stronger_than, "link_edges: stronger_than", or_zero=True)
    at = np.flatnonzero(least < G)
    number = np.full(G.size, -1, np.int32)
    number[at] = np.arange(len(at), dtype=np.int32)
    G, columns = G.reshape(-1)[at], u.shape[1]
    u, v = _directions(u.reshape(-1)[at], v.reshape(-1)[at], G)
    pairs: list[np.ndarray] = []
    for dv, du in _half_neighbourhood(size):
        column = at % columns + du
        a = np.flatnonzero((at + dv * columns < number.size) & (column >= 0) & (column < columns))
        b = number[at[a] + dv * columns + du]
        a, b = a[b >= 0], b[b >= 0]
        dot = u[a] * u[b] + v[a] * v[b]
        alike = (np.abs(dot) if either_way else dot) > np.cos(A)
        if magnitude_within is not None:
            alike &= np.abs(G[a] - G[b]) <= T
        pairs.append(np.stack([a[alike], b[alike]], axis=1))
    edge = components_of_pairs(np.concatenate(pairs), len(at)) if len(at) else np.zeros(0, int)
    labels = np.zeros(number.size, np.int32)
    labels[at] = _large_enough(edge, count(smallest, "link_edges: smallest"))
    return labels.reshape(-1, columns)


def _components(gradient, caller: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        u, v = gradient
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{caller}: gradient must be a pair (u, v) of arrays, such as vision.sobel(image)"
        ) from None
    u, v = (gray(each, caller) for each in (u, v))
    if u.shape != v.shape:
        raise ArgumentError(f"{caller}: the parts u and v of the gradient have shapes {u.shape} and {v.shape}")
    kind = np.promote_types(np.result_type(u, v), np.float32)  # at least: float16 ends at 65504
    return u.astype(kind, copy=False), v.astype(kind, copy=False)


def _directions(u: np.ndarray, v: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors along gradients with magnitudes G > 0, whose products cannot overflow; NaN for infinite ones."""
    with np.errstate(invalid="ignore"):
        return u / G, v / G


def _angle(angle_within: float, caller: str) -> float:
    A = positive(angle_within, f"{caller}: angle_within")
    if np.pi < A:
        raise ArgumentError(f"{caller}: angle_within is {A:g}; it must be at most π: angles are in radians")
    return A


def _half_neighbourhood(size: int) -> list[tuple[int, int]]:
    """Steps (dv, du) to those pixels of a neighbourhood that follow its middle in raster order."""
    h = count(size, "link_edges: size") // 2
    if size % 2 == 0 or size < 3:
        raise ArgumentError(f"link_edges: size must be an odd number, 3 or more, got {size}")
    return [(dv, du) for dv in range(h + 1) for du in range(-h, h + 1) if (dv, du) > (0, 0)]


def _large_enough(edge: np.ndarray, smallest: int) -> np.ndarray:
    """Labels from 1 of edges with so many members or more, 0 for others, from the edge (n,) of each member."""
    sizes = np.bincount(edge)
    names = np.cumsum(sizes >= smallest) * (sizes >= smallest)
    return names[edge]


def edge_pixels(labels) -> list[np.ndarray]:
    """The pixels (n, 2), as (u, v), of each label 1, 2, ..., in raster order.

        >>> [each.tolist() for each in edge_pixels([[1, 1, 0], [0, 1, 2]])]
        [[[0, 0], [1, 0], [1, 1]], [[2, 1]]]

    A label that no pixel has gets no pixels. It serves any image of labels, of edges or of regions.
    """
    labels = checked_labels(labels, "edge_pixels")
    if labels.max() > max(labels.size, _MOST_LABELS):
        raise ArgumentError(
            f"edge_pixels: the largest label is {labels.max()}, and there is a result for each label up to it; number "
            "the labels from 1 on"
        )
    v, u = np.nonzero(labels > 0)
    found = labels[v, u].astype(np.int64)
    order = np.argsort(found, kind="stable")
    ends = np.cumsum(np.bincount(found, minlength=1))[1:]
    return np.split(np.stack([u, v], axis=1)[order], ends[:-1]) if len(ends) else []


# --- along rows and columns -------------------------------------------------------------------------------------------


class EdgeRuns(NamedTuple):
    """n runs of edge pixels along rows or columns, in the order of the scan.

    `labels` (rows, columns) has 1 ... n on the runs, bridged gaps included, and 0 elsewhere; `ends` (n, 4) has the
    first and the last pixel, (u, v, u, v), of each.
    """

    labels: np.ndarray
    ends: np.ndarray


def edge_runs(
    gradient, *, along: str, stronger_than: float, angle_within: float = np.pi / 12, gap: int = 0, shortest: int = 1
) -> EdgeRuns:
    """Straight edges along rows or columns: runs of similar edge pixels, with gaps bridged and short runs dropped.

        >>> v = np.array([[30.0, 40, 0, 35, 33, 0, 0, 0, 28]])
        >>> edge_runs((np.zeros((1, 9)), v), along="rows", stronger_than=25, gap=1, shortest=3).ends.tolist()
        [[0, 0, 4, 0]]

    This is how the book finds plates of vehicles. Horizontal edges are sought in the rows of the vertical component of
    the gradient, and vertical ones in the columns of the horizontal component. An edge pixel follows the last one if at
    most `gap` others lie between them and their directions are similar, |θ - θ'| < A (8.2-3).

    - `gradient` is a pair (u, v) of arrays (rows, columns), such as `vision.sobel(image)`.
    - `along` is "rows" or "columns".
    - `stronger_than` makes a pixel an edge pixel: |v| along rows, or |u| along columns, is above it. The book's is 25.
    - `angle_within` is A [rad]; the book's is 15°, as by default.
    - `shortest` is the length [pixels] of the shortest run that is kept, gaps included.

    Fu, Gonzalez & Lee (1987), §8.2.1, figure 8.1.
    """
    u, v = _components(gradient, "edge_runs")
    one_of(along, ("rows", "columns"), "edge_runs: along")
    least = positive(stronger_than, "edge_runs: stronger_than", or_zero=True)
    A, most = _angle(angle_within, "edge_runs"), count(gap, "edge_runs: gap") + 1
    if along == "columns":
        u, v = v.T, u.T  # an edge along columns is one along rows of the transposed image
    row, column = np.nonzero(np.abs(v) > least)
    u_at, v_at = _directions(u[row, column], v[row, column], np.hypot(u[row, column], v[row, column]))
    dot = u_at[1:] * u_at[:-1] + v_at[1:] * v_at[:-1]
    follows = (np.diff(row) == 0) & (np.diff(column) <= most) & (dot > np.cos(A))
    starts = np.flatnonzero(np.concatenate([[True], ~follows])) if len(row) else np.zeros(0, int)
    ends = np.concatenate([starts[1:], [len(row)]])[: len(starts)] - 1
    lengths = column[ends] - column[starts] + 1
    keep = lengths >= count(shortest, "edge_runs: shortest")
    starts, ends, lengths = starts[keep], ends[keep], lengths[keep]
    labels = np.zeros(u.shape, np.int32)
    first = row[starts] * u.shape[1] + column[starts]
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    labels.reshape(-1)[np.repeat(first, lengths) + steps] = np.repeat(np.arange(1, len(lengths) + 1), lengths)
    found = np.stack([column[starts], row[starts], column[ends], row[ends]], axis=1)
    return EdgeRuns(labels.T, found[:, [1, 0, 3, 2]]) if along == "columns" else EdgeRuns(labels, found)
