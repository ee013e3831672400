"""Interior-point solution of a `Problem` by IPOPT (Wächter & Biegler 2006), through CasADi, which this file needs."""

from __future__ import annotations

from collections.abc import Callable

import casadi
import numpy as np

from .problem import Pattern, Problem
from .solution import Solution, Step

__all__ = ["solve", "violation"]

_TOLERANCE = 1e-8  # relative to `scale`, and to limits


class _Function(casadi.Callback):
    """A Python function of dense arrays as a CasADi function; its results are values of given sparsities."""

    def __init__(self, name: str, inputs: list[tuple], outputs: list[tuple], call: Callable, raised: list):
        casadi.Callback.__init__(self)
        self._inputs, self._outputs, self._call, self._raised = inputs, outputs, call, raised
        self.construct(name, {})

    def get_n_in(self):
        return len(self._inputs)

    def get_n_out(self):
        return len(self._outputs)

    def get_name_in(self, i):
        return self._inputs[i][0]

    def get_name_out(self, i):
        return self._outputs[i][0]

    def get_sparsity_in(self, i):
        return self._inputs[i][1]

    def get_sparsity_out(self, i):
        return self._outputs[i][1]

    def eval(self, arguments):
        try:
            results = self._call(*(a.full().ravel() for a in arguments))
        except BaseException as e:  # also a keyboard interrupt: kept, as CasADi would lose it; NaN ends the iteration
            self._raised.append(e)
            results = [np.full(s.nnz(), np.nan) for _, s in self._outputs]
        return [casadi.DM(s, np.ravel(r)) for (_, s), r in zip(self._outputs, results, strict=True)]


def _sparsity(pattern: Pattern) -> casadi.Sparsity:
    starts = np.searchsorted(pattern.columns, np.arange(pattern.shape[1] + 1))
    return casadi.Sparsity(*pattern.shape, starts.tolist(), pattern.rows.tolist())


def violation(problem: Problem, x: np.ndarray) -> float:
    """By how much the worst constraint of the program is exceeded."""
    g, (low, high) = problem.constraints(x), problem.range
    return float(np.max(np.concatenate([low - g, g - high]), initial=0.0))


def _functions(problem: Problem, scale: float, raised: list) -> dict[str, _Function]:
    """The program as IPOPT asks for it; the cost is divided by `scale`."""

    def dense(name: str, size: int) -> tuple:
        return name, casadi.Sparsity.dense(size)

    m = len(problem.range[0])
    x, p = dense("x", problem.size), dense("p", 0)
    f, g = dense("f", 1), dense("g", m)
    gradient, jacobian = dense("grad_f_x", problem.size), ("jac_g_x", _sparsity(problem.jacobian_pattern))
    hessian = "triu_hess_gamma_x_x", _sparsity(problem.hessian_pattern)
    calls = {
        "nlp": ([x, p], [f, g], lambda x, _: (problem.cost(x) / scale, problem.constraints(x))),
        "nlp_grad_f": ([x, p], [f, gradient], lambda x, _: (problem.cost(x) / scale, problem.gradient(x) / scale)),
        "nlp_jac_g": ([x, p], [g, jacobian], lambda x, _: (problem.constraints(x), problem.jacobian(x))),
        "nlp_hess_l": (
            [x, p, dense("lam_f", 1), dense("lam_g", m)],
            [hessian],
            lambda x, _, on_f, on_g: (problem.hessian(x, on_f[0] / scale, on_g),),
        ),
    }
    return {name: _Function(name, *rest, raised) for name, rest in calls.items()}


def solve(
    problem: Problem,
    x: np.ndarray,
    scale: float,
    *,
    max_iterations: int = 500,
    before: tuple[Step, ...] = (),
    report: Callable[[Step], None] | None = None,
) -> Solution:
    """A local minimum near x. `scale` is a typical cost; steps `before` say that x is nearly one already."""
    steps = list(before)
    raised: list[BaseException] = []

    def each_iteration(x, *_):
        steps.append(Step(len(steps), problem.cost(x), violation(problem, x)))
        if report:
            report(steps[-1])
        return (float(bool(raised)),)

    functions = _functions(problem, scale, raised)
    m = len(problem.range[0])
    sizes = {"x": problem.size, "f": 1, "g": m, "lam_x": problem.size, "lam_g": m, "lam_p": 0}
    watched = [(name, casadi.Sparsity.dense(sizes[name])) for name in casadi.nlpsol_out()]
    watch = _Function("watch", watched, [("ret", casadi.Sparsity.dense(1))], each_iteration, raised)
    ipopt = {"print_level": 0, "sb": "yes", "tol": _TOLERANCE, "max_iter": max_iterations}
    # A guess is worth staying near, and nothing may be beyond its limits by a tolerance.
    ipopt |= {"mu_strategy": "adaptive", "bound_push": 1e-4, "bound_frac": 1e-4, "bound_relax_factor": 0.0}
    if before:
        ipopt |= {"mu_strategy": "monotone", "mu_init": 1e-5, "bound_push": 1e-6, "bound_frac": 1e-6}
    options = {
        "ipopt": ipopt,
        "print_time": False,
        "show_eval_warnings": False,
        "no_nlp_grad": True,  # no derivatives of our functions but those we give
        "iteration_callback": watch,
        "grad_f": functions["nlp_grad_f"],
        "jac_g": functions["nlp_jac_g"],
        "hess_lag": functions["nlp_hess_l"],
    }
    solver = casadi.nlpsol("motion", "ipopt", functions["nlp"], options)
    low, high = problem.range
    box = problem.box
    found = solver(x0=x, lbx=box[0], ubx=box[1], lbg=low, ubg=high)
    if raised:
        raise raised[0]
    stats = solver.stats()
    return Solution(
        found["x"].full().ravel(),
        found["lam_g"].full().ravel(),
        bool(stats["success"]),
        stats["return_status"],
        tuple(steps),
    )
