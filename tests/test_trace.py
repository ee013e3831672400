"""Tracing: what NumPy code means in a kernel is what it means in NumPy, or an error that helps."""

import functools
import subprocess
import sys
import warnings
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.compiled import agree

from adjoint import kernel
from adjoint.compile.graph import interpreter, tracing
from adjoint.errors import AdjointError, ArgumentError, TraceError

EPS = np.finfo(float).eps
# vecmath is within 2 units in the last place and NumPy within about 1, so they differ by at most 3.
UFUNC = 4 * EPS
# Straight-line algebra on numbers of order one: some ten roundings, and products may be fused or reassociated.
ALGEBRA = 50 * EPS


def as_float(x):
    return np.asarray(x, dtype=float)


# --- ufuncs -----------------------------------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-310, 1e300, np.inf, -np.inf, np.nan]
BITWISE = {"bitwise_and", "bitwise_or", "invert"}  # of truth values only, as in NumPy
DOMAIN = {
    "arcsin": (-1, 1),
    "arccos": (-1, 1),
    "arctanh": (-1, 1),
    "arccosh": (1, 9),
    "log": (1e-3, 9),
    "log2": (1e-3, 9),
    "log10": (1e-3, 9),
    "log1p": (-0.9, 9),
    "sqrt": (0, 9),
    "power": (0.1, 4),
    "float_power": (0.1, 4),
}


def operands(name, count, rng):
    low, high = DOMAIN.get(name, (-4, 4))
    if name == "clip":
        return [rng.uniform(-4, 4, 40), rng.uniform(-2, 0, 40), rng.uniform(0, 2, 40)]
    return [rng.uniform(low, high, 40) for _ in range(count)]


def ufunc_kernel(name, count):
    f = getattr(np, name)
    if name in BITWISE:
        return [kernel(lambda a: f(a > 0)), kernel(lambda a, b: f(a > 0, b > 0))][count - 1]
    return [kernel(lambda a: f(a)), kernel(lambda a, b: f(a, b)), kernel(lambda a, b, c: f(a, b, c))][count - 1]


@pytest.mark.parametrize("name", tracing.UFUNCS)
def test_ufunc(name):
    count, rng = tracing.UFUNCS[name][0], np.random.default_rng(3)
    k = ufunc_kernel(name, count)
    args = operands(name, count, rng)
    values = [a > 0 for a in args] if name in BITWISE else args
    expected = as_float(getattr(np, name)(*values))
    np.testing.assert_allclose(k(*args), expected, rtol=UFUNC)
    np.testing.assert_allclose(k(*[a[7] for a in args]), expected[7], rtol=UFUNC)
    np.testing.assert_allclose(as_float(k.eager(*[a[7] for a in args])), expected[7], rtol=UFUNC)


@pytest.mark.parametrize("name", [n for n, (count, _) in tracing.UFUNCS.items() if count < 3 and n not in BITWISE])
def test_ufunc_on_special_numbers(name):
    """Zeros, infinities, NaN: as NumPy has it, but for the sign of a zero."""
    count = tracing.UFUNCS[name][0]
    args = [np.array(x) for x in zip(*product(SPECIAL, repeat=count), strict=True)]
    with np.errstate(all="ignore"):
        expected = as_float(getattr(np, name)(*args))
    np.testing.assert_allclose(ufunc_kernel(name, count)(*args), expected, rtol=UFUNC)


def test_ufuncs_of_scalars_taken_from_arrays():
    @kernel(x=3)
    def f(x):
        a, b, c = x
        return np.array(
            [np.sin(a) * b**2, -a + abs(b), 2.0**c, a % 2.0, 7 // (abs(c) + 1), +a, 1 / (2 + a), a - 1, 3 - b]
        )

    x = np.random.default_rng(0).standard_normal((6, 3))
    np.testing.assert_allclose(f(x), [f.eager(row) for row in x], rtol=ALGEBRA)


@pytest.mark.parametrize("exponent", [-16, -3, -1, 0, 0.5, 1, 2, 3, 16, 17, 2.5, -0.5, np.inf, -np.inf, np.nan])
def test_constant_powers(exponent):
    x = np.array([0.3, 0.9, 1.0, 1.7, 2.0])
    with np.errstate(all="ignore"):
        expected = x**exponent
    # Small whole powers are repeated squarings: each of the up to five rounds once, and is squared afterwards.
    np.testing.assert_allclose(kernel(lambda x: x**exponent)(x), expected, rtol=20 * EPS)


# --- everything else that algorithms use ------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: Any
    second: Any


V3, M3, M23 = {"a": 3, "b": 3}, {"a": (3, 3), "b": (3, 3)}, {"a": (2, 3), "b": (3, 2)}
FUNCTIONS = {
    "cross": (lambda a, b: np.cross(a, b), V3),
    "linalg.cross": (lambda a, b: np.linalg.cross(a, b), V3),
    "dot": (lambda a, b: np.dot(a, b), V3),
    "a.dot": (lambda a, b: a.dot(b), V3),
    "vdot": (lambda a, b: np.vdot(a, b), V3),
    "inner": (lambda a, b: np.inner(a, b), V3),
    "vecdot": (lambda a, b: np.linalg.vecdot(a, b), V3),
    "outer": (lambda a, b: np.outer(a, b), V3),
    "linalg.outer": (lambda a, b: np.linalg.outer(a, b), V3),
    "kron": (lambda a, b: np.kron(a, b), M23),
    "matmul": (lambda a, b: a @ b, M23),
    "matmul function": (lambda a, b: np.matmul(a, b), M23),
    "matrix @ vector": (lambda a, b: a @ b, {"a": (2, 3), "b": 3}),
    "vector @ matrix": (lambda a, b: b @ a, {"a": (3, 2), "b": 3}),
    "constant @ traced": (lambda a: np.arange(6.0).reshape(2, 3) @ a, {"a": 3}),
    "traced @ constant": (lambda a: a @ np.arange(6.0).reshape(3, 2), {"a": 3}),
    "linalg.matmul": (lambda a, b: np.linalg.matmul(a, b), M23),
    "tensordot": (lambda a, b: np.tensordot(a, b, axes=1), M23),
    "multi_dot": (lambda a, b: np.linalg.multi_dot([a, b, a]), M23),
    "einsum trace": (lambda a: np.einsum("ii", a), {"a": (3, 3)}),
    "einsum diagonal": (lambda a: np.einsum("ii->i", a), {"a": (3, 3)}),
    "einsum product": (lambda a, b: np.einsum("ij,jk->ik", a, b), M23),
    "einsum form": (lambda a, b: np.einsum("i,ij,j->", b, a, b), {"a": (3, 3), "b": 3}),
    "einsum ellipsis": (lambda a, b: np.einsum("...i,i->...", a, b), {"a": (2, 3), "b": 3}),
    "trace": (lambda a: np.trace(a), {"a": (3, 3)}),
    "linalg.trace": (lambda a: np.linalg.trace(a), {"a": (3, 3)}),
    "diag of matrix": (lambda a: np.diag(a), {"a": (3, 3)}),
    "diag of vector": (lambda a: np.diag(a), {"a": 3}),
    "diagonal": (lambda a: np.diagonal(a, 1), {"a": (3, 3)}),
    "tril": (lambda a: np.tril(a) + np.triu(a, 1) * 2, {"a": (3, 3)}),
    "stack": (lambda a, b: np.stack([a, b], axis=-1), V3),
    "concatenate": (lambda a, b: np.concatenate([a, b, [1.0]]), V3),
    "hstack": (lambda a, b: np.hstack([a, b]), V3),
    "vstack": (lambda a, b: np.vstack([a, b]), V3),
    "column_stack": (lambda a, b: np.column_stack([a, b]), V3),
    "block": (lambda a, b: np.block([[a, b.T], [np.zeros((1, 3)), np.ones((1, 3))]]), M23),
    "append": (lambda a, b: np.append(a, b), V3),
    "array of scalars": (lambda a: np.array([[a[0], 0, -a[1]], [1.0, a[2], a[0] * a[1]]]), {"a": 3}),
    "array of arrays": (lambda a, b: np.array([a, b]), V3),
    "list result": (lambda a, b: [a[0], [b[1]][0], 2.0], V3),
    "sin of array of scalars": (lambda a: np.sin(np.array([a[0], a[1] * a[2]])), {"a": 3}),
    "norm of array of scalars": (lambda a: np.linalg.norm(np.array([a[0], a[1], 1.0])), {"a": 3}),
    "reshape": (lambda a: a.reshape(3, 2) + np.reshape(a, (3, -1)), {"a": (2, 3)}),
    "ravel": (lambda a: np.ravel(a) + a.flatten(), {"a": (2, 3)}),
    "transpose": (lambda a: a.T + np.transpose(a) + a.transpose(1, 0) + np.swapaxes(a, 0, 1), {"a": (2, 3)}),
    "matrix_transpose": (lambda a: np.matrix_transpose(a) + np.linalg.matrix_transpose(a) + a.mT, {"a": (2, 3)}),
    "moveaxis": (lambda a: np.moveaxis(a, 0, -1), {"a": (2, 3, 2)}),
    "squeeze and expand": (lambda a: np.expand_dims(np.squeeze(a), 0), {"a": (1, 3)}),
    "broadcast_to": (lambda a: np.broadcast_to(a, (2, 3)) * np.arange(6.0).reshape(2, 3), {"a": 3}),
    "tile": (lambda a: np.tile(a, (2, 1)), {"a": 3}),
    "repeat": (lambda a: np.repeat(a, 2), {"a": 3}),
    "roll": (lambda a: np.roll(a, 1) - a, {"a": 3}),
    "flip": (lambda a: np.flip(a) + a[::-1], {"a": 3}),
    "take": (lambda a: np.take(a, [2, 0, 0]), {"a": 3}),
    "split": (lambda a: np.split(a, 3)[1], {"a": 3}),
    "zeros_like": (lambda a: np.zeros_like(a) + np.ones_like(a) + np.full_like(a, 2.0), {"a": 3}),
    "eye": (lambda a: np.eye(3) * a + np.identity(3), {"a": 3}),
    "index": (lambda a: a[1, 2], {"a": (2, 3)}),
    "index row": (lambda a: a[-1], {"a": (2, 3)}),
    "slice": (lambda a: a[:, ::2], {"a": (2, 3)}),
    "new axis": (lambda a: a[1:, None], {"a": (2, 3)}),
    "ellipsis": (lambda a: a[..., 0], {"a": (2, 3)}),
    "index array": (lambda a: a[[2, 0, 2]], {"a": 3}),
    "index arrays": (lambda a: a[[0, 1], [2, 0]], {"a": (2, 3)}),
    "index grid": (lambda a: a[np.ix_([0, 1], [2, 0])], {"a": (2, 3)}),
    "constant mask": (lambda a: a[np.array([True, False, True])], {"a": 3}),
    "triangle": (lambda a: a[np.triu_indices(3)], {"a": (3, 3)}),
    "unpacking": (lambda a: (lambda x, y, z: x * y - z)(*a), {"a": 3}),
    "iteration": (lambda a: sum(x * x for x in a), {"a": 3}),
    "sum": (lambda a: np.sum(a) + a.sum(), {"a": (2, 3)}),
    "sum axis": (lambda a: np.sum(a, axis=0), {"a": (2, 3)}),
    "sum keepdims": (lambda a: a / np.sum(a * a, axis=1, keepdims=True), {"a": (2, 3)}),
    "prod": (lambda a: np.prod(a) * a.prod(axis=0), {"a": (2, 3)}),
    "mean": (lambda a: np.mean(a) + a.mean(axis=1) + np.mean(a, axis=1, keepdims=True)[:, 0], {"a": (2, 3)}),
    "max": (lambda a: np.max(a, axis=1, keepdims=True) - a.min(axis=0), {"a": (2, 3)}),
    "amin": (lambda a: np.amin(a) + np.amax(a) + a.max() + np.min(a), {"a": (2, 3)}),
    "cumsum": (lambda a: np.cumsum(a) + a.cumsum(), {"a": 3}),
    "cumprod": (lambda a: np.cumprod(a), {"a": 3}),
    "diff": (lambda a: np.diff(a), {"a": 3}),
    "add.reduce": (lambda a: np.add.reduce(a) * np.multiply.accumulate(a), {"a": 3}),
    "multiply.outer": (lambda a, b: np.multiply.outer(a, b), V3),
    "all and any": (lambda a, b: np.where(np.all(a > b), 1.0, np.where(np.any(a > b), 2.0, 3.0)), V3),
    "where": (lambda a, b: np.where(a > b, a, 2 * b), V3),
    "where broadcast": (lambda a, b: np.where(a[:, None] > b, a[0], np.eye(3)), V3),
    "masks": (lambda a, b: np.where((a > 0) & ~(b > 0) | (a > b), a, b), V3),
    "masks as numbers": (lambda a, b: (a > 0) * b + (b <= a), V3),
    "clip": (lambda a: np.clip(a, -0.5, 0.5) + a.clip(0.1), {"a": 3}),
    "clip max": (lambda a: np.clip(a, None, 0.25), {"a": 3}),
    "norm": (lambda a: np.linalg.norm(a), {"a": 3}),
    "norm fro": (lambda a: np.linalg.norm(a) + np.linalg.norm(a, "fro"), {"a": (2, 3)}),
    "norm axis": (lambda a: np.linalg.norm(a, axis=1), {"a": (2, 3)}),
    "norm keepdims": (lambda a: a / np.linalg.norm(a, axis=1, keepdims=True), {"a": (2, 3)}),
    "norm 1": (lambda a: np.linalg.norm(a, 1) + np.linalg.norm(a, np.inf), {"a": 3}),
    "det": (lambda a: np.linalg.det(a), {"a": (3, 3)}),
    "solve vector": (lambda a, b: np.linalg.solve(a, b), {"a": (3, 3), "b": 3}),
    "solve matrix": (lambda a, b: np.linalg.solve(a, b), {"a": (3, 3), "b": (3, 2)}),
    "inv": (lambda a: np.linalg.inv(a), {"a": (3, 3)}),
    "cholesky": (lambda a: np.linalg.cholesky(a @ a.T + np.eye(3)), {"a": (3, 3)}),
    "constant solve": (lambda b: np.linalg.solve(np.array([[0.0, 2.0], [3.0, 1.0]]), b), {"b": 2}),
    "astype": (lambda a: a.astype(float) + np.asarray(a), {"a": 3}),
    "copy": (lambda a: a.copy() + np.copy(a), {"a": 3}),
    "filled object array": (lambda a: _filled(a), {"a": 3}),
    "interp by hand": (lambda a: np.sign(a) * np.sqrt(np.abs(a)) + np.float64(2) * a - np.float32(1), {"a": 3}),
    "empty": (lambda a: a[3:], {"a": 3}),
    "constant result": (lambda a: np.arange(3.0), {"a": 3}),
}


def _filled(a):
    b = a.copy()
    b[0] = a[1] * 2
    b[1] += 1
    b *= 2.0
    return b


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    fn, shapes = FUNCTIONS[name]
    rng, k = np.random.default_rng(5), kernel(fn, **shapes)
    args = [rng.standard_normal((2, 3, *np.atleast_1d(s))) for s in shapes.values()]
    result = k(*args)
    for i in np.ndindex(2, 3):
        expected = np.asarray(fn(*[a[i] for a in args]), float)
        # The 3 x 3 systems of this seed have condition numbers below 100.
        units = 100 if name in ("solve vector", "solve matrix", "inv") else 1
        np.testing.assert_allclose(result[i], expected, rtol=units * ALGEBRA, atol=units * ALGEBRA)
        np.testing.assert_allclose(as_float(k.eager(*[a[i] for a in args])), expected, rtol=0, atol=0)
    np.testing.assert_array_equal(k(*[a[1, 2] for a in args]), result[1, 2])
    assert result.shape == (2, 3, *np.shape(fn(*[a[0, 0] for a in args])))


def test_floor_division_is_that_of_python():
    x, y = np.array([1.0, 6.0, -1.0, 7.5, -7.5]), np.array([0.1, 0.1, 0.1, 2.5, 2.5])
    np.testing.assert_array_equal(kernel(lambda x, y: x // y)(x, y), x // y)  # 9, 59: not floor(x / y)


def test_solve_pivots():
    """Rows come in an order that plain elimination divides by zero in."""
    f = kernel(lambda a, b: np.linalg.solve(a, b), a=(4, 4), b=4)
    rng = np.random.default_rng(1)
    for p in range(4):
        a = np.roll(np.diag([1.0, 2.0, 3.0, 4.0]), p, axis=0)
        b = rng.standard_normal(4)
        np.testing.assert_allclose(f(a, b), np.linalg.solve(a, b), rtol=ALGEBRA)
    assert not np.isfinite(f(np.zeros((4, 4)), np.ones(4))).all()  # singular: NumPy raises, a kernel cannot


# --- random programs --------------------------------------------------------------------------------------------------

# Every operation maps [-1, 1] to itself with slope at most 2, so that ten of them enlarge a rounding error to at most
# 2^10 of them: 1e-12 holds comfortably.
SMOOTH = [
    lambda a, b: 0.5 * (a + b),
    lambda a, b: 0.5 * (a - b),
    lambda a, b: a * b,
    lambda a, b: np.sin(a),
    lambda a, b: np.cos(b),
    lambda a, b: np.tanh(a - b),
    lambda a, b: -a,
    lambda a, b: a / (2 + b),
    lambda a, b: np.sqrt(1 + a * a) - 1,
    lambda a, b: np.minimum(a, b),
    lambda a, b: np.where(a < b, b, a),
    lambda a, b: np.abs(a),
    lambda a, b: np.arctan2(a, 2 + b),
    lambda a, b: np.exp(a) / 3,
    lambda a, b: a**3,
    lambda a, b: 0.25,
]
# Exact on small whole numbers, so that every way of computing agrees to the bit.
WHOLE = [
    lambda a, b: np.clip(a + b, -9, 9),
    lambda a, b: np.clip(a - b, -9, 9),
    lambda a, b: np.clip(a * b, -9, 9),
    lambda a, b: np.where(a < b, a, -b),
    lambda a, b: np.where((a >= 0) & ~(b == a), a, 1.0),
    lambda a, b: np.floor(a / 4),
    lambda a, b: np.rint(b / 2),
    lambda a, b: np.sign(a) + np.abs(b),
    lambda a, b: np.remainder(a, 5),
    lambda a, b: (a != b) * 3,
    lambda a, b: np.maximum(a, 2),
    lambda a, b: -a,
]


def run(table, program, x):
    values = list(x)
    for op, i, j in program:
        values.append(table[op](values[i % len(values)], values[j % len(values)]))
    return np.array(values[-3:])


def three_ways(table, program, x):
    k = kernel(lambda x: run(table, program, x), x=4)
    eager = np.array([as_float(k.eager(row)) for row in x])
    roots = k.only_specialisation("test").program.roots
    interpreted = [
        interpreter.evaluate(roots, interpreter.Inputs({("x", i): float(e) for i, e in enumerate(row)})) for row in x
    ]
    return eager, as_float(interpreted), k(x)


def programs(table):
    return st.lists(
        st.tuples(st.integers(0, len(table) - 1), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=10
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(program=programs(SMOOTH), seed=st.integers(0, 9))
def test_random_smooth_programs(program, seed):
    x = np.random.default_rng(seed).uniform(-1, 1, (3, 4))
    eager, interpreted, compiled = three_ways(SMOOTH, program, x)
    np.testing.assert_allclose(interpreted, eager, rtol=0, atol=1e-12)
    np.testing.assert_allclose(compiled, eager, rtol=0, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(program=programs(WHOLE), seed=st.integers(0, 9))
def test_random_whole_number_programs(program, seed):
    x = np.random.default_rng(seed).integers(-9, 10, (3, 4)).astype(float)
    eager, interpreted, compiled = three_ways(WHOLE, program, x)
    np.testing.assert_array_equal(interpreted, eager)
    np.testing.assert_array_equal(compiled, eager)


# --- what cannot be traced --------------------------------------------------------------------------------------------


def python_if(x):
    return x if x > 0 else -x


def python_while(x):
    while x < 1:
        x = 2 * x
    return x


def python_and(x):
    return x > 0 and x < 1


def chained_comparison(x):
    return 0 < x < 1


def python_not(x):
    return not x > 0


def write_into_float_array(x):
    return np.zeros(2).__setitem__(0, x)


def inplace_add_into_float_array(v):
    total = np.zeros(3)
    total += v
    return total


def ufunc_out(v):
    return np.add(v, 1.0, out=np.zeros(3))


def write_to_argument(v):
    v[0] = 1.0
    return v


def inplace_add_to_argument(v):
    v += 1.0
    return v


def index_scalar(x):
    return x[0]


def to_float(x):
    return float(x)


def to_int(x):
    return int(x)


def as_index(x):
    return np.arange(3.0)[x]


def range_of(x):
    return range(x)


def mask_index(v):
    return v[v > 0]


def where_of_one(v):
    return np.where(v > 0)


def unsupported_linalg(v):
    return np.linalg.svd(np.outer(v, v))


def unsupported_ufunc(v):
    return np.nextafter(v, 1.0)


def unsupported_norm(v):
    return np.linalg.norm(v, 3)


def ufunc_at(v):
    return np.add.at(v, [0], 1.0)


def ufunc_where(v):
    return np.sum(v, where=v > 0)


def cast_to_int(v):
    return v.astype(int)


def not_square(v):
    return np.linalg.inv(np.outer(v, v[:2]))


def wrong_right_side(v):
    return np.linalg.solve(np.outer(v, v), v[:2])


def math_function(x):
    return __import__("math").sin(x)


def own_mistake(v):
    return v.not_there


def wrong_shapes(v):
    return v + np.ones(4)


def compare_plain_array(v):
    return np.array([v[0], v[1]]) > 0


def maximum_of_plain_array(v):
    return np.maximum(np.array([v[0], 1.0]), 0.0)


def where_of_plain_array(v):
    return np.where(np.array([v[0] > 0, v[1] > 0]), 1.0, 2.0)


def sin_of_plain_array(v):
    return np.sin(np.array([v[0], 1.0]))


# function -> (line of the culprit in it, words of the message: the problem, the remedy)
UNTRACEABLE = {
    python_if: (1, ["known only when the kernel runs", "np.where"]),
    python_while: (1, ["known only when the kernel runs", "while_loop"]),
    python_and: (1, ["known only when the kernel runs", "`&`"]),
    chained_comparison: (1, ["known only when the kernel runs", "`&`"]),
    python_not: (1, ["known only when the kernel runs", "`~`"]),
    write_into_float_array: (1, ["float array", "np.stack"]),
    inplace_add_into_float_array: (2, ["float array", "np.stack"]),
    ufunc_out: (1, ["float array", "np.stack"]),
    write_to_argument: (1, ["read-only", "arguments must not be written to"]),
    inplace_add_to_argument: (1, ["read-only", "arguments must not be written to"]),
    index_scalar: (1, ["scalar", "declare the shape"]),
    to_float: (1, ["Python number", "keep numbers as they are"]),
    to_int: (1, ["Python number", "keep numbers as they are"]),
    range_of: (1, ["Python number", "keep numbers as they are"]),
    as_index: (1, ["IndexError"]),
    mask_index: (1, ["np.where"]),
    where_of_one: (1, ["unknown size", "np.where(c, a, b)"]),
    unsupported_linalg: (1, ["np.linalg.svd is not supported", "cholesky"]),
    unsupported_ufunc: (1, ["np.nextafter is not supported", "elementary functions"]),
    unsupported_norm: (1, ["ord=3", "supported: 2, 1"]),
    ufunc_at: (1, ["in place", "new array"]),
    ufunc_where: (1, ["where=", "np.where"]),
    cast_to_int: (1, ["int64", "np.floor"]),
    not_square: (1, ["(3, 2)", "square"]),
    wrong_right_side: (1, ["(2,)", "(n,)"]),
    math_function: (1, ["Python number", "keep numbers as they are"]),
    # np.array([...]) of traced scalars is not ours to redirect: the message must say what is.
    compare_plain_array: (1, ["np.stack"]),
    maximum_of_plain_array: (1, ["np.stack"]),
    where_of_plain_array: (1, ["np.stack"]),
    sin_of_plain_array: (1, ["np.stack"]),
    own_mistake: (1, ["not_there", "AttributeError"]),
    wrong_shapes: (1, ["(3,)", "(4,)"]),
}


@pytest.mark.parametrize("fn", UNTRACEABLE, ids=lambda fn: fn.__name__)
def test_untraceable(fn):
    offset, words = UNTRACEABLE[fn]
    k = kernel(fn, v=3) if "v" in fn.__code__.co_varnames[: fn.__code__.co_argcount] else kernel(fn)
    argument = np.ones(3) if "v" in fn.__code__.co_varnames else 1.0
    for _ in range(2):  # the second call says the same: nothing half-made is kept
        with pytest.raises(TraceError) as caught:
            k(argument)
        message = str(caught.value)
        assert f"{__file__}:{fn.__code__.co_firstlineno + offset}" in message
        for word in words:
            assert word in message


RESULTS = {
    "tuple": (lambda x: (x, x), "tuple", "NamedTuple"),
    "None": (lambda x: None, "None", "one array"),
    "dict": (lambda x: {"a": x}, "dict", "NamedTuple"),
    "string": (lambda x: "x", "str", "array of numbers"),
    "ragged list": (lambda x: [[x], [x, x]], "list", "array of numbers"),
    "object": (lambda x: object(), "object", "array of numbers"),
    "NamedTuple of None": (lambda x: Pair(x, None), "second", "array of numbers"),
    "complex": (lambda x: 1j, "complex", "array of numbers"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_wrong_result(name):
    fn, problem, remedy = RESULTS[name]
    with pytest.raises(TraceError, match=problem) as caught:
        kernel(fn)(1.0)
    assert remedy in str(caught.value)


def test_results_that_are_right():
    pair = kernel(lambda x: Pair(x, 2.0))(3.0)
    assert type(pair) is Pair and pair == (3.0, 2.0)
    assert kernel(lambda x: x > 2)(3.0) == 1.0
    assert np.asarray(kernel(lambda x: 5)(np.zeros(3))).tolist() == [5.0, 5.0, 5.0]


def test_functions_made_by_exec_belong_to_no_module():
    assert kernel(eval("lambda x: 2 * x", {}))(1.5) == 3.0


class Doubles:
    def __call__(self, x):
        return 2 * x

    def method(self, x):
        return 2 * x


@pytest.mark.parametrize(
    "make", [lambda: functools.partial(np.multiply, 2.0), Doubles, lambda: Doubles().method, lambda: np.sin]
)
def test_callables_that_are_no_plain_functions(make):
    """They work, or are refused in words."""
    try:
        assert kernel(make())(1.5) == 3.0
    except ArgumentError as e:
        assert "kernel" in str(e)


DECLARATIONS = {
    "star": (lambda: kernel(lambda *args: 0.0), "named parameters"),
    "double star": (lambda: kernel(lambda **kwargs: 0.0), "named parameters"),
    "out": (lambda: kernel(lambda out: 0.0), "'out'"),
    "unknown name": (lambda: kernel(lambda x: x, y=3), "no parameter y"),
    "negative": (lambda: kernel(lambda x: x, x=-1), "whole numbers"),
    "float": (lambda: kernel(lambda x: x, x=3.0), "whole numbers"),
    "bool": (lambda: kernel(lambda x: x, x=(True,)), "whole numbers"),
    "not a function": (lambda: kernel(3), "needs a function"),
    "unknown attribute": (lambda: kernel(lambda x: x, x="nq")(np.ones(3)), "none has it: there are none; declare one"),
}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_wrong_declaration(name):
    declare, words = DECLARATIONS[name]
    with pytest.raises(ArgumentError, match=words):
        declare()


def test_error_in_a_nested_kernel_names_the_inner_line():
    inner = kernel(python_if)
    with pytest.raises(TraceError, match=f"test_trace.py:{python_if.__code__.co_firstlineno + 1}"):
        kernel(lambda x: inner(x) + 1)(1.0)


# --- kernels in kernels -----------------------------------------------------------------------------------------------


def test_nested_kernels_inline():
    inner = kernel(lambda v: Pair(v @ v, 2 * v), v=3)
    outer = kernel(lambda v: inner(v).first + inner(v).second[0] + inner(np.ones(3)).first, v=3)
    v = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose(outer(v), np.sum(v * v, -1) + 2 * v[:, 0] + 3, rtol=ALGEBRA)
    assert outer.operations.muls == 4  # inlined, and v @ v computed once


def test_nested_kernel_with_batch_axes():
    inner = kernel(lambda v, s: s * v, v=2)
    outer = kernel(lambda m: inner(m, m[:, 0]), m=(3, 2))
    m = np.random.default_rng(0).standard_normal((4, 3, 2))
    np.testing.assert_array_equal(outer(m), m * m[..., :1])
    with pytest.raises(AdjointError, match="'v'"):
        kernel(lambda m: inner(m, 1.0), m=(3, 3))(np.ones((3, 3)))


def test_eager_runs_nested_kernels_as_python():
    """Also after the nested kernel was compiled and called."""
    seen = []

    @kernel
    def inner(x):
        seen.append(type(x))
        return 2 * x

    assert inner(1.5) == inner(1.5) == 3.0
    seen.clear()
    assert kernel(lambda x: inner(x)).eager(1.5) == 3.0
    assert len(seen) == 1


# --- CasADi's process-wide settings -----------------------------------------------------------------------------------


def test_casadi_numpy_mode_is_untouched():
    import casadi

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = casadi.GlobalOptions.getNumpyMode()
    f = kernel(lambda v: np.linalg.norm(np.cross(v, v[::-1])), v=3)
    f(np.ones((2, 3)))
    f.eager(np.ones(3))
    f.symbolic()(casadi.DM([1, 2, 3]))
    f(casadi.SX.sym("v", 3))
    f.jacobian("v")(np.arange(3.0))
    assert casadi.GlobalOptions.getNumpyMode() == before


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


def test_whole_numbers_are_real_numbers():
    agree(kernel(lambda x: np.stack([x, 3_000_000_000]) * 4_000_000_000), 1.0)
    agree(kernel(lambda x: np.ones_like(x) ** -1 + x, x=2), [1.0, 2.0])
    inverse = kernel(lambda x: x**-1)
    assert agree(kernel(lambda x: inverse(2) + x), 1.0) == 1.5


def test_numpy_functions_that_treat_objects_specially():
    x = np.array([np.nan, np.inf, 1.0])
    agree(kernel(lambda x: np.nan_to_num(x, nan=3.0, posinf=7.0), x=3), x)
    agree(kernel(lambda x: np.round(x, 1), x=2), [0.26, -1.34])
    with pytest.raises(TraceError, match="nansum"):
        kernel(lambda x: np.nansum(x), x=3)(x)
    with pytest.raises(TraceError, match="norm"):
        kernel(lambda A: np.linalg.norm(A, 2, axis=(0, 1)), A=(2, 2))(np.eye(2))
    for bad in (lambda x: np.sum(x, dtype=int), lambda x: x.astype(np.float32), lambda x: np.mean(x, out=np.zeros(()))):
        with pytest.raises(TraceError):
            kernel(bad, x=3)(x)


def test_truth_values_follow_numpy():
    agree(kernel(lambda x, y: (x > 0) + (y > 0)), 1.0, 2.0)
    agree(kernel(lambda x: np.sum(x > 0) + np.prod(x > -5), x=3), [1.0, 2.0, -1.0])
    for bad in (lambda x: ~x, lambda x: x & 1.0, lambda x: (x > 0) - (x > 1), lambda x: -(x > 0)):
        with pytest.raises(TraceError, match="truth"):
            kernel(bad)(1.0)


def test_a_cast_is_a_copy():
    def f(x):
        t = x * 2
        y = t.astype(float)
        y[0] = 100.0
        return np.concatenate([t, y])

    agree(kernel(f, x=2), [1.0, 2.0])


def test_errors_name_the_line_in_code_without_a_file():
    done = subprocess.run(
        [sys.executable, "-c", "from adjoint import kernel\n\nkernel(lambda x: 1.0 if x > 0 else 2.0)(1.0)"],
        capture_output=True,
        text=True,
    )
    assert "<string>:3" in done.stderr


def test_kernels_take_lists_of_traced_values():
    g = kernel(lambda v: v @ v, v=3)
    assert agree(kernel(lambda x: g([x, 2.0, 0.0]) + g(np.array([x, x, 1.0]))), 3.0) == 13 + 19


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_determinants_of_singular_matrices(n):
    k = kernel(lambda A: np.linalg.det(A), A=(n, n))
    assert k(np.zeros((n, n))) == 0.0
    if n > 1:
        assert k(np.ones((n, n))) == 0.0
    A = np.random.default_rng(n).normal(size=(n, n))
    np.testing.assert_allclose(k(A), np.linalg.det(A), rtol=1e-12)  # n! products of condition a few hundred
    if 1 < n < 7:  # Jacobi: d det = tr(adj(A) dA), and adj(ones) = 0 for n > 2, [[1, -1], [-1, 1]] for n = 2
        np.testing.assert_allclose(k.jacobian("A")(np.ones((n, n))), [[1, -1], [-1, 1]] if n == 2 else 0, atol=1e-14)


def test_own_exceptions_come_through():
    def f(x, mode="rad"):
        if mode not in ("deg", "rad"):
            raise ValueError("mode must be deg or rad")
        return x

    with pytest.raises(ValueError, match=r"^mode must be deg or rad$"):
        kernel(f)(1.0, mode="grad")
