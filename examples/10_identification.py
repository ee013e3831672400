"""Identification of a robot arm: plan a motion, record it with noise, find the parameters, compare with the truth.

python examples/10_identification.py     writes excitation.png, recording.csv and identification.png into output/
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.dynamics import parameters
from adjoint.identification import Excitation, Samples, base_parameters, excitation, identify, write_samples

OUTPUT = Path(__file__).parent / "output"
RATE = 100.0  # [Hz]
NOISE = np.array([0.8, 1.5, 0.6, 0.15, 0.15, 0.1])  # [N m]


def real_arm(model: aj.Robot) -> aj.Robot:
    """The true arm, whose links are heavier or lighter than in the data sheet, and which has friction."""
    rng = np.random.default_rng(7)
    return model.replace(
        inertias=model.inertias * rng.uniform(0.85, 1.25, (6, 1)),
        damping=np.array([2.5, 3.0, 1.8, 0.4, 0.3, 0.2]),
        friction=np.array([4.0, 5.0, 3.0, 0.9, 0.8, 0.6]),
    )


def recording(robot: aj.Robot, motion: Excitation, periods: int) -> Samples:
    """What the sensors of the arm would record: the motion, and torques with noise; some samples are lost."""
    rng = np.random.default_rng(0)
    time, q, v, a = motion.samples(RATE, periods)
    tau = aj.inverse_dynamics(robot, q, v, a) + NOISE * rng.normal(size=v.shape)
    tau[rng.choice(len(tau), 20, replace=False)] = np.nan
    return Samples(q, v, a, tau, time)


def draw_motion(motion: Excitation, path: Path) -> None:
    """Draws one period of the motion into a file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    time, q, v, a = motion.samples(RATE)
    fig, axes = plt.subplots(3, 1, figsize=(9, 7), sharex=True, layout="constrained")
    for axis, x, label in zip(axes, (q, v, a), ("q [rad]", "v [rad/s]", "a [rad/s²]"), strict=True):
        axis.plot(time, x, lw=1.2)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].set_title(f"excitation: one period, at rest at both ends; condition number {motion.condition:.0f}")
    axes[0].legend(motion.robot.joint_names, ncols=6, frameon=False, fontsize=8)
    axes[-1].set_xlabel("time [s]")
    fig.savefig(path, dpi=120)


def main() -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    model = aj.robots.puma560()
    robot = real_arm(model)
    base = base_parameters(model)
    print(f"{base}\n")

    motion = excitation(model, duration=12.0, acceleration_limit=6.0, rounds=12)
    print(motion)
    draw_motion(motion, OUTPUT / "excitation.png")

    path = OUTPUT / "recording.csv"
    write_samples(path, model, recording(robot, motion, periods=3))
    found = identify(model, path)
    print(found, end="\n\n")

    want = found.base.to_base(parameters(robot, found.base.joints))
    low, high = found.interval(0.95).T
    print(f"{np.mean((low < want) & (want < high)):.0%} of the 95 % intervals hold the truth")
    rng = np.random.default_rng(3)
    q, (v, a) = aj.random_configuration(model, 1000, rng=rng), rng.normal(size=(2, 1000, 6))
    tau = aj.inverse_dynamics(robot, q, v, a)
    for name, other in (("data sheet", model), ("identified", found.robot)):
        error = np.sqrt(np.mean((aj.inverse_dynamics(other, q, v, a) - tau) ** 2, axis=0))
        print(f"torque error of the {name} arm on other motions [N m]: {np.round(error, 3)}")
    found.plot(OUTPUT / "identification.png")
    print(f"drawn in {OUTPUT / 'identification.png'}")


if __name__ == "__main__":
    main()
