"""Inverse dynamics by the recursive Newton-Euler method: one sweep outward for motions, one inward for forces.

The fast path in this file works with *true accelerations*: the motion of body i is its angular velocity ω_i and
A_i = (ω̇_i, p̈_i), where p̈_i is the acceleration of the origin of its frame. No linear velocity is needed anywhere, which
saves a sixth to a quarter of the operations. The recursion of Ploen & Park (1999), eqs. (1)-(5), as the paper prints
it, with twists V_i and their componentwise rates V̇_i, is `ploen_park.inverse_dynamics_recursive`. Both give the same
torques, and the tests compare them.

Everything that belongs to body i is seen from the body's own frame. Comments of this folder abbreviate two papers:

- PP is Ploen & Park (1999), "Coordinate-invariant algorithms for robot dynamics", IEEE Trans. Robot. Autom. 15(6).
- PBP is Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", Int. J. Robot. Res. 14(6). Its
  appendix has the true accelerations.
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
    """The symmetric matrix [w]² (3, 3), with [w]² x = w × (w × x)."""
    x, y, z = w
    xy, xz, yz = x * y, x * z, y * z
    return np.stack(
        [np.stack([-y * y - z * z, xy, xz]), np.stack([xy, -x * x - z * z, yz]), np.stack([xz, yz, -x * x - y * y])]
    )


def true_motion(V, dV):
    """The angular velocity ω (3,) and the true acceleration A = (ω̇, p̈) (6,) of a body with the twist V and its rate V̇.

    With V = (ω, v), the origin of the body's frame accelerates with p̈ = v̇ + ω × v, PBP (76), not with v̇.
    """
    return V[:3], dV + np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])])


def next_motion(parent: tuple, f, S, v, a) -> tuple:
    """The motion (ω, A, U) of a body at f in its parent, from the motion of the parent.

    S (6, k), v and a (k,) belong to the joint between the two. A point x of the body accelerates with p̈ + U x, where
    U = [ω̇] + [ω]².
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
    """The motion (ω, A, U) of a body with ω and A, as `next_motion` has it."""
    return w, A, so3.hat(A[:3]) + squared(w)


def motion_step(robot: Robot, f, v, a) -> Callable:
    """The step (i, motion of the parent) -> (ω_i, A_i, U_i) of a sweep from the base outward."""

    def step(i, parent: tuple) -> tuple:
        return next_motion(parent, f[i], robot.screw(i).T, rates(robot, v, i), rates(robot, a, i))

    return step


def rigid_wrench(motion: tuple, J):
    """The wrench (6,) that gives a body of inertia J (10,) this motion, by Newton's and Euler's equations."""
    # PBP (79)-(83)
    (w, A, U), (m, h, I) = motion, inertia.moments(J)
    return np.concatenate([I @ A[:3] + np.cross(w, I @ w) + np.cross(h, A[3:]), m * A[3:] + U @ h])


def frame_wrenches(wrenches, frames: str | tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """The pairs (frame, its wrench (..., 6)) of wrenches (..., k, 6); of (..., 6), if `frames` is a single name."""
    if frames and wrenches is None:
        raise missing_wrenches(frames)
    if isinstance(frames, str):
        return [(frames, wrenches)]
    return [(name, wrenches[..., k, :]) for k, name in enumerate(frames)]


def loads_on_bodies(robot: Robot, wrenches, frames: str | tuple[str, ...]) -> Any:
    """{i: F} with the sum F (6,) of the wrenches on body i, seen from the body; `wrenches` (k, 6) act at `frames`."""
    if isinstance(wrenches, PerBody):  # a robot with many bodies: these are loads on bodies already
        return wrenches
    found: dict = {}
    for name, F in frame_wrenches(wrenches, frames):
        spot = robot.frame(name)
        F = se3.coAd_inv_action(spot.placement, F)
        found[spot.body] = found[spot.body] + F if spot.body in found else F
    return found


def base_motion(robot: Robot, gravity, twist, acceleration):
    """The twist V_0 and its rate V̇_0 (6,) of the base. Gravity counts as an acceleration of the base: V̇_0 = (0, -g)."""
    upward = np.concatenate([np.zeros(3), -(robot.gravity if gravity is None else gravity)])
    return np.zeros(6) if twist is None else twist, upward if acceleration is None else upward + acceleration


def friction_force(robot: Robot, v):
    """The friction damping · v + dry friction · sign(v) (nv,) of all joints."""
    return robot.damping * v + robot.friction * np.sign(v)


def joint_forces(robot: Robot, v):
    """The `joint_force` of all joints (nv,)."""
    return forces(robot, each(robot, lambda i: joint_force(robot, i, v)))


def joint_force(robot: Robot, i, v):
    """The force (k,) with which body i's joint itself resists its motion at a = 0.

    It is damping · v + dry friction · sign(v), and the `armature_bias` of joints with several degrees of freedom. A
    mimic has no such force of its own: it follows another joint, which has it.
    """
    own = rates(robot, v, i)
    if i in robot.mimics:
        return np.zeros(len(own))
    friction = rates(robot, robot.damping, i) * own + rates(robot, robot.friction, i) * np.sign(own)
    return friction + armature_bias(robot, i, own)


def armature_force(robot: Robot, i, a):
    """The force armature · a (k,) of body i's joint; a mimic, which follows another joint, has none of its own."""
    own = rates(robot, a, i)
    return np.zeros(len(own)) if i in robot.mimics else rates(robot, robot.armature, i) * own


# The optional inputs of forward and inverse dynamics.
SURROUNDINGS = {"gravity": 3, "applied_wrenches": ("frames", 6), "frames": static}
SURROUNDINGS |= {"base_twist": 6, "base_acceleration": 6}


@rolls
@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def inverse_dynamics(
    robot: Robot, q, v, a, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
) -> np.ndarray:
    """Inverse dynamics: the joint forces τ = M(q) a + C(q, v) v + φ(q) + friction - Σ J_kᵀ F_k that a motion takes.

    The result τ (nv,) is in N m for joints that turn and in N for joints that slide. These are the equations of motion
    of Ploen & Park (1999), eqs. (1)-(5), solved in O(n) by the recursive Newton-Euler method. Damping, dry friction and
    armature of the robot count; `robot.replace(damping=...)` changes them.

        >>> tau = inverse_dynamics(robot, q, v, a)
        >>> F = [0, 0, 0, 0, 0, -50.0]                                      # 50 N against the tool's z axis
        >>> tau = inverse_dynamics(robot, q, v, a, applied_wrenches=F, frames="tool")

    Shapes are those of one sample; leading axes of the arrays are a batch.

    - `q` (nq,) is the configuration, `v` (nv,) the velocity [rad/s, m/s], `a` (nv,) the acceleration [rad/s², m/s²].
    - `gravity` (3,) [m/s²] is seen from the base; by default it is the robot's own.
    - `applied_wrenches` F_k (k, 6), moments [N m] before forces [N], act *on the robot* from outside. They act at the
      origins of the named `frames` and are seen from these. If `frames` is one name, the wrench is (6,).
    - `base_twist` V_0 (6,) [rad/s, m/s] and its rate `base_acceleration` V̇_0 (6,) [rad/s², m/s²], without gravity, are
      the motion of a base that is moved by something else, in the base's own frame. By default the base is at rest.
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
    """Twists V, their rates V̇, and the wrenches F in the joints of n bodies: (n, 6) each, one row per body.

    All three are in the frame of the body, at its origin, angular part first. Their units are [rad/s, m/s], [rad/s²,
    m/s²] and [N m, N].
    """

    twists: np.ndarray
    accelerations: np.ndarray
    wrenches: np.ndarray


@rolls(frames=True, several=MotionsAndWrenches)
@kernel(robot=static, q="nq", v="nv", a="nv", **SURROUNDINGS)
def body_motions_and_wrenches(
    robot: Robot, q, v, a, *, gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None
) -> MotionsAndWrenches:
    """The twists, their rates and the wrenches in the joints of all bodies, as `MotionsAndWrenches`: (n, 6) each.

    They are the quantities of Ploen & Park (1999), eqs. (2)-(4). Arguments are those of `inverse_dynamics`.

        V_i = Ad(f_i⁻¹) V_parent + S_i v_i                                                                        (2)
        V̇_i = Ad(f_i⁻¹) V̇_parent + [V_i, S_i v_i] + S_i a_i                                                       (3)
        F_i = J_i (V̇_i - γ_i) - ad(V_i)ᵀ J_i V_i + Σ Ad(f_k⁻¹)ᵀ F_k - loads,   k the children of i,               (4)

    Here γ_i = (0, g) is gravity seen from body i, and the loads are the applied wrenches. V_i is the body twist T_i⁻¹
    Ṫ_i of the body's frame in space, in which the base moves with `base_twist`. V̇_i is its componentwise rate *without
    gravity*, so that it is 0 for a robot at rest. (The paper adds the acceleration -g to the base; its V̇_i is V̇_i - γ_i
    here.) The origin of the body's frame accelerates with V̇_i[3:] + ω_i × v_i, along the body's axes.

    F_i is the wrench that the parent exerts on body i through their joint: it moves body i and all that body i carries.
    Its part along the joint's screws, S_iᵀ F_i of eq. (5), drives the body; it is τ_i less what friction and armature
    take. The rest is carried by the bearings. Seen from a frame at T_ib in the body, such as that of a bearing, the
    wrench is `se3.coAd_action(T_ib, F_i)`.

        >>> loads = body_motions_and_wrenches(robot, q, v, a).wrenches      # (n, 6)
        >>> radial = np.hypot(loads[2, 3], loads[2, 4])                     # [N], if the axis of joint 2 is z
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
def bias_force(robot: Robot, q, v, *, gravity=None) -> np.ndarray:
    """The bias force C(q, v) v + φ(q) + friction (nv,) [N m, N]: the joint forces of a motion with a = 0.

    q is (nq,), v is (nv,), and `gravity` (3,) [m/s²] is the robot's own by default. The result is
    `inverse_dynamics(robot, q, v, 0)`, so that M(q) a = τ - bias_force.

        >>> h = bias_force(robot, q, v)
    """
    return inverse_dynamics(robot, q, v, at_rest(robot), gravity=gravity)


@rolls
@kernel(robot=static, q="nq", gravity=3)
def gravity_torque(robot: Robot, q, *, gravity=None) -> np.ndarray:
    """The joint forces φ(q) (nv,) [N m, N] that hold the robot still: φ = ∂U/∂q, with its potential energy U.

    q is (nq,), and `gravity` (3,) [m/s²], seen from the base, is the robot's own by default.

        >>> tau = gravity_torque(robot, q)
        >>> on_the_moon = gravity_torque(robot, q, gravity=[0, 0, -1.62])
    """
    return inverse_dynamics(robot, q, at_rest(robot), at_rest(robot), gravity=gravity)


@rolls
@kernel(robot=static, q="nq", x="nv")
def mass_matrix_product(robot: Robot, q, x) -> np.ndarray:
    """The product M(q) x (nv,) in O(n), without forming the mass matrix M.

    q is (nq,) and x (nv,). The result is the torque of the acceleration x, at rest and without gravity.

        >>> p = mass_matrix_product(robot, q, v)                            # equals mass_matrix(robot, q) @ v
    """
    return inverse_dynamics(robot, q, at_rest(robot), x, gravity=np.zeros(3))
