"""Checking MJCF before MuJoCo reads it: MuJoCo gets a text of bounded size, without what is no part of a robot.

MuJoCo's parser opens every file that a model names, reads XML in its own way, and creates as many elements as the model
asks for. So it never gets the file. It gets the elements that were checked here, written anew, one on each line. The
contents of included files are put in their places, and mesh files are named by their full paths, as MuJoCo would find
them. The elements of `_NO_ROBOT`, among them all textures, are left out, and their files are not opened.
"""

from __future__ import annotations

import math
import os
import re
from typing import NamedTuple

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ModelError
from . import xml_files
from .meshes import Meshes
from .parts import Finding, Where

__all__ = ["Checked", "checked"]

_NO_ROBOT = ("visual", "statistic", "size", "custom", "keyframe", "sensor", "skin", "texture", "layer")
_NO_ROBOT_ATTRIBUTES = ("user", "nsample", "delay", "interp")  # data of users, and histories of actuators
_TEXTURED = ("material", "light")
_FOLDERS = ("meshdir", "assetdir", "strippath")  # attributes of <compiler> that say where meshes are

_DEPTH_LIMIT = 256  # of nested elements, through all attached models; libxml2 has the same limit for one file
_FILE_LIMIT = 200  # of included and attached files
_ELEMENT_LIMIT = 10_000  # with all copies; MuJoCo takes seconds for so many, and four times as long for twice as many
_MESH_LIMIT = 256 * 2**20  # [bytes] of all meshes together
_RESOLUTION_LIMIT = 100  # for each parameter of a built-in mesh, and for the length of an actuator's state
_VERTEX = 30  # [bytes] that a vertex of a flexible body takes at least in a file
_VERTEX_ELEMENTS = 4  # that MuJoCo makes of such a vertex: a body and three joints


class Checked(NamedTuple):
    """A checked model: its text, the texts of the models that it attaches, {full path: text}, and the findings.

    `places` {line: place} says where an element on a line of these texts is in the files. All texts together use each
    line number once.
    """

    text: str
    files: dict[str, bytes]
    places: dict[int, Where]
    findings: list[Finding]


class _Model(NamedTuple):
    """A model with what it includes; `included` says from which document the outermost included elements came."""

    document: xml_files.Document
    included: dict[etree._Element, xml_files.Document]

    def origin(self, element: etree._Element) -> xml_files.Document:
        """Return the document that an element is from."""
        above = [element, *element.iterancestors()]
        return next((self.included[x] for x in above if x in self.included), self.document)

    def where(self, element: etree._Element) -> Where:
        """Return file and line of an element."""
        return self.origin(element).where(element)


def checked(model: xml_files.Document, meshes: Meshes, limits: float = 1) -> Checked:
    """Return the checked texts of a model with all that it includes or attaches.

    A `ModelError` refuses models that would open files elsewhere, or that would become too large. `limits` is
    multiplied into all limits on their size.
    """
    files = _Files(meshes, limits)
    models = files.models(model)
    path = os.path.abspath(model.file)
    for part in models.values():
        _check_numbers(part, limits)
        files.name_meshes(part)
    files.refuse_outside()
    _check_growth(models, files.sizes, path, limits)
    places: dict[int, Where] = {}
    texts = {path: _text(part, places) for path, part in models.items()}
    findings = [finding for document in files.documents for finding in document.findings]
    return Checked(texts.pop(path), {path: text.encode() for path, text in texts.items()}, places, findings)


# --- documents --------------------------------------------------------------------------------------------------------


class _Files:
    """All files that a model names: the documents that it includes or attaches, and meshes."""

    def __init__(self, meshes: Meshes, limits: float):
        self._meshes, self._limits = meshes, limits
        self._outside: list[tuple[str, str]] = []  # (beginning of a message, path) of files that must not be read
        self._elements = 0
        self.sizes: dict[etree._Element, int] = {}  # {element: size [bytes] of the mesh file that it names}
        self.documents: list[xml_files.Document] = []

    def models(self, model: xml_files.Document) -> dict[str, _Model]:
        """Return {full path: model} for the model, those that it attaches, those that these attach, and so on.

        <model> elements get these paths too. MuJoCo finds texts by their file names alone, so if two files have the
        same name, the second gets another one.
        """
        path = os.path.abspath(model.file)
        models, waiting, names = {path: self._with_includes(model)}, [path], {path: os.path.basename(path)}
        for path in waiting:  # the list grows meanwhile
            part = models[path]
            for element in part.document.root.iter("model"):
                file = self._existing(part, element, _include_places(part, element))
                if file is None:
                    continue
                known = file in names
                inside = os.path.join(os.path.dirname(file), names.setdefault(file, _other_name(file, names)))
                element.set("file", inside)
                if not known:
                    models[inside] = self._with_includes(xml_files.read(file, self._limits))
                    waiting.append(inside)
        return models

    def _with_includes(self, document: xml_files.Document) -> _Model:
        """Return the model of a document, with all included elements in their places."""
        model = _Model(document, {})
        self._add(document)
        seen = {os.path.abspath(document.file)}
        waiting = list(document.root.iter("include"))
        for element in waiting:  # the list grows meanwhile
            file = self._existing(model, element, _include_places(model, element))
            if len(element):
                raise ModelError(f"{model.where(element)}: <include> cannot have elements inside")
            if sum(1 for _ in element.iterancestors()) > _DEPTH_LIMIT:
                raise ModelError(f"{model.where(element)}: elements are nested more than {_DEPTH_LIMIT} deep")
            if file in seen:
                raise ModelError(f"{model.where(element)}: '{element.get('file')}' is already included")
            if file is not None:
                seen.add(file)
                inside = xml_files.read(file, self._limits)
                self._add(inside)
                waiting += inside.root.iter("include")
                _put_in_place(model, element, inside)
        return model

    def _add(self, document: xml_files.Document) -> None:
        """Count a document, refuse it if it makes the model too large, and remove what is no part of a robot."""
        self.documents.append(document)
        self._elements += int(document.root.xpath("count(//*)"))
        for number, limit, what in (
            (len(self.documents), _FILE_LIMIT, "files"), (self._elements, xml_files.ELEMENT_LIMIT, "elements"),
        ):  # fmt: skip
            most = self._limits * limit
            if number > most:
                more = xml_files.how_to_raise(number, most, self._limits)
                raise ModelError(f"{document.file}: with it the model has more than {most:g} {what}; {more}")
        _refuse_other_names(document)
        _leave_out(document.root)

    def name_meshes(self, model: _Model) -> None:
        """Replace the names of mesh files by their full paths, as MuJoCo would find them."""
        compilers = list(model.document.root.iter("compiler"))
        folder, strip = _mesh_folder(model, compilers)
        for element in model.document.root.iter():
            _refuse_other_files(model, element)
            if element.get("file") and element.tag not in ("include", "model"):
                file = self._existing(model, element, _mesh_places(model, element, folder, strip))
                if file is not None:
                    element.set("file", file)
                    self.sizes[element] = os.path.getsize(file)
        for element in compilers:
            for key in _FOLDERS:
                element.attrib.pop(key, None)

    def _existing(self, model: _Model, element: etree._Element, places: list[str]) -> str | None:
        """Return the first of several places where the file is that an element names.

        The result is None if the file is outside of the folders to read from; `refuse_outside` raises the error later,
        so that it can name all such files.
        """
        name = element.get("file", "")
        label = f"{model.where(element)}: <{element.tag}> names '{name}', which"
        if re.match(r"\w{2,}:", name):  # one letter is a drive
            raise ModelError(f"{label} is no path; only files are read")
        file = next((os.path.abspath(place) for place in places if os.path.lexists(place)), None)
        if file is None or not name:
            folders = ", ".join(dict.fromkeys(os.path.dirname(os.path.abspath(place)) for place in places))
            raise ModelError(f"{label} does not exist in {folders}")
        outside = self._meshes.outside(file)
        if outside is not None:
            self._outside.append((f"{label} is {'' if outside == file else f'a link to {outside}, '}", outside))
            return None
        if not os.path.isfile(file):  # a pipe or a device might never end
            raise ModelError(f"{label} is not a regular file")
        return file

    def refuse_outside(self) -> None:
        """Raise `ModelError` if there are files outside: it names the first, and says how to allow all of them."""
        if self._outside:
            remedy = self._meshes.remedy({path for _, path in self._outside})
            raise ModelError(f"{self._outside[0][0]}{remedy}")


def _put_in_place(model: _Model, element: etree._Element, inside: xml_files.Document) -> None:
    """Put the elements of an included document in the place of the <include>."""
    parent = element.getparent()
    if parent is None:
        raise ModelError(f"{model.where(element)}: <include> is no model")
    for part in list(inside.root):
        element.addprevious(part)  # `insert` would have to count all siblings before it
        model.included[part] = inside
    parent.remove(element)


def _other_name(file: str, names: dict[str, str]) -> str:
    """Return the name of a file without its folder, changed until it differs from all values of `names`."""
    name = os.path.basename(file)
    while name in names.values():
        name = f"_{name}"
    return name


def _refuse_other_names(document: xml_files.Document) -> None:
    """Raise `ModelError` for namespaces and for <Include>.

    MuJoCo's parser ignores namespaces and case, so it would read elements as <include> that the checks here have
    missed.
    """
    for element in document.root.iter():
        if element.nsmap or element.tag.startswith("{") or ":" in element.tag:
            raise ModelError(f"{document.where(element)}: <{element.tag}> has a namespace; MJCF has none, remove it")
        if element.tag != "include" and element.tag.lower() == "include":
            raise ModelError(f"{document.where(element)}: <{element.tag}> must be written in small letters")


def _refuse_other_files(model: _Model, element: etree._Element) -> None:
    """Raise `ModelError` for names of files in other attributes than `file`, such as `fileup`.

    In MJCF only textures have such attributes, and textures have been removed.
    """
    for key in element.attrib:
        if key.startswith("file") and key != "file":
            raise ModelError(f"{model.where(element)}: <{element.tag}> has {key}=..., which is not MJCF")


def _leave_out(root: etree._Element) -> None:
    """Remove what is no part of a robot, and all textures."""
    for element in list(root.iter(*_NO_ROBOT)):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    for element in root.iter():
        for key in _NO_ROBOT_ATTRIBUTES:
            element.attrib.pop(key, None)
    for element in root.iter(*_TEXTURED):
        element.attrib.pop("texture", None)
    for element in root.iter("hfield"):  # terrain is no part of a robot, but geoms may name it, so it stays, as 2 x 2
        size = {key: element.get(key) for key in ("name", "size") if key in element.attrib}
        size.setdefault("name", os.path.splitext(os.path.basename(element.get("file", "")))[0])
        element.attrib.clear()
        element.attrib.update(size | {"nrow": "2", "ncol": "2"})


def _text(model: _Model, places: dict[int, Where]) -> str:
    """Return the elements as text, one on each line, and add their places to `places` {line: place}.

    The text begins with empty lines, so that its lines have other numbers than those that `places` has already.
    """
    first = len(places)
    for k, element in enumerate(model.document.root.iter(), 1):
        places[first + k] = model.where(element)
        before, parent = element.getprevious(), element.getparent()
        element.text = element.tail = None
        if before is not None:
            before.tail = "\n"
        elif parent is not None:
            parent.text = "\n"
    return "\n" * first + etree.tostring(model.document.root, encoding="unicode")


# --- where MuJoCo looks for files -------------------------------------------------------------------------------------


def _include_places(model: _Model, element: etree._Element) -> list[str]:
    """Return the paths where MuJoCo looks for an included file: beside the model, then beside the including file."""
    folders = [os.path.dirname(os.path.abspath(x.file)) for x in (model.document, model.origin(element))]
    return [os.path.join(folder, element.get("file", "")) for folder in dict.fromkeys(folders)]


def _mesh_folder(model: _Model, compilers: list[etree._Element]) -> tuple[str, bool]:
    """Return the folder of meshes, and whether MuJoCo drops the folders in their names; the last <compiler> counts."""
    folder, strip = "", False
    for element in compilers:
        folder = element.get("meshdir", element.get("assetdir", folder))
        strip = element.get("strippath", str(strip).lower()) == "true"
    return os.path.join(os.path.dirname(os.path.abspath(model.document.file)), folder), strip


def _mesh_places(model: _Model, element: etree._Element, folder: str, strip: bool) -> list[str]:
    """Return the paths where MuJoCo looks for a mesh: in the folder of meshes, then beside an included file."""
    name = element.get("file", "")
    if strip:
        return [os.path.join(folder, re.split(r"[/\\]", name)[-1])]
    origin = model.origin(element)
    beside = [os.path.dirname(os.path.abspath(origin.file))] if origin is not model.document else []
    return [os.path.join(place, name) for place in (folder, *beside)]


# --- size -------------------------------------------------------------------------------------------------------------


def _check_numbers(model: _Model, limits: float) -> None:
    """Raise `ModelError` for large numbers that set the size of a built-in mesh, or of an actuator's state."""
    most = limits * _RESOLUTION_LIMIT
    for element in model.document.root.iter():
        for key in ("params", "actdim"):
            largest = max(map(abs, _numbers(model, element, key)), default=0.0)
            if not largest <= most:
                more = xml_files.how_to_raise(largest, most, limits)
                raise ModelError(f"{model.where(element)}: <{element.tag}> has {key} above {most:g}; {more}")


def _numbers(model: _Model, element: etree._Element, key: str) -> list[float]:
    try:
        return [float(word) for word in element.get(key, "").split()]
    except ValueError:
        raise ModelError(f"{model.where(element)}: <{element.tag}> needs numbers as {key}") from None


class _Size(NamedTuple):
    """The size of what MuJoCo makes of an element and those inside."""

    elements: float
    bytes: float  # of mesh files, counted each time they are used
    depth: int


def _check_growth(models: dict[str, _Model], mesh_sizes: dict[etree._Element, int], path: str, limits: float) -> None:
    """Raise `ModelError` if a model becomes too large by <replicate>, <attach>, <composite> or <flexcomp>."""
    size = _Sizes(models, mesh_sizes).of_model(path)
    made = "it has {:.6g} elements, with those that <replicate>, <attach> and the like make"
    for number, most, what in (
        (size.elements, limits * _ELEMENT_LIMIT, made),
        (size.bytes, limits * _MESH_LIMIT, "its meshes have {:.3g} bytes, each time they are used"),
    ):
        if not number <= most:
            more = xml_files.how_to_raise(number, most, limits)
            raise ModelError(f"{path}: {what.format(number)}; {most:g} is most; {more}")
    if size.depth > _DEPTH_LIMIT:
        raise ModelError(
            f"{path}: its elements, with those attached, are nested {size.depth} deep; {_DEPTH_LIMIT} is most"
        )


class _Sizes:
    """The sizes of models, including the models that they attach."""

    def __init__(self, models: dict[str, _Model], mesh_sizes: dict[etree._Element, int]):
        self._models, self._mesh_sizes = models, mesh_sizes
        self._known: dict[str, _Size] = {}
        self._open: list[str] = []  # models whose sizes are being computed; each attaches the next
        self._named: dict[tuple[str, str], str] = {}  # {(path of a model, name of another one in it): path of that}
        for path, model in models.items():
            for element in model.document.root.iter("model"):
                other = element.get("file")
                if other in models:
                    self._named[path, element.get("name") or models[other].document.root.get("model", "")] = other

    def of_model(self, path: str) -> _Size:
        """Return the size of all that MuJoCo makes of a model."""
        if path not in self._known:
            self._open.append(path)
            model, inside = self._models[path], {}  # {element: sizes of its children}
            for element in reversed(list(model.document.root.iter())):  # children first
                size = self._of(model, element, inside.pop(element, []))
                inside.setdefault(element.getparent(), []).append(size)
            self._known[path] = inside[None][0]
            self._open.pop()
        return self._known[path]

    def _of(self, model: _Model, element: etree._Element, inside: list[_Size]) -> _Size:
        """Return the size of an element, given the sizes of its children."""
        path = self._attached(model, element)
        if path is not None:
            inside = [*inside, self.of_model(path)]
        size = _Size(
            sum(x.elements for x in inside), sum(x.bytes for x in inside), max([0, *(x.depth for x in inside)])
        )
        copies, own = self._copies(model, element), self._mesh_sizes.get(element, 0)
        return _Size(1 + copies * max(size.elements, copies > 1), own + copies * size.bytes, 1 + size.depth)

    def _attached(self, model: _Model, element: etree._Element) -> str | None:
        """Return the path of the model that an element attaches, or None."""
        path = self._named.get((self._open[-1], element.get("model", ""))) if element.tag == "attach" else None
        if path in self._open:
            raise ModelError(f"{model.where(element)}: <attach> of a model that contains this one")
        return path

    def _copies(self, model: _Model, element: etree._Element) -> float:
        """Return how many copies MuJoCo makes of what is inside an element, or how many elements it makes of it."""
        if element.tag not in ("replicate", "composite", "flexcomp"):
            return 1
        count = math.prod(max(1, x) for key in ("count", "cellcount") for x in _numbers(model, element, key))
        if element.tag == "replicate":
            return count
        largest = max(self._mesh_sizes.values(), default=0) if "mesh" in element.attrib else 0
        points = len(element.get("point", "").split()) / 3
        return _VERTEX_ELEMENTS * max(count, points, max(largest, self._mesh_sizes.get(element, 0)) / _VERTEX)
