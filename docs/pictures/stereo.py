"""Draws the pictures of docs/stereo.md: python docs/pictures/stereo.py"""

from pathlib import Path

import cv2
import mvtbdata
import numpy as np
from PIL import Image
from skimage import data

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.vision.cameras import Camera
from adjoint.vision.stereo import StereoPair, match_stereo, reproject_disparity

IMAGES = Path(__file__).parents[1] / "images"
REAL = Path(mvtbdata.__file__).parent / "images"


def disparities() -> None:
    """Two real pairs: the left image, its disparities, and how wrong they are where the truth is known."""
    left, right, true = data.stereo_motorcycle()
    found = match_stereo(left, right, disparities=96)
    known = np.isfinite(found) & np.isfinite(true) & (true > 0)
    error = np.abs(found - true)
    print(f"motorcycle: {known.mean():.2f} matched, {np.mean(error[known] < 1):.3f} within a pixel")
    figure = new_figure("stereo", (10, 5.4), layout="constrained")
    axes = figure.subplots(2, 3)
    rocks = [cv2.imread(str(REAL / f"rocks2-{side}.png"), cv2.IMREAD_GRAYSCALE) for side in "lr"]
    a, b = (cv2.resize(x, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for x in rocks)
    stones = match_stereo(a, b, disparities=112)
    for row, (image, d, name) in enumerate(((left, found, "motorcycle"), (a, stones, "rocks"))):
        axes[row, 0].imshow(image, cmap="gray")
        axes[row, 0].set_title(name, loc="left")
        shown = axes[row, 1].imshow(d, cmap="viridis")
        axes[row, 1].set_title("disparity [px]", loc="left")
        figure.colorbar(shown, ax=axes[row, 1], shrink=0.8)
    shown = axes[0, 2].imshow(np.where(known, error, np.nan), cmap="magma", vmax=3)
    axes[0, 2].set_title("error [px], known truth", loc="left")
    figure.colorbar(shown, ax=axes[0, 2], shrink=0.8)
    camera = Camera(np.array([[994.978, 0, 311.193], [0, 994.978, 254.877], [0, 0, 1]]), found.shape[::-1])
    points = reproject_disparity(StereoPair.aligned(camera, 0.193001), found + 32.778, sigma=0.5)
    axis, rows = axes[1, 2], slice(250, 253)
    x, z = points.points[rows, :, 0].ravel(), points.depth[rows].ravel()
    axis.errorbar(x, z, points.depth_sigma[rows].ravel(), fmt=".", ms=2, lw=0.4, color=CURVES[1])
    axis.set(xlabel="x [m]", ylabel="depth [m]", ylim=(0, 6))
    axis.set_title("motorcycle, rows 250 to 252, ±σ", loc="left")
    for axis in (*axes[0], *axes[1, :2]):
        axis.set_axis_off()
    path = IMAGES / "stereo_disparity.png"
    figure.savefig(path, dpi=90)
    Image.open(path).convert("RGB").quantize(160).save(path, optimize=True)  # photographs make large files


if __name__ == "__main__":
    with house_style("stereo"):
        disparities()
