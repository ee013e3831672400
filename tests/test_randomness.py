"""Randomness of public functions: by the keyword `rng`, everywhere the same."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.randomness import batch_shape, generator

ROBOT = aj.robots.two_link()
DRAWS = {
    "so3.random": lambda rng: so3.random(3, rng=rng),
    "se3.random": lambda rng: se3.random(3, rng=rng),
    "random_configuration": lambda rng: aj.random_configuration(ROBOT, 3, rng=rng),
    "randomised": lambda rng: aj.simulation.randomised(ROBOT, 3, mass=0.1, rng=rng)["inertias"],
    "random_velocity": lambda rng: aj.dynamics.random_velocity(ROBOT, np.zeros((3, 2)), rng=rng),
}


def functions_with_rng():
    """(module.name, the parameter `rng`) of every public function of the library that has one."""
    for found in pkgutil.walk_packages(aj.__path__, "adjoint."):
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name, None)
            if inspect.isfunction(value) and "rng" in inspect.signature(value).parameters:
                yield f"{found.name}.{name}", inspect.signature(value).parameters["rng"]


def test_every_rng_goes_by_keyword():
    ours = dict(functions_with_rng())
    inside = {"adjoint.randomness.generator"}  # what makes a generator of `rng`
    assert {name for name, p in ours.items() if p.kind is not p.KEYWORD_ONLY} <= inside
    assert {name.rpartition(".")[2] for name in ours} >= {"random", "random_configuration", "langevin", "excitation"}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_seed_is_its_generator_and_none_is_new(draw):
    np.testing.assert_array_equal(draw(7), draw(np.random.default_rng(7)))
    assert draw(None).shape == draw(7).shape
    assert not np.array_equal(draw(None), draw(None))
    rng = np.random.default_rng(7)
    assert not np.array_equal(draw(rng), draw(rng))  # it moves on


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("rng", ["seed", -1, 0.5])
def test_what_is_no_rng(draw, rng):
    with pytest.raises(ArgumentError, match=r"rng must be a numpy.random.Generator, a seed or None"):
        draw(rng)


def test_the_order_of_before_is_one_clear_error():
    rng = np.random.default_rng(0)
    for call, usage in [
        (lambda: so3.random(rng), r"random\(shape, rng=\.\.\.\)"),
        (lambda: se3.random(rng, 3), r"random\(shape, rng=\.\.\.\)"),
        (lambda: se3.random(0, 3, 1.0), r"random\(shape, rng=\.\.\.\)"),
        (lambda: aj.random_configuration(ROBOT, rng), r"random_configuration\(robot, shape, rng=\.\.\.\)"),
        (lambda: aj.random_configuration(ROBOT, 0, 3), r"random_configuration\(robot, shape, rng=\.\.\.\)"),
        (lambda: aj.dynamics.random_velocity(ROBOT, np.zeros(2), rng, 1.0), r"random_velocity\(robot, q, rng=\.\.\.\)"),
    ]:
        with pytest.raises(ArgumentError, match=f"takes its randomness by keyword: {usage}"):
            call()


def test_shapes():
    assert batch_shape(3, "f") == (3,) and batch_shape((), "f") == () and batch_shape(np.array([2, 0]), "f") == (2, 0)
    for bad in (-1, 2.0, "many", (2, None), 2**70):
        with pytest.raises(ArgumentError, match=r"f: shape is .*it must be a whole number"):
            batch_shape(bad, "f")
    assert isinstance(generator(None, "f"), np.random.Generator)
