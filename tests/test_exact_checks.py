"""Exact checks by coal, and Pinocchio with coal as a peer of whole collision models."""

import coal
import numpy as np
import pinocchio as pin
import pytest
from support.collision_models import random_scene
from support.robots import joint_ids, pinocchio_model, pinocchio_q, urdf

import adjoint as aj
from adjoint import ArgumentError
from adjoint.collision.checking import contacts, is_free
from adjoint.collision.clearances import clearance
from adjoint.collision.collision_models import CollisionModel, collision_model
from adjoint.collision.exact_checks import exact_contacts, exact_distance
from adjoint.collision.shapes_of_links import LinkShapes
from adjoint.sensing import Box, Capsule, Mesh, Plane, Scene, Sphere

PRIMITIVES = ("sphere", "capsule", "box", "cylinder")


@pytest.fixture(scope="module")
def panda() -> CollisionModel:
    robot = aj.load(urdf("panda"))
    return collision_model(robot.locked({robot.joint_names[7]: 0.02}))


def geometry(model: CollisionModel, pin_model):
    """The shapes, obstacles and pairs of a model for Pinocchio: capsules and solids of coal."""
    found = pin.GeometryModel()
    ids = [0, *joint_ids(pin_model, model.robot)]
    for k, (start, end) in enumerate(zip(model.shapes.starts, model.shapes.ends, strict=True)):
        way = end - start
        length = np.linalg.norm(way)
        turn = (
            pin.Quaternion.FromTwoVectors(np.array([0, 0, 1.0]), way / length) if length else pin.Quaternion.Identity()
        )
        solid = coal.Capsule(model.shapes.radii[k], length)
        place = pin.SE3(turn.toRotationMatrix(), (start + end) / 2)
        found.addGeometryObject(pin.GeometryObject(f"shape{k}", int(ids[model.shapes.bodies[k] + 1]), place, solid))
    for k, solid in enumerate(model.obstacles):
        T = solid.T_world_solid
        shape = {
            Sphere: lambda s: coal.Sphere(s.radius),
            Box: lambda s: coal.Box(*s.size),
            Capsule: lambda s: coal.Capsule(s.radius, s.length),
        }.get(type(solid), lambda s: coal.Cylinder(s.radius, s.length))(solid)
        found.addGeometryObject(pin.GeometryObject(f"obstacle{k}", 0, pin.SE3(T[:3, :3], T[:3, 3]), shape))
    count = len(model.shapes)
    for i, j in model._plan.pairs:
        found.addCollisionPair(pin.CollisionPair(int(i), int(j)))
    for i in np.flatnonzero(model.shapes.bodies >= 0):
        for k in range(len(model.obstacles)):
            found.addCollisionPair(pin.CollisionPair(int(i), count + k))
    return found


@pytest.mark.slow
def test_pinocchio_and_coal_find_the_same(panda):
    model = panda.with_obstacles(random_scene(40, 20, PRIMITIVES, spread=0.8))
    full = pinocchio_model(urdf("panda"))
    locked = pin.buildReducedModel(full, [full.getJointId(n) for n in full.names if "finger" in n], pin.neutral(full))
    data, shapes = locked.createData(), geometry(model, locked)
    peer = pin.GeometryData(shapes)
    q = aj.random_configuration(model.robot, 60, rng=0)
    found, free = clearance(model, q), is_free(model, q)
    for x, d, f in zip(q, found, free, strict=True):
        at = pinocchio_q(locked, model.robot, x)
        hits = pin.computeCollisions(locked, data, shapes, peer, at, False)
        pin.computeDistances(locked, data, shapes, peer, at)
        wanted = min(r.min_distance for r in peer.distanceResults)
        assert abs(d) < 1e-6 or f == (not hits)
        # coal ends its iterations at 1e-6, and depths of cylinders are less exact
        assert d == pytest.approx(wanted, abs=2e-6 if wanted > 0 else 2e-3)
    assert 0 < free.sum() < len(q)


@pytest.mark.slow
def test_meshes_are_farther_away_than_their_shapes(panda):
    scene = random_scene(42, 12, PRIMITIVES, spread=0.5)
    model = collision_model(panda.robot, scene, shapes=panda.shapes, pairs=())
    q = aj.random_configuration(model.robot, 25, rng=1)
    exact, shapes = exact_distance(model, q), clearance(model, q)
    outside = exact > 0
    assert (exact[outside] >= shapes[outside] - 1e-6).all()
    assert (exact[outside] <= shapes[outside] + 2 * model.shapes.excess.max() + 1e-6).all()
    assert 3 < outside.sum() < 25
    for x, d in zip(q, exact, strict=True):
        found = exact_contacts(model, x)
        assert bool(found) == (d <= 0)
        assert {(c.a, c.b) for c in found} <= {(c.a, c.b) for c in contacts(model, x)}
    # With itself, too, the distance is the least one of all meshes of the pairs.
    whole = exact_distance(panda.with_obstacles(scene), q)
    np.testing.assert_allclose(whole, np.minimum(exact, exact_distance(panda, q)), atol=1e-9)


def test_shapes_of_no_link_have_no_mesh():
    rod = aj.Robot.builder("rod").link("base").link("arm").joint("turn", "revolute", "base", "arm", axis=(0, 0, 1))
    shapes = LinkShapes(np.array([0]), np.zeros((1, 3)), np.eye(3)[:1], np.array([0.05]), np.zeros(1), ("glove",))
    model = collision_model(rod.build(), [Sphere(0.1, T_world_solid=[0, 1.0, 0.5])], shapes=shapes, pairs=())
    with pytest.raises(ArgumentError, match="need a model whose shapes are those of link_shapes"):
        exact_distance(model.with_obstacles(model.obstacles), np.zeros(1))


@pytest.mark.slow
def test_a_mesh_with_a_hole_and_carried_boxes(panda):
    model = panda
    q = np.array([0, -0.4, 0, -2.0, 0, 1.6, 0.8])
    hand = aj.forward_kinematics(model.robot, q, "panda_hand")
    # Four walls around the hand: their hull has the hand in it, and they do not touch it.
    walls = [Box([0.02, 0.6, 0.2], T_world_solid=hand @ _at(s * 0.29, 0, 0.1)) for s in (-1, 1)]
    walls += [Box([0.6, 0.02, 0.2], T_world_solid=hand @ _at(0, s * 0.29, 0.1)) for s in (-1, 1)]
    vertices, faces = _joined(walls)
    cage = Mesh((vertices, faces), name="cage")
    caged = model.with_obstacles([cage])
    assert not is_free(caged, q) and contacts(caged, q)
    assert exact_distance(caged, q) > 0 and exact_contacts(caged, q) == []
    held = caged.with_carried([("panda_hand", Box([0.1, 0.1, 0.1], T_world_solid=[0, 0, 0.15], name="brick"))])
    assert exact_contacts(held, q) == []
    wide = caged.with_carried([("panda_hand", Box([0.7, 0.1, 0.1], T_world_solid=[0, 0, 0.15], name="plank"))])
    (contact,) = exact_contacts(wide, q)
    assert (contact.a, contact.b) == ("plank", "cage")


def _at(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def _joined(boxes):
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    points = [(corners * b.size) @ b.T_world_solid[:3, :3].T + b.T_world_solid[:3, 3] for b in boxes]
    return np.concatenate(points), np.concatenate([faces + 8 * k for k in range(len(boxes))])


def test_margins_and_half_spaces(panda):
    q = np.array([0, -0.4, 0, -2.0, 0, 1.6, 0.8])
    floor = Scene([Plane(T_world_solid=[0, 0, -0.3], name="floor")])
    near = panda.with_obstacles(floor)
    d = exact_distance(near, q)
    assert d > 0
    wide = panda.with_obstacles(floor, margin=2.0)
    assert exact_contacts(wide, q)
    assert "margin" in exact_contacts(wide, q)[0]
    assert exact_distance(wide, q) < 0


def test_bad_calls_are_refused(panda):
    with pytest.raises(ArgumentError, match="must be a CollisionModel"):
        exact_distance(panda.robot, np.zeros(7))
    with pytest.raises(ArgumentError, match="one configuration"):
        exact_contacts(panda, np.zeros((2, 7)))
    with pytest.raises(ArgumentError, match=r"\(\.\.\., 7\)"):
        exact_contacts(panda, np.zeros(6))
    assert np.isnan(exact_distance(panda, np.full(7, np.nan)))
