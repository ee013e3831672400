"""M = W Ω Wᵀ and what it gives: M⁻¹, log det M, its gradient, M^(-1/2) b, thermal velocities."""

import numpy as np
import pytest
from support.trees import ALL, SEEDS, close, sample, tree
from support.worked_examples import PUMA_LIKE, RPR, RRR, puma_like_example, rpr_example, rrr_example

import adjoint as aj
from adjoint import kernel, robots, static
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.factorization import (
    mass_matrix_factors,
    mass_matrix_inverse,
    mass_matrix_logdet,
    mass_matrix_sqrt_solve,
)
from adjoint.dynamics.forward import solve_mass_matrix

every_robot = pytest.mark.parametrize("robot", ALL, ids=lambda r: f"{r.name}-{r.nv}")


def reverse_cholesky(M):
    """The unique W unit upper triangular, Ω diagonal with M = W Ω Wᵀ, from LAPACK: Cholesky of M read backward."""
    L = np.linalg.cholesky(M[::-1, ::-1])[::-1, ::-1]
    return L / np.diag(L), np.diag(L) ** 2


@every_robot
def test_factors_are_the_unique_ones(robot):
    q, _, _ = sample(robot)
    M = mass_matrix.eager(robot, q)
    W, Omega = mass_matrix_factors.eager(robot, q)
    slack = 1e-15 * np.linalg.cond(M) + 1e-12
    close(W * Omega @ W.T, M)
    for got, want in zip((W, Omega), reverse_cholesky(M), strict=True):
        close(got, want, slack)
    assert np.array_equal(np.tril(W), np.eye(robot.nv))
    assert np.all(Omega > 0)
    close(mass_matrix_logdet.eager(robot, q), np.linalg.slogdet(M)[1], 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_zeros_of_the_tree(seed):
    """W_ij and its inverse are zero unless joint i carries joint j: exactly, they are not computed."""
    robot = tree(seed, 14, ("revolute", "spherical", "prismatic", "planar"))
    q, _, _ = sample(robot, seed)
    W, _ = mass_matrix_factors.eager(robot, q)
    body = np.repeat(np.arange(len(robot.body_names)), np.diff(robot.layout.dof_start))
    carries = np.array([[i in robot.path(j) for j in body] for i in body])
    assert not carries.all()
    assert not np.any(W[~carries])
    assert np.all(W[carries & (np.subtract.outer(body, body) < 0)] != 0)
    assert not np.any(mass_matrix.eager(robot, q)[~(carries | carries.T)])


@every_robot
def test_inverse_and_square_roots(robot):
    q, _, b = sample(robot)
    M, one = mass_matrix.eager(robot, q), np.eye(robot.nv)
    slack = 1e-14 * np.linalg.cond(M) + 1e-12
    inverse = mass_matrix_inverse.eager(robot, q)
    assert np.array_equal(inverse, inverse.T)
    close(inverse @ M, one, slack)
    close(inverse @ b, solve_mass_matrix.eager(robot, q, b), slack)
    X = np.stack([mass_matrix_sqrt_solve.eager(robot, q, e) for e in one], axis=1)
    close(X @ X.T @ M, one, slack)
    close(X.T @ M @ X, one, slack)


@kernel(robot=static, q="nq", dq="nv")
def logdet_moved(robot, q, dq):
    return mass_matrix_logdet(robot, aj.integrate(robot, q, dq))


@kernel(robot=static, q="nq", dq="nv")
def mass_matrix_moved(robot, q, dq):
    return mass_matrix(robot, aj.integrate(robot, q, dq))


@pytest.mark.parametrize("types", [("revolute", "spherical", "helical", "planar"), ("revolute", "mimic", "spherical")])
def test_gradient_of_the_log_determinant(types):
    """∂ log det M / ∂q_k = tr(M⁻¹ ∂M/∂q_k), in every direction of the configuration manifold; mimics and not."""
    robot = tree(0, 6, types)
    assert bool(robot.mimics) == ("mimic" in types)
    q, _, _ = sample(robot)
    still = np.zeros(robot.nv)
    dM = mass_matrix_moved.bind(robot).jacobian("dq").eager(q, still)
    want = np.einsum("ij,jik->k", np.linalg.inv(mass_matrix.eager(robot, q)), dM)
    close(logdet_moved.bind(robot).jacobian("dq").eager(q, still), want, 1e-11)


def test_gradient_where_q_are_coordinates():
    """On arms the derivative is straight that of the kernel; log det M does not depend on the first joint."""
    robot = robots.puma560()
    q, _, _ = sample(robot)
    dM = mass_matrix.bind(robot).jacobian("q").eager(q)
    gradient = mass_matrix_logdet.bind(robot).jacobian("q")(q)
    close(gradient, np.einsum("ij,jik->k", np.linalg.inv(mass_matrix.eager(robot, q)), dM))
    assert abs(gradient[0]) < 1e-13 < abs(gradient[2])


@pytest.mark.parametrize("types", [("revolute", "spherical", "prismatic"), ("revolute", "mimic", "helical")])
def test_thermal_velocities(types):
    """v = √(kT) X b of white noise b has covariance kT M⁻¹: with M = L Lᵀ, z = Lᵀ v / √(kT) is white again.

    Entries of the sample covariance of z have standard deviation √(1/N), √(2/N) on the diagonal: 5.5 of them is a
    chance of 1e-5 in a thousand entries, for one fixed seed.
    """
    robot, kT, N = tree(2, 5, types), 0.7, 40_000
    q, _, _ = sample(robot)
    b = np.random.default_rng(0).standard_normal((N, robot.nv))
    v = np.sqrt(kT) * mass_matrix_sqrt_solve(robot, q, b)
    z = v @ np.linalg.cholesky(mass_matrix.eager(robot, q)) / np.sqrt(kT)
    deviation = np.sqrt((1 + np.eye(robot.nv)) / N)
    assert np.all(np.abs(z.T @ z / N - np.eye(robot.nv)) < 5.5 * deviation)
    assert np.all(np.abs(z.mean(axis=0)) < 5.5 / np.sqrt(N))


# --- numbers of the papers' examples ----------------------------------------------------------------------------------


def test_spatial_3r():
    robot, q = rrr_example(), RRR[0]
    W, Omega = mass_matrix_factors.eager(robot, q)
    close(Omega, [0.561830449, 0.3440999602, 0.06], 1e-9)
    close(W, [[1, -0.008462235707, 0.007388005167], [0, 1, 2.161177849], [0, 0, 1]], 1e-9)
    close(np.linalg.inv(W), [[1, 0.008462235707, -0.02567640153], [0, 1, -2.161177849], [0, 0, 1]], 1e-9)
    inverse = [1.779896411, 0.01506190297, -0.04570133494, 2.906259732, -6.281055433, 30.24148218]
    close(mass_matrix_inverse.eager(robot, q)[np.triu_indices(3)], inverse, 1e-9)
    close(mass_matrix_logdet.eager(robot, q), -4.456788965, 1e-9)


def test_rpr():
    robot, q = rpr_example(), RPR[0]
    W, Omega = mass_matrix_factors.eager(robot, q)
    close(Omega, [0.6010805479, 2.34307246, 0.0295], 1e-9)
    close(W, [[1, 0.02445871836, -0.2988769413], [0, 1, 2.306420956], [0, 0, 1]], 1e-9)
    close(np.linalg.inv(W), [[1, -0.02445871836, 0.3552890419], [0, 1, -2.306420956], [0, 0, 1]], 1e-9)
    inverse = [1.66367054, -0.0406912492, 0.5910839124, 0.4277853005, -0.9988146581, 36.3786535]
    close(mass_matrix_inverse.eager(robot, q)[np.triu_indices(3)], inverse, 1e-9)
    close(mass_matrix_logdet.eager(robot, q), -3.180928261, 1e-9)


def test_puma_like_6r():
    robot, q = puma_like_example(), PUMA_LIKE[0]
    W, Omega = mass_matrix_factors.eager(robot, q)
    close(Omega, [3.123260783, 1.809597094, 0.4897778408, 0.001678148608, 0.00054, 4e-05], 1e-9)
    close(W[0], [1, -0.04727780737, -0.3107731958, 0.5850612336, 0.1755068997, 0.9172827609], 1e-9)
    close(W[1], [0, 1, 1.230826053, 0.2203336811, 2.394309711, -0.1866970985], 1e-9)
    inverse = mass_matrix_inverse.eager(robot, q)
    close(np.diag(inverse), [0.320178195, 0.5533248582, 2.899334503, 596.0905871, 1870.393213, 25459.19847], 1e-9)
    close(inverse[3, 5], -523.009826, 1e-9)
    close(mass_matrix_logdet.eager(robot, q), -23.02245821, 1e-9)
