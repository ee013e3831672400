"""Draws the pictures of docs/surfaces_drawings.md: python docs/pictures/surfaces_drawings.py"""

import sys
from pathlib import Path

import numpy as np
from saving import save

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.line_drawings import devils_fork, impossible_triangle
from support.range_images import ball, box, cylinder, plane, range_image

from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.lie import so3
from adjoint.vision.drawings import box_block, draw_blocks, junction_dictionary, label_lines
from adjoint.vision.surfaces import (
    GeneralizedCone,
    arc_spine,
    circle_section,
    cone_mesh,
    cone_points,
    fit_cone,
    planar_patches,
    ring_section,
    straight_spine,
    volume_gradient,
)

COLOURS = {"+": CURVES[1], "-": CURVES[2], ">": CURVES[0], "<": CURVES[0]}


def show_labels(axes, drawing, labels=None, *, marked=(), size=9.0) -> None:
    """Draw lines with + or - beside them, or an arrow on them, and rings around marked vertices."""
    for k, (a, b) in enumerate(drawing.vertices[drawing.lines]):
        label = labels[k] if labels is not None else ""
        axes.plot(*np.stack([a, b]).T, color=COLOURS.get(label, "#2b2f36"), lw=1.6, solid_capstyle="round", zorder=2)
        middle, along = (a + b) / 2, (b - a) * (-1 if label == "<" else 1)
        if label in ("+", "-"):
            spot = {"boxstyle": "circle,pad=0.12", "fc": "white", "ec": "none"}
            text = "+" if label == "+" else "−"
            axes.text(
                *middle, text, color=COLOURS[label], ha="center", va="center", fontsize=size + 2, bbox=spot, zorder=3
            )
        elif label:
            tip = {"arrowstyle": "-|>", "color": COLOURS[label], "lw": 1.6, "mutation_scale": 1.4 * size}
            axes.annotate("", middle + 0.08 * along, middle - 0.08 * along, arrowprops=tip, zorder=3)
    for vertex in marked:
        axes.plot(*drawing.vertices[vertex], "o", ms=13, mfc="none", mec=CURVES[6], mew=1.8, zorder=4)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.axis("off")


def turned(angle: float, x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = so3.exp.eager([0, 0, angle]), (x, y, z)
    return T


def labels() -> None:
    """A scene of blocks with its labels, the devil's fork, and Penrose's triangle."""
    blocks = [
        box_block((1.6, 1.0, 0.6), turned(0.3, 0, 0, 0.3)),
        box_block((0.6, 0.5, 0.7), turned(0.7, -0.1, 0.05, 0.95)),
        box_block((0.5, 0.7, 0.9), turned(-0.2, 0.6, -1.2, 0.45)),
    ]
    seen = draw_blocks(blocks, toward_eye=(1.0, -0.75, 0.8), ground=True)
    fork = devils_fork()
    triangle = impossible_triangle()
    figure = new_figure("labels", (10, 3.4), layout="constrained")
    scene, middle, right = figure.subplots(1, 3, width_ratios=(1.15, 1.1, 0.9))
    show_labels(scene, seen.drawing, seen.labels)
    scene.set_title("blocks on the ground, with their true labels", loc="left")
    conflict = label_lines(fork).conflict
    show_labels(middle, fork, marked=conflict)
    middle.set_title("no labels: ringed junctions exclude each other", loc="left")
    (only,) = label_lines(triangle, background=True).labels
    show_labels(right, triangle, only)
    right.set_title("labels, but no planes", loc="left")
    save(figure, "surfaces_drawings_labels", colours=128)


def dictionary() -> None:
    """All labelled junctions of trihedral solids."""
    directions = {
        "L": np.radians([-130, -10]), "arrow": np.radians([-150, -90, -30]), "fork": np.radians([-90, 30, 150]),
        "T": np.radians([180, 270, 360]),
    }  # fmt: skip
    rows = [
        [(kind, one) for kind in kinds for one in sorted(junction_dictionary()[kind])]
        for kinds in (("L", "arrow"), ("fork", "T"))
    ]
    figure = new_figure("dictionary", (10, 2.7), layout="constrained")
    for line, some in zip(figure.subplots(2, 9), rows, strict=True):
        for axes, (kind, one) in zip(line, some, strict=True):
            axes.axis("off")
            axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
            axes.set_title(kind, fontsize=8.5, color="#5c6570")
            for label, angle in zip(one, directions[kind], strict=True):
                end = np.array([np.cos(angle), np.sin(angle)])
                code = label if label in "+-" else ">" if label == "out" else "<"
                axes.plot([0, end[0]], [0, end[1]], color=COLOURS[code], lw=1.6)
                if label in "+-":
                    text = "+" if label == "+" else "−"
                    spot = {"boxstyle": "circle,pad=0.08", "fc": "white", "ec": "none"}
                    axes.text(
                        *(0.55 * end), text, color=COLOURS[code], ha="center", va="center", fontsize=10, bbox=spot
                    )
                else:
                    a, b = (0.4 * end, 0.7 * end) if label == "out" else (0.7 * end, 0.4 * end)
                    tip = {"arrowstyle": "-|>", "color": COLOURS[code], "lw": 1.6, "mutation_scale": 12}
                    axes.annotate("", b, a, arrowprops=tip)
    save(figure, "surfaces_drawings_dictionary", colours=128)


def patches() -> None:
    """A range image, its planar, curved and undefined surfaces, and the normals of planes."""
    R = so3.exp.eager([0.5, 0.6, 0.2])
    solids = [
        plane([0, -1, -0.6], -1.4), box(R, [-0.25, 0.1, 1.6], [0.4, 0.5, 0.3]),
        ball(np.array([0.35, 0.1, 1.5]), 0.22), cylinder(np.array([0, -0.45, 1.9]), [1, 0.1, 0], 0.15),
    ]  # fmt: skip
    image = range_image(solids, size=(240, 320), focal=320, sigma=1e-3, rng=0)
    found = planar_patches(image.points, sigma=1e-3)
    print(found)
    figure = new_figure("patches", (10, 2.7), layout="constrained")
    depth, kinds, parts = figure.subplots(1, 3)
    shade = np.clip((image.normals @ [0.3, -0.6, -0.74]), 0.1, 1)
    depth.imshow(shade, cmap="gray", vmin=0, vmax=1)
    depth.set_title("range image, σ = 1 mm", loc="left")
    colours = {"P": CURVES[1], "C": CURVES[0], "U": "#c8ccd2"}
    paint = np.ones((*found.labels.shape, 3))
    for k, kind in enumerate(found.classes, 1):
        rgb = [int(colours[kind][i : i + 2], 16) / 255 for i in (1, 3, 5)]
        paint[found.labels == k] = rgb
    kinds.imshow(paint)
    kinds.set_title("planar (blue), curved (orange), undefined", loc="left")
    order = np.random.default_rng(4).permutation(len(found.classes)) + 1
    parts.imshow(np.concatenate([[0], order])[found.labels], cmap="tab20", interpolation="nearest")
    for k, kind in enumerate(found.classes, 1):
        if kind == "P":
            v, u = np.argwhere(found.labels == k).mean(axis=0)
            n = found.planes[k - 1, :3]
            parts.annotate(
                "", (u + 45 * n[0], v + 45 * n[1]), (u, v), arrowprops={"arrowstyle": "-|>", "color": "black"}
            )
            parts.plot(u, v, "k.", ms=5)
    parts.set_title("surfaces, and normals of planes", loc="left")
    for axes in (depth, kinds, parts):
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
    save(figure, "surfaces_drawings_patches", colours=128)


def shaded(axes, cone: GeneralizedCone, colour: str, *, along=48, edge=0.0) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    vertices, triangles = cone_mesh(cone, along=along)
    corners = vertices[triangles]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.maximum(np.linalg.norm(n, axis=1), 1e-12)[:, None]
    light = 0.55 + 0.45 * np.clip(n @ np.array([0.4, -0.5, 0.77]), -0.6, 1)
    base = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    faces = np.column_stack([np.clip(light[:, None] * base, 0, 1), np.ones(len(light))])
    axes.add_collection3d(Poly3DCollection(corners, facecolors=faces, edgecolors=faces, linewidths=0.3))


def fitted(axes, points: np.ndarray, low, high) -> None:
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(np.subtract(high, low), zoom=1.2)
    axes.axis("off")


def cones() -> None:
    """The textbook's two cones, a bent pipe, and a fit to points that a sensor sees from one side."""
    figure = new_figure("cones", (10, 3.0), layout="constrained")
    line, bend = straight_spine((0, 0, 0), (0, 0, 1)), arc_spine(np.eye(4), 1.4, curvature=(1.2, 0))
    models = [
        ("a ring on a line", GeneralizedCone(ring_section(0.2, 0.3, points=72), line)),
        ("constant, then linear", GeneralizedCone(ring_section(0.2, 0.3, points=72), line, (0, 0.5, 1), (1, 1, 1.6))),
        ("an arc, narrowing", GeneralizedCone(circle_section(0.2), bend, scales=(1, 0.5))),
    ]  # fmt: skip
    for k, (name, cone) in enumerate(models):
        axes = figure.add_subplot(1, 4, k + 1, projection="3d")
        shaded(axes, cone, CURVES[(1, 2, 3)[k]])
        low, high = ((-0.5, -0.5, -0.05), (0.5, 0.5, 1.05)) if k < 2 else ((-0.25, -0.45, -0.05), (1.0, 0.45, 1.05))
        fitted(axes, np.zeros(3), low, high)
        axes.view_init(28, -60)
        axes.set_title(name, fontsize=10)
    rng = np.random.default_rng(0)
    true = GeneralizedCone(circle_section(0.2, points=360), line, (0, 0.5, 1), (1, 1, 1.6))
    seen = cone_points(true, rng.uniform(0, 1, 900), rng.uniform(0.55, 0.98, 900))
    points = seen.points + 0.006 * rng.normal(size=(900, 1)) * seen.normals
    found = fit_cone(points, knots=(0, 0.5, 1))
    print(found, found.cone.scales)
    axes = figure.add_subplot(1, 4, 4, projection="3d")
    axes.plot(*points.T, ".", ms=1.5, color=CURVES[0])
    for t in np.linspace(0, 1, 9):
        ring = cone_points(found.cone, t, np.linspace(0, 1, 73)).points
        axes.plot(*ring.T, color="#5c6570", lw=0.9)
    ends = found.cone.spine.at(np.array([-0.1, 1.1]))[:, :3, 3]
    axes.plot(*ends.T, color=CURVES[6], lw=1.4)
    fitted(axes, points, (-0.4, -0.4, -0.1), (0.4, 0.4, 1.1))
    axes.view_init(20, -60)
    axes.set_title("a fit to one side", fontsize=10)
    save(figure, "surfaces_drawings_cones", colours=128)


def gradient() -> None:
    """A ball and a cube of voxels: a slice, and the gradient in it."""
    x = np.moveaxis(np.indices((48, 48, 24)), 0, -1) - np.array([15.0, 15.0, 12.0])
    volume = 1 / (1 + np.exp(np.linalg.norm(x, axis=-1) - 9))
    cube = np.abs(x - np.array([18.0, 16.0, 0.0])).max(axis=-1)
    volume += 1 / (1 + np.exp(cube - 8))
    found = volume_gradient(volume)
    figure = new_figure("gradient", (7, 3.1), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.imshow(volume[:, :, 12].T, cmap="gray", origin="lower")
    right.imshow(found.magnitude[:, :, 12].T, cmap="magma", origin="lower")
    i, j = np.mgrid[1:48:3, 1:48:3]
    v = found.vectors[i, j, 12]
    strong = found.magnitude[i, j, 12] > 0.03
    left.quiver(i[strong], j[strong], v[strong, 0], v[strong, 1], color=CURVES[0], scale=2.6, width=0.007)
    left.set_title("a slice of a volume, and its gradient", loc="left")
    right.set_title("the magnitude", loc="left")
    for axes in (left, right):
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
    save(figure, "surfaces_drawings_gradient", colours=128)


if __name__ == "__main__":
    with house_style("surfaces_drawings"):
        labels()
        dictionary()
        patches()
        cones()
        gradient()
