"""Compiling: ahead of time, once for single calls and batches where that serves, and with a sign of life."""

import logging
import os
import subprocess
import sys
import textwrap
import time
from types import BuiltinMethodType
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as aj
from adjoint.compile import Kernel, kernel, static
from adjoint.compile.front import progress, specialisation
from adjoint.compile.machine import jit, python_abi
from adjoint.errors import ArgumentError

rng = np.random.default_rng(8)


class Two(NamedTuple):
    vector: np.ndarray
    number: np.ndarray


def make() -> Kernel:
    @kernel(x=3, push=3)
    def f(x, scale=2.0, push=None):
        y = np.sin(x) * scale
        return Two(y if push is None else y + push, x @ y)

    return f


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """What is compiled during a test, in an empty cache folder."""
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path))
    texts: list[str] = []
    compile_ir = jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text: texts.append(text) or compile_ir(text))
    return texts


def is_thin(f) -> bool:
    return isinstance(type(f).__call__, BuiltinMethodType) or python_abi.python_api() is None


def of_all_shapes(dtype=np.float64):
    """Calls of single samples and batches: few and many, contiguous and not, with and without places for results."""
    X = rng.normal(size=(5000, 3)).astype(dtype)
    yield from (((X[0],), {}), ((X,), {}), ((X[:5],), {}), ((X[:1],), {}), ((X[::-2],), {}), ((X[0, ::-1],), {}))
    yield from (((np.asfortranarray(X),), {}), ((X.reshape(50, 100, 3),), {}), ((), {"x": X[0]}))
    yield (X[:7],), {"out": Two(np.empty((7, 3), dtype), np.empty(7, dtype))}


def test_afterwards_no_call_compiles(compiled):
    f = make()
    assert f.compile() is f and is_thin(f)
    count = len(compiled)
    assert count >= 2
    plain = make()
    for args, kwargs in of_all_shapes():
        for found, wanted in zip(f(*args, **kwargs), plain(*args, **kwargs), strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert len(compiled) == count and is_thin(f)
    f.compile()
    make().compile()  # from the disk cache
    assert len(compiled) == count


@pytest.mark.slow
def test_other_dtypes_and_inputs(compiled):
    f = make().compile(dtype="float32")
    count = len(compiled)
    for args, kwargs in of_all_shapes(np.float32):
        found: Any = f(*args, **kwargs)
        assert found.vector.dtype == np.float32
    assert len(compiled) == count
    f.compile("push")
    count = len(compiled)
    for push in (np.ones(3), np.ones((9, 3))):
        f(np.zeros(3), push=push)
    assert len(compiled) == count


def test_what_cannot_be_compiled_ahead():
    @kernel(n=static, x=3)
    def power(n, x):
        return x**n

    with pytest.raises(ArgumentError, match=r"power.compile needs the static argument\(s\) n; use power.bind\(n=...\)"):
        power.compile()
    with pytest.raises(ArgumentError, match="'n' is no input that may be left out; there are: none"):
        power.bind(2).compile("n")
    with pytest.raises(ArgumentError, match="there are: push"):
        make().compile("x")
    for dtype in (np.int64, "float16", "nonsense", 3):
        with pytest.raises(ArgumentError, match="dtype must be float64 or float32"):
            make().compile(dtype=dtype)


@pytest.mark.slow
def test_long_robots(compiled):
    robot = aj.robots.chain(150)
    f = aj.inverse_dynamics.bind(robot).compile()
    count = len(compiled)
    for batch in ((), (2,), (40,)):
        q = rng.normal(size=(*batch, 150))
        assert f(q, q, q).shape == q.shape
        aj.inverse_dynamics(robot, q, q, q)
    assert len(compiled) == count


def test_sequences(compiled):
    @kernel(xs=(..., 2))
    def total(xs):
        return aj.scan(lambda c, x: (c + x[0] * x[1], None), 0.0, xs)[0]

    total.compile()
    count = len(compiled)
    for shape in ((5, 2), (300, 2), (4, 5, 2)):
        assert total(np.ones(shape)).shape == shape[:-2]
    assert len(compiled) == count


# --- one code for both kinds of calls --------------------------------------------------------------------


@pytest.fixture
def borrowing(monkeypatch, compiled):
    monkeypatch.setattr(specialisation, "LARGE", 0)
    monkeypatch.setattr(specialisation, "BORROWED", 20)
    make().compile()  # so that what all kernels share is there
    return compiled


def count_bodies(texts: list[str]) -> int:
    return sum("@body(" in text for text in texts)


@pytest.mark.parametrize("batch_first", [True, False])
def test_large_functions_are_compiled_once_for_both_kinds(borrowing, batch_first, monkeypatch, tmp_path):
    wanted = make().compile()
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "other"))
    f, X = make(), rng.normal(size=(5, 3))
    first, second = (X, X[0]) if batch_first else (X[0], X)
    before = count_bodies(borrowing)
    used = 0
    while used <= 20:
        assert count_bodies(borrowing) == before + (used > 0)
        for x in (first, second, second.copy(order="K")):
            for found, other in zip(f(x), wanted(x), strict=True):
                np.testing.assert_array_equal(found, other)
        used += 2 * (1 if batch_first else 5)
    f(second)
    assert count_bodies(borrowing) == before + 2 and is_thin(f)
    for x in (first, second):
        for found, other in zip(f(x), wanted(x), strict=True):
            np.testing.assert_array_equal(found, other)
    assert len(f.only_specialisation("call").codes) == 2 and count_bodies(borrowing) == before + 2


def test_code_on_disk_is_not_borrowed(borrowing):
    before = count_bodies(borrowing)
    f, X = make(), rng.normal(size=(5, 3))
    f(X)
    f(X[0])
    assert len(f.only_specialisation("call").codes) == 2 and count_bodies(borrowing) == before


def test_compiling_ahead_ends_borrowing(borrowing, monkeypatch, tmp_path):
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "other"))
    f, X = make(), rng.normal(size=(5, 3))
    f(X)
    for _ in range(3):
        f(X[0])
    assert len(f.only_specialisation("call").codes) == 1
    f.compile()
    before = f.only_specialisation("call").borrowed.copy()
    for _ in range(3):
        f(X[0])
        f(X[0, ::-1])
    assert len(f.only_specialisation("call").codes) == 2 and f.only_specialisation("call").borrowed == before


# --- signs of life ---------------------------------------------------------------------------------------


def slow(seconds: float) -> Kernel:
    @kernel
    def sleepy(x):
        time.sleep(seconds)  # while it is traced
        return x * x + 1.0

    return sleepy


@pytest.mark.slow
def test_long_compiles_are_logged(compiled, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "adjoint")
    monkeypatch.setattr(progress, "SLOW", 0.05)
    assert slow(0.8)(2.0) == 5.0
    assert [r.levelname for r in caplog.records] == ["INFO", "INFO"] and {r.name for r in caplog.records} == {"adjoint"}
    first, last = (r.getMessage() for r in caplog.records)
    assert first == "compiling sleepy ..." and last.startswith("compiled sleepy in ")
    caplog.clear()
    monkeypatch.setattr(progress, "SLOW", 60.0)
    assert slow(0.0)(3.0) == 10.0
    assert not caplog.records and progress._current is None


@pytest.mark.slow
def test_what_is_compiled_is_counted(compiled, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "adjoint")
    compile_ir = jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text: time.sleep(1.5) or compile_ir(text))
    f = kernel(lambda x: np.sum(np.stack([x + k for k in range(1200)])))
    assert f.operations.adds == 2398
    monkeypatch.setattr(progress, "SLOW", 0.05)
    f(1.0)
    assert any("(2 398 operations)" in r.getMessage() for r in caplog.records)


def test_failures_leave_nothing_behind(compiled, monkeypatch, caplog):
    @kernel
    def broken(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        broken(1.0)
    assert progress._current is None


TERMINAL = """
    import logging, os, sys, time
    from adjoint.compile import kernel
    from adjoint.compile.front import progress

    progress.SLOW = 0.05

    def compiled(name):
        def f(x):
            time.sleep(0.5)
            return x + 1.0
        f.__name__ = name
        kernel(f)(1.0)

    compiled("shown")
    os.environ["ADJOINT_QUIET"] = "1"
    compiled("quiet")
    del os.environ["ADJOINT_QUIET"]
    logging.basicConfig(level=logging.WARNING)
    compiled("configured")
    logging.getLogger().setLevel(logging.INFO)
    compiled("logged")
"""


def child(stderr, tmp_path) -> None:
    environment = {**os.environ, "ADJOINT_CACHE": str(tmp_path)}
    environment.pop("ADJOINT_QUIET", None)
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TERMINAL)], env=environment, stderr=stderr, check=True, timeout=120
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals of this kind")
def test_terminals_show_one_line(tmp_path):
    import pty

    parent, terminal = pty.openpty()
    child(terminal, tmp_path)
    os.close(terminal)
    lines = os.read(parent, 10_000).decode().splitlines()
    os.close(parent)
    assert lines[0] == "adjoint: compiling shown ..."
    assert lines[1] == "INFO:adjoint:compiling logged ..." and len(lines) == 3


@pytest.mark.slow
def test_other_places_show_nothing(tmp_path):
    with open(tmp_path / "errors", "w+") as file:
        child(file, tmp_path)
        file.seek(0)
        assert [line.split(" in ")[0] for line in file.read().splitlines()] == [
            "INFO:adjoint:compiling logged ...",
            "INFO:adjoint:compiled logged",
        ]


def test_inputs_that_would_be_empty():
    """Wrenches have a row for each frame: without frames there is nothing to compile for."""
    torques = aj.inverse_dynamics.bind(aj.robots.puma560())
    with pytest.raises(ArgumentError, match=r"'applied_wrenches' would be empty; `frames` is not given"):
        torques.compile("applied_wrenches")
    torques.bind(frames="tool").compile("applied_wrenches")
