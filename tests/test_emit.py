"""Emitted code: the same bits however a program is cut, at every width, and with LLVM's linker in place of ours."""

import sys
from typing import Literal, NamedTuple

import numpy as np
import pytest
from support.compiled import agree

from adjoint import kernel, scan, while_loop
from adjoint.compile.codegen import batch_loop, segments
from adjoint.compile.codegen import body as emit
from adjoint.compile.graph.program import Program
from adjoint.compile.machine import jit, linker
from adjoint.compile.machine.execution import Compiled

rng = np.random.default_rng(5)


def mixture(x):
    """Numbers and truth values that live long: every kind of node is used far from where it was made."""
    masks, values = [], [x[0], x[1]]
    for k in range(40):
        a, b = values[-1], values[-2]
        masks.append((a > b) | (a * 0.3 < x[k % 4]))
        values.append(np.where(masks[k // 2], np.sin(a) * 0.5 + b * x[2], np.cos(a) - np.sqrt(1.0 + b * b)))
    keep = np.where(masks[0] & ~masks[3], values[2], values[-1])
    return np.stack([keep, values[-1], values[5], np.where(masks[-1], 1.0, x[3]), x[0], np.float64(2.5)])


def run_all(program: Program, X, width: int | None = None, order: Literal["C", "F"] = "C") -> list[np.ndarray]:
    width = width or jit.host().width("f64")
    text, scratch, rows = emit.emit(program, width, "f64")
    code = Compiled("test", program.inputs, program.outputs, width, "f64", jit.compile_ir(text), scratch, rows, 1, 0)
    out = [np.full((len(X), *o.shape), np.nan, order=order) for o in program.outputs]
    code.plan([X], out, (len(X),), 0).run([X, *out], lambda: 1)
    return out


def run(program: Program, X, width: int | None = None) -> np.ndarray:
    (out,) = run_all(program, X, width)
    return out


@pytest.mark.parametrize("size", [7, 20, 64])
def test_segments_change_no_bit(size, monkeypatch):
    program = kernel(mixture, x=4).only_specialisation("test").program
    X = rng.normal(size=(37, 4))
    whole = run(program, X)
    np.testing.assert_allclose(whole, [mixture(x) for x in X], rtol=1e-12)  # forty steps, each of a few roundings
    monkeypatch.setattr(segments, "SEGMENT", size)
    assert "@segment1" in emit.emit(program, 4, "f64")[0]
    np.testing.assert_array_equal(run(program, X), whole)


def chain(x):
    """A long line of which four values are alive at a time."""
    values = list(x)
    for _ in range(200):
        values = [*values[1:], values[0] * values[1] - values[3]]
    return np.stack(values)


def test_segments_share_memory(monkeypatch):
    monkeypatch.setattr(segments, "SEGMENT", 10)
    _, scratch, _ = emit.emit(kernel(chain, x=4).only_specialisation("test").program, 4, "f64")
    assert scratch <= 8


class Loops(NamedTuple):
    second: np.ndarray
    late: np.ndarray
    first: np.ndarray


def with_loops(x):
    """Two loops over arrays of all kinds of elements, inside a long line; one stacks what another reads."""
    line = list(chain(x))
    rows = np.stack([np.stack([line[k % 4], x[k], np.float64(k)]) for k in range(4)])
    _, first = scan(lambda _, r: ((), np.stack([r[0] * line[1], r[1] - r[2], line[3]])), (), rows)
    late = chain(np.stack([0.1 * line[0], x[2], first[1, 0], 0.2 * x[0]]))
    _, second = scan(lambda _, r: ((), r * late[0] + late[2]), (), first)
    return Loops(second.T, late, first[:, 1])


@pytest.mark.parametrize("kept", [0, 3, 32])
def test_segments_with_loops_change_no_bit(kept, monkeypatch):
    program = kernel(with_loops, x=4).only_specialisation("test").program
    X = rng.uniform(-0.5, 0.5, size=(37, 4))
    whole = run_all(program, X)
    for found, wanted in zip(whole, zip(*(with_loops(x) for x in X), strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(wanted), rtol=0, atol=1e-12)  # four hundred steps of numbers below 1
    monkeypatch.setattr(segments, "SEGMENT", 20)
    monkeypatch.setattr(segments, "REREAD_AFTER", kept)
    assert "@segment1" in emit.emit(program, 4, "f64")[0]
    for found, wanted in zip(run_all(program, X), whole, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(run_all(program, X, order="F"), whole, strict=True):  # elements apart: another way in
        np.testing.assert_array_equal(found, wanted)


class Sparse(NamedTuple):
    matrix: np.ndarray
    full: np.ndarray


def sparse(x):
    rows = [[0.0] * 9 for _ in range(7)]
    rows[1][2] = rows[2][1] = x[0] * x[1]
    rows[6][8], rows[0][0], rows[3][3] = x[2], -0.0, 1.5
    return Sparse(np.stack([np.stack(row) for row in rows]), np.stack([x[0] * x[1], x[3], 0.0]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_one_sample_stores_its_results_itself(order):
    program = kernel(sparse, x=4).only_specialisation("test").program
    assert batch_loop.body_stores_results(program, 1)
    x = rng.normal(size=(1, 4))
    for found, wanted in zip(run_all(program, x, 1, order), sparse(x[0]), strict=True):
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(wanted.astype(float)))


def test_looped_moves_change_no_bit(monkeypatch):
    program = kernel(mixture, x=4).only_specialisation("test").program
    X = rng.normal(size=(37, 4))
    written_out = run(program, X)
    monkeypatch.setattr(batch_loop, "LONG_PROGRAM", 1)
    np.testing.assert_array_equal(run(program, X), written_out)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_widths_change_no_bit(width):
    program = kernel(mixture, x=4).only_specialisation("test").program
    X = rng.normal(size=(37, 4))
    np.testing.assert_array_equal(run(program, X, width), run(program, X))


@pytest.mark.parametrize("streamed", [1, 1 << 60])
@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_long_results_leave_as_whole_lines(width, dtype, streamed, monkeypatch):
    """Rows of every length modulo a line, anywhere in a line, in full groups and others; nothing around is touched."""
    monkeypatch.setattr(batch_loop, "STREAM_BYTES", streamed)
    real = np.dtype(np.float64 if dtype == "f64" else np.float32)
    X = rng.normal(size=(2 * width + 3, 4)).astype(real)
    for size in (4 * width, 4 * width + 1, 5 * width + 3):

        def long(x, size=size):
            repeated = np.stack([x[k % 4] if k % 3 else np.float64(k % 2) for k in range(size)])
            return Two(repeated, np.stack([x[k % 4] * (k + 2.0) for k in range(size + 2)]))

        program = kernel(long, x=4).only_specialisation("test").program
        text, scratch, rows = emit.emit(program, width, dtype)
        assert f"@scattered{size}(" in text and f"@lines{size + 2}(" in text
        machine_code = jit.compile_ir(text)
        code = Compiled("test", program.inputs, program.outputs, width, dtype, machine_code, scratch, rows, 1, 0)
        want = [np.stack(column).astype(real) for column in zip(*(long(x) for x in X), strict=True)]
        for offset in (0, 1, width // 2 + 1, width - 1):
            for count in (1, width, width + 2, len(X)):
                memory = [np.full(w[:count].size + 2 * width, 7.0, real) for w in want]
                out = [m[offset:][: w[:count].size].reshape(count, -1) for m, w in zip(memory, want, strict=True)]
                plan = code.plan([X[:count]], out, (count,), 0)
                plan.run([X, *out], lambda: 1)
                for got, wanted, m in zip(out, want, memory, strict=True):
                    np.testing.assert_array_equal(got, wanted[:count])
                    got[...] = 7.0
                    assert (m == 7.0).all()


@pytest.mark.skipif(sys.platform == "win32", reason="llvmlite has no JITLink on Windows")
def test_both_linkers(monkeypatch):
    program = kernel(mixture, x=4).only_specialisation("test").program
    X = rng.normal(size=(9, 4))
    ours = run(program, X)
    monkeypatch.setattr(linker, "supported", lambda: False)
    np.testing.assert_array_equal(run(program, X), ours)


def test_the_linker_refuses_what_it_does_not_know():
    for code in (b"", b"MZ" + bytes(100), b"\x7fELF\x01\x01" + bytes(100)):
        with pytest.raises(linker.Unsupported):
            linker.Image(code)


def test_generated_code_passes_the_verifier():
    import llvmlite.binding as llvm

    def step(c, x):
        return c + x * np.sin(c), c

    @kernel(xs=(..., 2))
    def looping(xs):
        return scan(step, np.zeros(2), xs)[0]

    for k in (kernel(mixture, x=4), looping):
        module = llvm.parse_assembly(k.source("llvm"))
        module.verify()


def test_registers_decide_the_order_only_when_short_of_them():
    """A hundred values used at once in reverse: the schedule still evaluates every argument before its use."""

    @kernel(x=100)
    def far_apart(x):
        y = [np.sin(e) for e in x]
        return np.sum(np.stack([a * b for a, b in zip(y, reversed(y), strict=True)]))

    x = rng.normal(size=100)
    np.testing.assert_allclose(far_apart(x), np.sin(x) @ np.sin(x)[::-1], rtol=1e-13)


@pytest.mark.slow
def test_constant_results():
    """Constants alone and in stretches, between varying numbers; equal ones are stored once, so zeros cost nothing."""
    for size in (1, 7, 15, 16, 17, 40, 3000):
        fixed = np.where(np.arange(size) % 50 < 30, 0.0, -1.5)
        if size > 2:
            fixed[size // 2] = -0.0

        def mixed(x, fixed=fixed):
            return np.concatenate([x, fixed, x[:1] * 2, np.zeros(3), x])

        f, x = kernel(mixed, x=2), np.arange(22.0).reshape(11, 2)
        want = np.stack([mixed(row) for row in x])
        for got in (f(x), f(np.asfortranarray(x)), f(x, out=np.empty((22, want.shape[1]))[::2])):
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
        np.testing.assert_array_equal(f(x.astype(np.float32)), want.astype(np.float32))
    assert kernel(lambda x: np.ones(3), x=2)(np.zeros((5, 2))).tolist() == [[1.0] * 3] * 5


def test_equal_results_are_stored_once():
    """Symmetric matrices and repeated results, in any layout, in loops and written out."""
    for n in (2, 5, 12):

        def symmetric(x, n=n):
            def entry(i, j):
                return np.sin(x[min(i, j)]) * x[max(i, j)] if abs(i - j) < 9 else 0.0

            return np.stack([np.stack([entry(i, j) for j in range(n)]) for i in range(n)])

        f, x = kernel(symmetric, x=n), np.random.default_rng(n).normal(size=(11, n))
        want = np.stack([symmetric(row) for row in x])
        for got in (f(x), f(np.asfortranarray(x)), f(x, out=np.empty((22, n, n))[::2])):
            np.testing.assert_allclose(got, want, rtol=1e-15)
            np.testing.assert_array_equal(got, np.swapaxes(got, 1, 2))
    twice = kernel(lambda x: Two(x[0] * 2, np.stack([x[0] * 2, x[1], x[0] * 2])), x=2)
    np.testing.assert_array_equal(twice(np.array([[1.0, 3.0]])).b, [[2.0, 3.0, 2.0]])


class Two(NamedTuple):
    a: np.ndarray
    b: np.ndarray


def test_many_results_of_few_numbers_are_not_stored_one_by_one():
    """LLVM would take long for straight lines of stores, even of one sample."""
    numbers = np.random.default_rng(0).integers(0, 100, 5000)
    f = kernel(lambda x: x[numbers], x=100)
    x = np.random.default_rng(1).normal(size=100)
    np.testing.assert_array_equal(f(x), x[numbers])
    assert emit.emit(f.only_specialisation("test").program, 1, "f64", frozenset())[0].count(" store ") < 1000


# --- loops in long programs ------------------------------------------------------------------------------


def with_carries(x):
    """Loops of all kinds that hand values on, inside a long line and inside each other."""
    line = list(chain(x))
    positive = line[0] > x[1]  # a truth value from outside

    def inner(c, r):
        return c * 0.5 + np.where(positive, r, line[2]), c - r

    def step(c, row):
        total, path = scan(inner, c[0] + row[0], np.stack([row[1], c[1], x[3], np.float64(0.25)]), reverse=True)
        halved = while_loop(
            lambda h: (h > 0.1) & positive | (h > 1.0), lambda h: h * 0.5, np.abs(total), max_iterations=9
        )
        late = chain(0.4 * np.sin(np.stack([total, path[1], halved, c[1]])))
        return (late[0], c[0]), np.stack([np.sum(path * path), late[3], row[1]])

    (last, before), rows = scan(step, (line[1], x[0]), np.stack([np.stack([line[k % 4], x[k]]) for k in range(4)]))
    _, again = scan(lambda c, r: (c, r * last + before), (), rows)
    return Loops(again.T, chain(0.4 * np.sin(np.stack([last, before, rows[1, 0], np.max(again)]))), rows[:, 1])


@pytest.mark.slow
@pytest.mark.parametrize("body", [3, 10**6])
@pytest.mark.parametrize("width", [1, 4])
def test_loops_that_carry_change_no_bit_when_cut(width, body, monkeypatch):
    program = kernel(with_carries, x=4).only_specialisation("test").program
    X = rng.uniform(-0.5, 0.5, size=(9, 4))
    whole = run_all(program, X, width)
    for found, wanted in zip(whole, zip(*(with_carries(x) for x in X), strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(wanted), rtol=0, atol=1e-12)  # a thousand steps of numbers below 1
    for size in (7, 64):
        monkeypatch.setattr(segments, "SEGMENT", size)
        monkeypatch.setattr(segments, "LONG_BODY", body)
        assert "@segment9" in emit.emit(program, width, "f64")[0]
        for found, wanted in zip(run_all(program, X, width), whole, strict=True):
            np.testing.assert_array_equal(found, wanted)


class Sums(NamedTuple):
    total: np.ndarray
    before: np.ndarray


def of_a_sequence(xs, start):
    """Scans over a sequence of any length, of which one reads what another one stacked."""

    def step(c, x):
        path = scan(lambda d, y: (d + y * x[0], d), c[0], np.stack([x[1], c[1], x[0]]))[1]
        return (np.sum(path), 0.5 * c[0] + x[1]), np.stack([path[2], x[0] * c[1]])

    first, rows = scan(step, (start, start * start), xs)
    last, before = scan(lambda c, row: (0.5 * c + row[0], c + row[1]), first[0], rows, reverse=True)
    return Sums(chain(0.4 * np.sin(np.stack([last, first[1], start, 0.1 * start]))), before)


@pytest.mark.slow
def test_sequences_change_no_bit_when_cut(monkeypatch, tmp_path):
    batches = [(rng.uniform(-1, 1, (*b, n, 2)), rng.uniform(size=b)) for b in ((), (5,)) for n in (0, 1, 7)]
    whole = [kernel(of_a_sequence, xs=(..., 2))(*args) for args in batches]
    monkeypatch.setattr(segments, "SEGMENT", 7)
    monkeypatch.setattr(segments, "LONG_BODY", 3)
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path))  # code that is not cut is not to be found
    cut = kernel(of_a_sequence, xs=(..., 2))
    for args, wanted in zip(batches, whole, strict=True):
        for found, other in zip(cut(*args), wanted, strict=True):
            np.testing.assert_array_equal(found, other)
    for xs, start in batches[1:3]:
        for found, other in zip(cut.eager(xs, start), cut(xs, start), strict=True):
            np.testing.assert_allclose(found, other, rtol=0, atol=1e-12)


def path(x, n):
    return scan(lambda c, _: (c * 0.999 + 0.1, c), x, length=n)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "fn",
    [
        lambda x, n: np.sum(path(x[0], n)),
        lambda x, n: path(x[0], n) @ path(x[1], n),
        lambda x, n: np.sum(np.diff(path(x[0], n)) ** 2),
        lambda x, n: 2 * path(x[0], n),
        lambda x, n: scan(lambda c, y: (c * x[1] + y, None), x[0], np.linspace(0, 1, n))[0],
        lambda x, n: scan(lambda c, _: (0.5 * c + np.mean(path(c, n)), None), x[0], length=3)[0],
        lambda x, n: scan(lambda c, _: (c * 0.9, None), x[0] * np.arange(1.0, n), length=3)[0],
    ],
    ids=["sum", "product", "differences", "all", "table", "nested", "wide"],
)
def test_no_function_grows_with_the_length_of_a_loop(fn, monkeypatch):
    """LLVM's time grows with the square of a function's length: more results of a loop are more functions instead."""

    def longest(n):
        text, *_ = emit.emit(kernel(lambda x: fn(x, n), x=2).only_specialisation("test").program, 1, "f64")
        return max(len(part.splitlines()) for part in text.split("\ndefine")), text

    monkeypatch.setattr(segments, "LONG_BODY", 1000)
    size, _ = longest(1500)
    more, text = longest(6000)
    assert more < 1.1 * size + 100 and text.count("define internal void @segment") > 4
    f = kernel(lambda x: fn(x, 1500), x=2)
    np.testing.assert_allclose(f(np.ones(2)), f.eager(np.ones(2)), rtol=1e-11)  # 1500 terms, summed in the same order


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


def test_code_does_not_grow_with_the_length_of_an_array():
    def size(n):
        def f(xs):
            _, path = scan(lambda c, x: (c * 0.9 + x, c), np.zeros(2), xs)
            return path

        k = kernel(f, xs=(n, 2))
        agree(k, np.random.default_rng(0).normal(size=(n, 2)), rtol=0, atol=1e-14)  # sums of size 10, rounded
        return len(k.source("llvm"))

    assert size(4000) < 1.1 * size(400)
