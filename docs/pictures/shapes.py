"""Draws the pictures of docs/shapes.md: python docs/pictures/shapes.py"""

import importlib.util
from pathlib import Path

import mvtbdata
import numpy as np
import skimage.data
from matplotlib.patches import Polygon
from PIL import Image
from saving import save, save_image
from scipy.cluster.hierarchy import dendrogram

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.vision.images import connected_components, median_filter, requantise
from adjoint.vision.recognition.shape_matching import similarity_matrix, similarity_tree
from adjoint.vision.shapes import (
    basic_rectangle,
    convex_hull,
    cooccurrence,
    cooccurrence_descriptors,
    crack_boundaries,
    distance_signature,
    fourier_boundary,
    fourier_descriptors,
    grid_coverage,
    merged_polygon,
    minimum_perimeter_polygon,
    pixel_boundaries,
    region_descriptors,
    resampled_boundary,
    shape_number,
    shape_numbers,
    slope_density,
    split_polygon,
    tangent_signature,
)
from adjoint.vision.shapes.shape_orders import _grids

PHOTOS = Path(mvtbdata.__file__).parent / "images"


def horse() -> np.ndarray:
    labels = connected_components(~np.asarray(skimage.data.horse()).astype(bool)).labels
    return labels == 1 + np.argmax(np.bincount(labels.ravel())[1:])


def closed(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.concatenate([points, points[:1]]).T)  # type: ignore[return-value]


def show(axes, image: np.ndarray, title: str, **options) -> None:
    axes.imshow(image, **{"cmap": "gray", "interpolation": "nearest", **options})
    axes.set_title(title, loc="left")
    axes.set_axis_off()


def boundaries() -> None:
    """The horse: cracks and the rubber band in detail, polygons, and Fourier descriptors."""
    image = horse()
    light = np.where(image, 200, 255).astype(np.uint8)
    figure = new_figure("shapes", (10, 5.6), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    cracks = next(b for b in crack_boundaries(image) if not b.hole).points
    band = minimum_perimeter_polygon(image)
    show(axes[0], light, f"{len(cracks)} cracks, and a polygon of {len(band)} corners", vmin=0, vmax=255)
    axes[0].plot(*closed(band), color=CURVES[0], lw=1.2)
    show(axes[1], light, "the ears: cracks, and the rubber band", vmin=0, vmax=255)
    axes[1].plot(*closed(cracks), color=CURVES[5], lw=0.8)
    axes[1].plot(*closed(band), "o-", color=CURVES[0], ms=3, lw=1.4)
    u, v = cracks[cracks[:, 1].argmin()]
    axes[1].set(xlim=(u - 38, u + 38), ylim=(v + 60, v - 4))
    points = pixel_boundaries(image)[0]
    show(axes[2], light, "corners by splitting and merging", vmin=0, vmax=255)
    axes[2].set(xlim=(-0.5, 399.5), ylim=(327.5, -0.5))
    for make, tolerance, colour in ((split_polygon, 8.0, CURVES[1]), (merged_polygon, 1.5, CURVES[6])):
        found = make(points, tolerance)
        axes[2].plot(*closed(found), "o-", color=colour, ms=3, lw=1.2, label=f"{make.__name__}, {len(found)}")
    axes[2].set_ylim(380, -0.5)
    axes[2].legend(loc="lower center", fontsize=7.5, ncols=2, columnspacing=1.0, handlelength=1.2)
    F = fourier_descriptors(resampled_boundary(points, 1024))
    for ax, keep in zip(axes[3:], (8, 24, 80), strict=True):
        show(ax, light, f"Fourier: {keep} of 1024 descriptors", vmin=0, vmax=255)
        ax.plot(*closed(fourier_boundary(F, keep)), color=CURVES[2], lw=1.6)
    save(figure, "shapes_boundaries")


def signatures() -> None:
    """Distance, tangent and slope density of three shapes."""
    angles = np.arange(200) * np.pi / 100
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]]) * 0.9
    star = np.array([[np.cos(a), np.sin(a)] for a in np.arange(10) * np.pi / 5 - np.pi / 2])
    star *= np.where(np.arange(10) % 2, 0.45, 1.15)[:, None]
    figure = new_figure("shapes", (10, 4.6), layout="constrained")
    axes = figure.subplots(3, 4, width_ratios=[1, 2, 2, 2])
    for row, (points, colour) in zip(axes, ((circle, CURVES[0]), (square, CURVES[1]), (star, CURVES[2])), strict=True):
        row[0].plot(*closed(points), color=colour)
        row[0].set(aspect="equal", xlim=(-1.3, 1.3), ylim=(1.3, -1.3))
        row[0].set_axis_off()
        r = distance_signature(points, 720)
        row[1].plot(np.degrees(r.at), r.values, color=colour)
        row[1].set(ylim=(0, 1.5), xticks=range(0, 361, 90))
        arc = tangent_signature(resampled_boundary(points, 400))
        row[2].step(arc.at / arc.at[-1], np.degrees(arc.values), color=colour, where="post")
        density = slope_density(resampled_boundary(points, 400), 72)
        row[3].bar(np.degrees(density.at), density.values, width=5, color=colour)
        row[3].set(xticks=range(0, 361, 90), ylim=(0, 0.3))
    for ax, title in zip(axes[0, 1:], ("r(θ)", "tangent angle [°] along the arc", "slope density"), strict=True):
        ax.set_title(title, loc="left")
    for ax, label in zip(axes[2, 1:], ("θ [°]", "part of the arc", "angle [°]"), strict=True):
        ax.set_xlabel(label)
    save(figure, "shapes_signatures")


def sharks() -> np.ndarray:
    """Labels of three sharks and a letter."""
    image = np.asarray(Image.open(PHOTOS / "sharks.png").convert("L")) > 128
    return connected_components(image).labels


def numbers() -> None:
    """A shark on grids of several orders."""
    mask = sharks() == 4
    outline = next(b for b in crack_boundaries(mask) if not b.hole)
    box = basic_rectangle(outline)
    sides = np.stack([box.corners[1] - box.corners[0], box.corners[3] - box.corners[0]], axis=1)
    figure = new_figure("shapes", (10, 2.3), layout="constrained")
    for ax, order in zip(figure.subplots(1, 4), (8, 14, 20, 30), strict=True):
        number = shape_number(outline, order=order)
        for a, b in _grids(order, box.eccentricity):
            local = np.linalg.solve(sides, (outline.points - box.corners[0]).T).T * (a, b)
            cells = grid_coverage(local, (b, a)) >= 0.5 - 1e-9
            parts = [p for p in crack_boundaries(cells, connectivity=4) if not p.hole]
            if parts and shape_number(parts[0]) == number:
                break
        show(ax, np.where(mask, 205, 255).astype(np.uint8), "", vmin=0, vmax=255)

        def placed(grid: np.ndarray, a=a, b=b) -> np.ndarray:
            return box.corners[0] + (np.asarray(grid, float) / (a, b)) @ sides.T

        for i in range(b + 1):
            ax.plot(*placed(np.array([[0, i], [a, i]])).T, color="#a8aeb6", lw=0.6)
        for j in range(a + 1):
            ax.plot(*placed(np.array([[j, 0], [j, b]])).T, color="#a8aeb6", lw=0.6)
        ax.plot(*closed(placed(parts[0].points + 0.5)), color=CURVES[0], lw=2)
        ax.set_title(f"order {order}, {a} × {b} cells\n{number}", loc="left", fontsize=7.5, family="monospace")
        low, high = box.corners.min(axis=0) - 6, box.corners.max(axis=0) + 6
        ax.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]))
    save(figure, "shapes_numbers")


def texture() -> None:
    """Bricks, grass and gravel, with their co-occurrence matrices."""
    figure = new_figure("shapes", (10, 4.2), layout="constrained")
    axes = figure.subplots(2, 3)
    for column, name in zip(axes.T, ("brick", "grass", "gravel"), strict=True):
        image = np.asarray(getattr(skimage.data, name)())
        show(column[0], image[:200, :360], name)
        few = requantise(image, 32, spread=False)
        parts = []
        for k, (displacement, offset) in enumerate((((2, 0), 0), ((0, 2), 34))):
            A = cooccurrence(few, displacement, levels=32)
            found = cooccurrence_descriptors(A)
            column[1].imshow(np.sqrt(A), cmap="magma", extent=(offset, offset + 32, 32, 0), interpolation="nearest")
            parts.append(
                f"{('right', 'below')[k]}: contrast {found.difference_moment:.1f}, entropy {found.entropy:.2f}"
            )
        column[1].set(xlim=(0, 66), ylim=(32, 0), aspect="equal", xticks=[], yticks=[])
        column[1].grid(visible=False)
        column[1].set_title("\n".join(parts), loc="left", fontsize=8)
    save(figure, "shapes_texture", 160)


def regions() -> None:
    """Real silhouettes: sharks, with their axes, hulls and numbers; and the tree of their shape numbers."""
    labels = sharks()
    found = region_descriptors(labels)
    figure = new_figure("shapes", (10, 4.2), layout="constrained")
    seen, tree = figure.subplots(1, 2)
    show(seen, np.where(labels > 0, 190, 255), "basic rectangle, hull, and the axis of the ellipse", vmin=0, vmax=255)
    shapes = {}
    for k, label in enumerate(found.labels):
        outer = next(b for b in crack_boundaries(labels == label) if not b.hole)
        colour = CURVES[k % len(CURVES)]
        seen.add_patch(Polygon(basic_rectangle(outer).corners, fill=False, color=colour, lw=1.2))
        seen.plot(*closed(convex_hull(outer)), "--", color=colour, lw=0.9)
        along = found.ellipse_major[k] / 2 * np.array([np.cos(found.orientation[k]), np.sin(found.orientation[k])])
        seen.plot(*np.stack([found.centroid[k] - along, found.centroid[k] + along]).T, color=colour, lw=1)
        name = f"shark {k}" if k else "letter S"
        u, v = found.bounding_box[k, 0], found.bounding_box[k, 3] + (42 if k else 44)
        seen.text(
            u, v, f"{name}: e {found.eccentricity[k]:.2f}, P²/A {found.compactness[k]:.0f}", fontsize=8, color=colour
        )
        shapes[name] = shape_numbers(outer, range(4, 31, 2))
    shapes["horse"] = shape_numbers(horse(), range(4, 31, 2))
    shapes["bar"] = shape_numbers(np.ones((10, 60), bool), range(4, 31, 2))
    shapes["square"] = shape_numbers(np.ones((60, 60), bool), range(4, 31, 2))
    Z = similarity_tree(similarity_matrix(list(shapes.values())))
    dendrogram(Z, labels=list(shapes), orientation="right", ax=tree, color_threshold=0, above_threshold_color=CURVES[1])
    ticks = [6, 8, 10, 12, 16, 20, 30]
    tree.set_xticks([1 / k for k in ticks], [f"1/{k}" for k in ticks])
    tree.set_title("similarity tree of shape numbers: distance 1/k", loc="left")
    tree.tick_params(labelsize=8)
    save(figure, "shapes_regions")


def parts() -> None:
    """The picture of the example."""
    path = Path(__file__).parents[2] / "examples" / "28_higher_level_vision.py"
    spec = importlib.util.spec_from_file_location("parts", path)
    assert spec and spec.loader
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    taught = example.teach(np.random.default_rng(0))
    image, _ = example.scene(np.random.default_rng(5))
    found = example.described(example.segmented(image))
    example.draw(requantise(median_filter(image, 5), 24), found, example.recognised(taught, found))
    drawn = Image.open(example.OUTPUT / "higher_level_vision.png").convert("RGB")
    save_image(drawn.resize((760, 608), Image.Resampling.BOX), "shapes_parts", 96)


if __name__ == "__main__":
    with house_style("docs/pictures/shapes.py"):
        boundaries()
        signatures()
        numbers()
        texture()
        regions()
        parts()
