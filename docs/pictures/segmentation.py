"""Draws the pictures of docs/segmentation.md: python docs/pictures/segmentation.py"""

from pathlib import Path

import cv2
import mvtbdata
import numpy as np
import skimage.data
from saving import save
from skimage.morphology import skeletonize

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.vision.images import gradient_edges, mean_filter, sobel
from adjoint.vision.segmentation import (
    Uniformity,
    edge_path,
    edge_runs,
    grow_regions,
    hough_circles,
    hough_lines,
    hough_segments,
    hough_votes,
    link_edges,
    split_and_merge,
)
from adjoint.vision.shapes.skeletons import medial_axis, skeleton_graph
from adjoint.vision.shapes.thinning import thin

PHOTOS = Path(mvtbdata.__file__).parent / "images"


def photo(name: str, width: int) -> np.ndarray:
    image = np.asarray(cv2.imread(str(PHOTOS / name), cv2.IMREAD_GRAYSCALE))
    return cv2.resize(image, (width, round(width * image.shape[0] / image.shape[1])), interpolation=cv2.INTER_AREA)


def show(axes, image, title: str, **options) -> None:
    if image.ndim == 2 and image.dtype != bool and "cmap" not in options:
        options = {"vmin": 0, "vmax": 255, **options}
    axes.imshow(image, **{"cmap": "gray", "interpolation": "nearest", **options})
    axes.set_title(title, fontsize=9)
    axes.axis("off")


def coloured(labels: np.ndarray, ground=(1.0, 1.0, 1.0)) -> np.ndarray:
    """Each label with one of the colors of curves; 0 with the ground."""
    palette = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in CURVES])
    return np.where(labels[..., None] > 0, palette[(labels * 7) % len(palette)], ground)


def links() -> None:
    """A sign: its gradient, linked edges, and runs along rows and columns."""
    image = photo("castle.png", 420)
    gradient = sobel(mean_filter(image, 3))
    labels = link_edges(gradient, stronger_than=110, angle_within=np.deg2rad(15), smallest=12)
    figure = new_figure("segmentation", (9, 2.55), layout="constrained")
    axes = figure.subplots(1, 3)
    show(axes[0], image, "a sign")
    show(axes[1], coloured(labels), f"{labels.max()} linked edges of 12 pixels or more")
    show(axes[2], (image // 2 + 127).astype(np.uint8), "runs of 40 pixels or more, gaps of 4 bridged")
    for along, color in (("rows", CURVES[0]), ("columns", CURVES[1])):
        found = edge_runs(gradient, along=along, stronger_than=110, gap=4, shortest=40)
        axes[2].plot(found.ends[:, ::2].T, found.ends[:, 1::2].T, color=color, lw=1.2)
    save(figure, "segmentation_links", 48)


def hough() -> None:
    """The edges of a sign, their accumulator and lines; circles of coins."""
    image = photo("castle.png", 480)
    edges = gradient_edges(mean_filter(image, 3), 200)
    votes = hough_votes(edges)
    lines = hough_lines(edges, most=3, at_least=60, apart=25)
    segments = hough_segments(edges, at_least=30, shortest=60, gap=3)
    figure = new_figure("segmentation", (9, 4.6), layout="constrained")
    axes = figure.subplots(2, 2)
    show(axes[0, 0], ~edges, "edge pixels of a sign")
    extent = np.array([-90, 90, votes.rho[-1], votes.rho[0]])
    axes[0, 1].imshow(votes.votes**0.5, cmap="magma", extent=extent, aspect="auto")
    axes[0, 1].plot(np.rad2deg(lines.theta), lines.rho, "o", mfc="none", mec=CURVES[7], ms=9)
    axes[0, 1].set(title=f"their votes, and {len(lines.rho)} peaks", xlabel="θ [°]", ylabel="ρ [pixels]")
    axes[0, 1].grid(visible=False)
    show(axes[1, 0], image, "their lines u cos θ + v sin θ = ρ, and segments")
    rows, columns = image.shape
    for rho, theta in zip(lines.rho, lines.theta, strict=True):
        along = np.array([-1000, 1000])
        axes[1, 0].plot(
            rho * np.cos(theta) - along * np.sin(theta), rho * np.sin(theta) + along * np.cos(theta), color=CURVES[0],
            lw=1,
        )  # fmt: skip
    axes[1, 0].plot(segments[:, ::2].T, segments[:, 1::2].T, color=CURVES[7], lw=1.4)
    axes[1, 0].set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    coins = skimage.data.coins()
    found = hough_circles(cv2.GaussianBlur(coins, (0, 0), 2), radii=(17, 30), apart=35, edge=60, at_least=20)
    show(axes[1, 1], coins, f"{len(found.radii)} circles in a photograph of 24 coins")
    for (u, v), r in zip(found.centers, found.radii, strict=True):
        t = np.linspace(0, 2 * np.pi, 60)
        axes[1, 1].plot(u + r * np.cos(t), v + r * np.sin(t), color=CURVES[0], lw=1.3)
    save(figure, "segmentation_hough", 128)


def paths() -> None:
    """The book's small image; a noisy step; and a skyline."""
    figure = new_figure("segmentation", (9, 2.75), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 1.25])
    small = np.array([[7, 2, 2], [5, 7, 2], [5, 1, 0]])
    found = edge_path(small)
    show(axes[0], small, f"figure 8.7: cost {found.cost:g}", vmin=-4, vmax=8)
    for (v, u), value in np.ndenumerate(small):
        axes[0].text(u, v, value, ha="center", va="center", fontsize=12)
    axes[0].plot(*found.corners.T, color=CURVES[0], lw=4, solid_joinstyle="round")
    for cost, middle in zip(found.costs, (found.corners[1:] + found.corners[:-1]) / 2, strict=True):
        axes[0].text(*middle, f"{cost:g}", color="white", fontsize=8, ha="center", va="center",
                     bbox={"boxstyle": "circle,pad=0.15", "fc": CURVES[0], "ec": "none"})  # fmt: skip
    v, u = np.mgrid[:120, :110]
    noisy = np.where(u < 55 + 14 * np.sin(v / 18), 150, 90) + np.random.default_rng(1).normal(0, 25, u.shape)
    noisy = np.clip(noisy, 0, 255).astype(np.uint8)
    show(axes[1], noisy, "a step of 60 with noise of σ = 25")
    smooth = mean_filter(noisy, 5)
    axes[1].plot(*edge_path(smooth).corners.T, color=CURVES[7], lw=1.6, label=f"H = {smooth.max()}")
    axes[1].plot(*edge_path(smooth, highest=40).corners.T, color=CURVES[0], lw=1.6, label="H = 40")
    axes[1].legend(loc="upper right", labelcolor="white")
    park = mean_filter(photo("eiffel-1.png", 420), 3)
    show(axes[2], park, "bright above: from right to left")
    for H, color in ((None, CURVES[7]), (60, CURVES[0])):
        label = f"H = {H or park.max()}"
        axes[2].plot(*edge_path(park, direction="left", highest=H).corners.T, color=color, lw=1.6, label=label)
    axes[2].legend(loc="upper right", labelcolor="white")
    save(figure, "segmentation_paths", 128)


def brightest_spots(image: np.ndarray, n: int) -> list[tuple[int, int]]:
    """A pixel (u, v) inside each of the n largest bright areas."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats((image > 170).astype(np.uint8))
    large = 1 + np.argsort(-stats[1:, cv2.CC_STAT_AREA])[:n]
    inner = cv2.distanceTransform((image > 170).astype(np.uint8), cv2.DIST_L2, 5)
    return [tuple(np.argwhere(inner * (labels == k) == inner[labels == k].max())[0][::-1].tolist()) for k in large]


def regions() -> None:
    """Regions from seeds; the leaves of a quadtree; the regions that they are merged to."""
    figure = new_figure("segmentation", (9, 3.1), layout="constrained")
    axes = figure.subplots(1, 3)
    blobs = photo("tags.png", 420)
    smooth = mean_filter(blobs, 3)
    seeds = [(215, 110), *brightest_spots(smooth, 4)]
    labels = grow_regions(smooth, seeds, 32)
    grown = np.where(labels[..., None] > 0, 0.25 + 0.75 * coloured(labels), blobs[..., None] / 255)
    show(axes[0], grown, "regions grown from five seeds")
    axes[0].plot(*np.transpose(seeds), "x", color="black", ms=6, mew=1.5)
    camera = cv2.resize(skimage.data.camera(), (256, 256), interpolation=cv2.INTER_AREA)
    found = split_and_merge(camera, Uniformity("range", 40))
    leaves = found.tree.leaves
    show(axes[1], camera, f"{len(leaves)} leaves: ranges of 40 or less")
    border = np.zeros(camera.shape, bool)
    border[1:] |= found.tree.index[1:] != found.tree.index[:-1]
    border[:, 1:] |= found.tree.index[:, 1:] != found.tree.index[:, :-1]
    axes[1].imshow(np.ma.masked_array(border, ~border), cmap="autumn", alpha=0.5, interpolation="nearest")
    means = np.bincount(found.labels.ravel(), camera.ravel()) / np.maximum(np.bincount(found.labels.ravel()), 1)
    show(axes[2], means[found.labels], f"{found.labels.max()} regions, with their means")
    save(figure, "segmentation_regions", 200)


def skeletons() -> None:
    """A horse: its medial axis, its thinned skeleton as a graph, that of scikit-image; and thinned text."""
    horse = np.asarray(skimage.data.horse()) == 0
    skeleton, axis = thin(horse), medial_axis(horse).skeleton
    figure = new_figure("segmentation", (9, 5.4), layout="constrained")
    axes = figure.subplots(2, 2)
    titles = ("medial axis", "thin: safe points, its ends and junctions", "scikit-image: skeletonize")
    for axes_, title, found in zip(axes.flat, titles, (axis, skeleton, skeletonize(horse)), strict=False):
        show(axes_, np.where(horse, 205, 255), title)
        axes_.scatter(*np.argwhere(found).T[::-1], s=1.2, color="#2b2f36", lw=0)
    graph = skeleton_graph(skeleton)
    for many, color in ((graph.degrees == 1, CURVES[0]), (graph.degrees > 2, CURVES[1])):
        axes[0, 1].plot(*graph.nodes[many].T, "o", color=color, ms=3.5)
    page = cv2.resize(skimage.data.page()[104:150, 100:190], None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    ink = page < 100
    show(axes[1, 1], np.where(ink, 205, 255), "thin: letters")
    axes[1, 1].scatter(*np.argwhere(thin(ink)).T[::-1], s=1.2, color="#c4453a", lw=0)
    save(figure, "segmentation_skeletons", 48)


if __name__ == "__main__":
    with house_style("segmentation"):
        for draw in (links, hough, paths, regions, skeletons):
            draw()
