"""Motion by ruckig: a trajectory is its result exactly, and each cycle of the online motion is its update."""

import inspect
import pickle
import sys

import numpy as np
import pytest
import ruckig
from numpy.testing import assert_array_equal
from support.pieces import EPS, jumps, peaks, sampled_peaks

from adjoint.errors import ArgumentError, MissingPackageError, SolveError
from adjoint.trajectory import OnlineMotion, State, jerk_limited, online, s_curve

LIMITS = {"velocity": 1.0, "acceleration": 2.0, "jerk": 10.0}
# Ruckig computes roots of polynomials to about 1e-12 and accepts a goal that is missed by 1e-8.
SOLVED = 1e-8


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def states(rng: np.random.Generator, count: int, n: int) -> dict:
    """Pairs of states; some starts are beyond the limits of `LIMITS`, no goal is."""
    return {
        "start": rng.normal(size=(count, n)),
        "goal": rng.normal(size=(count, n)),
        "start_velocity": 0.7 * rng.normal(size=(count, n)),
        "start_acceleration": 1.5 * rng.normal(size=(count, n)),
        "goal_velocity": rng.uniform(-0.7, 0.7, (count, n)),
        "goal_acceleration": rng.uniform(-1.5, 1.5, (count, n)),
    }


def told(n: int, k: int, given: dict) -> ruckig.InputParameter:
    """Ruckig's input for pair number k."""
    found = ruckig.InputParameter(n)
    found.current_position, found.target_position = given["start"][k], given["goal"][k]
    found.current_velocity, found.target_velocity = given["start_velocity"][k], given["goal_velocity"][k]
    found.current_acceleration, found.target_acceleration = (
        given["start_acceleration"][k],
        given["goal_acceleration"][k],
    )
    found.max_velocity, found.max_acceleration, found.max_jerk = ([limit] * n for limit in LIMITS.values())
    return found


# --- a whole trajectory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_trajectory_is_ruckigs(n, rng):
    given = states(rng, 40, n)
    ours = jerk_limited(**given, **LIMITS)
    assert ours.batch == (40,) and ours.degree == 3
    for k in range(40):
        theirs = ruckig.Trajectory(n)
        ruckig.Ruckig(n).calculate(told(n, k, given), theirs)
        assert ours.knots[k, -1] == theirs.duration
        for t in [0.0, *rng.uniform(0, theirs.duration, 20), theirs.duration]:
            found = ours[k](t)
            for got, want in zip(found[:3], theirs.at_time(t), strict=True):
                np.testing.assert_allclose(got, want, atol=1e-12)


def test_a_batch_is_a_loop(rng):
    given = states(rng, 6, 3)
    together = jerk_limited(**{name: x.reshape(2, 3, 3) for name, x in given.items()}, **LIMITS)
    t = np.linspace(0, 1, 50)
    for k in range(6):
        one = jerk_limited(**{name: x[k] for name, x in given.items()}, **LIMITS)
        assert (np.diff(one.knots) > 0).all() and one.duration == np.ravel(together.duration)[k]
        q = together[divmod(k, 3)](t * one.duration).q
        np.testing.assert_allclose(q, one(t * one.duration).q, atol=100 * EPS)
    assert jerk_limited(np.zeros((0, 2)), np.ones(2), **LIMITS).batch == (0,)


def test_ends_limits_and_continuity(rng):
    given = states(rng, 60, 4)
    inside = given | {name: np.clip(given[name], -0.7, 0.7) for name in ("start_velocity", "start_acceleration")}
    trajectory = jerk_limited(**inside, **LIMITS)
    for end, t in (("start", np.zeros((60, 1))), ("goal", trajectory.knots[:, -1:])):
        for name, got in zip((end, f"{end}_velocity", f"{end}_acceleration"), trajectory(t), strict=False):
            np.testing.assert_allclose(got[:, 0], inside[name], atol=SOLVED)
    for order, limit in enumerate(LIMITS.values(), 1):
        assert (peaks(trajectory, order) <= limit * (1 + SOLVED)).all()
        assert (sampled_peaks(trajectory, order) <= limit * (1 + SOLVED)).all()
    for order in range(3):
        assert jumps(trajectory, order) * EPS < SOLVED


def test_from_rest_to_rest_one_joint_moves_like_an_s_curve(rng):
    goal = rng.uniform(0.01, 10.0, (50, 1))
    theirs, ours = jerk_limited([0.0], goal, **LIMITS), s_curve([0.0], goal, **LIMITS)
    np.testing.assert_allclose(theirs.duration, ours.duration, rtol=1e-10)
    t = np.linspace(0, 1, 30) * np.minimum(ours.knots[:, -1:], theirs.knots[:, -1:])
    np.testing.assert_allclose(theirs(t).q, ours(t).q, atol=SOLVED)
    # Several joints need not stay on a line, so they may be faster than an s_curve, and never slower.
    goal = rng.normal(size=(50, 3))
    limits = {name: limit * rng.uniform(0.5, 2.0, (50, 3)) for name, limit in LIMITS.items()}
    shorter = np.asarray(jerk_limited(np.zeros(3), goal, **limits).duration)
    assert (shorter <= np.asarray(s_curve(np.zeros(3), goal, **limits).duration) * (1 + 1e-10)).all()


def test_scaling_and_reversal(rng):
    given = states(rng, 20, 2)
    moving = {name: np.clip(x, -0.6, 0.6) for name, x in given.items()}
    T = np.asarray(jerk_limited(**moving, **LIMITS).duration)
    k = 2.0
    large = jerk_limited(**{name: k * x for name, x in moving.items()}, **{name: k * x for name, x in LIMITS.items()})
    np.testing.assert_allclose(large.duration, T, rtol=SOLVED)
    back = {"start": moving["goal"], "goal": moving["start"]}
    back |= {"start_velocity": -moving["goal_velocity"], "goal_velocity": -moving["start_velocity"]}
    back |= {"start_acceleration": moving["goal_acceleration"], "goal_acceleration": moving["start_acceleration"]}
    np.testing.assert_allclose(jerk_limited(**back, **LIMITS).duration, T, rtol=1e-6)


def test_a_minimum_duration():
    fast = jerk_limited([0.0, 0.0], [1.0, 0.3], **LIMITS)
    assert jerk_limited([0.0, 0.0], [1.0, 0.3], **LIMITS, minimum_duration=0.1).duration == fast.duration
    slow = jerk_limited([0.0, 0.0], [[1.0, 0.3]] * 2, **LIMITS, minimum_duration=[5.0, 7.0])
    np.testing.assert_allclose(slow.duration, [5.0, 7.0], rtol=1e-12)
    np.testing.assert_allclose(slow(slow.knots[:, -1:]).q[:, 0], [[1.0, 0.3]] * 2, atol=SOLVED)


def test_nothing_moves():
    none = jerk_limited([1.0, 2.0], [1.0, 2.0], **LIMITS)
    assert none.duration == 0
    np.testing.assert_array_equal(none(0.0).q, [1.0, 2.0])
    one = jerk_limited([1.0, 2.0], [1.0, 3.0], **LIMITS)
    np.testing.assert_array_equal(one(np.linspace(0, one.duration, 20)).q[:, 0], 1.0)


# --- each cycle -------------------------------------------------------------------------------------------------------


def test_steps_are_ruckigs_updates(rng):
    n, cycle = 3, 0.01
    motion = OnlineMotion(n, cycle, **LIMITS)
    given = states(rng, 4, n)
    start = State(given["start"][0], given["start_velocity"][0], given["start_acceleration"][0])
    theirs, plan, state = told(n, 0, given), ruckig.OutputParameter(n), start
    otg = ruckig.Ruckig(n, cycle)
    for k in range(200):
        i = k // 50  # the target changes now and then
        target = State(given["goal"][i], given["goal_velocity"][i], 0.0)
        theirs.target_position, theirs.target_velocity, theirs.target_acceleration = *target[:2], [0.0] * n
        otg.update(theirs, plan)
        plan.pass_to_input(theirs)
        state = motion.step(state, target)
        np.testing.assert_array_equal(state.q, plan.new_position)
        np.testing.assert_array_equal(state.v, plan.new_velocity)
        np.testing.assert_array_equal(state.a, plan.new_acceleration)


def test_steps_follow_the_trajectory_whether_the_plan_is_kept_or_not():
    target = State(np.array([0.5, -0.1]))
    both, one = OnlineMotion(2, 0.01, **LIMITS), State(np.array([0.5]))
    whole = jerk_limited([0.0, 0.0], target.q, **LIMITS)
    kept, anew = State(np.zeros(2)), State(np.zeros(1))
    for k in range(1, 150):
        kept = both.step(kept, target)
        # The slowest joint has one fastest way. Others have time to spare, and each plan may spend it in its own way.
        anew = OnlineMotion(1, 0.01, **LIMITS).step(anew, one)
        expected = whole(0.01 * k, hold=True).q
        np.testing.assert_allclose(kept.q, expected, atol=1e-12)
        np.testing.assert_allclose(anew.q, expected[:1], atol=SOLVED)
    np.testing.assert_allclose(kept.q, target.q, atol=1e-12)


def test_a_moving_target_is_chased_within_limits():
    cycle, v = 0.005, np.array([0.3, -0.5])
    motion, state, missed = OnlineMotion(2, cycle, **LIMITS), State(np.ones(2), np.zeros(2), np.zeros(2)), []
    for k in range(1500):
        target = State(v * cycle * k, v)
        new = motion.step(state, target)
        assert (np.abs(new.v) <= 1 + SOLVED).all() and (np.abs(new.a) <= 2 + SOLVED).all()
        assert (np.abs(new.a - state.a) <= 10 * cycle * (1 + SOLVED)).all()
        state = new
        missed.append(np.abs(state.q - target.q).max())
    assert missed[-1] < 0.02 and (np.diff(missed[300:]) < 0).all()


def test_a_state_beyond_the_limits_is_brought_within_them():
    motion, state = OnlineMotion(1, 0.01, **LIMITS), State(np.zeros(1), np.array([1.5]), np.array([2.5]))
    for _ in range(400):
        state = motion.step(state, State(np.ones(1)))
    np.testing.assert_allclose(state.q, 1.0, atol=SOLVED)


def test_a_target_in_motion_is_left_with_its_velocity():
    motion, target = OnlineMotion(1, 0.01, **LIMITS), State(np.ones(1), 0.5)
    states = [State(np.zeros(1))]
    for _ in range(200):
        states.append(motion.step(states[-1], target))
    np.testing.assert_allclose(states[-1].v, 0.5, atol=SOLVED)
    np.testing.assert_allclose(states[-1].q - states[-2].q, 0.005, atol=SOLVED)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_ruckig_gets_no_waypoints():
    motion = OnlineMotion(1, 0.01, **LIMITS)
    motion.step(State([0.0]), State([1.0]))
    assert motion._ruckig[2].intermediate_positions == []
    assert "intermediate_positions" not in inspect.getsource(online)
    assert motion._ruckig[1].max_number_of_waypoints == 0


def test_without_ruckig(monkeypatch):
    monkeypatch.setitem(sys.modules, "ruckig", None)
    with pytest.raises(MissingPackageError, match=r"^jerk_limited needs ruckig: pip install 'adjoint\[motion\]'"):
        jerk_limited([0.0], [1.0], **LIMITS)
    with pytest.raises(MissingPackageError, match=r"^OnlineMotion needs ruckig: pip install 'adjoint\[motion\]'"):
        OnlineMotion(1, 0.01, **LIMITS).step(State([0.0]), State([1.0]))


BAD = [
    ({"goal_velocity": 1.2}, ArgumentError, r"the goal cannot be reached: \|v\| is 1.2 at joint 0, above its limit 1"),
    ({"goal_acceleration": [0.0, -3.0]}, ArgumentError, r"\|a\| is 3 at joint 1, above its limit 2"),
    (
        {"goal_velocity": 0.9, "goal_acceleration": -2.0},
        ArgumentError,
        r"its a, \|v\| before is 1.1 at joint 0",
    ),
    (
        {"goal": [[1.0, 1.0]] * 2, "goal_velocity": [[0.0] * 2, [2.0] * 2]},
        ArgumentError,
        "the goal of trajectory 1 cannot",
    ),
    ({"start": [np.nan, 0.0]}, ArgumentError, "start contains NaN or infinity"),
    ({"goal": [1.0]}, ArgumentError, "start has 2 coordinates and goal 1"),
    ({"start": [], "goal": []}, ArgumentError, "start has 0 coordinates"),
    ({"start": np.zeros((3, 2)), "goal": np.zeros((2, 2))}, ArgumentError, "leading axes do not match: start"),
    ({"velocity": 0.0}, ArgumentError, "the limit velocity is 0"),
    ({"jerk": np.inf}, ArgumentError, "the limit jerk is inf; a positive finite number"),
    ({"acceleration": [1.0, -1.0]}, ArgumentError, r"the limit acceleration\[1\] is -1"),
    ({"minimum_duration": 0.0}, ArgumentError, "minimum_duration must be a positive time"),
    ({"minimum_duration": 1e5}, SolveError, "the motion lasts too long.*up to 7600 s"),
    ({"start_velocity": 1e6}, SolveError, "ruckig found no motion from the start to the goal"),
]


@pytest.mark.parametrize(("change", "kind", "message"), BAD)
def test_bad_requests_are_refused(change, kind, message):
    with pytest.raises(kind, match=f"^jerk_limited: .*{message}"):
        jerk_limited(**({"start": [0.0, 0.0], "goal": [1.0, 1.0]} | LIMITS | change))


def test_bad_steps_are_refused_and_the_next_good_one_is_made():
    motion, state = OnlineMotion(2, 0.01, **LIMITS), State(np.zeros(2))
    bad = {
        r"the target cannot be reached: \|v\| is 2 at joint 1, above": State(np.ones(2), np.array([0.0, 2.0])),
        "q of the target is nan at joint 1": State(np.array([0.0, np.nan])),
        "v of the target is inf at joint 0": State(np.ones(2), np.array([np.inf, 0.0])),
        r"target.q has shape \(3,\); \(2,\) is needed": State(np.ones(3)),
        r"target.q has shape \(\); \(2,\) is needed": State("there"),
        r"target.v has shape \(1,\); \(2,\) is needed": State(np.ones(2), [1.0]),
        r"target must be a State\(q, v, a\), got \[1.0, 1.0\]": [1.0, 1.0],
    }
    for message, target in bad.items():
        with pytest.raises(ArgumentError, match=f"^OnlineMotion.step: {message}"):
            motion.step(state, target)
        assert (motion.step(state, State([1.0, 1.0])).q > 0).all()


def test_numbers_of_numpy_and_pickles_of_a_motion_that_was_used():
    motion, target = OnlineMotion(2, 0.01, **LIMITS), State(np.ones(2))
    expected = motion.step(State(np.zeros(2), 0.0, 0.0), target)
    for zero in (0, np.int64(0), np.float32(0), np.float64(0)):
        assert_array_equal(motion.step(State(np.zeros(2), zero, zero), target), expected)
    again = pickle.loads(pickle.dumps(motion))
    assert_array_equal(again.step(State(np.zeros(2)), target), expected)
    assert_array_equal(again.velocity, motion.velocity)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"n": 1.5}, "n must be a whole number"),
        ({"cycle": 0.0}, "cycle must be a positive number"),
        ({"velocity": -1.0}, "the limit velocity is -1"),
        ({"jerk": [1.0, 2.0, 3.0]}, r"argument 'jerk' has shape \(3,\)"),
        ({"jerk": np.ones((4, 2))}, r"jerk has shape \(4, 2\); a number or \(2,\) is needed"),
    ],
)
def test_bad_limits_of_an_online_motion_are_refused(change, message):
    with pytest.raises(ArgumentError, match=f"^OnlineMotion: .*{message}"):
        OnlineMotion(**({"n": 2, "cycle": 0.01} | LIMITS | change))
