"""What MuJoCo gets of an MJCF model: a text that was checked, of bounded size, without what is no part of a robot.

MuJoCo's parser opens whatever a model names, reads XML in its own way, and makes as much of it as the model asks for.
So it never gets the file: it gets the elements that were checked here, written anew, with the full names of the models
inside; the elements of `_NO_ROBOT`, among them all textures, are left out, and their files stay closed.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from . import xml
from .build import ModelError
from .meshes import Meshes, OutsideError

__all__ = ["Checked", "checked"]

_NO_ROBOT = ("visual", "statistic", "size", "custom", "keyframe", "sensor", "skin", "texture", "layer")
_NO_ROBOT_ATTRIBUTES = ("user", "nsample", "delay", "interp")  # data of the user, histories of actuators
_TEXTURED = ("material", "light")

_DEPTH_LIMIT = 256  # of bodies in bodies, through all models inside; as libxml2 has it for one file
_FILE_LIMIT = 200  # included and attached
_ELEMENT_LIMIT = 10_000  # with all copies: MuJoCo takes seconds for so many, and four times as long for twice as many
_MESH_LIMIT = 256 * 2**20  # [bytes], of all meshes together
_RESOLUTION_LIMIT = 100  # any parameter of a built-in mesh, the length of an actuator's state
_VERTEX = 30  # [bytes] that a vertex of a flexible body has at least in a file
_VERTEX_ELEMENTS = 4  # that MuJoCo makes of it: a body and three joints


class Checked(NamedTuple):
    """The model as text, and all models by their full paths, for MuJoCo to include and attach."""

    text: str
    files: dict[str, bytes]


class _Part(NamedTuple):
    """A document and the path of the model that it is, or is included in."""

    document: xml.Document
    model: str


def checked(model: xml.Document, meshes: Meshes) -> Checked:
    """The model and all that it includes or attaches; `ModelError` for what would open other files, or grow too much.

    Lines stay what they are in the files. Names of meshes stay as they are, too: MuJoCo looks for them in the folders
    that were checked.
    """
    parts, path = _parts(model, meshes), os.path.abspath(model.file)
    _check_numbers(parts)
    _check_growth(parts, _mesh_sizes(parts, meshes), path)
    texts = {path: _text(part.document) for path, part in parts.items()}
    return Checked(texts[path], {path: text.encode() for path, text in texts.items()})


# --- documents --------------------------------------------------------------------------------------------------------


def _parts(model: xml.Document, meshes: Meshes) -> dict[str, _Part]:
    """{full path: part}: the model, the files it includes and the models it attaches, and so on, all named in full.

    MuJoCo finds texts by the last parts of their paths: of two files that share it, the second gets another.
    """
    path = os.path.abspath(model.file)
    parts, waiting, names = {path: _Part(model, path)}, [path], {path: os.path.basename(path)}
    for path in waiting:  # grows
        document, whole = parts[path]
        _refuse_namespaces(document)
        _leave_out(document.root)
        for element in document.root.iter("include", "model"):
            # MuJoCo looks beside the model first, then beside the file that includes.
            file = _existing(document, element, "file", [*map(os.path.dirname, (whole, path))], meshes)[0]
            known = file in names
            inside = os.path.join(os.path.dirname(file), names.setdefault(file, _other_name(file, names)))
            element.set("file", inside)
            if known:
                continue
            if len(parts) == _FILE_LIMIT:
                raise ModelError(f"{document.where(element)}: the model has more than {_FILE_LIMIT} files")
            parts[inside] = _Part(xml.read(file), whole if element.tag == "include" else inside)
            waiting.append(inside)
    return parts


def _other_name(file: str, names: dict[str, str]) -> str:
    name = os.path.basename(file)
    while name in names.values():
        name = f"_{name}"
    return name


def _refuse_namespaces(document: xml.Document) -> None:
    """MuJoCo's parser knows no namespaces: what they hide from other readers, it would read."""
    for element in document.root.iter():
        if element.nsmap or element.tag.startswith("{"):
            raise ModelError(f"{document.where(element)}: <{element.tag}> has a namespace; MJCF has none, remove it")


def _leave_out(root: etree._Element) -> None:
    for element in list(root.iter(*_NO_ROBOT)):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    for element in root.iter():
        for key in _NO_ROBOT_ATTRIBUTES:
            element.attrib.pop(key, None)
    for element in root.iter(*_TEXTURED):
        element.attrib.pop("texture", None)
    for element in root.iter("hfield"):  # terrain is no robot, but geoms may name it
        size = {key: element.get(key) for key in ("name", "size") if key in element.attrib}
        size.setdefault("name", os.path.splitext(os.path.basename(element.get("file", "")))[0])
        element.attrib.clear()
        element.attrib.update(size | {"nrow": "2", "ncol": "2"})


def _text(document: xml.Document) -> str:
    """The elements as text, each on its line."""
    first = line = document.root.sourceline
    for element in document.root.iter():
        gap = "\n" * max(0, element.sourceline - line)
        line += len(gap)
        before, parent = element.getprevious(), element.getparent()
        element.text = element.tail = None
        if before is not None:
            before.tail = gap
        elif parent is not None:
            parent.text = gap
    return "\n" * (first - 1) + etree.tostring(document.root, encoding="unicode")


# --- files ------------------------------------------------------------------------------------------------------------


def _mesh_sizes(parts: dict[str, _Part], meshes: Meshes) -> dict[etree._Element, int]:
    """[bytes] of the files that elements name; all of them, wherever MuJoCo may look, must be inside."""
    roots = {os.path.dirname(path) for path in parts}
    compilers = [element for part in parts.values() for element in part.document.root.iter("compiler")]
    named = {element.get(key, "") for element in compilers for key in ("meshdir", "assetdir")} | {""}
    folders = sorted({os.path.join(root, name) for root in roots for name in named})
    sizes = {}
    for document, element in _elements(parts):
        for key in element.attrib:
            if key.startswith("file") and element.get(key) and element.tag not in ("include", "model"):
                sizes[element] = max(map(os.path.getsize, _existing(document, element, key, folders, meshes)))
    return sizes


def _elements(parts: dict[str, _Part]) -> Iterator[tuple[xml.Document, etree._Element]]:
    return ((part.document, element) for part in parts.values() for element in part.document.root.iter())


def _existing(document: xml.Document, element, key: str, folders: list[str], meshes: Meshes) -> list[str]:
    """The regular files an attribute may stand for: MuJoCo looks in several folders, with and without the path it has.

    None of them may be outside, and there must be one: MuJoCo is not to look for others.
    """
    name = element.get(key, "")
    label = f"{document.where(element)}: <{element.tag}> names '{name}', which"
    if re.match(r"\w{2,}:", name):  # one letter is a drive
        raise ModelError(f"{label} is no path; only files are read")
    names = [os.path.join(folder, part) for part in (name, os.path.basename(name)) for folder in folders if part]
    found = list(dict.fromkeys(os.path.abspath(file) for file in names if os.path.lexists(file)))
    for file in found:
        try:
            meshes.check_opened(file)
        except OutsideError as error:
            raise ModelError(f"{label} {error}") from None
        if not os.path.isfile(file):  # a pipe or a device might never end
            raise ModelError(f"{label} is not a regular file")
    if not found:
        raise ModelError(f"{label} does not exist in {', '.join(sorted({os.path.abspath(f) for f in folders})[:6])}")
    return found


# --- size -------------------------------------------------------------------------------------------------------------


def _check_numbers(parts: dict[str, _Part]) -> None:
    """Numbers that set the size of a built-in mesh, or of an actuator's state."""
    for document, element in _elements(parts):
        for key in ("params", "actdim"):
            if any(abs(x) > _RESOLUTION_LIMIT for x in _numbers(document, element, key)):
                where = document.where(element)
                raise ModelError(f"{where}: <{element.tag}> has {key} above {_RESOLUTION_LIMIT}, which is too much")


def _numbers(document: xml.Document, element: etree._Element, key: str) -> list[float]:
    try:
        return [float(word) for word in element.get(key, "").split()]
    except ValueError:
        raise ModelError(f"{document.where(element)}: <{element.tag}> needs numbers as {key}") from None


class _Size(NamedTuple):
    """What MuJoCo makes of an element and those inside."""

    elements: float
    bytes: float  # of the files of meshes
    depth: int


def _check_growth(parts: dict[str, _Part], mesh_sizes: dict[etree._Element, int], path: str) -> None:
    """Refuse a model that becomes too large: copies by replicate and attach, composites, flexible bodies."""
    size = _Sizes(parts, mesh_sizes).of_file(path)
    for number, most, what in (
        (
            size.elements,
            _ELEMENT_LIMIT,
            "it has {:.6g} elements, with those that <replicate>, <attach> and the like make",
        ),
        (size.bytes, _MESH_LIMIT, "its meshes have {:.3g} bytes, each time they are used"),
        (size.depth, _DEPTH_LIMIT, "its elements, with those attached, are nested {} deep"),
    ):
        if not number <= most:
            raise ModelError(f"{path}: {what.format(number)}; {most} is most")


class _Sizes:
    """Sizes of documents, with those they include and attach."""

    def __init__(self, parts: dict[str, _Part], mesh_sizes: dict[etree._Element, int]):
        self._parts, self._mesh_sizes = parts, mesh_sizes
        self._known: dict[str, _Size] = {}
        self._open: list[str] = []
        self._models: dict[tuple[str, str], str] = {}  # (path of a model, name in it of another) -> path
        for document, whole in parts.values():
            for element in document.root.iter("model"):
                path = element.get("file")
                self._models[whole, element.get("name") or parts[path].document.root.get("model", "")] = path

    def of_file(self, path: str) -> _Size:
        """The size of all that a document says."""
        if path not in self._known:
            self._open.append(path)
            document, inside = self._parts[path].document, {}  # element -> sizes of its children
            for element in reversed(list(document.root.iter())):  # children first
                size = self._of(document, element, inside.pop(element, []))
                inside.setdefault(element.getparent(), []).append(size)
            self._known[path] = inside[None][0]
            self._open.pop()
        return self._known[path]

    def _of(self, document: xml.Document, element: etree._Element, inside: list[_Size]) -> _Size:
        path = self._other(document, element)
        if path is not None:
            inside = [*inside, self.of_file(path)]
        size = _Size(
            sum(x.elements for x in inside), sum(x.bytes for x in inside), max([0, *(x.depth for x in inside)])
        )
        copies, own = self._copies(document, element), self._mesh_sizes.get(element, 0)
        return _Size(1 + copies * max(size.elements, copies > 1), own + copies * size.bytes, 1 + size.depth)

    def _other(self, document: xml.Document, element: etree._Element) -> str | None:
        """The path of the document that an element stands for."""
        path = element.get("file") if element.tag == "include" else None
        if path in self._open:
            return None  # circles of includes are refused by MuJoCo
        if element.tag == "attach":
            whole = self._parts[self._open[-1]].model
            path = self._models.get((whole, element.get("model", "")))
        if path in self._open:
            raise ModelError(f"{document.where(element)}: <attach> of a model that contains this one")
        return path

    def _copies(self, document: xml.Document, element: etree._Element) -> float:
        """How many MuJoCo makes of an element, or of those inside."""
        if element.tag not in ("replicate", "composite", "flexcomp"):
            return 1
        count = math.prod(max(1, x) for key in ("count", "cellcount") for x in _numbers(document, element, key))
        if element.tag == "replicate":
            return count
        largest = max(self._mesh_sizes.values(), default=0) if "mesh" in element.attrib else 0
        points = len(element.get("point", "").split()) / 3
        return _VERTEX_ELEMENTS * max(count, points, max(largest, self._mesh_sizes.get(element, 0)) / _VERTEX)
