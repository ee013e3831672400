"""Mesh files, read without trust: STL, OBJ, DAE, PLY, GLB and OFF, by trimesh, the extra `[view]`.

Nothing but the file itself, and the colours of an OBJ beside it, is opened.
"""

from __future__ import annotations

import io
import json
import os
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import ModelError
from ..extras import package
from .simplification import welded
from .triangles import Mesh

__all__ = ["FORMATS", "Piece", "read_pieces"]

FORMATS = ("stl", "obj", "dae", "ply", "glb", "off")

_MOST_BYTES = 200_000_000
_MOST_MTL = 1_000_000  # bytes
_MOST_FACES = 3_000_000
_MOST_COPIES = 20_000  # of geometries in a file that uses some of them several times

# Neither looks beyond the next beginning, so that a file of nothing but beginnings takes no long time.
_BINDING = re.compile(rb"<bind_material>(?:(?!<bind_material>).)*?</bind_material>", re.S)
_UNIT = re.compile(rb"""<unit\b[^<>]*\bmeter\s*=\s*["']([^"'<]+)["']""")


class Piece(NamedTuple):
    """A mesh of a file, and its color (red, green, blue, opacity) if the file states one."""

    mesh: Mesh
    color: tuple[float, float, float, float] | None


def read_pieces(path: str) -> list[Piece]:
    """The meshes of a file in its own coordinates [m]; a `ModelError` if it has none, or is too large or damaged."""
    trimesh = package("trimesh", "view", "drawing mesh files (meshes=False draws without them)")
    data, kind = _checked(path)
    if kind == "dae":
        package("collada", "view", "drawing DAE files (meshes=False draws without them)")
    try:
        pieces = _loaded(trimesh, data, kind, path)
        if kind == "dae" and not pieces:  # geometries with broken materials are dropped; without any they are not
            pieces = _loaded(trimesh, _BINDING.sub(b"", data), kind, path)
    except Exception as error:  # damaged files raise anything
        raise ModelError(f"mesh '{path}' cannot be read: {type(error).__name__}: {error}") from None
    count = sum(len(piece.mesh.faces) for piece in pieces)
    if count == 0:
        raise ModelError(f"mesh '{path}' has no triangles")
    if count > _MOST_FACES:
        raise ModelError(f"mesh '{path}' has {count} triangles, more than {_MOST_FACES}")
    if not all(np.isfinite(piece.mesh.vertices).all() for piece in pieces):
        raise ModelError(f"mesh '{path}' has vertices that are not finite")
    return pieces


def _checked(path: str) -> tuple[bytes, str]:
    """The contents of a file, and its format; a `ModelError` if it is none of ours or must not be read."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ModelError(f"mesh '{path}' is of an unknown format; known are {', '.join(FORMATS)}")
    try:
        if not os.path.isfile(path):  # a pipe or a device would never end
            raise ModelError(f"mesh '{path}' is no file")
        size = os.path.getsize(path)
        if size > _MOST_BYTES:
            raise ModelError(f"mesh '{path}' has {size / 1e6:.0f} MB, more than {_MOST_BYTES / 1e6:.0f}")
        data = Path(path).read_bytes()
    except OSError as error:
        raise ModelError(f"mesh '{path}' cannot be opened: {error.strerror}") from None
    if not data:
        raise ModelError(f"mesh '{path}' is empty")
    if fault := _FAULTS.get(kind, lambda data: "")(data):
        raise ModelError(f"mesh '{path}' {fault}")
    return data, kind


# --- files that would grow --------------------------------------------------------------------------------------------


def _dae_fault(data: bytes) -> str:
    """Why a DAE file must not be read: entities, or nodes that use each other again and again; "" if it may."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data[:200]:
        return "defines entities, or is not in UTF-8; it is not read"
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        return f"is no DAE file: {error}"
    named = {node.get("id"): node for node in root.iter() if _tag(node) == "node"}
    known: dict[ElementTree.Element, int] = {}

    def copies(node: ElementTree.Element, above: tuple) -> int:
        """How many geometries a node places; one that is inside of itself places infinitely many."""
        if node in above or len(above) > 200:
            return _MOST_COPIES + 1
        if node not in known:
            total = 0
            for x in node:
                used = named.get((x.get("url") or "").lstrip("#")) if _tag(x) == "instance_node" else None
                inner = x if _tag(x) == "node" else used
                total += int(_tag(x) == "instance_geometry")
                total += copies(inner, (*above, node)) if inner is not None else 0
            known[node] = min(total, _MOST_COPIES + 1)
        return known[node]

    total = sum(copies(scene, ()) for scene in root.iter() if _tag(scene) == "visual_scene")
    return f"places geometries more than {_MOST_COPIES} times" if total > _MOST_COPIES else ""


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _glb_fault(data: bytes) -> str:
    """Why a GLB file must not be read: arrays larger than the file, or more uses of meshes than there may be."""
    try:
        magic, _, _, size, kind = struct.unpack_from("<4sIIII", data)
        if magic != b"glTF" or kind != 0x4E4F534A:
            return "is no GLB file of version 2"
        header = json.loads(data[20 : 20 + size])
        counts = [x["count"] for x in header.get("accessors", [])]
        nodes = header.get("nodes", [])
        used = [c for node in nodes for c in node.get("children", [])]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return f"is no GLB file: {error!r}"
    if any(not isinstance(x, int) or x > len(data) for x in counts):
        return "states arrays that are larger than the file"
    if len(used) != len(set(map(str, used))):
        return "has nodes with several parents"
    return "" if len(nodes) <= _MOST_COPIES else f"has more than {_MOST_COPIES} nodes"


def _ply_fault(data: bytes) -> str:
    """Why a PLY file must not be read: it states more elements than it has bytes."""
    head = data[: data.find(b"end_header") + 1][:20_000]
    counts = [int(x) for x in re.findall(rb"element\s+\w+\s+(\d{1,18})", head)]
    return "states more elements than it has bytes" if any(x > len(data) for x in counts) else ""


_FAULTS = {"dae": _dae_fault, "glb": _glb_fault, "ply": _ply_fault}


class _Beside:
    """What trimesh asks for further files: only a small MTL file in the same folder is given to it."""

    def __init__(self, path: str):
        self.folder = os.path.dirname(path)

    def get(self, name) -> bytes:
        plain = os.path.basename(str(name).strip())
        found = os.path.join(self.folder, plain)
        allowed = plain.lower().endswith(".mtl") and os.path.isfile(found) and not os.path.islink(found)
        if not allowed or os.path.getsize(found) > _MOST_MTL:
            raise KeyError(f"{plain} is not read")
        return Path(found).read_bytes()

    __getitem__ = get


# --- what trimesh returns ---------------------------------------------------------------------------------------------


def _loaded(trimesh: Any, data: bytes, kind: str, path: str) -> list[Piece]:
    loaded = trimesh.load(io.BytesIO(data), file_type=kind, resolver=_Beside(path), process=False)
    return list(_pieces(trimesh, loaded, _unit(data) if kind == "dae" else 1.0))


def _pieces(trimesh: Any, loaded: Any, unit: float) -> Iterator[Piece]:
    """The meshes of a scene, each at its placement; points and lines are left out."""
    if isinstance(loaded, trimesh.Trimesh):
        yield Piece(_mesh(loaded, np.eye(4)), _color(loaded))
        return
    for node in loaded.graph.nodes_geometry:
        T, name = loaded.graph[node]
        geometry = loaded.geometry[name]
        if isinstance(geometry, trimesh.Trimesh) and len(geometry.faces):
            yield Piece(_mesh(geometry, np.diag([unit, unit, unit, 1.0]) @ T), _color(geometry))


def _mesh(geometry: Any, T: np.ndarray) -> Mesh:
    vertices = np.asarray(geometry.vertices, float) @ T[:3, :3].T + T[:3, 3]
    faces = np.asarray(geometry.faces, np.int32)
    if np.linalg.det(T[:3, :3]) < 0:
        faces = faces[:, ::-1]
    return welded(Mesh(vertices.astype(np.float32), faces))


def _unit(data: bytes) -> float:
    """The unit of length [m] that a DAE file states, or 1."""
    stated = _UNIT.search(data)
    try:
        return float(stated.group(1)) if stated else 1.0
    except ValueError:
        return 1.0


def _color(geometry: Any) -> tuple[float, float, float, float] | None:
    """The main color of a mesh, if its file states one."""
    visual = geometry.visual
    if not visual.defined:
        return None
    color = visual.material.main_color if visual.kind == "texture" else visual.main_color
    red, green, blue, opacity = (float(x) for x in np.asarray(color, float) / 255)
    return red, green, blue, opacity if opacity > 0 else 1.0
