"""One ray and one solid: distances agree with signed distances, mpmath and the laws of moving solids."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from support.solid_scenes import random_scene, signed_distance

from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.sensing.scene import (
    Box,
    Capsule,
    Cylinder,
    Plane,
    Scene,
    Sphere,
    cast_rays,
    ray_box,
    ray_capsule,
    ray_cylinder,
    ray_distances,
    ray_plane,
    ray_sphere,
    ray_triangle,
)
from adjoint.simulation import surfaces

POSE = se3.from_rotation_translation(so3.exp(np.array([0.4, -0.7, 0.3])), np.array([0.2, -0.1, 0.3]))
SOLIDS = [
    (Plane(T_world_solid=POSE), ray_plane, ()),
    (Sphere(0.5, T_world_solid=POSE), ray_sphere, (0.5,)),
    (Box([0.6, 0.8, 1.0], T_world_solid=POSE), ray_box, ([0.6, 0.8, 1.0],)),
    (Cylinder(0.4, 0.9, T_world_solid=POSE), ray_cylinder, (0.4, 0.9)),
    (Capsule(0.3, 0.8, T_world_solid=POSE), ray_capsule, (0.3, 0.8)),
]
IDS = [type(solid).__name__ for solid, _, _ in SOLIDS]


def rays(rng, count, spread=2.0):
    origins = rng.normal(size=(count, 3)) * spread
    return origins, rng.normal(size=(count, 3)) * 0.5 - origins


def units(d):
    return d / np.linalg.norm(d, axis=-1, keepdims=True)


@pytest.mark.parametrize(("solid", "fn", "size"), SOLIDS, ids=IDS)
def test_a_hit_is_the_first_point_of_the_surface(solid, fn, size):
    o, d = rays(np.random.default_rng(0), 2000)
    o[:300] = np.random.default_rng(1).normal(size=(300, 3)) * 0.1 + POSE[:3, 3]  # many of them start inside
    hit = fn(POSE, *size, o, d)
    met = np.isfinite(hit.distance)
    assert met.mean() > 0.2
    points = o + hit.distance[:, None] * units(d)
    assert np.abs(signed_distance(solid, points[met])).max() < 1e-13 * 20
    # Before the hit the sign does not change, so neither do rays without a hit change theirs.
    t = np.where(met, hit.distance, 30.0)[:, None] * np.linspace(1e-6, 1 - 1e-6, 400)
    sides = signed_distance(solid, o[:, None] + t[..., None] * units(d)[:, None]) > 0
    assert (sides == sides[:, :1]).all()


@pytest.mark.parametrize(("solid", "fn", "size"), SOLIDS, ids=IDS)
def test_normals_are_slopes_of_the_signed_distance(solid, fn, size):
    o, d = rays(np.random.default_rng(2), 500)
    hit = fn(POSE, *size, o, d)
    met = np.isfinite(hit.distance)
    x, h = (o + hit.distance[:, None] * units(d))[met], 1e-6
    slopes = [(signed_distance(solid, x + h * e) - signed_distance(solid, x - h * e)) / (2 * h) for e in np.eye(3)]
    smooth = np.abs(np.linalg.norm(np.stack(slopes, -1), axis=1) - 1) < 1e-6  # not at edges
    assert smooth.mean() > 0.95
    np.testing.assert_allclose(hit.normal[met][smooth], np.stack(slopes, -1)[smooth], atol=2e-6)
    assert np.isnan(hit.normal[~met]).all()


@pytest.mark.parametrize("name", ["plane", "sphere", "box"])
def test_distances_agree_with_sphere_tracing_on_the_surfaces_of_simulations(name):
    surface, fn, size = {
        "plane": (surfaces.plane(POSE[:3, 3], POSE[:3, 2]), ray_plane, ()),
        "sphere": (surfaces.sphere(POSE[:3, 3], 0.5), ray_sphere, (0.5,)),
        "box": (surfaces.box(POSE, [0.6, 0.8, 1.0]), ray_box, ([0.6, 0.8, 1.0],)),
    }[name]
    p = SimpleNamespace(**surface.numbers)
    o, d = rays(np.random.default_rng(3), 60)
    hit = fn(POSE, *size, o, d)
    for origin, way, found in zip(o, units(d), hit.distance, strict=True):
        if surface.distance(p, origin)[0] < 0:
            continue
        t = 0.0
        for _ in range(3000):
            step = float(surface.distance(p, origin + t * way)[0])
            t += step
            if step < 1e-14 or t > 50:
                break
        if np.isfinite(found):
            assert t == pytest.approx(found, abs=1e-11)
        else:
            assert t > 50 or step > 1e-14


def test_grazing_rays_agree_with_mpmath():
    """The distance of a ray that passes a ball's edge at a part e inside: the root of r² - b² loses half its digits."""
    mpmath.mp.dps = 60
    r = 0.7
    for e in 10.0 ** np.arange(-1, -14, -1):
        offset = r * (1 - e)
        o, d = np.array([-5.0, offset, 0.0]), np.array([1.0, 0.0, 0.0])
        exact = 5 - mpmath.sqrt(mpmath.mpf(r) ** 2 - mpmath.mpf(offset) ** 2)
        found = float(ray_sphere(np.eye(4), r, o, d).distance)
        half = float(mpmath.sqrt(mpmath.mpf(r) ** 2 - mpmath.mpf(offset) ** 2))
        # An error of one ulp of r² moves the half chord by r² ulp / half.
        bound = 1e-15 * 5 + 4 * 2.3e-16 * r * r / half
        assert abs(found - float(exact)) <= bound
        assert abs(float(ray_cylinder(np.eye(4), r, 9.0, o, d).distance) - float(exact)) <= bound
    far = np.array([-1e6, 0.3, 0.4])  # from far away, digits are lost only to the distance itself
    exact = 1e6 - mpmath.sqrt(mpmath.mpf(r) ** 2 - mpmath.mpf(0.3) ** 2 - mpmath.mpf(0.4) ** 2)
    assert abs(float(ray_sphere(np.eye(4), r, far, [1.0, 0, 0]).distance) - float(exact)) < 3e-10


def test_rays_along_faces_and_axes():
    box, inside = ([1.0, 1.0, 1.0],), [0, 0, 0]
    assert ray_box(np.eye(4), *box, [-2.0, 0.5, 0], [1.0, 0, 0]).distance == 1.5  # in the plane of a face
    assert ray_box(np.eye(4), *box, [-2.0, np.nextafter(0.5, 1), 0], [1.0, 0, 0]).distance == np.inf
    assert ray_box(np.eye(4), *box, [0.5, 0, 0], [0, 1.0, 0]).distance == 0.5  # on a face, along it: it leaves
    assert ray_box(np.eye(4), *box, inside, [0, 0, -3.0]).distance == 0.5
    for fn in (ray_cylinder, ray_capsule):
        end = 1.0 if fn is ray_cylinder else 1.5
        assert fn(np.eye(4), 0.5, 2.0, [0, 0, 3.0], [0, 0, -1.0]).distance == 3 - end
        assert fn(np.eye(4), 0.5, 2.0, [0, 0, 0], [0, 0, 1.0]).distance == end
        assert fn(np.eye(4), 0.5, 2.0, [0.6, 0, 3.0], [0, 0, -1.0]).distance == np.inf
        np.testing.assert_allclose(fn(np.eye(4), 0.5, 2.0, [0.3, 0, 0], [0, 0, 1.0]).distance, end - 0.1 * (end > 1))
    assert ray_plane(np.eye(4), [0, 0, 1.0], [1.0, 0, 0]).distance == np.inf  # beside a plane
    assert ray_plane(np.eye(4), [0, 0, -1.0], [1.0, 0, 0]).distance > 1e200  # under it: it leaves nowhere near
    assert ray_sphere(np.eye(4), 1.0, [0, 0, 0], [0, 0, -1.0]).distance == 1.0


@pytest.mark.parametrize(("solid", "fn", "size"), SOLIDS, ids=IDS)
def test_moving_solid_and_ray_together_changes_nothing(solid, fn, size):
    rng = np.random.default_rng(4)
    o, d = rays(rng, 300)
    T = se3.random(rng=rng)
    before, after = fn(POSE, *size, o, d), fn(T @ POSE, *size, o @ T[:3, :3].T + T[:3, 3], d @ T[:3, :3].T)
    met = np.isfinite(before.distance) & np.isfinite(after.distance)
    assert (np.isfinite(before.distance) == np.isfinite(after.distance)).mean() > 0.995
    np.testing.assert_allclose(after.distance[met], before.distance[met], rtol=0, atol=1e-11)
    np.testing.assert_allclose(after.normal[met], before.normal[met] @ T[:3, :3].T, atol=1e-8)


@pytest.mark.parametrize(("solid", "fn", "size"), SOLIDS, ids=IDS)
def test_the_slope_by_the_pose_is_the_speed_of_the_surface(solid, fn, size):
    """A surface that moves with the velocity w of its points changes the distance by n · w / n · d."""
    rng = np.random.default_rng(5)
    o, d = rays(rng, 400)
    hit = fn(POSE, *size, o, d)
    good = np.isfinite(hit.distance) & (np.abs(np.sum(hit.normal * units(d), axis=1)) > 0.1)
    o, d = o[good], d[good]
    n, x = hit.normal[good], o + hit.distance[good, None] * units(d)
    slope = fn.jacobian("T_world_solid")(POSE, *size, o, d).distance  # (k, 4, 4)
    twist = rng.normal(size=6)
    got = np.einsum("kij,ij->k", slope, se3.hat(twist) @ POSE)
    speed = twist[3:] + np.cross(twist[:3], x)
    np.testing.assert_allclose(got, np.sum(n * speed, 1) / np.sum(n * units(d), 1), rtol=1e-8, atol=1e-9)


def test_the_slope_by_the_radius_of_a_ball():
    hit = ray_sphere.jacobian("radius")(np.eye(4), 0.5, [0, 0, 2.0], [0, 0, -1.0])
    np.testing.assert_allclose(hit.distance, -1.0, rtol=1e-14)


def test_one_sample_in_python_agrees_with_machine_code():
    o, d = rays(np.random.default_rng(6), 40)
    for _, fn, size in SOLIDS:
        batch = fn(POSE, *size, o, d)
        with np.errstate(all="ignore"):
            for k in range(len(o)):
                one = fn.eager(POSE, *map(np.asarray, size), o[k], d[k])
                np.testing.assert_allclose(one.distance, batch.distance[k], rtol=1e-12, atol=1e-12)


def test_triangles():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    rng = np.random.default_rng(7)
    weights = rng.dirichlet([1, 1, 1], 200)
    target, o = weights @ corners, rng.normal(size=(200, 3)) + np.array([0, 0, 3])
    hit = ray_triangle(corners, o, target - o)
    np.testing.assert_allclose(hit.distance, np.linalg.norm(target - o, axis=1), rtol=1e-13)
    np.testing.assert_allclose(hit.normal, np.tile([0, 0, 1.0], (200, 1)), atol=1e-15)
    beyond = np.array([[0.6, 0.6, 0], [-1e-9, 0.5, 0], [0.5, -1e-9, 0]])
    assert (ray_triangle(corners, [0.2, 0.2, 2.0], beyond - [0.2, 0.2, 2.0]).distance == np.inf).all()
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    assert ray_triangle(flat, [0.5, 0, 1.0], [0, 0, -1.0]).distance == np.inf
    assert ray_triangle(corners, [0.2, 0.2, 1.0], [1.0, 0, 0]).distance == np.inf  # beside it
    assert ray_triangle(corners, [0.2, 0.2, 0.0], [1.0, 0, 0]).distance == np.inf  # in its plane: it has no thickness


# --- scenes of rays ---------------------------------------------------------------------------------------------------


def test_bad_rays_stay_alone():
    scene = Scene([Plane(), Sphere(0.5, T_world_solid=[0, 0, 2.0]), Box([1, 1, 1], T_world_solid=[0, 3, 0])])
    o, d = rays(np.random.default_rng(8), 40)
    want = ray_distances(scene, o, d)
    bad = o.copy(), d.copy()
    bad[0][3, 1], bad[0][9], bad[1][17], bad[1][20, 2], bad[1][30] = np.nan, np.inf, 0, np.nan, np.inf
    got = cast_rays(scene, *bad)
    wrong = np.isin(np.arange(40), [3, 9, 17, 20, 30])
    np.testing.assert_array_equal(got.distance[~wrong], want[~wrong])
    assert np.isnan(got.distance[wrong]).all()
    assert (got.solid[wrong] == -1).all()
    assert np.isnan(got.normal[wrong]).all() and np.isnan(got.point[wrong]).all()


def test_directions_of_any_length_and_places_of_any_size():
    scene = Scene([Sphere(1.0)])
    for scale in (1e-200, 1e-9, 1.0, 1e200):
        assert ray_distances(scene, [0, 0, 3.0], [0, 0, -scale]) == 2.0
    far = Scene([Sphere(1.0, T_world_solid=[1e9, 0, 0]), Box([2, 2, 2], T_world_solid=[0, 1e12, 0])])
    np.testing.assert_allclose(ray_distances(far, [0, 0, 0], [[1.0, 0, 0], [0, 1, 0]]), [1e9 - 1, 1e12 - 1], rtol=1e-15)


def test_shapes_of_rays_broadcast():
    scene = Scene([Plane()])
    down = np.array([0, 0, -1.0])
    assert cast_rays(scene, [0, 0, 1.0], down).normal.shape == (3,)
    assert cast_rays(scene, np.ones((4, 1, 3)), np.tile(down, (5, 1))).solid.shape == (4, 5)
    assert ray_distances(scene, np.ones((0, 3)), down).shape == (0,)
    assert ray_distances(scene, [0, 0, 1.0], np.tile(down, (2, 3, 1))).shape == (2, 3)
    for o, d in (([0, 0], down), (np.ones((2, 3)), np.ones((3, 3))), ("here", down), (None, down)):
        with pytest.raises(ArgumentError):
            cast_rays(scene, o, d)
    with pytest.raises(ArgumentError, match="must be a Scene"):
        cast_rays([Plane()], [0, 0, 1.0], down)
    with pytest.raises(ArgumentError, match="farthest"):
        cast_rays(scene, [0, 0, 1.0], down, farthest=-1)


def test_an_empty_scene_is_met_nowhere():
    hits = cast_rays(Scene(), np.zeros((3, 3)), np.eye(3))
    assert (hits.distance == np.inf).all() and (hits.solid == -1).all() and np.isnan(hits.normal).all()


def test_farthest_and_backfaces():
    scene = Scene([Sphere(1.0), Plane(T_world_solid=[0, 0, -3.0])])
    assert ray_distances(scene, [0, 0, 3.0], [0, 0, -1.0], farthest=1.9) == np.inf
    assert ray_distances(scene, [0, 0, 3.0], [0, 0, -1.0], farthest=2.1) == 2.0
    assert ray_distances(scene, [0, 0, 0.0], [0, 0, -1.0]) == 1.0
    hits = cast_rays(scene, [0, 0, 0.0], [0, 0, -1.0], backfaces=False)
    assert hits.distance == 3.0 and hits.solid == 1


def test_the_nearest_of_many_solids_is_met():
    rng = np.random.default_rng(9)
    scene = random_scene(rng, 25, meshes=2)
    o, d = rays(rng, 3000, 1.0)
    every = np.stack([ray_distances(Scene([solid]), o, d) for solid in scene])
    hits = cast_rays(scene, o, d)
    np.testing.assert_array_equal(hits.distance, every.min(axis=0))
    met = np.isfinite(hits.distance)
    np.testing.assert_array_equal(hits.solid[met], every.argmin(axis=0)[met])
    np.testing.assert_allclose(np.linalg.norm(hits.normal[met], axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(ray_distances(scene, o, d), hits.distance)


@pytest.mark.parametrize("height", [-1e-3, -1.0, 0.0, 1.0])
def test_rays_along_a_plane_meet_it_nowhere(height):
    """Inside the half-space, a division by nearly 0 was a hit at 1e300 m."""
    hit = ray_plane(np.eye(4), [0, 0, height], [1.0, 0, 0])
    assert hit.distance == np.inf and np.isnan(hit.normal).all()
    assert cast_rays(Scene([Plane()]), [0, 0, height], [1.0, 0, 0]).solid == -1
