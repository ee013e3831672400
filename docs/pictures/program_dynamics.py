"""The pictures of docs/program_dynamics.md: this script writes docs/images/program_dynamics_*.png."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from PIL import Image
from saving import save, save_image

import adjoint as aj
from adjoint.drawing.style import CURVES, house_style
from adjoint.world import INCH, OZF

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[2]
ORANGE, BLUE, GREEN = CURVES[:3]
TEXT = (ROOT / "examples" / "programs" / "insertion.al").read_text(encoding="utf-8")
PROGRAM = aj.program.parse(TEXT, "al")


def line_of(words: str) -> int:
    return next(k for k, line in enumerate(TEXT.splitlines(), 1) if words in line)


def forces():
    done = aj.program.run(PROGRAM, aj.program.insertion_world(), backend="dynamic")
    plugged = aj.program.run(PROGRAM, aj.program.insertion_world(bore=False), backend="dynamic")
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    pressing = done.line == line_of("MOVE bolt_tip TO beam_bore")
    t = done.t[pressing] - done.t[pressing][0]
    tip = done.poses("bolt")[pressing, 2, 3] / INCH
    left.plot(t, tip, color=GREEN)
    left.axhline(1.95, color="#9aa3ad", linewidth=0.8)
    left.axhline(1.0, color="#9aa3ad", linewidth=0.8)
    left.annotate("mouth of the bore", (5, 1.95), ha="right", va="bottom", fontsize=8)
    left.annotate("its bottom", (5, 1.0), ha="right", va="bottom", fontsize=8)
    left.set(title="the bolt goes in", xlabel="t of the compliant move [s]", ylabel="tip, z [inches]")
    for k, color, name in ((5, ORANGE, "z"), (3, BLUE, "x"), (4, GREEN, "y")):
        middle.plot(t, done.wrench["puma"][pressing, k] / OZF, color=color, label=name)
    middle.axhline(10, color="#9aa3ad", linewidth=0.8)
    middle.set(title="FORCE(Z) = -10 ounces", xlabel="t of the compliant move [s]", ylabel="force on the hand [ounces]")
    middle.legend(frameon=False)
    feeling = plugged.t > plugged.t[-1] - 0.25
    first = np.flatnonzero(plugged.wrench["puma"][:, 5] / OZF > 10)[0]
    right.plot(plugged.t[feeling], plugged.wrench["puma"][feeling, 5] / OZF, color=ORANGE, marker=".")
    right.plot(plugged.t[first], plugged.wrench["puma"][first, 5] / OZF, "o", color=BLUE, label="the guard holds")
    right.axhline(10, color="#9aa3ad", linewidth=0.8)
    right.set(title='plugged: "No hole"', xlabel="t [s]")
    right.legend(frameon=False, loc="upper left")
    save(figure, "program_dynamics_forces")


def cell():
    """The cell when the bolt is over the bore, and when it is in it."""
    run = aj.program.run(PROGRAM, aj.program.insertion_world(), backend="dynamic")
    above = run.t[np.flatnonzero(run.line == line_of("ON FORCE(Z)"))[0]]
    eye = aj.vision.looking_at(np.array([34, 34, 10]) * INCH, target=np.array([20, 14, 4]) * INCH)
    camera = aj.vision.Camera.pinhole((480, 400), 0.75).at(eye)
    lights = [aj.sensing.DirectionalLight([-0.5, -0.8, -1.0], intensity=0.7), aj.sensing.DiffuseLight(0.45)]
    images = []
    for t in (above, run.t[-1]):
        scene = run.world_at(float(t)).scene()
        images.append(aj.sensing.intensity_image(scene, camera, lights, samples=9, colour=True, background=1.0))
    save_image(Image.fromarray(np.concatenate(images, axis=1)), "program_dynamics_cell")


if __name__ == "__main__":
    with house_style("pictures"):
        forces()
        cell()
