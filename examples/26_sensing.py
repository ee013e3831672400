"""A robot hand that ranges, feels and weighs: the sensors of the textbook's chapter 6 in one story.

python examples/26_sensing.py     writes sensing.png into output/
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import sensing
from adjoint.lie import inertia, se3
from adjoint.sensing import Noise, noisy
from adjoint.simulation import Run, contact, plane, simulate

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560()
DOWN = np.array([0.0, -1.2, -3.0, 0.0, 4.2 - 1.5 * np.pi, 0.0])
BLOCK = inertia.transform(se3.exp([0, 0, 0, 0.01, -0.005, 0.06]), inertia.box(1.2, [0.06, 0.04, 0.12]))
SENSOR = sensing.cross_bar_sensor(lever=0.05, gain=100.0, noise=Noise(sigma=1e-3, step=5e-4))


# --- far: range -------------------------------------------------------------------------------------------------------


def far(rng: np.random.Generator) -> None:
    """How far is the block? A sheet of light, a laser with one and two frequencies, and averages."""
    sheet = sensing.SheetOfLight(256, baseline=3.0, center_distance=2.0, first_distance=1.0, noise=Noise(step=1.0))
    column = noisy(sensing.stripe_column(sheet, 1.7), sheet.noise)
    sigma = sensing.stripe_distance_sigma(sheet, column)
    print(f"sheet of light: column {column:.0f}, so {sensing.stripe_distance(sheet, column):.4f} ± {sigma:.4f} m")

    phases = Noise(sigma=0.02, period=2 * np.pi)
    one, two = sensing.PhaseRange(30e6, noise=phases), sensing.TwoPhaseRange(30e6, 31e6, noise=phases)
    theta = noisy(sensing.phase_shifts(two, 21.7), phases, rng=rng)
    print(f"laser at 30 MHz: {sensing.phase_distance(one, theta[0]):.3f} m, or that plus whole {one.ambiguity:.3f} m;")
    found = sensing.unwrapped_distance(two, theta)
    sure = sensing.unwrapping_confidence(two)
    print(f"  with 31 MHz as well: {found.distance:.3f} m of {two.ambiguity:.0f} m, right with probability {sure:.4f}")
    print(f"readings with σ = 1 m for ± 5 mm at 95 %: {sensing.readings_needed(1.0, 0.005)}\n")


# --- near: proximity and touch ----------------------------------------------------------------------------------------


def near() -> sensing.GatingWaveforms:
    """Is something near, and where is it between the fingers?"""
    sonar = sensing.gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02)
    print(f"sonar listens from {1e3 * sonar.window_start:.3f} to {1e3 * sonar.window_end:.3f} ms: ", end="")
    print(f"{sonar.least_distance:.3f} to {sonar.greatest_distance:.3f} m")
    waves = sensing.gating_waveforms(sonar, [np.nan, 0.4, 0.2, np.nan, np.nan], 1e-5)
    print(f"  output at the ends of five cycles: {waves.F.reshape(5, -1)[:, -1].astype(int)}")
    hand = sensing.FingerSwitches(opening=0.10, step=2e-3)
    stops = sensing.centring_contacts(hand, 0.0, 0.0123, 0.04)
    block = sensing.centred(hand, *stops)
    print(
        f"fingers close their switches at {1e3 * stops.left:.0f} and {1e3 * stops.right:.0f} mm: the block is at ",
        end="",
    )
    print(f"{1e3 * block.position:.0f} ± {1e3 * block.position_bound:.0f} mm, {1e3 * block.size:.0f} mm wide")
    return waves


def touch() -> dict[str, np.ndarray]:
    """A ring presses on a skin: conductances, as two scans see them, and back."""
    u, v = np.meshgrid(np.linspace(-1, 1, 10), np.linspace(-1, 1, 10))
    pressed = np.abs(np.hypot(u, v) - 0.6) < 0.2
    R = np.where(pressed, 500.0 / np.where(pressed, 1.2 + u, 1.0), np.inf)
    floating = sensing.TactileScan("floating")
    I = sensing.tactile_currents(floating, R)
    found = sensing.tactile_resistances(floating, I)
    ghosts = np.count_nonzero((I > 1e-9) & ~pressed)
    error = np.abs(1 / found - 1 / R).max() * 1e3
    print(
        f"tactile array: a floating scan sees {ghosts} ghosts; solved, its conductances are right to {error:.0e} mS\n"
    )
    return {"pressed [mS]": 1e3 / R, "floating scan [mA]": 1e3 * I, "solved [mS]": 1e3 / found}


# --- in the hand: force -----------------------------------------------------------------------------------------------


def calibrated(rng: np.random.Generator) -> sensing.WristSensor:
    """The wrist sensor, from 40 known loads."""
    loads = rng.normal(size=(40, 6)) * [1, 1, 1, 20, 20, 20]
    found = sensing.calibrate_wrist(loads, noisy(sensing.gauge_readings(SENSOR, loads), SENSOR.noise, rng=rng))
    print(found, end="\n\n")
    return found.sensor


def weighed(sensor: sensing.WristSensor, rng: np.random.Generator) -> sensing.Payload:
    """The block, from what the sensor reads while the arm swings it; first at rest, then in motion."""
    for name, speed in (("at rest", 0.0), ("in motion", 1.0)):
        q = aj.random_configuration(PUMA, 80, rng=rng)
        v, a = speed * rng.normal(size=(80, 6)), 8 * speed * rng.normal(size=(80, 6))
        true = sensing.tool_wrench(PUMA, q, v, a, "tool", tool=BLOCK)
        read = sensing.resolved_wrench(sensor, noisy(sensing.gauge_readings(SENSOR, true), SENSOR.noise, rng=rng))
        moved = sensing.sensor_motion(PUMA, q, v, a, "tool")
        found = sensing.identify_payload(read, moved.gravity, twists=moved.twist, accelerations=moved.acceleration)
        print(f"{name}: {found}\n")
    print(f"true:       {BLOCK[0]:.5g} kg, centre {np.round(1e3 * BLOCK[1:4] / BLOCK[0], 3)} mm\n")
    return found


def put_down(sensor: sensing.WristSensor, block: sensing.Payload) -> tuple[Run, np.ndarray, np.ndarray]:
    """The arm puts the block on a table: the upward force that is measured, and the same without the block itself."""
    arm = PUMA.with_payload("tool", BLOCK).with_frame("foot", "tool", se3.exp([0, 0, 0, 0, 0, 0.12]))
    start = DOWN + np.array([0.2, -0.2, 0.15, 0.3, -0.2, 0.0])
    path = aj.trajectory.quintic(start, DOWN + np.array([0.0, 0.06, 0.0, 0.0, 0.0, 0.0]), 1.0)
    table = contact("foot", plane(aj.forward_kinematics(arm, DOWN, "foot")[:3, 3]), stiffness=2e3, damping=20.0)
    law = aj.control.computed_torque(arm, path, kp=400.0, kd=40.0)
    run = simulate(arm, law, q=start, duration=1.3, dt=5e-4, record=4, forces=table)
    read = sensing.wrist_readings(run, "tool", SENSOR, tool=BLOCK, rng=3)
    measured = sensing.resolved_wrench(sensor, read.gauges)
    own = sensing.tool_wrench(arm, run.q, run.v, run.a, "tool", tool=block.inertia)
    R = aj.forward_kinematics(arm, run.q, "tool")[:, :3, :3]
    forces = [np.einsum("nij,nj->ni", R, F[:, 3:])[:, 2] for F in (measured, measured - own, run.wrench("tool"))]
    print(f"put down: {forces[0][0]:.2f} N before, {forces[0][-1]:.2f} N at the end; without the block itself ", end="")
    print(f"{forces[1][0]:.2f} and {forces[1][-1]:.2f} N; true {forces[2][-1]:.2f} N")
    print(f"  largest error of the compensated force: {np.abs(forces[1] - forces[2]).max():.2f} N")
    return run, forces[0], forces[1]


# --- the picture ------------------------------------------------------------------------------------------------------


def draw(waves, images: dict[str, np.ndarray], run: Run, raw: np.ndarray, clean: np.ndarray, path: Path) -> None:
    """Draws the waveforms of the sonar, the tactile array, and the forces at the wrist."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, 6)
    sound, force = figure.add_subplot(grid[1, :3]), figure.add_subplot(grid[1, 3:])
    for k, (title, image) in enumerate(images.items()):
        axis = figure.add_subplot(grid[0, 2 * k : 2 * k + 2])
        figure.colorbar(axis.imshow(image, cmap="magma", vmin=0), ax=axis, shrink=0.8)
        axis.set(title=title, xticks=[], yticks=[])
    for k, name in enumerate("FEDCBA"):
        sound.fill_between(1e3 * waves.t, k + 0.7 * getattr(waves, name), k, lw=0.6)
    sound.set(yticks=np.arange(6) + 0.35, yticklabels=list("FEDCBA"), xlabel="time [ms]", title="sonar: A to F")
    force.plot(run.t, raw, lw=0.9, label="measured")
    force.plot(run.t, clean, lw=0.9, label="without the block itself")
    force.set(xlabel="time [s]", ylabel="upward force [N]", title="a block is put on a table")
    force.legend(frameon=False, loc="upper left")
    for axis in (sound, force):
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0)
    figure.savefig(path, dpi=110)


def main() -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    far(rng)
    waves, images = near(), touch()
    sensor = calibrated(rng)
    block = weighed(sensor, rng)
    run, raw, clean = put_down(sensor, block)
    draw(waves, images, run, raw, clean, OUTPUT / "sensing.png")
    print(f"drawn in {OUTPUT / 'sensing.png'}")


if __name__ == "__main__":
    main()
