"""Optimal control: an acrobot swings up and is caught by a regulator, and a PUMA reaches goals within its torques.

python examples/25_optimal_control.py     writes swing_up.gif, swing_up.png and optimal_reach.png into output/
"""

from pathlib import Path
from time import perf_counter

import numpy as np

import adjoint as aj
from adjoint.control import Law, dlqr_gains, law, saturated, wrapped
from adjoint.simulation import OptimalMotion, Run, ilqr, simulate

OUTPUT = Path(__file__).parent / "output"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#888888"

ACROBOT = aj.robots.two_link()  # two rods of 1 kg and 1 m; the elbow alone has a motor
HANGING, UPRIGHT = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 2, 0.0])
ELBOW = np.array([[0.0], [1.0]])
LIMITS = np.array([0.0, 6.0])  # [N m]; to hold the outer rod level takes 4.9
STEPS, DT = 200, 0.02

PUMA = aj.robots.puma560()
TORQUES = np.array([97.0, 186, 89, 24, 20, 21])  # [N m]
READY = np.array([0.0, -0.8, 2.2, 0.0, 0.6, 0.0])
GOAL = READY + np.array([1.6, 0.7, -1.0, 0.8, -0.5, 0.9])


# --- costs, of one instant --------------------------------------------------------------------------------------------


def effort(robot, p, t, q, v, tau):
    """The running cost."""
    return p.r * tau @ tau


def miss(robot, p, t, q, v):
    """The cost of the last state: how far it is from rest at the goal."""
    e = q - p.goal
    return p.w * (e @ e) + p.w / 10 * (v @ v)


# --- the acrobot swings up --------------------------------------------------------------------------------------------


def swing_up(second_order: bool) -> OptimalMotion:
    """The way up of least effort that ends at rest."""
    problem = {"q": HANGING, "steps": STEPS, "dt": DT, "limits": LIMITS, "goal": UPRIGHT, "r": 1e-2, "w": 100.0}
    motion = ilqr(ACROBOT, effort, miss, second_order=second_order, **problem)
    started = perf_counter()
    ilqr(ACROBOT, effort, miss, second_order=second_order, **problem)
    name = "DDP " if second_order else "iLQR"
    print(f"{name}: {motion.message} ({1e3 * (perf_counter() - started):.0f} ms, once it is compiled)")
    return motion


def then_balanced(inside, robot, p, state, t, q, v, reference):
    """A law around a law: after the time `end` a regulator holds the goal."""
    tau, inner = inside(state[1], t, q, v, reference)
    held = -p.K @ np.concatenate([q - p.goal, v])
    return np.where(t < p.end, tau, held), (state[0], inner)


def played(robot, p, state, t, q, v, reference):
    """The same joint forces at the same times, wherever the robot is; then none."""
    return np.where(t < p.end, reference.tau, 0.0), state


def laws(motion: OptimalMotion) -> dict[str, Law]:
    """The motion's own feedback with a regulator after it, and its joint forces without any feedback."""
    at_rest = np.zeros(2)
    A, B = aj.linearize(ACROBOT, UPRIGHT, at_rest, at_rest, DT)
    K, _, eigenvalues = dlqr_gains(A, B @ ELBOW, [10.0, 10, 1, 1], 1.0)
    print(f"LQR at the top: gains {K[0].round(1)}, eigenvalues of a step {np.sort(np.abs(eigenvalues)).round(3)}")
    end = STEPS * DT
    caught = wrapped(motion.law(), then_balanced, name="caught", K=ELBOW @ K, goal=UPRIGHT, end=end)
    blind = law(played, reference=motion.law().reference, follows=None, name="played", end=end, period=DT)
    return {"with feedback": saturated(caught, LIMITS), "without feedback": saturated(blind, LIMITS)}


def pushed(motion: OptimalMotion, many: int = 100) -> dict[str, Run]:
    """Runs from starts that are not the one planned for, with and without feedback."""
    starts = HANGING + 0.05 * np.random.default_rng(0).normal(size=(many, 2))
    starts[0] = HANGING
    runs = {
        name: simulate(ACROBOT, how, q=starts, v=np.zeros(2), duration=8.0, dt=DT) for name, how in laws(motion).items()
    }
    for name, run in runs.items():
        print(f"{name}: {np.sum(upright(run))} of {many} stand after 8 s, from starts that differ by 0.05 rad or so")
    return runs


def upright(run: Run) -> np.ndarray:
    """Which runs (B,) end at rest at the top."""
    return np.abs(run.q[:, -1] - UPRIGHT).max(axis=-1) < 0.02


# --- a PUMA reaches within its limits ---------------------------------------------------------------------------------


def reach() -> dict[str, OptimalMotion]:
    """The same goal with and without limits of torque, and then many goals at once."""
    problem = {"q": READY, "steps": 120, "dt": 0.005, "r": 1e-4, "w": 1e3}
    motions = {
        "without limits": ilqr(PUMA, effort, miss, goal=GOAL, **problem),
        "within limits": ilqr(PUMA, effort, miss, goal=GOAL, limits=TORQUES, **problem),
    }
    for name, motion in motions.items():
        share, off = np.abs(motion.tau / TORQUES).max(), np.abs(motion.q[-1] - GOAL).max()
        print(f"{name}: {motion.message}; torques up to {share:.0%} of the limits, {off:.1g} rad off the goal")
    goals = GOAL + np.random.default_rng(0).uniform(-0.3, 0.3, size=(200, 6))
    started = perf_counter()
    many = ilqr(PUMA, effort, miss, goal=GOAL, limits=TORQUES, batch={"goal": goals}, **problem)
    print(f"{len(goals)} goals at once in {perf_counter() - started:.2f} s, machine code included: {many.message}")
    return motions


# --- pictures ---------------------------------------------------------------------------------------------------------


def elbow_and_tip(q: np.ndarray) -> np.ndarray:
    """Points (..., 3, 2) of the acrobot: shoulder, elbow and tip [m]."""
    places = [aj.forward_kinematics(ACROBOT, q, name)[..., :2, 3] for name in ("link1", "link2")]
    return np.stack([np.zeros_like(places[0]), *places], axis=-2)


def finish(ax, **labels) -> None:
    """Labels, and no lines at the top and at the right."""
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0)


def strobe(ax, q: np.ndarray) -> None:
    """Draws the acrobot at 25 times, later ones darker, and the path of its tip."""
    for k, points in enumerate(elbow_and_tip(q[::8])):
        ax.plot(*points.T, "o-", color=BLUE, alpha=0.1 + 0.9 * (k / (len(q) // 8)) ** 3, ms=3, lw=2)
    ax.plot(*elbow_and_tip(q)[:, 2].T, color="black", lw=0.7)
    ax.set(
        aspect="equal",
        xlim=(-2.2, 2.2),
        ylim=(-2.2, 2.2),
        title="the planned way up, 4 s",
        xlabel="x [m]",
        ylabel="y [m]",
    )


def draw_swing(motions: dict[str, OptimalMotion], runs: dict[str, Run], path: Path) -> None:
    """The way up, its torque, the runs with and without feedback, and the costs of the search."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
    (way, torque), (angles, costs) = figure.subplots(2, 2)
    motion, t = motions["DDP"], runs["with feedback"].t
    strobe(way, motion.q)
    torque.step(motion.t[:-1], motion.tau[:, 1], color=BLUE, where="post")
    for sign in (-1, 1):
        torque.axhline(sign * LIMITS[1], ls=":", color="black", lw=1)
    finish(torque, title="torque of the elbow [N m]", xlabel="time [s]")
    for name, colour in (("without feedback", GREY), ("with feedback", BLUE)):
        lines = angles.plot(t, runs[name].q[:, :, 0].T, color=colour, lw=0.6, alpha=0.4)
        lines[0].set(label=f"{name}: {upright(runs[name]).sum()} of {len(lines)} stand", alpha=1.0)
    angles.axvline(STEPS * DT, ls=":", color="black", lw=1)
    angles.text(
        STEPS * DT + 0.1, 3.0, "the regulator takes over", fontsize=9, bbox={"fc": "white", "ec": "none", "alpha": 0.8}
    )
    angles.legend(edgecolor="none", loc="upper left", fontsize=9, framealpha=0.9)
    finish(angles, title="angle of the shoulder [rad], 100 starts", xlabel="time [s]", ylim=(-8, 8))
    for (name, found), colour in zip(motions.items(), (ORANGE, BLUE), strict=True):
        costs.semilogy(found.history, color=colour, label=name)
    costs.legend(frameon=False)
    finish(costs, title="cost", xlabel="iteration")
    figure.savefig(path, dpi=120)


def film_swing(run: Run, path: Path) -> None:
    """The first run as a film, in real time."""
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.figure import Figure

    points = elbow_and_tip(run.q[0, :301:2])  # 6 s, 25 pictures a second
    figure = Figure(figsize=(3.2, 3.4))
    ax = figure.add_axes((0.02, 0.02, 0.96, 0.9))
    ax.set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), xticks=[], yticks=[])
    (trace,) = ax.plot([], [], color=ORANGE, lw=1)
    (arm,) = ax.plot([], [], "o-", color=BLUE, lw=5, ms=8)
    title = ax.set_title("", fontsize=10)

    def update(k: int):
        arm.set_data(*points[k].T)
        trace.set_data(*points[max(0, k - 20) : k + 1, 2].T)
        title.set_text(f"{'swing up' if 2 * k < STEPS else 'balance'}, {2 * k * DT:.1f} s")

    FuncAnimation(figure, update, frames=len(points)).save(path, PillowWriter(fps=25), dpi=80)


def draw_reach(motions: dict[str, OptimalMotion], path: Path) -> None:
    """The torques of the first three joints, which bear the load, with and without limits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.4), layout="constrained")
    for i, ax in enumerate(figure.subplots(1, 3)):
        for (name, motion), colour in zip(motions.items(), (GREY, BLUE), strict=True):
            ax.step(motion.t[:-1], motion.tau[:, i], color=colour, where="post", label=name)
        for sign in (-1, 1):
            ax.axhline(sign * TORQUES[i], ls=":", color="black", lw=1)
        finish(ax, title=f"torque of joint {i + 1} [N m]", xlabel="time [s]")
    figure.axes[0].legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=120)


def main() -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    motions = {"iLQR": swing_up(second_order=False), "DDP": swing_up(second_order=True)}
    runs = pushed(motions["DDP"])
    draw_swing(motions, runs, OUTPUT / "swing_up.png")
    film_swing(runs["with feedback"], OUTPUT / "swing_up.gif")
    draw_reach(reach(), OUTPUT / "optimal_reach.png")
    print(f"drawn in {OUTPUT}: swing_up.png, swing_up.gif, optimal_reach.png")


if __name__ == "__main__":
    main()
