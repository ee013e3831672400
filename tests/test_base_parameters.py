"""Which parameters torques depend on: known numbers, closed forms, and laws."""

import re

import numpy as np
import pinocchio as pin
import pytest
from support.robots import pinocchio_model, urdf
from support.trees import close, sample, tree

import adjoint as aj
from adjoint.dynamics.regressors import parameters, regressor
from adjoint.errors import ArgumentError
from adjoint.identification import base_parameters
from adjoint.identification.linear import triangle
from adjoint.lie import inertia
from adjoint.sweep import joint_placement

ALL = ("armature", "damping", "friction", "offset")


def test_planar_arm_has_the_textbooks_groups():
    base = base_parameters(aj.robots.planar(2))
    assert base.groups == (
        "hx_link1 + x_link2 m_link2",
        "hy_link1",
        "Izz_link1 + x_link2² m_link2",
        "hx_link2",
        "hy_link2",
        "Izz_link2",
    )
    assert {"m_link1", "Ixx_link1", "hz_link2"} <= set(base.without_effect)
    assert "Izz_link1 + x_link2² m_link2" in str(base)


def test_every_factor_of_an_arm_is_a_combination_of_lengths():
    """Written out with the lengths, the groups have the numbers of K."""
    robot = aj.robots.puma560()
    base, lengths = base_parameters(robot), {}
    for name, p in zip(robot.body_names, np.abs(robot.placements[:, :3, 3]), strict=True):
        lengths |= {f"{axis}_{name}": x for axis, x in zip("xyz", p, strict=True)}
    for group, row in zip(base.groups, base.matrix, strict=True):
        values = dict.fromkeys(base.names, 0.0) | lengths
        text = re.sub(r"([\w)]) (?=[\w(])", r"\1 * ", group.replace("²", "**2"))
        for name, factor in zip(base.names, row, strict=True):
            np.testing.assert_allclose(eval(text, {}, values | {name: 1.0}), factor, rtol=1e-8, atol=1e-12)


def test_without_weight_less_is_seen():
    """In a horizontal plane no weight shows the first moments of link 1; its motor hides in its inertia."""
    base = base_parameters(aj.robots.planar(2).replace(gravity=(0, 0, -9.81)), ALL)
    inertial = [name for name, k in zip(base.groups, base.selected, strict=True) if k < 20]
    assert inertial == ["Izz_link1 + x_link2² m_link2 + armature_joint1", "hx_link2", "hy_link2", "Izz_link2"]
    assert base.rank == 4 + 1 + 3 * 2


def test_known_numbers():
    assert base_parameters(aj.robots.puma560()).rank == 36  # Gautier & Khalil (1990) for a PUMA 560
    assert base_parameters(aj.robots.puma560(), ALL).rank == 36 + 4 + 18  # motors 1 and 2 turn with Iyy_1 and Izz_2


def test_rank_is_that_of_pinocchios_regressor():
    path = urdf("ur5_robot")
    model, rng, data = pinocchio_model(path), np.random.default_rng(5), pinocchio_model(path).createData()
    W = [np.array(pin.computeJointTorqueRegressor(model, data, *rng.normal(size=(3, model.nv)) * 2)) for _ in range(80)]
    assert base_parameters(aj.load(path)).rank == np.linalg.matrix_rank(np.concatenate(W), 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_base_parameters_give_all_torques(seed):
    robot = tree(seed, 4)
    base = base_parameters(robot, ALL)
    q, v, a = sample(robot, 11)
    Y, pi = regressor(robot, q, v, a, joints=ALL), parameters(robot, ALL)
    close(base.regressor(q, v, a) @ base.to_base(pi), Y @ pi, 1e-9)
    np.testing.assert_allclose(base.matrix @ pi, base.to_base(pi))
    kept, left = base.margin
    assert left < 1e-10 and kept > 1e-4  # a clear decision
    np.testing.assert_array_equal(base_parameters(robot, ALL, rng=7).selected, base.selected)


def test_mass_on_an_axis_belongs_to_either_body():
    robot, q = aj.robots.puma560(), np.zeros(6)
    base, pi = base_parameters(robot), parameters(robot).reshape(6, 10)
    for i in range(1, 6):
        s = robot.screw(i)[0]
        point = np.cross(s[:3], s[3:]) + 0.3 * s[:3]
        own = inertia.from_central.eager(2.0, point, np.zeros((3, 3)))
        moved = pi.copy()
        moved[i] -= own
        moved[i - 1] += inertia.transform.eager(joint_placement(robot, q, i), own)
        close(base.to_base(moved.ravel()), base.to_base(pi.ravel()), 1e-10)


def test_unidentifiable_parameters_are_explained():
    base = base_parameters(aj.robots.puma560(), ALL)
    assert base.groups[base.place("hx_link4")] == "hx_link4"
    with pytest.raises(ArgumentError, match="m_link1 of 'puma560' cannot be identified: no torque depends on it"):
        base.place("m_link1")
    with pytest.raises(ArgumentError, match=r"alone: torques tell the value of Ixx_link6 - Iyy_link6"):
        base.place("Ixx_link6")
    with pytest.raises(ArgumentError, match=r"alone: torques tell the value of Iyy_link1 .* \+ \d+ more"):
        base.place("armature_joint1")
    with pytest.raises(ArgumentError, match="no parameter 'dampin_joint1'; did you mean 'damping_joint1'"):
        base.place("dampin_joint1")
    with pytest.raises(ArgumentError, match=r"has shape \(60,\); \(..., 84\) is needed"):
        base.to_base(np.zeros(60))
    with pytest.raises(ArgumentError, match="base_parameters needs a Robot"):
        base_parameters("puma")  # type: ignore[arg-type]


def test_nothing_moves():
    robot = aj.Robot.builder("rock").link("stone").build()
    assert base_parameters(robot, ALL).rank == 0


@pytest.mark.parametrize("shape", [(3, 500, 7), (40, 7), (2, 5, 7), (1, 0, 3), (10, 1)])
def test_triangles_have_the_same_products(shape):
    A = np.random.default_rng(0).normal(size=shape)
    R = triangle(A)
    assert R.shape[-2] <= shape[-1] and not np.tril(R, -1).any()
    np.testing.assert_allclose(R.mT @ R, A.mT @ A, rtol=0, atol=1e-12 * max(1, shape[-2]))


@pytest.mark.parametrize("tolerance", [np.nan, 0.0, -1.0, 2.0, "1e-6"])
def test_bad_tolerances_are_refused(tolerance):
    with pytest.raises(ArgumentError, match="tolerance must be between 0 and 1"):
        base_parameters(aj.robots.planar(2), tolerance=tolerance)


def test_friction_acts_against_the_direction_given():
    robot = aj.robots.planar(2).replace(friction=[0.5, 0.7])
    base = base_parameters(robot, ("damping", "friction"))
    q, v, a, slide = np.random.default_rng(0).normal(size=(4, 5, 2))
    beta = base.to_base(parameters(robot, base.joints))
    close(base.regressor(q, v, a, np.sign(v)), base.regressor(q, v, a), 1e-15)
    more = (base.regressor(q, v, a, slide) - base.regressor(q, v, a)) @ beta
    close(more, robot.friction * (slide - np.sign(v)), 1e-12)
