"""Armature of joints with several degrees of freedom: against MuJoCo, against masses, and by the laws of mechanics."""

# pyright: reportAttributeAccessIssue=false
# (mujoco's compiled module has no types)

import mujoco
import numpy as np
import pytest
from support.trees import close, frictionless, sample, tree

import adjoint as aj
from adjoint.dynamics import armature as armatures
from adjoint.dynamics.ploen_park import forward_dynamics_recursive, inverse_dynamics_recursive
from adjoint.dynamics.regressors import parameters, regressor
from adjoint.lie import inertia, se3
from adjoint.model import Robot
from adjoint.model.loading import load

BALL = inertia.sphere(1.0, 0.3)


def one_body(kind: str, armature, body=BALL, **options) -> Robot:
    builder = Robot.builder("one", gravity=(0, 0, 0)).link("base").link("body", body)
    return builder.joint("j", kind, "base", "body", armature=armature, **options).build()


def test_a_free_body_with_armature_moves_straight_on():
    """m = 1, armature = 1, turning about z while it moves along x: no force, no acceleration of its origin."""
    robot = one_body("free", 1.0)
    v = np.array([0.0, 0, 1, 1, 0, 0])
    a = aj.forward_dynamics(robot, aj.neutral(robot), v, np.zeros(6))
    np.testing.assert_allclose(a[3:] + np.cross(v[:3], v[3:]), 0, atol=1e-15)
    np.testing.assert_allclose(a[:3], 0, atol=1e-15)


MODEL = """<mujoco><option gravity="1 -2 -9"><flag contact="disable"/></option>
<default><joint armature="0.7"/></default><worldbody>
<body name="trunk" pos="1 2 3" euler="20 30 40"><joint type="free"/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.1 0.05 0.02" euler="10 20 30" mass="2"/>
  <body name="arm" pos="0.3 0.1 0"><joint type="ball" pos="0.05 0.02 -0.1"/>
    <geom type="box" size="0.1 0.1 0.3" pos="0 0.1 0.3" mass="1"/>
    <body name="hand" pos="0 0 0.5"><joint axis="1 2 3" armature="0.2"/>
      <geom type="box" size="0.02 0.1 0.1" pos="0.1 0 0.1" mass="0.5"/></body></body></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "model.xml"
    file.write_text(MODEL)
    model = mujoco.MjModel.from_xml_path(str(file))
    return load(file), model, mujoco.MjData(model)


def to_mujoco(robot: Robot, q, v, a=None):
    """qvel = G v and qacc = G a + Ġ v: free joints have ẋ along the world's axes first there."""
    R = aj.forward_kinematics.eager(robot, q, "trunk")[:3, :3]
    G = np.eye(robot.nv)
    G[:6, :6] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
    turned = np.zeros(robot.nv)
    turned[:3] = R @ np.cross(v[:3], v[3:6])
    return G, G @ v, None if a is None else G @ a + turned


@pytest.mark.parametrize("seed", range(3))
def test_free_and_ball_joints_move_as_mujoco_has_them(pair, seed):
    robot, model, data = pair
    assert np.all(robot.armature[:9] == 0.7)
    q, v, a = sample(robot, seed)
    G, qvel, qacc = to_mujoco(robot, q, v, a)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qvel, qacc
    mujoco.mj_inverse(model, data)
    close(aj.inverse_dynamics(robot, q, v, a), G.T @ data.qfrc_inverse)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    close(aj.mass_matrix(robot, q), G.T @ M @ G)
    close(aj.kinetic_energy(robot, q, v), 0.5 * qvel @ M @ qvel)
    data.qfrc_applied[:] = np.linalg.solve(G.T, a)  # a serves as torque
    mujoco.mj_forward(model, data)
    found = aj.forward_dynamics(robot, q, v, a)
    close(to_mujoco(robot, q, v, found)[2], data.qacc)


def test_a_step_of_mujoco_conserves_what_ours_conserves(pair):
    """Without gravity the energy of a run stays the same, and the linear momentum of bodies and armature together."""
    robot = frictionless(pair[0]).replace(gravity=np.zeros(3))
    q, v, _ = sample(robot, 5)

    def total(q, v):
        R = aj.forward_kinematics(robot, q, "trunk")[:3, :3]
        return aj.kinetic_energy(robot, q, v), aj.momentum(robot, q, v)[3:] + 0.7 * R @ v[3:6]

    def step(q, v, dt):
        half = v + dt / 2 * aj.forward_dynamics(robot, q, v, np.zeros(robot.nv))
        middle = aj.integrate(robot, q, dt / 2 * v)
        slope = aj.forward_dynamics(robot, middle, half, np.zeros(robot.nv))
        return aj.integrate(robot, q, dt * half), v + dt * slope

    energy, linear = total(q, v)
    gaps = []
    for dt in (1e-3, 5e-4):
        x = q, v
        for _ in range(round(0.1 / dt)):
            x = step(*x, dt)
        found = total(*x)
        gaps.append([abs(found[0] - energy), abs(found[1] - linear).max()])
    assert np.all(np.array(gaps[1]) < 0.3 * np.array(gaps[0]) + 1e-12)  # second order: a quarter
    assert gaps[1][0] < 1e-4 * energy


LIKE_A_BODY = {  # armature that a rigid body has as inertia: on a base at rest, and without gravity, it is one
    "free": ((0.3, 0.5, 0.6, 0.8, 0.8, 0.8), inertia.from_central(0.8, np.zeros(3), np.diag([0.3, 0.5, 0.6]))),
    "spherical": ((0.3, 0.5, 0.6), inertia.from_central(0.0, np.zeros(3), np.diag([0.3, 0.5, 0.6]))),
    "planar": ((0.4, 0.8, 0.8), inertia.from_central(0.8, np.zeros(3), np.diag([0.0, 0.0, 0.4]))),
}


def with_arm(robot: Robot) -> Robot:
    """The same root, with a body on a hinge beyond it."""
    root, specs = robot.links[1], robot.specs[0]
    builder = Robot.builder("two", gravity=(0, 0, 0)).link("base").link("body", root.inertia).link("arm", BALL)
    builder.joint("j", specs.type, "base", "body", armature=specs.armature)
    return builder.joint("k", "revolute", "body", "arm", se3.exp(np.arange(6) / 3), axis=(1, 2, 3)).build()


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIKE_A_BODY)
def test_armature_of_a_root_is_an_inertia(kind):
    armature, more = LIKE_A_BODY[kind]
    body = inertia.from_central(1.5, np.array([0.1, 0.2, 0.3]), np.diag([0.3, 0.4, 0.5]))
    robot = with_arm(one_body(kind, armature, body))
    heavy = with_arm(one_body(kind, 0.0, body + more))
    q, v, a = sample(robot, 1)
    for function, third in (
        (aj.inverse_dynamics, (a,)), (aj.forward_dynamics, (a,)), (aj.bias_force, ()), (aj.coriolis_matrix, ()),
        (inverse_dynamics_recursive, (a,)), (forward_dynamics_recursive, (a,)), (aj.kinetic_energy, ()),
        (aj.geometry.covariant_derivative, (a, a)),
    ):  # fmt: skip
        close(function(robot, q, v, *third), function(heavy, q, v, *third))
    close(aj.mass_matrix(robot, q), aj.mass_matrix(heavy, q))
    for function in (aj.inverse_dynamics_derivatives, aj.forward_dynamics_derivatives):
        for x, y in zip(function(robot, q, v, a), function(heavy, q, v, a), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * max(1, abs(y).max()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_any_armature_obeys_the_laws(seed):
    """Anywhere in a tree and different in all directions: C is that of the metric, and no power is made."""
    robot = frictionless(tree(seed, 8, ("free", "spherical", "planar", "revolute"))).replace(gravity=np.zeros(3))
    q, v, a = sample(robot, seed)
    C, dM = aj.coriolis_matrix.eager(robot, q, v), aj.geometry.mass_matrix_derivative.eager(robot, q) @ v
    close(C + C.T, dM)
    close(C @ v, aj.bias_force.eager(robot, q, v))
    close(aj.inverse_dynamics.eager(robot, q, v, aj.forward_dynamics.eager(robot, q, v, a)), a)
    slopes = aj.inverse_dynamics_derivatives.eager(robot, q, v, a)
    h = 1e-6
    for k in range(robot.nv):
        e = np.eye(robot.nv)[k] * h
        ahead, behind = (aj.inverse_dynamics.eager(robot, q, v + x, a) for x in (e, -e))
        np.testing.assert_allclose(
            slopes.dv[:, k], (ahead - behind) / (2 * h), rtol=0, atol=1e-6 * abs(slopes.dv).max()
        )
    terms = ("armature", "damping", "friction")
    Y = regressor.eager(robot, q, v, a, joints=terms)
    close(Y @ parameters(robot, terms), aj.inverse_dynamics.eager(robot, q, v, a))


def test_lifted_armature_is_the_robots_own():
    robot = one_body("free", (0.3, 0.5, 0.6, 0.8, 0.7, 0.9))
    q, v, a = sample(robot, 2)
    for function in (aj.inverse_dynamics, aj.forward_dynamics, aj.bias_force):
        last = () if function is aj.bias_force else (a,)
        close(function.bind(robot, lift="armature")(q, v, *last, armature=robot.armature), function(robot, q, v, *last))
    bare = one_body("free", 0.0)
    close(
        aj.inverse_dynamics.bind(bare, lift="armature")(q, v, a, armature=robot.armature),
        aj.inverse_dynamics(robot, q, v, a),
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["free", "spherical", "planar"])
def test_long_robots_have_it_too(kind):
    """Loops, with a root of each kind, against the unrolled algorithms."""
    builder = Robot.builder("long", gravity=(1, 2, 3)).link("base").link("body", BALL)
    builder.joint("j", kind, "base", "body", armature=LIKE_A_BODY[kind][0])
    for k in range(50):
        builder.link(f"l{k}", BALL)
        parent = f"l{k - 1}" if k else "body"
        builder.joint(f"j{k}", "revolute", parent, f"l{k}", se3.exp(np.arange(6) / 9), axis=(k % 3, 1, 2))
    robot = builder.build()
    q, v, a = sample(robot, 3)
    for function in (aj.inverse_dynamics, aj.forward_dynamics):
        found, wanted = function(robot, q, v, a), function.eager(robot, q, v, a)
        close(found, wanted, 1e-9)
        bare = robot.replace(armature=0 * robot.armature)
        close(function(bare, q, v, a), function.eager(bare, q, v, a), 1e-9)
        assert abs(function(bare, q, v, a) - found).max() > 1e-3


def test_no_armature_costs_nothing_and_equal_armature_of_a_ball_nothing_but_its_mass():
    def count(function, kind, armature):
        return function.bind(one_body(kind, armature)).operations

    for kind in ("free", "spherical", "planar"):
        robot = one_body(kind, 0.0)
        assert not armatures.armature_bias(robot, 0, np.ones(robot.nv)).any()
        assert not armatures.armature_slopes(robot, np.ones(robot.nv))
        assert not armatures.armature_coriolis(robot, np.ones(robot.nv))
    assert count(aj.bias_force, "spherical", 0.5) == count(aj.bias_force, "spherical", 0.0)
    assert count(aj.bias_force, "free", 0.5) != count(aj.bias_force, "free", 0.0)
