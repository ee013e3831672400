"""`VectorEnv`: gymnasium's vector API over one kernel."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import adjoint as aj
from adjoint import ArgumentError
from adjoint.simulation import VectorEnv

ROBOT = aj.robots.puma560()


def starts(rng, n):
    return rng.normal(size=(n, 6)) * 0.1, np.zeros((n, 6))


def env(n=5, **options):
    given = {"dt": 0.002, "start": starts, "reward": lambda t, q, v, action: -(q @ q), "dtype": np.float64} | options
    return VectorEnv(ROBOT, n, **given)


def test_steps_are_those_of_simulate():
    e = env(steps_per_action=5, action_low=np.full(6, -5.0), action_high=np.full(6, 5.0))
    first, info = e.reset(seed=3)
    assert info == {}
    q, v = first[:, :6], first[:, 6:]
    action = np.linspace(-5, 5, 30).reshape(5, 6)
    seen, rewards, terminated, truncated, _ = e.step(action)
    run = aj.simulate(
        ROBOT, aj.control.law(lambda robot, p, state, t, q, v, reference: (p.tau, state), follows=None, tau=np.zeros(6))
        .replace(tau=action), q=q, v=v, duration=0.01, dt=0.002,
    )  # fmt: skip
    np.testing.assert_allclose(seen, np.concatenate([run.q[:, -1], run.v[:, -1]], axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rewards, -np.sum(run.q[:, -1] ** 2, axis=1), rtol=1e-12)
    assert not terminated.any()
    assert not truncated.any()


def test_actions_are_clipped_to_their_bounds():
    """A PUMA has no effort limits here, so its bounds are -1 and 1."""
    action = np.linspace(-3, 3, 30).reshape(5, 6)
    seen = []
    for given in (action, np.clip(action, -1, 1)):
        e = env()
        e.reset(seed=1)
        seen.append(e.step(given)[0])
    assert e.single_action_space.high.tolist() == [1.0] * 6
    assert np.array_equal(*seen)


def test_a_new_environment_has_been_reset():
    assert np.isfinite(env().step(np.zeros((5, 6)))[0]).all()


def test_what_a_step_gave_stays():
    """Memory is used again from step to step, but not what a user may hold."""
    e = env()
    given = [e.reset(seed=0)[0], e.q, e.v]
    copies = [x.copy() for x in given]
    for _ in range(4):
        new = [*e.step(np.ones((5, 6)))[:4], e.q, e.v]
        given += new
        copies += [x.copy() for x in new]
    assert all(np.array_equal(mine, kept) for mine, kept in zip(given, copies, strict=True))
    assert np.array_equal(new[0], np.concatenate([e.q, e.v], axis=1))


def test_spaces_and_types():
    e = env(dtype=np.float32)
    seen, _ = e.reset(seed=0)
    assert e.single_observation_space.shape == (12,)
    assert e.observation_space.shape == (5, 12)
    assert seen in e.observation_space
    action = e.action_space.sample()
    assert e.step(action)[0].dtype == np.float32
    assert isinstance(e, gym.vector.VectorEnv)
    assert e.metadata["autoreset_mode"] == gym.vector.AutoresetMode.NEXT_STEP


def test_seeds_repeat():
    a, b = env(), env()
    assert np.array_equal(a.reset(seed=7)[0], b.reset(seed=7)[0])
    assert not np.array_equal(a.reset(seed=7)[0], a.reset()[0])
    action = np.ones((5, 6))
    for one in (a, b):
        one.reset(seed=1)
    for _ in range(3):
        assert np.array_equal(a.step(action)[0], b.step(action)[0])


def test_an_ended_episode_starts_anew_at_the_next_step():
    e = env(max_episode_steps=3)
    e.reset(seed=0)
    action = np.zeros((5, 6))
    for k in range(3):
        seen, _, terminated, truncated, _ = e.step(action)
        assert truncated.all() == (k == 2)
    assert not terminated.any()
    fresh, rewards, terminated, truncated, _ = e.step(action)
    assert np.array_equal(fresh[:, 6:], np.zeros((5, 6)))
    assert not np.array_equal(fresh, seen)
    assert not rewards.any()
    assert not truncated.any()


def test_single_robots_end_alone():
    e = env(terminated=lambda t, q, v: q[0] > 0.05, max_episode_steps=1000)
    e.reset(seed=0)
    seen, _, terminated, _, _ = e.step(np.zeros((5, 6)))
    assert np.array_equal(terminated, seen[:, 0] > 0.05)
    assert terminated.any()
    assert not terminated.all()
    after, *_ = e.step(np.zeros((5, 6)))
    assert not np.array_equal(after[~terminated, 6:], np.zeros((np.count_nonzero(~terminated), 6)))
    assert np.array_equal(after[terminated, 6:], np.zeros((np.count_nonzero(terminated), 6)))


def test_a_robot_that_is_not_finite_has_ended():
    e = env(
        start=lambda rng, n: (np.where(np.arange(n)[:, None] == 2, np.nan, 0.1) * np.ones((n, 6)), np.zeros((n, 6)))
    )
    e.reset(seed=0)
    assert e.step(np.zeros((5, 6)))[2].tolist() == [False, False, True, False, False]


def test_actions_and_observations_are_functions():
    e = env(
        act=lambda t, q, v, action: 10 * (action[0] - q) - v, observe=lambda t, q, v: np.stack([q[0], t]),
        action_low=[-1.0], action_high=[1.0],
    )  # fmt: skip
    seen, _ = e.reset(seed=0)
    assert seen.shape == (5, 2)
    seen, *_ = e.step(np.full((5, 1), 0.5))
    np.testing.assert_allclose(seen[:, 1], 0.002)


def test_randomised_robots():
    inertias = ROBOT.inertias * np.linspace(0.5, 1.5, 5)[:, None, None]
    e = env(lift={"inertias": inertias}, start=None)
    e.reset()
    e.step(np.ones((5, 6)))
    assert len(np.unique(e.v[:, 0])) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"action_low": [1.0], "action_high": [0.0]}, "low < high"),
        ({"start": lambda rng, n: np.zeros((n, 6))}, "start"),
        ({"start": lambda rng, n: (np.zeros((n, 5)), np.zeros((n, 6)))}, r"q and v of shapes \(5, 6\)"),
        ({"lift": {"damping": np.ones((4, 6))}}, r"leading axes \(4,\); they must be \(5,\)"),
        ({"dt": 0}, "dt must be a positive number"),
        ({"n": 0}, "num_envs must be 1 or more"),
        ({"controller": 3}, "VectorEnv: there is no argument 'controller'; surroundings are forces"),
        ({"observe": lambda t, q, v: q[0]}, r"observe must give an array \(m,\); it gives shape \(\)"),
        ({"reward": lambda t, q, v, action: q}, r"reward must give one number; it gives shape \(6,\)"),
        ({"terminated": lambda t, q, v: q > 0}, r"terminated must give one truth value; it gives shape \(6,\)"),
        ({"action_low": [-1.0], "action_high": [1.0]}, r"act gives shape \(1,\); it must be \(6,\)"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        env(**options)


def test_actions_of_another_shape_are_refused():
    e = env()
    with pytest.raises(ArgumentError, match=r"actions have shape \(6,\); they must be \(5, 6\)"):
        e.step(np.zeros(6))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps_per_action": 0}, "steps_per_action must be 1 or more"),
        ({"max_episode_steps": 0}, "max_episode_steps must be 1 or more"),
        ({"stop": lambda t, q, v: q[0] > 0}, "no argument 'stop'; surroundings are forces"),
        ({"observe": lambda t, q, v: q[0]}, r"observe must give an array \(m,\)"),
        ({"reward": lambda t, q, v, action: q}, "reward must give one number"),
        ({"reward": lambda t, q, v, action: None}, "reward must give one number; it gives None"),
        ({"terminated": lambda t, q, v: q > 1}, "terminated must give one truth value"),
        ({"act": "x"}, "act must be a function or None; got str"),
        ({"start": lambda rng, n: 3}, "must give q and v"),
        ({"dtype": int}, "dtype must be"),
    ],
)
def test_functions_that_give_something_else_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        VectorEnv(aj.robots.puma560(), 2, dt=0.01, **options).step(np.zeros((2, 6)))


def test_seeds_are_those_of_gymnasium():
    env = VectorEnv(aj.robots.puma560(), 2, dt=0.01, start=lambda rng, n: (rng.normal(size=(n, 6)), np.zeros((n, 6))))
    first, _ = env.reset(seed=3)
    assert env.np_random_seed == 3
    drawn = env.np_random.normal()
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again) and env.np_random.normal() == drawn
    with pytest.raises(ArgumentError, match="seed must be a whole number"):
        env.reset(seed=-1)
    with pytest.raises(ArgumentError, match="actions"):
        env.step("a")
    with pytest.raises(ArgumentError, match="num_envs must be 1 or more"):
        VectorEnv(aj.robots.puma560(), 0, dt=0.01)


def test_episode_statistics_of_gymnasium():
    env = VectorEnv(aj.robots.puma560(), 3, dt=0.01, max_episode_steps=3, reward=lambda t, q, v, action: 1.0 + 0 * t)
    counted = wrappers.RecordEpisodeStatistics(env)
    counted.reset(seed=0)
    lengths = [counted.step(np.zeros((3, 6)))[4].get("episode", {}).get("l", np.zeros(3)).tolist() for _ in range(8)]
    assert lengths == [[0] * 3, [0] * 3, [3] * 3, [0] * 3, [0] * 3, [0] * 3, [3] * 3, [0] * 3]
