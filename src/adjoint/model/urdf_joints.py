"""The joints of a URDF file: their axes, limits and mimics, and the findings about what they leave out."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from ..errors import ModelError
from .builder import AXIAL
from .parts import JointSpec
from .robot import Builder
from .urdf_elements import Parts
from .urdf_tags import ABSENT, NUMBERS, OTHER_TYPES, READ_TYPES, UNLIMITED, Column, attribute

__all__ = ["add_joints"]

_BOUNDED = ("revolute", "prismatic")  # types of joints that have position limits
_NOT_URDF = tuple(JointSpec._field_defaults[field] for field in ("axis2", "pitch", "screw"))
_NO_LOSSES = (0.0, 0.0, 0.0)  # damping, friction and armature of a joint without <dynamics>


def add_joints(parts: Parts, builder: Builder, numbers: dict[str, np.ndarray], placements: np.ndarray) -> None:
    """Add all joints of the file to the builder; `placements` (n, 4, 4) are those of their origins."""
    joints, found = parts.joints, parts.of_joints
    axes, mimics = _axes(parts, numbers["axis"][0]), _mimics(parts, numbers["mimic"][:, :, 0])
    names = list(map(attribute, joints, repeat("name")))
    kinds: list[Any] = [READ_TYPES.get(text) for text in map(attribute, joints, repeat("type"))]
    parents, children = (list(map(attribute, found[tag], repeat("link"))) for tag in ("parent", "child"))
    if not (all(names) and all(kinds) and all(parents) and all(children)):
        raise _incomplete(parts, parents, children)
    limits = _limits(found["limit"], kinds, numbers["limit"][:, :, 0]).T.tolist()
    losses = dict(zip(parts.joints_with("dynamics"), numbers["dynamics"][:, :, 0].T.tolist(), strict=True))
    if "world" in parents and "world" not in parts.link_names:
        parts.find("note", "world", joints[parents.index("world")], "link 'world' is not in the file, and was added")
        builder.link("world", where=parts.document.where(parts.document.root))
    places = parts.document.places(joints)
    rows = zip(names, kinds, parents, children, placements, axes, limits, places, strict=True)
    for k, (name, kind, parent, child, placement, axis, limit, where) in enumerate(rows):
        if kind == "fixed":
            builder.add_joint(JointSpec(name, kind, parent, child, placement, where=where))
        else:
            stated: list[Any] = [*_NOT_URDF, mimics.get(k), *limit, *losses.get(k, _NO_LOSSES), where]
            builder.add_joint(JointSpec(name, kind, parent, child, placement, axis, *stated))
    _find_defaults(parts, kinds)


def _incomplete(parts: Parts, parents: list[str | None], children: list[str | None]) -> ModelError:
    """Return the error about the first joint that has no name, no known type, no parent or no child."""
    for joint, parent, child in zip(parts.joints, parents, children, strict=True):
        if not joint.get("name"):
            return parts.nameless(joint)
        if joint.get("type") not in READ_TYPES:
            return parts.error(joint, f"its type is '{joint.get('type', '')}'; there are {', '.join(READ_TYPES)}")
        if not parent or not child:
            return parts.error(joint, f'it has no <{"child" if parent else "parent"} link="...">')
    raise AssertionError("all joints are complete")


def _limits(elements: Column, kinds: list[str], limits: np.ndarray) -> np.ndarray:
    """Return the rows (lower, upper, velocity, effort) of all joints, infinite where there is no limit."""
    limits[np.abs(limits) >= UNLIMITED] *= np.inf
    unbounded = [limit is ABSENT or kind not in _BOUNDED for limit, kind in zip(elements, kinds, strict=True)]
    limits[0, unbounded], limits[1, unbounded] = -np.inf, np.inf
    return limits


def _find_defaults(parts: Parts, kinds: list[str]) -> None:
    """Add findings about what movable joints leave out."""
    defaults = NUMBERS["limit"][1]
    for joint, kind, axis, limit in zip(
        parts.joints, kinds, parts.of_joints["axis"], parts.of_joints["limit"], strict=True
    ):
        if axis.get("xyz") is None and kind in AXIAL:
            what = "no <axis>" if axis is ABSENT else "<axis> has no xyz"
            parts.find("note", "default-axis", joint, f"{what}: it is (1, 0, 0), as URDF says")
        if joint.get("type") in OTHER_TYPES:
            parts.find("note", "joint-type", joint, f"joints of type '{joint.get('type')}' are not in URDF's standard")
        if kind not in _BOUNDED:
            continue
        if limit is ABSENT:
            parts.find("warning", "no-limits", joint, f"a {kind} joint without <limit>; it is not limited")
        elif not defaults.keys() <= {*limit.keys()}:
            missing = [(key, text) for key, text in defaults.items() if limit.get(key) is None]
            what = [f"no {key} ({'0' if text == '0' else 'unlimited'})" for key, text in missing]
            parts.find("note", "default-limit", limit, f"<limit> has {', '.join(what)}")


def _axes(parts: Parts, axes: np.ndarray) -> list[tuple[float, ...]]:
    """Return the axes of all joints, scaled to length 1 for the types of joints that use them."""
    size = np.hypot(np.hypot(axes[:, 0], axes[:, 1]), axes[:, 2])
    for k in np.flatnonzero(np.abs(size - 1) > 1e-6).tolist():
        element = parts.elements["axis"][k]
        if READ_TYPES.get(parts.joints[k].get("type")) not in AXIAL:
            size[k] = 1
        elif not 0 < size[k] < np.inf:
            raise parts.error(element, f"<axis> has length {size[k]:g}; it must be a direction")
        else:
            what = f"<axis> has length {size[k]:.6g}, not 1; its direction counts"
            parts.find("warning", "axis-not-unit", element, what)
    return list(map(tuple, (axes / size[:, None]).tolist()))


def _mimics(parts: Parts, factors: np.ndarray) -> dict[int, tuple[str, float, float]]:
    """Return {number of a joint that follows: (name of the joint that leads it, multiplier, offset)}."""
    which = parts.joints_with("mimic")
    names = {joint.get("name") for joint in parts.joints} if which else set()
    mimics = {}
    for k, element, row in zip(which, parts.elements["mimic"], factors.T.tolist(), strict=True):
        source = element.get("joint")
        if not source:
            raise parts.error(element, '<mimic> has no joint="..."')
        if parts.joints[k].get("type") == "fixed":
            parts.find("note", "fixed-mimic", element, "a fixed joint follows no other; its <mimic> was not read")
        elif source not in names:
            what = f"it mimics joint '{source}', which does not exist; it moves on its own"
            parts.find("error", "missing-mimic", element, what)
        else:
            mimics[k] = (source, *row)
    return mimics
