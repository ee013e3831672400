"""Splines: polynomials they reproduce, hulls they stay in, and the quadrature that goes with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline

from adjoint.trajectory.optimal.problem import lobatto
from adjoint.trajectory.optimal.splines import DEGREE, basis, knots, path, quintic, rate_points, refined

rng = np.random.default_rng(0)


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_local_splines_are_those_of_the_whole_path(segments):
    """Six splines at each point give position and both derivatives, at knots and at the ends too."""
    c = rng.normal(size=(segments + DEGREE, 3))
    s = np.concatenate([np.linspace(0, 1, segments + 1), rng.uniform(size=20)])
    first, values = basis(segments, s)
    near = c[first[:, None] + np.arange(DEGREE + 1)]
    assert_allclose(values[0].sum(axis=1), 1.0, atol=1e-14)
    for B, expected in zip(values, path(c, 1.0, s), strict=True):
        assert_allclose(np.einsum("kl,kln->kn", B, near), expected, atol=1e-11 * segments**2)


def test_quintic_has_the_states_asked_for_and_no_acceleration_at_its_ends():
    q_0, v_0, q_1, v_1 = rng.normal(size=(4, 3))
    q, v, a = path(quintic(q_0, v_0, q_1, v_1, 1.7), 1.7, np.array([0.0, 1.7]))
    assert_allclose(q, [q_0, q_1], atol=1e-14)
    assert_allclose(v, [v_0, v_1], atol=1e-13)
    assert_allclose(a, 0.0, atol=1e-13)


def test_quintic_at_rest_is_the_textbook_polynomial():
    s = np.linspace(0, 1, 11)
    q = path(quintic([0.0], [0.0], [1.0], [0.0], 2.0), 2.0, 2 * s)[0][:, 0]
    assert_allclose(q, 10 * s**3 - 15 * s**4 + 6 * s**5, atol=1e-14)


@pytest.mark.parametrize(("before", "after"), [(1, 5), (4, 8), (6, 18)])
def test_refined_is_the_same_path(before, after):
    c = rng.normal(size=(before + DEGREE, 2))
    t = np.linspace(0, 1, 101)
    for x, y in zip(path(refined(c, after), 1.0, t), path(c, 1.0, t), strict=True):
        assert_allclose(x, y, atol=1e-10)


def test_velocity_is_a_spline_of_the_rate_points():
    """So that limits on them are limits at every time."""
    segments = 6
    c = rng.normal(size=(segments + DEGREE, 2))
    D = rate_points(segments)
    s = np.linspace(0, 1, 200)
    velocity = path(c, 1.0, s)[1]
    assert_allclose(BSpline(knots(segments)[1:-1], D @ c, DEGREE - 1)(s), velocity, atol=1e-11)
    assert np.all(velocity <= (D @ c).max(axis=0) + 1e-12)


def test_lobatto_is_exact_to_degree_7_and_no_further():
    s, w = lobatto(3)
    errors = [abs(w @ s**k - 1 / (k + 1)) for k in range(9)]
    assert max(errors[:8]) < 1e-15
    assert errors[8] > 1e-9
