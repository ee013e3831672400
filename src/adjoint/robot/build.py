"""From links and joints to a `Robot`: all loaders and builders end here.

Orders the tree, merges fixed joints, turns universal joints into two revolute ones, resolves mimics of mimics, and
refuses what is not a tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..errors import AdjointError
from ..lie import inertia as inertias
from .joints import JOINTS, standard_screws
from .model import GRAVITY, Finding, Frame, Link, Mimic, Robot, Visual, Where

__all__ = ["AXIAL", "Builder", "JointSpec", "LinkSpec", "ModelError"]

AXIAL = ("revolute", "continuous", "prismatic", "helical", "planar")
TYPES = (*JOINTS, "universal", "fixed")


class ModelError(AdjointError, ValueError):
    """A model that is no robot; the message names file, line, element, and what would be valid."""


@dataclass(frozen=True)
class LinkSpec:
    """A link as a model states it; `inertia` (10,) in the link's frame, None if not given."""

    name: str
    inertia: np.ndarray | None = None
    where: Where | None = None


@dataclass(frozen=True)
class JointSpec:
    """A joint as a model states it: the child's frame sits at `placement` in the parent's, moved by the joint.

    Give `screw` (nv, 6) for any screws, or `axis` for those of the type at the child's origin. `axis2`: of a universal
    joint's second axis. `mimic` = (joint name, multiplier, offset). Limits: one number for each coordinate, or one for all.
    """

    name: str
    type: str
    parent: str
    child: str
    placement: np.ndarray
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    axis2: tuple[float, float, float] = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    screw: np.ndarray | None = None
    mimic: tuple[str, float, float] | None = None
    lower: float | tuple = -np.inf
    upper: float | tuple = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
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
        if name in self._links:
            raise ModelError(_at(where, f"link '{name}': a second link of this name; names must differ"))
        if inertia is not None:
            inertia = _numbers(inertia, (10,), f"link '{name}': inertia", where)
        self._links[name] = LinkSpec(name, inertia, where)
        return self

    def joint(self, name: str, type: str, parent: str, child: str, placement=None, **options) -> Builder:
        """Add a joint of a type of `JOINTS`, or "universal" or "fixed"; `options` are the fields of `JointSpec`."""
        where = options.get("where")
        if name in self._joints:
            raise ModelError(_at(where, f"joint '{name}': a second joint of this name; names must differ"))
        if type not in TYPES:
            raise ModelError(_at(where, f"joint '{name}': unknown type '{type}'; there are {', '.join(TYPES)}"))
        label = f"joint '{name}'"
        placement = np.eye(4) if placement is None else _numbers(placement, (4, 4), f"{label}: placement", where)
        if abs(np.linalg.det(placement[:3, :3]) - 1) > 1e-6:
            raise ModelError(_at(where, f"{label}: placement is not a rigid motion: its rotation has not determinant 1"))
        for key in {"axis", "axis2"} & options.keys():
            options[key] = axis = _numbers(options[key], (3,), f"{label}: {key}", where)
            if not np.linalg.norm(axis) > 0:
                raise ModelError(_at(where, f"{label}: {key} has length 0; it must be a direction"))
        try:
            self._joints[name] = JointSpec(name, type, parent, child, placement, **options)
        except TypeError as error:
            raise ModelError(_at(where, f"{label}: {str(error).split(') ')[-1]}")) from None
        return self

    def frame(self, name: str, link: str, placement=None) -> Builder:
        """Name a frame fixed to a link, at `placement` (4, 4) in it."""
        placement = np.eye(4) if placement is None else _numbers(placement, (4, 4), f"frame '{name}': placement", None)
        self._frames.append((name, link, placement))
        return self

    def build(self) -> Robot:
        """The robot; `ModelError` if links and joints do not form one tree."""
        return _assemble(self)


def _at(where: Where | None, message: str) -> str:
    return f"{where}: {message}" if where else message


def _numbers(value, shape: tuple[int, ...], label: str, where: Where | None) -> np.ndarray:
    try:
        array = np.array(value, float)
    except (TypeError, ValueError):
        raise ModelError(_at(where, f"{label} must be numbers of shape {shape}, got {value!r}")) from None
    if array.shape != shape:
        raise ModelError(_at(where, f"{label} must have shape {shape}, got {array.shape}"))
    if not np.all(np.isfinite(array)):
        raise ModelError(_at(where, f"{label} contains NaN or infinity"))
    return array


# --- the tree ---------------------------------------------------------------------------------------------------------


def _ordered(builder: Builder) -> tuple[str, list[JointSpec]]:
    """The root link, and the joints in depth-first order, children of a link in the order they were added."""
    links, joints = builder._links, builder._joints.values()
    children: dict[str, list[JointSpec]] = {name: [] for name in links}
    parent_of: dict[str, JointSpec] = {}
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise ModelError(_at(joint.where, f"joint '{joint.name}': its {role} link '{name}' does not exist"))
        if joint.child in parent_of:
            other = parent_of[joint.child].name
            raise ModelError(
                _at(joint.where, f"joint '{joint.name}': link '{joint.child}' is already the child of joint '{other}'; "
                    "closed loops are not a tree")
            )  # fmt: skip
        parent_of[joint.child] = joint
        children[joint.parent].append(joint)
    roots = [name for name in links if name not in parent_of]
    if not links:
        raise ModelError(f"robot '{builder.name}' has no links")
    if len(roots) != 1:
        what = "no root: its joints form a cycle" if not roots else f"{len(roots)} roots: {', '.join(roots[:6])}"
        raise ModelError(f"robot '{builder.name}' has {what}; one link, and only one, must be nobody's child")
    order, stack = [], children[roots[0]][::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += children[joint.child][::-1]
    if len(order) < len(parent_of):
        lost = sorted(set(parent_of) - {j.child for j in order})
        raise ModelError(f"robot '{builder.name}': links {', '.join(lost[:6])} form a cycle apart from the root")
    return roots[0], order


class _Tree:
    """The arrays of a robot as they grow, body by body."""

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


def _assemble(builder: Builder) -> Robot:
    root, order = _ordered(builder)
    tree = _Tree()
    spot: dict[str, tuple[int, np.ndarray]] = {root: (-1, np.eye(4))}  # link -> (body, placement in it)
    if builder.base == "free":
        spot[root] = tree.add(root, _base_joint(builder, root), -1, np.eye(4), np.eye(6)), np.eye(4)
    elif builder.base != "fixed":
        raise ModelError(f"robot '{builder.name}': base is '{builder.base}'; it must be 'fixed' or 'free'")
    for joint in order:
        body, at = spot[joint.parent]
        placement = at @ joint.placement
        if joint.type == "fixed":
            spot[joint.child] = body, placement
        else:
            spot[joint.child] = _add_body(tree, joint, body, placement), np.eye(4)
    links = _links(builder, spot)
    bodies, base = _merged(links, len(tree.names))
    return Robot(
        name=builder.name,
        body_names=tuple(tree.names),
        body_joint_names=tuple(j.name for j in tree.joints),
        joint_types=tuple(j.type for j in tree.joints),
        parents=np.array(tree.parents, int),
        placements=np.array(tree.placements).reshape(-1, 4, 4),
        screws=np.concatenate([np.zeros((0, 6)), *tree.screws]),
        inertias=bodies,
        mimics=_mimics(tree.joints),
        **_limits(tree.joints),
        frames=_frames(builder, root, spot, tree.names),
        gravity=builder.gravity,
        base_name="world" if builder.base == "free" else root,
        base_inertia=base,
        visuals=tuple(builder.visuals),
        links=links,
        findings=tuple(builder.findings),
    )


def _base_joint(builder: Builder, root: str) -> JointSpec:
    name = "root_joint"
    while name in builder._joints:
        name += "_"
    return JointSpec(name, "free", "world", root, np.eye(4))


def _add_body(tree: _Tree, joint: JointSpec, parent: int, placement: np.ndarray) -> int:
    """One body, or two for a universal joint: a massless cross turns about `axis`, the child in it about `axis2`."""
    if joint.type != "universal":
        screws = standard_screws(joint.type, joint.axis, joint.pitch) if joint.screw is None else _screws(joint)
        return tree.add(joint.child, joint, parent, placement, screws)
    parts = [
        JointSpec(
            f"{joint.name}.{k}", "revolute", "", joint.child, placement, lower=_pick(joint.lower, k - 1),
            upper=_pick(joint.upper, k - 1), velocity=joint.velocity, effort=joint.effort, damping=joint.damping,
            friction=joint.friction, armature=joint.armature, where=joint.where,
        )
        for k in (1, 2)
    ]  # fmt: skip
    cross = tree.add(f"{joint.child}.cross", parts[0], parent, placement, standard_screws("revolute", joint.axis))
    return tree.add(joint.child, parts[1], cross, np.eye(4), standard_screws("revolute", joint.axis2))


def _pick(limit, k: int) -> float:
    return float(np.broadcast_to(limit, 2)[k])


def _screws(joint: JointSpec) -> np.ndarray:
    """Given screws, scaled so that q is an angle [rad], or a length [m] for translations."""
    label = f"joint '{joint.name}': screw"
    S = _numbers(np.atleast_2d(np.asarray(joint.screw, float)), (JOINTS[joint.type].nv, 6), label, joint.where)
    if JOINTS[joint.type].nv > 1:
        return S
    size = np.linalg.norm(S[0, :3]) or np.linalg.norm(S[0, 3:])
    if size == 0:
        raise ModelError(_at(joint.where, f"{label} is zero; it must turn or translate"))
    return S / size


# --- what is on the tree ----------------------------------------------------------------------------------------------


def _links(builder: Builder, spot: dict[str, tuple[int, np.ndarray]]) -> tuple[Link, ...]:
    return tuple(Link(l.name, *spot[l.name], l.inertia, l.where) for l in builder._links.values())


def _merged(links: Iterable[Link], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Inertias (n, 10) of the bodies and (10,) of the base: those of their links, moved and added."""
    total = np.zeros((n + 1, 10))  # the base is last, as index -1
    moved = [l for l in links if l.inertia is not None]
    if moved:
        placed = inertias.transform(np.array([l.placement for l in moved]), np.array([l.inertia for l in moved]))
        np.add.at(total, [l.body for l in moved], placed)
    return total[:n], total[n]


def _mimics(joints: list[JointSpec]) -> dict[int, Mimic]:
    """Mimics of mimics followed to the joint that leads them."""
    index = {j.name: i for i, j in enumerate(joints)}
    found = {}
    for i, joint in enumerate(joints):
        multiplier, offset, leader, seen = 1.0, 0.0, joint, {joint.name}
        while leader.mimic is not None:
            source, k, c = leader.mimic
            if source not in index:
                raise ModelError(
                    _at(leader.where, f"joint '{leader.name}' mimics '{source}', which is not a movable joint")
                )
            if source in seen:
                raise ModelError(_at(leader.where, f"joint '{leader.name}' mimics itself, through {', '.join(seen)}"))
            multiplier, offset = multiplier * k, offset + multiplier * c
            leader = joints[index[source]]
            seen.add(source)
        if leader is not joint:
            for j in (joint, leader):
                if JOINTS[j.type].nq != 1:
                    raise ModelError(
                        _at(j.where, f"joint '{j.name}' is {j.type}; only joints with one coordinate mimic or are mimicked")
                    )
            found[i] = Mimic(index[leader.name], multiplier, offset)
    return found


def _limits(joints: list[JointSpec]) -> dict[str, np.ndarray]:
    """Limits of the joints that lead; those of mimics are theirs to obey, the doctor compares."""
    lead = [j for j in joints if j.mimic is None]
    sizes = {"lower": "nq", "upper": "nq"} | dict.fromkeys(("velocity", "effort", "damping", "friction", "armature"), "nv")
    names = {"velocity": "velocity_limit", "effort": "effort_limit"}
    found = {}
    for key, size in sizes.items():
        parts = [np.broadcast_to(getattr(j, key), getattr(JOINTS[j.type], size)) for j in lead]
        found[names.get(key, key)] = np.concatenate([np.zeros(0), *parts])
    return found


def _frames(builder: Builder, root: str, spot: dict, bodies: list[str]) -> tuple[Frame, ...]:
    """Links that are neither a body's own nor the base, and the frames that were added."""
    own = {root if builder.base == "fixed" else "world", *bodies}
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
    return tuple(found)
