"""Tasks that are carried out: kernels, new plans, faults, dynamics; and no collision on the way."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false, reportOptionalSubscript=false

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.planning.monitoring import plot_execution, triangle_table
from adjoint.planning.refining import (
    NotSeen,
    execute_task,
    joined_run,
    manipulation_domain,
    plan_task,
    refine,
    run_refinement,
    sensed_facts,
)
from adjoint.planning.refining.withdrawals import backing_off, withdrawal
from adjoint.program.running.dynamic import DynamicBackend
from adjoint.viewer import page
from adjoint.vision import Camera, looking_at
from adjoint.world import against, cuboid, on, plan_pick

from .support.refining_cells import SIDE, TABLE_TOP, blocks_world, contacts_of, height, overlaps, sussman_world

SUSSMAN = [("on", "b", "c"), ("on", "a", "b")]


def on_table(world, name, x, y):
    """The world in which somebody has put a block on the table."""
    return world.detach(name).move(name, [x, y, height(0)]).attach(name, "table", "conditional")


def is_sound(done) -> bool:
    """Whether no run met anything, nothing fell, and no two blocks are in one place."""
    names = [name for name in done.actual.parts if name != "table"]
    low = [name for name in names if done.actual.pose(name)[2, 3] < TABLE_TOP + SIDE / 2 - 2e-3]
    met = [words for run in done.runs for words in contacts_of(run)]
    assert met == [] and low == [] and overlaps(done.actual, names) == [] and not done.actual.fallen, (met, low)
    return all(run.status == "done" for run in done.runs)


@pytest.mark.slow
def test_a_task_without_faults_runs_every_action_once():
    world = sussman_world()
    plan = plan_task(world, SUSSMAN)
    told = []
    done = execute_task(world, plan, on_event=told.append)
    assert (
        done.reached
        and done.actions == plan.actions
        and [event.kernel for event in done.events] == [1, 2, 3, 4, 5, 6, 7]
    )
    assert tuple(told) == done.events and all(event.diagnosis is None for event in told)
    assert {*SUSSMAN} <= sensed_facts(done.actual) and is_sound(done)
    assert np.isclose(done.duration, done.events[-1].time) and len(done.story.splitlines()) == 7
    # Motions that were planned are run as they were planned.
    for run, refinement in zip(done.runs, plan.refinements, strict=True):
        assert np.allclose(run.world.robots["arm"].q, refinement.after.robots["arm"].q)


@pytest.mark.slow
def test_what_is_done_already_is_skipped():
    """Somebody helps: c is on the table and b on it before the arm begins."""
    world = sussman_world()

    def help_out(step, scene):
        scene = on_table(scene, "c", 0.6, 0.0) if step == 0 else scene
        return (
            scene.detach("b").move("b", [0.6, 0.0, height(1)]).attach("b", "c", "conditional") if step == 0 else scene
        )

    done = execute_task(world, plan_task(world, SUSSMAN), disturb=help_out)
    assert done.reached and [event.kernel for event in done.events] == [5, 6, 7] and is_sound(done)


@pytest.mark.slow
def test_a_block_that_was_taken_off_is_stacked_again():
    """After step 4 somebody takes B off C and puts it on the table: kernel 3 is the highest that is true."""
    world = sussman_world()
    done = execute_task(
        world, plan_task(world, SUSSMAN),
        disturb=lambda step, scene: on_table(scene, "b", 0.45, 0.05) if step == 4 else scene,
    )  # fmt: skip
    assert done.reached and [event.kernel for event in done.events] == [1, 2, 3, 4, 3, 4, 5, 6, 7] and is_sound(done)
    assert done.events[4].diagnosis.cause == "part-moved" and len(done.plans) == 1


@pytest.mark.slow
def test_a_block_that_was_lost_is_picked_again():
    world = sussman_world()

    def lose(step, scene):
        return on_table(scene.release("b"), "b", 0.55, 0.2) if step == 3 else scene

    done = execute_task(world, plan_task(world, SUSSMAN), disturb=lose)
    assert done.reached and [event.kernel for event in done.events] == [1, 2, 3, 3, 4, 5, 6, 7] and is_sound(done)
    assert done.events[3].diagnosis.cause == "part-dropped" and done.events[3].diagnosis.remedy == "use kernel"


@pytest.mark.slow
def test_a_new_plan_is_made_where_no_kernel_is_true():
    """Somebody puts B on A: no step of the plan takes it off again."""
    world = sussman_world()

    def spoil(step, scene):
        if step != 2:
            return scene
        return scene.detach("b").move("b", [0.5, -0.1, height(1)]).attach("b", "a", "conditional")

    done = execute_task(world, plan_task(world, SUSSMAN), disturb=spoil)
    assert (
        done.reached and "replan" in [event.what for event in done.events] and len(done.plans) == 2 and is_sound(done)
    )


@pytest.mark.slow
def test_a_task_without_end_is_given_up():
    world = sussman_world()
    plan = plan_task(world, SUSSMAN)

    def nag(step, scene):
        held = scene.holding("arm")
        return on_table(scene.release(held[0]), held[0], 0.62, 0.25 if held == ["b"] else -0.25) if held else scene

    done = execute_task(world, plan, disturb=nag, max_steps=5)
    assert not done.reached and "5 steps did not suffice" in done.reason and "missing: (on b c) (on a b)" in done.reason
    again = execute_task(world, plan, disturb=lambda step, scene: on_table(world, "c", 0.5, 0.3 * (-1) ** step))
    assert not again.reached and again.reason.startswith("(pick arm b table) was run 4 times without lasting success")
    assert len(execute_task(world, plan, disturb=nag, max_tries=1, max_steps=20).actions) < 20
    with pytest.raises(ArgumentError, match="TaskPlan"):
        execute_task(world, plan.plan)
    with pytest.raises(ArgumentError, match="no motions"):
        execute_task(world, plan_task(world, "(and (on a b) (on b a))"))
    with pytest.raises(ArgumentError, match="'look'"):
        execute_task(world, plan, look=3)


@pytest.mark.slow
def test_wrong_arguments_of_tasks_are_named():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    plan = plan_task(world, "(on a b)")
    pick, stack = plan.actions
    held = plan.refinements[0].after
    wrong = {
        "execute_task: 'world' must be a World, got int": lambda: execute_task(3, plan),
        "execute_task: 'actual' must be a World, got int": lambda: execute_task(world, plan, actual=3),
        "execute_task: 'disturb' must be a function": lambda: execute_task(world, plan, disturb=3),
        "execute_task: what 'disturb' gives must be a World, got NoneType": lambda: execute_task(
            world, plan, disturb=lambda step, actual: None
        ),
        "execute_task: what 'look' gives must be a World": lambda: execute_task(world, plan, look=lambda b, a: None),
        "execute_task: 'look' names 'eye', which is no camera": lambda: execute_task(world, plan, look="eye"),
        "execute_task: there is no option 'limits'; did you mean 'limit'": lambda: execute_task(world, plan, limits=3),
        "execute_task: 'on_event' must be a function": lambda: execute_task(world, plan, on_event=3),
        "the first argument must be a World, got int": lambda: plan_task(3, "(on a b)"),
        "plan_task: max_seconds must be a number above 0": lambda: plan_task(world, "(on a b)", max_seconds="a"),
        "'movable' must be names of parts, got 3": lambda: plan_task(world, "(on a b)", movable=3),
        "'learned' has .* which is no Learned": lambda: plan_task(world, "(on a b)", learned=[("obstructs", "a", "b")]),
        "names 'pink'": lambda: plan_task(world, [against("pink.bottom", "b.top")]),
        "part 'a' has no feature 'botom'; did you mean 'bottom'": lambda: plan_task(world, [on("a.botom", "b.top")]),
        "run_refinement: the first argument must be a Refinement": lambda: run_refinement(3, world),
        "refine: 'then' follows a pick": lambda: refine(held, stack, then=stack),
        "refine: 'then' must put down what": lambda: refine(world, pick, then=3),
    }  # fmt: skip
    for words, call in wrong.items():
        with pytest.raises(ArgumentError, match=words):
            call()


@pytest.mark.slow
def test_a_block_on_something_new_is_perceived():
    """Somebody puts a tray on the table, and A on it: the tray is seen, too, and A is taken from it."""
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))

    def bring_tray(step, scene):
        if step:
            return scene
        scene = scene.add("tray", cuboid(0.1, 0.1, 0.02), at=[0.45, -0.2, TABLE_TOP + 0.01])
        scene = scene.attach("tray", "table", "conditional").detach("a")
        return scene.move("a", [0.45, -0.2, height(0) + 0.02]).attach("a", "tray", "conditional")

    done = execute_task(world, plan_task(world, "(on a b)"), disturb=bring_tray)
    assert done.reached and "(pick arm a tray)" in map(str, done.actions) and "tray" in done.world.parts
    assert ("on", "a", "b") in sensed_facts(done.actual) and [contacts_of(run) for run in done.runs] == [[], []]


@pytest.mark.slow
def test_a_wrong_belief_closes_the_hand_on_nothing_and_looking_helps():
    world = sussman_world()
    plan = plan_task(world, SUSSMAN)
    actual = on_table(world, "b", 0.6, 0.22)
    blind = execute_task(world, plan, actual=actual, look=lambda believed, true: believed, max_steps=6)
    assert not blind.reached and any("nothing" in run.message for run in blind.runs)
    assert "grasp-missed" in {event.diagnosis.cause for event in blind.events if event.diagnosis}
    done = execute_task(world, plan, actual=actual)
    assert done.reached and {*SUSSMAN} <= sensed_facts(done.actual) and is_sound(done)
    joined = joined_run(replace(done, runs=(blind.runs[-1], *done.runs[1:])))  # the first one has failed
    assert blind.runs[-1].status == "failed" and joined.status == "done" and joined.error is None


@pytest.mark.slow
def test_blocks_in_the_way_are_moved_away_and_not_skipped():
    """Without (obstructs b a) in the kernels, that of (pick arm a table) would be true at once."""
    near = SIDE + 0.006
    world = blocks_world(
        a=(0.5, -0.1, 0), b=(0.5, -0.1 + near, 0), d=(0.5, -0.1 - near, 0), e=(0.5 + near, -0.1, 0),
        f=(0.5 - near, -0.1, 0), s=(0.5, 0.25, 0),
    )  # fmt: skip
    plan = plan_task(world, [("on", "a", "s")])
    done = execute_task(world, plan)
    assert done.reached and done.actions == plan.actions and len(done.actions) == 6 and is_sound(done)


@pytest.mark.slow
def test_a_camera_finds_what_was_moved():
    """The world is only believed; a camera beside the table tells where blocks are."""
    world = blocks_world(a=(0.45, -0.1, 0), b=(0.5, 0.12, 0))
    colours = {"a": (0.85, 0.2, 0.15), "b": (0.15, 0.6, 0.25)}
    for name, colour in colours.items():
        T = world.pose(name)
        world = world.remove(name).add(name, cuboid(SIDE, SIDE, SIDE, colour=colour), at=T)
    eye = Camera.pinhole((320, 240), 0.6)
    world = world.add_sensor("eye", eye, at=looking_at([1.15, 0.35, 0.5], target=[0.5, 0.0, TABLE_TOP]))
    actual = on_table(world, "b", 0.53, 0.16)
    done = execute_task(world, plan_task(world, [("on", "a", "b")]), actual=actual, look="eye")
    assert done.reached and ("on", "a", "b") in sensed_facts(done.actual) and is_sound(done)
    assert np.linalg.norm(done.world.pose("b")[:3, 3] - done.actual.pose("b")[:3, 3]) < 5e-3


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_sussman_in_dynamics_with_a_fault(known):
    """Masses, controllers and contact; also if the controller does not know what the hand holds."""
    world = sussman_world()
    done = execute_task(
        world, plan_task(world, SUSSMAN), backend=DynamicBackend(payload_known=known),
        disturb=lambda step, scene: on_table(scene, "b", 0.45, 0.05) if step == 4 else scene,
    )  # fmt: skip
    assert done.reached and [event.kernel for event in done.events] == [1, 2, 3, 4, 3, 4, 5, 6, 7] and is_sound(done)
    heights = [done.actual.pose(name)[2, 3] for name in "cba"]
    assert np.allclose(heights, [height(k) for k in range(3)], atol=2e-3)


def random_world(rng):
    """Four blocks on the table, far enough apart for the hand, and sometimes two of them on others."""
    places = []
    while len(places) < 4:
        at = rng.uniform([0.4, -0.25], [0.62, 0.25])
        if all(np.linalg.norm(at - other) > 0.12 for other in places):
            places.append(at)
    names = [str(name) for name in rng.permutation(list("abcd"))]
    spots = {name: (*map(float, at), 0) for name, at in zip(names, places, strict=True)}
    if rng.random() < 0.6:
        spots[names[3]] = (*spots[names[0]][:2], 1)
    world = blocks_world(**dict(sorted(spots.items(), key=lambda item: item[1][2])))
    order = [str(name) for name in rng.permutation(list("abcd"))][: rng.integers(2, 5)]
    return world, [("on", x, y) for x, y in pairwise(order)]


class Mischief:
    """Once or twice somebody takes a block, in the hand or on top, and puts it on a free place of the table."""

    def __init__(self, rng):
        self.rng, self.steps = rng, {int(k) for k in rng.integers(1, 6, size=2)}

    def __call__(self, step, world):
        if step not in self.steps:
            return world
        state = sensed_facts(world)
        loose = sorted({fact[-1] for fact in state if fact[0] in ("clear", "holding")} - {"table"})
        name = loose[self.rng.integers(len(loose))]
        others = [world.pose(x)[:2, 3] for x in "abcd" if x != name]
        world = world.release(name) if name in world.holding("arm") else world
        for _ in range(200):
            at = self.rng.uniform([0.4, -0.27], [0.65, 0.27])
            if all(np.linalg.norm(at - other) > 0.11 for other in others):
                return on_table(world, name, *at)
        return world


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_goals_are_reached_in_spite_of_faults(seed):
    rng = np.random.default_rng(seed)
    world, goal = random_world(rng)
    plan = plan_task(world, goal)
    assert plan.solved, plan.reason
    done = execute_task(world, plan, disturb=Mischief(rng))
    assert done.reached, (done.reason, done.story)
    assert {*goal} <= sensed_facts(done.actual) and is_sound(done) and done.actual.holding("arm") == []


@pytest.mark.slow
def test_what_was_put_down_is_where_it_was_put_also_on_a_block_that_is_believed_turned():
    """A camera cannot tell a cube from the same cube turned by 90 degrees; what lies on it must not turn with it."""
    actual = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    T = np.array(actual.pose("b"))
    T[:3, :3] = T[:3, :3] @ so3.rotation_z(np.pi / 2)
    believed = actual.detach("b").move("b", T).attach("b", "table", "conditional")
    plan = plan_task(believed, [("on", "a", "b")])
    done = execute_task(believed, plan, actual=actual, look=lambda believed, true: believed)
    assert done.reached and np.allclose(done.world.pose("a"), done.actual.pose("a"), atol=1e-9)


@pytest.mark.slow
def test_a_block_that_has_sunk_a_little_into_the_table_is_picked():
    """Contact is compliant: what a hand has pressed down is some hundredths of a millimetre too low."""
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    for depth, solved in ((3e-5, True), (5e-3, False)):
        T = np.array(world.pose("a"))
        T[2, 3] -= depth
        sunk = world.changed(frames=world.frames | {"a": replace(world.frames["a"], T_parent_frame=T, parent="world")})
        assert refine(sunk, manipulation_domain(world).operator("pick").ground("arm", "a", "table")).solved == solved


@pytest.mark.slow
def test_a_part_that_nobody_sees_ends_the_task():
    """The robot steps aside once; then it is where it was at first, and there is nothing left to do."""
    world = sussman_world()

    def blind(believed, true):
        if believed.holding("arm") or not np.allclose(believed.robots["arm"].q, world.robots["arm"].q):
            raise NotSeen(believed, ["b"])
        return believed

    def never(believed, true):
        raise NotSeen(believed, ["b"])

    plan = plan_task(world, SUSSMAN)
    done = execute_task(world, plan, look=blind, max_steps=7)
    assert [str(action) for action in done.actions[:2]] == ["(pick arm c a)", "(withdraw arm)"]
    assert done.execution.decisions[1].reason == "the robot may hide a part"
    lost = execute_task(world, plan, look=never)
    assert not lost.reached and lost.runs == () and lost.reason.startswith("nobody sees where b went; missing: ")


def between_fingers():
    """Two worlds: a hand far from a block, and open fingers on both sides of the block, which is turned a little."""
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    around = plan_pick(world, "arm", "a").phases[1].after
    T = around.pose("a") @ se3.from_rotation_translation(so3.rotation_z(np.radians(10)), np.zeros(3))
    return world, around.detach("a").move("a", T).attach("a", "table", "conditional")


@pytest.mark.slow
def test_a_hand_backs_off_what_stands_between_its_open_fingers():
    """Nothing is touched, but it is nearer than plans may be: none could begin there."""
    world, around = between_fingers()
    assert not plan_task(around, [("on", "a", "b")]).solved
    assert backing_off(world, ["arm"]) is None and backing_off(around, []) is None
    assert contacts_of(run_refinement(backing_off(around, ["arm"]), around)) == []

    def someone(step, actual):
        return around if step == 0 else actual

    done = execute_task(world, plan_task(world, [("on", "a", "b")]), disturb=someone)
    assert done.reached and is_sound(done)
    assert [action.name for action in done.actions] == ["back-off", "pick", "stack"]
    assert done.execution.decisions[0].reason == "something stands too near to the hand"


@pytest.mark.slow
def test_a_part_that_is_nowhere_any_more_is_missed():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    plan = plan_task(world, [("on", "a", "b")])
    done = execute_task(world, plan, disturb=lambda step, actual: actual.remove("b") if step == 1 else actual)
    assert not done.reached and done.reason.startswith("nobody sees where b went")
    assert [action.name for action in done.actions] == ["pick", "withdraw"]


@pytest.mark.slow
def test_only_a_robot_that_is_stuck_backs_off():
    """A part is out of reach of the arm; another arm, which has a box at its elbow, has nothing to do with that."""
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    arm = world.robots["arm"]
    world = world.add_robot("idle", arm.robot, q=arm.q, gripper=arm.gripper, at=[0, 1.6, 0])
    world = world.add("box", cuboid(0.04, 0.04, 0.04), at=world.pose("idle.link3")[:3, 3] + [0, 0.086, 0])
    plan = plan_task(world, [("on", "a", "b")], movable=["a", "b"])

    def someone(step, actual):
        return actual.detach("a").move("a", [1.6, 0, height(0)])

    done = execute_task(world, plan, disturb=someone)
    assert not done.reached and done.runs == () and "(on a b) can never become true" in done.reason


def test_a_robot_steps_aside_also_where_a_lost_part_was_believed():
    start, around = between_fingers()
    assert withdrawal(start, start, ["a"]) is None  # the arm is where it was at first
    assert withdrawal(around, start, []) is None  # the block is between the fingers
    aside = withdrawal(around, start, ["a"])
    assert aside is not None and np.allclose(aside.after.robots["arm"].q, start.robots["arm"].q)


@pytest.mark.slow
def test_parts_that_come_later_are_moved_out_of_the_way():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))

    def put_z_on_b(step, scene):
        if step != 1:
            return scene
        return scene.add("z", cuboid(SIDE, SIDE, SIDE), at=[0.5, 0.15, height(1)]).attach("z", "b", "conditional")

    done = execute_task(world, plan_task(world, "(on a b)"), disturb=put_z_on_b)
    assert done.reached and "(pick arm z b)" in [str(action) for action in done.actions] and is_sound(done)
    told = plan_task(world, "(on a b)", movable=["a", "b"])
    assert not execute_task(world, told, disturb=put_z_on_b).reached


@pytest.mark.slow
def test_parts_of_another_shape_than_believed_are_perceived():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    tall = cuboid(SIDE, SIDE, 0.08).with_density(5000)
    actual = world.remove("b").add("b", tall, at=[0.5, 0.15, TABLE_TOP + 0.04]).attach("b", "table", "conditional")
    done = execute_task(world, plan_task(world, "(on a b)"), actual=actual)
    assert done.reached and is_sound(done) and done.world.parts["b"] == tall
    heavy = world.remove("b").add("b", world.parts["b"].with_density(5000), at=world.pose("b"))
    done = execute_task(world, plan_task(world, "(on a b)"), actual=heavy.attach("b", "table", "conditional"))
    assert done.reached and done.world.parts["b"].density == world.parts["b"].density  # nobody sees what it weighs


@pytest.mark.slow
def test_actions_that_go_round_in_circles_are_given_up():
    """Somebody always takes the block off again: the same facts come back, with two actions in turn."""
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))

    def take_off(step, scene):
        return on_table(scene, "a", 0.5, -0.1) if scene.frames["a"].parent == "b" else scene

    done = execute_task(world, plan_task(world, "(on a b)"), disturb=take_off)
    assert not done.reached and "was run 4 times without lasting success" in done.reason and len(done.actions) == 8


@pytest.mark.slow
def test_hidden_parts_of_the_goal_are_looked_for_before_it_counts_as_reached():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    home, asked = world.robots["arm"].q, []

    def look(believed, actual):
        asked.append(abs(actual.robots["arm"].q - home).max() > 0.02)
        if asked[-1]:
            raise NotSeen(actual, (), hidden=["a"])
        return actual

    done = execute_task(world, plan_task(world, "(on a b)"), look=look)
    assert done.reached and [action.name for action in done.actions] == ["pick", "stack", "withdraw"]
    assert asked == [False, True, True, False]
    assert done.execution.decisions[-2].reason == "the robot may hide a part"


def test_worlds_and_looks_that_lack_parts_of_the_plan_are_named():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    plan = plan_task(world, "(on a b)")

    def raises(*arguments):
        def look(believed, actual):
            raise NotSeen(*arguments)

        return look

    wrong = {
        "'world' has no part 'a', which the plan moves": lambda: execute_task(world.remove("a"), plan),
        "what is seen has no part 'a'": lambda: execute_task(world, plan, look=lambda b, a: b.remove("a")),
        "the world of NotSeen must be a World": lambda: execute_task(world, plan, look=raises(None, ["a"])),
        "what is seen has no part 'zz'": lambda: execute_task(world, plan, look=raises(world, ["zz"])),
        "the back end must be 'kinematic' or 'dynamic', or have 'start'; got 5": lambda: execute_task(
            world, plan, backend=5
        ),
        "'noise' must be a dictionary": lambda: execute_task(world, plan, noise=-1),
        "'arms' must be {name in the program: robot}": lambda: execute_task(world, plan, arms="x"),
    }
    for words, call in wrong.items():
        with pytest.raises(ArgumentError, match=words):
            call()


@pytest.mark.slow
def test_a_simulation_that_goes_wrong_ends_the_task_with_its_reason():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    done = execute_task(world, plan_task(world, "(on a b)"), backend=DynamicBackend(stiffness=1500.0))
    assert not done.reached and "went wrong" in done.reason and "A 'stiffness' below 1500" in done.reason
    assert len(done.actions) == 1 and [event.what for event in done.events] == ["run", "failed"]


def test_pages_show_tasks_that_need_nothing_and_ask_for_runs_of_plans():
    world = blocks_world(a=(0.5, -0.1, 0), b=(0.5, 0.15, 0))
    plan = plan_task(world, "(on a table)")
    done = execute_task(world, plan)
    assert done.reached and done.runs == () and len(page(done).text) > 1e5
    with pytest.raises(ArgumentError, match="a TaskPlan has not been run; show execute_task"):
        page(plan)
    for wrong, words in ((plan, "its .plan is one"), (done, "got TaskRun")):
        with pytest.raises(ArgumentError, match=words):
            triangle_table(wrong)
    with pytest.raises(ArgumentError, match=r"TaskRun; its \.execution is one"):
        plot_execution(done)
    with pytest.raises(ArgumentError, match="an Action is needed, not a text"):
        refine(world, "(pick arm a table)")
    with pytest.raises(ArgumentError, match=r"the back end is a class; DynamicBackend\(\) makes one"):
        execute_task(world, plan_task(world, "(on a b)"), backend=DynamicBackend)
