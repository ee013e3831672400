"""Kinematic calibration of a UR10 from 100 measurements, beside pybotics, and from 10⁵ poses.

python bench/calibration.py        one run, one core; writes bench/results/calibration.json

The true arm has a Denavit-Hartenberg table with all of its 24 numbers off by about 1 mrad or 1 mm. pybotics fits the 24
numbers to measured positions with `scipy.optimize.least_squares`, as its documentation shows. Ours fits the 24
parameters of the six screws; and the 30 of screws and tool, which include all that a table can say, to positions and to
poses. Without pybotics, which asks for an older NumPy than ours but runs with it, only ours is measured:
`pip install --no-deps pybotics attrs`.
"""

from common import one_core, quick_or_full, race, report, row

one_core()

import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from importlib.util import find_spec  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import least_squares  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint.lie import se3  # noqa: E402

SAMPLES, MANY = 100, quick_or_full(10_000, 100_000)
NOISE = 1e-4  # [rad], [m]
ROWS = np.array(
    [
        [0, 0, 0, 118],
        [np.pi / 2, 0, np.pi, 0],
        [0, 612.7, 0, 0],
        [0, 571.6, 0, 163.9],
        [-np.pi / 2, 0, 0, 115.7],
        [np.pi / 2, 0, np.pi, 92.2],
    ]
)  # (alpha, a, theta, d) [rad, mm] of a UR10, as in pybotics.predefined_models


def arm(rows: np.ndarray) -> aj.Robot:
    """The robot of pybotics' modified Denavit-Hartenberg table, in m."""
    ours = rows[:, [2, 3, 1, 0]] * [1, 1e-3, 1e-3, 1]  # (theta, d, a, alpha)
    return aj.from_dh(ours, "modified", name="ur10", lower=-np.pi, upper=np.pi)


def measured(robot: aj.Robot, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n configurations, and the poses of the tool there with noise."""
    rng = np.random.default_rng(1)
    q = aj.random_configuration(robot, n, rng=rng)
    return q, aj.forward_kinematics(robot, q, "tool") @ se3.exp(NOISE * rng.def by_pybotics(q: np.ndarray, positions: np.ndarray) -> dict[str, Callable]:
    """{"pybotics": a function that calibrates, and gives the root mean square distance [m] that is left}."""
    if find_spec("pybotics") is None:
        print("pybotics is not installed, so there is nothing to compare with: pip install --no-deps pybotics attrs")
        return {}
    from pybotics.optimization import OptimizationHandler, optimize_accuracy
    from pybotics.robot import Robot

    def calibrate() -> float:
        handler = OptimizationHandler(Robot.from_parameters(ROWS), kinematic_chain_mask=True)
        first = handler.generate_optimization_vector()
        found = least_squares(optimize_accuracy, first, args=(handler, q, 1e3 * positions))
        return float(np.sqrt(np.mean(found.fun**2))) / 1e3

    return {"pybotics": calibrate}


def compared(name: str, model: aj.Robot, q: np.ndarray, data: np.ndarray, estimate, theirs: dict) -> dict:
    """The row of ours, after a first call that makes the kernels, beside pybotics' calibration from positions."""

    def calibrate():
        return aj.calibrate(model, "tool", q, data, estimate=estimate)

    start = time.perf_counter()
    found = calibrate()
    first = time.perf_counter() - start
    left = float(np.sqrt(np.mean(np.sum(found.residuals[:, -3:] ** 2, axis=1))))
    laps = race({"adjoint": calibrate}, rounds=9)
    laps |= {s: [_seconds(call) for _ in range(quick_or_full(1, 3))] for s, call in theirs.items()}
    more = {"parameters": len(found.parameters), "first_s": first, "left_m": left}
    return row("UR10", f"calibrating {name}", f"{len(q)} samples", laps, **more)


def _seconds(call: Callable) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(0)
    model = arm(ROWS)
    true = arm(ROWS + rng.normal(size=ROWS.shape) * [1e-3, 1, 1e-3, 1])
    q, T = measured(true, SAMPLES)
    p = T[:, :3, 3]
    turned = [se3.Ad_action.eager(se3.exp.eager(1e-3 * rng.normal(size=6)), S) for S in model.screws]
    q_own, T_own = measured(model.replace(screws=np.array(turned)), SAMPLES)
    theirs = by_pybotics(q, p)
    q_many, T_many = measured(true, MANY)
    both = ("screws", "tool")
    rows = [
        compared("screws from poses", model, q_own, T_own, "screws", theirs),
        compared("screws and tool from positions", model, q, p, both, theirs),
        compared("screws and tool from poses", model, q, T, both, theirs),
        compared("screws and tool from poses", model, q_many, T_many, both, {}),
    ]
    left = {s: calibrate() for s, calibrate in theirs.items()}
    report("calibration", ("scipy", *theirs), rows, noise=NOISE, left_by_peers_m=left)


if __name__ == "__main__":
    main()
