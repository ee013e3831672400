"""Reading URDF; `urdf_writer` writes it.

The elements are sorted into columns of one tag each (`urdf_elements`), whose numbers become arrays all at once
(`urdf_numbers`); joints (`urdf_joints`) and shapes (`urdf_shapes`) are made of these. What a file leaves out is filled
in as URDF's specification says. Every default that matters, every oddity and every tag that is not URDF becomes a
`Finding` of the robot; what cannot be a robot is a `ModelError` with file and line. A few extensions of URDF are read
too: Drake's <frame>, its link "world", which need not be in the file, and joints of type spherical or ball.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import ModelError
from .meshes import Meshes
from .parts import GRAVITY, LinkSpec
from .robot import Builder, Robot
from .urdf_elements import Parts
from .urdf_joints import add_joints
from .urdf_numbers import numbers_of, placements_of
from .urdf_shapes import add_visuals, find_negative_sizes
from .urdf_tags import clipped, has_expression, is_xacro, tag_in_file
from .whole_arrays import moved_inertias
from .xml_files import Document

__all__ = ["read"]


def read(
    document: Document,
    base: str = "fixed",
    package_dirs: Iterable[str | os.PathLike] = (),
    gravity: Sequence[float] = GRAVITY,
) -> Robot:
    """Return the robot of a URDF document; `load` explains the arguments."""
    try:
        return _read(document, base, package_dirs, gravity)
    except ModelError as error:
        left = _left_by_xacro(document)
        if left is None:
            raise
        how = "" if document.is_text else f": xacro {document.file} > robot.urdf"
        raise ModelError(f"{error}; {left}: xacro must be expanded first{how}") from None


def _left_by_xacro(document: Document) -> str | None:
    """Return a message about the first element that xacro would have replaced, or None if there is no such element."""
    for element in document.root.iter():
        if is_xacro(element):
            return f"{document.where(element)}: <{tag_in_file(element)}> is left"
        for text in element.attrib.values():
            if has_expression(text):
                return f'{document.where(element)}: the expression "{clipped(text)}" is left'
    return None


def _read(document: Document, base: str, package_dirs, gravity) -> Robot:
    """Return the robot of a URDF document, without hints about xacro in errors."""
    parts = Parts(document)
    try:
        numbers = numbers_of(document, parts.elements)
    except ModelError:
        if not parts.mend_scales():
            raise
        numbers = numbers_of(document, parts.elements)
    builder = Builder(parts.name, base, gravity, findings=parts.findings)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):  # the builder finds overflow
        placements = placements_of(*numbers["origin"])  # of n joints, then of the inertials up to m, then of the shapes
        n, m = len(parts.joints), len(parts.joints) + len(parts.elements["mass"])
        _add_links(parts, builder, numbers, placements[n:m])
        add_joints(parts, builder, numbers, placements[:n])
    find_negative_sizes(parts, numbers)
    _find_degrees(parts, numbers)
    if parts.elements["frame"]:
        _add_frames(parts, builder, placements_of(*numbers["frame"]))
    meshes = Meshes(None if document.is_text else document.file, package_dirs)
    add_visuals(parts, builder, numbers, placements[m:], meshes)
    return builder.build()


def _add_links(parts: Parts, builder: Builder, numbers: dict[str, np.ndarray], origins: np.ndarray) -> None:
    """Add all links of the file to the builder; `origins` (k, 4, 4) are those of the inertials.

    The origin of an inertial is at the centre of mass, and the <inertia> is about this point, along the origin's axes.
    """
    central = np.zeros((len(origins), 10))
    central[:, :1] = numbers["mass"][0]
    central[:, 4:] = numbers["inertia"][:, :, 0].T
    inertia = iter(moved_inertias(origins, central))
    places = parts.document.places(parts.links)
    for name, inertial, where in zip(parts.link_names, parts.inertials, places, strict=True):
        builder.add_link(LinkSpec(name, None if inertial is None else next(inertia), where))


def _add_frames(parts: Parts, builder: Builder, placements: np.ndarray) -> None:
    """Add all <frame> elements of the file to the builder."""
    for element, placement in zip(parts.elements["frame"], placements, strict=True):
        builder.frame(element.get("name"), element.get("link"), placement)


def _find_degrees(parts: Parts, numbers: dict[str, np.ndarray]) -> None:
    """Add findings about angles of more than one turn, which are most likely in degrees."""
    for tag in ("origin", "frame"):
        rpy = numbers[tag][1]
        for k in np.flatnonzero((np.abs(rpy) > 2 * np.pi + 0.01).any(axis=1)).tolist():
            text = " ".join(f"{x:g}" for x in rpy[k])
            message = f'<{tag} rpy="{text}"> turns by more than 2π: degrees? They must be in rad'
            parts.find("warning", "angles-in-degrees", parts.elements[tag][k], message)
