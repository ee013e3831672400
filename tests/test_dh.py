"""DH tables to robots and back; the textbook's arm matrices, examples X9-X12 and problems 2.12, 2.13."""

import sys
from pathlib import Path

import numpy as np
import pytest

from adjoint.errors import ArgumentError, ModelError
from adjoint.kinematics.forward import forward_kinematics
from adjoint.kinematics.jacobians import jacobian
from adjoint.lie import se3
from adjoint.model import catalog
from adjoint.model.configuration import random_configuration
from adjoint.model.dh import DH, dh_matrix, from_dh, to_dh
from adjoint.model.loading import load
from adjoint.model.robot import Builder

fk = forward_kinematics.eager
ROBOTS = next(d for p in sys.path if (d := Path(p) / "cmeel.prefix/share/example-robot-data/robots").is_dir())
ROUNDING = 1e-13  # a dozen 4x4 products of entries below 2


def close(actual, expected, atol=ROUNDING):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def rx(a):
    return dh_matrix(0, 0, 0, a)


def rz(a):
    return dh_matrix(a, 0, 0, 0)


def shift(x=0.0, z=0.0):
    return dh_matrix(0, z, x, 0)


# --- link matrices ----------------------------------------------------------------------------------------------------


def test_link_matrix_is_its_factors_in_the_order_of_the_convention():
    rng = np.random.default_rng(0)
    for theta, d, a, alpha in rng.uniform(-3, 3, (20, 4)):
        close(dh_matrix(theta, d, a, alpha), rz(theta) @ shift(z=d) @ shift(x=a) @ rx(alpha))
        close(dh_matrix(theta, d, a, alpha, "modified"), rx(alpha) @ shift(x=a) @ rz(theta) @ shift(z=d))


def test_multiples_of_a_right_angle_are_exact():
    for quarter in range(-6, 7):
        angle = quarter * np.pi / 2
        for matrix in (
            dh_matrix(angle, 0, 0, 0.3),
            dh_matrix(0.3, 0, 0, angle),
            dh_matrix(angle, 0, 0, angle, "modified"),
        ):
            assert np.all((matrix == 0) | (np.abs(matrix) > 0.1))
            assert not np.any(np.signbit(matrix) & (matrix == 0))


def test_a_prismatic_row_keeps_its_a():
    """Erratum E5 of FGL (2.2-31): its position column assumes a = 0."""
    theta, a, d = 0.7, 0.3, 1.1
    arm = from_dh([[theta, 0.2, a, 0.4]], joints="P")
    close(fk(arm, np.array([d - 0.2]), "tool")[:3, 3], [a * np.cos(theta), a * np.sin(theta), d])


def test_prismatic_home_is_a_rotation():
    """Erratum E3 of Park (1994): the third column of its prismatic M is (s_th s_al, -c_th s_al, c_al)."""
    s, c = np.sin(0.7), np.cos(0.7)
    M = from_dh([[0.7, 0, 0, 0.4]], joints="P").placements[0]
    close(M[:3, 2], [s * np.sin(0.4), -c * np.sin(0.4), np.cos(0.4)])
    close(M[:3, :3] @ M[:3, :3].T, np.eye(3))


def product(table, joints, q, convention, base, tool):
    T = base
    for row, kind, q_i in zip(table, joints, q, strict=True):
        row = row + q_i * np.eye(4)[0 if kind == "R" else 1]
        T = T @ dh_matrix(*row, convention)
    return T @ tool


@pytest.mark.parametrize("convention", ["classic", "modified"])
def test_forward_kinematics_is_the_product_of_link_matrices(convention):
    rng = np.random.default_rng(1)
    for joints in ("R", "P", "RRPRRR", "PPRPRP"):
        table, q = rng.uniform(-1.5, 1.5, (len(joints), 4)), rng.uniform(-2, 2, len(joints))
        base, tool = se3.random(rng=rng), se3.random(rng=rng)
        arm = from_dh(table, convention, joints=joints, base=base, tool=tool)
        close(fk(arm, q, "tool"), product(table, joints, q, convention, base, tool))
        half = len(joints) // 2  # every body frame is a DH frame
        inner = product(table[:half], joints[:half], q[:half], convention, base, np.eye(4))
        close(fk(arm, q, f"link{half}" if half else "base"), inner if half else np.eye(4))


def test_classic_and_modified_tables_of_one_arm():
    """A modified row has a and alpha of the classic row before it."""
    rng = np.random.default_rng(2)
    classic, q = rng.uniform(-1.5, 1.5, (6, 4)), rng.uniform(-2, 2, 6)
    modified = np.column_stack([classic[:, :2], np.vstack([[0, 0], classic[:-1, 2:]])])
    tool = dh_matrix(0, 0, *classic[-1, 2:])
    close(fk(from_dh(modified, "modified", tool=tool), q, "tool"), fk(from_dh(classic), q, "tool"))


# --- the textbook's arms ----------------------------------------------------------------------------------------------


def test_puma_arm_matrix_at_the_pose_drawn():
    """X9, X10."""
    T = fk(catalog.puma560(), np.radians([90, 0, 90, 0, 0, 0]), "tool")
    close(T, [[0, -1, 0, -0.14909], [0, 0, 1, 0.92112], [-1, 0, 0, 0.02032], [0, 0, 0, 1]], 1e-15)


def puma_arm_matrix(q):
    """FGL (2.2-40)-(2.2-43), n from s × a."""
    a2, a3, d2, d4, d6 = 0.4318, -0.02032, 0.14909, 0.43307, 0.05625
    (s1, s2, _, s4, s5, s6), (c1, c2, _, c4, c5, c6) = np.sin(q), np.cos(q)
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    k, w = d6 * (c23 * c4 * s5 + s23 * c5) + d4 * s23 + a3 * c23 + a2 * c2, d6 * s4 * s5 + d2
    u, v = -c23 * (c4 * c5 * s6 + s4 * c6) + s23 * s5 * s6, -s4 * c5 * s6 + c4 * c6
    s = np.array([c1 * u - s1 * v, s1 * u + c1 * v, s23 * (c4 * c5 * s6 + s4 * c6) + c23 * s5 * s6])
    e = c23 * c4 * s5 + s23 * c5
    a = np.array([c1 * e - s1 * s4 * s5, s1 * e + c1 * s4 * s5, c23 * c5 - s23 * c4 * s5])
    p = np.array([c1 * k - s1 * w, s1 * k + c1 * w, d6 * a[2] + d4 * c23 - a3 * s23 - a2 * s2])
    return se3.from_rotation_translation.eager(np.stack([np.cross(s, a), s, a], axis=1), p)


def test_puma_closed_form():
    rng, puma = np.random.default_rng(3), catalog.puma560()
    for q in random_configuration(puma, 20, rng=rng):
        close(fk(puma, q, "tool"), puma_arm_matrix(q))


# F2: ARM, ELBOW, WRIST, then the joint angles [deg].
SOLUTIONS = """
    +1 +1 +1  -126.551054 -135         65.372790  167.121508  44.049152  -25.937500
    +1 +1 -1  -126.551054 -135         65.372790  -12.878492 -44.049152  154.062500
    +1 -1 +1  -126.551054 -162.369798 120         170.556669  70.821360  -32.141968
    +1 -1 -1  -126.551054 -162.369798 120          -9.443331 -70.821360  147.858032
    -1 +1 +1    30         -45         120          20          40        -60
    -1 +1 -1    30         -45         120        -160         -40        120
    -1 -1 +1    30         -17.630202  65.372790   13.908533   66.149880  -50.138535
    -1 -1 -1    30         -17.630202  65.372790 -166.091467  -66.149880  129.861465
"""


def test_eight_solutions_of_puma_reach_one_pose():
    """F2: angles have six decimals of a degree, 2e-8 rad, and the arm is 1 m long."""
    T = [
        [0.219613, -0.712636, 0.666274, 0.585070815],
        [-0.661632, 0.393094, 0.638530, 0.524224533],
        [-0.716947, -0.581057, -0.385174, 0.415377030],
        [0, 0, 0, 1],
    ]
    puma = catalog.puma560()
    for line in SOLUTIONS.strip().splitlines():
        q = np.radians([float(x) for x in line.split()[3:]])
        reached = fk(puma, q, "tool")
        close(reached, T, 6e-7)
        close(reached[:3, 3], np.array(T)[:3, 3], 3e-8)


def test_stanford_arm_matrices():
    """X11: 0T3 in closed form, and the pose drawn."""
    d1, d2, d6 = 0.412, 0.154, 0.263
    stanford = catalog.stanford()
    t1, t2, d3 = 0.4, -1.1, 0.6
    (s1, s2), (c1, c2) = np.sin([t1, t2]), np.cos([t1, t2])
    q = np.array([t1, t2, d3, 0.3, 0.5, -0.7])
    expected = [
        [s1, c1 * c2, c1 * s2, -d2 * s1 + d3 * c1 * s2],
        [-c1, s1 * c2, s1 * s2, d2 * c1 + d3 * s1 * s2],
        [0, -s2, c2, d1 + d3 * c2],
        [0, 0, 0, 1],
    ]
    close(fk(stanford, q, "link3"), expected)
    drawn = fk(stanford, np.array([-np.pi / 2, -np.pi / 2, d3, 0, 0, 0]), "tool")
    close(drawn, [[-1, 0, 0, d2], [0, 0, 1, d3 + d6], [0, 1, 0, d1], [0, 0, 0, 1]])


def test_problem_2_12():
    d1, d2, d6 = 0.412, 0.154, 0.263
    T = fk(catalog.stanford(), np.array([*np.radians([90, -120]), 0.22, *np.radians([0, 70, 90])]), "tool")
    R = [[0, -0.342020, 0.939693], [-0.5, -0.813798, -0.296198], [0.866025, -0.469846, -0.171010]]
    p = [-d2 + 0.939693 * d6, -0.190526 - 0.296198 * d6, d1 - 0.11 - 0.171010 * d6]
    close(T[:3, :3], R, 6e-7)
    close(T[:3, 3], p, 6e-7)


def test_problem_2_13():
    """First-order error of the end of link 3, from errors of joints 1 to 3."""
    J = jacobian.eager(catalog.puma560(), np.radians([90, 0, 90, 0, 0, 0]), "link3", "world")[3:, :3]
    close(J, [[-0.4318, 0, 0], [-0.14909, 0.02032, 0.02032], [0, -0.4318, 0]], 1e-15)


def test_camera_and_cube():
    """X12: the base sees the cube through the camera."""
    cam_cube = np.array([[0, 1, 0, 1], [1, 0, 0, 10], [0, 0, -1, 9], [0, 0, 0, 1.0]])
    cam_base = np.array([[1, 0, 0, -10], [0, -1, 0, 20], [0, 0, -1, 10], [0, 0, 0, 1.0]])
    cell = (
        Builder("cell").link("base").link("camera").link("cube")
        .joint("mount", "fixed", "base", "camera", np.linalg.inv(cam_base))
        .joint("seen", "fixed", "camera", "cube", cam_cube).build()
    )  # fmt: skip
    close(fk(cell, np.zeros(0), "cube"), [[0, 1, 0, 11], [-1, 0, 0, 10], [0, 0, 1, 1], [0, 0, 0, 1]])


# --- axes -> table ----------------------------------------------------------------------------------------------------


def same_kinematics(robot, tip, atol=ROUNDING, seed=0):
    dh = to_dh(robot, tip)
    again = from_dh(**dh._asdict())
    path = [robot.bodies[i].joint.q for i in robot.path(robot.frame(tip).body)]
    for q in random_configuration(robot, 5, rng=seed):
        own = np.concatenate([np.zeros(0), *(q[at] for at in path)])
        close(fk(again, own, "tool"), fk(robot, q, tip), atol)
    return dh


@pytest.mark.parametrize("make", [catalog.puma560, catalog.stanford, catalog.scara, catalog.park3r, catalog.two_link])
def test_tables_of_the_catalog(make):
    same_kinematics(make(), "tool")


def test_tables_of_real_arms():
    """URDF angles such as 1.5708 give axes 4e-6 rad from parallel, whose normals are 1e5 m away: 1e-11 at the best."""
    for file, tip, atol in [
        ("ur_description/urdf/ur5_robot.urdf", "tool0", 1e-12),
        ("panda_description/urdf/panda.urdf", "panda_hand_tcp", 1e-12),
        ("xarm_description/urdf/xarm7.urdf", "link7", 1e-9),
    ]:
        same_kinematics(load(ROBOTS / file), tip, atol)


def test_puma_gives_back_its_table():
    """Exactly, but for the place of the shoulder's offset: axes 2 and 3 are parallel, where the algorithm has d = 0."""
    table = to_dh(catalog.puma560()).table
    d = [0, 0, 0.14909, 0.43307, 0, 0.05625]
    alpha = np.radians([-90, 0, 90, -90, 90, 0])
    close(table, np.column_stack([np.zeros(6), d, [0, 0.4318, -0.02032, 0, 0, 0], alpha]), 1e-15)


@pytest.mark.parametrize("seed", range(25))
def test_tables_of_random_chains_with_special_geometry(seed):
    """Parallel, antiparallel, intersecting, coincident and skew axes, revolute and prismatic."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    table = rng.uniform(-1, 1, (n, 4)) * (rng.random((n, 4)) < 0.5)
    table[:, 3] = rng.choice([0, np.pi / 2, -np.pi / 2, np.pi, 0.3], n)
    convention = str(rng.choice(["classic", "modified"]))
    joints = "".join(rng.choice(list("RRP"), n))
    robot = from_dh(table, convention, joints=joints, base=se3.random(rng=rng), tool=se3.random(rng=rng))
    dh = same_kinematics(robot, "tool", seed=seed)
    assert dh.joints == joints
    again = to_dh(from_dh(**dh._asdict()))  # normal form: a second pass finds the same table
    close(again.table, dh.table, 1e-12)
    close(again.base, dh.base)


def test_the_way_to_a_frame_of_the_base_has_no_rows():
    dh = to_dh(catalog.puma560(), "base")
    assert isinstance(dh, DH) and dh.table.shape == (0, 4) and dh.joints == ""
    close(fk(from_dh(**dh._asdict()), np.zeros(0), "tool"), np.eye(4))


def test_letters_of_either_case():
    rows = [[0, 0, 1, 0]] * 3
    assert from_dh(rows, joints="rPr") == from_dh(rows, joints="RPR") == from_dh(rows, joints=["R", "p", "R"])


def test_an_empty_table_still_has_base_and_tool():
    rng = np.random.default_rng(0)
    base, tool = se3.random(rng=rng), se3.random(rng=rng)
    for options, expected in [
        ({"base": base}, base),
        ({"base": base, "tool": tool}, base @ tool),
        ({"tool": tool}, tool),
    ]:
        close(from_dh([], **options).frame("tool").placement, expected)


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_tables():
    good = [[0, 0, 1, 0]] * 2
    for arguments, error, message in [
        (([[0, 0, 1]],), ModelError, r"table must have shape \(n, 4\), got \(1, 3\)"),
        (([[0, 0, np.nan, 0]],), ModelError, "table contains NaN"),
        (([["a", 0, 0, 0]],), ModelError, "table must be numbers"),
        (([0, 0, 1, 0],), ModelError, r"table must have shape \(n, 4\), got \(4,\)"),
        ((3,), ModelError, r"table must have shape \(n, 4\), got \(\)"),
        ((good, "standard"), ArgumentError, r"'standard': there are 'classic' \(standard: .* and 'modified' \(Craig"),
    ]:
        with pytest.raises(error, match=message):
            from_dh(*arguments)
    for options, message in [
        ({"joints": "RX"}, "'RX'; it must have 2 letters"),
        ({"joints": "R"}, "must have 2 letters"),
        ({"joints": 2}, "joints is 2; it must have 2 letters"),
        ({"gravity": "down"}, r"gravity must be numbers of shape \(3,\), got 'down'"),
        ({"gravity": (0, 0, np.nan)}, "gravity contains NaN"),
        ({"lower": "down"}, "lower must be one number, or 2 of them, got 'down'"),
        ({"base": np.eye(3)}, r"base must have shape \(4, 4\)"),
        ({"base": np.diag([1, 1, -1, 1])}, "base is not a rigid motion"),
        ({"tool": np.eye(3)}, r"tool must have shape \(4, 4\)"),
        ({"inertias": np.zeros((3, 10))}, r"inertias must have shape \(2, 10\)"),
        ({"lower": [0, 0, 0]}, "lower must be one number, or 2 of them"),
        ({"upper": np.nan}, "upper must be one number, or 2 of them, got nan"),
    ]:
        with pytest.raises(ModelError, match=message):
            from_dh(good, **options)


def test_robots_without_a_table():
    arm = Builder("arm").link("a").link("b").link("c").joint("j", "helical", "a", "b", pitch=0.1)
    with pytest.raises(ArgumentError, match="'j' is helical"):
        to_dh(arm.joint("k", "revolute", "b", "c").build())
    arm = Builder("arm").link("a").link("b").link("c").joint("j", "revolute", "a", "b")
    with pytest.raises(ArgumentError, match="'k' is a mimic"):
        to_dh(arm.joint("k", "revolute", "b", "c", mimic=("j", 1.0, 0.0)).build())
    with pytest.raises(ArgumentError, match=r"'ball'.*spherical"):
        to_dh(Builder("arm").link("a").link("b").joint("ball", "spherical", "a", "b").build())
