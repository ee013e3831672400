"""Features of parts: the faces, shafts, holes, edges, vertices and balls that relations speak of, each with a frame.

The frames follow RAPT (Fu, Gonzalez & Lee 1987, Sec. 10.9.1; Popplestone, Ambler & Bellos 1980): the x axis is the
outward normal of a face, the axis of a shaft out of its free end or of a hole out of its mouth, or the direction of an
edge; the origin lies on the feature.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, nearest
from ..sensing.scene.scene_checks import array, number, pose, unit_vector

__all__ = ["FEATURE_KINDS", "Feature", "feature_frame"]

FEATURE_KINDS = ("face", "sphere", "socket", "shaft", "hole", "edge", "vertex")
"""The kinds of features that a `Feature` may be."""


@dataclass(frozen=True, eq=False, repr=False)
class Feature:
    """A feature of a part, with its frame in the frame of the part.

        >>> top = Feature("top", "face", feature_frame([0, 0, 0.1], [0, 0, 1]))
        >>> top
        <Feature 'top': face at (0, 0, 0.1) along (0, 0, 1)>

    - `name` is how the part finds the feature.
    - `kind` is one of `FEATURE_KINDS`: "face" (a plane face), "sphere" (a convex ball), "socket" (a concave ball),
      "shaft", "hole", "edge" or "vertex".
    - `T_part_feature` (4, 4) is its frame. The x axis is the outward normal of a face, the axis of a shaft (out of its
      free end) or of a hole (out of its mouth), or the direction of an edge; the origin lies on the feature: the middle
      of a face, the centre of a ball, the end of a shaft's axis, the middle of a hole's mouth, the middle of an edge.
    - `radius` [m] is that of a ball, a shaft or a hole, `length` [m] that of a shaft, a hole or an edge; NaN elsewhere
      or if it is not known.
    - `outline` (k, 2) [m] is the border of a face in the y and z axes of its frame, counterclockwise seen from outside;
      None if it is not known.

    Two features are equal if all their numbers are.
    """

    name: str
    kind: str
    T_part_feature: Any
    radius: float = np.nan
    length: float = np.nan
    outline: Any = None

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f"Feature: 'name' must be a string that is not empty, got {self.name!r:.60}")
        if self.kind not in FEATURE_KINDS:
            raise ArgumentError(
                f"Feature: 'kind' of '{self.name}' must be one of {', '.join(FEATURE_KINDS)}, got {self.kind!r:.60}; "
                f"{nearest(self.kind, FEATURE_KINDS)}"
            )
        who = f"Feature '{self.name}'"
        self._set(
            T_part_feature=pose(self.T_part_feature, "T_part_feature", who),
            radius=_size(self.radius, "radius", who),
            length=_size(self.length, "length", who),
        )
        if self.outline is not None:
            k = len(np.atleast_1d(np.asarray(self.outline, object)))
            if k < 3:
                raise ArgumentError(f"{who}: 'outline' needs three corners or more, got {k}")
            self._set(outline=array(self.outline, (k, 2), "outline", who))

    def _set(self, **values) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def origin(self) -> np.ndarray:
        """The origin (3,) [m] of the feature's frame in the part's frame."""
        return self.T_part_feature[:3, 3]

    @property
    def axis(self) -> np.ndarray:
        """The x axis (3,) of the feature's frame in the part's frame: the normal, axis or direction of the feature."""
        return self.T_part_feature[:3, 0]

    def at(self, T) -> Feature:
        """The same feature of a part that stands at the pose T (4, 4): its frame is T · T_part_feature."""
        return dataclasses.replace(self, T_part_feature=pose(T, "T", "Feature.at") @ self.T_part_feature)

    def renamed(self, name: str) -> Feature:
        """The same feature with another name."""
        return dataclasses.replace(self, name=name)

    def corners(self) -> np.ndarray | None:
        """The corners (k, 3) [m] of the outline in the part's frame, or None if the outline is not known."""
        if self.outline is None:
            return None
        return self.origin + self.outline @ self.T_part_feature[:3, 1:3].T

    def _key(self) -> tuple:
        outline = b"" if self.outline is None else (self.outline + 0.0).tobytes()
        sizes = np.array([self.radius, self.length]) + 0.0
        return self.name, self.kind, (self.T_part_feature + 0.0).tobytes(), sizes.tobytes(), outline

    def __eq__(self, other) -> bool:
        return self._key() == other._key() if isinstance(other, Feature) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        at = ", ".join(f"{x + 0.0:.4g}" for x in np.round(self.origin, 12))
        along = ", ".join(f"{x + 0.0:.4g}" for x in np.round(self.axis, 12))
        return f"<Feature '{self.name}': {self.kind} at ({at}) along ({along})>"


def _size(value, name: str, who: str) -> float:
    """A length above 0, or NaN if it is not known."""
    if isinstance(value, (float, np.floating)) and np.isnan(value):
        return float("nan")
    return number(value, name, who, least=0, above=True)


def feature_frame(origin, x_axis, y_axis=None) -> np.ndarray:
    """The frame (4, 4) with this `origin` (3,) [m] and x axis (3,); the other axes follow by a fixed rule.

    The y axis is the part of `y_axis` (3,) that is orthogonal to the x axis. If `y_axis` is not given, the part's axis
    to which the x axis is least parallel takes its place, the first of them if there are several; so equal features get
    equal frames. The z axis is x × y. With a = that axis and x the unit vector of `x_axis`:

        y = (a - (a·x) x) / |a - (a·x) x|,      z = x × y.

        >>> feature_frame([0, 0, 0.1], [0, 0, 1])[:3, :3]
        array([[0., 1., 0.],
               [0., 0., 1.],
               [1., 0., 0.]])
    """
    who = "feature_frame"
    x = unit_vector(x_axis, "x_axis", who)
    if y_axis is None:
        # Rounding first: axes that differ by rounding errors choose the same a.
        a = np.eye(3)[np.argmin(np.round(np.abs(x), 9))]
    else:
        a = unit_vector(y_axis, "y_axis", who)
    y = a - np.dot(a, x) * x
    if np.linalg.norm(y) < 1e-9:
        raise ArgumentError(f"{who}: 'y_axis' is parallel to 'x_axis'; any other direction will do")
    y = y / np.linalg.norm(y)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, y, np.cross(x, y)])
    T[:3, 3] = array(origin, (3,), "origin", who)
    return T


def __dir__() -> list[str]:
    return __all__
