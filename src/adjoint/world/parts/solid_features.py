"""The features of solids of a scene, which are parts of a world without a density."""

from __future__ import annotations

from collections.abc import Mapping

from ...sensing.scene import Box, Cylinder, Plane, Solid, Sphere
from ..features import Feature, feature_frame
from .primitives import cuboid, cylinder, sphere

__all__ = ["solid_features"]


def solid_features(solid: Solid) -> Mapping[str, Feature]:
    """The features of a solid by name: those of the part of the same shape; a plane has the face "top"."""
    match solid:
        case Box():
            return cuboid(*solid.size, at=solid.T_world_solid).features
        case Cylinder():
            return cylinder(solid.radius, solid.length, at=solid.T_world_solid).features
        case Sphere():
            return sphere(solid.radius, at=solid.T_world_solid).features
        case Plane():
            T = solid.T_world_solid
            return {"top": Feature("top", "face", feature_frame(T[:3, 3], T[:3, 2]))}
    return {}
