"""Kinematics: placements, Jacobians and motions of frames, all as kernels.

`route` is the way between two frames that everything follows; `forward`, `jacobian`, `center` and `dexterity` are what
users call; `poe` has the product of exponentials of Park (1994), equal to the recursions.
"""

from . import poe as poe
from .center import center_of_mass as center_of_mass
from .center import center_of_mass_jacobian as center_of_mass_jacobian
from .dexterity import SingularDirections as SingularDirections
from .dexterity import manipulability as manipulability
from .dexterity import singular_directions as singular_directions
from .forward import forward_kinematics as forward_kinematics
from .jacobians import frame_acceleration as frame_acceleration
from .jacobians import frame_twist as frame_twist
from .jacobians import jacobian as jacobian
from .jacobians import jacobian_rate as jacobian_rate
from .jacobians import kinematic_hessian as kinematic_hessian
from .jacobians import static_torque as static_torque

__all__ = [
    "SingularDirections",
    "center_of_mass",
    "center_of_mass_jacobian",
    "forward_kinematics",
    "frame_acceleration",
    "frame_twist",
    "jacobian",
    "jacobian_rate",
    "kinematic_hessian",
    "manipulability",
    "poe",
    "singular_directions",
    "static_torque",
]


def __dir__() -> list[str]:
    return __all__
