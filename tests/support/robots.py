"""Real robots for the tests: the URDFs of example-robot-data, and Pinocchio's models of them in our orders."""

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

import adjoint as aj
from adjoint import sweep
from adjoint.lie import inertia, se3
from adjoint.model import Robot

from .trees import close, frictionless

PACKAGE = next(p for p in (Path(p) / "cmeel.prefix/share/example-robot-data" for p in sys.path) if p.is_dir())
ROBOTS = PACKAGE / "robots"
EMPTY = ROBOTS / "ur_description/urdf/ur3.urdf"  # what xacro left of it: a <robot> without a name and without links
URDFS = sorted(path for path in ROBOTS.rglob("*.urdf") if path != EMPTY)


def urdf(name: str) -> Path:
    """The URDF whose file name begins with `name`; the first of several."""
    return next(path for path in URDFS if path.name.startswith(name))


def pinocchio_model(path: Path, base: str = "fixed") -> pin.Model:
    """Pinocchio's model of a URDF; its mimics move on their own, `pinocchio_q` makes them follow."""
    return pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "free" else []))


def joint_ids(model: pin.Model, robot: Robot) -> list[int]:
    """Pinocchio's number of every body's joint."""
    return [model.getJointId(name) for name in robot.body_joint_names]


def pinocchio_q(model: pin.Model, robot: Robot, q: np.ndarray) -> np.ndarray:
    """Pinocchio's configuration: continuous joints as (cos, sin), quaternions as (x, y, z, w), mimics written out."""
    found = pin.neutral(model)
    for i, k in enumerate(joint_ids(model, robot)):
        own, kind = sweep.coordinates(robot, q, i), robot.joint_types[i]
        if kind == "free":
            own = [*own[:3], *own[4:], own[3]]
        elif kind == "spherical":
            own = [*own[1:], own[0]]
        elif kind == "planar":
            own = [*own[:2], np.cos(own[2]), np.sin(own[2])]
        elif model.nqs[k] == 2:
            own = [np.cos(own[0]), np.sin(own[0])]
        found[model.idx_qs[k] : model.idx_qs[k] + model.nqs[k]] = own
    return found


def velocity_map(model: pin.Model, robot: Robot) -> np.ndarray:
    """E (Pinocchio's nv, nv): v_pinocchio = E v. Free and planar joints have linear velocities first there."""
    order = {"free": [3, 4, 5, 0, 1, 2], "planar": [1, 2, 0]}
    E = np.zeros((model.nv, robot.nv))
    for i, k in enumerate(joint_ids(model, robot)):
        rows = sweep.rates(robot, np.eye(robot.nv), i)
        E[model.idx_vs[k] : model.idx_vs[k] + model.nvs[k]] = rows[order.get(robot.joint_types[i], slice(None))]
    return E


def pinocchio_placements(model: pin.Model, robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """{frame: T (B, 4, 4) in the base} of configurations q (B, nq), of all frames but a free robot's world."""
    data = model.createData()
    ids = {name: model.getFrameId(name, pin.BODY) for name in robot.frame_names if model.existBodyName(name)}
    found = {name: [] for name in ids}
    for sample in q:
        pin.framesForwardKinematics(model, data, pinocchio_q(model, robot, sample))
        for name, k in ids.items():
            found[name].append(data.oMf[k].homogeneous)
    return {name: np.array(T) for name, T in found.items()}


def placements(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """{frame: T (B, 4, 4) in the base} of configurations q (B, nq): by exponentials; joints of real URDFs only."""
    T = {-1: np.broadcast_to(np.eye(4), (len(q), 4, 4))}
    for i, kind in enumerate(robot.joint_types):
        own = np.array([sweep.coordinates(robot, sample, i) for sample in q])
        J = se3.from_xyz_quat_wxyz(own) if kind == "free" else se3.exp(own * robot.screw(i))
        T[i] = T[robot.parents[i]] @ robot.placements[i] @ J
    frames = map(robot.frame, robot.frame_names)
    return {frame.name: T[frame.body] @ frame.placement for frame in frames}


def pair(path: Path, base: str) -> tuple[Robot, pin.Model]:
    """Both models; Pinocchio's with our placements and inertias, found equal to the digits that the file has.

    Where a URDF says 1.57079632679 we read π/2: a difference of 5e-12 rad, which the condition of M (2e9 for iCub when
    it floats) would make larger than all that the algorithms differ by.
    """
    robot, model = aj.load(path, base=base), pinocchio_model(path, base)
    for i, k in enumerate(joint_ids(model, robot)):
        m, hx, hy, hz, xx, xy, xz, yy, yz, zz = robot.inertias[i]
        close(robot.placements[i], model.jointPlacements[k].homogeneous, 1e-11)
        model.jointPlacements[k] = pin.SE3(robot.placements[i])
        if m > 0:
            close(inertia.matrix.eager(robot.inertias[i]), _angular_first(model.inertias[k].matrix()), 1e-10)
            model.inertias[k] = pin.Inertia.FromDynamicParameters(np.array([m, hx, hy, hz, xx, xy, yy, xz, yz, zz]))
    return frictionless(robot), model


def _angular_first(M):
    return np.roll(M, (3, 3), axis=(0, 1))
