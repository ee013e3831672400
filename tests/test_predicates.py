"""Predicates of a world: truth from geometry, hysteresis, facts of blocks worlds, and the states of Table 9.9."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.sensing import Box, Plane, Sphere
from adjoint.world.predicates import (
    facts,
    is_above,
    is_aligned,
    is_clear,
    is_holding,
    is_inside,
    is_near,
    is_on,
    is_touching,
    state_relations,
)
from adjoint.world.relations import against, placements
from adjoint.world.state import Gripper, World

CUBE = Box([0.1, 0.1, 0.1])


def table() -> World:
    """A table on a floor; its top is at 0.4 m."""
    return World().add("floor", Plane()).add("table", Box([1, 1, 0.4]), at=[0, 0, 0.2])


def tower(gap: float = 0.0) -> World:
    """Block a on the table, b on a with a gap, c beside them."""
    w = table().add("a", CUBE, at=[0, 0, 0.45]).add("b", CUBE, at=[0, 0, 0.55 + gap])
    return w.add("c", CUBE, at=[0.3, 0, 0.45])


# --- Table 9.9 --------------------------------------------------------------------------------------------------------


def test_states_of_the_block_world():
    """State A: Block1 on the table, Block2 on Block1, Block3 on the table; state B: Block3 on Block2.

    face1 is the bottom and face3 the top of a block in the book.
    """
    w = World().add("Table", Box([1, 1, 0.1]), at=[0, 0, -0.05])
    w = (
        w.add("Block1", CUBE, at=[0, 0, 0.05])
        .add("Block2", CUBE, at=[0, 0, 0.15])
        .add("Block3", CUBE, at=[0.3, 0, 0.05])
    )
    common = {against("Block1.bottom", "Table.top"), against("Block2.bottom", "Block1.top")}
    assert set(state_relations(w)) == common | {against("Block3.bottom", "Table.top")}
    later = w.move("Block3", [0, 0, 0.25])
    assert set(state_relations(later)) == common | {against("Block3.bottom", "Block2.top")}
    # The relations of a state are a goal: solving them leads from A to B.
    goal = next(r for r in state_relations(later) if r.sides[0] == "Block3.bottom")
    T = placements(w, "Block3", goal, near=later.pose("Block3")).T_world_part
    assert state_relations(w.move("Block3", T)) == state_relations(later)


def test_faces_beside_each_other_are_not_against():
    """Coplanar squares that share an edge, or are apart, have no area in common; a crossing of long ones has."""
    w = World().add("a", CUBE).add("b", CUBE, at=[0.1, 0, 0.1])
    assert state_relations(w) == ()
    w = World().add("a", Box([1, 0.1, 0.1])).add("b", Box([0.1, 1, 0.1]), at=[0, 0, 0.1])
    assert state_relations(w) == (against("b.bottom", "a.top"),)
    tilted = w.move("b", se3.from_rotation_translation(so3.rotation_x(0.02), [0, 0, 0.1]))
    assert state_relations(tilted) == ()
    # With hysteresis a small tilt is forgiven to what was against.
    slightly = w.move("b", se3.from_rotation_translation(so3.rotation_x(0.015), [0, 0, 0.1]))
    assert state_relations(slightly) == () and state_relations(slightly, state_relations(w)) == state_relations(w)


# --- facts ------------------------------------------------------------------------------------------------------------


def test_facts_of_a_tower():
    found = facts(tower())
    wanted = {("on", "table", "floor"), ("on", "a", "table"), ("on", "b", "a"), ("on", "c", "table")}
    wanted |= {("clear", "b"), ("clear", "c")}
    assert found == wanted
    assert facts(tower(), always_clear=["table"]) == wanted | {("clear", "table")}


def test_facts_of_a_hand():
    """A hand takes b: the robot holds it, a is clear, and b is on nothing."""
    arm = aj.robots.puma560()
    w = tower().add_robot("arm", arm, at=[2, 0, 0])
    before = facts(w)
    assert ("handempty", "arm") in before and ("on", "b", "a") in before
    after = facts(w.grasp("arm", "b"), before)
    assert after - before == {("holding", "arm", "b"), ("clear", "a")}
    assert before - after == {("handempty", "arm"), ("on", "b", "a")}
    again = facts(w.grasp("arm", "b").release("b"), after)
    assert again == before


def test_fingers_that_touch_hold():
    """Both fingers at opposite sides of a block hold it, though nothing is attached; open fingers do not."""
    arm = aj.robots.puma560()
    hand = Gripper(opening=0.12, depth=0.05)
    w = World().add_robot("arm", arm, gripper=hand, width=0.1)
    T = w.pose(f"arm.{w.robots['arm'].tool}")
    w = w.add("block", CUBE, at=T @ se3.from_rotation_translation(np.eye(3), [0, 0, 0.04]))
    assert is_holding(w, "arm", "block")
    wider = w.set_gripper("arm", 0.103)
    assert not is_holding(wider, "arm", "block")
    assert is_holding(wider, "arm", "block", was=True)  # 1.5 mm on each side
    assert not is_holding(w.set_gripper("arm", 0.12), "arm", "block", was=True)


def test_what_is_in_a_crate():
    w = table().add("crate", Box([0.3, 0.3, 0.2]), at=[0, 0, 0.5]).add("cup", CUBE, at=[0.05, 0, 0.45])
    assert ("inside", "cup", "crate") in facts(w)
    out = w.move("cup", [0.25, 0, 0.45])
    assert ("inside", "cup", "crate") not in facts(out, facts(w))


# --- hysteresis -------------------------------------------------------------------------------------------------------


def test_a_gap_that_wavers_about_a_limit_does_not_flicker():
    gaps = 0.001 + 0.0004 * np.sin(np.linspace(0, 50, 60)) + np.linspace(-0.0006, 0.0009, 60)
    plain = [is_on(tower(gap), "b", "a") for gap in gaps]
    kept, was = [], False
    for gap in gaps:
        was = is_on(tower(gap), "b", "a", was=was)
        kept.append(was)
    changes = [int(np.abs(np.diff(np.array(x, int))).sum()) for x in (plain, kept)]
    assert changes[0] > 3 and changes[1] <= 1


@pytest.mark.slow
@given(gap=st.floats(-0.002, 0.005), was=st.booleans())
def test_thresholds(gap, was):
    """Below enter it is true, above leave false, and in between what it was."""
    w = World().add("a", CUBE).add("b", CUBE, at=[0, 0, 0.1 + gap])
    enter, leave = 0.001, 0.002
    if min(abs(gap - enter), abs(gap - leave)) < 1e-9:
        return
    wanted = True if gap < enter else False if gap > leave else was
    assert is_on(w, "b", "a", was=was) == wanted
    assert is_touching(w, "a", "b", was=was) == wanted
    assert is_clear(w, "a", was=not was) == (not wanted)
    assert (("on", "b", "a") in facts(w, {("on", "b", "a")} if was else None)) == wanted


def test_facts_do_not_flicker():
    w = tower(0.0015)
    assert ("on", "b", "a") not in facts(w)
    assert ("on", "b", "a") in facts(w, facts(tower()))
    assert ("clear", "a") in facts(w) and ("clear", "a") not in facts(w, facts(tower()))


# --- single predicates ------------------------------------------------------------------------------------------------


def test_only_what_is_below_carries():
    """Touching from the side is not lying on it; under another gravity it is."""
    w = World().add("a", CUBE).add("b", CUBE, at=[0.1, 0, 0])
    assert is_touching(w, "a", "b") and not is_on(w, "b", "a") and not is_on(w, "a", "b")
    sideways = World(gravity=[-9.81, 0, 0]).add("a", CUBE).add("b", CUBE, at=[0.1, 0, 0])
    assert is_on(sideways, "b", "a") and not is_on(sideways, "a", "b")


def test_a_slope_carries_up_to_forty_degrees():
    for angle, wanted, kept in ((30, True, True), (45, False, True), (60, False, False)):
        R = so3.rotation_y(np.radians(angle))
        w = World().add("a", CUBE, at=se3.from_rotation_translation(R, [0, 0, 0]))
        w = w.add("b", CUBE, at=se3.from_rotation_translation(R, R @ [0, 0, 0.1]))
        assert is_on(w, "b", "a") == wanted
        assert is_on(w, "b", "a", was=True) == kept


def test_balls():
    w = World().add("floor", Plane()).add("ball", Sphere(0.05), at=[0, 0, 0.05])
    assert is_on(w, "ball", "floor") and not is_on(w, "floor", "ball")
    assert is_near(w, "ball", "floor", 0.0)


def test_above_near_inside_aligned():
    w = tower()
    assert is_above(w, "b", "a") and is_above(w, "b", "table") and not is_above(w, "a", "b")
    assert not is_above(w, "c", "a")
    assert is_near(w, "a", "c", 0.25) and not is_near(w, "a", "c", 0.19)
    assert is_near(w, "a", "c", 0.19, was=True) and not is_near(w, "a", "c", 0.15, was=True)
    small = w.add("seed", Sphere(0.01), at=[0, 0, 0.45])
    assert is_inside(small, "seed", "a") and not is_inside(small, "a", "seed")
    frames = World().add("pin").add("bore", at=se3.from_rotation_translation(so3.rotation_z(np.pi), [1, 0, 0]))
    assert is_aligned(frames, "pin", "bore")  # the sense does not count
    turned = frames.move("bore", se3.from_rotation_translation(so3.rotation_z(0.015), [0, 0, 0]))
    assert not is_aligned(turned, "pin", "bore") and is_aligned(turned, "pin", "bore", was=True)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda w: is_on(w, "a", "x"), "no part 'x'"),
        (lambda w: is_on(w, "a", "a"), "compared with itself"),
        (lambda w: is_on(w, "a", "b", enter=0.002, leave=0.001), "enter must be at most leave"),
        (lambda w: is_on(w, "a", "b", enter=np.nan), "finite"),
        (lambda w: is_near(w, "a", "b", -1), "at least 0"),
        (lambda w: is_clear(w, "x"), "no part 'x'"),
        (lambda w: is_holding(w, "arm", "a"), "no robot 'arm'; there is none"),
        (lambda w: is_inside(w, "a", "floor"), "neither a mesh nor outlines"),
        (lambda w: is_aligned(w, "a", "x"), "x"),
        (lambda w: facts("w"), "must be a World"),
        (lambda w: facts(w, enter=1, leave=0), "enter must be at most leave"),
        (lambda w: facts(w, always_clear=["x"]), "no part 'x'"),
        (lambda w: state_relations(3), "must be a World"),
        (lambda w: is_touching(3, "a", "b"), "must be a World"),
    ],
)
def test_bad_input(call, told):
    with pytest.raises(ArgumentError, match=told):
        call(tower())


def test_what_stands_on_a_held_tray_is_on_it():
    """A robot holds a tray with a cup; the cup is on the tray, and so it is on the deck of a robot that drives."""
    box = Box([0.1, 0.1, 0.1])
    w = World().add_robot("arm", aj.robots.two_link()).add("tray", Box([1, 1, 0.1]), at=[3, 0, 0])
    w = w.add("table", Box([1, 1, 0.1]), at=[3, 0, -0.1])
    w = w.add("cup", box, at=[0, 0, 0.1], parent="tray", attachment="conditional").grasp("arm", "tray")
    assert facts(w) == {("holding", "arm", "tray"), ("on", "cup", "tray"), ("clear", "cup"), ("clear", "table")}
    assert not is_clear(w, "tray") and is_clear(w, "table")
    # What hangs on the tray and touches the table does not lie on the table, since the robot carries it.
    low = w.add("foot", box, at=[0.2, 0, -0.1], parent="tray")
    assert ("on", "foot", "table") not in facts(low) and is_clear(low, "table")
    w = World().add_robot("car", aj.robots.two_link()).add("deck", Box([1, 1, 0.1]), at=[0, 0, -0.5], parent="car")
    w = w.add("cup", box, at=[0, 0, 0.1], parent="deck", attachment="conditional")
    assert facts(w) == {("handempty", "car"), ("on", "cup", "deck"), ("clear", "cup")} and not is_clear(w, "deck")
