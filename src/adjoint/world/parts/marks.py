"""Marks: where the features of primitives are, before anything is cut off or added.

A mark goes with its primitive through all placements and booleans; `part_features` then looks which marks are left on
the surface of the whole part.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ..features import Feature, feature_frame

__all__ = ["Mark", "ball_mark", "disc_mark", "flipped", "moved_mark", "polyhedron_marks", "renamed", "wall_mark"]

_MOST_FACES = 12  # a polyhedron with more faces has marks at its faces alone
_OPPOSITE = {"shaft": "hole", "hole": "shaft", "sphere": "socket", "socket": "sphere", "dome": "socket"}


class Mark(NamedTuple):
    """Where a feature may be: its `name`, the `kind` of surface, and a frame T (4, 4).

    - "face": the frame of the feature, with the `outline` (k, 2);
    - "wall": a cylinder's side; the origin is the middle of the axis, x the axis; its facets are at `apothem` from it;
    - "ball": the origin is the centre; its facets are from `apothem` to `radius` away from it;
    - "edge", "vertex": the frame of the feature, with the `normals` (m, 3) of the faces that meet there;
    - "given": a `feature` of the user, which is not checked.

    `sign` is -1 for the walls and balls of what has been cut away: holes and sockets.
    """

    name: str
    kind: str
    T: np.ndarray
    radius: float = np.nan
    length: float = np.nan
    outline: np.ndarray | None = None
    normals: np.ndarray | None = None
    apothem: float = np.nan
    sign: int = 1
    feature: Feature | None = None


def moved_mark(mark: Mark, T: np.ndarray) -> Mark:
    """The mark of a part that stands at the pose T (4, 4)."""
    normals = None if mark.normals is None else mark.normals @ T[:3, :3].T
    feature = None if mark.feature is None else mark.feature.at(T)
    return mark._replace(T=T @ mark.T, normals=normals, feature=feature)


def flipped(mark: Mark) -> Mark:
    """The mark on the surface that stays behind when its solid is cut away: outside and inside change places."""
    T, outline = mark.T.copy(), mark.outline
    if mark.kind in ("face", "vertex"):
        T[:3, :2] *= -1  # x is the outward normal; y turns with it
    elif mark.kind == "edge":
        T[:3, 1:3] *= -1  # y points outwards
    if outline is not None:
        outline = (outline * [-1, 1])[::-1]
    normals = None if mark.normals is None else -mark.normals
    return mark._replace(T=T, outline=outline, normals=normals, sign=-mark.sign)


def renamed(name: str, owner: str, cut: bool) -> str:
    """The name of a feature of an operand: after the operand if that has a name; a shaft that is cut away is a hole."""
    stem, number = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    opposite = cut and stem in _OPPOSITE
    name = _OPPOSITE[stem] + number if opposite else name
    if owner:
        return f"{owner}.{name}"
    return f"cut-{name}" if cut and not opposite else name


# --- marks of primitives ----------------------------------------------------------------------------------------------


def disc_mark(name: str, z: float, up: int, radius: float, facets: int) -> Mark:
    """The face of a solid of revolution at a height z, whose normal is up · z, with a polygon for its border."""
    T = feature_frame([0, 0, z], [0, 0, up])
    angles = 2 * np.pi * np.arange(facets)[::up] / facets
    rim = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(facets, z)])
    return Mark(name, "face", T, outline=(rim - T[:3, 3]) @ T[:3, 1:3])


def wall_mark(name: str, low: float, high: float, radius: float, facets: int, sign: int = 1) -> Mark:
    """The side of a cylinder about z from z = low to z = high."""
    T = feature_frame([0, 0, (low + high) / 2], [0, 0, 1])
    return Mark(name, "wall", T, radius, high - low, apothem=radius * np.cos(np.pi / facets), sign=sign)


def ball_mark(name: str, radius: float, closeness: float) -> Mark:
    """The surface of a ball about the origin, whose facets are `closeness` radii away from the centre, or more."""
    return Mark(name, "ball", np.eye(4), radius, apothem=radius * closeness)


def polyhedron_marks(faces: dict[str, np.ndarray]) -> list[Mark]:
    """Marks at the faces, edges and vertices of a polyhedron of named faces: corners (k, 3), seen counterclockwise.

    An edge is named after its two faces, a vertex after three or more, in the order of the faces. The origin of a face
    is the middle of its area, that of an edge its midpoint; the direction of an edge is the one whose first component
    that is not 0 is positive, and its y axis points outwards.
    """
    normals = {name: _normal(corners) for name, corners in faces.items()}
    marks = []
    for name, corners in faces.items():
        T = feature_frame(_centroid(corners, normals[name]), normals[name])
        marks.append(Mark(name, "face", T, outline=(corners - T[:3, 3]) @ T[:3, 1:3]))
    return marks if len(faces) > _MOST_FACES else marks + _edges(faces, normals) + _vertices(faces, normals)


def _edges(faces, normals) -> list[Mark]:
    owners: dict[frozenset, tuple[list[str], np.ndarray]] = {}
    for name, corners in faces.items():
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            owners.setdefault(frozenset([tuple(a), tuple(b)]), ([], np.array([a, b])))[0].append(name)
    marks = []
    for names, (a, b) in owners.values():
        along = b - a
        x = along / np.linalg.norm(along)
        x = x * np.sign(x[np.abs(x) > 1e-9][0])
        both = np.array([normals[n] for n in names])
        T = feature_frame((a + b) / 2, x, both.sum(axis=0))
        marks.append(Mark("-".join(names), "edge", T, length=float(np.linalg.norm(along)), normals=both))
    return marks


def _vertices(faces, normals) -> list[Mark]:
    owners: dict[tuple, list[str]] = {}
    for name, corners in faces.items():
        for a in corners:
            owners.setdefault(tuple(a), []).append(name)
    found = {p: np.array([normals[n] for n in names]) for p, names in owners.items()}
    return [
        Mark("-".join(owners[p]), "vertex", feature_frame(p, both.sum(axis=0)), normals=both)
        for p, both in found.items()
    ]


def _normal(corners: np.ndarray) -> np.ndarray:
    """The normal of a plane polygon (k, 3), from where it is seen counterclockwise (Newell's formula)."""
    c = corners - corners[0]
    n = np.cross(c, np.roll(c, -1, axis=0)).sum(axis=0)
    return n / np.linalg.norm(n)


def _centroid(corners: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The middle of the area of a plane polygon (k, 3)."""
    c = corners - corners[0]
    weights = np.cross(c, np.roll(c, -1, axis=0)) @ normal
    return corners[0] + weights @ (c + np.roll(c, -1, axis=0)) / (3 * weights.sum())
