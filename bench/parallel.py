"""One long chain divided into parts, on one and two threads, beside the undivided recursion; a model of more cores.

python bench/parallel.py           one run, two cores; writes bench/results/parallel.json
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import machine, save, table, versions

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.parallel import LENGTH, joined, part_map, part_solve, solve_mass_matrix_parallel
from adjoint.fixman import fixman_solve
from adjoint.rolled import for_loops

LENGTHS = {10_000: 300, 100_000: 100, 1_000_000: 20}  # links: rounds
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


def best(calls: dict, rounds: int) -> tuple[dict, dict]:
    """{name: seconds} by the clock and of all cores together: the least of `rounds`, in which all calls take turns."""
    laps: dict[str, list] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start, spent = time.perf_counter(), time.process_time()
            call()
            laps[name].append((time.perf_counter() - start, time.process_time() - spent))
    wall, busy = ({name: min(lap[k] for lap in found) for name, found in laps.items()} for k in (0, 1))
    return wall, busy


def one_chain(n: int, rounds: int) -> tuple[dict, dict]:
    """{method: nanoseconds per link} of solving M x = b, by the clock and of all cores together."""
    robot, (q, b) = chain(n), np.random.default_rng(0).normal(size=(2, n))
    calls = {
        "articulated": lambda: aj.solve_mass_matrix(robot, q, b),
        "fixman": lambda: fixman_solve(robot, q, b),
        **{f"{k} parts": in_parts(robot, q, b, k, 2) for k in (1, 2, 4)},
        "1 thread": in_parts(robot, q, b, None, 1),
        "2 threads": in_parts(robot, q, b, None, 2),
    }
    wall, busy = ({name: 1e9 * t / n for name, t in times.items()} for times in best(calls, rounds))
    return wall, busy


def copying(number: int) -> float:
    """Bytes per second that a number of threads read and write together, each of which copies 100 MB."""
    arrays = [(np.ones(12_500_000), np.ones(12_500_000)) for _ in range(number)]
    with ThreadPoolExecutor(number) as pool:
        times, _ = best({"": lambda: list(pool.map(lambda pair: np.copyto(*pair), arrays))}, 20)
    return 2 * number * 1e8 / times[""]


def seam() -> tuple[float, float]:
    """Seconds that joining one more part takes, and seconds of the three calls alone."""
    long = for_loops(chain(50))
    none, root, plan = np.zeros(0), long.root, long.plan

    def joining(parts: int) -> float:
        maps, support = np.tile(np.eye(6, 20), (parts, 1, 1)), np.ones((parts, 2))
        return best({"": lambda: joined(maps, support, root, none, plan=plan)}, 100)[0][""]

    return (joining(2001) - joining(1)) / 2000, 3 * joining(1)


def model(n: int, cores: int, link: float, per_seam: float, per_call: float) -> float:
    """Seconds that the model predicts for n links on some cores.

    They are the time of the work, with `link` seconds per link on one core, or of moving its bytes if that is longer;
    then of all seams, one after the other; and of the calls.
    """
    parts = 16 * -(-n // (16 * LENGTH))
    return max(n * link / min(cores, parts / 8), n * BYTES / BANDWIDTH) + parts * per_seam + per_call


def main() -> None:
    where, used = machine(), versions("adjoint", "numpy")
    print(f"{where['cpu']}, float64; {', '.join(f'{k} {v}' for k, v in used.items())}\n")
    rows = {n: one_chain(n, rounds) for n, rounds in LENGTHS.items()}
    for k, what in enumerate(("by the clock", "of all cores")):
        table([f"ns per link, {what}", *rows[10_000][k]], [[str(n), *row[k].values()] for n, row in rows.items()])
    rates = {k: copying(k) for k in (1, 2)}
    per_seam, per_call = seam()
    fixed = {n: model(n, 1, 0.0, per_seam, per_call) / n - BYTES / BANDWIDTH for n in rows}
    link = {n: 1e-9 * row[0]["1 thread"] - fixed[n] for n, row in rows.items()}
    print(f"copying: {rates[1] / 1e9:.1f} GB/s on one thread, {rates[2] / 1e9:.1f} on two; {BYTES} bytes a link")
    print(f"a seam {1e9 * per_seam:.0f} ns, calls {1e6 * per_call:.0f} us, a link {1e9 * min(link.values()):.0f} ns\n")
    estimates = {n: [1e9 * model(n, k, link[n], per_seam, per_call) / n for k in CORES] for n in LENGTHS}
    header = ["model, ns per link on cores", *map(str, CORES), "articulated, one core"]
    table(header, [[str(n), *estimates[n], row[0]["articulated"]] for n, row in rows.items()])
    data = {"wall": {str(n): row[0] for n, row in rows.items()}, "cpu": {str(n): row[1] for n, row in rows.items()}}
    found = {"copy": rates, "seam": per_seam, "call": per_call, "cores": CORES, "model": estimates}
    print(save("parallel", {"machine": where, "versions": used, **data, **found}))


if __name__ == "__main__":
    main()
