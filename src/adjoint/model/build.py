"""From links and joints to a `Robot`: all loaders and builders end here.

Orders the tree, merges fixed joints, turns universal joints into two revolute ones, resolves mimics of mimics, and
refuses what is not a tree. Numbers are checked and moved for all elements at once: loading a robot compiles nothing
and spends no NumPy call on a single link.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ModelError
from .input_checks import located as _at
from .input_checks import motions, numbers
from .joints import JOINTS, misfit, standard_screws
from .robot import GRAVITY, Finding, Frame, Link, Mimic, Robot, Visual, Where

__all__ = ["AXIAL", "Builder", "JointSpec", "LinkSpec", "ModelError", "moved_inertias"]

AXIAL = ("revolute", "continuous", "prismatic", "helical", "planar")
TYPES = (*JOINTS, "universal", "fixed")

_HOME = np.eye(4)  # where a body's own link sits in it; known by identity, so that nothing is multiplied by it
_HOME.flags.writeable = False


class LinkSpec(NamedTuple):
    """A link as a model states it; `inertia` (10,) in the link's frame, None if not given."""

    name: str
    inertia: np.ndarray | None = None
    where: Where | None = None


class JointSpec(NamedTuple):
    """A joint as a model states it; its fields are the arguments of `Builder.joint`, which explains them."""

    name: str
    type: str
    parent: str
    child: str
    placement: np.ndarray
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    axis2: tuple[float, ...] = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    screw: np.ndarray | None = None
    mimic: tuple[str, float, float] | None = None
    lower: float | tuple = -np.inf
    upper: float | tuple = np.inf
    velocity: float | tuple = np.inf
    effort: float | tuple = np.inf
    damping: float | tuple = 0.0
    friction: float | tuple = 0.0
    armature: float | tuple = 0.0
    where: Where | None = None


@dataclass
class Builder:
    """Collects links and joints, then `build()`s the robot. Methods return the builder.

    >>> arm = (Robot.builder("arm").link("base").link("upper", inertia=rod)
    ...        .joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0)).build())
    """

    name: str = "robot"
    base: str = "fixed"
    gravity: tuple[float, float, float] = GRAVITY
    _links: dict[str, LinkSpec] = field(default_factory=dict)
    _joints: dict[str, JointSpec] = field(default_factory=dict)
    _frames: list[tuple[str, str, np.ndarray]] = field(default_factory=list)
    visuals: list[Visual] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def link(self, name: str, inertia=None, *, where: Where | None = None) -> Builder:
        """Add a link with its inertia (10,) in its own frame; see `lie.inertia`."""
        _check_name("link", name, where)
        if inertia is not None:
            inertia = numbers(inertia, (10,), f"link '{name}': inertia", where)
        return self.add_link(LinkSpec(name, inertia, where))

    def joint(self, name: str, type: str, parent: str, child: str, placement=None, **options) -> Builder:
        """Add a joint that moves the link `child`, at `placement` (4, 4) in the link `parent` when q is neutral.

        `type` is a type of `JOINTS`, or "universal" or "fixed". Options, for the types that have them:

        - `axis`: direction (3,) in the child's frame, z by default, through its origin; of a planar joint the normal,
          of a universal one the first axis. `axis2`: the second axis of a universal joint, y by default.
        - `pitch` [m/rad] of a helical joint.
        - `screw`: instead of an axis, any screws of that type, (6,), or (nv, 6) one per row, in the child's frame.
        - `mimic`: name of the joint it follows, or (name, multiplier, offset): q = multiplier · q_name + offset.
        - `lower`, `upper` [rad or m]: one number, or one for each coordinate of q.
        - `velocity` [rad/s or m/s] and `effort` [N m or N], the largest; `damping` [N m s/rad or N s/m], dry `friction`
          [N m or N], `armature` [kg m² or kg]: one number, or one for each coordinate of v.
        - `where`: its place in a model file, for messages.
        """
        where = options.get("where")
        _check_name("joint", name, where)
        _check_name("link", parent, where)
        _check_name("link", child, where)
        label = f"joint '{name}'"
        placement = _HOME if placement is None else motions(placement, (4, 4), f"{label}: placement", where)
        return self.add_joint(JointSpec(name, type, parent, child, placement, **_options(label, type, options)))

    def frame(self, name: str, link: str, placement=None) -> Builder:
        """Name a frame fixed to a link, at `placement` (4, 4) in it."""
        _check_name("frame", name, None)
        placement = _HOME if placement is None else motions(placement, (4, 4), f"frame '{name}': placement")
        self._frames.append((name, link, placement))
        return self

    def add_link(self, link: LinkSpec) -> Builder:
        """Add a link whose numbers are known to be good, as `link` and the loaders have checked them."""
        if link.name in self._links:
            raise ModelError(_at(link.where, f"link '{link.name}': a second link of this name; names must differ"))
        self._links[link.name] = link
        return self

    def add_joint(self, joint: JointSpec) -> Builder:
        """Add a joint whose placement is known to be a rigid motion and whose axes are unit vectors."""
        name, where = joint.name, joint.where
        if name in self._joints:
            raise ModelError(_at(where, f"joint '{name}': a second joint of this name; names must differ"))
        if joint.type not in TYPES:
            raise ModelError(_at(where, f"joint '{name}': {_unknown_type(joint.type)}"))
        self._joints[name] = joint
        return self

    def build(self) -> Robot:
        """The robot; `ModelError` if links and joints do not form one tree."""
        with np.errstate(all="ignore"):  # overflow is found by the checks for infinity
            return _assemble(self)


# --- what is given ----------------------------------------------------------------------------------------------------


def _check_name(kind: str, name, where: Where | None) -> None:
    if not isinstance(name, str) or not name:
        raise ModelError(_at(where, f"a {kind} is called {name!r}; names are text, and not empty"))


_OTHER_WORDS = {
    "hinge": "revolute", "rotational": "revolute", "rotary": "revolute", "slide": "prismatic", "linear": "prismatic",
    "ball": "spherical", "floating": "free", "freeflyer": "free", "cardan": "universal", "weld": "fixed",
}  # fmt: skip


def _unknown_type(kind) -> str:
    meant = f"; did you mean '{_OTHER_WORDS[kind]}'?" if isinstance(kind, str) and kind in _OTHER_WORDS else ""
    return f"unknown type {kind!r}; there are {', '.join(TYPES)}{meant}"


_OPTIONS = JointSpec._fields[5:]
_GEOMETRY = {"helical": ("axis", "pitch", "screw"), "universal": ("axis", "axis2"), "fixed": ()} | {
    kind: ("screw",) if kind in ("screw", "spherical", "free") else ("axis", "screw")
    for kind in ("revolute", "continuous", "prismatic", "planar", "screw", "spherical", "free")
}


def _has_option(kind: str, option: str) -> bool:
    if option in ("axis", "axis2", "pitch", "screw"):
        return option in _GEOMETRY[kind]
    if option in ("lower", "upper"):
        return kind not in ("continuous", "spherical", "fixed")
    return kind != "fixed" or option == "where"


def _options(label: str, kind: str, options: dict) -> dict:
    """The options of a joint, checked against its type and made plain."""
    where = options.get("where")
    if not isinstance(kind, str) or kind not in TYPES:
        raise ModelError(_at(where, f"{label}: {_unknown_type(kind)}"))
    for option, value in options.items():
        if option not in _OPTIONS:
            raise ModelError(_at(where, f"{label}: no option {option!r}; there are {', '.join(_OPTIONS)}"))
        if not _has_option(kind, option) and not _is_default(option, value):
            has = ", ".join(o for o in _OPTIONS if _has_option(kind, o) and o != "where")
            raise ModelError(_at(where, f"{label} is {kind}, which has no {option}; its options are {has or 'none'}"))
    if options.get("screw") is not None and {"axis", "pitch"} & options.keys():
        raise ModelError(_at(where, f"{label}: give its screw, or its axis and pitch, not both"))
    plain = {
        "axis": _direction, "axis2": _direction, "pitch": lambda *given: float(numbers(given[0], (), *given[1:])),
        "mimic": _plain_mimic,
    }  # fmt: skip
    return {o: plain[o](v, f"{label}: {o}", where) if o in plain else v for o, v in options.items()}


def _is_default(option: str, value) -> bool:
    default = JointSpec._field_defaults[option]
    try:
        return value is default or (default is not None and bool(np.all(np.asarray(value, float) == default)))
    except (TypeError, ValueError):
        return False


def _plain_mimic(value, label: str, where: Where | None) -> tuple[str, float, float] | None:
    if value is None:
        return None
    given = (value,) if isinstance(value, str) else value
    try:
        name, multiplier, offset = (*given, *(1.0, 0.0)[len(given) - 1 :])
        found = name, float(multiplier), float(offset)
    except (TypeError, ValueError):
        found = (None,)
    if not isinstance(found[0], str):
        raise ModelError(_at(where, f"{label} is {value!r}; it is a joint's name, or (name, multiplier, offset)"))
    return found  # type: ignore[return-value]


def _direction(value, label: str, where: Where | None) -> tuple[float, ...]:
    axis = numbers(value, (3,), label, where)
    size = math.hypot(*axis)
    if not 0 < size < math.inf:
        raise ModelError(_at(where, f"{label} has length {size:g}; it must be a direction"))
    return tuple((axis / size).tolist())


def _check_finite(rows: np.ndarray, kind: str, names: Sequence[str], what: str) -> None:
    """Sums and products of finite numbers may overflow: every row (n, ...) must be finite."""
    if not np.isfinite(rows).all():
        k = int(np.argmin(np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)))
        raise ModelError(f"{kind} '{names[k]}': its {what} is too large: it overflows")


# --- the tree ---------------------------------------------------------------------------------------------------------


def _ordered(builder: Builder) -> tuple[str, list[JointSpec]]:
    """The root link, and the joints in depth-first order, children of a link in the order they were added."""
    links = builder._links
    children: dict[str, list[JointSpec]] = {name: [] for name in links}
    parent_of: dict[str, JointSpec] = {}
    for joint in builder._joints.values():
        if joint.parent not in links or joint.child not in links:
            role, name = ("child", joint.child) if joint.parent in links else ("parent", joint.parent)
            raise ModelError(_at(joint.where, f"joint '{joint.name}': its {role} link '{name}' does not exist"))
        if joint.parent == joint.child:
            raise ModelError(_at(joint.where, f"joint '{joint.name}' joins link '{joint.child}' to itself"))
        if joint.child in parent_of:
            other = parent_of[joint.child].name
            raise ModelError(
                _at(joint.where, f"joint '{joint.name}': link '{joint.child}' is already the child of joint '{other}'; "
                    "closed loops are not a tree")
            )  # fmt: skip
        parent_of[joint.child] = joint
        children[joint.parent].append(joint)
    root = _root(builder, parent_of)
    order, stack = [], children[root][::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += children[joint.child][::-1]
    if len(order) < len(parent_of):
        lost = sorted(set(parent_of) - {j.child for j in order})
        what = f"robot '{builder.name}': links {', '.join(lost[:6])} form a cycle apart from the root"
        raise ModelError(_at(parent_of[lost[0]].where, what))
    return root, order


def _root(builder: Builder, parent_of: dict[str, JointSpec]) -> str:
    """The one link that is nobody's child."""
    links = builder._links
    if not links:
        raise ModelError(f"robot '{builder.name}' has no links")
    roots = [name for name in links if name not in parent_of]
    if len(roots) != 1:
        what = f"{len(roots)} roots: {', '.join(roots[:6])}" if roots else "no root: its joints form a cycle"
        where = links[roots[1]].where if roots else next(iter(parent_of.values())).where
        what = f"robot '{builder.name}' has {what}; one link, and only one, must be nobody's child"
        raise ModelError(_at(where, what))
    return roots[0]


class _Tree:
    """The bodies of a robot as they grow, one by one."""

    def __init__(self):
        self.names: list[str] = []
        self.joints: list[JointSpec] = []
        self.parents: list[int] = []
        self.placements: list[np.ndarray] = []
        self.screws: list[np.ndarray] = []

    def add(self, name: str, joint: JointSpec, parent: int, placement: np.ndarray, screws: np.ndarray) -> int:
        self.names.append(name)
        self.joints.append(joint)
        self.parents.append(parent)
        self.placements.append(placement)
        self.screws.append(screws)
        return len(self.names) - 1


Spots = dict[str, tuple[int, np.ndarray]]  # link -> (its body, its placement in the body)


def _assemble(builder: Builder) -> Robot:
    tree, base, spot = _grown(builder)
    links = tuple([Link(l.name, *spot[l.name], l.inertia, l.where) for l in builder._links.values()])
    inertias = _merged(links, [*tree.names, base])
    placements = np.concatenate([_HOME[:0], *tree.placements]).reshape(-1, 4, 4)
    _check_finite(placements, "body", tree.names, "placement")
    mimics = _mimics(tree.joints, builder._joints)
    return Robot(
        name=builder.name,
        body_names=tuple(tree.names),
        body_joint_names=tuple([j.name for j in tree.joints]),
        joint_types=tuple([j.type for j in tree.joints]),
        parents=np.array(tree.parents, int),
        placements=placements,
        screws=np.concatenate([np.zeros((0, 6)), *tree.screws]),
        inertias=inertias[:-1],
        mimics=mimics,
        **_limits(tree.joints, mimics),
        frames=_frames(builder, {base, *tree.names}, spot),
        gravity=numbers(builder.gravity, (3,), f"robot '{builder.name}': gravity", None),
        base_name=base,
        base_inertia=inertias[-1],
        visuals=tuple(builder.visuals),
        links=links,
        findings=tuple(builder.findings),
        specs=tuple(builder._joints.values()),
    )


def _grown(builder: Builder) -> tuple[_Tree, str, Spots]:
    """The bodies, the name of the base, and where every link is."""
    root, order = _ordered(builder)
    tree, base = _Tree(), root
    spot: Spots = {root: (-1, _HOME)}
    if not isinstance(builder.base, str) or builder.base not in ("fixed", "free"):
        raise ModelError(f"robot '{builder.name}': base is {builder.base!r}; it must be 'fixed' or 'free'")
    if builder.base == "free":
        base = _unused("world", builder._links)
        joint = JointSpec(_unused("root_joint", builder._joints), "free", base, root, _HOME)
        spot[root] = tree.add(root, joint, -1, _HOME, np.eye(6)), _HOME
    for joint in order:
        body, at = spot[joint.parent]
        placement = joint.placement if at is _HOME else at @ joint.placement
        if joint.type == "fixed":
            spot[joint.child] = body, placement
        elif joint.type == "universal":
            spot[joint.child] = _add_universal(tree, joint, body, placement, builder), _HOME
        else:
            spot[joint.child] = tree.add(joint.child, joint, body, placement, _screws(joint)), _HOME
    return tree, base, spot


def _unused(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _add_universal(tree: _Tree, joint: JointSpec, parent: int, placement: np.ndarray, builder: Builder) -> int:
    """Two bodies: a massless cross turns about `axis`, the child in it about `axis2`."""
    if joint.mimic is not None:
        raise ModelError(_at(joint.where, f"joint '{joint.name}' is universal; only joints with one coordinate mimic"))
    if np.linalg.norm(np.cross(joint.axis, joint.axis2)) < 1e-9:
        raise ModelError(_at(joint.where, f"joint '{joint.name}' is universal, yet its axis and axis2 are parallel"))
    fields = JointSpec._fields[_LOWER:_END]
    first, second = (
        joint._replace(
            name=_unused(f"{joint.name}.{k}", builder._joints), type="revolute", **dict(zip(fields, row, strict=True))
        )
        for k, row in enumerate(_spread(joint, _LOWER, _END, 2), 1)
    )
    cross = _unused(f"{joint.child}.cross", builder._links)
    middle = tree.add(cross, first, parent, placement, standard_screws("revolute", joint.axis))
    return tree.add(joint.child, second, middle, _HOME, standard_screws("revolute", joint.axis2))


_standard_screws = functools.lru_cache(1024)(standard_screws)  # most axes of most robots are x, y or z


def _screws(joint: JointSpec) -> np.ndarray:
    """S (nv, 6) of the type, or as given, scaled so that q is an angle [rad], or a length [m] for translations."""
    if joint.screw is None and joint.type != "screw":
        return _standard_screws(joint.type, joint.axis, joint.pitch)
    label = f"joint '{joint.name}': screw"
    if joint.screw is None:
        raise ModelError(_at(joint.where, f"{label} is missing; a joint of type screw needs it"))
    nv = JOINTS[joint.type].nv
    try:
        given = np.atleast_2d(np.asarray(joint.screw, float))
    except (TypeError, ValueError):
        given = joint.screw  # `numbers` tells
    S = numbers(given, (nv, 6), label, joint.where)
    if nv == 1:
        size = np.linalg.norm(S[0, :3]) or np.linalg.norm(S[0, 3:])
        if size == 0:
            raise ModelError(_at(joint.where, f"{label} is zero; it must turn or translate"))
        S = S / size
    if (why := misfit(joint.type, S)) is not None:
        raise ModelError(_at(joint.where, f"{label} {why}"))
    return S


# --- what is on the tree ----------------------------------------------------------------------------------------------

_FULL = np.array([4, 5, 6, 5, 7, 8, 6, 8, 9])  # of the ten numbers, the 3x3 matrix I
_UPPER = np.array([0, 1, 2, 4, 5, 8])  # of the 3x3 matrix, its upper triangle
_DIAGONAL = slice(0, 9, 4)  # and its diagonal


def moved_inertias(T: np.ndarray, inertias: np.ndarray) -> np.ndarray:
    """Inertias (n, 10) in frames a of those in frames b, given T = T_ab (n, 4, 4).

    The formula of `lie.inertia.transform` on whole arrays: it runs while a model is read, where nothing is compiled.
    """
    R, p, m = T[:, :3, :3], T[:, :3, 3], inertias[:, :1]
    h = (R @ inertias[:, 1:4, None])[:, :, 0]
    pu = p[:, :, None] * (h + 0.5 * m * p)[:, None, :]
    shift = pu + pu.mT
    I = (R @ inertias.take(_FULL, axis=1).reshape(-1, 3, 3) @ R.mT).reshape(-1, 9)
    I[:, _DIAGONAL] += shift.reshape(-1, 9)[:, _DIAGONAL].sum(axis=1, keepdims=True)
    return np.concatenate([m, h + m * p, (I - shift.reshape(-1, 9)).take(_UPPER, axis=1)], axis=1)


def _merged(links: Iterable[Link], bodies: list[str]) -> np.ndarray:
    """Inertias (n + 1, 10) of the bodies, the base last, as index -1: those of their links, moved and added."""
    total = np.zeros((len(bodies), 10))
    heavy = [l for l in links if l.inertia is not None]
    if heavy:
        inertias = np.concatenate([l.inertia for l in heavy]).reshape(-1, 10)  # type: ignore[arg-type]
        away = [k for k, l in enumerate(heavy) if l.placement is not _HOME]
        if away:
            inertias[away] = moved_inertias(np.array([heavy[k].placement for k in away]), inertias[away])
        _check_finite(inertias, "link", [l.name for l in heavy], "inertia")
        np.add.at(total, [l.body for l in heavy], inertias)
        _check_finite(total, "body", bodies, "inertia")
    return total


def _mimics(joints: list[JointSpec], all_joints: dict[str, JointSpec]) -> dict[int, Mimic]:
    """{body: Mimic}, mimics of mimics followed to the joint that leads them."""
    followers = [i for i, joint in enumerate(joints) if joint.mimic is not None]
    if not followers:
        return {}
    index = {joint.name: i for i, joint in enumerate(joints)}
    found: dict[int, Mimic] = {}
    for i in followers:
        chain: dict[int, None] = {}  # the joints on the way whose leader is not known yet, in order
        while joints[i].mimic is not None and i not in found:
            if i in chain:
                names = ", ".join([joints[k].name for k in chain][:6])
                raise ModelError(_at(joints[i].where, f"joint '{joints[i].name}' mimics itself, through {names}"))
            chain[i] = None
            i = _source(joints[i], index, all_joints)
        lead = found.get(i, Mimic(i))
        for k in reversed(chain):
            _, multiplier, offset = joints[k].mimic  # type: ignore[misc]
            lead = Mimic(lead.source, multiplier * lead.multiplier, multiplier * lead.offset + offset)
            found[k] = lead
    _check_mimics(joints, found)
    return found


def _source(joint: JointSpec, index: dict[str, int], all_joints: dict[str, JointSpec]) -> int:
    source = joint.mimic[0]  # type: ignore[index]
    if source not in index:
        kind = all_joints[source].type if source in all_joints else None
        why = "does not exist" if kind is None else f"is {kind}; it must be a movable joint"
        if kind == "universal":
            why = f"is universal, two joints in one; name '{source}.1' or '{source}.2'"
        raise ModelError(_at(joint.where, f"joint '{joint.name}' mimics joint '{source}', which {why}"))
    return index[source]


def _check_mimics(joints: list[JointSpec], mimics: dict[int, Mimic]) -> None:
    for i, (source, multiplier, offset) in mimics.items():
        for j in (joints[i], joints[source]):
            if JOINTS[j.type].nq != 1:
                what = f"joint '{j.name}' is {j.type}; only joints with one coordinate mimic or are mimicked"
                raise ModelError(_at(j.where, what))
        if not (math.isfinite(multiplier) and math.isfinite(offset)):
            what = f"joint '{joints[i].name}': multiplier or offset of its mimic is NaN or infinite"
            raise ModelError(_at(joints[i].where, what))


_FLOATS = frozenset([float])
_LOWER, _VELOCITY, _END = (JointSpec._fields.index(f) for f in ("lower", "velocity", "where"))


def _limits(joints: list[JointSpec], mimics: dict[int, Mimic]) -> dict[str, np.ndarray]:
    """Limits of the joints that lead (mimics obey their own, the doctor compares), and what they resist with.

    A follower moves k times as fast as its leader, which feels k² of its damping and armature, and |k| of its friction.
    """
    bounds, rates = [], []  # rows (lower, upper) for each coordinate, and (velocity ... armature) for each rate
    place = {}
    for i, joint in enumerate(joints):
        place[i] = len(rates)
        if joint.mimic is None:
            row, stated = JOINTS[joint.type], joint[_LOWER:_END]
            if row.nq == 1 and _FLOATS.issuperset(map(type, stated)):
                bounds.append(stated[:2])
                rates.append(stated[2:])
            else:
                bounds += _spread(joint, _LOWER, _VELOCITY, row.nq)
                rates += _spread(joint, _VELOCITY, _END, row.nv)
    table = np.array(bounds).reshape(-1, 2), np.array(rates).reshape(-1, 5)
    if np.isnan(table[0]).any() or np.isnan(table[1]).any():
        for joint in joints:  # raises for the one that is to blame
            _spread(joint, _LOWER, _VELOCITY, JOINTS[joint.type].nq)
            _spread(joint, _VELOCITY, _END, JOINTS[joint.type].nv)
    for i, (source, k, _) in mimics.items():
        _, _, damping, friction, armature = _spread(joints[i], _VELOCITY, _END, 1)[0]
        table[1][place[source], 2:] += k * k * damping, abs(k) * friction, k * k * armature
    if not np.isfinite(table[1][:, 2:]).all():
        names = [joint.name for joint in joints if joint.mimic is None for _ in range(JOINTS[joint.type].nv)]
        _check_finite(table[1][:, 2:], "joint", names, "damping, friction or armature, with that of its mimics,")
    lower, upper, velocity, effort, damping, friction, armature = (*table[0].T, *table[1].T)
    return {
        "lower": lower, "upper": upper, "velocity_limit": velocity, "effort_limit": effort, "damping": damping,
        "friction": friction, "armature": armature,
    }  # fmt: skip


def _spread(joint: JointSpec, start: int, stop: int, n: int) -> list[tuple]:
    """Some fields of a joint, one row for each of n coordinates."""
    columns = []
    for option, value in zip(JointSpec._fields[start:stop], joint[start:stop], strict=True):
        try:
            columns.append(np.broadcast_to(np.asarray(unmasked(value), float), n).tolist())
            good = not np.isnan(columns[-1]).any()
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            what = f"joint '{joint.name}': {option} must be one number, or {n} of them, got {value!r}"
            raise ModelError(_at(joint.where, what))
    return list(zip(*columns, strict=True))


def _frames(builder: Builder, own: set[str], spot: Spots) -> tuple[Frame, ...]:
    """Links that are neither a body's own nor the base, and the frames that were added."""
    found = [Frame(name, *spot[name]) for name in builder._links if name not in own]
    taken = {*own, *(f.name for f in found)}
    for name, link, placement in builder._frames:
        if link not in spot:
            raise ModelError(f"frame '{name}': its link '{link}' does not exist")
        if name in taken:
            raise ModelError(f"frame '{name}': a second frame of this name; links are frames too")
        taken.add(name)
        body, at = spot[link]
        found.append(Frame(name, body, at @ placement))
    if found:
        rows = np.concatenate([f.placement for f in found]).reshape(-1, 16)
        _check_finite(rows, "frame", [f.name for f in found], "placement")
    return tuple(found)
