"""Christoffel symbols and slopes of M: the recursion, the closed forms of the paper, and the compiler's derivatives."""

import numpy as np
import pinocchio as pin
import pytest
from support import robots as real
from support.parameters import every_robot_with_coordinates
from support.trees import CATALOG, COORDINATES, SEEDS, close, on_free_base, sample, tree

import adjoint as aj
from adjoint import christoffel, kernel, robots, static
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.coriolis import coriolis_matrix
from adjoint.dynamics.lagrangian import lagrangian_christoffel
from adjoint.errors import ArgumentError
from adjoint.geometry import covariant_derivative, mass_matrix_derivative

ALL = [*(tree(seed) for seed in SEEDS), on_free_base(tree(4, 6)), *CATALOG]
every_robot = pytest.mark.parametrize("robot", ALL, ids=lambda r: f"{r.name}-{r.nv}")


def slack(robot, q) -> float:
    """Rounding of some hundred operations on numbers of the size of M; sliders alone have slopes of exactly zero."""
    return 1e-13 * np.abs(mass_matrix.eager(robot, q)).max()


# --- slopes of M ------------------------------------------------------------------------------------------------------


@kernel(robot=static, q="nq", dq="nv")
def moved_mass_matrix(robot, q, dq):
    return mass_matrix(robot, aj.integrate(robot, q, dq))


@pytest.mark.slow
@every_robot
def test_slopes_of_the_mass_matrix(robot):
    """On every joint: the derivative along v that the compiler takes of M; symmetric."""
    q, *_ = sample(robot)
    want = moved_mass_matrix.bind(robot).jacobian("dq").eager(q, np.zeros(robot.nv))
    got = mass_matrix_derivative.eager(robot, q)
    np.testing.assert_allclose(got, want, atol=slack(robot, q))
    assert np.array_equal(got, got.swapaxes(0, 1))


def test_slopes_are_differences():
    robot, h = robots.stanford(), 1e-3
    q, *_ = sample(robot)
    M = [[mass_matrix.eager(robot, q + k * h * e) for k in (-2, -1, 1, 2)] for e in np.eye(6)]
    want = np.stack([(a - 8 * b + 8 * c - d) / (12 * h) for a, b, c, d in M], axis=-1)
    np.testing.assert_allclose(mass_matrix_derivative.eager(robot, q), want, atol=1e-10)  # h⁴ and 1e-16/h


@every_robot_with_coordinates
def test_the_first_joints_do_not_change_the_mass_matrix(robot):
    """M does not depend on joints at the base, unless others mimic them."""
    q, *_ = sample(robot)
    led = {m.source for m in robot.mimics.values()}
    roots = [i for i, parent in enumerate(robot.parents) if parent < 0 and i not in led and i not in robot.mimics]
    for i in roots:
        assert not mass_matrix_derivative.eager(robot, q)[..., robot.layout.v_start[i]].any()


# --- Christoffel symbols ----------------------------------------------------------------------------------------------


@every_robot_with_coordinates
def test_recursion_equals_the_equations(robot):
    """(55)-(57) of Park, Bobrow & Ploen, summed over bodies; symmetric in the first two indices."""
    q, *_ = sample(robot)
    got = christoffel.eager(robot, q)
    np.testing.assert_allclose(got, lagrangian_christoffel.eager(robot, q), atol=slack(robot, q))
    assert np.array_equal(got, got.swapaxes(0, 1))


@every_robot_with_coordinates
def test_they_make_the_coriolis_matrix(robot):
    """C_kj = Σ Γ_ijk v_i, and Ṁ - 2C is skew."""
    q, v, _ = sample(robot)
    C = np.einsum("ijk,i->kj", christoffel.eager(robot, q), v)
    bound = 10 * slack(robot, q) * np.abs(v).max()
    np.testing.assert_allclose(coriolis_matrix.eager(robot, q, v), C, atol=bound)
    S = mass_matrix_derivative.eager(robot, q) @ v - 2 * C
    np.testing.assert_allclose(S, -S.T, atol=bound)


@pytest.mark.parametrize("name", ["ur5_robot", "panda.", "g1_29dof_rev_1_0"])
def test_they_make_pinocchio_s_coriolis_matrix(name):
    path = real.urdf(name)
    robot, model = aj.load(path), real.pinocchio_model(path)
    q, v, _ = sample(robot)
    E = real.velocity_map(model, robot)
    want = pin.computeCoriolisMatrix(model, model.createData(), real.pinocchio_q(model, robot, q), E @ v)
    close(np.einsum("ijk,i->kj", christoffel.eager(robot, q), v), E.T @ want @ E, 1e-10)


def test_frames_are_free():
    robot = robots.stanford()
    q, *_ = sample(robot)
    for frames in ("com", "space", "minimal"):
        close(christoffel.eager(robot.reframed(frames), q), christoffel.eager(robot, q), 1e-13)


def test_compiled_equals_eager():
    robot = tree(0, 6, ("revolute", "prismatic", "mimic"))
    q = aj.random_configuration(robot, 5, rng=0)
    for function in (christoffel, mass_matrix_derivative):
        close(function(robot, q), [function.eager(robot, x) for x in q], 1e-14)


def test_robots_of_no_joints_and_of_one():
    nothing, one = robots.chain(0), robots.chain(1)
    assert christoffel.eager(nothing, np.zeros(0)).shape == (0, 0, 0)
    assert not christoffel.eager(one, np.ones(1)).any()


def test_joints_without_coordinates_are_refused():
    with pytest.raises(ArgumentError, match=r"joint 'joint.*' is .*; Christoffel symbols are for joints with one"):
        christoffel.eager(tree(1), sample(tree(1))[0])


# --- the covariant derivative -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", COORDINATES[:4], ids=lambda r: f"{r.name}-{r.nv}")
def test_covariant_derivative_is_that_of_the_symbols(robot):
    q, v, w = sample(robot)
    second = np.linalg.solve(mass_matrix.eager(robot, q), np.einsum("ijk,i,j->k", christoffel.eager(robot, q), v, w))
    close(covariant_derivative.eager(robot, q, v, w, q), q + second, 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_covariant_derivative_obeys_the_product_rule(seed):
    """d/dt wᵀM z = (∇w)ᵀM z + wᵀM ∇z, on every joint."""
    robot = tree(seed)
    rng = np.random.default_rng(seed)
    q, v, w = sample(robot)
    z, dw, dz = rng.normal(size=(3, robot.nv))
    M, dM = mass_matrix.eager(robot, q), mass_matrix_derivative.eager(robot, q) @ v
    Dw, Dz = (covariant_derivative.eager(robot, q, v, *x) for x in ((w, dw), (z, dz)))
    rate = dw @ M @ z + w @ dM @ z + w @ M @ dz
    np.testing.assert_allclose(Dw @ M @ z + w @ M @ Dz, rate, atol=1e-11 * np.abs(M).max() * robot.nv)


def test_covariant_derivative_has_no_torsion():
    """∇_v w - ∇_w v is the bracket of vector fields: 0 for constant ones along coordinates, [v, w] on a free body."""
    robot = tree(0, 6, ("revolute", "prismatic", "mimic"))
    q, v, w = sample(robot)
    zero = 0 * v
    close(covariant_derivative.eager(robot, q, v, w, zero), covariant_derivative.eager(robot, q, w, v, zero), 1e-10)
    free = robots.random_tree(2, 1, ["free"])
    q, v, w = sample(free)
    both = [covariant_derivative.eager(free, q, *x, 0 * v) for x in ((v, w), (w, v))]
    close(both[0] - both[1], aj.lie.se3.bracket.eager(v, w), 1e-12)
