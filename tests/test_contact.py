"""Contact: forces by virtual work, depths, bounces, slides and rolls as the laws say, and a leg that hops."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from support.sliders import G, at, ball, energy, puck, slider, value

import adjoint as aj
from adjoint.compile import check_grads, kernel
from adjoint.control import law
from adjoint.errors import ArgumentError, ModelError
from adjoint.lie import inertia, se3, so3
from adjoint.model import Robot
from adjoint.simulation import box, contact, plane, simulate, sphere, terrain

POSE = se3.exp.eager(np.array([0.3, -0.5, 0.8, 0.2, 0.1, -0.3]))
GRID = np.add.outer(0.3 * np.arange(8) * 0.5, -0.2 * np.arange(6) * 0.25)  # z = 0.3 x - 0.2 y


def waves(x, y):
    return 0.1 * np.sin(2 * x) + 0.05 * np.cos(3 * y)


def tilted(x, y):
    return 0.3 * x - 0.2 * y


def seen(surface, x):
    """The distance and the normal of a surface at a point."""
    return surface.distance(SimpleNamespace(**dict(surface.options), **surface.numbers), np.asarray(x, float))


# --- surfaces ---------------------------------------------------------------------------------------------------------


def test_the_nearest_points_of_a_box_are_on_it():
    size, rng = np.array([0.4, 1.0, 0.6]), np.random.default_rng(0)
    surface = box(POSE, size)
    own = rng.uniform(-1, 1, (300, 3))
    on_faces = rng.uniform(-0.5, 0.5, (4000, 3))
    on_faces[np.arange(4000), rng.integers(0, 3, 4000)] = rng.choice([-0.5, 0.5], 4000)
    on_faces = on_faces * size
    for x in own:
        distance, normal = seen(surface, POSE[:3, :3] @ x + POSE[:3, 3])
        n = POSE[:3, :3].T @ normal
        np.testing.assert_allclose(np.linalg.norm(n), 1, rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.max(np.abs(x - distance * n) - size / 2), 0, atol=1e-14)
        assert (distance < 0) == np.all(np.abs(x) < size / 2)
        assert np.linalg.norm(on_faces - x, axis=1).min() >= abs(distance) - 1e-14


@pytest.mark.parametrize("surface", [terrain(GRID, spacing=(0.5, 0.25)), terrain(tilted)])
def test_terrains_that_are_planes(surface):
    normal = np.array([-0.3, 0.2, 1.0])
    same = plane((0, 0, 0), normal)
    for x in np.random.default_rng(0).uniform([0, 0, -1], [3.4, 1.2, 1], (50, 3)):
        (d, n), (d_0, n_0) = seen(surface, x), seen(same, x)
        np.testing.assert_allclose([d, *n], [d_0, *n_0], rtol=0, atol=1e-14)


def test_grids_have_their_heights_at_their_points_and_go_on_beyond():
    heights = np.random.default_rng(0).normal(size=(5, 4))
    surface = terrain(heights, spacing=0.5, corner=(-1.0, 2.0))
    for i in range(5):
        for j in range(4):
            assert abs(seen(surface, [-1 + 0.5 * i, 2 + 0.5 * j, heights[i, j]])[0]) < 1e-14
    middle = heights[1:3, 2:4].mean()
    assert abs(seen(surface, [-0.25, 3.25, middle])[0]) < 1e-14
    assert abs(seen(surface, [-50.0, 100.0, heights[0, 3]])[0]) < 1e-14


def test_functions_have_exact_slopes():
    d, n = seen(terrain(waves), [0.7, -0.4, 1.0])
    slope = np.array([0.2 * np.cos(1.4), -0.15 * np.sin(-1.2)])
    upward = 1 / np.sqrt(1 + slope @ slope)
    np.testing.assert_allclose(n, np.array([*-slope, 1]) * upward, rtol=0, atol=1e-15)
    np.testing.assert_allclose(d, (1 - waves(0.7, -0.4)) * upward, rtol=1e-15)


# --- the wrench -------------------------------------------------------------------------------------------------------

SURFACES = {
    "plane": plane((0, 0, 0.2), (0.1, 0.2, 1.0)), "sphere": sphere((0.1, 0.3, -0.9), 1.1),
    "box": box(POSE, (1, 1.2, 2)), "tilted": terrain(tilted), "grid": terrain(GRID, spacing=(0.5, 0.25)),
}  # fmt: skip


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("radius", [0.0, 0.15])
def test_virtual_work(name, radius):
    """Without damping and friction, the wrench's power is the rate at which ½ k d² falls, for every twist."""
    robot, surface, k = ball(), SURFACES[name], 100.0
    touch = contact("ball", surface, stiffness=k, radius=radius)

    def potential(q):
        return k / 2 * max(radius - seen(surface, q[:3])[0], 0) ** 2

    rng, deep = np.random.default_rng(1), 0
    for _ in range(40):
        q = np.concatenate([rng.uniform(0.1, 0.9, 2), rng.uniform(-0.3, 0.5, 1), so3.to_quat_wxyz(so3.random(rng=rng))])
        V, h = rng.normal(size=6), 1e-6
        power = value(touch, robot, 0.0, q, np.zeros(6)) @ V
        ahead, behind = (potential(aj.integrate(robot, q, V, x)) for x in (h, -h))
        # Central differences: rounding of 1e-16 · 100 J / 1e-6 s, and third derivatives times h².
        np.testing.assert_allclose(power, -(ahead - behind) / (2 * h), rtol=0, atol=1e-7)
        deep += power != 0
    assert deep > 5


def test_the_power_of_a_contact_is_that_of_its_point():
    """With friction and damping as well: F · (velocity of the ball's lowest point)."""
    robot, rng = ball(), np.random.default_rng(2)
    touch = contact("ball", plane(), stiffness=1e3, damping=0.3, friction=0.7, radius=0.2, slip=0.01)
    for _ in range(20):
        R, V = so3.random(rng=rng), rng.normal(size=6)
        q = np.concatenate([[0, 0, 0.15], so3.to_quat_wxyz(R)])
        wrench = value(touch, robot, 0.0, q, V)
        F, w = R @ wrench[3:], R @ V[:3]
        u = R @ V[3:] + np.cross(w, [0, 0, -0.2])
        np.testing.assert_allclose(wrench @ V, F @ u, rtol=1e-12)
        # Coulomb's cone, smoothed as stated; friction is against the motion.
        assert F[2] >= 0 and np.isclose(F[2], 1e3 * 0.05 * max(1 - 0.3 * u[2], 0), rtol=1e-12)
        slides = np.linalg.norm(u[:2])
        np.testing.assert_allclose(F[:2], -0.7 * F[2] * u[:2] / np.hypot(slides, 0.01), rtol=1e-11)
        assert np.linalg.norm(F[:2]) <= 0.7 * F[2]


def test_nothing_acts_above_the_surface():
    robot = ball()
    touch = contact("ball", plane(), stiffness=1e3, damping=0.3, friction=0.7, radius=0.2)
    assert not value(touch, robot, 0.0, at([0, 0, 0.2001]), np.ones(6)).any()


@pytest.mark.slow
@pytest.mark.parametrize("surface", [plane((0, 0, 0.3)), sphere((0, 0, -1.0), 1.4), terrain(waves)])
def test_derivatives_of_the_wrench(surface):
    robot = aj.robots.planar(2)
    touch = contact("tool", surface, stiffness=100.0, damping=0.2, friction=0.5, radius=0.6, slip=0.1)

    @kernel(q=2, v=2)
    def wrench(q, v):
        return touch.parts.function(robot, touch.parts.namespace(touch.numbers), 0.0, q, v)

    check_grads(wrench, np.array([0.4, -0.8]), np.array([0.3, 0.2]))


# --- bodies that touch ------------------------------------------------------------------------------------------------


def test_a_body_rests_at_the_depth_of_its_weight():
    robot, k = puck(3.0), np.array([1e3, 1e4, 1e5])
    touch = contact("z", plane(), stiffness=1e3, damping=5.0).replace(stiffness=k)
    run = simulate(robot, q=np.zeros(3), duration=3.0, dt=1e-4, record=100, forces=touch)
    # At the depth m g/k the motion is damped by α k d = α m g = 147 N s/m: it fades with the rate 25/s or k/147 = 7/s.
    np.testing.assert_allclose(run.q[:, -1, 2], -3.0 * G / k, rtol=1e-6)


def restitution(x: float) -> float:
    """The ratio of the speeds after and before an impact, where x = damping · speed (Hunt and Crossley)."""
    top = min(1, (1 - 1e-12) / x)
    return brentq(lambda e: x - np.log1p(x) + e * x + np.log1p(-e * x), 1e-9, top, xtol=1e-14)  # type: ignore[return-value]


def test_the_restitution_of_hunt_and_crossley():
    robot, damping = slider(2.0, axis=(0, 0, 1)), np.array([0.01, 0.1, 0.5, 2.0])
    touch = contact("block", plane(), stiffness=1e4).replace(damping=damping)
    run = simulate(robot, q=[0.001], v=[-1.0], duration=0.3, dt=1e-5, record=100, integrator="rk4", forces=touch)
    assert np.all(run.q[:, -1] > 0)
    # The kink at the surface leaves errors of about k v dt²/m = 5e-7 at both ends of the contact.
    np.testing.assert_allclose(run.v[:, -1, 0], [restitution(x) for x in damping], rtol=0, atol=2e-6)
    heavier = simulate(
        slider(9.0, axis=(0, 0, 1)),
        q=[0.001],
        v=[-1.0],
        duration=0.3,
        dt=1e-5,
        record=100,
        integrator="rk4",
        forces=touch,
    )
    np.testing.assert_allclose(heavier.v[:, -1], run.v[:, -1], rtol=0, atol=2e-6)
    np.testing.assert_allclose(restitution(0.003), 1 - 2 * 0.003 / 3, rtol=0, atol=1e-5)  # its first order, as stated


def test_sliding_is_slowed_by_friction_times_gravity():
    robot, mu, k = puck(), np.array([0.1, 0.3, 0.8]), 1e5
    touch = contact("z", plane(), stiffness=k, friction=0.0).replace(friction=mu)
    v = np.array([3.0, -4.0, 0.0])
    run = simulate(robot, q=[0, 0, -G / k], v=v, duration=0.5, dt=1e-4, record=100, forces=touch)
    speed = 5 - mu[:, None] * G * run.t
    # Smoothing takes (slip/v)²/2 of the friction, below 1e-6 at 1 m/s.
    np.testing.assert_allclose(np.linalg.norm(run.v[..., :2], axis=-1), speed, rtol=0, atol=1e-5)
    np.testing.assert_allclose(run.v[..., 1], -4 / 3 * run.v[..., 0], rtol=1e-12)


def test_a_body_on_a_slope_creeps_as_stated_and_slides_if_it_is_steep():
    """Gravity along x is r μ g: a slope whose angle of friction is not reached for r < 1."""
    mu, k, slip, r = 0.5, 1e4, 1e-3, 0.8
    robot = puck().replace(gravity=(r * mu * G, 0, -G))
    touch = contact("z", plane(), stiffness=k, friction=mu, slip=slip)
    run = simulate(robot, q=[0, 0, -G / k], duration=0.1, dt=1e-5, record=100, forces=touch)
    np.testing.assert_allclose(run.v[-1, 0], slip * r / np.sqrt(1 - r * r), rtol=1e-9)
    steep = simulate(
        robot.replace(gravity=(1.5 * mu * G, 0, -G)), q=[0, 0, -G / k], duration=0.1, dt=1e-5, record=100, forces=touch
    )
    np.testing.assert_allclose(np.diff(steep.v[-50:, 0]), 0.5 * mu * G * 1e-3, rtol=1e-3)


def test_a_ball_that_slides_begins_to_roll_with_five_sevenths_of_its_speed():
    radius, k, v_0 = 0.1, 1e5, 2.0
    robot = ball(1.0, radius)
    touch = contact("ball", plane(), stiffness=k, friction=0.3, radius=radius).replace(friction=np.array([0.1, 0.3]))
    q, v = at([0, 0, radius - G / k]), np.array([0, 0, 0, v_0, 0, 0])
    run = simulate(robot, q=q, v=v, duration=1.0, dt=1e-4, record=100, integrator="rk4", forces=touch)
    twist = aj.frame_twist(robot, run.q[:, -1], run.v[:, -1], "ball", "world")
    # Angular momentum about a point of the ground stays, whatever the friction is; rolling is v = ω r.
    np.testing.assert_allclose(twist[:, 3], 5 / 7 * v_0, rtol=1e-6)
    np.testing.assert_allclose(twist[:, 1] * radius, 5 / 7 * v_0, rtol=1e-6)
    np.testing.assert_allclose(np.delete(twist, [1, 3], axis=1), 0, atol=1e-6)


def test_a_turned_start_gives_the_turned_motion():
    robot, angle = ball(), 0.7
    touch = contact("ball", plane(), stiffness=1e4, damping=0.2, friction=0.4, radius=0.1)
    R = so3.rotation_z(angle)
    q, v = at([0.1, 0.2, 0.15]), np.array([3.0, -2, 1, 1, 0.5, -1])
    turned = np.concatenate([R @ q[:3], so3.to_quat_wxyz(R)])
    one, other = (simulate(robot, q=x, v=v, duration=0.3, dt=1e-4, record=10, forces=touch) for x in (q, turned))
    np.testing.assert_allclose(other.q[:, :3], one.q[:, :3] @ R.T, rtol=0, atol=1e-11)
    np.testing.assert_allclose(other.v, one.v, rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("surface", [plane(), box(np.diag([1.0, 1, 1, 1]), (2, 2, 1e-9))])
def test_energy_only_falls(surface):
    robot, k, radius = ball(), 1e4, 0.1
    touch = contact("ball", surface, stiffness=k, damping=0.3, friction=0.5, radius=radius)
    v = np.array([[3.0, 4, 0, 0.5, -0.3, 0], [0, 0, 9, 0, 0, -1]])
    run = simulate(robot, q=at([0, 0, 0.3]), v=v, duration=1.0, dt=1e-4, record=20, integrator="rk4", forces=touch)
    depth = np.maximum(radius - run.q[..., 2], 0)
    E = energy(robot, run.q, run.v) + k / 2 * depth**2
    # Stiff friction near rest costs rk4 about 1e-6 of the energy a step at most.
    assert np.all(np.diff(E, axis=-1) <= 1e-6 * E[:, :1]) and np.all(E[:, -1] < 0.6 * E[:, 0])


def test_a_batch_of_surfaces_is_the_runs_one_by_one():
    robot, heights = puck(), np.array([0.0, -0.1, 0.05])
    points = np.stack([0 * heights, 0 * heights, heights], axis=1)
    touch = contact("z", plane(), stiffness=1e4, damping=0.5, friction=0.2)
    options = {"q": [0, 0, 0.2], "v": [1.0, 0, 0], "duration": 0.3, "dt": 1e-4, "record": 10}
    run = simulate(robot, **options, forces=touch.replace(point=points))
    single = [simulate(robot, **options, forces=touch.replace(point=p)) for p in points]
    assert np.array_equal(run.q, [one.q for one in single]) and len(np.unique(run.q[:, -1, 2])) == 3


def test_two_frames_can_touch_at_once():
    """A rod of two feet rests on both, each at half of its weight."""
    builder = (
        Robot.builder("rod")
        .link("world")
        .link("rod", inertia.cylinder(2.0, 0.02, 1.0))
        .joint("flight", "free", "world", "rod")
    )
    for name, z in (("a", 0.5), ("b", -0.5)):
        builder.frame(name, "rod", se3.from_rotation_translation.eager(np.eye(3), [0, 0, z]))
    robot, k = builder.build(), 1e4
    lying = np.concatenate([[0, 0, 0.01], so3.to_quat_wxyz(so3.rotation_y(np.pi / 2))])
    feet = [contact(name, plane(), stiffness=k, damping=5.0, friction=0.5) for name in ("a", "b")]
    run = simulate(robot.replace(damping=0.1), q=lying, duration=1.5, dt=1e-4, record=100, forces=feet)
    np.testing.assert_allclose(run.q[-1, 2], -2.0 * G / 2 / k, rtol=1e-3)
    np.testing.assert_allclose(run.v[-1], 0, atol=1e-4)


# --- a leg that hops --------------------------------------------------------------------------------------------------


def hopper() -> Robot:
    """A body on a vertical rail, and a leg that slides out of it; the foot is its lower end."""
    builder = Robot.builder("hopper").link("world").link("body", inertia.sphere(5.0, 0.1))
    builder.link("leg", inertia.sphere(0.3, 0.02))
    builder.joint("rail", "prismatic", "world", "body", axis=(0, 0, 1))
    builder.joint("leg", "prismatic", "body", "leg", axis=(0, 0, -1))
    return builder.frame("foot", "leg").build()


def _thrust(robot, p, state, t, q, v, reference):
    """PD to a length, which is longer while the foot is down and the leg extends: the spring gives energy back."""
    down = q[0] - q[1] < p.ground
    length = p.length + np.where(down & (v[1] > 0), p.push, 0.0)
    return np.stack([0.0 * t, p.kp * (length - q[1]) - p.kd * v[1]]), state


@pytest.mark.slow
def test_a_leg_hops_and_its_hops_become_periodic():
    robot, stiffness = hopper(), np.geomspace(1e4, 1e5, 64)
    hop = law(_thrust, follows=None, kp=3000.0, kd=30.0, length=0.5, push=0.08, ground=0.0)
    foot = contact("foot", plane(), stiffness=1e4, damping=0.5).replace(stiffness=stiffness)
    run = simulate(robot, hop, q=[0.7, 0.5], duration=30.0, dt=2e-4, record=10, forces=foot)
    assert np.isfinite(run.q).all()
    height, foot_height = run.q[..., 0], run.q[..., 0] - run.q[..., 1]
    assert np.all(foot_height[:, len(run.t) // 2 :].max(axis=-1) > 0.02)  # all of them fly
    for z in height:
        tops = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])) + 1
        apex, times = z[tops][-6:], run.t[tops][-6:]
        assert len(apex) == 6
        np.testing.assert_allclose(apex, apex[-1], rtol=0, atol=2e-3)
        np.testing.assert_allclose(np.diff(times), np.diff(times)[-1], rtol=0, atol=6e-3)  # three records


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stiffness": -1.0}, "contact: stiffness is -1.0; it must be a finite number, 0 or more"),
        ({"damping": np.nan}, "damping is nan"),
        ({"friction": -0.1}, "friction is -0.1"), ({"radius": [0.1, 0.2]}, r"'radius' has shape \(2,\)"),
        ({"slip": 0.0}, "slip is 0.0; it must be a finite number, positive"),
    ],
)  # fmt: skip
def test_contact_of_bad_numbers(given, says):
    with pytest.raises(ArgumentError, match=says):
        contact("tool", plane(), **({"stiffness": 1.0} | given))


def test_contact_of_no_frame_and_no_surface():
    with pytest.raises(ArgumentError, match="contact: frame must be the name"):
        contact(3, plane(), stiffness=1.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="surface is a float; plane, box, sphere and terrain make surfaces"):
        contact("tool", 0.0, stiffness=1.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="has no frame 'toe'"):
        simulate(puck(), duration=0.1, dt=0.1, forces=contact("toe", plane(), stiffness=1.0))
    with pytest.raises(ArgumentError, match="there is no parameter 'height'"):
        contact("z", plane(), stiffness=1.0).replace(height=2.0)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: plane((0, 0)), r"'point' has shape \(2,\)"), (lambda: plane(normal=(0, 0, 0)), "must be a direction"),
        (lambda: sphere((0, 0, 0), -1.0), "radius is -1"), (lambda: box(np.eye(4), (1, 0, 1)), r"size\[\d\] is 0"),
        (lambda: box(2 * np.eye(4), (1, 1, 1)), "is not a rigid motion"),
        (lambda: terrain(np.zeros(5)), r"'heights' has shape \(5,\)"),
        (lambda: terrain(np.zeros((5, 5)), spacing=0.0), "spacing is 0"),
        (lambda: terrain(np.zeros((5, 5)), corner=(0, 0, 0)), "'corner' has shape"),
        (lambda: contact("z", terrain(np.full((3, 3), np.nan)), stiffness=1.0), "'heights' contains NaN"),
    ],
)  # fmt: skip
def test_surfaces_of_bad_numbers(make, says):
    with pytest.raises((ArgumentError, ModelError), match=says):
        make()
