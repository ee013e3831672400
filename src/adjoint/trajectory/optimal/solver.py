"""`solve` minimises a `Problem` by the interior-point method IPOPT (Wächter & Biegler 2006), through CasADi.

Only this file of the folder imports CasADi.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi
import numpy as np

from .problem import Pattern, Problem
from .solution import Solution, Step

__all__ = ["solve", "violation"]

_TOLERANCE = 1e-8  # of the cost, relative to `scale`, and of the constraints, relative to their limits


class _Function(casadi.Callback):
    """A Python function as a CasADi function.

    The function takes dense arrays, and returns the nonzero values of results whose sparsity is given. `inputs` and
    `outputs` are lists of (name, sparsity); an exception that the function raises is put into the list `raised`.
    """

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
        except BaseException as e:  # CasADi would lose it, even a KeyboardInterrupt; NaN makes IPOPT stop
            self._raised.append(e)
            results = [np.full(s.nnz(), np.nan) for _, s in self._outputs]
        return [casadi.DM(s, np.ravel(r)) for (_, s), r in zip(self._outputs, results, strict=True)]


def _sparsity(pattern: Pattern) -> casadi.Sparsity:
    """The CasADi sparsity of a pattern."""
    starts = np.searchsorted(pattern.columns, np.arange(pattern.shape[1] + 1))
    return casadi.Sparsity(*pattern.shape, starts.tolist(), pattern.rows.tolist())


def violation(problem: Problem, x: np.ndarray) -> float:
    """By how much x exceeds the worst constraint of the program."""
    g, (low, high) = problem.constraints(x), problem.range
    return float(np.max(np.concatenate([low - g, g - high]), initial=0.0))


def _functions(problem: Problem, scale: float, raised: list) -> dict[str, _Function]:
    """The functions of the program that IPOPT calls, by their CasADi names; the cost is divided by `scale`."""

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
    return {name: _Function(name, inputs, outputs, call, raised) for name, (inputs, outputs, call) in calls.items()}


def _ipopt_options(max_iterations: int, near: bool) -> dict:
    """The options of IPOPT; `near` says that the guess is nearly a minimum."""
    found = {"print_level": 0, "sb": "yes", "tol": _TOLERANCE, "max_iter": max_iterations}
    # The first steps stay near the guess, and bounds are not relaxed, so that nothing exceeds its limits.
    found |= {"mu_strategy": "adaptive", "bound_push": 1e-4, "bound_frac": 1e-4, "bound_relax_factor": 0.0}
    if near:
        found |= {"mu_strategy": "monotone", "mu_init": 1e-5, "bound_push": 1e-6, "bound_frac": 1e-6}
    return found


def solve(
    problem: Problem,
    x: np.ndarray,
    scale: float,
    *,
    max_iterations: int = 500,
    before: tuple[Step, ...] = (),
    report: Callable[[Step], None] | None = None,
) -> Solution:
    """A local minimum near x. `scale` is a typical cost.

    `before` are the steps of an earlier solution; if there are any, x is taken to be nearly a minimum already. `report`
    is called with each `Step`.
    """
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
    options = {
        "ipopt": _ipopt_options(max_iterations, near=bool(before)),
        "print_time": False,
        "show_eval_warnings": False,
        "no_nlp_grad": True,  # CasADi must not differentiate our functions itself
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
