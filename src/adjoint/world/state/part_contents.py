"""What a world asks of its parts: solids, features, mass, vertices, and a hash of the contents."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene import Solid
from ..features import Feature

__all__ = ["check_part", "digest_of", "features_of", "inertia_of", "solids_of"]

_DIGESTS: dict[int, tuple[Any, bytes]] = {}


def check_part(part, caller: str) -> Any:
    """A part or a solid of a scene, or an `ArgumentError`."""
    if isinstance(part, Solid) and type(part) is not Solid:
        return part
    raise ArgumentError(
        f"{caller}: a part is made by cuboid, cylinder, ..., or it is a solid such as Box; got {type(part).__name__}"
    )


def solids_of(part) -> tuple[Solid, ...]:
    """The solids (convex where possible) that cover a part, in its frame."""
    return (part,)


def inertia_of(part) -> np.ndarray | None:
    """The inertia (10,) of a part in its frame; None if it has no density."""
    return None


def features_of(part) -> Mapping[str, Feature]:
    """The features of a part by name."""
    return {}


def digest_of(part) -> bytes:
    """A hash of the contents of a part, computed once for each object."""
    known = _DIGESTS.get(id(part))
    if known is not None and known[0]() is part:
        return known[1]
    digest = _solid_digest(part)
    key = id(part)
    _DIGESTS[key] = weakref.ref(part, lambda _: _DIGESTS.pop(key, None)), digest
    return digest


def _solid_digest(solid: Solid) -> bytes:
    mark = hashlib.blake2b(type(solid).__qualname__.encode(), digest_size=16)
    for name, value in sorted(vars(solid).items()):
        if name == "triangles":
            mark.update(value.vertices.tobytes() + value.faces.tobytes())
        elif not name.startswith("_"):
            told = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            mark.update(name.encode() + b"=" + told + b";")
    return mark.digest()
