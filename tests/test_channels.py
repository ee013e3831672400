"""What stands between a law and a robot: limits, sampling, delay, counts, noise and filters."""

import numpy as np
import pytest
from support.c_code import run_c
from support.control_laws import (
    asked,
    cart,
    constant,
    counter,
    floating,
    position_probe,
    velocity_probe,
)

import adjoint as aj
from adjoint import control
from adjoint.control import state_of
from adjoint.errors import ArgumentError
from adjoint.simulation import simulate

PUMA = aj.robots.puma560()
CART = cart()
RNG = np.random.default_rng(0)
Q, V = RNG.normal(size=(2, 40, 6))
TIMES = 0.01 * np.arange(40)
PD = control.pd(np.zeros(6), kp=100.0, kd=20.0)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_saturated_forces():
    tau = PD(PUMA, None, 0.0, Q, V).tau
    limit = np.linspace(10, 60, 6)
    np.testing.assert_array_equal(control.saturated(PD, 30.0)(PUMA, None, 0.0, Q, V).tau, np.clip(tau, -30, 30))
    np.testing.assert_array_equal(control.saturated(PD, limit)(PUMA, None, 0.0, Q, V).tau, np.clip(tau, -limit, limit))
    open_ended = np.array([np.inf, *limit[1:]])
    weak = control.saturated(PD, open_ended)(PUMA, None, 0.0, Q, V).tau
    np.testing.assert_array_equal(weak, np.clip(tau, -open_ended, open_ended))
    weak = control.saturated(PD, lower=-np.inf, upper=open_ended)(PUMA, None, 0.0, Q, V).tau
    np.testing.assert_array_equal(weak, np.minimum(tau, open_ended))
    for wrong in (np.nan, -np.inf, -1.0):
        with pytest.raises(ArgumentError, match="saturated: limit must be finite and positive or 0"):
            control.saturated(PD, wrong)
    two_sided = control.saturated(PD, lower=-5.0, upper=limit)
    np.testing.assert_array_equal(two_sided(PUMA, None, 0.0, Q, V).tau, np.clip(tau, -5, limit))
    many = control.saturated(PD, 30.0).replace(torque_limit=np.arange(40.0))
    np.testing.assert_array_equal(many(PUMA, None, 0.0, Q, V).tau, np.clip(tau.T, -np.arange(40.0), np.arange(40.0)).T)


def test_limits_of_the_robot_itself():
    limit = np.linspace(10, 60, 6)
    robot, law = PUMA.replace(effort_limit=limit), control.saturated(PD)
    tau = PD(PUMA, None, 0.0, Q, V).tau
    np.testing.assert_array_equal(law(robot, None, 0.0, Q, V).tau, np.clip(tau, -limit, limit))
    with pytest.raises(ArgumentError, match=r"saturated: robot 'puma560' has no effort limits; give the limit"):
        law(PUMA, None, 0.0, Q, V)


def test_a_law_around_a_law_without_states_has_none():
    tau, state = control.saturated(PD, 30.0)(PUMA, None, 0.0, Q[0], V[0])
    assert state == (None, None) and tau.shape == (6,)
    run = simulate(PUMA, control.saturated(PD, 30.0), q=Q[0], v=V[0], duration=0.1, dt=0.001)
    assert np.abs(run.tau).max() == 30


def test_rates_are_limited():
    law = control.rate_limited(PD, np.linspace(100, 600, 6), 0.01, robot=PUMA)
    tau, state = asked(law, PUMA, Q, V, TIMES)
    steps = np.diff(np.concatenate([np.zeros((1, 6)), tau]), axis=0)
    allowed = np.linspace(1, 6, 6) * (1 + 1e-12)
    assert np.all(np.abs(steps) <= allowed) and np.array_equal(state_of(state, control.Ramped).tau, tau[-1])
    loose, _ = asked(law.replace(torque_rate=1e9), PUMA, Q, V, TIMES)
    np.testing.assert_allclose(loose, PD(PUMA, None, 0.0, Q, V).tau, rtol=1e-12, atol=1e-12)
    ramp, _ = asked(
        control.rate_limited(constant(1.0, CART), 20.0, 0.01), CART, np.zeros((9, 1)), np.zeros((9, 1)), TIMES[:9]
    )
    np.testing.assert_allclose(ramp[:, 0], np.minimum(0.2 * np.arange(1, 10), 1), rtol=1e-14)


# --- time -------------------------------------------------------------------------------------------------------------


def test_a_sampled_law_is_a_loop_in_python_to_the_last_bit():
    """Period = 4 dt: PD is asked at every fourth step, and its torque held, on the simulator's own steps."""
    dt, q, v, states = 0.001, Q[0], V[0], []
    for k in range(41):
        if k % 4 == 0:
            tau = PD(PUMA, None, k * dt, q, v).tau
        states.append((q, v, tau))
        step = _one_step(tau, q, v, dt)
        q, v = step.q[-1], step.v[-1]
    run = simulate(PUMA, control.sampled(PD, 4 * dt, robot=PUMA), q=Q[0], v=V[0], duration=41 * dt, dt=dt)
    for found, wanted in zip((run.q, run.v, run.tau), zip(*states, strict=True), strict=True):
        np.testing.assert_array_equal(found[:41], wanted)


def _one_step(tau, q, v, dt):
    """One step of the simulator with constant joint forces."""
    held = control.law(_held, follows=None, tau=tau, name="held")
    return simulate(PUMA, held, q=q, v=v, duration=dt, dt=dt)


def _held(robot, p, state, t, q, v, reference):
    return p.tau + 0.0, state


@pytest.mark.parametrize("ratio", [1, 3, 7, 10])
@pytest.mark.parametrize("dt", [1e-3, 1e-4, 0.01 / 3, 0.1, 1 / 30])
def test_instants_in_spite_of_rounding(dt, ratio):
    """The law inside is asked at every ratio-th step, whether the period is a product or a sum of steps."""
    steps = 3 * 7 * 10 * 20
    for period in (ratio * dt, sum([dt] * ratio)):
        law = control.sampled(counter(CART), period)
        run = simulate(CART, law, duration=steps * dt, dt=dt, record=10)
        k = np.rint(run.t / dt)
        np.testing.assert_array_equal(run.state[1], np.ceil(k / ratio))


def test_times_that_were_summed_up():
    t, law, state = 0.0, control.sampled(counter(CART), 0.01), None
    for k in range(3000):
        tau, state = law(CART, state, t, np.zeros(1), np.zeros(1))
        assert tau[0] == k // 10
        t += 0.001


def test_a_sampled_law_without_fitting_steps_is_asked_at_the_next_one():
    run = simulate(CART, control.sampled(counter(CART), 0.0025), duration=0.02, dt=0.001)
    np.testing.assert_array_equal(run.tau[:, 0], np.floor(np.arange(21) / 2.5))  # at 0, 3, 5, 8, 10, ... ms


def test_the_period_of_the_law_inside_counts():
    inside = control.low_pass(PD, 300.0, 0.004, robot=PUMA)
    law = control.sampled(inside)
    assert sorted(law.numbers) == ["kd", "kp", "period", "torque_cutoff"] and law.numbers["period"] == 0.004
    assert control.sampled(inside, 0.004).numbers["period"] == 0.004
    with pytest.raises(
        ArgumentError, match=r"sampled: period is 0.01 s, but the law 'low_pass_pd' has the period 0.004"
    ):
        control.sampled(inside, 0.01)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_delays_shift(steps):
    tau, _ = asked(PD, PUMA, Q, V, TIMES)
    late, _ = asked(control.delayed(PD, steps, 0.01, robot=PUMA), PUMA, Q, V, TIMES)
    np.testing.assert_array_equal(late, np.concatenate([np.zeros((steps, 6)), tau[:-steps]]))
    late, _ = asked(control.delayed(PD, steps, 0.01, of="measurement", robot=PUMA), PUMA, Q, V, TIMES)
    np.testing.assert_array_equal(late, np.concatenate([np.repeat(tau[:1], steps, axis=0), tau[:-steps]]))


def test_a_late_configuration_with_a_quaternion():
    robot = floating()
    q = aj.random_configuration(robot, 5, rng=0)
    late, _ = asked(
        control.delayed(position_probe(robot), 2, 0.01, of="measurement"), robot, q, np.zeros((5, 7)), TIMES[:5]
    )
    np.testing.assert_array_equal(late[2:], position_probe()(robot, None, 0.0, q[:3], np.zeros(7)).tau)


@pytest.mark.parametrize("of", ["torque", "measurement"])
def test_delay_margin_of_pd_on_a_double_integrator(of):
    """L(s) = (kd s + kp) / s² crosses 1 at ω_c² = (kd² + √(kd⁴ + 4 kp²)) / 2 with the phase margin atan(kd ω_c / kp).

    The loop becomes unstable at a delay of margin / ω_c. A zero-order hold is late by half a period.
    """
    kp, kd, T = 100.0, 10.0, 0.004
    crossing = np.sqrt((kd**2 + np.sqrt(kd**4 + 4 * kp**2)) / 2)
    margin = np.arctan2(kd * crossing, kp) / crossing
    law = control.pd(np.zeros(1), kp=kp, kd=kd)
    for steps in (int(margin / T) - 1, int(margin / T) + 2):
        late = control.delayed(law, steps, T, of=of, robot=CART)
        run = simulate(CART, late, q=[1.0], v=[0.0], duration=30.0, dt=T, integrator="rk4")
        size = np.abs(run.q[:, 0])
        grows = size[-1000:].max() > size[1000:2000].max()
        assert grows == (steps * T > margin)
        # the same by the eigenvalues of the loop: x_k = (q, v, torques or measurements on their way)
        assert grows == (np.abs(_eigenvalues(kp, kd, T, steps)).max() > 1)
    stable = [np.abs(_eigenvalues(kp, kd, T, k)).max() < 1 for k in range(1, 40)]
    assert abs(sum(stable) * T - margin) < T


def _eigenvalues(kp, kd, T, steps):
    """Of the double integrator under PD that is late by so many steps, with a zero-order hold."""
    A = np.zeros((2 + steps, 2 + steps))
    A[:2, :2], A[:2, 2] = [[1, T], [0, 1]], [T * T / 2, T]
    A[2:-1, 3:] = np.eye(steps - 1)
    A[-1, :2] = -kp, -kd
    return np.linalg.eigvals(A)


# --- counts and noise -------------------------------------------------------------------------------------------------


def test_counts():
    steps = np.linspace(0.01, 0.06, 6)
    for name, probe, x in (("position", position_probe(), Q), ("velocity", velocity_probe(), V)):
        found = control.quantised(probe, **{name: steps})(PUMA, None, 0.0, Q, V).tau
        np.testing.assert_array_equal(found, steps * np.floor(x / steps + 0.5))
        assert np.all(np.abs(found - x) <= steps / 2 * (1 + 1e-12))
    tau = PD(PUMA, None, 0.0, Q, V).tau
    np.testing.assert_array_equal(
        control.quantised(PD, torque=0.5)(PUMA, None, 0.0, Q, V).tau, 0.5 * np.floor(tau / 0.5 + 0.5)
    )


def test_counts_of_orientations():
    robot, step = floating(), 0.125
    q = aj.random_configuration(robot, 200, rng=1)
    exact = position_probe()(robot, None, 0.0, q, np.zeros(7)).tau
    found = control.quantised(position_probe(), position=step)(robot, None, 0.0, q, np.zeros(7)).tau
    near = np.linalg.norm(exact[:, :3], axis=1) < np.pi - step  # farther rotations may come back from the other side
    assert near.sum() > 100 and np.all(np.abs(found - exact)[near] <= step / 2 + 1e-12)
    np.testing.assert_allclose(found[near] / step, np.rint(found[near] / step), atol=1e-12)


@pytest.mark.parametrize("damping", [20.0, 25.0, 40.0])
def test_limit_cycle_of_a_coarse_encoder(damping):
    """Counts of δ are a disturbance kp e with |e| ≤ δ/2. From it to q, a damped loop (kd² ≥ 4 kp) has an impulse
    response of one sign and of sum 1/kp, so that |q - q_d| ≤ δ/2 in the end; kd² > 4 kp in continuous time."""
    kp, T, counts = 100.0, 0.001, 0.01
    goal = 0.3 * counts  # which no count shows, so that the loop never rests
    law = control.quantised(control.pd(np.array([goal]), kp=kp, kd=damping), position=counts)
    run = simulate(CART, law, q=[0.1], v=[0.0], duration=10.0, dt=T)
    A = np.array([[1 - T * T * kp, T - T * T * damping], [-T * kp, 1 - T * damping]])  # of semi-implicit steps
    x, response = np.array([T * T, T]) * kp, []
    for _ in range(4000):
        response.append(x[0])
        x = A @ x
    bound = counts / 2 * np.sum(np.abs(response))
    assert bound < counts / 2 * 1.01
    late = np.abs(run.q[5000:, 0] - goal)
    assert late.max() <= bound * (1 + 1e-9)
    assert np.abs(run.tau[5000:]).max() > 0 and np.abs(np.diff(np.sign(run.tau[5000:, 0]))).sum() > 10  # and it moves


@pytest.mark.parametrize("name", ["position", "velocity", "torque"])
def test_variance_of_noise(name):
    """Variance in is variance out, for each joint on its own; 5 standard deviations of a sample variance."""
    sigma, lanes, steps = np.linspace(0.1, 0.6, 6), 2000, 20
    probe = {"position": position_probe(PUMA), "velocity": velocity_probe(PUMA), "torque": constant(2.0, PUMA)}[name]
    mean = {"position": Q[0], "velocity": V[0], "torque": np.full(6, 2.0)}[name]
    law = control.noisy(probe, **{name: sigma}, shape=lanes, rng=3)
    tau, state = asked(law, PUMA, Q[:1].repeat(steps, 0), V[:1].repeat(steps, 0), np.zeros(steps))
    x = ((tau - mean) / sigma).reshape(-1, 6)
    assert np.abs(x.mean(0)).max() < 5 / np.sqrt(len(x))
    assert np.abs(x.var(0) - 1).max() < 5 * np.sqrt(2 / len(x))
    assert np.abs(np.corrcoef(x.T) - np.eye(6)).max() < 5 / np.sqrt(len(x))
    series = tau[:, :, 0].T - mean[0]  # of each lane
    assert abs(np.mean(series[:, 1:] * series[:, :-1]) / sigma[0] ** 2) < 5 / np.sqrt(len(x))
    assert state_of(state, control.Drawing).random.shape == (lanes, 6)


def test_noise_of_orientations():
    robot, lanes, sigma = floating(), 20_000, 0.01
    q = aj.random_configuration(robot, rng=2)
    law = control.noisy(_difference_probe(robot, q), position=sigma, shape=lanes, rng=1)
    x = law(robot, None, 0.0, q, np.zeros(7)).tau / sigma
    assert np.abs(x.mean(0)).max() < 5 / np.sqrt(lanes) and np.abs(x.var(0) - 1).max() < 5 * np.sqrt(2 / lanes)


def _difference_probe(robot, q):
    return control.law(_from_there, follows=None, model=robot, there=q)


def _from_there(robot, p, state, t, q, v, reference):
    return aj.difference(robot, p.there, q), state


def test_a_batch_of_seeds_is_its_single_runs():
    law = control.noisy(PD, position=1e-3, velocity=0.01, torque=0.1, shape=5, rng=9)
    run = simulate(PUMA, law, q=Q[0], v=V[0], duration=0.05, dt=0.001)
    assert run.q.shape == (5, 51, 6) and len(np.unique(run.q[:, -1, 0])) == 5
    seeds = state_of(law.state, control.Drawing).random
    for k in range(5):
        one = control.noisy(PD, position=1e-3, velocity=0.01, torque=0.1, rng=0)
        alone = simulate(
            PUMA, one.replace(state=(control.Drawing(seeds[k]), None)), q=Q[0], v=V[0], duration=0.05, dt=0.001
        )
        np.testing.assert_array_equal(alone.q, run.q[k])
        np.testing.assert_array_equal(alone.tau, run.tau[k])
    again = simulate(
        PUMA,
        control.noisy(PD, position=1e-3, velocity=0.01, torque=0.1, shape=5, rng=9),
        q=Q[0],
        v=V[0],
        duration=0.05,
        dt=0.001,
    )
    np.testing.assert_array_equal(again.q, run.q)


def test_batches_of_states_go_through_outer_laws():
    noise = control.noisy(PD, velocity=0.01, shape=(2, 3), rng=9)
    law = control.delayed(control.saturated(noise, 50.0), 2, 0.001, robot=PUMA)
    run = simulate(PUMA, law.replace(kp=np.array([50.0, 60, 70])), q=Q[0], v=V[0], duration=0.01, dt=0.001)
    assert run.q.shape == (2, 3, 11, 6) and state_of(run.state, control.Delayed).line.shape == (2, 3, 11, 2, 6)
    with pytest.raises(ArgumentError, match=r"the state must be .* or a batch of such states"):
        noise.replace(state=(control.Drawing(np.ones(5)), None))
    with pytest.raises(ArgumentError, match=r"the state must be .* or a batch of such states"):
        noise.replace(state=np.ones(6))


# --- filters ----------------------------------------------------------------------------------------------------------


def test_step_response_of_a_filter():
    """From rest at 0 to 1: 1 - exp(-ω t), as that of the filter in continuous time."""
    T, cutoff, k = 0.01, np.linspace(5, 30, 6), np.arange(41)[:, None]
    v = np.ones((41, 6))
    v[0] = 0
    law = control.low_pass(velocity_probe(PUMA), cutoff, T, of="velocity")
    found, state = asked(law, PUMA, np.zeros((41, 6)), v, T * np.arange(41))
    np.testing.assert_allclose(found, 1 - np.exp(-cutoff * T * k), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(state_of(state, control.Filtered).value, found[-1])
    law = control.low_pass(velocity_probe(PUMA), cutoff, T)
    np.testing.assert_array_equal(asked(law, PUMA, np.zeros((41, 6)), v, T * np.arange(41))[0], found)
    first = control.low_pass(PD, 1.0, T, robot=PUMA)(PUMA, None, 0.0, Q[0], V[0])
    np.testing.assert_allclose(
        first.tau, PD(PUMA, None, 0.0, Q[0], V[0]).tau, rtol=1e-14
    )  # it starts at its first input


# --- one around another -----------------------------------------------------------------------------------------------


def test_what_is_outermost_is_nearest_to_the_robot():
    noise = {"torque": 1.0, "rng": 4}
    clean = control.saturated(control.noisy(constant(10.0, CART), **noise), 10.0)
    rough = control.noisy(control.saturated(constant(10.0, CART), 10.0), **noise)
    runs = [simulate(CART, x, duration=0.1, dt=0.001).tau for x in (clean, rough)]
    assert runs[0].max() == 10 and runs[1].max() > 11
    np.testing.assert_array_equal(np.minimum(runs[1], 10), runs[0])  # the same noise
    counted = control.quantised(control.saturated(constant(10.0, CART), 9.5), torque=1.0)
    limited = control.saturated(control.quantised(constant(10.0, CART), torque=1.0), 9.5)
    assert [x(CART, None, 0.0, [0.0], [0.0]).tau[0] for x in (counted, limited)] == [10.0, 9.5]


def test_measurements_go_inward():
    """Counts outside of a delay or inside of it are the same; counts outside of a filter are not those inside."""
    v = np.linspace(0, 1, 30)[:, None] ** 2
    zero, t = np.zeros((30, 1)), 0.01 * np.arange(30)

    def found(law):
        return asked(law, CART, zero, v, t)[0]

    probe = velocity_probe(CART)
    a = control.quantised(control.delayed(probe, 3, 0.01, of="measurement"), velocity=0.1)
    b = control.delayed(control.quantised(probe, velocity=0.1), 3, 0.01, of="measurement")
    np.testing.assert_array_equal(found(a), found(b))
    outside = control.quantised(control.low_pass(probe, 30.0, 0.01, of="velocity"), velocity=0.1)
    inside = control.low_pass(control.quantised(probe, velocity=0.1), 30.0, 0.01, of="velocity")
    counts = found(inside) / 0.1
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-12)  # rounded last
    assert np.abs(found(outside) / 0.1 - np.rint(found(outside) / 0.1)).max() > 0.1


def whole_stack(law, robot):
    """All of them around each other, sampled on the outside."""
    law = control.low_pass(law, 300.0, 0.004, of="velocity", robot=robot)
    law = control.quantised(law, position=1e-4, velocity=1e-3, torque=0.01)
    law = control.rate_limited(law, 1e4)
    law = control.delayed(control.delayed(law, 2), 1, of="measurement")
    return control.sampled(control.saturated(control.noisy(law, position=1e-5, torque=0.01, rng=2), 40.0))


def test_all_of_them_compiled_eager_and_in_c(tmp_path):
    law = whole_stack(PD, PUMA)
    compiled, state, args = law.kernel(PUMA), None, []
    for k in range(6):
        tau, after = law(PUMA, state, 0.004 * k, Q[k], V[k])
        parts = _leaves(law.state if state is None else state)
        args = [np.array(0.004 * k), Q[k], V[k], np.zeros(6), np.zeros(6), np.zeros(6), *parts, *law.numbers.values()]
        eager = compiled.eager(*args)
        for x, y in zip(eager, (tau, *_leaves(after)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12)
        state = after
    found = run_c(law.kernel(PUMA), args, tmp_path)
    for x, y in zip(found, compiled(*args), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12)
    text = law.source("c", PUMA)
    for name in ("in  state_0_instant: scalar", "in  torque_limit: scalar", "line: 2 x 6", "line: 1 x 12", "random: 6"):
        assert name in text


def _leaves(tree):
    if tree is None:
        return []
    return [x for part in tree for x in _leaves(part)] if isinstance(tree, tuple) else [tree]


def test_all_of_them_hold_the_robot():
    gravity = control.law(_held_up, reference=np.zeros(6), model=PUMA, kp=400.0, kd=40.0)
    law = whole_stack(gravity, PUMA).replace(torque_limit=200.0)
    run = simulate(PUMA, law, q=0.1 * np.ones(6), duration=2.0, dt=0.001, record=20)
    assert np.abs(run.q[-20:]).max() < 5e-3 and np.abs(run.tau).max() <= 200


def _held_up(robot, p, state, t, q, v, reference):
    M = aj.mass_matrix(robot, q)
    return M @ (p.kp * (reference.q - q) - p.kd * v) + aj.dynamics.gravity_torque(robot, q), state


def test_state_of():
    law = whole_stack(PD, PUMA)
    assert state_of(law.state, control.Held) is law.state[0]
    assert state_of(law.state, control.Delayed).line.shape == (1, 12)  # the outer one of two
    run = simulate(PUMA, law, q=Q[0], v=V[0], duration=0.04, dt=0.001)
    held = state_of(run.state, control.Held)
    np.testing.assert_array_equal(held.tau[1:], run.tau[:-1])  # the state at t is that before the law is asked at t
    with pytest.raises(ArgumentError, match=r"state_of: the state has no Disturbance; it has Held, Drawing, Delayed,"):
        state_of(law.state, control.Disturbance)
    with pytest.raises(ArgumentError, match=r"state_of: the state has no Held; it has no NamedTuple at all"):
        state_of(PD.state, control.Held)


NAN = float("nan")
BAD = [
    (lambda: control.saturated("pd", 1.0), "saturated needs a Law; got str"),
    (lambda: control.saturated(PD, -1.0), r"saturated: limit must be finite and positive or 0, got -1.0"),
    (lambda: control.saturated(PD, NAN), "saturated: limit must be finite and positive or 0"),
    (lambda: control.saturated(PD, lower=1.0), "saturated: give a limit, or both lower and upper, or none"),
    (lambda: control.saturated(PD, 1.0, lower=1.0, upper=2.0), "saturated: give a limit, or both lower and upper"),
    (lambda: control.saturated(PD, lower=2.0, upper=1.0), r"saturated: lower 2.0 is above upper 1.0"),
    (lambda: control.saturated(constant(1.0, PUMA), np.ones(5)), r"saturated: limit has shape .* or \(6,\)"),
    (lambda: control.saturated(control.saturated(PD, 1.0), 1.0), "saturated: .* parameter 'torque_limit' already"),
    (lambda: control.rate_limited(PD, 1.0, 0.1), "rate_limited: the law 'pd' has no model of its own; give robot="),
    (lambda: control.rate_limited(PD, 0.0, 0.1, robot=PUMA), "rate_limited: rate must be finite and positive"),
    (lambda: control.rate_limited(PD, 1.0, robot=PUMA), "rate_limited: the law 'pd' has no period of its own"),
    (lambda: control.sampled(PD, 0.0, robot=PUMA), "sampled: period must be a positive number, got 0.0"),
    (lambda: control.sampled(PD, 0.1, robot="puma"), "sampled needs a Robot, got 'puma'"),
    (lambda: control.sampled(constant(1.0, PUMA), 0.1, robot=CART), "model 'puma560' with nv = 6; robot 'cart' has nv"),
    (lambda: control.delayed(PD, 1.5, 0.1, robot=PUMA), "delayed: steps must be a whole number"),
    (lambda: control.delayed(PD, 0, 0.1, robot=PUMA), "delayed: steps is 0"),
    (lambda: control.delayed(PD, 1, 0.1, of="force", robot=PUMA), "delayed: of is 'force'; it must be one of 'torque'"),
    (lambda: control.quantised(PD), "quantised: give one of position, velocity, torque"),
    (lambda: control.quantised(PD, position=0.0), "quantised: position must be finite and positive"),
    (lambda: control.quantised(constant(1.0, PUMA), torque=[1, 2]), r"quantised: torque has shape .* or \(6,\)"),
    (lambda: control.noisy(PD, velocity=-0.1), "noisy: velocity must be finite and positive"),
    (lambda: control.noisy(PD, velocity="much"), "noisy: velocity must be finite and positive"),
    (lambda: control.noisy(PD, velocity=0.1, rng="dice"), "rng must be a numpy.random.Generator, a seed or None"),
    (lambda: control.noisy(PD, velocity=0.1, shape=-2), "noisy: shape is -2"),
    (lambda: control.low_pass(PD, -1.0, 0.1, robot=PUMA), "low_pass: cutoff must be finite and positive"),
    (lambda: control.low_pass(PD, 1.0, 0.1, of="position", robot=PUMA), "low_pass: of is 'position'; it must"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD, ids=[m[:40] for _, m in BAD])
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
