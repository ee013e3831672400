"""The elements of a URDF file, sorted into columns of one tag each, and the findings about what is odd in them.

Columns let `urdf_numbers` read the numbers of all elements at once, which takes far less time than one by one.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import repeat

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ModelError
from .parts import Finding
from .urdf_numbers import is_row
from .urdf_tags import (
    ABSENT,
    ATTRIBUTES,
    INERTIAL_TAGS,
    JOINT_TAGS,
    LINK_TAGS,
    MATERIAL_TAGS,
    NO_INERTIA,
    NUMBERS,
    ROBOT_TAGS,
    SHAPE_TAGS,
    SHAPES,
    Column,
    attribute,
    clipped,
    has_expression,
    is_xacro,
    label,
    tag_in_file,
)
from .xml_files import Document

__all__ = ["Parts"]


class Parts:
    """The elements of a URDF file in columns, and the findings about them.

    `elements` {tag: column} holds every element that has numbers; its origins are those of the joints, then of the
    inertials, then of the shapes. `of_joints` {tag: column} holds one element for each joint, or `ABSENT`.
    """

    def __init__(self, document: Document):
        root = document.root
        if root.tag != "robot":
            raise ModelError(f"{document.where(root)}: the root is <{root.tag}>; a URDF has <robot>")
        self.document = document
        self.findings: list[Finding] = list(document.findings)
        self.mesh_faults: dict[etree._Element, str] = {}  # {<mesh>: why it cannot be opened}
        self.mesh_notes: set[str] = set()  # notes about meshes that are findings already
        self._unknown_tags: dict[tuple[str, str], list] = {}  # (parent's tag, tag) -> [first element, how many]
        self.name = root.get("name") or self._unnamed(root)
        columns: dict[str, Column] = {"link": [], "joint": [], "material": [], "frame": [], "loop_joint": []}
        for part in root[:]:  # a slice is a list, which is faster than lxml's iterator
            if part.tag in columns:
                columns[part.tag].append(part)
            elif part.tag not in ROBOT_TAGS:
                self._unknown(root, part)
        if not columns["link"]:
            raise ModelError(f"{document.where(root)}: robot '{self.name}' has no links")
        self.links, self.joints = columns["link"], columns["joint"]
        self.of_joints = self._columns(self.joints, JOINT_TAGS)
        self.elements: dict[str, Column] = {tag: [] for tag in NUMBERS}
        self._sort_links()
        self._sort_materials(columns["material"])
        self._sort_joints()
        self._sort_frames(columns["frame"])
        for element in columns["loop_joint"]:
            self.find("warning", "loop-joint", element, "<loop_joint> closes a loop, which stays open: it was not read")
        self._find_expressions()
        self._find_unknown_attributes()
        self.findings.sort(key=lambda finding: finding.where.line)  # type: ignore[union-attr]
        self._find_unknown_tags()

    def find(self, level: str, code: str, element: etree._Element, message: str) -> None:
        """Add a finding about an element."""
        self.findings.append(Finding(level, code, label(element), message, self.document.where(element)))

    def error(self, element: etree._Element, message: str) -> ModelError:
        """Return the error, to be raised, about an element."""
        return ModelError(f"{self.document.where(element)}: {label(element)}: {message}")

    def nameless(self, element: etree._Element) -> ModelError:
        """Return the error about a link or a joint that has no name."""
        return ModelError(f"{self.document.where(element)}: <{element.tag}> has no name")

    def joints_with(self, tag: str) -> list[int]:
        """Return the numbers of the joints that have an element of this tag."""
        return [k for k, element in enumerate(self.of_joints[tag]) if element is not ABSENT]

    def _unnamed(self, root: etree._Element) -> str:
        """Return the name of a robot that has none, and add a finding about it."""
        self.find("warning", "no-name", root, "<robot> has no name; it is called 'robot'")
        return "robot"

    def _columns(self, elements: Column, tags: Sequence[str]) -> dict[str, Column]:
        """Return {tag: column}: of each element the first child of this tag, or `ABSENT`.

        There are findings about repeated children and about children of other tags.
        """
        columns = {tag: [ABSENT] * len(elements) for tag in tags}
        for k, element in enumerate(elements):
            for child in element[:]:
                column = columns.get(child.tag)
                if column is None:
                    self._unknown(element, child)
                elif column[k] is ABSENT:
                    column[k] = child
                else:
                    self.find("warning", "repeated-tag", child, f"a second <{child.tag}>; the first one counts")
        return columns

    def _unknown(self, parent: etree._Element, element: etree._Element) -> None:
        """Count an element of an unknown tag; `_find_unknown_tags` makes one finding of all that are alike."""
        self._unknown_tags.setdefault((parent.tag, element.tag), [element, 0])[1] += 1

    def _find_unknown_tags(self) -> None:
        """Add one finding for each kind of element that is not read."""
        unknown = sorted(self._unknown_tags.items(), key=lambda item: item[1][0].sourceline)
        for (parent, tag), (element, count) in unknown:
            more = f", nor {count - 1} more like it" if count > 1 else ""
            if is_xacro(element):
                what = f"<{tag_in_file(element)}> in <{parent}> was left by xacro, and was not read{more}"
                self.find("warning", "xacro", element, what)
            else:
                what = f"<{tag}> in <{parent}> is not URDF and was not read{more}"
                self.find("warning", "unknown-tag", element, what)

    def _find_expressions(self) -> None:
        """Add one finding if names of links or joints have expressions that xacro would have filled in."""
        if "$" not in "".join(filter(None, (*self.link_names, *map(attribute, self.joints, repeat("name"))))):
            return
        named = [element for element in (*self.links, *self.joints) if has_expression(element.get("name", ""))]
        for element in named[:1]:
            self.find("warning", "xacro", element, "the name has an expression that xacro would have expanded")

    def _find_unknown_attributes(self) -> None:
        """Add one finding for each kind of attribute that is not read.

        An unknown attribute that looks like a known one, which is missing, may be misspelt: then it is a warning.
        """
        unknown: dict[tuple[str, str], list] = {}
        for tag, column in self.elements.items():
            known = ATTRIBUTES[tag]
            for element in column:
                keys = element.keys()
                others = [key for key in keys if key not in known]
                missing = known.difference(keys) if others else ()  # outside the loop: there may be very many others
                for key in others:
                    unknown.setdefault((tag, key), [element, 0, missing])[1] += 1
        for (tag, key), (element, count, missing) in unknown.items():
            more = f", nor {count - 1} more like it" if count > 1 else ""
            what = f"{key}=... in <{tag}> is not URDF and was not read{more}"
            meant = difflib.get_close_matches(key, missing, 1, 0.6)
            level, hint = ("warning", f"; did you mean {meant[0]}=...?") if meant else ("note", "")
            self.find(level, "unknown-attribute", element, what + hint)

    def _sort_links(self) -> None:
        """Sort what the links have inside: at most one <inertial> each, and any number of shapes."""
        self.link_names = list(map(attribute, self.links, repeat("name")))
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
                    if tag not in LINK_TAGS:
                        self._unknown(link, part)
                elif self.inertials[k] is None:
                    self.inertials[k] = part
                else:
                    self.find("warning", "repeated-tag", part, "a second <inertial>; the first one counts")
        self._sort_inertials()
        self._sort_shapes(shapes, frames)

    def _sort_inertials(self) -> None:
        """Sort what is inside of <inertial>; one that has no <mass> counts as missing."""
        inertials = [inertial for inertial in self.inertials if inertial is not None]
        found = self._columns(inertials, INERTIAL_TAGS)
        if ABSENT in found["mass"]:
            bad = {inertial for inertial, mass in zip(inertials, found["mass"], strict=True) if mass is ABSENT}
            for inertial in bad:
                self.find("error", "no-mass", inertial, "<inertial> has no <mass>: the link has no inertia")
            found = {
                tag: [x for x, inertial in zip(column, inertials, strict=True) if inertial not in bad]
                for tag, column in found.items()
            }
            self.inertials = [None if inertial in bad else inertial for inertial in self.inertials]
            inertials = [inertial for inertial in inertials if inertial not in bad]
        for k, inertial in enumerate(inertials):
            if found["inertia"][k] is ABSENT:
                self.find("warning", "no-inertia", inertial, "<inertial> has no <inertia>; it is taken as a point mass")
                found["inertia"][k] = NO_INERTIA
        self.elements |= found

    def _sort_shapes(self, elements: Column, frames: list[str]) -> None:
        """Sort what is inside of <visual> and <collision>; `frames` names the link of each."""
        self.shapes: list[tuple[str, str, bool, etree._Element]] = []  # link, tag, whether it is to collide, material
        found = self._columns(elements, SHAPE_TAGS)
        for frame, element, origin, geometry, material in zip(frames, elements, *found.values(), strict=True):
            if not len(geometry):
                self.find("warning", "no-geometry", element, f"<{element.tag}> has no geometry and was not read")
                continue
            shape = geometry[0]
            tag = shape.tag
            if tag not in SHAPES:
                self.find("warning", "unknown-shape", shape, f"<{tag}> is no shape; there are {', '.join(SHAPES)}")
                continue
            self.elements[tag].append(shape)
            self.elements["origin"].append(origin)
            self.shapes.append((frame, tag, element.tag == "collision", material))

    def _sort_materials(self, materials: Column) -> None:
        """Find the colours that names of materials stand for.

        A material of the whole file counts before one inside of a link, and the first of a name before later ones.
        """
        self.color_of: dict[str, int | None] = {"": None}  # name of a material -> number of its colour, None without
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
        """Return the number, in the column of colours, of the colour that each material defines, or None."""
        numbers: list[int | None] = [None] * len(materials)
        found = self._columns(materials, MATERIAL_TAGS)
        for k, (color, texture) in enumerate(zip(*found.values(), strict=True)):
            if color is texture:  # both are absent
                continue
            name = materials[k].get("name", "")
            if color is not ABSENT:
                numbers[k] = len(self.elements["color"])
                self.elements["color"].append(color)
            if texture is not ABSENT and name not in self.color_of:  # one finding for each name
                self.find("note", "texture", materials[k], "<texture> was not read; only colours are kept")
            self.color_of.setdefault(name, numbers[k])
        return numbers

    def _sort_joints(self) -> None:
        """Sort what the joints have inside. Every joint gets an axis and a limit, since `ABSENT` ones have defaults."""
        for tag in ("axis", "limit"):
            self.elements[tag] = self.of_joints[tag]
        for tag in ("dynamics", "mimic"):
            self.elements[tag] = [element for element in self.of_joints[tag] if element is not ABSENT]
        self.elements["origin"] = self.of_joints["origin"] + self.elements["origin"]

    def _sort_frames(self, frames: Column) -> None:
        """Keep the <frame> elements, which Drake has added to URDF, that have a new name and an existing link."""
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
        """Give meshes with an unreadable scale the scale 1, and return whether there were any.

        `mesh_faults` says of them that they cannot be opened: a robot can be loaded without its meshes.
        """
        for element in self.elements["mesh"]:
            scale = element.get("scale")
            if scale is not None and not is_row(scale, 3):
                self.mesh_faults[element] = f'has the scale "{clipped(scale)}", which is not three finite numbers'
                element.set("scale", "1 1 1")
        return bool(self.mesh_faults)
