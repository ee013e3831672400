"""`locate`: from an image to named objects with poses, on a known plane or from depth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import ArgumentError
from ...lie import se3
from ...sensing.scene import Solid
from ..cameras import Camera, project, undistort_image
from ..cameras.camera import need_camera
from .arguments import as_models, check_view, given_mask, image_levels, motion_of, score_of
from .candidates import (
    Candidate,
    LocatedObject,
    as_located,
    distance,
    explaining,
    is_known,
    laid_vertices,
    regions,
    silhouette,
)  # fmt: skip
from .foreground import foreground
from .from_depth import locate_in_depth
from .hypotheses import Region, hypotheses
from .image_edges import EdgeMap, edge_map
from .object_models import ObjectModel
from .refinement import plane_directions, refined

__all__ = ["locate"]

_LEAST_FOUND = 0.4  # the part of the edges that the image must show
_BELOW_BEST = 0.3  # hypotheses whose score is so much less than the best are not refined


def locate(
    image, camera: Camera, models: Mapping[str, ObjectModel | Solid], *, T_world_plane=None, depth=None,
    background=None, mask=None, least_score: float = 0.6,
) -> tuple[LocatedObject, ...]:  # fmt: skip
    """Find objects in an image: their names, poses in the world, and covariances.

        >>> from adjoint import sensing, vision
        >>> camera = vision.Camera.pinhole((320, 240), 0.6).at(vision.looking_at([0.2, -0.3, 0.5], [0, 0, 0]))
        >>> brick = sensing.Box([0.1, 0.06, 0.03], colour=0.9)
        >>> scene = sensing.Scene([sensing.Plane(colour=0.1), brick.at([0.02, 0.01, 0.015])])
        >>> image = sensing.intensity_image(scene, camera, sensing.DiffuseLight(), samples=3)
        >>> [thing.name for thing in locate(image, camera, {"brick": brick})]
        ['brick']

    - `image` (rows, columns) or (rows, columns, 3) is one of `camera`, of 8 or 16 bits, or of floats from 0 to 1.
    - `models` {name: model} are made by `block_model`, `cylinder_model`, `prism_model` and `mesh_model`, or are solids
      of `adjoint.sensing`: a `Box`, a `Cylinder` or a `Mesh`, wherever it stands.
    - Objects lie on the plane z = 0 of the frame `T_world_plane` (4, 4); by default this is the world's own. Each way
      to lie without falling over is tried, so an object may also stand on its end.
    - `depth` (rows, columns) [m] along the optical axis, if there is a depth camera: then poses of objects on the plane
      are found from points in space, in all six directions, and the image may be None.
    - `background` is an image of the empty table. Without it, the background must be smooth.
    - `mask` (rows, columns) tells where objects are, from a segmentation of your own.
    - Objects with a lower score than `least_score` are left out.

    The image is compared with the background; in each connected region every model is tried at many places and angles;
    the best are refined by `refine_model_pose`; and those are kept, the best first, that explain parts of the region
    which no other object explains, without standing inside of one another. So objects may touch, and hide parts of each
    other. If models have a colour, it decides between those of the same shape. Poses of symmetric objects are one of
    several that look the same. Objects are sorted from left to right.

    Reference: Fu, Gonzalez & Lee (1987), §8.6, has the idea of projecting models with the camera and comparing.
    """
    caller = "locate"
    known, least = as_models(models, caller), score_of(least_score, caller)
    plane = np.eye(4) if T_world_plane is None else motion_of(T_world_plane, "T_world_plane", caller)
    if image is None and depth is None:
        raise ArgumentError(f"{caller}: give an image, or depth= from a depth camera, or both")
    need_camera(camera, caller)
    check_view(camera, known, plane, caller)
    if depth is not None:
        return locate_in_depth(image, depth, camera, known, plane, mask, least)
    levels = image_levels(image, camera, caller)
    empty, given = _empty_table(background, camera, levels, caller), given_mask(mask, camera.size, caller)
    straight, flat = _without_distortion(camera, levels)
    flat_empty = None if empty is None else _without_distortion(camera, empty)[1]
    if given is None:
        flat_given, there = None, foreground(flat, flat_empty, caller)
    else:
        flat_given = there = _without_distortion(camera, given[..., None].astype(np.float32))[1][..., 0] > 0.5
    edges = rough = edge_map(flat, caller, flat_empty, flat_given)
    if straight is not camera:
        edges = edge_map(levels, caller, empty, given)
    found: list[LocatedObject] = []
    for region in regions(there, caller):
        candidates = _candidates(straight, rough, camera, edges, region, known, plane)
        found += [as_located(c) for c in explaining(candidates, region, least, levels, known)]
    return tuple(sorted(found, key=lambda thing: float(project(camera, thing.T_world_object[:3, 3])[0])))


def _without_distortion(camera: Camera, levels: np.ndarray) -> tuple[Camera, np.ndarray]:
    """A camera without distortion, and the image that it would show."""
    if not camera.distorts:
        return camera, levels
    flat = undistort_image(camera, levels if levels.shape[2] == 3 else levels[..., 0])
    return camera.replace(distortion=()), flat.reshape(levels.shape)


def _empty_table(background, camera: Camera, levels: np.ndarray, caller: str) -> np.ndarray | None:
    """The image of the empty table, of the shape of the image."""
    if background is None:
        return None
    found = image_levels(background, camera, caller, "background")
    if found.shape != levels.shape:
        raise ArgumentError(f"{caller}: background has shape {found.shape}; the image's is {levels.shape}")
    return found


def _candidates(
    straight: Camera, rough: EdgeMap, camera: Camera, edges: EdgeMap, region: Region, models: dict, plane: np.ndarray
) -> list[Candidate]:
    """Refined poses of all models in a region, the best first."""
    found: list[Candidate] = []
    tried = [h for name, model in models.items() for h in hypotheses(straight, rough, region, name, model, plane)]
    best = max((h.score for h in tried), default=0.0)
    for h in (h for h in tried if h.score > best - _BELOW_BEST):
        model = models[h.name]
        directions = plane_directions(se3.inverse(plane) @ h.T_world_object)
        fit = refined(edges, camera, model, h.T_world_object, directions, "locate")
        if fit is None or fit.pose.found < _LEAST_FOUND or is_known(found, h.name, model, fit.pose.T_world_object):
            continue
        T, covariance, rms, share = fit.pose
        shown = silhouette(straight, model, T, "locate")
        if not shown.any():
            continue
        covered = np.count_nonzero(shown & region.mask) / np.count_nonzero(shown)
        feet, away = laid_vertices(plane, model, T), distance(camera, model, T)
        found.append(Candidate(h.name, T, covariance, share, covered, rms, shown, feet, away, fit.evidence))
    return sorted(found, key=lambda c: -c.quality)
