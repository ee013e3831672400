"""Draws the pictures of docs/planning_cell.md: python docs/pictures/planning_cell.py

The picture of the page is a screenshot: it needs the browser of the tests.
"""

import sys
import tempfile
import time
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt
from saving import save

import adjoint as aj
from adjoint.planning import Meddler, draw_sightings, random_cell, run_cell

matplotlib.use("Agg")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "tests"))
from support.browser import Browser  # noqa: E402


def looks(run) -> None:
    """The image before the first action, and that after someone has moved a block."""
    odd = next(event.step for event in run.run.events if event.diagnosis is not None)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.7), layout="constrained")
    shown = {"before the first action": run.looks[0], "a block was moved": run.looks[odd + 1]}
    for axis, (title, look) in zip(axes, shown.items(), strict=True):
        axis.imshow(draw_sightings(look.image, run.camera, look.seen, run.scene.blocks))
        axis.set_title(title, fontsize=10)
        axis.set_axis_off()
    save(figure, "planning_cell_looks", colours=255)


def page(run) -> None:
    with tempfile.TemporaryDirectory() as folder, Browser(900, 1000) as browser:
        browser.open(aj.viewer.page(run).save(Path(folder) / "cell.html"))
        time.sleep(6)  # the film has begun
        browser.screenshot(HERE.parent / "images" / "planning_cell_page.png")


if __name__ == "__main__":
    scene = random_cell(rng=5, blocks=4)
    backend = aj.program.DynamicBackend(payload_known=False)
    goal = "(and (on red green) (on green blue))"
    done = run_cell(scene, goal, backend=backend, disturb=Meddler({2}, rng=1), photos=8)
    looks(done)
    page(done)
