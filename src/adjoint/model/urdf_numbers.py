"""The numbers of a URDF file, read from the texts of all elements at once, and the placements they stand for."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from ..errors import ModelError
from .urdf_tags import NUMBERS, Column, attribute, clipped, label
from .xml_files import Document

__all__ = ["is_row", "numbers_of", "placements_of"]


def numbers_of(document: Document, elements: dict[str, Column]) -> dict[str, np.ndarray]:
    """Return {tag: array} with the numbers of all elements; `elements` is {tag: column}.

    An array has the axes (attributes of the tag, elements of the column, numbers of one attribute). A `ModelError`
    names the first attribute that is not as many finite decimal numbers as it should be.
    """
    texts: dict[int, list] = {arity: [] for arity, _ in NUMBERS.values()}
    for tag, (arity, attributes) in NUMBERS.items():
        for key, default in attributes.items():
            texts[arity] += map(attribute, elements[tag], repeat(key), repeat(default))
    try:
        rows = {arity: _rows(group, arity) for arity, group in texts.items()}
    except ValueError:
        raise _refusal(document, elements) from None
    found, start = {}, dict.fromkeys(texts, 0)
    for tag, (arity, attributes) in NUMBERS.items():
        end = start[arity] + len(attributes) * len(elements[tag])
        found[tag] = rows[arity][start[arity] : end].reshape(len(attributes), len(elements[tag]), arity)
        start[arity] = end
    return found


def _rows(texts: list, arity: int) -> np.ndarray:
    """Return the numbers (n, arity) of n texts; `ValueError` if one is missing or is not `arity` finite numbers."""
    if None in texts:
        raise ValueError
    joined = " , ".join(texts)
    if "_" in joined or not joined.isascii():  # `float` would accept 1_000 and digits of other scripts
        raise ValueError
    words = texts
    if arity > 1:
        words = joined.split()
        if len(words) != max(len(texts) * (arity + 1) - 1, 0):
            raise ValueError
        # These are the commas if every text has `arity` words. Otherwise a comma stays, and `float` refuses it.
        del words[arity :: arity + 1]
    rows = np.fromiter(map(float, words), float, len(words)).reshape(-1, arity)
    if not np.isfinite(rows).all():
        raise ValueError
    return rows


def is_row(text: str, arity: int) -> bool:
    """Return whether a text is `arity` finite decimal numbers."""
    try:
        return len(_rows([text], arity)) == 1
    except ValueError:
        return False


def _refusal(document: Document, elements: dict[str, Column]) -> ModelError:
    """Return the error about the first attribute that `_rows` cannot read."""
    for tag, (arity, attributes) in NUMBERS.items():
        for element in elements[tag]:
            for key, default in attributes.items():
                text = element.get(key, default)
                if text is None or not is_row(text, arity):
                    start = f"{document.where(element)}: {label(element)}: <{element.tag}"
                    needs = f"it needs {'one finite number' if arity == 1 else f'{arity} finite numbers'}"
                    if text is None:
                        return ModelError(f"{start}> has no {key}: {needs}")
                    return ModelError(f'{start} {key}="{clipped(text)}">: {needs}')
    raise AssertionError("all attributes can be read")


def placements_of(xyz: np.ndarray, rpy: np.ndarray) -> np.ndarray:
    """Return the placements (n, 4, 4) of origins: R = Rz(yaw) Ry(pitch) Rx(roll), as in `so3.from_rpy`."""
    (sx, sy, sz), (cx, cy, cz) = _sin_cos(rpy.T)
    T = np.zeros((len(xyz), 4, 4))
    T[:, 0, 0], T[:, 0, 1], T[:, 0, 2] = cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx
    T[:, 1, 0], T[:, 1, 1], T[:, 1, 2] = sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx
    T[:, 2, 0], T[:, 2, 1], T[:, 2, 2] = -sy, cy * sx, cy * cx
    T[:, :3, 3] = xyz
    T[:, 3, 3] = 1
    return T + 0.0  # this turns -0.0 into 0.0


def _sin_cos(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sines and cosines, which are exactly 0 and ±1 for angles within 1e-11 of a multiple of π/2.

    Files have angles with about twelve digits, and such an angle is meant to be the multiple itself. Compiled code
    leaves out products with exact zeros, but not those with 1e-12.
    """
    sine, cosine = np.sin(angles), np.cos(angles)
    exact = np.minimum(np.abs(sine), np.abs(cosine)) < 1e-11
    return np.where(exact, np.rint(sine), sine), np.where(exact, np.rint(cosine), cosine)
