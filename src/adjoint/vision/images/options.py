"""Options that several filters share: windows, borders and pixels."""

from __future__ import annotations

import operator

import numpy as np

from ...errors import ArgumentError

__all__ = ["BORDERS", "border_type", "finite_number", "pixel", "window"]

BORDERS = {
    "nearest": "BORDER_REPLICATE",
    "mirror": "BORDER_REFLECT_101",
    "reflect": "BORDER_REFLECT",
    "zero": "BORDER_CONSTANT",
}
"""What stands beyond the border of an image, by SciPy's names, and OpenCV's name for it."""


def border_type(border: str, cv2, caller: str) -> int:
    """OpenCV's number of a border, or an `ArgumentError` that lists the names."""
    name = BORDERS.get(border) if isinstance(border, str) else None
    if name is None:
        raise ArgumentError(f"{caller}: border is {border!r:.60}; it must be one of {', '.join(map(repr, BORDERS))}")
    return getattr(cv2, name)


def window(size, caller: str) -> tuple[int, int]:
    """The (rows, columns) of a window with a middle pixel, from one odd number or two."""
    try:
        rows, columns = size if isinstance(size, (tuple, list)) else (size, size)
        rows, columns = operator.index(rows), operator.index(columns)
    except (TypeError, ValueError):
        rows = columns = 0
    if not (0 < rows < 2**15 and 0 < columns < 2**15 and rows % 2 and columns % 2):
        raise ArgumentError(f"{caller}: size is {size!r:.60}; it must be an odd whole number, or two, (rows, columns)")
    return rows, columns


def pixel(at, shape: tuple[int, int], name: str, caller: str) -> tuple[int, int]:
    """The (row, column) of a pixel that is given as (u, v) = (column, row) and lies in an image of this shape."""
    rows, columns = shape
    try:
        u, v = (operator.index(x) for x in at)
    except (TypeError, ValueError):
        raise ArgumentError(f"{caller}: {name} is {at!r:.60}; it must be a pixel (u, v), two whole numbers") from None
    if not (0 <= u < columns and 0 <= v < rows):
        raise ArgumentError(
            f"{caller}: {name} is ({u}, {v}), which is outside of the image: (u, v) = (column, row), with "
            f"u from 0 to {columns - 1} and v from 0 to {rows - 1}"
        )
    return v, u


def finite_number(value, name: str, caller: str) -> float:
    """The value as a float, if it is one finite number; else an `ArgumentError` names it."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = np.nan
    if not np.isfinite(found):
        raise ArgumentError(f"{caller}: {name} is {value!r:.60}; it must be a finite number")
    return found
