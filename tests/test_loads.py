"""Loads, moving bases and closed loops in simulations: impulses, inertial forces and energies as the laws say."""

import numpy as np
import pytest
from support.sliders import G, at, ball, energy, slider
from support.trees import on_free_base

import adjoint as aj
from adjoint.dynamics import Loop, close_loops, loop_error
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3, so3
from adjoint.model import Robot
from adjoint.simulation import applied, joint_disturbance, moving_base, payload, simulate

# --- wrenches ---------------------------------------------------------------------------------------------------------


def test_a_force_in_world_axes_pushes_a_spinning_body_straight():
    robot, F = ball(2.0).replace(gravity=(0, 0, 0)), np.array([1.0, -2.0, 3.0])
    push = applied("ball", [0, 0, 0, *F], axes="world", start=0.1, end=0.3)
    run = simulate(
        robot, q=at([0, 0, 0]), v=[5.0, 3, -2, 0, 0, 0], duration=0.5, dt=1e-3, integrator="rk4", forces=push
    )
    p = aj.dynamics.momentum(robot, run.q, run.v)[:, 3:]
    # The stages of rk4 see a jump at a step's end a little early: by dt/6 of the force, at both ends of the push.
    np.testing.assert_allclose(p[run.t < 0.0995], 0, atol=1e-15)
    np.testing.assert_allclose(p[-1], 0.2 * F, rtol=1e-9)


def test_a_force_in_body_axes_turns_with_the_body():
    """Spinning at w about z under a constant force along its own x: it circles with the radius F/(m w²)."""
    robot, w, F, m = ball(2.0).replace(gravity=(0, 0, 0)), 4.0, 3.0, 2.0
    v = np.array([0, 0, w, 0.0, -F / (m * w), 0])
    q = at([F / (m * w * w) * -1, 0, 0])
    run = simulate(robot, q=q, v=v, duration=1.0, dt=1e-3, integrator="rk4", forces=applied("ball", [0, 0, 0, F, 0, 0]))
    circle = F / (m * w * w) * np.stack([-np.cos(w * run.t), -np.sin(w * run.t)], axis=1)
    np.testing.assert_allclose(run.q[:, :2], circle, rtol=0, atol=1e-9)


def test_a_moment_turns_a_ball():
    robot = ball(2.0, 0.1).replace(gravity=(0, 0, 0))
    run = simulate(robot, q=at([0, 0, 0]), duration=0.1, dt=1e-3, forces=applied("ball", [0, 0, 0.4, 0, 0, 0]))
    np.testing.assert_allclose(run.v[-1, 2], 0.4 * 0.1 / (0.4 * 2.0 * 0.01), rtol=1e-12)


def test_a_push_lasts_from_its_start_to_its_end():
    times = np.array([[0.0, 1.0], [0.25, 0.5], [0.9, 0.95], [2.0, 3.0]])
    push = applied("block", [0, 0, 0, 6.0, 0, 0], start=0.0, end=1.0).replace(start=times[:, 0], end=times[:, 1])
    run = simulate(slider(2.0), duration=1.0, dt=1 / 1024, forces=push)  # steps that are exact in binary
    want = 3.0 * np.ceil((np.clip(times[:, 1], 0, 1) - np.clip(times[:, 0], 0, 1)) * 1024 - 1e-9) / 1024
    np.testing.assert_allclose(run.v[:, -1, 0], want, rtol=1e-12, atol=3 / 1024)


@pytest.mark.parametrize(
    ("shape", "options", "want"),
    [
        ("step", {"start": 0.25, "end": 0.75}, lambda t: 4.0 * np.clip(t - 0.25, 0, 0.5)),
        ("sine", {"frequency": 3.0}, lambda t: 4.0 * (1 - np.cos(6 * np.pi * t)) / (6 * np.pi)),
        (
            "pulse", {"start": 0.25, "end": 0.75},
            lambda t: 4.0 * (lambda s: s / 2 - np.sin(4 * np.pi * s) / (8 * np.pi))(np.clip(t - 0.25, 0, 0.5)),
        ),
    ],
)  # fmt: skip
def test_disturbances_of_joints_have_their_impulse(shape, options, want):
    run = simulate(slider(1.0), duration=1.0, dt=1 / 1024, forces=joint_disturbance(4.0, shape, **options))
    # Sums of smooth forces at the start of steps: off by the force times a step, at most.
    np.testing.assert_allclose(run.v[:, 0], want(run.t), rtol=0, atol=4.0 / 1024)


@pytest.mark.slow
def test_disturbances_for_each_joint_and_in_a_batch():
    robot, size = aj.robots.park3r(), np.arange(3.0)
    run = simulate(robot, duration=1e-3, dt=1e-3, forces=joint_disturbance(size))
    want = aj.forward_dynamics(robot, np.zeros(3), np.zeros(3), size)
    np.testing.assert_allclose(run.a[0], want, rtol=1e-12)
    batch = joint_disturbance(size).replace(size=np.stack([size, 2 * size]))
    assert np.array_equal(simulate(robot, duration=1e-3, dt=1e-3, forces=batch).q[0], run.q)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: applied("tool", [1.0, 2, 3]), r"'wrench' has shape \(3,\); it must be \(6,\)"),
        (lambda: applied("tool", np.zeros(6), axes="tool"), "axes is 'tool'; it must be"),
        (lambda: applied(None, np.zeros(6)), "frame must be the name"),  # type: ignore[arg-type]
        (lambda: applied("tool", np.zeros(6), start=2.0, end=1.0), "'end' is 1 s, before 'start'"),
        (lambda: applied("tool", np.full(6, np.nan)), "'wrench' contains NaN"),
        (lambda: joint_disturbance(1.0, "triangle"), "shape is 'triangle'; it must be one of 'step', 'sine', 'pulse'"),
        (lambda: joint_disturbance(1.0, "pulse"), "a pulse needs an end after its start"),
        (lambda: joint_disturbance(1.0, "sine", frequency=-1.0), "frequency is -1"),
        (lambda: simulate(slider(), duration=0.1, dt=0.1, forces=joint_disturbance(np.ones(2))), "size has shape"),
        (lambda: payload("tool", -1.0), "payload: mass is -1"),
        (lambda: payload("tool", 1.0, com=(0, 0)), "'com' has"),
        (lambda: payload("tool", 1.0, inertia=-np.eye(3)), "must be symmetric and not negative"),
        (lambda: payload("tool", 1.0, inertia=[1, 2, 3]), r"'inertia' has shape \(3,\)"),
        (lambda: payload(1, 1.0), "frame must be the name"),  # type: ignore[arg-type]
        (lambda: simulate(slider(), duration=0.1, dt=0.1, changes=payload("rail", 1.0)), "'rail' is fixed to the base"),
        (lambda: simulate(slider(), duration=0.1, dt=0.1, changes=payload("hand", 1.0)), "has no frame 'hand'"),
        (lambda: moving_base(3.0), "moving_base needs a function"),  # type: ignore[arg-type]
        (lambda: moving_base(accelerated, t=3.0), "'t' is the time"),
        (lambda: simulate(slider(), duration=0.1, dt=0.1, base=moving_base(np.cos)), "a pose is"),
    ],
)  # fmt: skip
def test_loads_of_bad_numbers(make, says):
    with pytest.raises(aj.AdjointError, match=says):
        make()


# --- payloads ---------------------------------------------------------------------------------------------------------


def test_a_lift_that_picks_a_load_and_lets_it_go():
    """A mass that a constant force holds against gravity; with a load it falls, and then moves on steadily."""
    robot, m, mass = slider(2.0, (0, 0, -G), axis=(0, 0, 1)), 2.0, np.array([0.0, 1.0, 3.0])
    held = payload("block", 1.0, start=0.25, end=0.5).replace(mass=mass)
    run = simulate(robot, duration=1.0, dt=1 / 1024, forces=joint_disturbance(m * G), changes=held)
    falls = (m * G / (m + mass) - G)[:, None] * np.clip(run.t - 0.25, 0, 0.25)
    np.testing.assert_allclose(run.v[..., 0], falls, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_payload_is_the_robot_with_it():
    robot, q, v = aj.robots.park3r(), np.full(3, 0.3), np.full(3, -0.2)
    com, tensor = np.array([0.02, -0.01, 0.1]), np.diag([0.01, 0.02, 0.015])
    load = inertia.from_central(2.5, com, tensor)
    run = simulate(robot, q=q, v=v, duration=0.2, dt=1e-3, changes=payload("tool", 2.5, com=com, inertia=tensor))
    same = simulate(robot.with_payload("tool", load), q=q, v=v, duration=0.2, dt=1e-3)
    np.testing.assert_allclose(run.q, same.q, rtol=0, atol=1e-11)
    twice = [payload("tool", 2.5, com=com, inertia=tensor), payload("tool", 1.0)]
    run = simulate(robot, q=q, v=v, duration=0.2, dt=1e-3, changes=twice)
    more = robot.with_payload("tool", load + inertia.from_central(1.0, np.zeros(3), np.zeros((3, 3))))
    np.testing.assert_allclose(run.q, simulate(more, q=q, v=v, duration=0.2, dt=1e-3).q, rtol=0, atol=1e-11)


def test_payloads_of_lifted_inertias():
    robot = aj.robots.park3r()
    lifted = np.stack([robot.inertias, 1.5 * robot.inertias])
    run = simulate(robot, duration=0.1, dt=1e-3, changes=payload("tool", 1.0), lift={"inertias": lifted})
    for k in (0, 1):
        own = robot.replace(inertias=lifted[k])
        np.testing.assert_allclose(
            run.q[k], simulate(own, duration=0.1, dt=1e-3, changes=payload("tool", 1.0)).q, rtol=0, atol=1e-12
        )


# --- moving bases -----------------------------------------------------------------------------------------------------


def pendulum(length: float = 0.7) -> Robot:
    """A point at the end of a rod that hangs from the base and turns about the y axis; q = 0 hangs."""
    bob = inertia.from_central(1.5, np.array([0, 0, -length]), np.zeros((3, 3)))
    builder = Robot.builder("pendulum").link("cart").link("rod", bob)
    return builder.joint("pivot", "revolute", "cart", "rod", axis=(0, 1, 0)).build()


def accelerated(t, rate):
    return se3.from_rotation_translation(np.eye(3), np.stack([rate * t * t / 2, 0 * t, 0 * t]))


def spun(t, rate):
    return se3.from_rotation_translation(so3.rotation_z(rate * t), np.zeros(3))


def swung(t, size, rate):
    """Along and about a screw that does not change: the twist is s'(t) times the screw, and its rate s''(t)."""
    screw = np.array([0.3, -0.7, 0.5, 1.0, 0.2, -0.4])
    return se3.exp(size * np.sin(rate * t) * screw)


def test_a_pendulum_in_an_accelerated_cart_hangs_askew():
    rates = np.array([0.0, 2.0, -5.0])
    base = moving_base(accelerated, rate=0.0).replace(rate=rates)
    rest = np.arctan2(rates, G)[:, None]  # a turn about y takes the bob, at -z, towards -x: against the acceleration
    run = simulate(pendulum(), q=rest, duration=1.0, dt=1e-3, base=base)
    np.testing.assert_allclose(run.q, np.broadcast_to(rest[:, None], run.q.shape), rtol=0, atol=1e-12)
    # Small swings about it have the frequency of the gravity that is felt there.
    run = simulate(pendulum(), q=rest + 1e-4, duration=1.0, dt=1e-3, integrator="rk4", base=base)
    w = np.sqrt(np.hypot(G, rates) / 0.7)[:, None]
    np.testing.assert_allclose(run.q[..., 0] - rest, 1e-4 * np.cos(w * run.t), rtol=0, atol=1e-10)


def test_a_pendulum_on_a_turntable_rises_to_the_angle_of_its_governor():
    """q̈ = sin q (Ω² cos q - g/l): it rests at cos q = g/(l Ω²), and keeps ½ l² q̇² - ½ l² Ω² sin² q - g l cos q."""
    length, rate = 0.7, 6.0
    rest = np.arccos(G / (length * rate**2))
    base = moving_base(spun, rate=rate)
    run = simulate(pendulum(), q=[rest], duration=1.0, dt=1e-3, base=base)
    np.testing.assert_allclose(run.q, rest, rtol=0, atol=1e-12)
    run = simulate(pendulum(), q=[0.3], v=[0.5], duration=2.0, dt=1e-3, integrator="rk4", base=base)
    q, v = run.q[:, 0], run.v[:, 0]
    kept = length**2 / 2 * (v**2 - rate**2 * np.sin(q) ** 2) - G * length * np.cos(q)
    np.testing.assert_allclose(kept, kept[0], rtol=0, atol=1e-8)
    assert np.ptp(q) > 0.5


@pytest.mark.slow
def test_a_moving_base_is_a_free_joint_that_is_moved():
    """In the robot whose base flies, the accelerations of both together need the same joint forces."""
    robot, size, rate = aj.robots.park3r(), 0.4, 3.0
    screw = np.array([0.3, -0.7, 0.5, 1.0, 0.2, -0.4])
    q, v = np.full(3, 0.3), np.linspace(-1, 1, 3)
    run = simulate(robot, q=q, v=v, duration=0.5, dt=1e-2, base=moving_base(swung, size=size, rate=rate))
    free = on_free_base(robot)
    for k in range(0, 51, 10):
        t = run.t[k]
        T = swung(t, size, rate)
        whole = np.concatenate([T[:3, 3], so3.to_quat_wxyz(T[:3, :3]), run.q[k]])
        twist = screw * size * rate * np.cos(rate * t), -screw * size * rate**2 * np.sin(rate * t)
        tau = aj.inverse_dynamics(
            free, whole, np.concatenate([twist[0], run.v[k]]), np.concatenate([twist[1], run.a[k]])
        )
        np.testing.assert_allclose(tau[6:], 0, atol=1e-10)


def test_a_base_that_falls_takes_gravity_away():
    def falls(t):
        return se3.from_rotation_translation(np.eye(3), np.stack([0 * t, 0 * t, -G / 2 * t * t]))

    robot = pendulum()
    run = simulate(robot, q=[1.0], v=[2.0], duration=1.0, dt=1e-3, base=moving_base(falls))
    np.testing.assert_allclose(run.v, 2.0, rtol=0, atol=1e-12)


def test_a_base_that_stands_askew_is_a_robot_with_turned_gravity():
    R = so3.rotation_x(0.4) @ so3.rotation_y(-0.7)

    def leans(t):
        return se3.from_rotation_translation(R, np.zeros(3)) + 0 * t

    robot = aj.robots.park3r()
    run = simulate(robot, duration=0.1, dt=1e-3, base=moving_base(leans))
    same = simulate(robot.replace(gravity=R.T @ robot.gravity), duration=0.1, dt=1e-3)
    np.testing.assert_allclose(run.q, same.q, rtol=0, atol=1e-12)


# --- closed loops -----------------------------------------------------------------------------------------------------


def linkage():
    """A crank, a coupler and a rocker in the x-y plane, their loop, and a configuration where it is closed."""

    def along(x: float) -> np.ndarray:
        return se3.from_rotation_translation.eager(np.eye(3), [x, 0.0, 0.0])

    builder = Robot.builder("linkage", gravity=(0, -G, 0)).link("ground")
    for name, parent, x in (("crank", "ground", 0.0), ("coupler", "crank", 0.3), ("rocker", "ground", 0.8)):
        builder.link(name, inertia.sphere(1.0, 0.1)).joint(name, "revolute", parent, name, along(x))
    builder.frame("coupler end", "coupler", along(0.9)).frame("rocker end", "rocker", along(0.6))
    robot, loops = builder.build(), (Loop("coupler end", "rocker end", "point"),)
    return robot, loops, close_loops(robot, loops, np.array([1.0, -0.5, 1.0]), held=("crank",))


@pytest.mark.slow
def test_a_four_bar_linkage_keeps_its_energy_and_stays_closed():
    robot, loops, q = linkage()
    run = simulate(robot, q=q, duration=3.0, dt=1e-3, integrator="rk4", loops=loops)
    E = energy(robot, run.q, run.v)
    moved = aj.dynamics.kinetic_energy(robot, run.q, run.v).max()
    # The fourth order of rk4 at about 10 rad/s: (ω dt)⁴ = 1e-8 a radian, of all that moves.
    np.testing.assert_allclose(E, E[0], rtol=0, atol=1e-6 * moved)
    assert moved > 1.0
    assert np.abs(loop_error(robot, loops, run.q)).max() < 1e-8


def test_a_linkage_that_starts_with_a_small_gap_closes_it():
    robot, loops, q = linkage()
    off = q + np.array([0, 5e-7, 0])
    start = np.abs(loop_error(robot, loops, off)).max()
    run = simulate(robot, q=off, duration=2.0, dt=1e-3, integrator="rk4", loops=loops)
    assert start > 1e-7 and np.abs(loop_error(robot, loops, run.q[-1])).max() < 1e-3 * start


def test_loops_in_a_batch_of_robots():
    robot, loops, q = linkage()
    lifted = np.stack([robot.inertias, robot.inertias * 2])
    run = simulate(robot, q=q, duration=0.3, dt=1e-3, loops=loops, lift={"inertias": lifted})
    np.testing.assert_allclose(run.q[0], run.q[1], rtol=0, atol=1e-9)  # a heavier linkage swings in the same way


def test_loops_that_are_open_at_the_start():
    robot, loops, q = linkage()
    with pytest.raises(ArgumentError, match=r"loop 'coupler end' - 'rocker end' \(point\) .* is open by 0\.\d+ at the"):
        simulate(robot, q=q + 0.1, duration=0.1, dt=1e-3, loops=loops)
    with pytest.raises(ArgumentError, match="is open by"):  # one of several runs
        simulate(robot, q=np.stack([q, q + 0.1]), duration=0.1, dt=1e-3, loops=loops)
    longer = np.linalg.norm(robot.placements[:, :3, 3], axis=1) * 1.1
    with pytest.raises(ArgumentError, match="is open by"):  # open for the numbers of the run, not for the robot's own
        simulate(robot, q=q, duration=0.1, dt=1e-3, loops=loops, lift={"lengths": longer})
    with pytest.raises(ArgumentError, match="has no frame 'nowhere'"):
        simulate(robot, q=q, duration=0.1, dt=1e-3, loops=Loop("coupler end", "nowhere"))
