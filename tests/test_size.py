"""Programs that would be too large are refused before they are compiled, and loops are told from what is unrolled."""

import gc
import pickle

import numpy as np
import pytest
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint import kernel, robots
from adjoint.compile.front import specialisation
from adjoint.compile.graph import expressions
from adjoint.errors import CompileError

CHAIN = robots.chain(60)
OTHER = CHAIN.replace(name="other")  # the cache on disk has code of this one, which is unrolled, and no refusal
_FEW = ("lower", "upper", "damping", "friction", "armature", "velocity_limit", "effort_limit")
GRIPPER = CHAIN.replace(mimics={5: aj.model.Mimic(3, 2.0, 0.0)}, **{name: getattr(CHAIN, name)[:-1] for name in _FEW})
X = np.random.default_rng(0).normal(size=(3, 60))


@pytest.fixture
def little(monkeypatch):
    """A limit that is reached at once."""
    aj.forget()
    monkeypatch.setattr(specialisation, "MOST_NODES", 2000)
    yield
    aj.forget()


WAYS = {
    "a function without loops": lambda: aj.christoffel(CHAIN, X[0]),
    "jacobian": lambda: aj.inverse_dynamics.bind(CHAIN).jacobian("q")(*X),
    "jacobian, bound later": lambda: aj.inverse_dynamics.jacobian("q")(CHAIN, *X),
    "vjp": lambda: aj.inverse_dynamics.bind(CHAIN).vjp(*X, X[0]),
    "jvp": lambda: aj.forward_dynamics.bind(CHAIN).jvp(*X, *X),
    "hessian": lambda: aj.potential_energy.bind(CHAIN).hessian("q")(X[0]),
    "lift": lambda: aj.inverse_dynamics.bind(CHAIN, lift="inertias")(*X),
    "source": lambda: aj.mass_matrix.bind(CHAIN).source("c"),
    "symbolic": lambda: aj.mass_matrix.bind(CHAIN).symbolic(),
    "operations": lambda: aj.christoffel.bind(CHAIN).operations,
    "packed": lambda: aj.christoffel.bind(CHAIN).packed(X[0]),
    "joints that follow others": lambda: aj.inverse_dynamics(GRIPPER, *np.zeros((3, GRIPPER.nv))),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_unrolls_is_refused(way, little):
    with pytest.raises(CompileError, match=r"more than 2,000 operations.*unroll=True.*eager.* 60 bodies .*loops"):
        WAYS[way]()


def test_what_has_loops_is_not(little):
    assert np.isfinite(aj.inverse_dynamics(CHAIN, *X)).all()
    assert np.isfinite(aj.mass_matrix(CHAIN, X[0])).all()
    assert aj.inverse_dynamics.bind(CHAIN).operations.muls > 0


@pytest.mark.slow
def test_a_refusal_names_the_function_and_keeps_nothing(little):
    bound = aj.forward_dynamics.bind(robots.chain(4))
    x = X[:, :4]
    want, parent = bound(*x), bound.only_specialisation("call").program
    nodes, before = len(parent.graph.nodes), _nodes_alive()
    with pytest.raises(CompileError, match=r"forward_dynamics.hessian would .*forward_dynamics.bind\(") as caught:
        bound.hessian("q")(*x)
    assert caught.value.__context__ is None and _nodes_alive() <= before
    assert len(parent.graph.nodes) == nodes  # derivatives have graphs of their own
    np.testing.assert_array_equal(bound(*x), want)
    assert bound.jvp(*x, *x).out.shape == (4,)


def _nodes_alive() -> int:
    gc.collect()
    return sum(isinstance(o, expressions.Expr) for o in gc.get_objects())


@pytest.mark.slow
def test_unroll(little):
    center = aj.center_of_mass.bind(OTHER, unroll=True)(X[0])
    close(-OTHER.mass * OTHER.gravity @ center, aj.potential_energy(OTHER, X[0]), 1e-9)
    unrolled = aj.inverse_dynamics.bind(OTHER, unroll=True)
    close(unrolled(*X), aj.inverse_dynamics(OTHER, *X), 1e-9)  # the latter in loops
    assert unrolled.operations.muls < aj.inverse_dynamics.bind(OTHER).operations.muls  # constants are folded in
    assert aj.inverse_dynamics.bind(OTHER).bind(unroll=True) is unrolled
    assert aj.inverse_dynamics.bind(OTHER) is not unrolled


@pytest.mark.slow
def test_kernels_made_from_one_that_is_unrolled(little):
    unrolled = aj.inverse_dynamics.bind(OTHER, unroll=True)
    gradients = unrolled.vjp
    dq = gradients(*X, X[0]).q
    close(aj.inverse_dynamics.vjp.bind(OTHER, unroll=True)(*X, X[0]).q, dq, 0)
    close(unrolled.bind(lift="gravity").vjp(*X, X[0]).q, dq, 1e-9)
    assert aj.inverse_dynamics.bind(OTHER, lift="gravity", unroll=True) is unrolled.bind(lift="gravity")
    for k in (unrolled, gradients):
        again = pickle.loads(pickle.dumps(k))
        assert again.unrolled and again is k
    assert aj.gravity_torque.bind(OTHER, unroll=True).packing.size == 60
    with pytest.raises(aj.errors.ArgumentError, match="unroll=True"):
        aj.gravity_torque.bind(OTHER).packing  # noqa: B018


@pytest.mark.slow
def test_a_program_that_holds_others(little):
    """The limit is that of the kernel which is called, whatever is inside it."""

    @kernel(q=60, v=60, a=60)
    def both(q, v, a):
        return aj.gravity_torque.vjp(OTHER, q, a) + aj.inverse_dynamics(OTHER, q, v, a)

    with pytest.raises(CompileError, match=r"both would .*both.bind\(\.\.\., unroll=True\).*scan or while_loop"):
        both(*X)
    slope = aj.gravity_torque.bind(OTHER, unroll=True).vjp(X[0], X[2])
    close(both.bind(unroll=True)(*X), slope + aj.inverse_dynamics(OTHER, *X), 1e-9)


def test_a_python_loop_without_end_in_sight(little):
    @kernel
    def far(x):
        for k in range(10**9):
            x = np.sin(x) + k
        return x

    with pytest.raises(CompileError, match=r"far would .* 2,000 operations.*write long ones with scan"):
        far(1.0)


def test_operations_of_loops():
    """M⁻¹ b of a chain whose joints only turn takes 465 operations for each link, as the docs say."""
    counts = [np.array(aj.solve_mass_matrix.bind(robots.chain(n)).operations) for n in (100, 300)]
    assert np.array_equal(counts[1], 3 * counts[0]) and counts[0].sum() == 465 * 100
    chain = robots.chain(50)
    columns = np.array(aj.mass_matrix.bind(chain).operations)
    assert np.array_equal(columns, 50 * np.array(aj.mass_matrix_product.bind(chain).operations))  # n columns
    twice = np.array(aj.solve_mass_matrix.bind(robots.chain(100)).operations)
    assert np.array_equal(twice, counts[0])


def test_no_kernel_has_an_option_of_bind_as_parameter():
    with pytest.raises(aj.errors.ArgumentError, match="static parameter 'unroll'"):
        kernel(lambda x, unroll=False: x)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["romeo.urdf", "tiago.urdf"])
def test_large_real_robots_are_not_refused(name):
    """56 and 49 bodies on a free base; compiled humanoids are among the tests of real robots."""
    robot = aj.load(urdf(name), base="free")
    slopes = aj.inverse_dynamics_derivatives.bind(robot).only_specialisation("call")
    assert len(slopes.program.graph.nodes) < specialisation.MOST_NODES / 2
