"""Every law that `adjoint.control` exports, in every form: eager and compiled, single and batch, C, and in a run."""

import inspect

import numpy as np
import pytest
from support.c_code import run_c

import adjoint as aj
from adjoint import ArgumentError, control, simulate
from adjoint.compile.graph.nested import leaves
from adjoint.control import laws

ROBOT = aj.robots.puma560()
Q, V = np.array([0.3, -0.7, 0.5, 0.2, 0.6, -0.4]), np.array([0.2, -0.1, 0.3, 0.1, -0.2, 0.15])
GOAL = Q + 0.1
POSE = aj.forward_kinematics(ROBOT, GOAL, "tool")
MOTION = aj.trajectory.quintic(GOAL, GOAL + 0.5, 0.5)
PERIOD = 0.001


def spring(robot, p, state, t, q, v, reference):
    return p.kp * (reference.q - q), state


def halved(inside, robot, p, state, t, q, v, reference):
    tau, inner = inside(state[1], t, q, v, reference)
    return p.part * tau, (None, inner)


def pd() -> control.Law:
    return control.pd(GOAL, kp=90.0, kd=9.0)


PRESS = control.TaskFrame(np.eye(3), {"z": -10.0})
MOTOR = control.Motor(resistance=1.0, torque_constant=0.05, inertia=2e-4, gear_ratio=0.01)
POSED = {"robot": ROBOT, "reference": POSE, "frame": "tool"}
# {law: (arguments with which it works, its gains: numbers that are one or one for each joint)}
RECIPES: dict = {
    "admittance": (
        {"inner": control.operational(ROBOT, POSE, "tool", kp=400.0, kd=40.0), "stiffness": 500.0, "damping": 100.0,
         "inertia": 5.0, "period": PERIOD}, ("stiffness", "damping", "inertia")),
    "bang_bang": ({"robot": ROBOT, "goal": GOAL, "limit": 90.0, "bandwidth": 50.0}, ("limit", "bandwidth")),
    "computed_torque": ({"robot": ROBOT, "reference": MOTION, "kp": 100.0, "kd": 20.0}, ("kp", "kd")),
    "decoupled": ({"robot": ROBOT, "reference": GOAL, "alpha_0": 16.0, "alpha_1": 8.0}, ("alpha_0", "alpha_1")),
    "delayed": ({"law": pd(), "steps": 2, "period": PERIOD, "robot": ROBOT}, ()),
    "differenced_velocity": ({"law": pd(), "period": PERIOD, "cutoff": 300.0, "robot": ROBOT}, ("cutoff",)),
    "disturbance_observer": ({"law": pd(), "bandwidth": 50.0, "period": PERIOD, "robot": ROBOT}, ("bandwidth",)),
    "hybrid": (
        {**POSED, "task": PRESS, "kp": 400.0, "kd": 40.0, "force_kp": 0.2, "force_ki": 2.0, "force_kd": 40.0,
         "period": PERIOD}, ("kp", "kd", "force_kp", "force_ki", "force_kd")),
    "impedance": ({**POSED, "stiffness": 500.0, "damping": 50.0}, ("stiffness", "damping")),
    "kalman": (
        {"law": pd(), "process": 50.0, "measurement": 1e-4, "period": PERIOD, "robot": ROBOT},
        ("process", "measurement")),
    "law": ({"function": spring, "reference": MOTION, "kp": np.full(6, 3.0)}, ()),
    "low_pass": ({"law": pd(), "cutoff": 300.0, "period": PERIOD, "robot": ROBOT}, ("cutoff",)),
    "lqr": ({"robot": ROBOT, "q": GOAL, "Q": 100.0, "R": 1e-3}, ("Q", "R")),
    "model_reference": ({"robot": ROBOT, "reference": GOAL, "frequency": 5.0, "ratio": 1.0}, ("frequency", "ratio")),
    "noisy": ({"law": pd(), "velocity": 0.1, "position": 0.01, "rng": 3}, ("velocity", "position")),
    "operational": ({**POSED, "kp": 400.0, "kd": 40.0, "posture": Q, "null_kp": 1.0}, ("kp", "kd", "null_kp")),
    "parallel": (
        {**POSED, "force": np.array([0, 0, 0, 0, 0, -10.0]), "kp": 500.0, "kd": 100.0, "force_ki": 5.0,
         "period": PERIOD}, ("kp", "kd", "force_ki", "force")),
    "pd": ({"target": MOTION, "kp": 90.0, "kd": 9.0, "gravity": True, "model": ROBOT}, ("kp", "kd")),
    "perturbation": ({"robot": ROBOT, "reference": GOAL, "forgetting": 0.97, "period": PERIOD}, ("forgetting",)),
    "pid": (
        {"robot": ROBOT, "target": GOAL, "kp": 90.0, "ki": 5.0, "kd": 9.0, "period": PERIOD, "limit": 80.0},
        ("kp", "ki", "kd", "limit")),
    "quantised": ({"law": pd(), "position": 1e-3, "torque": 0.1}, ("position", "torque")),
    "rate_limited": ({"law": pd(), "rate": 1e4, "period": PERIOD, "robot": ROBOT}, ("rate",)),
    "resolved_acceleration": ({**POSED, "k_1": 20.0, "k_2": 100.0}, ("k_1", "k_2")),
    "resolved_force": (
        {**POSED, "mass": 20.0, "moments": [0.1, 0.1, 0.1], "kv": 20.0, "kp": 100.0}, ("moments", "kv", "kp")),
    "resolved_motion_adaptive": ({"robot": ROBOT, "reference": MOTION, "period": PERIOD, "forgetting": 0.97},
                                 ("forgetting",)),
    "resolved_rate": ({**POSED, "kd": 50.0, "gain": 5.0}, ("kd", "gain")),
    "sampled": ({"law": pd(), "period": PERIOD, "robot": ROBOT}, ()),
    "saturated": ({"law": pd(), "limit": 5.0}, ("limit",)),
    "self_tuning": ({"robot": ROBOT, "reference": GOAL, "slope": 10.0, "period": PERIOD}, ("slope",)),
    "servo": (
        {"motor": MOTOR, "target": GOAL, "kp": 5.0, "kd": 0.3, "voltage_limit": 24.0}, ("kp", "kd", "voltage_limit")),
    "sliding_mode": ({"robot": ROBOT, "reference": GOAL, "slope": 5.0, "gain": 150.0, "layer": 0.05},
                     ("slope", "gain", "layer")),
    "slotine_li": ({"robot": ROBOT, "reference": MOTION, "slope": 5.0, "gain": 20.0, "adaptation": 0.1},
                   ("slope", "gain")),
    "through_drive": (
        {"inner": pd(), "drive": control.friction_curve(slope=10.0, friction_voltage=0.5, limit=12.0)}, ()),
    "tvlqr": ({"robot": ROBOT, "trajectory": MOTION, "Q": 100.0, "R": 1e-3, "period": PERIOD}, ("Q", "R")),
    "velocity_observer": ({"law": pd(), "bandwidth": 500.0, "period": PERIOD, "robot": ROBOT}, ("bandwidth",)),
    "wrapped": ({"inner": pd(), "outer": halved, "name": "halved", "part": 0.5}, ()),
}  # fmt: skip


def made(name: str, **changes) -> control.Law:
    given = RECIPES[name][0] | changes
    places = [given.pop(p.name) for p in inspect.signature(getattr(control, name)).parameters.values()
              if p.kind is p.POSITIONAL_ONLY]  # fmt: skip
    return getattr(control, name)(*places, **given)


@pytest.fixture(scope="module", params=RECIPES)
def known(request):
    """A law, and its state after two instants."""
    law = made(request.param)
    state = law(ROBOT, None, 0.0, Q, V).state
    return request.param, law, law(ROBOT, state, PERIOD, Q + PERIOD * V, V).state


def inputs(law: control.Law, state, t: float, q, v) -> dict:
    """The inputs of the law's kernel."""
    plan = law.plan(ROBOT)
    reference = laws.reference_at(plan.robot, law.follows, law.reference, t)
    found = dict(zip(plan.reference.names("reference"), leaves(reference), strict=True))
    found |= dict(zip(plan.state.names("state"), leaves(state), strict=True))
    return {"t": t, "q": q, "v": v} | found | dict(law.numbers)


def test_every_law_has_a_recipe():
    makers = [
        name
        for name in control.__all__
        if callable(f := getattr(control, name)) and getattr(f, "__annotations__", {}).get("return") == "Law"
    ]
    assert sorted(makers) == sorted(RECIPES)


def test_compiled_is_eager(known):
    _, law, state = known
    given = inputs(law, state, 2 * PERIOD, Q, V)
    kernel = law.kernel(ROBOT)
    eager = leaves(kernel.eager(**given))
    found = law(ROBOT, state, 2 * PERIOD, Q, V)
    ours = [found.tau, *leaves(found.state)]
    assert len(ours) == len(eager) and found.tau.shape == (6,)
    for x, y in zip(ours, eager, strict=True):
        # Machine code may round products and sums in another order; solvers inside laws carry that on.
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9 * max(1.0, float(np.abs(y).max(initial=0.0))))


def test_a_batch_is_single_calls_bit_for_bit(known):
    _, law, state = known
    offsets = np.linspace(-0.05, 0.05, 7)[:, None]
    every = law(ROBOT, state, 2 * PERIOD, Q + offsets, V - offsets)
    assert every.tau.shape == (7, 6)
    for k in (0, 3, 6):
        one = law(ROBOT, state, 2 * PERIOD, Q + offsets[k], V - offsets[k])
        for x, y in zip(leaves(every), leaves(one), strict=True):
            np.testing.assert_array_equal(np.broadcast_to(x, (7, *y.shape))[k], y)
    nothing = law(ROBOT, state, 2 * PERIOD, np.zeros((0, 6)), np.zeros((0, 6)))
    assert nothing.tau.shape == (0, 6)
    several = law(ROBOT, state, 2 * PERIOD, (Q + offsets[:6]).reshape(2, 3, 6), V)
    assert several.tau.shape == (2, 3, 6)


@pytest.mark.slow
def test_the_c_source_gives_the_same(known, tmp_path):
    _, law, state = known
    kernel, given = law.kernel(ROBOT), inputs(law, state, 2 * PERIOD, Q, V)
    found = law(ROBOT, state, 2 * PERIOD, Q, V)
    theirs = run_c(kernel, [given[p.name] for p in kernel.parameters], tmp_path)
    theirs = theirs if isinstance(theirs, list | tuple) else [theirs]
    for ours, x in zip([found.tau, *leaves(found.state)], theirs, strict=True):
        scale = max(1.0, float(np.abs(ours).max(initial=0.0)))
        np.testing.assert_allclose(np.ravel(x), np.ravel(ours), rtol=1e-8, atol=1e-9 * scale)
    assert f" {law.name}(" in law.source("c", ROBOT)


def test_other_numbers_compile_nothing(known):
    _, law, state = known
    before = laws._kernel.cache_info().misses
    for name, x in law.numbers.items():
        if name != "period":
            batch = law.replace(**{name: np.stack([x, 0.9 * x])})
            assert batch(ROBOT, state, 2 * PERIOD, Q, V).tau.shape == (2, 6)
            one = law.replace(**{name: 0.9 * x})(ROBOT, state, 2 * PERIOD, Q, V)
            assert np.array_equal(batch(ROBOT, state, 2 * PERIOD, Q, V).tau[1], one.tau)
    assert laws._kernel.cache_info().misses == before


@pytest.mark.slow
def test_it_runs_in_a_simulation(known):
    name, law, _ = known
    q = Q + np.linspace(0, 0.01, 3)[:, None]
    if "wrench" in law.numbers or law.state is not None or name == "tvlqr":
        run = simulate(ROBOT, law, q=q, v=V, duration=3 * PERIOD, dt=PERIOD)
    else:
        run = simulate(ROBOT, law, q=q, v=V, duration=3 * PERIOD, dt=PERIOD)
        python = simulate(ROBOT, law, q=q, v=V, duration=3 * PERIOD, dt=PERIOD, trace=False)
        np.testing.assert_allclose(python.tau, run.tau, rtol=1e-6, atol=1e-6)
    assert run.finite.all() and run.tau.shape == (3, 4, 6)
    first = law(ROBOT, None, 0.0, q, V)
    np.testing.assert_allclose(run.tau[:, 0], first.tau, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("name", "gain"), [(name, gain) for name, (_, gains) in RECIPES.items() for gain in gains])
@pytest.mark.parametrize("bad", [np.ones(5), np.ones((6, 7)), np.ones((2, 3, 4)), "a", None, np.nan, 1j, [[1], [2, 3]]],
                         ids=["five", "matrix", "axes", "text", "None", "nan", "complex", "ragged"])  # fmt: skip
def test_a_gain_of_another_shape_is_named(name, gain, bad):
    if bad is None and inspect.signature(getattr(control, name)).parameters[gain].default is None:
        return  # it may be left out
    with pytest.raises(ArgumentError) as error:
        made(name, **{gain: bad})(ROBOT, None, 0.0, Q, V)
    text = str(error.value)
    assert gain in text and len(text) < 1000, text
