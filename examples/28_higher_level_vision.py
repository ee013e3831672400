"""Higher-level vision: parts on a table are segmented, described and recognised, in four ways.

python examples/28_higher_level_vision.py     writes higher_level_vision.png into output/

It needs `pip install 'adjoint[vision]'`, and `[plot]` for the picture.
"""

from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

import adjoint as aj
from adjoint.vision import images, segmentation
from adjoint.vision.recognition.classifiers import MinimumDistanceClassifier, classify, fit_minimum_distance
from adjoint.vision.recognition.shape_matching import similarity_degree
from adjoint.vision.recognition.string_matching import angle_symbols, string_match

OUTPUT = Path(__file__).parent / "output"
PARTS = ("wrench", "bolt", "washer", "nut", "bracket", "gear")
COLOURS: dict[str, str] = dict(
    zip(PARTS, ("#e07b22", "#2f7fc8", "#2a9d6f", "#b65aa2", "#c9a227", "#c4453a"), strict=True)
)
CELL, COLUMNS, ROWS = 190, 5, 4


# --- the scene --------------------------------------------------------------------------------------------------------


def ring(n: int, radius: float, turn: float = 0.0) -> np.ndarray:
    angles = turn + np.arange(n) * 2 * np.pi / n
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def outlines(part: str) -> list[np.ndarray]:
    """The polygons of a part [pixel] about its middle: the second one is a hole."""
    if part == "wrench":
        half = np.array([[-78, 0], [-70, -9], [25, -9], [40, -26], [62, -28], [80, -16], [60, -10], [52, 0]])
        return [np.concatenate([half, half[-2:0:-1] * [1, -1]])]
    if part == "bolt":
        return [np.array([[-60, -10], [30, -10], [30, -24], [52, -24], [52, 24], [30, 24], [30, 10], [-60, 10]])]
    if part == "washer":
        return [ring(48, 38), ring(48, 20)]
    if part == "nut":
        return [ring(6, 42), ring(48, 20)]
    if part == "bracket":
        return [np.array([[-45, -45], [-15, -45], [-15, 20], [50, 20], [50, 50], [-45, 50]])]
    return [ring(48, 1) * np.tile([38, 38, 48, 48], 12)[:, None], ring(48, 12)]  # a gear


def drawn(part: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """How much of each pixel a part covers, 0 to 1, turned and scaled a little at random, in an image of that size."""
    angle, scale = rng.uniform(0, 2 * np.pi), rng.uniform(0.85, 1.1)
    c, s = np.cos(angle), np.sin(angle)
    image, fine = np.zeros((4 * size, 4 * size), np.uint8), 4
    for polygon, level in zip(outlines(part), (255, 0), strict=False):
        points = fine * (scale * polygon @ np.array([[c, s], [-s, c]]) + size / 2)
        cv2.fillPoly(image, [np.rint(points).astype(np.int32)], level)
    return cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA) / 255


def scene(rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """Dark parts on a light table under uneven light, with noise: the image (8 bits), and names, cell by cell."""
    rows, columns = ROWS * CELL, COLUMNS * CELL
    v, u = np.mgrid[:rows, :columns]
    light = 190 - 0.06 * v + 25 * np.exp(-((u - 500) ** 2 + (v - 300) ** 2) / 3e5)
    cover, names = np.zeros((rows, columns)), []
    for i in range(ROWS):
        for j in range(COLUMNS):
            name = PARTS[rng.integers(len(PARTS))]
            cover[i * CELL : (i + 1) * CELL, j * CELL : (j + 1) * CELL] = drawn(name, CELL, rng)
            names.append(name)
    image = light * (1 - 0.6 * cover) + rng.normal(0, 9, light.shape)
    image = np.where(rng.random(light.shape) < 0.01, 255 * rng.random(light.shape), image)  # specks
    return np.clip(image, 0, 255).astype(np.uint8), names


# --- from the image to descriptions -----------------------------------------------------------------------------------


class Described(NamedTuple):
    """One part: its region, numbers of the region and of its boundary, shape numbers, and the string of its angles."""

    mask: np.ndarray
    corner: tuple[int, int]
    numbers: np.ndarray
    fourier: np.ndarray
    shape: dict[int, str]
    string: str


NUMBERS = ("compactness", "eccentricity", "Euler number", "√φ1", "√φ2")


def segmented(image: np.ndarray) -> np.ndarray:
    """Labels of the parts: dark regions of a median-filtered image, without small ones."""
    smooth = images.median_filter(image, 5)
    dark = images.smooth_binary(smooth <= segmentation.otsu_thresholds(images.histogram(smooth))[0])
    labels = images.connected_components(dark).labels
    area = np.bincount(labels.ravel())
    return np.where((area > 500)[labels], labels, 0)


def described(labels: np.ndarray) -> list[Described]:
    """Descriptions of all regions."""
    regions = aj.vision.region_descriptors(labels)
    phi = aj.vision.hu_invariants(aj.vision.region_moments(labels).normalized)
    numbers = np.stack(
        [regions.compactness, regions.eccentricity, regions.euler_number, *np.sqrt(np.abs(phi[:, :2].T))]
    )
    found = []
    for label, box, row in zip(regions.labels, regions.bounding_box, numbers.T, strict=True):
        u0, v0, u1, v1 = box.tolist()
        mask = labels[v0 : v1 + 1, u0 : u1 + 1] == label
        outer = max(aj.vision.crack_boundaries(mask), key=aj.vision.polygon_area)
        F = aj.vision.fourier_descriptors(aj.vision.resampled_boundary(outer, 256))
        polygon = aj.vision.split_polygon(aj.vision.minimum_perimeter_polygon(outer), 4.0)
        shape = aj.vision.shape_numbers(outer, range(4, 17, 2))
        fourier = aj.vision.fourier_invariants(F, 16)
        found.append(Described(mask, (u0, v0), row, fourier, shape, angle_symbols(polygon)))
    return found


# --- recognition ------------------------------------------------------------------------------------------------------


class Taught(NamedTuple):
    """What is known of the parts: classifiers of numbers, and samples for the structural methods."""

    regions: MinimumDistanceClassifier
    boundaries: MinimumDistanceClassifier
    samples: list[tuple[str, Described]]


def teach(rng: np.random.Generator, each: int = 8) -> Taught:
    """Learn from pictures of single parts."""
    samples = []
    for name in PARTS:
        for _ in range(each):
            cover = drawn(name, CELL, rng)
            picture = np.clip(200 - 110 * cover + rng.normal(0, 9, cover.shape), 0, 255).astype(np.uint8)
            samples += [(name, part) for part in described(segmented(picture))]
    names = [name for name, _ in samples]
    regions = fit_minimum_distance([part.numbers for _, part in samples], names, standardize=True)
    boundaries = fit_minimum_distance([part.fourier for _, part in samples], names)
    return Taught(regions, boundaries, samples)


METHODS = ("regions", "Fourier", "shape numbers", "strings")


def recognised(taught: Taught, parts: list[Described]) -> list[tuple[str, ...]]:
    """The names of parts by each of the METHODS."""
    by_region = classify(taught.regions, [part.numbers for part in parts]).classes
    by_fourier = classify(taught.boundaries, [part.fourier for part in parts]).classes
    found = []
    for part, first, second in zip(parts, by_region, by_fourier, strict=True):
        degrees = [similarity_degree(part.shape, sample.shape) for _, sample in taught.samples]
        ratios = [string_match(part.string, sample.string).ratio for _, sample in taught.samples]
        third, fourth = (taught.samples[int(np.argmax(score))][0] for score in (degrees, ratios))
        found.append((str(first), str(second), third, fourth))
    return found


def by_place(parts: list[Described]) -> list[int]:
    """The cell of the scene in which each part lies, row by row."""
    cells = []
    for part in parts:
        v, u = (np.argwhere(part.mask).mean(axis=0) + part.corner[::-1]) // CELL
        cells.append(int(v) * COLUMNS + int(u))
    return cells


def table(names: list[str], parts: list[Described], found: list[tuple[str, ...]]) -> None:
    print(
        f"{'part':9}{'area':>6}"
        + "".join(f"{name:>14}" for name in NUMBERS)
        + "   "
        + "".join(f"{m:15}" for m in METHODS)
    )
    for cell, part, guess in zip(by_place(parts), parts, found, strict=True):
        numbers = "".join(f"{x:14.3f}" for x in part.numbers)
        marked = "".join(f"{name if name == names[cell] else name + ' (!)':15}" for name in guess)
        print(f"{names[cell]:9}{part.mask.sum():6}{numbers}   {marked}")


def score(taught: Taught, scenes: int = 5) -> None:
    """Prints how many parts of other scenes each method names rightly."""
    right, total = np.zeros(len(METHODS), int), 0
    for seed in range(100, 100 + scenes):
        image, names = scene(np.random.default_rng(seed))
        parts = described(segmented(image))
        total += len(names)
        for cell, guess in zip(by_place(parts), recognised(taught, parts), strict=True):
            right += [name == names[cell] for name in guess]
    print(f"\nof {total} parts in {scenes} other scenes, named rightly:")
    for method, n in zip(METHODS, right, strict=True):
        print(f"  {method:14} {n:4}  ({n / total:.1%})")


def draw(image: np.ndarray, parts: list[Described], found: list[tuple[str, ...]]) -> None:
    from adjoint.drawing.style import house_style, new_figure

    with house_style("example 28"):
        figure = new_figure("example 28", (9.5, 7.6), layout="constrained")
        axes = figure.subplots()
        axes.imshow(image, cmap="gray", vmin=0, vmax=255)
        for part, guess in zip(parts, found, strict=True):
            name = max(guess, key=guess.count)
            polygon = aj.vision.minimum_perimeter_polygon(part.mask) + part.corner
            axes.plot(*np.concatenate([polygon, polygon[:1]]).T, color=COLOURS[name], lw=2)
            u, v = polygon.min(axis=0)
            agree = sum(g == name for g in guess)
            axes.text(u, v - 5, f"{name} ({agree} of 4)", color=COLOURS[name], fontsize=8.5, weight="bold")
        axes.set_title("what most of the four methods say, and how many agree", loc="left")
        axes.set_axis_off()
        OUTPUT.mkdir(exist_ok=True)
        figure.savefig(OUTPUT / "higher_level_vision.png", dpi=100)


def main() -> None:
    taught = teach(np.random.default_rng(0))
    image, names = scene(np.random.default_rng(5))
    parts = described(segmented(image))
    found = recognised(taught, parts)
    table(names, parts, found)
    score(taught)
    draw(image, parts, found)


if __name__ == "__main__":
    main()
