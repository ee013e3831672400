"""Dry runs: what would go wrong is found at its line, and what is fine is not."""

from pathlib import Path

import numpy as np
import pytest
from support.running_programs import Q_UP, puma_world

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import so3
from adjoint.program import ProgramError, insertion_world, parse
from adjoint.program.instructions import Diagnostic
from adjoint.program.rehearsal import dry_run
from adjoint.program.rehearsal.motion_checks import positions_beyond, speeds_beyond
from adjoint.program.running import plan_move
from adjoint.program.running.direction_search import hull_gaps
from adjoint.program.running.motion_contacts import motion_contacts
from adjoint.sensing import Box, Cylinder, Sphere
from adjoint.world.grasps.separations import Hull, hull_of

SIDEWAYS = """BEGIN a
    MOVE arm TO ⊗ - 2*inches*Z DIRECTLY;
    MOVE arm TO ⊗ - 10*inches*Y DIRECTLY;
    MOVE arm TO ⊗ + 10*inches*Y DIRECTLY;
END a.
"""


def al(text: str):
    return parse(text, "al", name="a.al")


def arm_world() -> aj.world.World:
    """A PUMA "arm" with a hand on its flange."""
    hand = aj.world.Gripper(opening=0.08, depth=0.05)
    return aj.world.World().add_robot("arm", aj.robots.puma560(), q=Q_UP, gripper=hand)


def down_world() -> tuple[aj.world.World, np.ndarray]:
    """The same arm with its hand pointing down, and the place between its fingers."""
    world, T = arm_world(), np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = [0.45, 0.1, 0.1]
    return world.set_configuration("arm", plan_move(world, "arm", T).q[-1]), T[:3, 3]


def places(found: tuple[Diagnostic, ...], text: str) -> list[tuple[str, int]]:
    """(code, line) of findings."""
    return [(d.code, text.count("\n", 0, d.span.start) + 1) for d in found]


# --- what is fine -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_clean_program_has_no_findings():
    found = dry_run(al(SIDEWAYS), arm_world())
    assert found.ok and found.findings == () and found.status == "done"
    assert [m.line for m in found.motions] == [2, 3, 4] and {m.robot for m in found.motions} == {"arm"}
    assert [m.begins for m in found.motions[1:]] == [m.ends for m in found.motions[:-1]]
    assert np.isclose(found.motions[-1].ends, found.duration) and "nothing is wrong" in str(found)
    assert found.motions[0].q.shape == (round(found.motions[0].ends / 0.01) + 1, 6)


@pytest.mark.slow
def test_grasping_carrying_and_inserting_is_no_collision():
    path = Path(__file__).parents[1] / "examples" / "programs" / "insertion.al"
    program = parse(path.read_text(encoding="utf-8"), "al", name="insertion.al")
    found = dry_run(program, insertion_world())
    assert found.ok, str(found)
    assert len(found.motions) >= 4 and found.run.world.holding("puma")


# --- collisions -------------------------------------------------------------------------------------------------------


def shelf_world() -> aj.world.World:
    """The PUMA with a board that stands across its way in lines 3 and 4 of SIDEWAYS."""
    world = arm_world()
    return world.add("shelf", aj.world.cuboid(0.3, 0.02, 0.5), at=world.pose("arm.tool")[:3, 3] + [0, -0.14, 0])


@pytest.mark.slow
def test_a_shelf_in_the_way_is_found_at_its_line():
    found = dry_run(al(SIDEWAYS), shelf_world())
    assert not found.ok and set(places(found.findings, SIDEWAYS)) == {("collision", 3), ("collision", 4)}
    first = found.findings[0]
    assert first.message.endswith(" s into the move") and "mm inside 'shelf'" in first.message
    assert "touch from" in first.hint and found.status == "done"
    assert "a.al:3:5: error: " in str(found)
    without = dry_run(al(SIDEWAYS), arm_world())
    assert np.array_equal(found.run.q["arm"], without.run.q["arm"])  # a dry run looks, and does not act


@pytest.mark.slow
def test_words_of_collisions_agree_with_the_distance_of_the_solids():
    world = shelf_world()
    found = dry_run(al(SIDEWAYS), world)
    q = found.run.q["arm"]
    deepest = {m.contact.a: m for m in motion_contacts(world, "arm", q, 1e-3, False, frozenset()) if not m.own}
    m = deepest["palm"]
    at = world.set_configuration("arm", q[m.tick])
    palm = next(s for s in at.scene().solids if s.name == "arm.palm")
    shelf = next(s for s in at.scene().solids if s.name == "shelf")
    assert np.isclose(aj.collision.solid_distance(palm, shelf, exact=True).distance, m.contact.distance, atol=1e-6)
    assert m.first < m.tick < m.last


@pytest.mark.slow
def test_pairs_that_may_touch():
    world = shelf_world()
    names = {d.message.split(" is ")[0].removeprefix("link ").strip("'") for d in dry_run(al(SIDEWAYS), world).findings}
    pairs = [(name, "shelf") for name in ("palm", "finger", "link3", "link4", "link5", "link6")]
    assert names and dry_run(al(SIDEWAYS), world, ignore=pairs).ok
    with pytest.raises(ArgumentError, match="'ignore' names 'shlf'"):
        dry_run(al(SIDEWAYS), world, ignore=[("link5", "shlf")])
    with pytest.raises(ArgumentError, match="pairs of names"):
        dry_run(al(SIDEWAYS), world, ignore=["link5"])


@pytest.mark.slow
def test_what_a_hand_carries_collides_too():
    text = "BEGIN a\n    CLOSE arm;\n    MOVE arm TO ⊗ - 1*inches*Z DIRECTLY;\nEND a.\n"
    world, p = down_world()
    rod = aj.world.cuboid(0.03, 0.03, 0.2).with_density(1000.0)
    world = world.add("rod", rod, at=p - [0, 0, 0.08]).add("floor", aj.world.cuboid(2, 2, 0.02), at=p - [0, 0, 0.2])
    found = dry_run(al(text), world)
    assert "rod" in found.run.world.holding("arm")
    assert places(found.findings, text) == [("collision", 3)]
    # The rod ends 10 mm above the floor, and goes down by 25.4 mm.
    assert found.findings[0].message.startswith("'rod' is 15.4 mm inside 'floor', ")


@pytest.mark.slow
def test_a_part_may_rest_on_its_support_and_lie_between_fingers():
    text = (
        "BEGIN a\n    MOVE arm TO ⊗ - 2*inches*Z DIRECTLY;\n    CLOSE arm;\n    MOVE arm TO ⊗ + 1*inches*Z DIRECTLY;\n"
        "    MOVE arm TO ⊗ - 1*inches*Z DIRECTLY;\n    OPEN arm;\n    MOVE arm TO ⊗ + 2*inches*Z DIRECTLY;\nEND a.\n"
    )
    world, p = down_world()
    p = p - [0, 0, 2 * 0.0254]
    world = world.add("table", aj.world.cuboid(0.2, 0.2, 0.02), at=p - [0, 0, 0.03])
    world = world.add("block", aj.world.cuboid(0.03, 0.03, 0.04).with_density(1000.0), at=p)
    found = dry_run(al(text), world)
    assert found.ok, str(found)
    held = [e.data["part"] for e in found.run.trace if e.kind in ("grasp", "release")]
    assert held == ["block", "block"] and len(found.motions) == 4


@pytest.mark.slow
def test_a_hand_that_is_modelled_inside_of_the_wrist_is_no_finding():
    assert dry_run(al(SIDEWAYS), puma_world(gripper=True)).ok


@pytest.mark.parametrize("solid", [Box([0.1, 0.2, 0.3]), Sphere(0.05), Cylinder(0.05, 0.2)])
def test_directions_that_are_searched_find_the_distance(solid):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 3))
    points *= [[0.2, 0.1, 0.1]] / np.linalg.norm(points, axis=1, keepdims=True)
    T = np.tile(np.eye(4), (20, 1, 1))
    T[:, :3, :3], T[:, :3, 3] = np.asarray(so3.exp(rng.normal(size=(20, 3)))), 0.15 * rng.normal(size=(20, 3))
    none, other = np.zeros((0, 3)), hull_of(solid)
    assert other is not None
    found = hull_gaps(Hull(points, none, none), T, other)
    mesh = aj.collision.ConvexHull(points)
    exact = np.array([float(aj.collision.solid_distance(mesh.replace(T_world_solid=x), solid).distance) for x in T])
    off = exact - found
    assert off.min() > -1e-9 and off.max() < 1e-3 and (exact < 0).any() and (exact > 0).any()


# --- reach, limits, branches ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_dry_run_goes_on_after_a_move_that_cannot_be_made():
    text = SIDEWAYS.replace("- 10*inches*Y", "- 5*m*Y").replace("MOVE arm TO ⊗ + 10", "MOVE arm TO ⊗ - 1")
    found = dry_run(al(text), puma_world())
    assert places(found.findings, text) == [("reach", 3)] and [m.line for m in found.motions] == [2, 4]
    assert found.status == "done" and not found.ok


@pytest.mark.slow
def test_joints_beyond_their_limits():
    text = ".PROGRAM a\n        DRIVE 1,400,50\n        DRIVE 1,10,50\n.END\n"
    found = dry_run(parse(text, "val", name="a.val"), puma_world())
    assert places(found.findings, text) == [("limit", 2)] and [m.line for m in found.motions] == [3]


@pytest.mark.slow
def test_moves_that_fail_again_and_again_end():
    text = "BEGIN a\n    WHILE true DO MOVE arm TO ⊗ + 5*m*Z;\nEND a.\n"
    found = dry_run(al(text), puma_world())
    assert [p for p in places(found.findings, text) if p[0] == "reach"] == [("reach", 2)]
    assert found.status in ("failed", "limit") and found.motions == ()


def test_motions_are_measured_between_ticks():
    robot = aj.robots.puma560()
    q = np.zeros((101, 6))
    q[:, 0] = np.linspace(0, 1, 101)  # 1 rad in 1 s
    assert positions_beyond(robot, q, 0.01) == "" and speeds_beyond(robot, q, 0.01) == ("", "")
    slow = robot.replace(velocity_limit=np.full(6, 0.5))
    code, words = speeds_beyond(slow, q, 0.01)
    assert code == "limit" and words.startswith("joint 'joint1' moves at 57.3°/s, and its limit is 28.65°/s")
    q[50:, 3] += 1.0
    assert speeds_beyond(robot, q, 0.01) == ("branch", "joint 'joint4' jumps by 57.3°, 0.49 s into the move")
    q[:, 1] = 1.0
    assert positions_beyond(robot, q, 0.01).startswith("joint 'joint2' is at 57.3°, 12.3° beyond its limit, 0.00 s")
    assert speeds_beyond(robot, q[:1], 0.01) == ("", "")


# --- how a program ends -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_loops_without_end_are_bounded():
    text = "BEGIN a\n    WHILE true DO n ← 1;\nEND a.\n"
    found = dry_run(al(text), puma_world())
    assert found.ok and found.status == "limit" and [d.code for d in found.findings] == ["time"]
    waiting = parse(".PROGRAM a\n        WAIT 1\n.END\n", "val")
    assert dry_run(waiting, puma_world(), limit=100).status == "limit"
    assert dry_run(waiting, puma_world(), inputs={"signal 1": 1.0}).status == "done"


@pytest.mark.slow
def test_a_program_that_aborts_or_fails():
    found = dry_run(al('BEGIN a  ABORT("no bolt");  END a.'), puma_world())
    assert [d.message for d in found.findings] == ["the program aborts: no bolt"] and not found.ok
    with pytest.raises(ProgramError, match=r"write 90\*deg"):
        dry_run(al("BEGIN a  r ← ROT(Z, 90);  END a."), puma_world())
    with pytest.raises(ArgumentError, match="tolerance"):
        dry_run(al(SIDEWAYS), puma_world(), tolerance=-1.0)


@pytest.mark.slow
def test_two_arms_at_once_are_looked_at_each():
    q = [0.3, -0.8, 2.0, 0.3, 0.7, 0.0]
    world = aj.world.World().add_robot("one", aj.robots.puma560(), q=q)
    world = world.add_robot("two", aj.robots.puma560(), q=q, at=[3, 0, 0])
    goal = world.pose("two.tool")[:3, 3]
    world = world.add("ball", aj.world.sphere(0.04), at=goal + np.array([0, 0, -0.12]))
    text = (
        "BEGIN a\n    COBEGIN\n        MOVE one TO one - 4*inches*Z DIRECTLY;\n"
        "        MOVE two TO two - 4*inches*Z DIRECTLY;\n    COEND;\nEND a.\n"
    )
    found = dry_run(al(text), world)
    assert sorted((m.robot, m.line) for m in found.motions) == [("one", 3), ("two", 4)]
    assert set(places(found.findings, text)) == {("collision", 4)}
