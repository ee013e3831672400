"""Geodesics: they keep their energy and momenta, are great circles on a sphere, and end where they must."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from support.trees import close, on_free_base, sample, tree
from support.worked_examples import planar_2r, sliders, spherical_pendulum

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.energy import kinetic_energy, momentum
from adjoint.errors import ArgumentError, SolveError
from adjoint.geometry.christoffel_symbols import covariant_derivative
from adjoint.geometry.curvature_tensors import sectional_curvature
from adjoint.geometry.geodesics import _end_and_derivative, _relaxed, geodesic, geodesic_between, parallel_transport

BOTH_KINDS = ("revolute", "prismatic", "screw", "mimic")
FLYING = on_free_base(robots.random_tree(3, 2, ["revolute", "prismatic"]))


# --- from a configuration and a velocity ------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [tree(0, 6), robots.puma560(), FLYING], ids=lambda r: r.name)
def test_energy_is_kept(robot):
    """To 1e-10; friction, gravity and damping, which these robots have, do not act. The length is speed times time."""
    q, v, _ = sample(robot)
    t, q, v, length = geodesic(robot, q, v, 2.0, 20)
    energy = kinetic_energy(robot, q, v)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)
    np.testing.assert_allclose(length, 2 * np.sqrt(2 * energy[0]), rtol=1e-14)
    assert t[-1] == 2 and len(t) == len(q) == 21


def test_a_free_robot_keeps_its_momentum():
    """About a point fixed in space, all six components; quaternions stay of unit length."""
    start, v, _ = sample(FLYING)
    _, q, v, _ = geodesic(FLYING, start, v, 2.0, 20)
    found = np.array([momentum.eager(FLYING, *x) for x in zip(q, v, strict=True)])
    close(found, np.broadcast_to(found[0], found.shape), 1e-11)
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-15)
    assert np.abs(q[-1] - start).max() > 0.1


def test_it_is_the_same_curve_at_any_speed():
    robot = robots.puma560()
    q, v, _ = sample(robot)
    slow, fast = geodesic(robot, q, v, 1.0, 10), geodesic(robot, q, 4 * v, 0.25, 10)
    close(fast.q, slow.q, 1e-12)
    close(fast.v, 4 * slow.v, 1e-12)
    close(fast.length, slow.length, 1e-14)


def test_sliders_move_on_straight_lines():
    robot = sliders()
    q, v, _ = sample(robot)
    found = geodesic(robot, q, v, 3.0, 6)
    close(found.q, q + found.t[:, None] * v, 1e-14)
    close(found.v, np.broadcast_to(v, found.v.shape), 1e-14)


def test_great_circles():
    """A spherical pendulum without gravity moves on great circles, at constant speed."""
    robot, q, v = spherical_pendulum(), np.array([0.2, 0.5]), np.array([0.9, -0.7])
    found = geodesic(robot, q, v, 3.0, 30)
    p = points(robot, found.q)
    first = 0.7 * np.sqrt(v[1] ** 2 + (v[0] * np.cos(q[1])) ** 2)
    direction = np.cross(np.cross(p[0], p[5] - p[0]), p[0])
    direction *= 0.7 / np.linalg.norm(direction)
    angle = first / 0.7 * found.t[:, None]
    np.testing.assert_allclose(p, p[0] * np.cos(angle) + direction * np.sin(angle), atol=1e-12)


def points(robot, q):
    return np.array([aj.forward_kinematics.eager(robot, x, "tool")[:3, 3] for x in q])


def test_a_batch_is_its_samples():
    robot = robots.puma560()
    rng = np.random.default_rng(0)
    q, v = aj.random_configuration(robot, (2, 3), rng=rng), rng.normal(size=(3, 6))
    found = geodesic(robot, q, v, 1.0, 4)
    assert found.q.shape == found.v.shape == (2, 3, 5, 6) and found.length.shape == (2, 3)
    one = geodesic(robot, q[1, 2], v[2], 1.0, 4)
    close(found.q[1, 2], one.q, 1e-11)
    close(found.length[1, 2], one.length, 1e-15)


def test_curvature_draws_geodesics_together():
    """Neighbours with unit speed and velocities apart by dv drift apart by t |dv| (1 - K t²/6 + ...)."""
    robot, t = planar_2r(), 0.02
    for q in ([0.4, 0.3], [0.4, 2.5]):  # K = 3.3 and -1.7
        M = mass_matrix.eager(robot, np.array(q))
        v, w = np.linalg.inv(np.linalg.cholesky(M))
        apart = []
        for side in (1, -1):  # odd powers of t cancel
            end, J = _end_and_derivative(robot, np.array(q), side * t * v)
            apart.append(np.sqrt((J @ w) @ mass_matrix.eager(robot, end) @ (J @ w)))
        K = sectional_curvature.eager(robot, np.array(q), v, w)
        np.testing.assert_allclose(6 / t**2 * (1 - np.mean(apart)), K, rtol=0.01)


# --- parallel transport -----------------------------------------------------------------------------------------------


def test_parallel_transport_keeps_lengths_and_angles():
    robot = tree(0, 6)
    rng = np.random.default_rng(1)
    q, v, w = sample(robot)
    w = np.stack([w, rng.normal(size=robot.nv), v])
    carried = parallel_transport(robot, q, v, w, 1.5, 6)
    path = geodesic(robot, q, v, 1.5, 6)
    for k, x in enumerate(path.q):
        gram = carried[:, k] @ mass_matrix.eager(robot, x) @ carried[:, k].T
        first = carried[:, 0] @ mass_matrix.eager(robot, q) @ carried[:, 0].T
        close(gram, first, 1e-11)
    close(carried[2], path.v, 1e-11)  # a geodesic carries its own velocity


def test_transport_around_a_triangle_turns_by_its_area():
    """On a sphere: by the solid angle of the triangle (van Oosterom & Strackee 1983), turned as one goes around."""
    robot = spherical_pendulum()
    corners = np.array([[0.1, -0.3], [0.9, 0.1], [0.3, 0.7]])
    first = w = np.array([0.4, -0.2])
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        side = geodesic_between(robot, start, end, 2)
        w = parallel_transport(robot, start, side.v[0], w, 1.0, 1)[-1]
    M = mass_matrix.eager(robot, corners[0])
    a, b, c = points(robot, corners) / 0.7
    area = 2 * np.arctan2(abs(np.linalg.det([a, b, c])), 1 + a @ b + b @ c + c @ a)
    np.testing.assert_allclose(np.arccos(first @ M @ w / (first @ M @ first)), area, atol=1e-9)


# --- between two configurations ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("robot", [robots.two_link(), tree(0, 6, BOTH_KINDS)], ids=lambda r: f"{r.name}-{r.nv}")
def test_between_two_configurations(robot):
    """It ends there, has no covariant acceleration, and is shorter than the straight motion of the joints."""
    rng = np.random.default_rng(3)
    q_0, q_1 = rng.uniform(-0.8, 0.8, (2, robot.nv))
    t, q, v, length = geodesic_between(robot, q_0, q_1, 200)
    close(q[[0, -1]], np.stack([q_0, q_1]), 1e-10)
    a = make_interp_spline(t, v, k=7).derivative()(t)  # of the samples alone
    for k in (20, 100, 180):  # the spline is less good near its ends
        free = covariant_derivative.eager(robot, q[k], v[k], v[k], a[k])
        np.testing.assert_allclose(free, 0, atol=1e-6 * np.abs(v).max() ** 2)
    straight = kinetic_energy(robot, q_0 + t[:, None] * (q_1 - q_0), q_1 - q_0)
    assert length < np.trapezoid(np.sqrt(2 * straight), t)


def test_the_shortest_on_a_sphere():
    robot = spherical_pendulum()
    q = np.array([[0.1, -0.5], [1.3, 0.6]])
    a, b = points(robot, q)
    angle = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
    close(geodesic_between(robot, *q).length, np.sqrt(2.0) * 0.7 * angle, 1e-11)


def test_an_ordinary_move_of_three_joints():
    """Where shooting from the straight motion, also part by part, ends nowhere."""
    robot, q_0, q_1 = robots.planar(3), np.array([0.1, 0.5, -0.3]), np.array([2.0, -1.0, 1.0])
    found = geodesic_between(robot, q_0, q_1)
    close(found.q[-1], q_1, 1e-10)
    np.testing.assert_allclose(found.v[0], [2.274, -4.371, 6.801], atol=1e-3)
    np.testing.assert_allclose(found.length, 3.717, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_light_and_heavy_robots_move_alike(scale):
    robot, q_0, q_1 = robots.planar(3), np.array([0.1, 0.5, -0.3]), np.array([2.0, -1.0, 1.0])
    found = geodesic_between(robot.replace(inertias=scale * robot.inertias), q_0, q_1, 4)
    close(found.q, geodesic_between(robot, q_0, q_1, 4).q, 1e-9)


def test_moves_all_over_the_place():
    """Random pairs within ±3 rad; shorter than the straight motion of the joints."""
    robot, rng, s = robots.planar(3), np.random.default_rng(3), np.linspace(0, 1, 101)[:, None]
    for q_0, q_1 in rng.uniform(-3, 3, (5, 2, 3)):
        found = geodesic_between(robot, q_0, q_1, 10)
        close(found.q[-1], q_1, 1e-10)
        speed = np.sqrt(2 * kinetic_energy(robot, q_0 + s * (q_1 - q_0), q_1 - q_0))
        assert found.length < np.trapezoid(speed, dx=0.01)


def test_the_relaxed_way_begins_like_the_geodesic():
    """Four times as many parts, a sixteenth of the error."""
    robot, q_0, q_1 = robots.two_link(), np.array([-1.1, 1.6]), np.array([1.4, -1.9])
    v = geodesic_between(robot, q_0, q_1, 1).v[0]
    coarse, fine = (np.linalg.norm(_relaxed(robot, q_0, q_1, parts) - v) for parts in (16, 64))
    assert fine < coarse / 10 < 0.01 * np.linalg.norm(v)


@pytest.mark.slow
def test_failure_is_explained():
    """Behind the pole of the sphere: the straight motion of the joints relaxes to one over it, where M is singular."""
    with pytest.raises(SolveError, match=r"no geodesic found that the straight motion relaxes to\. M may be singular"):
        geodesic_between(spherical_pendulum(), np.array([0.0, 0.3]), np.array([3.4, 0.3]))


def test_where_no_geodesic_can_be_followed(monkeypatch):
    def lost(*_):
        raise SolveError("M is singular there")

    monkeypatch.setattr("adjoint.geometry.geodesics._end_and_derivative", lost)
    with pytest.raises(SolveError, match="no geodesic found"):
        geodesic_between(robots.two_link(), np.zeros(2), np.ones(2))


def test_nothing_to_move():
    """No joints, no batch, no way: results of the right shapes, and no length."""
    nothing, none = robots.chain(0), np.zeros(0)
    for found in (geodesic(nothing, none, none, 1.0, 4), geodesic_between(nothing, none, none, 4)):
        assert found.q.shape == found.v.shape == (5, 0) and found.length == 0
    assert parallel_transport(nothing, np.zeros((3, 0)), none, none, 1.0, 4).shape == (3, 5, 0)
    assert geodesic(robots.two_link(), np.zeros((0, 2)), np.ones(2), 1.0, 4).q.shape == (0, 5, 2)
    assert geodesic_between(robots.two_link(), [1, 2], [1, 2]).length == 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda r, q: geodesic(r, q[:5], q), r"'q' has shape \(5,\); \(\.\.\., 6\) is needed"),
        (lambda r, q: geodesic(r, q, np.nan * q), "v contains NaN"),
        (lambda r, q: geodesic(r, "home", q), "'q' is a str; real numbers"),
        (lambda r, q: geodesic(r, np.ones((2, 6)), np.ones((3, 6))), r"\(2, 6\), \(3, 6\) do not fit together"),
        (lambda r, q: geodesic(r, q, q, -1.0), "must be a positive number"),
        (lambda r, q: geodesic(r, q, q, "long"), "duration .* positive number, got 'long'"),
        (lambda r, q: geodesic(r, q, q, 1.0, 0), "steps must be 1 or more"),
        (lambda r, q: geodesic(r, q, q, 1.0, 2.5), "steps must be a whole number"),
        (lambda r, q: geodesic("puma", q, q), "geodesic needs a Robot"),
        (lambda r, q: parallel_transport(r, q, q, q[:2]), r"'w' has shape \(2,\)"),
        (lambda r, q: geodesic_between(r, q, q[None]), r"q_0 and q_1 must be \(6,\)"),
        (lambda r, q: geodesic_between(r, q, np.inf * q), "q_1 contains NaN or infinity"),
        (lambda r, q: geodesic_between(r, np.nan * q, q), "q_0 contains NaN or infinity"),
        (lambda r, q: geodesic_between(r, q, q, 0), "steps must be 1 or more"),
        (lambda r, q: geodesic_between(aj.from_dh([(0, 0, 1.0, 0)]), [0.0], [1.0]), "have no inertia against joint"),
        (lambda r, q: geodesic_between(tree(1), q, q), "geodesics between two configurations are for joints with one"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(robots.puma560(), np.ones(6))
