"""Texture: the textbook's matrix and histogram, scikit-image as a peer, and strings that draw."""

import itertools

import numpy as np
import pytest
from skimage import data, feature

from adjoint.errors import ArgumentError
from adjoint.vision.shapes import (
    TEXTURE_RULES,
    cooccurrence,
    cooccurrence_descriptors,
    histogram_moments,
    histogram_texture,
    relative_smoothness,
    texture_derivation,
    texture_image,
    texture_places,
    texture_string,
)
from adjoint.vision.shapes import texture as texture_module

BOOK = np.array([[0, 0, 0, 1, 2], [1, 1, 0, 1, 1], [2, 2, 1, 0, 0], [1, 1, 0, 2, 0], [0, 0, 1, 0, 1]])


def test_the_textbooks_matrix():
    """X29: one to the right, one below; rows are of the lower right pixel."""
    A = cooccurrence(BOOK, (1, 1))
    assert A.tolist() == [[4, 2, 1], [2, 3, 2], [0, 2, 0]] and A.sum() == 16
    assert np.array_equal(cooccurrence(BOOK, (1, 1), rows="reference"), A.T)
    assert np.array_equal(cooccurrence(BOOK, (-1, -1)), A.T)
    found = cooccurrence_descriptors(A)
    assert found.maximum == 0.25 and found.difference_moment == 0.75 and found.uniformity == 42 / 256
    assert found.inverse_difference_moment == 0.515625
    assert found.entropy == pytest.approx(1.87345, abs=5e-6) and found.entropy_bits == pytest.approx(2.70282, abs=5e-6)
    assert cooccurrence_descriptors(A, 1).difference_moment == -0.125


def test_checkerboards():
    """X30, problems 8.14 and 8.15."""
    board = np.indices((5, 5)).sum(axis=0) % 2
    assert cooccurrence(board, (1, 0)).tolist() == [[0, 10], [10, 0]]
    assert cooccurrence(board, (2, 0)).tolist() == [[8, 0], [0, 7]]
    for m in (2, 3):
        large = np.kron(np.indices((6, 6)).sum(axis=0) % 2, np.ones((m, m), int))
        for displacement in ((2 * m, 0), (m, m), (0, -2 * m)):
            A = cooccurrence(large, displacement)
            assert A[0, 1] == A[1, 0] == 0 < A[0, 0]


@pytest.mark.parametrize("distance", [1, 4])
def test_matrices_are_scikit_images(distance):
    image = np.asarray(data.camera())[100:200, 150:260]
    angles = {0.0: (1, 0), np.pi / 4: (1, 1), np.pi / 2: (0, 1), 3 * np.pi / 4: (-1, 1)}  # theirs are from u to v
    peer = feature.graycomatrix(image, [distance], list(angles), levels=256)
    for k, (du, dv) in enumerate(angles.values()):
        if abs(du) + abs(dv) == 2:
            near = np.rint(distance * np.sqrt(0.5)).astype(int)  # they round to pixels on a circle
            step = (du * near, dv * near)
        else:
            step = (du * distance, dv * distance)
        assert np.array_equal(cooccurrence(image, step, levels=256, rows="reference"), peer[:, :, 0, k])
    found = cooccurrence_descriptors(np.moveaxis(peer[:, :, 0], -1, 0))
    np.testing.assert_allclose(found.difference_moment, feature.graycoprops(peer, "contrast")[0])
    np.testing.assert_allclose(found.uniformity, feature.graycoprops(peer, "ASM")[0])


def test_matrix_by_its_definition(monkeypatch):
    rng = np.random.default_rng(0)
    for dtype, k in ((np.uint8, 7), (np.uint16, 7), (np.int64, 5), (bool, 2)):
        image = rng.integers(0, k, (9, 11)).astype(dtype)
        for du, dv in ((1, 0), (0, 2), (-3, 1), (2, -4), (0, 0)):
            want = np.zeros((k, k), int)
            for v in range(9):
                for u in range(11):
                    if 0 <= v + dv < 9 and 0 <= u + du < 11:
                        want[int(image[v + dv, u + du]), int(image[v, u])] += 1
            assert np.array_equal(cooccurrence(image, (du, dv), levels=k), want)
            assert want.sum() == (9 - abs(dv)) * (11 - abs(du))
    image = rng.integers(0, 7, (50, 40)).astype(np.uint8)
    want = cooccurrence(image, (1, 2), levels=7)
    monkeypatch.setattr(texture_module, "_EXACT", 1000)  # in parts, as very large images are counted
    assert np.array_equal(cooccurrence(image, (1, 2), levels=7), want)
    monkeypatch.setattr(texture_module, "maybe_opencv", lambda: None)  # without OpenCV
    assert np.array_equal(cooccurrence(image, (1, 2), levels=7), want)


def test_laws_of_descriptors():
    """Entropy is largest, and uniformity least, if all elements are equal; a single element has none."""
    even = cooccurrence_descriptors(np.ones((4, 4)))
    assert even.entropy == pytest.approx(np.log(16)) and even.uniformity == 1 / 16
    single = np.zeros((4, 4))
    single[2, 2] = 9
    one = cooccurrence_descriptors(single)
    assert one.entropy == 0 and one.uniformity == 1 == one.maximum and one.difference_moment == 0
    rng = np.random.default_rng(1)
    A = rng.random((6, 5, 5))
    batch = cooccurrence_descriptors(A)
    assert batch.entropy.shape == (6,)
    assert (batch.entropy <= np.log(25)).all() and (batch.uniformity >= 1 / 25).all()
    for k in range(6):
        assert all(a[k] == pytest.approx(b) for a, b in zip(batch, cooccurrence_descriptors(A[k]), strict=True))
    # Transposing turns i - j around: odd moments change their sign.
    for order, sign in ((1, -1), (2, 1), (3, -1)):
        one, two = (cooccurrence_descriptors(x, order) for x in (A, A.swapaxes(1, 2)))
        np.testing.assert_allclose(two.difference_moment, sign * one.difference_moment, atol=1e-15)
        np.testing.assert_allclose(two.inverse_difference_moment, sign * one.inverse_difference_moment, atol=1e-15)


def test_histogram_texture():
    """X30, problem 8.13, and images of all kinds."""
    m = histogram_moments([0, 1, 2, 3], [0.1, 0.4, 0.3, 0.2])
    np.testing.assert_allclose(m, [1.6, 0.84, 0.072, 1.4832], rtol=1e-12)
    assert relative_smoothness(m[1]) == pytest.approx(0.456522, abs=5e-7)
    image = np.repeat([0, 1, 2, 3], [1, 4, 3, 2]).reshape(2, 5)
    for dtype in (np.int64, np.float64, np.uint8, np.uint16):
        found = histogram_texture(image.astype(dtype), span=1.0)
        np.testing.assert_allclose(found, [*m, 0.456522], rtol=1e-6)
    smooth, rough = (
        np.full((20, 20), 100, np.uint8),
        np.random.default_rng(0).integers(0, 256, (20, 20), dtype=np.uint8),
    )
    assert histogram_texture(smooth)[1:] == (0, 0, 0, 0)
    assert 0 < histogram_texture(rough).smoothness < 0.1 < 0.99 < histogram_texture(rough, span=1.0).smoothness
    # Scaled to 0 ... 1, the measure is the same: that is what the span is for.
    assert histogram_texture(rough / 255).smoothness == pytest.approx(histogram_texture(rough).smoothness)
    assert histogram_texture(rough.astype(np.uint16) * 257).smoothness == pytest.approx(
        histogram_texture(rough).smoothness
    )
    assert histogram_texture(np.eye(4, dtype=bool)).variance == pytest.approx(3 / 16)


def test_textures_tell_surfaces_apart():
    """Bricks, grass and gravel of scikit-image: each tile is nearest to its own kind."""
    images = [np.asarray(getattr(data, name)()) // 32 for name in ("brick", "grass", "gravel")]

    def describe(tile) -> np.ndarray:
        found = [cooccurrence_descriptors(cooccurrence(tile, d, levels=8)) for d in ((2, 0), (0, 2))]
        return np.array([x for part in found for x in (part.difference_moment, part.entropy, part.uniformity)])

    tiles = np.array(
        [[describe(image[i : i + 256, j : j + 256]) for i in (0, 256) for j in (0, 256)] for image in images]
    )
    known, unknown = tiles[:, :2].mean(axis=1), tiles[:, 2:]
    scale = tiles.std(axis=(0, 1))
    nearest = np.linalg.norm((unknown[:, :, None] - known) / scale, axis=-1).argmin(axis=-1)
    assert nearest.tolist() == [[0, 0], [1, 1], [2, 2]]


# --- structural texture -----------------------------------------------------------------------------------------------


def test_the_textbooks_string():
    """X31: nine rules give a block of three by three."""
    text = "aaabccbaa"
    steps = texture_derivation(text)
    assert steps[0] == "S" and steps[-1] == text and len(steps) == 10
    for before, after in itertools.pairwise(steps):
        symbol = before[-1]
        assert after.startswith(before[:-1]) and after[len(before) - 1 :] in TEXTURE_RULES[symbol]
    assert texture_image(text, np.ones((1, 1), int)).tolist() == [[1] * 3] * 3
    assert texture_places(text).tolist() == [[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1], [0, 2], [1, 2], [2, 2]]
    assert texture_image(text).shape == (27, 27)


def test_strings_of_blocks_and_others():
    for columns in (2, 3, 6):
        for rows in (1, 2, 5):
            text = texture_string(columns, rows)
            assert (
                texture_derivation(text) and texture_image(text, np.ones((1, 1))).tolist() == [[1.0] * columns] * rows
            )
    for text in ("", "b", "ab", "ac", "ba", "abca", "aabb", "x"):
        assert texture_derivation(text) == (), text
    assert texture_derivation("abcba") == ("S", "aS", "abA", "abcA", "abcbS", "abcba")
    stairs = texture_image("abbabba", np.ones((1, 1), int))  # structures that are not rectangular are derivable, too
    assert texture_derivation("abbabba") and stairs.tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1]]


def test_all_derivable_strings_and_no_others():
    """Second formulation: all sentences up to 7 letters, by rewriting."""
    forms, found = {"S"}, set()
    while forms:
        new = {form[:-1] + rule for form in forms for rule in TEXTURE_RULES[form[-1]]}
        found |= {form for form in new if form[-1] not in TEXTURE_RULES}
        forms = {form for form in new if form[-1] in TEXTURE_RULES and len(form) <= 7}
    texts = [""]
    for _ in range(7):
        texts = [text + letter for text in texts for letter in "abc"]
        assert {text for text in texts if texture_derivation(text)} == {
            text for text in found if len(text) == len(texts[0])
        }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cooccurrence(BOOK / 2.0), "requantise"),
        (lambda: cooccurrence(BOOK, (5, 0)), "are .5, 0. apart"),
        (lambda: cooccurrence(BOOK, (0.5, 0)), "displacement"),
        (lambda: cooccurrence(BOOK, 3), "displacement"),
        (lambda: cooccurrence(BOOK, levels=2), "0 to 1 are needed"),
        (lambda: cooccurrence(-BOOK), "values from -2"),
        (lambda: cooccurrence(BOOK * 5000), "too large"),
        (lambda: cooccurrence(BOOK, rows="columns"), "'displaced', 'reference'"),
        (lambda: cooccurrence(np.zeros((2, 2, 3), int)), "shape"),
        (lambda: cooccurrence_descriptors(np.ones((2, 3))), r"\(\.\.\., k, k\)"),
        (lambda: cooccurrence_descriptors(np.zeros((2, 2))), "positive sum"),
        (lambda: cooccurrence_descriptors(-np.ones((2, 2))), "0 or more"),
        (lambda: histogram_texture(BOOK, span=0.0), "span"),
        (lambda: histogram_texture(np.zeros((0, 0))), "no pixels"),
        (lambda: texture_derivation("a", {"S": ("aXY",)}), "the rule S -> aXY"),
        (lambda: texture_derivation("a", start="X"), "no rule for the start 'X'"),
        (lambda: texture_places("abx"), "a, b and c"),
        (lambda: texture_image("a", np.ones(3)), "primitive"),
        (lambda: texture_string(1, 3), "2 columns"),
    ],
)
def test_bad_textures_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.int64, np.uint64])
def test_matrices_of_all_whole_numbers_are_the_same(dtype):
    image = np.random.default_rng(0).integers(0, 2, (7, 9))
    assert (cooccurrence(image.astype(dtype), (-2, 1)) == cooccurrence(image, (-2, 1))).all()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: histogram_texture(np.array([[0.0, np.nan]])), "NaN"),
        (lambda: histogram_texture(np.array([[0.0, 1e308]])), "beyond"),
        (lambda: histogram_texture(np.eye(3), span=[1]), "'span'"),
        (lambda: histogram_texture(np.eye(3), span=0), "'span'"),
        (lambda: relative_smoothness(-1.0), "0 or more"),
        (lambda: relative_smoothness(1.0, span=0), "'span'"),
        (lambda: cooccurrence_descriptors(np.eye(2) * 1j), r"\(\.\.\., k, k\)"),
        (lambda: texture_derivation(3), "string of letters"),
        (lambda: texture_derivation("a", {"S": 3}), "rules must be a dict"),
        (lambda: texture_derivation("a", {"S": [3]}), "must give a letter"),
        (lambda: texture_derivation("a", start=[]), "no rule for the start"),
        (lambda: texture_places(["a"]), "a string of a, b and c"),
        (lambda: texture_image("aab", [1, [2]]), "the primitive"),
    ],
)
def test_arguments_of_textures_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
