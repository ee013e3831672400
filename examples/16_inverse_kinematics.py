"""Inverse kinematics in closed form: the eight poses of a PUMA, its workspace, and the self-motion of a 7R arm.

python examples/16_inverse_kinematics.py     writes output/inverse_kinematics.png and output/workspace.png
"""

import time
from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.inverse import best_redundancy, branches, follow_path, nearest_solution, redundancy_of, within_limits
from adjoint.lie import so3

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560()
# Shoulder and wrist of this arm are spherical, as those of a KUKA iiwa.
QUARTER = np.pi / 2
ROWS = zip((0.36, 0, 0.42, 0, 0.4, 0, 0.126), (-QUARTER, QUARTER, QUARTER, -QUARTER, -QUARTER, QUARTER, 0), strict=True)
SEVEN = aj.from_dh([[0, d, 0, twist] for d, twist in ROWS], name="seven", lower=-2.9, upper=2.9)


def eight_poses() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """A pose of a PUMA's hand, all configurations (8, 6) there, and what they are called."""
    T = aj.forward_kinematics(PUMA, np.radians([30, -45, 120, 20, 40, -60]), "tool")
    found = aj.inverse_kinematics(PUMA, T, "tool")
    meaning = branches(PUMA, "tool")
    print(meaning)
    usable = within_limits(PUMA, found)
    print(f"{found.exact.sum()} configurations reach the pose, {usable.exact.sum()} of them within the joint limits")
    chosen = nearest_solution(PUMA, found, np.zeros(6))
    print(f"nearest to the home configuration: branch {chosen.branch}, {chosen.distance:.2f} rad away")
    flips = ["", " flipped"] * 4
    return T, found.q, [f"{b.arm} {b.elbow}{flip}" for b, flip in zip(meaning.branches, flips, strict=True)]


def workspace(n: int = 161) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """How many configurations, all and those within the limits, bring the hand to each place of a vertical plane.

    The hand points down and is tilted by 30 degrees.
    """
    x, z = np.linspace(-1, 1, n), np.linspace(-0.9, 1, n)
    T = np.tile(np.eye(4), (n, n, 1, 1))
    T[..., :3, :3] = so3.from_rpy([0, np.radians(150), 0])
    T[..., 0, 3], T[..., 2, 3] = np.meshgrid(x, z)
    start = time.perf_counter()
    found = aj.inverse_kinematics(PUMA, T, "tool")
    print(f"{n * n} poses, all branches: {1e3 * (time.perf_counter() - start):.0f} ms, the first call included")
    return x, z, [s.exact.sum(axis=-1) for s in (found, within_limits(PUMA, found))]


def straight_line() -> tuple[np.ndarray, np.ndarray]:
    """Joint angles (n, 6) along a straight line of the hand, which keeps its orientation."""
    T = np.tile(aj.forward_kinematics(PUMA, np.radians([30, -45, 120, 20, 40, -60]), "tool"), (200, 1, 1))
    T[:, :3, 3] += np.linspace(0, 1, 200)[:, None] * [-0.3, -0.5, 0.1]
    path = follow_path(PUMA, T, "tool")
    print(f"a straight line of 200 poses: {len(path.jumps)} jumps, branch {path.branch[0]} all the way")
    return np.linspace(0, 1, 200), path.q


def self_motion() -> tuple[np.ndarray, np.ndarray]:
    """Configurations (m, 7) at one pose of an arm with seven joints; and the best one, away from all limits."""
    q = np.array([0.3, 0.6, -0.2, -1.4, 0.4, 0.9, 0.1])
    T = aj.forward_kinematics(SEVEN, q, "tool")
    angles = redundancy_of(SEVEN, q, "tool") + np.linspace(-np.pi, np.pi, 25)
    found = aj.inverse_kinematics(SEVEN, T, "tool", redundancy=angles)
    best = best_redundancy(SEVEN, T, "tool", "limits")
    print(f"largest margin to the joint limits at the arm angle {best.redundancy:.2f} rad: {100 * best.value:.0f} %")
    branch = int(np.abs(found.q[12] - q).max(axis=-1).argmin())
    return found.q[:, branch], best.q


def links(robot: aj.Robot, q: np.ndarray) -> np.ndarray:
    """The points (n, m, 3) of an arm's centre line at configurations q (n, nq)."""
    bodies = aj.forward_kinematics(robot, q)[..., :3, 3]
    tool = aj.forward_kinematics(robot, q, "tool")[..., None, :3, 3]
    return np.concatenate([np.zeros_like(tool), bodies, tool], axis=-2)


def puma_lines(q: np.ndarray) -> np.ndarray:
    """The points (n, 6, 3) of a PUMA: its shoulder is beside the column, at the height of joint 2."""
    T = aj.forward_kinematics(PUMA, q)
    shoulder = T[:, 1, :3, 3] - 0.4318 * T[:, 1, :3, 0]
    wrist, hand = T[:, 3, :3, 3], T[:, 5, :3, 3]
    column = np.zeros((len(q), 2, 3))
    column[:, 0, 2] = -0.6
    return np.concatenate([column, np.stack([shoulder, T[:, 1, :3, 3], wrist, hand], axis=1)], axis=1)


def draw_arms(figure) -> None:
    """Draws the eight poses, and the self-motion."""
    T, q, names = eight_poses()
    for k, (points, name) in enumerate(zip(puma_lines(q), names, strict=True)):
        ax = figure.add_subplot(3, 4, k + 1, projection="3d")
        ax.plot(*points.T, "o-", ms=3, lw=2.5, color="tab:blue" if k % 2 == 0 else "tab:cyan")
        for axis, color in enumerate(("tab:red", "tab:green", "black")):
            ax.plot(*np.stack([T[:3, 3], T[:3, 3] + 0.2 * T[:3, axis]]).T, color=color, lw=1.5)
        tidy(ax, f"{k}: {name}", (0.2, 0.2, 0.0), 0.5)
    motion, best = self_motion()
    ax = figure.add_subplot(3, 4, (9, 10), projection="3d")
    for points in links(SEVEN, motion):
        ax.plot(*points.T, color="tab:blue", alpha=0.35, lw=1)
    ax.plot(*links(SEVEN, best[None])[0].T, "o-", ms=3, color="tab:orange", lw=2.5)
    tidy(ax, "self-motion of a 7R arm; orange: farthest from all limits", (0.2, 0.1, 0.5), 0.5)
    ax = figure.add_subplot(3, 4, (11, 12))
    s, q = straight_line()
    ax.plot(s, np.degrees(q), lw=1.5, label=[f"joint {i}" for i in range(1, 7)])
    ax.set(title="joints along a straight line of the hand", xlabel="part of the way", ylabel="angle [°]")
    ax.title.set_fontsize(9)
    ax.legend(fontsize=7, ncols=3, frameon=False, loc="upper center", bbox_to_anchor=(0.6, 0.9))
    ax.spines[["top", "right"]].set_visible(False)


def tidy(ax, title: str, center: tuple[float, float, float], reach: float) -> None:
    """Gives a drawing in space a title and equal axes, which reach to both sides of a centre [m]."""
    x, y, z = ((c - reach, c + reach) for c in center)
    ax.set(xlim=x, ylim=y, zlim=z, xticks=[], yticks=[], zticks=[])
    ax.set_title(title, fontsize=9, y=0.98)
    ax.set_box_aspect((1, 1, 1), zoom=1.25)
    ax.view_init(18, -60)


def main() -> None:
    """Solves the examples and draws them, if Matplotlib is there."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        for solve in (eight_poses, workspace, straight_line, self_motion):
            solve()
        return
    OUTPUT.mkdir(exist_ok=True)
    figure = plt.figure(figsize=(11, 9), layout="constrained")
    draw_arms(figure)
    figure.savefig(OUTPUT / "inverse_kinematics.png", dpi=110)
    x, z, counts = workspace()
    figure, places = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
    for ax, count, title in zip(places, counts, ("all configurations", "within the joint limits"), strict=True):
        image = ax.pcolormesh(x, z, count, cmap=plt.get_cmap("viridis", 9), vmin=-0.5, vmax=8.5, shading="nearest")
        ax.set(aspect="equal", xlabel="x [m]", title=title)
    places[0].set(ylabel="z [m]")
    figure.suptitle("PUMA 560: configurations that bring the hand, tilted by 30° from straight down, to (x, 0, z)")
    figure.colorbar(image, ax=places, ticks=range(9), label="number of configurations", shrink=0.9)
    figure.savefig(OUTPUT / "workspace.png", dpi=110)
    print("wrote output/inverse_kinematics.png and output/workspace.png")


if __name__ == "__main__":
    main()
