"""Draws the pictures of docs/cameras.md: python docs/pictures/cameras.py"""

from pathlib import Path

import cv2
import mvtbdata
import numpy as np
from PIL import Image
from saving import save

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.lie import se3
from adjoint.vision.cameras import (
    Camera,
    calibrate_camera,
    chessboard_corners,
    chessboard_points,
    circle_poses,
    find_markers,
    marker_points,
    planar_poses,
    project,
    undistort_image,
)

REAL = Path(mvtbdata.__file__).parent / "images"


def calibration() -> None:
    """Real chessboards: corners, the image without distortion, residuals, and errors of the parameters."""
    views = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in sorted((REAL / "calibration").glob("left*.jpg"))]
    pixels = np.array([chessboard_corners(view, (9, 6)) for view in views])
    found = calibrate_camera(chessboard_points((9, 6), 0.025), pixels, (640, 480))
    print(found)
    figure = new_figure("cameras", (10, 3.0), layout="constrained")
    seen, straight, residuals = figure.subplots(1, 3)
    k = 11
    seen.imshow(views[k], cmap="gray")
    seen.plot(*pixels[k].T, ".", color=CURVES[0], ms=4)
    seen.set_title("one of 14 views, with its corners", loc="left")
    straight.imshow(undistort_image(found.camera, views[k]), cmap="gray")
    straight.set_title("the same without distortion", loc="left")
    r, places = found.residuals[found.seen], pixels[found.seen]
    residuals.quiver(*places.T, *r.T, angles="xy", scale_units="xy", scale=1 / 100, width=0.003, color=CURVES[1])
    residuals.plot(*found.camera.matrix[:2, 2], "+", color=CURVES[6], ms=12)
    residuals.set(xlim=(0, 639), ylim=(479, 0), aspect="equal")
    residuals.set_title(f"residuals, 100 times; rms {found.rms:.2f} pixels", loc="left")
    for axes in (seen, straight, residuals):
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
    save(figure, "cameras_calibration", 128)


def markers() -> None:
    """Markers of a real scene, and how far away a flat target's second pose can be told from its first."""
    figure = new_figure("cameras", (10, 3.4), layout="constrained")
    scene, errors = figure.subplots(1, 2, width_ratios=[5, 4])
    image = np.asarray(Image.open(REAL / "lab-scene.png").convert("RGB"))
    found = find_markers(image, "4x4_50")
    scene.imshow(cv2.resize(image, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA))
    for number, corners in zip(found.ids, (found.corners + 0.5) / 4 - 0.5, strict=True):
        scene.plot(*corners[[0, 1, 2, 3, 0]].T, color=CURVES[0], lw=1.5)
        u, v = corners.max(axis=0)
        scene.text(u + 6, v, str(number), color=CURVES[0], fontsize=10, weight="bold",
                   bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2})  # fmt: skip
    scene.set_title("find_markers(image, '4x4_50')", loc="left")
    scene.set_xticks([])
    scene.set_yticks([])
    scene.grid(visible=False)
    camera, points = Camera.pinhole((640, 480), focal_length=600), marker_points(0.1)
    distances = np.geomspace(0.4, 6, 40)
    for tilt, color in ((60, CURVES[1]), (30, CURVES[2]), (10, CURVES[3])):
        T = np.tile(se3.exp([np.radians(tilt), 0.1, 0, 0, 0, 0]) @ np.diag([1.0, -1, -1, 1]), (len(distances), 1, 1))
        T[:, 2, 3] = distances
        pixels = np.array([project(camera, se3.act(t, points)) for t in T])
        rms = planar_poses(camera, points, pixels, refine=False).rms[:, 1]
        errors.loglog(distances, rms, color=color, label=f"tilt {tilt}°")
    errors.axhspan(1e-3, 0.2, color="0.9", lw=0)
    errors.text(0.42, 0.0065, "within the noise of corners: both poses are possible", fontsize=8)
    errors.set(xlabel="distance of a marker of 0.1 m [m]", ylabel="rms of the second pose [pixels]", ylim=(5e-3, 60))
    errors.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    errors.minorticks_off()
    errors.set_title("can the two poses be told apart?", loc="left")
    errors.legend()
    save(figure, "cameras_markers", 128)


def circle() -> None:
    """The cone of a circle with both solutions, and the errors of tilt and distance over the tilt."""
    figure = new_figure("cameras", (10, 3.8), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    T = se3.exp([0.9, 0.5, 0, 0, 0, 0]) @ se3.exp([np.pi, 0, 0, 0, 0, 0])
    T[:3, 3] = 0.15, -0.05, 0.8
    t, r = np.linspace(0, 2 * np.pi, 60), 0.2
    edge = r * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1) @ T[:3, :3].T + T[:3, 3]
    camera = Camera.pinhole((640, 480), 1.0)
    found = circle_poses(camera, project(camera, edge), r)
    for ray in edge[::3]:
        space.plot(*np.stack([0 * ray, 1.35 * ray]).T[[0, 2, 1]], color="0.75", lw=0.6)
    for pose, color, name in zip(found.T_camera_circle, (CURVES[0], CURVES[1]), ("first", "second"), strict=True):
        X = r * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1) @ pose[:3, :3].T + pose[:3, 3]
        space.plot(*X.T[[0, 2, 1]], color=color, lw=2.5, label=f"{name} solution")
        space.plot(*np.stack([pose[:3, 3], pose[:3, 3] + 0.2 * pose[:3, 2]]).T[[0, 2, 1]], color=color, lw=1.5)
    space.scatter([0], [0], [0], color="black", s=15)
    space.text(0, 0, 0.05, "lens", fontsize=8)
    space.set(xlabel="x", ylabel="z", zlabel="y", xticklabels=[], yticklabels=[], zticklabels=[])
    space.invert_zaxis()
    space.set_box_aspect((1, 1.6, 1))
    space.view_init(25, -75)
    space.legend(loc="upper left")
    space.set_title("one ellipse, two circles", loc="left")
    axes = figure.add_subplot(1, 2, 2)
    axes.grid(visible=True)
    rng, lens, small = np.random.default_rng(0), Camera.pinhole((640, 480), focal_length=600), 0.05
    tilts, spread, expected = np.radians(np.linspace(2, 75, 25)), [], []
    for tilt in tilts:
        T = se3.exp([np.pi + tilt, 0, 0, 0, 0, 0])
        T[:3, 3] = 0, 0, 1.0
        edge = small * np.stack([np.cos(t[:-1]), np.sin(t[:-1]), 0 * t[:-1]], axis=1) @ T[:3, :3].T + T[:3, 3]
        pixels = project(lens, edge) + 0.2 * rng.normal(size=(400, 59, 2))
        seen = circle_poses(lens, pixels, small, noise=0.2)
        off = np.arccos(np.clip(seen.T_camera_circle[..., :3, 2] @ T[:3, 2], -1, 1)).min(axis=1)
        spread.append(np.degrees(np.sqrt(np.mean(off**2))))
        ideal = circle_poses(lens, project(lens, edge), small, noise=0.2).covariance
        expected.append(np.degrees(np.sqrt(ideal[:, 0, 0] + ideal[:, 1, 1]).min()))
    axes.semilogy(np.degrees(tilts), expected, color=CURVES[2], label="from the covariance")
    axes.semilogy(np.degrees(tilts), spread, ".", color=CURVES[0], label="400 repeats each")
    axes.set(xlabel="tilt of the circle [°]", ylabel="error of its normal [°]", ylim=(0.1, 100))
    axes.set_title("noise of 0.2 pixels, a circle of 60 pixels", loc="left")
    axes.legend()
    save(figure, "cameras_circle", 128)


if __name__ == "__main__":
    with house_style("pictures"):
        calibration()
        markers()
        circle()
