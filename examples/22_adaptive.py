"""Adaptive control: a PUMA 560 with loads that no law knows, and how parameters converge.

python examples/22_adaptive.py     writes adaptive_errors.png and adaptive_parameters.png into output/
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import control
from adjoint.control import Fit, recursive_least_squares
from adjoint.dynamics import parameters
from adjoint.lie import inertia
from adjoint.simulation import Run, simulate

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560()  # what the laws know
HOME = np.array([0.0, -0.5, 0.5, 0.0, 0.3, 0.0])
MOVE = aj.trajectory.quintic(HOME, HOME + np.array([1.0, 0.6, -0.7, 0.5, 0.4, 0.5]), duration=2.0)
PLANTS = ("as the model", "10 % heavier", "and 1.135 kg", "and 2.27 kg")  # 2.27 kg are 5 lb, the book's largest load

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333")  # for colour-blind people, too


# --- the table --------------------------------------------------------------------------------------------------------


def plants() -> np.ndarray:
    """Inertias (4, 6, 10) of the robots that are controlled: the model, heavier links, and loads in the hand."""
    heavy = PUMA.replace(inertias=1.1 * PUMA.inertias)
    loaded = [heavy.with_payload("tool", inertia.sphere(mass, 0.05)).inertias for mass in (1.135, 2.27)]
    return np.stack([PUMA.inertias, heavy.inertias, *loaded])


def laws(omega: float = 20.0) -> dict[str, control.Law]:
    """Laws of the same stiffness as far as they have one: ω² e + 2 ω e' + e'' = 0."""
    J = np.diagonal(aj.mass_matrix(PUMA, HOME))
    return {
        "PD + gravity": control.pd(MOVE, kp=omega**2 * J, kd=2 * omega * J, gravity=True, model=PUMA),
        "computed torque": control.computed_torque(PUMA, MOVE, kp=omega**2),
        "sliding mode, layer": control.sliding_mode(PUMA, MOVE, slope=omega, gain=5 * J, layer=0.05, equivalent=True),
        "model reference": control.model_reference(PUMA, MOVE, frequency=omega, rate=0.1),
        "self-tuning": control.self_tuning(PUMA, MOVE),
        "perturbation": control.perturbation(PUMA, MOVE),
        "resolved motion": control.resolved_motion_adaptive(PUMA, MOVE, frame="tool"),
        "Slotine-Li": control.slotine_li(
            PUMA, MOVE, slope=omega / 2, gain=2 * omega * J, adaptation=10.0, joints=("armature",)
        ),
    }  # fmt: skip


def table() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Prints errors of all laws with all plants; returns times and errors (4, N, 6) [°]."""
    found, t = {}, np.zeros(0)
    print(f"{'largest error [°], and after 4 s':33}" + "".join(f"{name:>19}" for name in PLANTS))
    for name, law in laws().items():
        run = simulate(PUMA, law, q=HOME, duration=4.0, dt=1e-3, lift={"inertias": plants()})
        t, off = run.t, np.degrees(np.abs(run.error))
        found[name] = off
        worst = off.max(axis=-1)
        print(f"{name:33}" + "".join(f"{e.max():10.4f} {e[-1]:8.4f}" for e in worst))
    return t, found


def table_5_2(errors: dict[str, np.ndarray]) -> None:
    """Prints whether laws are better than computed torque at each of the joints 1 to 3 with each load, as Table 5.2."""
    for name in ("perturbation", "resolved motion"):
        computed, adaptive = errors["computed torque"][1:, :, :3], errors[name][1:, :, :3]
        ratio, last = computed.max(axis=1) / adaptive.max(axis=1), adaptive[:, -1] < computed[:, -1]
        print(
            f"{name}: smaller largest errors than computed torque at {(ratio > 1).sum()} of 9 joints and loads, by "
            f"factors from {ratio.min():.2g} to {ratio.max():.2g}; smaller last errors at {last.sum()} of 9"
        )


# --- parameters -------------------------------------------------------------------------------------------------------


def square(t):
    """A target that jumps between -1 and 1 m."""
    r = np.sign(np.sin(t)) * np.ones(1)
    return control.Target(r, 0 * r, 0 * r)


def model_reference() -> Run:
    """A mass on a rail whose servo gains start wrong, with three rates of adaptation."""
    builder = aj.Robot.builder("slider", gravity=(0, 0, 0)).link("ground").link("mass", inertia.sphere(0.5, 0.1))
    slider = builder.joint("rail", "prismatic", "ground", "mass", axis=(1, 0, 0)).build()
    law = control.model_reference(slider, square, frequency=4.0, start=(2.0, 0.6), gravity=False, bound=100.0)
    run = simulate(slider, law.replace(rate=np.array([1.0, 5.0, 10.0])), duration=60.0, dt=1e-3, record=50)
    ends = np.stack([run.state.alpha, run.state.beta], axis=-1)[:, -1, 0] * np.array([16.0, 2.0])
    for rate, (alpha, beta) in zip((1, 5, 10), ends, strict=True):
        print(f"model reference, rate {rate:2}: α/a = {alpha:.3f} and β/b = {beta:.3f} after 60 s")
    return run


def least_squares() -> dict[str, np.ndarray]:
    """Estimates of the coefficient b of y(k) = a y(k-1) + b u(k-1) + noise; b falls from 1 to 0.5 on the way."""
    rng, steps = np.random.default_rng(0), 400
    u, noise, y = rng.normal(size=steps), 0.05 * rng.normal(size=steps), np.zeros(steps)
    b = np.where(np.arange(steps) < 200, 1.0, 0.5)
    for k in range(1, steps):
        y[k] = 0.8 * y[k - 1] + b[k - 1] * u[k - 1] + noise[k]
    found = {"true": b}
    for name, forget in (("ρ = 0.95, divided by ρ", True), ("ρ = 0.95, as (5.8-33) is printed", False)):
        fit, rows = Fit(np.zeros(2), 1e3 * np.eye(2)), []
        for k in range(1, steps):
            psi = np.array([y[k - 1], u[k - 1]])
            fit = recursive_least_squares(fit, psi, y[k], 0.95, forget=forget)
            rows.append(fit.theta[1])
        found[name] = np.array(rows)
        print(f"least squares, {name:33}: b = {rows[198]:.3f} before the change, {rows[-1]:.3f} 200 steps after it")
    return found


def wave(t):
    """A motion of two joints that shows all parameters."""
    one, two = 0.6 * np.sin(1.3 * t) + 0.4 * np.sin(3.1 * t), 0.5 * np.sin(2.3 * t) + 0.5 * np.sin(1.7 * t)
    return np.stack([one, two])


def slotine_li() -> tuple[Run, np.ndarray, np.ndarray]:
    """The two-link arm with a second link that is 50 % heavier: base parameters (N, 6) over time, and the true ones."""
    arm, plant = aj.robots.two_link(), aj.robots.two_link(mass_2=1.5)
    law = control.slotine_li(arm, wave, slope=10.0, gain=20.0, adaptation=1.0, joints=())
    run = simulate(plant, law, q=np.zeros(2), v=[2.02, 2.0], duration=100.0, dt=1e-3, record=100)
    base, off = aj.base_parameters(arm), np.degrees(np.abs(run.error)).max(axis=-1)
    found, true = base.to_base(run.state), base.to_base(parameters(plant))
    mass = run.state[-1, 10]
    print(f"Slotine-Li: {off.max():.3f}° off at most, {off[-100:].max():.3f}° in the last 10 s")
    first, last = np.abs(found[[0, -1]] - true).max(axis=-1)
    print(f"   base parameters off by {first:.3f} at first, {last:.3f} in the end")
    print(f"   but the mass of link 2, which torques do not show alone, is taken for {mass:.3f} kg instead of 1.5")
    return run, found, true


# --- pictures ---------------------------------------------------------------------------------------------------------


def finish(ax, **labels) -> None:
    """Labels, and no lines at the top and at the right."""
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)


def draw_errors(plt, t: np.ndarray, errors: dict[str, np.ndarray]) -> None:
    """Errors over time with the model itself, and with the largest load."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    styles = ("--", "--", "--", "-", "-", "-", "-", "-")
    colours = ("0.6", "0.35", "black", *COLOURS[:5])
    for colour, style, (name, off) in zip(colours, styles, errors.items(), strict=True):
        for ax, plant in zip(axes, (0, 3), strict=True):
            ax.semilogy(t, np.maximum(off[plant].max(axis=-1), 1e-9), style, color=colour, lw=1.6, label=name)
    for ax, title in zip(axes, (PLANTS[0], "links 10 % heavier, and 2.27 kg"), strict=True):
        ax.axvline(MOVE.duration, color="0.7", lw=1, ls=":")
        finish(ax, title=title, xlabel="time [s]", ylim=(1e-4, 3))
    axes[0].set_ylabel("error of the worst joint [°]")
    axes[0].text(MOVE.duration + 0.03, 1.6, "the reference rests", fontsize=8, color="0.4")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(OUTPUT / "adaptive_errors.png", dpi=90)


def draw_parameters(plt, servo: Run, series: dict[str, np.ndarray], arm: tuple) -> None:
    """Gains of a model-reference servo, least squares with a change, and base parameters of an arm."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for k, (rate, colour) in enumerate(zip((1, 5, 10), (*COLOURS[:2], "0.75"), strict=True)):
        axes[0].plot(servo.t, 16 * servo.state.alpha[k, :, 0], color=colour, lw=1.6, label=f"rate {rate}")
        axes[0].plot(servo.t, 2 * servo.state.beta[k, :, 0], "--", color=colour, lw=1.2, zorder=1)
    axes[0].legend(frameon=True, framealpha=1, edgecolor="none", fontsize=9, loc="upper right")
    axes[0].text(3.5, 2.62, "lines: α/a\ndashes: β/b", fontsize=8, color="0.3")
    finish(axes[0], title="model reference", xlabel="time [s]", ylabel="part of the wanted", xlim=(0, 14), ylim=(0, 3))
    for (name, b), colour in zip(series.items(), ("black", *COLOURS), strict=False):
        axes[1].plot(b, ":" if name == "true" else "-", color=colour, lw=1.6, label=name)
    axes[1].legend(frameon=False, fontsize=9, loc="lower left")
    finish(axes[1], title="least squares: b changes", xlabel="step", ylabel="b", ylim=(0, 1.2))
    run, found, true = arm
    for row, value, colour in zip(found.T, true, COLOURS, strict=False):
        axes[2].plot(run.t, row, color=colour, lw=1.6)
        axes[2].axhline(value, color=colour, lw=1, ls=":")
    finish(
        axes[2], title="Slotine-Li: base parameters", xlabel="time [s]", ylabel="kg m, kg m²; dots: true", xlim=(0, 30)
    )
    figure.savefig(OUTPUT / "adaptive_parameters.png", dpi=90)


def main() -> None:
    """Runs all laws, prints what they do, and draws it if Matplotlib is there."""
    t, errors = table()
    table_5_2(errors)
    servo, series, arm = model_reference(), least_squares(), slotine_li()
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    OUTPUT.mkdir(exist_ok=True)
    draw_errors(plt, t, errors)
    draw_parameters(plt, servo, series, arm)
    print("wrote adaptive_errors.png and adaptive_parameters.png into output/")


if __name__ == "__main__":
    main()
