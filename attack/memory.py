"""Attack: many robots, one after the other. The memory that a process keeps for robots no longer in use is bounded."""

import gc
import os

import common
import numpy as np

import adjoint as aj
from adjoint.compile.front import kept_kernels

kept_kernels.MOST_BYTES = 8 << 20  # so that the limit is reached soon
FIRST, MORE = 60, 60  # numbers of robots before and after memory is measured for the first time
GROWTH = 12 * 2**20  # bytes; kernels of one robot take half a megabyte, so keeping all would take 30 MB


def resident() -> int:
    """The bytes of memory that this process occupies."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def use_robots(rng: np.random.Generator, count: int) -> None:
    """Calls kernels of `count` robots that differ in their inertias, and drops them."""
    robot = aj.robots.puma560()
    for _ in range(count):
        other = robot.replace(inertias=robot.inertias * rng.uniform(0.9, 1.1))
        q, v, tau = rng.normal(size=(3, 6))
        aj.forward_dynamics(other, q, v, tau)
        aj.inverse_dynamics(other, q, v, tau)
    gc.collect()


def attempt(rng: np.random.Generator) -> None:
    use_robots(rng, FIRST)
    before = resident()
    use_robots(rng, MORE)
    grown = resident() - before
    if grown > GROWTH:
        raise AssertionError(f"{MORE} more robots took {grown / 2**20:.0f} MB more")


if __name__ == "__main__":
    common.repeat(attempt)
