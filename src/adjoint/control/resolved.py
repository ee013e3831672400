"""Laws that move a hand: resolved motion rate, acceleration and force control.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), §5.7. All three follow a pose: a `PoseTrajectory`,
a constant pose, or a function of t. Errors and accelerations are along the axes of the base,

    e_p = p_d - p,   e_o = log(R_d Rᵀ)   or the book's   e_o = ½ (n × n_d + s × s_d + a × a_d),

both of which are along the axis r about which the hand has to turn: the first is r φ, and the second r sin φ, which
vanishes also at φ = π, where the hand points the wrong way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dynamics.newton_euler import gravity_torque, inverse_dynamics
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import frame_twist, static_torque
from ..lie import so3
from ..model.configuration import difference
from ..model.input_checks import count, floats, one_of, positive, vectors
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law
from .references import PoseTarget
from .resolution import resolve_acceleration, resolve_twist, rows_of_part
from .task_motion import along_base

__all__ = ["ForceRounds", "resolved_acceleration", "resolved_force", "resolved_rate"]

_COMMANDS = ("pose", "body", "space", "world")
_ORIENTATIONS = ("log", "book")


# --- what all of them share -------------------------------------------------------------------------------------------


def _base_twist(target: PoseTarget):
    """The twist (w, ṗ) of the target along the base's axes, from its body twist."""
    return along_base(target.T, target.twist)


def _base_acceleration(target: PoseTarget):
    """The rate (ẇ, p̈) of `_base_twist`: the origin accelerates with v̇ + w × v in the axes of the body."""
    (w, v), (dw, dv) = (x.reshape(2, 3) for x in (target.twist, target.acceleration))
    return along_base(target.T, np.concatenate([dw, dv + np.cross(w, v)]))


def _pose_error(T, T_d, orientation: str):
    """The error (e_o, e_p) (6,) of a pose along the base's axes."""
    R, R_d = T[:3, :3], T_d[:3, :3]
    if orientation == "log":
        e_o = R @ so3.log(R.T @ R_d)
    else:  # (5.7-28)
        e_o = 0.5 * sum(np.cross(R[:, k], R_d[:, k]) for k in range(3))
    return np.concatenate([e_o, T_d[:3, 3] - T[:3, 3]])


def _check_task(caller: str, robot: Robot, frame: str, part: str, weight, damping) -> dict[str, Any]:
    """The options of a law that say which motion counts, and how joints share it."""
    need_robot(robot, caller)
    robot.frame(frame)
    rows = rows_of_part(part)
    if damping is None and len(rows) > robot.nv:
        raise ArgumentError(
            f"{caller}: the {robot.nv} degrees of freedom of robot '{robot.name}' cannot meet {len(rows)} components "
            "of a twist; name fewer of them by `part`, such as 'x y', or give damping"
        )
    if weight is not None:
        weight = floats(weight)
        weight = np.diag(weight) if weight.ndim == 1 else weight
        shape, n = weight.shape, robot.nv
        if shape != (n, n) or not np.allclose(weight, weight.T) or not (np.linalg.eigvalsh(weight) > 0).all():
            raise ArgumentError(f"{caller}: weight must be ({n},) or symmetric ({n}, {n}), and positive definite")
    damping = None if damping is None else positive(damping, f"{caller}: damping")
    return {"frame": frame, "part": part, "weight": weight, "damping": damping}


def _posture(robot: Robot, posture, caller: str):
    return None if posture is None else vectors(posture, robot.nq, "posture", caller)


# --- rates ------------------------------------------------------------------------------------------------------------


def _resolved_rate(robot, p, state, t, q, v, reference):
    command, expressed = reference, p.command
    if p.command == "pose":
        T = forward_kinematics(robot, q, p.frame)
        command, expressed = _base_twist(reference) + p.gain * _pose_error(T, reference.T, "log"), "world"
    preferred = None if p.posture is None else p.gain * difference(robot, q, p.posture)
    v_c = resolve_twist(
        robot, q, command, p.frame, expressed, p.part, weight=p.weight, damping=p.damping, preferred=preferred
    )
    return p.kd * (v_c - v) + gravity_torque(robot, q), state


def resolved_rate(
    robot: Robot, reference, *, frame: str, kd, gain=0.0, command: str = "pose", part: str = "all", weight=None,
    damping=None, posture=None,
) -> Law:  # fmt: skip
    """Resolved motion rate control: the joints get the velocities with which the hand moves as it should.

        >>> T = forward_kinematics(robot, q, "tool")
        >>> hold = resolved_rate(robot, T, frame="tool", kd=50.0, gain=5.0)
        >>> forward = resolved_rate(robot, [0, 0, 0, 0, 0, 0.1], frame="tool", kd=50.0, command="body")
        >>> tau, _ = forward(robot, None, 0.0, q, v)                        # 0.1 m/s along the axis of the hand

    The twist V = V_d + k e of the `frame` is resolved into v_c by `resolve_twist`, and a velocity loop drives the
    joints: τ = kd (v_c - v) + g(q). So the hand follows as well as that loop does; with v = v_c, each error decays as
    exp(-k t).

    - `kd` [N m s/rad, N s/m] is a number or (nv,), and `gain` k [1/s] is a number; 0, the book's law, lets errors stay.
    - `command` "body", "space" or "world" makes `reference` a twist (6,), or a function of t that gives one, in that
      expression of `jacobian`: a hand that is moved by a joystick. "body" is along the axes of the hand.
    - `part`, `weight` (nv, nv) or (nv,), and `damping` are those of `resolve_twist`. Components are "world" ones,
      except those of commanded twists.
    - `posture` (nq,) is where the joints go, with the same gain, as far as the hand does not notice.

    References: Whitney (1969); Fu, Gonzalez & Lee (1987), (5.7-15) to (5.7-25).
    """
    caller = "resolved_rate"
    task = _check_task(caller, robot, frame, part, weight, damping)
    one_of(command, _COMMANDS, f"{caller}: command")
    if command != "pose" and not callable(reference):
        reference = vectors(reference, 6, "reference", caller)
    return law(
        _resolved_rate, reference=reference, follows=PoseTarget if command == "pose" else None, model=robot,
        name=caller, kd=gains(kd, robot.nv, f"{caller}: kd"), gain=positive(gain, f"{caller}: gain", or_zero=True),
        command=command, posture=_posture(robot, posture, caller), **task,
    )  # fmt: skip


# --- accelerations ----------------------------------------------------------------------------------------------------


def _resolved_acceleration(robot, p, state, t, q, v, reference):
    T, V = forward_kinematics(robot, q, p.frame), frame_twist(robot, q, v, p.frame, "world")
    e = _pose_error(T, reference.T, p.orientation)
    wanted = _base_acceleration(reference) + p.k_1 * (_base_twist(reference) - V) + p.k_2 * e
    # (5.7-36): q̈ = -k_1 q̇ + N⁻¹ (ẍ_d + k_1 ẋ_d + k_2 e - Ṅ q̇); -k_1 q̇ also damps motions that the hand does not notice
    preferred = -p.k_1 * v
    if p.posture is not None:
        preferred = preferred + p.k_2 * difference(robot, q, p.posture)
    a = resolve_acceleration(
        robot, q, v, wanted, p.frame, "world", p.part, weight=p.weight, damping=p.damping, preferred=preferred
    )
    return inverse_dynamics(robot, q, v, a), state


def resolved_acceleration(
    robot: Robot, reference, *, frame: str, k_1, k_2, orientation: str = "log", part: str = "all", weight=None,
    damping=None, posture=None,
) -> Law:  # fmt: skip
    """Resolved motion acceleration control: a hand gets ẍ = ẍ_d + k_1 (ẋ_d - ẋ) + k_2 e, by inverse dynamics.

        >>> T = forward_kinematics(robot, q, "tool")
        >>> hold = resolved_acceleration(robot, T, frame="tool", k_1=20.0, k_2=100.0)
        >>> tau, _ = hold(robot, None, 0.0, q, v)

    With the right model, the position obeys ë + k_1 ė + k_2 e = 0. `k_1` [1/s] and `k_2` [1/s²] are numbers.
    `orientation` is the error of rotations: "log", r φ, or "book", (n × n_d + s × s_d + a × a_d)/2 = r sin φ, which is
    also 0 at half a turn. The other options are those of `resolved_rate`. Motions of joints that the hand does not
    notice are damped with k_1, and with a `posture` they go there by the same equation.

    References: Luh, Walker & Paul (1980); Fu, Gonzalez & Lee (1987), (5.7-26) to (5.7-36), where the desired
    acceleration after (5.7-36) is v̇_d.
    """
    caller = "resolved_acceleration"
    task = _check_task(caller, robot, frame, part, weight, damping)
    one_of(orientation, _ORIENTATIONS, f"{caller}: orientation")
    return law(
        _resolved_acceleration, reference=reference, follows=PoseTarget, model=robot, name=caller,
        k_1=positive(k_1, f"{caller}: k_1"), k_2=positive(k_2, f"{caller}: k_2"), orientation=orientation,
        posture=_posture(robot, posture, caller), **task,
    )  # fmt: skip


# --- forces -----------------------------------------------------------------------------------------------------------


class ForceRounds(NamedTuple):
    """The state of `resolved_force` with measured wrenches: the wrench `applied` (6,), and the `round` k."""

    applied: Any
    round: Any


def _wanted_wrench(robot, p, q, v, reference):
    """The wrench F_d (6,) on the load, seen from the hand: F_d = M ẍ, ẍ = ẍ_d + K_v (ẋ_d - ẋ) + K_p e."""
    T, V = forward_kinematics(robot, q, p.frame), frame_twist(robot, q, v, p.frame, "world")
    error = _pose_error(T, reference.T, "log")
    x = _base_acceleration(reference) + p.kv * (_base_twist(reference) - V) + p.kp * error  # (5.7-41)
    R = T[:3, :3]
    return np.concatenate([p.moments * (R.T @ x[:3]), p.mass * (R.T @ x[3:])])  # (5.7-43)


def _resolved_force(robot, p, state, t, q, v, reference):
    F = _wanted_wrench(robot, p, q, v, reference)
    return static_torque(robot, q, F, p.frame) + gravity_torque(robot, q), state  # (5.7-44)


def _converging_force(robot, p, state, t, q, v, reference):
    off = _wanted_wrench(robot, p, q, v, reference) + p.wrench  # what the load feels is -wrench
    far = np.max(np.abs(off)) > p.threshold
    applied = state.applied + np.where(far, off / (state.round + 1), 0.0)  # (5.7-45)
    following = np.where(state.round + 1 < p.rounds, state.round + 1, 0.0)
    tau = static_torque(robot, q, applied, p.frame) + gravity_torque(robot, q)
    return tau, ForceRounds(applied, following)


def resolved_force(
    robot: Robot, reference, *, frame: str, mass, moments, kv, kp, rounds: int = 0, threshold=0.0, period=0.001,
    wrench=None,
) -> Law:  # fmt: skip
    """Resolved motion force control: the wrench F = M ẍ that moves a load as it should, by τ = Jᵀ F + g(q).

        >>> T = forward_kinematics(robot, q, "tool")
        >>> carry = resolved_force(robot, T, frame="tool", mass=20.0, moments=[0.1, 0.1, 0.1], kv=20.0, kp=100.0)
        >>> tau, _ = carry(robot, None, 0.0, q, v)

    ẍ = ẍ_d + K_v (ẋ_d - ẋ) + K_p e, and M = diag(I_x, I_y, I_z, m, m, m) is the inertia of the load along the axes of
    the hand, with the `mass` m [kg] and `moments` (3,) [kg m²]. The inertia of the arm and its Coriolis forces are left
    out: the law serves loads that are heavy beside the arm. (The book states the opposite, but an arm of mass M with a
    light load m is driven with m/M of the force it needs.) Gains `kv` [1/s] and `kp` [1/s²] are numbers, or (6,) for
    the turns about, and the ways along, the axes of the base.

    With `rounds` > 0 the law measures the wrench at the frame, every `period` [s], and converges to what it wants:
    F_a ← F_a + (F - F_0)/(k + 1), with k = 0 ... rounds - 1 again and again, unless all of F - F_0 is within
    `threshold`; see `force_convergence`. F_0 = -`wrench`, which acts on the robot, moment first, seen from the frame.
    The state is a `ForceRounds`.

    References: Wu & Paul (1982); Fu, Gonzalez & Lee (1987), (5.7-37) to (5.7-45), with a wrench along the axes of the
    hand and the Jacobian that belongs to them.
    """
    caller = "resolved_force"
    need_robot(robot, caller)
    robot.frame(frame)
    given: dict[str, Any] = {
        "mass": positive(mass, f"{caller}: mass [kg]"), "moments": gains(moments, 3, f"{caller}: moments [kg m²]"),
        "kv": gains(kv, 6, f"{caller}: kv", or_zero=True), "kp": gains(kp, 6, f"{caller}: kp", or_zero=True),
        "frame": frame, "reference": reference, "follows": PoseTarget, "model": robot, "name": caller,
    }  # fmt: skip
    if count(rounds, f"{caller}: rounds") == 0:
        return law(_resolved_force, **given)
    return law(
        _converging_force, state=ForceRounds(np.zeros(6), 0.0), rounds=rounds,
        threshold=positive(threshold, f"{caller}: threshold", or_zero=True),
        period=positive(period, f"{caller}: period [s]"),
        wrench=vectors(np.zeros(6) if wrench is None else wrench, 6, "wrench", caller), **given,
    )  # fmt: skip
