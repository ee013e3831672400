"""`check_grads`: are all derivatives of a kernel right? They are compared with differences in 50-digit arithmetic."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...errors import AdjointError, ArgumentError
from ...extras import package
from ..front.arguments import as_input
from ..front.function import Function
from ..graph import interpreter
from ..graph.program import Operand, Program
from . import autodiff, derivative_kernels

__all__ = ["check_grads"]

_DIGITS = 50


def check_grads(fn: Function, *args, order: int = 2, rtol: float = 1e-9, **kwargs) -> float:
    """Check the derivatives of a kernel at one sample; returns the largest error.

    These are `jacobian`, `jvp` and `vjp`, and for order 2 also `hessian`. The arguments are those of a call. The
    reference is a central difference of the traced graph in mpmath with 50 digits, whose own error is below 1e-20; it
    uses none of our derivative rules. Errors are relative to the largest entry of the derivative, or to 1 if that is
    larger. An AssertionError names the derivative that is wrong by more than `rtol`, and the entry. This needs mpmath:
    pip install 'adjoint[check]'. Kernels with sequences cannot be checked.
    """
    if not isinstance(fn, Function):
        raise ArgumentError(f"check_grads needs a kernel, made by `adjoint.kernel`; got {type(fn).__name__}")
    inputs, statics = fn.arguments.sort(args, kwargs)
    program = fn.specialisation(statics, list(inputs)).program
    if any(o.sequence for o in (*program.inputs, *program.outputs)):
        raise AdjointError("check_grads: differences by sequences are not taken; fix a length to check the same step")
    point = {o.name: _given(o, x) for o, x in zip(program.inputs, inputs.values(), strict=True)}
    names = list(point)
    reference = _differences(program, point, program.roots)
    bound = fn.bind(**{p.name: statics[p.name] for p in fn.parameters if p.static and p.name not in fn.statics})
    own = [p.name for p in bound.parameters if not p.static]
    worst = 0.0

    exact = bound.jacobian(*names)(**point)
    blocks = list(exact) if isinstance(exact, tuple) else [exact]
    table = np.concatenate(
        [
            np.concatenate([np.reshape(blocks[i * len(names) + j], (o.size, -1)) for j in range(len(names))], 1)
            for i, o in enumerate(program.outputs)
        ],
        0,
    )
    worst = max(worst, _compare(table, reference, f"{fn.__name__}.jacobian", rtol))

    rng = np.random.default_rng(0)
    dots = {k: rng.standard_normal(v.shape) for k, v in point.items()}
    dot = derivative_kernels.dotted(own, "_dot")
    pushed = bound.jvp(**point, **{dot[k]: v for k, v in dots.items()})
    moved = np.concatenate([np.ravel(x) for x in pushed[len(program.outputs) :]])
    flat = np.concatenate([np.ravel(v) for v in dots.values()])
    worst = max(worst, _compare(moved, reference @ flat, f"{fn.__name__}.jvp", rtol))

    if not any(x.op == "loop" and autodiff.only_forward(x.value) for x in autodiff.reachable(program.roots)):
        bars = {
            derivative_kernels.free(f"{o.name}_bar", [p.name for p in bound.parameters]): rng.standard_normal(o.shape)
            for o in program.outputs
        }
        pulled = bound.vjp(**point, **bars)
        pulled = np.concatenate([np.ravel(x) for x in (pulled if isinstance(pulled, tuple) else (pulled,))])
        flat = np.concatenate([np.ravel(v) for v in bars.values()])
        worst = max(worst, _compare(pulled, flat @ reference, f"{fn.__name__}.vjp", rtol))
    if order >= 2:
        for name in names:
            worst = max(worst, _second(bound, program, point, name, rtol))
    return worst


def _given(o: Operand, x) -> np.ndarray:
    """One sample of an input, of finite numbers."""
    found = as_input(x, o.name, "check_grads").astype(float)
    if found.shape != o.shape or not np.isfinite(found).all():
        what = f"has shape {found.shape}" if found.shape != o.shape else "contains NaN or infinity"
        raise ArgumentError(f"check_grads: argument '{o.name}' {what}; finite numbers of shape {o.shape} are needed")
    return found


def _second(bound: Any, program: Program, point: dict, name: str, rtol: float) -> float:
    """The error of the second derivatives by one input."""
    xs = [program.graph.input(name, k) for k in range(point[name].size)]
    first = [program.graph.lift(e) for row in autodiff.jacobian(program.graph, program.roots, xs) for e in row]
    names = list(point)
    columns = slice(sum(point[k].size for k in names[: names.index(name)]), None)
    wanted = _differences(program, point, first)[:, columns][:, : len(xs)]
    exact = bound.hessian(name)(**point)
    exact = np.concatenate([np.reshape(x, (-1, len(xs))) for x in (exact if isinstance(exact, tuple) else (exact,))])
    return _compare(exact, wanted, f"{bound.__name__}.hessian({name!r})", rtol)


def _compare(got: np.ndarray, wanted: np.ndarray, what: str, rtol: float) -> float:
    """Return the error of a derivative; raise an AssertionError if it is too large."""
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    error = float(np.max(np.abs(got - wanted), initial=0.0)) / scale
    if not error <= rtol:
        where = (
            np.unravel_index(int(np.nanargmax(np.abs(got - wanted))), np.shape(got))
            if np.isfinite(got).all()
            else "NaN"
        )
        raise AssertionError(f"{what} is wrong by {error:.2e} (relative; {rtol:.0e} allowed) at entry {where}")
    return error


def _differences(program: Program, point: dict, roots) -> np.ndarray:
    """Central differences of the roots by every input element, in high precision."""
    mpmath = package("mpmath", "check", "check_grads")
    with mpmath.workdps(_DIGITS):
        base = {(k, j): mpmath.mpf(float(x)) for k, v in point.items() for j, x in enumerate(np.ravel(v))}
        columns = []
        for key in base:
            h = mpmath.mpf(10) ** (-_DIGITS // 3) * max(1, abs(base[key]))  # large numbers need large steps
            high = _high_precision(roots, {**base, key: base[key] + h}, mpmath)
            low = _high_precision(roots, {**base, key: base[key] - h}, mpmath)
            columns.append([float((a - b) / (2 * h)) for a, b in zip(high, low, strict=True)])
    return np.array(columns, dtype=float).T.reshape(len(roots), len(base))


def _high_precision(roots, values: dict, mp) -> list:
    """The values of the roots, computed by mpmath."""

    def apply(op: str, *a):
        found = table.get(op)
        return found(*a) if found else getattr(mp, op)(*a)

    table = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
        "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne, "not": operator.not_,
        "and": lambda a, b: a and b, "or": lambda a, b: a or b, "select": lambda c, a, b: a if c else b,
        "pow": operator.pow, "abs": abs, "minimum": min, "maximum": max, "fmod": lambda a, b: a - b * int(a / b),
        "trunc": lambda a: mp.mpf(int(a)), "rint": mp.nint, "copysign": lambda a, b: abs(a) if b >= 0 else -abs(a),
        "exp2": lambda a: mp.mpf(2) ** a, "log2": lambda a: mp.log(a, 2),
        "cbrt": lambda a: mp.sign(a) * mp.cbrt(abs(a)),
    }  # fmt: skip
    return interpreter.evaluate(roots, interpreter.Inputs(values, apply=apply, number=mp.mpf))
