"""The cheapest path along cracks: the book's examples, all paths of small images, Dijkstra's search of large ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from adjoint.errors import ArgumentError
from adjoint.vision.segmentation import crack_sweeps
from adjoint.vision.segmentation.edge_paths import edge_path

STEPS = {(1, 0): (0, -1, 0, 0), (-1, 0): (-1, 0, -1, -1), (0, 1): (0, 0, -1, 0), (0, -1): (-1, -1, 0, -1)}
"""For a step from corner (i, j): the offsets of p, on its right, and of q, on its left, from pixel (i, j)."""


def crack_cost(f, H, i, j, step):
    a, b, c, d = STEPS[step]
    return H - (float(f[i + a, j + b]) - float(f[i + c, j + d]))


def inside(f, i, j):
    """Corners where cracks meet, or at which a path down the image starts and ends."""
    return 0 <= i <= f.shape[0] and 0 < j < f.shape[1]


def all_paths(f, H):
    """The costs and corners of all paths from the first row to the last that meet no corner twice."""
    found = []

    def walk(path, cost):
        i, j = path[-1]
        if i == f.shape[0]:
            found.append((cost, list(path)))
            return
        for di, dj in STEPS:
            end = (i + di, j + dj)
            if end[0] > 0 and inside(f, *end) and end not in path and (i > 0 or di == 1):
                walk([*path, end], cost + crack_cost(f, H, i, j, (di, dj)))

    for j in range(1, f.shape[1]):
        walk([(0, j)], 0.0)
    return sorted(found)


def by_dijkstra(f, H):
    """The least cost, by SciPy's search in a graph that is made crack by crack."""
    rows, columns = f.shape
    number = {(i, j): i * columns + j for i in range(rows + 1) for j in range(1, columns)}
    edges = [
        (number[i, j], number[i + di, j + dj], crack_cost(f, H, i, j, (di, dj)))
        for (i, j), (di, dj) in itertools.product(number, STEPS)
        if i + di > 0 and i < rows and (i + di, j + dj) in number and (di or i > 0)
    ]
    a, b, cost = map(np.array, zip(*edges, strict=True))
    # A crack that costs nothing would be no entry of a sparse matrix: all cost a little more.
    graph = coo_array((cost + 1e-9, (a, b)), shape=((rows + 1) * columns,) * 2).tocsr()
    D = dijkstra(graph, indices=[number[0, j] for j in range(1, columns)], min_only=True)
    return min(D[number[rows, j]] for j in range(1, columns))


def corners(path):
    """The corners of a result as (row, column) on the lattice."""
    return [tuple(each) for each in (path.corners[:, ::-1] + 0.5).astype(int).tolist()]


METHODS = ("sweeps", "a_star", "uniform_cost")


@pytest.mark.parametrize("method", METHODS)
def test_problem_8_3(method):
    f = np.array([[2, 1, 0], [1, 1, 7], [6, 8, 2]])
    found = edge_path(f, direction="right", method=method)
    assert found.cost == 7
    assert found.costs.tolist() == [3, 1, 2, 1]
    # [(2,0),(1,0)] [(2,1),(1,1)] [(1,2),(1,1)] [(1,2),(0,2)], as (row, column)
    assert found.right[:, ::-1].tolist() == [[2, 0], [2, 1], [1, 2], [1, 2]]
    assert found.left[:, ::-1].tolist() == [[1, 0], [1, 1], [1, 1], [0, 2]]
    paths = all_paths(np.rot90(f, 3), 8)
    assert len(paths) == 8
    assert [cost for cost, _ in paths[:2]] == [7, 17]  # no other path is as cheap


@pytest.mark.parametrize("method", METHODS)
def test_figure_8_7(method):
    f = np.array([[7, 2, 2], [5, 7, 2], [5, 1, 0]], np.uint8)
    found = edge_path(f, method=method)
    assert found.cost == 10
    assert found.right[:, ::-1].tolist() == [[0, 0], [1, 1], [1, 1], [1, 1], [2, 0]]
    assert found.left[:, ::-1].tolist() == [[0, 1], [0, 1], [1, 2], [2, 1], [2, 1]]
    assert found.costs.tolist() == [2, 2, 2, 1, 3]
    assert [cost for cost, _ in all_paths(f, 7)[:2]] == [10, 12]


def random_image(seed, most):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, most, 2)
    levels = rng.choice([2, 3, 5, 256, 65536])
    f = rng.integers(0, levels, (rows, columns + 1))
    return f * rng.choice([1, 0.37]) if seed % 3 == 0 else f.astype(np.uint16)


def tightest(f):
    """The smallest H that is allowed: the steepest cracks cost nothing."""
    return max(np.abs(np.diff(f.astype(float), axis=axis)).max(initial=0) for axis in (0, 1))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_no_path_of_a_small_image_is_cheaper(seed):
    f = random_image(seed, 5)
    for H in (None, float(tightest(f))):
        best = all_paths(f, float(f.max()) if H is None else H)[0][0]
        for method in METHODS:
            found = edge_path(f, highest=H, method=method)
            np.testing.assert_allclose(found.cost, best, rtol=1e-9, atol=1e-7 * float(f.max()))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([np.inf, 0.8, -1.0]))
def test_all_methods_agree_with_dijkstra(seed, tight, fewer):
    """Sweeps that go on to the end, sweeps that may give up, and Dijkstra's search instead of them."""
    f = random_image(seed, 16)
    H = float(tightest(f)) if tight else None
    best = by_dijkstra(f, float(f.max()) if H is None else H)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crack_sweeps, "_FEWER", fewer)
        patch.setattr(crack_sweeps, "_FREE", fewer)
        found = [edge_path(f, highest=H, method=method) for method in METHODS]
    for each in found:
        np.testing.assert_allclose(each.cost, best, rtol=1e-8, atol=1e-6 * (1 + float(f.max())))
        lattice = corners(each)
        assert lattice[0][0] == 0 and lattice[-1][0] == f.shape[0]
        assert len(set(lattice)) == len(lattice)
        assert (np.abs(np.diff(lattice, axis=0)).sum(axis=1) == 1).all()
    assert found[1].expanded <= found[2].expanded  # a bound that is larger opens no more nodes


def test_paths_that_go_up():
    """A bright block with a bay: the cheap edge leads around the bay, up and down again."""
    f = np.zeros((40, 60), np.uint8)
    f[:, :20] = 255
    f[5:35, 20:50] = 255
    f[10:35, 30:40] = 0
    found = edge_path(f)
    assert found.cost == 0
    steps = np.diff(found.corners, axis=0)
    assert (steps[:, 1] < 0).sum() == 25  # up the far side of the bay
    assert edge_path(f, method="a_star").cost == 0
    assert edge_path(f, highest=2000).corners[:, 0].std() == 0  # where all cracks are dear, the straight path is best


@pytest.mark.parametrize("method", ["sweeps", "a_star"])
def test_directions_are_turned_images(method):
    f = np.random.default_rng(0).integers(0, 256, (17, 23)).astype(np.uint8)
    turned = {"down": 0, "right": 3, "up": 2, "left": 1}
    for direction, quarters in turned.items():
        found = edge_path(f, direction=direction, method=method)
        assert found.cost == edge_path(np.rot90(f, quarters).copy(), method=method).cost
        p, q = (f[tuple(each.T[::-1])].astype(float) for each in (found.right, found.left))
        np.testing.assert_array_equal(found.costs, f.max() - (p - q))
        step, to_p = np.diff(found.corners, axis=0), found.right - (found.corners[1:] + found.corners[:-1]) / 2
        # (u, v) has v down: turning from the step to p, on the right, is turning from u towards v.
        np.testing.assert_array_equal(step[:, 0] * to_p[:, 1] - step[:, 1] * to_p[:, 0], np.full(len(step), 0.5))
    ends = {name: edge_path(f, direction=name).corners[[0, -1]] for name in turned}
    assert ends["down"][:, 1].tolist() == [-0.5, 16.5] and ends["up"][:, 1].tolist() == [16.5, -0.5]
    assert ends["right"][:, 0].tolist() == [-0.5, 22.5] and ends["left"][:, 0].tolist() == [22.5, -0.5]


def test_edge_of_a_noisy_step_is_found():
    """Noise with a standard deviation of a quarter of the step moves the edge by a pixel or two, here and there."""
    rng = np.random.default_rng(2)
    v, u = np.mgrid[:150, :100]
    true = 50 + 12 * np.sin(v / 25)
    f = np.where(u < true, 140, 60) + rng.normal(0, 20, u.shape)
    found = edge_path(f)
    off = found.corners[:, 0] - (50 - 0.5 + 12 * np.sin(found.corners[:, 1] / 25))
    assert np.median(np.abs(off)) < 1.5


def test_constants_and_strips():
    assert edge_path(np.zeros((4, 3))).cost == 0
    assert len(edge_path(np.zeros((4, 3))).costs) == 4
    assert edge_path(np.full((4, 3), 9, np.uint8)).cost == 36
    assert edge_path(np.full((1, 2), 3)).cost == 3
    assert edge_path(np.array([[-5.0, 2.0]] * 3)).cost == 3 * (7 + 7)  # H is 7, that no cost is negative
    assert edge_path(np.array([[True, False]] * 3)).cost == 0
    big = np.array([[2**40, 0], [2**40, 0]])
    assert edge_path(big).cost == 0
    assert edge_path(big, method="a_star").cost == 0


@pytest.mark.parametrize(
    ("image", "options", "words"),
    [
        (np.zeros((5, 1)), {}, "two pixels beside each other"),
        (np.zeros((1, 5)), {"direction": "right"}, "two pixels beside each other"),
        (np.zeros((0, 5)), {}, "no pixels"),
        (np.full((3, 3), np.nan), {}, "NaN"),
        (np.array([[1.0, -np.inf]]), {}, "NaN or infinity"),
        (np.eye(3), {"highest": 0.5}, "must be 1"),
        (np.eye(3), {"highest": -1}, "highest"),
        (np.eye(3), {"direction": "north"}, "'down', 'right', 'up', 'left'"),
        (np.eye(3), {"method": "magic"}, "'sweeps', 'a_star', 'uniform_cost'"),
        (np.zeros((3, 3, 3)), {}, "gray"),
    ],
)
def test_bad_arguments_are_refused(image, options, words):
    with pytest.raises(ArgumentError, match=words):
        edge_path(image, **options)
