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


class Case:
    """One robot, and samples of which some differ; Pinocchio gets them in its own order."""

    def __init__(self, name: str):
        self.name, (file, base) = name, ROBOTS[name]
        self.robot, model = pair(urdf(file), base)
        rng, self.E = np.random.default_rng(0), velocity_map(model, self.robot)
        q = aj.random_configuration(self.robot, DIFFERENT, rng=rng)
        v, a = rng.normal(size=(2, DIFFERENT, self.robot.nv))
        theirs = [np.stack([pinocchio_q(model, self.robot, x) for x in q]), v @ self.E.T, a @ self.E.T]
        self.arrays = [np.tile(x, (BATCH // DIFFERENT, 1)) for x in (q, v, a)]
        self.columns = [np.asfortranarray(np.tile(x, (BATCH // DIFFERENT, 1)).T) for x in theirs]
        self.pool, self.result = pin.ModelPool(model, CORES), np.empty((model.nv, BATCH), order="F")

    def measure(self, what: str) -> list[dict]:
        """The rows of a function, by the sample; all numbers of threads take turns."""
        call = CALLS[what]
        call(1, self.pool, *self.columns, self.result)
        want = np.linalg.solve(self.E, self.result).T
        found = getattr(aj, what)(self.robot, *self.arrays)
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-7 * np.abs(want).max())
        calls = {f"{k}": ours(what, self.robot, k, self.arrays) for k in THREADS}
        for k in THREADS:
            calls[f"pinocchio {k}"] = lambda k=k: call(k, self.pool, *self.columns, self.result)
        laps, rows = race(calls, rounds=9), []
        for k in THREADS:
            these = {"adjoint": laps[f"{k}"], "pinocchio batch": laps[f"pinocchio {k}"]}
            these["adjoint, one thread"] = laps["1"]
            rows.append(row(self.name, what, "by threads", these, samples=BATCH, size=k))
        return rows


def main() -> None:
    rows, made = [], {}
    for name, what in in_time([(name, what) for name in ROBOTS for what in CALLS], ", ".join):
        made = made if name in made else {name: Case(name)}
        rows += made[name].measure(what)
    report("threads", ("numpy", "pin"), rows, threads=CORES, batch=BATCH)


if __name__ == "__main__":
    main()
