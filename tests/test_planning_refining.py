"""From symbols to motion: facts of a world, refinements of actions, and plans that geometry has agreed to."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false, reportOptionalSubscript=false

from dataclasses import replace

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import AdjointError, ArgumentError
from adjoint.planning.pddl import read_task, write_domain, write_problem
from adjoint.planning.refining import (
    execute_task,
    manipulation_domain,
    plan_task,
    problem_of,
    refine,
    run_refinement,
    sensed_facts,
)
from adjoint.planning.strips.task_types import Action, Condition
from adjoint.program.tasks.task_edits import PutPart, applied
from adjoint.sensing import Plane
from adjoint.world import World, against, at_angle, centred, coplanar, cuboid, facts, on

from .support.refining_cells import SIDE, blocks_world, contacts_of, height, sussman_world

SUSSMAN = [("on", "b", "c"), ("on", "a", "b")]


# --- the world as a planning task -------------------------------------------------------------------------------------


def test_state_of_a_problem_is_that_of_the_world_and_a_table_is_always_clear():
    world = sussman_world()
    task = problem_of(world, SUSSMAN)
    assert task.initial == facts(world, always_clear=["table"])
    assert task.all_objects == {"table": "fixed", "a": "movable", "b": "movable", "c": "movable", "arm": "robot"}


def test_two_blocks_can_be_put_on_the_table_in_a_row():
    """Used literally, the MOVE rule of Sec. 10.6 deletes (clear table), and takes a tower of three not apart."""
    task = problem_of(sussman_world(), SUSSMAN)
    state = task.initial
    for name in ("c", "b"):
        below = next(fact[2] for fact in state if fact[:2] == ("on", name))
        for action in (task.action("pick", "arm", name, below), task.action("place", "arm", name, "table")):
            assert action.applies(state)
            state = action.result(state)
    assert ("clear", "table") in state and ("on", "c", "table") in state


@pytest.mark.slow
def test_a_held_part_is_not_clear_and_effects_are_what_the_world_tells():
    world = sussman_world()
    task = problem_of(world, SUSSMAN)
    pick, put = task.action("pick", "arm", "c", "a"), task.action("place", "arm", "c", "table")
    found = refine(world, pick, then=put)
    assert pick.result(task.initial) == sensed_facts(found.after)
    assert put.result(pick.result(task.initial)) == sensed_facts(found.following.after)
    assert ("clear", "c") not in sensed_facts(found.after)


@pytest.mark.parametrize(
    "goal",
    [
        [("on", "a", "b")],
        ("on", "a", "b"),
        "(on a b)",
        "(and (on A b))",
        Condition((("on", "a", "b"),)),
        on("a.bottom", "b.top"),
        [against("a.bottom", "b.top"), centred("a.bottom", "b.top")],
        [against("b.top", "a.bottom")],
    ],
)
def test_goals_are_facts_texts_conditions_or_relations(goal):
    task = problem_of(sussman_world(), goal)
    told = () if isinstance(goal, str | Condition) or goal in (("on", "a", "b"), [("on", "a", "b")]) else ("as-told",)
    assert task.goal == Condition(tuple((name, "a", "b") for name in ("on", *told)))
    assert set(told) <= set(task.domain.predicates) and read_task(write_domain(task.domain), write_problem(task))


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ([("onn", "a", "b")], "no predicate 'onn'"),
        ([("on", "a")], "has 1 arguments"),
        ([("on", "a", "d")], "names 'd'"),
        ([("on", "table", "a")], "'table' is fixed, not movable"),
        ("(on a d)", "d"),
        ("(on a", "goal"),
        (coplanar("a.top", "b.top"), "no predicate tells"),
        ([against("a.bottom", "b.topp")], "topp"),
        (7, "must be"),
        ([7], "got 7"),
    ],
)
def test_bad_goals_are_named(goal, words):
    with pytest.raises(AdjointError, match=words):
        problem_of(sussman_world(), goal)


def test_what_is_movable_can_be_told():
    world = sussman_world()
    assert problem_of(world, [("on", "c", "a")], movable=["c"]).all_objects["a"] == "fixed"
    with pytest.raises(ArgumentError, match="'movable' names 'x'"):
        manipulation_domain(world, movable=["x"])


# --- one action -------------------------------------------------------------------------------------------------------


def test_a_pick_and_its_placement_share_one_grasp_and_four_phases():
    world = sussman_world()
    task = problem_of(world, SUSSMAN)
    found = refine(world, task.action("pick", "arm", "b", "table"), then=task.action("stack", "arm", "b", "c"))
    words = [step.words for step in found.steps if hasattr(step, "words")]
    assert words[-1] == "guarded departure with 'b'"
    later = [step.words for step in found.following.steps if hasattr(step, "words")]
    assert later[0] == "free motion with 'b'" and "compliant motion of 'b' to its goal" in later
    # One grasp: the part is in the hand at the end of the pick as the grasp says, and just before it is let go, too.
    in_hand = world.robots["arm"].gripper.T_tool_grip @ np.linalg.inv(found.grasp.T_part_grip)
    let_go = next(k for k, step in enumerate(found.following.steps) if isinstance(step, PutPart))
    for scene in (found.after, applied(found.after, found.following.steps[: let_go - 1])):
        assert np.allclose(scene.pose("b", "arm.tool"), in_hand, atol=1e-6)
    assert found.following.after.frames["b"].parent == "c"


@pytest.mark.slow
def test_relations_decide_how_a_part_lies():
    world = sussman_world()
    turned = [on("b.bottom", "c.top"), centred("b.bottom", "c.top"), at_angle("b.left", "c.left", np.pi / 2)]
    plan = plan_task(world, turned)
    assert plan.solved, plan.reason
    T = plan.end.pose("b", "c")
    assert np.allclose(T[:3, 3], [0, 0, SIDE], atol=1e-6) and abs(T[0, 0]) < 1e-6
    loose = plan_task(world, [("on", "b", "c")]).end.pose("b", "c")
    assert not np.allclose(loose[:2, 3], 0, atol=1e-4) and abs(loose[0, 0]) > 1 - 1e-6


def test_a_refinement_is_run_again_without_planning():
    world = sussman_world()
    pick = problem_of(world, SUSSMAN).action("pick", "arm", "c", "a")
    found = refine(world, pick)
    first, second = run_refinement(found, world), run_refinement(found, world)
    assert first.status == second.status == "done" and np.array_equal(first.q["arm"], second.q["arm"])
    assert contacts_of(first) == [] and first.world.holding("arm") == ["c"]
    assert found.fits(world) and not found.fits(world.move("b", [0.5, 0.2, -0.275])) and not found.fits(first.world)


def test_refine_says_what_is_wrong_with_its_arguments():
    world = sussman_world()
    task = problem_of(world, SUSSMAN)
    pick, stack = task.action("pick", "arm", "c", "a"), task.action("stack", "arm", "c", "b")
    with pytest.raises(ArgumentError, match="needs 'c' in the hand"):
        refine(world, stack)
    with pytest.raises(ArgumentError, match="pick, place or stack"):
        refine(world, Action("push", ("arm", "c", "a")))
    with pytest.raises(ArgumentError, match="'d', which is not in the world"):
        refine(world, Action("pick", ("arm", "d", "a")))
    with pytest.raises(ArgumentError, match="an action of 'pick' is not possible: there is no object 'd'"):
        task.action("pick", "arm", "d", "a")
    with pytest.raises(ArgumentError, match="must put down what"):
        refine(world, pick, then=task.action("stack", "arm", "b", "c"))
    with pytest.raises(ArgumentError, match="has no motions"):
        run_refinement(refine(world.move("c", [3.0, 0, 0]), pick), world)


# --- search and geometry ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sussman_anomaly_from_goal_to_motions():
    plan = plan_task(sussman_world(), SUSSMAN)
    assert [str(action) for action in plan.actions] == [
        "(pick arm c a)", "(place arm c table)", "(pick arm b table)", "(stack arm b c)", "(pick arm a table)",
        "(stack arm a b)",
    ]  # fmt: skip
    assert len(plan.refinements) == 6 and {*SUSSMAN} <= sensed_facts(plan.end)
    for before, after in zip(plan.refinements, plan.refinements[1:], strict=False):
        assert after.before is before.after


def surrounded_world():
    """A among four others, so near that no hand comes to it, and S, on which it shall go."""
    near = SIDE + 0.006
    return blocks_world(
        a=(0.5, -0.1, 0), b=(0.5, -0.1 + near, 0), d=(0.5, -0.1 - near, 0), e=(0.5 + near, -0.1, 0),
        f=(0.5 - near, -0.1, 0), s=(0.5, 0.25, 0),
    )  # fmt: skip


@pytest.mark.slow
def test_parts_that_stand_in_the_way_are_moved_away_first():
    world = surrounded_world()
    plan = plan_task(world, [("on", "a", "s")])
    assert plan.solved, plan.reason
    blocking = {item.fact[1] for item in plan.learned}
    assert {item.fact[0] for item in plan.learned} == {"obstructs"} and blocking <= {"b", "d", "e", "f"}
    assert len(plan.rounds) == 2 and str(plan.rounds[0].failed) == "(pick arm a table)"
    # A smallest set: with any one of them at its place, a still cannot be picked; without all of them, it can.
    pick = problem_of(world, [("on", "a", "s")]).action("pick", "arm", "a", "table")
    assert refine(_without(world, blocking), pick).solved
    for name in blocking:
        assert not refine(_without(world, blocking - {name}), pick).solved
    moved = {action.arguments[1] for action in plan.actions}
    assert moved == blocking | {"a"} and "obstructs" in plan.explanation


def _without(world, names):
    for name in names:
        world = world.remove(name)
    return world


@pytest.mark.slow
def test_unreachable_goals_have_a_reason():
    world = sussman_world().add("shelf", cuboid(0.2, 0.2, 0.02), at=[2.0, 0, 0])
    plan = plan_task(world, [("on", "b", "shelf")])
    assert not plan.solved and "(unreachable arm b shelf)" in plan.reason and "unreachable at place" in plan.reason
    with pytest.raises(ArgumentError, match="'b' is fixed"):
        plan_task(sussman_world().move("b", [1.9, 0.15, -0.275]), [("holding", "arm", "b")])  # it lies on nothing
    alone = plan_task(
        sussman_world().move("b", [1.9, 0.15, -0.275]), [("holding", "arm", "b")], movable=["a", "b", "c"]
    )
    assert not alone.solved and alone.reason


@pytest.mark.slow
def test_a_part_in_a_grasp_that_does_not_reach_is_put_down_and_taken_by_another():
    world = World().add("table", cuboid(0.9, 0.9, 0.05), at=[0.67, 0, -0.325])
    near = blocks_world(a=(0.5, 0.1, 0))
    world = world.add("b", near.parts["a"], at=[0.9, 0, height(0)]).add("a", near.parts["a"], at=near.pose("a"))
    arm = near.robots["arm"]
    world = world.add_robot("arm", arm.robot, q=arm.q, gripper=arm.gripper)
    held = plan_task(world, [("holding", "arm", "a")]).end
    plan = plan_task(held, [("on", "a", "b")])
    assert [action.name for action in plan.actions] == ["place", "pick", "stack"] and len(plan.rounds) == 2
    assert ("unreachable", "arm", "a", "b") in [item.fact for item in plan.learned]
    done = execute_task(held, plan)
    assert done.reached and {("on", "a", "b")} <= sensed_facts(done.actual)
    # Out of reach by all grasps: that is known after one of them was tried, and then all others.
    far = held.detach("b").move("b", [1.1, 0, height(0)]).attach("b", "table", "conditional")
    never = plan_task(far, [("on", "a", "b")])
    assert not never.solved and "can never become true" in never.reason and len(never.rounds) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("q", [[0, -1.2, 0.3, 0, 0.5, 0], [0.3, -1.5, 0.5, 0.4, -0.9, 0.3]])
def test_a_part_that_a_tilted_hand_holds_is_put_down_on_one_of_its_faces(q):
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    tilted = plan_task(world, [("holding", "arm", "a")]).end.set_configuration("arm", q)
    assert np.abs(tilted.pose("a")[2, :3]).max() < np.cos(0.3)
    for goal in (("on", "a", "b"), ("on", "a", "table")):
        plan = plan_task(tilted, [goal])
        assert plan.solved and np.isclose(np.abs(plan.end.pose("a")[2, :3]).max(), 1), plan.reason
        assert goal in sensed_facts(plan.end)


@pytest.mark.slow
def test_a_held_part_leaves_along_the_fingers_where_there_is_no_room_above():
    """A board is above a hand whose fingers are horizontal."""
    held = plan_task(blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0)), [("holding", "arm", "a")]).end
    held = held.set_configuration("arm", [-0.7256, -0.7828, 3.7669, 2.4098, 1.4532, -3.0366])
    board = held.add("board", cuboid(0.12, 0.3, 0.01), at=held.pose("a")[:3, 3] + [0.02, 0, 0.065])
    plan = plan_task(board, [("on", "a", "table")], movable=["a", "b"])
    assert plan.solved, plan.reason
    run = run_refinement(plan.refinements[0], board)
    assert run.status == "done" and contacts_of(run) == []


@pytest.mark.slow
def test_each_face_of_a_tilted_part_is_tried():
    """The fingers reach below the slab that they hold: on the face at their tips it cannot be put down."""
    world = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.075])
    world = world.add("a", cuboid(0.12, 0.05, 0.02), at=[0.5, -0.1, -0.04])
    arm = blocks_world().robots["arm"]
    world = world.add_robot("arm", arm.robot, q=[0.3, -1.5, 0.5, 0.4, -0.9, 0.3], gripper=arm.gripper)
    grip = world.pose("arm.tool") @ arm.gripper.T_tool_grip
    grip[:3, 3] -= 0.018 * grip[:3, 2]
    held = world.detach("a").set_gripper("arm", 0.05).move("a", grip).grasp("arm", "a", width=0.05)
    plan = plan_task(held, [("on", "a", "table")], movable=["a"])
    assert plan.solved and ("on", "a", "table") in sensed_facts(plan.end, movable=["a"]), plan.reason


@pytest.mark.slow
def test_a_robot_that_cannot_move_from_where_it_stands_is_named():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    x, y, z = world.pose("arm.link3")[:3, 3]  # of the elbow
    stuck = world.add("box", cuboid(0.05, 0.05, 0.05), at=[x, y + 0.08, z])
    plan = plan_task(stuck, [("on", "a", "b")], movable=["a", "b"])
    assert not plan.solved and "'arm' cannot move from where it stands: start: link" in plan.reason
    assert "inside 'box'" in plan.reason and len(plan.rounds) == 1


def test_contradictory_goals_have_a_reason():
    for goal in ("(and (on a b) (on b a))", "(and (on a b) (on a c))", "(and (holding arm a) (handempty arm))"):
        plan = plan_task(sussman_world(), goal)
        assert not plan.solved and plan.reason and plan.actions == ()


@pytest.mark.slow
def test_rounds_are_bounded():
    plan = plan_task(surrounded_world(), [("on", "a", "s")], max_rounds=1)
    assert not plan.solved and "1 round of search and geometry did not suffice" in plan.reason
    with pytest.raises(ArgumentError, match="max_rounds"):
        plan_task(sussman_world(), SUSSMAN, max_rounds=-1)


def test_a_floor_without_end_is_no_hindrance():
    world = sussman_world().add("floor", Plane(), at=[0, 0, -0.7])
    assert plan_task(world, [("on", "c", "table")], movable=["a", "b", "c"]).solved


def test_a_goal_that_is_reached_needs_nothing():
    plan = plan_task(sussman_world(), [("on", "c", "a")])
    assert plan.solved and plan.actions == () and plan.end == plan.world


def test_parts_that_cannot_be_moved_and_goals_without_parentheses_are_explained():
    """A part that hangs a little above the table lies on nothing, and nobody told that it is movable."""
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    hanging = world.detach("a").move("a", [0.5, -0.1, -0.2])
    for goal in ("(on a b)", [("on", "a", "b")]):
        with pytest.raises(AdjointError, match="a part is movable if it lies on another one"):
            problem_of(hanging, goal)
    assert problem_of(hanging, "(on a b)", movable=["a", "b"]).goal.facts == (("on", "a", "b"),)
    with pytest.raises(ArgumentError, match="'on a b' must stand in parentheses"):
        problem_of(hanging, "on a b")


# --- how parts shall lie ----------------------------------------------------------------------------------------------

TURNED = [on("b.bottom", "c.top"), at_angle("b.left", "c.left", np.pi / 4)]


def stacked_world():
    """B on C, not turned, and A beside them."""
    return blocks_world(a=(0.5, -0.1, 0), c=(0.5, 0.15, 0), b=(0.5, 0.15, 1))


def test_a_part_that_lies_otherwise_than_relations_say_is_taken_and_put_down_again():
    world = stacked_world()
    plan = plan_task(world, TURNED)
    assert [str(action) for action in plan.actions] == ["(pick arm b c)", "(stack arm b c)"]
    assert ("as-told", "b", "c") not in plan.plan.problem.initial and len(plan_task(plan.end, TURNED).actions) == 0
    middle = [on("a.bottom", "table.top"), centred("a.bottom", "table.top")]
    assert [action.name for action in plan_task(world, middle).actions] == ["pick", "place"]
    assert len(plan_task(world, [on("b.bottom", "c.top"), centred("b.bottom", "c.top")]).actions) == 0


@pytest.mark.slow
def test_a_part_that_somebody_turns_is_turned_back():
    world = stacked_world()

    def turn_back(step, scene):
        if step != 2:
            return scene
        return scene.detach("b").move("b", world.pose("b")).attach("b", "c", "conditional")

    done = execute_task(world, plan_task(world, TURNED), disturb=turn_back)
    assert done.reached and [str(action) for action in done.actions] == 2 * ["(pick arm b c)", "(stack arm b c)"]
    np.testing.assert_allclose(np.abs(done.actual.pose("b", "c")[:2, :2]), np.sqrt(0.5), atol=0.01)


@pytest.mark.parametrize("sides", [("a.left", "b.right"), ("a.top", "b.top"), ("a.bottom", "b.bottom")])
def test_faces_that_do_not_tell_what_lies_on_what_are_refused(sides):
    with pytest.raises(ArgumentError, match="which part lies on which"):
        plan_task(stacked_world(), [against(*sides)])


def test_goals_may_come_one_by_one_and_are_not_empty():
    world = stacked_world()
    assert len(plan_task(world, iter([("on", "a", "b")])).actions) == 2
    with pytest.raises(ArgumentError, match="the goal has nothing in it"):
        plan_task(world, [])


def test_robots_without_hands_are_left_out():
    world = stacked_world().add_robot("bare", aj.robots.puma560(), at=[1.6, 0, 0])
    plan = plan_task(world, "(on a b)")
    assert plan.solved and {action.arguments[0] for action in plan.actions} == {"arm"}
    with pytest.raises(ArgumentError, match="no robot of the world could act: bare has no gripper"):
        plan_task(world.remove("arm"), "(on a b)")


def test_motions_fit_only_hands_that_are_as_open():
    world = stacked_world()
    first = plan_task(world, "(on a b)").refinements[0]
    assert first.fits(world) and not first.fits(world.set_gripper("arm", 0.0))


def test_motions_without_the_effects_of_their_action_are_refused(monkeypatch):
    """Predicates of the world test what a refinement ends with, before anything moves."""
    from adjoint.planning.refining import task_plans

    def lazy(world, action, **options):
        found = refine(world, action, **options)
        return replace(found, after=world, following=None)

    monkeypatch.setattr(task_plans, "refine", lazy)
    plan = plan_task(stacked_world(), "(on a b)")
    assert not plan.solved and "after (pick arm a table), (holding arm a) would not be true" in plan.reason
