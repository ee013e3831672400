"""How often shapes of a robot touch each other in random configurations, and how near they come at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics import forward_kinematics
from ..model.configuration import integrate, neutral, random_configuration
from ..model.robot import Robot
from .pair_distances import capsule_capsule
from .shape_kernels import hull_gap
from .shapes_of_links import LinkShapes

__all__ = ["Meetings", "inside_limits"]

_CHUNK = 256  # samples at a time
_ENOUGH = 1024  # samples after which pairs that touched are known well enough
_STARTS, _CHILDREN, _ROUNDS = 5, 4, 20  # of the search for nearer configurations
_SMALLER = 0.85  # each round's steps are smaller than those before
_LANES = 100_000  # pairs at a time


class Meetings(NamedTuple):
    """What is known of pairs (p,) of shapes after sampling.

    - `share`: the part of the samples in which the hulls of both may touch, and `shape_share` that of the shapes.
    - `least`: the least distance that was found [m]; it is a lower bound of the distance of the hulls, from the shapes
      or from planes between the hulls, whichever is larger.
    - `neutral`: the distance of the shapes in the neutral configuration, moved into the limits [m].
    """

    share: np.ndarray
    shape_share: np.ndarray
    least: np.ndarray
    neutral: np.ndarray


class _Pairs(NamedTuple):
    """What distances are asked of: pairs (p, 2) of the shapes of a robot."""

    robot: Robot
    shapes: LinkShapes
    numbers: np.ndarray

    def of(self, which: np.ndarray) -> _Pairs:
        return self._replace(numbers=self.numbers[which])


def shape_meetings(
    robot: Robot, shapes: LinkShapes, pairs: np.ndarray, samples: int, margin: float, rng: np.random.Generator
) -> Meetings:
    """The meetings of pairs (p, 2) of shapes in random configurations, and after a search for nearer ones.

    Distances between balls around the shapes tell which shapes can be nearer than `margin`; only their distances are
    computed. After 1024 samples, only pairs that never touched are sampled further. The search goes from the nearest
    samples of each pair that never came nearer than `margin`, by random steps that become smaller.
    """
    all_pairs = _Pairs(robot, shapes, pairs)
    rest = _own_distances(all_pairs, np.tile(inside_limits(robot, neutral(robot)), (len(pairs), 1, 1)), -np.inf)[:, 0]
    touched, shapes_touched, seen = np.zeros((3, len(pairs)))
    least = np.full(len(pairs), np.inf)
    nearest, starts = np.zeros((len(pairs), 0)), np.zeros((len(pairs), 0, robot.nq))
    now = np.arange(len(pairs))  # the pairs that are sampled
    for first in range(0, samples, _CHUNK):
        if not len(now):
            break
        q = random_configuration(robot, min(_CHUNK, samples - first), rng=rng)
        bound, shape, link = _near(all_pairs.of(now), q, margin)
        touched[now] += (link <= 0).sum(axis=0)
        shapes_touched[now] += (shape <= 0).sum(axis=0)
        seen[now] += len(q)
        least[now] = np.minimum(least[now], link.min(axis=0))
        if nearest.shape[1] < 4 * _STARTS:  # the best sample of each of the first chunks
            best = np.argmin(bound, axis=0)
            column, place = np.full(len(pairs), np.inf), np.zeros((len(pairs), robot.nq))
            column[now], place[now] = bound[best, np.arange(len(now))], q[best]
            nearest = np.concatenate([nearest, column[:, None]], axis=1)
            starts = np.concatenate([starts, place[:, None]], axis=1)
        now = np.flatnonzero((touched == 0) | (seen < _ENOUGH))
    far = np.flatnonzero(least > margin)
    chosen = np.argsort(nearest[far], axis=1)[:, :_STARTS]
    q = np.take_along_axis(starts[far], chosen[..., None], axis=1)
    least[far] = np.minimum(least[far], _searched(all_pairs.of(far), q, margin, rng))
    return Meetings(touched / np.maximum(seen, 1), shapes_touched / np.maximum(seen, 1), least, rest)


def inside_limits(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Configurations (..., nq) with the coordinates that limits bound moved between them."""
    return np.clip(q, np.minimum(robot.lower, robot.upper), np.maximum(robot.lower, robot.upper))


def _searched(pairs: _Pairs, q: np.ndarray, margin: float, rng: np.random.Generator) -> np.ndarray:
    """The least distances (p,) of pairs that random steps from q (p, s, nq) find; those below `margin` stop there."""
    robot, found = pairs.robot, np.full(len(pairs.numbers), np.inf)
    if not len(found) or not robot.nv:
        return found
    active = np.arange(len(found))
    distance = _own_distances(pairs, q, margin)
    step = 0.4
    for _ in range(_ROUNDS):
        shape = (len(active), q.shape[1], _CHILDREN, robot.nv)
        tried = inside_limits(robot, np.asarray(integrate(robot, q[:, :, None], step * rng.standard_normal(shape))))
        new = _own_distances(pairs.of(active), tried.reshape(len(active), -1, robot.nq), margin).reshape(shape[:3])
        best = np.argmin(new, axis=2)[..., None]
        new = np.take_along_axis(new, best, 2)[..., 0]
        better = new < distance
        q = np.where(better[..., None], np.take_along_axis(tried, best[..., None], 2)[:, :, 0], q)
        distance = np.where(better, new, distance)
        found[active] = distance.min(axis=1)
        keep = found[active] > margin
        active, q, distance = active[keep], q[keep], distance[keep]
        step *= _SMALLER
        if not len(active):
            break
    return found


# --- distances --------------------------------------------------------------------------------------------------------


class _Placed(NamedTuple):
    """Shapes in the base: the placements (n, k, 4, 4) of their bodies, and their ends (n, k, 3)."""

    T: np.ndarray
    start: np.ndarray
    end: np.ndarray


class _Two(NamedTuple):
    """Two shapes in samples (m,): the placements of their bodies, and their ends."""

    T_a: np.ndarray
    T_b: np.ndarray
    start_a: np.ndarray
    end_a: np.ndarray
    start_b: np.ndarray
    end_b: np.ndarray


def _two(at: _Placed, i: np.ndarray, a, b) -> _Two:
    """Shapes a and b of those at `at`, in samples number i (m,)."""
    return _Two(at.T[i, a], at.T[i, b], at.start[i, a], at.end[i, a], at.start[i, b], at.end[i, b])


def _placed(pairs: _Pairs, q: np.ndarray, which: np.ndarray | None = None) -> _Placed:
    """All shapes at q (n, nq), or only `which` (n, k) of them, others in each sample."""
    shapes = pairs.shapes
    T = np.asarray(forward_kinematics(pairs.robot, q)).reshape(len(q), -1, 4, 4)
    T = np.concatenate([T, np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))], axis=1)
    which = np.arange(len(shapes))[None] if which is None else which
    T = T[np.arange(len(q))[:, None], shapes.bodies[which]]
    local = np.stack([shapes.starts[which], shapes.ends[which]], axis=-1)
    turned = (T[..., :3, :3] @ local).swapaxes(2, 3) + T[..., None, :3, 3]
    return _Placed(T, turned[:, :, 0], turned[:, :, 1])


def _near(pairs: _Pairs, q: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three lower bounds (n, p) of distances at q (n, nq): by balls around shapes, by shapes, and by hulls.

    The second and third are infinite where the one before is above `margin`.
    """
    shapes, at = pairs.shapes, _placed(pairs, q)
    middle, reach = (at.start + at.end) / 2, shapes.radii + shapes.lengths / 2
    size = np.sum(middle**2, axis=-1)
    squares = size[:, :, None] + size[:, None] - 2 * middle @ middle.mT  # (n, k, k)
    a, b = pairs.numbers.T
    bound = np.sqrt(np.maximum(squares[:, a, b], 0.0)) - reach[a] - reach[b]
    shape, link = np.full((2, *bound.shape), np.inf)
    n, p = np.nonzero(bound <= margin + 1e-6)
    for k in range(0, len(n), _LANES):
        i, j = n[k : k + _LANES], p[k : k + _LANES]
        shape[i, j] = _between_shapes(pairs, _two(at, i, a[j], b[j]), j)
    link[shape <= margin] = shape[shape <= margin]
    for j in np.flatnonzero((shape <= margin).any(axis=0)):
        i = np.flatnonzero(shape[:, j] <= margin)
        link[i, j] = np.maximum(shape[i, j], _between_hulls(pairs, _two(at, i, a[j], b[j]), int(j), margin))
    return bound, shape, link


def _own_distances(pairs: _Pairs, q: np.ndarray, margin: float) -> np.ndarray:
    """Distances (p, s) of each pair at its own configurations q (p, s, nq); by hulls where they are below `margin`."""
    found = np.empty(q.shape[:2])
    few = max(_LANES // (4 * q.shape[1] * max(len(pairs.robot.body_names), 1)), 1)
    for k in range(0, len(found), few):
        part = q[k : k + few]
        own = pairs.of(np.arange(k, k + len(part)))
        j = np.repeat(np.arange(len(part)), q.shape[1])
        at = _placed(pairs, part.reshape(-1, q.shape[2]), own.numbers[j])
        two = _two(at, np.arange(len(j)), 0, 1)
        apart = _between_shapes(own, two, j)
        for pair in np.unique(j[apart <= margin]):
            i = np.flatnonzero((j == pair) & (apart <= margin))
            apart[i] = np.maximum(apart[i], _between_hulls(own, _two(at, i, 0, 1), int(pair), np.inf))
        found[k : k + few] = apart.reshape(part.shape[:2])
    return found


def _between_shapes(pairs: _Pairs, at: _Two, j: np.ndarray) -> np.ndarray:
    """The distances (m,) of pairs number j (m,), whose shapes are at `at`."""
    ra, rb = pairs.shapes.radii[pairs.numbers[j]].T
    return np.array(capsule_capsule(at.start_a, at.end_a, ra, at.start_b, at.end_b, rb).distance)


def _between_hulls(pairs: _Pairs, at: _Two, pair: int, enough: float) -> np.ndarray:
    """Lower bounds (m,) of the distances of the hulls of one pair, at `at`; -∞ if it has no hulls."""
    shapes = pairs.shapes
    if not shapes.hulls:
        return np.full(len(at.T_a), -np.inf)
    a, b = pairs.numbers[pair]
    padding = shapes.hull_radii[a] + shapes.hull_radii[b]
    count = max(len(shapes.hulls[a]), len(shapes.hulls[b]))
    first, second = (hull[np.minimum(np.arange(count), len(hull) - 1)] for hull in (shapes.hulls[a], shapes.hulls[b]))
    back = at.T_a[:, :3, :3].mT
    T_ab = np.tile(np.eye(4), (len(back), 1, 1))
    T_ab[:, :3, :3] = back @ at.T_b[:, :3, :3]
    T_ab[:, :3, 3] = (back @ (at.T_b[:, :3, 3] - at.T_a[:, :3, 3])[..., None])[..., 0]
    return np.asarray(hull_gap(first, second, T_ab, enough + padding)) - padding
