"""`ilqr`: motions of least cost by iterative linear quadratic regulators, or by differential dynamic programming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...control.assembled import parted
from ...dynamics.newton_euler import inverse_dynamics
from ...errors import ArgumentError, SolveError
from ...model.input_checks import count, floats, positive, truth, vectors
from ...model.needs import need_robot
from ...model.robot import Robot
from ..integrators import Integrator, integrator_named
from .passes import Backward, Forward, backward_kernel, forward_kernel
from .problem import ShootingPlan, slope_kernel
from .solution import OptimalMotion

__all__ = ["ilqr"]

SHORTER = np.array([0.5, 0.25, 0.125, 0.06, 0.03, 0.01, 0.003, 0.001])  # lengths of steps, if that of 1 does not do
SUFFICIENT = 1e-4  # of the decrease that a step promises (Armijo's rule)
LEAST, FIRST, MOST = 1e-6, 1e-3, 1e9  # the weight of the penalty on steps: below LEAST it is 0, above MOST we give up
NEARLY_FREE = 1e-3  # a step with less penalty than this is long enough to judge convergence by it


def ilqr(
    robot: Robot, cost: Callable, final: Callable | None = None, *, q, v=None, tau=None, steps: int, dt: float,
    limits=None, integrator: str | Integrator = "semi_implicit", second_order: bool = False, iterations: int = 300,
    tolerance: float = 1e-10, **parameters,
) -> OptimalMotion:  # fmt: skip
    """Find joint forces that move a robot from (q, v) at least cost: Σ cost(robot, p, t, q, v, tau) dt + final.

    The costs are NumPy functions of one instant, which are traced; p has the parameters, `p.goal`:

        >>> from adjoint.simulation import ilqr
        >>> def effort(robot, p, t, q, v, tau):
        ...     return p.r * tau @ tau
        >>> def miss(robot, p, t, q, v):
        ...     e = aj.difference(robot, q, p.goal)
        ...     return 1e3 * e @ e + 10 * v @ v
        >>> motion = ilqr(robot, effort, miss, q=q, steps=50, dt=0.01, goal=q + 0.2, r=1e-4)
        >>> bool(motion.success), motion.tau.shape
        (True, (50, 6))

    Parameters
    ----------
    q, v
        The state at the start, (..., nq) and (..., nv), at rest by default. Leading axes are a batch of problems, which
        are solved together, each on its own.
    tau
        The joint forces to start the search with: (..., steps, nv), or (..., nv) for all steps. By default they are
        those that hold the first configuration against gravity.
    limits
        The largest joint forces |τ|: a number or (nv,); or (2, nv) for the least and the largest ones. A joint whose
        limits are equal has no motor: the elbow alone moves an acrobot with limits=[0, 5].
    integrator
        The motion of a step of `dt` seconds, in which joint forces are held, as in `simulate`.
    second_order
        Whether the curvature of the dynamics counts: this is differential dynamic programming, which takes fewer and
        slower iterations. The derivatives of the costs, first and second, are always exact.
    tolerance
        The search has converged when the next iteration promises to lower the cost by less than this part of it.
    parameters
        Numbers and arrays are inputs of the machine code: other values need no new code, but they are not batches.

    W. Li, E. Todorov (2004); D. Mayne (1966); limits as in Y. Tassa, N. Mansard, E. Todorov, Control-limited
    differential dynamic programming (2014). In each step of the search the gains come from one kernel, and motions with
    steps of several lengths from another, in parallel.
    """
    need_robot(robot, "ilqr")
    dt, steps = positive(dt, "ilqr: dt"), count(steps, "ilqr: steps")
    if steps == 0:
        raise ArgumentError("ilqr: steps must be 1 or more")
    tolerance, iterations = positive(tolerance, "ilqr: tolerance"), count(iterations, "ilqr: iterations")
    lower, upper = _limits(robot, limits)
    motors = tuple(int(i) for i in np.flatnonzero(lower < upper))
    if not motors:
        raise ArgumentError("ilqr: limits leave no joint force to choose; they are equal for all joints")
    parts, numbers = parted(cost, parameters, "ilqr")
    if final is not None and not callable(final):
        raise ArgumentError(f"ilqr: final must be a function; got {type(final).__name__}")
    chosen = list(motors)
    boxed = bool(np.isfinite(lower[chosen]).any() or np.isfinite(upper[chosen]).any())
    plan = ShootingPlan(
        robot, parts, final, _integrator(robot, integrator), motors, boxed, truth(second_order, "ilqr: second_order")
    )
    common = {f"p_{k}": x for k, x in numbers.items()}
    common |= {"dt": np.array(dt), "passive": np.where(lower < upper, 0.0, lower)}
    problem = _Problem(plan, common, lower[chosen], upper[chosen], np.arange(steps + 1) * dt)
    batch, now = _start(problem, q, v, tau)
    return _solution(problem, batch, _search(problem, now, iterations, tolerance))


def _limits(robot: Robot, limits) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest joint forces (nv,)."""
    if limits is None:
        return np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf)
    x = floats(limits)
    if x.ndim < 2 and x.shape in ((), (robot.nv,)):
        x = np.stack([np.full(robot.nv, -x), np.full(robot.nv, x)])
    if x.shape != (2, robot.nv) or not np.all(x[0] <= x[1]):
        raise ArgumentError(
            f"ilqr: limits must be a number, ({robot.nv},), or (2, {robot.nv}) with the least and the largest joint "
            f"forces; got {np.asarray(limits).tolist()!r:.80}"
        )
    return x[0], x[1]


def _integrator(robot: Robot, integrator) -> Integrator:
    found = integrator_named(integrator, "ilqr")
    if found.memory(robot) is not None:
        raise ArgumentError(f"ilqr: integrator {integrator!r} needs earlier steps; choose one of single steps")
    return found


# --- the search -------------------------------------------------------------------------------------------------------


class _Problem(NamedTuple):
    """A problem: what its machine code depends on, and its numbers."""

    plan: ShootingPlan
    common: dict[str, np.ndarray]
    lower: np.ndarray
    upper: np.ndarray
    t: np.ndarray

    @property
    def box(self) -> dict[str, np.ndarray]:
        """The limits, as inputs of kernels."""
        return {"lower": self.lower, "upper": self.upper}


class _Motions(NamedTuple):
    """Motions of B problems: q (B, N + 1, nq), v (B, N + 1, nv), the motors' forces u (B, N, m), and costs (B,)."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    cost: np.ndarray


def _start(problem: _Problem, q, v, tau) -> tuple[tuple[int, ...], _Motions]:
    """The leading axes of all problems, and the motions that the search starts with."""
    robot, steps, motors = problem.plan.robot, len(problem.t) - 1, list(problem.plan.motors)
    q = vectors(q, robot.nq, "q", "ilqr")
    v = vectors(np.zeros(robot.nv) if v is None else v, robot.nv, "v", "ilqr")
    still = np.zeros(robot.nv)
    tau = inverse_dynamics(robot, q, still, still) if tau is None else vectors(tau, robot.nv, "tau", "ilqr")
    rows = tau.ndim > 1 and tau.shape[-2] == steps and tau.shape[:-1] != q.shape[:-1]
    tau = tau if rows else tau[..., None, :]
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], tau.shape[:-2])
        tau = np.broadcast_to(tau, (*batch, steps, robot.nv))
    except ValueError:
        raise ArgumentError(f"ilqr: shapes of q {q.shape}, v {v.shape} and tau {tau.shape} do not match") from None
    for name, x in (("q", q), ("v", v), ("tau", tau)):
        if not np.isfinite(x).all():
            raise ArgumentError(f"ilqr: {name} contains NaN or infinity")
    size = int(np.prod(batch, dtype=int))
    q = np.repeat(np.broadcast_to(q, (*batch, robot.nq)).reshape(size, 1, -1), steps + 1, axis=1)
    v = np.repeat(np.broadcast_to(v, (*batch, robot.nv)).reshape(size, 1, -1), steps + 1, axis=1)
    u = np.clip(tau[..., motors], problem.lower, problem.upper).reshape(size, steps, -1)
    idle = Backward(np.zeros_like(u), np.zeros((*u.shape, problem.plan.n)), *np.zeros((3, size)))
    found = _rolled_out(problem, _Motions(q, v, u, np.zeros(size)), idle, np.zeros(1))
    if not np.isfinite(found.cost).any():
        raise SolveError("ilqr: the cost of the motion under the first joint forces is not finite; give other ones")
    return batch, _Motions(*(x[:, 0] for x in found))


def _rolled_out(problem: _Problem, now: _Motions, gains: Backward, lengths: np.ndarray) -> _Motions:
    """The motions (B, A, ...) for steps of A lengths."""
    # One problem is called without its axis, so that lengths alone are lanes.
    each = (lambda x: x[0]) if len(now.cost) == 1 and len(lengths) == 1 else lambda x: x[:, None]
    found = forward_kernel(problem.plan)(
        t=problem.t[:-1], q=each(now.q[:, :-1]), v=each(now.v[:, :-1]), u=each(now.u), k=each(gains.k), K=each(gains.K),
        q_start=each(now.q[:, 0]), v_start=each(now.v[:, 0]), t_end=problem.t[-1], **problem.common,
        alpha=lengths[0] if len(now.cost) == len(lengths) == 1 else lengths, **(problem.box if problem.plan.boxed else {}),
    )  # fmt: skip
    shape = len(now.cost), len(lengths)
    after = Forward(
        *(np.reshape(x, (*shape, *np.shape(x)[np.ndim(x) - k :])) for x, k in zip(found, (2, 2, 2, 0), strict=True))
    )
    first = (np.broadcast_to(x[:, None, :1], (*shape, 1, x.shape[-1])) for x in (now.q, now.v))
    q, v = (np.concatenate([a, b], axis=2) for a, b in zip(first, after[:2], strict=True))
    return _Motions(q, v, after.u, after.cost)


def _gains(problem: _Problem, now: _Motions, mu: np.ndarray) -> Backward:
    """The gains for B motions, with penalties mu (B,) on their steps."""
    plan = problem.plan
    instant = {"t": problem.t[:-1], "q": now.q[:, :-1], "v": now.v[:, :-1], "u": now.u, "q_next": now.q[:, 1:]}
    slopes = slope_kernel(plan).packed(**instant, **problem.common)._asdict()
    rows = {k: x for k, x in slopes.items() if x.shape[-1]} | (instant if plan.second_order else {"u": now.u})
    rows |= {"q_end": now.q[:, -1], "v_end": now.v[:, -1], "mu": mu}
    found = _backward(problem, rows, {"bending": 1.0} if plan.second_order else {})
    bad = ~np.isfinite(found.slope)
    if plan.second_order and bad.any():  # without the curvature of the dynamics, the cost to go stays convex
        rows = {k: x if k == "t" else x[bad] for k, x in rows.items()}
        return _merged(found, _backward(problem, rows, {"bending": 0.0}), np.flatnonzero(bad), np.ones(bad.sum(), bool))
    return found


def _backward(problem: _Problem, rows: dict[str, np.ndarray], weights: dict[str, float]) -> Backward:
    """The backward pass of B motions; one alone is called without its axis."""
    one = len(rows["mu"]) == 1
    if one:
        rows = {k: x if k == "t" else x[0] for k, x in rows.items()}
    found = backward_kernel(problem.plan)(**rows, **weights, t_end=problem.t[-1], **problem.box, **problem.common)
    return Backward(*(np.asarray(x)[None] for x in found)) if one else found


class _Ended(NamedTuple):
    """What the search has found: the last motions, their gains, the costs (B, iterations + 1), and how it ended."""

    now: _Motions
    gains: Backward
    history: np.ndarray
    success: np.ndarray
    iterations: np.ndarray


def _search(problem: _Problem, now: _Motions, iterations: int, tolerance: float) -> _Ended:
    size = len(now.cost)
    mu, success, taken = np.zeros(size), np.zeros(size, bool), np.zeros(size, int)
    kept = _gains(problem, now, mu)
    history, going = [now.cost], np.isfinite(now.cost)
    for _ in range(iterations):
        at = np.flatnonzero(going)
        part = _Motions(*(x[at] for x in now)) if len(at) < size else now
        gains = _gains(problem, part, mu[at])
        promised = -(gains.slope + gains.bend / 2)
        ended = (promised <= tolerance * np.abs(part.cost)) & (mu[at] <= NEARLY_FREE)
        ended |= promised == 0.0
        success[at] |= ended
        kept = _merged(kept, gains, at, np.isfinite(promised))
        new, length = _better(problem, part, gains, ~ended & np.isfinite(promised))
        now = _merged(now, new, at, length > 0)
        mu[at] = _penalties(mu[at], length)
        taken[at[~ended]] += 1
        going[at] = ~ended & (mu[at] <= MOST)
        if not going.any():
            break
        history.append(now.cost)
    return _Ended(now, kept, np.stack(history, axis=-1), success, taken)


def _merged(old, new, at: np.ndarray, good: np.ndarray):
    """The records `old`, with the rows `at` replaced by those of `new` that are good."""
    if len(at) == len(good) == len(old[-1]) and good.all():
        return new
    found = type(old)(*(x.copy() for x in old))
    for x, y in zip(found, new, strict=True):
        x[at[good]] = y[good]
    return found


def _penalties(mu: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The weights of the penalty after steps of these lengths; 0 is a step that was not taken."""
    factor = np.select([length == 0, length < 0.2, length < 0.5], [10.0, 3.0, 1.0], 0.2)
    found = np.where(factor > 1, np.maximum(factor * mu, FIRST), factor * mu)
    return np.where(found < LEAST, 0.0, found)


def _better(problem: _Problem, now: _Motions, gains: Backward, wanted: np.ndarray) -> tuple[_Motions, np.ndarray]:
    """Motions of lower cost where wanted, and the lengths (B,) of their steps, 0 where there is none.

    A whole step is tried first; then several shorter ones at once, of which the best counts.
    """
    length = np.zeros(len(now.cost))
    for lengths in (np.ones(1), SHORTER):
        at = np.flatnonzero(wanted & (length == 0))
        if len(at) == 0:
            break
        part, own = (type(x)(*(y[at] for y in x)) for x in (now, gains))
        found = _rolled_out(problem, part, own, lengths)
        promised = own.slope[:, None] * lengths + own.bend[:, None] * lengths**2 / 2
        good = found.cost <= part.cost[:, None] + SUFFICIENT * promised
        best = np.argmin(np.where(good, found.cost, np.inf), axis=1)
        rows = np.arange(len(at)), best
        now = _merged(now, _Motions(*(x[rows] for x in found)), at, good[rows])
        length[at] = np.where(good[rows], lengths[best], 0.0)
    return now, length


def _solution(problem: _Problem, batch: tuple[int, ...], ended: _Ended) -> OptimalMotion:
    """The result, with the leading axes of the problems."""
    plan, motors, size = problem.plan, list(problem.plan.motors), len(ended.success)
    steps = len(problem.t) - 1
    tau = np.tile(problem.common["passive"], (size, steps, 1))
    tau[..., motors] = ended.now.u
    K = np.zeros((size, steps, plan.robot.nv, plan.n))
    K[..., motors, :] = -ended.gains.K
    shaped: list[Any] = [
        x.reshape((*batch, *x.shape[1:]))
        for x in (
            ended.now.q, ended.now.v, tau, K, ended.now.cost, ended.history, ended.gains.gradient, ended.success,
            ended.iterations,
        )
    ]  # fmt: skip
    return OptimalMotion(plan.robot, float(problem.common["dt"]), problem.t, *shaped)
