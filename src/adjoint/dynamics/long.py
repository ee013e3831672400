"""Dynamics of robots with many bodies: the steps of `newton_euler`, `forward`, `articulated` as loops; see `rolled`.

Importing this file lets inverse and forward dynamics, energies and the functions of the mass matrix take robots of any
size. In between the unrolled algorithms know nothing of it.
"""

from __future__ import annotations

import numpy as np

from ..compile import Kernel, kernel, scan
from ..kinematics.long import body_placements
from ..lie import se3, so3
from ..model.joints import JOINTS
from ..model.once import once_a_robot
from ..model.reframe import axial_frames
from ..model.robot import Robot
from ..rolled import (
    ROBOT,
    Long,
    Parts,
    Plan,
    Root,
    Row,
    for_loops,
    inward,
    is_long,
    joint_motions,
    outward,
    placed,
    root_placed,
)
from .armature import joint_armature_bias
from .articulated import Pivot, Symmetric, eliminated, no_inertia
from .composite import mass_matrix
from .energy import kinetic_energy, potential_energy
from .factorization import mass_matrix_logdet, mass_matrix_logdet_gradient, mass_matrix_sqrt_solve
from .forward import accelerated, forward_dynamics, leftover, next_drift, solve_mass_matrix
from .newton_euler import (
    bias_force,
    frame_wrenches,
    gravity_torque,
    inverse_dynamics,
    mass_matrix_product,
    motion,
    next_motion,
    rigid_wrench,
    squared,
    true_motion,
)

__all__ = [
    "AT_REST",
    "accelerations_beyond",
    "freed",
    "left_at_rest",
    "require_long_inertia",
    "rolled_forward_dynamics",
    "rolled_inverse_dynamics",
    "rolled_logdet_gradient",
    "rolled_pivots",
    "rolled_solve",
    "rolled_sqrt_solve",
    "root_accelerated",
]


def _resistance(resists, v):
    """Damping · v + friction · sign(v)."""
    return resists[0] * v + resists[1] * np.sign(v)


def _root_force(plan: Plan, root: Root, v):
    """What the root's joint itself resists a motion at a = 0 with, as `joint_force`."""
    resistance = _resistance(root.resists, v)
    return resistance + joint_armature_bias(plan.kind, root.armature, v) if plan.root_rotors else resistance


def _given(x) -> tuple:
    return () if x is None else (x,)


# --- the algorithms ---------------------------------------------------------------------------------------------------


_STATE = {"q": ..., "v": ..., "root_q": "nq", "root_v": "nv", "base_twist": 6, "base_acceleration": 6}
_STATE |= {"resists": (..., 2)}  # damping and dry friction
_LOADS = {"load": (..., 6), "root_load": 6}


@kernel(a=..., root_a="nv", **_STATE, **_LOADS, **ROBOT)
def rolled_inverse_dynamics(
    q, v, a, root_q, root_v, root_a, base_twist, base_acceleration, resists, placements, bodies, root, plan,
    load=None, root_load=None,
):  # fmt: skip
    """`Parts` of `inverse_dynamics`; the base accelerates against gravity, bodies exert wrenches `load`."""
    root, motions = Root.of(root, plan), joint_motions(plan, bodies, q)
    start = motion(*true_motion(base_twist, base_acceleration))
    if plan.kind:
        root_f = root_placed(plan, root, root_q)
        start = next_motion(start, root_f, root.screws.T, root_v, root_a)

    def move(parent, row, moved, v, a):
        x = next_motion(parent, placed(row, moved), row.screw[:, None], np.stack([v]), np.stack([a]))
        return x, rigid_wrench(x, row.inertia)

    def press(total, row, moved, v, a, resists, F, *loads):
        F = sum(loads, F + total[0])
        tau = np.dot(row.screw, F) + row.armature * a + _resistance(resists, v)
        return (se3.coAd_inv_action(placed(row, moved), F),), tau

    F = outward(plan, move, start, (placements, bodies, motions, v, a))
    rest = (placements, bodies, motions, v, a, resists, F, *_given(load))
    (F,), tau = inward(plan, press, (np.zeros(6),), rest)
    if not plan.kind:
        return Parts(np.zeros(0), tau)
    F = sum(_given(root_load), F + rigid_wrench(start, root.inertia))
    return Parts(root.screws @ F + root.armature * root_a + _root_force(plan, root, root_v), tau)


AT_REST = Symmetric(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3)))


@kernel(tau=..., root_tau="nv", **_STATE, **_LOADS, **ROBOT)
def rolled_forward_dynamics(
    q, v, tau, root_q, root_v, root_tau, base_twist, base_acceleration, resists, placements, bodies, root, plan,
    load=None, root_load=None,
):  # fmt: skip
    """`Parts` of `forward_dynamics`; the base accelerates against gravity, bodies exert wrenches `load`."""
    root, motions = Root.of(root, plan), joint_motions(plan, bodies, q)
    w_0, A_0 = true_motion(base_twist, base_acceleration)
    start = w_0, squared(w_0)
    if plan.kind:
        root_f = root_placed(plan, root, root_q)
        start, root_bias, root_drift = next_drift(start, root_f, root.screws.T, root_v, root.inertia)

    def move(parent, row, moved, v):
        x, bias, drift = next_drift(parent, placed(row, moved), row.screw[:, None], np.stack([v]), row.inertia)
        return x, (bias, drift)

    bias, drift = outward(plan, move, start, (placements, bodies, motions, v))

    def left_over(total, row, moved, tau, v, resists, bias, drift, *loads):
        J, p = Symmetric(*total[:3]) + Symmetric.of_inertia(row.inertia), sum(loads, total[3] + bias)
        return _passed(row, J, p + J @ drift, tau - _resistance(resists, v), placed(row, moved))

    rest = (placements, bodies, motions, tau, v, resists, bias, drift, *_given(load))
    totals, (Pi, left) = inward(plan, left_over, (*AT_REST, np.zeros(6)), rest)
    A, root_a = A_0, np.zeros(0)
    if plan.kind:
        J = Symmetric(*totals[:3]) + Symmetric.of_inertia(root.inertia)
        wrench = sum(_given(root_load), totals[3] + root_bias + J @ root_drift)
        force = root_tau - _root_force(plan, root, root_v)
        root_a, A = root_accelerated(root, J, wrench, force, se3.Ad_inv_action(root_f, A_0))
        A = A + root_drift
    return Parts(root_a, accelerations_beyond(plan, A, (placements, bodies, motions, Pi, left, drift)))


def freed(row: Row, J: Symmetric) -> tuple[Pivot, Symmetric]:
    """The pivot of a body's joint, and what it lets through of the body's articulated inertia J."""
    (pivot,), rest = eliminated(J, row.screw[None], np.stack([row.armature]), row.only_turns)
    return pivot, rest


def _passed(row: Row, J: Symmetric, wrench, tau, f) -> tuple:
    """What a body with articulated inertia J passes on to its parent; Π and (τ - s·p)/Ω of its joint."""
    pivot, rest = freed(row, J)
    (left,), wrench = leftover([pivot], np.stack([tau]), wrench)
    return (*rest.moved(f), se3.coAd_inv_action(f, wrench)), (pivot.Pi, left)


def root_accelerated(root: Root, J: Symmetric, wrench, tau, y) -> tuple:
    """The accelerations of the root's joint, and its A; y is that of the base."""
    pivots, _ = eliminated(J, root.screws, root.armature, constant=False)
    left, _ = leftover(pivots, tau, wrench)
    a, A = accelerated(pivots, left, y)
    return np.stack(a), A


def accelerations_beyond(plan: Plan, A, rows: tuple):
    """The joints' accelerations, from the root outward, whose A is known.

    `rows`: placements, bodies and motions; Π, (τ - s·p)/Ω, and drift of the joints, none at rest.
    """

    def step(parent, row, moved, Pi, left, *drift):
        y = se3.Ad_inv_action(placed(row, moved), parent[0])
        (a,), y = accelerated([Pivot(row.screw, None, None, Pi)], [left], y)
        return (sum(drift, y),), a

    return outward(plan, step, (A,), rows)


def left_at_rest(total: tuple, row: Row, moved, b) -> tuple:
    """What a body passes on to its parent, as articulated inertia and wrench; Π and (τ - s·p)/Ω of its joint."""
    J = Symmetric(*total[:3]) + Symmetric.of_inertia(row.inertia)
    return _passed(row, J, total[3], b, placed(row, moved))


@kernel(q=..., b=..., root_q="nq", root_b="nv", **ROBOT)
def rolled_solve(q, b, root_q, root_b, placements, bodies, root, plan):
    """`Parts` of `solve_mass_matrix`."""
    root, rows = Root.of(root, plan), (placements, bodies, joint_motions(plan, bodies, q))
    totals, (Pi, left) = inward(plan, left_at_rest, (*AT_REST, np.zeros(6)), (*rows, b))
    A, root_a = np.zeros(6), np.zeros(0)
    if plan.kind:
        J = Symmetric(*totals[:3]) + Symmetric.of_inertia(root.inertia)
        root_a, A = root_accelerated(root, J, totals[3], root_b, A)
    return Parts(root_a, accelerations_beyond(plan, A, (*rows, Pi, left)))


def _articulated(plan: Plan, rows: tuple) -> tuple:
    """Ĵ that the root is passed; Π and 1/Ω of every joint, and what it lets through of its body's Ĵ."""

    def step(total, row, moved):
        pivot, rest = freed(row, Symmetric(*total) + Symmetric.of_inertia(row.inertia))
        return tuple(rest.moved(placed(row, moved))), (pivot.Pi, pivot.inverse, rest)

    total, stacked = inward(plan, step, tuple(AT_REST), rows)
    return Symmetric(*total), stacked


def _root_pivots(root: Root, total: Symmetric) -> list[Pivot]:
    return eliminated(total + Symmetric.of_inertia(root.inertia), root.screws, root.armature, constant=False)[0]


@kernel(q=..., root_q="nq", **ROBOT)
def rolled_pivots(q, root_q, placements, bodies, root, plan):
    """`Parts` of the diagonal of Ω in M = W Ω Wᵀ."""
    total, (_, inverse, _) = _articulated(plan, (placements, bodies, joint_motions(plan, bodies, q)))
    pivots = _root_pivots(Root.of(root, plan), total) if plan.kind else []
    at_root = np.stack([pivot.Omega for pivot in pivots]) if pivots else np.zeros(0)
    return Parts(at_root, scan(lambda carry, x: (carry, 1 / x), 0.0, inverse)[1])


@kernel(q=..., b=..., root_q="nq", root_b="nv", **ROBOT)
def rolled_sqrt_solve(q, b, root_q, root_b, placements, bodies, root, plan):
    """`Parts` of `mass_matrix_sqrt_solve`."""
    rows = placements, bodies, joint_motions(plan, bodies, q)
    total, (Pi, inverse, _) = _articulated(plan, rows)
    A, root_a = np.zeros(6), np.zeros(0)
    if plan.kind:
        pivots = _root_pivots(Root.of(root, plan), total)
        noise = [root_b[k] * np.sqrt(pivot.inverse) for k, pivot in enumerate(pivots)]
        found, A = accelerated(pivots, noise, A)
        root_a = np.stack(found)
    _, noise = scan(lambda carry, x: (carry, x[0] * np.sqrt(x[1])), 0.0, (b, inverse))
    return Parts(root_a, accelerations_beyond(plan, A, (*rows, Pi, noise)))


@kernel(q=..., root_q="nq", **ROBOT)
def rolled_logdet_gradient(q, root_q, placements, bodies, root, plan):
    """`Parts` of `mass_matrix_logdet_gradient`: Ĵ inward, then K_i = ∂ log det M/∂Ĵ_i outward.

    K_i (6, 6) is the inverse of the inertia that body i shows when all joints of the robot are free: J_i M⁻¹ J_iᵀ with
    its body Jacobian. With Q = Ĵ - U Uᵀ/Ω, what joint i lets through, and its parent's K seen from body i, moving the
    joint changes log det M by -2 tr(K Q ad(S)); then K_i = (1 - S Πᵀ) K (1 - Π Sᵀ) + S Sᵀ/Ω.
    """
    rows = placements, bodies, joint_motions(plan, bodies, q)
    total, (Pi, inverse, rest) = _articulated(plan, rows)
    K = AT_REST
    for pivot in _root_pivots(Root.of(root, plan), total) if plan.kind else []:
        K = _freer(K, pivot.s, pivot.Pi, pivot.inverse)

    def slope(parent, row, moved, rest, Pi, inverse):
        K = _seen_from(placed(row, moved), Symmetric(*parent))
        A, B, C = rest
        GA, GB, GC = K.A @ A + K.B @ B.T, K.A @ B + K.B @ C, K.B.T @ B + K.C @ C  # blocks of K Q that ad(S) meets
        by_q = np.dot(row.screw[:3], _axial(GA + GC)) + np.dot(row.screw[3:], _axial(GB))
        return tuple(_freer(K, row.screw, Pi, inverse)), 2 * by_q

    return Parts(np.zeros(plan.nv), outward(plan, slope, tuple(K), (*rows, rest, Pi, inverse)))


def _freer(K: Symmetric, s, Pi, inverse) -> Symmetric:
    """(1 - s Πᵀ) K (1 - Π sᵀ) + s sᵀ/Ω: K beyond a joint, of K before it."""
    y = K @ Pi
    half = y - 0.5 * (np.dot(Pi, y) + inverse) * s
    w, v, m, f = s[:3], s[3:], half[:3], half[3:]
    A, C = np.outer(w, m), np.outer(v, f)
    return Symmetric(K.A - A - A.T, K.B - np.outer(w, f) - np.outer(m, v), K.C - C - C.T)


def _seen_from(f, K: Symmetric) -> Symmetric:
    """Ad(f⁻¹) K Ad(f⁻¹)ᵀ."""
    R, P = f[:3, :3], so3.hat(f[:3, 3])
    B = K.A @ P + K.B
    C = K.C + K.B.T @ P - P @ B
    return Symmetric(R.T @ K.A @ R, R.T @ B @ R, R.T @ C @ R)


def _axial(G):
    """x (3,) with x·w = -tr(G [w])."""
    return np.stack([G[2, 1] - G[1, 2], G[0, 2] - G[2, 0], G[1, 0] - G[0, 1]])


# --- robots with many bodies ------------------------------------------------------------------------------------------


_ZERO = np.zeros(6)
_AS_IT_IS = {"gravity": None, "wrenches": None, "frames": (), "base_twist": None, "base_acceleration": None}


def _upward(robot: Robot, gravity, acceleration):
    """V̇_0 (..., 6) of a base that accelerates against gravity, as `base_motion`."""
    upward = _against(robot) if gravity is None else np.concatenate([np.zeros_like(gravity), -gravity], axis=-1)
    return upward if acceleration is None else upward + acceleration


@once_a_robot
def _against(robot: Robot) -> np.ndarray:
    return np.append(np.zeros(3), -robot.gravity)


def _loads(robot: Robot, long: Long, wrenches, frames: str | tuple[str, ...]) -> dict:
    """Wrenches (..., n, 6) that bodies exert on their surroundings, of those that frames do."""
    given = frame_wrenches(wrenches, frames)
    if not given:
        return {}
    loads = np.zeros((*given[0][1].shape[:-1], len(robot.body_names), 6))
    first = long.plan.first
    for name, F in given:
        spot = robot.frame(name)
        if spot.body >= 0:
            # The root that loops leave out keeps its frame, others have that of their joint.
            at = np.eye(4) if spot.body < first else se3.inverse(axial_frames(robot.screw(spot.body))[0])
            loads[..., spot.body, :] += se3.coAd_inv_action(at @ spot.placement, F)
    bodies = loads[..., first:, :] if long.order is None else loads[..., first:, :][..., long.order, :]
    return {"load": bodies} | ({"root_load": loads[..., 0, :]} if first else {})


def _dynamics(rolled: Kernel, given: dict, last: str) -> np.ndarray:
    robot = given["robot"]
    long = for_loops(robot)
    root_q, q = long.split(given["q"], long.plan.nq)
    (root_v, v), (root_x, x) = (long.split(given[name], long.plan.nv) for name in ("v", last))
    base = _ZERO if given["base_twist"] is None else given["base_twist"]
    upward = _upward(robot, given["gravity"], given["base_acceleration"])
    loads = _loads(robot, long, given["wrenches"], given["frames"])
    return long.join(long.run(rolled, q, v, x, root_q, root_v, root_x, base, upward, long.resists, **loads))


@inverse_dynamics.instead(is_long)
def _inverse_dynamics(given: dict) -> np.ndarray:
    return _dynamics(rolled_inverse_dynamics, given, "a")


@forward_dynamics.instead(is_long)
def _forward_dynamics(given: dict) -> np.ndarray:
    require_long_inertia(given["robot"])
    return _dynamics(rolled_forward_dynamics, given, "tau")


@bias_force.instead(is_long)
def _bias_force(given: dict) -> np.ndarray:
    return _inverse_dynamics({**_AS_IT_IS, **given, "a": np.zeros(given["robot"].nv)})


@gravity_torque.instead(is_long)
def _gravity_torque(given: dict) -> np.ndarray:
    rest = np.zeros(given["robot"].nv)
    return _inverse_dynamics({**_AS_IT_IS, **given, "v": rest, "a": rest})


@mass_matrix_product.instead(is_long)
def _mass_matrix_product(given: dict) -> np.ndarray:
    rest = np.zeros(given["robot"].nv)
    return _inverse_dynamics({**_AS_IT_IS, **given, "v": rest, "a": given["x"], "gravity": _ZERO[:3]})


@mass_matrix.instead(is_long)
def _mass_matrix(given: dict) -> np.ndarray:
    """Its columns as a batch: nv² numbers for as much work."""
    robot, q = given["robot"], given["q"]
    return _mass_matrix_product({"robot": robot, "q": q[..., None, :], "x": np.eye(robot.nv)})


@kinetic_energy.instead(is_long)
def _kinetic_energy(given: dict) -> np.ndarray:
    v = given["v"]
    return 0.5 * np.sum(v * _mass_matrix_product({**given, "x": v}), axis=-1)


@potential_energy.instead(is_long)
def _potential_energy(given: dict) -> np.ndarray:
    robot, T = given["robot"], body_placements(given["robot"], given["q"])
    m, h = robot.inertias[:, 0], robot.inertias[:, 1:4]
    moment = np.sum(m[:, None] * T[..., :3, 3] + np.einsum("...nij,nj->...ni", T[..., :3, :3], h), axis=-2)
    return -np.sum((robot.gravity if given["gravity"] is None else given["gravity"]) * moment, axis=-1)


def _of_two(rolled: Kernel, given: dict) -> np.ndarray:
    require_long_inertia(given["robot"])
    long = for_loops(given["robot"])
    (root_q, q), (root_b, b) = long.split(given["q"], long.plan.nq), long.split(given["b"], long.plan.nv)
    return long.join(long.run(rolled, q, b, root_q, root_b))


@solve_mass_matrix.instead(is_long)
def _solve_mass_matrix(given: dict) -> np.ndarray:
    return _of_two(rolled_solve, given)


@mass_matrix_sqrt_solve.instead(is_long)
def _sqrt_solve(given: dict) -> np.ndarray:
    return _of_two(rolled_sqrt_solve, given)


@mass_matrix_logdet.instead(is_long)
def _logdet(given: dict) -> np.ndarray:
    require_long_inertia(given["robot"])
    return np.sum(np.log(_pivots(given["robot"], given["q"])), axis=-1)


@mass_matrix_logdet_gradient.instead(is_long)
def _logdet_gradient(given: dict) -> np.ndarray:
    require_long_inertia(given["robot"])
    long = for_loops(given["robot"])
    root_q, q = long.split(given["q"], long.plan.nq)
    return long.join(long.run(rolled_logdet_gradient, q, root_q))


def _pivots(robot: Robot, q) -> np.ndarray:
    """Ω (..., nv)."""
    long = for_loops(robot)
    root_q, q = long.split(q, long.plan.nq)
    return long.join(long.run(rolled_pivots, q, root_q))


@once_a_robot
def require_long_inertia(robot: Robot) -> None:
    """As `require_inertia`, in O(n): `ArgumentError` if M is singular at a configuration taken at random."""
    plan = for_loops(robot).plan
    root = JOINTS[plan.kind].neutral if plan.kind else ()
    q = np.append(root, np.random.default_rng(0).normal(size=robot.nq - plan.nq))
    Omega = _pivots(robot, q)
    bad = np.flatnonzero(~(Omega > 0) | ~np.isfinite(Omega))
    if len(bad):
        at = np.array(robot.layout.v_start)
        i = int(np.flatnonzero(at <= bad[-1])[-1])
        raise no_inertia(robot, i, float(Omega[bad[-1]]))
