"""Hypothesize and test: straight paths that bend around enclosing spheres, and honest failures in clutter."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision import clearance, edges_free, is_free
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing import Box, Capsule, Cylinder, Plane, Sphere
from adjoint.world.motion.hypotheses import enclosing_sphere, hypothesize_and_test

from .support.gantries import collision_model, flat_arm, gantry


@pytest.mark.parametrize(
    "solid, radius",
    [
        (Sphere(0.3), 0.3),
        (Box([0.2, 0.4, 0.6]), np.linalg.norm([0.1, 0.2, 0.3])),
        (Cylinder(0.3, 0.8), 0.5),
        (Capsule(0.1, 0.6), 0.4),
    ],
)
def test_enclosing_spheres_enclose(solid, radius):
    T = se3.exp(np.array([0.3, -0.5, 0.8, 1.0, 2, 3]))
    found = enclosing_sphere(solid.at(T))
    assert found is not None
    centre, r = found
    assert centre == pytest.approx(T[:3, 3])
    # A cylinder and a capsule are enclosed by way of the corners of a box, or of two balls.
    assert radius - 1e-12 <= r <= radius * 1.2
    assert enclosing_sphere(Plane()) is None


@pytest.fixture(scope="module")
def ball():
    return gantry(0.05)


def test_a_free_straight_path_is_the_first_hypothesis(ball):
    model = collision_model(ball, [Sphere(0.2, T_world_solid=[0, 1, 0])])
    found = hypothesize_and_test(model, [-1, 0, 0], [1, 0, 0])
    assert found.found and len(found.path) == 2 and found.trials == () and found.length == 2


@pytest.mark.parametrize("y", [0.0, 0.05, -0.15])
def test_a_ball_passes_beside_the_enclosing_sphere(ball, y):
    post = Box([0.3, 0.3, 0.3], T_world_solid=[0, y, 0], name="post")
    model = collision_model(ball, [post])
    found = hypothesize_and_test(model, [-1, 0, 0], [1, 0, 0], distance=0.03)
    assert found.found and not found.reason
    assert edges_free(model, found.path[:-1], found.path[1:], resolution=0.005).all()
    assert found.path[0].tolist() == [-1, 0, 0] and found.path[-1].tolist() == [1, 0, 0]
    assert "'post'" in found.trials[0]
    assert clearance(model, found.path[1]) >= 0.03  # the waypoint is beside the post
    assert 2 < found.length < 3


def test_two_obstacles_are_passed_one_after_the_other(ball):
    solids = [Sphere(0.25, T_world_solid=[x, 0.02, 0], name=f"{x:g}") for x in (-0.9, 0.9)]
    model = collision_model(ball, solids)
    found = hypothesize_and_test(model, [-2, 0, 0], [2, 0, 0])
    assert found.found and len(found.path) >= 4
    assert {"'-0.9'" in found.trials[0], any("'0.9'" in t for t in found.trials)} == {True}
    assert clearance(model, np.linspace(found.path[:-1], found.path[1:], 200).reshape(-1, 3)).min() > 0


def test_half_spaces_push_along_their_normal(ball):
    hill = Sphere(0.3, T_world_solid=[0, 0, 0], name="hill")
    model = collision_model(ball, [hill, Plane(T_world_solid=[0, 0, -0.1], name="floor")])
    found = hypothesize_and_test(model, [-1, 0, 0], [1, 0, 0])
    assert found.found and found.path[:, 2].min() > -0.05


def test_clutter_is_told_honestly(ball):
    """A wall of balls with gaps that are too narrow: the way around one ball leads into the next."""
    wall = [
        Sphere(0.12, T_world_solid=[0, y, z], name=f"wall {k}")
        for k, (y, z) in enumerate((y, z) for y in np.arange(-3.2, 3.3, 0.2) for z in np.arange(-3.2, 3.3, 0.2))
    ]
    model = collision_model(ball, wall)
    found = hypothesize_and_test(model, [-1, 0, 0], [1, 0, 0], trials=6)
    assert not found.found
    assert "'wall" in found.reason and "plan_motion" in found.reason and "corrections" in found.reason
    assert 1 <= len(found.trials) <= 7 and all("wall" in t for t in found.trials)
    assert not is_free(model, np.linspace(found.path[:-1], found.path[1:], 200).reshape(-1, 3)).all()


@pytest.mark.slow
def test_an_arm_passes_a_ball():
    robot = aj.robots.puma560()
    q = np.array([0.6, -0.9, 0.5, 0.0, 0.4, 0.0])
    x = aj.forward_kinematics(robot, q, "tool")[:3, 3]
    model = collision_model(robot, [Sphere(0.08, T_world_solid=x, name="ball")], pairs=())
    way = np.array([0.8, 0, 0, 0, 0, 0])
    found = hypothesize_and_test(model, q - way, q + way)
    assert found.found and len(found.path) > 2
    assert edges_free(model, found.path[:-1], found.path[1:], resolution=0.005).all()
    elsewhere = se3.exp(np.array([0, 0, 0.7, 1.0, -2, 0.3]))
    moved = Sphere(0.08, T_world_solid=elsewhere @ np.append(x, 1.0) @ np.eye(4)[:, :3], name="ball")
    model = collision_model(robot, [moved], pairs=(), T_world_base=elsewhere)
    again = hypothesize_and_test(model, q - way, q + way)
    assert again.found and again.length == pytest.approx(found.length, rel=1e-6)


@pytest.mark.slow
def test_turning_joints_take_the_short_way():
    arm = flat_arm()
    model = collision_model(arm, [])
    found = hypothesize_and_test(model, [3.0, 0.1], [-3.0, 0.1])
    assert found.found and found.length == pytest.approx(2 * np.pi - 6)


def test_bad_input_is_named(ball):
    model = collision_model(ball, [Sphere(0.2, name="post")])
    with pytest.raises(ArgumentError, match=r"start: link 'ball' is .* mm inside 'post'"):
        hypothesize_and_test(model, [0, 0, 0.1], [1, 0, 0])
    with pytest.raises(ArgumentError, match="goal: link 'ball'"):
        hypothesize_and_test(model, [1, 0, 0], [0, 0, 0.1])
    with pytest.raises(ArgumentError, match="must be a CollisionModel"):
        hypothesize_and_test(ball, [1, 0, 0], [0, 0, 1])
    with pytest.raises(ArgumentError, match="'goal'"):
        hypothesize_and_test(model, [1, 0, 0], [0, 0])
    with pytest.raises(ArgumentError, match="goal must be one configuration"):
        hypothesize_and_test(model, [1, 0, 0], [np.nan, 0, 1])
    with pytest.raises(ArgumentError, match="resolution"):
        hypothesize_and_test(model, [1, 0, 0], [0, 0, 1], resolution=0)


def test_ends_outside_of_the_limits_are_refused():
    robot = aj.robots.puma560()
    model, goal = collision_model(robot, [], pairs=()), np.zeros(6)
    goal[4] = robot.lower[4] - 0.1
    with pytest.raises(ArgumentError, match=r"hypothesize_and_test: goal leaves the limits of the robot: q\[4\] is"):
        hypothesize_and_test(model, np.zeros(6), goal)
