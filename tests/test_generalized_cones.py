"""Generalized cones: volumes by Pappus, normals by differences, and fits that recover known cones."""

import numpy as np
import pytest

from adjoint.compile import check_grads
from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import so3
from adjoint.vision.surfaces import (
    GeneralizedCone,
    Spine,
    arc_spine,
    circle_section,
    cone_mesh,
    cone_points,
    cone_volume,
    fit_cone,
    ring_section,
    spine_coordinates,
    spine_through,
    straight_spine,
    swept_point,
)

SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
T = np.eye(4)
T[:3, :3], T[:3, 3] = so3.exp.eager([0.5, -0.7, 0.3]), [0.3, -0.2, 1.1]
LINE = straight_spine((0, 0, 0), (0, 0, 2))


def closed(mesh) -> bool:
    """Whether every edge belongs to two triangles, once in each direction."""
    edges = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]]])
    return set(map(tuple, edges.tolist())) == set(map(tuple, edges[:, ::-1].tolist())) and len(
        np.unique(edges, axis=0)
    ) == len(edges)


# --- the textbook's examples, and laws --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_ring_on_a_line_is_a_hollow_cylinder():
    tube = GeneralizedCone(ring_section(0.1, 0.2, points=400), LINE)
    assert cone_volume(tube) == pytest.approx(np.pi * (0.2**2 - 0.1**2) * 2)
    for loop, radius, way in ((0, 0.2, 1), (1, 0.1, -1)):
        found = cone_points(tube, np.linspace(0, 1, 7)[:, None], np.linspace(0, 1, 11), loop=loop)
        across = np.linalg.norm(found.points[..., :2], axis=-1)
        np.testing.assert_allclose(across, radius, rtol=1e-4)  # corners of a polygon with the area of the circle
        out = found.points[..., :2] / across[..., None]
        assert (way * (found.normals[..., :2] * out).sum(axis=-1)).min() > 0.9999
        assert np.abs(found.normals[..., 2]).max() < 1e-15
    mesh = cone_mesh(tube)
    assert closed(mesh)


@pytest.mark.slow
def test_a_diameter_that_is_constant_and_then_linear():
    """Fig. 8.50b: the volume is that of a cylinder and of a frustum."""
    horn = GeneralizedCone(circle_section(0.1, points=200), LINE, knots=(0, 0.5, 1), scales=(1, 1, 2))
    area = np.pi * 0.1**2
    assert cone_volume(horn) == pytest.approx(area * 1 + area * (1 + 2 + 4) / 3)
    np.testing.assert_allclose(horn.scale([0, 0.25, 0.5, 0.75, 1]), [1, 1, 1, 1.5, 2])
    assert closed(cone_mesh(horn))


@pytest.mark.parametrize("section", [SQUARE * 0.1, circle_section(0.1, points=50), SQUARE[::-1] * [0.05, 0.2]])
def test_volumes_are_those_of_pappus(section):
    """A section whose centroid moves along an arc sweeps its area times the length of the arc."""
    x, y = section.T
    area = abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2
    for curvature in ((0, 0), (1.5, 0), (-0.7, 1.0)):
        bent = GeneralizedCone(section, arc_spine(T, 1.2, curvature=curvature))
        assert cone_volume(bent, along=2000) == pytest.approx(area * 1.2, rel=1e-5)
    # A section that is moved by d towards the centre of curvature travels 1 - κ d as far.
    inner = GeneralizedCone(section + np.array([0.2, 0]), arc_spine(T, 1.2, curvature=(1.5, 0)))
    assert cone_volume(inner, along=2000) == pytest.approx(area * 1.2 * (1 - 1.5 * 0.2), rel=1e-5)


def test_a_tilted_section_sweeps_less():
    for angle in (0.6, np.pi / 2, 2.0):
        cone = GeneralizedCone(SQUARE * 0.1, LINE, angle=angle)
        assert cone_volume(cone) == pytest.approx(0.04 * 2 * np.sin(angle))
        points = cone_points(cone, 0.5, np.array([0.0, 0.25, 0.5])).points - [0, 0, 1]
        normal = np.cross(points[1] - points[0], points[2] - points[0])
        assert normal[2] / np.linalg.norm(normal) == pytest.approx(np.sin(angle))  # the cosine of π/2 - angle


@pytest.mark.parametrize("curvature, torsion", [((0, 0), 0), ((1, 0.5), 0), ((0.4, -0.8), 2.0), ((0, 0), 3.0)])
def test_normals_are_those_of_differences(curvature, torsion):
    spine = arc_spine(T, 0.7, curvature=curvature, torsion=torsion)
    cone = GeneralizedCone(circle_section(0.1, points=6), spine, (0, 0.3, 1), (1, 1.5, 0.4), angle=1.3)
    rng = np.random.default_rng(0)
    t, s, h = rng.uniform(0.35, 0.95, 40), rng.uniform(0.01, 0.15, 40) + rng.integers(0, 6, 40) / 6, 1e-6
    by_t = cone_points(cone, t + h, s).points - cone_points(cone, t - h, s).points
    by_s = cone_points(cone, t, s + h).points - cone_points(cone, t, s - h).points
    want = np.cross(by_s, by_t)
    found = cone_points(cone, t, s)
    np.testing.assert_allclose(found.normals, want / np.linalg.norm(want, axis=1)[:, None], atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1, rtol=1e-14)


@pytest.mark.slow
def test_normals_point_out_of_the_mesh():
    import trimesh

    cone = GeneralizedCone(SQUARE * 0.1, arc_spine(T, 1.0, curvature=(1, 0)), scales=(1, 0.5))
    found = cone_mesh(cone, along=64)
    mesh = trimesh.Trimesh(found.vertices, found.triangles, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent
    assert mesh.volume == pytest.approx(cone_volume(cone, along=64))


@pytest.mark.slow
def test_the_kernels_run_compiled_as_eagerly_and_have_derivatives():
    given = (T, [0.3, 0.2, 0.1, 0, 0.1, 1], 0.4, [0.1, 0.2], [0.3, -0.1], 1.2, 0.5, 1.3)
    for one, other in zip(swept_point(*given), swept_point.eager(*map(np.array, given)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    check_grads(spine_coordinates, [0.1, 0.2, 0.5], [0.1, -0.2], [0.03, 0.01], [0.5, 0.3])


# --- spines -----------------------------------------------------------------------------------------------------------


def test_an_arc_is_a_circle():
    spine = arc_spine(T, 2.0, curvature=(0.3, 0.4))
    found = spine.at(np.linspace(0, 1, 9))
    center = T[:3, 3] + T[:3, :3] @ [0.3, 0.4, 0] / 0.25
    np.testing.assert_allclose(np.linalg.norm(found[:, :3, 3] - center, axis=1), 2.0)
    assert spine.length == pytest.approx(2.0)
    step = spine.at(0.5 + 1e-6)[:3, 3] - spine.at(0.5 - 1e-6)[:3, 3]
    np.testing.assert_allclose(step / np.linalg.norm(step), spine.at(0.5)[:3, 2], atol=1e-8)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5, 1e-3, 0.3, 2.0])
def test_coordinates_of_a_spine_are_those_of_its_points(size):
    """Points (x, y) in the section at a length z come back, for every curvature."""
    rng = np.random.default_rng(0)
    curvature = size * np.array([0.6, -0.8])
    tilt, shift = np.array([0.2, -0.1]), np.array([0.05, 0.3])
    start = np.eye(4)
    start[:3, :3], start[:2, 3] = so3.exp.eager([*tilt, 0]), shift
    spine = arc_spine(start, 1.0, curvature=curvature)
    z, flat = rng.uniform(-0.8, 1.2, 50), rng.uniform(-0.2, 0.2, (50, 2))
    local = np.column_stack([flat, np.zeros(50), np.ones(50)])
    points = np.einsum("kij,kj->ki", spine.at(z), local)[:, :3]
    np.testing.assert_allclose(
        spine_coordinates(points, tilt, shift, curvature), np.column_stack([flat, z]), atol=1e-12
    )


def test_a_spine_through_points_of_a_helix_is_one():
    t = np.linspace(0, 4, 41)
    points = np.stack([np.cos(t), np.sin(t), 0.3 * t], axis=1)
    spine = spine_through(points, pieces=200)
    assert spine.length == pytest.approx(4 * np.hypot(1, 0.3), rel=1e-3)
    at = spine.at(np.linspace(0, 1, 77))[:, :3, 3]
    np.testing.assert_allclose(np.hypot(at[:, 0], at[:, 1]), 1, atol=2e-3)
    np.testing.assert_allclose(spine.at(1.0)[:3, 3], points[-1], atol=1e-9)
    straight = spine_through([[0, 0, 0], [0, 0, 1], [0, 0, 3]])
    np.testing.assert_allclose(straight.twists[:, :3], 0, atol=1e-12)
    tube = GeneralizedCone(circle_section(0.1, points=100), spine)
    assert cone_volume(tube, along=800) == pytest.approx(np.pi * 0.01 * spine.length, rel=1e-3)


# --- fits -------------------------------------------------------------------------------------------------------------


def outline(points: int = 720) -> np.ndarray:
    angle = 2 * np.pi / points * np.arange(points)
    radius = 0.1 * (1 + 0.2 * np.cos(2 * angle) + 0.1 * np.sin(3 * angle))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


CASES = {
    "cylinder": (GeneralizedCone(circle_section(0.1, points=720), arc_spine(T, 0.5)), {}),
    "cone": (GeneralizedCone(circle_section(0.1, points=720), arc_spine(T, 0.5), scales=(1, 0.4)), {}),
    "horn": (
        GeneralizedCone(circle_section(0.1, points=720), arc_spine(T, 0.5), (0, 0.5, 1), (1, 1, 2)),
        {"knots": (0, 0.5, 1)},
    ),
    "oval": (GeneralizedCone(outline(), arc_spine(T, 0.5), scales=(1, 1.5)), {"harmonics": 3}),
    "pipe": (
        GeneralizedCone(circle_section(0.1, points=720), arc_spine(T, 0.6, curvature=(1.0, 0.7))),
        {"spine": "arc"},
    ),
    "disk": (GeneralizedCone(circle_section(0.3, points=720), arc_spine(T, 0.1)), {}),
}


def sampled(cone: GeneralizedCone, n: int, part: float, sigma: float, rng) -> np.ndarray:
    found = cone_points(cone, rng.uniform(0, 1, n), rng.uniform(0, part, n))
    return found.points + sigma * rng.normal(size=(n, 1)) * found.normals


@pytest.mark.slow
@pytest.mark.parametrize("part", [1.0, 0.4])
@pytest.mark.parametrize("case", CASES)
def test_fits_recover_cones_seen_all_around_and_from_one_side(case, part):
    cone, options = CASES[case]
    sigma, n = 5e-4, 2500
    found = fit_cone(sampled(cone, n, part, sigma, np.random.default_rng(7)), **options)
    # σ of 2500 residuals is known to 1.4 %.
    assert found.sigma == pytest.approx(sigma, rel=0.06)
    assert found.rms == pytest.approx(found.sigma * np.sqrt(1 - len(found.numbers) / n))
    size = np.linalg.norm(cone.section[0], axis=1).mean()
    turned = abs(found.axis @ T[:3, 2]) < 1 - 1e-3 or np.linalg.norm(found.start - T[:3, 3]) > 0.5 * cone.spine.length
    scales = found.cone.scales[::-1] if turned else found.cone.scales
    np.testing.assert_allclose(scales, size * cone.scales, atol=0.05 * size)
    if case != "pipe":
        assert np.arccos(min(1, abs(found.axis @ T[:3, 2]))) < 0.02
    assert found.cone.spine.length == pytest.approx(cone.spine.length, rel=0.02)
    if part == 1:
        assert cone_volume(found.cone) == pytest.approx(cone_volume(cone), rel=0.01)


@pytest.mark.slow
def test_errors_of_the_axis_are_those_of_the_covariance():
    """Tilts and shifts of a cylinder, seen from one side, in units of their standard errors."""
    cone, _ = CASES["cylinder"]
    squares = []
    for seed in range(60):
        found = fit_cone(sampled(cone, 400, 0.5, 1e-3, np.random.default_rng(seed)))
        # The true line in the frame of the search; it is turned by (-dy, dx) and shifted at z = 0.
        line = found.frame[:3, :3].T @ T[:3, 2]
        line = line * np.sign(line[2])
        at = found.frame[:3, :3].T @ (T[:3, 3] - found.frame[:3, 3])
        at = at - line * at[2] / line[2]
        tilt = np.array([-line[1], line[0]]) * np.arccos(line[2]) / max(np.hypot(line[0], line[1]), 1e-300)
        off = found.numbers[:4] - np.concatenate([tilt, at[:2]])
        squares.append(off @ np.linalg.solve(found.covariance[:4, :4], off))
    # Chi-squared with four degrees of freedom: the mean of 60 has a standard error of 0.37.
    assert abs(np.mean(squares) - 4) < 1.3


def test_exact_points_are_fitted_exactly():
    cone, options = CASES["pipe"]
    found = fit_cone(sampled(cone, 600, 1.0, 0.0, np.random.default_rng(1)), **options)
    assert found.rms < 1e-5  # a polygon with 720 corners
    given = fit_cone(sampled(CASES["cone"][0], 300, 0.5, 0.0, np.random.default_rng(1)), axis=T[:3, 2])
    assert given.axis @ T[:3, 2] > 1 - 1e-6 and given.rms < 1e-5
    assert given.names[:4] == ("tilt x", "tilt y", "shift x", "shift y") and "radius at 1" in given.names


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_cones_spines_and_points():
    cylinder = CASES["cylinder"][0]
    star = [[0, 0], [4, 0], [4, 4], [3, 4], [3, 1], [0, 1]]
    for bad, message in [
        (lambda: GeneralizedCone([[0, 0], [1, 1]], LINE), "polygon 0"),
        (lambda: GeneralizedCone([[0, 0], [1, 1], [2, 2]], LINE), "no area"),
        (lambda: GeneralizedCone([], LINE), "polygon 0"),
        (lambda: GeneralizedCone(SQUARE, "line"), "spine must be a Spine"),
        (lambda: GeneralizedCone(SQUARE, LINE, knots=(0, 0.5)), "rise from 0 to 1"),
        (lambda: GeneralizedCone(SQUARE, LINE, scales=(1, 2, 3)), "scales must be"),
        (lambda: GeneralizedCone(SQUARE, LINE, scales=(1, -1)), "scales must be"),
        (lambda: GeneralizedCone(SQUARE, LINE, angle=0), "angle"),
        (lambda: circle_section(-1), "radius must be a positive number"),
        (lambda: circle_section(1.0, points=2), "3 points"),
        (lambda: ring_section(1, "2"), "outer must be a positive number"),
        (lambda: arc_spine(np.eye(4), 1, torsion="x"), "torsion"),
        (lambda: cone_points(cylinder, np.nan, 0), "finite"),
        (lambda: cone_points(cylinder, np.zeros(2), np.zeros(3)), "do not broadcast"),
        (lambda: ring_section(2, 1), "inner < outer"),
        (lambda: straight_spine((0, 0, 0), (0, 0, 0)), "two different points"),
        (lambda: straight_spine((0, 0, 0), (0, 0, 1), x_axis=(0, 0, 1)), "not along the spine"),
        (lambda: arc_spine(np.eye(4), -1), "length"),
        (lambda: arc_spine(np.eye(4), 1, curvature=1), "curvature"),
        (lambda: spine_through([[0, 0, 0]]), "two points"),
        (lambda: spine_through([[0, 0, 0], [0, 0, 0], [1, 0, 0]]), "points 0 and 1 are the same"),
        (lambda: Spine(np.eye(4)[None], np.zeros((2, 6))), "one for each frame"),
        (lambda: cone_points(cylinder, 0, 0, loop=1), "no polygon 1"),
        (lambda: cone_points(LINE, 0, 0), "a GeneralizedCone is needed"),
        (lambda: cone_mesh(cylinder, along=0), "1 or more"),
        (lambda: cone_mesh(GeneralizedCone(star, LINE)), "centroid"),
        (lambda: fit_cone(np.zeros((5, 2))), "finite numbers"),
        (lambda: fit_cone(np.full((50, 3), np.nan)), "finite"),
        (lambda: fit_cone(np.zeros((5, 3))), "too few"),
        (lambda: fit_cone(np.zeros((50, 3)), knots=1), "two knots"),
        (lambda: fit_cone(np.zeros((50, 3)), knots=(0, 2)), "rise from 0 to 1"),
        (lambda: fit_cone(np.zeros((50, 3)), spine="spiral"), "'straight', 'arc'"),
        (lambda: fit_cone(np.zeros((50, 3)), axis=(0, 0, 0)), "a direction"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            bad()
    with pytest.raises(SolveError, match="not those of the side of a cone"):
        fit_cone(np.zeros((50, 3)))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: straight_spine((0, 0, 0), (0, 0, 1), x_axis=1e308), "x_axis"),
        (lambda: straight_spine((0, 0, 0), (0, 0, 1), x_axis=(0, 0, np.nan)), "x_axis"),
        (lambda: arc_spine(np.eye(4), 1e308), "too large"),
        (lambda: arc_spine(np.eye(4), 1.0, torsion=1e308), "torsion"),
        (lambda: spine_through([[0, 0, 0], [1e200, 0, 0]]), "finite numbers"),
        (lambda: fit_cone(np.zeros((50, 3)), knots=[1, [2]]), "knots"),
    ],
)
def test_numbers_that_overflow_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
