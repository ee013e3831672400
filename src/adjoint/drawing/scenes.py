"""Actors as lines, on a stage: what films draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .actors import Actor, Ball
from .axes import upright
from .skeletons import skeleton

__all__ = ["Scene", "Stage", "scene_of", "stage_of"]

_THICK, _THINNER = 0.09, 0.87  # of the first link, in parts of the reach; of each next one, in parts of that before


class Scene(NamedTuple):
    """An actor as lines: points (runs, frames, k, 3) [m] with up along z, what joins them, and widths of links [m]."""

    points: np.ndarray
    links: list[tuple[int, int]]
    widths: list[float]
    tips: list[int]
    base: int | None
    balls: tuple[Ball, ...]


class Stage(NamedTuple):
    """Where scenes take place: the height of the floor, the middle of all points (3,), and how far they reach [m]."""

    floor: float
    middle: np.ndarray
    reach: float


def scene_of(actor: Actor) -> Scene:
    """The scene of an actor."""
    R = upright(actor.robot)
    points, links, tips, base = skeleton(actor.robot, actor.q)
    balls = tuple(ball._replace(centers=ball.centers @ R.T) for ball in actor.balls)
    return Scene(points @ R.T, links, _widths(points, links), tips, base, balls)


def _widths(points: np.ndarray, links: list[tuple[int, int]]) -> list[float]:
    """The width of every link: the farther from the base, the thinner. Links come after those that lead to them."""
    steps: dict[int, int] = {}
    lengths: dict[int, float] = {}
    for a, b in links:
        steps[b] = steps.get(a, 0) + 1
        lengths[b] = lengths.get(a, 0.0) + float(np.linalg.norm(points[0, 0, b] - points[0, 0, a]))
    thick = _THICK * max(lengths.values())
    return [thick * max(_THINNER ** (steps[b] - 1), 0.3) for _, b in links]


def stage_of(scenes: Sequence[Scene]) -> Stage:
    """The stage that holds all scenes."""
    every = np.concatenate([x.points.reshape(-1, 3) for x in scenes])
    low, high = every.min(axis=0), every.max(axis=0)
    height = max(float((high - low).max()), 1e-3)
    floor = 0.0 if low[2] > -0.02 * height else float(low[2] - 0.08 * height)
    low[2], high[2] = min(low[2], floor), max(high[2], floor)
    middle = (low + high) / 2
    return Stage(floor, middle, max(float(np.linalg.norm(every - middle, axis=-1).max()), 1e-3))
