"""Collision models as planners ask them: batches of some hundred configurations, which one thread checks fastest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...collision.checking import is_free
from ...collision.collision_model import CollisionModel
from ...collision.model_kernels import free_of
from ...compile import Kernel
from .edge_checks import Checker
from .spaces import ConfigurationSpace

__all__: list[str] = []

MANY = 4096  # configurations that are worth several threads


@lru_cache(maxsize=64)
def _on_one_thread(plan) -> Kernel:
    """The kernel of `is_free` on one thread: dividing small batches costs more than checking them."""
    kernel = free_of.bind(plan)
    kernel.threads = 1
    return kernel


def free_function(model: CollisionModel) -> Callable[[np.ndarray], np.ndarray]:
    """The function `is_free` of a model, for q (n, nq) that need no check."""
    if model.tables.others:
        return lambda q: is_free(model, q)
    placed, named = model.inputs
    few = _on_one_thread(model._plan)

    def free(q: np.ndarray) -> np.ndarray:
        if len(q) > MANY:
            return is_free(model, q)
        return (few(q, *placed, **named) if named else few(q, *placed)) > 0.5

    return free


def model_checker(model: CollisionModel, space: ConfigurationSpace, resolution: float) -> Checker:
    """The `Checker` of a collision model."""
    return Checker.of(space, free_function(model), resolution)
