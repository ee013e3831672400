"""Calls of every form: keywords, lists, whole numbers, strides, float32. Each gives what the plain function gives."""

import sys
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as aj
from adjoint.compile import kernel, static
from adjoint.compile.front import call_forms
from adjoint.errors import ArgumentError

rng = np.random.default_rng(3)


class Pair(NamedTuple):
    vector: np.ndarray
    number: np.ndarray


def make():
    @kernel(x=3, A=(2, 3), push=2)
    def f(x, A, scale=2.0, bias=np.array([0.5, -1.0]), push=None):  # noqa: B008
        y = A @ x * scale + bias
        return Pair(y if push is None else y + push, x[0] * scale)

    return f


x, A = rng.integers(-4, 5, 3) / 4.0, rng.integers(-4, 5, (2, 3)) / 4.0  # what float32 and whole numbers can be
X = rng.integers(-4, 5, (7, 3)) / 4.0
wide = np.zeros((3, 6))
wide[:, 1] = x
readonly = x.copy()
readonly.flags.writeable = False

CALLS = {
    "positional": ((x, A), {}),
    "keyword": ((x,), {"A": A}),
    "keywords": ((), {"A": A, "x": x}),
    "default by keyword": ((x, A), {"scale": 0.5}),
    "defaults by place": ((x, A, 0.5, np.ones(2)), {}),
    "last default by keyword": ((x, A), {"bias": np.ones(2)}),
    "optional": ((x, A), {"push": np.ones(2)}),
    "optional and default": ((x,), {"push": [1, 2], "A": A, "scale": 3}),
    "optional as None": ((x, A), {"push": None}),
    "list": ((x.tolist(), A), {}),
    "tuple": ((tuple(x), A.tolist()), {}),
    "list of arrays": ((list(x), [A[0], A[1]]), {}),
    "whole numbers": ((np.array([1, 2, 3]), A), {}),
    "list of whole numbers": (([1, 2, 3], A), {}),
    "small whole numbers": ((np.array([1, 2, 3], np.uint8), A), {}),
    "truth values": ((np.array([True, False, True]), A, True), {}),
    "Python's int": ((x, A, 3), {}),
    "NumPy's int": ((x, A), {"scale": np.int64(3)}),
    "NumPy's float": ((x, A, np.float64(3)), {}),
    "NumPy's float32": ((x, A, np.float32(3)), {}),
    "half": ((x.astype(np.float16), A), {}),
    "no axes": ((x, A, np.array(3.0)), {}),
    "no axes, whole": ((x, A, np.array(3)), {}),
    "strides": ((wide[:, 1], A), {}),
    "backwards": ((x[::-1], A[:, ::-1]), {}),
    "Fortran's order": ((x, np.asfortranarray(A)), {}),
    "read-only": ((readonly, A), {}),
    "other byte order": ((x.astype(">f8"), A), {}),
    "unaligned": ((np.frombuffer(b"." + x.tobytes(), np.float64, 3, 1), A), {}),
    "float32": ((x.astype(np.float32), A.astype(np.float32)), {"bias": np.ones(2, np.float32)}),
    "float32 and a number": ((x.astype(np.float32), A.astype(np.float32), 3, np.ones(2, np.float32)), {}),
    "float32 and a default array": ((x.astype(np.float32), A.astype(np.float32)), {}),
    "float32 and strides": ((wide[:, 1].astype(np.float32), A.astype(np.float32)), {"bias": np.ones(2, np.float32)}),
    "mixed": ((x.astype(np.float32), A), {}),
    "a subclass": ((np.ma.array(x), A), {}),
}
BATCHES = {
    "batch": ((X, A), {}),
    "batch by keyword": ((), {"x": X, "A": A}),
    "batch of lists": ((X.tolist(), A), {}),
    "batch in Fortran's order": ((np.asfortranarray(X), A), {}),
    "every second": ((X[::2], A), {"scale": 3}),
    "of a number": ((x, A), {"scale": np.arange(7)}),
    "mixed batches": ((x, np.stack([A] * 7)), {"push": np.ones((7, 2))}),
    "two axes": ((X[:, None], np.stack([A, 2 * A])), {}),
    "one": ((X[:1], A), {}),
    "none": ((X[:0], A), {}),
    "large strides": ((np.zeros((9000, 6))[:, ::2] + X[0], A), {}),
}


def by_samples(f, args, kwargs) -> Pair:
    """The plain function, sample after sample."""
    shapes = {"x": 1, "A": 2, "scale": 0, "bias": 1, "push": 1}
    given = {**dict(zip(shapes, args, strict=False)), **kwargs}
    given = {k: np.asarray(v, np.float64) for k, v in given.items() if v is not None}
    batch = np.broadcast_shapes(*(v.shape[: v.ndim - shapes[k]] for k, v in given.items()))
    full = {k: np.broadcast_to(v, batch + v.shape[v.ndim - shapes[k] :]) for k, v in given.items()}
    rows = [f.eager(**{k: v[i] for k, v in full.items()}) for i in np.ndindex(batch)]
    shape = {"vector": (2,), "number": ()}
    return Pair(*(np.array([getattr(r, k) for r in rows]).reshape(batch + s) for k, s in shape.items()))


@pytest.fixture(scope="module")
def f():
    return make()


@pytest.mark.parametrize("name", [*CALLS, *BATCHES])
def test_every_form(f, name):
    args, kwargs = {**CALLS, **BATCHES}[name]
    wanted, before = by_samples(f, args, kwargs), [np.array(a, copy=True) for a in args]
    first = f(*args, **kwargs)
    single = name.startswith("float32") and "default array" not in name
    for found in (first, f(*args, **kwargs), f(*args, **kwargs), make()(*args, **kwargs)):
        for one, other, again in zip(found, wanted, first, strict=True):
            assert one.dtype == (np.float32 if single else np.float64)
            np.testing.assert_array_equal(one, other)  # numbers of few digits: nothing is rounded
            assert type(one) is type(again) and one.shape == again.shape
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", [*CALLS, *BATCHES])
def test_every_form_into_given_arrays(f, name):
    args, kwargs = {**CALLS, **BATCHES}[name]
    wanted = f(*args, **kwargs)
    for _ in range(3):
        out = tuple(np.full_like(np.asarray(w), np.nan) for w in wanted)
        found = f(*args, **kwargs, out=out)
        assert all(a is b for a, b in zip(found, out, strict=True))
        for one, other in zip(out, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_results_over_inputs():
    @kernel(x=3)
    def f(x, k=1.0):
        return k * np.stack([x[1], x[2], x[0]])

    for _ in range(3):
        memory = np.arange(12.0).reshape(3, 4)
        view = memory[:, 1]
        assert f(view, k=2, out=view) is view
        np.testing.assert_array_equal(memory[:, 1], [10, 18, 2])
        np.testing.assert_array_equal(memory[:, [0, 2, 3]], np.arange(12.0).reshape(3, 4)[:, [0, 2, 3]])


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        (([1, 2], A), {}, r"argument 'x' has shape \(2,\)"),
        ((x,), {"A": A.T}, r"argument 'A' has shape \(3, 2\)"),
        (([[1, 2, 3], [1]], A), {}, "argument 'x' is not an array of numbers"),
        ((["a", "b", "c"], A), {}, "argument 'x' has dtype"),
        ((x + 1j, A), {}, "argument 'x' has dtype complex128"),
        ((x, A, 10**400), {}, "scale"),
        ((x, A, None), {}, "scale"),
        ((x, A), {"scale": "2"}, "argument 'scale'"),
        ((x, A), {"sacle": 2}, "has no argument 'sacle'"),
        ((x,), {"x": x, "A": A}, "argument 'x' twice"),
        ((), {"A": A}, "needs argument 'x'"),
        ((X, np.stack([A] * 3)), {}, "do not broadcast"),
        ((x, A), {"out": np.zeros(2)}, "out needs a tuple"),
        (([1, 2, 3], A), {"out": (np.zeros(3), np.zeros(()))}, "out for 'vector' has shape"),
        ((np.ma.masked_array(x, [1, 0, 0]), A), {}, "masked"),
    ],
)
def test_errors_stay_what_they_are(f, args, kwargs, words):
    for form in CALLS.values():
        f(*form[0], **form[1])
    for _ in range(2):
        with pytest.raises(ArgumentError, match=words):
            f(*args, **kwargs)


def test_a_remembered_form_is_still_traced_and_run_eagerly():
    f = make()
    for _ in range(3):
        f(x, A=A, scale=3)

    @kernel(x=3)
    def outer(x):
        return f(x, A=A, scale=3).vector * 2

    np.testing.assert_array_equal(outer(x), 2 * f(x, A=A, scale=3).vector)
    np.testing.assert_array_equal(outer.eager(x), 2 * f(x, A=A, scale=3).vector)
    calls = []

    @kernel(x=3)
    def noted(x, k=1.0):
        calls.append(type(x))
        return x * k

    noted([1, 2, 3], k=2)
    assert len(calls) == 1
    noted([1, 2, 3], k=2)
    assert len(calls) == 1  # machine code
    noted.eager([1, 2, 3], k=2)
    assert len(calls) == 2


def test_static_arguments_in_every_place():
    @kernel(n=static, x=3)
    def power(n, x, sign=1, scale=1.0):
        return sign * scale * x**n

    y = np.array([1.0, 2.0, 3.0])
    for n, sign in ((2, 1), (3, 1), (2, -1), (2.0, 1), (2, 1)) * 2:
        wanted = sign * 3 * y**n
        for found in (
            power(n, y, sign, 3.0),
            power(n, y, sign=sign, scale=3.0),
            power(n, scale=3, x=[1, 2, 3], sign=sign),
            power(x=y, n=n, scale=3.0, sign=sign),
            power(n, y, sign, scale=3.0, out=np.empty(3)),
        ):
            np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ArgumentError, match="must be hashable"):
        power(np.ones(3), y)


def test_robots_in_every_form():
    arm, other = aj.robots.puma560(), aj.robots.stanford()
    q, v, a = rng.normal(size=(3, 6))
    g = np.array([0.0, 1.0, -2.0])
    for robot in (arm, other, arm):
        wanted = aj.inverse_dynamics.eager(robot, q, v, a)
        down = aj.inverse_dynamics.eager(robot, q, v, a, gravity=g)
        for _ in range(3):
            for found in (
                aj.inverse_dynamics(robot, q, v, a=a),
                aj.inverse_dynamics(a=a, v=v, q=q, robot=robot),
                aj.inverse_dynamics(robot, q.tolist(), v, a, out=np.empty(6)),
                aj.inverse_dynamics.bind(robot)(q, a=a, v=v),
            ):
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(aj.inverse_dynamics(robot, q, v, a, gravity=g), down, rtol=1e-12, atol=1e-12)
    lifted = aj.inverse_dynamics.bind(arm, lift=("inertias", "gravity"))
    inertias = 2 * np.asarray(arm.liftable["inertias"])
    for _ in range(3):
        np.testing.assert_array_equal(lifted(q, v, a), lifted(q, v, a, inertias=inertias / 2))
        np.testing.assert_array_equal(lifted(q, v, a, inertias=None), lifted(q, v, a))
        np.testing.assert_array_equal(lifted(q, v, a, inertias=inertias), lifted(q, v, a, inertias=inertias.tolist()))
        low = lifted(*(z.astype(np.float32) for z in (q, v, a)))
        assert low.dtype == np.float32  # its own numbers follow the arrays
        np.testing.assert_allclose(low, lifted(q, v, a), rtol=1e-3, atol=1e-3)
    assert lifted(q, v, a=a, gravity=g).shape == (6,)


def test_nothing_leaks():
    f, xs = make(), [1.0, 2.0, 3.0]
    things = [x, A, xs]
    for _ in range(10):
        f(xs, A=A)
        f(x, A=A, scale=3)
        f(wide[:, 1], A)
    before = [sys.getrefcount(t) for t in things]
    for _ in range(500):
        f(xs, A=A)
        f(x, A=A, scale=3)
        f(wide[:, 1], A)
        with pytest.raises(ArgumentError):
            f([1.0], A=A)
    assert [sys.getrefcount(t) for t in things] == before


def test_large_arrays_are_not_copied(f, monkeypatch):
    many = np.zeros((9000, 6))[:, ::2]
    f(many, A=A)
    monkeypatch.setattr(call_forms, "COPIED", -1)  # a copy would fail the next line
    found = call_forms.one_dtype((many, A), set())
    assert found is not None and found[0][0] is many and not found[2]
    np.testing.assert_array_equal(f(many, A=A).vector, f(np.zeros((9000, 3)), A).vector)


def test_forms_are_forgotten_when_there_are_many(monkeypatch):
    monkeypatch.setattr(sys.modules["adjoint.compile.front.function"], "MOST_FORMS", 2)
    f = make()
    for kwargs in ({"A": A, "x": x}, {"x": x, "A": A}, {"x": x, "A": A, "scale": 3.0}, {"A": A, "x": x}) * 2:
        assert f(**kwargs).vector.shape == (2,)
    assert len(f.memory.forms) <= 2


def test_forms_with_static_arguments_are_forgotten_too(monkeypatch):
    monkeypatch.setattr(sys.modules["adjoint.compile.front.function"], "MOST_FORMS", 2)
    f = kernel(lambda x, y, power: x**power + y, power=static)
    for kwargs in (
        {"x": 3.0, "y": 1.0, "power": 2},
        {"y": 1.0, "x": 3.0, "power": 2},
        {"power": 2, "x": 3.0, "y": 1.0},
    ):
        assert f(**kwargs) == f(3.0, 1.0, 2) == 10
    assert len(f.memory.forms) <= 2
