"""Passes of thinning that change many rows: all rows of the image at once, 64 columns in one machine word.

With W words in a row, bit k of word w is the pixel of column w + k W. So the left neighbour of every pixel of word w
is in word w - 1, at the same bit, and only the first and the last word of a row have to be shifted. Words of all rows
with the same w stand side by side: each of the eight neighbours of the whole image is then one slice of one array.

In a scan a pixel depends on what the scan has done above and to the left of it. A scan is therefore repeated, with the
result of the last round as the live image, until a round changes nothing: the first rows are right after the first
round, those below them after the next one, and most images take two or three rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Thinned", "dense_passes"]

_ROUNDS = 16  # a scan that takes more rounds has long chains, which are followed faster along rows
_FEW = 64  # a pass over all words costs as much as one over 1/_FEW of their number as rows, one by one

_and, _or, _xor = np.bitwise_and, np.bitwise_or, np.bitwise_xor


class Thinned(NamedTuple):
    """An image after some passes; `active` (rows + 2) has a byte 1 for each row that the next pass may change."""

    image: np.ndarray
    passes: int
    active: bytes


class _Words:
    """The words of an image (W + 2, rows + 2), with a rim, and the image seen from its neighbours.

    `near[dw, di]` (W * (rows + 2),) has the words at (w + dw, i + di).
    """

    def __init__(self, words: int, rows: int):
        self.flat = np.zeros((words + 2) * (rows + 2) + 2, "<u8")
        self.grid = self.flat[1:-1].reshape(words + 2, rows + 2)
        start, size = 1 + rows + 2, words * (rows + 2)
        shifts = {(dw, di): start + dw * (rows + 2) + di for dw in (-1, 0, 1) for di in (-1, 0, 1)}
        self.near = {key: self.flat[shift : shift + size] for key, shift in shifts.items()}
        self.here = self.near[0, 0]

    def wrap(self) -> None:
        """Set the rim: left of the first word stands the last one, one bit higher, and the reverse."""
        np.left_shift(self.grid[-2], 1, out=self.grid[0])
        np.right_shift(self.grid[1], 1, out=self.grid[-1])


def dense_passes(image: np.ndarray, scans: tuple[str, str], most: int) -> Thinned:
    """Passes while many rows change: at most `most`, or any number if it is negative. Small images are left alone."""
    rows, columns = image.shape
    words, live = -(-columns // 64), image.any(axis=1)
    if rows < _FEW or _FEW * live.sum() < rows * words:
        return Thinned(image, 0, np.pad(live, 1).tobytes())
    now, spare = _Words(words, rows), [_Words(words, rows) for _ in range(3)]
    now.grid[1:-1] = _packed(image, words)
    now.wrap()
    scratch = [np.empty_like(now.here) for _ in range(8)]
    passes, active = 0, np.pad(live, 1)
    while most < 0 or passes < most:
        middle = _settled(_SCANS[scans[0]](now, scratch), now, spare[:2])
        if middle is None:
            break
        rest = [each for each in (*spare, now) if each is not middle and each is not now]
        after = _settled(_SCANS[scans[1]](middle, scratch), middle, rest)
        if after is None:
            break
        passes += 1
        changed = (now.grid != after.grid).any(axis=0)
        spare = [each for each in (*spare, now) if each is not after]
        now = after
        active = changed.copy()
        active[1:] |= changed[:-1]
        active[:-1] |= changed[1:]
        if _FEW * changed.sum() < rows * words:
            break
    return Thinned(_unpacked(now.grid[1:-1], image.shape), passes, active.tobytes())


def _packed(image: np.ndarray, words: int) -> np.ndarray:
    rows, columns = image.shape
    pixels = np.zeros((rows, 64 * words), np.uint8)
    pixels[:, :columns] = image
    eights = np.packbits(pixels.reshape(rows, 64, words), axis=1, bitorder="little")
    packed = np.zeros((words, rows + 2), "<u8")
    packed[:, 1:-1] = np.ascontiguousarray(eights.transpose(2, 0, 1)).view("<u8")[..., 0]
    return packed


def _unpacked(packed: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    rows, words = shape[0], len(packed)
    eights = np.ascontiguousarray(packed[:, 1:-1]).view(np.uint8).reshape(words, rows, 8)
    pixels = np.unpackbits(np.ascontiguousarray(eights.transpose(1, 2, 0)), axis=1, bitorder="little")
    return pixels.reshape(rows, 64 * words)[:, : shape[1]].view(np.bool_)


def _settled(round_of: Callable[[_Words, _Words], None], start: _Words, buffers: list[_Words]) -> _Words | None:
    """The image after a scan, or None if it does not settle: rounds until one gives what the last one gave."""
    live = start
    for k in range(_ROUNDS):
        found = buffers[k % 2]
        round_of(live, found)
        found.wrap()
        if np.array_equal(live.here, found.here):
            return found
        live = found
    return None


def _beside(start: _Words, scratch: list[np.ndarray]) -> Callable[[_Words, _Words], None]:
    """The rounds of a scan for left and right edge points."""
    r, n0, s4 = start.here, start.near[1, 0], start.near[-1, 0]
    n6, n5, n7 = start.near[0, 1], start.near[-1, 1], start.near[1, 1]
    left, right, bare5, bare7, below_right, below_left, t, u = scratch
    _and(r, n0, out=left)
    _xor(r, left, out=right)  # right edge points
    _less(left, s4, left, t)  # left edge points with n0
    _less(n5, n6, bare5, t)
    _less(n7, n6, bare7, t)
    _or(n6, n7, out=below_right)
    _or(n6, n5, out=below_left)

    def one_round(live: _Words, found: _Words) -> None:
        n4, n2, n3, n1 = live.near[-1, 0], live.near[0, -1], live.near[-1, -1], live.near[1, -1]
        gone = found.here
        # (8.3-6), where n5' + n6 is the complement of n5 without n6
        _less(n3, n2, u, t)
        _or(u, bare5, out=u)
        _or(n2, n1, out=gone)
        _or(gone, below_right, out=gone)
        _and(gone, left, out=gone)
        _less(gone, u, gone, t)
        # (8.3-7)
        _or(n2, n3, out=u)
        _or(u, below_left, out=u)
        _and(u, right, out=u)
        _and(u, n4, out=u)
        _less(u, bare7, u, t)
        _or(gone, u, out=gone)
        _and(u, n1, out=u)
        _less(u, n2, u, t)
        _xor(gone, u, out=gone)
        _xor(gone, r, out=gone)

    return one_round


def _above(start: _Words, scratch: list[np.ndarray]) -> Callable[[_Words, _Words], None]:
    """The rounds of a scan for top and bottom edge points."""
    r, n0, s2 = start.here, start.near[1, 0], start.near[0, -1]
    n6, n5, n7 = start.near[0, 1], start.near[-1, 1], start.near[1, 1]
    top, bottom, others, t, u = scratch[:5]
    _and(r, n6, out=top)
    _xor(r, top, out=bottom)  # bottom edge points
    _less(top, s2, top, t)  # top edge points with n6
    _and(bottom, n7, out=u)
    _less(u, n0, u, t)
    _xor(bottom, u, out=bottom)  # ... with n0 + n7'
    _or(n0, n5, out=others)
    _or(others, n7, out=others)

    def one_round(live: _Words, found: _Words) -> None:
        n4, n2, n3, n1 = live.near[-1, 0], live.near[0, -1], live.near[-1, -1], live.near[1, -1]
        gone = found.here
        # (8.3-8)
        _or(others, n4, out=gone)
        _and(gone, top, out=gone)
        for bad, saved in ((n1, n0), (n3, n4)):
            _and(gone, bad, out=u)
            _less(u, saved, u, t)
            _xor(gone, u, out=gone)
        # (8.3-9); no pixel is a top edge point with n6 and a bottom one
        _or(n0, n1, out=u)
        _or(u, n3, out=u)
        _or(u, n4, out=u)
        _and(u, bottom, out=u)
        _and(u, n2, out=u)
        _or(gone, u, out=gone)
        _and(u, n5, out=u)
        _less(u, n4, u, t)
        _xor(gone, u, out=gone)
        _xor(gone, r, out=gone)

    return one_round


def _less(x: np.ndarray, y: np.ndarray, out: np.ndarray, t: np.ndarray) -> None:
    """x without the bits of y; `t` is overwritten. NumPy has no such operation."""
    _and(x, y, out=t)
    _xor(x, t, out=out)


_SCANS = {"beside": _beside, "above": _above}
