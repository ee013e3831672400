"""From links and joints to the fields of a `Robot`: all loaders and builders end here.

`assembled` orders the tree and refuses what is not one, makes one body of links that fixed joints connect, turns
universal joints into two revolute ones, and resolves mimics of mimics. Numbers are checked and moved for all elements
at once, and nothing is compiled, so that models load fast.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import ModelError
from .builder import HOME, PartList
from .input_checks import check_finite, numbers
from .input_checks import located as _at
from .joint_tables import END, LOWER, limits_of, mimics_of, spread
from .joints import JOINTS, misfit, standard_screws
from .parts import Frame, JointSpec, Link
from .whole_arrays import moved_inertias

__all__ = ["assembled"]


# --- the tree ---------------------------------------------------------------------------------------------------------


def _ordered(given: PartList) -> tuple[str, list[JointSpec]]:
    """Return the root link and the joints in depth-first order; children of a link are in the order they were added."""
    children, parent_of = _edges(given)
    root = _root(given, parent_of)
    order, stack = [], children[root][::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += children[joint.child][::-1]
    if len(order) < len(parent_of):
        lost = sorted(set(parent_of) - {j.child for j in order})
        what = f"robot '{given.name}': links {', '.join(lost[:6])} form a cycle apart from the root"
        raise ModelError(_at(parent_of[lost[0]].where, what))
    return root, order


def _edges(given: PartList) -> tuple[dict[str, list[JointSpec]], dict[str, JointSpec]]:
    """Return {link: joints to its children} and {link: joint to its parent}."""
    links = given.stated_links
    children: dict[str, list[JointSpec]] = {name: [] for name in links}
    parent_of: dict[str, JointSpec] = {}
    for joint in given.stated_joints.values():
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
    return children, parent_of


def _root(given: PartList, parent_of: dict[str, JointSpec]) -> str:
    """Return the one link that is nobody's child."""
    links = given.stated_links
    if not links:
        raise ModelError(f"robot '{given.name}' has no links")
    roots = [name for name in links if name not in parent_of]
    if len(roots) != 1:
        what = f"{len(roots)} roots: {', '.join(roots[:6])}" if roots else "no root: its joints form a cycle"
        where = links[roots[1]].where if roots else next(iter(parent_of.values())).where
        what = f"robot '{given.name}' has {what}; one link, and only one, must be nobody's child"
        raise ModelError(_at(where, what))
    return roots[0]


class _Tree:
    """The bodies of a robot, which `add` adds one by one."""

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


def assembled(given: PartList) -> dict[str, Any]:
    """Return the fields of the robot by name, or raise `ModelError` if links and joints do not form one tree."""
    tree, base, spot = _grown(given)
    links = tuple([Link(l.name, *spot[l.name], l.inertia, l.where) for l in given.stated_links.values()])
    inertias = _merged(links, [*tree.names, base])
    placements = np.concatenate([HOME[:0], *tree.placements]).reshape(-1, 4, 4)
    check_finite(placements, "body", tree.names, "placement")
    mimics = mimics_of(tree.joints, given.stated_joints)
    return dict(
        name=given.name,
        body_names=tuple(tree.names),
        body_joint_names=tuple([j.name for j in tree.joints]),
        joint_types=tuple([j.type for j in tree.joints]),
        parents=np.array(tree.parents, int),
        placements=placements,
        screws=np.concatenate([np.zeros((0, 6)), *tree.screws]),
        inertias=inertias[:-1],
        mimics=mimics,
        **limits_of(tree.joints, mimics),
        frames=_frames(given, {base, *tree.names}, spot),
        gravity=numbers(given.gravity, (3,), f"robot '{given.name}': gravity", None),
        base_name=base,
        base_inertia=inertias[-1],
        visuals=tuple(given.visuals),
        links=links,
        findings=tuple(given.findings),
        specs=tuple(given.stated_joints.values()),
    )


def _grown(given: PartList) -> tuple[_Tree, str, Spots]:
    """Return the bodies, the name of the base, and where every link is."""
    root, order = _ordered(given)
    tree, base = _Tree(), root
    spot: Spots = {root: (-1, HOME)}
    if not isinstance(given.base, str) or given.base not in ("fixed", "free"):
        raise ModelError(f"robot '{given.name}': base is {given.base!r}; it must be 'fixed' or 'free'")
    if given.base == "free":
        base = _unused("world", given.stated_links)
        joint = JointSpec(_unused("root_joint", given.stated_joints), "free", base, root, HOME)
        spot[root] = tree.add(root, joint, -1, HOME, np.eye(6)), HOME
    for joint in order:
        body, at = spot[joint.parent]
        placement = joint.placement if at is HOME else at @ joint.placement
        if joint.type == "fixed":
            spot[joint.child] = body, placement
        elif joint.type == "universal":
            spot[joint.child] = _add_universal(tree, joint, body, placement, given), HOME
        else:
            spot[joint.child] = tree.add(joint.child, joint, body, placement, _screws(joint)), HOME
    return tree, base, spot


def _unused(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _add_universal(tree: _Tree, joint: JointSpec, parent: int, placement: np.ndarray, given: PartList) -> int:
    """Add two bodies for a universal joint, and return the number of the second, the child.

    The first is a massless cross that turns about `axis`; the child turns in it about `axis2`.
    """
    if joint.mimic is not None:
        raise ModelError(_at(joint.where, f"joint '{joint.name}' is universal; only joints with one coordinate mimic"))
    if np.linalg.norm(np.cross(joint.axis, joint.axis2)) < 1e-9:
        raise ModelError(_at(joint.where, f"joint '{joint.name}' is universal, yet its axis and axis2 are parallel"))
    fields = JointSpec._fields[LOWER:END]
    first, second = (
        joint._replace(
            name=_unused(f"{joint.name}.{k}", given.stated_joints),
            type="revolute",
            **dict(zip(fields, row, strict=True)),
        )
        for k, row in enumerate(spread(joint, LOWER, END, 2), 1)
    )
    cross = _unused(f"{joint.child}.cross", given.stated_links)
    middle = tree.add(cross, first, parent, placement, standard_screws("revolute", joint.axis))
    return tree.add(joint.child, second, middle, HOME, standard_screws("revolute", joint.axis2))


_standard_screws = functools.lru_cache(1024)(standard_screws)  # most axes of most robots are x, y or z


def _screws(joint: JointSpec) -> np.ndarray:
    """Return S (nv, 6) of a joint: that of its type, or the given one, scaled so that q is in rad, or in m if w = 0."""
    if joint.screw is None and joint.type != "screw":
        return _standard_screws(joint.type, joint.axis, joint.pitch)
    label = f"joint '{joint.name}': screw"
    if joint.screw is None:
        raise ModelError(_at(joint.where, f"{label} is missing; a joint of type screw needs it"))
    nv = JOINTS[joint.type].nv
    try:
        given = np.atleast_2d(np.asarray(joint.screw, float))
    except (TypeError, ValueError):
        given = joint.screw  # `numbers` raises the error
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


def _merged(links: Iterable[Link], bodies: list[str]) -> np.ndarray:
    """Return the inertias (n + 1, 10) of the bodies and, last, of the base: sums over their links.

    Index -1 is the base, as everywhere.
    """
    total = np.zeros((len(bodies), 10))
    heavy = [l for l in links if l.inertia is not None]
    if heavy:
        inertias = np.concatenate([l.inertia for l in heavy]).reshape(-1, 10)  # type: ignore[arg-type]
        away = [k for k, l in enumerate(heavy) if l.placement is not HOME]
        if away:
            inertias[away] = moved_inertias(np.array([heavy[k].placement for k in away]), inertias[away])
        check_finite(inertias, "link", [l.name for l in heavy], "inertia")
        np.add.at(total, [l.body for l in heavy], inertias)
        check_finite(total, "body", bodies, "inertia")
    return total


def _frames(given: PartList, own: set[str], spot: Spots) -> tuple[Frame, ...]:
    """Return the links that give no body and not the base its name, and the frames that were added."""
    found = [Frame(name, *spot[name]) for name in given.stated_links if name not in own]
    taken = {*own, *(f.name for f in found)}
    for name, link, placement in given.stated_frames:
        if link not in spot:
            raise ModelError(f"frame '{name}': its link '{link}' does not exist")
        if name in taken:
            raise ModelError(f"frame '{name}': a second frame of this name; links are frames too")
        taken.add(name)
        body, at = spot[link]
        found.append(Frame(name, body, at @ placement))
    if found:
        rows = np.concatenate([f.placement for f in found]).reshape(-1, 16)
        check_finite(rows, "frame", [f.name for f in found], "placement")
    return tuple(found)
