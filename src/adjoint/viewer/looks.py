"""What is drawn of a robot: meshes, each at one or many spots, and where these spots are at a configuration."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..drawing import Shape, shapes
from ..drawing.axes import upright
from ..drawing.from_visuals import shown_visuals
from ..drawing.triangles import Mesh, along, ball, box, tube
from ..kinematics.forward import forward_kinematics
from ..lie import so3
from ..model.configuration import random_configuration
from ..model.parts import Visual
from ..model.robot import Robot
from ..rolled import is_long

__all__ = ["Extent", "Look", "Part", "Poses", "extent_of", "look_of", "poses_of"]

_AT_ONCE = 1 << 19  # placements of bodies that are computed in one call
_TRIED = 200  # random configurations that show how far a robot reaches
_MANY = 60  # solids, beyond which equal ones are drawn together
_STEEL, _GOLD, _PLAIN = (0.36, 0.39, 0.46, 1.0), (0.85, 0.65, 0.35, 1.0), (0.6, 0.62, 0.66, 1.0)
_SOLIDS: dict[str, Callable[..., Mesh]] = {
    "sphere": lambda r: ball(r, sides=14),
    "cylinder": lambda r, length: tube(r, length, sides=10),
    "capsule": lambda r, length: ball(r, length, sides=12),
    "box": box,
}


class Part(NamedTuple):
    """A mesh, the numbers (k,) of the spots where it is, and its colors (k, 4) there.

    A color is (red, green, blue, opacity), 0 to 1; all have the opacity of the first.
    """

    mesh: Mesh
    spots: np.ndarray
    colors: np.ndarray


class Look(NamedTuple):
    """Spots fixed to bodies, and the parts that are drawn there.

    `bodies` (s,) has the number of each spot's body, -1 for the base, and `placements` (s, 4, 4) where the spot is in
    the frame of its body; None if it is that frame.
    """

    bodies: np.ndarray
    placements: np.ndarray | None
    parts: tuple[Part, ...]


class Poses(NamedTuple):
    """Where spots are: quaternions `wxyz` (..., s, 4) and positions `xyz` (..., s, 3) [m], of float32."""

    wxyz: np.ndarray
    xyz: np.ndarray


class Extent(NamedTuple):
    """The box around a robot as it stands, `low` and `high` (3,) [m], and how far it can `reach` [m] from its base."""

    low: np.ndarray
    high: np.ndarray
    reach: float


def look_of(robot: Robot, meshes: bool = True) -> Look:
    """The look of a robot: equal meshes, such as the atoms of a molecule or the links of a chain, are one part."""
    visuals = shown_visuals(robot) if meshes else []
    if len(visuals) > _MANY and all(visual.shape in _SOLIDS for visual in visuals):
        return _of_solids(robot, visuals)
    if is_long(robot) and not visuals:
        return _chain(robot)
    groups: dict[tuple, list[Shape]] = {}
    for shape in shapes(robot, meshes=meshes):
        groups.setdefault((shape.mesh.vertices.tobytes(), shape.mesh.faces.tobytes(), shape.color), []).append(shape)
    bodies = np.array([*range(len(robot.body_names)), -1])
    return Look(
        bodies, None, tuple(_part(same[0].mesh, [x.body for x in same], same[0].color) for same in groups.values())
    )


def _part(mesh: Mesh, spots, color) -> Part:
    return Part(mesh, np.array(spots), np.broadcast_to(np.array(color, float), (len(spots), 4)))


class _Solid(NamedTuple):
    """A ball, tube, capsule or box of a model, rounded so that nearly equal ones are the same."""

    kind: str
    size: tuple[float, ...]


def _of_solids(robot: Robot, visuals: list[Visual]) -> Look:
    """Many balls and sticks: each solid is one part, with a color for each of its copies."""
    frames = [robot.frame(visual.frame) for visual in visuals]
    places = np.stack([f.placement @ visual.placement for f, visual in zip(frames, visuals, strict=True)])
    groups: dict[_Solid, list[int]] = {}
    for k, visual in enumerate(visuals):
        solid = _Solid(visual.shape, tuple(float(f"{abs(x):.2g}") for x in visual.size))
        groups.setdefault(solid, []).append(k)
    colors = np.array([visual.color or _PLAIN for visual in visuals], float)
    parts = (Part(_SOLIDS[x.kind](*x.size), np.array(which), colors[which]) for x, which in groups.items())
    return Look(np.array([f.body for f in frames]), places, tuple(parts))


def _chain(robot: Robot) -> Look:
    """A robot of very many bodies: a ball for each, and tubes between them, thick enough to be seen from far."""
    parents, home = robot.parents.tolist(), robot.placements[:, :3, 3]
    links = [i for i in range(len(parents)) if parents[i] >= 0 and home[i].any()]
    long = float(np.median(np.linalg.norm(home[links], axis=1))) if links else 0.1
    radius = max(0.12 * long, 0.003 * long * len(parents))
    lengths: dict[float, list[int]] = {}
    for k, i in enumerate(links):
        lengths.setdefault(round(float(np.linalg.norm(home[i])), 9), []).append(len(parents) + k)
    tubes = [_part(tube(0.75 * radius, d, sides=12), which, _GOLD) for d, which in lengths.items()]
    places = [*(np.eye(4) for _ in parents), *(along(home[i] / 2, home[i]) for i in links)]
    bodies = np.array([*range(len(parents)), *(parents[i] for i in links)])
    return Look(bodies, np.stack(places), (_part(ball(radius, sides=12), range(len(parents)), _STEEL), *tubes))


def _with_base(T: np.ndarray) -> np.ndarray:
    """Placements (..., n + 1, 4, 4) of the bodies and, last, as its number is -1, of the base."""
    return np.concatenate([T, np.broadcast_to(np.eye(4), (*T.shape[:-3], 1, 4, 4))], axis=-3)


def poses_of(robot: Robot, look: Look, q: np.ndarray) -> Poses:
    """Where the spots of a look are at q (..., nq): one batched call, or a few if there are millions of them."""
    lead = q.shape[:-1]
    rows = q.reshape(math.prod(lead), q.shape[-1])
    count = len(look.bodies)
    wxyz, xyz = np.empty((len(rows), count, 4), np.float32), np.empty((len(rows), count, 3), np.float32)
    step = max(1, _AT_ONCE // max(1, count))
    for k in range(0, len(rows), step):
        T = _with_base(forward_kinematics(robot, rows[k : k + step]))[:, look.bodies]
        if look.placements is not None:
            T = T @ look.placements
        wxyz[k : k + step], xyz[k : k + step] = so3.to_quat_wxyz(T[..., :3, :3]), T[..., :3, 3]
    return Poses(wxyz.reshape(*lead, count, 4), xyz.reshape(*lead, count, 3))


def extent_of(robot: Robot, look: Look, q: np.ndarray) -> Extent:
    """How large a robot is at q (nq,), with up along z, and how far it reaches."""
    poses, R = poses_of(robot, look, q), upright(robot)
    points = [poses.xyz] if len(poses.xyz) else [np.zeros((1, 3))]
    for part in look.parts:
        corners = part.mesh.vertices[:: max(1, len(part.mesh.vertices) // 200)]
        turned = so3.from_quat_wxyz(poses.wxyz[part.spots].astype(float))
        points.append((np.einsum("kij,vj->kvi", turned, corners) + poses.xyz[part.spots][:, None]).reshape(-1, 3))
    every = np.concatenate(points) @ R.T
    anywhere = random_configuration(robot, min(_TRIED, 20_000 // max(1, len(look.bodies)) + 2), rng=0)
    tried = poses_of(robot, look, anywhere).xyz
    reach = max(float(np.linalg.norm(tried, axis=-1).max(initial=0.0)), float(np.abs(every).max()))
    return Extent(every.min(axis=0), every.max(axis=0), max(reach, 1e-3))
