"""Pairs of bodies that are checked for self-collision: by the tree, by samples, and by files."""

import dataclasses

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision.body_pairs import BodyPairs, colliding_pairs, disabled_links
from adjoint.collision.pair_distances import capsule_capsule
from adjoint.collision.shapes_of_links import LinkShapes, link_shapes
from adjoint.errors import ArgumentError, ModelError

from .support.robots import ROBOTS, urdf


def by_hand(bodies, starts, ends, radii, excess=0.0) -> LinkShapes:
    k = len(bodies)
    return LinkShapes(
        np.array(bodies), np.array(starts, float), np.array(ends, float), np.broadcast_to(radii, k).astype(float),
        np.broadcast_to(excess, k).astype(float), tuple(f"shape{i}" for i in range(k))
    )  # fmt: skip


def planar(count: int, limit: float):
    """A chain of links of length 1 in a plane, each joint within ± limit."""
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/>'
        f'<origin xyz="{float(i > 0)} 0 0"/><limit lower="-{limit}" upper="{limit}" effort="1" velocity="1"/></joint>'
        for i in range(count)
    )
    return aj.load(f'<robot name="chain">{links}{joints}</robot>')


def rods(count: int) -> LinkShapes:
    """A thin capsule along each link of `planar`."""
    return by_hand(range(count), [[0.1, 0, 0]] * count, [[0.9, 0, 0]] * count, 0.02)


def sets(pairs: np.ndarray) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in pairs}


def all_kinds(pairs: BodyPairs) -> list[set]:
    return [sets(getattr(pairs, k)) for k in ("checked", "adjacent", "always", "neutral", "never", "disabled")]


# --- laws -------------------------------------------------------------------------------------------------------------


def test_every_pair_has_one_verdict():
    robot = aj.robots.puma560()
    shapes = link_shapes(robot, most=1)
    pairs = colliding_pairs(robot, shapes, samples=500)
    kinds = all_kinds(pairs)
    bodies = sorted(shapes.groups)
    assert set().union(*kinds) == {(a, b) for a in bodies for b in bodies if a < b}
    assert sum(map(len, kinds)) == len(bodies) * (len(bodies) - 1) // 2
    assert all(pairs.verdict(i, i + 1) == "adjacent" for i in range(-1, 5))
    assert pairs.verdict(5, 5) == ""
    assert {tuple(sorted(shapes.bodies[list(pair)])) for pair in pairs.shape_pairs} == sets(pairs.checked)


def test_reachable_pairs_by_geometry():
    """Links of length 1 with joints within ± limit: the first and the third meet only if they can fold."""
    # Three links make a triangle if two joints turn by 120°.
    stiff = colliding_pairs(planar(3, np.deg2rad(60)), rods(3), samples=2000)
    loose = colliding_pairs(planar(3, np.deg2rad(170)), rods(3), samples=2000)
    assert stiff.verdict(0, 2) == "never"
    assert loose.verdict(0, 2) == "checked"
    assert "never nearer" in stiff.reasons[0, 2] and "touch in" in loose.reasons[0, 2]


def test_rare_meetings_are_found_by_search():
    """Two small balls at the ends of arms meet in few configurations: too few for the samples alone."""
    robot = planar(4, 3.0)
    places = [[0, 0, 0], [0.5, 0, 0], [0.5, 0, 0], [1.0, 0, 0]]
    shapes = by_hand(range(4), places, places, 0.004)
    q = aj.random_configuration(robot, 300, rng=np.random.default_rng(0))
    T = aj.forward_kinematics(robot, q)
    tip = T[:, 3, :3, 3] + T[:, 3, :3, 0]
    assert np.linalg.norm(tip - T[:, 0, :3, 3], axis=1).min() > 0.018  # not within the margin in these samples
    assert colliding_pairs(robot, shapes, samples=300, rng=0).verdict(0, 3) == "checked"


def test_bodies_without_shapes_join_their_neighbours():
    robot = planar(4, 1.0)
    shapes = by_hand([0, 3], [[0.1, 0, 0]] * 2, [[0.9, 0, 0]] * 2, 0.02)
    assert colliding_pairs(robot, shapes, samples=100).verdict(0, 3) == "adjacent"


def test_shapes_that_always_touch():
    robot = planar(3, 2.5)
    shapes = by_hand([0, 1, 2], [[0.0, 0, 0]] * 3, [[0.5, 0, 0]] * 3, [2.0, 0.1, 0.1])
    pairs = colliding_pairs(robot, shapes, samples=300)
    assert pairs.verdict(0, 2) == "always"
    assert "100 %" in pairs.reasons[0, 2]
    assert len(pairs) == 0 and len(pairs.shape_pairs) == 0


def test_touching_at_rest_by_no_more_than_the_excess():
    robot = planar(3, 2.9)
    # At rest, balls at (1, 0) and (2, 0.5) are √1.25 = 1.118 apart, and overlap by 2 · 0.575 - 1.118 = 0.032.
    places = [[1.0, 0, 0], [0.5, 0, 0], [0, 0.5, 0]]
    arrays = ([0, 1, 2], places, places, [0.575, 0.01, 0.575])

    def verdict(excess: float, hull_radius: float, **options) -> str:
        hulls = {"hulls": tuple(np.array([x]) for x in places), "hull_radii": np.array([hull_radius, 0.01, 0.2])}
        shapes = dataclasses.replace(by_hand(*arrays, excess=excess), **hulls)
        return colliding_pairs(robot, shapes, samples=500, **options).verdict(0, 2)

    # The second ball goes around a place 1 away on a circle of 0.5: hulls of 0.2 never meet, but come as near as 0.1.
    assert verdict(0.03, 0.2, margin=0.11) == "neutral"
    assert verdict(0.01, 0.2, margin=0.11) == "checked"
    assert verdict(0.03, 0.2, margin=0.11, neutral=False) == "checked"
    assert verdict(0.03, 0.5) == "checked"  # the links themselves meet often


@pytest.mark.slow
def test_links_that_meet_are_not_left_out_for_the_neutral_configuration():
    """In 2 % of all configurations, the wrist of the Z1 touches its upper arm, near which it is when it is folded."""
    robot = aj.load(urdf("z1.urdf"))
    shapes = link_shapes(robot)
    pairs = colliding_pairs(robot, shapes, samples=1024)
    links = {tuple(shapes.names[k] for k in pair) for pair in pairs.shape_pairs}
    assert {("link02", "link06"), ("link02#2", "link04")} <= links
    assert not len(pairs.neutral)


def test_results_that_are_kept_cannot_be_changed():
    robot = aj.robots.puma560()
    pairs = colliding_pairs(robot, link_shapes(robot, most=1), samples=200)
    for array in (pairs.checked, pairs.shape_pairs, pairs.never):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    with pytest.raises(TypeError):
        pairs.reasons[0, 1] = "none"  # type: ignore[index]


@pytest.mark.slow
def test_shares_agree_with_brute_force():
    """What is checked touches in some samples, and what never touches does so in none, of samples of another seed."""
    robot = aj.load(urdf("ur5_robot"))
    shapes = link_shapes(robot)
    pairs = colliding_pairs(robot, shapes, samples=2000)
    q = aj.random_configuration(robot, 2000, rng=99)
    T = np.concatenate([aj.forward_kinematics(robot, q), np.tile(np.eye(4), (len(q), 1, 1, 1))], axis=1)

    def ends(points, k):
        place = T[:, shapes.bodies[k]]
        return (place[:, :3, :3] @ points[k]) + place[:, :3, 3]

    least = {}
    for a in range(len(shapes)):
        for b in range(a):
            args = (ends(shapes.starts, a), ends(shapes.ends, a), shapes.radii[a])
            found = capsule_capsule(*args, ends(shapes.starts, b), ends(shapes.ends, b), shapes.radii[b]).distance
            key = tuple(sorted((int(shapes.bodies[a]), int(shapes.bodies[b]))))
            least[key] = min(least.get(key, np.inf), float(found.min()))
    for pair in sets(pairs.checked):
        assert least[pair] < 0.05
    for pair in sets(pairs.never):
        assert least[pair] > 0 or "only their shapes" in pairs.reasons[pair]


# --- the Panda, and its SRDF ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_panda_against_its_srdf():
    """MoveIt sampled the meshes of the Panda: what never touches there never touches here, and the other way round."""
    robot = aj.load(urdf("panda.urdf"))
    shapes = link_shapes(robot)
    pairs = colliding_pairs(robot, shapes)
    path = ROBOTS / "panda_description/srdf/panda.srdf"
    body = {name: robot.frame(name).body for name in robot.frame_names}
    body[robot.base_name] = -1
    listed = {tuple(sorted((body[a], body[b]))) for a, b in disabled_links(path)}
    # The hand is fixed to link 7; body 6 has both, and the file lists both with the same others, but for link 5, which
    # touches by default.
    expected = {pair for pair in listed if pair[1] - pair[0] > 1} - {(6, 8), (4, 6), (7, 8)}
    assert sets(pairs.never) == {p for p in expected if pairs.verdict(*p) not in ("adjacent", "neutral")}
    assert pairs.verdict(7, 8) == "neutral"  # the fingers, closed
    assert len(colliding_pairs(robot, shapes, samples=200, disabled=path).disabled) > 0


def test_pairs_are_disabled_by_name():
    robot = planar(4, 2.9)
    shapes = rods(4)
    assert colliding_pairs(robot, shapes, samples=500).verdict(0, 2) == "checked"
    names = robot.body_names
    found = colliding_pairs(robot, shapes, samples=500, disabled=[(names[2], names[0])])
    assert found.verdict(0, 2) == "disabled"
    assert found.verdict(0, 3) == "checked"
    text = f'<robot name="x"><disable_collisions link1="{names[0]}" link2="{names[2]}" reason="Never"/></robot>'
    assert disabled_links(text) == ((names[0], names[2]),)
    assert sets(colliding_pairs(robot, shapes, samples=500, disabled=text).disabled) == {(0, 2)}


def test_pairs_tell_of_themselves():
    robot = planar(4, 2.9)
    pairs = colliding_pairs(robot, rods(4), samples=300)
    assert "pairs of bodies to check" in repr(pairs)
    assert "a joint connects them" in str(pairs) and "<table>" in pairs._repr_html_()
    assert pairs.name(-1) == robot.base_name


def test_the_same_seed_gives_the_same_pairs():
    robot, shapes = planar(4, 2.9), rods(4)
    one, two = (colliding_pairs(robot, shapes, samples=300, rng=np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one.shape_pairs, two.shape_pairs) and one.reasons == two.reasons


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"samples": 0}, "samples must be 1 or more"),
        ({"samples": -1}, "samples"),
        ({"margin": -0.1}, "margin"),
        ({"margin": np.nan}, "margin"),
        ({"rng": "seed"}, "rng must be"),
        ({"rng": -1}, "rng must be"),
        ({"neutral": "no"}, "neutral must be True or False"),
        ({"disabled": [("l0", "nobody")]}, "'disabled' names 'nobody'"),
        ({"disabled": 3}, "'disabled' must be pairs of names"),
        ({"disabled": [("l0",)]}, "'disabled' must be pairs of names"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        colliding_pairs(planar(3, 1.0), rods(3), **wrong)


def test_wrong_shapes_and_files():
    with pytest.raises(ArgumentError, match="'shapes' must be LinkShapes"):
        colliding_pairs(planar(3, 1.0), None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="belongs to body 3, but 'chain' has 3 bodies"):
        colliding_pairs(planar(3, 1.0), rods(4))
    with pytest.raises(ModelError):
        disabled_links("/no/such/file.srdf")
    with pytest.raises(ArgumentError, match="link1 and link2 are needed"):
        disabled_links('<robot><disable_collisions link1="a"/></robot>')


def test_robots_without_shapes_or_joints():
    none = LinkShapes(np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), ())
    assert len(colliding_pairs(planar(2, 1.0), none, samples=10)) == 0
    assert "0 pairs" in repr(colliding_pairs(planar(2, 1.0), none, samples=10))
    only = aj.load("<robot name='r'><link name='only'/></robot>")
    assert len(colliding_pairs(only, link_shapes(only), samples=10)) == 0


def test_pairs_are_kept_by_the_robot():
    robot, shapes = planar(3, 1.0), rods(3)
    assert colliding_pairs(robot, shapes, samples=50) is colliding_pairs(robot, shapes, samples=50)
    assert colliding_pairs(robot, shapes, samples=50, rng=None) is not colliding_pairs(robot, shapes, samples=50)
