"""What stands between a law and a robot: limits, sampling, delay, counts, noise and filters, each a law around a law.

They are put around each other in any order; **what is outermost is nearest to the robot**. Measurements go from the
outside in, joint forces from the inside out:

    law = control.pd(goal, kp=100.0, kd=20.0)
    law = control.low_pass(law, 300.0, of="velocity", period=0.001, robot=robot)    # a filter in the program
    law = control.quantised(law, position=1e-4)                                     # counts of the encoders
    law = control.saturated(law, 50.0)                                              # what the motors can do

Numbers of all of them are numbers of the law, such as `torque_limit`, for `Law.replace`. What counts instants (delays,
filters, limits of rates) has one number `period` [s] together: the time between two instants. The state of a law
around a law is a pair: its own, one of the NamedTuples below, or None, and that of the law inside; `state_of` finds one
of them by its type, also in `Run.state`.

Some need to know how many joints there are: that is the law's `model`, or `robot`, which becomes its model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.configuration import difference, integrate, neutral
from ..model.input_checks import count, one_of
from ..model.robot import Robot
from ..randomness import Rng, batch_shape, rng_by_keyword
from .gains import fit_joints
from .laws import Law, Wrapped, wrapped
from .random_numbers import normals, random_state
from .wrapping import chosen, joint_numbers, model_of, per_period, with_model

__all__ = [
    "Delayed",
    "Drawing",
    "Filtered",
    "Held",
    "Ramped",
    "delayed",
    "low_pass",
    "noisy",
    "quantised",
    "rate_limited",
    "sampled",
    "saturated",
]

_EPSILON = 2.0**-52
_NEARLY = 2.0**-26  # of a period: an instant that is this near counts as reached

# --- limits -----------------------------------------------------------------------------------------------------------


def saturated(law: Law, limit=None, *, lower=None, upper=None) -> Law:
    """The law with joint forces between -limit and limit, or between `lower` and `upper` [N m, N].

    Each is a number or (nv,); an infinite one is no limit. Without any, the limits are the robot's `effort_limit`. The
    law's new numbers are `torque_limit`, or `torque_lower` and `torque_upper`.

        >>> weak = saturated(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 5.0)
        >>> bool(np.all(np.abs(weak(robot, None, 0.0, q, v).tau) <= 5.0))
        True
    """
    model = model_of(law, "saturated")
    if lower is None and upper is None:
        limit = None if limit is None else joint_numbers(limit, "saturated: limit", model, or_zero=True, endless=True)
        return wrapped(law, _within_limit, name="saturated", torque_limit=limit)
    if limit is not None or lower is None or upper is None:
        raise ArgumentError("saturated: give a limit, or both lower and upper, or none of them")
    lower, upper = (
        joint_numbers(x, f"saturated: {name}", model, signed=True, endless=True)
        for name, x in (("lower", lower), ("upper", upper))
    )
    if not np.all(lower <= upper):
        raise ArgumentError(f"saturated: lower {lower.tolist()} is above upper {upper.tolist()}")
    return wrapped(law, _within_bounds, name="saturated", torque_lower=lower, torque_upper=upper)


def _within_limit(inside, robot, p, state, t, q, v, reference):
    fit_joints(robot, p, "saturated", "torque_limit")
    tau, inner = inside(state[1], t, q, v, reference)
    limit = robot.effort_limit if p.torque_limit is None else p.torque_limit
    if p.torque_limit is None and np.isinf(limit).all():
        raise ArgumentError(f"saturated: robot '{robot.name}' has no effort limits; give the limit")
    return np.minimum(np.maximum(tau, -limit), limit), (None, inner)


def _within_bounds(inside, robot, p, state, t, q, v, reference):
    fit_joints(robot, p, "saturated", "torque_lower", "torque_upper")
    tau, inner = inside(state[1], t, q, v, reference)
    return np.minimum(np.maximum(tau, p.torque_lower), p.torque_upper), (None, inner)


class Ramped(NamedTuple):
    """The state of `rate_limited`: the joint forces tau (nv,) of the last instant."""

    tau: Any


def rate_limited(law: Law, rate, period=None, *, robot: Robot | None = None) -> Law:
    """The law with joint forces that change by no more than `rate` · period [N m, N] from instant to instant.

    `rate` [N m/s, N/s] is a number or (nv,), the law's new number `torque_rate`. The joint forces start from 0.

        >>> soft = rate_limited(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 1000.0, 0.001, robot=robot)
        >>> bool(np.all(np.abs(soft(robot, None, 0.0, q, v).tau) <= 1.0))
        True
    """
    law, model = with_model(law, robot, "rate_limited")
    rate = joint_numbers(rate, "rate_limited: rate", model)
    start, more = Ramped(np.zeros(model.nv)), per_period(law, period, "rate_limited")
    return wrapped(law, _ramp, state=start, name="rate_limited", torque_rate=rate, **more)


def _ramp(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    tau, inner = inside(inner, t, q, v, reference)
    most = p.torque_rate * p.period
    tau = own.tau + np.minimum(np.maximum(tau - own.tau, -most), most)
    return tau, (Ramped(tau), inner)


# --- time -------------------------------------------------------------------------------------------------------------


class Held(NamedTuple):
    """The state of `sampled`: the joint forces tau (nv,) that are held, and the number of the instant they are from."""

    tau: Any
    instant: Any


def sampled(law: Law, period=None, *, robot: Robot | None = None) -> Law:
    """The law asked every `period` seconds, at t = 0, period, 2 period, ..., with joint forces held in between.

    It may be asked more often, at any times; each time instant k begins with the first question at or after
    t = k · period. A question that is early by rounding counts as in time: by 2⁻²⁶ of a period, or by four times the
    float spacing of t. A law with a number `period` needs none here.

        >>> slow = sampled(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 0.004, robot=robot)
        >>> first = slow(robot, None, 0.0, q, v)
        >>> bool(np.all(slow(robot, first.state, 0.003, 0 * q, v).tau == first.tau))
        True
    """
    law, model = with_model(law, robot, "sampled")
    start = Held(np.zeros(model.nv), -np.inf)
    return wrapped(law, _hold, state=start, name="sampled", **per_period(law, period, "sampled"))


def is_held(law: Law) -> bool:
    """Whether `sampled` is in the stack that a law is."""
    function = law.parts.function
    while isinstance(function, Wrapped):
        if function.outer is _hold:
            return True
        function = function.inner
    return False


def _hold(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    instant = np.floor(t / p.period * (1 + 4 * _EPSILON) + _NEARLY)
    tau, new = inside(inner, t, q, v, reference)
    asked = instant != own.instant
    own = Held(np.where(asked, tau, own.tau), instant)
    return own.tau, (own, chosen(asked, new, inner))


class Delayed(NamedTuple):
    """The state of `delayed`: what is on its way, oldest first, `line` (steps, n), and whether there is anything."""

    line: Any
    started: Any


def delayed(law: Law, steps: int, period=None, *, of: str = "torque", robot: Robot | None = None) -> Law:
    """The law with its joint forces, or the measurements that it gets, late by so many instants.

    `of` is "torque" or "measurement". Until the first joint forces arrive, they are 0. Until the first measurement
    arrives, the law gets it at once. The delay is fixed in the machine code; the time between instants is the number
    `period` [s].

        >>> late = delayed(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 2, 0.001, robot=robot)
        >>> late(robot, None, 0.0, q, v).tau
        array([0., 0., 0., 0., 0., 0.])
    """
    law, model = with_model(law, robot, "delayed")
    steps = count(steps, "delayed: steps")
    if steps == 0:
        raise ArgumentError("delayed: steps is 0; a law that is not late needs no delay")
    sizes = {"torque": model.nv, "measurement": model.nq + model.nv}
    one_of(of, sizes, "delayed: of")
    start, more = Delayed(np.zeros((steps, sizes[of])), 0.0), per_period(law, period, "delayed")
    return wrapped(law, _late_torque if of == "torque" else _late_measurement, state=start, name="delayed", **more)


def _late_torque(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    tau, inner = inside(inner, t, q, v, reference)
    line = np.concatenate([own.line, tau[None]])
    return line[0], (Delayed(line[1:], 1.0), inner)


def _late_measurement(inside, robot, p, state, t, q, v, reference):
    own, inner = state
    now = np.concatenate([q, v])
    line = np.concatenate([np.where(own.started > 0, own.line, now), now[None]])
    tau, inner = inside(inner, t, line[0][: robot.nq], line[0][robot.nq :], reference)
    return tau, (Delayed(line[1:], 1.0), inner)


# --- counts and noise -------------------------------------------------------------------------------------------------


def quantised(law: Law, *, position=None, velocity=None, torque=None) -> Law:
    """The law with measurements in counts of encoders, and joint forces in counts of an amplifier.

    Values are rounded to the nearest multiple of a resolution, which is a number or (nv,): `position` [rad, m],
    `velocity` [rad/s, m/s], `torque` [N m, N]. What has none is not rounded. The law's new numbers are
    `position_resolution`, and so on. Orientations and poses are rounded in exponential coordinates.

        >>> coarse = quantised(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), position=2 * np.pi / 4096, torque=0.1)
    """
    given = {"position": position, "velocity": velocity, "torque": torque}
    return wrapped(law, _counted, name="quantised", **_given_numbers(law, given, "resolution", "quantised"))


def _counted(inside, robot, p, state, t, q, v, reference):
    fit_joints(robot, p, "quantised", "position_resolution", "velocity_resolution", "torque_resolution")
    if p.position_resolution is not None:
        home = neutral(robot)
        q = integrate(robot, home, _rounded(difference(robot, home, q), p.position_resolution))
    tau, inner = inside(state[1], t, q, _rounded(v, p.velocity_resolution), reference)
    return _rounded(tau, p.torque_resolution), (None, inner)


def _rounded(x, resolution):
    return x if resolution is None else resolution * np.floor(x / resolution + 0.5)


class Drawing(NamedTuple):
    """The state of `noisy`: the state `random` (6,) of its generator; see `random_state`."""

    random: Any


@rng_by_keyword
def noisy(
    law: Law, *, position=None, velocity=None, torque=None, shape: int | tuple[int, ...] = (), rng: Rng = None
) -> Law:
    """The law with normally distributed noise of mean 0 on its measurements and its joint forces.

    Standard deviations are numbers or (nv,): `position` [rad, m], `velocity` [rad/s, m/s], `torque` [N m, N]. What has
    none has no noise. The law's new numbers are `position_noise`, and so on. New noise is drawn whenever the law is
    asked: for a sensor that is read every period, put `sampled` around it. With a `shape`, there is a batch of so many
    laws with independent noise. The same seed `rng` gives the same noise.

        >>> shaky = noisy(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), velocity=0.01, shape=1000, rng=7)
        >>> shaky(robot, None, 0.0, q, v).tau.shape
        (1000, 6)
    """
    given = {"position": position, "velocity": velocity, "torque": torque}
    numbers = _given_numbers(law, given, "noise", "noisy")
    found = wrapped(law, _shaken, state=Drawing(np.ones(6)), name="noisy", **numbers)
    return found.replace(state=(Drawing(random_state(batch_shape(shape, "noisy"), rng=rng)), law.state))


def _shaken(inside, robot, p, state, t, q, v, reference):
    fit_joints(robot, p, "noisy", "position_noise", "velocity_noise", "torque_noise")
    (random,), inner = state
    if p.position_noise is not None:
        x, random = normals(random, robot.nv)
        q = integrate(robot, q, p.position_noise * x)
    if p.velocity_noise is not None:
        x, random = normals(random, robot.nv)
        v = v + p.velocity_noise * x
    tau, inner = inside(inner, t, q, v, reference)
    if p.torque_noise is not None:
        x, random = normals(random, robot.nv)
        tau = tau + p.torque_noise * x
    return tau, (Drawing(random), inner)


# --- filters ----------------------------------------------------------------------------------------------------------


class Filtered(NamedTuple):
    """The state of `low_pass`: the filtered `value` (nv,), and whether there is one."""

    value: Any
    started: Any


def low_pass(law: Law, cutoff, period=None, *, of: str = "torque", robot: Robot | None = None) -> Law:
    """The law with a low-pass filter of first order on its joint forces, or on the velocity that it gets.

    `of` is "torque" or "velocity", and `cutoff` ω [rad/s], a number or (nv,), becomes the law's number `torque_cutoff`
    or `velocity_cutoff`. The filter y ← y + (1 - exp(-ω period)) (x - y) has the pole of 1 / (1 + s/ω), exactly; it
    starts at rest, at its first input.

        >>> smooth = low_pass(aj.control.pd(np.zeros(6), kp=100.0, kd=20.0), 300.0, 0.001, of="velocity", robot=robot)
    """
    law, model = with_model(law, robot, "low_pass")
    function = {"torque": _smooth_torque, "velocity": _smooth_velocity}
    one_of(of, function, "low_pass: of")
    numbers = {f"{of}_cutoff": joint_numbers(cutoff, "low_pass: cutoff", model)}
    numbers |= per_period(law, period, "low_pass")
    return wrapped(law, function[of], state=Filtered(np.zeros(model.nv), 0.0), name="low_pass", **numbers)


def _smooth_torque(inside, robot, p, state, t, q, v, reference):
    tau, inner = inside(state[1], t, q, v, reference)
    own = _filtered(state[0], tau, p.torque_cutoff * p.period)
    return own.value, (own, inner)


def _smooth_velocity(inside, robot, p, state, t, q, v, reference):
    own = _filtered(state[0], v, p.velocity_cutoff * p.period)
    tau, inner = inside(state[1], t, q, own.value, reference)
    return tau, (own, inner)


def _filtered(own: Filtered, x, angle) -> Filtered:
    """The state of the filter after the input x (nv,); `angle` is ω · period."""
    step = np.where(own.started > 0, 1 - np.exp(-angle), 1.0)
    return Filtered(own.value + step * (x - own.value), 1.0)


def _given_numbers(law: Law, given: dict[str, Any], suffix: str, caller: str) -> dict[str, np.ndarray | None]:
    """The numbers position_<suffix>, ... of what is given; None for what is not."""
    model = model_of(law, caller)
    if all(x is None for x in given.values()):
        raise ArgumentError(f"{caller}: give one of {', '.join(given)}")
    return {
        f"{name}_{suffix}": None if x is None else joint_numbers(x, f"{caller}: {name}", model)
        for name, x in given.items()
    }
