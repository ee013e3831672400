"""What a robot, its hand and what it carries meet during a motion, all ticks at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...collision.checking import Contact, is_free
from ...collision.clearances import all_pairs
from ...collision.collision_models import CollisionModel
from ...collision.model_arguments import link_of
from ...kinematics import forward_kinematics
from ...world.grasps.separations import Hull, hull_of
from ...world.state import World
from ...world.world_models import world_collision_model
from .direction_search import hull_gaps

__all__: list[str] = []


class MotionContact(NamedTuple):
    """What meets what: the deepest `contact`, the tick at which it is so deep, and the first and last of such ticks."""

    contact: Contact
    tick: int
    first: int
    last: int
    own: bool
    """whether both belong to the robot"""


def motion_contacts(
    world: World, robot: str, q: np.ndarray, tolerance: float, pressing: bool, ignore: frozenset[frozenset[str]]
) -> list[MotionContact]:
    """All that a robot meets more deeply than `tolerance` [m] at q (N, nq), the deepest first.

    One call of machine code asks all ticks; only those at which the capsules around links and carried parts are not
    free are looked at more closely, with convex hulls: capsules stick out of what they are around, and then a part
    could neither rest on a table nor lie between fingers. With `pressing`, the hand and what it carries may touch:
    they shall.
    """
    model = world_collision_model(world, robot)
    near = np.flatnonzero(~np.asarray(is_free(model, q)))
    if not len(near):
        return []
    depths, count, hand = _Depths(model, q[near]), model._plan.count, _drawn_hand(world, robot)
    found: dict[tuple[str, str, bool], tuple[np.ndarray, bool]] = {}
    for a, b, is_obstacle, distance, _ in all_pairs(model, q[near]):
        held = a >= count
        if (distance >= -tolerance).all() or (held and pressing) or (not held and model.shapes.bodies[a] == hand):
            continue
        name = model.shape_names[a] if held else link_of(model.shape_names[a])
        other = model.obstacle_names[b] if is_obstacle else link_of(model.shape_names[b])
        key = name.partition("#")[0], other.partition("#")[0], is_obstacle
        if frozenset(key[:2]) in ignore:
            continue
        if is_obstacle:
            distance = depths.of_obstacle(a, b, distance)
        elif held:
            distance = distance + model.carried_excess  # what the cover sticks out does not count
        before = found.get(key)
        found[key] = distance if before is None else np.minimum(before[0], distance), held
    met = []
    for (name, other, is_obstacle), (d, held) in found.items():
        k = int(np.argmin(d))
        if d[k] < -tolerance:
            deep = near[d < -tolerance]
            contact = Contact.of(name, other, held, not is_obstacle, float(d[k]), 0.0)
            met.append(MotionContact(contact, int(near[k]), int(deep[0]), int(deep[-1]), not is_obstacle))
    return sorted(met, key=lambda m: m.contact.distance)


def _drawn_hand(world: World, robot: str) -> int | None:
    """The body that is drawn with a hand of its own, for which the gripper stands; None if there is none.

    A robot without meshes is drawn from its kinematics, and its last body ends in a hand.
    """
    known = world.robots[robot]
    if known.gripper is None or known.robot.visuals:
        return None
    return int(known.robot.frame(known.tool).body)


class _Depths:
    """How far shapes of a robot at q (n, nq) are from obstacles, as the hulls that the shapes are around."""

    def __init__(self, model: CollisionModel, q: np.ndarray):
        self.model, self.q = model, q
        self._hulls: dict[tuple[str, int], Hull | None] = {}
        self._poses: dict[str, np.ndarray] = {}
        self._found: dict[tuple[str, int, int], np.ndarray] = {}

    def of_obstacle(self, shape: int, obstacle: int, distance: np.ndarray) -> np.ndarray:
        """The distances (n,) [m] of what a shape is around from an obstacle; `distance` is that of the shape."""
        model, count = self.model, self.model._plan.count
        if shape < count:
            own, frame = ("link", shape), model.robot.body_names[model.shapes.bodies[shape]]
        else:
            number = model._carried[1][shape - count]
            own, frame = ("carried", number), model.carried[number][0]
        if (*own, obstacle) not in self._found:
            moving, fixed = self._hull(*own), self._hull("obstacle", obstacle)
            if moving is None or fixed is None or moving.plane is not None:
                return distance
            self._found[*own, obstacle] = hull_gaps(moving, self._at(frame), fixed)
        return self._found[*own, obstacle]

    def _hull(self, kind: str, k: int) -> Hull | None:
        if (kind, k) not in self._hulls:
            self._hulls[kind, k] = self._made(kind, k)
        return self._hulls[kind, k]

    def _made(self, kind: str, k: int) -> Hull | None:
        if kind != "link":
            return hull_of(self.model.carried[k][1] if kind == "carried" else self.model.obstacles[k])
        shapes, none = self.model.shapes, np.zeros((0, 3))
        return Hull(shapes.hulls[k], none, none, float(shapes.hull_radii[k])) if shapes.hulls else None

    def _at(self, frame: str) -> np.ndarray:
        if frame not in self._poses:
            T = np.asarray(forward_kinematics(self.model.robot, self.q, frame))
            self._poses[frame] = self.model.T_world_base @ T
        return self._poses[frame]
