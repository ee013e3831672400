"""Thresholds: optimum, dynamic, of many classes, from boundaries, of colours; fixtures, laws, scikit-learn."""

import re
from typing import Any

import numpy as np
import pytest
import skimage.data
import skimage.filters
from scipy import stats
from scipy.interpolate import RegularGridInterpolator
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image
from sklearn.mixture import GaussianMixture

from adjoint.errors import ArgumentError, SolveError
from adjoint.vision.images import closing, connected_components, histogram, median_filter, opening
from adjoint.vision.segmentation.thresholds import local_threshold, threshold, threshold_bands
from adjoint.vision.segmentation.thresholds_boundary import (
    boundary_histogram,
    boundary_labels,
    boundary_objects,
    fill_scan_lines,
)
from adjoint.vision.segmentation.thresholds_colour import (
    colour_clusters,
    colour_histogram,
    nearest_colour,
    pixels_near_colour,
)
from adjoint.vision.segmentation.thresholds_dynamic import dynamic_threshold
from adjoint.vision.segmentation.thresholds_optimum import (
    Mixture,
    classify_levels,
    decision_intervals,
    fit_mixture,
    gaussian_crossings,
    minimum_error_threshold,
    optimum_threshold,
    otsu_thresholds,
)

RNG = np.random.default_rng(3)


# --- thresholds that are given ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.uint16, np.int64, np.float32])
def test_light_is_above_and_dark_is_the_rest(dtype):
    f = RNG.integers(0, 2 if dtype is bool else 100, (20, 30)).astype(dtype)
    for T in (-5, 0, 0.5, 40, 40.7, 99.0, 1000):
        assert np.array_equal(threshold(f, T), f.astype(float) > T)
        assert np.array_equal(threshold(f, T, objects="dark"), ~threshold(f, T))
    surface = RNG.uniform(0, 100, f.shape)
    assert np.array_equal(threshold(f, surface), f > surface)


def test_bands_are_those_of_digitize():
    f = RNG.integers(0, 256, (30, 20), dtype=np.uint8)
    assert np.array_equal(threshold_bands(f, [50, 90.5, 200]), np.digitize(f, [50, 90.5, 200], right=True))
    assert np.array_equal(threshold_bands(f / 255, [0.5]), threshold(f / 255, 0.5))


def test_local_thresholds_are_means():
    f = RNG.integers(0, 256, (30, 20), dtype=np.uint8)
    peer = skimage.filters.threshold_local(f, 5, method="mean", mode="nearest", offset=3)
    np.testing.assert_allclose(local_threshold(f, 5, offset=-3), peer, rtol=1e-5)
    np.testing.assert_allclose(
        local_threshold(f.astype(float), (3, 5), factor=0.5), 0.5 * local_threshold(f, (3, 5)), rtol=1e-5
    )
    assert local_threshold(f > 100, 3).max() <= 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: threshold(np.ones((2, 2)), np.nan), "finite"),
        (lambda: threshold(np.ones((2, 2)), np.ones((2, 3))), r"\(2, 2\)"),
        (lambda: threshold(np.ones((2, 2)), 1, objects="big"), "'light' or 'dark'"),
        (lambda: threshold(np.ones(3), 1), "image"),
        (lambda: threshold_bands(np.ones((2, 2)), [2, 1]), "grow"),
        (lambda: threshold_bands(np.ones((2, 2)), []), "grow"),
        (lambda: threshold_bands(np.ones((2, 2)), [1, np.nan]), "grow"),
        (lambda: local_threshold(np.ones((2, 2)), 4), "odd"),
        (lambda: local_threshold(np.ones((2, 2)), factor="a"), "factor"),
    ],
)
def test_bad_thresholds_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


# --- optimum thresholds -----------------------------------------------------------------------------------------------


def test_the_optimum_threshold_of_two_gaussians():
    """m = 150, 80; s = 20, 10; P = 0.2, 0.8. The numbers A, B, C are those of (8.2-19)."""
    m1, s1, P1, m2, s2, P2 = 150.0, 20.0, 0.2, 80.0, 10.0, 0.8
    A, B = s1**2 - s2**2, 2 * (m1 * s2**2 - m2 * s1**2)
    C = s1**2 * m2**2 - s2**2 * m1**2 + 2 * s1**2 * s2**2 * np.log(s2 * P1 / (s1 * P2))
    assert (A, B, round(C, 3)) == (300, -34000, 143644.677)
    roots = gaussian_crossings(m1, s1, P1, m2, s2, P2)
    np.testing.assert_allclose(np.sort(roots), np.sort(np.roots([A, B, C])), rtol=1e-12)
    np.testing.assert_allclose(roots, [108.938, 4.395], atol=5e-4)
    assert optimum_threshold(([P1, P2], [m1, m2], [s1, s2])) == pytest.approx(108.938, abs=5e-4)
    same = optimum_threshold(([P1, P2], [m1, m2], [15, 15]))
    assert same == pytest.approx((m1 + m2) / 2 + 15**2 / (m1 - m2) * np.log(P2 / P1), rel=1e-14)
    assert same == pytest.approx(119.456, abs=5e-4)


def test_crossings_of_random_classes():
    """At a crossing both weighted densities are equal; a batch, swapped classes, and nearly equal deviations agree."""
    n = 300
    m = RNG.uniform(0, 255, (2, n))
    s, P = RNG.uniform(3, 40, (2, n)), RNG.uniform(0.05, 0.95, n)
    T = gaussian_crossings(m[0], s[0], P, m[1], s[1], 1 - P)
    with np.errstate(invalid="ignore"):
        classes = ((P, m[0], s[0]), (1 - P, m[1], s[1]))
        first, second = (np.log(w)[:, None] + stats.norm.logpdf(T, a[:, None], b[:, None]) for w, a, b in classes)
    ok = np.isfinite(T).all(axis=1)
    assert ok.sum() > 200
    np.testing.assert_allclose(first[ok], second[ok], rtol=1e-12, atol=1e-7)  # far away both are -1e8
    np.testing.assert_allclose(gaussian_crossings(m[1], s[1], 1 - P, m[0], s[0], P)[ok], T[ok], rtol=1e-9)
    for x in (1e-3, 1e-6, 1e-9, 0.0):
        near = gaussian_crossings(150.0, 15 + x, 0.2, 80.0, 15.0, 0.8)[0]
        assert near == pytest.approx(119.45594, abs=2 * x + 1e-5)
    assert np.isnan(gaussian_crossings(150.0, 15.0, 0.2, 80.0, 15.0, 0.8)[1])
    assert np.isnan(gaussian_crossings(100.0, 10.0, 1e-6, 101.0, 11.0, 1.0)).all()


def test_the_optimum_threshold_errs_least():
    for _ in range(20):
        m, s, P = np.sort(RNG.uniform(0, 200, 2)) + np.array([0, 30]), RNG.uniform(5, 20, 2), RNG.uniform(0.2, 0.8)
        T = optimum_threshold(([P, 1 - P], m, s))

        def wrong(t, m=m, s=s, P=P):
            return P * stats.norm.sf(t, m[0], s[0]) + (1 - P) * stats.norm.cdf(t, m[1], s[1])

        assert (wrong(T) <= wrong(np.linspace(m[0], m[1], 200)) + 1e-12).all()


def test_special_optimum_thresholds():
    assert optimum_threshold(([0.5, 0.5], [100, 200], [10, 10])) == pytest.approx(150)
    assert optimum_threshold(([0.1, 0.9], [100, 200], [0, 0])) == 150
    assert 199 < optimum_threshold(([0.1, 0.9], [100, 200], [10, 0])) < 200
    with pytest.raises(SolveError, match="no threshold between"):
        optimum_threshold(([0.999, 0.001], [100, 105], [20, 10]))
    with pytest.raises(SolveError, match="no threshold between"):
        optimum_threshold(([1.0, 0.0], [100, 200], [20, 10]))
    slope = gaussian_crossings.jacobian("P1")(150.0, 20.0, 0.2, 80.0, 10.0, 0.8)[0]
    more, less = (gaussian_crossings(150.0, 20.0, P, 80.0, 10.0, 0.8)[0] for P in (0.2001, 0.1999))
    assert slope == pytest.approx((more - less) / 2e-4, rel=1e-5)


@pytest.mark.parametrize(
    "bad",
    [
        ([1], [2], [3]),
        ([0.5, 0.5], [1, 1], [1, 1]),
        ([0.5, 0.5], [1, 2], [1, -1]),
        ([0.5, np.nan], [1, 2], [1, 1]),
        ([0, 0], [1, 2], [1, 1]),
        ([0.5, 0.5], [1, 2]),
        "mixture",
    ],
)
def test_what_is_no_mixture(bad):
    with pytest.raises(ArgumentError, match="optimum_threshold"):
        optimum_threshold(bad)


def test_a_fit_finds_the_classes():
    """Within four of its standard errors for separate classes, which are s/√n for a mean and s/√2n for a deviation."""
    n, w, m, s = 200_000, np.array([0.8, 0.2]), np.array([80.0, 170.0]), np.array([10.0, 20.0])
    which = RNG.random(n) > w[0]
    z = np.clip(np.rint(RNG.normal(m[which.astype(int)], s[which.astype(int)])), 0, 255).astype(np.uint8)
    fit = fit_mixture(histogram(z[None]))
    size = n * w
    assert (np.abs(fit.means - m) < 4 * s / np.sqrt(size) + 0.02).all()
    assert (np.abs(fit.deviations - s) < 4 * s / np.sqrt(2 * size) + 0.02).all()
    assert (np.abs(fit.weights - w) < 4 * np.sqrt(w * (1 - w) / n)).all()


def likelihood(z, n, fit) -> float:
    p = (fit.weights * stats.norm.pdf(z[:, None], fit.means, fit.deviations)).sum(axis=1)
    return float((n * np.log(p)).sum() / n.sum())


@pytest.mark.slow
@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("name", ["camera", "coins", "moon", "page"])
def test_fits_are_as_likely_as_those_of_scikit_learn(name, classes):
    f = getattr(skimage.data, name)()
    counts = histogram(f)
    fit, z = fit_mixture(counts, classes), np.arange(256.0)
    sample = RNG.permutation(f.ravel())[:4000].astype(float)[:, None]
    peer: Any = GaussianMixture(classes, random_state=0, tol=1e-6, max_iter=1000, reg_covar=1 / 12).fit(sample)
    theirs = Mixture(peer.weights_, peer.means_[:, 0], np.sqrt(peer.covariances_[:, 0, 0]))
    assert likelihood(z, counts, fit) >= likelihood(z, counts, theirs) - 2e-3
    assert (np.diff(fit.means) >= 0).all()
    assert fit.weights.sum() == pytest.approx(1)


def test_a_fit_is_stationary():
    """At the most likely mixture the classes are the moments of what they are likely to own."""
    counts, z = histogram(skimage.data.camera()), np.arange(256.0)
    w, m, s = fit_mixture(counts)
    p = w * stats.norm.pdf(z[:, None], m, s)
    r = counts[:, None] * p / p.sum(axis=1, keepdims=True)
    size = r.sum(axis=0)
    np.testing.assert_allclose(size / counts.sum(), w, rtol=1e-3)
    np.testing.assert_allclose((r * z[:, None]).sum(axis=0) / size, m, rtol=1e-3)


def test_fits_of_special_histograms():
    fit = fit_mixture(np.eye(256)[10] * 5 + np.eye(256)[200] * 3)
    np.testing.assert_allclose(fit.means, [10, 200])
    np.testing.assert_allclose(fit.deviations, np.sqrt(1 / 12))
    np.testing.assert_allclose(fit.weights, [5 / 8, 3 / 8])
    counts = histogram(skimage.data.camera())
    scaled = fit_mixture(counts, at=np.arange(256) / 255)
    np.testing.assert_allclose(scaled.means * 255, fit_mixture(counts).means, rtol=1e-6)
    wide = np.zeros(65536)
    wide[::257] = counts
    wide += 1e-9  # 65536 levels occur, which are merged
    np.testing.assert_allclose(fit_mixture(wide).means / 257, fit_mixture(counts).means, rtol=2e-3)
    for bad in (np.zeros(5), [-1, 2], [np.nan, 1], np.ones((2, 2)), [], "ab"):
        with pytest.raises(ArgumentError, match="counts"):
            fit_mixture(bad)
    for classes in (0, 3, 2.5):
        with pytest.raises(ArgumentError, match="classes"):
            fit_mixture([1, 2], classes)
    with pytest.raises(ArgumentError, match="grow"):
        fit_mixture([1, 2], at=[3, 1])


@pytest.mark.parametrize("name", ["camera", "coins", "moon", "page", "cell"])
def test_otsus_thresholds_are_those_of_scikit_image(name):
    f = getattr(skimage.data, name)()
    counts = histogram(f)
    assert otsu_thresholds(counts)[0] == skimage.filters.threshold_otsu(f)
    for classes in (3, 4):
        ours, theirs = otsu_thresholds(counts, classes), skimage.filters.threshold_multiotsu(f, classes)

        def within(T, classes=classes):
            return sum(f[b == k].var() * (b == k).sum() for b in [threshold_bands(f, T)] for k in range(classes))

        assert within(ours) <= within(theirs) * (1 + 1e-12)


def test_otsus_thresholds_by_brute_force():
    for _ in range(10):
        counts = RNG.integers(0, 20, 9) * (RNG.random(9) < 0.8)
        counts[[0, 4, 8]] += 1
        z = np.repeat(np.arange(9), counts)

        def within(*T, z=z):
            parts = np.split(z, np.searchsorted(z, T, side="right"))
            return sum(((x - x.mean()) ** 2).sum() for x in parts if x.size)

        T = otsu_thresholds(counts, 3)
        assert within(*T) == pytest.approx(min(within(a, b) for a in range(8) for b in range(a + 1, 8)))
    with pytest.raises(ArgumentError, match="classes"):
        otsu_thresholds([1, 0, 2], 3)


def test_the_minimum_error_threshold_by_brute_force():
    counts = RNG.integers(1, 30, 40)
    z = np.repeat(np.arange(40.0), counts)

    def J(t):
        parts = [(len(x) / len(z), np.sqrt(max(x.var(), 1 / 12))) for x in (z[z <= t], z[z > t])]
        return 1 + 2 * sum(P * np.log(s) - P * np.log(P) for P, s in parts)

    found = minimum_error_threshold(counts)
    assert J(found) == pytest.approx(min(J(t) for t in range(39)))
    small = 0.02 * stats.norm.pdf(np.arange(256), 200, 8) + 0.98 * stats.norm.pdf(np.arange(256), 80, 25)
    best = optimum_threshold(([0.98, 0.02], [80, 200], [25, 8]))
    assert abs(minimum_error_threshold(small) - best) < 12 < abs(otsu_thresholds(small)[0] - best)  # Otsu fails here
    with pytest.raises(ArgumentError, match="one level"):
        minimum_error_threshold([0, 5, 0])


def test_intervals_are_where_a_class_is_most_likely():
    z = np.linspace(-200, 500, 7001)
    for k in (1, 2, 3, 5):
        for _ in range(10):
            mixture = Mixture(RNG.dirichlet(np.ones(k)), RNG.uniform(0, 255, k), RNG.uniform(3, 50, k))
            cuts, classes = decision_intervals(mixture)
            d = np.log(mixture.weights) + stats.norm.logpdf(z[:, None], mixture.means, mixture.deviations)
            found = classes[np.searchsorted(cuts, z)]
            wrong = d.max(axis=1) - d[np.arange(z.size), found]
            assert wrong.max() < 1e-9
            assert (classes[1:] != classes[:-1]).all()
            image = np.clip(np.rint(z), 0, 255).astype(np.uint8)[None]
            assert np.array_equal(classify_levels(image, mixture), classes[np.searchsorted(cuts, image)])
    with pytest.raises(ArgumentError, match="positive"):
        decision_intervals(([1], [5], [0]))


def test_pairwise_thresholds_of_three_classes():
    mixture = ([0.3, 0.4, 0.3], [50, 120, 200], [10, 10, 10])
    cuts, classes = decision_intervals(mixture)
    assert classes.tolist() == [0, 1, 2]
    want = [optimum_threshold(([a, b], [m, n], [10, 10])) for a, b, m, n in ((0.3, 0.4, 50, 120), (0.4, 0.3, 120, 200))]
    np.testing.assert_allclose(cuts, want, rtol=1e-13)


# --- dynamic thresholds -----------------------------------------------------------------------------------------------


def lit_disks(noise=3.0, size=256):
    """Disks on a background whose light falls by more than the contrast of the disks."""
    v, u = np.indices((size, size))
    disks = ((u % 64 - 32) ** 2 + (v % 64 - 32) ** 2) < 18**2
    f = 40 + 140 * u / size + 30 * (v / size) ** 2 + 35 * disks + noise * np.random.default_rng(0).normal(size=u.shape)
    return np.clip(np.rint(f), 0, 255).astype(np.uint8), disks


def test_a_dynamic_threshold_finds_what_no_global_one_does():
    f, disks = lit_disks()
    best = min((threshold(f, T) != disks).mean() for T in range(256))
    found = dynamic_threshold(f, 8)
    wrong = (threshold(f, found.surface) != disks).mean()
    assert best > 0.2
    assert wrong < 0.002
    assert found.surface.shape == f.shape
    assert found.tiles.shape == found.bimodal.shape == (8, 8)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32, np.float64])
def test_dynamic_thresholds_of_other_dtypes(dtype):
    f, disks = lit_disks()
    g = f.astype(dtype) * (100 if np.issubdtype(dtype, np.integer) else 1 / 255)
    assert (threshold(g, dynamic_threshold(g).surface) != disks).mean() < 0.002


def test_tiles_without_two_peaks_get_none_of_their_own():
    """A ramp with noise, and noise alone, have one peak; a tile with half an object has two."""
    ramp = np.tile(np.linspace(50, 150, 128), (128, 1)) + RNG.normal(0, 4, (128, 128))
    for f in (ramp, RNG.normal(100, 10, (128, 128)), np.full((64, 64), 7.0), np.full((9, 9), 7, np.uint8)):
        with pytest.raises(SolveError, match="bimodal"):
            dynamic_threshold(f, 4)
    f = RNG.normal(100, 5, (128, 128))
    f[:32, :32] += 60 * (np.indices((32, 32)).sum(axis=0) % 16 < 8)
    found = dynamic_threshold(f, 4)
    assert found.bimodal.sum() == 1
    np.testing.assert_allclose(found.surface, found.tiles[0, 0], rtol=1e-12)
    assert 110 < found.tiles[0, 0] < 150


def test_tiles_between_bimodal_ones_are_means_of_their_neighbours():
    f, _ = lit_disks()
    f[64:160, 64:160] = 100
    found = dynamic_threshold(f, 8)
    assert not found.bimodal[3, 3]
    T = found.tiles
    for r, c in np.argwhere(~found.bimodal):
        beside = [T[i, j] for i, j in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)) if 0 <= i < 8 and 0 <= j < 8]
        assert T[r, c] == pytest.approx(np.mean(beside))


def test_surfaces_are_bilinear_between_centres():
    f, _ = lit_disks()
    found = dynamic_threshold(f, (4, 8))
    rows, columns = np.arange(4) * 64 + 31.5, np.arange(8) * 32 + 15.5
    surface = RegularGridInterpolator((rows, columns), found.tiles)
    v, u = np.meshgrid(np.arange(32, 223), np.arange(16, 239), indexing="ij")
    np.testing.assert_allclose(found.surface[32:223, 16:239], surface((v, u)), rtol=1e-12)
    np.testing.assert_allclose(found.surface[:31, :15], found.tiles[0, 0], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tiles": 0}, "tiles"),
        ({"tiles": (4, 300)}, "tiles"),
        ({"tiles": "ab"}, "tiles"),
        ({"tiles": (1, 2, 3)}, "tiles"),
        ({"valley": np.nan}, "valley"),
        ({"contrast": "x"}, "contrast"),
        ({"share": None}, "share"),
    ],
)
def test_bad_options_of_dynamic_thresholds(options, words):
    with pytest.raises(ArgumentError, match=words):
        dynamic_threshold(lit_disks()[0], **options)


def test_dynamic_thresholds_need_finite_levels():
    with pytest.raises(ArgumentError, match="finite"):
        dynamic_threshold(np.full((20, 20), np.nan))
    with pytest.raises(ArgumentError, match="image"):
        dynamic_threshold(np.zeros((0, 4)))


def test_the_text_of_an_unevenly_lit_page():
    """scikit-image's page: Otsu blackens its dark corner; against its own local method we agree on most pixels."""
    f = skimage.data.page()
    found = threshold(f, dynamic_threshold(f, (8, 16)).surface, objects="dark")
    local = threshold(f, skimage.filters.threshold_sauvola(f, 31), objects="dark")
    otsu = threshold(f, otsu_thresholds(histogram(f))[0], objects="dark")
    assert (found != local).mean() < 0.06 < 0.15 < (otsu != local).mean()


def test_24_coins():
    """On scikit-image's coins, lit from above; no global threshold separates them from the background."""
    f = median_filter(skimage.data.coins(), 5)

    def found(T):
        labels, n = connected_components(opening(closing(threshold(f, T), 5), 7))
        return n, np.bincount(labels.ravel())[1:]

    for tiles in ((3, 4), (4, 5), (4, 6)):
        n, sizes = found(dynamic_threshold(f, tiles).surface)
        assert n == 24
        assert sizes.min() > 1000
        assert sizes.max() < 3200
    assert all(n != 24 or sizes.max() > 3200 for n, sizes in map(found, range(60, 200, 5)))


# --- boundaries -------------------------------------------------------------------------------------------------------

ROW = np.array([30] * 4 + [20] + [10] * 4 + [20] + [30] * 4, np.uint8)


def test_labels_along_a_dark_bar():
    s = boundary_labels(np.tile(ROW, (5, 1)), 30)
    assert s.dtype == np.int8
    for line in s:
        assert "".join("0+-"[x] for x in line) == "000-++00++-000"
    found = boundary_objects(np.tile(ROW, (5, 1)), 30)
    assert np.array_equal(np.flatnonzero(found[2]), np.arange(4, 10))
    upright = boundary_objects(np.tile(ROW, (5, 1)).T, 30, direction="vertical")
    assert np.array_equal(upright, found.T)
    assert not boundary_objects(np.tile(ROW, (5, 1)).T, 30).any()


def test_light_objects_are_dark_ones_of_the_negative():
    """Where the Laplacian is not 0; where it is, a pixel counts as dark in both."""
    f = skimage.data.coins()
    dark, light = boundary_labels(f, 60), boundary_labels(255 - f, 60, objects="light")
    assert np.array_equal(dark == 0, light == 0)
    assert (dark != light).mean() < 0.05
    row = np.tile(40 - ROW, (3, 1))
    assert np.flatnonzero(boundary_objects(row, 30, objects="light")[1]).tolist() == [5, 6, 7, 8]


def test_scan_lines_by_a_regular_expression():
    for share in ([0.2, 0.4, 0.4], [0.4, 0.2, 0.4], [0.1, 0.8, 0.1]):
        s = RNG.choice([-1, 0, 1], p=share, size=(60, 50)).astype(np.int8)
        want = np.zeros(s.shape, bool)
        for k, line in enumerate(s):
            text = "".join("0+-"[x] for x in line)
            for match in re.finditer(r"(?<=-)(\+|\+[0+]*\+)(?=-)", text):
                want[k, match.start() : match.end()] = True
        assert np.array_equal(fill_scan_lines(s), want)
        assert np.array_equal(fill_scan_lines(s.T, direction="vertical"), want.T)
        assert np.array_equal(fill_scan_lines(s.astype(float)), want)


def test_special_scan_lines():
    def filled(text):
        line = [["0+-".index(c) if c != "-" else -1 for c in text]]
        return "".join("#" if x else "." for x in fill_scan_lines(np.array(line))[0])

    assert filled("-+-") == ".#."
    assert filled("-+-+-") == ".#.#."
    assert filled("-+0+-0-++-") == ".###...##."
    assert filled("+0+-") == filled("-0+-") == filled("----") == filled("0000") == "...."
    ends = np.array([[0, 0, -1], [1, -1, 0]])  # a run does not go on in the next line
    assert not fill_scan_lines(ends).any()


def test_the_histogram_of_boundaries_is_balanced():
    """Of a small object, few pixels are dark; of the pixels on its edge, about half."""
    f = np.full((100, 100), 200.0)
    f[40:50, 40:55] = 60
    f = np.clip(f + RNG.normal(0, 8, f.shape), 0, 255).astype(np.uint8)
    whole, edge = histogram(f), boundary_histogram(f, 250)
    share = [h[:130].sum() / h.sum() for h in (whole, edge)]
    assert share[0] < 0.02
    assert 0.3 < share[1] < 0.7
    T = optimum_threshold(fit_mixture(edge))
    truth = np.zeros(f.shape, bool)
    truth[40:50, 40:55] = True
    assert (threshold(f, T, objects="dark") == truth).mean() > 0.999
    with pytest.raises(ArgumentError, match="no pixel"):
        boundary_histogram(f, 1e6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: boundary_labels(np.ones((3, 3)), 5, objects="red"), "objects"),
        (lambda: boundary_labels(np.ones((3, 3)), None), "level"),
        (lambda: boundary_labels(np.ones((3, 3, 3)), 5), "image"),
        (lambda: fill_scan_lines(np.ones((3, 3), int), direction="up"), "direction"),
        (lambda: fill_scan_lines(np.ones((3, 3), np.uint8)), "labels"),
        (lambda: fill_scan_lines(np.ones(3)), "image"),
    ],
)
def test_bad_questions_about_boundaries(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


# --- colours ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float64])
def test_histograms_of_colours_are_those_of_numpy(dtype):
    f = skimage.data.astronaut()[::8, ::8]
    g = f if dtype is np.uint8 else f.astype(np.uint16) * 257 if dtype is np.uint16 else f / 255
    want, _ = np.histogramdd(f.reshape(-1, 3), bins=[np.arange(0, 257, 16)] * 3)
    assert np.array_equal(colour_histogram(g), want) or dtype is np.float64
    assert colour_histogram(g).sum() == f.shape[0] * f.shape[1]
    assert np.array_equal(colour_histogram(g, 2).sum(), want.sum())


@pytest.mark.slow
def test_clusters_are_as_tight_as_those_of_scikit_learn():
    f = load_sample_image("flower.jpg")[::4, ::4]
    for k in (2, 5):
        found = colour_clusters(f, k)
        peer: Any = KMeans(k, n_init=3, random_state=0).fit(f.reshape(-1, 3).astype(float))
        centroids = found.centroids[nearest_colour(f, found.centroids)]
        assert ((f - centroids) ** 2).sum() <= 1.02 * peer.inertia_  # cells of 16 levels cost a little
        np.testing.assert_allclose(found.shares.sum(), 1)
        assert (np.diff(found.shares) <= 0).all()
        assert np.array_equal(colour_clusters(f, k).centroids, found.centroids)


def test_clusters_of_painted_images():
    colours = np.array([[200, 30, 30], [30, 200, 30], [20, 20, 220]])
    which = RNG.choice(3, p=[0.5, 0.3, 0.2], size=(40, 50))
    f = np.clip(colours[which] + RNG.normal(0, 6, (40, 50, 3)), 0, 255).astype(np.uint8)
    found = colour_clusters(f, 3)
    np.testing.assert_allclose(found.centroids, colours, atol=1.5)
    assert np.array_equal(nearest_colour(f, found.centroids), which)
    assert np.array_equal(nearest_colour(f / 255, found.centroids / 255), which)
    assert np.array_equal(pixels_near_colour(f, found.centroids[0], 40), which == 0)
    assert pixels_near_colour(f, f[3, 4], 0)[3, 4]
    assert colour_clusters(f, 1).centroids[0] == pytest.approx(f.reshape(-1, 3).mean(axis=0))


def test_the_nearest_of_many_colours():
    f, c = RNG.random((20, 30, 3)), RNG.random((300, 3))
    want = ((f[:, :, None] - c) ** 2).sum(axis=3).argmin(axis=2)
    assert np.array_equal(nearest_colour(f, c), want)
    assert nearest_colour(f, c[:256]).dtype == np.uint8
    far = np.sqrt(((f - c[0]) ** 2).sum(axis=2))
    assert np.array_equal(pixels_near_colour(f, c[0], 0.5), far <= 0.5)


RGB = np.zeros((4, 4, 3), np.uint8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: colour_histogram(np.zeros((4, 4))), "red, green, blue"),
        (lambda: colour_histogram(RGB, 1), "cells"),
        (lambda: colour_histogram(RGB, 65), "cells"),
        (lambda: colour_histogram(RGB.astype(float) + 2), "0 to 1"),
        (lambda: colour_histogram(RGB.astype(int)), "levels"),
        (lambda: colour_clusters(RGB, 2), "1 cells"),
        (lambda: colour_clusters(RGB, 0), "clusters"),
        (lambda: colour_clusters(RGB, 1, rng="x"), "rng"),
        (lambda: nearest_colour(RGB, [1, 2, 3]), r"\(k, 3\)"),
        (lambda: nearest_colour(RGB, [[1, 2, np.nan]]), "finite"),
        (lambda: pixels_near_colour(RGB, [1, 2], 3), r"\(k, 3\)"),
        (lambda: pixels_near_colour(RGB, [1, 2, 3], -1), "radius"),
        (lambda: pixels_near_colour(np.zeros((0, 4, 3)), [1, 2, 3], 1), "no pixels"),
    ],
)
def test_bad_questions_about_colours(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
