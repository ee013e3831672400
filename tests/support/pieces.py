"""Laws of pieces of polynomials, for tests of everything that makes a `Trajectory`."""

import numpy as np

from adjoint.trajectory import Trajectory
from adjoint.trajectory.polynomials import Order, extremes, rate, shifted

EPS = np.finfo(float).eps


def peaks(trajectory: Trajectory, order: int) -> np.ndarray:
    """The largest |derivative| (..., nv) of this order, exactly: from the extremes of all pieces."""
    c = rate(trajectory.coefficients, order)
    h = np.diff(trajectory.knots)[..., None]
    found = extremes(Order(c.shape[-1]), c, np.broadcast_to(h, c.shape[:-1]))
    return np.maximum(-found.lowest, found.highest).max(axis=-2)


def sampled_peaks(trajectory: Trajectory, order: int) -> np.ndarray:
    """The same on a grid of 100 times for each piece."""
    t = np.linspace(0, 1, 100 * trajectory.pieces + 1) * np.asarray(trajectory.duration)[..., None]
    return np.abs(trajectory(t)[order]).max(axis=-2)


def jumps(trajectory: Trajectory, order: int) -> float:
    """The largest jump of a derivative of this order between neighbouring pieces, in units of what rounding explains.

    That is ε times the largest value, and the next derivative times the rounding ε T of a knot.
    """
    c = rate(trajectory.coefficients, order)
    ends = shifted(c, np.diff(trajectory.knots)[..., None])[..., :-1, :, 0]
    size = np.abs(c[..., 0]).max(axis=-2) + trajectory.knots[..., -1:] * peaks(trajectory, order + 1)
    return float((np.abs(ends - c[..., 1:, :, 0]) / np.where(size > 0, EPS * size, 1.0)[..., None, :]).max(initial=0.0))
