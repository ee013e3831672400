"""Batches whose samples have their sequences in common go straight to machine code, as others do."""

import numpy as np
import pytest

from adjoint import ArgumentError, kernel, scan


@kernel(x=2, rows=(..., 2))
def farthest(x, rows):
    """The largest distance of x from points, and the sum of all."""

    def step(carry, row):
        d = np.linalg.norm(x - row)
        return (np.maximum(carry[0], d), carry[1] + d), None

    return np.stack(scan(step, (0.0, 0.0), rows)[0])


@kernel(x=2, rows=(..., 2))
def shifted(x, rows):
    """A result that is a sequence."""
    return scan(lambda c, row: (c, row + x), 0.0, rows)[1]


def expected(x, rows):
    d = np.linalg.norm(x[..., None, :] - rows, axis=-1)
    return np.stack([d.max(axis=-1, initial=0.0), d.sum(axis=-1)], axis=-1)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 17, 300])
@pytest.mark.parametrize("length", [0, 1, 5, 40])
def test_all_samples_have_the_same_rows(count, length):
    rng = np.random.default_rng(count + 100 * length)
    x, rows = rng.normal(size=(count, 2)), rng.normal(size=(length, 2))
    for _ in range(3):  # the first call goes through Python, and the others do not
        np.testing.assert_allclose(farthest(x, rows), expected(x, rows), rtol=1e-14, atol=1e-14)


def test_rows_of_each_sample_and_of_all_alternate():
    rng = np.random.default_rng(0)
    x, rows = rng.normal(size=(9, 2)), rng.normal(size=(9, 6, 2))
    for _ in range(3):
        np.testing.assert_allclose(farthest(x, rows[0]), expected(x, rows[0]), rtol=1e-14)
        np.testing.assert_allclose(farthest(x, rows), expected(x, rows), rtol=1e-14)
        np.testing.assert_allclose(farthest(x[0], rows), expected(x[:1], rows), rtol=1e-14)
        np.testing.assert_allclose(farthest(x, rows[:1]), expected(x, rows[:1]), rtol=1e-14)
        np.testing.assert_allclose(farthest(x[0], rows[0]), expected(x[0], rows[0]), rtol=1e-14)


def test_strides_outputs_threads_and_other_dtypes():
    rng = np.random.default_rng(1)
    x, rows = rng.normal(size=(64, 2)), rng.normal(size=(10, 4))
    for _ in range(3):
        np.testing.assert_allclose(farthest(x, rows[::2, :2]), expected(x, rows[::2, :2]), rtol=1e-14)
        out = np.empty((64, 2))
        assert farthest(x, rows[:, :2].copy(), out=out) is out
        np.testing.assert_allclose(out, expected(x, rows[:, :2]), rtol=1e-14)
        single = farthest(x.astype(np.float32), rows[:, 2:].astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, expected(x, rows[:, 2:]), rtol=1e-5)
    many = rng.normal(size=(20_000, 2))
    np.testing.assert_array_equal(farthest(many, rows[:, :2].copy())[:64], farthest(many[:64], rows[:, :2].copy()))


def test_results_that_are_sequences():
    rng = np.random.default_rng(2)
    x, rows = rng.normal(size=(9, 2)), rng.normal(size=(4, 2))
    for _ in range(3):
        np.testing.assert_allclose(shifted(x, rows), x[:, None] + rows, rtol=1e-14)


def test_nan_stays_in_its_sample():
    x, rows = np.zeros((9, 2)), np.ones((3, 2))
    x[4] = np.nan
    farthest(x, rows)
    found = farthest(x, rows)
    assert np.isnan(found[4]).all()
    assert np.isfinite(np.delete(found, 4, axis=0)).all()


def test_wrong_rows_are_refused():
    farthest(np.zeros((9, 2)), np.zeros((3, 2)))
    with pytest.raises(ArgumentError, match="rows"):
        farthest(np.zeros((9, 2)), np.zeros((3, 4)))
    with pytest.raises(ArgumentError):
        farthest(np.zeros((9, 2)), np.zeros((5, 3, 2)))
