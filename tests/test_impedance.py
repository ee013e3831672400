"""`control.impedance` and `control.admittance`: their laws, energy, forces against a wall, bad input."""

import numpy as np
import pytest
from support.interaction import moving_error, resting_error, swinging, wall_at
from support.robots import urdf

import adjoint as aj
from adjoint import control
from adjoint.lie import so3
from adjoint.simulation import force, sensor, simulate

PUMA = aj.robots.puma560()
Q = np.array([0.2, -2.4, 0.0, 0.3, 1.2, -0.4])  # away from singular poses
K = np.array([30.0, 40, 50, 600, 800, 1000])
D = np.array([4.0, 5, 6, 60, 70, 80])


def spd(seed):
    """A symmetric positive definite (6, 6)."""
    A = np.random.default_rng(seed).normal(size=(6, 6))
    return A @ A.T + 3 * np.eye(6)


def jacobian_of_error(e):
    """B (6, 6), and Bᵀ F are the forces against e."""
    return np.block([[so3.right_jacobian(e[:3]), np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])


def pushed(robot, frame, q, v, tau, F):
    """Accelerations under joint forces and a wrench F (6,) along the axes of the base, at the frame's origin."""
    return aj.forward_dynamics(robot, q, v, tau + aj.jacobian(robot, q, frame, "world").T @ F)


# --- impedance --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_inertia_the_frame_keeps_its_own():
    """Λ_e ë + (C_e + D) ė + K e = -Bᵀ F, with Λ_e = Bᵀ Λ B and C_e = Bᵀ (C_x B + Λ Ḃ); the target moves and turns."""
    rng, robot, frame = np.random.default_rng(2), PUMA, "tool"
    K, D = spd(0) * 20, spd(1)
    law = control.impedance(robot, swinging, frame, stiffness=K, damping=D, singular_damping=0.0)
    derivatives = moving_error(robot, frame)
    for t in (0.0, 0.3, 0.7):
        q, v, F = Q + rng.uniform(-0.3, 0.3, 6), rng.normal(size=6), rng.normal(size=6) * 10
        a = pushed(robot, frame, q, v, law(robot, None, t, q, v).tau, F)
        e, rate, second = derivatives(t, q, v, a)
        J, J_rate = aj.jacobian(robot, q, frame, "world"), aj.jacobian_rate(robot, q, v, frame, "world")
        inv, M, C = np.linalg.inv(J), aj.mass_matrix(robot, q), aj.dynamics.coriolis_matrix(robot, q, v)
        B, B_rate = jacobian_of_error(e), np.zeros((6, 6))
        B_rate[:3, :3] = so3.right_jacobian.jvp(e[:3], rate[:3])[1]
        Lambda, C_x = inv.T @ M @ inv, inv.T @ (C - M @ inv @ J_rate) @ inv
        left = B.T @ Lambda @ B @ second + B.T @ (C_x @ B + Lambda @ B_rate) @ rate + D @ rate + K @ e
        scale = np.abs(B.T @ Lambda @ B @ second).max() + np.abs(K @ e).max()
        np.testing.assert_allclose(left, -B.T @ F, atol=1e-13 * np.linalg.cond(J) ** 2 * scale)


@pytest.mark.slow
def test_with_inertia_the_law_is_linear():
    """M_d ë + D ė + K e = -Bᵀ F, for full matrices and a target that moves and turns."""
    rng, robot, frame = np.random.default_rng(3), PUMA, "tool"
    M, K, D = spd(2), spd(0) * 20, spd(1)
    law = control.impedance(robot, swinging, frame, stiffness=K, damping=D, inertia=M, singular_damping=0.0)
    derivatives = moving_error(robot, frame)
    for t in (0.0, 0.3, 0.7):
        q, v, F = Q + rng.uniform(-0.3, 0.3, 6), rng.normal(size=6), rng.normal(size=6) * 10
        R = aj.forward_kinematics(robot, q, frame)[:3, :3]
        felt = np.concatenate([R.T @ F[:3], R.T @ F[3:]])  # seen from the frame
        a = pushed(robot, frame, q, v, law.replace(wrench=felt)(robot, None, t, q, v).tau, F)
        e, rate, second = derivatives(t, q, v, a)
        cond = np.linalg.cond(aj.jacobian(robot, q, frame, "world"))
        residual = M @ second + D @ rate + K @ e + jacobian_of_error(e).T @ F
        np.testing.assert_allclose(residual, 0, atol=1e-13 * cond**2 * np.abs(M @ second).max())


def test_a_target_at_rest_needs_no_inertia():
    """τ = φ + Jᵀ B⁻ᵀ (K e + D ė), by the transposed Jacobian, at any pose; the singular home too."""
    for q in (Q, np.zeros(6)):
        v = np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.2])
        T_d = aj.forward_kinematics(PUMA, q + 0.2, "tool")
        tau = control.impedance(PUMA, T_d, "tool", stiffness=K, damping=D)(PUMA, None, 0.0, q, v).tau
        e, rate, _ = resting_error(PUMA, "tool")(T_d, q, v, np.zeros(6))
        F = np.linalg.solve(jacobian_of_error(e).T, K * e + D * rate)
        want = aj.gravity_torque(PUMA, q) + aj.jacobian(PUMA, q, "tool", "world").T @ F
        np.testing.assert_allclose(tau, want, atol=1e-11 * np.abs(want).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma", "panda"])
def test_energy_never_grows_without_input(name):
    """½ vᵀ M v + ½ eᵀ K e falls by ėᵀ D ė and, for a redundant arm, by the damping of its null space.

    The rate of the energy is checked at every instant of a run, the energy itself between instants.
    """
    robot, frame = (PUMA, "tool") if name == "puma" else (aj.load(urdf("panda")), "panda_hand")
    q = Q if name == "puma" else np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.7, 0.02])
    T_d = aj.forward_kinematics(robot, q + 0.3, frame)
    law = control.impedance(robot, T_d, frame, stiffness=K, damping=D, singular_damping=0.0)
    v = np.random.default_rng(0).normal(size=robot.nv)
    run = simulate(robot, law, q=q, v=v, duration=0.5, dt=2e-4, record=10)
    e, rate, _ = resting_error(robot, frame)(T_d, run.q, run.v, run.a)
    M, C = aj.mass_matrix(robot, run.q), aj.dynamics.coriolis_matrix(robot, run.q, run.v)
    energy = 0.5 * np.einsum("ti,tij,tj->t", run.v, M, run.v) + 0.5 * np.einsum("ti,i->t", e**2, K)
    power = np.einsum("ti,tij,tj->t", run.v, M, run.a) + np.einsum("ti,tij,tj->t", run.v, C, run.v)
    power += np.einsum("ti,i,ti->t", e, K, rate)
    lost = np.einsum("ti,i,ti->t", rate, D, rate)
    if robot.nv > 6:  # the null space: -null_kd vᵀ M (1 - J̄ J) v with null_kd = 1
        N = aj.dynamics.null_space_projector(robot, run.q, frame, "world")
        lost = lost + np.einsum("ti,tij,tjk,tk->t", run.v, N, M, run.v)
    assert (lost > -1e-12).all()
    np.testing.assert_allclose(power, -lost, atol=1e-9 * np.abs(power).max())
    assert (np.diff(energy) < 0).all() and energy[-1] < 0.5 * energy[0]


@pytest.mark.slow
def test_the_force_against_256_walls():
    """Pressed x_d behind a wall of stiffness K_e, a spring K exerts K x_d / (1 + K/K_e): 256 walls in one run."""
    T, depth = aj.forward_kinematics(PUMA, Q, "tool"), 0.02
    walls = wall_at("tool", [0.0, 0, 1], T[2, 3] - 1e-3, np.geomspace(1e2, 1e5, 256), damping=100.0)
    T_d = T.copy()
    T_d[2, 3] -= 1e-3 + depth
    law = control.impedance(PUMA, T_d, "tool", stiffness=K, damping=4 * D)
    run = simulate(PUMA, law, q=Q, duration=9.0, dt=1e-3, record=1000, forces=walls)
    K_e, z = walls.numbers["stiffness"], aj.forward_kinematics(PUMA, run.q[:, -1], "tool")[:, 2, 3]
    assert np.abs(run.v[:, -1]).max() < 1e-6  # all are at rest
    want = K[5] * depth / (1 + K[5] / K_e)
    np.testing.assert_allclose(K_e * (T[2, 3] - 1e-3 - z), want, rtol=1e-4)
    one = simulate(PUMA, law, q=Q, duration=9.0, dt=1e-3, record=1000, forces=walls.replace(stiffness=K_e[100]))
    np.testing.assert_array_equal(run.q[100], one.q)


@pytest.mark.slow
def test_the_law_holds_in_contact():
    """With inertia, at every instant of a run into a wall: the wrench is fed by `simulate`."""
    T = aj.forward_kinematics(PUMA, Q, "tool")
    wall = wall_at("tool", [0.0, 0, 1], T[2, 3] - 0.01, 5e3, damping=50.0)
    T_d, M = T.copy(), np.array([0.5, 0.5, 0.5, 5, 5, 5])
    T_d[2, 3] -= 0.05
    law = control.impedance(PUMA, T_d, "tool", stiffness=K, damping=D, inertia=M, singular_damping=0.0)
    run = simulate(PUMA, law, q=Q, duration=0.5, dt=1e-3, forces=wall)
    e, rate, second = resting_error(PUMA, "tool")(T_d, run.q, run.v, run.a)
    pose, V = aj.forward_kinematics(PUMA, run.q, "tool"), aj.jacobian(PUMA, run.q, "tool", "world") @ run.v[..., None]
    depth = T[2, 3] - 0.01 - pose[:, 2, 3]
    f = np.where(depth > 0, np.maximum(5e3 * depth - 50 * V[:, 5, 0], 0), 0)
    assert f.max() > 10
    F = np.zeros((len(f), 6))
    F[:, 5] = f
    np.testing.assert_allclose(M * second + D * rate + K * e, -F, atol=1e-9 * np.abs(M * second).max())


# --- admittance -------------------------------------------------------------------------------------------------------


def steady_wrench(robot, p, t, q, v):
    return p.size


def imagined_wrench(robot, p, t, q, v, wrenches):
    return p.size


@pytest.mark.slow
def test_admittance_yields_like_its_virtual_mass():
    """M (ż' - ż)/h + D ż' + K z' = Bᵀ F over every period, and at the end z = K⁻¹ Bᵀ F."""
    h, M = 1e-3, np.array([0.5, 0.5, 0.5, 5, 5, 5])
    T_d = aj.forward_kinematics(PUMA, Q, "tool")
    stiff = control.operational(PUMA, T_d, "tool", kp=1600.0, kd=80.0)
    law = control.admittance(stiff, stiffness=K, damping=2 * np.sqrt(K * M), inertia=M, period=h)
    push = force(steady_wrench, frame="tool", size=np.array([3.0, -2, 4, 20, 10, -15]))
    run = simulate(PUMA, law, q=Q, duration=2.0, dt=h, forces=push)
    z, rate = run.state[0]
    R = aj.forward_kinematics(PUMA, run.q, "tool")[:, :3, :3]
    F = np.concatenate([R @ push.numbers["size"][:3], R @ push.numbers["size"][3:]], axis=-1)
    B = np.stack([jacobian_of_error(-x) for x in z])
    left = M * np.diff(rate, axis=0) / h + law.numbers["damping"] * rate[1:] + K * z[1:]
    want = (B.mT @ F[..., None])[:-1, :, 0]
    np.testing.assert_allclose(left, want, atol=1e-9 * np.abs(want).max())
    np.testing.assert_allclose(K * z[-1], want[-1], atol=1e-4 * np.abs(want).max())
    assert np.linalg.norm(z[-1, :3]) > 0.1
    # The frame is at the yielded pose, but for what the push does to the law inside: kp e = Λ⁻¹ F, e the inner error.
    T, pose = aj.forward_kinematics(PUMA, run.q[-1], "tool"), np.eye(4)
    pose[:3, :3], pose[:3, 3] = so3.exp(z[-1, :3]) @ T_d[:3, :3], T_d[:3, 3] + z[-1, 3:]
    J = aj.jacobian(PUMA, run.q[-1], "tool", "world")
    inner = np.concatenate([so3.log(pose[:3, :3] @ T[:3, :3].T), (pose - T)[:3, 3]])
    sag = J @ np.linalg.solve(aj.mass_matrix(PUMA, run.q[-1]), J.T @ F[-1]) / 1600
    np.testing.assert_allclose(jacobian_of_error(inner) @ inner, -sag, atol=2e-3 * np.abs(sag).max())


@pytest.mark.slow
def test_the_pose_that_yields_is_told_with_its_twist_and_acceleration():
    """The law inside, without a push on the robot but with a wrench that is felt, is exact: e + its rates follow z."""
    h, M = 1e-3, np.array([0.5, 0.5, 0.5, 5, 5, 5])
    T_d = aj.forward_kinematics(PUMA, Q, "tool")
    stiff = control.operational(PUMA, T_d, "tool", kp=100.0, kd=20.0, singular_damping=0.0)
    law = control.admittance(stiff, stiffness=K, damping=D, inertia=M, period=h)
    felt = sensor(imagined_wrench, size=np.array([3.0, -2, 4, 20, 10, -15]))
    run = simulate(PUMA, law, q=Q, duration=0.3, dt=h, sensors={"wrench": felt})
    z = run.state[0].offset
    T = aj.forward_kinematics(PUMA, run.q, "tool")
    assert np.linalg.norm(z[-1, :3]) > 0.05
    off = T[:, :3, 3] - T_d[:3, 3] - z[:, 3:]
    turned = so3.log(T[:, :3, :3] @ T_d[:3, :3].T) - z[:, :3]
    # What is told is held over a period h: the lag is below h. Without the twist it would be kd/kp = 0.2 s.
    rate = np.abs(run.state[0].rate).max(axis=0)
    assert (np.abs(np.concatenate([turned, off], axis=1)).max(axis=0) < h * rate).all()


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input():
    good = {"stiffness": 1.0, "damping": 1.0}
    crooked = np.eye(6)
    crooked[0, 1] = 1.0
    cases = [
        ({"stiffness": -1.0}, "impedance: stiffness must be finite and positive or 0"),
        ({"damping": np.ones(3)}, r"impedance: damping has shape \(3,\); it must be a number or \(6,\)"),
        ({"damping": np.eye(5)}, r"impedance: damping has shape \(5, 5\); it must be finite numbers \(6, 6\)"),
        ({"stiffness": crooked}, "impedance: stiffness must be symmetric; its entries differ by up to 1"),
        ({"stiffness": np.diag([1.0, 1, 1, 1, 1, -1])}, "impedance: stiffness must be positive semidefinite; .* is -1"),
        ({"inertia": 0.0}, "impedance: inertia must be finite and positive, got 0"),
        ({"inertia": [1.0, 1, 1, 1, 1, np.inf]}, "impedance: inertia must be finite and positive, got inf at place 5"),
        ({"inertia": np.zeros((6, 6))}, "impedance: inertia must be positive definite"),
        ({"part": "w"}, "part is 'w'"),
    ]
    for options, message in cases:
        with pytest.raises(aj.ArgumentError, match=message):
            control.impedance(PUMA, np.eye(4), "tool", **{**good, **options})
    with pytest.raises(aj.ArgumentError, match="no frame 'hand'"):
        control.impedance(PUMA, np.eye(4), "hand", **good)
    inner = control.operational(PUMA, np.eye(4), "tool", kp=1.0, kd=1.0)
    for law in (None, control.pd(np.zeros(6), kp=1.0, kd=1.0)):
        with pytest.raises(aj.ArgumentError, match="admittance: inner must be a law that follows poses"):
            control.admittance(law, **good, inertia=1.0, period=0.01)  # type: ignore[arg-type]
    with pytest.raises(aj.ArgumentError, match="admittance: period must be a positive number, got 0"):
        control.admittance(inner, **good, inertia=1.0, period=0)
    with pytest.raises(aj.ArgumentError, match="admittance: inertia must be finite and positive"):
        control.admittance(inner, **good, inertia=-1.0, period=0.01)
    with pytest.raises(aj.ArgumentError, match="already"):
        soft = control.impedance(PUMA, np.eye(4), "tool", **good)
        control.admittance(soft, **good, inertia=1.0, period=0.01)
