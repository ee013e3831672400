"""`Robot` and its builder: frozen data, identity, the tree they make of links and joints, and how they are shown."""

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.laws import check

from adjoint.errors import AdjointError, ArgumentError
from adjoint.lie import inertia, se3
from adjoint.model import JOINTS, Frame, Mimic, ModelError, Robot, Visual, Where

ROD = inertia.from_central.eager(1.5, np.array([0.2, 0.0, 0.1]), np.diag([0.01, 0.02, 0.02]))


def at(x=0.0, y=0.0, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def hand(**options) -> Robot:
    """An arm with two fingers, one of which mimics the other, and a camera."""
    b = Robot.builder("hand", **options).link("base", ROD).link("arm", ROD).link("palm", ROD).link("camera")
    b.link("thumb", ROD).link("finger", ROD)
    b.joint("shoulder", "revolute", "base", "arm", at(0, 0, 0.3), axis=(0, 1, 0), lower=-1, upper=2, effort=10)
    b.joint("wrist", "spherical", "arm", "palm", at(0.4))
    b.joint("mount", "fixed", "palm", "camera", at(0, 0, 0.1))
    b.joint("thumb joint", "prismatic", "palm", "thumb", at(0.1, 0.02), axis=(0, 1, 0), lower=0, upper=0.04)
    b.joint(
        "finger joint", "prismatic", "palm", "finger", at(0.1, -0.02), axis=(0, -1, 0), mimic=("thumb joint", 1, 0.01)
    )
    return b.frame("tip", "finger", at(0.05)).build()


# --- frozen -----------------------------------------------------------------------------------------------------------

COPIES = {
    "itself": lambda r: r,
    "pickled": lambda r: pickle.loads(pickle.dumps(r)),
    "copied": copy.copy,
    "deep copied": copy.deepcopy,
    "replaced": lambda r: r.replace(visuals=()),
}
every_copy = pytest.mark.parametrize("copied", list(COPIES.values()), ids=list(COPIES))


@every_copy
def test_nothing_can_be_changed(copied):
    robot = copied(hand())
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"
    with pytest.raises(TypeError):
        robot.mimics[0] = Mimic(1)
    body = robot.bodies[1]
    fields = [getattr(robot, f) for f in ("parents", "placements", "screws", "inertias", "lower", "upper", "gravity")]
    for array in [*fields, robot.frame("tip").placement, body.M, body.inertia, body.joint.S]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        body.M = np.eye(4)  # type: ignore[misc]


@every_copy
def test_copies_are_equal(copied):
    robot = hand()
    other = copied(robot)
    assert other == robot and hash(other) == hash(robot) and other.fingerprint == robot.fingerprint
    assert {robot: 1}[other] == 1
    assert str(other) == str(robot) and other.findings == robot.findings
    assert [l.name for l in other.links] == [l.name for l in robot.links]


def test_the_arrays_given_stay_the_callers():
    own, place = ROD.copy(), at(1)
    robot = Robot.builder().link("base").link("arm", own).joint("j", "revolute", "base", "arm", place).build()
    own[:], place[:] = 7, 7
    check(robot.inertias[0], ROD, units=0)
    check(robot.placements[0], at(1), units=0)
    gravity = np.array([0, 0, -1.6])
    moon = robot.replace(gravity=gravity)
    gravity[:] = 0
    assert moon.gravity[2] == -1.6


# --- identity ---------------------------------------------------------------------------------------------------------


def test_equal_robots_have_equal_fingerprints():
    assert hand() == hand() and hash(hand()) == hash(hand())
    assert hand() != "hand"
    numpy_numbers = hand().replace(mimics={np.int64(3): Mimic(np.int64(2), np.float64(1), np.float64(0.01))})
    assert numpy_numbers == hand()


@pytest.mark.slow
def test_the_fingerprint_is_the_same_in_every_process():
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_robot; print(test_robot.hand().fingerprint)"
    out = subprocess.run([sys.executable, "-c", code, str(__file__).rsplit("/", 1)[0]], capture_output=True, check=True)
    assert out.stdout.decode().strip() == hand().fingerprint


def changed(value):
    """The same kind of thing with one number a little different."""
    array = np.array(value, float)
    array.flat[array.size - 1] = np.nextafter(array.flat[array.size - 1], 1e9) if np.isfinite(array.flat[-1]) else 5.0
    return array


FIELDS = [
    "placements", "screws", "inertias", "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction",
    "armature", "gravity", "base_inertia",
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_every_number_counts(field):
    robot = hand()
    value = getattr(robot, field)
    after = value.copy() if field == "placements" else changed(value)
    if field == "placements":  # the last number is the 1 of [R p; 0 1]
        after[-1, 2, 3] = 1e-300
    assert robot.replace(**{field: after}) != robot
    assert robot.replace(**{field: getattr(robot, field)}) == robot


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"base_name": "floor"},
        {"parents": [-1, 0, 1, 2]},
        {"body_names": ("a", "b", "c", "d")},
        {"body_joint_names": ("a", "b", "c", "d")},
        {"joint_types": ("continuous", "spherical", "prismatic", "prismatic")},
        {"mimics": {3: Mimic(2, 1.0, 0.02)}},
        {"mimics": {3: Mimic(2, 2.0, 0.01)}},
        {"mimics": {3: Mimic(0, 1.0, 0.01)}},
        {"frames": ()},
        {"frames": (Frame("camera", 1, at(0, 0, 0.1)), Frame("tip", 3, at(0.06)))},
        {"frames": (Frame("camera", 1, at(0, 0, 0.1)), Frame("top", 3, at(0.05)))},
        {"frames": (Frame("camera", 2, at(0, 0, 0.1)), Frame("tip", 3, at(0.05)))},
    ],
)
def test_all_structure_counts(change):
    assert hand().replace(**change) != hand()


def test_what_is_drawn_or_said_does_not_count():
    robot = hand()
    assert robot.replace(visuals=(Visual("arm", at(), "sphere", (1.0,)),)) == robot
    assert robot.replace(links=(), findings=(), specs=()) == robot


def test_replace():
    robot = hand()
    moon = robot.replace(gravity=(0, 0, -1.62))
    assert moon.gravity.tolist() == [0, 0, -1.62] and robot.gravity.tolist() == [0, 0, -9.81]
    assert moon.placements is robot.placements and moon.links is robot.links  # shared
    assert robot.replace(inertias=2 * robot.inertias).links == ()  # they told of other numbers
    with pytest.raises(ArgumentError, match="no field 'gravty'; did you mean 'gravity'"):
        robot.replace(gravty=(0, 0, 0))
    np.testing.assert_array_equal(robot.replace(damping=0.5).damping, np.full(robot.nv, 0.5))  # one for all
    with pytest.raises(ArgumentError, match=r"robot 'hand': lower has shape \(2,\), it needs \(6,\)"):
        robot.replace(lower=[0, 0])
    with pytest.raises(ArgumentError, match="parents come before their children"):
        robot.replace(parents=[-1, 2, 1, 1])
    with pytest.raises(ArgumentError, match="or are -1"):
        robot.replace(parents=[-1, -2, 1, 1])


# --- looking things up ------------------------------------------------------------------------------------------------


def test_sizes_and_names():
    robot = hand()
    assert (robot.nq, robot.nv, robot.n_dofs) == (6, 5, 6)
    assert robot.joint_names == ("shoulder", "wrist", "thumb joint")
    assert robot.frame_names == ("base", "arm", "palm", "thumb", "finger", "camera", "tip")
    assert robot.mass == pytest.approx(6.0) and robot.base_inertia[0] == 1.5
    assert repr(robot) == "<Robot 'hand': 4 bodies, nq 6, nv 5>"


def test_bodies():
    bodies = hand().bodies
    assert [b.name for b in bodies] == ["arm", "palm", "thumb", "finger"]
    assert [b.parent for b in bodies] == [-1, 0, 1, 1]
    assert len(bodies) == 4 and bodies[-1].name == "finger" and [b.name for b in bodies[1:3]] == ["palm", "thumb"]
    assert bodies[1].joint.q == slice(1, 5) and bodies[1].joint.v == slice(1, 4)
    assert bodies[3].joint.q == bodies[2].joint.q and bodies[3].joint.mimic == Mimic(2, 1.0, 0.01)
    assert "quaternion" in bodies[1].joint.does
    with pytest.raises(IndexError, match="robot 'hand' has 4 bodies"):
        bodies[4]
    assert hand().path(3) == [0, 1, 3] and hand().path(-1) == []


def test_frames():
    robot = hand()
    for name, body, x in [("base", -1, 0.0), ("palm", 1, 0.0), ("tip", 3, 0.05)]:
        frame = robot.frame(name)
        assert (frame.name, frame.body) == (name, body)
        check(frame.placement, at(x), units=0)
    with pytest.raises(ArgumentError, match="robot 'hand' has no frame 'plam'; did you mean 'palm'"):
        robot.frame("plam")
    with pytest.raises(ArgumentError, match="no frame 'xyz'; there are base, arm, palm, thumb, finger, camera, tip"):
        robot.frame("xyz")
    with pytest.raises(ArgumentError, match="no frame 3"):
        robot.frame(3)  # type: ignore[arg-type]


def test_joints():
    joint = hand().joint("finger joint")
    assert joint.type == "prismatic" and joint.S.shape == (6, 1) and joint.mimic is not None
    with pytest.raises(ArgumentError, match="no joint 'wirst'; did you mean 'wrist'"):
        hand().joint("wirst")


def test_bodies_by_name():
    robot = hand()
    for i, name in enumerate(robot.body_names):
        body = robot.body(name)
        assert (body.index, body.name, body.joint.name) == (i, name, robot.body_joint_names[i])
    with pytest.raises(ArgumentError, match="robot 'hand' has no body 'plam'; did you mean 'palm'"):
        robot.body("plam")
    with pytest.raises(ArgumentError, match="no body 'tip'"):  # a frame, but no body
        robot.body("tip")
    with pytest.raises(ArgumentError, match="no body 3"):
        robot.body(3)  # type: ignore[arg-type]


# --- the tree ---------------------------------------------------------------------------------------------------------


def test_bodies_are_in_depth_first_order_whatever_the_order_given():
    b = Robot.builder()
    for name in ["d", "b", "root", "a", "c"]:
        b.link(name)
    for parent, child in [("b", "d"), ("root", "a"), ("a", "c"), ("root", "b")]:
        b.joint(f"{parent}{child}", "revolute", parent, child)
    robot = b.build()
    assert robot.body_names == ("a", "c", "b", "d") and robot.parents.tolist() == [-1, 0, -1, 2]


def test_a_free_base():
    robot = hand(base="free")
    assert robot.base_name == "world" and robot.body_names[0] == "base" and robot.joint_types[0] == "free"
    assert robot.body_joint_names[0] == "root_joint" and robot.nv == 11
    assert robot.mass == pytest.approx(7.5) and not np.any(robot.base_inertia)
    check(robot.screw(0), np.eye(6), units=0)
    taken = Robot.builder(base="free").link("world").link("a").joint("root_joint", "revolute", "world", "a").build()
    assert len(set(taken.frame_names)) == 3 and len(set(taken.body_joint_names)) == 2


def dense(T, a):
    """Ad(T)⁻ᵀ J Ad(T)⁻¹, by 6x6 matrices."""
    X = np.linalg.inv(se3.Ad.eager(T))
    return X.T @ inertia.matrix.eager(a) @ X


def test_fixed_joints_merge_inertias():
    """Masses, centres of mass and inertias of a chain of fixed links: the sum of dense congruences."""
    rng = np.random.default_rng(2)
    T = [se3.random(rng=rng) for _ in range(3)]
    parts = [inertia.from_central.eager(m, rng.standard_normal(3), np.diag([1, 2, 2.5])) for m in (1.0, 2.0, 3.0)]
    b = Robot.builder().link("base").link("a", parts[0]).link("b", parts[1]).link("none").link("c", parts[2])
    b.joint("j", "revolute", "base", "a", T[2])
    b.joint("ab", "fixed", "a", "b", T[0]).joint("bn", "fixed", "b", "none").joint("nc", "fixed", "none", "c", T[1])
    robot = b.build()
    expected = dense(np.eye(4), parts[0]) + dense(T[0], parts[1]) + dense(T[0] @ T[1], parts[2])
    check(inertia.matrix.eager(robot.inertias[0]), expected)
    assert robot.body_names == ("a",) and robot.mass == pytest.approx(6)
    check(robot.frame("c").placement, T[0] @ T[1])
    check(robot.placements[0], T[2], units=0)  # what is fixed behind a joint does not move it


def test_fixed_joints_before_a_joint_move_it():
    b = Robot.builder().link("base").link("mount", ROD).link("a", ROD)
    b.joint("f", "fixed", "base", "mount", at(0, 0, 1)).joint("j", "revolute", "mount", "a", at(1))
    robot = b.build()
    check(robot.placements[0], at(1, 0, 1), units=0)
    check(inertia.matrix.eager(robot.base_inertia), dense(at(0, 0, 1), ROD))
    check(robot.inertias[0], ROD, units=0)
    assert robot.parents.tolist() == [-1] and robot.frame("mount").body == -1


def test_universal_joints_become_two():
    b = Robot.builder().link("base").link("a", ROD)
    b.joint(
        "u", "universal", "base", "a", at(1), axis=(1, 0, 0), axis2=(0, 1, 0), lower=(-1, -2), upper=3, damping=(0.5, 1)
    )
    robot = b.build()
    assert robot.body_names == ("a.cross", "a") and robot.body_joint_names == ("u.1", "u.2")
    assert robot.joint_types == ("revolute", "revolute") and robot.parents.tolist() == [-1, 0]
    check(robot.placements, [at(1), np.eye(4)], units=0)
    check(robot.screws, np.eye(6)[:2], units=0)
    check(robot.inertias, [np.zeros(10), ROD], units=0)
    assert robot.lower.tolist() == [-1, -2] and robot.upper.tolist() == [3, 3] and robot.damping.tolist() == [0.5, 1]


def test_limits_are_kept_in_the_order_of_q_and_v():
    b = Robot.builder().link("base").link("a").link("b")
    b.joint("p", "planar", "base", "a", lower=(-1, -2, -3), upper=(1, 2, 3), velocity=(4, 5, 6), effort=9)
    b.joint("j", "revolute", "a", "b", lower=-0.5, friction=0.1, armature=0.2)
    robot = b.build()
    assert robot.lower.tolist() == [-1, -2, -3, -0.5] and robot.upper.tolist() == [1, 2, 3, np.inf]
    assert robot.velocity_limit.tolist() == [4, 5, 6, np.inf] and robot.effort_limit.tolist() == [9, 9, 9, np.inf]
    assert robot.friction.tolist() == [0, 0, 0, 0.1] and robot.armature.tolist() == [0, 0, 0, 0.2]


def test_screws_are_scaled_to_radians_or_metres():
    def build(S, kind="screw"):
        b = Robot.builder().link("base").link("a")
        return b.joint("j", kind, "base", "a", screw=np.array(S, float)).build().screws[0]

    check(build([0, 0, 2, 0.4, 0, 0]), [0, 0, 1, 0.2, 0, 0], units=1)
    check(build([0, 0, 0, 0, 5, 0]), [0, 0, 0, 0, 1, 0], units=1)
    check(build([[0, 0, 1, 0, 3, 0]], "revolute"), [0, 0, 1, 0, 3, 0], units=0)


# --- mimics -----------------------------------------------------------------------------------------------------------


def chain(*mimics, types=None):
    """Bodies 0, 1, 2, ... in a row, `mimics[i]` of joint i (None: it leads)."""
    b = Robot.builder("chain").link("0")
    for i, mimic in enumerate(mimics):
        kind = types[i] if types else "revolute"
        b.link(f"{i + 1}").joint(f"j{i}", kind, f"{i}", f"{i + 1}", mimic=mimic, where=Where("chain.urdf", i + 1))
    return b.build()


def test_mimics_of_mimics_are_followed_to_their_leader():
    """q_0 = 2 q_1 + 3, q_1 = -q_2 + 5: q_0 = -2 q_2 + 13, in any order of the tree."""
    robot = chain(("j1", 2.0, 3.0), ("j2", -1.0, 5.0), None, ("j0", 0.5, 0.0))
    assert robot.mimics == {0: Mimic(2, -2.0, 13.0), 1: Mimic(2, -1.0, 5.0), 3: Mimic(2, -1.0, 6.5)}
    assert robot.joint_names == ("j2",) and robot.nv == robot.nq == 1 and robot.n_dofs == 4
    assert all(b.joint.q == slice(0, 1) and b.joint.v == slice(0, 1) for b in robot.bodies)


def test_a_prismatic_joint_may_mimic_a_revolute_one():
    assert chain(None, ("j0", 0.02, 0.0), types=["revolute", "prismatic"]).mimics == {1: Mimic(0, 0.02, 0.0)}


def test_limits_of_mimics_are_not_those_of_the_robot():
    robot = hand()
    assert robot.lower.shape == (6,) and robot.lower[-1] == 0 and robot.upper[-1] == 0.04


@pytest.mark.parametrize(
    "mimics, types, says",
    [
        ([("j0", 1, 0)], None, r"chain.urdf:1: joint 'j0' mimics itself"),
        ([("j1", 1, 0), ("j0", 1, 0), None], None, r"joint 'j0' mimics itself, through j0, j1"),
        ([None, ("j9", 1, 0)], None, r"chain.urdf:2: joint 'j1' mimics joint 'j9', which does not exist"),
        ([None, ("j0", 1, 0)], ["fixed", "revolute"], r"mimics joint 'j0', which is fixed; it must be a movable joint"),
        ([None, ("j0", 1, 0)], ["spherical", "revolute"], r"chain.urdf:1: joint 'j0' is spherical; only joints with"),
        ([None, ("j0", 1, 0)], ["revolute", "planar"], r"chain.urdf:2: joint 'j1' is planar; only joints with one"),
        ([None, ("j0", np.nan, 0)], None, r"joint 'j1'.*NaN"),
    ],
)  # fmt: skip
def test_impossible_mimics(mimics, types, says):
    with pytest.raises(ModelError, match=says):
        chain(*mimics, types=types)


# --- what is no robot -------------------------------------------------------------------------------------------------

HERE = Where("bad.urdf", 7)


def two():
    return Robot.builder("bad").link("base").link("a")


def joint(kind="revolute", **options):
    """Two links and a joint, with the mistake to be found in `options`."""
    return two().joint("j", kind, "base", "a", where=HERE, **options)


def bent():
    T = np.eye(4)
    T[0, 1] = 0.1
    return T


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: two().link("a", where=HERE), "bad.urdf:7: link 'a': a second link of this name"),
        (lambda: joint().joint("j", "fixed", "base", "a", where=HERE), "bad.urdf:7: joint 'j': a second joint"),
        (
            lambda: two().link("b", [1, 2], where=HERE),
            r"bad.urdf:7: link 'b': inertia must have shape \(10,\)",
        ),
        (lambda: two().link("b", [np.nan] * 10), "link 'b': inertia contains NaN or infinity"),
        (lambda: two().link("b", "heavy"), r"link 'b': inertia must be numbers of shape \(10,\), got 'heavy'"),
        (lambda: joint(placement=np.eye(3)), r"'j': placement must have shape \(4, 4\)"),
        (lambda: joint(placement=bent()), "'j': placement is not a rigid motion"),
        (lambda: joint(placement=np.diag([1, 1, -1, 1])), "is not a rigid motion"),
        (lambda: joint(axis=(0, 0, 0)), "bad.urdf:7: joint 'j': axis has length 0"),
        (lambda: joint("universal", axis2=(0, 0, 0)), "joint 'j': axis2 has length 0"),
        (lambda: joint(axis=(0, 1)), "joint 'j': axis must"),
        (lambda: joint(axes=(0, 0, 1)), "bad.urdf:7: joint 'j': .*'axes'"),
        (lambda: joint("screw").build(), "joint 'j': screw is missing"),
        (lambda: joint("screw", screw=np.zeros(6)).build(), "joint 'j': screw is zero"),
        (lambda: joint("screw", screw=np.ones(5)).build(), r"joint 'j': screw must have shape \(1, 6\)"),
        (lambda: joint("planar", screw=np.ones(6)).build(), r"screw must have shape \(3, 6\)"),
        (lambda: joint("planar", screw=np.ones((3, 6))).build(), "joint 'j': screw is not that of a planar joint"),
        (lambda: joint("spherical", screw=2 * np.eye(6)[:3]).build(), "screw is not that of a spherical joint"),
        (lambda: joint("spherical", screw=np.diag([1, 1, -1, 1, 1, 1.0])[:3]).build(), "not that of a spherical joint"),
        (lambda: joint("free", screw=np.eye(6)[::-1]).build(), "bad.urdf:7: joint 'j': screw is not that of a free"),
        (lambda: joint("planar", lower=(1, 2)).build(), "bad.urdf:7: joint 'j': lower must be one"),
        (lambda: joint("universal", lower=(1, 2, 3)).build(), "bad.urdf:7: joint 'j': lower must be one"),
        (
            lambda: joint("universal", mimic=("k", 1, 0)).build(),
            "joint 'j' is universal; only joints with one coordinate mimic",
        ),
        (lambda: joint(upper=np.nan).build(), "joint 'j': upper"),
        (lambda: two().joint("j", "revolute", "base", "b").build(), "joint 'j': its child link 'b' does not exist"),
        (lambda: two().joint("j", "revolute", "b", "a").build(), "joint 'j': its parent link 'b' does not exist"),
        (lambda: two().build(), "robot 'bad' has 2 roots: base, a; one link, and only one"),
        (lambda: Robot.builder("bad").build(), "robot 'bad' has no links"),
        (lambda: joint().joint("k", "revolute", "a", "base").build(), "no root: its joints form a cycle"),
        (
            lambda: two().link("b").joint("j", "revolute", "b", "a").joint("k", "revolute", "a", "b").build(),
            "links a, b form a cycle apart from the root",
        ),
        (
            lambda: joint().joint("k", "fixed", "base", "a").build(),
            "joint 'k': link 'a' is already the child of joint 'j'; closed loops are not a tree",
        ),
        (lambda: joint().frame("f", "b").build(), "frame 'f': its link 'b' does not exist"),
        (lambda: joint().frame("a", "a").build(), "frame 'a': a second frame of this name"),
        (lambda: two().frame("f", "a", np.ones((4, 4))), "frame 'f'.*rigid"),
        (lambda: Robot.builder("bad", base="floating").link("a").build(), "base is 'floating'; it must be 'fixed' or"),
        (lambda: Robot.builder("bad", gravity=(0, 1)).link("a").build(), r"'bad': gravity must have shape \(3,\)"),
    ],
)
def test_the_builder_says_what_is_wrong(make, says):
    with pytest.raises(ModelError, match=says):
        make()


# --- shown ------------------------------------------------------------------------------------------------------------


def test_print():
    assert str(hand()).splitlines() == [
        "hand: 4 bodies, 3 joints (nq 6, nv 5), 7 frames, 6 kg moving",
        "body       joint         moves         limits [rad, m]        mass [kg]  frames",
        "base                     base                                 1.5",
        "arm        shoulder      revolute y    -1 .. 2                1.5",
        "palm       wrist         spherical                            1.5        camera",
        "├─ thumb   thumb joint   prismatic y   0 .. 0.04              1.5",
        "└─ finger  finger joint  prismatic -y  1 × thumb joint +0.01  1.5        tip",
    ]


def column(robot: Robot, header="joint") -> list[str]:
    """The tree as drawn."""
    _, head, *rows = str(robot).splitlines()
    return [row[: head.index(header)].rstrip() for row in rows]


def test_branches_are_drawn_and_chains_are_not():
    b = Robot.builder().link("0")
    for path in ["01", "012", "013", "0134", "01345", "014", "06", "067"]:  # parent and child are the last two letters
        b.link(path[-1] + path[-2]).joint(
            path, "revolute", path[-2] + path[-3] if len(path) > 2 else "0", path[-1] + path[-2]
        )
    assert column(b.build()) == [
        "0",
        "├─ 10",
        "│  ├─ 21",
        "│  ├─ 31",
        "│  │  43",
        "│  │  54",
        "│  └─ 41",
        "└─ 60",
        "   76",
    ]


def test_axes_and_pitch_are_shown():
    b = Robot.builder().link("0")
    kinds = {
        "revolute": {"axis": (1, 1, 0)},
        "helical": {"axis": (0, 0, -1), "pitch": 0.2},
        "free": {},
        "prismatic": {},
    }
    kinds["screw"] = {"screw": np.array([0, 1, 0, 0.5, 0, 0])}
    for k, (kind, options) in enumerate(kinds.items()):
        b.link(str(k + 1)).joint(kind, kind, str(k), str(k + 1), **options)
    text = str(b.build())
    for shown in ["revolute (0.707 0.707 0)", "helical -z, pitch 0.2", "prismatic z", "screw y, off origin"]:
        assert shown in text


def test_long_names_and_long_robots_are_cut():
    b = Robot.builder("long").link("0")
    for k in range(250):
        b.link(f"{k + 1}").joint("a_very_long_name_of_a_joint_" * 3 + str(k), "revolute", str(k), str(k + 1))
    for k in range(9):
        b.frame(f"a_frame_with_a_name_{k}", "1")
    lines = str(b.build()).splitlines()
    assert max(map(len, lines)) <= 120 and lines[-1] == "... and 50 more bodies" and len(lines) == 204
    assert lines[3].split() == [
        "1",
        "a_very_long_na…_of_a_joint_0",
        "revolute",
        "z",
        "0",
        "a_frame_with_a_name_0,",
        "+8",
    ]


def test_html():
    b = Robot.builder("<b>&co").link("base").link("<script>", ROD).joint("a & b", "revolute", "base", "<script>")
    page = b.build()._repr_html_()
    assert "&lt;b&gt;&amp;co" in page and "&lt;script&gt;" in page and "a &amp; b" in page and "<script>" not in page
    assert page.count("<tr>") == 3


# --- any tree ---------------------------------------------------------------------------------------------------------


@st.composite
def trees(draw):
    """(builder, {link: parent link}): random trees with every type of joint, links added in any order."""
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    parents = {f"L{i}": f"L{draw(st.integers(0, i - 1))}" for i in range(1, n)}
    builder = Robot.builder("random", base=draw(st.sampled_from(["fixed", "free"])))
    for name in draw(st.permutations([f"L{i}" for i in range(n)])):
        builder.link(name, inertia.from_central.eager(rng.uniform(0.1, 1), rng.standard_normal(3), np.eye(3)))
    movable: list[str] = []
    for child in draw(st.permutations(list(parents))):
        kind = draw(st.sampled_from([*JOINTS, "universal", "fixed"]))
        options = {"screw": rng.standard_normal(6)} if kind == "screw" else {}
        if kind == "revolute" and movable and draw(st.booleans()):
            options = {"mimic": (draw(st.sampled_from(movable)), 2.0, 0.1)}
        builder.joint(f"J{child}", kind, parents[child], child, se3.random(rng=rng), **options)
        movable += [f"J{child}"] * (kind in ("revolute", "prismatic", "continuous"))
    return builder, parents


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(trees())
def test_any_tree(tree):
    """Sizes agree, parents come first, mass is kept, names are unique, and every link is where its joints put it."""
    builder, parents = tree
    robot = builder.build()
    n = len(robot.body_names)
    assert all(p < i for i, p in enumerate(robot.parents)) and len(robot.screws) == robot.n_dofs
    leaders = [b for b in robot.bodies if b.joint.mimic is None]
    assert robot.nq == sum(JOINTS[b.joint.type].nq for b in leaders) == len(robot.lower)
    assert robot.nv == sum(JOINTS[b.joint.type].nv for b in leaders) == len(robot.damping)
    assert [b.joint.v.start for b in leaders] == np.cumsum([0, *(JOINTS[b.joint.type].nv for b in leaders)])[
        :-1
    ].tolist()
    assert all(m.source not in robot.mimics for m in robot.mimics.values())
    assert len(set(robot.frame_names)) == len(robot.frame_names) == 1 + n + len(robot.frames)
    total = sum(l.inertia[0] for l in robot.links)
    assert robot.mass + robot.base_inertia[0] == pytest.approx(total)
    home = {-1: np.eye(4)}
    for body in robot.bodies:
        home[body.index] = home[body.parent] @ body.M

    def place(link: str) -> np.ndarray:
        above = place(parents[link]) if link in parents else np.eye(4)
        return above @ builder.stated_joints[f"J{link}"].placement if link in parents else above

    for link in robot.links:
        frame = robot.frame(link.name)
        check(home[frame.body] @ frame.placement, place(link.name))
    assert robot == builder.build() == pickle.loads(pickle.dumps(robot))
    # every body has its line, the longest name its room
    assert [row.lstrip("│├└─ ") for row in column(robot)] == [robot.base_name, *robot.body_names]


def test_errors_are_the_librarys():
    assert issubclass(ModelError, AdjointError) and issubclass(ModelError, ValueError)


def test_a_leader_feels_what_its_followers_resist_with():
    """v_follower = k v: power is k² of damping and armature, |k| of dry friction; chains of mimics multiply."""
    builder = Robot.builder().link("base")
    for name in "abc":
        builder.link(name, inertia.sphere(1.0, 0.1))
    own = {"damping": 0.3, "friction": 0.2, "armature": 0.1}
    builder.joint("j_a", "revolute", "base", "a", **own)
    builder.joint("j_b", "revolute", "a", "b", mimic=("j_a", -2.0, 0.5), **own)
    robot = builder.joint("j_c", "prismatic", "b", "c", mimic=("j_b", 3.0, 0.0), **own).build()
    squares, sizes = 1 + 4 + 36, 1 + 2 + 6
    assert robot.damping == pytest.approx([0.3 * squares]) and robot.armature == pytest.approx([0.1 * squares])
    assert robot.friction == pytest.approx([0.2 * sizes])


def test_the_joint_with_a_bad_limit_is_blamed():
    builder = Robot.builder().link("base").link("a").link("b")
    builder.joint("good", "planar", "base", "a", lower=(-1, -1, -1), upper=(1, 1, 1))
    with pytest.raises(ModelError, match="joint 'bad': damping"):
        builder.joint("bad", "revolute", "a", "b", damping=float("nan")).build()


# --- joints as they are given -----------------------------------------------------------------------------------------

UP, SLIDE, HELIX = [0, 0, 1, 0, 0.2, 0], [0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0.5]


@pytest.mark.parametrize(
    "make, says",
    [
        # what the type has not
        (
            lambda: joint(pitch=0.1),
            "bad.urdf:7: joint 'j' is revolute, which has no pitch; its options are axis, screw",
        ),
        (lambda: joint("prismatic", pitch=0.1), "is prismatic, which has no pitch"),
        (lambda: joint("universal", screw=UP), "is universal, which has no screw; its options are axis, axis2, mimic"),
        (lambda: joint(axis2=(1, 0, 0)), "is revolute, which has no axis2"),
        (lambda: joint("free", axis=(1, 0, 0)), "is free, which has no axis"),
        (lambda: joint("fixed", mimic="k"), "is fixed, which has no mimic; its options are none"),
        (lambda: joint("fixed", lower=-1), "is fixed, which has no lower"),
        (lambda: joint("continuous", upper=1), "is continuous, which has no upper"),
        (lambda: joint("spherical", lower=-1), "is spherical, which has no lower"),
        (lambda: joint(screw=UP, axis=(0, 0, 1)), "give its screw, or its axis and pitch, not both"),
        # screws of other types
        (lambda: joint(screw=HELIX).build(), "joint 'j': screw has pitch 0.5 m/rad; with pitch a joint is helical"),
        (lambda: joint("continuous", screw=HELIX).build(), "is helical, not continuous"),
        (lambda: joint(screw=SLIDE).build(), "bad.urdf:7: joint 'j': screw does not turn, w = 0; that of a revolute"),
        (lambda: joint("helical", screw=SLIDE).build(), "does not turn"),
        (
            lambda: joint("prismatic", screw=UP).build(),
            r"screw turns, w = \[0.0, 0.0, 1.0\]; that of a prismatic joint",
        ),
        (lambda: joint("screw", screw=[1e-300, 0, 0, 0, 0, 1]).build(), r"screw has \|w\| = "),
        (lambda: joint("screw", screw=[[0, 0, 1], [0, 0]]).build(), r"screw must be numbers of shape \(1, 6\)"),
        (lambda: joint("screw", screw="up").build(), "screw must be numbers of shape"),
        # numbers
        (lambda: joint("helical", pitch=np.nan), "bad.urdf:7: joint 'j': pitch contains NaN"),
        (lambda: joint("helical", pitch="x"), "joint 'j': pitch must be a number, got 'x'"),
        (lambda: joint("helical", pitch=(1, 2)), r"joint 'j': pitch must have shape \(\)"),
        (
            lambda: joint(mimic=("k", "x", 0)),
            r"joint 'j': mimic is \('k', 'x', 0\); it is a joint's name, or \(name, mul",
        ),
        (lambda: joint(mimic=()), r"mimic is \(\); it is a joint's name"),
        (lambda: joint(mimic=3), "mimic is 3; it is a joint's name"),
        (lambda: joint(mimic=("k", 1, 2, 3)), "it is a joint's name"),
        (lambda: joint(lower="down").build(), "joint 'j': lower must be one number, or 1 of them, got 'down'"),
        (lambda: joint("free", lower=-1).build(), "joint 'j' has limits on its quaternion"),
        (lambda: joint("universal", axis2=(0, 0, -2)).build(), "'j' is universal, yet its axis and axis2 are parallel"),
        # names
        (lambda: two().link(3), "a link is called 3; names are text, and not empty"),
        (lambda: two().link(""), "a link is called ''"),
        (lambda: two().joint("", "fixed", "base", "a"), "a joint is called ''"),
        (lambda: joint().frame(None, "a"), "a frame is called None"),
        (lambda: two().joint("k", "revolute", "a", "a").build(), "joint 'k' joins link 'a' to itself"),
        # words of others
        (lambda: joint("hinge"), "unknown type 'hinge'; there are .*did you mean 'revolute'"),
        (lambda: joint("ball"), "did you mean 'spherical'"),
        (lambda: joint("floating"), "did you mean 'free'"),
        (lambda: joint("rubber"), r"unknown type 'rubber'; there are revolute, .*, fixed$"),
        (lambda: joint(axi=(0, 0, 1)), "bad.urdf:7: joint 'j': no option 'axi'; there are axis, axis2, pitch, screw"),
        (lambda: joint(limits=(-1, 1)), "no option 'limits'; there are .*lower, upper"),
        (lambda: joint(mass=1), "no option 'mass'"),
    ],
)
def test_joints_that_contradict_themselves(make, says):
    with pytest.raises((ModelError, ArgumentError), match=says):
        make()


def test_mimics_may_be_given_shortly():
    full = chain(None, ("j0", 1.0, 0.0), ("j0", 2.0, 0.0))
    assert chain(None, "j0", ("j0", 2)) == full == chain(None, ("j0",), ["j0", 2.0])


def test_one_half_of_a_universal_joint_can_be_mimicked():
    def build(leader):
        b = two().link("b").joint("u", "universal", "base", "a")
        return b.joint("j", "revolute", "a", "b", mimic=leader).build()

    assert build("u.2").mimics == {2: Mimic(1)}
    with pytest.raises(ModelError, match=r"joint 'u', which is universal, two joints in one; name 'u\.1' or 'u\.2'"):
        build("u")


@pytest.mark.parametrize(
    "make, says",
    [
        (
            lambda b: b.joint("f", "fixed", "base", "a", at(1.7e308)).joint("g", "fixed", "a", "b", at(1.7e308)),
            "frame 'b'",
        ),
        (
            lambda b: (
                b.joint("f", "fixed", "base", "a", at(1.7e308))
                .joint("g", "fixed", "base", "b")
                .frame("t", "a", at(1.7e308))
            ),
            "frame 't'",
        ),
        (lambda b: b.joint("j", "revolute", "base", "a").joint("f", "fixed", "a", "b"), "body 'a': its inertia"),
        (lambda b: b.joint("f", "fixed", "base", "a").joint("g", "fixed", "a", "b"), "body 'base': its inertia"),
        (
            lambda b: b.joint("j", "revolute", "base", "a").joint(
                "k", "revolute", "base", "b", mimic=("j", 1e200), damping=1
            ),
            "joint 'j': its damping, friction or armature",
        ),
        (
            lambda b: b.joint("j", "free", "base", "a", damping=np.inf).joint("f", "fixed", "base", "b"),
            "joint 'j': its damping",
        ),
    ],
)
def test_sums_and_products_that_overflow(make, says):
    heavy = np.array([1.7e308, *np.zeros(9)]) if "inertia" in says else None
    with pytest.raises(ModelError, match=f"{says}.* is too large: it overflows"):
        make(Robot.builder().link("base").link("a", heavy).link("b", heavy)).build()


def test_limits_of_a_joint():
    robot = hand()
    shoulder, wrist, finger = (robot.joint(name) for name in ("shoulder", "wrist", "finger joint"))
    assert (shoulder.lower, shoulder.upper, shoulder.effort_limit) == ([-1], [2], [10])
    assert shoulder.velocity_limit.tolist() == [np.inf]
    assert wrist.lower.shape == (4,) and wrist.effort_limit.shape == (3,)
    assert (finger.lower, finger.upper) == ([0], [0.04])  # its leader's


def test_one_body_is_a_body():
    robot = two().joint("j", "revolute", "base", "a").build()
    assert repr(robot) == "<Robot 'bad': 1 body, nq 1, nv 1>"
    assert str(robot).splitlines()[0] == "bad: 1 body, 1 joint (nq 1, nv 1), 2 frames, 0 kg moving"


@pytest.mark.parametrize("made", [lambda r: r, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_nobody_can_make_its_arrays_writable_again(made):
    """Neither an array nor a view of it: the hash, and code compiled for the numbers, would be stale."""
    robot = made(hand())
    before, hash_before = robot.inertias.copy(), hash(robot)
    own = [x for x in vars(robot).values() if isinstance(x, np.ndarray)]
    own += [f.placement for f in robot.frames] + [robot.screw(1), robot.bodies[0].M, robot.bodies[0].joint.S]
    for array in own:
        for x in (array, array.view(), array.reshape(-1), array[:1], array.T):
            assert not x.flags.writeable and x.flags.aligned
            with pytest.raises(ValueError, match="WRITEABLE"):
                x.flags.writeable = True
    assert np.array_equal(robot.inertias, before) and hash(robot) == hash_before
    changed = robot.replace(gravity=(0, 0, 0))
    assert changed.inertias is robot.inertias and changed.frames[0].placement is robot.frames[0].placement


def test_arrays_that_were_given_stay_the_callers():
    given = np.zeros(hand().nv)
    given.flags.writeable = False
    robot = hand().replace(damping=given)
    given.flags.writeable = True
    given += 1
    assert not robot.damping.any()
