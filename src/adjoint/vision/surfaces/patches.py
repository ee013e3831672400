"""Planar patches of a range image: the way of Shirai (1979) from points to surfaces that are planar or curved.

Fu, Gonzalez & Lee, "Robotics" (1987), §8.4.1: fit planes to the points in cells, group cells with similar directions
into elementary regions, classify these as planar, curved or undefined, and merge neighbours of the same class. The
textbook leaves all thresholds open. Here they follow from the noise of the sensor: a difference counts if it is above
four standard deviations of what noise would make of equal planes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile.front.arguments import unmasked
from ...display import shapes
from ...errors import ArgumentError
from ...model.input_checks import count as whole_number
from ...model.input_checks import floats, positive
from .cells import (
    Cells,
    cell_planes,
    components,
    flat_cells,
    flat_links,
    gaps,
    group_sums,
    likely_squares,
    neighbours,
    plane_of_sums,
    smooth_links,
)  # fmt: skip

__all__ = ["Patches", "planar_patches"]

_CLEAR = 4.0  # standard deviations, as in `cells`
_FAR = 1e100  # [m]: what is farther away is a hole, and squares of the rest do not overflow
_WORSE = 1.1  # of a plane through many points: the ratio of squares that small systematic errors may make


@dataclass(frozen=True, eq=False)
class Patches:
    """Surfaces of a point image: `labels` (rows, columns), and k rows for the surfaces with labels 1 ... k.

    - `classes` (k,): "P" planar, "C" curved, or "U" undefined. Planar ones come first, and larger ones before smaller.
    - `planes` (k, 4): (n, d) of n·x = d, with the unit normal n towards the viewpoint and d [m]; NaN if not planar.
    - `covariances` (k, 4, 4) of these numbers, from the noise of points alone; NaN if not planar.
    - `centers` (k, 3) [m], `counts` (k,) of points, and `rms` (k,) [m] distances of points from the best plane.

    Label 0 has holes and single points. `sigma` [m] is the median noise of points, given or found.
    """

    labels: np.ndarray
    classes: tuple[str, ...]
    planes: np.ndarray
    covariances: np.ndarray
    centers: np.ndarray
    counts: np.ndarray
    rms: np.ndarray
    sigma: float

    def __repr__(self) -> str:
        numbers = ", ".join(f"{self.classes.count(name)} {name}" for name in "PCU")
        return f"<Patches: {numbers}; {shapes(labels=self.labels)}>"


def planar_patches(
    points, *, sigma=None, cell: int = 8, viewpoint=(0.0, 0.0, 0.0), crease: float = 0.6, smallest: int = 4
) -> Patches:
    """The `Patches` of a point image (rows, columns, 3) [m]: its planar, curved and undefined surfaces.

        >>> v, u = np.mgrid[:64, :64] / 64
        >>> z = 2 + np.where(u < 0.5, 0.2 * u, 0.4 - 0.6 * u) + 1e-4 * np.random.default_rng(0).normal(size=u.shape)
        >>> found = planar_patches(np.stack([u, v, z], axis=-1), sigma=1e-4)
        >>> found.classes, (found.planes[0, :3] / found.planes[0, 2]).round(2)
        (('P', 'P'), array([-0.2, ...,  1. ]))

    - `points` are where the pixels of a range image meet surfaces, as `depth_points` gives them; NaN or infinity is a
      hole.
    - `sigma` [m] is the standard deviation of a point along the normal of its surface: a number, or one for each pixel
      (rows, columns). By default, it is that of the median cell.
    - `cell` is the side of cells in pixels; larger ones see smaller differences, and miss smaller faces.
    - `viewpoint` (3,) [m] is where the sensor is: normals point to it.
    - `crease` [rad] is the angle between neighbouring cells from which on a surface does not go on smoothly.
    - `smallest` is the number of cells that a surface needs at least.

    A group of cells that agree with their neighbours is planar if all of its points fit one plane within the noise,
    else curved. Points of cells across an edge then join the planes that they fit. Faces of one plane that an object in
    front divides stay two surfaces.
    """
    image, noise, viewpoint = _checked(points, sigma, viewpoint)
    cell = whole_number(cell, "planar_patches: cell")
    if not 3 <= cell <= 1000:
        raise ArgumentError(f"planar_patches: cell is {cell}; a plane needs cells of 3 to 1000 pixels")
    crease = positive(crease, "planar_patches: crease")
    smallest = max(1, whole_number(smallest, "planar_patches: smallest"))
    cells = cell_planes(image, noise, cell, viewpoint, crease)
    planar, curved = _surfaces(cells, crease, smallest)
    if noise is None:
        noise = _spread_out(cells.sigma, image.shape, cell)
    noise = np.broadcast_to(noise, image.shape[:2])
    valid = np.isfinite(image).all(axis=-1)
    labels = _pixels(image, valid, noise, planar, curved, cell, viewpoint)
    labels = _joined(image, noise, labels, cell, viewpoint)
    return _patches(image, valid, labels, curved, noise, cell, smallest, viewpoint)


def _checked(points, sigma, viewpoint):
    try:
        image = np.asarray(unmasked(points))
    except (TypeError, ValueError):
        image = np.asarray(None)
    if image.ndim != 3 or image.shape[-1] != 3 or not image.size or image.dtype.kind not in "uif":
        hint = "; vision.depth_points(camera, depth) makes one of a depth image" if image.ndim == 2 else ""
        raise ArgumentError(
            f"planar_patches: points must be a point image (rows, columns, 3), got shape {image.shape}{hint}"
        )
    viewpoint = floats(viewpoint)
    if viewpoint.shape != (3,) or not np.isfinite(viewpoint).all():
        raise ArgumentError("planar_patches: viewpoint must be a point (3,)")
    if sigma is not None:
        sigma = floats(sigma)
        # Holes may have any noise.
        if sigma.shape not in ((), image.shape[:2]) or not (sigma[np.isfinite(sigma)] > 0).all() or not sigma.size:
            raise ArgumentError("planar_patches: sigma must be positive [m], one number or one for each pixel")
        if sigma.ndim == 0 and not np.isfinite(sigma):
            raise ArgumentError("planar_patches: sigma must be finite")
    return np.where(np.abs(image) < _FAR, image, np.nan).astype(float, copy=False), sigma, viewpoint


def _spread_out(values: np.ndarray, shape, cell: int) -> np.ndarray:
    """Values (R, C) of cells as an image."""
    return np.repeat(np.repeat(values, cell, axis=0), cell, axis=1)[: shape[0], : shape[1]]


def _surfaces(cells: Cells, crease: float, smallest: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (R, C), from 1 on, of planar and of curved groups of cells."""
    links = smooth_links(cells, crease)
    flat = flat_cells(cells, links)
    number, group = components(flat, flat_links(cells, flat, links))
    good = np.bincount(group.ravel(), minlength=number + 1) >= smallest
    sums = group_sums(cells, group, number)
    planar = _renumbered(group, good & (sums.squares <= _WORSE * likely_squares(sums.count)))
    for _ in range(2):  # a cell beside an edge looks bent, until the plane of its group is known
        planar = _absorbed(cells, planar)
    planar = _renumbered(planar, ~_go_on_bent(cells, planar, links))
    number, group = components(cells.sane & (planar == 0), links)
    return planar, _renumbered(group, np.bincount(group.ravel(), minlength=number + 1) >= smallest)


def _absorbed(cells: Cells, planar: np.ndarray) -> np.ndarray:
    """Planar groups after sane cells beside them whose points all fit have joined them."""
    sums = group_sums(cells, planar, int(planar.max(initial=0)))
    found, padded, (R, C) = planar.copy(), np.pad(planar, 1), planar.shape
    for i, j in ((-1, 0), (0, -1), (0, 1), (1, 0)):
        beside = padded[1 + i : 1 + i + R, 1 + j : 1 + j + C]
        at = np.nonzero(cells.sane & (found == 0) & (beside > 0))
        n = sums.normal[beside[at]]
        own = (np.einsum("mij,mi->mj", cells.axes[at], n) ** 2 * cells.spread[at]).sum(axis=-1)
        away = np.einsum("mi,mi->m", n, cells.center[at] - sums.center[beside[at]])
        squares = cells.count[at] * (own + away**2) / cells.sigma[at] ** 2
        found[at] = np.where(squares <= likely_squares(cells.count[at]), beside[at], 0)
    return found


def _go_on_bent(cells: Cells, planar: np.ndarray, links: list[np.ndarray]) -> np.ndarray:
    """Whether most cells of each group (number + 1,) go on smoothly into cells that are not planar.

    On a surface that is curved a little, noise makes some small groups look planar.
    """
    bent = cells.sane & (planar == 0)
    beside = np.zeros(planar.shape, bool)
    for (a, b), link in zip(neighbours(), links, strict=True):
        beside[a] |= link & bent[b]
        beside[b] |= link & bent[a]
    size = np.bincount(planar.ravel())
    return np.bincount(planar.ravel(), beside.ravel(), len(size)) > 0.5 * size


def _renumbered(group: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The groups that are kept, numbered from 1 on; 0 for the rest."""
    kept = kept & (np.arange(len(kept)) > 0)
    return np.where(kept, np.cumsum(kept), 0)[group]


def _plane_rows(image, labels, viewpoint):
    """Count, center, normal, variances and axes of the points of labels 1 ... k, from sums over pixels."""
    number = int(labels.max(initial=0))
    inside = labels > 0
    which, points = labels[inside], image[inside]
    count = np.maximum(np.bincount(which, minlength=number + 1), 1)
    center = np.stack([np.bincount(which, points[:, k], number + 1) for k in range(3)], axis=-1) / count[:, None]
    away = points - center[which]
    scatter = np.empty((number + 1, 3, 3))
    for i in range(3):
        for j in range(i + 1):
            scatter[:, i, j] = scatter[:, j, i] = np.bincount(which, away[:, i] * away[:, j], number + 1)
    return (count, center, *plane_of_sums(count, center, scatter, viewpoint))


def _pixels(image, valid, noise, planar: np.ndarray, curved: np.ndarray, cell: int, viewpoint) -> np.ndarray:
    """The planar label of each pixel: that of its cell or of one beside it, on whose plane it is, nearest first."""
    labels = np.where(valid, _spread_out(planar, image.shape, cell), 0)
    if not planar.any():
        return labels
    _, center, normal, _, _ = _plane_rows(image, labels, viewpoint)
    offset = np.einsum("ki,ki->k", normal, center)
    padded = np.pad(planar, 1)
    R, C = planar.shape
    around = [(0, 0), *((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))]
    open_to = valid & (_spread_out(curved, image.shape, cell) == 0)
    best = np.where(valid, _CLEAR * noise, -1.0)  # how near the nearest plane is, so far
    found = np.zeros(image.shape[:2], int)
    for i, j in around:
        beside = padded[1 + i : 1 + i + R, 1 + j : 1 + j + C]
        use = _spread_out(beside if (i, j) == (0, 0) else np.where(beside != planar, beside, 0), image.shape, cell) > 0
        rows, columns = np.nonzero(use & open_to)
        if not len(rows):
            continue
        which = beside[rows // cell, columns // cell]
        distance = np.abs(np.einsum("ni,ni->n", normal[which], image[rows, columns]) - offset[which])
        # A point of a planar cell keeps its label if it fits at all.
        settled = (found[rows, columns] > 0) & (planar[rows // cell, columns // cell] > 0)
        nearer = (distance <= best[rows, columns]) & ~settled
        found[rows[nearer], columns[nearer]] = which[nearer]
        best[rows[nearer], columns[nearer]] = distance[nearer]
    return found


def _joined(image, noise, labels, cell: int, viewpoint) -> np.ndarray:
    """The labels after planar neighbours that are one plane have become one surface."""
    number = int(labels.max(initial=0))
    if number < 2:
        return labels
    count, center, normal, spread, axes = _plane_rows(image, labels, viewpoint)
    sigma2 = np.bincount(labels.ravel(), (noise**2).ravel(), number + 1) / count
    rows = Cells(count, center, normal, spread, axes, np.sqrt(sigma2), np.ones(number + 1, bool))
    pairs = _touching(labels, cell)
    one, other = (pairs[:, 0],), (pairs[:, 1],)
    (up, s_up), (down, s_down) = gaps(rows, one, other), gaps(rows, other, one)
    tilt = sum(rows.sigma[k] ** 2 / np.maximum(count[k] * spread[k][..., 1], 1e-300) for k in (one, other))
    turn = np.linalg.norm(normal[one] - normal[other], axis=-1)
    same = (np.abs(up) <= _CLEAR * s_up) & (np.abs(down) <= _CLEAR * s_down) & (turn <= _CLEAR * np.sqrt(2 * tilt))
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(same.sum(), bool), tuple(pairs[same].T)), shape=(number + 1, number + 1))
    _, group = connected_components(joined, directed=False)
    _, group = np.unique(group, return_inverse=True)
    first = group[0]  # label 0 is alone in its group
    group = np.where(group == first, 0, group + (group < first))
    return group[labels]


def _touching(labels: np.ndarray, reach: int) -> np.ndarray:
    """Pairs (m, 2) of labels whose pixels are at most so many rows or columns apart, with nothing but holes between."""
    pairs = set()
    for image in (labels, labels.T):
        rows, columns = np.nonzero(image)
        values = image[rows, columns]
        next_to = (rows[1:] == rows[:-1]) & (columns[1:] - columns[:-1] <= reach) & (values[1:] != values[:-1])
        both = np.sort(np.stack([values[1:][next_to], values[:-1][next_to]], axis=1), axis=1)
        pairs |= set(map(tuple, np.unique(both, axis=0).tolist()))
    return np.array(sorted(pairs), int).reshape(-1, 2)


def _patches(image, valid, labels, curved, noise, cell: int, smallest: int, viewpoint) -> Patches:
    """The result: planar surfaces, then curved ones, then what is left, each in the order of size."""
    from scipy.ndimage import label

    free = valid & (labels == 0)
    bent = np.where(free, _spread_out(curved, image.shape, cell), 0)
    rest = np.asarray(label(free & (bent == 0))[0])  # type: ignore[index]
    sizes = np.bincount(rest.ravel())
    rest = _renumbered(rest, sizes >= smallest * cell * cell)
    classes, whole, number = [], np.zeros(labels.shape, np.int32), 0
    for name, part in (("P", labels), ("C", bent), ("U", rest)):
        sizes = np.bincount(part.ravel())
        sizes[0] = 0
        order = np.argsort(-sizes, kind="stable")
        order = order[sizes[order] > 0]
        place = np.zeros(len(sizes), np.int32)
        place[order] = number + 1 + np.arange(len(order))
        whole += np.where(part > 0, place[part], 0).astype(np.int32)
        classes += [name] * len(order)
        number += len(order)
    count, center, normal, spread, axes = (x[1:] for x in _plane_rows(image, whole, viewpoint))
    squares = np.where(whole > 0, noise, 0.0) ** 2
    sigma2 = np.bincount(whole.ravel(), squares.ravel(), number + 1)[1:] / count
    planes = np.column_stack([normal, np.einsum("ki,ki->k", normal, center)])
    covariances = _covariances(count, center, spread, axes, sigma2)
    is_plane = np.array([name == "P" for name in classes], bool)
    planes[~is_plane], covariances[~is_plane] = np.nan, np.nan
    typical = float(np.median(noise[valid])) if valid.any() else float("nan")
    return Patches(whole, tuple(classes), planes, covariances, center, count, np.sqrt(spread[:, 0]), typical)


def _covariances(count, center, spread, axes, sigma2) -> np.ndarray:
    """(k, 4, 4) of (n, d): two tilts about the center with variances σ² / (N λ), and a shift with σ² / N."""
    J = np.zeros((len(count), 4, 3))
    J[:, :3, :2] = axes[:, :, 1:]
    J[:, 3, :2] = np.einsum("kij,ki->kj", axes[:, :, 1:], center)
    J[:, 3, 2] = 1
    variance = np.column_stack([1 / np.maximum(spread[:, 1:], np.finfo(float).tiny), np.ones(len(count))])
    variance *= (sigma2 / count)[:, None]
    return np.einsum("kij,kj,klj->kil", J, variance, J)


def __dir__() -> list[str]:
    return __all__
