"""From links and joints to the fields of a `Robot`: all loaders and builders end here.

It orders the tree, merges fixed joints, turns universal joints into two revolute ones, resolves mimics of mimics, and
refuses what is not a tree. Numbers are checked and moved for all elements at once: loading a robot compiles nothing
and spends no NumPy call on a single link.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..compile.front.arguments import unmasked
from ..errors import ModelError
from .builder import HOME, PartList
from .input_checks import located as _at
from .input_checks import numbers
from .joints import JOINTS, misfit, standard_screws
from .parts import Frame, JointSpec, Link, Mimic
from .whole_arrays import moved_inertias

__all__ = ["assembled"]


def _check_finite(rows: np.ndarray, kind: str, names: Sequence[str], what: str) -> None:
    """Sums and products of finite numbers may overflow: every row (n, ...) must be finite."""
    if not np.isfinite(rows).all():
        k = int(np.argmin(np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)))
        raise ModelError(f"{kind} '{names[k]}': its {what} is too large: it overflows")


# --- the tree ---------------------------------------------------------------------------------------------------------


def _ordered(given: PartList) -> tuple[str, list[JointSpec]]:
    """The root link, and the joints in depth-first order, children of a link in the order they were added."""
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


def _root(given: PartList, parent_of: dict[str, JointSpec]) -> str:
    """The one link that is nobody's child."""
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


def assembled(given: PartList) -> dict[str, Any]:
    """The fields of the robot, by name; a `ModelError` if links and joints do not form one tree."""
    tree, base, spot = _grown(given)
    links = tuple([Link(l.name, *spot[l.name], l.inertia, l.where) for l in given.stated_links.values()])
    inertias = _merged(links, [*tree.names, base])
    placements = np.concatenate([HOME[:0], *tree.placements]).reshape(-1, 4, 4)
    _check_finite(placements, "body", tree.names, "placement")
    mimics = _mimics(tree.joints, given.stated_joints)
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
        **_limits(tree.joints, mimics),
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
    """The bodies, the name of the base, and where every link is."""
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
    """Two bodies: a massless cross turns about `axis`, the child in it about `axis2`."""
    if joint.mimic is not None:
        raise ModelError(_at(joint.where, f"joint '{joint.name}' is universal; only joints with one coordinate mimic"))
    if np.linalg.norm(np.cross(joint.axis, joint.axis2)) < 1e-9:
        raise ModelError(_at(joint.where, f"joint '{joint.name}' is universal, yet its axis and axis2 are parallel"))
    fields = JointSpec._fields[_LOWER:_END]
    first, second = (
        joint._replace(
            name=_unused(f"{joint.name}.{k}", given.stated_joints),
            type="revolute",
            **dict(zip(fields, row, strict=True)),
        )
        for k, row in enumerate(_spread(joint, _LOWER, _END, 2), 1)
    )
    cross = _unused(f"{joint.child}.cross", given.stated_links)
    middle = tree.add(cross, first, parent, placement, standard_screws("revolute", joint.axis))
    return tree.add(joint.child, second, middle, HOME, standard_screws("revolute", joint.axis2))


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


def _merged(links: Iterable[Link], bodies: list[str]) -> np.ndarray:
    """Inertias (n + 1, 10) of the bodies, the base last, as index -1: those of their links, moved and added."""
    total = np.zeros((len(bodies), 10))
    heavy = [l for l in links if l.inertia is not None]
    if heavy:
        inertias = np.concatenate([l.inertia for l in heavy]).reshape(-1, 10)  # type: ignore[arg-type]
        away = [k for k, l in enumerate(heavy) if l.placement is not HOME]
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


def _frames(given: PartList, own: set[str], spot: Spots) -> tuple[Frame, ...]:
    """Links that are neither a body's own nor the base, and the frames that were added."""
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
        _check_finite(rows, "frame", [f.name for f in found], "placement")
    return tuple(found)
