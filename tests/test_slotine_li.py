"""Adaptive control of Slotine and Li: its Lyapunov function, and a PUMA with loads that it does not know."""

import numpy as np
import pytest

import adjoint as aj
from adjoint import control, lie
from adjoint.dynamics import coriolis_matrix, parameters
from adjoint.errors import ArgumentError
from adjoint.simulation import simulate

TERMS = ("armature", "damping", "friction")
PUMA = aj.robots.puma560()
START = np.array([0.0, -0.5, 0.5, 0.0, 0.3, 0.0])
MOTION = aj.trajectory.quintic(START, START + np.array([1.0, 0.6, -0.7, 0.5, 0.4, 0.5]), duration=2.0)
INERTIA = np.diag(aj.mass_matrix(PUMA, START))
GAINS = {"slope": 10.0, "gain": 40 * INERTIA, "adaptation": 10.0}


def loaded(mass):
    return PUMA.with_payload("tool", lie.inertia.sphere(mass, 0.05))


def degrees_off(law, plant, duration=2.0, **options):
    run = simulate(plant, law, q=START, duration=duration, dt=1e-3, **options)
    return np.degrees(np.abs(run.q - MOTION(run.t, hold=True).q)).max(axis=-1)


def test_one_instant_is_the_equations():
    law = control.slotine_li(PUMA, MOTION, slope=5.0, gain=7.0, adaptation=0.3, period=0.002)
    rng = np.random.default_rng(0)
    (q, v), t = rng.normal(size=(2, 6)), 0.4
    pi = parameters(PUMA, TERMS) * rng.uniform(0.5, 1.5, size=78)
    target = MOTION(t)
    v_r, a_r = target.v + 5 * (target.q - q), target.a + 5 * (target.v - v)
    tau, new = law(PUMA, pi, t, q, v)
    # a second formulation: the parameters make another robot
    other = PUMA.replace(inertias=pi[:60].reshape(6, 10), armature=pi[60:66])
    rigid = aj.mass_matrix.eager(other, q) @ a_r + coriolis_matrix.eager(other, q, v) @ v_r
    rigid = rigid + aj.gravity_torque.eager(other, q) + pi[66:72] * v_r + pi[72:] * np.sign(v_r)
    np.testing.assert_allclose(tau, rigid + 7 * (v_r - v), rtol=1e-11, atol=1e-11)
    Y = aj.dynamics.passive_regressor(PUMA, q, v, v_r, a_r, joints=TERMS)
    np.testing.assert_allclose(new, pi + 0.002 * 0.3 * Y.T @ (v_r - v), rtol=1e-12)


def balance(dt, composite=None):
    """V(t) and ∫ σᵀ K σ dt along a run of a robot without friction, whose load the law does not know."""
    plant = loaded(2.0)
    assert not PUMA.damping.any() and not PUMA.friction.any()
    law = control.slotine_li(
        PUMA, MOTION, slope=5.0, gain=20.0, adaptation=2.0, joints=("armature",), composite=composite, period=dt
    )
    run = simulate(plant, law, q=START, duration=1.0, dt=dt)
    target = MOTION(run.t)
    sigma = target.v + 5 * (target.q - run.q) - run.v
    off = (run.state if composite is None else run.state.parameters) - parameters(plant, ("armature",))
    V = 0.5 * np.einsum("ti,tij,tj->t", sigma, aj.mass_matrix(plant, run.q), sigma) + 0.5 * (off * off).sum(1) / 2.0
    power = 20 * (sigma * sigma).sum(1)
    return V, np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * dt)])


@pytest.mark.slow
def test_the_lyapunov_function_falls_by_what_the_gain_takes():
    (V, taken), (finer, finer_taken) = balance(1e-3), balance(5e-4)
    error, finer_error = np.abs(V + taken - V[0]).max(), np.abs(finer + finer_taken - finer[0]).max()
    # Without errors of integration V + ∫ σᵀ K σ is constant. The law holds τ and π for a period: an error of order 1.
    assert 1.7 < error / finer_error < 2.3
    assert error < 0.03 * taken[-1]
    # V never grows but by this error
    assert (V - np.minimum.accumulate(V)).max() < error and V[-1] < V[0]


@pytest.mark.slow
def test_errors_vanish_under_unknown_loads():
    law = control.slotine_li(PUMA, MOTION, **GAINS)
    masses = np.linspace(0.05, 5.0, 100)
    inertias = np.stack([loaded(m).inertias for m in masses])
    off = degrees_off(law, PUMA, 6.0, lift={"inertias": inertias}, record=10)
    assert off.shape == (100, 601)
    assert off.max() < 0.25 and off[:, -1].max() < 0.01
    others = [
        control.pd(MOTION, kp=400 * INERTIA, kd=40 * INERTIA),
        control.computed_torque(PUMA, MOTION, kp=400.0, kd=40.0),  # the stiffness of Λ K and K here
    ]
    for other in others:
        kept = degrees_off(other, PUMA, 6.0, lift={"inertias": inertias}, record=10)
        assert (kept[masses > 1, -1] > 10 * off[masses > 1, -1]).all() and kept[-1, -1] > 0.5
    one = degrees_off(law, loaded(masses[40]), 6.0, record=10)
    np.testing.assert_allclose(off[40], one, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_robot_that_is_known_keeps_its_parameters():
    law = control.slotine_li(PUMA, MOTION, **GAINS)
    run = simulate(PUMA, law, q=START, duration=2.0, dt=1e-3)
    assert np.degrees(np.abs(run.q - MOTION(run.t).q)).max() < 0.01
    assert np.abs(run.state - run.state[0]).max() < 0.01  # errors of integration move them a little


@pytest.mark.slow
def test_friction_is_learned():
    rough = PUMA.replace(damping=np.full(6, 5.0), friction=np.full(6, 3.0))

    def swing(t):
        return START + 0.4 * np.sin(np.array([1.0, 1.3, 1.7, 2.1, 2.5, 2.9]) * t) ** 2

    law = control.slotine_li(PUMA, swing, **GAINS)
    ends = []
    for x in (law, law.replace(adaptation=0.0)):
        run = simulate(rough, x, q=START, duration=20.0, dt=1e-3, record=100)
        ends.append(np.abs(run.q - np.stack([swing(t) for t in run.t]))[-50:].max())
    assert ends[0] < ends[1] / 5


@pytest.mark.slow
def test_composite_adaptation():
    # V falls by more than the gain takes, as the past torques take their share; the load is known sooner.
    V, taken = balance(1e-3, composite=10.0)
    plain, plain_taken = balance(1e-3)
    error = np.abs(plain + plain_taken - plain[0]).max()  # of integration
    assert (V + taken - V[0]).max() < error and V[-1] < plain[-1] - error
    laws = [control.slotine_li(PUMA, MOTION, **GAINS, joints=("armature",), composite=w) for w in (None, 10.0)]
    largest = [degrees_off(law, loaded(2.27)).max() for law in laws]
    assert largest[1] < 0.5 * largest[0]


def test_leak_pulls_parameters_home():
    law = control.slotine_li(PUMA, START, **GAINS | {"adaptation": 0.0}, leak=2.0, period=0.01)
    nominal = parameters(PUMA, TERMS)
    _, pi = law(PUMA, nominal + 1.0, 0.0, START, np.zeros(6))
    np.testing.assert_allclose(pi - nominal, 1 - 0.02, rtol=1e-12)


def test_some_parameters_stay():
    fixed = np.where(np.arange(60) < 50, 0.0, 1.0)  # only the last body is adapted
    law = control.slotine_li(PUMA, MOTION, slope=5.0, gain=20.0, adaptation=fixed, joints=())
    _, pi = law(PUMA, None, 0.0, START + 0.1, np.zeros(6))
    moved = pi != parameters(PUMA)
    assert not moved[:50].any() and moved[50:].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slope": 0.0}, "slotine_li: slope must be finite and positive"),
        ({"gain": [1.0, 2.0]}, r"slotine_li: gain has shape \(2,\); it must be a number or \(6,\)"),
        ({"adaptation": -1.0}, "slotine_li: adaptation must be finite and positive or 0"),
        ({"adaptation": np.ones(60)}, r"adaptation has shape \(60,\); it must be a number or \(78,\)"),
        ({"joints": ("stiction",)}, "'armature', 'damping', 'friction', 'offset'"),
        ({"composite": -1.0}, "slotine_li: composite must be a positive"),
        ({"composite": 1.0, "cutoff": np.nan}, "slotine_li: cutoff must be a positive"),
        ({"leak": -1.0}, "slotine_li: leak must be a positive number or 0"),
        ({"period": 0.0}, "slotine_li: period must be a positive"),
    ],
)
def test_bad_numbers_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        control.slotine_li(PUMA, MOTION, **GAINS | options)


def test_other_robots_are_named():
    with pytest.raises(ArgumentError, match="slotine_li"):
        control.slotine_li("puma", MOTION, **GAINS)


def wave(t):
    one, two = 0.6 * np.sin(1.3 * t) + 0.4 * np.sin(3.1 * t), 0.5 * np.sin(2.3 * t) + 0.5 * np.sin(1.7 * t)
    return np.stack([one, two])


def test_adaptation_within_its_limit_converges_and_far_beyond_it_diverges():
    """The law is damped while period · Y Γ Yᵀ < K: the page on adaptive control states this rule."""
    arm, heavy = aj.robots.two_link(), aj.robots.two_link(mass_2=1.5)
    law = control.slotine_li(arm, wave, slope=10.0, gain=20.0, adaptation=1.0, joints=(), period=1e-3)
    run = simulate(heavy, law, q=np.zeros(2), v=[2.02, 2.0], duration=20.0, dt=1e-3, record=10)
    target = run.reference
    Y = aj.dynamics.passive_regressor(arm, target.q, target.v, target.v, target.a, joints=())
    limit = 20.0 / (1e-3 * np.linalg.norm(Y, 2, axis=(-2, -1)).max() ** 2)
    assert limit == pytest.approx(6.06, abs=0.02)
    gains = np.array([1.0, limit, 40 * limit])
    law = law.replace(adaptation=gains[:, None] * np.ones(20))
    runs = simulate(heavy, law, q=np.zeros(2), v=[2.02, 2.0], duration=20.0, dt=1e-3, record=10)
    assert runs.finite.tolist() == [True, True, False]
    off = np.abs(runs.error[:2, runs.t > 15]).max(axis=(1, 2))
    assert off[1] < off[0]
