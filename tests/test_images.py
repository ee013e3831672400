"""Pixels: sampling and levels, neighbours, 4-, 8- and m-connectivity, distances; laws, fixtures and SciPy."""

import itertools

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import distance

from adjoint.errors import ArgumentError, SolveError
from adjoint.vision import images
from adjoint.vision.images import (
    adjacent,
    connected_components,
    distance_transform,
    gray_levels,
    image_bits,
    map_levels,
    neighbours,
    path_between,
    path_distance,
    path_distances,
    pixel_distance,
    requantise,
    subsample,
)

RNG = np.random.default_rng(7)
BAD_IMAGES = [np.zeros((0, 3)), np.zeros(4), np.zeros((2, 2, 3)), np.zeros((2, 2), complex), [["a", "b"]], None]


# --- sampling and quantization ----------------------------------------------------------------------------------------


def test_bits_of_an_image():
    """Problem 7.1, and a binary image, and levels that are no power of two."""
    assert image_bits(512, 512, 256) == 2_097_152 == 8 * 262_144
    assert image_bits(480, 640, 2) == 480 * 640
    assert image_bits(1, 1, 5) == 3
    with pytest.raises(ArgumentError, match="positive"):
        image_bits(0, 4)
    with pytest.raises(ArgumentError, match="levels"):
        image_bits(4, 4, 2.5)


def test_a_sampled_length_is_off_by_less_than_one_pixel_at_each_end():
    """Problem 7.3b: 2048 pixels over 1 m; a pixel is 0.488 mm, and a length errs by less than one pixel."""
    pitch = 1 / 2048
    start, length = RNG.uniform(0, 0.3, 2000), RNG.uniform(0.1, 0.6, 2000)
    at = (np.arange(2048) + 0.5) * pitch
    counted = ((at > start[:, None]) & (at <= (start + length)[:, None])).sum(axis=1) * pitch
    assert round(1e3 * pitch, 3) == 0.488
    assert np.abs(counted - length).max() <= pitch


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_gray_levels_are_weighted_sums(dtype):
    most = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1.0
    colours = (RNG.random((40, 30, 3)) * most).astype(dtype)
    g = gray_levels(colours)
    want = colours @ [0.299, 0.587, 0.114]
    assert g.dtype == dtype
    assert g.shape == (40, 30)
    rounded = {1.0: 1e-7, 255: 1.01, 65535: 2.01}[most]  # OpenCV has weights of 15 bits
    np.testing.assert_allclose(g, want, rtol=1e-6, atol=rounded)
    weights = (0.2125, 0.7154, 0.0721)
    np.testing.assert_allclose(
        gray_levels(colours, weights), colours @ weights, rtol=1e-6, atol=0.51 if most > 1 else 1e-7
    )


def test_gray_levels_without_opencv_differ_by_one_level_at_most(monkeypatch):
    colours = RNG.integers(0, 256, (50, 40, 3), dtype=np.uint8)
    with_opencv = gray_levels(colours)
    monkeypatch.setattr("adjoint.vision.images.sampling.maybe_opencv", lambda: None)
    without = gray_levels(colours)
    assert without.dtype == np.uint8
    assert np.abs(with_opencv.astype(int) - without).max() <= 1
    assert gray_levels(np.ones((2, 2, 3), np.uint16) * 65535).max() == 65535


def test_gray_levels_of_other_numbers_are_floats():
    assert gray_levels(np.ones((2, 2, 3), bool)).dtype == np.float64
    assert gray_levels(np.full((2, 2, 3), 10**6)).max() == pytest.approx(10**6)


@pytest.mark.parametrize("bad", [np.zeros((4, 4)), np.zeros((4, 4, 4)), np.zeros((0, 4, 3)), "image"])
def test_gray_levels_need_three_colours(bad):
    with pytest.raises(ArgumentError, match="gray_levels"):
        gray_levels(bad)


def test_gray_levels_need_three_weights():
    with pytest.raises(ArgumentError, match="weights"):
        gray_levels(np.zeros((2, 2, 3)), (0.5, np.nan, 0.5))


def test_fewer_pixels_and_levels():
    f = np.arange(256, dtype=np.uint8).reshape(16, 16)
    assert np.shares_memory(subsample(f, (2, 4)), f)
    assert np.array_equal(subsample(f, (2, 4)), f[::2, ::4])
    for levels in (2, 3, 16, 255, 256):
        few = requantise(f, levels)
        assert few.dtype == np.uint8
        assert np.unique(few).size == levels
        assert few[0, 0] == 0
        assert few[-1, -1] == 255
        assert np.abs(few.astype(int) - f).max() <= 255 / levels + 0.5
        assert levels > 128 or np.array_equal(requantise(few, levels), few)  # once is enough
        assert np.array_equal(requantise(f, levels, spread=False), f.astype(int) * levels // 256)
    assert np.array_equal(requantise(f, 256), f)
    assert np.array_equal(requantise(np.array([[0, 7]]), 2, of=8), [[0, 7]])
    np.testing.assert_allclose(requantise(np.array([[0.0, 0.49, 0.5, 1.0]]), 2), [[0, 0, 1, 1]])
    assert requantise(np.zeros((2, 2), np.float32), 4).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: requantise(np.zeros((2, 2)), 1), "levels"),
        (lambda: requantise(np.full((2, 2), 1.5), 4), "0 to 1"),
        (lambda: requantise(np.full((2, 2), np.nan), 4), "NaN"),
        (lambda: requantise(np.zeros((2, 2), int), 4), "levels="),
        (lambda: subsample(np.zeros((2, 2)), 0), "step"),
        (lambda: subsample(np.zeros((2, 2)), "ab"), "step"),
        (lambda: map_levels(np.zeros((2, 2)), [1, 2]), "whole numbers"),
        (lambda: map_levels(np.array([[3]]), [1, 2]), "0 to 1"),
        (lambda: map_levels(np.array([[-1]]), [1, 2]), "levels -1"),
        (lambda: map_levels(np.array([[1]]), [[1, 2]]), "table"),
    ],
)
def test_bad_levels_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.int64])
def test_levels_are_looked_up(dtype):
    f = RNG.integers(0, 2, (9, 5)).astype(dtype)
    for kind in (np.uint8, np.int16, np.int64, np.float32):
        table = np.arange(256)[::-1].astype(kind)
        assert np.array_equal(map_levels(f, table), table[f.astype(int)])


# --- neighbours and connectivity --------------------------------------------------------------------------------------


def test_neighbours_are_those_at_distance_one():
    at = np.array([3, 4])
    grid = np.stack(np.meshgrid(np.arange(9), np.arange(9)), axis=-1).reshape(-1, 2)
    for kind, metric in ((4, "city-block"), (8, "chessboard")):
        near = grid[pixel_distance(grid, at, metric) == 1]
        assert set(map(tuple, neighbours(at, kind))) == set(map(tuple, near))
    both = {tuple(x) for kind in (4, "diagonal") for x in neighbours(at, kind)}
    assert both == set(map(tuple, neighbours(at)))


def test_neighbours_stay_in_the_image():
    assert set(map(tuple, neighbours((0, 2), 8, size=(4, 3)))) == {(1, 2), (0, 1), (1, 1)}
    assert neighbours((0, 0), size=(1, 1)).shape == (0, 2)
    with pytest.raises(ArgumentError, match="kind"):
        neighbours((0, 0), 6)
    with pytest.raises(ArgumentError, match="pixel"):
        neighbours((0.5, 0))


def test_m_adjacency_of_the_lost_figure():
    """Fig. 7.19: the link from the pixel 2 to the upper right is left out, that to the lower right stays."""
    f, V = np.array([[0, 1, 1], [0, 2, 0], [0, 0, 1]]), {1, 2}
    eight = {(u, v) for u in range(3) for v in range(3) if adjacent(f, (1, 1), (u, v), V, 8)}
    m = {(u, v) for u in range(3) for v in range(3) if adjacent(f, (1, 1), (u, v), V)}
    assert eight == {(1, 0), (2, 0), (2, 2)}
    assert m == {(1, 0), (2, 2)}
    assert path_distance(f, (2, 0), (1, 1), V) == 2
    assert path_distance(f, (2, 0), (1, 1), V, 8) == 1


def test_adjacency_by_its_definition():
    """Against the definition with sets, at all pairs of pixels of random images; and it is symmetric."""
    for _ in range(5):
        f = RNG.integers(0, 4, (4, 5))
        V = {1, 3}
        pixels = [(u, v) for u in range(5) for v in range(4)]
        ok = {x for x in pixels if f[x[1], x[0]] in V}
        for p, q in itertools.product(pixels, pixels):
            n4, nd = ({tuple(x) for x in neighbours(p, kind)} for kind in (4, "diagonal"))
            both = p in ok and q in ok
            common = n4 & {tuple(x) for x in neighbours(q, 4)} & ok
            assert adjacent(f, p, q, V, 4) == (both and q in n4)
            assert adjacent(f, p, q, V, 8) == (both and q in n4 | nd)
            assert adjacent(f, p, q, V, "m") == (both and (q in n4 or (q in nd and not common)))


def breadth_first(f, start, V, connectivity):
    """The distances from a pixel, by a queue and `adjacent`."""
    rows, columns = f.shape
    far, front = {start: 0}, [start]
    for p in front:
        for q in map(tuple, neighbours(p, 8, size=(columns, rows))):
            if q not in far and adjacent(f, p, q, V, connectivity):
                far[q] = far[p] + 1
                front.append(q)
    want = np.full(f.shape, -1)
    for (u, v), d in far.items():
        want[v, u] = d
    return want if f[start[1], start[0]] in V else np.full(f.shape, -1)


@pytest.mark.parametrize("connectivity", [4, 8, "m"])
def test_distances_along_paths_by_a_queue(connectivity):
    for shape in ((9, 12), (1, 7), (6, 1), (1, 1)):
        f = RNG.choice([0, 59, 60, 61, 80], p=[0.15, 0.25, 0.3, 0.2, 0.1], size=shape)
        start = tuple(int(x) for x in RNG.integers(0, shape[::-1]))
        want = breadth_first(f, start, {59, 60, 61}, connectivity)
        assert np.array_equal(path_distances(f, start, {59, 60, 61}, connectivity), want)


@pytest.mark.parametrize("connectivity", [4, 8, "m"])
def test_paths_have_the_length_of_the_distance(connectivity):
    f = RNG.random((30, 40)) < 0.7
    f[0, 0] = True
    far = path_distances(f, (0, 0), connectivity=connectivity)
    ends = np.argwhere(far >= 0)
    for row, column in ends[RNG.integers(0, len(ends), 20)]:
        path = path_between(f, (0, 0), (column, row), connectivity=connectivity)
        assert len(path) == far[row, column] + 1 == path_distance(f, (column, row), (0, 0), None, connectivity) + 1
        assert all(adjacent(f, p, q, None, connectivity) for p, q in itertools.pairwise(path))
        assert len(set(map(tuple, path))) == len(path)


@pytest.mark.parametrize(("p1", "p3", "want"), [(0, 0, 2), (0, 1, 3), (1, 0, 3), (1, 1, 4)])
def test_m_distance_of_the_textbook(p1, p3, want):
    """The arrangement on p. 345, with its lost indentation put back: rows `. p3 p4`, `p1 p2 .`, `p . .`."""
    f = np.array([[0, p3, 1], [p1, 1, 0], [1, 0, 0]])
    assert path_distance(f, (0, 2), (2, 0), {1}) == want
    assert path_distance(f, (0, 2), (2, 0), {1}, 8) == 2


def test_distances_along_paths_in_a_full_image_are_the_metrics():
    """Problem 7.6. With no holes, m-paths are 4-paths."""
    full, grid = np.ones((6, 7)), np.stack(np.meshgrid(np.arange(7), np.arange(6)), axis=-1)
    for connectivity, metric in ((4, "city-block"), (8, "chessboard"), ("m", "city-block")):
        assert np.array_equal(path_distances(full, (2, 3), None, connectivity), pixel_distance(grid, [2, 3], metric))


def test_m_connected_components_are_8_connected_ones():
    """By definition, through the paths of each connectivity, and against SciPy."""
    f = RNG.integers(0, 3, (12, 14))
    for connectivity, structure in (
        (4, [[0, 1, 0], [1, 1, 1], [0, 1, 0]]),
        (8, np.ones((3, 3))),
        ("m", np.ones((3, 3))),
    ):
        labels, count = connected_components(f, {1, 2}, connectivity)
        peer = np.zeros(f.shape, np.int32)
        assert count == ndimage.label(f > 0, structure, output=peer)
        assert np.array_equal(labels, peer)
        for v, u in np.argwhere(labels)[::7]:
            reached = path_distances(f, (u, v), {1, 2}, connectivity) >= 0
            assert np.array_equal(reached, labels == labels[v, u])


def test_components_of_special_images():
    assert connected_components(np.zeros((3, 3)))[1] == 0
    assert connected_components(np.ones((1, 1), bool)).count == 1
    assert connected_components(np.array([[0.5, 0.0, 0.25]])).count == 2
    assert connected_components(np.array([[5, 6]]), set()).count == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: connected_components(np.ones((2, 2)), connectivity=6), "4, 8 or 'm'"),
        (lambda: connected_components(np.ones((2, 2)), values=3), "set of gray levels"),
        (lambda: connected_components(np.ones((2, 2)), values={"a"}), "set of gray levels"),
        (lambda: path_distances(np.ones((2, 2)), (2, 0)), "u from 0 to 1"),
        (lambda: path_distances(np.ones((2, 2)), (0, -1)), "outside"),
        (lambda: path_distances(np.ones((2, 2)), (0.5, 0)), "two whole numbers"),
        (lambda: path_distances(np.zeros((2, 2)), (0, 0), connectivity="x"), "connectivity"),
        (lambda: path_distance(np.ones((2, 2)), (0, 0), (0, 5)), "q is"),
        (lambda: adjacent(np.ones((2, 2)), (0, 0), (9, 9)), "q is"),
    ],
)
def test_bad_questions_about_paths(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


def test_no_path_is_said():
    f = np.array([[1, 0, 1]])
    assert path_distance(f, (0, 0), (2, 0)) == np.inf
    assert path_distance(f, (1, 0), (1, 0)) == np.inf
    assert path_distance(f, (0, 0), (0, 0)) == 0
    for goal in ((2, 0), (1, 0)):
        with pytest.raises(SolveError, match="no m-path"):
            path_between(f, (0, 0), goal)


@pytest.mark.parametrize("bad", BAD_IMAGES)
def test_connectivity_of_what_is_no_image(bad):
    for function in (lambda: connected_components(bad), lambda: path_distances(bad, (0, 0))):
        with pytest.raises(ArgumentError, match="image"):
            function()


# --- distances --------------------------------------------------------------------------------------------------------


def test_contours_of_equal_distance():
    """The diamonds and squares on p. 344."""
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(5)), axis=-1)
    far = pixel_distance(grid, [2, 2], "city-block")
    rows = ["".join(str(int(d)) if d <= 2 else "." for d in row) for row in far]
    assert rows == ["..2..", ".212.", "21012", ".212.", "..2.."]
    far = pixel_distance(grid, [2, 2], "chessboard")
    assert ["".join(str(int(d)) for d in row) for row in far] == ["22222", "21112", "21012", "21112", "22222"]


def test_distances_are_metrics_and_scipys():
    p, q, z = RNG.integers(-50, 50, (3, 200, 2)).astype(float)
    for metric, name in (("euclidean", "euclidean"), ("city-block", "cityblock"), ("chessboard", "chebyshev")):
        d = pixel_distance(p, q, metric)
        np.testing.assert_allclose(d, [getattr(distance, name)(a, b) for a, b in zip(p, q, strict=True)], rtol=1e-15)
        assert np.array_equal(d, pixel_distance(q, p, metric))
        assert (d <= pixel_distance(p, z, metric) + pixel_distance(z, q, metric) + 1e-12).all()
        assert (pixel_distance(p, p, metric) == 0).all()
    slope = pixel_distance.jacobian("q")(np.zeros(2), np.array([3.0, 4.0]))
    np.testing.assert_allclose(slope, [0.6, 0.8], rtol=1e-15)
    with pytest.raises(ArgumentError, match="metric"):
        pixel_distance([0, 0], [1, 1], "taxi")


@pytest.mark.parametrize("metric", ["euclidean", "city-block", "chessboard"])
def test_distance_transforms_by_brute_force(metric):
    f = RNG.random((12, 15)) < 0.8
    u, v = np.meshgrid(np.arange(15), np.arange(12))
    grid, background = np.stack([u, v], axis=-1), np.argwhere(~f)[:, ::-1]
    want = pixel_distance(grid[:, :, None], background, metric).min(axis=-1)
    np.testing.assert_allclose(distance_transform(f, metric), want, rtol=1e-14)
    np.testing.assert_allclose(distance_transform(255 * f.astype(np.uint8), metric), want, rtol=1e-14)


def test_distance_transforms_of_special_images():
    assert np.isinf(distance_transform(np.ones((3, 3)))).all()
    assert (distance_transform(np.ones((3, 3)), "city-block") == -1).all()
    assert (distance_transform(np.zeros((1, 1))) == 0).all()
    with pytest.raises(ArgumentError, match="two values"):
        distance_transform(np.array([[0, 1, 2]]))
    with pytest.raises(ArgumentError, match="metric"):
        distance_transform(np.ones((3, 3)), "taxi")


def test_names():
    assert set(dir(images)) == set(images.__all__)
    assert images.__all__ == sorted(images.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
