"""The plant: a robot with all that acts on it, and the accelerations that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..control.assembled import Input, Parts
from ..dynamics.closed_loops import Loop, constrained_forward_dynamics
from ..dynamics.forward import forward_dynamics
from ..model.robot import Robot

__all__ = ["ActingForce", "Plant"]


class ActingForce(NamedTuple):
    """A force of the plant: its function and parameters, and the frame at which it acts (None: on the joints)."""

    parts: Parts
    frame: str | None

    def value(self, robot: Robot, given: Mapping[str, Any], prefix: str, t, q, v):
        """The joint forces (nv,), or the wrench (6,) seen from the frame."""
        return self.parts.function(robot, self.parts.namespace(given, prefix), t, q, v)


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

    def accelerations(self, given: Mapping[str, Any]) -> Callable:
        """The function (t, q, v, τ) -> a of this plant; `given` has the values of its inputs."""

        def acceleration(t, q, v, tau):
            robot = self.robot_at(t, given)
            frames, wrenches = [], []
            for k, acting in enumerate(self.forces):
                found = acting.value(robot, given, f"force{k}_", t, q, v)
                if acting.frame is None:
                    tau = tau + found
                else:
                    frames.append(acting.frame)
                    wrenches.append(found)
            options = {} if not frames else {"applied_wrenches": np.stack(wrenches), "frames": tuple(frames)}
            if self.base is not None:
                moving = self.base.function(robot, self.base.namespace(given, "base_"), t)
                options |= dict(zip(("gravity", "base_twist", "base_acceleration"), moving, strict=True))
            if self.loops:
                return constrained_forward_dynamics(robot, self.loops, q, v, tau, **options).a
            return forward_dynamics(robot, q, v, tau, **options)

        return acceleration

    def robot_at(self, t, given: Mapping[str, Any]) -> Robot:
        """The robot at the time t: its numbers are inputs, or change with time."""
        numbers = {name: given[f"lift_{name}"] for name in self.lift}
        for k, change in enumerate(self.changes):
            robot = self.robot.lifted(numbers) if numbers else self.robot
            numbers |= change.function(robot, change.namespace(given, f"change{k}_"), t)
        return self.robot.lifted(numbers) if numbers else self.robot
