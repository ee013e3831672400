"""Descent in fields of force: a path towards the goal, local minima, and small repairs of a known path.

Penalty functions of Fu, Gonzalez & Lee (1987), Sec. 10.9.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, scan, static
from ...errors import ArgumentError
from ...kinematics.forward import body_placements
from ...model.input_checks import count, positive, vectors
from .field_points import SOLID_ROW, point_solid_distance
from .fields import FieldPlan, ForceField, field_state
from .spaces import configuration_space

__all__ = ["Descent", "RepairedPath", "descend_field", "repair_path"]

_ENOUGH = 1e-4  # Armijo's part of the expected decrease that a step must have
_SMALLEST = 1e-9  # [rad, m] steps below this end a descent
_FINEST = 1e-3  # [rad, m] steps above this do not pass the lowest point of their line
_DAMPING = 1e-3  # of the mean of the diagonal of G, added to it: joints that move no control point
_PATIENCE = 40  # so many steps without progress are a local minimum
_NOTHING = "nothing is near"


class Descent(NamedTuple):
    """A path that follows a field down, and where it ended.

    - `path` (k, nq), `potential` (k,) [J], which decreases; `reached`: whether it ends at the goal.
    - `reason`: why it ended elsewhere: a local minimum, and what pushes there, or the number of steps.
    - `clearance` [m]: the least distance of a control ball to an obstacle on the way.
    """

    path: np.ndarray
    potential: np.ndarray
    reached: bool
    reason: str
    clearance: float


class RepairedPath(NamedTuple):
    """A path (k, nq) that penalties have pushed away from obstacles.

    `before`, `after` (k,) [m] are the clearances of its control balls, `free` says whether all of `after` is above 0,
    and `moved` [rad, m] is the largest change of a coordinate. `reason` names waypoints that are still in collision.
    """

    path: np.ndarray
    before: np.ndarray
    after: np.ndarray
    free: bool
    moved: float
    reason: str


@kernel(plan=static, q="nq")
def _places(plan: FieldPlan, q):
    """The control points (m, 3) in the base frame."""
    T, own = body_placements(plan.robot, q), plan.points
    return np.stack([T[int(b)][:3, :3] @ p + T[int(b)][:3, 3] for b, p in zip(own.bodies, own.points, strict=True)])


@kernel(plan=static, q="nq", table=(..., SOLID_ROW))
def _distances(plan: FieldPlan, q, table):
    """The distances (n, m) of all control balls to all obstacles."""
    x = _places(plan, q)

    balls = list(zip(x, plan.points.radii, strict=True))

    def step(carry, row):
        return carry, np.stack([point_solid_distance(p, row).distance - r for p, r in balls])

    return scan(step, 0.0, table)[1]


def descend_field(
    field: ForceField, start, *, tolerance: float = 0.01, step: float = 0.05, steps: int = 2000
) -> Descent:
    """Follow a field of force down, q ← q - s G⁻¹ ∂U/∂q, until the goal, a local minimum, or enough steps.

        >>> from adjoint.world import control_points, force_field
        >>> field = force_field(robot, goal={"tool": [0.5, 0.1, 0.6]}, points=control_points(robot, at=["tool"]))
        >>> descend_field(field, q).reached
        True

    Parameters
    ----------
    start
        A configuration (nq,), in which no control ball touches an obstacle.
    tolerance
        The goal is reached if all pulled points are this close to theirs [m].
    step
        The length of a step at most [rad, m]. Steps are shorter near obstacles: no control ball moves further than
        half of the distance that it has to them, so that none jumps over an obstacle.
    steps
        How many steps there are at most.

    G = Σ Jᵀ J is what the inertia would be if all mass were in the control points, so that the robot moves as if these
    were drawn through honey. Every step decreases the potential (Armijo's rule), within the limits of the joints. A
    field knows only what is near: in a local minimum, where forces balance away from the goal, `reached` is False, and
    `reason` names the obstacles that push there. `hypothesize_and_test` and `plan_motion` find ways around them.
    """
    caller = "descend_field"
    q = vectors(start, field.robot.nq, "start", caller)
    if q.shape != (field.robot.nq,):
        raise ArgumentError(f"{caller}: start must be one configuration ({field.robot.nq},); got shape {q.shape}")
    most, near = positive(step, f"{caller}: step"), positive(tolerance, f"{caller}: tolerance")
    limit = count(steps, f"{caller}: steps")
    if not field.plan.pulled:
        raise ArgumentError(f"{caller}: the field has no goal; give force_field one")
    at = field_state(field, q)
    if not at.clearance > 0:
        raise ArgumentError(f"{caller}: at the start {_pushing(field, q, 0.0)}; a descent starts outside of obstacles")
    space = configuration_space(field.robot, caller=caller)
    path, potentials, least, h, idle = [q], [float(at.potential)], float(at.clearance), 1.0, 0
    for _ in range(limit):
        if at.goal_distance <= near:
            return Descent(np.array(path), np.array(potentials), True, "", least)
        found = _lower(field, space, q, at, min(2 * h, 1.0), most)
        if found is None:
            break
        q, new, h = found
        idle = idle + 1 if at.potential - new.potential < 1e-7 * abs(at.potential) else 0
        at = new
        path.append(q)
        potentials.append(float(at.potential))
        least = min(least, float(at.clearance))
        if idle > _PATIENCE:
            break
    else:
        return Descent(np.array(path), np.array(potentials), False, f"{limit} steps were not enough", least)
    off = float(at.goal_distance)
    reached = off <= near
    reason = "" if reached else f"a local minimum, {off:.3g} m away from the goal: {_balance(field, q, space)}"
    return Descent(np.array(path), np.array(potentials), reached, reason, least)


def _lower(field: ForceField, space, q: np.ndarray, at, h: float, most: float):
    """The configuration after one step, the field there, and the part of the whole step; None if every step goes up."""
    x, down, decrease = _direction(field, space, q, at.torque)
    size = float(np.linalg.norm(down))
    if size < _SMALLEST:
        return None
    h = min(h, most / size)
    room = 0.5 * float(at.clearance)
    while h * size > _SMALLEST:
        new = space.moved(q, down, h)
        if space.plain:
            new = np.clip(new, space.lower, space.upper)
        way = float(np.linalg.norm(_places(field.plan, new) - x, axis=1).max())
        if way > room:
            h *= max(0.9 * room / way, 0.1)
            continue
        found = field_state(field, new)
        # A step that passes the lowest point of its line would zigzag between the walls of a valley.
        passed = found.torque @ down < 0 and h * size > _FINEST
        if found.potential < at.potential - _ENOUGH * h * decrease and found.clearance > 0 and not passed:
            return new, found, h
        h /= 2
    return None


def _direction(field: ForceField, space, q: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The control points (m, 3), the direction (k G)⁻¹ τ (nv,) of steepest descent in the metric G, and its slope."""
    nv, eps = len(tau), 1e-6
    around = _places(field.plan, np.concatenate([q[None], space.moved(np.tile(q, (nv, 1)), np.eye(nv), eps)]))
    J = ((around[1:] - around[0]) / eps).reshape(nv, -1)
    G = J @ J.T
    G[np.diag_indices(nv)] += _DAMPING * max(float(np.trace(G)), 1e-12) / nv
    free = np.ones(nv, bool)
    if space.plain:  # a joint at its limit stays there: the field must not end the descent for the others
        free = ~(((q <= space.lower) & (tau < 0)) | ((q >= space.upper) & (tau > 0)))
    down = np.zeros(nv)
    if free.any():
        down[free] = np.linalg.solve(G[np.ix_(free, free)], tau[free]) / field.numbers[0]
    return around[0], down, float(down @ tau)


def _pushing(field: ForceField, q: np.ndarray, reach: float) -> str:
    """Which control points and obstacles are closer to each other than `reach`, in words."""
    d = _distances(field.plan, q, field.rows)
    if not field.names:
        return _NOTHING
    near = [k for k in np.argsort(d.min(axis=1)) if d[k].min() <= reach]
    words = [
        f"'{field.plan.points.names[int(d[k].argmin())]}' is {abs(1e3 * d[k].min()):.3g} mm "
        f"{'inside' if d[k].min() < 0 else 'from'} '{field.names[k]}'"
        for k in near[:3]
    ]
    return " and ".join(words) if words else _NOTHING


def _balance(field: ForceField, q: np.ndarray, space) -> str:
    """What balances the pull of the goal in a local minimum, in words."""
    at_limit = [k for k in range(len(q)) if space.plain and (q[k] <= space.lower[k] or q[k] >= space.upper[k])]
    near = _pushing(field, q, field.reach)
    words = [near] if near != _NOTHING else []
    words += [f"q{at_limit} {'is' if len(at_limit) == 1 else 'are'} at the limits of the joints"] if at_limit else []
    return ", and ".join(words) or "the pulls of several points balance each other, and no obstacle is near"


# --- repairs ----------------------------------------------------------------------------------------------------------


def repair_path(
    field: ForceField, path, *, deviation: float = 1.0, steps: int = 200, step: float = 0.05
) -> RepairedPath:
    """Push the waypoints of a known path out of and away from obstacles, with a penalty for leaving the path.

        >>> from adjoint.sensing import Sphere
        >>> from adjoint.world import control_points, force_field
        >>> ball = Sphere(0.1, T_world_solid=aj.forward_kinematics(robot, q, "tool")[:3, 3] + [0, 0, 0.12])
        >>> field = force_field(robot, [ball], points=control_points(robot, at=["tool"]))
        >>> path = np.linspace(q - 0.5, q + 0.5, 21)
        >>> repaired = repair_path(field, path)
        >>> bool(repaired.after.min() > repaired.before.min())
        True

    Each waypoint (nq,) but the first and the last descends in U_rep + ½ w |q - q_0|², where q_0 is where it was and w
    the `deviation` [J/rad²], all at once, in steps of at most `step` [rad, m]. The book recommends penalty functions
    for such small changes of a known path only; large ones end in local minima. The result is checked at its waypoints
    alone; `smooth_path` and `collision.edges_free` see to the edges between them.
    """
    caller = "repair_path"
    q_0 = vectors(path, field.robot.nq, "path", caller)
    if q_0.ndim != 2 or len(q_0) < 3 or not np.isfinite(q_0).all():
        raise ArgumentError(
            f"{caller}: path must be three or more waypoints (k, {field.robot.nq}); got shape {q_0.shape}"
        )
    w, most = positive(deviation, f"{caller}: deviation"), positive(step, f"{caller}: step")
    space = configuration_space(field.robot, caller=caller)
    pushes = field if not field.plan.pulled else _without_goal(field)

    def state(q):
        found = field_state(pushes, q)
        v = space.difference(q_0[1:-1], q)
        return found.potential + 0.5 * w * (v * v).sum(axis=-1), found.torque - w * v, found.clearance

    q = q_0[1:-1].copy()
    U, down, _ = state(q)
    h = np.full(len(q), most)
    for _ in range(count(steps, f"{caller}: steps")):
        size = np.linalg.norm(down, axis=1)
        s = np.minimum(h, size / w) / np.maximum(size, 1e-300)
        new = space.moved(q, down, s)
        new = np.clip(new, space.lower, space.upper) if space.plain else new
        U_new, down_new, _ = state(new)
        better = U_new < U - _ENOUGH * s * size**2
        rows = better[:, None]
        q, down, U = np.where(rows, new, q), np.where(rows, down_new, down), np.where(better, U_new, U)
        h = np.where(better, np.minimum(1.5 * h, most), h / 2)
        if (h < _SMALLEST).all():
            break
    whole = np.concatenate([q_0[:1], q, q_0[-1:]])
    before, after = field_state(pushes, q_0).clearance, field_state(pushes, whole).clearance
    bad = np.flatnonzero(~(after > 0))
    reason = ""
    if len(bad):
        reason = (
            f"{len(bad)} waypoints are still in collision; at waypoint {bad[0]} {_pushing(field, whole[bad[0]], 0.0)}"
        )
    return RepairedPath(whole, before, after, not len(bad), float(np.abs(whole - q_0).max()), reason)


def _without_goal(field: ForceField) -> ForceField:
    plan = FieldPlan(field.robot, field.plan.points, np.zeros(0, int), np.zeros((0, 3)))
    return ForceField(plan, np.zeros((0, 3)), field.rows, field.numbers, field.names)
