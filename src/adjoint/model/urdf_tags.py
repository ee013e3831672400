"""The vocabulary of URDF: its joint types, tags and attributes with their defaults, and how messages name an element.

Some tags and types that other readers of URDF have added are part of it: Drake's <frame>, and joints of type spherical
or ball.
"""

from __future__ import annotations

import sys

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

__all__ = [
    "ABSENT",
    "ATTRIBUTES",
    "INERTIAL_TAGS",
    "JOINT_TAGS",
    "LINK_TAGS",
    "MATERIAL_TAGS",
    "NO_INERTIA",
    "NUMBERS",
    "OTHER_TYPES",
    "READ_TYPES",
    "ROBOT_TAGS",
    "SHAPES",
    "SHAPE_TAGS",
    "TYPES",
    "UNLIMITED",
    "Column",
    "attribute",
    "clipped",
    "has_expression",
    "is_xacro",
    "label",
    "tag_in_file",
]

TYPES = {
    "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "planar": "planar",
    "floating": "free", "fixed": "fixed",
}  # fmt: skip
"""URDF's joint types, and what this library calls them."""

OTHER_TYPES = {"spherical": "spherical", "ball": "spherical"}
"""Joint types that are not in URDF's standard, but that PyBullet, Drake and others read."""

READ_TYPES = TYPES | OTHER_TYPES

UNLIMITED = sys.float_info.max
"""The largest number stands for infinity in limits, since URDF has no word for infinity."""

# The tags that an element may have inside. Some of them are only known: nothing is read from them.
ROBOT_TAGS = {"link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control", "mujoco"}
LINK_TAGS = {"contact"}  # PyBullet's friction and stiffness of contacts
INERTIAL_TAGS = ("origin", "mass", "inertia")
SHAPE_TAGS = ("origin", "geometry", "material")
MATERIAL_TAGS = ("color", "texture")
JOINT_TAGS = (
    "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
)  # fmt: skip

# Tag -> (how many numbers each attribute has, {attribute: its default, or None if the attribute must be given}).
NUMBERS = {
    "origin": (3, {"xyz": "0 0 0", "rpy": "0 0 0"}),
    "mass": (1, {"value": None}),
    "inertia": (1, dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))),
    "axis": (3, {"xyz": "1 0 0"}),
    "limit": (1, {"lower": "0", "upper": "0", "velocity": repr(UNLIMITED), "effort": repr(UNLIMITED)}),
    "dynamics": (1, {"damping": "0", "friction": "0", "armature": "0"}),  # URDF has no armature; this library adds it
    "mimic": (1, {"multiplier": "1", "offset": "0"}),
    "mesh": (3, {"scale": "1 1 1"}),
    "box": (3, {"size": None}),
    "sphere": (1, {"radius": None}),
    "cylinder": (1, {"radius": None, "length": None}),
    "capsule": (1, {"radius": None, "length": None}),
    "color": (4, {"rgba": None}),
    "frame": (3, {"xyz": "0 0 0", "rpy": "0 0 0"}),  # only Drake's URDF has this tag
}
_TEXT_ATTRIBUTES = {"mesh": ["filename"], "mimic": ["joint"], "frame": ["name", "link"]}
ATTRIBUTES = {tag: {*numbers, *_TEXT_ATTRIBUTES.get(tag, ())} for tag, (_, numbers) in NUMBERS.items()}
SHAPES = ("mesh", "box", "sphere", "cylinder", "capsule")

Column = list[etree._Element]
"""Elements of one tag, such as the <axis> of every joint, in the order of the joints."""

ABSENT = etree.Element("absent")
"""This element stands in a `Column` for one that the file leaves out: it has no attributes, so defaults apply."""

NO_INERTIA = etree.Element("inertia", dict.fromkeys(NUMBERS["inertia"][1], "0"))
"""This element stands for the <inertia> that an <inertial> leaves out."""

attribute = etree._Element.get
"""`attribute(element, name, default)` returns the text of an attribute, in a form that `map` can call."""


def label(element: etree._Element) -> str:
    """Return the name, for messages, of the link, joint, material or robot around an element: "link 'forearm'"."""
    while element.tag not in ("link", "joint", "material", "robot"):
        parent = element.getparent()
        if parent is None:
            break
        element = parent
    return f"{element.tag} '{element.get('name', '')}'"


def clipped(text: str) -> str:
    """Return a text of the file for a message, cut after 60 characters."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def has_expression(text: str) -> bool:
    """Return whether a text contains an expression of xacro, `${...}` or `$(...)`."""
    return "${" in text or "$(" in text


def is_xacro(element: etree._Element) -> bool:
    """Return whether an element is an instruction to xacro, such as <xacro:include>."""
    return element.prefix == "xacro" or element.tag.startswith("xacro:")


def tag_in_file(element: etree._Element) -> str:
    """Return the tag of an element as the file writes it, with its prefix."""
    name = etree.QName(element).localname if element.tag.startswith("{") else element.tag
    return f"{element.prefix}:{name}" if element.prefix else name
