"""Controllers whose results depend on more than their inputs are refused: machine code would freeze what they hide."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as aj
from adjoint import TraceError, control
from adjoint.simulation import simulate

ROBOT = aj.robots.puma560()
GOAL = np.linspace(0.1, 0.6, 6)
TIMES = {"duration": 0.01, "dt": 0.001}


class Integrating:
    """PI feedback with its integral in the object."""

    def __init__(self):
        self.integral = np.zeros(6)

    def __call__(self, t, q, v):
        self.integral = self.integral + 1e-3 * (GOAL - q)
        return 100 * (GOAL - q) - 10 * v + 50 * self.integral


class Differencing:
    """Feedback of the difference to the last q, which is 0 at first."""

    def __init__(self):
        self.last = None

    def __call__(self, t, q, v):
        last, self.last = q if self.last is None else self.last, q
        return GOAL - q - (q - last) / 1e-3


class Lazy:
    """A controller that computes a constant when it is first asked."""

    def __init__(self):
        self.stiffness = None

    def __call__(self, t, q, v):
        if self.stiffness is None:
            self.stiffness = np.diag(np.arange(1.0, 7.0))
        return self.stiffness @ (GOAL - q)


def noise(t, q, v):
    return GOAL - q + np.random.default_rng().normal(size=6)


def noisy_law(robot, p, state, t, q, v, reference):
    return p.k * (reference.q - q) + np.random.default_rng().normal(size=6), state


def doubled(inside, robot, p, state, t, q, v, reference):
    tau, inner = inside(state[1], t, q, v, reference)
    return 2 * tau, (None, inner)


@pytest.mark.parametrize("make", [Integrating, Differencing, lambda: noise])
def test_hidden_state_and_randomness_are_refused(make):
    with pytest.raises(TraceError, match=r"different results for the same inputs.*state=.*noisy.*trace=False"):
        simulate(ROBOT, make(), q=GOAL + 0.1, **TIMES)
    run = simulate(ROBOT, make(), q=GOAL + 0.1, trace="if possible", **TIMES)
    assert run.finite and "controller in Python" in repr(run)


def test_a_hidden_integral_grows_in_python():
    one, other = Integrating(), Integrating()
    run = simulate(ROBOT, one, q=GOAL + 0.1, trace=False, **TIMES)
    tau = np.array([other(t, q, v) for t, q, v in zip(run.t, run.q, run.v, strict=True)])
    assert np.array_equal(run.tau, tau)


def test_laws_are_refused_at_their_first_call():
    law = control.law(noisy_law, reference=GOAL, k=1.0)
    for wrong in (law, control.saturated(law, 5.0), control.wrapped(law, doubled, name="doubled")):
        with pytest.raises(TraceError, match="different results for the same inputs"):
            wrong(ROBOT, None, 0.0, GOAL, np.zeros(6))


def random_goal(t):
    return GOAL + t * np.random.default_rng().normal(size=6)


def random_target(t):
    return control.Target(random_goal(t), np.zeros(6), np.zeros(6))


@pytest.mark.parametrize("reference", [random_goal, random_target])
def test_random_references_are_refused(reference):
    with pytest.raises(TraceError, match="the reference: the function gives different results"):
        simulate(ROBOT, control.pd(reference, kp=1.0), q=GOAL, **TIMES)


def test_a_constant_that_is_computed_once_is_no_hidden_state():
    run = simulate(ROBOT, Lazy(), q=GOAL + 0.1, **TIMES)
    python = simulate(ROBOT, Lazy(), q=GOAL + 0.1, trace=False, **TIMES)
    np.testing.assert_allclose(run.q, python.q, rtol=1e-11)


@dataclass
class Counted:
    """A controller that counts its questions, in a list that no result depends on."""

    asked: list

    def __call__(self, t, q, v):
        self.asked.append(1)
        return GOAL - q


def test_functions_are_asked_a_few_times_a_plan():
    counted = Counted([])
    run = simulate(ROBOT, counted, q=GOAL + 0.1, **TIMES)
    assert run.finite and len(counted.asked) < 10
