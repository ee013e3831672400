"""What is drawn of a robot: meshes, each at one or many spots, and where these spots are at a configuration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..drawing import shapes
from ..drawing.triangles import Mesh, ball, tube
from ..kinematics.forward import forward_kinematics
from ..lie import so3
from ..model.configuration import random_configuration
from ..model.robot import Robot
from ..polymer.atoms import LIGHT, Polymer
from ..rolled import is_long

__all__ = ["Color", "Extent", "Look", "Part", "Poses", "extent_of", "look_of", "poses_of", "upright"]

Color = tuple[float, float, float, float]

_AT_ONCE = 1 << 19  # placements of bodies that are computed in one call
_TRIED = 200  # random configurations that show how far a robot reaches
_ELEMENTS = {
    "H": (0.92, 0.92, 0.92), "D": (0.92, 0.92, 0.92), "C": (0.32, 0.34, 0.37), "N": (0.22, 0.38, 0.85),
    "O": (0.85, 0.2, 0.18), "S": (0.92, 0.75, 0.18), "P": (0.95, 0.55, 0.1),
}  # fmt: skip
_OTHER_ELEMENT = (0.6, 0.35, 0.75)
_BOND, _LIGHT_BOND = 1.95, 1.3  # [Å] atoms nearer than this are bonded; the second is for hydrogen


class Part(NamedTuple):
    """A mesh with its color (red, green, blue, opacity; 0 to 1), and the numbers (k,) of the spots where it is."""

    mesh: Mesh
    color: Color
    spots: np.ndarray


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


def look_of(thing: Robot | Polymer, meshes: bool = True) -> Look:
    """The look of a robot, from its shapes, or of a molecule, as balls and sticks."""
    if isinstance(thing, Polymer):
        return _molecule(thing)
    if is_long(thing):
        return _chain(thing)
    groups: dict[tuple, list[int]] = {}
    found = {}
    for shape in shapes(thing, meshes=meshes):  # equal meshes are drawn as one, such as the links of a chain
        key = shape.mesh.vertices.tobytes(), shape.mesh.faces.tobytes(), shape.color
        found[key] = shape
        groups.setdefault(key, []).append(shape.body)
    parts = (Part(found[key].mesh, found[key].color, np.array(spots)) for key, spots in groups.items())
    return Look(np.array([*range(len(thing.body_names)), -1]), None, tuple(parts))


def _chain(robot: Robot) -> Look:
    """A robot of very many bodies: a ball for each, and tubes between them, thick enough to be seen from far."""
    parents, home = robot.parents.tolist(), robot.placements[:, :3, 3]
    links = [i for i in range(len(parents)) if parents[i] >= 0 and home[i].any()]
    long = float(np.median(np.linalg.norm(home[links], axis=1))) if links else 0.1
    radius = max(0.12 * long, 0.003 * long * len(parents))
    lengths: dict[float, list[int]] = {}
    for k, i in enumerate(links):
        lengths.setdefault(round(float(np.linalg.norm(home[i])), 9), []).append(len(parents) + k)
    steel, gold = (0.36, 0.39, 0.46, 1.0), (0.85, 0.65, 0.35, 1.0)
    tubes = [Part(tube(0.75 * radius, d, sides=12), gold, np.array(which)) for d, which in lengths.items()]
    places = [*(np.eye(4) for _ in parents), *(_stick(np.zeros(3), home[i], np.eye(3)) for i in links)]
    bodies = np.array([*range(len(parents)), *(parents[i] for i in links)])
    return Look(bodies, np.stack(places), (Part(ball(radius, sides=12), steel, np.arange(len(parents))), *tubes))


def _molecule(polymer: Polymer) -> Look:
    """Atoms as balls, and bonds as sticks."""
    atoms, x = polymer.atoms, polymer.positions()
    bonds = _bonds(polymer, x)
    places = [_at(atom.position) for atom in atoms]
    places += [_stick(atoms[i].position, x[j] - x[i], T) for i, j, T in _with_bodies(polymer, bonds)]
    bodies = np.array([atom.body for atom in atoms] + [atoms[i].body for i, _ in bonds])
    elements: dict[str, list[int]] = {}
    for k, atom in enumerate(atoms):
        elements.setdefault(atom.element, []).append(k)
    spacing = float(np.median([np.linalg.norm(x[i] - x[j]) for i, j in bonds])) if bonds else 1.5
    parts = [
        Part(ball((0.18 if name in LIGHT else 0.27) * spacing, sides=14), _opaque(name), np.array(which))
        for name, which in elements.items()
    ]
    lengths: dict[float, list[int]] = {}
    for k, (i, j) in enumerate(bonds):
        lengths.setdefault(round(float(np.linalg.norm(x[i] - x[j])), 2), []).append(len(atoms) + k)
    gray = (0.62, 0.64, 0.68, 1.0)
    parts += [Part(tube(0.09 * spacing, d, sides=10), gray, np.array(which)) for d, which in lengths.items()]
    return Look(bodies, np.stack(places), tuple(parts))


def _opaque(element: str) -> Color:
    return (*_ELEMENTS.get(element, _OTHER_ELEMENT), 1.0)


def _bonds(polymer: Polymer, x: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of atoms near enough to be bonded; beads, which are farther apart, are bonded in their order."""
    from scipy.spatial import KDTree

    light = np.array([e in LIGHT for e in polymer.elements])
    pairs = KDTree(x).query_pairs(_BOND, output_type="ndarray")
    far = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) if len(pairs) else np.zeros(0)
    kept = pairs[(far < _LIGHT_BOND) | ~light[pairs].any(axis=1)] if len(pairs) else pairs
    if len(kept):
        return [(int(i), int(j)) for i, j in kept]
    return [(k, k + 1) for k in range(len(x) - 1)]


def _with_bodies(polymer: Polymer, bonds):
    """Each bond with the rotation (3, 3) of the body of its first atom."""
    T = _with_base(forward_kinematics(polymer.robot, polymer.q))
    return [(i, j, T[polymer.atoms[i].body][:3, :3]) for i, j in bonds]


def _at(position: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = position
    return T


def _stick(start: np.ndarray, along: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The placement in its body of a stick from `start`, which goes `along` a vector seen from the base."""
    way = R.T @ along
    T = _at(start + way / 2)
    T[:3, :3] = rotation_to(way)
    return T


def rotation_to(z: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose third column points along z."""
    z = z / max(float(np.linalg.norm(z)), 1e-300)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _with_base(T: np.ndarray) -> np.ndarray:
    """Placements (..., n + 1, 4, 4) of the bodies and, last, as its number is -1, of the base."""
    return np.concatenate([T, np.broadcast_to(np.eye(4), (*T.shape[:-3], 1, 4, 4))], axis=-3)


def poses_of(robot: Robot, look: Look, q: np.ndarray) -> Poses:
    """Where the spots of a look are at q (..., nq): one batched call, or a few if there are millions of them."""
    lead, rows = q.shape[:-1], q.reshape(-1, q.shape[-1])
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


def upright(robot: Robot) -> np.ndarray:
    """The rotation (3, 3) from the base to axes in which gravity points down, along -z."""
    size = float(np.linalg.norm(robot.gravity))
    if size == 0.0 or np.allclose(robot.gravity / size, (0, 0, -1)):
        return np.eye(3)
    return rotation_to(-robot.gravity).T
