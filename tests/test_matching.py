"""Numeric recognition: nearest prototypes, correlation, shape numbers and strings."""

import cv2
import numpy as np
import pytest
from scipy import ndimage
from scipy.cluster.hierarchy import cophenet, fcluster
from scipy.spatial.distance import squareform
from skimage import data, feature
from sklearn.neighbors import NearestCentroid
from support.silhouettes import star, turned

from adjoint.errors import ArgumentError
from adjoint.vision.recognition.classifiers import classify, decision_values, fit_minimum_distance
from adjoint.vision.recognition.shape_matching import (
    shape_distance,
    similarity_degree,
    similarity_matrix,
    similarity_tree,
)
from adjoint.vision.recognition.string_matching import (
    angle_symbols,
    interior_angles,
    string_match,
    string_matches,
)
from adjoint.vision.recognition.templates import correlation_coefficients, match_template
from adjoint.vision.shapes import Boundary, resampled_boundary, shape_numbers, split_polygon

# --- the minimum-distance classifier ----------------------------------------------------------------------------------


def clusters(seed: int = 0) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(4, 3)) * 3
    names = [name for name in ("nut", "bolt", "washer", "screw") for _ in range(25)]
    return np.repeat(means, 25, axis=0) + rng.normal(size=(100, 3)), names


def test_prototypes_are_means_and_the_nearest_one_wins():
    x, names = clusters()
    classifier = fit_minimum_distance(x, names)
    assert classifier.classes == ("nut", "bolt", "washer", "screw")
    np.testing.assert_allclose(classifier.prototypes, x.reshape(4, 25, 3).mean(axis=1))
    other = np.random.default_rng(1).normal(size=(500, 3)) * 4
    found = classify(classifier, other)
    # (8.5-4) is (8.5-3), problem 8.19: |x - m|² = |x|² - 2 d(x).
    d = decision_values(classifier, other)
    np.testing.assert_allclose(found.distances**2, (other**2).sum(axis=1)[:, None] - 2 * d, rtol=1e-9, atol=1e-9)
    assert np.array_equal(found.indices, d.argmax(axis=1))
    peer = NearestCentroid().fit(x, names)
    assert found.classes == peer.predict(other).tolist()
    assert repr(classifier) == "<MinimumDistanceClassifier: 4 classes, 3 descriptors>"


def test_classes_may_have_different_numbers_of_samples():
    """N in (8.5-2) is the number of samples of the class."""
    found = fit_minimum_distance([[0.0], [2.0], [4.0], [10.0]], ["a", "a", "a", "b"])
    assert found.prototypes.tolist() == [[2.0], [10.0]]


def test_standardized_descriptors_have_no_unit():
    x, names = clusters(2)
    scaled = x * [1e-3, 1.0, 1e6]
    want = classify(fit_minimum_distance(x, names, standardize=True), x)
    found = classify(fit_minimum_distance(scaled, names, standardize=True), scaled)
    assert found.classes == want.classes
    np.testing.assert_allclose(found.distances, want.distances, rtol=1e-6)
    constant = fit_minimum_distance([[1.0, 5.0], [2.0, 5.0], [7.0, 5.0]], "aab", standardize=True)
    assert constant.scale[1] == 1 and np.isfinite(classify(constant, [[1.0, 5.0]]).distances).all()


def test_far_patterns_are_rejected():
    classifier = fit_minimum_distance([[2.0], [10.0]], ["nut", "bolt"])
    found = classify(classifier, [[3.0], [8.0], [99.0], [np.nan]], reject=5.0)
    assert found.classes == ["nut", "bolt", None, None] and found.indices.tolist() == [0, 1, -1, -1]
    assert classify(classifier, [np.nan]).classes == [None]
    assert classify(classifier, np.zeros((2, 3, 1))).indices.shape == (2, 3)
    for call, message in (
        (lambda: fit_minimum_distance([1.0, 2.0], "ab"), r"\(N, n\)"),
        (lambda: fit_minimum_distance([[1.0], [2.0]], "abc"), "3 classes"),
        (lambda: fit_minimum_distance([[1.0], [np.inf]], "ab"), "infinity"),
        (lambda: classify(classifier, [[1.0, 2.0]]), r"\(\.\.\., 1\)"),
        (lambda: decision_values(classifier, 3.0), r"\(\.\.\., 1\)"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()


# --- correlation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_the_worked_example_of_correlation(dtype):
    """X41."""
    w, f = np.array([[1, 2], [3, 4]], dtype), np.zeros((4, 4), dtype)
    f[1:3, 1:3] = 10 + 5 * w
    want = [[0.7746, 0.9393, 0.2582], [0.6325, 1, -0.2582], [-0.2582, -0.8468, -0.7746]]
    np.testing.assert_allclose(correlation_coefficients(f, w), want, atol=5e-5)


def test_coefficients_by_their_definition_and_peers():
    rng = np.random.default_rng(0)
    f, w = rng.random((20, 25)), rng.random((5, 4))
    found = correlation_coefficients(f, w)
    windows = np.lib.stride_tricks.sliding_window_view(f, w.shape).reshape(*found.shape, -1)
    for v, u in np.ndindex(found.shape):
        assert found[v, u] == pytest.approx(np.corrcoef(windows[v, u], w.ravel())[0, 1], abs=2e-6)
    np.testing.assert_allclose(found, feature.match_template(f, w), atol=2e-6)
    np.testing.assert_allclose(correlation_coefficients(3 * f + 7, 0.1 * w), found, atol=1e-5)  # of any gain and offset
    assert found.dtype == np.float32 and (np.abs(found) <= 1).all()


def test_flat_windows_have_no_correlation():
    rng = np.random.default_rng(1)
    for scale in (1e-3, 1.0, 255.0, 1e4):
        f = (rng.random((40, 40)) * scale).astype(np.float32)
        f[5:30, 8:35] = 0.37 * scale
        found = correlation_coefficients(f, rng.random((6, 7)).astype(np.float32))
        assert not found[5:25, 8:29].any() and found[0, 0] != 0
    for flat in (np.full((3, 3), 7, np.uint8), np.zeros((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(ArgumentError, match=r"the template is flat, or has a NaN|an image has a NaN"):
            correlation_coefficients(np.asarray(data.camera()), flat)


def test_templates_are_found_at_their_centre():
    image = np.asarray(data.camera())
    template = image[120:151, 200:241]
    found = match_template(image, template)
    np.testing.assert_allclose(found.centers, [[220, 135]], atol=0.05)
    assert found.coefficients[0] == pytest.approx(1, abs=1e-5)
    even = match_template(image, image[120:150, 200:240], subpixel=False)
    assert even.centers.tolist() == [[219.5, 134.5]]
    assert match_template(image, template[::-1, ::-1], accept=0.95).centers.shape == (0, 2)
    assert match_template(image, image).centers.tolist() == [[255.5, 255.5]]


def test_peaks_between_pixels():
    """A smooth image that is shifted by a part of a pixel: the peak is found to a twentieth of a pixel."""
    rng = np.random.default_rng(2)
    smooth = ndimage.gaussian_filter(rng.random((80, 90)), 3.0)
    template = smooth[30:51, 40:61]
    for du, dv in ((0.0, 0.0), (0.3, -0.4), (-0.25, 0.45)):
        moved = ndimage.shift(smooth, (dv, du), order=5, mode="nearest")
        [center] = match_template(moved, template).centers
        np.testing.assert_allclose(center, [50 + du, 40 + dv], atol=0.05)


def test_several_matches_keep_apart():
    rng = np.random.default_rng(3)
    image, template = rng.random((100, 120)) * 0.1, rng.random((9, 11))
    places = [(10, 20), (60, 15), (95, 80)]
    for u, v in places:
        image[v : v + 9, u : u + 11] += template
    found = match_template(image, template, most=5, accept=0.8, subpixel=False)
    assert {tuple(c) for c in found.centers - [5, 4]} == set(map(tuple, np.array(places, float)))
    assert (np.diff(found.coefficients) <= 0).all()
    near = match_template(image, template, most=40, accept=-1.0, apart=20, subpixel=False)
    apart = np.abs(near.centers[:, None] - near.centers).max(axis=-1)[np.triu_indices(len(near.centers), 1)]
    assert apart.min() >= 20
    assert len(match_template(image, template, most=0).centers) == 0


def test_bad_templates_are_named():
    image = np.asarray(data.camera())
    for call, message in (
        (lambda: correlation_coefficients(image[:5, :5], image[:6, :4]), r"the template \(6, 4\) is larger"),
        (lambda: match_template(image, image[:9, :9], accept=2.0), "accept"),
        (lambda: match_template(image, np.zeros((2, 2, 3))), "shape"),
        (lambda: match_template(np.full((9, 9), np.nan), np.eye(3)), "NaN"),
        (lambda: match_template(image, image[:9, :9], most=-1), "whole number"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    mixed = correlation_coefficients(image, image[:9, :9].astype(float))
    assert cv2.minMaxLoc(mixed)[3] == (0, 0)


# --- shape numbers ----------------------------------------------------------------------------------------------------

MATRIX = np.full((6, 6), 8.0)  # X35: A to F
MATRIX[0, 1:] = MATRIX[1:, 0] = 6
MATRIX[1, 4] = MATRIX[4, 1] = 10
MATRIX[2, 5] = MATRIX[5, 2] = 12
np.fill_diagonal(MATRIX, np.inf)


def tables() -> list[dict[int, str]]:
    """Tables of shape numbers that agree as far as the matrix says."""
    return [
        {k: "".join("1" if MATRIX[i, j] >= k else "0" for j in range(6)) for k in range(4, 16, 2)} for i in range(6)
    ]


def test_similarity_matrix_and_tree_of_the_textbook():
    """X35, Fig. 8.53: F is the best match of C; the tree joins C and F, B and E, then D, and A last."""
    assert np.array_equal(similarity_matrix(tables()), MATRIX)
    D = np.where(np.isinf(MATRIX), 0.0, 1 / MATRIX)
    for i, j, k in np.ndindex(6, 6, 6):
        assert D[i, k] <= max(D[i, j], D[j, k])  # (8.5-7c)
    others = np.where(np.isinf(MATRIX), 0, MATRIX)
    assert others[2].argmax() == 5 and others[4].argmax() == 1
    tree = similarity_tree(MATRIX)
    assert tree[0, :2].tolist() == [2, 5] and tree[0, 2] == pytest.approx(1 / 12)
    assert tree[1, :2].tolist() == [1, 4] and tree[-1, 2] == pytest.approx(1 / 6)
    np.testing.assert_allclose(squareform(cophenet(tree)), D)  # without loss
    groups = fcluster(tree, 1 / 8 + 1e-9, "distance")
    assert len(set(groups[1:])) == 1 and groups[0] != groups[1]


def test_degree_and_distance():
    a, b, *_ = tables()
    assert similarity_degree(a, b) == 6 and shape_distance(a, b) == 1 / 6
    assert similarity_degree(a, a) == np.inf and shape_distance(a, a) == 0
    assert similarity_degree({4: "x"}, {4: "y"}) == 0 and shape_distance({4: "x"}, {4: "y"}) == np.inf
    with pytest.raises(ArgumentError, match="no order in common"):
        similarity_degree({4: "3333"}, {6: "033033"})
    for bad in (np.ones((2, 3)), np.ones((1, 1)), -np.ones((3, 3)), np.arange(9.0).reshape(3, 3)):
        with pytest.raises(ArgumentError, match="similarity_tree"):
            similarity_tree(bad)


@pytest.mark.slow
def test_similar_shapes_of_images_and_boundaries():
    """Turned and scaled shapes are the same up to all orders; other shapes are not."""
    rng = np.random.default_rng(0)
    shapes = [star(3, 30, 14, 0.2) + rng.normal(size=(6, 2)) * 4, star(4, 30, 8, 0.5) + rng.normal(size=(8, 2)) * 3]
    given = [Boundary(2 * turned(shape, angle)) for shape in shapes for angle in (0.0, 1.0, 2.5)]
    degrees = similarity_matrix(given)
    same = np.kron(np.eye(2), np.ones((3, 3))).astype(bool)
    assert np.isinf(degrees[same]).all() and (degrees[~same] >= 6).all() and np.isfinite(degrees[~same]).all()
    bar, block = np.ones((2, 40), bool), np.ones((5, 6), bool)
    assert similarity_degree(bar, bar.T) == np.inf
    assert similarity_degree(bar, block) == similarity_degree(shape_numbers(bar), shape_numbers(block)) == 6


# --- strings ----------------------------------------------------------------------------------------------------------

ONE = [[16.0], [9.6, 26.3], [5.07, 8.1, 10.3], [4.67, 7.2, 10.3, 14.2], [4.67, 7.2, 10.3, 8.5, 23.7]]
TWO = [[33.5], [4.75, 5.8], [3.6, 4.23, 19.3], [2.83, 3.25, 9.17, 18.3], [2.63, 3.0, 7.71, 13.5, 27.0]]
CROSS = [
    [1.24, 1.5, 1.32, 1.47, 1.55, 1.48], [1.18, 1.43, 1.32, 1.47, 1.55, 1.48], [1.02, 1.18, 1.19, 1.32, 1.39, 1.48],
    [1.02, 1.18, 1.19, 1.32, 1.39, 1.40], [0.93, 1.07, 1.08, 1.19, 1.24, 1.25], [0.89, 1.02, 1.02, 1.14, 1.11, 1.18],
]  # fmt: skip


def shown(ratio: float) -> set[float]:
    """How a table may show a ratio: with one or two digits, rounded either way."""
    return {float(f(ratio * 10**n) / 10**n) for n in (1, 2) for f in (np.rint, np.floor, np.ceil)}


@pytest.mark.parametrize(("table", "lengths"), [(ONE, (85, 82, 79, 76, 74)), (TWO, (69, 68, 61, 58, 56))])
def test_tables_of_the_textbook_are_ratios(table, lengths):
    """X36: with these lengths of the longer strings, every entry is A / (n - A) for a whole number A."""
    rng = np.random.default_rng(0)
    for row in table:
        for j, R in enumerate(row):
            n = lengths[j]
            fits = [A for A in range(n) if any(abs(R - x) < 1e-9 for x in shown(A / (n - A)))]
            assert fits, (R, n)
            first = rng.integers(0, 8, n)
            wrong = rng.permutation(n)[: n - fits[0]]
            second = first.copy()
            second[wrong] = (second[wrong] + rng.integers(1, 8, len(wrong))) % 8
            found = string_match(first.tolist(), second.tolist(), cyclic=False)
            assert (found.matches, found.others) == (fits[0], n - fits[0])
            assert any(abs(R - x) < 1e-9 for x in shown(found.ratio))


def test_claims_about_the_tables():
    """Within a class all ratios are larger than across; the cross table holds misprints, but not of this size."""
    one, two, cross = (np.concatenate([np.ravel(row) for row in table]) for table in (ONE, TWO, CROSS))
    assert one.min() == 4.67 and two.min() == 2.63 and cross.max() == 1.55
    assert min(row[0] for row in ONE) == 4.67 > 1.24 == max(row[0] for row in CROSS)


def test_small_strings():
    """X36, our own test."""
    assert string_match("abcdab", "abccab", cyclic=False) == (5, 1, 5.0, 0)
    assert string_match("abcdab", "dababc").ratio == np.inf and string_match("abcdab", "dababc", cyclic=False).ratio < 1
    assert string_match("aaa", "bbb").ratio == 0
    assert string_match("abc", "xxabcx") == (3, 3, 1.0, 2)


@pytest.mark.parametrize("sizes", [(5, 5), (7, 12), (12, 7), (300, 300), (150, 400)])
def test_best_shift_is_the_best_of_all(sizes):
    """Short strings are compared directly, long ones by Fourier transforms; both agree with the definition."""
    rng = np.random.default_rng(sum(sizes))
    for symbols in (2, 8):
        first, second = (rng.integers(0, symbols, n).tolist() for n in sizes)
        short, long = (first, second) if sizes[0] <= sizes[1] else (second, first)
        counts = [sum(a == b for a, b in zip(short, long[s:] + long[:s], strict=False)) for s in range(len(long))]
        found = string_match(first, second)
        assert found.matches == max(counts) and found.shift == counts.index(max(counts))
        assert found.others == max(sizes) - found.matches == string_match(second, first).others
        assert found.ratio == pytest.approx(found.matches / found.others if found.others else np.inf)
    turned_string = second[3:] + second[:3]
    assert string_match(second, turned_string).ratio == np.inf  # B = 0 if and only if they are equal (P8.21)


def test_table_of_strings():
    strings = ["112233", "122331", "112244", "888888"]
    table = string_matches(strings)
    assert np.array_equal(table, table.T) and np.isinf(np.diag(table)).all() and table[0, 1] == np.inf
    assert table[0, 2] == 4 / 2 and not table[3, :3].any()
    assert np.array_equal(string_matches(strings[:2], strings), table[:2])
    assert string_matches(strings, cyclic=False)[0, 1] < table[0, 1]


def test_angles_become_symbols():
    """Fig. 8.54: s1 to s8 are steps of 45°; upper bounds are inclusive."""
    square = np.array([[0, 0], [4, 0], [4, 4], [0, 4]], float)
    for angle in np.linspace(0, 6, 20):
        assert angle_symbols(turned(square, angle)) == "2222"
    corner = np.array([[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4]])
    assert angle_symbols(corner) == "222622" and angle_symbols(corner, 4) == "111311"
    octagon = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], axis=1)
    assert angle_symbols(octagon) == "3" * 8  # exactly 135°
    for points in (star(), corner):  # the angles of a polygon of n corners add up to (n - 2) 180°
        angles = interior_angles(points)
        assert angles.sum() == pytest.approx((len(points) - 2) * np.pi) and (angles > 0).all()
    for bad, message in ((square[:2], "3 or more"), (square[[0, 0, 1, 2]], "same point")):
        with pytest.raises(ArgumentError, match=message):
            interior_angles(bad)
    with pytest.raises(ArgumentError, match="1 to 9"):
        angle_symbols(square, 12)
    with pytest.raises(ArgumentError, match="empty"):
        string_match("", "a")


def test_strings_tell_two_classes_of_boundaries_apart():
    """As in Fig. 8.54: noisy boundaries of two shapes, polygons of them, strings of their angles."""
    rng = np.random.default_rng(4)

    def sample(points: np.ndarray) -> str:
        noisy = resampled_boundary(turned(points, rng.uniform(0, 6)), 300) + rng.normal(size=(300, 2)) * 0.1
        return angle_symbols(split_polygon(noisy, 2.0))

    gears = [sample(star(9, 30, 22)) for _ in range(5)]
    stars = [sample(star(5, 30, 8)) for _ in range(5)]
    inside = np.concatenate([string_matches(group)[np.triu_indices(5, 1)] for group in (gears, stars)])
    assert inside.min() > string_matches(gears, stars).max()


def test_strings_of_many_symbols_match_as_one_by_one():
    """Rare and frequent symbols are counted in two ways; both agree with all shifts compared one by one."""
    rng = np.random.default_rng(0)
    for symbols in (2, 6, 60, 100_000):
        first, second = rng.integers(0, symbols, 300), rng.integers(0, symbols, 421)
        first[:50] = second[17:67]
        matches = [np.count_nonzero(first == np.roll(second, -s)[:300]) for s in range(421)]
        found = string_match(first.tolist(), second.tolist())
        assert (found.matches, found.shift) == (max(matches), int(np.argmax(matches)))


def test_a_long_string_of_numbers_is_matched_in_time():
    """With one transform for each symbol, this would take a minute."""
    values = np.random.default_rng(0).normal(size=30_000).tolist()
    assert string_match(values, values[500:] + values[:500]).ratio == np.inf


def test_arguments_of_recognition_are_named():
    classifier = fit_minimum_distance([[2.0], [10.0]], ["nut", "bolt"])
    for call, message in (
        (lambda: classify(3, [1.0]), "MinimumDistanceClassifier"),  # type: ignore[arg-type]
        (lambda: classify(classifier, [1.0], reject=-1), "'reject'"),
        (lambda: classify(classifier, [1e308]), "beyond"),
        (lambda: fit_minimum_distance([[1.0]], 3), "one for each pattern"),  # type: ignore[arg-type]
        (lambda: fit_minimum_distance([[1.0]], [[1]]), "one for each pattern"),  # type: ignore[list-item]
        (lambda: string_match(3, "a"), "a text, or a sequence"),  # type: ignore[arg-type]
        (lambda: string_match([[1]], "a"), "hashable"),
        (lambda: string_matches(3), "sequences of strings"),  # type: ignore[arg-type]
        (lambda: similarity_matrix(3), "sequence of shapes"),  # type: ignore[arg-type]
        (lambda: angle_symbols([[0, 0], [1, 0], [1, 1]], np.ones(3)), "'symbols'"),  # type: ignore[arg-type]
        (lambda: match_template(np.eye(5), np.eye(2), accept="x"), "'accept'"),  # type: ignore[arg-type]
        (lambda: match_template(np.eye(5), np.eye(2), apart=-1), "'apart'"),
        (lambda: match_template(np.eye(5) * 1e300, np.eye(2)), "single precision"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
