"""Manipulability and singular directions: laws of the singular value decomposition, and independence of other limbs."""

import numpy as np
import pytest

import adjoint as aj
from adjoint import robots
from adjoint.lie import inertia, se3
from adjoint.model import Robot


def arm(limbs: int) -> Robot:
    """A base with arms of three revolute joints, all alike but for where they stand."""
    builder = Robot.builder().link("base")
    for limb in range(limbs):
        above = "base"
        for k in range(3):
            name = f"{limb}.{k}"
            builder.link(name, inertia.sphere(1.0, 0.1))
            place = se3.exp.eager([0.3 * k, 0.2, 0.1, 0.2, 0.1 * limb, 0.3])
            builder.joint(f"j{name}", "revolute", above, name, place, axis=(k == 0, k == 1, k != 1))
            above = name
        builder.frame(f"hand{limb}", above, se3.exp.eager([0, 0, 0, 0.1, 0.2, 0.3]))
    return builder.build()


@pytest.mark.parametrize("part", ["all", "rotation", "translation"])
def test_other_limbs_do_not_count(part):
    alone, three, q = arm(1), arm(3), np.array([0.3, -0.5, 0.8])
    want = aj.manipulability(alone, q, "hand0", part)
    assert want > 0.01
    assert aj.manipulability(three, np.tile(q, 3), "hand0", part) == pytest.approx(want, rel=1e-12)


def test_what_does_not_move_is_not_dexterous():
    robot = arm(1)
    assert aj.manipulability(robot, np.zeros(3), "base") == 0.0
    assert np.all(aj.kinematics.singular_directions(robot, np.zeros(3), "base").values == 0.0)


@pytest.mark.parametrize("robot", [arm(1), arm(3), robots.puma560(), robots.two_link()], ids=["3", "9", "puma", "2"])
@pytest.mark.parametrize("length", [1.0, 0.3])
def test_decomposition(robot, length):
    q, frame = aj.random_configuration(robot, 4, rng=0), robot.frame_names[-1]
    values, twists, rates = aj.kinematics.singular_directions(robot, q, frame, length=length)
    J = aj.jacobian(robot, q, frame) * np.repeat([length, 1.0], 3)[:, None]
    np.testing.assert_allclose(J @ rates, values[:, None, :] * twists, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.swapaxes(twists, 1, 2) @ twists, np.tile(np.eye(6), (4, 1, 1)), rtol=0, atol=1e-14)
    reach = np.linalg.matrix_rank(J)
    for k in range(4):  # a wrench along an unreachable twist costs no torque
        np.testing.assert_allclose(J[k].T @ twists[k, :, reach[k] :], 0, rtol=0, atol=1e-13)


def test_singular_directions_of_nan_are_nan_for_its_own_sample():
    robot = robots.puma560()
    q = aj.random_configuration(robot, 3, rng=0)
    q[1, 2] = np.nan
    found, alone = (
        aj.kinematics.singular_directions(robot, q, "tool"),
        aj.kinematics.singular_directions(robot, q[2], "tool"),
    )
    assert all(np.isnan(x[1]).all() for x in found)
    assert all(np.allclose(x[2], y) for x, y in zip(found, alone, strict=True))
    with pytest.raises(aj.errors.ArgumentError, match="length"):
        aj.kinematics.singular_directions(robot, q, "tool", length=-1.0)
