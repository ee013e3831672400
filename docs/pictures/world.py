"""The pictures of docs/world.md: `python docs/pictures/world.py` writes docs/images/world_*.png."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

import adjoint as aj
from adjoint.drawing.style import house_style
from adjoint.lie import se3
from adjoint.sensing import DirectionalLight, Plane, intensity_image
from adjoint.vision import Camera, looking_at
from adjoint.world import Gripper, World, cuboid, cylinder, dropped, follow

matplotlib.use("Agg")
IMAGES = Path(__file__).resolve().parents[1] / "images"
LIGHTS = [
    DirectionalLight([-0.4, 0.5, -1.0], intensity=0.75),
    DirectionalLight([0.6, 0.6, -0.5], intensity=0.25, shadows=False),
]


def save(figure, name):
    figure.savefig(IMAGES / f"world_{name}.png", dpi=100, bbox_inches="tight")
    plt.close(figure)


def seen(world: World, camera: Camera) -> np.ndarray:
    return intensity_image(world.scene(), camera, LIGHTS, ambient=0.25, background=0.95, colour=True, samples=4)


def cell() -> World:
    """The world of the page."""
    hand = Gripper(opening=0.08, depth=0.06, T_tool_grip=se3.exp([0, 0, 0, 0, 0, 0.14]))
    q = np.array([-0.8, -1.36, -2.92, 0.0, 1.13, -3.94])
    on: dict[str, Any] = {"parent": "table", "attachment": "conditional"}
    return (
        World()
        .add("floor", Plane(colour=0.85), at=[0, 0, -0.66])
        .add("table", cuboid(0.7, 0.9, 0.05, colour=[0.6, 0.45, 0.3]), at=[0.65, 0.1, -0.3])
        .add("cup", cylinder(0.03, 0.1, colour=[0.2, 0.5, 0.8]), at=[-0.1, 0.2, 0.075], **on)
        .add("box", cuboid(0.12, 0.2, 0.15, colour=[0.8, 0.4, 0.2]), at=[0.1, -0.2, 0.1], **on)
        .add_robot("arm", aj.robots.puma560(), q=q, gripper=hand)
    )


def picked(w: World) -> World:
    """The arm holds the cup."""
    T = w.pose("cup") @ se3.exp([np.pi, 0, 0, 0, 0, 0]) @ se3.exp([0, 0, 0, 0, 0, -0.14])
    found = aj.inverse_kinematics(w.robots["arm"].robot, T, "tool")
    return w.set_configuration("arm", found.q[found.exact][0]).grasp("arm", "cup", width=0.06)


def following(w: World, camera: Camera):
    held = picked(w)
    way = follow(held, "arm", aj.trajectory.quintic(held.robots["arm"].q, w.robots["arm"].q, duration=2.0))
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 2.6), layout="constrained")
    for axis, k in zip(axes, (0, 45, 100), strict=True):
        axis.imshow(seen(way.world(k), camera))
        axis.set_title(f"{way.t[k]:.1f} s", fontsize=9)
        axis.set_axis_off()
    save(figure, "following")


def falling():
    """A tray tilts until friction holds the block no more; then the block falls."""
    w = (
        World()
        .add("floor", Plane(colour=0.85))
        .add("tray", cuboid(0.5, 0.3, 0.02, colour=[0.5, 0.55, 0.6]), at=[0, 0, 0.3])
    )
    block = cuboid(0.1, 0.1, 0.06, colour=[0.85, 0.4, 0.2])
    w = w.add("block", block, at=[0.05, 0, 0.04], parent="tray", attachment="conditional")
    camera = Camera.pinhole((320, 240), field_of_view=0.7).at(looking_at([0.3, -1.35, 0.65], [0.09, 0, 0.19]))
    level, steep = (
        w.move("tray", se3.exp([0, a, 0, 0, 0, 0]) + np.outer([0, 0, 0.3, 0], [0, 0, 0, 1])) for a in (0.4, 0.6)
    )
    down = dropped(steep, "block", duration=3.0)
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 2.7), layout="constrained")
    titles = ["tilted by 23°: friction holds", "34°: the attachment breaks", f"the block rests on the {down.onto}"]
    for axis, world, title in zip(axes, (level, steep, down.world), titles, strict=True):
        axis.imshow(seen(world, camera))
        axis.set_title(title, fontsize=9)
        axis.set_axis_off()
    last = down.poses[::3, :3, 3]
    x = np.column_stack([last, np.ones(len(last))]) @ camera.projection_matrix.T
    axes[2].plot(x[:, 0] / x[:, 2], x[:, 1] / x[:, 2], color="#2b2f36", lw=1.2)
    save(figure, "falling")
    print(dict(steep.fallen), down.rested, down.onto)


def main():
    IMAGES.mkdir(exist_ok=True)
    with house_style("pictures"):
        w = cell()
        camera = Camera.pinhole((560, 380), field_of_view=0.72).at(looking_at([2.1, -1.6, 0.95], [0.33, 0.05, -0.05]))
        figure = plt.figure(figsize=(6.4, 4.4), layout="constrained")
        axis = figure.subplots()
        axis.imshow(seen(w, camera))
        axis.set_axis_off()
        places = {"arm.tool": (60, -10), "cup": (45, -22), "box": (-90, 10), "table": (30, 60), "floor": (0, 0)}
        for name, shift in places.items():
            corner = w.pose(name) @ ([0.3, 0.4, 0.02, 1] if name == "table" else [0, 0, 0, 1])
            p = camera.projection_matrix @ corner
            u, v = p[:2] / p[2]
            if name == "floor":
                axis.text(60, 330, "floor", fontsize=9)
                continue
            arrow = {"arrowstyle": "-", "lw": 0.8, "color": "#2b2f36"}
            axis.annotate(name, (u, v), (u + shift[0], v + shift[1]), fontsize=9, arrowprops=arrow)
        save(figure, "cell")
        small = Camera.pinhole((320, 260), field_of_view=0.72).at(looking_at([2.1, -1.6, 0.95], [0.33, 0.05, -0.05]))
        following(w, small)
        falling()


if __name__ == "__main__":
    main()
