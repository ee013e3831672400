"""Boundaries, signatures, polygons and Fourier descriptors: laws, second formulations, and peers."""

import itertools

import cv2
import numpy as np
import pytest
from scipy import ndimage
from scipy.optimize import minimize
from skimage import data, measure
from support.silhouettes import area, blob, largest, length, star, turned

from adjoint.errors import ArgumentError
from adjoint.vision.shapes import (
    Boundary,
    amplitude_moments,
    basic_rectangle,
    chain_code,
    chain_points,
    convex_deficiency,
    convex_hull,
    crack_boundaries,
    diameter,
    distance_signature,
    fourier_boundary,
    fourier_descriptors,
    fourier_invariants,
    histogram_moments,
    merged_polygon,
    minimum_perimeter_polygon,
    pixel_boundaries,
    polygon_area,
    polygon_centroid,
    resampled_boundary,
    slope_density,
    split_polygon,
    tangent_signature,
)

SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])


def horse() -> np.ndarray:
    """The silhouette of a horse that scikit-image ships, 328 x 400."""
    return largest(~np.asarray(data.horse()).astype(bool))


# --- boundaries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("density", [0.2, 0.5, 0.6, 0.9])
def test_cracks_lie_between_object_and_background(connectivity, density):
    rng = np.random.default_rng(int(100 * density) + connectivity)
    for _ in range(6):
        image = rng.random(rng.integers(1, 14, 2)) < density
        found = crack_boundaries(image, connectivity=connectivity)
        near, far = (
            ndimage.generate_binary_structure(2, connectivity // 4),
            ndimage.generate_binary_structure(2, 3 - connectivity // 4),
        )
        regions = ndimage.label(image, near)[1]  # type: ignore[index]
        holes = ndimage.label(np.pad(~image, 1, constant_values=True), far)[1] - 1  # type: ignore[index]
        assert [sum(b.hole is hole for b in found) for hole in (False, True)] == [regions, holes]
        assert sum(area(b.points) for b in found) == image.sum()
        framed, cracks = np.pad(image, 1), 0
        for boundary in found:
            assert boundary.closed and (area(boundary.points) < 0) == boundary.hole
            middle = (boundary.points + np.roll(boundary.points, -1, axis=0)) / 2
            step = np.roll(boundary.points, -1, axis=0) - boundary.points
            right = np.stack([-step[:, 1], step[:, 0]], axis=1) / 2  # from u to v: on the right as seen
            inside, outside = (np.rint(middle + side * right).astype(int) + 1 for side in (1, -1))
            assert framed[inside[:, 1], inside[:, 0]].all() and not framed[outside[:, 1], outside[:, 0]].any()
            cracks += len(step)
        assert cracks == (framed[1:] ^ framed[:-1]).sum() + (framed[:, 1:] ^ framed[:, :-1]).sum()


def test_cracks_where_pixels_touch_at_a_corner():
    touching = np.eye(2, dtype=bool)
    assert len(crack_boundaries(touching, connectivity=4)) == 2
    [both] = crack_boundaries(touching)
    assert len(both.points) == 8
    ring = ~np.eye(3, dtype=bool)[::-1]  # the background is cut in two for 4, and one hole less for 8
    assert [b.hole for b in crack_boundaries(ring, connectivity=4)] == [False, False]
    assert sorted(b.hole for b in crack_boundaries(ring, connectivity=8)) == [False, True]


def test_pixels_are_opencvs_contours():
    image = blob(np.random.default_rng(0), 40, 50, 1.5)
    found = pixel_boundaries(image)
    contours, tree = cv2.findContours(image.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    assert len(found) == len(contours) and [b.hole for b in found] == (tree[0, :, 3] >= 0).tolist()
    for boundary, contour in zip(found, contours, strict=True):
        assert set(map(tuple, boundary.points.tolist())) == set(map(tuple, contour[:, 0].tolist()))
        assert image[boundary.points[:, 1], boundary.points[:, 0]].all()
        assert boundary.hole or area(boundary.points) >= 0
    assert not np.array_equal(image, image[::-1])
    assert len(pixel_boundaries(np.asfortranarray(image)[::-1])) == len(found)  # any strides


def test_boundaries_of_odd_images():
    assert crack_boundaries(np.zeros((4, 5), bool)) == [] == pixel_boundaries(np.zeros((4, 5), bool))
    assert [len(b.points) for b in crack_boundaries(np.ones((1, 1)))] == [4]
    assert pixel_boundaries(np.full((1, 1), 255, np.uint8))[0].points.tolist() == [[0, 0]]
    assert np.array_equal(
        crack_boundaries(np.full((3, 4), 255, np.uint16))[0].points, crack_boundaries(np.ones((3, 4)))[0].points
    )
    line = pixel_boundaries(np.ones((1, 4), bool))[0]
    assert len(line.points) == 6 and line.closed  # to and fro
    for bad, message in (
        (np.ones((2, 2, 3)), "shape"),
        (np.zeros((0, 2)), "no pixels"),
        (np.array([["a"]]), "real numbers"),
    ):
        for find in (crack_boundaries, pixel_boundaries):
            with pytest.raises(ArgumentError, match=message):
                find(bad)
    with pytest.raises(ArgumentError, match="'connectivity' is 6"):
        crack_boundaries(np.ones((2, 2)), connectivity=6)


def test_open_and_closed_boundaries():
    points = pixel_boundaries(horse())[0].points
    assert Boundary(points).closed and not Boundary(points[:-5]).closed
    assert not Boundary(np.array([[0, 0], [1, 0]])).closed and Boundary(np.array([[0, 0]])).closed


# --- extents ----------------------------------------------------------------------------------------------------------


def test_diameter_hull_and_rectangle():
    rng = np.random.default_rng(1)
    for n in (3, 10, 60, 300):
        points = rng.normal(size=(n, 2)) * [5, 2]
        found = diameter(points)
        pairs = np.linalg.norm(points[:, None] - points, axis=-1)
        assert found.length == pytest.approx(pairs.max(), rel=1e-14)
        np.testing.assert_allclose(np.linalg.norm(found.ends[0] - found.ends[1]), found.length)
        hull = convex_hull(points)
        np.testing.assert_allclose(area(hull), cv2.contourArea(cv2.convexHull(points.astype(np.float32))), rtol=1e-5)
        box = basic_rectangle(points)
        e = np.array([np.cos(box.angle), np.sin(box.angle)])
        np.testing.assert_allclose(abs(e @ (found.ends[1] - found.ends[0])), found.length)
        inside = (points - box.center) @ np.stack([e, [-e[1], e[0]]], axis=1)
        np.testing.assert_allclose(np.abs(inside).max(axis=0), [box.major / 2, box.minor / 2])
        np.testing.assert_allclose(area(box.corners), box.major * box.minor)
        assert box.eccentricity == box.major / box.minor and box.major == found.length
        assert -np.pi / 2 < box.angle <= np.pi / 2


def test_points_on_a_line():
    line = np.stack([np.arange(5.0), 2 * np.arange(5.0)], axis=1)
    assert convex_hull(line).tolist() == [[0, 0], [4, 8]]
    assert convex_hull(np.zeros((1, 2))).tolist() == [[0, 0]]
    box = basic_rectangle(line)
    assert box.minor == pytest.approx(0, abs=1e-12) and box.eccentricity == np.inf
    with pytest.raises(ArgumentError, match="all points of the boundary are one"):
        basic_rectangle(np.ones((3, 2)) + np.array([[0, 0], [0, 0], [0, 0]]))
    assert basic_rectangle([[3, 0], [3, 7]]).angle == np.pi / 2


def test_convex_deficiency():
    image = np.zeros((20, 20), bool)
    image[2:18, 2:6], image[14:18, 2:18] = True, True
    missing = convex_deficiency(image)
    assert not (missing & image).any() and missing.sum() > 0
    assert convex_deficiency(missing | image).sum() == 0
    with pytest.raises(ArgumentError, match="no object pixels"):
        convex_deficiency(np.zeros((3, 3)))


# --- signatures -------------------------------------------------------------------------------------------------------


def test_distance_signature_of_a_square_and_a_circle():
    """r(θ) = a sec θ of a square with the half side a (Fig. 8.29), and a constant of a circle."""
    found = distance_signature(7 * SQUARE + [100, 50], 720)
    theta = (found.at + np.pi / 4) % (np.pi / 2) - np.pi / 4
    np.testing.assert_allclose(found.values, 7 / np.cos(theta), rtol=1e-12)
    angles = np.linspace(0, 2 * np.pi, 10000, endpoint=False)
    circle = distance_signature(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    np.testing.assert_allclose(circle.values, 1, rtol=1e-6)
    # Problem 8.9: one number, the variance of r, tells them apart.
    assert amplitude_moments(circle.values)[1] < 1e-12 < 1e-3 < amplitude_moments(found.values / 7)[1]
    assert distance_signature(7 * SQUARE, 8, unit=True).values.max() == 1


def test_distance_signature_turns_with_the_object():
    points = star()
    base = distance_signature(points, 360).values
    for k in (1, 90, 200):
        other = distance_signature(2 * turned(points, np.radians(k)) + [3, 4], 360).values
        np.testing.assert_allclose(other, 2 * np.roll(base, k), rtol=1e-9)


def test_distance_signature_of_shapes_that_are_no_stars():
    """Of several crossings the farthest counts, and a ray that meets nothing gives 0."""
    c = np.array([[0, 0], [10, 0], [10, 2], [2, 2], [2, 8], [10, 8], [10, 10], [0, 10]], float)  # the letter C
    found = distance_signature(c, 4, center=(6, 5))
    np.testing.assert_allclose(found.values, [0, 5, 6, 5])
    middle = polygon_centroid(c)
    for theta, r in zip(*distance_signature(c, 16), strict=True):
        direction = np.array([np.cos(theta), np.sin(theta)])
        inside = measure.points_in_poly(middle + np.outer(np.linspace(0, 15, 2000), direction), c)
        last = np.linspace(0, 15, 2000)[inside].max(initial=0.0)
        assert abs(r - last) < 0.02


def test_tangents_of_a_square():
    """Problem 8.8: four steps of 90°, and four equal spikes."""
    steps = 4 * (SQUARE + 1)
    found = tangent_signature(steps)
    assert np.degrees(found.values).tolist() == [0, 90, 180, 270] and found.at.tolist() == [0, 8, 16, 24]
    density = slope_density(steps, 36)
    assert density.values[[0, 9, 18, 27]].tolist() == [0.25] * 4 and density.values.sum() == 1
    cracks = crack_boundaries(np.ones((5, 5)))[0]
    assert slope_density(cracks, 8).values.tolist() == [0.25, 0] * 4


def test_tangents_grow_by_one_turn_around():
    for points in (star(), crack_boundaries(blob(np.random.default_rng(2), solid=True))[0].points):
        values = tangent_signature(points).values
        last = (values[0] - values[-1] + np.pi) % (2 * np.pi) - np.pi
        assert values[-1] + last - values[0] == pytest.approx(2 * np.pi)
        wrapped = tangent_signature(points, unwrap=False).values
        assert ((wrapped >= 0) & (wrapped < 2 * np.pi)).all()
        np.testing.assert_allclose(np.cos(wrapped), np.cos(values), atol=1e-12)


def test_moments_of_amplitudes():
    rng = np.random.default_rng(3)
    values = rng.gamma(2.0, size=(4, 5000))
    found = amplitude_moments(values, 5)
    np.testing.assert_allclose(found[:, 0], values.mean(axis=1))
    for n in range(2, 6):
        np.testing.assert_allclose(found[:, n - 1], ((values - values.mean(axis=1)[:, None]) ** n).mean(axis=1))
    # Bins of width w move each value by w/2 at most, so the mean, too; the variance by w² at most.
    coarse, width = amplitude_moments(values, 2, bins=200), np.ptp(values, axis=1) / 200
    assert (np.abs(coarse[:, 0] - found[:, 0]) <= width / 2).all()
    np.testing.assert_allclose(coarse[:, 1], found[:, 1], rtol=1e-2)
    assert amplitude_moments(np.full(9, 3.0), 3, bins=4).tolist() == pytest.approx([3.0 + 0.125, 0, 0], abs=0.2)
    np.testing.assert_allclose(histogram_moments([0, 1], [[1, 3], [3, 1]], 1), [[0.75], [0.25]])
    for call, message in (
        (lambda: histogram_moments([0, 1], [1, 2, 3]), "do not fit"),
        (lambda: histogram_moments([0, 1], [0, 0]), "positive"),
        (lambda: amplitude_moments([]), "n >= 1"),
        (lambda: distance_signature([[0, 0], [1, 1]]), "3 or more"),
        (lambda: polygon_centroid([[0, 0], [1, 1], [2, 2]]), "no area"),
        (lambda: slope_density(SQUARE, -1), "whole number"),
        (lambda: distance_signature(SQUARE, center=3.0), "center"),
        (lambda: polygon_area(np.ones((3, 3))), "shape"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()


# --- the minimum-perimeter polygon ------------------------------------------------------------------------------------


def shortest_band(code) -> float:
    """The least length of closed curves that cross all links from object to background pixels: a convex problem."""
    p = chain_points(code)
    step = np.roll(p, -1, axis=0) - p
    right = np.stack([-step[:, 1], step[:, 0]], axis=1)
    inside = p + step / 2 + right / 2

    def cost(t, softness):
        x = inside - t[:, None] * right
        d = np.roll(x, -1, axis=0) - x
        size = np.sqrt((d * d).sum(axis=1) + softness)
        slope = d / size[:, None]
        return size.sum(), -((np.roll(slope, 1, axis=0) - slope) * right).sum(axis=1)

    t = np.full(len(p), 0.5)
    for softness in (1e-2, 1e-4, 1e-6, 1e-8):
        options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
        t = minimize(cost, t, (softness,), "L-BFGS-B", True, bounds=[(0, 1)] * len(t), options=options).x
    return length(inside - t[:, None] * right)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_band_between_the_walls_is_shorter(seed):
    rng = np.random.default_rng(seed)
    image = blob(rng, 8, 9, rng.uniform(0, 1.3))
    found, best = length(minimum_perimeter_polygon(image)), shortest_band(chain_code(image))
    # The optimiser is off by the root of its softness for every link, at most.
    assert best - 1e-3 <= found <= best + 1e-9


def test_polygon_of_rectangles_is_exact():
    for rows, columns in ((2, 2), (5, 5), (3, 8)):
        found = minimum_perimeter_polygon(np.pad(np.ones((rows, columns), bool), 2))
        want = np.array([[0, 0], [columns - 1, 0], [columns - 1, rows - 1], [0, rows - 1]]) + 2
        assert np.array_equal(found, want)
    bar = minimum_perimeter_polygon(np.ones((1, 7), bool))
    assert bar.tolist() == [[0, 0], [6, 0]] and length(bar) == 12  # to and fro
    assert minimum_perimeter_polygon(np.ones((1, 1))).tolist() == [[0, 0]]


def test_corners_touch_the_walls():
    """Convex corners are object pixels, concave ones background pixels; no object pixel is outside."""
    image = horse()
    found = minimum_perimeter_polygon(image).astype(int)
    before, after = found - np.roll(found, 1, axis=0), np.roll(found, -1, axis=0) - found
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    on = image[found[:, 1], found[:, 0]]
    assert on[turn > 0].all() and not on[turn < 0].any() and (turn != 0).all()
    contour = found.astype(np.float32).reshape(-1, 1, 2)
    border = next(b for b in pixel_boundaries(image) if not b.hole).points
    assert min(cv2.pointPolygonTest(contour, (float(u), float(v)), True) for u, v in border) > -1e-5
    # The band is at most half a diagonal of a pixel from the cracks (their half-way points), P8.10.
    cracks = crack_boundaries(image)[0].points
    far = max(abs(cv2.pointPolygonTest(contour, (float(u), float(v)), True)) for u, v in cracks[::5])
    assert far <= np.sqrt(0.5) + 1e-5


def test_polygon_of_a_convex_region_is_the_hull_of_its_pixels():
    disk = np.hypot(*np.mgrid[-15:16, -15:16]) <= 14.3
    hull = convex_hull(np.argwhere(disk)[:, ::-1])
    found = minimum_perimeter_polygon(disk)
    assert length(found) == pytest.approx(length(hull)) and area(found) == pytest.approx(area(hull))
    assert minimum_perimeter_polygon(chain_code(disk)).tolist() == found.tolist()
    assert minimum_perimeter_polygon(crack_boundaries(disk)[0]).tolist() == found.tolist()
    for bad, message in (
        (chain_code(disk, directions=8), "4 directions"),
        ("00", "closed code"),
        (np.zeros((3, 3)), "no object pixels"),
        (Boundary(crack_boundaries(disk)[0].points[::-1]), "counter-clockwise"),
        (Boundary(SQUARE), "the step from point 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            minimum_perimeter_polygon(bad)


# --- polygons by splitting and merging --------------------------------------------------------------------------------


def test_splitting_a_rectangle():
    """X34: a threshold of a quarter of the diameter gives the four corners."""
    corners = np.array([[0, 0], [8, 0], [8, 4], [0, 4]], float)
    points = resampled_boundary(corners, 48)
    assert diameter(points).length == pytest.approx(8.944, abs=5e-4)
    found = split_polygon(points, 0.25 * diameter(points).length)
    np.testing.assert_allclose(found, corners, atol=1e-12)
    assert split_polygon(points, 3.6).shape == (2, 2)  # the other corners are 3.578 from the diagonal


@pytest.mark.parametrize("make", [split_polygon, merged_polygon])
def test_threshold_zero_keeps_all_that_is_not_straight(make):
    """Problem 8.11, for cracks, whose straight parts are exact."""
    image = blob(np.random.default_rng(4), solid=True)
    points = crack_boundaries(image)[0].points
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    turns = before[:, 0] * after[:, 1] != before[:, 1] * after[:, 0]
    found = make(points, 0.0)
    assert {tuple(p) for p in found.round(6)} == {tuple(p) for p in points[turns]}
    assert len(found) == turns.sum()


@pytest.mark.parametrize("tolerance", [1.0, 3.0, 10.0])
def test_splitting_stays_within_the_tolerance_as_peers_do(tolerance):
    points = pixel_boundaries(horse())[0].points
    found = split_polygon(points, tolerance)
    contour = found.astype(np.float32).reshape(-1, 1, 2)
    assert {tuple(p) for p in found} <= {tuple(map(float, p)) for p in points}
    far = max(abs(cv2.pointPolygonTest(contour, (float(u), float(v)), True)) for u, v in points[::29])
    # Distances are from lines through the ends, not from the sides, so a few points may be farther than the tolerance.
    assert far <= 1.5 * tolerance + 1e-6
    first = np.flatnonzero((points == found[0]).all(axis=1))[0]
    other = measure.approximate_polygon(
        np.concatenate([np.roll(points, -first, axis=0), points[first : first + 1]]), tolerance
    )
    third = cv2.approxPolyDP(np.ascontiguousarray(points), tolerance, True)
    assert 0.8 < len(found) / (len(other) - 1) < 1.25 and 0.8 < len(found) / len(third) < 1.25


def test_merging_finds_the_lines_of_a_noisy_polygon():
    rng = np.random.default_rng(5)
    corners = np.array([[0, 0], [100, 10], [90, 80], [10, 60]], float)
    points = resampled_boundary(corners, 400) + rng.normal(size=(400, 2)) * 0.02
    found = merged_polygon(points, 0.1)
    assert len(found) in (4, 5)
    for corner in corners:  # a line absorbs some points behind its corner, as the textbook warns
        assert np.linalg.norm(found - corner, axis=1).min() < 1.5
    assert len(merged_polygon(points, 1e-3)) > 50


@pytest.mark.parametrize("make", [split_polygon, merged_polygon])
def test_polygons_need_a_tolerance_and_points(make):
    for points, tolerance, message in (
        (SQUARE, -1.0, "tolerance must be a positive number or 0"),
        (SQUARE, np.nan, "tolerance"),
        (SQUARE[:2], 1.0, "3 or more"),
        (np.full((4, 2), np.nan), 1.0, "NaN"),
        (np.ones(4), 1.0, "shape"),
        ("abc", 1.0, "shape"),
    ):
        with pytest.raises(ArgumentError, match=message):
            make(points, tolerance)


# --- Fourier descriptors ----------------------------------------------------------------------------------------------


def test_laws_of_fourier_descriptors():
    points = resampled_boundary(star(), 64)
    F, k = fourier_descriptors(points), np.arange(64)
    moved = fourier_descriptors(points + np.array([3.0, -2.0]))
    np.testing.assert_allclose(moved[1:], F[1:], atol=1e-12)
    np.testing.assert_allclose(moved[0], F[0] + (3 - 2j))
    np.testing.assert_allclose(fourier_descriptors(2.5 * points), 2.5 * F)
    np.testing.assert_allclose(fourier_descriptors(turned(points, 0.7)), np.exp(0.7j) * F, atol=1e-12)
    for m in (1, 5, 40):  # the boundary that starts at point m
        late = fourier_descriptors(np.roll(points, -m, axis=0))
        np.testing.assert_allclose(late, F * np.exp(2j * np.pi * k * m / 64), atol=1e-12)
    np.testing.assert_allclose(F[0], points[:, 0].mean() + 1j * points[:, 1].mean())
    np.testing.assert_allclose((np.abs(F) ** 2).sum(), (points**2).sum() / 64)  # Parseval
    assert np.abs(F[1:]).argmax() == 0  # it runs clockwise as seen


def test_boundaries_come_back():
    points = resampled_boundary(star(), 41)
    for n in (40, 41):
        F = fourier_descriptors(points[:n])
        np.testing.assert_allclose(fourier_boundary(F), points[:n], atol=1e-12)
    both = np.stack([points, 2 * points[::-1]])
    np.testing.assert_allclose(fourier_boundary(fourier_descriptors(both)), both, atol=1e-12)
    # On a finer grid, every third point is the old one; all lie on the same curve.
    np.testing.assert_allclose(fourier_boundary(fourier_descriptors(points), samples=123)[::3], points, atol=1e-12)


def test_truncation_is_the_best_of_its_size_at_low_frequencies():
    points = resampled_boundary(pixel_boundaries(horse())[0], 512)
    F = fourier_descriptors(points)
    errors = []
    for keep in (1, 2, 3, 9, 33, 129, 512):
        part = fourier_boundary(F, keep)
        kept = [0, *(k // 2 * (1 if k % 2 == 0 else -1) for k in range(2, keep + 1))]
        assert len(set(kept)) == keep
        lost = np.abs(np.delete(F, np.array(kept))) ** 2
        errors.append(((part - points) ** 2).sum() / 512)
        np.testing.assert_allclose(errors[-1], lost.sum(), rtol=1e-9, atol=1e-20)  # what is left out, and no more
    assert all(a >= b for a, b in itertools.pairwise(errors)) and errors[-1] < 1e-20
    ellipse = fourier_boundary(F, 3)
    np.testing.assert_allclose(fourier_descriptors(ellipse)[[0, 1, -1]], F[[0, 1, -1]], atol=1e-9)


def test_invariants_of_fourier_descriptors():
    points = resampled_boundary(star(), 60)
    want = fourier_invariants(fourier_descriptors(points))
    other = np.roll(3 * turned(points, 2.0) + [7, 8], 11, axis=0)
    np.testing.assert_allclose(fourier_invariants(fourier_descriptors(other)), want, atol=1e-12)
    # A star with five points has only the frequencies 1 + 5 n: -4 and 6 of -1, 2, -2, 3, -3, 4, -4, 5, -5, 6.
    assert np.flatnonzero(want > 1e-9).tolist() == [6, 9]
    assert fourier_invariants(fourier_descriptors(points[:4]), 10).shape == (10,)
    assert not fourier_invariants(fourier_descriptors(points[:4]), 10)[2:].any()


def test_bad_descriptors():
    for call, message in (
        (lambda: fourier_descriptors(np.ones(4)), r"\(\.\.\., M, 2\)"),
        (lambda: fourier_boundary("abc"), "complex numbers"),
        (lambda: fourier_boundary(np.ones(8), samples=4), "ask for more samples"),
        (lambda: fourier_invariants([1.0]), "no shape"),
        (lambda: fourier_boundary(np.ones(8), -1), "whole number"),
        (lambda: resampled_boundary([[0, 0]], 4), "3 or more"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()


# --- numbers far from 1, and arguments that are none ------------------------------------------------------------------


def test_areas_far_from_the_origin_lose_nothing():
    far = SQUARE + np.array([2.0**40, -(2.0**41)])  # exact in double precision; products of coordinates are not
    assert polygon_area(far) == 4.0


def test_boundaries_refuse_what_overflows_or_has_two_parts():
    for bad, message in (
        (np.array([[1e308, 0], [-1e308, 0], [0, 1e308]]), "beyond 1e.100"),
        (np.array([[0, 0], [1, np.inf], [2, 2]]), "infinity"),
        (SQUARE.astype(complex), r"points \(n, 2\)"),
        ([[0, 0], [1]], r"points \(n, 2\)"),
        ("abc", r"points \(n, 2\)"),
    ):
        for function in (convex_hull, diameter, basic_rectangle, polygon_area, polygon_centroid, tangent_signature):
            with pytest.raises(ArgumentError, match=message):
                function(bad)


def test_invariants_need_the_first_frequency():
    """Backwards, a circle has its size at frequency -1, and all other numbers would be rounding errors."""
    a = 2 * np.pi / 64 * np.arange(64)
    circle = np.stack([np.cos(a), np.sin(a)], axis=1)
    assert fourier_invariants(fourier_descriptors(circle), 4) == pytest.approx(0, abs=1e-12)
    for bad in (circle[::-1], np.ones((8, 2))):
        with pytest.raises(ArgumentError, match="frequency 1"):
            fourier_invariants(fourier_descriptors(bad))


@pytest.mark.parametrize("points", [[[0, 0], [4, 0], [4, 2], [0, 2]], [[0, 0], [4, 0], [8, 0], [4, 0]]])
def test_one_merged_line_has_two_corners(points):
    """They are where the diameter's ends come to lie on the line of least squares."""
    ends = merged_polygon(points, 100.0)
    assert ends.shape == (2, 2)
    first = diameter(points).ends[0]
    around = np.array([*points, first], float)  # the walk ends where it began
    middle = around.mean(axis=0)
    normal = np.linalg.svd(around - middle)[2][1]
    assert (ends - middle) @ normal == pytest.approx(0, abs=1e-9)
    assert np.ptp(ends @ np.array([1.0, 0.0])) > 4


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: resampled_boundary(SQUARE, 0), "'samples' is 0"),
        (lambda: distance_signature(SQUARE, 0), "'samples' is 0"),
        (lambda: distance_signature(SQUARE, center=(np.nan, 0)), "'center'"),
        (lambda: distance_signature(SQUARE, unit=np.ones(3)), "'unit'"),
        (lambda: tangent_signature(np.ones((4, 2))), "all points of the boundary are one"),
        (lambda: slope_density(SQUARE, 0), "'bins' is 0"),
        (lambda: slope_density(np.zeros((5, 2))), "all points of the boundary are one"),
        (lambda: amplitude_moments([1e200, 2.0]), "beyond"),
        (lambda: amplitude_moments([1.0, np.nan]), "NaN"),
        (lambda: amplitude_moments([1.0, 2.0], 0), "'highest' is 0"),
        (lambda: histogram_moments([1e200, 2.0], [1, 1]), "beyond"),
        (lambda: fourier_descriptors(np.full((4, 2), 1e308)), "beyond"),
        (lambda: fourier_boundary([1, [2]]), "complex numbers, are needed"),
        (lambda: minimum_perimeter_polygon(""), "a closed code"),
        (lambda: crack_boundaries(np.ones((3, 3)), connectivity=np.ones(2)), "'connectivity'"),
    ],
)
def test_arguments_of_shapes_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
