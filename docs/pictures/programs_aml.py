"""The pictures of docs/programs_aml.md: this script writes docs/images/programs_aml_*.png."""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from saving import save

from adjoint.drawing.style import CURVES, house_style
from adjoint.world import INCH

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from support.aml_cells import UNITS, ran

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[2]
ORANGE, BLUE, GREEN, PURPLE = CURVES[:4]

GUARDED = """
fmons = MONITOR(<SLP, SRP>, 1, 0, 10);
MOVE(<3>, <6>);
DMOVE(<3>, <-3>, <1, 4, 4>, fmons);
"""


def guarded():
    figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    touch = {"SLP": lambda t: np.where(np.asarray(t) > 2.0, 20.0, 0.0), "SRP": 0.0}
    for inputs, color, label in (({"SLP": 0.0, "SRP": 0.0}, BLUE, "nothing is met"), (touch, ORANGE, "touch at 2 s")):
        run = ran(GUARDED, inputs=inputs)
        axis.plot(run.t, run.q["arm"][:, 2] / INCH, color=color, label=label)
    axis.axvline(2.0, color="#9aa3ad", linewidth=0.8)
    axis.set(xlabel="t [s]", ylabel="joint 3 [inches]", title="DMOVE(<3>, <-3>, <1, 4, 4>, fmons)")
    axis.legend(frameon=False)
    save(figure, "programs_aml_guarded")


def pallet():
    run = ran((ROOT / "examples" / "programs" / "pallet.aml").read_text(encoding="utf-8"))
    q, width = run.q["arm"] / UNITS, run.width["arm"] / INCH
    figure, (plan, height) = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=[1, 1.4], layout="constrained")
    plan.plot(q[:, 0], q[:, 1], color=BLUE, linewidth=0.8)
    low = np.abs(q[:, 2] - 1) < 1e-9
    plan.plot(q[low, 0], q[low, 1], "o", color=ORANGE, markersize=4)
    plan.set(xlabel="joint 1 [inches]", ylabel="joint 2 [inches]", aspect="equal", title="from above")
    height.plot(run.t, q[:, 2], color=BLUE, label="joint 3")
    height.plot(run.t, width, color=GREEN, label="opening of the fingers")
    height.set(xlabel="t [s]", ylabel="inches", title="in time")
    height.legend(frameon=False, loc="upper right")
    save(figure, "programs_aml_pallet")


if __name__ == "__main__":
    with house_style("pictures"):
        guarded()
        pallet()
