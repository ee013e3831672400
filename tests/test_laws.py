"""Control laws as data: one instant alone, in batches, inside kernels and as C; parameters, states, references."""

import threading
from typing import NamedTuple

import numpy as np
import pytest
from support.c_code import run_c

import adjoint as aj
from adjoint import ArgumentError, control

ROBOT = aj.robots.puma560()
Q, V = np.linspace(0.1, 0.6, 6), np.linspace(-0.3, 0.2, 6)
SHORT = aj.trajectory.quintic(np.zeros(5), np.ones(5), duration=1.0)  # of a robot with 5 joints


def spring(robot, p, state, t, q, v, reference):
    return p.k * (reference.q - q) + p.d * (reference.v - v) + p.m * reference.a, state


class Memory(NamedTuple):
    total: np.ndarray
    count: np.ndarray


def summing(robot, p, state, t, q, v, reference):
    total = state.total + (reference.q - q) * p.period
    return p.ki * total, Memory(total, state.count + 1)


def spring_law(reference=None, **numbers):
    return control.law(spring, reference=reference, **({"k": 50.0, "d": 5.0, "m": 0.0} | numbers))


def summing_law():
    state = Memory(np.zeros(6), 0.0)
    return control.law(summing, reference=np.ones(6), state=state, ki=np.full(6, 3.0), period=0.01)


# --- one instant ------------------------------------------------------------------------------------------------------


def test_a_law_is_its_function():
    found = spring_law(np.ones(6))(ROBOT, None, 0.0, Q, V)
    np.testing.assert_allclose(found.tau, 50 * (1 - Q) - 5 * V, rtol=1e-14)
    assert found.state is None


def test_batches_broadcast_over_everything():
    law = spring_law(np.ones((7, 1, 6)))
    found = law.replace(k=np.linspace(10, 30, 5))(ROBOT, None, 0.0, Q, V).tau
    assert found.shape == (7, 5, 6)
    one = law.replace(k=20.0, reference=np.ones(6))(ROBOT, None, 0.0, Q, V).tau
    assert np.array_equal(found[3, 2], one)  # bit for bit


def test_the_state_goes_round():
    law = summing_law()
    tau, state = law(ROBOT, None, 0.0, Q, V)
    for k in (1, 2):
        tau, state = law(ROBOT, state, 0.01 * k, Q, V)
    np.testing.assert_allclose(tau, 3 * 3 * 0.01 * (1 - Q), rtol=1e-13)
    assert state.count == 3
    assert isinstance(state, Memory)


def test_the_kernel_has_named_inputs_with_the_numbers_as_defaults():
    compiled = summing_law().kernel(ROBOT)
    names = [p.name for p in compiled.parameters]
    assert names == [
        "t",
        "q",
        "v",
        "reference_q",
        "reference_v",
        "reference_a",
        "state_total",
        "state_count",
        "ki",
        "period",
    ]
    given = 0.0, Q, V, np.ones(6), np.zeros(6), np.zeros(6), np.zeros(6), 0.0
    assert np.array_equal(compiled(*given).tau, summing_law()(ROBOT, None, 0.0, Q, V).tau)
    assert np.array_equal(compiled(*given, ki=np.full(6, 6.0)).tau, 2 * compiled(*given).tau)


def test_c_source_has_the_state_and_gives_the_same(tmp_path):
    law = summing_law()
    given = [0.0, Q, V, np.ones(6), np.zeros(6), np.zeros(6), np.arange(6.0), 4.0, np.full(6, 3.0), 0.01]
    found = run_c(law.kernel(ROBOT), given, tmp_path)
    assert "void summing(" in law.source("c", ROBOT)
    tau, state = law(ROBOT, Memory(np.arange(6.0), 4.0), 0.0, Q, V)
    for ours, theirs in zip((tau, state.total, state.count), found, strict=True):
        np.testing.assert_allclose(np.ravel(theirs), np.ravel(ours), rtol=1e-14)


def test_a_law_runs_inside_kernels_and_is_differentiated():
    law = spring_law(np.ones(6))

    @aj.kernel(q=6, v=6)
    def effort(q, v):
        tau, _ = law(ROBOT, None, 0.0, q, v)
        return tau @ tau

    tau = law(ROBOT, None, 0.0, Q, V).tau
    np.testing.assert_allclose(effort.jacobian("q")(Q, V), -100 * tau, rtol=1e-13)


def test_other_numbers_compile_nothing():
    law = spring_law(np.ones(6))
    law(ROBOT, None, 0.0, Q, V)
    before = control.laws._kernel.cache_info().misses
    law.replace(k=77.0)(ROBOT, None, 0.0, Q, V)
    spring_law(np.zeros(6), k=3.0)(ROBOT, None, 0.0, Q, V)  # made anew: the same function, other numbers
    assert control.laws._kernel.cache_info().misses == before


def test_a_model_of_its_own():
    heavy = ROBOT.replace(inertias=2 * ROBOT.inertias)
    law = control.computed_torque(heavy, Q, kp=100.0, kd=20.0)
    np.testing.assert_allclose(law(ROBOT, None, 0.0, Q, 0 * V).tau, aj.gravity_torque(heavy, Q), rtol=1e-12, atol=1e-12)
    assert np.array_equal(law(None, None, 0.0, Q, V).tau, law(ROBOT, None, 0.0, Q, V).tau)


# --- references -------------------------------------------------------------------------------------------------------


def test_trajectories_constants_and_functions_are_references():
    path = aj.trajectory.quintic(0 * Q, Q, 2.0)
    law = spring_law(path, m=1.0)
    at = path(0.7)
    expected = 50 * (at.q - Q) + 5 * (at.v - V) + at.a
    np.testing.assert_allclose(law(ROBOT, None, 0.7, Q, V).tau, expected, rtol=1e-13)
    np.testing.assert_allclose(law(ROBOT, None, 0.7, Q, V, control.Target(*at[:3])).tau, expected, rtol=1e-13)

    swing = spring_law(lambda t: np.sin(3 * t) * np.ones(6), m=1.0)  # its rates follow by differentiation
    sine, cosine = np.sin(2.1), np.cos(2.1)
    expected = 50 * (sine - Q) + 5 * (3 * cosine - V) - 9 * sine
    np.testing.assert_allclose(swing(ROBOT, None, 0.7, Q, V).tau, expected, rtol=1e-13)


def test_a_reference_in_the_call_goes_before_the_law_s_own():
    law, other = spring_law(np.ones(6)), control.Target(2 * Q, V, 0 * Q)
    own = law(ROBOT, None, 0.0, Q, V).tau
    np.testing.assert_allclose(law(ROBOT, None, 0.0, Q, V, other).tau, 50 * Q, rtol=1e-14)
    np.testing.assert_allclose(law(ROBOT, None, 0.0, Q, V, np.zeros(6)).tau, -50 * Q - 5 * V, rtol=1e-14)
    assert np.array_equal(law(ROBOT, None, 0.0, Q, V).tau, own)
    np.testing.assert_allclose(spring_law()(ROBOT, None, 0.0, Q, V, other).tau, 50 * Q, rtol=1e-14)


@pytest.mark.parametrize("reference", [Q.tolist(), tuple(Q), control.Target(Q.tolist(), (0.0,) * 6, [0.0] * 6)])
def test_lists_and_tuples_are_references(reference):
    wanted = spring_law(Q)(ROBOT, None, 0.0, Q + 0.1, V).tau
    for law in (spring_law(reference), spring_law(Q + 1).replace(reference=reference)):
        assert np.array_equal(law(ROBOT, None, 0.0, Q + 0.1, V).tau, wanted)
    assert np.array_equal(spring_law(Q + 1)(ROBOT, None, 0.0, Q + 0.1, V, reference=reference).tau, wanted)


def test_a_pose_of_lists_is_a_reference():
    def pull(robot, p, state, t, q, v, reference):
        return p.k * q - reference.T[0, 3], state

    T = np.eye(4)
    T[0, 3] = 0.5
    one, other = (control.law(pull, reference=x, follows=control.PoseTarget, k=1.0) for x in (T, T.tolist()))
    assert np.array_equal(one(ROBOT, None, 0.0, Q, V).tau, other(ROBOT, None, 0.0, Q, V).tau)


def test_the_repr_names_the_model():
    assert "model 'puma560'" in repr(control.pd(Q, kp=1.0, model=ROBOT))
    assert "model" not in repr(control.pd(Q, kp=1.0))


def test_a_function_of_time_is_compiled_once():
    law = spring_law(lambda t: np.sin(3 * t) * np.ones(6))
    law(ROBOT, None, 0.0, Q, V)
    before = control.references._with_rates.cache_info()
    for t in (0.1, 0.2, 0.3):
        law(ROBOT, None, t, Q, V)
    after = control.references._with_rates.cache_info()
    assert after.misses == before.misses and after.hits == before.hits + 3


def test_a_trajectory_rests_at_its_ends():
    path = aj.trajectory.quintic(0 * Q, Q, 2.0)
    tau = spring_law(path, m=1.0)(ROBOT, None, 5.0, 0 * Q, 0 * V).tau
    np.testing.assert_allclose(tau, 50 * Q, rtol=1e-13)


def test_poses_are_references():
    def pull(robot, p, state, t, q, v, reference):
        J = aj.jacobian(robot, q, p.frame)
        error = aj.lie.se3.log(aj.lie.se3.inverse(aj.forward_kinematics(robot, q, p.frame)) @ reference.T)
        return J.T @ (p.k * error), state

    T = aj.forward_kinematics(ROBOT, Q + 0.1, "tool")
    law = control.law(pull, reference=T, follows=control.PoseTarget, frame="tool", k=10.0)
    tau = law(ROBOT, None, 0.0, Q, V).tau
    error = aj.lie.se3.log(np.linalg.inv(aj.forward_kinematics(ROBOT, Q, "tool")) @ T)
    np.testing.assert_allclose(tau, aj.jacobian(ROBOT, Q, "tool").T @ (10 * error), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(law(ROBOT, None, 0.0, Q + 0.1, V).tau, 0, atol=1e-12)


def test_any_structure_is_a_reference():
    def sums(robot, p, state, t, q, v, reference):
        return reference["a"] + reference["b"][0] * q, state

    law = control.law(sums, follows=None, reference={"a": np.ones(6), "b": (2.0,)})
    np.testing.assert_allclose(law(ROBOT, None, 0.0, Q, V).tau, 1 + 2 * Q, rtol=1e-15)


# --- laws around laws -------------------------------------------------------------------------------------------------


def doubled(inside, robot, p, state, t, q, v, reference):
    count, inner = state
    tau, inner = inside(inner, t, q, v, reference)
    return p.factor * tau, (count + 1, inner)


def test_a_law_around_a_law_has_the_parameters_and_states_of_both():
    law = control.wrapped(summing_law(), doubled, state=0.0, name="doubled", factor=2.0)
    tau, (count, inner) = law(ROBOT, None, 0.0, Q, V)
    np.testing.assert_allclose(tau, 2 * summing_law()(ROBOT, None, 0.0, Q, V).tau, rtol=1e-14)
    assert count == 1
    assert inner.count == 1
    assert set(law.numbers) == {"ki", "period", "factor"}
    with pytest.raises(ArgumentError, match="'factor' already"):
        control.wrapped(law, doubled, state=0.0, name="doubled", factor=2.0)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: control.law(3), "needs a function"),
        (lambda: spring_law(k=np.nan), "'k' contains NaN"),
        (lambda: spring_law(k=[1, [2]]), "k"),
        (lambda: control.law(spring, table={"a": 1}), "'table' is a dict"),
        (lambda: control.law(spring, follows=int), "follows"),
        (lambda: spring_law(np.ones(5))(ROBOT, None, 0.0, Q, V), r"reference.q has shape \(5,\).*needs \(..., 6\)"),
        (lambda: spring_law(np.ones(6)).replace(kp=1.0), "no parameter 'kp'; there are k, d, m"),
        (lambda: control.pd(Q, kp=1.0).replace(gravity=True), "pd: 'gravity' is fixed .* can be replaced are kp, kd"),
        (lambda: control.law(spring, reference=Q, k=1.0)(ROBOT, None, 0.0, Q, V), "p.d: there is no .* there are k"),
        (lambda: control.law(lambda t, q, v: -q), r"lambda: the function of a law is f\(robot, p, state"),
        (lambda: spring_law()(ROBOT, None, 0.0, Q, V), "spring: the law has no reference"),
        (lambda: spring_law(np.ones(6), k=np.ones(6)).replace(k=np.ones(5)), r"'k' has shape \(5,\).*\(..., 6\)"),
        (lambda: spring_law(np.ones(6)).replace(state=1.0), "the state must be"),
        (lambda: spring_law(SHORT).plan(ROBOT), "spring: .* Trajectory with nv = 5; robot 'puma560' has nv = 6"),
        (lambda: spring_law([0.0] * 5).plan(ROBOT), r"reference.q has shape \(5,\)"),
        (lambda: spring_law([0.0, "a"]), "spring: argument 'reference'"),
        (lambda: spring_law(control.PoseTarget(np.eye(4), V, V)), "spring follows a Target; got a PoseTarget"),
        (lambda: spring_law(lambda: Q), "spring: the reference must be a function of t alone"),
        (lambda: control.pd(Q, kp="100"), "pd: kp must be finite and positive or 0, got '100'"),
        (lambda: control.pd(Q, kp=["1"] * 6), "pd: kp must be finite"),
        (lambda: control.pd(Q, kp=1.0).replace(kp="100"), "pd: argument 'kp' is a str"),
        (lambda: spring_law(np.ones(6))(None, None, 0.0, Q, V), "no model of its own"),
        (lambda: spring_law(np.ones(6))("robot", None, 0.0, Q, V), "Robot"),
        (lambda: spring_law()(ROBOT, None, 0.0, Q, V), "the law has no reference"),
        (lambda: spring_law(lambda t: np.ones(5))(ROBOT, None, 0.0, Q, V), r"gives shape \(5,\)"),
        (lambda: control.law(spring, q=1.0, reference=Q, d=1.0, m=1.0, k=1.0)(ROBOT, None, 0.0, Q, V), "called 'q'"),
        (lambda: control.wrapped(spring, doubled, name="doubled"), "needs a Law"),
        (
            lambda: spring_law(aj.trajectory.line(np.eye(4), np.eye(4), 1.0)),
            "spring follows a Trajectory; got a PoseTrajectory",
        ),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda robot, p, state, t, q, v, reference: q, r"a pair \(tau, state\); got a"),
        (lambda robot, p, state, t, q, v, reference: None, r"a pair \(tau, state\); got None"),
        (lambda robot, p, state, t, q, v, reference: (None, state), r"must return tau \(6,\); got None"),
        (lambda robot, p, state, t, q, v, reference: ("strong", state), r"must return tau \(6,\); got 'strong'"),
        (lambda robot, p, state, t, q, v, reference: (q, 1.0), "a state like the one it is given"),
        (lambda robot, p, state, t, q, v, reference: (q[:3], state), r"tau of shape \(3,\)"),
    ],
)
def test_a_function_that_is_no_law(function, message):
    with pytest.raises(ArgumentError, match=message):
        control.law(function, reference=Q)(ROBOT, None, 0.0, Q, V)


# --- functions of time ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("types", [("planar", "revolute"), ("spherical", "prismatic"), ("free",), ("revolute",)])
def test_rates_of_functions_of_time_are_those_of_the_manifold(types):
    """q(t) = q_0 ∘ exp(w sin 2t) of each joint has the velocity 2 w cos 2t, in the coordinates of the joint itself."""
    robot = aj.robots.random_tree(0, len(types), list(types))
    start, w = aj.random_configuration(robot, rng=1), np.random.default_rng(2).normal(size=robot.nv)
    law = control.law(given_rates, reference=lambda t: aj.integrate(robot, start, w * np.sin(2 * t)), state=np.zeros(1))
    for t in (0.0, 0.4):
        tau, _ = law(robot, None, t, start, np.zeros(robot.nv))
        np.testing.assert_allclose(tau, 2 * w * np.cos(2 * t) - 40 * w * np.sin(2 * t), rtol=0, atol=1e-12)


def given_rates(robot, p, state, t, q, v, reference):
    return reference.v + 10 * reference.a, state


def test_a_function_of_time_at_many_times():
    law = control.pd(lambda t: np.ones(6) * np.sin(t), kp=1.0)
    times = np.linspace(0, 1, 6).reshape(2, 3)
    every = law(ROBOT, None, times, Q, V).tau
    assert every.shape == (2, 3, 6)
    np.testing.assert_array_equal(every[1, 2], law(ROBOT, None, times[1, 2], Q, V).tau)
    assert law(ROBOT, None, np.zeros(0), Q, V).tau.shape == (0, 6)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ((Q, Q, Q, np.zeros(5)), "not an array of numbers"),
        (control.Target(Q, np.zeros(5), 0.0), r"reference\.v has shape \(5,\)"),
        (lambda t: control.Target(Q, V[:5], V), "gives a Target of shapes"),
        (lambda t: None, "gives shape"),
        (lambda: Q, "must be a function of t alone"),
        (aj.trajectory.quintic(np.zeros(5), np.ones(5), 1.0), "a Trajectory with nv = 5; robot .puma560. has nv = 6"),
        (None, "no reference"),
    ],
)
def test_bad_references_are_named(reference, message):
    with pytest.raises(ArgumentError, match=message):
        control.pd(reference, kp=1.0)(ROBOT, None, 0.0, Q, V)


def test_lists_and_numbers_are_references():
    for reference in (list(Q), tuple(Q), control.Target(Q, 0.0, 0.0)):
        law = control.pd(Q, kp=1.0).replace(reference=reference)
        np.testing.assert_array_equal(law(ROBOT, None, 0.0, 2 * Q, V).tau, -Q)
    assert control.pd(0.5, kp=1.0)(ROBOT, None, 0.0, np.zeros(6), V).tau.tolist() == [0.5] * 6


@pytest.mark.parametrize("name", ["t", "q", "out", "state", "reference_q", "class", "a b"])
def test_names_that_a_parameter_cannot_have(name):
    with pytest.raises((ArgumentError, TypeError)):  # `state` is an argument of `law` itself
        control.law(spring, reference=Q, **{name: 1.0}, **({"state_x": 1.0} if name == "state" else {}))


@pytest.mark.parametrize("name", ["my law", "class", "1a", "ünder"])
def test_any_text_is_a_name(name):
    law = control.law(given_rates, reference=Q, state={"a b": 1.0, "a_b": 2.0, 3: np.zeros(2)}, name=name)
    assert law(ROBOT, None, 0.0, Q, V).state.keys() == {"a b", "a_b", 3}
    assert "void" in law.source("c", ROBOT)
    with pytest.raises(ArgumentError, match="name must be a text"):
        control.law(given_rates, reference=Q, name=3)  # type: ignore[arg-type]


def test_two_threads_with_two_robots():
    heavy, law = ROBOT.replace(inertias=2 * ROBOT.inertias), control.pd(Q, kp=1.0, gravity=True)
    target, wrong = control.Target(Q, V, V), []
    wanted = {robot: law(robot, None, 0.0, Q, V, target).tau for robot in (ROBOT, heavy)}

    def ask(robot):
        for _ in range(2000):
            if not np.array_equal(law(robot, None, 0.0, Q, V, target).tau, wanted[robot]):
                wrong.append(robot)

    threads = [threading.Thread(target=ask, args=(robot,)) for robot in (ROBOT, heavy)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
