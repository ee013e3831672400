"""How bright surfaces are: points with normals and colours under lights, as a camera at `eye` sees them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .casting import occluded, solid_table, surface_normal
from .lights import (
    BackLight,
    DiffuseLight,
    DirectionalLight,
    LightSheet,
    StructuredLight,
    lambert,
    pattern_light,
    sheet_light,
)
from .scenes import Scene
from .solids import Textured

__all__ = ["GRAY_WEIGHTS", "Spots", "radiance", "spots_of"]

GRAY_WEIGHTS = np.array([0.299, 0.587, 0.114])  # of red, green and blue in a gray level, as in OpenCV (ITU-R BT.601)


class Spots(NamedTuple):
    """Points of surfaces (n, 3) in the world, and what is there: normals towards the eye, solids, colours (n, 3)."""

    point: np.ndarray
    normal: np.ndarray
    to_eye: np.ndarray
    solid: np.ndarray
    colour: np.ndarray
    specular: np.ndarray
    shininess: np.ndarray


def spots_of(scene: Scene, eye: np.ndarray, point: np.ndarray, solid: np.ndarray, triangle: np.ndarray | None) -> Spots:
    """The `Spots` at points (n, 3) that lie on these solids (n,) and triangles of meshes (n,), seen from `eye` (3,)."""
    to_eye = eye - point
    to_eye /= np.linalg.norm(to_eye, axis=1, keepdims=True)
    normal = surface_normal(solid_table(scene), point, solid.astype(float))
    for k, mesh in scene.meshes:
        own = np.flatnonzero(solid == k)
        assert triangle is not None
        normal[own] = mesh.triangles.normals[triangle[own]] @ mesh.T_world_solid[:3, :3].T
    front = np.sum(normal * to_eye, axis=1)
    colour = np.array([s.colour for s in scene]).reshape(-1, 3)[solid]
    for k, patch in enumerate(scene):
        if isinstance(patch, Textured):
            own = np.flatnonzero((solid == k) & (front > 0))
            colour[own] = _texels(patch, point[own])
    normal[front < 0] *= -1  # surfaces that are seen from behind
    looks = np.array([(s.specular, s.shininess) for s in scene])[solid]
    return Spots(point, normal, to_eye, solid, colour, looks[:, 0], looks[:, 1])


def _texels(patch: Textured, point: np.ndarray) -> np.ndarray:
    """Colours (n, 3) of points of a rectangle with an image."""
    T, (width, height) = patch.T_world_solid, patch.size
    local = (point - T[:3, 3]) @ T[:3, :2]
    rows, columns = patch.image.shape[:2]
    column = np.clip(np.floor((local[:, 0] / width + 0.5) * columns), 0, columns - 1).astype(int)
    row = np.clip(np.floor((0.5 - local[:, 1] / height) * rows), 0, rows - 1).astype(int)
    found = patch.image[row, column]
    return found if found.ndim == 2 else found[:, None]


def radiance(scene: Scene, spots: Spots, lights, ambient: float, *, gray: bool) -> np.ndarray:
    """The light (n,) or (n, 3) that comes from spots to the eye: Σ colour · scattered + specular · mirrored."""
    colour = spots.colour @ GRAY_WEIGHTS if gray else spots.colour
    scattered, mirrored = np.full(len(spots.point), ambient), np.zeros(len(spots.point))
    shining = np.zeros(len(spots.point))
    for light in lights:
        if isinstance(light, BackLight):
            if light.panel:
                shining[spots.solid == scene.index(light.panel)] += light.intensity
            continue
        if isinstance(light, DiffuseLight):
            scattered += light.intensity * (1 + spots.normal @ light.up) / 2
            continue
        lit, to_light, far = _lit(light, spots)
        reached = np.flatnonzero(lit.diffuse > 0)
        if light.shadows and len(reached):
            place = spots.point[reached], spots.normal[reached]
            hidden = occluded(scene, *place, to_light[reached], far[reached] if far is not None else np.inf)
            reached = reached[~hidden]
        scattered[reached] += light.intensity * lit.diffuse[reached]
        mirrored[reached] += light.intensity * lit.mirrored[reached]
    glow = spots.specular * mirrored + shining
    return colour * scattered + glow if gray else colour * scattered[:, None] + glow[:, None]


def _lit(light, spots: Spots):
    """What spots get of a light if nothing is in between, unit vectors to its source (n, 3), and its distance."""
    seen = spots.point, spots.normal, spots.to_eye, spots.shininess
    if isinstance(light, DirectionalLight):
        to_light = np.broadcast_to(-light.direction, spots.point.shape)
        return lambert(spots.normal, to_light, spots.to_eye, spots.shininess), to_light, None
    T = light.T_world_light
    if isinstance(light, LightSheet):
        lit = sheet_light(T, light.thickness, *seen)
    else:
        assert isinstance(light, StructuredLight)
        lit = pattern_light(light.pattern, T, light.period, light.width, light.field, *seen)
    away = T[:3, 3] - spots.point
    far = np.linalg.norm(away, axis=1)
    return lit, away / np.maximum(far, 1e-300)[:, None], far
