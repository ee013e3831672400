"""Dynamics: forces from motions, motions from forces, and the mass matrix between them; all as kernels.

What users call: `newton_euler` (inverse dynamics), `forward` (forward dynamics), `composite` (M), `factorization`
(M = W Ω Wᵀ and what it gives), `coriolis`, `energy`, `operational` (task space), `closed_loops`. Derivatives:
`derivatives`, `second_derivatives`, `linearization`; geometry: `christoffel`, `curvature`, `geodesics`; `regressor`
(linear in the parameters). `articulated` is the recursion behind the O(n) ones, `long` has loops for robots with many
bodies, `parallel` divides one chain among cores, `fixman` has free bodies held by constraints. For study, equal to
them: `operators` (global matrices), `ploen_park` (the paper's recursion), `lagrangian`, `textbook`.
"""

from . import fixman as fixman
from . import lagrangian as lagrangian
from . import long as long
from . import ploen_park as ploen_park
from . import textbook as textbook
from .christoffel import christoffel as christoffel
from .christoffel import covariant_derivative as covariant_derivative
from .christoffel import mass_matrix_derivative as mass_matrix_derivative
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
from .curvature import curvature as curvature
from .curvature import is_flat as is_flat
from .curvature import ricci_curvature as ricci_curvature
from .curvature import scalar_curvature as scalar_curvature
from .curvature import sectional_curvature as sectional_curvature
from .derivatives import AccelerationDerivatives as AccelerationDerivatives
from .derivatives import TorqueDerivatives as TorqueDerivatives
from .derivatives import forward_dynamics_derivatives as forward_dynamics_derivatives
from .derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
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
from .fixman import fixman_blocks as fixman_blocks
from .fixman import fixman_logdet as fixman_logdet
from .fixman import fixman_solve as fixman_solve
from .forward import forward_dynamics as forward_dynamics
from .forward import solve_mass_matrix as solve_mass_matrix
from .geodesics import Geodesic as Geodesic
from .geodesics import geodesic as geodesic
from .geodesics import geodesic_between as geodesic_between
from .geodesics import parallel_transport as parallel_transport
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
from .operators import articulated_bias_wrenches as articulated_bias_wrenches
from .operators import articulated_operators as articulated_operators
from .operators import operators as operators
from .parallel import solve_mass_matrix_parallel as solve_mass_matrix_parallel
from .regressor import EnergyRegressor as EnergyRegressor
from .regressor import energy_regressor as energy_regressor
from .regressor import parameter_names as parameter_names
from .regressor import parameters as parameters
from .regressor import regressor as regressor
from .second_derivatives import SecondDerivatives as SecondDerivatives
from .second_derivatives import forward_dynamics_hessian as forward_dynamics_hessian
from .second_derivatives import forward_dynamics_second_derivatives as forward_dynamics_second_derivatives
from .second_derivatives import inverse_dynamics_hessian as inverse_dynamics_hessian
from .second_derivatives import inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives
