"""What a world asks of its parts: solids, features, mass, surfaces, a hash of the contents, and JSON."""

from __future__ import annotations

import dataclasses
import hashlib
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...drawing.triangles import ball, box, tube
from ...errors import AdjointError, ArgumentError
from ...sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere, Textured
from ..features import Feature
from ..parts import Part, inertia, part_solids
from ..parts.moments import mesh_moments
from ..parts.part_features import features_of as features_of_part
from ..parts.part_files import part_from_json, part_to_data
from ..parts.solid_features import solid_features
from .json_reading import WHO, items
from .thing_json import solid_from_data, solid_to_data

__all__ = [
    "check_part",
    "colour_of_part",
    "data_of",
    "digest_of",
    "features_of",
    "inertia_of",
    "lowest_points",
    "mass_and_center",
    "part_from_data",
    "solids_of",
    "surface_of",
]

_SIDES = 48  # of round solids that become triangles
_digests: dict[int, tuple[Any, bytes]] = {}


def check_part(part, caller: str) -> Any:
    """A part or a solid of a scene, or an `ArgumentError`."""
    if isinstance(part, Part) or (isinstance(part, Solid) and type(part) is not Solid):
        return part
    raise ArgumentError(
        f"{caller}: a part is made by cuboid, cylinder, ..., or it is a solid such as Box; got {type(part).__name__}"
    )


def solids_of(part) -> tuple[Solid, ...]:
    """The solids (convex where possible) that cover a part, in its frame."""
    return part_solids(part) if isinstance(part, Part) else (part,)


def features_of(part) -> Mapping[str, Feature]:
    """The features of a part, or of a solid of a scene, by name."""
    return features_of_part(part) if isinstance(part, Part) else solid_features(part)


def colour_of_part(part) -> tuple[float, float, float, float]:
    """The color (red, green, blue, opacity) of a part."""
    r, g, b = (float(x) for x in part.colour)
    return r, g, b, 1.0


# --- mass -------------------------------------------------------------------------------------------------------------


def inertia_of(part) -> np.ndarray | None:
    """The inertia (10,) of a part in its frame; None for a solid of a scene, which has no density."""
    return inertia(part) if isinstance(part, Part) else None


def mass_and_center(part) -> tuple[float, np.ndarray]:
    """The mass [kg] and the centre (3,) of a part; a solid of a scene counts as water, and a plane as nothing."""
    if isinstance(part, Part):
        found = inertia(part)
        return float(found[0]), found[1:4] / found[0]
    surface = surface_of(part)
    if surface is None:
        return 0.0, np.zeros(3)
    P = mesh_moments(*surface)
    low, high = surface[0].min(axis=0), surface[0].max(axis=0)
    if not P[3, 3] > 1e-9 * np.prod(high - low):  # an open mesh, or a picture, has no volume
        return float(1e3 * max(np.prod(high - low), 1e-9)), (low + high) / 2
    return float(1e3 * P[3, 3]), P[:3, 3] / P[3, 3]


# --- surfaces ---------------------------------------------------------------------------------------------------------


def surface_of(part) -> tuple[np.ndarray, np.ndarray] | None:
    """The surface of a part as triangles (vertices (k, 3), faces (m, 3)) in its frame; None for a half-space."""
    if isinstance(part, Plane):
        return None
    if isinstance(part, Part):
        return part.mesh.vertices, part.mesh.faces
    if isinstance(part, Mesh):
        return part.triangles.vertices, part.triangles.faces
    if isinstance(part, Textured):
        return part.at(np.eye(4)).corners(), np.array([[0, 2, 1], [0, 3, 2]])
    if isinstance(part, Box):
        corners = box(1, 1, 1).vertices.astype(float) * part.size  # exact: its corners are halves
        return corners, box(1, 1, 1).faces
    if isinstance(part, Sphere):
        mesh = ball(part.radius, 0.0, _SIDES)
    elif isinstance(part, Capsule):
        mesh = ball(part.radius, part.length, _SIDES)
    elif isinstance(part, Cylinder):
        mesh = tube(part.radius, part.length, sides=_SIDES)
    else:
        raise ArgumentError(f"a {type(part).__name__} has no triangles")
    return mesh.vertices.astype(float), mesh.faces


def lowest_points(part, T: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The points (k, 3) in the world on which round solids of a part at T stand: no corners of triangles are there."""
    found = [np.zeros((0, 3))]
    for solid in solids_of(part):
        at = T @ solid.T_world_solid
        if isinstance(solid, Sphere):
            found.append((at[:3, 3] - solid.radius * up)[None])
        elif isinstance(solid, Cylinder | Capsule):
            axis = at[:3, 2]
            down = (up @ axis) * axis - up
            size = np.linalg.norm(down)
            if size > 1e-9:
                half = solid.length / 2 * axis
                found.append(at[:3, 3] + solid.radius * down / size + np.stack([half, -half]))
    return np.concatenate(found)


# --- identity ---------------------------------------------------------------------------------------------------------


def digest_of(thing) -> bytes:
    """A hash of the contents of a part, a solid or a sensor, computed once for each object."""
    if isinstance(thing, Part):
        return thing.digest
    if hasattr(thing, "fingerprint"):
        return thing.fingerprint.encode()
    key = id(thing)
    known = _digests.get(key)
    if known is not None and known[0]() is thing:
        return known[1]
    digest = _fields_digest(thing)
    _digests[key] = weakref.ref(thing, lambda _: _digests.pop(key, None)), digest
    return digest


def _fields_digest(thing) -> bytes:
    mark = hashlib.blake2b(type(thing).__qualname__.encode(), digest_size=16)
    for field in dataclasses.fields(thing):
        if field.init and not field.name.startswith("_"):
            value = getattr(thing, field.name)
            if hasattr(value, "faces"):
                value = np.concatenate([value.vertices.ravel(), value.faces.ravel()])
            told = (
                repr(value.shape).encode() + value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            )
            mark.update(field.name.encode() + b"=" + told + b";")
    return mark.digest()


# --- JSON -------------------------------------------------------------------------------------------------------------


def data_of(part) -> dict[str, Any]:
    """What JSON says of a part or a solid."""
    return {"part": part_to_data(part)} if isinstance(part, Part) else solid_to_data(part)


def part_from_data(data, where: str) -> Any:
    """The part or solid that JSON describes, or an `ArgumentError`."""
    if "part" not in items(data, where):
        return solid_from_data(data, where)
    if len(data) != 1:
        raise ArgumentError(f"{WHO}: {where} has more than its 'part'")
    try:
        return part_from_json(items(data["part"], f"{where}.part"))
    except AdjointError as error:
        raise ArgumentError(f"{WHO}: {where}: {error}") from None
