"""Dynamics of a robot: the same torque from seven formulations, the factors of M, and speed beside Pinocchio.

    python examples/06_dynamics.py [model.urdf]          without arguments: the PUMA 560 of the catalog

The speeds are measured when this runs, on one thread, beside Pinocchio if that is installed (`pip install pin`).
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.dynamics import lagrangian, textbook
from adjoint.dynamics.ploen_park import forward_dynamics_recursive, inverse_dynamics_recursive

BATCH = 4096
np.set_printoptions(precision=4, suppress=True, linewidth=120)


def formulations(robot: aj.Robot, q, v, a) -> None:
    """Prints the torques of one motion by every formulation that allows this robot's joints."""
    known = {
        "recursive Newton-Euler": aj.inverse_dynamics,
        "Ploen & Park (1999), (1)-(5)": inverse_dynamics_recursive,
        "Lagrangian, Christoffel symbols": lagrangian.lagrangian_inverse_dynamics,
        "Lagrange-Euler, the textbook's": textbook.lagrange_euler,
        "Newton-Euler in the base frame": textbook.newton_euler_base,
        "Newton-Euler in link frames": textbook.newton_euler_link,
        "generalized d'Alembert": textbook.generalized_dalembert,
    }
    print("the same torques [N m]" + " " * 15 + "operations (mul / add)")
    for name, fn in known.items():
        try:
            found = fn.eager(robot, q, v, a)
        except aj.errors.ArgumentError as why:
            print(f"  {name:32} not for this robot: {why}")
            continue
        o = fn.bind(robot).operations
        print(f"  {name:32} {getattr(found, 'tau', found)}  {o.muls:>5} / {o.adds}")
    tau = aj.inverse_dynamics(robot, q, v, a)
    back = [np.abs(fn.eager(robot, q, v, tau) - a).max() for fn in (aj.forward_dynamics, forward_dynamics_recursive)]
    print("and back, by articulated bodies and by Ploen & Park (47)-(68): errors {:.1e} {:.1e}".format(*back))


def factors(robot: aj.Robot, q) -> None:
    """Prints M = W Ω Wᵀ and log det M."""
    W, Omega = aj.mass_matrix_factors(robot, q)
    M = aj.mass_matrix(robot, q)
    print(f"\nM =\n{M}\n= W Ω Wᵀ, W =\n{W}\nΩ = {Omega}, to {np.abs(W * Omega @ W.T - M).max():.1e}")
    print(f"log det M = {aj.mass_matrix_logdet(robot, q):.6f}\n")


def seconds(call) -> float:
    """The time of the fastest of seven calls."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def pinocchio_calls(path: str) -> dict:
    """{name: a call of Pinocchio's function for one sample}, or {} if Pinocchio is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return {}
    model = pin.buildModelFromUrdf(path)
    data, q = model.createData(), pin.neutral(model)
    x = np.ones(model.nv)
    return {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, x, x),
        "forward_dynamics": lambda: pin.aba(model, data, q, x, x),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "mass_matrix_inverse": lambda: pin.computeMinverse(model, data, q),
    }


def speed(robot: aj.Robot, path: str) -> None:
    """Prints the time of our functions and Pinocchio's, and the ratios of Pinocchio's single call to ours."""
    rng = np.random.default_rng(0)
    q = aj.random_configuration(robot, BATCH, rng=rng)
    v, a = rng.normal(size=(2, BATCH, robot.nv))
    theirs = pinocchio_calls(path)
    print(f"{'ns per sample':22}{'batch':>9}{'one call':>10}{'Pinocchio':>11}{'ratios':>14}")
    for name, arrays in {
        "inverse_dynamics": (q, v, a),
        "forward_dynamics": (q, v, a),
        "mass_matrix": (q,),
        "solve_mass_matrix": (q, v),
        "mass_matrix_inverse": (q,),
    }.items():
        fn = getattr(aj, name).bind(robot)
        fn.threads = 1
        fn(*arrays)
        one = [x[0].copy() for x in arrays]
        batch = 1e9 / BATCH * seconds(lambda fn=fn, arrays=arrays: fn(*arrays))
        single = 1e6 * seconds(lambda fn=fn, one=one: [fn(*one) for _ in range(1000)])
        line = f"{name:22}{batch:>9.1f}{single:>10.0f}"
        if name in theirs:
            pin = 1e6 * seconds(lambda call=theirs[name]: [call() for _ in range(1000)])
            line += f"{pin:>11.0f}{pin / batch:>7.1f}{pin / single:>7.1f}"
        print(line)


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else None
    robot = aj.load(path) if path else aj.robots.puma560()
    rng = np.random.default_rng(1)
    q, (v, a) = aj.random_configuration(robot, rng=rng), rng.normal(size=(2, robot.nv))
    formulations(robot, q, v, a)
    factors(robot, q)
    with tempfile.TemporaryDirectory() as folder:
        if path is None:  # Pinocchio reads the robot from a file
            path = str(Path(folder) / "puma560.urdf")
            aj.to_urdf(robot.reframed("joint"), path)
        speed(robot, path)
