"""Checks of what users give to a scene: numbers, poses, colours and rays become arrays, or an `ArgumentError`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compile.front.arguments import as_input
from ...errors import ArgumentError
from ...model.input_checks import nearest_motions

__all__ = ["array", "colour_of", "lengths", "number", "pose", "poses", "unit_vector", "vectors_of"]


def array(value, shape: tuple[int, ...], name: str, caller: str) -> np.ndarray:
    """The value as a copy of finite numbers of this shape, which cannot be written to."""
    found = np.array(as_input(value, name, caller), float)
    if found.shape != shape or not np.isfinite(found).all():
        wanted = f"finite numbers of shape {shape}" if shape else "a finite number"
        shown = f"shape {found.shape}" if found.shape != shape else f"{found.tolist()!r:.60}"
        raise ArgumentError(f"{caller}: '{name}' must be {wanted}, got {shown}")
    found.setflags(write=False)
    return found


def number(
    value, name: str, caller: str, *, least: float = -np.inf, most: float = np.inf, above: bool = False
) -> float:
    """The value as one finite number of at least `least` (or above it) and at most `most`."""
    found = float(array(value, (), name, caller))
    if not (least < found if above else least <= found) or not found <= most:
        low = f"above {least:g}" if above else f"at least {least:g}"
        high = f" and at most {most:g}" if most < np.inf else ""
        raise ArgumentError(f"{caller}: '{name}' must be {low}{high}, got {found:g}")
    return found


def lengths(value, shape: tuple[int, ...], name: str, caller: str) -> np.ndarray:
    """The value as lengths [m] of this shape, all above 0."""
    found = array(value, shape, name, caller)
    if not (found > 0).all():
        raise ArgumentError(f"{caller}: '{name}' must be above 0, got {found.tolist()}")
    return found


def pose(value, name: str, caller: str) -> np.ndarray:
    """A pose (4, 4): the value, or the identity moved to it if the value is a position (3,)."""
    if value is None:
        found = np.eye(4)
    elif np.shape(as_input(value, name, caller)) == (3,):
        found = np.eye(4)
        found[:3, 3] = array(value, (3,), name, caller)
    else:
        if (shape := np.shape(as_input(value, name, caller))) != (4, 4):
            raise ArgumentError(f"{caller}: '{name}' must be a pose (4, 4) or a position (3,), got shape {shape}")
        found = poses(array(value, (4, 4), name, caller), name, caller)
    found.setflags(write=False)
    return found


def poses(value, name: str, caller: str) -> np.ndarray:
    """Poses (..., 4, 4): rigid motions, made exact where they have been written with few digits."""
    T = np.asarray(as_input(value, name, caller), float)
    if T.shape[-2:] != (4, 4) or not np.isfinite(T).all():
        raise ArgumentError(f"{caller}: '{name}' must be finite, of shape (..., 4, 4), got shape {T.shape}")
    found, bad = nearest_motions(T.reshape(-1, 4, 4))
    if bad is not None:
        raise ArgumentError(f"{caller}: '{name}' is not a rigid motion [R p; 0 1] with R Rᵀ = 1, det R = 1")
    return found.reshape(T.shape).copy()


def unit_vector(value, name: str, caller: str) -> np.ndarray:
    """A direction (3,) of any length but 0, as a unit vector."""
    found = array(value, (3,), name, caller)
    size = np.abs(found).max()
    if not size > 0:
        raise ArgumentError(f"{caller}: '{name}' is zero; it must be a direction")
    found = found / size
    found = found / np.linalg.norm(found)
    found.setflags(write=False)
    return found


def colour_of(value, name: str, caller: str) -> np.ndarray:
    """A colour (3,), red, green, blue from 0 to 1; one number is a gray."""
    found = np.array(as_input(value, name, caller), float)
    if found.shape not in ((), (3,)) or not ((found >= 0) & (found <= 1)).all():
        raise ArgumentError(
            f"{caller}: '{name}' must be one number or (red, green, blue), each from 0 to 1, got {value!r:.60}"
        )
    found = np.broadcast_to(found, (3,)).copy()
    found.setflags(write=False)
    return found


def vectors_of(value: Any, name: str, caller: str) -> np.ndarray:
    """The value as vectors (..., 3); NaN is allowed."""
    found = np.asarray(as_input(value, name, caller), float)
    if found.shape[-1:] != (3,):
        raise ArgumentError(f"{caller}: argument '{name}' has shape {found.shape}; (..., 3) is needed")
    return found
