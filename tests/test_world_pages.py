"""Worlds, plans and scenes on pages and in the viewer: everything is where the world says."""

from typing import Any

import numpy as np
import pytest
from support.browser import Browser
from support.pages import data_of

import adjoint as aj
from adjoint.drawing.props import Prop
from adjoint.drawing.triangles import box
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing import Box, Plane
from adjoint.viewer import page, view
from adjoint.viewer.beside import pose_at
from adjoint.world import Gripper, World, cuboid, follow, plan_motion, plan_pick_and_place

PUMA = aj.robots.puma560()
Q = np.array([0.9, -1.2, 2.6, 0.3, 0.7, 0.0])
GOAL = np.array([-0.9, -0.6, 1.8, 0.3, 0.7, 0.0])
HAND = Gripper(opening=0.09, T_tool_grip=se3.exp([0, 0, 0, 0, 0, 0.08]))
BASE = se3.exp([0, 0, 0.4, 0.1, -0.2, 0.3])
CELL = (
    World()
    .add("floor", Plane())
    .add("shelf", Box([0.3, 0.6, 0.03], colour=[0.6, 0.45, 0.3]), at=[0.9, 0.3, 0.6])
    .add_robot("arm", PUMA, q=Q, at=BASE, gripper=HAND)
    .add("peg", Box([0.02, 0.02, 0.1]), at=[0, 0, 0.1], parent="arm.tool")
)


def test_a_page_of_a_world_has_its_robots_and_parts():
    data = data_of(page(CELL).text)
    assert [actor["name"] for actor in data["actors"]] == ["arm"] and data["arrange"] == "together"
    held = {prop["name"]: prop["actor"] for prop in data["props"]}
    assert held == {"shelf": None, "peg": 0, "arm.palm": 0, "arm.finger": 0, "arm.finger#2": 0}


@pytest.mark.slow
def test_what_a_hand_holds_goes_where_the_sliders_put_the_hand(tmp_path):
    with Browser(900, 600) as browser:
        browser.open(page(CELL).save(tmp_path / "cell.html"))
        browser.run("adjoint.ready")
        for q in (Q, GOAL):
            browser.run(f"adjoint.setQ({q.tolist()})")
            expected = CELL.set_configuration("arm", q).pose("peg")
            np.testing.assert_allclose(np.array(browser.run("adjoint.prop('peg')")), expected, atol=2e-6)  # float32
        assert browser.complaints == []


@pytest.mark.slow
def test_a_plan_plays_among_its_obstacles(tmp_path):
    plan = plan_motion(CELL, "arm", None, GOAL)
    assert plan.solved
    with Browser(900, 600) as browser:
        browser.open(page(plan).save(tmp_path / "plan.html"))
        browser.run("adjoint.ready")
        browser.run("adjoint.pause()")
        browser.run("adjoint.seek(adjoint.end)")
        expected = CELL.set_configuration("arm", GOAL).pose("peg")
        np.testing.assert_allclose(np.array(browser.run("adjoint.prop('peg')")), expected, atol=2e-6)
        assert browser.complaints == []
    followed = data_of(page(follow(CELL, "arm", plan)).text)
    assert plan.trajectory is not None and followed["end"] == pytest.approx(plan.trajectory.duration)


def test_worlds_and_scenes_without_robots_have_pages():
    for thing in (CELL.remove("arm", with_children=True), CELL.scene(["floor"], robots=False, grippers=False)):
        data = data_of(page(thing).text)
        assert "shelf" in [prop["name"] for prop in data["props"]]


def test_a_viewer_of_a_world_moves_what_is_held():
    other = CELL.add_robot("second", PUMA, at=[-1.0, 0, 0.3])
    with view(other, open_browser=False) as viewer:
        scene = viewer._session.server.scene
        places: list[Any] = [scene.get_handle_by_name(f"/stage/robot/beside/{k}") for k in range(5)]
        for q in (Q, GOAL):
            viewer.q = q
            assert viewer._session.idle()
            expected = other.set_configuration("arm", q).pose("peg")[:3, 3]
            assert min(np.abs(handle.position - expected).max() for handle in places) < 1e-6
        assert scene.get_handle_by_name("/stage/robot/robot0/part0") is not None


def test_a_prop_is_where_it_was_last():
    poses = np.stack([se3.exp([0, 0, 0, x, 0, 0]) for x in (0.0, 1.0, 2.0)])
    prop = Prop("ball", box(1, 1, 1), (1, 1, 1, 1), poses, np.array([0.0, 1.0, 2.0]))
    assert [pose_at(prop, t)[0, 3] for t in (-1.0, 0.0, 0.5, 1.0, 9.0)] == [0.0, 0.0, 0.0, 1.0, 2.0]


def test_what_cannot_be_shown_is_told():
    with pytest.raises(ArgumentError, match="a World knows where its robots are; leave out robot and q"):
        page(CELL, q=Q)
    with pytest.raises(ArgumentError, match="a World knows where its robots are; leave out robot and q"):
        view(CELL, robot=PUMA, open_browser=False)
    failed = plan_motion(CELL, "arm", None, np.full(6, 99.0))
    with pytest.raises(ArgumentError, match="page: the plan has no motion to show; goal"):
        page(failed)


@pytest.mark.slow
def test_a_pick_plays_with_the_part_in_the_hand(tmp_path):
    start = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.3])
    start = start.add("block", cuboid(0.04, 0.04, 0.06), at=[0.5, 0.2, -0.245])
    start = start.add_robot("arm", PUMA, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.12]))
    plan = plan_pick_and_place(start, "arm", "block", [0.5, -0.2, -0.245])
    assert plan.solved, plan.reason
    with Browser(900, 600) as browser:
        browser.open(page(plan).save(tmp_path / "pick.html"))
        browser.run("adjoint.ready")
        browser.run("adjoint.pause()")
        for t in plan.times:
            browser.run(f"adjoint.seek({t})")
            expected = plan.world_at(t).pose("block")
            np.testing.assert_allclose(np.array(browser.run("adjoint.prop('block')")), expected, atol=2e-6)
        assert browser.complaints == []


def test_an_arm_with_a_gripper_has_no_second_hand():
    """The hand that arms without visuals are drawn with would hide the gripper, and reach through what it holds."""
    hands = [HAND, None, Gripper(opening=0.05)]
    world = World()
    for k, hand in enumerate(hands):
        world = world.add_robot(f"arm{k}", PUMA, q=Q, at=[k, 0, 0], gripper=hand)
    data = data_of(page(world).text)
    last = len(PUMA.body_names) - 1
    drawn = [sum(part["body"] == last for part in data["robots"][actor["robot"]]["parts"]) for actor in data["actors"]]
    assert drawn[0] == drawn[2] < drawn[1]
    run = aj.program.run(aj.program.parse("BEGIN x PRINT(1); END x.", "al"), world)
    assert [x["robot"] for x in data_of(page(run).text)["actors"]] == [x["robot"] for x in data["actors"]]


def test_robots_of_one_world_are_no_ghosts_of_each_other(tmp_path):
    world = World().add_robot("left", PUMA, q=Q, gripper=HAND).add_robot("right", PUMA, q=Q, at=[1.5, 0, 0])
    text = "BEGIN two COBEGIN MOVE left TO ⊗ + 9*Z*mm; MOVE right TO ⊗ + 9*Z*mm; COEND; END two."
    page(aj.program.run(aj.program.parse(text, "al"), world)).save(tmp_path / "two.html")
    with Browser() as browser:
        browser.open(tmp_path / "two.html")
        browser.run("adjoint.ready")
        states = browser.run("[...document.querySelectorAll('#legend button')].map((x) => x.dataset.state)")
    assert states == ["solid", "solid"]


def test_a_run_of_a_program_is_plotted():
    world = World().add_robot("left", PUMA, q=Q, gripper=HAND).add_robot("right", PUMA, q=Q, at=[1.5, 0, 0])
    text = "BEGIN two MOVE left TO ⊗ - 9*Z*mm ON FORCE(Z) > 5*N DO STOP; END two."
    run = aj.program.run(aj.program.parse(text, "al"), world)
    figure = aj.plot(run)
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == ["left", "left:", "left:", "right", "right:"]
    assert np.array_equal(figure.axes[0].lines[2].get_ydata(), run.q["left"][:, 2])
    with pytest.raises(ArgumentError, match="has no option"):
        aj.plot(run, robot=PUMA)


def test_a_task_that_is_not_finished_is_told_how():
    with pytest.raises(ArgumentError, match=r"program\(\) of a task"):
        aj.program.run(aj.program.task("pick"), World())
