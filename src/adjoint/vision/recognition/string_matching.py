"""String matching: boundaries as strings of symbols, and how many symbols agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import truth
from ..shapes.boundaries import boundary_points

__all__ = ["StringMatch", "angle_symbols", "interior_angles", "string_match", "string_matches"]

_SHORT = 256  # shifts of strings up to here are compared one by one, all at once


class StringMatch(NamedTuple):
    """How two strings agree: A `matches` and B others, the `ratio` R = A / B (infinite if equal), and the best `shift`.

    With a shift s, symbol j of the shorter string is compared with symbol j + s of the longer one, around its end.
    """

    matches: int
    others: int
    ratio: float
    shift: int


def string_match(first: str | Sequence, second: str | Sequence, *, cyclic: bool = True) -> StringMatch:
    """How many symbols of two strings are equal at the same place: R = A / (max(|C₁|, |C₂|) - A).

    With `cyclic`, as for closed boundaries, the longer string (the second, if both are equally long) is shifted around
    its end, and the shift with the most matches counts; the least one, if there are several. Symbols are letters of a
    text, or elements of any sequence.

        >>> string_match("abcdab", "abccab", cyclic=False)
        StringMatch(matches=5, others=1, ratio=5.0, shift=0)
        >>> string_match("abcdab", "cdabab").ratio
        inf

    Reference: Fu, Gonzalez & Lee (1987), (8.5-8), (8.5-9); Sze & Yang (1981).
    """
    truth(cyclic, "string_match: cyclic")
    one, other = _numbers(first, second)
    if not len(one) or not len(other):
        raise ArgumentError("string_match: a string is empty; both need one symbol or more")
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if cyclic:
        matches = _all_shifts(short, long)
        shift = int(matches.argmax())
        A = int(matches[shift])
    else:
        shift, A = 0, int(np.count_nonzero(short == long[: len(short)]))
    B = len(long) - A  # (8.5-8)
    return StringMatch(A, B, A / B if B else np.inf, shift)  # (8.5-9)


def _numbers(*strings) -> list[np.ndarray]:
    """Strings as small whole numbers, equal where symbols are."""
    known: dict = {}
    try:
        return [np.array([known.setdefault(s, len(known)) for s in string]) for string in strings]
    except TypeError:
        raise ArgumentError("string_match: a string must be a text, or a sequence of hashable symbols") from None


def _all_shifts(short: np.ndarray, long: np.ndarray) -> np.ndarray:
    """The number of matches with each shift of the longer string around its end."""
    n = len(long)
    if n <= _SHORT:
        around = np.concatenate([long, long])
        windows = np.lib.stride_tricks.sliding_window_view(around, len(short))[:n]
        return np.count_nonzero(windows == short, axis=1)
    # Matches of one symbol are a circular correlation of its places in both strings.
    total, few = np.zeros(n // 2 + 1, complex), np.zeros(n, np.int64)
    often = np.bincount(short, minlength=int(long.max()) + 1)[: int(long.max()) + 1] * np.bincount(long)
    for symbol in np.flatnonzero(often > n):
        a, b = np.zeros(n), (long == symbol).astype(float)
        a[: len(short)] = short == symbol
        total += np.conj(np.fft.rfft(a)) * np.fft.rfft(b)
    # Symbols that are rare, as many are in sequences of numbers, have few pairs of places.
    places = np.argsort(long, kind="stable")
    starts = np.searchsorted(long[places], np.arange(len(often) + 1))
    at = np.flatnonzero((short < len(often)) & (often[np.minimum(short, len(often) - 1)] <= n))
    for j in at:
        few[(places[starts[short[j]] : starts[short[j] + 1]] - j) % n] += 1
    return np.rint(np.fft.irfft(total, n)).astype(np.int64) + few


def string_matches(strings: Sequence, others: Sequence | None = None, *, cyclic: bool = True) -> np.ndarray:
    """The table of ratios R of all `strings` with all `others`, or with each other: (n, m).

    >>> string_matches(["aab", "aba", "bbb"]).tolist()
    [[inf, inf, 0.5], [inf, inf, 0.5], [0.5, 0.5, inf]]
    """
    if not np.iterable(strings) or not np.iterable([] if others is None else others):
        raise ArgumentError("string_matches: sequences of strings are needed")
    strings = list(strings)
    if others is None:
        table = np.full((len(strings), len(strings)), np.inf)
        for i, first in enumerate(strings):
            for j in range(i):
                table[i, j] = table[j, i] = string_match(first, strings[j], cyclic=cyclic).ratio
        return table
    others = list(others)
    ratios = [[string_match(a, b, cyclic=cyclic).ratio for b in others] for a in strings]
    return np.array(ratios, float).reshape(len(strings), len(others))


def interior_angles(polygon) -> np.ndarray:
    """The angles (n,) inside of a polygon (n, 2) at its corners [rad], in (0, 2π].

    The polygon runs clockwise as seen. Above π, a corner is concave; where the boundary turns back, the angle is 2π at
    the end of a slit, and is taken so at tips, too.

        >>> np.degrees(interior_angles([[0, 0], [1, 0], [1, 1], [0, 1]])).round(9).tolist()
        [90.0, 90.0, 90.0, 90.0]
    """
    points = boundary_points(polygon, "interior_angles")
    back, on = np.roll(points, 1, axis=0) - points, np.roll(points, -1, axis=0) - points
    if not (on.any(axis=1)).all():
        raise ArgumentError("interior_angles: two successive corners are the same point; leave one out")
    angles = np.arctan2(back[:, 1], back[:, 0]) - np.arctan2(on[:, 1], on[:, 0])
    angles = angles % (2 * np.pi)
    return np.where(angles < 1e-12, 2 * np.pi, angles)


def angle_symbols(polygon, symbols: int = 8) -> str:
    """The interior angles of a polygon (n, 2) as a string: symbol k, from 1, is for 360°(k - 1)/n < θ <= 360° k/n.

    With 8 symbols, "2" is for 45° < θ <= 90°, and so on. The polygon runs clockwise as seen, as those of
    `split_polygon` do; there may be 9 symbols at most.

        >>> angle_symbols([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
        '222622'

    Reference: Fu, Gonzalez & Lee (1987), section 8.5.2, Fig. 8.54.
    """
    if not isinstance(symbols, int | np.integer) or symbols not in range(1, 10):
        raise ArgumentError(f"angle_symbols: 'symbols' is {symbols!r:.60}; a whole number from 1 to 9 is needed")
    parts = interior_angles(polygon) * (symbols / (2 * np.pi))
    return "".join(str(k) for k in np.clip(np.ceil(parts - 1e-9), 1, symbols).astype(int))
