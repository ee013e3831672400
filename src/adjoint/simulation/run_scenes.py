"""What an animation of a run draws: the points of a robot, the links between them, and the loads that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..kinematics.forward import forward_kinematics
from ..model.robot import Robot
from .loads import loads_of

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["Scene", "Skeleton", "Stage", "scene_of", "skeleton", "stage_of"]

_MOST_DRAWN = 50  # runs of a batch that an animation draws
_THICK, _THINNER = (
    0.09,
    0.87,
)  # of the first link, in parts of the reach; of each further one, in parts of the one before
_DENSITY = 8000.0  # [kg/m³] of loads, which are drawn as balls of steel


class Skeleton(NamedTuple):
    """Points (..., k, 3) [m] of a robot, the pairs of them that `links` join, the tips, and the base if it is held."""

    points: np.ndarray
    links: list[tuple[int, int]]
    tips: list[int]
    base: int | None


class Scene(NamedTuple):
    """The runs that are drawn, in frames: points (runs, frames, k, 3) [m] with up along z, and what joins them.

    Links have widths [m]. `loads` are pairs of centers (runs, frames, 3) and radii (runs,) [m] of balls.
    """

    name: str
    points: np.ndarray
    links: list[tuple[int, int]]
    widths: list[float]
    tips: list[int]
    base: int | None
    loads: list[tuple[np.ndarray, np.ndarray]]


class Stage(NamedTuple):
    """Where scenes take place: the height of the floor, the middle of all points (3,), and how far they reach [m]."""

    floor: float
    middle: np.ndarray
    reach: float


# --- a robot as points ------------------------------------------------------------------------------------------------


def skeleton(robot: Robot, q: np.ndarray) -> Skeleton:
    """The points of a robot at q (..., nq): one on the axis of each joint, and the tips, in its base."""
    T = forward_kinematics(robot, q)
    count, parents = len(robot.body_names), robot.parents.tolist()
    spots = [(i, _on_axis(robot.screw(i))) for i in range(count)]
    ends = sorted(set(range(count)) - set(parents))
    spots += [(i, _tip(robot, i, spots[i][1])) for i in ends]
    points = [T[..., i, :3, :3] @ x + T[..., i, :3, 3] for i, x in spots]
    roots = [(len(spots), i) for i in range(count) if parents[i] < 0 and not _roams(robot.screw(i))]
    inner = [(parents[i], i) for i in range(count) if parents[i] >= 0]
    tips = [(i, count + k) for k, i in enumerate(ends)]
    base = len(spots) if roots else None
    points += [np.zeros_like(points[0])] * len(roots[:1])
    return Skeleton(np.stack(points, axis=-2), roots + inner + tips, [k for _, k in tips], base)


def _on_axis(screws: np.ndarray) -> np.ndarray:
    """The point of a joint's axis that is nearest to the origin of its body; the origin, if there is not one axis."""
    w, v = screws[0, :3], screws[0, 3:]
    return np.cross(w, v) / (w @ w) if len(screws) == 1 and w.any() else np.zeros(3)


def _roams(screws: np.ndarray) -> bool:
    """Whether a joint lets its body go far from its parent, as a free one does."""
    return int(np.count_nonzero(~screws[:, :3].any(axis=1))) > 1


def _tip(robot: Robot, body: int, joint: np.ndarray) -> np.ndarray:
    """Where the last body of a branch ends: its farthest further frame; else its origin, or its center of mass."""
    frames = [f.placement[:3, 3] for f in robot.frames if f.body == body]
    if frames or joint.any():
        return max([np.zeros(3), *frames], key=lambda x: float(np.linalg.norm(x - joint)))
    mass, first_moment = robot.inertias[body, 0], robot.inertias[body, 1:4]
    return first_moment / mass if mass > 0 else joint


def _upright(gravity: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) after which gravity points down, along -z."""
    size = np.linalg.norm(gravity)
    up = -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])
    x = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
    x = x - (x @ up) * up
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(up, x), up])


# --- runs in frames ---------------------------------------------------------------------------------------------------


def scene_of(run: Run, name: str, times: np.ndarray) -> Scene:
    """The scene of a run, or of the first runs of a batch, at the times of the frames."""
    robot = run.robot
    q = run.q.reshape(-1, *run.q.shape[-2:])[:_MOST_DRAWN]
    last = np.cumprod(np.isfinite(q).all(axis=-1), axis=1).sum(axis=1) - 1  # a run that is lost stays where it was
    if not (last >= 0).any():
        raise ArgumentError("Run.animate: no run that would be drawn starts with finite numbers")
    drawn = np.flatnonzero(last >= 0)

    def shown(t: np.ndarray) -> np.ndarray:
        """Configurations (runs, ..., nq) at times (runs, ...) or (...)."""
        nearest = np.clip(np.searchsorted(run.t, t - 1e-9), 0, len(run.t) - 1)
        at = np.minimum(nearest, last[drawn, None])
        return np.take_along_axis(q[drawn], at[..., None], axis=1)

    R = _upright(robot.gravity)
    points, links, tips, base = skeleton(robot, shown(times))
    loads = []
    for load in loads_of(run.setup.plan.plant.changes, run.setup.numbers):
        start, end, mass, com = (_of_runs(x, run, core)[drawn] for x, core in zip(load[1:], (0, 0, 0, 1), strict=True))
        T = forward_kinematics(robot, shown(np.clip(times, start[:, None], end[:, None])), load.frame)
        centers = (T[..., :3, :3] @ com[:, None, :, None])[..., 0] + T[..., :3, 3]
        loads.append((centers @ R.T, np.cbrt(3 * mass / (4 * np.pi * _DENSITY))))
    return Scene(name, points @ R.T, links, _widths(points, links), tips, base, loads)


def _of_runs(x: np.ndarray, run: Run, core: int) -> np.ndarray:
    """Numbers (..., *core) of the runs that may be drawn, with the batch as one axis."""
    lead = np.broadcast_to(x, (*run.batch, *x.shape[x.ndim - core :]))
    return lead.reshape(-1, *x.shape[x.ndim - core :])[:_MOST_DRAWN]


def _widths(points: np.ndarray, links: list[tuple[int, int]]) -> list[float]:
    """The width of every link: the farther from the base, the thinner. Links come after those that lead to them."""
    steps: dict[int, int] = {}
    lengths: dict[int, float] = {}
    for a, b in links:
        steps[b] = steps.get(a, 0) + 1
        lengths[b] = lengths.get(a, 0.0) + float(np.linalg.norm(points[0, 0, b] - points[0, 0, a]))
    thick = _THICK * max(lengths.values())
    return [thick * max(_THINNER ** (steps[b] - 1), 0.3) for _, b in links]


def stage_of(scenes: list[Scene]) -> Stage:
    """The stage that holds all scenes."""
    every = np.concatenate([x.points.reshape(-1, 3) for x in scenes])
    low, high = every.min(axis=0), every.max(axis=0)
    height = max(float((high - low).max()), 1e-3)
    floor = 0.0 if low[2] > -0.02 * height else float(low[2] - 0.08 * height)
    low[2], high[2] = min(low[2], floor), max(high[2], floor)
    middle = (low + high) / 2
    return Stage(floor, middle, max(float(np.linalg.norm(every - middle, axis=-1).max()), 1e-3))
