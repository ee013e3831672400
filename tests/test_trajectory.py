"""`Trajectory`: samples, batches, parts, other trajectories made of it, and joints on manifolds."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import PPoly

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.model.catalog import random_tree
from adjoint.trajectory import Trajectory, cubic, quintic, s_curve, septic, trapezoidal

FIELDS = ("q", "v", "a", "jerk")
EPS = np.finfo(float).eps


def pieces(rng, batch=(), count=4, n=3, degree=5) -> Trajectory:
    """Random pieces, which need not fit together."""
    h = rng.uniform(0.2, 1.5, (*batch, count))
    knots = np.concatenate([np.zeros((*batch, 1)), np.cumsum(h, axis=-1)], axis=-1)
    return Trajectory(knots, rng.normal(size=(*batch, count, n, degree + 1)))


def fitting(rng, count=3, n=2) -> Trajectory:
    """Quintics one after the other, with continuous q, v and a."""
    q, v, a = rng.normal(size=(3, count + 1, n))
    parts = [
        quintic(q[k], q[k + 1], 0.5 + k, start_velocity=v[k], goal_velocity=v[k + 1],
                start_acceleration=a[k], goal_acceleration=a[k + 1])
        for k in range(count)
    ]  # fmt: skip
    return parts[0].followed_by(*parts[1:])


# --- samples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5, 7])
def test_samples_are_those_of_scipy(degree):
    rng = np.random.default_rng(degree)
    x = pieces(rng, degree=degree)
    oracle = PPoly(np.moveaxis(x.coefficients, (0, 2), (1, 0))[::-1], x.knots)
    t = np.sort(np.concatenate([rng.uniform(0, x.duration, 200), x.knots]))
    sample = x(t)
    for k, found in enumerate(sample):
        expected = oracle.derivative(k)(t) if k else oracle(t)
        assert_allclose(found, expected, atol=1e3 * EPS * np.abs(expected).max())


def test_one_time_and_an_array_of_times_are_the_same():
    x = pieces(np.random.default_rng(0))
    t = np.linspace(0, x.duration, 7)
    whole = x(t)
    assert whole.q.shape == (7, 3)
    for k, time in enumerate(t):
        for one, many in zip(x(float(time)), whole, strict=True):
            assert one.shape == (3,)
            assert_array_equal(one, many[k])


def test_an_array_of_times_is_one_compiled_call(monkeypatch):
    x = quintic([0.0, 1.0], [1.0, 0.0], 2.0)
    x(0.0)
    calls, sampler = [], x._sampler
    monkeypatch.setitem(x.__dict__, "_sampler", lambda *args: calls.append(args) or sampler(*args))
    assert x(np.linspace(0, 2, 1000)).q.shape == (1000, 2)
    assert len(calls) == 1


@pytest.mark.parametrize("batch", [(4,), (2, 3)])
def test_batches_broadcast(batch):
    rng = np.random.default_rng(1)
    x = pieces(rng, batch)
    assert x.batch == batch
    assert_array_equal(x.duration, x.knots[..., -1])
    shared = rng.uniform(0, x.duration.min(), 5)
    own = rng.uniform(0, 1, (*batch, 5)) * x.duration[..., None]
    for place in np.ndindex(batch):
        for field in FIELDS:
            assert_array_equal(getattr(x(shared), field)[place], getattr(x[place](shared), field))
            assert_array_equal(getattr(x(own), field)[place], getattr(x[place](own[place]), field))
            assert_array_equal(getattr(x(0.25), field)[place], getattr(x[place](0.25), field))


def test_arrays_of_a_batch_may_share_axes():
    """Many trajectories over the same knots, and the same one at many speeds."""
    rng = np.random.default_rng(2)
    x = pieces(rng, (5,))
    same_knots = Trajectory(x.knots[0], x.coefficients)
    assert same_knots.batch == (5,)
    assert isinstance(same_knots.duration, float)
    assert_array_equal(same_knots(0.3).q[2], same_knots[2](0.3).q)
    slower = x[0].stretched(np.array([1.0, 2.0]))
    assert slower.batch == (2,)
    assert_allclose(slower(np.array([[0.2], [0.4]])).q[1], x[0](np.array([0.2])).q, rtol=1e-13)
    assert_allclose(slower.reversed().reversed()(0.1).q, slower(0.1).q, atol=1e-12)
    assert_allclose(slower.cut(0.1, 0.5)(0.2).q, slower(0.3).q, atol=1e-12)


def test_parts_of_a_batch():
    x = pieces(np.random.default_rng(3), (4, 2))
    assert len(x) == 4
    assert x[1].batch == (2,)
    assert x[1, 0].batch == ()
    assert x[:2].batch == (2, 2)
    assert x[[0, 3], [1, 1]].batch == (2,)
    assert [part.batch for part in x] == [(2,)] * 4
    assert_array_equal(x[2:, 1](0.1).a[1], x[3, 1](0.1).a)
    with pytest.raises(ArgumentError, match="has no items 4: index 4 is out of bounds"):
        x[4]


def test_one_trajectory_is_no_batch_but_true():
    x = cubic([0.0], [1.0], 1.0)
    assert x
    with pytest.raises(ArgumentError, match="has no items"):
        x[0]
    with pytest.raises(TypeError, match="duration"):
        len(x)


def test_hold_rests_outside():
    x = pieces(np.random.default_rng(4))
    before, after = x([-1.0, x.duration + 1.0], hold=True).q
    assert_array_equal(before, x(0.0).q)
    assert_array_equal(after, x(x.duration).q)
    outside = x([-1.0, x.duration + 1.0], hold=True)
    for rate in outside[1:]:
        assert_array_equal(rate, 0.0)
    inside = np.linspace(0, x.duration, 9)
    for held, plain in zip(x(inside, hold=True), x(inside), strict=True):
        assert_array_equal(held, plain)


def test_times_outside_by_rounding_are_at_the_ends():
    x = cubic([0.0], [1.0], 3.0)
    assert x(3.0 * (1 + 1e-14)).q == x(3.0).q
    assert x(-1e-14).q == x(0.0).q


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (3.1, "of 3 s has no time 3.1 s"),
        ([0.0, -0.1], r"no time -0.1 s at t\[1\]"),
        (np.nan, "no time nan"),
        ("now", "argument 't'"),
        (1j, "real numbers"),
    ],
)
def test_bad_times_are_named(t, message):
    with pytest.raises(ArgumentError, match=message):
        cubic([0.0], [1.0], 3.0)(t)


def test_bad_times_of_batches_are_named():
    x = cubic(np.zeros((3, 1)), np.ones((3, 1)), [1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match=r"of 1 s has no time 1.5 s at t\[0, 0\]"):
        x([1.5])
    with pytest.raises(ArgumentError, match=r"shape \(2, 5\).*batch \(3,\)"):
        x(np.zeros((2, 5)))
    with pytest.raises(ArgumentError, match="NaN"):
        x(np.nan, hold=True)


# --- other trajectories made of it ------------------------------------------------------------------------------------


def test_a_cut_is_the_same_motion():
    x = pieces(np.random.default_rng(5))
    a, b, c = x.knots[1:4]
    for start, stop in ((0.0, 0.1), (0.3, x.duration), (a, c), (a + 0.01, b + 0.01)):
        part = x.cut(start, stop)
        t = np.linspace(1e-9, part.duration - 1e-9, 50)
        assert_allclose(part.duration, stop - start, rtol=1e-14)
        for found, expected in zip(part(t), x(t + start), strict=True):
            assert_allclose(found, expected, atol=1e-12 * np.abs(x.coefficients).max() * 60)
    assert x.cut(x.knots[1], x.knots[3]).pieces == 2
    assert x.cut().pieces == x.pieces


def test_a_batch_is_cut_at_different_times():
    x = pieces(np.random.default_rng(6), (3,))
    start = np.array([0.0, x.knots[1, 1], x.knots[2, 2] + 0.05])
    part = x.cut(start)
    for k in range(3):
        one = part[k]
        assert one.pieces == x.pieces - k  # those before the start are left out, though not in the batch
        t = np.linspace(0, one.duration, 20)
        assert_allclose(one(t).q, x[k](np.minimum(t + start[k], x.duration[k])).q, atol=1e-11)


def test_joined_parts_are_the_whole():
    x = fitting(np.random.default_rng(7))
    at = [0.0, 0.4, x.knots[1], 2.0, x.duration]
    first, *others = (x.cut(a, b) for a, b in itertools.pairwise(at))
    whole = first.followed_by(*others)
    assert_allclose(whole.duration, x.duration, rtol=1e-15)
    t = np.linspace(0, x.duration, 101)
    for found, expected in zip(whole(t), x(t), strict=True):
        assert_allclose(found, expected, atol=1e-10)


def test_joined_takes_different_degrees_and_batches():
    first = cubic(np.zeros((3, 2)), np.ones((3, 2)), [1.0, 2.0, 3.0])
    whole = first.followed_by(septic([1.0, 1.0], [0.0, 2.0], 1.0))
    assert (whole.batch, whole.degree, whole.pieces) == ((3,), 7, 2)
    assert_allclose(whole.duration, [2.0, 3.0, 4.0])
    assert_allclose(whole(whole.duration[:, None]).q[:, 0], np.tile([0.0, 2.0], (3, 1)), atol=1e-13)
    assert_allclose(whole[1](2.0).q, 1.0)


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_stretching_divides_rates_by_powers(factor):
    x = pieces(np.random.default_rng(8))
    slow, t = x.stretched(factor), np.linspace(0, x.duration, 33)[1:-1]
    for k, (found, expected) in enumerate(zip(slow(t * factor), x(t), strict=True)):
        assert_allclose(found * factor**k, expected, atol=1e-11 * np.abs(expected).max())


def test_lasting_lasts_exactly_as_long():
    x = pieces(np.random.default_rng(9))
    for duration in (0.1, 1 / 3, 7.7):
        assert x.lasting(duration).duration == duration
    assert_array_equal(pieces(np.random.default_rng(9), (2,)).lasting([1.0, 0.7]).duration, [1.0, 0.7])


def test_reversal_is_its_own_inverse_and_changes_the_sign_of_odd_rates():
    x = fitting(np.random.default_rng(10))
    back, t = x.reversed(), np.linspace(0, x.duration, 50)[1:-1]
    for k, (found, expected) in enumerate(zip(back(x.duration - t), x(t), strict=True)):
        assert_allclose(found * (-1) ** k, expected, atol=1e-11 * np.abs(expected).max())
    for found, expected in zip(back.reversed()(t), x(t), strict=True):
        assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_pieces_that_vanish_by_rounding_are_left_out():
    short = Trajectory([0.0, 1e-20, 1.0], np.zeros((2, 1, 2)))
    assert short.reversed().pieces == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.cut(1.0, 1.0), "0 <= start < stop"),
        (lambda x: x.cut(-0.1), "no part from -0.1"),
        (lambda x: x.cut(0.0, 99.0), "stop <= duration"),
        (lambda x: x.cut(np.nan), "no part from nan"),
        (lambda x: x.stretched(0.0), "stretched: factor must be a positive"),
        (lambda x: x.stretched("twice"), "stretched: factor"),
        (lambda x: x.lasting(-1.0), "lasting: duration must be a positive time"),
        (lambda x: x.lasting(np.inf), "lasting: duration"),
        (lambda x: x.followed_by(3), "needs trajectories of joints"),
        (lambda x: x.followed_by(cubic([0.0], [1.0], 1.0)), "different joints"),
        (lambda x: x.followed_by(x), "trajectory 1 does not start where trajectory 0 ends: 'joint 1' would jump by 2"),
    ],
)
def test_bad_requests_are_named(call, message):
    x = cubic([0.0, 0.0], [1.0, -2.0], 2.0)
    with pytest.raises(ArgumentError, match=message):
        call(x)


def test_plain_joints_and_those_of_several_degrees_of_freedom_are_not_joined():
    robot = random_tree(1, 2, ["spherical", "revolute"])
    q = aj.neutral(robot)
    on_manifold, plain = quintic(q, q, 1.0, robot=robot), quintic(np.zeros(robot.nv), np.zeros(robot.nv), 1.0)
    for one, other in ((on_manifold, plain), (plain, on_manifold)):
        with pytest.raises(ArgumentError, match="different kinds of joints"):
            one.followed_by(other)


def test_quaternions_of_no_length_are_named():
    robot = random_tree(1, 2, ["spherical", "revolute"])
    q, none = aj.neutral(robot), np.zeros(robot.nq)
    limits = {"velocity": 1.0, "acceleration": 1.0}
    for call, name in (
        (lambda: quintic(none, q, 1.0, robot=robot), "quintic: start"),
        (lambda: cubic([q, q], [q, none], 1.0, robot=robot), "cubic: goal"),
        (lambda: trapezoidal(q, none, robot=robot, **limits), "trapezoidal: goal"),
        (lambda: s_curve(none, q, robot=robot, jerk=1.0, **limits), "s_curve: start"),
    ):
        with pytest.raises(ArgumentError, match=rf"{name} has a quaternion \(0, 0, 0, 0\)"):
            call()


def test_batches_that_do_not_match_are_not_joined():
    x = cubic(np.zeros((3, 1)), np.zeros((3, 1)), 1.0)
    with pytest.raises(ArgumentError, match="different shapes"):
        x.followed_by(x[:2])


ZERO = np.zeros((2, 3, 4))


@pytest.mark.parametrize(
    ("knots", "coefficients", "message"),
    [
        ([0.0, 1.0], ZERO, "do not fit"),
        (0.0, ZERO, "do not fit"),
        ([0.0, 1.0, 2.0], np.zeros((2, 4)), "do not fit"),
        ([0.0, 1.0, 2.0], np.zeros((2, 0, 4)), "do not fit"),
        ([0.0], np.zeros((0, 3, 4)), "do not fit"),
        ([0.0, 2.0, 1.0], ZERO, "knots must not decrease"),
        ([0.1, 1.0, 2.0], ZERO, "from 0 on"),
        ([0.0, np.nan, 2.0], ZERO, r"knots\[1\] is nan"),
        ([0.0, 1.0, np.inf], ZERO, r"knots\[2\] is inf"),
        ([0.0, 1.0, 2.0], ZERO + np.nan, r"coefficients\[0, 0, 0\] is nan"),
        (np.tile([0.0, 1.0, 2.0], (5, 1)), np.zeros((4, 2, 3, 4)), "leading axes"),
        ("knots", ZERO, "argument 'knots'"),
    ],
)
def test_bad_pieces_are_refused(knots, coefficients, message):
    with pytest.raises(ArgumentError, match=message):
        Trajectory(knots, coefficients)


def test_a_robot_must_fit():
    puma = aj.robots.puma560()
    with pytest.raises(ArgumentError, match="'puma560' has 6 degrees of freedom, the trajectory has 3"):
        Trajectory([0.0, 1.0, 2.0], ZERO, puma)
    with pytest.raises(ArgumentError, match="needs a Robot"):
        Trajectory([0.0, 1.0, 2.0], ZERO, "puma")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="give the robot"):
        Trajectory([0.0, 1.0, 2.0], ZERO, None, np.zeros((2, 4)))
    ball = random_tree(0, 1, ["spherical"])
    with pytest.raises(ArgumentError, match="has no anchors"):
        Trajectory([0.0, 1.0, 2.0], ZERO, ball)


def test_arrays_are_frozen_and_it_says_what_it_is():
    x = quintic(np.zeros((4, 6)), np.ones((4, 6)), [1.0, 2, 3, 4], robot=aj.robots.puma560())
    assert repr(x) == "<Trajectory of 'puma560': (4,) 1 to 4 s, 6 joints, 1 piece of degree 5>"
    assert x.joint_names == aj.robots.puma560().joint_names
    with pytest.raises(ValueError, match="read-only"):
        x.knots[0] = 1.0


def test_arrays_of_the_caller_stay_theirs():
    knots, c = np.array([0.0, 1.0]), np.ones((1, 2, 3))
    x = Trajectory(knots, c)
    knots[1], c[:] = 5.0, 7.0
    assert x.duration == 1.0
    assert_array_equal(x(0.0).q, 1.0)


# --- between states ---------------------------------------------------------------------------------------------------

MAKERS = {"cubic": (cubic, 2), "quintic": (quintic, 3), "septic": (septic, 4)}


@pytest.mark.parametrize("name", MAKERS)
def test_polynomials_have_the_states_asked_for(name):
    make, m = MAKERS[name]
    rng = np.random.default_rng(11)
    start, goal = rng.normal(size=(2, m, 10, 3))
    h = rng.uniform(0.3, 5.0, 10)
    rates = ("velocity", "acceleration", "jerk")[: m - 1]
    given = {f"start_{r}": x for r, x in zip(rates, start[1:], strict=True)}
    given |= {f"goal_{r}": x for r, x in zip(rates, goal[1:], strict=True)}
    x = make(start[0], goal[0], h, **given)
    first, last = x(0.0), x(x.duration[:, None])
    for k in range(m):
        assert_allclose(first[k], start[k], atol=1e-13)
        assert_allclose(last[k][:, 0], goal[k], atol=1e-9 / 0.3**k)


def test_extreme_durations_keep_their_end_states():
    for h in (1e-39, 1e39):
        x = septic([0.0], [1.0], h)
        assert_allclose(x([0.0, h]).q[:, 0], [0.0, 1.0], atol=1e-13)
    for h in (1e-41, 1e41, 0.0, -1.0, np.nan, "soon"):
        with pytest.raises(ArgumentError, match="duration must be a positive time"):
            septic([0.0], [1.0], h)


# --- joints of several degrees of freedom -----------------------------------------------------------------------------


def on_tree(seed: int, n: int = 7, **more) -> Trajectory:
    robot, rng = random_tree(seed, n), np.random.default_rng(seed)
    start, goal = aj.random_configuration(robot, 2, rng=seed)
    rates = {name: 0.5 * rng.normal(size=robot.nv) for name in (
        "start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")}  # fmt: skip
    return quintic(start, goal, 1.5, robot=robot, **rates | more)


TREES = [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", TREES)
def test_rates_on_trees_are_differences(seed):
    """Fourth-order differences: with step e their error is e⁴ times a fifth rate, and rounding / e."""
    x, e = on_tree(seed), 1e-3
    robot = x.robot
    assert robot is not None
    t = np.linspace(0.1, 1.4, 20)
    near = {k: x(t + k * e) for k in (-2, -1, 0, 1, 2)}
    moved = {k: aj.difference(robot, near[0].q, near[k].q) for k in near}

    def slope(y):
        return (8 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12 * e)

    size = 1 + np.abs(near[0].jerk).max()
    assert_allclose(slope(moved), near[0].v, atol=1e-8 * size)
    assert_allclose(slope({k: s.v for k, s in near.items()}), near[0].a, atol=1e-7 * size)
    assert_allclose(slope({k: s.a for k, s in near.items()}), near[0].jerk, atol=1e-6 * size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", TREES)
def test_trees_have_the_end_states_asked_for(seed):
    given = np.random.default_rng(seed).normal(size=(4, random_tree(seed, 7).nv))
    names = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")
    x = on_tree(seed, **dict(zip(names, given, strict=True)))
    robot = x.robot
    assert robot is not None
    start, goal = aj.random_configuration(robot, 2, rng=seed)
    first, last = x(0.0), x(x.duration)
    assert_allclose(aj.difference(robot, start, first.q), 0.0, atol=1e-13)
    assert_allclose(aj.difference(robot, goal, last.q), 0.0, atol=1e-12)
    assert_allclose([first.v, last.v, first.a, last.a], given, atol=1e-10)


@pytest.mark.slow
def test_trees_are_cut_joined_stretched_and_reversed():
    x = on_tree(3)
    robot, t = x.robot, np.linspace(0.01, 1.49, 40)
    assert robot is not None
    whole = x.cut(0, 0.6).followed_by(x.cut(0.6))
    assert whole.pieces == 2
    for found, expected in zip(whole(t), x(t), strict=True):
        assert_allclose(found, expected, atol=1e-9)
    back = x.reversed()(x.duration - t)
    assert_allclose(aj.difference(robot, back.q, x(t).q), 0.0, atol=1e-12)
    assert_allclose(back.v, -x(t).v, atol=1e-10)
    assert_allclose(x.stretched(2.0)(2 * t).a * 4, x(t).a, atol=1e-10)
    batch = quintic(np.stack([x(0.0).q] * 2), np.stack([x(1.0).q, x(1.5).q]), [1.0, 2.0], robot=robot)
    assert_allclose(batch(0.4).q[1], batch[1](0.4).q, atol=0)
    with pytest.raises(ArgumentError, match="would jump"):
        x.followed_by(x)


# --- batches ----------------------------------------------------------------------------------------------------------


def test_items_of_a_batch_are_those_of_its_axes_alone():
    x = quintic(np.zeros((3, 2)), np.ones((3, 2)), [1.0, 2.0, 3.0], start_velocity=1.0)
    assert x[..., :2].batch == (2,) and x[::-1].duration.tolist() == [3.0, 2.0, 1.0]
    assert_array_equal(x[..., 1](1.0).q, x(1.0).q[1])
    assert x[np.array([[0, 1], [2, 0]])].batch == (2, 2)
    assert x[None].batch == (1, 3)
    for index in ((slice(None), slice(2)), 3, "a"):
        with pytest.raises(ArgumentError, match="has no items"):
            x[index]


def test_empty_batches_are_batches():
    x = quintic(np.zeros((0, 2)), np.ones((0, 2)), 1.0)
    assert repr(x) == "<Trajectory: (0,) 0 s, 2 joints, 1 piece of degree 5>"
    assert x(0.5).q.shape == (0, 2) and x([0.1, 0.2]).q.shape == (0, 2, 2)
    assert x.extrema().q.highest.shape == (0, 2)
    y = quintic(np.zeros((3, 2)), np.ones((3, 2)), [1.0, 2.0, 3.0])[:0]
    assert y(np.linspace(0, 1, 5)).q.shape == (0, 5, 2) and y.reversed().batch == (0,)


def test_arguments_for_another_batch_are_named():
    x = quintic(np.zeros((3, 2)), np.ones((3, 2)), [1.0, 2.0, 3.0])
    for call, what in (
        (lambda: x.cut([0.1, 0.2]), "cut: start"),
        (lambda: x.cut(0.0, [0.1, 0.2]), "cut: stop"),
        (lambda: x.stretched([1.0, 2.0]), "stretched: factor"),
        (lambda: x.lasting([1.0, 2.0]), "lasting: duration"),
    ):
        with pytest.raises(ArgumentError, match=rf"{what} has shape \(2,\); the batch of trajectories is \(3,\)"):
            call()


def test_nobody_else_can_write_the_numbers_of_a_trajectory():
    x = np.array([0.0, 1.0])
    c = np.zeros((1, 1, 2))
    given = Trajectory(np.broadcast_to(x, (2,)), c)
    x[1], c[0, 0, 0] = 7.0, np.nan
    assert given.duration == 1.0 and np.isfinite(given.coefficients).all()
    again = pickle.loads(pickle.dumps(given))
    assert not again.knots.flags.writeable and not again.coefficients.flags.writeable
    assert_array_equal(again(0.5).q, given(0.5).q)
    assert copy.deepcopy(given).duration == 1.0


def test_what_lasts_no_time_is_where_it_is():
    x = trapezoidal([5.0, 1.0], [5.0, 1.0], velocity=1.0, acceleration=1.0)
    assert x.duration == 0
    at = x.extrema()
    assert_array_equal(at.q.highest, [5.0, 1.0])
    assert_array_equal(at.v.highest, 0)
    both = trapezoidal([[5.0], [0.0]], [[5.0], [1.0]], velocity=1.0, acceleration=1.0).extrema()
    assert_array_equal(both.q.highest[:, 0], [5.0, 1.0])
    assert_array_equal(both.q.lowest[:, 0], [5.0, 0.0])
