"""Forces and positions at once: hybrid control along the axes of a task frame, and the parallel regulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics.newton_euler import inverse_dynamics
from ..errors import ArgumentError
from ..lie import so3
from ..model.input_checks import floats, positive
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law
from .references import PoseTarget
from .resolution import COMPONENTS
from .task_motion import (
    along_base,
    freedom,
    joint_accelerations,
    matrix_gains,
    motion_beside,
    rows,
    spring_wrench,
    task_of,
    task_parameters,
    times,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["TaskFrame", "hybrid", "parallel"]


# --- hybrid -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TaskFrame:
    """A frame whose axes are controlled in force or in position: the C-frame of a C-surface.

        >>> table = TaskFrame(np.eye(3), {"z": -10.0, "rx": 0.0, "ry": 0.0})    # press down with 10 N, flat

    `rotation` (3, 3) has the axes of the task frame, along those of the robot's base, in its columns; of a pose (4, 4),
    the rotation counts. The origin goes with the frame that is controlled. `forces` are the axes along which the
    surface allows no motion, of "rx", "ry", "rz", "x", "y", "z", and the moments [N m] and forces [N] that the robot
    shall exert along them on its environment; 0 complies. Along all other axes, positions are controlled.

    Fu, Gonzalez & Lee (1987), 9.3.3 and Table 9.6; Mason (1981), IEEE Trans. Syst. Man Cybern. 11(6).
    """

    rotation: np.ndarray
    forces: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self):
        R = floats(self.rotation)
        R = R[:3, :3] if R.shape == (4, 4) else R
        if R.shape != (3, 3) or not np.abs(R @ R.T - np.eye(3)).max() < 1e-6 or np.linalg.det(R) < 0:
            raise ArgumentError(
                f"TaskFrame: rotation must be a rotation (3, 3) or a pose (4, 4); got {self.rotation!r}"
            )
        forces = dict(self.forces) if isinstance(self.forces, Mapping) else {None: np.nan}
        for name, value in forces.items():
            if name not in COMPONENTS or floats(value).shape != () or not np.isfinite(floats(value)):
                known = ", ".join(map(repr, COMPONENTS))
                raise ArgumentError(
                    f"TaskFrame: forces must be {{axis: number}} with axes of {known}; got {self.forces!r}"
                )
        object.__setattr__(self, "rotation", so3.project(R))
        object.__setattr__(self, "forces", MappingProxyType({k: float(x) for k, x in forces.items()}))

    @classmethod
    def on_surface(cls, normal, force: float) -> TaskFrame:
        """The task frame of a surface: its z axis is along the `normal` (3,), which points out, towards the robot.

        The robot presses against the surface with `force` [N] and slides along it; its orientation is kept.
        """
        n = floats(normal)
        length = np.linalg.norm(n) if n.shape == (3,) else np.nan
        if not 0 < length < np.inf:
            raise ArgumentError(f"TaskFrame.on_surface: normal must be (3,) and not 0; got {normal!r}")
        z = n / length
        x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
        x /= np.linalg.norm(x)
        return cls(np.stack([x, np.cross(z, x), z], axis=-1), {"z": -positive(force, "TaskFrame.on_surface: force")})

    @property
    def wrench(self) -> np.ndarray:
        """The moments and forces (6,) that the robot shall exert, along the axes of the task frame."""
        return np.array([self.forces.get(name, 0.0) for name in COMPONENTS])


def _hybrid(robot, p, state, t, q, v, reference):
    task = task_of(robot, q, v, p.frame, reference)
    R, none = p.rotation.T, np.zeros((3, 3))
    turn = np.block([[R, none], [none, R]])  # takes twists and wrenches to the axes of the task frame
    forced = np.array([float(name in p.force_axes) for name in COMPONENTS])
    F = along_base(task.T, p.wrench)
    lacking = forced * (p.force + turn @ F)  # the robot exerts -wrench
    second = -turn.T @ (times(p.kd, turn @ task.rate) + times(p.kp, turn @ task.error))
    moved = turn @ motion_beside(reference, task.error, task.rate, second).acceleration
    pushed = p.force_kp * lacking + p.force_ki * state - p.force_kd * (turn @ task.twist)
    V_rate = forced * pushed + (1 - forced) * moved
    a = joint_accelerations(robot, p, q, v, V_rate, turn)
    return inverse_dynamics(robot, q, v, a) - task.J.T @ F, state + p.period * lacking


def hybrid(
    robot: Robot, reference, frame: str, *, task: TaskFrame, kp, kd, force_kp, force_ki, force_kd, period: float,
    part: str = "all", posture=None, null_kp: ArrayLike = 0.0, null_kd: ArrayLike = 1.0, singular_damping: float = 1e-3,
) -> Law:  # fmt: skip
    """Hybrid force and position control: forces along some axes of a task frame, positions along all others.

        >>> goal = aj.forward_kinematics(robot, q, "tool")
        >>> press = TaskFrame(np.eye(3), {"z": -10.0})
        >>> gains = {"kp": 400.0, "kd": 40.0, "force_kp": 0.2, "force_ki": 2.0, "force_kd": 40.0}
        >>> polish = hybrid(robot, goal, "tool", task=press, **gains, period=0.001)
        >>> tau, integral = polish(robot, None, 0.0, q, v)

    The frame's acceleration along an axis of the task frame is, for a position, that of `operational`, so that
    ë + kd ė + kp e = 0; and for a force f, which the robot exerts and whose set point is f_d,

        V̇ = force_kp Δf + force_ki ∫ Δf dt - force_kd V,   Δf = f_d - f.

    The measured wrench is compensated, so that forces along one axis do not move another, and the inertia of the robot
    does not count: 1/force_kp acts as a mass. Against a compliant wall of stiffness k_e, f = k_e x, the loop

        s³ + force_kd s² + force_kp k_e s + force_ki k_e = 0

    is stable if and only if 0 < force_ki < force_kp force_kd (Routh), whatever k_e is, if period goes to 0; and then
    Δf goes to 0. In free space Δf stays, and the integral grows: bring the frame close to the surface first.

    Parameters
    ----------
    reference
        The pose to follow, as for `operational`; it does not count along axes of forces.
    task
        The `TaskFrame`: its axes, and the set points f_d of forces. They become the numbers `rotation` (3, 3) and
        `force` (6,), which `Law.replace` changes; which axes are controlled in force is fixed in the machine code.
    kp, kd
        Gains of positions [1/s²], [1/s], numbers or (6,), along the axes of the task frame, rotations first.
    force_kp, force_ki, force_kd
        Gains of forces [1/kg], [1/(kg s)] and [1/s], numbers or (6,) (for moments [1/(kg m²)], ...).
    period
        The time between two instants [s], over which the integral takes one step of Euler's method.
    part, posture, null_kp, null_kd, singular_damping
        As for `operational`, but `part` has components along the axes of the task frame.

    The state is the integral (6,) [N m s, N s] of Δf. The number `wrench` (6,), moment before force, acts on the robot
    and is seen from the frame; `simulate` feeds it. References: Raibert & Craig (1981), J. Dyn. Syst. Meas. Control
    103(2); Khatib (1987), IEEE J. Robot. Autom. 3(1).
    """
    caller = "hybrid"
    if not isinstance(task, TaskFrame):
        raise ArgumentError(f"{caller}: task must be a TaskFrame; got {type(task).__name__}")
    numbers = task_parameters(caller, robot, frame, part, posture, null_kp, null_kd, singular_damping)
    own = {"kp": kp, "kd": kd, "force_kp": force_kp, "force_ki": force_ki, "force_kd": force_kd}
    numbers |= {k: gains(x, 6, f"{caller}: {k}", or_zero=True) for k, x in own.items()}
    numbers |= {"rotation": task.rotation, "force": task.wrench, "wrench": np.zeros(6)}
    return law(
        _hybrid, reference=reference, follows=PoseTarget, model=robot, state=np.zeros(6), name=caller,
        force_axes=tuple(task.forces), period=positive(period, "hybrid: period"), **numbers,
    )  # fmt: skip


# --- parallel ---------------------------------------------------------------------------------------------------------


def _parallel(robot, p, state, t, q, v, reference):
    task = task_of(robot, q, v, p.frame, reference)
    lacking = p.force + along_base(task.T, p.wrench)  # the robot exerts -wrench
    F = spring_wrench(task, p.kp, p.kd) + p.force + p.force_kp * lacking + p.force_ki * state
    free, still = freedom(robot, p, q, v, task.J), np.zeros(robot.nv)
    tau = inverse_dynamics(robot, q, still, free.rest) + free.J.T @ F[rows(p.part)]
    return tau, state + p.period * lacking


def parallel(
    robot: Robot, reference, frame: str, *, force, kp, kd, force_kp: ArrayLike = 0.0, force_ki, period: float,
    part: str = "all", posture=None, null_kp: ArrayLike = 0.0, null_kd: ArrayLike = 1.0, singular_damping: float = 1e-3,
) -> Law:  # fmt: skip
    """The parallel force and position regulator: PD with gravity compensation, the desired force, PI of the force.

        >>> goal = aj.forward_kinematics(robot, q, "tool")
        >>> f = np.array([0, 0, 0, 0, 0, -10.0])
        >>> press = parallel(robot, goal, "tool", force=f, kp=500.0, kd=100.0, force_ki=5.0, period=0.001)
        >>> tau, integral = press(robot, None, 0.0, q, v)

    The robot exerts f on its environment, f_d is desired, Δf = f_d - f, and e is the error of `operational`:

        τ = φ(q) + Jᵀ (B⁻ᵀ (kp e + kd ė) + f_d + force_kp Δf + force_ki ∫ Δf dt),

    with gravity φ and B of `impedance`. No inertia is needed. Against a frictionless plane with f_d along its normal,
    forces win along the normal, f = f_d whatever e is there, since the integral grows until then; and positions win
    along the plane, where f = f_d = 0 whatever the integral is: e = 0. Where the environment cannot bear f_d, as along
    the plane or in free space, the integral drifts.

    A mass m along one axis against a wall of stiffness k_e obeys

        m s³ + kd s² + (kp + (1 + force_kp) k_e) s + force_ki k_e = 0,

    which is stable if and only if 0 < force_ki < kd (kp + (1 + force_kp) k_e) / (m k_e) (Routh), if period goes to 0.
    The sampled loop of `simulate` has the same bound with integrator="semi_implicit" and dt = period. A real wall acts
    while the joint forces are held, which lowers the bound, in proportion to the period. For a robot, m is the
    inertia of its frame in that direction (`operational_space`).

    Parameters
    ----------
    reference
        The pose to hold, or to follow, as for `operational`; the regulator knows no accelerations.
    force
        f_d (6,) [N m, N], moment before force, along the axes of the base, at the frame's origin.
    kp, kd
        Gains [N m/rad, N/m], [N m s/rad, N s/m]: numbers, (6,), or symmetric (6, 6), rotations first.
    force_kp, force_ki
        Gains of forces [1], [1/s], numbers or (6,).
    period
        The time between two instants [s], over which the integral takes one step of Euler's method.
    part, posture, null_kp, null_kd, singular_damping
        As for `operational`; they matter to robots with more joints than `part` has components.

    The state is the integral (6,) [N m s, N s] of Δf. The number `wrench` (6,), moment before force, acts on the robot
    and is seen from the frame; `simulate` feeds it. Reference: Chiaverini, Siciliano & Villani (1994), "Force/position
    regulation of compliant robot manipulators", IEEE Trans. Autom. Control 39(3), for translations.
    """
    caller = "parallel"
    numbers = task_parameters(caller, robot, frame, part, posture, null_kp, null_kd, singular_damping)
    numbers |= {k: matrix_gains(x, f"{caller}: {k}") for k, x in {"kp": kp, "kd": kd}.items()}
    own = {"force_kp": force_kp, "force_ki": force_ki}
    numbers |= {k: gains(x, 6, f"{caller}: {k}", or_zero=True) for k, x in own.items()}
    f = floats(force)
    if f.shape != (6,) or not np.isfinite(f).all():
        raise ArgumentError(f"{caller}: force must be 6 finite numbers, moment before force; got {force!r}")
    numbers |= {"force": f, "wrench": np.zeros(6), "period": positive(period, "parallel: period")}
    return law(
        _parallel, reference=reference, follows=PoseTarget, model=robot, state=np.zeros(6), name=caller, **numbers
    )
