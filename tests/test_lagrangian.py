"""Park, Bobrow & Ploen (1995), §4: the Lagrangian formulation equals the recursions; the paper's closed forms."""

import functools

import numpy as np
import pytest
from scipy.linalg import block_diag
from support.parameters import every_robot_with_coordinates
from support.trees import CATALOG, SEEDS, close, sample, tree
from support.worked_examples import PUMA_LIKE, RPR, RRR, digits, puma_like_example, rpr_example, rrr_example

from adjoint import robots
from adjoint.compile.front.inline import eagerly
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.coriolis import coriolis_matrix
from adjoint.dynamics.energy import potential_energy
from adjoint.dynamics.global_operators import operators
from adjoint.dynamics.lagrangian import (
    Ad_along_path,
    lagrangian_christoffel,
    lagrangian_factors,
    lagrangian_gravity_torque,
    lagrangian_inverse_dynamics,
    lagrangian_mass_matrix,
    pullback_metric,
    screws_and_slopes,
)
from adjoint.dynamics.newton_euler import gravity_torque, inverse_dynamics
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3
from adjoint.model import Robot, from_screws

ALL = [*(tree(seed) for seed in SEEDS), *CATALOG]


def name(robot: Robot) -> str:
    return f"{robot.name}-{robot.nv}"


every_robot = pytest.mark.parametrize("robot", ALL, ids=name)


# --- the mass matrix --------------------------------------------------------------------------------------------------


@every_robot
def test_mass_matrices_are_one(robot):
    """Inner products (40), the factors (46), the pullback metric (65), and composite inertias."""
    q, *_ = sample(robot)
    M = mass_matrix.eager(robot, q)
    A, L, D = lagrangian_factors.eager(robot, q)
    close(lagrangian_mass_matrix.eager(robot, q), M)
    close(A.T @ L.T @ D @ L @ A + np.diag(robot.armature), M)
    close(pullback_metric.eager(robot, q), M)


@pytest.mark.parametrize("seed", SEEDS)
def test_factors_are_the_operators_in_other_frames(seed):
    """A = QS, L = QGQ⁻¹, D = Q⁻ᵀJQ⁻¹, (47)-(51); A and D do not depend on q."""
    robot = tree(seed)
    q, v, _ = sample(robot)
    o = operators.eager(robot, q, v)
    # At q = 0 mimics are not at home: M_1 ··· M_i, not forward kinematics.
    Q = block_diag(*(se3.Ad.eager(home(robot, i)) for i in range(len(robot.body_names))))
    A, L, D = lagrangian_factors.eager(robot, q)
    close(A, Q @ o.S, 1e-10)
    close(L, Q @ o.G @ np.linalg.inv(Q), 1e-10)
    close(D, np.linalg.inv(Q).T @ o.J @ np.linalg.inv(Q), 1e-10)
    elsewhere = lagrangian_factors.eager(robot, sample(robot, 1)[0])
    assert np.array_equal(elsewhere.A, A) and np.array_equal(elsewhere.D, D) and not np.allclose(elsewhere.L, L)


def home(robot: Robot, i: int) -> np.ndarray:
    return functools.reduce(np.matmul, robot.placements[robot.path(i)])


# --- Christoffel symbols ----------------------------------------------------------------------------------------------


@every_robot_with_coordinates
def test_christoffel_symbols_are_derivatives_of_the_mass_matrix(robot):
    """Γ_ijk = ½ (∂_i m_kj + ∂_j m_ki - ∂_k m_ij), (52), with the compiler's derivatives; C_kj = Σ Γ_ijk v_i."""
    q, v, _ = sample(robot)
    dM = mass_matrix.bind(robot).jacobian("q").eager(q)  # m_ab,c
    want = 0.5 * (np.einsum("kji->ijk", dM) + np.einsum("kij->ijk", dM) - dM)
    got = lagrangian_christoffel.eager(robot, q)
    slack = 1e-12 * np.abs(mass_matrix.eager(robot, q)).max()  # sliders alone have Γ = 0
    np.testing.assert_allclose(got, want, atol=slack)
    assert np.array_equal(got, got.swapaxes(0, 1))
    C = np.einsum("ijk,i->kj", got, v)
    np.testing.assert_allclose(coriolis_matrix.eager(robot, q, v), C, atol=10 * slack * np.abs(v).max())


def test_the_three_cases_are_one():
    """t(l; a, b) = [u(l; a), u(l; b)], with which (55)-(57) read <[k, i], j> + <[k, j], i> + <[i, j], k> alike."""
    robot = robots.puma560()
    q, *_ = sample(robot)
    space, n = robot.reframed("space"), robot.nv
    Gamma = np.zeros((n, n, n))
    with eagerly():
        found = screws_and_slopes(space, q)
    for l, (u, t) in found.items():
        D = inertia.matrix.eager(space.inertias[l])
        for (a, b), slope in t.items():
            np.testing.assert_allclose(slope, se3.bracket.eager(u[a], u[b]), atol=1e-14)
        u = np.array([u[a] for a in sorted(u)])
        brackets = np.array([[se3.bracket.eager(x, y) for y in u] for x in u])
        inner = np.einsum("abx,xy,cy->abc", brackets, D, u)  # <[a, b], c>
        first = np.triu(np.ones((l + 1, l + 1)))[:, :, None]  # <[i, j], k> for i <= j, and mirrored
        ijk = inner * first + (inner * first).swapaxes(0, 1) * (1 - first)
        Gamma[: l + 1, : l + 1, : l + 1] += 0.5 * (
            np.einsum("kij->ijk", inner) + np.einsum("kji->ijk", inner) + ijk
        )  # fmt: skip
    close(lagrangian_christoffel.eager(robot, q), Gamma)


# --- gravity, and all together ----------------------------------------------------------------------------------------


@every_robot
def test_gravity_torque(robot):
    q, *_ = sample(robot)
    for gravity in (None, np.array([1.0, 2, -3])):
        close(
            lagrangian_gravity_torque.eager(robot, q, gravity=gravity),
            gravity_torque.eager(robot, q, gravity=gravity),
            1e-12 + 1e-13 * robot.mass,
        )


@every_robot_with_coordinates
def test_gravity_torque_is_the_gradient_of_the_potential(robot):
    """(58) and (59)."""
    q, *_ = sample(robot)
    close(lagrangian_gravity_torque.eager(robot, q), potential_energy.bind(robot).jacobian("q").eager(q))


@every_robot_with_coordinates
def test_inverse_dynamics(robot):
    q, v, a = sample(robot)
    close(lagrangian_inverse_dynamics.eager(robot, q, v, a), inverse_dynamics.eager(robot, q, v, a))


def test_joints_without_coordinates_are_refused():
    robot = tree(1)
    q, v, a = sample(robot)
    with pytest.raises(ArgumentError, match=r"'joint.*' is .*; Christoffel symbols are for joints with one degree"):
        lagrangian_christoffel.eager(robot, q)
    with pytest.raises(ArgumentError, match="`inverse_dynamics` take all joints"):
        lagrangian_inverse_dynamics.eager(robot, q, v, a)


def test_compiled_equals_eager():
    robot = tree(0, 4, ("revolute", "mimic"))
    q, v, a = sample(robot)
    assert robot.mimics
    close(lagrangian_inverse_dynamics(robot, q, v, a), lagrangian_inverse_dynamics.eager(robot, q, v, a), 1e-13)


# --- the paper's examples ---------------------------------------------------------------------------------------------


def test_any_2r_arm_in_closed_form():
    """(60)-(64), the sign of c_21 put right, for two axes anywhere in space."""
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(2, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    A = np.concatenate([axes, np.cross(rng.normal(size=(2, 3)), axes)], axis=1)
    bodies = robots.random_tree(3, 2, ["revolute"]).inertias
    robot = from_screws(A, np.eye(4), inertias=bodies)  # link frames at the base: D_i are these inertias
    (D_1, D_2), (A_1, A_2) = map(inertia.matrix, bodies), A
    q, v, _ = sample(robot)
    back = se3.Ad(se3.exp(-A_2 * q[1]))  # Ad_2^2
    u = back @ A_1
    M = [[A_1 @ D_1 @ A_1 + u @ D_2 @ u, u @ D_2 @ A_2], [u @ D_2 @ A_2, A_2 @ D_2 @ A_2]]  # (60)
    h = back @ se3.bracket(A_1, A_2) @ D_2 @ u
    k = back @ se3.bracket(A_1, A_2) @ D_2 @ A_2
    close(mass_matrix.eager(robot, q), M, 1e-14)
    close(coriolis_matrix.eager(robot, q, v), [[h * v[1], h * v[0] + k * v[1]], [-h * v[0], 0]], 1e-14)


def test_numbers_of_the_3r_arm():
    robot, (q, _, _) = rrr_example(), RRR
    A, L, D = lagrangian_factors.eager(robot, q)
    upper = [
        [0, 0.1803396224, -0.04259129097, 0.005820917543, 0.001433004734, 0.001433004734],
        [-0.1803396224, 0, 0, 0, -0.07173560909, -0.07173560909],
        [0.04259129097, 0, 0, 0.07173560909, 0, 0],
    ]
    Gamma = lagrangian_christoffel.eager(robot, q)
    for k in range(3):
        digits(Gamma[..., k][np.triu_indices(3)], upper[k])
    digits((L @ A)[12:, 0], [0.2955202067, 0, 0.9553364891, 0, -0.03887696362, 0])  # Ad_3^2 A_1
    digits((L @ A)[12:, 1], [0, -1, 0, 0.3586780454, 0, -0.1516466453])  # Ad_3^3 A_2
    digits(D[12:15, 12:], [
        [0.0021, -0.0065, 0, 0, 0, 0.01], [-0.0065, 0.51, 0, 0, 0, -0.7], [0, 0, 0.5111, -0.01, 0.7, 0]
    ])  # fmt: skip


def test_numbers_of_the_rpr_arm():
    Gamma = lagrangian_christoffel.eager(rpr_example(), RPR[0])
    upper = [
        [0, 1.141318896, 0.02135060185, 0, 0, 0.009525094925],
        [-1.141318896, 0, 0.03950546748, 0, 0, 0.133681104],
        [-0.02135060185, -0.03950546748, 0, 0, 0, 0],
    ]
    for k in range(3):
        digits(Gamma[..., k][np.triu_indices(3)], upper[k])


def test_numbers_of_the_puma_like_arm():
    """Space screws of the 6R arm, and its torque."""
    robot, (q, v, a) = puma_like_example(), PUMA_LIKE
    A = lagrangian_factors.eager(robot, q).A
    wrist = [0, 0, 1, 0.1501, -0.4115, 0]
    want = [
        [0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0.4318], wrist, [0, 1, 0, -0.4331, 0, 0.4115], wrist
    ]  # fmt: skip
    np.testing.assert_allclose(A, block_diag(*np.array(want)[:, :, None]), atol=1e-15)
    tau = [0.9355514166, -39.5116924, -0.6816507826, 0.0007857595275, 0.0116172888, 5.646161783e-05]
    digits(lagrangian_inverse_dynamics.eager(robot, q, v, a), tau)


# --- Propositions 1 and 2 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [robots.puma560(), tree(1, 7, ("revolute", "prismatic", "screw"))], ids=name)
def test_derivatives_of_Ad_along_a_path(robot):
    """(37), (53), (54) and one order more, against the compiler's derivatives; symmetric in the joints."""
    q, *_ = sample(robot)
    B = np.random.default_rng(0).normal(size=6)
    tip = max(range(len(robot.body_names)), key=lambda i: len(robot.path(i)))
    path = robot.path(tip)
    i, j, (k, l) = path[1], path[-1], path[1:3]
    Ad = functools.partial(Ad_along_path.eager, robot, q, B, i, j)
    space = robot.reframed("space")
    steps = [se3.exp.eager(-space.screw(m)[0] * q[m]) for m in path[1:]]
    close(Ad(), se3.Ad.eager(functools.reduce(lambda a, b: b @ a, steps)) @ B, 1e-13)
    for by in ((), (k,), (l, k)):
        slope = Ad_along_path.bind(robot, i=i, j=j, by=by).jacobian("q").eager(q, B)
        want = np.stack([Ad(by=(*by, m)) for m in range(robot.nv)], axis=-1)
        np.testing.assert_allclose(slope, want, atol=1e-12 * np.abs(slope).max())
    assert np.array_equal(Ad(by=(k, l)), Ad(by=(l, k)))
    assert not Ad(by=(path[0],)).any()


def test_a_path_must_lead_on():
    robot = robots.puma560()
    with pytest.raises(ArgumentError, match=r"body 4 is not on the path to body 2, which is \[0, 1, 2\]"):
        Ad_along_path.eager(robot, np.zeros(6), np.zeros(6), 4, 2)
