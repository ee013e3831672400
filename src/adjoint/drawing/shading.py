"""Light on triangles: normals that are smooth but for sharp edges, and pictures that show the nearest triangles."""

from __future__ import annotations

import numpy as np

from .triangles import Mesh

__all__ = ["corner_normals", "cut", "lit", "rendered"]

_SHARP = np.radians(35.0)  # the angle between neighbours from which their common edge is seen
_LIGHT = np.array([-0.35, 0.45, 0.82])  # where the light is: right, up, towards the viewer
_AT_ONCE = 2_000_000  # pixels of triangles


def corner_normals(mesh: Mesh) -> np.ndarray:
    """The normal at each corner (m, 3, 3) of a mesh: that of its triangle and of those at the same vertex that are not
    turned from it by 35° or more, weighted by their areas."""
    a, b, c = mesh.vertices.astype(float)[mesh.faces].transpose(1, 0, 2)
    area = np.cross(b - a, c - a)
    unit = area / np.maximum(np.linalg.norm(area, axis=-1, keepdims=True), 1e-300)
    vertex = mesh.faces.ravel()
    order = np.argsort(vertex, kind="stable")  # corners of one vertex are next to each other
    face = order // 3
    count = np.bincount(vertex)
    size = count[vertex[order]]
    first = np.repeat(np.cumsum(count) - count, count)
    here = np.repeat(np.arange(len(order)), size)  # each corner, once for every corner at its vertex
    there = first[here] + np.arange(len(here)) - np.repeat(np.cumsum(size) - size, size)
    near = np.sum(unit[face[here]] * unit[face[there]], axis=-1) > np.cos(_SHARP)
    here, there = here[near], there[near]
    total = [np.bincount(here, area[face[there], k], len(order)) for k in range(3)]
    normals = np.empty((len(order), 3))
    normals[order] = np.stack(total, axis=-1)
    flat = ~normals.any(axis=-1)
    normals[flat] = np.repeat(unit, 3, axis=0)[flat]
    return (normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-300)).reshape(-1, 3, 3)


def lit(normals: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """The colors (..., 3) of surfaces with these normals that a viewer along z sees: diffuse, with a little shine."""
    light = _LIGHT / np.linalg.norm(_LIGHT)
    facing = np.clip(normals @ light, 0, 1)[..., None]
    half = light + np.array([0.0, 0.0, 1.0])
    shine = np.clip(normals @ (half / np.linalg.norm(half)), 0, 1)[..., None] ** 40
    rim = (1 - np.clip(normals[..., 2:], 0, 1)) ** 3  # what is seen at an angle is darker: shapes stand out
    return np.clip(colors * (0.52 + 0.55 * facing) * (1 - 0.25 * rim) + 0.16 * shine, 0, 1)


def cut(longest: float, x: np.ndarray, *more: np.ndarray) -> list[np.ndarray]:
    """Triangles x (m, 3, 3), cut in two at the longest edge until none is longer; `more` are further numbers of each:
    (m, 3, k) of its corners, or (m, k)."""
    done, rest = [], [x, *more]
    while len(rest[0]):
        x = rest[0]
        edges = np.linalg.norm(np.roll(x, -1, axis=1) - x, axis=-1)
        long = edges.max(axis=1) > longest
        done.append([y[~long] for y in rest])
        turn = (np.argmax(edges[long], axis=1)[:, None] + np.arange(3)) % 3
        rest = [_halves(y[long], turn) for y in rest]
    return [np.concatenate(parts) for parts in zip(*done, strict=True)] if done else rest


def _halves(y: np.ndarray, turn: np.ndarray) -> np.ndarray:
    if y.ndim < 3:
        return np.concatenate([y, y])
    a, b, c = np.take_along_axis(y, turn[..., None], axis=1).transpose(1, 0, 2)  # the longest edge is from a to b
    middle = (a + b) / 2
    return np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])


def rendered(x: np.ndarray, normals: np.ndarray, colors: np.ndarray, side: int) -> np.ndarray:
    """The picture (side, side, 4) of triangles: red, green, blue and opacity, from 0 to 1; the first row is the top.

    Corners x (m, 3, 3) are in pixels from the bottom left, with z towards the viewer; normals (m, 3, 3) have its axes.
    """
    fine = 2 * side  # two samples of a pixel in each direction
    x = 2.0 * x
    owner = _nearest(x, fine)
    seen = np.flatnonzero(owner >= 0)
    k = owner[seen]
    weights = _weights(x[k], np.stack([seen % fine, seen // fine], axis=-1) + 0.5)
    n = np.einsum("pc,pcd->pd", weights, normals[k])
    n /= np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-300)
    n *= np.where(n[:, 2:] < 0, -1.0, 1.0)  # surfaces are seen from both sides
    image = np.zeros((fine * fine, 4))
    image[seen, :3], image[seen, 3] = lit(n, colors[k]), 1.0
    blocks = image.reshape(side, 2, side, 2, 4).mean(axis=(1, 3))
    blocks[..., :3] /= np.maximum(blocks[..., 3:], 1e-9)
    return np.clip(blocks[::-1], 0, 1)


def _nearest(x: np.ndarray, fine: int) -> np.ndarray:
    """The number of the nearest triangle in each pixel (fine²,), -1 if there is none; row by row of each triangle."""
    depth, owner = np.full(fine * fine, -np.inf), np.full(fine * fine, -1)
    triangle, row = _expanded(*_between(x[..., 1].min(axis=1), x[..., 1].max(axis=1), fine))
    y = row + 0.5
    start, count = _between(*_span(x, triangle, y), fine)
    slope = _slope(x)[triangle]
    level = x[triangle, 0, 2] - slope[:, 0] * x[triangle, 0, 0] + slope[:, 1] * (y - x[triangle, 0, 1])  # z at x = 0
    for part in np.array_split(np.arange(len(row)), max(1, int(count.sum()) // _AT_ONCE)):
        line, column = _expanded(start[part], count[part])
        line = part[line]
        pixel = row[line] * fine + column
        z = level[line] + slope[line, 0] * (column + 0.5)
        np.maximum.at(depth, pixel, z)
        first = z >= depth[pixel]
        owner[pixel[first]] = triangle[line[first]]
    return owner


def _between(low: np.ndarray, high: np.ndarray, fine: int) -> tuple[np.ndarray, np.ndarray]:
    """The first pixel whose middle is between two numbers, and how many there are, in a row of `fine`."""
    first = np.clip(np.ceil(np.clip(low, -1, fine + 1) - 0.5), 0, fine).astype(int)
    last = np.clip(np.floor(np.clip(high, -1, fine + 1) - 0.5), -1, fine - 1).astype(int)
    return first, np.maximum(last - first + 1, 0)


def _expanded(start: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For all k, and numbers start[k], start[k] + 1 and so on, count[k] of them: k, and the number."""
    k = np.repeat(np.arange(len(count)), count)
    return k, start[k] + np.arange(len(k)) - np.repeat(np.cumsum(count) - count, count)


def _span(x: np.ndarray, triangle: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From where to where triangles reach at heights y: inside, a x + b y + c is positive for each of the edges."""
    turn = np.sign(_crossed(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]))
    left, right = np.full(len(y), -np.inf), np.where(turn[triangle] == 0, -np.inf, np.inf)
    for k in range(3):
        p, q = x[:, k], x[:, (k + 1) % 3]
        a, b = turn * (p[:, 1] - q[:, 1]), turn * (q[:, 0] - p[:, 0])
        c = -(a * p[:, 0] + b * p[:, 1])
        a, rest = a[triangle], b[triangle] * y + c[triangle]
        with np.errstate(divide="ignore", invalid="ignore"):
            at = -rest / a
        left = np.where(a > 0, np.maximum(left, at), left)
        right = np.where(a < 0, np.minimum(right, at), np.where((a == 0) & (rest < 0), -np.inf, right))
    return left, right


def _slope(x: np.ndarray) -> np.ndarray:
    """How z grows along x and along y (m, 2) on triangles."""
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    area = _crossed(u, v)
    safe = np.where(area == 0, 1.0, area)
    along_x, along_y = u[:, 2] * v[:, 1] - v[:, 2] * u[:, 1], v[:, 2] * u[:, 0] - u[:, 2] * v[:, 0]
    return np.stack([along_x, along_y], axis=-1) / safe[:, None]


def _weights(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The weights (..., 3) of the corners of triangles x (..., 3, 3) that give the points `at` (..., 2) in the picture;
    of triangles without area, those of the first corner."""
    a, b, c = x[..., 0, :2], x[..., 1, :2], x[..., 2, :2]
    area = _crossed(b - a, c - a)
    safe = np.where(area == 0, 1.0, area)
    u, v = _crossed(b - at, c - at) / safe, _crossed(c - at, a - at) / safe
    return np.where((area == 0)[..., None], [1.0, 0.0, 0.0], np.stack([u, v, 1 - u - v], axis=-1))


def _crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
