"""The pictures of docs/grasps.md: `python docs/pictures/grasps.py` writes docs/images/grasps_*.png."""

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from saving import save

import adjoint as aj
from adjoint.sensing import DirectionalLight, Plane, intensity_image
from adjoint.vision import Camera, looking_at
from adjoint.world import Gripper, World, cuboid, cylinder
from adjoint.world.grasps import find_grasps, grasp_candidates, plan_pick_and_place

matplotlib.use("Agg")
LIGHTS = [
    DirectionalLight([0.5, 0.5, -1.0], intensity=0.7),
    DirectionalLight([0.6, -0.6, -0.5], intensity=0.3, shadows=False),
]
COLOURS = {
    "": "#2a9d3f", "too wide": "#c0392b", "stopped": "#8e5ea2", "blocked": "#e08e0b", "unreachable": "#7f8c8d",
    "with the arm": "#2c6fbb",
}  # fmt: skip
NAMES = {
    "": "left", "too wide": "too wide", "stopped": "stopped by the palm", "blocked": "hand blocked",
    "unreachable": "unreachable", "with the arm": "arm blocked",
}  # fmt: skip


def kind_of(reason: str) -> str:
    return next((k for k in COLOURS if k and reason.startswith(k)), "" if not reason else "blocked")


def hand_lines(T: np.ndarray, gripper: Gripper, width: float, size: float = 1.0) -> list[np.ndarray]:
    """A gripper as five strokes: two fingers, the palm, and the wrist."""
    y, z = width / 2 + gripper.thickness / 2, -size * gripper.depth
    points = [[0, -y, 0], [0, -y, z], [0, y, z], [0, y, 0]], [[0, 0, z], [0, 0, z - 0.4 * size * gripper.depth]]
    return [np.array(p) @ T[:3, :3].T + T[:3, 3] for p in points]


def draw_part(axis, part, T=None, alpha=0.5, colour="#9aa5b1"):
    T = np.eye(4) if T is None else T
    x = part.mesh.vertices @ T[:3, :3].T + T[:3, 3]
    axis.add_collection3d(Poly3DCollection(x[part.mesh.faces], facecolors=colour, alpha=alpha, shade=True))


def framed(axis, middle, size, title, elev=24, azim=-58):
    for k, setter in enumerate((axis.set_xlim, axis.set_ylim, axis.set_zlim)):
        setter(middle[k] - size, middle[k] + size)
    axis.set_box_aspect((1, 1, 1), zoom=1.45)
    axis.view_init(elev=elev, azim=azim)
    axis.set_axis_off()
    axis.set_title(title, fontsize=10, y=0.97)


def candidates():
    """The best grasps of three parts."""
    hand = Gripper(opening=0.05, depth=0.04)
    parts = {
        "parallel faces": cuboid(0.08, 0.04, 0.02),
        "faces and curved sides": cylinder(0.018, 0.06),
        "a hole is no contact": cuboid(0.09, 0.045, 0.03) - cylinder(0.012, 0.1),
    }
    figure = plt.figure(figsize=(9.6, 3.3))
    for k, (title, part) in enumerate(parts.items()):
        axis = figure.add_axes((k / 3, -0.08, 1 / 3, 1.08), projection="3d")
        draw_part(axis, part, alpha=0.55)
        found = list(grasp_candidates(part, hand, approaches=8, positions=3 if k != 1 else 1, samples=8))
        shown = found[:: max(1, len(found) // 12)]
        for grasp in reversed(shown):
            axis.add_collection3d(
                Line3DCollection(
                    hand_lines(grasp.T_part_grip, hand, grasp.width, 0.7),
                    colors=[plt.cm.viridis(np.clip((grasp.score - 0.5) / 0.5, 0, 1))], linewidths=1.4,
                )
            )  # fmt: skip
        framed(axis, [0, 0, 0], 0.06, title)
    save(figure, "grasps_candidates")


def pruned():
    """Candidates of the flat cuboid, coloured by what became of them."""
    world = (
        World()
        .add("table", cuboid(0.24, 0.2, 0.02, colour=0.8), at=[0.5, 0.1, -0.31])
        .add("block", cuboid(0.08, 0.04, 0.02), at=[0.5, 0.1, -0.29])
        .add_robot("arm", aj.robots.puma560(), gripper=Gripper(opening=0.05, T_tool_grip=[0, 0, 0.14]))
    )
    found = find_grasps(world, "arm", "block", positions=1)
    hand, T = found.gripper, world.pose("block")
    figure = plt.figure(figsize=(9.6, 3.5))
    groups = {0.08: "width 4: too wide", 0.02: "width 1: the table is below", 0.04: "width 2"}
    for k, (width, title) in enumerate(groups.items()):
        axis = figure.add_axes((k / 3, -0.02, 1 / 3, 1.04), projection="3d")
        draw_part(axis, world.parts["table"], world.pose("table"), alpha=0.25, colour="#b08d57")
        draw_part(axis, world.parts["block"], T, alpha=0.7)
        for grasp in (*found.pruned, *found):
            if abs(grasp.width - width) < 1e-9:
                lines = hand_lines(grasp.hand_pose(T), hand, grasp.width, 0.8)
                colour = COLOURS[kind_of(grasp.reason)]
                axis.add_collection3d(
                    Line3DCollection(lines, colors=[colour], linewidths=1.8 if not grasp.reason else 1.1)
                )
        framed(axis, [0.5, 0.1, -0.285], 0.075, title, elev=18)
    for reason, colour in COLOURS.items():
        figure.text(0, 0, "", color=colour)
        if any(kind_of(g.reason) == reason for g in (*found.pruned, *found)):
            plt.plot([], [], color=colour, label=NAMES[reason])
    figure.legend(loc="lower center", ncol=6, fontsize=9, frameon=False)
    save(figure, "grasps_pruned")


def shelf_world() -> World:
    """The world of the page."""
    wood = {"colour": [0.65, 0.5, 0.35]}
    shelf = (
        cuboid(0.28, 0.6, 0.02, name="floor", **wood)
        | cuboid(0.28, 0.6, 0.02, at=[0, 0, 0.3], name="roof", **wood)
        | cuboid(0.28, 0.02, 0.32, at=[0, 0.31, 0.15], name="left", **wood)
        | cuboid(0.28, 0.02, 0.32, at=[0, -0.31, 0.15], name="right", **wood)
        | cuboid(0.02, 0.64, 0.32, at=[0.15, 0, 0.15], name="back", **wood)
    )
    lies = {"parent": "shelf", "attachment": "conditional"}
    return (
        World()
        .add("shelf", shelf, at=[0.75, 0, 0])
        .add("table", cuboid(0.4, 0.5, 0.04, colour=[0.6, 0.6, 0.65]), at=[0.25, -0.55, -0.1])
        .add("block", cuboid(0.06, 0.04, 0.12, colour=[0.2, 0.5, 0.8]), at=[-0.06, 0.05, 0.07], **lies)
        .add("can", cylinder(0.03, 0.12, colour=[0.8, 0.4, 0.2]), at=[-0.05, 0.14, 0.07], **lies)
        .add_robot(
            "arm", aj.robots.puma560(), q=[0.0, -1.2, 0.3, 0, 0.5, 0],
            gripper=Gripper(opening=0.08, depth=0.05, force=40.0, T_tool_grip=[0, 0, 0.14]),
        )
    )  # fmt: skip


def picking():
    """The PUMA takes a block out of a shelf, in eight phases."""
    plan = plan_pick_and_place(shelf_world(), "arm", "block", "table")
    assert plan.solved, plan.reason
    floor = Plane(T_world_solid=[0, 0, -0.66], colour=0.85)
    camera = Camera.pinhole((400, 330), field_of_view=0.75).at(looking_at([-0.9, -1.7, 1.0], [0.35, -0.1, 0.08]))
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.5), layout="constrained")
    chosen = [(0, "before"), (1, "approach"), (3, "depart"), (4, "transfer"), (6, "open"), (7, "depart place")]
    for axis, (k, name) in zip(axes.ravel(), chosen, strict=True):
        phase = plan.phases[k]
        world = phase.before if name == "before" else phase.after
        t = plan.times[k + (name != "before")]
        if name == "transfer":
            t = plan.times[k] + 0.55 * phase.duration
            world = plan.world_at(t)
        scene = world.scene(meshes=True).add(floor)
        axis.imshow(intensity_image(scene, camera, LIGHTS, ambient=0.3, background=0.95, colour=True, samples=4))
        axis.set_title(f"{name}, {t:.1f} s", fontsize=9)
        axis.set_axis_off()
    save(figure, "grasps_picking", colours=96)


if __name__ == "__main__":
    candidates()
    pruned()
    picking()
