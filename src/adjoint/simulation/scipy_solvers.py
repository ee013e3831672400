"""`scipy_run`: a run by SciPy's solvers of ordinary differential equations, stiff ones among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..dynamics.closed_loops import Loop
from ..errors import ArgumentError, SolveError
from ..model.configuration import integrate, neutral
from ..model.input_checks import one_of, positive, vectors
from ..model.robot import Robot
from .advance import Moment
from .configuration_rate import configuration_rates
from .forces import Change, Force
from .integrators import SCIPY_METHODS
from .rollouts import NEVER, instant_kernel
from .running import steps_of
from .runs import Run
from .setups import Setup, Surroundings, set_up

__all__ = ["scipy_run"]


def scipy_run(
    robot: Robot, controller=None, *, q=None, v=None, duration, dt, method: str = "Radau", rtol: float = 1e-8,
    atol: float = 1e-10, forces: Sequence[Force] | Force = (), changes: Sequence[Change] | Change = (),
    loops: Sequence[Loop] | Loop = (), base: Change | None = None, lift: Mapping[str, Any] | None = None,
) -> Run:  # fmt: skip
    """The run of `simulate`, for one robot, by a method of `scipy.integrate.solve_ivp`; states are kept every dt.

    `method` is "RK23", "RK45", "DOP853", or, for stiff equations, "Radau", "BDF" or "LSODA". The controller is asked
    continuously: its joint forces are not held, as if its period were 0. So it must be a law without a state. Other
    arguments are those of `simulate`.

        >>> run = scipy_run(robot, q=q, v=v, duration=0.1, dt=0.05, method="DOP853")

    The state is (q, v), with quaternions as four numbers, whose length is 1 again where states are kept.
    """
    one_of(method, SCIPY_METHODS, "scipy_run: method")
    tolerances = {"rtol": positive(rtol, "scipy_run: rtol"), "atol": positive(atol, "scipy_run: atol")}
    setup = set_up(robot, controller, dt, "semi_implicit", 1, Surroundings(forces, changes, loops, base, lift))
    if setup.plan.state.tree is not None:
        raise ArgumentError("scipy_run: the law has a state, which changes from instant to instant; take simulate")
    q = vectors(neutral(robot) if q is None else q, robot.nq, "q", "scipy_run")
    v = vectors(np.zeros(robot.nv) if v is None else v, robot.nv, "v", "scipy_run")
    if lead := q.shape[:-1] or v.shape[:-1] or setup.batch():
        raise ArgumentError(f"scipy_run: there are leading axes {lead}; SciPy's solvers take one run, simulate a batch")
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        raise ArgumentError("scipy_run: q and v must be finite numbers")
    t = np.arange(steps_of(positive(duration, "scipy_run: duration"), setup) + 1) * setup.dt
    y = _solution(setup, t, np.concatenate([q, v]), method, tolerances)
    q = integrate(robot, y[:, : robot.nq], np.zeros(robot.nv))
    v = y[:, robot.nq :].copy()
    return Run(setup, t, q, v, None, Moment(len(t) - 1, q[-1], v[-1], [], {"stopped": np.array(NEVER)}), {})


def _solution(setup: Setup, t: np.ndarray, start: np.ndarray, method: str, tolerances: dict) -> np.ndarray:
    """The states (N, nq + nv) at times t."""
    from scipy.integrate import solve_ivp

    robot, instant, sampled = setup.robot, instant_kernel(setup.plan), setup.plan.reference == "sampled"

    def rates(time: float, y: np.ndarray) -> np.ndarray:
        q, v = y.T[..., : robot.nq], y.T[..., robot.nq :]  # several columns, where SciPy wants differences
        reference = {k: x[0] if sampled else x for k, x in setup.reference(np.array([time]), None).items()}
        a = instant(q=q, v=v, t=time, **setup.numbers, **reference).a
        return np.concatenate([configuration_rates(robot, q, v), a], axis=-1).T

    try:
        found = solve_ivp(rates, (t[0], t[-1]), start, method, t_eval=t, vectorized=True, **tolerances)
    except ValueError as error:  # numbers that are not finite, inside of SciPy
        raise SolveError(f"scipy_run: {method} found no motion: {error}") from None
    if not found.success or not np.isfinite(found.y).all():  # LSODA calls NaN a success
        last = found.t[np.isfinite(found.y).all(axis=0)].max(initial=0.0)
        raise SolveError(f"scipy_run: {method} found no motion after t = {last:g} s: {found.message}")
    return found.y.T
