"""Calls: every layout, shape, dtype and way of passing arguments gives the right numbers, or a clear error."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import tracemalloc
from typing import NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from adjoint import kernel, scan, static
from adjoint.compile.codegen.batch_loop import STREAM_BYTES
from adjoint.compile.machine import cpython_entry as thin_module
from adjoint.compile.machine import execution, layouts
from adjoint.errors import AdjointError, ArgumentError
from adjoint.lie import so3


class Two(NamedTuple):
    product: np.ndarray
    norm: np.ndarray


def _two(A, x, s):
    return Two(s * (A @ x), np.sqrt(x @ x))


WEIGHTS = np.array([1.0, 2.0])
SHAPES = {"A": (2, 3), "x": 3}
module_level = kernel(lambda x: 2 * x)


@kernel(x=2)
def twice(x):
    """A kernel that pickle can find by name."""
    return 2 * x


def make():
    return kernel(_two, **SHAPES)


def samples(*batch, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*batch, *s)).astype(dtype) for s in [(2, 3), (3,), ()]]


def reference(A, x, s):
    return np.asarray(s)[..., None] * np.einsum("...ij,...j->...i", A, x), np.sqrt(np.einsum("...i,...i->...", x, x))


def check(result, args):
    expected = reference(*[np.asarray(a, float) for a in args])
    eps = np.finfo(result.norm.dtype).eps
    for got, wanted in zip(result, expected, strict=True):
        assert got.shape == wanted.shape
        # Three products and two sums of numbers of order one to ten: 16 rounding errors at most.
        np.testing.assert_allclose(got, wanted, rtol=0, atol=16 * eps * max(1.0, np.max(np.abs(wanted), initial=0)))


@pytest.fixture(scope="module")
def two():
    return make()


# --- layouts ----------------------------------------------------------------------------------------------------------


def unaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)
    view = np.ndarray(a.shape, a.dtype, raw.data, 1)
    view[...] = a
    return view


def packed(a):
    """A field of a packed structure: strides that are no multiple of the item size."""
    table = np.zeros(a.shape, np.dtype([("byte", "i1"), ("value", a.dtype)]))
    table["value"] = a
    return table["value"]


def padded(a):
    wide = np.full([2 * n for n in a.shape], np.nan)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return wide[tuple(slice(None, None, 2) for _ in a.shape)]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: np.asarray(a, order="F"),
    "strided": padded,
    "reversed": lambda a: np.flip(np.flip(a).copy()),
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "batch last": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0),
    "unaligned": unaligned,
    "packed structure": packed,
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "read-only": read_only,
    "list": lambda a: a.tolist(),
    "subclass": lambda a: a.view(type("Mine", (np.ndarray,), {})),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [(11,), (4, 3)], ids=str)
def test_layouts(two, layout, batch):
    args = samples(*batch)
    check(two(*map(LAYOUTS[layout], args)), args)
    for k in range(3):  # one operand at a time, beside contiguous ones
        mixed = [LAYOUTS[layout](a) if i == k else a for i, a in enumerate(args)]
        check(two(*mixed), args)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "unaligned", "packed structure", "read-only"])
def test_layouts_of_one_sample(two, layout):
    args = samples()
    args[2] = args[2][()]
    two(*args)  # from now on CPython calls the machine code itself, where it can
    check(two(*[LAYOUTS[layout](np.asarray(a)) for a in args]), args)


def test_broadcast_inputs_are_not_copied(two):
    A, x, s = samples(6)
    x0, s0 = np.broadcast_to(x[0], (6, 3)), np.broadcast_to(s[0], (6,))
    check(two(A, x0, s0), (A, x0, s0))
    huge = np.broadcast_to(x[0], (10**4, 10**4, 3))  # 2 GB if it were copied
    tracemalloc.start()
    two(A[0], huge[:1, :7], 1.0)
    assert tracemalloc.get_traced_memory()[1] < 10**5
    tracemalloc.stop()


def test_overlapping_windows(two):
    line = np.random.default_rng(0).standard_normal(30)
    windows = as_strided(line, (20, 3), (8, 8))
    A = samples(20)[0]
    check(two(A, windows, 1.0), (A, windows, np.ones(20)))


# --- batch shapes -----------------------------------------------------------------------------------------------------

BATCHES = [(), (0,), (1,), (7,), (8,), (9,), (31,), (2, 3), (0, 3), (3, 0), (1, 1), (2, 1, 4), (1, 2, 3, 1, 2)]


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_batch_shapes(two, batch, dtype):
    args = samples(*batch, dtype=dtype)
    result = two(*args)
    check(result, args)
    assert result.product.dtype == dtype and result.product.shape == (*batch, 2)


BROADCASTS = [
    ((5,), (), ()),
    ((), (5,), ()),
    ((), (), (5,)),
    ((2, 5), (5,), ()),
    ((2, 1), (5,), (2, 5)),
    ((1,), (5,), (1,)),
    ((3, 1, 1), (4, 1), (2,)),
    ((0,), (1,), ()),
    ((4, 1), (0,), ()),
    ((3, 1), (37,), ()),  # a batch for each of the first axis
    ((37,), (3, 1), (3, 37)),
    ((2, 1, 1), (3, 1), (37,)),
]


@pytest.mark.parametrize("batches", BROADCASTS, ids=str)
def test_batches_broadcast(two, batches):
    args = [samples(*b)[k] for k, b in enumerate(batches)]
    result, full = two(*args), np.broadcast_shapes(*batches)
    wide = [np.broadcast_to(a, full + s) for a, s in zip(args, [(2, 3), (3,), ()], strict=True)]
    expected = reference(*wide)
    for got, wanted in zip(result, expected, strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=0, atol=100 * np.finfo(float).eps)


@pytest.mark.parametrize("threads", [1, 2])
def test_two_axes_have_the_bits_of_one(two, threads):
    """A batch over two axes runs as a batch for each index of the first; it is split over threads along the first."""
    A, x, s = samples(301, 1)[0], samples(1, 1000)[1], samples(301, 1000)[2]
    f = kernel(A=(2, 3), x=3)(lambda A, x, s: A @ x * np.sin(s))
    f.threads = threads
    wide = [np.broadcast_to(a, (301, 1000, *a.shape[2:])).reshape(301000, *a.shape[2:]) for a in (A, x, s)]
    assert np.array_equal(f(A, x, s).reshape(301000, 2), f(*wide))
    assert np.array_equal(f(A, x, s[:, ::-1])[:, 0], f(A[:, 0], x[:, 0], s[:, -1]))
    turned = f(A.swapaxes(0, 1), x.swapaxes(0, 1), s.T)
    assert np.array_equal(turned.swapaxes(0, 1), f(A, x, s))


def test_many_batch_axes():
    f = kernel(lambda x, y: x + y)
    x, y = np.arange(2.0**12).reshape((2,) * 12), np.arange(2.0**12).reshape((2,) * 12).T
    np.testing.assert_array_equal(f(x, y), x + y)
    deep = np.ones((2,) * 18)
    with pytest.raises(ArgumentError, match="batch axes"):
        f(deep, deep.T)
    np.testing.assert_array_equal(f(deep, deep), 2 * deep)


def test_zero_sized_cores():
    f = kernel(lambda x: Two(np.sum(x), x * 2), x=0)
    result = f(np.zeros((4, 0)))
    assert result.product.tolist() == [0.0] * 4 and result.norm.shape == (4, 0)
    assert f(np.zeros(0)).product == 0.0


# --- dtypes -----------------------------------------------------------------------------------------------------------

f32, f64 = np.float32, np.float64
ADDED = {
    "floats": (1.5, 2.5, f64),
    "ints": (1, 2, f64),
    "bools": (True, False, f64),
    "float32": (f32(1.5), f32(2), f32),
    "mixed": (f32(1.5), f64([2.0])[0:1], f64),  # pyright: ignore
    "weak scalar": (np.ones(3, f32), 2.0, f32),
    "list": ([1, 2], [3.5, 4], f64),
    "float16": (np.ones(2, np.float16), 1.0, f64),
    "int8": (np.array([-100], np.int8), 100, f64),
    "uint64": (np.array([2**63], np.uint64), 0.0, f64),
    "bool array": (np.array([True, False]), 1.0, f64),
    "0-d array": (np.array(1.5), np.array(2.0), f64),
    "swapped float32": (np.ones(2, ">f4"), np.ones(2, "<f4"), f32),
    "tuple": ((1.0, 2.0), 1.0, f64),
    "range": (range(3), 1.0, f64),
    "numpy int": (np.int64(3), 1.0, f64),
}


@pytest.mark.parametrize("name", ADDED)
def test_dtypes(name):
    a, b, dtype = ADDED[name]
    f = kernel(lambda a, b: a + b)
    for _ in range(2):
        result = f(a, b)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.asarray(a, dtype) + np.asarray(b, dtype))


NOT_NUMBERS = {
    "complex": (np.ones(2, complex), "complex128"),
    "object": (np.array([1, None]), "object"),
    "string": ("1.0", "is a str"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
    "ragged": ([[1], [1, 2]], "not an array of numbers"),
    "None": (None, "is a NoneType"),
    "long double": (np.ones(2, np.longdouble), "float128"),
    "set": ({1.0}, "is a set"),
    "structure": (np.zeros(2, "f8,f8"), "dtype"),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_not_numbers(name):
    bad, words = NOT_NUMBERS[name]
    f = kernel(lambda a, b: a + b)
    for _ in range(2):  # before and after a good call
        with pytest.raises(ArgumentError, match=words) as caught:
            f(1.0, bad)
        assert "'b'" in str(caught.value)
        assert f(1.0, 2.0) == 3.0


# --- ways of passing arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("thin", [True, False])
def test_keywords_positions_defaults(thin, monkeypatch):
    if not thin:
        monkeypatch.setattr(thin_module, "python_api", lambda: None)

    @kernel(x=2, z=2)
    def f(x, y=3.0, *, z=None, w=WEIGHTS):
        return x * y + (0.0 if z is None else z) + w

    x, z = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    for _ in range(2):
        np.testing.assert_array_equal(f(x), [4, 8])
        np.testing.assert_array_equal(f(x, 5.0), [6, 12])
        np.testing.assert_array_equal(f(x, y=5.0), [6, 12])
        np.testing.assert_array_equal(f(y=5.0, x=x), [6, 12])
        np.testing.assert_array_equal(f(x, z=z), [14, 28])
        np.testing.assert_array_equal(f(x, z=None), [4, 8])
        np.testing.assert_array_equal(f(x, w=[0, 0]), [3, 6])
        np.testing.assert_array_equal(f([x, x], 5.0, z=z), [[16, 32]] * 2)


@pytest.mark.parametrize("order", [[1.0, None], [None, 1.0, None]], ids=str)
@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
def test_optional_input_given_and_left_out(order, shape):
    f = kernel(lambda x, y=None: x if y is None else x + np.sum(y), y=shape)
    for y in order * 2:
        assert (f(1.0) if y is None else f(1.0, np.full(shape, y))) == (1.0 if y is None else 2.0)


@pytest.mark.parametrize("order", [[3, None], [None, 3, None], [None, None, 3]], ids=str)
def test_static_argument_given_and_left_out(order):
    f = kernel(lambda x, n=2: n * x)
    for n in order * 2:
        assert (f(1.0) if n is None else f(1.0, n=n)) == (2 if n is None else n)
        assert (f(1.0) if n is None else f(1.0, n)) == (2 if n is None else n)


def test_static_arguments_specialise():
    class Robot(NamedTuple):
        nq: int
        scale: float

    f = kernel(
        lambda robot, q, mode="sum": robot.scale * (np.sum(q) if mode == "sum" else np.prod(q)), robot=static, q="nq"
    )
    small, large = Robot(2, 1.0), Robot(3, 10.0)
    assert f(small, [1, 2]) == 3 and f(large, [1, 2, 3]) == 60 and f(large, [1, 2, 4], mode="prod") == 80
    bound = f.bind(robot=large)
    assert bound([1, 2, 3]) == 60 and bound([1, 2, 3]) == 60 and f.bind(large, "prod")([1, 2, 4]) == 80
    assert bound([1, 2, 4], mode="prod") == 80 and bound([1, 2, 4]) == 70
    assert bound(np.ones((4, 3))).tolist() == [30.0] * 4
    for bad, words in [
        (lambda: f(small, [1, 2, 3]), "'q'"),
        (lambda: f.operations, "bind"),
        (lambda: f(np.ones(2), [1.0]), "hashable"),
        (lambda: f.bind(nothing=1), "nothing"),
        (lambda: f.bind(1, 2, 3), "at most 2"),
        (lambda: bound(large, [1, 2, 3], "sum", 1), "positional"),
    ]:
        with pytest.raises(ArgumentError, match=words):
            bad()


WRONG = {
    "missing": (lambda f: f(np.ones((2, 3))), "needs argument 'x'"),
    "too many": (lambda f: f(np.ones((2, 3)), np.ones(3), 1.0, 2.0), "at most 3"),
    "unknown": (lambda f: f(np.ones((2, 3)), np.ones(3), s=1.0, t=2.0), "'t'"),
    "twice": (lambda f: f(np.ones((2, 3)), np.ones(3), 1.0, x=np.ones(3)), "'x' twice"),
    "core shape": (lambda f: f(np.ones((3, 2)), np.ones(3), 1.0), r"'A' has shape \(3, 2\).*\(\.\.\., 2, 3\)"),
    "core rank": (lambda f: f(np.ones((2, 3)), 1.0, 1.0), r"'x' has shape \(\).*\(\.\.\., 3\)"),
    "too short": (lambda f: f(np.ones((2, 3)), np.ones(2), 1.0), "'x'"),
    "batch": (lambda f: f(np.ones((4, 2, 3)), np.ones((5, 3)), 1.0), r"A: \(4, 2, 3\), x: \(5, 3\)"),
    "out": (lambda f: f(np.ones((2, 3)), np.ones(3), 1.0, out=np.zeros(2)), "2 array"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    wrong, words = WRONG[name]
    f = make()
    for _ in range(2):  # by the Python path, and then by the thin one
        with pytest.raises(ArgumentError, match=words) as caught:
            wrong(f)
        assert "_two" in str(caught.value)
        f(*samples())


def test_kernels_as_methods():
    class Body:
        nq = 2

        @kernel(self=static, q="nq")
        def energy(self, q):
            return self.nq * (q @ q)

        @kernel(q=2)
        def plain(q):
            return q[0]  # pyright: ignore

    body = Body()
    assert body.energy(np.ones(2)) == 4.0 and Body.energy(body, np.ones(2)) == 4.0
    assert body.energy(np.ones((5, 2))).shape == (5,) and Body.plain(np.ones(2)) == 1.0


def test_looks_like_the_function():
    assert twice.__name__ == "twice" and str(twice.__doc__).startswith("A kernel") and twice.__module__ == __name__
    assert "twice(x)" in repr(twice) and twice.__wrapped__(3) == 6


def test_pickle():
    assert pickle.loads(pickle.dumps(so3.exp)) is so3.exp  # by name, as functions are
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.loads(pickle.dumps(kernel(lambda x: x)))


# --- thin and fallback calls ------------------------------------------------------------------------------------------


def test_thin_calls_equal_the_fallback(monkeypatch):
    thin = make()
    cases = [samples(), samples(1), samples(7), samples(64), samples(2, 3), samples(0)]
    cases += [[A[0], x, s] for A, x, s in [samples(5)]] + [[A, x, 2.0] for A, x, _ in [samples()]]
    first = [thin(*c) for c in cases]
    second = [thin(*c) for c in cases]
    monkeypatch.setattr(thin_module, "python_api", lambda: None)
    plain = make()
    for case, a, b in zip(cases, first, second, strict=True):
        for x, y, z in zip(a, b, plain(*case), strict=True):
            assert type(x) is type(y) is type(z) and x.dtype == y.dtype == z.dtype
            np.testing.assert_array_equal(x, y)
            np.testing.assert_array_equal(x, z)


def test_scalar_results_are_numpy_scalars():
    f = kernel(lambda x: x + 1)
    assert [type(f(1.0)) for _ in range(3)] == [np.float64] * 3
    assert type(f(f32(1))) is f32 and isinstance(f(np.ones(1)), np.ndarray)
    assert kernel(lambda x: x + 1)(np.ones((1, 1))).shape == (1, 1)


def growth(work):
    """Bytes that a repetition of `work` leaves behind; the least of four, for Python's own tables grow now and then."""
    work()
    found = []
    for _ in range(4):
        gc.collect()
        tracemalloc.start()
        work()
        gc.collect()
        found.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    return min(found)


@pytest.mark.slow
def test_thin_calls_leak_nothing():
    f, args = make(), samples()
    f(*args)
    gc.collect()  # results of other tests
    before = [sys.getrefcount(a) for a in args] + [sys.getrefcount(Two), sys.getrefcount(f)]
    result = f(*args)
    assert [sys.getrefcount(a) for a in result] == [3] * 2  # the result, `a`, and getrefcount's argument
    del result

    def work():
        for _ in range(25_000):
            f(*args)
        for _ in range(500):
            with pytest.raises(ArgumentError):
                f(*args[:2])

    assert growth(work) < 10_000  # one byte a call would be more
    assert [sys.getrefcount(a) for a in args] + [sys.getrefcount(Two), sys.getrefcount(f)] == before


@pytest.mark.slow
def test_slow_calls_leak_nothing():
    f, (A, x, s) = make(), samples(2, 3)
    out = f(A, x, s)
    before = [sys.getrefcount(a) for a in (A, x, s, *out)]

    def work():
        for n in range(400):
            f(A, x, s, out=out), f(A, x[:, :, ::-1], s), f(A[: n % 3], x[: n % 3], s[: n % 3])  # pyright: ignore

    assert growth(work) < 4000  # ten bytes for each of the loops' turns
    assert [sys.getrefcount(a) for a in (A, x, s, *out)] == before


def test_layout_plans_are_bounded():
    f = kernel(lambda x: x + 1)
    for n in range(600):
        assert f(np.zeros((1, n)).T).shape == (n, 1)
    assert len(f.only_specialisation("test").plans) <= 256


@pytest.mark.slow
def test_kernels_can_be_collected():
    """Kernels made, called by both paths, and dropped: nothing dangling is touched."""
    code = """
import gc, numpy as np
from adjoint import kernel
for k in range(30):
    f = kernel(lambda x: x + 1)
    [f(1.0) for _ in range(3)], f(np.ones((2, 2)))
    del f
    gc.collect()
print("fine", flush=True)
"""
    assert run(code) == "fine"


# --- out --------------------------------------------------------------------------------------------------------------


def out_like(shape, kind):
    if kind == "C" or shape == ():
        return np.full(shape, np.nan)
    if kind == "F":
        return np.full(shape, np.nan, order="F")
    if kind == "strided":
        return np.full([2 * n for n in shape], np.nan)[tuple(slice(None, None, 2) for _ in shape)]
    if kind == "reversed":
        return np.flip(np.full(shape, np.nan))
    return unaligned(np.full(shape, np.nan))


@pytest.mark.parametrize("kind", ["C", "F", "strided", "reversed", "unaligned"])
@pytest.mark.parametrize("batch", [(), (1,), (9,), (4, 3), (0,)], ids=str)
def test_out(two, kind, batch):
    args = samples(*batch)
    out = Two(out_like((*batch, 2), kind), out_like(batch, kind))
    result = two(*args, out=out)
    assert result.product is out.product and result.norm is out.norm
    check(out, args)


def test_out_of_one_output():
    f, x = kernel(lambda x: 2 * x, x=2), np.ones((5, 2))
    out = np.zeros((5, 2))
    assert f(x, out=out) is out and f(x, out=(out,)) is out and (out == 2).all()


def test_out_as_columns_of_one_table(two):
    args = samples(6)
    table = np.full((6, 4), np.nan)
    two(*args, out=(table[:, :2], table[:, 3]))
    np.testing.assert_array_equal(table[:, :2], two(*args).product)
    np.testing.assert_array_equal(table[:, 3], two(*args).norm)
    assert np.isnan(table[:, 2]).all()


OUTS = {
    "shape": (lambda: (np.zeros((5, 3)), np.zeros(5)), r"shape \(5, 3\)"),
    "batch shape": (lambda: (np.zeros((6, 2)), np.zeros(6)), r"shape \(6, 2\)"),
    "dtype": (lambda: (np.zeros((5, 2), f32), np.zeros(5)), "float32"),
    "byte order": (lambda: (np.zeros((5, 2), ">f8"), np.zeros(5)), ">f8"),
    "read-only": (lambda: (read_only(np.zeros((5, 2))), np.zeros(5)), "read-only"),
    "not an array": (lambda: ([[0, 0]] * 5, np.zeros(5)), "NumPy array"),
    "repeated": (lambda: (np.lib.stride_tricks.as_strided(np.zeros(2), (5, 2), (0, 8)), np.zeros(5)), "own memory"),
    "too few": (lambda: (np.zeros((5, 2)),), "2 array"),
    "one": (lambda: np.zeros((5, 2)), "2 array"),
    "overlap": (lambda: (lambda m: (m[:10].reshape(5, 2), m[9:14]))(np.zeros(20)), "overlap"),
}


@pytest.mark.parametrize("name", OUTS)
def test_wrong_out(two, name):
    make_out, words = OUTS[name]
    with pytest.raises(ArgumentError, match=words):
        two(*samples(5), out=make_out())


ALIASES = {
    "itself": lambda m: (m, m),
    "shifted on": lambda m: (m[:-2], m[2:]),
    "shifted back": lambda m: (m[2:], m[:-2]),
    "reversed": lambda m: (m, m[::-1]),
    "columns swapped": lambda m: (m, m[:, ::-1]),
    "every other": lambda m: (m[::2], m[: len(m[::2])]),
}


@pytest.mark.parametrize("name", ALIASES)
def test_out_that_is_an_input(name):
    f = kernel(lambda x: np.array([x[0] + x[1], x[0] - x[1]]), x=2)
    memory = np.random.default_rng(0).standard_normal((21, 2))
    x, out = ALIASES[name](memory)
    expected = f(x.copy())
    f(x, out=out)
    np.testing.assert_array_equal(out, expected)


def test_inputs_are_never_changed(two):
    args = samples(13)
    copies = [a.copy() for a in args]
    two(*args), two(*[a[::-1] for a in args]), two(*[a[3] for a in args])  # pyright: ignore
    for a, c in zip(args, copies, strict=True):
        np.testing.assert_array_equal(a, c)


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", range(1, 20))
@pytest.mark.parametrize("dtype", [f64, f32])
def test_nothing_is_written_outside_out(two, count, dtype):
    args = samples(count, dtype=dtype)
    for step in (1, 2, -1):
        memory = [np.full((count + 4) * abs(step) * size, 7.0, dtype) for size in (2, 1)]
        product = memory[0].reshape(-1, 2)[2 * abs(step) :][: count * abs(step)][::step]
        norm = memory[1][2 * abs(step) :][: count * abs(step)][::step]
        two(*args, out=(product, norm))
        check(Two(product.copy(), norm.copy()), args)
        product[...], norm[...] = 7.0, 7.0
        assert all((m == 7.0).all() for m in memory)


_GUARD = """
import ctypes, mmap
import numpy as np
from adjoint import kernel, scan

libc = ctypes.CDLL(None, use_errno=True)
page = mmap.PAGESIZE

def guarded(a, at_end):
    "A copy of `a` that touches a page nobody may read, behind it or before it."
    pages = -(-a.nbytes // page) or 1
    memory = mmap.mmap(-1, (pages + 2) * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for p in (0, pages + 1):
        assert libc.mprotect(ctypes.c_void_p(base + p * page), ctypes.c_size_t(page), 0) == 0
    offset = (pages + 1) * page - a.nbytes if at_end else page
    view = np.ndarray(a.shape, a.dtype, memory, offset)
    view[...] = a
    keep.append(memory)
    return view

keep = []
f = kernel(lambda A, x, s: s * (A @ x), A=(2, 3), x=3)
h = kernel(lambda x: x[:, None] * x, x=9)
g = kernel(lambda v, c: scan(lambda c, x: (c + x @ x, c * x), c, v)[1], v=(..., 3))
rng = np.random.default_rng(0)
for dtype in (np.float64, np.float32):
    for n in [*range(0, 19), 64]:
        args = [rng.standard_normal(s).astype(dtype) for s in [(n, 2, 3), (n, 3), (n,)]]
        wanted = f(*args)
        for at_end in (True, False):
            for order in (1, -1):
                inner = [guarded(a[::order], at_end)[::order] for a in args]
                out = guarded(np.zeros((n, 2), dtype), at_end)
                f(*inner, out=out)
                assert (out == wanted).all() and (f(*inner) == wanted).all()
            v, c = rng.standard_normal((n, 4, 3)).astype(dtype), rng.standard_normal(n).astype(dtype)
            out = guarded(np.zeros((n, 4, 3), dtype), at_end)
            g(guarded(v, at_end), guarded(c, at_end), out=out)
            assert (out == g(v, c)).all()
            x, out = rng.standard_normal((n, 9)).astype(dtype), guarded(np.zeros((n, 9, 9), dtype), at_end)
            h(guarded(x, at_end), out=out)
            assert (out == x[:, :, None] * x[:, None]).all()
one = [guarded(a, True) for a in (rng.standard_normal((2, 3)), rng.standard_normal(3))]
for _ in range(3):
    f(*one, 1.0)
print("fine", flush=True)
import os; os._exit(0)
"""


def run(code, **env):
    """The last line a fresh Python process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **env},
    )
    assert done.returncode == 0, done.stderr[-2000:] + f"\nexit code {done.returncode}"
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs mprotect")
def test_nothing_is_read_or_written_past_an_end():
    assert run(_GUARD) == "fine"


class Products(NamedTuple):
    outer: np.ndarray
    scaled: np.ndarray


def _products(x, y):
    return Products(x[:, None] * x, x[:, None] * y)


@pytest.mark.parametrize("dtype", [f64, f32])
@pytest.mark.parametrize("threads", [1, 2])
def test_results_larger_than_the_caches(threads, dtype):
    """They bypass the caches: the same numbers, in out at any place and of any layout, and nothing besides."""
    products = kernel(_products, x=9, y=20)
    products.threads = threads
    count = threads * STREAM_BYTES // (np.dtype(dtype).itemsize * 261) + 5
    x, y = (np.random.default_rng(0).standard_normal((count, n)).astype(dtype) for n in (9, 20))
    want = Products(x[:, :, None] * x[:, None], x[:, :, None] * y[:, None])
    for got in products(x, y), products(x[::-1], y[::-1]):
        np.testing.assert_array_equal(got.outer, want.outer)
        np.testing.assert_array_equal(got.scaled, want.scaled)
        want = Products(*(w[::-1] for w in want))
    for offset, gap in ((1, 0), (6, 0), (0, 3)):
        memory = [np.full((count + 1) * (w[0].size + gap), 7.0, dtype) for w in want]
        out = [
            m[offset:][: count * (w[0].size + gap)].reshape(count, -1)[:, : w[0].size].reshape(w.shape)
            for m, w in zip(memory, want, strict=True)
        ]
        assert all(np.may_share_memory(m, o) for m, o in zip(memory, out, strict=True))
        products(x, y, out=out)
        for got, wanted, m in zip(out, want, memory, strict=True):
            np.testing.assert_array_equal(got, wanted)
            got[...] = 7.0
            assert (m == 7.0).all()


def test_memory_of_large_results_is_used_again():
    """As soon as no array looks at it, and not before."""
    double = kernel(lambda x: 2 * x, x=100)
    x = np.random.default_rng(0).standard_normal((STREAM_BYTES // 800 + 1, 100))
    first = double(x)
    place, part = layouts.address(first), first[5:7]
    second = double(-x)
    del first
    third = double(0 * x)
    assert len({place, layouts.address(second), layouts.address(third)}) == 3
    np.testing.assert_array_equal(part, 2 * x[5:7])
    np.testing.assert_array_equal(second, -2 * x)
    del part
    fourth = double(x)
    assert layouts.address(fourth) == place
    np.testing.assert_array_equal(fourth, 2 * x)
    assert fourth.flags.writeable and fourth.flags.c_contiguous


# --- threads, processes, bits -----------------------------------------------------------------------------------------


@pytest.fixture
def heavy(monkeypatch):
    """A kernel whose batches are split over threads however small they are."""
    monkeypatch.setattr(execution, "THREAD_WORK" if hasattr(execution, "THREAD_WORK") else "_THREAD_WORK", 1)
    return kernel(lambda A, x, s: Two(np.sin(s) * (A @ x), np.exp(-x @ x)), **SHAPES)


@pytest.mark.parametrize("dtype", [f64, f32])
def test_bits_do_not_depend_on_threads_or_position(heavy, dtype):
    args = samples(37, dtype=dtype)
    heavy.threads = 1
    expected = heavy(*args)
    for threads in (1, 2, 3, 7, 64):
        heavy.threads = threads
        assert heavy.threads == threads
        for layout in (lambda a: a, padded) if dtype is f64 else (lambda a: a,):
            for got, wanted in zip(heavy(*map(layout, args)), expected, strict=True):
                np.testing.assert_array_equal(got, wanted)
    heavy.threads = None
    for start in range(0, 37, 5):
        for stop in {start + 1, start + 3, 37}:
            for got, wanted in zip(heavy(*[a[start:stop] for a in args]), expected, strict=True):
                np.testing.assert_array_equal(got, wanted[start:stop])
    for i in range(37):
        for got, wanted in zip(heavy(*[a[i] for a in args]), expected, strict=True):
            np.testing.assert_array_equal(got, wanted[i])


def test_neighbours_do_not_matter():
    """NaN, infinities and slow paths of one lane leave the others alone."""
    f = kernel(lambda x: np.sin(x) + np.log(np.abs(x)) + np.fmod(x, 3.0))
    x = np.random.default_rng(0).uniform(-5, 5, 16)
    expected = f(x)
    for bad in (np.nan, np.inf, 1e300, 0.0, 5e-324):
        for lane in (0, 3, 15):
            y = x.copy()
            y[lane] = bad
            keep = np.arange(16) != lane
            np.testing.assert_array_equal(f(y)[keep], expected[keep])


def test_many_python_threads(heavy):
    f, args = make(), samples(50)
    expected, failures = make()(*args), []

    def work(k):
        try:
            for n in range(30):
                m = 1 + (k * 7 + n) % 50
                got = f(*[a[:m] for a in args])
                assert all((g == e[:m]).all() for g, e in zip(got, expected, strict=True))
                one = f(*[a[m - 1] for a in args])
                assert all((g == e[m - 1]).all() for g, e in zip(one, expected, strict=True))
                heavy(*args)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork():
    code = """
import os, sys, numpy as np, warnings
warnings.simplefilter("ignore")
from adjoint import kernel
from adjoint.compile.machine import execution as call
setattr(call, "THREAD_WORK" if hasattr(call, "THREAD_WORK") else "_THREAD_WORK", 1)
f, x = kernel(lambda x: np.sin(x) * 2), np.arange(1000.0)
f.threads = 3
wanted = f(x)
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        g = kernel(lambda x: np.cos(x))  # compiled in the child
        ok = (f(x) == wanted).all() and f(0.5) == 2 * f(0.5) / 2 and np.allclose(g(x), np.cos(x), atol=1e-15)
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert (f(x) == wanted).all()
print("fine", flush=True)
"""
    assert run(code) == "fine"


def test_python_collects_garbage_as_before():
    """Not while a function is compiled; then again, unless it did not before, even if the function fails."""
    seen = []

    def watched(x):
        seen.append(gc.isenabled())
        if len(seen) == 2:
            raise ValueError("on purpose")
        return 2 * x

    kernel(watched)(1.0)
    assert gc.isenabled()
    with pytest.raises(ValueError, match="on purpose"):
        kernel(watched)(1.0)
    assert gc.isenabled()
    gc.disable()
    try:
        kernel(watched)(1.0)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False] * 3


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [128, 256])
def test_threads_with_small_stacks(kilobytes):
    """Some systems give threads 128 kB: tiles that a thin call puts on the stack must fit, or go elsewhere."""
    code = f"""
import threading, numpy as np
from adjoint import kernel
f, x = kernel(lambda x: np.sqrt(x), x=2000), np.ones(2000)
f(x), f(x)
threading.stack_size({kilobytes} * 1024)
t = threading.Thread(target=lambda: print("fine" if f(x)[0] == 1 else "wrong"))
t.start(), t.join()
"""
    assert run(code) == "fine"


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "1e3"])
def test_bad_thread_numbers(value, monkeypatch):
    monkeypatch.setenv("ADJOINT_THREADS", value)
    f = kernel(lambda x: x)
    with pytest.raises(ArgumentError, match=f"ADJOINT_THREADS.*{value}"):
        _ = f.threads
    with pytest.raises(ArgumentError, match="threads must be a whole number"):
        f.threads = value
    with pytest.raises(ArgumentError, match="whole number"):
        f.threads = 2.5  # pyright: ignore[reportAttributeAccessIssue]
    f.threads = 2
    assert f.threads == 2
    monkeypatch.setenv("ADJOINT_THREADS", "3")
    f.threads = None
    assert f.threads == 3


def test_a_bad_thread_number_spares_small_calls_and_names_itself_in_large_ones(monkeypatch):
    monkeypatch.setenv("ADJOINT_THREADS", "many")
    f = kernel(lambda x: np.sin(x))
    try:
        assert f(0.0) == 0.0
    except ArgumentError as e:
        assert "ADJOINT_THREADS" in str(e)
    with pytest.raises(ArgumentError, match="ADJOINT_THREADS"):
        f(np.zeros((2, 10**6)).T)


def test_lock_is_released():
    """While one thread computes, another one counts."""
    from adjoint import scan

    f = kernel(lambda x: scan(lambda c, _: (np.sin(c) + 1, None), x, length=3_000_000)[0])
    f.threads = 1
    x = np.ones((2, 4))  # a batch of two axes
    f.eager  # noqa: B018
    kernel(lambda x: np.sin(x))(1.0)
    done, counts = threading.Event(), []

    def work():
        f(x.T)
        done.set()

    t = threading.Thread(target=work)
    t.start()
    while not done.is_set():
        counts.append(time.perf_counter())
        time.sleep(0.001)
    t.join()
    longest = max(np.diff(counts))
    assert longest < 0.5 * (counts[-1] - counts[0]), "the other thread stood still during the call"


def test_errors_are_of_this_library():
    with pytest.raises(AdjointError):
        module_level(np.array(["a"]))


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


def test_a_kernel_traced_while_the_kernel_it_uses_is_called():
    J = kernel(lambda x: x * x, x=2).jacobian("x")

    @kernel(x=2)
    def f(x):
        time.sleep(0.2)
        return J(x) @ x

    x = np.ones(2)
    threads = [threading.Thread(target=g, args=(x,), daemon=True) for g in (f, J)]
    for t in threads:
        t.start()
        time.sleep(0.05)
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "deadlock"


@pytest.mark.slow
def test_the_machine_code_lives_as_long_as_its_caller():
    def make(factor):
        k = kernel(lambda x: x * factor)
        k(1.0)
        return k.__call__

    call = make(2.0)
    gc.collect()
    others = [kernel(lambda x, n=n: x + float(n)) for n in range(8)]
    assert [k(1.0) for k in others] == [n + 1 for n in range(8)]
    assert call(5.0) == 10.0
    np.testing.assert_array_equal(call(np.ones((3, 3))), np.full((3, 3), 2.0))


def test_out_inside_a_kernel_is_refused():
    inner = kernel(lambda x: x + 1, x=3)
    with pytest.raises(ArgumentError, match="out"):
        kernel(lambda x: inner(x, out=np.zeros(3)), x=3)(np.ones(3))


def test_static_values_that_compare_equal_are_not_the_same():
    k = kernel(lambda x, s: np.copysign(x, s), s=static)
    assert (k(1.0, 0.0), k(1.0, -0.0)) == (1.0, -1.0)
    t = kernel(lambda x, s: np.copysign(x, s[0]), s=static)
    assert (t(1.0, (-0.0,)), t(1.0, (0.0,))) == (-1.0, 1.0)


def test_pickling_and_copying():
    import copy

    k = kernel(lambda x: x)
    assert copy.deepcopy(k) is k
    with pytest.raises(pickle.PicklingError, match="top of a module"):
        pickle.dumps(k)


@pytest.mark.parametrize("bad", [float("inf"), 1.5, 0, "x", None])
def test_bad_numbers(bad):
    if bad is not None:
        with pytest.raises(ArgumentError, match="threads"):
            kernel(lambda x: x).threads = bad
    with pytest.raises(ArgumentError, match=r"length|whole"):
        kernel(lambda x: scan(lambda c, _: (c, None), x, length=-1 if bad == 0 else bad)[0])(1.0)


def test_help_shows_the_docstring():
    import pydoc

    @kernel(x=3)
    def length(x):
        """Length of a vector [m]."""
        return np.sqrt(x @ x)

    assert "Length of a vector [m]." in pydoc.plain(pydoc.render_doc(length))


def test_kernels_as_methods_are_kernels():
    class Spring:
        def __init__(self, stiffness):
            self.stiffness = stiffness

        @kernel(self=static)
        def force(self, x):
            return -self.stiffness * x

    soft, stiff = Spring(1.0), Spring(10.0)
    assert soft.force(2.0) == -2.0 and stiff.force(2.0) == -20.0
    assert stiff.force.jacobian("x")(2.0) == -10.0 and stiff.force is stiff.force


def test_only_threads_can_be_set():
    k = kernel(lambda x: x)
    with pytest.raises(AttributeError, match="threads"):
        k.thread = 4
    with pytest.raises(ArgumentError, match="tuple for a static"):
        kernel(lambda x, p=[1.0, 2.0]: x)


def test_threads_are_inherited_until_set():
    k = kernel(lambda n, x: n * x, n=static)
    bound, slope = k.bind(2), k.bind(2).jacobian("x")
    k.threads = 3
    assert bound.threads == slope.threads == 3 and k(2, 5.0) == bound(5.0) == 10.0
    bound.threads = 1
    assert k.threads == 3 and slope.threads == 1 and k.bind(2) is bound


def test_static_arguments_by_place_and_by_name():
    k = kernel(lambda n, x, m=1: n * x + m, n=static)
    x = np.arange(3.0)
    for _ in range(2):
        for got in (k(2, x), k(n=2, x=x), k(2, x=x), k(2, x, 1), k(2, x, m=1), k(2, x, out=np.empty(3))):
            np.testing.assert_array_equal(got, 2 * x + 1)
    assert kernel(lambda x: k(3, x) + k(n=3, x=x, m=0))(1.0) == 7.0
    with pytest.raises(ArgumentError, match="at most"):
        k(2, x, 1, 4)
    with pytest.raises(ArgumentError, match="hashable"):
        k({2}, x)
    with pytest.raises(ArgumentError, match="twice"):
        k(2, x, n=2)


def test_static_arguments_in_any_place_and_as_lists():
    """A static argument after the inputs is found as fast as one before; a list stands for the tuple it means."""
    k = kernel(lambda x, names, scale=1: sum(scale * float(n) * x for n in names), names=static)
    x = np.arange(3.0)
    for _ in range(2):
        for got in (k(x, ["1", "2"]), k(x, ("1", "2")), k(x, names=["1", "2"]), k(x, ("1", "2"), 1)):
            np.testing.assert_array_equal(got, 3 * x)
        assert np.asarray(k(1.0, "1", True)).dtype == float and k(1.0, "1", 3) == 3.0
    assert k.bind(["1", "2"]) is k.bind(("1", "2"))


def test_static_numbers_are_told_apart():
    """0.0 and -0.0, 1, True and 1.0, also as NumPy's numbers and in tuples, select specialisations of their own."""

    class Two(NamedTuple):
        a: float
        b: float

    k = kernel(lambda x, s: x * float(np.copysign(1.0, np.ravel(s)[-1])), s=static)
    for make in (float, np.float64, lambda s: (1, s), lambda s: Two(1, s), lambda s: ((s,),)):
        for _ in range(2):
            assert k(1.0, make(0.0)) == 1.0 and k(1.0, make(-0.0)) == -1.0
    kind = kernel(lambda x, s: x + {int: 0, bool: 1, float: 2, np.float64: 3}[type(s)], s=static)
    for _ in range(2):
        assert [kind(0.0, s) for s in (1, True, 1.0, np.float64(1))] == [0.0, 1.0, 2.0, 3.0]


def test_out_again_and_again():
    """A call with `out` that was seen before takes a short way, which must not skip what protects the caller."""
    k = kernel(lambda x: np.stack([x[1], x[0] + 1]), x=2)
    x, out = np.arange(6.0).reshape(3, 2), np.empty((3, 2))
    for _ in range(3):
        x = x + 1
        assert k(x, out=out) is out
        np.testing.assert_array_equal(out, np.stack([x[:, 1], x[:, 0] + 1], -1))
    want = k(x)
    np.testing.assert_array_equal(k(x, out=x), want)  # results over their own inputs
    out.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        k(x, out=out)
    with pytest.raises(ArgumentError, match="float64"):
        k(x, out=np.empty((3, 2), np.float32))
    with pytest.raises(ArgumentError, match="shape"):
        k(x, out=np.empty((2, 2)))
    assert kernel(lambda x: k(x) * 2, x=2)(x).shape == (3, 2)
    one = np.empty(2)
    for _ in range(2):
        np.testing.assert_array_equal(k(x[0], out=one), k(x[0]))
