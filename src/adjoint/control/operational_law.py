"""Operational-space control: a frame follows a pose in time as if it were a free mass on a spring and a damper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dynamics.newton_euler import inverse_dynamics
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law
from .references import PoseTarget
from .task_motion import joint_accelerations, motion_beside, task_of, task_parameters, times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["operational"]


def _operational(robot, p, state, t, q, v, reference):
    task = task_of(robot, q, v, p.frame, reference)
    second = -times(p.kd, task.rate) - times(p.kp, task.error)
    a = joint_accelerations(robot, p, q, v, motion_beside(reference, task.error, task.rate, second).acceleration)
    return inverse_dynamics(robot, q, v, a), state


def operational(
    robot: Robot, reference, frame: str, *, kp, kd, part: str = "all", posture=None, null_kp: ArrayLike = 0.0,
    null_kd: ArrayLike = 1.0, singular_damping: float = 1e-3,
) -> Law:  # fmt: skip
    """Operational-space control: the error of a frame's pose obeys ë + kd ė + kp e = 0, whatever the joints' inertia.

        >>> goal = aj.forward_kinematics(robot, q, "tool")
        >>> hold = operational(robot, goal, "tool", kp=400.0, kd=40.0)
        >>> tau, _ = hold(robot, None, 0.0, q, v)

    The law is τ = Jᵀ (Λ V̇* + μ + p) + N (M a_0 + C v + φ), with Λ, μ and p of `operational_space` and the dynamically
    consistent projector N = 1 - Jᵀ J̄ᵀ. V̇* is the rate of the twist for which ë = -kd ė - kp e, exactly, where

        e = (φ, p_d - p),   R_d Rᵀ = exp(φ),

    along the axes of the base: rotation vector [rad], then translation [m]. Translations and rotations do not disturb
    each other. A rotation by more than π is not told from the shorter one the other way round.

    Parameters
    ----------
    reference
        The pose to follow: a `PoseTrajectory`, a pose T (4, 4) to rest at, or a function of t that gives a
        `PoseTarget(T, twist, acceleration)`.
    kp, kd
        Gains [1/s²] and [1/s], numbers or (6,), rotations first; kd = 2 √kp is critical damping.
    part
        The components of the twist that are controlled: "all", "rotation", "translation", or some of
        "rx ry rz x y z", such as "x y" for an arm of two joints in the xy plane. Of rotations, the law is exact if all
        are controlled, or if the others do not occur.
    posture, null_kp, null_kd
        What `part` leaves free moves with a_0 = null_kp (posture - q) - null_kd v [1/s², 1/s]; `posture` is (nq,).
    singular_damping
        The pure number `damping` of `operational_space`, which bounds torques at singular poses. The error law is off
        by about its square; 0 makes the law exact, and its torques infinite or NaN at singular poses.

    Reference: Khatib (1987), IEEE J. Robot. Autom. 3(1); the angle and axis as in Caccavale, Natale, Siciliano &
    Villani (1998).
    """
    common = task_parameters("operational", robot, frame, part, posture, null_kp, null_kd, singular_damping)
    own = {k: gains(x, 6, f"operational: {k}", or_zero=True) for k, x in {"kp": kp, "kd": kd}.items()}
    return law(_operational, reference=reference, follows=PoseTarget, model=robot, name="operational", **own, **common)
