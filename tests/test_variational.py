"""The variational integrator: what it conserves, exactly or without drift, and its equations in another formulation."""

import numpy as np
import pytest
from support.trees import frictionless, on_free_base, tree

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.closed_loops import Loop
from adjoint.errors import ArgumentError
from adjoint.lie import inertia
from adjoint.simulation import change, force, simulate, variational
from adjoint.simulation.rollouts import rollout_kernel


def floating(**numbers):
    """A tree of all kinds of joints on a free base, without friction."""
    robot = on_free_base(frictionless(tree(1, 3, ("revolute", "spherical", "planar"))))
    return robot.replace(**{"gravity": np.zeros(3)} | numbers)


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return {"q": aj.random_configuration(robot, rng=rng), "v": rng.normal(size=robot.nv)}


def energy(robot, run):
    return aj.kinetic_energy(robot, run.q, run.v) + aj.potential_energy(robot, run.q)


# --- momentum ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_momentum_of_a_floating_tree_is_conserved():
    """Linear and angular, to the rounding of 1000 steps; other methods lose it."""
    robot = floating()
    options = {**state(robot), "duration": 10.0, "dt": 0.01, "record": 10}
    lost = {}
    for name in ("variational", "rkmk4", "semi_implicit"):
        run = simulate(robot, **options, integrator=name)
        h = aj.momentum(robot, run.q, run.v)
        lost[name] = np.abs(h - h[0]).max() / np.abs(h[0]).max()
    assert lost["variational"] < 1e-12
    assert lost["rkmk4"] > 1e-9
    assert lost["semi_implicit"] > 1e-2


@pytest.mark.slow
def test_internal_forces_leave_the_momentum_alone():
    """Joint forces, damping of joints other than the base, and armature of the joints take nothing from it."""
    robot = floating()
    inner = np.concatenate([np.zeros(6), np.ones(robot.nv - 6)])
    robot = robot.replace(damping=0.3 * inner, friction=0.1 * inner, armature=0.0 * inner)
    twisting = force(lambda robot, p, t, q, v: np.where(np.arange(robot.nv) < 6, 0.0, np.cos(7 * t)))
    run = simulate(robot, **state(robot), duration=2.0, dt=0.01, integrator="variational", forces=twisting)
    h = aj.momentum(robot, run.q, run.v)
    assert np.abs(h - h[0]).max() < 1e-11 * np.abs(h[0]).max()
    assert np.ptp(energy(robot, run)) > 0.01 * energy(robot, run)[0]


@pytest.mark.slow
def test_the_centre_of_mass_falls_along_its_parabola():
    """Straight lines and gravity at both ends make it exact at any dt."""
    g = np.array([0.5, -1.0, -9.0])
    robot = floating(gravity=g)
    run = simulate(robot, **state(robot), duration=1.0, dt=0.02, integrator="variational")
    mass = robot.inertias[:, 0].sum()
    c, t = aj.center_of_mass(robot, run.q), run.t[:, None]
    velocity = aj.momentum(robot, run.q[0], run.v[0])[3:] / mass
    np.testing.assert_allclose(c, c[0] + velocity * t + 0.5 * g * t**2, rtol=0, atol=1e-11)


# --- energy -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_energy_of_a_double_pendulum_over_a_million_steps():
    """No drift: the last tenth of the run deviates as little as the first one does.

    The classical method loses energy steadily. So does semi-implicit Euler, since Coriolis forces depend on v: its
    steps are symplectic only where the mass matrix is constant.
    """
    robot = frictionless(robots.two_link())
    off = {}
    for name in ("variational", "rk4", "semi_implicit"):
        run = simulate(robot, q=[1.0, 0.5], duration=1e4, dt=0.01, record=100, integrator=name)
        E = energy(robot, run)[1:]
        off[name] = np.abs(E - energy(robot, run)[0]).reshape(10, -1)
    low = aj.potential_energy(robot, [-np.pi / 2, 0.0])
    swing = energy(robot, run)[0] - low
    assert off["variational"].max() < 0.02 * swing
    assert off["variational"][-1].mean() < 2 * off["variational"][0].mean()
    assert off["rk4"][-1].mean() > 5 * off["rk4"][0].mean()
    assert off["semi_implicit"][-1].mean() > 0.5 * swing


def test_semi_implicit_energy_is_bounded_where_the_mass_matrix_is_constant():
    """A pendulum with one joint: symplectic Euler, whose energy deviates with dt and does not drift."""
    robot = frictionless(robots.planar(1)).replace(gravity=np.array([0, -9.81, 0]))
    run = simulate(robot, q=[0.5], duration=2e3, dt=0.01, record=10)
    off = np.abs(energy(robot, run) - energy(robot, run)[0])[1:].reshape(10, -1).max(axis=1)
    assert off[-1] < 1.05 * off[0]


def test_energy_error_is_of_second_order():
    robot = frictionless(robots.two_link())
    off = []
    for dt in (0.01, 0.005):
        run = simulate(robot, q=[1.0, 0.5], duration=0.5, dt=dt, integrator="variational")
        off.append(np.abs(energy(robot, run) - energy(robot, run)[0]).max())
    assert np.log2(off[0] / off[1]) == pytest.approx(2, abs=0.2)


# --- geometry ---------------------------------------------------------------------------------------------------------


def test_a_step_is_symplectic():
    """J of the map (q, p) -> (q', p') satisfies Jᵀ Ω J = Ω; central differences, so to about 1e-9."""
    robot = frictionless(robots.two_link())
    z = np.array([1.0, 0.5, 3.0, -2.0])
    z[2:] = aj.mass_matrix(robot, z[:2]) @ z[2:]
    e = 1e-5

    def moved(z):
        v = np.linalg.solve(aj.mass_matrix(robot, z[:, :2]), z[:, 2:, None])[..., 0]
        run = simulate(robot, q=z[:, :2], v=v, duration=0.05, dt=0.05, integrator="variational")
        p = np.einsum("bij,bj->bi", aj.mass_matrix(robot, run.q[:, -1]), run.v[:, -1])
        return np.concatenate([run.q[:, -1], p], axis=1)

    J = ((moved(z + e * np.eye(4)) - moved(z - e * np.eye(4))) / (2 * e)).T
    Omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(J.T @ Omega @ J, Omega, atol=1e-7)


@pytest.mark.slow
def test_a_run_backwards_ends_where_it_began():
    robot = floating(gravity=np.array([1.0, 2, -3]))
    there = simulate(robot, **state(robot), duration=0.5, dt=0.01, integrator="variational")
    back = simulate(robot, q=there.q[-1], v=-there.v[-1], duration=0.5, dt=0.01, integrator="variational")
    np.testing.assert_allclose(aj.difference(robot, back.q[-1], there.q[0]), 0, atol=1e-11)
    np.testing.assert_allclose(-back.v[-1], there.v[0], atol=1e-10)


def chords(robot, q_0, q_1, h):
    """∫ |y|² dm / (2 h) of all mass points, which move by y on straight lines, with 4x4 pseudo-inertias."""
    total = 0.0
    for body in robot.bodies:
        m, first, I = inertia.moments(body.inertia)
        P = np.block([[np.trace(I) / 2 * np.eye(3) - I, first[:, None]], [first[None], np.array([[m]])]])
        D = aj.forward_kinematics.eager(robot, q_1, body.name) - aj.forward_kinematics.eager(robot, q_0, body.name)
        total += 0.5 / h * np.trace(D[:3] @ P @ D[:3].T)
    return total


@pytest.mark.slow
def test_a_step_solves_the_discrete_equations_of_euler_and_lagrange():
    """p = -∂L/∂q and p' = ∂L/∂q', by differences of the energy that 4x4 matrices give."""
    robot = floating(armature=np.zeros(floating().nv))
    h, e = 0.05, 1e-6
    run = simulate(robot, **state(robot), duration=h, dt=h, integrator="variational")
    (q_0, q_1), (v_0, v_1) = run.q, run.v
    for k, along in enumerate(np.eye(robot.nv)):
        at_0, at_1 = ([aj.integrate(robot, q, s * along) for s in (e, -e)] for q in (q_0, q_1))
        p = -(chords(robot, at_0[0], q_1, h) - chords(robot, at_0[1], q_1, h)) / (2 * e)
        assert p == pytest.approx((aj.mass_matrix(robot, q_0) @ v_0)[k], abs=1e-7)
        p = (chords(robot, q_0, at_1[0], h) - chords(robot, q_0, at_1[1], h)) / (2 * e)
        assert p == pytest.approx((aj.mass_matrix(robot, q_1) @ v_1)[k], abs=1e-7)


# --- what acts --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_masses_and_changes_in_time():
    """The same as one robot after the other; a payload that comes at 0.1 s changes no velocity by itself."""
    robot = robots.two_link()
    heavier = np.stack([robot.inertias, 1.5 * robot.inertias])
    options = {"q": [1.0, 0.5], "duration": 0.2, "dt": 0.01, "integrator": "variational"}
    batch = simulate(robot, **options, lift={"inertias": heavier})
    for k in range(2):
        alone = simulate(robot.replace(inertias=heavier[k]), **options)
        np.testing.assert_allclose(batch.q[k], alone.q, atol=1e-12)
    grown = change(lambda robot, p, t: {"inertias": robot.inertias * np.where(t < 0.1, 1.0, 2.0)})
    exact = simulate(robot, **options | {"integrator": "rk4", "dt": 0.001}, changes=grown)
    run = simulate(robot, **options, changes=grown)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=2e-3)


def test_heavy_damping_converges():
    """Damping far above inertia over dt: the iterations take it as armature."""
    robot = frictionless(robots.two_link())
    robot = robot.replace(damping=np.full(2, 1e5))
    run = simulate(robot, q=[1.0, 0.5], v=[1.0, -1.0], duration=1.0, dt=0.01, integrator="variational")
    assert np.isfinite(run.q).all()
    np.testing.assert_allclose(run.q[-1], [1.0, 0.5], atol=0.02)


def test_dry_friction_brings_a_robot_to_rest():
    robot = robots.two_link().replace(gravity=np.zeros(3), damping=np.zeros(2), friction=np.full(2, 2.0))
    run = simulate(robot, q=[1.0, 0.5], v=[1.0, -1.0], duration=5.0, dt=0.01, integrator="variational")
    assert np.abs(run.v[-1]).max() < 0.2


def test_runs_without_a_solution_are_marked():
    """A spring whose period is far below dt: its own run becomes NaN, not the one beside it."""
    robot = frictionless(robots.two_link())
    spring = force(lambda robot, p, t, q, v: -p.stiffness * q, stiffness=0.0).replace(stiffness=[1.0, 1e9])
    run = simulate(robot, q=[1.0, 0.5], duration=0.1, dt=0.01, integrator="variational", forces=spring)
    assert np.isfinite(run.q[0]).all()
    assert np.isnan(run.q[1, 1:]).all()


@pytest.mark.slow
def test_iterations_stop_at_rounding():
    """A tolerance of 1e-300 is never met, and the run is the same to rounding."""
    robot = robots.puma560()
    q, v = np.linspace(-1, 1, 6), np.linspace(1, -1, 6)
    runs = [
        simulate(robot, q=q, v=v, duration=0.05, dt=0.01, integrator=variational(tol)) for tol in (1e-15, 1e-300, 1e-6)
    ]
    np.testing.assert_allclose(runs[0].v, runs[1].v, rtol=0, atol=1e-12)
    assert 1e-14 < np.abs(runs[2].v - runs[0].v).max() < 1e-4


@pytest.mark.slow
def test_a_step_takes_a_number_of_operations_that_is_linear_in_the_bodies():
    counts = []
    for n in (3, 5, 7):
        robot = robots.planar(n)
        run = simulate(robot, duration=0.01, dt=0.01, integrator="variational")
        counts.append(sum(rollout_kernel(run.setup.plan).operations))
    assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=0.02)


@pytest.mark.parametrize("what", ["loops", "base"])
def test_closed_loops_and_moving_bases_are_refused(what):
    robot = robots.planar(3)
    at_rest = change(lambda robot, p, t: (robot.gravity, np.zeros(6), np.zeros(6)))
    options = {"loops": Loop("base", "tool", "point")} if what == "loops" else {"base": at_rest}
    q = [0.0, 2 * np.pi / 3, 2 * np.pi / 3]  # the links are the sides of a triangle: the tool is at the base
    with pytest.raises(ArgumentError, match="no closed loops and no moving bases"):
        simulate(robot, q=q, duration=0.1, dt=0.01, integrator="variational", **options)
