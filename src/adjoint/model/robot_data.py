"""`RobotData`: what a robot is, as frozen arrays.

Algorithms loop in Python over the structure (parents, types), and compiled code contains the numbers as constants.
Bodies are in tree order, parents before children. Body i sits at M_i J_i(q_i) in its parent; the base has the number
-1. Every body and the base are frames of their own name; `frames` lists the further ones, such as tools, sites, and
links behind fixed joints.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ArgumentError, nearest
from ..lazy import cached_property
from . import robot_checks
from .layout import BodyList, Layout, layout_of
from .parts import GRAVITY, Body, Finding, Frame, Joint, JointSpec, Link, Mimic, Visual

__all__ = ["RobotData"]

_EACH = ("lower", "upper", "damping", "friction", "armature", "velocity_limit", "effort_limit")


@dataclass(frozen=True, eq=False, repr=False)
class RobotData:
    """The fields of a `Robot`, checked and frozen, with what follows from them: sizes, places, names and identity."""

    name: str
    body_names: tuple[str, ...]
    body_joint_names: tuple[str, ...]
    joint_types: tuple[str, ...]
    parents: np.ndarray  # (n,)
    placements: np.ndarray  # (n, 4, 4), the M_i
    screws: np.ndarray  # (d, 6), the S_i of all bodies, one screw per row
    inertias: np.ndarray  # (n, 10) in body frames
    mimics: Mapping[int, Mimic]  # {number of a body whose joint follows another: which one it follows, and how}
    lower: np.ndarray  # (nq,) [rad or m], -inf and inf if unlimited
    upper: np.ndarray
    velocity_limit: np.ndarray  # (nv,) [rad/s or m/s]
    effort_limit: np.ndarray  # (nv,) [N m or N]
    damping: np.ndarray  # (nv,) [N m s/rad or N s/m]
    friction: np.ndarray  # (nv,) [N m or N], dry friction
    armature: np.ndarray  # (nv,) [kg m² or kg], rotor inertia seen at the joint
    frames: tuple[Frame, ...] = ()
    gravity: np.ndarray = GRAVITY  # type: ignore[assignment]
    base_name: str = "base"
    base_inertia: np.ndarray = (0.0,) * 10  # type: ignore[assignment]
    visuals: tuple[Visual, ...] = ()
    links: tuple[Link, ...] = ()
    findings: tuple[Finding, ...] = ()
    specs: tuple[JointSpec, ...] = ()  # the joints as the model states them; only `check` reads them

    # A `LiftedRobot` overrides these two: it stands for a robot while a kernel runs with numbers of it as inputs.
    varying: ClassVar[frozenset[str]] = frozenset()  # fields that hold inputs: Python must not branch on their numbers
    stands_for: ClassVar[tuple[Any, dict[str, Any]] | None] = None  # (the robot, {name: input})

    # (old name, new name, hint) of arguments of functions of robots; errors show the hint to users of the old name.
    renamed_arguments: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (
            "wrenches",
            "applied_wrenches",
            "it is applied_wrenches, what acts on the robot; `wrenches` were what it exerts: their sign changes",
        ),
        ("wrenches", "tip_wrenches", "it is tip_wrenches here, what the frames exert: the sign stays"),
        ("wrench", "exerted_wrench", "it is exerted_wrench now, what the frame exerts: the sign stays"),
    )

    def __post_init__(self):
        put = functools.partial(object.__setattr__, self)
        # Only plain tuples and numbers are kept, so that the fingerprints of equal robots are equal.
        for field in ("body_names", "body_joint_names", "joint_types", "frames"):
            put(field, _tuple(self, field))
        put("frames", tuple([_frame(self, frame) for frame in self.frames]))
        robot_checks.check_names(self)
        put("mimics", MappingProxyType(_plain_mimics(self)))
        robot_checks.check_mimics(self)
        n, d, nq, nv = len(self.body_names), self.n_dofs, self.nq, self.nv
        sizes = {"n": n, "d": d, "q": nq, "v": nv, "3": 3, "4": 4, "6": 6, "T": 10}
        for field, dims in robot_checks.ARRAYS.items():
            array = _frozen(self, field, getattr(self, field), int if field == "parents" else float)
            shape = tuple([sizes[d] for d in dims])
            if array.shape != shape:
                raise ArgumentError(f"robot '{self.name}': {field} has shape {array.shape}, it needs {shape}")
            put(field, array)
        robot_checks.check_numbers(self)
        robot_checks.check_screws(self)
        placements, spots = robot_checks.rigid_placements(self)
        if placements is not self.placements:
            put("placements", _frozen(self, "placements", placements))
            put(
                "frames",
                tuple([_frame(self, f._replace(placement=T)) for f, T in zip(self.frames, spots, strict=True)]),
            )

    def replace(self, **changes) -> Self:
        """Return a copy with some fields changed, such as `robot.replace(gravity=(0, 0, 0))`; it shares the others.

        Limits, damping, friction and armature may be one number for all coordinates: `robot.replace(damping=0.1)`.
        """
        names = [f.name for f in dataclasses.fields(self)]
        for name in changes:
            if name not in names:
                raise ArgumentError(f"Robot.replace: no field {name!r}; {nearest(name, names)}")
        alike = {k: x for k, x in changes.items() if k in _EACH and _is_one_number(x)}
        changes |= {k: np.full(len(getattr(self, k)), x) for k, x in alike.items()}
        if {"inertias", "placements", "parents"} & changes.keys():
            changes = {"links": (), "specs": (), "findings": ()} | changes  # these described the old numbers
        return dataclasses.replace(self, **changes)

    # --- identity -----------------------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that algorithms may depend on; it is the same in every process."""
        return self.fingerprint_without(())

    def fingerprint_without(self, names: tuple[str, ...]) -> str:
        """Return a hash of all that algorithms depend on if the fields of these names are inputs of them."""
        h = hashlib.blake2b(digest_size=20)
        text = (self.name, self.base_name, self.body_names, self.body_joint_names, self.joint_types)
        frames = [(f.name, f.body, np.asarray(f.placement).tolist()) for f in self.frames]
        h.update(repr((text, sorted(self.mimics.items()), frames)).encode())
        for field in robot_checks.ARRAYS:
            if field not in names:
                h.update(getattr(self, field).tobytes())
        return h.hexdigest()

    def __eq__(self, other) -> bool:
        return isinstance(other, RobotData) and (self is other or self.fingerprint == other.fingerprint)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    # --- sizes and places ---------------------------------------------------------------------------------------------

    @cached_property
    def results(self) -> dict[Callable, dict[tuple, Any]]:
        """The results of functions that `once_a_robot` decorates: {function: {further arguments: result}}."""
        return {}

    @cached_property
    def layout(self) -> Layout:
        """The places of each body's joint in q, in v and in `screws`."""
        return layout_of(self.joint_types, self.mimics)

    @property
    def nq(self) -> int:
        """Length of a configuration q."""
        return self.layout.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom: length of v, a and tau."""
        return self.layout.nv

    @property
    def n_dofs(self) -> int:
        """Degrees of freedom of all joints, including those that mimic others: the number of rows of `screws`."""
        return self.layout.dof_start[-1]

    @property
    def bodies(self) -> Sequence[Body]:
        """The bodies, in tree order."""
        return BodyList(self)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the movable joints, mimics excluded, in the order of q and v."""
        return tuple(n for i, n in enumerate(self.body_joint_names) if i not in self.mimics)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: the base, the bodies, then the further frames."""
        return (self.base_name, *self.body_names, *(f.name for f in self.frames))

    @cached_property
    def _frame_index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.frame_names)}

    def frame(self, name: str) -> Frame:
        """Return the frame of this name: the body it is fixed to, and its placement there."""
        k = self._frame_index.get(name) if isinstance(name, str) else None
        if k is None:
            raise ArgumentError(f"robot '{self.name}' has no frame {name!r}; {nearest(name, self.frame_names)}")
        n = len(self.body_names)
        return Frame(name, k - 1, np.eye(4)) if k <= n else self.frames[k - 1 - n]

    def body(self, name: str) -> Body:
        """Return the body of this name: its parent, its home placement there, its joint and its inertia."""
        return self.bodies[self._place(name, self.body_names, "body")]

    def joint(self, name: str) -> Joint:
        """Return the joint of this name, which may mimic another."""
        return self.bodies[self._place(name, self.body_joint_names, "joint")].joint

    def _place(self, name: str, names: tuple[str, ...], what: str) -> int:
        if not isinstance(name, str) or name not in names:
            raise ArgumentError(f"robot '{self.name}' has no {what} {name!r}; {nearest(name, names)}")
        return names.index(name)

    def screw(self, body: int) -> np.ndarray:
        """Return S_iᵀ (k, 6): the screws of the joint of body number `body`, one per row, in the body's frame."""
        start = self.layout.dof_start
        return self.screws[start[body] : start[body + 1]]

    def path(self, body: int) -> list[int]:
        """Return the numbers of the bodies from the base to `body`, which is the last; empty for the base, -1."""
        found = []
        while body >= 0:
            found.append(body)
            body = int(self.parents[body])
        return found[::-1]

    @cached_property
    def mass(self) -> float:
        """Total mass [kg] of the moving bodies; the mass of the base is `base_inertia[0]`."""
        return float(self.inertias[:, 0].sum())

    # --- display ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        n = len(self.body_names)
        return f"<Robot '{self.name}': {n} {'body' if n == 1 else 'bodies'}, nq {self.nq}, nv {self.nv}>"


def _is_one_number(x) -> bool:
    return isinstance(x, (int, float, np.number)) or (isinstance(x, np.ndarray) and x.ndim == 0)


def _tuple(robot: RobotData, field: str) -> tuple:
    value = getattr(robot, field)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ArgumentError(f"robot '{robot.name}': {field} is {value!r}; it must be a tuple")
    return tuple(value)


def _frame(robot: RobotData, value) -> Frame:
    try:
        name, body, placement = value
        body = operator.index(body)
    except (TypeError, ValueError):
        what = "it must be a Frame(name, number of the body, placement)"
        raise ArgumentError(f"robot '{robot.name}': frames has {value!r}; {what}") from None
    placement = _frozen(robot, f"the placement of frame {name!r}", placement)
    if placement.shape != (4, 4):
        raise ArgumentError(
            f"robot '{robot.name}': the placement of frame {name!r} has shape {placement.shape}, it needs (4, 4)"
        )
    return Frame(name, body, placement)


def _plain_mimics(robot: RobotData) -> dict[int, Mimic]:
    try:
        given = [(i, Mimic(*mimic)) for i, mimic in robot.mimics.items()]
        return {operator.index(i): Mimic(operator.index(m.source), float(m[1]), float(m[2])) for i, m in given}
    except (AttributeError, TypeError, ValueError):
        what = "it must be {number of a body: Mimic(number of the leading body, multiplier, offset)}"
        raise ArgumentError(f"robot '{robot.name}': mimics is {robot.mimics!r}; {what}") from None


def _frozen(robot: RobotData, what: str, value, dtype=float) -> np.ndarray:
    """Return a copy of `value` that nobody can change, or `value` itself if it is such an array already.

    The numbers are in a `bytes` object, so NumPy refuses `flags.writeable = True` for the array and its views. If they
    could be changed, the robot's hash, and code compiled for its numbers, would become wrong without notice.
    """
    if type(value) is np.ndarray and value.dtype == dtype:
        if type(value.base) is bytes and value.flags.c_contiguous:
            return value
        array = value
    else:
        try:
            array = np.array(unmasked(value))
            array = array.astype(dtype, casting="same_kind" if array.size else "unsafe", copy=False)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(f"robot '{robot.name}': {what} must be numbers, got {value!r}") from None
    return np.ndarray(array.shape, dtype, array.tobytes())
