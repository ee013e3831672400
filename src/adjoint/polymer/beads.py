"""Chains of equal beads with fixed bond lengths and angles: polyethylene without its hydrogens, or an ideal chain."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..robot.numbers import count
from .atoms import Polymer, Site, Torsion, assemble, need_angles, placed

__all__ = ["bead_chain"]


def bead_chain(
    n: int,
    bond_length: float = 1.53,
    bond_angle: float = np.radians(112.0),
    torsions=np.pi,
    *,
    mass: float = 14.027,
    base: str = "free",
) -> Polymer:
    """The `Polymer` of n >= 3 beads of `mass` [Da], with n - 3 torsions; by default the CH₂ groups of polyethylene.

    `bond_length` [Å] and `bond_angle` [rad] are fixed, `torsions` [rad] are one number, or n - 3: where `q` starts.
    If all torsions are equally probable this is the freely rotating chain, whose bond vectors b have
    <b_i · b_j> = b² c^|i-j|, c = -cos(bond_angle).
    """
    n = count(n, "bead_chain: n")
    if n < 3 or not (bond_length > 0 and mass > 0 and 0 < bond_angle < np.pi):
        raise ArgumentError(
            f"bead_chain: {n} beads of mass {mass} Da, bonds {bond_length} Å at {bond_angle} rad; it needs n >= 3, "
            "positive mass and length, and an angle between 0 and π"
        )
    turns = need_angles(torsions, n - 3, "bead_chain: torsions")
    x = [np.zeros(3), np.array([bond_length, 0.0, 0.0])]
    x.append(x[1] + bond_length * np.array([-np.cos(bond_angle), np.sin(bond_angle), 0.0]))
    for turn in turns:
        x.append(placed(*x[-3:], bond_length, bond_angle, turn))
    keys = [(f"BEA{k + 1}", "B") for k in range(n)]
    sites = [Site("B", keys[k][0], "C", x[k], keys[k - 1] if k else None, mass) for k in range(n)]
    bonds = [Torsion(f"torsion{k + 1}", tuple(keys[k : k + 4])) for k in range(n - 3)]
    return assemble(f"{n} beads", sites, bonds, base)
