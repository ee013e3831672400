"""Distances of parts as tables, points that touch, and the wrench of contact at rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.program.running.touching import ContactNumbers, touch_wrench
from adjoint.program.running.touching_points import finger_points, part_points
from adjoint.program.running.touching_shapes import moved_table, part_table, surface_distances
from adjoint.sensing.scene import Box, Capsule, Cylinder, Plane, Sphere
from adjoint.world import (
    Gripper,
    World,
    cone,
    cuboid,
    cylinder,
    difference,
    hemisphere,
    intersection,
    lamination,
    revolution,
    sphere,
    union,
    wedge,
)
from adjoint.world.parts.surface_queries import inside_mesh

Q = np.array([0.2, -0.6, 0.5, 0.3, 0.7, -0.4])
PLATE = difference(cuboid(0.1, 0.08, 0.03), cylinder(0.0066, 0.05), at=[0.01, 0, 0])
PARTS = {
    "plate": PLATE,
    "bolt": union(cylinder(0.005, 0.04), cylinder(0.01, 0.006), at=[0, 0, 0.02]),
    "hexagon": cylinder(0.01, 0.02, facets=6),
    "cone": cone(0.02, 0.05, 0.01),
    "tip": cone(0.02, 0.05),
    "wedge": wedge(0.05, 0.04, 0.03),
    "dome": hemisphere(0.03),
    "lens": intersection(sphere(0.03), sphere(0.03), at=[0.02, 0, 0]),
    "two holes": difference(PLATE, cylinder(0.01, 0.1), at=[-0.02, 0, 0]),
    "a block without an angle": difference(
        cuboid(0.06, 0.06, 0.06), union(cuboid(0.04, 0.04, 0.04), cuboid(0.02, 0.02, 0.1), at=[0.02, 0.02, 0]),
        at=[0.02, 0.02, 0.02],
    ),
    "lamination": lamination([[0, 0], [0.04, 0], [0.04, 0.01], [0.01, 0.01], [0.01, 0.04], [0, 0.04]], 0.02),
    "revolution": revolution([[0.01, 0], [0.03, 0], [0.03, 0.01], [0.01, 0.02]]),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_signs_are_those_of_the_mesh(name):
    part = PARTS[name].at(se3.exp(np.array([0.3, -0.2, 0.5, 0.01, 0.02, -0.01])))
    vertices = part.mesh.vertices
    low, high = vertices.min(axis=0) - 0.005, vertices.max(axis=0) + 0.005
    x = np.random.default_rng(1).uniform(low, high, (300, 3))
    d = surface_distances(part_table(part), x)
    clear = np.abs(d) > 2e-3 * np.ptp(vertices, axis=0).max()  # meshes of round parts have facets
    inside = inside_mesh(part.mesh, x)
    solid = name not in ("revolution",)  # which convex pieces with facets stand for
    assert ((d < 0) == inside)[clear & (solid | ~inside)].all() and clear.sum() > 150


@pytest.mark.parametrize(
    "solid",
    [Box([0.1, 0.05, 0.03]), Cylinder(0.02, 0.06), Sphere(0.03), Capsule(0.01, 0.05), Plane()],
    ids=lambda s: type(s).__name__,
)
def test_distances_in_front_of_faces_are_exact(solid):
    T = se3.exp(np.array([0.5, 0.1, -0.7, 0.1, 0.2, 0.3]))
    table = moved_table(part_table(solid), T)
    x = np.random.default_rng(2).uniform(-0.15, 0.15, (200, 3)) + T[:3, 3]
    d = surface_distances(table, x)
    exact = (
        np.array([aj.collision.solid_distance(solid.at(T), Sphere(1e-9, T_world_solid=p)).distance for p in x]) + 1e-9
    )
    local = (x - T[:3, 3]) @ T[:3, :3]
    edges = np.zeros(len(x), bool)
    if isinstance(solid, Box):
        edges = (np.abs(local) > solid.size / 2).sum(axis=1) > 1
    if isinstance(solid, Cylinder):
        edges = (np.hypot(*local[:, :2].T) > solid.radius) & (np.abs(local[:, 2]) > solid.length / 2)
    outside = (d > 0) & ~edges
    np.testing.assert_allclose(d[outside], exact[outside], atol=1e-7)
    assert (d[edges] <= exact[edges] + 1e-7).all() and outside.sum() > 10


@given(st.floats(-0.0065, 0.0065), st.floats(-0.0149, 0.0149))
def test_in_a_bore_the_wall_is_as_far_as_the_clearance(r, z):
    d = surface_distances(part_table(PLATE), np.array([[0.01 + r, 0.0, z]]))[0]
    assert abs(d - (0.0066 - abs(r))) < 1e-12


def test_points_lie_on_the_surface_and_rims_are_exact():
    for name, part in PARTS.items():
        points = part_points(part)
        d = surface_distances(part_table(part), points[:, :3]) + points[:, 3]
        assert len(points) >= 1 and np.abs(d).max() < 2e-3, name
    pin = part_points(cylinder(0.006, 0.04))
    rims = np.abs(np.abs(pin[:, 2]) - 0.02) < 1e-12
    assert rims.sum() == 32 and np.allclose(np.hypot(*pin[:, :2].T), 0.006, atol=1e-15)


def pressed(depth, part=None, block=None):
    """A world in which a pin in the hand is pressed into a block, whose face is across the pin, and its tool pose."""
    w = World().add_robot("arm", aj.robots.puma560(), q=Q, at=[0.1, 0.2, 0.3])
    T = w.pose("arm.tool")
    w = w.add("pin", part or cylinder(0.006, 0.04), at=[0, 0, 0.01], parent="arm.tool")
    place = T.copy()
    place[:3, 3] += T[:3, 2] * (0.03 - depth + 0.05)
    return w.add("block", block or cuboid(0.1, 0.1, 0.1), at=place), T


@pytest.mark.parametrize("depth", [1e-5, 1e-3])
def test_a_peg_that_is_pressed_in_feels_each_of_its_points(depth):
    w, T = pressed(depth)
    F = touch_wrench(w, "arm", Q[None], numbers=ContactNumbers(stiffness=2e3))[0]
    np.testing.assert_allclose(T[:3, :3].T @ F[3:], [0, 0, -16 * 2e3 * depth], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(F[:3], 0, atol=1e-9)
    # The lower face of a cuboid has four corners, four middles of edges, and three points inside.
    w, T = pressed(depth, cuboid(0.01, 0.01, 0.04))
    assert abs((T[:3, :3].T @ touch_wrench(w, "arm", Q[None])[0, 3:])[2] + 11 * 5e3 * depth) < 1e-9


def test_a_plate_is_felt_on_a_post_that_none_of_its_corners_is_above():
    w, T = pressed(1e-3, cuboid(0.2, 0.2, 0.04), cuboid(0.03, 0.03, 0.1))
    F = touch_wrench(w, "arm", Q[None])[0]
    assert (T[:3, :3].T @ F[3:])[2] < -4.0 and np.abs(F[:3]).max() < 1e-9  # the middle of its face, right above it


def test_moments_are_about_the_tool():
    w, T = pressed(1e-3, block=cuboid(0.1, 0.1, 0.1).at([0.05, 0, 0]))  # half of the rim is over the block
    F = touch_wrench(w, "arm", Q[None])[0]
    f, m = T[:3, :3].T @ F[3:], T[:3, :3].T @ F[:3]
    angles = 2 * np.pi * np.arange(16) / 16
    on = np.cos(angles) > 1e-9
    count, arm = on.sum(), 0.006 * np.cos(angles[on]).sum()
    assert abs(f[2] + count * 5.0) < 1e-6 or abs(f[2] + (count + 2) * 5.0) < 1e-6
    assert abs(m[1] - arm * 5.0) < 1e-6  # (x, 0, z) × (0, 0, -f) turns about y


def test_in_its_bore_a_peg_feels_nothing_and_beside_it_the_wall():
    bored = difference(cuboid(0.1, 0.1, 0.1), cylinder(0.0062, 0.2))
    w, T = pressed(0.02, block=bored)
    np.testing.assert_allclose(touch_wrench(w, "arm", Q[None]), 0)
    w = w.move("block", _along(w.pose("block"), T[:3, 0] * 4e-4))
    f = T[:3, :3].T @ touch_wrench(w, "arm", Q[None])[0, 3:]
    assert f[0] > 1e-3 and abs(f[1]) < 1e-9 and abs(f[2]) < 1e-9


def _along(T, by):
    moved = np.array(T)
    moved[:3, 3] += by
    return moved


def test_many_configurations_are_one_call_and_far_ones_feel_nothing():
    w, _ = pressed(1e-3)
    ways = np.stack([Q, Q + 0.3, Q, Q - 0.3])
    F = touch_wrench(w, "arm", ways)
    assert F.shape == (4, 6) and np.array_equal(F[0], F[2]) and not F[[1, 3]].any()
    np.testing.assert_array_equal(F[0], touch_wrench(w, "arm", Q[None])[0])
    assert touch_wrench(w, "arm", np.zeros((0, 6))).shape == (0, 6)


def test_fingertips_touch_as_well():
    hand = Gripper(opening=0.04, breadth=0.02, thickness=0.01, depth=0.05, tip=0.01, T_tool_grip=np.eye(4))
    assert len(finger_points(hand)) == 8
    w = World().add_robot("arm", aj.robots.puma560(), q=Q, gripper=hand)
    T = w.pose("arm.tool")
    w = w.add("block", cuboid(0.1, 0.1, 0.1), at=_along(T, T[:3, 2] * (0.01 - 1e-3 + 0.05)))
    f = T[:3, :3].T @ touch_wrench(w, "arm", Q[None])[0, 3:]
    np.testing.assert_allclose(f, [0, 0, -8 * 5.0], atol=1e-9)


def test_a_floor_that_never_ends_is_touched():
    w = World().add_robot("arm", aj.robots.puma560(), q=Q).add("floor", Plane(), at=[0, 0, -0.5])
    w = w.add("pin", sphere(0.006), at=[0, 0, 0.01], parent="arm.tool")
    low = w.pose("pin")[2, 3]
    w = w.move("floor", [0, 0, low - 0.005])
    f = touch_wrench(w, "arm", Q[None])[0, 3:]
    np.testing.assert_allclose(f, [0, 0, 5e3 * 1e-3], atol=1e-9)


def test_bad_arguments_are_named():
    w, _ = pressed(1e-3)
    with pytest.raises(ArgumentError, match="finite configurations"):
        touch_wrench(w, "arm", Q)
    with pytest.raises(ArgumentError, match="no robot"):
        touch_wrench(w, "leg", Q[None])
    with pytest.raises(ArgumentError, match="must be a World"):
        touch_wrench("w", "arm", Q[None])  # type: ignore[arg-type]
