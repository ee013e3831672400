"""Structural texture: strings of a small grammar that say where the next primitive goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from ..image_checks import gray

__all__ = ["TEXTURE_RULES", "texture_derivation", "texture_image", "texture_places", "texture_string"]

TEXTURE_RULES: dict[str, tuple[str, ...]] = {"S": ("aS", "bA", "a"), "A": ("cA", "bS", "c")}
"""The textbook's rules S → aS | bA | a and A → cA | bS | c; a, b, c put a primitive to the right, below, left."""

_STEPS = {"a": (1, 0), "b": (0, 1), "c": (-1, 0)}


def texture_derivation(
    text: str, rules: Mapping[str, Sequence[str]] = TEXTURE_RULES, start: str = "S"
) -> tuple[str, ...]:
    """The derivation of a string, from the `start` symbol to the string itself, or () if the rules do not give it.

    Rules are {symbol: what may stand for it}: one small letter, or one followed by a symbol. If there are several
    derivations, this is the one whose rules come first.

        >>> texture_derivation("aab")
        ()
        >>> texture_derivation("abc")
        ('S', 'aS', 'abA', 'abc')

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.2, Fig. 8.37.
    """
    _check_rules(rules, start)
    if not isinstance(text, str):
        raise ArgumentError(f"texture_derivation: a string of letters is needed, got {type(text).__name__}")
    # Which symbols can be before each letter, from the end of the string to its beginning.
    ends: list[dict[str, str]] = [{} for _ in text]
    for k in range(len(text) - 1, -1, -1):
        for symbol, options in rules.items():
            fits = [o for o in options if o[0] == text[k] and (len(o) == 1) == (k == len(text) - 1)]
            fits = [o for o in fits if len(o) == 1 or o[1] in ends[k + 1]]
            if fits:
                ends[k][symbol] = fits[0]
    if not text or start not in ends[0]:
        return ()
    forms, symbol = [start], start
    for k in range(len(text)):
        option = ends[k][symbol]
        symbol = option[1:]
        forms.append(text[: k + 1] + symbol)
    return tuple(forms)


def _check_rules(rules, start) -> None:
    if not isinstance(rules, Mapping) or not all(isinstance(x, str | tuple | list) for x in rules.values()):
        raise ArgumentError("texture_derivation: rules must be a dict, such as {'S': ('aS', 'a')}")
    known = ", ".join(map(str, rules))
    for symbol, option in ((symbol, option) for symbol, options in rules.items() for option in options):
        if not isinstance(option, str) or not 1 <= len(option) <= 2 or option[1:] not in ("", *rules):
            raise ArgumentError(
                f"texture_derivation: the rule {symbol} -> {option} must give a letter, alone or before one of {known}"
            )
    if not isinstance(start, str) or start not in rules:
        raise ArgumentError(f"texture_derivation: there is no rule for the start {start!r:.60}; there are {known}")


def texture_places(text: str) -> np.ndarray:
    """Where a string puts its primitives: places (n, 2), (u, v) in cells; the first letter's is (0, 0).

    >>> texture_places("aab").tolist()
    [[0, 0], [1, 0], [1, 1]]
    """
    if not isinstance(text, str):
        raise ArgumentError(f"texture_places: a string of a, b and c is needed, got {type(text).__name__}")
    wrong = sorted(set(text) - set(_STEPS))
    if wrong or not text:
        raise ArgumentError(f"texture_places: the string has {wrong or 'no letters'}; a, b and c put primitives")
    steps = np.array([_STEPS[letter] for letter in text])
    return np.cumsum(steps, axis=0) - steps[0]


def texture_image(text: str, primitive=None) -> np.ndarray:
    """The drawing of a string: an image in which the `primitive`, a small image, stands at each of its places.

    The default primitive is a disk of 7 pixels in 9. What is not covered is 0.

        >>> texture_image("aaabccbaa", np.ones((1, 1), int)).tolist()
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]]

    Reference: Fu, Gonzalez & Lee (1987), Fig. 8.37.
    """
    if primitive is None:
        v, u = np.ogrid[-4:5, -4:5]
        primitive = u * u + v * v <= 12
    stamp = gray(primitive, "texture_image: the primitive")
    places = texture_places(text)
    places -= places.min(axis=0)
    columns, rows = places.max(axis=0) + 1
    drawn = np.zeros((rows, columns, *stamp.shape), stamp.dtype)
    drawn[places[:, 1], places[:, 0]] = stamp
    return drawn.swapaxes(1, 2).reshape(rows * stamp.shape[0], columns * stamp.shape[1])


def texture_string(columns: int, rows: int) -> str:
    """The string of the textbook's rules for a block of primitives: to the right, down, to the left, down and so on.

    >>> texture_string(3, 3)
    'aaabccbaa'
    """
    n, m = count(columns, "texture_string: columns"), count(rows, "texture_string: rows")
    if n < 2 or m < 1:
        raise ArgumentError(f"texture_string: a block of {n} · {m}; 2 columns and 1 row, or more, are needed")
    return "b".join(("a" if k % 2 == 0 else "c") * (n - (k > 0)) for k in range(m))
