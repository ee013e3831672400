"""Inverse kinematics in closed form beside EAIK and ssik: all branches of the same poses of the same arms.

python bench/inverse.py            one run, one core; writes bench/results/inverse.json

EAIK and ssik solve one pose a call; ours is timed both ways, one pose a call and in batches of 4096. Every system
returns all branches it knows. EAIK has no answer for arms of general geometry, and takes a locked joint of a Panda when
its robot is made; ssik searches the redundancy of a Panda itself.
"""

import time

from common import find, in_time, one_core, quick_or_full, race, ratio_target, report, row

one_core()

import numpy as np  # noqa: E402
import ssik  # noqa: E402
from eaik.IK_HP import HPRobot  # noqa: E402
from inverse_numeric import urdf  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import inverse  # noqa: E402
from adjoint.lie import se3  # noqa: E402
from adjoint.model import space_screws  # noqa: E402

BATCH, SINGLE, LOCK = 4096, 200, 0.3
BRANCHES = "all branches of a pose"
LEAST = {"EAIK": {"UR5": 25, "PUMA 560": 25, "Panda": 20}, "ssik": {"Panda": 100, "JACO 2": 10}}


def from_ssik(name: str) -> aj.Robot:
    """Our model of an arm that ssik ships: its screws are read off its forward kinematics."""
    arm = ssik.Manipulator.from_prebuilt(name)
    home = np.asarray(arm.fk(np.zeros(arm.dof)))
    screws = [se3.log(np.asarray(arm.fk(e)) @ np.linalg.inv(home)) for e in np.eye(arm.dof)]
    return aj.from_screws(np.round(screws, 12), home, name=name, lower=-np.pi, upper=np.pi)


ROBOTS = {
    "PUMA 560": (aj.robots.puma560(), "tool", "puma560_ik"),
    "UR5": (aj.load(urdf("ur5_robot")), "tool0", "ur5_ik"),
    "Panda": (aj.load(urdf("panda")), "panda_hand", "franka_panda_ik"),
    "JACO 2": (from_ssik("jaco2_ik"), "tool", "jaco2_ik"),
}


def eaik_robot(robot: aj.Robot, frame: str, lock: list) -> HPRobot:
    """EAIK's model of an arm: directions of the axes at home, and the ways from axis to axis."""
    A, M, _ = space_screws(robot, frame)
    points = np.cross(A[:, :3], A[:, 3:])
    P = np.diff(np.vstack([np.zeros(3), points, M[:3, 3]]), axis=0)
    return HPRobot(A[:, :3], P, lock)


def prepared(robot: aj.Robot, frame: str, T: np.ndarray, *parameter) -> tuple[float, float]:
    """Seconds until a new arm answers its first batch: analysed and compiled; and from the disk cache."""
    aj.clear_cache()
    name, laps = f"{robot.name} {time.time_ns()}", []
    for _ in range(2):
        aj.forget()
        new = robot.replace(name=name)  # an equal robot, which remembers nothing
        start = time.perf_counter()
        inverse.inverse_kinematics(new, T[:64], frame, redundancy=parameter[0][:64] if parameter else None)
        laps.append(time.perf_counter() - start)
    return laps[0], laps[1]


def measured(name: str) -> list[dict]:
    """The rows of an arm, in a batch and one pose a call, and how our solutions fare."""
    robot, frame, prebuilt = ROBOTS[name]
    q = aj.random_configuration(robot, BATCH, rng=0)
    seven = name == "Panda"
    if seven:
        q[:, 6:] = LOCK * (np.arange(robot.nq - 6) == 0)
    T = aj.forward_kinematics(robot, q, frame)
    parameter = (np.full(BATCH, LOCK),) if seven else ()
    first, cached = prepared(robot, frame, T, *parameter)
    found = aj.inverse_kinematics(robot, T, frame, redundancy=parameter[0] if seven else None)
    off = np.abs(aj.forward_kinematics(robot, found.q, frame) - T[:, None]).max(axis=(-2, -1))
    calls = {
        "adjoint, batch": lambda: aj.inverse_kinematics(robot, T, frame, redundancy=parameter[0] if seven else None),
        "adjoint, one pose": lambda: [
            aj.inverse_kinematics(robot, t, frame, redundancy=LOCK if seven else None) for t in T[:SINGLE]
        ],
    }
    M = space_screws(robot, frame).home
    poses = T.copy()
    poses[:, :3, :3] = T[:, :3, :3] @ M[:3, :3].T
    if name != "JACO 2":
        peer = eaik_robot(robot, frame, [(6, LOCK)] if seven else [])
        assert peer.hasKnownDecomposition()
        calls["EAIK"] = lambda: [peer.IK(t) for t in poses[:SINGLE]]
    theirs = ssik.Manipulator.from_prebuilt(prebuilt)
    rng = np.random.default_rng(0)
    own = [np.asarray(theirs.fk(rng.uniform(-2, 2, theirs.dof))) for _ in range(SINGLE)]
    calls["ssik"] = lambda: [theirs.solve(t, respect_limits=False) for t in own[:20]]
    laps, theirs = race(calls, rounds=7), [s for s in ("EAIK", "ssik") if s in calls]
    samples = {"adjoint, batch": BATCH, "adjoint, one pose": SINGLE, "EAIK": SINGLE, "ssik": 20}
    more = {"branches": float(found.exact.sum(axis=1).mean()), "worst_error": float(off[found.exact].max())}
    more |= {"compile_s": first, "from_cache_s": cached}
    return [
        row(name, BRANCHES, "batch", laps, "adjoint, batch", peers=theirs, samples=samples, **more),
        row(name, BRANCHES, "one call", laps, "adjoint, one pose", peers=theirs, samples=samples),
    ]


def main() -> None:
    rows = [r for name in in_time(quick_or_full(["UR5", "Panda"], ROBOTS)) for r in measured(name)]
    verdicts = []
    for peer, wanted in LEAST.items():
        for name, least in wanted.items():
            verdicts += ratio_target(find(rows, name, BRANCHES, "batch"), peer, least)
    report("inverse", ("eaik", "ssik", "numpy"), rows, verdicts, batch=BATCH)


if __name__ == "__main__":
    main()
