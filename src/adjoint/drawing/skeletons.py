"""Robots as lines: points on their joints' axes, and the links between them. Films draw these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kinematics.forward import forward_kinematics
from ..model.robot import Robot
from .actors import Actor, Ball, upright
from .axes import axis_of, tip_of

__all__ = ["Scene", "Skeleton", "Stage", "scene_of", "skeleton", "stage_of"]

_THICK, _THINNER = 0.09, 0.87  # of the first link, in parts of the reach; of each next one, in parts of that before


class Skeleton(NamedTuple):
    """Points (..., k, 3) [m] of a robot, the pairs of them that `links` join, the tips, and the base if it is held."""

    points: np.ndarray
    links: list[tuple[int, int]]
    tips: list[int]
    base: int | None


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


def skeleton(robot: Robot, q: np.ndarray) -> Skeleton:
    """The points of a robot at q (..., nq): one on the axis of each joint, and the tips, in its base."""
    T = forward_kinematics(robot, q)
    count, parents = len(robot.body_names), robot.parents.tolist()
    axes = [axis_of(robot, i) for i in range(count)]
    spots = [(i, np.zeros(3) if axes[i].kind == "free" else axes[i].point) for i in range(count)]
    ends = sorted(set(range(count)) - set(parents))
    spots += [(i, tip_of(robot, i)) for i in ends]
    points = [T[..., i, :3, :3] @ x + T[..., i, :3, 3] for i, x in spots]
    roots = [(len(spots), i) for i in range(count) if parents[i] < 0 and axes[i].kind not in ("plane", "free")]
    inner = [(parents[i], i) for i in range(count) if parents[i] >= 0]
    tips = [(i, count + k) for k, i in enumerate(ends)]
    base = len(spots) if roots else None
    points += [np.zeros_like(points[0])] * len(roots[:1])
    return Skeleton(np.stack(points, axis=-2), roots + inner + tips, [k for _, k in tips], base)


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
