"""What makers of laws around laws share: their models, their periods, and parts of their states."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

import numpy as np

from ..compile import map_leaves
from ..errors import ArgumentError
from ..model.input_checks import positive
from ..model.needs import need_robot
from ..model.robot import Robot
from .gains import gains
from .laws import Law

__all__ = ["chosen", "joint_numbers", "model_of", "per_period", "state_of", "with_model"]

Kind = TypeVar("Kind")


def state_of(state, kind: type[Kind]) -> Kind:
    """The part of a law's state that is of this type, a NamedTuple such as `Held`; the outermost, if there are several.

    `state` is that of a law, or `Run.state`, whose arrays have the axes of the run.

        >>> law = aj.control.sampled(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 0.004, robot=robot)
        >>> state_of(aj.control.saturated(law, 5.0).state, aj.control.Held).tau
        array([0., 0., 0., 0., 0., 0.])
    """
    known = list(_records(state))
    if not isinstance(kind, type):
        raise ArgumentError(f"state_of: kind must be a class, such as Held; got {kind!r:.60}")
    for part in known:
        if isinstance(part, kind):
            return part  # type: ignore[return-value]
    there = ", ".join(dict.fromkeys(type(part).__name__ for part in known)) or "no NamedTuple at all"
    raise ArgumentError(f"state_of: the state has no {getattr(kind, '__name__', kind)}; it has {there}")


def _records(state):
    """All NamedTuples in a state, the outer ones first."""
    if isinstance(state, tuple | list | dict):
        if hasattr(state, "_fields"):
            yield state
        for part in state.values() if isinstance(state, dict) else state:
            yield from _records(part)


def chosen(condition, these, those):
    """The nested arrays `these` where the condition holds, else `those`."""
    return map_leaves(lambda x, y: np.where(condition, x, y), these, those)


def model_of(law: Law, caller: str) -> Robot | None:
    """The robot that the law computes with, if it has one of its own."""
    if not isinstance(law, Law):
        raise ArgumentError(f"{caller} needs a Law; got {type(law).__name__}")
    return law.model


def with_model(law: Law, robot: Robot | None, caller: str) -> tuple[Law, Robot]:
    """The law with a model, and the model: its own, or else `robot`."""
    own = model_of(law, caller)
    if robot is not None:
        need_robot(robot, caller)
    if own is not None:
        if robot is not None and (own.nq, own.nv) != (robot.nq, robot.nv):
            raise ArgumentError(
                f"{caller}: the law '{law.name}' has the model '{own.name}' with nv = {own.nv}; "
                f"robot '{robot.name}' has nv = {robot.nv}"
            )
        return law, own
    if robot is None:
        raise ArgumentError(f"{caller}: the law '{law.name}' has no model of its own; give robot=")
    return dataclasses.replace(law, model=robot), robot


def per_period(law: Law, period, caller: str) -> dict[str, float]:
    """The number `period` as a law around this law needs it: {} if the law has one already."""
    if "period" not in law.numbers:
        if period is None:
            raise ArgumentError(f"{caller}: the law '{law.name}' has no period of its own; give period= [s]")
        return {"period": positive(period, f"{caller}: period")}
    own = law.numbers["period"]
    if period is not None and np.any(own != positive(period, f"{caller}: period")):
        raise ArgumentError(
            f"{caller}: period is {period:g} s, but the law '{law.name}' has the period {own.tolist()} s already"
        )
    return {}


def joint_numbers(value, label: str, robot: Robot | None, **kind: bool) -> np.ndarray:
    """`gains` for the joints of a robot, if it is known."""
    return gains(value, None if robot is None else robot.nv, label, **kind)
