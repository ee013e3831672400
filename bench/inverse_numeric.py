"""Numeric inverse kinematics beside the Robotics Toolbox, mink and pink: whole searches, and single QP steps.

python bench/inverse_numeric.py    one run, one core; writes bench/results/inverse_numeric.{json,png}

Searches: poses that are reachable within the limits, and a residual of at most 1e-8 (m, rad) for every system. Steps:
one robot from Python, targets and configuration set anew for every step, as in a control loop; and batches.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from common import bars, machine, one_core, race, save, table, versions

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

POSES, TOLERANCE, DT = 2000, 1e-8, 0.01
ROBOTS = {"UR5": ("ur5_robot", "tool0"), "Panda": ("panda", "panda_hand")}
FRAMES = ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"]
SOLVERS = ["quadprog", "daqp", "proxqp"]
LEAST = {"search": 40, "one search": 2, "one step": 4, "batch of steps": 40}  # how many times faster than the best peer


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


def searches(name: str) -> dict:
    """{system: solved share, mean and 95th percentile of microseconds a pose, worst error}."""
    file, frame = ROBOTS[name]
    robot = aj.load(urdf(file))
    T = aj.forward_kinematics(robot, aj.random_configuration(robot, POSES, rng=0), frame)
    start = time.perf_counter()
    found = aj.find_configuration(robot, {frame: T})
    aj.find_configuration(robot, {frame: T[0]})
    compile_time = time.perf_counter() - start
    chain = rtb.Robot.URDF(written(without_meshes(urdf(file)))).ets(end=frame)
    names = [n for n in robot.joint_names if np.any(aj.jacobian(robot, found.q[0], frame)[:, robot.joint(n).v])]
    columns = [robot.joint_names.index(n) for n in names]
    lower, upper = robot.lower[columns], robot.upper[columns]
    ours, single, laps, answers = [], [], [], []
    for targets in np.split(T, 20):  # the two take turns, so that a slow moment of the machine hits both
        ours += [_seconds(lambda: aj.find_configuration(robot, {frame: T})) for _ in range(2)]
        single += [_seconds(lambda t=t: aj.find_configuration(robot, {frame: t})) for t in targets]
        for t in targets:
            begin = time.perf_counter()
            answers.append(chain.ik_LM(t, tol=0.5 * TOLERANCE**2, slimit=200, joint_limits=True))
            laps.append(time.perf_counter() - begin)
    q, success = np.array([x.q for x in answers]), np.array([bool(x.success) for x in answers])
    whole = np.zeros((POSES, robot.nq))
    whole[:, columns] = q
    errors = goals.goal_errors(robot, {frame: T}, whole)[:, 0]
    solved = success & (errors <= 2 * TOLERANCE) & np.all((q >= lower) & (q <= upper), axis=1)
    return {
        "adjoint, batch": _row(found.success.mean(), [min(ours) / POSES], found.error.max()),
        "adjoint, one by one": _row(found.success.mean(), single, found.error.max()),
        "roboticstoolbox": _row(solved.mean(), laps, errors[success].max()),
        "first call [s]": compile_time,
    }


def _seconds(call) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _row(solved: float, laps: list[float], error: float) -> dict:
    """What is kept of a search; poses of a batch have no times of their own."""
    late = 1e6 * float(np.percentile(laps, 95)) if len(laps) > 1 else None
    return {"solved": float(solved), "mean": 1e6 * statistics.fmean(laps), "p95": late, "error": float(error)}


# --- QP steps ---------------------------------------------------------------------------------------------------------


def steps(name: str) -> dict[str, float]:
    """{system: microseconds a step}; a step sets the configuration and the target, and solves the program."""
    file, frame = ROBOTS[name]
    robot = aj.load(urdf(file))
    q = np.clip(aj.random_configuration(robot, 4096, rng=1), robot.lower + 0.01, robot.upper - 0.01)
    T = aj.forward_kinematics(robot, q + 0.02, frame)
    x, target = q[0].copy(), T[0].copy()
    calls = {
        "adjoint, one robot": lambda: goals.differential_step(robot, x, {frame: target}, DT),
        "adjoint, batch": lambda: goals.differential_step(robot, q, {frame: T}, DT),
    }
    calls |= _pink_steps(robot, urdf(file), frame, x, target) | _mink_steps(robot, urdf(file), frame, x, target)
    found = race(calls, rounds=9)
    found["adjoint, batch"] /= len(q)
    return {system: 1e6 * t for system, t in found.items()}


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


def humanoid() -> dict:
    """G1 with hands, feet and centre of mass: whole searches from the home posture, and single QP steps."""
    robot = aj.load(urdf("g1_29dof_rev_1_0"), base="free")
    home = np.clip(aj.neutral(robot), robot.lower, robot.upper)
    q = aj.interpolate(robot, home, aj.random_configuration(robot, 200, rng=8), 0.3)
    q[:, :7] = home[:7]
    poses = {f: aj.forward_kinematics(robot, q, f) for f in FRAMES}
    wanted = [*(goals.pose(f, T) for f, T in poses.items()), goals.center_of_mass(aj.center_of_mass(robot, q))]
    begin = time.perf_counter()
    found = aj.find_configuration(robot, wanted, start=home)
    first = time.perf_counter() - begin
    batch = min(_seconds(lambda: aj.find_configuration(robot, wanted, start=home)) for _ in range(7)) / len(q)
    alone = [*(goals.pose(f, T[0]) for f, T in poses.items()), goals.center_of_mass(aj.center_of_mass(robot, q)[0])]
    step = race({"step": lambda: goals.differential_step(robot, home, alone, DT)}, rounds=5)["step"]
    many = race({"step": lambda: goals.differential_step(robot, home, wanted, DT)}, rounds=5)["step"] / len(q)
    peer = _pink_humanoid(poses, aj.center_of_mass(robot, q), home)
    ours = {"solved": float(found.success.mean()), "search": batch, "step": step, "batch step": many}
    ours |= {name: 1e6 * t for name, t in ours.items() if name != "solved"}
    return {"adjoint": ours, "pink": peer, "first call [s]": first}


def _pink_humanoid(poses: dict, centres: np.ndarray, home: np.ndarray) -> dict:
    """Steps of unit gain until all errors are below the tolerance, at most a hundred."""
    model = pin.buildModelFromUrdf(written(with_boxes(urdf("g1_29dof_rev_1_0"))), pin.JointModelFreeFlyer())
    tasks = {f: FrameTask(f, position_cost=3.0, orientation_cost=1.0) for f in FRAMES}
    centre = ComTask(cost=3.0)
    start = pin.neutral(model)
    start[7:] = np.clip(start[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
    laps, step_laps, solved, count = [], [], 0, 20
    for k in range(count):
        configuration = pink.Configuration(model, model.createData(), start)
        for f, task in tasks.items():
            task.set_target(pin.SE3(poses[f][k]))
        centre.set_target(centres[k])
        every = [*tasks.values(), centre]
        begin = time.perf_counter()
        for _ in range(100):
            lap = time.perf_counter()
            v = pink.solve_ik(configuration, every, 1.0, solver="quadprog", damping=1e-9, safety_break=False)
            step_laps.append(time.perf_counter() - lap)
            configuration.integrate_inplace(v, 1.0)
            if max(np.abs(t.compute_error(configuration)).max() for t in every) <= TOLERANCE:
                solved += 1
                break
        laps.append(time.perf_counter() - begin)
    return {"solved": solved / count, "search": 1e6 * statistics.fmean(laps), "step": 1e6 * min(step_laps)}


def ratios(found: dict, stepped: dict) -> dict[str, float]:
    """How many times faster than the best peer."""
    x = {}
    for r, own in found.items():
        peers = min(t for s, t in stepped[r].items() if not s.startswith("adjoint"))
        x[f"{r}, search"] = own["roboticstoolbox"]["mean"] / own["adjoint, batch"]["mean"]
        x[f"{r}, one search"] = own["roboticstoolbox"]["mean"] / own["adjoint, one by one"]["mean"]
        x[f"{r}, one step"] = peers / stepped[r]["adjoint, one robot"]
        x[f"{r}, batch of steps"] = peers / stepped[r]["adjoint, batch"]
    return x


def show(found: dict, stepped: dict, whole: dict) -> None:
    """Prints the tables."""
    print(f"\nSearches: {POSES} poses within limits, residual <= {TOLERANCE:g} (m, rad); µs a pose")
    lines = [(r, s, x) for r, own in found.items() for s, x in own.items() if isinstance(x, dict)]
    rows = [[r, s, x["solved"], x["mean"], x["p95"], x["error"]] for r, s, x in lines]
    table(["robot", "system", "solved", "mean", "p95", "worst error"], rows)
    print("QP steps, µs")
    table(["system", *ROBOTS], [[s, *(stepped[r][s] for r in ROBOTS)] for s in stepped["UR5"]])
    print("G1 with two hands, two feet and the centre of mass, µs")
    lines = [(s, x) for s, x in whole.items() if isinstance(x, dict)]
    rows = [[s, x["solved"], x["search"], x["step"], x.get("batch step")] for s, x in lines]
    table(["system", "solved", "search", "one step", "step in a batch"], rows)
    print("How many times faster than the best peer (at least so many are wanted)")
    table(["", "ratio", "wanted"], [[k, x, LEAST[k.split(", ")[1]]] for k, x in ratios(found, stepped).items()])
    first = {r: round(own["first call [s]"], 2) for r, own in (found | {"G1": whole}).items()}
    print("first calls, from the cache if there is one [s]:", first)


def main() -> None:
    found, stepped, whole = {r: searches(r) for r in ROBOTS}, {r: steps(r) for r in ROBOTS}, humanoid()
    show(found, stepped, whole)
    packages = versions("adjoint", "roboticstoolbox-python", "mink", "pin-pink", "pin", "quadprog", "daqp")
    data = {"machine": machine(), "versions": packages, "searches": found, "steps": stepped, "G1": whole}
    save("inverse_numeric", data | {"ratios": ratios(found, stepped)})
    drawn = {}
    for r in ROBOTS:
        pair = {"adjoint": "adjoint, batch", "roboticstoolbox": "roboticstoolbox"}
        drawn[f"{r}, search"] = {s: found[r][name]["mean"] for s, name in pair.items()}
        names = {"adjoint": "adjoint, one robot", "pink": "pink, quadprog", "mink": "mink, quadprog"}
        drawn[f"{r}, one step"] = {s: stepped[r][name] for s, name in names.items()}
    bars("inverse_numeric", "Numeric inverse kinematics, µs a pose or a step, one core", drawn, "µs")


if __name__ == "__main__":
    main()
