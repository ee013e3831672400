"""A robot under physics in real time: chunks of a simulation, one after the other, and a hand that pulls it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..control.joint_laws import computed_torque, pd
from ..control.laws import Law
from ..dynamics.energy import kinetic_energy, potential_energy
from ..dynamics.factorization import mass_matrix_inverse
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import jacobian
from ..lie import se3
from ..model.input_checks import one_of
from ..model.robot import Robot
from ..simulation.forces import Force, force
from ..simulation.integrators import INTEGRATORS
from ..simulation.running import simulate
from ..simulation.runs import Run
from ..simulation.stops import joint_stops

__all__ = [
    "CONTROLLERS",
    "HOLDS",
    "INTEGRATORS",
    "Grab",
    "Moving",
    "Settings",
    "advanced",
    "arrow_of",
    "begun",
    "energies",
    "grab_at",
    "grabbed",
    "usual_stiffness",
]

CONTROLLERS = ("none", "gravity compensation", "PD hold", "computed torque")
HOLDS = CONTROLLERS[2:]  # those that drive the robot to a configuration
_ALL_BODIES = 16  # up to so many bodies, the code of a pull is made once for all of them


class Settings(NamedTuple):
    """What the machine code and the numbers of the simulation depend on.

    `speed` [rad/s] is how fast a controller drives an error to zero, `damping` [N m s/rad] acts on all joints, and
    `stops` puts ends to the ranges of the joints.
    """

    controller: str = "none"
    integrator: str = "rk4"
    speed: float = 8.0
    damping: float = 0.0
    stops: bool = False
    dt: float = 0.001


class Grab(NamedTuple):
    """A hand that pulls a `body` at a `point` (3,) of it, with a spring of `stiffness` [N/m] to `hand` (3,) [m]."""

    body: int
    point: np.ndarray
    hand: np.ndarray
    stiffness: float


@dataclass(frozen=True, eq=False)
class Moving:
    """A robot on its way: the last chunk of its run, where a controller drives it, and who pulls it."""

    robot: Robot
    settings: Settings
    run: Run
    target: np.ndarray
    grab: Grab | None = None
    time: float = 0.0  # [s] since it began

    @property
    def q(self) -> np.ndarray:
        """The configuration (nq,) now."""
        return self.run.end.q

    @property
    def v(self) -> np.ndarray:
        """The velocities (nv,) now."""
        return self.run.end.v


def begun(robot: Robot, settings: Settings, q: np.ndarray, v: np.ndarray | None = None, target=None) -> Moving:
    """A robot that begins to move from q (nq,) and v (nv,), by default at rest; its code is compiled here."""
    one_of(settings.controller, CONTROLLERS, "view: controller")
    one_of(settings.integrator, INTEGRATORS, "view: integrator")
    target = q if target is None else target
    v = np.zeros(robot.nv) if v is None else v
    law, forces = _law(robot, settings, target), _forces(robot, settings, None)
    run = simulate(robot, law, q=q, v=v, duration=settings.dt, dt=settings.dt, integrator=settings.integrator,
                   forces=forces)  # fmt: skip
    return Moving(robot, settings, run, target, time=settings.dt)


def advanced(moving: Moving, until: float) -> Moving:
    """The robot at the time `until` [s], to the last whole step before it."""
    s = moving.settings
    steps = int(np.floor((until - moving.time) / s.dt + 1e-9))
    if steps <= 0:
        return moving
    law, forces = _law(moving.robot, s, moving.target), _forces(moving.robot, s, moving.grab)
    run = simulate(moving.robot, law, resume=moving.run, duration=steps * s.dt, dt=s.dt,
                   integrator=s.integrator, forces=forces)  # fmt: skip
    if not np.isfinite([*run.end.q, *run.end.v]).all():
        raise ArgumentError(
            "the simulation has become infinite; take a softer spring, less speed, or another integrator"
        )
    return replace(moving, run=run, time=moving.time + steps * s.dt)


def grabbed(moving: Moving, grab: Grab | None) -> Moving:
    """The same robot, pulled by a hand, or let go.

    The code for large robots pulls at one body only: it is compiled when another body is grabbed.
    """
    again = len(moving.robot.body_names) > _ALL_BODIES and _site(moving.robot, grab) != _site(moving.robot, moving.grab)
    if not again:
        return replace(moving, grab=grab)
    fresh = begun(moving.robot, moving.settings, moving.q, moving.v, moving.target)
    return replace(fresh, grab=grab, time=moving.time)


def energies(moving: Moving) -> tuple[float, float, float]:
    """The kinetic, potential and total energy [J]; that of the spring of a hand does not count."""
    T = float(kinetic_energy(moving.robot, moving.q, moving.v))
    U = float(potential_energy(moving.robot, moving.q))
    return T, U, T + U


def arrow_of(moving: Moving) -> np.ndarray | None:
    """The line (2, 3) [m] from the point that is pulled to the hand, in the base."""
    grab = moving.grab
    if grab is None:
        return None
    T = _placement(moving.robot, moving.q, grab.body)
    return np.stack([T[:3, :3] @ grab.point + T[:3, 3], grab.hand])


def grab_at(robot: Robot, q: np.ndarray, body: int, place: np.ndarray, stiffness: float) -> Grab:
    """A hand that takes hold of a body at a place (3,) in the base, where it is at q."""
    T = se3.inverse(_placement(robot, q, body))
    return Grab(body, T[:3, :3] @ place + T[:3, 3], np.array(place, float), stiffness)


def usual_stiffness(robot: Robot) -> float:
    """A stiffness [N/m] with which a hand lifts a third of the robot's weight when it moves by 10 cm."""
    g = float(np.linalg.norm(robot.gravity)) or 10.0
    return 3.3 * max(robot.mass, 1e-6) * g


def _placement(robot: Robot, q: np.ndarray, body: int) -> np.ndarray:
    return np.eye(4) if body < 0 else forward_kinematics(robot, q, robot.body_names[body])


# --- what acts on the robot -------------------------------------------------------------------------------------------


def _law(robot: Robot, s: Settings, target: np.ndarray) -> Law | None:
    if s.controller == "none":
        return None
    if s.controller == "computed torque":
        return computed_torque(robot, target, kp=s.speed**2, kd=2 * s.speed)
    if s.controller == "gravity compensation":
        return pd(target, kp=np.zeros(robot.nv), kd=np.zeros(robot.nv), gravity=True)
    inertia = 1 / np.diagonal(mass_matrix_inverse(robot, target))  # of each joint, while the others are free
    return pd(target, kp=s.speed**2 * inertia, kd=2 * s.speed * inertia, gravity=True)


def _site(robot: Robot, grab: Grab | None) -> tuple[str, ...]:
    """The bodies that the code of a pull can pull at."""
    if len(robot.body_names) <= _ALL_BODIES:
        return robot.body_names
    return () if grab is None or grab.body < 0 else (robot.body_names[grab.body],)


def _forces(robot: Robot, s: Settings, grab: Grab | None) -> tuple[Force, ...]:
    """The pull of a hand, damping of the joints, and the ends of their ranges."""
    names = _site(robot, grab)
    chosen = np.array([grab is not None and grab.body >= 0 and name == robot.body_names[grab.body] for name in names])
    held = Grab(-1, np.zeros(3), np.zeros(3), 0.0) if grab is None else grab
    pull = force(
        _pull, name="hand", names=names, on=chosen.astype(float), point=held.point, hand=held.hand,
        stiffness=held.stiffness, give=0.02 * held.stiffness, damping=s.damping,
    )  # fmt: skip
    return (pull, joint_stops(robot)) if s.stops else (pull,)


def _pull(robot, p, t, q, v):
    """Joint forces of a spring, with a little damping, from a point of one of the bodies to the hand: τ = Jᵀ F.

    `on` is 1 for the body that is pulled; the wrench F is taken at the origin of that body, in the axes of the base.
    """
    tau = -p.damping * v
    for k, name in enumerate(p.names):
        T, J = forward_kinematics(robot, q, name), jacobian(robot, q, name, "world")
        arm, twist = T[:3, :3] @ p.point, J @ v
        rate = twist[3:] + np.cross(twist[:3], arm)
        f = p.on[k] * (p.stiffness * (p.hand - T[:3, 3] - arm) - p.give * rate)
        tau = tau + J.T @ np.concatenate([np.cross(arm, f), f])
    return tau
