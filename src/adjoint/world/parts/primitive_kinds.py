"""The table of primitives: for each kind the names of its sizes, its mesh, its exact moments, and its marks.

A primitive is the tuple of its sizes. Round kinds end with `facets`: None for a surface that is round, or the number
of facets of a polyhedron. `fit` says how the facets of a round surface lie: "on" with their corners on the surface,
"out" touching it from outside (a solid of revolution must then be convex).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..features import feature_frame
from .marks import Mark, ball_mark, disc_mark, polyhedron_marks, wall_mark
from .moments import ball_moments, cuboid_moments, half_ball_moments, lathed_moments, mesh_moments
from .sweeps import FACETS, PartMesh, closed_mesh, lathed, prism

__all__ = ["KINDS", "Kind", "closeness", "cuboid_corners", "round_profile", "wedge_faces"]


class Kind(NamedTuple):
    """A row of the table: names of the sizes, and functions of their values."""

    sizes: tuple[str, ...]
    mesh: Callable[..., PartMesh]  # (values, facets of round surfaces, fit)
    moments: Callable[..., np.ndarray] | None  # (values); None: those of the mesh
    marks: Callable[..., list[Mark]]  # (values)
    round: bool = False


# --- polyhedra --------------------------------------------------------------------------------------------------------


def cuboid_corners(x: float, y: float, z: float) -> dict[str, np.ndarray]:
    """The named faces of a cuboid, each with its corners (4, 3), counterclockwise seen from outside."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    half = np.array([x, y, z]) / 2
    faces = {}
    for name, axis, sign in (
        ("top", 2, 1), ("bottom", 2, -1), ("front", 1, -1), ("back", 1, 1), ("left", 0, -1), ("right", 0, 1),
    ):  # fmt: skip
        corners = np.empty((4, 3))
        corners[:, axis] = sign
        corners[:, [(axis + 1) % 3, (axis + 2) % 3]] = square[::sign]
        faces[name] = corners * half
    return faces


def wedge_faces(x: float, y: float, z: float) -> dict[str, np.ndarray]:
    """The named faces of a wedge, each with its corners (k, 3), counterclockwise seen from outside."""
    a, b, c = np.array([[-x, -z], [x, -z], [-x, z]]) / 2

    def at(point, side):
        return [point[0], side * y / 2, point[1]]

    faces = {
        "bottom": [at(a, -1), at(a, 1), at(b, 1), at(b, -1)],
        "front": [at(a, -1), at(b, -1), at(c, -1)],
        "back": [at(c, 1), at(b, 1), at(a, 1)],
        "left": [at(a, -1), at(c, -1), at(c, 1), at(a, 1)],
        "slope": [at(b, -1), at(b, 1), at(c, 1), at(c, -1)],
    }
    return {name: np.array(corners) for name, corners in faces.items()}


def _polyhedron(faces: dict[str, np.ndarray]) -> PartMesh:
    """The mesh of a polyhedron of convex faces."""
    corners = np.concatenate(list(faces.values()))
    vertices, number = np.unique(corners, axis=0, return_inverse=True)
    triangles, first = [], 0
    for face in faces.values():
        n = number[first : first + len(face)].ravel()
        triangles += [[n[0], n[k], n[k + 1]] for k in range(1, len(n) - 1)]
        first += len(face)
    return closed_mesh(vertices, np.array(triangles))


def _side_faces(outline: np.ndarray, height: float) -> dict[str, np.ndarray]:
    """The named faces of a prism: top, bottom, and side0, side1, ... from each corner of the outline to the next."""
    low = np.column_stack([outline, np.full(len(outline), -height / 2)])
    high = np.column_stack([outline, np.full(len(outline), height / 2)])
    faces = {"top": high, "bottom": low[::-1]}
    for k in range(len(outline)):
        j = (k + 1) % len(outline)
        faces[f"side{k}"] = np.array([low[k], low[j], high[j], high[k]])
    return faces


# --- solids of revolution ---------------------------------------------------------------------------------------------


def round_profile(kind: str, values: tuple, facets: int) -> np.ndarray:
    """The polygon (k, 2) of (radius, height), counterclockwise, that makes a round primitive when it turns about z."""
    if kind == "cylinder":
        radius, height, _ = values
        return np.array([[0, -height], [2 * radius, -height], [2 * radius, height], [0, height]]) / 2
    if kind == "cone":
        radius, height, top, _ = values
        low, high = [[0, -height / 2], [radius, -height / 2]], [[top, height / 2], [0, height / 2]]
        return np.array(low + (high if top > 0 else high[1:]))
    if kind == "revolution":
        return values[0]
    radius = values[0]
    start, steps = (-np.pi / 2, max(2, facets // 2)) if kind == "sphere" else (0.0, max(1, facets // 4))
    angles = np.linspace(start, np.pi / 2, steps + 1)
    arc = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    arc[-1] = 0, radius
    if kind == "sphere":
        arc[0] = 0, -radius
        return arc
    return np.concatenate([[[0.0, 0.0]], arc])


def closeness(kind: str, facets: int) -> float:
    """How far the facets of a ball are from its centre at least, in radii: cos(π/n) cos(half a step of latitude)."""
    step = np.pi / max(2, facets // 2) if kind == "sphere" else np.pi / 2 / max(1, facets // 4)
    return float(np.cos(np.pi / facets) * np.cos(step / 2))


def _lathe(kind: str, values: tuple, facets: int, fit: str) -> PartMesh:
    """The mesh of a solid of revolution; `facets` are those of a round surface, unless the part has its own."""
    own = values[-1]
    n = own or facets
    profile = round_profile(kind, values, n)
    if fit == "out" and own is None:
        profile = profile / (closeness(kind, n) if kind in ("sphere", "hemisphere") else [np.cos(np.pi / n), 1.0])
    return lathed(profile, n)


def _lathe_moments(kind: str, values: tuple) -> np.ndarray:
    if values[-1] is not None:
        return mesh_moments(*_lathe(kind, values, FACETS, "on"))
    if kind == "sphere":
        return ball_moments(values[0])
    if kind == "hemisphere":
        return half_ball_moments(values[0])
    return lathed_moments(round_profile(kind, values, FACETS))


def _cylinder_marks(values: tuple) -> list[Mark]:
    radius, height, facets = values
    n = facets or FACETS
    shaft = wall_mark("shaft", -height / 2, height / 2, radius, n)
    if facets is None:
        return [disc_mark("top", height / 2, 1, radius, n), disc_mark("bottom", -height / 2, -1, radius, n), shaft]
    angles = 2 * np.pi * np.arange(n) / n
    outline = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    sides = polyhedron_marks(_side_faces(outline, height))
    return [*sides[:2], shaft, *sides[2:]]


def _cone_marks(values: tuple) -> list[Mark]:
    radius, height, top, facets = values
    n = facets or FACETS
    marks = [disc_mark("bottom", -height / 2, -1, radius, n)]
    if top > 0:
        return [disc_mark("top", height / 2, 1, top, n), *marks]
    # One facet of the slope touches the tip as long as the tip is there.
    normal = np.array([height * np.cos(np.pi / n), height * np.sin(np.pi / n), radius * np.cos(np.pi / n)])
    T = feature_frame([0, 0, height / 2], [0, 0, 1])
    return [*marks, Mark("tip", "vertex", T, normals=(normal / np.linalg.norm(normal))[None])]


def _ball_marks(kind: str, values: tuple) -> list[Mark]:
    radius, facets = values
    n = facets or FACETS
    if kind == "sphere":
        return [ball_mark("sphere", radius, closeness(kind, n))]
    return [disc_mark("bottom", 0.0, -1, radius, n), ball_mark("dome", radius, closeness(kind, n))]


def _revolution_marks(values: tuple) -> list[Mark]:
    """Side k of the outline gives "face k" if it is level, "shaft k" or "hole k" if it is parallel to the axis."""
    profile, facets = values
    n = facets or FACETS
    marks = []
    for k, (a, b) in enumerate(zip(profile, np.roll(profile, -1, axis=0), strict=True)):
        if a[1] == b[1]:
            marks.append(disc_mark(f"face{k}", a[1], 1 if b[0] < a[0] else -1, max(a[0], b[0]), n))
        elif a[0] == b[0] > 0:
            sign, name = (1, "shaft") if b[1] > a[1] else (-1, "hole")
            marks.append(wall_mark(f"{name}{k}", min(a[1], b[1]), max(a[1], b[1]), a[0], n, sign))
    return marks


def _lathe_kind(kind: str, sizes: tuple[str, ...], marks) -> Kind:
    return Kind(
        (*sizes, "facets"),
        lambda values, facets, fit: _lathe(kind, values, facets, fit),
        lambda values: _lathe_moments(kind, values),
        marks,
        round=True,
    )


KINDS: dict[str, Kind] = {
    "cuboid": Kind(
        ("x", "y", "z"),
        lambda values, facets, fit: _polyhedron(cuboid_corners(*values)),
        lambda values: cuboid_moments(*values),
        lambda values: polyhedron_marks(cuboid_corners(*values)),
    ),
    "wedge": Kind(
        ("x", "y", "z"),
        lambda values, facets, fit: _polyhedron(wedge_faces(*values)),
        None,
        lambda values: polyhedron_marks(wedge_faces(*values)),
    ),
    "lamination": Kind(
        ("outline", "thickness"),
        lambda values, facets, fit: prism(*values),
        None,
        lambda values: polyhedron_marks(_side_faces(*values)),
    ),
    "cylinder": _lathe_kind("cylinder", ("radius", "height"), _cylinder_marks),
    "cone": _lathe_kind("cone", ("radius", "height", "top_radius"), _cone_marks),
    "sphere": _lathe_kind("sphere", ("radius",), lambda values: _ball_marks("sphere", values)),
    "hemisphere": _lathe_kind("hemisphere", ("radius",), lambda values: _ball_marks("hemisphere", values)),
    "revolution": _lathe_kind("revolution", ("outline",), _revolution_marks),
    "mesh": Kind(("vertices", "faces"), lambda values, facets, fit: PartMesh(*values), None, lambda values: []),
}
