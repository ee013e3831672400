"""A redundant arm meets goals: a family of answers, an objective, and steps towards a moving target.

python examples/17_find_configuration.py     writes output/find_configuration.png
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import goals

PLANE = aj.robots.planar(5, length=0.4)  # five links of 0.4 m
TIP = "tool"
SPEED = 0.3  # [rad/s], the limit of every joint


def arms() -> dict[str, np.ndarray]:
    """Configurations (n, 5) that reach one point: from random starts, and the nearest one to a given posture."""
    point = goals.position(TIP, [0.9, 0.7, 0.0])
    starts = aj.random_configuration(PLANE, 24, rng=0)
    free = aj.find_configuration(PLANE, point, start=starts)
    bent = np.array([-0.4, 0.5, 0.5, 0.5, 0.5])
    near = aj.find_configuration(PLANE, point, start=starts, objectives=goals.posture(bent))
    print(f"{free.success.sum()} of 24 starts reach the point; the largest error is {free.error.max():.1e} m")
    away = [np.linalg.norm(x.q - bent, axis=1) for x in (free, near)]
    print(f"distance from the wished posture: {away[0].mean():.2f} rad, with the objective {away[1].mean():.2f} rad")
    return {"any answer": free.q, "near a posture": near.q[[int(np.argmin(away[1]))]]}


def pointing() -> np.ndarray:
    """The tip at five points, where its last link also points to a common target."""
    spots = np.stack([np.linspace(0.2, 1.2, 5), np.full(5, 0.9), np.zeros(5)], axis=-1)
    wanted = [goals.position(TIP, spots), goals.look_at(TIP, [0.7, 1.6, 0.0], axis=[1, 0, 0])]
    found = aj.find_configuration(PLANE, wanted, start=np.full(5, 0.4))
    print(
        f"pointing at a target from five places: {found.success.sum()} of 5, {found.iterations.mean():.0f} iterations"
    )
    return found.q


def follow() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets (n, 3) on a circle, the tip's path behind them (n, 3), and the joints' speeds (n, 5) [rad/s]."""
    robot, dt = PLANE.replace(velocity_limit=np.full(5, SPEED)), 0.02
    t = np.arange(0, 8, dt)
    targets = np.stack([0.9 + 0.5 * np.cos(t), 0.5 * np.sin(t), 0 * t], axis=-1)
    q, step, path, speeds = np.array([0.9, -0.5, -0.5, -0.5, -0.5]), None, [], []
    for target in targets:
        step = goals.differential_step(robot, q, {TIP: target}, dt, gain=0.5, warm=step)
        q = aj.integrate(robot, q, step.v, dt)
        path.append(aj.forward_kinematics(robot, q, TIP)[:3, 3])
        speeds.append(step.v)
    return targets, np.array(path), np.array(speeds)


def draw(ax, q: np.ndarray, **style) -> None:
    """Draws the arm at each of the configurations q (n, 5)."""
    joints = aj.forward_kinematics(PLANE, q, (*PLANE.body_names, TIP))[..., :2, 3]
    for points in joints:
        ax.plot(*points.T, "o-", ms=2.5, **style)


def main() -> None:
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    found = arms()
    draw(axes[0], found["any answer"], color="0.7", lw=0.7)
    draw(axes[0], found["near a posture"], color="tab:red", lw=2.5)
    axes[0].plot(0.9, 0.7, "k*", ms=12)
    axes[0].set_title("one point: 24 starts, and the answer\nnearest to a posture (red)")
    for k, q in enumerate(pointing()):
        draw(axes[1], q[None], color=plt.get_cmap("viridis")(k / 5), lw=2)
    axes[1].plot(0.7, 1.6, "k*", ms=12)
    axes[1].set_title("five points, and the last link\nlooks at the star")
    targets, path, speeds = follow()
    axes[2].plot(*targets[:, :2].T, "--", color="0.5", label="target")
    axes[2].plot(*path[:, :2].T, color="tab:blue", label="tip")
    limited = np.mean(np.abs(speeds).max(axis=1) >= SPEED * (1 - 1e-9))
    axes[2].set_title(f"steps within {SPEED} rad/s, which\nhold back some joint {limited:.0%} of the time")
    axes[2].legend(loc="lower left")
    for ax in axes:
        ax.set(aspect="equal", xlabel="x [m]")
    axes[0].set_ylabel("y [m]")
    path = Path(__file__).parent / "output" / "find_configuration.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
