"""Images of unusual dtypes and layouts: the same levels give the same result, or a clear error."""

import numpy as np
import pytest
from scipy import ndimage

from adjoint.errors import ArgumentError
from adjoint.vision import images, segmentation
from adjoint.vision.image_checks import colour, gray


def _levels(shape=(9, 14)) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 200, shape)


FILTERS = {
    "sobel": lambda f: images.sobel(f).u,
    "mean": images.mean_filter,
    "median": images.median_filter,
    "median 7": lambda f: images.median_filter(f, 7),
    "erosion": images.erosion,
    "enhanced": images.enhance_locally,
    "equalised": lambda f: images.equalise_locally(f, 31),
    "grown": lambda f: segmentation.grow_regions(f, [(3, 2), (7, 5)], 40),
    "difference": lambda f: segmentation.difference_image(f, f[::-1], 20),
    "split": lambda f: segmentation.split_and_merge(f, segmentation.Uniformity("range", 30)).labels,
}
LAYOUTS = {
    "fortran": np.asfortranarray,
    "backwards": lambda f: f[::-1, ::-1].copy()[::-1, ::-1],
    "strided": lambda f: np.repeat(np.repeat(f, 2, axis=0), 3, axis=1)[::2, ::3],
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_in_memory_do_not_matter(name, layout):
    for kind in (np.uint8, np.uint16, np.float32):
        f = _levels().astype(kind)
        g = LAYOUTS[layout](f)
        g.flags.writeable = False
        assert np.array_equal(FILTERS[name](g), FILTERS[name](f))


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("kind", [np.uint16, np.float32, np.float64])
def test_the_byte_order_of_another_machine_does_not_matter(name, kind):
    """FITS and TIFF files often have it. The result has the byte order of this machine."""
    f = _levels().astype(kind)
    swapped = FILTERS[name](f.astype(f.dtype.newbyteorder()))
    assert np.array_equal(swapped, FILTERS[name](f)) and swapped.dtype == FILTERS[name](f).dtype


@pytest.mark.parametrize("name", FILTERS)
def test_long_floats_are_taken_as_float64(name):
    f = _levels().astype(float)
    assert np.array_equal(FILTERS[name](f.astype(np.longdouble)), FILTERS[name](f))


def test_pixels_that_are_infinite_in_both_frames_have_not_moved():
    f, g = np.array([[1.0, np.inf, 3.0]]), np.array([[1.0, np.inf, 8.0]])
    assert segmentation.difference_image(f, g, 1).tolist() == [[False, False, True]]


def test_checks_copy_only_what_must_be():
    for kind in (bool, np.uint8, np.int64, np.float16, np.float64):
        assert (f := np.ones((2, 3), kind)) is gray(f, "test")
        assert (f := np.ones((2, 3, 3), kind)) is colour(f, "test")
    assert gray(np.ones((2, 2), ">f4"), "test").dtype == np.float32


def test_floats_of_16_bits_keep_many_levels():
    """float16 ends at 65504, so that numbers of levels do not fit into it; float32 has the same levels."""
    f = np.linspace(0, 1, 40).astype(np.float16).reshape(5, 8)
    wide = f.astype(np.float32)
    assert np.array_equal(images.histogram(f, 65536), images.histogram(wide, 65536))
    assert np.allclose(
        images.specify_histogram(f, np.ones(65536), 65536),
        images.specify_histogram(wide, np.ones(65536), 65536),
        atol=1e-3,
    )
    fine = images.requantise(f, 65536)
    assert fine.dtype == np.float16 and np.abs(fine - wide).max() < 1e-3


def test_gradients_of_16_bit_floats_are_linked_as_others():
    """Products of gradients of 300 do not fit into float16."""
    u, v = np.full((4, 6), 300.0), np.zeros((4, 6))
    for kind in (np.float16, np.float32, np.float64):
        assert (segmentation.link_edges((u.astype(kind), v.astype(kind)), stronger_than=1) == 1).all()
        runs = segmentation.edge_runs((v.astype(kind), u.astype(kind)), along="rows", stronger_than=1)
        assert runs.ends.tolist() == [[0, k, 5, k] for k in range(4)]
    huge = segmentation.link_edges(np.float32([[[1e30, 1e30]], [[0, 0]]]), stronger_than=1)
    assert huge.tolist() == [[1, 1]]


def test_levels_of_64_bits_do_not_wrap():
    f = np.full((5, 5), 2**62, np.int64)
    f[2, 2] = 2**63 - 1
    g = images.enhance_locally(f, 3, gain_limits=(50, 50))
    assert g.min() >= -(2**63) and g[2, 2] > 2**62  # not below 0, where a sum beyond the end would be


def test_an_element_without_its_middle_may_meet_no_pixel():
    """The least of no levels is the largest one that the dtype has."""
    left = np.array([[1, 0, 0]])
    for kind, most in ((np.uint8, 255), (np.int8, 127), (np.uint16, 65535)):
        f = np.full((2, 3), 5, kind)
        assert images.erosion(f, left).tolist() == [[most, 5, 5]] * 2
    assert np.isinf(images.erosion(np.ones((2, 3), np.float16), left)[:, 0]).all()


def test_a_median_of_long_floats_is_scipys():
    f = np.random.default_rng(1).normal(size=(7, 9))
    assert np.array_equal(images.median_filter(f.astype(np.longdouble), 5), ndimage.median_filter(f, 5, mode="nearest"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: segmentation.edge_pixels(np.array([[2**30]])), "largest label is 1073741824"),
        (lambda: segmentation.curve_peaks([1, 2]), "CurveVotes"),
        (lambda: images.gradient_direction(None), "gradient_direction: a pair"),
        (lambda: images.gradient_magnitude(np.zeros(5)), "gradient_magnitude: a pair"),
        (lambda: images.gradient_magnitude((np.zeros(3), np.zeros(2))), "of one shape"),
        (lambda: segmentation.minimum_error_threshold([[1, 2], [3]]), "counts"),
    ],
)
def test_junk_is_named(make, says):
    with pytest.raises(ArgumentError, match=says):
        make()
