"""Quintic B-splines on equal segments of the unit interval, whose second derivatives are twice differentiable.

A path is q(t) = Σ_l B_l(t / T) c_l with control points c_l (n,), l = 0 ... segments + 4. A spline lies in the convex
hull of its control points. Its derivative is a spline too, and lies in the hull of its own control points; so limits on
control points hold at every time. The path starts at the first control point and ends at the last one, and the velocity
at the start is 5 · segments · (c_1 - c_0) / T. See de Boor (1978), "A practical guide to splines".
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline

from ...model.robot import Robot
from ..piecewise import Trajectory

__all__ = ["DEGREE", "Basis", "basis", "inner", "pieces", "rate_points", "through"]

DEGREE = 5


def knots(segments: int) -> np.ndarray:
    """The knots of a spline that starts at its first control point and ends at its last."""
    return np.concatenate([np.zeros(DEGREE), np.linspace(0, 1, segments + 1), np.ones(DEGREE)])


class Basis(NamedTuple):
    """The six basis splines that are not zero at each of N points, and their derivatives."""

    first: np.ndarray  # (N,) the number of the first of the six
    values: np.ndarray  # (3, N, 6): B, dB/ds, d²B/ds²


def basis(segments: int, s: np.ndarray) -> Basis:
    """The `Basis` at points s (N,) of [0, 1]."""
    first = np.clip((s * segments).astype(int), 0, segments - 1)
    splines = BSpline(knots(segments), np.eye(segments + DEGREE), DEGREE)
    near = first[:, None] + np.arange(DEGREE + 1)
    values = [np.take_along_axis(splines(s, order), near, axis=1) for order in range(3)]
    return Basis(first, np.array(values))


def pieces(control_points: np.ndarray, duration: float, robot: Robot | None = None) -> Trajectory:
    """The path as a `Trajectory`: on each segment it is the polynomial of its derivatives at the segment's start."""
    segments = len(control_points) - DEGREE
    spline, starts = BSpline(knots(segments), control_points, DEGREE), np.arange(segments) / segments
    series = [spline(starts, order) / (factorial(order) * duration**order) for order in range(DEGREE + 1)]
    return Trajectory(np.linspace(0, duration, segments + 1), np.stack(series, axis=-1), robot)


def rate_points(segments: int) -> np.ndarray:
    """D (segments + 4, segments + 5), which gives the control points D c of dq/ds: de Boor (1978), eq. (X.15)."""
    t = knots(segments)
    spans = t[DEGREE + 1 : -1] - t[1 : -DEGREE - 1]
    return DEGREE / spans[:, None] * np.diff(np.eye(segments + DEGREE), axis=0)


def inner(segments: int) -> np.ndarray:
    """Points s (segments + 1,) of [0, 1], one for each control point that the states at both ends leave free.

    They are the Greville points, where a control point counts most; a path through any positions at these points exists
    by the theorem of Schoenberg & Whitney (de Boor 1978, chapter XIII).
    """
    t = knots(segments)
    return np.mean([t[1 + k : k + 1 + segments + DEGREE] for k in range(DEGREE)], axis=0)[2:-2]


def through(q: np.ndarray, start: np.ndarray, goal: np.ndarray, duration: float) -> np.ndarray:
    """Control points (segments + 5, n) of the path through q (segments + 1, n) at the `inner` points.

    `start` and `goal` are its states (q, v) (2, n) at both ends.
    """
    segments = len(q) - 1
    step = duration / (DEGREE * segments)
    first, last = (start[0], start[0] + step * start[1]), (goal[0] - step * goal[1], goal[0])
    B = BSpline(knots(segments), np.eye(segments + DEGREE), DEGREE)(inner(segments))
    free = np.linalg.solve(B[:, 2:-2], q - B[:, :2] @ np.stack(first) - B[:, -2:] @ np.stack(last))
    return np.concatenate([first, free, last])
