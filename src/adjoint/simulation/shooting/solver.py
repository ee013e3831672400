"""`ilqr`: motions of least cost by iterative linear quadratic regulators, or by differential dynamic programming."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...control.assembled import Parts, parted, with_numbers
from ...dynamics.newton_euler import inverse_dynamics
from ...errors import ArgumentError, SolveError
from ...model.input_checks import count, floats, positive, truth, vectors
from ...model.needs import need_robot
from ...model.robot import Robot
from ..integrators import Integrator, integrator_named
from .alone import search_alone
from .passes import Backward, Forward
from .problem import ShootingPlan
from .search import Ended, Problems, kernels, rolled_out, search
from .solution import OptimalMotion

__all__ = ["ilqr"]


def ilqr(
    robot: Robot, cost: Callable, final: Callable | None = None, *, q, v=None, tau=None, steps: int, dt: float,
    limits=None, integrator: str | Integrator = "semi_implicit", second_order: bool = False, iterations: int = 300,
    tolerance: float = 1e-10, batch: Mapping[str, Any] | None = None, **parameters,
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
        The joint forces to start the search with: (..., steps, nv), or (nv,) for all steps. By default they are those
        that hold the first configuration against gravity.
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
        Numbers and arrays are inputs of the machine code: other values need no new code. The rest is fixed in it.
    batch
        Numbers among the parameters that differ from problem to problem, with leading axes: batch={"goal": goals}.

    W. Li, E. Todorov (2004); D. Mayne (1966); limits as in Y. Tassa, N. Mansard, E. Todorov, Control-limited
    differential dynamic programming (2014). In each step of the search the gains come from one kernel, and motions with
    steps of several lengths from another, in parallel.
    """
    need_robot(robot, "ilqr")
    dt, tolerance = positive(dt, "ilqr: dt"), positive(tolerance, "ilqr: tolerance")
    steps, iterations = count(steps, "ilqr: steps"), count(iterations, "ilqr: iterations")
    if steps == 0:
        raise ArgumentError("ilqr: steps must be 1 or more")
    if final is not None and not callable(final):
        raise ArgumentError(f"ilqr: final must be a function; got {type(final).__name__}")
    lower, upper = _limits(robot, limits)
    motors = np.flatnonzero(lower < upper)
    boxed = bool(np.isfinite(np.append(lower[motors], upper[motors])).any())
    parts, numbers = parted(cost, parameters, "ilqr")
    step, second_order = _integrator(robot, integrator), truth(second_order, "ilqr: second_order")
    last = None if final is None else Parts(final)
    plan = ShootingPlan(robot, parts, last, step, tuple(motors.tolist()), boxed, second_order)
    shared = {"dt": np.array(dt), "passive": np.where(lower < upper, 0.0, lower)}
    if boxed:
        shared |= {"lower": lower[motors], "upper": upper[motors]}
    numbers = with_numbers(parts, numbers, batch or {}, "ilqr")
    q, v, u, leading = _start(plan, steps, q, v, tau, numbers)
    each = _each(plan, numbers, leading)
    shared |= {f"p_{k}": x for k, x in numbers.items() if f"p_{k}" not in each}
    times = {"t": np.arange(steps) * dt, "t_end": np.array(steps * dt)}
    problems = Problems(plan, kernels(plan), times, shared, each)
    now = _first_motions(problems, q, v, np.clip(u, lower[motors], upper[motors]))
    found = (search_alone if len(now.cost) == 1 else search)(problems, now, iterations, tolerance)
    return _solution(problems, leading, found)


def _limits(robot: Robot, limits) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest joint forces (nv,)."""
    x = floats(np.inf if limits is None else limits)
    if x.shape in ((), (robot.nv,)):
        x = np.stack([np.full(robot.nv, -x), np.full(robot.nv, x)])
    if x.shape != (2, robot.nv) or not np.all(x[0] <= x[1]):
        raise ArgumentError(
            f"ilqr: limits must be a number, ({robot.nv},), or (2, {robot.nv}) with the least and the largest joint "
            f"forces; got {limits!r:.80}"
        )
    if np.all(x[0] == x[1]):
        raise ArgumentError("ilqr: limits leave no joint force to choose; the least and the largest ones are equal")
    return x[0], x[1]


def _integrator(robot: Robot, integrator) -> Integrator:
    found = integrator_named(integrator, "ilqr")
    if found.memory(robot) is not None:
        raise ArgumentError(f"ilqr: integrator {integrator!r} needs what came before a step; choose another one")
    return found


def _start(plan: ShootingPlan, steps: int, q, v, tau, numbers: Mapping[str, np.ndarray]) -> tuple:
    """The first states q (B, nq), v (B, nv), the motors' forces u (B, N, m), and the leading axes of all problems."""
    robot, cores = plan.robot, dict(plan.cost.cores)
    still = np.zeros(robot.nv)
    q = vectors(q, robot.nq, "q", "ilqr")
    v = vectors(still if v is None else v, robot.nv, "v", "ilqr")
    tau = (
        inverse_dynamics(robot, q, still, still)[..., None, :] if tau is None else vectors(tau, robot.nv, "tau", "ilqr")
    )
    for name, x in (("q", q), ("v", v), ("tau", tau)):
        if not np.isfinite(x).all():
            raise ArgumentError(f"ilqr: {name} contains NaN or infinity")
    tau = tau[None] if tau.ndim == 1 else tau
    shapes = [q.shape[:-1], v.shape[:-1], tau.shape[:-2]]
    shapes += [x.shape[: x.ndim - len(cores[name])] for name, x in numbers.items()]
    try:
        leading = np.broadcast_shapes(*shapes)
        tau = np.broadcast_to(tau, (*leading, steps, robot.nv))
    except ValueError:
        raise ArgumentError(
            f"ilqr: leading axes of q, v, tau and numbers do not match: {shapes}; tau is (..., {steps}, {robot.nv})"
        ) from None
    q, v = (np.broadcast_to(x, (*leading, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
    return q, v, tau[..., list(plan.motors)].reshape(-1, steps, len(plan.motors)), leading


def _each(plan: ShootingPlan, numbers: Mapping[str, np.ndarray], leading: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The numbers (B, ...) that differ from problem to problem."""
    cores = dict(plan.cost.cores)
    varied = {k: x for k, x in numbers.items() if x.ndim > len(cores[k])}
    return {f"p_{k}": np.broadcast_to(x, (*leading, *cores[k])).reshape(-1, *cores[k]) for k, x in varied.items()}


def _first_motions(problems: Problems, q, v, u) -> Forward:
    """The motions from states (B, ...) under forces u (B, N, m) of the motors."""
    size, steps, m = u.shape
    n = problems.plan.n
    held = Forward(q[:, None].repeat(steps, 1), v[:, None].repeat(steps, 1), u, q, v, np.full(size, np.inf))
    idle = Backward(np.zeros_like(u), np.zeros((size, steps, m, n)), *np.zeros((3, size)))
    found = rolled_out(problems, held, idle, np.zeros(1))
    if not np.isfinite(found.cost).any():
        raise SolveError("ilqr: the cost of the motion under the first joint forces is not finite; give another tau")
    return Forward(*(x[:, 0] for x in found))


def _solution(problems: Problems, leading: tuple[int, ...], ended: Ended) -> OptimalMotion:
    """The result, with the leading axes of the problems, and all joint forces."""
    plan, now, (size, steps, _) = problems.plan, ended.motions, ended.motions.u.shape
    q = np.concatenate([now.q, now.q_end[:, None]], axis=1)
    v = np.concatenate([now.v, now.v_end[:, None]], axis=1)
    tau = np.tile(problems.shared["passive"], (size, steps, 1))
    tau[..., plan.motors] = now.u
    K = np.zeros((size, steps, plan.robot.nv, plan.n))
    K[..., plan.motors, :] = -ended.gains.K
    gradient, t = ended.gains.gradient, np.append(problems.times["t"], problems.times["t_end"])
    found = (q, v, tau, K, now.cost, ended.history, gradient, ended.success, ended.iterations)
    shaped: list[Any] = [x.reshape((*leading, *x.shape[1:])) for x in found]
    return OptimalMotion(plan.robot, float(problems.shared["dt"]), t, *shaped)
