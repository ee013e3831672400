"""Closed loops: a robot is a tree, and loops are constraints between pairs of its frames.

T_ab = [R p; 0 1] is the placement of frame b seen from frame a, and (w, v) is the twist of b relative to a, seen from
b. With the unit quaternion (c, x) of R, c >= 0, the error of a loop consists of some components, in a's frame, of

    2 x       d/dt 2 x = c w + x × w,     d²/dt² 2 x = c ẇ + x × ẇ - |w|² x / 2,
    p         ṗ = R v,                    p̈ = R (v̇ + w × v).

The length 2 |x| = 2 sin(angle/2) is 0 at no rotation but the identity, and the components of x across an axis vanish
for turns about that axis, by any angle, and for no others: no loop is closed by mistake. So ė = J_c v and
ë = J_c a + J̇_c v hold exactly, also where the loop is open. Motion with closed loops follows Gauss's principle of least
constraint:

    M a + h = τ + J_cᵀ λ,    ë + 2 s ė + s² e = 0,

where h is the bias force and s the rate of stabilisation (Baumgarte 1972). λ solves (J_c M⁻¹ J_cᵀ) λ = ..., whose
matrix is Yᵀ Y with Y = Ω^(-1/2) W⁻¹ J_cᵀ, by the factors M = W Ω Wᵀ of Ploen & Park (1999), Proposition 1. Loops in
space often state a constraint twice (a planar four-bar linkage cannot leave its plane anyway). Then this matrix is
singular, λ is not unique but a is, and `proximal_solve` finds both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static, while_loop
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import frame_acceleration, frame_twist, jacobian
from ..lazy import cached_property
from ..lie import so3
from ..model.configuration import integrate
from ..model.input_checks import floats
from ..model.robot import Robot
from .factorization import factor, mass_matrix_factors, solve_factored, sqrt_solve_factored
from .forward import forward_dynamics
from .newton_euler import SURROUNDINGS, inverse_dynamics

__all__ = [
    "ConstrainedMotion",
    "ConstrainedTorque",
    "Loop",
    "close_loops",
    "consistent_velocity",
    "constrained_forward_dynamics",
    "constrained_inverse_dynamics",
    "loop_bias",
    "loop_error",
    "loop_jacobian",
]

# For each kind, the turns and the shifts of b against a that it forbids; z is the loop's axis, x and y are across it.
KINDS = {
    "weld": ("xyz", "xyz"),
    "point": ("", "xyz"),
    "hinge": ("xy", "xyz"),
    "slider": ("xyz", "xy"),
    "cylinder": ("xy", "xy"),
    "plane": ("xy", "z"),
}


@dataclass(frozen=True)
class Loop:
    """A loop joins two frames of a robot, given by name: it is closed where they coincide, as far as `kind` says.

    `kind` is what the joint between frames a and b leaves free:

    - "weld": nothing.
    - "point": all turns, as a ball joint does.
    - "hinge": turns about `axis`.
    - "slider": shifts along `axis`.
    - "cylinder": turns about `axis` and shifts along it.
    - "plane": shifts across `axis` and turns about it.

    `axis` (3,) is a direction, the same numbers in both frames; it need not be a unit vector.

        >>> loop = Loop("coupler end", "rocker end", "hinge", axis=(0, 0, 1))
    """

    frame_a: str
    frame_b: str
    kind: str = "weld"
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self):
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ArgumentError(f"{self}: kind is {self.kind!r}; it must be one of {', '.join(map(repr, KINDS))}")
        axis = floats(self.axis)
        if axis.shape != (3,) or not 0 < np.linalg.norm(axis) < np.inf:
            raise ArgumentError(f"{self}: axis is {self.axis!r}; it must be a direction, three numbers not all zero")
        object.__setattr__(self, "axis", tuple((axis / np.linalg.norm(axis)).tolist()))

    def __str__(self) -> str:
        return f"loop '{self.frame_a}' - '{self.frame_b}' ({self.kind})"

    @property
    def fingerprint(self) -> str:
        """A text on which compiled code depends; it is the same in every process."""
        return repr(self)

    @cached_property
    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors (r, 3) about which b must not turn, and (t, 3) along which it must not shift, in a's frame."""
        z = np.array(self.axis)
        nearest = np.eye(3)[np.argmin(np.abs(z))]
        x = nearest - z * np.dot(z, nearest)
        x = x / np.linalg.norm(x)
        axes = {"x": x, "y": np.cross(z, x), "z": z}
        turns, shifts = ([axes[name] for name in names] for names in KINDS[self.kind])
        return np.array(turns).reshape(-1, 3), np.array(shifts).reshape(-1, 3)


# --- one loop ---------------------------------------------------------------------------------------------------------


def _placement(robot: Robot, loop: Loop, q):
    """The quaternion's c and x (3,), and R (3, 3) and p (3,) of T_ab."""
    if robot.frame(loop.frame_a).body == robot.frame(loop.frame_b).body:
        raise ArgumentError(f"{loop}: both frames are fixed to the same body of robot '{robot.name}'")
    T = forward_kinematics(robot, q, loop.frame_b, loop.frame_a)
    quat = so3.to_quat_wxyz(T[:3, :3])
    return quat[0], quat[1:], T[:3, :3], T[:3, 3]


def _error(robot: Robot, loop: Loop, q):
    """The error e (k,) of one loop."""
    turns, shifts = loop.directions
    _, x, _, p = _placement(robot, loop, q)
    return np.concatenate([turns @ (2 * x), shifts @ p])


def _rate_map(robot: Robot, loop: Loop, q):
    """The matrix G (k, 6) with ė = G (w, v)."""
    turns, shifts = loop.directions
    c, x, R, _ = _placement(robot, loop, q)
    turned, shifted = turns @ (c * np.eye(3) + so3.hat(x)), shifts @ R
    return np.block([[turned, np.zeros(turned.shape)], [np.zeros(shifted.shape), shifted]])


def _jacobian(robot: Robot, loop: Loop, q):
    """The matrix J_c (k, nv) of one loop, with ė = J_c v."""
    return _rate_map(robot, loop, q) @ jacobian(robot, q, loop.frame_b, "body", loop.frame_a)


def _bias(robot: Robot, loop: Loop, q, v):
    """J̇_c v (k,) of one loop, which is ë at a = 0."""
    turns, shifts = loop.directions
    c, x, R, _ = _placement(robot, loop, q)
    where = loop.frame_b, "body", loop.frame_a
    V = frame_twist(robot, q, v, *where)
    dV = frame_acceleration(robot, q, v, np.zeros(robot.nv), *where)
    w, dw = V[:3], dV[:3]
    turning = c * dw + np.cross(x, dw) - 0.5 * np.dot(w, w) * x
    return np.concatenate([turns @ turning, shifts @ (R @ (dV[3:] + np.cross(w, V[3:])))])


# --- all loops --------------------------------------------------------------------------------------------------------


@kernel(robot=static, loops=static, q="nq")
def loop_error(robot: Robot, loops, q) -> np.ndarray:
    """The error e(q) (k,) of all loops at q (nq,), which is 0 where they are closed.

    `loops` is a `Loop`, or a tuple of them. One loop comes after the other; of each, the turns [2 sin(angle/2)] come
    before the shifts [m], and components across its axis before those along it.

        >>> e = loop_error(robot, (Loop("coupler end", "rocker end", "point"),), q)       # (3,)
    """
    return np.concatenate([np.zeros(0), *(_error(robot, loop, q) for loop in _all(loops))])


@kernel(robot=static, loops=static, q="nq")
def loop_jacobian(robot: Robot, loops, q) -> np.ndarray:
    """The Jacobian J_c (k, nv) of all loops at q (nq,): ė = J_c v is the rate of `loop_error`.

    Arguments are those of `loop_error`.
    """
    return np.concatenate([np.zeros((0, robot.nv)), *(_jacobian(robot, loop, q) for loop in _all(loops))])


@kernel(robot=static, loops=static, q="nq", v="nv")
def loop_bias(robot: Robot, loops, q, v) -> np.ndarray:
    """The vector J̇_c v (k,) at q (nq,) and v (nv,): ë = J_c a + J̇_c v is the second rate of `loop_error`.

    `loops` is a tuple of `Loop`.
    """
    return np.concatenate([np.zeros(0), *(_bias(robot, loop, q, v) for loop in _all(loops))])


def _all(loops: Sequence[Loop] | Loop) -> tuple[Loop, ...]:
    """The loops: several, or one."""
    found = (loops,) if isinstance(loops, Loop) else tuple(loops) if isinstance(loops, Iterable) else (loops,)
    for loop in found:
        if not isinstance(loop, Loop):
            raise ArgumentError(f"loops must be a Loop, or a tuple of them; got {type(loop).__name__}")
    return found


def _sizes(loops: Sequence[Loop] | Loop) -> list[int]:
    """The number of components of the error of each loop."""
    return [sum(map(len, loop.directions)) for loop in _all(loops)]


def loop_places(loops: Sequence[Loop] | Loop) -> list[slice]:
    """The places of each loop's components in `loop_error`."""
    ends = np.cumsum([0, *_sizes(loops)]).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def _wrenches(robot: Robot, loops: Sequence[Loop] | Loop, q, multipliers):
    """The wrenches Gᵀ λ (n, 6) of the loops."""
    places = zip(_all(loops), loop_places(loops), strict=True)
    found = [_rate_map(robot, loop, q).T @ multipliers[at] for loop, at in places]
    return np.stack(found) if found else np.zeros((0, 6))


def proximal_solve(A, b, regularisation, steps: int = 4):
    """The solution x (n,) of A x = b for a symmetric positive semidefinite A (n, n); b is (n,), or columns (n, k).

    It comes from the proximal point iteration x ← (A + ε)⁻¹ (b + ε x), ε = regularisation · trace(A)/n, from x = 0,
    which finds the smallest of several solutions. Where A has the eigenvalue σ, x is short of the solution by the
    fraction (ε/(σ + ε))^steps: directions with σ far below ε count as not constrained. One radian counts as one metre.
    `regularisation` must exceed rounding by far: 1e-8 suits float64, 1e-4 float32.
    """
    n = len(A)
    if n == 0:
        return b
    size = np.trace(A) / n
    epsilon = regularisation * np.where(size > 0, size, 1.0)  # A = 0 if nothing can open the loops
    factors = factor(A + epsilon * np.eye(n))
    x = solve_factored(factors, b)
    for _ in range(steps - 1):
        x = solve_factored(factors, b + epsilon * x)
    return x


def _places(robot: Robot, joints: Sequence[str]) -> list[int]:
    """The places in v of the degrees of freedom of the named joints."""
    found: list[int] = []
    for name in joints:
        joint = robot.joint(name)
        if joint.mimic is not None:
            leader = robot.body_joint_names[joint.mimic.source]
            raise ArgumentError(f"joint '{name}' of robot '{robot.name}' is a mimic; name '{leader}', which it follows")
        found += range(joint.v.start, joint.v.stop)
    if len(set(found)) < len(found):
        raise ArgumentError(f"joints {', '.join(joints)}: a joint is named twice")
    return found


# --- configurations and velocities ------------------------------------------------------------------------------------


def close_loops(
    robot: Robot,
    loops: Sequence[Loop] | Loop,
    q,
    held: Sequence[str] = (),
    tolerance: float = 1e-12,
    max_iterations: int = 100,
) -> np.ndarray:
    """Configurations (..., nq) near q (..., nq) where all loops are closed: |loop_error| <= tolerance.

    The joints named in `held` keep their coordinates. If these are the motors of a parallel robot, the result is its
    forward kinematics. Limits of joints are ignored. If a loop stays open after `max_iterations` of Newton's method, an
    `ArgumentError` says which one, and how far, in the worst sample.

        >>> q = close_loops(robot, loops, q, held=("motor",))
    """
    loops = _all(loops)
    found = _closed(robot, loops, q, tuple(held), max_iterations, tolerance=tolerance)
    size = np.abs(loop_error(robot, loops, found))
    size = np.where(np.isfinite(size), size, np.inf)
    if np.any(size > tolerance):
        *sample, row = (int(k) for k in np.unravel_index(np.argmax(size), size.shape))
        number = int(np.searchsorted(np.cumsum(_sizes(loops)), row, side="right"))
        at = f" at sample {', '.join(map(str, sample))}" if sample else ""
        raise ArgumentError(
            f"close_loops: robot '{robot.name}': {loops[number]} is open by {size[(*sample, row)]:.3g}{at} "
            f"after {max_iterations} iterations; it may be out of reach, or q too far from a closed configuration"
        )
    return found


@kernel(robot=static, loops=static, q="nq", held=static)
def _closed(robot: Robot, loops, q, held=(), max_iterations=100, *, tolerance=1e-12) -> np.ndarray:
    """Newton's method for e(q) = 0 on the manifold of configurations; each sample iterates until it has converged.

    The steps are the smallest possible, -J_cᵀ (J_c J_cᵀ)⁻¹ e. They are damped in proportion to |e|² (Levenberg and
    Marquardt; by Yamashita & Fukushima (2001) convergence stays quadratic), and not longer than half a radian or metre.
    """
    places = _places(robot, held)
    free = np.array([0.0 if k in places else 1.0 for k in range(robot.nv)])

    def step(q):
        e, J = loop_error(robot, loops, q), loop_jacobian(robot, loops, q) * free
        dq = -J.T @ proximal_solve(J @ J.T, e, 1e-12 + np.dot(e, e), steps=1)
        return integrate(robot, q, dq * (0.5 / np.sqrt(np.maximum(np.dot(dq, dq), 0.25))))

    def is_open(q):
        return np.max(np.abs(loop_error(robot, loops, q))) > tolerance

    return while_loop(is_open, step, q, max_iterations=max_iterations) if loops else q


@kernel(robot=static, loops=static, q="nq", v="nv", held=static)
def consistent_velocity(robot: Robot, loops, q, v, held=(), *, regularisation=1e-8) -> np.ndarray:
    """The velocity (nv,) with J_c v = 0 that is nearest to v (nv,) in the metric of kinetic energy, at q (nq,).

    A robot that moves with v has this velocity after its loops are closed with a jerk. The joints named in `held` keep
    their rates: with the motors of a parallel robot held, the result is the forward kinematics of velocities.
    `regularisation` is explained at `constrained_forward_dynamics`.

        >>> v = consistent_velocity(robot, loops, q, v)
    """
    kept = np.eye(robot.nv)[_places(robot, held)]
    rows = np.concatenate([loop_jacobian(robot, loops, q), kept])
    factors = mass_matrix_factors(robot, q)
    Y = sqrt_solve_factored(factors, rows.T)
    gap = np.concatenate([loop_jacobian(robot, loops, q) @ v, np.zeros(len(kept))])
    return v - solve_factored(factors, rows.T @ proximal_solve(Y.T @ Y, gap, regularisation))


# --- dynamics ---------------------------------------------------------------------------------------------------------


class ConstrainedMotion(NamedTuple):
    """The motion of a robot with n closed loops: accelerations a (nv,), multipliers λ (k,), and wrenches (n, 6).

    They satisfy M a + h = τ + J_cᵀ λ. Each wrench [N m, N] is what the loop exerts on its frame b, seen from there;
    frame a gets the opposite.
    """

    a: np.ndarray
    multipliers: np.ndarray
    wrenches: np.ndarray


class ConstrainedTorque(NamedTuple):
    """The torques `tau` of the actuated degrees of freedom, in the order in which their joints were named.

    `multipliers` and `wrenches` are those of `ConstrainedMotion`.
    """

    tau: np.ndarray
    multipliers: np.ndarray
    wrenches: np.ndarray


@kernel(robot=static, loops=static, q="nq", v="nv", tau="nv", **SURROUNDINGS)
def constrained_forward_dynamics(
    robot: Robot, loops, q, v, tau, *, stabilisation=10.0, regularisation=1e-8,
    gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None,
) -> ConstrainedMotion:  # fmt: skip
    """Forward dynamics of a robot whose loops stay closed: a `ConstrainedMotion` with M a + h = τ + J_cᵀ λ.

    Of all accelerations a (nv,) with ë + 2 s ė + s² e = 0, it is the one that is nearest to the acceleration without
    loops, in the metric of kinetic energy (Gauss's principle).

        >>> motion = constrained_forward_dynamics(robot, loops, q, v, tau)
        >>> a, loads = motion.a, motion.wrenches

    `loops` is a tuple of `Loop`. `stabilisation` s [1/s] (Baumgarte's α = β) makes errors e decay as exp(-s t), without
    overshoot; with s = 0 they grow by rounding. `regularisation` is a pure number that lets loops state a constraint
    twice: directions whose mobility is far below this fraction of the average count as not constrained; 1e-8 suits
    float64, 1e-4 float32. q, v, tau and the other options are those of `forward_dynamics`.
    """
    surroundings = {"gravity": gravity, "applied_wrenches": applied_wrenches, "frames": frames}
    base = {"base_twist": base_twist, "base_acceleration": base_acceleration}
    free = forward_dynamics(robot, q, v, tau, **surroundings, **base)
    J, e = loop_jacobian(robot, loops, q), loop_error(robot, loops, q)
    wanted = -loop_bias(robot, loops, q, v) - 2 * stabilisation * (J @ v) - stabilisation**2 * e
    factors = mass_matrix_factors(robot, q)
    Y = sqrt_solve_factored(factors, J.T)
    multipliers = proximal_solve(Y.T @ Y, wanted - J @ free, regularisation)
    a = free + solve_factored(factors, J.T @ multipliers)
    return ConstrainedMotion(a, multipliers, _wrenches(robot, loops, q, multipliers))


@kernel(robot=static, loops=static, q="nq", v="nv", a="nv", actuated=static, **SURROUNDINGS)
def constrained_inverse_dynamics(
    robot: Robot, loops, q, v, a, actuated, *, regularisation=1e-8,
    gravity=None, applied_wrenches=None, frames=(), base_twist=None, base_acceleration=None,
) -> ConstrainedTorque:  # fmt: skip
    """Inverse dynamics of a robot with loops: the `ConstrainedTorque` of the joints named in `actuated`, a tuple.

    With these torques the actuated joints accelerate as a (nv,) says. All others follow, if a suits the loops,
    J_c a + J̇_c v = 0, and the actuated joints determine all motion. The torques are the smallest solution, where 1 N m
    counts as 1 N, of

        (S_a K S_aᵀ) τ = S_a K (M a + h),   K = M⁻¹ - M⁻¹ J_cᵀ (J_c M⁻¹ J_cᵀ)⁻¹ J_c M⁻¹,

    where S_a are the rows of the identity for the actuated joints and K is the mobility that the loops leave.

        >>> tau = constrained_inverse_dynamics(robot, loops, q, v, a, ("motor",)).tau

    q, v, a and the other options are those of `inverse_dynamics`; `loops` and `regularisation` are those of
    `constrained_forward_dynamics`.
    """
    surroundings = {"gravity": gravity, "applied_wrenches": applied_wrenches, "frames": frames}
    base = {"base_twist": base_twist, "base_acceleration": base_acceleration}
    wanted = inverse_dynamics(robot, q, v, a, **surroundings, **base)
    # After multiplication with Ω^(-1/2) W⁻¹ the inertia is 1, and the loops take away the part along Y_c.
    factors, S_a = mass_matrix_factors(robot, q), np.eye(robot.nv)[_places(robot, actuated)]
    J = loop_jacobian(robot, loops, q)
    Y_c, Y_a, y = (sqrt_solve_factored(factors, x) for x in (J.T, S_a.T, wanted[:, None]))
    Gram = Y_c.T @ Y_c

    def without_loops(Y):
        return Y - Y_c @ proximal_solve(Gram, Y_c.T @ Y, regularisation)

    moved = without_loops(Y_a)
    tau = proximal_solve(moved.T @ moved, moved.T @ y, regularisation)[:, 0]
    multipliers = proximal_solve(Gram, Y_c.T @ (y[:, 0] - Y_a @ tau), regularisation)
    return ConstrainedTorque(tau, multipliers, _wrenches(robot, loops, q, multipliers))
