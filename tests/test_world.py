"""The world: frames and what is attached to what, parts, robots, sensors; the worked examples of AL's frames."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, Delaunay

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing import Box, Capsule, Cylinder, Plane, Sphere
from adjoint.world.parts import cuboid, cylinder, sphere
from adjoint.world.state import Gripper, World, changes, frame_from_points, gripper_solids, hand_target, settle
from adjoint.world.state.support_polygons import clipped, hull, outside_by
from adjoint.world.units import si

INCH = si(1.0, "inch")


def turned(axis: str, degrees: float, at=(0.0, 0.0, 0.0)) -> np.ndarray:
    w = np.zeros(6)
    w["xyz".index(axis)] = np.radians(degrees)
    T = np.array(se3.exp(w))
    T[:3, 3] = at
    return T


@pytest.fixture(scope="module")
def room() -> World:
    puma = aj.robots.puma560()
    return (
        World()
        .add("floor", Plane())
        .add("table", Box([1.0, 0.6, 0.05]), at=[0.5, 0, 0.4])
        .add("cup", Box([0.06, 0.06, 0.1]), at=[0, 0, 0.075], parent="table", attachment="conditional")
        .add_robot("arm", puma, q=np.full(6, 0.2), at=[0, 0, 0.5], gripper=Gripper(opening=0.08))
    )


# --- a value ----------------------------------------------------------------------------------------------------------


def test_worlds_are_values(room):
    again = pickle.loads(pickle.dumps(room))
    assert again == room and hash(again) == hash(room) and again.fingerprint == room.fingerprint
    moved = room.move("table", [0.6, 0, 0.4])
    assert moved != room and moved.move("table", [0.5, 0, 0.4]) == room
    assert moved.parts is room.parts and moved.frames["floor"] is room.frames["floor"]
    with pytest.raises(AttributeError, match="never changes"):
        room.frames = {}
    with pytest.raises(TypeError):
        room.frames["x"] = 1
    with pytest.raises(ValueError, match="read-only"):
        room.pose("cup")[0, 3] = 1


def test_order_does_not_count():
    a = World().add("a", at=[1, 0, 0]).add("b")
    b = World().add("b").add("a", at=[1, 0, 0])
    assert a == b and len({a, b}) == 1
    assert a != World(gravity=(0, 0, -1.62)).add("b").add("a", at=[1, 0, 0])


def test_grasping_keeps_poses(room):
    held = room.grasp("arm", "cup", width=0.06)
    assert np.allclose(held.pose("cup"), room.pose("cup"), atol=1e-15, rtol=0)
    assert held.holding("arm") == ["cup"] and held.frames["cup"].parent == "arm.tool"
    assert held.robots["arm"].width == 0.06
    moved = held.set_configuration("arm", np.zeros(6))
    assert np.allclose(moved.pose("cup", "arm.tool"), held.pose("cup", "arm.tool"), atol=0)
    names = [(frame, solid.name) for frame, solid in moved.carried("arm")]
    assert names == [("tool", "palm"), ("tool", "finger"), ("tool", "finger#2"), ("tool", "cup")]
    down = moved.release("cup")
    assert np.allclose(down.pose("cup"), moved.pose("cup"), atol=1e-15) and down.frames["cup"].parent == "world"
    with pytest.raises(ArgumentError, match="no robot holds 'cup'"):
        down.release("cup")
    with pytest.raises(ArgumentError, match="only the joints of 'arm' move"):
        held.move("cup", [0, 0, 0])


def test_scene_has_all_solids(room):
    names = [solid.name for solid in room.scene()]
    assert names[:3] == ["floor", "table", "cup"] and "arm.link3" in names and names[-1] == "arm.finger#2"
    assert [solid.name for solid in room.scene(["arm", "table"])] == ["floor", "cup"]
    assert np.array_equal(room.scene()["cup"].T_world_solid, room.pose("cup"))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda w: w.pose("cpu"), "did you mean 'cup'"),
        (lambda w: w.pose("arm.tol"), "did you mean 'tool'"),
        (lambda w: w.pose("cup.lid"), "'cup' has no feature 'lid'; there are top, bottom, front, back"),
        (lambda w: w.pose("cup.tob"), "'cup' has no feature 'tob'; did you mean 'top'"),
        (lambda w: w.add("rod", Capsule(0.1, 0.3)).pose("rod.top"), "'rod' has no feature 'top'; it has none"),
        (lambda w: w.add("cup"), "names must differ"),
        (lambda w: w.add("a.b"), "which is kept for"),
        (lambda w: w.add("world"), "take another name"),
        (lambda w: w.add(""), "not empty"),
        (lambda w: w.add("x", at=[np.nan, 0, 0]), "'at' must be finite"),
        (lambda w: w.add("x", at=np.diag([1, 1, -1, 1])), "not a rigid motion"),
        (lambda w: w.add("x", parent="tabel"), "did you mean 'table'"),
        (lambda w: w.add("x", attachment="glued"), "must be one of 'rigid'"),
        (lambda w: w.add("x", "a box"), "got str"),
        (lambda w: w.attach("table", "table"), "a cycle"),
        (lambda w: w.attach("table", "cup"), "'table' -> 'cup' -> 'table' would be a cycle"),
        (lambda w: w.attach("arm", "arm.link3"), "a cycle"),
        (lambda w: w.attach("arm.link3", "table"), "'arm' .*instead|which has to be named instead"),
        (lambda w: w.move("world", [0, 0, 0]), "cannot be moved"),
        (lambda w: w.move("arm.link3", [0, 0, 0]), "set_configuration"),
        (lambda w: w.set_configuration("arm", np.zeros(5)), "shape"),
        (lambda w: w.set_configuration("amr", np.zeros(6)), "did you mean 'arm'"),
        (lambda w: w.set_gripper("arm", 0.2), "opens from 0 to 80 mm"),
        (lambda w: w.grasp("arm", "arm"), "cannot be held"),
        (lambda w: w.remove("cups"), "did you mean 'cup'"),
        (lambda w: w.rename("cup", "table"), "names must differ"),
    ],
)
def test_bad_edits_are_refused(room, edit, message):
    with pytest.raises(ArgumentError, match=message):
        edit(room)


@pytest.mark.parametrize(
    ("solid", "part", "feature"),
    [
        (Box([1.0, 0.6, 0.05]), cuboid(1.0, 0.6, 0.05), "top"),
        (Cylinder(0.2, 0.5), cylinder(0.2, 0.5), "bottom"),
        (Sphere(0.3), sphere(0.3), "sphere"),
    ],
)
def test_features_of_solids_are_those_of_parts(solid, part, feature):
    """A solid has the features of the part of its shape, wherever it is, and whether or not it brings its own pose."""
    T = se3.random(rng=3)
    expected = World().add("table", part, at=T).pose(f"table.{feature}")
    assert np.allclose(World().add("table", solid, at=T).pose(f"table.{feature}"), expected, atol=1e-12)
    placed = World().add("table", solid.at(T))
    assert np.allclose(placed.pose(f"table.{feature}"), expected, atol=1e-12)
    shifted = placed.move("table", T @ turned("x", 30, [0, 1, 0])).pose(f"table.{feature}")
    assert np.allclose(shifted, T @ turned("x", 30, [0, 1, 0]) @ se3.inverse(T) @ expected, atol=1e-12)


def test_planes_have_one_face():
    T = se3.random(rng=4)
    top = World().add("wall", Plane(T_world_solid=T)).pose("wall.top")
    assert np.allclose(top[:3, 0], T[:3, 2]) and np.allclose(top[:3, 3], T[:3, 3])  # x is the normal


# --- the book's frames ------------------------------------------------------------------------------------------------


def station() -> World:
    """Tables 9.2 and 9.3 of Fu, Gonzalez & Lee (1987), in inches."""
    at = lambda *p: np.array(p) * INCH  # noqa: E731
    return (
        World()
        .add("base", at=at(20, 0, 15))
        .add("beam", at=turned("z", 90, at(20, 15, 0)))
        .add("feeder", at=at(25, 20, 0))
        .add("T6", at=turned("x", 180, at(15, 0, 0)), parent="base", attachment="nonrigid")
        .add("E", at=at(0, 0, 5), parent="T6")
        .add("bolt_tip", parent="feeder", attachment="nonrigid")
        .add("bolt_grasp", at=at(0, 0, 1), parent="bolt_tip")
        .add("beam_bore", at=at(0, 2, 3), parent="beam")
    )


W1 = {
    "T6": ((35, 0, 15), np.diag([1, -1, -1])),
    "E": ((35, 0, 10), np.diag([1, -1, -1])),
    "bolt_tip": ((25, 20, 0), np.eye(3)),
    "bolt_grasp": ((25, 20, 1), np.eye(3)),
    "beam_bore": ((18, 15, 3), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", W1)
def test_frames_of_tables_9_2_and_9_3(name):
    T = station().pose(name)
    assert np.allclose(T[:3, 3] / INCH, W1[name][0], atol=1e-12)
    assert np.allclose(T[:3, :3], W1[name][1], atol=1e-12)


def test_problem_9_1_both_spellings():
    w = World().add("block", at=se3.random(rng=1))
    turn, shift = turned("y", 65), np.array([4.0, 6.0, 0.0])
    along_block = w.add("grasp", at=turned("y", 65, shift), parent="block").pose("grasp", "block")
    assert np.allclose(along_block[:3, :3], [[0.4226, 0, 0.9063], [0, 1, 0], [-0.9063, 0, 0.4226]], atol=5e-5)
    assert np.allclose(along_block[:3, 3], shift)
    turned_first = w.add("axes", at=turn, parent="block").add("grasp", at=shift, parent="axes").pose("grasp", "block")
    assert np.allclose(turned_first[:3, 3], [1.6905, 6, -3.6252], atol=5e-5)


def test_affixed_motion():
    """W2: the hand grasps the bolt with its z axis down; MOVE bolt_tip TO beam_bore moves the hand."""
    w = station().attach("bolt_tip", "world").add("hand", at=turned("x", 180, np.array([25, 20, 1]) * INCH))
    w = w.attach("bolt_tip", "hand", "rigid")
    T = hand_target(w, "bolt_tip", "beam_bore")
    assert np.allclose(T[:3, 3] / INCH, (18, 15, 4), atol=1e-12)
    assert np.allclose(T[:3, :3], [[0, 1, 0], [1, 0, 0], [0, 0, -1]], atol=1e-12)
    for moved in (w.move("hand", T), w.move("bolt_tip", w.pose("beam_bore"))):  # rigid: either one moves the other
        assert np.allclose(moved.pose("bolt_tip"), w.pose("beam_bore"), atol=1e-15)
        assert np.allclose(moved.pose("hand"), T, atol=1e-15)
        assert np.allclose(moved.pose("bolt_grasp")[:3, 3] / INCH, (18, 15, 4), atol=1e-12)
    loose = w.attach("bolt_tip", "hand", "nonrigid").move("bolt_tip", w.pose("beam_bore"))
    assert np.array_equal(loose.pose("hand"), w.pose("hand"))
    assert np.allclose(loose.move("hand", T).pose("bolt_tip", "hand"), loose.pose("bolt_tip", "hand"), atol=1e-15)
    with pytest.raises(ArgumentError, match="does not carry"):
        hand_target(w, "bolt_tip", "beam_bore", mover="beam")


def test_the_beam_that_jumps():
    """B6: writing an absolute-looking frame to a rigid feature drags the beam; `set_relative` is what is meant."""
    w = World().add("beam").add("bore", at=[0, 2.0, 3.0], parent="beam")
    assert np.allclose(w.move("bore", [1.0, 0, 0]).pose("beam")[:3, 3], [1, -2, -3])
    meant = w.set_relative("bore", [1.0, 0, 0])
    assert np.array_equal(meant.pose("beam"), np.eye(4)) and np.array_equal(meant.pose("bore")[:3, 3], [1, 0, 0])


def test_frames_from_points():
    T = se3.random(rng=3)
    points = [np.array(se3.act(T, p)) for p in ([0, 0, 0], [0.3, 0, 0], [-0.2, 0.5, 0])]
    assert np.allclose(frame_from_points(*points), T, atol=1e-12)
    with pytest.raises(ArgumentError, match="'on_x' is at 'origin'"):
        frame_from_points([1, 2, 3], [1, 2, 3], [0, 0, 0])
    with pytest.raises(ArgumentError, match="on one line"):
        frame_from_points([1, 0, 0], [2, 0, 0], [-5, 0, 0])
    with pytest.raises(ArgumentError, match="on one line"):
        frame_from_points([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.4, 0.8, 1.2])
    with pytest.raises(ArgumentError, match="finite"):
        frame_from_points([np.nan, 0, 0], [2, 0, 0], [0, 1, 0])


# --- assemblies and grippers ------------------------------------------------------------------------------------------


def test_assemblies_move_as_one(room):
    w = room.add("lid", Box([0.1, 0.1, 0.01]), at=[1, 1, 1]).add("plate", Box([0.1, 0.1, 0.01]), at=[1, 1, 0.9])
    w = w.add("screw", at=[0.04, 0, 0], parent="plate", attachment="nonrigid").group("gadget", ["plate", "lid"])
    assert w.assembly("gadget").members == ("plate", "lid")
    T = se3.random(rng=4)
    there = w.move("gadget", T)
    for name in ("plate", "lid", "screw"):
        assert np.allclose(there.pose(name), T @ np.linalg.inv(w.pose("plate")) @ w.pose(name), atol=1e-14)
    held = w.attach("gadget", "arm.tool")
    assert held.holding("arm") == ["lid", "plate"] and np.allclose(held.pose("lid"), w.pose("lid"), atol=1e-15)
    outer = w.group("everything", ["gadget", "cup"])
    assert outer.assembly("everything").members == ("plate", "lid", "cup")
    assert outer.remove("everything").frames.keys() == room.frames.keys() - {"cup"} | {"screw"}
    with pytest.raises(ArgumentError, match="is a part of the assembly 'everything'"):
        outer.ungroup("gadget")
    assert w.ungroup("gadget").groups == {}
    with pytest.raises(ArgumentError, match="no assembly 'gadgt'; did you mean"):
        w.assembly("gadgt")
    with pytest.raises(ArgumentError, match="has no members"):
        w.group("nothing", [])


def test_fingers_stand_where_the_gripper_says():
    hand = Gripper(opening=0.08, depth=0.05, thickness=0.01, breadth=0.02, tip=0.01, T_tool_grip=turned("z", 90))
    palm, left, right = gripper_solids(hand, 0.03)
    inner = left.T_world_solid[:3, 3] - hand.T_tool_grip[:3, 1] * 0.005
    assert np.allclose(inner, hand.T_tool_grip[:3, 1] * 0.015 + [0, 0, -0.015])
    assert np.allclose(left.T_world_solid[:3, 3] * [-1, -1, 1], right.T_world_solid[:3, 3])
    assert np.allclose(palm.T_world_solid[:3, 3], [0, 0, 0.01 - 0.05 - 0.01])
    with pytest.raises(ArgumentError, match="opens from"):
        gripper_solids(hand, 0.09)
    with pytest.raises(ArgumentError, match="'opening' must be above 0"):
        Gripper(opening=0.0)


# --- what gravity holds -----------------------------------------------------------------------------------------------


def tray_with_cup(friction: float = 0.5, at=(0.0, 0.0, 0.06)) -> World:
    w = World().add("tray", cuboid(0.4, 0.3, 0.02))
    return w.add("cup", cuboid(0.06, 0.06, 0.1), at=at, parent="tray", attachment="conditional", friction=friction)


@pytest.mark.parametrize(("degrees", "falls"), [(0, False), (20, False), (26.5, False), (26.6, True), (60, True)])
def test_a_tilted_support_lets_go(degrees, falls):
    w = tray_with_cup()
    tilted = w.move("tray", turned("x", degrees, (0, 0, 1)))
    assert ("cup" in tilted.fallen) == falls
    assert np.allclose(tilted.pose("cup"), turned("x", degrees, (0, 0, 1)) @ w.pose("cup"), atol=1e-15)
    assert tilted.frames["cup"].parent == ("world" if falls else "tray")
    if falls:
        assert f"tilted by {degrees:.1f}°, and friction 0.5 holds up to 26.6°" in tilted.fallen["cup"]
        assert f"'cup' fell: {tilted.fallen['cup']}" in changes(w, tilted).words
        assert "cup" not in tilted.move("cup", [0, 0, 0]).fallen


def test_tall_things_tip_before_they_slide():
    """With much friction a block of half width a, whose centre is at height h, tips at atan(a/h) = atan(0.03/0.05)."""
    limit = np.degrees(np.arctan2(0.03, 0.05))
    w = tray_with_cup(friction=2.0)
    assert not w.move("tray", turned("x", limit - 0.01)).fallen
    assert "centre of mass is" in w.move("tray", turned("x", limit + 0.1)).fallen["cup"]
    # A load moves the centre of mass of what carries it: the same cup with a block on top tips earlier.
    tall = w.add("block", cuboid(0.06, 0.06, 0.1), at=[0, 0, 0.1], parent="cup")
    assert "cup" in tall.move("tray", turned("x", limit - 5)).fallen


def test_overhang():
    """The centre of mass must be above the tray, whose edge is at 0.2 m."""
    assert not settle(tray_with_cup(at=(0.199, 0, 0.06))).fell
    with pytest.raises(
        ArgumentError, match="does not hold 'cup' on 'tray': its centre of mass is 2 mm beyond the edge"
    ):
        tray_with_cup(at=(0.202, 0, 0.06))
    with pytest.raises(ArgumentError, match="it does not touch 'tray'"):
        tray_with_cup(at=(0, 0, 0.08))
    with pytest.raises(ArgumentError, match="it does not touch 'tray'"):
        tray_with_cup(at=(0.3, 0, 0.06))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_support_polygons(seed):
    """Against SciPy's hulls, with doubled and collinear points; areas of clipped polygons against a grid."""
    rng = np.random.default_rng(seed)
    R = np.array(se3.random(rng=seed))[:3, :3]
    flat = np.round(rng.uniform(-1, 1, (12, 2)), rng.integers(1, 4))  # rounding makes collinear and doubled ones
    points = np.column_stack([np.concatenate([flat, flat + rng.normal(size=flat.shape) * 1e-16]), np.zeros(24)]) @ R.T
    found = hull(points, R[:, 2]) @ R
    assert area(found) == pytest.approx(ConvexHull(flat).volume, abs=1e-8)
    square = np.array([[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]]) @ R.T
    both = clipped(hull(points, R[:, 2]), square[[[0, 1, 2], [2, 0, 3]]], R[:, 2]) @ R
    grid = np.stack(np.meshgrid(*[np.linspace(-0.49, 0.49, 50)] * 2), axis=-1).reshape(-1, 2)
    inside = Delaunay(flat).find_simplex(grid) >= 0
    assert (area(both) if len(both) > 2 else 0.0) == pytest.approx(inside.mean(), abs=0.04)
    for x in grid[:: len(grid) // 20]:
        away = outside_by(np.append(x, 0.3) @ R.T, found @ R.T, R[:, 2])
        assert (away == 0) == (Delaunay(flat).find_simplex(x) >= 0) or away < 1e-6


def area(polygon: np.ndarray) -> float:
    x, y = polygon[:, :2].T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) / 2)


def test_supports_that_leave():
    w = tray_with_cup()
    gone = w.remove("tray")
    assert gone.fallen == {"cup": "its support 'tray' was removed"} and np.array_equal(gone.pose("cup"), w.pose("cup"))
    assert list(w.remove("tray", with_children=True).frames) == []
    slid = w.set_relative("cup", [0.19, 0.14, 0.06])
    assert not slid.fallen and "cup" in w.set_relative("cup", [0.21, 0, 0.06]).fallen
    assert not w.move("tray", [3, 0, 0]).fallen  # lifted and moved level
    assert (
        settle(World(gravity=(0, 0, 0)).add("a", at=[0, 0, 1]).add("b", parent="a", attachment="conditional")).fell
        == {}
    )
    with pytest.raises(ArgumentError, match="must be a World"):
        settle(None)


def test_round_things_and_robots_as_supports(room):
    ball = (
        World().add("floor", Plane()).add("ball", sphere(0.1), at=[0, 0, 0.1], parent="floor", attachment="conditional")
    )
    assert "ball" in ball.move("floor", turned("x", 5)).fallen and not ball.move("floor", [0, 0, 1]).fallen
    # A plate that the hand of an arm carries: the plane across z of the tool.
    level = np.linalg.inv(room.pose("arm.tool")) @ se3.from_rotation_translation(
        np.eye(3), room.pose("arm.tool")[:3, 3]
    )
    w = room.add("hand", at=level, parent="arm.tool").add(
        "dish", cuboid(0.1, 0.1, 0.02), parent="hand", attachment="conditional"
    )
    q = np.array(w.robots["arm"].q)
    q[5] += 0.05
    assert not w.set_configuration("arm", q).fallen
    q[4] += 1.0
    assert "tilted" in w.set_configuration("arm", q).fallen["dish"]


def test_release_onto(room):
    held = room.grasp("arm", "cup")
    down = held.release("cup", onto="table", width=0.08)
    assert down.frames["cup"].attachment == "conditional" and np.allclose(
        down.pose("cup"), room.pose("cup"), atol=1e-15
    )
    with pytest.raises(ArgumentError, match="does not touch 'floor'"):
        held.release("cup", onto="floor")


def test_features_are_places():
    w = World().add("block", cuboid(0.2, 0.2, 0.1), at=turned("y", 90, (1, 0, 0))).add("pin", parent="block.top")
    assert np.allclose(w.pose("block.top")[:3, 0], [1, 0, 0], atol=1e-15)  # x is the normal
    assert np.allclose(w.pose("pin")[:3, 3], [1.05, 0, 0])
    there = w.move("block.top", np.eye(4))  # the feature gets there, and the part with it
    assert np.allclose(there.pose("block.top"), np.eye(4), atol=1e-15)
    assert np.allclose(there.pose("pin"), np.eye(4), atol=1e-15)
    with pytest.raises(ArgumentError, match="did you mean 'top'"):
        w.pose("block.tpo")


def test_payloads_are_carried(room):
    steel = cuboid(0.05, 0.05, 0.2, density=7800.0)
    w = room.add("rod", steel, at=[0.4, 0.1, 0.9]).grasp("arm", "rod")
    loaded, bare = w.mounted("arm"), room.mounted("arm")
    assert np.isclose(loaded.mass - bare.mass, 7800 * 0.05 * 0.05 * 0.2)
    q = w.robots["arm"].q
    assert np.allclose(aj.forward_kinematics(bare, q, "tool"), room.pose("arm.tool"), atol=1e-14)
    # gravity torque of the load: J^T of its weight at its centre
    load = aj.gravity_torque(loaded, q) - aj.gravity_torque(bare, q)
    with_center = bare.with_frame("load", "tool", w.pose("rod", "arm.tool"))
    J = aj.jacobian(with_center, q, "load", expressed="world")
    assert np.allclose(load, J[3:].T @ [0, 0, 9.81 * 3.9], atol=1e-9)


def test_edits_share_what_they_leave():
    """An edit of a world of 1000 frames makes one new entry; all others are the same objects."""
    w = World()
    for k in range(1000):
        w = w.add(f"f{k}", at=[k, 0, 0])
    new = w.move("f7", [0, 0, 1])
    assert sum(new.frames[name] is not placed for name, placed in w.frames.items()) == 1
    assert new.parts is w.parts and new.robots is w.robots
