"""The regressor of M a_r + C(q, v) v_r + g: against mass and Coriolis matrices, and the law that Ṁ - 2C is skew."""

import numpy as np
import pytest
from support.robots import urdf
from support.trees import CATALOG, SEEDS, close, on_free_base, sample, tree

import adjoint as aj
from adjoint.dynamics import coriolis_matrix, parameters, passive_regressor, regressor
from adjoint.errors import ArgumentError

RESISTS = ("armature", "damping", "friction")
ROBOTS = [*map(tree, SEEDS), on_free_base(tree(3)), *CATALOG[:4]]


def wished(robot, seed=7):
    return np.random.default_rng(seed).normal(size=robot.nv)


def by_matrices(robot, q, v, v_r, a_r):
    """M a_r + C v_r + g, without friction."""
    M, C = aj.mass_matrix.eager(robot, q), coriolis_matrix.eager(robot, q, v)
    return M @ a_r + C @ v_r + aj.gravity_torque.eager(robot, q)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")
def test_it_gives_the_torque_of_the_matrices(robot):
    q, v, a_r = sample(robot, 1)
    v_r = wished(robot)
    Y = passive_regressor.eager(robot, q, v, v_r, a_r, joints=("armature",))
    close(Y @ parameters(robot, ("armature",)), by_matrices(robot, q, v, v_r, a_r))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")
def test_at_the_true_velocity_it_is_the_regressor(robot):
    q, v, a = sample(robot, 2)
    rng = np.random.default_rng(0)
    options = {"gravity": rng.normal(size=3), "base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6)}
    for given in ({}, options):
        both = [
            passive_regressor.eager(robot, q, v, v.copy(), a, joints=(*RESISTS, "offset"), **given),
            regressor.eager(robot, q, v, a, joints=(*RESISTS, "offset"), **given),
        ]
        close(*both, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "base"), [("ur5_robot", "fixed"), ("panda", "fixed"), ("g1_29dof", "free")])
def test_real_robots(name, base):
    robot = aj.load(urdf(name), base=base)
    q, v, a_r = sample(robot, 3)
    v_r = wished(robot)
    compute = passive_regressor if base == "fixed" else passive_regressor.eager
    Y = compute(robot, q, v, v_r, a_r, joints=("armature",))
    close(Y @ parameters(robot, ("armature",)), by_matrices(robot, q, v, v_r, a_r))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")
def test_the_rate_of_the_mass_matrix_minus_twice_c_is_skew(robot):
    # x·(Ṁ - 2C) x = 0 for all x, with x·C x from the regressor and Ṁ x by central differences
    q, v, _ = sample(robot, 4)
    x, zero, h = wished(robot), np.zeros(robot.nv), 1e-5
    terms = ("armature",)
    Y = passive_regressor.eager(robot, q, v, x, zero, gravity=np.zeros(3), joints=terms)
    near = [aj.mass_matrix.eager(robot, aj.integrate(robot, q, v, s)) for s in (h, -h)]
    rate = x @ (near[0] - near[1]) @ x / (2 * h)
    # rounding 1e-16 |M| / h and truncation h² of a third derivative, which is of the order of |M| |v|³
    size = np.abs(near[0]).max() * (x @ x)
    np.testing.assert_allclose(rate, 2 * x @ Y @ parameters(robot, terms), rtol=0, atol=size * 1e-7)


def test_it_is_linear_in_the_wish_and_symmetric_in_both_velocities():
    # For joints of one degree of freedom, C(q, v) x = C(q, x) v by the symmetry of the Christoffel symbols.
    robot = aj.robots.puma560()
    q, v, _ = sample(robot, 5)
    x, zero, none = wished(robot), np.zeros(6), np.zeros(3)
    close(
        passive_regressor(robot, q, v, x, zero, gravity=none), passive_regressor(robot, q, x, v, zero, gravity=none),
        1e-13,
    )  # fmt: skip
    whole = passive_regressor(robot, q, v, 3 * x, 2 * v, gravity=none)
    parts = 3 * passive_regressor(robot, q, v, x, zero, gravity=none)
    close(whole, parts + 2 * passive_regressor(robot, q, v, zero, v, gravity=none), 1e-13)


def test_joint_terms_resist_the_wish():
    robot = tree(1)
    q, v, a_r = sample(robot)
    v_r = wished(robot)
    Y = passive_regressor.eager(robot, q, v, v_r, a_r, joints=("damping", "friction", "offset"))
    n = robot.nv
    for k, column in enumerate((v_r, np.sign(v_r), np.ones(n))):
        np.testing.assert_array_equal(Y[:, Y.shape[1] - (3 - k) * n :][:, :n], np.diag(column))


def test_batches_and_bad_input():
    robot = aj.robots.planar(3)
    q, v, v_r, a_r = np.random.default_rng(0).normal(size=(4, 2, 5, 3))
    Y = passive_regressor(robot, q, v, v_r, a_r, joints=("damping",))
    assert Y.shape == (2, 5, 3, 33)
    one = [x[1, 3] for x in (q, v, v_r, a_r)]
    close(Y[1, 3], passive_regressor.eager(robot, *one, joints=("damping",)), 1e-14)
    with pytest.raises(ArgumentError, match="'armature', 'damping', 'friction', 'offset'"):
        passive_regressor(robot, q, v, v_r, a_r, joints=("stiction",))
    with pytest.raises(ArgumentError, match="v_r"):
        passive_regressor(robot, q, v, v_r[..., :2], a_r)
