"""Calibration of a robot arm: choose poses, measure them, find the true arm; and what a DH table makes of it.

python examples/18_calibration.py     writes measurements.csv, calibration.png and before_after.png into output/
"""

from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import adjoint as aj
from adjoint.calibration import calibrate, choose_poses, read_measurements, write_measurements
from adjoint.lie import se3

OUTPUT = Path(__file__).parent / "output"
NOISE = np.repeat([1e-4, 5e-5], 3)  # [rad], [m], of a laser tracker with a probe
TRACKER = se3.exp([0.02, -0.03, 2.1, 1.5, -2.0, 0.4])  # where the arm's base is in the tracker's frame
ENLARGED = 20
TILTS = np.array([3e-2, 1e-2, 3e-3, 1e-3, 3e-4])  # [rad], of the elbow's axis from the shoulder's


def real_arm(model: aj.Robot) -> aj.Robot:
    """The true arm, whose bodies and tool are some mrad and mm from where the data sheet has them."""
    rng = np.random.default_rng(7)
    moved = model.placements @ se3.exp(3e-3 * rng.normal(size=(6, 6)))
    frames = tuple(f._replace(placement=f.placement @ se3.exp(3e-3 * rng.normal(size=6))) for f in model.frames)
    return model.replace(placements=moved, frames=frames)


def measurements(robot: aj.Robot, q: np.ndarray) -> np.ndarray:
    """The poses (n, 4, 4) that the tracker measures; two of them are wrong, as somebody bumped into the probe."""
    rng = np.random.default_rng(0)
    T = TRACKER @ aj.forward_kinematics(robot, q, "tool") @ se3.exp(NOISE * rng.normal(size=(len(q), 6)))
    T[[5, 17]] = T[[5, 17]] @ se3.exp(0.03 * rng.normal(size=(2, 6)))
    return T


# --- beside Denavit and Hartenberg ------------------------------------------------------------------------------------


def dh_calibration(dh: aj.model.DH, q: np.ndarray, T: np.ndarray) -> tuple[float, float]:
    """A Denavit-Hartenberg table and a tool fitted to poses: the rotation error left, and the condition number."""

    def placed(x):
        found = dh.base
        for (theta, d, a, alpha), angle in zip(x[:-6].reshape(-1, 4), q.T, strict=True):
            turn, twist = se3.exp(np.outer(angle + theta, np.eye(6)[2])), se3.exp(alpha * np.eye(6)[0])
            found = found @ turn @ se3.exp([0, 0, 0, a, 0, d]) @ twist
        return found @ dh.tool @ se3.exp(x[-6:])

    back, start = se3.inverse(T), np.append(dh.table.ravel(), np.zeros(6))
    found = least_squares(lambda x: se3.log(back @ placed(x)).ravel(), start, xtol=1e-10, ftol=1e-10, max_nfev=30)
    left = np.sqrt(np.mean(found.fun.reshape(-1, 6)[:, :3] ** 2))
    return float(left), float(np.linalg.cond(found.jac))


def beside_dh(model: aj.Robot) -> np.ndarray:
    """Both calibrations of arms whose third axis is tilted from the second, which the model has parallel.

    Rows: tilt [rad]; the rotation error that is left [rad], with a table and with screws; condition numbers; the
    largest length in a table of the true arm, and the largest shift of a screw [m].
    """
    rng, dh, rows = np.random.default_rng(1), aj.model.to_dh(model), []
    q = aj.random_configuration(model, 40, rng=rng)
    for tilt in TILTS:
        moved = model.placements.copy()
        moved[2] = moved[2] @ se3.exp(tilt * np.eye(6)[2])  # about z: the axis is along y, the upper arm along x
        robot = model.replace(placements=moved)
        T = aj.forward_kinematics(robot, q, "tool") @ se3.exp(NOISE * rng.normal(size=(40, 6)))
        left, condition = dh_calibration(dh, q, T)
        found = calibrate(model, "tool", q, T, estimate=("screws", "tool"))
        shifts = [abs(x) for p, x in zip(found.parameters, found.values, strict=True) if p.unit == "m"]
        needed = np.abs(aj.model.to_dh(robot).table[:, 1:3]).max()
        rows.append([tilt, left, found.errors()[0], condition, found.condition, needed, max(shifts)])
    return np.array(rows)


# --- the picture ------------------------------------------------------------------------------------------------------


def draw(errors: dict[str, np.ndarray], places: np.ndarray, dh: np.ndarray, path: Path) -> None:
    """Draws errors at poses that were not measured, before and after, and the comparison with DH parameters."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colors = {"data sheet": "0.55", "calibrated": "tab:blue"}
    fig, (space, spread, jumps) = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
    for name, e in errors.items():
        tips = places + ENLARGED * e
        lines = np.stack([places, tips], axis=1)[:150, :, :2]
        space.plot(*np.moveaxis(lines, (0, 1, 2), (2, 1, 0)), color=colors[name], lw=1.2)
        space.plot(*tips[:150, :2].T, ".", color=colors[name], ms=5, label=name)
        size = 1e3 * np.linalg.norm(e, axis=1)
        label = f"{name}, mean {size.mean():.3g} mm"
        spread.hist(size, bins=np.geomspace(1e-3, 100, 70), color=colors[name], label=label)
    space.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    space.set_title(f"errors of the tool, seen from above, × {ENLARGED}", fontsize=10)
    spread.set_ylim(0, 220)
    spread.set(xscale="log", xlabel="position error [mm]", ylabel="poses")
    spread.set_title("1000 poses that were not measured", fontsize=10)
    jumps.loglog(1e3 * dh[:, 0], 1e3 * dh[:, 1], "s-", color="tab:red", label="DH table")
    jumps.loglog(1e3 * dh[:, 0], 1e3 * dh[:, 2], "o-", color="tab:blue", label="screws")
    for tilt, left, *_, needed, _ in dh:
        jumps.annotate(f"{needed:.0f} m", (1e3 * tilt, 1e3 * left), (-6, 8), textcoords="offset points", fontsize=7)
    jumps.axhline(1e3 * NOISE[0], color="0.5", lw=0.8, ls="--", label="noise")
    jumps.set(xlabel="tilt of two nearly parallel axes [mrad]", ylabel="rotation error left [mrad]")
    jumps.set_title("left by a calibration; lengths that a true DH table would need", fontsize=10)
    jumps.grid(alpha=0.3)
    for axis in (space, spread, jumps):
        axis.legend(frameon=False, fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    fig.savefig(path, dpi=120)


def main() -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    model = aj.robots.puma560()
    robot = real_arm(model)

    candidates = aj.random_configuration(model, 400, rng=0)
    chosen = choose_poses(model, "tool", candidates, 40, noise=(NOISE[0], NOISE[-1]))
    print(f"40 of 400 poses are chosen; log det of the information: {chosen.log_det:.1f}")
    usual = choose_poses(model, "tool", candidates[:40], 40, noise=(NOISE[0], NOISE[-1]))
    print(f"the first 40 would have: {usual.log_det:.1f}\n")

    path = OUTPUT / "measurements.csv"
    write_measurements(path, model, chosen.q, measurements(robot, chosen.q))
    found = calibrate(model, "tool", *read_measurements(path, model), loss="tukey", folds=5)
    print(found, end="\n\n")
    found.plot(OUTPUT / "calibration.png")
    found.save(OUTPUT / "calibration.json")

    q = aj.random_configuration(model, 1000, rng=3)
    want = TRACKER @ aj.forward_kinematics(robot, q, "tool")
    got = {"data sheet": found.first.base @ aj.forward_kinematics(model, q, "tool"), "calibrated": found.predict(q)}
    errors = {name: (T - want)[:, :3, 3] for name, T in got.items()}
    for name, e in errors.items():
        size = 1e3 * np.linalg.norm(e, axis=1)
        print(f"position error of the {name} arm at other poses: mean {size.mean():.4f}, largest {size.max():.4f} mm")

    dh = beside_dh(model)
    header = ["tilt [mrad]", "left: DH [mrad]", "screws", "condition: DH", "screws", "needed: DH [m]", "screws [m]"]
    print("\n" + "".join(f"{name:>16}" for name in header))
    for row in dh * [1e3, 1e3, 1e3, 1, 1, 1, 1]:
        print("".join(f"{x:16.3g}" for x in row))
    draw(errors, want[:, :3, 3], dh, OUTPUT / "before_after.png")
    print(f"drawn in {OUTPUT / 'before_after.png'}")


if __name__ == "__main__":
    main()
