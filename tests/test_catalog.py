"""The catalog: published numbers of its arms, and the promises of its families."""

import tracemalloc

import numpy as np
import pytest

from adjoint.errors import AdjointError, ArgumentError
from adjoint.kinematics.forward import forward_kinematics
from adjoint.kinematics.jacobians import jacobian
from adjoint.lie import inertia, so3
from adjoint.model import catalog
from adjoint.model.configuration import random_configuration
from adjoint.model.dh import from_dh
from adjoint.model.joints import JOINTS

fk = forward_kinematics.eager
ARMS = [catalog.puma560, catalog.stanford, catalog.two_link, catalog.park3r, catalog.scara, catalog.gantry]


def close(actual, expected, atol):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def mass_matrix(robot, q):
    """M = Σ J_iᵀ 𝓘_i J_i + diag(armature)."""
    jacobians = [jacobian.eager(robot, q, name) for name in robot.body_names]
    parts = [J.T @ inertia.matrix.eager(I) @ J for J, I in zip(jacobians, robot.inertias, strict=True)]
    return np.sum(parts, axis=0) + np.diag(robot.armature)


def gravity_torque(robot, q):
    """φ = -Σ J_iᵀ (h × g, m g), gravity in the axes of body i."""
    phi = np.zeros(robot.nv)
    for name, (m, *h) in zip(robot.body_names, robot.inertias[:, :4], strict=True):
        g = fk(robot, q, name)[:3, :3].T @ robot.gravity
        phi -= jacobian.eager(robot, q, name).T @ np.concatenate([np.cross(h, g), m * g])
    return phi


@pytest.mark.parametrize("make", ARMS)
def test_bodies_can_exist(make):
    robot = make()
    measured = {"puma560": ["link3"]}  # a moment of inertia 10 % too large, as published
    assert [b.name for b in robot.bodies if inertia.faults(b.inertia)] == measured.get(robot.name, [])
    assert np.all(np.linalg.eigvalsh(mass_matrix(robot, random_configuration(robot, rng=0))) > 0)
    assert make() == robot


# --- PUMA 560 ---------------------------------------------------------------------------------------------------------


def toolbox_puma():
    """The links of `puma560` on the geometry of the Robotics Toolbox (d_3 = .15005, d_4 = .4318), with its motors.

    It has the centre of link 4 beyond the wrist (z = +0.019 m in AKB's frame), against AKB's own -0.019.
    """
    puma = catalog.puma560()
    alpha = np.radians([0, -90, 0, 90, -90, 90])
    modified = np.column_stack(
        [np.zeros(6), [0, 0.2435, 0.14909 - 0.2435, 0.43307, 0, 0], [0, 0, 0.4318, -0.02032, 0, 0], alpha]
    )
    akb = from_dh(modified, "modified")
    home, ours = (forward_kinematics.eager(robot, np.zeros(6)) for robot in (akb, puma))
    bodies = [
        inertia.transform.eager(np.linalg.inv(A) @ T, I) for A, T, I in zip(home, ours, puma.inertias, strict=True)
    ]
    bodies[3][3] *= -1
    theirs = modified.copy()
    theirs[:, 1] = [0, 0.2435, 0.15005 - 0.2435, 0.4318, 0, 0]
    theirs[3, 2] = -0.0203
    gears = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    motors = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
    return from_dh(theirs, "modified", inertias=bodies).replace(armature=motors * gears**2)


# Its nominal pose (0, π/4, π, 0, π/4, 0); joints 1 to 3 are counted from the other side of the shoulder: π, π, -π.
NOMINAL = np.pi * np.array([1, 1.25, 0, 0, 0.25, 0])


def test_puma_carries_its_weight_as_published():
    """`gravload(qn)` of the Robotics Toolbox, four decimals."""
    close(gravity_torque(toolbox_puma(), NOMINAL), [0, 31.6399, 6.0351, 0, 0.0283, 0], 5e-5)


def test_puma_mass_matrix_as_published():
    """`inertia(qn)` of the Robotics Toolbox, four decimals; it has link 3's centre 0.1 mm farther out: 1.5e-4 kg m²."""
    M = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
        [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
        [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
        [-0.0025, 0, 0, 0.1925, 0, 0],
        [0, 0.0024, 0.0015, 0, 0.1713, 0],
        [0, 0, 0, 0, 0, 0.1941],
    ]
    close(mass_matrix(toolbox_puma(), NOMINAL), M, 3e-4)


def test_puma_gravity_in_closed_form():
    """From the first moments of the links about the joint axes, in the form of AKB's gravity terms."""
    puma = catalog.puma560()
    m2, m3, m4, m5, m6 = 17.4, 4.8, 0.82, 0.34, 0.09
    a2, a3, d4, g = 0.4318, -0.02032, 0.43307, 9.81
    g1 = -g * ((m3 + m4 + m5 + m6) * a2 + m2 * 0.068)
    g2 = g * (m3 * -0.070 - (m4 + m5 + m6) * d4 - m4 * -0.019)
    g3 = g * m2 * 0.006
    g4 = -g * (m4 + m5 + m6) * a3
    g5 = -g * m6 * 0.032
    for q in random_configuration(puma, 5, rng=0):
        s23, c23, (s4, s5), (c4, c5) = np.sin(q[1] + q[2]), np.cos(q[1] + q[2]), np.sin(q[3:5]), np.cos(q[3:5])
        wrist = g5 * (s23 * c5 + c23 * c4 * s5)
        third = g2 * s23 + g4 * c23 + wrist
        second = g1 * np.cos(q[1]) + g3 * np.sin(q[1]) + third
        expected = [0, second, third, -g5 * s23 * s4 * s5, g5 * (c23 * s5 + s23 * c4 * c5), 0]
        close(gravity_torque(puma, q), expected, 1e-12)


def test_puma_limits_and_motors():
    puma = catalog.puma560()
    close(np.degrees(puma.lower), [-160, -225, -45, -110, -100, -266], 1e-12)
    close(np.degrees(puma.upper), [160, 45, 225, 170, 100, 266], 1e-12)
    close(puma.armature, [1.14, 4.75, 0.862, 0.202, 0.181, 0.206], 5e-3)


# --- the other arms ---------------------------------------------------------------------------------------------------


def test_stanford_boom_is_a_rod_and_the_hand_small():
    """The reading of Paul's table: radii of gyration about the centres of mass are those of the real parts."""
    bodies = [inertia.central.eager(J) for J in catalog.stanford().inertias]
    gyration = [np.sqrt(np.linalg.eigvalsh(b.inertia).max() / b.mass) for b in bodies]
    assert 1.3 < np.sqrt(12) * gyration[2] < 1.5  # length of a rod [m]
    assert gyration[5] < 0.05
    close(bodies[5].com, [0, 0, 0.1554 - 0.263], 1e-15)


def test_two_rods_of_the_textbook():
    """X15, F1a: D and c, at l = m = 1, θ = (30°, 60°)."""
    robot, q = catalog.two_link(), np.radians([30, 60])
    close(mass_matrix(robot, q), [[2.166667, 0.583333], [0.583333, 0.333333]], 5e-7)
    close(gravity_torque(robot, q), [12.738627, 0], 5e-7)
    robot, q = catalog.two_link(0.5, 2.0, 1.5), np.radians([-40, 110])  # F1b
    close(mass_matrix(robot, q), [[0.53840911, 0.06087122], [0.06087122, 0.125]], 5e-9)
    close(gravity_torque(robot, q), [10.6477005, 1.25771922], 5e-8)


def test_planar_rods_are_the_two_rods():
    q = np.array([0.4, -1.1])
    ours, book = catalog.planar(2), catalog.two_link(g=9.81)
    close(mass_matrix(ours, q), mass_matrix(book, q), 1e-14)
    close(gravity_torque(ours, q), gravity_torque(book, q), 1e-13)
    close(fk(ours, q, "tool"), fk(book, q, "tool"), 1e-15)


def test_scara_in_closed_form():
    robot, (q1, q2, d, q4) = catalog.scara(), (0.3, -0.8, 0.1, 1.2)
    T = fk(robot, np.array([q1, q2, d, q4]), "tool")
    reach = [0.325 * np.cos(q1) + 0.275 * np.cos(q1 + q2), 0.325 * np.sin(q1) + 0.275 * np.sin(q1 + q2)]
    close(T[:3, 3], [*reach, 0.387 - d], 1e-15)
    close(T[:3, 2], [0, 0, -1], 1e-15)
    close(np.arctan2(T[1, 0], T[0, 0]), q1 + q2 - q4, 1e-14)
    close(gravity_torque(robot, np.array([q1, q2, d, q4])), [0, 0, -9.81 * 2.0, 0], 1e-13)


def test_gantry_in_closed_form():
    """Slides move the hanging hand; the wrist turns about its centre, 10 inches above the tool."""
    robot = catalog.gantry()
    assert robot.joint_types == ("prismatic",) * 3 + ("revolute",) * 3
    close(
        fk(robot, np.array([0.3, 0.2, 0.1, 0, 0, 0]), "tool"),
        [[1, 0, 0, 0.3], [0, -1, 0, 0.2], [0, 0, -1, 0.1], [0, 0, 0, 1]],
        1e-15,
    )
    q = np.array([0.3, 0.2, 0.1, 0.5, -0.4, 0.7])
    R = so3.rotation_z.eager(q[3]) @ so3.rotation_y.eager(q[4]) @ so3.rotation_x.eager(q[5])
    T = fk(robot, q, "tool")
    close(T[:3, :3], R @ np.diag([1.0, -1, -1]), 1e-15)
    close(T[:3, 3], q[:3] + 0.254 * (np.eye(3)[2] - R[:, 2]), 1e-15)
    close(gravity_torque(robot, np.zeros(6)), [0, 0, 9.81 * (8.0 + 2.0 + 1.5 + 1.0), 0, 0, 0], 1e-12)


# --- families ---------------------------------------------------------------------------------------------------------


def test_chain_bends_where_its_joints_are():
    robot = catalog.chain(3, length=0.5)
    close(fk(robot, np.zeros(3), "tool")[:3, 3], [1.5, 0, 0], 0)
    close(fk(robot, np.array([0, np.pi / 2, 0]), "tool")[:3, 3], [0.5, 0, 1.0], 1e-15)  # axis 2 is -y
    close(robot.mass, 3.0, 0)
    assert catalog.chain(0).nv == 0


@pytest.mark.slow
def test_a_hundred_thousand_links():
    """Arrays, not builders: 2 kB for each link, names included."""
    n = 100_000
    tracemalloc.start()
    robot = catalog.chain(n)
    assert tracemalloc.get_traced_memory()[1] < 2000 * n
    tracemalloc.stop()
    assert repr(robot) == f"<Robot 'chain{n}': {n} bodies, nq {n}, nv {n}>"
    assert len(robot.fingerprint) == 40
    assert str(robot).endswith(f"... and {n - 200} more bodies")
    assert robot.path(4) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: catalog.chain(-1), "chain: n must be a whole number, 0 or more, got -1"),
        (lambda: catalog.chain(2.0), "chain: n must be a whole number, 0 or more, got 2.0"),
        (lambda: catalog.chain(2, length=np.nan), "robot 'chain2': tool contains NaN or infinity"),
        (lambda: catalog.random_tree(0, -3), "random_tree: n must be a whole number"),
        (lambda: catalog.random_tree(0, 3, ()), "random_tree: types is empty; there are revolute"),
        (lambda: catalog.random_tree("seed", 3), "random_tree: rng must be"),
    ],
)
def test_bad_families(call, says):
    with pytest.raises(AdjointError, match=says):
        call()


def test_the_catalog_is_a_module():
    from adjoint import robots
    from adjoint.robots import puma560

    assert puma560() == catalog.puma560()
    assert {name for name, x in vars(robots).items() if callable(x) and name[0] != "_"} == set(catalog.__all__)


def test_random_trees_have_every_kind_of_joint():
    robot = catalog.random_tree(0, 11)
    assert set(robot.joint_types) >= set(JOINTS) - {"revolute"}
    assert len(robot.mimics) == 1 and any(name.endswith(".cross") for name in robot.body_names)
    assert len(robot.body_names) == 11  # a universal joint makes two bodies, a fixed one none
    assert len(set(robot.parents.tolist())) > 2
    for body in robot.bodies:
        assert body.name.endswith(".cross") or not inertia.faults(body.inertia)


def test_random_trees_follow_their_seed():
    assert catalog.random_tree(5, 20) == catalog.random_tree(np.random.default_rng(5), 20)
    assert catalog.random_tree(5, 20) != catalog.random_tree(6, 20)
    q = random_configuration(robot := catalog.random_tree(7, 30), 10, rng=0)
    assert np.all((q >= robot.lower) & (q <= robot.upper))


def test_random_trees_of_some_types():
    robot = catalog.random_tree(1, 9, ["prismatic", "free"])
    assert sorted(set(robot.joint_types)) == ["free", "prismatic"]
    assert catalog.random_tree(1, 0).nv == 0
    with pytest.raises(ArgumentError, match=r"no joint type ball; there are revolute, .*mimic"):
        catalog.random_tree(1, 3, ["ball"])


def test_robots_that_are_not_in_the_catalog():
    from adjoint import robots

    with pytest.raises(AttributeError, match=r"no robot 'panda'; it has chain, .*adjoint\.load"):
        _ = robots.panda  # type: ignore[attr-defined]
