"""Planes in the cells of a point image, all at once, and how cells go on into their neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Cells", "cell_planes", "gaps", "on_grid", "plane_of_sums", "scatter_sums"]

_CLEAR = 4.0  # standard deviations from which on a difference is no noise
_ROUGH = 1e-4  # the part of all flat cells that noise makes look rough


class Cells(NamedTuple):
    """Planes of cells (R, C): point `count`, `center` (R, C, 3), `normal`, `spread` and `axes` of the points.

    `spread` (R, C, 3) are variances along the `axes` (R, C, 3, 3), whose columns are the normal first, and then the two
    directions in the plane. `sigma` (R, C) is the noise of a point along the normal. `sane` cells have points enough on
    a plane.
    """

    count: np.ndarray
    center: np.ndarray
    normal: np.ndarray
    spread: np.ndarray
    axes: np.ndarray
    sigma: np.ndarray
    sane: np.ndarray


def on_grid(image: np.ndarray, cell: int, fill) -> np.ndarray:
    """The image (rows, columns, ...) as cells (R, C, cell², ...); what is missing at the border is filled."""
    rows, columns = image.shape[:2]
    R, C = -(-rows // cell), -(-columns // cell)
    if (R * cell, C * cell) != (rows, columns):
        whole = np.full((R * cell, C * cell, *image.shape[2:]), fill, image.dtype)
        whole[:rows, :columns] = image
        image = whole
    image = image.reshape(R, cell, C, cell, *image.shape[2:]).swapaxes(1, 2)
    return image.reshape(R, C, cell * cell, *image.shape[4:])


def scatter_sums(points: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The number, mean (..., 3) and scatter Σ (p - mean)(p - mean)ᵀ (..., 3, 3) of the valid points of (..., k, 3)."""
    count = valid.sum(axis=-1)
    inside = np.where(valid[..., None], points, 0.0)
    center = inside.sum(axis=-2) / np.maximum(count, 1)[..., None]
    away = np.where(valid[..., None], inside - center[..., None, :], 0.0)
    return count, center, away.mT @ away


def plane_of_sums(count, center, scatter, viewpoint: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The normal (..., 3) towards the viewpoint, variances (..., 3) and axes (..., 3, 3) of sums of points."""
    spread, axes = np.linalg.eigh(scatter / np.maximum(count, 1)[..., None, None])
    toward = np.einsum("...i,...i->...", axes[..., 0], viewpoint - center) < 0
    axes[..., 0] *= np.where(toward, -1.0, 1.0)[..., None]
    return axes[..., 0], np.maximum(spread, 0.0), axes


def cell_planes(points: np.ndarray, sigma, cell: int, viewpoint: np.ndarray, crease: float) -> Cells:
    """The planes of all cells of a point image; if `sigma` is None, the median cell says what the noise is.

    Cells that are curved more than noise explains are sane if they turn less than a crease from side to side.
    """
    grid = on_grid(points, cell, np.nan)
    valid = np.asarray(np.isfinite(grid).all(axis=-1))
    count, center, scatter = scatter_sums(grid, valid)
    normal, spread, axes = plane_of_sums(count, center, scatter, viewpoint)
    full = count >= max(6, cell * cell // 2)
    residual = spread[..., 0] * count  # the sum of squared distances from the plane
    if sigma is None:
        rms = np.sqrt(residual[full] / (count[full] - 3))
        noise = np.full(count.shape, max(float(np.median(rms)) if rms.size else 0.0, np.finfo(float).tiny))
    else:
        squares = np.broadcast_to(np.asarray(sigma, float) ** 2, points.shape[:2])
        inside = np.where(valid, on_grid(np.ascontiguousarray(squares), cell, 0.0), 0.0)
        noise = np.sqrt(inside.sum(axis=-1) / np.maximum(count, 1))
    # Rounding of coordinates far from the origin counts as noise, too.
    noise = np.maximum(noise, 8 * np.finfo(float).eps * np.abs(center).max(axis=-1, initial=0.0))
    flat = residual <= noise**2 * likely_squares(count)
    wide = full & (spread[..., 1] > (3 * noise) ** 2)
    bent = np.nonzero(wide & ~flat)
    local = np.einsum("...ki,...ij->...kj", grid[bent] - center[bent][:, None], axes[bent])
    local = np.where(valid[bent][..., None], local, 0.0)
    squares, turn = _curved(local, valid[bent])
    flat[bent] = (squares <= noise[bent] ** 2 * likely_squares(count[bent] - 3)) & (turn < crease)
    return Cells(count, center, normal, spread, axes, noise, wide & flat)


def _curved(local: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best quadratic surfaces of points (m, k, 3), along and across a normal.

    The results are sums (m,) of squared distances, and the angles (m,) [rad] by which surfaces turn from side to side.
    """
    z, scale = local[..., 0], np.abs(local[..., 1:]).max(axis=(1, 2), initial=1e-300)
    x, y = np.moveaxis(local[..., 1:] / scale[:, None, None], -1, 0)
    A = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1) * valid[..., None]
    b = np.einsum("mki,mk->mi", A, z)
    solved = np.linalg.solve(A.mT @ A + 1e-12 * np.eye(6), b[..., None])[..., 0]
    squares = np.maximum((z * z).sum(axis=-1) - (b * solved).sum(axis=-1), 0.0)
    d, e, f = solved[:, 3:].T / scale
    return squares, 4 * np.arctan(np.abs(d + f) / 2 + np.sqrt((d - f) ** 2 / 4 + e * e / 4))


def gaps(cells: Cells, a: tuple, b: tuple) -> tuple[np.ndarray, np.ndarray]:
    """How far the centers of cells b are above the planes of cells a, and the standard deviation of that."""
    way = cells.center[b] - cells.center[a]
    local = np.einsum("...ij,...i->...j", cells.axes[a], way)  # along the normal, and in the plane
    reach = (local[..., 1:] ** 2 / np.maximum(cells.spread[a][..., 1:], 1e-100)).sum(axis=-1)
    variance = cells.sigma[a] ** 2 * (1 + reach) / np.maximum(cells.count[a], 1)
    variance = variance + cells.sigma[b] ** 2 / np.maximum(cells.count[b], 1)
    return local[..., 0], np.sqrt(variance)


def neighbours() -> list[tuple[tuple, tuple]]:
    """The two ways to the next cell: slices of all cells that have one to the right, or below, and of those ones."""
    whole = slice(None)
    return [
        ((whole, slice(None, -1)), (whole, slice(1, None))),
        ((slice(None, -1), whole), (slice(1, None), whole)),
    ]  # fmt: skip


def smooth_links(cells: Cells, crease: float) -> list[np.ndarray]:
    """Whether a cell goes on into the one to its right, and below: no step between them, and no crease.

    On a surface with curvature, each center is equally far behind the plane of the other; at a step, one is above and
    the other below.
    """
    links = []
    for a, b in neighbours():
        (up, s_up), (down, s_down) = gaps(cells, a, b), gaps(cells, b, a)
        step = np.abs(up - down) / 2 <= _CLEAR * np.hypot(s_up, s_down) / 2 + 0.25 * np.abs(up + down) / 2
        turn = np.einsum("...i,...i->...", cells.normal[a], cells.normal[b]) > np.cos(crease)
        links.append(cells.sane[a] & cells.sane[b] & step & turn)
    return links


def flat_cells(cells: Cells, links: list[np.ndarray]) -> np.ndarray:
    """Whether a cell shows no curvature: the mean of its neighbours on both sides is on its plane."""
    flat = cells.sane.copy()
    for (a, b), link in zip(neighbours(), links, strict=True):
        ahead, behind = np.zeros(flat.shape, bool), np.zeros(flat.shape, bool)
        ahead[a], behind[b] = link, link
        up, down = np.zeros(flat.shape), np.zeros(flat.shape)
        noise = cells.sigma**2 / np.maximum(cells.count, 1)
        s_up, s_down = np.zeros(flat.shape), np.zeros(flat.shape)
        (up[a], s_up[a]), (down[b], s_down[b]) = gaps(cells, a, b), gaps(cells, b, a)
        far, near = np.zeros(flat.shape), np.zeros(flat.shape)
        far[a], near[b] = noise[b], noise[a]
        both = np.abs(up + down) / 2 <= _CLEAR * np.sqrt(noise + (far + near) / 4)
        flat &= np.where(ahead & behind, both, True)
        flat &= np.where(ahead & ~behind, np.abs(up) <= _CLEAR * s_up, True)
        flat &= np.where(behind & ~ahead, np.abs(down) <= _CLEAR * s_down, True)
    return flat


def flat_links(cells: Cells, flat: np.ndarray, links: list[np.ndarray]) -> list[np.ndarray]:
    """Whether two flat cells lie in one plane, as far as noise lets one tell."""
    found = []
    for (a, b), link in zip(neighbours(), links, strict=True):
        (up, s_up), (down, s_down) = gaps(cells, a, b), gaps(cells, b, a)
        tilt = sum(cells.sigma[k] ** 2 / np.maximum(cells.count[k] * cells.spread[k][..., 1], 1e-300) for k in (a, b))
        turn = np.linalg.norm(cells.normal[a] - cells.normal[b], axis=-1)
        level = (np.abs(up) <= _CLEAR * s_up) & (np.abs(down) <= _CLEAR * s_down)
        found.append(link & flat[a] & flat[b] & level & (turn <= _CLEAR * np.sqrt(2 * tilt)))
    return found


class GroupSums(NamedTuple):
    """For groups 0 ... n of cells: `count` of points, `center`, `normal`, and `squares`: Σ (distance / noise)²."""

    count: np.ndarray
    center: np.ndarray
    normal: np.ndarray
    squares: np.ndarray


def group_sums(cells: Cells, group: np.ndarray, number: int) -> GroupSums:
    """The planes of groups (R, C) of cells, from the sums of the cells."""

    def total(values):
        columns = values.reshape(group.size, -1).T
        return np.stack([np.bincount(group.ravel(), column, number + 1) for column in columns], axis=-1)

    count = np.maximum(total(cells.count.astype(float))[:, 0], 1)
    center = total(cells.count[..., None] * cells.center) / count[:, None]
    away = cells.center - center[group]
    own = np.einsum("...ij,...j,...kj->...ik", cells.axes, cells.spread, cells.axes)
    scatter = cells.count[..., None, None] * (own + away[..., :, None] * away[..., None, :])
    weighted = total(scatter / np.maximum(cells.sigma, 1e-150)[..., None, None] ** 2).reshape(-1, 3, 3)
    squares, axes = np.linalg.eigh(weighted)
    return GroupSums(count, center, axes[..., 0], squares[:, 0])


def likely_squares(count: np.ndarray) -> np.ndarray:
    """The sum of (distance / noise)² of so many points of a plane that noise exceeds once in ten thousand times."""
    from scipy.stats import chi2

    return chi2.isf(_ROUGH, np.maximum(count - 3, 1))


def components(mask: np.ndarray, links: list[np.ndarray]) -> tuple[int, np.ndarray]:
    """The number of groups of linked cells, and the group of each cell of the mask, from 1 on; 0 elsewhere."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = np.arange(mask.size).reshape(mask.shape)
    pairs = [(number[a][link], number[b][link]) for (a, b), link in zip(neighbours(), links, strict=True)]
    one, other = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    graph = coo_array((np.ones(len(one), bool), (one, other)), shape=(mask.size, mask.size))
    _, group = connected_components(graph, directed=False)
    kept, group = np.unique(np.where(mask.ravel(), group + 1, 0), return_inverse=True)
    first = int(kept[0] != 0)
    return len(kept) - 1 + first, group.reshape(mask.shape) + first


def __dir__() -> list[str]:
    return __all__
