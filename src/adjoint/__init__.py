"""Adjoint: geometric robotics, written as the papers print it and run as machine code."""

from typing import TYPE_CHECKING

from .compile import Kernel as Kernel
from .compile import cache_info as cache_info
from .compile import check_grads as check_grads
from .compile import clear_cache as clear_cache
from .compile import kernel as kernel
from .compile import scan as scan
from .compile import static as static
from .compile import while_loop as while_loop

if TYPE_CHECKING:
    from . import kinematics as kinematics
    from . import lie as lie
    from . import robot as robot
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
    from .robot import catalog as robots  # noqa: F401
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

__version__ = "0.2.0"

__all__ = [
    "Kernel",
    "Robot",
    "cache_info",
    "center_of_mass",
    "center_of_mass_jacobian",
    "check",
    "check_grads",
    "clear_cache",
    "difference",
    "distance",
    "forward_kinematics",
    "frame_acceleration",
    "frame_twist",
    "from_dh",
    "from_screws",
    "integrate",
    "interpolate",
    "jacobian",
    "jacobian_derivative",
    "kernel",
    "kinematic_hessian",
    "load",
    "manipulability",
    "neutral",
    "random_configuration",
    "scan",
    "singular_directions",
    "static",
    "static_torque",
    "to_urdf",
    "while_loop",
]

# `import adjoint` stays light: modules, and names from them, are loaded on first use.
_MODULES = {"errors": "errors", "kinematics": "kinematics", "lie": "lie", "robot": "robot", "robots": "robot.catalog"}
_HOMES = ("robot", "kinematics")


def __getattr__(name: str):
    import importlib

    if name in _MODULES:
        found = importlib.import_module(f"adjoint.{_MODULES[name]}")
    elif name in __all__:
        homes = (importlib.import_module(f"adjoint.{home}") for home in _HOMES)
        found = next(getattr(home, name) for home in homes if hasattr(home, name))
    else:
        raise AttributeError(f"module 'adjoint' has no attribute '{name}'")
    globals()[name] = found  # found at once the next time
    return found


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]
