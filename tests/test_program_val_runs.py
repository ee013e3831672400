"""Programs in VAL on a PUMA: palletizing, configurations, reactions to inputs, and what single lines do."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as aj
from adjoint.lie import se3, so3
from adjoint.program.instructions import Source
from adjoint.program.languages.val import parse_val
from adjoint.program.meaning.checker import check
from adjoint.program.running import ProgramRun, RunLimits
from adjoint.program.running.sessions import BasicSession
from adjoint.world import Gripper, World, cuboid, cylinder
from tests.support.val_texts import EXAMPLES

PUMA = aj.robots.puma560()
START = np.deg2rad([0.0, -45.0, 150.0, 0.0, 60.0, 0.0])
HAND = Gripper(opening=0.05, depth=0.04, breadth=0.02, tip=0.01, T_tool_grip=np.eye(4))


def pose(x, y, z, o=0.0, a=90.0, t=0.0):
    """A pose in VAL's numbers: mm, and O, A and T in degrees."""
    return se3.from_rotation_translation(so3.from_oat(np.deg2rad([o, a, t])), np.array([x, y, z]) / 1e3)


def cell() -> World:
    return World().add_robot("arm", PUMA, q=START, gripper=HAND)


def run(text: str, world: World, **options) -> ProgramRun:
    program = parse_val(Source(text, "test.val"))
    assert not [d for d in check(program, world) if d.severity == "error"]
    return BasicSession(program, world, **options).go_on()


def tool(world: World) -> np.ndarray:
    return world.pose("arm.tool")


def ends(result: ProgramRun, statement: str) -> list[int]:
    return [e.tick for e in result.trace if e.kind == "end" and e.statement == statement]


@pytest.mark.slow
def test_palletizing_fills_nine_bins_row_by_row():
    tray = pose(400, -250, -100)
    world = cell().add("FEED", at=pose(450, 200, -100)).add("TRAY", at=tray)
    result = run(EXAMPLES["pallet"], world)
    assert result.status == "done" and result.printed == ("TRAY FULL",)
    assert [(line, on) for _, line, on in result.signals] == [(1, True)]
    hands = ends(result, "MoveHand")
    assert len(hands) == 18
    opened = result.width["arm"][hands]
    np.testing.assert_allclose(opened[0::2], 0, atol=1e-9)
    np.testing.assert_allclose(opened[1::2], HAND.opening, atol=1e-9)
    T = result.poses("arm.tool")[hands]
    np.testing.assert_allclose(T[0::2], np.broadcast_to(world.pose("FEED"), (9, 4, 4)), atol=1e-8)
    bins = [tray[:3, 3] + [0.06 * i, 0.04 * j, 0] for j in range(3) for i in range(3)]
    np.testing.assert_allclose(T[1::2, :3, 3], bins, atol=1e-8)
    np.testing.assert_allclose(T[1::2, :3, :3], np.broadcast_to(tray[:3, :3], (9, 3, 3)), atol=1e-8)
    assert len(np.unique(T[1::2, :3, 3].round(6), axis=0)) == 9
    assert result.variables["N"] == 9


def test_a_part_of_the_feeder_lands_in_the_first_bin():
    world = cell().add("FEED", at=pose(450, 200, -100)).add("TRAY", at=pose(400, -250, -100))
    floor = np.eye(4)
    floor[:3, 3] = 0, 0, -0.13
    world = world.add("desk", cuboid(2.0, 2.0, 0.02), at=floor)
    world = world.add("pin", cylinder(0.006, 0.03), at=np.array([0.45, 0.2, -0.105]))
    result = run(EXAMPLES["pallet"], world)
    assert result.status == "done"
    kinds = [(e.kind, e.data) for e in result.trace if e.kind in ("grasp", "release")]
    assert [kind for kind, _ in kinds] == ["grasp", "release"]
    np.testing.assert_allclose(result.world.pose("pin")[:2, 3], [0.4, -0.25], atol=2e-3)


@pytest.mark.slow
def test_flags_choose_the_configuration():
    result = run(EXAMPLES["tour"], cell())
    assert result.status == "done", result.message
    assert result.printed == ("CONFIGURATIONS: 4",)
    moves = ends(result, "Move")
    goal = pose(520, 390, 30, 60, 15, 0)
    q = result.q["arm"][moves]
    np.testing.assert_allclose(result.poses("arm.tool")[moves[:4]], np.broadcast_to(goal, (4, 4, 4)), atol=1e-8)
    found = aj.inverse.indicators(PUMA, q[:4], "tool")
    assert found.arm.tolist() == [1, 1, 1, -1]  # right, right, right, left
    assert found.elbow.tolist() == [1, 1, -1, 1]  # above, above, below, above
    assert (q[:4, 4] < 0).tolist() == [False, True, False, False]
    np.testing.assert_allclose(q[4], np.deg2rad([0, -90, 90, 0, 0, 0]), atol=1e-9)


def test_a_peg_is_missed_or_taken():
    empty = run(EXAMPLES["peg"], cell())
    assert empty.status == "done", empty.message
    assert empty.printed == ("NO PEG ON THE STAND",) and [x[1:] for x in empty.signals] == [(2, False)]
    world = cell().add("peg", cylinder(0.006, 0.03), at=np.array([0.45, 0.15, 0.1]))
    taken = run(EXAMPLES["peg"], world)
    assert taken.status == "done" and [x[1:] for x in taken.signals] == [(2, True)]
    np.testing.assert_allclose(taken.world.pose("peg")[:2, 3], [0.5, -0.15], atol=2e-3)


DOOR = """
.PROGRAM main
        {word} 5,RESCUE
        MOVE FAR
        TYPE THERE
.END
.PROGRAM RESCUE
        TYPE DOOR
        HERE STOPPED
        DRAW 0,0,20
        RETURN
.END
"""


def reaction(word: str) -> ProgramRun:
    world = cell().add("FAR", at=pose(300, -450, 200))
    return run(DOOR.format(word=word), world, inputs={"signal 5": lambda t: t > 0.3})


def test_reacti_interrupts_the_move():
    result = reaction("REACTI")
    assert result.status == "done" and result.printed == ("DOOR", "THERE")
    stopped = result.variables["STOPPED"]
    assert np.linalg.norm(stopped[:3, 3] - pose(300, -450, 200)[:3, 3]) > 0.05
    np.testing.assert_allclose(tool(result.world)[:3, 3], stopped[:3, 3] + [0, 0, 0.02], atol=1e-8)


def test_react_lets_the_move_end_first():
    result = reaction("REACT")
    assert result.printed == ("DOOR", "THERE")
    np.testing.assert_allclose(result.variables["STOPPED"], pose(300, -450, 200), atol=1e-8)


def test_ignore_ends_a_reaction():
    text = DOOR.replace("MOVE FAR", "IGNORE 5\n MOVE FAR")
    world = cell().add("FAR", at=pose(300, -450, 200))
    result = run(text.format(word="REACTI"), world, inputs={"signal 5": lambda t: t > 0.3})
    assert result.printed == ("THERE",)


def test_always_reacts_every_time():
    text = ".PROGRAM main\n REACT 5,COUNT{}\n DELAY 5\n TYPEI N\n.END\n.PROGRAM COUNT\n SETI N = N + 1\n.END"
    text = text.replace(" REACT", " SETI N = 0\n REACT")
    blink = {"signal 5": lambda t: t % 1.0 > 0.5}
    assert run(text.format(" ALWAYS"), cell(), inputs=blink).variables["N"] == 5
    assert run(text.format(""), cell(), inputs=blink).variables["N"] == 1


def test_a_precision_point_is_known_to_all_programs_of_a_text():
    text = ".PROGRAM main\n GOSUB TEACH\n DRIVE 1,20\n DRIVE 5,-10\n MOVE #SAFE\n.END\n"
    text += ".PROGRAM TEACH\n HERE #SAFE\n.END"
    result = run(text, cell())
    assert result.status == "done", result.message
    np.testing.assert_allclose(result.q["arm"][-1], START, atol=1e-9)
    assert max(result.q["arm"][:, 0]) > np.deg2rad(19.9)
    np.testing.assert_allclose(result.variables["#SAFE"], START)


def test_ready_stands_upright():
    result = run("READY", cell())
    np.testing.assert_allclose(result.q["arm"][-1], np.deg2rad([0, -90, 90, 0, 0, 0]), atol=1e-9)
    assert tool(result.world)[2, 3] > 0.8


def test_moves_end_where_they_should():
    T = tool(cell())
    deeper = T @ se3.from_rotation_translation(np.eye(3), np.array([0, 0, -0.03]))
    np.testing.assert_allclose(tool(run("DEPARTS 30", cell()).world), deeper, atol=1e-8)
    up = T.copy()
    up[:3, 3] += 0.01, -0.02, 0.03
    np.testing.assert_allclose(tool(run("DRAW 10,-20,30", cell()).world), up, atol=1e-8)
    straight = run("HERE A\nSHIFT A BY 0,60,0\nMOVES A", cell()).poses("arm.tool")[:, :3, 3]
    np.testing.assert_allclose(straight[:, [0, 2]], np.broadcast_to(T[[0, 2], 3], (len(straight), 2)), atol=1e-6)


def test_speed_counts_once_or_always():
    line = "DRIVE 1,30\nDRIVE 1,-30"
    times = {text: run(text + line, cell()).duration for text in ("", "SPEED 50\n", "SPEED 50 ALWAYS\n")}
    assert times[""] < times["SPEED 50\n"] < times["SPEED 50 ALWAYS\n"]


def test_grasp_that_fails_jumps():
    text = "GRASP 10,90\nTYPE HELD\nSTOP\n90 TYPE NOTHING"
    assert run(text, cell()).printed == ("NOTHING",)
    world = cell()
    held = world.add("pin", cylinder(0.006, 0.03), at=tool(world))
    assert run(text, held).printed == ("HELD",)
    assert run("GRASP 10", cell()).status in ("aborted", "failed")


def test_inputs_outputs_and_arithmetic():
    text = "WAIT 3,-4\nSIGNAL 1,-2\nSETI N = 17 / 5 * 2 % 4\nTYPEI N\nIFSIG -3 THEN 10\nTYPE ON\n10 STOP"
    result = run(text, cell(), inputs={"signal 3": lambda t: t > 0.2, "signal 4": lambda t: t < 0.4})
    assert 0.38 < result.duration < 0.45
    assert [(line, on) for _, line, on in result.signals] == [(1, True), (2, False)]
    assert result.printed == ("2", "ON")


def test_base_and_tool():
    base = run("BASE 0,0,50\nPOINT A = 450,0,0,0,90,0\nMOVE A", cell())
    np.testing.assert_allclose(tool(base.world), pose(450, 0, 50), atol=1e-8)
    turned = run("BASE 0,0,0,90\nPOINT A = 0,-450,0,0,90,0\nMOVE A", cell())
    np.testing.assert_allclose(tool(turned.world)[:3, 3], [0.45, 0, 0], atol=1e-8)
    long = run("POINT G = 0,0,100,90,-90,0\nTOOL G\nPOINT A = 450,0,0,0,90,0\nMOVE A", cell())
    flange = tool(long.world)
    np.testing.assert_allclose(flange[:3, 3], [0.45, 0, 0.1], atol=1e-8)


def test_a_loop_without_end_stops_at_its_limit():
    assert run("10 SETI I = 1\nGOTO 10", cell(), limit=RunLimits(still=1000)).status == "limit"
