"""Quintic B-splines on equal segments of the unit interval, whose second derivatives are twice differentiable.

A path is q(t) = Σ_l B_l(t / T) c_l with control points c_l (n,), l = 0 ... segments + 4. A spline lies in the convex
hull of its control points. Its derivative is a spline too, and lies in the hull of its own control points; so limits on
control points hold at every time. The path starts at the first control point and ends at the last one, and the velocity
at the start is 5 · segments · (c_1 - c_0) / T. See de Boor (1978), "A practical guide to splines".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline

__all__ = ["DEGREE", "Basis", "basis", "path", "quintic", "rate_points", "refined"]

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


def path(control_points: np.ndarray, duration: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a (..., n) of a path at the times t (...)."""
    spline = BSpline(knots(len(control_points) - DEGREE), control_points, DEGREE)
    s = np.asarray(t) / duration
    return spline(s), spline(s, 1) / duration, spline(s, 2) / duration**2


def rate_points(segments: int) -> np.ndarray:
    """D (segments + 4, segments + 5), which gives the control points D c of dq/ds: de Boor (1978), eq. (X.15)."""
    t = knots(segments)
    spans = t[DEGREE + 1 : -1] - t[1 : -DEGREE - 1]
    return DEGREE / spans[:, None] * np.diff(np.eye(segments + DEGREE), axis=0)


def quintic(q_0, v_0, q_1, v_1, duration: float) -> np.ndarray:
    """Control points (6, n) of the polynomial of degree 5 between two states, without acceleration at both ends."""
    first, last = duration * np.asarray(v_0) / DEGREE, duration * np.asarray(v_1) / DEGREE
    return np.stack([q_0, q_0 + first, q_0 + 2 * first, q_1 - 2 * last, q_1 - last, q_1])


def refined(control_points: np.ndarray, segments: int) -> np.ndarray:
    """Control points of the same path with a multiple of its segments, by interpolation at the Greville points."""
    t = knots(segments)
    greville = np.mean([t[1 + k : k + 1 + segments + DEGREE] for k in range(DEGREE)], axis=0)
    splines = BSpline(t, np.eye(segments + DEGREE), DEGREE)
    return np.linalg.solve(splines(greville), path(control_points, 1.0, greville)[0])
