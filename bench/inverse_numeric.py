"""Numeric inverse kinematics beside the Robotics Toolbox, mink and pink: whole searches, and single QP steps.

python bench/inverse_numeric.py    one run, one core; writes bench/results/inverse_numeric.json

Searches: poses that are reachable within the limits, and a residual of at most 1e-8 (m, rad) for every system. Steps:
one robot from Python, targets and configuration set anew for every step, as in a control loop; and batches.
"""

import sys
import tempfile
import time
from pathlib import Path

from common import find, in_time, one_core, quick_or_full, race, ratio_target, report, row

one_core()

import mink  # noqa: E402
import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import pink  # noqa: E402
import pinocchio as pin  # noqa: E402
import roboticstoolbox as rtb  # noqa: E402
from peers import in_order_of, with_boxes, without_meshes  # noqa: E402
from pink.tasks import ComTask, FrameTask  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import goals  # noqa: E402

POSES, TOLERANCE, DT = quick_or_full(400, 2000), 1e-8, 0.01
ROBOTS = {"UR5": ("ur5_robot", "tool0"), "Panda": ("panda", "panda_hand")}
FRAMES = ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"]
PINK = 20  # poses that pink searches for G1
SOLVERS = ["quadprog", "daqp", "proxqp"]
LEAST = {("search", "batch"): 40, ("search", "one call"): 2, ("step", "one call"): 4, ("step", "batch"): 40}


def urdf(name: str) -> Path:
    """The URDF of example-robot-data whose file name begins with `name`."""
    folder = next(p for p in (Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in sys.path) if p.is_dir())
    return next(path for path in sorted(folder.rglob("*.urdf")) if path.name.startswith(name))


def written(text: str) -> str:
    """The path of a file with this text."""
    path = Path(tempfile.mkdtemp(prefix="adjoint-bench-")) / "robot.urdf"
    path.write_text(text)
    return str(path)


# --- searches ---------------------------------------------------------------------------------------------------------


def searches(name: str) -> list[dict]:
    """The rows of whole searches: all poses in one call, and one by one."""
    file, frame = ROBOTS[name]
    robot = aj.load(urdf(file))
    T = aj.forward_kinematics(robot, aj.random_configuration(robot, POSES, rng=0), frame)
    start = time.perf_counter()
    found = aj.find_configuration(robot, {frame: T})
    aj.find_configuration(robot, {frame: T[0]})
    first = time.perf_counter() - start
    chain = rtb.Robot.URDF(written(without_meshes(urdf(file)))).ets(end=frame)
    names = [n for n in robot.joint_names if np.any(aj.jacobian(robot, found.q[0], frame)[:, robot.joint(n).v])]
    columns = [robot.joint_names.index(n) for n in names]

    def one(t):
        return aj.find_configuration(robot, {frame: t})

    def theirs(t):
        return chain.ik_LM(t, tol=0.5 * TOLERANCE**2, slimit=200, joint_limits=True)

    calls = {
        "batch": lambda: aj.find_configuration(robot, {frame: T}),
        "one call": lambda: [one(t) for t in T],
        "roboticstoolbox": lambda: [theirs(t) for t in T],
    }
    laps = race(calls, rounds=7)
    ours = {"solved": float(found.success.mean()), "error": float(found.error.max()), "first_s": first}
    alone = ours | {"p95_us": late(one, T)} | their_answers(robot, frame, T, columns, theirs)
    peers = ["roboticstoolbox"]
    return [
        row(name, "search", "batch", laps, "batch", peers=peers, samples=POSES, **ours),
        row(name, "search", "one call", laps, "one call", peers=peers, samples=POSES, **alone),
    ]


def their_answers(robot, frame: str, T: np.ndarray, columns: list[int], theirs) -> dict[str, float]:
    """The share of poses that the Robotics Toolbox solves, the worst error, and the 95th percentile of its times."""
    answers = [theirs(t) for t in T]
    q, success = np.array([x.q for x in answers]), np.array([bool(x.success) for x in answers])
    whole = np.zeros((POSES, robot.nq))
    whole[:, columns] = q
    errors = goals.goal_errors(robot, {frame: T}, whole)[:, 0]
    inside = np.all((q >= robot.lower[columns]) & (q <= robot.upper[columns]), axis=1)
    solved = success & (errors <= 2 * TOLERANCE) & inside
    found = {"solved": float(solved.mean()), "error": float(errors[success].max()), "p95_us": late(theirs, T)}
    return {f"roboticstoolbox_{key}": x for key, x in found.items()}


def late(call, poses: np.ndarray) -> float:
    """The 95th percentile of microseconds a pose."""
    laps = []
    for T in poses:
        begin = time.perf_counter()
        call(T)
        laps.append(time.perf_counter() - begin)
    return 1e6 * float(np.percentile(laps, 95))


# --- QP steps ---------------------------------------------------------------------------------------------------------


def steps(name: str) -> list[dict]:
    """The rows of steps; a step sets the configuration and the target, and solves the program."""
    file, frame = ROBOTS[name]
    robot = aj.load(urdf(file))
    q = np.clip(aj.random_configuration(robot, 4096, rng=1), robot.lower + 0.01, robot.upper - 0.01)
    T = aj.forward_kinematics(robot, q + 0.02, frame)
    x, target = q[0].copy(), T[0].copy()
    calls = {
        "one call": lambda: goals.differential_step(robot, x, {frame: target}, DT),
        "batch": lambda: goals.differential_step(robot, q, {frame: T}, DT),
    }
    theirs = _pink_steps(robot, urdf(file), frame, x, target) | _mink_steps(robot, urdf(file), frame, x, target)
    laps, samples = race(calls | theirs, rounds=9), {"batch": len(q)}
    return [row(name, "step", how, laps, how, peers=theirs, samples=samples) for how in calls]


def _pink_steps(robot, path, frame: str, x, target) -> dict:
    model = pin.buildModelFromUrdf(str(path))
    names = [n for n in model.names if n != "universe"]
    q = in_order_of(robot, names, x[None], True)[0]
    configuration = pink.Configuration(model, model.createData(), q)
    task, goal = FrameTask(frame, position_cost=3.0, orientation_cost=1.0), pin.SE3(target)

    def step(solver):
        configuration.update(q)
        task.set_target(goal)
        return pink.solve_ik(configuration, [task], DT, solver=solver, damping=1e-6)

    return {f"pink, {s}": lambda s=s: step(s) for s in SOLVERS}


def _mink_steps(robot, path, frame: str, x, target) -> dict:
    model = mujoco.MjModel.from_xml_string(without_meshes(path))  # type: ignore[attr-defined]  # without stubs
    names = [model.joint(k).name for k in range(model.njnt)]
    q = in_order_of(robot, names, x[None], True)[0]
    configuration = mink.Configuration(model, q)
    task = mink.FrameTask(frame, "body", position_cost=3.0, orientation_cost=1.0)
    goal = mink.SE3.from_matrix(target)
    limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, dict.fromkeys(names, 2.0))]

    def step(solver):
        configuration.update(q)
        task.set_target(goal)
        return mink.solve_ik(configuration, [task], DT, solver, damping=1e-6, limits=limits)

    return {f"mink, {s}": lambda s=s: step(s) for s in SOLVERS}


# --- a humanoid -------------------------------------------------------------------------------------------------------


def humanoid() -> list[dict]:
    """G1 with hands, feet and centre of mass: whole searches from the home posture, and single QP steps."""
    robot = aj.load(urdf("g1_29dof_rev_1_0"), base="free")
    home = np.clip(aj.neutral(robot), robot.lower, robot.upper)
    q = aj.interpolate(robot, home, aj.random_configuration(robot, 200, rng=8), 0.3)
    q[:, :7] = home[:7]
    poses, centres = {f: aj.forward_kinematics(robot, q, f) for f in FRAMES}, aj.center_of_mass(robot, q)
    wanted = [*(goals.pose(f, T) for f, T in poses.items()), goals.center_of_mass(centres)]
    alone = [*(goals.pose(f, T[0]) for f, T in poses.items()), goals.center_of_mass(centres[0])]
    begin = time.perf_counter()
    found = aj.find_configuration(robot, wanted, start=home)
    ours = {"first_s": time.perf_counter() - begin, "solved": float(found.success.mean())}
    search, step = _pink_humanoid(poses, centres)
    ours["pink_solved"] = search() / PINK
    searched = race({"batch": lambda: aj.find_configuration(robot, wanted, start=home), "pink": search}, rounds=7)
    calls = {
        "one call": lambda: goals.differential_step(robot, home, alone, DT),
        "batch": lambda: goals.differential_step(robot, home, wanted, DT),
    }
    stepped = race(calls | {"pink": step}, rounds=7)
    return [
        row("G1 free", "search", "batch", searched, "batch", samples={"batch": len(q), "pink": PINK}, **ours),
        *(row("G1 free", "step", how, stepped, how, peers=["pink"], samples={"batch": len(q)}) for how in calls),
    ]


def _pink_humanoid(poses: dict, centres: np.ndarray):
    """Functions for some searches, which gives how many were solved, and for one step.

    A search takes steps of unit gain until all errors are below the tolerance, at most a hundred.
    """
    model = pin.buildModelFromUrdf(written(with_boxes(urdf("g1_29dof_rev_1_0"))), pin.JointModelFreeFlyer())
    tasks = {f: FrameTask(f, position_cost=3.0, orientation_cost=1.0) for f in FRAMES}
    centre = ComTask(cost=3.0)
    every, start = [*tasks.values(), centre], pin.neutral(model)
    start[7:] = np.clip(start[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])

    def begun(k: int) -> pink.Configuration:
        for f, task in tasks.items():
            task.set_target(pin.SE3(poses[f][k]))
        centre.set_target(centres[k])
        return pink.Configuration(model, model.createData(), start)

    def step(at: pink.Configuration) -> np.ndarray:
        return pink.solve_ik(at, every, 1.0, solver="quadprog", damping=1e-9, safety_break=False)

    def solved(k: int) -> bool:
        at = begun(k)
        for _ in range(100):
            at.integrate_inplace(step(at), 1.0)
            if max(np.abs(t.compute_error(at)).max() for t in every) <= TOLERANCE:
                return True
        return False

    first = begun(0)
    return lambda: sum(solved(k) for k in range(PINK)), lambda: step(first)


def targets(rows: list[dict]) -> list[list]:
    """Targets beside the best peer of each row."""
    verdicts = []
    for robot in ROBOTS:
        for (what, how), least in LEAST.items():
            found = find(rows, robot, what, how)
            if found is not None:
                best = min(found["peers"], key=lambda name: found["peers"][name]["ns"])
                verdicts += ratio_target(found, best, least)
    return verdicts


def main() -> None:
    rows = [r for name in in_time(ROBOTS) for r in (*searches(name), *steps(name))]
    rows += [r for part in in_time([humanoid], lambda f: "G1 free") for r in part()]
    packages = ("roboticstoolbox-python", "mink", "pin-pink", "pin", "quadprog", "daqp")
    report("inverse_numeric", packages, rows, targets(rows), tolerance=TOLERANCE, poses=POSES)


if __name__ == "__main__":
    main()
