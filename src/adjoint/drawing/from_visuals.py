"""The shapes that a model file states: boxes, balls, cylinders, capsules and mesh files, as triangles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import ModelError
from ..model.meshes import mesh_file
from ..model.parts import Visual
from ..model.robot import Robot
from .from_kinematics import Part
from .mesh_files import Piece, read_pieces
from .simplification import shares, simplified
from .triangles import Mesh, ball, box, moved, tube

__all__ = ["BUDGET", "Stated", "shown_visuals", "stated_parts"]

BUDGET = 60_000
"""Triangles of a whole robot; larger meshes are simplified."""

_GREY = (0.72, 0.74, 0.76, 1.0)  # of shapes without a color


class Stated(NamedTuple):
    """The parts of a robot that its model states, the bodies of which a shape could not be drawn, and why."""

    parts: list[Part]
    lacking: set[int]
    notes: tuple[str, ...]


def shown_visuals(robot: Robot) -> list[Visual]:
    """The visuals that show a robot: those to draw; if there are none, those to collide with."""
    drawn = [x for x in robot.visuals if not x.collision]
    return drawn or list(robot.visuals)


def stated_parts(robot: Robot, budget: int = BUDGET) -> Stated:
    """The shapes that the model of a robot states, with at most about `budget` triangles in all."""
    files: dict[str, list[Piece]] = {}
    solids: list[Part] = []
    meshes: list[Part] = []
    failed: set[int] = set()
    notes: dict[str, None] = {}
    visuals = shown_visuals(robot)
    sides = _sides(visuals, budget)
    for visual in visuals:
        frame = robot.frame(visual.frame)
        try:
            found = list(_pieces(visual, files, sides))
        except ModelError as error:
            failed.add(frame.body)
            notes[f"{error}; the body is drawn from its joints"] = None
            continue
        T = frame.placement @ visual.placement
        parts = meshes if visual.shape == "mesh" else solids
        parts += [Part(frame.body, moved(mesh, T), color or _GREY) for mesh, color in found]
    left = max(budget - sum(len(x.mesh.faces) for x in solids), budget // 4)
    most = shares([len(x.mesh.faces) for x in meshes], left)
    meshes = [x._replace(mesh=simplified(x.mesh, count)) for x, count in zip(meshes, most, strict=True)]
    parts = [x for x in (*meshes, *solids) if len(x.mesh.faces)]
    return Stated(parts, failed - {x.body for x in parts}, tuple(notes))


def _sides(visuals: list[Visual], budget: int) -> int:
    """How many sides balls and cylinders have: fewer, if there are many."""
    count = sum(x.shape in ("sphere", "cylinder", "capsule") for x in visuals)
    return int(np.clip(np.sqrt(budget / max(count, 1)), 6, 32))


def _pieces(visual: Visual, files: dict[str, list[Piece]], sides: int) -> Iterator[Piece]:
    """The meshes of a visual in its own frame; files are read once."""
    if not np.isfinite(visual.size).all():
        raise ModelError(f"frame '{visual.frame}': its {visual.shape} has the size {visual.size}")
    if visual.shape != "mesh":
        yield Piece(_solid(visual, sides), visual.color)
        return
    path = mesh_file(visual)
    if path not in files:
        files[path] = read_pieces(path)
    for mesh, color in files[path]:
        yield Piece(_scaled(mesh, np.array(visual.size)), color or visual.color)


def _scaled(mesh: Mesh, scale: np.ndarray) -> Mesh:
    """The mesh with other lengths along x, y, z; a mirrored one is seen from its other side."""
    faces = mesh.faces[:, ::-1] if np.prod(scale) < 0 else mesh.faces
    return Mesh((mesh.vertices * scale).astype(np.float32), np.ascontiguousarray(faces))


def _solid(visual: Visual, sides: int) -> Mesh:
    size = [abs(x) for x in visual.size]
    if visual.shape == "box":
        return box(*size)
    if visual.shape == "sphere":
        return ball(size[0], sides=sides)
    return {"cylinder": tube, "capsule": ball}[visual.shape](*size, sides=sides)
