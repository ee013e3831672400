"""Torques along a path, as limits that are linear in u = s̈ and x = ṡ².

At a point q(s) of the path, the torque is A u + B x + g + friction, with A = M q', B = M q'' + C(q, q') q' and gravity
g: Bobrow, Dubowsky & Gibson (1985), "Time-optimal control of robotic manipulators along specified paths", Int. J.
Robot. Res. 4(3). Everything is in units of the torque's limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import Kernel, kernel, static
from ...dynamics.newton_euler import friction_force, inverse_dynamics
from ...model.once import once_a_robot
from ...model.robot import Robot
from ..polynomials import Order, rates
from .grid import PathGrid, bound

__all__ = ["PathTorque", "damping", "path_torque", "terms_at", "torque_at", "torque_excess"]

_FINER = 10  # parts of an interval between which torques are measured
_APART = 0.02  # torques nearer to their limit than this, as a fraction of it, are measured in any case


@kernel(robot=static, of=static, c=("order", "nv"), effort="nv")
def _terms(robot: Robot, of: Order, c, h, part, effort) -> np.ndarray:
    """A, B and g (3, nv) at a `part` of an interval of length h."""
    q, slope, bend, _ = rates(c.T, part * h)
    still = 0 * slope
    g = inverse_dynamics(robot, q, still, still)
    A = inverse_dynamics(robot, q, still, slope) - g
    B = inverse_dynamics(robot, q, slope, bend) - g - friction_force(robot, slope)
    return np.stack([A, B, g]) / effort


@kernel(robot=static, of=static, c=("order", "nv"), effort="nv")
def _damping(robot: Robot, of: Order, c, h, part, x, x_end, effort) -> np.ndarray:
    """The torque (nv,) of viscous damping at a `part` of an interval between the squared speeds x and `x_end`."""
    slope = rates(c.T, part * h)[1]
    return robot.damping * slope * np.sqrt(np.maximum(x + part * (x_end - x), 0.0)) / effort


@kernel(robot=static, of=static, c=("order", "nv"), effort="nv")
def _torque(robot: Robot, of: Order, c, h, part, x, x_end, effort) -> np.ndarray:
    """The torque (nv,) at a `part` of the time of an interval between the squared speeds x and `x_end`.

    In time it is smooth; in s, the damping √x of a motion from rest is not.
    """
    first, u = np.sqrt(x), (x_end - x) / (2 * h)
    t = part * 2 * h / (first + np.sqrt(x_end))
    q, slope, bend, _ = rates(c.T, (first + 0.5 * u * t) * t)
    speed = np.maximum(first + u * t, 1e-150)  # at rest, dry friction is that of the motion that follows
    return inverse_dynamics(robot, q, slope * speed, slope * u + bend * speed**2) / effort


class _Joints(NamedTuple):
    """The number of joints whose torques are known at some points of an interval."""

    n: int
    points: int = _FINER + 1


@kernel(of=static, terms=(3, 3, "n"))
def _may_exceed(of: _Joints, terms, h, x, x_end):
    """Whether a torque may exceed its limit: it is near to it, or as far from it as it changes in the interval."""
    u = (x_end - x) / (2 * h)
    worst = 0.0 * h
    for j in range(of.n):
        at = [terms[p, 0, j] * u + terms[p, 1, j] * (x + 0.5 * p * (x_end - x)) + terms[p, 2, j] for p in range(3)]
        least, most = np.minimum(np.minimum(*at[:2]), at[2]), np.maximum(np.maximum(*at[:2]), at[2])
        worst = np.maximum(worst, np.maximum(most, -least) + most - least)
    return np.where(worst > 1 - _APART, 1.0, 0.0)


@kernel(of=static, torques=("points", "n"))
def _peaks(of: _Joints, torques) -> np.ndarray:
    """The largest modulus (n,) of torques (points, n), and of parabolas through three neighbouring ones."""
    found = []
    for j in range(of.n):
        most = np.maximum(np.abs(torques[0, j]), np.abs(torques[-1, j]))
        for before, here, after in (torques[p - 1 : p + 2, j] for p in range(1, of.points - 1)):
            slope, bend = 0.5 * (after - before), before - 2 * here + after
            inside = np.abs(slope) < np.abs(bend)
            top = here - np.where(inside, slope * slope / np.where(inside, 2 * bend, 1.0), 0.0)
            most = np.maximum(most, np.maximum(np.abs(here), np.abs(top)))
        found.append(most)
    return np.stack(found)


# --- on a grid --------------------------------------------------------------------------------------------------------


class PathTorque(NamedTuple):
    """The torques on a grid of G intervals, as `reachability` takes them."""

    terms: np.ndarray  # (..., G, 3, 3, n): A, B, g at the start, middle and end of each interval
    bounds: np.ndarray  # (..., G, 2, n): the least and the largest torque without dry friction


@once_a_robot(most=16)
def _bound(robot: Robot, function: Kernel, order: int) -> Kernel:
    return function.bind(robot, Order(order))


def path_torque(robot: Robot, grid: PathGrid, effort: np.ndarray, smooth: bool) -> PathTorque:
    """The `PathTorque` with limits `effort` (n,) of the torques' moduli; viscous damping is left out.

    If the path is `smooth`, so that q'' is continuous, the end of an interval is the start of the next one.
    """
    batch, (order, n) = grid.local.shape[:-2], grid.local.shape[-2:]
    terms, bounds = np.empty((*batch, 3, 3, n)), np.empty((*batch, 2, n))
    function, parts = _bound(robot, _terms, order), (0.0, 0.5) if smooth else (0.0, 0.5, 1.0)
    part = np.reshape(parts, (-1, *(1 for _ in batch)))
    function(grid.local, grid.steps, part, effort, out=np.moveaxis(terms[..., : len(parts), :, :], -3, 0))
    if smooth:
        terms[..., :-1, 2, :, :] = terms[..., 1:, 0, :, :]
        terms[..., -1, 2, :, :] = function(grid.local[..., -1, :, :], grid.steps[..., -1], 1.0, effort)
    bounds[..., 0, :], bounds[..., 1, :] = -1.0, 1.0
    if robot.friction.any():
        bounds -= robot.friction / effort * _signs(grid)
    return PathTorque(terms, bounds)


def _signs(grid: PathGrid) -> np.ndarray:
    """The least and the largest sign (..., G, 2, n) that each q̇ may have in an interval; 0 is one at both ends."""
    order = grid.local.shape[-2]
    scale = np.arange(1, order)[:, None] * grid.steps[..., None, None] ** np.arange(order - 1)[:, None]
    parts = grid.local[..., 1:, :] * scale
    first, later = parts[..., 0, :], parts[..., 1:, :]
    bounds = [first + pick(later, 0.0).sum(axis=-2) for pick in (np.minimum, np.maximum)]
    found = np.sign(np.stack(bounds, axis=-2))
    for end in (0, -1):
        found[..., end, 0, :] = np.minimum(found[..., end, 0, :], 0.0)
        found[..., end, 1, :] = np.maximum(found[..., end, 1, :], 0.0)
    return found


def damping(robot: Robot, grid: PathGrid, effort: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Viscous damping (..., G, 3, n) at the start, middle and end of the intervals, at the squared speeds x."""
    part = np.reshape((0.0, 0.5, 1.0), (3, *(1 for _ in grid.local.shape[:-2])))
    found = _bound(robot, _damping, grid.local.shape[-2])(grid.local, grid.steps, part, x[..., :-1], x[..., 1:], effort)
    return np.moveaxis(found, 0, -2)


def terms_at(robot: Robot, c: np.ndarray, s: np.ndarray, effort: np.ndarray) -> np.ndarray:
    """A, B and g (..., 3, n) of polynomials c (..., order, n) of the path at s (...)."""
    return _bound(robot, _terms, c.shape[-2])(c, s, 1.0, effort)


def torque_at(robot: Robot, grid: PathGrid, effort: np.ndarray, part: float, x: np.ndarray) -> np.ndarray:
    """The torques (..., G, n) at a `part` of the time of the intervals, in units of their limits."""
    given = grid.local, grid.steps, part, x[..., :-1], x[..., 1:], effort
    return _bound(robot, _torque, grid.local.shape[-2])(*given)


def torque_excess(robot: Robot, grid: PathGrid, effort: np.ndarray, torque: PathTorque, x: np.ndarray) -> np.ndarray:
    """How much the torques exceed their limits (..., G, n), as fractions of these, on a grid ten times finer; or 0."""
    _, steps, local = grid
    order, n = local.shape[-2:]
    near = np.nonzero(bound(_may_exceed, _Joints(n))(torque.terms, steps, x[..., :-1], x[..., 1:]))
    steps = steps[near] if steps.ndim == len(near) else steps[near[-1]]
    after = (*near[:-1], near[-1] + 1)
    part = np.arange(_FINER + 1)[:, None] / _FINER
    torques = np.empty((len(steps), _FINER + 1, n))
    given = local[near], steps, part, x[near], x[after], effort
    _bound(robot, _torque, order)(*given, out=torques.swapaxes(0, 1))
    found = np.zeros((*local.shape[:-2], n))
    found[near] = np.maximum(bound(_peaks, _Joints(n))(torques) - 1, 0.0)
    return found
