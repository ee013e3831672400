"""The pictures of docs/scenes.md: `python docs/pictures/scenes.py` writes docs/images/scenes_*.png."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

import adjoint as aj
from adjoint.drawing.style import house_style
from adjoint.lie import se3
from adjoint.sensing import (
    BackLight,
    Box,
    Capsule,
    Cylinder,
    DiffuseLight,
    DirectionalLight,
    LightSheet,
    Mesh,
    Plane,
    RangeNoise,
    Scene,
    Sphere,
    StructuredLight,
    Textured,
    depth_image,
    double_light_plane,
    intensity_image,
    lidar_scan,
    robot_solids,
    segmentation_image,
    tactile_imprint,
)
from adjoint.vision import Camera, looking_at

matplotlib.use("Agg")
IMAGES = Path(__file__).resolve().parents[1] / "images"


def placed(x, y, z, turn=0.0):
    return se3.from_xyz_quat_wxyz([x, y, z, np.cos(turn / 2), 0, 0, np.sin(turn / 2)])


def parts() -> Scene:
    """A table with some parts on it."""
    return Scene(
        [
            Plane(name="table", colour=[0.62, 0.6, 0.56]),
            Box(
                [0.16, 0.1, 0.08], T_world_solid=placed(-0.12, 0.06, 0.04, 0.5), colour=[0.85, 0.35, 0.2], name="block"
            ),
            Cylinder(0.05, 0.12, T_world_solid=placed(0.12, 0.08, 0.06), colour=[0.25, 0.5, 0.75], name="can"),
            Sphere(0.055, T_world_solid=placed(0.02, -0.1, 0.055), colour=[0.3, 0.65, 0.45], specular=0.5, name="ball"),
            Capsule(0.025, 0.12, T_world_solid=placed(0.17, -0.08, 0.025, 0.9) @ lying(), colour=0.75, name="pill"),
        ]
    )


def lying():
    return se3.from_xyz_quat_wxyz([0, 0, 0, 1, 1, 0, 0])


def save(figure, name):
    figure.savefig(IMAGES / f"scenes_{name}.png", dpi=100, bbox_inches="tight")
    plt.close(figure)


def show(axis, image, title, **options):
    axis.imshow(image, **options)
    axis.set_title(title)
    axis.set_axis_off()


def lighting():
    scene = parts()
    camera = Camera.pinhole((320, 240), field_of_view=0.7).at(looking_at([0.25, -0.6, 0.55], [0.02, 0, 0.03]))
    above = Camera.pinhole((320, 240), field_of_view=0.75).at(looking_at([0, 0, 0.75], [0, 0, 0], up=[0, 1, 0]))
    stripes = StructuredLight(looking_at([-0.6, 0, 0.6], [0, 0, 0]), period=0.05, width=0.02, field=0.35)
    with house_style("pictures"):
        figure, axes = plt.subplots(2, 2, figsize=(8, 6.2), layout="constrained")
        options = {"samples": 9, "colour": True}
        show(axes[0, 0], intensity_image(scene, camera, DiffuseLight(), **options), "diffuse")
        image = intensity_image(scene, above, BackLight(panel="table"), samples=9)
        show(axes[0, 1], image, "back, from above", cmap="gray", vmin=0, vmax=255)
        image = intensity_image(scene, camera, stripes, ambient=0.12, **options)
        show(axes[1, 0], image, "structured: stripes")
        light = DirectionalLight([0.8, 0.5, -0.7], intensity=1.1)
        show(axes[1, 1], intensity_image(scene, camera, light, ambient=0.15, **options), "directional")
        save(figure, "lighting")


def structured():
    scene = parts()
    camera = Camera.pinhole((320, 240), field_of_view=0.75).at(looking_at([0.1, -0.5, 0.6], [0, 0, 0]))
    tilted = looking_at([-0.55, 0, 0.55], [0, 0, 0])
    sheet = LightSheet(tilted, thickness=0.006)
    lights = {
        "a sheet of light": sheet,
        "a grid": StructuredLight(tilted, pattern="grid", period=0.06, width=0.008, field=0.4),
        "two light planes, which meet in one stripe": double_light_plane(
            [0, 0, 0], [0, 1, 0], height=0.5, thickness=0.006
        ),
    }
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.9), layout="constrained")
        for axis, (title, light) in zip(axes, lights.items(), strict=True):
            show(axis, intensity_image(scene, camera, light, ambient=0.3, samples=9, colour=True), title)
        save(figure, "structured")


def depth():
    robot = aj.robots.puma560()
    q = np.array([0.6, -0.9, 0.5, 0.0, 0.4, 0.0])
    scene = Scene([*parts().move("table", placed(0, 0, -0.66)).remove("block", "can", "ball", "pill")])
    scene = scene.add(
        *robot_solids(robot, q),
        Box([0.3, 0.3, 0.4], T_world_solid=placed(0.75, 0.35, -0.46, 0.4), colour=[0.8, 0.4, 0.2]),
    )
    camera = Camera.pinhole((400, 300), field_of_view=0.8).at(looking_at([2.3, -1.9, 1.0], [0.15, 0, 0.12]))
    z = depth_image(scene, camera)
    z[z > 5] = np.nan
    light = [DirectionalLight([-0.4, 0.7, -1.0], intensity=0.8), DiffuseLight(0.35)]
    labels = segmentation_image(scene, camera)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(11, 2.9), layout="constrained")
        show(axes[0], intensity_image(scene, camera, light, samples=9, colour=True, background=0.9), "intensity")
        found = axes[1].imshow(z, cmap="viridis_r")
        axes[1].set_title("depth along the axis [m]")
        axes[1].set_axis_off()
        figure.colorbar(found, ax=axes[1], shrink=0.85)
        show(axes[2], np.where(labels < 0, np.nan, labels % 20), "which solid", cmap="tab20", interpolation="nearest")
        save(figure, "depth")


def lidar():
    rng = np.random.default_rng(3)
    room = [Box([8, 6, 3], T_world_solid=placed(0, 0, 1.5), name="room")]
    for k in range(7):
        x, y = rng.uniform(-3, 3), rng.uniform(-2.2, 2.2)
        room.append(Cylinder(0.25, 1.5, T_world_solid=placed(x, y, 0.75)) if k % 2 else
                    Box([0.9, 0.5, 1.2], T_world_solid=placed(x, y, 0.6, rng.uniform(0, 3))))  # fmt: skip
    scene = Scene(room)
    noise = RangeNoise(sigma=0.01, linear=0.002, grazing=np.radians(84), dropout=0.01)
    flat = lidar_scan(scene, placed(0.3, -0.4, 0.8), np.linspace(-np.pi, np.pi, 720), noise=noise, rng=0)
    turns = lidar_scan(
        scene, placed(0.3, -0.4, 0.8), np.linspace(-np.pi, np.pi, 900), np.radians(np.linspace(-25, 25, 48))
    )
    with house_style("pictures"):
        figure = plt.figure(figsize=(9.5, 4), layout="constrained")
        axis = figure.add_subplot(1, 2, 1)
        p = flat.point[0]
        axis.plot(p[:, 0], p[:, 1], ".", ms=2.5)
        axis.plot(0.3, -0.4, "k^", ms=6)
        axis.set_aspect("equal")
        axis.set(xlabel="x [m]", ylabel="y [m]", title="one turn, with noise and lost readings")
        axis = figure.add_subplot(1, 2, 2, projection="3d")
        p = turns.point.reshape(-1, 3)
        p = p[(p[:, 2] < 2.6) & np.isfinite(p[:, 2])][::3]
        axis.scatter(p[:, 0], p[:, 1], p[:, 2], s=0.4, c=p[:, 2], cmap="viridis")
        axis.set_box_aspect((8, 6, 3))
        axis.view_init(50, -60)
        axis.set_title("48 elevations, coloured by height")
        save(figure, "lidar")


def gear(teeth=12, radius=0.006, tooth=0.0012, height=0.004):
    """A gear wheel as a mesh."""
    angles = np.arange(4 * teeth) * 2 * np.pi / (4 * teeth)
    r = radius + tooth * (np.arange(4 * teeth) % 4 < 2)
    ring = np.stack([r * np.cos(angles), r * np.sin(angles)], axis=1)
    n = len(ring)
    low, high = np.c_[ring, np.zeros(n)], np.c_[ring, np.full(n, height)]
    vertices = np.concatenate([low, high, [[0, 0, 0], [0, 0, height]]])
    k, j = np.arange(n), (np.arange(n) + 1) % n
    faces = [
        np.stack(f, 1)
        for f in ((k, j, j + n), (k, j + n, k + n), (j, k, 0 * k + 2 * n), (k + n, j + n, 0 * k + 2 * n + 1))
    ]
    return vertices, np.concatenate(faces)


def touch():
    ball = Scene([Sphere(0.012, T_world_solid=placed(0.002, -0.001, 0.0105))])
    key = Scene([Mesh(gear(), T_world_solid=placed(0, 0, -0.001) @ se3.exp(np.array([0.05, 0.04, 0, 0, 0, 0])))])
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.1), layout="constrained")
        for axis, scene, taxels, title in (
            (axes[0], ball, (16, 16), "a ball, 16 x 16 taxels"),
            (axes[1], key, (16, 16), "a tilted gear wheel, 16 x 16"),
            (axes[2], key, (80, 80), "the same, 80 x 80"),
        ):
            pad = tactile_imprint(scene, np.eye(4), taxels=taxels)
            found = axis.imshow(1e3 * pad.penetration, origin="lower", extent=(-10, 10, -10, 10), cmap="magma")
            axis.set(title=title, xlabel="x [mm]", ylabel="y [mm]")
            axis.grid(False)
        figure.colorbar(found, ax=axes, shrink=0.9, label="depth [mm]")
        save(figure, "touch")


def board():
    squares = np.indices((7, 9)).sum(axis=0) % 2
    T = placed(0, 0, 0.002, 0.3)
    scene = Scene([Plane(colour=[0.5, 0.42, 0.33]), Textured([0.27, 0.21], squares, T_world_solid=T)])
    pose = looking_at([0.1, -0.3, 0.33], [0, 0, 0])
    camera = Camera.pinhole((320, 240), field_of_view=0.8, distortion=(-0.35, 0.12, 0, 0), T_world_camera=pose)
    light = [DiffuseLight(0.8), DirectionalLight([0.3, 0.4, -1], intensity=0.3)]
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.9), layout="constrained")
        image = intensity_image(scene, camera, light, samples=25, noise=0.01, rng=0)
        show(axes[0], image, "a chessboard through a lens with distortion", cmap="gray", vmin=0, vmax=255)
        for axis, samples in ((axes[1], 1), (axes[2], 25)):
            image = intensity_image(scene, camera, light, samples=samples)[90:120, 140:180]
            word = "sample" if samples == 1 else "samples"
            show(axis, image, f"{samples} {word} a pixel", cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        save(figure, "board")


if __name__ == "__main__":
    for draw in (lighting, structured, depth, lidar, touch, board):
        draw()
