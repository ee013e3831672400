"""Armature: inertia α_k that resists the rate v_k of a joint, such as that of a motor's rotor behind its gear.

The kinetic energy of armature is ½ Σ α_k v_k². Where v_k is the rate of a coordinate, Lagrange's equation turns it into
the force α_k a_k. The rates of free, spherical and planar joints are different: they are components of a twist, in a
frame that moves with the body. With [S_i, S_j] = Σ_k c_ijk S_k for the screws of the joint, the equation of Euler and
Poincaré gives the force

    τ_k = α_k a_k - Σ_ij α_j v_j c_ikj v_i = α_k a_k + Σ_ij Γ_ijk v_i v_j,
    Γ_ijk = ½ (α_k c_ijk - α_j c_ikj - α_i c_jki),

where Γ is the connection of the metric Σ α_k v_k². A free joint with the same α in all directions feels α ω̇ and
α (u̇ + ω × u), where u is its linear velocity in the body's frame: armature adds to its mass, and without forces it
moves along a straight line. The sum over v_i v_j vanishes for spherical joints with the same α in all directions. These
are the equations of MuJoCo, whose armature is the same in all directions of a joint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    """The force Σ_ij Γ_ijk v_i v_j (k,) of the armature of body i's joint, which has the rates v (k,), at a = 0."""
    return _force(robot, i, len(v), lambda *joint: ((c, x * (v[a] * v[b])) for a, b, c, x in _pairs(*joint)))


def armature_rate(robot: Robot, i, v, dv):
    """The rate (k,) of `armature_bias`, which is quadratic in v, while v (k,) changes with dv (k,)."""
    return 0.5 * (armature_bias(robot, i, v + dv) - armature_bias(robot, i, v - dv))


def armature_transport(robot: Robot, i, v, x):
    """The force Σ_ij Γ_ijk v_i x_j (k,) that the armature of body i's joint adds to C(q, v) x."""
    return _force(robot, i, len(v), lambda *joint: ((c, y * (v[a] * x[b])) for a, b, c, y in _symbols(*joint)))


def _force(robot: Robot, i, size: int, terms: Callable):
    """The force (size,) on body i's joint: the sum of all (place, value) of terms(type, armature, constant)."""
    found: dict = {}
    armature, constant = rates(robot, robot.armature, i), known(robot, i, "armature")
    for mask, kind in joint_kinds(robot, i):
        _sum_up(found, ((k, mask * x) for k, x in terms(kind, armature, constant)))
    return np.stack([found.get(k, 0.0) for k in range(size)]) if found else np.zeros(size)


def armature_slopes(robot: Robot, v) -> dict:
    """{(k, j): Σ_i (Γ_ijk + Γ_jik) v_i}: the derivatives of `armature_bias` by v, without those that are always 0."""
    found: dict = {}
    for start, kind, armature, constant in _joints(robot):
        for i, j, k, x in _pairs(kind, armature, constant):
            _sum_up(found, (((start + k, start + a), x * v[start + b]) for a, b in ((i, j), (j, i))))
    return found


def armature_coriolis(robot: Robot, v) -> dict:
    """{(k, j): Σ_i Γ_ijk v_i}: the entries that armature adds to the Coriolis matrix; they are skew-symmetric."""
    found: dict = {}
    for start, kind, armature, constant in _joints(robot):
        symbols = _symbols(kind, armature, constant)
        _sum_up(found, (((start + k, start + j), x * v[start + i]) for i, j, k, x in symbols))
    return found


def armature_regressor(robot: Robot, v, x, a):
    """The matrix Y (nv, nv) of the force Y α = α a + Σ_ij Γ_ijk v_i x_j of the armatures α (nv,).

    Y has a on its diagonal. Where α_l acts on the degree of freedom k, -½ Σ_i c_ikl (v_i x_l + x_i v_l) is added, and
    on the diagonal ½ Σ_ij c_ijk v_i x_j, which vanishes for x = v.
    """
    rows = [[a[k] if k == l else 0.0 for l in range(robot.nv)] for k in range(robot.nv)]

    def add(k, l, value) -> None:
        rows[k][l] = rows[k][l] + value

    for start, kind, _, _ in _joints(robot):
        for i, k, l in np.argwhere(BRACKETS[kind]).tolist():
            c, at_i, at_k, at_l = BRACKETS[kind][i, k, l], start + i, start + k, start + l
            if x is v:
                add(at_k, at_l, -c * (v[at_i] * v[at_l]))
            else:
                add(at_k, at_l, -0.5 * c * (v[at_i] * x[at_l] + x[at_i] * v[at_l]))
                add(at_l, at_l, 0.5 * c * (v[at_i] * x[at_k]))
    return stacked(rows, 2)


def _joints(robot: Robot) -> Iterator[tuple]:
    """The tuples (place in v, type, armature, whether it is constant) of all joints with several degrees of freedom."""
    constant = "armature" not in robot.varying
    for i, kind in enumerate(robot.joint_types):
        if kind in BRACKETS:
            start = robot.layout.v_start[i]
            yield start, kind, robot.armature[start : start + len(BRACKETS[kind])], constant


def _symbols(kind: str, armature, constant: bool) -> Iterator[tuple]:
    """The tuples (i, j, k, Γ_ijk) of one joint, without those that are always 0."""
    c = BRACKETS[kind]
    for i, j, k in np.ndindex(c.shape):
        factors = ((c[i, j, k] / 2, k), (-c[i, k, j] / 2, j), (-c[j, k, i] / 2, i))
        yield from ((i, j, k, x) for x in _weighted(factors, armature, constant))


def _pairs(kind: str, armature, constant: bool) -> Iterator[tuple]:
    """The tuples (i, j, k, Γ_ijk + Γ_jik) of one joint with i < j, without those that are always 0; Γ_iik always is."""
    c = BRACKETS[kind]
    for i, j, k in np.ndindex(c.shape):
        if i < j:
            yield from ((i, j, k, x) for x in _weighted(((-c[i, k, j], j), (-c[j, k, i], i)), armature, constant))


def _weighted(factors: tuple, armature, constant: bool) -> list:
    """A list with the sum of factor · armature[place]; it is empty if the sum is 0 whatever the inputs are."""
    terms = [factor * armature[place] for factor, place in factors if factor]
    return [sum(terms[1:], terms[0])] if terms and not (constant and sum(terms) == 0) else []


def _sum_up(found: dict, entries) -> None:
    """Add all (place, value) of `entries` to the sums in `found`."""
    for place, x in entries:
        found[place] = found[place] + x if place in found else x
