"""Programs in a world with two robots: which arm a statement means where it names none."""

import numpy as np
import pytest
from support.running_programs import Q_UP

import adjoint as aj
from adjoint.program import ProgramError, check, parse, run

INCH = 0.0254


def two_arms():
    hand = aj.world.Gripper(opening=0.08, T_tool_grip=np.eye(4))
    w = aj.world.World().add_robot("barm", aj.robots.puma560(), q=Q_UP, gripper=hand)
    return w.add_robot("yarm", aj.robots.puma560(), q=Q_UP, at=[0, 2, 0], gripper=hand)


def ran(text, world=None, **options):
    found = run(parse(text, "al"), two_arms() if world is None else world, **options)
    assert found.status == "done", found.message
    return found


@pytest.mark.parametrize("arm, other", [("barm", "yarm"), ("yarm", "barm")])
def test_a_relative_move_is_relative_to_the_arm_that_moves(arm, other):
    w = two_arms()
    end = ran(f"MOVE {arm} TO ⊗ - 1*Z*inches;", w).world
    moved = end.pose(f"{arm}.tool")[:3, 3] - w.pose(f"{arm}.tool")[:3, 3]
    np.testing.assert_allclose(moved, [0, 0, -INCH], atol=1e-6)
    np.testing.assert_allclose(end.pose(f"{other}.tool"), w.pose(f"{other}.tool"))


@pytest.mark.parametrize("arm, stops", [("barm", True), ("yarm", False)])
def test_a_guard_feels_the_arm_that_moves(arm, stops):
    text = f'MOVE {arm} TO ⊗ - 1*Z*inches ON FORCE(Z) > 10*ounces DO PRINT("felt", FORCE(Z) > 10*ounces);'
    found = ran(text, inputs={"barm force z": 5.0, "yarm force z": 0.0})
    assert found.printed == (("felt TRUE",) if stops else ())


def test_a_body_of_a_guard_and_its_threads_mean_the_arm_that_moved():
    text = """MOVE yarm TO ⊗ - 1*Z*inches ON FORCE(Z) > 10*ounces DO BEGIN
        COBEGIN f ← ⊗; BEGIN g ← FORCE(Z); h ← ⊗; END; COEND;
        PRINT(NORM(POS(f) - POS(h)) < 1*mm, POS(f)[2] > 1*m, g > 10*ounces); END;"""
    assert ran(text, inputs={"barm force z": 0.0, "yarm force z": 5.0}).printed == ("TRUE TRUE TRUE",)


def test_a_frame_that_an_arm_holds_means_that_arm():
    w = two_arms()
    w = w.add("tip", at=w.pose("yarm.tool"), parent="world")
    end = ran("AFFIX tip TO yarm; MOVE tip TO ⊗ - 1*Z*inches;", w).world
    moved = end.pose("yarm.tool")[:3, 3] - w.pose("yarm.tool")[:3, 3]
    np.testing.assert_allclose(moved, [0, 0, -INCH], atol=1e-6)


def test_a_hand_means_its_own_width():
    end = ran("OPEN bhand TO 1*inches; OPEN yhand TO 2*inches; OPEN yhand TO WIDTH() + 0.5*inches;").world
    assert end.robots["yarm"].width == pytest.approx(2.5 * INCH)


def test_an_argument_of_a_procedure_in_a_move_means_the_arm_that_moves():
    w = two_arms()
    text = "FRAME PROCEDURE below(FRAME f); RETURN(f - 1*Z*inches); MOVE yarm TO below(⊗);"
    end = ran(text, w).world
    moved = end.pose("yarm.tool")[:3, 3] - w.pose("yarm.tool")[:3, 3]
    np.testing.assert_allclose(moved, [0, 0, -INCH], atol=1e-6)


@pytest.mark.parametrize("text", [
    "f ← ⊗;",
    "IF FORCE(Z) > 1*ounces THEN f ← nilvect;",
    "MOVE barm TO ⊗; f ← ⊗;",
    "PROCEDURE p; f ← ⊗; MOVE barm TO ⊗ - Z*inches ON FORCE(Z) > 1*ounces DO p();",
    "MOVE barm TO ⊗ ON TRUE DO BEGIN ON FORCE(Z) > 1*ounces DO f ← 1; END;",
])  # fmt: skip
def test_elsewhere_the_arm_must_be_named(text):
    found = [d for d in check(parse(text, "al"), two_arms()) if d.severity == "error"]
    assert [d.message[:10] for d in found] == ["which arm?"]
    assert found[0].hint == 'name the arm, or say arms={"": "barm"}'
    with pytest.raises(ProgramError):
        run(parse(text, "al"), two_arms())
    if "ON TRUE" not in text:
        assert run(parse(text, "al"), two_arms(), check=False, inputs={"force z": 5.0}).status == "failed"


def test_programs_that_cannot_name_arms_are_told_how_to():
    found = check(parse("MOVE(<1>, <10>);", "aml"), two_arms())
    assert found[0].hint == 'name the arm, or say arms={"": "barm"}'
    assert not check(parse("MOVE(<1>, <10>);", "aml"), two_arms(), arms={"": "yarm"})


def test_the_line_under_way_is_that_of_a_branch_and_grasps_know_theirs():
    text = """BEGIN both
    COBEGIN
    MOVE barm TO ⊗ - 1*Z*inches;
    MOVE yarm TO ⊗ - 2*Z*inches;
    COEND;
    CLOSE bhand;
END both."""
    w = two_arms()
    block = aj.world.cuboid(0.03, 0.03, 0.03)
    w = w.add("block", block, at=w.pose("barm.tool")[:3, 3] - [0, 0, INCH])
    found = ran(text, w)
    assert set(found.line[1:].tolist()) == {3, 4, 6}  # never the line of COBEGIN
    grasp = next(event for event in found.trace if event.kind == "grasp")
    assert grasp.line == 6 and grasp.data["part"] == "block"
