"""Tracebacks of errors in kernels show the user's frames; slips that would be compiled again and again are told."""

import dataclasses
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import adjoint as aj
from adjoint import kernel
from adjoint.compile.front import dispatch
from adjoint.folders import COMPILER, LIBRARY


def helper(x):
    return {}[x[0]]  # a fault of the user


@kernel(x=3)
def inner(x):
    return helper(x)


@kernel(x=3)
def outer(x):
    return 2 * inner(x)


def frames(error: BaseException) -> list[str]:
    """Names of the functions in a traceback; those of this library have a * in front."""
    found = traceback.extract_tb(error.__traceback__)
    return [("*" if f.filename.startswith(LIBRARY) else "") + f.name for f in found]


def caught(call) -> BaseException:
    with pytest.raises(Exception) as info:
        call()
    return info.value


def test_users_frames_alone_are_shown():
    traced = caught(lambda: outer(np.zeros(3)))
    assert isinstance(traced, aj.TraceError) and __file__ in str(traced)
    assert frames(traced) == ["caught", "<lambda>", "*__call__"]
    assert frames(traced.__cause__) == ["outer", "inner", "helper"]  # type: ignore[arg-type]
    eager = caught(lambda: outer.eager(np.zeros(3)))
    assert isinstance(eager, KeyError) and not getattr(eager, "__notes__", [])
    assert frames(eager) == ["caught", "<lambda>", "*eager", "outer", "inner", "helper"]


def test_errors_of_the_library_name_the_callers_line():
    for call in (
        lambda: outer(np.zeros(4)),
        lambda: aj.forward_kinematics(aj.robots.puma560(), np.zeros(6), "tolo"),
        lambda: aj.mass_matrix("robot", np.zeros(6)),  # pyright: ignore[reportArgumentType]
    ):
        error = caught(call)
        assert isinstance(error, aj.ArgumentError)
        assert frames(error) == ["caught", "<lambda>", "*__call__"]


def test_errors_that_are_handled_already_are_not_touched():
    first = caught(lambda: aj.load("<robot name='x'><link name='a'/><joint/></robot>"))
    before = frames(first)
    try:
        raise first
    except aj.AdjointError:
        caught(lambda: outer(np.zeros(4)))
    assert frames(first)[1:] == before and len(before) > 3


def test_errors_may_have_attributes_that_cannot_be_set():
    @dataclasses.dataclass(frozen=True)
    class Frozen(Exception):
        x: int = 1

    @kernel(x=3)
    def raising(x):
        raise Frozen(3)

    assert isinstance(caught(lambda: raising(np.zeros(3))), aj.TraceError)


def test_all_frames_can_be_shown(monkeypatch):
    monkeypatch.setenv("ADJOINT_TRACEBACK", "full")
    assert len(frames(caught(lambda: outer(np.zeros(4))))) > 4


def test_faults_of_the_compiler_keep_their_frames(monkeypatch):
    """So that they can be reported."""

    made: dict = {}
    exec(compile("def broken(*_):\n    raise KeyError('broken')", f"{COMPILER}front/broken.py", "exec"), made)
    monkeypatch.setattr(dispatch, "inline", made["broken"])

    @kernel(x=3)
    def around(x):
        return inner(x)

    found = frames(caught(lambda: around(np.zeros(3))).__cause__)  # type: ignore[arg-type]
    assert found[-1] == "*broken" and "around" in found and len(found) > 3


def test_the_library_knows_its_own_folder():
    """The disk cache hashes all files there, and the tracer leaves out the frames of the compiler, however deep."""
    assert Path(LIBRARY) == Path(aj.__file__).parent and Path(COMPILER) == Path(LIBRARY, "compile")
    from adjoint.compile.machine import disk_cache

    assert set(map(Path, disk_cache._source_files())) == set(Path(LIBRARY).rglob("*.py"))
    deepest = max(disk_cache._source_files(), key=lambda path: path.count("/"))
    assert "vecmath" in deepest

    @kernel(x=(3, 3))
    def unsupported(x):
        return np.linalg.eigvals(x)

    message = str(caught(lambda: unsupported(np.eye(3))))
    assert f"{__file__}:" in message and COMPILER not in message


def test_whole_numbers_as_defaults_are_told_once():
    @kernel(x=3)
    def stretched(x, length=1):
        return length * x

    with pytest.warns(UserWarning, match=r"'length' is static, .* 1 is a whole number.*\(0, 1, 2, 3\).* 1\.0 makes it"):
        for k in range(4):
            stretched(np.ones(3), k)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(4, 9):
            stretched(np.ones(3), k)

    @kernel(x=3)
    def scaled(x, length=1):
        return length * x

    with pytest.warns(UserWarning, match="scaled: argument 'length' is static"):  # nobody counts to 0.5
        np.testing.assert_array_equal(scaled(np.ones(3), 0.5), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(6):
            scaled(np.ones(3), k)


def test_static_arguments_that_are_meant_so_are_not_told():
    @kernel(x=3, power=aj.static)
    def to_the(x, power=1):
        return x**power

    @kernel(x=3)
    def repeated(x, times=1):
        return x * times

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(8):
            to_the(np.ones(3), k)
        for k in range(3):
            repeated(np.ones(3), k)
