"""What the writers of model files share: texts that XML can hold, numbers with all their digits, and whole files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ..errors import ArgumentError, ModelError
from ..files import whole_file
from .parts import Body

__all__ = ["check_path", "inexpressible", "joined", "one_number", "text_for_xml", "written"]


def check_path(path, caller: str) -> None:
    """Raise `ArgumentError` if the path of a file to write is none."""
    if path is not None and not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"{caller}: path must be a str or os.PathLike, got {type(path).__name__}")


def written(root: etree._Element, path: str | os.PathLike | None) -> str:
    """Return the text of a document, and write it to the file `path` if one is given, all of it or nothing."""
    etree.indent(root)
    text = etree.tostring(root, encoding="unicode") + "\n"
    if path is None:
        return text
    try:
        with whole_file(Path(os.path.expanduser(path))) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from None
    except ArgumentError as error:  # a folder
        raise ModelError(str(error)) from None
    except ValueError as error:  # such as a path with a NUL byte
        raise ModelError(f"{os.fspath(path)!r}: is no path: {error}") from None
    return text


def text_for_xml(text: str, label: str) -> str:
    """Return the text if XML can hold it, else raise `ModelError`."""
    try:
        etree.Element("x", name=text)
    except ValueError:
        raise ModelError(f"{label}: the name {text!r} has characters XML cannot hold") from None
    return text


def joined(numbers) -> str:
    """Return numbers as text, with all their digits and blanks between them."""
    return " ".join([repr(float(x) + 0.0).removesuffix(".0") for x in np.ravel(numbers)])


def one_number(body: Body, key: str, values, form: str) -> float:
    """Return the one number that the format `form` has for several degrees of freedom of a joint."""
    if np.ptp(np.nan_to_num(values)) != 0:
        raise inexpressible(body, f"its {key} differs between its degrees of freedom; {form} has one number")
    return float(np.ravel(values)[0])


def inexpressible(body: Body, why: str) -> ModelError:
    """Return the error about a joint that the format cannot express."""
    return ModelError(f"joint '{body.joint.name}' ({body.joint.type}): {why}")
