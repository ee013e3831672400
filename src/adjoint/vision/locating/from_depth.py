"""`locate` with a depth camera: poses in all six directions, from points in space and the edges of what rises.

Every model is tried at many places and angles: points of its surface that face the camera must be where the depth image
has points. The best poses are refined by least squares over two kinds of errors: distances of measured points from the
surface (iterated closest points; Chen & Medioni, 1992, "Object modelling by registration of multiple range images"),
which do not show how a flat face slides along itself, and offsets of contours in the image, which do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...lie import se3
from ..cameras import Camera, depth_points, project
from .arguments import given_mask, image_levels
from .candidates import (
    Candidate,
    as_located,
    distance,
    explaining,
    is_known,
    laid_vertices,
    overlap,
    regions,
    silhouette,
)
from .hypotheses import Hypothesis, Region, on_plane_pose, places_on_plane, spread_poses
from .image_edges import EdgeMap, edge_map, offsets_along
from .object_models import ObjectModel
from .outlines import outline

__all__ = ["locate_in_depth"]

_CALLER = "locate"
_LEAST_SIGMA = 2e-4  # [m] depth cameras are not better
_SIGMAS = 4.0  # a point is off the surface, or above the plane, if it is this many standard deviations away
_COARSE = 4e-3  # [m] points this near to a rough pose agree with it
_SURFACE, _FEW = 3000, 60  # points of a surface for refining, and for trying poses
_ROUNDS, _STILL = 30, 1e-5  # rounds of refinement at most; [m] a step of a point that ends them
_GRAZING = 0.1  # surfaces whose normal has a smaller cosine to the line of sight are not looked at
_BELOW_BEST = 0.3  # poses that agree less than the best by this much are not refined
_SURE, _HERE = 0.9, 0.3  # the quality of a pose that is right, and the part of a footprint that it shares with others
_REACH = (8.0, 5.0, 3.0, 2.0)  # [pixel] how far contours are looked for in the first rounds; the last one then stays
_MOST_POINTS = 1500  # of a region that are used
_FARTHEST = 50.0  # [m] depth cameras see no farther
_FLOATING = 0.05  # of its size: the lowest point of an object that lies is not farther from the plane
_EDGE_SIGMA = 0.3  # [pixel] of contours in a depth image


class _Points(NamedTuple):
    """A depth image as points: their height above the plane, the noise, and what rises above it."""

    world: np.ndarray  # (rows, columns, 3), NaN where there is no depth
    depth: np.ndarray  # (rows, columns)
    height: np.ndarray
    sigma: float


class _Surface(NamedTuple):
    """Points (k, 3) of a surface and its outward normals there, evenly spread, and a search tree of them."""

    points: np.ndarray
    normals: np.ndarray
    tree: Any


def locate_in_depth(image, depth, camera: Camera, models: dict[str, ObjectModel], plane: np.ndarray, mask, least):
    """The objects of a depth image, as `locate` returns them."""
    if camera.distorts:
        raise ArgumentError("locate: depth images are needed without distortion; most depth cameras give them so")
    seen = _points(depth, camera, plane)
    known = seen.depth[np.isfinite(seen.depth)]
    if known.size and np.median(known) > _FARTHEST:
        raise ArgumentError(f"locate: half of the depths are beyond {np.median(known):.0f} m: are they in millimetres?")
    there = seen.height > max(_SIGMAS * seen.sigma, 1e-3)
    given = given_mask(mask, camera.size, _CALLER)
    if given is not None:
        there &= given
    if image is None:
        top = max(float(np.nanmax(seen.height, initial=0.0)), 1e-3)
        levels = np.nan_to_num(np.clip(seen.height / top, 0, 1)).astype(np.float32)[..., None]
    else:
        levels = image_levels(image, camera, _CALLER)
    edges = edge_map(levels, _CALLER)
    surfaces = {name: _surface(model, _SURFACE) for name, model in models.items()}
    found = []
    for region in regions(there, _CALLER):
        candidates = _candidates(camera, seen, edges, region, models, surfaces, plane)
        found += [as_located(c) for c in explaining(candidates, region, least, levels, models)]
    return tuple(sorted(found, key=lambda thing: float(project(camera, thing.T_world_object[:3, 3])[0])))


def _points(depth, camera: Camera, plane: np.ndarray) -> _Points:
    world = depth_points(camera, depth)
    height = (world - plane[:3, 3]) @ plane[:3, 2]
    near = np.abs(height[np.isfinite(height)])
    near = near[near < 0.01]  # [m] most of these points are on the plane
    sigma = max(1.4826 * float(np.median(near)) if near.size else 0.0, _LEAST_SIGMA)
    return _Points(world, np.asarray(depth, float), np.nan_to_num(height, nan=-np.inf), sigma)


def _surface(model: ObjectModel, count: int) -> _Surface:
    """Points that are spread evenly over the surface, and the same in every call."""
    from scipy.spatial import KDTree

    a, b, c = np.moveaxis(model.triangles, 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    rng = np.random.default_rng(0)
    face = rng.choice(len(areas), count, p=areas / areas.sum())
    u, v = rng.uniform(size=(2, count, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = a[face] + u * (b - a)[face] + v * (c - a)[face]
    return _Surface(points, model.normals[face], KDTree(points))


def _candidates(camera, seen, edges, region: Region, models, surfaces, plane) -> list[Candidate]:
    """Refined poses of all models in a region, the best first."""
    found: list[Candidate] = []
    tried = [x for name in models for x in _tried(camera, seen, region, name, models[name], surfaces[name], plane)]
    best = max((h.score for h in tried), default=0.0)
    for h in sorted((h for h in tried if h.score > best - _BELOW_BEST), key=lambda h: -h.score):
        model, surface = models[h.name], surfaces[h.name]
        if _is_settled(found, h.name, laid_vertices(plane, model, h.T_world_object)):
            continue
        fit = _refined(camera, seen, edges, region, model, surface, h.T_world_object)
        if fit is None or is_known(found, h.name, model, fit[0]):
            continue
        T, covariance, rms = fit
        if not _lies(model, T, plane, seen.sigma):
            continue
        share = float(_agreement(camera, seen, surface, T[None], _SIGMAS * seen.sigma)[0])
        shown = silhouette(camera, model, T, _CALLER)
        if shown.any():
            inside = np.count_nonzero(shown & region.mask) / np.count_nonzero(shown)
            feet, away = laid_vertices(plane, model, T), distance(camera, model, T)
            found.append(Candidate(h.name, T, covariance, share, inside, rms, shown, feet, away))
    return sorted(found, key=lambda c: -c.quality)


def _is_settled(found: list[Candidate], name: str, footprint: np.ndarray) -> bool:
    """Whether a candidate of this name was found here that fits so well that no other pose need be tried."""
    return any(c.name == name and c.quality > _SURE and overlap(footprint, c.footprint) > _HERE for c in found)


def _lies(model: ObjectModel, T: np.ndarray, plane: np.ndarray, sigma: float) -> bool:
    """Whether an object at T touches the plane: what floats between two others fits none of them."""
    heights = (model.vertices @ T[:3, :3].T + T[:3, 3] - plane[:3, 3]) @ plane[:3, 2]
    return bool(abs(heights.min()) < _FLOATING * model.size + _SIGMAS * sigma)


def _tried(camera, seen, region, name, model, surface, plane) -> list[Hypothesis]:
    """Rough poses of a model on the plane and their agreement with the points."""
    few = _Surface(surface.points[:_FEW], surface.normals[:_FEW], None)
    found = []
    for rest in model.rests:
        places = places_on_plane(camera, region, model, rest, plane)
        if not len(places):
            continue

        def scored(poses, rest=rest):
            return _agreement(camera, seen, few, on_plane_pose(plane, rest, *poses.T), _COARSE)

        poses, scores = spread_poses(camera, region, model, rest, plane, places, scored)
        T = on_plane_pose(plane, rest, *poses.T)
        found += [Hypothesis(name, pose, float(x)) for pose, x in zip(T, scores, strict=True)]
    return found


class _Expected(NamedTuple):
    u: Any
    v: Any
    depth: Any
    cosine: Any


@kernel(point=3, normal=3, T_camera_object=(4, 4), matrix=(3, 3))
def _expected(point, normal, T_camera_object, matrix) -> _Expected:
    """The pixel and the depth of a point of an object, and the cosine between its normal and the way to the camera."""
    R = T_camera_object[:3, :3]
    x = R @ point + T_camera_object[:3, 3]
    over = 1 / np.maximum(x[2], 1e-6)
    u = (matrix[0, 0] * x[0] + matrix[0, 1] * x[1]) * over + matrix[0, 2]
    v = matrix[1, 1] * x[1] * over + matrix[1, 2]
    return _Expected(u, v, x[2], -((R @ normal) @ x) / np.sqrt(x @ x))


def _agreement(camera: Camera, seen: _Points, surface: _Surface, T: np.ndarray, tolerance: float) -> np.ndarray:
    """The part (n,) of the surface, where it faces the camera at poses T (n, 4, 4), that the depth image confirms.

    Where something nearer is seen, it may be there or not, which counts as half a contradiction.
    """
    at = _expected(surface.points, surface.normals, (camera.T_camera_world @ T)[:, None], camera.matrix)
    rows, columns = seen.depth.shape
    u, v = np.rint(at.u), np.rint(at.v)
    inside = (u >= 0) & (u < columns) & (v >= 0) & (v < rows) & (at.cosine > _GRAZING)
    place = np.where(inside, v * columns + u, 0).astype(np.intp)
    off = np.where(inside, seen.depth.ravel()[place], np.nan) - at.depth
    # Seen at a slant, an error of half a pixel is an error of the depth.
    cosine = np.clip(at.cosine, _GRAZING, 1.0)
    slack = tolerance + 0.5 / camera.matrix[0, 0] * at.depth * np.sqrt(1 - cosine**2) / cosine
    with np.errstate(invalid="ignore"):  # no depth is neither
        agrees, hidden, missing = np.abs(off) <= slack, off < -slack, off > slack
    found, against = (cosine * agrees).sum(axis=1), (cosine * (missing + 0.5 * hidden)).sum(axis=1)
    return found / np.maximum(found + against, 1e-9)


def _refined(camera, seen, edges: EdgeMap, region, model, surface, T):
    """(pose, covariance, rms [m]) of a refined pose, or None."""
    points = seen.world[region.mask]
    points = points[np.isfinite(points).all(axis=1)][:: max(1, len(points) // _MOST_POINTS)]
    thinned = region.area / max(len(points), 1)
    A, rms = np.zeros((6, 6)), np.inf
    for k in range(_ROUNDS):
        local = (points - T[:3, 3]) @ T[:3, :3]
        reach = max(0.1 * model.size / (k + 1), _SIGMAS * seen.sigma + 1e-3)
        apart, nearest = surface.tree.query(local, distance_upper_bound=2 * reach + 0.05 * model.size)
        there = np.isfinite(apart)
        if there.sum() < 12:
            return None
        x, s, n = local[there], surface.points[nearest[there]], surface.normals[nearest[there]]
        r = np.sum(n * (x - s), axis=1)
        scale = max(3 * seen.sigma, reach / 3)
        w = np.maximum(0.0, 1 - (r / scale / 2) ** 2) ** 2 / seen.sigma**2
        J = np.concatenate([np.cross(s, n), n], axis=1)  # a twist (ω, v) of the object moves its surface along n
        A, b = J.T @ (w[:, None] * J), J.T @ (w * r)
        rms = float(np.sqrt(np.sum(w * r * r) / max(w.sum(), 1e-300)))
        Ae, be = _contours(camera, edges, model, T, _REACH[min(k, len(_REACH) - 1)])
        A, b = A + Ae, b + be
        step = np.linalg.lstsq(A, b, rcond=1e-10)[0]
        if not np.isfinite(step).all() or np.linalg.norm(step[3:]) > model.size:
            return None
        T = T @ se3.exp(step)
        if k >= len(_REACH) and np.linalg.norm(step[:3]) * model.size + np.linalg.norm(step[3:]) < _STILL:
            break
    if np.linalg.matrix_rank(A) < 6:
        return None
    # Neighbouring pixels share noise, and points that were left out count all the same: a correlation of 2 x 2 pixels.
    return se3.project(T), 4 / thinned * np.linalg.inv(A) if thinned > 1 else 4 * np.linalg.inv(A), rms


def _contours(camera, edges: EdgeMap, model, T, reach) -> tuple[np.ndarray, np.ndarray]:
    """The normal equations of the offsets of contours in the image."""
    samples = outline(camera, model, T)
    r = offsets_along(edges, samples.pixels, samples.normals, reach, _CALLER) if len(samples.pixels) else np.empty(0)
    there = np.isfinite(r) & samples.contour if len(r) else np.zeros(0, bool)
    if not there.any():
        return np.zeros((6, 6)), np.zeros(6)
    J, r, w = samples.slopes[there], r[there], samples.weight[there] / 4 / _EDGE_SIGMA**2
    w = w * np.maximum(0.0, 1 - (r / max(4.685 * 1.4826 * np.median(np.abs(r)), 1.0)) ** 2) ** 2
    return J.T @ (w[:, None] * J), J.T @ (w * r)
