"""Motions of all bodies and the wrenches in their joints: laws, statics, global operators, Pinocchio, constraints."""

import numpy as np
import pinocchio as pin
import pytest
from support.c_code import run_c
from support.robots import joint_ids, pair, pinocchio_q, urdf, velocity_map
from support.trees import CATALOG, SEEDS, close, sample, tree
from support.worked_examples import RPR, TIP, digits, rpr_example

import adjoint as aj
from adjoint import fixman, robots
from adjoint.dynamics import body_motions_and_wrenches, inverse_dynamics
from adjoint.dynamics.global_operators import operators
from adjoint.errors import ArgumentError
from adjoint.fixman.bodies import _bases
from adjoint.lie import inertia, se3
from adjoint.model import Robot

every_robot = pytest.mark.parametrize(
    "robot", [*(tree(seed) for seed in SEEDS), *CATALOG], ids=lambda r: f"{r.name}-{r.nv}"
)


def surroundings(robot, seed=1) -> dict:
    """A load on the last frame, gravity of its own, and a base that moves."""
    V_0, dV_0, F = np.random.default_rng(seed).normal(size=(3, 6))
    given = {"applied_wrenches": F[None], "frames": (robot.frame_names[-1],), "gravity": np.array([0.3, -2.0, 5.0])}
    return given | {"base_twist": V_0, "base_acceleration": dV_0}


# --- laws -------------------------------------------------------------------------------------------------------------


@every_robot
def test_along_the_screws_the_wrenches_are_the_torques(robot):
    """PP (5); a mimic's torque is felt by its leader."""
    q, v, a = sample(robot)
    bare = robot.replace(armature=0 * robot.armature, damping=0 * robot.damping, friction=0 * robot.friction)
    for given in ({}, surroundings(robot)):
        F = body_motions_and_wrenches.eager(robot, q, v, a, **given).wrenches
        S = operators.eager(robot, q, v).S
        close(S.T @ F.ravel(), inverse_dynamics.eager(bare, q, v, a, **given))


@every_robot
def test_twists_are_those_of_the_frames(robot):
    """On a base at rest; V̇ is without gravity."""
    q, v, a = sample(robot)
    found = body_motions_and_wrenches.eager(robot, q, v, a)
    for i, name in enumerate(robot.body_names):
        close(found.twists[i], aj.frame_twist.eager(robot, q, v, name))
        close(found.accelerations[i], aj.frame_acceleration.eager(robot, q, v, a, name), 1e-10)
    still = body_motions_and_wrenches.eager(robot, q, 0 * v, 0 * a)
    assert not still.twists.any() and not still.accelerations.any()


@every_robot
def test_as_the_global_operators_have_them(robot):
    """PP (6)-(8) as matrices over all bodies, on a base that is moved: nothing of the recursion is used."""
    q, v, a = sample(robot)
    given = surroundings(robot)
    V_0, dV_0, (F_t,) = given["base_twist"], given["base_acceleration"], -given["applied_wrenches"]
    o = operators.eager(robot, q, v, base_twist=V_0)
    V = o.G @ (o.S @ v + o.P_0 @ V_0)
    dV = o.G @ (o.S @ a + o.ad_Sq @ (o.Gamma @ V + o.P_0 @ V_0) + o.P_0 @ dV_0)
    up = o.G @ o.P_0 @ np.concatenate([np.zeros(3), -given["gravity"]])
    F = o.G.T @ (o.J @ (dV + up) + o.ad_V @ o.J @ V + o.P_t.T @ F_t)
    found = body_motions_and_wrenches.eager(robot, q, v, a, **given)
    for got, want in zip(found, (V, dV, F), strict=True):
        close(got.ravel(), want)


def test_numbers_of_an_rpr_arm():
    """Ten digits, computed by another program; its V̇ has the acceleration -g of the base in it."""
    robot = rpr_example()
    found = body_motions_and_wrenches.eager(robot, *RPR, applied_wrenches=-TIP[None], frames=("tool",))
    digits(found.twists[2], [0.4257014552, 1.047760103, 0.2166684631, -0.1901945201, 0.2149507101, 0.2270978625])
    g = np.concatenate([np.zeros(3), aj.forward_kinematics.eager(robot, RPR[0])[2, :3, :3].T @ robot.gravity])
    with_gravity = [-0.3652821988, 0.3408959587, 0.2964639245, 8.481183889, 2.66977247, 3.581348522]
    digits(found.accelerations[2] - g, with_gravity)
    digits(found.wrenches[0], [-1.40268409, -10.98986189, 0.5678999962, 2.962462194, 1.172679575, 44.62753435])


# --- statics and a spinning rod ---------------------------------------------------------------------------------------


def test_a_hanging_chain():
    """Each joint carries the weight of all below it and no moment; a load at the end is carried by all."""
    rod = inertia.transform.eager(se3.exp.eager(np.array([0, 0, 0, 0, 0, -0.25])), inertia.rod.eager(2.0, 0.5))
    builder = Robot.builder("hanging").link("ceiling")
    below = se3.exp.eager(np.array([0, 0, 0, 0, 0, -0.5]))
    for i in range(4):
        above, at = (f"rod{i - 1}", below) if i else ("ceiling", None)
        builder = builder.link(f"rod{i}", rod).joint(f"pin{i}", "revolute", above, f"rod{i}", at, axis=(0, 1, 0))
    robot = builder.frame("end", "rod3", below).build()
    zero = np.zeros(4)
    carried = body_motions_and_wrenches(robot, zero, zero, zero).wrenches
    close(carried[:, 5], 2.0 * 9.81 * np.array([4, 3, 2, 1]))
    assert np.abs(np.delete(carried, 5, axis=1)).max() < 1e-12
    pull = np.array([[0, 0, 0, 0, 0, -10.0]])  # 10 N downward
    pulled = body_motions_and_wrenches(robot, zero, zero, zero, applied_wrenches=pull, frames=("end",)).wrenches
    close(pulled[:, 5] - carried[:, 5], np.full(4, 10.0))


def test_a_spinning_rod_pulls_at_its_bearing():
    """m ω² r toward the axis, m ω̇ r across it, and the weight along it."""
    com, m, rate, rise = 0.3, 2.0, 5.0, 4.0
    body = inertia.transform.eager(se3.exp.eager(np.array([0, 0, 0, com, 0, 0])), inertia.box.eager(m, [0.6, 0.1, 0.1]))
    robot = Robot.builder("mill").link("post").link("rod", body).joint("axle", "revolute", "post", "rod").build()
    found = body_motions_and_wrenches(robot, [0.7], [rate], [rise])  # about z, which is up
    close(found.wrenches[0, 3:], m * np.array([-(rate**2) * com, rise * com, 9.81]))
    close(found.accelerations[0], [0, 0, rise, 0, 0, 0])


# --- other programs, constraints, compiled ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "base"), [("panda", "fixed"), ("ur5_robot", "fixed"), ("g1_29dof_rev_1_0", "free")])
def test_against_pinocchio(name, base):
    robot, model = pair(urdf(name), base)
    rng = np.random.default_rng(0)
    q, (v, a) = aj.random_configuration(robot, rng=rng), rng.normal(size=(2, robot.nv))
    data, E, x = model.createData(), velocity_map(model, robot), pinocchio_q(model, robot, q)
    pin.rnea(model, data, x, E @ v, E @ a)
    f = [np.roll(data.f[k].vector, 3) for k in joint_ids(model, robot)]
    pin.forwardKinematics(model, data, x, E @ v, E @ a)
    found = body_motions_and_wrenches(robot, q, v, a)
    close(found.twists, [np.roll(data.v[k].vector, 3) for k in joint_ids(model, robot)])
    close(found.accelerations, [np.roll(data.a[k].vector, 3) for k in joint_ids(model, robot)])
    close(found.wrenches, f)


def test_constraints_push_with_minus_d():
    """Fixman's d of b = M a: the wrenches in the joints, against the directions that these forbid, are -d."""
    robot = robots.random_tree(5, 6, ["revolute", "prismatic"]).reframed("joint")
    robot = robot.replace(gravity=np.zeros(3), armature=np.zeros(6))
    q, _, b = sample(robot)
    H11, H12, H22 = fixman.fixman_blocks(robot, q)
    d = np.linalg.solve(H22.toarray(), H12.T @ b)
    a = H11 @ b - H12 @ d
    F = body_motions_and_wrenches.eager(robot, q, 0 * b, a).wrenches
    forbidden = _bases(robot, None)[:, :, 1:]
    close(np.einsum("kij,ki->kj", forbidden, F).ravel(), -d)


@pytest.mark.slow
def test_compiled_in_batches_and_as_c(tmp_path):
    robot = tree(1, 6)
    samples = [sample(robot, seed) for seed in range(5)]
    q, v, a = (np.array(x) for x in zip(*samples, strict=True))
    around = surroundings(robot)
    compiled = body_motions_and_wrenches(robot, q, v, a, **around)
    for k, one in enumerate(samples):
        for got, want in zip(compiled, body_motions_and_wrenches.eager(robot, *one, **around), strict=True):
            close(got[k], want, 1e-13)
    assert compiled.wrenches.shape == (5, len(robot.body_names), 6)
    in_c = run_c(body_motions_and_wrenches.bind(robot), samples[0], tmp_path)
    for got, want in zip(in_c, body_motions_and_wrenches.eager(robot, *samples[0]), strict=True):
        close(got, want, 1e-13)


def test_no_bodies_and_bad_arguments():
    empty = Robot.builder("post").link("base").build()
    assert all(x.shape == (0, 6) for x in body_motions_and_wrenches(empty, [], [], []))
    robot = robots.two_link()
    with pytest.raises(ArgumentError, match="give the applied_wrenches"):
        body_motions_and_wrenches(robot, [0, 0], [0, 0], [0, 0], frames=("tool",))
    with pytest.raises(ArgumentError, match="q"):
        body_motions_and_wrenches(robot, [0, 0, 0], [0, 0], [0, 0])
