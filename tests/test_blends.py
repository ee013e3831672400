"""Lines with parabolic blends: the textbook's formulas, the corners, and requests that do not fit."""

import numpy as np
import pytest
from support.pieces import EPS, jumps, peaks, sampled_peaks

from adjoint.errors import ArgumentError, SolveError
from adjoint.trajectory import linear_blends, trapezoidal


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(58)


def some(rng: np.random.Generator, batch: tuple = (), N: int = 5, n: int = 3) -> tuple:
    """Waypoints, times and blends that fit: 2 τ_0 + τ_1 and τ_k + τ_k+1 are at most the times of their segments."""
    T = rng.uniform(0.5, 2.0, (*batch, N - 1))
    times = np.concatenate([np.zeros((*batch, 1)), np.cumsum(T, axis=-1)], axis=-1)
    return rng.normal(size=(*batch, N, n)), times, rng.uniform(0.02, 0.16, (*batch, N))


def test_the_textbooks_transitions():
    # D8 of Taylor: p = (0, 0, 0), (1, 0, 0), (1, 1, 0) in T_1 = T_2 = 1 s, τ = 0.2 s; the ends are in motion.
    found = linear_blends([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]], [0.0, 1.0, 2.0], [0.0, 0.2, 0.0])(1.0)
    np.testing.assert_allclose(found.a, [-2.5, 2.5, 0.0], atol=20 * EPS)
    np.testing.assert_allclose(found.q, [0.95, 0.05, 0.0], atol=4 * EPS)
    # D8 of Paul: ΔB = -1 at -τ = -0.5 s and ΔC = 2 after T = 2 s; so v is 2 before and 1 after.
    trajectory = linear_blends([[-4.0], [0.0], [2.0]], [0.0, 2.0, 4.0], [0.0, 0.5, 0.0])
    before, corner, after = (trajectory(2.0 + t) for t in (-0.5, 0.0, 0.5))
    assert (before.q, before.v, corner.q, corner.a, after.q, after.v) == (-1.0, 2.0, -0.125, -1.0, 0.5, 1.0)
    assert trajectory(0.0).v == 2.0 and trajectory(4.0).v == 1.0


def test_eq_4_4_58_and_59(rng):
    q, t, tau = some(rng)
    tau[[0, -1]] = 0.0  # the book's lines begin and end in motion
    trajectory = linear_blends(q, t, tau)
    for k in range(1, 4):
        T_1, T_2, before, after = t[k] - t[k - 1], t[k + 1] - t[k], q[k] - q[k - 1], q[k + 1] - q[k]
        for s in np.linspace(-tau[k], tau[k], 11):
            expected = (
                q[k] - (tau[k] - s) ** 2 * before / (4 * tau[k] * T_1) + (tau[k] + s) ** 2 * after / (4 * tau[k] * T_2)
            )
            np.testing.assert_allclose(trajectory(t[k] + s).q, expected, atol=20 * EPS)
        time = t[k] - T_1 / 2
        np.testing.assert_allclose(trajectory(time).q, q[k] - (t[k] - time) / T_1 * before, atol=20 * EPS)
        missed = tau[k] / 4 * np.abs(after / T_2 - before / T_1)
        np.testing.assert_allclose(np.abs(trajectory(t[k]).q - q[k]), missed, atol=20 * EPS)


def test_velocity_is_continuous_from_rest_to_rest_at_the_given_times(rng):
    q, t, tau = some(rng, (40,))
    trajectory = linear_blends(q, t, tau)
    assert trajectory.pieces == 9 and trajectory.degree == 2
    assert jumps(trajectory, 0) < 20 and jumps(trajectory, 1) < 20
    np.testing.assert_array_equal(trajectory.duration, t[:, -1])
    first, last = trajectory(0.0), trajectory(t[:, -1:])
    np.testing.assert_array_equal(first.q, q[:, 0])
    np.testing.assert_allclose(last.q[:, 0], q[:, -1], atol=20 * EPS)
    np.testing.assert_array_equal(first.v, 0.0)
    np.testing.assert_allclose(last.v, 0.0, atol=200 * EPS)


def test_two_waypoints_are_a_trapezoidal_motion():
    fast = trapezoidal([1.0], [4.0], velocity=1.0, acceleration=2.0)
    blended = linear_blends([[1.0], [4.0]], [0.0, 3.5], blend=0.25)
    limited = linear_blends([[1.0], [4.0]], [0.0, 3.5], acceleration=2.0)
    for found in (blended, limited):
        np.testing.assert_allclose(found.knots, fast.knots, atol=20 * EPS)
        np.testing.assert_allclose(found.coefficients, fast.coefficients, atol=20 * EPS)


def test_the_way_back_is_the_same_backward(rng):
    q, t, tau = some(rng, (30,))
    there, back = linear_blends(q, t, tau), linear_blends(q[:, ::-1], t[:, -1:] - t[:, ::-1], tau[:, ::-1])
    np.testing.assert_allclose(there.reversed().knots, back.knots, atol=100 * EPS)
    times = np.linspace(0, 1, 40) * t[:, -1:]
    np.testing.assert_allclose(there.reversed()(times).q, back(times).q, atol=500 * EPS)


def test_scaling_laws(rng):
    q, t, tau = some(rng)
    one, slow, large = linear_blends(q, t, tau), linear_blends(q, 4 * t, 4 * tau), linear_blends(2 * q, t, tau)
    np.testing.assert_array_equal(slow.coefficients, one.stretched(4.0).coefficients)
    np.testing.assert_array_equal(large.coefficients, 2 * one.coefficients)


def test_a_batch_is_a_loop(rng):
    q, t, tau = some(rng, (3, 4))
    limit = np.array([40.0, 50.0, 60.0])
    for maker in (
        lambda q, t, tau: linear_blends(q, t, tau),
        lambda q, t, tau: linear_blends(q, t, acceleration=limit),
    ):
        trajectory = maker(q, t, tau)
        assert trajectory.batch == (3, 4)
        for at in np.ndindex(3, 4):
            one = maker(q[at], t[at], tau[at])
            np.testing.assert_array_equal(trajectory.coefficients[at], one.coefficients)
            np.testing.assert_array_equal(trajectory.knots[at], one.knots)
    assert linear_blends(q[0, 0], t, 0.1).batch == (3, 4)
    assert linear_blends(q, t[0, 0], 0.1).batch == (3, 4)
    assert linear_blends(q[:0], t[:0], 0.1).batch == linear_blends(q[:0], t[:0], acceleration=9.0).batch == (0, 4)


def test_acceleration_limits_hold_and_are_reached_in_every_blend(rng):
    q, t, _ = some(rng, (100,))
    limit = rng.uniform(30.0, 60.0, (100, 3))
    trajectory = linear_blends(q, t, acceleration=limit)
    # A shorter blend would be too fast: in each, some joint is at its limit.
    used = np.abs(2 * trajectory.coefficients[:, ::2, :, 2]) / limit[:, None]
    np.testing.assert_allclose(used.max(axis=-1), 1.0, rtol=200 * EPS)
    assert (peaks(trajectory, 2) <= limit * (1 + 200 * EPS)).all()
    assert (sampled_peaks(trajectory, 2) <= limit * (1 + 200 * EPS)).all()
    assert jumps(trajectory, 0) < 20 and jumps(trajectory, 1) < 20
    np.testing.assert_array_equal(trajectory.duration, t[:, -1])


def test_waypoints_on_a_line_and_joints_at_rest_need_no_blend():
    trajectory = linear_blends(
        [[0.0, 5.0], [1.0, 5.0], [1.0, 5.0], [2.0, 5.0]], [0.0, 1.0, 2.0, 3.0], acceleration=50.0
    )
    assert np.isfinite(trajectory.coefficients).all()
    np.testing.assert_array_equal(trajectory(np.linspace(0, 3, 50)).q[:, 1], 5.0)
    still = linear_blends(np.ones((3, 2)), [0.0, 1.0, 2.0], acceleration=1.0)
    np.testing.assert_array_equal(still([0.0, 0.5, 1.0, 2.0]).q, 1.0)
    np.testing.assert_array_equal(still([0.0, 0.5, 1.0, 2.0]).v, 0.0)


def test_blends_that_just_fit():
    touching = linear_blends([[0.0], [1.0], [0.0]], [0.0, 0.9, 1.8], blend=0.3)
    np.testing.assert_allclose(np.diff(touching.knots), [0.6, 0, 0.6, 0, 0.6], atol=4 * EPS)
    assert (np.diff(touching.knots) >= 0).all() and jumps(touching, 1) < 20


Q, TIMES = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 2.0]
BAD = [
    ((Q, TIMES, 0.4), r"segment 0 lasts 1 s, but its blends of 0.4 s and 0.4 s need 1.2 s of it"),
    (
        ([Q, Q], TIMES, [[0.2] * 3, [0.1, 0.7, 0.2]]),
        r"segment 1 of trajectory \[1\] lasts 1 s, but its",
    ),
    ((Q, TIMES, 0.0), r"blend\[1\] is 0 s; a positive time is needed, or 0 at the first"),
    ((Q, TIMES, [0.1, -0.1, 0.1]), r"blend\[1\] is -0.1 s"),
    ((Q, TIMES, [np.nan, 0.1, 0.1]), r"blend\[0\] is nan s"),
    ((Q, TIMES, np.inf), r"blend\[0\] is inf s"),
    ((Q, TIMES, "short"), r"argument 'blend' is a str"),
    ((Q, TIMES, [0.1, 0.1]), r"argument 'blend' has shape \(2,\); \(..., 3\) is needed"),
    ((Q, [0.0, 1.0, 1.0], 0.1), r"times must increase, but the one after times\[1\] = 1 s does not"),
    ((Q, [0.5, 1.0, 2.0], 0.1), r"times\[0\] is 0.5 s; a trajectory starts at the time 0"),
    ((Q, [0.0, 1.0], 0.1), r"argument 'times' has shape \(2,\); \(..., 3\) is needed"),
    ((Q, [0.0, np.nan, 2.0], 0.1), "times contain NaN"),
    (([[0.0, np.inf], *Q[1:]], TIMES, 0.1), r"waypoints\[0, 1\] is inf"),
    (([0.0, 1.0], [0.0, 1.0], 0.1), r"with at least 2 of them \(N\), got shape \(2,\)"),
    (([[0.0, 1.0]], [0.0], 0.1), r"got shape \(1, 2\)"),
    ((np.zeros((2, 3, 1)), np.tile(TIMES, (3, 1)), 0.1), "leading axes do not match"),
    ((Q, TIMES), "either blend, a time"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ArgumentError, match=f"^linear_blends.*{message}"):
        linear_blends(*given)


def test_limits_that_times_do_not_allow_are_refused():
    with pytest.raises(ArgumentError, match="not both"):
        linear_blends(Q, TIMES, 0.1, acceleration=1.0)
    with pytest.raises(ArgumentError, match=r"the limit acceleration\[1\] is 0; a positive finite number"):
        linear_blends(Q, TIMES, acceleration=[1.0, 0.0])
    with pytest.raises(SolveError, match=r"the first segment lasts 1 s.* limits need (\S+) s at least") as error:
        linear_blends(Q, TIMES, acceleration=1.9)
    T = float(str(error.value).split()[-4])
    np.testing.assert_allclose(T, np.sqrt(2 / 1.9))
    with pytest.raises(SolveError, match=r"segment 0 lasts .* s, but its blends"):  # there is time for the start only
        linear_blends(Q, [0.0, T, 2 * T], acceleration=1.9)
    assert linear_blends(Q, [0.0, 2 * T, 4 * T], acceleration=1.9).duration == 4 * T
    with pytest.raises(SolveError, match=r"the last segment of trajectory \[1\] lasts 0.1 s"):
        linear_blends([Q, Q], [[0.0, 2.0, 4.0], [0.0, 2.0, 2.1]], acceleration=1.9)
    shortest = trapezoidal([0.0], [3.0], velocity=np.inf, acceleration=1.3).duration
    assert linear_blends([[0.0], [3.0]], [0.0, shortest], acceleration=1.3).duration == shortest
