"""The closed set of scalar operations: one row of a table says all there is to know about each.

A row gives the arity, how NumPy computes the operation (for constants), its partial derivatives, its C99 text, its
CasADi form, and the class it is counted in. The graph, the tracer, the derivatives and every exporter read this table.
The machine code of the transcendental rows is in `codegen.vecmath`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["OPS", "Op", "fold"]


@dataclass(frozen=True)
class Op:
    """One operation.

    `partials(apply, *arguments, result)` gives d(result)/d(argument) for each argument, None where it is zero. `c` is a
    format of C text, and `casadi(module, *arguments)` is the operation in CasADi.
    """

    name: str
    numpy: Callable
    partials: Callable | None
    c: str
    counted: str
    casadi: Callable
    arity: int = 1
    mask: bool = False  # the result is a truth value


# In the partial derivatives below, f is `expressions.apply`, as in f("mul", a, b); x and y are the arguments, and r is
# the result.


def _row(name, numpy, counted, c, partials=None, casadi=None, arity=1, mask=False):
    return Op(name, numpy, partials, c, counted, casadi or (lambda ca, *a: getattr(ca, name)(*a)), arity, mask)


def _call(c_name, arity=1):
    return f"{c_name}({', '.join(f'{{{k}}}' for k in range(arity))})"


def _transcendental(name, numpy, c, partial, casadi=None):
    return _row(name, numpy, "transcendental", f"{c}({{0}})", lambda f, x, r: (partial(f, x, r),), casadi)


def _one_over_root(f, inside):
    return f("div", 1.0, f("sqrt", inside))


def _atan2_partials(f, y, x, r):
    n = f("add", f("mul", x, x), f("mul", y, y))
    return f("div", x, n), f("neg", f("div", y, n))


def _pow_partials(f, x, y, r):
    # At x = 0 the second partial is 0 for y > 0: the logarithm gets a safe argument there, which keeps it finite.
    positive = f("lt", 0.0, x)
    log = f("log", f("select", positive, x, 1.0))
    return f("mul", y, f("pow", x, f("sub", y, 1.0))), f("mul", r, log)


def _hypot_partials(f, x, y, r):
    return f("div", x, r), f("div", y, r)


def _flat(f, *_):
    """The derivative of a piecewise constant function: zero."""
    return (None,)


def _compare(name, numpy, c, casadi):
    return _row(name, numpy, "compare", f"{{0}} {c} {{1}}", None, casadi, 2, True)


def _arithmetic():
    """Sums, products, quotients and roots."""
    yield _row("add", np.add, "add", "{0} + {1}", lambda f, x, y, r: (1.0, 1.0), lambda ca, x, y: x + y, 2)
    yield _row("sub", np.subtract, "add", "{0} - {1}", lambda f, x, y, r: (1.0, -1.0), lambda ca, x, y: x - y, 2)
    yield _row("mul", np.multiply, "mul", "{0} * {1}", lambda f, x, y, r: (y, x), lambda ca, x, y: x * y, 2)
    yield _row(
        "div",
        np.divide,
        "div",
        "{0} / {1}",
        lambda f, x, y, r: (f("div", 1.0, y), f("neg", f("div", r, y))),
        lambda ca, x, y: x / y,
        2,
    )
    yield _row("neg", np.negative, "sign", "-{0}", lambda f, x, r: (-1.0,), lambda ca, x: -x)
    yield _row("sqrt", np.sqrt, "sqrt", "sqrt({0})", lambda f, x, r: (f("div", 0.5, r),))
    yield _row(
        "cbrt",
        np.cbrt,
        "transcendental",
        "cbrt({0})",
        lambda f, x, r: (f("div", 1.0, f("mul", 3.0, f("mul", r, r))),),
        lambda ca, x: ca.sign(x) * ca.power(ca.fabs(x), 1 / 3),
    )


def _functions_of_one():
    """Transcendental functions of one argument."""
    yield _transcendental("sin", np.sin, "sin", lambda f, x, r: f("cos", x))
    yield _transcendental("cos", np.cos, "cos", lambda f, x, r: f("neg", f("sin", x)))
    yield _transcendental("tan", np.tan, "tan", lambda f, x, r: f("add", 1.0, f("mul", r, r)))
    yield _transcendental(
        "asin", np.arcsin, "asin", lambda f, x, r: _one_over_root(f, f("mul", f("sub", 1.0, x), f("add", 1.0, x)))
    )
    yield _transcendental(
        "acos",
        np.arccos,
        "acos",
        lambda f, x, r: f("neg", _one_over_root(f, f("mul", f("sub", 1.0, x), f("add", 1.0, x)))),
    )
    yield _transcendental("atan", np.arctan, "atan", lambda f, x, r: f("div", 1.0, f("add", 1.0, f("mul", x, x))))
    yield _transcendental("sinh", np.sinh, "sinh", lambda f, x, r: f("cosh", x))
    yield _transcendental("cosh", np.cosh, "cosh", lambda f, x, r: f("sinh", x))
    yield _transcendental("tanh", np.tanh, "tanh", lambda f, x, r: f("mul", f("sub", 1.0, r), f("add", 1.0, r)))
    yield _transcendental(
        "asinh", np.arcsinh, "asinh", lambda f, x, r: _one_over_root(f, f("add", f("mul", x, x), 1.0))
    )
    yield _transcendental(
        "acosh", np.arccosh, "acosh", lambda f, x, r: _one_over_root(f, f("mul", f("sub", x, 1.0), f("add", x, 1.0)))
    )
    yield _transcendental(
        "atanh", np.arctanh, "atanh", lambda f, x, r: f("div", 1.0, f("mul", f("sub", 1.0, x), f("add", 1.0, x)))
    )
    yield _transcendental("exp", np.exp, "exp", lambda f, x, r: r)
    yield _transcendental(
        "exp2", np.exp2, "exp2", lambda f, x, r: f("mul", np.log(2.0), r), lambda ca, x: ca.power(2.0, x)
    )
    yield _transcendental("expm1", np.expm1, "expm1", lambda f, x, r: f("exp", x))
    yield _transcendental("log", np.log, "log", lambda f, x, r: f("div", 1.0, x))
    yield _transcendental(
        "log2", np.log2, "log2", lambda f, x, r: f("div", 1 / np.log(2.0), x), lambda ca, x: ca.log(x) / np.log(2.0)
    )
    yield _transcendental("log10", np.log10, "log10", lambda f, x, r: f("div", 1 / np.log(10.0), x))
    yield _transcendental("log1p", np.log1p, "log1p", lambda f, x, r: f("div", 1.0, f("add", 1.0, x)))


def _functions_of_two():
    """Transcendental functions of two arguments."""
    yield _row("atan2", np.arctan2, "transcendental", _call("atan2", 2), _atan2_partials, arity=2)
    yield _row("pow", np.power, "transcendental", _call("pow", 2), _pow_partials, lambda ca, x, y: ca.power(x, y), 2)
    yield _row("hypot", np.hypot, "transcendental", _call("hypot", 2), _hypot_partials, arity=2)

    # d fmod(x, y) = dx - n dy with x = n y + fmod(x, y). The quotient x / y itself may round up to the next whole
    # number.
    yield _row(
        "fmod",
        np.fmod,
        "transcendental",
        _call("fmod", 2),
        lambda f, x, y, r: (1.0, f("neg", f("rint", f("div", f("sub", x, r), y)))),
        arity=2,
    )


def _pieces():
    """Functions that are defined piecewise: signs, roundings, minima and maxima."""
    yield _row("abs", np.abs, "sign", "fabs({0})", lambda f, x, r: (f("sign", x),), lambda ca, x: ca.fabs(x))
    yield _row("sign", np.sign, "compare", "adjoint_sign({0})", _flat)
    yield _row("floor", np.floor, "compare", "floor({0})", _flat)
    yield _row("ceil", np.ceil, "compare", "ceil({0})", _flat)
    yield _row("trunc", np.trunc, "compare", "trunc({0})", _flat, lambda ca, x: ca.sign(x) * ca.floor(ca.fabs(x)))
    yield _row("rint", np.rint, "compare", "nearbyint({0})", _flat, lambda ca, x: _casadi_rint(ca, x))
    yield _row(
        "copysign",
        np.copysign,
        "sign",
        _call("copysign", 2),
        lambda f, x, y, r: (f("mul", f("sign", x), f("copysign", 1.0, y)), None),
        arity=2,
    )

    # Where both arguments are equal, the derivative is that of the first one, which is a subgradient.
    yield _row(
        "minimum",
        np.minimum,
        "compare",
        "adjoint_minimum({0}, {1})",
        lambda f, x, y, r: (f("select", f("le", x, y), 1.0, 0.0), f("select", f("le", x, y), 0.0, 1.0)),
        lambda ca, x, y: ca.fmin(x, y),
        2,
    )
    yield _row(
        "maximum",
        np.maximum,
        "compare",
        "adjoint_maximum({0}, {1})",
        lambda f, x, y, r: (f("select", f("le", y, x), 1.0, 0.0), f("select", f("le", y, x), 0.0, 1.0)),
        lambda ca, x, y: ca.fmax(x, y),
        2,
    )


def _truth():
    """Comparisons, logic, and the choice between two values."""
    yield _compare("lt", np.less, "<", lambda ca, x, y: x < y)
    yield _compare("le", np.less_equal, "<=", lambda ca, x, y: x <= y)
    yield _compare("eq", np.equal, "==", lambda ca, x, y: x == y)
    yield _compare("ne", np.not_equal, "!=", lambda ca, x, y: x != y)
    yield _row("and", np.logical_and, "compare", "{0} && {1}", None, lambda ca, x, y: ca.logic_and(x, y), 2, True)
    yield _row("or", np.logical_or, "compare", "{0} || {1}", None, lambda ca, x, y: ca.logic_or(x, y), 2, True)
    yield _row("not", np.logical_not, "compare", "!{0}", None, lambda ca, x: ca.logic_not(x), 1, True)
    yield _row(
        "select",
        np.where,
        "compare",
        "{0} ? {1} : {2}",
        lambda f, c, x, y, r: (None, f("select", c, 1.0, 0.0), f("select", c, 0.0, 1.0)),
        lambda ca, c, x, y: ca.if_else(c, x, y),
        3,
    )


def _casadi_rint(ca, x):
    low = ca.floor(x)
    rest = x - low
    odd = low - 2 * ca.floor(low / 2)
    return low + ca.if_else(rest > 0.5, 1, ca.if_else(rest < 0.5, 0, odd))


_TABLES = (_arithmetic, _functions_of_one, _functions_of_two, _pieces, _truth)
OPS: dict[str, Op] = {op.name: op for table in _TABLES for op in table()}


def fold(name: str, *values: float) -> float | bool:
    """The value of an operation on constants, computed by NumPy in float64.

    Whole numbers are treated as real numbers.
    """
    with np.errstate(all="ignore"):
        r = OPS[name].numpy(*(v if isinstance(v, bool | np.bool_) else float(v) for v in values))
    return bool(r) if OPS[name].mask else float(r)
