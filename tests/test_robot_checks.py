"""No robot can be made, by `replace` or otherwise, that the algorithms would misread."""

import numpy as np
import pytest

from adjoint import robots
from adjoint.errors import ArgumentError, ModelError
from adjoint.lie import se3
from adjoint.model import Frame, Mimic, Robot
from adjoint.model.input_checks import motions, nearest_motions

PUMA = robots.puma560()
TREE = robots.random_tree(0, 11)  # every type of joint


def with_one(array, index, value):
    found = np.array(array)
    found[index] = value
    return found


MIRROR = np.diag([1.0, 1, -1, 1])


@pytest.mark.parametrize(
    "change, says",
    [
        ({"name": 3}, "a robot is called 3; its name must be text"),
        ({"body_names": "abcdef"}, "body_names is 'abcdef'; it must be a tuple"),
        ({"body_names": 6}, "body_names is 6"),
        ({"body_names": ("a", "b")}, "body_joint_names has 6 entries, it needs 2, one for each body"),
        ({"body_names": (*PUMA.body_names[:5], 6)}, "a frame is called 6; names are text, and not empty"),
        ({"body_names": (*PUMA.body_names[:5], "")}, "a frame is called ''"),
        ({"body_names": (*PUMA.body_names[:5], "tool")}, "a second frame of name 'tool'"),
        ({"base_name": "link3"}, "a second frame of name 'link3'; names must differ, and bodies are frames too"),
        ({"body_joint_names": ("j",) * 6}, "a second joint of name 'j'"),
        ({"joint_types": (*PUMA.joint_types[:5], "hinge")}, "joint_types has 'hinge'; there are revolute, continuous"),
        ({"joint_types": ("prismatic",) * 6}, "the screw of joint 'joint1' turns.*prismatic joint is"),
        ({"joint_types": ("helical",) * 6, "screws": np.tile(np.eye(6)[3], (6, 1))}, "joint1' does not turn, w = 0"),
        ({"screws": 2 * PUMA.screws}, r"the screw of joint 'joint1' has \|w\| = 2; it must be 1"),
        ({"screws": with_one(PUMA.screws, (3, slice(3, 6)), PUMA.screws[3, :3])}, "'joint4' has pitch 1 m/rad"),
        ({"screws": np.zeros((6, 6))}, "'joint1' does not turn"),
        ({"screws": with_one(PUMA.screws, (2, 1), np.inf)}, "screws contains NaN or infinity"),
        ({"placements": with_one(PUMA.placements, (2, 0, 3), np.nan)}, "placements contains NaN .*for body 'link3'"),
        ({"placements": 2 * PUMA.placements}, "the placement of body 'link1' is not a rigid motion"),
        ({"placements": PUMA.placements @ MIRROR}, "the placement of body 'link1' is not a rigid motion"),
        ({"inertias": with_one(PUMA.inertias, (4, 0), np.inf)}, "inertias contains NaN or infinity, for body 'link5'"),
        ({"gravity": (0, 0, np.nan)}, "gravity contains NaN"),
        ({"gravity": "abc"}, "gravity must be numbers, got 'abc'"),
        ({"gravity": None}, "gravity must be numbers"),
        ({"gravity": np.array([1j, 0, 0])}, "gravity must be numbers"),
        ({"gravity": 9.81}, r"gravity has shape \(\), it needs \(3,\)"),
        ({"lower": np.full(6, np.nan)}, "lower contains NaN; no limit is -inf or inf"),
        ({"effort_limit": np.full(6, np.nan)}, "effort_limit contains NaN"),
        ({"damping": np.full(6, np.inf)}, "damping contains NaN or infinity"),
        ({"parents": [-1, 0, 3, 2, 3, 4]}, "parents come before their children"),
        ({"parents": [-1, 0, 1, 2, 3, 4.5]}, "parents must be numbers, got"),
        (
            {"frames": (Frame("tool", 17, np.eye(4)),)},
            "frame 'tool' is fixed to body 17; bodies are 0 to 5, -1 the base",
        ),
        ({"frames": (Frame("tool", 0.5, np.eye(4)),)}, r"it must be a Frame\(name, number of the body, placement\)"),
        ({"frames": (("tool", 0),)}, r"frames has \('tool', 0\); it must be a Frame"),
        ({"frames": 3}, "frames is 3; it must be a tuple"),
        ({"frames": (Frame("tool", 0, np.eye(3)),)}, r"the placement of frame 'tool' has shape \(3, 3\), it needs"),
        ({"frames": (Frame("tool", 0, MIRROR),)}, "the placement of frame 'tool' is not a rigid motion"),
        ({"frames": (Frame("tool", 0, np.eye(4) * np.nan),)}, "the placement of frame 'tool' contains NaN"),
        ({"frames": (Frame("link2", 0, np.eye(4)),)}, "a second frame of name 'link2'"),
        ({"mimics": {3: Mimic(17)}}, "mimics has body 3 follow body 17; bodies are 0 to 5"),
        ({"mimics": {7: Mimic(1)}}, "body 7 follow body 1"),
        ({"mimics": {3: Mimic(3)}}, "body 3 mimics body 3, which is a mimic"),
        ({"mimics": {3: Mimic(2), 4: Mimic(3)}}, "body 4 mimics body 3, which is a mimic; name the one that leads it"),
        ({"mimics": {3: Mimic(2, np.nan)}}, r"mimics\[3\] = .* contains NaN"),
        ({"mimics": {3: 2}}, "mimics is {3: 2}; it must be {number of a body: Mimic"),
        ({"mimics": {3: (2, "x")}}, "it must be {number of a body: Mimic"),
        ({"mimics": ()}, "mimics is"),
    ],
)
def test_what_no_robot_is(change, says):
    with pytest.raises(ArgumentError, match=f"(robot 'puma560': )?.*{says}"):
        PUMA.replace(**change)


def several(kind: str) -> int:
    return TREE.joint_types.index(kind)


@pytest.mark.parametrize("kind", ["planar", "spherical", "free"])
def test_screws_of_joints_with_several_degrees_of_freedom(kind):
    i = several(kind)
    rows = slice(*TREE.layout.dof_start[i : i + 2])
    Q = se3.Ad.eager(se3.random(rng=0))
    TREE.replace(screws=with_one(TREE.screws, rows, TREE.screws[rows] @ Q.T))  # in another frame
    with pytest.raises(ArgumentError, match=f"joint '{TREE.body_joint_names[i]}' is not that of a {kind} joint"):
        TREE.replace(screws=with_one(TREE.screws, rows, 1.001 * TREE.screws[rows]))


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_quaternions_have_no_limits(kind):
    q = TREE.bodies[several(kind)].joint.q
    TREE.replace(lower=with_one(TREE.lower, slice(q.start, q.stop - 4), -1.0))  # x, y, z of a free joint have
    with pytest.raises(ArgumentError, match="has limits on its quaternion; they must be infinite"):
        TREE.replace(lower=with_one(TREE.lower, q.stop - 1, -1.0))


def test_only_joints_of_one_coordinate_mimic():
    i, k = several("planar"), several("revolute")
    for mimics in ({i: Mimic(k)}, {k: Mimic(i)}):
        with pytest.raises(ArgumentError, match="is planar; only joints of one coordinate mimic or are mimicked"):
            TREE.replace(mimics=mimics)


def test_lists_and_plain_tuples_are_the_same_robot():
    names = ("body_names", "body_joint_names", "joint_types", "parents")
    assert PUMA.replace(**{name: list(getattr(PUMA, name)) for name in names}) == PUMA
    assert PUMA.replace(frames=[tuple(frame) for frame in PUMA.frames]) == PUMA
    one = {"mimics": {3: (2, 1, 0)}, **{f: getattr(PUMA, f)[:5] for f in LIMITS}}
    assert PUMA.replace(**one) == PUMA.replace(**one | {"mimics": {3: Mimic(2)}})


LIMITS = ("lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature")


def test_no_bodies():
    none = robots.chain(0)
    assert none.replace(parents=[], placements=np.zeros((0, 4, 4))) == none


# --- motions ----------------------------------------------------------------------------------------------------------


def test_rough_rotations_become_rotations_and_exact_ones_stay():
    """Few digits: off by up to 1e-6, brought to the nearest rotation to rounding; nothing else changes a bit."""
    rng = np.random.default_rng(0)
    exact = se3.random(20, rng=rng)
    rough = exact.copy()
    rough[::2, :3, :3] += rng.uniform(-1, 1, (10, 3, 3)) * 1e-7
    T, bad = nearest_motions(rough)
    assert bad is None and np.array_equal(T[1::2], exact[1::2]) and np.array_equal(T[..., 3], rough[..., 3])
    R = T[:, :3, :3]
    np.testing.assert_allclose(R @ R.mT, np.tile(np.eye(3), (20, 1, 1)), rtol=0, atol=1e-15)
    U, _, Vt = np.linalg.svd(rough[:, :3, :3])  # the nearest rotation, by another way
    np.testing.assert_allclose(R, U @ Vt, rtol=0, atol=1e-14)


def test_a_robot_of_few_digits():
    rough = np.round(se3.random(6, rng=1), 7)
    robot = PUMA.replace(placements=rough, frames=(Frame("tool", 5, rough[0]),))
    for T in (*robot.placements, robot.frame("tool").placement):
        np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), rtol=0, atol=1e-15)
        assert not T.flags.writeable
    assert robot.replace(gravity=robot.gravity) == robot
    b = Robot.builder().link("base").link("a").joint("j", "revolute", "base", "a", rough[0]).build()
    np.testing.assert_array_equal(b.placements[0], robot.placements[0])


def test_the_motion_that_is_none_is_named():
    T = se3.random(4, rng=2)
    T[2, 0, 0] += 1e-5
    with pytest.raises(ModelError, match=r"links\[2\] is not a rigid motion"):
        motions(T, (4, 4, 4), "links")
    T = se3.random(4, rng=2)
    T[3] = T[3] @ MIRROR
    assert nearest_motions(T)[1] == 3
    assert nearest_motions(np.zeros((0, 4, 4)))[1] is None
