"""Long chains: the time of M⁻¹ b by compiled loops, Pinocchio's recursion, dense algebra and Fixman's method.

python bench/chains.py             one run, one core; writes bench/results/chains.json
"""

import functools
import tracemalloc

from common import cold, find, in_time, one_core, quick_or_full, race, ratio_target, report, row, target

one_core()

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
from peers import pinocchio_tree  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import robots  # noqa: E402
from adjoint.compile.machine import result_arrays  # noqa: E402
from adjoint.fixman import fixman_solve  # noqa: E402

LENGTHS = quick_or_full((100, 400, 1_000, 10_000), (100, 400, 1_000, 10_000, 100_000, 1_000_000))
DENSE, PINOCCHIO, FIXMAN = 1_000, 400, 100_000  # the longest chain for each; Pinocchio's data has n³ numbers
BATCH = 1024
SOLVE = "M x = b, by the link"


def chain(n: int):
    """A chain of thick rods: Fixman's method needs every body to have a moment of inertia about its axis."""
    robot = robots.chain(n)
    rod = aj.lie.inertia.from_central.eager(1.0, np.array([0.5, 0, 0]), np.diag([0.02, 0.09, 0.09]))
    return robot.replace(inertias=np.tile(rod, (n, 1)))


def dense(robot, q, b):
    return lambda: np.linalg.solve(aj.mass_matrix(robot, q), b)


def by_pinocchio(robot, q, b):
    model = pinocchio_tree(robot)
    data, zero = model.createData(), np.zeros(robot.nv)
    model.gravity.linear = np.zeros(3)
    same = np.allclose(pin.aba(model, data, q, zero, b), aj.solve_mass_matrix(robot, q, b), rtol=1e-6)
    assert same or robot.nv > 1000, "Pinocchio solves another problem"
    return lambda: pin.aba(model, data, q, zero, b)


def one_chain(n: int) -> dict:
    """The row of solving M x = b for one chain of n links, by the link."""
    robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, n))
    calls = {"adjoint": lambda: aj.solve_mass_matrix(robot, q, b)}
    if n <= FIXMAN:
        calls["adjoint, fixman"] = lambda: fixman_solve(robot, q, b)
    if n <= PINOCCHIO:
        calls["pinocchio aba"] = by_pinocchio(robot, q, b)
    if n <= DENSE:
        calls["adjoint, dense"] = dense(robot, q, b)
    return row("chain", SOLVE, "one call", race(calls, rounds=15 if n < 1e5 else 3), samples=n, size=n)


def by_length() -> dict[str, float]:
    """{length: nanoseconds per link} of long chains, which take turns, so that a slow moment hits all lengths."""
    calls = {}
    for n in (n for n in LENGTHS if n >= 1000):
        robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, n))
        calls[str(n)] = functools.partial(aj.solve_mass_matrix, robot, q, b)
    return {n: 1e9 * min(laps) / int(n) for n, laps in race(calls, rounds=25).items()}


def many_chains(n: int) -> dict:
    """The row of solving M x = b for a batch of configurations, by the link and chain."""
    robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, BATCH, n))
    model = pinocchio_tree(robot)
    model.gravity.linear = np.zeros(3)
    data, zero = model.createData(), np.zeros(n)

    def loop():
        for k in range(64):
            pin.aba(model, data, q[k], zero, b[k])

    laps = race({"adjoint": lambda: aj.solve_mass_matrix(robot, q, b), "pinocchio aba": loop}, rounds=7)
    samples = {"adjoint": n * BATCH, "pinocchio aba": n * 64}
    return row("chain", SOLVE, "batch", laps, samples=samples, size=n)


def compiling(n: int) -> float:
    """Seconds of a call for a chain of n links that has to compile the machine code."""
    robot, x = chain(n), np.zeros(n)
    aj.rolled.for_loops(robot)
    kernel = aj.rolled.calls.in_loops(aj.solve_mass_matrix, {"robot": robot}, ("q", "b")).kernel
    aj.solve_mass_matrix(robot, x, x)  # everything but the machine code is kept from this call

    def anew():
        kernel.forget_callers()
        kernel.only_specialisation("bench").codes.clear()
        kernel.only_specialisation("bench").plans.clear()
        return aj.solve_mass_matrix(robot, x, x)

    return min(cold(anew, aj.clear_cache)[1])


def memory(n: int) -> float:
    """Bytes per link that solving takes at its peak, without those of the robot."""
    robot, x = chain(n), np.zeros(n)
    aj.solve_mass_matrix(robot, x, x)
    result_arrays._waiting.clear()  # memory of results that would be used again
    tracemalloc.start()
    aj.solve_mass_matrix(robot, x, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / n


def exponent(rows: list[dict], system: str, least: int) -> float | None:
    """The exponent p of time ~ nᵖ, fitted to chains of at least so many links; None if there are fewer than two."""
    known = [(r["size"], r["ours_ns"] if system == "adjoint" else r["peers"].get(system, {}).get("ns")) for r in rows]
    known = [(n, n * ns) for n, ns in known if ns is not None and n >= least]
    return float(np.polyfit(*np.log(known).T, 1)[0]) if len(known) > 1 else None


def targets(rows: list[dict], more: dict) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    some, batch = find(rows, "chain", SOLVE, "one call", 400), find(rows, "chain", SOLVE, "batch", 100)
    long, per_link = find(rows, "chain", SOLVE, "one call", 10_000), more["ns_per_link_in_turns"].values()
    verdicts = ratio_target(some, "pinocchio aba", 3) + ratio_target(some, "adjoint, dense", 100)
    verdicts += ratio_target(batch, "pinocchio aba", 10)
    if long is not None:
        verdicts += [target("fixman / adjoint, n = 1e4", long["peers"]["adjoint, fixman"]["ratio"], "<= 4")]
    return [
        *verdicts,
        target("slowest / fastest link, n = 1e3 and more", max(per_link) / min(per_link), "<= 1.25"),
        target("batch of n = 100, ns per link and chain", batch["ours_ns"], "<= 35"),
        target("compiling, s", max(more["compile_s"].values()), "<= 0.2"),
        target("memory, bytes per link", more["bytes_per_link"], "<= 2000"),
    ]


def main() -> None:
    rows = [one_chain(n) for n in in_time(LENGTHS)]
    systems = {"adjoint": 1000, "adjoint, fixman": 1000, "pinocchio aba": 1, "adjoint, dense": 1}
    more = {
        "exponents": {s: p for s, least in systems.items() if (p := exponent(rows, s, least)) is not None},
        "ns_per_link_in_turns": by_length(),
        "compile_s": {n: compiling(n) for n in (100, 10_000)},
        "bytes_per_link": memory(100_000),
    }
    rows.append(many_chains(100))
    report("chains", ("numpy", "scipy", "pin"), rows, targets(rows, more), **more)


if __name__ == "__main__":
    main()
