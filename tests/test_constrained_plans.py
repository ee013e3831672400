"""Plans that keep goals during the whole motion: axes, orientations, planes and lines."""

import numpy as np
import pytest

import adjoint as aj
from adjoint import goals
from adjoint.collision import collision_model, is_free
from adjoint.errors import ArgumentError
from adjoint.sensing import Box, Sphere
from adjoint.world.motion import plan_motion
from adjoint.world.motion.edge_checks import Checker
from adjoint.world.motion.kept_goals import KeptWays, kept_path, manifold_of
from adjoint.world.motion.spaces import configuration_space

PUMA = aj.robots.puma560()
POST = Box([0.08, 0.08, 0.5], T_world_solid=[0.62, 0.0, 0.25], name="post")
DOWN = goals.axis("tool", [0, 0, -1])


@pytest.fixture(scope="module")
def model():
    return collision_model(PUMA, [POST])


def at(model, p, *more) -> np.ndarray:
    """A free configuration with the tool at p, and further goals."""
    starts = aj.random_configuration(PUMA, 40, rng=4)
    found = aj.find_configuration(PUMA, [goals.position("tool", p), *more], start=starts, seeds=0)
    good = found.success & is_free(model, found.q)
    assert good.any()
    return found.q[good][0]


CASES = {
    "axis": [DOWN],
    "orientation": [goals.orientation("tool", np.diag([1.0, -1.0, -1.0]))],
    "axis and plane": [DOWN, goals.plane("tool", [0, 0, 0.3], [0, 0, 1])],
    "plane": [goals.plane("tool", [0, 0, 0.3], [0, 0, 1])],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_goals_hold_along_path_and_motion(model, name):
    keep = CASES[name]
    start, there = at(model, [0.45, -0.35, 0.3], *keep), goals.position("tool", [0.45, 0.35, 0.3])
    plan = plan_motion(model, None, start, [there, *keep], keep=keep, rng=1)
    assert plan.solved, plan.reason
    np.testing.assert_array_equal(plan.path[0], start)
    assert aj.goals.goal_errors(PUMA, there, plan.path[-1]).max() <= 1e-5
    assert plan.trajectory is not None
    motion = plan.trajectory(np.linspace(0, plan.trajectory.duration, 1500)).q
    for q in (plan.samples(0.005), motion):
        assert aj.goals.goal_errors(PUMA, keep, q).max() <= 1e-3
        assert is_free(model, q).all()
        assert configuration_space(PUMA).inside(q).all()
    speed = configuration_space(PUMA).lengths(plan.path).max()
    assert speed <= 0.05 * 1.01  # neighbours on the manifold are not farther apart than the resolution


def test_projections_meet_the_goals_and_stay_where_they_are():
    space = configuration_space(PUMA)
    manifold = manifold_of(space, DOWN, 1e-3, "test")
    q, on = manifold.projected(space.random(np.random.default_rng(0), 200))
    assert on.mean() > 0.5
    assert manifold.errors(q[on]).max() <= 1e-5
    again, still = manifold.projected(q[on])
    assert still.all()
    np.testing.assert_array_equal(again, q[on])
    assert manifold.kept(q[on]).all()


def test_ways_on_the_manifold_end_before_what_is_not_free():
    space = configuration_space(PUMA)
    manifold = manifold_of(space, DOWN, 1e-3, "test")
    checker = Checker.of(space, lambda q: q[:, 0] < 0.4, 0.05)
    ways = KeptWays(checker, manifold)
    rng = np.random.default_rng(1)
    q = ways.random(rng, 60)
    a, b = q[q[:, 0] < 0.2][:5], q[q[:, 0] > 0.6][:5]
    n = min(len(a), len(b))
    reached = ways.reach(a[:n], b[:n], np.inf)
    assert not reached.met.any()
    assert np.all(reached.ends[:, 0] < 0.4)
    assert manifold.kept(reached.ends).all()
    near = a[:1] + 1e-2 * rng.normal(size=6)
    near, _ = manifold.projected(near)
    path = np.concatenate([a[:1], near])
    assert kept_path(ways, path) is not None


@pytest.mark.slow
def test_a_wide_tolerance_is_a_band():
    """An axis that may lean by 0.2 rad: start and goal lean, and the way between them may."""
    model = collision_model(PUMA, [Sphere(0.05, T_world_solid=[0.0, 0.0, 2.0])])
    loose = goals.axis("tool", [0, 0, -1], tolerance=0.2)
    lean = [goals.axis("tool", [np.sin(x), 0, -np.cos(x)]) for x in (0.1, -0.1)]
    start = at(model, [0.45, -0.3, 0.3], lean[0])
    plan = plan_motion(model, None, start, [goals.position("tool", [0.45, 0.3, 0.3]), lean[1]], keep=loose)
    assert plan.solved, plan.reason
    np.testing.assert_array_equal(plan.path[0], start)
    assert aj.goals.goal_errors(PUMA, lean[1], plan.path[-1]).max() <= 1e-5
    assert aj.goals.goal_errors(PUMA, loose, plan.samples(0.01)).max() <= 0.2


def test_reasons_and_bad_arguments(model):
    start, goal = at(model, [0.45, -0.35, 0.3], DOWN), at(model, [0.45, 0.35, 0.35], DOWN)
    low, said = goals.plane("tool", [0, 0, 0.3], [0, 0, 1]), "it does not keep the goal plane of 'tool'"
    assert plan_motion(model, None, goal, start, keep=low).reason.startswith(f"start: {said}")
    assert plan_motion(model, None, start, goal, keep=low).reason.startswith(f"goal: {said}")
    with pytest.raises(ArgumentError, match="one target each"):
        plan_motion(model, None, start, goal, keep=goals.plane("tool", np.zeros((3, 3)), [0, 0, 1]))
    with pytest.raises(ArgumentError, match="keep_tolerance"):
        plan_motion(model, None, start, goal, keep=low, keep_tolerance=0.0)
    with pytest.raises(ArgumentError, match="goal"):
        plan_motion(model, None, start, goal, keep=["upright"])
