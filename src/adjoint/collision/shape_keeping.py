"""Results that take seconds, kept on disk for the next process, beside the machine code of kernels.

The disk cache trusts a file only if it is this user's, undamaged, and of these sources of the library; any other file
means that the result is computed again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np
import scipy

from ..compile.machine import disk_cache
from ..errors import ModelError
from ..model.meshes import mesh_file
from ..model.parts import Visual
from ..model.robot import Robot

__all__ = ["KeptResult", "constant", "keep", "kept", "key_of_arrays", "key_of_shape"]

_MOST_BYTES = 200_000_000  # of a mesh file; larger ones are not read for shapes either


class KeptResult(NamedTuple):
    """A result: `facts` are what JSON can hold, and `arrays` float64 arrays of any shapes, which nobody can change."""

    facts: dict
    arrays: list[np.ndarray]


def constant(array: np.ndarray) -> np.ndarray:
    """The array, which cannot be changed any more: results that are kept are the same for all who ask."""
    array.setflags(write=False)
    return array


def kept(name: str) -> KeptResult | None:
    """The result of this name, or None."""
    entry = disk_cache.read(name)
    if entry is None:
        return None
    try:
        arrays, start = [], 0
        for shape in entry.header["shapes"]:
            size = int(np.prod(shape, dtype=int))
            arrays.append(np.frombuffer(entry.code, "<f8", size, start).reshape(shape))
            start += 8 * size
        return KeptResult(entry.header["facts"], arrays)
    except (KeyError, TypeError, ValueError):
        return None


def keep(name: str, facts: dict, arrays: Iterable[np.ndarray]) -> None:
    """Store a result; if the disk refuses, the program goes on."""
    all_arrays = [np.ascontiguousarray(x, "<f8") for x in arrays]
    header = {"facts": facts, "shapes": [x.shape for x in all_arrays]}
    disk_cache.write(name, disk_cache.Entry(header, b"".join(x.tobytes() for x in all_arrays)))


def key_of_shape(robot: Robot, *options) -> str | None:
    """The name of a result that depends on what a robot looks like: on its tree, its visuals, and their mesh files.

    It is None if a mesh file cannot be read now: such a result is not kept.
    """
    files: dict[str, str | None] = {}
    visuals = [(*_facts(visual), _contents(visual, files)) for visual in robot.visuals]
    if None in files.values():
        return None
    readers = scipy.__version__, _version("trimesh"), _version("pycollada")
    return disk_cache.key("shapes", robot.fingerprint, visuals, readers, options)


def key_of_arrays(robot: Robot, arrays: Iterable[np.ndarray], *options) -> str:
    """The name of a result that depends on a robot and on arrays of numbers."""
    found = hashlib.sha256()
    for x in arrays:
        found.update(repr(x.shape).encode() + np.ascontiguousarray(x, "<f8").tobytes())
    return disk_cache.key("arrays", robot.fingerprint, found.hexdigest(), options)


def _facts(visual: Visual) -> tuple:
    size = tuple(float(x) for x in visual.size)
    placement = np.asarray(visual.placement, float).tolist()
    return visual.frame, placement, visual.shape, size, visual.mesh, visual.collision, visual.fault


def _contents(visual: Visual, files: dict[str, str | None]) -> str | None:
    """A hash of the mesh file of a visual; "" for one that has none, or must not be opened."""
    if visual.shape != "mesh":
        return ""
    try:
        path = mesh_file(visual)
    except ModelError:
        return ""
    if path not in files:
        files[path] = _hash(path)
    return files[path]


def _hash(path: str) -> str | None:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MOST_BYTES:  # a pipe or a device would never end
            return None
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
