"""Skeletons of regions: the medial axis, and a skeleton as a graph of ends, junctions and branches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...extras import package
from ...randomness import Rng, generator
from ..image_checks import binary
from ..segmentation.adjacency import components_of_pairs

__all__ = ["MedialAxis", "SkeletonBranch", "SkeletonGraph", "medial_axis", "skeleton_graph"]


class MedialAxis(NamedTuple):
    """`skeleton` (rows, columns) is True on the axis; `distance` (rows, columns) is that to the border [pixels]."""

    skeleton: np.ndarray
    distance: np.ndarray


def medial_axis(image, *, rng: Rng = 0) -> MedialAxis:
    """The medial axis of a region: its points that have two or more nearest points of the border.

        >>> bar = np.zeros((7, 14), bool)
        >>> bar[1:6, 1:13] = True
        >>> found = medial_axis(bar)
        >>> found.skeleton[3].sum(), found.distance[3, 6]
        (np.int64(8), np.float64(3.0))

    Distances are Euclidean. The region is the union of disks about the points of the axis with their distances as
    radii, up to pixels: so it can be drawn again from both. The axis has a branch for every corner and every bump of
    the border; `vision.thin` has fewer.

    - `image` (rows, columns) is a binary image.
    - `rng` breaks ties of pixels that could go in either order; a number makes the result reproducible.

    It wraps `skimage.morphology.medial_axis`. Fu, Gonzalez & Lee (1987), §8.3.2; H. Blum (1967).
    """
    morphology = package("skimage.morphology", "vision", "medial_axis")
    image, rng = binary(image, "medial_axis"), generator(rng, "medial_axis")
    return MedialAxis(*morphology.medial_axis(image, return_distance=True, rng=rng))


class SkeletonBranch(NamedTuple):
    """A branch from node `start` to node `end`, -1 for a closed loop without nodes.

    `pixels` (n, 2) are its (u, v) in order, with those of its nodes at both ends; `length` is the length of the line
    through their centers [pixels].
    """

    start: int
    end: int
    pixels: np.ndarray
    length: float


class SkeletonGraph(NamedTuple):
    """A skeleton as a graph: `nodes` (n, 2) are (u, v) of ends, junctions and isolated pixels.

    `degrees` (n,) tell how many branches meet at each: 1 at an end, 3 or more at a junction, 0 at an isolated pixel.
    Pixels of a junction that are neighbours make one node, in their middle. `branches` are `SkeletonBranch`es.
    """

    nodes: np.ndarray
    degrees: np.ndarray
    branches: tuple[SkeletonBranch, ...]


def skeleton_graph(skeleton) -> SkeletonGraph:
    """The graph of a skeleton: where it ends, where branches meet, and the branches between.

        >>> cross = np.zeros((5, 7), bool)
        >>> cross[2, :] = cross[:, 3] = True
        >>> graph = skeleton_graph(cross)
        >>> graph.nodes.tolist(), graph.degrees.tolist()
        ([[3.0, 0.0], [0.0, 2.0], [3.0, 2.0], [6.0, 2.0], [3.0, 4.0]], [1, 1, 4, 1, 1])
        >>> [branch.length for branch in graph.branches]
        [2.0, 3.0, 3.0, 2.0]

    Pixels are joined as in m-connectivity: along sides, and along diagonals where no path of two sides joins them. So
    the corner of a staircase is no junction. `skeleton` (rows, columns) is a binary image with lines one pixel wide,
    such as `vision.thin` and `vision.medial_axis` give.
    """
    image = binary(skeleton, "skeleton_graph")
    v, u = np.nonzero(image)
    links, n = _links(image), len(u)
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in links.tolist():
        near[a].append(b)
        near[b].append(a)
    degree = np.bincount(links.reshape(-1), minlength=n)
    inner, junction = (degree == 2).tolist(), degree > 2
    clusters = components_of_pairs(links[junction[links].all(axis=1)], n) if n else np.zeros(0, int)
    names, node = np.unique(clusters[degree != 2], return_inverse=True)
    number = np.full(n, -1)
    number[degree != 2] = node
    uv = np.stack([u, v], axis=1)
    size = np.bincount(node, minlength=len(names))
    nodes = np.stack([np.bincount(node, uv[degree != 2, k], len(names)) / size for k in (0, 1)], axis=1)
    branches = tuple(_branch(path, number, uv) for path in _paths(near, inner, number.tolist()))
    ends = np.array([end for each in branches for end in (each.start, each.end) if end >= 0], int)
    return SkeletonGraph(nodes, np.bincount(ends, minlength=len(names)), branches)


def _links(image: np.ndarray) -> np.ndarray:
    """Pairs (m, 2) of pixels, numbered in raster order, that are m-adjacent."""
    number = np.full((image.shape[0] + 1, image.shape[1] + 2), -1)
    number[:-1, 1:-1][image] = np.arange(np.count_nonzero(image))
    here, right, below = number[:-1, 1:-1], number[:-1, 2:], number[1:, 1:-1]
    corner, left, below_left = number[1:, 2:], number[:-1, :-2], number[1:, :-2]
    pairs = [(here, right), (here, below)]
    for other, side in ((corner, right), (below_left, left)):
        pairs.append((here, np.where((side < 0) & (below < 0), other, -1)))
    return np.concatenate([np.stack([a[good], b[good]], axis=1) for a, b in pairs for good in [(a >= 0) & (b >= 0)]])


def _paths(near: list[list[int]], inner: list[bool], number: list[int]):
    """Lists of pixels from node to node along inner pixels, and closed ones among inner pixels alone."""
    seen = [False] * len(near)

    def follow(path: list[int]) -> list[int]:
        while inner[path[-1]] and not (path[-1] == path[0] and len(path) > 1):
            seen[path[-1]] = True
            one, other = near[path[-1]]
            path.append(other if one == path[-2] else one)
        return path

    for a, others in enumerate(near):
        for b in others if not inner[a] else ():
            if inner[b] and not seen[b]:
                yield follow([a, b])
            elif not inner[b] and a < b and number[a] != number[b]:
                yield [a, b]
    for a, others in enumerate(near):
        if inner[a] and not seen[a]:
            seen[a] = True
            yield follow([a, others[0]])


def _branch(path: list[int], number: np.ndarray, uv: np.ndarray) -> SkeletonBranch:
    pixels = uv[path]
    length = float(np.hypot(*np.diff(pixels, axis=0).T).sum())
    return SkeletonBranch(int(number[path[0]]), int(number[path[-1]]), pixels, length)
