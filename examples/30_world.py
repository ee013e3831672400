"""A block, a bracket and a peg are put together by relations; a PUMA carries the peg there, around a shelf.

python examples/30_world.py     writes world.html, in which the plan plays, into output/
"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.lie import se3
from adjoint.world import (
    Gripper,
    World,
    against,
    coplanar,
    cuboid,
    cylinder,
    fits,
    follow,
    hand_target,
    is_on,
    mass,
    plan_motion,
    solve_relations,
)

OUTPUT = Path(__file__).parent / "output"
STEEL, WOOD, BLUE, ORANGE = 7850.0, [0.62, 0.47, 0.32], [0.45, 0.6, 0.8], [0.9, 0.55, 0.3]
TABLE = -0.3  # [m] its height in the base's frame
DOWN = se3.exp([np.pi, 0, 0, 0, 0, 0])  # a hand that points down

# --- parts: simple solids, joined and cut -----------------------------------------------------------------------------
block = (cuboid(0.12, 0.08, 0.05) - cylinder(0.0152, 0.1)).with_density(STEEL).with_colour(BLUE)
plate = cuboid(0.08, 0.08, 0.012, name="plate") | cuboid(0.012, 0.08, 0.06, at=[-0.034, 0, 0.036], name="wall")
bracket = (plate - cylinder(0.0152, 0.05, name="bore")).with_density(STEEL).with_colour(0.75)
peg = (
    (cylinder(0.015, 0.07, name="pin") | cylinder(0.022, 0.025, at=[0, 0, 0.0475], name="head"))
    .with_density(STEEL)
    .with_colour(ORANGE)
)

# --- a world: a table, a shelf, the parts where a feeder left them, and a PUMA that holds the peg ---------------------
world = World().add("table", cuboid(0.6, 1.2, 0.03).with_colour(WOOD), at=[0.65, 0, TABLE - 0.015])
for name, at, size in (
    ("back", [0.6, 0.05, TABLE + 0.3], [0.36, 0.02, 0.6]),
    ("lower board", [0.6, 0.2, TABLE + 0.1], [0.36, 0.28, 0.02]),
    ("upper board", [0.6, 0.2, TABLE + 0.3], [0.36, 0.28, 0.02]),
):
    world = world.add(name, cuboid(*size).with_colour(WOOD), at=at)
world = world.add("block", block, at=[0.6, -0.3, TABLE + 0.025]).add("bracket", bracket, at=[0.5, -0.15, TABLE + 0.006])
hand = Gripper(opening=0.08, T_tool_grip=se3.exp([0, 0, 0, 0, 0, 0.1]))
world = world.add_robot("arm", aj.robots.puma560(), gripper=hand)

# --- where do the bracket and the peg belong? -------------------------------------------------------------------------
there = world.add("peg", peg)
found = solve_relations(there, ["bracket", "peg"], [
    against("bracket.plate.bottom", "block.top"),
    coplanar("bracket.plate.front", "block.front"),
    fits("peg.pin.shaft", "bracket.bore.hole"),
    fits("peg.pin.shaft", "block.hole"),
    against("peg.head.bottom", "bracket.plate.top"),
])  # fmt: skip
print(found)
world = world.move("bracket", found.poses["bracket"])
seat = found.poses["peg"]  # what is left is that the peg may spin

# --- the arm takes the peg, which stood on the shelf, and plans its way to the hole ---------------------------------
grip = se3.exp([0, 0, 0, 0, 0, 0.05]) @ DOWN  # of the hand, seen from the peg: about the head, from above


def reach(T_world_grip: np.ndarray) -> np.ndarray:
    """The configuration nearest to the middle of the joints' ranges that brings the grip there."""
    robot = world.robots["arm"].robot
    T = T_world_grip @ se3.inverse(hand.T_tool_grip)
    solutions = aj.inverse.within_limits(robot, aj.inverse_kinematics(robot, T, "tool"))
    return min(solutions.q[solutions.exact], key=lambda q: np.abs(q).sum())


start = se3.exp([0, 0, 0, 0.55, 0.22, TABLE + 0.38])  # just lifted
world = world.add("peg", peg, at=start).set_configuration("arm", reach(start @ grip)).grasp("arm", "peg", width=0.044)
print(f"the peg weighs {1e3 * mass(peg):.0f} g; gravity then asks for", end=" ")
print(np.round(aj.gravity_torque(world.mounted("arm"), world.robots["arm"].q), 1), "N m")

above = se3.exp([0, 0, 0, 0, 0, 0.08]) @ seat
plan = plan_motion(world, "arm", None, hand_target(world, "peg", above))
print(plan)
print(f"clearance {1e3 * plan.clearance():.0f} mm; {plan.statistics.checks} configurations checked")
assert plan.recheck().free

# --- the peg goes down into the hole, which is a contact: the plan ends above it --------------------------------------
way = follow(world, "arm", plan)
done = way.end.release("peg").move("peg", seat)
print("the bracket is on the block:", is_on(done, "bracket", "block"))

OUTPUT.mkdir(exist_ok=True)
aj.viewer.page(way, title="A peg around a shelf").save(OUTPUT / "world.html")
print("wrote output/world.html")
