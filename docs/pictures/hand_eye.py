"""Draws the pictures of docs/hand_eye.md: python docs/pictures/hand_eye.py"""

import sys
from pathlib import Path

import cv2
import numpy as np
from matplotlib.ticker import NullFormatter

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.arm_views import View, views

import adjoint as aj
from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.lie import se3, so3
from adjoint.vision.arm_cameras import calibrate_arm_camera, hand_eye, hand_eye_closed_form

IMAGES = Path(__file__).parents[1] / "images"
CLOSED = ("tsai", "park", "horaud", "andreff", "daniilidis", "shah", "li")
NOISE, REPEATS = 0.3, 40  # [pixels]


def target_poses(v: View, pixels: np.ndarray) -> np.ndarray:
    found = []
    for u in pixels:
        there = np.isfinite(u).all(axis=-1)
        _, w, t = cv2.solvePnP(v.points[there], u[there], v.camera.matrix, v.camera.distortion)
        found.append(se3.from_rotation_translation(so3.exp(w[:, 0]), t[:, 0]))
    return np.array(found)


def errors(v: View, other: View, predict) -> np.ndarray:
    """(2,) Errors [mrad, mm] of the camera's pose in the target's frame at other views, root mean squares."""
    want = se3.inverse(v.T_base_target) @ aj.forward_kinematics(v.true, other.q, "tool") @ v.T_gripper_camera
    e = se3.log(se3.inverse(want) @ predict(other.q)).reshape(-1, 2, 3)
    return 1e3 * np.sqrt(np.mean(np.sum(e**2, axis=-1), axis=0))


def methods(wrong: float) -> dict[str, np.ndarray]:
    """{method: errors (repeats, 2)} of arms that differ, with errors `wrong` [rad, m] of their placements."""
    found: dict[str, list] = {name: [] for name in (*CLOSED, "poses", "pixels")}
    rng = np.random.default_rng(0)
    for k in range(REPEATS):
        v, other = views(20, wrong=wrong, seed=k), views(20, seed=1000 + k)
        pixels = v.pixels + NOISE * rng.normal(size=v.pixels.shape)
        G, T = aj.forward_kinematics(v.model, v.q, "tool"), target_poses(v, pixels)
        for name in (*CLOSED, "poses"):
            X = hand_eye(G, T).T_gripper_camera if name == "poses" else hand_eye_closed_form(G, T, method=name)
            B = se3.inverse(se3.project(np.mean(G @ X @ T, axis=0)))
            model = v.model
            found[name].append(
                errors(v, other, lambda q, B=B, X=X, robot=model: B @ aj.forward_kinematics(robot, q, "tool") @ X)
            )
        estimate = ("base", "tool") if wrong == 0 else ("screws", "offsets", "base", "tool")
        fit = calibrate_arm_camera(v.model, "tool", v.q, pixels, v.points, v.camera, estimate=estimate, noise=NOISE)
        found["pixels"].append(errors(v, other, fit.calibration.predict))
    return {name: np.array(x) for name, x in found.items()}


def compared() -> None:
    """Box plots of all methods, with a perfect arm and with one that is 3 mrad and 3 mm off."""
    figure = new_figure("hand_eye", (10, 5.4), layout="constrained")
    axes = figure.subplots(2, 2, sharex="col")
    for column, (wrong, title, last) in enumerate(
        ((0.0, "a perfect arm", "pixels"), (3e-3, "an arm with errors of 3 mrad and 3 mm", "pixels,\narm and\ncamera"))
    ):
        found = methods(wrong)
        medians = {name: np.median(x, axis=0) for name, x in found.items()}
        best = np.min([medians[name] for name in CLOSED], axis=0)
        print(title, {name: x.round(4).tolist() for name, x in medians.items()})
        print("  ratios to the best closed form:", medians["poses"] / best, medians["pixels"] / best)
        names = [*CLOSED, "poses", last]
        for row, unit in enumerate(("rotation [mrad]", "position [mm]")):
            axis = axes[row, column]
            boxes = axis.boxplot(
                [found[name][:, row] for name in (*CLOSED, "poses", "pixels")], widths=0.6, patch_artist=True,
                showfliers=False, medianprops={"color": "#2b2f36"},
            )  # fmt: skip
            for k, box in enumerate(boxes["boxes"]):
                color = CURVES[5] if k < len(CLOSED) else CURVES[1] if k == len(CLOSED) else CURVES[0]
                box.set(facecolor=color, alpha=0.75, linewidth=0.6)
            axis.set_yscale("log")
            axis.yaxis.set_minor_formatter(NullFormatter())
            axis.set_ylabel(unit)
            if row == 0:
                axis.set_title(title, loc="left")
            axis.set_xticks(range(1, len(names) + 1), names, fontsize=7.5)
    figure.savefig(IMAGES / "hand_eye_methods.png", dpi=100)


def residuals() -> None:
    """Residuals of pixels before and after, and a view of the target with residuals drawn larger."""
    v, rng = views(25, wrong=3e-3, seed=2), np.random.default_rng(1)
    pixels = v.pixels + NOISE * rng.normal(size=v.pixels.shape)
    fixed = calibrate_arm_camera(v.model, "tool", v.q, pixels, v.points, v.camera, estimate=("base", "tool"))
    joint = calibrate_arm_camera(v.model, "tool", v.q, pixels, v.points, v.camera)
    print(repr(fixed), repr(joint))
    figure = new_figure("hand_eye", (10, 3.6), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 1.15])
    for axis, fit, title, color in (
        (axes[0], fixed, "camera alone", CURVES[5]),
        (axes[1], joint, "camera and arm", CURVES[0]),
    ):
        r = fit.calibration.residuals
        rms = np.sqrt(np.mean(r**2))
        axis.plot(*r.T, ".", ms=2, color=color, alpha=0.6)
        axis.set(title=f"{title}: {rms:.2f} px", xlabel="u [px]", aspect="equal")
        size = 1.1 * np.abs(r).max()
        axis.set(xlim=(-size, size), ylim=(size, -size))
    axes[0].set_ylabel("v [px]")
    view = int(np.argmax(np.isfinite(pixels).all(axis=(1, 2))))
    seen, axis = pixels[view], axes[2]
    for fit, color, label in ((fixed, CURVES[5], "camera alone"), (joint, CURVES[0], "camera and arm")):
        kept = np.flatnonzero(np.isfinite(pixels[..., 0]).ravel())
        r = np.full((pixels.shape[0] * pixels.shape[1], 2), np.nan)
        r[kept] = fit.calibration.residuals
        r = r.reshape(pixels.shape)[view]
        axis.quiver(*seen.T, *(-5 * r).T, angles="xy", scale_units="xy", scale=1, color=color, width=0.005, label=label)
    axis.plot(*seen.T, ".", ms=3, color="#2b2f36")
    axis.set(xlim=(0, 1280), ylim=(960, 0), aspect="equal", title=f"view {view}: residuals, 5 times as large")
    axis.legend(loc="lower right", fontsize=7.5)
    figure.savefig(IMAGES / "hand_eye_residuals.png", dpi=100)


if __name__ == "__main__":
    with house_style("hand_eye"):
        residuals()
        compared()
