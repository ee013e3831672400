"""Control laws: data and a function of one instant, to call alone, in batches, in `simulate`, and as C.

| file | contents |
|---|---|
| `laws` | `Law`, the one type, and `law`, which makes one of any NumPy function; `wrapped`, a law around another |
| `references` | what a law follows: `Target` of joints, `PoseTarget` of a frame, trajectories, functions of time |
| `assembled`, `marks` | kernels put together from functions with parameters; what a function reads |
| `repeatability` | functions with a hidden state, or with random numbers, are refused |
| `joint_laws` | P, PD and PID feedback, the servo with DC motors, and computed torque |
| `motors` | `Motor`, a DC motor with a gear, and curves from voltage to torque |
| `servo_design` | the theory of the joint servo: closed loops, gains, errors, sampling |
| `channels` | what stands between a law and a robot: limits, sampling, delay, counts, noise, filters |
| `wrapping` | what makers of laws around laws share |
| `observers` | what is not measured: velocities, disturbances, states by Kalman filters |
| `random_numbers` | random numbers inside kernels |
| `gains` | checks of gains |
| `decoupling` | nonlinear decoupled feedback, of arms and of any system that is affine in its inputs |
| `resolution` | from the motion of a frame to that of joints |
| `resolved` | laws that move a hand: resolved motion rate, acceleration and force |
| `switching` | laws that switch: nearly least time, and sliding modes |
| `least_squares` | recursive least squares with forgetting, which the laws that identify something share |
| `adaptive` | adaptive laws of single joints: `model_reference` and `self_tuning` |
| `perturbations` | `perturbation` about a nominal motion with an identified model, of joints or of a frame |
| `slotine` | `slotine_li`: adaptive control with the robot's own equations |
| `task_motion` | a frame beside its target: errors, motions with given errors, and the joints that make them |
| `operational_law` | operational-space control |
| `impedance_laws` | impedance and admittance |
| `force_laws` | forces and positions at once: hybrid, with a `TaskFrame`, and parallel |
| `riccati` | linear quadratic regulators: of linear systems, `lqr` about a configuration, `tvlqr` along a trajectory |
"""

from . import servo_design as servo_design
from .adaptive import ModelReferenceState as ModelReferenceState
from .adaptive import SelfTuningState as SelfTuningState
from .adaptive import ServoGains as ServoGains
from .adaptive import model_reference as model_reference
from .adaptive import self_tuning as self_tuning
from .adaptive import servo_gains as servo_gains
from .channels import Delayed as Delayed
from .channels import Drawing as Drawing
from .channels import Filtered as Filtered
from .channels import Held as Held
from .channels import Ramped as Ramped
from .channels import delayed as delayed
from .channels import low_pass as low_pass
from .channels import noisy as noisy
from .channels import quantised as quantised
from .channels import rate_limited as rate_limited
from .channels import sampled as sampled
from .channels import saturated as saturated
from .decoupling import Decoupling as Decoupling
from .decoupling import decoupled as decoupled
from .decoupling import decoupling_law as decoupling_law
from .force_laws import TaskFrame as TaskFrame
from .force_laws import hybrid as hybrid
from .force_laws import parallel as parallel
from .impedance_laws import Yielding as Yielding
from .impedance_laws import admittance as admittance
from .impedance_laws import impedance as impedance
from .joint_laws import Integral as Integral
from .joint_laws import computed_torque as computed_torque
from .joint_laws import pd as pd
from .joint_laws import pid as pid
from .joint_laws import servo as servo
from .joint_laws import through_drive as through_drive
from .laws import Control as Control
from .laws import Law as Law
from .laws import law as law
from .laws import wrapped as wrapped
from .least_squares import Fit as Fit
from .least_squares import recursive_least_squares as recursive_least_squares
from .motors import Motor as Motor
from .motors import TransferFunction as TransferFunction
from .motors import VoltageTorqueCurve as VoltageTorqueCurve
from .motors import curve_torque as curve_torque
from .motors import curve_voltage as curve_voltage
from .motors import friction_curve as friction_curve
from .motors import joint_torque as joint_torque
from .motors import joint_transfer as joint_transfer
from .motors import joint_voltage as joint_voltage
from .motors import loaded as loaded
from .motors import motor_gain as motor_gain
from .motors import motor_time_constant as motor_time_constant
from .motors import motor_transfer as motor_transfer
from .motors import torque_drive as torque_drive
from .motors import with_motors as with_motors
from .observers import Differenced as Differenced
from .observers import Disturbance as Disturbance
from .observers import Estimate as Estimate
from .observers import Observed as Observed
from .observers import differenced_velocity as differenced_velocity
from .observers import disturbance_observer as disturbance_observer
from .observers import kalman as kalman
from .observers import velocity_observer as velocity_observer
from .operational_law import operational as operational
from .perturbations import PerturbationState as PerturbationState
from .perturbations import perturbation as perturbation
from .perturbations import resolved_motion_adaptive as resolved_motion_adaptive
from .random_numbers import Drawn as Drawn
from .random_numbers import normals as normals
from .random_numbers import random_state as random_state
from .random_numbers import uniform as uniform
from .references import PoseTarget as PoseTarget
from .references import Target as Target
from .resolution import ForceConvergence as ForceConvergence
from .resolution import force_convergence as force_convergence
from .resolution import hand_twist as hand_twist
from .resolution import resolve_acceleration as resolve_acceleration
from .resolution import resolve_twist as resolve_twist
from .resolution import rpy_rate_matrix as rpy_rate_matrix
from .resolution import rpy_velocity_matrix as rpy_velocity_matrix
from .resolved import ForceRounds as ForceRounds
from .resolved import resolved_acceleration as resolved_acceleration
from .resolved import resolved_force as resolved_force
from .resolved import resolved_rate as resolved_rate
from .riccati import Gains as Gains
from .riccati import dlqr_gains as dlqr_gains
from .riccati import lqr as lqr
from .riccati import lqr_gains as lqr_gains
from .riccati import tvlqr as tvlqr
from .slotine import CompositeState as CompositeState
from .slotine import slotine_li as slotine_li
from .switching import bang_bang as bang_bang
from .switching import equivalent_control as equivalent_control
from .switching import minimum_time as minimum_time
from .switching import sliding_mode as sliding_mode
from .switching import switching_curve as switching_curve
from .switching import switching_gain as switching_gain
from .wrapping import state_of as state_of

__all__ = [
    "CompositeState",
    "Control",
    "Decoupling",
    "Delayed",
    "Differenced",
    "Disturbance",
    "Drawing",
    "Drawn",
    "Estimate",
    "Filtered",
    "Fit",
    "ForceConvergence",
    "ForceRounds",
    "Gains",
    "Held",
    "Integral",
    "Law",
    "ModelReferenceState",
    "Motor",
    "Observed",
    "PerturbationState",
    "PoseTarget",
    "Ramped",
    "SelfTuningState",
    "ServoGains",
    "Target",
    "TaskFrame",
    "TransferFunction",
    "VoltageTorqueCurve",
    "Yielding",
    "admittance",
    "bang_bang",
    "computed_torque",
    "curve_torque",
    "curve_voltage",
    "decoupled",
    "decoupling_law",
    "delayed",
    "differenced_velocity",
    "disturbance_observer",
    "dlqr_gains",
    "equivalent_control",
    "force_convergence",
    "friction_curve",
    "hand_twist",
    "hybrid",
    "impedance",
    "joint_torque",
    "joint_transfer",
    "joint_voltage",
    "kalman",
    "law",
    "loaded",
    "low_pass",
    "lqr",
    "lqr_gains",
    "minimum_time",
    "model_reference",
    "motor_gain",
    "motor_time_constant",
    "motor_transfer",
    "noisy",
    "normals",
    "operational",
    "parallel",
    "pd",
    "perturbation",
    "pid",
    "quantised",
    "random_state",
    "rate_limited",
    "recursive_least_squares",
    "resolve_acceleration",
    "resolve_twist",
    "resolved_acceleration",
    "resolved_force",
    "resolved_motion_adaptive",
    "resolved_rate",
    "rpy_rate_matrix",
    "rpy_velocity_matrix",
    "sampled",
    "saturated",
    "self_tuning",
    "servo",
    "servo_design",
    "servo_gains",
    "sliding_mode",
    "slotine_li",
    "state_of",
    "switching_curve",
    "switching_gain",
    "through_drive",
    "torque_drive",
    "tvlqr",
    "uniform",
    "velocity_observer",
    "with_motors",
    "wrapped",
]


def __dir__() -> list[str]:
    return __all__
