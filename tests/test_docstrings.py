"""The examples in docstrings run, on a PUMA with some state, as someone who has read no further would try them."""

import doctest
import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest

import adjoint as aj

# Denavit-Hartenberg rows of an arm with a spherical shoulder and a spherical wrist.
SEVEN = [
    [0, d, 0, np.pi / 2 * turn] for d, turn in zip((0.3, 0, 0.4, 0, 0.4, 0, 0.1), (-1, 1, 1, -1, -1, 1, 0), strict=True)
]
MODULES = ["adjoint", *(name for _, name, _ in pkgutil.walk_packages(aj.__path__, "adjoint."))]


def examples() -> dict[str, str]:
    """{module.name: docstring} of all functions and classes whose docstring has an example."""
    found = {}
    for module in MODULES:
        for name, value in vars(importlib.import_module(module)).items():
            doc = getattr(value, "__doc__", None)
            if isinstance(doc, str) and ">>>" in doc and getattr(value, "__module__", None) == module:
                found[f"{module}.{name}"] = inspect.cleandoc(doc)
    return found


EXAMPLES = examples()


def test_every_name_of_the_door_has_an_example():
    """A session, or an indented block; that of a constant stands below it in the source."""
    below = inspect.getsource(importlib.import_module("adjoint.compile.front.parameters"))
    docs = {name: inspect.cleandoc(getattr(aj, name).__doc__) for name in aj.__all__} | {"static": below}
    assert not [name for name, doc in docs.items() if ">>> " not in doc and "\n\n    " not in doc]


def known(module: str) -> dict:
    """The names that an example may use without defining them: those of its module, and a robot in some state."""
    robot, rng = aj.robots.puma560(), np.random.default_rng(0)
    q, v, a, tau, b, weights, dv, w = rng.normal(size=(8, 6))
    state = {"robot": robot, "q": q, "v": v, "a": a, "tau": tau, "b": b, "weights": weights, "dw": dv, "w": w}
    if module.endswith("closed_loops"):
        state |= four_bar()
    if module.startswith("adjoint.inverse"):
        state |= poses(robot, q)
    tools = {"np": np, "aj": aj, "robots": aj.robots, "lie": aj.lie, "so3": aj.lie.so3, "se3": aj.lie.se3}
    tools |= {"inertia": aj.lie.inertia, "solve": aj.fixman.solve, "F": np.arange(6.0), "kT": 1.0}
    topics = {name: getattr(aj.dynamics, name) for name in ("textbook", "ploen_park", "lagrangian")}
    door = {name: getattr(aj, name) for name in aj.__all__}
    return door | state | topics | vars(importlib.import_module(module)) | tools


def poses(robot: aj.Robot, q: np.ndarray) -> dict:
    """Poses of the PUMA: one, and a path of 100; and an arm with seven joints in some state."""
    steps = np.linspace(0, 0.3, 100)[:, None]
    q = np.clip(q, 0.5 * robot.lower, 0.5 * robot.upper)
    arm7 = aj.from_dh(SEVEN)
    q7 = np.linspace(-0.5, 1.0, 7)
    T, path, T7 = (aj.forward_kinematics(r, x, "tool") for r, x in ((robot, q), (robot, q + steps), (arm7, q7)))
    return {"q": q, "T": T, "poses": path, "arm7": arm7, "q7": q7, "T7": T7}


def four_bar() -> dict:
    """A linkage with one loop and a motor on its crank, at a configuration near one that closes the loop."""

    def along(x: float) -> np.ndarray:
        return aj.lie.se3.from_rotation_translation.eager(np.eye(3), [x, 0.0, 0.0])

    rod = aj.lie.inertia.sphere(1.0, 0.1)
    builder = aj.Robot.builder("four-bar").link("ground", rod).link("crank", rod).link("coupler", rod)
    builder.link("rocker", rod).joint("motor", "revolute", "ground", "crank")
    builder.joint("coupler", "revolute", "crank", "coupler", along(0.3))
    builder.joint("rocker", "revolute", "ground", "rocker", along(0.8))
    builder.frame("coupler end", "coupler", along(0.9)).frame("rocker end", "rocker", along(0.6))
    loops = (aj.dynamics.Loop("coupler end", "rocker end", "point"),)
    robot = builder.build()
    q = aj.dynamics.close_loops(robot, loops, np.array([1.0, -0.5, 1.0]), held=("motor",))
    v, a, tau = np.zeros((3, 3))
    return {"robot": robot, "loops": loops, "q": q, "v": v, "a": a, "tau": tau}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_of_a_docstring_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], known(name.rpartition(".")[0]), name, None, 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
