"""Directions in the space of parameters that measurements do not show, in words."""

from __future__ import annotations

import itertools

import numpy as np

from .parameters import Parameter

__all__ = ["in_words"]

_ZERO = 1e-9  # parts of a direction below this are rounding errors
_LARGEST = 1.5  # the largest multiple of one combination that is taken from another to make it simpler
_SMALL = 0.02  # parts of a direction below this, as a part of its largest, are not named
_FIRST = 1e3  # the radius of a sphere stands for the size of everything, so a combination with it begins with it
_MOST = 5  # the number of parameters that are named of one direction


def in_words(directions: np.ndarray, parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """The combinations of parameters, of which directions (d, p) are an orthonormal basis, each with few terms.

    The basis is brought to reduced echelon form, with the pivots of a QR decomposition, and then made sparser.
    Parameters are divided by their scales in `directions`, but not in the words.
    """
    if not len(directions):
        return ()
    from scipy.linalg import qr

    weights = np.array([_FIRST if parameter.owner == "sphere" else 1.0 for parameter in parameters])
    _, _, order = qr(directions * weights, mode="economic", pivoting=True)  # pyright: ignore[reportAssignmentType]
    pivots = np.sort(order[: len(directions)])
    rows = _sparse(np.linalg.solve(directions[:, pivots], directions), pivots)
    return tuple(sorted((_combination(row, weights, parameters) for row in rows), key=len))  # the plainest come first


def _sparse(rows: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """Rows (d, p) of the same span with fewer terms: others are added or subtracted as long as this helps.

    Each row keeps its pivot, which is 1, so the rows stay independent.
    """
    rows, improved = rows.copy(), True
    while improved:
        improved = False
        for i, j in itertools.permutations(range(len(rows)), 2):
            shared = np.flatnonzero(_terms(rows[i]) & _terms(rows[j]))
            factors = rows[i, shared] / rows[j, shared]
            factors = factors[np.abs(factors) < _LARGEST]
            if not len(factors) or abs(rows[j, pivots[i]]) > _ZERO:
                continue
            rest = rows[i] - factors[:, None] * rows[j]
            few = _terms(rest).sum(axis=1)
            if few.min() < _terms(rows[i]).sum():
                rows[i], improved = rest[np.argmin(few)], True
    return rows


def _terms(rows: np.ndarray) -> np.ndarray:
    """Which parts of directions (..., p) are worth a word."""
    return np.abs(rows) > _SMALL * np.abs(rows).max(axis=-1, keepdims=True)


def _combination(row: np.ndarray, weights: np.ndarray, parameters: tuple[Parameter, ...]) -> str:
    """A combination such as "offset of joint1 - turn z of base"; the first of its largest terms leads."""
    scales = np.array([parameter.scale for parameter in parameters])
    named = np.flatnonzero(_terms(row))
    named = named[np.argsort(-np.round(np.abs(row * weights)[named] / np.abs(row).max(), 2), kind="stable")]
    first, others = int(named[0]), named[1:]
    text = str(parameters[first])
    for k in others[:_MOST]:
        factor = row[k] * scales[k] / (row[first] * scales[first])
        size = "" if abs(abs(factor) - 1) < 5e-3 else f"{abs(factor):.2g} "
        text += f" {'-' if factor < 0 else '+'} {size}{parameters[k]}"
    return text + (f" and {len(others) - _MOST} more" if len(others) > _MOST else "")
