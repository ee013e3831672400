"""Compile times by robot and function: from nothing (cold), and from the disk cache, as in a later process (warm).

python bench/compiling.py          one run, one core; writes bench/results/compiling.json

Both end with the results of a first call. `bench/compiler.py` has compile times beside other compilers.
"""

import sys
import time
from pathlib import Path

from common import in_time, one_core, quick_or_full, report, row

one_core()
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402
from support.robots import urdf  # noqa: E402

import adjoint as aj  # noqa: E402

ROBOTS = {  # URDF in example-robot-data, and the base
    "UR5": ("ur5_robot", "fixed"),
    "Panda": ("panda", "fixed"),
    "G1 free": ("g1_29dof_rev_1_0", "free"),
    "Talos free": ("talos_reduced", "free"),
}
FUNCTIONS = {
    "forward_kinematics": "q",
    "inverse_dynamics": "qva",
    "forward_dynamics": "qva",
    "mass_matrix": "q",
    "inverse_dynamics_derivatives": "qva",
    "forward_dynamics_derivatives": "qva",
}
ROUNDS = quick_or_full(1, 3)


def measured(name: str, what: str) -> list[dict]:
    """The rows of a function of a robot."""
    file, base = ROBOTS[name]
    robot, rng = aj.load(urdf(file), base=base), np.random.default_rng(0)
    samples = {"q": aj.random_configuration(robot, 8, rng=rng)}
    samples |= dict(zip("va", rng.normal(size=(2, 8, robot.nv)), strict=True))
    inputs, laps = [samples[k] for k in FUNCTIONS[what]], {"cold": [], "warm": []}
    for k in range(ROUNDS):
        aj.clear_cache()
        for how in laps:
            aj.forget()
            new = robot.replace(name=f"{robot.name} {k}")  # an equal robot, which remembers nothing
            start = time.perf_counter()
            getattr(aj, what).bind(new)(*inputs)
            laps[how].append(time.perf_counter() - start)
    return [row(name, what, how, {"adjoint": laps[how]}) for how in laps]


def main() -> None:
    aj.kernel(lambda x: x + 1.0, x=())(np.zeros(8))  # so that LLVM has started
    every = [(name, what) for name in quick_or_full(("UR5", "G1 free"), ROBOTS) for what in FUNCTIONS]
    rows = [r for case in in_time(every, ", ".join) for r in measured(*case)]
    report("compiling", ("numpy", "llvmlite"), rows)


if __name__ == "__main__":
    main()
