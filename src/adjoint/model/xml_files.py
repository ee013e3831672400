"""Reading XML of unknown origin, which may be hostile.

Entities, DTDs and the network are refused, size and depth are bounded, and errors name file and line.
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterable
from itertools import repeat
from operator import attrgetter
from typing import NamedTuple

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ArgumentError, ModelError
from .parts import Finding, Where

__all__ = ["ELEMENT_LIMIT", "SIZE_LIMIT", "Document", "how_to_raise", "is_text", "read"]

SIZE_LIMIT = 8 * 2**20
"""Files larger than this [bytes] are refused; those of the largest robots known have less than 1 MB."""

ELEMENT_LIMIT = 200_000
"""Files with more elements than this are refused; the largest robots known have less than 10 000."""

_SMALLEST_ELEMENT = 4  # [bytes], that of <a/>

# huge_tree=False keeps libxml2's own bounds: 256 nested elements, 10 MB for one attribute, limited growth of entities.
# collect_ids=False would be a little faster, but makes libxml2 load external DTDs, whatever the other options say.
_OPTIONS = {
    "resolve_entities": False, "load_dtd": False, "no_network": True, "dtd_validation": False, "huge_tree": False,
    "remove_comments": True, "remove_pis": True, "remove_blank_text": True,
}  # fmt: skip
_NO_NAMESPACE = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE
_DECLARATION = re.compile(rb"(\xef\xbb\xbf)?([ \t\r\n]*)(<\?xml[ \t\r\n][^<>]*\?>)")
_TEXT = "text"  # the name, in messages, of a model that is given as text

_line = attrgetter("sourceline")


class Document(NamedTuple):
    """A parsed file: its path as it was given, its root element, and findings about its XML."""

    file: str
    root: etree._Element
    findings: tuple[Finding, ...] = ()
    is_text: bool = False  # whether it was given as text; then `file` is "text"

    def where(self, element: etree._Element) -> Where:
        """Return file and line of an element."""
        return Where(self.file, element.sourceline)

    def places(self, elements: Iterable[etree._Element]) -> list[Where]:
        """Return file and line of many elements."""
        return list(map(Where, repeat(self.file), map(_line, elements)))


def read(path: str | os.PathLike, limits: float = 1) -> Document:
    """Return the XML document in the file `path`, or in the text `path` if it begins with "<".

    `limits` is multiplied into all limits. A `ModelError` says if there is no such file, if it is too large or not
    well-formed, or if it has a DTD. Bad declarations and undefined prefixes, which parsers of XML refuse but other
    readers of robots accept, become findings.
    """
    given_as_text = is_text(path)
    file, data = (_TEXT, _encoded(path, limits)) if given_as_text else _from_disk(path, limits)
    data, odd = _usual_declaration(data, given_as_text)
    try:
        root, undefined = _parsed(data)
    except etree.XMLSyntaxError as error:
        raise ModelError(_syntax(file, error)) from None
    except ValueError as error:  # such as an encoding that does not exist
        raise ModelError(f"{file}: cannot be read as XML: {error}") from None
    if root is None:
        raise ModelError(f"{file}: has no XML element")
    _check_count(file, root, len(data), limits)
    if root.getroottree().docinfo.internalDTD is not None:
        raise ModelError(f"{file}: has a <!DOCTYPE>: entities and DTDs are refused; remove it, or expand them first")
    if root.tag.startswith("{"):
        _drop_namespace(root)
    notes = [(1, "xml-declaration", message) for message in odd] + [(line, "xml-namespace", m) for line, m in undefined]
    findings = [Finding("warning", code, "document", message, Where(file, line)) for line, code, message in notes]
    return Document(file, root, tuple(findings), given_as_text)


def how_to_raise(number: float, most: float, limits: float) -> str:
    """Return a message that says which `limits` of `load` would allow a number that is above the limit `most`.

    The factor `limits` of the current call has been multiplied into `most`.
    """
    if not math.isfinite(number):
        return "no limit allows it"
    return f"if you trust the model, load(..., limits={math.ceil(limits * number / most)}) allows it"


def is_text(path) -> bool:
    """Return whether a model was given as text, not as a path: a text begins with "<"."""
    return isinstance(path, str) and path.lstrip("\ufeff \t\r\n").startswith("<")


def _encoded(text, limits: float) -> bytes:
    data = text.encode(errors="surrogatepass")
    _check_size(_TEXT, len(data), limits)
    return data


def _from_disk(path: str | os.PathLike, limits: float) -> tuple[str, bytes]:
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"a path must be a str or os.PathLike, got {type(path).__name__}")
    file = os.path.expanduser(os.fsdecode(path))
    return file, _bytes(file, limits)


def _usual_declaration(data: bytes, given_as_text: bool) -> tuple[bytes, list[str]]:
    """Return the data with a valid XML declaration, and messages about what was wrong with it.

    Some files declare versions of XML that do not exist, or have blanks before the declaration. Elements stay on their
    lines.
    """
    found = _DECLARATION.match(data)
    if found is None:
        return data, []
    mark, blanks, declaration = found[1] or b"", found[2], found[3]
    usual, odd = re.sub(rb"""version\s*=\s*(["'])(?!1\.)[^"']*\1""", b'version="1.0"', declaration), []
    if usual != declaration:
        odd.append(f"{declaration.decode(errors='replace')} states no version of XML; it is read as version 1.0")
    if blanks:
        odd.append("there are blanks before the XML declaration, which must come first")
    if given_as_text:  # the text has been encoded anew, whatever its declaration says
        usual = re.sub(rb"""encoding\s*=\s*(["'])[^"']*\1""", b"", usual)
    return mark + usual + blanks + data[found.end() :], odd


def _parsed(data: bytes) -> tuple[etree._Element | None, list[tuple[int, str]]]:
    """Return the root, and (line, message) of each prefix that is not defined; it stays part of the names it is in."""
    try:
        return etree.fromstring(data, etree.XMLParser(**_OPTIONS)), []
    except etree.XMLSyntaxError as error:
        if error.code != _NO_NAMESPACE:
            raise
        lenient = etree.XMLParser(recover=True, **_OPTIONS)
        root = etree.fromstring(data, lenient)
        for entry in lenient.error_log:
            if entry.type != _NO_NAMESPACE:
                raise etree.XMLSyntaxError(entry.message, entry.type, entry.line, entry.column) from None
    first: dict[str, tuple[int, str]] = {}
    for entry in lenient.error_log:
        prefix = entry.message.partition("prefix ")[2].partition(" ")[0]
        first.setdefault(prefix, (entry.line, f"the prefix '{prefix}:' is not defined; it counts as part of names"))
    return root, list(first.values())


def _check_count(file: str, root: etree._Element, size: int, limits: float) -> None:
    most = limits * ELEMENT_LIMIT
    if size > _SMALLEST_ELEMENT * most and (count := int(root.xpath("count(//*)"))) > most:
        raise ModelError(
            f"{file}: has {count} elements; at most {most:.0f} are read; {how_to_raise(count, most, limits)}"
        )


def _bytes(file: str, limits: float) -> bytes:
    try:
        status = os.stat(file)
        _check_status(file, status, limits)
        with open(file, "rb") as stream:
            data = stream.read(status.st_size)
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from None
    except ModelError:
        raise
    except ValueError as error:  # such as a path with a NUL byte
        raise ModelError(f"{file!r}: is no path: {error}") from None
    if not data.strip():
        raise ModelError(f"{file}: is empty")
    return data


def _check_status(file: str, status: os.stat_result, limits: float) -> None:
    if not stat.S_ISREG(status.st_mode):  # a pipe or a device might never end
        what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is not a regular file"
        raise ModelError(f"{file}: {what}; a model file is needed")
    _check_size(file, status.st_size, limits)


def _check_size(file: str, size: int, limits: float) -> None:
    most = limits * SIZE_LIMIT
    if size > most:
        raise ModelError(f"{file}: has {size} bytes; at most {most:.0f} are read; {how_to_raise(size, most, limits)}")


def _syntax(file: str, error: etree.XMLSyntaxError) -> str:
    reason = (error.msg or "unknown error").split(", line ")[0]
    if "xacro" in reason:
        reason += f"; xacro files must be expanded first: xacro {file} > robot.urdf"
    elif "depth" in reason.lower():
        reason = "elements are nested more than 256 deep"
    return f"{Where(file, error.lineno or None)}: is not well-formed XML: {reason}"


def _drop_namespace(root: etree._Element) -> None:
    """Remove the root's own namespace from all elements, so that `<robot xmlns="...">` is a robot."""
    prefix = root.tag[: root.tag.index("}") + 1]
    for element in root.iter(f"{prefix}*"):
        element.tag = element.tag[len(prefix) :]
