"""Robots in time: energy drift of a swinging arm, 500 hopping legs, 1000 random arms, gains by gradients, learning.

python examples/23_simulation.py     writes swing, hopper, arms and learning.png and hopper.gif into output/
"""

from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import adjoint as aj
from adjoint import control
from adjoint.lie import inertia
from adjoint.simulation import Run, contact, gradient, payload, randomised, simulate, terrain
from adjoint.simulation.integrators import INTEGRATORS
from adjoint.trajectory import quintic

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560()
READY, REACH = np.array([0.0, -0.8, 2.0, 0.0, 0.6, 0.0]), np.array([1.2, -0.2, 2.6, 0.5, 0.9, 0.4])
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333")  # for colour-blind people, too


# --- a swinging arm ---------------------------------------------------------------------------------------------------


def swing() -> tuple[dict[str, Run], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """The PUMA falls without motors: long runs by every integrator, and the largest change of energy over the step."""
    runs = {name: simulate(PUMA, q=READY, duration=100.0, dt=1e-2, integrator=name) for name in INTEGRATORS}
    start, steps, drifts = runs["rk4"].energy.total[0], np.array([4e-3, 2e-3, 1e-3, 5e-4]), {}
    print(f"a PUMA that swings with {start:.3f} J; by how much that changes, in steps of 10 ms, and the order in dt")
    for name, run in runs.items():
        shorter = [simulate(PUMA, q=READY, duration=2.0, dt=h, integrator=name) for h in steps]
        drifts[name] = steps, np.array([drift(x).max() for x in shorter])
        order = np.log(drifts[name][1][0] / drifts[name][1][1]) / np.log(2)
        first, last = drift(run)[run.t < 10].max(), drift(run)[run.t > 90].max()
        note = "its own steps" if name == "adaptive" else f"order {order:.2f}"
        print(f"   {name:13} {first:.2e} J in the first 10 s, {last:.2e} J in the last 10 of 100 s; {note}")
    return runs, drifts


def drift(run: Run) -> np.ndarray:
    """By how much the energy differs from that at the start (N,) [J]."""
    return np.abs(run.energy.total - run.energy.total[0])


# --- a leg that hops --------------------------------------------------------------------------------------------------


def hopper() -> aj.Robot:
    """A body that a boom keeps level, free along x and z, with a leg that turns at the hip and slides in and out."""
    made = aj.Robot.builder("hopper").link("world").link("boom").link("body", inertia.sphere(8.0, 0.12))
    made.link("hip", inertia.sphere(0.3, 0.05)).link("leg", inertia.sphere(0.3, 0.03))
    made.joint("x", "prismatic", "world", "boom", axis=(1, 0, 0))
    made.joint("z", "prismatic", "boom", "body", axis=(0, 0, 1))
    made.joint("hip", "revolute", "body", "hip", axis=(0, -1, 0))
    made.joint("leg", "prismatic", "hip", "leg", axis=(0, 0, -1))
    return made.frame("foot", "leg").build()


def ground(x, y):
    """The height of the ground [m]."""
    return 0.04 * np.sin(2 * x) + 0.01 * np.sin(5 * x)


def raibert(robot, p, state, t, q, v, reference):
    """A spring in the leg that is longer while it extends; in flight, the foot is placed ahead, the faster the farther.

    Raibert (1986), "Legged Robots That Balance", chapter 2.
    """
    short = p.length - q[3]
    down = short > 0.01
    leg = p.kp * (short + np.where(down & (v[3] > 0), p.thrust, 0.0)) - p.kd * v[3]
    ahead = v[0] * p.stance / 2 + p.k_v * (v[0] - p.speed)
    angle = np.arcsin(np.clip(ahead / p.length, -0.6, 0.6))
    hip = np.where(down, 0.0, 60.0 * (angle - q[2]) - 4.0 * v[2])
    return np.stack([0.0 * t, 0.0 * t, hip, leg]), state


def fallen(t, q, v):
    """Whether the body is so low that the leg cannot get it up again."""
    return q[1] < 0.28


def hop():
    """500 legs, each with other gains, on uneven ground: which stay up, and how fast they are; the best one again."""
    robot, speed = hopper(), 0.8
    foot = contact("foot", terrain(ground), stiffness=4e4, damping=0.6, friction=1.0, slip=0.01)
    law = control.law(
        raibert, follows=None, length=0.5, thrust=0.02, kp=3000.0, kd=15.0, stance=0.16, k_v=0.1, speed=speed
    )
    k_v, thrust = np.meshgrid(np.linspace(0.01, 0.2, 20), np.linspace(0.01, 0.04, 25), indexing="ij")
    options = {"q": [0.0, 0.65, 0.0, 0.5], "v": [0.4, 0.0, 0.0, 0.0], "dt": 2e-4, "forces": foot, "stop": fallen}
    began = perf_counter()
    many = simulate(robot, law.replace(k_v=k_v, thrust=thrust), duration=10.0, record=100, **options)
    took = perf_counter() - began
    up, half = np.isinf(many.stopped), len(many.t) // 2
    went = (many.q[..., -1, 0] - many.q[..., half, 0]) / (many.t[-1] - many.t[half])
    best = np.unravel_index(np.argmin(np.where(up, np.abs(went - speed), np.inf)), up.shape)
    print(f"{up.size} legs hop for 10 s in steps of 0.2 ms, all within {took:.2f} s: {up.sum()} of them do not fall")
    gains = f"k_v {k_v[best]:.2f} s, thrust {1e3 * thrust[best]:.1f} mm"
    print(f"   the one nearest to {speed} m/s goes at {went[best]:.3f} m/s: {gains}")
    one = simulate(robot, law.replace(k_v=k_v[best], thrust=thrust[best]), duration=4.0, record=100, **options)
    return k_v, thrust, np.where(up, went, np.nan), best, one


# --- arms that differ -------------------------------------------------------------------------------------------------

MOVE = quintic(READY, REACH, 1.0)
ARMS, TIMES = 1000, {"q": READY, "duration": 1.5, "dt": 1e-3}
RANDOM = {
    "lift": randomised(PUMA.replace(friction=2.0, damping=1.0), ARMS, mass=0.2, center=0.02, friction=1.0, rng=0),
    "changes": payload("tool", 0.0, com=(0, 0, 0.05)).replace(mass=np.random.default_rng(1).uniform(0, 3, ARMS)),
}


def miss(t, q, v, tau, reference):
    """The cost of one instant: errors of the joints [rad²], and torques."""
    e = reference.q - q
    return 100 * (e @ e) + 1e-4 * (tau @ tau)


def real(law: control.Law) -> control.Law:
    """The law with noisy measurements, and with torques that come 5 ms late: both punish gains that are too high."""
    return control.delayed(control.noisy(law, position=2e-3, velocity=0.05, rng=0), 5, TIMES["dt"])


def descend(law: control.Law, robots: int, rounds: int = 12) -> tuple[np.ndarray, control.Law]:
    """Tune kp and kd of all joints for the first of the arms; the costs of all rounds, and the best law.

    Logarithms of gains go down the slope. Beyond the limit of stability, which no slope announces, costs are huge or
    NaN: then the search goes back to the best gains, and takes half of the step.
    """
    load, names = RANDOM["changes"], ("kp", "kd")
    some: dict[str, Any] = {"lift": {k: x[:robots] for k, x in RANDOM["lift"].items()}}
    some["changes"] = load.replace(mass=load.numbers["mass"][:robots])
    x = np.log(np.stack([law.numbers[k] for k in names]))
    step, best, slope, costs = 0.3, (np.inf, x), np.zeros_like(x), []
    for _ in range(rounds):
        found = gradient(miss, PUMA, law.replace(**dict(zip(names, np.exp(x), strict=True))), by=names, **TIMES, **some)
        costs.append(found.value.mean())
        if costs[-1] < best[0]:
            best, step = (costs[-1], x), 1.2 * step
            slope = np.stack([found.by[name].mean(axis=0) for name in names]) * np.exp(x)
        else:
            step = step / 2
        x = best[1] - step * slope / np.abs(slope).max()
    return np.array(costs), law.replace(**dict(zip(names, np.exp(best[1]), strict=True)))


def arms():
    """1000 arms with unknown masses, friction and loads follow a quintic, with gains by hand and by gradients."""
    law = real(control.pd(MOVE, kp=np.full(6, 300.0), kd=np.full(6, 30.0), gravity=True, model=PUMA))
    began = perf_counter()
    costs, tuned = descend(law, robots=32)
    took = perf_counter() - began
    computed = real(control.computed_torque(PUMA, MOVE, kp=400.0))
    laws = {"by hand": law, "by gradients": tuned, "computed torque": computed}
    runs = {name: simulate(PUMA, one, **TIMES, **RANDOM, record=10) for name, one in laws.items()}
    print(f"gains of PD by {len(costs)} gradients over 32 arms and 1500 steps, within {took:.2f} s")
    print(f"   cost {costs[0]:.3f} in the first round, {np.nanmin(costs):.3f} at best")
    print("   kp", tuned.numbers["kp"].round(0), "\n   kd", tuned.numbers["kd"].round(1))
    print(f"{ARMS} arms that differ; the largest error of a joint on the way: median, worst")
    for name, run in runs.items():
        worst = np.degrees(np.abs(run.error).max(axis=(1, 2)))
        print(f"   {name:16} {np.median(worst):6.2f}°, {worst.max():6.2f}°")
    return costs, runs


# --- learning ---------------------------------------------------------------------------------------------------------


def cart_pole() -> aj.Robot:
    """A cart on a rail with a pole of 1 m that can turn."""
    made = aj.Robot.builder("cart-pole").link("world").link("cart", inertia.sphere(1.0, 0.1))
    made.link("pole", inertia.transform(aj.lie.se3.exp([0, 0, 0, 0, 0, 0.5]), inertia.cylinder(0.2, 0.02, 1.0)))
    made.joint("slide", "prismatic", "world", "cart", axis=(1, 0, 0))
    return made.joint("pole", "revolute", "cart", "pole", axis=(0, 1, 0)).build()


def upright(t, q, v, action):
    """The reward of one action: for a pole that stands, near the middle of the rail."""
    return np.cos(q[1]) - 0.1 * q[0] ** 2


def lost(t, q, v):
    """Whether the pole has fallen, or the cart is off its rail."""
    return (np.abs(q[1]) > 0.6) | (np.abs(q[0]) > 2.0)


def anywhere(rng, n: int):
    """n starts near upright."""
    return rng.uniform(-0.2, 0.2, (n, 2)), rng.uniform(-0.5, 0.5, (n, 2))


def learn(n: int = 512, rounds: int = 12, actions: int = 250):
    """Linear policies by the cross-entropy method: each robot tries another one; the best tenth make the next mean."""
    from adjoint.simulation import VectorEnv

    env = VectorEnv(
        cart_pole(), n, dt=0.005, steps_per_action=4, reward=upright, terminated=lost, start=anywhere,
        act=lambda t, q, v, action: np.stack([action[0], 0.0 * action[0]]), action_low=[-20.0], action_high=[20.0],
    )  # fmt: skip
    rng, mean, spread, found = np.random.default_rng(0), np.zeros(4), np.full(4, 20.0), []
    began = perf_counter()
    for k in range(rounds):
        policies = mean + spread * rng.normal(size=(n, 4))
        seen, _ = env.reset(seed=k)
        alive, total = np.ones(n, bool), np.zeros(n)
        for _ in range(actions):
            seen, reward, ended, _, _ = env.step(np.sum(policies * seen, axis=1, keepdims=True))
            total += alive * reward
            alive &= ~ended
        best = np.argsort(total)[-n // 10 :]
        mean, spread = policies[best].mean(axis=0), policies[best].std(axis=0) + 0.1
        found.append((np.median(total), total.max(), alive.mean()))
    took = perf_counter() - began
    rate = n * rounds * actions / took
    print(f"{n} cart-poles learn in {rounds} rounds of {actions} actions, {took:.2f} s: {rate:.0f} actions/s")
    print(f"   still standing at the end of a round: {found[0][2]:.0%} in the first, {found[-1][2]:.0%} in the last")
    return np.array(found)


# --- pictures ---------------------------------------------------------------------------------------------------------


def finish(ax, **labels) -> None:
    """Labels, and no lines at the top and at the right."""
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)


def draw_swing(plt, runs: dict[str, Run], drifts) -> None:
    """The swinging arm's energies, how their sum drifts, and over the step."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.0), layout="constrained")
    run = runs["variational"]
    for values, colour, label in zip(
        run.energy, ("0.6", "0.3", "black"), ("kinetic", "potential", "total"), strict=True
    ):
        axes[0].plot(run.t[:1001], values[:1001], color=colour, lw=1.2, label=label)
    for colour, (name, one) in zip(COLOURS, runs.items(), strict=False):
        seconds = drift(one)[1:].reshape(100, -1).max(axis=1)
        axes[1].semilogy(np.arange(100) + 0.5, seconds, "--" if name == "rkmk4" else "-", color=colour, label=name)
        axes[2].loglog(*drifts[name], "o--" if name == "rkmk4" else "o-", color=colour, mfc="white")
    axes[2].set_xticks([5e-4, 1e-3, 2e-3, 4e-3], ["0.5", "1", "2", "4"])
    axes[2].minorticks_off()
    finish(axes[0], xlabel="time [s]", ylabel="energy [J]", title="a PUMA without motors")
    axes[0].set_ylim(top=1.45 * run.energy.kinetic.max())
    axes[0].legend(frameon=False, ncols=3, loc="upper center", fontsize=9)
    finish(axes[1], xlabel="time [s]", ylabel="largest change in 1 s [J]", title="the total, in steps of 10 ms")
    finish(axes[2], xlabel="step [ms]", ylabel="largest change in 2 s [J]", title="shorter steps")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(OUTPUT / "swing.png", dpi=90)


def draw_hopper(plt, k_v, thrust, went, best, run: Run) -> None:
    """Which gains keep the leg hopping, and the way of the best one."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 3.9), layout="constrained", width_ratios=(1, 1.6))
    shown = axes[0].pcolormesh(1e3 * thrust, k_v, went, cmap="viridis", shading="nearest")
    axes[0].plot(1e3 * thrust[best], k_v[best], "o", color="white", mec="black")
    finish(axes[0], xlabel="thrust [mm]", ylabel="gain of the speed [s]", title="500 legs; white: it fell")
    figure.colorbar(shown, ax=axes[0], label="speed [m/s]")
    foot = aj.forward_kinematics(run.robot, run.q, "foot")[:, :3, 3]
    x = np.linspace(-0.2, run.q[:, 0].max() + 0.3, 400)
    axes[1].fill_between(x, ground(x, 0), -0.2, color="0.85")
    axes[1].plot(run.q[:, 0], run.q[:, 1], color=COLOURS[0], label="body")
    axes[1].plot(foot[:, 0], foot[:, 2], color=COLOURS[1], lw=1.2, label="foot")
    for k in range(0, len(run.t), 4):
        axes[1].plot([run.q[k, 0], foot[k, 0]], [run.q[k, 1], foot[k, 2]], color="0.5", lw=0.6, alpha=0.6)
    finish(axes[1], xlabel="x [m]", ylabel="z [m]", title="the best one, for 4 s", aspect="equal", ylim=(-0.15, 0.85))
    axes[1].legend(frameon=False, loc="upper right", ncols=2)
    figure.savefig(OUTPUT / "hopper.png", dpi=90)


def film_hopper(plt, run: Run, path: Path) -> None:
    """The hopping leg as a .gif file, in real time."""
    from PIL import Image

    foot = aj.forward_kinematics(run.robot, run.q, "foot")[:, :3, 3]
    figure, ax = plt.subplots(figsize=(4.8, 2.6), layout="constrained")
    x, pictures = np.linspace(-2, run.q[:, 0].max() + 2, 800), []
    ax.fill_between(x, ground(x, 0), -0.3, color="0.8")
    (trace,) = ax.plot([], [], color=COLOURS[0], lw=0.8, alpha=0.5)
    (leg,) = ax.plot([], [], "o-", color=COLOURS[1], lw=3, ms=6)
    (body,) = ax.plot([], [], "o", color=COLOURS[0], ms=22)
    ax.set(ylim=(-0.12, 0.82), aspect="equal", xticks=np.arange(-1, 6, 0.5), yticks=[0, 0.5])
    for k in range(0, len(run.t), 3):
        p = run.q[k, :2]
        trace.set_data(*run.q[: k + 1, :2].T)
        leg.set_data([p[0], foot[k, 0]], [p[1], foot[k, 2]])
        body.set_data(p[:1], p[1:])
        ax.set_xlim(p[0] - 0.9, p[0] + 0.9)
        ax.set_title(f"{run.t[k]:.2f} s", fontsize=9)
        figure.canvas.draw()
        pictures.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB").quantize(16))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=60, loop=0, optimize=True)


def draw_arms(plt, costs: np.ndarray, runs: dict[str, Run]) -> None:
    """The errors of 1000 arms, and the costs of the rounds of tuning."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained", width_ratios=(1.4, 1.2, 1))
    for colour, (name, run) in zip(COLOURS, runs.items(), strict=False):
        size = np.degrees(np.abs(run.error).max(axis=-1))
        low, middle, high = np.percentile(size, (5, 50, 95), axis=0)
        axes[0].plot(run.t, middle, color=colour, lw=1.5, label=name)
        axes[0].fill_between(run.t, low, high, color=colour, alpha=0.2, lw=0)
        axes[1].hist(size.max(axis=-1), bins=np.geomspace(0.3, 20, 60), color=colour, alpha=0.6)
    axes[1].set_xscale("log")
    axes[1].set_xticks([0.3, 0.5, 1, 2, 5, 10, 20], ["0.3", "0.5", "1", "2", "5", "10", "20"])
    axes[1].minorticks_off()
    finish(axes[0], xlabel="time [s]", ylabel="largest error of a joint [°]", title="1000 arms: median, 5 to 95 %")
    axes[0].set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    finish(axes[1], xlabel="largest error on the way [°]", ylabel="arms", title="all of them")
    axes[2].semilogy(1 + np.arange(len(costs)), costs, "o", color=COLOURS[1], ms=3, alpha=0.5)
    axes[2].semilogy(1 + np.arange(len(costs)), np.fmin.accumulate(costs), color=COLOURS[1])
    axes[2].set_ylim(0.5 * np.nanmin(costs), 4 * costs[0])
    finish(axes[2], xlabel="round", ylabel="mean cost of 32 arms", title="gradients through 1500 steps")
    figure.savefig(OUTPUT / "arms.png", dpi=90)


def draw_learning(plt, found: np.ndarray) -> None:
    """Rewards of the rounds."""
    figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
    rounds = 1 + np.arange(len(found))
    ax.plot(rounds, found[:, 1], color=COLOURS[2], label="best policy")
    ax.plot(rounds, found[:, 0], color=COLOURS[0], label="median of 512")
    finish(ax, xlabel="round", ylabel="reward of 250 actions", title="cart-poles learn to stand", ylim=(0, 260))
    ax.legend(frameon=False, loc="lower right")
    figure.savefig(OUTPUT / "learning.png", dpi=90)


def main() -> None:
    """Runs everything, prints what comes out, and draws it if Matplotlib is there."""
    swung, hopped, followed, learnt = swing(), hop(), arms(), None
    with suppress(aj.errors.MissingPackageError):  # gymnasium is an extra
        learnt = learn()
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    OUTPUT.mkdir(exist_ok=True)
    draw_swing(plt, *swung)
    draw_hopper(plt, *hopped)
    film_hopper(plt, hopped[-1], OUTPUT / "hopper.gif")
    draw_arms(plt, *followed)
    if learnt is not None:
        draw_learning(plt, learnt)
    print("wrote swing.png, hopper.png, hopper.gif, arms.png and learning.png into output/")


if __name__ == "__main__":
    main()
