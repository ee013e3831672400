"""Edges, straight motions between two configurations: are they free of collisions, by samples or by proof."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.configuration import difference, interpolate
from ..model.input_checks import one_of, positive
from .checking import is_free
from .collision_models import CollisionModel
from .model_each import clearances_of
from .model_inputs import configurations
from .model_motion import EdgeMotions
from .model_others import others_each

__all__ = ["Certified", "edge_motions", "edges_certified", "edges_free"]

_COARSE = 8  # parts that an edge is cut into first
_FEW = 128  # samples that are checked at once: two rounds would take longer
_MOST = 1 << 18  # samples in one call
_SLACK = 1e-9  # [m]: rounding of distances and bounds


def _edges(model: CollisionModel, starts, ends, caller: str) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The batch shape of edges, and their ends (e, nq), (e, nq)."""
    starts = configurations(model, starts, caller, "starts")
    ends = configurations(model, ends, caller, "ends")
    try:
        shape = np.broadcast_shapes(starts.shape, ends.shape)
    except ValueError:
        raise ArgumentError(f"{caller}: starts {starts.shape} and ends {ends.shape} do not broadcast") from None
    flat = (int(np.prod(shape[:-1])), shape[-1])
    return shape[:-1], np.broadcast_to(starts, shape).reshape(flat), np.broadcast_to(ends, shape).reshape(flat)


def edge_motions(model: CollisionModel, starts, ends) -> np.ndarray:
    """How far any point of the robot, and of what it carries, moves along edges (...) at most [m]: an upper bound.

        >>> from adjoint.collision import collision_model
        >>> model = collision_model(robot, pairs=())
        >>> bool(edge_motions(model, q, q + 0.01) < 0.2)
        True

    It is the sum over the joints of the angle times the largest distance of the robot's points from the axis, and of
    the lengths of prismatic joints. `starts` and `ends` (..., nq) broadcast.
    """
    shape, starts, ends = _edges(model, starts, ends, "edge_motions")
    return _point_motions(model, starts, ends).reshape(shape)[()]


def _point_motions(model: CollisionModel, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    moved = EdgeMotions(model, starts, ends).of_shapes()
    return moved.max(axis=1) if moved.shape[1] else np.zeros(len(starts))


def edges_free(model: CollisionModel, starts, ends, *, resolution: float = 0.02, measure: str = "joints") -> np.ndarray:
    """Whether edges (...) are free at samples along them: straight motions from `starts` to `ends` (..., nq).

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[1.5, 0, 0.5])])
        >>> edges_free(model, q, q + 0.1 * np.eye(6))
        array([ True,  True,  True,  True,  True,  True])

    Parameters
    ----------
    model
        A `CollisionModel`.
    starts, ends
        Configurations (..., nq) that broadcast. Between them the robot moves as `interpolate` says. Both ends are
        samples, too.
    resolution
        How far apart neighbouring samples are at most, in the `measure`:
    measure
        "joints": no joint moves by more than `resolution` [rad, or m] between samples; of joints with several degrees
        of freedom, none of their velocities does. "points": no point of the robot moves farther than `resolution` [m],
        by the bound of `edge_motions`.

    An edge is checked coarse to fine, so that collisions are found early: first at about eight parts of it, and then,
    if all of these are free, between them. Samples of all edges go into one call. An edge is cut into equal parts.
    """
    who = "edges_free"
    shape, starts, ends = _edges(model, starts, ends, who)
    resolution = positive(resolution, f"{who}: resolution")
    one_of(measure, ("joints", "points"), f"{who}: measure")
    if measure == "points":
        length = _point_motions(model, starts, ends)
    else:
        moved = difference(model.robot, starts, ends)
        length = np.abs(moved).max(axis=1) if moved.shape[1] else np.zeros(len(starts))
    steps = length / resolution
    valid = np.isfinite(steps)  # an edge with NaN is not free
    steps = np.maximum(np.ceil(np.where(valid, steps, 0.0) - 1e-9), 1.0)
    if steps.size and steps.max() > 1e9:
        raise ArgumentError(f"{who}: an edge has {steps.max():.3g} samples; 'resolution' is {resolution:g}")
    if len(steps) == 1 and steps[0] <= _FEW and valid.all():  # one short edge, as planners ask, in few lines of Python
        q = interpolate(model.robot, starts[0], ends[0], np.arange(steps[0] + 1) / steps[0])
        return np.full(shape, is_free(model, q).all())[()]
    free = valid.copy()
    # Every `stride`-th sample is checked, of those that were not checked before.
    stride = first_strides(steps) if steps.sum() > _FEW else np.ones_like(steps)
    before = np.full(len(steps), np.inf)
    while True:
        alive = np.flatnonzero(free & (before > 1))
        if not len(alive):
            return free.reshape(shape)[()]
        for some in _chunks(alive, steps / stride):
            edge, s = _samples(steps[some], stride[some], before[some])
            edge = some[edge]
            ok = is_free(model, interpolate(model.robot, starts[edge], ends[edge], s))
            free[edge[~ok]] = False
        before = np.where(before > 1, stride, before)
        stride = np.maximum(stride / _COARSE, 1.0)


def first_strides(steps: np.ndarray) -> np.ndarray:
    """The distance of samples in the first round: a power of 2, so that an edge has 8 to 16 parts, or all it has."""
    return 2.0 ** np.floor(np.log2(np.maximum(steps / _COARSE, 1.0)))


def _chunks(edges: np.ndarray, samples: np.ndarray) -> list[np.ndarray]:
    """The edges in groups of not too many samples."""
    total = np.cumsum(samples[edges])
    if total[-1] <= _MOST:
        return [edges]
    return [part for part in np.split(edges, np.flatnonzero(np.diff(total // _MOST)) + 1) if len(part)]


def _samples(steps: np.ndarray, stride: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of edges, and parameters s from 0 to 1, of samples with numbers 0, stride, 2 stride, ..., steps.

    Multiples of `before` were checked before; so was the last sample, if `before` is finite.
    """
    count = np.floor(steps / stride).astype(int) + 1
    first = np.isinf(before)
    count = count + (first & (stride * (count - 1) < steps))  # the end
    edge = np.repeat(np.arange(len(steps)), count)
    number = stride[edge] * (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count))
    number = np.minimum(number, steps[edge])
    if not first.all():
        old = before[edge]
        new = np.isinf(old) | ((np.fmod(number, np.where(np.isinf(old), 1.0, old)) != 0) & (number < steps[edge]))
        edge, number = edge[new], number[new]
    return edge, number / steps[edge]


# --- proofs -----------------------------------------------------------------------------------------------------------


class Certified(NamedTuple):
    """What is proved about edges: see `edges_certified`. An edge is free, colliding or undecided."""

    free: np.ndarray
    """(...) no shape of the robot touches anything anywhere on the edge"""
    colliding: np.ndarray
    """(...) at `where` the edge is not free"""
    undecided: np.ndarray
    """(...) the edge comes so near to something that nothing is proved"""
    where: np.ndarray
    """(...) a part s of the edge, from 0 to 1, at which it collides; NaN if none was found"""
    checks: int
    """how many configurations were looked at"""


def edges_certified(model: CollisionModel, starts, ends, *, resolution: float = 1e-3) -> Certified:
    """Whether edges (...) are free, by proof, not by samples: `Certified(free, colliding, undecided, where, checks)`.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[1.5, 0, 0.5])], pairs=())
        >>> bool(edges_certified(model, q, q + 0.3).free)
        True

    Parameters
    ----------
    model, starts, ends
        As for `edges_free`.
    resolution
        A part of an edge on which no point moves farther than this [m] is not cut further; if nothing is proved about
        it, the edge is undecided.

    A shape with the clearances d₀ and d₁ at the ends of a part of an edge, of which no point moves farther than m
    between them, touches nothing there if d₀ + d₁ > m. Parts for which this does not hold for all shapes, and pairs of
    bodies, are cut in halves. The bound m is the sum over the joints of |Δq| times the largest distance of the shape
    from the axis (see `edge_motions`). The proof is about the shapes of the model, which have the links in them, and
    about the motion of `interpolate`. It is valid up to rounding, for which 1e-9 m are left.

    Reference: Schwarzer, Saha & Latombe (2005), "Adaptive dynamic collision checking for single and multiple
    articulated robots in complex environments".
    """
    who = "edges_certified"
    shape, starts, ends = _edges(model, starts, ends, who)
    resolution = positive(resolution, f"{who}: resolution")
    valid = np.asarray(np.isfinite(starts).all(axis=1) & np.isfinite(ends).all(axis=1), bool)
    moves = _bounds(model, np.where(valid[:, None], starts, 0.0), np.where(valid[:, None], ends, 0.0))
    largest = moves.max(axis=1, initial=0.0)
    where, stuck = np.full(len(starts), np.nan), ~valid
    edge = np.flatnonzero(valid)
    parts = _Parts(edge, np.zeros(len(edge)), np.ones(len(edge)), *(_distances(model, x[edge]) for x in (starts, ends)))
    checks = 2 * len(edge)
    _note(where, edge, parts.low, parts.d_low)
    _note(where, edge, parts.high, parts.d_high)
    while True:
        width = parts.high - parts.low
        proved = (parts.d_low + parts.d_high > moves[parts.edge] * width[:, None] + _SLACK).all(axis=1)
        left = ~proved & np.isnan(where[parts.edge])
        short = left & (largest[parts.edge] * width <= resolution)
        stuck[parts.edge[short]] = True
        parts = parts.some(left & ~stuck[parts.edge])
        if not len(parts.edge):
            break
        middle = 0.5 * (parts.low + parts.high)
        q = interpolate(model.robot, starts[parts.edge], ends[parts.edge], middle)
        d = _distances(model, q)
        checks += len(q)
        _note(where, parts.edge, middle, d)
        parts = parts.halves(middle, d)
    colliding = ~np.isnan(where)
    found = ~colliding & ~stuck, colliding, stuck & ~colliding, where
    free, colliding, stuck, where = (x.reshape(shape)[()] for x in found)
    return Certified(free, colliding, stuck, where, checks)


class _Parts(NamedTuple):
    """Parts of edges, from s = low to high (k,), with the clearances (k, m) at both ends."""

    edge: np.ndarray
    low: np.ndarray
    high: np.ndarray
    d_low: np.ndarray
    d_high: np.ndarray

    def some(self, wanted: np.ndarray) -> _Parts:
        return _Parts(*(x[wanted] for x in self))

    def halves(self, middle: np.ndarray, d: np.ndarray) -> _Parts:
        """Both halves of all parts, where `d` are the clearances in the middle."""
        return _Parts(
            np.tile(self.edge, 2),
            np.concatenate([self.low, middle]),
            np.concatenate([middle, self.high]),
            np.concatenate([self.d_low, d]),
            np.concatenate([d, self.d_high]),
        )


def _note(where: np.ndarray, edge: np.ndarray, s: np.ndarray, d: np.ndarray) -> None:
    """Note where edges collide: at the s with a clearance of 0 or less."""
    hit = (d <= 0).any(axis=1)
    where[edge[hit]] = s[hit]


def _bounds(model: CollisionModel, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How far the two of each of the `_distances` move with respect to each other (e, k)."""
    motions = EdgeMotions(model, starts, ends)
    shapes, count = motions.of_shapes(), model._plan.count
    # A carried shape and the link that is nearest to it: both may move.
    held = shapes[:, count:] + (shapes.max(axis=1, keepdims=True) if shapes.shape[1] else 0.0)
    return np.concatenate([shapes, motions.of_pairs(), held], axis=1)


def _distances(model: CollisionModel, q: np.ndarray) -> np.ndarray:
    """The clearances (n, k) of shapes from obstacles, of pairs of bodies, and of carried shapes from the robot."""
    found = model.run(clearances_of, q)
    count, held = len(model.shape_names), len(model.carried_table)
    obstacles = found.obstacles[:, :count]
    if model.tables.others:
        obstacles = np.minimum(obstacles, others_each(model, q))
    return np.concatenate([obstacles, found.own, found.held[:, :held]], axis=1)
