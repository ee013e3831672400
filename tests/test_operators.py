"""Ploen & Park (1999): the global operators, their factorizations and the recursion, as the paper states them."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from support.trees import CATALOG, SEEDS, armature_bias, close, frictionless, sample, tree
from support.worked_examples import RPR, TIP, digits, rpr_example

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.factorization import factor, mass_matrix_factors, mass_matrix_inverse
from adjoint.dynamics.forward import forward_dynamics
from adjoint.dynamics.global_operators import articulated_bias_wrenches, articulated_operators, operators
from adjoint.dynamics.newton_euler import bias_force, body_motions_and_wrenches, gravity_torque, inverse_dynamics
from adjoint.dynamics.ploen_park import forward_dynamics_recursive, inverse_dynamics_recursive, recursion
from adjoint.errors import ArgumentError
from adjoint.lie import se3

ALL = [*(tree(seed) for seed in SEEDS), *CATALOG]
every_robot = pytest.mark.parametrize("robot", ALL, ids=lambda r: f"{r.name}-{r.nv}")
WITHOUT_MIMICS = [robot for robot in ALL if not robot.mimics]
every_independent_robot = pytest.mark.parametrize("robot", WITHOUT_MIMICS, ids=lambda r: f"{r.name}-{r.nv}")


def upward(robot):
    """V̇_0 = (0, -g)."""
    return np.concatenate([np.zeros(3), -robot.gravity])


# --- (6)-(14) ---------------------------------------------------------------------------------------------------------


@every_robot
def test_G_sums_the_powers_of_Gamma(robot):
    """Γ is nilpotent of the depth of the tree, G = 1 + Γ + Γ² + ··· = (1 - Γ)⁻¹."""
    Gamma, G, *_ = operators.eager(robot, *sample(robot)[:2])
    depth = max(len(robot.path(i)) for i in range(len(robot.body_names)))
    powers = [np.linalg.matrix_power(Gamma, k) for k in range(depth + 1)]
    assert np.any(powers[-2]) and not np.any(powers[-1])
    close(sum(powers), G, 1e-13)
    close(G @ (np.eye(len(G)) - Gamma), np.eye(len(G)), 1e-13 * np.abs(G).max())


@every_robot
def test_the_equations_of_motion_over_all_bodies(robot):
    """(6)-(9), on a base that is moved."""
    q, v, a = sample(robot)
    rng = np.random.default_rng(1)
    V_0, dV_0, F_t = rng.normal(size=(3, 6))
    tip = robot.frame_names[-1]
    o = operators.eager(robot, q, v, base_twist=V_0)
    G, S, J = o.G, o.S, o.J
    V = G @ S @ v + G @ o.P_0 @ V_0  # (6)
    close(o.ad_V, block_diag(*(-se3.ad.eager(V_i).T for V_i in V.reshape(-1, 6))))
    dV_0_up = dV_0 + upward(robot)
    dV = G @ S @ a + G @ o.ad_Sq @ o.Gamma @ V + G @ o.ad_Sq @ o.P_0 @ V_0 + G @ o.P_0 @ dV_0_up  # (7)
    F = G.T @ J @ dV + G.T @ o.ad_V @ J @ V + G.T @ o.P_t.T @ F_t  # (8)
    given = {"applied_wrenches": -F_t[None], "frames": (tip,), "base_twist": V_0, "base_acceleration": dV_0}
    friction = robot.damping * v + robot.friction * np.sign(v)
    rotors = robot.armature * a + armature_bias(robot, v)
    close(S.T @ F + rotors + friction, inverse_dynamics.eager(robot, q, v, a, **given))  # (9)


@every_robot
def test_the_terms_of_the_equations_of_motion(robot):
    """(10)-(14)."""
    robot = frictionless(robot)
    q, v, _ = sample(robot)
    o = operators.eager(robot, q, v)
    GS = o.G @ o.S
    M = GS.T @ o.J @ GS  # (11)
    C = GS.T @ (o.J @ o.G @ o.ad_Sq @ o.Gamma + o.ad_V @ o.J) @ GS  # (12)
    phi = GS.T @ o.J @ o.G @ o.P_0 @ upward(robot)  # (13)
    close(M + np.diag(robot.armature), mass_matrix.eager(robot, q))
    close(phi, gravity_torque.eager(robot, q))
    close(C @ v + phi + armature_bias(robot, v), bias_force.eager(robot, q, v))
    for tip in {robot.frame_names[0], robot.frame_names[1], robot.frame_names[-1]}:
        J_t = operators.eager(robot, q, v, tip).P_t @ GS  # (14)
        np.testing.assert_allclose(J_t, aj.jacobian.eager(robot, q, tip), atol=1e-12)


def test_the_matrix_of_12_is_not_the_coriolis_matrix():
    """Right times v, but not skew with Ṁ: the numbers of the paper's matrix for the RPR arm."""
    o = operators.eager(rpr_example(), *RPR[:2])
    GS = o.G @ o.S
    digits(
        GS.T @ (o.J @ o.G @ o.ad_Sq @ o.Gamma + o.ad_V @ o.J) @ GS,
        [
            [-0.6463602543, 0.03555492074, 0.02042422568],
            [-0.5351045273, 0, 0.1400657274],
            [-0.0182946629, 0.05382094711, 0.03534178374],
        ],
    )


# --- (15)-(26) --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 3])
def test_frames_of_bodies_do_not_matter(seed):
    """Operators change as (15)-(26) say; M, φ, W, Ω not at all, (42), (43)."""
    robot = tree(seed)
    q, v, _ = sample(robot)
    Q_i = se3.random((len(robot.body_names),), rng=seed)
    Q = block_diag(*map(se3.Ad, Q_i))
    back = np.linalg.inv(Q)
    other = robot.reframed(Q_i)
    o, got = operators.eager(robot, q, v), operators.eager(other, q, v, robot.frame_names[-1])
    want = o._replace(
        Gamma=Q @ o.Gamma @ back,
        G=Q @ o.G @ back,
        S=Q @ o.S,
        J=back.T @ o.J @ back,
        P_0=Q @ o.P_0,
        P_t=o.P_t @ back,
        ad_Sq=Q @ o.ad_Sq @ back,
        ad_V=back.T @ o.ad_V @ Q.T,
    )
    for x, y in zip(got, want, strict=True):
        close(x, y)
    h, got = articulated_operators.eager(robot, q), articulated_operators.eager(other, q)
    want = h._replace(
        J_hat=back.T @ h.J_hat @ back,
        Phi=h.Phi @ back,
        Pi=back.T @ h.Pi,
        X=Q @ h.X @ back,
        Y=back.T @ h.Y @ Q.T,
    )
    for x, y in zip(got, want, strict=True):
        close(x, y, 1e-10)


# --- (40)-(46) --------------------------------------------------------------------------------------------------------


@every_independent_robot
def test_articulated_inertias_solve_riccati_s_equation(robot):
    """(41), and the definitions from Φ to Y as matrix equations."""
    q, v, _ = sample(robot)
    o, h = operators.eager(robot, q, v), articulated_operators.eager(robot, q)
    Gamma, S, one = o.Gamma, o.S, np.eye(len(o.G))
    A = np.diag(robot.armature)
    correction = Gamma.T @ h.J_hat @ S @ np.linalg.inv(h.Omega) @ S.T @ h.J_hat @ Gamma
    close(h.J_hat - Gamma.T @ h.J_hat @ Gamma + correction, o.J)
    close(h.Omega, S.T @ h.J_hat @ S + A)
    close(h.Omega @ h.Phi, S.T @ h.J_hat)
    close(h.Pi, Gamma.T @ h.Phi.T)
    close(h.X, (one - S @ h.Phi) @ Gamma)
    close((one - h.X.T) @ h.Y, one, 1e-11 * np.abs(h.Y).max())


@every_independent_robot
def test_factors_of_the_mass_matrix(robot):
    """Propositions 1 and 2, and the same factors as those by recursion, Ω taken apart into pivots."""
    q, _, _ = sample(robot)
    h, M = articulated_operators.eager(robot, q), mass_matrix.eager(robot, q)
    close(h.W @ h.Omega @ h.W.T, M)
    close(h.Z @ h.W, np.eye(robot.nv), 1e-12 * np.abs(h.W).max())
    close(h.Z.T @ np.linalg.inv(h.Omega) @ h.Z, mass_matrix_inverse.eager(robot, q), 1e-15 * np.linalg.cond(M) + 1e-12)
    W, Omega = mass_matrix_factors.eager(robot, q)
    of_joints = factor(h.Omega)
    close(h.W @ of_joints.W, W, 1e-10)
    close(of_joints.Omega, Omega, 1e-10)


@every_independent_robot
def test_table_1(robot):
    """The spatial operators' identities, without armature as there: P = E_ψ P E_ψ* + M, ψ⁻¹ = φ⁻¹ + K H, ..."""
    q, v, _ = sample(robot)
    h = articulated_operators.eager(robot.replace(armature=0 * robot.armature), q)
    o, one = operators.eager(robot, q, v), np.eye(len(h.Y))
    phi, H, P = o.G.T, o.S.T, h.J_hat
    D, G, K, E_psi, psi = h.Omega, h.Phi.T, h.Pi, h.X.T, h.Y
    close(E_psi @ P @ E_psi.T + o.J, P)
    close(E_psi @ P @ o.Gamma + o.J, P)
    close(H @ P @ H.T, D)
    close(H @ G, np.eye(robot.nv))
    close(o.Gamma.T @ G, K)
    close(np.linalg.inv(phi) + K @ H, one - E_psi)
    close(phi @ (one - o.Gamma.T), one, 1e-12 * np.abs(phi).max())
    close(np.eye(robot.nv) + H @ phi @ K, h.W, 1e-12 * np.abs(phi).max())
    close(np.eye(robot.nv) - H @ psi @ K, h.Z, 1e-12 * np.abs(psi).max())


def test_numbers_of_the_rpr_arm():
    h = articulated_operators.eager(rpr_example(), RPR[0])
    digits(np.diag(h.Omega), [0.6010805479, 2.34307246, 0.0295])
    digits(h.W, [[1, 0.02445871836, -0.2988769413], [0, 1, 2.306420956], [0, 0, 1]])
    digits(h.Z, [[1, -0.02445871836, 0.3552890419], [0, 1, -2.306420956], [0, 0, 1]])
    digits(h.Pi[:6, 1], [-0.01967955006, 0.3251761354, 0.02445871836, 1, 0.03888750333, -0.1257127265])
    digits(h.Pi[6:12, 2], [0.5437875417, 1.922568383, -0.2767705148, 2.306420956, 0, 4.531562848])


# --- (47)-(68) --------------------------------------------------------------------------------------------------------


@every_independent_robot
def test_the_recursion_is_forward_dynamics(robot):
    q, v, tau = sample(robot)
    V_0, dV_0, F_t = np.random.default_rng(1).normal(size=(3, 6))
    around = {"gravity": [1.0, -2, 3], "base_twist": V_0, "base_acceleration": dV_0, "frames": robot.frame_names[-1:]}
    slack = 1e-15 * np.linalg.cond(mass_matrix.eager(robot, q)) + 1e-12
    for applied, exerted in (({}, {}), ({"applied_wrenches": -F_t[None]}, {"tip_wrenches": F_t[None]})):
        options = around if applied else {}
        want = forward_dynamics.eager(robot, q, v, tau, **options, **applied)
        close(forward_dynamics_recursive.eager(robot, q, v, tau, **options, **exerted), want, 10 * slack)


@pytest.mark.parametrize("seed", [1, 3])
def test_the_recursion_knows_accelerations_and_wrenches(seed):
    """V̇ = λ + α and F = P + ẑ + Ĵ λ are those of (7) and (8)."""
    robot = frictionless(tree(seed))
    robot = robot.replace(armature=0 * robot.armature)  # it takes part in τ, not in F
    q, v, tau = sample(robot)
    r, o = recursion.eager(robot, q, v, tau), operators.eager(robot, q, v)
    V = o.G @ o.S @ v
    dV = o.G @ (o.S @ r.a + o.ad_Sq @ o.Gamma @ V + o.P_0 @ upward(robot))
    F = o.G.T @ (o.J @ dV + o.ad_V @ o.J @ V)
    J_hat = articulated_operators.eager(robot, q).J_hat
    close((r.lam + r.alpha).ravel(), dV, 1e-10)
    close((r.P + r.z_hat).ravel() + J_hat @ r.lam.ravel(), F, 1e-10)
    close(o.S.T @ F, tau, 1e-9)


@every_independent_robot
def test_the_bias_wrenches_of_39(robot):
    """F = Ĵ V̇ + b, in three ways: Newton-Euler's F and V̇, the matrix form of b, and the recursion's P + ẑ - Ĵ α."""
    q, v, tau = sample(robot)
    V_0, dV_0, F_t = np.random.default_rng(1).normal(size=(3, 6))
    tip = {"frames": robot.frame_names[-1:], "base_twist": V_0}
    applied, tip = tip | {"applied_wrenches": -F_t[None]}, tip | {"tip_wrenches": F_t[None]}
    b = articulated_bias_wrenches.eager(robot, q, v, tau, **tip).ravel()
    o, h = operators.eager(robot, q, v, base_twist=V_0), articulated_operators.eager(robot, q)

    r = recursion.eager(robot, q, v, tau, base_acceleration=dV_0, **tip)
    slack = 1e-14 * np.linalg.cond(mass_matrix.eager(robot, q)) + 1e-10
    close((r.P + r.z_hat).ravel() - h.J_hat @ r.alpha.ravel(), b, slack)

    moving = body_motions_and_wrenches.eager(robot, q, v, r.a, base_acceleration=dV_0, **applied)
    up = o.G @ o.P_0 @ upward(robot)
    close(h.J_hat @ (moving.accelerations.ravel() + up) + b, moving.wrenches.ravel(), slack)

    V = o.G @ (o.S @ v + o.P_0 @ V_0)
    net = tau - robot.damping * v - robot.friction * np.sign(v) - armature_bias(robot, v)
    drift = o.ad_Sq @ (o.Gamma @ V + o.P_0 @ V_0)
    close(h.Y @ (h.X.T @ h.J_hat @ drift + h.Pi @ net + o.ad_V @ o.J @ V + o.P_t.T @ F_t), b, slack)


def test_numbers_of_the_recursion():
    robot = rpr_example()
    q, v, a = RPR
    tau = inverse_dynamics.eager(robot, q, v, a, applied_wrenches=-TIP, frames="tool")
    r = recursion.eager(robot, q, v, tau, tip_wrenches=TIP, frames="tool")
    digits(r.a_hat[1], [0, 0.1477601033, 0.4776682446, 0, 0.2149507101, -0.0664920465])
    digits(r.a_tilde[1], [0, 0, 0, 0, -0.1433004734, 0.044328031])
    digits(r.a_tilde[2], [-0.1950016168, 0, 0.3831313097, -0.2043880762, 0, -0.171175068])
    digits(r.b_tilde[0], [0.001, -0.0025, 0, -0.025, -0.01, 0])
    digits(r.b_tilde[2], [0.01742071739, 0.03239577503, -0.003836509238, 0.2141271119, -0.1083958982, 0.103469947])
    digits(r.alpha[2], [-0.1950016168, 0, 0.3831313097, 8.187379943, 2.755752754, 4.0999672])
    digits(r.P[0], [-1.470476421, -11.45524214, 0.6702663425, 1.434641054, 1.436745541, 44.57645018])
    digits(r.tau_hat, [-0.1023663463, 1.51982114, 0.05438702488])
    digits(r.z_hat[0], [0.009417519238, 0.4643518903, 0.01784976327, 1.51982114, -0.01860935893, 0.06015899836])
    digits(r.c_hat, [-0.2, 0.5951082563, 1.843627962])
    digits(r.lam[2], [-0.1702805821, 0.3408959587, -0.08666738522, 0.2938039463, -0.08598028402, -0.5186186778])
    digits(r.a, a)


# --- how they are called ----------------------------------------------------------------------------------------------


def test_compiled_equals_eager():
    robot, rng = robots.two_link(), np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 4, 2))
    for function, given in ((operators, (q, v)), (articulated_operators, (q,)), (recursion, (q, v, tau))):
        got = function(robot, *given)
        for k in range(4):
            for x, y in zip(got, function.eager(robot, *(g[k] for g in given)), strict=True):
                np.testing.assert_allclose(x[k], y, atol=1e-13 * np.abs(y).max())
    V_0 = rng.normal(size=6)
    got = articulated_bias_wrenches(robot, q, v, tau, base_twist=V_0)
    close(got, [articulated_bias_wrenches.eager(robot, *one, base_twist=V_0) for one in zip(q, v, tau, strict=True)])


def test_what_is_refused():
    with_mimics, empty = tree(0), robots.random_tree(0, 0)
    assert with_mimics.mimics
    q, v, tau = sample(with_mimics)
    with pytest.raises(ArgumentError, match=r"'joint.*' is a mimic"):
        articulated_operators.eager(with_mimics, q)
    with pytest.raises(ArgumentError, match=r"'joint.*' is a mimic"):
        forward_dynamics_recursive.eager(with_mimics, q, v, tau)
    with pytest.raises(ArgumentError, match=r"'joint.*' is a mimic"):
        articulated_bias_wrenches.eager(with_mimics, q, v, tau)
    with pytest.raises(ArgumentError, match="no moving bodies"):
        operators.eager(empty, [], [])
    with pytest.raises(ArgumentError, match="no moving bodies"):
        articulated_operators.eager(empty, [])
    with pytest.raises(ArgumentError, match="no frame 'hand'"):
        operators.eager(with_mimics, q, v, "hand")


@pytest.mark.parametrize("seed", range(4))
def test_inverse_dynamics_in_twists(seed):
    """PP (1)-(5), in twists, equals `inverse_dynamics`, in true accelerations: every joint, base motion and load."""
    robot = robots.random_tree(seed, 7)
    rng = np.random.default_rng(seed)
    q, (v, a) = aj.random_configuration(robot, rng=rng), rng.normal(size=(2, robot.nv))
    around = {
        "gravity": rng.normal(size=3),
        "base_twist": rng.normal(size=6),
        "base_acceleration": rng.normal(size=6),
        "frames": (robot.frame_names[-1], robot.body_names[0]),
    }
    exerted = rng.normal(size=(2, 6))
    want = inverse_dynamics_recursive.eager(robot, q, v, a, **around, tip_wrenches=exerted)
    got = aj.inverse_dynamics.eager(robot, q, v, a, **around, applied_wrenches=-exerted)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())
