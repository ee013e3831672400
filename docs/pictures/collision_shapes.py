"""The picture of link shapes in docs/collision.md: `python docs/pictures/collision_shapes.py` writes
docs/images/collision_shapes.png."""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from saving import save

import adjoint as aj
from adjoint.collision.shapes_of_links import link_shapes, shape_solids
from adjoint.drawing.style import house_style
from adjoint.sensing import DiffuseLight, DirectionalLight, Scene, depth_image, intensity_image, robot_solids
from adjoint.vision import Camera, looking_at

matplotlib.use("Agg")
MODELS = next(p for p in (Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in sys.path) if p.is_dir())
COLOURS = np.array(
    [[0.93, 0.5, 0.2], [0.2, 0.55, 0.8], [0.3, 0.65, 0.4], [0.75, 0.35, 0.6], [0.85, 0.7, 0.2], [0.4, 0.4, 0.75]]
)


def seen(solids, camera) -> tuple[np.ndarray, np.ndarray]:
    """An image of solids, and where there are any."""
    scene = Scene(solids)
    lights = [DirectionalLight([-0.8, 0.6, -1.0], intensity=0.55, shadows=False), DiffuseLight(0.4)]
    image = intensity_image(scene, camera, lights, ambient=0.1, colour=True, background=1.0, samples=4, dtype=float)
    return image, np.isfinite(depth_image(scene, camera))


def over(robot, shapes, q, camera, part=0.5) -> np.ndarray:
    """Links, with their shapes over them as if these were of glass, before white."""
    links, is_link = seen(robot_solids(robot, q), camera)
    solids = [x.replace(colour=COLOURS[k % len(COLOURS)]) for k, x in enumerate(shape_solids(robot, shapes, q))]
    glass, is_glass = seen(solids, camera)
    return np.where((is_link | is_glass)[..., None], (1 - part) * links + part * glass, 1.0)


def view_of(robot, q, direction, size=(360, 330)) -> Camera:
    """A camera that looks from a direction at the whole robot."""
    solids = shape_solids(robot, link_shapes(robot), q)
    reach = np.array([x.radius + getattr(x, "length", 0.0) / 2 for x in solids])[:, None]
    at = np.array([x.T_world_solid[:3, 3] for x in solids])
    middle = ((at - reach).min(axis=0) + (at + reach).max(axis=0)) / 2
    radius = (np.linalg.norm(at - middle, axis=1) + reach[:, 0]).max()
    away = np.array(direction) / np.linalg.norm(direction)
    T = looking_at(middle + 5 * radius * away, middle)
    return Camera.pinhole(size, field_of_view=2.0 * np.arctan(0.2 * size[0] / size[1] * 0.95)).at(T)


def picture():
    panda, puma = aj.load(str(MODELS / "panda_description/urdf/panda.urdf")), aj.robots.puma560()
    shown = [
        (panda, np.array([0.3, 0.3, 0, -1.8, 0, 2.1, 0.8, 0.03]), [1.0, -1.6, 0.9]),
        (puma, np.array([0.4, -0.3, 0.0, 0, 0.6, 0]), [1.0, -1.6, 0.9]),
    ]
    with house_style("pictures"):
        figure, axes = plt.subplots(2, 3, figsize=(9.6, 6.4), layout="constrained")
        for row, (robot, q, direction) in zip(axes, shown, strict=True):
            camera = view_of(robot, q, direction)
            row[0].imshow(np.clip(seen(robot_solids(robot, q), camera)[0], 0, 1))
            row[0].set_title({"panda": "Panda", "puma560": "PUMA 560, drawn from its joints"}[robot.name])
            for axis, kind in zip(row[1:], ("capsules", "spheres"), strict=True):
                shapes = link_shapes(robot, kind)
                axis.imshow(np.clip(over(robot, shapes, q, camera), 0, 1))
                axis.set_title(f"{len(shapes)} {kind}")
        for axis in axes.flat:
            axis.set_axis_off()
        save(figure, "collision_shapes", colours=128)
        plt.close(figure)


if __name__ == "__main__":
    picture()
