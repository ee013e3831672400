"""`check_grads`: are all derivatives of a kernel right? They are compared with differences in 50-digit arithmetic."""

from __future__ import annotations

import operator
from collections.abc import Iterable
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

        >>> assert check_grads(aj.lie.so3.exp, np.array([0.1, 0.2, 0.3])) < 1e-12

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
    reference = _differences(program, point, program.roots)
    bound = fn.bind(**{p.name: statics[p.name] for p in fn.parameters if p.static and p.name not in fn.statics})
    rng = np.random.default_rng(0)
    worst = _compare(_jacobian(bound, program, point), reference, f"{fn.__name__}.jacobian", rtol)
    moved, wanted = _pushed(bound, program, point, reference, rng)
    worst = max(worst, _compare(moved, wanted, f"{fn.__name__}.jvp", rtol))
    if not any(x.op == "loop" and autodiff.only_forward(x.value) for x in autodiff.reachable(program.roots)):
        pulled, wanted = _pulled(bound, program, point, reference, rng)
        worst = max(worst, _compare(pulled, wanted, f"{fn.__name__}.vjp", rtol))
    if order >= 2:
        for name in point:
            worst = max(worst, _second(bound, program, point, name, rtol))
    return worst


def _jacobian(bound: Any, program: Program, point: dict) -> np.ndarray:
    """The Jacobian of all outputs by all inputs, as one matrix."""
    blocks, n = _parts(bound.jacobian(*point)(**point)), len(point)
    rows = [
        np.concatenate([np.reshape(blocks[i * n + j], (o.size, -1)) for j in range(n)], 1)
        for i, o in enumerate(program.outputs)
    ]
    return np.concatenate(rows, 0)


def _pushed(bound: Any, program: Program, point: dict, reference: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
    """The tangents of the outputs along random ones of the inputs: from `jvp`, and from the reference."""
    dots = {k: rng.standard_normal(v.shape) for k, v in point.items()}
    names = derivative_kernels.derivative_names([p.name for p in bound.parameters if not p.static], "_dot")
    pushed = bound.jvp(**point, **{names[k]: v for k, v in dots.items()})
    return _flat(pushed[len(program.outputs) :]), reference @ _flat(dots.values())


def _pulled(bound: Any, program: Program, point: dict, reference: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
    """The cotangents of the inputs for random ones of the outputs: from `vjp`, and from the reference."""
    taken = [p.name for p in bound.parameters]
    names = [derivative_kernels.free_name(f"{o.name}_bar", taken) for o in program.outputs]
    bars = {name: rng.standard_normal(o.shape) for name, o in zip(names, program.outputs, strict=True)}
    return _flat(_parts(bound.vjp(**point, **bars))), _flat(bars.values()) @ reference


def _parts(result) -> tuple:
    """The results of a kernel, also if there is only one."""
    return result if isinstance(result, tuple) else (result,)


def _flat(arrays: Iterable) -> np.ndarray:
    """All numbers of some arrays, one after the other."""
    return np.concatenate([np.ravel(x) for x in arrays])


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
    exact = np.concatenate([np.reshape(x, (-1, len(xs))) for x in _parts(exact)])
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
