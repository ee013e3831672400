"""`hypothesize_and_test`: straight paths of joints that bend around spheres that enclose what they hit.

The earliest method of obstacle avoidance: Lewis & Bejczy (1973); Fu, Gonzalez & Lee (1987), Sec. 9.3.3 and 10.9.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...collision import CollisionModel, clearance, clearance_gradient, contacts, is_free, nearest_pair
from ...errors import ArgumentError
from ...kinematics.forward import forward_kinematics
from ...kinematics.jacobians import jacobian
from ...model.input_checks import count, positive, vectors
from ...sensing.scene.solids import Solid
from .path_checks import need_limits, need_model, path_length, plain_space, sampled
from .spaces import ConfigurationSpace

__all__ = ["HypothesisTest", "enclosing_sphere", "hypothesize_and_test"]

_SIDES = 8  # directions around an obstacle that are tried
_PUSHES = 30  # steps along the gradient of the clearance, at most
_SHORTEST = 0.02  # [rad, m] pieces of a path shorter than this are not bent any more


class HypothesisTest(NamedTuple):
    """What `hypothesize_and_test` found.

    - `path` (k, nq): the last hypothesis; it is free if `found`.
    - `reason`: why there is no free path: what the last hypothesis hits, and how many were tried.
    - `trials`: what each hypothesis hit, in words; `length` [rad, m] of the path.
    """

    path: np.ndarray
    found: bool
    reason: str
    trials: tuple[str, ...]
    length: float


def enclosing_sphere(solid: Solid) -> tuple[np.ndarray, float] | None:
    """The centre (3,) in the world and the radius [m] of a sphere around a solid; None if it is infinite.

        >>> from adjoint.sensing import Box
        >>> centre, radius = enclosing_sphere(Box([0.6, 0.8, 1e-9], T_world_solid=[1, 2, 3]))
        >>> centre, round(radius, 6)
        (array([1., 2., 3.]), 0.5)

    Its centre is that of the box around the solid in its frame.
    """
    if solid.bounds is None or solid.hull is None:
        return None
    middle = (solid.bounds[0] + solid.bounds[1]) / 2
    points, radius = solid.hull
    T = solid.T_world_solid
    return T[:3, :3] @ middle + T[:3, 3], float(np.linalg.norm(points - middle, axis=1).max() + radius)


def hypothesize_and_test(
    model: CollisionModel, start, goal, *, trials: int = 20, distance: float = 0.02, resolution: float = 0.02
) -> HypothesisTest:
    """A free path by trial and correction: a straight one is tested, and bent around what it hits.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> ball = Sphere(0.1, T_world_solid=aj.forward_kinematics(robot, q, "tool")[:3, 3], name="ball")
        >>> model = collision_model(robot, [ball], pairs=())
        >>> way = np.array([0.8, 0, 0, 0, 0, 0])
        >>> hypothesize_and_test(model, q - way, q + way).found
        True

    Parameters
    ----------
    model
        The `CollisionModel` of a robot whose joints have one coordinate each.
    start, goal
        Free configurations (nq,) within the limits. An `ArgumentError` says what touches what if they are not.
    trials
        How many corrections are made at most.
    distance
        How far outside of the enclosing sphere the link is to pass [m].
    resolution
        The distance [rad, m] of the configurations that are tested along a path.

    It returns a `HypothesisTest`. The method has three steps, which are repeated: hypothesize a path, straight in the
    joints from waypoint to waypoint; test configurations along it for collisions, all at once; correct it. At the
    middle of the first stretch of collisions, take the link and the obstacle that are deepest in each other, and move
    the link's point sideways, across its motion, to a tangent point of the sphere around the obstacle; the
    configuration there, by damped least squares, becomes a waypoint. Of eight sides, and of a push straight out of the
    obstacle, the one is taken after which the fewest configurations are in collision, and then the shortest.

    Half-spaces and links of the robot itself have no such sphere; from these, the waypoint is pushed along the gradient
    of the clearance. The method works where obstacles are few and far apart. In clutter the way around one obstacle
    leads into the next one: then `found` is False, and `plan_motion` is the method to take.
    """
    caller = "hypothesize_and_test"
    model = need_model(model, caller)
    space = plain_space(caller, model)
    fine, apart = positive(resolution, f"{caller}: resolution"), positive(distance, f"{caller}: distance", or_zero=True)
    most = count(trials, f"{caller}: trials")
    ends = [_free_end(caller, model, name, q) for name, q in (("start", start), ("goal", goal))]
    for name, q in zip(("start", "goal"), ends, strict=True):
        need_limits(caller, space, name, q)
    ends[1] = space.unrolled(np.array(ends))[1]
    path, told = np.array(ends), []
    while True:
        hit = _first_hit(model, path, fine)
        if hit is None:
            return HypothesisTest(path, True, "", tuple(told), path_length(path))
        edge, q, way = hit
        touch = contacts(model, q)
        told.append(str(touch[0]) if touch else "a collision between two tested configurations")
        if len(told) > most:
            reason = f"{most} corrections were not enough: {told[-1]}"
            break
        via = _via(model, space, path, edge, q, way, apart, fine)
        if via is None:
            reason = f"after {len(told) - 1} corrections, there is no way around what is hit: {told[-1]}"
            break
        path = np.insert(path, edge + 1, via, axis=0)
    reason += "; where obstacles stand close together, plan_motion is the method to take"
    return HypothesisTest(path, False, reason, tuple(told), path_length(path))


def _free_end(caller: str, model: CollisionModel, name: str, q) -> np.ndarray:
    found = vectors(q, model.robot.nq, name, caller)
    if found.shape != (model.robot.nq,) or not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: {name} must be one configuration ({model.robot.nq},) of finite numbers")
    if not is_free(model, found):
        raise ArgumentError(f"{caller}: {name}: {contacts(model, found)[0]}")
    return found


def _first_hit(model: CollisionModel, path: np.ndarray, resolution: float):
    """The first edge that is not free, the configuration in the middle of its first stretch of collisions, its way."""
    for k in range(len(path) - 1):
        q = sampled(path[k : k + 2], resolution)
        free = is_free(model, q)
        if free.all():
            continue
        first = int(np.argmin(free))
        last = first + int(np.argmax(np.append(free[first:], True))) - 1
        return k, q[(first + last) // 2], path[k + 1] - path[k]
    return None


# --- the way around ---------------------------------------------------------------------------------------------------


def _via(model, space: ConfigurationSpace, path, edge: int, q, way, apart: float, resolution: float):
    """The best free configuration beside an obstacle, as a waypoint of an edge; None if there is none."""
    if np.linalg.norm(way) < _SHORTEST:
        return None
    candidates = [_pushed(model, space, x, apart) for x in (*_beside(model, space, q, way, apart), q)]
    candidates = [x for x in candidates if x is not None]
    if not candidates:
        return None
    before, after = path[edge], path[edge + 1]

    def badness(x: np.ndarray) -> tuple[int, float]:
        around = np.array([before, x, after])
        hits = int((~is_free(model, sampled(around, resolution))).sum())
        return hits, path_length(around)

    return min(candidates, key=badness)


def _beside(model: CollisionModel, space: ConfigurationSpace, q: np.ndarray, way: np.ndarray, apart: float) -> list:
    """Configurations in which the point that hits an obstacle is on a tangent of the sphere around it."""
    near = nearest_pair(model, q)
    solids = dict(zip(model.obstacle_names, model.obstacles, strict=True))
    solid, frame = solids.get(str(near.b)), _frame_of(model, str(near.a))
    sphere = None if solid is None or frame is None else enclosing_sphere(solid)
    if sphere is None or frame is None:
        return []
    centre, radius = sphere
    local, J = _point(model, q, frame, near.point_a)
    motion = J @ way
    # Sideways is across the motion of the point; first away from the centre, then around.
    t = motion / max(float(np.linalg.norm(motion)), 1e-12)
    out = near.point_a - centre
    out = out - (out @ t) * t
    if np.linalg.norm(out) < 1e-6 * radius:
        out = np.cross(t, np.eye(3)[int(np.argmin(np.abs(t)))])
    out = out / np.linalg.norm(out)
    other = np.cross(t, out)
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    goals = [centre + (radius + apart) * (np.cos(a) * out + np.sin(a) * other) for a in angles]
    found = [_moved_to(model, space, q, frame, local, x) for x in goals]
    return [x for x in found if x is not None]


def _frame_of(model: CollisionModel, name: str) -> str | None:
    """The frame of the robot that a link or a carried solid moves with."""
    if name in model.robot.frame_names:
        return name
    return next((frame for frame, solid in model.carried if solid.name == name), None)


def _point(model: CollisionModel, q: np.ndarray, frame: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A point x (3,) of the world in a frame of the robot, and the Jacobian (3, nv) of its position in the world."""
    base = model.T_world_base
    T = base @ forward_kinematics(model.robot, q, frame)
    J, r = jacobian(model.robot, q, frame, "world"), base[:3, :3].T @ (x - T[:3, 3])
    return T[:3, :3].T @ (x - T[:3, 3]), base[:3, :3] @ (J[3:] - np.cross(r, J[:3].T).T)


def _moved_to(model: CollisionModel, space: ConfigurationSpace, q, frame: str, local, goal) -> np.ndarray | None:
    """The configuration near q in which the point of a frame is at a goal (3,), or as near as the arm reaches."""
    for _ in range(_PUSHES):
        T = model.T_world_base @ forward_kinematics(model.robot, q, frame)
        x = T[:3, :3] @ local + T[:3, 3]
        off = goal - x
        if np.linalg.norm(off) < 1e-3:
            break
        _, J = _point(model, q, frame, x)
        step = J.T @ np.linalg.solve(J @ J.T + 1e-3 * np.eye(3), off)
        step *= min(1.0, 0.3 / max(float(np.abs(step).max()), 1e-12))
        q = np.clip(q + step, space.lower, space.upper)
    return q


def _pushed(model: CollisionModel, space: ConfigurationSpace, q: np.ndarray, apart: float) -> np.ndarray | None:
    """The configuration, pushed along the gradient of the clearance to `apart` [m]; None if it sticks."""
    for _ in range(_PUSHES):
        found = clearance_gradient(model, q)
        if found.clearance >= apart:
            return q
        g = found.gradient
        if not g @ g > 1e-12:
            break
        step = (apart + 1e-3 - found.clearance) * g / (g @ g)
        step *= min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-12))
        q = np.clip(q + step, space.lower, space.upper)
    return q if clearance(model, q) > 0 else None
