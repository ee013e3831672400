"""What molecules look like, as visuals of the bodies of a robot: balls and sticks, or a tube along a long chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..model.parts import Visual
from .triangles import along

__all__ = ["ELEMENTS", "balls_and_sticks", "tube_between"]

ELEMENTS = {
    "H": (0.92, 0.92, 0.92), "D": (0.85, 0.92, 0.95), "C": (0.36, 0.38, 0.41), "N": (0.19, 0.38, 0.80),
    "O": (0.84, 0.20, 0.16), "F": (0.45, 0.78, 0.35), "P": (0.90, 0.50, 0.10), "S": (0.90, 0.75, 0.15),
    "Cl": (0.30, 0.70, 0.30), "Se": (0.80, 0.55, 0.10), "Br": (0.55, 0.22, 0.16), "I": (0.45, 0.20, 0.60),
}  # fmt: skip
"""The colors (red, green, blue) of atoms, near those that chemists use."""

_LIGHT, _HEAVY = 0.26, 0.42  # radii of the balls of hydrogen and of other atoms [Å]
_STICK = 0.13  # radius of a bond [Å]
_STICK_COLOR = (0.70, 0.72, 0.75, 1.0)
_TUBE = 0.75  # radius of the tube along a long chain [Å]
_ENDS = (
    (0.18, 0.42, 0.72),
    (0.93, 0.90, 0.86),
    (0.88, 0.48, 0.13),
)  # its colors: at the start, in the middle, at the end


def balls_and_sticks(
    frame: str, elements: Sequence[str], positions: np.ndarray, bonds: Iterable[tuple[np.ndarray, np.ndarray]]
) -> Iterator[Visual]:
    """The visuals of atoms at positions (k, 3) in a frame, and of bonds between pairs of points there [Å]."""
    for element, x in zip(elements, positions, strict=True):
        T = np.eye(4)
        T[:3, 3] = x
        color = (*ELEMENTS.get(element, (0.7, 0.4, 0.7)), 1.0)
        yield Visual(frame, T, "sphere", (_LIGHT if element in ("H", "D") else _HEAVY,), color=color)
    for a, b in bonds:
        length = float(np.linalg.norm(b - a))
        if length > 0:
            yield Visual(frame, along((a + b) / 2, b - a), "cylinder", (_STICK, length), color=_STICK_COLOR)


def tube_between(frame: str, a: np.ndarray, b: np.ndarray, part: float) -> Iterator[Visual]:
    """A piece of the tube along a chain, from a to b [Å] in a frame; `part`, from 0 to 1, says where in the chain."""
    length = float(np.linalg.norm(b - a))
    if length > 0:
        red, green, blue = (float(np.interp(part, (0.0, 0.5, 1.0), column)) for column in zip(*_ENDS, strict=True))
        yield Visual(frame, along((a + b) / 2, b - a), "capsule", (_TUBE, length), color=(red, green, blue, 1.0))
