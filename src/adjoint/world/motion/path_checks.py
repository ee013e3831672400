"""Paths (k, nq) as their corners: lengths, points at equal distances, and whether they are free."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...collision import CollisionModel, edges_free
from ...errors import ArgumentError
from ...model.input_checks import vectors
from .spaces import ConfigurationSpace, configuration_space

__all__: list[str] = []


def need_model(model, caller: str) -> CollisionModel:
    """The model, or an `ArgumentError`."""
    if not isinstance(model, CollisionModel):
        raise ArgumentError(f"{caller}: model must be a CollisionModel (collision_model); got {type(model).__name__}")
    return model


def checked_path(caller: str, model: CollisionModel, path, least: int = 2) -> np.ndarray:
    """A path as finite numbers (k, nq), or an `ArgumentError`."""
    q = vectors(path, model.robot.nq, "path", caller)
    if q.ndim != 2 or len(q) < least or not np.isfinite(q).all():
        raise ArgumentError(
            f"{caller}: path must be {least} or more waypoints (k, {model.robot.nq}) of finite numbers; "
            f"got shape {q.shape}"
        )
    return q


def plain_space(caller: str, model: CollisionModel) -> ConfigurationSpace:
    """The space of a robot whose joints have one coordinate for each degree of freedom."""
    space = configuration_space(model.robot, caller=caller)
    if not space.plain:
        name = model.robot.name
        raise ArgumentError(f"{caller}: robot '{name}' has joints with orientations, which {caller} cannot move")
    return space


def need_limits(caller: str, space: ConfigurationSpace, name: str, q: np.ndarray) -> None:
    """Raise an `ArgumentError` if configurations (..., nq) are outside of the limits of the joints."""
    outside = ~np.asarray(space.inside(q))
    if outside.any():
        worst = q[outside].reshape(-1, q.shape[-1])[0]
        k = int(np.argmax(np.maximum(space.lower - worst, worst - space.upper)))
        limits = f"{space.lower[k]:.4g} to {space.upper[k]:.4g}"
        raise ArgumentError(f"{caller}: {name} leaves the limits of the robot: q[{k}] is {worst[k]:.4g}, not {limits}")


def path_length(path: np.ndarray) -> float:
    """The length [rad, m] of a path, Σ |q_k+1 - q_k|."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def spread(path: np.ndarray, n: int) -> np.ndarray:
    """n points of a path at equal distances along it, both ends among them."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    s = np.linspace(0, way[-1], n)
    found = np.stack([np.interp(s, way, column) for column in path.T], axis=1)
    found[0], found[-1] = path[0], path[-1]
    return found


def sampled(path: np.ndarray, resolution: float) -> np.ndarray:
    """All corners of a path, and points between them that are at most `resolution` [rad, m] apart."""
    rows = [path[:1]]
    for a, b in pairwise(path):
        n = max(1, int(np.ceil(np.linalg.norm(b - a) / resolution)))
        rows.append(a + np.arange(1, n + 1)[:, None] / n * (b - a))
    return np.concatenate(rows)


def path_is_free(model: CollisionModel, path: np.ndarray, resolution: float) -> bool:
    """Whether all points of a path, at most `resolution` [rad, m] of each joint apart, are free."""
    return bool(edges_free(model, path[:-1], path[1:], resolution=resolution).all())
