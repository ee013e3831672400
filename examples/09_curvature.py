"""The kinetic energy of a two-link arm as a geometry: its curvature for different designs, and its geodesics.

python examples/09_curvature.py     writes output/curvature.png
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.geometry import Geodesic, geodesic, geodesic_between, is_flat, sectional_curvature
from adjoint.lie import inertia
from adjoint.model import Robot

MASS = 2.0  # [kg] of both links together, which are rods of 1 m
RATIOS = np.geomspace(0.05, 20, 61)  # the mass of the second link over that of the first
CENTERS = np.linspace(-0.2, 0.5, 71)  # [m] from the elbow to the second link's centre of mass; 0.5 for a uniform rod
ELBOWS = np.radians(np.linspace(-180, 180, 181))
START, GOAL = np.array([-0.4, 1.9]), np.array([1.3, 0.5])


def curvature_of(robot: Robot, inertias, elbows) -> np.ndarray:
    """The curvature K (designs, elbows) of arms with inertias (designs, 2, 10), in one call.

    With two joints there is one plane of velocities, and K does not depend on the shoulder's angle.
    """
    q = np.stack([0 * elbows, elbows], axis=-1)
    fn = sectional_curvature.bind(robot, lift="inertias")
    return fn(q, *np.eye(2), inertias=inertias[:, None])


def shared_masses(robot: Robot) -> np.ndarray:
    """The inertias (designs, 2, 10) of arms of one total mass, which belongs to the first link or to the second."""
    shares = 2 * np.stack([1 / (1 + RATIOS), RATIOS / (1 + RATIOS)], axis=-1)
    return shares[..., None] * robot.inertias


def counterweights(robot: Robot) -> np.ndarray:
    """The inertias (designs, 2, 10) of arms whose second link is shifted towards the elbow and beyond it."""
    shift = np.tile(np.eye(4), (len(CENTERS), 1, 1))
    shift[:, 0, 3] = CENTERS - 0.5
    second = inertia.transform(shift, robot.inertias[1])
    return np.stack([np.broadcast_to(robot.inertias[0], second.shape), second], axis=1)


def kind(robot: Robot) -> str:
    return "flat" if is_flat(robot) else "curved"


def mean_energy(robot: Robot, q, v) -> float:
    """The mean kinetic energy [J] of a motion (n, 2) in one second."""
    return float(np.trapezoid(aj.kinetic_energy(robot, q, v), dx=1 / (len(q) - 1)))


def straight(start, goal, steps: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """q and v (steps + 1, 2) of the motion that is straight in the joints, in one second."""
    s = np.linspace(0, 1, steps + 1)[:, None]
    return start + s * (goal - start), np.broadcast_to(goal - start, (steps + 1, 2))


def draw_design(ax, name: str, designs, K) -> None:
    """Draws the curvature K (designs, elbows), with a line where it is 0."""
    drawn = ax.contourf(np.degrees(ELBOWS), designs, K, np.linspace(-3, 3, 25), cmap="RdBu_r")
    ax.contour(np.degrees(ELBOWS), designs, K, [0.0], colors="black", linewidths=1)
    ax.set(xlabel="elbow [°]", ylabel=name, title="curvature over design", xticks=range(-180, 181, 90))
    ax.figure.colorbar(drawn, ax=ax, label="K [1/(kg m²)]", ticks=range(-3, 4))
    print(f"{name}: {designs[0]:.2f} to {designs[-1]:.2f}")
    print(f"  largest |K| at every elbow: {np.abs(K).max(axis=1)[::10].round(2)}")


def draw_fan(ax, robot: Robot) -> None:
    """Draws geodesics of equal energy from one configuration in all directions, over the curvature that they cross."""
    q_0 = np.array([0.0, np.pi / 2])
    basis = np.linalg.inv(np.linalg.cholesky(aj.mass_matrix(robot, q_0)))
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    v = np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ basis  # all have the same kinetic energy
    found = geodesic(robot, q_0, v, 3.0, 150)
    elbow = np.radians(np.linspace(-120, 300, 211))
    K = curvature_of(robot, robot.inertias[None], elbow)[0]
    extent = (-200, 200, -120, 300)
    ax.imshow(
        K[:, None], cmap="RdBu_r", vmin=-abs(K).max(), vmax=abs(K).max(), extent=extent, origin="lower", alpha=0.5
    )
    for q in np.degrees(found.q):
        ax.plot(*q.T, color="black", lw=0.7)
    ax.plot(*np.degrees(q_0), "o", color="tab:orange")
    ax.set(xlim=extent[:2], ylim=extent[2:], aspect="auto", xlabel="shoulder [°]", ylabel="elbow [°]")
    ax.set_title("motions without torque, equal masses")
    energy = aj.kinetic_energy(robot, found.q, found.v)
    print(f"{len(angle)} geodesics of 3 s keep their energy to {np.ptp(energy, axis=-1).max() / energy.max():.0e}")


def draw_motions(ax, robot: Robot, best: Geodesic) -> None:
    """Draws the arm in the straight motion and along the geodesic."""
    for (q, _), color, label in (
        (straight(START, GOAL), "tab:gray", "straight in the joints"),
        ((best.q, best.v), "tab:orange", "geodesic"),
    ):
        T = aj.forward_kinematics(robot, q, None)
        for k in range(0, len(q), 20):
            ax.plot(*np.transpose([[0, 0], *T[k, :, :2, 3]]), "o-", color=color, lw=1, ms=2, alpha=0.6)
        ax.plot(*T[:, 1, :2, 3].T, color=color, lw=2.5, label=label)
    ax.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="the same two ends, the same time")
    ax.set_xlim(-1, 1.6)
    ax.legend(frameon=False, loc="lower left")


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    robot = aj.robots.two_link(mass_1=MASS / 2, mass_2=MASS / 2, g=0.0)
    masses, weights = shared_masses(robot), counterweights(robot)
    balanced = robot.replace(inertias=weights[np.argmin(np.abs(CENTERS))])
    print(f"two rods are {kind(robot)}, with the second balanced about the elbow they are {kind(balanced)}")
    fig, axes = plt.subplots(2, 2, figsize=(12, 9.5), layout="constrained")
    draw_design(axes[0, 0], "mass of link 2 / link 1", RATIOS, curvature_of(robot, masses, ELBOWS))
    axes[0, 0].set_yscale("log")
    draw_design(axes[0, 1], "centre of link 2 beyond the elbow [m]", CENTERS, curvature_of(robot, weights, ELBOWS))
    draw_fan(axes[1, 0], robot)
    best = geodesic_between(robot, START, GOAL)
    draw_motions(axes[1, 1], robot, best)
    plain, least = mean_energy(robot, *straight(START, GOAL)), mean_energy(robot, best.q, best.v)
    print(f"from {START} to {GOAL} in 1 s, mean kinetic energy: straight in the joints {plain:.3f} J, ", end="")
    print(f"geodesic {least:.3f} J ({1 - least / plain:.0%} less)")
    path = Path(__file__).parent / "output" / "curvature.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
