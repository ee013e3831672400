"""Filters: masks, Fourier transforms, means and medians, Unger's rules, morphology, gradients; laws and peers."""

import numpy as np
import pytest
import skimage.data
import skimage.filters
from scipy import ndimage

from adjoint.errors import ArgumentError, MissingPackageError
from adjoint.vision.images import (
    POINT_MASK,
    Gradient,
    apply_mask,
    average_frames,
    closing,
    dilation,
    erosion,
    first_differences,
    fourier_1d,
    fourier_2d,
    gradient_direction,
    gradient_edges,
    gradient_magnitude,
    inverse_fourier_1d,
    inverse_fourier_2d,
    isolated_points,
    laplacian,
    mean_filter,
    median_filter,
    opening,
    smooth_binary,
    sobel,
)

RNG = np.random.default_rng(11)
DTYPES = [bool, np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]
BORDERS = {"nearest": "nearest", "mirror": "mirror", "reflect": "reflect", "zero": "constant"}
FILTERS = [mean_filter, median_filter, sobel, laplacian, first_differences, lambda f: apply_mask(f, POINT_MASK)]


def picture(dtype=np.uint8, shape=(31, 45)) -> np.ndarray:
    f = RNG.integers(0, 100, shape)
    return (f > 50) if dtype is bool else f.astype(dtype)


# --- masks ------------------------------------------------------------------------------------------------------------


def test_a_point_answers_its_mask():
    """A pixel of 60 on 10: the mask gives 400 there, -50 on the 8 neighbours, 0 elsewhere."""
    f = np.full((5, 5), 10, np.uint8)
    f[2, 2] = 60
    want = np.zeros((5, 5))
    want[1:4, 1:4] = -50
    want[2, 2] = 400
    assert np.array_equal(apply_mask(f, POINT_MASK), want)
    assert np.array_equal(isolated_points(f, 60), want == 400)
    assert np.array_equal(isolated_points(f, 40), want != 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("border", BORDERS)
def test_masks_are_correlated_as_scipy_does(dtype, border):
    f, w = picture(dtype), RNG.integers(-4, 5, (3, 5))
    g = apply_mask(f, w, border=border)
    assert g.dtype == (np.float32 if dtype in (bool, np.uint8, np.float32) else np.float64)
    np.testing.assert_allclose(g, ndimage.correlate(f.astype(float), w, mode=BORDERS[border]), rtol=0, atol=1e-10)


def test_a_mask_is_not_turned():
    f = np.zeros((3, 3))
    f[1, 1] = 1
    assert np.array_equal(apply_mask(f, np.arange(9).reshape(3, 3), border="zero"), np.arange(9)[::-1].reshape(3, 3))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (2, 2)])
def test_tiny_images(shape):
    f = picture(np.uint8, shape)
    for border, mode in BORDERS.items():
        np.testing.assert_allclose(
            apply_mask(f, POINT_MASK, border=border), ndimage.correlate(f.astype(float), POINT_MASK, mode=mode)
        )
    for function in FILTERS:
        found = function(f)
        assert (found.u if isinstance(found, Gradient) else found).shape == shape
    assert smooth_binary(f > 50).shape == erosion(f).shape == shape


@pytest.mark.parametrize("function", [*FILTERS, smooth_binary, erosion, dilation, opening, closing])
@pytest.mark.parametrize(
    "bad",
    [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(4), np.zeros((2, 2, 3)), np.zeros((2, 2), complex), "image", None],
)
def test_filters_of_what_is_no_image(function, bad):
    with pytest.raises(ArgumentError, match="image"):
        function(bad)


def test_masked_arrays_are_refused():
    with pytest.raises(ArgumentError, match="image"):
        mean_filter(np.ma.masked_array(np.ones((3, 3)), np.eye(3, dtype=bool)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: apply_mask(f, np.ones((2, 3))), "odd"),
        (lambda f: apply_mask(f, np.ones(3)), "odd"),
        (lambda f: apply_mask(f, POINT_MASK, border="wrap"), "'nearest'"),
        (lambda f: apply_mask(f, POINT_MASK, border=3), "border"),
        (lambda f: isolated_points(f, np.nan), "finite"),
        (lambda f: mean_filter(f, 4), "odd"),
        (lambda f: mean_filter(f, "square"), "odd"),
        (lambda f: mean_filter(f, (3, 3, 3)), "odd"),
        (lambda f: mean_filter(f, 0), "odd"),
        (lambda f: median_filter(f, (3, 5)), "square"),
        (lambda f: median_filter(f, passes=-1), "passes"),
        (lambda f: median_filter(f, 2), "odd"),
        (lambda f: erosion(f, np.zeros((3, 3))), "element"),
        (lambda f: erosion(f, np.ones((2, 3))), "element"),
        (lambda f: erosion(f, "disk"), "odd"),
        (lambda f: erosion(f.astype(np.int32)), "int32"),
        (lambda f: gradient_edges(f, 3, operator="prewitt"), "operator"),
        (lambda f: gradient_edges(f, None), "threshold"),
        (lambda f: gradient_magnitude(sobel(f), "max"), "form"),
        (lambda f: smooth_binary(f), "more than two values"),
        (lambda f: smooth_binary(f > 3, ("fill", "polish")), "steps"),
    ],
)
def test_bad_options_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call(np.arange(25, dtype=np.uint8).reshape(5, 5))


def test_opencv_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    with pytest.raises(MissingPackageError, match=r"mean_filter needs cv2.*adjoint\[vision\]"):
        mean_filter(np.ones((3, 3)))
    f = picture()
    assert np.array_equal(median_filter(f), ndimage.median_filter(f, 3, mode="nearest"))
    assert gradient_magnitude(first_differences(f)).shape == f.shape


# --- Fourier transforms -----------------------------------------------------------------------------------------------


def test_the_transform_of_a_row_by_its_sum():
    f = RNG.normal(size=(2, 12)) + 1j * RNG.normal(size=(2, 12))
    x = np.arange(12)
    E = np.exp(-2j * np.pi * np.outer(x, x) / 12)
    np.testing.assert_allclose(fourier_1d(f), f @ E.T / 12, atol=1e-14)
    np.testing.assert_allclose(inverse_fourier_1d(f), f @ E.conj().T, atol=1e-13)
    np.testing.assert_allclose(inverse_fourier_1d(fourier_1d(f)), f, atol=1e-14)


def test_rows_and_then_columns():
    """The transform of an image by that of rows: the results of the rows are multiplied by N in between."""
    N = 16
    f = RNG.normal(size=(N, N))
    by_rows = fourier_1d((N * fourier_1d(f)).T).T
    np.testing.assert_allclose(fourier_2d(f), by_rows, atol=1e-13)
    by_columns = fourier_1d(N * fourier_1d(f.T).T)
    np.testing.assert_allclose(fourier_2d(f), by_columns, atol=1e-13)


def test_the_inverse_through_the_forward_transform():
    """Problem 7.7: f = N conj(forward(conj F)) for a row, and conj(forward(conj F)) for an image."""
    F = RNG.normal(size=9) + 1j * RNG.normal(size=9)
    np.testing.assert_allclose(inverse_fourier_1d(F), 9 * fourier_1d(F.conj()).conj(), atol=1e-13)
    F = RNG.normal(size=(6, 8)) + 1j * RNG.normal(size=(6, 8))
    np.testing.assert_allclose(inverse_fourier_2d(F), fourier_2d(F.conj()).conj(), atol=1e-13)


def test_laws_of_the_transform_of_an_image():
    N, M = 12, 20
    f, g = RNG.normal(size=(2, N, M))
    F, G = fourier_2d(f), fourier_2d(g)
    u, v = np.meshgrid(np.arange(N), np.arange(M), indexing="ij")
    shifted = fourier_2d(np.roll(f, (3, 5), axis=(0, 1)))
    np.testing.assert_allclose(shifted, F * np.exp(-2j * np.pi * (3 * u / N + 5 * v / M)), atol=1e-13)
    np.testing.assert_allclose((np.abs(F) ** 2).sum(), (f**2).sum(), rtol=1e-13)  # Parseval
    convolved = sum(f[i, j] * np.roll(g, (i, j), axis=(0, 1)) for i in range(N) for j in range(M))
    np.testing.assert_allclose(fourier_2d(convolved), np.sqrt(N * M) * F * G, atol=1e-11)
    np.testing.assert_allclose(F[0, 0], f.sum() / np.sqrt(N * M), atol=1e-13)
    np.testing.assert_allclose(F[1:, 1:], F[:0:-1, :0:-1].conj(), atol=1e-13)  # of real images
    np.testing.assert_allclose(fourier_2d(np.stack([f, g])), [F, G], atol=1e-15)
    row = fourier_1d(f)
    np.testing.assert_allclose(M * (np.abs(row) ** 2).sum(axis=1), (f**2).sum(axis=1), rtol=1e-13)


def test_what_has_no_transform():
    assert fourier_2d(np.ones((2, 2), np.float32)).dtype == np.complex64
    assert fourier_2d(np.ones((2, 2), np.uint8)).dtype == np.complex128
    for bad in (np.ones(3), np.ones((0, 3)), [["a"]]):
        with pytest.raises(ArgumentError, match="fourier_2d"):
            fourier_2d(bad)
    with pytest.raises(ArgumentError, match="inverse_fourier_1d"):
        inverse_fourier_1d([])


# --- means and medians ------------------------------------------------------------------------------------------------


def test_the_median_and_the_mean_of_the_textbook():
    f = np.array([10, 20, 20, 20, 15, 20, 20, 25, 100], np.uint8).reshape(3, 3)
    assert median_filter(f)[1, 1] == 20
    assert mean_filter(f.astype(float))[1, 1] == pytest.approx(27.7778, abs=1e-4)
    assert mean_filter(f)[1, 1] == 28


@pytest.mark.parametrize("dtype", DTYPES)
def test_means_and_medians_of_all_dtypes(dtype):
    f = picture(dtype)
    m = mean_filter(f, (3, 5))
    want = ndimage.uniform_filter(f.astype(float), (3, 5), mode="nearest")
    keeps = dtype in (np.uint8, np.uint16, np.int16, np.float32, np.float64)
    assert m.dtype == (dtype if keeps else np.float32 if dtype is bool else np.float64)
    np.testing.assert_allclose(m, want, rtol=1e-5, atol=0.5001 if np.issubdtype(m.dtype, np.integer) else 1e-5)
    if dtype is np.float16:  # SciPy has no medians of it
        return
    for size in (1, 3, 5, 7):
        g = median_filter(f, size)
        assert g.dtype == dtype
        assert np.array_equal(g, ndimage.median_filter(f, size, mode="nearest"))


def test_medians_of_16_bit_floats():
    f = picture(np.float16)
    for size in (3, 5, 7):
        assert np.array_equal(median_filter(f, size), ndimage.median_filter(f.astype(float), size, mode="nearest"))


def test_the_mean_of_a_cross():
    f = picture(float)
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]) / 5
    np.testing.assert_allclose(mean_filter(f, "cross"), ndimage.correlate(f, cross, mode="nearest"), rtol=1e-14)
    assert mean_filter(f.astype(np.uint8), "cross").dtype == np.uint8


def test_medians_commute_with_rising_maps_and_means_with_sums():
    f, g = picture(), picture(float)
    assert np.array_equal(median_filter(f, 5).astype(int) * 2 + 3, median_filter(2 * f + 3, 5))
    np.testing.assert_allclose(mean_filter(f + 2 * g), mean_filter(f.astype(float)) + 2 * mean_filter(g), rtol=1e-12)


def test_passes_of_a_median_remove_dense_noise():
    f = skimage.data.camera()[100:300, 100:300]
    noise = RNG.random(f.shape)
    noisy = np.where(noise < 0.15, 0, np.where(noise > 0.85, 255, f)).astype(np.uint8)
    left = [np.abs(median_filter(noisy, 3, passes=k).astype(int) - f).mean() for k in (0, 1, 2)]
    assert left[0] > 2 * left[1] > 2 * left[2]
    assert np.array_equal(median_filter(noisy, 3, passes=2), median_filter(median_filter(noisy)))


def test_the_mean_of_frames_and_its_deviation():
    """The noise of a mean falls as 1/√K, and its estimate is that of the frames."""
    truth, sigma, K = picture(float, (60, 50)), 5.0, 64
    frames = truth + sigma * RNG.normal(size=(K, *truth.shape))
    mean = average_frames(iter(frames))
    assert mean.frames == K
    np.testing.assert_allclose(mean.image, frames.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(mean.deviation, frames.std(axis=0, ddof=1) / np.sqrt(K), rtol=1e-9)
    # 3000 pixels tell the deviation to 1/√6000; four of its own deviations
    assert abs((mean.image - truth).std() / (sigma / 8) - 1) < 4 / np.sqrt(6000)


def test_frames_of_all_kinds():
    f = RNG.integers(0, 256, (5, 4, 3, 3), dtype=np.uint8)
    assert average_frames(f).image.shape == (4, 3, 3)
    offset = 1e9 + RNG.normal(size=(7, 3, 3))
    np.testing.assert_allclose(average_frames(offset).deviation, offset.std(axis=0, ddof=1) / np.sqrt(7), rtol=1e-5)
    one = average_frames([np.ones((2, 2), bool)])
    assert one.frames == 1
    assert np.isnan(one.deviation).all()
    for bad in ([], [np.ones((2, 2)), np.ones((3, 2))], [np.ones(3)], [np.ones((0, 2))], [["a"]]):
        with pytest.raises(ArgumentError, match="average_frames"):
            average_frames(bad)


# --- binary images ----------------------------------------------------------------------------------------------------


def rows_of(text: str) -> np.ndarray:
    return np.array([[c == "1" for c in row] for row in text.split()])


_START = "0000000000 0111101100 0111111110 0110111101 0111111100 0111111100 1111111000 0000000000 0000000010"
_FILLED = "0000000000 0111111100 0111111110 0111111111 0111111100 0111111100 1111111000 0000000000 0000000010"
_CLEARED = "0000000000 0111111100 0111111110 0111111110 0111111100 0111111100 0111111000 0000000000 0000000000"
_SMOOTH = "0000000000 0111111110 0111111110 0111111110 0111111100 0111111100 0111111100 0000000000 0000000000"
NOISY = rows_of(_START)
STAGES = {("fill",): _FILLED, ("fill", "clear"): _CLEARED, ("fill", "clear", "corners"): _SMOOTH}


@pytest.mark.parametrize("steps", STAGES)
def test_the_stages_of_binary_smoothing(steps):
    assert np.array_equal(smooth_binary(NOISY, steps), rows_of(STAGES[steps]))
    assert np.array_equal(smooth_binary(255 * NOISY.astype(np.uint8), steps), rows_of(STAGES[steps]))


def unger(f: np.ndarray, steps) -> np.ndarray:
    """The rules as they are printed, on a framed image."""
    for step in steps:
        for corner in range(4) if step == "corners" else (0,):
            z = np.pad(f, 1)
            n, m = f.shape
            a, b, c, d, p, e, g_left, g, h = (z[i : i + n, j : j + m] for i in range(3) for j in range(3))
            if step == "fill":
                f = p | (b & g & (d | e)) | (d & e & (b | g))
            elif step == "clear":
                f = p & (((a | b | d) & (e | g | h)) | ((b | c | e) & (d | g_left | g)))
            else:
                three = [(d, g_left, g), (a, b, d), (e, g, h), (b, c, e)][corner]
                others = [(a, b, c, e, h), (c, e, g_left, g, h), (a, b, c, d, g_left), (a, d, g_left, g, h)][corner]
                f = p | (np.logical_and.reduce(three) & ~np.logical_or.reduce(others))
    return f


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 130])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_packed_rules_are_the_printed_ones(width, share):
    f = RNG.random((17, width)) < share
    for steps in (("fill",), ("clear",), ("corners",), ("fill", "clear", "corners"), ("corners", "clear", "fill")):
        assert np.array_equal(smooth_binary(f, steps), unger(f, steps))


def test_binary_smoothing_of_special_images():
    assert not smooth_binary(np.ones((1, 1))).any()
    assert smooth_binary(np.ones((50, 70), bool), ("fill", "clear")).all()
    assert not smooth_binary(np.zeros((5, 5))).any()
    view = np.asfortranarray(NOISY)[::-1, ::2]
    assert np.array_equal(smooth_binary(view), unger(view, ("fill", "clear", "corners")))
    assert smooth_binary(NOISY, "fill").dtype == bool


ELEMENTS = [3, (1, 5), "cross", np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]]), np.array([[0, 0, 1, 0, 1]])]


def dilated_by_sets(f: np.ndarray, element: np.ndarray) -> np.ndarray:
    """{a + b}, by its definition."""
    (n, m), (h, w) = f.shape, element.shape
    found = np.zeros_like(f)
    for i, j in np.argwhere(element) - [h // 2, w // 2]:
        for r, c in np.argwhere(f) + np.array([i, j]):
            if 0 <= r < n and 0 <= c < m:
                found[r, c] = True
    return found


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_laws_of_morphology(element):
    shapes = {"3": np.ones((3, 3)), "(1, 5)": np.ones((1, 5)), "cross": np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])}
    e = shapes.get(str(element), element)
    f = RNG.random((14, 17)) < 0.4
    assert np.array_equal(dilation(f, element), dilated_by_sets(f, e))
    turned = e[::-1, ::-1]
    assert np.array_equal(~erosion(f, element), dilation(~f, turned))  # duality
    assert np.array_equal(~opening(f, element), closing(~f, turned))
    for function in (opening, closing):
        assert np.array_equal(function(function(f, element), element), function(f, element))
    assert (opening(f, element) <= f).all()
    assert (closing(f, element) >= f).all()
    g = picture(np.uint8)
    assert np.array_equal(dilation(g > 40, element), dilation(g, element) > 40)  # commutes with thresholds


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.int16, np.float32, np.float64])
def test_morphology_keeps_dtypes(dtype):
    f = picture(dtype)
    g = erosion(f)
    assert g.dtype == dtype
    assert np.array_equal(g, ndimage.grey_erosion(f.astype(float), (3, 3), mode="nearest"))


# --- gradients --------------------------------------------------------------------------------------------------------

RAMP = np.tile(np.array([10, 10, 10, 20, 30, 30, 30], np.uint8), (5, 1))


def test_a_ramp_edge():
    assert sobel(RAMP).u.tolist() == [[0, 0, 40, 80, 40, 0, 0]] * 5
    assert not sobel(RAMP).v.any()
    assert laplacian(RAMP).tolist() == [[0, 0, 10, 0, -10, 0, 0]] * 5
    assert sobel(RAMP.T).v.T.tolist() == sobel(RAMP).u.tolist()
    assert first_differences(RAMP).u.tolist() == [[0, 0, 0, 10, 10, 0, 0]] * 5
    assert gradient_edges(RAMP, 40)[2].tolist() == [False, False, False, True, False, False, False]
    assert gradient_edges(RAMP, 39)[2].sum() == 3
    assert gradient_edges(RAMP, 9, operator="differences")[2].sum() == 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("border", BORDERS)
def test_gradients_of_all_dtypes(dtype, border):
    f = picture(dtype)
    x, mode = f.astype(float), BORDERS[border]
    g, L = sobel(f, border=border), laplacian(f, border=border)
    double = dtype in (np.int8, np.int32, np.int64, np.float16, np.float64)
    assert g.u.dtype == g.v.dtype == L.dtype == (np.float64 if double else np.float32)
    # The book's G_x is across rows, G_y across columns.
    assert np.array_equal(g.v, ndimage.sobel(x, axis=0, mode=mode))
    assert np.array_equal(g.u, ndimage.sobel(x, axis=1, mode=mode))
    assert np.array_equal(L, ndimage.laplace(x, mode=mode))


def test_differences_wrap_at_no_dtype():
    for dtype in DTYPES:
        f = picture(dtype)
        g = first_differences(f)
        assert np.array_equal(g.u[:, 1:], np.diff(f.astype(float), axis=1))
        assert np.array_equal(g.v[1:], np.diff(f.astype(float), axis=0))
        assert not g.u[:, 0].any()
        assert not g.v[0].any()


def test_sobel_is_separable_and_the_laplacian_is_an_unsharp_mask():
    """Problems 7.13 and 7.14."""
    f = picture(float)
    one_pass = apply_mask(apply_mask(f, [[-1, 0, 1]]), [[1], [2], [1]])
    np.testing.assert_allclose(sobel(f).u, one_pass, atol=1e-10)
    mean = apply_mask(f, np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 4)
    np.testing.assert_allclose(laplacian(f), -4 * (f - mean), atol=1e-10)


def test_the_laplacian_of_scikit_image_has_the_other_sign():
    f = picture(float)
    np.testing.assert_allclose(laplacian(f)[1:-1, 1:-1], -skimage.filters.laplace(f)[1:-1, 1:-1], atol=1e-9)


def test_magnitudes_and_directions():
    v, u = np.mgrid[0:20, 0:30].astype(float)
    for angle in np.linspace(-3.1, 3.1, 9):
        g = sobel(u * np.cos(angle) + v * np.sin(angle), border="nearest")
        inner = (slice(1, -1), slice(1, -1))
        np.testing.assert_allclose(gradient_direction(g)[inner], angle, atol=1e-12)
        np.testing.assert_allclose(gradient_magnitude(g)[inner], 8, rtol=1e-12)
        absolute = 8 * (abs(np.cos(angle)) + abs(np.sin(angle)))
        np.testing.assert_allclose(gradient_magnitude(g, "absolute")[inner], absolute, rtol=1e-12)
    g = sobel(picture())
    np.testing.assert_allclose(gradient_magnitude(g), np.hypot(g.u, g.v), rtol=1e-6)
    ratio = gradient_magnitude(g, "absolute") / np.maximum(gradient_magnitude(g), 1e-9)
    assert ratio.max() <= np.sqrt(2) + 1e-6


def test_nan_stays_near_its_pixel():
    f = picture(float)
    f[10, 10] = np.nan
    for g in (mean_filter(f, "cross"), laplacian(f), sobel(f).u, apply_mask(f, POINT_MASK)):
        assert not np.isnan(g[:8]).any()
        assert not np.isnan(g[:, 13:]).any()
