"""`control.hybrid` and `control.parallel`: forces against walls, positions along them, gain bounds, task frames."""

import numpy as np
import pytest
from scipy.linalg import expm
from support.c_code import run_c
from support.interaction import resting_error, wall_at

import adjoint as aj
from adjoint import control
from adjoint.control import TaskFrame
from adjoint.lie import inertia, so3
from adjoint.simulation import force, simulate
from adjoint.trajectory import line, quintic

PUMA = aj.robots.puma560()
Q = np.array([0.2, -2.4, 0.0, 0.3, 1.2, -0.4])  # away from singular poses
NORMAL = np.array([0.48, 0.36, 0.8])  # of a tilted wall, towards the tool
GAINS = {"kp": 400.0, "kd": 40.0, "force_kp": 0.1, "force_ki": 1.0, "force_kd": 40.0}
SOFT = {"kp": np.array([60.0, 60, 60, 800, 800, 800]), "kd": np.array([12.0, 12, 12, 300, 300, 300])}


def start():
    """The tool's pose, and the place n · x of a wall that it touches."""
    T = aj.forward_kinematics(PUMA, Q, "tool")
    return T, float(NORMAL @ T[:3, 3])


def exerted(run, offset, stiffness):
    """The forces (...,) at the end of a run, which the tool exerts on the wall along -n, when it is at rest."""
    p = aj.forward_kinematics(PUMA, run.q[..., -1, :], "tool")[..., :3, 3]
    return stiffness * (offset - p @ NORMAL)


# --- parallel ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_parallel_against_256_walls():
    """f = f_d along the normal whatever the wall, though x_d is 30 mm off; e = 0 along the wall and of rotations."""
    T, offset = start()
    T_d = T.copy()
    across = np.array([-0.6, 0.8, 0.0])  # along the wall
    T_d[:3, 3] += 0.03 * NORMAL + 0.02 * across
    f_d = np.concatenate([np.zeros(3), -15.0 * NORMAL])
    walls = wall_at("tool", NORMAL, offset, np.geomspace(1e3, 1e5, 256), damping=200.0)
    law = control.parallel(PUMA, T_d, "tool", force=f_d, **SOFT, force_ki=2.0, period=1e-3)
    run = simulate(PUMA, law, q=Q, duration=12.0, dt=1e-3, record=2000, forces=walls)
    assert np.abs(run.v[:, -1]).max() < 1e-6
    np.testing.assert_allclose(exerted(run, offset, walls.numbers["stiffness"]), 15.0, rtol=1e-4)
    e = resting_error(PUMA, "tool")(T_d, run.q[:, -1], run.v[:, -1], 0 * run.v[:, -1])[0]
    np.testing.assert_allclose(e[:, :3], 0, atol=1e-5)
    along = e[:, 3:] - (e[:, 3:] @ NORMAL)[:, None] * NORMAL
    np.testing.assert_allclose(along, 0, atol=1e-6)
    # Forces win along the normal: the tool is where the wall gives f_d, and not where x_d is.
    np.testing.assert_allclose(e[:, 3:] @ NORMAL, 0.03 + 15.0 / walls.numbers["stiffness"], atol=1e-6)
    # The integral holds what the spring lacks: kp e + f_d + ki ∫ Δf = f_d.
    np.testing.assert_allclose(2.0 * run.state[:, -1, 3:] @ NORMAL, -800 * e[:, 3:] @ NORMAL, rtol=1e-4)
    one = simulate(
        PUMA,
        law,
        q=Q,
        duration=12.0,
        dt=1e-3,
        record=2000,
        forces=walls.replace(stiffness=walls.numbers["stiffness"][9]),
    )
    np.testing.assert_array_equal(run.q[9], one.q)


@pytest.mark.slow
def test_without_the_integral_the_force_is_off_as_theory_says():
    """kp e + f_d + force_kp Δf = f: Δf = -kp e / (1 + force_kp), with e along the normal."""
    T, offset = start()
    T_d, k_e, kf = T.copy(), 5e3, 1.5
    T_d[:3, 3] += 0.03 * NORMAL
    f_d = np.concatenate([np.zeros(3), -15.0 * NORMAL])
    law = control.parallel(PUMA, T_d, "tool", force=f_d, **SOFT, force_kp=kf, force_ki=0.0, period=1e-3)
    wall = wall_at("tool", NORMAL, offset, k_e, damping=200.0)
    run = simulate(PUMA, law, q=Q, duration=12.0, dt=1e-3, record=2000, forces=wall)
    # f = f_d + Δf with f = k_e x and e = 0.03 + x along n: x = ((1 + kf) f_d - 0.03 kp) / (kp + (1 + kf) k_e)
    x = (2.5 * 15.0 - 0.03 * 800) / (800 + 2.5 * k_e)
    np.testing.assert_allclose(exerted(run, offset, k_e), k_e * x, rtol=1e-4)


def slider(mass: float):
    """A mass on a rail along x, without gravity."""
    made = aj.Robot.builder("slider", gravity=np.zeros(3)).link("rail").link("cart", inertia.sphere.eager(mass, 0.1))
    return made.joint("slide", "prismatic", "rail", "cart", axis=[1, 0, 0]).build()


def sampled_parallel(m, k_e, kp, kd, kf, ki, h):
    """One step of (x, v, ∫Δf) about the equilibrium: forces held over h, semi-implicit Euler."""
    a = np.array([-(kp + (1 + kf) * k_e), -kd, ki]) / m
    v = np.array([0.0, 1, 0]) + h * a
    return np.stack([np.array([1.0, 0, 0]) + h * v, v, np.array([-h * k_e, 0, 1])])


def sampled_hybrid(k_e, kp, kd, ki, h):
    """The same of `hybrid`, whose mass is 1/force_kp."""
    v = np.array([0.0, 1, 0]) + h * np.array([-kp * k_e, -kd, ki])
    return np.stack([np.array([1.0, 0, 0]) + h * v, v, np.array([-h * k_e, 0, 1])])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.9, 1.1])
@pytest.mark.parametrize("which", ["parallel", "hybrid"])
def test_gain_bounds(which, share):
    """Routh's bound of force_ki: runs at 0.9 of it decay, at 1.1 they grow. Sampled at h = 0.2 ms, semi-implicit Euler.

    The sampled loop is linear, while the wall is touched, so that the run is A^k x_0, and its growth is that of A.
    """
    m, k_e, kp, kd, kf, h, f_d, x_0 = 2.0, 4e3, 300.0, 60.0, 0.5, 2e-4, 40.0, 1e-3
    robot, wall = slider(m), wall_at("cart", [-1.0, 0, 0], 0.0, k_e)  # the wall is x > 0
    axes = {"part": "x", "period": h, "singular_damping": 0.0}
    if which == "parallel":
        ki = share * kd * (kp + (1 + kf) * k_e) / (m * k_e)
        f = np.array([0, 0, 0, f_d, 0, 0])
        law = control.parallel(robot, np.eye(4), "cart", force=f, kp=kp, kd=kd, force_kp=kf, force_ki=ki, **axes)
        A, rest = sampled_parallel(m, k_e, kp, kd, kf, ki, h), kp * f_d / k_e / ki
    else:
        ki = share * 0.5 * 30.0
        press = TaskFrame(np.eye(3), {"x": f_d})
        gains = {"kp": 1.0, "kd": 1.0, "force_kp": 0.5, "force_ki": ki, "force_kd": 30.0}
        law = control.hybrid(robot, np.eye(4), "cart", task=press, **gains, **axes)
        A, rest = sampled_hybrid(k_e, 0.5, 30.0, ki, h), 0.0
    state = np.zeros(6)
    state[3] = rest  # the integral at equilibrium
    run = simulate(robot, law.replace(state=state), q=[f_d / k_e + x_0], duration=0.4, dt=h, forces=wall)
    assert (run.q > 0).all()
    moved = np.stack([run.q[:, 0] - f_d / k_e, run.v[:, 0], run.state[:, 3] - rest], axis=1)
    want = np.stack([np.linalg.matrix_power(A, k) @ [x_0, 0, 0] for k in range(0, len(run.t), 100)])
    largest = np.abs(want).max(axis=0)
    np.testing.assert_allclose(moved[::100] / largest, want / largest, atol=1e-9)
    assert (np.abs(np.linalg.eigvals(A)).max() < 1) == (share < 1)
    grown = np.abs(moved[-500:, 0]).max() / np.abs(moved[:500, 0]).max()
    assert (grown < 1) == (share < 1)


def held_parallel(m, k_e, kp, kd, kf, ki, h):
    """One step of (x, v, ∫Δf), exactly, with the joint force held over h while the wall acts all the time."""
    A = expm(h * np.array([[0, 1, 0], [-k_e / m, 0, 1 / m], [0, 0, 0]]))  # of (x, v, u)
    u = np.array([-(kp + kf * k_e), -kd, ki])
    rows = A[:2, :2] @ np.eye(2, 3) + np.outer(A[:2, 2], u)
    return np.stack([*rows, np.array([-h * k_e, 0, 1])])


def test_the_bound_of_a_sampled_loop():
    """Semi-implicit Euler has Routh's bound itself: there, (δ + kd/m) (δ² + z a/m) = 0 with δ = (z - 1)/h has |z| = 1.

    A wall that acts while the joint force is held lowers the bound, the less the shorter h is: of first order.
    """

    def bound(step, h):
        low, high, routh = 0.0, 2.0, 60.0 * (300.0 + 1.5 * 4e3) / (2.0 * 4e3)
        while high - low > 1e-7:
            share = (low + high) / 2
            stable = np.abs(np.linalg.eigvals(step(2.0, 4e3, 300.0, 60.0, 0.5, share * routh, h))).max() < 1
            low, high = (share, high) if stable else (low, share)
        return low

    for h in (1e-3, 2e-4):
        assert abs(bound(sampled_parallel, h) - 1) < 1e-6
    lacks = [1 - bound(held_parallel, h) for h in (4e-4, 2e-4, 1e-4)]
    assert 0 < lacks[1] < 0.1
    np.testing.assert_allclose([lacks[0] / lacks[1], lacks[1] / lacks[2]], 2.0, atol=0.1)


# --- hybrid -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hybrid_presses_while_it_moves_along_the_wall():
    """The force goes to its set point; along the wall, and of rotations, ë + kd ė + kp e = 0 holds at every instant."""
    T, offset = start()
    task = TaskFrame.on_surface(NORMAL, 12.0)
    T_d, k_e, c = T.copy(), 2e4, 300.0
    T_d[:3, :3] = so3.exp(np.array([0.1, 0.2, -0.1])) @ T_d[:3, :3]
    T_d[:3, 3] += task.rotation @ [0.03, -0.04, 0.5]  # half a metre off the wall, which does not count
    wall = wall_at("tool", NORMAL, offset, k_e, damping=c)
    law = control.hybrid(PUMA, T_d, "tool", task=task, **GAINS, period=1e-3, singular_damping=0.0)
    run = simulate(PUMA, law, q=Q, duration=2.0, dt=1e-3, forces=wall)
    np.testing.assert_allclose(exerted(run, offset, k_e), 12.0, rtol=1e-4)
    e, rate, second = resting_error(PUMA, "tool")(T_d, run.q, run.v, run.a)
    left = second + 40 * rate + 400 * e
    left = np.concatenate([left[:, :3], left[:, 3:] @ task.rotation], axis=1)
    np.testing.assert_allclose(left[:, :5], 0, atol=1e-10 * np.abs(second).max())
    p = (e[-1, 3:] @ task.rotation)[:2]
    np.testing.assert_allclose(p, 0, atol=1e-6)
    # Along the normal, a = force_kp Δf + force_ki ∫ Δf - force_kd v, with the force that is felt.
    V, pose = aj.jacobian(PUMA, run.q, "tool", "world") @ run.v[..., None], aj.forward_kinematics(PUMA, run.q, "tool")
    v = V[:, 3:, 0] @ NORMAL
    depth = offset - pose[:, :3, 3] @ NORMAL
    lacking = -12.0 + np.where(depth > 0, np.maximum(k_e * depth - c * v, 0), 0)
    want = 0.1 * lacking + 1.0 * run.state[:, 5] - 40 * v
    np.testing.assert_allclose(-second[:, 3:] @ NORMAL, want, atol=1e-9 * np.abs(want).max())


@pytest.mark.slow
def test_hybrid_follows_a_line_along_the_wall():
    T, offset = start()
    task = TaskFrame.on_surface(NORMAL, 12.0)
    T_1 = T.copy()
    T_1[:3, 3] += task.rotation @ [0.1, 0.05, 0]
    path = line(T, T_1, profile=quintic([0.0], [1.0], duration=1.0))
    law = control.hybrid(PUMA, path, "tool", task=task, **GAINS, period=1e-3)
    wall = wall_at("tool", NORMAL, offset, 2e4, damping=300.0)
    run = simulate(PUMA, law, q=Q, duration=2.0, dt=1e-3, record=10, forces=wall)
    p = aj.forward_kinematics(PUMA, run.q, "tool")[:, :3, 3]
    off = (p - path(run.t, hold=True)[0][:, :3, 3]) @ task.rotation
    assert np.abs(off[:, :2]).max() < 1e-3 * 0.21  # v_max dt: torques are held over dt
    np.testing.assert_allclose(exerted(run, offset, 2e4), 12.0, rtol=1e-3)


def three_pads(robot, p, t, q, v):
    """A face with three pads against a wall: the forces at the pads as one wrench at the tool."""
    T, J = aj.forward_kinematics(robot, q, "tool"), aj.jacobian(robot, q, "tool", "world")
    V, total = J @ v, np.zeros(6)
    for x, y in ((0.05, 0.0), (-0.025, 0.0433), (-0.025, -0.0433)):
        arm = T[:3, :3] @ np.array([x, y, 0.0])
        depth = p.offset - p.normal @ (T[:3, 3] + arm)
        speed = p.normal @ (V[3:] + np.cross(V[:3], arm))
        f = np.where(depth > 0, np.maximum(p.stiffness * depth - p.damping * speed, 0), 0) * p.normal
        total = total + np.concatenate([np.cross(arm, f), f])
    return np.concatenate([T[:3, :3].T @ total[:3], T[:3, :3].T @ total[3:]])


@pytest.mark.slow
def test_compliance_lays_a_face_flat():
    """WITH FORCE(z) = -20, MOMENT(x) = MOMENT(y) = 0: a face that is 5 degrees off turns until it lies on the wall."""
    T = aj.forward_kinematics(PUMA, Q, "tool")
    n = so3.exp(np.deg2rad(5.0) * T[:3, 0]) @ T[:3, 2]
    face = TaskFrame.on_surface(n, 20.0)
    task = TaskFrame(face.rotation, {**face.forces, "rx": 0.0, "ry": 0.0})
    soft = np.array([20.0, 20, 20, 0.1, 0.1, 0.1])
    gains = GAINS | {"force_kp": soft, "force_ki": soft, "force_kd": 40.0}
    law = control.hybrid(PUMA, T, "tool", task=task, **gains, period=5e-4)
    pads = force(three_pads, frame="tool", normal=n, offset=n @ T[:3, 3], stiffness=1e4, damping=100.0)
    run = simulate(PUMA, law, q=Q, duration=5.0, dt=5e-4, record=100, forces=pads)
    end = aj.forward_kinematics(PUMA, run.q[-1], "tool")
    assert np.arccos(np.clip(T[:3, 2] @ n, -1, 1)) > np.deg2rad(4.9)
    assert np.linalg.norm(np.cross(end[:3, 2], n)) < 1e-4
    depth = n @ (T[:3, 3] - end[:3, 3])
    np.testing.assert_allclose(3e4 * depth, 20.0, rtol=1e-3)


def test_all_axes_in_position_are_operational_control():
    T, _ = start()
    T_d = T.copy()
    T_d[:3, 3] += 0.1
    v, exact = np.arange(6) * 0.1, {"singular_damping": 0.0}
    law = control.hybrid(PUMA, T_d, "tool", task=TaskFrame(so3.rotation_x(0.7)), **GAINS, period=0.01, **exact)
    plain = control.operational(PUMA, T_d, "tool", kp=400.0, kd=40.0, **exact)
    tau, state = law(PUMA, None, 0.0, Q, v)
    want = plain(PUMA, None, 0.0, Q, v).tau
    np.testing.assert_allclose(tau, want, atol=1e-11 * np.abs(want).max())
    np.testing.assert_array_equal(state, 0)


def test_two_link_arm_against_a_wall():
    """In a plane: force along x, position along y. Set points are numbers: `replace` changes them."""
    robot = aj.robots.two_link()
    frame, q = robot.frame_names[-1], np.array([0.4, 1.2])
    T = aj.forward_kinematics(robot, q, frame)
    task = TaskFrame(np.eye(3), {"x": 5.0})
    options = {"part": "x y", "period": 1e-3, "singular_damping": 0.0}
    law = control.hybrid(robot, T, frame, task=task, **GAINS, **options)
    f = np.array([[0, 0, 0, 5.0, 0, 0], [0, 0, 0, 8.0, 0, 0]])
    wall = wall_at(frame, [-1.0, 0, 0], -T[0, 3], 1e4, damping=100.0)
    run = simulate(robot, law.replace(force=f), q=q, duration=2.0, dt=1e-3, record=100, forces=wall)
    end = aj.forward_kinematics(robot, run.q[:, -1], frame)
    np.testing.assert_allclose(1e4 * (end[:, 0, 3] - T[0, 3]), [5.0, 8.0], rtol=1e-4)
    np.testing.assert_allclose(end[:, 1, 3], T[1, 3], atol=1e-7)


# --- export and bad input ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_c_export(tmp_path):
    T, _ = start()
    law = control.parallel(PUMA, T, "tool", force=np.ones(6), **SOFT, force_ki=2.0, period=1e-3)
    k = law.kernel(PUMA)
    v, wrench = 0.1 * np.arange(6), np.arange(6.0)
    numbers = {**law.numbers, "wrench": wrench}
    args = (0.0, Q, v, T, np.zeros(6), np.zeros(6), np.ones(6), *numbers.values())
    tau, state = run_c(k, args, tmp_path)
    want = k(*args)
    np.testing.assert_allclose(tau, want[0], atol=1e-11 * np.abs(want[0]).max())
    np.testing.assert_allclose(state, want[1], rtol=1e-13)


def test_task_frames():
    table = TaskFrame.on_surface([0, 0, 2.0], 10.0)
    np.testing.assert_allclose(table.rotation[:, 2], [0, 0, 1], atol=1e-15)
    np.testing.assert_array_equal(table.wrench, [0, 0, 0, 0, 0, -10])
    for n in np.random.default_rng(0).normal(size=(20, 3)):
        R = TaskFrame.on_surface(n, 1.0).rotation
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(R[:, 2], n / np.linalg.norm(n), atol=1e-15)
        assert np.linalg.det(R) > 0
    pose = np.eye(4)
    pose[:3, :3] = so3.rotation_x(0.3)
    np.testing.assert_array_equal(TaskFrame(pose).rotation, TaskFrame(pose[:3, :3]).rotation)


def test_bad_input():
    for args, message in [
        ((np.eye(2),), r"rotation must be a rotation \(3, 3\)"),
        ((-np.eye(3),), r"rotation must be a rotation \(3, 3\)"),
        ((np.full((3, 3), np.nan),), r"rotation must be a rotation \(3, 3\)"),
        ((np.eye(3), {"w": 1.0}), "forces must be {axis: number}"),
        ((np.eye(3), {"x": np.nan}), "forces must be {axis: number}"),
        ((np.eye(3), "z"), "forces must be {axis: number}"),
    ]:
        with pytest.raises(aj.ArgumentError, match=message):
            TaskFrame(*args)
    with pytest.raises(aj.ArgumentError, match=r"normal must be \(3,\) and not 0"):
        TaskFrame.on_surface(np.zeros(3), 1.0)
    with pytest.raises(aj.ArgumentError, match=r"force must be a positive number, got -1\.0"):
        TaskFrame.on_surface(np.ones(3), -1.0)
    with pytest.raises(aj.ArgumentError, match="hybrid: task must be a TaskFrame; got ndarray"):
        control.hybrid(PUMA, np.eye(4), "tool", task=np.eye(4), **GAINS, period=0.01)  # type: ignore[arg-type]
    for options, message in [
        ({"force_ki": -1.0}, "hybrid: force_ki must be finite and positive or 0"),
        ({"force_kp": np.ones(5)}, r"hybrid: force_kp has shape \(5,\)"),
        ({"period": 0.0}, "hybrid: period must be a positive number"),
        ({"part": "q"}, "part is 'q'"),
    ]:
        with pytest.raises(aj.ArgumentError, match=message):
            control.hybrid(PUMA, np.eye(4), "tool", task=TaskFrame(np.eye(3)), **{**GAINS, "period": 0.01, **options})
    good = {"force": np.zeros(6), "kp": 1.0, "kd": 1.0, "force_ki": 1.0, "period": 0.01}
    for options, message in [
        ({"force": np.zeros(3)}, "parallel: force must be 6 finite numbers"),
        ({"force": np.full(6, np.nan)}, "parallel: force must be 6 finite numbers"),
        ({"kp": -1.0}, "parallel: kp must be finite and positive or 0"),
        ({"period": -1.0}, "parallel: period must be a positive number"),
        ({"posture": np.zeros(3)}, r"parallel: argument 'posture' has shape \(3,\)"),
    ]:
        with pytest.raises(aj.ArgumentError, match=message):
            control.parallel(PUMA, np.eye(4), "tool", **{**good, **options})
    with pytest.raises(aj.ArgumentError, match="no frame 'hand'"):
        control.parallel(PUMA, np.eye(4), "hand", **good)
