"""Polymers: chain molecules as robots, with torsions as joints. Lengths in Å, masses in Da, times in ps, angles in rad.

`polypeptide` makes a `Polymer` of a sequence, `bead_chain` one of equal beads, `read` one of a PDB or mmCIF file
(gemmi). `residues` is the table of amino acids, `atoms` turns atoms in space into a robot. Its dynamics are those of
any robot; `thermal` adds temperature: Fixman's potential and a Langevin integrator.
"""

from .atoms import Atom as Atom
from .atoms import Polymer as Polymer
from .beads import bead_chain as bead_chain
from .peptide import polypeptide as polypeptide
from .structure import read as read
from .structure import write as write
from .thermal import BOLTZMANN as BOLTZMANN
from .thermal import Trajectory as Trajectory
from .thermal import fixman_force as fixman_force
from .thermal import fixman_potential as fixman_potential
from .thermal import langevin as langevin

__all__ = [
    "BOLTZMANN",
    "Atom",
    "Polymer",
    "Trajectory",
    "bead_chain",
    "fixman_force",
    "fixman_potential",
    "langevin",
    "polypeptide",
    "read",
    "write",
]


def __dir__() -> list[str]:
    return __all__
