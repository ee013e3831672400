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
    return q, aj.forward_kinematics(robot, q, "tool") @ se3.exp(NOISE * rng.normal(size=(n, 6)))


def by_pybotics(q: np.ndarray, positions: np.ndarray) -> dict[str, Callable]:
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


def first_call(calibrate: Callable) -> dict:
    """What the first call of ours finds, which makes the kernels, and its seconds."""
    start = time.perf_counter()
    found = calibrate()
    seconds = time.perf_counter() - start
    left = float(np.sqrt(np.mean(np.sum(found.residuals[:, -3:] ** 2, axis=1))))
    return {"parameters": len(found.parameters), "first_s": seconds, "left_m": left}


def main() -> None:
    rng = np.random.default_rng(0)
    model = arm(ROWS)
    true = arm(ROWS + rng.normal(size=ROWS.shape) * [1e-3, 1, 1e-3, 1])
    q, T = measured(true, SAMPLES)
    p, both = T[:, :3, 3], ("screws", "tool")
    turned = [se3.Ad_action.eager(se3.exp.eager(1e-3 * rng.normal(size=6)), S) for S in model.screws]
    q_own, T_own = measured(model.replace(screws=np.array(turned)), SAMPLES)
    q_many, T_many = measured(true, MANY)
    ours = {
        ("screws from poses", SAMPLES): lambda: aj.calibrate(model, "tool", q_own, T_own, estimate="screws"),
        ("screws and tool from positions", SAMPLES): lambda: aj.calibrate(model, "tool", q, p, estimate=both),
        ("screws and tool from poses", SAMPLES): lambda: aj.calibrate(model, "tool", q, T, estimate=both),
        ("screws and tool from poses", MANY): lambda: aj.calibrate(model, "tool", q_many, T_many, estimate=both),
    }
    firsts, theirs = {way: first_call(call) for way, call in ours.items()}, by_pybotics(q, p)
    left: dict[str, float] = {}
    noted = {s: lambda s=s: left.update({s: theirs[s]()}) for s in theirs}
    laps = race(ours | noted, rounds=quick_or_full(1, 5))
    rows = [
        row("UR10", what, f"{n} samples", laps, (what, n), peers=theirs if n == SAMPLES else (), **firsts[what, n])
        for what, n in ours
    ]
    report("calibration", ("scipy", *theirs), rows, noise=NOISE, left_by_peers_m=left)


if __name__ == "__main__":
    main()
