"""A block, a bracket and a peg are put together by relations; a PUMA takes the peg from a shelf and brings it there.

python examples/30_world.py     writes world.png, and world.html, in which the plan plays, into output/
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import adjoint as aj
from adjoint.world import (
    Gripper,
    World,
    against,
    coplanar,
    cuboid,
    cylinder,
    fits,
    is_on,
    mass,
    placements,
    plan_pick_and_place,
    solve_relations,
)

OUTPUT = Path(__file__).parent / "output"
STEEL, WOOD, BLUE, ORANGE = 7850.0, [0.62, 0.47, 0.32], [0.45, 0.6, 0.8], [0.9, 0.55, 0.3]
TABLE = -0.3  # [m] its height in the base's frame

# --- parts: simple solids, joined and cut -----------------------------------------------------------------------------
block = (cuboid(0.12, 0.08, 0.05) - cylinder(0.016, 0.1)).with_density(STEEL).with_colour(BLUE)
bracket = cuboid(0.08, 0.08, 0.012, name="plate") | cuboid(0.012, 0.08, 0.06, at=[-0.034, 0, 0.036], name="wall")
bracket = (bracket - cylinder(0.016, 0.05, name="bore")).with_density(STEEL).with_colour(0.75)
peg = cylinder(0.015, 0.055, name="pin") | cylinder(0.022, 0.03, at=[0, 0, 0.0425], name="head")
peg = peg.with_density(STEEL).with_colour(ORANGE)
print(f"the peg weighs {1e3 * mass(peg):.0f} g")

# --- a world: a table, a shelf, the parts where they came, and a PUMA with a hand -------------------------------------
world = World().add("table", cuboid(0.6, 1.2, 0.03).with_colour(WOOD), at=[0.65, 0, TABLE - 0.015])
for name, at, size in (
    ("back", [0.6, 0.05, TABLE + 0.25], [0.3, 0.02, 0.5]),
    ("board", [0.6, 0.2, TABLE + 0.2], [0.3, 0.28, 0.02]),
    ("foot", [0.6, 0.33, TABLE + 0.095], [0.3, 0.02, 0.19]),
):
    world = world.add(name, cuboid(*size).with_colour(WOOD), at=at)
world = world.add("block", block, at=[0.55, -0.3, TABLE + 0.025]).add("bracket", bracket, at=[0.4, -0.1, TABLE + 0.006])
world = world.add("peg", peg, at=[0.55, 0.2, TABLE + 0.2375])
ready = np.array([0.3, -1.6, 2.6, 0.0, 0.6, 0.0])
world = world.add_robot("arm", aj.robots.puma560(), q=ready, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.12]))

# --- where do the bracket and the peg belong? -------------------------------------------------------------------------
found = solve_relations(world, ["bracket", "peg"], [
    against("bracket.plate.bottom", "block.top"),
    coplanar("bracket.plate.front", "block.front"),
    fits("peg.pin.shaft", "bracket.bore.hole"),
    fits("peg.pin.shaft", "block.hole"),
    against("peg.head.bottom", "bracket.plate.top"),
])  # fmt: skip
print(found)
world = world.move("bracket", found.poses["bracket"])  # somebody else does this
print("the bracket is on the block:", is_on(world, "bracket", "block"))

# --- the arm takes the peg and puts it into the bore ------------------------------------------------------------------
seat = [fits("peg.pin.shaft", "block.hole"), against("peg.head.bottom", "bracket.plate.top")]
print(placements(world, "peg", seat))
plan = plan_pick_and_place(world, "arm", "peg", seat)
print(plan.grasps)
print(plan)
assert plan.solved, plan.reason
for phase, t in zip(plan.phases, plan.times, strict=False):
    print(f"{t:6.2f} s  {phase.name}")

# --- seen by a camera, and played in a page ---------------------------------------------------------------------------
OUTPUT.mkdir(exist_ok=True)
eye = aj.vision.looking_at([1.5, -1.6, 0.7], target=[0.4, -0.05, 0.0])
camera = aj.vision.Camera.pinhole((720, 480), 0.8).at(eye)
lights = [aj.sensing.DirectionalLight([-0.6, 0.5, -1.0], intensity=0.7), aj.sensing.DiffuseLight(0.45)]
late = plan.world_at(0.75 * plan.duration)
image = aj.sensing.intensity_image(late.scene(), camera, lights, samples=9, colour=True, background=1.0)
plt.imsave(OUTPUT / "world.png", image)
aj.viewer.page(plan, title="A peg, a shelf and a bracket").save(OUTPUT / "world.html")
print("wrote output/world.png and output/world.html")
