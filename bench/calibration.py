"""Kinematic calibration of a UR10 from 100 measurements, beside pybotics, and from 10⁵ poses.

python bench/calibration.py        one run, one core; writes bench/results/calibration.json

The true arm has a Denavit-Hartenberg table with all of its 24 numbers off by about 1 mrad or 1 mm. pybotics fits the 24
numbers to measured positions with `scipy.optimize.least_squares`, as its documentation shows. Ours fits the 24
parameters of the six screws; and the 30 of screws and tool, which include all that a table can say, to positions and to
poses. Without pybotics, which asks for an older NumPy than ours but runs with it, only ours is measured:
`pip install --no-deps pybotics attrs`.
"""

from common import machine, one_core, race, save, table, versions

one_core()

import time  # noqa: E402
from importlib.util import find_spec  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import least_squares  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint.lie import se3  # noqa: E402

SAMPLES, MANY = 100, 100_000
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


def peer(q: np.ndarray, positions: np.ndarray) -> dict:
    """Seconds, number of parameters, and root mean square distance [m] that pybotics' calibration leaves."""
    from pybotics.optimization import OptimizationHandler, optimize_accuracy
    from pybotics.robot import Robot

    handler = OptimizationHandler(Robot.from_parameters(ROWS), kinematic_chain_mask=True)
    start = time.perf_counter()
    first = handler.generate_optimization_vector()
    found = least_squares(optimize_accuracy, first, args=(handler, q, 1e3 * positions))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "parameters": len(first), "left": float(np.sqrt(np.mean(found.fun**2))) / 1e3}


def ours(model: aj.Robot, q: np.ndarray, data: np.ndarray, estimate) -> dict:
    """The same of ours, the best of several calls after the kernels are made; and the first call, which makes them."""
    start = time.perf_counter()
    found = aj.calibrate(model, "tool", q, data, estimate=estimate)
    first = time.perf_counter() - start
    seconds = race({"": lambda: aj.calibrate(model, "tool", q, data, estimate=estimate)}, rounds=9)[""]
    left = float(np.sqrt(np.mean(np.sum(found.residuals[:, -3:] ** 2, axis=1))))
    return {"seconds": seconds, "first": first, "parameters": len(found.parameters), "left": left}


def main() -> None:
    rng = np.random.default_rng(0)
    model = arm(ROWS)
    true = arm(ROWS + rng.normal(size=ROWS.shape) * [1e-3, 1, 1e-3, 1])
    q, T = measured(true, SAMPLES)
    p = T[:, :3, 3]
    turned = [se3.Ad_action.eager(se3.exp.eager(1e-3 * rng.normal(size=6)), S) for S in model.screws]
    q_own, T_own = measured(model.replace(screws=np.array(turned)), SAMPLES)
    beside = find_spec("pybotics") is not None
    if not beside:
        print("pybotics is not installed, so there is nothing to compare with: pip install --no-deps pybotics attrs")
    found = {f"pybotics, table, {SAMPLES} positions": peer(q, p)} if beside else {}
    found |= {
        f"adjoint, screws, {SAMPLES} poses": ours(model, q_own, T_own, "screws"),
        f"adjoint, screws and tool, {SAMPLES} positions": ours(model, q, p, ("screws", "tool")),
        f"adjoint, screws and tool, {SAMPLES} poses": ours(model, q, T, ("screws", "tool")),
    }
    q, T = measured(true, MANY)
    found[f"adjoint, screws and tool, {MANY} poses"] = ours(model, q, T, ("screws", "tool"))
    slow = found[next(iter(found))]["seconds"]
    rows = [
        [name, x["parameters"], 1e3 * x["seconds"], 1e3 * x["first"] if "first" in x else None, 1e6 * x["left"],
         slow / x["seconds"] if beside and str(MANY) not in name else None]
        for name, x in found.items()
    ]  # fmt: skip
    print(f"noise {NOISE:g} rad, {NOISE:g} m in each direction")
    table(["", "parameters", "ms", "first call, ms", "left, µm", "times faster"], rows)
    packages = versions("adjoint", "scipy", *(["pybotics"] if beside else []))
    save("calibration", {"machine": machine(), "versions": packages, "results": found})


if __name__ == "__main__":
    main()
