"""Reading URDF; `urdf_writer` writes it.

It sorts the elements into columns first, those of one tag in each, and turns their numbers into arrays all at once.
What URDF leaves out is filled in as its specification says, and every default that matters, every oddity, and every
tag that is not URDF becomes a `Finding` of the robot; what cannot be a robot is a `ModelError` with file and line. Some
tags that other readers of URDF have added are read too: Drake's <frame> and its link "world", which is there without
being said, and joints of type spherical or ball.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ModelError
from .builder import AXIAL
from .meshes import Meshes, Place
from .parts import GRAVITY, Finding, JointSpec, LinkSpec, Visual
from .robot import Builder, Robot
from .whole_arrays import moved_inertias
from .xml_files import Document

__all__ = ["NUMBERS", "TYPES", "UNLIMITED", "read"]

TYPES = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "planar": "planar",
    "floating": "free", "fixed": "fixed",
}  # fmt: skip
_OTHER_TYPES = {"spherical": "spherical", "ball": "spherical"}  # of PyBullet, Drake and others
_READ_TYPES = TYPES | _OTHER_TYPES
UNLIMITED = sys.float_info.max  # URDF has no word for infinity; this is how it is written, and read

# The tags that are read, or known and of no use here, below each element.
_ROBOT_TAGS = {"link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control", "mujoco"}
_LINK_TAGS = {"contact"}  # PyBullet's friction and stiffness of contacts
_INERTIAL_TAGS = ("origin", "mass", "inertia")
_SHAPE_TAGS = ("origin", "geometry", "material")
_MATERIAL_TAGS = ("color", "texture")
_JOINT_TAGS = (
    "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
)  # fmt: skip

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
    "frame": (3, {"xyz": "0 0 0", "rpy": "0 0 0"}),  # Drake's
}
_OTHER_ATTRIBUTES = {"mesh": ["filename"], "mimic": ["joint"], "frame": ["name", "link"]}  # texts, not numbers
_ATTRIBUTES = {tag: {*numbers, *_OTHER_ATTRIBUTES.get(tag, ())} for tag, (_, numbers) in NUMBERS.items()}
_SHAPES = ("mesh", "box", "sphere", "cylinder", "capsule")

# Elements that stand for those that are not there: all attributes have their defaults.
_ABSENT = etree.Element("absent")
_NO_INERTIA = etree.Element("inertia", dict.fromkeys(NUMBERS["inertia"][1], "0"))

Column = list[etree._Element]
_get = etree._Element.get


def read(
    document: Document,
    base: str = "fixed",
    package_dirs: Iterable[str | os.PathLike] = (),
    gravity: Sequence[float] = GRAVITY,
) -> Robot:
    """The robot of a URDF document; see `load`."""
    try:
        return _read(document, base, package_dirs, gravity)
    except ModelError as error:
        left = _left_by_xacro(document)
        if left is None:
            raise
        how = "" if document.is_text else f": xacro {document.file} > robot.urdf"
        raise ModelError(f"{error}; {left}: xacro must be expanded first{how}") from None


def _left_by_xacro(document: Document) -> str | None:
    """The first element that xacro would have replaced, for a message; None if there is none."""
    for element in document.root.iter():
        if _is_xacro(element):
            return f"{document.where(element)}: <{_tag(element)}> is left"
        for text in element.attrib.values():
            if _has_expression(text):
                shown = text if len(text) <= 60 else f"{text[:57]}..."
                return f'{document.where(element)}: the expression "{shown}" is left'
    return None


def _has_expression(text: str) -> bool:
    return "${" in text or "$(" in text


def _is_xacro(element: etree._Element) -> bool:
    return element.prefix == "xacro" or element.tag.startswith("xacro:")


def _tag(element: etree._Element) -> str:
    """The tag as it is in the file."""
    name = etree.QName(element).localname if element.tag.startswith("{") else element.tag
    return f"{element.prefix}:{name}" if element.prefix else name


def _read(document: Document, base: str, package_dirs, gravity) -> Robot:
    parts = _Parts(document)
    try:
        numbers = _numbers(document, parts.elements)
    except ModelError:
        if not parts.mend_scales():
            raise
        numbers = _numbers(document, parts.elements)
    builder = Builder(parts.name, base, gravity, findings=parts.findings)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):  # overflow is found when the robot is built
        placements = _placements(*numbers["origin"])
        n, m = len(parts.joints), len(parts.joints) + len(parts.elements["mass"])
        _add_links(parts, builder, numbers, placements[n:m])
        _add_joints(parts, builder, numbers, placements[:n])
    _tell_negative(parts, numbers)
    _tell_degrees(parts, numbers)
    if parts.elements["frame"]:
        _add_frames(parts, builder, _placements(*numbers["frame"]))
    meshes = Meshes(None if document.is_text else document.file, package_dirs)
    _add_visuals(parts, builder, numbers, placements[m:], meshes)
    return builder.build()


# --- the elements of a file -------------------------------------------------------------------------------------------


class _Parts:
    """The elements of a file, in columns of those that say the same."""

    def __init__(self, document: Document):
        root = document.root
        if root.tag != "robot":
            raise ModelError(f"{document.where(root)}: the root is <{root.tag}>; a URDF has <robot>")
        self.document = document
        self.findings: list[Finding] = list(document.findings)
        self.mesh_faults: dict[etree._Element, str] = {}
        self.notes_told: set[str] = set()
        self._strange: dict[tuple[str, str], list] = {}  # (parent's tag, tag) -> [first element, how many]
        self.name = root.get("name") or self._unnamed(root)
        columns: dict[str, Column] = {"link": [], "joint": [], "material": [], "frame": [], "loop_joint": []}
        for part in root[:]:  # a slice is a list, made faster than an iterator runs
            if part.tag in columns:
                columns[part.tag].append(part)
            elif part.tag not in _ROBOT_TAGS:
                self._unknown(root, part)
        if not columns["link"]:
            raise ModelError(f"{document.where(root)}: robot '{self.name}' has no links")
        self.links, self.joints = columns["link"], columns["joint"]
        self.of_joints = self._columns(self.joints, _JOINT_TAGS)
        self.elements: dict[str, Column] = {tag: [] for tag in NUMBERS}  # those that have numbers
        self._sort_links()
        self._sort_materials(columns["material"])
        self._sort_joints()
        self._sort_frames(columns["frame"])
        for element in columns["loop_joint"]:
            self.find("warning", "loop-joint", element, "<loop_joint> closes a loop, which stays open: it was not read")
        self._tell_expressions()
        self._tell_attributes()
        self.findings.sort(key=lambda finding: finding.where.line)  # type: ignore[union-attr]
        self._tell_strange()

    def find(self, level: str, code: str, element: etree._Element, message: str) -> None:
        """Note a finding about an element."""
        self.findings.append(Finding(level, code, _label(element), message, self.document.where(element)))

    def error(self, element: etree._Element, message: str) -> ModelError:
        """An error about an element."""
        return ModelError(f"{self.document.where(element)}: {_label(element)}: {message}")

    def nameless(self, element: etree._Element) -> ModelError:
        """The error about a link or a joint without a name."""
        return ModelError(f"{self.document.where(element)}: <{element.tag}> has no name")

    def joints_with(self, tag: str) -> list[int]:
        """The numbers of the joints that have an element of this tag."""
        return [k for k, element in enumerate(self.of_joints[tag]) if element is not _ABSENT]

    def _unnamed(self, root: etree._Element) -> str:
        self.find("warning", "no-name", root, "<robot> has no name; it is called 'robot'")
        return "robot"

    def _columns(self, elements: Column, tags: Sequence[str]) -> dict[str, Column]:
        """tag -> the children of this tag, the first of each element, `_ABSENT` if it has none; others are told."""
        columns = {tag: [_ABSENT] * len(elements) for tag in tags}
        for k, element in enumerate(elements):
            for child in element[:]:
                column = columns.get(child.tag)
                if column is None:
                    self._unknown(element, child)
                elif column[k] is _ABSENT:
                    column[k] = child
                else:
                    self.find("warning", "repeated-tag", child, f"a second <{child.tag}>; the first one counts")
        return columns

    def _unknown(self, parent: etree._Element, element: etree._Element) -> None:
        self._strange.setdefault((parent.tag, element.tag), [element, 0])[1] += 1

    def _tell_strange(self) -> None:
        for (parent, tag), (element, count) in sorted(self._strange.items(), key=lambda item: item[1][0].sourceline):
            more = f", nor {count - 1} more like it" if count > 1 else ""
            if _is_xacro(element):
                what = f"<{_tag(element)}> in <{parent}> was left by xacro, and was not read{more}"
                self.find("warning", "xacro", element, what)
            else:
                what = f"<{tag}> in <{parent}> is not URDF and was not read{more}"
                self.find("warning", "unknown-tag", element, what)

    def _tell_expressions(self) -> None:
        """Tell once of names that xacro would have filled in."""
        if "$" not in "".join(filter(None, (*self.link_names, *map(_get, self.joints, repeat("name"))))):
            return
        named = [element for element in (*self.links, *self.joints) if _has_expression(element.get("name", ""))]
        for element in named[:1]:
            self.find("warning", "xacro", element, "the name has an expression that xacro would have expanded")

    def _tell_attributes(self) -> None:
        """Tell once of each kind of attribute that is not read; one like another that is missing may be misspelt."""
        strange: dict[tuple[str, str], list] = {}
        for tag, column in self.elements.items():
            known = _ATTRIBUTES[tag]
            for element in column:
                keys = element.keys()
                others = [key for key in keys if key not in known]
                missing = known.difference(keys) if others else ()  # once: an element may have any number of others
                for key in others:
                    strange.setdefault((tag, key), [element, 0, missing])[1] += 1
        for (tag, key), (element, count, missing) in strange.items():
            more = f", nor {count - 1} more like it" if count > 1 else ""
            what = f"{key}=... in <{tag}> is not URDF and was not read{more}"
            meant = difflib.get_close_matches(key, missing, 1, 0.6)
            level, hint = ("warning", f"; did you mean {meant[0]}=...?") if meant else ("note", "")
            self.find(level, "unknown-attribute", element, what + hint)

    def _sort_links(self) -> None:
        """The inertial of each link, and the shapes of all."""
        self.link_names = list(map(_get, self.links, repeat("name")))
        self.inertials: list[etree._Element | None] = [None] * len(self.links)
        shapes, frames = [], []
        for k, link in enumerate(self.links):
            if not self.link_names[k]:
                raise self.nameless(link)
            for part in link[:]:
                tag = part.tag
                if tag == "visual" or tag == "collision":
                    shapes.append(part)
                    frames.append(self.link_names[k])
                elif tag != "inertial":
                    if tag not in _LINK_TAGS:
                        self._unknown(link, part)
                elif self.inertials[k] is None:
                    self.inertials[k] = part
                else:
                    self.find("warning", "repeated-tag", part, "a second <inertial>; the first one counts")
        self._sort_inertials()
        self._sort_shapes(shapes, frames)

    def _sort_inertials(self) -> None:
        inertials = [inertial for inertial in self.inertials if inertial is not None]
        found = self._columns(inertials, _INERTIAL_TAGS)
        if _ABSENT in found["mass"]:
            bad = {inertial for inertial, mass in zip(inertials, found["mass"], strict=True) if mass is _ABSENT}
            for inertial in bad:
                self.find("error", "no-mass", inertial, "<inertial> has no <mass>: the link has no inertia")
            found = {
                tag: [x for x, inertial in zip(column, inertials, strict=True) if inertial not in bad]
                for tag, column in found.items()
            }
            self.inertials = [None if inertial in bad else inertial for inertial in self.inertials]
            inertials = [inertial for inertial in inertials if inertial not in bad]
        for k, inertial in enumerate(inertials):
            if found["inertia"][k] is _ABSENT:
                self.find("warning", "no-inertia", inertial, "<inertial> has no <inertia>; it is taken as a point mass")
                found["inertia"][k] = _NO_INERTIA
        self.elements |= found

    def _sort_shapes(self, elements: Column, frames: list[str]) -> None:
        self.shapes: list[tuple[str, str, bool, etree._Element]] = []  # frame, tag, whether to collide, material
        found = self._columns(elements, _SHAPE_TAGS)
        for frame, element, origin, geometry, material in zip(frames, elements, *found.values(), strict=True):
            if not len(geometry):
                self.find("warning", "no-geometry", element, f"<{element.tag}> has no geometry and was not read")
                continue
            shape = geometry[0]
            tag = shape.tag
            if tag not in _SHAPES:
                self.find("warning", "unknown-shape", shape, f"<{tag}> is no shape; there are {', '.join(_SHAPES)}")
                continue
            self.elements[tag].append(shape)
            self.elements["origin"].append(origin)
            self.shapes.append((frame, tag, element.tag == "collision", material))

    def _sort_materials(self, materials: Column) -> None:
        """Colours by the names of materials: those of the whole file count before those of links, the first of each."""
        self.color_of: dict[str, int | None] = {"": None}  # name of a material -> number of its colour, if it has one
        of_file: dict[str, int] = {}
        for material, own in zip(materials, self._colors(materials), strict=True):
            name = material.get("name", "")
            if not name or own is None:
                continue
            first = of_file.setdefault(name, own)
            rgba, counts = (self.elements["color"][k].get("rgba") for k in (own, first))
            if rgba != counts:
                self.find("warning", "repeated-material", material, f'a second colour, "{rgba}"; "{counts}" counts')
            self.color_of[name] = first
        self.colors = self._colors([material for *_, material in self.shapes])

    def _colors(self, materials: Column) -> list[int | None]:
        """The number of the colour each material defines, if it does; others may use it by the material's name."""
        numbers: list[int | None] = [None] * len(materials)
        found = self._columns(materials, _MATERIAL_TAGS)
        for k, (color, texture) in enumerate(zip(*found.values(), strict=True)):
            if color is texture:  # both are absent
                continue
            name = materials[k].get("name", "")
            if color is not _ABSENT:
                numbers[k] = len(self.elements["color"])
                self.elements["color"].append(color)
            if texture is not _ABSENT and name not in self.color_of:  # told once
                self.find("note", "texture", materials[k], "<texture> was not read; only colours are kept")
            self.color_of.setdefault(name, numbers[k])
        return numbers

    def _sort_joints(self) -> None:
        """Elements of joints: one for each, but few have dynamics or mimics. Origins: of joints, inertias, shapes."""
        for tag in ("axis", "limit"):
            self.elements[tag] = self.of_joints[tag]
        for tag in ("dynamics", "mimic"):
            self.elements[tag] = [element for element in self.of_joints[tag] if element is not _ABSENT]
        self.elements["origin"] = self.of_joints["origin"] + self.elements["origin"]

    def _sort_frames(self, frames: Column) -> None:
        """Those of Drake: a name, a link, and where they are in it."""
        links = set(self.link_names)
        taken = set(links)
        for element in frames:
            name, link = element.get("name"), element.get("link")
            if not name or link not in links or name in taken:
                why = "needs a name" if not name else f"names link '{link or ''}', which does not exist"
                why = f"has the name '{name}' of another frame" if name in taken else why
                self.find("warning", "frame", element, f"<frame> {why}; it was not read")
            else:
                taken.add(name)
                self.elements["frame"].append(element)

    def mend_scales(self) -> bool:
        """Give meshes of a scale that is none the scale 1, and note that they are not to be opened; whether any was."""
        for element in self.elements["mesh"]:
            scale = element.get("scale")
            if scale is not None and not _is_row(scale, 3):
                shown = scale if len(scale) <= 60 else f"{scale[:57]}..."
                self.mesh_faults[element] = f'has the scale "{shown}", which is not three finite numbers'
                element.set("scale", "1 1 1")
        return bool(self.mesh_faults)


def _label(element: etree._Element) -> str:
    """The named thing an element belongs to, such as "link 'forearm'"."""
    while element.tag not in ("link", "joint", "material", "robot"):
        parent = element.getparent()
        if parent is None:
            break
        element = parent
    return f"{element.tag} '{element.get('name', '')}'"


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(document: Document, elements: dict[str, Column]) -> dict[str, np.ndarray]:
    """The numbers of all elements: tag -> (attributes, elements, numbers of one attribute).

    Strict: finite decimal numbers, as many as they should be.
    """
    texts: dict[int, list] = {arity: [] for arity, _ in NUMBERS.values()}
    for tag, (arity, attributes) in NUMBERS.items():
        for key, default in attributes.items():
            texts[arity] += map(_get, elements[tag], repeat(key), repeat(default))
    try:
        rows = {arity: _rows(group, arity) for arity, group in texts.items()}
    except ValueError:
        raise _refusal(document, elements) from None
    found, start = {}, dict.fromkeys(texts, 0)
    for tag, (arity, attributes) in NUMBERS.items():
        end = start[arity] + len(attributes) * len(elements[tag])
        found[tag] = rows[arity][start[arity] : end].reshape(len(attributes), len(elements[tag]), arity)
        start[arity] = end
    return found


def _rows(texts: list, arity: int) -> np.ndarray:
    """(n, arity) of n texts; `ValueError` if one of them is missing or not `arity` finite numbers."""
    if None in texts:
        raise ValueError
    joined = " , ".join(texts)
    if "_" in joined or not joined.isascii():  # `float` would read them
        raise ValueError
    words = texts
    if arity > 1:
        words = joined.split()
        if len(words) != max(len(texts) * (arity + 1) - 1, 0):
            raise ValueError
        del words[arity :: arity + 1]  # the commas, if every text has `arity` words; one that is left is no number
    rows = np.fromiter(map(float, words), float, len(words)).reshape(-1, arity)
    if not np.isfinite(rows).all():
        raise ValueError
    return rows


def _is_row(text: str, arity: int) -> bool:
    try:
        return len(_rows([text], arity)) == 1
    except ValueError:
        return False


def _refusal(document: Document, elements: dict[str, Column]) -> ModelError:
    """The error for the first attribute that `_rows` cannot read."""
    for tag, (arity, attributes) in NUMBERS.items():
        for element in elements[tag]:
            for key, default in attributes.items():
                text = element.get(key, default)
                if text is None or not _is_row(text, arity):
                    start = f"{document.where(element)}: {_label(element)}: <{element.tag}"
                    needs = f"it needs {'one finite number' if arity == 1 else f'{arity} finite numbers'}"
                    if text is None:
                        return ModelError(f"{start}> has no {key}: {needs}")
                    shown = text if len(text) <= 60 else f"{text[:57]}..."
                    return ModelError(f'{start} {key}="{shown}">: {needs}')
    raise AssertionError("one of them cannot be read")


def _placements(xyz: np.ndarray, rpy: np.ndarray) -> np.ndarray:
    """T (n, 4, 4) of origins: R = Rz(yaw) Ry(pitch) Rx(roll), as in `so3.from_rpy`."""
    (sx, sy, sz), (cx, cy, cz) = _sin_cos(rpy.T)
    T = np.zeros((len(xyz), 4, 4))
    T[:, 0, 0], T[:, 0, 1], T[:, 0, 2] = cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx
    T[:, 1, 0], T[:, 1, 1], T[:, 1, 2] = sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx
    T[:, 2, 0], T[:, 2, 1], T[:, 2, 2] = -sy, cy * sx, cy * cx
    T[:, :3, 3] = xyz
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
    # The <inertia> is about the com, in the axes of the inertial <origin>, which sits at the com.
    central = np.zeros((len(origins), 10))
    central[:, :1] = numbers["mass"][0]
    central[:, 4:] = numbers["inertia"][:, :, 0].T
    inertia = iter(moved_inertias(origins, central))
    places = parts.document.places(parts.links)
    for name, inertial, where in zip(parts.link_names, parts.inertials, places, strict=True):
        builder.add_link(LinkSpec(name, None if inertial is None else next(inertia), where))


def _add_joints(parts: _Parts, builder: Builder, numbers: dict[str, np.ndarray], placements: np.ndarray) -> None:
    joints, found = parts.joints, parts.of_joints
    axes, mimics = _axes(parts, numbers["axis"][0]), _mimics(parts, numbers["mimic"][:, :, 0])
    names = list(map(_get, joints, repeat("name")))
    kinds = [_READ_TYPES.get(text) for text in map(_get, joints, repeat("type"))]
    parents, children = (list(map(_get, found[tag], repeat("link"))) for tag in ("parent", "child"))
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
            stated = *_NOT_URDF, mimics.get(k), *limit, *losses.get(k, _NO_LOSSES)
            builder.add_joint(JointSpec(name, kind, parent, child, placement, axis, *stated, where))
    _tell_defaults(parts, kinds)


_NOT_URDF = tuple(JointSpec._field_defaults[field] for field in ("axis2", "pitch", "screw"))
_NO_LOSSES = (0.0, 0.0, 0.0)
_BOUNDED = ("revolute", "prismatic")


def _incomplete(parts: _Parts, parents: list[str | None], children: list[str | None]) -> ModelError:
    """The error for the first joint without a name, type, parent, or child."""
    for joint, parent, child in zip(parts.joints, parents, children, strict=True):
        if not joint.get("name"):
            return parts.nameless(joint)
        if joint.get("type") not in _READ_TYPES:
            return parts.error(joint, f"its type is '{joint.get('type', '')}'; there are {', '.join(_READ_TYPES)}")
        if not parent or not child:
            return parts.error(joint, f'it has no <{"child" if parent else "parent"} link="...">')
    raise AssertionError("one of them is incomplete")


def _limits(elements: Column, kinds: list[str], limits: np.ndarray) -> np.ndarray:
    """(lower, upper, velocity, effort) of all joints, infinite where there is no limit."""
    limits[np.abs(limits) >= UNLIMITED] *= np.inf
    free = [limit is _ABSENT or kind not in _BOUNDED for limit, kind in zip(elements, kinds, strict=True)]
    limits[0, free], limits[1, free] = -np.inf, np.inf
    return limits


def _tell_defaults(parts: _Parts, kinds: list[str]) -> None:
    """Findings about what movable joints leave out."""
    defaults = NUMBERS["limit"][1]
    for joint, kind, axis, limit in zip(
        parts.joints, kinds, parts.of_joints["axis"], parts.of_joints["limit"], strict=True
    ):
        if axis.get("xyz") is None and kind in AXIAL:
            what = "no <axis>" if axis is _ABSENT else "<axis> has no xyz"
            parts.find("note", "default-axis", joint, f"{what}: it is (1, 0, 0), as URDF says")
        if joint.get("type") in _OTHER_TYPES:
            parts.find("note", "joint-type", joint, f"joints of type '{joint.get('type')}' are not in URDF's standard")
        if kind not in _BOUNDED:
            continue
        if limit is _ABSENT:
            parts.find("warning", "no-limits", joint, f"a {kind} joint without <limit>; it is not limited")
        elif not defaults.keys() <= {*limit.keys()}:
            missing = [(key, text) for key, text in defaults.items() if limit.get(key) is None]
            what = [f"no {key} ({'0' if text == '0' else 'unlimited'})" for key, text in missing]
            parts.find("note", "default-limit", limit, f"<limit> has {', '.join(what)}")


def _axes(parts: _Parts, axes: np.ndarray) -> list[tuple[float, ...]]:
    """The axes of all joints, of length 1 where they are of use."""
    size = np.hypot(np.hypot(axes[:, 0], axes[:, 1]), axes[:, 2])
    for k in np.flatnonzero(np.abs(size - 1) > 1e-6).tolist():
        element = parts.elements["axis"][k]
        if _READ_TYPES.get(parts.joints[k].get("type")) not in AXIAL:
            size[k] = 1
        elif not 0 < size[k] < np.inf:
            raise parts.error(element, f"<axis> has length {size[k]:g}; it must be a direction")
        else:
            what = f"<axis> has length {size[k]:.6g}, not 1; its direction counts"
            parts.find("warning", "axis-not-unit", element, what)
    return list(map(tuple, (axes / size[:, None]).tolist()))


def _mimics(parts: _Parts, factors: np.ndarray) -> dict[int, tuple[str, float, float]]:
    """{number of the joint: (joint it follows, multiplier, offset)}."""
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


def _tell_negative(parts: _Parts, numbers: dict[str, np.ndarray]) -> None:
    """Findings about shapes of negative size; a mesh may have a negative scale, which mirrors it."""
    for tag in _SHAPES:
        if tag != "mesh" and parts.elements[tag] and numbers[tag].min() < 0:
            for k in np.flatnonzero((numbers[tag] < 0).any(axis=(0, 2))).tolist():
                parts.find("warning", "negative-size", parts.elements[tag][k], f"<{tag}> has a negative size")


def _tell_degrees(parts: _Parts, numbers: dict[str, np.ndarray]) -> None:
    """Findings about angles of more than a turn: those are most likely in degrees."""
    for tag in ("origin", "frame"):
        rpy = numbers[tag][1]
        for k in np.flatnonzero((np.abs(rpy) > 2 * np.pi + 0.01).any(axis=1)).tolist():
            text = " ".join(f"{x:g}" for x in rpy[k])
            message = f'<{tag} rpy="{text}"> turns by more than 2π: degrees? They must be in rad'
            parts.find("warning", "angles-in-degrees", parts.elements[tag][k], message)


def _add_frames(parts: _Parts, builder: Builder, placements: np.ndarray) -> None:
    for element, placement in zip(parts.elements["frame"], placements, strict=True):
        builder.frame(element.get("name"), element.get("link"), placement)


def _add_visuals(
    parts: _Parts, builder: Builder, numbers: dict[str, np.ndarray], placements: np.ndarray, meshes: Meshes
) -> None:
    paths, colors = _paths(parts, meshes), _shape_colors(parts, numbers["color"][0])
    sizes = {tag: zip(*(column for rows in numbers[tag] for column in rows.T.tolist()), strict=True) for tag in _SHAPES}
    for (frame, tag, collision, _), placement in zip(parts.shapes, placements, strict=True):
        mesh, fault = next(paths) if tag == "mesh" else (None, "")
        visual = Visual(frame, placement, tag, next(sizes[tag]), mesh, next(colors), collision, fault)
        builder.visuals.append(visual)


def _paths(parts: _Parts, meshes: Meshes) -> Iterator[tuple[str, str]]:
    """The files of all meshes, and why they cannot be opened, if so."""
    elements = parts.elements["mesh"]
    uris = list(map(_get, elements, repeat("filename")))
    if not all(uris):
        raise parts.error(elements[[bool(uri) for uri in uris].index(False)], "<mesh> has no filename")
    places = list(map(meshes.find, uris))
    outside = {place.path: element for element, place in zip(elements, places, strict=True) if place.outside}
    remedy = f"is {meshes.remedy(outside)}" if outside else ""
    if outside:
        path, element = next(iter(outside.items()))
        parts.find("warning", "mesh-outside", element, f"mesh '{path}' {remedy}; until then it cannot be opened")
    for element, uri, place in zip(elements, uris, places, strict=True):
        yield place.path, _mesh_fault(parts, element, uri, place) or (remedy if place.outside else "")


def _mesh_fault(parts: _Parts, element: etree._Element, uri: str, place: Place) -> str:
    """Tell of what is wrong with one mesh, but that it is outside."""
    if place.note and place.note not in parts.notes_told:
        parts.notes_told.add(place.note)
        parts.find("note", "package-by-name", element, f"mesh '{uri}' {place.note}")
    if place.fault:
        parts.find("warning", "mesh-missing", element, f"mesh '{uri}' {place.fault}")
    fault = parts.mesh_faults.get(element, "")
    if fault:
        parts.find("warning", "mesh-scale", element, f"mesh '{uri}' {fault}; it cannot be opened")
    return fault or place.fault


def _shape_colors(parts: _Parts, rgba: np.ndarray) -> Iterator[tuple | None]:
    """The colour of every shape: its material's own, or the one of that name; None if there is none."""
    colors = list(map(tuple, rgba.tolist()))
    for (*_, material), number in zip(parts.shapes, parts.colors, strict=True):
        if number is None and material is not _ABSENT:
            number = _named_color(parts, material)
        yield None if number is None else colors[number]


def _named_color(parts: _Parts, material: etree._Element) -> int | None:
    name = material.get("name", "")
    if name not in parts.color_of:
        parts.find("note", "unknown-material", material, f"the file defines no material '{name}'")
        parts.color_of[name] = None  # told once
    return parts.color_of[name]
