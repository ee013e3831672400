"""`adaptive`: the method of Dormand and Prince on the manifold, which takes as many steps as an accuracy asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import while_loop
from ..errors import ArgumentError
from ..model.configuration import integrate
from ..model.input_checks import count, positive
from ..model.robot import Robot
from .group_integrators import Tableau, combined, stages
from .steps import Integrator

__all__ = ["adaptive"]

# Dormand & Prince (1980): the last stage is at the end of the step, so that it is the first one of the next step.
_PAIR = Tableau(
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
)
_FOURTH_ORDER = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)
_ERROR = tuple(b - c for b, c in zip(_PAIR.b, _FOURTH_ORDER, strict=True))
_LEAST = 1e-12  # the shortest step, as a part of the interval: below it the motion has no next state


class _Progress(NamedTuple):
    """The state inside an interval: the time that is done, the motion there, the next step, and the last error."""

    done: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    step: np.ndarray
    error: np.ndarray


class _Memory(NamedTuple):
    """What is carried from interval to interval: the step that was found, and the last error; 0 at the start."""

    step: np.ndarray
    error: np.ndarray


@dataclass(frozen=True)
class _Adaptive:
    """One interval h, in as many steps as the tolerances ask for."""

    rtol: float
    atol: float
    max_steps: int

    def __call__(self, robot: Robot, plant, t, q, v, h, memory: _Memory) -> tuple:
        fresh = memory.step <= 0
        start = _Progress(
            0.0 * h, q, v, plant(t, q, v), np.where(fresh, h, memory.step), np.where(fresh, 1.0, memory.error)
        )

        def goes_on(now: _Progress):
            return (now.done < h) & (now.step > _LEAST * h)

        end = while_loop(goes_on, lambda now: self._try(robot, plant, t, h, now), start, max_iterations=self.max_steps)
        reached = end.done >= h
        q, v = np.where(reached, end.q, np.nan), np.where(reached, end.v, np.nan)
        return q, v, _Memory(end.step, end.error)

    def _try(self, robot: Robot, plant, t, h, now: _Progress) -> _Progress:
        """Try one step; it is taken if its error is at most 1."""
        rest = h - now.done
        last = now.step >= rest
        step = np.where(last, rest, np.minimum(now.step, rest / 2))  # no tiny step is left for the end
        x_rates, v_rates = stages(robot, plant, _PAIR, t + now.done, now.q, now.v, step, now.a)
        x, v = step * combined(_PAIR.b, x_rates), now.v + step * combined(_PAIR.b, v_rates)
        error = self._error(step * combined(_ERROR, x_rates), step * combined(_ERROR, v_rates), now.v, v)
        taken = error <= 1
        size = np.maximum(error, 1e-8)
        # Hairer, Nørsett & Wanner (1993), IV.2: proportional and integral parts, 0.7/5 and 0.4/5
        grown = np.where(taken, 0.9 * size**-0.14 * now.error**0.08, np.minimum(0.9 * size**-0.2, 0.9))
        proposed = step * np.clip(np.where(error >= 0, grown, 0.0), 0.2, 5.0)  # an error that is NaN shortens it
        proposed = np.where(taken & (step < now.step), np.maximum(proposed, now.step), proposed)
        moved = _Progress(
            np.where(last, h, now.done + step), integrate(robot, now.q, x), v, v_rates[-1], proposed, size
        )
        stayed = now._replace(step=proposed)
        return _Progress(*(np.where(taken, new, old) for new, old in zip(moved, stayed, strict=True)))

    def _error(self, x_error, v_error, v, v_new):
        """The largest error, in units of the tolerances; 1 rad and 1 m are what errors of q are compared with."""
        of_x = np.abs(x_error) / (self.atol + self.rtol)
        of_v = np.abs(v_error) / (self.atol + self.rtol * np.maximum(np.abs(v), np.abs(v_new)))
        errors = np.concatenate([np.zeros(1), of_x, of_v])
        return np.sqrt(np.sum(errors * errors) / (len(errors) - 1))


def _nothing_known(robot: Robot) -> _Memory:
    return _Memory(np.zeros(()), np.zeros(()))


def adaptive(rtol: float = 1e-8, atol: float = 1e-10, max_steps: int = 1000) -> Integrator:
    """The integrator of Dormand & Prince, order 5(4), which divides every interval dt of `simulate` as it must.

    A step is taken if the root mean square of its estimated errors is at most 1, in units of atol + rtol for
    configurations [rad, m] and atol + rtol |v| for velocities. Every run of a batch has steps of its own, whose size is
    kept from interval to interval. The state of a run becomes NaN if an interval takes more than `max_steps` trials, or
    steps of less than 1e-12 dt: its accelerations are not finite then, or stiff, for which "implicit" is made, or dt is
    too long for the tolerances. A PUMA that swings freely takes more than 1000 trials in dt = 10 s at tolerances of
    1e-12: then a shorter dt helps, such as 1 s, or a larger `max_steps`.

        >>> accurate = aj.simulation.adaptive(rtol=1e-10, atol=1e-12)
        >>> run = aj.simulation.simulate(robot, q=q, v=v, duration=0.1, dt=0.05, integrator=accurate)

    Configurations move as in `rkmk4`. Derivatives of a run are `jvp` only. Reference: Dormand & Prince (1980), J.
    Comput. Appl. Math. 6.
    """
    rtol, atol = positive(rtol, "adaptive: rtol"), positive(atol, "adaptive: atol")
    if count(max_steps, "adaptive: max_steps") == 0:
        raise ArgumentError("adaptive: max_steps must be 1 or more")
    return Integrator(_Adaptive(rtol, atol, max_steps), 5, _nothing_known)
