"""Whole robots against obstacles and themselves: laws, a second way to each distance, derivatives, and Pinocchio."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from support.collision_models import (
    KINDS,
    arm_model,
    carried_pose,
    differences,
    random_pose,
    random_scene,
    random_shapes,
    random_solid,
    slow_clearance,
    tree,
    tree_model,
)

import adjoint as aj
from adjoint import ArgumentError, kernel, static
from adjoint.collision.checking import contacts, is_free
from adjoint.collision.clearances import clearance, clearance_gradient, nearest_pair, pair_clearances
from adjoint.collision.collision_models import CollisionModel, collision_model
from adjoint.collision.collision_solids import HeightField
from adjoint.collision.model_carried import covering_capsules
from adjoint.collision.model_traversal import MOST_UNROLLED
from adjoint.collision.pair_boxes import capsule_box
from adjoint.collision.shapes_of_links import LinkShapes, shape_solids
from adjoint.collision.solid_distances import solid_distance
from adjoint.compile.machine import jit
from adjoint.kinematics import forward_kinematics
from adjoint.sensing import Box, Capsule, Cylinder, Mesh, Plane, Scene, Sphere

MODELS = {"arm": arm_model, "tree": tree_model}
EPS = 1e-9


def configurations(model: CollisionModel, count: int, seed: int = 0) -> np.ndarray:
    return aj.random_configuration(model.robot, count, rng=seed)


# --- second formulations ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_clearance_is_the_least_distance_of_solids(which, kind):
    model = MODELS[which]()
    model = model.with_obstacles(random_scene(5, 4, (kind,)))
    q = configurations(model, 12, seed=1)
    wanted = np.array([slow_clearance(model, x) for x in q])
    np.testing.assert_allclose(clearance(model, q), wanted, rtol=0, atol=EPS)
    np.testing.assert_array_equal(is_free(model, q), wanted > 0)


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
def test_all_kinds_together_with_margins_and_a_base_anywhere(which):
    rng = np.random.default_rng(0)
    old = MODELS[which]()
    scene = random_scene(6, 14)
    margin = rng.uniform(0, 0.1, len(scene))
    model = collision_model(
        old.robot, scene, shapes=old.shapes, pairs=old.pairs, T_world_base=random_pose(rng, 0.3), margin=margin
    )
    q = configurations(model, 40, seed=2)
    wanted = np.array([slow_clearance(model, x) for x in q])
    found = clearance(model, q)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=EPS)
    np.testing.assert_array_equal(is_free(model, q), wanted > 0)
    all_of_them = pair_clearances(model, q)
    np.testing.assert_allclose(all_of_them.clearances.min(axis=-1), found, rtol=0, atol=EPS)
    moving = int((model.shapes.bodies >= 0).sum())
    assert len(all_of_them.names) == len(model._plan.pairs) + moving * len(scene)
    assert clearance_gradient(model, q).clearance == pytest.approx(found, abs=EPS)


@pytest.mark.slow
def test_height_fields_are_ground():
    rng = np.random.default_rng(0)
    hills = HeightField(rng.uniform(-0.1, 0.1, (30, 30)), 0.2, T_world_solid=[-3, -3, -0.4], name="hills")
    model = arm_model().with_obstacles([hills])
    q = configurations(model, 30, seed=4)
    found = clearance(model, q)
    np.testing.assert_array_equal(is_free(model, q), found > 0)
    assert 3 <= (found < 0).sum() <= 27
    flat = model.with_obstacles([Plane(T_world_solid=[0, 0, -0.3])])  # the ground is below this plane
    assert (found >= clearance(flat, q) - EPS).all()
    for x, d in zip(q[:5], found[:5], strict=True):
        assert d == pytest.approx(slow_height_clearance(model, x, hills), abs=1e-6)


def slow_height_clearance(model, q, hills):
    solids = shape_solids(model.robot, model.shapes, q)
    own = clearance(model.with_obstacles([]), q)
    ground = min(
        float(solid_distance(s, hills).distance)
        for s, b in zip(solids, model.shapes.bodies, strict=True)
        if b >= 0
    )  # fmt: skip
    return min(own, ground)


def test_meshes_count_as_their_hulls():
    box = Box([0.3, 0.2, 0.4], T_world_solid=[0.5, 0.2, 0.4])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array([0.15, 0.1, 0.2])
    faces = [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [1, 5, 7],
        [1, 7, 3],
    ]
    mesh = Mesh((corners, faces), T_world_solid=box.T_world_solid)  # a box without one of its faces
    q = configurations(arm_model(), 20)
    a, b = (clearance(arm_model().with_obstacles([solid]), q) for solid in (box, mesh))
    np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.slow
def test_many_shapes_and_pairs_go_in_loops():
    robot = aj.robots.random_tree(1, 6, ["revolute"])
    shapes = random_shapes(robot, each=9)
    assert (shapes.bodies >= 0).sum() > MOST_UNROLLED
    pairs = [(a, b) for a in range(-1, 6) for b in range(a + 2, 6)]
    # Random bodies overlap; small shapes are free now and then.
    small = LinkShapes(shapes.bodies, shapes.starts / 4, shapes.ends / 4, shapes.radii / 6, shapes.excess, shapes.names)
    model = collision_model(robot, random_scene(9, 10, spread=1.5), shapes=small, pairs=pairs)
    assert len(model._plan.pairs) > 400
    q = configurations(model, 15)
    wanted = np.array([slow_clearance(model, x) for x in q])
    np.testing.assert_allclose(clearance(model, q), wanted, atol=EPS)
    np.testing.assert_array_equal(is_free(model, q), wanted > 0)
    assert 0 < (wanted > 0).sum() < len(q)


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
def test_batches_equal_single_calls(which):
    model = MODELS[which]().with_obstacles(random_scene(1, 7))
    q = configurations(model, 12, seed=3)
    for f in (is_free, clearance, lambda m, x: clearance_gradient(m, x).gradient, lambda m, x: nearest_pair(m, x).b):
        whole = np.asarray(f(model, q))
        for k in (0, 5, 11):
            np.testing.assert_array_equal(whole[k], np.asarray(f(model, q[k])))
        np.testing.assert_array_equal(f(model, q.reshape(3, 4, -1)), whole.reshape(3, 4, *whole.shape[1:]))
        np.testing.assert_array_equal(f(model, q[:1]), whole[:1])
        assert np.shape(f(model, q[:0])) == (0, *whole.shape[1:])
    assert np.shape(is_free(model, q[0])) == ()
    assert isinstance(nearest_pair(model, q[0]).a, str)


@pytest.mark.slow
def test_many_configurations_equal_few():
    model = arm_model().with_obstacles(random_scene(1, 6))
    q = configurations(model, 3000)
    for f in (is_free, clearance):
        np.testing.assert_array_equal(f(model, q)[:300], f(model, q[:300]))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(KINDS))
def test_one_more_obstacle_never_raises_the_clearance(seed, kind):
    rng = np.random.default_rng(seed)
    model = arm_model().with_obstacles(random_scene(seed, 3))
    more = model.with_obstacles(model.obstacles.add(random_solid(rng, kind, "new")))
    q = configurations(model, 8, seed)
    before, after = clearance(model, q), clearance(more, q)
    assert (after <= before + EPS).all()
    assert (is_free(more, q) <= is_free(model, q)).all()
    alone = clearance(model.with_obstacles([more.obstacles["new"]]), q)
    np.testing.assert_allclose(after, np.minimum(before, alone), atol=EPS)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_robot_and_world_moved_together(seed):
    rng = np.random.default_rng(seed)
    T = random_pose(rng)
    old = arm_model()
    scene = random_scene(seed, 6)
    moved = Scene([solid.at(T @ solid.T_world_solid) for solid in scene])
    here = old.with_obstacles(scene)
    there = collision_model(old.robot, moved, shapes=old.shapes, pairs=old.pairs, T_world_base=T)
    q = configurations(old, 8, seed)
    np.testing.assert_allclose(clearance(there, q), clearance(here, q), atol=1e-11)
    np.testing.assert_array_equal(is_free(there, q), is_free(here, q))
    a, b = nearest_pair(here, q), nearest_pair(there, q)
    same = (a.a == b.a) & (a.b == b.b)
    assert np.mean(same) > 0.7  # in ties, another pair may be found
    np.testing.assert_allclose(b.normal[same], a.normal[same] @ T[:3, :3].T, atol=1e-6)


def test_a_margin_grows_obstacles():
    scene = random_scene(2, 6)
    model = arm_model().with_obstacles(scene)
    q = configurations(model, 50)
    wide = model.with_obstacles(scene, margin=0.07)
    alone = collision_model(model.robot, scene, shapes=model.shapes, pairs=())
    np.testing.assert_allclose(
        clearance(alone.with_obstacles(scene, margin=0.07), q), clearance(alone, q) - 0.07, atol=EPS
    )
    one = alone.with_obstacles(scene, margin={"solid1": 0.07})
    rest, only = alone.with_obstacles(scene.remove("solid1")), alone.with_obstacles([scene["solid1"]])
    np.testing.assert_allclose(clearance(one, q), np.minimum(clearance(rest, q), clearance(only, q) - 0.07), atol=EPS)
    np.testing.assert_array_equal(is_free(one, q), clearance(one, q) > 0)
    near = nearest_pair(wide, q)
    np.testing.assert_allclose(near.clearance, clearance(wide, q), atol=EPS)


@pytest.mark.slow
def test_what_may_touch_is_left_out():
    model = arm_model()
    scene = Scene(
        [Sphere(0.2, T_world_solid=[0.5, 0, 0.7], name="ball"), Plane(T_world_solid=[0, 0, -1.0], name="floor")]
    )
    link = model.shapes.links[-1]
    q = configurations(model, 60)
    whole = model.with_obstacles(scene)
    less = model.with_obstacles(scene, ignore=[(link, "ball")])
    names = pair_clearances(whole, q).names
    kept = [k for k, (a, b) in enumerate(names) if not (a.partition("#")[0] == link and b == "ball")]
    assert len(kept) < len(names)
    np.testing.assert_allclose(clearance(less, q), pair_clearances(whole, q).clearances[:, kept].min(axis=1), atol=EPS)
    np.testing.assert_array_equal(is_free(less, q), clearance(less, q) > 0)
    np.testing.assert_allclose(clearance_gradient(less, q).clearance, clearance(less, q), atol=EPS)
    assert [pair for pair in names if pair not in pair_clearances(less, q).names]
    body = model.robot.body_names[-1]
    assert clearance(model.with_obstacles(scene, ignore=[(body, "ball")]), q) == pytest.approx(clearance(less, q))
    # Obstacles that are gone take their pairs with them; others keep them.
    assert less.with_obstacles([scene["floor"]]).ignore == frozenset()
    assert less.with_obstacles(scene.move("ball", [0, 0, 1.0])).ignore == {(link, "ball")}


def test_the_base_does_not_collide_with_obstacles():
    model = arm_model()
    assert (model.shapes.bodies == -1).any()
    ball = Sphere(0.05, T_world_solid=[0, 0, 0.05])
    names = pair_clearances(model.with_obstacles([ball]), np.zeros(6)).names
    fixed = {n for n, b in zip(model.shapes.names, model.shapes.bodies, strict=True) if b < 0}
    assert {a for a, b in names if b == "Sphere 0"}.isdisjoint(fixed)


def test_nothing_to_hit():
    model = collision_model(tree(), shapes=random_shapes(tree()), pairs=())
    q = configurations(model, 4)
    assert is_free(model, q).all() and np.isinf(clearance(model, q)).all()
    assert not clearance_gradient(model, q).gradient.any()
    assert nearest_pair(model, q[0]).b == "" and contacts(model, q[0]) == []
    assert pair_clearances(model, q).clearances.shape == (4, 0)


def test_a_robot_without_joints():
    robot = aj.Robot.builder("post").link("base").build()
    model = collision_model(robot, [Sphere(0.1)], shapes=LinkShapes(
        np.array([-1]), np.zeros((1, 3)), np.ones((1, 3)), np.array([0.1]), np.zeros(1), ("base",)
    ), pairs=())  # fmt: skip
    assert is_free(model, np.zeros((3, 0))).all() and np.isinf(clearance(model, np.zeros(0)))


# --- carried solids ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
def test_carried_capsules_move_with_their_frame(which):
    model = MODELS[which]().with_obstacles(random_scene(4, 8))
    rng = np.random.default_rng(1)
    held = [("tool", random_solid(rng, "capsule", "rod", 0.1)), ("tool", random_solid(rng, "sphere", "ball", 0.1))]
    full = model.with_carried(held)
    q = configurations(model, 10, seed=5)
    pairs = pair_clearances(full, q)
    for n, x in enumerate(q):
        wanted = slow_clearance(full, x)
        for k, (_, solid) in enumerate(held):
            placed = solid.at(carried_pose(full, x, k))
            wanted = min([wanted, *(float(solid_distance(placed, o).distance) for o in full.obstacles)])
        # Distances from the robot itself are those of the pairs.
        own = [c for c, (a, b) in zip(pairs.clearances[n], pairs.names, strict=True) if a in ("rod", "ball")]
        assert clearance(full, x) == pytest.approx(min([wanted, *own]), abs=EPS)
    np.testing.assert_array_equal(is_free(full, q), clearance(full, q) > 0)
    assert (clearance(full, q) <= clearance(model, q) + EPS).all()
    np.testing.assert_array_equal(clearance(full.with_carried([]), q), clearance(model, q))
    joined = {int(full.robot.frame("tool").body)}
    touched = {b for a, b in pairs.names if a in ("rod", "ball")} - set(full.obstacle_names)
    assert not touched & {n for n, b in zip(model.shapes.names, model.shapes.bodies, strict=True) if b in joined}


def test_carried_solids_and_half_spaces():
    model = arm_model().with_obstacles([Plane(T_world_solid=[0, 0, -5.0])])
    held = model.with_carried([("tool", Sphere(0.05, T_world_solid=[0, 0, 0.1]))])
    q = configurations(model, 20)
    np.testing.assert_array_equal(is_free(held, q) | (clearance(held, q) <= 0), True)
    assert (clearance(held, q) > -1).all()  # rows of the table that nobody needs are in no half-space


def test_carried_may_touch():
    model = arm_model().with_obstacles([Box([2, 2, 2.0], T_world_solid=[0, 0, -0.5], name="table")])
    held = model.with_carried([("tool", Sphere(0.05, name="ball"))], ignore=[("ball", "table")])
    assert ("ball", "table") not in pair_clearances(held, np.zeros(6)).names
    links = {b for a, b in pair_clearances(held, np.zeros(6)).names if a == "ball"}
    one = sorted(links)[0].partition("#")[0]
    less = model.with_carried([("tool", Sphere(0.05, name="ball"))], ignore=[("ball", one)])
    assert not any(a == "ball" and b.partition("#")[0] == one for a, b in pair_clearances(less, np.zeros(6)).names)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["box", "cylinder", "sphere", "capsule", "hull"]))
def test_covers_have_their_solid_inside_and_state_their_excess(seed, kind):
    rng = np.random.default_rng(seed)
    solid = random_solid(rng, kind).at(np.eye(4))
    starts, ends, radii, excess = covering_capsules(solid, "test")

    def outside(x):  # of the cover
        way, t = ends - starts, np.zeros((len(x), len(starts)))
        size = np.maximum(np.sum(way * way, axis=1), 1e-30)
        t = np.clip(np.sum((x[:, None] - starts) * way, axis=-1) / size, 0, 1)
        return (np.linalg.norm(x[:, None] - starts - t[..., None] * way, axis=-1) - radii).min(axis=1)

    assert solid.bounds is not None
    low, high = solid.bounds
    points = rng.uniform(low, high, (400, 3))
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    points = np.concatenate([points, corners])
    inside = np.array([float(solid_distance(Sphere(1e-9, T_world_solid=p), solid).distance) <= 0 for p in points])
    assert (outside(points[inside]) <= 1e-9).all()
    # Points of the cover's surface.
    k = rng.integers(0, len(radii), 400)
    n = rng.normal(size=(400, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    surface = starts[k] + rng.uniform(0, 1, (400, 1)) * (ends - starts)[k] + radii[k, None] * n
    far = np.array([float(solid_distance(Sphere(1e-9, T_world_solid=p), solid).distance) for p in surface])
    assert far.max() <= excess + 1e-8


@pytest.mark.parametrize(
    ("size", "most", "excess"),
    [([0.02, 0.01, 0.04], 2, 0.005), ([0.02, 0.1, 0.02], 4, 0.005), ([0.01, 0.01, 1.0], 1, 0.05)],
)
def test_small_and_slender_boxes_have_few_capsules(size, most, excess):
    found = covering_capsules(Box(size), "test")
    assert len(found[2]) <= most and found[3] <= excess
    assert covering_capsules(Box(size, T_world_solid=[1.0, 2.0, 3.0]), "test")[0] is found[0]  # computed once


# --- derivatives ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("carries", [False, True])
def test_gradients_against_differences(which, carries):
    model = MODELS[which]().with_obstacles(random_scene(8, 9, spread=1.2))
    if carries:
        model = model.with_carried([("tool", Box([0.1, 0.2, 0.15], T_world_solid=[0, 0, 0.1]))])
    q = configurations(model, 40, seed=6)
    found = clearance_gradient(model, q).gradient
    wanted = np.array([differences(lambda x: clearance(model, x), model.robot, x) for x in q])
    error = np.abs(found - wanted).max(axis=1)
    # At kinks, where the nearest pair or feature changes within the step, differences mix two slopes.
    assert np.sort(error)[: int(0.85 * len(q))].max() < 2e-6 * max(1, np.abs(wanted).max())


@kernel(robot=static, body=static, q="nq", start=3, end=3, T_box=(4, 4), half=3)
def _to_box(robot, q, start, end, radius, T_box, half, body=0):
    T = forward_kinematics(robot, q)[body]
    a0, a1 = (T[:3, :3] @ x + T[:3, 3] for x in (start, end))
    return capsule_box(a0, a1, radius, T_box, half).distance


@pytest.mark.slow
def test_gradients_against_the_compilers_reverse_derivative():
    model = arm_model()
    box = Box([0.4, 0.3, 0.2], T_world_solid=random_pose(np.random.default_rng(3), 0.5))
    alone = collision_model(model.robot, [box], shapes=model.shapes, pairs=())
    q = configurations(model, 12, seed=7)
    found = clearance_gradient(alone, q)
    near = pair_clearances(alone, q)
    for x, gradient, clearances in zip(q, found.gradient, near.clearances, strict=True):
        k = model.shapes.names.index(near.names[int(np.argmin(clearances))][0])
        s = model.shapes
        args = (x, s.starts[k], s.ends[k], float(s.radii[k]), box.T_world_solid, box.size / 2)
        wanted = _to_box.bind(model.robot, body=int(s.bodies[k])).jacobian("q")(*args)
        np.testing.assert_allclose(gradient, wanted, atol=1e-12)


def test_a_step_along_the_gradient_leads_away():
    model = arm_model().with_obstacles(random_scene(12, 6))
    q = configurations(model, 60)
    d, g = clearance_gradient(model, q)
    size = np.sum(g * g, axis=1)
    moved = aj.integrate(model.robot, q, 1e-4 * g)
    good = clearance(model, moved) > d + 0.5e-4 * size
    assert good[size > 1e-3].mean() > 0.95


# --- pairs and words --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", MODELS)
def test_nearest_pairs_have_their_points(which):
    model = MODELS[which]().with_obstacles(random_scene(15, 8))
    q = configurations(model, 30, seed=8)
    near = nearest_pair(model, q)
    np.testing.assert_allclose(near.point_b - near.point_a, near.distance[:, None] * near.normal, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(near.normal, axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(near.clearance, clearance(model, q), atol=EPS)
    names = {*model.shapes.links, *model.obstacle_names}
    assert set(near.a) | set(near.b) <= names
    for b, point in zip(near.b, near.point_b, strict=True):
        if b in model.obstacle_names:  # the point is on the surface of the obstacle
            on = float(solid_distance(Sphere(1e-9, T_world_solid=point), model.obstacles[b]).distance)
            assert abs(on) < 1e-6


def test_contacts_in_words():
    model = arm_model()
    q = np.zeros(6)
    link = model.shapes.links[-1]
    k = len(model.shapes) - 1
    T = forward_kinematics(model.robot, q)[model.shapes.bodies[k]]
    at = T[:3, :3] @ model.shapes.ends[k] + T[:3, 3]
    ball = Sphere(0.1, T_world_solid=at, name="shelf")
    hit = collision_model(model.robot, [ball], shapes=model.shapes, pairs=())
    found = contacts(hit, q)
    assert found and not is_free(hit, q)
    assert f"link '{link}' is {1e3 * (0.1 + model.shapes.radii[k]):.3g} mm inside 'shelf'" in found
    assert [c.distance for c in found] == sorted(c.distance for c in found)
    assert {(c.a, c.b) for c in found} == {
        (a.partition("#")[0], b)
        for c, (a, b) in zip(*pair_clearances(hit, q), strict=True) if c <= 0
    }  # fmt: skip
    far = nearest_pair(hit.with_obstacles([ball.at(at + np.array([0, 0, 1.0]))]), q)
    close = hit.with_obstacles([ball.at(at + np.array([0, 0, 1.0]))], margin=float(far.distance) + 0.01)
    (words, *_) = contacts(close, q)
    assert "from 'shelf', which is less than the margin" in words and not is_free(close, q)
    assert words.margin == pytest.approx(words.distance + 0.01)


def test_contacts_of_the_robot_with_itself():
    model = arm_model()
    q = configurations(model, 4000)
    bad = q[~is_free(model, q)]
    assert len(bad)
    found = contacts(model, bad[0])
    assert found and all(" inside link '" in c for c in found)


# --- what is compiled, and what is refused ----------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_compiles_when_obstacles_move_come_and_go(monkeypatch):
    model = arm_model()
    q = configurations(model, 10)
    everything = (is_free, clearance, clearance_gradient, pair_clearances)
    for f in everything:
        f(model.with_obstacles(random_scene(0, 12)), q)
    held = model.with_carried([("tool", Sphere(0.1))])
    for f in everything:
        f(held.with_obstacles(random_scene(0, 12)), q)
    compiled = []
    compile_ir = jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text: compiled.append(text) or compile_ir(text))
    for seed in range(4):
        for count in (0, 1, 3, 17, 40):
            for f in everything:
                f(model.with_obstacles(random_scene(seed, count)), q)
                f(held.with_obstacles(random_scene(seed, count), margin=0.01), q[:5])
    for f in everything:
        f(model.with_carried([("link3", Box([0.1, 0.1, 0.3])), ("tool", Cylinder(0.1, 0.2))]), q)
    assert not compiled


def test_bad_numbers_stay_in_their_sample():
    model = arm_model().with_obstacles(random_scene(3, 8))
    q = configurations(model, 9)
    bad = q.copy()
    bad[2, 1], bad[5, 0] = np.nan, np.inf
    good = [0, 1, 3, 4, 6, 7, 8]
    assert not is_free(model, bad)[[2, 5]].any()
    assert np.isnan(clearance(model, bad)[[2, 5]]).all()
    assert np.isnan(clearance_gradient(model, bad).gradient[[2, 5]]).all()
    for f in (is_free, clearance, lambda m, x: clearance_gradient(m, x).gradient):
        np.testing.assert_array_equal(f(model, bad)[good], f(model, q)[good])
    assert np.asarray(nearest_pair(model, bad).a)[2] == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"obstacles": Sphere(0.1)}, "a list of solids, got one solid"),
        ({"obstacles": 3}, "a Scene or a list of solids, got int"),
        ({"obstacles": [Sphere(0.1)], "margin": -0.1}, "'margin' must be one length"),
        ({"obstacles": [Sphere(0.1)], "margin": [0.1, 0.2]}, "one for each of the 1 obstacles"),
        ({"obstacles": [Sphere(0.1)], "margin": "wide"}, "'margin' must be"),
        ({"obstacles": [Sphere(0.1, name="a")], "margin": {"b": 0.1}}, "no solid 'b'"),
        ({"shapes": "capsules"}, "must be LinkShapes"),
        ({"pairs": [("link1", "link99")]}, "'link99'"),
        ({"pairs": [(0, 17)]}, "bodies are names or numbers"),
        ({"pairs": [0]}, "must be pairs of bodies"),
        ({"carried": [("nowhere", Sphere(0.1))]}, "no frame 'nowhere'"),
        ({"carried": ["tool"]}, "pairs \\(frame of the robot, solid\\)"),
        ({"carried": [("tool", Plane())]}, "cannot carry a half-space"),
        ({"ignore": [("link1", "ghost")]}, "'ghost'"),
        ({"ignore": [("ghost", "link1")]}, "no part of the robot"),
        ({"ignore": "link1"}, "pairs of names"),
        ({"T_world_base": np.ones((4, 4))}, "rigid motion"),
    ],
)
def test_bad_models_are_refused(options, words):
    model = arm_model()
    with pytest.raises(ArgumentError, match=words):
        collision_model(model.robot, **{"shapes": model.shapes, "pairs": ()} | options)


def test_bad_calls_are_refused():
    model = arm_model()
    with pytest.raises(ArgumentError, match="needs a Robot"):
        collision_model("panda")  # type: ignore[arg-type]
    for f in (is_free, clearance, clearance_gradient, nearest_pair, pair_clearances, contacts):
        with pytest.raises(ArgumentError, match="must be a CollisionModel"):
            f(model.robot, np.zeros(6))  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match=r"\(\.\.\., 6\) is needed"):
            f(model, np.zeros(5))
        with pytest.raises(ArgumentError):
            f(model, "home")
    with pytest.raises(ArgumentError, match="one configuration"):
        contacts(model, np.zeros((2, 6)))
    uneven = model.with_obstacles([Sphere(0.1), Sphere(0.2)], margin=[0.1, 0.2])
    with pytest.raises(ArgumentError, match="several margins"):
        uneven.with_obstacles([Sphere(0.1)])
    wrong = LinkShapes(np.array([9]), np.zeros((1, 3)), np.ones((1, 3)), np.ones(1), np.zeros(1), ("x",))
    with pytest.raises(ArgumentError, match="has bodies 9 to 9"):
        collision_model(model.robot, shapes=wrong)


def test_a_model_tells_what_it_is():
    model = arm_model().with_obstacles(random_scene(0, 5)).with_carried([("tool", Capsule(0.1, 0.2))])
    assert repr(model).startswith("<CollisionModel of 'puma560': ")
    assert repr(model).endswith("5 obstacles, 1 carried>")
