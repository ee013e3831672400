"""Loops: scan and while_loop are the same eagerly, compiled and in C, of any length, and differentiable."""

import ctypes
import os
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.compiled import agree

from adjoint import check_grads, kernel, row_at, scan, while_loop
from adjoint.compile import each_row
from adjoint.errors import ArgumentError, DerivativeError, TraceError

EPS = np.finfo(float).eps
# Loops of up to 20 turns with contracting steps: an error of a rounding or two a turn.
ROUNDING = 100 * EPS


class State(NamedTuple):
    x: object
    v: object


def close(got, wanted, atol=ROUNDING):
    got, wanted = (r if isinstance(r, tuple | list) else (r,) for r in (got, wanted))
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(g, float), np.asarray(w, float), rtol=ROUNDING, atol=atol)


def in_c(k, args, folder, length=None):
    """The outputs of a kernel's C source, compiled by the system's compiler."""
    source, library = folder / "k.c", folder / f"k{len(list(folder.iterdir()))}.so"
    text = k.source("c")
    source.write_text(text)
    subprocess.run(["cc", "-std=c99", "-O1", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    program = k.only_specialisation("test").program
    name = text.split("\nvoid ")[1].split("(")[0]
    arrays = [np.ascontiguousarray(a, float) for a in args]
    outputs = [np.full((length, *o.shape) if o.sequence else o.shape, np.nan) for o in program.outputs]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, *outputs)]
    head = [] if length is None else [ctypes.c_long(length)]
    work = np.zeros(100 * ((length or 0) + 1))
    getattr(ctypes.CDLL(str(library)), name)(*head, *pointers, work.ctypes.data_as(ctypes.c_void_p))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


# --- lengths known when traced ----------------------------------------------------------------------------------------


def decay(c, x):
    c = 0.5 * c + np.sin(x)
    return c, c * x


def tuple_carry(a):
    (s, (v, n)), ys = scan(lambda c, x: ((c[0] + x, (0.5 * c[1][0] + x, c[1][1] + 1)), c[0]), (0.0, (a[:2], 0.0)), a)
    return np.concatenate([[s, n], v, ys])


def dict_carry(a):
    carry, ys = scan(
        lambda c, x: ({"p": c["q"] + x, "q": 0.5 * c["p"]}, {"p": c["p"], "x": x}), {"p": a[0], "q": 1.0}, a
    )
    return np.concatenate([[carry["p"], carry["q"]], ys["p"], ys["x"]])


def named_carry(a):
    end, ys = scan(lambda s, u: (State(s.x + 0.1 * s.v, s.v - 0.1 * s.x + u), State(s.v, s.x)), State(a[0], a[1]), a)
    return np.concatenate([[end.x, end.v], ys.x, ys.v])


def dict_of_xs(a):
    return scan(lambda c, x: (c + x["a"] * x["b"][0], None), 0.0, {"a": a, "b": np.stack([a, a], 1)})[0]


def nested(a):
    def outer(c, x):
        inner, ys = scan(lambda d, y: (0.5 * d + x * y + c, d), x, a)  # closes over x, c and a
        return 0.1 * inner + ys[1], np.sum(ys)

    c, ys = scan(outer, 1.0, a)
    return np.append(ys, c)


def nested_stack(a):
    ys = scan(lambda c, x: (c + x, scan(lambda d, y: (d + y, d * x), c, a)[1]), 0.0, a)[1]
    return ys  # (n, n)


def twice_scanned(a):
    first = scan(lambda c, x: (0.5 * c + x, Pair(c, x * x)), 0.0, a)[1]
    return scan(lambda c, p: (0.5 * c + p[0] * p[1], c), 1.0, (first[0], first[1]), reverse=True)[1]


class Pair(NamedTuple):
    first: Any
    second: Any


def truth_in_carry(a):
    (found, at), ys = scan(
        lambda c, x: ((np.logical_or(c[0], x > 0.5), c[1] + np.where(c[0], 0.0, 1.0)), c[0]), (False, 0.0), a
    )
    return np.append(np.asarray(ys) * 1.0, [np.where(found, 1.0, 0.0), at])


def matrix_carry(a):
    return scan(lambda m, x: (0.5 * m @ np.array([[1.0, x], [-x, 1.0]]), None), np.eye(2), a)[0]


def constant_xs(a):
    return scan(lambda c, x: (0.5 * c + x * a[0], c), 0.0, np.arange(5.0))[1]


def without_xs(a):
    return scan(lambda c, _: (0.5 * c + a, c[0]), a, length=7)[1]


def ignores_carry(a):
    return scan(lambda c, x: (c, 2 * x), 0.0, a)[1]


def constant_output(a):
    return scan(lambda c, x: (c + x, 1.0), 0.0, a)[1]


def scan_in_reverse(a):
    return scan(decay, a[0], a, reverse=True)[1]


FIXED = [
    tuple_carry,
    dict_carry,
    named_carry,
    dict_of_xs,
    nested,
    nested_stack,
    twice_scanned,
    truth_in_carry,
    matrix_carry,
    constant_xs,
    without_xs,
    ignores_carry,
    constant_output,
    scan_in_reverse,
]


@pytest.mark.parametrize("fn", FIXED, ids=lambda f: f.__name__)
def test_scan(fn, tmp_path):
    a = np.random.default_rng(0).uniform(-1, 1, (9, 4))
    k = kernel(fn, a=4)
    wanted = np.array([np.asarray(k.eager(row), float) for row in a])
    close(k(a), wanted)
    close(k(a[3]), wanted[3])
    close(np.ravel(in_c(k, [a[3]], tmp_path)), np.ravel(wanted[3]))


@pytest.mark.parametrize("length", [0, 1, 2, 17])
@pytest.mark.parametrize("reverse", [False, True])
def test_lengths(length, reverse, tmp_path):
    k = kernel(lambda a, c: Pair(*scan(decay, c, a, reverse=reverse)), a=length)
    a, c = np.random.default_rng(0).uniform(-1, 1, (9, length)), np.linspace(0, 1, 9)
    result = k(a, c)
    assert result.second.shape == (9, length)
    for i in range(9):
        wanted = k.eager(a[i], c[i])
        close((result.first[i], result.second[i]), wanted)
    if length:
        close(in_c(k, [a[4], c[4]], tmp_path), k.eager(a[4], c[4]))


def test_scan_without_a_kernel_is_a_python_loop():
    c, ys = scan(lambda c, x: (c + x, (c, None)), 0.0, np.arange(4.0))
    assert c == 6 and ys[0].tolist() == [0, 0, 1, 3] and ys[1] is None
    assert scan(lambda c, _: (c + 1, None), 0, length=3) == (3, None)
    c, ys = scan(lambda c, x: (c, x[:2]), 0.0, np.zeros((0, 3)))
    assert ys.shape == (0, 2)


# --- lengths known when called ----------------------------------------------------------------------------------------


def running(v, c):
    end, ys = scan(lambda c, x: (0.5 * c + np.sum(x), Pair(c * x, c)), c, v)
    return Four(end, ys.first, ys.second, scan(lambda d, y: (0.5 * d + y, d), 0.0, ys.second, reverse=True)[1])


class Four(NamedTuple):
    end: object
    rows: object
    carries: object
    back: object


@pytest.fixture(scope="module")
def four():
    return kernel(running, v=(..., 2))


@pytest.mark.parametrize("length", [0, 1, 2, 7, 100])
def test_sequences(four, length, tmp_path):
    rng = np.random.default_rng(0)
    v, c = rng.uniform(-1, 1, (11, length, 2)), rng.uniform(-1, 1, 11)
    result = four(v, c)
    assert [r.shape for r in result] == [(11,), (11, length, 2), (11, length), (11, length)]
    for i in range(11):
        wanted = four.eager(v[i], c[i])
        close([r[i] for r in result], list(wanted))
        close(list(four(v[i], c[i])), list(wanted))
    if length:
        close(list(in_c(four, [v[4], c[4]], tmp_path, length)), list(four.eager(v[4], c[4])))


LAYOUTS = {
    "shared": lambda v, c: (v[0], c),
    "batched, one carry": lambda v, c: (v, c[0]),
    "strided rows": lambda v, c: (v[:, ::2], c),
    "reversed rows": lambda v, c: (v[:, ::-1], c),
    "strided elements": lambda v, c: (v[:, :, ::-1], c),
    "F": lambda v, c: (np.asfortranarray(v), c[::-1]),
    "two axes": lambda v, c: (v.reshape(3, 4, 8, 2), c.reshape(3, 4)),
    "crossed axes": lambda v, c: (v[:, None], c),
    "shared and two axes": lambda v, c: (v[0], c.reshape(3, 4)),
    "float32": lambda v, c: (v.astype(np.float32), c.astype(np.float32)),
    "batch of one": lambda v, c: (v[:1], c[:1]),
    "repeated row": lambda v, c: (np.broadcast_to(v[:, :1], v.shape), c),
    "empty batch": lambda v, c: (v[:0], c[:0]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_sequence_layouts(four, name):
    rng = np.random.default_rng(0)
    v, c = LAYOUTS[name](rng.uniform(-1, 1, (12, 8, 2)), rng.uniform(-1, 1, 12))
    batch = np.broadcast_shapes(v.shape[:-2], np.shape(c))
    wide, carries = np.broadcast_to(v, batch + v.shape[-2:]), np.broadcast_to(c, batch)
    result = four(v, c)
    single = result.end.dtype == np.float32
    for i in np.ndindex(batch):
        close([r[i] for r in result], list(four.eager(wide[i], carries[i])), atol=2e-5 if single else ROUNDING)
    assert result.rows.shape == (*batch, *v.shape[-2:])


def test_sequence_out(four):
    rng = np.random.default_rng(0)
    v, c = rng.uniform(-1, 1, (5, 6, 2)), rng.uniform(-1, 1, 5)
    wanted = four(v, c)
    out = (
        np.zeros(5),
        np.full((6, 5, 2), np.nan).swapaxes(0, 1),
        np.full((5, 12), np.nan)[:, ::2],
        np.zeros((5, 6))[:, ::-1],
    )
    assert four(v, c, out=out).rows is out[1]
    close(list(out), list(wanted), atol=0)
    memory = v.copy()
    four(memory, c, out=(np.zeros(5), memory, np.zeros((5, 6)), np.zeros((5, 6))))  # over its own input
    close(memory, wanted.rows, atol=0)


def test_sequence_bits_do_not_depend_on_the_batch(four):
    """For one sample other code runs than for many: the numbers are the same."""
    rng = np.random.default_rng(0)
    v, c = rng.uniform(-1, 1, (11, 9, 2)), rng.uniform(-1, 1, 11)
    whole = four(v, c)
    for i in range(11):
        for a, b in zip(four(v[i], c[i]), whole, strict=True):
            np.testing.assert_array_equal(a, b[i])


def test_sequence_returned_unchanged_and_twice():
    k = kernel(lambda v: Pair(v, scan(lambda c, x: (c, 2 * x), 0.0, v)[1]), v=(...,))
    result = k(np.arange(4.0))
    assert result.first.tolist() == [0, 1, 2, 3] and result.second.tolist() == [0, 2, 4, 6]

    def same(v):
        ys = scan(lambda c, x: (c, 2 * x), 0.0, v)[1]
        return Pair(ys, ys)

    result = kernel(same, v=(...,))(np.arange(3.0))
    assert result.first.tolist() == result.second.tolist() == [0, 2, 4]


def test_nested_scan_over_a_sequence():
    """All pairs: the inner scan runs over the sequence the outer one runs over."""
    k = kernel(
        lambda v: scan(lambda c, x: (c + scan(lambda d, y: (d + x * y, None), 0.0, v)[0], None), 0.0, v)[0], v=(...,)
    )
    v = np.random.default_rng(0).uniform(-1, 1, (5, 7))
    close(k(v), np.sum(v, -1) ** 2)


def test_several_sequences():
    k = kernel(
        lambda u, v: scan(lambda c, x: (c + x["u"] @ x["v"], None), 0.0, {"u": u, "v": v})[0], u=(..., 2), v=(..., 2)
    )
    u, v = np.random.default_rng(0).uniform(-1, 1, (2, 4, 6, 2))
    close(k(u, v), np.einsum("bni,bni->b", u, v))
    close(k(u[0], v), np.einsum("ni,bni->b", u[0], v))
    with pytest.raises(ArgumentError, match="length"):
        k(u, v[:, :5])
    with pytest.raises(ArgumentError, match="'u'"):
        k(u[..., :1], v)
    with pytest.raises(ArgumentError, match="length"):
        k(np.ones(2), np.ones(2))


def test_kernels_with_sequences_inside_kernels():
    total = kernel(lambda v: scan(lambda c, x: (c + x, c), 0.0, v)[1], v=(...,))
    k = kernel(lambda v: scan(lambda c, x: (c + x, None), 0.0, total(v))[0], v=(...,))
    v = np.random.default_rng(0).uniform(-1, 1, (5, 7))
    close(k(v), np.sum(np.cumsum(v, -1) - v, -1))
    fixed = kernel(lambda a: total(a)[-1], a=4)  # a known length where the kernel allows any
    close(fixed(v[:, :4]), np.sum(v[:, :3], -1))


# --- while loops ------------------------------------------------------------------------------------------------------


def collatz(n):
    def step(c):
        n, count = c
        return np.where(np.remainder(n, 2.0) == 0, n / 2, 3 * n + 1), count + 1

    return while_loop(lambda c: c[0] > 1, step, (n, 0.0), max_iterations=1000)[1]


def newton(a):
    return while_loop(lambda x: np.abs(x * x - a) > 1e-14 * a, lambda x: 0.5 * (x + a / x), a, max_iterations=60)


def flagged(a):
    """The condition is a truth value of the carry."""
    end = while_loop(
        lambda s: s["on"], lambda s: {"on": s["x"] < 10, "x": s["x"] + a}, {"on": True, "x": 0.0}, max_iterations=99
    )
    return end["x"]


def nested_while(a):
    def outer(s):
        inner = while_loop(lambda y: y < s.x, lambda y: 2 * y + a, 0.1, max_iterations=50)
        return State(s.x + inner, s.v + 1)

    return while_loop(lambda s: s.x < 50, outer, State(a, 0.0), max_iterations=50).x


def while_in_scan(a):
    return scan(
        lambda c, x: (while_loop(lambda d: d > x, lambda d: d / 2, c + a, max_iterations=9), c), 5.0, np.arange(1.0, 4)
    )[0]


def scan_in_while(a):
    return while_loop(
        lambda c: c < 20, lambda c: scan(lambda d, x: (d + x * a, None), c, np.ones(3))[0], 0.0, max_iterations=50
    )


@pytest.mark.parametrize(
    "fn", [collatz, newton, flagged, nested_while, while_in_scan, scan_in_while], ids=lambda f: f.__name__
)
def test_while_loop(fn, tmp_path):
    a = np.array([1.0, 2.0, 27.0, 6.0, 3.0, 97.0, 5.0, 1.0, 9.0, 7.0, 31.0])
    k = kernel(fn)
    wanted = np.array([float(k.eager(x)) for x in a])
    close(k(a), wanted)
    for i in (0, 2, 5):
        assert k(a[i]) == k(a)[i]
        close(float(in_c(k, [np.array(a[i])], tmp_path)), wanted[i])


def test_lanes_stop_on_their_own():
    """A sample's result does not depend on how long its neighbours go on, even where they overflow or are NaN."""
    k = kernel(
        lambda x, n: while_loop(
            lambda c: c[1] < n, lambda c: (c[0] * 1.5 + 0.1, c[1] + 1), (x, 0.0), max_iterations=5000
        )[0]
    )
    x, n = np.linspace(1, 2, 16), np.arange(16.0)
    alone = np.array([k(a, b) for a, b in zip(x, n, strict=True)])
    np.testing.assert_array_equal(k(x, n), alone)
    n[5], x[9] = 5000, np.nan
    keep = np.delete(np.arange(16), [5, 9])
    np.testing.assert_array_equal(k(x, n)[keep], alone[keep])


@pytest.mark.parametrize("most", [0, 1, 5])
def test_max_iterations(most):
    k = kernel(lambda x: while_loop(lambda c: c < 100, lambda c: c + 1, x, max_iterations=most))
    assert k(0.0) == k.eager(0.0) == most and k(np.array([99.5, 0.0, 200.0])).tolist() == [99.5 + (most > 0), most, 200]


# --- errors -----------------------------------------------------------------------------------------------------------

BAD = {
    "no pair": (lambda a: scan(lambda c, x: c + x, 0.0, a)[0], TraceError, "pair"),
    "carry grows": (lambda a: scan(lambda c, x: (np.append(c, x), None), a, a)[0], TraceError, "keep its shapes"),
    "no length": (lambda a: scan(lambda c, x: (c, None), 0.0)[0], ArgumentError, "number of iterations"),
    "lengths differ": (
        lambda a: scan(lambda c, x: (c, None), 0.0, (a, a[:2]))[0],
        ArgumentError,
        "number of iterations",
    ),
    "wrong length": (
        lambda a: scan(lambda c, x: (c, None), 0.0, a, length=7)[0],
        ArgumentError,
        "number of iterations",
    ),
    "scalar xs": (lambda a: scan(lambda c, x: (c, None), 0.0, a[0])[0], ArgumentError, "first axis"),
    "python if": (lambda a: scan(lambda c, x: (c if x > 0 else x, None), 0.0, a)[0], TraceError, "np.where"),
    "carry of text": (lambda a: scan(lambda c, x: (c, None), "no", a)[0], TraceError, "number"),
    "while carry grows": (
        lambda a: while_loop(lambda c: c[0] > 0, lambda c: c[:1], a, max_iterations=3)[0],
        TraceError,
        "shapes",
    ),
    "condition of many": (
        lambda a: while_loop(lambda c: c > 0, lambda c: c, a, max_iterations=3)[0],
        TraceError,
        "condition",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_loops(name):
    fn, kind, words = BAD[name]
    with pytest.raises(kind, match=words):
        kernel(fn, a=3)(np.ones(3))


SEQUENCE_MISUSE = {
    "index": lambda v: v[0],
    "length": lambda v: len(v),
    "sum": lambda v: np.sum(v),
    "add": lambda v: v + 1.0,
    "ufunc": lambda v: np.sin(v),
    "iterate": lambda v: sum(v),
    "truth": lambda v: 1.0 if v else 0.0,
}


@pytest.mark.parametrize("name", SEQUENCE_MISUSE)
def test_sequences_are_for_scans(name):
    fn = SEQUENCE_MISUSE[name]
    with pytest.raises(TraceError, match=r"scan\(step, carry, xs\)") as caught:
        kernel(fn, v=(...,))(np.ones(3))
    assert f"test_loops.py:{fn.__code__.co_firstlineno}" in str(caught.value)


def test_sequences_and_arrays_do_not_mix():
    with pytest.raises(TraceError, match="only such sequences"):
        kernel(lambda v, a: scan(lambda c, x: (c, None), 0.0, (v, a))[0], v=(...,), a=3)(np.ones(3), np.ones(3))


# --- derivatives ------------------------------------------------------------------------------------------------------

DIFFERENTIABLE = {
    "carry": lambda a: scan(decay, a[0], a)[0],
    "stacked": lambda a: scan(decay, a[0], a, reverse=True)[1],
    "captured": lambda a: scan(lambda c, x: (0.5 * c + np.sin(a[1] * x), None), 1.0, np.arange(4.0))[0],
    "becomes active": lambda a: scan(
        lambda c, _: ((c[0] * 0.5 + c[1], c[2], np.sin(a[0]) * 0.3), None), (1.0, 0.0, 0.0), length=5
    )[0][0],
    "nested": nested,
    "two scans": twice_scanned,
    "while": lambda a: while_loop(lambda c: c < 5, lambda c: c * (1.2 + a[0] ** 2), 1.0 + a[1] ** 2, max_iterations=40),
    "inactive": lambda a: scan(lambda c, _: (c * 0.5, None), 1.0, length=5)[0] * a[0],
    "matrix": matrix_carry,
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives_through_loops(name):
    k = kernel(DIFFERENTIABLE[name], a=4)
    check_grads(k, np.array([0.3, -0.7, 0.9, 0.2]), order=2 if name not in ("nested", "two scans", "matrix") else 1)


def test_jvp_along_sequences():
    k = kernel(lambda v, c: Pair(*scan(lambda c, x: (0.9 * c + np.sin(x) * c, c * x), c, v)), v=(...,))
    fixed = kernel(lambda v, c: Pair(*scan(lambda c, x: (0.9 * c + np.sin(x) * c, c * x), c, v)), v=6)
    v, dv = np.random.default_rng(0).uniform(-1, 1, (2, 3, 6))
    c, dc = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])
    got, wanted = k.jvp(v, c, dv, dc), fixed.jvp(v, c, dv, dc)
    assert got._fields == ("first", "second", "first_dot", "second_dot")
    close(list(got), list(wanted))
    J = fixed.jacobian("v", "c")(v, c)
    close(got.first_dot, np.einsum("bi,bi->b", J.first_v, dv) + J.first_c * dc)


def test_jvp_of_outputs_that_do_not_move():
    k = kernel(lambda v, c: Pair(scan(lambda s, x: (s, np.floor(x)), 0.0, v)[1], c), v=(...,))
    got = k.jvp(np.array([0.5, 1.5]), 2.0, np.ones(2), 3.0)
    assert got.first.tolist() == [0, 1] and got.first_dot.tolist() == [0, 0] and got.second_dot == 3.0


def test_derivatives_that_are_not_there_say_what_to_use():
    k = kernel(lambda a: while_loop(lambda c: c < 10, lambda c: c * a, a, max_iterations=9))
    with pytest.raises(DerivativeError, match="jvp"):
        k.vjp(2.0, 1.0)
    sequence = kernel(lambda v: scan(lambda c, x: (c + x, c), 0.0, v)[0], v=(...,))
    with pytest.raises(DerivativeError, match="jvp"):
        sequence.jacobian("v")(np.ones(3))
    stacked = kernel(lambda v, a: scan(lambda c, x: (c + x, c), a, v)[1], v=(...,))
    with pytest.raises(DerivativeError, match="jvp"):
        stacked.jacobian("a")(np.ones(3), 1.0)


def _costs():
    """Scalar costs of scans, to be differentiated by everything they depend on."""

    def motion(x0, u, k):
        def step(c, u):
            x = np.stack([c[0] + 0.1 * c[1], c[1] + 0.1 * (u - k * np.sin(c[0]))])
            return x, x * u

        return scan(step, x0, u)

    def chained(x0, u, k):  # the rows of one scan are read by another, backwards, and one by one
        x, ys = motion(x0, u, k)
        z, _ = scan(lambda c, y: (c + k * (y @ y), None), 0.0, ys, reverse=True)
        return x @ x + z + ys[3, 1] ** 2

    def nested(x0, u, k):  # a scan in the step of a scan
        def step(c, u):
            inner, _ = scan(lambda d, _: (d + 0.1 * np.cos(d * u), None), c, length=3)
            return inner, inner @ c

        x, ys = scan(step, x0, u)
        return np.sum(ys) * k + x[0]

    return {
        "carry": lambda x0, u, k: np.sum(motion(x0, u, k)[0] ** 2),
        "rows": lambda x0, u, k: np.sum(motion(x0, u, k)[1] ** 2),
        "chained": chained,
        "nested": nested,
        "without rows": lambda x0, u, k: scan(lambda c, _: (np.sin(c) * k, c), x0, length=4)[0][0] * u[0],
    }


@pytest.mark.parametrize("name", _costs())
def test_reverse_derivatives_of_scans(name):
    rng = np.random.default_rng(2)
    k = kernel(_costs()[name], x0=2, u=5)
    point = rng.normal(size=2), rng.normal(size=5), 0.7
    check_grads(k, *point, order=1)
    forward = [
        k.jvp(*point, *(np.eye(2)[0], np.zeros(5), 0.0)).out_dot,
        k.jvp(*point, np.zeros(2), np.eye(5)[3], 0.0).out_dot,
    ]
    gradient = k.vjp(*point, 1.0)
    np.testing.assert_allclose([gradient.x0[0], gradient.u[3]], forward, rtol=1e-12)
    np.testing.assert_allclose(k.jacobian("u")(*point), gradient.u, rtol=1e-12)
    batch = [np.stack([p, p]) for p in map(np.asarray, point)]
    np.testing.assert_array_equal(k.vjp(*batch, np.ones(2)).u[1], gradient.u)


# --- cost -------------------------------------------------------------------------------------------------------------


def test_code_does_not_grow_with_length():
    sizes = [
        len(kernel(lambda x, n=n: scan(lambda c, _: (np.sin(c), None), x, length=n)[0]).source("llvm"))
        for n in (10, 10**6, 10**9)
    ]
    assert abs(sizes[0] - sizes[1]) < 2000  # a long loop looks whether to stop
    assert abs(sizes[1] - sizes[2]) < 100


def test_operations_count_every_turn():
    f = kernel(lambda x: scan(lambda c, _: (np.sin(c) * 2 + x, None), x, length=50)[0])
    assert f.operations[:5] == (50, 50, 0, 0, 50)


_COST = """
import resource, numpy as np
from adjoint import kernel, scan
from adjoint.compile.machine import jit

f = kernel(lambda v: scan(lambda c, x: (0.5 * c + x, None), 0.0, v)[0], v=(...,))
g = kernel(lambda x: scan(lambda c, _: (0.5 * c + x, None), x, length=10**7)[0])
f(np.ones(10)), g(1.0), f(np.broadcast_to(1.0, (3, 10)))
made = []
original = jit.compile_ir
jit.compile_ir = lambda text: made.append(text) or original(text)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert abs(f(np.broadcast_to(1.0, 10**6)) - 2) < 1e-12
assert np.abs(f(np.broadcast_to(1.0, (9, 10**5))) - 2).max() < 1e-12
assert abs(g(1.0) - 2) < 1e-12
print(len(made), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_and_compile_time_do_not_grow_with_length():
    done = subprocess.run(
        [sys.executable, "-c", _COST],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, done.stderr
    compiled, kilobytes = map(int, done.stdout.split())
    assert compiled <= 1  # at most the code for batches, once
    assert kilobytes < 4000  # eight megabytes would be one stored number a turn


@pytest.mark.parametrize("over", ["row", "carry", "captured"])
@pytest.mark.parametrize("name", ["x", "row", "carry", "captured"])  # names that loops use for their own
def test_loops_over_many_numbers_inside_loops(over, name):
    def outer(carry, row, captured):
        chosen = {"row": row, "carry": carry, "captured": captured}[over]
        total, _ = scan(lambda c, e: (c + e * e, None), 0.0, chosen)
        return carry + 0.1 * row, total

    def function(x):
        return scan(lambda c, r: outer(c, r, x[2]), x[1], x)[1]

    argument = {"x": lambda x: function(x), "row": lambda row: function(row)}
    argument |= {"carry": lambda carry: function(carry), "captured": lambda captured: function(captured)}
    x = np.random.default_rng(0).normal(size=(9, 3, 20))
    f = kernel(argument[name], **{name: (3, 20)})
    np.testing.assert_allclose(f(x), [function(one) for one in x], rtol=1e-13)
    np.testing.assert_allclose(f(x[0]), function(x[0]), rtol=1e-13)


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


def test_carries_are_matched_by_key_and_structure():
    def swap(c, _):
        return {"b": c["b"] + 1, "a": c["a"]}, None

    @kernel(x=2)
    def f(x):
        c, _ = scan(swap, {"a": x[0], "b": x[1]}, length=1)
        return np.stack([c["a"], c["b"]])

    np.testing.assert_array_equal(agree(f, [10.0, 20.0]), [10, 21])
    with pytest.raises(TraceError, match="structure"):
        kernel(lambda x: scan(lambda c, _: ([c[0], c[1]], None), (x, x), length=2)[0][0])(1.0)


def test_outer_values_as_results_and_conditions_of_loops():
    np.testing.assert_array_equal(
        agree(kernel(lambda x, y: scan(lambda c, _: (c + 1.0, y), x, length=2)[1]), 1.0, 5.0), 5
    )
    agree(kernel(lambda x, y: while_loop(lambda c: y > 0, lambda c: c + 1.0, x, max_iterations=3)), 1.0, 5.0)
    agree(kernel(lambda x, y: while_loop(lambda c: y > 0, lambda c: c + 1.0, x, max_iterations=3)), 1.0, -5.0)


def test_truth_values_stay_truth_values_in_a_carry():
    @kernel
    def first_above(x):
        """Steps until the sum exceeds 10."""

        def step(c, _):
            total, done, n = c
            total = np.where(done, total, total + x)
            return (total, done | (total > 10), np.where(~done, n + 1, n)), None

        (_, done, n), _ = scan(step, (0.0, False, 0.0), length=20)
        return np.where(done & ~(x > 100), n, -1.0)

    assert [agree(first_above, x) for x in (0.1, 1.0, 3.0, 200.0)] == [-1, 11, 4, -1]


def test_chained_loops_are_differentiated_once():
    def chain(n):
        def f(x):
            for _ in range(n):
                x, _ = scan(lambda c, _: (np.sin(c), None), x, length=10)
            return x

        return kernel(f)

    for n in (1, 2, 4):
        assert chain(n).jvp.operations.transcendental == 20 * n  # a sine, and the cosine for its tangent


def test_values_that_leak_out_of_a_loop():
    kept = []
    k = kernel(lambda x: scan(lambda c, _: (kept.append(c) or c + 1, None), x, length=2)[0] + kept[-1])
    with pytest.raises(TraceError, match="outside"):
        k(1.0)


# --- rows that a step asks for ----------------------------------------------------------------------------------------


@kernel(x=..., y=(..., 2))
def paired(x, y):
    """Two loops; the steps read rows when they need them, one of them those that the other loop stacked."""

    def first(total, at):
        total = total + at.row(x) * at.row(y)[0]
        return total, {"sum": total, "twice": 2 * at.row(y)}

    total, kept = scan(first, 0.0, each_row(of=x))

    def second(carry, at):
        row = at.row(kept)
        return carry + row["sum"] * row["twice"][1] + at.row(x), None

    return scan(second, total, each_row(of=kept["sum"]), reverse=True)[0]


def test_steps_may_ask_for_rows(tmp_path):
    rng = np.random.default_rng(0)
    for n in (0, 1, 7):
        x, y = rng.normal(size=n), rng.normal(size=(n, 2))
        want = np.sum(x * y[:, 0]) + np.sum(np.cumsum(x * y[:, 0]) * 2 * y[:, 1]) + np.sum(x)
        assert paired(x, y) == pytest.approx(want, rel=1e-12, abs=1e-14)
        assert paired.eager(x, y) == pytest.approx(want, rel=1e-12, abs=1e-14)
        close(in_c(paired, (x, y), tmp_path, n), want)
    assert paired(rng.normal(size=(5, 4)), rng.normal(size=(4, 2))).shape == (5,)


def test_rows_of_arrays_may_be_asked_for_too():
    @kernel(x=(4, 3), y=4)
    def sums(x, y):
        return scan(lambda carry, at: (carry + at.row((x, y))[0] * at.row(y), None), np.zeros(3), each_row(of=y))[0]

    x, y = np.random.default_rng(0).normal(size=(4, 3)), np.arange(4.0)
    close(sums(x, y), y @ x)
    close(sums.eager(x, y), y @ x)
    close(sums.bind().jacobian("y")(x, y), x.T)


def test_all_rows_that_are_asked_for_are_as_many():
    @kernel(x=3, y=4)
    def odd(x, y):
        return scan(lambda carry, at: (carry + at.row(x), None), 0.0, each_row(of=y))[0]

    with pytest.raises(TraceError, match="a scan over 4 rows cannot read rows of 3"):
        odd(np.zeros(3), np.zeros(4))
    with pytest.raises(TraceError, match="a scan over 4 rows cannot read rows of 3"):
        odd.eager(np.zeros(3), np.zeros(4))


# --- tables -----------------------------------------------------------------------------------------------------------

INDICES = np.array([-5, -0.5, 0, 0.5, 1.99, 3, 9, 9.5, 1e30, np.nan, -np.inf, np.inf, 4.0, 4.0, 4.0, 4.0, 4.5])


def rows_of(table, indices):
    """The rows that `row_at` is to find."""
    last = len(table) - 1
    return table[np.clip(np.nan_to_num(indices, nan=0.0, posinf=1e9, neginf=0.0), 0, last).astype(int)]


@kernel(table=(..., 3))
def looked_up(table, index):
    return row_at(table, index)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_at_rounds_down_and_stays_inside(dtype):
    table, indices = np.arange(30.0).reshape(10, 3).astype(dtype), INDICES.astype(dtype)
    wanted = rows_of(table, indices)
    assert looked_up(table, indices).dtype == dtype
    assert np.array_equal(looked_up(table, indices), wanted)
    for i, row in zip(indices, wanted, strict=True):
        assert np.array_equal(looked_up(table, i), row) and np.array_equal(looked_up.eager(table, i), row)
    assert np.array_equal(looked_up(np.tile(table, (len(indices), 1, 1)), indices), wanted)  # tables of their own
    assert np.array_equal(looked_up(table[::-1], indices), rows_of(table[::-1], indices))  # any strides
    assert np.array_equal(looked_up(table, np.tile(indices, 100)), np.tile(wanted, (100, 1)))


def test_rows_that_neighbours_share_are_read_anew_in_every_call():
    """Neighbouring samples that read the same row read it once; another call has other numbers at the same address."""
    table = np.arange(30.0).reshape(10, 3)
    indices = np.repeat([3.0, 4.0, 3.0], 24)
    for k in range(3):
        table += k
        assert np.array_equal(looked_up(table, indices), rows_of(table, indices))
        assert np.array_equal(looked_up(table[None, None], indices[:, None]), rows_of(table, indices)[:, None])


def test_row_at_of_no_rows_is_zero():
    assert np.array_equal(looked_up(np.zeros((0, 3)), INDICES), np.zeros((len(INDICES), 3)))
    assert np.array_equal(looked_up(np.zeros((0, 3)), 1.0), np.zeros(3))
    assert np.array_equal(row_at(np.zeros((0, 3)), 1.0), np.zeros(3))


@kernel(table=(6, 2))
def from_input(table, i):
    return row_at(table, i) * i


CONSTANTS = np.random.default_rng(0).normal(size=(50, 120))


@kernel
def walk(x):
    """A loop whose every step looks up a row of constants, long enough for a machine loop over its elements."""

    def step(carry, _):
        total, at = carry
        row, number = row_at((CONSTANTS, np.arange(50.0)), 10 * at)
        return (total + row.sum() + number, at + x), None

    return scan(step, (0.0, 0.0), length=20)[0][0]


def test_tables_of_inputs_and_constants():
    tables, indices = np.random.default_rng(1).normal(size=(33, 6, 2)), np.linspace(-1, 7, 33)
    wanted = [rows_of(t, np.array([i]))[0] * i for t, i in zip(tables, indices, strict=True)]
    assert np.array_equal(from_input(tables, indices), wanted)
    x = np.linspace(0, 0.5, 33)
    close(walk(x), np.array([walk.eager(a) for a in x]), atol=1e-12)  # 2400 terms of size 1


def test_tables_in_programs_that_are_cut_into_segments():
    @kernel(table=(..., 3))
    def long(table, x):
        total = 0.0
        for k in range(400):
            total = np.sin(total + row_at(table, x + k)[k % 3])
        return total

    table = np.random.default_rng(2).normal(size=(7, 3))
    x = np.linspace(-400, 5, 20)
    close(long(table, x), np.array([long.eager(table, a) for a in x]), atol=1e-13)


def test_derivatives_of_tables():
    table = np.random.default_rng(3).normal(size=(6, 2))
    assert np.array_equal(from_input.jacobian("i")(table, 2.5), table[2])
    by_table = np.zeros((2, 6, 2))
    by_table[[0, 1], 2, [0, 1]] = 2.5
    assert np.array_equal(from_input.jacobian("table")(table, 2.5), by_table)
    assert np.array_equal(looked_up.jvp(table @ np.ones((2, 3)), 3.0, np.ones((6, 3)), 1.0)[1], np.ones(3))
    close(walk.jacobian("x")(0.3), 0.0)
    with pytest.raises(DerivativeError, match="row_at looks up are not provided; use jvp"):
        from_input.vjp(table, 2.5, np.ones(2))


def test_tables_in_c_and_casadi(tmp_path):
    table = np.random.default_rng(4).normal(size=(10, 3))
    for i in INDICES:
        assert np.array_equal(in_c(looked_up, (table, i), tmp_path, length=10), rows_of(table, np.array([i]))[0])
    assert np.array_equal(in_c(looked_up, (table, 1.0), tmp_path, length=0), np.zeros(3))
    assert np.array_equal(in_c(from_input, (table[:6, :2], 3.7), tmp_path), table[3, :2] * 3.7)
    symbolic = from_input.symbolic()
    for i in (-1.0, 0.0, 2.5, 5.0, 9.0):
        close(symbolic(table[:6, :2], i).full().ravel(), from_input(table[:6, :2], i))


def test_the_index_is_one_number():
    with pytest.raises(TraceError, match="must be one number"):
        kernel(lambda x: row_at(np.eye(3), np.stack([x, x])))(1.0)


def test_no_row_beyond_the_last_is_read_where_floats_are_coarse():
    """float32 has no number for the last row of 2**24 + 4; the nearest one above it must not be read."""
    rows = 2**24 + 4
    table = np.arange(rows + 8, dtype=np.float32)[:, None]
    last = kernel(table=(..., 1))(lambda table, index: row_at(table, index))
    for index in (np.full(9, np.inf, np.float32), np.float32(np.inf)):
        assert np.all(last(table[:rows], index) == table[rows - 1])


# --- loops in blocks: rows of a table as the xs of an inner loop, and reverse derivatives through both ----------------


def in_blocks(table, number, x, decay):
    """Blocks of four steps; block i reads row i of the table, as four pairs."""

    def block(carry, i):
        rows = row_at(table, i).reshape(4, 2)
        carry, _ = scan(lambda c, row: (decay * np.sin(c) + row * x, None), carry, rows)
        return carry, carry

    carry, kept = scan(block, x * 1.0, number)
    return np.sum(carry), kept


blocks_kept = kernel(table=(..., 8), number=(...,), x=2)(
    lambda table, number, x, decay: in_blocks(table, number, x, decay)[1]
)
blocks_end = kernel(table=(..., 8), number=(...,), x=2)(
    lambda table, number, x, decay: in_blocks(table, number, x, decay)[0]
)


def test_rows_of_tables_are_read_by_inner_loops(tmp_path):
    rng = np.random.default_rng(5)
    table, number, x = rng.normal(size=(3, 7, 8)), np.arange(7.0), rng.normal(size=2)
    found = blocks_kept(table, number, x, 0.7)
    for lane, rows in zip(found, table, strict=True):
        carry, kept = x, []
        for row in rows:
            for pair in row.reshape(4, 2):
                carry = 0.7 * np.sin(carry) + pair * x
            kept.append(carry)
        close(lane, np.array(kept))
        assert np.array_equal(blocks_kept(rows, number, x, 0.7), lane)
    close(blocks_kept.eager(table[0], number, x, 0.7), found[0])
    close(in_c(blocks_kept, (table[0], number, x, 0.7), tmp_path, length=7), found[0])


def test_reverse_derivatives_through_loops_inside_loops():
    """Only carries of blocks are kept on the way forward, and those of one block on the way back."""
    rng = np.random.default_rng(6)
    table, number, x = rng.normal(size=(7, 8)), np.arange(7.0), rng.normal(size=2)
    value, by_x, by_decay = blocks_end.value_and_gradient("x", "decay")(table, number, x, 0.7)
    assert value == blocks_end(table, number, x, 0.7)
    way = rng.normal(size=2)
    forward = blocks_end.jvp(table, number, x, 0.7, 0 * table, 0 * number, way, 1.0)[1]
    assert by_x @ way + by_decay == pytest.approx(forward, rel=1e-13)
    both = blocks_end.jacobian("x", "decay")(table, number, x, 0.7)
    close(both.x, by_x)
    close(both.decay, by_decay)


def test_value_and_gradient():
    @kernel(x=3)
    def cost(x, k=2.0):
        return k * (x @ x)

    x = np.array([1.0, -2.0, 3.0])
    value, by_x, by_k = cost.value_and_gradient()(x, 3.0)
    assert (value, by_k) == (42.0, 14.0)
    assert by_x.tolist() == [6.0, -12.0, 18.0]
    assert cost.value_and_gradient("x")(np.stack([x, 2 * x])).value.tolist() == [28.0, 112.0]
    with pytest.raises(DerivativeError, match=r"a kernel of one number is needed; it gives out \(3,\)"):
        kernel(x=3)(lambda x: 2 * x).value_and_gradient("x")(x)
    with pytest.raises(ArgumentError, match="takes names of inputs: x, k"):
        cost.value_and_gradient("y")
