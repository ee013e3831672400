"""Fu, Gonzalez & Lee (1987), chapter 3: every formulation gives the torques of the recursions; the book's examples."""

import numpy as np
import pytest
from support.trees import CATALOG, SEEDS, close, sample, tree
from support.worked_examples import PUMA_RATES, from_central, puma_with_invented_bodies

import adjoint as aj
from adjoint import robots
from adjoint.compile.front.inline import eagerly
from adjoint.dynamics import textbook
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.newton_euler import bias_force, gravity_torque, inverse_dynamics
from adjoint.dynamics.textbook import (
    generalized_dalembert,
    lagrange_euler,
    newton_euler_base,
    newton_euler_link,
    operation_counts,
    probing,
)
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3
from adjoint.model import Robot, from_dh
from adjoint.model.screws import serial

METHODS = [lagrange_euler, newton_euler_base, newton_euler_link, generalized_dalembert]


def random_arm(seed: int, types: tuple[str, ...]) -> Robot:
    """Link frames, axes and bodies anywhere; friction and armature; gravity in any direction."""
    rng, n = np.random.default_rng(seed), len(types)
    axes = rng.normal(size=(n, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    points = rng.normal(size=(n, 3))
    turn, slide = np.concatenate([axes, np.cross(points, axes)], axis=1), np.concatenate([0 * axes, axes], axis=1)
    arm = serial(
        f"random{n}",
        types=types,
        placements=se3.random(n, rng=rng),
        screws=np.where([[kind == "prismatic"] for kind in types], slide, turn),
        inertias=robots.random_tree(rng, n, ["revolute"]).inertias,
    )
    resists = {name: rng.uniform(0.1, 1, n) for name in ("damping", "friction", "armature")}
    return arm.replace(gravity=rng.normal(size=3) * 5, **resists)


MIXED = ("revolute", "prismatic", "continuous", "prismatic", "revolute")
SERIAL = [r for r in CATALOG if r.nv > 1 and np.array_equal(r.parents, np.arange(r.nv) - 1)]
ARMS = [*SERIAL, random_arm(0, MIXED), random_arm(1, ("revolute",) * 4), random_arm(2, ("prismatic", "revolute"))]
every_arm = pytest.mark.parametrize("robot", ARMS, ids=lambda r: r.name)


def methods_for(robot: Robot):
    return METHODS[:-1] if "prismatic" in robot.joint_types else METHODS


# --- one truth --------------------------------------------------------------------------------------------------------


@every_arm
def test_the_same_torques(robot):
    q, v, a = sample(robot)
    tau = inverse_dynamics.eager(robot, q, v, a)
    for method in methods_for(robot):
        close(method.eager(robot, q, v, a).tau, tau, 1e-13)


@every_arm
def test_the_same_coefficients(robot):
    q, v, a = sample(robot)
    M, bias, phi = mass_matrix.eager(robot, q), bias_force.eager(robot, q, v), gravity_torque.eager(robot, q)
    h = bias - phi - robot.damping * v - robot.friction * np.sign(v)
    found = [lagrange_euler.eager(robot, q, v, a)]
    if generalized_dalembert in methods_for(robot):
        G = generalized_dalembert.eager(robot, q, v, a)
        found.append(textbook.Coefficients(G.D_rot + G.D_tran, G.h_rot + G.h_tran, G.c))
    for D, got_h, c, *_ in found:
        close(D, M, 1e-13)
        np.testing.assert_allclose(got_h, h, atol=1e-13 * np.abs(bias).max())
        np.testing.assert_allclose(c, phi, atol=1e-13 * np.abs(bias).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_probing_takes_every_robot(seed):
    robot = tree(seed)
    q, v, _ = sample(robot)
    D, h, c = probing.eager(robot, q, v)
    friction = robot.damping * v + robot.friction * np.sign(v)
    close(D, mass_matrix.eager(robot, q))
    close(c, gravity_torque.eager(robot, q))
    close(h + c + friction, bias_force.eager(robot, q, v))


@every_arm
def test_link_frames_are_base_frames_turned(robot):
    q, v, a = sample(robot)
    base, link = (method.eager(robot, q, v, a) for method in (newton_euler_base, newton_euler_link))
    R = aj.forward_kinematics.eager(robot, q)[:, :3, :3]
    for name in ("w", "dw", "dv", "a", "f", "n"):
        close(np.einsum("lij,lj->li", R, getattr(link, name)), getattr(base, name), 1e-13)


@every_arm
def test_the_first_joint_carries_the_weight(robot):
    q, *_ = sample(robot)
    still = newton_euler_base.eager(robot, q, 0 * q, 0 * q)
    close(still.f[0], -robot.mass * robot.gravity, 1e-13)
    close(still.a, np.tile(-robot.gravity, (robot.nv, 1)), 1e-13)


@pytest.mark.parametrize("robot", [robots.stanford(), robots.two_link()], ids=lambda r: r.name)
def test_U_are_derivatives_of_the_link_matrices(robot):
    """U_ij = ∂⁰A_i/∂q_j and U_ijk = ∂²⁰A_i/∂q_j∂q_k, (3.2-11) and (3.2-13), with the compiler's derivatives."""
    q, *_ = sample(robot)
    with eagerly():
        arm = textbook._arm(robot, q, "test")
        U, U_2 = textbook._slopes(arm), textbook._second_slopes(arm)
    where = aj.forward_kinematics.bind(robot, frame=None, relative_to=None)
    first, second = where.jacobian("q").eager(q), where.hessian("q").eager(q)
    n = robot.nv
    for i in range(n):
        for j in range(n):
            np.testing.assert_allclose(U.get((i, j), np.zeros((4, 4))), first[i, ..., j], atol=1e-14)
            for k in range(n):
                np.testing.assert_allclose(U_2.get((i, j, k), np.zeros((4, 4))), second[i, ..., j, k], atol=1e-14)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_two_rods_of_the_book():
    """§3.2.6, §3.3.7 and §3.4.2 with l = m_1 = m_2 = 1: all that Newton-Euler computes on the way, in link frames."""
    robot = robots.two_link()
    given = np.radians([30, 60]), np.array([1.0, 2]), np.array([0.5, -0.3])
    got = newton_euler_link.eager(robot, *given)
    want = {
        "dv": [(3.903100, 8.992418, 0), (0.739213, 1.316025, 0)],
        "a": [(4.403100, 8.742418, 0), (5.239213, 1.216025, 0)],
        "f": [(5.969597, 13.887722, 0), (5.239213, 1.216025, 0)],
        "n": [(0, 0, 10.182859), (0, 0, 0.624679)],
        "tau": (10.182859, 0.624679),
    }
    for name, numbers in want.items():
        np.testing.assert_allclose(getattr(got, name), numbers, atol=6e-7)
    L, G = lagrange_euler.eager(robot, *given), generalized_dalembert.eager(robot, *given)
    for D, h, c in ((L.D, L.h, L.c), (G.D_rot + G.D_tran, G.h_rot + G.h_tran, G.c)):
        np.testing.assert_allclose(D, [[2.166667, 0.583333], [0.583333, 0.333333]], atol=6e-7)
        np.testing.assert_allclose(h, (-3.464102, 0.433013), atol=6e-7)
        np.testing.assert_allclose(c, (12.738627, 0), atol=6e-7)
    assert not np.any(np.abs(G.h_rot) > 1e-15)  # X17: parallel axes have no gyroscopic torque


def test_U_of_two_rods():
    """The matrices that §3.2.6 writes out."""
    q = np.array([0.4, 1.1])
    with eagerly():
        arm = textbook._arm(robots.two_link(), q, "test")
        U = textbook._slopes(arm)
    (s1, s12), (c1, c12) = np.sin(np.cumsum(q)), np.cos(np.cumsum(q))
    last = np.zeros((2, 4))
    np.testing.assert_allclose(U[0, 0], np.vstack([[-s1, -c1, 0, -s1], [c1, -s1, 0, c1], last]), atol=1e-15)
    np.testing.assert_allclose(
        U[1, 0], np.vstack([[-s12, -c12, 0, -s12 - s1], [c12, -s12, 0, c12 + c1], last]), atol=1e-15
    )
    np.testing.assert_allclose(U[1, 1], np.vstack([[-s12, -c12, 0, -s12], [c12, -s12, 0, c12], last]), atol=1e-15)
    J = [[1 / 3, 0, 0, -1 / 2], [0, 0, 0, 0], [0, 0, 0, 0], [-1 / 2, 0, 0, 1]]
    np.testing.assert_allclose(arm.pseudo, [J, J], atol=1e-15)


def stanford_with_invented_bodies() -> Robot:
    J = from_central(
        (9, 6, 4, 1, 0.6, 0.5),
        [(0, 0.1, -0.01), (0, 0.02, 0.1), (0, 0, -0.6), (0, 0.01, 0), (0, 0, 0.02), (0, 0, -0.1)],
        [
            (0.3, 0.2, 0.3), (0.1, 0.02, 0.1), (2.5, 2.5, 0.006), (0.002, 0.001, 0.001), (0.003, 0.0004, 0.0003),
            (0.013, 0.013, 0.0003),
        ],
    )  # fmt: skip
    right = np.pi / 2
    table = [(0, 0.4, 0, -right), (0, 0.15, 0, right), (-right, 0, 0, 0), (0, 0, 0, -right), (0, 0, 0, right)]
    return from_dh([*table, (0, 0.26, 0, 0)], joints="RRPRRR", inertias=J, gravity=(0, 0, -9.8062))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
def test_puma_with_invented_bodies(method):
    tau = (2.30822115, -49.99557219, -7.96796717, 0.01919497, -0.06078183, -0.00004447)
    got = method.eager(puma_with_invented_bodies(), np.radians([30, -45, 120, 20, 40, -60]), *PUMA_RATES)
    np.testing.assert_allclose(got.tau, tau, atol=1e-8)


@pytest.mark.parametrize("method", METHODS[:-1], ids=lambda m: m.__name__)
def test_stanford_with_invented_bodies(method):
    tau = (3.4510268, 13.35808229, 17.91850299, 0.56604693, 0.07572193, -0.00026796)
    got = method.eager(stanford_with_invented_bodies(), [0.3, -1.2, 0.5, 0.4, 0.9, -0.7], *PUMA_RATES)
    np.testing.assert_allclose(got.tau, tau, atol=1e-8)


def test_ceiling_arm_of_problem_3_16():
    """Point masses at the ends of two links that hang along x_0: closed form of D, h and c."""
    d1, d2, m1, m2, g = 0.8, 0.5, 2.0, 3.0, 9.8062
    J = [inertia.from_moments.eager(m, np.zeros(3), np.zeros((3, 3))) for m in (m1, m2)]
    robot = from_dh([(0, 0, d1, 0), (0, 0, d2, 0)], inertias=J, gravity=(g, 0, 0))
    q, v, a = sample(robot)
    (s1, s12), s2, c2 = np.sin(np.cumsum(q)), np.sin(q[1]), np.cos(q[1])
    D12 = m2 * (d2**2 + d1 * d2 * c2)
    D = [[m1 * d1**2 + m2 * (d1**2 + d2**2 + 2 * d1 * d2 * c2), D12], [D12, m2 * d2**2]]
    h = m2 * d1 * d2 * s2 * np.array([-v[1] * (2 * v[0] + v[1]), v[0] ** 2])
    c = g * np.array([(m1 + m2) * d1 * s1 + m2 * d2 * s12, m2 * d2 * s12])
    got = lagrange_euler.eager(robot, q, v, a)
    close(got.D, D, 1e-14)
    np.testing.assert_allclose(got.h, h, atol=1e-13)
    np.testing.assert_allclose(got.c, c, atol=1e-13)


@pytest.mark.slow
def test_operation_counts():
    """The book's formulas at n = 2, 3, 6; our graphs, which fold the zeros of frames and axes, take fewer, in order."""
    book = {
        "Lagrange-Euler": [(3140, 2391), (10441, 7960), (101348, 77405)],
        "Newton-Euler": [(264, 218), (396, 329), (792, 662)],
        "generalized d'Alembert": [(475, 329), (868, 623), (2963, 2209)],
    }
    own = {
        "Lagrange-Euler": [(3224, 2449), (10672, 8125), (102440, 78203)],
        "Newton-Euler": [(210, 185), (327, 288), (678, 597)],
    }
    for k, robot in enumerate((robots.two_link(), robots.park3r(), robots.puma560())):
        counts = operation_counts(robot)
        for method, count in counts.items():
            assert count.compared == book[method][k]
            assert count.derived == (own[method][k] if method in own else None)
            assert count.graph.muls < count.compared.muls and count.graph.adds < count.compared.adds
    newton, dalembert, lagrange = (
        sum(counts[m].graph) for m in ("Newton-Euler", "generalized d'Alembert", "Lagrange-Euler")
    )
    assert 2 * newton < dalembert and 2 * dalembert < lagrange  # n, n³ and n⁴, at six joints


# --- how they are called ----------------------------------------------------------------------------------------------


def test_compiled_equals_eager():
    robot = robots.park3r()
    q, v, a = sample(robot)
    for method in METHODS:
        for x, y in zip(method(robot, q, v, a), method.eager(robot, q, v, a), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-13 * np.abs(y).max() + 1e-14)


@pytest.mark.parametrize(
    "robot, message",
    [
        (robots.random_tree(0, 3, ["helical"]), "is helical; the book's arms have revolute, continuous, "),
        (robots.random_tree(0, 1, ["free"]), "is free; the book's arms"),
        (robots.random_tree(0, 8, ["revolute"]), "starts a branch; the book's arms are serial"),
        (robots.random_tree(0, 0), "has no joints"),
    ],
)  # fmt: skip
def test_what_is_refused(robot, message):
    q, v, a = sample(robot)
    for method in METHODS:
        with pytest.raises(ArgumentError, match=f"{method.__name__}: robot .*{message}"):
            method.eager(robot, q, v, a)


def test_dalembert_refuses_sliders_and_the_book_mimics():
    stanford = robots.stanford()
    with pytest.raises(ArgumentError, match="joint 'joint3' is prismatic; the method is for revolute joints"):
        generalized_dalembert.eager(stanford, *sample(stanford))
    builder = Robot.builder("follower").link("0").link("1").link("2").joint("leader", "revolute", "0", "1")
    follower = builder.joint("shadow", "revolute", "1", "2", mimic=("leader", 2.0, 0.0)).build()
    with pytest.raises(ArgumentError, match="joint 'shadow' is a mimic"):
        lagrange_euler.eager(follower, [0.1], [0.2], [0.3])
