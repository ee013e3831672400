"""Neighbours of a pixel, and which of them are adjacent to it: 4-, 8- and m-adjacency.

Fu, Gonzalez & Lee (1987), §7.5.1-7.5.2.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray
from .options import pixel

__all__ = ["NEIGHBOUR_STEPS", "adjacent", "members", "neighbours", "rule", "structure"]

_FOUR = ((1, 0), (0, 1), (-1, 0), (0, -1))
_DIAGONAL = ((1, 1), (-1, 1), (-1, -1), (1, -1))

NEIGHBOUR_STEPS: dict[str, np.ndarray] = {
    "4": np.array(_FOUR),
    "diagonal": np.array(_DIAGONAL),
    "8": np.array(_FOUR + _DIAGONAL),
}
"""The steps (du, dv) (n, 2) from a pixel to its neighbours: N4, ND and N8 of the textbook."""

for _steps in NEIGHBOUR_STEPS.values():
    _steps.setflags(write=False)


def neighbours(at, kind: str | int = 8, *, size: tuple[int, int] | None = None) -> np.ndarray:
    """The neighbours (n, 2) of a pixel (u, v) = (column, row), in whole numbers.

    `kind` is 4 (to the sides), "diagonal" or 8 (both). With `size` = (columns, rows) of an image, those outside are
    left out.

        >>> neighbours((0, 0), 4, size=(640, 480))
        array([[1, 0],
               [0, 1]])

    Fu, Gonzalez & Lee (1987), §7.5.1.
    """
    steps = NEIGHBOUR_STEPS.get(str(kind))
    if steps is None:
        raise ArgumentError(f"neighbours: kind is {kind!r:.60}; it must be 4, 8 or 'diagonal'")
    centre = np.asarray(at)
    if centre.shape != (2,) or centre.dtype.kind not in "iu":
        raise ArgumentError(f"neighbours: the pixel is {at!r:.60}; it must be (u, v), two whole numbers")
    found = centre + steps
    if size is None:
        return found
    return found[((found >= 0) & (found < np.asarray(size))).all(axis=1)]


class _Rule(NamedTuple):
    """A rule of adjacency: does it take diagonal steps, and only where no pixel to both sides is in the set?"""

    diagonal: bool
    mixed: bool


_RULES = {"4": _Rule(False, False), "8": _Rule(True, False), "m": _Rule(True, True)}


def rule(connectivity, caller: str) -> _Rule:
    """The rule of 4, 8 or "m", or an `ArgumentError`."""
    found = _RULES.get(str(connectivity))
    if found is None:
        raise ArgumentError(f"{caller}: connectivity is {connectivity!r:.60}; it must be 4, 8 or 'm'")
    return found


def structure(connectivity, caller: str) -> np.ndarray:
    """The 3 × 3 structure of a connectivity for `scipy.ndimage.label`; m-connected sets are the 8-connected ones."""
    return (
        np.ones((3, 3), bool)
        if rule(connectivity, caller).diagonal
        else np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
    )


def members(image, values: Collection | None, caller: str) -> np.ndarray:
    """Where the pixels have values of the set V, (rows, columns) bool: `values`, or all but 0 if it is None."""
    f = gray(image, caller)
    if values is None:
        return f if f.dtype == np.bool_ else f != 0
    try:
        wanted = np.asarray(sorted(values))
    except TypeError:
        raise ArgumentError(
            f"{caller}: values is {values!r:.60}; it must be a set of gray levels, such as {{59, 60, 61}}"
        ) from None
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "buif"):
        raise ArgumentError(
            f"{caller}: values is {values!r:.60}; it must be a set of gray levels, such as {{59, 60, 61}}"
        )
    return np.isin(f, wanted)


def adjacent(image, p, q, values: Collection | None = None, connectivity: int | str = "m") -> bool:
    """Are the pixels p and q, both (u, v), adjacent, that is, connected directly?

    Both must have levels from the set `values` (all levels but 0 if it is None). They are 4-adjacent if they lie side
    by side, and 8-adjacent also if they touch at a corner. They are m-adjacent if they lie side by side, or if they
    touch at a corner and neither of the two pixels that lie beside both has a level from `values`: then one way leads
    from p to q.

        >>> f = np.array([[0, 1, 1], [0, 2, 0], [0, 0, 1]])
        >>> adjacent(f, (1, 1), (2, 0), {1, 2}, 8), adjacent(f, (1, 1), (2, 0), {1, 2}, "m")
        (True, False)

    Fu, Gonzalez & Lee (1987), §7.5.2.
    """
    how = rule(connectivity, "adjacent")
    inside = members(image, values, "adjacent")
    (r, c), (s, d) = (pixel(x, inside.shape, name, "adjacent") for x, name in ((p, "p"), (q, "q")))
    if not (inside[r, c] and inside[s, d]):
        return False
    sides = abs(r - s) + abs(c - d)
    if sides == 1:
        return True
    if sides != 2 or abs(r - s) != 1 or not how.diagonal:
        return False
    return not (how.mixed and (inside[r, d] or inside[s, c]))
