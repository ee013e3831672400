"""OMPL as a peer: its planners with our checks solve what ours solve, and their paths are free for both."""

import sys

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision import collision_model, contacts, is_free
from adjoint.errors import ArgumentError
from adjoint.model.catalog import random_tree
from adjoint.sensing import Sphere
from adjoint.world.motion import plan_motion, plan_with_ompl

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="OMPL has wheels for Linux only")

ARM = aj.robots.planar(2).replace(lower=np.full(2, -3.0), upper=np.full(2, 3.0))
POSTS = [Sphere(0.15, T_world_solid=[x, y, 0.0], name=f"post {x}") for x, y in ((1.2, 0.9), (-0.9, 1.2), (0.3, -1.5))]
MODEL = collision_model(ARM, POSTS, pairs=())


@pytest.mark.slow
def test_both_solve_the_same_problems():
    q = aj.random_configuration(ARM, 200, rng=5)
    q = q[is_free(MODEL, q)]
    for start, goal in zip(q[:12], q[12:24], strict=True):
        peer = plan_with_ompl(MODEL, start, goal, time_limit=1.0)
        own = plan_motion(MODEL, None, start, goal, timing=None)
        assert own.solved or not peer.solved
        assert own.recheck().free or own.clearance() < 1e-2
        if peer.solved:
            np.testing.assert_array_equal(peer.path[[0, -1]], np.stack([start, goal]))
            assert peer.recheck(finer=1).free or peer.clearance() < 1e-2
            assert peer.statistics.checks > 0


@pytest.mark.parametrize("planner", ["RRTConnect", "RRTstar", "BITstar", "KPIECE1"])
def test_planners_by_name(planner):
    plan = plan_with_ompl(MODEL, [-0.6, 0.5], [[1.9, 0.4], [1.8, 0.5]], planner=planner, time_limit=0.2, shortcut=True)
    assert plan.solved
    assert plan.method == f"ompl {planner}"
    assert plan.trajectory is None
    assert plan.length > 2.0
    simple = plan_with_ompl(MODEL, [-0.6, 0.5], [1.9, 0.4], planner=planner, time_limit=0.2, simplify=True)
    assert simple.solved


def test_reasons_and_bad_arguments():
    q = aj.random_configuration(ARM, 512, rng=0)
    hit, free = q[~is_free(MODEL, q)][0], q[is_free(MODEL, q)][0]
    words = str(contacts(MODEL, hit)[0])
    assert plan_with_ompl(MODEL, hit, free).reason.startswith(f"start: {words}")
    assert plan_with_ompl(MODEL, free, hit).reason.startswith(f"goal: {words}")
    assert "above its limit" in plan_with_ompl(MODEL, free, [4.0, 0.0]).reason
    assert "above its limit" in plan_with_ompl(MODEL, [4.0, 0.0], free).reason
    walls = [Sphere(0.3, T_world_solid=[np.cos(a), np.sin(a), 0.0]) for a in (0.8, -0.8)]
    shut = plan_with_ompl(MODEL.with_obstacles(walls), [0.0, 0.0], [3.0, 0.0], time_limit=0.1)
    assert shut.reason == "RRTConnect of OMPL found no path within 0.1 s"
    with pytest.raises(ArgumentError, match=r"planner is 'Dijkstra'; it must be one of .*RRTConnect"):
        plan_with_ompl(MODEL, free, free, planner="Dijkstra")
    with pytest.raises(ArgumentError, match="time_limit"):
        plan_with_ompl(MODEL, free, free, time_limit=0.0)
    with pytest.raises(ArgumentError, match=r"start must be one"):
        plan_with_ompl(MODEL, q[:2], free)
    flyer = collision_model(random_tree(3, 1, types=("free",)), pairs=())
    with pytest.raises(ArgumentError, match="several degrees of freedom"):
        plan_with_ompl(flyer, np.zeros(7), np.zeros(7))
