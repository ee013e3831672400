"""Packed results: made whole they are the same bits, they hold no number twice, and others can use them."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from support.trees import SEEDS, on_free_base, sample, tree

import adjoint as aj
from adjoint import kernel, robots, scan
from adjoint.errors import ArgumentError

ROBOTS = [tree(SEEDS[0]), on_free_base(tree(4, 6)), robots.puma560()]
FUNCTIONS = {
    aj.mass_matrix: "q", aj.geometry.mass_matrix_derivative: "q", aj.regressor: "qva",
    aj.inverse_dynamics_derivatives: "qva",
}  # fmt: skip


def tupled(x) -> tuple:
    return x if isinstance(x, tuple) else (x,)


# --- robots -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_unpacked_results_are_the_whole_ones(function, robot):
    fn, x = function.bind(robot), sample(robot)[: len(FUNCTIONS[function])]
    for given in (x, [np.stack([a, a])[:, None] for a in x]):
        packed, whole = fn.packed(*given), tupled(fn(*given))
        unpacked = fn.unpack(*tupled(packed))
        for got, want, values, p in zip(*map(tupled, (unpacked, whole, packed, fn.packing)), strict=True):
            assert np.array_equal(got, want)
            assert values.shape == (*want.shape[: want.ndim - len(p.shape)], p.size)


def test_float32_stays():
    fn, q = aj.mass_matrix.bind(ROBOTS[-1]), sample(ROBOTS[-1])[0].astype(np.float32)
    for whole in (fn.unpack(fn.packed(q)), fn.packing.sparse(fn.packed(q)).toarray()):
        assert whole.dtype == np.float32 and np.array_equal(whole, fn(q))


def test_what_a_tree_leaves_out():
    """Two arms on one base: blocks of zeros between them, each block symmetric; 2 n (n + 1) / 2 numbers at most."""
    n = 3
    builder = aj.Robot.builder("two arms").link("base")
    for side in ("left", "right"):
        for k in range(n):
            parent = "base" if k == 0 else f"{side} {k - 1}"
            builder.link(f"{side} {k}", inertia=[1, 0.2, 0.1, 0.3, 2, 0.1, 0.2, 3, 0.3, 4])
            builder.joint(f"{side} joint {k}", "revolute", parent, f"{side} {k}", axis=(1, 2, 3 - k))
    fn = aj.mass_matrix.bind(builder.build())
    assert fn.packing.shape == (2 * n, 2 * n) and len(fn.packing.nonzero[0]) == 2 * n * n
    # The last link's own entry is one constant; the arms are alike but have coordinates of their own.
    assert fn.packing.size == n * (n + 1) - 2
    assert not fn.packing.factors[:n, n:].any()


def test_christoffel_symbols_of_opposite_sign_are_packed_once():
    robot = robots.random_tree(0, 6, types=["revolute"])
    fn = aj.christoffel.bind(robot)
    q, *_ = sample(robot)
    values = np.abs(fn.packed(q))
    assert len(np.unique(values)) == fn.packing.size
    assert (fn.packing.factors == -1).any()
    assert np.array_equal(fn.unpack(fn.packed(q)), fn(q))


def test_sparse_matrices():
    robot = ROBOTS[-1]
    fn, q = aj.mass_matrix.bind(robot), sample(robot)[0]
    got = fn.packing.sparse(fn.packed(q))
    assert got.shape == (robot.nv, robot.nv) and got.nnz == np.count_nonzero(fn.packing.factors)
    assert np.array_equal(got.toarray(), fn(q))
    with pytest.raises(ArgumentError, match="one sample is needed"):
        fn.packing.sparse(fn.packed(np.stack([q, q])))
    slopes = aj.geometry.mass_matrix_derivative.bind(robot)
    with pytest.raises(ArgumentError, match="of other than vectors and matrices use `nonzero` and `data`"):
        slopes.packing.sparse(slopes.packed(q))


def test_elements_that_are_not_zero():
    """Of batches too, and of any number of axes, in the order of `nonzero`."""
    robot = ROBOTS[1]
    fn, q = aj.geometry.mass_matrix_derivative.bind(robot), np.stack([sample(robot)[0]] * 2)
    data = fn.packing.data(fn.packed(q))
    assert np.array_equal(data, fn(q)[:, *fn.packing.nonzero])
    assert repr(fn.packing).startswith(f"<Packing of {fn.packing.shape}: {data.shape[1]} not zero")


def test_what_may_be_left_out_is():
    """Options and optional inputs can change what is zero: they must not be given to `packed` alone."""
    robot = robots.scara()
    q, v, a = sample(robot)[:3]
    fn = aj.regressor.bind(robot)
    with pytest.raises(ArgumentError, match=r"'gravity'; it is left out here: .* become inputs by .*lift='gravity'"):
        fn.packed(q, v, a, gravity=np.zeros(3))
    J = aj.jacobian.bind(robot, frame=robot.bodies[-1].name)
    with pytest.raises(
        ArgumentError, match=r"has no argument 'expressed'; it is fixed already: to have another, bind that"
    ):
        J.packed(q, expressed="world")
    world = J.bind(expressed="world")
    assert np.array_equal(world.unpack(world.packed(q)), J(q, expressed="world"))


@kernel(x=3, y=3)
def third_by_name(x, y=None, z=2.0):
    return x * z if y is None else x * y * z


def test_no_argument_takes_the_place_of_another():
    x = np.arange(3.0)
    assert third_by_name.packed(x, z=3.0).tolist() == (3 * x).tolist()
    with pytest.raises(ArgumentError, match="at most 1 positional"):
        third_by_name.packed(x, 3.0)


def test_long_robots_are_not_packed():
    with pytest.raises(ArgumentError, match="served by loops of any length, whose results are not packed"):
        aj.inverse_dynamics.bind(robots.chain(200)).packed(*np.zeros((3, 200)))


def test_lifted_numbers_are_inputs_of_packed_kernels():
    robot = robots.puma560()
    fn, q = aj.mass_matrix.bind(robot, lift="inertias"), sample(robot)[0]
    heavy = 2 * robot.inertias
    assert np.array_equal(fn.unpack(fn.packed(q, inertias=heavy)), fn(q, inertias=heavy))


# --- any function -----------------------------------------------------------------------------------------------------


class Two(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@kernel(x=3)
def skew_and_ones(x):
    a, b, c = x * x
    return Two(np.array([[0, -c, b], [c, 0, -a], [-b, a, 2.5]]), np.ones(2))


def test_signs_and_constants():
    x = np.array([1.0, -2.0, 3.0])
    assert skew_and_ones.packed(x).first.tolist() == [9.0, 4.0, 1.0]
    assert skew_and_ones.packed(x).second.shape == (0,)
    assert skew_and_ones.packing.first.factors.tolist() == [[0, -1, 1], [1, 0, -1], [-1, 1, 2.5]]
    whole = skew_and_ones.unpack(*skew_and_ones.packed(x))
    assert type(whole) is Two
    assert np.array_equal(whole.first, skew_and_ones(x).first) and np.array_equal(whole.second, np.ones(2))


@kernel
def square(x):
    return x * x


def test_a_scalar_is_one_number():
    assert square.packed(3.0).tolist() == [9.0]
    assert square.unpack(square.packed(3.0)) == 9.0 and type(square.unpack(square.packed(3.0))) is np.float64
    assert square.unpack(square.packed(np.arange(4.0))).tolist() == [0, 1, 4, 9]


@kernel(x=3)
def inside(x):
    return skew_and_ones.unpack(*skew_and_ones.packed(x)).first @ x


def test_inside_other_kernels():
    x = np.array([[0.3, 0.4, -0.5]])
    want = skew_and_ones(x).first @ x[..., None]
    np.testing.assert_allclose(inside(x), want[..., 0], rtol=1e-15)
    aj.check_grads(inside, x[0])


def test_derivatives_and_packing_commute():
    x, squares = np.array([0.3, 0.4, -0.5]), kernel(lambda x: x * x, x=3)
    jacobian = squares.jacobian("x")
    assert jacobian.packed(x).tolist() == (2 * x).tolist()  # a diagonal
    assert np.array_equal(jacobian.unpack(jacobian.packed(x)), np.diag(2 * x))
    assert np.array_equal(squares.packed.jacobian("x")(x), np.diag(2 * x))


def test_packed_kernels_are_made_once_and_pickled():
    packed, unpack = aj.mass_matrix.bind(robots.puma560()).packed, aj.mass_matrix.bind(robots.puma560()).unpack
    assert packed is aj.mass_matrix.bind(robots.puma560()).packed
    assert pickle.loads(pickle.dumps(packed)) is packed and pickle.loads(pickle.dumps(unpack)) is unpack
    assert packed.packed is packed
    for same in (packed, aj.mass_matrix.packed.bind(robots.puma560())):
        assert same.unpack(same(np.zeros(6))).shape == same.packing.shape == (6, 6)
    assert aj.mass_matrix.packed(robots.puma560(), np.zeros(6)).shape == packed(np.zeros(6)).shape


@kernel(x=(..., 2))
def running_sum(x):
    return scan(lambda c, row: (c + row, c), np.zeros(2), x)[1]


def test_what_cannot_be_packed_is_told():
    with pytest.raises(ArgumentError, match="output 'out' is a sequence"):
        running_sum.packed(np.ones((5, 2)))
    with pytest.raises(ArgumentError, match=r"square.unpack: argument 'values' has shape \(4,\)"):
        square.unpack(np.ones(4))
    with pytest.raises(
        ArgumentError, match=r"needs argument 'second'; of a tuple write skew_and_ones.unpack\(\*values\)"
    ):
        skew_and_ones.unpack(skew_and_ones.packed(np.ones(3)))
    with pytest.raises(ArgumentError, match=r"mass_matrix.unpack needs the static argument\(s\) robot"):
        aj.mass_matrix.unpack(np.ones(3))
    with pytest.raises(ArgumentError, match=r"mass_matrix.packing needs the static argument\(s\) robot"):
        aj.mass_matrix.packing  # noqa: B018
