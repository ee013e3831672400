"""Chains of equal beads with fixed bond lengths and angles, such as polyethylene without its hydrogens."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import count, positive
from .atoms import TURNS, Polymer, Site, Torsion, assemble, need_angles, placed

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
    """The `Polymer` of n >= 3 beads of `mass` [Da] with n - 3 torsions; by default the CH₂ groups of polyethylene.

    `bond_length` [Å] and `bond_angle` [rad] are fixed. `torsions` [rad], one number or n - 3 of them, are the
    conformation `polymer.q` that the chain is made in. `base` is "free", which adds six degrees of freedom, or "fixed".

    If all torsions are equally probable, this is the freely rotating chain: its bond vectors have the correlations
    <b_i · b_j> = b² c^|i-j|, with c = -cos(bond_angle) and the bond length b.

        chain = bead_chain(100)
        x = chain.positions()  # (100, 3) [Å]
    """
    n, mass = count(n, "bead_chain: n"), positive(mass, "bead_chain: mass [Da]")
    bond_length = positive(bond_length, "bead_chain: bond_length [Å]")
    bond_angle = positive(bond_angle, "bead_chain: bond_angle [rad]")
    if n < 3 or not bond_angle < np.pi:
        degrees = ": degrees? np.radians converts them" if TURNS < bond_angle < 180 else ""
        raise ArgumentError(
            f"bead_chain: {n} beads, bonds at {bond_angle:g} rad{degrees}; it needs n >= 3 and an angle between 0 and π"
        )
    turns = need_angles(torsions, n - 3, "bead_chain: torsions")
    x = [np.zeros(3), np.array([bond_length, 0.0, 0.0])]
    x.append(x[1] + bond_length * np.array([-np.cos(bond_angle), np.sin(bond_angle), 0.0]))
    for turn in turns:
        x.append(placed(x[-3], x[-2], x[-1], bond_length, bond_angle, turn))
    keys = [(f"BEA{k + 1}", "B") for k in range(n)]
    sites = [Site("B", keys[k][0], "C", x[k], keys[k - 1] if k else None, mass) for k in range(n)]
    bonds = [Torsion(f"torsion{k + 1}", tuple(keys[k : k + 4])) for k in range(n - 3)]
    return assemble(f"{n} beads", sites, bonds, base)
