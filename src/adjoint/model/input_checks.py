"""Checks of numbers that people and files give: they become arrays of the right shape, finite, and rigid motions."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Sequence

import numpy as np

from ..compile.front.arguments import as_input, unmasked
from ..errors import ArgumentError, ModelError

__all__ = [
    "check_finite",
    "count",
    "floats",
    "located",
    "motions",
    "nearest_motions",
    "numbers",
    "one_of",
    "positive",
    "truth",
    "vectors",
]

_ROUNDED = 1e-6  # a matrix this near to a rotation was written with few digits, and is corrected
_EXACT = 1e-12  # a matrix this near to a rotation is kept as it is
_ONE, _LAST = np.eye(3), np.array([0.0, 0, 0, 1])


def located(where, message: str) -> str:
    """Return the message, after its place in a model file if there is one."""
    return f"{where}: {message}" if where else message


def numbers(value, shape: tuple[int | None, ...], label: str, where=None) -> np.ndarray:
    """Return a copy of `value` as finite numbers of this shape, where None stands for any length.

    Otherwise a `ModelError` names the thing, `label`, and its place in a file, `where`.
    """
    try:
        array = np.array(unmasked(value), float)
    except (TypeError, ValueError, OverflowError):
        needed = f"numbers of shape {_shown(shape)}" if shape else "a number"
        raise ModelError(located(where, f"{label} must be {needed}, got {value!r}")) from None
    if array.shape == (0,) and shape[:1] == (None,):
        array = array.reshape(0, *shape[1:])  # type: ignore[arg-type]  # no rows
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise ModelError(located(where, f"{label} must have shape {_shown(shape)}, got {array.shape}"))
    if not np.isfinite(array).all():
        raise ModelError(located(where, f"{label} contains NaN or infinity"))
    return array


def check_finite(rows: np.ndarray, kind: str, names: Sequence[str], what: str) -> None:
    """Raise `ModelError` if a row (n, ...) is not finite: sums and products of finite numbers may overflow.

    The message names the row: its `kind`, such as "link", its entry in `names`, and `what` overflows.
    """
    if not np.isfinite(rows).all():
        k = int(np.argmin(np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)))
        raise ModelError(f"{kind} '{names[k]}': its {what} is too large: it overflows")


def floats(value) -> np.ndarray:
    """Return a copy of `value` as floats, or a single NaN, which fails every check of a range, if it is no numbers."""
    try:
        found = np.asarray(unmasked(value))
        return np.array(np.nan) if found.dtype.kind == "c" else np.array(found, float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def vectors(value, size: int, name: str, caller: str) -> np.ndarray:
    """Return `value` as numbers (..., size), or raise an `ArgumentError` that names the argument and its function."""
    array = as_input(value, name, caller).astype(float, copy=False)
    if array.shape[-1:] != (size,):
        raise ArgumentError(f"{caller}: argument '{name}' has shape {array.shape}; (..., {size}) is needed")
    return array


def _shown(shape: tuple[int | None, ...]) -> str:
    return str(shape).replace("None", "n")


def motions(value, shape: tuple[int | None, ...], label: str, where=None) -> np.ndarray:
    """Return `numbers` that are rigid motions (..., 4, 4), corrected by `nearest_motions`, or raise `ModelError`."""
    T = numbers(value, shape, label, where)
    found, bad = nearest_motions(T.reshape(-1, 4, 4))
    if bad is not None:
        which = f"[{bad}]" if T.ndim > 2 else ""
        raise ModelError(located(where, f"{label}{which} is not a rigid motion [R p; 0 1] with R Rᵀ = 1, det R = 1"))
    return found.reshape(T.shape)


def nearest_motions(T: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Return finite T (n, 4, 4) with rotations made exact, and the number of the first that is no motion, or None.

    Inverses of motions use Rᵀ. So where R Rᵀ differs from 1 by 1e-12 to 1e-6, since a file has few digits, R becomes
    the nearest rotation: two steps R ← R (3 - Rᵀ R) / 2 of Newton and Schulz, each of which squares the error.
    """
    R = T[:, :3, :3]
    off, bad = np.abs(R @ R.mT - _ONE), np.linalg.det(R) < 0
    if off.max(initial=0.0) > _EXACT or (T[:, 3] != _LAST).any():
        off = off.max(axis=(1, 2)) + np.abs(T[:, 3] - _LAST).max(axis=1)
        bad |= off > _ROUNDED
        T, rough = T.copy(), (off > _EXACT) & ~bad
        for _ in range(2):
            R = T[rough, :3, :3]
            T[rough, :3, :3] = R @ (3 * _ONE - R.mT @ R) / 2
        T[~bad, 3] = _LAST
    return T, int(np.argmax(bad)) if bad.any() else None


def count(n, label: str) -> int:
    """Return n if it is a whole number that is not negative, or raise an `ArgumentError` that names `label`."""
    try:
        found = operator.index(n)
    except TypeError:
        found = -1
    if not 0 <= found < 2**62:
        raise ArgumentError(f"{label} must be a whole number, 0 or more, got {n!r}")
    return found


def positive(value, label: str, *, or_zero: bool = False) -> float:
    """Return `value` if it is a finite number above 0, or 0 with `or_zero`; else raise `ArgumentError` with `label`."""
    found = np.nan
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # a whole number may be larger than any float
            found = float(value)
    if not (0 < found < np.inf or (or_zero and found == 0)):
        raise ArgumentError(f"{label} must be a positive number{' or 0' * or_zero}, got {value!r}")
    return found


def one_of(value, known: Iterable[str], label: str) -> None:
    """Raise an `ArgumentError` that names `label` if a word is not one of those known."""
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(f"{label} is {value!r:.60}; it must be one of {', '.join(map(repr, known))}")


def truth(value, label: str) -> bool:
    """Return `value` if it is True or False, or raise an `ArgumentError` that names `label`."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{label} must be True or False, got {value!r}")
    return bool(value)
