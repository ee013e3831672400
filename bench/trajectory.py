"""Trajectories beside SciPy, the Robotics Toolbox, toppra and ruckig: sampled, made, and the fastest along a path.

python bench/trajectory.py            one run, one core; writes bench/results/trajectory.json

Every system computes the same thing: all four of position, velocity, acceleration and jerk for samples, the same
splines through the same waypoints and the same limits for time-optimal motions. Peers take one trajectory a call; ours
is timed one a call, and in batches.
"""

from common import find, in_time, one_core, race, ratio_target, report, row

one_core()

import numpy as np  # noqa: E402
import roboticstoolbox as rtb  # noqa: E402
import ruckig  # noqa: E402
import toppra  # noqa: E402
import toppra.algorithm  # noqa: E402
import toppra.constraint  # noqa: E402
from inverse_numeric import urdf  # noqa: E402
from scipy.interpolate import PPoly  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint import trajectory as tr  # noqa: E402
from adjoint.lie import se3  # noqa: E402

toppra.setup_logging("ERROR")
JOINTS, PIECES, TIMES, MANY, POINTS = 7, 9, 20_000, 100_000, 100
PATHS, WAYPOINTS, GRID = 256, 10, 100
LEAST = {  # (what, how): (peer, how many times faster)
    ("spline sampled", "batch"): ("PPoly", 30),
    ("quintics sampled", "batch"): ("Robotics Toolbox", 20),
    ("quintics made", "batch"): ("Robotics Toolbox", 100),
    ("trapezoids made", "batch"): ("Robotics Toolbox", 100),
    ("time-optimal path", "one call"): ("toppra", 20),
    ("time-optimal path", "batch"): ("toppra", 100),
}


def sampling() -> list[dict]:
    """By the time and joint: position, velocity, acceleration and jerk of a spline at sorted times."""
    rng = np.random.default_rng(0)
    ours = tr.spline(rng.normal(size=(PIECES + 1, JOINTS)), np.linspace(0, 2, PIECES + 1), degree=5)
    theirs = PPoly(np.moveaxis(ours.coefficients, -1, 0)[::-1], ours.knots)
    rates = [theirs, *(theirs.derivative(k) for k in (1, 2, 3))]
    t = np.sort(rng.uniform(0, 2, TIMES))
    for k, found in enumerate(ours(t)):
        np.testing.assert_allclose(found, rates[k](t), atol=1e-9 * 10**k)
    laps = race({"adjoint": lambda: ours(t), "PPoly": lambda: [rate(t) for rate in rates]})
    return [row("7 joints", "spline sampled", "batch", laps, samples=TIMES * JOINTS)]


def one_time() -> list[dict]:
    """One time, as in a control loop: position, velocity, acceleration and jerk of all joints."""
    rng = np.random.default_rng(0)
    ours = tr.spline(rng.normal(size=(PIECES + 1, JOINTS)), np.linspace(0, 2, PIECES + 1), degree=5)
    theirs = PPoly(np.moveaxis(ours.coefficients, -1, 0)[::-1], ours.knots)
    rates = [theirs, *(theirs.derivative(k) for k in (1, 2, 3))]
    laps = race({"adjoint": lambda: ours(0.7), "PPoly": lambda: [rate(0.7) for rate in rates]})
    return [row("7 joints", "spline sampled", "one call", laps)]


def many_trajectories() -> list[dict]:
    """By the trajectory, of six joints at 100 times: quintics between different states."""
    start, goal = np.random.default_rng(0).normal(size=(2, 1000, 6))
    t = np.linspace(0, 2, POINTS)
    ours = tr.quintic(start, goal, 2.0)
    laps = race(
        {
            "adjoint": lambda: ours(t),
            "Robotics Toolbox": lambda: [rtb.jtraj(a, b, t) for a, b in zip(start[:50], goal[:50], strict=True)],
        }
    )
    return [row("6 joints", "quintics sampled", "batch", laps, samples={"adjoint": 1000, "Robotics Toolbox": 50})]


def made(kind: str) -> list[dict]:
    """By the trajectory of six joints, of 10⁵ different ones made in one call; theirs are sampled twice.

    The Robotics Toolbox makes a trajectory only together with its samples, so it gets the two times of the ends.
    """
    start, goal = np.random.default_rng(0).normal(size=(2, MANY, 6))
    ours = {
        "quintic": lambda: tr.quintic(start, goal, 2.0),
        "trapezoidal": lambda: tr.trapezoidal(start, goal, velocity=1.0, acceleration=2.0),
    }[kind]
    theirs, t = getattr(rtb, kind), np.array([0.0, 2.0])
    pairs = list(zip(start[:50], goal[:50], strict=True))
    calls = {"adjoint": ours, "Robotics Toolbox": lambda: [rtb.mtraj(theirs, a, b, t) for a, b in pairs]}
    samples = {"adjoint": MANY, "Robotics Toolbox": 50, "ruckig": 50}
    what = {"quintic": "quintics made", "trapezoidal": "trapezoids made"}[kind]
    return [row("6 joints", what, "batch", race(calls, rounds=7), samples=samples)]


def s_curves() -> list[dict]:
    """By the motion of six joints with bounded jerk, of 10⁵ different ones made in one call."""
    start, goal = np.random.default_rng(0).normal(size=(2, MANY, 6))
    calls = {
        "adjoint": lambda: tr.s_curve(start, goal, velocity=1.0, acceleration=2.0, jerk=10.0),
        "ruckig": lambda: [to_goal(a, b) for a, b in zip(start[:50], goal[:50], strict=True)],
    }
    laps = race(calls, rounds=7)
    return [row("6 joints", "S-curves made", "batch", laps, samples={"adjoint": MANY, "ruckig": 50})]


def to_goal(start: np.ndarray, goal: np.ndarray) -> ruckig.Trajectory:
    """Ruckig's motion from rest to rest."""
    given, found = ruckig.InputParameter(6), ruckig.Trajectory(6)
    given.current_position, given.target_position = start, goal
    given.max_velocity, given.max_acceleration, given.max_jerk = [1.0] * 6, [2.0] * 6, [10.0] * 6
    ruckig.Ruckig(6).calculate(given, found)
    return found


def by_toppra(waypoints: np.ndarray) -> float:
    """The duration of toppra's solution."""
    path = toppra.SplineInterpolator(np.linspace(0, 1, WAYPOINTS), waypoints)
    velocity = toppra.constraint.JointVelocityConstraint(np.full(JOINTS, 2.0))
    acceleration = toppra.constraint.JointAccelerationConstraint(np.full(JOINTS, 5.0))
    grid = np.linspace(0, 1, GRID + 1)
    limits = [velocity, acceleration]
    solver = toppra.algorithm.TOPPRA(limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    return solver.compute_trajectory(0, 0).duration


def time_optimal() -> list[dict]:
    """By the path of seven joints through ten waypoints, 100 grid points; and how durations compare."""
    ways = np.random.default_rng(0).normal(size=(PATHS, WAYPOINTS, JOINTS))
    panda = aj.load(urdf("panda"))
    panda = panda.locked(dict.fromkeys(panda.joint_names[7:], 0.02)) if panda.nv > 7 else panda
    strong = np.array([87, 87, 87, 87, 30, 30, 30.0])
    inside = aj.random_configuration(panda, (PATHS, WAYPOINTS), rng=0) * 0.5
    limits = {"velocity": 2.0, "acceleration": 5.0, "grid": GRID}
    torques = {"velocity": 2.0, "acceleration": 5.0, "robot": panda, "torque": strong, "grid": GRID}
    ours = tr.time_optimal(ways, **limits)
    ratio = ours.duration[:20] / [by_toppra(way) for way in ways[:20]]
    laps = race(
        {
            "one call": lambda: tr.time_optimal(ways[0], **limits),
            "batch": lambda: tr.time_optimal(ways, **limits),
            "one call, torques": lambda: tr.time_optimal(inside[0], **torques),
            "batch, torques": lambda: tr.time_optimal(inside, **torques),
            "toppra": lambda: by_toppra(ways[0]),
        },
        rounds=7,
    )
    fine = np.linspace(0, 1, 10 * GRID * WAYPOINTS + 1) * ours.duration[:, None]
    sample = ours(fine)
    more = {"shortest_beside_toppra": float(ratio.min()), "longest_beside_toppra": float(ratio.max())}
    more |= {"largest_v": float(np.abs(sample.v).max() / 2), "largest_a": float(np.abs(sample.a).max() / 5)}
    samples, what = {"batch": PATHS, "batch, torques": PATHS}, "time-optimal path"
    return [
        row("7 joints", what, "one call", laps, "one call", peers=["toppra"], samples=samples),
        row("7 joints", what, "batch", laps, "batch", peers=["toppra"], samples=samples, **more),
        row("Panda", f"{what}, torques", "one call", laps, "one call, torques", peers=(), samples=samples),
        row("Panda", f"{what}, torques", "batch", laps, "batch, torques", peers=(), samples=samples),
    ]


def lines() -> list[dict]:
    """Joints along a straight line of a PUMA's hand: 1000 poses, and with bounded deviation."""
    puma = aj.robots.puma560()
    q = np.radians([30, -45, 120, 20, 40, -60])
    T_0 = aj.forward_kinematics(puma, q, "tool")
    T_1 = se3.from_rotation_translation(T_0[:3, :3], T_0[:3, 3] + [-0.3, -0.5, 0.1])
    poses = tr.line(T_0, T_1, 1.0)(np.linspace(0, 1, 1000)).T
    laps = race(
        {
            "1000 poses": lambda: aj.inverse.follow_path(puma, poses, "tool", start=q),
            "bounded deviation": lambda: tr.bounded_deviation(
                puma, T_0, T_1, "tool", position=1e-3, angle=1e-2, start=q
            ),
        }
    )
    return [row("PUMA 560", f"line, {name}", "one call", laps, name, peers=()) for name in laps]


def main() -> None:
    parts = {
        "spline sampled": sampling, "one time": one_time, "quintics sampled": many_trajectories,
        "quintics made": lambda: made("quintic"), "trapezoids made": lambda: made("trapezoidal"),
        "S-curves made": s_curves, "time-optimal path": time_optimal, "lines": lines,
    }  # fmt: skip
    rows = [r for name in in_time(parts) for r in parts[name]()]
    verdicts = []
    for (what, how), (peer, least) in LEAST.items():
        for joints in ("6 joints", "7 joints"):
            verdicts += ratio_target(find(rows, joints, what, how), peer, least)
    report("trajectory", ("numpy", "scipy", "roboticstoolbox-python", "toppra", "ruckig"), rows, verdicts)


if __name__ == "__main__":
    main()
