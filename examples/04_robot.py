"""A robot from its URDF: the tree, the check's report, placements, Jacobians, and a picture of what it can reach.

    python examples/04_robot.py [model.urdf frame]          without arguments: Franka Emika's Panda and its hand

The picture shows the arm in a few poses on the left. On the right is a vertical cut through its workspace, coloured by
the best manipulability that was found there among a million random poses.
"""

import importlib.metadata
import sys
import time
from pathlib import Path

import numpy as np

import adjoint as aj

SAMPLES = 1_000_000


def example_robot(name: str) -> Path:
    """The path of a URDF in the package example-robot-data, which carries some seventy real robots."""
    files = importlib.metadata.files("example-robot-data") or []
    return Path(next(f for f in files if f.name == name).locate())


def report(robot: aj.Robot, frame: str) -> None:
    """Prints the robot, what `aj.check` finds, and the kinematics of a frame."""
    print(robot)
    print(f"\nThe doctor says:\n{aj.check(robot)}\n")
    q = middle(robot)
    np.set_printoptions(precision=4, suppress=True, linewidth=120)
    print(f"In the middle of its range, {frame} is at\n{aj.forward_kinematics(robot, q, frame)}")
    J = aj.jacobian(robot, q, frame, "world")
    print(f"and moves with the Jacobian (angular rows first, along the base's axes)\n{J}")
    values = aj.kinematics.singular_directions(robot, q, frame).values
    print(f"singular values {values}, manipulability {aj.manipulability(robot, q, frame):.4f}\n")


def middle(robot: aj.Robot) -> np.ndarray:
    """The configuration in the middle of the joint ranges; the neutral one where a joint has no limits."""
    limited = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    return np.where(limited, (robot.lower + robot.upper) / 2, aj.neutral(robot))


def survey(robot: aj.Robot, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions (SAMPLES, 3) [m] and manipulabilities (SAMPLES,) at random configurations."""
    q = aj.random_configuration(robot, SAMPLES, rng=0)
    place, measure = aj.forward_kinematics.bind(robot, frame=frame), aj.manipulability.bind(robot, frame=frame)
    for fn in (place, measure):
        fn(q[:1])  # the first call compiles the kernel, or loads it from the cache
    start = time.perf_counter()
    p = place(q)[:, :3, 3]
    placed = time.perf_counter()
    w = np.asarray(measure(q))
    done = time.perf_counter()
    print(f"{SAMPLES} placements: {1e3 * (placed - start):.0f} ms, manipulabilities: {1e3 * (done - placed):.0f} ms")
    print(f"reach: {np.linalg.norm(p, axis=1).max():.3f} m from the base's origin")
    return p, w


def draw_arm(ax, robot: aj.Robot, frame: str) -> None:
    """Draws stick figures of the links up to the frame, as all joints swing about the middle of their range."""
    import matplotlib.pyplot as plt

    names = [robot.base_name, *(robot.body_names[i] for i in robot.path(robot.frame(frame).body)), frame]
    swing = np.where(np.isfinite(robot.upper - robot.lower), robot.upper - robot.lower, np.pi) / 5
    s = np.linspace(-1, 1, 9)
    poses = middle(robot) + s[:, None] * swing * np.where(np.arange(robot.nq) % 3, -1, 1)
    for k, T in enumerate(aj.forward_kinematics(robot, poses, names)):
        p, color, front = T[:, :3, 3], plt.get_cmap("inferno")(0.1 + 0.75 * k / 8), k == 4
        ax.plot(*p.T, "-", color=color, lw=4 if front else 1.5, solid_joinstyle="round", alpha=1 if front else 0.6)
        ax.plot(*p[:-1].T, "o", color="black" if front else color, ms=5 if front else 2.5)
        for axis, rgb in zip(T[-1, :3, :3].T, ("tab:red", "tab:green", "tab:blue"), strict=True):
            ax.plot(*np.stack([p[-1], p[-1] + 0.1 * axis]).T, color=rgb, lw=2 if front else 0.8)
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    ax.set_aspect("equal")
    ax.locator_params(nbins=4)
    ax.view_init(18, -55)


def draw_workspace(ax, p: np.ndarray, w: np.ndarray) -> None:
    """Draws the best manipulability in each cell of (distance from the z axis, height)."""
    from matplotlib.colors import PowerNorm

    r, z = np.hypot(p[:, 0], p[:, 1]), p[:, 2]
    cells, edges_r, edges_z = np.histogram2d(r, z, bins=100)
    best = np.zeros_like(cells)
    i = np.clip(np.searchsorted(edges_r, r) - 1, 0, 99)
    j = np.clip(np.searchsorted(edges_z, z) - 1, 0, 99)
    np.maximum.at(best, (i, j), w)
    best = np.where(cells > 0, best, np.nan)
    image = ax.pcolormesh(edges_r, edges_z, best.T, cmap="inferno", norm=PowerNorm(0.7), rasterized=True)
    ax.set(xlabel="distance from the base's axis [m]", ylabel="height [m]", aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    ax.figure.colorbar(image, ax=ax, label="best manipulability", shrink=0.8)


def draw(robot: aj.Robot, frame: str, path: Path) -> None:
    """Draws the poses and the workspace into a file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    p, w = survey(robot, frame)
    fig = plt.figure(figsize=(12, 6), layout="constrained")
    fig.suptitle(f"{robot.name}: poses, and where {frame} can be")
    draw_arm(fig.add_subplot(1, 2, 1, projection="3d"), robot, frame)
    draw_workspace(fig.add_subplot(1, 2, 2), p, w)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=150)
    print(f"drawn in {path}")


if __name__ == "__main__":
    model, frame = sys.argv[1:] or (example_robot("panda.urdf"), "panda_hand")
    robot = aj.load(model)
    report(robot, frame)
    draw(robot, frame, Path(__file__).parent / "output" / "robot.png")
