"""Rough poses of objects that lie on a plane: every model is tried at many places and angles at once.

A hypothesis is good if its edges are near to edges of the image, and if the image shows no background where the object
should be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel
from ...lie import se3, so3
from ..cameras import Camera, on_plane
from .image_edges import EdgeMap, coarseness
from .object_models import Edges, ObjectModel, Rest

__all__ = ["Hypothesis", "Region", "hypotheses", "on_plane_pose", "places_on_plane", "spread_poses"]

_STEP = 5.0  # [pixel] between places that are tried, and of the farthest point of an object between angles
_NEAR = 8.0  # [pixel] edges farther away do not count
_INWARD = 2.0  # [pixel] from a contour to where the object must be seen
_LEAST_INSIDE = 0.6  # the part of a contour beside which the object is seen
_LEAST_SHOWN = 0.6  # the part of a contour that is in the image
_LEAST_SCORE, _BELOW_BEST = 0.3, 0.3  # worse hypotheses are not kept
_MOST_EDGES = 250  # of a model that are looked at
_ONCE = 150_000  # edges whose samples are kept in memory at a time
_MOST = 5  # hypotheses of a model that are kept for each object of its size that fits into a region
_SAMPLES = 4
_PLACES = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
_AROUND = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)


class Region(NamedTuple):
    """Connected pixels of the foreground: where they are, and how many."""

    mask: np.ndarray  # (rows, columns) truth values
    box: tuple[int, int, int, int]  # first column, first row, columns, rows
    area: int


class Hypothesis(NamedTuple):
    """A model at a rough pose, and how well its edges agree with the image, from 0 to 1."""

    name: str
    T_world_object: np.ndarray
    score: float


class _Seen(NamedTuple):
    pixels: Any
    inward: Any
    contour: Any
    inner: Any
    length: Any


@kernel(ends=(2, 3), faces=(2, 3), T_camera_object=(4, 4), matrix=(3, 3))
def _rough_edges(ends, faces, T_camera_object, matrix) -> _Seen:
    """Samples of an edge as `outlines.seen_edges` has them, without slopes and without distortion."""
    R, p = T_camera_object[:3, :3], T_camera_object[:3, 3]
    towards = -(R.T @ p) - ends[0]
    front = [np.where(n @ towards > 0, 1.0, 0.0) for n in faces]
    a, b = R @ ends[0] + p, R @ ends[1] + p
    back = R @ (front[0] * faces[1] + front[1] * faces[0])
    (ua, va), (ub, vb) = (_pixel(x, matrix) for x in (a, b))
    du, dv = ub - ua, vb - va
    length = np.sqrt(du * du + dv * dv + 1e-12)
    nu, nv = -dv / length, du / length
    ue, ve = _pixel(a + 1e-4 * a[2] * back, matrix)  # a little beyond the object
    side = np.where((ue - ua) * nu + (ve - va) * nv > 0, -1.0, 1.0)
    pixels = np.stack([np.stack([ua + s * du, va + s * dv]) for s in _PLACES])
    inward = pixels + _INWARD * side * np.stack([nu, nv])
    return _Seen(pixels, inward, np.abs(front[0] - front[1]), front[0] * front[1], length)


def _pixel(x, K):
    over = 1 / np.maximum(x[2], 1e-6)
    return K[0, 0] * x[0] * over + K[0, 1] * x[1] * over + K[0, 2], K[1, 1] * x[1] * over + K[1, 2]


def on_plane_pose(T_world_plane: np.ndarray, rest: Rest, x, y, angle) -> np.ndarray:
    """The poses T_world_object (..., 4, 4) of an object that lies at (x, y) [m] and is turned by an angle [rad]."""
    x, y, angle = np.broadcast_arrays(x, y, angle)
    p = np.stack([x, y, np.zeros_like(x)], axis=-1)
    return T_world_plane @ se3.from_rotation_translation(so3.rotation_z(angle), p) @ rest.T_plane_object


def hypotheses(
    camera: Camera, edges: EdgeMap, region: Region, name: str, model: ObjectModel, T_world_plane: np.ndarray
) -> list[Hypothesis]:
    """The best poses of a model in a region by its edges, the best first; the camera has no distortion."""
    found: list[Hypothesis] = []
    for rest in model.rests:
        places = places_on_plane(camera, region, model, rest, T_world_plane)
        if not len(places):
            continue

        def scored(poses, rest=rest):
            return _scores(camera, edges, region, model, on_plane_pose(T_world_plane, rest, *poses.T))

        poses, scores = spread_poses(camera, region, model, rest, T_world_plane, places, scored)
        T = on_plane_pose(T_world_plane, rest, *poses.T)
        found += [Hypothesis(name, pose, float(x)) for pose, x in zip(T, scores, strict=True)]
    return sorted(found, key=lambda h: -h.score)


def places_on_plane(camera: Camera, region: Region, model: ObjectModel, rest: Rest, plane: np.ndarray) -> np.ndarray:
    """Points (k, 2) [m] of the plane above which the centre of an object may be, seen in the region."""
    left, top, width, height = region.box
    apart = min(_STEP * coarseness(camera.size), max(1.0, min(width, height) / 4))
    u, v = np.meshgrid(np.arange(left, left + width, apart), np.arange(top, top + height, apart))
    pixels = np.stack([u.ravel(), v.ravel()], axis=1)
    if model.is_convex:
        rounded = np.rint(pixels).astype(int)
        pixels = pixels[region.mask[rounded[:, 1], rounded[:, 0]]]
    raised = plane.copy()
    middle = rest.T_plane_object[:3] @ np.append(model.center, 1.0)
    raised[:3, 3] += plane[:3, 2] * middle[2]
    points = on_plane(camera, pixels, raised)
    points = points[np.isfinite(points).all(axis=1)]
    return ((points - plane[:3, 3]) @ plane[:3, :2]) - middle[:2]


def spread_poses(
    camera: Camera, region: Region, model: ObjectModel, rest: Rest, plane: np.ndarray, places: np.ndarray,
    scored: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The best poses (k, 3), x, y [m] and angle [rad], at the `places` (n, 2) and near to them, and their scores (k,).

    `scored` gives the scores of poses (m, 3). The best of a coarse grid are tried again at half its spacing, and only
    then those that are alike are left out.
    """
    x, y = places.mean(axis=0)
    middle = on_plane_pose(plane, rest, x, y, 0.0) @ np.append(model.center, 1.0)
    pixels = camera.matrix[0, 0] / float((camera.T_camera_world @ middle)[2])  # of a metre there
    turn = 2 * np.pi / rest.symmetry
    step = _STEP * coarseness(camera.size)
    turns = max(1, int(np.ceil(turn * model.size / 2 * pixels / step)))
    tried = np.column_stack([np.repeat(places, turns, axis=0), np.tile(turn * np.arange(turns) / turns, len(places))])
    spacing = np.array([step / pixels, step / pixels, turn / turns])
    covered = _footprint(model, rest) * pixels**2
    most = _MOST * max(1, round(region.area / max(covered, 1.0)))
    around = tried[_apart(tried, scored(tried), 0.7 * spacing, turn, 4 * most)]
    finer = (around[:, None] + _AROUND * spacing / 2).reshape(-1, 3)
    if not len(finer):
        return finer, np.empty(0)
    score = scored(finer)
    kept = _apart(finer, score, 1.5 * spacing, turn, most)
    return finer[kept], score[kept]


def _apart(tried: np.ndarray, score: np.ndarray, spacing: np.ndarray, turn: float, most: int) -> list[int]:
    """The numbers of the best of `tried` (n, 3), x, y and angle; no two are nearer than the spacing (3,)."""
    order = np.argsort(-score, kind="stable")  # else equal ones would differ from machine to machine
    order = order[score[order] > max(_LEAST_SCORE, score[order[0]] - _BELOW_BEST)]
    kept: list[int] = []
    for k in order:
        off = tried[kept] - tried[k]
        off[:, 2] = (off[:, 2] + turn / 2) % turn - turn / 2
        if not (np.abs(off) < spacing).all(axis=1).any():
            kept.append(int(k))
            if len(kept) == most:
                break
    return kept


def _footprint(model: ObjectModel, rest: Rest) -> float:
    """The area [m²] of the convex hull of the object, seen from above."""
    from scipy.spatial import ConvexHull

    laid = model.vertices @ rest.T_plane_object[:3, :3].T
    return float(ConvexHull(laid[:, :2]).volume)


def _scores(camera: Camera, edges: EdgeMap, region: Region, model: ObjectModel, T: np.ndarray) -> np.ndarray:
    """The agreement (n,) of poses T (n, 4, 4): 1 if all edges are on edges of the image, 0 if none is."""
    found = np.empty(len(T))
    e = _few(model.edges)
    once = max(1, _ONCE // len(e.ends))
    seen_from, far = camera.T_camera_world @ T, _NEAR * coarseness(camera.size)
    for start in range(0, len(T), once):
        part = slice(start, start + once)
        seen = _rough_edges(e.ends, e.normals, seen_from[part, None], camera.matrix)
        shown, distance, inside = _looked_up(edges, region, seen)
        seen_length = (seen.length / _SAMPLES)[..., None] * shown
        weight = seen_length * ((seen.contour > 0) | ((seen.inner > 0) & e.crease))[..., None]
        outer = seen_length * seen.contour[..., None]
        near = (weight * (1 - np.minimum(distance, far) / far)).sum(axis=(1, 2)) / _some(weight.sum(axis=(1, 2)))
        inside = (outer * inside).sum(axis=(1, 2)) / _some(outer.sum(axis=(1, 2)))
        whole = outer.sum(axis=(1, 2)) > _LEAST_SHOWN * (seen.length * seen.contour).sum(axis=1)
        found[part] = np.where(whole & (inside > _LEAST_INSIDE), near * inside, 0.0)
    return found


def _few(edges: Edges) -> Edges:
    """Every k-th edge of a fine mesh: enough of them for rough poses."""
    step = -(-len(edges.ends) // _MOST_EDGES)
    return Edges(*(x[::step] for x in edges))


def _some(total: np.ndarray) -> np.ndarray:
    return np.maximum(total, 1e-9)


def _looked_up(edges: EdgeMap, region: Region, seen: _Seen) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all samples: are they in the image, how far are edges, and is the region beside them?"""
    rows, columns = region.mask.shape
    u, v = np.rint(seen.pixels[..., 0]), np.rint(seen.pixels[..., 1])
    shown = (u >= 0) & (u < columns) & (v >= 0) & (v < rows)
    return shown, _nearest(edges.distance, u, v), _nearest(region.mask, seen.inward[..., 0], seen.inward[..., 1])


def _nearest(image: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The values of an image at the nearest pixels of (u, v)."""
    rows, columns = image.shape
    return image[np.clip(np.rint(v), 0, rows - 1).astype(np.intp), np.clip(np.rint(u), 0, columns - 1).astype(np.intp)]
