"""Loads: wrenches, disturbances of joints, and payloads, from one time to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..control.assembled import Parts
from ..control.gains import at_least_zero, fit_joints
from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..lie import inertia as inertias
from ..model.input_checks import floats, one_of
from .forces import Change, Force, change, force
from .number_checks import interval, of_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Load", "applied", "joint_disturbance", "loads_of", "payload"]


def _acts(p, t):
    """1 from `start` to before `end`, else 0."""
    return np.where((t >= p.start) & (t < p.end), 1.0, 0.0)


def _applied(robot, p, t, q, v):
    F = p.wrench * _acts(p, t)
    if p.axes == "body":
        return F
    R = forward_kinematics(robot, q, p.at)[:3, :3]
    return np.concatenate([R.T @ F[:3], R.T @ F[3:]])


def applied(frame: str, wrench, *, axes: str = "body", start: ArrayLike = 0.0, end=None) -> Force:
    """A constant wrench (6,) on the robot, moment [N m] before force [N], from `start` to before `end` [s].

    It acts at the origin of the frame. Its `axes` are those of the frame ("body"), or those of the base ("world").

        >>> push = applied("tool", [0, 0, 0, 20.0, 0, 0], axes="world", start=0.2, end=0.4)

    Parameters for `replace` are `wrench`, `start` and `end`. Forces that jump inside a step of an integrator cost it
    its order there: let them jump at steps, and use "semi_implicit", which looks at the start of its step alone.
    """
    if not isinstance(frame, str):
        raise ArgumentError(f"applied: frame must be the name of a frame; got {type(frame).__name__}")
    one_of(axes, ("body", "world"), "applied: axes")
    wrench = of_shape(wrench, (6,), "wrench", "applied")
    times = interval(start, end, "applied")
    return force(_applied, frame=frame, name="applied", at=frame, axes=axes, wrench=wrench, **times)


def _step(p, t):
    return 1.0


def _sine(p, t):
    return np.sin(2 * np.pi * p.frequency * (t - p.start))


def _pulse(p, t):
    return np.sin(np.pi * np.clip((t - p.start) / (p.end - p.start), 0.0, 1.0)) ** 2


_SHAPES = {"step": _step, "sine": _sine, "pulse": _pulse}


def _disturbance(robot, p, t, q, v):
    fit_joints(robot, p, "joint_disturbance", "size")
    return p.size * np.ones(robot.nv) * (p.shape(p, t) * _acts(p, t))


def joint_disturbance(
    size, shape: str = "step", *, frequency: ArrayLike = 1.0, start: ArrayLike = 0.0, end=None
) -> Force:
    """Forces on the joints that no controller knows, from `start` to before `end` [s]; `size` is a number or (nv,).

    - "step": `size` [N m, N].
    - "sine": size · sin(2π frequency (t - start)), with `frequency` in Hz.
    - "pulse": size · sin²(π (t - start)/(end - start)), one smooth bump, which needs an `end`.

        >>> bump = joint_disturbance(5.0, "pulse", start=0.1, end=0.2)

    Parameters for `replace` are `size`, `frequency`, `start` and `end`.
    """
    one_of(shape, _SHAPES, "joint_disturbance: shape")
    if shape == "pulse" and (end is None or not np.all(floats(end) > floats(start))):
        raise ArgumentError(f"joint_disturbance: a pulse needs an end after its start; got start={start}, end={end}")
    frequency = at_least_zero(
        of_shape(frequency, (), "frequency", "joint_disturbance"), "frequency", "joint_disturbance"
    )
    times = interval(start, end, "joint_disturbance")
    return force(
        _disturbance,
        frame=None,
        name="joint_disturbance",
        shape=_SHAPES[shape],
        size=size,
        frequency=frequency,
        **times,
    )


def _payload(robot, p, t):
    spot = robot.frame(p.frame)
    if spot.body < 0:
        raise ArgumentError(
            f"payload: frame '{p.frame}' is fixed to the base of robot '{robot.name}', which is at rest"
        )
    load = inertias.transform(spot.placement, inertias.from_central(p.mass, p.com, p.inertia)) * _acts(p, t)
    rows = [robot.inertias[i] + load if i == spot.body else robot.inertias[i] for i in range(len(robot.body_names))]
    return {"inertias": np.stack(rows)}


def payload(
    frame: str, mass, *, com: ArrayLike = (0.0, 0.0, 0.0), inertia=None, start: ArrayLike = 0.0, end=None
) -> Change:
    """A load at a frame, a `Change` for `simulate`: it is part of the robot from `start` to before `end` [s].

    `mass` is in kg; `com` (3,) [m], the center of mass, is seen from the frame, and so is `inertia` (3, 3) [kg m²]
    about it, which is 0 for a point.

        >>> held = payload("tool", 2.0, com=(0, 0, 0.05), start=0.5, end=1.5)
        >>> run = aj.simulation.simulate(robot, q=q, v=v, duration=0.1, dt=1e-3, changes=held)

    Velocities are continuous: the load has the velocity of the frame when it is picked, and flies on with it when it is
    let go, so no impulse acts. A load that rested before would slow the robot down with a jerk, which is not part of
    this. Parameters for `replace` are `mass`, `com`, `inertia`, `start` and `end`.
    """
    if not isinstance(frame, str):
        raise ArgumentError(f"payload: frame must be the name of a frame; got {type(frame).__name__}")
    mass = at_least_zero(of_shape(mass, (), "mass", "payload"), "mass", "payload")
    tensor = of_shape(np.zeros((3, 3)) if inertia is None else inertia, (3, 3), "inertia", "payload")
    if not np.allclose(tensor, tensor.T) or np.linalg.eigvalsh(tensor).min() < -1e-12 * np.abs(tensor).max():
        raise ArgumentError(f"payload: 'inertia' is {tensor.tolist()}; it must be symmetric and not negative")
    com, times = of_shape(com, (3,), "com", "payload"), interval(start, end, "payload")
    return change(_payload, name="payload", frame=frame, mass=mass, com=com, inertia=tensor, **times)


class Load(NamedTuple):
    """A payload of a run: its frame, and its numbers, which may be batches."""

    frame: str
    start: np.ndarray
    end: np.ndarray
    mass: np.ndarray
    com: np.ndarray


def loads_of(changes: Sequence[Parts], numbers: Mapping[str, np.ndarray]) -> list[Load]:
    """The payloads among the changes of a plant, for those who draw them; `numbers` are those of the run."""
    return [
        Load(dict(one.options)["frame"], *(numbers[f"change{k}_{name}"] for name in Load._fields[1:]))
        for k, one in enumerate(changes)
        if one.function is _payload
    ]
