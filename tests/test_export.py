"""Exports: the C file compiles without a warning and computes the same numbers; so does the CasADi function."""

import ctypes
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.c_code import c_function, run_c

from adjoint import kernel, scan, while_loop
from adjoint.compile.graph import operations as ops
from adjoint.errors import AdjointError, ArgumentError
from adjoint.lie import se3, so3

EPS = np.finfo(float).eps
# The C library is within an ulp or two and so is vecmath; the kernel fuses products into sums and C does not.
ROUNDING = 200 * EPS


class Pair(NamedTuple):
    first: Any
    second: Any


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


V = np.array([0.3, -0.7, 0.9])
M = np.array([[2.0, 0.3, -0.1], [0.2, 1.5, 0.4], [-0.3, 0.1, 1.8]])
KERNELS = {
    "scalar": (kernel(lambda x, y: np.sin(x) * y + 0.1), (0.3, 0.7)),
    "matrix": (kernel(lambda a, b: a @ b, a=(3, 3), b=3), (M, V)),
    "NamedTuple": (kernel(lambda a, s: Pair(s * a, a @ a), a=3), (V, 0.7)),
    "constants": (kernel(lambda x: np.array([x, -0.0, np.inf, -np.inf, 1e-310, -1e300, 1 / 3])), (0.3,)),
    "nan constant": (kernel(lambda x: np.where(x > 0, np.nan, x)), (-0.3,)),
    "unused input": (kernel(lambda x, unused: 2 * x), (0.3, 0.7)),
    "constant result": (kernel(lambda x: 5.0), (0.3,)),
    "copied input": (kernel(lambda a: a[::-1], a=3), (V,)),
    "truth values": (
        kernel(lambda x, y: np.array([x < y, (x <= y) & ~(x == y) | (x != 0.3), True, False])),
        (0.3, 0.7),
    ),
    "min max sign": (
        kernel(lambda x, y: np.array([np.minimum(x, y), np.maximum(x, y), np.sign(y), np.sign(0 * y)])),
        (0.3, -0.7),
    ),
    "solve": (kernel(lambda a, b: np.linalg.solve(a, b), a=(3, 3), b=3), (M, V)),
    "so3.exp": (so3.exp, (V,)),
    "so3.log": (so3.log, (so3.exp(V),)),
    "se3.exp": (se3.exp, (np.append(V, [1.0, 2.0, 3.0]),)),
    "jacobian": (so3.exp.jacobian("w"), (V,)),
    "jvp": (so3.exp.jvp, (V, V + 1)),
    "optional left out": (kernel(lambda x, y=None: x if y is None else x + y, y=3), (0.3,)),
    "scan": (kernel(lambda a: Pair(*scan(lambda c, x: (0.5 * c + np.sin(x), c * x), 1.0, a)), a=3), (V,)),
    "scan in scan": (
        kernel(
            lambda a: scan(lambda c, x: (c + scan(lambda d, y: (d + x * y, None), c, a)[0], c), 0.0, a, reverse=True)[
                1
            ],
            a=3,
        ),
        (V,),
    ),
    "while": (
        kernel(
            lambda a: while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), a, max_iterations=50)
        ),
        (2.0,),
    ),
    "swap in loop": (
        kernel(lambda a: np.array(scan(lambda c, x: ((c[1], c[0] + x), None), (0.0, 1.0), a)[0]), a=3),
        (V,),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_c(name, tmp_path):
    k, args = KERNELS[name]
    for got, wanted in zip(run_c(k, args, tmp_path), as_tuple(k(*args)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("name", [n for n, op in ops.OPS.items() if not op.mask and n != "select"])
def test_c_text_of_every_operation(name):
    assert ops.OPS[name].c and "{0}" in ops.OPS[name].c
    assert all(f"{{{k}}}" in ops.OPS[name].c for k in range(ops.OPS[name].arity))


@pytest.mark.slow
def test_every_operation_in_c(tmp_path):
    """All of them in one file, on ordinary numbers and on zeros, infinities and NaN."""
    from adjoint.compile.graph.expressions import apply

    names = [n for n, op in ops.OPS.items() if n != "select"]
    k = kernel(lambda x, y: np.array([apply(n, *(x, y)[: ops.OPS[n].arity]) * 1.0 for n in names]))
    function = c_function(k.source("c"), tmp_path)
    numbers = [0.37, -1.9, 2.5, 0.0, -0.0, np.inf, -np.inf, np.nan]
    for x in numbers:
        for y in numbers:
            out = np.empty(len(names))
            pointers = [np.array(a).ctypes.data_as(ctypes.c_void_p) for a in (x, y)]
            function(*pointers, out.ctypes.data_as(ctypes.c_void_p))
            for n, got, wanted in zip(names, out, k(x, y), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=8 * EPS, err_msg=f"{n}({x}, {y})")


@pytest.mark.parametrize("options", [(), ("-march=native",)])
def test_sine_and_cosine_of_one_angle_in_c(options, tmp_path):
    """Both come from one function of the file where multiply-adds are fast; NumPy's are within half a unit."""
    k = kernel(lambda x: np.stack([np.sin(x), np.cos(x)]))
    function = c_function(k.source("c"), tmp_path, *options)
    rng = np.random.default_rng(0)
    near = np.pi / 2 * rng.integers(-1000, 1000, 500) + rng.normal(size=500) * 1e-9
    for x in [*rng.uniform(-10, 10, 500), *near, 2.0**26, -1e9, 1e300, 0.0, -0.0, np.inf, np.nan]:
        out = np.empty(2)
        function(*(a.ctypes.data_as(ctypes.c_void_p) for a in (np.array(x), out)))
        with np.errstate(invalid="ignore"):
            wanted = np.array([np.sin(x), np.cos(x)])
        np.testing.assert_allclose(out, wanted, rtol=2 * EPS, err_msg=str(x))
        assert np.array_equal(np.signbit(out), np.signbit(wanted)) or np.isnan(out).any()


@pytest.mark.parametrize("length", [0, 1, 5])
def test_c_sequences(length, tmp_path):
    def fn(v, c):
        ys = scan(lambda c, x: (0.5 * c + np.sum(x), c * x), c, v)[1]
        return Pair(ys, scan(lambda d, y: (0.5 * d + y[0], None), 0.0, ys, reverse=True)[0])

    k = kernel(fn, v=(..., 2))
    v = np.random.default_rng(0).uniform(-1, 1, (length, 2))
    for got, wanted in zip(run_c(k, (v, 0.5), tmp_path, length), k(v, 0.5), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=ROUNDING, atol=ROUNDING)


def test_c_sequences_with_work_memory(tmp_path):
    def fn(v):
        a, b = scan(lambda c, x: (c + x, (c, c * x)), 0.0, v)[1]
        return scan(lambda d, y: (0.5 * d + y[0] - y[1], None), 0.0, (a, b), reverse=True)[0]

    k = kernel(fn, v=(...,))
    v, work = np.random.default_rng(0).uniform(-1, 1, 6), np.full(14, 7.0)
    assert "2 * length numbers" in k.source("c")
    (got,) = run_c(k, (v,), tmp_path, 6, work)
    np.testing.assert_allclose(got, k(v), rtol=ROUNDING)
    assert (work[12:] == 7.0).all() and (work[:12] != 7.0).all()  # as much as the comment says, no more


COLLIDING = {
    "temporaries": "lambda t1, t2: t1 * t2 + sin(t1) * t2",
    "functions": "lambda sin, cos: np.sin(sin) * np.cos(cos)",
    "keywords": "lambda int, double: int * double + 1",
    "more keywords": "lambda void, static, const, register: void + static * const - register",
    "work and length": "lambda work, length: work / length",
    "helpers": "lambda adjoint_sign, fabs: np.sign(adjoint_sign) * np.abs(fabs)",
    "constants": "lambda NAN, INFINITY: np.where(NAN > INFINITY, np.inf, 1.0)",
    "inputs and outputs": "lambda first, second: Pair(second * 2, first * 3)",
    "out": "lambda out_out, x: x + out_out",
    "output shadows": "lambda first, first_out: Pair(first_out, first * 3)",
    "kernel": "lambda kernel, math: kernel - math",
    "mathematical constants": "lambda M_PI, y1: M_PI + np.exp(y1)",
    "Greek": "lambda θ, φ: θ * φ",
}


@pytest.mark.parametrize("name", COLLIDING)
def test_names_that_mean_something_in_c(name, tmp_path):
    fn = eval(COLLIDING[name], {"np": np, "sin": np.sin, "Pair": Pair, "__name__": __name__})
    k = kernel(fn)
    args = np.linspace(0.3, 0.9, fn.__code__.co_argcount)
    for got, wanted in zip(run_c(k, args, tmp_path), as_tuple(k(*args)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=ROUNDING)


@pytest.mark.parametrize("name", ["sin", "main", "double", "exp", "adjoint_sign", "_private", "for", "1 bad-name", "x"])
def test_functions_named_like_things_of_c(name, tmp_path):
    def fn(x):
        return np.sin(x) + np.exp(x) + np.sign(x)

    fn.__name__ = fn.__qualname__ = name
    k = kernel(fn)
    (got,) = run_c(k, (0.3,), tmp_path)
    np.testing.assert_allclose(got, k(0.3), rtol=ROUNDING)


def test_c_says_what_it_is():
    text = KERNELS["NamedTuple"][0].source("c")
    assert "in  a: 3" in text and "in  s: scalar" in text and "out first: 3" in text and "out second: scalar" in text
    assert text.count("#include") == 1 and "<math.h>" in text and text.isascii()


@pytest.mark.parametrize("language", ["fortran", "C", "", None])
def test_unknown_language(language):
    with pytest.raises(ArgumentError, match="'llvm'"):
        so3.exp.source(language)


# --- LLVM -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_llvm_parses(name):
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(KERNELS[name][0].source("llvm"))
    module.verify()
    assert {"body", "batch"} <= {f.name for f in module.functions}


def test_assembly():
    assert "batch" in so3.exp.source("asm")


# --- CasADi -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in KERNELS if n not in ("nan constant",)])
def test_symbolic(name):
    import casadi

    k, args = KERNELS[name]
    function = k.symbolic()
    assert isinstance(function, casadi.Function)
    results = function.call([casadi.DM(np.asarray(a)) for a in args])
    for got, wanted in zip(results, as_tuple(k(*args)), strict=True):
        np.testing.assert_allclose(np.reshape(np.array(got), np.shape(wanted)), wanted, rtol=ROUNDING, atol=ROUNDING)


def test_symbolic_names_and_every_operation():
    import casadi

    from adjoint.compile.graph.expressions import apply

    assert KERNELS["NamedTuple"][0].symbolic().name_in() == ["a", "s"]
    assert KERNELS["NamedTuple"][0].symbolic().name_out() == ["first", "second"]
    names = [n for n, op in ops.OPS.items() if n != "select"]
    k = kernel(lambda x, y: np.array([apply(n, *(x, y)[: ops.OPS[n].arity]) * 1.0 for n in names]))
    function = k.symbolic()
    for x, y in [(0.37, -1.9), (0.5, 0.5), (-0.5, 2.5), (0.9, 0.0)]:
        got = np.ravel(np.array(function(casadi.DM(x), casadi.DM(y))))
        np.testing.assert_allclose(got, k(x, y), rtol=20 * EPS, atol=EPS)


@pytest.mark.parametrize("kind", ["SX", "MX", "DM"])
def test_called_with_casadi_matrices(kind):
    import casadi

    k = KERNELS["NamedTuple"][0]
    if kind == "DM":
        result = k(casadi.DM(V), casadi.DM(0.7))
        values = [np.array(r) for r in result]
    else:
        a, s = (getattr(casadi, kind).sym(*n) for n in (("a", 3), ("s",)))
        result = k(a, s)
        assert type(result) is Pair and all(isinstance(r, getattr(casadi, kind)) for r in result)
        values = [np.array(r) for r in casadi.Function("f", [a, s], list(result))(V, 0.7)]
        mixed = k(a, 0.7)
        np.testing.assert_allclose(np.array(casadi.Function("f", [a], [mixed.second])(V)), values[1], rtol=ROUNDING)
    for got, wanted in zip(values, k(V, 0.7), strict=True):
        np.testing.assert_allclose(np.ravel(got), np.ravel(wanted), rtol=ROUNDING)


def test_casadi_has_no_sequences():
    k = kernel(lambda v: scan(lambda c, x: (c + x, None), 0.0, v)[0], v=(...,))
    with pytest.raises(AdjointError, match="declare a length"):
        k.symbolic()


# --- counts -----------------------------------------------------------------------------------------------------------

COUNTS = {
    "x + y": (lambda x, y: x + y, (1, 0, 0, 0, 0, 0)),
    "x - y * y": (lambda x, y: x - y * y, (1, 1, 0, 0, 0, 0)),
    "x / y": (lambda x, y: x / y, (0, 0, 1, 0, 0, 0)),
    "sqrt": (lambda x, y: np.sqrt(x * x + y * y), (1, 2, 0, 1, 0, 0)),
    "sin": (lambda x, y: np.sin(x) + np.cos(x) + np.exp(y), (2, 0, 0, 0, 3, 0)),
    "where": (lambda x, y: np.where(x < y, x, y), (0, 0, 0, 0, 0, 2)),
    "sign free": (lambda x, y: -np.abs(x), (0, 0, 0, 0, 0, 0)),
    "nothing": (lambda x, y: x, (0, 0, 0, 0, 0, 0)),
    "folded": (lambda x, y: x * (2.0 * 3.0) + 0.0, (0, 1, 0, 0, 0, 0)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_operations(name):
    fn, wanted = COUNTS[name]
    k = kernel(fn)
    assert k.operations == wanted
    assert k.operations._fields == ("adds", "muls", "divs", "sqrts", "transcendental", "comparisons")


def test_operations_of_products():
    assert kernel(lambda a, b: a @ b, a=(3, 3), b=(3, 3)).operations[:2] == (18, 27)
    assert kernel(lambda a, b: np.cross(a, b), a=3, b=3).operations[:2] == (3, 6)
