"""Kinematics of every URDF of example-robot-data against Pinocchio: Jacobians, their rates, centres of mass.

Placements are compared in test_urdf.py. Eager functions: compiling a hundred robots would take minutes.
"""

import numpy as np
import pinocchio as pin
import pytest
from support.robots import URDFS, joint_ids, pinocchio_model, pinocchio_q, velocity_map

import adjoint as aj

REFERENCE = {"body": pin.LOCAL, "space": pin.WORLD, "world": pin.LOCAL_WORLD_ALIGNED}
SAMPLES = 20


def some_frames(robot: aj.Robot) -> list[str]:
    """The first link, the end of the longest path, and the last frame."""
    deepest = max(range(len(robot.body_names)), key=lambda i: len(robot.path(i)), default=-1)
    links = robot.frame_names[robot.joint_types[:1] == ("free",) :]  # the base of a free robot is no link
    return list(dict.fromkeys([links[0], links[-1], *robot.body_names[deepest : deepest + 1]]))


def angular_first(x):
    """Pinocchio's (v, w) as our (w, v)."""
    return np.roll(np.asarray(x), 3, axis=0)


def close(got, want, slack):
    scale = max(1.0, np.abs(want).max(initial=0.0))
    np.testing.assert_allclose(got, want, rtol=0, atol=slack * scale)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_against_pinocchio(path, base):
    robot, model = aj.load(path, base=base), pinocchio_model(path, base)
    if not robot.body_names:  # two drones are one body each; Pinocchio does not survive the calls below
        assert aj.jacobian(robot, np.zeros(0), robot.base_name).shape == (6, 0)
        return
    data, E = model.createData(), velocity_map(model, robot)
    rng = np.random.default_rng(0)
    frames = some_frames(robot)
    ids = [model.getFrameId(name, pin.BODY) for name in frames]
    for n, q in enumerate(aj.random_configuration(robot, SAMPLES, rng=rng)):
        v, a = rng.normal(size=(2, robot.nv))
        x = pinocchio_q(model, robot, q)
        pin.computeJointJacobiansTimeVariation(model, data, x, E @ v)
        pin.forwardKinematics(model, data, x, E @ v, E @ a)
        pin.updateFramePlacements(model, data)
        name, k, expressed = frames[n % len(frames)], ids[n % len(frames)], ("body", "space", "world")[n // 3 % 3]
        J = aj.jacobian.eager(robot, q, name, expressed)
        close(J, angular_first(pin.getFrameJacobian(model, data, k, REFERENCE[expressed])) @ E, 1e-10)
        dJ = aj.jacobian_rate.eager(robot, q, v, name, expressed)
        close(dJ, angular_first(pin.getFrameJacobianTimeVariation(model, data, k, REFERENCE[expressed])) @ E, 1e-9)
        A = aj.frame_acceleration.eager(robot, q, v, a, name, "world")
        close(A, angular_first(pin.getFrameClassicalAcceleration(model, data, k, pin.LOCAL_WORLD_ALIGNED).vector), 1e-9)


@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_center_of_mass_against_pinocchio(path):
    robot, model = aj.load(path), pinocchio_model(path)
    assert set(joint_ids(model, robot)) <= set(range(1, model.njoints))
    if not robot.body_names:
        with pytest.raises(aj.errors.ArgumentError, match="no centre of mass"):
            aj.center_of_mass(robot, aj.neutral(robot))
        return
    data = model.createData()
    for q in aj.random_configuration(robot, 2, rng=0):
        x = pinocchio_q(model, robot, q)
        close(aj.center_of_mass.eager(robot, q), pin.centerOfMass(model, data, x), 1e-10)
        J = aj.center_of_mass_jacobian.eager(robot, q)
        close(J, pin.jacobianCenterOfMass(model, data, x) @ velocity_map(model, robot), 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5_robot", "panda", "g1_29dof_rev_1_0"])
def test_compiled_equals_eager(name):
    robot = aj.load(next(path for path in URDFS if path.stem == name), base="free")
    q = aj.random_configuration(robot, 5, rng=0)
    for frame in some_frames(robot)[1:]:
        want = np.stack([aj.jacobian.eager(robot, x, frame, "world") for x in q])
        np.testing.assert_allclose(aj.jacobian(robot, q, frame, "world"), want, rtol=0, atol=1e-13 * 10)
