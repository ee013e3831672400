"""What a law is told to do: a constant, a trajectory, or a function of time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, kernel
from ..compile.front.arguments import as_input
from ..compile.graph.nested import leaves, map_leaves
from ..compile.graph.tracing import is_traced
from ..errors import ArgumentError
from ..lie import se3
from ..model.configuration import difference
from ..model.robot import Robot
from ..trajectory.piecewise import Trajectory
from ..trajectory.poses.pose_trajectory import PoseTrajectory
from .assembled import Parts
from .repeatability import need_repeatable

__all__ = [
    "PoseTarget",
    "Rows",
    "Target",
    "as_targets",
    "check_reference",
    "evaluated",
    "form",
    "is_function",
    "is_sampled",
    "need_arguments",
    "need_fitting",
    "reference_at",
]


class Target(NamedTuple):
    """Where joints should be: the configuration q (nq,), its velocity v and its acceleration a (nv,)."""

    q: Any
    v: Any
    a: Any


class PoseTarget(NamedTuple):
    """Where a frame should be: its pose T (4, 4), its body twist (6,), and the rate `acceleration` (6,) of that."""

    T: Any
    twist: Any
    acceleration: Any


_ROUNDING = 1e-6  # [periods] a time this little before a row begins is in that row: k * period is rounded


@dataclass(frozen=True, eq=False)
class Rows:
    """A reference of any structure that changes every `period` seconds: its leaves are (..., N, *shape of one row).

    Row k holds from k * period on; the first one also before the start, and the last one ever after. `form` is one row,
    of which the structure and the shapes count. A law with such a reference has `follows=None`.
    """

    rows: Any
    form: Any
    period: float

    def at(self, t) -> Any:
        """The rows at times t (...), as leaves (..., *shape of t, *shape of one row)."""
        shapes = iter([np.shape(x) for x in leaves(self.form)])
        numbers = np.floor(np.asarray(t, float) / self.period + _ROUNDING)

        def taken(x):
            axis = np.ndim(x) - len(next(shapes)) - 1
            return np.take(x, np.clip(numbers, 0, np.shape(x)[axis] - 1).astype(int), axis)

        return map_leaves(taken, self.rows)


def is_sampled(reference) -> bool:
    """Whether the reference is a table or a trajectory: it is sampled in advance, at the instants of the law."""
    return isinstance(reference, Trajectory | PoseTrajectory | Rows)


def is_function(reference) -> bool:
    """Whether the reference is a function of time, which is traced with the law."""
    return callable(reference) and not is_sampled(reference)


def form(robot: Robot, follows: type | None, reference):
    """One sample of a reference, of which only the structure and the shapes count.

    `follows` is `Target`, `PoseTarget`, or None for a law that takes a reference of another structure, or none.
    """
    if follows is Target:
        return Target(np.empty(robot.nq), np.empty(robot.nv), np.empty(robot.nv))
    if follows is PoseTarget:
        return PoseTarget(np.empty((4, 4)), np.empty(6), np.empty(6))
    if is_function(reference):
        return evaluated(robot, reference, 0.0)
    return map_leaves(np.asarray, reference.form if isinstance(reference, Rows) else reference)


def as_targets(robot: Robot, follows: type | None, reference, t):
    """A reference at times t (N,) in its full structure, with arrays (..., N, ...), or (...) if it is constant.

    A trajectory rests at its ends before and after. An array is a target at rest.
    """
    if isinstance(reference, Rows):
        return reference.at(t)
    if is_sampled(reference):
        found = (Target if isinstance(reference, Trajectory) else PoseTarget)(*reference(t, hold=True)[:3])
        return _shaped(robot, follows, found)
    if reference is None or follows is None:
        return map_leaves(lambda x: np.asarray(as_input(x, "reference", "law"), float), reference)
    if isinstance(reference, follows):
        return _shaped(robot, follows, reference)
    return _shaped(robot, follows, follows(reference, 0.0, 0.0))


def need_fitting(robot: Robot, name: str, follows: type | None, reference) -> None:
    """Raise `ArgumentError` if a reference that is no function has not the shapes of the robot."""
    if follows is None or reference is None or is_function(reference):
        return
    if isinstance(reference, Trajectory) and reference.nv != robot.nv:
        raise ArgumentError(
            f"{name}: the reference is a Trajectory with nv = {reference.nv}; robot '{robot.name}' has nv = {robot.nv}"
        )
    if not any(map(is_traced, leaves(reference))):
        as_targets(robot, follows, reference, np.zeros(1))


def _shaped(robot: Robot, follows: type | None, target):
    """A `Target` or a `PoseTarget` as arrays of the right shapes; one number stands for all coordinates."""
    if follows is None:
        return target
    found = []
    for name, x, like in zip(target._fields, target, form(robot, follows, None), strict=True):
        x = np.asarray(as_input(x, f"reference.{name}", "law"), float)
        x = np.full(like.shape, x) if x.ndim == 0 and like.ndim == 1 else x
        if x.shape[max(x.ndim - like.ndim, 0) :] != like.shape:
            wanted = ", ".join(map(str, ("...", *like.shape)))
            raise ArgumentError(
                f"law: reference.{name} has shape {x.shape}; robot '{robot.name}' needs ({wanted}) in a "
                f"{follows.__name__}({', '.join(target._fields)})"
            )
        found.append(x)
    return follows(*found)


@dataclass(frozen=True)
class _FunctionOfTime:
    """A function of time that does not give a configuration, but what `follows` says."""

    function: Callable
    follows: type | None

    def __call__(self, t):
        return self.function(t)


def evaluated(robot: Robot, function: Callable, t):
    """The reference that a function of time gives; if it gives only q, or a pose, with rates by differentiation."""
    if is_traced(t):
        _need_repeatable(function)
    found = function(t)
    follows = function.follows if isinstance(function, _FunctionOfTime) else Target
    if follows is None:
        return found
    if isinstance(found, follows):
        wanted = [x.shape for x in form(robot, follows, None)]
        if [np.shape(x) for x in found] != wanted:
            raise ArgumentError(
                f"law: the reference function gives a {follows.__name__} of shapes {[np.shape(x) for x in found]}; "
                f"robot '{robot.name}' needs {wanted}"
            )
        return found
    shape = (4, 4) if follows is PoseTarget else (robot.nq,)
    if np.shape(found) != shape:
        raise ArgumentError(
            f"law: the reference function gives shape {np.shape(found)}; robot '{robot.name}' needs {shape}"
        )
    return _with_rates(Parts(function), follows, robot)(t)


def _need_repeatable(function: Callable) -> None:
    """Raise `TraceError` if a function of time gives different results for the same time."""
    need_repeatable("the reference", function, function, (0.25,), (0.375,))


@lru_cache(maxsize=64)
def _with_rates(path: Parts, follows: Callable, robot: Robot) -> Kernel:
    """The kernel of t that gives a `Target` or a `PoseTarget`, of a function that gives q or a pose."""
    _need_repeatable(path.function)
    shape = (4, 4) if follows is PoseTarget else (robot.nq,)
    moved = kernel(lambda t: path.function(t) + np.zeros(shape))
    if follows is PoseTarget:
        rate = kernel(lambda t: se3.body_velocity(*moved.jvp(t, 1.0)))
    else:  # on the manifold of configurations: v(t) is d/ds of the way from q(t) to q(s), at s = t
        way = kernel(lambda s, t: difference(robot, moved(t), moved(s)))
        rate = kernel(lambda t: way.jvp(t, t, 1.0, 0.0)[1])
    return kernel(lambda t: follows(moved(t), rate(t), rate.jvp(t, 1.0)[1]))


def _asked(robot: Robot, function: Any, t: float):
    """What a user's function of time gives; its errors name it."""
    try:
        return evaluated(robot, function, t)
    except (TypeError, AttributeError) as error:
        raise ArgumentError(f"law: the reference is no function of t that gives numbers: {error}") from error


def reference_at(robot: Robot, follows: type | None, reference: Any, t):
    """The reference at the time t, or at times t (...,)."""
    if reference is None and follows is not None:
        raise ArgumentError(f"law: there is no reference to follow; it is a {follows.__name__}, or what stands for one")
    if not is_function(reference):
        return as_targets(robot, follows, reference, t)
    times = np.asarray(as_input(t, "t", "law"), float)
    every = [map_leaves(np.asarray, _asked(robot, reference, x)) for x in times.ravel().tolist() or [0.0]]
    return map_leaves(lambda *x: np.stack(x)[: times.size].reshape(*times.shape, *x[0].shape), *every)


def check_reference(name: str, follows: type | None, reference):
    """The reference of a law, with arrays for lists; raises `ArgumentError` if the law follows another kind."""
    if follows not in (Target, PoseTarget, None):
        raise ArgumentError(f"{name}: follows is {follows!r}; it must be Target, PoseTarget or None")
    wanted = {Target: Trajectory, PoseTarget: PoseTrajectory}.get(follows)
    if is_sampled(reference) and wanted is not None and not isinstance(reference, wanted):
        raise ArgumentError(f"{name} follows a {wanted.__name__}; got a {type(reference).__name__}")
    if not is_function(reference):
        return _as_arrays(name, follows, reference)
    need_arguments(reference, 1, f"{name}: the reference must be a function of t alone")
    return (
        reference
        if follows is Target or isinstance(reference, _FunctionOfTime)
        else _FunctionOfTime(reference, follows)
    )


def _as_arrays(name: str, follows: type | None, reference):
    """The reference with arrays for lists and tuples of numbers; other values stay as they are."""
    if follows is None or not isinstance(reference, list | tuple):
        return reference
    if isinstance(reference, follows):
        return follows(*(_array(x, f"reference.{k}", name) for k, x in zip(follows._fields, reference, strict=True)))
    if isinstance(reference, Target | PoseTarget):
        raise ArgumentError(f"{name} follows a {follows.__name__}; got a {type(reference).__name__}")
    return _array(reference, "reference", name)


def _array(x, label: str, name: str):
    if not isinstance(x, list | tuple):
        return x
    return np.stack([*x]) if any(map(is_traced, x)) else np.asarray(as_input(x, label, name), float)


def need_arguments(function: Callable, count: int, message: str) -> None:
    """Raise `ArgumentError` with this message if a function does not take so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise ArgumentError(f"{message}; {error}") from None
    except ValueError:  # a function that is no Python has no signature
        return
