"""Reading URDF; `urdf_writer` writes it.

It collects the elements first and turns their numbers into arrays all at once. What URDF leaves out is filled in
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

from .build import AXIAL, Builder, JointSpec, LinkSpec, ModelError, moved_inertias
from .meshes import Meshes, OutsideError
from .model import GRAVITY, Finding, Robot, Visual, Where
from .xml import Document

__all__ = ["NUMBERS", "TYPES", "UNLIMITED", "read"]

TYPES = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "planar": "planar",
    "floating": "free", "fixed": "fixed",
}  # fmt: skip
UNLIMITED = sys.float_info.max  # URDF has no word for infinity; this is how it is written, and read

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
NUMBERS = {
    "origin": (3, {"xyz": "0 0 0", "rpy": "0 0 0"}),
    "mass": (1, {"value": None}),
    "inertia": (1, dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))),
    "axis": (3, {"xyz": "1 0 0"}),
    "limit": (1, {"lower": "0", "upper": "0", "velocity": repr(UNLIMITED), "effort": repr(UNLIMITED)}),
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
_NO_INERTIA = etree.Element("inertia", dict.fromkeys(NUMBERS["inertia"][1], "0"))


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
        self.elements: dict[str, list[etree._Element]] = {tag: [] for tag in NUMBERS}
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
    texts: dict[int, list] = {arity: [] for arity, _ in NUMBERS.values()}
    for tag, (arity, attributes) in NUMBERS.items():
        columns = attributes.items()
        texts[arity] += [element.get(key, default) for element in elements[tag] for key, default in columns]
    try:
        rows = {arity: _rows(group, arity) for arity, group in texts.items()}
    except ValueError:
        raise _refusal(document, elements) from None
    found, start = {}, dict.fromkeys(texts, 0)
    for tag, (arity, attributes) in NUMBERS.items():
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
    for tag, (arity, attributes) in NUMBERS.items():
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
    limits[np.abs(limits) >= UNLIMITED] *= np.inf
    rows = zip(parts.joints, placements, axes, limits.tolist(), numbers["dynamics"].tolist(), strict=True)
    for k, ((joint, found), placement, axis, limit, (damping, friction, armature)) in enumerate(rows):
        name = joint.get("name") or _nameless(parts.document, joint)
        kind = TYPES.get(joint.get("type"))
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
    if joint.get("type") not in TYPES:
        return f"its type is '{joint.get('type', '')}'; there are {', '.join(TYPES)}"
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
    defaults = NUMBERS["limit"][1]
    missing = defaults.keys() - found["limit"].keys()
    if missing:
        what = [f"no {key} ({'0' if text == '0' else 'unlimited'})" for key, text in defaults.items() if key in missing]
        parts.find("note", "default-limit", found["limit"], f"<limit> has {', '.join(what)}")


def _axes(parts: _Parts, axes: np.ndarray) -> list[tuple[float, ...]]:
    """The axes of all joints, of length 1 where they are of use."""
    size = np.hypot(np.hypot(axes[:, 0], axes[:, 1]), axes[:, 2])
    for k in np.flatnonzero(np.abs(size - 1) > 1e-6).tolist():
        element = parts.elements["axis"][k]
        if TYPES.get(parts.joints[k][0].get("type")) not in AXIAL:
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
                if any(float(x) < 0 for key in NUMBERS[tag][1] for x in element.get(key).split()):
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
