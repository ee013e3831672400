"""The plant: a robot with all that acts on it, and the accelerations that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..control.assembled import Input, Parts, assembled_kernel
from ..dynamics.closed_loops import Loop, constrained_forward_dynamics
from ..dynamics.forward import forward_dynamics
from ..dynamics.newton_euler import inverse_dynamics, mass_matrix_product
from ..errors import ArgumentError
from ..model.configuration import integrate
from ..model.robot import Robot
from ..sweep import at_rest

__all__ = ["Acting", "ActingForce", "HeldPlant", "Plant"]


class ActingForce(NamedTuple):
    """A force of the plant: its function and parameters, and the frame at which it acts (None: on the joints)."""

    parts: Parts
    frame: str | None


class Acting(NamedTuple):
    """What forces exert at one instant: joint forces (nv,), and pairs of a frame and the wrench (6,) seen from it."""

    tau: list
    wrenches: list


class Plant(NamedTuple):
    """What the machine code of a plant depends on.

    `lift` names the robot's numbers that are inputs, `changes` are functions of time that change the robot's numbers.
    """

    robot: Robot
    lift: tuple[str, ...] = ()
    forces: tuple[ActingForce, ...] = ()
    changes: tuple[Parts, ...] = ()
    loops: tuple[Loop, ...] = ()
    base: Parts | None = None

    def inputs(self) -> dict[str, Input]:
        """The inputs that a kernel with this plant has."""
        known = self.robot.liftable if self.lift else {}
        found = {f"lift_{name}": Input(known[name].shape) for name in self.lift}
        for k, acting in enumerate(self.forces):
            found |= acting.parts.inputs(f"force{k}_")
        for k, change in enumerate(self.changes):
            found |= change.inputs(f"change{k}_")
        return found | ({} if self.base is None else self.base.inputs("base_"))

    def robot_at(self, given: Mapping[str, Any], t, others: Mapping[str, Any] | None = None) -> Robot:
        """The robot at the time t: its numbers are inputs, or change with time, or are the others that are given."""
        numbers = {name: given[f"lift_{name}"] for name in self.lift}
        for k, change in enumerate(self.changes):
            robot = self.robot.lifted(numbers) if numbers else self.robot
            numbers |= change.function(robot, change.namespace(given, f"change{k}_"), t)
        numbers |= others or {}
        return self.robot.lifted(numbers) if numbers else self.robot

    def acting(self, given: Mapping[str, Any], robot: Robot, t, q, v) -> Acting:
        """What the forces of the plant exert at one instant."""
        tau, wrenches = [], []
        for k, one in enumerate(self.forces):
            found = one.parts.function(robot, one.parts.namespace(given, f"force{k}_"), t, q, v)
            _need_shape(np.shape(found), robot, one.frame, k)
            if one.frame is None:
                tau.append(found)
            else:
                wrenches.append((one.frame, found))
        return Acting(tau, wrenches)

    def accelerations(self, given: Mapping[str, Any]) -> Callable:
        """The function (t, q, v, τ) -> a (nv,) of this plant; `given` has the values of its inputs."""

        def acceleration(t, q, v, tau):
            robot = self.robot_at(given, t)
            tau, options = self.loaded(robot, given, t, q, v, tau)
            if self.loops:
                return constrained_forward_dynamics(robot, self.loops, q, v, tau, **options).a
            return forward_dynamics(robot, q, v, tau, **options)

        return acceleration

    def loaded(self, robot: Robot, given: Mapping[str, Any], t, q, v, tau) -> tuple[Any, dict[str, Any]]:
        """The joint forces with those of the plant, and its wrenches and its base as options of the dynamics."""
        more, wrenches = self.acting(given, robot, t, q, v)
        options: dict[str, Any] = {}
        if wrenches:
            frames, F = zip(*wrenches, strict=True)
            options = {"applied_wrenches": np.stack(F), "frames": frames}
        if self.base is not None:
            moving = self.base.function(robot, self.base.namespace(given, "base_"), t)
            options |= dict(zip(("gravity", "base_twist", "base_acceleration"), moving, strict=True))
        return sum(more, start=tau), options


@dataclass(frozen=True, eq=False)
class HeldPlant:
    """What an integrator knows of a plant: its accelerations `plant(t, q, v)` (nv,) while the joint forces are held.

    `more` (nv,) are further joint forces.
    """

    plant: Plant
    given: Mapping[str, Any]
    tau: Any

    def __call__(self, t, q, v, more=None):
        return self.plant.accelerations(self.given)(t, q, v, self.tau if more is None else self.tau + more)

    def slope(self, t, q, v, a, dq, dv):
        """The rate of M a, where a are the accelerations, while q moves with dq and v with dv (nv,).

        M is held: the result is M ȧ.
        """
        names = self.plant.inputs()
        zero = np.zeros(self.plant.robot.nv)
        at = {"dq": zero, "dv": zero, "t": t, "q": q, "v": v, "a": a, "tau": self.tau}
        at |= {k: self.given[k] for k in names}
        along = {f"{k}_dot": np.zeros(np.shape(x)) for k, x in at.items()} | {"dq_dot": dq, "dv_dot": dv}
        rate = _moved(self.plant).jvp(**at, **along)[1]
        return mass_matrix_product(self.robot(t), q, rate) if self.plant.loops else rate

    def robot(self, t, **numbers) -> Robot:
        """The robot at the time t, with these numbers instead of its own."""
        return self.plant.robot_at(self.given, t, numbers)

    def forces(self, t, q, v):
        """The generalized forces (nv,) that act: those of the controller, of the plant, and of viscous friction."""
        if self.plant.loops or self.plant.base is not None:
            raise ArgumentError(
                "simulate: the variational integrator simulates no closed loops and no moving bases; "
                "integrator='rkmk4' does"
            )
        robot = self.robot(t)
        tau, options = self.plant.loaded(robot, self.given, t, q, v, self.tau)
        tau = tau - robot.damping * v
        if not options:
            return tau
        return tau - inverse_dynamics(robot, q, at_rest(robot), at_rest(robot), gravity=np.zeros(3), **options)


@lru_cache(maxsize=64)
def _moved(plant: Plant) -> Kernel:
    """The kernel of the forces that are left for inertia at q ∘ exp(dq) and v + dv, if the accelerations a go on.

    These are joint forces minus `inverse_dynamics`. With closed loops it is the kernel of the accelerations themselves.
    All inputs are arguments, so that it has derivatives inside other kernels.
    """
    n = plant.robot.nv
    inputs = {k: Input((n,)) for k in ("dq", "dv", "v", "a", "tau")} | {"t": Input(), "q": Input((plant.robot.nq,))}

    def body(given: dict[str, Any]):
        t, q, v = given["t"], integrate(plant.robot, given["q"], given["dq"]), given["v"] + given["dv"]
        held = HeldPlant(plant, given, given["tau"])
        if plant.loops:
            return held(t, q, v)
        tau, options = plant.loaded(held.robot(t), given, t, q, v, given["tau"])
        return tau - inverse_dynamics(held.robot(t), q, v, given["a"], **options)

    return assembled_kernel("moved", inputs | plant.inputs(), body, "Forces of a plant that are left for inertia.")


def _need_shape(shape: tuple[int, ...], robot: Robot, frame: str | None, k: int) -> None:
    """Raise `ArgumentError` if force number k gives another shape than it acts with."""
    wanted = (robot.nv,) if frame is None else (6,)
    if shape != wanted:
        acts = "on the joints" if frame is None else f"at frame '{frame}'"
        raise ArgumentError(f"simulate: force number {k}, {acts}, gives shape {shape}; it must be {wanted}")
