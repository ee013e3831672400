"""Kinematics: placements, Jacobians and motions of frames, all as kernels.

`route` is the way between two frames that everything follows; `forward`, `jacobian`, `center` and `dexterity` are what
users call; `long` has loops for robots with many bodies; `poe` has the product of exponentials of Park (1994), equal
to the recursions.
"""

from . import long as long
from . import poe as poe
from .center import center_of_mass as center_of_mass
from .center import center_of_mass_jacobian as center_of_mass_jacobian
from .dexterity import SingularDirections as SingularDirections
from .dexterity import manipulability as manipulability
from .dexterity import singular_directions as singular_directions
from .forward import forward_kinematics as forward_kinematics
from .jacobian import frame_acceleration as frame_acceleration
from .jacobian import frame_twist as frame_twist
from .jacobian import jacobian as jacobian
from .jacobian import jacobian_derivative as jacobian_derivative
from .jacobian import kinematic_hessian as kinematic_hessian
from .jacobian import static_torque as static_torque
