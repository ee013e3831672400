"""Tactile pads in a scene: an elastic skin on a rigid back is pressed by solids, and each taxel feels how deep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from .casting import Hits, cast_rays, need_scene, turned
from .scene_checks import lengths, number, poses
from .scenes import Scene
from .solids import Textured

__all__ = ["TactileImprint", "tactile_imprint"]


class TactileImprint(NamedTuple):
    """What a pad (rows, columns) of taxels feels: see `tactile_imprint`."""

    penetration: np.ndarray
    """(..., rows, columns) how deep solids press into the skin [m]"""
    force: np.ndarray
    """(..., rows, columns) on each taxel along -z [N]"""
    wrench: np.ndarray
    """(..., 6) of all forces on the pad, (moment, force) in its frame [N m, N]"""
    positions: np.ndarray
    """(rows, columns, 2) of the taxels in the pad's frame [m]"""


def tactile_imprint(
    scene: Scene, T_world_pad, *, size=(0.02, 0.02), taxels=(16, 16), thickness: float = 0.005, stiffness: float = 1e8
) -> TactileImprint:
    """What a tactile pad at `T_world_pad` (..., 4, 4) feels: how deep solids are in its skin, and their forces.

        >>> from adjoint.sensing import Scene, Sphere
        >>> ball = Sphere(0.01, T_world_solid=[0, 0, 0.009])  # 1 mm deep in the skin
        >>> float(tactile_imprint(Scene([ball]), np.eye(4), taxels=(15, 15)).penetration.max().round(12))
        0.001

    The skin fills -`thickness` [m] ≤ z ≤ 0 of the pad's frame; z points away from its rigid back. `size` (2,) [m] is
    that of the pad along x and y, and `taxels` (rows, columns) is their number: rows along y and columns along x, from
    the least to the largest. A ray from the back along z through the middle of each taxel finds the solid; meshes are
    closed. The skin is a bed of springs (Winkler): its pressure is `stiffness` [N/m³] times the depth, which is at most
    `thickness`. A force pushes its taxel along -z. `tactile_currents` scans such arrays electrically.
    """
    who = "tactile_imprint"
    need_scene(scene, who)
    T = poses(T_world_pad, "T_world_pad", who)
    width, height = lengths(size, (2,), "size", who)
    thickness = number(thickness, "thickness", who, least=0, above=True)
    stiffness = number(stiffness, "stiffness", who, least=0)
    try:
        rows, columns = (count(n, f"{who}: taxels") for n in taxels)
    except (TypeError, ValueError):
        rows = columns = 0
    if not rows or not columns:
        raise ArgumentError(f"{who}: taxels must be (rows, columns), whole numbers above 0, got {taxels!r:.60}")
    x = ((np.arange(columns) + 0.5) / columns - 0.5) * width
    y = ((np.arange(rows) + 0.5) / rows - 0.5) * height
    places = np.stack(np.broadcast_arrays(x, y[:, None], -thickness), axis=-1)
    o = turned(T[..., None, None, :3, :3], places) + T[..., None, None, :3, 3]
    z = T[..., None, None, :3, 2]
    hits = cast_rays(scene, o, z)
    buried = _leaves(scene, hits, z) | _leaves(scene, cast_rays(scene, o, -z), -z)
    depth = np.where(buried, thickness, np.maximum(thickness - np.nan_to_num(hits.distance, posinf=np.inf), 0.0))
    force = depth * (stiffness * (width / columns) * (height / rows))
    total = force.sum(axis=(-2, -1))
    moments = -(force * y[:, None]).sum(axis=(-2, -1)), (force * x).sum(axis=(-2, -1)), 0 * total
    wrench = np.stack([*moments, 0 * total, 0 * total, -total], axis=-1)
    return TactileImprint(depth, force, wrench, places[..., :2])


def _leaves(scene: Scene, hits: Hits, direction: np.ndarray) -> np.ndarray:
    """Whether rays leave a solid where they first meet one: then they began in it. Thin rectangles have no inside."""
    thin = np.array([isinstance(solid, Textured) for solid in scene] + [False])
    return (np.sum(hits.normal * direction, axis=-1) > 0) & ~thin[hits.solid]
