"""Chains in a heat bath: exact statistics of ideal chains, with and without Fixman's potential."""

import numpy as np
import pytest
from support.polymers import bead_logdet, eager_positions

import adjoint as aj
from adjoint import polymer
from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import inertia
from adjoint.model import Robot

SIGMAS = 4.5  # of a mean; one test in 10⁵ would fail by chance, and seeds are fixed


def mean_and_error(samples):
    """Mean of samples (times, replicas), and its standard error: replicas are independent, times are not."""
    own = samples.mean(axis=0)
    return own.mean(), own.std() / np.sqrt(len(own))


def agrees(samples, expected) -> bool:
    mean, error = mean_and_error(samples)
    return abs(mean - expected) < SIGMAS * error


def trimer(masses, spin: float) -> Robot:
    """Three balls on two rigid bonds of unit length along x, with a ball joint at the second."""
    balls = [
        inertia.from_central.eager(m, np.array([x, 0.0, 0.0]), spin * np.eye(3))
        for m, x in zip(masses, (-1, 0, 1), strict=True)
    ]
    builder = Robot.builder("trimer", base="free", gravity=(0, 0, 0))
    builder.link("first", balls[0] + balls[1]).link("second", balls[2])
    return builder.joint("middle", "spherical", "first", "second").build()


@pytest.mark.slow
@pytest.mark.parametrize("fixman", [False, True])
def test_angle_of_a_freely_jointed_trimer(fixman):
    """P(θ) ∝ sin θ √(1 - κ cos²θ) with rigid bonds, and ∝ sin θ, as if the bonds were springs, with the potential.

    Without the motion of the whole, ½ (a |u̇_1|² + b |u̇_2|² + 2 c u̇_1 · u̇_2) is the energy of unit bond vectors: in
    their plane u̇_1 · u̇_2 is cos θ times the rates, across it 1, so det M ∝ (ab - c² cos²θ)(ab - c²), κ = c²/(ab).
    Point masses, all equal: κ = 1/4.
    """
    m1, m2, m3, spin = 1.0, 0.2, 1.0, 0.1
    robot, kT = trimer((m1, m2, m3), spin), 1.0
    total = m1 + m2 + m3
    a, b, c = m1 * (m2 + m3) / total + 2 * spin, m3 * (m1 + m2) / total + spin, m1 * m3 / total
    rng = np.random.default_rng(1)
    q = aj.random_configuration(robot, 3000, rng=rng)
    v = aj.dynamics.random_velocity(robot, q, rng=rng, kT=kT)
    path = polymer.langevin(robot, q, v, dt=0.1, steps=150, kT=kT, friction=1.0, fixman=fixman, every=5, rng=rng)
    R = aj.forward_kinematics(robot, path.q[8:])
    cosine = np.sum(R[..., 0, :3, 0] * R[..., 1, :3, 0], axis=-1)
    z = np.linspace(-1, 1, 2001)
    density = np.ones_like(z) if fixman else np.sqrt(a * b - c**2 * z**2)
    expected = np.trapezoid(z**2 * density, z) / np.trapezoid(density, z)
    assert agrees(cosine**2, expected) and agrees(cosine, 0.0)
    other = 1 / 3 if not fixman else 0.3103
    assert not agrees(cosine**2, other)  # the two distributions are told apart
    assert agrees(2 * aj.kinetic_energy(robot, path.q[8:], path.v[8:]) / robot.nv, kT)


def test_log_det_of_the_trimer_is_the_closed_form():
    robot = trimer((1.0, 1.0, 1.0), 1e-3)
    q = aj.random_configuration(robot, 50, rng=3)
    R = aj.forward_kinematics(robot, q)
    cosine = np.sum(R[..., 0, :3, 0] * R[..., 1, :3, 0], axis=-1)
    a, b, c = 2 / 3 + 2e-3, 2 / 3 + 1e-3, 1 / 3
    assert np.ptp(aj.mass_matrix_logdet(robot, q) - np.log(a * b - c**2 * cosine**2)) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("fixman", [False, True])
def test_torsion_of_four_beads(fixman):
    """P(φ) ∝ √det H_22(φ) with rigid bonds and angles, uniform with the potential; H_22 as Fixman writes it."""
    chain, kT = polymer.bead_chain(4, mass=1.0, bond_length=1.0), 1.0
    rng = np.random.default_rng(2)
    q = np.tile(chain.q, (3000, 1))
    q[:, -1] = rng.uniform(-np.pi, np.pi, 3000)
    v = aj.dynamics.random_velocity(chain.robot, q, rng=rng, kT=kT)
    path = polymer.langevin(chain.robot, q, v, dt=0.08, steps=200, kT=kT, friction=1.0, fixman=fixman, every=5, rng=rng)
    grid = np.linspace(-np.pi, np.pi, 73)[:-1]
    turned = np.concatenate([np.tile(chain.q[:-1], (72, 1)), grid[:, None]], axis=1)
    density = np.exp([0.5 * bead_logdet(1.0, eager_positions(chain, one)) for one in turned])
    rigid = np.sum(density * np.cos(2 * grid)) / np.sum(density)
    found = np.cos(2 * path.q[12:, :, -1])
    assert agrees(found, 0.0 if fixman else rigid) and not agrees(found, rigid if fixman else 0.0)


# --- ideal chains, sampled directly -----------------------------------------------------------------------------------


def bonds(chain, q):
    return np.diff(chain.positions(q), axis=-2)


def uniform(chain, rng, count):
    q = np.tile(chain.q, (count, 1))
    q[:, 7:] = rng.uniform(-np.pi, np.pi, (count, chain.robot.nq - 7))
    return q


@pytest.mark.slow
def test_bond_vectors_of_the_freely_rotating_chain():
    """<b_i · b_j> = b² c^|i-j|, c = -cos(bond angle), and <R²> as Flory prints it."""
    chain, b, c = polymer.bead_chain(21), 1.53, -np.cos(np.radians(112.0))
    u = bonds(chain, uniform(chain, np.random.default_rng(3), 20_000))
    for i, j in ((0, 0), (0, 1), (0, 2), (4, 8), (3, 10), (0, 19)):
        product = np.sum(u[:, i] * u[:, j], axis=-1)[None]
        mean, error = mean_and_error(product)
        assert abs(mean - b**2 * c ** abs(i - j)) < SIGMAS * error + 1e-12
    n = 20
    expected = n * b**2 * ((1 + c) / (1 - c) - 2 * c * (1 - c**n) / (n * (1 - c) ** 2))
    assert agrees(np.sum(u.sum(axis=1) ** 2, axis=-1)[None], expected)


@pytest.mark.slow
def test_long_chains_are_gaussian():
    """<R⁴>/<R²>² is 5/3 of a Gaussian vector in space; ideal chains are below it, and come near it like 1/n."""
    rng, found = np.random.default_rng(4), []
    for n in (5, 81):
        chain = polymer.bead_chain(n, bond_angle=np.pi / 2)
        R2 = np.sum(bonds(chain, uniform(chain, rng, 20_000)).sum(axis=1) ** 2, axis=-1)
        found.append(np.mean(R2**2) / np.mean(R2) ** 2)
    assert found[0] < 1.5 and abs(found[1] - 5 / 3) < 0.04


@pytest.mark.slow
def test_the_potential_keeps_ideal_chains_ideal():
    """Dynamics with Fixman's potential leave <b_i · b_j> at b² c^|i-j|; without it correlations drift away."""
    chain, kT = polymer.bead_chain(6, mass=1.0, bond_length=1.0, bond_angle=np.pi / 2), 1.0
    rng = np.random.default_rng(5)
    q = uniform(chain, rng, 2000)
    v = aj.dynamics.random_velocity(chain.robot, q, rng=rng, kT=kT)
    for fixman in (True, False):
        path = polymer.langevin(
            chain.robot, q, v, dt=0.06, steps=150, kT=kT, friction=1.0, fixman=fixman, every=10, rng=6
        )
        u = bonds(chain, path.q[5:])
        product = np.sum(u[..., 0, :] * u[..., 2, :], axis=-1)  # <b_1 · b_3> = c² = 0
        assert agrees(product, 0.0) == fixman


# --- the integrator ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_verlet_is_of_second_order_and_reversible():
    chain = polymer.polypeptide("GG")
    robot, kT = chain.robot, polymer.BOLTZMANN * 300
    v = aj.dynamics.random_velocity(robot, chain.q, rng=7, kT=kT)
    errors = []
    for dt in (2e-3, 1e-3):
        path = polymer.langevin(robot, chain.q, v, dt=dt, steps=round(0.2 / dt))
        energy = aj.kinetic_energy(robot, path.q, path.v)
        errors.append(np.abs(energy / energy[0] - 1).max())
    assert 3 < errors[0] / errors[1] < 5 and errors[1] < 1e-3
    back = polymer.langevin(robot, path.q[-1], -path.v[-1], dt=1e-3, steps=200)
    assert np.allclose(back.v[-1], -v, atol=1e-4 * np.abs(v).max())


@pytest.mark.slow
def test_temperature_in_the_units_of_molecules():
    """From rest, a peptide at 300 K has the energy nv kT/2, and its atoms thermal speeds of some Å/ps."""
    chain = polymer.polypeptide("GAG")
    robot, kT = chain.robot, polymer.BOLTZMANN * 300
    assert np.isclose(kT, 1.380649e-23 * 300 / (1.66053906660e-27 * 1e-20 / 1e-24), rtol=1e-9)
    q = np.tile(chain.q, (1500, 1))
    path = polymer.langevin(
        robot, q, np.zeros((1500, robot.nv)), dt=2e-3, steps=60, kT=kT, friction=50.0, every=10, rng=8
    )
    energy = aj.kinetic_energy(robot, path.q[-1:], path.v[-1:])
    assert agrees(energy, 0.5 * robot.nv * kT)


def test_a_torque_is_felt():
    """A stiff torsion: <φ²> = kT/k about its rest, as for any small oscillator."""
    chain, kT, k = polymer.bead_chain(4, mass=1.0, bond_length=1.0, base="fixed"), 1.0, 25.0
    q = np.zeros((1500, 1))
    path = polymer.langevin(
        chain.robot, q, 0 * q, dt=0.04, steps=200, kT=kT, friction=4.0, torque=lambda q: -k * q, every=10, rng=9
    )
    assert agrees(path.q[8:, :, 0] ** 2, kT / k)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dt": 0.0}, "dt must be a positive number, got 0"),
        ({"dt": "2 fs"}, "dt must be a positive number, got '2 fs'"),
        ({"kT": -1.0}, "kT must be a positive number or 0, got -1"),
        ({"torque": 3}, "torque must be a function of q"),
        ({"torque": lambda q: np.zeros(1)}, r"'torque\(q\)' has shape"),
        ({"q": "home"}, "'q' is a str"),
        ({"v": np.zeros(2)}, "'v' has shape"),
        ({"check": "no"}, "check must be True or False"),
        ({"friction": 1.0, "kT": 0.0}, "friction needs a temperature"),
        ({"fixman": True, "kT": 0.0}, "fixman needs a temperature"),
        ({"steps": -1}, "steps"),
        ({"every": 0}, "at least 1"),
        ({"rng": "seed"}, "langevin"),
    ],
)
def test_bad_arguments_are_named(options, says):
    robot = polymer.bead_chain(4).robot
    q, v = aj.neutral(robot), np.zeros(robot.nv)
    with pytest.raises(ArgumentError, match=says):
        polymer.langevin(robot, **({"q": q, "v": v, "dt": 0.1, "steps": 1, "kT": 1.0} | options))


# --- units and steps that are too long --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("how", ["bath", "velocities"])
def test_steps_in_femtoseconds_are_doubted(how):
    chain, kT = polymer.bead_chain(6), 300 * polymer.BOLTZMANN
    q = np.tile(chain.q, (20, 1))
    v = (
        aj.dynamics.random_velocity(chain.robot, q, rng=0, kT=kT)
        if how == "velocities"
        else np.zeros((20, chain.robot.nv))
    )
    options = {"steps": 3, "rng": 0} | ({"kT": kT, "friction": 1.0} if how == "bath" else {})
    with pytest.raises(ArgumentError, match=r"turns joints by .* rad.*Is dt in fs\? Times of polymers are in ps"):
        polymer.langevin(chain.robot, q, v, dt=2.0, **options)
    polymer.langevin(chain.robot, q, v, dt=0.002, **options)  # the same in ps
    with pytest.raises(SolveError, match=r"step \d, .* of 20 replicas: steps diverge; a shorter dt than 2"):
        polymer.langevin(chain.robot, q, v, dt=2.0, check=False, **(options | {"steps": 60}))


def test_steps_that_diverge_are_an_error():
    chain = polymer.bead_chain(5)
    stiff = lambda q: np.concatenate([np.zeros((*q.shape[:-1], 6)), -1e9 * q[..., 7:]], axis=-1)  # noqa: E731
    q, v = np.tile(chain.q, (3, 1)), np.zeros((3, chain.robot.nv))
    q[..., 7:] = 0.5
    with pytest.raises(SolveError, match=r"langevin: step \d+, at time .* of 3 replicas: steps diverge"):
        polymer.langevin(chain.robot, q, v, dt=0.01, steps=500, torque=stiff)
