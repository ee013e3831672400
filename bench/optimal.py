"""Optimal control beside crocoddyl: time an iteration of iterative LQR and of box-DDP, over 200 steps.

python bench/optimal.py               one run, one core; writes bench/results/optimal.json

Both solve the same problems with the same semi-implicit steps, from the same start. The wheel of crocoddyl 3.2.1 reads
models of Pinocchio 4.1 wrongly, without an error, so `make bench` gives this file an environment with an older one.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from common import find, in_time, one_core, quick_or_full, race, ratio_target, report, row

one_core()

import crocoddyl  # noqa: E402
import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint.lie import inertia, se3  # noqa: E402
from adjoint.simulation import ilqr  # noqa: E402

STEPS, MANY, LEAST = 200, 64, 10
POSE = np.array([0.0, -1.5, 1.5, -1.0, -1.5, 0.0])
GOAL = POSE + np.array([1.0, 0.5, -0.7, 0.4, 0.3, 0.2])
UPRIGHT = np.array([np.pi, 0.0])


def running(robot, p, t, q, v, tau):
    """The running cost."""
    return p.r * tau @ tau + p.s * v @ v


def final(robot, p, t, q, v):
    """The cost of the last state."""
    e = q - p.goal
    return p.w * (e @ e) + p.w / 100 * (v @ v)


def ur5() -> str:
    """The URDF of the UR5 in example-robot-data."""
    folder = next(p for p in (Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in sys.path) if p.is_dir())
    return next(path for path in sorted(folder.rglob("*.urdf")) if path.name == "ur5_robot.urdf").read_text()


def acrobot() -> aj.Robot:
    """Two links of 1 kg and 1 m that hang at q = 0."""
    link = inertia.from_central(1.0, np.array([0.0, 0.0, -0.5]), np.diag([0.1, 0.1, 0.02]))
    parts = aj.model.Builder("acrobot").link("base").link("upper", link).link("lower", link)
    parts.joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0))
    below = se3.from_rotation_translation(np.eye(3), np.array([0.0, 0.0, -1.0]))
    return parts.joint("elbow", "revolute", "upper", "lower", below, axis=(0, 1, 0)).build()


def theirs(model: pin.Model, q: np.ndarray, dt: float, goal, r, s, w, limits=None) -> Callable:
    """A function that solves crocoddyl's form of the problem, and returns the solver."""
    n, state = model.nv, crocoddyl.StateMultibody(model)
    motors = crocoddyl.ActuationModelFull(state)

    def squared(weights: np.ndarray, at: np.ndarray):  # its costs are halves of squares
        kind = crocoddyl.ActivationModelWeightedQuad(2 * weights)
        return crocoddyl.CostModelResidual(state, kind, crocoddyl.ResidualModelState(state, at))

    def step(costs, h: float):
        found = crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, motors, costs), h
        )
        if limits is not None:
            found.u_lb, found.u_ub = -np.array(limits), np.array(limits)
        return found

    on_the_way, at_the_end = crocoddyl.CostModelSum(state), crocoddyl.CostModelSum(state)
    on_the_way.addCost("tau", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state)), 2 * r)
    if s:
        on_the_way.addCost("v", squared(np.repeat([0.0, s], n), np.zeros(2 * n)), 1.0)
    at_the_end.addCost("x", squared(np.repeat([w, w / 100], n), np.append(goal, np.zeros(n))), 1.0)
    problem = crocoddyl.ShootingProblem(
        np.append(q, np.zeros(n)), [step(on_the_way, dt)] * STEPS, step(at_the_end, 0.0)
    )
    problem.nthreads = 1
    held = pin.computeGeneralizedGravity(model, model.createData(), q)
    forces = [held] * STEPS
    states = problem.rollout(forces)
    solver = (crocoddyl.SolverDDP if limits is None else crocoddyl.SolverBoxDDP)(problem)
    solver.th_stop = 1e-11

    def solve():
        solver.solve(states, forces, 500, True)
        return solver

    return solve


def compared(name: str, urdf: str, given: dict, second_order: bool = False) -> list[dict]:
    """The rows of an iteration, of one problem and of many at once, and of a whole solution."""
    robot, model = aj.load(urdf), pin.buildModelFromXML(urdf)
    own = {"q": given["q"], "steps": STEPS, "dt": given["dt"], **{k: given[k] for k in ("goal", "r", "s", "w")}}
    own |= {"limits": given.get("limits"), "second_order": second_order, "iterations": 500}
    other = theirs(model, **given)

    def ours(**changes):
        return ilqr(robot, running, final, **own, **changes)

    goals = given["goal"] + 0.1 * np.random.default_rng(0).normal(size=(MANY, robot.nq))
    one, many, solver = ours(), ours(batch={"goal": goals}), other()
    laps = race({"adjoint": ours, "batch": lambda: ours(batch={"goal": goals}), "crocoddyl": other}, 5)
    steps = {"adjoint": int(one.iterations), "batch": int(many.iterations.sum()), "crocoddyl": solver.iter}
    more = {"iterations": steps["adjoint"], "crocoddyl_iterations": steps["crocoddyl"]}
    more |= {"cost": float(one.cost), "crocoddyl_cost": float(solver.cost)}
    return [
        row(name, "an iteration", "one problem", laps, peers=["crocoddyl"], samples=steps, **more),
        row(name, "an iteration", f"of {MANY} at once", laps, "batch", peers=["crocoddyl"], samples=steps),
        row(name, "a solution", "one problem", laps, peers=["crocoddyl"]),
    ]


def main() -> None:
    """Solves the problems, prints the tables, and writes them as JSON."""
    reach = {"q": POSE, "dt": 0.01, "goal": GOAL, "r": 1e-4, "s": 1e-3, "w": 1000.0}
    swing = {"q": np.zeros(2), "dt": 0.02, "goal": UPRIGHT, "r": 1e-2, "s": 0.0, "w": 100.0, "limits": [0.0, 15.0]}
    upright = aj.model.to_urdf(acrobot())
    problems = {
        "UR5 reaches, iLQR": (ur5(), reach),
        "acrobot swings up, box-iLQR": (upright, swing),
        "acrobot swings up, box-DDP": (upright, swing, True),
    }
    chosen = quick_or_full(["UR5 reaches, iLQR"], problems)
    rows = [r for name in in_time(chosen) for r in compared(name, *problems[name])]
    verdicts = []
    for name in problems:
        for how in ("one problem", f"of {MANY} at once"):
            verdicts += ratio_target(find(rows, name, "an iteration", how), "crocoddyl", LEAST)
    report("optimal", ("numpy", "scipy", "crocoddyl", "pin"), rows, verdicts)


if __name__ == "__main__":
    main()
