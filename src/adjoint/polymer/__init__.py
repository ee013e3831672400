"""Chain molecules as robots whose joints are torsions. Lengths are in Å, masses in Da, times in ps, angles in rad.

`polypeptide` makes a `Polymer` from an amino-acid sequence, `bead_chain` from equal beads, and `read` from a PDB or
mmCIF file (it needs the package gemmi). The dynamics of `polymer.robot` are those of any robot; `fixman_potential` and
`langevin` add temperature.

| file | contents |
|---|---|
| `atoms` | `Polymer`, and how atoms in space become the bodies and joints of a robot |
| `residues` | the table of the twenty amino acids |
| `hydrogens` | where hydrogen atoms are placed |
| `peptide` | `polypeptide`, and the bonds and torsions of a chain of residues |
| `beads` | `bead_chain` |
| `structure` | `read` and `write`, PDB and mmCIF files |
| `thermal` | Fixman's potential and the Langevin integrator |
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
