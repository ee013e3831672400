"""Derivatives with respect to a robot's own parameters, and a thousand robots with other parameters in one call.

    python examples/08_parameters.py [model.urdf [frame]]          writes output/parameters.png

The picture answers three questions: for which link does a motor work, how long should links be, and how much do the
torques of a thousand slightly different robots differ? Without arguments the robot is the PUMA 560 of the catalog, with
body frames on the joints' axes, so that lengths are those of links.
"""

import sys
import time
from pathlib import Path

import numpy as np

import adjoint as aj

ROBOTS, TIMES, STEPS = 1000, 200, 60
np.set_printoptions(precision=3, suppress=True, linewidth=120)


def shares(robot: aj.Robot) -> np.ndarray:
    """The mean shares (nv, n) of the n bodies in each joint's torque over random motions; each row has the sum 1.

    Torques are linear in the inertias: body j adds ∂τ/∂I_j I_j, and armature, damping and friction add the rest.
    """
    rng = np.random.default_rng(0)
    q, (v, a) = aj.random_configuration(robot, ROBOTS, rng=rng), rng.normal(size=(2, ROBOTS, robot.nv))
    slope = aj.inverse_dynamics.bind(robot, lift="inertias").jacobian("inertias")(q, v, a)  # (ROBOTS, nv, n, 10)
    parts = np.sum(slope * robot.inertias, axis=-1)
    joints = robot.armature * a + robot.damping * v + robot.friction * np.sign(v)
    assert np.allclose(parts.sum(axis=-1) + joints, aj.inverse_dynamics(robot, q, v, a))
    mean = np.abs(parts).mean(axis=0)
    return mean / mean.sum(axis=1, keepdims=True)


def best_split(robot: aj.Robot, frame: str) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The two longest links, their lengths (STEPS, 2), and the mean manipulability (STEPS,), in a gradient ascent.

    The ascent looks for the lengths of the best mean manipulability whose sum stays the same.
    """
    fn = aj.manipulability.bind(robot, frame=frame, part="translation", lift="lengths")
    q = aj.random_configuration(robot, 2000, rng=0)
    l = robot.liftable["lengths"].copy()
    links = sorted(np.argsort(l)[-2:].tolist())
    l[links] = l[links].sum() * np.array([0.3, 0.7])
    lengths, means = [], []
    for _ in range(STEPS):
        lengths.append(l[links])
        means.append(np.mean(fn(q, lengths=l)))
        slope = fn.jacobian("lengths")(q, lengths=l).mean(axis=0)[links]
        l = l.copy()
        l[links] += 0.6 * (slope - slope.mean())  # so the sum of the lengths stays the same
    return links, np.array(lengths), np.array(means)


def swing(robot: aj.Robot) -> tuple[np.ndarray, ...]:
    """t (TIMES,) and q, v, a (TIMES, nv) of a motion of 2 s: all joints swing from the middle of their range."""
    t = np.linspace(0, 2, TIMES)
    middle = np.where(np.isfinite(robot.lower + robot.upper), (robot.lower + robot.upper) / 2, 0.0)
    s, rate = np.sin(np.pi * t)[:, None] ** 2, np.pi * np.sin(2 * np.pi * t)[:, None]
    turn = 0.8 * np.ones(robot.nq)
    return t, middle + s * turn, rate * turn, 2 * np.pi**2 * np.cos(2 * np.pi * t)[:, None] * turn


def randomised(robot: aj.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t (TIMES,), the torques (TIMES, nv) of the robot, and those (ROBOTS, TIMES, nv) of slightly different robots.

    They differ in the masses of their bodies, and in how these are mounted.
    """
    rng = np.random.default_rng(0)
    n = len(robot.body_names)
    inertias = rng.normal(1, 0.2, (ROBOTS, 1, n, 1)) * robot.inertias  # 20 % of the mass
    offsets = rng.normal(0, [0.02] * 3 + [0.005] * 3, (ROBOTS, 1, n, 6))  # about one degree, and 5 mm
    t, *motion = swing(robot)
    fn = aj.inverse_dynamics.bind(robot, lift=("inertias", "offsets"))
    nominal = fn(*motion)
    fn(*motion, inertias=inertias[:1], offsets=offsets[:1])
    start = time.perf_counter()
    tau = fn(*motion, inertias=inertias, offsets=offsets)
    seconds = time.perf_counter() - start
    print(f"{ROBOTS} robots x {TIMES} times: {1e3 * seconds:.0f} ms, {1e9 * seconds / ROBOTS / TIMES:.0f} ns each")
    return t, nominal, tau


def draw(robot: aj.Robot, frame: str, path: Path) -> None:
    """Draws the three plots into a file, and prints their numbers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")

    parts, below = shares(robot), np.zeros(robot.nv)
    print(f"shares of the bodies (columns) in the torques of the joints (rows)\n{parts}")
    for body, share in zip(robot.body_names, parts.T, strict=True):
        left.barh(robot.joint_names, 100 * share, left=below, label=body)
        below = below + 100 * share
    left.set(title="Which link does a motor work for?", xlabel="share of its torque [%]")
    left.invert_yaxis()
    left.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))

    links, lengths, means = best_split(robot, frame)
    names = [robot.body_joint_names[robot.parents[k]] + " to " + robot.body_joint_names[k] for k in links]
    print(f"best split of {names[0]} and {names[1]}: {lengths[-1]} m; the robot has {robot.liftable['lengths'][links]}")
    for k, name in enumerate(names):
        middle.plot(lengths[:, k], f"C{k}", label=name)
        middle.axhline(robot.liftable["lengths"][links[k]], color=f"C{k}", ls=":", lw=1.2)
    middle.set(title="How long should links be?", xlabel="gradient steps", ylabel="length [m], dotted: as built")
    middle.legend(fontsize=8, loc="lower right")
    twin = middle.twinx()
    twin.plot(means, "0.6", lw=1)
    twin.set_ylabel("mean manipulability (grey)", color="0.4")

    t, nominal, tau = randomised(robot)
    joint = int(np.argmax(np.abs(nominal).max(axis=0)))
    low, high = np.percentile(tau[..., joint], [5, 95], axis=0)
    right.fill_between(t, low, high, alpha=0.3, label=f"90 % of {ROBOTS} robots")
    right.plot(t, nominal[:, joint], label="nominal")
    right.set(title=f"Torque at {robot.joint_names[joint]}, masses ± 20 %", xlabel="time [s]", ylabel="[N m]")
    right.margins(y=0.2)
    right.legend(fontsize=8, ncols=2, loc="upper center")
    path.parent.mkdir(exist_ok=True)
    fig.savefig(path, dpi=150)
    print(f"wrote {path}")


if __name__ == "__main__":
    robot = aj.load(sys.argv[1]) if len(sys.argv) > 1 else aj.robots.puma560().reframed("joint")
    frame = sys.argv[2] if len(sys.argv) > 2 else robot.frame_names[-1]
    draw(robot, frame, Path(__file__).parent / "output" / "parameters.png")
