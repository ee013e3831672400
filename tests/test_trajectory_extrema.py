"""Extremes of polynomials against 60-digit arithmetic; extrema of trajectories against dense samples."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import adjoint as aj
from adjoint.model.catalog import random_tree
from adjoint.trajectory import Trajectory, cubic, quintic, septic
from adjoint.trajectory.polynomials import Order, extremes, rate, rate_extremes

EPS = np.finfo(float).eps


def exact_extremes(c, h) -> tuple[float, float]:
    """The lowest and highest value on [0, h], by the roots of the derivative in 60-digit arithmetic."""
    with mpmath.workdps(60):
        c, h = [mpmath.mpf(float(x)) for x in c], mpmath.mpf(float(h))
        slope = [k * c[k] for k in range(1, len(c))]
        while slope and slope[-1] == 0:
            slope.pop()
        roots = mpmath.polyroots(slope[::-1], maxsteps=500, extraprec=400) if len(slope) > 1 else []
        inside = [mpmath.re(r) for r in roots if abs(mpmath.im(r)) < 1e-15 * h and 0 <= mpmath.re(r) <= h]
        values = [mpmath.polyval(c[::-1], s) for s in (mpmath.mpf(0), h, *inside)]
        return float(min(values)), float(max(values))


def with_turning_points(rng, degree: int, roots) -> np.ndarray:
    """The polynomial whose derivative has these roots."""
    slope = np.atleast_1d(np.poly(roots))[::-1]
    return np.concatenate([rng.normal(size=1), slope / np.arange(1, degree + 1)])


def polynomials(rng, degree: int):
    """Polynomials over unit time: random ones, with double, triple and nearly double turning points, and wavy ones."""
    doubled = np.repeat(rng.uniform(0, 1, degree), 2)[: degree - 1]
    yield rng.normal(size=degree + 1)
    yield with_turning_points(rng, degree, rng.uniform(0, 1, degree - 1))
    yield with_turning_points(rng, degree, doubled)
    yield with_turning_points(rng, degree, doubled + 1e-9 * rng.normal(size=degree - 1))
    yield with_turning_points(rng, degree, np.repeat(rng.uniform(0, 1), degree - 1))
    wavy = np.polynomial.chebyshev.Chebyshev.basis(degree, domain=[0, 1])
    yield np.asarray(wavy.convert(kind=np.polynomial.Polynomial).coef, float)
    c = rng.normal(size=degree + 1)
    c[rng.integers(1, degree + 1)] = 0
    yield c


@pytest.mark.parametrize("degree", range(1, 8))
def test_extremes_are_exact_to_rounding(degree):
    """The error is below that of a sum of the terms, whatever the scales of time and values."""
    rng = np.random.default_rng(degree)
    powers = np.arange(degree + 1)
    for unit in polynomials(rng, degree):
        for h, scale in ((1.0, 1.0), (10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-100, 100))):
            c = unit * scale / h**powers
            found = extremes(Order(degree + 1), c, h)
            rounding = 2 * EPS * np.sum(np.abs(c) * h**powers)
            assert_allclose((found.lowest, found.highest), exact_extremes(c, h), rtol=0, atol=rounding)
            for value, s in ((found.lowest, found.at_lowest), (found.highest, found.at_highest)):
                assert 0 <= s <= h
                assert abs(np.polynomial.polynomial.polyval(s, c) - value) <= rounding


def test_turning_points_are_found_to_the_last_digits():
    """Where they are single: a root of a slope that crosses 0."""
    found = extremes(Order(4), [0.0, 1.0, 0.0, -1.0], 1.0)
    assert_allclose(found.at_highest, 1 / np.sqrt(3), rtol=4 * EPS)


def test_extremes_of_constants_and_of_no_time():
    for order in range(1, 9):
        c = np.zeros(order)
        assert_array_equal(extremes(Order(order), c, 2.0), 0.0)
        c[0] = 3.0
        assert_array_equal(extremes(Order(order), c, 2.0), (3.0, 3.0, 0.0, 0.0))
        c = np.random.default_rng(order).normal(size=order)
        assert_array_equal(extremes(Order(order), c, 0.0), (c[0], c[0], 0.0, 0.0))


@pytest.mark.slow
def test_extremes_of_rates_are_those_of_each():
    rng = np.random.default_rng(0)
    for order in range(1, 9):
        c, h = rng.normal(size=(50, order)), rng.uniform(0.1, 3, 50)
        together = rate_extremes(Order(order), np.zeros(1), h[:, None], np.ones(1), c[:, None])
        for k in range(4):
            slope = rate(c, k)
            for found, expected in zip(together, extremes(Order(slope.shape[-1]), slope, h), strict=True):
                assert_array_equal(found[:, k], expected)


# --- trajectories -----------------------------------------------------------------------------------------------------


def assert_extrema(x: Trajectory, dense: int = 4001, missed: float = 1e-5):
    """No sample is beyond the extrema, a dense one is near them, and samples at their times are they themselves."""
    found = x.extrema()
    t = np.linspace(0, 1, dense) * np.asarray(x.duration)[..., None]
    for at, values in zip(found, x(t), strict=True):
        size = 1e-12 + np.abs(values).max()
        low, high = values.min(axis=-2), values.max(axis=-2)
        known = ~np.isnan(at.lowest)
        assert np.all((at.lowest <= low + 1e-12 * size) | ~known)
        assert np.all((at.highest >= high - 1e-12 * size) | ~known)
        assert_allclose(at.lowest[known], low[known], rtol=0, atol=missed * size)
        assert_allclose(at.highest[known], high[known], rtol=0, atol=missed * size)
        assert np.all((at.at_highest >= 0) & (at.at_highest <= np.asarray(x.duration)[..., None]) | ~known)


@pytest.mark.parametrize("make", [cubic, quintic, septic])
def test_extrema_bound_all_samples(make):
    rng = np.random.default_rng(1)
    start, goal, v = rng.normal(size=(3, 20, 3))
    assert_extrema(make(start, goal, rng.uniform(0.5, 3, 20), start_velocity=v))


def test_extrema_of_a_textbook_move():
    """A quintic from rest to rest: v = 15/8 and a = 10/√3 of the mean, at half time and at (3 ± √3)/6 of it."""
    at = quintic([0.0], [2.0], 4.0).extrema()
    assert_allclose((at.v.highest, at.v.at_highest), [[15 / 8 * 0.5], [2.0]], rtol=1e-14)
    assert_allclose((at.a.highest, at.a.at_highest), [[10 / np.sqrt(3) / 8], [4 * (3 - np.sqrt(3)) / 6]], rtol=1e-14)
    assert_allclose((at.q.lowest, at.q.highest, at.jerk.highest), [[0.0], [2.0], [2 * 60 / 64]], atol=1e-14)


def test_extrema_of_many_pieces_have_times_of_the_whole():
    there = quintic([0.0, 1.0], [1.0, -1.0], 1.0)
    x = there.followed_by(there.reversed().stretched(0.5), there)
    at = x.extrema()
    assert_allclose(at.v.at_highest, [0.5, 1.25])
    assert_allclose(at.v.at_lowest, [1.25, 0.5])
    assert_extrema(x)


def test_both_sides_of_a_jump_count():
    """The acceleration of cubics jumps at their knots: from -6 to 6, of which a sample at the knot shows one."""
    x = cubic([0.0], [1.0], 1.0).followed_by(cubic([1.0], [2.0], 1.0))
    at = x.extrema().a
    assert_allclose((at.lowest, at.highest), [[-6.0], [6.0]], atol=1e-13)
    assert_allclose(at.at_lowest, 1.0)


def test_pieces_that_last_no_time_do_not_count():
    """Of a batch that is cut at different times, some pieces are empty."""
    x = Trajectory([0.0, 1.0, 2.0], np.array([[[0.0, 0, 50]], [[0.0, 1, 0]]]))
    both = Trajectory(np.stack([x.knots] * 2), np.stack([x.coefficients] * 2))
    part = both.cut(np.array([0.5, 1.5]))
    assert_allclose(part.extrema().a.highest[:, 0], [100.0, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_extrema_on_trees_bound_all_samples(seed):
    robot, rng = random_tree(seed, 7), np.random.default_rng(seed)
    q = aj.random_configuration(robot, (2, 3), rng=seed)
    x = quintic(q[0], q[1], [1.0, 1.5, 2.0], start_velocity=rng.normal(size=robot.nv), robot=robot)
    assert_extrema(x)
    quaternions = np.isnan(x.extrema().q.highest).any(axis=0)
    expected = sum(4 for kind in robot.joint_types if kind in ("spherical", "free"))
    assert quaternions.sum() == expected
    assert not np.isnan(x.extrema().v.highest).any()
    for one, many in zip(x[1].extrema().v, x.extrema().v, strict=True):
        assert_allclose(one, many[1], atol=1e-7)
