"""Writing URDF: `to_urdf` writes bodies and frames as links, and `load` reads the same robot back."""

from __future__ import annotations

import os

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ModelError
from ..lie import inertia as inertias
from ..lie import so3
from .joints import standard_screws
from .needs import need_robot
from .parts import Body, Visual
from .robot import Robot
from .urdf_tags import NUMBERS, TYPES, UNLIMITED
from .xml_writing import check_path, inexpressible, joined, one_number, text_for_xml, written

__all__ = ["to_urdf"]


def to_urdf(robot: Robot, path: str | os.PathLike | None = None) -> str:
    """Return the robot as URDF text, and write it to the file `path` if one is given.

        to_urdf(robot, "robot.urdf")
        same = load("robot.urdf")               # the same robot, up to rounding

    Bodies become links, and frames become links behind fixed joints. A free base becomes the root link, and
    `load(path, base="free")` reads it back. Infinite limits are written as the largest number, and armature as an
    attribute of <dynamics>, which is no part of URDF's standard. Meshes are written by their paths; to read them back,
    give their folders: `load(path, package_dirs=[...])`. URDF has no gravity.

    A `ModelError` names a joint that URDF cannot express: a spherical or helical joint, an axis that misses the origin
    of its body (`robot.reframed("joint")` puts the origins on the axes), or a planar or free joint whose limits or
    losses differ between its degrees of freedom.
    """
    need_robot(robot, "to_urdf")
    check_path(path, "to_urdf")
    root = etree.Element("robot", name=text_for_xml(robot.name, "robot"))
    _write_links(root, robot)
    for body in robot.bodies[1 if _has_free_base(robot) else 0 :]:
        parent = robot.body_names[body.parent] if body.parent >= 0 else robot.base_name
        _write_joint(root, robot, body, parent)
    _write_frame_joints(root, robot)
    return written(root, path)


def _write_links(root: etree._Element, robot: Robot) -> None:
    """Write a link for the base, unless it is free, for each body, and for each further frame."""
    shapes: dict[str, list[Visual]] = {}
    for visual in robot.visuals:
        shapes.setdefault(visual.frame, []).append(visual)
    if not _has_free_base(robot):
        _write_link(root, robot.base_name, robot.base_inertia, shapes)
    for body in robot.bodies:
        _write_link(root, body.name, body.inertia, shapes)
    for frame in robot.frames:
        _write_link(root, frame.name, np.zeros(10), shapes)


def _write_frame_joints(root: etree._Element, robot: Robot) -> None:
    """Write the fixed joints that hold the links of the further frames."""
    taken = set(robot.body_joint_names)
    for frame in robot.frames:
        parent = robot.body_names[frame.body] if frame.body >= 0 else robot.base_name
        name = f"{frame.name}_fixed"
        while name in taken:
            name += "_"
        taken.add(name)
        _open_joint(root, name, "fixed", parent, frame.name, frame.placement)


def _has_free_base(robot: Robot) -> bool:
    """Return whether the robot is one that `load(..., base="free")` makes.

    Then only one body is joined to the base, by a free joint; base and joint have the names that `load` gives them, and
    the base has neither mass nor frames nor shapes.
    """
    return (
        robot.joint_types[:1] == ("free",)
        and (robot.base_name.rstrip("_"), robot.body_joint_names[0].rstrip("_")) == ("world", "root_joint")
        and np.array_equal(robot.placements[0], np.eye(4))
        and np.array_equal(robot.screw(0), np.eye(6))
        and np.count_nonzero(robot.parents == -1) == 1
        and not robot.base_inertia.any()
        and all(frame.body >= 0 for frame in robot.frames)
        and all(visual.frame != robot.base_name for visual in robot.visuals)
    )


def _write_origin(parent: etree._Element, placement: np.ndarray) -> None:
    if not np.array_equal(placement, np.eye(4)):
        rpy = so3.to_rpy.eager(placement[:3, :3])
        etree.SubElement(parent, "origin", xyz=joined(placement[:3, 3]), rpy=joined(rpy))


def _write_link(root: etree._Element, name: str, inertia: np.ndarray, shapes: dict[str, list[Visual]]) -> None:
    link = etree.SubElement(root, "link", name=text_for_xml(name, "link"))
    if inertia.any():
        com = np.eye(4)
        tensor = inertia[4:]
        if inertia[0] != 0:
            com[:3, 3] = inertia[1:4] / inertia[0]
            tensor = inertias.central.eager(inertia).inertia[np.triu_indices(3)]
        elif inertia[1:4].any():
            raise ModelError(f"link '{name}': it has moments of mass but no mass; URDF cannot say that")
        inertial = etree.SubElement(link, "inertial")
        _write_origin(inertial, com)
        etree.SubElement(inertial, "mass", value=joined(inertia[0]))
        moments = zip(NUMBERS["inertia"][1], tensor, strict=True)
        etree.SubElement(inertial, "inertia", {key: joined(x) for key, x in moments})
    for visual in shapes.get(name, ()):
        _write_shape(link, visual)


def _write_shape(link: etree._Element, visual: Visual) -> None:
    element = etree.SubElement(link, "collision" if visual.collision else "visual")
    _write_origin(element, visual.placement)
    shape = etree.SubElement(etree.SubElement(element, "geometry"), visual.shape)
    arity, attributes = NUMBERS[visual.shape]
    if visual.mesh is not None:
        shape.set("filename", text_for_xml(visual.mesh, f"link '{visual.frame}'"))
    for key, numbers in zip(attributes, np.reshape(visual.size, (-1, arity)), strict=True):
        if joined(numbers) != attributes[key]:
            shape.set(key, joined(numbers))
    if visual.color is not None:
        color = joined(visual.color)
        etree.SubElement(etree.SubElement(element, "material", name=color), "color", rgba=color)


def _open_joint(root, name: str, kind: str, parent: str, child: str, placement: np.ndarray) -> etree._Element:
    """Add a <joint> with what every type has, and return it."""
    joint = etree.SubElement(root, "joint", name=text_for_xml(name, "joint"), type=kind)
    _write_origin(joint, placement)
    etree.SubElement(joint, "parent", link=parent)
    etree.SubElement(joint, "child", link=child)
    return joint


def _write_joint(root: etree._Element, robot: Robot, body: Body, parent: str) -> None:
    kind, axis = _urdf_type(body)
    joint = _open_joint(root, body.joint.name, kind, parent, body.name, body.M)
    if axis is not None:
        etree.SubElement(joint, "axis", xyz=joined(axis))
    scale, offset = 1.0, 0.0
    if body.joint.mimic is not None:
        source, scale, offset = body.joint.mimic
        leader = robot.body_joint_names[source]
        etree.SubElement(joint, "mimic", joint=leader, multiplier=joined(scale), offset=joined(offset))
    q, v = body.joint.q, body.joint.v
    limits = {"effort": robot.effort_limit[v], "velocity": robot.velocity_limit[v]}
    if kind in ("revolute", "prismatic"):
        # A mimic gets the limits that follow from its leader's; `load` does not need them, but other readers may.
        ends = [robot.lower[q][0], robot.upper[q][0]]
        if body.joint.mimic is not None:
            ends = sorted([(scale * x if scale else 0.0) + offset for x in ends])
        limits = {"lower": ends[0], "upper": ends[1]} | limits
    elif body.joint.mimic is None and np.isfinite([robot.lower[q], robot.upper[q]]).any():
        raise inexpressible(body, f"URDF has no limits of {kind} joints; remove them")
    numbers = {key: one_number(body, key, value, "URDF") for key, value in limits.items()}
    etree.SubElement(joint, "limit", {key: joined(np.clip(x, -UNLIMITED, UNLIMITED)) for key, x in numbers.items()})
    dynamics = {key: one_number(body, key, getattr(robot, key)[v], "URDF") for key in NUMBERS["dynamics"][1]}
    # Other readers insist on damping or friction in every <dynamics>.
    given = {key: joined(value) for key, value in dynamics.items() if value != 0 or key == "damping"}
    if any(dynamics.values()) and body.joint.mimic is None:
        etree.SubElement(joint, "dynamics", given)


def _urdf_type(body: Body) -> tuple[str, np.ndarray | None]:
    """Return URDF's type of a body's joint, and the axis of the joint if it has one."""
    S, kind = body.joint.S.T, body.joint.type
    if kind == "free" and np.array_equal(S, np.eye(6)):
        return "floating", None
    if kind == "planar" and np.array_equal(S, standard_screws("planar", S[0, :3])):
        return "planar", S[0, :3]
    if kind in ("free", "planar"):
        raise inexpressible(body, 'its frame is not the body\'s; use robot.reframed("joint")')
    if len(S) != 1:
        raise inexpressible(body, f"URDF has no {kind} joints; there are {', '.join(TYPES)}")
    w, v = S[0, :3], S[0, 3:]
    if not w.any():
        return "prismatic", v
    if abs(w @ v) > 1e-12:
        raise inexpressible(body, "it moves along its axis as it turns; URDF has no helical joints")
    if np.abs(v).max() > 1e-12:
        raise inexpressible(body, 'its axis misses the origin of its body\'s frame; use robot.reframed("joint")')
    return ("continuous" if kind == "continuous" else "revolute"), w
