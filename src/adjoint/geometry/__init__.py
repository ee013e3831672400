"""Geometry of the kinetic metric M(q), the mass matrix, on the configuration space of a robot.

`christoffel_symbols` has the Christoffel symbols, the partial derivatives of M and the covariant derivative.
`curvature_tensors` has the Riemann, Ricci, sectional and scalar curvatures. `geodesics` has the motions that need no
torque, and parallel transport along them. The notation is that of Park, Bobrow & Ploen (1995), "A Lie group formulation
of robot dynamics", IJRR 14(6).
"""

from .christoffel_symbols import christoffel as christoffel
from .christoffel_symbols import covariant_derivative as covariant_derivative
from .christoffel_symbols import mass_matrix_derivative as mass_matrix_derivative
from .curvature_tensors import curvature as curvature
from .curvature_tensors import is_flat as is_flat
from .curvature_tensors import ricci_curvature as ricci_curvature
from .curvature_tensors import scalar_curvature as scalar_curvature
from .curvature_tensors import sectional_curvature as sectional_curvature
from .geodesics import Geodesic as Geodesic
from .geodesics import geodesic as geodesic
from .geodesics import geodesic_between as geodesic_between
from .geodesics import parallel_transport as parallel_transport

__all__ = [
    "Geodesic",
    "christoffel",
    "covariant_derivative",
    "curvature",
    "geodesic",
    "geodesic_between",
    "is_flat",
    "mass_matrix_derivative",
    "parallel_transport",
    "ricci_curvature",
    "scalar_curvature",
    "sectional_curvature",
]


def __dir__() -> list[str]:
    return __all__
