"""Derivatives: every rule against 50-digit differences, against CasADi, composed, guarded, named."""

import math
import pickle
import sys
import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from adjoint import check_grads, kernel, static
from adjoint.compile.graph import operations as ops
from adjoint.errors import AdjointError, ArgumentError, DerivativeError

EPS = np.finfo(float).eps
# Sums of some tens of products of numbers of order one to ten.
ROUNDING = 500 * EPS


class Pair(NamedTuple):
    first: Any
    second: Any


# --- every operation --------------------------------------------------------------------------------------------------

X, Y = 0.37, -1.9  # away from every corner
POINTS = {
    "acosh": (1.7,),
    "log": (0.37,),
    "pow": (1.3, 0.37),
    "fmod": (7.3, 1.9),
    "copysign": (-0.37, 1.9),
    "select": (0.2, 0.37, -1.9),
}


@pytest.mark.parametrize("name", [n for n, op in ops.OPS.items() if not op.mask])
def test_every_operation(name):
    from adjoint.compile.graph.expressions import apply

    op = ops.OPS[name]
    # The square keeps second derivatives of the linear operations from being trivial.
    if name == "select":
        k = kernel(lambda x, y, z: apply("select", x < y, y * y * x, z * z))
    else:
        k = [kernel(lambda x: apply(name, x) ** 2 + x), kernel(lambda x, y: apply(name, x, y) ** 2 + x * y)][
            op.arity - 1
        ]
    check_grads(k, *POINTS.get(name, (X, Y)[: op.arity]))


@pytest.mark.parametrize("name", [n for n, op in ops.OPS.items() if op.mask])
def test_truth_values_have_no_derivative(name):
    from adjoint.compile.graph.expressions import apply

    k = kernel(lambda x, y: apply(name, *(x, y)[: ops.OPS[name].arity]) * x)
    assert k.jacobian("y")(X, Y) == 0.0
    check_grads(k, X, Y)


# --- a table of functions ---------------------------------------------------------------------------------------------

M = np.array([[2.0, 0.3, -0.1], [0.2, 1.5, 0.4], [-0.3, 0.1, 1.8]])
V = np.array([0.3, -0.7, 0.9])
TABLE = {
    "dot": (lambda a, b: a @ b, {"a": 3, "b": 3}, (V, V[::-1] + 1)),
    "matrix product": (lambda a, b: a @ b, {"a": (3, 3), "b": 3}, (M, V)),
    "norm": (lambda a: np.linalg.norm(a), {"a": 3}, (V,)),
    "cross": (lambda a, b: np.cross(a, b), {"a": 3, "b": 3}, (V, V**2)),
    "solve": (lambda a, b: np.linalg.solve(a, b), {"a": (3, 3), "b": 3}, (M, V)),
    "inv": (lambda a: np.linalg.inv(a), {"a": (2, 2)}, (M[:2, :2],)),
    "det": (lambda a: np.linalg.det(a), {"a": (3, 3)}, (M,)),
    "cholesky": (lambda a: np.linalg.cholesky(a @ a.T), {"a": (3, 3)}, (M,)),
    "many to one": (lambda a: np.exp(-a @ a) * np.prod(a), {"a": 3}, (V,)),
    "one to many": (lambda s: np.array([np.sin(s), s**3, 1 / s, np.log(s)]), {}, (0.7,)),
    "sparse": (lambda a: np.array([a[0] ** 2, a[1] * a[2], 3.0]), {"a": 3}, (V,)),
    "pieces": (lambda a: np.where(a > 0, a**2, np.sin(a)) + np.maximum(a, 0.5) + np.abs(a), {"a": 3}, (V,)),
    "two outputs": (lambda a, s: Pair(s * a, a @ a + s), {"a": 3}, (V, 0.7)),
    "unused": (lambda a, b: a * 2, {"a": 3, "b": 2}, (V, V[:2])),
    "constant": (lambda a: np.arange(3.0), {"a": 3}, (V,)),
    "powers": (lambda x, y: np.array([x**3, x**-2, x**0.5, x**2.5, 2.0**y, x**y]), {}, (1.3, 0.6)),
    "hypot": (lambda x, y: np.hypot(x, y) + np.arctan2(y, x), {}, (1.3, 0.6)),
    "remainder": (lambda x, y: x % y + x * y, {}, (7.3, 1.9)),
}


@pytest.mark.parametrize("name", TABLE)
def test_check_grads(name):
    fn, shapes, point = TABLE[name]
    worst = check_grads(kernel(fn, **shapes), *point, order=1 if name in ("inv", "solve", "det", "cholesky") else 2)
    assert 0 <= worst < 1e-12  # far below what check_grads allows: these functions are well-conditioned


@pytest.mark.parametrize("name", [n for n in TABLE if n not in ("pieces",)])
def test_agrees_with_casadi(name):
    import casadi

    fn, shapes, point = TABLE[name]
    k = kernel(fn, **shapes)
    function = k.symbolic()
    inputs = function.sx_in()
    outputs = function.call(inputs)
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    for i, o in enumerate(outputs):
        for name_, x in zip(names, inputs, strict=True):
            value = casadi.Function("J", inputs, [casadi.jacobian(casadi.vec(o.T), casadi.vec(x.T))])
            wanted = np.array(value(*[casadi.DM(np.asarray(p)) for p in point]))
            got = k.jacobian(name_)(*point)
            got = got[i] if isinstance(got, tuple) else got
            np.testing.assert_allclose(np.reshape(got, wanted.shape), wanted, rtol=ROUNDING, atol=ROUNDING)


# --- shapes and names -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two():
    return kernel(lambda A, x, s: Pair(A @ x * s, np.sum(A) * s), A=(2, 3), x=3)


def test_jacobian_fields_and_shapes(two):
    one = kernel(lambda A, x: A @ x, A=(2, 3), x=3)
    args = [np.ones((5, 2, 3)), np.ones((5, 3))]
    assert one.jacobian("x")(*args).shape == (5, 2, 3) and one.jacobian("A")(*args).shape == (5, 2, 2, 3)
    both = one.jacobian("x", "A")(*args)
    assert both._fields == ("x", "A") and both.x.shape == (5, 2, 3) and both.A.shape == (5, 2, 2, 3)
    assert one.jacobian()(*args)._fields == ("A", "x")
    args.append(np.ones(5))
    assert two.jacobian("x")(*args)._fields == ("first", "second")
    full = two.jacobian("x", "s")(*args)
    assert full._fields == ("first_x", "first_s", "second_x", "second_s")
    assert [f.shape for f in full] == [(5, 2, 3), (5, 2), (5, 3), (5,)]


def test_hessian_shapes_and_symmetry(two):
    args = [np.ones((5, 2, 3)), np.ones((5, 3)), np.ones(5)]
    assert [h.shape for h in two.hessian("x")(*args)] == [(5, 2, 3, 3), (5, 3, 3)]
    mixed = kernel(lambda x, y: np.sin(x @ y), x=3, y=3)
    h = mixed.hessian("x", "y")(V, V + 1)
    np.testing.assert_allclose(h, np.transpose(mixed.hessian("y", "x")(V, V + 1)), rtol=ROUNDING)
    own = mixed.hessian("x")(V, V + 1)
    np.testing.assert_array_equal(own, own.T)
    np.testing.assert_allclose(own, mixed.jacobian("x").jacobian("x")(V, V + 1), rtol=ROUNDING, atol=ROUNDING)


def test_jvp_and_vjp_fields(two):
    A, x, s = np.ones((2, 3)), V, 0.7
    moved = two.jvp(A, x, s, 2 * A, 3 * x, 4.0)
    assert moved._fields == ("first", "second", "first_dot", "second_dot")
    J = two.jacobian()(A, x, s)
    np.testing.assert_allclose(
        moved.first_dot, np.sum(J.first_A * 2 * A, (1, 2)) + J.first_x @ (3 * x) + J.first_s * 4, rtol=ROUNDING
    )
    pulled = two.vjp(A, x, s, first_bar=np.array([1.0, 2.0]), second_bar=3.0)
    assert pulled._fields == ("A", "x", "s") and pulled.A.shape == (2, 3)
    np.testing.assert_allclose(pulled.x, np.array([1.0, 2.0]) @ J.first_x + 3 * J.second_x, rtol=ROUNDING)
    single = kernel(lambda x: np.sin(x), x=3)
    np.testing.assert_allclose(single.vjp(V, out_bar=np.ones(3)), np.cos(V), rtol=ROUNDING)
    assert single.jvp(x=V, x_dot=np.ones((4, 3))).out_dot.shape == (4, 3)


def test_sparsity_is_used():
    f = kernel(lambda x: np.sin(x) * x, x=30)
    J = f.jacobian("x")
    assert J.operations.transcendental == 60 and J.operations.adds == 30  # not 30 times 30
    assert f.hessian("x").operations.transcendental <= 60
    np.testing.assert_array_equal(J(np.zeros(30)), np.zeros((30, 30)))


def test_gradients_of_long_functions_are_cheap():
    f = kernel(lambda x: np.prod(np.sin(x)) + np.sum(x * x), x=40)
    work, gradient = sum(f.operations), sum(f.jacobian("x").operations)
    assert gradient < 6 * work  # in reverse: a small multiple, whatever the number of inputs


STATIC = kernel(lambda n, x: x**n, n=static)


def test_derivatives_with_static_arguments():
    assert STATIC.jacobian("x")(3, 2.0) == 12.0 and STATIC.bind(3).jacobian("x")(2.0) == 12.0
    assert STATIC.bind(3).hessian("x")(2.0) == 12.0 and STATIC.bind(2).jvp(3.0, 1.0).out_dot == 6.0
    assert STATIC.bind(2).vjp(3.0, 1.0) == 6.0
    with pytest.raises(ArgumentError, match="got 'n'"):
        STATIC.jacobian("n")


def test_optional_inputs():
    f = kernel(lambda x, y=None: x * x if y is None else x * y, y=())
    assert f.jacobian("x")(3.0) == 6.0 and f.jacobian("x")(3.0, 5.0) == 5.0 and f.jacobian("x")(3.0) == 6.0
    with pytest.raises(DerivativeError, match="'y' is absent"):
        f.jacobian("y")(3.0)


BAD = {
    "unknown": (lambda k: k.jacobian("z"), "got 'z'"),
    "three": (lambda k: k.hessian("A", "x", "s"), "one or two"),
    "missing tangent": (lambda k: k.jvp(np.ones((2, 3)), V, 1.0), "A_dot"),
    "wrong cotangent": (lambda k: k.vjp(np.ones((2, 3)), V, 1.0, np.ones(3), 1.0), "first_bar"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_use(two, name):
    use, words = BAD[name]
    with pytest.raises(AdjointError, match=words):
        use(two)


# --- composition ------------------------------------------------------------------------------------------------------


def test_derivative_of_derivative():
    f = kernel(lambda x: np.sin(x) * np.exp(x))
    third = f.jacobian("x").jacobian("x").jacobian("x")
    x = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(third(x), 2 * np.exp(x) * (np.cos(x) - np.sin(x)), rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(f.jvp.jacobian("x_dot")(x, 1.0).out_dot, f.jacobian("x")(x), rtol=ROUNDING)
    np.testing.assert_allclose(f.vjp.jacobian("x")(x, 1.0), f.hessian("x")(x), rtol=ROUNDING, atol=ROUNDING)


def test_derivatives_inside_kernels():
    f = kernel(lambda x, y: np.sin(x @ y), x=3, y=3)
    gradient = f.jacobian("x")

    @kernel(x=3, y=3)
    def newton_like(x, y):
        moved = f.jvp(x, y, y, x)
        return gradient(x, 2 * y) + moved.out_dot + f.vjp(x, y, 1.0).x + f.hessian("x")(x, y) @ y

    wanted = gradient(V, 2 * V) + f.jvp(V, V, V, V).out_dot + f.vjp(V, V, 1.0).x + f.hessian("x")(V, V) @ V
    np.testing.assert_allclose(newton_like(V, V), wanted, rtol=ROUNDING)
    np.testing.assert_allclose(newton_like.eager(V, V), wanted, rtol=ROUNDING)
    np.testing.assert_allclose(newton_like(np.stack([V] * 9), V)[8], wanted, rtol=ROUNDING)
    check_grads(newton_like, V, V + 0.1, order=1)


def test_derivatives_run_eagerly_too():
    f = kernel(lambda A, x: Pair(A @ x, np.sin(x[0])), A=(2, 3), x=3)
    A = M[:2]
    for k, args in [
        (f.jacobian(), (A, V)),
        (f.jvp, (A, V, A, V)),
        (f.vjp, (A, V, np.ones(2), 2.0)),
        (f.hessian("x"), (A, V)),
    ]:
        for got, wanted in zip(k.eager(*args), k(*args), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=ROUNDING, atol=ROUNDING)
            assert np.shape(got) == np.shape(wanted)


# --- singular points --------------------------------------------------------------------------------------------------


def sinc(x):
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1.0, x)
    return np.where(small, 1 - x * x / 6, np.sin(safe) / safe)


def guarded_norm(x):
    n = x @ x
    return np.where(n == 0, 0.0, np.sqrt(np.where(n == 0, 1.0, n)))


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-12, 1e-3, 0.5])
def test_guarded_singularity(x):
    k = kernel(sinc)
    for derivative, wanted in [(k.jacobian("x"), -x / 3), (k.hessian("x"), -1 / 3)]:
        got = derivative(x)
        assert np.isfinite(got) and abs(got - wanted) < (1e-5 if abs(x) < 0.1 else 0.2)
    assert np.isfinite(k.jvp(x, 1.0).out_dot) and np.isfinite(k.vjp(x, 1.0))


def test_guarded_norm_is_finite_at_zero():
    k = kernel(guarded_norm, x=3)
    batch = np.array([[0.0, 0, 0], [3, 4, 0], [0, 0, 0]])
    np.testing.assert_allclose(k.jacobian("x")(batch), [[0, 0, 0], [0.6, 0.8, 0], [0, 0, 0]], rtol=ROUNDING)
    assert np.isfinite(k.hessian("x")(batch)).all() and np.isfinite(k.vjp(batch, 1.0)).all()


def test_unguarded_singularity_is_not_hidden():
    assert not np.isfinite(kernel(lambda x: np.sqrt(x)).jacobian("x")(0.0))


def test_subgradients_at_corners():
    assert kernel(lambda x: np.abs(x)).jacobian("x")(0.0) == 0.0
    assert kernel(lambda x, y: np.maximum(x, y)).jacobian("x", "y")(1.0, 1.0) == (1.0, 0.0)
    assert kernel(lambda x, y: np.minimum(x, y)).jacobian("x", "y")(1.0, 1.0) == (1.0, 0.0)
    assert kernel(lambda x: x**2).jacobian("x")(0.0) == 0.0 and kernel(lambda x: x**3.5).jacobian("x")(0.0) == 0.0


# --- check_grads itself -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sin", "div", "atan2", "pow", "tanh", "mul"])
def test_check_grads_catches_a_wrong_rule(name, monkeypatch):
    op = ops.OPS[name]

    def wrong(f, *args):
        first, *rest = op.partials(f, *args)  # pyright: ignore
        return f("mul", 1.0 + 1e-6, first), *rest

    monkeypatch.setitem(ops.OPS, name, replace(op, partials=wrong))
    from adjoint.compile.graph.expressions import apply

    k = kernel(lambda x, y: apply(name, *(x, y)[: op.arity]) + 0.1 * y)
    with pytest.raises(AssertionError, match="wrong by"):
        check_grads(k, 1.3, 0.6)


def test_check_grads_catches_a_wrong_second_derivative(monkeypatch):
    """A first partial that is right, and not differentiable right: cos that says its derivative is +sin."""
    monkeypatch.setitem(ops.OPS, "cos", replace(ops.OPS["cos"], partials=lambda f, x, r: (f("sin", x),)))
    k = kernel(lambda x: np.sin(x))
    check_grads(k, 0.5, order=1)
    with pytest.raises(AssertionError, match="hessian"):
        check_grads(k, 0.5)


def test_check_grads_refuses_sequences():
    from adjoint import scan

    k = kernel(lambda v: scan(lambda c, x: (c + x, None), 0.0, v)[0], v=(...,))
    with pytest.raises(AdjointError, match="sequence"):
        check_grads(k, np.ones(3))


def test_records_of_derivatives_are_pickled():
    f = kernel(lambda x, y: x * y)
    found = f.jacobian("x", "y")(2.0, 3.0)
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found) and again == found


# --- smallest examples of what once went wrong ------------------------------------------------------------------------


def test_derivatives_made_in_several_threads():
    def f(x):
        for _ in range(6):
            x = np.sin(x) * x[::-1] + np.cos(x)
        return x

    x = np.array([0.3, -0.2, 0.5])
    wanted = kernel(f, x=3)
    W = wanted.jacobian("x").jacobian("x")(x), wanted.jvp(x, x), wanted.vjp(x, x)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            k, found = kernel(f, x=3), {}
            jobs = [
                lambda: found.update(h=k.jacobian("x").jacobian("x")(x)),  # noqa: B023
                lambda: found.update(j=k.jvp(x, x)),  # noqa: B023
                lambda: found.update(v=k.vjp(x, x)),  # noqa: B023
            ]
            threads = [threading.Thread(target=job) for job in jobs]
            [t.start() for t in threads]
            [t.join(60) for t in threads]
            for a, b in zip((found["h"], *found["j"], found["v"]), (W[0], *W[1], W[2]), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13)
    finally:
        sys.setswitchinterval(interval)


def test_tangents_of_inputs_that_look_like_tangents():
    k = kernel(lambda q, q_dot: q * q_dot, q=2, q_dot=2)
    q, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    r = k.jvp(q, v, q, v)
    np.testing.assert_array_equal(r.out_dot, 2 * q * v)
    check_grads(k, q, v)
    np.testing.assert_array_equal(k.jvp.jvp(q, v, q, v, q, v, q, v).out_dot, 2 * q * v)

    class Out(NamedTuple):
        a: float
        a_b: float

    j = kernel(lambda b_c, c: Out(5 * b_c + c, 3 * b_c * c)).jacobian("b_c", "c")(1.0, 2.0)
    assert sorted(j) == [1.0, 3.0, 5.0, 6.0]


def test_reverse_derivatives_under_a_guard_are_finite():
    k = kernel(lambda x: np.where(x > 0, np.sqrt(np.abs(x)), 0.0), x=12)
    x = np.linspace(0, 1, 12)
    assert np.isfinite(k.vjp(x, np.ones(12))).all()
    assert np.isfinite(k.jacobian("x")(x)).all()


def test_remainder_derivatives_count_whole_quotients():
    k = kernel(lambda x, y: np.fmod(x, y))
    assert k.jacobian("y")(1.0, 0.1) == -9.0  # 1.0 / 0.1 rounds to 10, but 0.1 is a little more than a tenth
    assert math.isclose(kernel(lambda x: np.expm1(x)).jacobian("x")(-50.0), math.exp(-50))


def test_derivatives_say_what_they_want():
    k = kernel(lambda x, y, n=2: x**n * y, x=2)
    with pytest.raises(ArgumentError, match="one or two names"):
        k.hessian()
    with pytest.raises(ArgumentError, match="names of inputs: x, y"):
        k.jacobian(np.ones(2))
    with pytest.raises(ArgumentError, match="it is static"):
        k.jacobian("n")
    assert k.jvp([1.0, 2.0], 3.0, [1.0, 0.0], 0.0, n=3).out_dot[0] == 9.0  # inputs, tangents, then options
