"""The book's AL program inserts a bolt into a beam: a PUMA with masses, contact and a wrist that feels; three outcomes.

python examples/31_insertion.py     writes insertion.png (forces) and insertion.html (the run) into output/
"""

import time
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import adjoint as aj
from adjoint.world import INCH, OZF

HERE = Path(__file__).parent
OUTPUT = HERE / "output"

# --- the program, as text, and the cell in which it runs --------------------------------------------------------------
text = (HERE / "programs" / "insertion.al").read_text(encoding="utf-8")
program = aj.program.parse(text, "al", name="insertion.al")
cells = {
    "as the program expects it": aj.program.insertion_world(),
    "without a bolt": aj.program.insertion_world(bolt=False),
    "without a hole": aj.program.insertion_world(bore=False),
}
print(cells["as the program expects it"])
for finding in aj.program.check(program, cells["as the program expects it"]):
    print(finding.message)

# --- it runs: arms under computed torque and hybrid control, contact at rims and corners ------------------------------
runs = {}
for name, world in cells.items():
    aj.program.run(program, world, backend="dynamic")  # compiles what is not compiled yet
    began = time.process_time()
    runs[name] = run = aj.program.run(program, world, backend="dynamic")
    fast = run.duration / (time.process_time() - began)
    print(f"{name}: {run.status} {run.message!r} after {run.duration:.2f} s, {fast:.0f} times as fast as a clock")

done = runs["as the program expects it"]
assert done.status == "done"
assert [runs[k].message for k in ("without a bolt", "without a hole")] == ["failed to grasp bolt", "No hole"]
tip = done.world.pose("bolt")[:3, 3] / INCH
print(f"the bolt's tip is at ({tip[0]:.4f}, {tip[1]:.4f}, {tip[2]:.4f}) in; the bore ends at (20, 15, 1) in")
force = done.wrench["puma"][:, 5] / OZF
print(f"at the end it presses with {force[-1]:.2f} ounces")

# --- forces over time, and a page that plays the program --------------------------------------------------------------
OUTPUT.mkdir(exist_ok=True)
figure, (whole, hit) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
pressing = done.t > done.duration - 5.2
whole.plot(done.t[pressing], force[pressing])
whole.axhline(10, color="0.6", linestyle="--", linewidth=1)
whole.set(title="done: pressed in with 10 ounces", xlabel="t [s]", ylabel="force on the hand, up [ounces]")
bad = runs["without a hole"]
late = bad.t > bad.duration - 0.3
hit.plot(bad.t[late], bad.wrench["puma"][late, 5] / OZF, marker=".")
hit.axhline(10, color="0.6", linestyle="--", linewidth=1)
hit.set(title="No hole: above 10 ounces the arm stops", xlabel="t [s]")
figure.savefig(OUTPUT / "insertion.png", dpi=110)
aj.viewer.page(done, title="A bolt goes into a beam").save(OUTPUT / "insertion.html")
assert np.isfinite(tip).all()
print("wrote output/insertion.png and output/insertion.html")
