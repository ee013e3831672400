"""Directions in the space of parameters that measurements do not show, in words."""

from __future__ import annotations

import numpy as np

from .parameters import Parameter

__all__ = ["in_words"]

_SMALL = 0.02  # parts of a direction below this, as a part of its largest, are not named
_FIRST = 1e3  # the radius of a sphere stands for the size of everything, so a combination with it begins with it
_MOST = 4  # the number of parameters that are named of one direction


def in_words(directions: np.ndarray, parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """The combinations of parameters, of which directions (d, p) are an orthonormal basis, each with few terms.

    The basis is brought to reduced echelon form, with the pivots of a QR decomposition, so that each combination has a
    parameter of its own. Parameters are divided by their scales in `directions`, but not in the words.
    """
    if not len(directions):
        return ()
    from scipy.linalg import qr

    weights = np.array([_FIRST if parameter.owner == "sphere" else 1.0 for parameter in parameters])
    _, _, order = qr(directions * weights, mode="economic", pivoting=True)  # pyright: ignore[reportAssignmentType]
    pivots = np.sort(order[: len(directions)])
    reduced = np.linalg.solve(directions[:, pivots], directions)
    found = [_combination(row, int(pivot), parameters) for row, pivot in zip(reduced, pivots, strict=True)]
    return tuple(sorted(found, key=len))  # the plainest come first


def _combination(row: np.ndarray, pivot: int, parameters: tuple[Parameter, ...]) -> str:
    """A combination such as "turn z of base - offset of joint1"; its first term is that of the pivot."""
    scales = np.array([parameter.scale for parameter in parameters])
    others = [int(k) for k in np.argsort(-np.abs(row), kind="stable") if k != pivot]
    others = [k for k in others if abs(row[k]) > _SMALL * np.abs(row).max()]
    text = str(parameters[pivot])
    for k in others[:_MOST]:
        factor = row[k] * scales[k] / scales[pivot]
        size = "" if abs(abs(factor) - 1) < 5e-3 else f"{abs(factor):.2g} "
        text += f" {'-' if factor < 0 else '+'} {size}{parameters[k]}"
    return text + (f" and {len(others) - _MOST} more" if len(others) > _MOST else "")
