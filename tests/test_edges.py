"""Edges between configurations: samples coarse to fine, bounds of motion, and proofs that samples never contradict."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from support.collision_models import arm_model, random_scene, random_shapes, tree, tree_model

import adjoint as aj
from adjoint import ArgumentError
from adjoint.collision import edges
from adjoint.collision.checking import is_free
from adjoint.collision.clearances import clearance
from adjoint.collision.collision_models import collision_model
from adjoint.collision.collision_solids import ConvexHull
from adjoint.collision.edges import edge_motions, edges_certified, edges_free
from adjoint.collision.model_each import shape_rows_of
from adjoint.sensing import Box, Sphere

MODELS = {"arm": arm_model, "tree": tree_model}


def ends_of(model, count: int, seed: int, part: float = 0.3):
    """Free starts, and ends that are a part of the way to other configurations."""
    q = aj.random_configuration(model.robot, 60 * count, rng=seed)
    q = q[is_free(model, q)]
    assert len(q) >= 2 * count, "too few free configurations"
    starts, goals = q[:count], q[count : 2 * count]
    return starts, aj.interpolate(model.robot, starts, goals, part)


def densely_free(model, starts, ends, count: int = 800):
    s = np.linspace(0, 1, count)
    return is_free(model, aj.interpolate(model.robot, starts[:, None], ends[:, None], s)).all(axis=1)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.integers(1, 700), min_size=1, max_size=5))
def test_every_sample_is_checked_once_and_coarse_ones_first(steps):
    steps = np.array(steps, float)
    stride = edges.first_strides(steps)
    before = np.full(len(steps), np.inf)
    seen = [[] for _ in steps]
    for _ in range(10):
        alive = np.flatnonzero(before > 1)
        if not len(alive):
            break
        edge, s = edges._samples(steps[alive], stride[alive], before[alive])
        for e, x in zip(alive[edge], s, strict=True):
            seen[e].append(round(x * steps[e]))
        before = np.where(before > 1, stride, before)
        stride = np.maximum(stride / 8, 1)
    for n, numbers in zip(steps, seen, strict=True):
        assert sorted(numbers) == list(range(int(n) + 1))
        assert {0, int(n)} <= set(numbers[:20])
        assert np.diff(sorted(numbers[:18])).max() <= max(n / 8, 1)


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
def test_samples_against_dense_ones(which):
    model = MODELS[which]().with_obstacles(random_scene(21, 8, spread=1.3))
    if which == "tree":
        model = collision_model(model.robot, model.obstacles, shapes=random_shapes(tree()), pairs=())
    starts, ends = ends_of(model, 40, 1)
    fine = edges_free(model, starts, ends, resolution=2e-3)
    dense = densely_free(model, starts, ends)
    assert (fine == dense).mean() > 0.97
    assert 3 < fine.sum() < 38
    # What is free at all of some samples is free at every second of them.
    coarse = edges_free(model, starts, ends, resolution=0.2)
    assert (coarse | ~fine).mean() > 0.95
    np.testing.assert_array_equal(edges_free(model, starts.reshape(5, 8, -1), ends.reshape(5, 8, -1)).ravel(),
                                  edges_free(model, starts, ends))  # fmt: skip
    for k in (0, 7):
        assert edges_free(model, starts[k], ends[k]) == edges_free(model, starts, ends)[k]
    np.testing.assert_array_equal(edges_free(model, starts[0], ends[:5]),
                                  [edges_free(model, starts[0], x) for x in ends[:5]])  # fmt: skip


def test_resolution_is_the_largest_step_of_a_joint():
    model = arm_model()
    seen = []

    def spy(_, q):
        seen.append(q)
        return np.ones(len(q), bool)

    edges_is_free, edges.is_free = edges.is_free, spy
    try:
        start, end = np.zeros(6), np.array([0.0, 0.7, -0.3, 0.1, 0.0, 0.2])
        edges_free(model, start, end, resolution=0.03)
        q = np.concatenate(seen)
        q = q[np.argsort(q[:, 1])]
        assert np.abs(np.diff(q, axis=0)).max() <= 0.03 + 1e-12
        assert len(q) == int(np.ceil(0.7 / 0.03)) + 1
        np.testing.assert_array_equal(q[[0, -1]], [start, end])
        seen.clear()
        edges_free(model, start, end, resolution=0.05, measure="points")
        assert len(np.concatenate(seen)) == int(np.ceil(edge_motions(model, start, end) / 0.05)) + 1
        seen.clear()
        assert edges_free(model, start, start)  # a point
        np.testing.assert_array_equal(np.concatenate(seen), [start, start])
    finally:
        edges.is_free = edges_is_free


@pytest.mark.slow
def test_thin_obstacles_between_samples_are_found_by_fine_ones_only():
    model = arm_model()
    start, end = np.zeros(6), np.array([1.0, 0, 0, 0, 0, 0])
    tip = aj.forward_kinematics(model.robot, np.array([0.52, 0, 0, 0, 0, 0]), "tool")[:3, 3]
    ball = Sphere(1e-3, T_world_solid=tip)
    alone = collision_model(model.robot, [ball], shapes=model.shapes, pairs=())
    assert not edges_free(alone, start, end, resolution=0.01)
    assert not edges_certified(alone, start, end).free


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
def test_no_point_moves_farther_than_the_bound(which):
    model = MODELS[which]().with_carried([("tool", Box([0.3, 0.1, 0.2], T_world_solid=[0, 0.1, 0.2]))])
    starts, ends = aj.random_configuration(model.robot, (2, 30), rng=3)
    ends = aj.interpolate(model.robot, starts, ends, np.linspace(0.02, 1, 30))
    s = np.linspace(0, 1, 300)
    q = aj.interpolate(model.robot, starts[:, None], ends[:, None], s)
    rows = model._plan.bound(shape_rows_of)(q, model.carried_rows)[..., : len(model.shape_names), :]
    moved = edges.EdgeMotions(model, starts, ends).of_shapes()
    for points in (rows[..., :3], rows[..., 3:6]):
        length = np.linalg.norm(np.diff(points, axis=1), axis=-1).sum(axis=1)
        assert (length <= moved + 1e-9).all()
    assert (edge_motions(model, starts, ends) == moved.max(axis=1)).all()
    # In one joint alone the bound is not far from what points do: they are at most so far from the axis.
    if which == "arm":
        one = edge_motions(model, np.zeros(6), np.array([0.1, 0, 0, 0, 0, 0]))
        assert 0.05 < one < 0.1 * 2.5


def test_bodies_move_relative_to_each_other_by_the_joints_between():
    model = tree_model()
    starts, ends = aj.random_configuration(model.robot, (2, 20), rng=4)
    moved = edges.EdgeMotions(model, starts, ends).of_pairs()
    s = np.linspace(0, 1, 200)
    T = aj.forward_kinematics(model.robot, aj.interpolate(model.robot, starts[:, None], ends[:, None], s))
    T = np.concatenate([T, np.broadcast_to(np.eye(4), (*T.shape[:2], 1, 4, 4))], axis=2)  # body -1 is the base
    for k, (a, b) in enumerate(model._plan.body_pairs):
        # The frame in which both move: that of the last body that both come after.
        common = [i for i in model.robot.path(a) if i in model.robot.path(b)]
        seen = np.linalg.inv(T[:, :, common[-1] if common else -1])
        total = 0.0
        for body in (a, b):
            M = seen @ T[:, :, body]
            own = model.shapes.ends[model.shapes.groups[body]]
            x = np.einsum("esij,kj->eski", M[..., :3, :3], own) + M[..., None, :3, 3]
            total = total + np.linalg.norm(np.diff(x, axis=1), axis=-1).sum(axis=1).max(axis=-1)
        assert (total <= moved[:, k] + 1e-9).all()


# --- proofs -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("seed", [0, 1])
def test_proofs_never_contradict_samples(which, seed):
    model = MODELS[which]().with_obstacles(random_scene(30 + seed, 8, spread=1.0))
    if which == "tree":
        model = collision_model(model.robot, model.obstacles, shapes=random_shapes(tree()), pairs=[(2, 6)])
    if seed:
        model = model.with_carried([("tool", Box([0.05, 0.1, 0.1], T_world_solid=[0, 0, 0.2]))]).with_obstacles(
            model.obstacles, margin=0.02
        )
    starts, ends = ends_of(model, 30, seed, 0.5)
    found = edges_certified(model, starts, ends)
    dense = densely_free(model, starts, ends)
    assert not (found.free & ~dense).any()
    assert not (found.colliding & is_free(model, starts) & is_free(model, ends) & dense).mean() > 0.05
    np.testing.assert_array_equal(found.free + found.colliding + 0 + found.undecided, True)
    assert not (found.free & found.colliding).any() and not (found.undecided & (found.free | found.colliding)).any()
    assert found.undecided.mean() < 0.1 and 0.1 < found.free.mean() < 1
    hit = found.colliding
    at = aj.interpolate(model.robot, starts[hit], ends[hit], found.where[hit])
    assert not is_free(model, at).any()
    assert np.isnan(found.where[~hit]).all()
    one = edges_certified(model, starts[0], ends[0])
    assert one.free == found.free[0] and one.colliding == found.colliding[0]
    assert found.checks >= 2 * len(starts)


@pytest.mark.slow
def test_proofs_with_hulls():
    rng = np.random.default_rng(0)
    hulls = [
        ConvexHull(points=0.1 * rng.normal(size=(10, 3)), T_world_solid=0.8 * rng.normal(size=3)) for _ in range(5)
    ]
    model = arm_model().with_obstacles(hulls)
    starts, ends = ends_of(model, 20, 5, 0.3)
    found, dense = edges_certified(model, starts, ends), densely_free(model, starts, ends)
    assert not (found.free & ~dense).any() and (found.free == dense).mean() > 0.9


def test_grazing_edges_are_undecided():
    model = arm_model()
    alone = collision_model(model.robot, [Sphere(0.1, T_world_solid=[2.0, 0, 0.5])], shapes=model.shapes, pairs=())
    start, end = np.zeros(6), np.full(6, 0.1)
    s = np.linspace(0, 1, 4001)
    least = float(clearance(alone, aj.interpolate(model.robot, start, end, s)).min())
    close = alone.with_obstacles(alone.obstacles, margin=least - 1e-10)
    found = edges_certified(close, start, end, resolution=1e-2)
    assert found.undecided and not found.free and not found.colliding
    assert edges_certified(alone.with_obstacles(alone.obstacles, margin=least - 1e-3), start, end).free
    assert edges_certified(alone.with_obstacles(alone.obstacles, margin=least + 1e-3), start, end).colliding


def test_nothing_to_hit():
    model = collision_model(tree(), shapes=random_shapes(tree()), pairs=())
    starts, ends = aj.random_configuration(tree(), (2, 5), rng=0)
    assert edges_free(model, starts, ends).all() and edges_certified(model, starts, ends).free.all()
    assert edges_free(model, starts[:0], ends[:0]).shape == (0,)
    assert edges_certified(model, starts[:0], ends[:0]).free.shape == (0,)


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_edges_stay_alone():
    model = arm_model().with_obstacles([Sphere(0.1, T_world_solid=[0.7, 0.2, 0.5])])
    starts, ends = ends_of(model, 6, 0)
    good_samples, good_proofs = edges_free(model, starts, ends), edges_certified(model, starts, ends)
    ends[2, 3], starts[4, 0] = np.nan, np.inf
    free, proved = edges_free(model, starts, ends), edges_certified(model, starts, ends)
    assert not free[[2, 4]].any() and proved.undecided[[2, 4]].all()
    rest = [0, 1, 3, 5]
    np.testing.assert_array_equal(free[rest], good_samples[rest])
    np.testing.assert_array_equal(proved.free[rest], good_proofs.free[rest])


def test_bad_calls_are_refused():
    model = arm_model()
    q = np.zeros(6)
    for f in (edges_free, edges_certified):
        with pytest.raises(ArgumentError, match="resolution"):
            f(model, q, q, resolution=0)
        with pytest.raises(ArgumentError, match="'starts' has shape"):
            f(model, q[:3], q)
        with pytest.raises(ArgumentError, match="do not broadcast"):
            f(model, np.zeros((2, 6)), np.zeros((3, 6)))
        with pytest.raises(ArgumentError, match="must be a CollisionModel"):
            f(model.robot, q, q)
    with pytest.raises(ArgumentError, match="measure"):
        edges_free(model, q, q, measure="inches")
    with pytest.raises(ArgumentError, match="samples"):
        edges_free(model, q, q + 1, resolution=1e-12)
