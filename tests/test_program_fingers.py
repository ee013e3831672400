"""Fingers that close on parts: the width they stop at, what they take, and what happens when they let go."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.program.running.fingers import finger_stop, let_go, taken
from adjoint.world import INCH, Gripper, World, cuboid, cylinder, difference, sphere

Q = np.array([0.2, -0.6, 0.5, 0.3, 0.7, -0.4])


def hand(**numbers):
    return Gripper(**{"opening": 0.05, "depth": 0.04, "breadth": 0.02, "tip": 0.01, "T_tool_grip": np.eye(4)} | numbers)


def cell(**numbers):
    return World().add_robot("arm", aj.robots.puma560(), q=Q, gripper=hand(**numbers))


def at_tool(world, xyz=(0, 0, 0), R=None):
    T = np.eye(4)
    T[:3, 3], T[:3, :3] = xyz, np.eye(3) if R is None else R
    return world.pose("arm.tool") @ T


def test_empty_fingers_close_fully():
    assert finger_stop(cell(least=0.002), "arm") == (0.002, None, 0.0)


@pytest.mark.parametrize("offset", [0.0, 0.004, -0.01])
@pytest.mark.parametrize("radius", [0.25 * INCH, 0.003])
def test_a_pin_stops_the_fingers_at_its_diameter(offset, radius):
    w = cell()
    w = w.add("pin", cylinder(radius, 0.03), at=at_tool(w, (0.0013, offset, 0)))
    stop = finger_stop(w, "arm")
    assert stop.part == "pin"
    # The program of Table 9.7 compares the width with the diameter: it must not be below.
    assert 0 <= stop.width - 2 * radius < 1e-8
    assert abs(stop.offset - offset) < 1e-8


def test_a_box_that_is_turned_has_its_width_within_the_pads():
    w, angle = cell(), 0.3
    w = w.add("box", cuboid(0.01, 0.02, 0.03), at=at_tool(w, R=so3.exp(np.array([0, 0, angle]))))
    expected = 0.02 * np.cos(angle) + 0.01 * np.sin(angle)
    assert abs(finger_stop(w, "arm").width - expected) < 1e-7


def test_a_broad_part_counts_only_between_the_pads():
    w = cell()
    w = w.add("ball", sphere(0.02), at=at_tool(w, (0.02, 0, 0)))  # its middle is beyond the pads
    assert abs(finger_stop(w, "arm").width - 2 * np.sqrt(0.02**2 - 0.01**2)) < 1e-7


def test_parts_outside_of_the_fingers_are_not_met():
    w = cell()
    w = w.add("beside", cylinder(0.003, 0.03), at=at_tool(w, (0, 0.04, 0)))
    w = w.add("ahead", cylinder(0.003, 0.01), at=at_tool(w, (0, 0, 0.02)))
    assert finger_stop(w, "arm").part is None


def test_of_two_parts_the_wider_one_is_named():
    w = cell()
    w = w.add("thin", cylinder(0.002, 0.03), at=at_tool(w, (0, 0.008, 0)))
    w = w.add("thick", cylinder(0.005, 0.03), at=at_tool(w, (0, -0.008, 0)))
    stop = finger_stop(w, "arm")
    assert stop.part == "thick" and abs(stop.width - 0.023) < 1e-8


def test_a_part_with_a_hole_is_met_at_its_outside():
    w = cell()
    w = w.add("ring", difference(cylinder(0.01, 0.02), cylinder(0.006, 0.03)), at=at_tool(w))
    assert abs(finger_stop(w, "arm").width - 0.02) < 5e-4  # solids that cover it have facets


def test_taking_centres_the_part_and_holds_it():
    w = cell()
    w = w.add("pin", cylinder(0.005, 0.03), at=at_tool(w, (0, 0.006, 0.001)))
    stop = finger_stop(w, "arm")
    held = taken(w, "arm", "pin", stop.width)
    assert held.holding("arm") == ["pin"] and held.robots["arm"].width == stop.width
    assert taken(w, "arm", "pin", stop.width, offset=stop.offset).fingerprint == held.fingerprint
    np.testing.assert_allclose(held.pose("pin", "arm.tool")[:3, 3], [0, 0, 0.001], atol=1e-8)
    again = finger_stop(held, "arm")
    assert again.part == "pin" and abs(again.width - stop.width) < 1e-8
    assert taken(held, "arm", "pin", again.width).pose("pin", "arm.tool")[1, 3] == held.pose("pin", "arm.tool")[1, 3]


def test_a_part_that_lies_on_another_is_taken_off_it_and_put_back():
    w = cell()
    T = at_tool(w)
    stand = np.eye(4)
    stand[:3, 3] = T[:3, 3] - [0, 0, 0.02]
    w = w.add("table", cuboid(0.1, 0.1, 0.02), at=stand)
    w = w.add("ball", sphere(0.01), at=T[:3, 3], parent="world")
    w = w.attach("ball", "table", "conditional")
    held = taken(w, "arm", "ball", finger_stop(w, "arm").width)
    assert held.frames["ball"].parent == "arm.tool"
    free = let_go(held, "arm")
    assert free.frames["ball"].parent == "table" and free.robots["arm"].width == 0.05
    np.testing.assert_allclose(free.pose("ball"), w.pose("ball"), atol=1e-9)


@pytest.mark.slow
def test_a_part_without_support_falls():
    w = cell()
    w = w.add("floor", cuboid(2, 2, 0.02), at=[0, 0, -0.5])
    T = se3.exp(np.zeros(6))
    T[:3, 3] = w.pose("arm.tool")[:3, 3]
    w = w.add("cube", cuboid(0.01, 0.01, 0.01), at=T)
    w = taken(w, "arm", "cube", finger_stop(w, "arm").width)
    free = let_go(w, "arm", 0.03)
    assert free.frames["cube"].parent == "floor"
    assert abs(free.pose("cube")[2, 3] + 0.485) < 2e-3 and free.robots["arm"].width == 0.03


def test_what_is_not_between_the_fingers_stays():
    w = cell()
    w = w.add("camera", cuboid(0.02, 0.02, 0.02), at=[0.1, 0, -0.05], parent="arm.tool").add("tip", parent="arm.tool")
    assert let_go(w, "arm").holding("arm") == ["camera", "tip"]


def test_a_robot_without_a_hand_is_refused():
    w = World().add_robot("arm", aj.robots.puma560())
    with pytest.raises(ArgumentError, match="no gripper"):
        finger_stop(w, "arm")
    with pytest.raises(ArgumentError, match="no robot"):
        finger_stop(w, "leg")
    with pytest.raises(ArgumentError, match="must be a World"):
        finger_stop(None, "arm")  # type: ignore[arg-type]
