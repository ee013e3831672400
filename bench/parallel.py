"""One long chain divided into parts, on one and two threads, beside the undivided recursion; a model of more cores.

python bench/parallel.py           one run, two cores; writes bench/results/parallel.json
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import in_time, quick_or_full, report, row, table

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.parallel import LENGTH, joined, part_map, part_solve, solve_mass_matrix_parallel
from adjoint.fixman import fixman_solve
from adjoint.rolled import for_loops

LENGTHS = quick_or_full({10_000: 100, 100_000: 10}, {10_000: 300, 100_000: 100, 1_000_000: 20})  # links: rounds
CORES = (1, 2, 4, 8, 16, 64)
BANDWIDTH = 200e9  # bytes/s of the machine that the model is for: eight channels of DDR4-3200
BYTES = 8 * (
    2 * (22 + 2) + 2
)  # moved for a link: its 22 numbers, q and b in steps 1 and 3; x, read before it is written


def chain(n: int):
    """The chain of bench/chains.py, which cannot be imported, as it holds its process to one core."""
    rod = aj.lie.inertia.from_central.eager(1.0, np.array([0.5, 0, 0]), np.diag([0.02, 0.09, 0.09]))
    return robots.chain(n).replace(inertias=np.tile(rod, (n, 1)))


def in_parts(robot, q, b, parts, threads: int):
    def call():
        part_map.threads = part_solve.threads = threads
        return solve_mass_matrix_parallel(robot, q, b, parts=parts)

    return call


def in_turns(calls: dict, rounds: int) -> tuple[dict, dict]:
    """{name: [seconds in each round]} by the clock and of all cores together; in a round all calls take turns."""
    wall: dict[str, list] = {name: [] for name in calls}
    busy: dict[str, list] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start, spent = time.perf_counter(), time.process_time()
            call()
            wall[name].append(time.perf_counter() - start)
            busy[name].append(time.process_time() - spent)
    return wall, busy


def one_chain(n: int, rounds: int) -> tuple[dict, dict]:
    """{method: [seconds]} of solving M x = b, by the clock and of all cores together."""
    robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, n))
    calls = {
        "articulated": lambda: aj.solve_mass_matrix(robot, q, b),
        "fixman": lambda: fixman_solve(robot, q, b),
        **{f"{k} parts": in_parts(robot, q, b, k, 2) for k in (1, 2, 4)},
        "1 thread": in_parts(robot, q, b, None, 1),
        "2 threads": in_parts(robot, q, b, None, 2),
    }
    return in_turns(calls, rounds)


def row_of(n: int, laps: dict, how: str) -> dict:
    """The row of a length: parts on two threads beside our other ways."""
    named = {"2 threads" if k == "2 threads" else f"adjoint, {k}": x for k, x in laps.items()}
    return row("chain", "M x = b in parts, by the link", how, named, "2 threads", samples=n, size=n)


def copying(number: int) -> float:
    """Bytes per second that a number of threads read and write together, each of which copies 100 MB."""
    arrays = [(np.ones(12_500_000), np.ones(12_500_000)) for _ in range(number)]
    with ThreadPoolExecutor(number) as pool:
        times, _ = in_turns({"": lambda: list(pool.map(lambda pair: np.copyto(*pair), arrays))}, 20)
    return 2 * number * 1e8 / min(times[""])


def seam() -> tuple[float, float]:
    """Seconds that joining one more part takes, and seconds of the three calls alone."""
    long = for_loops(chain(50))
    none, root, plan = np.zeros(0), long.root, long.plan

    def joining(parts: int) -> float:
        maps, support = np.tile(np.eye(6, 20), (parts, 1, 1)), np.ones((parts, 2))
        return min(in_turns({"": lambda: joined(maps, support, root, none, plan=plan)}, 100)[0][""])

    return (joining(2001) - joining(1)) / 2000, 3 * joining(1)


def model(n: int, cores: int, link: float, per_seam: float, per_call: float) -> float:
    """Seconds that the model predicts for n links on some cores.

    They are the time of the work, with `link` seconds per link on one core, or of moving its bytes if that is longer;
    then of all seams, one after the other; and of the calls.
    """
    parts = 16 * -(-n // (16 * LENGTH))
    return max(n * link / min(cores, parts / 8), n * BYTES / BANDWIDTH) + parts * per_seam + per_call


def main() -> None:
    laps = {n: one_chain(n, LENGTHS[n]) for n in in_time(LENGTHS)}
    rows = [row_of(n, found[0], "two threads") for n, found in laps.items()]
    rates = {k: copying(k) for k in (1, 2)}
    per_seam, per_call = seam()
    fixed = {n: model(n, 1, 0.0, per_seam, per_call) / n - BYTES / BANDWIDTH for n in laps}
    link = {n: min(found[0]["1 thread"]) / n - fixed[n] for n, found in laps.items()}
    print(f"copying: {rates[1] / 1e9:.1f} GB/s on one thread, {rates[2] / 1e9:.1f} on two; {BYTES} bytes a link")
    print(f"a seam {1e9 * per_seam:.0f} ns, calls {1e6 * per_call:.0f} us, a link {1e9 * min(link.values()):.0f} ns\n")
    estimates = {n: [1e9 * model(n, k, link[n], per_seam, per_call) / n for k in CORES] for n in laps}
    header = ["model, ns per link on cores", *map(str, CORES)]
    table(header, [[str(n), *found] for n, found in estimates.items()])
    busy = {n: {name: 1e9 * min(x) / n for name, x in found[1].items()} for n, found in laps.items()}
    more = {"cpu_ns": busy, "copy": rates, "seam_s": per_seam, "call_s": per_call}
    report("parallel", ("numpy",), rows, threads=2, **more, cores=CORES, model_ns=estimates)


if __name__ == "__main__":
    main()
