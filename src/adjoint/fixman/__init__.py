"""Fixman's method: M⁻¹ b and log det M in O(n), with joints as constraints between free bodies.

`partition` has the theorem and explains soft and hard coordinates. It is applied to three kinds of systems:

- `bodies`: any robot, with `fixman_solve`, `fixman_logdet` and `fixman_blocks`; `chain_loops` has the compiled loops
  for serial chains.
- `dh_links`: chains of rigid bodies in the six coordinates of Lee, Wang & Chirikjian (2007); `paper` has the two
  examples of that paper.
- `point_masses`: planar and spatial chains of point masses.

The papers are Fixman (1974), "Classical statistical mechanics of constraints: a theorem and application to polymers",
PNAS 71(8), and Lee, Wang & Chirikjian (2007), "O(n) mass matrix inversion for serial manipulators and polypeptide
chains using Lie derivatives", Robotica 25(6).
"""

from . import dh_links as dh_links
from . import paper as paper
from . import point_masses as point_masses
from .bodies import fixman_blocks as fixman_blocks
from .bodies import fixman_logdet as fixman_logdet
from .bodies import fixman_solve as fixman_solve
from .bodies import robot_partition as robot_partition
from .dh_links import DHChain as DHChain
from .dh_links import dh_partition as dh_partition
from .partition import Blocks as Blocks
from .partition import Partition as Partition
from .partition import blocks as blocks
from .partition import constrained_mass_matrix as constrained_mass_matrix
from .partition import logdet as logdet
from .partition import solve as solve
from .point_masses import planar_partition as planar_partition
from .point_masses import spatial_partition as spatial_partition

__all__ = [
    "Blocks",
    "DHChain",
    "Partition",
    "blocks",
    "constrained_mass_matrix",
    "dh_links",
    "dh_partition",
    "fixman_blocks",
    "fixman_logdet",
    "fixman_solve",
    "logdet",
    "paper",
    "planar_partition",
    "point_masses",
    "robot_partition",
    "solve",
    "spatial_partition",
]


def __dir__() -> list[str]:
    return __all__
