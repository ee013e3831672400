"""Armature: inertia α_k that resists the rate v_k of a joint, such as that of a motor's rotor behind its gear.

Its kinetic energy is ½ Σ α_k v_k². Where v_k is the rate of a coordinate, Lagrange's equation makes of it the force
α_k a_k. The rates of free, spherical and planar joints are components of a twist in a frame that moves with the body.
With [S_i, S_j] = Σ_k c_ijk S_k for the screws of the joint, the force on them is, by Euler's and Poincaré's equation,

    τ_k = α_k a_k - Σ_ij α_j v_j c_ikj v_i = α_k a_k + Σ_ij Γ_ijk v_i v_j,
    Γ_ijk = ½ (α_k c_ijk - α_j c_ikj - α_i c_jki),

with Γ the connection of the metric Σ α_k v_k². A free joint with the same α in all directions feels α ω̇ and
α (u̇ + ω × u), u its linear velocity in the body's frame: armature adds to its mass, and without forces it moves on
straight. The sum over v_i v_j vanishes on spherical joints with the same α in all directions. These are the equations
of MuJoCo, whose armature is the same in all directions of a joint.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.joints import BRACKETS
from ..model.robot import Robot
from ..sweep import joint_kinds, known, rates, stacked

__all__ = [
    "armature_bias",
    "armature_coriolis",
    "armature_rate",
    "armature_regressor",
    "armature_slopes",
    "armature_transport",
]


def armature_bias(robot: Robot, i, v):
    """Σ_ij Γ_ijk v_i v_j (k,) of body i's joint with rates v (k,): the force of its armature at a = 0."""
    found: dict = {}
    armature, constant = rates(robot, robot.armature, i), known(robot, i, "armature")
    for mask, kind in joint_kinds(robot, i):
        own = ((k, mask * (x * (v[i] * v[j]))) for i, j, k, x in _pairs(kind, armature, constant))
        _sum_up(found, own)
    return np.stack([found.get(k, 0.0) for k in range(len(v))]) if found else np.zeros(len(v))


def armature_rate(robot: Robot, i, v, dv):
    """The rate (k,) of `armature_bias` while v (k,) changes with dv (k,): it is quadratic in v."""
    return 0.5 * (armature_bias(robot, i, v + dv) - armature_bias(robot, i, v - dv))


def armature_transport(robot: Robot, i, v, x):
    """Σ_ij Γ_ijk v_i x_j (k,) of body i's joint: what its armature adds to C(q, v) x."""
    found: dict = {}
    armature, constant = rates(robot, robot.armature, i), known(robot, i, "armature")
    for mask, kind in joint_kinds(robot, i):
        own = ((k, mask * (gamma * (v[i] * x[j]))) for i, j, k, gamma in _symbols(kind, armature, constant))
        _sum_up(found, own)
    return np.stack([found.get(k, 0.0) for k in range(len(v))]) if found else np.zeros(len(v))


def armature_slopes(robot: Robot, v) -> dict:
    """{(k, j): Σ_i (Γ_ijk + Γ_jik) v_i}: the derivatives of `armature_bias` by v that are not always 0."""
    found: dict = {}
    for start, pairs in _pairs_of(robot):
        for i, j, k, x in pairs:
            _sum_up(found, (((start + k, start + a), x * v[start + b]) for a, b in ((i, j), (j, i))))
    return found


def armature_coriolis(robot: Robot, v) -> dict:
    """{(k, j): Σ_i Γ_ijk v_i}: what armature adds to the Coriolis matrix, skew-symmetric."""
    found: dict = {}
    for start, kind, armature, constant in _joints(robot):
        symbols = _symbols(kind, armature, constant)
        _sum_up(found, (((start + k, start + j), x * v[start + i]) for i, j, k, x in symbols))
    return found


def armature_regressor(robot: Robot, v, a):
    """Y (nv, nv) of the armatures' force Y α: a on the diagonal, and -Σ_i v_i c_ikl v_l where α_l acts on v_k."""
    rows = [[a[k] if k == l else 0.0 for l in range(robot.nv)] for k in range(robot.nv)]
    for start, kind, _, _ in _joints(robot):
        for i, k, l in np.argwhere(BRACKETS[kind]).tolist():
            row, at = rows[start + k], start + l
            row[at] = row[at] - BRACKETS[kind][i, k, l] * (v[start + i] * v[at])
    return stacked(rows, 2)


def _joints(robot: Robot) -> Iterator[tuple]:
    """(place in v, type, armature, whether that is constant) of all joints with several degrees of freedom."""
    constant = "armature" not in robot.varying
    for i, kind in enumerate(robot.joint_types):
        if kind in BRACKETS:
            start = robot.layout.v_start[i]
            yield start, kind, robot.armature[start : start + len(BRACKETS[kind])], constant


def _pairs_of(robot: Robot) -> Iterator[tuple]:
    return ((start, _pairs(kind, armature, constant)) for start, kind, armature, constant in _joints(robot))


def _symbols(kind: str, armature, constant: bool) -> Iterator[tuple]:
    """(i, j, k, Γ_ijk) of one joint, without those that are always 0."""
    c = BRACKETS[kind]
    for i, j, k in np.ndindex(c.shape):
        factors = ((c[i, j, k] / 2, k), (-c[i, k, j] / 2, j), (-c[j, k, i] / 2, i))
        yield from ((i, j, k, x) for x in _weighted(factors, armature, constant))


def _pairs(kind: str, armature, constant: bool) -> Iterator[tuple]:
    """(i, j, k, Γ_ijk + Γ_jik), i < j, without those that are always 0, as Γ_iik is."""
    c = BRACKETS[kind]
    for i, j, k in np.ndindex(c.shape):
        if i < j:
            yield from ((i, j, k, x) for x in _weighted(((-c[i, k, j], j), (-c[j, k, i], i)), armature, constant))


def _weighted(factors: tuple, armature, constant: bool) -> list:
    """[Σ factor · armature[place]], empty if it is 0 whatever the inputs are."""
    terms = [factor * armature[place] for factor, place in factors if factor]
    return [sum(terms[1:], terms[0])] if terms and not (constant and sum(terms) == 0) else []


def _sum_up(found: dict, entries) -> None:
    for place, x in entries:
        found[place] = found[place] + x if place in found else x
