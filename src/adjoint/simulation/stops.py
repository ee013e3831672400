"""Joint stops: springs and dampers at the ends of the range of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..control.gains import at_least_zero
from ..dynamics.factorization import mass_matrix_inverse
from ..errors import ArgumentError
from ..model.configuration import neutral
from ..model.input_checks import floats, positive, vectors
from ..model.joints import JOINTS
from ..model.needs import need_robot
from ..model.robot import Robot
from .forces import Force, force
from .number_checks import LATEST, of_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["joint_stops"]


@dataclass(frozen=True)
class _Stops:
    """The force of the stops; the joints that have some are at these places of q and v."""

    at_q: tuple[int, ...]
    at_v: tuple[int, ...]

    def __call__(self, robot, p, t, q, v):
        q, v = q[list(self.at_q)], v[list(self.at_v)]
        over, under = np.maximum(q - p.upper, 0.0), np.maximum(p.lower - q, 0.0)
        pushed = np.maximum(_push(p, under, -v), 0.0) - np.maximum(_push(p, over, v), 0.0)
        return np.eye(robot.nv)[:, list(self.at_v)] @ pushed


def _push(p, depth, rate):
    """The force of a spring and a damper; damping grows from 0 to its whole over depths up to `ramp`."""
    share = np.clip(depth / np.maximum(p.ramp, 1e-300), 0.0, 1.0)
    return p.stiffness * depth + p.damping * rate * share * share * (3 - 2 * share)


def joint_stops(
    robot: Robot, *, lower=None, upper=None, stiffness=None, damping=None, rate: float = 100.0,
    ramp: ArrayLike = 0.0, q=None,
) -> Force:  # fmt: skip
    """Stops at the limits of the joints, a `Force` for `simulate`: beyond a limit by d, a joint is pushed back with

        max(stiffness · d + damping · ḋ · s(d/ramp), 0),     s(x) = x² (3 - 2 x) up to x = 1, then 1.

    `lower` and `upper` (nq,) are the robot's own by default; joints of several degrees of freedom have no stops, nor
    has a side with an infinite limit. A stop never pulls, and gives back at most what it took. With `ramp` = 0 [rad, m]
    the damper acts at once, and the force jumps when the stop is met at speed; a ramp makes it continuous, for
    integrators of higher order.

    `stiffness` [N m/rad, N/m] and `damping` [N m s/rad, N s/m] are numbers or (nv,). By default they follow from the
    effective inertias m = 1/(M⁻¹)_ii at q, which is the neutral configuration by default, and from `rate` ω [rad/s]:
    stiffness m ω² and critical damping 2 m ω. Steps dt up to 0.2/ω suit them: 2 ms for 100 rad/s. A joint that meets
    its stop at the speed u then goes beyond it by u/(e ω). The parameters of the force, for `replace`, are those of the
    joints that have stops, in the order of v.

        >>> stops = joint_stops(robot)
        >>> run = aj.simulation.simulate(robot, q=robot.upper - 0.01, duration=0.1, dt=1e-3, forces=stops)
    """
    need_robot(robot, "joint_stops")
    low = _ends(robot, lower, robot.lower, "lower", -LATEST)
    high = _ends(robot, upper, robot.upper, "upper", LATEST)
    at_q, at_v = _stopped(robot, low, high)
    if stiffness is None or damping is None:
        rate = positive(rate, "joint_stops: rate")
        inertia = 1 / np.diagonal(mass_matrix_inverse(robot, _configuration(robot, q)))
        stiffness = inertia * rate**2 if stiffness is None else stiffness
        damping = 2 * inertia * rate if damping is None else damping
    return force(
        _Stops(at_q, at_v), name="joint_stops", lower=low[list(at_q)], upper=high[list(at_q)],
        stiffness=_each(robot, stiffness, "stiffness")[list(at_v)],
        damping=_each(robot, damping, "damping")[list(at_v)],
        ramp=at_least_zero(of_shape(ramp, (), "ramp", "joint_stops"), "ramp", "joint_stops"),
    )  # fmt: skip


def _stopped(robot: Robot, low: np.ndarray, high: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places in q and in v of the joints that have stops."""
    joints = [body.joint for body in robot.bodies if body.joint.mimic is None and JOINTS[body.joint.type].nq == 1]
    found = [x for x in joints if low[x.q][0] > -LATEST or high[x.q][0] < LATEST]
    if not found:
        raise ArgumentError(f"joint_stops: robot '{robot.name}' has no joint of one coordinate with a finite limit")
    for k in (x.q.start for x in found):
        if low[k] > high[k]:
            raise ArgumentError(f"joint_stops: lower[{k}] is {low[k]:g}, above upper[{k}], which is {high[k]:g}")
    return tuple(x.q.start for x in found), tuple(x.v.start for x in found)


def _ends(robot: Robot, given, own: np.ndarray, name: str, none: float) -> np.ndarray:
    """Limits (nq,), where `none` stands for an infinite one."""
    found = floats(own if given is None else given)
    if found.shape != (robot.nq,) or np.isnan(found).any():
        raise ArgumentError(f"joint_stops: '{name}' must be ({robot.nq},) without NaN; got {given!r}")
    return np.where(np.isfinite(found), found, none)


def _configuration(robot: Robot, q) -> np.ndarray:
    found = vectors(neutral(robot) if q is None else q, robot.nq, "q", "joint_stops")
    if found.ndim != 1:
        raise ArgumentError(f"joint_stops: 'q' has shape {found.shape}; it must be ({robot.nq},)")
    return found


def _each(robot: Robot, x, name: str) -> np.ndarray:
    found = at_least_zero(x, name, "joint_stops")
    if found.shape not in ((), (robot.nv,)):
        raise ArgumentError(f"joint_stops: '{name}' has shape {found.shape}; it must be one number or ({robot.nv},)")
    return np.broadcast_to(found, (robot.nv,))
