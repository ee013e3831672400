"""How often shapes of a robot touch each other in random configurations, and how near they come at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics import forward_kinematics
from ..model.configuration import integrate, neutral, random_configuration
from ..model.robot import Robot
from .link_shapes import LinkShapes
from .pair_distances import capsule_capsule

__all__ = ["Meetings", "inside_limits", "shape_meetings"]

_CHUNK = 256  # samples at a time
_ENOUGH = 1024  # samples after which pairs that both touch and do not are known well enough
_STARTS, _CHILDREN, _ROUNDS = 5, 4, 20  # of the search for nearer configurations
_LANES = 100_000  # pairs at a time


class Meetings(NamedTuple):
    """What is known of pairs (p,) of shapes after sampling: the part of the samples in which they touch, the least
    distance that was found [m], and their distance in the neutral configuration, moved into the limits."""

    share: np.ndarray
    least: np.ndarray
    neutral: np.ndarray


def shape_meetings(
    robot: Robot, shapes: LinkShapes, pairs: np.ndarray, samples: int, margin: float, rng: np.random.Generator
) -> Meetings:
    """The meetings of pairs (p, 2) of shapes in random configurations, and after a search for nearer ones.

    Distances between balls around the shapes tell which shapes can be nearer than `margin`; only their distances are
    computed. A pair is sampled no further once it both touched and did not in many samples. The search goes from the
    nearest samples of each pair that never came nearer than `margin`, by random steps that become smaller.
    """
    rest = _distances(robot, shapes, inside_limits(robot, neutral(robot))[None], pairs)[0]
    touched, seen, least = np.zeros(len(pairs)), np.zeros(len(pairs)), rest.copy()
    nearest, starts = np.zeros((len(pairs), 0)), np.zeros((len(pairs), 0, robot.nq))
    open_pairs = np.arange(len(pairs))
    for first in range(0, samples, _CHUNK):
        q = random_configuration(robot, min(_CHUNK, samples - first), rng=rng)
        bound, near = _near(robot, shapes, q, pairs[open_pairs], margin)
        touched[open_pairs] += (near <= 0).sum(axis=0)
        seen[open_pairs] += len(q)
        least[open_pairs] = np.minimum(least[open_pairs], near.min(axis=0))
        if nearest.shape[1] < 4 * _STARTS:  # the best sample of each of the first chunks
            best = np.argmin(bound, axis=0)
            column, place = np.full(len(pairs), np.inf), np.zeros((len(pairs), robot.nq))
            column[open_pairs], place[open_pairs] = bound[best, np.arange(len(open_pairs))], q[best]
            nearest = np.concatenate([nearest, column[:, None]], axis=1)
            starts = np.concatenate([starts, place[:, None]], axis=1)
        undecided = (touched == 0) | (touched == seen) | (seen < _ENOUGH)
        open_pairs = np.flatnonzero(undecided)
        if not len(open_pairs):
            break
    far = np.flatnonzero(least > margin)
    chosen = np.argsort(nearest[far], axis=1)[:, :_STARTS]
    q = np.take_along_axis(starts[far], chosen[..., None], axis=1)
    least[far] = np.minimum(least[far], _searched(robot, shapes, q, pairs[far], margin, rng))
    return Meetings(touched / np.maximum(seen, 1), least, rest)


def inside_limits(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Configurations (..., nq) with the coordinates that limits bound moved between them."""
    return np.clip(q, np.minimum(robot.lower, robot.upper), np.maximum(robot.lower, robot.upper))


def _searched(
    robot: Robot, shapes: LinkShapes, q: np.ndarray, pairs: np.ndarray, margin: float, rng: np.random.Generator
) -> np.ndarray:
    """The least distances (p,) of pairs that random steps from q (p, s, nq) find; those below `margin` stop there."""
    found = np.full(len(pairs), np.inf)
    if not len(pairs) or not robot.nv:
        return found
    active = np.arange(len(pairs))
    distance = _own_distances(robot, shapes, q, pairs)
    step = 0.4
    for _ in range(_ROUNDS):
        shape = (len(active), q.shape[1], _CHILDREN, robot.nv)
        tried = inside_limits(robot, np.asarray(integrate(robot, q[:, :, None], step * rng.standard_normal(shape))))
        new = _own_distances(robot, shapes, tried.reshape(len(active), -1, robot.nq), pairs[active])
        new = new.reshape(shape[:3])
        best = np.argmin(new, axis=2)[..., None]
        new = np.take_along_axis(new, best, 2)[..., 0]
        better = new < distance
        q = np.where(better[..., None], np.take_along_axis(tried, best[..., None], 2)[:, :, 0], q)
        distance = np.where(better, new, distance)
        found[active] = distance.min(axis=1)
        keep = found[active] > margin
        active, q, distance = active[keep], q[keep], distance[keep]
        step *= 0.85
        if not len(active):
            break
    return found


# --- distances --------------------------------------------------------------------------------------------------------


def _placed(robot: Robot, shapes: LinkShapes, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends (n, k, 3), (n, k, 3) of all shapes in the base at configurations q (n, nq)."""
    T = np.asarray(forward_kinematics(robot, q)).reshape(len(q), -1, 4, 4)
    T = np.concatenate([T, np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))], axis=1)[:, shapes.bodies]
    turned = (T[..., :3, :3] @ np.stack([shapes.starts, shapes.ends], axis=2)).swapaxes(2, 3) + T[..., None, :3, 3]
    return turned[:, :, 0], turned[:, :, 1]


def _near(
    robot: Robot, shapes: LinkShapes, q: np.ndarray, pairs: np.ndarray, margin: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds (n, p) of distances, and the distances where these are below `margin`, infinite elsewhere."""
    start, end = _placed(robot, shapes, q)
    middle, reach = (start + end) / 2, shapes.radii + shapes.lengths / 2
    size = np.sum(middle**2, axis=-1)
    squares = size[:, :, None] + size[:, None] - 2 * middle @ middle.mT  # (n, k, k)
    a, b = pairs.T
    bound = np.sqrt(np.maximum(squares[:, a, b], 0.0)) - reach[a] - reach[b]
    found = np.full(bound.shape, np.inf)
    n, p = np.nonzero(bound <= margin + 1e-6)
    for k in range(0, len(n), _LANES):
        i, j = n[k : k + _LANES], p[k : k + _LANES]
        found[i, j] = _capsules(shapes, start[i, a[j]], end[i, a[j]], start[i, b[j]], end[i, b[j]], a[j], b[j])
    return bound, found


def _distances(robot: Robot, shapes: LinkShapes, q: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Distances (n, p) of all pairs at q (n, nq)."""
    start, end = _placed(robot, shapes, q)
    a, b = pairs.T
    return _capsules(shapes, start[:, a], end[:, a], start[:, b], end[:, b], a, b)


def _own_distances(robot: Robot, shapes: LinkShapes, q: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The distances (p, s) of each pair (p, 2) at its own configurations q (p, s, nq)."""
    found = np.empty(q.shape[:2])
    few = max(_LANES // (4 * max(len(shapes), 1) * q.shape[1]), 1)
    for k in range(0, len(pairs), few):
        part = q[k : k + few]
        start, end = _placed(robot, shapes, part.reshape(-1, robot.nq))
        which = np.arange(len(start))
        a, b = np.repeat(pairs[k : k + few], q.shape[1], axis=0).T
        apart = _capsules(shapes, start[which, a], end[which, a], start[which, b], end[which, b], a, b)
        found[k : k + few] = apart.reshape(part.shape[:2])
    return found


def _capsules(shapes: LinkShapes, a0, a1, b0, b1, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(capsule_capsule(a0, a1, shapes.radii[a], b0, b1, shapes.radii[b]).distance)
