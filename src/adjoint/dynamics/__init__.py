"""Dynamics: forces from motions, motions from forces, and the mass matrix between them; all as kernels.

The functions for daily use are in these files: `newton_euler` (inverse dynamics), `forward` (forward dynamics),
`composite` (the mass matrix M), `factorization` (M = W Ω Wᵀ and what follows from it), `coriolis`, `energy`,
`operational` (task space), `closed_loops`, `regressors` (torques and energies, linear in the parameters),
`state_derivatives`, `second_state_derivatives` and `linearization`. `articulated` has the recursion behind the
functions that take O(n), and `armature` the forces of motors' rotors. `parallel` divides one long chain among processor
cores.

Other formulations of the same dynamics stand beside these for study, and the tests compare them: `global_operators`
(the global matrices of Ploen & Park 1999), `ploen_park` (their recursions, as printed), `lagrangian` (Park, Bobrow &
Ploen 1995) and `textbook` (Fu, Gonzalez & Lee 1987).
"""

from typing import TYPE_CHECKING

from ..lazy import later
from .closed_loops import ConstrainedMotion as ConstrainedMotion
from .closed_loops import ConstrainedTorque as ConstrainedTorque
from .closed_loops import Loop as Loop
from .closed_loops import close_loops as close_loops
from .closed_loops import consistent_velocity as consistent_velocity
from .closed_loops import constrained_forward_dynamics as constrained_forward_dynamics
from .closed_loops import constrained_inverse_dynamics as constrained_inverse_dynamics
from .closed_loops import loop_bias as loop_bias
from .closed_loops import loop_error as loop_error
from .closed_loops import loop_jacobian as loop_jacobian
from .composite import mass_matrix as mass_matrix
from .coriolis import coriolis_matrix as coriolis_matrix
from .energy import centroidal_momentum as centroidal_momentum
from .energy import centroidal_momentum_matrix as centroidal_momentum_matrix
from .energy import kinetic_energy as kinetic_energy
from .energy import momentum as momentum
from .energy import potential_energy as potential_energy
from .factorization import MassFactors as MassFactors
from .factorization import mass_matrix_factors as mass_matrix_factors
from .factorization import mass_matrix_inverse as mass_matrix_inverse
from .factorization import mass_matrix_logdet as mass_matrix_logdet
from .factorization import mass_matrix_logdet_gradient as mass_matrix_logdet_gradient
from .factorization import mass_matrix_sqrt_solve as mass_matrix_sqrt_solve
from .factorization import random_velocity as random_velocity
from .forward import forward_dynamics as forward_dynamics
from .forward import solve_mass_matrix as solve_mass_matrix
from .global_operators import articulated_bias_wrenches as articulated_bias_wrenches
from .global_operators import articulated_operators as articulated_operators
from .global_operators import operators as operators
from .linearization import Linearization as Linearization
from .linearization import linearize as linearize
from .newton_euler import MotionsAndWrenches as MotionsAndWrenches
from .newton_euler import bias_force as bias_force
from .newton_euler import body_motions_and_wrenches as body_motions_and_wrenches
from .newton_euler import gravity_torque as gravity_torque
from .newton_euler import inverse_dynamics as inverse_dynamics
from .newton_euler import mass_matrix_product as mass_matrix_product
from .operational import OperationalSpace as OperationalSpace
from .operational import null_space_projector as null_space_projector
from .operational import operational_space as operational_space
from .parallel import solve_mass_matrix_parallel as solve_mass_matrix_parallel
from .regressors import EnergyRegressor as EnergyRegressor
from .regressors import energy_regressor as energy_regressor
from .regressors import parameter_names as parameter_names
from .regressors import parameters as parameters
from .regressors import passive_regressor as passive_regressor
from .regressors import regressor as regressor
from .second_state_derivatives import SecondDerivatives as SecondDerivatives
from .second_state_derivatives import forward_dynamics_hessian as forward_dynamics_hessian
from .second_state_derivatives import forward_dynamics_second_derivatives as forward_dynamics_second_derivatives
from .second_state_derivatives import inverse_dynamics_hessian as inverse_dynamics_hessian
from .second_state_derivatives import inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives
from .state_derivatives import AccelerationDerivatives as AccelerationDerivatives
from .state_derivatives import TorqueDerivatives as TorqueDerivatives
from .state_derivatives import forward_dynamics_derivatives as forward_dynamics_derivatives
from .state_derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives

if TYPE_CHECKING:
    from . import lagrangian as lagrangian
    from . import ploen_park as ploen_park
    from . import textbook as textbook
else:  # these need packages or files that most processes have no use for
    __getattr__ = later(
        __name__,
        {
            "lagrangian": "lagrangian",
            "ploen_park": "ploen_park",
            "textbook": "textbook",
        },
    )

__all__ = [
    "AccelerationDerivatives",
    "ConstrainedMotion",
    "ConstrainedTorque",
    "EnergyRegressor",
    "Linearization",
    "Loop",
    "MassFactors",
    "MotionsAndWrenches",
    "OperationalSpace",
    "SecondDerivatives",
    "TorqueDerivatives",
    "articulated_bias_wrenches",
    "articulated_operators",
    "bias_force",
    "body_motions_and_wrenches",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "close_loops",
    "consistent_velocity",
    "constrained_forward_dynamics",
    "constrained_inverse_dynamics",
    "coriolis_matrix",
    "energy_regressor",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hessian",
    "forward_dynamics_second_derivatives",
    "gravity_torque",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_hessian",
    "inverse_dynamics_second_derivatives",
    "kinetic_energy",
    "lagrangian",
    "linearize",
    "loop_bias",
    "loop_error",
    "loop_jacobian",
    "mass_matrix",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_logdet_gradient",
    "mass_matrix_product",
    "mass_matrix_sqrt_solve",
    "momentum",
    "null_space_projector",
    "operational_space",
    "operators",
    "parameter_names",
    "parameters",
    "passive_regressor",
    "ploen_park",
    "potential_energy",
    "random_velocity",
    "regressor",
    "solve_mass_matrix",
    "solve_mass_matrix_parallel",
    "textbook",
]


def __dir__() -> list[str]:
    return __all__
