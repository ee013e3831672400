"""Ideal places of hydrogen atoms, which follow from the bonds of the atom that carries them.

The bonds of that atom are tetrahedral, planar or bent. Bond lengths are those between nuclei. Methyl, ammonium and
hydroxyl groups are staggered to the bonds of the next atom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .atoms import placed
from .residues import Residue

__all__ = ["BOND_LENGTHS", "bonded", "hydrogen_positions"]

BOND_LENGTHS = {"C": 1.09, "N": 1.01, "O": 0.96, "S": 1.34}
"""Distance [Å] of a hydrogen from the atom it is bonded to."""

_TETRAHEDRAL = np.arccos(-1 / 3)  # the angle between two bonds of a tetrahedral atom [rad]
_BENT = {"O": np.radians(109.5), "S": np.radians(96.0)}  # the angle of a hydroxyl or thiol group [rad]


def bonded(residue: Residue) -> dict[str, list[str]]:
    """{atom: the heavy atoms of the residue that it is bonded to}; the atom that carries it comes first."""
    pairs = [("CA", "N"), ("C", "CA"), ("O", "C"), ("OXT", "C")]
    pairs += [(row.atom, row.refs[0]) for row in residue.rows] + list(residue.ring)
    found: dict[str, list[str]] = {}
    for atom, other in pairs:
        found.setdefault(atom, []).append(other)
        found.setdefault(other, []).append(atom)
    return found


def hydrogen_positions(
    names: Sequence[str], element: str, center, neighbours: Sequence, beyond
) -> Mapping[str, np.ndarray]:
    """{name: position (3,) [Å]} of the hydrogens on an atom of `element` at `center`.

    `neighbours` are the positions of the heavy atoms bonded to it. `beyond` is the position of an atom bonded to the
    first neighbour; groups that could turn are staggered to it.
    """
    if len(neighbours) > 1:
        directions = _away(center, neighbours, len(names))
        return {n: center + BOND_LENGTHS[element] * u for n, u in zip(names, directions, strict=True)}
    if element in _BENT:
        angle, turns = _BENT[element], [np.pi]
    elif len(names) == 2 and element == "N":  # planar: an amide, or a guanidine group
        angle, turns = 2 * np.pi / 3, [0.0, np.pi]
    else:
        angle, turns = _TETRAHEDRAL, [np.pi, -np.pi / 3, np.pi / 3][: len(names)]
    length, (neighbour,) = BOND_LENGTHS[element], neighbours
    return {n: placed(beyond, neighbour, center, length, angle, t) for n, t in zip(names, turns, strict=True)}


def _away(center, neighbours: Sequence, count: int) -> list[np.ndarray]:
    """The direction of one hydrogen, opposite to the neighbours, or of two, on both sides of the neighbours' plane."""
    u = np.array([(x - center) / np.linalg.norm(x - center) for x in neighbours])
    back = -u.sum(axis=0) / np.linalg.norm(u.sum(axis=0))
    if count == 1:
        return [back]
    normal = np.cross(u[0], u[1])
    normal = normal / np.linalg.norm(normal)
    c, s = np.cos(_TETRAHEDRAL / 2), np.sin(_TETRAHEDRAL / 2)
    return [c * back - s * normal, c * back + s * normal]
