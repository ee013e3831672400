"""Histograms: counts, equalization, specification, local enhancement; exact fixtures, laws, OpenCV, scikit-image."""

import cv2
import numpy as np
import pytest
import skimage.data
import skimage.exposure
import skimage.filters.rank
from scipy import ndimage

from adjoint.errors import ArgumentError
from adjoint.vision.images import (
    enhance_locally,
    equalise_histogram,
    equalise_locally,
    histogram,
    match_histogram,
    specify_histogram,
)

RNG = np.random.default_rng(5)
F = np.array([[0, 1, 1, 2], [1, 1, 2, 2], [1, 2, 2, 3], [2, 2, 3, 7]])
TARGET = [0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25]


# --- counts -----------------------------------------------------------------------------------------------------------


def test_counts_and_the_equalized_levels_of_a_small_image():
    assert histogram(F, 8).tolist() == [1, 5, 7, 2, 0, 0, 0, 1]
    assert (histogram(F, 8).cumsum() / 16).tolist() == [0.0625, 0.375, 0.8125, 0.9375, 0.9375, 0.9375, 0.9375, 1]
    table = np.array([0, 3, 6, 7, 7, 7, 7, 7])
    assert np.array_equal(equalise_histogram(F, 8), table[F])


def test_a_specified_histogram_uses_no_forbidden_level():
    """Of levels 0, 1, 2, 3, 7; the nearest G would send 0 to the level 0, which is not wanted at all."""
    table = np.array([4, 5, 7, 7, 7, 7, 7, 7])
    assert np.array_equal(specify_histogram(F, TARGET, 8), table[F])
    assert np.array_equal(specify_histogram(F, lambda z: (z > 0.5).astype(float), 8), table[F])
    assert np.array_equal(specify_histogram(F.astype(np.uint8), TARGET, 8), table[F])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.int32, np.int64, np.uint32])
def test_counts_are_bincounts(dtype):
    f = RNG.integers(0, 2 if dtype is bool else 200, (70, 41)).astype(dtype)
    L = {bool: 2, np.uint8: 256, np.uint16: 65536}.get(dtype)
    found = histogram(f, None if L else 300)
    assert found.dtype == np.int64
    assert np.array_equal(found, np.bincount(f.ravel().astype(int), minlength=L or 300))
    assert np.array_equal(histogram(f, 256), np.bincount(f.ravel().astype(int), minlength=256))


def test_counts_of_large_16_bit_images_and_views():
    f = RNG.integers(0, 65536, (400, 500)).astype(np.uint16)
    assert np.array_equal(histogram(f), np.bincount(f.ravel(), minlength=65536))
    view = f[::-2, 10:300:3]
    assert np.array_equal(histogram(view), np.bincount(view.ravel(), minlength=65536))
    small = (f >> 8).astype(np.uint8)[::-1, ::2]
    assert np.array_equal(histogram(small), np.bincount(small.ravel(), minlength=256))


def test_counts_beyond_what_float32_holds(monkeypatch):
    """OpenCV counts in float32, so large images are counted in parts."""
    monkeypatch.setattr("adjoint.vision.images.levels._EXACT", 64)
    f = RNG.integers(0, 256, (31, 10), dtype=np.uint8)
    assert np.array_equal(histogram(f), np.bincount(f.ravel(), minlength=256))


def test_counts_without_opencv(monkeypatch):
    f = RNG.integers(0, 256, (31, 10), dtype=np.uint8)
    found = histogram(f), equalise_histogram(f)
    monkeypatch.setattr("adjoint.vision.images.levels.maybe_opencv", lambda: None)
    assert all(np.array_equal(a, b) for a, b in zip(found, (histogram(f), equalise_histogram(f)), strict=True))


def test_levels_of_floats():
    f = np.array([[0.0, 0.249, 0.25, 0.5, 0.999, 1.0]])
    assert histogram(f, 4).tolist() == [2, 1, 1, 2]
    assert histogram(f.astype(np.float32), 4).tolist() == [2, 1, 1, 2]
    assert histogram(f).size == 256


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: histogram(F), "say how many"),
        (lambda: histogram(F, 7), "0 to 6"),
        (lambda: histogram(F - 1, 8), "from -1"),
        (lambda: histogram(F.astype(np.uint8), 7), "level 7"),
        (lambda: histogram(F / 4), "from 0 to 1"),
        (lambda: histogram(np.array([[0.5, np.nan]])), "NaN"),
        (lambda: histogram(F, 1), "levels is 1"),
        (lambda: histogram(F, "8"), "levels"),
        (lambda: histogram(np.zeros((0, 2), np.uint8)), "no pixels"),
        (lambda: histogram(np.zeros((2, 2, 3), np.uint8)), "gray_levels"),
        (lambda: specify_histogram(F, [1, 2], 8), "weights"),
        (lambda: specify_histogram(F, np.zeros(8), 8), "not all zero"),
        (lambda: specify_histogram(F, -np.ones(8), 8), "not negative"),
        (lambda: specify_histogram(F, np.full(8, np.nan), 8), "finite"),
        (lambda: match_histogram(F, F.astype(np.uint8), 8), "dtype"),
        (lambda: equalise_locally(F), "int64"),
        (lambda: equalise_locally(F.astype(np.uint8), 4), "odd"),
        (lambda: enhance_locally(F, gain=0), "gain"),
        (lambda: enhance_locally(F, gain_limits=(5, 1)), "limits"),
        (lambda: enhance_locally(F, gain_limits=3), "limits"),
        (lambda: enhance_locally(F, mean_share=np.inf), "mean_share"),
        (lambda: enhance_locally(F, border="wrap"), "border"),
    ],
)
def test_bad_histograms_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


# --- equalization and specification -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16])
def test_equalized_levels_are_rounded_shares(dtype):
    f = (255 * RNG.beta(2, 5, (60, 50))).astype(dtype) if dtype is not bool else RNG.random((60, 50)) < 0.3
    g = equalise_histogram(f)
    assert g.dtype == dtype
    most = {bool: 1, np.uint8: 255, np.uint16: 65535}[dtype]
    share = np.searchsorted(np.sort(f.ravel()), f.ravel(), side="right").reshape(f.shape) / f.size
    assert np.array_equal(g.astype(int), np.floor(most * share + 0.5).astype(int))


def test_equalized_levels_keep_their_order_and_are_nearly_even():
    f = skimage.data.moon()
    g = equalise_histogram(f).astype(int)
    order = np.argsort(f.ravel(), kind="stable")
    assert (np.diff(g.ravel()[order]) >= 0).all()
    # A level of the result lies at the share of pixels up to it, to half a level.
    levels = np.unique(g)
    share = np.array([(g <= s).mean() for s in levels])
    assert np.abs(share - levels / 255).max() <= 0.5 / 255 + 1e-12
    assert np.array_equal(equalise_histogram(equalise_histogram(f)), g)  # once is enough


def test_opencv_equalizes_by_another_formula():
    f = np.maximum(skimage.data.moon(), 110)  # many pixels are darkest
    below = histogram(f).cumsum()
    first = below[np.flatnonzero(below)[0]]
    other = np.rint(255 * (below - first) / (f.size - first)).clip(0)[f]
    assert np.abs(cv2.equalizeHist(f).astype(int) - other).max() <= 1
    assert np.abs(cv2.equalizeHist(f).astype(int) - equalise_histogram(f)).max() > 50


def test_floats_are_equalized_to_shares():
    f = RNG.random((50, 40)).astype(np.float32)
    g = equalise_histogram(f, 64)
    assert g.dtype == np.float32
    k = np.minimum(f * 64, 63).astype(int)
    np.testing.assert_allclose(g, (np.bincount(k.ravel(), minlength=64).cumsum() / f.size)[k], rtol=1e-7)
    peer = skimage.exposure.equalize_hist(f.astype(float), 64)  # interpolates within cells
    assert np.abs(g - peer).max() < 3 / 64


def test_a_uniform_specification_is_the_equalization_rounded_up():
    """With G(z) = (z + 1)/L, the smallest z with G(z) >= s is ⌈L s⌉ - 1."""
    f = skimage.data.moon()
    s = (histogram(f).cumsum() / f.size)[f]
    assert np.array_equal(specify_histogram(f, np.ones(256)), np.ceil(256 * s - 1e-9).astype(int) - 1)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float64])
def test_a_specified_histogram_is_reached(dtype):
    f = (skimage.data.moon()[::2, ::2] / 255 * (1 if dtype is np.float64 else np.iinfo(dtype).max)).astype(dtype)
    L = 65536 if dtype is np.uint16 else 256
    p = np.exp(-0.5 * ((np.arange(L) / (L - 1) - 0.6) / 0.1) ** 2)
    p[: L // 4] = 0
    g = specify_histogram(f, p)
    assert g.dtype == dtype
    level = np.rint(g * (L - 1)).astype(int) if dtype is np.float64 else g
    G = p.cumsum() / p.sum()
    for z in np.unique(level)[::5]:
        # G(z) is at least the share of pixels up to z, and one level less is too little.
        assert G[z] >= (level <= z).mean() - 1e-9
        assert p[z] > 0
    largest = histogram(f).max() / f.size
    share = np.array([(level <= z).mean() for z in range(0, L, L // 64)])
    assert np.abs(share - G[:: L // 64]).max() <= largest + p.max() / p.sum()


def test_specification_with_rounded_sums():
    """Weights of 0.1 do not sum to 1 exactly; levels that should meet do."""
    f = np.arange(10)[None]
    assert np.array_equal(specify_histogram(f, np.full(10, 0.1), 10), f)
    assert np.array_equal(specify_histogram(f, np.full(10, 1e-30), 10), f)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16])
def test_matching_an_image_with_itself_and_with_a_brighter_one(dtype):
    f = RNG.integers(0, 2 if dtype is bool else 100, (40, 30)).astype(dtype)
    assert np.array_equal(match_histogram(f, f), f)
    if dtype is not bool:
        lighter = (2 * f + 7)[::-1]
        assert np.array_equal(match_histogram(f, lighter), 2 * f + 7)
        assert np.array_equal(match_histogram(f, np.tile(lighter, (3, 2))), 2 * f + 7)


def test_matching_real_images_as_scikit_image_does():
    """They interpolate; we do not, so levels differ by as much as neighbours in the reference do."""
    f, ref = skimage.data.moon(), skimage.data.camera()
    g = match_histogram(f, ref)
    peer = skimage.exposure.match_histograms(f, ref)
    assert set(np.unique(g)) <= set(np.unique(ref))
    assert np.abs(g.astype(float) - peer).mean() < 2
    x = RNG.random((30, 40))
    assert np.abs(match_histogram(x, x**2, 512) - x**2).max() < 0.05


# --- local enhancement ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 7, (5, 9), (1, 3), 33])
def test_local_equalization_is_that_of_scikit_image(size):
    f = skimage.data.camera()[100:180, 200:290]
    footprint = np.ones(size if isinstance(size, tuple) else (size, size), np.uint8)
    assert np.array_equal(equalise_locally(f, size), skimage.filters.rank.equalize(f, footprint))


def test_local_equalization_of_other_dtypes():
    f = skimage.data.camera()[100:140, 200:250]
    f[3, 4] = 255
    g8, g16 = equalise_locally(f, 5), equalise_locally(f.astype(np.uint16) * 257, 5)
    assert g16.dtype == np.uint16
    assert np.array_equal(g16 // 257, g8)
    for dtype in (np.float32, np.float64):
        s = equalise_locally((f / 255).astype(dtype), 5)
        assert s.dtype == dtype
        assert np.array_equal(np.floor(255 * s + 1e-4), g8)
    wide = equalise_locally((f / 255)[:3], (1, 301))  # wider than the image, and than 8 bits count
    share = np.array([[(row <= x).mean() for x in row] for row in f[:3]])
    np.testing.assert_allclose(wide, share, rtol=1e-12)
    assert equalise_locally(np.full((1, 1), 7, np.uint8)) == 255


def test_the_gain_of_local_enhancement():
    """A window of 50 with 60 in the middle, M = 100, k = 0.5: A = 15.91 and g = 192.53; limits keep A small."""
    f = np.full((3, 3), 50.0)
    f[1, 1] = 60
    m, sigma = f.mean(), f.std()
    assert (round(m, 3), round(sigma, 4), round(50 / sigma, 3)) == (51.111, 3.1427, 15.910)
    free = enhance_locally(f, 3, global_mean=100, gain_limits=(0, np.inf))
    assert free[1, 1] == pytest.approx(192.53, abs=5e-3)
    limited = enhance_locally(f, 3, global_mean=100)
    assert limited[1, 1] == pytest.approx(5 * (60 - m) + m)
    assert enhance_locally(f, 3, global_mean=100, mean_share=0.5)[1, 1] == pytest.approx(5 * (60 - m) + m / 2)
    assert enhance_locally(f.astype(np.uint8), 3, global_mean=100, gain_limits=(0, 1e9))[1, 1] == 193


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_local_enhancement_by_its_formula(dtype):
    f = RNG.integers(20, 200, (40, 50)).astype(dtype)
    x = f.astype(float)
    g = enhance_locally(f, (5, 7), gain=0.4, gain_limits=(0.5, 2.0))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((2, 2), (3, 3)), "edge"), (5, 7))
    m, sigma = windows.mean(axis=(2, 3)), windows.std(axis=(2, 3))
    want = np.clip(0.4 * x.mean() / sigma, 0.5, 2.0) * (x - m) + m
    assert g.dtype == dtype
    if np.issubdtype(dtype, np.integer):
        want = np.clip(want, np.iinfo(dtype).min, np.iinfo(dtype).max)
        assert np.abs(g - want).max() <= 0.5 + 1e-9
    else:
        np.testing.assert_allclose(g, want, rtol=1e-5)


def test_local_enhancement_of_flat_images():
    for value in (0, 7, 255):
        f = np.full((20, 20), value, np.uint8)
        assert np.array_equal(enhance_locally(f, gain_limits=(0, np.inf)), f)
    assert np.array_equal(
        enhance_locally(np.full((4, 4), 1e9) + np.eye(4) * 0, gain_limits=(0, np.inf)), np.full((4, 4), 1e9)
    )
    assert enhance_locally(np.ones((1, 1))) == 1
    assert enhance_locally(np.eye(5, dtype=bool)).dtype == np.float64


def test_small_contrast_on_a_high_level_is_found():
    f = 1e6 + RNG.normal(size=(30, 30))
    g = enhance_locally(f, 5, gain=1e-6, gain_limits=(0, 1e9))
    m = ndimage.uniform_filter(f, 5, mode="nearest")
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(f, 2, "edge"), (5, 5))
    np.testing.assert_allclose(g - m, (f - m) * f.mean() * 1e-6 / windows.std(axis=(2, 3)), atol=1e-5)
