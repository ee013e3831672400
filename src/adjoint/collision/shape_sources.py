"""What the links of a robot are made of, for shapes around them: triangles, and primitives that are shapes already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..drawing import shapes
from ..drawing.from_kinematics import kinematic_parts
from ..drawing.mesh_files import read_pieces
from ..drawing.triangles import box, tube
from ..errors import ArgumentError, ModelError
from ..extras import package
from ..model.meshes import mesh_file
from ..model.parts import Visual
from ..model.robot import Robot
from .shape_fitting import Fit

__all__ = ["SOURCES", "LinkPiece", "link_pieces"]

SOURCES = ("auto", "collision", "visual", "drawing")

_SIDES = 48  # of the prism around a cylinder
_ROUNDED = 2.0**-22  # mesh files are read as float32: at most so far off, in parts of their coordinates


class LinkPiece(NamedTuple):
    """A link that is fixed to body number `body`, in the frame of that body [m].

    `triangles` (m, 3, 3) are the corners of its triangles. Its `solids` are capsules and balls that the model states;
    no point of the link is farther than `slack` from the triangles, and none of them is inside.
    """

    body: int
    name: str
    triangles: np.ndarray
    solids: tuple[Fit, ...]
    slack: float


def link_pieces(robot: Robot, source: str) -> tuple[list[LinkPiece], tuple[str, ...]]:
    """The links of a robot that have a shape, and notes: what could not be read, and what stands for it."""
    visuals = _chosen(robot, source)
    if visuals is None:
        return [_gathered(*x) for x in _drawn(robot, None)], ()
    found: dict[tuple[int, str], list] = {}
    files: dict[str, np.ndarray] = {}
    lacking, notes = set(), []
    for visual in visuals:
        frame = robot.frame(visual.frame)
        try:
            part = _part(visual, frame.placement @ visual.placement, files)
        except ModelError as error:
            lacking.add(frame.body)
            notes.append(f"{error}; the shape of the body is that of its drawing")
            continue
        found.setdefault((frame.body, visual.frame), []).append(part)
    links = [_gathered(*key, parts) for key, parts in found.items()]
    links += [_gathered(*x) for x in _drawn(robot, lacking)]
    shaped = {link.body for link in links}
    bare = [name for body, name in enumerate(robot.body_names) if body not in shaped]
    if bare:
        more = f" and {len(bare) - 6} more" if len(bare) > 6 else ""
        notes.append(f"the model states no shape of {', '.join(map(repr, bare[:6]))}{more}: they meet nothing")
    return links, tuple(dict.fromkeys(notes))


def _chosen(robot: Robot, source: str) -> list[Visual] | None:
    """The visuals that shapes are made from; None for the drawing."""
    drawn = [x for x in robot.visuals if not x.collision]
    collision = [x for x in robot.visuals if x.collision]
    if source == "auto":
        return collision or drawn or None
    if source == "drawing":
        return None
    chosen = collision if source == "collision" else drawn
    if not chosen:
        kind = "shapes to collide with" if source == "collision" else "visuals"
        raise ArgumentError(f"link_shapes: robot '{robot.name}' has no {kind}; source='auto' takes what there is")
    return chosen


def _drawn(robot: Robot, bodies: set[int] | None) -> Iterator[tuple[int, str, list]]:
    """The drawing of some bodies, or of all: body, name, parts."""
    if bodies is not None and not bodies:
        return
    parts = shapes(robot, meshes=False) if bodies is None else kinematic_parts(robot, bodies)
    found: dict[int, list] = {}
    for part in parts:
        found.setdefault(part.body, []).append((_corners(part.mesh), (), 0.0))
    for body, pieces in found.items():
        yield body, robot.base_name if body < 0 else robot.body_names[body], pieces


def _gathered(body: int, name: str, parts: list) -> LinkPiece:
    triangles = np.concatenate([x[0] for x in parts])
    solids = tuple(solid for x in parts for solid in x[1])
    return LinkPiece(body, name, triangles, solids, max(x[2] for x in parts))


def _part(visual: Visual, T: np.ndarray, files: dict[str, np.ndarray]) -> tuple[np.ndarray, tuple[Fit, ...], float]:
    """Triangles, exact solids and slack of one visual at the placement T in its body."""
    size = np.abs(np.array(visual.size, float))
    if not np.isfinite(size).all():
        raise ModelError(f"frame '{visual.frame}': its {visual.shape} has the size {visual.size}")
    none = np.zeros((0, 3, 3))
    if visual.shape in ("sphere", "capsule"):
        half = T[:3, 2] * (size[1] / 2 if visual.shape == "capsule" else 0.0)
        return none, (Fit(T[:3, 3] - half, T[:3, 3] + half, float(size[0])),), 0.0
    slack = 0.0
    if visual.shape == "box":
        corners = _corners(box(1, 1, 1)) * size
    elif visual.shape == "cylinder":  # a prism around it
        wider = 1 / np.cos(np.pi / _SIDES)
        corners = _corners(tube(1, 1, sides=_SIDES)) * [size[0] * wider, size[0] * wider, size[1]]
        slack = size[0] * (wider - 1)
    else:
        path = mesh_file(visual)
        if path not in files:
            package("trimesh", "view", "fitting shapes to mesh files (source='drawing' does without them)")
            files[path] = np.concatenate([_corners(piece.mesh) for piece in read_pieces(path)])
        corners = files[path] * np.array(visual.size, float)
    slack += _ROUNDED * float(np.abs(corners).max(initial=0.0))
    return corners @ T[:3, :3].T + T[:3, 3], (), slack


def _corners(mesh) -> np.ndarray:
    return np.asarray(mesh.vertices, float)[mesh.faces]
