"""Calls straight from CPython, of sequences and with results given: what the Python fallback does, and its refusals."""

import ctypes
import itertools
import sys
import tracemalloc
from types import BuiltinMethodType
from typing import NamedTuple

import numpy as np
import pytest

from adjoint.compile import kernel, scan
from adjoint.compile.front import dispatch
from adjoint.compile.machine import cpython_entry as thin_module
from adjoint.compile.machine import entry_record, python_abi
from adjoint.errors import ArgumentError, CompileError


class Sums(NamedTuple):
    total: np.ndarray
    before: np.ndarray
    scaled: np.ndarray


def make():
    """Sums of a sequence of pairs, times the numbers of another one."""

    @kernel(pair=(..., 2), x=..., start=2)
    def sums(pair, x, start):
        total, (before, scaled) = scan(lambda c, row: (c + row[0], (c, row[0] * row[1])), start, (pair, x))
        return Sums(total[0], before, scaled)

    return sums


def numbers(n: int):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=2)


def is_thin(f) -> bool:
    """Where that is possible at all."""
    return isinstance(type(f).__call__, BuiltinMethodType) or python_abi.python_api() is None


@pytest.fixture
def plain(monkeypatch):
    """The same kernel, called by Python alone."""
    with monkeypatch.context() as m:
        m.setattr(thin_module, "python_api", lambda: None)
        f = make()
        f(*numbers(3))
    for variant in f.memory.specialisations.values():
        variant.codes_in_call = sys.maxsize  # and so it stays
    return f


def same(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        assert type(x) is type(y) and x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_array_equal(x, y)


LENGTHS = [0, 1, 2, 7, 1000, 200_000]  # on the stack, on the heap, and what is left to Python


def test_any_length(plain):
    f = make()
    for n in LENGTHS * 2:
        found = f(*numbers(n))
        assert isinstance(found, Sums) and isinstance(found.total, np.float64)
        assert found.before.shape == (n, 2) and found.scaled.shape == (n, 2)
        same(found, plain(*numbers(n)))
    assert is_thin(f)


def test_layouts(plain):
    """Rows at any distance, backwards too; all other layouts, types and batches are left to Python."""
    f, (pair, x, start) = make(), numbers(9)
    f(pair, x, start)
    wide = np.zeros((18, 2, 3))
    wide[::2, :, 1] = pair
    for other in (
        (pair[::-1], x[::-1], start),
        (np.repeat(pair, 2, axis=0)[::2], np.repeat(x, 3)[1::3], start),
        (np.asfortranarray(pair), x, start),
        (wide[::2, :, 1], x, start),
        (pair.astype(np.float32), x.astype(np.float32), start.astype(np.float32)),
        (pair.tolist(), x, start),
        (pair[None], x[None], start[None]),
        (pair[None], x, start),
        (np.stack([pair, 2 * pair]), x, start),
        (pair, x, np.stack([start, -start, 2 * start])),
    ):
        same(f(*other), plain(*other))
    assert is_thin(f)


def test_refusals():
    """By both roads the same words."""
    f, (pair, x, start) = make(), numbers(9)
    for _ in range(2):
        with pytest.raises(ArgumentError, match="sequence 'x' has length 8, another has 9"):
            f(pair, x[:8], start)
        with pytest.raises(ArgumentError, match="argument 'x' has shape"):
            f(pair, 1.0, start)
        with pytest.raises(ArgumentError, match=r"argument 'pair' has shape \(9, 3\)"):
            f(np.ones((9, 3)), x, start)
        with pytest.raises(ArgumentError, match="needs argument 'start'"):
            f(pair, x)
        f(pair, x, start)
    assert is_thin(f)


def test_nothing_leaks():
    f, args = make(), numbers(50)
    f(*args)
    before = [sys.getrefcount(a) for a in args] + [sys.getrefcount(Sums)]
    for _ in range(1000):
        found = f(*args)
    assert [sys.getrefcount(a) for a in found] == [3] * 3
    del found
    assert [sys.getrefcount(a) for a in args] + [sys.getrefcount(Sums)] == before


def test_one_long_sample_lets_other_threads_run():
    """The global lock is let go for long sequences: two calls at a time give what one gives."""
    from concurrent.futures import ThreadPoolExecutor

    f, args = make(), numbers(20_000)
    wanted = f(*args)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: f(*args), range(40)):
            same(found, wanted)


@kernel(x=3, y=2, scale=())
def product(x, y, scale=2.0):
    return np.stack([x[0] * y[0], x[1] * y[1], x[2] * scale])


def test_both_dtypes():
    x, y = np.random.default_rng(0).normal(size=(2, 5, 3))
    y = y[:, :2].copy()
    x4, y4 = x.astype(np.float32), y.astype(np.float32)
    first = product(x4, y4), product(x, y), product(x4[0], y4[0]), product(x[0], y[0])
    again = product(x4, y4), product(x, y), product(x4[0], y4[0]), product(x[0], y[0])
    assert is_thin(product)
    same(again, first)
    assert [a.dtype.char for a in again] == ["f", "d", "f", "d"]
    np.testing.assert_allclose(again[0], again[1], rtol=4e-7)  # two roundings of 2⁻²⁴ each, and those of the inputs
    # Mixed arrays are computed in float64, numbers follow the arrays.
    np.testing.assert_array_equal(product(x4, y), product(x4.astype(float), y))
    np.testing.assert_array_equal(product(x4, y4, 3.0), product(x4, y4, np.float32(3.0)))
    assert product(x4, y4, 3.0).dtype == np.float32


# --- results given as out ---------------------------------------------------------------------------------------------


class Two(NamedTuple):
    row: np.ndarray
    size: np.ndarray


def make_two():
    @kernel(x=3, y=2)
    def two(x, y, scale=2.0):
        return Two(np.stack([x * scale, x + y[0]]), x @ x + y @ y)

    return two


@pytest.mark.parametrize("batch", [(), (1,), (5,)])
def test_out_is_filled_and_given_back(batch):
    f, wide = make_two(), np.random.default_rng(1).normal(size=(*batch, 5))
    x, y = wide[..., :3], wide[..., 3:]
    for dtype in (np.float64, np.float32):
        a, b = x.astype(dtype), y.astype(dtype)
        wanted = f(a, b)
        for kind in (tuple, lambda pair: Two(*pair), list):
            out = kind([np.full((*batch, 2, 3), np.nan, dtype), np.full(batch, np.nan, dtype)])
            found = f(a, b, out=out)
            assert isinstance(found, Two) and found.row is out[0] and found.size is out[1]
            for got, want in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(got, want)
    assert is_thin(f)


def test_out_by_the_short_road(monkeypatch):
    """An array, a tuple or the results' own type, and nothing else that has a name, needs no Python."""
    f, g = make_two(), kernel(lambda x, y: x * y, x=3, y=3)
    x, y = np.arange(12.0).reshape(4, 3), np.ones(2)
    out, one = f(x, y), g(x, x)
    if python_abi.python_api() is None:
        pytest.skip("there is no short road here")
    monkeypatch.setattr(dispatch, "_run", None)  # Python's road ends there
    f(x, y, out=out)
    f(x, y, out=tuple(out))
    np.testing.assert_array_equal(f(x, y, out=None).row, out.row)
    assert g(x, x[0], out=one) is one
    np.testing.assert_array_equal(one, x * x[0])
    for arguments, given in [((x, y), {"out": list(out)}), ((x, y), {"scale": 3.0, "out": out})]:
        with pytest.raises(TypeError, match="not callable"):
            f(*arguments, **given)


@pytest.mark.parametrize("start", range(-4, 5))
def test_out_may_share_memory_with_inputs(start):
    """Whatever the overlap, results are those of separate arrays."""
    g = kernel(lambda x, y: np.stack([x[1] * y[0], x[2] - y[1], x[0] + y[2]]), x=3, y=3)
    memory = np.random.default_rng(0).normal(size=40)
    x, y = memory[12:24].reshape(4, 3), memory[27:30]
    for samples in (x, x[::-1]):
        wanted = g(samples.copy(), y.copy())
        kept = memory.copy()
        out = memory[12 + 3 * start : 24 + 3 * start].reshape(4, 3)
        np.testing.assert_array_equal(g(samples, y, out=out), wanted)
        memory[:] = kept


def test_wrong_out_by_both_roads():
    f, x, y = make_two(), np.ones((4, 3)), np.ones(2)
    good = f(x, y)
    shared = np.zeros(4 * 6 + 4)
    locked = good.size.copy()
    locked.flags.writeable = False
    for out, words in [
        ((good.row, good.size[:3]), "out for 'size' has shape"),
        ((good.row[:, :, :2], good.size), "out for 'row' has shape"),
        ((good.row, good.size.astype(np.float32)), "dtype float32"),
        ((good.row,), "out needs a tuple of 2 arrays, row, size; got 1"),
        ((good.row, 1.0), "must be a NumPy array"),
        ((good.row, locked), "read-only"),
        ((shared[:24].reshape(4, 2, 3), shared[20:24]), "overlap each other"),
    ]:
        with pytest.raises(ArgumentError, match=words):
            f(x, y, out=out)


def test_large_results():
    """New memory for several large arrays comes by Python's road, given memory of any size needs no Python."""
    f, n = make_two(), 50_000
    x, y = np.random.default_rng(0).normal(size=(n, 3)), np.ones(2)
    wanted = f(x[:10], y)
    found = f(x, y)
    again = f(x, y, out=Two(np.empty_like(found.row), np.empty_like(found.size)))
    for part, large, given in zip(wanted, found, again, strict=True):
        np.testing.assert_array_equal(large[:10], part)
        np.testing.assert_array_equal(given, large)


def test_out_of_any_layout():
    f, x, y = make_two(), np.random.default_rng(0).normal(size=(4, 3)), np.ones(2)
    wanted = f(x, y)
    row, size = np.zeros((8, 2, 6))[::2, :, ::2], np.zeros((4, 3))[:, 1]
    found = f(x, y, out=(row, size))
    assert found.row is row and found.size is size
    np.testing.assert_array_equal(row, wanted.row)
    np.testing.assert_array_equal(size, wanted.size)


def test_nothing_of_out_leaks():
    f, g = make_two(), kernel(lambda x: 2 * x, x=3)
    x, y = np.ones((4, 3)), np.ones(2)
    out, one = tuple(f(x, y)), g(x)
    kept = [x, y, out, *out, one, Two]
    before = [sys.getrefcount(a) for a in kept]
    for _ in range(1000):
        found, same_one = f(x, y, out=out), g(x, out=one)
    del found, same_one
    assert [sys.getrefcount(a) for a in kept] == before


@pytest.mark.parametrize("default", [np.ones(3), np.float64(2.0), 2.0], ids=["array", "numpy", "python"])
def test_the_dtype_of_a_call_does_not_depend_on_earlier_ones(default):
    """Defaults that are NumPy's have float64, a float of Python has none."""
    shape = np.shape(default)
    f = kernel(lambda x=default, s=default: np.sum(x * s), x=shape, s=shape)
    x = np.full(shape, 0.5, np.float32)
    want = [f(x).dtype, f().dtype]
    assert want == [np.float32 if type(default) is float else np.float64, np.float64]
    f(x, x)
    f(x.astype(float), x.astype(float))
    assert [f(x).dtype, f().dtype] == want


def test_threads_that_call_in_different_ways():
    from concurrent.futures import ThreadPoolExecutor

    f = kernel(lambda x, y=None: x * x if y is None else x * y, x=3, y=3)
    x, interval = np.ones((2, 2, 3)), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(f, *((x, x) if k % 2 else (x,))) for k in range(4000)]
            for call in calls:
                np.testing.assert_array_equal(call.result(), x)
    finally:
        sys.setswitchinterval(interval)


# --- when it cannot be done -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry, value", [(0, 0x01000009), (0, 0x03000000), (211, 0x0F)])
def test_another_abi_of_numpy_is_left_alone(entry, value, monkeypatch):
    """NumPy's table of functions is used only if NumPy says that it is the one known here."""
    version = ctypes.PYFUNCTYPE(ctypes.c_uint)
    known = {0: version(lambda: 0x02000000), 211: version(lambda: 0x12)}

    def table():
        return {k: ctypes.cast(f, ctypes.c_void_p).value for k, f in known.items()}

    assert python_abi._is_known(table())
    known[entry] = version(lambda: value)
    assert not python_abi._is_known(table())
    monkeypatch.setattr(python_abi, "_is_known", lambda table: False)
    assert python_abi.python_api.__wrapped__() is None


def test_where_the_caller_cannot_be_linked_python_calls(monkeypatch):
    """The first call works, and so do all others."""

    def refuse(*_):
        raise CompileError("LLVM cannot link the generated code")

    monkeypatch.setattr(thin_module.strided_loop, "shared", refuse)
    caller = thin_module._caller.__wrapped__
    monkeypatch.setattr(thin_module, "_caller", caller)
    assert caller() is None
    f, x = kernel(lambda x: 2 * x, x=3), np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), 2 * x)
        np.testing.assert_array_equal(f(x[0]), 2 * x[0])
    assert not isinstance(type(f).__call__, BuiltinMethodType)


class Many(NamedTuple):
    total: np.ndarray
    product: np.ndarray
    row: np.ndarray


_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int
_REFUSED = {
    "to_scalar": [_POINTER],  # which takes the reference that it is given
    "new_array": [_POINTER, _NUMBER, _POINTER, _NUMBER, _POINTER, _POINTER, _NUMBER, _NUMBER, _POINTER],
}


@pytest.mark.parametrize("name, every", [("to_scalar", 1), ("to_scalar", 2), ("new_array", 1), ("new_array", 3)])
def test_results_that_cannot_be_made_lose_nothing(name, every, monkeypatch):
    """Of three results one cannot be made: no crash, the others are given back, work memory too."""
    api = python_abi.python_api()
    if api is None:
        pytest.skip("there is no short road here")
    kind, calls = ctypes.PYFUNCTYPE(_POINTER, *_REFUSED[name]), itertools.count(1)
    real, give_back = kind(api[name]), ctypes.PYFUNCTYPE(None, _POINTER)(api["decref"])

    @kind
    def refuses(*args):
        if next(calls) % every:
            return real(*args)
        if name == "to_scalar":
            give_back(args[0])
        return None

    stand_in = {name: ctypes.cast(refuses, _POINTER).value}
    monkeypatch.setattr(thin_module, "python_api", lambda: api | stand_in)
    f = kernel(lambda x, y: Many(x + y, x * y, x + y * np.arange(1000.0)))
    assert f(1.0, 2.0).product == 2.0  # by Python's own road
    tracemalloc.start()
    for _ in range(500):
        with pytest.raises(SystemError, match="returned NULL"):  # NumPy itself would have set a MemoryError
            f(1.0, 2.0)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 400_000  # the rows of all calls take 4 MB


@pytest.mark.slow
def test_a_lack_of_work_memory_is_an_error(monkeypatch):
    api = python_abi.python_api()
    if api is None:
        pytest.skip("there is no short road here")
    # A function that sets MemoryError and returns NULL, whatever it is given.
    monkeypatch.setattr(thin_module, "python_api", lambda: api | {"malloc": api["no_memory"]})
    f, x = kernel(lambda x: x * np.arange(2500.0)), np.ones(2)  # two lanes of them are more than the stack takes
    f(x)  # by Python's own road
    for _ in range(3):
        with pytest.raises(MemoryError):
            f(x)
    assert f(2.0)[999] == 1998  # its work memory is on the stack


@pytest.mark.slow
def test_results_of_any_size_that_do_not_fit():
    """Batches without memory of their own, whose results would not fit anywhere."""
    f = kernel(lambda x, y: Many(x + y, x * y, x + y * np.arange(1000.0)))
    f(np.ones(2), 2.0)
    for n in (10**10, 10**14, 2**60):
        with pytest.raises((MemoryError, ValueError)):
            f(np.broadcast_to(1.0, n), 2.0)
    assert f(1.0, 2.0).total == 3.0


def test_words_of_the_record_are_in_the_order_of_this_machine():
    code, _ = make_two().only_specialisation("test").compiled("f64", True)
    values = dict.fromkeys(entry_record.RECORD, 0) | {"most_rows": 2**62, "dtype": -2}
    record = entry_record.entry_record(code, values, [None] * 3, np.zeros(1, np.int64))
    words = dict(zip(entry_record.RECORD, np.frombuffer(record, np.int64).tolist(), strict=False))
    assert (words["most_rows"], words["dtype"], words["inputs"], words["outputs"]) == (2**62, -2, 3, 2)
