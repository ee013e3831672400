"""The shapes of a URDF file, to draw and to collide with: their sizes, mesh files and colours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .meshes import Meshes, Place
from .parts import Visual
from .robot import Builder
from .urdf_elements import Parts
from .urdf_tags import ABSENT, SHAPES, attribute

__all__ = ["add_visuals", "find_negative_sizes"]


def add_visuals(
    parts: Parts, builder: Builder, numbers: dict[str, np.ndarray], placements: np.ndarray, meshes: Meshes
) -> None:
    """Add all shapes of the file to the builder; `placements` (n, 4, 4) are those of their origins."""
    paths, colors = _paths(parts, meshes), _shape_colors(parts, numbers["color"][0])
    sizes = {tag: zip(*(column for rows in numbers[tag] for column in rows.T.tolist()), strict=True) for tag in SHAPES}
    for (frame, tag, collision, _), placement in zip(parts.shapes, placements, strict=True):
        mesh, fault = next(paths) if tag == "mesh" else (None, "")
        visual = Visual(frame, placement, tag, next(sizes[tag]), mesh, next(colors), collision, fault)
        builder.visuals.append(visual)


def _paths(parts: Parts, meshes: Meshes) -> Iterator[tuple[str, str]]:
    """Yield (path, fault) of all meshes; the fault says why the file cannot be opened, and is "" if it can."""
    elements = parts.elements["mesh"]
    uris = list(map(attribute, elements, repeat("filename")))
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


def _mesh_fault(parts: Parts, element: etree._Element, uri: str, place: Place) -> str:
    """Add findings about one mesh and return its fault, leaving aside that it may be outside of the allowed folders."""
    if place.note and place.note not in parts.mesh_notes:
        parts.mesh_notes.add(place.note)
        parts.find("note", "package-by-name", element, f"mesh '{uri}' {place.note}")
    if place.fault:
        parts.find("warning", "mesh-missing", element, f"mesh '{uri}' {place.fault}")
    fault = parts.mesh_faults.get(element, "")
    if fault:
        parts.find("warning", "mesh-scale", element, f"mesh '{uri}' {fault}; it cannot be opened")
    return fault or place.fault


def _shape_colors(parts: Parts, rgba: np.ndarray) -> Iterator[tuple | None]:
    """Yield the colour of every shape: the one in its material, or the one that its material's name stands for."""
    colors = list(map(tuple, rgba.tolist()))
    for (*_, material), number in zip(parts.shapes, parts.colors, strict=True):
        if number is None and material is not ABSENT:
            number = _named_color(parts, material)
        yield None if number is None else colors[number]


def _named_color(parts: Parts, material: etree._Element) -> int | None:
    """Return the number of the colour that the name of a material stands for, or None."""
    name = material.get("name", "")
    if name not in parts.color_of:
        parts.find("note", "unknown-material", material, f"the file defines no material '{name}'")
        parts.color_of[name] = None  # so that there is one finding for each name
    return parts.color_of[name]


def find_negative_sizes(parts: Parts, numbers: dict[str, np.ndarray]) -> None:
    """Add findings about shapes of negative size; a mesh may have a negative scale, which mirrors it."""
    for tag in SHAPES:
        if tag != "mesh" and parts.elements[tag] and numbers[tag].min() < 0:
            for k in np.flatnonzero((numbers[tag] < 0).any(axis=(0, 2))).tolist():
                parts.find("warning", "negative-size", parts.elements[tag][k], f"<{tag}> has a negative size")
