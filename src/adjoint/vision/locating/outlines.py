"""Where the edges of a model should appear in an image: samples along each edge, their normals and slopes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel
from ...lie import se3
from ..cameras import Camera
from ..cameras.projection_slopes import pixel_slopes
from .object_models import ObjectModel

__all__ = ["SAMPLES", "Outline", "Samples", "outline", "seen_edges"]

SAMPLES = 8  # points along each edge
_PLACES = (np.arange(SAMPLES) + 0.5) / SAMPLES


class Outline(NamedTuple):
    """Samples along one edge in the image.

    An edge is a *contour* if one of its faces is turned to the camera and the other away: behind it the background
    begins. It is *inner* if both faces are seen. Otherwise it is hidden.
    """

    pixels: Any  # (m, 2) the samples (u, v); NaN if one is behind the lens
    normals: Any  # (m, 2) unit normals of the edge in the image, away from the object if the edge is a contour
    slopes: Any  # (m, 6) motion of the samples along the normals, by a twist of the object in its own frame [pixel]
    contour: Any  # 1 or 0
    inner: Any  # 1 or 0
    length: Any  # of the edge in the image [pixel]


@kernel(ends=(2, 3), faces=(2, 3), T_world_object=(4, 4), T_world_camera=(4, 4), matrix=(3, 3), distortion=8)
def seen_edges(ends, faces, T_world_object, T_world_camera, matrix, distortion) -> Outline:
    """The `Outline` of an edge with `ends` (2, 3), between faces with outward normals `faces` (2, 3), of an object."""
    T = se3.compose(se3.inverse(T_world_camera), T_world_object)  # the object, seen from the camera
    R, I = T[:3, :3], np.eye(4)
    towards = -(R.T @ T[:3, 3]) - ends[0]  # from the edge to the camera, in the object's frame
    front = [np.where(n @ towards > 0, 1.0, 0.0) for n in faces]
    contour, inner = np.abs(front[0] - front[1]), front[0] * front[1]
    along, away = R @ (ends[1] - ends[0]), R @ (front[0] * faces[1] + front[1] * faces[0])
    pixels, normals, slopes = [], [], []
    for s in _PLACES:
        x = ends[0] + s * (ends[1] - ends[0])
        seen = pixel_slopes(R @ x + T[:3, 3], I, matrix, distortion)
        d = seen.point @ along
        n = np.stack([-d[1], d[0]]) / np.sqrt(d @ d + 1e-300)
        n = n * np.where(n @ (seen.point @ away) < 0, -1.0, 1.0)
        w = (n @ seen.point) @ R  # in the object's frame: a twist (ω, v) moves x by ω × x + v
        pixels.append(seen.pixels)
        normals.append(n)
        slopes.append(np.concatenate([np.cross(x, w), w]))
    span = pixels[-1] - pixels[0]
    length = np.sqrt(span @ span) * SAMPLES / (SAMPLES - 1)
    return Outline(np.stack(pixels), np.stack(normals), np.stack(slopes), contour, inner, length)


class Samples(NamedTuple):
    """Samples (k, ...) of the visible edges of an object; a sample stands for `weight` pixels of an edge."""

    pixels: np.ndarray
    normals: np.ndarray
    slopes: np.ndarray
    contour: np.ndarray
    weight: np.ndarray


def outline(camera: Camera, model: ObjectModel, T_world_object: np.ndarray) -> Samples:
    """The `Samples` of all contours and visible creases of a model at a pose (4, 4).

    Edges that another part of the same object hides are not left out.
    """
    edges = model.edges
    found = seen_edges(
        edges.ends, edges.normals, T_world_object, camera.T_world_camera, camera.matrix, camera.distortion
    )
    kept = (found.contour > 0) | ((found.inner > 0) & edges.crease)
    kept &= np.isfinite(found.pixels).all(axis=(-2, -1)) & (found.length > 0)
    pixels, normals, slopes = (x[kept].reshape(-1, x.shape[2]) for x in (found.pixels, found.normals, found.slopes))
    contour, weight = np.repeat(found.contour[kept] > 0, SAMPLES), np.repeat(found.length[kept] / SAMPLES, SAMPLES)
    return Samples(pixels, normals, slopes, contour, weight)
