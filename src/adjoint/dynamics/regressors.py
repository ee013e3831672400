"""Linear in the parameters: torques and energies as matrices times masses, first and second moments.

The 10 numbers of a body's inertia, [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about its frame's origin, enter the
dynamics linearly (Atkeson, An & Hollerbach 1986), and so do armature, damping, dry friction and a constant offset of
each joint. By virtual work, joint j feels of body l beyond it

    u·F_l,  u = Ad(f_jl⁻¹) S_j,  F_l = A_l π_l

with A_l (6, 10) of the body's motion alone. Screws are moved outward, one 6-vector for each pair (j, l), a quarter of
the work of moving the ten columns of A_l inward.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import se3
from ..model.joints import JOINTS
from ..model.robot import Robot
from ..sweep import body_twists, joint_placements, outward
from .armature import armature_regressor
from .composite import degrees
from .newton_euler import base_motion, motion, motion_step, true_motion

__all__ = ["JOINT_TERMS", "EnergyRegressor", "energy_regressor", "parameter_names", "parameters", "regressor"]

INERTIAL = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
JOINT_TERMS = {  # what a joint's own parameter is multiplied with in its torque; see `armature_regressor`, too
    "armature": lambda v, a: a,
    "damping": lambda v, a: v,
    "friction": lambda v, a: np.sign(v),
    "offset": lambda v, a: 0 * v + 1.0,
}


def _row(u, A, U, E):
    """u·F_l by parameter (10,): what a screw u (6,) feels of a body whose points x accelerate with p̈ + U x.

    Virtual work ∫(u_v + u_w × x)·(p̈ + U x) dm, with E (3, 6) of `_euler` for the part of second order in x.
    """
    turn, slide, ddp = u[:3], u[3:], A[3:]
    return np.concatenate([np.stack([np.dot(slide, ddp)]), np.cross(ddp, turn) + U.T @ slide, turn @ E])


def _euler(w, dw):
    """E (3, 6): I ω̇ + ω × I ω = E (Ixx, Ixy, Ixz, Iyy, Iyz, Izz), Euler's equation."""
    x, y, z = w
    dx, dy, dz = dw
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    rows = [
        [dx, dy - xz, dz + xy, -yz, yy - zz, yz],
        [xz, dx + yz, zz - xx, dy, dz - xy, -xz],
        [-xy, xx - yy, dx - yz, xy, dy + xz, dz],
    ]
    return np.stack([np.stack(row) for row in rows])


def _screws_outward(robot: Robot, f: dict) -> dict:
    """{l: [(u, place in v, multiplier)]}: the screws u (6,) that move body l, all seen from its frame."""

    def step(l: int, parent: list) -> list:
        return [(se3.Ad_inv_action(f[l], u), place, scale) for u, place, scale in parent] + degrees(robot, l)

    return outward(robot, step, [])


@kernel(robot=static, q="nq", v="nv", a="nv", gravity=3, base_twist=6, base_acceleration=6, joints=static)
def regressor(robot, q, v, a, *, gravity=None, base_twist=None, base_acceleration=None, joints=()):
    """Y (nv, p) of τ = Y π: torques [N m or N] are linear in the parameters π = `parameters(robot, joints)`.

    The first 10 n columns belong to the inertias of the n bodies, `robot.inertias.ravel()`; they are exactly 0 where
    the body is not beyond the joint. Each of `joints`, of "armature", "damping", "friction" and "offset", adds the nv
    columns of that term: with the first three, Y π is `inverse_dynamics`, whose other options are the same.
    """
    check_joint_terms(joints)
    f = joint_placements(robot, q)
    base = motion(*true_motion(*base_motion(robot, gravity, base_twist, base_acceleration)))
    motions = outward(robot, motion_step(robot, f, v, a), base)
    screws, n = _screws_outward(robot, f), len(robot.body_names)
    blocks: list[dict] = [{} for _ in range(robot.nv)]  # of each row of Y, {body: (10,)}
    for l in range(n):
        w, A, U = motions[l]
        E = _euler(w, A[:3])
        for u, place, scale in screws[l]:
            row = _row(u, A, U, E) if scale == 1 else scale * _row(u, A, U, E)
            blocks[place][l] = blocks[place][l] + row if l in blocks[place] else row
    rows = [np.concatenate([block.get(l, np.zeros(10)) for l in range(n)]) for block in blocks]
    rigid = np.stack(rows) if rows else np.zeros((0, 10 * n))
    return np.concatenate([rigid, *(_joint_columns(robot, name, v, a) for name in joints)], axis=1)


def _joint_columns(robot: Robot, name: str, v, a):
    """The columns (nv, nv) of a joint term."""
    return armature_regressor(robot, v, a) if name == "armature" else np.diag(JOINT_TERMS[name](v, a))


def check_joint_terms(joints) -> None:
    """An `ArgumentError` unless `joints` is a tuple of different names of joint terms."""
    if not isinstance(joints, tuple) or set(joints) - JOINT_TERMS.keys() or len(set(joints)) < len(joints):
        raise ArgumentError(f"joints is {joints!r}; it must be a tuple of some of {', '.join(map(repr, JOINT_TERMS))}")


def parameters(robot: Robot, joints: tuple[str, ...] = ()) -> np.ndarray:
    """π (p,) of τ = Y π, in SI units: `robot.inertias.ravel()`, then the joint terms asked for; offsets are 0."""
    check_joint_terms(joints)
    return np.concatenate([robot.inertias.ravel(), *(getattr(robot, name, np.zeros(robot.nv)) for name in joints)])


def parameter_names(robot: Robot, joints: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names of `parameters`: "m_<body>", "hx_<body>", ..., then "damping_<joint>" and so on."""
    check_joint_terms(joints)
    bodies = [f"{symbol}_{body}" for body in robot.body_names for symbol in INERTIAL]
    return (*bodies, *(f"{term}_{dof}" for term in joints for dof in dof_names(robot)))


def dof_names(robot: Robot) -> tuple[str, ...]:
    """Names (nv) of the degrees of freedom: the joint's, numbered "<joint>_0", "<joint>_1" where it has several."""
    return _numbered(robot, lambda kind: kind.nv)


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """Names (nq) of the coordinates, as `dof_names`."""
    return _numbered(robot, lambda kind: kind.nq)


def _numbered(robot: Robot, size: Callable) -> tuple[str, ...]:
    sizes = [size(JOINTS[kind]) for i, kind in enumerate(robot.joint_types) if i not in robot.mimics]
    joints = zip(robot.joint_names, sizes, strict=True)
    return tuple(name if k == 1 else f"{name}_{i}" for name, k in joints for i in range(k))


class EnergyRegressor(NamedTuple):
    """Rows (10 n,) that give energies [J] when multiplied with `robot.inertias.ravel()`."""

    kinetic: np.ndarray
    potential: np.ndarray


@kernel(robot=static, q="nq", v="nv", gravity=3)
def energy_regressor(robot, q, v, *, gravity=None):
    """`EnergyRegressor`: kinetic and potential energy of the bodies are linear in their inertias.

    T = Σ ½ m v·v + h·(v × ω) + ½ ω·I ω with the body twists (ω, v), and U = -Σ g·(m p + R h) with the bodies at (R, p).
    The armatures' energy, ½ Σ armature v², is not in it.
    """
    g = robot.gravity if gravity is None else gravity
    f = joint_placements(robot, q)
    V = body_twists(robot, f, v)
    T = outward(robot, lambda i, T: se3.compose(T, f[i]), np.eye(4))
    bodies = range(len(robot.body_names))
    kinetic = [np.zeros(0), *(_kinetic_row(V[i]) for i in bodies)]
    potential = [np.zeros(0), *(_potential_row(T[i], g) for i in bodies)]
    return EnergyRegressor(np.concatenate(kinetic), np.concatenate(potential))


def _kinetic_row(V):
    w, v = V[:3], V[3:]
    x, y, z = w
    second = np.stack([0.5 * x * x, x * y, x * z, 0.5 * y * y, y * z, 0.5 * z * z])
    return np.concatenate([np.stack([0.5 * np.dot(v, v)]), np.cross(v, w), second])


def _potential_row(T, g):
    return np.concatenate([np.stack([-np.dot(g, T[:3, 3])]), -(T[:3, :3].T @ g), np.zeros(6)])
