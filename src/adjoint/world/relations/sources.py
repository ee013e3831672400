"""Where relations find parts: in a world, or in a plain mapping from names to features. Names become sides of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ...errors import ArgumentError, MissingPackageError, nearest
from ...sensing.scene import Mesh, Solid
from ...sensing.scene.scene_checks import pose
from ..features import Feature
from ..parts import Part, part_solids
from ..parts.solid_features import solid_features
from .relation_makers import Relation

__all__ = ["Side", "Source", "source_of"]

WORLD = "world"
_FEW = 48  # corners; a hull with more of them is replaced by its box, which holds it


class Side(NamedTuple):
    """One side of a relation: the name of its part (`WORLD` for what is fixed) and its feature.

    `feature` is None if the side is a whole part, whose frame then counts.
    """

    part: str
    feature: Feature | None
    label: str

    @property
    def frame(self) -> np.ndarray:
        """The frame (4, 4) of the side in its part."""
        return np.eye(4) if self.feature is None else self.feature.T_part_feature


class Source:
    """Names of parts with their features, poses and corners."""

    def __init__(self, given: Any, caller: str):
        self.caller = caller
        if hasattr(given, "parts") and hasattr(given, "pose"):
            self.parts: dict[str, Any] = dict(given.parts)
            self._pose = given.pose
            return
        if not isinstance(given, Mapping):
            what = "a World or {part: features}"
            raise ArgumentError(f"{caller}: the first argument must be {what}, got {type(given).__name__}")
        poses: dict[str, np.ndarray] = {}
        self.parts = {}
        for name, value in given.items():
            if isinstance(value, tuple) and len(value) == 2 and not isinstance(value[0], Feature):
                poses[name], value = pose(value[0], f"T_world_part of '{name}'", caller), value[1]
            self.parts[name] = value
        self._pose = lambda name: poses.get(name, np.eye(4))

    def pose(self, part: str) -> np.ndarray:
        """T_world_part (4, 4) as it is now; the identity for a part of which none is known."""
        return np.eye(4) if part == WORLD else np.asarray(self._pose(part), float)

    def need_part(self, name) -> str:
        """The name, if there is such a part."""
        if not isinstance(name, str) or name not in self.parts:
            known = list(self.parts)
            raise ArgumentError(f"{self.caller}: there is no part {name!r:.60}; {nearest(name, known)}")
        return name

    def features(self, part: str) -> Mapping[str, Feature]:
        """The features of a part by name."""
        value = self.parts[part]
        found = solid_features(value) if isinstance(value, Solid) else getattr(value, "features", value)
        if isinstance(found, Mapping):
            return found
        if isinstance(found, Feature):
            return {found.name: found}
        if isinstance(found, Iterable):
            return {feature.name: feature for feature in found}
        raise ArgumentError(f"{self.caller}: part '{part}' has no features: it is of type {type(value).__name__}")

    def side(self, given: str | Feature, whole: bool = False) -> Side:
        """The `Side` that "part.feature", "part" (if `whole`) or a feature of the world stands for."""
        if isinstance(given, Feature):
            return Side(WORLD, given, given.name)
        if whole and (given in self.parts or given == WORLD):
            return Side(given, None, given)
        # Names of parts may have dots themselves: the longest part that begins the name counts.
        for cut in range(len(given) - 1, 0, -1):
            if given[cut] == "." and given[:cut] in self.parts:
                part, name = given[:cut], given[cut + 1 :]
                features = self.features(part)
                if name not in features:
                    known = nearest(name, list(features)) if features else "it has none"
                    raise ArgumentError(f"{self.caller}: part '{part}' has no feature '{name}'; {known}")
                return Side(part, features[name], given)
        if given in self.parts:
            known = ", ".join(f"'{given}.{name}'" for name in list(self.features(given))[:6])
            raise ArgumentError(
                f"{self.caller}: '{given}' is a part; a feature of it is needed: {known or 'it has none'}"
            )
        raise ArgumentError(
            f"{self.caller}: there is no part for '{given}'; {nearest(given.split('.')[0], list(self.parts))}"
        )

    def sides(self, relation: Relation) -> tuple[Side, Side]:
        """Both sides of a relation."""
        whole = relation.kind in ("fixed_at", "in_")
        first, second = self.side(relation.first, whole), self.side(relation.second, whole)
        if first.part == second.part:
            raise ArgumentError(f"{self.caller}: {relation}: both sides belong to part '{first.part}'")
        return first, second

    def corners(self, part: str) -> np.ndarray:
        """Points (k, 3) of a part whose convex hull is that of the part, or holds it."""
        value = self.parts[part]
        if isinstance(value, Solid):
            points = _solid_corners(value)
        elif isinstance(value, Part):
            points = _part_corners(value)
        else:
            sets = [feature.corners() for feature in self.features(part).values()]
            points = np.concatenate([np.zeros((0, 3)), *(x for x in sets if x is not None)])
        if len(points) < 4:
            raise ArgumentError(f"{self.caller}: part '{part}' has neither a mesh nor outlines that tell its corners")
        try:
            hull = points[ConvexHull(points).vertices]
        except QhullError:  # the part is flat
            hull = np.unique(points, axis=0)
        return hull if len(hull) <= _FEW else box_corners(hull)

    def box(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest corner (3,), (3,) of a part along the axes of its frame."""
        corners = self.corners(part)
        return corners.min(axis=0), corners.max(axis=0)


def _part_corners(part: Part) -> np.ndarray:
    """The vertices (k, 3) of a part, or those of the solids that cover it if the package for booleans is missing."""
    try:
        return part.mesh.vertices
    except MissingPackageError:
        return np.concatenate([_solid_corners(solid) for solid in part_solids(part)])


def _solid_corners(solid: Solid) -> np.ndarray:
    """Points (k, 3) whose hull holds a solid; none for a half-space."""
    if isinstance(solid, Mesh):
        points = solid.triangles.vertices
    else:
        points = np.zeros((0, 3)) if solid.bounds is None else box_corners(np.array(solid.bounds))
    return points @ solid.T_world_solid[:3, :3].T + solid.T_world_solid[:3, 3]


def box_corners(points: np.ndarray) -> np.ndarray:
    """The corners (8, 3) of the box along the axes around points (k, 3)."""
    ends = points.min(axis=0), points.max(axis=0)
    return np.array([[ends[i][0], ends[j][1], ends[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def source_of(given: Any, caller: str) -> Source:
    """The `Source` of what a user gave."""
    return given if isinstance(given, Source) else Source(given, caller)


def __dir__() -> list[str]:
    return __all__
