"""Laws that switch: motions in nearly the least time, and sliding modes.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), §5.4 and §5.5. The book stops at the double
integrators of (5.4-15) and gives no u± for (5.5-3); what is added here says where it is from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..compile import kernel, static
from ..dynamics.composite import mass_matrix
from ..dynamics.coriolis import coriolis_product
from ..dynamics.newton_euler import gravity_torque, inverse_dynamics
from ..errors import ArgumentError, SolveError
from ..model.configuration import difference
from ..model.input_checks import truth, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law
from .references import Target

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "bang_bang", "equivalent_control", "minimum_time", "sliding_mode", "switching_curve", "switching_gain",
]  # fmt: skip


# --- least time -------------------------------------------------------------------------------------------------------


@kernel
def switching_curve(velocity, lowest, highest):
    """The position from which full braking brings a double integrator to rest at 0: y²/(2 highest), or y²/(2 lowest).

    The double integrator is ẍ = u with lowest <= u <= highest, lowest < 0 < highest, and y is its `velocity`; the first
    form holds for y < 0, and the second for y >= 0. The motion of least time to rest at 0 has u = lowest where x is
    beyond the curve, and u = highest elsewhere:

        >>> switching_curve([-1.0, 2.0], -2.0, 4.0)
        array([ 0.125, -1.   ])
    """
    return velocity**2 / (2 * np.where(velocity < 0, highest, lowest))


@kernel
def minimum_time(distance, lowest, highest, velocity=0.0):
    """The least time [s] to rest at 0 from x = `distance`, ẋ = `velocity`, if ẍ = u and lowest <= u <= highest.

    From rest it is √(2 |x| (1/highest - 1/lowest)). The bounds are those of the acceleration, lowest < 0 < highest.

        >>> round(float(minimum_time(1.0, -2.0, 3.0)), 5)
        1.29099

    The first phase accelerates with a_1 away from where full braking with a_2 would stop, until the switching curve is
    met at the speed s: s² (1/a_1 + 1/a_2)/2 = |x| + y²/(2 a_1), where y is the velocity.
    """
    beyond = distance > switching_curve(velocity, lowest, highest)
    x, y = np.where(beyond, distance, -distance), np.where(beyond, velocity, -velocity)
    first, brake = np.where(beyond, -lowest, highest), np.where(beyond, highest, -lowest)
    speed = np.sqrt(np.maximum(2 * x + y**2 / first, 0.0) / (1 / first + 1 / brake))
    return (y + speed) / first + speed / brake


def _near_least_time(x, y, lowest, highest, bandwidth):
    """The input of a double integrator at (x, y): full on either side of the switching curve, and linear near it.

    This is the proximate time-optimal law of Workman (1987). The speed that it allows is √(2 a |x|) - a/k_2 with the
    acceleration a of braking, and k_1 |x| / k_2 for |x| < a/k_1, where k_1 = ω² and k_2 = √2 ω: both meet with the same
    slope, and the end of the motion is that of x'' + √2 ω x' + ω² x = 0.
    """
    k_1, k_2 = bandwidth**2, np.sqrt(2.0) * bandwidth
    brake, away = np.where(x > 0, highest, -lowest), np.abs(x)
    outside = np.sqrt(2 * brake * np.maximum(away, brake / k_1)) - brake / k_2
    allowed = np.where(away < brake / k_1, k_1 / k_2 * away, outside)
    return np.clip(k_2 * (-np.sign(x) * allowed - y), lowest, highest)


def _bang_bang(robot, p, state, t, q, v, reference):
    M, g = mass_matrix(robot, reference.q), gravity_torque(robot, reference.q)
    # (5.4-15), with ζ = M (q - goal): ζ'' = τ - g for each joint on its own
    position, velocity = M @ difference(robot, reference.q, q), M @ v
    return g + _near_least_time(position, velocity, -p.limit - g, p.limit - g, p.bandwidth), state


def bang_bang(robot: Robot, goal, *, limit=None, bandwidth: ArrayLike = 50.0) -> Law:
    """Go to rest at `goal` (nq,) in nearly the least time, with joint forces up to ±`limit` [N m, N].

        >>> fast = bang_bang(robot, np.zeros(6), limit=np.array([90.0, 180, 90, 20, 20, 20]))
        >>> tau, _ = fast(robot, None, 0.0, q, v)

    Near the goal, M(goal) (q - goal)'' = τ - g(goal): in the coordinates ζ = M(goal) (q - goal), each joint is a double
    integrator of its own, bounded by -limit - g and limit - g, and it follows its `switching_curve`. M, the Coriolis
    forces and gravity far from the goal are not what the law takes them for, so motions over large angles may overshoot
    or brake too early; with one joint without gravity they take the `minimum_time`.

    The curve has a layer: where the speed differs from it by less than a/(√2 ω), with the bound a of braking, the force
    varies linearly, and for |ζ| < a/ω² the law is linear, M (e'' + √2 ω e' + ω² e) = 0. Here ω is `bandwidth` [rad/s]:
    a larger one is nearer to the least time, and needs faster sampling. Joint forces then do not chatter, and the robot
    comes to rest.

    `limit` is a number or (nv,), and the robot's `effort_limit` by default; it must hold gravity at the goal.
    References: Fu, Gonzalez & Lee (1987), (5.4-1) to (5.4-16), where ξ of (5.4-12) has 2n entries and no dots; Kahn
    & Roth (1971); Workman (1987), "Adaptive proximate time-optimal servomechanisms".
    """
    need_robot(robot, "bang_bang")
    goal = vectors(goal, robot.nq, "goal", "bang_bang")
    limit = gains(robot.effort_limit if limit is None else limit, robot.nv, "bang_bang: limit")
    held = np.abs(gravity_torque(robot, goal)) - limit
    if not (held < 0).all():
        joint = int(np.argmax(held.reshape(-1, robot.nv).max(axis=0)))
        raise SolveError(
            f"bang_bang: the limit {np.broadcast_to(limit, robot.nv)[joint]:g} of degree of freedom {joint} does not "
            f"hold gravity at the goal, which is {np.abs(gravity_torque(robot, goal))[..., joint].max():g}"
        )
    bandwidth = gains(bandwidth, robot.nv, "bang_bang: bandwidth")
    return law(_bang_bang, reference=goal, model=robot, limit=limit, bandwidth=bandwidth, name="bang_bang")


# --- sliding modes ----------------------------------------------------------------------------------------------------


def _sliding_variable(robot, q, v, reference, slope):
    # (5.5-4), for a reference that moves: s = c e + ė, e = q - q_d
    return slope * difference(robot, reference.q, q) + v - reference.v


@kernel(robot=static, q="nq", v="nv", slope="nv", reference_v="nv", reference_a="nv")
def equivalent_control(robot: Robot, q, v, slope, reference_v=None, reference_a=None) -> np.ndarray:
    """The joint forces (nv,) [N m, N] under which s = c e + ė of a sliding mode does not change: ṡ = 0.

    They are τ = M(q) [a_d - c (v - v_d)] + h(q, v), with `slope` c (nv,) [1/s]; the reference rests by default. This is
    (5.5-6) of Fu, Gonzalez & Lee (1987), u = -D (f_2 + C v), for a reference that may move.

        >>> tau = equivalent_control(robot, q, v, np.full(6, 5.0))
    """
    still = np.zeros(robot.nv)
    v_d, a_d = still if reference_v is None else reference_v, still if reference_a is None else reference_a
    return inverse_dynamics(robot, q, v, a_d - slope * (v - v_d))


def _switched(s, layer):
    """sgn(s), or s/layer within the layer."""
    return np.where(layer > 0, np.clip(s / np.where(layer > 0, layer, 1.0), -1.0, 1.0), np.sign(s))


def _sliding_mode(robot, p, state, t, q, v, reference):
    s = _sliding_variable(robot, q, v, reference, p.slope)
    tau = -p.gain * _switched(s, p.layer)
    if p.equivalent:
        slope = p.slope * np.ones(robot.nv)
        tau = tau + equivalent_control(robot, q, v, slope, reference.v, reference.a)
    return tau, state


def sliding_mode(robot: Robot, reference, *, slope, gain, layer: ArrayLike = 0.0, equivalent: bool = False) -> Law:
    """A sliding mode: τ = -K sgn(s) with s = c e + ė, e = q - q_d, so that e decays as exp(-c t) once s = 0 is reached.

        >>> law = sliding_mode(robot, np.zeros(6), slope=5.0, gain=150.0, layer=0.05)
        >>> tau, _ = law(robot, None, 0.0, q, v)

    - `slope` is c [1/s] and `gain` is K [N m, N]; each is a number or (nv,). `switching_gain` gives a K that suffices.
    - `layer` φ [rad/s, m/s] > 0 replaces sgn(s) by s/φ within |s| < φ, which ends the chattering. While |s| <= φ, the
      errors come within |e| <= φ/c and |ė| <= 2 φ (Slotine & Li 1991, (7.14)).
    - `equivalent` adds the `equivalent_control` of the model `robot`; K then has to cover only what the model gets
      wrong. Without it the law needs no model.

    Reference: Fu, Gonzalez & Lee (1987), (5.5-1) to (5.5-7), for a reference that may move.
    """
    caller = "sliding_mode"
    need_robot(robot, caller)
    return law(
        _sliding_mode, reference=reference, model=robot, name=caller,
        slope=gains(slope, robot.nv, f"{caller}: slope"), gain=gains(gain, robot.nv, f"{caller}: gain"),
        layer=gains(layer, robot.nv, f"{caller}: layer", or_zero=True),
        equivalent=truth(equivalent, f"{caller}: equivalent"),
    )  # fmt: skip


@kernel(robot=static, q="nq", v="nv", slope="nv", reference_q="nq", reference_v="nv", reference_a="nv")
def _needed(robot: Robot, q, v, slope, reference_q, reference_v, reference_a) -> np.ndarray:
    """The forces w = M a_r + C v_r + g + friction (nv,), v_r = v - s, of V̇ = sᵀ (τ - w) with V = ½ sᵀ M s."""
    s = _sliding_variable(robot, q, v, Target(reference_q, reference_v, reference_a), slope)
    a_r = reference_a - slope * (v - reference_v)
    return inverse_dynamics(robot, q, v, a_r) - coriolis_product(robot, q, v, s)


def switching_gain(
    robot: Robot, q, v, reference, *, slope, margin: ArrayLike = 0.0, model: Robot | None = None
) -> np.ndarray:
    """Gains K (nv,) [N m, N] of `sliding_mode` that suffice at all states q (..., nq), v (..., nv): V = ½ sᵀ M s falls.

    V̇ = sᵀ (τ - w) with w = M a_r + C v_r + g and friction, where v_r = v_d - c e and a_r = a_d - c ė. So K_i must be
    larger than |w_i|, or than |w_i - τ_eq,i| if the law adds the equivalent control of a `model`. The result is the
    largest of these over the batch of states, and `margin` [N m, N] more.

        >>> K = switching_gain(robot, np.random.default_rng(0).uniform(-1, 1, (1000, 6)), v, np.zeros(6), slope=5.0)

    `reference` is q_d (nq,) at rest, or a `Target` of arrays that broadcast against the states. It is a bound for the
    states that are given, no more.
    """
    caller = "switching_gain"
    need_robot(robot, caller)
    q, v = vectors(q, robot.nq, "q", caller), vectors(v, robot.nv, "v", caller)
    slope = gains(slope, robot.nv, f"{caller}: slope") * np.ones(robot.nv)
    margin = gains(margin, robot.nv, f"{caller}: margin", or_zero=True)
    if not isinstance(reference, Target):
        reference = Target(vectors(reference, robot.nq, "reference", caller), np.zeros(robot.nv), np.zeros(robot.nv))
    needed = _needed(robot, q, v, slope, *reference)
    if model is not None:
        need_robot(model, caller)
        needed = needed - equivalent_control(model, q, v, slope, reference.v, reference.a)
    if not np.isfinite(needed).all():
        raise ArgumentError(f"{caller}: the states or the reference contain NaN or infinity")
    return np.abs(needed).reshape(-1, robot.nv).max(axis=0) + margin
