"""Draws the pictures of docs/locating.md: python docs/pictures/locating.py"""

import runpy
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from saving import save, save_image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.block_scenes import MODELS, picture, random_blocks, random_camera, scene_of  # noqa: E402

from adjoint import vision  # noqa: E402
from adjoint.drawing.style import new_figure  # noqa: E402
from adjoint.lie import se3  # noqa: E402

COLOURS = {"brick": "tab:cyan", "cube": "tab:orange", "stick": "tab:green"}


def scenes() -> None:
    """Six random scenes, and what was found."""
    figure = new_figure("locating", (11, 5.8), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    for axis, seed in zip(axes, (1, 2, 10, 31, 57, 88), strict=True):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        truth = random_blocks(rng, int(rng.integers(2, 6)))
        image = picture(scene_of(truth), camera, rng)
        axis.imshow(image, cmap="gray", vmin=0, vmax=255)
        for thing in vision.locate(image, camera, MODELS):
            ends = se3.act(thing.T_world_object, MODELS[thing.name].edges.ends)
            for pixels in vision.project(camera, ends):
                axis.plot(*pixels.T, color=COLOURS[thing.name], lw=1)
            u, v = vision.project(camera, thing.T_world_object[:3, 3])
            axis.text(u, v, thing.name, color="yellow", ha="center", fontsize=8)
        axis.set(xlim=(60, 580), ylim=(430, 50), xticks=[], yticks=[])
        axis.grid(False)
    save(figure, "locating_scenes", dpi=85)


def eye_and_hand() -> None:
    """The picture of the example."""
    runpy.run_path(str(ROOT / "examples/29_eye_and_hand.py"), run_name="__main__")
    save_image(Image.open(ROOT / "examples/output/eye_and_hand.png"), "locating_eye_and_hand", 96)


if __name__ == "__main__":
    scenes()
    eye_and_hand()
