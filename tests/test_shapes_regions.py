"""Descriptors of regions and moments: laws, scikit-image and OpenCV as peers, and the worked examples."""

import cv2
import numpy as np
import pytest
from scipy import ndimage
from skimage import measure
from support.silhouettes import area, blob, turned

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.vision.shapes import (
    Boundary,
    basic_rectangle,
    convex_deficiency,
    crack_boundaries,
    hu_invariants,
    image_moments,
    region_descriptors,
    region_moments,
)

LETTER = np.zeros((8, 8), bool)
LETTER[1:7, 1:3], LETTER[5:7, 1:6] = True, True
PHI = [0.2608025, 0.01924488, 0.009643592, 0.0007997125, -1.298997e-6, -6.330331e-5, 1.801334e-6]


def labelled(seed: int, rows: int = 60, columns: int = 80) -> np.ndarray:
    """Random labels: some touch each other, and some have several parts and holes."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 9, (rows // 5, columns // 5))
    labels = np.kron(coarse, np.ones((5, 5), int))
    return np.where(ndimage.gaussian_filter(rng.random((rows, columns)), 1.0) > 0.47, labels, 0)


# --- moments ----------------------------------------------------------------------------------------------------------


def hu(image) -> np.ndarray:
    return hu_invariants(image_moments(image).normalized)


def test_hu_invariants_of_the_worked_example():
    """X28. The example has x = row, which mirrors the image: the transposed image has its numbers."""
    np.testing.assert_allclose(hu(LETTER.T), PHI, rtol=5e-7)
    np.testing.assert_allclose(hu(LETTER), [*PHI[:6], -PHI[6]], rtol=5e-7)
    np.testing.assert_allclose(
        measure.moments_hu(measure.moments_normalized(measure.moments_central(LETTER * 1.0))), PHI, rtol=5e-7
    )
    for k in range(4):
        np.testing.assert_allclose(hu(np.rot90(LETTER, k)), hu(LETTER), rtol=1e-9, atol=1e-16)
    np.testing.assert_allclose(hu(LETTER[:, ::-1]), hu(LETTER) * [1, 1, 1, 1, 1, 1, -1], rtol=1e-9, atol=1e-16)
    for times, first in ((2, 0.2677469), (8, 0.2699171)):
        larger = hu(np.kron(LETTER, np.ones((times, times))))
        assert larger[0] == pytest.approx(first, rel=5e-7)
        np.testing.assert_allclose(larger[1:], hu(LETTER)[1:], rtol=1e-9, atol=1e-16)


def test_hu_invariants_are_opencvs():
    rng = np.random.default_rng(0)
    for image in (
        rng.random((20, 30)),
        rng.integers(0, 255, (17, 9), dtype=np.uint8),
        rng.integers(0, 9999, (8, 8), np.uint16),
    ):
        want = cv2.HuMoments(cv2.moments(image)).ravel()
        np.testing.assert_allclose(hu(image), want, rtol=1e-9, atol=1e-22)


def test_hu_invariants_of_turned_density():
    """Far from pixels, the moments of a rotated Gaussian mixture are those of the first; scaling is exact, too."""
    v, u = np.mgrid[-60:61, -60:61]

    def scene(angle: float, scale: float) -> np.ndarray:
        blobs = turned(np.array([[-12.0, -6], [10, -4], [3, 14]]) * scale, angle)
        return sum(
            weight * np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * (4 * scale) ** 2))
            for weight, (x, y) in zip((1.0, 2.0, 0.7), blobs, strict=True)
        )  # type: ignore[return-value]

    want = hu(scene(0.0, 1.0))
    for angle, scale in ((0.3, 1.0), (1.2, 1.3), (4.0, 0.8)):
        np.testing.assert_allclose(hu(scene(angle, scale)) / want, 1 / scale ** np.zeros(7), rtol=1e-6)


def test_hu_is_a_kernel():
    """Batches, derivatives, and what it does in them."""
    etas = region_moments(labelled(1)).normalized
    found = hu_invariants(etas)
    assert found.shape == (len(etas), 7)
    np.testing.assert_allclose(found[2], hu_invariants.eager(etas[2]), rtol=1e-12)
    slope = hu_invariants.jacobian("normalized")(etas[0])
    step = 1e-6 * np.random.default_rng(0).normal(size=(4, 4))
    change = hu_invariants(etas[0] + step) - hu_invariants(etas[0] - step)
    np.testing.assert_allclose(change, 2 * np.einsum("ipq,pq->i", slope, step), atol=1e-12)


def test_moments_of_an_image_are_sums():
    rng = np.random.default_rng(2)
    f = rng.random((11, 7))
    v, u = np.mgrid[:11, :7]
    found = image_moments(f)
    mean = np.array([(u * f).sum(), (v * f).sum()]) / f.sum()
    np.testing.assert_allclose(found.centroid, mean)
    for p in range(4):
        for q in range(4 - p):
            np.testing.assert_allclose(found.raw[p, q], (u**p * v**q * f).sum())
            mu = ((u - mean[0]) ** p * (v - mean[1]) ** q * f).sum()
            np.testing.assert_allclose(found.central[p, q], mu, atol=1e-9)
            if p + q >= 2:
                np.testing.assert_allclose(found.normalized[p, q], mu / f.sum() ** ((p + q) / 2 + 1), atol=1e-12)
    assert not found.raw[3, 1:].any() and not found.central[2, 2]


def test_moments_of_all_regions_are_those_of_each():
    labels = labelled(3)
    found = region_moments(labels)
    assert found.labels.tolist() == sorted(set(labels.ravel().tolist()) - {0})
    for k, label in enumerate(found.labels):
        one = image_moments(labels == label)
        assert found.area[k] == (labels == label).sum()
        np.testing.assert_allclose(found.centroid[k], one.centroid, rtol=1e-12)
        np.testing.assert_allclose(found.central[k], one.central, rtol=1e-9, atol=1e-6)
        np.testing.assert_allclose(found.normalized[k], one.normalized, rtol=1e-9, atol=1e-12)


def test_moments_of_a_small_region_far_away():
    """About the centroid, no digit is lost: the region has the moments that it has at the origin."""
    labels = np.zeros((3000, 4000), np.uint8)
    labels[2991:2999, 3990:3998] = LETTER
    np.testing.assert_allclose(region_moments(labels).central, region_moments(LETTER).central, rtol=1e-10, atol=1e-9)


def test_bad_images_have_no_moments():
    for bad, message in (
        (np.zeros((3, 3)), "sum of all intensities is 0"),
        (np.full((3, 3), np.nan), "must be above 0"),
        (-np.ones((2, 2)), "-4"),
    ):
        with pytest.raises(ArgumentError, match=message):
            image_moments(bad)
    with pytest.raises(ArgumentError, match="whole numbers"):
        region_moments(np.ones((3, 3)))
    with pytest.raises(ArgumentError, match="label -1 is negative"):
        region_moments(np.array([[1, -1]]))
    empty = region_moments(np.zeros((3, 3), int))
    assert empty.labels.size == 0 and empty.central.shape == (0, 4, 4)


# --- descriptors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_descriptors_are_scikit_images(seed):
    labels = labelled(seed)
    found = region_descriptors(labels)
    names = (
        "label",
        "area",
        "centroid",
        "bbox",
        "euler_number",
        "axis_major_length",
        "axis_minor_length",
        "eccentricity",
        "orientation",
    )
    peer = measure.regionprops_table(labels, properties=names)
    assert np.array_equal(found.labels, peer["label"]) and np.array_equal(found.area, peer["area"])
    np.testing.assert_allclose(found.centroid, np.stack([peer["centroid-1"], peer["centroid-0"]], axis=1))
    boxes = np.stack([peer["bbox-1"], peer["bbox-0"], peer["bbox-3"] - 1, peer["bbox-2"] - 1], axis=1)
    assert np.array_equal(found.bounding_box, boxes)
    assert np.array_equal(found.euler_number, peer["euler_number"])
    np.testing.assert_allclose(found.ellipse_major, peer["axis_major_length"])
    np.testing.assert_allclose(found.ellipse_minor, peer["axis_minor_length"], atol=1e-9)
    np.testing.assert_allclose(found.ellipse_eccentricity, peer["eccentricity"], atol=1e-9)
    # Theirs is from the row axis v towards u.
    off = (np.pi / 2 - peer["orientation"] - found.orientation + np.pi / 2) % np.pi - np.pi / 2
    np.testing.assert_allclose(off, 0, atol=1e-9)


@pytest.mark.parametrize("connectivity", [4, 8])
def test_euler_number_is_parts_minus_holes(connectivity):
    for seed in range(6):
        labels = labelled(seed, 30, 40)
        found = region_descriptors(labels, connectivity=connectivity)
        near, far = (ndimage.generate_binary_structure(2, k) for k in (connectivity // 4, 3 - connectivity // 4))
        for k, label in enumerate(found.labels):
            parts = ndimage.label(labels == label, near)[1]  # type: ignore[index]
            holes = ndimage.label(np.pad(labels != label, 1, constant_values=True), far)[1] - 1  # type: ignore[index]
            assert found.euler_number[k] == parts - holes


def test_letters_a_and_b():
    """X33: the Euler numbers of the letters are 0 and -1."""
    draw = [cv2.putText(np.zeros((60, 60), np.uint8), letter, (10, 50), 0, 1.6, 1, 3) for letter in "AB"]
    assert [int(region_descriptors(image).euler_number[0]) for image in draw] == [0, -1]


def test_perimeter_is_the_length_of_the_contour_at_one_half():
    for seed in range(5):
        image = blob(np.random.default_rng(seed), 30, 40, 2.0)
        contours = measure.find_contours(np.pad(image, 1).astype(float), 0.5, fully_connected="high")
        want = sum(np.hypot(*np.diff(c, axis=0).T).sum() for c in contours)
        found = region_descriptors(image)
        np.testing.assert_allclose(found.perimeter, want)
        np.testing.assert_allclose(found.compactness, want**2 / image.sum())


def test_compactness_of_disks_and_squares():
    """X33: 4π and 16, as far as pixels allow: around a disk, contours of pixels are 5.5 % too long."""
    disk = np.hypot(*np.mgrid[-200:201, -200:201]) <= 199.7
    square = np.ones((400, 400), bool)
    found = region_descriptors(np.where(disk, 1, 0)), region_descriptors(square)
    assert 4 * np.pi < found[0].compactness[0] < 4 * np.pi * 1.055**2 * 1.01
    assert found[1].compactness[0] == pytest.approx(16, rel=5e-3)
    assert found[0].compactness[0] < found[1].compactness[0]


def test_axes_of_the_textbook():
    image = blob(np.random.default_rng(7), 25, 30, 2.0)
    found = region_descriptors(image)
    box = basic_rectangle(next(b for b in crack_boundaries(image) if not b.hole))
    np.testing.assert_allclose([found.major_axis[0], found.minor_axis[0]], [box.major, box.minor])
    assert found.eccentricity[0] == pytest.approx(box.eccentricity) and found.eccentricity[0] >= 1
    long = region_descriptors(np.ones((2, 30), bool))
    assert (
        long.major_axis[0] == pytest.approx(np.hypot(2, 30))
        and 0 <= long.ellipse_eccentricity[0] < 1 < long.eccentricity[0]
    )
    corners = np.array([[-0.5, -0.5], [29.5, -0.5], [29.5, 1.5], [-0.5, 1.5]])
    assert long.minor_axis[0] == pytest.approx(2 * area(corners) / np.hypot(2, 30))
    np.testing.assert_allclose(basic_rectangle(Boundary(corners)).minor, long.minor_axis[0])


def test_orientation_turns_from_u_to_v():
    v, u = np.mgrid[-40:41, -40:41]
    for angle in (-1.2, -0.4, 0.0, 0.7, 1.5):
        along, across = u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)
        image = (along / 35) ** 2 + (across / 12) ** 2 <= 1
        found = region_descriptors(image)
        assert found.orientation[0] == pytest.approx(angle, abs=0.01)
        np.testing.assert_allclose([found.ellipse_major[0], found.ellipse_minor[0]], [70, 24], rtol=0.01)


def test_labels_of_all_kinds():
    labels = labelled(9)
    want = region_descriptors(labels)
    for dtype in (np.uint8, np.int16, np.uint16, np.int32):
        found = region_descriptors(labels.astype(dtype))
        assert all(np.array_equal(a, b) for a, b in zip(found, want, strict=True))
    sparse = region_descriptors(np.where(labels > 0, labels.astype(np.int64) * 10**12, 0))  # far between
    assert sparse.labels.tolist() == [10**12 * k for k in want.labels] and np.array_equal(
        sparse.perimeter, want.perimeter
    )
    strided = region_descriptors(np.repeat(np.repeat(labels, 2, 0), 2, 1)[::2, ::2])
    assert np.array_equal(strided.euler_number, want.euler_number)
    none = region_descriptors(np.zeros((4, 4), bool))
    assert none.labels.size == 0 and none.bounding_box.shape == (0, 4) and none.eccentricity.shape == (0,)
    one = region_descriptors(np.ones((1, 1), bool))
    assert one.area[0] == 1 and one.ellipse_eccentricity[0] == 0 and one.major_axis[0] == pytest.approx(np.sqrt(2))
    for bad, message in (
        (np.ones((2, 2)), "whole numbers"),
        (np.zeros((0, 3), int), "no pixels"),
        (np.ones((2, 2, 3), int), "shape"),
    ):
        with pytest.raises(ArgumentError, match=message):
            region_descriptors(bad)
    with pytest.raises(ArgumentError, match="'connectivity' is 5"):
        region_descriptors(labels, connectivity=5)
    assert isinstance(want, tuple) and issubclass(ArgumentError, aj.AdjointError)


# --- images of few pixels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (7, 2), (2, 7), (1, 9), (9, 1)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.int32, np.float32, np.float64])
def test_moments_of_narrow_images_are_those_of_their_definition(shape, dtype):
    """OpenCV takes single floats in two columns for the corners of a polygon."""
    f = np.random.default_rng(0).integers(1, 200, shape).astype(dtype)
    v, u = np.indices(shape).astype(float)
    found = image_moments(f)
    for p, q in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (2, 1), (0, 3)):
        assert found.raw[p, q] == pytest.approx((u**p * v**q * f).sum(), rel=1e-12)


def test_moments_refuse_what_has_no_sum():
    for bad in (np.zeros((3, 3)), np.full((3, 3), np.nan), np.full((3, 3), 1e308), -np.ones((3, 3))):
        with pytest.raises(ArgumentError, match="sum of all intensities"):
            image_moments(bad)


@pytest.mark.parametrize(
    "pixels, missing",
    [
        ([(0, 0)], []),
        ([(2, 0), (6, 0)], [(3, 0), (4, 0), (5, 0)]),
        ([(0, 0), (4, 2)], [(2, 1)]),
        ([(1, 1), (3, 3), (6, 6)], [(2, 2), (4, 4), (5, 5)]),
        ([(0, 0), (3, 1)], []),
    ],
)
def test_deficiency_of_pixels_on_a_line(pixels, missing):
    """The hull of such pixels is a piece of a line, in which other pixels' centres may be."""
    image, wanted = np.zeros((2, 8, 8), bool)
    for marked, some in ((image, pixels), (wanted, missing)):
        for u, v in some:
            marked[v, u] = True
    assert (convex_deficiency(image) == wanted).all()
