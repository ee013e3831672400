"""Adjoint: geometric robotics, written as the papers print it and run as machine code."""

from typing import TYPE_CHECKING

from .compile import Kernel as Kernel
from .compile import cache_info as cache_info
from .compile import check_grads as check_grads
from .compile import clear_cache as clear_cache
from .compile import forget as forget
from .compile import kernel as kernel
from .compile import scan as scan
from .compile import static as static
from .compile import while_loop as while_loop

if TYPE_CHECKING:
    from . import dynamics as dynamics
    from . import kinematics as kinematics
    from . import lie as lie
    from . import polymer as polymer
    from . import robot as robot
    from . import robots as robots
    from . import rolled as rolled
    from .closed_forms import equations as equations
    from .dynamics import bias_force as bias_force
    from .dynamics import centroidal_momentum as centroidal_momentum
    from .dynamics import centroidal_momentum_matrix as centroidal_momentum_matrix
    from .dynamics import christoffel as christoffel
    from .dynamics import coriolis_matrix as coriolis_matrix
    from .dynamics import covariant_derivative as covariant_derivative
    from .dynamics import curvature as curvature
    from .dynamics import energy_regressor as energy_regressor
    from .dynamics import fixman_blocks as fixman_blocks
    from .dynamics import fixman_logdet as fixman_logdet
    from .dynamics import fixman_solve as fixman_solve
    from .dynamics import forward_dynamics as forward_dynamics
    from .dynamics import forward_dynamics_derivatives as forward_dynamics_derivatives
    from .dynamics import forward_dynamics_hessian as forward_dynamics_hessian
    from .dynamics import forward_dynamics_second_derivatives as forward_dynamics_second_derivatives
    from .dynamics import geodesic as geodesic
    from .dynamics import geodesic_between as geodesic_between
    from .dynamics import gravity_torque as gravity_torque
    from .dynamics import inverse_dynamics as inverse_dynamics
    from .dynamics import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from .dynamics import inverse_dynamics_hessian as inverse_dynamics_hessian
    from .dynamics import inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives
    from .dynamics import is_flat as is_flat
    from .dynamics import kinetic_energy as kinetic_energy
    from .dynamics import linearize as linearize
    from .dynamics import mass_matrix as mass_matrix
    from .dynamics import mass_matrix_derivative as mass_matrix_derivative
    from .dynamics import mass_matrix_factors as mass_matrix_factors
    from .dynamics import mass_matrix_inverse as mass_matrix_inverse
    from .dynamics import mass_matrix_logdet as mass_matrix_logdet
    from .dynamics import mass_matrix_logdet_gradient as mass_matrix_logdet_gradient
    from .dynamics import mass_matrix_product as mass_matrix_product
    from .dynamics import mass_matrix_sqrt_solve as mass_matrix_sqrt_solve
    from .dynamics import momentum as momentum
    from .dynamics import operational_space as operational_space
    from .dynamics import parallel_transport as parallel_transport
    from .dynamics import potential_energy as potential_energy
    from .dynamics import random_velocity as random_velocity
    from .dynamics import regressor as regressor
    from .dynamics import ricci_curvature as ricci_curvature
    from .dynamics import scalar_curvature as scalar_curvature
    from .dynamics import sectional_curvature as sectional_curvature
    from .dynamics import solve_mass_matrix as solve_mass_matrix
    from .dynamics import solve_mass_matrix_parallel as solve_mass_matrix_parallel
    from .identification import Samples as Samples
    from .identification import base_parameters as base_parameters
    from .identification import excitation as excitation
    from .identification import identify as identify
    from .kinematics import center_of_mass as center_of_mass
    from .kinematics import center_of_mass_jacobian as center_of_mass_jacobian
    from .kinematics import forward_kinematics as forward_kinematics
    from .kinematics import frame_acceleration as frame_acceleration
    from .kinematics import frame_twist as frame_twist
    from .kinematics import jacobian as jacobian
    from .kinematics import jacobian_derivative as jacobian_derivative
    from .kinematics import kinematic_hessian as kinematic_hessian
    from .kinematics import manipulability as manipulability
    from .kinematics import singular_directions as singular_directions
    from .kinematics import static_torque as static_torque
    from .robot import Robot as Robot
    from .robot import check as check
    from .robot import difference as difference
    from .robot import distance as distance
    from .robot import from_dh as from_dh
    from .robot import from_screws as from_screws
    from .robot import integrate as integrate
    from .robot import interpolate as interpolate
    from .robot import load as load
    from .robot import neutral as neutral
    from .robot import random_configuration as random_configuration
    from .robot import to_urdf as to_urdf
    from .trajectory import optimal_motion as optimal_motion
    from .trajectory import spline_motion as spline_motion

__version__ = "0.3.0"

__all__ = [
    "Kernel",
    "Robot",
    "Samples",
    "base_parameters",
    "bias_force",
    "cache_info",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "check",
    "check_grads",
    "christoffel",
    "clear_cache",
    "coriolis_matrix",
    "covariant_derivative",
    "curvature",
    "difference",
    "distance",
    "energy_regressor",
    "equations",
    "excitation",
    "fixman_blocks",
    "fixman_logdet",
    "fixman_solve",
    "forget",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hessian",
    "forward_dynamics_second_derivatives",
    "forward_kinematics",
    "frame_acceleration",
    "frame_twist",
    "from_dh",
    "from_screws",
    "geodesic",
    "geodesic_between",
    "gravity_torque",
    "identify",
    "integrate",
    "interpolate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_hessian",
    "inverse_dynamics_second_derivatives",
    "is_flat",
    "jacobian",
    "jacobian_derivative",
    "kernel",
    "kinematic_hessian",
    "kinetic_energy",
    "linearize",
    "load",
    "manipulability",
    "mass_matrix",
    "mass_matrix_derivative",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_logdet_gradient",
    "mass_matrix_product",
    "mass_matrix_sqrt_solve",
    "momentum",
    "neutral",
    "operational_space",
    "optimal_motion",
    "parallel_transport",
    "potential_energy",
    "random_configuration",
    "random_velocity",
    "regressor",
    "ricci_curvature",
    "scalar_curvature",
    "scan",
    "sectional_curvature",
    "singular_directions",
    "solve_mass_matrix",
    "solve_mass_matrix_parallel",
    "spline_motion",
    "static",
    "static_torque",
    "to_urdf",
    "while_loop",
]

# `import adjoint` stays light: modules, and names from them, are loaded on first use.
_MODULES = (
    "closed_forms",
    "dynamics",
    "errors",
    "identification",
    "kinematics",
    "lie",
    "polymer",
    "robot",
    "robots",
    "rolled",
    "sweep",
    "trajectory",
)
_HOMES = ("robot", "kinematics", "dynamics", "identification", "trajectory", "closed_forms")  # the last one needs SymPy


def __getattr__(name: str):
    import importlib

    if name in _MODULES:
        found = importlib.import_module(f"adjoint.{name}")
    elif name in __all__:
        homes = (importlib.import_module(f"adjoint.{home}") for home in _HOMES)
        found = next(getattr(home, name) for home in homes if hasattr(home, name))
    else:
        raise AttributeError(f"module 'adjoint' has no attribute '{name}'")
    globals()[name] = found  # found at once the next time
    return found


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]
