"""`smooth_path`: shorter and smoother paths that stay free, with fixed ends, inside limits."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import adjoint as aj
from adjoint.collision import clearance, edges_free, is_free
from adjoint.errors import ArgumentError
from adjoint.sensing import Box, Cylinder, Plane, Sphere
from adjoint.world.motion.path_checks import spread
from adjoint.world.motion.smoothing import _Cost, smooth_path

from .support.gantries import collision_model, flat_arm, gantry
from .support.planning_scenes import panda, scene_of
from .support.robots import urdf


@pytest.fixture(scope="module")
def ball_model():
    post = Cylinder(0.2, 2.0, T_world_solid=[0, 0, 0], name="post")
    return collision_model(gantry(0.05), [post, Plane(T_world_solid=[0, 0, -1.5])])


ZIGZAG = np.array(
    [[-1, 0, 0], [-0.8, 0.5, 0.2], [-0.4, 0.1, -0.3], [-0.2, 0.6, 0.3], [0.3, 0.4, 0.0], [0.2, 0.7, 0], [1, 0, 0]]
)


def assert_good(model, found, path):
    assert np.array_equal(found.path[0], path[0]) and np.array_equal(found.path[-1], path[-1])
    assert edges_free(model, found.path[:-1], found.path[1:], resolution=0.002).all()
    assert found.after.length < found.before.length
    assert found.after.smoothness < 0.1 * found.before.smoothness
    robot = model.robot
    assert (found.path >= robot.lower - 1e-12).all() and (found.path <= robot.upper + 1e-12).all()


def test_a_zigzag_becomes_smooth(ball_model):
    found = smooth_path(ball_model, ZIGZAG, clearance=0.1)
    assert found.improved and not found.reason
    assert_good(ball_model, found, ZIGZAG)
    assert found.after.clearance > 0
    assert found.after.length < 0.6 * found.before.length


def test_measures_are_what_they_say(ball_model):
    found = smooth_path(ball_model, ZIGZAG, clearance=0.1)
    for path, measures in ((ZIGZAG, found.before), (found.path, found.after)):
        dense = np.linspace(path[:-1], path[1:], 60, axis=1).reshape(-1, 3)
        assert measures.length == pytest.approx(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        assert measures.clearance == pytest.approx(clearance(ball_model, dense).min(), abs=5e-3)
    line = smooth_path(ball_model, [[-1, 1, 0], [0, 1, 0], [1, 1, 0]])
    assert line.before.smoothness < 1e-6  # a straight path


def test_without_obstacles_the_result_is_straight():
    model = collision_model(gantry(), [])
    found = smooth_path(model, ZIGZAG)
    assert found.improved and found.after.length == pytest.approx(2.0, rel=1e-3)


def test_the_gradient_is_that_of_the_cost(ball_model):
    n = 9
    cost = _Cost(ball_model, ZIGZAG[0], ZIGZAG[-1], n, 0.3, 40.0)
    x = spread(ZIGZAG, n)[1:-1]
    _, gradient, _ = cost.at(x)
    numeric = approx_fprime(x.ravel(), lambda y: cost.at(y.reshape(x.shape))[0], 1e-7)
    assert gradient.ravel() == pytest.approx(numeric, rel=1e-3, abs=1e-3)


def test_covariant_steps_solve_the_smooth_part_at_once():
    n = 20
    model = collision_model(gantry(), [])
    cost = _Cost(model, np.zeros(3), np.ones(3), n, 0.1, 0.0)
    x = np.random.default_rng(0).normal(size=(n - 2, 3))
    _, gradient, _ = cost.at(x)
    straight = np.linspace(0, 1, n)[1:-1, None] * np.ones(3)
    assert x - cost.covariant(gradient) == pytest.approx(straight, abs=1e-9)  # Newton's step of a quadratic cost


def test_a_path_that_cannot_be_better_is_kept(ball_model):
    line = np.array([[-1, 1, 0], [1, 1.0, 0]])
    found = smooth_path(ball_model, line)
    assert np.array_equal(found.path, line) or found.after.length <= found.before.length + 1e-9
    still = smooth_path(ball_model, [[1, 1, 0], [1, 1, 0]])
    assert not still.improved and "does not move" in still.reason


@pytest.mark.slow
def test_limits_are_kept():
    robot = aj.robots.puma560()
    model = collision_model(robot, [Box([0.3, 0.3, 0.3], T_world_solid=[0, 0, 2.5])], pairs=())
    edge = np.array([0.0, robot.upper[1], 0, 0, 0, 0])
    path = np.array(
        [
            edge,
            edge - [0.5, 0.4, 0, 0, 0, 0],
            edge + np.array([0.9, 0, 0.3, 0, 0, 0]),
            edge + np.array([1.0, 0, 0, 0, 0, 0]),
        ]
    )
    found = smooth_path(model, path)
    assert found.improved
    assert_good(model, found, path)


@pytest.mark.slow
def test_turning_joints_and_links_of_an_arm():
    arm = flat_arm()
    model = collision_model(arm, [Sphere(0.2, T_world_solid=[1.2, 1.2, 0])])
    path = np.array([[0.0, 0.3], [-0.3, 1.0], [0.2, 2.2], [1.3, 1.8], [1.6, 1.5], [2.2, 0.4 + 2 * np.pi]])
    assert is_free(model, spread(path[:-1], 200)).all()
    found = smooth_path(model, path)
    assert found.improved and found.after.length < found.before.length < 8  # full turns are left out
    assert edges_free(model, found.path[:-1], found.path[1:], resolution=0.005).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shelf"])
def test_paths_of_a_panda_pay(name):
    """Random free corners, joined by free edges: paths as bad as a planner's, made in the same way at every run."""
    model = collision_model(panda(urdf("panda")), scene_of(name))
    robot, rng = model.robot, np.random.default_rng(0)
    better = []
    for _ in range(3):
        path = _random_path(model, robot, rng)
        found = smooth_path(model, path)
        assert edges_free(model, found.path[:-1], found.path[1:], resolution=0.005).all()
        if found.improved:
            assert_good(model, found, path)
        better.append(found.improved)
    assert sum(better) >= 2


def _random_path(model, robot, rng):
    path = []
    while len(path) < 6:
        q = aj.random_configuration(robot, 400, rng=rng)
        if path:
            q = path[-1] + 0.35 * (q - path[-1])
            q = q[edges_free(model, path[-1], q)]
        else:
            q = q[is_free(model, q)]
        path.append(q[0])
    return np.array(path)


@pytest.mark.parametrize(
    "path, options, words",
    [
        ([[-1, 0, 0], [1, 0, 0]], {}, r"path is not free: .*'ball' is .*'post'"),
        ([[-1, 0, 0]], {}, "2 or more waypoints"),
        ([[-1, 0], [1, 0]], {}, r"\(..., 3\) is needed"),
        ([[-1, 0, 0], [np.nan, 0, 0]], {}, "finite numbers"),
        ([[-1, 1, 0], [1, 1, 0]], {"clearance": 0}, "clearance"),
        ([[-1, 1, 0], [1, 1, 0]], {"waypoints": 3}, "waypoints must be 5 or more"),
        ([[-1, 1, 0], [1, 1, 0]], {"resolution": -1}, "resolution"),
        ([[-1, 1, 0], [1, 1, 0]], {"obstacles": 0.0}, "obstacles"),
    ],
)
def test_bad_input_is_named(ball_model, path, options, words):
    with pytest.raises(ArgumentError, match=words):
        smooth_path(ball_model, path, **options)


def test_orientations_are_refused():
    free = aj.load(
        '<robot name="body"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>',
        base="free",
    )
    model = collision_model(free, [])
    with pytest.raises(ArgumentError, match="joints with orientations"):
        smooth_path(model, [aj.neutral(free), aj.neutral(free)])
    with pytest.raises(ArgumentError, match="must be a CollisionModel"):
        smooth_path(free, [aj.neutral(free), aj.neutral(free)])


def test_paths_outside_of_the_limits_are_refused():
    """Its ends would stay outside."""
    robot = aj.robots.puma560()
    model = collision_model(robot, [], pairs=())
    path = np.zeros((3, 6))
    path[0, 2] = robot.upper[2] + 0.3
    with pytest.raises(ArgumentError, match=r"smooth_path: path leaves the limits of the robot: q\[2\] is"):
        smooth_path(model, path)
