"""The plant: a robot with all that acts on it, and the accelerations that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..control.assembled import Input, Parts
from ..dynamics.closed_loops import Loop, constrained_forward_dynamics
from ..dynamics.forward import forward_dynamics
from ..errors import ArgumentError
from ..model.robot import Robot

__all__ = ["Acting", "ActingForce", "Plant"]


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

    def robot_at(self, given: Mapping[str, Any], t) -> Robot:
        """The robot at the time t: a stand-in, if its numbers are inputs or change with time."""
        numbers = {name: given[f"lift_{name}"] for name in self.lift}
        for k, change in enumerate(self.changes):
            robot = self.robot.lifted(numbers) if numbers else self.robot
            numbers |= change.function(robot, change.namespace(given, f"change{k}_"), t)
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
            more, wrenches = self.acting(given, robot, t, q, v)
            options: dict[str, Any] = {}
            if wrenches:
                frames, F = zip(*wrenches, strict=True)
                options = {"applied_wrenches": np.stack(F), "frames": frames}
            if self.base is not None:
                moving = self.base.function(robot, self.base.namespace(given, "base_"), t)
                options |= dict(zip(("gravity", "base_twist", "base_acceleration"), moving, strict=True))
            tau = sum(more, start=tau)
            if self.loops:
                return constrained_forward_dynamics(robot, self.loops, q, v, tau, **options).a
            return forward_dynamics(robot, q, v, tau, **options)

        return acceleration


def _need_shape(shape: tuple[int, ...], robot: Robot, frame: str | None, k: int) -> None:
    """Raise `ArgumentError` if force number k gives another shape than it acts with."""
    wanted = (robot.nv,) if frame is None else (6,)
    if shape != wanted:
        acts = "on the joints" if frame is None else f"at frame '{frame}'"
        raise ArgumentError(f"simulate: force number {k}, {acts}, gives shape {shape}; it must be {wanted}")
