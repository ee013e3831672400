"""`control.operational`: the error law, the null space, singular poses, references, bad input."""

import numpy as np
import pytest
from support.c_code import run_c
from support.interaction import moving_error, resting_error, swinging
from support.robots import urdf
from support.trees import frictionless

import adjoint as aj
from adjoint import control
from adjoint.lie import so3
from adjoint.simulation import simulate
from adjoint.trajectory import line, quintic

KP, KD = 100.0, np.array([20.0, 20, 20, 14, 14, 14])
PUMA = aj.robots.puma560()


@pytest.fixture(scope="module")
def panda():
    return aj.load(urdf("panda"))


def states(robot, count=20, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, robot.nq)), rng.normal(size=(count, robot.nv)), rng.uniform(0, 1, count)


def slack(robot, q, frame):
    """Bounds (...,) of rounding in accelerations of a frame that go through Λ: the condition of what is inverted."""
    J = aj.jacobian(robot, q, frame, "world")
    mobility = J @ np.linalg.solve(aj.mass_matrix(robot, q), J.mT)
    return 1e-14 * np.linalg.cond(mobility)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma", "panda"])
def test_the_error_law_is_exact(name, panda):
    """ë + kd ė + kp e = 0 of a target that moves and turns, with errors of up to 3 rad; e is differentiated by jvp."""
    robot, frame = (PUMA, "tool") if name == "puma" else (panda, "panda_hand")
    q, v, t = states(robot)
    options = {"posture": np.zeros(robot.nq), "null_kp": 5.0, "singular_damping": 0.0}
    law = control.operational(robot, swinging, frame, kp=KP, kd=KD, **options)
    a = aj.forward_dynamics(robot, q, v, law(robot, None, t, q, v).tau)
    e, rate, second = moving_error(robot, frame)(t, q, v, a)
    assert np.linalg.norm(e[:, :3], axis=1).max() > 2
    terms = np.abs(second).max(axis=1) + np.abs(KD * rate).max(axis=1) + np.abs(KP * e).max(axis=1)
    assert (np.abs(second + KD * rate + KP * e).max(axis=1) < slack(robot, q, frame) * terms).all()


@pytest.mark.slow
def test_khatibs_formula(panda):
    """τ = Jᵀ (Λ V̇ + μ + p) + N (M a_0 + C v + φ), of the library's Λ, μ, p and N.

    Where rotations agree, φ = 0, J(φ) = 1 and φ̇ = -ω, so that V̇ = kp e - kd V for a target at rest.
    """
    robot, frame = panda, "panda_hand"
    q, v = (x[0] for x in states(robot, seed=4)[:2])
    e, posture = np.array([0, 0, 0, 0.02, -0.1, 0.05]), 0.3 * np.ones(robot.nq)
    T_d = aj.forward_kinematics(robot, q, frame)
    T_d[:3, 3] += e[3:]
    options = {"posture": posture, "null_kp": 9.0, "null_kd": 6.0, "singular_damping": 0.0}
    law = control.operational(robot, T_d, frame, kp=KP, kd=KD, **options)
    task, J = aj.operational_space(robot, q, v, frame, "world"), aj.jacobian(robot, q, frame, "world")
    F = task.inertia @ (KP * e - KD * (J @ v)) + task.bias + task.gravity
    rest = aj.mass_matrix(robot, q) @ (9.0 * (posture - q) - 6.0 * v) + aj.bias_force(robot, q, v)
    tau = J.T @ F + aj.dynamics.null_space_projector(robot, q, frame, "world") @ rest
    np.testing.assert_allclose(law(robot, None, 0.0, q, v).tau, tau, atol=slack(robot, q, frame) * np.abs(tau).max())


@pytest.mark.slow
def test_a_run_decays_as_the_error_law_says():
    """Critically damped: e(t) = (e_0 + (ė_0 + k e_0) t) exp(-k t). Torques are held over dt, to first order."""
    robot, frame, k = PUMA, "tool", 10.0
    q = np.array([0.2, -0.6, 0.8, 0.3, 0.7, -0.4])
    T_d = aj.forward_kinematics(robot, q + 0.3, frame)
    law = control.operational(robot, T_d, frame, kp=k**2, kd=2 * k, singular_damping=0.0)
    off = []
    for dt in (2e-3, 1e-3):
        run = simulate(robot, law, q=q, v=0.2 * np.ones(6), duration=0.8, dt=dt, integrator="rk4")
        e, rate, _ = resting_error(robot, frame)(T_d, run.q, run.v, run.a)
        t = run.t[:, None]
        off.append(np.abs(e - (e[0] + (rate[0] + k * e[0]) * t) * np.exp(-k * t)).max())
    assert off[1] < 2e-3 and 1.8 < off[0] / off[1] < 2.2


@pytest.mark.slow
def test_the_null_space_goes_to_its_posture_and_the_frame_stays(panda):
    robot, frame = frictionless(panda), "panda_hand"
    q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.7, 0.02])
    T_d, posture = aj.forward_kinematics(robot, q, frame), q + np.array([0.5, 0, 0, 0, 0, 0, 0, 0])
    law = control.operational(
        robot, T_d, frame, kp=400.0, kd=40.0, posture=posture, null_kp=25.0, null_kd=10.0, singular_damping=0.0
    )
    run = simulate(robot, law, q=q, duration=2.0, dt=1e-3, record=20)
    T = aj.forward_kinematics(robot, run.q, frame)
    np.testing.assert_allclose(T, np.broadcast_to(T_d, T.shape), atol=1e-3)  # of first order in dt while it moves
    np.testing.assert_allclose(T[-1], T_d, atol=1e-6)
    assert abs(run.q[-1, 0] - q[0]) > 0.1
    # At rest, N M (posture - q) = 0: nothing that the frame does not feel is left.
    left = aj.dynamics.null_space_projector(robot, run.q[-1], frame, "world") @ aj.mass_matrix(robot, run.q[-1])
    np.testing.assert_allclose(left @ (posture - run.q[-1]), 0, atol=1e-3)


def test_singular_poses():
    """At q_5 = 0 the PUMA's wrist is singular. Damping keeps torques finite, and e decays along all axes that are left.

    The error is one that joints can make, e = J δ; at v = 0 and for such small errors, V̇ = kp e.
    """
    q, v = np.array([0.3, -0.5, 0.4, 0.2, 0.0, 0.1]), np.zeros(6)
    J, T_d = aj.jacobian(PUMA, q, "tool", "world"), aj.forward_kinematics(PUMA, q, "tool")
    assert np.linalg.cond(J) > 1e12
    e = J @ np.array([0.01, 0.02, -0.01, 0.03, 0.02, 0.01])
    T_d[:3, :3], T_d[:3, 3] = so3.exp(e[:3]) @ T_d[:3, :3], T_d[:3, 3] + e[3:]
    for damping in (1e-2, 1e-3):
        law = control.operational(PUMA, T_d, "tool", kp=100.0, kd=20.0, singular_damping=damping)
        tau = law(PUMA, None, 0.0, q, v).tau
        assert np.abs(tau).max() < 200
        V_rate = J @ aj.forward_dynamics(PUMA, q, v, tau)
        # Λ⁻¹ - Λ_d⁻¹ = d² B: what is left has eigenvalues of Λ⁻¹ that are at least 1/100 of the mean ones.
        np.testing.assert_allclose(V_rate, 100 * e, atol=100 * damping**2 * np.abs(100 * e).max())
    exact = control.operational(PUMA, T_d, "tool", kp=100.0, kd=20.0, singular_damping=0.0)
    T_d[:3, :3] = so3.rotation_x(0.5) @ T_d[:3, :3]
    assert not np.abs(exact.replace(reference=T_d)(PUMA, None, 0.0, q, v).tau).max() < 1e6


def test_a_plane_arm_has_two_axes():
    """Two joints: the axes x and y. Both are straight lines under one pair of gains."""
    robot = aj.robots.two_link()
    frame = robot.frame_names[-1]
    q, v = np.array([0.3, 1.1]), np.array([0.5, -0.7])
    T_d = aj.forward_kinematics(robot, q + 0.2, frame)
    law = control.operational(robot, T_d, frame, kp=KP, kd=20.0, part="x y", singular_damping=0.0)
    a = aj.forward_dynamics(robot, q, v, law(robot, None, 0.0, q, v).tau)
    e, rate, second = resting_error(robot, frame)(T_d, q, v, a)
    np.testing.assert_allclose((second + 20 * rate + KP * e)[3:5], 0, atol=1e-10)


@pytest.mark.slow
def test_trajectories_and_batches():
    """A `PoseTrajectory` is followed; 3 laws of a batch are bit for bit three runs."""
    q = np.array([0.2, -0.6, 0.8, 0.3, 0.7, -0.4])
    T_0 = aj.forward_kinematics(PUMA, q, "tool")
    T_1 = T_0.copy()
    T_1[:3, 3] -= [0.1, 0.1, 0.05]
    path = line(T_0, T_1, profile=quintic([0.0], [1.0], duration=1.0))
    law = control.operational(PUMA, path, "tool", kp=400.0, kd=40.0)
    many = law.replace(kp=np.array([300.0, 400.0, 500.0]))
    runs = simulate(PUMA, many, q=q, duration=1.0, dt=1e-3, record=10)
    one = simulate(PUMA, law, q=q, duration=1.0, dt=1e-3, record=10)
    np.testing.assert_array_equal(runs.q[1], one.q)
    p = aj.forward_kinematics(PUMA, runs.q, "tool")[..., :3, 3]
    np.testing.assert_allclose(p, np.broadcast_to(path(one.t)[0][:, :3, 3], p.shape), atol=1e-3)


@pytest.mark.slow
def test_c_export(tmp_path):
    law = control.operational(PUMA, np.eye(4), "tool", kp=100.0, kd=20.0)
    k = law.kernel(PUMA)
    q, v, _ = states(PUMA, 1)
    T_d = aj.forward_kinematics(PUMA, q[0] + 0.1, "tool")
    args = (0.0, q[0], v[0], T_d, np.zeros(6), np.zeros(6), *law.numbers.values())
    (tau,) = run_c(k, args, tmp_path)
    want = k(*args)
    np.testing.assert_allclose(tau, want, atol=1e-11 * np.abs(want).max())


def test_bad_input():
    good = {"kp": 1.0, "kd": 1.0}
    cases = [
        (("tool?",), good, "has no frame 'tool\\?'"),
        (("tool",), {**good, "kp": -1.0}, "operational: kp must be finite and positive or 0, got -1"),
        (("tool",), {**good, "kd": [1.0, 2.0]}, r"operational: kd has shape \(2,\); it must be a number or \(6,\)"),
        (("tool",), {**good, "kd": np.nan}, "operational: kd must be finite and positive or 0, got nan"),
        (("tool",), {**good, "part": "x w"}, "part is 'x w'; it must be one of"),
        (("tool",), {**good, "posture": np.zeros(5)}, r"operational: argument 'posture' has shape \(5,\)"),
        (("tool",), {**good, "null_kp": -2.0}, "operational: null_kp must be finite and positive or 0"),
        (("tool",), {**good, "singular_damping": -0.1}, "operational: singular_damping must be a positive number or 0"),
    ]
    for args, options, message in cases:
        with pytest.raises(aj.ArgumentError, match=message):
            control.operational(PUMA, np.eye(4), *args, **options)
    with pytest.raises(aj.ArgumentError, match="operational needs a Robot"):
        control.operational("puma", np.eye(4), "tool", **good)  # type: ignore[arg-type]
    arm = aj.robots.two_link()
    with pytest.raises(aj.ArgumentError, match="the 2 degrees of freedom of robot 'two_link' cannot meet 6 components"):
        control.operational(arm, np.eye(4), arm.frame_names[-1], **good, singular_damping=0.0)
    with pytest.raises(aj.ArgumentError, match="follows a PoseTrajectory"):
        control.operational(PUMA, quintic(np.zeros(6), np.ones(6), duration=1.0), "tool", **good)
    with pytest.raises(aj.ArgumentError, match="has shape"):
        control.operational(PUMA, np.eye(3), "tool", **good)(PUMA, None, 0.0, np.zeros(6), np.zeros(6))
