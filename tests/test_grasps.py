"""Grasps: candidates of parts, pruned with reasons, ranked; the book's criteria as laws."""

import dataclasses

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision import ConvexHull, solid_distance
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing import Box, Capsule, Cylinder, Plane, Sphere
from adjoint.world import (
    Gripper,
    World,
    cone,
    cuboid,
    cylinder,
    gripper_solids,
    part_solids,
    sphere,
    wedge,
    world_collision_model,
)
from adjoint.world.grasps import find_grasps, grasp_candidates, plan_pick_and_place
from adjoint.world.grasps.separations import hull_of, separations

from .support import planning_scenes
from .support.robots import urdf

UNIT = 0.02


@pytest.fixture(scope="module")
def puma():
    return aj.robots.puma560()


def flat_block(robot, opening=2.5, more=(), **options):
    """The book's cuboid 4 × 2 × 1, flat on a table, and further (name, part, position)."""
    hand = Gripper(opening=opening * UNIT, T_tool_grip=[0, 0, 0.14], **options)
    world = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.325])
    for name, part, at in (("block", cuboid(4 * UNIT, 2 * UNIT, UNIT), [0.5, 0.1, -0.3 + UNIT / 2]), *more):
        world = world.add(name, part, at=at)
    return world.add_robot("arm", robot, gripper=hand)


# --- the fixture ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_the_middle_pair_of_a_flat_cuboid_survives(puma):
    """Cuboid 4 × 2 × 1 on a table, opening 2.5: 4 is too wide, 1 is blocked by the table, only 2 is left."""
    found = find_grasps(flat_block(puma), "arm", "block", positions=1)
    assert len(found) > 0
    assert {round(grasp.width / UNIT, 9) for grasp in found} == {2.0}
    reasons: dict[float, set[str]] = {}
    for grasp in found.pruned:
        reasons.setdefault(round(grasp.width / UNIT, 9), set()).add(grasp.reason)
    assert reasons[4.0] == {"too wide"}
    assert reasons[1.0] == {"blocked by 'table' at pick"}
    pairs = {frozenset(grasp.faces) for grasp in found}
    assert len(pairs) == 1 and not pairs & {frozenset(("top", "bottom"))}
    each = found.candidates // 3  # all three pairs have as many candidates
    assert found.counts["too wide"] == each and found.counts["blocked by 'table' at pick"] >= each
    assert str(found).startswith(f"{len(found)} of {found.candidates} candidates: ")
    assert sum(found.counts.values()) + len(found) == found.candidates == len(found.pruned) + len(found)


# --- candidates of a part ---------------------------------------------------------------------------------------------


PARTS = {
    "cuboid": cuboid(0.08, 0.04, 0.02),
    "wedge": wedge(0.05, 0.04, 0.03),
    "cylinder": cylinder(0.02, 0.06),
    "sphere": sphere(0.02),
    "cone": cone(0.02, 0.05),
}


@pytest.mark.parametrize("name", PARTS)
def test_candidates_are_poses_whose_fingers_touch_the_part(name):
    part, hand = PARTS[name], Gripper(opening=0.05, force=20)
    found = grasp_candidates(part, hand, friction=0.5)
    assert len(found) > 0
    solids = part_solids(part)
    for grasp in list(found)[::25]:
        T = grasp.T_part_grip
        np.testing.assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-12)
        assert np.linalg.det(T[:3, :3]) > 0
        assert hand.least <= grasp.width <= hand.opening
        # Both contact points are on the surface: the facets of round parts are inside by their sagitta.
        for side in (-0.5, 0.5):
            point = T[:3, 3] + side * grasp.width * T[:3, 1]
            d = min(float(solid_distance(s, Sphere(1e-9, T_world_solid=point)).distance) for s in solids)
            assert abs(d) < 2e-4
        # The hand that is wider open does not meet the part.
        for box in gripper_solids(hand, min(grasp.width + 0.01, hand.opening)):
            box = box.at(T @ se3.inverse(hand.T_tool_grip) @ box.T_world_solid)
            assert all(solid_distance(box, solid).distance > -1e-6 - 0.0025 * grasp.width for solid in solids)


def test_antipodal_grasps_of_a_ball_are_inside_the_friction_cone():
    """A line at the distance s from the centre meets the sphere at the angle asin(s/r) from both normals."""
    r, mu = 0.02, 0.4
    found = grasp_candidates(sphere(r), Gripper(opening=0.05), friction=mu)
    T = np.array([grasp.T_part_grip for grasp in found])
    s = np.linalg.norm(np.cross(T[:, :3, 3], T[:, :3, 1]), axis=1)
    angle = np.arcsin(s / r)
    facet = 2 * np.pi / 64  # normals of triangles differ by up to about this from those of the sphere
    assert (angle <= np.arctan(mu) + facet).all() and angle.max() > 0.3 * np.arctan(mu)
    margins = np.array([grasp.cone_margin for grasp in found])
    assert (margins >= 0).all()
    np.testing.assert_allclose(np.arctan(mu) - margins, angle, atol=facet)


def test_the_numbers_of_a_grasp():
    """A beam that is held at its middle has no torque; elsewhere the torque is the weight times the distance."""
    beam, hand = cuboid(0.2, 0.03, 0.03, density=2000.0), Gripper(opening=0.05, force=50.0)
    mass = 0.2 * 0.03 * 0.03 * 2000
    found = grasp_candidates(beam, hand, friction=0.3, positions=5, gravity=9.81)
    for grasp in found:
        T = grasp.T_part_grip
        off = T[:3, 3] - (T[:3, 3] @ T[:3, 1]) * T[:3, 1]
        assert grasp.arm == pytest.approx(np.linalg.norm(off), abs=1e-12)
        assert grasp.torque == pytest.approx(grasp.arm * mass * 9.81)
        assert grasp.slip_margin == pytest.approx(2 * 0.3 * 50 / (mass * 9.81))
        assert grasp.cone_margin == pytest.approx(np.arctan(0.3))
        if grasp.torque > 1e-9:
            moment = 4 / 3 * 0.3 * 50 * np.sqrt(grasp.area / np.pi)
            assert grasp.turn_margin == pytest.approx(moment / grasp.torque)
    assert (np.diff([grasp.score for grasp in found]) < 1e-9).all()
    assert min(grasp.arm for grasp in found) == pytest.approx(0.0, abs=1e-12)


def test_the_contact_area_is_what_finger_and_faces_share():
    """A finger of 20 × 40 mm on a face of 80 × 20 mm, from the middle upwards: 20 × 10 mm of it touch."""
    hand = Gripper(opening=0.05, breadth=0.02, depth=0.04)
    found = grasp_candidates(cuboid(0.08, 0.04, 0.02), hand, positions=1)
    above = [g for g in found if set(g.faces) == {"left", "right"} or set(g.faces) == {"front", "back"}]
    above = [g for g in above if g.width == pytest.approx(0.04) and g.T_part_grip[2, 2] == pytest.approx(-1)]
    assert len(above) == 2
    assert above[0].area == pytest.approx(0.02 * 0.01, abs=0.04 * 0.02 / 12)


def test_grasps_move_with_the_part():
    T = se3.exp([0.3, -0.5, 0.8, 0.1, -0.2, 0.3])
    hand = Gripper(opening=0.05)
    for part in (cuboid(0.08, 0.04, 0.02), wedge(0.05, 0.04, 0.03)):
        here, there = (grasp_candidates(p, hand) for p in (part, part.at(T)))
        assert here.counts == there.counts
        a, b = (sorted(found.table.T.round(9).tolist()) for found in (here, there))
        moved = sorted((T @ here.table.T).round(9).tolist())
        np.testing.assert_allclose(b, moved, atol=1e-8)
        assert len(a) == len(b)


def test_candidates_are_the_same_each_time():
    hand = Gripper(opening=0.05)
    a, b, c = (grasp_candidates(cylinder(0.02, 0.05), hand, rng=seed) for seed in (3, 3, 4))
    assert np.array_equal(a.table.T, b.table.T) and list(a.order) == list(b.order)
    assert not np.array_equal(a.table.T, c.table.T)


def test_a_hole_in_a_face_is_no_contact():
    hand = Gripper(opening=0.05, breadth=0.02, depth=0.02, tip=0.01)
    solid, holed = cuboid(0.1, 0.06, 0.04), cuboid(0.1, 0.06, 0.04) - cylinder(0.016, 0.1)
    areas = []
    for part in (solid, holed):
        table = grasp_candidates(part, hand, positions=1).table
        areas.append(max((a for a, f in zip(table.area, table.faces, strict=True) if "top" in f), default=0.0))
    assert areas[0] == pytest.approx(4e-4) and areas[1] < 0.1 * areas[0]


# --- a reason for each failure ----------------------------------------------------------------------------------------


def test_too_narrow_and_too_wide():
    found = grasp_candidates(cuboid(0.08, 0.04, 0.02), Gripper(opening=0.05, least=0.03), positions=1)
    assert found.counts == {"too narrow": 16, "too wide": 16}
    none = grasp_candidates(cuboid(0.3, 0.3, 0.3), Gripper(opening=0.05), positions=1)
    assert len(none) == 0 and none.reason.endswith("most (48) are too wide")


def test_faces_that_hardly_overlap_have_too_little_contact():
    step = cuboid(0.04, 0.04, 0.02) | cuboid(0.04, 0.04, 0.02, at=[0.0396, 0, 0.02])
    found = grasp_candidates(step, Gripper(opening=0.05, breadth=0.02), positions=1)
    bad = [g for g in found.pruned if g.reason == "with too little contact"]
    assert bad and all(g.area < 0.05 * 0.02 * 0.04 for g in bad)


def test_the_web_of_a_beam_between_flanges_is_not_p_convex():
    """Fingers of 20 mm have no room between flanges that are 12 mm apart."""
    flange = cuboid(0.06, 0.06, 0.01)
    beam = cuboid(0.06, 0.02, 0.012) | flange.at([0, 0, 0.011]) | flange.at([0, 0, -0.011])
    web = [g for g in grasp_candidates(beam, Gripper(opening=0.05)).pruned if g.width == pytest.approx(0.02)]
    assert web and {g.reason for g in web} <= {"not p-convex", "with too little contact"}
    assert any(g.reason == "not p-convex" for g in web)


def test_short_fingers_are_stopped_by_the_palm():
    found = grasp_candidates(cuboid(0.1, 0.03, 0.1), Gripper(opening=0.05, depth=0.02), positions=1)
    assert found.counts["stopped by the palm"] == 16  # the only pair that is not too wide, held in its middle
    assert len(found) == 0


def test_weak_fingers_slip():
    steel = cuboid(0.1, 0.03, 0.04, density=7800.0)
    weight = 0.1 * 0.03 * 0.04 * 7800 * 9.81
    for force, held in ((0.99 * weight, False), (1.01 * weight, True)):
        found = grasp_candidates(steel, Gripper(opening=0.05, force=float(force)), friction=0.5)
        assert bool(len(found)) is held and ("slipping" in found.counts) is not held


def test_a_part_without_two_sides_has_no_candidates():
    slick = grasp_candidates(cone(0.03, 0.03), Gripper(opening=0.08), friction=0.05)
    assert slick.candidates == 0 and "no antipodal points" in slick.reason


@pytest.mark.slow
def test_reasons_in_the_world(puma):
    """Neighbours, reach and the arm, at the pick and at the place."""
    wall = cuboid(4 * UNIT, 0.01, 0.1)
    walls = [("left", wall, [0.5, 0.1 - 0.03, -0.25]), ("right", wall, [0.5, 0.1 + 0.03, -0.25])]
    shut = find_grasps(flat_block(puma, more=walls), "arm", "block")
    # Between two walls, fingers have 5 mm of room: not enough for 10 mm of thickness.
    assert len(shut) == 0 and any("'left'" in why for why in shut.counts)
    assert shut.reason.startswith(f"none of {shut.candidates} grasps of 'block' is left: most")

    far = flat_block(puma).move("block", [3.0, 0, 0.5])
    found = find_grasps(far, "arm", "block")
    assert len(found) == 0 and found.counts["unreachable at pick"] > 0

    world = flat_block(puma)
    good = find_grasps(world, "arm", "block", goal=[0.5, -0.1, -0.29])
    assert len(good) > 0
    away = find_grasps(world, "arm", "block", goal=[3.0, 0, 0.5])
    assert len(away) == 0 and away.counts["unreachable at place"] > 0
    box = [(f"side{k}", cuboid(0.3, 0.01, 0.06), [0.5, -0.1 + y, -0.27]) for k, y in enumerate((-0.03, 0.03))]
    narrow = find_grasps(flat_block(puma, more=box), "arm", "block", goal=[0.5, -0.1, -0.29])
    assert len(narrow) == 0 and any(why.endswith("at place") and "side" in why for why in narrow.counts)
    roof = [("roof", cuboid(0.5, 0.5, 0.02), [0.5, 0.1, -0.1])]
    below = find_grasps(flat_block(puma, more=roof), "arm", "block")
    assert any(why == "with the arm blocked by 'roof' at pick" for why in below.counts)


@pytest.mark.slow
def test_the_reason_names_what_stopped_the_last_grasps(puma):
    roof = [("roof", cuboid(0.5, 0.5, 0.02), [0.5, 0.1, -0.15])]
    found = find_grasps(flat_block(puma, more=roof), "arm", "block")
    assert len(found) == 0
    late = {why: n for why, n in found.counts.items() if why.startswith("with the arm blocked by ")}
    most = next(iter(found.counts))
    assert late and most not in late
    total, (why, n) = sum(late.values()), next(iter(late.items()))
    tail = f"; the last {n} are {why}" if n == total else f"; of the last {total}, most ({n}) are {why}"
    assert found.reason.endswith(f"most ({found.counts[most]}) are {most}{tail}")


# --- robots with fingers of their own ---------------------------------------------------------------------------------

FINGERS = ("panda_leftfinger", "panda_rightfinger")


@pytest.fixture(scope="module")
def panda():
    return planning_scenes.panda(urdf("panda.urdf"))


def desk(robot, links):
    world = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.55, 0, -0.025])
    world = world.add("cube", cuboid(0.04, 0.04, 0.06), at=[0.45, 0.1, 0.03])
    hand = Gripper(opening=0.08, depth=0.045, T_tool_grip=np.eye(4), links=links)
    return world.add_robot("arm", robot, q=[0, -0.5, 0, -2.2, 0, 1.7, 0.8], tool="panda_hand_tcp", gripper=hand)


@pytest.mark.slow
def test_a_gripper_stands_for_fingers_of_the_model(panda):
    double = find_grasps(desk(panda, ()), "arm", "cube")
    assert len(double) == 0 and "with the arm blocked by 'cube' at pick" in double.counts
    world = desk(panda, FINGERS)
    assert len(find_grasps(world, "arm", "cube")) > 0
    names = world_collision_model(world, "arm").shape_names
    assert not set(FINGERS) & set(names) and {"panda_hand", "finger", "finger#2"} <= set(names)
    plan = plan_pick_and_place(world, "arm", "cube", "table")
    assert plan.solved, plan.reason
    # For another robot, the fingers are there once, too.
    two = world.add_robot("other", panda, at=[0, 2.0, 0])
    seen = {solid.name for solid in world_collision_model(two, "other").obstacles}
    assert "arm.finger" in seen and "arm.panda_leftfinger" not in seen
    again = World.from_json(world.to_json())
    hand = again.robots["arm"].gripper
    assert again == world and hand is not None and hand.links == FINGERS
    assert hand != desk(panda, ()).robots["arm"].gripper


def test_links_of_a_gripper_exist(panda):
    with pytest.raises(ArgumentError, match="stands for 'panda_lefthand', which is no link of robot"):
        world_collision_model(desk(panda, ("panda_lefthand",)), "arm")
    with pytest.raises(ArgumentError, match="'links' must be names"):
        Gripper(opening=0.1, links=(1,))  # type: ignore[arg-type]
    assert Gripper(opening=0.1, links="finger").links == ("finger",)  # type: ignore[arg-type]


# --- what is left is really free --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_grasp_that_is_left_is_free_and_reached(puma):
    more = [("post", cuboid(0.03, 0.03, 0.2), [0.58, 0.1, -0.2]), ("ball", sphere(0.03), [0.5, 0.19, -0.27])]
    world = flat_block(puma, more=more)
    goal = se3.exp([0, 0, 0.4, 0.5, -0.15, -0.29])
    goal[:3, 3] = [0.5, -0.15, -0.29]
    found = find_grasps(world, "arm", "block", goal=goal)
    assert len(found) > 0
    others = [s for name in ("table", "post", "ball") for s in world.scene() if s.name == name]
    hand = found.gripper
    for k, grasp in enumerate(found):
        for T_part, q in zip((world.pose("block"), goal), found.configurations(k), strict=True):
            T = grasp.hand_pose(T_part)
            reached = aj.forward_kinematics(puma, q, "tool") @ hand.T_tool_grip
            assert len(q) and np.abs(reached - T).max() < 1e-9
            for box in gripper_solids(hand, min(grasp.width + 0.01, hand.opening)):
                box = box.at(T @ se3.inverse(hand.T_tool_grip) @ box.T_world_solid)
                assert min(float(solid_distance(box, s).distance) for s in others) > -2e-6


@pytest.mark.slow
def test_weights_choose_what_ranks(puma):
    """With all weight on one number, the first grasp is the best of all in it."""
    world = flat_block(puma)
    balance, room = (find_grasps(world, "arm", "block", rank_weights=w) for w in ((0, 1, 0), (0, 0, 1)))
    assert balance[0].arm == pytest.approx(min(g.arm for g in balance))
    assert room[0].clearance == pytest.approx(max(g.clearance for g in room))
    assert len(balance) == len(room)


@pytest.mark.slow
def test_clearance_counts_the_pose_error(puma):
    """Over a table, the clearance under an error of e is the height of the tips less e."""
    world = flat_block(puma)
    small, large = (find_grasps(world, "arm", "block", error=e) for e in (0.001, 0.004))
    for grasp in small:
        T = grasp.hand_pose(world.pose("block"))
        if T[2, 2] < -0.999:
            assert grasp.clearance == pytest.approx(T[2, 3] + 0.3 - 0.001, abs=1e-9)
    a, b = ({g.T_part_grip.tobytes(): g.clearance for g in found} for found in (small, large))
    assert a.keys() == b.keys()
    assert all(-1e-12 <= a[k] - b[k] <= 0.003 + 1e-9 for k in a)  # a motion by e takes e at most


# --- separating axes --------------------------------------------------------------------------------------------------


def test_separations_agree_with_distances():
    """Signs and depths are those of `solid_distance`; distances are never larger."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 3)) * 0.4
    solids = [Box([1.0, 0.6, 0.4]), Sphere(0.4), Capsule(0.2, 0.8), ConvexHull(points)]
    box = Box([0.5, 0.3, 0.9])
    T = np.asarray(se3.exp(rng.normal(size=(60, 6)) * [1, 1, 1, 0.5, 0.5, 0.5]))
    for solid in solids:
        at = np.asarray(se3.exp(rng.normal(size=6) * 0.3))
        got = separations(hull_of(box), T, hull_of(solid.at(at)))
        want = np.array([solid_distance(box.at(x), solid.at(at)).distance for x in T])
        clear = np.abs(want) > 1e-9
        assert ((got < 0) == (want < 0))[clear].all()
        assert (got <= want + 1e-9).all()
        inside = want < 0
        np.testing.assert_allclose(got[inside], want[inside], atol=1e-9)
        if isinstance(solid, Box):  # compiled and in NumPy
            slow = separations(dataclasses.replace(hull_of(box), box=None), T, hull_of(solid.at(at)))
            np.testing.assert_allclose(got, slow, atol=1e-12)
        if not isinstance(solid, ConvexHull) and solid.__class__ is not Box:
            np.testing.assert_allclose(got, want, atol=1e-9)  # rounded solids: all directions are asked
    plane = Plane(T_world_solid=[0, 0, -0.2])
    got = separations(hull_of(box), T, hull_of(plane))
    np.testing.assert_allclose(got, [solid_distance(box.at(x), plane).distance for x in T], atol=1e-12)


def test_a_cylinder_is_its_prism():
    rng = np.random.default_rng(1)
    tube, box = Cylinder(0.3, 0.8), Box([0.2, 0.3, 0.4])
    T = np.asarray(se3.exp(rng.normal(size=(60, 6)) * [1, 1, 1, 0.4, 0.4, 0.4]))
    got = separations(hull_of(box), T, hull_of(tube))
    want = np.array([solid_distance(box.at(x), tube).distance for x in T])
    assert (got <= want + 1e-9).all()
    near = want < 0
    assert (got >= want - 0.005 * 0.3)[near].all()


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input(puma):
    hand, part = Gripper(opening=0.05), cuboid(0.08, 0.04, 0.02)
    world = flat_block(puma)
    for call, words in (
        (lambda: grasp_candidates(part, 0.05), "'gripper' must be a Gripper"),
        (lambda: grasp_candidates("block", hand), "a part is made by cuboid"),
        (lambda: grasp_candidates(Plane(), hand), "half-space"),
        (lambda: grasp_candidates(part, hand, approaches=0), "must be 1 or more"),
        (lambda: grasp_candidates(part, hand, friction=-1), "friction"),
        (lambda: grasp_candidates(part, hand, spread=-1), "'spread'"),
        (lambda: grasp_candidates(part, hand, rng="x"), "rng"),
        (lambda: find_grasps("w", "arm", "block"), "must be a World"),
        (lambda: find_grasps(world, "leg", "block"), "leg"),
        (lambda: find_grasps(world, "arm", "blok"), "'block'"),
        (lambda: find_grasps(world, "arm", "block", rank_weights=(0, 0, 0)), "rank_weights"),
        (lambda: find_grasps(world, "arm", "block", error=0), "error"),
        (lambda: find_grasps(world, "arm", "block", goal=np.ones((4, 4))), "goal"),
        (lambda: find_grasps(world.grasp("arm", "block"), "arm", "block"), "already"),
        (lambda: find_grasps(world.attach("block", "table"), "arm", "block"), "rigidly attached to 'table'"),
        (lambda: find_grasps(World().add("b", part).add_robot("arm", puma), "arm", "b"), "no gripper"),
        (lambda: grasp_candidates(part, hand)[10_000], "index"),
        (lambda: grasp_candidates(part, hand).configurations(0), "find_grasps"),
    ):
        with pytest.raises((ArgumentError, IndexError), match=words):
            call()
    assert len(grasp_candidates(Box([0.08, 0.04, 0.02]), hand)) == len(grasp_candidates(part, hand))
