"""Control laws on a PUMA 560: side by side, one of your own, a thousand gains in one run, real sensors, and C source.

python examples/21_control_laws.py     writes laws, gains, switching and sensors.png and two .c files into output/
"""

import time
from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import control
from adjoint.control import servo_design
from adjoint.lie import inertia
from adjoint.simulation import Run, simulate

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560()
LOADED = PUMA.with_payload("tool", inertia.sphere(2.27, 0.05))  # 5 lb, the largest load of the textbook
LIMIT = np.array([97.0, 186, 89, 24, 20, 21])  # [N m]
HOME = np.array([0.0, -0.5, 0.5, 0.0, 0.3, 0.0])
GOAL = HOME + np.array([1.0, 0.6, -0.7, 0.5, 0.4, 0.5])
MOVE = aj.trajectory.quintic(HOME, GOAL, duration=1.0)
PERIOD = 1e-3  # [s]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333")  # for colour-blind people, too


def moved(law, robot: aj.Robot = PUMA, duration: float = 1.5) -> Run:
    """The robot under the law, from home."""
    return simulate(robot, law, q=HOME, duration=duration, dt=PERIOD)


def degrees_off(run: Run) -> np.ndarray:
    """The error of the worst joint (..., N) [°]."""
    return np.degrees(np.abs(run.error)).max(axis=-1)


# --- laws side by side ------------------------------------------------------------------------------------------------


def tracking_laws(omega: float = 20.0) -> dict[str, control.Law]:
    """Laws of the same stiffness: each makes the error of a joint decay as ω² e + 2 ω e' + e'' = 0, if it can."""
    J = np.diagonal(aj.mass_matrix(PUMA, HOME))
    kp, kd = omega**2 * J, 2 * omega * J
    return {
        "PD": control.pd(MOVE, kp=kp, kd=kd),
        "PD + gravity": control.pd(MOVE, kp=kp, kd=kd, gravity=True, model=PUMA),
        "PID": control.pid(PUMA, MOVE, kp=kp, ki=omega / 4 * kp, kd=kd, period=PERIOD),
        "computed torque, diagonal": control.computed_torque(PUMA, MOVE, kp=omega**2, form="diagonal"),
        "computed torque": control.computed_torque(PUMA, MOVE, kp=omega**2),
        "sliding mode, layer": control.sliding_mode(
            PUMA, MOVE, slope=omega, gain=5 * J, layer=0.05, equivalent=True
        ),
    }  # fmt: skip


def compare() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Prints errors of all laws, without and with a load that they do not know; returns times and errors."""
    columns = f"{'largest':>9} {'at 1.5 s':>9}"
    print(f"{'error of the worst joint [°]':28} {columns}   with a load {columns}")
    found = {}
    for name, law in tracking_laws().items():
        alone, loaded = moved(law), moved(law, LOADED)
        found[name] = alone.t, np.stack([degrees_off(alone), degrees_off(loaded)])
        (a, b), (c, d) = ((e.max(), e[-1]) for e in found[name][1])
        print(f"{name:28} {a:9.4f} {b:9.4f} {'':14} {c:9.4f} {d:9.4f}")
    return found


# --- a law of your own ------------------------------------------------------------------------------------------------


def soft_spring(robot, p, state, t, q, v, reference):
    """Pulls with no more than p.most beyond gravity, however far the target is: a person can hold it back."""
    pull = p.most * np.tanh(p.k * aj.difference(robot, q, reference.q) / p.most)
    return pull - p.d * v + aj.gravity_torque(robot, q), state


def own_law() -> control.Law:
    """Prints what the spring does after a step, beside PD."""
    J = np.diagonal(aj.mass_matrix(PUMA, HOME))
    soft = control.law(soft_spring, reference=GOAL, most=0.3 * LIMIT, k=100 * J, d=20 * J)
    stiff = control.pd(GOAL, kp=100 * J, kd=20 * J, gravity=True)
    for name, law in (("soft spring", soft), ("PD", stiff)):
        run = moved(law, duration=5.0)
        beyond = np.abs(run.tau[0] - aj.gravity_torque(PUMA, HOME))[0]
        off = degrees_off(run)[-1]
        print(f"{name:12} joint 1 starts with {beyond:5.1f} N m beyond gravity; {off:.4f}° off after 5 s")
    return soft


# --- a thousand gains -------------------------------------------------------------------------------------------------


def gain_map(period: float = 0.01) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Natural frequencies, damping ratios, and the largest errors of 1000 sampled laws of computed torque."""
    omega, zeta = np.geomspace(5, 400, 50), np.geomspace(0.05, 6, 20)
    w, z = (x.ravel() for x in np.meshgrid(omega, zeta, indexing="ij"))
    law = control.sampled(control.computed_torque(PUMA, MOVE, kp=1.0), period)
    started = time.perf_counter()
    run = simulate(LOADED, law.replace(kp=w**2, kd=2 * z * w), q=HOME, duration=2.0, dt=PERIOD, record=20)
    seconds = time.perf_counter() - started
    with np.errstate(invalid="ignore"):
        off = degrees_off(run).max(axis=-1)
    stable = period < servo_design.largest_period(control.torque_drive(1.0), w**2, 2 * z * w)
    bounded = np.isfinite(off) & (off < 90)
    print(f"{run}: {seconds:.1f} s with compilation")
    agree = (stable == bounded).sum()
    print(f"theory calls {stable.sum()} of them stable; {bounded.sum()} stay within 90°; both agree on {agree}")
    best = np.nanargmin(np.where(bounded, off, np.nan))
    print(f"the best of them: {w[best]:.0f} rad/s and damping ratio {z[best]:.2f}, {off[best]:.4f}° off at most")
    return omega, zeta, np.where(bounded, off, np.nan).reshape(50, 20)


def servo_steps() -> dict[str, tuple]:
    """Steps of a joint with a DC motor: simulated, and the transfer function's, with the gains of the book's rules."""
    rotor = control.Motor(resistance=1.0, torque_constant=0.05, gear_ratio=0.01, inertia=1e-4, friction=5e-4)
    body = inertia.from_central(1.0, np.zeros(3), np.eye(3))
    found, kp = {}, servo_design.largest_kp(rotor, resonance=50.0, at_inertia=4e-4)
    for name, load, at in (("3 kg m²", 3.0, 3.0), ("9 kg m²", 9.0, 9.0), ("9 kg m², K_v for 3 kg m²", 9.0, 3.0)):
        kd = servo_design.smallest_kd(control.loaded(rotor, at), kp)
        builder = aj.Robot.builder("wheel", gravity=(0, 0, 0)).link("base").link("wheel", load * body)
        wheel = builder.joint("axle", "revolute", "base", "wheel", axis=(0, 0, 1)).build()
        law = control.servo(rotor, np.ones(1), kp=kp, kd=kd)
        run = simulate(control.with_motors(wheel, rotor), law, duration=0.6, dt=1e-4, record=10)
        motor = control.loaded(rotor, load)
        zeta = servo_design.damping_ratio(motor, kp, kd)
        poles = servo_design.poles(servo_design.closed_loop(motor, kp, kd))
        found[name] = run.t, run.q[:, 0], step_response(poles, run.t)
        over = max(run.q.max() - 1, 0.0)
        print(f"servo, {name:24}: K_p {kp:.1f} V/rad, K_v {kd:.3f} V s/rad, ζ {zeta:.3f}, overshoot {over:.1%}")
    return found


def step_response(poles: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The step response of 1 / ((1 - s/p) (1 - s/p')) at times t, for two poles that differ or nearly agree."""
    p, r = poles if abs(poles[0] - poles[1]) > 1e-3 else poles + np.array([1e-3, -1e-3])
    return (1 + (r * np.exp(p * t) - p * np.exp(r * t)) / (p - r)).real


# --- laws that switch -------------------------------------------------------------------------------------------------


def switching() -> tuple[Run, Run]:
    """A sliding mode of the textbook's two-link arm without and with a layer, and a PUMA in nearly least time."""
    arm, goal = aj.robots.two_link(), np.radians([60.0, 30.0])
    law = control.sliding_mode(arm, goal, slope=5.0, gain=np.array([60.0, 25.0]))
    sliding = simulate(arm, law.replace(layer=np.array([0.0, 0.1])), duration=2.0, dt=1e-4)
    swings = np.abs(np.diff(sliding.tau[:, 5000:, 0], axis=1)).sum(axis=1)
    off = np.degrees(np.abs(sliding.error[:, -1])).max(axis=-1)
    for name, swing, e in zip(("no layer", "layer 0.1 rad/s"), swings, off, strict=True):
        print(f"sliding mode, {name:15}: {e:.3f}° off after 2 s; torque 1 moves by {swing:,.0f} N m in all in 1.5 s")
    fast = moved(control.bang_bang(PUMA, GOAL, limit=LIMIT), duration=0.7)
    to_go, g = aj.mass_matrix(PUMA, GOAL) @ (HOME - GOAL), aj.gravity_torque(PUMA, GOAL)
    least = control.minimum_time(to_go, -LIMIT - g, LIMIT - g).max()
    arrived = fast.t[np.flatnonzero(degrees_off(fast) > 0.1)[-1]]
    print(f"bang-bang: within 0.1° after {arrived:.3f} s; double integrators of (5.4-15) would take {least:.3f} s")
    return sliding, fast


# --- sensors and computers --------------------------------------------------------------------------------------------


def real_loops() -> dict[str, Run]:
    """Computed torque with what stands between a law and a robot; prints errors and how torques jump."""
    law, counts = control.computed_torque(PUMA, MOVE, kp=400.0), 2 * np.pi / 2**14
    encoders = {
        "differences": control.differenced_velocity(law, PERIOD),
        "differences, filter": control.differenced_velocity(law, PERIOD, cutoff=300.0),
        "observer": control.velocity_observer(law, 300.0, PERIOD),
        "Kalman filter": control.kalman(law, process=50.0, measurement=counts / 12**0.5, period=PERIOD, steady=True),
    }
    loops = {
        "ideal": law,
        "torques end at 30 % of the limits": control.saturated(law, 0.3 * LIMIT),
        "asked every 20 ms": control.sampled(law, 0.02),
        "torques late by 20 ms": control.delayed(law, 20, PERIOD),
        "noise, 1e-4 rad and 0.01 rad/s": control.noisy(law, position=1e-4, velocity=0.01, rng=0),
        "counts of 14 bits": control.quantised(law, position=counts),
    } | {f"counts, v by {name}": control.quantised(x, position=counts) for name, x in encoders.items()}
    found = {}
    for name, loop in loops.items():
        run = found[name] = moved(loop)
        jumps = np.sqrt(np.mean(np.diff(run.tau[:, 1]) ** 2))
        print(f"{name:34} {degrees_off(run).max():7.4f}° off at most, {jumps:7.3f} N m from step to step at joint 2")
    watched = control.disturbance_observer(law, 100.0, PERIOD)
    for name, loop in {"load": law, "load, disturbance observer": watched}.items():
        off = degrees_off(moved(loop, LOADED))
        print(f"{name:34} {off.max():7.4f}° off at most, {off[-1]:7.4f}° at 1.5 s")
    return found


# --- machine code and C -----------------------------------------------------------------------------------------------


def export(own: control.Law) -> None:
    """Prints how long a call takes, and writes C source."""
    law = control.pid(PUMA, MOVE, kp=400.0, ki=100.0, kd=40.0, period=PERIOD, gravity=True)
    compiled, q, v, target, state = law.kernel(), HOME, np.zeros(6), MOVE(0.5), np.zeros(6)
    compiled(0.5, q, v, *target[:3], state)  # the first call compiles
    started, calls = time.perf_counter(), 20_000
    for _ in range(calls):
        _tau, state = compiled(0.5, q, v, *target[:3], state)
    print(f"one instant of PID with gravity: {(time.perf_counter() - started) / calls * 1e6:.1f} µs")
    OUTPUT.mkdir(exist_ok=True)
    for name, source in (("puma_pid", law.source("c", name="puma_pid")), ("soft_spring", own.source("c", PUMA))):
        (OUTPUT / f"{name}.c").write_text(source, encoding="utf-8")
        print(f"wrote output/{name}.c, {len(source.splitlines())} lines of C99")


# --- pictures ---------------------------------------------------------------------------------------------------------


def finish(ax, **labels) -> None:
    """Labels, and no lines at the top and at the right."""
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)


def draw_laws(plt, found: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Errors of all laws over time."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for colour, (name, (t, off)) in zip(COLOURS, found.items(), strict=False):
        for ax, e in zip(axes, off, strict=True):
            style = "--" if name == "computed torque" else "-"  # with a load it hides the diagonal form
            ax.semilogy(t, np.maximum(e, 1e-9), style, color=colour, lw=1.7, label=name)
    for ax, title in zip(axes, ("the robot is the model", "2.27 kg in the hand, unknown to the law"), strict=True):
        ax.axvline(MOVE.duration, color="0.6", lw=1, ls=":")
        finish(ax, title=title, xlabel="time [s]", ylim=(1e-4, 3))
    axes[0].set_ylabel("error of the worst joint [°]")
    axes[0].text(MOVE.duration + 0.01, 1.6, "the reference rests", fontsize=8, color="0.4")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.savefig(OUTPUT / "laws.png", dpi=90)


def draw_gains(plt, steps: dict[str, tuple], gains: tuple, period: float = 0.01) -> None:
    """Steps of the joint servo, and the map of errors of 1000 laws."""
    from matplotlib.colors import LogNorm

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for colour, (name, (t, q, theory)) in zip(COLOURS, steps.items(), strict=False):
        axes[0].plot(t, q, color=colour, lw=1.7, label=name)
        axes[0].plot(t[::40], theory[::40], "o", color=colour, ms=4, mfc="white")
    finish(axes[0], title="joint servo with a DC motor: a step", xlabel="time [s]", ylabel="angle [rad]")
    axes[0].text(0.22, 0.25, "lines: simulated\ncircles: transfer function", fontsize=9, color="0.3")
    axes[0].legend(title="load at the joint", frameon=False, fontsize=9, loc="lower right")
    omega, zeta, off = gains
    mesh = axes[1].pcolormesh(omega, zeta, off.T, norm=LogNorm(0.01, 30), cmap="viridis_r", shading="nearest")
    figure.colorbar(mesh, ax=axes[1], label="largest error [°]")
    w = np.geomspace(omega[0], omega[-1], 200)
    borders = (("T = 4 ζ/ω", period * w / 4, (135, 0.2)), ("T = 1/(ζ ω)", 1 / (period * w), (37, 4.0)))
    for label, border, place in borders:
        axes[1].plot(w, border, color="black", lw=1.5)
        axes[1].text(*place, label, fontsize=9)
    axes[1].text(220, 0.07, "unstable", fontsize=9, ha="center")
    axes[1].text(200, 3.0, "unstable", fontsize=9, ha="center")
    axes[1].set(xscale="log", yscale="log", xlim=omega[[0, -1]], ylim=zeta[[0, -1]], xlabel="ω = √kp [rad/s]")
    axes[1].set(ylabel="damping ratio ζ", title="1000 laws of computed torque, asked every 10 ms")
    figure.savefig(OUTPUT / "gains.png", dpi=90)


def draw_switching(plt, sliding: Run, fast: Run) -> None:
    """The phase plane of a sliding mode, its torques, and those of the motion in nearly least time."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    names = ("no layer", "layer 0.1 rad/s")
    for k, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
        error = np.degrees(-sliding.error[k, :, 0])
        axes[0].plot(error, sliding.v[k, :, 0], color=colour, lw=2.5 - k, ls="-" if k == 0 else "--", label=name)
        axes[1].plot(sliding.t, sliding.tau[k, :, 0], color=colour, lw=0.4 if k == 0 else 1.8, label=name)
    line = np.array([-35.0, 0.0])
    axes[0].plot(line, -5 * np.radians(line), color="black", lw=1, ls=":", label="s = 5 e + ė = 0")
    axes[0].legend(frameon=False, fontsize=9)
    finish(axes[0], title="sliding mode, joint 1 of 2", xlabel="error [°]", ylabel="velocity [rad/s]")
    finish(axes[1], title="torque of joint 1", xlabel="time [s]", ylabel="torque [N m]", xlim=(0, 0.6))
    for joint, colour in enumerate(COLOURS[:6]):
        axes[2].plot(fast.t, fast.tau[:, joint] / LIMIT[joint], color=colour, lw=1.5, label=str(joint + 1))
    axes[2].legend(title="joint", frameon=False, fontsize=8)
    finish(axes[2], title="PUMA in nearly least time", xlabel="time [s]", ylabel="torque / limit", ylim=(-1.08, 1.08))
    figure.savefig(OUTPUT / "switching.png", dpi=90)


def draw_sensors(plt, loops: dict[str, Run]) -> None:
    """Torque of joint 2 with velocities from encoders, and the errors."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    shown = ["counts, v by differences", "counts, v by differences, filter", "counts, v by Kalman filter"]
    shown += ["counts, v by observer", "ideal"]
    colours = ("0.8", *COLOURS[1:4], "black")
    for name, colour in zip(shown, colours, strict=True):
        run = loops[name]
        axes[0].plot(run.t, run.tau[:, 1], color=colour, lw=0.8 if name != "ideal" else 1.6, label=name)
        axes[1].semilogy(run.t, degrees_off(run), color=colour, lw=1.2)
    finish(axes[0], xlabel="time [s]", ylabel="torque of joint 2 [N m]", title="velocities from encoders of 14 bits")
    finish(axes[1], xlabel="time [s]", ylabel="error of the worst joint [°]", title="errors", ylim=(1e-4, 0.5))
    legend = {"loc": "outside lower center", "ncols": 5, "frameon": False, "fontsize": 9}
    for line in figure.legend(*axes[0].get_legend_handles_labels(), **legend).get_lines():
        line.set_linewidth(2)
    figure.savefig(OUTPUT / "sensors.png", dpi=90)


def main() -> None:
    """Runs the laws, prints what they do, and draws it if Matplotlib is there."""
    errors = compare()
    own = own_law()
    gains, steps = gain_map(), servo_steps()
    sliding, fast = switching()
    loops = real_loops()
    export(own)
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    draw_laws(plt, errors)
    draw_gains(plt, steps, gains)
    draw_switching(plt, sliding, fast)
    draw_sensors(plt, loops)
    print("wrote laws.png, gains.png, switching.png and sensors.png into output/")


if __name__ == "__main__":
    main()
