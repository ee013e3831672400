"""Writing MJCF: `to_mjcf` writes a robot for MuJoCo, which then has the same dynamics, and adds contact to them.

A body of MuJoCo may have several joints: with the joints 1 ... k it is at P B exp(S_1 q_1) ... exp(S_k q_k) in the
world, P being its parent and S_j screws in its own frame. So a massless body that carries nothing but one child becomes
one more joint of this child, and joints of several degrees of freedom can be written as slides and a turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ModelError
from ..lie import inertia as inertias
from ..lie import se3, so3
from .joints import FRAMES
from .needs import need_numbers, need_robot
from .parts import Body, Visual
from .robot import Robot
from .xml_writing import check_path, inexpressible, joined, one_number, text_for_xml, written

__all__ = ["to_mjcf"]

_LEAST = 1e-15  # MuJoCo's mjMINVAL: masses [kg] and moments [kg m²] of bodies that move are larger
_NOTHING = 1e-300  # what stands for 0 where MuJoCo wants more than 0
_DRAWN, _TOUCHED = "2", "3"  # groups of geoms: MuJoCo's viewer draws those below 3


def to_mjcf(robot: Robot, path: str | os.PathLike | None = None) -> str:
    """Return the robot as MJCF text, and write it to the file `path` if one is given: a model for MuJoCo.

        >>> text = to_mjcf(aj.robots.random_tree(0, 4, ["revolute", "prismatic"]))

    MuJoCo then has the same mass matrix, bias forces and accelerations (but for dry friction, which is a soft
    constraint there), and can do what this library does not: contact between all bodies. `load` reads the robot back.

    - Joints: revolute, prismatic, spherical and free ones are MuJoCo's hinge, slide, ball and free. Planar joints
      become two slides and a hinge, and free joints that are not on the base three slides and a ball. The q of a free
      joint on the base is its pose in the world there. MuJoCo numbers joints depth first, and its qvel of free joints
      has the velocity in world axes before the angular velocity in body axes.
    - Armature, damping, dry friction, limits, and effort limits of hinges and slides (`actuatorfrcrange`) are written.
      Velocity limits, and effort limits of balls and free joints, have no place in MJCF. Joints that follow others
      become an `equality`, which MuJoCo keeps softly.
    - Further frames become sites. A base with another name than "world" becomes a body without joints, and a body with
      this name, which is MuJoCo's own, becomes "world_".
    - Boxes, spheres, cylinders and capsules are written as geoms; meshes are left out.

    A `ModelError` names what MJCF cannot express: a helical joint, a spherical or free joint whose frame is not the
    body's (`robot.reframed("joint")` puts it there), numbers that differ between degrees of freedom that have one in
    MJCF, limits of a free joint; and what MuJoCo refuses: a body that moves without mass or moments of inertia, unless
    it only joins two joints, and moments that no body can have.
    """
    need_robot(robot, "to_mjcf")
    need_numbers(robot, "to_mjcf")
    check_path(path, "to_mjcf")
    root = etree.Element("mujoco", model=text_for_xml(robot.name, "robot"))
    etree.SubElement(root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
    etree.SubElement(root, "option", gravity=joined(robot.gravity))
    _Tree(robot, etree.SubElement(root, "worldbody")).write()
    _write_mimics(root, robot)
    return written(root, path)


class _Placed(NamedTuple):
    """Where a body, or what carries it, is written: its parent's element, its placement there, and joints before."""

    parent: etree._Element
    M: np.ndarray
    joints: list[tuple[Body, np.ndarray]]  # joints of massless bodies, with their screws S (nv, 6) in the body's frame


class _Tree:
    """The elements of the bodies of a robot, and the names that are taken."""

    def __init__(self, robot: Robot, world: etree._Element):
        self.robot, self.world = robot, world
        self.bodies, self.joints = {"world"}, set(robot.body_joint_names)
        self.frames = [robot.frame(name) for name in robot.frame_names[len(robot.body_names) + 1 :]]
        self.shapes: dict[int, list[Visual]] = {}
        for visual in robot.visuals:
            spot = robot.frame(visual.frame)
            moved = visual._replace(placement=spot.placement @ visual.placement)
            self.shapes.setdefault(spot.body, []).append(moved)

    def write(self) -> None:
        """Write all bodies, parents before children."""
        robot = self.robot
        elements, joined_on = {-1: self._base()}, {}  # {massless body: where its child will be}
        for i, body in enumerate(robot.bodies):
            if body.joint.type == "free" and body.parent < 0:
                at = _Placed(self.world, body.M, [])
            elif body.parent in joined_on:
                carrier = joined_on[body.parent]
                back = se3.Ad.eager(se3.inverse.eager(body.M)).T
                at = _Placed(carrier.parent, carrier.M @ body.M, [(b, S @ back) for b, S in carrier.joints])
            else:
                at = _Placed(elements[body.parent], body.M, [])
            own = (body, robot.screw(i))
            if self._only_joins(i):
                joined_on[i] = at._replace(joints=[*at.joints, own])
            else:
                elements[i] = self._body(body.name, i, body.inertia, at._replace(joints=[*at.joints, own]))

    def _base(self) -> etree._Element:
        """The element that carries the bodies on the base: the world, or a body without joints for a base of mass."""
        robot = self.robot
        if robot.base_name == "world" and not robot.base_inertia.any():
            self._write_on(self.world, -1)
            return self.world
        return self._body(robot.base_name, -1, robot.base_inertia, _Placed(self.world, np.eye(4), []))

    def _body(self, name: str, number: int, inertia: np.ndarray, at: _Placed) -> etree._Element:
        element = etree.SubElement(at.parent, "body", name=_unique(text_for_xml(name, "body"), self.bodies))
        _place(element, at.M)
        for body, screws in at.joints:
            for attributes in _joints(self.robot, body, screws):
                if attributes["name"] != body.joint.name:
                    attributes["name"] = _unique(attributes["name"], self.joints)
                etree.SubElement(element, "joint", attributes)
        if inertia.any() or at.joints:
            _write_inertia(element, name, inertia, moves=bool(at.joints))
        self._write_on(element, number)
        return element

    def _write_on(self, element: etree._Element, number: int) -> None:
        """Write the shapes and the further frames of a body."""
        for visual in self.shapes.get(number, ()):
            _write_shape(element, visual)
        for frame in self.frames:
            if frame.body == number:
                _place(etree.SubElement(element, "site", name=text_for_xml(frame.name, "frame")), frame.placement)

    def _only_joins(self, i: int) -> bool:
        """Whether a body has no mass and nothing but one child, of which it can become one more joint."""
        robot = self.robot
        children = np.flatnonzero(robot.parents == i)
        return (
            not robot.inertias[i].any()
            and len(robot.screw(i)) == 1
            and len(children) == 1
            and robot.joint_types[children[0]] != "free"
            and i not in self.shapes
            and all(frame.body != i for frame in self.frames)
        )


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _place(element: etree._Element, T: np.ndarray) -> None:
    """Write a placement as `pos` and `quat`, where they are not those of the identity."""
    if T[:3, 3].any():
        element.set("pos", joined(T[:3, 3]))
    if not np.array_equal(T[:3, :3], np.eye(3)):
        element.set("quat", joined(so3.to_quat_wxyz.eager(T[:3, :3])))


# --- joints -----------------------------------------------------------------------------------------------------------


def _joints(robot: Robot, body: Body, S: np.ndarray) -> Iterator[dict[str, str]]:
    """Yield the attributes of the joints that a body's joint becomes; S (nv, 6) are its screws in the body's frame."""
    joint, name = body.joint, text_for_xml(body.joint.name, "joint")
    q, v = joint.q.start, joint.v.start
    if len(S) == 1:
        yield _attributes(robot, body, name, *_simple(body, S[0]), [q], [v])
        return
    Q = FRAMES[joint.type](S)
    axes, origin = Q[:3, :3].T, joined(Q[:3, 3])
    if joint.type == "planar":  # q = (x, y, angle), v = (turn, x, y)
        for k, letter in enumerate("xy"):
            slides = [v + 1, v + 2]
            yield _attributes(robot, body, f"{name}.{letter}", "slide", {"axis": joined(axes[k])}, [q + k], slides)
        yield _attributes(robot, body, name, "hinge", {"axis": joined(axes[2]), "pos": origin}, [q + 2], [v])
        return
    if not np.allclose(Q[:3, :3], np.eye(3), rtol=0, atol=1e-12):
        raise inexpressible(body, 'its frame is not the body\'s; use robot.reframed("joint")')
    if joint.type == "free" and body.parent < 0:
        if np.abs(Q[:3, 3]).max() > 1e-12:
            raise inexpressible(body, 'its frame is not the body\'s; use robot.reframed("joint")')
        yield _attributes(robot, body, name, "free", {}, range(q, q + 3), range(v, v + 6))
        return
    if joint.type == "free":  # q = (x, y, z, quaternion), v = (turns, shifts)
        for k, letter in enumerate("xyz"):
            shifts = range(v + 3, v + 6)
            yield _attributes(robot, body, f"{name}.{letter}", "slide", {"axis": joined(axes[k])}, [q + k], shifts)
    yield _attributes(robot, body, name, "ball", {"pos": origin}, [], range(v, v + 3))


def _simple(body: Body, S: np.ndarray) -> tuple[str, dict[str, str]]:
    """Return MuJoCo's type of a joint with one degree of freedom and the screw S (6,), and its axis and place."""
    w, v = S[:3], S[3:]
    if not w.any():
        return "slide", {"axis": joined(v)}
    if abs(w @ v) > 1e-12 * max(1, np.linalg.norm(v)):
        raise inexpressible(body, "it moves along its axis as it turns; MJCF has no helical joints")
    return "hinge", {"axis": joined(w), "pos": joined(np.cross(w, v))}


def _attributes(robot: Robot, body: Body, name: str, kind: str, where: dict, q, v) -> dict[str, str]:
    """Return the attributes of a joint whose limits are at the places q, and whose losses are at the places v."""
    found = {"name": name, "type": kind} | where | _range(robot, body, kind, list(q))
    if body.joint.mimic is not None:  # its losses are its leader's
        return found
    for key, ours in (("armature", "armature"), ("damping", "damping"), ("frictionloss", "friction")):
        number = one_number(body, ours, getattr(robot, ours)[list(v)], "MJCF")
        if number != 0:
            found[key] = joined(number)
    if kind in ("hinge", "slide") and np.isfinite(robot.effort_limit[list(v)]).any():
        effort = max(one_number(body, "effort_limit", robot.effort_limit[list(v)], "MJCF"), _NOTHING)
        found |= {"actuatorfrclimited": "true", "actuatorfrcrange": joined([-effort, effort])}
    return found


def _range(robot: Robot, body: Body, kind: str, q: list[int]) -> dict[str, str]:
    """Return the attributes of limits, which are at the places q; a mimic has those that follow from its leader's."""
    ends = np.array([robot.lower[q], robot.upper[q]])
    if not np.isfinite(ends).any() or (body.joint.mimic is not None and body.joint.type == "continuous"):
        return {}
    if kind == "free":
        raise inexpressible(body, "MJCF has no limits of free joints; remove them")
    low, high = ends[:, 0]
    if low > high:
        raise inexpressible(body, f"its lower limit, {low:g}, is above its upper limit, {high:g}")
    if body.joint.mimic is not None:
        _, scale, offset = body.joint.mimic
        low, high = sorted([(scale * x if scale else 0.0) + offset for x in (low, high)])
    # MuJoCo wants ends that differ: a joint that cannot move can move by the smallest of numbers.
    return {"limited": "true", "range": joined([low, max(high, np.nextafter(low + _NOTHING, np.inf))])}


def _write_mimics(root: etree._Element, robot: Robot) -> None:
    """Write joints that follow others: q = offset + multiplier · q of the leader."""
    if not robot.mimics:
        return
    section = etree.SubElement(root, "equality")
    for i, (source, multiplier, offset) in sorted(robot.mimics.items()):
        names = {"joint1": robot.body_joint_names[i], "joint2": robot.body_joint_names[source]}
        etree.SubElement(section, "joint", names, polycoef=joined([offset, multiplier, 0, 0, 0]))


# --- what bodies consist of -------------------------------------------------------------------------------------------


def _write_inertia(element: etree._Element, name: str, inertia: np.ndarray, moves: bool) -> None:
    """Write mass, centre of mass, and principal moments with their axes, which MuJoCo keeps as they are."""
    mass = inertia[0]
    if moves and mass <= _LEAST:
        raise ModelError(f"body '{name}': it moves and has no mass; MuJoCo needs mass and moments of inertia")
    if mass <= 0 and inertia.any():
        raise ModelError(f"body '{name}': it has moments, but no mass; MuJoCo cannot have that")
    moments, axes = np.linalg.eigh(inertias.central.eager(inertia).inertia)
    axes = axes * np.linalg.det(axes)
    if moves and moments[0] <= _LEAST:
        raise ModelError(
            f"body '{name}': it moves, and its least moment of inertia is {moments[0]:.3g} kg m²; MuJoCo needs more "
            f"than {_LEAST:g}, so give it the moments of a small ball"
        )
    if moments[0] + moments[1] < moments[2] * (1 - 1e-12):
        shown = " + ".join(f"{x:.6g}" for x in moments[:2])
        raise ModelError(
            f"body '{name}': no body has its principal moments, {shown} < {moments[2]:.6g} kg m²; MuJoCo refuses them"
        )
    moments[2] = min(moments[2], moments[0] + moments[1])
    inertial = etree.SubElement(element, "inertial", pos=joined(inertia[1:4] / mass), mass=joined(mass))
    inertial.set("diaginertia", joined(moments))
    inertial.set("quat", joined(so3.to_quat_wxyz.eager(axes)))


def _write_shape(element: etree._Element, visual: Visual) -> None:
    """Write a geom, unless it is a mesh; MuJoCo's sizes are radii and half lengths."""
    if visual.shape == "mesh":
        return
    size = np.array(visual.size) / 2
    if visual.shape != "box":
        size[0] = visual.size[0]
    geom = etree.SubElement(element, "geom", type=visual.shape, size=joined(size))
    geom.set("group", _TOUCHED if visual.collision else _DRAWN)
    if not visual.collision:
        geom.attrib.update({"contype": "0", "conaffinity": "0"})
    if visual.color is not None:
        geom.set("rgba", joined(visual.color))
    _place(geom, visual.placement)
