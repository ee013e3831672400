"""MuJoCo's own models of MJCF files, and maps between its coordinates and ours."""

# pyright: reportAttributeAccessIssue=false
# (mujoco's compiled module has no types)

import mujoco
import numpy as np

from adjoint.kinematics import forward_kinematics
from adjoint.model.joints import JOINTS
from adjoint.sweep import coordinates


def by_mujoco(file):
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)  # else MuJoCo writes a file MUJOCO_LOG.TXT
    try:
        spec = mujoco.MjSpec.from_file(str(file))
        spec.compiler.fusestatic = False
        model = spec.compile()
    finally:
        mujoco.set_mju_user_warning(handler)
    return model, mujoco.MjData(model)


def qpos_of(robot, model, q):
    """Joints come in the same order in both; mimics take what the coupling says."""
    assert len(robot.body_names) == model.njnt
    return np.concatenate([np.zeros(0), *(coordinates(robot, q, i) for i in range(model.njnt))])


def rates_map(robot, model, q):
    """G (nv of MuJoCo, nv): qvel = G v."""
    G = np.zeros((model.nv, robot.nv))
    for body, dof in zip(robot.bodies, model.jnt_dofadr, strict=True):
        start, n = body.joint.v.start, JOINTS[body.joint.type].nv
        block = np.eye(n) * (body.joint.mimic.multiplier if body.joint.mimic else 1)
        if body.joint.type == "free":  # (velocity along the world's axes, angular velocity in the body's)
            R = forward_kinematics.eager(robot, q, body.name)[:3, :3]
            block = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
        G[dof : dof + n, start : start + n] += block
    return G
