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
from ..lie import se3, so3
from ..model.joints import JOINTS
from ..model.robot import Robot
from ..sweep import body_twists, joint_placements, outward, rates
from .armature import armature_regressor
from .composite import degrees
from .newton_euler import base_motion, motion, motion_step, true_motion

__all__ = [
    "JOINT_TERMS",
    "EnergyRegressor",
    "energy_regressor",
    "parameter_names",
    "parameters",
    "passive_regressor",
    "regressor",
]

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
    return _moments((x * x, y * y, z * z, x * y, x * z, y * z), dw)


def _moments(products: tuple, dw):
    """E (3, 6) of the moment ∫ x × U x dm = E (Ixx, Ixy, Ixz, Iyy, Iyz, Izz) of a field U x.

    U = [dw] + P - tr(P) 1 with the symmetric P whose entries are `products`: xx, yy, zz, xy, xz, yz.
    """
    dx, dy, dz = dw
    xx, yy, zz, xy, xz, yz = products
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
    rigid = _rigid_columns(robot, f, {l: (A, U, _euler(w, A[:3])) for l, (w, A, U) in motions.items()})
    return np.concatenate([rigid, *(_joint_columns(robot, name, v, v, a) for name in joints)], axis=1)


def _rigid_columns(robot: Robot, f: dict, fields: dict):
    """The columns (nv, 10 n) of the inertias, from how points of all bodies accelerate: {l: (A, U, E)} of `_row`."""
    screws, n = _screws_outward(robot, f), len(robot.body_names)
    blocks: list[dict] = [{} for _ in range(robot.nv)]  # for each row of Y, {body: its ten columns}
    for l in range(n):
        for u, place, scale in screws[l]:
            row = _row(u, *fields[l]) if scale == 1 else scale * _row(u, *fields[l])
            blocks[place][l] = blocks[place][l] + row if l in blocks[place] else row
    rows = [np.concatenate([block.get(l, np.zeros(10)) for l in range(n)]) for block in blocks]
    return np.stack(rows) if rows else np.zeros((0, 10 * n))


def _joint_columns(robot: Robot, name: str, v, v_r, a_r):
    """The columns (nv, nv) of one joint term."""
    return armature_regressor(robot, v, v_r, a_r) if name == "armature" else np.diag(JOINT_TERMS[name](v_r, a_r))


@kernel(
    robot=static, q="nq", v="nv", v_r="nv", a_r="nv", gravity=3, base_twist=6, base_acceleration=6, joints=static
)  # fmt: skip
def passive_regressor(
    robot: Robot, q, v, v_r, a_r, *, gravity=None, base_twist=None, base_acceleration=None, joints=()
) -> np.ndarray:
    """The matrix Y (nv, p) of Y π = M(q) a_r + C(q, v) v_r + g(q), with the C of `coriolis_matrix`.

    Adaptive control needs it, since Ṁ - 2C is skew-symmetric (Slotine & Li 1987): the robot moves with v (nv,), and
    v_r and a_r (nv,) are what the law would like. At v_r = v it is `regressor`, and it has the same parameters
    π = `parameters(robot, joints)` and the same options. Damping, friction and offset resist v_r; as they grow with the
    velocity, they take energy from the error v - v_r.

        >>> Y = passive_regressor(robot, q, v, 0.9 * v, a)
        >>> C = coriolis_matrix(robot, q, v)
        >>> rigid = Y @ parameters(robot)                       # M a + C (0.9 v) + g, without armature and friction

    A point of a body has the velocity P v. The sum of m Pᵀ d/dt(P v_r) over all points is M a_r + C v_r, so the
    recursion carries accelerations as that of `regressor` does, in O(n) for motions and O(n · depth) for the columns.
    """
    check_joint_terms(joints)
    f = joint_placements(robot, q)
    twist, rate = base_motion(robot, gravity, base_twist, base_acceleration)
    w, A = true_motion(twist, rate)
    fields = outward(robot, _wished_motion_step(robot, f, v, v_r, a_r), (w, *motion(w, A)))
    rigid = _rigid_columns(robot, f, {l: (A, U, _mixed_euler(w, x, A[:3])) for l, (w, x, A, U) in fields.items()})
    return np.concatenate([rigid, *(_joint_columns(robot, name, v, v_r, a_r) for name in joints)], axis=1)


def _wished_motion_step(robot: Robot, f, v, v_r, a_r) -> Callable:
    """The step (i, parent's) -> (ω, χ, A, U): the body turns with ω, and it would turn with χ at the rates v_r.

    If points of the body have the velocity X_v + χ × x, then this changes with A[3:] + U x while the body moves with v;
    A[:3] is the rate of χ as the body sees it, and U = [A[:3]] + [ω][χ]. `next_motion` is the case v_r = v.
    """

    def step(i, parent: tuple) -> tuple:
        w, x, A, U = parent
        S, Rt, p = robot.screw(i).T, f[i][:3, :3].T, f[i][:3, 3]
        (turn, slide), (turn_r, slide_r) = (np.split(S @ rates(robot, z, i), 2) for z in (v, v_r))
        w, x = Rt @ w + turn, Rt @ x
        drift = np.concatenate([np.cross(x, turn), np.cross(x, slide) + np.cross(w, slide_r)])
        A = np.concatenate([Rt @ A[:3], Rt @ (A[3:] + U @ p)]) + drift + S @ rates(robot, a_r, i)
        x = x + turn_r
        return w, x, A, so3.hat(A[:3]) + so3.hat(w) @ so3.hat(x)

    return step


def _mixed_euler(w, x, dx):
    """E (3, 6) of `_moments` for U = [dx] + [ω][χ], whose part [ω][χ] = χ ωᵀ - (ω·χ) 1 is not symmetric."""
    P = 0.5 * (np.outer(w, x) + np.outer(x, w))
    products = (P[0, 0], P[1, 1], P[2, 2], P[0, 1], P[0, 2], P[1, 2])
    return _moments(products, dx + 0.5 * np.cross(w, x))


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
