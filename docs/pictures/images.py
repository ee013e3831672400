"""Draws the pictures of docs/images.md: python docs/pictures/images.py"""

from pathlib import Path

import cv2
import numpy as np
import skimage.data
from saving import save
from sklearn.datasets import load_sample_image

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.vision.images import (
    average_frames,
    enhance_locally,
    equalise_histogram,
    equalise_locally,
    gradient_edges,
    gradient_magnitude,
    gray_levels,
    histogram,
    laplacian,
    mean_filter,
    median_filter,
    path_between,
    path_distances,
    smooth_binary,
    sobel,
    specify_histogram,
)
from adjoint.vision.segmentation.motion import accumulate_differences, settle_reference, start_differences
from adjoint.vision.segmentation.thresholds import threshold
from adjoint.vision.segmentation.thresholds_boundary import boundary_labels, boundary_objects
from adjoint.vision.segmentation.thresholds_colour import colour_clusters, nearest_colour, pixels_near_colour
from adjoint.vision.segmentation.thresholds_dynamic import dynamic_threshold
from adjoint.vision.segmentation.thresholds_optimum import (
    classify_levels,
    decision_intervals,
    fit_mixture,
    otsu_thresholds,
)


def show(axes, image, title: str, **options) -> None:
    """One image without axes; gray ones go from black to white of their dtype."""
    if image.ndim == 2 and image.dtype != bool and "cmap" not in options:
        options = {"vmin": 0, "vmax": 255, **options}
    axes.imshow(image, **{"cmap": "gray", "interpolation": "nearest", **options})
    axes.set_title(title, fontsize=9)
    axes.axis("off")


def smoothing() -> None:
    """Impulse noise under means and medians; Gaussian noise under means of frames."""
    rng = np.random.default_rng(0)
    f = skimage.data.camera()[90:218, 180:308]
    hit = rng.random(f.shape)
    noisy = np.where(hit < 0.1, 0, np.where(hit > 0.9, 255, f)).astype(np.uint8)
    figure = new_figure("images", (9, 4.9), layout="constrained")
    axes = figure.subplots(2, 4)
    show(axes[0, 0], noisy, "20 % impulse noise")
    show(axes[0, 1], mean_filter(noisy, 5), "mean, 5 × 5")
    show(axes[0, 2], median_filter(noisy, 3), "median, 3 × 3")
    show(axes[0, 3], median_filter(noisy, 3, passes=2), "median, 3 × 3, twice")
    frames = np.clip(f + rng.normal(0, 40, (64, *f.shape)), 0, 255)
    for axis, K in zip(axes[1], (1, 4, 16, 64), strict=True):
        show(axis, average_frames(frames[:K]).image, "one frame, σ = 40" if K == 1 else f"mean of {K} frames")
    save(figure, "images_smoothing", 24)


def binary() -> None:
    """Unger's rules on a small image; and m-paths through a maze."""
    text = "0000000000 0111101100 0111111110 0110111101 0111111100 0111111100 1111111000 0000000000 0000000010"
    f = np.array([[c == "1" for c in row] for row in text.split()])
    figure = new_figure("images", (9, 2.05), layout="constrained")
    axes = figure.subplots(1, 5)
    before = f
    titles = ("noisy", "holes and notches filled", "bumps and points cleared", "corners put back")
    for axis, title, steps in zip(axes, titles, ((), ("fill",), ("clear",), ("corners",)), strict=False):
        after = smooth_binary(before, steps) if steps else before
        picture = np.full((*f.shape, 3), 0.94)
        picture[after] = (0.17, 0.19, 0.22)
        picture[after & ~before] = (0.88, 0.48, 0.13)
        picture[before & ~after] = (0.6, 0.78, 0.93)
        axis.imshow(picture)
        axis.set_xticks(np.arange(-0.5, 10), [])
        axis.set_yticks(np.arange(-0.5, 9), [])
        axis.tick_params(length=0)
        axis.grid(color="white", lw=1)
        axis.set_axisbelow(False)
        axis.spines[:].set_visible(False)
        axis.set_title(title, fontsize=8.5)
        before = after
    rng = np.random.default_rng(3)
    open_ = median_filter((255 * (rng.random((61, 68)) < 0.56)).astype(np.uint8), 3) > 0
    open_[:4, :4] = open_[-4:, -4:] = True
    far = path_distances(open_, (0, 0)).astype(float)
    far[far < 0] = np.nan
    axes[4].imshow(far, cmap="viridis", interpolation="nearest")
    way = path_between(open_, (0, 0), (67, 60))
    axes[4].plot(*way.T, color=CURVES[0], lw=1.4)
    axes[4].set_title(f"m-distances; a path of {len(way) - 1}", fontsize=8.5)
    axes[4].axis("off")
    save(figure, "images_binary", 96)


def histograms() -> None:
    """The moon, equalized, with a specified histogram, and enhanced locally; histograms below."""
    f = mean_filter(skimage.data.moon()[60:380, 120:440], 3)
    wanted = lambda z: np.exp(-0.5 * ((z - 0.35) / 0.18) ** 2)  # noqa: E731
    panels = {
        "as taken": f,
        "equalized": equalise_histogram(f),
        "specified: a Gaussian": specify_histogram(f, wanted),
        "equalized in 61 × 61": equalise_locally(f, 61),
        "local mean and variance": enhance_locally(f, 31, gain=0.2, gain_limits=(1, 5)),
    }
    figure = new_figure("images", (10, 3.1), layout="constrained")
    axes = figure.subplots(2, 5, gridspec_kw={"height_ratios": [2.6, 1]})
    for (top, below), (title, g) in zip(axes.T, panels.items(), strict=True):
        show(top, g, title, interpolation="antialiased")
        below.bar(np.arange(4, 256, 8), histogram(g).reshape(32, 8).sum(axis=1), 7, color=CURVES[1])
        below.set(xlim=(0, 255), yticks=[], xticks=[0, 255])
        if title.startswith("spec"):
            p = wanted(np.arange(256) / 255)
            below.plot(8 * g.size * p / p.sum(), color=CURVES[0], lw=1.4)
    save(figure, "images_histograms", 32)


def edges() -> None:
    """Coins: gradient, edges, Laplacian, and the three-level image of boundaries."""
    f = skimage.data.coins()[70:230, 20:220]
    g = sobel(f)
    figure = new_figure("images", (10, 1.9), layout="constrained")
    axes = figure.subplots(1, 5)
    show(axes[0], f, "coins")
    show(axes[1], gradient_magnitude(g), "gradient (Sobel)", vmax=500)
    show(axes[2], gradient_edges(mean_filter(f, 3), 120), "edges: gradient > 120")
    show(axes[3], laplacian(mean_filter(f, 5)), "Laplacian", vmin=-25, vmax=25)
    labels = boundary_labels(mean_filter(f, 3), 100, objects="light")
    picture = np.array([[0.94, 0.94, 0.95], [0.88, 0.48, 0.13], [0.18, 0.5, 0.78]])[labels]
    axes[4].imshow(picture, interpolation="nearest")
    axes[4].set_title("the two sides of edges", fontsize=9)
    axes[4].axis("off")
    save(figure, "images_edges", 40)


def page() -> None:
    """A page lit from one side, under three kinds of thresholds."""
    f = skimage.data.page()
    surface = dynamic_threshold(f, (8, 16)).surface
    panels = {
        "a page, lit from the right": f,
        "one threshold (Otsu)": threshold(f, otsu_thresholds(histogram(f))[0]),
        "dynamic threshold, 8 × 16 tiles": threshold(f, surface),
        "from edges, along rows": ~boundary_objects(mean_filter(f, 3), 70),
    }
    figure = new_figure("images", (9, 4.9), layout="constrained")
    for axis, (title, g) in zip(figure.subplots(2, 2).ravel(), panels.items(), strict=True):
        show(axis, g, title, interpolation="antialiased")
    save(figure, "images_page", 32)


def classes() -> None:
    """The classes of a photograph."""
    f = skimage.data.camera()[::2, ::2]
    counts = histogram(f)
    fit = fit_mixture(counts, 3)
    cuts, _ = decision_intervals(fit)
    figure = new_figure("images", (9, 2.5), layout="constrained")
    b = figure.subplots(1, 3, width_ratios=[1, 2, 1])
    show(b[0], f, "camera man")
    z = np.arange(256)
    b[1].fill_between(z, counts / counts.sum(), color="#c9ced6", lw=0)
    parts = (
        fit.weights
        / np.sqrt(2 * np.pi)
        / fit.deviations
        * np.exp(-0.5 * ((z[:, None] - fit.means) / fit.deviations) ** 2)
    )
    for k in range(3):
        b[1].plot(z, parts[:, k], color=CURVES[k], lw=1.4)
    for cut in cuts:
        if 0 < cut < 255:
            b[1].axvline(cut, color="#2b2f36", ls=":", lw=1)
    b[1].set(
        title="three Gaussian classes, optimum thresholds", xlim=(0, 255), ylim=(0, 0.025), yticks=[], xlabel="level"
    )
    colour = np.array([[0.88, 0.48, 0.13], [0.18, 0.5, 0.78], [0.16, 0.62, 0.44]])
    b[2].imshow(colour[classify_levels(f, fit)], interpolation="nearest")
    b[2].set_title("most likely class", fontsize=9)
    b[2].axis("off")
    save(figure, "images_classes", 64)


def colours() -> None:
    """A flower: clusters of colours, and pixels near one of them."""
    f = load_sample_image("flower.jpg")[40:400:2, 100:580:2]
    found = colour_clusters(f, 5)
    figure = new_figure("images", (9, 2.3), layout="constrained")
    axes = figure.subplots(1, 3)
    show(axes[0], f, "a photograph")
    show(axes[1], found.centroids.astype(np.uint8)[nearest_colour(f, found.centroids)], "nearest of five clusters")
    petal = found.centroids[np.argmax(found.centroids[:, 0] - found.centroids[:, 1])]
    show(axes[2], pixels_near_colour(f, petal, 80), "within 80 levels of the reddest")
    save(figure, "images_colours", 128)


def traffic(frames: int) -> list[np.ndarray]:
    """Gray frames of a film of a crossing, of the Machine Vision Toolbox."""
    import mvtbdata

    film = cv2.VideoCapture(str(Path(mvtbdata.__file__).parent / "images" / "traffic_sequence.mp4"))
    return [
        median_filter(gray_levels(np.ascontiguousarray(film.read()[1][..., ::-1])), 5)[70:330, 200:600]
        for _ in range(frames)
    ]


def motion() -> None:
    """Accumulated differences of a crossing, and the reference that is left."""
    frames = traffic(250)
    differences = start_differences(frames[0])
    for f in frames[1:25]:
        differences = accumulate_differences(differences, f, 20)
    state = start_differences(frames[0])
    for f in frames[1:]:
        state = settle_reference(accumulate_differences(state, f, 20), f, patience=4, smallest=15)
    figure = new_figure("images", (9, 4.2), layout="constrained")
    axes = figure.subplots(2, 3)
    show(axes[0, 0], frames[0], "first frame")
    show(axes[0, 1], frames[24], "frame 25")
    show(axes[0, 2], state.reference, "reference after 250 frames")
    for axis, name in zip(axes[1], ("absolute", "positive", "negative"), strict=True):
        counts = getattr(differences, name)
        show(axis, counts, f"{name} differences, 24 frames", cmap="magma", vmin=0, vmax=24)
    save(figure, "images_motion", 96)


if __name__ == "__main__":
    with house_style("images"):
        for draw in (smoothing, binary, histograms, edges, page, classes, colours, motion):
            draw()
