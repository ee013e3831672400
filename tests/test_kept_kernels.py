"""Memory: kernels that nobody holds are freed, those that somebody holds work on, and robots keep what is theirs."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import adjoint as aj
from adjoint import robots
from adjoint.compile import Kernel, kernel, static
from adjoint.compile.front import kept_kernels
from adjoint.model.once import once_a_robot
from adjoint.rolled import rows

Q, V = np.array([0.3, -0.2]), np.array([1.0, 2.0])
ARM = robots.chain(2)


def arm(k: int):
    """An arm of two links, different for each k."""
    return ARM.replace(inertias=ARM.inertias * (1 + 0.01 * k))


def energy(k: int) -> float:
    return float((1 + 0.01 * k) * aj.kinetic_energy.eager(ARM, Q, V))


@pytest.fixture(autouse=True)
def nothing_kept():
    aj.forget()
    yield
    aj.forget()


def libraries(bound: Kernel) -> list:
    return [code.library for v in bound.memory.specialisations.values() for code, _ in v.codes.values()]


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["MOST_KERNELS", "MOST_BYTES"])
def test_a_bounded_number_of_robots_is_kept(monkeypatch, limit):
    monkeypatch.setattr(kept_kernels, limit, 40 if limit == "MOST_KERNELS" else 40 * 16384)
    met, codes = [], []
    gc.disable()  # no collection is needed: what is not kept goes at once
    try:
        for k in range(300):
            robot = arm(k)
            assert aj.kinetic_energy.eager(robot, Q, V) > 0
            if k % 5 == 0:
                assert np.isclose(aj.kinetic_energy(robot, Q, V), energy(k))
                codes += map(weakref.ref, libraries(aj.kinetic_energy.bind(robot)))
            met.append(weakref.ref(robot))
        del robot
        assert sum(ref() is not None for ref in met) <= 42
        assert 1 <= sum(ref() is not None for ref in codes) <= 10
        assert len(kept_kernels._kept) <= 42
    finally:
        gc.enable()


def test_what_is_dropped_is_loaded_from_disk(monkeypatch):
    want = [aj.kinetic_energy(arm(k), Q, V) for k in range(8)]
    monkeypatch.setattr(kept_kernels, "MOST_KERNELS", 2)
    aj.forget()
    before = aj.cache_info()
    assert [aj.kinetic_energy(arm(k), Q, V) for k in range(8)] == want
    after = aj.cache_info()
    assert (after.hits - before.hits, after.misses, after.writes) == (8, before.misses, before.writes)


def test_some_robots_in_turn_are_all_kept():
    arms = [arm(k) for k in range(20)]
    want = [aj.kinetic_energy(robot, Q, V) for robot in arms]
    before = aj.cache_info()
    for _ in range(3):
        assert [aj.kinetic_energy(robot, Q, V) for robot in arms] == want
    after = aj.cache_info()  # its entries are also those of other processes
    assert (after.hits, after.misses, after.writes) == (before.hits, before.misses, before.writes)


def test_a_kernel_that_is_held_lives_on():
    fast = aj.inverse_dynamics.bind(ARM)
    slope = fast.jacobian("q")
    want, slopes = fast(Q, V, V), slope(Q, V, V)
    assert aj.forget() >= 2
    assert aj.inverse_dynamics.bind(ARM) is fast and fast.jacobian("q") is slope
    np.testing.assert_array_equal(fast(Q, V, V), want)
    assert type(fast).__call__ is not Kernel.__call__  # CPython calls the machine code itself again
    np.testing.assert_array_equal(fast(Q, V, V), want)
    np.testing.assert_array_equal(slope(Q, V, V), slopes)


def test_its_call_alone_is_enough():
    call = aj.kinetic_energy.bind(ARM)
    call(Q, V)
    call, want = call.__call__, call(Q, V)
    aj.forget()
    gc.collect()
    assert call(Q, V) == want


def test_a_robot_is_forgotten_whose_function_has_other_threads_since():
    robot = arm(1)
    aj.kinetic_energy(robot, Q, V)
    aj.kinetic_energy.threads = None
    met = weakref.ref(robot)
    del robot
    aj.forget()
    assert met() is None


def test_forget_one_robot():
    one, other = arm(1), arm(2)
    for robot in (one, other):
        aj.kinetic_energy(robot, Q, V)
        aj.inverse_dynamics.bind(robot).jacobian("q")(Q, V, V)
    aj.inverse_dynamics.bind(other, lift="inertias").jvp  # noqa: B018
    kernels, met = len(kept_kernels._kept), weakref.ref(one)
    let_go = aj.forget(arm(1))  # equal is enough
    assert let_go >= 3 and len(kept_kernels._kept) == kernels - let_go
    del robot, one
    assert met() is None
    assert aj.forget(arm(1)) == 0
    assert not any(k.is_made_for(arm(1)) for k in kept_kernels._kept) and any(
        k.is_made_for(other) for k in kept_kernels._kept
    )


def test_the_last_robot_of_a_kernel_stays(monkeypatch):
    """A kernel found at once, without a look at what is kept, is in use all the same."""
    aj.kinetic_energy(ARM, Q, V)
    bound = aj.kinetic_energy.memory.recent.bound  # type: ignore[union-attr]
    monkeypatch.setattr(kept_kernels, "MOST_KERNELS", 4)
    for k in range(1, 40):
        aj.potential_energy.eager(arm(k), Q)
        assert aj.kinetic_energy(ARM, Q, V) == energy(0)
    assert aj.kinetic_energy.bind(ARM) is bound


def test_kernels_that_were_told_their_threads_stay(monkeypatch):
    aj.kinetic_energy.bind(ARM).threads = 3
    monkeypatch.setattr(kept_kernels, "MOST_KERNELS", 4)
    for k in range(1, 40):
        aj.potential_energy.eager(arm(k), Q)
    assert aj.kinetic_energy.bind(ARM).threads == 3


def test_programs_go_before_kernels(monkeypatch):
    fast, x = aj.inverse_dynamics.bind(robots.puma560()), np.ones(6)
    want = fast(x, x, x)
    variant = fast.only_specialisation("call")
    assert variant.program and fast.memory.usage.nodes > 0
    monkeypatch.setattr(kept_kernels, "MOST_BYTES", sum(k.memory.usage.bytes for k in kept_kernels._kept))
    aj.kinetic_energy(arm(1), Q, V)
    assert variant._traced is None and fast.memory.usage.nodes == 0 and fast in kept_kernels._kept
    np.testing.assert_array_equal(fast(x, x, x), want)
    single = fast(*np.ones((3, 6), np.float32))  # code that needs the program again
    np.testing.assert_allclose(single, want, rtol=1e-4, atol=1e-4)
    assert fast.jacobian("q")(x, x, x).shape == (6, 6)


FACTOR = 2.0


@kernel(robot=static, q="nq")
def scaled(robot, q):
    return FACTOR * q


def test_programs_of_other_functions_stay_with_their_kernel(monkeypatch):
    """Tracing again could give another function: what a kernel read when it was compiled is in it for good."""
    fast = scaled.bind(ARM)
    fast(Q)
    monkeypatch.setattr(kept_kernels, "MOST_BYTES", 0)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    aj.kinetic_energy(arm(1), Q, V)
    np.testing.assert_allclose(fast(Q.astype(np.float32)), 2 * Q, rtol=1e-6)
    np.testing.assert_array_equal(fast.jacobian("q")(Q), 2 * np.eye(2))


@pytest.mark.slow
def test_dropping_while_other_threads_call(monkeypatch):
    batch = np.tile(Q, (3000, 1))
    want = [aj.inverse_dynamics(arm(k), batch, V, V) for k in range(6)]
    monkeypatch.setattr(kept_kernels, "MOST_KERNELS", 2)
    stop = threading.Event()

    def forgets():
        while not stop.is_set():
            aj.forget()

    def calls(seed: int):
        order = np.random.default_rng(seed).integers(0, 6, 60)
        return all(np.array_equal(aj.inverse_dynamics(arm(k), batch, V, V), want[k]) for k in order)

    with ThreadPoolExecutor(4) as pool:
        vandal = pool.submit(forgets)
        found = list(pool.map(calls, range(3)))
        stop.set()
        vandal.result()
    assert found == [True] * 3


# --- robots -----------------------------------------------------------------------------------------------------------


def test_any_number_of_long_robots(monkeypatch):
    made, in_rows = [], rows.in_rows
    monkeypatch.setattr(rows, "in_rows", lambda *given: made.append(given) or in_rows(*given))
    chains = [robots.chain(50 + k) for k in range(12)]
    for _ in range(3):
        for chain in chains:
            q = np.zeros(chain.nq)
            aj.solve_mass_matrix(chain, q, q)
            aj.forward_kinematics(chain, q, chain.body_names[-1])
    assert len(made) == len(chains)


def test_once_a_robot():
    calls = []

    @once_a_robot(most=3)
    def named(robot, *values):
        """Doc."""
        calls.append(values)
        return (robot.name, *values)

    robot, again = arm(1), arm(1)
    assert [named(robot, k) for k in (1, 2, 3, 1)] == [(robot.name, k) for k in (1, 2, 3, 1)] and len(calls) == 3
    assert named(robot, 4) and named(robot, 1) and len(calls) == 5  # three are kept, the oldest goes
    assert named(again) and named(robot) and len(calls) == 7
    assert named.__doc__ == "Doc."
    stand_in = robot.lifted({"inertias": robot.inertias})
    assert named(stand_in) and len(calls) == 8 and stand_in.results is not robot.results
    met = weakref.ref(robot)
    del robot, stand_in
    gc.collect()
    assert met() is None
