"""Reading XML of unknown origin: no entities, no DTD, no network, bounded size and depth; errors name file and line."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from itertools import repeat
from operator import attrgetter
from typing import NamedTuple

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ArgumentError
from .build import ModelError
from .model import Where

__all__ = ["ELEMENT_LIMIT", "SIZE_LIMIT", "Document", "read"]

SIZE_LIMIT = 8 * 2**20
"""Files larger than this [bytes] are refused; the largest robots known have less than 1 MB."""

ELEMENT_LIMIT = 200_000
"""Files with more elements than this are refused; the largest robots known have less than 10 000."""

_SMALLEST_ELEMENT = 4  # [bytes], <a/>

# huge_tree=False keeps libxml2's own bounds: 256 nested elements, 10 MB for one attribute, limited entity growth.
# collect_ids=False would be a little faster, but makes libxml2 load external DTDs whatever the other options say.
_PARSER = etree.XMLParser(
    resolve_entities=False, load_dtd=False, no_network=True, dtd_validation=False, huge_tree=False,
    remove_comments=True, remove_pis=True, remove_blank_text=True,
)  # fmt: skip

_line = attrgetter("sourceline")


class Document(NamedTuple):
    """A parsed file: its path as it was given, and the root element."""

    file: str
    root: etree._Element

    def where(self, element: etree._Element) -> Where:
        """File and line of an element."""
        return Where(self.file, element.sourceline)

    def places(self, elements: Iterable[etree._Element]) -> list[Where]:
        """File and line of many elements."""
        return list(map(Where, repeat(self.file), map(_line, elements)))


def read(path: str | os.PathLike) -> Document:
    """The XML document at `path`. `ModelError` for what is no file, too large, not well-formed, or has a DTD."""
    file = _path(path)
    data = _bytes(file)
    try:
        root = etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as error:
        raise ModelError(_syntax(file, error)) from None
    except ValueError as error:  # such as an encoding that does not exist
        raise ModelError(f"{file}: cannot be read as XML: {error}") from None
    if root is None:
        raise ModelError(f"{file}: has no XML element")
    if len(data) > _SMALLEST_ELEMENT * ELEMENT_LIMIT and (count := int(root.xpath("count(//*)"))) > ELEMENT_LIMIT:
        raise ModelError(f"{file}: has {count} elements; at most {ELEMENT_LIMIT} are read")
    if root.getroottree().docinfo.internalDTD is not None:
        raise ModelError(f"{file}: has a <!DOCTYPE>: entities and DTDs are refused; remove it, or expand them first")
    if root.tag.startswith("{"):
        _drop_namespace(root)
    return Document(file, root)


def _path(path: str | os.PathLike) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"a path must be a str or os.PathLike, got {type(path).__name__}")
    file = os.path.expanduser(os.fsdecode(path))
    if file.lstrip().startswith("<"):
        raise ArgumentError("a path is needed, not XML text: write the text to a file first")
    return file


def _bytes(file: str) -> bytes:
    try:
        status = os.stat(file)
        _check_status(file, status)
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


def _check_status(file: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):  # a pipe or a device might never end
        what = "is a folder" if stat.S_ISDIR(status.st_mode) else "is not a regular file"
        raise ModelError(f"{file}: {what}; a model file is needed")
    if status.st_size > SIZE_LIMIT:
        raise ModelError(f"{file}: has {status.st_size} bytes; at most {SIZE_LIMIT} are read")


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
