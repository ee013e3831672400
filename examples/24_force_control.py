"""A PUMA against a compliant wall: forces and positions by four laws, beside theory, and a gain that is too high.

python examples/24_force_control.py     writes force_walls, force_hybrid and force_bound.png into output/
"""

from pathlib import Path
from typing import Any

import numpy as np

import adjoint as aj
from adjoint import control
from adjoint.control import TaskFrame
from adjoint.simulation import Run, contact, plane, simulate
from adjoint.trajectory import line, quintic

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560()
Q = np.array([0.0, -1.2, -3.0, 0.0, 4.2 - 1.5 * np.pi, 0.0])  # the tool points along x, to the wall
TOUCHING = aj.forward_kinematics(PUMA, Q, "tool")  # the tool's pose there
PRESS = 20.0  # [N] the force with which the tool shall press
PERIOD = 1e-3  # [s]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333")  # for colour-blind people, too

# Gains of the regulators: rotations first.
SPRING: dict[str, Any] = {"kp": np.array([60.0, 60, 60, 800, 800, 800]), "kd": np.array([12.0, 12, 12, 300, 300, 300])}


def wall(stiffness, **options):
    """The half space x > x of the tool, without friction if no other is given, as a force on the tool."""
    made = contact("tool", plane(TOUCHING[:3, 3], normal=(-1.0, 0, 0)), stiffness=1.0, **options)
    return made.replace(stiffness=stiffness)


def moved(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """The pose of the tool that touches the wall, shifted along the axes of the base [m]."""
    T = TOUCHING.copy()
    T[:3, 3] += [x, y, z]
    return T


def place(run: Run) -> np.ndarray:
    """Where the tool is (..., N, 3) [m], seen from the point of the wall that it touched first."""
    return aj.forward_kinematics(run.robot, run.q, "tool")[..., :3, 3] - TOUCHING[:3, 3]


def pressing(run: Run) -> np.ndarray:
    """The force (..., N) [N] along x that the tool exerts: run.wrench acts on the robot, and is seen from the tool."""
    R = aj.forward_kinematics(run.robot, run.q, "tool")[..., :3, :3]
    return -np.einsum("...j,...j->...", R[..., 0, :], run.wrench("tool")[..., 3:])


# --- forces at rest: theory and runs ----------------------------------------------------------------------------------


def parallel_against_walls() -> dict[str, tuple[np.ndarray, Run]]:
    """The parallel regulator, told to be 10 mm before the wall and 20 mm aside, at many walls; with and without ki."""
    stiffness = np.geomspace(1e3, 1e5, 9)
    force = np.array([0, 0, 0, PRESS, 0, 0])
    law = control.parallel(PUMA, moved(-0.01, 0.02), "tool", force=force, **SPRING, force_ki=2.0, period=PERIOD)
    walls, options = wall(stiffness, damping=1.0), {"q": Q, "duration": 6.0, "dt": PERIOD, "record": 10}
    found = {}
    for name, ki in (("with the integral", 2.0), ("without it", 0.0)):
        found[name] = stiffness, simulate(PUMA, law.replace(force_ki=ki), forces=walls, **options)
    print("parallel: x_d is 10 mm before the wall, f_d is 20 N; at rest")
    print("   wall [N/m]   f [N], ki = 2   f [N], ki = 0   theory [N]   x [mm]   y - y_d [mm]")
    ends = [pressing(run)[:, -1] for _, run in found.values()]
    x, y, _ = 1e3 * place(found["with the integral"][1])[:, -1].T
    for k in range(0, 9, 4):
        row = f"   {stiffness[k]:10.0f} {ends[0][k]:15.4f} {ends[1][k]:15.4f}"
        print(f"{row} {force_without_integral(stiffness[k]):12.4f} {x[k]:8.3f} {y[k] - 20:14.4f}")
    return found


def force_without_integral(k_e) -> np.ndarray:
    """f = f_d + kp e with e = -0.01 - f/k_e: the spring to x_d pulls the tool away from the wall."""
    kp = SPRING["kp"][3]
    return (PRESS - 0.01 * kp) / (1 + kp / k_e)


def yielding() -> None:
    """Impedance and admittance: told to be 10 mm inside the wall, both press as springs in a row do."""
    k_e, springs = 1e4, np.array([300.0, 1000, 3000])
    inside, options = moved(x=0.01), {"q": Q, "duration": 4.0, "dt": PERIOD, "record": 100}
    soft = control.impedance(PUMA, inside, "tool", stiffness=1.0, damping=np.array([12.0, 12, 12, 300, 300, 300]))
    stiff = control.operational(PUMA, inside, "tool", kp=2500.0, kd=100.0)
    led = control.admittance(stiff, stiffness=1.0, damping=600.0, inertia=10.0, period=PERIOD)
    # The law inside yields, too, like a spring of kp times the inertia of the tool.
    softness = {"impedance": 1 / springs + 1 / k_e, "admittance": 1 / springs + 1 / k_e + 1 / (2500 * tool_inertia(Q))}
    print("impedance and admittance: x_d is 10 mm inside a wall of 10 kN/m; forces at rest, and theory")
    for name, law in {"impedance": soft, "admittance": led}.items():
        run = simulate(PUMA, law.replace(stiffness=springs), forces=wall(k_e, damping=1.0), **options)
        for spring, f, theory in zip(springs, pressing(run)[:, -1], 0.01 / softness[name], strict=True):
            print(f"   {name:10} of {spring:4.0f} N/m: {f:8.4f} N, {theory:8.4f} N")


def tool_inertia(q: np.ndarray) -> float:
    """The inertia [kg] of the tool along x, if all other motions are free: 1/(J M⁻¹ Jᵀ)."""
    J = aj.jacobian(PUMA, q, "tool", expressed="world")[3]
    return float(1 / (J @ aj.mass_matrix_inverse(PUMA, q) @ J))


# --- hybrid -----------------------------------------------------------------------------------------------------------


def polish() -> dict[str, tuple[Run, np.ndarray]]:
    """The tool goes along a line on a wall with friction that is 2 degrees off: by the hybrid law, and by impedance."""
    way = line(moved(), moved(y=0.15, z=0.1), profile=quintic([0.0], [1.0], duration=1.5))
    inside = line(moved(x=0.01), moved(x=0.01, y=0.15, z=0.1), profile=quintic([0.0], [1.0], duration=1.5))
    gains: dict[str, Any] = {"kp": 400.0, "kd": 40.0, "force_kp": 0.1, "force_ki": 1.0, "force_kd": 40.0}
    task, stiff = TaskFrame.on_surface((-1.0, 0, 0), PRESS), np.array([200.0, 200, 200, 2000, 2000, 2000])
    laws = {
        "hybrid": control.hybrid(PUMA, way, "tool", task=task, **gains, period=PERIOD),
        "impedance": control.impedance(PUMA, inside, "tool", stiffness=stiff, damping=0.2 * stiff),
    }
    tilt = np.deg2rad(2.0)
    surface = contact(
        "tool", plane(TOUCHING[:3, 3], normal=(-np.cos(tilt), -np.sin(tilt), 0)), stiffness=2e4, damping=1.0,
        friction=0.2, slip=0.01,
    )  # fmt: skip
    print(f"180 mm along a wall that is 2 degrees off, with friction 0.2, pressing with {PRESS:g} N")
    found = {}
    for name, law in laws.items():
        run = simulate(PUMA, law, q=Q, duration=2.5, dt=PERIOD, record=5, forces=surface)
        off = 1e3 * (place(run) - (way(run.t, hold=True).T[:, :3, 3] - TOUCHING[:3, 3]))[:, 1:]
        f, off = pressing(run), np.linalg.norm(off, axis=-1)
        found[name] = run, off
        late = f[run.t > 0.3]
        forces = f"up to {f.max():.1f} N at first, {late.min():.3f} to {late.max():.3f} N after 0.3 s"
        print(f"   {name:10} {forces}; at most {off.max():.3f} mm off the line")
    return found


# --- the bound of the integral ----------------------------------------------------------------------------------------


def beyond_the_bound():
    """Runs of one axis with more and more integral action: they settle first, then gains change."""
    k_e, kp, kd = 1e4, 500.0, 150.0
    law = control.parallel(
        PUMA, TOUCHING, "tool", force=[0, 0, 0, PRESS, 0, 0], kp=kp, kd=kd, force_ki=3.0, period=PERIOD, part="x",
        posture=Q, null_kp=100.0, null_kd=20.0,
    )  # fmt: skip
    surface = wall(k_e)
    settled = simulate(PUMA, law, q=Q, duration=10.0, dt=PERIOD, record=1000, forces=surface)
    # Routh: m s³ + kd s² + (kp + k_e) s + force_ki k_e is stable below this
    m = tool_inertia(settled.q[-1])
    bound = kd * (kp + k_e) / (m * k_e)
    shares = np.linspace(0.5, 1.5, 21)
    # The integral holds the same force as before, force_ki ∫ Δf, and the set point steps by 0.5 N.
    state = settled.state[-1] * (3.0 / (shares[:, None] * bound))
    changed = law.replace(force_ki=shares * bound, state=state, force=np.array([0, 0, 0, PRESS + 0.5, 0, 0]))
    run = simulate(PUMA, changed, q=settled.q[-1], v=settled.v[-1], duration=3.0, dt=PERIOD, forces=surface)
    f = pressing(run)
    measured = np.array([growth(run.t, x - PRESS - 0.5) for x in f])
    theory = np.array([np.roots([m, kd, kp + k_e, share * bound * k_e]).real.max() for share in shares])
    print(f"parallel along one axis: the tool has {m:.2f} kg there, and the bound of force_ki is {bound:.3f} 1/s")
    print(f"   the runs begin to grow at {np.interp(0.0, measured, shares):.4f} of the bound")
    print(f"   their growth differs from the roots of the cubic by {np.abs(measured - theory).max():.3f} 1/s at most")
    return run, shares, f, measured, theory


def growth(t: np.ndarray, error: np.ndarray) -> float:
    """The growth [1/s] of an oscillation, by a line through the logarithms of its peaks, while the tool touches."""
    size = np.abs(error)
    peaks = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    lost = np.flatnonzero(size > 0.9 * PRESS)
    peaks = peaks[1:][t[peaks[1:]] < (t[lost[0]] if lost.size else np.inf)]
    peaks = peaks[size[peaks] > 1e-3]
    return float(np.polyfit(t[peaks], np.log(size[peaks]), 1)[0])


# --- pictures ---------------------------------------------------------------------------------------------------------


def finish(ax, **labels) -> None:
    """Labels, and no lines at the top and at the right."""
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)


def draw_walls(plt, found) -> None:
    """Forces and places over time at three walls, and forces at rest over the stiffness."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained")
    stiffness, run = found["with the integral"]
    f, p = pressing(run), 1e3 * place(run)
    for colour, k in zip(COLOURS, (0, 4, 8), strict=False):
        axes[0].plot(run.t, f[k], color=colour, label=f"wall of {stiffness[k] / 1e3:g} kN/m")
        axes[1].plot(run.t, p[k, :, 0], color=colour)
        axes[1].plot(run.t, p[k, :, 1], color=colour, ls="--")
    axes[0].axhline(PRESS, color="0.4", ls=":", lw=1)
    axes[1].axhline(20, color="0.4", ls=":", lw=1)
    axes[1].text(5.9, 17.2, "along the wall (dashed)", ha="right")
    axes[1].text(5.9, 3.0, "into the wall (solid)", ha="right")
    finish(axes[0], xlabel="time [s]", ylabel="force on the wall [N]", title="the force wins along the normal ...")
    finish(axes[1], xlabel="time [s]", ylabel="place [mm]", title="... and the position along the wall")
    axes[0].legend(frameon=False)
    at = np.geomspace(8e2, 1.25e5, 200)
    axes[2].semilogx(at, np.full(200, PRESS), color=COLOURS[0], lw=1)
    axes[2].semilogx(at, force_without_integral(at), color=COLOURS[1], lw=1)
    for colour, (name, (k_e, one)) in zip(COLOURS, found.items(), strict=False):
        axes[2].semilogx(k_e, pressing(one)[:, -1], "o", color=colour, mfc="white", label=name)
    finish(axes[2], xlabel="stiffness of the wall [N/m]", ylabel="force at rest [N]", title="theory (lines) and runs")
    axes[2].legend(frameon=False, loc="center right")
    figure.savefig(OUTPUT / "force_walls.png", dpi=90)


def draw_hybrid(plt, found: dict[str, tuple[Run, np.ndarray]]) -> None:
    """The way on the wall, the force, and how far the tool is off its line."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained")
    for colour, (name, (run, off)) in zip(COLOURS, found.items(), strict=False):
        p = 1e3 * place(run)
        axes[0].plot(p[:, 1], p[:, 0], color=colour, lw=1.5, label=name)
        axes[1].plot(run.t, pressing(run), color=colour, lw=1.5)
        axes[2].plot(run.t, off, color=colour, lw=1.5)
    y = np.array([0.0, 155.0])
    axes[0].fill_between(y, -y * np.tan(np.deg2rad(2.0)), 8, color="0.9")
    axes[0].text(100, 5, "wall")
    axes[1].axhline(PRESS, color="0.4", ls=":", lw=1)
    finish(axes[0], xlabel="y [mm]", ylabel="x, into the wall [mm]", title="seen from above", ylim=(-6.5, 8))
    axes[0].legend(frameon=False, loc="lower left")
    finish(axes[1], xlabel="time [s]", ylabel="force on the wall [N]", title="pressing", ylim=(0, None))
    finish(axes[2], xlabel="time [s]", ylabel="off the line, along the wall [mm]", title="friction pushes aside")
    figure.savefig(OUTPUT / "force_hybrid.png", dpi=90)


def draw_bound(plt, run: Run, shares, f, measured, theory) -> None:
    """Forces over time below and above the bound, and the growth of their errors."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.0), layout="constrained", width_ratios=(1.5, 1))
    for colour, share in zip((COLOURS[1], COLOURS[2], COLOURS[0]), (1.2, 0.95, 0.5), strict=True):
        k = int(np.argmin(np.abs(shares - share)))
        axes[0].plot(run.t, f[k], color=colour, lw=1.4, label=f"force_ki = {shares[k]:.2f} of the bound")
    finish(axes[0], xlabel="time [s]", ylabel="force on the wall [N]", title="after a step of 0.5 N")
    axes[0].legend(frameon=False, loc="upper left")
    axes[1].axhline(0, color="0.6", lw=1)
    axes[1].axvline(1, color="0.6", lw=1, ls=":")
    axes[1].plot(shares, theory, color=COLOURS[6], lw=1.2, label="roots of the cubic")
    axes[1].plot(shares, measured, "o", color=COLOURS[0], mfc="white", label="runs of the PUMA")
    finish(axes[1], xlabel="force_ki / bound", ylabel="growth of the error [1/s]", title="stable below 0")
    axes[1].legend(frameon=False)
    figure.savefig(OUTPUT / "force_bound.png", dpi=90)


def main() -> None:
    """Runs everything, prints it beside theory, and draws it if Matplotlib is there."""
    walls = parallel_against_walls()
    yielding()
    hybrid, bound = polish(), beyond_the_bound()
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    OUTPUT.mkdir(exist_ok=True)
    draw_walls(plt, walls)
    draw_hybrid(plt, hybrid)
    draw_bound(plt, *bound)
    print("wrote force_walls.png, force_hybrid.png and force_bound.png into output/")


if __name__ == "__main__":
    main()
