"""Draws the picture of docs/program_runs.md: python docs/pictures/program_runs.py"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from saving import save

import adjoint as aj
from adjoint.drawing.style import CURVES, house_style

ROOT = Path(__file__).resolve().parents[2]
ORANGE, BLUE, GREEN = CURVES[:3]
SIZE = np.array([0.06, 0.04, 0.04])


def page() -> dict:
    """What the blocks of the page define."""
    text = (ROOT / "docs" / "program_runs.md").read_text(encoding="utf-8")
    first, looking = text.split("## Looking")
    blocks = [piece.split("```")[0] for piece in (first.split("```python")[1], *looking.split("```python")[1:])]
    names: dict = {}
    for block in blocks:
        exec(block, names)
    return names


def outline(axis, camera, T: np.ndarray, color: str, label: str) -> None:
    """The edges of the block at a pose, over an image."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * SIZE / 2
    pixels = aj.vision.project(camera, corners @ T[:3, :3].T + T[:3, 3])
    for a in range(8):
        for bit in (1, 2, 4):
            if not a & bit:
                axis.plot(*pixels[[a, a | bit]].T, color=color, linewidth=1.4, label=label)
                label = "_"


def looking() -> None:
    names = page()
    found, cell, actual = names["found"], names["cell"], names["actual"]
    wide = aj.vision.Camera.pinhole((560, 420), 0.6)
    (seen,) = [event for event in found.trace if event.kind == "seen"]
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.7), layout="constrained")
        for axis, world, title in zip(axes, (actual, found.actual), ("before", "after"), strict=True):
            view = world.remove("eye").add_sensor("eye", wide, at=cell.pose("eye"))
            axis.imshow(aj.program.running.camera_shot(view, "eye").image)
            axis.set(title=title, xticks=[], yticks=[], xlim=(0, 559), ylim=(419, 0))
        camera = wide.at(cell.pose("eye"))
        outline(axes[0], camera, cell.pose("block"), BLUE, "where the program has it")
        outline(axes[0], camera, seen.data["pose"], GREEN, "where it is seen")
        axes[0].legend(loc="lower left", fontsize=8)
        save(figure, "program_runs_looking")


looking()
