"""Plans that pick and place: phases that fit together, held parts that do not slip, goals that are met, and reasons."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision import is_free, solid_distance
from adjoint.errors import ArgumentError
from adjoint.world import Gripper, World, against, coplanar, cuboid, cylinder, gripper_solids, world_collision_model
from adjoint.world.grasps import plan_pick, plan_pick_and_place

PHASES = ["move", "approach", "close", "depart", "transfer", "approach place", "open", "depart place"]
GOAL = [0.45, -0.25, -0.27]


def bench(robot, more=(), **hand):
    """A block on a table, and further (name, part, position)."""
    world = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.325])
    world = world.add(
        "block", cuboid(0.04, 0.04, 0.06), at=[-0.1, 0.2, 0.055], parent="table", attachment="conditional"
    )
    for name, part, at in more:
        world = world.add(name, part, at=at)
    hand = Gripper(**({"opening": 0.08, "T_tool_grip": [0, 0, 0.14]} | hand))
    return world.add_robot("arm", robot, q=[0.0, -0.8, 0.8, 0.0, 0.6, 0.0], gripper=hand)


@pytest.fixture(scope="module")
def puma():
    return aj.robots.puma560()


@pytest.fixture(scope="module")
def world(puma):
    return bench(puma)


@pytest.fixture(scope="module")
def plan(world):
    found = plan_pick_and_place(world, "arm", "block", GOAL)
    assert found.solved, found.reason
    return found


pytestmark = pytest.mark.slow


def test_the_phases_follow_each_other(plan, world):
    assert bool(plan) and [phase.name for phase in plan.phases] == PHASES
    assert plan.duration == pytest.approx(sum(phase.duration for phase in plan.phases))
    assert [phase.trajectory is None for phase in plan.phases] == [name in ("close", "open") for name in PHASES]
    q = world.robots["arm"].q
    for before, phase in zip((None, *plan.phases), plan.phases, strict=False):
        if before is not None:
            assert phase.before == before.after
        if phase.trajectory is not None:
            np.testing.assert_allclose(phase.trajectory(0.0).q, q, atol=1e-9)
            for t in (0.0, phase.duration):
                assert np.abs(phase.trajectory(t).v).max() < 1e-6  # rests at both ends
            q = phase.trajectory(phase.duration).q
        assert np.array_equal(phase.after.robots["arm"].q, phase.before.robots["arm"].q) or phase.trajectory
    assert plan.end is plan.phases[-1].after and plan.start is world
    assert plan.end.holding("arm") == []


def test_the_part_is_exactly_at_the_goal(plan, world):
    T = np.eye(4)
    T[:3, 3] = GOAL
    np.testing.assert_allclose(plan.end.pose("block"), T, atol=1e-12)
    assert plan.end.frames["block"].parent == "table" and plan.end.frames["block"].attachment == "conditional"
    assert not plan.end.fallen
    # It was brought there by the arm: before the fingers open, the block is there but for rounding.
    np.testing.assert_allclose(plan.phases[5].after.pose("block"), T, atol=1e-9)
    np.testing.assert_array_equal(plan.phases[1].after.pose("block"), world.pose("block"))


def test_the_part_is_fixed_in_the_hand(plan):
    begin, end = plan.times[2] + 0.25, plan.times[6]
    relative = None
    for t in np.linspace(begin + 0.3, end, 25):
        now = plan.world_at(t)
        assert now.holding("arm") == ["block"]
        seen = now.pose("block", "arm.tool")
        relative = seen if relative is None else relative
        np.testing.assert_allclose(seen, relative, atol=1e-12)
        hand = now.pose("arm.tool") @ now.robots["arm"].gripper.T_tool_grip
        np.testing.assert_allclose(hand, plan.grasp.hand_pose(now.pose("block")), atol=1e-9)


def test_the_hand_goes_straight_where_it_should(plan, world):
    hand = world.robots["arm"].gripper
    for phase in (plan.phases[1], plan.phases[3], plan.phases[5], plan.phases[7]):
        q = phase.trajectory(np.linspace(0, phase.duration, 60)).q
        T = aj.forward_kinematics(world.robots["arm"].robot, q, "tool") @ hand.T_tool_grip
        way = T[-1, :3, 3] - T[0, :3, 3]
        along = way / np.linalg.norm(way)
        off = T[:, :3, 3] - T[0, :3, 3]
        assert np.abs(off - np.outer(off @ along, along)).max() < 1e-4
        assert np.abs(T[:, :3, :3] - T[0, :3, :3]).max() < 1e-3
        expected = T[0, :3, 2] if phase.name == "approach" else -T[0, :3, 2]
        if phase.name in ("approach", "depart place"):
            np.testing.assert_allclose(along, expected, atol=1e-6)


def test_nothing_is_hit_on_the_way(plan, world):
    """The hand and the block against all else, by distances of solids; the arm by its collision model."""
    for t in np.linspace(0, plan.duration, 60):
        now = plan.world_at(t)
        held = now.holding("arm")
        others = list(now.scene(["arm", *held]))
        T = now.pose("arm.tool")
        boxes = [b.at(T @ b.T_world_solid) for b in gripper_solids(now.robots["arm"].gripper, now.robots["arm"].width)]
        carried = [s for s in now.scene(["arm"]) if s.name in held]
        for solid in (*boxes, *carried):
            assert min(float(solid_distance(solid, s).distance) for s in others) > -1e-5
        names = [s.name for s in now.scene(["arm", *held])]
        pairs = [(h, n) for h in ("palm", "finger", "finger#2", *held) for n in names]
        assert is_free(world_collision_model(now, "arm", ignore=pairs), now.robots["arm"].q)


def test_times_and_configurations(plan):
    t = np.linspace(-1, plan.duration + 1, 200)
    q = plan.configuration_at(t)
    assert q.shape == (200, 6)
    np.testing.assert_array_equal(q[0], plan.start.robots["arm"].q)
    np.testing.assert_allclose(q[-1], plan.end.robots["arm"].q, atol=1e-12)
    assert plan.world_at(plan.duration + 1).pose("block")[1, 3] == pytest.approx(-0.25)
    assert plan.phase_at(0).name == "move" and plan.phase_at(plan.duration).name == "depart place"
    limits = plan.start.robots["arm"].robot.velocity_limit
    limits = np.where(np.isfinite(limits), limits, 1.0)
    fine = np.linspace(0, plan.duration, 4000)
    rate = np.abs(np.diff(plan.configuration_at(fine), axis=0)) / np.diff(fine)[:, None]
    assert (rate <= limits * (1 + 1e-6)).all()
    assert "8 phases" in repr(plan)


def test_the_same_seed_gives_the_same_plan(plan, world):
    again = plan_pick_and_place(world, "arm", "block", GOAL, rng=0)
    assert again.end == plan.end and again.duration == plan.duration
    assert [phase.after for phase in again.phases] == [phase.after for phase in plan.phases]


def test_a_pick_alone(world):
    found = plan_pick(world, "arm", "block")
    assert found.solved and [phase.name for phase in found.phases] == PHASES[:4]
    assert found.end.holding("arm") == ["block"] and found.T_goal is None
    assert found.end.pose("block")[2, 3] == pytest.approx(world.pose("block")[2, 3] + 0.06, abs=1e-9)


def test_goals_by_names_and_relations(puma):
    more = [("plate", cuboid(0.2, 0.2, 0.02), [0.45, -0.25, -0.29])]
    world = bench(puma, more)
    stacked = plan_pick_and_place(world, "arm", "block", "plate")
    assert stacked.solved, stacked.reason
    assert stacked.end.frames["block"].parent == "plate"
    assert stacked.end.pose("block")[2, 3] == pytest.approx(-0.28 + 0.03)
    relations = [against("block.bottom", "plate.top"), coplanar("block.front", "plate.front")]
    aligned = plan_pick_and_place(world, "arm", "block", relations)
    assert aligned.solved, aligned.reason
    end = aligned.end
    assert (
        abs(end.pose("block.front")[:3, 0] @ (end.pose("block.front")[:3, 3] - end.pose("plate.front")[:3, 3])) < 1e-9
    )


def test_what_stands_on_the_part_comes_along(world):
    stack = world.add("lid", cuboid(0.03, 0.03, 0.01), at=[0, 0, 0.035], parent="block", attachment="conditional")
    found = plan_pick_and_place(stack, "arm", "block", GOAL)
    assert found.solved, found.reason
    np.testing.assert_allclose(found.end.pose("lid", "block"), stack.pose("lid", "block"), atol=1e-9)
    assert not found.end.fallen


def test_a_part_is_not_left_in_mid_air(plan, world):
    high = [0.45, -0.25, -0.15]
    found = plan_pick_and_place(world, "arm", "block", high)
    assert not found and found.reason == "goal: 'block' would fall: nothing is under it"
    edge = plan_pick_and_place(world, "arm", "block", [0.29, 0.0, -0.27])
    assert not edge and edge.reason.startswith("goal: 'block' would fall: its centre of mass is 10 mm beyond the edge")
    hung = plan_pick_and_place(world, "arm", "block", high, may_fall=True)
    assert hung.solved and hung.end.frames["block"].parent == "world"
    np.testing.assert_allclose(hung.end.pose("block")[:3, 3], high, atol=1e-9)
    # Where something carries it, it lies there by its weight.
    placed = plan.end.frames["block"]
    assert (placed.parent, placed.attachment) == ("table", "conditional")


def test_a_part_may_lie_on_two_others(puma):
    more = [
        ("left", cuboid(0.06, 0.02, 0.05), [0.5, -0.265, -0.275]),
        ("right", cuboid(0.06, 0.02, 0.05), [0.5, -0.235, -0.275]),
    ]
    found = plan_pick_and_place(bench(puma, more), "arm", "block", [0.5, -0.25, -0.22])
    assert found.solved, found.reason


# --- reasons ----------------------------------------------------------------------------------------------------------


def test_reasons_when_there_is_no_plan(puma, world):
    inside = plan_pick_and_place(world, "arm", "block", [0.45, -0.25, -0.3])
    assert not inside and inside.reason == "goal: 'block' would be inside 'table'"
    far = plan_pick_and_place(world, "arm", "block", [3.0, 0, 0.5], may_fall=True)
    assert not far and far.reason.startswith("none of ") and "left" in far.reason
    assert far.grasps is not None and far.grasps.counts["unreachable at place"] > 0
    wide = plan_pick(bench(puma, opening=0.03), "arm", "block")
    assert not wide and "too wide" in wide.reason
    both = [against("block.bottom", "table.top"), against("block.top", "table.top")]
    split = plan_pick_and_place(world, "arm", "block", both)
    assert not split and split.reason.startswith("goal: ")
    with pytest.raises(ArgumentError, match="there is no plan"):
        far.world_at(0.0)
    assert "failed" in repr(far)


@pytest.fixture(scope="module")
def shelved(puma):
    """A block in a shelf, which is 28 cm high inside."""
    shelf = cuboid(0.28, 0.6, 0.02) | cuboid(0.28, 0.6, 0.02, at=[0, 0, 0.3])
    shelf = shelf | cuboid(0.28, 0.02, 0.32, at=[0, 0.31, 0.15]) | cuboid(0.28, 0.02, 0.32, at=[0, -0.31, 0.15])
    shelf = shelf | cuboid(0.02, 0.64, 0.32, at=[0.15, 0, 0.15])
    world = World().add("shelf", shelf, at=[0.75, 0, 0]).add("table", cuboid(0.4, 0.5, 0.04), at=[0.25, -0.55, -0.1])
    lies = {"parent": "shelf", "attachment": "conditional"}
    world = world.add("block", cuboid(0.06, 0.04, 0.12), at=[-0.06, 0.05, 0.07], **lies)
    world = world.add("can", cylinder(0.03, 0.12), at=[-0.05, 0.14, 0.07], **lies)
    hand = Gripper(opening=0.08, depth=0.05, force=40.0, T_tool_grip=[0, 0, 0.14])
    return world.add_robot("arm", puma, q=[0.0, -1.2, 0.3, 0, 0.5, 0], gripper=hand)


def test_a_roof_above_lets_the_hand_go_back(shelved):
    """A lift by 25 cm would hit the roof: the hand draws the block back instead, on one height."""
    low, high = (plan_pick(shelved, "arm", "block", lift=lift) for lift in (0.05, 0.25))
    assert low.solved and high.solved
    z = shelved.pose("block")[2, 3]
    assert low.end.pose("block")[2, 3] == pytest.approx(z + 0.05) and high.end.pose("block")[2, 3] == pytest.approx(z)
    assert high.end.pose("block")[0, 3] < shelved.pose("block")[0, 3] - 0.05


def test_a_search_that_ends_too_early_is_a_reason(shelved):
    found = plan_pick_and_place(shelved, "arm", "block", [0.25, -0.5, -0.02], iterations=1, tries=2)
    assert not found and len(found.tried) == 2 and "budget of 1 iterations" in found.reason
    assert found.reason.startswith("2 of ")


def test_bad_input(world):
    for call, words in (
        (lambda: plan_pick(world, "arm", "cup"), "no part"),
        (lambda: plan_pick(world, "arm", "block", lift=-1), "lift"),
        (lambda: plan_pick(world, "arm", "block", slow=2.0), "slow"),
        (lambda: plan_pick(world, "arm", "block", timing=None), "timing"),
        (lambda: plan_pick_and_place(world, "arm", "block", None), "goal"),
        (lambda: plan_pick_and_place(world, "arm", "block", np.ones((4, 4))), "goal"),
        (lambda: plan_pick_and_place(world, "arm", "block", "shelf"), "no part 'shelf'"),
        (lambda: plan_pick_and_place(world, "arm", "block", "table.tap"), "tap"),
        (lambda: plan_pick_and_place(world, "arm", "table", GOAL, tries=-1), "tries|table"),
        (lambda: plan_pick_and_place(World(), "arm", "block", GOAL), "robot"),
    ):
        with pytest.raises(ArgumentError, match=words):
            call()
