"""URDF, in and out.

Reading collects the elements first and turns their numbers into arrays all at once. What URDF leaves out is filled in
as its specification says, and every default that matters, every oddity, and every tag that is not URDF becomes a
`Finding` of the robot; what cannot be a robot is a `ModelError` with file and line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..lie import inertia as inertias
from ..lie import so3
from .build import AXIAL, Builder, JointSpec, LinkSpec, ModelError, moved_inertias
from .joints import standard_screws
from .meshes import Meshes, OutsideError
from .model import GRAVITY, Body, Finding, Robot, Visual, Where
from .xml import Document

__all__ = ["read", "to_urdf"]

_TYPES = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "planar": "planar",
    "floating": "free", "fixed": "fixed",
}  # fmt: skip
_UNLIMITED = sys.float_info.max  # URDF has no word for infinity; this is how it is written, and read

# The tags that are read, or known and of no use here, below each element.
_ROBOT_TAGS = {"link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control", "mujoco"}
_LINK_TAGS = {"inertial", "visual", "collision"}
_INERTIAL_TAGS = {"origin", "mass", "inertia"}
_SHAPE_TAGS = {"origin", "geometry", "material"}
_MATERIAL_TAGS = {"color", "texture"}
_JOINT_TAGS = {
    "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
}  # fmt: skip

# Tag -> (how many numbers an attribute has, the attributes that are numbers with their defaults; None: needed).
_NUMBERS = {
    "origin": (3, {"xyz": "0 0 0", "rpy": "0 0 0"}),
    "mass": (1, {"value": None}),
    "inertia": (1, dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))),
    "axis": (3, {"xyz": "1 0 0"}),
    "limit": (1, {"lower": "0", "upper": "0", "velocity": repr(_UNLIMITED), "effort": repr(_UNLIMITED)}),
    "dynamics": (1, {"damping": "0", "friction": "0", "armature": "0"}),  # armature: not URDF, this library's own
    "mimic": (1, {"multiplier": "1", "offset": "0"}),
    "mesh": (3, {"scale": "1 1 1"}),
    "box": (3, {"size": None}),
    "sphere": (1, {"radius": None}),
    "cylinder": (1, {"radius": None, "length": None}),
    "capsule": (1, {"radius": None, "length": None}),
    "color": (4, {"rgba": None}),
}
_SHAPES = ("mesh", "box", "sphere", "cylinder", "capsule")

# Elements that stand for those that are not there: all attributes have their defaults.
_ABSENT = etree.Element("absent")
_NO_INERTIA = etree.Element("inertia", dict.fromkeys(_NUMBERS["inertia"][1], "0"))


def read(
    document: Document,
    base: str = "fixed",
    package_dirs: Iterable[str | os.PathLike] = (),
    gravity: Sequence[float] = GRAVITY,
) -> Robot:
    """The robot of a URDF document; see `load`."""
    parts = _Parts(document)
    numbers = _numbers(document, parts.elements)
    builder = Builder(parts.name, base, gravity, findings=parts.findings)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):  # overflow is found when the robot is built
        placements = _placements(numbers["origin"])
        n, m = len(parts.joints), len(parts.joints) + len(parts.elements["mass"])
        _add_links(parts, builder, numbers, placements[n:m])
        _add_joints(parts, builder, numbers, placements[:n])
    _tell_negative(parts, numbers)
    _add_visuals(parts, builder, numbers, placements[m:], Meshes(document.file, package_dirs))
    return builder.build()


# --- the elements of a file -------------------------------------------------------------------------------------------


class _Shape(NamedTuple):
    """A <visual> or <collision>."""

    frame: str
    element: etree._Element
    tag: str
    material: etree._Element | None
    color: int | None  # number of the colour its own material defines
    collision: bool


class _Parts:
    """The elements of a file, sorted by what they say."""

    def __init__(self, document: Document):
        root = document.root
        if root.tag != "robot":
            raise ModelError(f"{document.where(root)}: the root is <{root.tag}>; a URDF has <robot>")
        self.document = document
        self.findings: list[Finding] = []
        self.links: list[tuple[str, Where, bool]] = []  # and whether it has an inertia
        self.joints: list[tuple[etree._Element, dict[str, etree._Element]]] = []  # and its children by tag
        self.shapes: list[_Shape] = []
        self.color_of: dict[str, int | None] = {"": None}  # name of a material -> number of its colour, if it has one
        self.elements: dict[str, list[etree._Element]] = {tag: [] for tag in _NUMBERS}
        self._materials: dict[str, int] = {}  # those of the whole file, likewise
        self._shape_origins: list[etree._Element] = []
        self._strange: dict[tuple[str, str], list] = {}  # (parent's tag, tag) -> [first element, how many]
        self.name = root.get("name") or self._unnamed(root)
        for part in root[:]:  # a slice is a list, made faster than an iterator runs
            tag = part.tag
            if tag == "link":
                self._add_link(part)
            elif tag == "joint":
                self.joints.append((part, self._children(part, _JOINT_TAGS)))
            elif tag == "material":
                self._add_material(part)
            elif tag not in _ROBOT_TAGS:
                self._unknown(root, part)
        if not self.links:
            raise ModelError(f"{document.where(root)}: robot '{self.name}' has no links")
        self._sort_joints()
        self._tell_strange()

    def find(self, level: str, code: str, element: etree._Element, message: str) -> None:
        """Note a finding about an element."""
        self.findings.append(Finding(level, code, _label(element), message, self.document.where(element)))

    def error(self, element: etree._Element, message: str) -> ModelError:
        """An error about an element."""
        return ModelError(f"{self.document.where(element)}: {_label(element)}: {message}")

    def _unnamed(self, root: etree._Element) -> str:
        self.find("warning", "no-name", root, "<robot> has no name; it is called 'robot'")
        return "robot"

    def _children(self, element: etree._Element, known: set[str]) -> dict[str, etree._Element]:
        """The children by tag, the first of each; the others and the unknown become findings."""
        children = element[:]
        found = {child.tag: child for child in children}
        if len(found) == len(children) and found.keys() <= known:
            return found
        found = {}
        for child in children:
            if child.tag not in known:
                self._unknown(element, child)
            elif child.tag in found:
                self.find("warning", "repeated-tag", child, f"a second <{child.tag}>; the first one counts")
            else:
                found[child.tag] = child
        return found

    def _unknown(self, parent: etree._Element, element: etree._Element) -> None:
        if element.prefix == "xacro":
            raise self.error(element, f"xacro must be expanded first: xacro {self.document.file} > robot.urdf")
        self._strange.setdefault((parent.tag, element.tag), [element, 0])[1] += 1

    def _tell_strange(self) -> None:
        for (parent, tag), (element, count) in self._strange.items():
            more = f", nor {count - 1} more like it" if count > 1 else ""
            self.find("warning", "unknown-tag", element, f"<{tag}> in <{parent}> is not URDF and was not read{more}")

    def _add_link(self, link: etree._Element) -> None:
        name = link.get("name") or _nameless(self.document, link)
        inertial = None
        for part in link[:]:
            tag = part.tag
            if tag in ("visual", "collision"):
                self._add_shape(name, part, tag == "collision")
            elif tag == "inertial" and inertial is None:
                inertial = part
            elif tag == "inertial":
                self.find("warning", "repeated-tag", part, "a second <inertial>; the first one counts")
            else:
                self._unknown(link, part)
        self.links.append((name, self.document.where(link), inertial is not None))
        if inertial is not None:
            self._add_inertial(inertial)

    def _add_inertial(self, inertial: etree._Element) -> None:
        found = self._children(inertial, _INERTIAL_TAGS)
        if "mass" not in found:
            raise self.error(inertial, "<inertial> has no <mass>")
        if "inertia" not in found:
            self.find("warning", "no-inertia", inertial, "<inertial> has no <inertia>; it is taken as a point mass")
        self.elements["origin"].append(found.get("origin", _ABSENT))
        self.elements["mass"].append(found["mass"])
        self.elements["inertia"].append(found.get("inertia", _NO_INERTIA))

    def _add_shape(self, frame: str, element: etree._Element, collision: bool) -> None:
        found = self._children(element, _SHAPE_TAGS)
        geometry = found.get("geometry", _ABSENT)[:]
        if not geometry:
            self.find("warning", "no-geometry", element, f"<{element.tag}> has no geometry and was not read")
            return
        shape, material = geometry[0], found.get("material")
        tag = shape.tag
        if tag not in _SHAPES:
            self.find("warning", "unknown-shape", shape, f"<{tag}> is no shape; there are {', '.join(_SHAPES)}")
            return
        self.elements[tag].append(shape)
        self._shape_origins.append(found.get("origin", _ABSENT))
        color = None if material is None else self._color(material)
        self.shapes.append(_Shape(frame, shape, tag, material, color, collision))

    def _add_material(self, material: etree._Element) -> None:
        """A material of the whole file: its name stands for it even in links before, and where links have another."""
        name, own = material.get("name", ""), self._color(material)
        if not name or own is None:
            return
        first = self._materials.setdefault(name, own)
        rgba, counts = (self.elements["color"][k].get("rgba") for k in (own, first))
        if rgba != counts:
            self.find("warning", "repeated-material", material, f'a second colour, "{rgba}"; "{counts}" counts')
        self.color_of[name] = first

    def _color(self, material: etree._Element) -> int | None:
        """The number of the colour a material defines, if it does; others may use it by the material's name."""
        found = self._children(material, _MATERIAL_TAGS)
        number = None
        if "color" in found:
            number = len(self.elements["color"])
            self.elements["color"].append(found["color"])
        if "texture" in found and material.get("name", "") not in self.color_of:  # told once
            self.find("note", "texture", material, "<texture> was not read; only colours are kept")
        if found:
            self.color_of.setdefault(material.get("name", ""), number)
        return number

    def _sort_joints(self) -> None:
        """Elements of joints: one for each, but for mimics. Origins: of joints, inertias, and shapes."""
        for tag in ("axis", "limit", "dynamics"):
            self.elements[tag] = [found.get(tag, _ABSENT) for _, found in self.joints]
        self.elements["mimic"] = [found["mimic"] for _, found in self.joints if "mimic" in found]
        joints = [found.get("origin", _ABSENT) for _, found in self.joints]
        self.elements["origin"] = joints + self.elements["origin"] + self._shape_origins


def _label(element: etree._Element) -> str:
    """The named thing an element belongs to, such as "link 'forearm'"."""
    while element.tag not in ("link", "joint", "material", "robot"):
        parent = element.getparent()
        if parent is None:
            break
        element = parent
    return f"{element.tag} '{element.get('name', '')}'"


def _nameless(document: Document, element: etree._Element):
    raise ModelError(f"{document.where(element)}: <{element.tag}> has no name")


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(document: Document, elements: dict[str, list[etree._Element]]) -> dict[str, np.ndarray]:
    """The numbers of all elements: tag -> (elements, numbers of its attributes side by side).

    Strict: finite decimal numbers, as many as they should be. Equal texts, of which there are many, are read once.
    """
    texts: dict[int, list] = {arity: [] for arity, _ in _NUMBERS.values()}
    for tag, (arity, attributes) in _NUMBERS.items():
        columns = attributes.items()
        texts[arity] += [element.get(key, default) for element in elements[tag] for key, default in columns]
    try:
        rows = {arity: _rows(group, arity) for arity, group in texts.items()}
    except ValueError:
        raise _refusal(document, elements) from None
    found, start = {}, dict.fromkeys(texts, 0)
    for tag, (arity, attributes) in _NUMBERS.items():
        end = start[arity] + len(elements[tag]) * len(attributes)
        found[tag] = rows[arity][start[arity] : end].reshape(len(elements[tag]), arity * len(attributes))
        start[arity] = end
    return found


def _rows(texts: list[str | None], arity: int) -> np.ndarray:
    """(n, arity) of n texts; `ValueError` if one of them is missing or not `arity` finite numbers."""
    row_of = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    if None in row_of:
        raise ValueError
    joined = " , ".join(row_of)  # type: ignore[arg-type]
    words = joined.split()
    if "_" in joined or not joined.isascii() or len(words) != max(len(row_of) * (arity + 1) - 1, 0):
        raise ValueError
    del words[arity :: arity + 1]  # the commas, if every text has its number of words; one that is left is no number
    rows = np.array(list(map(float, words))).reshape(-1, arity)
    if not np.isfinite(rows).all():
        raise ValueError
    return rows[[row_of[text] for text in texts]]


def _refusal(document: Document, elements: dict[str, list[etree._Element]]) -> ModelError:
    """The error for the first attribute that `_rows` cannot read."""
    for tag, (arity, attributes) in _NUMBERS.items():
        for element in elements[tag]:
            for key, default in attributes.items():
                text = element.get(key, default)
                try:
                    _rows([text], arity)
                except ValueError:
                    start = f"{document.where(element)}: {_label(element)}: <{element.tag}"
                    needs = f"it needs {'one finite number' if arity == 1 else f'{arity} finite numbers'}"
                    if text is None:
                        return ModelError(f"{start}> has no {key}: {needs}")
                    hint = "; xacro must be expanded first" if "${" in text else ""
                    shown = text if len(text) <= 60 else f"{text[:57]}..."
                    return ModelError(f'{start} {key}="{shown}">: {needs}{hint}')
    raise AssertionError("one of them cannot be read")


def _placements(origins: np.ndarray) -> np.ndarray:
    """T (n, 4, 4) of origins (n, 6) = (xyz, rpy): R = Rz(yaw) Ry(pitch) Rx(roll), as in `so3.from_rpy`."""
    (sx, sy, sz), (cx, cy, cz) = _sin_cos(origins[:, 3:].T)
    T = np.zeros((len(origins), 4, 4))
    T[:, 0, 0], T[:, 0, 1], T[:, 0, 2] = cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx
    T[:, 1, 0], T[:, 1, 1], T[:, 1, 2] = sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx
    T[:, 2, 0], T[:, 2, 1], T[:, 2, 2] = -sy, cy * sx, cy * cx
    T[:, :3, 3] = origins[:, :3]
    T[:, 3, 3] = 1
    return T + 0.0  # no -0


def _sin_cos(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine. An angle within 1e-11 of a multiple of π/2 is meant to be it, and gets exactly 0 and ±1.

    URDF prints angles with twelve digits; exact zeros fold away in compiled code, 1e-12 does not.
    """
    sine, cosine = np.sin(angles), np.cos(angles)
    exact = np.minimum(np.abs(sine), np.abs(cosine)) < 1e-11
    return np.where(exact, np.rint(sine), sine), np.where(exact, np.rint(cosine), cosine)


# --- into the builder -------------------------------------------------------------------------------------------------


def _add_links(parts: _Parts, builder: Builder, numbers: dict[str, np.ndarray], origins: np.ndarray) -> None:
    mass, tensor = numbers["mass"], numbers["inertia"]
    # The <inertia> is about the com, in the axes of the inertial <origin>, which sits at the com.
    central = np.concatenate([mass, np.zeros((len(mass), 3)), tensor], axis=1)
    inertia = iter(moved_inertias(origins, central))
    for name, where, heavy in parts.links:
        builder.add_link(LinkSpec(name, next(inertia) if heavy else None, where))


def _add_joints(parts: _Parts, builder: Builder, numbers: dict[str, np.ndarray], placements: np.ndarray) -> None:
    axes, mimics = _axes(parts, numbers["axis"]), _mimics(parts, numbers["mimic"])
    limits = numbers["limit"]
    limits[np.abs(limits) >= _UNLIMITED] *= np.inf
    rows = zip(parts.joints, placements, axes, limits.tolist(), numbers["dynamics"].tolist(), strict=True)
    for k, ((joint, found), placement, axis, limit, (damping, friction, armature)) in enumerate(rows):
        name = joint.get("name") or _nameless(parts.document, joint)
        kind = _TYPES.get(joint.get("type"))
        parent, child = found.get("parent", _ABSENT).get("link"), found.get("child", _ABSENT).get("link")
        where = parts.document.where(joint)
        if kind is None or not parent or not child:
            raise parts.error(joint, _incomplete(joint, parent))
        if kind == "fixed":
            builder.add_joint(JointSpec(name, kind, parent, child, placement, where=where))
            continue
        lower, upper, velocity, effort = limit
        if "limit" not in found or kind not in ("revolute", "prismatic"):
            lower, upper = -np.inf, np.inf
        builder.add_joint(
            JointSpec(
                name, kind, parent, child, placement, axis, mimic=mimics.get(k), lower=lower, upper=upper,
                velocity=velocity, effort=effort, damping=damping, friction=friction, armature=armature, where=where,
            )
        )  # fmt: skip
        _tell_defaults(parts, joint, found, kind)


def _incomplete(joint: etree._Element, parent: str | None) -> str:
    if joint.get("type") not in _TYPES:
        return f"its type is '{joint.get('type', '')}'; there are {', '.join(_TYPES)}"
    return f'it has no <{"child" if parent else "parent"} link="...">'


def _tell_defaults(parts: _Parts, joint: etree._Element, found: dict[str, etree._Element], kind: str) -> None:
    """Findings about what a movable joint leaves out."""
    if kind in AXIAL and "axis" not in found:
        parts.find("note", "default-axis", joint, "no <axis>: it is (1, 0, 0), as URDF says")
    if kind not in ("revolute", "prismatic"):
        return
    if "limit" not in found:
        parts.find("warning", "no-limits", joint, f"a {kind} joint without <limit>; it is not limited")
        return
    defaults = _NUMBERS["limit"][1]
    missing = defaults.keys() - found["limit"].keys()
    if missing:
        what = [f"no {key} ({'0' if text == '0' else 'unlimited'})" for key, text in defaults.items() if key in missing]
        parts.find("note", "default-limit", found["limit"], f"<limit> has {', '.join(what)}")


def _axes(parts: _Parts, axes: np.ndarray) -> list[tuple[float, ...]]:
    """The axes of all joints, of length 1 where they are of use."""
    size = np.hypot(np.hypot(axes[:, 0], axes[:, 1]), axes[:, 2])
    for k in np.flatnonzero(np.abs(size - 1) > 1e-6).tolist():
        element = parts.elements["axis"][k]
        if _TYPES.get(parts.joints[k][0].get("type")) not in AXIAL:
            size[k] = 1
        elif not 0 < size[k] < np.inf:
            raise parts.error(element, f"<axis> has length {size[k]:g}; it must be a direction")
        else:
            what = f"<axis> has length {size[k]:.6g}, not 1; its direction counts"
            parts.find("warning", "axis-not-unit", element, what)
    return list(map(tuple, (axes / size[:, None]).tolist()))


def _mimics(parts: _Parts, factors: np.ndarray) -> dict[int, tuple[str, float, float]]:
    """{number of the joint: (joint it follows, multiplier, offset)}."""
    which = [k for k, (_, found) in enumerate(parts.joints) if "mimic" in found]
    names = {joint.get("name") for joint, _ in parts.joints} if which else set()
    mimics = {}
    for k, element, row in zip(which, parts.elements["mimic"], factors.tolist(), strict=True):
        source = element.get("joint")
        if not source:
            raise parts.error(element, '<mimic> has no joint="..."')
        if parts.joints[k][0].get("type") == "fixed":
            parts.find("note", "fixed-mimic", element, "a fixed joint follows no other; its <mimic> was not read")
        elif source not in names:
            what = f"it mimics joint '{source}', which does not exist; it moves on its own"
            parts.find("error", "missing-mimic", element, what)
        else:
            mimics[k] = (source, *row)
    return mimics


def _tell_negative(parts: _Parts, numbers: dict[str, np.ndarray]) -> None:
    """Findings about shapes of negative size; a mesh may have a negative scale, which mirrors it."""
    for tag in _SHAPES:
        if tag != "mesh" and parts.elements[tag] and numbers[tag].min() < 0:
            for element in parts.elements[tag]:
                if any(float(x) < 0 for key in _NUMBERS[tag][1] for x in element.get(key).split()):
                    parts.find("warning", "negative-size", element, f"<{tag}> has a negative size")


def _add_visuals(
    parts: _Parts, builder: Builder, numbers: dict[str, np.ndarray], placements: np.ndarray, meshes: Meshes
) -> None:
    colors = list(map(tuple, numbers["color"].tolist()))
    sizes = {tag: map(tuple, numbers[tag].tolist()) for tag in _SHAPES}
    for (frame, element, tag, material, number, collision), placement in zip(parts.shapes, placements, strict=True):
        mesh = _mesh(parts, element, meshes) if tag == "mesh" else None
        if number is None and material is not None:
            number = _named_color(parts, material)
        color = None if number is None else colors[number]
        builder.visuals.append(Visual(frame, placement, tag, next(sizes[tag]), mesh, color, collision))


def _mesh(parts: _Parts, element: etree._Element, meshes: Meshes) -> str:
    uri = element.get("filename")
    if not uri:
        raise parts.error(element, "<mesh> has no filename")
    try:
        path, fault = meshes.find(uri)
    except OutsideError as error:
        raise parts.error(element, f"mesh '{uri}' {error}") from None
    if fault:
        parts.find("warning", "mesh-missing", element, f"mesh '{uri}' {fault}")
    return path


def _named_color(parts: _Parts, material: etree._Element) -> int | None:
    name = material.get("name", "")
    if name not in parts.color_of:
        parts.find("note", "unknown-material", material, f"the file defines no material '{name}'")
        parts.color_of[name] = None  # told once
    return parts.color_of[name]


# --- out --------------------------------------------------------------------------------------------------------------


def to_urdf(robot: Robot, path: str | os.PathLike | None = None) -> str:
    """The robot as URDF text, written to `path` if one is given. `load` gives the same robot back, to rounding.

    Bodies and frames become links, frames behind fixed joints; a free base is the root link, to be read with
    base="free". Infinite limits are written as the largest number, armature as an attribute of <dynamics>; meshes by
    their paths: to read them back, `load(path, package_dirs=[...])` with the folders they are in. Gravity is not a
    part of URDF.

    `ModelError` for joints URDF cannot say: spherical, helical, axes beside the body's origin (`reframed("joint")` puts
    the origins on them), planar or free joints with numbers that differ between their degrees of freedom.
    """
    root = etree.Element("robot", name=_text(robot.name, "robot"))
    shapes: dict[str, list[Visual]] = {}
    for visual in robot.visuals:
        shapes.setdefault(visual.frame, []).append(visual)
    free = _has_free_base(robot)
    if not free:
        _write_link(root, robot.base_name, robot.base_inertia, shapes)
    for body in robot.bodies:
        _write_link(root, body.name, body.inertia, shapes)
    for frame in robot.frames:
        _write_link(root, frame.name, np.zeros(10), shapes)
    for body in robot.bodies[1 if free else 0 :]:
        parent = robot.body_names[body.parent] if body.parent >= 0 else robot.base_name
        _write_joint(root, robot, body, parent)
    taken = set(robot.body_joint_names)
    for frame in robot.frames:
        parent = robot.body_names[frame.body] if frame.body >= 0 else robot.base_name
        name = f"{frame.name}_fixed"
        while name in taken:
            name += "_"
        taken.add(name)
        _open_joint(root, name, "fixed", parent, frame.name, frame.placement)
    etree.indent(root)
    text = etree.tostring(root, encoding="unicode") + "\n"
    if path is not None:
        try:
            with open(os.path.expanduser(path), "w", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise ModelError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from None
    return text


def _has_free_base(robot: Robot) -> bool:
    """Whether all hangs on one body with a free joint to an empty base, both named as base="free" names them."""
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


def _text(text: str, label: str) -> str:
    """A text that XML can hold."""
    try:
        etree.Element("x", name=text)
    except ValueError:
        raise ModelError(f"{label}: the name {text!r} has characters XML cannot hold") from None
    return text


def _join(numbers) -> str:
    """Numbers with all their digits."""
    return " ".join([repr(float(x) + 0.0).removesuffix(".0") for x in np.ravel(numbers)])


def _write_origin(parent: etree._Element, placement: np.ndarray) -> None:
    if not np.array_equal(placement, np.eye(4)):
        rpy = so3.to_rpy.eager(placement[:3, :3])
        etree.SubElement(parent, "origin", xyz=_join(placement[:3, 3]), rpy=_join(rpy))


def _write_link(root: etree._Element, name: str, inertia: np.ndarray, shapes: dict[str, list[Visual]]) -> None:
    link = etree.SubElement(root, "link", name=_text(name, "link"))
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
        etree.SubElement(inertial, "mass", value=_join(inertia[0]))
        moments = zip(_NUMBERS["inertia"][1], tensor, strict=True)
        etree.SubElement(inertial, "inertia", {key: _join(x) for key, x in moments})
    for visual in shapes.get(name, ()):
        _write_shape(link, visual)


def _write_shape(link: etree._Element, visual: Visual) -> None:
    element = etree.SubElement(link, "collision" if visual.collision else "visual")
    _write_origin(element, visual.placement)
    shape = etree.SubElement(etree.SubElement(element, "geometry"), visual.shape)
    arity, attributes = _NUMBERS[visual.shape]
    if visual.mesh is not None:
        shape.set("filename", _text(visual.mesh, f"link '{visual.frame}'"))
    for key, numbers in zip(attributes, np.reshape(visual.size, (-1, arity)), strict=True):
        if _join(numbers) != attributes[key]:
            shape.set(key, _join(numbers))
    if visual.color is not None:
        color = _join(visual.color)
        etree.SubElement(etree.SubElement(element, "material", name=color), "color", rgba=color)


def _open_joint(root, name: str, kind: str, parent: str, child: str, placement: np.ndarray) -> etree._Element:
    joint = etree.SubElement(root, "joint", name=_text(name, "joint"), type=kind)
    _write_origin(joint, placement)
    etree.SubElement(joint, "parent", link=parent)
    etree.SubElement(joint, "child", link=child)
    return joint


def _write_joint(root: etree._Element, robot: Robot, body: Body, parent: str) -> None:
    kind, axis = _said(body)
    joint = _open_joint(root, body.joint.name, kind, parent, body.name, body.M)
    if axis is not None:
        etree.SubElement(joint, "axis", xyz=_join(axis))
    scale, offset = 1.0, 0.0
    if body.joint.mimic is not None:
        source, scale, offset = body.joint.mimic
        leader = robot.body_joint_names[source]
        etree.SubElement(joint, "mimic", joint=leader, multiplier=_join(scale), offset=_join(offset))
    q, v = body.joint.q, body.joint.v
    limits = {"effort": robot.effort_limit[v], "velocity": robot.velocity_limit[v]}
    if kind in ("revolute", "prismatic"):
        # A mimic has the limits its leader gives it; `load` does not need them, other readers may.
        ends = [robot.lower[q][0], robot.upper[q][0]]
        if body.joint.mimic is not None:
            ends = sorted([(scale * x if scale else 0.0) + offset for x in ends])
        limits = {"lower": ends[0], "upper": ends[1]} | limits
    elif body.joint.mimic is None and np.isfinite([robot.lower[q], robot.upper[q]]).any():
        raise _unsayable(body, f"URDF has no limits of {kind} joints; remove them")
    numbers = {key: _one(body, key, value) for key, value in limits.items()}
    etree.SubElement(joint, "limit", {key: _join(np.clip(x, -_UNLIMITED, _UNLIMITED)) for key, x in numbers.items()})
    dynamics = {key: _one(body, key, getattr(robot, key)[v]) for key in _NUMBERS["dynamics"][1]}
    # Other readers insist on damping or friction where there is a <dynamics>.
    given = {key: _join(value) for key, value in dynamics.items() if value != 0 or key == "damping"}
    if any(dynamics.values()) and body.joint.mimic is None:
        etree.SubElement(joint, "dynamics", given)


def _one(body: Body, key: str, values) -> float:
    """The one number URDF has for all degrees of freedom of a joint."""
    if np.ptp(np.nan_to_num(values)) != 0:
        raise _unsayable(body, f"its {key} differs between its degrees of freedom; URDF has one number")
    return float(np.ravel(values)[0])


def _unsayable(body: Body, why: str) -> ModelError:
    return ModelError(f"joint '{body.joint.name}' ({body.joint.type}): {why}")


def _said(body: Body) -> tuple[str, np.ndarray | None]:
    """URDF's type of a joint, and its axis."""
    S, kind = body.joint.S.T, body.joint.type
    if kind == "free" and np.array_equal(S, np.eye(6)):
        return "floating", None
    if kind == "planar" and np.array_equal(S, standard_screws("planar", S[0, :3])):
        return "planar", S[0, :3]
    if kind in ("free", "planar"):
        raise _unsayable(body, 'its frame is not the body\'s; use robot.reframed("joint")')
    if len(S) != 1:
        raise _unsayable(body, f"URDF has no {kind} joints; there are {', '.join(_TYPES)}")
    w, v = S[0, :3], S[0, 3:]
    if not w.any():
        return "prismatic", v
    if abs(w @ v) > 1e-12:
        raise _unsayable(body, "it moves along its axis as it turns; URDF has no helical joints")
    if np.abs(v).max() > 1e-12:
        raise _unsayable(body, 'its axis misses the origin of its body\'s frame; use robot.reframed("joint")')
    return ("continuous" if kind == "continuous" else "revolute"), w
