"""A PUMA 560 at work: plan a pick-and-place, check it, control it by three laws, try 1000 arms, and write a report.

python examples/20_puma_at_work.py     writes output/puma_at_work.html, one page with plots and an animation
"""

import time
from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import control, simulation, trajectory
from adjoint.drawing import reports as report
from adjoint.lie import se3, so3

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560().replace(
    velocity_limit=np.array([3.0, 3, 4, 6, 6, 6]),  # [rad/s]
    effort_limit=np.array([97.0, 186, 89, 24, 20, 21]),  # [N m]
    damping=np.array([6.0, 10, 4, 0.4, 0.4, 0.2]),  # [N m s/rad]
)
# No law knows of these (the numbers are assumed): dry friction, and the part that the hand takes on its way.
COULOMB = np.array([5.0, 5, 3, 0.5, 0.5, 0.5])  # [N m]
FRICTION = simulation.friction(coulomb=COULOMB, smoothing=0.02)
MASS, TAKEN = 2.5, 1.2  # [kg], and the time [s] at which the hand takes it
PART = simulation.payload("tool", MASS, com=(0, 0, 0.05), start=TAKEN)
STEP, ARMS = 0.001, 1000  # [s], and how many different arms are simulated
COLOURS = {"PD + gravity": "#e07b22", "computed torque": "#2f7fc8", "adaptive (Slotine-Li)": "#2a9d6f"}


# --- the task, the laws, the arms -------------------------------------------------------------------------------------


def hand(x: float, y: float, z: float, turn: float = 0.0) -> np.ndarray:
    """The pose of a hand at (x, y, z) [m] that looks down, turned about the vertical by `turn` [rad]."""
    return se3.from_rotation_translation(so3.from_rpy([np.pi, 0, turn]), [x, y, z])


def planned() -> trajectory.Trajectory:
    """From a ready pose to the part, a short rest to take it, over to the goal, and a rest there."""
    ready, part, goal = hand(0.45, 0.0, 0.1), hand(0.45, -0.4, -0.3), hand(0.2, 0.55, -0.2, turn=np.pi / 2)
    to_part = trajectory.pick_and_place(PUMA, ready, part, "tool", lift=0.1, times=[0.3, 0.5, 0.3], scheme="4-3-4")
    at_part = to_part(to_part.duration).q
    to_goal = trajectory.pick_and_place(PUMA, part, goal, "tool", lift=0.1, times=[0.4, 0.9, 0.4], start=at_part)
    at_goal = to_goal(to_goal.duration).q
    take, rest = (trajectory.quintic(q, q, duration=0.2, robot=PUMA) for q in (at_part, at_goal))
    return to_part.followed_by(take, to_goal, rest)


def laws(motion: trajectory.Trajectory, omega: float = 20.0) -> dict[str, control.Law]:
    """Three laws with like feedback: about e'' + 2ω e' + ω² e = 0 for the error e of each joint, ω in rad/s."""
    inertia = np.diagonal(aj.mass_matrix(PUMA, motion(0.0).q))
    found = (
        control.pd(motion, kp=omega**2 * inertia, kd=2 * omega * inertia, gravity=True, model=PUMA),
        control.computed_torque(PUMA, motion, kp=omega**2),
        control.slotine_li(PUMA, motion, slope=omega, gain=omega * inertia, adaptation=3.0),
    )
    return dict(zip(COLOURS, found, strict=True))


def simulated(law: control.Law, duration: float, part=PART, friction=FRICTION, lift=None) -> simulation.Run:
    """The arm under a law, or many arms at once if the numbers of the part, of friction or of the arm are a batch."""
    q = law.reference(0.0).q
    return aj.simulate(PUMA, law, q=q, duration=duration, dt=STEP, record=10, changes=part, forces=friction, lift=lift)


def tool_error(run: simulation.Run, motion: trajectory.Trajectory) -> np.ndarray:
    """By how much the tool is off its way, (..., N, 3) [mm]."""
    there, wanted = (aj.forward_kinematics(PUMA, q, "tool")[..., :3, 3] for q in (run.q, motion(run.t).q))
    return 1e3 * (there - wanted)


def many_arms(motion: trajectory.Trajectory) -> tuple[dict[str, np.ndarray], float]:
    """Errors (1000, N, 3) of arms with other masses, friction and parts, for each law; and how long it took [s]."""
    rng = np.random.default_rng(0)
    lift = simulation.randomised(PUMA, ARMS, mass=0.1, center=0.01, damping=0.3, rng=rng)
    part = PART.replace(mass=rng.uniform(0, MASS, ARMS))
    friction = FRICTION.replace(coulomb=rng.uniform(0, 2, (ARMS, 1)) * COULOMB)
    errors, seconds = {}, 0.0
    for name, law in laws(motion).items():
        simulated(law, 10 * STEP, part, friction, lift)  # compiles it
        start = time.perf_counter()
        run = simulated(law, motion.duration, part, friction, lift)
        seconds += time.perf_counter() - start
        errors[name] = tool_error(run, motion)
    return errors, seconds


def sensitivity(motion: trajectory.Trajectory) -> tuple[np.ndarray, float]:
    """By how many % the tool's final error under PD falls if a joint's kp grows by 1 % (6,), and its growth [mm/kg]."""
    law, goal = laws(motion)["PD + gravity"], aj.forward_kinematics(PUMA, motion(motion.duration).q, "tool")[:3, 3]

    def error(q, v):
        return 1e3 * np.sqrt(((aj.forward_kinematics(PUMA, q, "tool")[:3, 3] - goal) ** 2).sum())

    given = {"q": motion(0.0).q, "duration": motion.duration, "dt": STEP, "changes": PART, "forces": FRICTION}
    value, by = simulation.gradient(None, PUMA, law, final_cost=error, by=("kp", "change0_mass"), **given)
    return -by["kp"] * law.numbers["kp"] / value, float(by["change0_mass"])


# --- the report -------------------------------------------------------------------------------------------------------


def show_plan(page: list[str], motion: trajectory.Trajectory) -> None:
    """The motion, and whether the arm can do it."""
    verdict = str(motion.limits_hold())
    print(f"plan: {motion.duration:g} s, {motion.pieces} polynomials; {verdict}")
    page += [
        "<h2>The plan</h2>",
        "The hand goes from a ready pose to a part, takes it, and carries it to its goal. It comes and leaves along "
        f"its approach vector; 4-3-4 polynomials of the joints take {motion.duration:g} s. Before anything moves, "
        f"positions, speeds and torques are checked along the whole motion: {verdict}.",
    ]
    t = np.linspace(0, motion.duration, 400)
    with report.figure(page, (8, 3.4), columns=2) as (figure, left, right):
        left.plot(t, np.degrees(motion(t).q), label=[f"joint {k}" for k in range(1, 7)])
        left.set(xlabel="time [s]", ylabel="angle [°]")
        right.plot(t, 100 * motion.torques(t=t).tau / PUMA.effort_limit)
        right.set(xlabel="time [s]", ylabel="torque [% of its limit]", ylim=(-105, 105))
        figure.legend(loc="outside lower center", ncols=6, fontsize=8)


def show_laws(page: list[str], motion: trajectory.Trajectory) -> simulation.Run:
    """The errors under three laws, with the part and without it; returns the last run."""
    rows, curves = [], {}
    for name, law in laws(motion).items():
        numbers = []
        for mass in (0.0, MASS):
            run = simulated(law, motion.duration, PART.replace(mass=mass))
            curves[name] = np.linalg.norm(tool_error(run, motion), axis=-1)
            numbers += [f"{curves[name].max():.1f}", f"{curves[name][-1]:.1f}"]
        rows.append([name, *numbers, f"{100 * np.abs(run.tau / PUMA.effort_limit).max():.0f} %"])
        print(f"{name:22} tool error, largest and final: {numbers[0]}, {numbers[1]} mm; ", end="")
        print(f"with the part: {numbers[2]}, {numbers[3]} mm")
    page += [
        "<h2>Three laws, and a load that none of them knows</h2>",
        f"At {TAKEN:g} s the hand takes a part of {MASS:g} kg. No law is told of it, nor of the dry friction in the "
        "joints. Their feedback is alike; they differ in what they know of the arm, and the adaptive law learns. "
        "The last column is the largest torque, with the part, in parts of its limit.",
        report.table(["tool error [mm]", "largest", "final", "largest, with part", "final, with part", "torque"], rows),
    ]
    with report.figure(page, (8, 3.2)) as (_, axes):
        for name, curve in curves.items():
            axes.plot(run.t, curve, color=COLOURS[name], label=name)
        axes.axvline(TAKEN, color=report.INK, ls=":", lw=1)
        axes.text(TAKEN + 0.03, axes.get_ylim()[1], "takes the part", va="top")
        axes.set(xlabel="time [s]", ylabel="tool off its way [mm]", ylim=(0, None))
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return run


def show_arms(page: list[str], motion: trajectory.Trajectory) -> None:
    """The errors of many different arms."""
    errors, seconds = many_arms(motion)
    steps = len(errors) * ARMS * round(motion.duration / STEP)
    speed = f"{steps / 1e6:.1f} million steps in {seconds:.1f} s, {steps / seconds / 1e6:.1f} million a second"
    print(f"{ARMS} arms under {len(errors)} laws: {speed}")
    sizes = {name: np.linalg.norm(error, axis=-1) for name, error in errors.items()}
    rows = [
        [name, *(f"{np.percentile(x, part):.1f}" for x in (size.max(axis=-1), size[:, -1]) for part in (50, 95, 100))]
        for name, size in sizes.items()
    ]
    for name, *x in rows:
        print(f"{name:22} largest: median {x[0]}, worst {x[2]} mm; final: median {x[3]}, worst {x[5]} mm")
    page += [
        f"<h2>{ARMS} different arms</h2>",
        "Masses differ by up to 10 %, centers of mass by 1 cm, damping by 30 %, dry friction by 100 %, and parts weigh "
        f"from 0 to {MASS:g} kg; the laws stay as they are. {speed[0].upper()}{speed[1:]}, law and robot together.",
    ]
    with report.figure(page, (8, 4.2), columns=2) as (figure, left, right):
        for name, error in errors.items():
            left.plot(*error[:, -1, ::2].T, ".", ms=2, color=COLOURS[name], rasterized=True)
            right.hist(sizes[name].max(axis=-1), bins=40, color=COLOURS[name], alpha=0.8, label=name)
        left.plot(0, 0, "+", color=report.INK, ms=14)
        left.set(xlabel="x off the goal [mm]", ylabel="z [mm]", title="the tool at the end", aspect="equal")
        right.set(xlabel="largest error on the way [mm]", ylabel="arms", title="the tool on its way")
        figure.legend(loc="outside lower center", ncols=3)
    heads = ["largest: median", "95 %", "worst", "final: median", "95 %", "worst"]
    page.append(report.table(["tool error [mm]", *heads], rows))


def show_gradient(page: list[str], motion: trajectory.Trajectory) -> None:
    """What the error depends on."""
    gains, mass = sensitivity(motion)
    joint = int(np.argmax(gains))
    found = (
        f"the final error under PD grows by {mass:.1f} mm for a further kg, and falls by {gains[joint]:.2f} % if kp of "
        f"joint {joint + 1} grows by 1 %, more than for any other joint"
    )
    print(f"gradient through {round(motion.duration / STEP)} steps: {found}")
    page += ["<h2>What it depends on</h2>", f"The gradient through all steps of a run says: {found}."]


def main() -> None:
    """Does all, and writes the report."""
    start = time.perf_counter()
    OUTPUT.mkdir(exist_ok=True)
    target, motion = OUTPUT / "puma_at_work.html", planned()
    page: list[str] = []
    show_plan(page, motion)
    run = show_laws(page, motion)
    show_arms(page, motion)
    show_gradient(page, motion)
    film = report.framed(run.animate(OUTPUT / "puma_moves.html").read_text(encoding="utf-8"))
    hint = (
        "The adaptive law moves this arm; drag it to look from elsewhere. To plan the motion, to check it, to simulate "
        f"{2 * len(COLOURS)} runs and then {len(COLOURS) * ARMS}, and to differentiate one took "
        f"{time.perf_counter() - start:.0f} s."
    )
    target.write_text(report.report_text("A PUMA 560 at work", [film, hint, *page]), encoding="utf-8")
    print(f"wrote {target} ({target.stat().st_size / 1024:.0f} kB)")


if __name__ == "__main__":
    main()
