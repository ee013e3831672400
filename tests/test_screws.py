"""Products of exponentials: screws to robots, robots to screws, Park (1994) and the fixtures of the papers."""

import numpy as np
import pytest

from adjoint.errors import ArgumentError, ModelError
from adjoint.kinematics.forward import forward_kinematics
from adjoint.kinematics.jacobians import jacobian
from adjoint.lie import inertia, se3
from adjoint.model import catalog
from adjoint.model.configuration import random_configuration
from adjoint.model.dh import dh_matrix, from_dh
from adjoint.model.robot import Builder
from adjoint.model.screws import body_screws, change_frames, from_screws, space_screws
from adjoint.sweep import coordinates

fk = forward_kinematics.eager
ROUNDING = 1e-13  # a dozen 4x4 products of entries below 2


def close(actual, expected, atol=ROUNDING):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def exp(A):
    return se3.exp.eager(A)


def space_form(robot, q, frame):
    """exp(A_1 q_1) ··· exp(A_n q_n) M."""
    A, T, bodies = space_screws(robot, frame)
    for A_i, i in zip(A[::-1], bodies[::-1], strict=True):
        T = exp(A_i * coordinates(robot, q, i)[0]) @ T
    return T


def body_form(robot, q, frame):
    """M exp(B_1 q_1) ··· exp(B_n q_n)."""
    B, T, bodies = body_screws(robot, frame)
    for B_i, i in zip(B, bodies, strict=True):
        T = T @ exp(B_i * coordinates(robot, q, i)[0])
    return T


ONE_DOF = ("revolute", "continuous", "prismatic", "helical", "screw", "universal", "fixed", "mimic")


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_are_the_forward_kinematics_of_every_frame(seed):
    robot = catalog.random_tree(seed, 14, ONE_DOF)
    q = random_configuration(robot, rng=seed)
    for frame in robot.frame_names:
        expected = fk(robot, q, frame)
        close(space_form(robot, q, frame), expected, 1e-12)  # offsets and random screws make longer arms
        close(body_form(robot, q, frame), expected, 1e-12)


def test_a_mimic_has_a_screw_of_its_own():
    robot = (
        Builder("arm").link("a").link("b").link("c").joint("j", "revolute", "a", "b")
        .joint("k", "prismatic", "b", "c", mimic=("j", 0.3, 0.1)).build()
    )  # fmt: skip
    poe = space_screws(robot, "c")
    assert poe.bodies == (0, 1)
    close(poe.screws, [[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]], 0)
    close(fk(robot, np.array([0.5]), "c"), exp(0.5 * poe.screws[0]) @ exp(0.25 * poe.screws[1]) @ poe.home)


@pytest.mark.parametrize("form", ["space", "body"])
def test_robots_come_back_from_their_screws(form):
    rng = np.random.default_rng(0)
    for robot in (catalog.puma560(), catalog.stanford(), catalog.random_tree(3, 6, ("helical", "revolute"))):
        poe = (space_screws if form == "space" else body_screws)(robot, "tool")
        again = from_screws(poe.screws, poe.home, form)
        for q in random_configuration(robot, 3, rng=rng):
            own = np.concatenate([coordinates(robot, q, i) for i in poe.bodies])
            close(fk(again, own, "tool"), fk(robot, q, "tool"))
        assert again.joint_types == tuple(robot.joint_types[i] for i in poe.bodies)


def test_screws_are_the_columns_of_the_jacobian_at_home():
    puma = catalog.puma560()
    close(jacobian.eager(puma, np.zeros(6), "tool", "space"), space_screws(puma, "tool").screws.T)
    close(jacobian.eager(puma, np.zeros(6), "tool", "body"), body_screws(puma, "tool").screws.T)


# --- Park (1994) ------------------------------------------------------------------------------------------------------


def test_example_1_closed_form():
    L1, L2 = 1.0, 0.5
    robot = catalog.park3r(L1, L2)
    close(space_screws(robot, "tool").screws, [[0, 0, 1, 0, 0, 0], [0, -1, 0, 0, 0, 0], [0, -1, 0, 0, 0, -L1]], 0)
    close(space_screws(robot, "tool").home, dh_matrix(0, 0, L1 + L2, 0), 0)
    for q in np.random.default_rng(0).uniform(-3, 3, (5, 3)):
        (s1, s2, s23), (c1, c2, c23) = (f([q[0], q[1], q[1] + q[2]]) for f in (np.sin, np.cos))
        k = L1 * c2 + L2 * c23
        R = np.array([[c1, -s1, 0], [s1, c1, 0], [0, 0, 1]]) @ [[c23, 0, -s23], [0, 1, 0], [s23, 0, c23]]
        close(fk(robot, q, "tool"), np.block([[R, np.c_[[c1 * k, s1 * k, L1 * s2 + L2 * s23]]], [0, 0, 0, 1]]))


def test_example_1_numbers():
    """F8: at q = (.3, .4, -.9), ten digits."""
    T = fk(catalog.park3r(1.0, 0.5), np.array([0.3, 0.4, -0.9]), "tool")
    close(T[:3, 3], [1.299116498, 0.4018638253, 0.149705573], 1e-9)
    close(T[0, :3], [0.8383866436, -0.2955202067, 0.4580127108], 1e-10)


def test_dh_to_product_of_exponentials():
    """A_i = Ad(N_{i-1}) P_i with N_i = M_1 ··· M_i, M = N_n, B_i = Ad(M⁻¹) A_i, and P_i = (e_3, 0) or (0, e_3)."""
    rng = np.random.default_rng(4)
    joints, table = "RRPRPR", rng.uniform(-1.5, 1.5, (6, 4))
    robot = from_dh(table, joints=joints)
    N = np.eye(4)
    expected = []
    for row, kind in zip(table, joints, strict=True):
        expected.append(se3.Ad.eager(N) @ np.eye(6)[2 if kind == "R" else 5])
        N = N @ dh_matrix(*row)
    space, body = space_screws(robot, "tool"), body_screws(robot, "tool")
    close(space.screws, expected)
    close(space.home, N)
    close(body.screws, (np.linalg.inv(se3.Ad.eager(N)) @ np.array(expected).T).T, 1e-12)


def test_screws_of_a_modified_table():
    """F3: the PUMA-like arm."""
    d = [0, 0.2435, -0.0934, 0.4331, 0, 0]
    a = [0, 0, 0.4318, -0.0203, 0, 0]
    alpha = np.radians([0, -90, 0, 90, -90, 90])
    robot = from_dh(np.column_stack([np.zeros(6), d, a, alpha]), "modified", tool=dh_matrix(0, 0.1, 0, 0))
    A, home, _ = space_screws(robot, "tool")
    expected = [
        [0, 0, 1, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0.4318],
        [0, 0, 1, 0.1501, -0.4115, 0],
        [0, 1, 0, -0.4331, 0, 0.4115],
        [0, 0, 1, 0.1501, -0.4115, 0],
    ]
    close(A, expected, 1e-15)
    close(home, dh_matrix(0, 0, 0, 0) + np.eye(4)[:, :3] @ np.outer([0.4115, 0.1501, 0.5331], [0, 0, 0, 1]), 1e-15)
    T = fk(robot, np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6]), "tool")
    close(T[0], [0.4020113994, -0.8535709429, -0.3313660819, 0.3958811111], 1e-10)


def test_screws_of_rpr():
    """F2 of the papers: A_3 and the tool at home."""
    I = np.eye(4)
    c, s = np.cos, np.sin
    M2 = np.array([[1, 0, 0, 0.2], [0, c(0.3), -s(0.3), 0], [0, s(0.3), c(0.3), 0.1], I[3]])
    M3 = np.array([[c(-0.5), 0, s(-0.5), 0], [0, 1, 0, 0.1], [-s(-0.5), 0, c(-0.5), 0.4], I[3]])
    tool = np.array([[c(0.2), -s(0.2), 0, 0.1], [s(0.2), c(0.2), 0, 0], [0, 0, 1, 0.2], I[3]])
    robot = (
        Builder("rpr").link("0").link("1").link("2").link("3")
        .joint("j1", "revolute", "0", "1", dh_matrix(0, 0.3, 0, 0))
        .joint("j2", "prismatic", "1", "2", M2, axis=(1, 0, 0))
        .joint("j3", "revolute", "2", "3", M3, axis=(0, 1, 0)).frame("tool", "3", tool).build()
    )  # fmt: skip
    A, home, _ = space_screws(robot, "tool")
    close(A[1], [0, 0, 0, 1, 0, 0], 1e-15)
    close(A[2], [0, 0.9553364891, 0.2955202067, -0.7821345957, -0.05910404133, 0.1910672978], 1e-10)
    close(home[2], [0.5075937518, 0.1986363989, 0.8383866436, 1.025165216], 1e-9)


def test_base_and_tool_change():
    """f' = P f Q: A' = Ad(P) A, B' = Ad(Q⁻¹) B, M' = P M Q; erratum E7."""
    rng = np.random.default_rng(5)
    P, Q = se3.random(rng=rng), se3.random(rng=rng)
    puma = catalog.puma560()
    A, B = space_screws(puma, "tool"), body_screws(puma, "tool")
    moved = change_frames(A, "space", base=P, tool=Q)
    close(moved.screws, (se3.Ad.eager(P) @ A.screws.T).T)
    robot = from_screws(moved.screws, moved.home)
    q = rng.uniform(-3, 3, 6)
    close(fk(robot, q, "tool"), P @ fk(puma, q, "tool") @ Q, 1e-12)
    seen = change_frames(B, "body", base=P, tool=Q)
    close(body_screws(robot, "tool").screws, seen.screws, 1e-12)
    close(seen.home, moved.home)
    assert seen.bodies == moved.bodies == B.bodies
    for found, form in ((A, "space"), (B, "body")):  # each form sees one of the two only, and nothing changes nothing
        close(change_frames(found, form).screws, found.screws)
    close(change_frames(A, "space", tool=Q).screws, A.screws)
    close(change_frames(B, "body", base=P).screws, B.screws)
    with pytest.raises(ArgumentError, match="'space' or 'body'"):
        change_frames(A, "world", base=P)
    with pytest.raises(ModelError, match="base is not a rigid motion"):
        change_frames(A, "space", base=2 * P)
    with pytest.raises(ArgumentError, match=r"change_frames needs a PoE, .* got ndarray"):
        change_frames(A.screws, "space")


# --- link frames ------------------------------------------------------------------------------------------------------


def test_default_frames_are_the_base_frame():
    A, M, _ = space_screws(catalog.stanford(), "tool")
    robot = from_screws(A, M)
    close(robot.placements, np.broadcast_to(np.eye(4), (6, 4, 4)), 0)
    close(robot.screws, A, 0)


def test_inertias_are_given_in_the_link_frames():
    """The same arm, its inertias given in frames of the user's choice: every link's inertia in space is the same."""
    rng = np.random.default_rng(6)
    puma = catalog.puma560()
    A, M, _ = space_screws(puma, "tool")
    homes = [fk(puma, np.zeros(6), name) for name in puma.body_names]
    in_space = [inertia.transform.eager(T, J) for T, J in zip(homes, puma.inertias, strict=True)]
    plain = from_screws(A, M, inertias=in_space)
    framed = from_screws(A, M, links=homes, inertias=puma.inertias)
    q = rng.uniform(-3, 3, 6)
    for i, name in enumerate(puma.body_names):
        close(fk(framed, q, f"link{i + 1}"), fk(puma, q, name), 1e-12)
        for other in (plain, framed):
            seen = inertia.transform.eager(fk(other, q, f"link{i + 1}"), other.inertias[i])
            close(seen, inertia.transform.eager(fk(puma, q, name), puma.inertias[i]), 1e-12)


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_screws():
    z = [0, 0, 1, 0, 0, 0]
    for screws, home, options, message in [
        ([z[:5]], np.eye(4), {}, r"screws must have shape \(n, 6\), got \(1, 5\)"),
        (np.zeros((6, 2)), np.eye(4), {}, r"screws must have shape \(n, 6\), got \(6, 2\)"),
        (3, np.eye(4), {}, r"screws must have shape \(n, 6\), got \(\)"),
        ([z, z[:5]], np.eye(4), {}, r"screws must be numbers of shape \(n, 6\)"),
        ([z], np.eye(4), {"gravity": "down"}, "gravity must be numbers"),
        ([z], np.eye(3), {}, r"home must have shape \(4, 4\)"),
        ([[0, 0, 2, 0, 0, 0]], np.eye(4), {}, r"screw 1 .*\|w\| = 2; it must be 1"),
        ([z, [0, 0, 0, 0, 3, 0]], np.eye(4), {}, r"screw 2 .*\|v\| = 3"),
        ([[0] * 6], np.eye(4), {}, r"\|v\| = 0"),
        ([z], np.eye(4), {"form": "world"}, "'world'; it must be 'space' or 'body'"),
        ([z], np.eye(4), {"links": np.eye(4)}, r"links must have shape \(1, 4, 4\)"),
        ([z], np.eye(4), {"inertias": np.full((1, 10), np.inf)}, "inertias contains NaN or infinity"),
    ]:
        with pytest.raises(ModelError, match=message):
            from_screws(screws, home, **options)


def test_joints_of_several_degrees_of_freedom_have_no_screw():
    robot = Builder("arm").link("a").link("b").joint("ball", "spherical", "a", "b").build()
    with pytest.raises(ArgumentError, match="joint 'ball', on the way to frame 'b', is spherical"):
        space_screws(robot, "b")


def test_no_joints_at_all():
    robot = from_screws(np.zeros((0, 6)), dh_matrix(0, 1, 2, 0))
    close(fk(robot, np.zeros(0), "tool"), dh_matrix(0, 1, 2, 0), 0)
    assert space_screws(robot, "tool").screws.shape == body_screws(robot, "tool").screws.shape == (0, 6)
