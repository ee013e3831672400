"""Torques and energies are linear in the parameters: against the dynamics themselves, and Pinocchio's regressor."""

import numpy as np
import pinocchio as pin
import pytest
from support.robots import joint_ids, pinocchio_model, pinocchio_q, urdf, velocity_map
from support.trees import CATALOG, SEEDS, close, on_free_base, sample, tree

import adjoint as aj
from adjoint.dynamics.regressors import energy_regressor, parameter_names, parameters, regressor
from adjoint.errors import ArgumentError

RESISTS = ("armature", "damping", "friction")
# Pinocchio's ten numbers are m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
OURS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
ROBOTS = [*map(tree, SEEDS), on_free_base(tree(3)), *CATALOG[:4]]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")
def test_regressor_times_parameters_is_the_torque(robot):
    q, v, a = sample(robot, 1)
    tau = aj.inverse_dynamics.eager(robot, q, v, a)
    close(regressor.eager(robot, q, v, a, joints=RESISTS) @ parameters(robot, RESISTS), tau)


def test_options_are_those_of_inverse_dynamics():
    robot, rng = tree(2), np.random.default_rng(0)
    q, v, a = sample(robot)
    options = {"gravity": rng.normal(size=3), "base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6)}
    Y = regressor.eager(robot, q, v, a, joints=RESISTS, **options)
    close(Y @ parameters(robot, RESISTS), aj.inverse_dynamics.eager(robot, q, v, a, **options))


@pytest.mark.slow
def test_columns_are_torques_of_unit_parameters():
    robot = tree(0, 5).replace(damping=np.zeros(tree(0, 5).nv), friction=np.zeros(tree(0, 5).nv))
    robot = robot.replace(armature=0 * robot.armature)
    q, v, a = sample(robot, 2)
    Y = regressor.eager(robot, q, v, a)
    for k in range(Y.shape[1]):
        unit = np.eye(Y.shape[1])[k].reshape(-1, 10)
        unit = robot.replace(inertias=robot.inertias + unit)  # a unit alone is no robot
        torque = aj.inverse_dynamics.eager(unit, q, v, a) - aj.inverse_dynamics.eager(robot, q, v, a)
        np.testing.assert_allclose(Y[:, k], torque, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_joints_do_not_feel_bodies_that_are_not_beyond_them():
    robot = tree(1)
    Y = regressor(robot, *sample(robot)).reshape(robot.nv, -1, 10)
    for body in robot.bodies:
        felt = np.zeros(robot.nv, bool)
        for i in robot.path(body.index):
            felt[robot.bodies[i].joint.v] = True
        assert not Y[~felt, body.index].any()
        assert Y[felt, body.index].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "base"), [("ur5_robot", "fixed"), ("panda", "fixed"), ("g1_29dof", "free")], ids=lambda x: x
)
def test_regressor_is_pinocchios(name, base):
    path = urdf(name)
    robot, model = aj.load(path, base=base), pinocchio_model(path, base)
    q, v, a = sample(robot, 3)
    Y = (regressor if base == "fixed" else regressor.eager)(robot, q, v, a)
    E = velocity_map(model, robot)
    theirs = pin.computeJointTorqueRegressor(model, model.createData(), pinocchio_q(model, robot, q), E @ v, E @ a)
    theirs = np.array(theirs).reshape(model.nv, -1, 10)[:, np.array(joint_ids(model, robot)) - 1][:, :, OURS]
    close(Y, E.T @ theirs.reshape(model.nv, -1), 1e-9)  # files with angles of 9 digits are read to that


@pytest.mark.parametrize("seed", SEEDS)
def test_energies_are_linear(seed):
    robot = tree(seed)
    q, v, _ = sample(robot, seed)
    rows, pi = energy_regressor.eager(robot, q, v), parameters(robot)
    motors = 0.5 * robot.armature @ v**2
    np.testing.assert_allclose(rows.kinetic @ pi + motors, aj.kinetic_energy.eager(robot, q, v), rtol=1e-12)
    np.testing.assert_allclose(rows.potential @ pi, aj.potential_energy.eager(robot, q), rtol=1e-11)
    g = np.array([1.0, 2.0, 3.0])
    moon = energy_regressor.eager(robot, q, v, gravity=g).potential @ pi
    np.testing.assert_allclose(moon, aj.potential_energy.eager(robot, q, gravity=g), rtol=1e-11)


def test_batches_and_names():
    robot = aj.robots.planar(3)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 2, 5, 3))
    Y = regressor(robot, q, v, a, joints=("offset", "damping"))
    assert Y.shape == (2, 5, 3, 36)
    np.testing.assert_allclose(Y[1, 4], regressor.eager(robot, q[1, 4], v[1, 4], a[1, 4], joints=("offset", "damping")))
    np.testing.assert_array_equal(Y[0, 0, :, 30:33], np.eye(3))
    np.testing.assert_array_equal(Y[0, 0, :, 33:], np.diag(v[0, 0]))
    names = parameter_names(robot, ("offset", "damping"))
    assert names[:2] == ("m_link1", "hx_link1") and names[30] == "offset_joint1" and names[35] == "damping_joint3"
    assert parameters(robot, ("offset", "damping")).shape == (36,)


@pytest.mark.parametrize("joints", [("stiction",), "damping", ("damping", "damping"), ["damping"]])
def test_bad_joint_terms_are_named(joints):
    with pytest.raises(ArgumentError, match="'armature', 'damping', 'friction', 'offset'"):
        parameters(aj.robots.planar(2), joints)
