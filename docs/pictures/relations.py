"""Draws the pictures of docs/relations.md: python docs/pictures/relations.py"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from saving import save

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.assembly_features import book_blocks

from adjoint.drawing.style import CURVES, house_style
from adjoint.lie import se3, so3
from adjoint.sensing import Box, DiffuseLight, DirectionalLight, Mesh, Scene, intensity_image
from adjoint.vision import Camera, looking_at, project
from adjoint.world.features import Feature, feature_frame
from adjoint.world.parts import cuboid, cylinder
from adjoint.world.predicates import is_on
from adjoint.world.relations import (
    Tolerance,
    against,
    coplanar,
    fits,
    fixed_at,
    placements,
    pose_bounds,
    solve_relations,
)
from adjoint.world.state import World

matplotlib.use("Agg")
LIGHTS = [DirectionalLight([0.5, 0.9, -1.0], intensity=0.75), DiffuseLight(0.45)]
ORANGE, BLUE, GREEN = [0.9, 0.55, 0.3], [0.45, 0.6, 0.8], [0.45, 0.72, 0.5]
RED = "#c8322b"


def show(axis, solids, camera, title, lights=LIGHTS):
    """Render solids, and leave the axes ready for arrows in pixels."""
    image = intensity_image(Scene(solids), camera, lights, samples=9, colour=True, background=1.0)
    axis.imshow(image)
    axis.autoscale(False)
    axis.set_title(title)
    axis.set_axis_off()


def shape(part, T, colour):
    return Mesh((part.mesh.vertices, part.mesh.faces), T_world_solid=T, colour=colour)


def arrow(axis, camera, start, end):
    """A double arrow between two points of the world."""
    a, b = project(camera, np.array([start, end]))
    axis.annotate("", b, a, arrowprops={"arrowstyle": "<|-|>", "color": RED, "lw": 2.2, "mutation_scale": 15})


def ring(axis, camera, freedom, radius, shift=0.0):
    """An arc with an arrow about the axis of a rotation."""
    z = freedom.direction
    x = np.cross(z, [0.3, 0.5, 0.7])
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    t = np.linspace(0.2, 5.6, 80)[:, None]
    points = freedom.point + shift * z + radius * (np.cos(t) * x + np.sin(t) * y)
    u = project(camera, points)
    axis.plot(*u[:-4].T, color=RED, lw=2.2, solid_capstyle="round")
    axis.annotate("", u[-1], u[-6], arrowprops={"arrowstyle": "-|>", "color": RED, "lw": 2.2, "mutation_scale": 15})


def label(axis, camera, point, text, shift=(0, 0)):
    u = project(camera, np.array([point]))[0] + shift
    spot = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}
    axis.text(*u, text, ha="center", va="center", fontsize=10, bbox=spot)


def blocks():
    """Figure 10.20: Block1 into the corner of Block2; it may slide along z."""
    found = placements(book_blocks(), "Block1", [against("Block2.f1", "Block1.f3"), against("Block2.f2", "Block1.f4")])
    corner = [
        Box([1, 3, 2], T_world_solid=[-0.5, 0.5, 1], colour=BLUE),
        Box([2, 1, 2], T_world_solid=[1, -0.5, 1], colour=BLUE),
    ]
    middle = se3.from_rotation_translation(np.eye(3), [0.5, 1, 1])
    camera = Camera.pinhole((420, 330), field_of_view=0.75).at(looking_at([6.6, 6.6, 6.4], [0.9, 0.9, 0.7]))
    before = se3.from_rotation_translation(so3.rotation_z(0.5), [1.9, 1.5, 0])
    family = found[0]
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.1), layout="constrained")
        lights = [DirectionalLight([-0.75, -0.35, -1.0], intensity=0.75), DiffuseLight(0.45)]
        titles = ["before", "f1 against f3", "and f2 against f4: one translation is left"]
        one = placements(book_blocks(), "Block1", against("Block2.f1", "Block1.f3"))[0]
        some = one.nearest(se3.from_rotation_translation(so3.rotation_y(np.pi) @ so3.rotation_x(0.35), [1, 1.1, 2.6]))
        for axis, T, title in zip(axes, (before, some, family([0.0])), titles, strict=True):
            show(axis, [*corner, Box([1, 2, 2], T_world_solid=T @ middle, colour=ORANGE)], camera, title, lights)
        label(axes[0], camera, [0, 1.3, 1], "f1")
        label(axes[0], camera, [1.2, 0, 1], "f2")
        T = family([0.0])
        top = (T @ [0.5, 1, 0, 1])[:3]
        arrow(axes[2], camera, top - np.array([0, 0, 0.1]), top + np.array([0, 0, 1.3]))
        save(figure, "relations_blocks")


def parts():
    """The block, the bracket and the peg of the page."""
    block = cuboid(0.1, 0.06, 0.04) - cylinder(0.0102, 0.1)
    bracket = cuboid(0.06, 0.06, 0.01, name="plate") | cuboid(0.01, 0.06, 0.05, at=[-0.025, 0, 0.03], name="wall")
    bracket = bracket - cylinder(0.0102, 0.05, name="bore")
    peg = cylinder(0.01, 0.06, name="pin") | cylinder(0.016, 0.01, at=[0, 0, 0.035], name="head")
    return block, bracket, peg


def assembly():
    block, bracket, peg = parts()
    at = {"block": se3.from_rotation_translation(np.eye(3), [0, 0, 0.02])}
    at["bracket"] = se3.from_rotation_translation(so3.rotation_z(0.4), [0.115, 0.035, 0.005])
    at["peg"] = se3.from_rotation_translation(so3.rotation_y(np.pi / 2), [-0.13, -0.03, 0.016])
    world = {"block": (at["block"], block), "bracket": (at["bracket"], bracket), "peg": (at["peg"], peg)}
    relations = [
        against("bracket.plate.bottom", "block.top"),
        coplanar("bracket.plate.front", "block.front"),
        fits("peg.pin.shaft", "bracket.bore.hole"),
        fits("peg.pin.shaft", "block.hole"),
        against("peg.head.bottom", "bracket.plate.top"),
    ]
    camera = Camera.pinhole((420, 330), field_of_view=0.45).at(looking_at([0.35, -0.5, 0.42], [0.005, 0, 0.035]))
    floor = Box([0.6, 0.6, 0.01], T_world_solid=[0, 0, -0.005], colour=0.92)

    def solids(poses):
        shapes = ((block, "block", BLUE), (bracket, "bracket", GREEN), (peg, "peg", ORANGE))
        return [floor, *(shape(part, poses[name], colour) for part, name, colour in shapes)]

    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.1), layout="constrained")
        show(axes[0], solids(at), camera, "before")
        found = placements(
            {**world, "peg": (se3.from_rotation_translation(np.eye(3), [0, 0, 0.12]), peg)}, "peg", relations[3]
        )
        show(axes[1], solids({**at, "peg": found.T_world_part}), camera, "the peg fits the hole: it slides and turns")
        spin = found[0].freedoms[1]
        middle = found.T_world_part[:3, 3] + np.array([0.03, 0, 0])
        arrow(axes[1], camera, middle - np.array([0, 0, 0.02]), middle + np.array([0, 0, 0.04]))
        ring(axes[1], camera, spin, 0.024, shift=0.075)
        done = solve_relations(world, ["bracket", "peg"], relations, near={"bracket": at["block"], "peg": at["block"]})
        show(axes[2], solids({**at, **done.poses}), camera, "all five relations: a spin is left")
        ring(axes[2], camera, done[0].freedoms[0], 0.024, shift=0.055)
        print(done)
        save(figure, "relations_assembly")


def bounds():
    """Taylor's bound, and play in a hole, with random deviations."""
    rng = np.random.default_rng(0)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        held = placements({"tool": [Feature("grip", "face", np.eye(4))]}, "tool", fixed_at("tool.grip", np.eye(4)))
        tip = pose_bounds(held, {"tool.grip": Tolerance([0.0005, 0, 0], [0, 0, 0.01])}, frame=[0, 0.1, 0])
        dx, turn = rng.uniform(-0.0005, 0.0005, 4000), rng.uniform(-0.01, 0.01, 4000)
        x = dx - 0.1 * np.sin(turn)
        axes[0].hist(1e3 * x, 60, color=CURVES[0], alpha=0.7)
        for end in (tip.lower[3], tip.upper[3]):
            axes[0].axvline(1e3 * end, color=RED, lw=2)
        axes[0].set_xlabel("shift of the tip, 100 mm from the grip [mm]")
        axes[0].set_ylabel("random deviations")
        axes[0].set_title("slip in the gripper")
        c, length = 0.0005, 0.03
        ends = rng.uniform(-c, c, (6000, 2, 2))
        ends = ends[(np.linalg.norm(ends, axis=2) <= c).all(axis=1)]
        tilt = np.arctan2(ends[:, 1, 0] - ends[:, 0, 0], length)
        shift = ends[:, 0, 0] + 0.08 * np.sin(tilt)
        axes[1].plot(1e3 * shift, 1e3 * tilt, ".", ms=2, color=CURVES[0], alpha=0.5)
        down, up = [0, 0, -1], [0, 0, 1]
        peg = [Feature("shaft", "shaft", feature_frame([0, 0, 0], down), radius=0.01, length=0.06),
               Feature("tip", "vertex", feature_frame([0, 0, 0], down))]  # fmt: skip
        block = [Feature("hole", "hole", feature_frame([0, 0, 0.05], up), radius=0.0105, length=0.03),
                 Feature("floor", "face", feature_frame([0, 0, 0.02], up))]  # fmt: skip
        found = placements(
            {"peg": peg, "block": block}, "peg", [fits("peg.shaft", "block.hole"), against("peg.tip", "block.floor")]
        )
        box = pose_bounds(found, frame=[0, 0, 0.08], limits={0: (0, 0)})
        x0, x1, y0, y1 = 1e3 * box.lower[3], 1e3 * box.upper[3], 1e3 * box.lower[1], 1e3 * box.upper[1]
        axes[1].plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color=RED, lw=2)
        axes[1].set_xlabel("shift of the upper end [mm]")
        axes[1].set_ylabel("tilt [mrad]")
        axes[1].set_title("a peg with 0.5 mm of play")
        save(figure, "relations_bounds")


def hysteresis():
    """A gap that wavers about a limit, and the fact with and without memory."""
    t = np.linspace(0, 10, 400)
    rng = np.random.default_rng(2)
    gaps = 0.0032 * np.abs((t - 5) / 5) ** 1.5 + 0.00022 * rng.normal(size=t.size)
    gaps = np.maximum(gaps, -0.0003)
    cube = Box([0.1, 0.1, 0.1])
    plain, kept, was = [], [], False
    for gap in gaps:
        w = World().add("a", cube).add("b", cube, at=[0, 0, 0.1 + gap])
        plain.append(is_on(w, "b", "a"))
        was = is_on(w, "b", "a", was=was)
        kept.append(was)
    with house_style("pictures"):
        figure, axes = plt.subplots(2, 1, figsize=(8, 3.8), sharex=True, layout="constrained", height_ratios=[2, 1])
        axes[0].plot(t, 1e3 * gaps, color=CURVES[0], lw=1)
        axes[0].set_xlim(0, 10)
        axes[0].axhline(1, color=CURVES[2], ls="--", lw=1.2)
        axes[0].axhline(2, color=RED, ls="--", lw=1.2)
        axes[0].text(10.05, 1, "enter", color=CURVES[2], va="center")
        axes[0].text(10.05, 2, "leave", color=RED, va="center")
        axes[0].set_ylabel("gap [mm]")
        axes[1].plot(t, np.array(plain) + 1.5, color="#9aa1ab", lw=1, drawstyle="steps-post")
        axes[1].plot(t, np.array(kept, int), color=CURVES[1], lw=1.8, drawstyle="steps-post")
        axes[1].set_yticks([0, 1, 1.5, 2.5], ["false", "true", "false", "true"])
        axes[1].text(0.1, 0.5, "with was=", color=CURVES[1], va="center")
        axes[1].text(0.1, 2.0, "without", color="#6b727c", va="center")
        axes[1].set_xlabel("time [s]")
        axes[0].set_title('is_on(world, "b", "a")')
        save(figure, "relations_hysteresis")


if __name__ == "__main__":
    for draw in (blocks, assembly, bounds, hysteresis):
        if len(sys.argv) == 1 or draw.__name__ in sys.argv:
            draw()
