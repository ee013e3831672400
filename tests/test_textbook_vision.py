"""Equations and problems of chapters 7 and 8 of Fu, Gonzalez & Lee (1987) that no other test has."""

import itertools

import numpy as np

from adjoint.vision.cameras import (
    GimbalCamera,
    book_image_point,
    book_object_point,
    clockwise_matrix,
    gimbal_image_point,
    gimbal_matrix,
    inverse_perspective_matrix,
    perspective_matrix,
    scaling_matrix,
    translation_matrix,
)
from adjoint.vision.images import equalise_histogram, histogram
from adjoint.vision.shapes import thinning
from adjoint.vision.shapes.skeletons import medial_axis


def close(x, y, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(x, y, rtol=0, atol=atol)


# --- cameras ----------------------------------------------------------------------------------------------------------


def test_transformations_follow_each_other_and_are_undone():
    """(7.4-12)-(7.4-15): R S T moves first, then scales, then turns; other orders give other points."""
    p, s, angle = np.array([1.0, -2, 3]), np.array([2.0, 0.5, 3]), 0.7
    T, S, R = translation_matrix(p), scaling_matrix(s), clockwise_matrix(angle, "z")
    V = np.vstack([np.random.default_rng(0).normal(size=(3, 6)), np.ones(6)])
    moved = (V[:3].T + p) * s
    c, n = np.cos(angle), np.sin(angle)
    want = np.stack([c * moved[:, 0] + n * moved[:, 1], c * moved[:, 1] - n * moved[:, 0], moved[:, 2]])
    close((R @ S @ T @ V)[:3], want)
    assert np.abs(T @ S @ R - R @ S @ T).max() > 1
    close(translation_matrix(-p), np.linalg.inv(T))
    close(clockwise_matrix(-angle, "z"), np.linalg.inv(R))


def test_homogeneous_perspective_and_its_free_variable():
    """(7.4-23), (7.4-24) with any k, and (7.4-32)-(7.4-35): a free z gives all points with one image, and no others."""
    lam, w, k = 0.035, np.array([0.2, 0.1, 1.5]), 3.0
    c = perspective_matrix(lam) @ (k * np.append(w, 1))
    close(c, [*(k * w), k - k * w[2] / lam])
    close(c[:3] / c[3], lam * w / (lam - w[2]))
    x, y = book_image_point(w, lam)
    for z in (-0.5, -0.04, 0.0, 0.1):
        h = inverse_perspective_matrix(lam) @ (k * np.array([x, y, z, 1]))
        X, Y, Z = h[:3] / h[3]
        close([X, Y, Z], lam * np.array([x, y, z]) / (lam + z))
        close([X, Y, Z], book_object_point([x, y], Z, lam))


def test_the_gimbal_matrix_is_its_four_factors():
    """(7.4-38)-(7.4-43), problem 7.5: P C R G with the R that is printed, and the closed form of its image points."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        position, offset, lam = rng.normal(size=3), 0.05 * rng.normal(size=3), 0.035
        pan, tilt = rng.uniform(-3, 3, 2)
        Ct, St, Ca, Sa = np.cos(pan), np.sin(pan), np.cos(tilt), np.sin(tilt)
        R = np.eye(4)
        R[:3, :3] = [[Ct, St, 0], [-St * Ca, Ct * Ca, Sa], [St * Sa, -Ct * Sa, Ca]]
        close(clockwise_matrix(tilt, "x") @ clockwise_matrix(pan, "z"), R)
        A = perspective_matrix(lam) @ translation_matrix(-offset) @ R @ translation_matrix(-position)
        close(gimbal_matrix(GimbalCamera(position, pan, tilt, lam, offset=offset)), A, 1e-10)
        w = position + R[:3, :3].T @ (offset + np.array([0.3, -0.2, 2.0]))  # in front of the lens
        c = A @ np.append(w, 1)
        X, Y, Z = w - position
        below = -X * St * Sa + Y * Ct * Sa - Z * Ca + offset[2] + lam
        x = lam * (X * Ct + Y * St - offset[0]) / below
        y = lam * (-X * St * Ca + Y * Ct * Ca + Z * Sa - offset[1]) / below
        close([x, y], c[:2] / c[3])
        close(gimbal_image_point(w, position, pan, tilt, lam, offset), [x, y])


# --- images -----------------------------------------------------------------------------------------------------------


def test_problem_7_11_levels_are_merged_but_never_split():
    """Equal pixels stay equal, so each count of the new histogram is a sum of old ones: it cannot be flat."""
    image = np.random.default_rng(0).binomial(255, 0.4, (80, 90)).astype(np.uint8)
    equal = equalise_histogram(image)
    before, after = histogram(image), histogram(equal)
    to = {int(level): int(equal[image == level][0]) for level in np.unique(image)}
    assert all((equal[image == level] == new).all() for level, new in to.items())
    assert (after > 0).sum() <= (before > 0).sum()
    for new in np.flatnonzero(after):
        assert after[new] == sum(before[level] for level in to if to[level] == new)
    assert after.max() >= before.max() > 2 * image.size / 256


# --- shapes -----------------------------------------------------------------------------------------------------------


def test_problem_8_16_medial_axes():
    """A disk has a point, to a pixel; the others have the bisectors of their sides, and a circle in the middle."""
    v, u = np.mgrid[-60:61, -60:61].astype(float)
    r = np.hypot(u, v)
    axis = medial_axis(r <= 40.5).skeleton
    assert 1 <= axis.sum() <= 4 and r[axis].max() < 1.5
    axis = medial_axis((r <= 45.6) & (r >= 20.5)).skeleton
    assert np.abs(r[axis] - (45.6 + 20.5) / 2).max() < 1 and axis.sum() > 180
    assert np.unique(np.rint(np.arctan2(v, u)[axis] * 28 / np.pi)).size == 57  # all around, both ends of the angle

    rectangle = (np.abs(u) <= 50) & (np.abs(v) <= 20)
    axis = medial_axis(rectangle).skeleton
    bisectors = np.abs((50 - np.abs(u)) - (20 - np.abs(v))) == 0
    middle = (v == 0) & (np.abs(u) <= 30)
    assert np.array_equal(axis, (bisectors | middle) & rectangle & ((np.abs(u) >= 30) | middle))

    corners = np.pi / 2 + np.arange(3) * 2 * np.pi / 3
    to_sides = np.stack([30 + u * np.cos(k) + v * np.sin(k) for k in corners])  # of an equilateral triangle
    first, second, _ = np.sort(to_sides, axis=0)
    axis = medial_axis(first >= 0).skeleton
    assert (second - first)[axis].max() < 2.5  # pixels of slanted sides are off by one
    assert axis[np.hypot(u, v) < 2].any() and axis[np.hypot(u, v) > 50].any()


def test_problem_8_17_windows_are_what_a_scan_keeps():
    """All neighbourhoods of a left edge point, against the windows of Fig. 8.40; those of B_0 are turned by 180°."""
    for n0, n1, n2, n3, n5, n6, n7 in itertools.product((False, True), repeat=7):
        kept = not n0 or not (n1 or n2 or n6 or n7) or (n3 and not n2) or (n5 and not n6)
        # Bit j of a row is column j; p is in column 2 of the middle row, at which alone the scan looks.
        rows = [0, n3 << 1 | n2 << 2 | n1 << 3, 1 << 2 | n0 << 3, n5 << 1 | n6 << 2 | n7 << 3, 0]
        thinning._scan_beside(rows, bytearray(b"\0\0\1\0\0"), bytearray(5))
        assert bool(rows[2] >> 2 & 1) == kept
        # Turned around, n0 is to the left; one more pixel in column 0 makes it no left edge point.
        turned = [0, n7 << 1 | n6 << 2 | n5 << 3, 1 << 2 | n0 << 1 | n0, n1 << 1 | n2 << 2 | n3 << 3, 0]
        thinning._scan_beside(turned, bytearray(b"\0\0\1\0\0"), bytearray(5))
        assert bool(turned[2] >> 2 & 1) == kept
