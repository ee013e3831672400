"""Kinematics: laws on random trees of every joint type, second formulations, and the textbook's numbers."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.c_code import run_c

import adjoint as aj
from adjoint import kernel, robots, static
from adjoint.errors import ArgumentError
from adjoint.kinematics import poe
from adjoint.lie import se3, so3
from adjoint.model import Robot
from adjoint.model.layout import layout_of
from adjoint.model.screws import serial
from adjoint.sweep import joint_placement

EXPRESSIONS = ("body", "space", "world")


@functools.cache
def tree(seed: int, n: int = 12) -> Robot:
    """A random tree with every joint type, and two frames more, "tool" and "eye", far from the base and each other."""
    robot, rng = robots.random_tree(seed, n), np.random.default_rng(seed)
    paths = sorted((robot.path(i) for i in range(len(robot.body_names))), key=len)
    tool = paths[-1]
    eye = max(paths, key=lambda path: len(set(path) ^ set(tool)))
    added = tuple(aj.model.Frame(name, path[-1], se3.random(rng=rng)) for name, path in (("tool", tool), ("eye", eye)))
    links = [frame for frame in robot.frames if frame.name != "tool"]
    return robot.replace(frames=(*links, *added))


def sample(robot: Robot, seed: int = 0):
    rng = np.random.default_rng(seed)
    return aj.random_configuration(robot, rng=rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def in_expression(T, dT, expressed: str):
    """The twist of T(t), given its derivative, by definition."""
    inverse = se3.inverse(T)
    if expressed == "body":
        return se3.vee(inverse @ dT)
    space = se3.vee(dT @ inverse)
    return space if expressed == "space" else np.concatenate([space[:3], dT[:3, 3]])


@kernel(robot=static, frame=static, relative_to=static, q="nq", dq="nv")
def moved(robot, q, dq, frame, relative_to):
    """Placement after moving by dq: its derivative at 0 is taken by the compiler, not by differences."""
    return aj.forward_kinematics(robot, aj.integrate(robot, q, dq), frame, relative_to)


@kernel(robot=static, frame=static, expressed=static, relative_to=static, q="nq", dq="nv")
def moved_jacobian(robot, q, dq, frame, expressed, relative_to):
    return aj.jacobian(robot, aj.integrate(robot, q, dq), frame, expressed, relative_to)


def size(x) -> float:
    return float(np.abs(x).max(initial=1.0))


# --- every joint, every expression ------------------------------------------------------------------------------------


@pytest.mark.parametrize("relative_to", [None, "eye"])
@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_the_derivative_of_the_placement(seed, relative_to):
    robot = tree(seed)
    q, *_ = sample(robot, seed)
    T = aj.forward_kinematics(robot, q, "tool", relative_to)
    dT = moved.bind(robot, frame="tool", relative_to=relative_to).jacobian("dq").eager(q, np.zeros(robot.nv))
    for expressed in EXPRESSIONS:
        want = np.stack([in_expression(T, dT[..., k], expressed) for k in range(robot.nv)], axis=-1)
        got = aj.jacobian(robot, q, "tool", expressed, relative_to)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * size(want))


@pytest.mark.parametrize("expressed", EXPRESSIONS)
@pytest.mark.parametrize("relative_to", [None, "eye"])
@pytest.mark.parametrize("seed", range(2))
def test_second_derivatives(seed, relative_to, expressed):
    """The Hessian is the derivative of the Jacobian; J̇ = H v; V̇ = J a + J̇ v; V = J v. All of it eagerly."""
    robot = tree(seed)
    q, v, a = sample(robot, seed)
    where = ("tool", expressed, relative_to)
    statics = dict(zip(("frame", "expressed", "relative_to"), where, strict=True))
    want = moved_jacobian.bind(robot, **statics).jacobian("dq").eager(q, np.zeros(robot.nv))
    H, dJ, J = (
        aj.kinematics.kinematic_hessian.eager(robot, q, *where),
        aj.jacobian_rate.eager(robot, q, v, *where),
        aj.jacobian.eager(robot, q, *where),
    )
    slack = 1e-12 * size(want) * robot.nv
    np.testing.assert_allclose(H, want, rtol=0, atol=slack)
    np.testing.assert_allclose(dJ, H @ v, rtol=0, atol=slack)
    np.testing.assert_allclose(aj.frame_twist.eager(robot, q, v, *where), J @ v, rtol=0, atol=slack)
    np.testing.assert_allclose(
        aj.frame_acceleration.eager(robot, q, v, a, *where), J @ a + dJ @ v, rtol=0, atol=10 * slack
    )


@pytest.mark.parametrize("seed", range(4))
def test_three_expressions_of_one_twist(seed):
    robot = tree(seed)
    q, *_ = sample(robot, seed)
    T = aj.forward_kinematics(robot, q, "tool")
    body, space, world = (aj.jacobian(robot, q, "tool", e) for e in EXPRESSIONS)
    R = np.kron(np.eye(2), T[:3, :3])
    np.testing.assert_allclose(space, se3.Ad(T) @ body, rtol=0, atol=1e-12 * size(space))
    np.testing.assert_allclose(world, R @ body, rtol=0, atol=1e-12 * size(world))


@pytest.mark.parametrize("seed", range(4))
def test_products_of_exponentials_equal_the_recursions(seed):
    robot = tree(seed)
    q, *_ = sample(robot, seed)
    T, slack = aj.forward_kinematics(robot, q, "tool"), 1e-12 * len(robot.body_names)
    np.testing.assert_allclose(poe.space_form(robot, q, "tool"), T, rtol=0, atol=slack * size(T))
    np.testing.assert_allclose(poe.body_form(robot, q, "tool"), T, rtol=0, atol=slack * size(T))
    J = aj.jacobian(robot, q, "tool", "space")
    np.testing.assert_allclose(poe.space_jacobian_direct(robot, q, "tool"), J, rtol=0, atol=slack * size(J))
    J = aj.jacobian(robot, q, "tool", "body")
    np.testing.assert_allclose(poe.body_jacobian_direct(robot, q, "tool"), J, rtol=0, atol=slack * size(J))
    np.testing.assert_allclose(poe.body_jacobian_recursive(robot, q, "tool"), J, rtol=0, atol=slack * size(J))


@kernel(robot=static, q="nq")
def inner_placements(robot, q):
    return np.stack([joint_placement(robot, q, i)[:3] for i in range(1, len(robot.body_names))])


@pytest.mark.parametrize("n", [3, 6, 7])
def test_operations_of_the_recursive_jacobian(n):
    """Park's count, 42n - 78 and 30n - 57, and one inverse, beside the placements of the links."""
    homes, screws = se3.random(n, rng=n), np.tile([0, 0, 1.0, 0, 0, 0], (n, 1))
    robot = serial("arm", types=("revolute",) * n, placements=homes, screws=screws)
    walk = poe.body_jacobian_recursive.bind(robot, frame=robot.body_names[-1]).operations
    given = inner_placements.bind(robot).operations
    assert walk.muls - given.muls == 42 * n - 78 + 3
    assert walk.adds - given.adds == 30 * n - 57 + 4


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 8))
def test_relative_motion(seed, n):
    """T_ab T_bc = T_ac, and twists add: V_c/a = V_b/a + V_c/b, seen from one frame. All of it eagerly."""
    robot = robots.random_tree(seed, n)
    q, v, _ = sample(robot, seed)
    rng = np.random.default_rng(seed)
    x, y, z = rng.choice(robot.frame_names, 3)
    T = {(f, g): aj.forward_kinematics.eager(robot, q, f, g) for f, g in ((y, x), (z, y), (z, x), (x, z))}
    slack = 1e-12 * size(T[z, x]) * size(T[y, x]) * (n + 1)
    np.testing.assert_allclose(T[y, x] @ T[z, y], T[z, x], rtol=0, atol=slack)
    np.testing.assert_allclose(T[z, x] @ T[x, z], np.eye(4), rtol=0, atol=slack)
    in_x = aj.jacobian.eager(robot, q, y, "space", x) + se3.Ad.eager(T[y, x]) @ aj.jacobian.eager(
        robot, q, z, "space", y
    )
    np.testing.assert_allclose(in_x, aj.jacobian.eager(robot, q, z, "space", x), rtol=0, atol=10 * slack * size(in_x))
    for expressed in EXPRESSIONS:
        V = aj.frame_twist.eager(robot, q, v, z, expressed, x)
        np.testing.assert_allclose(
            V, aj.jacobian.eager(robot, q, z, expressed, x) @ v, rtol=0, atol=100 * slack * size(V)
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_several_frames_and_all_bodies(seed):
    robot = tree(seed)
    q = aj.random_configuration(robot, (3, 2), rng=seed)
    everything = aj.forward_kinematics(robot, q)
    assert everything.shape == (3, 2, len(robot.body_names), 4, 4)
    for i, name in enumerate(robot.body_names):
        np.testing.assert_allclose(everything[:, :, i], aj.forward_kinematics(robot, q, name), rtol=0, atol=1e-12)
    names = ["tool", robot.base_name, "eye"]
    for relative_to in (None, "eye"):
        several = aj.forward_kinematics(robot, q, names, relative_to)
        for k, name in enumerate(names):
            np.testing.assert_allclose(
                several[:, :, k], aj.forward_kinematics(robot, q, name, relative_to), rtol=0, atol=1e-11
            )


@pytest.mark.parametrize("seed", range(2))
def test_invariance_under_other_link_frames(seed):
    """A named frame's placement and Jacobian do not depend on the frames chosen for the links; Ploen & Park §II-C."""
    robot = tree(seed)
    q, *_ = sample(robot, seed)
    other = robot.reframed(se3.random(len(robot.body_names), rng=seed))
    T = aj.forward_kinematics(robot, q, "tool")
    np.testing.assert_allclose(aj.forward_kinematics(other, q, "tool"), T, rtol=0, atol=1e-11 * size(T))
    for fn in (aj.jacobian, aj.kinematics.kinematic_hessian):
        want = fn.eager(robot, q, "tool", "world")
        np.testing.assert_allclose(fn.eager(other, q, "tool", "world"), want, rtol=0, atol=1e-11 * size(want))
    np.testing.assert_allclose(aj.center_of_mass(other, q), aj.center_of_mass(robot, q), rtol=0, atol=1e-11)


def test_eager_equals_compiled_and_exported(tmp_path):
    """Machine code, a CasADi function, and the C file compiled by the C compiler."""
    robot = tree(0)
    q, v, a = sample(robot)
    for fn, args in (
        (aj.forward_kinematics, (q, "tool")),
        (aj.jacobian, (q, "tool", "world")),
        (aj.jacobian_rate, (q, v, "tool")),
        (aj.frame_acceleration, (q, v, a, "tool", "space")),
        (aj.center_of_mass_jacobian, (q,)),
    ):
        want = fn.eager(robot, *args)
        np.testing.assert_allclose(fn(robot, *args), want, rtol=0, atol=1e-13 * size(want) * 10)
    bound = aj.jacobian.bind(robot, frame="tool")
    (in_c,) = run_c(bound, (q,), tmp_path)
    np.testing.assert_allclose(in_c, bound(q), rtol=0, atol=1e-12)
    symbolic = bound.symbolic()
    np.testing.assert_allclose(symbolic(q).full(), aj.jacobian(robot, q, "tool"), rtol=0, atol=1e-12)


# --- mimics -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_mimic_is_its_explicit_constraint():
    """The robot without mimics, driven at q_full = G q + offset, moves the same; its Jacobian times G is ours."""
    robot = next(r for r in map(tree, range(20)) if r.mimics)
    free = robot.replace(mimics={}, **_limits_without_mimics(robot))
    q, v, _ = sample(robot)
    G = np.zeros((free.nv, robot.nv))
    full_q = aj.neutral(free)
    for body, twin in zip(robot.bodies, free.bodies, strict=True):
        scale, offset = (body.joint.mimic.multiplier, body.joint.mimic.offset) if body.joint.mimic else (1.0, 0.0)
        full_q[twin.joint.q] = scale * q[body.joint.q] + offset if body.joint.mimic else q[body.joint.q]
        G[twin.joint.v, body.joint.v] = scale * np.eye(body.joint.S.shape[1])
    for expressed in EXPRESSIONS:
        want = aj.jacobian(free, full_q, "tool", expressed) @ G
        np.testing.assert_allclose(aj.jacobian(robot, q, "tool", expressed), want, rtol=0, atol=1e-12 * size(want))
        want = aj.jacobian_rate(free, full_q, G @ v, "tool", expressed) @ G
        np.testing.assert_allclose(
            aj.jacobian_rate(robot, q, v, "tool", expressed), want, rtol=0, atol=1e-11 * size(want)
        )
    np.testing.assert_allclose(
        aj.center_of_mass_jacobian(robot, q), aj.center_of_mass_jacobian(free, full_q) @ G, rtol=0, atol=1e-12
    )


def _limits_without_mimics(robot: Robot) -> dict:
    layout = layout_of(robot.joint_types, {})
    open_ends = {"lower": np.full(layout.nq, -np.inf), "upper": np.full(layout.nq, np.inf)}
    return open_ends | {
        name: np.zeros(layout.nv) for name in ("velocity_limit", "effort_limit", "damping", "friction", "armature")
    }


# --- statics, centre of mass, dexterity -------------------------------------------------------------------------------


@pytest.mark.parametrize("expressed", EXPRESSIONS)
def test_static_torque_does_the_work_of_the_wrench(expressed):
    """Virtual work: tau · v = F · V for every v."""
    robot = tree(1)
    q, v, _ = sample(robot, 1)
    F = np.random.default_rng(1).normal(size=6)
    power = F @ aj.frame_twist(robot, q, v, "tool", expressed)
    assert aj.static_torque(robot, q, F, "tool", expressed) @ v == pytest.approx(power, rel=1e-11, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_center_of_mass(seed):
    robot = tree(seed)
    q, *_ = sample(robot, seed)
    T = aj.forward_kinematics(robot, q)
    moments = np.einsum("nij,nj->ni", T[:, :3, :3], robot.inertias[:, 1:4]) + robot.inertias[:, :1] * T[:, :3, 3]
    np.testing.assert_allclose(aj.center_of_mass(robot, q), moments.sum(0) / robot.mass, rtol=0, atol=1e-12 * size(T))

    @kernel(dq=robot.nv)
    def shifted(dq):
        return aj.center_of_mass(robot, aj.integrate(robot, q, dq))

    J = aj.center_of_mass_jacobian(robot, q)
    np.testing.assert_allclose(J, shifted.jacobian("dq")(np.zeros(robot.nv)), rtol=0, atol=1e-11 * size(J))


def test_singular_directions_and_manipulability():
    robot = robots.puma560()
    frame = robot.frame_names[-1]
    q = aj.random_configuration(robot, 5, rng=0)
    found = aj.kinematics.singular_directions(robot, q, frame)
    J = aj.jacobian(robot, q, frame)
    np.testing.assert_allclose(J @ found.rates, found.values[:, None, :] * found.twists, rtol=0, atol=1e-14 * 10)
    np.testing.assert_allclose(aj.manipulability(robot, q, frame), found.values.prod(-1), rtol=1e-9)
    np.testing.assert_allclose(aj.manipulability(robot, q, frame), np.abs(np.linalg.det(J)), rtol=1e-9)
    straight = np.zeros(6)  # th5 = 0: the wrist is singular
    assert aj.manipulability(robot, straight, frame) < 1e-9
    assert aj.kinematics.singular_directions(robot, straight, frame).values[-1] < 1e-12
    part = aj.kinematics.singular_directions(robot, q, frame, part="rotation")
    assert part.twists.shape == (5, 3, 3)
    two = robots.two_link()  # fewer joints than directions
    tip = two.frame_names[-1]
    J = aj.jacobian(two, np.array([0.3, 0.7]), tip, "world")
    assert aj.manipulability(two, np.array([0.3, 0.7]), tip) == pytest.approx(np.sqrt(np.linalg.det(J.T @ J)))


# --- the textbook and Park's paper ------------------------------------------------------------------------------------

A2, A3, D2, D4, D6 = 0.4318, -0.02032, 0.14909, 0.43307, 0.05625  # PUMA 560, Fig. 2.11
F2_Q = np.radians([30.0, -45.0, 120.0, 20.0, 40.0, -60.0])


def arm_matrix(q):
    """The PUMA's arm matrix in closed form, FGL (2.2-40)-(2.2-43)."""
    s, c = np.sin(q), np.cos(q)
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    x = c23 * (c[3] * c[4] * c[5] - s[3] * s[5]) - s23 * s[4] * c[5]
    y = s[3] * c[4] * c[5] + c[3] * s[5]
    n = [c[0] * x - s[0] * y, s[0] * x + c[0] * y, -s23 * (c[3] * c[4] * c[5] - s[3] * s[5]) - c23 * s[4] * c[5]]
    x = -c23 * (c[3] * c[4] * s[5] + s[3] * c[5]) + s23 * s[4] * s[5]
    y = -s[3] * c[4] * s[5] + c[3] * c[5]
    o = [c[0] * x - s[0] * y, s[0] * x + c[0] * y, s23 * (c[3] * c[4] * s[5] + s[3] * c[5]) + c23 * s[4] * s[5]]
    x, y = c23 * c[3] * s[4] + s23 * c[4], s[3] * s[4]
    a = [c[0] * x - s[0] * y, s[0] * x + c[0] * y, -s23 * c[3] * s[4] + c23 * c[4]]
    k, w = D6 * x + D4 * s23 + A3 * c23 + A2 * c[1], D6 * y + D2
    p = [c[0] * k - s[0] * w, s[0] * k + c[0] * w, D6 * a[2] + D4 * c23 - A3 * s23 - A2 * s[1]]
    return np.vstack([np.stack([n, o, a, p], axis=1), [0, 0, 0, 1]])


def puma_jacobian(q):
    """Its base Jacobian, App. B of FGL with errata E32 put right: rows (w, v) of the hand."""
    T = arm_matrix(q)
    s, c = np.sin(q), np.cos(q)
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    px, py, pz = T[:3, 3]
    k = c[0] * px + s[0] * py
    z3 = np.array([c[0] * s23, s[0] * s23, c23])
    z4 = np.array([-c[0] * c23 * s[3] - s[0] * c[3], -s[0] * c23 * s[3] + c[0] * c[3], s23 * s[3]])
    u = c23 * c[3] * c[4] - s23 * s[4]
    v = [
        [-py, px, 0],
        [c[0] * pz, s[0] * pz, -k],
        [c[0] * (pz + A2 * s[1]), s[0] * (pz + A2 * s[1]), -(k - A2 * c[1])],
        D6 * s[4] * z4,
        [
            D6 * (c[0] * u - s[0] * s[3] * c[4]),
            D6 * (s[0] * u + c[0] * s[3] * c[4]),
            D6 * (-s23 * c[3] * c[4] - c23 * s[4]),
        ],
        [0, 0, 0],
    ]
    y = [-s[0], c[0], 0]
    return np.concatenate([np.stack([[0, 0, 1], y, y, z3, z4, T[:3, 2]], axis=1), np.array(v).T])


def puma_and_hand():
    robot = robots.puma560()
    return robot, robot.body_names[-1]


def test_puma_equations():
    robot, hand = puma_and_hand()
    for q in aj.random_configuration(robot, 20, rng=0):
        np.testing.assert_allclose(aj.forward_kinematics(robot, q, hand), arm_matrix(q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(aj.jacobian(robot, q, hand, "world"), puma_jacobian(q), rtol=0, atol=1e-14)


def test_puma_jacobian_numbers():
    """F3: printed to six digits; rows of the book are (v, w)."""
    robot, hand = puma_and_hand()
    base = np.roll(aj.jacobian(robot, F2_Q, hand, "world"), 3, axis=0)
    want = [
        [-0.524225, 0.359727, 0.095305, -0.019760, -0.028539, 0],
        [0.585071, 0.207689, 0.055024, 0.027824, 0.000541, 0],
        [0, -0.768798, -0.463470, 0.011945, -0.048470, 0],
        [0, -0.5, -0.5, 0.836516, -0.546508, 0.666274],
        [0, 0.866025, 0.866025, 0.482963, 0.769537, 0.638530],
        [1, 0, 0, 0.258819, 0.330366, -0.385174],
    ]
    np.testing.assert_allclose(base, want, rtol=0, atol=6e-7)
    assert np.linalg.det(base) == pytest.approx(-0.039666, abs=6e-7)
    body = np.roll(aj.jacobian(robot, F2_Q, hand), 3, axis=0)
    np.testing.assert_allclose(body[:2, 0], [-0.502228, 0.603569], rtol=0, atol=6e-7)
    np.testing.assert_allclose(body[:, 5], [0, 0, 0, 0, 0, 1], rtol=0, atol=1e-15)


def test_puma_statics_and_singularities():
    """F5: tau of a tip wrench; det J = a2 (d4 C3 - a3 S3)(a2 C2 + a3 C23 + d4 S23) S5."""
    robot, hand = puma_and_hand()
    tau = aj.static_torque(robot, F2_Q, np.array([0.1, -0.2, 0.3, 1, 2, 3]), hand, "body")
    np.testing.assert_allclose(tau, [0.706799, 2.900345, 1.452612, 0.313852, -0.061050, 0.3], rtol=0, atol=6e-7)
    q = aj.random_configuration(robot, 50, rng=0)
    s, c = np.sin(q), np.cos(q)
    s23, c23 = np.sin(q[:, 1] + q[:, 2]), np.cos(q[:, 1] + q[:, 2])
    want = A2 * (D4 * c[:, 2] - A3 * s[:, 2]) * (A2 * c[:, 1] + A3 * c23 + D4 * s23) * s[:, 4]
    J = np.roll(aj.jacobian(robot, q, hand, "world"), 3, axis=1)
    np.testing.assert_allclose(np.linalg.det(J), want, rtol=0, atol=1e-14)


def test_park_3r():
    """Park (1994), Example 1, in closed form."""
    L1, L2 = 0.7, 0.4
    robot = robots.park3r(L1, L2)
    tip = robot.frame_names[-1]
    for q in np.random.default_rng(0).normal(size=(5, 3)):
        k = L1 * np.cos(q[1]) + L2 * np.cos(q[1] + q[2])
        T = aj.forward_kinematics(robot, q, tip)
        p = [np.cos(q[0]) * k, np.sin(q[0]) * k, L1 * np.sin(q[1]) + L2 * np.sin(q[1] + q[2])]
        np.testing.assert_allclose(T[:3, 3], p, rtol=0, atol=1e-15)
        np.testing.assert_allclose(T[:3, :3], so3.rotation_z(q[0]) @ so3.rotation_y(-q[1] - q[2]), rtol=0, atol=1e-15)


def test_strobing():
    """FGL (B.27)-(B.30): with v = 0 and a = e_k, the hand's acceleration is column k of its Jacobian."""
    robot, hand = puma_and_hand()
    J = aj.jacobian(robot, F2_Q, hand)
    columns = aj.frame_acceleration(robot, np.tile(F2_Q, (6, 1)), np.zeros(6), np.eye(6), hand)
    np.testing.assert_allclose(columns.T, J, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 6, 7])
def test_operation_counts_of_park(n):
    """Park (1994), table: multiplications and additions of the two methods, counted on the graphs.

    The exponentials and link transforms are given, screws are general (direct) or (e3, 0) (recursive), as in the paper.
    """
    B = np.random.default_rng(0).normal(size=(n, 6))
    e3 = np.eye(6)[2]

    def walk(steps, screws, keep):
        X, found = steps[n - 1], [screws[n - 1]]
        for i in reversed(range(n - 1)):
            found.append(se3.Ad_action(X, screws[i]))
            X = se3.compose(X, steps[i]) if i else X
        return np.concatenate([np.concatenate(found), np.ravel(X) if keep else np.zeros(0)])

    direct = kernel(lambda steps: walk(steps, B, keep=True), steps=(n, 4, 4)).operations
    assert (direct.muls, direct.adds) == (60 * n - 96, 45 * n - 72)
    recursive = kernel(lambda steps: walk(steps, [e3] * n, keep=True), steps=(n, 4, 4)).operations
    assert (recursive.muls, recursive.adds) == (42 * n - 78, 30 * n - 57)
    if n > 2:  # the graph leaves out the columns of the last product that nobody reads
        pruned = kernel(lambda steps: walk(steps, [e3] * n, keep=False), steps=(n, 4, 4)).operations
        assert (pruned.muls, pruned.adds) == (42 * n - 96, 30 * n - 69)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r, q: aj.jacobian(r, q, "tol"), "no frame 'tol'.*'tool'"),
        (lambda r, q: aj.jacobian(r, q, "tool", "local"), "expressed is 'local'.*'body', 'space', 'world'"),
        (lambda r, q: aj.frame_twist(r, q, np.zeros(r.nv), "tool", "local"), "expressed is 'local'"),
        (lambda r, q: aj.jacobian(r, q, "tool", relative_to="x"), "no frame 'x'"),
        (lambda r, q: aj.forward_kinematics(r, q, ("tool", "x")), "no frame 'x'"),
        (lambda r, q: aj.forward_kinematics(r, q, 3), "no frame 3"),
        (lambda r, q: aj.forward_kinematics(r, q[:-1], "tool"), "shape"),
        (lambda r, q: aj.jacobian(r, q), "needs argument 'frame'"),
        (lambda r, q: aj.manipulability(r, q, "tool", "linear"), "part is 'linear'"),
        (lambda r, q: aj.kinematics.singular_directions(r, q, "tool", part="linear"), "part is 'linear'"),
        (lambda r, q: aj.center_of_mass(r.replace(inertias=0 * r.inertias), q), "mass 0"),
    ],
)
def test_bad_input_is_named(call, message):
    robot = tree(0)
    with pytest.raises(ArgumentError, match=message):
        call(robot, aj.neutral(robot))
