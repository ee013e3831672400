"""Worlds of the task-level examples: three blocks, a bolt with its beam and driver, a feeder and a tray with bins."""

import adjoint as aj
from adjoint.world import Gripper, World, cuboid, cylinder, feature_frame

HAND = Gripper(opening=0.08, depth=0.045, T_tool_grip=[0, 0, 0.14])
REST = [0.0, -1.2, 0.3, 0, 0.5, 0]


def with_arm(world: World) -> World:
    """The world with a PUMA 560 that has a hand."""
    return world.add_robot("arm", aj.robots.puma560(), q=REST, gripper=HAND)


def block_world() -> World:
    """Table 9.9, state A: Block2 is on Block1, which is on the table with Block3. Edges are 5 cm."""
    colours = ([0.85, 0.45, 0.3], [0.35, 0.55, 0.8], [0.4, 0.7, 0.45])
    w = World().add("Table", cuboid(0.5, 0.7, 0.05, colour=[0.75, 0.65, 0.5]), at=[0.6, 0, -0.325])
    places = ([0.5, -0.1, -0.275], [0.5, -0.1, -0.225], [0.5, 0.15, -0.275])
    for k, (at, colour) in enumerate(zip(places, colours, strict=True), 1):
        w = w.add(f"Block{k}", cuboid(0.05, 0.05, 0.05, colour=colour), at=at)
    return with_arm(w)


def bolt_world() -> World:
    """A bolt in a feeder, a beam with a tapped bore, and a driver in a rack."""
    bolt = cylinder(0.005, 0.02, name="shank") | cylinder(0.011, 0.012, at=[0, 0, 0.016], name="head")
    bolt = bolt.with_feature("tip", "shaft", feature_frame([0, 0, -0.01], [0, 0, -1]), radius=0.005, length=0.02)
    bolt = bolt.with_feature("grasp", "vertex", feature_frame([0, 0, 0.022], [0, 0, 1]))
    beam = cuboid(0.12, 0.08, 0.04) - cylinder(0.0045, 0.1, name="core")
    beam = beam.with_feature("bore", "hole", feature_frame([0, 0, 0.02], [0, 0, 1]), radius=0.0045, length=0.04)
    driver = cuboid(0.03, 0.03, 0.08, name="body") | cylinder(0.006, 0.04, at=[0, 0, -0.06], name="bit")
    driver = driver.with_feature("tip", "shaft", feature_frame([0, 0, -0.08], [0, 0, -1]), radius=0.006, length=0.04)
    return with_arm(
        World()
        .add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.325])
        .add("feeder", cuboid(0.06, 0.06, 0.03) - cylinder(0.0055, 0.05), at=[0.5, 0.2, -0.285])
        .add("bolt", bolt, at=[0.5, 0.2, -0.26])
        .add("beam", beam, at=[0.5, -0.05, -0.28])
        .add("rack", cuboid(0.1, 0.1, 0.06) - cylinder(0.008, 0.08), at=[0.6, -0.25, -0.27])
        .add("air_driver", driver, at=[0.6, -0.25, -0.2])
    )


def tray_world(count: int = 9) -> World:
    """Parts in three rows of a feeder, and a tray whose floors bin_1_1 to bin_3_3 are thin plates."""
    w = World().add("table", cuboid(0.6, 0.9, 0.05), at=[0.6, 0, -0.325])
    for k in range(count):
        w = w.add(f"part_{k + 1}", cuboid(0.03, 0.03, 0.03), at=[0.42 + 0.07 * (k // 3), 0.12 + 0.08 * (k % 3), -0.285])
    for row in range(3):
        for column in range(3):
            at = [0.42 + 0.07 * row, -0.3 + 0.08 * column, -0.2975]
            w = w.add(f"bin_{row + 1}_{column + 1}", cuboid(0.05, 0.05, 0.005), at=at)
    return with_arm(w)
