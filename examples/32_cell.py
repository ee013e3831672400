"""From a goal to torques: a camera is calibrated and finds blocks, and an arm stacks them while someone moves one.

python examples/32_cell.py     writes cell.html (film, plan, torques) and cell.png (kernels) into output/
"""

import time
from pathlib import Path

import adjoint as aj
from adjoint import planning

OUTPUT = Path(__file__).parent / "output"
GOAL = "(and (on red green) (on green blue))"
began = time.perf_counter()

# --- a cell that nobody knows exactly: lens and place of the camera, places and masses of the blocks ------------------
scene = planning.random_cell(rng=5, blocks=4)
someone = planning.Meddler({2}, rng=1)  # moves a block before the third action
backend = aj.program.DynamicBackend(payload_known=False)  # computed torque that knows nothing of the blocks' masses

# --- calibrate, look, plan, act; look again before each action, and recover -------------------------------------------
run = planning.run_cell(scene, GOAL, backend=backend, disturb=someone, photos=8)
print(run.calibration)
print(run.looks[0].seen)
assert run.plan is not None and run.run is not None, run.reason
print(f"plan: {', '.join(map(str, run.plan.actions))}; found in {run.seconds['plan']:.2f} s")
print(*someone.done.values())
print(run.story)
assert run.reached and not run.contacts and not run.dropped, run.reason

# --- the whole story in one page --------------------------------------------------------------------------------------
OUTPUT.mkdir(exist_ok=True)
planning.plot_execution(run.run.execution).savefig(OUTPUT / "cell.png", dpi=110)  # the kernels, decision by decision
page = aj.viewer.page(run).save(OUTPUT / "cell.html")
print(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB) after {time.perf_counter() - began:.0f} s")
