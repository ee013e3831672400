"""What a wrist sensor reads at every kept instant of a simulated run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..control.assembled import Input, assembled_kernel
from ..errors import ArgumentError
from ..randomness import Rng
from ..simulation.plants import Plant
from ..simulation.runs import Run
from ..simulation.setups import with_time_axis
from .noise import noisy
from .sensor_data import need_sensor, readings_of
from .tool_loads import tool_wrench
from .wrist_gauges import WristSensor, gauge_readings, resolved_wrench

__all__ = ["WristReadings", "wrist_readings"]


class WristReadings(NamedTuple):
    """The readings of a wrist sensor at times `t` (N,) [s] of a run.

    `carried` (..., N, 6) is the true wrench [N m, N] that the sensor carries; `gauges` (..., N, n) [V] are its noisy
    readings, and `measured` (..., N, 6) is the wrench that the sensor's matrix makes of them.
    """

    t: np.ndarray
    carried: np.ndarray
    gauges: np.ndarray
    measured: np.ndarray


def wrist_readings(run: Run, frame: str, sensor: WristSensor, *, tool=None, rng: Rng = None) -> WristReadings:
    """What a `WristSensor` at a `frame` reads at every kept instant of a `simulation.Run`.

        >>> from adjoint.sensing.wrist_gauges import cross_bar_sensor
        >>> run = aj.simulate(robot, q=np.zeros(6), duration=0.02, dt=1e-3)
        >>> wrist_readings(run, "tool", cross_bar_sensor()).measured.shape
        (21, 6)

    The sensor carries weight and inertia of all that is beyond it, and the run's outside forces there, such as
    contacts: `tool_wrench` with the run's accelerations, its payloads, and its moving base. `tool` (10,) is as there.
    So `measured` minus `tool_wrench(run.robot, run.q, run.v, run.a, frame)` is what the outside exerts, `run.wrench` of
    the frame if nothing else is beyond the sensor. Readings have the sensor's `noise`, drawn from `rng`.
    """
    if not isinstance(run, Run):
        raise ArgumentError(f"wrist_readings: 'run' must be a simulation.Run, got {type(run).__name__}")
    need_sensor(sensor, WristSensor, "wrist_readings")
    run.robot.frame(frame)  # raises an error that lists the frames
    carried = _carried(run, frame, None if tool is None else readings_of(tool, "tool", "wrist_readings", 10))
    gauges = noisy(gauge_readings(sensor, carried), sensor.noise, rng=rng)
    return WristReadings(run.t, carried, gauges, resolved_wrench(sensor, gauges))


def _carried(run: Run, frame: str, tool: np.ndarray | None) -> np.ndarray:
    """The wrench (..., N, 6) that a sensor carries during a run."""
    plant = run.setup.plan.plant
    if "kinetic" in run.known:
        raise ArgumentError("wrist_readings: this run is from a file, which does not have the forces of the run")
    if plant.loops:
        raise ArgumentError("wrist_readings: the run has closed loops, whose forces inside the robot are not kept")
    inputs = run.setup.inputs()
    numbers = {k: with_time_axis(x, inputs[k].shape) for k, x in run.setup.numbers.items()}
    given = {"q": run.q, "v": run.v, "a": run.a, "t": run.t} | numbers
    given |= {} if tool is None else {"tool": tool}
    kernel = _carried_kernel(plant, frame, tool is not None)
    return kernel(**{p.name: given[p.name] for p in kernel.parameters})


@lru_cache(maxsize=64)
def _carried_kernel(plant: Plant, frame: str, with_tool: bool) -> Kernel:
    """The kernel of the wrench that a sensor at a frame carries at one instant."""
    robot = plant.robot
    inputs = {"q": Input((robot.nq,)), "v": Input((robot.nv,)), "a": Input((robot.nv,)), "t": Input()}
    inputs |= plant.inputs() | ({"tool": Input((10,))} if with_tool else {})

    def body(given: dict[str, Any]):
        t, q, v, a = (given[k] for k in ("t", "q", "v", "a"))
        now = plant.robot_at(given, t)
        _, options = plant.loaded(now, given, t, q, v, np.zeros(robot.nv))
        return tool_wrench(now, q, v, a, frame, tool=given.get("tool"), **options)

    return assembled_kernel("carried", inputs, body, f"What a sensor at frame '{frame}' of '{robot.name}' carries.")
