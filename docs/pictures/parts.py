"""The pictures of docs/parts.md: `python docs/pictures/parts.py` writes docs/images/parts_*.png."""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import hsv_to_rgb

from adjoint.drawing.style import house_style
from adjoint.lie import se3
from adjoint.sensing import DiffuseLight, DirectionalLight, Mesh, Plane, Scene, intensity_image
from adjoint.vision import Camera, looking_at, project
from adjoint.world.parts import (
    Part,
    cone,
    cuboid,
    cylinder,
    hemisphere,
    lamination,
    part_cover,
    revolution,
    sphere,
    union,
    wedge,
)

sys.path.insert(0, str(Path(__file__).parent))
from saving import save

matplotlib.use("Agg")
RED, BLUE, GREEN, YELLOW, GRAY = [0.85, 0.35, 0.2], [0.25, 0.5, 0.75], [0.3, 0.65, 0.45], [0.9, 0.7, 0.25], 0.75
L_SHAPE = [[0, 0], [0.09, 0], [0.09, 0.03], [0.03, 0.03], [0.03, 0.09], [0, 0.09]]


def shown(part: Part, T=None) -> Mesh:
    """The part as a mesh of a scene."""
    return Mesh(part.mesh, T_world_solid=T, colour=part.colour, specular=0.15)


def photograph(solids, eye, target, size=(480, 300), field=0.5):
    """A colour image of solids on a table, and the camera that took it."""
    camera = Camera.pinhole(size, field_of_view=field).at(looking_at(eye, target))
    lights = [DirectionalLight([0.45, 0.6, -1.0], intensity=0.75), DiffuseLight(0.35)]
    return intensity_image(Scene([Plane(colour=0.85), *solids]), camera, lights, samples=9, colour=True), camera


def panel(axes, picture, title):
    axes.imshow(picture)
    axes.set_axis_off()
    axes.set_title(title, fontsize=9)


def bolt(shaft_height, shaft_radius, shaft_facets, head_height, head_radius, head_facets) -> Part:
    """Table 9.8, with the placement that it lacks."""
    shaft = cylinder(shaft_radius, shaft_height, shaft_facets, name="shaft", colour=GRAY)
    head = cylinder(head_radius, head_height, head_facets, name="head", colour=GRAY)
    return union(shaft, head, at=[0, 0, (shaft_height + head_height) / 2])


def book() -> tuple[Part, Part, Part]:
    """A block with a slot and a hole, a bracket with a hole, and a peg that fits both."""
    block = cuboid(0.12, 0.08, 0.04, name="block", colour=BLUE)
    block = block - cylinder(0.01, 0.1, at=[0.03, 0, 0]) - cuboid(0.03, 0.1, 0.02, at=[-0.03, 0, 0.02], name="slot")
    upright = se3.exp([np.pi / 2, 0, 0, 0, 0, 0])
    bracket = lamination(L_SHAPE, 0.06, at=upright, name="bracket", colour=RED)
    bracket = bracket - cylinder(0.01, 0.2, at=[0.06, 0, 0])
    peg = cylinder(0.01, 0.1, colour=YELLOW) | cone(0.01, 0.01, 0.006, at=[0, 0, 0.055], colour=YELLOW)
    return block, bracket, peg.named("peg")


def primitives():
    row = [
        cuboid(0.06, 0.05, 0.04, colour=RED).at([0, 0, 0.02]),
        cylinder(0.025, 0.06, colour=BLUE).at([0, 0, 0.03]),
        cylinder(0.028, 0.05, 6, colour=BLUE).at([0, 0, 0.025]),
        wedge(0.06, 0.05, 0.045, colour=GREEN).at([0, 0, 0.0225]),
        cone(0.03, 0.06, 0.012, colour=YELLOW).at([0, 0, 0.03]),
        sphere(0.028, colour=RED).at([0, 0, 0.028]),
        hemisphere(0.032, colour=GREEN),
        lamination(np.multiply(L_SHAPE, 0.65), 0.03, colour=BLUE).at([-0.025, -0.025, 0.015]),
        revolution([[0.016, 0], [0.032, 0], [0.032, 0.012], [0.022, 0.03], [0.016, 0.03]], colour=YELLOW),
    ]
    names = ["cuboid", "cylinder", "6 facets", "wedge", "cone", "sphere", "hemisphere", "lamination", "revolution"]
    places = [[0.1 * (k % 5) - 0.2 + 0.05 * (k // 5), 0.065 - 0.14 * (k // 5), 0] for k in range(9)]
    solids = [shown(p, at) for p, at in zip(row, places, strict=True)]
    picture, camera = photograph(solids, [0.02, -0.75, 0.7], [0, -0.015, 0.0], (900, 440), 0.6)
    with house_style("pictures"):
        figure, axes = plt.subplots(figsize=(9, 4.4), layout="constrained")
        panel(axes, picture, "")
        for name, at in zip(names, places, strict=True):
            u, v = project(camera, np.add(at, [0, -0.045, 0]))
            axes.text(u, v, name, ha="center", va="top", fontsize=10)
        save(figure, "parts_primitives", colours=128)


def booleans():
    a, b = cuboid(0.06, 0.06, 0.06, colour=BLUE), cylinder(0.022, 0.1, colour=RED)
    shown_ones = {"a | b": a | b, "a & b": a & b, "a - b": a - b, "(a & sphere) - b": (a & sphere(0.04)) - b}
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained")
        for axis, (title, part) in zip(axes, shown_ones.items(), strict=True):
            low = part.mesh.vertices[:, 2].min()
            picture, _ = photograph([shown(part, [0, 0, -low])], [0.17, -0.27, 0.26], [0, 0, 0.04], (300, 300), 0.45)
            panel(axis, picture, title)
        save(figure, "parts_booleans", colours=128)


def features():
    block, bracket, peg = book()
    chosen = [
        (block, [-0.12, 0, 0.02], ["top", "hole", "slot.bottom", "front", "right", "top-front"]),
        (bracket, [0.03, -0.0, 0.0], ["side1", "hole", "top", "side4"]),
        (peg, [0.2, 0.0, 0.05], ["shaft", "top2"]),
    ]
    solids = [shown(part, at) for part, at, _ in chosen]
    picture, camera = photograph(solids, [0.2, -0.62, 0.42], [0.03, 0, 0.025], (900, 480), 0.62)
    with house_style("pictures"):
        figure, axes = plt.subplots(figsize=(9, 4.8), layout="constrained")
        panel(axes, picture, "")
        for part, at, names in chosen:
            for name in names:
                T = part.feature(name).at(at).T_part_feature
                for k, colour in enumerate(("#d62728", "#2ca02c", "#1f77b4")):
                    ends = np.array([T[:3, 3], T[:3, 3] + (0.024 if k == 0 else 0.013) * T[:3, k]])
                    u, v = np.array([project(camera, p) for p in ends]).T
                    axes.plot(u, v, color=colour, lw=2)
                u, v = project(camera, T[:3, 3] + 0.027 * T[:3, 0])
                box = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75}
                axes.text(u, v, name, fontsize=8, ha="center", va="bottom", bbox=box)
        save(figure, "parts_features", colours=128)


def bolts():
    part = bolt(0.1, 0.025, 16, 0.03, 0.045, 6)
    merged = part.operands[0] | part.operands[1].at([0, 0, -0.065])
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
        for axis, title, shape in ((axes[0], "Table 9.8 as printed", merged), (axes[1], "with a placement", part)):
            picture, _ = photograph([shown(shape, [0, 0, 0.05])], [0.2, -0.4, 0.3], [0, 0, 0.055], (340, 300), 0.42)
            panel(axis, picture, title)
        save(figure, "parts_bolt", colours=128)


def covers():
    block, bracket, _ = book()
    rng = np.random.default_rng(4)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
        for axis, part, facets in ((axes[0], block, 16), (axes[1], block, 8), (axes[2], bracket, 16)):
            cover = part_cover(part, facets=facets)
            low = part.mesh.vertices[:, 2].min()
            solids = []
            for solid in cover.solids:
                colour = hsv_to_rgb([rng.uniform(), 0.55, 0.9])
                solids.append(solid.replace(colour=colour).at(np.add(np.eye(4), _up(-low)) @ solid.T_world_solid))
            middle = part.mesh.vertices.mean(axis=0) - [0, 0, low]
            picture, _ = photograph(solids, np.add(middle, [0.14, -0.3, 0.3]), middle, (360, 300), 0.48)
            panel(axis, picture, f"{len(cover.solids)} solids, error {1e3 * cover.error:.2f} mm")
        save(figure, "parts_covers", colours=128)


def _up(z):
    T = np.zeros((4, 4))
    T[2, 3] = z
    return T


if __name__ == "__main__":
    for draw in (primitives, booleans, features, bolts, covers):
        draw()
