"""The Hough transform: known lines, circles and curves are found, in both conventions of axes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.errors import ArgumentError
from adjoint.vision.segmentation import (
    curve_peaks,
    hough_circles,
    hough_curve,
    hough_lines,
    hough_segments,
    hough_votes,
    textbook_line,
)


def test_problem_8_1():
    """y = -2 x + 1 is x cos θ + y sin θ = ρ with θ = 26.565° and ρ = 0.44721; its points share that cell."""
    theta, rho = np.arctan2(1, 2), 1 / np.sqrt(5)
    np.testing.assert_allclose([np.rad2deg(theta), rho], [26.565, 0.44721], atol=5e-4)
    points = [(0, 1), (1, -1), (2, -3)]
    grids = np.deg2rad(np.arange(-90, 90, 0.5)), np.arange(-4, 4.01, 0.2)
    found = hough_curve(points, lambda x, y, t: x * np.cos(t) + y * np.sin(t), grids[:1], grids[1])
    assert found.votes.max() == 3
    i, j = (int(np.abs(grid - value).argmin()) for grid, value in zip(grids, (theta, rho), strict=True))
    assert found.votes[i, j] == 3
    # (u, v) = (y, x) has the same line.
    rho_uv, theta_uv = textbook_line(rho, theta)
    for x, y in points:
        np.testing.assert_allclose(y * np.cos(theta_uv) + x * np.sin(theta_uv), rho_uv, atol=1e-12)


def test_slope_and_intercept():
    """b = -x a + y, the book's first form."""
    x = np.arange(10.0)
    found = hough_curve(
        np.stack([x, 3 * x - 2], axis=1), lambda x, y, a: y - x * a, [np.arange(-5, 6)], np.arange(-20, 21)
    )
    coefficients, votes = curve_peaks(found, most=1)
    assert coefficients.tolist() == [[3, -2]] and votes.tolist() == [10]


@settings(deadline=None)
@given(st.floats(-200, 200), st.floats(-7, 7), st.floats(-50, 50))
def test_lines_of_the_book_are_the_same_lines(rho, theta, along):
    """A point of the line u cos θ + v sin θ = ρ lies on the book's line with x = v and y = u; and back again."""
    u, v = rho * np.cos(theta) - along * np.sin(theta), rho * np.sin(theta) + along * np.cos(theta)
    rho_book, theta_book = textbook_line(rho, theta)
    assert -np.pi / 2 <= theta_book < np.pi / 2
    np.testing.assert_allclose(v * np.cos(theta_book) + u * np.sin(theta_book), rho_book, atol=1e-9)
    again = textbook_line(rho_book, theta_book)
    np.testing.assert_allclose(u * np.cos(again[1]) + v * np.sin(again[1]), again[0], atol=1e-9)


@pytest.mark.parametrize("degrees", [-90, -60, -45, -10, 0, 30, 45, 80])
def test_drawn_lines_are_found(degrees):
    theta, rho = np.deg2rad(degrees), 20.0 if degrees > -60 else -40.0
    v, u = np.mgrid[:120, :160]
    edges = np.abs(u * np.cos(theta) + v * np.sin(theta) - rho) < 0.6
    found = hough_lines(edges, most=1)
    apart = abs((found.theta[0] - theta + np.pi / 2) % np.pi - np.pi / 2)
    assert apart <= np.deg2rad(1.01)
    assert abs(found.rho[0] * (1 if np.cos(found.theta[0] - theta) > 0 else -1) - rho) < 2.5
    votes = hough_votes(edges)
    assert votes.votes.max() == found.votes[0]
    assert votes.votes.sum(axis=0).tolist() == [edges.sum()] * 180  # every pixel votes once for each angle


def test_votes_are_those_of_scikit_image_and_of_the_general_accumulator():
    from skimage.transform import hough_line

    edges = np.random.default_rng(0).random((40, 50)) < 0.05
    found, want = hough_votes(edges), hough_line(edges)
    for each, other in zip(found, (want[0], want[2], want[1]), strict=True):
        np.testing.assert_array_equal(each, other)
    general = hough_curve(
        np.argwhere(edges)[:, ::-1], lambda u, v, t: u * np.cos(t) + v * np.sin(t), [found.theta], found.rho
    )
    # Both round to the nearest cell; a few solutions lie in the middle of two.
    assert (found.votes != general.votes.T).mean() < 1e-2


def test_few_votes_make_no_line():
    edges = np.zeros((60, 60), bool)
    edges[10, :50] = edges[:30, 40] = True
    assert len(hough_lines(edges).rho) == 2
    assert len(hough_lines(edges, at_least=40).rho) == 1
    assert len(hough_lines(edges, at_least=50).rho) == 1
    assert len(hough_lines(edges, at_least=51).rho) == 0
    assert hough_lines(np.zeros((5, 5), bool)).rho.shape == (0,)
    assert hough_lines(edges, angles=[0.0], most=1).rho.tolist() == [40]


def test_segments_have_ends():
    edges = np.zeros((100, 100), np.uint8)
    edges[30, 10:80] = 255
    edges[np.arange(50, 95), np.arange(20, 65)] = 255
    found = {tuple(sorted([tuple(each[:2]), tuple(each[2:])])) for each in hough_segments(edges, at_least=20).tolist()}
    assert found == {((10, 30), (79, 30)), ((20, 50), (64, 94))}
    assert edges.sum() == 255 * (70 + 45)  # the image is as it was
    assert hough_segments(np.zeros((9, 9), bool)).shape == (0, 4)


def test_circles_of_both_transforms():
    import cv2

    image = np.full((120, 160), 60, np.uint8)
    true = [(40, 50, 20), (110, 70, 30)]
    for u, v, r in true:
        cv2.circle(image, (u, v), r, 180, -1)
    image = cv2.GaussianBlur(image, (0, 0), 1)
    found = hough_circles(image, radii=(15, 40), apart=20, at_least=20)
    got = sorted(zip(*found.centers.T.tolist(), found.radii.tolist(), strict=True))
    np.testing.assert_allclose(got, true, atol=1.6)
    edges = np.argwhere(cv2.Canny(image, 50, 100))[:, ::-1]
    grids = np.arange(20, 140.0, 2), np.arange(20, 100.0, 2)
    votes = hough_curve(edges, lambda u, v, a, b: np.hypot(u - a, v - b), grids, np.arange(10, 45.0))
    coefficients, _ = curve_peaks(votes, most=2, apart=4)
    np.testing.assert_allclose(sorted(coefficients.tolist()), true, atol=2.1)
    assert hough_circles(np.zeros((30, 30), np.uint8), radii=(3, 9)).centers.shape == (0, 2)


def test_solutions_that_do_not_exist_do_not_vote():
    found = hough_curve([(0, 0), (3, 0)], lambda u, v, a: np.sqrt(1 - (u - a) ** 2), [[0.0, 3.0]], [0.0, 1.0, 2.0])
    assert found.votes.tolist() == [[0, 1, 0], [0, 1, 0]]
    one = hough_curve([(2, 0), (2, 5), (9, 9)], lambda u, v: u, [], np.arange(5.0))  # one coefficient: u = c
    assert one.votes.tolist() == [0, 0, 2, 0, 0]


def test_many_points_are_counted_in_pieces():
    points = np.random.default_rng(0).uniform(0, 50, (3000, 2))
    grid = np.linspace(-60, 60, 1201)
    found = hough_curve(points, lambda u, v, a: v - u * a / 60, [grid], grid)
    solutions = points[:, 1] - points[:, 0] * grid[:, None] / 60
    inside = np.abs(solutions) < 60.05
    np.testing.assert_array_equal(found.votes.sum(axis=1), inside.sum(axis=1))
    middle = found.votes[600]  # a = 0: the distribution of v
    want = np.bincount(np.rint((points[:, 1] + 60) / 0.1).astype(int), minlength=1201)
    np.testing.assert_array_equal(middle, want)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hough_votes(np.arange(9).reshape(3, 3)), "binary"),
        (lambda: hough_votes(np.eye(3), angles=[np.nan]), "angles"),
        (lambda: hough_votes(np.eye(3), angles=[]), "angles"),
        (lambda: hough_lines(np.eye(3), most=-1), "most"),
        (lambda: hough_segments(np.eye(3), shortest=-1), "shortest"),
        (lambda: hough_segments(np.zeros((0, 3))), "no pixels"),
        (lambda: hough_circles(np.zeros((9, 9), np.uint16), radii=(3, 9)), "uint8"),
        (lambda: hough_circles(np.zeros((9, 9), np.uint8), radii=(9, 3)), "radii"),
        (lambda: hough_circles(np.zeros((9, 9), np.uint8), radii=5), "radii"),
        (lambda: hough_curve([(1, 2, 3)], lambda u, v: u, [], [0, 1]), "points"),
        (lambda: hough_curve([(1, 2)], lambda u, v: u, [], [1, 0]), "grow"),
        (lambda: hough_curve([(1, 2)], lambda u, v: u, [], [0, 1, 3]), "grow"),
        (lambda: hough_curve([(1, 2)], lambda u, v, a: u, [[]], [0, 1]), "free"),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
