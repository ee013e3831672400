"""Moving bases: the base of a robot is moved by something else, such as a cart, a ship or an elevator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..control.assembled import Input, assembled_kernel
from ..errors import ArgumentError
from ..lie import se3
from .forces import Change, change

__all__ = ["moving_base"]


def _moving(robot, p, t):
    given = {"t": t} | {name: x for name, x in vars(p).items() if name != "pose"}

    def pose(values: dict[str, Any]):
        found = p.pose(values.pop("t"), **values)
        if np.shape(found) != (4, 4):
            raise ArgumentError(
                f"moving_base: the function gives an array of shape {np.shape(found)}; a pose is (4, 4)"
            )
        return found

    moved = assembled_kernel("pose", {k: Input(np.shape(x)) for k, x in given.items()}, pose, "The pose of a base.")
    # Along t alone: the tangents are 1 for t, which comes first, and 0 for the parameters.
    along = [np.ones(()), *(np.zeros(np.shape(x)) for x in list(given.values())[1:])]
    still = [np.zeros(np.shape(x)) for x in along]
    T, dT, _, ddT = moved.jvp.jvp(*given.values(), *along, *along, *still)
    back = se3.inverse(T)
    V = back @ dT
    # T⁻¹ Ṫ = [V], so T⁻¹ T̈ = [V̇] + [V]²
    rate = back @ ddT - V @ V
    return T[:3, :3].T @ robot.gravity, se3.vee(V), se3.vee(rate)


def moving_base(pose: Callable, /, **parameters) -> Change:
    """The base moves as `pose` says, a function of the time t [s] that gives T (4, 4): `simulate(..., base=...)`.

    The function is NumPy for one instant; its keyword arguments besides t are `parameters`, numbers that `replace` can
    change. The twist T⁻¹ Ṫ of the base and its rate are exact derivatives of T. The robot's gravity is seen from the
    frame in which the base moves; q and v are relative to the base, and so are the placements and twists of frames.

        >>> def shaken(t, size):
        ...     return se3.from_rotation_translation(np.eye(3), np.stack([size * np.sin(9 * t), 0 * t, 0 * t]))
        >>> cart = moving_base(shaken, size=0.05)
        >>> run = aj.simulation.simulate(robot, q=q, duration=0.1, dt=1e-3, base=cart)
    """
    if not callable(pose):
        raise ArgumentError(f"moving_base needs a function of t that gives a pose (4, 4); got {type(pose).__name__}")
    if "t" in parameters:
        raise ArgumentError("moving_base: 't' is the time; give the parameter another name")
    return change(_moving, name="moving_base", pose=pose, **parameters)
