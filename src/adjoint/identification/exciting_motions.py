"""Motions whose torques reveal a robot's parameters: optimised finite Fourier series inside the joints' limits.

See Swevers et al. (1997), "Optimal robot excitation and identification", IEEE Trans. Robot. Autom. 13(5). The motions
are periodic, so that recordings of several periods can be averaged; here each period also starts and ends at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..dynamics.regressors import JOINT_TERMS, coordinate_names, dof_names, parameters, regressor
from ..errors import ArgumentError, SolveError
from ..model.configuration import neutral
from ..model.input_checks import count, floats, positive
from ..model.needs import need_robot
from ..model.robot import Robot
from ..randomness import Rng, generator
from .base import BaseParameters, base_parameters, some
from .data import MOST_ROWS
from .linear import triangle

__all__ = ["Course", "Excitation", "excitation"]

_MEMORY = 6e7  # [bytes] that the regressors evaluated at once may take
_STARTS = 32  # the number of random motions, of which the best is improved
_INSIDE = 0.98  # the part of each limit that may be used at the checked times, as the motion may exceed it between them
_MOST_HARMONICS = 1000  # far more than any robot can follow
_CHECKED = 80  # limits are checked at so many times in each period of the highest harmonic,
_SCORED = 16  # and the regressor is evaluated at so many


class Course(NamedTuple):
    """A motion at n times: time (n,) [s], q (n, nq), v and a (n, nv)."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class Limits(NamedTuple):
    """The limits that a motion keeps: of q (nq,), and of |v|, |a| and |tau| (nv,); infinity stands for no limit."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Excitation:
    """A periodic motion v_j = Σ_k c_jk cos(k ω t) + s_jk sin(k ω t), with ω = 2π / duration; q_j is its integral.

    `excitation` makes this object. Joints with several degrees of freedom stay where they are.
    """

    robot: Robot
    duration: float  # [s] of one period
    center: np.ndarray  # (nq,) the constant part of q
    coefficients: np.ndarray  # (nv, 2, harmonics): c and s [rad/s or m/s]
    condition: (
        float  # the condition number of the regressor along the motion, with columns divided by their usual sizes
    )
    limits: Limits  # the limits that the motion keeps

    def at(self, time) -> Course:
        """The motion at the times (n,) [s], or at one time; times beyond one period repeat it."""
        time = np.atleast_1d(floats(time))
        if time.ndim != 1 or not np.isfinite(time).all():
            raise ArgumentError("Excitation.at: time must be finite numbers (n,) [s]")
        places = _single_joints(self.robot)
        bases = _bases(time, self.duration, self.coefficients.shape[-1])
        shapes = self.coefficients[places[:, 1]].reshape(len(places), -1)
        return Course(time, *_moved(self.robot, places, self.center[places[:, 0]], shapes, bases))

    def samples(self, rate: float, periods: int = 1) -> Course:
        """The motion over whole periods, sampled at `rate` [Hz]; the first and the last sample are included."""
        rate, periods = positive(rate, "Excitation.samples: rate [Hz]"), count(periods, "Excitation.samples: periods")
        if not rate * self.duration * periods < MOST_ROWS:
            raise ArgumentError(f"Excitation.samples: rate {rate:g} Hz is too high: more than {MOST_ROWS:g} samples")
        return self.at(np.arange(round(rate * self.duration * periods) + 1) / rate)

    def usage(self) -> dict[str, float]:
        """{"position", "velocity", "acceleration", "torque"}: the largest part of each limit that the motion uses.

        Limits that are infinite for all joints are left out.
        """
        _, q, v, a = self.at(np.linspace(0, self.duration, 2 * _CHECKED * self.coefficients.shape[-1]))
        return _usage(self.robot, self.limits, q, v, a)

    def __repr__(self) -> str:
        used = ", ".join(f"{name} {100 * part:.0f} %" for name, part in self.usage().items())
        harmonics = self.coefficients.shape[-1]
        return (
            f"<Excitation of '{self.robot.name}': {self.duration:g} s, {harmonics} harmonics, "
            f"condition {self.condition:.3g}, uses {used}>"
        )


def excitation(
    robot: Robot,
    duration: float = 10.0,
    *,
    harmonics: int = 5,
    joints: tuple[str, ...] = tuple(JOINT_TERMS),
    acceleration_limit=np.inf,
    torque_limit=np.inf,
    rounds: int = 20,
    rng: Rng = 0,
) -> Excitation:
    """An `Excitation` of `duration` [s] whose recording tells most about the robot's base parameters.

    Nothing here knows of obstacles, or that the robot may hit itself: look at the motion before you run it.

        motion = excitation(robot, 10.0, acceleration_limit=6.0)
        time, q, v, a = motion.samples(rate=1000.0)

    - `harmonics` is the number of frequencies k / duration [Hz], k = 1, 2, ..., in each joint's motion.
    - `joints` names the joint terms to identify together with the inertias, as in `base_parameters`.
    - `acceleration_limit` and `torque_limit` are a number for all joints or (nv,). The torque limit holds as far as the
      model is right. Positions and velocities keep the limits of the model; where it has none, a joint moves within one
      turn or 1 m, and at most at π rad/s or m/s.
    - `rounds` is the number of iterations of the optimiser, and `rng` the seed or generator of its random starts.

    The motion maximises log det YᵀY, where Y is the base regressor along the motion; the volume of the confidence
    region is in proportion to 1 / √det YᵀY. A quasi-Newton method improves the best of 32 random motions, so this is a
    local optimum. A `SolveError` names base parameters that no such motion shows, such as the damping of a free base.

    See Swevers et al. (1997), "Optimal robot excitation and identification", IEEE Trans. Robot. Autom. 13(5).
    """
    need_robot(robot, "excitation")
    places, harmonics = _single_joints(robot), count(harmonics, "excitation: harmonics")
    duration = positive(duration, "excitation: duration [s]")
    if not 2 <= harmonics <= _MOST_HARMONICS:
        raise ArgumentError(f"excitation: harmonics must be 2 to {_MOST_HARMONICS}, got {harmonics}")
    if not len(places):
        raise ArgumentError(f"excitation: robot '{robot.name}' has no joint of one degree of freedom to move")
    limits = _limits(robot, acceleration_limit, torque_limit)
    _need_room(robot, limits)
    search = _Search(base_parameters(robot, joints), limits, places, duration, harmonics)
    x = _optimised(search, generator(rng, "excitation"), count(rounds, "excitation: rounds"))
    shapes, center = _feasible(search, x[None])
    return _tamed(search, shapes[0], center[0])


# --- joints and limits ------------------------------------------------------------------------------------------------


def _single_joints(robot: Robot) -> np.ndarray:
    """(k, 2) Places in q and v of the joints with one degree of freedom; joints that mimic others are left out."""
    at = robot.layout
    bodies = [i for i in range(len(robot.body_names)) if i not in robot.mimics and len(robot.screw(i)) == 1]
    return np.array([(at.q_start[i], at.v_start[i]) for i in bodies], int).reshape(-1, 2)


def _limits(robot: Robot, acceleration, torque) -> Limits:
    """The limits of the model together with those given.

    The range of a joint with one degree of freedom is cut to one turn or 1 m about its middle.
    """
    lower, upper = robot.lower.copy(), robot.upper.copy()
    for i, kind in enumerate(robot.joint_types):
        if i not in robot.mimics and len(robot.screw(i)) == 1:
            k, width = robot.layout.q_start[i], 1.0 if kind == "prismatic" else 2 * np.pi
            low = lower[k] if np.isfinite(lower[k]) else upper[k] - width if np.isfinite(upper[k]) else -width / 2
            high = upper[k] if np.isfinite(upper[k]) else low + width
            middle, half = (low + high) / 2, min(high - low, width) / 2
            lower[k], upper[k] = middle - half, middle + half
    velocity = np.where(np.isfinite(robot.velocity_limit) & (robot.velocity_limit > 0), robot.velocity_limit, np.pi)
    return Limits(
        lower,
        upper,
        velocity,
        *(_positive(robot, name, x) for name, x in (("acceleration_limit", acceleration), ("torque_limit", torque))),
    )


def _positive(robot: Robot, name: str, value) -> np.ndarray:
    """The limit `name` as positive numbers (nv,), from one number or nv of them."""
    x = floats(value)
    if x.shape not in ((), (robot.nv,)) or not (x > 0).all():
        raise ArgumentError(f"excitation: {name} must be positive, one number or {robot.nv}, got {value!r}")
    return np.broadcast_to(x, (robot.nv,))


def _need_room(robot: Robot, limits: Limits) -> None:
    """Raises an `ArgumentError` if the limits leave a joint no room to move."""
    names = coordinate_names(robot)
    stuck = [names[k] for k in _single_joints(robot)[:, 0] if not limits.upper[k] > limits.lower[k]]
    if stuck:
        raise ArgumentError(
            f"excitation: {', '.join(stuck)} of robot '{robot.name}' has no room: its upper limit is not above its "
            "lower; widen the limits, or make the joint fixed"
        )


def _usage(robot: Robot, limits: Limits, q, v, a) -> dict[str, float]:
    """`Excitation.usage` of a motion at n times."""
    at, dof = _single_joints(robot).T
    middle, half = (limits.upper[at] + limits.lower[at]) / 2, (limits.upper[at] - limits.lower[at]) / 2
    terms = tuple(name for name in JOINT_TERMS if name != "offset")
    tau = regressor(robot, q, v, a, joints=terms) @ parameters(robot, terms)
    used = {
        "position": np.abs(q[:, at] - middle) / np.maximum(half, 1e-300),
        "velocity": np.abs(v[:, dof]) / limits.velocity[dof],
        "acceleration": np.abs(a[:, dof]) / limits.acceleration[dof],
        "torque": np.abs(tau) / limits.torque,
    }
    return {name: float(part.max()) for name, part in used.items() if part.any()}


# --- motions ----------------------------------------------------------------------------------------------------------


def _bases(time: np.ndarray, duration: float, harmonics: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration (n, 2 harmonics) of unit coefficients: all c_k first, then all s_k."""
    w = 2 * np.pi / duration * np.arange(1, harmonics + 1)
    c, s = np.cos(np.outer(time, w)), np.sin(np.outer(time, w))
    return np.hstack([s / w, -c / w]), np.hstack([c, s]), np.hstack([-w * s, w * c])


def _at_rest(harmonics: int) -> np.ndarray:
    """The projector (2 h, 2 h) onto coefficients with Σ c_k = 0 and Σ k s_k = 0, for which v = a = 0 at time 0."""
    k = np.arange(1, harmonics + 1)
    rows = np.zeros((2, 2 * harmonics))
    rows[0, :harmonics], rows[1, harmonics:] = 1 / np.sqrt(harmonics), k / np.linalg.norm(k)
    return np.eye(2 * harmonics) - rows.T @ rows


def _moved(robot: Robot, places: np.ndarray, center, shapes, bases) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (..., n, nq), v and a (..., n, nv) of the coefficients `shapes` (..., k, 2 h) about `center` (..., k)."""
    x, dx, ddx = (basis @ shapes.swapaxes(-1, -2) for basis in bases)
    q = np.tile(neutral(robot), (*x.shape[:-1], 1))
    v, a = np.zeros((2, *x.shape[:-1], robot.nv))
    q[..., places[:, 0]] = center[..., None, :] + x
    v[..., places[:, 1]], a[..., places[:, 1]] = dx, ddx
    return q, v, a


# --- the search -------------------------------------------------------------------------------------------------------


class _Search(NamedTuple):
    """What stays the same while a motion is looked for."""

    base: BaseParameters
    limits: Limits
    places: np.ndarray  # (k, 2) of `_single_joints`
    duration: float
    harmonics: int


def _feasible(search: _Search, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (m, k, 2 h) and centres (m, k) of m motions inside the limits, from any numbers x (m, k (2 h + 1)).

    Each joint's motion is scaled to be as large as its limits of position, velocity and acceleration allow. The last
    number of each joint says where in the remaining range of positions the motion lies.
    """
    (at, dof), limits, h = search.places.T, search.limits, search.harmonics
    x = x.reshape(len(x), len(at), 2 * h + 1)
    shapes = x[..., :-1] @ _at_rest(h)
    bases = _bases(np.linspace(0, search.duration, _CHECKED * h), search.duration, h)
    p, v, a = (basis @ shapes.swapaxes(1, 2) for basis in bases)
    low, high, room = p.min(axis=1), p.max(axis=1), (limits.upper - limits.lower)[at]
    least = np.stack(
        [
            (high - low) / np.maximum(room, 1e-300),
            np.abs(v).max(1) / limits.velocity[dof],
            np.abs(a).max(1) / limits.acceleration[dof],
        ]
    ).max(axis=0)
    scale = _INSIDE / np.maximum(least, 1e-300)
    share = 0.5 + 0.5 * _INSIDE * np.tanh(x[..., -1])
    center = limits.lower[at] - scale * low + share * (room - scale * (high - low))
    return shapes * scale[..., None], center


def _regressors(search: _Search, shapes, center, points: int) -> np.ndarray:
    """The regressors Y (m, points · nv, p) of m motions, with the columns of all parameters."""
    robot = search.base.robot
    time = (np.arange(points) + 0.5) * search.duration / points
    q, v, a = _moved(robot, search.places, center, shapes, _bases(time, search.duration, search.harmonics))
    Y = regressor(robot, q, v, a, joints=search.base.joints)
    return Y.reshape(len(shapes), -1, Y.shape[-1])


def _scores(search: _Search, x: np.ndarray) -> np.ndarray:
    """(m,) What is minimised: -log det YᵀY / b, plus a penalty where the model's torques exceed their limits."""
    base, points = search.base, _SCORED * search.harmonics
    pieces = max(1, round(len(x) * points * base.robot.nv * len(base.names) * 8 / _MEMORY))
    found, pi = [], parameters(base.robot, base.joints)
    for part in np.array_split(x, min(pieces, len(x))):
        Y = _regressors(search, *_feasible(search, part), points)
        excess = np.abs(Y @ pi).reshape(len(part), points, -1) / search.limits.torque - _INSIDE
        Y = Y[..., base.selected] / base.sizes
        volume = np.linalg.slogdet(Y.mT @ Y / Y.shape[1] + 1e-12 * np.eye(base.rank))[1] / base.rank
        found.append(100 * np.mean(np.maximum(excess, 0.0) ** 2, axis=(1, 2)) - volume)
    return np.concatenate(found)


def _optimised(search: _Search, rng: np.random.Generator, rounds: int) -> np.ndarray:
    """The numbers x of `_feasible` for the best motion that was found."""
    h = search.harmonics
    size = np.append(np.tile(1 / np.arange(1, h + 1), 2), 1.0)  # slow harmonics start with larger coefficients
    starts = rng.normal(size=(_STARTS, len(search.places), 2 * h + 1)) * size
    starts = starts.reshape(_STARTS, -1)
    step = 1e-5

    def score_and_slope(x):
        both = _scores(search, np.vstack([x, x + step * np.eye(len(x))]))
        return both[0], (both[1:] - both[0]) / step

    best = starts[np.argmin(_scores(search, starts))]
    if not rounds:
        return best
    return minimize(score_and_slope, best, jac=True, method="L-BFGS-B", options={"maxiter": rounds}).x


def _tamed(search: _Search, shapes: np.ndarray, center: np.ndarray) -> Excitation:
    """The motion, made smaller until the model's torques keep their limits."""
    robot, places, h = search.base.robot, search.places, search.harmonics
    bases = _bases(np.linspace(0, search.duration, _CHECKED * h), search.duration, h)
    for _ in range(60):
        q, v, a = _moved(robot, places, center, shapes, bases)
        if _usage(robot, search.limits, q, v, a).get("torque", 0.0) <= _INSIDE:
            break
        shapes = 0.9 * shapes
    else:
        raise ArgumentError(
            f"excitation: torque_limit {search.limits.torque} is less than holding '{robot.name}' still needs, "
            f"of joints {', '.join(dof_names(robot))}"
        )
    full, middle = np.zeros((robot.nv, 2 * h)), neutral(robot)
    full[places[:, 1]], middle[places[:, 0]] = shapes, center
    condition = _condition(search, shapes, center)
    return Excitation(robot, search.duration, middle, full.reshape(-1, 2, h), condition, search.limits)


def _condition(search: _Search, shapes: np.ndarray, center: np.ndarray) -> float:
    """The condition number of the regressor along the motion; a `SolveError` if some base parameters do not show."""
    base = search.base
    Y = _regressors(search, shapes[None], center[None], _SCORED * search.harmonics)[0][:, base.selected]
    condition, dark = base.dark(triangle(Y))
    if dark:
        raise SolveError(
            f"excitation: {len(dark)} of {base.rank} base parameters of '{base.robot.name}' do not show, or not apart, "
            f"in the motions of its joints of one degree of freedom: {some(dark)}; fewer terms in `joints`, more "
            "harmonics, or a fixed base may help"
        )
    return condition
