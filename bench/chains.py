"""Long chains: the time of M⁻¹ b by compiled loops, Pinocchio's recursion, dense algebra and Fixman's method.

python bench/chains.py             one run, one core; writes bench/results/chains.{json,png}
"""

import functools
import tracemalloc

from common import cold, machine, one_core, race, save, table, versions

one_core()

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import robots  # noqa: E402
from adjoint.compile.machine import result_arrays  # noqa: E402
from adjoint.fixman import fixman_solve  # noqa: E402

LENGTHS = (100, 400, 1_000, 10_000, 100_000, 1_000_000)
DENSE, PINOCCHIO, FIXMAN = 1_000, 400, 100_000  # the longest chain for each; Pinocchio's data has n³ numbers
BATCH = 1024


def chain(n: int):
    """A chain of thick rods: Fixman's method needs every body to have a moment of inertia about its axis."""
    robot = robots.chain(n)
    rod = aj.lie.inertia.from_central.eager(1.0, np.array([0.5, 0, 0]), np.diag([0.02, 0.09, 0.09]))
    return robot.replace(inertias=np.tile(rod, (n, 1)))


def pinocchio_chain(robot) -> pin.Model:
    """Pinocchio's model of the same chain of revolute joints."""
    model, parent = pin.Model(), 0
    model.gravity.linear = robot.gravity
    for i, name in enumerate(robot.body_names):
        joint = pin.JointModelRevoluteUnaligned(robot.screw(i)[0, :3])
        parent = model.addJoint(parent, joint, pin.SE3(robot.placements[i]), robot.body_joint_names[i])
        m, com, I = aj.lie.inertia.central.eager(robot.inertias[i])
        model.appendBodyToJoint(parent, pin.Inertia(m, com, I), pin.SE3.Identity())
        assert model.names[parent] == robot.body_joint_names[i] and name
    return model


def dense(robot, q, b):
    return lambda: np.linalg.solve(aj.mass_matrix(robot, q), b)


def by_pinocchio(robot, q, b):
    model = pinocchio_chain(robot)
    data, zero = model.createData(), np.zeros(robot.nv)
    model.gravity.linear = np.zeros(3)
    same = np.allclose(pin.aba(model, data, q, zero, b), aj.solve_mass_matrix(robot, q, b), rtol=1e-6)
    assert same or robot.nv > 1000, "Pinocchio solves another problem"
    return lambda: pin.aba(model, data, q, zero, b)


def one_chain(n: int) -> dict[str, float]:
    """{method: nanoseconds per link} of solving M x = b for one chain of n links."""
    robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, n))
    calls = {"adjoint": lambda: aj.solve_mass_matrix(robot, q, b)}
    if n <= FIXMAN:
        calls["fixman"] = lambda: fixman_solve(robot, q, b)
    if n <= PINOCCHIO:
        calls["pinocchio aba"] = by_pinocchio(robot, q, b)
    if n <= DENSE:
        calls["dense"] = dense(robot, q, b)
    return {name: 1e9 * t / n for name, t in race(calls, rounds=15 if n < 1e5 else 3).items()}


def by_length() -> dict[str, float]:
    """{length: nanoseconds per link} of long chains, which take turns, so that a slow moment hits all lengths."""
    calls = {}
    for n in (n for n in LENGTHS if n >= 1000):
        robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, n))
        calls[str(n)] = functools.partial(aj.solve_mass_matrix, robot, q, b)
    return {n: 1e9 * t / int(n) for n, t in race(calls, rounds=25).items()}


def many_chains(n: int) -> dict[str, float]:
    """{method: nanoseconds per link and chain} of solving M x = b for a batch of configurations."""
    robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, BATCH, n))
    model = pinocchio_chain(robot)
    model.gravity.linear = np.zeros(3)
    data, zero = model.createData(), np.zeros(n)

    def loop():
        for k in range(64):
            pin.aba(model, data, q[k], zero, b[k])

    times = race({"adjoint": lambda: aj.solve_mass_matrix(robot, q, b), "pinocchio aba": loop}, rounds=7)
    return {"adjoint": 1e9 * times["adjoint"] / n / BATCH, "pinocchio aba": 1e9 * times["pinocchio aba"] / n / 64}


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

    return cold(anew, aj.clear_cache)[1]


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


def exponent(rows: dict[int, dict[str, float]], system: str, least: int) -> float:
    """The exponent p of time ~ nᵖ, fitted to chains of at least so many links."""
    n, time = np.log([(n, row[system] * n) for n, row in rows.items() if system in row and n >= least]).T
    return float(np.polyfit(n, time, 1)[0])


def plot(rows: dict, title: str):
    from common import RESULTS
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for system in ("dense", "pinocchio aba", "fixman", "adjoint"):
        known = [(n, 1e-9 * row[system] * n) for n, row in rows.items() if system in row]
        axes.loglog(*zip(*known, strict=True), "o-", label=system)
    axes.set(xlabel="links", ylabel="s", title=title)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    path = RESULTS / "chains.png"
    figure.savefig(path, dpi=120)
    return path


def main() -> None:
    where, used = machine(), versions("adjoint", "numpy", "scipy", "pin")
    print(f"{where['cpu']}, one core, float64; {', '.join(f'{k} {v}' for k, v in used.items())}\n")
    rows = {n: one_chain(n) for n in LENGTHS}
    systems = ["adjoint", "fixman", "pinocchio aba", "dense"]
    table(["ns per link, M x = b", *systems], [[str(n), *(row.get(s) for s in systems)] for n, row in rows.items()])
    batch, seconds, size = many_chains(100), {n: compiling(n) for n in (100, 10_000)}, memory(100_000)
    exponents = {s: exponent(rows, s, 1000 if s in ("adjoint", "fixman") else 1) for s in systems}
    table(["time ~ n^p", "p"], [[s, p] for s, p in exponents.items()])
    per_link = by_length()
    table(["ns per link, taking turns", *per_link], [["adjoint", *per_link.values()]])
    verdicts = [
        ["n = 400, times pinocchio aba", rows[400]["pinocchio aba"] / rows[400]["adjoint"], ">= 3"],
        ["n = 400, times dense", rows[400]["dense"] / rows[400]["adjoint"], ">= 100"],
        ["slowest / fastest link, n = 1e3 to 1e6", max(per_link.values()) / min(per_link.values()), "<= 1.25"],
        ["fixman / adjoint, n = 1e4", rows[10_000]["fixman"] / rows[10_000]["adjoint"], "<= 4"],
        ["batch of n = 100, times pinocchio aba", batch["pinocchio aba"] / batch["adjoint"], ">= 10"],
        ["batch of n = 100, ns per link and chain", batch["adjoint"], "<= 35"],
        ["compiling, s", max(seconds.values()), "<= 0.2"],
        ["memory, bytes per link", size, "<= 2000"],
    ]
    for row in verdicts:
        how, limit = row[2].split()
        row.append("met" if (row[1] >= float(limit) if how == ">=" else row[1] <= float(limit)) else "missed")
    table(["target", "measured", "wanted", ""], verdicts)
    data = {"rows": {str(n): row for n, row in rows.items()}, "batch": batch, "compile_s": seconds, "memory": size}
    print(save("chains", {"machine": where, "versions": used, "exponents": exponents, "targets": verdicts, **data}))
    print(plot(rows, f"M x = b for one chain, {where['cpu']}, one core"))


if __name__ == "__main__":
    main()
