"""Large batches on one thread and on more, up to the number of cores, beside Pinocchio's parallel calls.

python bench/threads.py            one run, all cores; writes bench/results/threads.json

Both write into memory that is given. Threads of OpenMP, which Pinocchio uses, would go on spinning after a call and
slow down whoever comes next, so they are told to sleep.
"""

import os
import sys
from pathlib import Path

from common import in_time, quick_or_full, race, report, row

os.environ["OMP_WAIT_POLICY"] = "passive"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import pinocchio as pin
from support.robots import pair, pinocchio_q, urdf, velocity_map

import adjoint as aj

BATCH, DIFFERENT = quick_or_full(16_384, 65_536), 1024  # samples, of which so many differ
ROBOTS = {"UR5": ("ur5_robot", "fixed"), "G1 free": ("g1_29dof_rev_1_0", "free")}
CALLS = {"inverse_dynamics": pin.rneaInParallel, "forward_dynamics": pin.abaInParallel}
CORES = os.cpu_count() or 1
THREADS = sorted({1, CORES, *(2**k for k in range(10) if 2**k < CORES)})


def ours(what: str, robot: aj.Robot, threads: int, arrays: list[np.ndarray]):
    """A function that computes a batch on so many threads, with a kernel of its own: setting the number takes time."""
    kernel = getattr(aj, what).bind(robot.replace(name=f"{robot.name} on {threads} threads"))
    kernel.threads = threads
    out = kernel(*arrays)
    return lambda: kernel(*arrays, out=out)


def measured(name: str) -> list[dict]:
    """The rows of a robot, by the sample; all numbers of threads take turns."""
    robot, model = pair(urdf(ROBOTS[name][0]), ROBOTS[name][1])
    rng, E = np.random.default_rng(0), velocity_map(model, robot)
    q, (v, a) = aj.random_configuration(robot, DIFFERENT, rng=rng), rng.normal(size=(2, DIFFERENT, robot.nv))
    theirs = [np.stack([pinocchio_q(model, robot, x) for x in q]), v @ E.T, a @ E.T]
    (q, v, a), theirs = ([np.tile(x, (BATCH // DIFFERENT, 1)) for x in arrays] for arrays in ((q, v, a), theirs))
    columns, result = [np.asfortranarray(x.T) for x in theirs], np.empty((model.nv, BATCH), order="F")
    pool, rows = pin.ModelPool(model, CORES), []
    for what in in_time(CALLS, lambda what: f"{name}, {what}"):
        call = CALLS[what]
        call(1, pool, *columns, result)
        want = np.linalg.solve(E, result).T
        np.testing.assert_allclose(getattr(aj, what)(robot, q, v, a), want, rtol=1e-6, atol=1e-7 * np.abs(want).max())
        calls = {f"{k}": ours(what, robot, k, [q, v, a]) for k in THREADS}
        calls |= {f"pinocchio {k}": lambda k=k, call=call: call(k, pool, *columns, result) for k in THREADS}
        laps = race(calls, rounds=9)
        for k in THREADS:
            these = {"adjoint": laps[f"{k}"], "pinocchio batch": laps[f"pinocchio {k}"]}
            these["adjoint, one thread"] = laps["1"]
            rows.append(row(name, what, "by threads", these, samples=BATCH, size=k))
    return rows


def main() -> None:
    rows = [r for name in in_time(ROBOTS) for r in measured(name)]
    report("threads", ("numpy", "pin"), rows, threads=CORES, batch=BATCH)


if __name__ == "__main__":
    main()
