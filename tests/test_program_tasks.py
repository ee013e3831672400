"""Tasks: statements about parts become motions of a real arm, and the world is then as they say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.task_worlds import block_world, bolt_world, tray_world, with_arm

from adjoint.errors import ArgumentError
from adjoint.kinematics import forward_kinematics
from adjoint.program.instructions import (
    Binary,
    Operate,
    Place,
    ProgramError,
    Quantity,
    Reading,
    RelationClause,
    Source,
    TaskState,
)
from adjoint.program.languages.autopass import parse_autopass, parse_rapt
from adjoint.program.meaning.checker import check
from adjoint.program.running.backends import ArmMotion, HandMotion
from adjoint.program.running.sessions import BasicSession
from adjoint.program.tasks import (
    SCREW_PITCH,
    SCREW_STIFFNESS,
    FastenPart,
    PutPart,
    TakePart,
    TaskPhase,
    state_holds,
    task_steps,
)
from adjoint.program.tasks.feature_names import named
from adjoint.program.tasks.task_edits import applied
from adjoint.world import IN_LBF, OZF, World, cuboid, cylinder, facts, is_clear, is_holding, is_on

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
UP = RelationClause("against", "Block2.face3", "Block3.face1")
DOWN = RelationClause("against", "Block3.face1", "Table")
BASE = (RelationClause("against", "Block1.face1", "table"), RelationClause("against", "Block1.face3", "Block2.face1"))
TORQUE = Binary("=", Reading("torque", axis="z"), Quantity(12.0, "in-lbs"))


def check_motions(world, steps, period=0.01):
    """Each motion begins where the one before ended, keeps the limits, and agrees with its velocities."""
    q = {name: known.q for name, known in world.robots.items()}
    for step in steps:
        if isinstance(step, ArmMotion):
            model = world.robots[step.robot].robot
            path = np.concatenate([q[step.robot][None], step.q])
            speed = np.abs(np.diff(path, axis=0)) / period
            assert (speed <= 1.02 * model.velocity_limit + 1e-6).all()
            assert np.abs(np.diff(path, axis=0) / period - step.v).max() < 0.35  # backward difference
            q[step.robot] = step.q[-1]
    return steps


def place_of(world, name) -> Any:
    return named(world, name)


def fault(world, statement, **options):
    with pytest.raises(ProgramError) as caught:
        task_steps(world, statement, **options)
    return str(caught.value)


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_of_the_book_and_of_the_world():
    w = block_world()
    assert [named(w, f"Block1.face{k}").label for k in range(1, 7)] == [
        f"Block1.{face}" for face in ("bottom", "front", "top", "back", "left", "right")
    ]
    assert named(w, "table").part == "Table" and named(w, "block1_TOP").label == "Block1.top"
    bolt = bolt_world().add("aim", at=[0.5, 0, 0.1], parent="beam")
    assert named(bolt, "bolt_tip").label == "bolt.tip" and named(bolt, "beam_bore").label == "beam.bore"
    aim = place_of(bolt, "aim")
    assert aim.part == "beam" and aim.made and np.allclose(aim.feature.axis, [0, 0, 1])
    tray = tray_world(1)
    assert named(tray, "bin(2,3)").part == "bin_2_3" and named(tray, "part(1)").part == "part_1"
    for name, words in (("Blok1", "did you mean 'Block1'"), ("Block1.face9", "has no feature 'face9'"), ("", "no ''")):
        with pytest.raises(LookupError, match=words):
            named(w, name)


def test_numbers_of_other_faces():
    w = World().add("peg", cylinder(0.01, 0.05))
    assert place_of(w, "peg.face1").feature.kind == "face"
    own = World().add("b", cuboid(1, 1, 1).with_feature("face1", "face", [0, 0, 0.5]))
    assert place_of(own, "b.face1").feature.name == "face1"  # a part's own name comes first


# --- states -----------------------------------------------------------------------------------------------------------


def test_states_of_table_9_9_hold():
    w = block_world()
    assert state_holds(w, (*BASE, DOWN)) and not state_holds(w, (*BASE, UP))
    b = w.move("Block3", [0.5, -0.1, -0.175])
    assert state_holds(b, (*BASE, UP)) and not state_holds(b, (*BASE, DOWN))
    assert not state_holds(b.move("Block3", [0.5, 0.3, -0.175]), (UP,))  # in the plane of the face, but beside it
    assert state_holds(b, [RelationClause("on", "Block3", "Block2"), RelationClause("parallel", "Block3.top", "Table")])
    assert state_holds(b, [RelationClause("at_distance", "Block3.bottom", "Block1.top", Quantity(50.0, "mm"))])
    assert not state_holds(b, [RelationClause("at_distance", "Block3.bottom", "Block1.top", Quantity(2.2, "in"))])
    with pytest.raises(ArgumentError, match="state_holds: the world has no 'Blok9'"):
        state_holds(w, [RelationClause("against", "Blok9", "Table")])


@given(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.sampled_from([0.0, 0.02]))
def test_a_block_is_against_the_table_where_it_stands_on_it(x, y, z):
    w = World().add("Table", cuboid(0.5, 0.7, 0.05)).add("Block3", cuboid(0.05, 0.05, 0.05), at=[x, y, 0.05 + z])
    assert state_holds(w, [DOWN]) == (z == 0.0)


# --- placing ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_block_world_there_and_back():
    w = block_world()
    steps = check_motions(w, task_steps(w, Place("Block3", relations=(UP,)), "arm"))
    words = [getattr(step, "words", "") for step in steps if hasattr(step, "words")]
    assert words == [
        "free motion to 'Block3'", "guarded approach to 'Block3'", "'arm' takes 'Block3'",
        "guarded departure with 'Block3'", "free motion with 'Block3'", "guarded approach with 'Block3'",
        "compliant motion of 'Block3' to its goal", "'arm' puts 'Block3' down", "guarded departure",
    ]  # fmt: skip
    assert sum(isinstance(step, HandMotion) for step in steps) == 3
    b = applied(w, steps)
    assert state_holds(b, (*BASE, UP)) and b.frames["Block3"].parent == "Block2"
    bottoms = [b.pose(f"Block{k}")[2, 3] - 0.025 + 0.3 for k in (1, 2, 3)]
    assert np.allclose(bottoms, [0, 0.05, 0.1], atol=1e-6)  # one, two and three edges high
    assert ("on", "Block3", "Block2") in facts(b) and ("handempty", "arm") in facts(b)
    back = task_steps(b, Place("Block3", relations=(DOWN,)), "", 0.02)
    a = applied(b, check_motions(b, back, 0.02))
    assert state_holds(a, (*BASE, DOWN)) and is_clear(a, "Block2")


@pytest.mark.slow
def test_compliant_finish_presses_down_with_a_force_within_its_bound():
    w = block_world()
    gentle = Binary("<", Reading("force", axis="z"), Quantity(5.0, "ozf"))
    for constraint, force in ((None, 2.0), (gentle, 2.5 * OZF)):
        steps = task_steps(w, Place("Block3", "on", "Block2", constraint=constraint))
        (last,) = [step for step in steps if isinstance(step, ArmMotion) and step.compliance is not None]
        assert last.compliance is not None and np.allclose(last.compliance.wrench, [0, 0, 0, 0, 0, -force])
        assert last.compliance.selected.tolist() == [False] * 5 + [True]
        known = w.robots["arm"]
        z = forward_kinematics(known.robot, last.q, known.tool)[:, 2, 3]
        assert 0 < z[0] - z[-1] <= 0.005 + 1e-9 and (np.diff(z) < 1e-9).all()


@pytest.mark.slow
def test_hold_and_go_on():
    w = block_world()
    held = applied(w, task_steps(w, Place("Block3", "on", "Block2", hold=True)))
    assert is_holding(held, "arm", "Block3") and np.isclose(held.pose("Block3")[2, 3], -0.175, atol=1e-6)
    assert "holds 'Block3' already" in fault(held, Place("Block1", "on", "Table"))
    down = applied(held, check_motions(held, task_steps(held, Place("Block3", "on", "Table"))))
    assert is_on(down, "Block3", "Table") and not down.holding("arm")


@pytest.mark.slow
def test_grasping_names_faces():
    w = block_world()
    for feature, faces in (("Block3.left", {"left", "right"}), ("Block3.face2", {"front", "back"})):
        steps = task_steps(w, Place("Block3", "on", "Block2", grasp=feature))
        k = next(k for k, step in enumerate(steps) if isinstance(step, TakePart))
        at = applied(w, steps[: k + 1])
        known: Any = at.robots["arm"]
        y = (at.pose(f"arm.{known.tool}") @ known.gripper.T_tool_grip)[:3, 1]
        assert np.isclose(abs(y[0 if "left" in faces else 1]), 1, atol=1e-6)
    assert "by 'Block3.top'" in fault(w, Place("Block3", "on", "Block2", grasp="Block3.top"))
    assert "'Table.top' is no feature of 'Block3'" in fault(w, Place("Block3", "on", "Block2", grasp="Table.top"))


@pytest.mark.slow
def test_states_are_achieved_in_order():
    w = block_world().remove("Block2")
    w = w.add("Block2", cuboid(0.05, 0.05, 0.05), at=[0.5, 0.05, -0.275])
    tower = TaskState("T", (UP, *BASE), "achieve")
    steps = task_steps(w, tower)
    assert [step.part for step in steps if isinstance(step, PutPart)] == ["Block2", "Block3"]
    done = applied(w, steps)
    assert state_holds(done, tower)
    assert task_steps(done, tower) == ()


@pytest.mark.slow
def test_peg_in_a_hole_and_part_in_a_box():
    table = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.325])
    block = cuboid(0.1, 0.1, 0.06) - cylinder(0.0125, 0.04, at=[0, 0, 0.01 + 0.001])
    crate = cuboid(0.2, 0.2, 0.06) - cuboid(0.18, 0.18, 0.06, at=[0, 0, 0.01])
    w = table.add("block", block, at=[0.5, -0.1, -0.27]).add("peg", cylinder(0.012, 0.06), at=[0.5, 0.15, -0.27])
    w = w.add("crate", crate, at=[0.65, 0.2, -0.27])
    w = with_arm(w)
    inserted = applied(w, task_steps(w, Place("peg", "in", "block")))
    assert np.allclose(inserted.pose("peg")[:2, 3], [0.5, -0.1], atol=1e-6)
    depth = -0.27 + 0.03 - (inserted.pose("peg")[2, 3] - 0.03)
    assert depth > 0.03  # the end of the peg is that far below the mouth
    inside = applied(w, task_steps(w, Place("peg", "in", "crate")))
    assert ("on", "peg", "crate") in facts(inside) and np.isclose(inside.pose("peg")[2, 3], -0.26)  # 10 mm of floor


def test_why_a_task_cannot_be_done():
    w = block_world()
    assert "the world has no part 'Blok3'; did you mean" in fault(w, Place("Blok3", relations=(UP,)))
    wrong = RelationClause("against", "Block3.face1", "Block2.face7")
    assert "has no feature 'face7'" in fault(w, Place("Block3", relations=(wrong,)))
    both = (
        RelationClause("coplanar", "Block3.top", "Block1.top"),
        RelationClause("coplanar", "Block3.bottom", "Table"),
    )
    assert "cannot both hold" in fault(w, Place("Block3", relations=tuple(both)))
    assert "there is no relation 'touches'" in fault(
        w, Place("Block3", relations=(RelationClause("touches", "a", "b"),))
    )
    state = TaskState("B", (*BASE, UP), "check")
    assert "the state B does not hold: Block2.face3 against Block3.face1" in fault(w, state)
    assert "no whole number" in fault(w, Place("part(N)", "on", "Table"), value=lambda name: 1.5)
    assert "the index 'I' has no value here" in fault(w, Place("part(I)", "on", "Table"))
    assert "a torque" in fault(
        bolt_world(), Operate("air_driver", place="bolt_grasp", final=Reading("force", axis="z"))
    )
    assert "no part 'hammer'" in fault(bolt_world(), Operate("hammer", place="bolt_grasp", final=TORQUE))
    with pytest.raises(ArgumentError, match="no robot 'ram'; did you mean 'arm'"):
        task_steps(w, Place("Block3", relations=(UP,)), "ram")
    with pytest.raises(ArgumentError, match="'period' must be above 0"):
        task_steps(w, Place("Block3", relations=(UP,)), "arm", 0.0)


@pytest.mark.slow
def test_the_error_is_at_the_statement_with_the_reason_of_the_world():
    text = "PLACE Block3 SO THAT (Block3-face1 AGAINST Far-top)"
    w = block_world().add("Far", cuboid(0.2, 0.2, 0.1), at=[3, 0, 0])
    (statement,) = parse_rapt(Source(text)).statements
    with pytest.raises(ProgramError, match=r"cannot place 'Block3': .*unreachable") as caught:
        task_steps(w, statement)
    assert caught.value.diagnostics[0].span == statement.at == (0, len(text))


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_bolt_of_section_9_3_2_is_tightened():
    w = bolt_world()
    place, drive = parse_autopass(
        Source("""
        PLACE bolt ON beam SUCH THAT bolt_tip IS ALIGNED WITH beam_bore;
        DRIVE IN bolt AT bolt_grasp SUCH THAT TORQUE IS EQ 12.0 IN-LBS USING air_driver;
    """)
    ).statements
    standing = applied(w, check_motions(w, task_steps(w, place)))
    assert np.allclose(standing.pose("bolt")[:3, 3], [0.5, -0.05, -0.25], atol=1e-6)
    steps = check_motions(standing, task_steps(standing, drive))
    done = applied(standing, steps)
    assert done.frames["bolt"].parent == "beam" and done.frames["bolt"].attachment == "rigid"
    assert np.allclose(done.pose("bolt")[:3, 3], [0.5, -0.05, -0.27], atol=1e-6)
    (fastened,) = [step for step in steps if isinstance(step, FastenPart)]
    turns = 0.02 / SCREW_PITCH + 12 * IN_LBF / SCREW_STIFFNESS / (2 * np.pi)
    assert f"{turns:.2f} turns, 1.356 N m" in fastened.words
    k = next(k for k, step in enumerate(steps) if isinstance(step, TaskPhase) and "drives" in step.words)
    driving = steps[k + 1]
    assert isinstance(driving, ArmMotion) and np.isclose(len(driving.q) * 0.01, turns / 5, atol=0.01)  # 300 / min
    assert np.allclose(done.pose("air_driver"), w.pose("air_driver"), atol=1e-6) and not done.holding("arm")
    tight = Operate("air_driver", "drive in", "bolt", place="bolt_grasp", speed=Quantity(60.0, "rpm"), hold=True)
    held = applied(standing, task_steps(standing, tight))
    assert held.holding("arm") == ["air_driver"]


# --- runs -------------------------------------------------------------------------------------------------------------


class _Session(BasicSession):
    refine = staticmethod(task_steps)


def ran(name, world):
    text = (EXAMPLES / name).read_text()
    parse = parse_rapt if name.endswith("rapt") else parse_autopass
    return _Session(parse(Source(text, name)), world).go_on()


def test_examples_have_no_faults():
    worlds = {"block_states.rapt": block_world, "blocks.rapt": block_world, "bolt.autopass": bolt_world}
    for name, world in {**worlds, "palletizing.autopass": tray_world}.items():
        parse = parse_rapt if name.endswith("rapt") else parse_autopass
        assert check(parse(Source((EXAMPLES / name).read_text(), name)), world()) == ()


@pytest.mark.slow
def test_block_world_runs_kinematically_there_and_back():
    run = ran("block_states.rapt", block_world())
    assert (run.status, run.message) == ("done", "")
    assert state_holds(run.world, (*BASE, DOWN)) and not run.world.holding("arm")
    kinds = [event.kind for event in run.trace]
    assert kinds.count("grasp") == kinds.count("release") == 2


@pytest.mark.slow
def test_a_state_that_does_not_hold_fails_at_its_line():
    w = block_world()
    run = _Session(parse_rapt(Source("$$ no tower yet\nCHECK (Block2-face3 AGAINST Block3-face1)", "demo")), w).go_on()
    assert run.status == "failed" and "the state does not hold: Block2.face3 against Block3.face1" in run.message


@pytest.mark.slow
def test_nine_parts_go_to_nine_bins_and_one_signal_says_so():
    run = ran("palletizing.autopass", tray_world())
    assert (run.status, run.message, run.printed) == ("done", "", ("tray full",)) and len(run.signals) == 1
    for k in range(9):
        assert is_on(run.world, f"part_{k + 1}", f"bin_{k // 3 + 1}_{k % 3 + 1}")
    toggles = [event.kind for event in run.trace if event.kind in ("grasp", "release")]
    assert toggles == ["grasp", "release"] * 9
