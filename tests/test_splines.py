"""Splines: polynomials they reproduce, hulls they stay in, and the quadrature that goes with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline

from adjoint.trajectory.optimal.problem import lobatto
from adjoint.trajectory.optimal.splines import DEGREE, basis, inner, knots, pieces, rate_points, through

rng = np.random.default_rng(0)


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_local_splines_are_those_of_the_whole_path(segments):
    """Six splines at each point give position and both derivatives, at knots and at the ends too."""
    c = rng.normal(size=(segments + DEGREE, 3))
    s = np.concatenate([np.linspace(0, 1, segments + 1), rng.uniform(size=20)])
    first, values = basis(segments, s)
    near = c[first[:, None] + np.arange(DEGREE + 1)]
    assert_allclose(values[0].sum(axis=1), 1.0, atol=1e-14)
    for B, expected in zip(values, pieces(c, 1.0)(s), strict=False):
        assert_allclose(np.einsum("kl,kln->kn", B, near), expected, atol=1e-11 * segments**2)


@pytest.mark.parametrize("segments", [1, 4, 9])
def test_pieces_are_the_spline(segments):
    c, T = rng.normal(size=(segments + DEGREE, 2)), 1.7
    spline, t = BSpline(knots(segments), c, DEGREE), np.linspace(0, T, 201)
    for order, found in enumerate(pieces(c, T)(t)):
        assert_allclose(found, spline(t / T, order) / T**order, atol=1e-12 * (6 * segments / T) ** order)


@pytest.mark.parametrize(("before", "after"), [(1, 5), (4, 8), (6, 18)])
def test_a_spline_through_points_of_a_coarser_one_is_the_same(before, after):
    """Splines of a multiple of the segments contain each other, and points and states determine them."""
    T = 1.3
    coarse = pieces(rng.normal(size=(before + DEGREE, 2)), T)
    start, goal = (np.stack(coarse(t)[:2]) for t in (0, T))
    fine = pieces(through(coarse(T * inner(after)).q, start, goal, T), T)
    t = np.linspace(0, T, 101)
    for order, (x, y) in enumerate(zip(fine(t), coarse(t), strict=True)):
        assert_allclose(x, y, atol=1e-12 * (6 * after / T) ** order)


def test_velocity_is_a_spline_of_the_rate_points():
    """So that limits on them are limits at every time."""
    segments = 6
    c = rng.normal(size=(segments + DEGREE, 2))
    D = rate_points(segments)
    s = np.linspace(0, 1, 200)
    velocity = pieces(c, 1.0)(s).v
    assert_allclose(BSpline(knots(segments)[1:-1], D @ c, DEGREE - 1)(s), velocity, atol=1e-11)
    assert np.all(velocity <= (D @ c).max(axis=0) + 1e-12)


def test_lobatto_is_exact_to_degree_7_and_no_further():
    s, w = lobatto(3)
    errors = [abs(w @ s**k - 1 / (k + 1)) for k in range(9)]
    assert max(errors[:8]) < 1e-15
    assert errors[8] > 1e-9
