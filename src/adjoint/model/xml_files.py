"""Reading XML of unknown origin: no entities, no DTD, no network, bounded size and depth; errors name file and line."""

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
"""Files larger than this [bytes] are refused; the largest robots known have less than 1 MB."""

ELEMENT_LIMIT = 200_000
"""Files with more elements than this are refused; the largest robots known have less than 10 000."""

_SMALLEST_ELEMENT = 4  # [bytes], <a/>

# huge_tree=False keeps libxml2's own bounds: 256 nested elements, 10 MB for one attribute, limited entity growth.
# collect_ids=False would be a little faster, but makes libxml2 load external DTDs whatever the other options say.
_OPTIONS = {
    "resolve_entities": False, "load_dtd": False, "no_network": True, "dtd_validation": False, "huge_tree": False,
    "remove_comments": True, "remove_pis": True, "remove_blank_text": True,
}  # fmt: skip
_PARSER = etree.XMLParser(**_OPTIONS)
_NO_NAMESPACE = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE
_DECLARATION = re.compile(rb"(\xef\xbb\xbf)?([ \t\r\n]*)(<\?xml[ \t\r\n][^<>]*\?>)")
_TEXT = "text"  # the name, in messages, of a model that is given as text

_line = attrgetter("sourceline")


class Document(NamedTuple):
    """A parsed file: its path as it was given, the root element, and what is odd about its XML."""

    file: str
    root: etree._Element
    findings: tuple[Finding, ...] = ()
    is_text: bool = False  # it was given as text, and its file is called "text"

    def where(self, element: etree._Element) -> Where:
        """File and line of an element."""
        return Where(self.file, element.sourceline)

    def places(self, elements: Iterable[etree._Element]) -> list[Where]:
        """File and line of many elements."""
        return list(map(Where, repeat(self.file), map(_line, elements)))


def read(path: str | os.PathLike, limits: float = 1) -> Document:
    """The XML document at `path`, or that text itself if it begins with "<"; `limits` is a factor of all limits.

    `ModelError` for what is no file, too large, not well-formed, or has a DTD. Declarations and namespaces that no
    parser of XML accepts, but those of robots do, are findings.
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
    told = [(1, "xml-declaration", message) for message in odd] + [(line, "xml-namespace", m) for line, m in undefined]
    findings = [Finding("warning", code, "document", message, Where(file, line)) for line, code, message in told]
    return Document(file, root, tuple(findings), given_as_text)


def how_to_raise(number: float, most: float, limits: float) -> str:
    """What to say of a number above a limit, `most`, that `limits` has been multiplied into."""
    if not math.isfinite(number):
        return "no limit allows it"
    return f"if you trust the model, load(..., limits={math.ceil(limits * number / most)}) allows it"


def is_text(path) -> bool:
    """Whether a model was given as text, not as a path: no path begins with "<"."""
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
    """The data with an XML declaration as it should be, every line where it was; what was odd about it."""
    found = _DECLARATION.match(data)
    if found is None:
        return data, []
    mark, blanks, declaration = found[1] or b"", found[2], found[3]
    usual, odd = re.sub(rb"""version\s*=\s*(["'])(?!1\.)[^"']*\1""", b'version="1.0"', declaration), []
    if usual != declaration:
        odd.append(f"{declaration.decode(errors='replace')} states no version of XML; it is read as version 1.0")
    if blanks:
        odd.append("there are blanks before the XML declaration, which must come first")
    if given_as_text:  # what its bytes were before does not matter any more
        usual = re.sub(rb"""encoding\s*=\s*(["'])[^"']*\1""", b"", usual)
    return mark + usual + blanks + data[found.end() :], odd


def _parsed(data: bytes) -> tuple[etree._Element | None, list[tuple[int, str]]]:
    """The root, and the (line, message) of prefixes that are not defined, each told once; they stay parts of names."""
    try:
        return etree.fromstring(data, _PARSER), []
    except etree.XMLSyntaxError as error:
        if error.code != _NO_NAMESPACE:
            raise
        lenient = etree.XMLParser(recover=True, **_OPTIONS)
        root = etree.fromstring(data, lenient)
        for entry in lenient.error_log:
            if entry.type != _NO_NAMESPACE:
                raise etree.XMLSyntaxError(entry.message, entry.type, entry.line, entry.column) from None
    told: dict[str, tuple[int, str]] = {}
    for entry in lenient.error_log:
        prefix = entry.message.partition("prefix ")[2].partition(" ")[0]
        told.setdefault(prefix, (entry.line, f"the prefix '{prefix}:' is not defined; it counts as part of names"))
    return root, list(told.values())


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
    """Elements of the root's own namespace lose it: `<robot xmlns="...">` is a robot."""
    prefix = root.tag[: root.tag.index("}") + 1]
    for element in root.iter(f"{prefix}*"):
        element.tag = element.tag[len(prefix) :]
