"""Functions that read what changes: machine code is never that of another value; equal functions share it."""

import copy
import functools
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as aj
from adjoint import ArgumentError, control, simulate, simulation
from adjoint.control.marks import mark_of
from adjoint.simulation import rollouts

ROBOT = aj.robots.puma560()
START = np.linspace(-0.4, 0.6, 6)
TIMES = {"duration": 0.002, "dt": 0.001}
gain, table = 1.0, np.ones(6)


def by_global(t, q, v):
    return -gain * table * q


class Feedback:
    scale = 1.0

    def __init__(self, gain):
        self.gain = gain

    def control(self, t, q, v):
        return -self.gain * self.factor() * q

    def factor(self):
        return self.scale

    def __call__(self, t, q, v):
        return self.control(t, q, v)


@dataclass(frozen=True)
class Scaled:
    gain: Any

    def __call__(self, t, q, v):
        return -self.gain * q


def closure(gain):
    return lambda t, q, v: -gain * q


def scaled(gain, t, q, v):
    return -gain * q


def first_force(controller) -> float:
    return round(simulate(ROBOT, controller, q=START, **TIMES).tau[0, 0] / -START[0], 9)


def test_a_changed_global_is_seen(monkeypatch):
    assert first_force(by_global) == 1.0
    monkeypatch.setitem(globals(), "gain", 5.0)
    assert first_force(by_global) == 5.0
    monkeypatch.setitem(globals(), "table", np.full(6, 2.0))
    assert first_force(by_global) == 10.0
    table[:] = 3.0
    assert first_force(by_global) == 15.0


def test_a_changed_object_is_seen():
    law = Feedback(1.0)
    for controller in (law.control, law):
        law.gain = 1.0
        assert first_force(controller) == 1.0
        law.gain = 3.0
        assert first_force(controller) == 3.0
    setattr(law, "result", 3)  # noqa: B010 (the function does not read it)
    assert mark_of(law.control) == mark_of(law.control)
    before = mark_of(law.control)
    setattr(law, "result", 4)  # noqa: B010
    assert mark_of(law.control) == before
    law.scale = 2.0
    assert first_force(law.control) == 6.0


@pytest.mark.parametrize("make", [closure, Scaled, lambda x: functools.partial(scaled, x)])
def test_functions_are_told_apart_by_what_they_hold(make):
    assert first_force(make(1.0)) == 1.0
    assert first_force(make(np.full(6, 4.0))) == 4.0
    assert mark_of(make(2.0)) == mark_of(make(2.0)) != mark_of(make(2.5))
    assert mark_of(make(0.0)) != mark_of(make(-0.0))
    assert mark_of(make(np.ones(3))) == mark_of(make(np.ones(3))) != mark_of(make(np.zeros(3)))


def test_a_changed_array_that_a_function_holds_is_seen():
    gains = np.ones(6)
    controller = closure(gains)
    assert first_force(controller) == 1.0
    gains[:] = 2.0
    assert first_force(controller) == 2.0


def test_references_forces_stops_and_costs_that_read_what_changes():
    goal, size, most, weight = np.zeros(6), np.ones(6), np.array(10.0), np.array(1.0)
    law = control.pd(lambda t: goal + 0 * t, kp=1.0)
    push = simulation.force(lambda robot, p, t, q, v: size + 0 * v)

    def ran():
        run = simulate(ROBOT, law, q=START, forces=push, stop=lambda t, q, v: q[5] > most, **TIMES)
        cost = simulation.gradient(lambda t, q, v, tau: weight * q[0], ROBOT, by="q", q=START, **TIMES)
        return run.tau[0, 0], run.a[0, 0], float(run.stopped), float(cost.value)

    tau, a, stopped, cost = ran()
    goal[:], size[:], most[()], weight[()] = 1.0, 2.0, -1.0, 2.0
    again = ran()
    assert again[0] == pytest.approx(tau + 1.0)
    assert again[1] != a
    assert (stopped, again[2]) == (np.inf, 0.0)
    assert again[3] == pytest.approx(2 * cost)


def test_a_run_does_not_compute_with_what_has_changed_since():
    gains = np.ones(6)
    run = simulate(ROBOT, closure(gains), q=START, **TIMES)
    gains[:] = 2.0
    with pytest.raises(ArgumentError, match="has changed since"):
        run.tau  # noqa: B018
    kept = simulate(ROBOT, closure(gains), q=START, **TIMES)
    tau = kept.tau
    gains[:] = 3.0
    assert kept.tau is tau


def test_equal_functions_share_machine_code():
    simulate(ROBOT, closure(7.0), q=START, **TIMES)
    made = rollouts.rollout_kernel.cache_info().misses
    for _ in range(3):
        simulate(ROBOT, closure(7.0), q=START, **TIMES)
    assert rollouts.rollout_kernel.cache_info().misses == made
    for cached in (rollouts.rollout_kernel, rollouts.instant_kernel, rollouts.energy_kernel):
        assert cached.cache_info().maxsize == 64  # however many functions there are


def test_marks_of_odd_things():
    loop: list = []
    loop.append(loop)
    assert mark_of(loop) == mark_of(loop)
    assert mark_of({1, 2}) == mark_of({2, 1})
    assert mark_of(float("nan")) == mark_of(float("nan"))
    assert mark_of(1) != mark_of(1.0) != mark_of(True)
    assert mark_of(np.array([object()])) != mark_of(np.array([object()]))
    assert mark_of(list(range(5))) == mark_of(list(range(5)))
    many = [[k] for k in range(20_000)]
    assert mark_of(many) != mark_of(many)  # too much to look at: never taken for the same

    def outer():
        def inner():
            return later

        found = mark_of(inner)
        later = 3
        return found, mark_of(inner), later

    before, after, _ = outer()
    assert before != after


def spring(robot, p, state, t, q, v, reference):
    return p.k * (reference.q - q), state


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_laws_forces_and_runs_are_copied_and_pickled(copied):
    law = control.saturated(control.law(spring, reference=START, k=np.ones(6)), 5.0).replace(k=np.ones((2, 6)))
    before = law(ROBOT, None, 0.0, 2 * START, START).tau
    found = copied(law)
    np.testing.assert_array_equal(found(ROBOT, None, 0.0, 2 * START, START).tau, before)
    assert found.parts == law.parts
    with pytest.raises(ValueError, match="read-only"):
        found.numbers["k"][:] = 3.0
    friction = copied(simulation.friction(viscous=1.0))
    run = simulate(ROBOT, found, q=START, forces=friction, **TIMES)
    again = copied(run)
    for name in ("q", "tau", "a", "error"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    gradient = simulation.gradient(None, ROBOT, by="q", final_cost=first_q, q=START, **TIMES)
    assert copied(gradient).by.keys() == {"q"}
    assert copied(control.Target(1, 2, 3)) == (1, 2, 3)


def first_q(q, v):
    return q[0]
