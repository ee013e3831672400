"""How bright surfaces are: points with normals and colours under lights, as a camera at `eye` sees them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel
from .casting import occluded, solid_table, surface_normal, turned
from .lights import (
    BackLight,
    DiffuseLight,
    DirectionalLight,
    LightSheet,
    StructuredLight,
    lambert,
    pattern_light,
    sheet_light,
    sky_share,
)
from .scenes import ROW_SIZE, Scene
from .solids import Textured

__all__ = ["GRAY_WEIGHTS", "Spots", "radiance", "spots_of"]

GRAY_WEIGHTS = np.array([0.299, 0.587, 0.114])  # of red, green and blue in a gray level, as in OpenCV (ITU-R BT.601)


class Spots(NamedTuple):
    """Points of surfaces (n, 3) in the world, and what is there: normals towards the eye, solids, colours."""

    point: np.ndarray
    normal: np.ndarray
    to_eye: np.ndarray
    front: np.ndarray  # (n,) cosines of the angles of incidence, below 0 for surfaces that are seen from behind
    solid: np.ndarray


class _Spot(NamedTuple):
    point: np.ndarray
    normal: np.ndarray
    to_eye: np.ndarray
    front: np.ndarray


@kernel(table=(..., ROW_SIZE), R=(3, 3), eye=3)
def _spot(table, x, y, depth, R, eye, solid) -> _Spot:
    """What the pixel (x, y, 1) of a camera with the axes R at `eye` shows of a solid at a depth."""
    way = R @ np.stack([x, y, 1.0])
    point, to_eye = eye + depth * way, -way / np.sqrt(way @ way)
    normal = surface_normal(table, point, solid)
    front = normal @ to_eye
    return _Spot(point, np.where(front < 0, -normal, normal), to_eye, front)


def spots_of(scene: Scene, T, x, y, depth, solid, triangle) -> Spots:
    """The `Spots` that pixels (n,) of a camera at T (4, 4) show at these depths, on solids and triangles of meshes."""
    seen = _spot(solid_table(scene), x, y, depth, T[:3, :3], T[:3, 3], solid.astype(float))
    point, normal, to_eye, front = map(np.asarray, seen)
    for k, mesh in scene.meshes:
        own = np.flatnonzero(solid == k)
        n = turned(mesh.T_world_solid[:3, :3], mesh.triangles.normals[triangle[own]])
        front[own] = np.einsum("ni,ni->n", n, to_eye[own])
        normal[own] = np.where(front[own] < 0, -1.0, 1.0)[:, None] * n
    return Spots(point, normal, to_eye, front, solid)


def _colours(scene: Scene, spots: Spots, gray: bool) -> np.ndarray:
    """Gray levels (n,) or colours (n, 3) of spots."""
    colours = np.array([solid.colour for solid in scene]).reshape(-1, 3)
    found = (colours @ GRAY_WEIGHTS if gray else colours)[spots.solid]
    for k, patch in enumerate(scene):
        if isinstance(patch, Textured):
            own = np.flatnonzero((spots.solid == k) & (spots.front > 0))
            image = patch.image
            if gray:
                image = image if image.ndim == 2 else image @ GRAY_WEIGHTS
            texels = image[_texels(patch, spots.point[own])]
            found[own] = texels if texels.ndim == found.ndim else texels[:, None]
    return found


def _texels(patch: Textured, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the pixels of its image that cover points (n, 3) of a rectangle."""
    T, (width, height), (rows, columns) = patch.T_world_solid, patch.size, patch.image.shape[:2]
    x, y, _ = turned(T[:3, :3].T, point - T[:3, 3]).T
    column = np.clip(np.floor((x / width + 0.5) * columns), 0, columns - 1)
    row = np.clip(np.floor((0.5 - y / height) * rows), 0, rows - 1)
    return row.astype(np.intp), column.astype(np.intp)


def radiance(scene: Scene, spots: Spots, lights, ambient: float, *, gray: bool) -> np.ndarray:
    """The light (n,) or (n, 3) that comes from spots to the eye: Σ colour · scattered + specular · mirrored."""
    looks = np.array([(solid.specular, solid.shininess) for solid in scene]).reshape(-1, 2)
    scattered, mirrored = np.full(len(spots.point), ambient), np.zeros(len(spots.point))
    shining = np.zeros(len(scene))
    for light in lights:
        if isinstance(light, BackLight):
            if light.panel:
                shining[scene.index(light.panel)] += light.intensity
            continue
        if isinstance(light, DiffuseLight):
            scattered += light.intensity * sky_share(spots.normal, light.up)
            continue
        lit, to_light, far = _lit(light, spots, looks[spots.solid, 1])
        reached = np.flatnonzero(lit.diffuse > 0)
        if light.shadows and len(reached):
            place = spots.point[reached], spots.normal[reached]
            hidden = occluded(scene, *place, to_light[reached], far[reached] if far is not None else np.inf)
            reached = reached[~hidden]
        scattered[reached] += light.intensity * lit.diffuse[reached]
        mirrored[reached] += light.intensity * lit.mirrored[reached]
    glow = shining[spots.solid]
    if looks[:, 0].any():
        glow += looks[spots.solid, 0] * mirrored
    colour = _colours(scene, spots, gray)
    return colour * scattered + glow if gray else colour * scattered[:, None] + glow[:, None]


def _lit(light, spots: Spots, shininess: np.ndarray):
    """What spots get of a light if nothing is in between, unit vectors to its source (n, 3), and its distance."""
    seen = spots.point, spots.normal, spots.to_eye, shininess
    if isinstance(light, DirectionalLight):
        to_light = np.broadcast_to(-light.direction, spots.point.shape)
        return lambert(spots.normal, -light.direction, spots.to_eye, shininess), to_light, None
    T = light.T_world_light
    if isinstance(light, LightSheet):
        lit = sheet_light(T, light.thickness, *seen)
    else:
        assert isinstance(light, StructuredLight)
        lit = pattern_light(light.pattern, T, light.period, light.width, light.field, *seen)
    away = T[:3, 3] - spots.point
    far = np.linalg.norm(away, axis=1)
    return lit, away / np.maximum(far, 1e-300)[:, None], far
