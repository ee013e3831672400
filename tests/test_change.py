"""Robots from robots: locked joints, frames and loads more. The whole robot, its joints at rest, is the law."""

import functools

import numpy as np
import pytest
from support.robots import urdf
from support.trees import close, dense_mass_matrix, tree

import adjoint as aj
from adjoint import kernel, robots, static
from adjoint.errors import AdjointError, ArgumentError
from adjoint.lie import inertia, se3
from adjoint.model import Robot


def lock_some(robot: Robot, seed: int, share: float = 0.5):
    """(locked robot, q of the whole one, what of q stays, what of v stays): some joints locked at a random q."""
    rng = np.random.default_rng(seed)
    q = aj.random_configuration(robot, rng=rng)
    joints = [robot.joint(name) for name in robot.joint_names]
    held = [joint for joint in joints if rng.random() < share]
    values = {joint.name: q[joint.q] if joint.q.stop - joint.q.start > 1 else q[joint.q][0] for joint in held}
    in_q, in_v = (
        np.delete(np.arange(n), np.concatenate([np.zeros(0, int), *(np.r_[getattr(j, part)] for j in held)]))
        for part, n in (("q", robot.nq), ("v", robot.nv))
    )
    return robot.locked(values), q, in_q, in_v


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_locked_robot_is_the_whole_one_at_rest_there(seed, share):
    """Every frame where it was, and the mass matrix and gravity torque without the locked rows and columns."""
    robot = tree(seed)
    small, q, in_q, in_v = lock_some(robot, seed, share)
    assert (small.nq, small.nv) == (len(in_q), len(in_v))
    assert set(small.frame_names) == set(robot.frame_names) and set(small.joint_names) <= set(robot.joint_names)
    for name in robot.frame_names:
        T = aj.forward_kinematics.eager(robot, q, name)
        np.testing.assert_allclose(aj.forward_kinematics.eager(small, q[in_q], name), T, rtol=0, atol=1e-13)
    assert small.mass + small.base_inertia[0] == pytest.approx(robot.mass + robot.base_inertia[0])
    if small.nv:
        close(dense_mass_matrix(small, q[in_q]), dense_mass_matrix(robot, q)[np.ix_(in_v, in_v)], 1e-12)
        phi = aj.gravity_torque.eager(robot, q)
        np.testing.assert_allclose(
            aj.gravity_torque.eager(small, q[in_q]), phi[in_v], rtol=0, atol=1e-12 * np.abs(phi).max()
        )
    for field, kept in [
        ("lower", in_q),
        ("upper", in_q),
        ("damping", in_v),
        ("armature", in_v),
        ("effort_limit", in_v),
    ]:
        np.testing.assert_array_equal(getattr(small, field), getattr(robot, field)[kept])
    assert aj.check(small).robot == robot.name and str(small)


def test_velocities_and_forces_of_a_locked_robot():
    """Inverse dynamics with v = a = 0 at the locked joints."""
    robot = tree(1)
    small, q, in_q, in_v = lock_some(robot, 5)
    rng = np.random.default_rng(0)
    v, a = np.zeros((2, robot.nv))
    v[in_v], a[in_v] = rng.normal(size=(2, len(in_v)))
    tau = aj.inverse_dynamics.eager(robot, q, v, a)
    close(aj.inverse_dynamics.eager(small, q[in_q], v[in_v], a[in_v]), tau[in_v], 1e-12)


def test_locking_nothing_and_twice():
    robot = tree(0)
    assert robot.locked({}) == robot
    puma = robots.puma560()
    once, twice = puma.locked({"joint2": 0.3, "joint5": -0.2}), puma.locked({"joint5": -0.2}).locked({"joint2": 0.3})
    assert once.frame_names[:5] == ("base", "link1", "link3", "link4", "link6")
    np.testing.assert_allclose(once.placements, twice.placements, rtol=0, atol=1e-15)
    np.testing.assert_allclose(once.inertias, twice.inertias, rtol=0, atol=1e-14)


@functools.cache
def hand() -> Robot:
    """A palm, a thumb, and two fingers that follow it or each other."""
    b = Robot.builder("hand", base="free").link("palm", inertia.sphere.eager(1.0, 0.1))
    for name, mimic in [("thumb", None), ("index", ("thumb joint", -2.0, 0.1)), ("ring", ("index joint", 0.5, 0.0))]:
        b.link(name, inertia.sphere.eager(0.1, 0.02))
        b.joint(f"{name} joint", "revolute", "palm", name, se3.random(rng=len(name)), mimic=mimic)
    return b.build()


def test_followers_are_locked_with_their_leader():
    robot = hand()
    small = robot.locked({"thumb joint": 0.4})
    assert small.joint_names == ("root_joint",) and small.mimics == {} and small.body_names == ("palm",)
    q = aj.random_configuration(robot, rng=0)
    q[7] = 0.4
    for name in ("thumb", "index", "ring"):
        T = aj.forward_kinematics.eager(robot, q, name)
        np.testing.assert_allclose(aj.forward_kinematics.eager(small, q[:7], name), T, rtol=0, atol=1e-14)


def test_a_free_base_becomes_fixed():
    robot, pose = hand(), aj.random_configuration(hand(), rng=1)[:7]
    fixed = robot.locked({"root_joint": pose})
    assert fixed.base_name == "world" and fixed.nv == 1 and fixed.frame("palm").body == -1
    np.testing.assert_allclose(fixed.frame("palm").placement, se3.from_xyz_quat_wxyz.eager(pose), rtol=0, atol=1e-15)
    assert [m.source for m in fixed.mimics.values()] == [0, 0]


@pytest.mark.parametrize(
    "values, says",
    [
        ({"thum joint": 0.0}, "no joint 'thum joint'; did you mean 'thumb joint'"),
        ({"ring joint": 0.0}, "locked: joint 'ring joint' follows joint 'thumb joint'; lock that one"),
        ({"thumb joint": [0.1, 0.2]}, r"locked: joint 'thumb joint' must have shape \(1,\), got \(2,\)"),
        ({"thumb joint": "open"}, "locked: joint 'thumb joint' must be numbers"),
        ({"thumb joint": np.nan}, "locked: joint 'thumb joint' contains NaN"),
        ({"root_joint": 0.0}, r"'root_joint' must have shape \(7,\)"),
        ({"root_joint": np.zeros(7)}, "the quaternion of joint 'root_joint' has length 0; it must be 1"),
        ("thumb joint", "give {joint name: value}, got 'thumb joint'"),
    ],
)
def test_what_cannot_be_locked(values, says):
    with pytest.raises(AdjointError, match=says):
        hand().locked(values)


# --- frames and loads -------------------------------------------------------------------------------------------------


def test_a_frame_more():
    robot, T = tree(0), se3.random(rng=0)
    frames = ("tool", robot.body_names[3], robot.base_name)
    q = aj.random_configuration(robot, rng=0)
    for at in frames:
        more = robot.with_frame("camera", at, T)
        assert more.frame_names == (*robot.frame_names, "camera") and more.links is robot.links
        want = aj.forward_kinematics.eager(robot, q, at) @ T
        np.testing.assert_allclose(aj.forward_kinematics.eager(more, q, "camera"), want, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(robot.with_frame("eye", "tool").frame("eye").placement, robot.frame("tool").placement)
    with pytest.raises(ArgumentError, match="a second frame of name 'tool'"):
        robot.with_frame("tool", "tool")
    with pytest.raises(ArgumentError, match="no frame 'tol'; did you mean 'tool'"):
        robot.with_frame("camera", "tol")
    with pytest.raises(AdjointError, match="with_frame: placement of 'camera' is not a rigid motion"):
        robot.with_frame("camera", "tool", 2 * np.eye(4))


def test_a_load_is_a_link_behind_a_fixed_joint():
    load = inertia.from_central.eager(2.0, np.array([0.1, 0.2, -0.1]), np.diag([0.1, 0.2, 0.25]))
    T = se3.random(rng=3)

    def arm(loaded: bool) -> Robot:
        b = Robot.builder("arm").link("base").link("a", inertia.sphere.eager(1.0, 0.1)).link("hand", load * loaded)
        return b.joint("j", "revolute", "base", "a").joint("f", "fixed", "a", "hand", T).build()

    loaded = arm(False).with_payload("hand", load)
    np.testing.assert_allclose(loaded.inertias, arm(True).inertias, rtol=0, atol=1e-15)
    assert loaded.mass == 3.0 and loaded.body_names == ("a",) and loaded.links[-1].name == "hand.payload"
    based = arm(False).with_payload("base", load)
    np.testing.assert_allclose(based.base_inertia, load, rtol=0, atol=1e-16)
    assert based.mass == 1.0
    with pytest.raises(AdjointError, match=r"with_payload: inertia at 'hand' must have shape \(10,\)"):
        arm(False).with_payload("hand", 2.0)
    impossible = arm(False).with_payload("hand", [1.0, 0, 0, 0, 1, 0, 0, 1, 0, 9])
    assert [f.element for f in aj.check(impossible).warnings] == ["link 'hand.payload'"]


@pytest.mark.parametrize("seed", range(3))
def test_a_robot_that_stands_elsewhere(seed):
    """f' = P f; space Jacobians become Ad(P) J, body Jacobians and M stay, and so does the base's mass. Park (1994)."""
    robot = tree(seed).with_frame("mark", "base", se3.random(rng=1))
    robot = robot.replace(base_inertia=inertia.box.eager(3.0, [0.1, 0.2, 0.3]))
    P = se3.random(rng=seed)
    moved, q = robot.mounted(P), aj.random_configuration(robot, rng=seed)
    for name in robot.frame_names[1:]:
        close(aj.forward_kinematics.eager(moved, q, name), P @ aj.forward_kinematics.eager(robot, q, name), 1e-12)
    tool = robot.frame_names[-2]
    close(aj.jacobian.eager(moved, q, tool, "space"), se3.Ad.eager(P) @ aj.jacobian.eager(robot, q, tool, "space"))
    close(aj.jacobian.eager(moved, q, tool), aj.jacobian.eager(robot, q, tool))
    close(aj.mass_matrix.eager(moved, q), aj.mass_matrix.eager(robot, q))
    close(moved.base_inertia, inertia.transform.eager(P, robot.base_inertia))
    turned = moved.replace(gravity=P[:3, :3] @ robot.gravity)  # only another base frame
    close(aj.gravity_torque.eager(turned, q), aj.gravity_torque.eager(robot, q))


def test_a_robot_that_hangs():
    """Gravity does not turn with the robot: hung upside down, all of its torques have the other sign."""
    robot = robots.puma560()
    q = aj.random_configuration(robot, rng=0)
    hung = robot.mounted(np.diag([1.0, -1, -1, 1]))
    close(aj.gravity_torque.eager(hung, q), -aj.gravity_torque.eager(robot, q))
    with pytest.raises(AdjointError, match="mounted: placement is not a rigid motion"):
        robot.mounted(np.diag([1.0, 1, -1, 1]))
    moving = kernel(robot=static, q="nq")(lambda robot, q: aj.gravity_torque(robot.mounted(np.eye(4)), q))
    with pytest.raises(ArgumentError, match="mounted computes with the numbers"):
        moving.bind(robot, lift="placements").eager(q)


def test_shapes_of_the_base_move_with_it():
    robot = aj.load(urdf("panda.urdf"))
    P = se3.random(rng=0)
    pairs = list(zip(robot.visuals, robot.mounted(P).visuals, strict=True))
    assert any(one.frame == robot.base_name for one, _ in pairs)
    for one, other in pairs:
        np.testing.assert_allclose(
            other.placement, P @ one.placement if one.frame == robot.base_name else one.placement
        )
