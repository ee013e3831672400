"""Low-level vision on real images: noise, binary images, histograms, edges, m-paths, and 24 coins that are counted.

python examples/27_low_level_vision.py     writes low_level_vision.png into output/

The images are those of scikit-image; without it, a scene of disks is made.
"""

from pathlib import Path

import numpy as np

from adjoint.vision import images, segmentation

OUTPUT = Path(__file__).parent / "output"


def made_scene() -> np.ndarray:
    """24 disks with a little texture, under light that falls downwards, (300, 380) of 8 bits."""
    v, u = np.indices((300, 380))
    far = np.hypot(u % 63 - 31, v % 75 - 37)
    light = 130 - 0.25 * v + 60 * (far < 20) * (u < 378) + 8 * np.cos(far)
    return np.clip(light + np.random.default_rng(0).normal(0, 4, v.shape), 0, 255).astype(np.uint8)


def coins() -> np.ndarray:
    """An image of 24 coins."""
    try:
        import skimage.data
    except ImportError:
        return made_scene()
    return skimage.data.coins()


# --- levels and noise -------------------------------------------------------------------------------------------------


def sampling(f: np.ndarray) -> None:
    """What fewer levels cost, and what they save."""
    rows, columns = f.shape
    print(f"{rows} × {columns} pixels; levels, bits, and the error that is left:")
    for levels in (256, 16, 4, 2):
        error = np.abs(images.requantise(f, levels).astype(float) - f).mean()
        print(f"  {levels:3} levels {images.image_bits(rows, columns, levels) / 1000:7.0f} kbit, off by {error:5.1f}")


def noise(f: np.ndarray) -> None:
    """Means and medians under impulse noise, and means of frames, whose noise falls as 1/√K."""
    rng = np.random.default_rng(1)
    hit = rng.random(f.shape)
    noisy = np.where(hit < 0.1, 0, np.where(hit > 0.9, 255, f)).astype(np.uint8)

    def off(g: np.ndarray) -> str:
        return f"{np.abs(g.astype(float) - f).mean():.1f}"

    print(f"impulse noise on 20 % of the pixels is off by {off(noisy)} levels; after a mean of 5 × 5 by ", end="")
    print(
        f"{off(images.mean_filter(noisy, 5))}, after a median of 3 × 3 by {off(images.median_filter(noisy))}, ", end=""
    )
    print(f"after two by {off(images.median_filter(noisy, passes=2))}")
    for K in (1, 4, 16, 64):
        mean = images.average_frames(f + 20 * rng.normal(size=f.shape) for _ in range(K))
        told = f", and the frames themselves tell {mean.deviation.mean():.2f}" if K > 1 else ""
        print(f"  mean of {K:2} frames: noise {np.std(mean.image - f):5.2f}, 20/√K = {20 / np.sqrt(K):5.2f}{told}")


# --- objects ----------------------------------------------------------------------------------------------------------


def objects(f: np.ndarray) -> np.ndarray:
    """The coins (rows, columns) bool, by a threshold that follows the light."""
    smooth = images.median_filter(f, 5)
    single = segmentation.otsu_thresholds(images.histogram(smooth))[0]
    found = segmentation.dynamic_threshold(smooth, (4, 5))
    print(f"one threshold (Otsu): {single:.0f}; the dynamic one goes from ", end="")
    print(f"{found.surface.min():.0f} to {found.surface.max():.0f}, with {found.bimodal.sum()} of 20 tiles bimodal")
    counts = []
    for level in (single, found.surface):
        g = images.opening(images.closing(segmentation.threshold(smooth, level), 5), 7)
        labels, count = images.connected_components(g)
        counts.append(f"{count} objects of {np.bincount(labels.ravel())[1:].min()} pixels and more")
    print(f"  one threshold finds {counts[0]}; the dynamic one {counts[1]}")
    return g


def binary(found: np.ndarray) -> None:
    """Unger's rules repair a damaged binary image."""
    rng = np.random.default_rng(2)
    damaged = found ^ (rng.random(found.shape) < 0.02)
    repaired = images.smooth_binary(damaged)
    print(
        f"2 % of the binary pixels are turned: {(damaged != found).sum()} wrong, {(repaired != found).sum()} after ",
        end="",
    )
    print("Unger's rules")


def paths(found: np.ndarray) -> None:
    """Ways through the gaps between coins, by three kinds of connectivity."""
    free = ~found
    start = (0, int(np.flatnonzero(free[:, 0])[0]))  # the highest free pixel at the left, the lowest at the right
    goal = (free.shape[1] - 1, int(np.flatnonzero(free[:, -1])[-1]))
    lengths = {kind: images.path_distance(free, start, goal, None, kind) for kind in (4, 8, "m")}
    line = images.pixel_distance(start, goal)
    print(f"from {start} to {goal} between the coins, steps by connectivity: {lengths}; straight {line:.1f} pixels")


def draw(f: np.ndarray, found: np.ndarray, path: Path) -> None:
    """All stages in one picture."""
    from matplotlib.figure import Figure

    gradient = images.sobel(images.mean_filter(f))
    panels = {
        "image": f,
        "equalized": images.equalise_histogram(f),
        "enhanced locally": images.enhance_locally(f, 15, gain=0.3),
        "gradient": np.minimum(images.gradient_magnitude(gradient), 400),
        "sides of edges": segmentation.boundary_labels(images.mean_filter(f), 100, objects="light"),
        "objects": found,
    }
    figure = Figure((9, 5), layout="constrained")
    for axes, (title, g) in zip(figure.subplots(2, 3).ravel(), panels.items(), strict=True):
        axes.imshow(g, cmap="gray")
        axes.set_title(title)
        axes.axis("off")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"wrote {path.name}")


def main() -> None:
    f = coins()
    sampling(f)
    noise(f)
    found = objects(f)
    binary(found)
    paths(found)
    draw(f, found, OUTPUT / "low_level_vision.png")


if __name__ == "__main__":
    main()
