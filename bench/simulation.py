"""Simulations beside MuJoCo: runs without contact, on one and two threads, control laws, gradients and environments.

python bench/simulation.py            one run; writes bench/results/simulation.json

Both simulate the same robots without contacts, joint limits, damping and friction, with the same steps; that they move
alike is checked first. MuJoCo gets what makes it faster: links without joints are merged, and nothing but the last
state is kept; of `mujoco.rollout` and `mujoco.batch` the faster one counts. Ours is timed with the last state kept
(the end of a run), and with every tenth.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

from common import cold, find, in_time, one_core, quick_or_full, race, ratio_target, report, row, target

THREADS = int(os.environ.get("BENCH_THREADS", "1"))  # this file runs itself with more of them
if THREADS == 1:
    one_core()
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mujoco  # noqa: E402
import mujoco.batch  # noqa: E402
import mujoco.rollout  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402
from support.robots import urdf  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import control, simulation  # noqa: E402
from adjoint.compile.machine import execution  # noqa: E402

BATCH, STEPS, DT = 512, quick_or_full(200, 1000), 0.001
SOME, FEW_STEPS = 32 * THREADS, 200  # MuJoCo simulates one robot after the other: some of them tell its time
ARMATURE, KP, KD = 0.01, 50.0, 5.0  # MuJoCo's step of G1 is unstable without armatures
PANDAS = 4096
MUJOCO = ("mujoco.batch", "mujoco.rollout")
THREADED = "two threads, " if THREADS == 2 else ""  # before the names of rows
ROBOTS = {  # URDF in example-robot-data, and the base
    "UR5": ("ur5_robot", "fixed"),
    "Panda": ("panda", "fixed"),
    "G1": ("g1_29dof_rev_1_0", "fixed"),
    "G1 free": ("g1_29dof_rev_1_0", "free"),
}
LEAST = {"UR5": 45, "Panda": 30, "G1 free": 15}  # how many times faster than MuJoCo
mj: Any = mujoco  # an extension module without stubs


def joint_pd(robot, p, state, t, q, v, reference):
    """PD feedback of all joints but the free one of a base, which has no motor."""
    n = len(p.target)
    tau = p.kp * (p.target - q[-n:]) - p.kd * v[-n:]
    return np.concatenate([np.zeros(robot.nv - n), tau]), state


class Case:
    """One robot, starts of it in a batch, its controller, and MuJoCo's model of both."""

    def __init__(self, name: str, controlled: bool = False, integrator: str = "semi_implicit", dt: float = DT):
        file, base = ROBOTS[name]
        robot = aj.load(urdf(file), base=base)
        if name == "Panda":
            robot = robot.locked(dict.fromkeys(robot.joint_names[7:], 0.0))
        n = robot.nv - 6 * (base == "free")
        robot = robot.replace(damping=0.0, friction=0.0, armature=np.repeat([0.0, ARMATURE], [robot.nv - n, n]))
        self.name, self.robot, self.dt, self.integrator = name, robot, dt, integrator
        pd = control.law(joint_pd, follows=None, target=np.zeros(n), kp=KP, kd=KD)
        self.law = pd if controlled else None
        self.q, self.v = np.tile(aj.neutral(robot), (BATCH, 1)), np.zeros((BATCH, robot.nv))
        rng = np.random.default_rng(0)
        self.q[:, -n:] += rng.uniform(-0.3, 0.3, (BATCH, n))
        self.v[:, -n:] += rng.uniform(-0.5, 0.5, (BATCH, n))
        gains = (KP, KD) if controlled else None
        self.model = peers.mujoco_model(urdf(file), robot, dt=dt, integrator=integrator, gains=gains)
        self.start = self.in_their_order(self.q), self.in_their_order(self.v, is_q=False)

    def in_their_order(self, x: np.ndarray, is_q: bool = True) -> np.ndarray:
        """Some of our q or v in MuJoCo's order; a free base is at rest, for MuJoCo has its velocity in other axes."""
        names = [self.model.joint(k).name for k in range(self.model.njnt)]
        return peers.in_order_of(self.robot, names, x[:SOME], is_q)

    def run(self, record: int, steps: int = STEPS, robot=None):
        """Our simulation."""
        return simulation.simulate(
            robot or self.robot, self.law, q=self.q, v=self.v, duration=steps * self.dt, dt=self.dt, record=record,
            integrator=self.integrator,
        )  # fmt: skip

    def batch(self):
        """A function that simulates some robots with `mujoco.batch` and gives their q."""
        batch = mj.batch.Batch(self.model, SOME, nthread=THREADS)
        q, v = batch.bind("qpos"), batch.bind("qvel")

        def run(steps: int = FEW_STEPS):
            q[:], v[:] = self.start
            batch.step(nstep=steps)
            return q

        return run

    def rollout(self):
        """A function that simulates some robots with `mujoco.rollout`; it keeps the state of every step."""
        pool, models = mj.rollout.Rollout(nthread=THREADS if THREADS > 1 else 0), [self.model] * SOME
        data = [mj.MjData(self.model) for _ in range(THREADS)]
        start = np.concatenate([np.zeros((SOME, 1)), *self.start], axis=1)  # the time, q and v
        states = np.empty((SOME, FEW_STEPS, start.shape[1]))
        return lambda: pool.rollout(models, data, initial_state=start, nstep=FEW_STEPS, state=states)

    def apart(self) -> float:
        """How far both are apart after a tenth of a second."""
        steps = round(0.1 / self.dt)
        return float(np.abs(self.in_their_order(self.run(steps, steps).q[:, -1]) - self.batch()(steps)).max())

    def measure(self, what: str) -> list[dict]:
        """The rows of a run, by the step: with its last state kept, and with every tenth."""
        calls = {"last state kept": lambda: self.run(STEPS), "every tenth kept": lambda: self.run(10)}
        theirs = dict(zip(MUJOCO, (self.batch(), self.rollout()), strict=True))
        laps = race(calls | theirs, rounds=7)
        samples = dict.fromkeys(calls, BATCH * STEPS) | dict.fromkeys(MUJOCO, SOME * FEW_STEPS)
        extra = {"compile_s": self.compiling()} if THREADS == 1 else {}
        return [
            row(self.name, what, THREADED + how, laps, how, peers=MUJOCO, samples=samples, **extra) for how in calls
        ]

    def compiling(self) -> float:
        """Seconds from nothing to the end of a first, short run."""

        def build():
            self.run(10, 10, self.robot.replace(name=f"{self.robot.name}, compiled anew at {time.perf_counter()}"))

        return min(cold(build, aj.clear_cache)[1])


def check_motion(name: str, **how) -> None:
    """Both move alike: to rounding, or, with a free base, whose velocities MuJoCo has in other axes, to the order."""
    apart = [Case(name, **how, dt=dt).apart() for dt in (DT, DT / 2)]
    assert apart[0] < 1e-9 or apart[1] < 0.6 * apart[0] < 1e-3, f"{name} moves differently in MuJoCo: {apart}"


def runs() -> list[dict]:
    """The rows of all robots, passive, under PD control, and with RK4."""
    kinds: dict[str, dict] = {"run": {}, "run, PD": {"controlled": True}, "run, RK4": {"integrator": "rk4"}}
    every = [(name, what) for name in quick_or_full(("UR5", "G1"), ROBOTS) for what in quick_or_full(("run",), kinds)]
    found = []
    for name, what in in_time(every, ", ".join):
        case = Case(name, **kinds[what])
        if THREADS == 1:
            check_motion(name, **kinds[what])
        found += case.measure(what)
    return found


# --- control laws -----------------------------------------------------------------------------------------------------


def law_calls() -> list[dict]:
    """One computed-torque law: calls from Python, and inside loops of scalar machine code and of C."""
    robot, n = Case("UR5").robot, 1000
    law = control.computed_torque(robot, np.zeros(6), kp=100.0)
    fixed = [*np.zeros((3, 6)), *law.numbers.values()]  # the reference and the gains
    one, q, v = law.kernel(robot), *np.random.default_rng(0).uniform(-1, 1, (2, n, 6))
    through, c = in_a_loop(one), in_c(law.source("c", robot, "law"), q, v, fixed)
    np.testing.assert_allclose(c(), through(q, v, *fixed), rtol=1e-9, atol=1e-9)
    first = q[0].copy(), v[0].copy()
    calls = {
        "Law": lambda: law(robot, None, 0.0, *first),
        "kernel": lambda: one(0.0, *first, *fixed),
        "in a loop": lambda: through(q, v, *fixed),
        "adjoint, C in a loop": c,
    }
    laps, samples = race(calls), {"in a loop": n, "adjoint, C in a loop": n}
    return [
        row("UR5", "computed torque", "one call", laps, "Law", peers=()),
        row("UR5", "computed torque", "one call of its kernel", laps, "kernel", peers=()),
        row("UR5", "computed torque", "in a loop", laps, "in a loop", peers=["adjoint, C in a loop"], samples=samples),
    ]


def in_a_loop(one: aj.Kernel):
    """A kernel that goes through rows of q and v and computes the law for each: one sample, so its code is scalar."""

    def rows(q, v, target, rate, acceleration, kp, kd):
        def step(carry, x):
            return carry, one(0.0, *x, target, rate, acceleration, kp, kd)

        return aj.scan(step, 0.0, (q, v))[1]

    return aj.kernel(rows, q=(..., 6), v=(..., 6), target=6, rate=6, acceleration=6)


def in_c(text: str, q: np.ndarray, v: np.ndarray, fixed: list[np.ndarray]):
    """A function that calls the exported C function for each row of q and v."""
    names = [f"x{k}" for k in range(len(fixed))]
    inputs = ", ".join(f"const double *{x}" for x in ("t", "q", "v", *names))
    call = f"law(t, q + 6 * k, v + 6 * k, {', '.join(names)}, y + 6 * k);"
    loop = f"void loop(long n, {inputs}, double *y) {{ for (long k = 0; k < n; k++) {call} }}"
    folder, out = Path(tempfile.mkdtemp(prefix="adjoint-bench-")), np.empty_like(q)
    (folder / "f.c").write_text(text + loop)
    flags = ["-O2", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "f.c", "-o", "f.so", "-lm"], cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "f.so")).loop
    arrays = [np.zeros(1), q, v, *fixed, out]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in arrays]

    def run() -> np.ndarray:
        function(ctypes.c_long(len(q)), *pointers)
        return arrays[-1]

    return run


# --- gradients --------------------------------------------------------------------------------------------------------


def cost(t, q, v, tau):
    return q @ q + 0.001 * (v @ v)


def gradients(name: str) -> list[dict]:
    """By the step: gradients by gains, and by gains and inertias, beside the run; work memory of the last."""
    case = Case(name)
    n, when = case.robot.nv, {"q": case.q, "v": case.v, "duration": STEPS * DT, "dt": DT}
    law = control.pd(np.zeros(n), kp=np.full(n, KP), kd=np.full(n, KD))

    def gradient(*by: str):
        return lambda: simulation.gradient(cost, case.robot, law, by=by, **when)

    calls = {
        "adjoint, run": lambda: simulation.simulate(case.robot, law, record=STEPS, **when),
        "by gains": gradient("kp", "kd"),
        "by gains and inertias": gradient("kp", "kd", "inertias"),
    }
    laps, extra = race(calls, rounds=5), {"memory_kB": work_memory(calls["by gains and inertias"])}
    return [
        row(name, f"gradient {by}", "batch", laps, by, peers=["adjoint, run"], samples=BATCH * STEPS, **extra)
        for by in ("by gains", "by gains and inertias")
    ]


def work_memory(call) -> float:
    """The kilobytes of work memory of a call, whatever its batch: runs take turns with it, a vector of them each."""
    sizes, take = [], execution.take_work

    def noted(size: int):
        sizes.append(size)
        return take(size)

    with mock.patch.object(execution, "take_work", noted):
        call()
    return max(sizes) / 1000


# --- environments for learning ----------------------------------------------------------------------------------------


def environments() -> list[dict]:
    """One step of one of many Pandas, which get new joint forces at every step."""
    robot, path = Case("Panda").robot, urdf("panda")
    env = simulation.VectorEnv(robot, PANDAS, dt=DT, dtype=np.float64)
    env.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (PANDAS, robot.nv))
    model = peers.mujoco_model(path, robot, dt=DT, gains=(0.0, 0.0))
    batch = mj.batch.Batch(model, PANDAS, nthread=THREADS)
    q, forces = batch.bind("qpos"), batch.bind("ctrl")

    def step():
        forces[:] = actions
        batch.step()

    step()
    env.step(actions)
    np.testing.assert_allclose(env.q, q, atol=1e-12)
    theirs = dict(zip(MUJOCO, (step, one_step(model, actions)), strict=True))
    laps = race({"adjoint": lambda: env.step(actions)} | theirs, rounds=7)
    return [row("Panda", "VectorEnv.step", f"{THREADED}{PANDAS} at once", laps, samples=PANDAS)]


def one_step(model, actions: np.ndarray):
    """A function that steps all robots once with `mujoco.rollout`."""
    pool, models = mj.rollout.Rollout(nthread=THREADS if THREADS > 1 else 0), [model] * PANDAS
    data, start = [mj.MjData(model) for _ in range(THREADS)], np.zeros((PANDAS, 1 + model.nq + model.nv))
    control, states = actions[:, None], np.empty((PANDAS, 1, start.shape[1]))

    def step():
        pool.rollout(models, data, initial_state=start, control=control, nstep=1, state=states)
        start[:] = states[:, 0]

    return step


# --- all of them ------------------------------------------------------------------------------------------------------


def on_two_threads() -> list[dict]:
    """The runs and environments on two threads, by this file in a process of its own."""
    environment = {k: x for k, x in os.environ.items() if not k.endswith("_THREADS")} | {"BENCH_THREADS": "2"}
    every = range(os.cpu_count() or 1)
    done = subprocess.run(
        [sys.executable, __file__], env=environment, stdout=subprocess.PIPE, check=True, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, every) if hasattr(os, "sched_setaffinity") else None,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def beside_the_better(found: dict | None, least: float) -> list[list]:
    """The target of a row beside the faster of MuJoCo's two ways."""
    if found is None:
        return []
    return ratio_target(found, min(MUJOCO, key=lambda name: found["peers"][name]["ns"]), least)


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    verdicts = []
    for robot, least in LEAST.items():
        for what in ("run", "run, PD"):
            for how in ("last state kept", "every tenth kept"):
                verdicts += beside_the_better(find(rows, robot, what, how), least)
    for r in (r for r in rows if r["how"] == "last state kept"):
        name, most = f"{r['subject']}, {r['what']}, compiling, s", 3 if "G1" in r["subject"] else 1
        verdicts.append(target(name, r["extra"]["compile_s"], f"<= {most}"))
    for how in ("one call", "one call of its kernel"):
        found = find(rows, "UR5", "computed torque", how)
        verdicts.append(target(f"computed torque, {how}, µs", found["ours_ns"] / 1000, "<= 1.5"))
    c = find(rows, "UR5", "computed torque", "in a loop")["peers"]["adjoint, C in a loop"]["ratio"]
    verdicts.append(target("computed torque, C, times the kernel's loop", c, "<= 1.2"))
    for r in (r for r in rows if r["what"] == "gradient by gains and inertias"):
        slower = 1 / r["peers"]["adjoint, run"]["ratio"]
        verdicts.append(target(f"{r['subject']}, gradient, times the run", slower, "<= 6"))
    return verdicts + beside_the_better(find(rows, "Panda", "VectorEnv.step", f"{PANDAS} at once"), 20)


def main() -> None:
    rows = [*runs(), *law_calls(), *environments()]
    rows += [r for name in in_time(quick_or_full(["UR5"], ["UR5", "Panda"])) for r in gradients(name)]
    rows += [r for part in in_time([on_two_threads], lambda f: "two threads") for r in part()]
    report("simulation", ("numpy", "mujoco", "gymnasium"), rows, targets(rows), batch=BATCH, steps=STEPS)


if __name__ == "__main__":
    if THREADS == 1:
        main()
    else:
        print(json.dumps([*runs(), *environments()]))
