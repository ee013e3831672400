"""Configurations that users give to the functions of a collision model."""

from __future__ import annotations

import math

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import vectors
from .collision_models import CollisionModel

__all__: list[str] = []

_F64 = np.dtype(np.float64)


def need_model(model, caller: str) -> None:
    """Raise an `ArgumentError` if `model` is no collision model."""
    if not isinstance(model, CollisionModel):
        raise ArgumentError(
            f"{caller}: 'model' must be a CollisionModel, such as collision_model(robot, obstacles), got "
            f"{type(model).__name__}"
        )


def configurations(model, q, caller: str, name: str = "q") -> np.ndarray:
    """The configurations q (..., nq) as floats; NaN is allowed, and stays in its own sample."""
    if type(model) is not CollisionModel:
        need_model(model, caller)
    if type(q) is np.ndarray and q.dtype is _F64 and q.shape[-1:] == (model.robot.nq,):
        return q
    return np.ascontiguousarray(vectors(q, model.robot.nq, name, caller))


def flat(q: np.ndarray) -> np.ndarray:
    """The configurations as (n, nq)."""
    return q.reshape(math.prod(q.shape[:-1]), q.shape[-1])
