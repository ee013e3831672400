"""A four-bar linkage, which is a tree of three bars with one loop: its coupler curve, motor torque and free swing.

python examples/07_closed_loops.py     writes output/closed_loops.png
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

import adjoint as aj
from adjoint import Robot, kernel, scan, static
from adjoint.dynamics.closed_loops import (
    Loop,
    close_loops,
    consistent_velocity,
    constrained_forward_dynamics,
    constrained_inverse_dynamics,
    loop_error,
)
from adjoint.dynamics.energy import kinetic_energy, potential_energy
from adjoint.lie import inertia, se3

BARS = {"crank": 0.35, "coupler": 0.9, "rocker": 0.7}  # lengths [m]; the ground is 1 m
STEP, STEPS = 1e-3, 4000  # [s]


def shift(x: float, y: float = 0.0) -> np.ndarray:
    """The motion (4, 4) that shifts by (x, y, 0)."""
    return se3.from_rotation_translation(np.eye(3), [x, y, 0.0])


def four_bar() -> tuple[Robot, tuple[Loop, ...]]:
    """The tree of bars, which move in a vertical plane and turn about z, and the loop that makes it a linkage."""
    builder = Robot.builder("four-bar", gravity=(0.0, -9.81, 0.0)).link("ground")
    for name, length in BARS.items():
        builder.link(name, inertia.transform(shift(length / 2), inertia.box(2.0 * length, [length, 0.05, 0.02])))
    builder.joint("crank", "revolute", "ground", "crank")
    builder.joint("coupler", "revolute", "crank", "coupler", shift(BARS["crank"]))
    builder.joint("rocker", "revolute", "ground", "rocker", shift(1.0))
    builder.frame("coupler end", "coupler", shift(BARS["coupler"])).frame("pen", "coupler", shift(0.45, 0.4))
    builder.frame("rocker end", "rocker", shift(BARS["rocker"]))
    return builder.build(), (Loop("coupler end", "rocker end", "hinge"),)


class Motion(NamedTuple):
    """Configurations and velocities, (steps, 3) each."""

    q: np.ndarray
    v: np.ndarray


@kernel(robot=static, loops=static, q="nq", v="nv", steps=static)
def swing(robot: Robot, loops, q, v, dt, steps) -> Motion:
    """The `Motion` without torques from q and v, by classical Runge-Kutta steps that are compiled as one loop."""

    def rates(q, v):
        return v, constrained_forward_dynamics(robot, loops, q, v, np.zeros(robot.nv)).a

    def step(now, _):
        q, v = now
        v1, a1 = rates(q, v)
        v2, a2 = rates(q + dt / 2 * v1, v + dt / 2 * a1)
        v3, a3 = rates(q + dt / 2 * v2, v + dt / 2 * a2)
        v4, a4 = rates(q + dt * v3, v + dt * a3)
        now = q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return now, now

    _, (path, rates_of_path) = scan(step, (q, v), None, steps)
    return Motion(path, rates_of_path)


def turn_of_the_crank(robot: Robot, loops) -> np.ndarray:
    """Closed configurations (n, 3) over one turn of the crank; the search for each starts from the first one."""
    angle = np.linspace(0, 2 * np.pi, 361)
    start = close_loops(robot, loops, [0.0, 0.9, 1.7], held=["crank"])
    return close_loops(robot, loops, np.stack([angle, start[1] - angle, 0 * angle + start[2]], axis=-1), held=["crank"])


def draw_linkage(ax, robot: Robot, turn: np.ndarray) -> None:
    """Draws the linkage at eight crank angles, and the coupler curve."""

    def points(frame, q):
        return aj.forward_kinematics(robot, q, frame)[..., :2, 3]

    for k, q in enumerate(turn[:-1:45]):
        color = "black" if k == 1 else "0.75"
        joints = [points(name, q) for name in ("crank", "coupler", "coupler end", "rocker")]
        ax.plot(*np.transpose(joints), "o-", color=color, lw=3 if k == 1 else 1, ms=4, zorder=2 if k == 1 else 1)
        ax.fill(*np.transpose([*joints[1:3], points("pen", q)]), color="tab:orange", alpha=0.4 if k == 1 else 0.06)
    ax.plot(*points("pen", turn).T, color="tab:orange", lw=2, label="coupler curve")
    ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="one turn of the crank")
    ax.legend(frameon=False)


def draw_energy(ax, robot: Robot, motion: Motion) -> np.ndarray:
    """Draws the energies over time; the result is their sum (steps,) [J]."""
    kinetic, potential = kinetic_energy(robot, *motion), potential_energy(robot, motion.q)
    t = STEP * np.arange(1, STEPS + 1)
    for name, energy in (("kinetic", kinetic), ("potential", potential), ("sum", kinetic + potential)):
        ax.plot(t, energy, label=name, color="black" if name == "sum" else None)
    ax.set(xlabel="time [s]", ylabel="energy [J]", title="free swing", ylim=(-0.5, 16.5))
    ax.legend(frameon=False, ncols=3, loc="upper center")
    return kinetic + potential


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    robot, loops = four_bar()
    print(robot)
    print(*loops)
    turn = turn_of_the_crank(robot, loops)
    print(f"closed at {len(turn)} crank angles; the rocker swings over {np.degrees(np.ptp(turn[:, 2])):.1f}°")

    rest = np.zeros(3)
    v = consistent_velocity(robot, loops, turn, [1.0, 0.0, 0.0], ("crank",))
    print(f"with the crank at 1 rad/s, the rocker turns at up to {np.abs(v[:, 2]).max():.2f} rad/s")
    hold = constrained_inverse_dynamics(robot, loops, turn, rest, rest, ("crank",)).tau
    print(f"to hold it, the crank's motor needs {hold.min():.2f} to {hold.max():.2f} N m")

    motion = swing(robot, loops, turn[45], rest, STEP, STEPS)
    fig, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    draw_linkage(left, robot, turn)
    energy = draw_energy(right, robot, motion)
    print(f"free swing of {STEP * STEPS:g} s: energy drifts by {np.ptp(energy):.1e} J, ", end="")
    print(f"the loop opens by {np.abs(loop_error(robot, loops, motion.q)).max():.1e} m")
    path = Path(__file__).parent / "output" / "closed_loops.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=150)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
