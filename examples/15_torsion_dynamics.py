"""Chain molecules in a heat bath: how rigid bonds change the statistics, and how Fixman's potential corrects that.

python examples/15_torsion_dynamics.py     writes output/torsion_dynamics.png
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import polymer
from adjoint.lie import inertia
from adjoint.model import Robot
from adjoint.polymer import Polymer

REPLICAS = 4000
COLORS = {False: "tab:red", True: "tab:blue"}
LABELS = {False: "rigid bonds", True: "with Fixman's potential"}


# --- statistics of small chains ---------------------------------------------------------------------------------------


def trimer(middle: float, spin: float) -> Robot:
    """Three balls of masses 1, `middle`, 1 on two rigid bonds of unit length, with a ball joint at the second."""
    balls = [
        inertia.from_central.eager(mass, np.array([x, 0.0, 0.0]), spin * np.eye(3))
        for mass, x in ((1.0, -1.0), (middle, 0.0), (1.0, 1.0))
    ]
    builder = Robot.builder("trimer", base="free", gravity=(0, 0, 0))
    builder.link("first", balls[0] + balls[1]).link("second", balls[2])
    return builder.joint("middle", "spherical", "first", "second").build()


def trimer_cosines(fixman: bool) -> np.ndarray:
    """Cosines of the angle between the two bonds of the trimer, in equilibrium."""
    robot, rng = trimer(0.2, 0.1), np.random.default_rng(0)
    q = aj.random_configuration(robot, REPLICAS, rng=rng)
    v = aj.dynamics.random_velocity(robot, q, rng=rng, kT=1.0)
    path = polymer.langevin(robot, q, v, dt=0.1, steps=400, kT=1.0, friction=1.0, fixman=fixman, every=10, rng=rng)
    R = aj.forward_kinematics(robot, path.q[5:])
    return np.sum(R[..., 0, :3, 0] * R[..., 1, :3, 0], axis=-1).ravel()


def trimer_density(angle, fixman: bool) -> np.ndarray:
    """The density P(θ) of the angle: ∝ sin θ √(1 - κ cos²θ) for rigid bonds, and ∝ sin θ for springs.

    κ = c² / (a b), where a, b and c are the entries of the metric of the two bond vectors.
    """
    a, b, c = 1.2 / 2.2 + 0.2, 1.2 / 2.2 + 0.1, 1 / 2.2
    density = np.sin(angle) * (1.0 if fixman else np.sqrt(1 - c**2 / (a * b) * np.cos(angle) ** 2))
    return density / np.trapezoid(density, angle)


def torsions(chain: Polymer, fixman: bool) -> np.ndarray:
    """Torsions of a chain of four beads, in equilibrium."""
    rng = np.random.default_rng(1)
    q = uniform(chain, rng, REPLICAS)
    v = aj.dynamics.random_velocity(chain.robot, q, rng=rng, kT=1.0)
    path = polymer.langevin(
        chain.robot, q, v, dt=0.08, steps=500, kT=1.0, friction=1.0, fixman=fixman, every=10, rng=rng
    )
    return np.angle(np.exp(1j * path.q[5:, :, -1])).ravel()


def torsion_density(chain: Polymer, angle) -> np.ndarray:
    """The density P(φ) ∝ √det M(φ) of the torsion for rigid bonds."""
    q = np.concatenate([np.tile(chain.q[:-1], (len(angle), 1)), angle[:, None]], axis=1)
    density = np.exp(0.5 * aj.mass_matrix_logdet(chain.robot, q))
    return density / np.trapezoid(density, angle)


# --- ideal chains -----------------------------------------------------------------------------------------------------


def uniform(chain: Polymer, rng: np.random.Generator, count: int) -> np.ndarray:
    """Configurations with all torsions equally probable."""
    q = np.tile(chain.q, (count, 1))
    q[:, 7:] = rng.uniform(-np.pi, np.pi, (count, chain.robot.nq - 7))
    return q


def bond_correlations(chain: Polymer, q) -> np.ndarray:
    """The correlations <b_1 · b_k>/b² of bond vectors over configurations q (count, nq)."""
    b = np.diff(chain.positions(q), axis=-2)
    return np.mean(np.sum(b[:, :1] * b, axis=-1), axis=0) / np.sum(b[0, 0] ** 2)


def end_to_end(x) -> np.ndarray:
    """Distances (...) between the first and the last of the points x (..., k, 3)."""
    return np.linalg.norm(x[..., -1, :] - x[..., 0, :], axis=-1)


def unfolding(helix: Polymer, duration: float, dt: float = 5e-3, every: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Times [ps], and backbones (times, replicas, atoms, 3) [Å] of helices whose atoms do not feel each other."""
    rng, kT = np.random.default_rng(2), polymer.BOLTZMANN * 300
    q = np.tile(helix.q, (128, 1))
    v = aj.dynamics.random_velocity(helix.robot, q, rng=rng, kT=kT)
    steps = round(duration / dt)
    path = polymer.langevin(
        helix.robot, q, v, dt=dt, steps=steps, kT=kT, friction=0.5, fixman=True, every=every, rng=rng
    )
    temperature = 2 * aj.kinetic_energy(helix.robot, path.q, path.v).mean() / helix.robot.nv / polymer.BOLTZMANN
    print(f"{helix.robot.nv} degrees of freedom, 128 replicas, {steps} steps: mean temperature {temperature:.1f} K")
    return path.t, helix.positions(path.q)[..., backbone(helix), :]


def backbone(chain: Polymer) -> list[int]:
    """The numbers of the atoms N, CA and C."""
    return [k for k, atom in enumerate(chain.atoms) if atom.name in ("N", "CA", "C")]


# --- pictures ---------------------------------------------------------------------------------------------------------


def draw_trimer(ax) -> None:
    angle = np.linspace(0, np.pi, 200)
    for fixman in (False, True):
        cosine = trimer_cosines(fixman)
        ax.hist(np.degrees(np.arccos(cosine)), 45, density=True, histtype="step", color=COLORS[fixman])
        ax.plot(np.degrees(angle), np.radians(trimer_density(angle, fixman)), color=COLORS[fixman], lw=1, ls="--")
        print(f"trimer, {LABELS[fixman]}: <cos²θ> {np.mean(cosine**2):.4f}, ", end="")
        print(f"theory {np.trapezoid(np.cos(angle) ** 2 * trimer_density(angle, fixman), angle):.4f}")
    ax.set(
        xlabel="angle between the bonds [°]",
        ylabel="probability [1/°]",
        title="freely jointed trimer, light middle bead",
    )


def draw_torsion(ax) -> None:
    chain = polymer.bead_chain(4, 1.0, mass=1.0)
    angle = np.linspace(-np.pi, np.pi, 181)
    for fixman in (False, True):
        ax.hist(np.degrees(torsions(chain, fixman)), 60, density=True, histtype="step", color=COLORS[fixman])
        density = np.full_like(angle, 0.5 / np.pi) if fixman else torsion_density(chain, angle)
        label = f"{LABELS[fixman]}; dashed: theory"
        ax.plot(np.degrees(angle), np.radians(density), color=COLORS[fixman], lw=1, ls="--", label=label)
    ax.set(
        xlabel="torsion [°]", ylabel="probability [1/°]", ylim=(0.0018, 0.0035), title="four beads, bond angles 112°"
    )
    ax.set_xticks(range(-180, 181, 90))
    ax.legend(frameon=False, loc="lower center", fontsize=8)


def draw_correlations(ax) -> None:
    chain, c = polymer.bead_chain(10), -np.cos(np.radians(112.0))
    found = bond_correlations(chain, uniform(chain, np.random.default_rng(3), 100_000))
    k = np.arange(len(found))
    ax.semilogy(k, np.abs(found), "o", color="tab:blue", label="ten beads, torsions sampled")
    ax.semilogy(k, c**k, color="black", lw=1, label="(-cos 112°)$^k$")
    ax.axhspan(1e-4, (3e5) ** -0.5, color="tab:gray", alpha=0.2, lw=0, label="statistical error")
    ax.set(
        xlabel="k",
        ylim=(2e-4, 2),
        ylabel="$\\langle b_1 \\cdot b_{1+k}\\rangle / b^2$",
        title="freely rotating chain: bonds forget",
    )
    ax.legend(frameon=False)


def draw_gaussian(ax) -> None:
    r = np.linspace(0, 2.5, 200)
    for n, color in ((8, "tab:orange"), (20, "tab:green"), (100, "tab:blue")):
        chain = polymer.bead_chain(n)
        R = end_to_end(chain.positions(uniform(chain, np.random.default_rng(n), 20_000)))
        ax.hist(R / np.sqrt(np.mean(R**2)), 60, density=True, histtype="step", color=color, label=f"{n} beads")
    ax.plot(r, np.sqrt(54 / np.pi) * r**2 * np.exp(-1.5 * r**2), color="black", lw=1, ls="--", label="Gaussian chain")
    ax.set(xlabel="end-to-end distance / its root mean square", ylabel="probability", title="long chains are Gaussian")
    ax.legend(frameon=False)


def draw_unfolding(ax, helix: Polymer, t, x) -> None:
    R = end_to_end(x)
    ideal = end_to_end(helix.positions(uniform(helix, np.random.default_rng(4), 20_000))[:, backbone(helix)])
    low, high = np.quantile(R, [0.1, 0.9], axis=1)
    ax.fill_between(t, low, high, color="tab:blue", alpha=0.2, label="10 to 90 % of 128 replicas")
    ax.plot(t, R.mean(axis=1), color="tab:blue", label="mean")
    ax.axhline(ideal.mean(), color="black", lw=1, ls="--", label="torsions equally probable")
    ax.set(xlabel="time [ps]", ylabel="end-to-end distance [Å]", title="ten alanines, from an α helix, 300 K")
    ax.set_ylim(6, 31)
    ax.legend(frameon=False, loc="upper right")
    print(f"end-to-end distance {R[0, 0]:.1f} Å, in the end {R[-20:].mean():.1f} Å; ideal chain {ideal.mean():.1f} Å")


def draw_backbones(ax, x) -> None:
    for k, color in ((-1, "tab:gray"), (2, "tab:orange"), (0, "tab:blue")):
        for replica in range(1 if k == 0 else 6):
            ax.plot(
                *(x[k, replica] - x[k, replica, 0]).T, color=color, lw=2.5 if k == 0 else 1, alpha=1 if k == 0 else 0.7
            )
    ax.set_box_aspect((1, 1, 1), zoom=0.88)
    ax.set(xlabel="x [Å]", ylabel="y [Å]", zlabel="z [Å]")
    ax.set_title("helix (blue), soon after (orange), in the end (gray)")


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig = plt.figure(figsize=(15, 9), layout="constrained")
    axes = [fig.add_subplot(2, 3, k + 1, **({"projection": "3d"} if k == 5 else {})) for k in range(6)]
    draw_trimer(axes[0])
    draw_torsion(axes[1])
    draw_correlations(axes[2])
    draw_gaussian(axes[3])
    helix = polymer.polypeptide("AAAAAAAAAA", phi=np.radians(-57.8), psi=np.radians(-47.0))
    t, x = unfolding(helix, 25.0)
    draw_unfolding(axes[4], helix, t, x)
    draw_backbones(axes[5], x)
    path = Path(__file__).parent / "output" / "torsion_dynamics.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=110)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
