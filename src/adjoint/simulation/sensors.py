"""`Sensor`: what a law is told of its robot besides q and v, such as the wrench at its tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..compile import Kernel
from ..control.assembled import Input, assembled_kernel, label_of, parted
from ..errors import ArgumentError
from ..lie import se3
from ..model.robot import Robot
from .forces import Named
from .plants import Plant

__all__ = ["Sensor", "felt_wrench", "sensor", "wrench_kernel", "wrench_sensor"]


@dataclass(frozen=True, eq=False, repr=False)
class Sensor(Named):
    """A sensor of a simulated robot, whose reading replaces a number of the law; `sensor` makes one of any function."""


def sensor(function: Callable, /, *, name: str | None = None, **parameters) -> Sensor:
    """Make a sensor for `simulate` of a NumPy function of one instant, `f(robot, p, t, q, v, wrenches)`.

    Its reading takes the place of a number of the law, which `simulate(..., sensors={number: sensor})` names, and has
    the shape of that number. `wrenches` are those of the forces on the robot: pairs of a frame's name and a wrench (6,)
    seen from it.

        >>> def height(robot, p, t, q, v, wrenches):
        ...     return forward_kinematics(robot, q, p.frame)[2, 3]
        >>> altimeter = sensor(height, frame="tool")
    """
    label = label_of(function, name, "sensor")
    return Sensor(label, *parted(function, parameters, label))


def wrench_sensor(frame: str) -> Sensor:
    """A sensor of the wrench (6,) [N m, N] that outside forces exert on the body of a frame, seen from that frame.

    It feels the forces of `simulate` that act at frames of this body; a robot holds it against its own tool, so that
    neither the body's weight nor its inertia is felt.

        >>> sensors = {"wrench": wrench_sensor("tool")}
    """
    if not isinstance(frame, str):
        raise ArgumentError(f"wrench_sensor: frame must be a name; got {type(frame).__name__}")
    return sensor(_felt, frame=frame, name="wrench_sensor")


def _felt(robot: Robot, p, t, q, v, wrenches):
    return felt_wrench(robot, p.frame, wrenches)


def felt_wrench(robot: Robot, frame: str, wrenches) -> np.ndarray:
    """The sum (6,) of the (frame, wrench) pairs that act on the body of `frame`, seen from that frame."""
    spot, total = robot.frame(frame), np.zeros(6)
    for name, F in wrenches:
        where = robot.frame(name)
        if where.body == spot.body:
            total = total + se3.coAd_action(spot.placement, se3.coAd_inv_action(where.placement, F))
    return total


@lru_cache(maxsize=64)
def wrench_kernel(plant: Plant, frame: str) -> Kernel:
    """The kernel of what the forces of a plant exert at one instant on the body of a frame, seen from that frame."""
    robot = plant.robot
    inputs = {"q": Input((robot.nq,)), "v": Input((robot.nv,)), "t": Input()} | plant.inputs()

    def body(given: dict[str, Any]):
        t, q, v = given["t"], given["q"], given["v"]
        now = plant.robot_at(given, t)
        return felt_wrench(now, frame, plant.acting(given, now, t, q, v).wrenches)

    return assembled_kernel("wrench", inputs, body, f"The wrench on robot '{robot.name}' at frame '{frame}'.")
