"""A PUMA picks and places: every scheme side by side, lines in space with their orientation, and the fastest motion.

python examples/19_trajectories.py     writes schemes, profiles, lines, corners and phase_plane.png into output/
"""

from contextlib import suppress
from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint import trajectory as tr
from adjoint.lie import se3, so3
from adjoint.trajectory import PoseTrajectory, Trajectory

OUTPUT = Path(__file__).parent / "output"
PUMA = aj.robots.puma560().replace(
    velocity_limit=np.array([3.0, 3, 4, 6, 6, 6]),  # [rad/s]
    effort_limit=np.array([97.0, 186, 89, 24, 20, 21]),  # [N m]
)
# The poses of problem 4.5 of Fu, Gonzalez & Lee (1987) are those of these joint angles, and 5 cm is our lift.
START, GOAL = np.radians([[90, 0, 90, 45, 60, 30], [45, 30, 100, -30, 45, 60]])
LIFT = 0.05  # [m]
ACCELERATION, JERK = 20.0, 300.0  # [rad/s², rad/s³], where a maker asks for them

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333")  # for colour-blind people, too


# --- motions ----------------------------------------------------------------------------------------------------------


def through_knots() -> dict[str, Trajectory]:
    """The same pick-and-place by every scheme that passes, or comes near to, the lift-off and the set-down knot."""
    poses = aj.forward_kinematics(PUMA, np.stack([START, GOAL]), "tool")
    times = {"4-3-4": [0.3, 0.8, 0.3], "3-5-3": [0.3, 0.8, 0.3], "5-cubic": [0.3, 0.25, 0.3, 0.25, 0.3]}
    times["7"] = times["4-3-4"]
    schemes = {
        f"degree {name}" if name == "7" else name: tr.pick_and_place(
            PUMA, poses[0], poses[1], "tool", lift=LIFT, times=given, scheme=name, start=START
        )
        for name, given in times.items()
    }
    book = schemes["4-3-4"]
    knots = book(book.knots).q  # start, lift-off, set-down, goal
    print("knots [°]: start, lift-off, set-down, goal")
    print(np.degrees(knots).round(1))
    return schemes | {
        "linear, blended": tr.linear_blends(knots, book.knots, blend=0.09),
        "minimum-time spline": tr.minimum_time_spline(knots, robot=PUMA, acceleration=ACCELERATION, jerk=JERK),
        "time-optimal": tr.time_optimal(knots, robot=PUMA, parameters=lengths(knots), grid=400),
    }


def lengths(knots: np.ndarray) -> np.ndarray:
    """The way in joint space from the first knot to each [rad], as the parameter of the path through them."""
    return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=-1)))


def straight_to_the_goal(start: np.ndarray, goal: np.ndarray) -> dict[str, Trajectory]:
    """The move without knots in between: by polynomials within 0.8 s, and as fast as the limits allow."""
    limits = {"velocity": PUMA.velocity_limit, "acceleration": ACCELERATION}
    motions = {
        "cubic": tr.cubic(start, goal, 0.8),
        "quintic": tr.quintic(start, goal, 0.8),
        "septic": tr.septic(start, goal, 0.8),
        "trapezoidal": tr.trapezoidal(start, goal, **limits),
        "S-curve": tr.s_curve(start, goal, jerk=JERK, **limits),
    }
    with suppress(aj.errors.MissingPackageError):  # ruckig is an extra
        motions["jerk-limited (ruckig)"] = tr.jerk_limited(start, goal, jerk=JERK, **limits)
    return motions


def in_space() -> dict[str, PoseTrajectory]:
    """Five motions between the poses of problem 4.7, A with its misprint corrected; each takes 1 s."""
    A = np.array([[-1, 0, 0, 0.05], [0, 1, 0, 0.10], [0, 0, -1, 0.15], [0, 0, 0, 1]])
    B = np.array([[0, -1, 0, 0.20], [0, 0, 1, 0.30], [-1, 0, 0, 0.05], [0, 0, 0, 1]])
    via = np.array([0.20, 0.15, 0.20])
    halfway = se3.from_rotation_translation(tr.line(A, B, 1.0)(0.5).T[:3, :3], via)
    return {
        "line (Taylor)": tr.line(A, B, 1.0),
        "paul_lines (Paul)": tr.paul_lines([A, B], 1.0),
        "screw_motion": tr.screw_motion(A, B, 1.0),
        "arc": tr.arc(A, via, B, 1.0),
        "pose_spline": tr.pose_spline([A, halfway, B], [0.0, 0.5, 1.0]),
    }


def rounded_corners() -> dict[str, PoseTrajectory]:
    """Two lines with a corner between them, which is rounded by more and more."""
    poses = se3.from_rotation_translation(np.eye(3), [[0.0, 0, 0], [0.3, 0, 0], [0.3, 0.2, 0]])
    return {f"blend = {tau:g} s": tr.lines(poses, 1.0, blend=tau) for tau in (0.0, 0.1, 0.2, 0.4)}


def deviations() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """How far [mm] the tool is off a line of 40 cm, over the fraction of the way, with more and more joint knots."""
    q_0 = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
    T_0 = aj.forward_kinematics(PUMA, q_0, "tool")
    T_1 = se3.from_rotation_translation(T_0[:3, :3], T_0[:3, 3] + [-0.3, 0.2, -0.2])
    line, t, found = tr.line(T_0, T_1, 1.0), np.linspace(0, 1, 801), {}
    for bound in (0.1, 0.01, 0.001):
        path = tr.bounded_deviation(PUMA, T_0, T_1, "tool", position=bound, start=q_0)
        p = aj.forward_kinematics(PUMA, path.trajectory(1.0)(t).q, "tool")[:, :3, 3]
        off = 1e3 * np.linalg.norm(p - line(t).T[:, :3, 3], axis=-1)
        found[f"{1e3 * bound:g} mm: {len(path.q)} knots"] = t, off
        print(f"straight joint motion within {1e3 * bound:g} mm of a line: {len(path.q)} knots, {off.max():.3g} mm off")
    return found


def moving_target(seconds: float = 3.0, cycle: float = 0.01) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, a target that jumps twice, and the jerk-limited motion (N, 3) of q, v and a after it, by ruckig."""
    online = tr.OnlineMotion(1, cycle=cycle, velocity=1.5, acceleration=6.0, jerk=40.0)
    t = np.arange(0.0, seconds, cycle)
    target = np.where(t < 0.8, 1.0, np.where(t < 1.2, -0.3, 0.5))
    state, rows = tr.State(np.zeros(1)), []
    for x in target:
        state = online.step(state, tr.State(np.array([x])))
        rows.append([float(np.ravel(y)[0]) for y in state])
    return t, target, np.array(rows)


# --- what is printed --------------------------------------------------------------------------------------------------


def table(motions: dict[str, Trajectory]) -> None:
    """Prints duration and peaks of each motion, and the limit that is nearest or exceeded."""
    print(f"{'':22} {'time':>6} {'|v|':>6} {'|a|':>6} {'|torque|':>8}   limits of position, speed and torque")
    for name, motion in motions.items():
        at = motion.extrema()
        v, a = (np.maximum(-x.lowest, x.highest).max() for x in (at.v, at.a))
        report = motion.limits_hold(PUMA)
        torque = np.abs(report.reach["torque"].value).max()
        verdict = "hold" if report else f"{report.worst.kind} of {report.worst.joint} {report.worst.relative:+.0%}"
        print(f"{name:22} {motion.duration:6.3f} {v:6.2f} {a:6.1f} {torque:8.1f}   {verdict}")


def orientations(motions: dict[str, PoseTrajectory]) -> None:
    """Prints how far the motions turn in between, and how they differ from Taylor's line half way."""
    middle = motions["line (Taylor)"](0.5).T
    t = np.linspace(0, 1, 1001)
    for name, motion in motions.items():
        at = motion(0.5).T
        apart = np.degrees(so3.distance(at[:3, :3], middle[:3, :3]))
        aside = 1e3 * np.linalg.norm(at[:3, 3] - middle[:3, 3])
        turned = np.degrees(np.trapezoid(np.linalg.norm(motion(t).twist[:, :3], axis=-1), t))
        print(f"{name:18} turns by {turned:5.1f}° in all; half way {apart:4.1f}° and {aside:5.1f} mm from the line's")


# --- pictures ---------------------------------------------------------------------------------------------------------


def finish(ax, **labels) -> None:
    """Labels, and no lines at the top and at the right."""
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)


def columns(axes, motions: dict[str, Trajectory], joint: int) -> None:
    """Position, velocity, acceleration and torque of a joint, with a curve for each motion; limits are dotted."""
    for colour, (name, motion) in zip(COLOURS, motions.items(), strict=False):
        knots = motion.knots[1:-1]
        t = np.sort(np.concatenate([np.linspace(0, motion.duration, 400), knots, knots - 1e-9]))  # jumps are upright
        q, v, a, _ = motion(t)
        _, tau = motion.torques(PUMA, t)
        for ax, values in zip(axes, (np.degrees(q), v, a, tau), strict=True):
            ax.plot(t, values[:, joint], color=colour, lw=1.5, label=name)
    for ax, limit in ((axes[1], PUMA.velocity_limit[joint]), (axes[3], PUMA.effort_limit[joint])):
        for bound in (-limit, limit):
            ax.axhline(bound, color="0.4", ls=":", lw=1)
    labels = ("position [°]", "velocity [rad/s]", "acceleration [rad/s²]", "torque [N m]")
    for ax, label in zip(axes, labels, strict=True):
        finish(ax, ylabel=label)


def draw_schemes(plt, motions: dict[str, Trajectory]) -> None:
    """Joints 2 and 3 in the pick-and-place, by all schemes."""
    figure, axes = plt.subplots(4, 2, figsize=(10, 10.5), sharex=True, layout="constrained")
    book = motions["4-3-4"]
    for joint, below in zip((1, 2), axes.T, strict=True):
        columns(below, motions, joint)
        below[0].plot(
            book.knots, np.degrees(book(book.knots).q[:, joint]), "o", color="0.3", ms=5, mfc="white", zorder=3
        )
        below[0].set_title(f"joint {joint + 1}")
        below[-1].set_xlabel("time [s]")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(OUTPUT / "schemes.png", dpi=90)


def draw_profiles(plt, motions: dict[str, Trajectory]) -> None:
    """Joint 1, straight to the goal."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 5.8), sharex=True, layout="constrained")
    columns(axes.ravel(), motions, 0)
    for ax in axes[1]:
        ax.set_xlabel("time [s]")
    figure.suptitle("joint 1, straight to the goal")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(OUTPUT / "profiles.png", dpi=90)


def draw_lines(plt, motions: dict[str, PoseTrajectory]) -> None:
    """Frames along each motion, and the ways of the approach vectors on the sphere of directions."""
    figure = plt.figure(figsize=(11, 7.4), layout="constrained")
    for k, (name, motion) in enumerate(motions.items()):
        ax = figure.add_subplot(2, 3, k + 1, projection="3d")
        ax.plot(*motion(np.linspace(0, 1, 200)).T[:, :3, 3].T, color=COLOURS[k], lw=2)
        for T in motion(np.linspace(0, 1, 9)).T:
            for axis, colour in enumerate(("tab:red", "tab:green", "tab:blue")):
                ax.plot(*np.stack([T[:3, 3], T[:3, 3] + 0.035 * T[:3, axis]]).T, color=colour, lw=1.3)
        ax.set(xlim=(0.02, 0.26), ylim=(0.08, 0.32), zlim=(0.0, 0.24), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        boxed(ax, name, COLOURS[k])
    ax = figure.add_subplot(2, 3, 6, projection="3d")
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    ax.plot_wireframe(np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v), color="0.85", lw=0.5)
    for k, (name, label) in enumerate({"line (Taylor)": "all others", "paul_lines (Paul)": "Paul"}.items()):
        a = motions[name](np.linspace(0, 1, 200)).T[:, :3, 2]
        ax.plot(*a.T, color=COLOURS[k], lw=2.5)
        ax.text2D(0.42 + 0.36 * k, 0.42 - 0.1 * k, label, color=COLOURS[k], ha="center", transform=ax.transAxes)
    ax.set(xlabel="x", ylabel="y", zlabel="z")
    boxed(ax, "direction of the blue axis", "black")
    ax.view_init(-5, 55)
    figure.suptitle("from one pose to another; axes: x red, y green, z (approach) blue", fontsize=11)
    figure.savefig(OUTPUT / "lines.png", dpi=90)


def boxed(ax, title: str, colour: str) -> None:
    """Equal axes, few ticks, and a title."""
    ax.set_box_aspect((1, 1, 1), zoom=0.95)
    ax.set_title(title, fontsize=11, color=colour, y=0.99)
    ax.view_init(22, -35)
    ax.locator_params(nbins=3)
    ax.tick_params(labelsize=7, pad=-2)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.labelpad = -6


def draw_corners(plt) -> None:
    """Rounded corners, bounded deviations, and a motion after a target that jumps."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    for colour, (label, path) in zip(COLOURS, rounded_corners().items(), strict=False):
        axes[0].plot(*path(np.linspace(0, 2, 400)).T[:, :2, 3].T, color=colour, lw=2, label=label)
    finish(axes[0], xlabel="x [m]", ylabel="y [m]", title="lines round a corner", aspect="equal")
    axes[0].legend(fontsize=8, frameon=False, loc="upper left")
    for colour, (label, (t, off)) in zip(COLOURS, deviations().items(), strict=False):
        axes[1].semilogy(t, off, color=colour, lw=1.3, label=label)
    finish(axes[1], xlabel="part of the way", ylabel="off the line [mm]", title="bounded deviation", ylim=(1e-2, 400))
    axes[1].legend(fontsize=8, frameon=False, loc="upper center")
    with suppress(aj.errors.MissingPackageError):
        t, target, rows = moving_target()
        axes[2].plot(t, target, color="0.5", ls="--", lw=1.2, label="target [rad]")
        for colour, label, values in zip(COLOURS, ("q [rad]", "v [rad/s]", "a / 4 [rad/s²]"), rows.T, strict=False):
            axes[2].plot(t, values / (4 if "/ 4" in label else 1), color=colour, lw=1.6, label=label)
        axes[2].legend(fontsize=8, frameon=False, loc="upper right", ncols=2)
    finish(axes[2], xlabel="time [s]", title="online, to a target that jumps", ylim=(-1.8, 2.6))
    figure.savefig(OUTPUT / "corners.png", dpi=90)


def draw_phase_plane(plt, knots: np.ndarray) -> None:
    """The plane of s and ṡ, and the torques and speeds of the fastest motion as fractions of their limits."""
    task = {"robot": PUMA, "parameters": lengths(knots), "grid": 400}
    plane, motion = tr.phase_plane(knots, **task), tr.time_optimal(knots, **task)
    figure, axes = plt.subplot_mosaic("PPT;PPV", figsize=(12, 6.2), layout="constrained")
    ax = axes["P"]
    ax.fill_between(plane.s, plane.controllable, color="0.9", label="controllable: the goal can be reached from here")
    ax.plot(plane.s, plane.maximum_speed, color="black", lw=1.2, label="limit curve: no motion is faster here")
    names = list(dict.fromkeys(map(str, plane.active)))
    for name, colour in zip(names, COLOURS, strict=False):
        held = np.append(plane.active == name, False)
        held[1:] |= held[:-1]
        label = f"held by {name.replace(chr(39), '').replace('joint joint', 'joint ')}"
        ax.plot(plane.s, np.where(held, plane.speed, np.nan), color=colour, lw=3, label=label)
    at = np.interp(plane.switches, plane.s, plane.speed)
    ax.plot(plane.switches, at, "o", color="black", mfc="white", ms=6, label="switching points")
    finish(ax, xlabel="way s in joint space [rad]", ylabel="speed ṡ [rad/s]", ylim=(0, 1.1 * plane.controllable.max()))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    t = np.linspace(0, motion.duration, 1500)
    tau = motion.torques(PUMA, t).tau
    rows = (
        ("T", "torque / limit", tau / PUMA.effort_limit),
        ("V", "velocity / limit", motion(t).v / PUMA.velocity_limit),
    )
    for place, label, values in rows:
        for joint, colour in enumerate(COLOURS[:6]):
            axes[place].plot(t, values[:, joint], color=colour, lw=1.5, label=str(joint + 1))
        for bound in (-1, 1):
            axes[place].axhline(bound, color="0.4", ls=":", lw=1)
        finish(axes[place], xlabel="time [s]", ylabel=label, ylim=(-1.1, 1.1))
    axes["T"].legend(title="joint", fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0))
    figure.savefig(OUTPUT / "phase_plane.png", dpi=90)
    print(f"the fastest motion: {motion.duration:.3f} s, {len(plane.switches)} switching points; what holds it back:")
    print("   ", ", ".join(names))


def main() -> None:
    """Makes the motions, prints what they are like, and draws them if Matplotlib is there."""
    schemes, paths = through_knots(), in_space()
    knots = schemes["4-3-4"](schemes["4-3-4"].knots).q
    profiles = straight_to_the_goal(knots[0], knots[-1])
    table(schemes)
    table(profiles)
    orientations(paths)
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    OUTPUT.mkdir(exist_ok=True)
    draw_schemes(plt, schemes)
    draw_profiles(plt, profiles)
    draw_lines(plt, paths)
    draw_corners(plt)
    draw_phase_plane(plt, knots)
    print("wrote schemes.png, profiles.png, lines.png, corners.png and phase_plane.png into output/")


if __name__ == "__main__":
    main()
