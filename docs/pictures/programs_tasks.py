"""Draws the picture of docs/programs_tasks.md: python docs/pictures/programs_tasks.py"""

import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt
from saving import save

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.task_worlds import block_world

from adjoint.program.instructions import Source
from adjoint.program.languages.autopass import parse_rapt
from adjoint.program.tasks import TakePart, task_steps
from adjoint.program.tasks.task_edits import applied
from adjoint.sensing import DirectionalLight, Plane, intensity_image
from adjoint.vision import Camera, looking_at

matplotlib.use("Agg")
LIGHTS = [
    DirectionalLight([-0.3, 0.5, -1.0], intensity=0.6),
    DirectionalLight([-0.7, 0.5, -0.3], intensity=0.45, shadows=False),
]


def main() -> None:
    world = block_world().add("floor", Plane(colour=0.9), at=[0, 0, -0.66])
    (place,) = parse_rapt(Source("PLACE Block3 SO THAT (Block2-face3 AGAINST Block3-face1)")).statements
    steps = task_steps(world, place, "arm")
    taken = next(k for k, step in enumerate(steps) if isinstance(step, TakePart))
    worlds = [world, applied(world, steps[: taken + 5]), applied(world, steps)]
    titles = ["state A", "PLACE Block3 SO THAT (Block2-face3 AGAINST Block3-face1)", "state B"]
    T = looking_at([1.45, -0.75, 0.3], target=[0.46, 0.02, -0.13])
    camera = Camera.pinhole((420, 400), field_of_view=0.6, T_world_camera=T)
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 4.0), layout="constrained")
    for axis, seen, title in zip(axes, worlds, titles, strict=True):
        axis.imshow(intensity_image(seen.scene(), camera, LIGHTS, ambient=0.3, samples=4, colour=True, background=1.0))
        axis.set_title(title, fontsize=9)
        axis.set_axis_off()
    save(figure, "programs_tasks_blocks", colours=96)


if __name__ == "__main__":
    main()
