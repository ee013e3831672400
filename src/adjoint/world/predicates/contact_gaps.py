"""Gaps between parts of a world: the signed distances of their solids, and which way the contact looks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...collision.solid_distances import solid_distance
from ...errors import ArgumentError, nearest
from ...sensing.scene import Solid
from ..state.part_contents import solids_of
from ..state.worlds import World

__all__ = ["Gap", "gaps", "need_part", "placed_solids", "up_of"]


class Gap(NamedTuple):
    """A signed distance [m], the unit normal (3,) from the second part to the first, and the middle (3,) of the gap."""

    distance: float
    normal: np.ndarray
    point: np.ndarray


def need_part(world: World, name, caller: str) -> str:
    """The name, if the world has a part of it."""
    if not isinstance(world, World):
        raise ArgumentError(f"{caller}: the first argument must be a World, got {type(world).__name__}")
    if not isinstance(name, str) or name not in world.parts:
        known = nearest(name, list(world.parts)) if world.parts else "there is none"
        raise ArgumentError(f"{caller}: the world has no part {name!r:.60}; {known}")
    return name


def up_of(world: World) -> np.ndarray:
    """The unit vector (3,) against gravity; z if there is no gravity."""
    size = float(np.linalg.norm(world.gravity))
    return -world.gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def placed_solids(world: World, part: str) -> list[Solid]:
    """The solids of a part where they are in the world."""
    T = world.pose(part)
    return [solid.at(T @ solid.T_world_solid) for solid in solids_of(world.parts[part])]


def _box(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    """The box of a solid along the axes of the world; a half-space has an infinite one."""
    if solid.bounds is None:
        return np.full(3, -np.inf), np.full(3, np.inf)
    low, high = solid.bounds
    T = solid.T_world_solid
    middle = T[:3, :3] @ (low + high) / 2 + T[:3, 3]
    half = np.abs(T[:3, :3]) @ (high - low) / 2
    return middle - half, middle + half


def gaps(first: list[Solid], second: list[Solid], reach: float) -> list[Gap]:
    """All gaps of at most `reach` [m] between two lists of solids, the smallest first."""
    found = []
    boxes = [_box(solid) for solid in second]
    for a in first:
        low, high = _box(a)
        for b, (b_low, b_high) in zip(second, boxes, strict=True):
            if (low - b_high > reach).any() or (b_low - high > reach).any():
                continue
            pair = solid_distance(b, a)
            if pair.distance <= reach:
                middle = (pair.point_a + pair.point_b) / 2
                found.append(Gap(float(pair.distance), np.asarray(pair.normal), np.asarray(middle)))
    return sorted(found, key=lambda gap: gap.distance)


def __dir__() -> list[str]:
    return __all__
