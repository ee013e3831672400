"""Operational space: the law of motion on random trees of every joint, Pinocchio, and the way through singularities."""

import functools

import numpy as np
import pinocchio as pin
import pytest
from support.robots import pinocchio_model, pinocchio_q, urdf, velocity_map
from support.trees import close, frictionless, sample, tree

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.energy import kinetic_energy
from adjoint.dynamics.forward import forward_dynamics
from adjoint.dynamics.newton_euler import gravity_torque
from adjoint.dynamics.operational import null_space_projector, operational_space
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3
from adjoint.model import Frame, Robot

EXPRESSIONS = ("body", "space", "world")
PARTS = {"all": slice(0, 6), "rotation": slice(0, 3), "translation": slice(3, 6)}
CASES = [(e, p, (i + k) % 2) for i, e in enumerate(EXPRESSIONS) for k, p in enumerate(PARTS)]  # on one of two trees


@functools.cache
def branched(seed: int) -> Robot:
    """A random tree with every joint type, mimics and friction; "tool" is at the end of its longest path."""
    robot = tree(seed, 16)
    body = max(range(len(robot.body_names)), key=lambda i: len(robot.path(i)))
    return robot.replace(frames=(Frame("tool", body, se3.random(rng=seed)),))


@pytest.mark.parametrize(("expressed", "part", "seed"), CASES)
def test_law_of_motion(expressed, part, seed):
    """Λ V̇ + μ + p = F, with V̇ by forward dynamics under τ = Jᵀ F and the kinematics of its acceleration."""
    robot, rows = branched(seed), PARTS[part]
    q, v, _ = sample(robot, seed)
    J = aj.jacobian.eager(robot, q, "tool", expressed)[rows]
    F = np.random.default_rng(seed).normal(size=len(J))
    a = forward_dynamics.eager(robot, q, v, J.T @ F)
    dV = aj.frame_acceleration.eager(robot, q, v, a, "tool", expressed)[rows]
    felt = operational_space.eager(robot, q, v, "tool", expressed, part)
    terms = [felt.inertia @ dV, felt.bias, felt.gravity]
    # Every term passes through Λ, whose condition multiplies the 1e-15 or so of the dynamics.
    slack = 1e-14 * np.linalg.cond(felt.inertia) * sum(np.abs(x).max() for x in terms)
    assert slack < 1e-4
    np.testing.assert_allclose(sum(terms), F, atol=slack)


@pytest.mark.parametrize(("seed", "part"), list(enumerate(PARTS)))
def test_definitions(seed, part):
    """Λ⁻¹ = J M⁻¹ Jᵀ, J J̄ = 1, J̄ moves with least kinetic energy, N forces the frame into nothing."""
    robot, rng = branched(seed), np.random.default_rng(seed)
    q, v, _ = sample(robot, seed)
    J, M = aj.jacobian.eager(robot, q, "tool")[PARTS[part]], mass_matrix.eager(robot, q)
    felt = operational_space.eager(robot, q, v, "tool", part=part)
    N = null_space_projector.eager(robot, q, "tool", part=part)
    mobility = J @ np.linalg.solve(M, J.T)
    slack = 1e-14 * np.linalg.cond(mobility) * np.linalg.cond(M)
    assert slack < 1e-4
    one = np.eye(len(J))
    np.testing.assert_array_equal(felt.inertia, felt.inertia.T)
    np.testing.assert_allclose(felt.inertia @ mobility, one, atol=slack)
    np.testing.assert_allclose(J @ felt.inverse, one, atol=slack)
    V, other = rng.normal(size=len(J)), rng.normal(size=robot.nv)
    least = felt.inverse @ V
    more = least + N.T @ other  # moves the frame just as well
    np.testing.assert_allclose(J @ more, V, atol=slack * np.abs(more).max())
    assert kinetic_energy.eager(robot, q, least) < kinetic_energy.eager(robot, q, more)
    np.testing.assert_allclose(2 * kinetic_energy.eager(robot, q, least), V @ felt.inertia @ V, rtol=slack)
    push = np.linalg.solve(M, N @ other)
    np.testing.assert_allclose(J @ push, 0 * V, atol=slack * np.abs(J).max() * np.abs(push).max())


def test_a_rigid_body_feels_like_itself():
    """A free body: Λ is its inertia seen from the frame, p its weight, μ the gyroscopic wrench; by Newton and Euler."""
    rng = np.random.default_rng(0)
    numbers = inertia.transform.eager(se3.random(rng=rng), inertia.box.eager(3.0, [0.1, 0.2, 0.5]))
    at = se3.random(rng=rng)
    robot = Robot.builder("stone", base="free").link("stone", numbers).frame("tool", "stone", at).build()
    q, v, _ = sample(robot)
    felt = operational_space.eager(robot, q, v, "tool")
    seen = inertia.transform.eager(se3.inverse(at), numbers)
    slack = 1e-14 * np.linalg.cond(felt.inertia)
    close(felt.inertia, inertia.matrix.eager(seen), slack)
    V = aj.frame_twist(robot, q, v, "tool")
    close(felt.bias, -se3.coad_action(V, inertia.momentum(seen, V)), slack)
    R = aj.forward_kinematics(robot, q, "tool")[:3, :3]
    mass, first = seen[0], seen[1:4]
    up = -(R.T @ robot.gravity)
    close(felt.gravity, np.concatenate([np.cross(first, up), mass * up]), slack)


PEERS = [("panda", "panda_hand", "fixed"), ("g1", "left_rubber_hand", "free")]


@pytest.mark.parametrize(("name", "frame", "base"), PEERS)
def test_pinocchio(name, frame, base):
    path = urdf(name)
    robot, model = frictionless(aj.load(path, base=base)), pinocchio_model(path, base)
    data, E = model.createData(), velocity_map(model, robot)
    q, v, _ = sample(robot)
    pq, pv, spot = pinocchio_q(model, robot, q), E @ v, model.getFrameId(frame)
    # Our coordinates, and twists with the angular part first; mimics, which Pinocchio does not tie, are none here.
    swap = np.eye(6)[[3, 4, 5, 0, 1, 2]]
    J = swap @ pin.computeFrameJacobian(model, data, pq, spot, pin.LOCAL) @ E
    M = E.T @ pin.crba(model, data, pq) @ E
    Jbar = np.linalg.solve(M, J.T) @ np.linalg.inv(J @ np.linalg.solve(M, J.T))
    phi, Cv = E.T @ pin.computeGeneralizedGravity(model, data, pq), E.T @ pin.nonLinearEffects(model, data, pq, pv)
    pin.forwardKinematics(model, data, pq, pv, np.zeros(model.nv))
    Jdot_v = swap @ pin.getFrameAcceleration(model, data, spot, pin.LOCAL).vector
    Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    felt = operational_space.eager(robot, q, v, frame)
    for got, want in zip(felt, (Lambda, Jbar.T @ (Cv - phi) - Lambda @ Jdot_v, Jbar.T @ phi, Jbar), strict=True):
        close(got, want, 1e-9)


# --- singularities ----------------------------------------------------------------------------------------------------


def through_the_wrist(bend) -> np.ndarray:
    """The PUMA's two wrist axes are in line at bend = 0."""
    bend = np.asarray(bend, float)
    q = np.broadcast_to([0.1, -0.7, 0.9, 0.4, 0.0, 0.6], (*bend.shape, 6)).copy()
    q[..., 4] = bend
    return q


@pytest.mark.slow
def test_damped_inertia_is_bounded_and_smooth_through_a_singularity():
    robot, damping = robots.puma560(), 0.05
    bends = np.array([-0.3, -1e-2, -1e-4, -1e-9, 0.0, 1e-9, 1e-4, 1e-2, 0.3])
    q, v, d = through_the_wrist(bends), np.ones(6), damping
    felt = operational_space(robot, q, v, "link6", damping=d)
    for k in range(len(bends)):
        J, M = aj.jacobian.eager(robot, q[k], "link6"), mass_matrix.eager(robot, q[k])
        mobility = J @ np.linalg.solve(M, J.T)
        b_w, b_v = np.trace(mobility[:3, :3]) / 3, np.trace(mobility[3:, 3:]) / 3
        B = np.diag([b_w] * 3 + [b_v] * 3)
        assert np.linalg.eigvalsh(felt.inertia[k][:3, :3])[-1] <= (1 + 1e-9) / (d**2 * b_w)
        assert np.linalg.eigvalsh(felt.inertia[k][3:, 3:])[-1] <= (1 + 1e-9) / (d**2 * b_v)
        np.testing.assert_allclose(felt.inertia[k] @ (mobility + d**2 * B), np.eye(6), atol=1e-10)
    slopes = operational_space.bind(robot, frame="link6").jacobian("q").eager(q[4], v, damping=d)
    h = 1e-5
    sides = [operational_space(robot, through_the_wrist(s * h), v, "link6", damping=d) for s in (1, -1)]
    for slope, plus, minus in zip(slopes, *sides, strict=True):
        slope = slope[..., 4]
        # central differences: h² of the third derivative, which grows with 1/d, and rounding over h
        np.testing.assert_allclose((plus - minus) / (2 * h), slope, atol=1e-5 * max(1.0, np.abs(slope).max()))


def test_damping_vanishes_away_from_singularities():
    """Λ - Λ_d = d² Λ_d B Λ: quadratic in d, and nothing at d = 0."""
    robot, v = robots.puma560(), np.zeros(6)
    q = through_the_wrist(0.8)
    exact = operational_space.eager(robot, q, v, "link6").inertia
    np.testing.assert_array_equal(operational_space.eager(robot, q, v, "link6", damping=0.0).inertia, exact)
    damped = [operational_space.eager(robot, q, v, "link6", damping=d).inertia for d in (1e-3, 1e-4)]
    gaps = [np.abs(Lambda - exact).max() for Lambda in damped]
    assert 0 < gaps[1] < 1e-3 * np.abs(exact).max()
    np.testing.assert_allclose(gaps[0] / gaps[1], 100, rtol=0.02)


def test_a_singular_sample_harms_no_other():
    robot = robots.puma560()
    q = through_the_wrist([0.8, 0.0, -0.5])
    with np.errstate(all="ignore"):
        felt = operational_space(robot, q, np.ones(6), "link6")
    size = np.abs(felt.inertia).max(axis=(1, 2))
    assert not size[1] < 1e10  # infinite, NaN, or 1 over rounding
    for k in (0, 2):
        alone = operational_space(robot, q[k], np.ones(6), "link6")
        for got, want in zip(felt, alone, strict=True):
            np.testing.assert_array_equal(got[k], want)


def test_short_robots_need_damping_or_a_part():
    """Two joints cannot move a frame in six ways: the damped Λ is finite, and its law holds where the frame can go."""
    robot = robots.two_link()
    q, v = np.array([0.3, 0.7]), np.array([1.0, -2.0])
    felt = operational_space(robot, q, v, "link2", "world", "translation", damping=1e-6)
    J, phi = aj.jacobian.eager(robot, q, "link2", "world")[3:], gravity_torque.eager(robot, q)
    # In the plane, both ways of the plane count: the tip's inertia is that of the 2x2 problem.
    plane = np.linalg.inv(J[:2] @ np.linalg.solve(mass_matrix.eager(robot, q), J[:2].T))
    np.testing.assert_allclose(felt.inertia[:2, :2], plane, rtol=1e-9)
    np.testing.assert_allclose(J.T @ felt.gravity, phi, rtol=1e-9)


# --- calls ------------------------------------------------------------------------------------------------------------


def test_compiled_batch_equals_eager():
    robot, rng = robots.puma560(), np.random.default_rng(0)
    q, v = aj.random_configuration(robot, 3, rng=rng), rng.normal(size=(3, robot.nv))
    batch = operational_space(robot, q, v, "link6", damping=0.1)
    for k in range(3):
        for got, want in zip(batch, operational_space.eager(robot, q[k], v[k], "link6", damping=0.1), strict=True):
            close(got[k], want)


def test_wrong_arguments():
    robot = robots.puma560()
    q = np.zeros(6)
    with pytest.raises(ArgumentError, match=r"part is 'torsion'; it must be one of 'all', 'rotation', 'translation'"):
        operational_space(robot, q, q, "link6", part="torsion")
    with pytest.raises(ArgumentError, match="expressed is 'tool'"):
        operational_space(robot, q, q, "link6", "tool")
    with pytest.raises(ArgumentError, match="has no frame 'hand'"):
        null_space_projector(robot, q, "hand")
