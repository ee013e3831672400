"""`reframed`: Ploen & Park (1999), §II-C: other link frames, the same robot."""

import sys
from pathlib import Path

import numpy as np
import pytest

from adjoint.errors import ArgumentError, ModelError
from adjoint.kinematics.forward import forward_kinematics
from adjoint.kinematics.jacobians import jacobian
from adjoint.lie import inertia, se3
from adjoint.model import catalog
from adjoint.model.configuration import random_configuration
from adjoint.model.joints import standard_screws
from adjoint.model.loading import load
from adjoint.model.parts import Visual
from adjoint.model.reframe import reframed
from adjoint.model.robot import Builder
from adjoint.model.screws import space_screws

fk = forward_kinematics.eager
ROBOTS = next(d for p in sys.path if (d := Path(p) / "cmeel.prefix/share/example-robot-data/robots").is_dir())
CHOICES = ["joint", "com", "space", "minimal"]
TREES = [catalog.random_tree(seed, n) for seed, n in ((0, 1), (1, 12), (2, 24), (3, 24))]


def close(actual, expected, atol=1e-11):
    """Two dozen links of half a metre, numbers snapped within 1e-12."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol * max(1, np.abs(expected).max(initial=0)))


def mass_matrix(robot, q):
    """M = Σ J_iᵀ 𝓘_i J_i over the bodies, with body Jacobians."""
    M = np.zeros((robot.nv, robot.nv))
    for body in robot.bodies:
        J = jacobian.eager(robot, q, body.name)
        M += J.T @ inertia.matrix.eager(body.inertia) @ J
    return M


def random_frames(robot, seed=0):
    return se3.random(len(robot.body_names), rng=seed, scale=0.3)


def same_robot(robot, other, Q=None):
    """Further frames stay in place, bodies sit at T_i Q_i⁻¹, inertias in space and the mass matrix do not change."""
    q = random_configuration(robot, rng=0)
    for frame in robot.frames:
        close(fk(other, q, frame.name), fk(robot, q, frame.name))
    for i, name in enumerate(robot.body_names):
        T, T_new = fk(robot, q, name), fk(other, q, name)
        if Q is not None:
            close(T_new, T @ np.linalg.inv(Q[i]))
        close(
            inertia.transform.eager(T_new, other.inertias[i]), inertia.transform.eager(T, robot.inertias[i]),
        )  # fmt: skip
    close(mass_matrix(other, q), mass_matrix(robot, q))


@pytest.mark.parametrize("robot", TREES, ids=repr)
def test_any_frames_give_the_same_robot(robot):
    """Every joint type in random frames; those of several degrees of freedom find theirs again in S = Ad(Q) S_std."""
    Q = random_frames(robot)
    other = reframed(robot, Q)
    same_robot(robot, other, Q)
    assert other.fingerprint != robot.fingerprint
    back = reframed(other, np.linalg.inv(Q))
    for field in ("placements", "screws", "inertias"):
        close(getattr(back, field), getattr(robot, field), 1e-13)
    for was, now in zip(robot.frames, back.frames, strict=True):
        close(now.placement, was.placement, 1e-13)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("robot", TREES, ids=repr)
def test_choices_give_the_same_robot(robot, choice):
    same_robot(robot, robot.reframed(choice))


@pytest.mark.parametrize("kind", ["spherical", "planar", "free"])
def test_a_joint_of_several_degrees_of_freedom_moves_in_its_own_frame(kind):
    """J' = Q J Q⁻¹ when the body's frame moves to Q: nothing is lost when S alone is stored."""
    rng = np.random.default_rng(1)
    axis = rng.standard_normal(3) if kind == "planar" else (0, 0, 1)
    robot = Builder("one").link("base").link("body").joint("joint", kind, "base", "body", axis=axis).build()
    Q = se3.random(rng=rng)
    moved = reframed(robot, Q[None])
    for q in random_configuration(robot, 5, rng=rng):
        close(fk(moved, q, "body"), fk(robot, q, "body") @ np.linalg.inv(Q), 1e-14)
    close(moved.screws, (se3.Ad.eager(Q) @ robot.screws.T).T, 1e-14)
    found = reframed(moved, "joint")
    assert np.array_equal(found.screws, standard_screws(kind))  # exactly, or every sample pays for the frame


# --- the choices ------------------------------------------------------------------------------------------------------


def test_joint_frames_have_the_axis_on_z():
    for robot in TREES:
        moved = robot.reframed("joint")
        for body in moved.bodies:
            if body.joint.S.shape[1] == 1:
                w, v = body.joint.S[:3, 0], body.joint.S[3:, 0]
                assert np.array_equal(w if np.any(w) else v, [0, 0, 1])
                assert not np.any(v[:2])  # through the origin
                was = robot.screw(body.index)[0]
                pitch = was[:3] @ was[3:]
                close(v[2], pitch if np.any(w) else 1.0, 1e-14)


def test_a_frame_that_is_joint_aligned_already_stays():
    puma = catalog.puma560().reframed("minimal")
    assert puma.reframed("joint") == puma


def test_com_frames_make_inertias_block_diagonal():
    for robot in (catalog.puma560(), TREES[2]):
        moved = robot.reframed("com")
        close(moved.inertias[:, 1:4], 0 * moved.inertias[:, 1:4], 1e-14)
        massive = robot.inertias[:, 0] > 0
        for J, was in zip(moved.inertias[massive], robot.inertias[massive], strict=True):
            close(inertia.matrix.eager(J)[:3, :3], inertia.central.eager(was).inertia, 1e-13)
        assert np.array_equal(moved.placements[~massive][:, :3, :3], robot.placements[~massive][:, :3, :3])


def test_space_frames_are_the_product_of_exponentials():
    puma = catalog.puma560()
    moved = puma.reframed("space")
    assert np.array_equal(moved.placements, np.broadcast_to(np.eye(4), (6, 4, 4)))
    A, home, _ = space_screws(puma, "tool")
    close(moved.screws, A, 1e-12)
    close(moved.frame("tool").placement, home, 1e-14)


def operations(robot, frame=None):
    count = forward_kinematics.bind(robot, frame=frame).operations
    return count.adds + count.muls


def test_minimal_frames_need_fewer_operations():
    """Forward kinematics of all bodies, and of the last: UR5 102 -> 92; a classic DH table gains most, 118 -> 91."""
    ur5 = load(ROBOTS / "ur_description/urdf/ur5_robot.urdf")
    puma = catalog.puma560()
    for robot in (puma, ur5, catalog.stanford()):
        assert operations(robot.reframed("minimal")) < operations(robot)
    assert operations(ur5.reframed("minimal"), "wrist_3_link") < 0.95 * operations(ur5, "wrist_3_link")
    assert operations(puma.reframed("minimal"), "link6") < 0.8 * operations(puma, "link6")


def test_minimal_frames_of_a_modified_table_are_its_own():
    """M = Rx(alpha) Tx(a) Tz(d) with zeros where DH has them."""
    M = catalog.puma560().reframed("minimal").placements
    assert np.count_nonzero(M[:, :3, 3]) == 4  # a_2, d_2, a_3, d_4
    assert np.count_nonzero(M[:, :3, :3]) == 18  # permutations


def test_minimal_frames_of_oblique_joints_are_no_worse():
    """xArm7 has right angles of 1.5708 rad: axes that almost, but not quite, allow zeros."""
    xarm = load(ROBOTS / "xarm_description/urdf/xarm7.urdf")
    assert operations(xarm.reframed("minimal")) <= operations(xarm)
    same_robot(xarm, xarm.reframed("minimal"))


# --- what belongs to the robot ----------------------------------------------------------------------------------------


def test_shapes_and_links_stay_in_place():
    robot = (
        Builder("arm").link("a").link("b", inertia.box.eager(1.0, np.ones(3))).link("c", inertia.sphere.eager(1.0, 0.1))
        .joint("j", "revolute", "a", "b").joint("k", "fixed", "b", "c", se3.random(rng=0)).build()
    )  # fmt: skip
    at = se3.random(rng=1)
    robot = robot.replace(visuals=tuple(Visual(frame, at, "sphere", (0.1,)) for frame in ("a", "b", "c")))
    Q = random_frames(robot)
    moved = reframed(robot, Q)
    q = np.array([0.7])
    for was, now in zip(robot.visuals, moved.visuals, strict=True):
        close(fk(moved, q, now.frame) @ now.placement, fk(robot, q, was.frame) @ was.placement, 1e-14)
    assert [link.name for link in moved.links] == [link.name for link in robot.links]
    for was, now in zip(robot.links, moved.links, strict=True):
        expected = was.placement if was.body < 0 else Q[was.body] @ was.placement
        close(now.placement, expected, 1e-15)
    assert moved.findings == robot.findings and moved.specs == robot.specs


def test_bad_frames():
    puma = catalog.puma560()
    with pytest.raises(ArgumentError, match="no choice 'dh'; there are joint, com, space, minimal"):
        puma.reframed("dh")
    with pytest.raises(ModelError, match=r"reframed: Q must have shape \(6, 4, 4\), got \(4, 4\)"):
        puma.reframed(np.eye(4))
    with pytest.raises(ModelError, match="Q contains NaN"):
        puma.reframed(np.full((6, 4, 4), np.nan))
    with pytest.raises(ModelError, match=r"Q\[0\] is not a rigid motion"):
        puma.reframed(np.tile(2 * np.eye(4), (6, 1, 1)))


def test_a_robot_without_bodies():
    rock = Builder("rock").link("base").build()
    for choice in CHOICES:
        assert rock.reframed(choice) == rock
