"""Kernels for robots with many bodies: the same function, traced on a stand-in whose sweeps are loops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np

from ..compile import Kernel
from ..compile.front.parameters import Parameter
from ..compile.front.specialisation import record_class
from ..errors import ArgumentError
from ..lie import se3
from ..model.once import once_a_robot
from ..model.robot import Robot
from .rows import Long, Plan, for_loops, is_long, joint_frames
from .stand_in import (
    BodyParts,
    ColumnParts,
    JointColumns,
    JointParts,
    JointValues,
    PerBody,
    PlacementParts,
    RolledRobot,
    row_shape,
)

__all__ = ["InLoops", "columns_of", "in_loops", "loads_on", "missing_wrenches", "path_to", "rolls"]

K = TypeVar("K", bound=Kernel)
_SIZES = ("nq", "nv")


class InLoops(NamedTuple):
    """The static argument that takes the robot's place in a kernel with loops; it runs the function on the stand-in."""

    plan: Plan
    vectors: tuple[str, ...]  # names of arguments (nq,) or (nv,), which are given in parts
    loads: tuple[str, ...]  # names of arguments that were wrenches on frames and are loads on bodies now

    def runs(self, function: Callable, given: dict[str, Any], statics: dict[str, Any]):
        """The result of the function, in parts; `given` holds the rows of the robot and of the arguments."""
        numbers = {k.removeprefix("robot_"): given[k] for k in given if k.startswith("robot_")}
        robot = RolledRobot(self.plan, numbers)
        arguments = {k: x for k, x in given.items() if not k.startswith(("robot_", "root_"))}
        arguments |= {k: JointValues(given.get(f"root_{k}"), given[k]) for k in self.vectors}
        arguments |= {k: PerBody(given.get(f"root_{k}"), given[k]) for k in self.loads}
        found = function(**arguments, **{**statics, "robot": robot})
        return _in_parts(found)


def _in_parts(found):
    """A result of the stand-in as arrays and sequences, in a class that tells how they are joined."""
    if isinstance(found, tuple) and any(isinstance(x, PerBody) for x in found):
        parts = [part for x in found for part in _in_parts(x)]
        names = [f"{name}_{part}" for name in found._fields for part in ("root", "bodies")]  # type: ignore[attr-defined]
        return record_class("Several", tuple(names))(*parts)
    if not isinstance(found, PerBody):
        return found
    if isinstance(found, JointValues):
        return JointParts(np.zeros(0) if found.root is None else found.root, found.rows)
    shape = row_shape(found.rows)
    if isinstance(found, JointColumns):
        return ColumnParts(np.zeros((shape[0], 0)) if found.root is None else found.root, found.rows)
    parts = BodyParts if len(shape) == 1 else PlacementParts
    return parts(np.zeros(shape) if found.root is None else found.root, found.rows)


@overload
def rolls(kernel: K, /) -> K: ...
@overload
def rolls(*, check: Callable | None = None, frames: bool = False, several: type | None = None) -> Callable[[K], K]: ...
def rolls(
    kernel: Any = None,
    /,
    *,
    check: Callable[[Robot], None] | None = None,
    frames: bool = False,
    several: type | None = None,
) -> Any:
    """A decorator of kernels: for robots with many bodies they run as loops.

    The function must be made of the sweeps of `sweep` alone, and ask the robot only for numbers of the body it is at.
    `check` looks at each robot once, before. `frames` says that the function needs the frames of the bodies,
    `robot.numbers["frames"]`, because its results are in them. `several` is the NamedTuple of vectors of bodies that
    the function returns, if it returns one.
    """
    if kernel is None:
        return functools.partial(rolls, check=check, frames=frames, several=several)

    def make(statics: dict[str, Any], names: tuple[str, ...]) -> Callable | None:
        if not is_long(statics["robot"]):
            return None
        if check is not None:
            check(statics["robot"])
        call, made = in_loops(kernel, statics, names, frames), several
        return call if made is None else lambda given: made(*call(given))

    kernel.instead(make)
    return kernel


def columns_of(product: Kernel, direction: str, robot: Robot, statics: dict, names: tuple[str, ...]) -> Callable:
    """The matrix (..., nv, nv) of a product with `direction` (nv,), for a robot with many bodies: a batch of columns.

    The result is a function of {name: array} of the other inputs, like that of `in_loops`. The n² numbers of a matrix
    take n loops of length n.
    """
    call = in_loops(product, statics, (*names, direction))
    ranks = {p.name: len(p.operand(statics, product.__name__).shape) for p in product.parameters if p.name in names}
    eye = np.eye(robot.nv)

    def matrix(given: dict[str, np.ndarray]) -> np.ndarray:
        wide = {name: np.expand_dims(x, x.ndim - ranks[name]) for name, x in given.items()}
        return np.ascontiguousarray(np.swapaxes(call({**wide, direction: eye}), -1, -2))

    return matrix


class _Call(NamedTuple):
    """A call of a kernel with loops, prepared for a robot and for the inputs that are given."""

    kernel: Any  # a `Kernel`; declared as one, it would be taken for a method of this class
    robot: Robot
    long: Long
    inputs: tuple[tuple[str, str], ...]  # (name, its `_kind`)
    frames: str | tuple[str, ...]
    numbers: tuple[np.ndarray, ...]

    def __call__(self, given: dict[str, np.ndarray]) -> Any:
        """The result of the kernel for {name: array}, with the root's part and the others' joined."""
        values: list[np.ndarray] = []
        for name, what in self.inputs:
            x = given[name]
            if what == "":
                values.append(x)
                continue
            root, bodies = self.long.split(x, what) if what != "loads" else self._loads(x)
            values.append(bodies)
            if self.long.plan.root:
                values.append(root)
        found = self.kernel(*values, *self.numbers)
        if isinstance(found, JointParts):
            return self.long.join(*found)
        if isinstance(found, ColumnParts):
            return self.long.join_columns(*found)
        if isinstance(found, tuple) and len(found) > 2:  # several vectors of bodies, each as a pair
            return tuple(self.long.join_bodies(*pair, rank=1) for pair in zip(found[::2], found[1::2], strict=True))
        rank = {BodyParts: 1, PlacementParts: 2}.get(type(found))
        return found if rank is None else self.long.join_bodies(*found, rank=rank)

    def _loads(self, wrenches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The loads on the root and on the other bodies, of wrenches on frames."""
        return self.long.split_bodies(loads_on(self.robot, wrenches, self.frames))


def in_loops(
    kernel: Kernel, statics: dict[str, Any], names: tuple[str, ...], frames: bool = False, long: Long | None = None
) -> _Call:
    """The function of {name: array} that a kernel is for a robot with many bodies and for the inputs `names`.

    `long` may hold another layout of the robot, such as that of `path_to`.
    """
    robot: Robot = statics["robot"]
    long = long or for_loops(robot)
    assert long is not None
    known = {p.name: p for p in kernel.parameters}
    inputs = tuple((name, _kind(known[name])) for name in names)
    on = statics.get("frames", ())
    if on and not any(what == "loads" for _, what in inputs):
        raise missing_wrenches(on)
    numbers = {"placements": long.placements, "bodies": long.bodies, "root": long.root}
    numbers |= {"resists": long.resists} if long.plan.resists else {}
    numbers |= {"frames": _body_frames(robot, long)} if frames else {}
    others = {k: x for k, x in statics.items() if k not in ("robot", "frames", *names)}
    found = _made(kernel, long.plan, inputs, tuple(numbers), tuple(others.items()), "frames" in statics)
    return _Call(found, robot, long, inputs, on, tuple(numbers.values()))


@functools.lru_cache(256)
def _made(kernel: Kernel, plan: Plan, inputs: tuple, numbers: tuple, others: tuple, on_frames: bool) -> Kernel:
    """The kernel with loops that serves all robots of a plan."""
    parameters = []
    for name, what in inputs:
        own = {p.name: p for p in kernel.parameters}[name]
        if what == "":
            parameters.append(Parameter(name, False, own.shape))
            continue
        row = (6,) if what == "loads" else _row(plan.width_q if what == "nq" else plan.width)
        parameters.append(Parameter(name, False, row, True))
        if plan.root:
            first = 6 if what == "loads" else plan.nq if what == "nq" else plan.nv
            parameters.append(Parameter(f"root_{name}", False, (first,)))
    rows = {"placements": 12, "bodies": plan.row, "resists": 2 * plan.width, "frames": 12}
    for name in numbers:
        size = plan.root_row if name == "root" else rows[name]
        parameters.append(Parameter(f"robot_{name}", False, (size,), name != "root"))
    robot = InLoops(
        plan,
        tuple(name for name, what in inputs if what in _SIZES),
        tuple(name for name, what in inputs if what == "loads"),
    )
    return kernel.with_other_inputs(
        parameters, {"robot": robot, **dict(others), **({"frames": ()} if on_frames else {})}
    )


def _row(width: int) -> tuple[int, ...]:
    """The shape of a row of so many numbers; a single number has no axis."""
    return () if width == 1 else (width,)


def _kind(p: Parameter) -> str:
    """What an input is: "nq" if it is as long as q, "nv" if as v, "loads" if it is wrenches on frames, otherwise ""."""
    if len(p.shape) == 1 and p.shape[0] in _SIZES:
        return str(p.shape[0])
    return "loads" if p.shape[:1] == ("frames",) else ""


def missing_wrenches(frames: str | tuple[str, ...]) -> ArgumentError:
    """The error if frames are named and the wrenches on them are missing."""
    shape = "(6,) on it" if isinstance(frames, str) else "(k, 6) on them, one row for each"
    return ArgumentError(f"frames={frames!r}: give the applied_wrenches {shape}")


def loads_on(robot: Robot, wrenches: np.ndarray, frames: str | tuple[str, ...]) -> np.ndarray:
    """The wrenches (..., n, 6) on bodies, in the frames of their joints, of those (..., k, 6) on frames.

    If `frames` is one name, the wrenches are (..., 6).
    """
    rows = wrenches[..., None, :] if isinstance(frames, str) else wrenches
    names = (frames,) if isinstance(frames, str) else frames
    loads = np.zeros((*rows.shape[:-2], len(robot.body_names), 6))
    at = se3.inverse(_frames(robot))
    for k, spot in enumerate(map(robot.frame, names)):
        if spot.body >= 0:
            loads[..., spot.body, :] += se3.coAd_inv_action(at[spot.body] @ spot.placement, rows[..., k, :])
    return loads


@once_a_robot
def _frames(robot: Robot) -> np.ndarray:
    """The `joint_frames` of a robot, computed once."""
    return joint_frames(robot)


@once_a_robot
def path_to(robot: Robot, body: int) -> tuple[Long, np.ndarray]:
    """The bodies from the base to this one as a chain for loops, and the body's frame in that of its joint."""
    long = for_loops(robot)
    assert long is not None
    first = long.plan.first
    path = np.array(robot.path(body)[first:], int) - first
    rows = path if long.order is None else np.argsort(long.order)[path]
    plan = long.plan._replace(branched=False, slots=0)
    chain = long._replace(
        placements=long.placements[rows],
        bodies=long.bodies[rows, : plan.row],
        resists=long.resists[rows],
        plan=plan,
        order=path,
        spread={size: places[rows] for size, places in long.spread.items()},
    )
    return chain, se3.inverse(_frames(robot)[body])


def _body_frames(robot: Robot, long: Long) -> np.ndarray:
    """The frames of the bodies in those of their joints (n, 12), in the order of visits."""
    found = se3.inverse(_frames(robot))[long.plan.first : -1, :3].reshape(-1, 12)
    return found if long.order is None else found[long.order]
