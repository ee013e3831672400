"""Fields of force: forces are minus gradients, energy decreases, balls stay safe, and traps are told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as aj
from adjoint.collision import is_free, solid_distance
from adjoint.collision.shapes_of_links import link_shapes
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing import Box, Capsule, Cylinder, Mesh, Plane, Scene, Sphere
from adjoint.world.motion.field_descents import descend_field, repair_path
from adjoint.world.motion.field_points import control_points, point_solid_distance, solid_rows
from adjoint.world.motion.fields import field_law, field_potential, field_state, field_torque, force_field

from .support.gantries import collision_model, flat_arm, gantry, u_trap
from .support.trees import frictionless

PUMA = aj.robots.puma560()
SOLIDS = [
    Sphere(0.1, T_world_solid=[0.4, 0.3, 0.5], name="ball"),
    Box([0.2, 0.3, 0.4], T_world_solid=[0.6, -0.2, 0.1], name="box"),
    Cylinder(0.1, 0.5, T_world_solid=[0.2, 0.5, 0.2], name="can"),
    Capsule(0.05, 0.4, T_world_solid=[-0.4, 0.4, 0.3], name="rod"),
    Plane(T_world_solid=[0, 0, -0.8], name="floor"),
]


@pytest.fixture(scope="module")
def tip():
    return control_points(PUMA, at=["tool", ("link3", [0.1, 0, 0])], radius=[0.02, 0.05])


# --- distances --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(range(5)))
def test_distances_of_points_are_those_of_pairs_and_their_gradients(seed, which):
    rng = np.random.default_rng(seed)
    T = se3.exp(np.concatenate([rng.normal(size=3), 0.3 * rng.normal(size=3)]))
    solid = SOLIDS[which].at(T)
    row = solid_rows([solid], np.eye(4), "f")[0]
    x = rng.normal(size=3) * 0.7
    found = point_solid_distance(x, row)
    radius = 0.01
    assert found.distance - radius == pytest.approx(
        solid_distance(Sphere(radius, T_world_solid=x), solid).distance, abs=1e-9
    )
    assert np.linalg.norm(found.away) == pytest.approx(1)
    h = 1e-6
    slopes = [
        (point_solid_distance(x + h * e, row).distance - point_solid_distance(x - h * e, row).distance) / (2 * h)
        for e in np.eye(3)
    ]
    assert found.away == pytest.approx(slopes, abs=1e-5) or np.linalg.norm(slopes) < 1 - 1e-6  # but for kinks


def test_meshes_count_as_boxes_and_the_base_moves():
    corners = np.array([[x, y, z] for x in (0, 1.0) for y in (0, 2.0) for z in (0, 3.0)])
    mesh = Mesh((corners, np.array([[0, 1, 2], [5, 6, 7], [3, 4, 5]])), name="sheet")
    T = se3.exp(np.array([0.1, -0.4, 0.3, 1.0, 2, 3]))
    row = solid_rows([mesh], T, "f")[0]
    x = np.array([0.5, 1.0, 4.0])  # 1 m above the box, in the world
    assert point_solid_distance((T[:3, :3].T @ (x - T[:3, 3])), row).distance == pytest.approx(1.0)


# --- forces -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("goal", [{"tool": [0.5, 0.1, 0.6]}, np.linspace(-0.4, 0.6, 6), None])
def test_torques_are_minus_the_gradient_of_the_potential(goal):
    field = force_field(PUMA, SOLIDS, goal=goal)
    q = aj.random_configuration(PUMA, 300, rng=0)
    h = 1e-6
    slopes = [(field_potential(field, q + h * e) - field_potential(field, q - h * e)) / (2 * h) for e in np.eye(6)]
    error = np.abs(np.stack(slopes, axis=-1) + field_torque(field, q)).max(axis=1)
    scale = 1 + np.abs(field_torque(field, q)).max(axis=1)
    assert np.quantile(error / scale, 0.99) < 1e-6  # the others are at kinks of distances


def test_the_torque_is_the_sum_of_transposed_jacobians_times_forces(tip):
    field = force_field(PUMA, [SOLIDS[0]], goal={"tool": [0.5, 0.1, 0.6]}, points=tip, reach=0.5)
    q = np.array([0.6, -0.9, 0.5, 0.2, 0.4, 0.1])
    k, eta, reach, _ = field.numbers
    tau = np.zeros(6)
    T = aj.forward_kinematics(PUMA, q, "tool")
    tau += aj.jacobian(PUMA, q, "tool", "world")[3:].T @ (k * (np.array([0.5, 0.1, 0.6]) - T[:3, 3]))
    for frame, local, radius in (("tool", np.zeros(3), 0.02), ("link3", np.array([0.1, 0, 0]), 0.05)):
        T = aj.forward_kinematics(PUMA, q, frame)
        r = T[:3, :3] @ local
        J = aj.jacobian(PUMA, q, frame, "world")
        J = J[3:] - np.cross(r, J[:3].T).T
        away = T[:3, 3] + r - SOLIDS[0].T_world_solid[:3, 3]
        rho = np.linalg.norm(away) - 0.1 - radius
        if rho < reach:
            tau += J.T @ (eta * (1 / rho - 1 / reach) / rho**2 * away / np.linalg.norm(away))
    assert field_torque(field, q) == pytest.approx(tau, rel=1e-10)


def test_batches_and_single_calls_agree_and_nan_stays_alone(tip):
    field = force_field(PUMA, SOLIDS, goal={"tool": [0.5, 0.1, 0.6]}, points=tip)
    q = aj.random_configuration(PUMA, 5, rng=1)
    q[2] = np.nan
    many = field_state(field, q)
    for k in (0, 1, 3, 4):
        one = field_state(field, q[k])
        assert one.potential == many.potential[k] and np.array_equal(one.torque, many.torque[k])
    assert np.isnan(many.torque[2]).all()


def test_far_obstacles_do_not_push(tip):
    q = np.zeros(6)
    far = force_field(PUMA, [Sphere(0.1, T_world_solid=[9, 9, 9])], points=tip)
    assert np.array_equal(field_torque(far, q), np.zeros(6)) and field_potential(far, q) == 0
    none = force_field(PUMA, [], points=tip)
    assert np.array_equal(field_torque(none, q), np.zeros(6))


def test_the_base_may_be_anywhere(tip):
    T = se3.exp(np.array([0.3, -0.2, 0.9, 0.5, 1, -0.3]))
    q = np.array([0.6, -0.9, 0.5, 0.2, 0.4, 0.1])
    here = force_field(PUMA, SOLIDS, goal={"tool": [0.5, 0.1, 0.6]}, points=tip)
    x = T[:3, :3] @ [0.5, 0.1, 0.6] + T[:3, 3]
    there = force_field(
        PUMA, [s.at(T @ s.T_world_solid) for s in SOLIDS], goal={"tool": x}, points=tip, T_world_base=T
    )  # fmt: skip
    assert field_torque(there, q) == pytest.approx(field_torque(here, q), rel=1e-9)


# --- control points ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_control_balls_cover_the_capsules_of_the_links():
    shapes = link_shapes(PUMA)
    found = control_points(PUMA, shapes)
    rng = np.random.default_rng(0)
    for body, a, b, r in zip(shapes.bodies, shapes.starts, shapes.ends, shapes.radii, strict=True):
        if body < 0:
            continue
        u = rng.normal(size=(200, 3))
        x = a + rng.random((200, 1)) * (b - a) + r * u / np.linalg.norm(u, axis=1, keepdims=True)
        own = found.bodies == body
        d = np.linalg.norm(x[:, None] - found.points[own], axis=-1) - found.radii[own]
        assert d.min(axis=1).max() < 1e-9


@pytest.mark.parametrize(
    "options, words",
    [
        ({"at": []}, "names no point"),
        ({"at": ["hand"]}, "no frame 'hand'"),
        ({"at": [("tool", [1, 2])]}, r"finite numbers \(3,\)"),
        ({"at": ["tool"], "radius": -1}, "radius must be"),
        ({"spacing": 0.0}, "spacing"),
    ],
)
def test_bad_control_points(options, words):
    with pytest.raises(aj.AdjointError, match=words):
        control_points(PUMA, **options)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"goal": np.zeros(5)}, "goal"),
        ({"goal": {"tool": [1, 2]}}, "goal must be"),
        ({"goal": {}}, "goal must be"),
        ({"attraction": -1}, "attraction"),
        ({"reach": 0.1, "least": 0.2}, "least 0.2 must be below reach"),
        ({"points": [1, 2]}, "points must be ControlPoints"),
        ({"repulsion": 0.0}, "repulsion"),
    ],
)
def test_bad_fields(options, words, tip):
    with pytest.raises(ArgumentError, match=words):
        force_field(PUMA, SOLIDS, **({"points": tip} | options))


# --- in time ----------------------------------------------------------------------------------------------------------


def _energy(robot, field, run):
    return aj.kinetic_energy(robot, run.q, run.v) + field_potential(field, run.q)


@pytest.mark.slow
def test_energy_decreases_under_damping(tip):
    field = force_field(PUMA, SOLIDS, goal={"tool": [0.4, -0.4, 0.4]}, points=tip, attraction=50.0)
    law = field_law(field, damping=8.0)
    q = aj.random_configuration(PUMA, 400, rng=3)
    q = q[field_state(field, q).clearance > 0.03][:40]
    run = aj.simulate(PUMA, law, q=q, duration=0.3, dt=2e-4, record=50)
    energy = _energy(PUMA, field, run)
    assert len(q) == 40
    assert (np.diff(energy, axis=-1) < 1e-6 * (1 + energy[:, :1])).all()


def test_without_damping_energy_is_kept(tip):
    field = force_field(PUMA, SOLIDS, goal={"tool": [0.4, -0.4, 0.4]}, points=tip, attraction=50.0)
    q = np.array([[0.6, -0.9, 0.5, 0.2, 0.4, 0.1]])
    robot = frictionless(PUMA)
    run = aj.simulate(robot, field_law(field, damping=0.0), q=q, duration=0.2, dt=1e-4, record=100)
    energy = _energy(robot, field, run)
    assert np.ptp(energy) < 1e-4 * energy.max()


@pytest.mark.slow
def test_a_batch_of_arms_has_goals_of_its_own(tip):
    goals = np.array([[0.4, -0.4, 0.4], [0.5, 0.2, 0.6], [0.3, 0.5, 0.3]])
    field = force_field(PUMA, goal={"tool": goals[0]}, points=tip, attraction=1000.0)
    law = field_law(field, damping=100.0).replace(targets=goals[:, None])
    run = aj.simulate(PUMA, law, q=np.tile([0.6, -0.9, 0.5, 0.2, 0.4, 0.1], (3, 1)), duration=6.0, dt=1e-3, record=1000)
    x = aj.forward_kinematics(PUMA, run.q[:, -1], "tool")[:, :3, 3]
    assert np.linalg.norm(x - goals, axis=1).max() < 0.03  # friction of the joints holds it there


def test_bad_laws(tip):
    field = force_field(PUMA, goal={"tool": [0.4, -0.4, 0.4]}, points=tip)
    with pytest.raises(ArgumentError, match="damping"):
        field_law(field, damping=-1.0)
    with pytest.raises(ArgumentError, match="must be a ForceField"):
        field_law(PUMA, damping=1.0)


# --- descent ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_ball_is_safe_in_every_field(seed):
    rng = np.random.default_rng(seed)
    ball = gantry(0.05)
    solids = [Sphere(rng.uniform(0.05, 0.2), T_world_solid=rng.uniform(-1, 1, 3), name=f"{k}") for k in range(12)]
    solids.append(Box([0.3, 0.4, 0.5], T_world_solid=rng.uniform(-0.5, 0.5, 3), name="box"))
    for _ in range(20):
        start, goal = rng.uniform(-1.5, 1.5, (2, 3))
        field = force_field(ball, solids, goal={"ball": goal}, reach=0.15)
        if field_state(field, start).clearance <= 0 or field_state(field, goal).clearance <= 0.15:
            continue
        found = descend_field(field, start)
        assert found.clearance > 0
        assert (np.diff(found.potential) < 0).all()
        dense = np.concatenate([np.linspace(a, b, 20) for a, b in zip(found.path[:-1], found.path[1:], strict=True)])
        assert field_state(field, dense).clearance.min() > 0
        assert found.reached == (np.linalg.norm(found.path[-1] - goal) <= 0.01)
        assert found.reached == (not found.reason)


def test_a_trap_is_told_as_a_local_minimum():
    ball = gantry(0.05)
    field = force_field(ball, u_trap(), goal={"ball": [1.5, 0, 0]}, reach=0.1)
    found = descend_field(field, [-1.0, 0.02, 0])
    assert not found.reached
    assert "local minimum" in found.reason and "'back'" in found.reason and "away from the goal" in found.reason
    assert found.path[-1][0] == pytest.approx(0.2, abs=0.08)  # it rests before the back wall, at x = 0.25
    assert field_torque(field, found.path[-1])[0] == pytest.approx(0, abs=0.5)
    free = descend_field(force_field(ball, u_trap()[1:], goal={"ball": [1.5, 0, 0]}, reach=0.1), [-1.0, 0.02, 0])
    assert free.reached  # without its back wall it is a tunnel


@pytest.mark.slow
def test_one_point_is_not_enough_for_an_arm_as_in_figure_10_22():
    arm = flat_arm()
    post = Cylinder(0.15, 1.0, T_world_solid=[0.75, 0.75, 0], name="post")
    model = collision_model(arm, [post])
    start, goal = np.array([0.1, 0.2]), np.array([2.0, -0.3])
    tip = force_field(arm, [post], goal={"tip": aj.forward_kinematics(arm, goal, "tip")[:3, 3]},
                      points=control_points(arm, at=["tip"]), reach=0.1)  # fmt: skip
    alone = descend_field(tip, start)
    assert not is_free(model, alone.path).all()  # the tip is safe, the links are not
    covered = descend_field(force_field(model, goal=goal, reach=0.1), start)
    assert is_free(model, covered.path).all()
    assert not covered.reached and "'post'" in covered.reason  # it is safe, and says where it stays


def test_steps_end_and_bad_starts():
    ball = gantry(0.05)
    field = force_field(ball, u_trap(), goal={"ball": [1.5, 0, 0]})
    few = descend_field(field, [-1.0, 0.0, 0], steps=3)
    assert not few.reached and "3 steps were not enough" in few.reason and len(few.path) == 4
    with pytest.raises(ArgumentError, match=r"start .*inside 'back'"):
        descend_field(field, [0.3, 0, 0])
    with pytest.raises(ArgumentError, match="no goal"):
        descend_field(force_field(ball, u_trap()), [-1, 0, 0])
    with pytest.raises(ArgumentError, match="one configuration"):
        descend_field(field, np.zeros((2, 3)))


# --- repairs ----------------------------------------------------------------------------------------------------------


def test_a_path_that_grazes_an_obstacle_is_repaired():
    ball = gantry(0.05)
    post = Sphere(0.2, T_world_solid=[0, 0.15, 0], name="post")
    field = force_field(ball, [post], reach=0.1)
    path = np.linspace([-1.0, 0, 0], [1.0, 0, 0], 41)
    found = repair_path(field, path)
    assert found.before.min() < 0 < found.after.min() and found.free and not found.reason
    assert np.array_equal(found.path[[0, -1]], path[[0, -1]])
    assert found.moved == np.abs(found.path - path).max() < 0.25
    far = found.before > 0.1
    assert np.array_equal(found.path[far], path[far])  # what is far from obstacles stays
    again = repair_path(field, path, deviation=10.0)
    assert again.moved < found.moved  # a higher penalty for leaving the path keeps it closer


def test_what_cannot_be_repaired_is_told():
    ball = gantry(0.05)
    field = force_field(ball, [Sphere(0.2, T_world_solid=[1.0, 0, 0], name="post")], goal={"ball": [1, 1, 1]})
    found = repair_path(field, np.linspace([-1.0, 0, 0], [1.0, 0, 0], 41))
    assert not found.free and "'post'" in found.reason and "waypoint" in found.reason  # its end is inside
    with pytest.raises(ArgumentError, match="three or more waypoints"):
        repair_path(field, np.zeros((2, 3)))


def test_scenes_are_obstacles_too(tip):
    a = force_field(PUMA, Scene(SOLIDS), points=tip)
    assert a.names == ("ball", "box", "can", "rod", "floor")
    assert "5 obstacles" in repr(a) and "2 on 2 bodies" in repr(tip)
