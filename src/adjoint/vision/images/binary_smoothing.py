"""Smoothing of binary images by Unger's Boolean rules, 64 pixels at a time.

Fu, Gonzalez & Lee (1987), §7.6.2, (7.6-14) to (7.6-19). The rules see a window of 3 × 3 pixels,

    a b c
    d p e
    f g h

and every pass follows from the image as it was before the pass. A row of an image is packed into words of 64 bits,
pixel 0 in the lowest bit, so one operation of the processor does 64 pixels and more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ..image_checks import binary

__all__ = ["smooth_binary"]

_STEPS = ("fill", "clear", "corners")


class _Window(NamedTuple):
    """The nine pixels of the window, each for all pixels p at once."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    p: np.ndarray
    e: np.ndarray
    f: np.ndarray
    g: np.ndarray
    h: np.ndarray


def _packed(image: np.ndarray) -> np.ndarray:
    """The rows as words (rows + 2, words), with a row of zeros above and below, and a zero or more behind each row.

    These zeros stay zeros: no rule sets a pixel whose two neighbours along the frame are 0.
    """
    rows, columns = image.shape
    bits = np.packbits(image, axis=1, bitorder="little")
    words = np.zeros((rows + 2, columns // 64 + 1), "<u8")
    words.view(np.uint8)[1:-1, : bits.shape[1]] = bits
    return words


def _unpacked(words: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    bits = words[1:-1].view(np.uint8)[:, : (shape[1] + 7) // 8]
    return np.unpackbits(bits, axis=1, count=shape[1], bitorder="little").view(bool)


def _window(words: np.ndarray) -> _Window:
    flat = words.ravel()
    west, east = flat << np.uint64(1), flat >> np.uint64(1)
    west[1:] |= flat[:-1] >> np.uint64(63)
    east[:-1] |= flat[1:] << np.uint64(63)
    west, east = west.reshape(words.shape), east.reshape(words.shape)
    return _Window(
        west[:-2], words[:-2], east[:-2], west[1:-1], words[1:-1], east[1:-1], west[2:], words[2:], east[2:]
    )  # fmt: skip


def _fill(w: _Window) -> np.ndarray:
    """(7.6-14): p, or three of its four neighbours."""
    return w.p | (w.b & w.g & (w.d | w.e)) | (w.d & w.e & (w.b | w.g))


def _clear(w: _Window) -> np.ndarray:
    """(7.6-15): p, if it has neighbours on both sides of one of its diagonals."""
    main = (w.a | w.b | w.d) & (w.e | w.g | w.h)
    return w.p & (main | ((w.b | w.c | w.e) & (w.d | w.f | w.g)))


def _top_right(w: _Window) -> np.ndarray:
    """(7.6-16)."""
    return w.p | ((w.d & w.f & w.g) & ~(w.a | w.b | w.c | w.e | w.h))


def _bottom_right(w: _Window) -> np.ndarray:
    """(7.6-17)."""
    return w.p | ((w.a & w.b & w.d) & ~(w.c | w.e | w.f | w.g | w.h))


def _top_left(w: _Window) -> np.ndarray:
    """(7.6-18)."""
    return w.p | ((w.e & w.g & w.h) & ~(w.a | w.b | w.c | w.d | w.f))


def _bottom_left(w: _Window) -> np.ndarray:
    """(7.6-19)."""
    return w.p | ((w.b & w.c & w.e) & ~(w.a | w.d | w.f | w.g | w.h))


_RULES = {"fill": (_fill,), "clear": (_clear,), "corners": (_top_right, _bottom_right, _top_left, _bottom_left)}


def smooth_binary(image, steps: tuple[str, ...] = _STEPS) -> np.ndarray:
    """The binary image, smoothed by Unger's rules, (rows, columns) bool.

    In this order, "fill" fills holes of one pixel and notches in straight edges (B₁); "clear" removes isolated pixels
    and bumps (B₂); and "corners" puts back missing corners, at the top right, bottom right, top left and bottom left
    (B₃ to B₆, one after the other). `steps` names the ones that are wanted. Beyond the border all pixels are 0.

        >>> smooth_binary(np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]]), ("fill",))
        array([[ True,  True,  True],
               [ True,  True,  True],
               [ True,  True,  True]])

    Fu, Gonzalez & Lee (1987), (7.6-14) to (7.6-19), after Unger (1959).
    """
    f = binary(image, "smooth_binary")
    names = (steps,) if isinstance(steps, str) else tuple(steps)
    if not set(names) <= set(_STEPS):
        raise ArgumentError(
            f"smooth_binary: steps is {steps!r:.80}; it must have names from {', '.join(map(repr, _STEPS))}"
        )
    words = _packed(f)
    for name in names:
        for rule in _RULES[name]:
            words[1:-1] = rule(_window(words))
    return _unpacked(words, f.shape)
