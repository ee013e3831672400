"""Functions of the library are found in the cache by name only while they are what the library's files define."""

import dataclasses
import functools
import importlib
import importlib.util
import math
import os
import pkgutil
import subprocess
import sys
import time
import types
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import adjoint
from adjoint import Robot, dynamics, kernel, robots, static
from adjoint.compile import Kernel
from adjoint.compile.machine import disk_cache, jit, library_state
from adjoint.dynamics import composite, newton_euler
from adjoint.lie import inertia, se3, series, so3
from adjoint.model import joints, robot_data
from adjoint.model import robot as model

ROOTS = [newton_euler.__name__, model.__name__]
Q = np.array([0.1, -0.7, 0.3, 0.2, 0.5, -0.4])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def compilations(monkeypatch):
    made, original = [], jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text: made.append(text) or original(text))
    return made


def mass_matrix():
    """The library's kernel anew, as another process would have it."""
    return kernel(composite.mass_matrix.__wrapped__, robot=static, q="nq")


def agrees(robot=None) -> np.ndarray:
    """The compiled mass matrix, which is that of the function as it is now."""
    k, robot = mass_matrix(), robot or robots.puma560()
    found = k(robot, Q)
    np.testing.assert_allclose(found, k.eager(robot, Q), atol=1e-12)
    return found


def test_all_kernels_of_the_library_have_a_name():
    for m in pkgutil.walk_packages(adjoint.__path__, "adjoint."):
        importlib.import_module(m.name)
    load_all_names()
    homes = {v.__module__ for m in list(sys.modules.values()) for v in vars(m).values() if isinstance(v, Kernel)}
    unknown = [h for h in homes if h.startswith("adjoint.") and library_state.state([h]) is None]
    assert not unknown and len(homes) > 20


def load_all_names():
    """Ask the packages of the library for all names that they load only when they are asked for."""
    for name, module in list(sys.modules.items()):
        if name.startswith("adjoint.") and hasattr(module, "__path__"):
            for public in getattr(module, "__all__", ()):
                getattr(module, public)


_BEFORE_AND_AFTER = """
import importlib, pkgutil, sys
import adjoint
from adjoint.compile import Kernel
from adjoint.compile.machine.library_state import state

for m in pkgutil.walk_packages(adjoint.__path__, "adjoint."):
    importlib.import_module(m.name)
modules = [m for name, m in sys.modules.items() if name.startswith("adjoint.")]
homes = sorted({v.__module__ for m in modules for v in vars(m).values() if isinstance(v, Kernel)})
before = {h: state([h]) for h in homes}
for m in modules:
    for name in getattr(m, "__all__", ()) if hasattr(m, "__path__") else ():
        getattr(m, name)
print(len(homes) > 20, [h for h in homes if before[h] is None or state([h]) != before[h]])
"""


@pytest.mark.slow
def test_the_state_does_not_depend_on_names_that_were_asked_for():
    """A package loads its names late: a key must not change when someone asks for one that the kernel does not use."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", _BEFORE_AND_AFTER]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True []", done.stdout + done.stderr


def test_paths_are_constants(monkeypatch):
    monkeypatch.setattr(inertia, "_FOLDER", Path("here"), raising=False)
    first = library_state.state(ROOTS)
    monkeypatch.setattr(inertia, "_FOLDER", Path("there"))
    assert first is not None and library_state.state(ROOTS) not in (None, first)


@pytest.mark.slow
def test_the_state_is_the_same_in_every_process():
    code = f"from adjoint.compile.machine import library_state; print(library_state.state({ROOTS}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for first in ("lie.so3", "trajectory"):  # in whichever order modules are loaded
        done = subprocess.run(
            [sys.executable, "-c", f"import adjoint.{first}, adjoint.dynamics; {code}"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.stdout.strip() == library_state.state(ROOTS), done.stderr


def test_modules_loaded_while_functions_run_are_few():
    """`origin` follows imports at the top of modules: no function that is traced may import others of the library.

    `lift` is followed by the stand-in's class; the others build, change, read or draw robots and motions.
    """
    known = {"build", "reframe", "change", "lift", "printing", "solver", "urdf", "mjcf", "files"}
    known |= {"draw", "drawing", "camera_plots"}
    found = set()
    for n in [n for n in sys.modules if n.startswith("adjoint.") and not n.startswith("adjoint.compile")]:
        for line in Path(sys.modules[n].__file__ or os.devnull).read_text(encoding="utf-8").splitlines():
            words = line.split()
            if line.startswith("        ") and len(words) > 3 and words[0] == "from" and words[1].startswith("."):
                found.add(words[1].lstrip(".") or words[3])
    assert found <= known


# --- what is noticed --------------------------------------------------------------------------------------------------


def mine(x=1.0):
    return 0.0


def wrapped(f):
    return functools.wraps(f)(lambda *args, **kwargs: f(*args, **kwargs))


def executed():
    """A function with the module's own names, from no file."""
    names: dict = {}
    exec("def exp(V): return V", vars(se3), names)
    return names["exp"]


def in_a_script_called(name):
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = f"/home/me/{name}.py"
    exec(compile("def helper(x): return x", module.__file__, "exec"), vars(module))
    return module.helper


class Twist(model.Robot):
    pass


REPLACED = {
    "a function": (robot_data, "_frozen", mine),
    "a kernel": (se3, "exp", kernel(mine)),
    "a function of a script that is called as a module of Python": (robot_data, "_frozen", in_a_script_called("this")),
    "a function that claims to be the library's": (robot_data, "_frozen", wrapped(robot_data._frozen)),
    "a kernel that claims to be the library's": (se3, "exp", kernel(wrapped(se3.exp.__wrapped__), V=6)),
    "a function without a file": (se3, "exp", executed()),
    "a mock": (se3, "exp", mock.MagicMock()),
    "a partial function": (robot_data, "_frozen", functools.partial(mine, 3)),
    "a cached function": (robot_data, "_frozen", functools.cache(mine)),
    "a method": (robot_data.RobotData, "screw", mine),
    "a property": (robot_data.RobotData, "nq", property(mine)),
    "a method of the class above": (model.Robot, "screw", mine),
    "a static method": (model.Robot, "builder", staticmethod(mine)),
    "a class": (model, "Robot", Twist),
    "a module": (newton_euler, "se3", types.ModuleType("se3")),
    "names in the place of a module": (newton_euler, "se3", types.SimpleNamespace(exp=mine)),
    "a constant function": (series, "_STUMPFF", mine),
    "an own object": (series, "_STUMPFF", object()),
}
CHANGED = {
    "a number": (series, "_SWITCH", 4.5),
    "the sign of zero": (series, "_SWITCH", -0.0),
    "a tuple": (robot_data, "GRAVITY", (0.0, 0.0, -1.62)),
    "a list": (series, "_COT", [1.0]),
    "an array": (inertia, "_MATRIX", np.zeros((3, 3), int)),
    "another module of the library": (newton_euler, "se3", so3),
    "another kernel of the library": (se3, "exp", se3.log),
    "a class constant": (robot_data.RobotData, "varying", frozenset({"inertias"})),
}


@pytest.mark.parametrize("what", [*REPLACED, *CHANGED])
def test_patches_are_noticed(what, monkeypatch):
    before = library_state.state(ROOTS)
    owner, name, value = (REPLACED | CHANGED)[what]
    monkeypatch.setattr(owner, name, value)
    assert library_state.state(ROOTS) != before
    assert (library_state.state(ROOTS) is None) is (what in REPLACED)
    monkeypatch.undo()
    assert library_state.state(ROOTS) == before is not None


def test_changes_in_place_are_noticed(monkeypatch):
    before = library_state.state(ROOTS)
    with monkeypatch.context() as m:
        m.setitem(joints.JOINTS, "revolute", joints.JOINTS["prismatic"])
        assert library_state.state(ROOTS) not in (before, None)
    series._COT.append(7.0)
    assert library_state.state(ROOTS) not in (before, None)
    series._COT.pop()
    with monkeypatch.context() as m:
        m.setattr(robot_data._frozen, "__defaults__", (int,))
        assert library_state.state(ROOTS) not in (before, None)
    with monkeypatch.context() as m:
        m.setattr(robot_data._frozen, "__code__", mine.__code__)
        assert library_state.state(ROOTS) is None
    inertia._MATRIX[0, 0] = 9
    assert library_state.state(ROOTS) not in (before, None)
    inertia._MATRIX[0, 0] = 4
    assert library_state.state(ROOTS) == before


def test_caches_are_no_constants(monkeypatch):
    before = library_state.state(ROOTS)
    monkeypatch.setattr(robot_data, "_some_cache", {"a": 1}, raising=False)
    first = library_state.state(ROOTS)
    robot_data._some_cache["b"] = object()  # type: ignore[attr-defined]
    assert library_state.state(ROOTS) == first != before


def test_edited_files_are_noticed(monkeypatch):
    file = os.stat(newton_euler.__file__ or "")
    assert not library_state.is_edited(file) and library_state.state(ROOTS)
    library_state._surveys.clear()
    monkeypatch.setattr(disk_cache, "_sources_at_first", disk_cache._sources_at_first.__wrapped__)
    monkeypatch.setattr(library_state, "_LOADED", max(file.st_mtime_ns, file.st_ctime_ns) - 1)
    assert library_state.is_edited(file) and library_state.state(ROOTS) is None
    assert "changed after this process" in (adjoint.cache_info().disabled or "")
    monkeypatch.setattr(time, "time_ns", lambda: 0)  # a board that has no clock: all files are of the future
    assert not library_state.is_edited(file)


# --- what follows -----------------------------------------------------------------------------------------------------


def test_patched_helpers_run(monkeypatch, compilations):
    right = agrees()
    compilations.clear()
    np.testing.assert_array_equal(agrees(), right)
    assert not compilations  # found by name
    for factor in (2.0, 3.0):  # the same name twice, with other contents
        original = inertia.momentum
        with monkeypatch.context() as m:
            m.setattr(inertia, "momentum", lambda J, V, f=factor, p=original: f * p(J, V))
            assert np.abs(agrees() - right).max() > 0.1
    with monkeypatch.context() as m:
        m.setattr(inertia, "_MATRIX", inertia._MATRIX[::-1])
        assert np.abs(agrees() - right).max() > 0.1
    compilations.clear()
    np.testing.assert_array_equal(agrees(), right)  # nothing patched is found under the function's name
    assert not compilations


@pytest.mark.parametrize("traced_first", [True, False])
def test_a_patch_between_tracing_and_compiling(traced_first, monkeypatch):
    """What is stored under the function's name was traced as the library defines it."""
    robot, k = robots.puma560(), mass_matrix()
    right = k.eager(robot, Q)
    with monkeypatch.context() as m:
        if traced_first:
            assert k.bind(robot).operations.muls > 0  # it is traced
        m.setattr(inertia, "momentum", lambda J, V, p=inertia.momentum: 2 * p(J, V))
        if traced_first:
            np.testing.assert_allclose(k.bind(robot)(Q), right, atol=1e-12)
        else:
            assert k.bind(robot).operations.muls > 0  # it is traced
    if not traced_first:
        assert np.abs(k.bind(robot)(Q) - right).max() > 0.1
        assert np.abs(k.bind(robot).jacobian("q")(Q)).max() > 0
    np.testing.assert_allclose(agrees(robot), right, atol=1e-12)
    derivative = mass_matrix().bind(robot).jacobian("q")(Q)
    np.testing.assert_allclose(derivative, dynamics.mass_matrix.bind(robot).jacobian("q")(Q), atol=1e-12)


def test_a_constant_changed_between_tracing_and_compiling(monkeypatch):
    """A derivative that was traced keeps the name of what it was made from, though that was forgotten meanwhile."""
    robot = robots.puma560()
    k = mass_matrix().bind(robot).jacobian("q")
    assert k.operations.muls > 0
    with monkeypatch.context() as m:
        m.setattr(inertia, "_MATRIX", inertia._MATRIX[::-1])
        k.origin[0].only_specialisation("test").drop_program()
        found = k(Q)
        patched = mass_matrix().bind(robot).jacobian("q")(Q)
    assert np.abs(found - patched).max() > 0.1
    np.testing.assert_allclose(found, mass_matrix().bind(robot).jacobian("q")(Q), atol=1e-12)


def test_static_arguments_of_other_classes():
    """A class of the user that keeps the fingerprint and changes the mathematics."""

    class Backwards(Robot):
        def screw(self, i):
            return -2 * super().screw(i)

    robot = robots.puma560()
    right = agrees(robot)
    names = [f.name for f in dataclasses.fields(robot)]
    other = Backwards(**{f: getattr(robot, f) for f in names})
    assert other.fingerprint == robot.fingerprint
    assert np.abs(agrees(other) - right).max() > 0.1


def test_lifted_kernels_are_found_by_name(compilations, monkeypatch):
    robot = robots.puma560()
    first = mass_matrix().bind(robot, lift="inertias")(Q)
    compilations.clear()
    np.testing.assert_array_equal(mass_matrix().bind(robot, lift="inertias")(Q), first)
    assert not compilations
    from adjoint.model import lift

    fields = lift.lifted_fields
    monkeypatch.setattr(lift, "lifted_fields", lambda robot, arrays: fields(robot, arrays) | {"armature": Q})
    assert np.abs(mass_matrix().bind(robot, lift="inertias")(Q) - first).max() > 0.01


_ELSEWHERE = """
import numpy as np
from adjoint.compile import kernel
@kernel(x=3)
def f(x):
    return {factor} * x
"""


def test_modules_that_only_borrow_the_name(tmp_path, monkeypatch, compilations):
    """A module called adjoint.something that lies elsewhere, and is edited."""
    for factor in (2.0, 3.0):
        (tmp_path / "borrowed.py").write_text(_ELSEWHERE.format(factor=factor))
        spec = importlib.util.spec_from_file_location("adjoint.borrowed", tmp_path / "borrowed.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "adjoint.borrowed", module)
        exec((tmp_path / "borrowed.py").read_text(), vars(module))
        np.testing.assert_allclose(module.f(np.ones(3)), factor)


def test_code_of_a_library_without_sources_is_not_stored(monkeypatch):
    monkeypatch.setattr(disk_cache, "_source_files", lambda: [])
    monkeypatch.setattr(disk_cache, "_sources_at_first", disk_cache._sources_at_first.__wrapped__)
    assert math.isclose(kernel(lambda x: 3 * x)(2.0), 6.0)
    assert adjoint.cache_info().entries == 0 and "source files" in (adjoint.cache_info().disabled or "")
