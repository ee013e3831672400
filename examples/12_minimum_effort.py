"""A two-link arm stands up: the straight spline beside the motions of least effort and of least energy.

python examples/12_minimum_effort.py     writes output/minimum_effort.png
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.trajectory import Motion, optimal_motion, spline_motion

HANGING, UPRIGHT = [-np.pi / 2, 0.0], [np.pi / 2, 0.0]
DURATION = 1.5  # [s]
COLORS = {"straight spline": "0.55", "least effort": "tab:blue", "least energy": "tab:orange"}


def compare(robot: aj.Robot) -> dict[str, Motion]:
    """The three motions; their costs, torques and limits are printed."""
    motions = {
        "straight spline": spline_motion(robot, HANGING, UPRIGHT, DURATION),
        "least effort": optimal_motion(robot, HANGING, UPRIGHT, DURATION, progress=True),
        "least energy": optimal_motion(robot, HANGING, UPRIGHT, DURATION, cost="energy"),
    }
    print(f"\n{'':18}{'effort [s]':>12}{'energy [J]':>12}{'peak torques [N m]':>22}{'over limits by':>18}")
    for name, motion in motions.items():
        torques = " {:.1f}, {:.1f}".format(*motion.peaks.tau)
        print(f"{name:18}{motion.effort:>12.4f}{motion.energy:>12.2f}{torques:>22}{motion.excess.max():>18.1%}")
    print(f"the limits are {robot.effort_limit} N m\n\n{motions['least effort'].summary()}")
    return motions


def durations(robot: aj.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray, Motion]:
    """Durations [s], the efforts of splines and of optimal motions of these durations, and the best of any duration."""
    times = np.linspace(1.0, 4.0, 9)
    splines = [spline_motion(robot, HANGING, UPRIGHT, T).effort for T in times]
    best = [optimal_motion(robot, HANGING, UPRIGHT, T).effort for T in times]
    return times, np.array(splines), np.array(best), optimal_motion(robot, HANGING, UPRIGHT, (1.0, 4.0))


def strobe(ax, name: str, motion: Motion) -> None:
    """Draws the arm at 16 times, later ones darker, and the path of its tip."""
    frames = ("link1", "link2")
    for k, q in enumerate(motion(np.linspace(0, motion.duration, 16)).q):
        points = np.vstack([np.zeros(2), aj.forward_kinematics(motion.robot, q, frames)[:, :2, 3]])
        ax.plot(*points.T, "o-", color=COLORS[name], alpha=0.15 + 0.85 * (k / 15) ** 2, ms=3, lw=2)
    tip = aj.forward_kinematics(motion.robot, motion(motion.times).q, "link2")[:, :2, 3]
    ax.plot(*tip.T, color="black", lw=0.7)
    ax.set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), xlabel="x [m]")
    ax.set_title(f"{name}\neffort {motion.effort:.3f} s, energy {motion.energy:.1f} J", fontsize=11)


def torques(ax, motions: dict[str, Motion], i: int) -> None:
    """Draws the torques of joint i over time, with its limit."""
    for name, motion in motions.items():
        t, tau = motion.torques()
        ax.plot(t, tau[:, i], color=COLORS[name], label=name)
    limit = motions["straight spline"].robot.effort_limit[i]
    for sign in (-1, 1):
        ax.axhline(sign * limit, ls=":", color="black", lw=1)
    ax.set(xlabel="time [s]", ylabel="torque [N m]", title=f"joint {i + 1}, limit {limit:g} N m", xlim=(0, DURATION))


def main() -> None:
    from matplotlib.figure import Figure

    robot = aj.robots.two_link().replace(effort_limit=np.array([25.0, 10.0]))
    motions = compare(robot)
    times, splines, best, free = durations(robot)
    print(f"\nof all durations between 1 and 4 s, {free.duration:.3f} s takes the least effort, {free.effort:.4f}")

    figure = Figure(figsize=(13, 8.5), layout="constrained")
    top, bottom = figure.subplots(2, 3)
    for ax, (name, motion) in zip(top, motions.items(), strict=True):
        strobe(ax, name, motion)
    top[0].set_ylabel("y [m]")
    torques(bottom[0], motions, 0)
    torques(bottom[1], motions, 1)
    bottom[0].legend(loc="lower left", bbox_to_anchor=(0, 0.08), frameon=False, fontsize=9)
    bottom[2].plot(times, splines, "s-", color=COLORS["straight spline"], label="straight spline")
    bottom[2].plot(times, best, "o-", color=COLORS["least effort"], label="least effort")
    bottom[2].plot(free.duration, free.effort, "*", ms=14, color="black", label="duration free")
    bottom[2].set(xlabel="duration [s]", ylabel="effort [s]", title="effort and duration", ylim=(0, None))
    bottom[2].legend(frameon=False)
    path = Path(__file__).parent / "output" / "minimum_effort.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
