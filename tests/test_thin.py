"""Sequences in calls straight from CPython: what the Python fallback gives, and its refusals."""

import sys
from types import BuiltinMethodType
from typing import NamedTuple

import numpy as np
import pytest

from adjoint.compile import kernel, scan
from adjoint.compile import thin as thin_module
from adjoint.errors import ArgumentError


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
    return isinstance(type(f).__call__, BuiltinMethodType) or thin_module._python_api() is None


@pytest.fixture
def plain(monkeypatch):
    """The same kernel, called by Python alone."""
    with monkeypatch.context() as m:
        m.setattr(thin_module, "_python_api", lambda: None)
        f = make()
        f(*numbers(3))
    f._thin = sys.maxsize  # and so it stays
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
