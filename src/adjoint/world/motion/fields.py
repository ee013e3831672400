"""Khatib's field of force: an attractive goal, repulsive obstacles, and joint torques of forces at control points.

Fu, Gonzalez & Lee (1987), Sec. 10.9.2; Khatib (1986), "Real-time obstacle avoidance for manipulators and mobile
robots", Int. J. Robotics Research 5 (1), 90-98.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...collision import CollisionModel
from ...compile import kernel, scan, static
from ...control.gains import gains
from ...control.laws import Law, law
from ...dynamics.newton_euler import gravity_torque
from ...errors import ArgumentError
from ...kinematics.forward import body_placements
from ...lazy import cached_property
from ...model.input_checks import floats, positive, truth, vectors
from ...model.needs import need_robot
from ...model.robot import Robot
from ...sensing.scene.scene_checks import pose
from ...sensing.scene.scenes import Scene
from ...sweep import forces
from .field_points import SOLID_ROW, ControlPoints, control_points, point_solid_distance, solid_rows

__all__ = ["FieldState", "ForceField", "field_law", "field_potential", "field_state", "field_torque", "force_field"]

_FAR = np.array([*np.eye(3).flat, 0, 0, -1e9, 0, 0, 0, 0, 2.0])  # a half-space that no robot reaches


@dataclass(frozen=True, eq=False)
class FieldPlan:
    """What the machine code of a field is made for: a robot, its control points, and the points that are pulled."""

    robot: Robot
    points: ControlPoints
    pulled_bodies: np.ndarray
    pulled_points: np.ndarray

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that results depend on."""
        p = self.points
        arrays = (p.bodies, p.points, p.radii, self.pulled_bodies, self.pulled_points)
        found = hashlib.sha256(f"{self.robot.fingerprint} {[a.shape for a in arrays]}".encode())
        for a in arrays:
            found.update(np.ascontiguousarray(a, float).tobytes())
        return found.hexdigest()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __eq__(self, other) -> bool:
        return isinstance(other, FieldPlan) and self.fingerprint == other.fingerprint

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.robot.nq

    @property
    def pulled(self) -> int:
        """The number of points that are pulled to the goal."""
        return len(self.pulled_bodies)


class FieldState(NamedTuple):
    """A field at a configuration.

    - `potential` [J]: U = Σ U_att + Σ U_rep; `torque` (nv,) [N m, N]: τ = Σ J_iᵀ F_i = -∂U/∂q.
    - `clearance` [m]: the least distance ρ of a control ball to an obstacle; below 0 they overlap.
    - `goal_distance` [m]: how far the pulled point that is farthest from its goal is away from it.
    """

    potential: Any
    torque: Any
    clearance: Any
    goal_distance: Any


@kernel(plan=static, q="nq", targets=("pulled", 3), table=(..., SOLID_ROW), numbers=4)
def field_of(plan: FieldPlan, q, targets, table, numbers) -> FieldState:
    """The field at q (nq,); `numbers` are k, η, ρ_0 and the least distance."""
    k, eta, reach, least = numbers[0], numbers[1], numbers[2], numbers[3]
    T, own = body_placements(plan.robot, q), plan.points
    x = [_place(T, b, p) for b, p in zip(own.bodies, own.points, strict=True)]

    def push(carry, row):
        U, F, nearest = carry
        rows = []
        for i, point in enumerate(x):
            found = point_solid_distance(point, row)
            rho = found.distance - own.radii[i]
            s = np.maximum(rho, least)
            a = np.where(rho < reach, 1 / s - 1 / reach, 0.0)
            slope = eta * a / (s * s)
            U = U + 0.5 * eta * a * a + slope * (s - rho)  # below the least distance it goes on with the same slope
            nearest = np.minimum(nearest, rho)
            rows.append(F[i] + slope * found.away)
        return (U, np.stack(rows), nearest), None

    (U, F, nearest), _ = scan(push, (0.0, np.zeros((len(x), 3)), np.inf), table)
    wrenches: dict[int, Any] = {}
    for i, body in enumerate(own.bodies):
        _add(wrenches, int(body), x[i], F[i])
    off2 = 0.0
    for body, p, goal in zip(plan.pulled_bodies, plan.pulled_points, targets, strict=True):
        at = _place(T, body, p)
        away = goal - at
        U, off2 = U + 0.5 * k * (away @ away), np.maximum(off2, away @ away)
        _add(wrenches, int(body), at, k * away)
    return FieldState(U, _joint_forces(plan.robot, T, wrenches), nearest, np.sqrt(off2))


def _place(T: dict, body, point):
    return T[int(body)][:3, :3] @ point + T[int(body)][:3, 3]


def _add(wrenches: dict[int, Any], body: int, x, f) -> None:
    """Add a force f (3,) at x (3,) to the wrenches on the bodies, about the origin of the base."""
    wrench = np.stack([*np.cross(x, f), f[0], f[1], f[2]])
    wrenches[body] = wrenches[body] + wrench if body in wrenches else wrench


def _joint_forces(robot: Robot, T: dict, wrenches: dict[int, Any]):
    """Σ Jᵀ W (nv,) of wrenches {body: (6,)} in the base frame: each is felt by all joints before its body."""
    felt, own = {b: w for b, w in wrenches.items() if b >= 0}, {}
    for i in reversed(range(len(robot.body_names))):
        wrench, parent = felt.get(i, np.zeros(6)), int(robot.parents[i])
        if parent >= 0:
            felt[parent] = felt[parent] + wrench if parent in felt else wrench
        R, p = T[i][:3, :3], T[i][:3, 3]
        moment = wrench[:3] - np.stack([*np.cross(p, wrench[3:])])
        own[i] = robot.screw(i) @ np.concatenate([R.T @ moment, R.T @ wrench[3:]])
    return forces(robot, dict(sorted(own.items())))


# --- fields -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ForceField:
    """A goal that pulls and obstacles that push: `force_field` makes one, `field_torque` and others evaluate it.

    `targets` (k, 3) [m] are the goals of the pulled points, `rows` (n, 17) the obstacles, both in the base frame, and
    `numbers` (4,) are k [N/m], η [N m³], ρ_0 [m] and the least distance [m].
    """

    plan: FieldPlan
    targets: np.ndarray
    rows: np.ndarray
    numbers: np.ndarray
    names: tuple[str, ...]

    @property
    def robot(self) -> Robot:
        """The robot that the field moves."""
        return self.plan.robot

    @property
    def reach(self) -> float:
        """ρ_0 [m]: from how far away obstacles push."""
        return float(self.numbers[2])

    def __repr__(self) -> str:
        return (
            f"<ForceField of '{self.robot.name}': {len(self.plan.points)} control points, {self.plan.pulled} pulled, "
            f"{len(self.names)} obstacles>"
        )


def force_field(
    robot: Robot | CollisionModel, obstacles=(), *, goal=None, points: ControlPoints | None = None,
    attraction: float = 20.0, repulsion: float | None = None, reach: float = 0.1, least: float | None = None,
    T_world_base=None,
) -> ForceField:  # fmt: skip
    """Khatib's field of force around a robot: control points are pushed by obstacles, and pulled to a goal.

        >>> from adjoint.sensing import Sphere
        >>> ball = Sphere(0.1, T_world_solid=[0.4, 0.3, 0.5], name="ball")
        >>> tip = control_points(robot, at=["tool"])
        >>> field = force_field(robot, [ball], goal={"tool": [0.5, 0.1, 0.6]}, points=tip)
        >>> field_torque(field, q).shape
        (6,)

    The potential is a sum over all pulled points x with goals x_g, and over all pairs of control balls and obstacles
    at the distance ρ:

        U_att = ½ k |x - x_g|²,        U_rep = ½ η (1/ρ - 1/ρ_0)² for ρ < ρ_0, else 0.

    Parameters
    ----------
    robot
        A robot, or a `CollisionModel`, whose obstacles, shapes and base the field then has. Fields push the links away
        from obstacles alone, not from each other.
    obstacles
        A `Scene` or a sequence of solids. Balls, capsules, boxes, cylinders and half-spaces are exact; hulls and
        meshes count as the boxes around them in their frames.
    goal
        {frame: position (3,)} in the world, or a configuration q (nq,), which pulls every control point to where it is
        at q. None: nothing is pulled.
    points
        The `control_points`; by default balls that cover all links.
    attraction, repulsion
        k [N/m] and η [N m³]. By default η = k ρ_0³ / 4 · 1 m: at ρ_0 / 2 an obstacle pushes as hard as a goal pulls
        that is 1 m away.
    reach, least
        ρ_0 [m], and the distance below which U_rep goes on with the same slope, ρ_0 / 10 by default. The book's penalty
        is infinite in contact; here it is finite and steep, so that what touches is pushed out.
    T_world_base
        The pose (4, 4) of the robot's base in the world.
    """
    caller = "force_field"
    if isinstance(robot, CollisionModel):
        model, robot = robot, robot.robot
        obstacles = obstacles or model.obstacles
        points = control_points(robot, model.shapes) if points is None else points
        T_world_base = model.T_world_base if T_world_base is None else T_world_base
    need_robot(robot, caller)
    base = pose(T_world_base, "T_world_base", caller)
    own = control_points(robot) if points is None else points
    if not isinstance(own, ControlPoints):
        raise ArgumentError(f"{caller}: points must be ControlPoints, which control_points makes")
    scene = obstacles if isinstance(obstacles, Scene) else Scene(list(obstacles))
    k = positive(attraction, f"{caller}: attraction")
    rho_0 = positive(reach, f"{caller}: reach")
    eta = k * rho_0**3 / 4 if repulsion is None else positive(repulsion, f"{caller}: repulsion")
    floor = rho_0 / 10 if least is None else positive(least, f"{caller}: least")
    if floor >= rho_0:
        raise ArgumentError(f"{caller}: least {floor:g} must be below reach {rho_0:g}")
    bodies, local, targets = _pulled(caller, robot, own, goal, base)
    rows = solid_rows(scene, base, caller)
    names = tuple(s.name or f"obstacle {i}" for i, s in enumerate(scene))
    table = rows if len(rows) else _FAR[None]
    return ForceField(FieldPlan(robot, own, bodies, local), targets, table, np.array([k, eta, rho_0, floor]), names)


def _pulled(caller: str, robot: Robot, own: ControlPoints, goal, base: np.ndarray):
    """The bodies, points (m, 3) in them, and goals (m, 3) in the base frame, of what a goal pulls."""
    if goal is None:
        return np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 3))
    if isinstance(goal, Mapping):
        spots = [robot.frame(name) for name in goal]
        x = np.array([floats(g) if floats(g).shape == (3,) else np.full(3, np.nan) for g in goal.values()])
        if not spots or not np.isfinite(x).all():
            raise ArgumentError(
                f"{caller}: goal must be {{frame: position (3,)}} of finite numbers, or q ({robot.nq},)"
            )
        local = np.array([f.placement[:3, 3] for f in spots])
        return np.array([f.body for f in spots]), local, (x - base[:3, 3]) @ base[:3, :3]
    q = vectors(goal, robot.nq, "goal", caller)
    if q.shape != (robot.nq,):
        raise ArgumentError(f"{caller}: goal must be one configuration ({robot.nq},), got shape {q.shape}")
    T = body_placements(robot, q)
    x = np.array([_place(T, b, p) for b, p in zip(own.bodies, own.points, strict=True)])
    return own.bodies, own.points, x


def field_state(field: ForceField, q) -> FieldState:
    """Potential, torque, clearance and distance from the goal of a field at q (..., nq): a `FieldState`.

    >>> field = force_field(robot, goal={"tool": [0.5, 0.1, 0.6]}, points=control_points(robot, at=["tool"]))
    >>> field_state(field, q).goal_distance.shape
    ()
    """
    return field_of(field.plan, q, field.targets, field.rows, field.numbers)


def field_torque(field: ForceField, q) -> np.ndarray:
    """The joint torques τ = Σ J_iᵀ F_i = -∂U/∂q (..., nv) [N m, N] of a field at q (..., nq).

    The force of an obstacle on a control point is F = η (1/ρ - 1/ρ_0) / ρ² ∇ρ, and that of a goal k (x_g - x).

        >>> field = force_field(robot, goal={"tool": [0.5, 0.1, 0.6]}, points=control_points(robot, at=["tool"]))
        >>> field_torque(field, np.zeros((100, 6))).shape
        (100, 6)
    """
    return field_state(field, q).torque


def field_potential(field: ForceField, q) -> np.ndarray:
    """The potential U (...) [J] of a field at q (..., nq): the sum of U_att and U_rep of `force_field`.

    >>> field = force_field(robot, goal={"tool": [0.5, 0.1, 0.6]}, points=control_points(robot, at=["tool"]))
    >>> bool(field_potential(field, q) > 0)
    True
    """
    return field_state(field, q).potential


def _law(robot, p, state, t, q, v, reference):
    found = field_of(p.plan, q, p.targets, p.table, p.numbers)
    tau = found.torque - p.damping * v
    return (tau + gravity_torque(robot, q) if p.gravity else tau), state


def field_law(field: ForceField, *, damping, gravity: bool = True) -> Law:
    """A control law that moves a robot in a field of force: τ = Σ J_iᵀ F_i - d v, and the torques of gravity.

        >>> field = force_field(robot, goal={"tool": [0.5, 0.1, 0.6]}, points=control_points(robot, at=["tool"]))
        >>> held = field_law(field, damping=5.0)
        >>> tau, _ = held(robot, None, 0.0, q, v)

    `damping` [N m s/rad, N s/m] is a number or (nv,). With it, the energy of motion and field never grows, so that
    the robot comes to rest where all forces balance: at the goal, or in a local minimum. The law is data and a function
    of one instant, as all laws are: `aj.simulate` runs thousands of arms at once. Its numbers are `targets`, `table`,
    `numbers` and `damping`; `law.replace(targets=...)` moves the goal, or gives each arm of a batch one of its own.
    """
    if not isinstance(field, ForceField):
        raise ArgumentError(
            f"field_law: field must be a ForceField, which force_field makes; got {type(field).__name__}"
        )
    d = gains(damping, field.robot.nv, "field_law: damping", or_zero=True)
    use = truth(gravity, "field_law: gravity")
    return law(
        _law, follows=None, name="field_law", plan=field.plan, targets=field.targets, table=field.rows,
        numbers=field.numbers, damping=d, gravity=use,
    )  # fmt: skip
