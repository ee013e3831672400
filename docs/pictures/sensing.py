"""Draws the pictures of docs/sensing.md: python docs/pictures/sensing.py"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.lie import inertia
from adjoint.sensing.gating import gated_sonar, gating_waveforms
from adjoint.sensing.light_sheet import SheetOfLight, stripe_distance_sigma, stripe_table
from adjoint.sensing.noise import Noise, noisy
from adjoint.sensing.phase_ranging import TwoPhaseRange, phase_shifts, unwrapped_distance, unwrapping_confidence
from adjoint.sensing.tactile_arrays import TactileScan, tactile_currents, tactile_resistances
from adjoint.sensing.tool_loads import tool_wrench
from adjoint.sensing.triangulation import Triangulation, triangulated_sigma, triangulation_angles
from adjoint.sensing.wrist_gauges import cross_bar_sensor
from adjoint.sensing.wrist_runs import wrist_readings
from adjoint.simulation import contact, plane, simulate

IMAGES = Path(__file__).parents[1] / "images"


def ranges() -> None:
    """Three range sensors and their errors."""
    figure = new_figure("sensing", (10, 3.1), layout="constrained")
    sheet, angle, phase = figure.subplots(1, 3)
    sensor = SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)
    k, D = np.arange(256), stripe_table(sensor)
    sheet.plot(k, D)
    sheet.fill_between(k, *(D + 30 * s * stripe_distance_sigma(sensor, k, sigma=0.5) for s in (-1, 1)), alpha=0.25)
    sheet.set(title="sheet of light", xlabel="column k", ylabel="distance [m]; band: 15 columns")
    for baseline in (0.1, 0.3, 1.0):
        x = np.linspace(0.1, 5, 100)
        source = triangulation_angles(Triangulation(baseline), baseline, x).source
        sigma = triangulated_sigma(Triangulation(baseline), source, source_sigma=1e-3)
        angle.loglog(x, 1e3 * sigma, label=f"baseline {baseline:g} m")
    angle.set(title="triangulation, angles to 1 mrad", xlabel="distance [m]", ylabel="standard deviation [mm]")
    angle.legend()
    rng, sigmas = np.random.default_rng(0), np.geomspace(3e-3, 0.3, 60)
    for pair in ((30e6, 40e6), (30e6, 31e6), (300e6, 301e6)):
        laser = TwoPhaseRange(*pair)
        right = [unwrapping_confidence(laser, sigma=s) for s in sigmas]
        name = f"{pair[0] / 1e6:g} and {pair[1] / 1e6:g} MHz, {laser.ambiguity:.0f} m"
        phase.semilogx(sigmas, right, label=name)
        d, tried = rng.uniform(0, laser.ambiguity, 2000), sigmas[::5]
        right = []
        for one in tried:
            found = unwrapped_distance(laser, noisy(phase_shifts(laser, d), Noise(one, period=2 * np.pi), rng=rng))
            off = np.abs(found.distance - d) / laser.ambiguity
            right.append(np.mean(np.minimum(off, 1 - off) * max(laser.ratio) < 0.5))
        phase.plot(tried, right, ".", color=phase.lines[-1].get_color())
    phase.set(
        title="two modulation frequencies", xlabel="noise of a phase [rad]", ylabel="probability of the right wraps"
    )
    phase.legend(loc="lower left")
    phase.set(ylim=(-0.45, 1.05), yticks=np.linspace(0, 1, 6))
    save(figure, "ranges")


def gates() -> None:
    """The waveforms of an ultrasonic proximity sensor, over five cycles."""
    sonar = gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=6e-3)
    w = gating_waveforms(sonar, [np.nan, 0.3, 0.35, np.nan, np.nan], 1e-5)
    figure = new_figure("sensing", (10, 3.6), layout="constrained")
    axes = figure.subplots(6, 1, sharex=True)
    words = ["transmit gate", "sound", "sound is heard", "window", "latched echo", "output"]
    for k, (axis, name, text) in enumerate(zip(axes, "ABCDEF", words, strict=True)):
        axis.fill_between(1e3 * w.t, getattr(w, name), color=CURVES[k], alpha=0.35, lw=0)
        axis.plot(1e3 * w.t, getattr(w, name), color=CURVES[k], lw=1)
        axis.set(yticks=[], ylim=(-0.1, 1.25))
        axis.set_ylabel(name, rotation=0, labelpad=10, va="center")
        axis.text(1.005, 0.5, text, transform=axis.transAxes, va="center", fontsize=8)
        axis.grid(False)
        for start in sonar.period * 1e3 * np.arange(6):
            axis.axvline(start, color="0.85", lw=0.7, zorder=0)
    for k, text in enumerate(("nothing", "0.30 m", "0.35 m", "nothing", "nothing")):
        axes[0].text(6 * k + 3, 1.45, text, ha="center", fontsize=8)
    axes[-1].set_xlabel("time [ms]")
    axes[-1].set_xlim(0, 1e3 * w.t[-1])
    save(figure, "gates")


def touch() -> None:
    """A ring and a bar on a tactile array, as three scans see them, and the inverse of the floating one."""
    u, v = np.meshgrid(np.linspace(-1, 1, 16), np.linspace(-1, 1, 16))
    pressed = (np.abs(np.hypot(u + 0.25, v + 0.2) - 0.5) < 0.13) | ((np.abs(u - 0.7) < 0.1) & (np.abs(v) < 0.7))
    force = pressed * (1.2 + 0.8 * u)
    R = np.where(pressed, 1000 / np.where(pressed, force, 1.0), np.inf)
    figure = new_figure("sensing", (10, 2.9), layout="constrained")
    axes = figure.subplots(1, 4)
    floating, grounded = TactileScan("floating"), TactileScan("grounded")
    I = tactile_currents(floating, R)
    seen = {
        "conductance of the skin": 1e3 / R,
        "grounded: I / V": 1e3 * tactile_currents(grounded, R) / 5,
        "floating: I / V": 1e3 * I / 5,
        "from the floating scan": 1e3 / tactile_resistances(floating, I),
    }
    for axis, (title, image) in zip(axes, seen.items(), strict=True):
        drawn = axis.imshow(image, cmap="magma", vmin=0)
        axis.set(title=title, xticks=[], yticks=[])
        axis.grid(False)
        bar = figure.colorbar(drawn, ax=axis, shrink=0.75)
        bar.ax.tick_params(labelsize=7)
        bar.set_label("mS", fontsize=7)
    save(figure, "touch")


def wrist() -> None:
    """A PUMA swings a tool onto a table: what the wrist reads, and what is left without the tool."""
    robot = aj.robots.puma560()
    q = np.array([0.0, -1.2, -3.0, 0.0, 4.2 - 1.5 * np.pi, 0.0])
    tool = inertia.transform(aj.lie.se3.exp([0, 0, 0, 0, 0, 0.06]), inertia.cylinder(1.2, 0.03, 0.12))
    loaded = robot.with_payload("tool", tool).with_frame("tip", "tool", aj.lie.se3.exp([0, 0, 0, 0, 0, 0.12]))
    start, end = q + np.array([0.3, -0.25, 0.2, 0.4, -0.3, 0.0]), q + np.array([-0.3, 0.12, 0.0, -0.3, 0.0, 0.5])
    floor = aj.forward_kinematics(loaded, q, "tip")[:3, 3]
    path = aj.trajectory.quintic(start, end, 1.2)
    law = aj.control.computed_torque(loaded, path, kp=400.0, kd=40.0)
    table = contact("tip", plane(floor), stiffness=1500.0, damping=20.0, friction=0.3)
    run = simulate(loaded, law, q=start, duration=1.2, dt=5e-4, record=4, forces=table)
    sensor = cross_bar_sensor(noise=Noise(sigma=2e-3))
    read = wrist_readings(run, "tool", sensor, tool=tool, rng=0)
    R = aj.forward_kinematics(loaded, run.q, "tool")[..., :3, :3]
    carried = tool_wrench(loaded, run.q, run.v, run.a, "tool", tool=tool)

    def upward(wrench):
        return np.einsum("nij,nj->ni", R, wrench[..., 3:])[:, 2]

    figure = new_figure("sensing", (10, 3.2), layout="constrained")
    raw, clean = figure.subplots(1, 2, sharex=True)
    raw.plot(run.t, upward(read.measured), lw=0.8, label="measured")
    raw.plot(run.t, upward(carried), "--", color=CURVES[5], label="weight and inertia of the tool")
    clean.plot(run.t, upward(read.measured - carried), lw=3, color=CURVES[2], alpha=0.5, label="without the tool")
    clean.plot(run.t, upward(run.wrench("tool")), color=CURVES[6], lw=1, label="true contact force")
    for axis in (raw, clean):
        axis.set(xlabel="time [s]", ylabel="upward force at the wrist [N]")
        axis.legend()
        axis.margins(x=0)
    save(figure, "wrist")


def save(figure, name: str) -> None:
    """Writes docs/images/sensing_<name>.png."""
    path = IMAGES / f"sensing_{name}.png"
    figure.savefig(path, dpi=100)
    print(path, path.stat().st_size // 1000, "kB")


def main() -> None:
    """All pictures."""
    with house_style("sensing"):
        ranges()
        gates()
        touch()
        wrist()


if __name__ == "__main__":
    main()
