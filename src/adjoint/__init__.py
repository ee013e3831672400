"""Adjoint: geometric robotics, written as the papers print it and run as machine code.

    import adjoint as aj

    robot = aj.load("robot.urdf")                       # or aj.robots.puma560(), aj.from_dh(...), aj.from_screws(...)
    T = aj.forward_kinematics(robot, q, "tool")         # q (nq,) or any batch of it (..., nq)
    tau = aj.inverse_dynamics(robot, q, v, a)

`aj.` holds what is used daily. Families of functions have modules of their own: `aj.lie`, `aj.model`, `aj.robots`,
`aj.kinematics`, `aj.inverse`, `aj.goals`, `aj.dynamics`, `aj.geometry`, `aj.fixman`, `aj.identification`,
`aj.calibration`, `aj.equations`, `aj.trajectory`, `aj.control`, `aj.simulation`, `aj.sensing`, `aj.vision`,
`aj.collision`, `aj.world`, `aj.program`, `aj.planning`, `aj.polymer`, `aj.viewer`, `aj.errors`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import calibration as calibration
    from . import collision as collision
    from . import control as control
    from . import dynamics as dynamics
    from . import equations as equations
    from . import errors as errors
    from . import fixman as fixman
    from . import geometry as geometry
    from . import goals as goals
    from . import identification as identification
    from . import inverse as inverse
    from . import kinematics as kinematics
    from . import lie as lie
    from . import model as model
    from . import planning as planning
    from . import polymer as polymer
    from . import program as program
    from . import robots as robots
    from . import sensing as sensing
    from . import simulation as simulation
    from . import trajectory as trajectory
    from . import viewer as viewer
    from . import vision as vision
    from . import world as world
    from .calibration import calibrate as calibrate
    from .compile import Kernel as Kernel
    from .compile import cache_info as cache_info
    from .compile import check_grads as check_grads
    from .compile import clear_cache as clear_cache
    from .compile import forget as forget
    from .compile import kernel as kernel
    from .compile import row_at as row_at
    from .compile import scan as scan
    from .compile import static as static
    from .compile import while_loop as while_loop
    from .dynamics import bias_force as bias_force
    from .dynamics import centroidal_momentum as centroidal_momentum
    from .dynamics import centroidal_momentum_matrix as centroidal_momentum_matrix
    from .dynamics import coriolis_matrix as coriolis_matrix
    from .dynamics import energy_regressor as energy_regressor
    from .dynamics import forward_dynamics as forward_dynamics
    from .dynamics import forward_dynamics_derivatives as forward_dynamics_derivatives
    from .dynamics import gravity_torque as gravity_torque
    from .dynamics import inverse_dynamics as inverse_dynamics
    from .dynamics import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from .dynamics import kinetic_energy as kinetic_energy
    from .dynamics import linearize as linearize
    from .dynamics import mass_matrix as mass_matrix
    from .dynamics import mass_matrix_factors as mass_matrix_factors
    from .dynamics import mass_matrix_inverse as mass_matrix_inverse
    from .dynamics import mass_matrix_logdet as mass_matrix_logdet
    from .dynamics import mass_matrix_product as mass_matrix_product
    from .dynamics import mass_matrix_sqrt_solve as mass_matrix_sqrt_solve
    from .dynamics import momentum as momentum
    from .dynamics import operational_space as operational_space
    from .dynamics import potential_energy as potential_energy
    from .dynamics import regressor as regressor
    from .dynamics import solve_mass_matrix as solve_mass_matrix
    from .errors import AdjointError as AdjointError
    from .errors import ArgumentError as ArgumentError
    from .errors import CompileError as CompileError
    from .errors import DerivativeError as DerivativeError
    from .errors import MissingPackageError as MissingPackageError
    from .errors import ModelError as ModelError
    from .errors import SolveError as SolveError
    from .errors import TraceError as TraceError
    from .geometry import christoffel as christoffel
    from .geometry import curvature as curvature
    from .goals import find_configuration as find_configuration
    from .identification import base_parameters as base_parameters
    from .identification import identify as identify
    from .inverse import inverse_kinematics as inverse_kinematics
    from .kinematics import center_of_mass as center_of_mass
    from .kinematics import center_of_mass_jacobian as center_of_mass_jacobian
    from .kinematics import forward_kinematics as forward_kinematics
    from .kinematics import frame_acceleration as frame_acceleration
    from .kinematics import frame_twist as frame_twist
    from .kinematics import jacobian as jacobian
    from .kinematics import jacobian_rate as jacobian_rate
    from .kinematics import manipulability as manipulability
    from .kinematics import static_torque as static_torque
    from .model import Robot as Robot
    from .model import check as check
    from .model import difference as difference
    from .model import distance as distance
    from .model import from_dh as from_dh
    from .model import from_screws as from_screws
    from .model import integrate as integrate
    from .model import interpolate as interpolate
    from .model import load as load
    from .model import neutral as neutral
    from .model import random_configuration as random_configuration
    from .model import to_urdf as to_urdf
    from .simulation import simulate as simulate
    from .trajectory import optimal_motion as optimal_motion
    from .trajectory import spline_motion as spline_motion
    from .viewer import plot as plot
    from .viewer import view as view

__version__ = "0.3.0"

# Where each name of the door is defined. `import adjoint` stays light: a module is loaded when one of its names is
# first used. A test keeps this table and the imports above, which editors and type checkers read, the same.
_HOMES = {
    "compile": "Kernel cache_info check_grads clear_cache forget kernel row_at scan static while_loop",
    "errors": "AdjointError ArgumentError CompileError DerivativeError MissingPackageError ModelError SolveError "
    "TraceError",
    "model": "Robot check difference distance from_dh from_screws integrate interpolate load neutral "
    "random_configuration to_urdf",
    "kinematics": "center_of_mass center_of_mass_jacobian forward_kinematics frame_acceleration frame_twist jacobian "
    "jacobian_rate manipulability static_torque",
    "dynamics": "bias_force centroidal_momentum centroidal_momentum_matrix coriolis_matrix energy_regressor "
    "forward_dynamics forward_dynamics_derivatives gravity_torque inverse_dynamics inverse_dynamics_derivatives "
    "kinetic_energy linearize mass_matrix mass_matrix_factors mass_matrix_inverse mass_matrix_logdet "
    "mass_matrix_product mass_matrix_sqrt_solve momentum operational_space potential_energy regressor "
    "solve_mass_matrix",
    "geometry": "christoffel curvature",
    "inverse": "inverse_kinematics",
    "goals": "find_configuration",
    "identification": "base_parameters identify",
    "calibration": "calibrate",
    "trajectory": "optimal_motion spline_motion",
    "simulation": "simulate",
    "viewer": "plot view",
}
_MODULES = (
    "calibration",
    "collision",
    "control",
    "dynamics",
    "equations",
    "errors",
    "fixman",
    "geometry",
    "goals",
    "identification",
    "inverse",
    "kinematics",
    "lie",
    "model",
    "planning",
    "polymer",
    "program",
    "robots",
    "sensing",
    "simulation",
    "trajectory",
    "viewer",
    "vision",
    "world",
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


if not TYPE_CHECKING:  # for a type checker, only the names above are there

    def __getattr__(name: str):
        from importlib import import_module

        if name in _MODULES:
            found = import_module(f"adjoint.{name}")
        elif name in _HOME_OF:
            found = getattr(import_module(f"adjoint.{_HOME_OF[name]}"), name)
        elif name.startswith("__"):
            raise AttributeError(f"module 'adjoint' has no attribute '{name}'")
        else:
            from .other_names import hint

            raise AttributeError(f"module 'adjoint' has no attribute '{name}'{hint(name)}")
        globals()[name] = found  # the next time Python finds it without this function
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
