"""Exact checks of a collision model: the meshes of the links and the solids themselves, by coal (extra `[world]`).

The shapes of a model have the links in them, so that the distance of two meshes is never less than that of their
shapes. So only few pairs need an exact look: those whose shapes are near.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..kinematics import forward_kinematics
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..sensing.scene.solids import Capsule, Mesh, Solid, Sphere
from .checking import Contact
from .clearances import all_pairs
from .collision_models import CollisionModel
from .model_arguments import link_of
from .model_inputs import configurations, flat
from .model_others import shapes_at
from .pair_coal import coal_distance
from .pair_distances import capsule_capsule
from .shape_fitting import Fit
from .shape_sources import link_pieces

__all__ = ["exact_contacts", "exact_distance"]


class _Pair(NamedTuple):
    """Two things that may meet: their names, what `a` and `b` are, the clearance of their shapes, and the margin."""

    a: str
    b: str
    held: bool
    is_obstacle: bool
    bound: float
    margin: float


@once_a_robot
def _link_solids(robot: Robot) -> dict[str, tuple[int, list[Solid]]]:
    """{link: (body, its solids in the frame of the body)}: triangles, and capsules that the model states."""
    pieces, _ = link_pieces(robot, "auto")
    return {p.name: (p.body, [*_meshes(p.triangles), *map(_capsule, p.solids)]) for p in pieces}


def _meshes(triangles: np.ndarray) -> list[Solid]:
    count = len(triangles)
    return [Mesh((triangles.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)))] if count else []


def _capsule(fit: Fit) -> Solid:
    way, middle = fit.end - fit.start, (fit.start + fit.end) / 2
    length = float(np.linalg.norm(way))
    if length == 0:
        return Sphere(fit.radius, T_world_solid=middle)
    z = way / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), middle
    return Capsule(fit.radius, length, T_world_solid=T)


class _Exact:
    """The solids of a model at one configuration."""

    def __init__(self, model: CollisionModel, q: np.ndarray):
        self.model, base = model, model.T_world_base
        self.T = np.concatenate([base @ forward_kinematics(model.robot, q), base[None]])  # body -1 is the base
        self.links, self.known = _link_solids(model.robot), {}
        self.pairs = sorted(self._near(q), key=lambda pair: pair.bound)

    def _near(self, q: np.ndarray) -> Iterator[_Pair]:
        """The pairs of links, carried solids and obstacles, with the least clearance of their shapes."""
        model, found = self.model, {}
        for a, b, is_obstacle, distance, margin in all_pairs(model, q[None]):
            held = a >= model._plan.count
            name = model.shape_names[a] if held else link_of(model.shape_names[a])
            other = model.obstacle_names[b] if is_obstacle else link_of(model.shape_names[b])
            key, bound = (name, other, held, is_obstacle), float(distance[0]) - margin
            if key not in found or bound < found[key][0]:
                found[key] = bound, margin
        for key in found:
            if not key[2] and not key[3]:
                # Of two links, some shapes may be left out: the bound is that of all.
                found[key] = self._least(q, key[0], key[1]), 0.0
        return (_Pair(*key, *numbers) for key, numbers in found.items())

    def _least(self, q: np.ndarray, a: str, b: str) -> float:
        """The least distance of the shapes of two links."""
        shapes = shapes_at(self.model, q[None], fixed=True)
        i, j = (np.array([k for k, n in enumerate(self.model.shapes.names) if link_of(n) == x], int) for x in (a, b))
        x, y = shapes.some(np.repeat(i, len(j))), shapes.some(np.tile(j, len(i)))
        return float(capsule_capsule(x.start, x.end, x.radius, y.start, y.end, y.radius).distance.min())

    def _solids(self, name: str, held: bool, is_obstacle: bool) -> list[Solid]:
        """The solids of a name, in the world."""
        key = name, held, is_obstacle
        if key not in self.known:
            self.known[key] = self._placed(name, held, is_obstacle)
        return self.known[key]

    def _placed(self, name: str, held: bool, is_obstacle: bool) -> list[Solid]:
        model = self.model
        if is_obstacle:
            return [model.obstacles[model.obstacle_names.index(name)]]
        if held:
            carried = [entry for k, entry in enumerate(model.carried) if model.carried_name(k) == name]
            frames = [(model.robot.frame(frame), solid) for frame, solid in carried]
            return [solid.at(self.T[f.body] @ f.placement @ solid.T_world_solid) for f, solid in frames]
        body, solids = self.links.get(name, (-1, []))
        if not solids:
            raise ArgumentError(
                f"exact checks: robot '{model.robot.name}' has no link '{name}' with a shape of its own; exact checks "
                "need a model whose shapes are those of link_shapes(robot)"
            )
        return [solid.at(self.T[body] @ solid.T_world_solid) for solid in solids]

    def distance(self, pair: _Pair) -> float:
        """The exact distance of a pair [m], without the margin."""
        first = self._solids(pair.a, pair.held, False)
        second = self._solids(pair.b, False, pair.is_obstacle)
        return min(float(coal_distance(x, y, "exact_distance").distance) for x in first for y in second)


def exact_distance(model: CollisionModel, q) -> np.ndarray:
    """The least distance (...) [m] at q (..., nq) of the links' meshes from obstacles and each other, less the margins.

        >>> from adjoint.collision import clearance, collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[0.9, 0, 0.5])], pairs=())
        >>> bool(exact_distance(model, q) >= clearance(model, q))                       # needs coal
        True

    It is what `clearance` would be if shapes had no excess: meshes of the links, boxes of carried solids, and meshes
    that are not convex are taken as they are, by coal (extra `[world]`). Pairs are those of the model. Two meshes that
    meet have a distance of at most 0, which is a depth of their triangles, and not of the solids. This takes about
    milliseconds for each configuration.
    """
    q = configurations(model, q, "exact_distance")
    found = [_least(model, x) if np.isfinite(x).all() else np.nan for x in flat(q)]
    return np.array(found, float).reshape(q.shape[:-1])[()]


def _least(model: CollisionModel, q: np.ndarray) -> float:
    exact, best = _Exact(model, q), np.inf
    for pair in exact.pairs:
        if pair.bound >= best:
            break
        best = min(best, exact.distance(pair) - pair.margin)
    return best


def exact_contacts(model: CollisionModel, q) -> list[Contact]:
    """What touches what at q (nq,) by exact meshes, in words, the deepest first; [] if q is free.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> len(exact_contacts(collision_model(robot, [Sphere(0.1, T_world_solid=[2, 0, 0.5])], pairs=()), q))
        0

    As `contacts`, but for the meshes of the links and the solids themselves; see `exact_distance`. What it finds is
    among what `contacts` finds, for shapes have the links in them.
    """
    q = configurations(model, q, "exact_contacts")
    if q.ndim != 1 or not np.isfinite(q).all():
        raise ArgumentError(
            f"exact_contacts: 'q' must be one configuration ({model.robot.nq},) of finite numbers, got {q!r:.60}"
        )
    exact, found = _Exact(model, q), []
    for pair in exact.pairs:
        if pair.bound > 0:
            break
        d = exact.distance(pair)
        if d <= pair.margin:
            found.append(Contact.of(pair.a, pair.b, pair.held, not pair.is_obstacle, d, pair.margin))
    return sorted(found, key=lambda contact: contact.distance - contact.margin)
