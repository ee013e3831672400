"""Chain codes: boundaries as digits, their normal forms, and what can be read from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, floats, positive, truth
from ..image_checks import binary
from .boundaries import Boundary, boundary_points, crack_boundaries, four_or_eight, pixel_boundaries

__all__ = [
    "ChainCode",
    "chain_area",
    "chain_code",
    "chain_code_of_segments",
    "chain_perimeter",
    "chain_points",
    "first_difference",
    "grid_cells",
    "outer_boundary",
    "start_normalized",
]

# The 8-code counts eighths of a turn, counter-clockwise as seen, from the east; v points down. The 4-code has every
# second one.
_DU = np.array([1, 1, 0, -1, -1, -1, 0, 1])
_DV = np.array([0, -1, -1, -1, 0, 1, 1, 1])
_DIGIT = np.array([[3, 2, 1], [4, 8, 0], [5, 6, 7]], np.uint8)  # the digit of a step (Δv, Δu), each -1, 0 or 1


@dataclass(frozen=True)
class ChainCode:
    """A chain code: its digits as `text`, with leading zeros, its number of `directions`, and its `start` (u, v).

    With 4 directions, 0 is east, 1 north (towards smaller v), 2 west, 3 south; with 8, 0 is east, 1 north-east, and so
    on. `len(code)` is its number of digits, and `str(code)` are the digits.

        >>> ChainCode("0321").closed
        True
    """

    text: str
    directions: int = 4
    start: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self):
        _digits(self.text, self.directions, "ChainCode")

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.text)

    @property
    def digits(self) -> np.ndarray:
        """The digits, as an array (n,) of uint8."""
        return np.frombuffer(self.text.encode(), np.uint8) - np.uint8(48)

    @property
    def closed(self) -> bool:
        """Whether the steps lead back to the start."""
        return not any(_way(self.digits, self.directions))


Code = ChainCode | str | Sequence[int] | np.ndarray


def _digits(code, directions: int, caller: str) -> tuple[np.ndarray, int]:
    """The digits of a code, checked, and its number of directions."""
    if isinstance(code, ChainCode):
        return code.digits, code.directions
    four_or_eight(directions, f"{caller}: 'directions'")
    if isinstance(code, str):
        digits = np.frombuffer(code.encode("utf-32-le"), np.uint32).astype(np.int64) - 48
    else:
        try:
            digits = np.asarray(code)
        except (TypeError, ValueError):
            digits = np.asarray(None)
        if digits.ndim != 1 or (digits.size and digits.dtype.kind not in "iu"):
            raise ArgumentError(f"{caller}: a code is a ChainCode, a text of digits, or whole numbers (n,)")
    wrong = np.flatnonzero((digits < 0) | (digits >= directions))
    if wrong.size:
        k = int(wrong[0])
        raise ArgumentError(f"{caller}: the code has {code[k]!r} at position {k}; digits are 0 to {directions - 1}")
    return digits.astype(np.uint8), directions


def _way(digits: np.ndarray, directions: int) -> tuple[int, int]:
    """The sum (Δu, Δv) of all steps."""
    counts = np.zeros(8, int)
    counts[:: 8 // directions] = np.bincount(digits, minlength=directions)
    return int(counts @ _DU), int(counts @ _DV)


def closed_digits(code: Code, directions: int, caller: str) -> tuple[np.ndarray, int]:
    """The digits of a code that is closed, or an `ArgumentError` that says how far it is open."""
    digits, directions = _digits(code, directions, caller)
    gap = _way(digits, directions)
    if any(gap) or not digits.size:
        raise ArgumentError(
            f"{caller}: the code is open: it ends {gap} pixels (u, v) from its start; a closed one is needed"
        )
    return digits, directions


def _text(digits: np.ndarray) -> str:
    return (digits.astype(np.uint8) + np.uint8(48)).tobytes().decode()


# --- codes of images and boundaries -----------------------------------------------------------------------------------


def chain_code(shape, *, directions: int | None = None, cell: int = 1) -> ChainCode:
    """The chain code of the one region in a binary image, clockwise as seen, or of a `Boundary` of unit steps.

    With 4 `directions`, which images have by default, the code runs along the sides of pixels (`crack_boundaries`),
    from the first corner in the order of rows; with 8 it runs from pixel to pixel (`pixel_boundaries`, by OpenCV).
    Holes are ignored. With `cell`, pixels are first gathered into square cells of so many pixels (`grid_cells`), and
    positions are those of cells. A `Boundary` gets 4 directions if it has no diagonal step. The code of an open contour
    has no step from its end to its start, and is not `closed`.

        >>> chain_code(np.ones((2, 2), bool)).text
        '00332211'
        >>> chain_code(Boundary(np.array([[0, 0], [1, 0], [2, 1]])))
        ChainCode(text='07', directions=8, start=(0.0, 0.0))

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1.
    """
    if directions is not None:
        four_or_eight(directions, "chain_code: 'directions'")
    if isinstance(shape, Boundary):
        return _code_of_points(boundary_points(shape, "chain_code", 1), directions)
    image = binary(shape, "chain_code")
    image = grid_cells(image, cell) if at_least_one(cell, "chain_code: 'cell'") > 1 else image
    return _code_of_points(outer_boundary(image, "chain_code", pixels=directions == 8).points, directions or 4)


def outer_boundary(image, caller: str, pixels: bool = False) -> Boundary:
    """The outer boundary of the one region of a binary image, or an `ArgumentError`."""
    found = pixel_boundaries(image) if pixels else crack_boundaries(binary(image, caller))
    outer = [boundary for boundary in found if not boundary.hole]
    if len(outer) != 1:
        what = f"the image has {len(outer)} regions" if outer else "the image has no object pixels"
        hint = "; choose one boundary of crack_boundaries or pixel_boundaries" if outer else ""
        raise ArgumentError(f"{caller}: {what}; one is needed{hint}")
    return outer[0]


def _code_of_points(points: np.ndarray, directions: int | None) -> ChainCode:
    steps = np.diff(points, axis=0, append=points[:1])
    whole = np.rint(steps).astype(np.int64)
    exact = (np.abs(steps - whole) < 1e-9).all(axis=1) & (np.abs(whole).max(axis=1) == 1)
    if not exact[-1]:  # an open contour
        steps, whole, exact = steps[:-1], whole[:-1], exact[:-1]
    if not exact.all():
        k = int(np.flatnonzero(~exact)[0])
        raise ArgumentError(
            f"chain_code: the step from point {k} to the next is {steps[k].tolist()}; a chain code has steps of one "
            "pixel along u, v or both. chain_code_of_segments codes other boundaries"
        )
    digits = _DIGIT[whole[:, 1] + 1, whole[:, 0] + 1]
    straight = not (digits & 1).any()
    if directions == 4 and not straight:
        raise ArgumentError("chain_code: the boundary has diagonal steps, which 4 directions do not have; ask for 8")
    start = (float(points[0, 0]), float(points[0, 1]))
    if directions == 4 or (directions is None and straight):
        return ChainCode(_text(digits >> 1), 4, start)
    return ChainCode(_text(digits), 8, start)


def chain_code_of_segments(boundary, segments: int, *, directions: int = 8) -> ChainCode:
    """The code of a closed boundary (n, 2) that is cut into `segments` of equal length: the nearest direction of each.

    Boundaries of all sizes get codes of the same length. Directions are rounded, so the code need not be closed.

        >>> chain_code_of_segments([[0, 0], [8, 0], [8, 8], [0, 8]], 8).text
        '00664422'

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.28.
    """
    points = boundary_points(boundary, "chain_code_of_segments")
    four_or_eight(directions, "chain_code_of_segments: 'directions'")
    ends = resampled(points, at_least_one(segments, "chain_code_of_segments: 'segments'"))
    du, dv = np.diff(ends, axis=0, append=ends[:1]).T
    # Halves are rounded towards the east, also if they come with rounding errors.
    eighths = np.ceil(np.arctan2(-dv, du) * directions / (2 * np.pi) - 0.5 - 1e-9).astype(int) % directions
    return ChainCode(_text(eighths), directions, (float(points[0, 0]), float(points[0, 1])))


def at_least_one(n, label: str) -> int:
    """Return n if it is a whole number from 1 on, or raise an `ArgumentError` that names `label`."""
    if not count(n, label):
        raise ArgumentError(f"{label} is 0; 1 or more is needed")
    return int(n)


def resampled(points: np.ndarray, samples: int) -> np.ndarray:
    """Points (samples, 2), equally far apart along a closed polygon (n, 2), from its first point."""
    around = np.concatenate([points, points[:1]])
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(around, axis=0).T))])
    at = np.arange(samples) * (arc[-1] / samples)
    return np.stack([np.interp(at, arc, around[:, 0]), np.interp(at, arc, around[:, 1])], axis=1)


def grid_cells(image, cell: int, *, share: float = 0.5) -> np.ndarray:
    """A binary image as a coarser one: square cells of `cell` pixels whose object part is more than `share`.

    Cells begin at pixel (0, 0); what is beyond the last row and column counts as background.

        >>> grid_cells(np.array([[1, 1, 0, 0], [0, 1, 1, 0]]), 2)
        array([[ True, False]])

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.27.
    """
    image, cell = binary(image, "grid_cells"), at_least_one(cell, "grid_cells: 'cell'")
    if not positive(share, "grid_cells: 'share'", or_zero=True) < 1:
        raise ArgumentError(f"grid_cells: 'share' is {share!r}; a number from 0 to less than 1 is needed")
    rows, columns = (range(0, n, cell) for n in image.shape)
    inside = np.add.reduceat(np.add.reduceat(image, columns, axis=1, dtype=np.int64), rows, axis=0)
    return inside > share * cell * cell


# --- normal forms -----------------------------------------------------------------------------------------------------


def start_normalized(code: Code, *, directions: int = 4) -> str:
    """The rotation of a closed code that is the least number, so that it does not depend on the start.

        >>> start_normalized("10103322")
        '01033221'

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1; Booth (1980), Lexicographically least circular substrings.
    """
    digits, _ = _digits(code, directions, "start_normalized")
    return least_rotation(_text(digits))


def least_rotation(text: str) -> str:
    """The least of all rotations of a text, in O(n): two candidates, of which one loses at each difference."""
    n, twice = len(text), text + text
    i, j, k = 0, 1, 0
    while i < n and j < n and k < n:
        a, b = twice[i + k], twice[j + k]
        if a == b:
            k += 1
            continue
        # Whatever starts within the first k + 1 symbols after the loser loses, too.
        if a > b:
            i += k + 1
        else:
            j += k + 1
        if i == j:
            j += 1
        k = 0
    best = min(i, j)
    return twice[best : best + n]


def first_difference(code: Code, *, circular: bool = False, directions: int = 4) -> str:
    """The turns between neighbouring digits, (c[i] - c[i-1]) mod 4 or 8; they do not change if the object is turned.

    It is one digit shorter than the code; with `circular`, the turn from the last digit to the first stands in front.

        >>> first_difference("10103322"), first_difference("10103322", circular=True)
        ('3133030', '33133030')

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1.
    """
    digits, directions = _digits(code, directions, "first_difference")
    truth(circular, "first_difference: 'circular'")
    turns = (digits - np.roll(digits, 1)) % np.uint8(directions)  # 256 is a multiple of 4 and 8: no sign is lost
    return _text(turns if circular else turns[1:])


# --- what codes tell --------------------------------------------------------------------------------------------------


def chain_points(code: Code, *, directions: int = 4, start: Sequence[float] | None = None) -> np.ndarray:
    """The points (u, v) of a code: (n, 2) of a closed one, and (n + 1, 2) of an open one, from its `start`.

    >>> chain_points("0321").tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    digits, directions = _digits(code, directions, "chain_points")
    if start is None:
        start = code.start if isinstance(code, ChainCode) else (0.0, 0.0)
    first = floats(start)
    if first.shape != (2,) or not np.isfinite(first).all():
        raise ArgumentError(f"chain_points: 'start' is {start!r:.60}; a pixel (u, v) is needed")
    eighths = digits * (8 // directions)
    points = np.zeros((len(digits) + 1, 2))
    np.cumsum(np.stack([_DU[eighths], _DV[eighths]], axis=1), axis=0, out=points[1:])
    closed = len(digits) and not points[-1].any()
    return (points[:-1] if closed else points) + first


def chain_area(code: Code, *, directions: int = 4) -> float:
    """The area inside a closed code; it is positive if the code runs clockwise as seen.

    Of the 4-code of a region without holes this is the number of pixels. An 8-code runs through the middle of pixels,
    so its area is smaller: by half of its number of digits, and one (Pick's theorem).

        >>> chain_area("00332211")
        4.0
    """
    digits, directions = closed_digits(code, directions, "chain_area")
    u, v = chain_points(digits, directions=directions).T
    return float(u @ np.roll(v, -1) - v @ np.roll(u, -1)) / 2


def chain_perimeter(code: Code, *, directions: int = 4) -> float:
    """The length of a code: straight steps count 1, diagonal ones √2.

    >>> chain_perimeter("0246", directions=8), round(chain_perimeter("1357", directions=8), 3)
    (4.0, 5.657)
    """
    digits, directions = _digits(code, directions, "chain_perimeter")
    diagonal = np.count_nonzero(digits & 1) if directions == 8 else 0
    return float(len(digits) - diagonal + np.sqrt(2.0) * diagonal)
