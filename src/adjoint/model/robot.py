"""`Robot`: a frozen tree of rigid bodies. Structure steers Python loops, numbers are arrays the algorithms fold in.

Bodies are in tree order (parents first); body i sits at M_i J_i(q_i) in its parent, the base is number -1. Every body
and the base are frames of their own name; `frames` are the further ones (links behind fixed joints, tools, sites).
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ArgumentError, shortened
from ..lazy import cached_property
from . import robot_checks
from .joints import JOINTS

if TYPE_CHECKING:
    from .build import Builder, JointSpec

__all__ = [
    "GRAVITY",
    "Body",
    "Finding",
    "Frame",
    "Joint",
    "Layout",
    "Link",
    "Mimic",
    "Robot",
    "Visual",
    "Where",
    "need_coordinates",
    "need_numbers",
    "need_robot",
    "once_a_robot",
]

GRAVITY = (0.0, 0.0, -9.81)
"""Physical gravity [m/s²], unless a robot says otherwise."""


_EACH = ("lower", "upper", "damping", "friction", "armature", "velocity_limit", "effort_limit")  # of q or v


class Where(NamedTuple):
    """A place in a model file."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Mimic(NamedTuple):
    """The joint of a body follows that of another: q = multiplier · q_source + offset, one number each."""

    source: int  # number of the body whose joint leads; never itself a mimic
    multiplier: float = 1.0
    offset: float = 0.0


class Frame(NamedTuple):
    """A named frame fixed to a body (-1: the base) at `placement` (4, 4) in it."""

    name: str
    body: int
    placement: np.ndarray


class Visual(NamedTuple):
    """A shape to draw, or to collide with, fixed to a frame: lengths in m, colour as (r, g, b, a).

    `shape` is "mesh" (`size` = scale), "box" (edges), "sphere" (radius), "cylinder" or "capsule" (radius, length).
    """

    frame: str
    placement: np.ndarray
    shape: str
    size: tuple[float, ...]
    mesh: str | None = None  # path of a file
    color: tuple[float, float, float, float] | None = None
    collision: bool = False
    fault: str = ""  # why the mesh cannot be opened, or must not be; see `mesh_file`


class Link(NamedTuple):
    """A link as its model states it, before fixed joints merge links into bodies. Read by `check` only."""

    name: str
    body: int
    placement: np.ndarray
    inertia: np.ndarray | None  # (10,) in the link's own frame; None: not given
    where: Where | None = None


class Finding(NamedTuple):
    """Something to know about a model. `level` is "error", "warning" or "note"; `code` names the kind of finding."""

    level: str
    code: str
    element: str  # such as "link 'forearm'"
    message: str
    where: Where | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return shortened(f"{place}{self.level}: {self.element}: {self.message} [{self.code}]")


@dataclass(frozen=True, eq=False)
class Joint:
    """The joint that moves a body: type (a row of `JOINTS`), screws S (6, nv) in the body's frame, places in q and v.

    Limits are those of its coordinates in q and v. A mimic has none: its places and limits are those of its leader.
    """

    name: str
    type: str
    S: np.ndarray
    mimic: Mimic | None
    q: slice  # where its coordinates are in q; those of the source for a mimic
    v: slice
    lower: np.ndarray  # (nq,) [rad or m]
    upper: np.ndarray
    velocity_limit: np.ndarray  # (nv,) [rad/s or m/s]
    effort_limit: np.ndarray  # (nv,) [N m or N]

    @property
    def does(self) -> str:
        """What its q and v mean."""
        return JOINTS[self.type].does


@dataclass(frozen=True, eq=False)
class Body:
    """Body `index`: `parent` (-1: base), home placement `M` (4, 4) in it, `joint`, `inertia` (10,) in its own frame."""

    index: int
    name: str
    parent: int
    M: np.ndarray
    joint: Joint
    inertia: np.ndarray

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.inertia[0])


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A tree of rigid bodies joined by joints. Made by `load`, `from_dh`, `from_screws`, `Robot.builder` or `robots.*`.

    Equality and hash are those of `fingerprint`, which covers all but `visuals`, `links`, `specs` and `findings`.
    Nobody can change its arrays, not even by `flags.writeable`; `replace` gives a changed copy and shares the rest.
    """

    name: str
    body_names: tuple[str, ...]
    body_joint_names: tuple[str, ...]
    joint_types: tuple[str, ...]
    parents: np.ndarray  # (n,)
    placements: np.ndarray  # (n, 4, 4), the M_i
    screws: np.ndarray  # (d, 6), the S_i one screw per row, of all bodies
    inertias: np.ndarray  # (n, 10) in body frames
    mimics: Mapping[int, Mimic]  # {number of the body that follows: whom, and how}
    lower: np.ndarray  # (nq,) [rad or m], -inf and inf if unlimited
    upper: np.ndarray
    velocity_limit: np.ndarray  # (nv,) [rad/s or m/s]
    effort_limit: np.ndarray  # (nv,) [N m or N]
    damping: np.ndarray  # (nv,) [N m s/rad or N s/m]
    friction: np.ndarray  # (nv,) [N m or N], dry
    armature: np.ndarray  # (nv,) [kg m² or kg], rotor inertia seen at the joint
    frames: tuple[Frame, ...] = ()
    gravity: np.ndarray = GRAVITY  # type: ignore[assignment]
    base_name: str = "base"
    base_inertia: np.ndarray = (0.0,) * 10  # type: ignore[assignment]
    visuals: tuple[Visual, ...] = ()
    links: tuple[Link, ...] = ()
    findings: tuple[Finding, ...] = ()
    specs: tuple[JointSpec, ...] = ()  # the joints as the model states them; read by `check` only

    # Of a robot that stands for another one, while a kernel runs with numbers of it as inputs; see `lift`.
    varying: ClassVar[frozenset[str]] = frozenset()  # fields that hold inputs: Python must not branch on their numbers
    stands_for: ClassVar[tuple[Robot, dict[str, Any]] | None] = None  # the other one, and the inputs by name

    # (old name, new name, hint) of arguments of functions of robots, for those who use the old name.
    renamed_arguments: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("wrenches", "applied_wrenches", "it is applied_wrenches now, what acts on the robot: change the sign"),
        ("wrenches", "tip_wrenches", "it is tip_wrenches here, what the frames exert: the sign stays"),
        ("wrench", "exerted_wrench", "it is exerted_wrench now, what the frame exerts: the sign stays"),
    )

    def __post_init__(self):
        put = functools.partial(object.__setattr__, self)
        # Plain tuples and numbers, so that the fingerprints of equal robots are equal.
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

    @staticmethod
    def builder(name: str = "robot", **options) -> Builder:
        """A `Builder`: add links and joints in code, then `build()`."""
        from .build import Builder

        return Builder(name, **options)

    def replace(self, **changes) -> Robot:
        """A copy with some fields changed, such as `robot.replace(gravity=(0, 0, 0))`; all else is shared.

        Of what each degree of freedom has, limits and resistances, one number stands for all.
        """
        names = [f.name for f in dataclasses.fields(self)]
        for name in changes:
            if name not in names:
                raise ArgumentError(f"Robot.replace: no field {name!r}; {nearest(name, names)}")
        alike = {k: x for k, x in changes.items() if k in _EACH and _is_one_number(x)}
        changes |= {k: np.full(len(getattr(self, k)), x) for k, x in alike.items()}
        if {"inertias", "placements", "parents"} & changes.keys():
            changes = {"links": (), "specs": (), "findings": ()} | changes  # they told of the old numbers
        return dataclasses.replace(self, **changes)

    def reframed(self, Q) -> Robot:
        """This robot in other body frames Q (n, 4, 4), "joint", "com", "space", "minimal"; see `reframe.reframed`."""
        from .reframe import reframed

        return reframed(self, Q)

    def locked(self, values: Mapping[str, object]) -> Robot:
        """The robot with joints locked, {joint name: its q}: their bodies become parts of others; `change.locked`."""
        from .change import locked

        return locked(self, values)

    def mounted(self, placement) -> Robot:
        """The robot that stands at `placement` (4, 4) in its base frame, under the same gravity; `change.mounted`."""
        from .change import mounted

        return mounted(self, placement)

    def with_frame(self, name: str, frame: str, placement=None) -> Robot:
        """The robot with a frame `name` more, at `placement` (4, 4) in the frame `frame`."""
        from .change import with_frame

        return with_frame(self, name, frame, placement)

    def with_payload(self, frame: str, inertia) -> Robot:
        """The robot with a load of `inertia` (10,), given in `frame`, on the body this is fixed to."""
        from .change import with_payload

        return with_payload(self, frame, inertia)

    # --- numbers as inputs ------------------------------------------------------------------------------------------

    @property
    def liftable(self) -> dict[str, np.ndarray]:
        """{name: own numbers} of what can be an input of any kernel, `kernel.bind(robot, lift=names)`; see `lift`."""
        from .lift import liftable

        return liftable(self)

    def lifted(self, arrays: dict[str, Any]) -> Robot:
        """The robot that stands for this one while a kernel runs with these arrays as inputs; see `lift`."""
        from .lift import LiftedRobot

        return LiftedRobot(self, arrays)

    @property
    def if_too_large(self) -> str:
        """What to do if a function of this robot becomes too large to compile."""
        n = len(self.body_names)
        return (
            f"Robot '{self.name}' has {n} bodies and {self.nv} degrees of freedom. Inverse and forward dynamics and "
            "their derivatives, the mass and Coriolis matrices, energies, placements and Jacobians run as loops over "
            "any number of bodies, if no joint follows another (mimics); take these, or a smaller robot: a part of it, "
            "or one with joints locked (robot.locked)"
        )

    # --- identity -----------------------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything the algorithms may depend on, equal in every process."""
        return self.fingerprint_without(())

    def fingerprint_without(self, names: tuple[str, ...]) -> str:
        """The fingerprint, fields of these names aside: of what algorithms depend on if those are inputs."""
        h = hashlib.blake2b(digest_size=20)
        text = (self.name, self.base_name, self.body_names, self.body_joint_names, self.joint_types)
        frames = [(f.name, f.body, np.asarray(f.placement).tolist()) for f in self.frames]
        h.update(repr((text, sorted(self.mimics.items()), frames)).encode())
        for field in robot_checks.ARRAYS:
            if field not in names:
                h.update(getattr(self, field).tobytes())
        return h.hexdigest()

    def __eq__(self, other) -> bool:
        return isinstance(other, Robot) and (self is other or self.fingerprint == other.fingerprint)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self):
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return Robot, tuple((fields | {"mimics": dict(self.mimics)}).values())

    # --- sizes and places ---------------------------------------------------------------------------------------------

    @cached_property
    def _results(self) -> dict[Callable, dict[tuple, Any]]:
        """What functions found out about this robot; see `once_a_robot`."""
        return {}

    @cached_property
    def layout(self) -> Layout:
        """Where the numbers of each body's joint are in q, v and `screws`."""
        return _layout(self.joint_types, self.mimics)

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
        """Degrees of freedom of all bodies, those that mimic others counted too: rows of `screws`."""
        return self.layout.dof_start[-1]

    @property
    def bodies(self) -> Sequence[Body]:
        """The bodies, in tree order."""
        return _Bodies(self)

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
        """The frame of this name: which body it is fixed to, and where."""
        k = self._frame_index.get(name) if isinstance(name, str) else None
        if k is None:
            raise ArgumentError(f"robot '{self.name}' has no frame {name!r}; {nearest(name, self.frame_names)}")
        n = len(self.body_names)
        return Frame(name, k - 1, np.eye(4)) if k <= n else self.frames[k - 1 - n]

    def joint(self, name: str) -> Joint:
        """The joint of this name, mimics included."""
        if not isinstance(name, str) or name not in self.body_joint_names:
            raise ArgumentError(f"robot '{self.name}' has no joint {name!r}; {nearest(name, self.body_joint_names)}")
        return self.bodies[self.body_joint_names.index(name)].joint

    def screw(self, body: int) -> np.ndarray:
        """S_iᵀ (k, 6): the screws of a body's joint, one per row, in the body's frame."""
        start = self.layout.dof_start
        return self.screws[start[body] : start[body + 1]]

    def path(self, body: int) -> list[int]:
        """The bodies from the base to `body`, both ends as far as they are bodies: empty for the base, -1."""
        found = []
        while body >= 0:
            found.append(body)
            body = int(self.parents[body])
        return found[::-1]

    @cached_property
    def mass(self) -> float:
        """Total mass [kg] of the moving bodies; that of the base is `base_inertia[0]`."""
        return float(self.inertias[:, 0].sum())

    # --- display ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        n = len(self.body_names)
        return f"<Robot '{self.name}': {n} {'body' if n == 1 else 'bodies'}, nq {self.nq}, nv {self.nv}>"

    def __str__(self) -> str:
        from .printing import text

        return text(self)

    def _repr_html_(self) -> str:
        from .printing import html

        return html(self)


def _is_one_number(x) -> bool:
    return isinstance(x, (int, float, np.number)) or (isinstance(x, np.ndarray) and x.ndim == 0)


def _tuple(robot: Robot, field: str) -> tuple:
    value = getattr(robot, field)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ArgumentError(f"robot '{robot.name}': {field} is {value!r}; it must be a tuple")
    return tuple(value)


def _frame(robot: Robot, value) -> Frame:
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


def _plain_mimics(robot: Robot) -> dict[int, Mimic]:
    try:
        given = [(i, Mimic(*mimic)) for i, mimic in robot.mimics.items()]
        return {operator.index(i): Mimic(operator.index(m.source), float(m[1]), float(m[2])) for i, m in given}
    except (AttributeError, TypeError, ValueError):
        what = "it must be {number of a body: Mimic(number of the leading body, multiplier, offset)}"
        raise ArgumentError(f"robot '{robot.name}': mimics is {robot.mimics!r}; {what}") from None


def _frozen(robot: Robot, what: str, value, dtype=float) -> np.ndarray:
    """A copy that nobody can change; `value` itself if it is one.

    Its numbers are in a `bytes` object, so NumPy refuses `flags.writeable = True`, and of views of it too. Otherwise
    the robot's hash, and code compiled for its numbers, could become wrong without notice.
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


class Layout(NamedTuple):
    """Where each body's coordinates are: q_start, v_start (those of the source for mimics), dof_start (n + 1)."""

    nq: int
    nv: int
    q_start: list[int]
    v_start: list[int]
    dof_start: list[int]


def _layout(types: tuple[str, ...], mimics: Mapping[int, Mimic]) -> Layout:
    nq = nv = dofs = 0
    q_start, v_start, dof_start = [], [], []
    for i, kind in enumerate(types):
        row = JOINTS[kind]
        dof_start.append(dofs)
        dofs += row.nv
        if i in mimics:
            q_start.append(-1)  # its source may come later in the tree
            v_start.append(-1)
        else:
            q_start.append(nq)
            v_start.append(nv)
            nq, nv = nq + row.nq, nv + row.nv
    for i, mimic in mimics.items():
        q_start[i], v_start[i] = q_start[mimic.source], v_start[mimic.source]
    return Layout(nq, nv, q_start, v_start, [*dof_start, dofs])


class _Bodies(Sequence):
    """The bodies of a robot, made when looked at."""

    def __init__(self, robot: Robot):
        self._robot = robot

    def __len__(self) -> int:
        return len(self._robot.body_names)

    def __getitem__(self, i):  # type: ignore[override]
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        n, robot = len(self), self._robot
        if not -n <= i < n:
            raise IndexError(f"robot '{robot.name}' has {n} bodies")
        i %= n
        kind, at = robot.joint_types[i], robot.layout
        q = slice(at.q_start[i], at.q_start[i] + JOINTS[kind].nq)
        v = slice(at.v_start[i], at.v_start[i] + JOINTS[kind].nv)
        limits = robot.lower[q], robot.upper[q], robot.velocity_limit[v], robot.effort_limit[v]
        joint = Joint(robot.body_joint_names[i], kind, robot.screw(i).T, robot.mimics.get(i), q, v, *limits)
        return Body(i, robot.body_names[i], int(robot.parents[i]), robot.placements[i], joint, robot.inertias[i])

    def __iter__(self) -> Iterator[Body]:
        return map(self.__getitem__, range(len(self)))  # type: ignore[arg-type]


def once_a_robot(function: Callable[..., Any] | None = None, *, most: int = 8) -> Any:
    """A decorator for functions of a robot: a result is kept in the robot it is of, and freed with it.

    If the function takes further values, each robot keeps its results for the last `most` of them.
    """
    if function is None:
        return functools.partial(once_a_robot, most=most)

    @functools.wraps(function)
    def found(robot: Robot, *values):
        known = robot._results.setdefault(function, {})
        try:
            return known[values]
        except KeyError:
            pass
        result = function(robot, *values)
        if len(known) >= most:
            known.pop(next(iter(known)), None)
        known[values] = result
        return result

    return found


def need_robot(value, caller: str) -> None:
    """An `ArgumentError` if `value` is no `Robot`."""
    if not isinstance(value, Robot):
        given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        raise ArgumentError(f"{caller} needs a Robot, got {given}; adjoint.load reads one from a file")


def need_coordinates(robot: Robot, what: str = "Christoffel symbols are") -> None:
    """`ArgumentError` that names `what` if v is not the rate of q: if a joint has several degrees of freedom."""
    for name, kind in zip(robot.body_joint_names, robot.joint_types, strict=True):
        if JOINTS[kind].nv != 1:
            raise ArgumentError(
                f"robot '{robot.name}': joint '{name}' is {kind}; {what} for joints with one degree of "
                "freedom, whose v is the rate of a coordinate; `coriolis_matrix`, `inverse_dynamics` take all joints"
            )


def need_numbers(robot: Robot, caller: str) -> None:
    """An `ArgumentError` if some of the robot's numbers are inputs."""
    if robot.varying:
        raise ArgumentError(
            f"{caller} computes with the numbers of robot '{robot.name}', of which {', '.join(sorted(robot.varying))} "
            "are inputs (lift=...); the algorithms of `kinematics` and `dynamics` themselves take them"
        )


def nearest(name, names: Sequence[str]) -> str:
    """The names that look like `name`, or a few of all."""
    close = difflib.get_close_matches(str(name), names, 3, 0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(names[:12])
    return f"there are {shown}{', ...' if len(names) > 12 else ''}"
