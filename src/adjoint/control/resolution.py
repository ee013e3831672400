"""From the motion of a frame to the motion of joints, as kernels: what laws of resolved motion are made of.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), §5.7. The book's N is the "world" Jacobian of the
hand; twists are (w, ṗ) here, angular part first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..definite import positive_solve
from ..errors import ArgumentError
from ..kinematics.dexterity import PARTS
from ..kinematics.jacobians import frame_acceleration, jacobian
from ..lie import se3
from ..model.input_checks import count, floats, positive
from ..model.robot import Robot

__all__ = [
    "ForceConvergence",
    "force_convergence",
    "hand_twist",
    "resolve_acceleration",
    "resolve_twist",
    "rows_of_part",
    "rpy_rate_matrix",
    "rpy_velocity_matrix",
]

COMPONENTS = ("rx", "ry", "rz", "x", "y", "z")  # of a twist: turns, then ways
_task = {"robot": static, "frame": static, "expressed": static, "part": static}
_choice = {"weight": ("nv", "nv"), "damping": (), "preferred": "nv"}


def rows_of_part(part: str) -> list[int]:
    """The places in a twist that `part` names: "all", "rotation", "translation", or names of `COMPONENTS`, as "x y"."""
    if isinstance(part, str) and part in PARTS:
        return list(range(6))[PARTS[part]]
    named = part.split() if isinstance(part, str) else []
    if named and set(named) <= set(COMPONENTS) and len(set(named)) == len(named):
        return [COMPONENTS.index(name) for name in named]
    raise ArgumentError(
        f"part is {part!r}; it must be one of {', '.join(map(repr, PARTS))}, or some of '{' '.join(COMPONENTS)}'"
    )


def _spread(J, x, weight, damping, preferred):
    """The y (nv,) nearest to `preferred` with J y = x; with damping, J y is near x."""
    r, n = J.shape
    if damping is None and r > n:
        raise ArgumentError(f"{n} degrees of freedom cannot meet {r} components; name fewer of them, or give damping")
    if damping is None and r == n:
        return np.linalg.solve(J, x)  # (5.7-18)
    preferred = np.zeros(n) if preferred is None else preferred
    left = x - J @ preferred
    if damping is not None and r >= n:  # the same as below, with (Nᵀ N + λ² A)⁻¹ Nᵀ in the place of its factors
        return preferred + positive_solve(J.T @ J + damping**2 * (np.eye(n) if weight is None else weight), J.T @ left)
    # (5.7-23): q̇ = A⁻¹ Nᵀ (N A⁻¹ Nᵀ)⁻¹ ẋ. The book says that A = 1 gives N⁻¹; it gives Nᵀ (N Nᵀ)⁻¹ if N is not square.
    spread = J.T if weight is None else positive_solve(weight, J.T)
    gram = J @ spread if damping is None else J @ spread + damping**2 * np.eye(r)
    return preferred + spread @ positive_solve(gram, left)


@kernel(q="nq", twist=6, **_task, **_choice)
def resolve_twist(
    robot: Robot,
    q,
    twist,
    frame: str,
    expressed: str = "body",
    part="all",
    *,
    weight=None,
    damping=None,
    preferred=None,
) -> np.ndarray:
    """The joint velocities (nv,) [rad/s, m/s] with which a frame moves with `twist` (6,) [rad/s, m/s].

    `frame` and `expressed` are those of `jacobian`: "body" is a command along the axes of the hand, and "world" one
    along the axes of the base. `part` names the components of the twist that count: "all", "rotation", "translation",
    or some of "rx ry rz x y z", such as "x y" or "rz x y" in a plane.

        >>> rates = resolve_twist(robot, q, [0, 0, 0, 0.1, 0, 0], "tool", "world")          # 0.1 m/s along x

    - If there are as many joints as components, this is J⁻¹ V, and the other options do not matter without `damping`.
    - With more joints, it is the solution next to `preferred` (nv,), which is 0 by default, in the norm of `weight` A
      (nv, nv), symmetric and positive definite, 1 by default: v = v_0 + A⁻¹ Jᵀ (J A⁻¹ Jᵀ)⁻¹ (V - J v_0). So v_0 moves
      the joints as far as the frame does not notice.
    - `damping` λ makes it A⁻¹ Jᵀ (J A⁻¹ Jᵀ + λ² 1)⁻¹: near singularities the joints stay slow, |v| <= |V|/(2 λ) for
      A = 1, and the frame is late. It also serves robots with too few joints.

    At a singularity, without damping, the result is not finite, or it is very large. References: Whitney (1969); Fu,
    Gonzalez & Lee (1987), (5.7-18) and (5.7-23); Nakamura & Hanafusa (1986) and Wampler (1986) for damping.
    """
    rows = rows_of_part(part)
    return _spread(jacobian(robot, q, frame, expressed)[rows], twist[rows], weight, damping, preferred)


@kernel(q="nq", v="nv", acceleration=6, **_task, **_choice)
def resolve_acceleration(
    robot: Robot, q, v, acceleration, frame: str, expressed: str = "body", part: str = "all",
    *, weight=None, damping=None, preferred=None,
) -> np.ndarray:  # fmt: skip
    """The joint accelerations (nv,) with which a frame's twist changes at the rate `acceleration` (6,) [rad/s², m/s²].

    Of square systems this is q̈ = J⁻¹ (V̇ - J̇ v), (5.7-14) of Fu, Gonzalez & Lee (1987). The options are those of
    `resolve_twist`, with accelerations in the place of velocities.

        >>> a = resolve_acceleration(robot, q, v, [0, 0, 0, 0.1, 0, 0], "tool", "world")
    """
    rows = rows_of_part(part)
    drift = frame_acceleration(robot, q, v, np.zeros(robot.nv), frame, expressed)
    J = jacobian(robot, q, frame, expressed)[rows]
    return _spread(J, (acceleration - drift)[rows], weight, damping, preferred)


@kernel(T=(4, 4), T_next=(4, 4))
def hand_twist(T, T_next, dt) -> np.ndarray:
    """The body twist (6,) [rad/s, m/s] that leads from the pose T (4, 4) to T_next (4, 4) in the time dt [s].

    It is log(T⁻¹ T_next)/dt, so that T exp(dt twist) = T_next. To first order this is (5.7-39) of Fu, Gonzalez & Lee
    (1987), T⁻¹ T_next = 1 + dt [ω̂ v; 0 0]; in the book the ones are multiplied by dt, too.

        >>> hand_twist(np.eye(4), se3.exp([0, 0, 0.1, 0, 0, 0]), 0.1).round(6) + 0.0
        array([0., 0., 1., 0., 0., 0.])
    """
    return se3.log(se3.compose(se3.inverse(T), T_next)) / dt


# --- angles that turn a hand ------------------------------------------------------------------------------------------


@kernel(rpy=3)
def rpy_velocity_matrix(rpy) -> np.ndarray:
    """The matrix E (3, 3) of w = E d(rpy)/dt: the angular velocity, along the base's axes, of R = `from_rpy(rpy)`.

    The angles (roll, pitch, yaw) turn about x, y, z; Fu, Gonzalez & Lee (1987), (5.7-6), call them (α, β, γ).
    """
    _, beta, gamma = rpy
    c_b, s_b, c_g, s_g = np.cos(beta), np.sin(beta), np.cos(gamma), np.sin(gamma)
    return np.stack([np.stack([c_g * c_b, -s_g, 0.0]), np.stack([s_g * c_b, c_g, 0.0]), np.stack([-s_b, 0.0, 1.0])])


@kernel(rpy=3)
def rpy_rate_matrix(rpy) -> np.ndarray:
    """The matrix S (3, 3) of d(rpy)/dt = S w, the inverse of `rpy_velocity_matrix`; it is infinite at a pitch of ±π/2.

    Fu, Gonzalez & Lee (1987), (5.7-7); the signs of (5.8-49) there are wrong.
    """
    _, beta, gamma = rpy
    c_b, t_b, c_g, s_g = np.cos(beta), np.tan(beta), np.cos(gamma), np.sin(gamma)
    return np.stack([
        np.stack([c_g / c_b, s_g / c_b, 0.0]), np.stack([-s_g, c_g, 0.0]), np.stack([c_g * t_b, s_g * t_b, 1.0]),
    ])  # fmt: skip


# --- forces that converge ---------------------------------------------------------------------------------------------


class ForceConvergence(NamedTuple):
    """Forces `applied` (rounds + 1, ...) and the forces `measured` (rounds + 1, ...) that answer them."""

    applied: np.ndarray
    measured: np.ndarray


def force_convergence(respond: Callable, desired, *, rounds: int = 2, start=0.0, threshold=0.0) -> ForceConvergence:
    """Apply forces until the measured ones are as desired: F_a(k+1) = F_a(k) + (F_d - F_0(k))/(k + 1).

    `respond(F_a)` gives the measured F_0 (...); `desired` is F_d (...). F_a starts at `start` and changes while a
    component of F_d - F_0 exceeds `threshold`. This is the stochastic approximation of Robbins and Monro.

        >>> force_convergence(lambda F: 0.8 * F - 1.0, 10.0, rounds=3).applied.round(10)
        array([ 0.  , 11.  , 12.1 , 12.54])

    If F_0 = g F_a + c, the error shrinks by 1 - g/(k + 1) in round k. So it is nearly gone after one or two rounds, as
    the book says, only if g is near 1: if the load is heavy beside the arm. Reference: Fu, Gonzalez & Lee (1987),
    (5.7-45); Wu & Paul (1982).
    """
    rounds = count(rounds, "force_convergence: rounds")
    threshold = positive(threshold, "force_convergence: threshold", or_zero=True)
    if not callable(respond):
        raise ArgumentError(f"force_convergence: respond must be a function of F_a, got {type(respond).__name__}")
    desired = floats(desired)
    if not np.isfinite(desired).all():
        raise ArgumentError("force_convergence: desired must be finite numbers")
    applied = [np.broadcast_to(np.asarray(start, float), desired.shape)]
    measured = [respond(applied[0])]
    for k in range(rounds):
        off = desired - measured[-1]
        applied.append(applied[-1] + off / (k + 1) * (np.abs(off).max() > threshold))
        measured.append(respond(applied[-1]))
    return ForceConvergence(np.stack(applied), np.stack(measured))
