"""Inverse dynamics by the recursive Newton-Euler method: one sweep outward for motions, one inward for forces.

PP = Ploen & Park (1999), "Coordinate-invariant algorithms for robot dynamics", IEEE Trans. Robot. Autom. 15(6);
PBP = Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", IJRR 14(6). All that belongs to body i
is in the body's own frame. Motions are angular velocities ω_i and true accelerations A_i = (ω̇_i, p̈_i), as in PBP's
appendix: then no linear velocity is needed anywhere, which saves a sixth to a quarter of the operations of PP (1)-(5),
whose twists and their rates are in `ploen_park`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lie import inertia, se3, so3
from ..model.robot import Robot
from ..rolled.calls import missing_wrenches, rolls
from ..rolled.stand_in import PerBody
from ..sweep import (
    at_rest,
    by_body,
    each,
    forces,
    inward_keeping,
    joint_placements,
    outward_keeping,
    part,
    rates,
    twist_of_body,
    wrench_on_body,
)
from .armature import armature_bias

__all__ = [
    "MotionsAndWrenches",
    "bias_force",
    "body_motions_and_wrenches",
    "gravity_torque",
    "inverse_dynamics",
    "mass_matrix_product",
]


def squared(w):
    """[w]² (3, 3), symmetric: [w]² x = w × (w × x)."""
    x, y, z = w
    xy, xz, yz = x * y, x * z, y * z
    return np.stack(
        [np.stack([-y * y - z * z, xy, xz]), np.stack([xy, -x * x - z * z, yz]), np.stack([xz, yz, -x * x - y * y])]
    )


def true_motion(V, dV):
    """ω and A = (ω̇, p̈): p̈ = v̇ + ω × v is the acceleration of the origin, PBP (76), which v̇ is not."""
    return V[:3], dV + np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])])


def next_motion(parent: tuple, f, S, v, a) -> tuple:
    """(ω, A, U) of a body at f in its parent, whose motion is known; S (6, k), v and a (k,) of the joint between them.

    A point x of a body accelerates with p̈ + U x, U = [ω̇] + [ω]².
    """
    w, A, U = parent
    Rt, p = f[:3, :3].T, f[:3, 3]
    turn, slide = np.split(S @ v, 2)
    w = Rt @ w
    drift = np.concatenate([np.cross(w, turn), np.cross(2 * w + turn, slide)])
    A = np.concatenate([Rt @ A[:3], Rt @ (A[3:] + U @ p)]) + drift + S @ a
    w = w + turn
    return motion(w, A)


def motion(w, A) -> tuple:
    """(ω, A, U) of ω and A, as in `next_motion`."""
    return w, A, so3.hat(A[:3]) + squared(w)


def motion_step(robot: Robot, f, v, a) -> Callable:
    """The step (i, motion of the parent) -> (ω_i, A_i, U_i), from the base outward."""

    def step(i, parent: tuple) -> tuple:
        return next_motion(parent, f[i], robot.screw(i).T, rates(robot, v, i), rates(robot, a, i))

    return step


def rigid_wrench(motion: tuple, J):
    """The wrench (6,) that moves a body of inertia J (10,) so: Newton's and Euler's equations about its origin."""
    # PBP (79)-(83)
    (w, A, U), (m, h, I) = motion, inertia.moments(J)
    return np.concatenate([I @ A[:3] + np.cross(w, I @ w) + np.cross(h, A[3:]), m * A[3:] + U @ h])


def frame_wrenches(wrenches, frames: str | tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """(frame, its wrench (..., 6)) of wrenches (..., k, 6), or (..., 6) where `frames` is one name."""
    if frames and wrenches is None:
        raise missing_wrenches(frames)
    if isinstance(frames, str):
        return [(frames, wrenches)]
    return [(name, wrenches[..., k, :]) for k, name in enumerate(frames)]


def loads_on_bodies(robot: Robot, wrenches, frames: str | tuple[str, ...]) -> Any:
    """{i: F} (6,): wrenches (k, 6), given at frames, moved to the frames of their bodies and added."""
    if isinstance(wrenches, PerBody):  # of a robot with many bodies, which are loads on bodies already
        return wrenches
    found: dict = {}
    for name, F in frame_wrenches(wrenches, frames):
        spot = robot.frame(name)
        F = se3.coAd_inv_action(spot.placement, F)
        found[spot.body] = found[spot.body] + F if spot.body in found else F
    return found


def base_motion(robot: Robot, gravity, twist, acceleration):
    """V_0 and V̇_0 (6,) of the base; gravity is as if the base accelerated against it, V̇_0 = (0, -g)."""
    upward = np.concatenate([np.zeros(3), -(robot.gravity if gravity is None else gravity)])
    return np.zeros(6) if twist is None else twist, upward if acceleration is None else upward + acceleration


def friction_force(robot: Robot, v):
    """Damping · v + friction · sign(v) (nv,)."""
    return robot.damping * v + robot.friction * np.sign(v)


def joint_forces(robot: Robot, v):
    """`joint_force` of all joints (nv,)."""
    return forces(robot, each(robot, lambda i: joint_force(robot, i, v)))


def joint_force(robot: Robot, i, v):
    """What body i's joint itself resists a motion at a = 0 with (k,): friction, and armature in turning frames.

    Damping · v + friction · sign(v), and `armature_bias`. What follows another joint has none of its own.
    """
    own = rates(robot, v, i)
    if i in robot.mimics:
        return np.zeros(len(own))
    friction = rates(robot, robot.damping, i) * own + rates(robot, robot.friction, i) * np.sign(own)
    return friction + armature_bias(robot, i, own)


def armature_force(robot: Robot, i, a):
    """Armature · a (k,) of body i's joint; what follows another joint has none of its own."""
    own = rates(robot, a, i)
    return np.zeros(len(own)) if i in robot.mimics else rates(robot, robot.armature, i) * own


# Optional inputs of forward and inverse dynamics.
SURROUNDINGS = {"gravity": 3, "applied_wrenches": ("frames", 6), "frames": static}
SURROUNDINGS |= {"base_twist": 6, "base_acceleration": 6}


@rolls
@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def inverse_dynamics(
    robot, q, v, a, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """τ = M(q) a + C(q, v) v + φ(q) + friction - Σ J_kᵀ F_k (nv,) [N m or N]; PP (1)-(5).

    `applied_wrenches` F_k (k, 6) are those that act *on the robot* from outside, at the named `frames` and seen from
    these; of one frame, `frames="tool"`, the wrench is (6,). `gravity` (3,) [m/s²], the robot's own by default.
    `base_twist` V_0 (6,) and `base_acceleration` V̇_0 (6,), without gravity, of a base that is moved, in its own frame.
    Damping, dry friction and armature of the robot count: `robot.replace(damping=...)` changes them.
    """
    f = joint_placements(robot, q)
    loads = loads_on_bodies(robot, applied_wrenches, frames)
    step = motion_step(robot, f, v, a)

    def move(i, parent: tuple) -> tuple:
        x = step(i, parent)
        F = rigid_wrench(x, robot.inertias[i])
        return x, F - loads[i] if i in loads else F

    base = motion(*true_motion(*base_motion(robot, gravity, base_twist, base_acceleration)))
    own = outward_keeping(robot, move, base)

    def press(i, beyond):
        F = own[i] + beyond  # PP (4)
        tau = robot.screw(i) @ F + armature_force(robot, i, a) + joint_force(robot, i, v)  # PP (5)
        return se3.coAd_inv_action(f[i], F), tau

    return forces(robot, inward_keeping(robot, press, np.zeros(6))[1])


class MotionsAndWrenches(NamedTuple):
    """Twists V, their rates V̇, and the wrenches F in the joints of n bodies, (n, 6) each: one row per body.

    All three are in the frame of the body, at its origin, angular part first: [rad/s, m/s], [rad/s², m/s²], [N m, N].
    """

    twists: np.ndarray
    accelerations: np.ndarray
    wrenches: np.ndarray


@rolls(frames=True, several=MotionsAndWrenches)
@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def body_motions_and_wrenches(
    robot, q, v, a, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
):
    """`MotionsAndWrenches` of all bodies: what inverse dynamics computes on its way, PP (2)-(4). Arguments as there.

        V_i = Ad(f_i⁻¹) V_parent + S_i v_i                                                                        (2)
        V̇_i = Ad(f_i⁻¹) V̇_parent + [V_i, S_i v_i] + S_i a_i                                                       (3)
        F_i = J_i (V̇_i - γ_i) - ad(V_i)ᵀ J_i V_i + Σ Ad(f_k⁻¹)ᵀ F_k - loads,   k the children of i,               (4)

    with γ_i = (0, g), gravity seen from body i, and the applied wrenches as loads. V_i is the body twist (T_i⁻¹ Ṫ_i) of
    the body's frame in space, in which the base moves with `base_twist`. V̇_i is its componentwise rate *without
    gravity*: 0 of a robot at rest. (PP add the acceleration -g to the base, so that their V̇_i is V̇_i - γ_i.) The
    acceleration of the frame's origin, along the body's axes, is V̇_i[3:] + ω_i × v_i.

    F_i is the wrench that the parent exerts on body i through their joint: it moves body i and all that it carries.
    Along the joint's screws it is what drives the body, Sᵀ F, (5): τ less what friction and armature take. Across them
    it is what the bearings take. Seen from a frame at T_ib in the body, such as that of a bearing, it is
    `se3.coAd_action(T_ib, F_i)`.

        loads = body_motions_and_wrenches(robot, q, v, a).wrenches          # (n, 6)
        radial = np.hypot(loads[2, 3], loads[2, 4])                         # [N], if the joint's axis is z
    """
    f = joint_placements(robot, q)
    V_0, dV_0 = base_motion(robot, np.zeros(3), base_twist, base_acceleration)
    loads = loads_on_bodies(robot, applied_wrenches, frames)
    step = motion_step(robot, f, v, a)

    def move(i, parent: tuple) -> tuple:
        V, moving, g = parent
        V = se3.Ad_inv_action(f[i], V) + robot.screw(i).T @ rates(robot, v, i)
        w, A, U = moving = step(i, moving)
        g = f[i][:3, :3].T @ g
        F = rigid_wrench((w, A - np.concatenate([np.zeros(3), g]), U), robot.inertias[i])
        dV = A - np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])])  # PBP (76)
        own = twist_of_body(robot, i, V), twist_of_body(robot, i, dV), F - loads[i] if i in loads else F
        return (V, moving, g), own

    start = V_0, motion(*true_motion(V_0, dV_0)), robot.gravity if gravity is None else gravity
    moved = outward_keeping(robot, move, start)

    def press(i, beyond) -> tuple:
        F = moved[i][2] + beyond
        return se3.coAd_inv_action(f[i], F), wrench_on_body(robot, i, F)

    F = inward_keeping(robot, press, np.zeros(6))[1]
    V, dV = (by_body(robot, part(robot, moved, k)) for k in (0, 1))
    return MotionsAndWrenches(V, dV, by_body(robot, F))


@rolls
@kernel(robot=static, q="nq", v="nv", gravity=3)
def bias_force(robot, q, v, *, gravity=None):
    """C(q, v) v + φ(q) + friction (nv,): the torque of a = 0."""
    return inverse_dynamics(robot, q, v, at_rest(robot), gravity=gravity)


@rolls
@kernel(robot=static, q="nq", gravity=3)
def gravity_torque(robot, q, *, gravity=None):
    """φ(q) (nv,): the torque that holds the robot still."""
    return inverse_dynamics(robot, q, at_rest(robot), at_rest(robot), gravity=gravity)


@rolls
@kernel(robot=static, q="nq", x="nv")
def mass_matrix_product(robot, q, x):
    """M(q) x (nv,) in O(n), without forming M: the torque of a = x at rest and without gravity."""
    return inverse_dynamics(robot, q, at_rest(robot), x, gravity=np.zeros(3))
