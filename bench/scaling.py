"""How times grow with the batch and with the degrees of freedom, beside Pinocchio.

python bench/scaling.py            one run, one core; writes bench/results/scaling.json

Batches: arms and a humanoid, from one sample to 10⁵. Pinocchio's loop over single calls takes the same time for every
sample; its batch call, on one thread, is timed at every size. Degrees of freedom: random trees of revolute joints. Our
code of robots of up to 48 bodies is unrolled; larger ones are computed by loops.
"""

import sys
from pathlib import Path

from common import find, in_time, one_core, quick_or_full, race, report, row

one_core()
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
from peers import pinocchio_tree  # noqa: E402
from support.robots import pair, pinocchio_q, urdf, velocity_map  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import robots  # noqa: E402

ROBOTS = {"UR5": ("ur5_robot", "fixed"), "G1 free": ("g1_29dof_rev_1_0", "free")}
SIZES = quick_or_full((1, 16, 256, 4096), (1, 2, 4, 8, 16, 64, 256, 1024, 4096, 16_384, 100_000))
FREEDOMS = quick_or_full((1, 6, 24), (1, 2, 3, 6, 9, 12, 18, 24, 36, 48, 49, 60))
SOME, BATCH, DIFFERENT = 64, 1024, 1024  # samples of Pinocchio's loop, of trees, and that differ in large batches
CALLS = {
    "inverse_dynamics": (pin.rnea, pin.rneaInParallel),
    "forward_dynamics": (pin.aba, pin.abaInParallel),
    "mass_matrix": (pin.crba, None),
}


def looped(call, model, data, rows):
    """A function that calls Pinocchio with some rows, one after the other, and their number."""
    few = list(zip(*(x[:SOME] for x in rows), strict=True))

    def run():
        for one in few:
            call(model, data, *one)

    return run, len(few)


def in_batch(kernel, arrays: list[np.ndarray]):
    """A function that computes a batch; large results go into the same memory again, as in `dynamics.py`."""
    out = kernel(*arrays)
    return (lambda: kernel(*arrays, out=out)) if out.nbytes > 1 << 24 else (lambda: kernel(*arrays))


def by_batch(name: str) -> list[dict]:
    """The rows of a robot, by the sample: one for every size of the batch."""
    robot, model = pair(urdf(ROBOTS[name][0]), ROBOTS[name][1])
    rng, E = np.random.default_rng(0), velocity_map(model, robot)
    q, (v, a) = aj.random_configuration(robot, DIFFERENT, rng=rng), rng.normal(size=(2, DIFFERENT, robot.nv))
    theirs, times = [np.stack([pinocchio_q(model, robot, x) for x in q]), v @ E.T, a @ E.T], -(-max(SIZES) // DIFFERENT)
    (q, v, a), theirs = ([np.tile(x, (times, 1)) for x in arrays] for arrays in ((q, v, a), theirs))
    found = []
    for what in ("inverse_dynamics", "forward_dynamics"):
        kernel, (call, many), data = getattr(aj, what).bind(robot), CALLS[what], model.createData()
        want = np.linalg.solve(E, call(model, data, *(x[0] for x in theirs)))
        np.testing.assert_allclose(kernel(q[0], v[0], a[0]), want, rtol=1e-8, atol=1e-8 * np.abs(want).max())
        for n in in_time(SIZES, lambda n, what=what: f"{name}, {what}, batch of {n}"):
            ours, columns = [x[:n].copy() for x in (q, v, a)], [np.asfortranarray(x[:n].T) for x in theirs]
            pool, result = pin.ModelPool(model, 1), np.empty((model.nv, n), order="F")
            loop, count = looped(call, model, data, [x[:n] for x in theirs])
            calls = {
                "adjoint": in_batch(kernel, ours),
                "pinocchio": loop,
                "pinocchio batch": lambda many=many, pool=pool, c=columns, y=result: many(1, pool, *c, y),
            }
            samples = {"adjoint": n, "pinocchio": count, "pinocchio batch": n}
            found.append(row(name, what, "by batch", race(calls, rounds=7, seconds=0.01), samples=samples, size=n))
    return found


def by_freedoms(n: int) -> list[dict]:
    """The rows of a tree of n revolute joints, by the sample."""
    robot = robots.random_tree(0, n, ["revolute"])
    robot = robot.replace(damping=0.0, friction=0.0, armature=0.0)
    model, rng = pinocchio_tree(robot), np.random.default_rng(0)
    arrays, found = rng.normal(size=(3, BATCH, n)), []
    order = [model.joints[model.getJointId(name)].idx_v for name in robot.body_joint_names]
    for what, (call, _) in CALLS.items():
        kernel, data = getattr(aj, what).bind(robot), model.createData()
        inputs = list(arrays[:1] if what == "mass_matrix" else arrays)
        theirs = [x[:, np.argsort(order)] for x in inputs]
        want = call(model, data, *(x[0] for x in theirs))
        want = (np.triu(want) + np.triu(want, 1).T)[np.ix_(order, order)] if what == "mass_matrix" else want[order]
        np.testing.assert_allclose(kernel(*(x[0] for x in inputs)), want, rtol=1e-7, atol=1e-7 * np.abs(want).max())
        loop, count = looped(call, model, data, theirs)
        calls = {"adjoint": in_batch(kernel, inputs), "pinocchio": loop}
        samples, laps = {"adjoint": BATCH, "pinocchio": count}, race(calls, rounds=7, seconds=0.01)
        found.append(row("random tree", what, "by freedoms", laps, samples=samples, size=n))
    return found


def exponents(rows: list[dict]) -> dict[str, float]:
    """The exponents p of time ~ nᵖ for trees of 6 to 48 joints, ours and Pinocchio's."""
    found = {}
    for what in CALLS:
        some = [r for n in FREEDOMS if 6 <= n <= 48 and (r := find(rows, "random tree", what, "by freedoms", n))]
        n = np.log([r["size"] for r in some])
        if len(some) > 1:
            found[what] = float(np.polyfit(n, np.log([r["ours_ns"] for r in some]), 1)[0])
            theirs = np.log([r["peers"]["pinocchio"]["ns"] for r in some])
            found[f"{what}, pinocchio"] = float(np.polyfit(n, theirs, 1)[0])
    return found


def main() -> None:
    rows = [r for n in in_time(FREEDOMS, lambda n: f"tree of {n} joints") for r in by_freedoms(n)]
    rows += [r for name in in_time(ROBOTS) for r in by_batch(name)]
    report("scaling", ("numpy", "pin"), rows, exponents=exponents(rows))


if __name__ == "__main__":
    main()
