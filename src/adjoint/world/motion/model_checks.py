"""Collision models as planners ask them."""

from __future__ import annotations

from ...collision import CollisionModel, is_free
from .edge_checks import Checker
from .spaces import ConfigurationSpace

__all__: list[str] = []


def model_checker(model: CollisionModel, space: ConfigurationSpace, resolution: float) -> Checker:
    """The `Checker` of a collision model, with points of ways at most `resolution` [rad, m] apart."""
    return Checker.of(space, lambda q: is_free(model, q), resolution)
