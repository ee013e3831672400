"""Forward and inverse dynamics, the mass matrix: laws and second formulations on trees of every joint type."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.c_code import run_c
from support.trees import (
    ALL,
    SEEDS,
    close,
    dense_bias,
    dense_mass_matrix,
    frictionless,
    on_free_base,
    sample,
    tree,
)
from support.worked_examples import (
    PUMA_LIKE,
    PUMA_RATES,
    RPR,
    RRR,
    TIP,
    digits,
    from_central,
    pose,
    puma_like_example,
    puma_with_invented_bodies,
    rpr_example,
    rrr_example,
)

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.energy import kinetic_energy
from adjoint.dynamics.factorization import (
    mass_matrix_factors,
    mass_matrix_inverse,
    mass_matrix_logdet,
    mass_matrix_sqrt_solve,
)
from adjoint.dynamics.forward import forward_dynamics, solve_mass_matrix
from adjoint.dynamics.newton_euler import bias_force, gravity_torque, inverse_dynamics, mass_matrix_product
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3
from adjoint.model import Robot, from_dh

every_robot = pytest.mark.parametrize("robot", ALL, ids=lambda r: f"{r.name}-{r.nv}")


# --- one truth --------------------------------------------------------------------------------------------------------


@every_robot
def test_mass_matrix_and_bias_are_sums_over_bodies(robot):
    q, v, _ = sample(robot)
    M = mass_matrix.eager(robot, q)
    close(M, dense_mass_matrix(robot, q))
    assert np.array_equal(M, M.T)
    close(bias_force.eager(robot, q, v), dense_bias(robot, q, v))


@every_robot
def test_inverse_dynamics_is_affine_in_the_acceleration(robot):
    q, v, a = sample(robot)
    M = mass_matrix.eager(robot, q)
    close(inverse_dynamics.eager(robot, q, v, a), M @ a + bias_force.eager(robot, q, v))
    close(mass_matrix_product.eager(robot, q, a), M @ a)


@every_robot
def test_forward_and_inverse_dynamics_undo_each_other(robot):
    """Rounding of tau is amplified by the condition of M, at most 1e5 here."""
    q, v, a = sample(robot)
    M = mass_matrix.eager(robot, q)
    slack = 1e-14 * np.linalg.cond(M) + 1e-11
    tau = inverse_dynamics.eager(robot, q, v, a)
    close(forward_dynamics.eager(robot, q, v, tau), a, slack)
    close(inverse_dynamics.eager(robot, q, v, forward_dynamics.eager(robot, q, v, a)), a, slack)
    x = solve_mass_matrix.eager(robot, q, tau)
    close(x, np.linalg.solve(M, tau), slack)
    close(mass_matrix_product.eager(robot, q, x), tau, slack)


def test_a_mimic_pays_for_itself():
    """A joint that follows k times as fast counts its damping and armature k² times, its dry friction |k| times."""
    rod = inertia.box.eager(1.0, [0.1, 0.2, 0.3])
    resists = {"damping": 0.3, "friction": 0.2, "armature": 0.7}
    builder = Robot.builder("pair").link("base").link("a", rod).link("b", rod).joint("lead", "revolute", "base", "a")
    robot = builder.joint("follow", "revolute", "base", "b", mimic=("lead", -2.0, 0.1), **resists).build()
    close(robot.armature, [4 * 0.7])
    close(robot.damping, [4 * 0.3])
    close(robot.friction, [2 * 0.2])


# --- surroundings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_acts_linearly(seed):
    robot, rng = tree(seed), np.random.default_rng(seed)
    q, _, _ = sample(robot, seed)
    g, h = rng.normal(size=(2, 3))
    phi = {name: gravity_torque.eager(robot, q, gravity=x) for name, x in (("g", g), ("h", h), ("sum", 2 * g - 3 * h))}
    close(phi["sum"], 2 * phi["g"] - 3 * phi["h"], 1e-13)
    close(gravity_torque.eager(robot.replace(gravity=g), q), phi["g"], 1e-15)
    assert not np.any(gravity_torque.eager(robot, q, gravity=np.zeros(3)))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrenches_act_through_the_jacobians_of_their_frames(seed):
    """On several frames of one body, twice on one frame, on the base: there the robot feels nothing."""
    robot, rng = tree(seed), np.random.default_rng(seed)
    q, v, a = sample(robot, seed)
    frames = ("tool", robot.body_names[robot.frame("tool").body], "tool", robot.body_names[0], robot.base_name)
    wrenches = rng.normal(size=(len(frames), 6)) * 10
    want = sum(aj.static_torque.eager(robot, q, F, name) for F, name in zip(wrenches, frames, strict=True))
    options = {"applied_wrenches": wrenches, "frames": frames}
    alone = inverse_dynamics.eager(robot, q, v, a)
    tau = inverse_dynamics.eager(robot, q, v, a, **options)
    close(tau, alone - want)
    M = mass_matrix.eager(robot, q)
    pushed = forward_dynamics.eager(robot, q, v, alone, **options)
    close(pushed, a + np.linalg.solve(M, want), 1e-10)
    close(forward_dynamics.eager(robot, q, v, tau, **options), a, 1e-10)
    base = {"applied_wrenches": wrenches[:1], "frames": (robot.base_name,)}
    assert np.array_equal(inverse_dynamics.eager(robot, q, v, a, **base), alone)


def test_wrenches_without_frames_are_refused():
    robot = robots.two_link()
    q, v, a = sample(robot)
    for options in ({"applied_wrenches": np.ones((2, 6)), "frames": ("tool",)}, {"applied_wrenches": np.ones((1, 6))}):
        with pytest.raises(ArgumentError, match="wrenches"):
            inverse_dynamics(robot, q, v, a, **options)
    with pytest.raises(ArgumentError, match="wrenches"):
        inverse_dynamics(robot, q, v, a, frames=("tool",))
    with pytest.raises(ArgumentError, match="no frame 'tol'; did you mean 'tool'"):
        inverse_dynamics(robot, q, v, a, applied_wrenches=np.ones((1, 6)), frames=("tol",))


def test_the_old_name_of_wrenches_is_told_with_the_change_of_sign():
    robot, F = robots.two_link(), np.ones(6)
    q, v, a = sample(robot)
    new = "it is applied_wrenches, what acts on the robot"
    for of in (inverse_dynamics, forward_dynamics, aj.inverse_dynamics_derivatives, aj.linearize):
        with pytest.raises(ArgumentError, match=f"no argument 'wrenches'; {new}"):
            of(robot, q, v, a, wrenches=F, frames="tool")
    with pytest.raises(ArgumentError, match="it is tip_wrenches here, what the frames exert: the sign stays"):
        aj.dynamics.ploen_park.inverse_dynamics_recursive(robot, q, v, a, wrenches=F, frames="tool")
    with pytest.raises(ArgumentError, match="it is exerted_wrench now, what the frame exerts: the sign stays"):
        aj.static_torque(robot, q, wrench=F, frame="tool")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_moved_base_is_a_free_base_that_is_moved(seed):
    """The torques of the joints agree; gravity is turned into the base's frame."""
    robot, rng = tree(seed), np.random.default_rng(seed)
    q, v, a = sample(robot, seed)
    V, dV = rng.normal(size=(2, 6))
    free = on_free_base(robot)
    pose = aj.random_configuration(free, rng=rng)[:7]
    R = se3.from_xyz_quat_wxyz.eager(pose)[:3, :3]
    options = {"gravity": R.T @ robot.gravity, "base_twist": V, "base_acceleration": dV}
    flying = np.concatenate([pose, q]), np.concatenate([V, v])
    tau = inverse_dynamics.eager(free, *flying, np.concatenate([dV, a]))
    close(inverse_dynamics.eager(robot, q, v, a, **options), tau[6:])
    close(forward_dynamics.eager(free, *flying, tau), np.concatenate([dV, a]), 1e-9)
    close(forward_dynamics.eager(robot, q, v, tau[6:], **options), a, 1e-9)


def test_gravity_is_a_base_that_accelerates_upward():
    robot = tree(0)
    q, v, a = sample(robot)
    upward = {"gravity": np.zeros(3), "base_acceleration": np.concatenate([np.zeros(3), -robot.gravity])}
    close(inverse_dynamics.eager(robot, q, v, a, **upward), inverse_dynamics.eager(robot, q, v, a), 1e-14)


# --- invariance -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["random", "joint", "com", "space", "minimal"])
@pytest.mark.parametrize("seed", SEEDS)
def test_frames_of_links_do_not_matter(seed, choice):
    """Ploen & Park (1999), (18)-(21)."""
    robot, rng = tree(seed), np.random.default_rng(seed)
    q, v, a = sample(robot, seed)
    Q = se3.random(len(robot.body_names), rng=rng, scale=0.3) if choice == "random" else choice
    other = robot.reframed(Q)
    F = {"applied_wrenches": rng.normal(size=(1, 6)), "frames": ("tool",)}
    tau = inverse_dynamics.eager(robot, q, v, a, **F)
    close(inverse_dynamics.eager(other, q, v, a, **F), tau)
    close(mass_matrix.eager(other, q), mass_matrix.eager(robot, q))
    close(forward_dynamics.eager(other, q, v, tau, **F), a, 1e-10)


def floating_chain(links, placements, screws, name):
    """A chain of bodies with these inertias, the first of them free."""
    builder = Robot.builder(name, base="free").link(links[0][0], links[0][1])
    for (parent, _), (child, J), M, S in zip(links[:-1], links[1:], placements, screws, strict=True):
        builder.link(child, J).joint(f"{min(parent, child)}-{max(parent, child)}", "screw", parent, child, M, screw=S)
    return builder.build()


def test_the_root_of_a_floating_chain_does_not_matter():
    """Built from its other end, where f_{B,A} = M⁻¹ exp(-Ad(M) S q), the chain is the same."""
    rng = np.random.default_rng(0)
    links = [(c, J) for c, J in zip("ABCD", tree(0).inertias[:4], strict=True)]
    M = se3.random(3, rng=rng, scale=0.3)
    S = rng.normal(size=(3, 6)) / 2
    S /= np.linalg.norm(S[:, :3], axis=1, keepdims=True)
    one = floating_chain(links, M, S, "one")
    back = [-se3.Ad.eager(T) @ s for T, s in zip(M, S, strict=True)]
    other = floating_chain(links[::-1], [se3.inverse.eager(T) for T in M[::-1]], back[::-1], "other")

    q, v, tau = sample(one)
    tau[:6] = 0  # nothing holds the chain
    T, V = aj.forward_kinematics.eager(one, q, "D"), aj.frame_twist.eager(one, q, v, "D")
    q_other = np.concatenate([se3.to_xyz_quat_wxyz.eager(T), q[:6:-1]])
    v_other = np.concatenate([V, v[:5:-1]])
    close(aj.forward_kinematics.eager(other, q_other, "A"), aj.forward_kinematics.eager(one, q, "A"))
    close(kinetic_energy.eager(other, q_other, v_other), kinetic_energy.eager(one, q, v))
    a = forward_dynamics.eager(one, q, v, tau)
    a_other = forward_dynamics.eager(other, q_other, v_other, np.concatenate([np.zeros(6), tau[:5:-1]]))
    close(a_other[6:], a[:5:-1])
    close(a_other[:6], aj.frame_acceleration.eager(one, q, v, a, "D"))


# --- numbers of papers and books --------------------------------------------------------------------------------------


def check_fixture(robot, q, v, a, M, phi, Cv, tau, tau_tip=None):
    tip = {"applied_wrenches": -TIP[None], "frames": ("tool",)}  # the paper's tip exerts TIP
    digits(mass_matrix.eager(robot, q)[np.triu_indices(robot.nv)], M)
    digits(gravity_torque.eager(robot, q), phi)
    digits(bias_force.eager(robot, q, v) - gravity_torque.eager(robot, q), Cv)
    digits(inverse_dynamics.eager(robot, q, v, a), tau)
    close(forward_dynamics.eager(robot, q, v, tau), a, 1e-5)  # ten digits of tau
    if tau_tip is not None:
        digits(inverse_dynamics.eager(robot, q, v, a, **tip), tau_tip)
        close(forward_dynamics.eager(robot, q, v, tau_tip, **tip), a, 1e-5)


def test_spatial_3r():
    check_fixture(
        rrr_example(),
        *RRR,
        M=[0.5618583647, -0.001953847383, 0.00044328031, 0.6243413419, 0.1296706709, 0.06],
        phi=[0, 10.48345512, 1.874370192],
        Cv=[-0.07411338052, -0.08836641498, 0.02373915694],
        tau=[-0.01903745183, 10.66816279, 1.944989012],
        tau_tip=[1.938967269, 10.10431081, 1.544989012],
    )


def test_rpr():
    check_fixture(
        rpr_example(),
        *RPR,
        M=[0.6051174006, 0.0369731362, -0.008816869769, 2.5, 0.06803941821, 0.0295],
        phi=[0, 0, 1.252839383],
        Cv=[-0.3154648002, -0.141493109, 0.006513989783],
        tau=[-0.4178311466, 1.378328031, 1.313740397],
        tau_tip=[0.5678999962, 2.979462194, 1.404139598],
    )


def test_puma_like_6r():
    M = np.diag([3.175233026, 2.554756127, 0.4944365284, 0.001708954654, 0.00054, 4e-05])
    M[np.triu_indices(6, 1)] = [
        -0.2724612053, -0.151765422, 0.001014019349, 9.477372583e-05, 3.669131043e-05,
        0.6066737979, 0.0003631989754, 0.001292927244, -7.46788394e-06,
        0.0002917281755, 0.001576803324, -7.46788394e-06, 0, 3.510330248e-05, 0,
    ]  # fmt: skip
    check_fixture(
        puma_like_example(),
        *PUMA_LIKE,
        M=M[np.triu_indices(6)],
        phi=[0, -39.27673852, -0.6518611945, -0.0005485342694, 0.01166411997, 0],
        Cv=[-0.01450037508, -0.01877168442, -0.02202046904, -3.486218911e-05, -4.533123016e-05, 5.139031603e-06],
        tau=[0.9355514166, -39.5116924, -0.6816507826, 0.0007857595275, 0.0116172888, 5.646161783e-05],
    )


@pytest.mark.parametrize(
    "sizes, q, v, a, D, h, c, tau",
    [
        ((1, 1, 1), (30, 60), (1, 2), (0.5, -0.3), [2.166667, 0.583333, 0.333333], (-3.464102, 0.433013),
         (12.738627, 0), (10.182859, 0.624679)),
        ((0.5, 2, 1.5), (-40, 110), (0.7, -1.2), (1.5, 2.5), [0.53840911, 0.06087122, 0.125],
         (0.04228617, 0.08633426), (10.6477005, 1.25771922), (11.64977839, 1.74786032)),
        ((1, 1, 1), (0, 0), (0, 0), (0, 0), [2 + 2 / 3, 5 / 6, 1 / 3], (0, 0), (19.6124, 4.9031), (19.6124, 4.9031)),
    ],
)  # fmt: skip
def test_two_rods_of_the_textbook(sizes, q, v, a, D, h, c, tau):
    """Fu, Gonzalez & Lee (1987), §3.2.6: numbers, and the closed form."""
    robot, q, v, a = robots.two_link(*sizes), np.radians(q), np.array(v, float), np.array(a, float)
    l, m1, m2, g = *sizes, -robot.gravity[1]
    c1, c2, s2, c12 = np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q.sum())
    closed = {
        "D": m2 * l * l * np.array([m1 / m2 / 3 + 4 / 3 + c2, 1 / 3 + c2 / 2, 1 / 3]),
        "h": m2 * l * l * s2 * np.array([-v[1] * (v[1] / 2 + v[0]), v[0] ** 2 / 2]),
        "c": g * l * np.array([m1 * c1 / 2 + m2 * c12 / 2 + m2 * c1, m2 * c12 / 2]),
    }
    phi = gravity_torque.eager(robot, q)
    got = {
        "D": mass_matrix.eager(robot, q)[[0, 0, 1], [0, 1, 1]],
        "h": bias_force.eager(robot, q, v) - phi,
        "c": phi,
        "tau": inverse_dynamics.eager(robot, q, v, a),
    }
    for name, want in {"D": D, "h": h, "c": c, "tau": tau}.items():
        np.testing.assert_allclose(got[name], want, atol=1e-6)
    for name, want in closed.items():
        np.testing.assert_allclose(got[name], want, atol=1e-13)


def test_two_rods_released():
    """From rest at 0: the first acceleration, and where they are after a second."""
    from scipy.integrate import solve_ivp

    robot = robots.two_link()
    np.testing.assert_allclose(
        forward_dynamics.eager(robot, [0, 0], [0, 0], [0, 0]), (-12.607971, 16.810629), atol=1e-6
    )
    fd = forward_dynamics.bind(robot)
    motion = solve_ivp(
        lambda t, x: np.concatenate([x[2:], fd(x[:2], x[2:], np.zeros(2))]), (0, 1), np.zeros(4), "DOP853",
        rtol=1e-10, atol=1e-10,
    )  # fmt: skip
    np.testing.assert_allclose(motion.y[:, -1], (-2.777852, 0.392765, -3.409194, 2.897091), atol=1e-5)


def test_textbook_puma_with_invented_bodies():
    """Torques on which Lagrange-Euler, Newton-Euler and d'Alembert agree."""
    robot = puma_with_invented_bodies()
    q, (v, a) = np.radians([30, -45, 120, 20, 40, -60]), PUMA_RATES
    check_eight_digits(
        robot, q, v, a,
        tau=(2.30822115, -49.99557219, -7.96796717, 0.01919497, -0.06078183, -0.00004447),
        phi=(0, -50.10395091, -8.03310755, 0.01587828, -0.06443006, 0),
        h=(-0.42631331, -0.34567465, -0.00849900, -0.00071287, 0.00092533, 0.00002657),
    )  # fmt: skip
    D = mass_matrix.eager(robot, q)
    np.testing.assert_allclose(
        D[[0, 0, 1, 2], [0, 1, 1, 2]], (3.08102482, -0.74904625, 3.24544659, 0.27829130), atol=1e-8
    )


def check_eight_digits(robot, q, v, a, tau, phi, h):
    gravity = gravity_torque.eager(robot, q)
    np.testing.assert_allclose(gravity, phi, atol=1e-8)
    np.testing.assert_allclose(bias_force.eager(robot, q, v) - gravity, h, atol=1e-8)
    np.testing.assert_allclose(inverse_dynamics.eager(robot, q, v, a), tau, atol=1e-8)


def test_stanford_arm_with_invented_bodies():
    J = from_central(
        (9, 6, 4, 1, 0.6, 0.5),
        [(0, 0.1, -0.01), (0, 0.02, 0.1), (0, 0, -0.6), (0, 0.01, 0), (0, 0, 0.02), (0, 0, -0.1)],
        [
            (0.3, 0.2, 0.3), (0.1, 0.02, 0.1), (2.5, 2.5, 0.006), (0.002, 0.001, 0.001), (0.003, 0.0004, 0.0003),
            (0.013, 0.013, 0.0003),
        ],
    )  # fmt: skip
    table = np.array(
        [(0, 0.4, 0, -90), (0, 0.15, 0, 90), (-90, 0, 0, 0), (0, 0, 0, -90), (0, 0, 0, 90), (0, 0.26, 0, 0)], float
    )
    table[:, [0, 3]] = np.radians(table[:, [0, 3]])
    robot = from_dh(table, joints="RRPRRR", inertias=J, gravity=(0, 0, -9.8062))
    tau = (3.4510268, 13.35808229, 17.91850299, 0.56604693, 0.07572193, -0.00026796)
    got = inverse_dynamics.eager(robot, [0.3, -1.2, 0.5, 0.4, 0.9, -0.7], *PUMA_RATES)
    np.testing.assert_allclose(got, tau, atol=1e-8)


def test_planar_point_masses():
    """Masses (2, 1, 0.5) kg at the ends of massless rods: det M = 0.2304 · 1.708387601."""
    lengths, J = (1.0, 0.8, 0.6), [point_mass(m, 0, 0, 0) for m in (2.0, 1.0, 0.5)]
    robot = from_dh([[0, 0, l, 0] for l in lengths], inertias=J)
    q = np.array([0.4, -0.7, 1.1])
    M = mass_matrix.eager(robot, q)[np.triu_indices(3)]
    digits(M, [7.245983984, 2.551855061, 0.5651813673, 1.357726138, 0.2888630691, 0.18])
    inverse = mass_matrix_inverse.eager(robot, q)[np.triu_indices(3)]
    digits(inverse, [0.4089017266, -0.7521963459, -0.07678828816, 2.502072803, -1.653494832, 8.450182787])
    digits(np.exp(mass_matrix_logdet.eager(robot, q)), 0.3936125032)


# --- degenerate robots ------------------------------------------------------------------------------------------------


def point_mass(m, *at):
    return inertia.from_central.eager(m, np.array(at, float), np.zeros((3, 3)))


BOX = inertia.box.eager(1.0, [0.1, 0.2, 0.3])
NOTHING = np.zeros(10)


def arm(*joints, name="degenerate") -> Robot:
    """A chain of (type, inertia, options); links are 1, 2, ..."""
    builder = Robot.builder(name).link("0")
    for i, (kind, J, options) in enumerate(joints, 1):
        builder.link(str(i), J).joint(f"j{i}", kind, str(i - 1), str(i), **options)
    return builder.build()


def along(axis, length):
    return {"axis": axis, "placement": pose(None, *(np.array(axis) * length))}


UNDETERMINED = {
    "massless last link": (arm(("revolute", BOX, {}), ("revolute", NOTHING, {})), "2"),
    "massless last links": (arm(("revolute", BOX, {}), ("prismatic", NOTHING, {}), ("revolute", NOTHING, {})), "3"),
    "all massless": (arm(("revolute", NOTHING, {})), "1"),
    "rod about its axis": (arm(("revolute", inertia.rod.eager(1.0, 2.0), {})), "1"),
    "point mass on the axis": (arm(("revolute", point_mass(1, 0, 0, 0.5), {})), "1"),
    "point mass on a line that is no coordinate axis": (
        arm(("revolute", BOX, {}), ("revolute", point_mass(2, 0.3, 0.2, 0.1), {"axis": (3, 2, 1)})), "2",
    ),
    "point mass off the origin, on the axis": (
        arm(("revolute", point_mass(1, 0.3, 0.2, 0), {"screw": [0, 0, 1, 0.2, -0.3, 0]})), "1",
    ),
    "point mass in a ball joint": (arm(("spherical", point_mass(1, 0.1, 0.2, 0.3), {})), "1"),
    "point mass that flies": (arm(("free", point_mass(1, 0.1, 0.2, 0.3), {})), "1"),
    "point mass in a plane": (arm(("planar", point_mass(1, 0, 0, 0), {})), "1"),
    "massless between parallel slides": (
        arm(("prismatic", NOTHING, along((1, 2, 2), 0.1)), ("prismatic", BOX, along((1, 2, 2), 0.1))), "1",
    ),
    "massless between coaxial hinges": (
        arm(("revolute", NOTHING, along((1, 1, 0.3), 0.1)), ("revolute", BOX, along((1, 1, 0.3), 0.2))), "1",
    ),
    "massless between four parallel hinges": (
        arm(*[("revolute", BOX if i == 3 else NOTHING, {"placement": pose(x=0.3)}) for i in range(4)]), "1",
    ),
    "massless mimic and leader": (
        arm(("revolute", BOX, {}), ("revolute", NOTHING, {}), ("revolute", NOTHING, {"mimic": ("j2", 2.0, 0.0)})), "2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("robot, body", UNDETERMINED.values(), ids=UNDETERMINED)
def test_bodies_without_inertia_are_named(robot, body):
    """Where M is singular whatever q is, each function that inverts it says which body is to blame; others work."""
    q, v, a = sample(robot)
    calls = [
        (forward_dynamics, (q, v, a)), (solve_mass_matrix, (q, a)), (mass_matrix_inverse, (q,)),
        (mass_matrix_logdet, (q,)), (mass_matrix_sqrt_solve, (q, a)), (mass_matrix_factors, (q,)),
    ]  # fmt: skip
    for function, args in calls:
        for call in (function, function.eager):
            with pytest.raises(ArgumentError, match=f"body '{body}' and all beyond it have no inertia"):
                call(robot, *args)
    close(inverse_dynamics.eager(robot, q, v, a), dense_mass_matrix(robot, q) @ a + dense_bias(robot, q, v))


DETERMINED = {
    "armature for a massless link": arm(("revolute", BOX, {}), ("revolute", NOTHING, {"armature": 0.1})),
    "massless, then a body": arm(("revolute", NOTHING, {}), ("revolute", BOX, {"axis": (1, 0, 0)})),
    "universal joint": arm(("universal", BOX, {})),
    "point mass that slides": arm(("prismatic", point_mass(1, 0, 0, 0), {})),
    "three slides": arm(*[("prismatic", BOX if i == 2 else NOTHING, {"axis": np.eye(3)[i]}) for i in range(3)]),
    "point mass on a pendulum": arm(("revolute", point_mass(2, 0.5, 0, 0), {})),
    "spherical pendulum": arm(("universal", point_mass(2, 0.7, 0, 0), {"axis": (0, 0, 1), "axis2": (0, 1, 0)})),
    "a body that flies": arm(("free", BOX, {})),
    "massless mimic of a body": arm(("revolute", BOX, {}), ("revolute", NOTHING, {"mimic": ("j1", 2.0, 0.0)})),
    "a leader without mass": arm(
        ("revolute", NOTHING, {"axis": (1, 0, 0)}), ("revolute", BOX, {"mimic": ("j1", 2.0, 0.0)})
    ),
    "nothing that moves": arm(),
    "sixty bodies": robots.chain(60, length=0.1),
}


@pytest.mark.parametrize("robot", DETERMINED.values(), ids=DETERMINED)
def test_degenerate_robots_with_an_answer(robot):
    q, v, a = sample(robot)
    M = mass_matrix.eager(robot, q)
    close(M, dense_mass_matrix(robot, q) if robot.nv < 20 else M)
    tau = inverse_dynamics.eager(robot, q, v, a)
    slack = 1e-14 * np.linalg.cond(M) + 1e-12 if robot.nv else 0
    close(forward_dynamics.eager(robot, q, v, tau), a, slack)
    assert forward_dynamics.eager(robot, q, v, tau).shape == (robot.nv,)
    assert np.isclose(mass_matrix_logdet.eager(robot, q), np.linalg.slogdet(M)[1])


@pytest.mark.parametrize("length", [1e-12, 1e-6, 1, 1e6, 1e12])
@pytest.mark.parametrize("mass", [1e-12, 1, 1e12])
def test_units_do_not_matter(mass, length):
    """Masses and lengths in other units: torques scale with m l², forces with m l; accelerations of angles stay."""
    robot = tree(1, 8, ("revolute", "prismatic", "helical", "spherical", "planar"))
    turns = np.concatenate([np.any(robot.screw(i)[:, :3], axis=1) for i in range(len(robot.body_names))])
    unit = np.where(turns, 1.0, length)  # of v and a
    scaled = in_units(frictionless(robot), mass, length, unit)
    q, v, a = sample(robot)
    q_scaled = q * q_unit(robot, length)
    tau = inverse_dynamics.eager(frictionless(robot), q, v, a)
    got = inverse_dynamics.eager(scaled, q_scaled, v * unit, a * unit)
    close(got / (mass * length**2 / unit), tau)
    close(forward_dynamics.eager(scaled, q_scaled, v * unit, got) / unit, a)
    shift = 2 * np.log(length / unit).sum() + robot.nv * np.log(mass)
    close(mass_matrix_logdet.eager(scaled, q_scaled), mass_matrix_logdet.eager(robot, q) + shift)


def q_unit(robot, length):
    """The unit of each coordinate."""
    kinds = {"prismatic": [length], "planar": [length, length, 1.0], "spherical": [1.0] * 4}
    return np.concatenate([kinds.get(kind, [1.0]) for kind in robot.joint_types])


def in_units(robot: Robot, mass, length, unit) -> Robot:
    """The robot with every mass and every length times a factor; its rates have these units."""
    placements, screws = robot.placements.copy(), robot.screws.copy()
    placements[:, :3, 3] *= length
    screws[:, 3:] *= np.where(np.any(screws[:, :3], axis=1, keepdims=True), length, 1.0)
    inertias = robot.inertias * mass * np.array([1.0] + [length] * 3 + [length**2] * 6)
    return robot.replace(
        placements=placements, screws=screws, inertias=inertias, gravity=robot.gravity * length,
        armature=robot.armature * mass * length**2 / unit**2,
    )  # fmt: skip


# --- compiled ---------------------------------------------------------------------------------------------------------


def batch(robot, n, seed=0):
    rng = np.random.default_rng(seed)
    return aj.random_configuration(robot, n, rng=rng), rng.normal(size=(n, robot.nv)), rng.normal(size=(n, robot.nv))


@pytest.mark.slow
@pytest.mark.parametrize("robot", [tree(0, 4, ("mimic", "spherical")), tree(1, 5), robots.puma560()], ids=repr)
def test_compiled_equals_eager(robot):
    """Fused products round otherwise: the kernels differ by rounding alone."""
    q, v, a = batch(robot, 5)
    for function, args in ((inverse_dynamics, (q, v, a)), (forward_dynamics, (q, v, a)), (mass_matrix, (q,))):
        want = np.stack([function.eager(robot, *x) for x in zip(*args, strict=True)])
        close(function(robot, *args), want, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("function", [inverse_dynamics, forward_dynamics], ids=lambda f: f.__name__)
def test_c_equals_eager(function, tmp_path):
    robot = robots.puma560()
    args = sample(robot)
    close(run_c(function.bind(robot), args, tmp_path)[0], function.eager(robot, *args), 1e-13)


@pytest.mark.slow
def test_everything_broadcasts():
    """Batches of q, v, a, gravity, wrenches and base motions, one against the other."""
    robot = robots.park3r()
    q, v, a = batch(robot, 4)
    rng = np.random.default_rng(1)
    options = {
        "gravity": rng.normal(size=(3, 1, 3)),
        "applied_wrenches": rng.normal(size=(4, 2, 6)), "frames": ("tool", "link1"),
        "base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=(3, 4, 6)),
    }  # fmt: skip
    tau = inverse_dynamics(robot, q, v[0], a, **options)
    assert tau.shape == (3, 4, 3)
    for i, j in ((0, 0), (2, 1)):
        one = options | {
            "gravity": options["gravity"][i, 0], "applied_wrenches": options["applied_wrenches"][j],
            "base_acceleration": options["base_acceleration"][i, j],
        }  # fmt: skip
        close(tau[i, j], inverse_dynamics.eager(robot, q[j], v[0], a[j], **one), 1e-13)
    close(forward_dynamics(robot, q, v[0], tau, **options), np.broadcast_to(a, (3, 4, 3)), 1e-12)


@pytest.mark.slow
def test_single_precision():
    """float32 in, float32 out. Torques of an arm are sums of some hundred terms no larger than the largest torque:
    their errors stay below 1e-5 of it; solving amplifies them by the condition of M, at most 300 here.
    """
    robot = robots.puma560()
    q, v, a = (x.astype(np.float32) for x in batch(robot, 200))
    exact = [x.astype(float) for x in (q, v, a)]
    tau, a_found = inverse_dynamics(robot, q, v, a), forward_dynamics(robot, q, v, a)
    assert tau.dtype == a_found.dtype == np.float32
    want = inverse_dynamics(robot, *exact)
    assert np.abs(tau - want).max() < 1e-5 * np.abs(want).max()
    want = forward_dynamics(robot, *exact)
    condition = np.linalg.cond(mass_matrix(robot, exact[0])).max()
    assert np.abs(a_found - want).max() < 1e-6 * condition * np.abs(want).max()


def test_nan_stays_in_its_sample():
    robot = robots.puma560()
    q, v, a = batch(robot, 9)
    q[3, 2] = np.nan
    for function in (inverse_dynamics, forward_dynamics):
        out = function(robot, q, v, a)
        assert np.isnan(out[3]).any() and np.isfinite(np.delete(out, 3, axis=0)).all()


# --- any small tree ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_any_small_tree(seed, n):
    robot = robots.random_tree(seed, n)
    q, v, a = sample(robot, seed)
    M = mass_matrix.eager(robot, q)
    tau = inverse_dynamics.eager(robot, q, v, a)
    close(M, dense_mass_matrix(robot, q))
    close(tau, M @ a + dense_bias(robot, q, v))
    if robot.nv:
        assert np.linalg.eigvalsh(M)[0] > 0
        close(forward_dynamics.eager(robot, q, v, tau), a, 1e-13 * np.linalg.cond(M))


@pytest.mark.slow
@pytest.mark.parametrize("robot", [robots.puma560(), robots.chain(100)], ids=["arm", "loops"])
def test_one_frame_by_its_name_has_one_wrench(robot):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 4, robot.nv))
    name, F = robot.frame_names[-1], rng.normal(size=(4, 6))
    for of in (inverse_dynamics, forward_dynamics):
        several = of(robot, q, v, a, applied_wrenches=F[:, None], frames=(name,))
        assert np.array_equal(of(robot, q, v, a, applied_wrenches=F, frames=name), several)
        assert np.array_equal(of(robot, q, v, a, applied_wrenches=F[0], frames=name)[0], several[0])
    with pytest.raises(
        ArgumentError, match=r"'applied_wrenches'.*`frames` is not given: it names one thing for each row"
    ):
        inverse_dynamics(robot, q, v, a, applied_wrenches=F[0])
    with pytest.raises(ArgumentError, match="'frames' must be one name, or a tuple or list, not 3"):
        inverse_dynamics(robot, q, v, a, applied_wrenches=F, frames=3)
    with pytest.raises(ArgumentError, match=r"give the applied_wrenches \(6,\) on it"):
        inverse_dynamics(robot, q, v, a, frames=name)


def test_negative_inertia_is_not_called_none():
    arm = robots.planar(1)
    with pytest.raises(ArgumentError, match="negative inertia against joint"):
        forward_dynamics(arm.replace(inertias=-arm.inertias), [0.0], [0.0], [0.0])
