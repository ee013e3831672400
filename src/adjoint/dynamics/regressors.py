"""Regressors: torques and energies are linear in the parameters of a robot, and here are the matrices.

The 10 numbers of a body's inertia, [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about its frame's origin, enter the
dynamics linearly (Atkeson, An & Hollerbach 1986), and so do armature, damping, dry friction and a constant offset of
each joint. By virtual work, joint j feels of body l beyond it

    u·F_l,  u = Ad(f_jl⁻¹) S_j,  F_l = A_l π_l,

where A_l (6, 10) depends on the body's motion alone. The screws are moved outward, one 6-vector for each pair (j, l):
this is a quarter of the work of moving the ten columns of A_l inward.
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
# The factor of each joint parameter in the torque of its joint; `armature_regressor` has that of armature in full.
JOINT_TERMS = {
    "armature": lambda v, a: a,
    "damping": lambda v, a: v,
    "friction": lambda v, a: np.sign(v),
    "offset": lambda v, a: 0 * v + 1.0,
}


def _row(u, A, U, E):
    """The part u·F_l of a torque by parameter (10,): what a screw u (6,) feels of body l.

    It is the virtual work ∫(u_v + u_w × x)·(p̈ + U x) dm, since points x of the body accelerate with p̈ + U x. E (3, 6)
    of `_euler` is the part of second order in x.
    """
    turn, slide, ddp = u[:3], u[3:], A[3:]
    return np.concatenate([np.stack([np.dot(slide, ddp)]), np.cross(ddp, turn) + U.T @ slide, turn @ E])


def _euler(w, dw):
    """E (3, 6) of Euler's equation: I ω̇ + ω × I ω = E (Ixx, Ixy, Ixz, Iyy, Iyz, Izz)."""
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
    """{l: [(u, place in v, multiplier)]} with the screws u (6,) that move body l, all seen from its frame."""

    def step(l: int, parent: list) -> list:
        return [(se3.Ad_inv_action(f[l], u), place, scale) for u, place, scale in parent] + degrees(robot, l)

    return outward(robot, step, [])


@kernel(robot=static, q="nq", v="nv", a="nv", gravity=3, base_twist=6, base_acceleration=6, joints=static)
def regressor(robot: Robot, q, v, a, *, gravity=None, base_twist=None, base_acceleration=None, joints=()) -> np.ndarray:
    """The matrix Y (nv, p) of τ = Y π: joint forces [N m, N] are linear in π = `parameters(robot, joints)`.

    The first 10 n columns belong to the inertias of the n bodies, `robot.inertias.ravel()`; they are exactly 0 where
    the body is not beyond the joint. `joints` is a tuple of some of "armature", "damping", "friction" and "offset".
    Each of them adds the nv columns of that term. With the first three, Y π equals `inverse_dynamics`. Reference:
    Atkeson, An & Hollerbach (1986).

        >>> terms = ("armature", "damping", "friction")
        >>> Y = regressor(robot, q, v, a, joints=terms)
        >>> tau = Y @ parameters(robot, terms)                              # equals inverse_dynamics(robot, q, v, a)

    q (nq,), v and a (nv,), `gravity`, `base_twist` and `base_acceleration` are as for `inverse_dynamics`.
    `energy_regressor` gives the energies as functions of the same parameters.
    """
    check_joint_terms(joints)
    f = joint_placements(robot, q)
    base = motion(*true_motion(*base_motion(robot, gravity, base_twist, base_acceleration)))
    motions = outward(robot, motion_step(robot, f, v, a), base)
    screws, n = _screws_outward(robot, f), len(robot.body_names)
    blocks: list[dict] = [{} for _ in range(robot.nv)]  # for each row of Y, {body: its ten columns}
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
    """The columns (nv, nv) of one joint term."""
    return armature_regressor(robot, v, a) if name == "armature" else np.diag(JOINT_TERMS[name](v, a))


def check_joint_terms(joints) -> None:
    """Raise an `ArgumentError` unless `joints` is a tuple of different names of joint terms."""
    if not isinstance(joints, tuple) or set(joints) - JOINT_TERMS.keys() or len(set(joints)) < len(joints):
        raise ArgumentError(f"joints is {joints!r}; it must be a tuple of some of {', '.join(map(repr, JOINT_TERMS))}")


def parameters(robot: Robot, joints: tuple[str, ...] = ()) -> np.ndarray:
    """The parameters π (p,), in SI units, that belong to both `regressor` and `energy_regressor`.

    They are the ten numbers of each body, `robot.inertias.ravel()`, and then nv numbers for each joint term named in
    the tuple `joints`: of "armature", "damping" and "friction" the robot's own, of "offset" zeros. Torques are Y π with
    the `regressor` Y, and energies are y·π with the rows y of `energy_regressor`, if both are given the same `joints`.

        >>> pi = parameters(robot, ("armature", "damping"))
        >>> T = energy_regressor(robot, q, v, joints=("armature", "damping")).kinetic @ pi
    """
    check_joint_terms(joints)
    return np.concatenate([robot.inertias.ravel(), *(getattr(robot, name, np.zeros(robot.nv)) for name in joints)])


def parameter_names(robot: Robot, joints: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of `parameters(robot, joints)`, and so of the columns of `regressor` and `energy_regressor`.

    They are "m_<body>", "hx_<body>" and so on, ten for each body, and then "damping_<joint>" and the like, one for each
    degree of freedom and each term in the tuple `joints`. If a joint has several degrees of freedom, these are numbered
    from 0: "damping_<joint>_0".

        >>> names = parameter_names(robot, ("damping",))        # ("m_link1", "hx_link1", ..., "damping_joint6")
    """
    check_joint_terms(joints)
    bodies = [f"{symbol}_{body}" for body in robot.body_names for symbol in INERTIAL]
    return (*bodies, *(f"{term}_{dof}" for term in joints for dof in dof_names(robot)))


def dof_names(robot: Robot) -> tuple[str, ...]:
    """The names (nv) of the degrees of freedom: the joint's, numbered "<joint>_0", ... if a joint has several."""
    return _numbered(robot, lambda kind: kind.nv)


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """The names (nq) of the coordinates, numbered as in `dof_names`."""
    return _numbered(robot, lambda kind: kind.nq)


def _numbered(robot: Robot, size: Callable) -> tuple[str, ...]:
    """The joint's name for each number that `size` counts in it, numbered if there are several; mimics have none."""
    sizes = [size(JOINTS[kind]) for i, kind in enumerate(robot.joint_types) if i not in robot.mimics]
    joints = zip(robot.joint_names, sizes, strict=True)
    return tuple(name if k == 1 else f"{name}_{i}" for name, k in joints for i in range(k))


class EnergyRegressor(NamedTuple):
    """Two rows (p,), which give the kinetic and the potential energy [J] when multiplied with the parameters π (p,).

    The parameters are `parameters(robot, joints)`, with the `joints` that `energy_regressor` was given.
    """

    kinetic: np.ndarray
    potential: np.ndarray


@kernel(robot=static, q="nq", v="nv", gravity=3, joints=static)
def energy_regressor(robot: Robot, q, v, *, gravity=None, joints=()) -> EnergyRegressor:
    """The rows y_T, y_U (p,) of the energies y_T·π and y_U·π [J], which are linear in π = `parameters(robot, joints)`.

    The kinetic energy is T = Σ ½ m v·v + h·(v × ω) + ½ ω·I ω with the body twists (ω, v), and the potential energy is
    U = -Σ g·(m p + R h) with the bodies at (R, p). Both sums are over the bodies. The result is an `EnergyRegressor`.

    q is (nq,), v is (nv,), and `gravity` (3,) [m/s²] is the robot's own by default. `joints` is a tuple of some of
    "armature", "damping", "friction" and "offset", as for `regressor`. Each of them adds nv columns, so that both rows
    (p,) belong to the same π = `parameters(robot, joints)` as `regressor`. Armature adds ½ v_k² to the row of the
    kinetic energy. All other columns of joint terms are zero, since damping, friction and offsets store no energy.

        >>> terms = ("armature",)
        >>> rows = energy_regressor(robot, q, v, joints=terms)
        >>> T = rows.kinetic @ parameters(robot, terms)                     # equals kinetic_energy(robot, q, v)
        >>> U = rows.potential @ parameters(robot, terms)                   # equals potential_energy(robot, q)
    """
    check_joint_terms(joints)
    g = robot.gravity if gravity is None else gravity
    f = joint_placements(robot, q)
    V = body_twists(robot, f, v)
    T = outward(robot, lambda i, T: se3.compose(T, f[i]), np.eye(4))
    bodies, nothing = range(len(robot.body_names)), np.zeros(robot.nv)
    kinetic = [np.zeros(0), *(_kinetic_row(V[i]) for i in bodies)]
    kinetic += [0.5 * v * v if name == "armature" else nothing for name in joints]
    potential = [np.zeros(0), *(_potential_row(T[i], g) for i in bodies), *(nothing for _ in joints)]
    return EnergyRegressor(np.concatenate(kinetic), np.concatenate(potential))


def _kinetic_row(V):
    """The kinetic energy of a body with twist V, by its ten parameters (10,)."""
    w, v = V[:3], V[3:]
    x, y, z = w
    second = np.stack([0.5 * x * x, x * y, x * z, 0.5 * y * y, y * z, 0.5 * z * z])
    return np.concatenate([np.stack([0.5 * np.dot(v, v)]), np.cross(v, w), second])


def _potential_row(T, g):
    """The potential energy of a body at T, by its ten parameters (10,)."""
    return np.concatenate([np.stack([-np.dot(g, T[:3, 3])]), -(T[:3, :3].T @ g), np.zeros(6)])
