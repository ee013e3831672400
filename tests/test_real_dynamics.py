"""Dynamics of real robots: every URDF of example-robot-data against Pinocchio, MJCF models against MuJoCo.

All robots run eagerly, for compiling a hundred of them would take minutes; arms, a quadruped and two humanoids on a
free base run as the compiled kernels that users call.
"""

from pathlib import Path

# pyright: reportAttributeAccessIssue=false
# (mujoco's compiled module has no types)
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from support.mujoco_models import by_mujoco, qpos_of, rates_map
from support.robots import URDFS, pair, pinocchio_q, urdf, velocity_map
from support.trees import close

import adjoint as aj
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.energy import centroidal_momentum, centroidal_momentum_matrix, kinetic_energy, potential_energy
from adjoint.dynamics.factorization import mass_matrix_inverse, mass_matrix_logdet
from adjoint.dynamics.forward import forward_dynamics, solve_mass_matrix
from adjoint.dynamics.newton_euler import bias_force, gravity_torque, inverse_dynamics
from adjoint.errors import ArgumentError
from adjoint.kinematics import forward_kinematics
from adjoint.model import Robot, random_configuration

# Their fingers, and the gripper, weigh nothing: a torque on them has no answer.
SINGULAR = {"romeo": "RFinger11Link", "romeo_laas_small": "r_gripper"}
SLACK = 1e-9


def symmetric(M):
    """Pinocchio fills the upper triangle only."""
    return np.triu(M) + np.triu(M, 1).T


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_against_pinocchio(path, base):
    robot, model = pair(path, base)
    if not robot.body_names:  # two drones are one body each
        assert base == "fixed" and inverse_dynamics(robot, [], [], []).shape == (0,)
        assert kinetic_energy(robot, [], []) == potential_energy(robot, []) == 0
        return
    rng = np.random.default_rng(0)
    for n, q in enumerate(random_configuration(robot, 2, rng=rng)):
        v, a = rng.normal(size=(2, robot.nv))
        check_torques(robot, model, q, v, a)
        if path.stem in SINGULAR:
            with pytest.raises(ArgumentError, match=f"body '{SINGULAR[path.stem]}' .* have no inertia"):
                forward_dynamics.eager(robot, q, v, a)
        else:
            check_accelerations(robot, model, q, v, a, and_inverse=n == 0)
    check_energies(robot, model, q, v)


def check_torques(robot, model, q, v, a):
    data, E, x = model.createData(), velocity_map(model, robot), pinocchio_q(model, robot, q)
    close(inverse_dynamics.eager(robot, q, v, a), E.T @ pin.rnea(model, data, x, E @ v, E @ a), SLACK)
    close(mass_matrix.eager(robot, q), E.T @ symmetric(pin.crba(model, data, x)) @ E, SLACK)


def check_accelerations(robot, model, q, v, a, and_inverse):
    """Up to what the condition of M makes of rounding: iCub has 2e9 when it floats."""
    data, E, x = model.createData(), velocity_map(model, robot), pinocchio_q(model, robot, q)
    tau = pin.rnea(model, data, x, E @ v, E @ a)
    M = E.T @ symmetric(pin.crba(model, data, x)) @ E
    slack = max(SLACK, np.finfo(float).eps * np.linalg.cond(M))
    # Pinocchio moves mimics freely: its accelerations are not of this robot, its torques are.
    want = a if robot.mimics else E.T @ pin.aba(model, data, x, E @ v, tau)
    found = forward_dynamics.eager(robot, q, v, E.T @ tau)
    close(found, want, slack)
    close(M @ found, M @ want, SLACK)
    if and_inverse:
        inverse = np.linalg.inv(M) if robot.mimics else E.T @ symmetric(pin.computeMinverse(model, data, x)) @ E
        close(mass_matrix_inverse.eager(robot, q), inverse, slack)


def check_energies(robot, model, q, v):
    data, E, x = model.createData(), velocity_map(model, robot), pinocchio_q(model, robot, q)
    close(kinetic_energy.eager(robot, q, v), pin.computeKineticEnergy(model, data, x, E @ v), SLACK)
    close(potential_energy.eager(robot, q), pin.computePotentialEnergy(model, data, x), SLACK)
    close(gravity_torque.eager(robot, q), E.T @ pin.computeGeneralizedGravity(model, data, x), SLACK)
    A = pin.ccrba(model, data, x, E @ v)
    close(centroidal_momentum_matrix.eager(robot, q), np.roll(A, 3, axis=0) @ E, SLACK)
    close(centroidal_momentum.eager(robot, q, v), np.roll(data.hg.vector, 3), SLACK)


# --- MuJoCo -----------------------------------------------------------------------------------------------------------

MODELS = sorted((Path(__file__).parent / "models").glob("*.xml"))


def without_contacts(file: Path):
    """MuJoCo's model; dry friction and couplings are constraints there, limits, contacts and springs are not ours.

    Armature of a free joint is left out: it counts along the world's axes there, along the body's here, so that the
    forces differ by armature · (w × v).
    """
    model, data = by_mujoco(file)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.jnt_stiffness[:] = 0
    for dof in model.jnt_dofadr[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]:
        model.dof_armature[dof : dof + 6] = 0
    return model, data


def as_compared(robot: Robot) -> Robot:
    armature = robot.armature.copy()
    for body in robot.bodies:
        if body.joint.type == "free":
            armature[body.joint.v] = 0
    return robot.replace(friction=0 * robot.friction, armature=armature)


def rate_of_rates_map(robot, model, q, v):
    """Ġ v (nv of MuJoCo,): of G only the blocks R of free joints change, d(R u)/dt = R (w × u)."""
    found = np.zeros(model.nv)
    for body, dof in zip(robot.bodies, model.jnt_dofadr, strict=True):
        if body.joint.type == "free":
            R = forward_kinematics.eager(robot, q, body.name)[:3, :3]
            w, u = v[body.joint.v][:3], v[body.joint.v][3:]
            found[dof : dof + 3] = R @ np.cross(w, u)
    return found


@pytest.mark.parametrize("file", MODELS, ids=lambda f: f.stem)
def test_against_mujoco(file):
    """M, gravity and bias, damping, armature; torques of mj_inverse, which has damping and armature in it."""
    robot, (model, data) = as_compared(aj.load(file)), without_contacts(file)
    rng = np.random.default_rng(0)
    for q in random_configuration(robot, 3, rng=rng):
        v, a = rng.normal(size=(2, robot.nv))
        G = rates_map(robot, model, q)
        data.qpos[:], data.qvel[:] = qpos_of(robot, model, q), G @ v
        data.qacc[:] = G @ a + rate_of_rates_map(robot, model, q, v)
        mujoco.mj_inverse(model, data)
        close(inverse_dynamics.eager(robot, q, v, a), G.T @ data.qfrc_inverse, SLACK)
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        close(mass_matrix.eager(robot, q), G.T @ M @ G, SLACK)
        moved = G.T @ (data.qfrc_bias - data.qfrc_passive + M @ rate_of_rates_map(robot, model, q, v))
        close(bias_force.eager(robot, q, v), moved, SLACK)
        tau = inverse_dynamics.eager(robot, q, v, a)
        close(forward_dynamics.eager(robot, q, v, tau), a, SLACK)


# --- compiled ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name, base", [("ur5_robot", "fixed"), ("panda", "free"), ("solo12", "free")])
def test_compiled_equals_eager(name, base):
    robot = aj.load(urdf(name), base=base)
    rng = np.random.default_rng(0)
    q, (v, a) = random_configuration(robot, 3, rng=rng), rng.normal(size=(2, 3, robot.nv))
    condition = np.linalg.cond(mass_matrix.eager(robot, q[0]))
    for function, args, slack in (
        (inverse_dynamics, (q, v, a), 1e-13),
        (forward_dynamics, (q, v, a), 1e-14 * condition),
        (solve_mass_matrix, (q, a), 1e-14 * condition),
        (mass_matrix_logdet, (q,), 1e-13),
    ):
        want = np.stack([function.eager(robot, *x) for x in zip(*args, strict=True)])
        close(function(robot, *args), want, slack)


HUMANOIDS = ["g1_29dof", "talos_reduced"]
BATCH = 11  # a full group of lanes and a part of one


@pytest.fixture(scope="module", params=HUMANOIDS)
def humanoid(request):
    """A robot on a free base, Pinocchio's model of it, states of a batch, and the maps of coordinates."""
    robot, model = pair(urdf(request.param), "free")
    rng = np.random.default_rng(0)
    q, (v, a) = random_configuration(robot, BATCH, rng=rng), rng.normal(size=(2, BATCH, robot.nv))
    return robot, model, q, v, a, velocity_map(model, robot)


def of_each(function, humanoid, *values):
    """Pinocchio's `function(model, data, q, ...)` of each sample, with `values` in its coordinates."""
    robot, model, q, *_, E = humanoid
    data = model.createData()

    def one(x, *more):
        found = function(model, data, pinocchio_q(model, robot, x), *(E @ y for y in more))
        return np.array(found)  # a copy: some results are views of `data`, which the next sample overwrites

    return np.array([one(*row) for row in zip(q, *values, strict=True)])


def in_batch_and_alone(function, robot, args, want, slack):
    """A kernel as users call it: all samples at once, and one alone, which other machine code serves."""
    close(function(robot, *args), want, slack)
    close(function(robot, *(x[0] for x in args)), want[0], slack)


@pytest.mark.slow
def test_compiled_dynamics_of_humanoids(humanoid):
    robot, _, q, v, a, E = humanoid
    tau = of_each(pin.rnea, humanoid, v, a) @ E
    M = E.T @ of_each(lambda *x: symmetric(pin.crba(*x)), humanoid) @ E
    slack = max(SLACK, np.finfo(float).eps * np.linalg.cond(M).max())
    in_batch_and_alone(inverse_dynamics, robot, (q, v, a), tau, SLACK)
    in_batch_and_alone(mass_matrix, robot, (q,), M, SLACK)
    in_batch_and_alone(forward_dynamics, robot, (q, v, tau), of_each(pin.aba, humanoid, v, tau) @ E, slack)


@pytest.mark.slow
def test_compiled_derivatives_of_humanoids(humanoid):
    """∂τ/∂q and ∂τ/∂v; ∂a/∂q, ∂a/∂v and M⁻¹, up to what the condition of M makes of rounding."""
    robot, _, q, v, a, E = humanoid
    inverse = of_each(lambda *x: pin.computeRNEADerivatives(*x)[:2], humanoid, v, a)
    by_q, by_v = (E.T @ inverse[:, k] @ E for k in range(2))
    tau = of_each(pin.rnea, humanoid, v, a) @ E

    def forward(*x):
        dq, dv, M_inverse = pin.computeABADerivatives(*x)
        return dq, dv, symmetric(M_inverse)

    forward_by = [E.T @ x @ E for x in np.moveaxis(of_each(forward, humanoid, v, tau), 1, 0)]
    slack = max(SLACK, np.finfo(float).eps * np.linalg.cond(forward_by[2]).max())
    for at in (slice(None), 0):
        found = aj.inverse_dynamics_derivatives(robot, q[at], v[at], a[at])
        close(found[0], by_q[at], SLACK)
        close(found[1], by_v[at], SLACK)
        found = aj.forward_dynamics_derivatives(robot, q[at], v[at], tau[at])
        for got, want in zip(found, forward_by, strict=True):
            close(got, want[at], slack)
