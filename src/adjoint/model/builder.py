"""`PartList`: the links, joints and frames that a model states; each is checked when it is added.

`robot.Builder` is a `PartList` that can build the robot; `assembly` turns the list into the fields of a robot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from ..errors import ModelError
from .input_checks import located as _at
from .input_checks import motions, numbers
from .joints import JOINTS
from .parts import GRAVITY, Finding, JointSpec, LinkSpec, Visual, Where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["AXIAL", "HOME", "TYPES", "PartList"]

AXIAL = tuple(kind for kind, row in JOINTS.items() if "axis" in row.stated_by)
"""The types of joints that one axis describes."""

TYPES = (*JOINTS, "universal", "fixed")
"""The types of joints that models may have."""

HOME = np.eye(4)
"""The placement of a body's own link in the body. Code asks `T is HOME`, to leave out products with the identity."""

HOME.flags.writeable = False


@dataclass
class PartList:
    """The links, joints and frames of a model, by name. The methods return the list itself."""

    name: str = "robot"
    base: str = "fixed"
    gravity: ArrayLike = GRAVITY
    stated_links: dict[str, LinkSpec] = field(default_factory=dict)
    stated_joints: dict[str, JointSpec] = field(default_factory=dict)
    stated_frames: list[tuple[str, str, np.ndarray]] = field(default_factory=list)
    visuals: list[Visual] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def link(self, name: str, inertia=None, *, where: Where | None = None) -> Self:
        """Add a link with its `inertia` (10,) in its own frame, as the functions of `lie.inertia` return it.

        None, the default, means a link without mass.
        """
        _check_name("link", name, where)
        if inertia is not None:
            inertia = numbers(inertia, (10,), f"link '{name}': inertia", where)
        return self.add_link(LinkSpec(name, inertia, where))

    def joint(self, name: str, type: str, parent: str, child: str, placement=None, **options) -> Self:
        """Add a joint that moves the link `child`, at `placement` (4, 4) in the link `parent` when q is neutral.

        `type` is a type of `JOINTS`, "universal" or "fixed". These options are for the types that have them:

        - `axis`: the direction (3,) of the axis through the child's origin, in the child's frame; z by default. It is
          the normal of a planar joint and the first axis of a universal one. `axis2`: the second axis of a universal
          joint; y by default.
        - `pitch` [m/rad] of a helical joint.
        - `screw`: instead of an axis, the screws (6,), or (nv, 6) one per row, in the child's frame. A joint of type
          "screw" needs it; other types accept all screws that fit them.
        - `mimic`: the name of the joint that this one follows, or (name, multiplier, offset):
          q = multiplier · q_name + offset.
        - `lower`, `upper` [rad or m]: position limits, one number or one for each coordinate of q.
        - `velocity` [rad/s or m/s] and `effort` [N m or N]: the largest allowed; `damping` [N m s/rad or N s/m], dry
          `friction` [N m or N], `armature` [kg m² or kg]: one number, or one for each coordinate of v.
        - `where`: the joint's place in a model file, for messages.
        """
        where = options.get("where")
        _check_name("joint", name, where)
        _check_name("link", parent, where)
        _check_name("link", child, where)
        label = f"joint '{name}'"
        placement = HOME if placement is None else motions(placement, (4, 4), f"{label}: placement", where)
        return self.add_joint(JointSpec(name, type, parent, child, placement, **_options(label, type, options)))

    def frame(self, name: str, link: str, placement=None) -> Self:
        """Add a frame that is fixed to a link, at `placement` (4, 4) in it; the identity by default."""
        _check_name("frame", name, None)
        placement = HOME if placement is None else motions(placement, (4, 4), f"frame '{name}': placement")
        self.stated_frames.append((name, link, placement))
        return self

    def add_link(self, link: LinkSpec) -> Self:
        """Add a link whose numbers `link` or a loader has checked already."""
        if link.name in self.stated_links:
            raise ModelError(_at(link.where, f"link '{link.name}': a second link of this name; names must differ"))
        self.stated_links[link.name] = link
        return self

    def add_joint(self, joint: JointSpec) -> Self:
        """Add a joint whose numbers are checked already: its placement is a rigid motion, its axes are unit vectors."""
        name, where = joint.name, joint.where
        if name in self.stated_joints:
            raise ModelError(_at(where, f"joint '{name}': a second joint of this name; names must differ"))
        if joint.type not in TYPES:
            raise ModelError(_at(where, f"joint '{name}': {_unknown_type(joint.type)}"))
        self.stated_joints[name] = joint
        return self


# --- checks of arguments ----------------------------------------------------------------------------------------------


def _check_name(kind: str, name, where: Where | None) -> None:
    if not isinstance(name, str) or not name:
        raise ModelError(_at(where, f"a {kind} is called {name!r}; names are text, and not empty"))


_OTHER_WORDS = {
    "hinge": "revolute", "rotational": "revolute", "rotary": "revolute", "slide": "prismatic", "linear": "prismatic",
    "ball": "spherical", "floating": "free", "freeflyer": "free", "cardan": "universal", "weld": "fixed",
}  # fmt: skip


def _unknown_type(kind) -> str:
    meant = f"; did you mean '{_OTHER_WORDS[kind]}'?" if isinstance(kind, str) and kind in _OTHER_WORDS else ""
    return f"unknown type {kind!r}; there are {', '.join(TYPES)}{meant}"


_OPTIONS = JointSpec._fields[5:]
_GEOMETRY = {kind: row.stated_by for kind, row in JOINTS.items()} | {"universal": ("axis", "axis2"), "fixed": ()}


def _has_option(kind: str, option: str) -> bool:
    if option in ("axis", "axis2", "pitch", "screw"):
        return option in _GEOMETRY[kind]
    if option in ("lower", "upper"):
        return JOINTS[kind].has_limits if kind in JOINTS else kind != "fixed"
    return kind != "fixed" or option == "where"


def _options(label: str, kind: str, options: dict) -> dict:
    """Return the options of a joint, checked against its type, as plain tuples and numbers."""
    where = options.get("where")
    if not isinstance(kind, str) or kind not in TYPES:
        raise ModelError(_at(where, f"{label}: {_unknown_type(kind)}"))
    for option, value in options.items():
        if option not in _OPTIONS:
            raise ModelError(_at(where, f"{label}: no option {option!r}; there are {', '.join(_OPTIONS)}"))
        if not _has_option(kind, option) and not _is_default(option, value):
            has = ", ".join(o for o in _OPTIONS if _has_option(kind, o) and o != "where")
            raise ModelError(_at(where, f"{label} is {kind}, which has no {option}; its options are {has or 'none'}"))
    if options.get("screw") is not None and {"axis", "pitch"} & options.keys():
        raise ModelError(_at(where, f"{label}: give its screw, or its axis and pitch, not both"))
    plain = {
        "axis": _direction, "axis2": _direction, "pitch": lambda *given: float(numbers(given[0], (), *given[1:])),
        "mimic": _plain_mimic,
    }  # fmt: skip
    return {o: plain[o](v, f"{label}: {o}", where) if o in plain else v for o, v in options.items()}


def _is_default(option: str, value) -> bool:
    default = JointSpec._field_defaults[option]
    try:
        return value is default or (default is not None and bool(np.all(np.asarray(value, float) == default)))
    except (TypeError, ValueError):
        return False


def _plain_mimic(value, label: str, where: Where | None) -> tuple[str, float, float] | None:
    if value is None:
        return None
    given = (value,) if isinstance(value, str) else value
    try:
        name, multiplier, offset = (*given, *(1.0, 0.0)[len(given) - 1 :])
        found = name, float(multiplier), float(offset)
    except (TypeError, ValueError):
        found = (None,)
    if not isinstance(found[0], str):
        raise ModelError(_at(where, f"{label} is {value!r}; it is a joint's name, or (name, multiplier, offset)"))
    return found  # type: ignore[return-value]


def _direction(value, label: str, where: Where | None) -> tuple[float, ...]:
    axis = numbers(value, (3,), label, where)
    size = math.hypot(*axis)
    if not 0 < size < math.inf:
        raise ModelError(_at(where, f"{label} has length {size:g}; it must be a direction"))
    return tuple((axis / size).tolist())
