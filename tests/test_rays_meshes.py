"""Rays against meshes: the tree finds what trying all triangles finds, no ray slips through, meshes become solids."""

import numpy as np
import pytest
import trimesh
from support.solid_scenes import box_mesh, icosphere

from adjoint.drawing.triangles import ball
from adjoint.errors import ArgumentError, ModelError
from adjoint.lie import se3
from adjoint.sensing.scene import Box, Mesh, Plane, Scene, Sphere, cast_rays, ray_distances
from adjoint.sensing.scene.hierarchy import hierarchy, octant_rows
from adjoint.sensing.scene.mesh_rays import nearest_triangle


def units(d):
    return d / np.linalg.norm(d, axis=-1, keepdims=True)


def rays(rng, count, inside=0.3):
    o = rng.normal(size=(count, 3)) * np.where(rng.random((count, 1)) < inside, 0.2, 2.0)
    return o, units(rng.normal(size=(count, 3)) * 0.5 - o)


def soup(rng, count, size=0.3):
    """Triangles anywhere, which share nothing."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) + size * rng.normal(size=(count, 3, 3))
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def meshes():
    rng = np.random.default_rng(0)
    v, f = icosphere(2)
    spike = v * np.where(np.arange(len(v)) % 7 == 0, 20.0, 1.0)[:, None]
    return {
        "ball": (v, f),
        "box": box_mesh([1, 2, 0.5]),
        "soup": soup(rng, 300),
        "slivers": soup(rng, 200, size=1.5),
        "one": ([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]], [[0, 1, 2]]),
        "five": (v, f[:5]),
        "spikes": (spike, f),
        "twice": (v, np.concatenate([f, f])),
        "flat": (v * [1, 1, 0], f),
        "points": (np.zeros((4, 3)), [[0, 1, 2], [1, 2, 3]]),
    }


@pytest.mark.parametrize("name", meshes())
def test_the_tree_finds_what_trying_all_triangles_finds(name):
    mesh = Mesh(meshes()[name])
    o, d = rays(np.random.default_rng(1), 2000)
    want = nearest_triangle(mesh.triangles, o, d)
    got = cast_rays(Scene([mesh]), o, d)
    # Directions are made units once more, which may change their last bits.
    np.testing.assert_allclose(got.distance, want.distance, rtol=1e-12, atol=1e-13)
    if name not in ("twice", "flat", "points"):
        assert (got.triangle == want.triangle).mean() > 0.998
    met = got.solid == 0
    np.testing.assert_array_equal(met, np.isfinite(want.distance))


@pytest.mark.parametrize("octant", range(8))
def test_tables_hold_every_triangle_once_inside_its_boxes(octant):
    mesh = Mesh(meshes()["soup"]).triangles
    rows = octant_rows(hierarchy(mesh.corners), mesh.corners, octant)
    links = rows[:, 0]
    np.testing.assert_array_equal(np.sort(-links[links < 0] - 1), np.arange(len(mesh)))
    for k in np.flatnonzero(links >= 0):
        inside = rows[k + 1 : int(links[k])]
        assert len(inside) >= 2
        corners = inside[inside[:, 0] < 0, 1:].reshape(-1, 3)
        assert (corners > rows[k, 1:4]).all() and (corners < rows[k, 4:7]).all()
        boxes = inside[inside[:, 0] >= 0]
        assert (boxes[:, 0] <= links[k]).all()


def test_trees_are_not_deep_where_triangles_crowd():
    """Triangles at distances 2^-k make the area heuristic cut off one at a time."""
    place = 2.0 ** -np.arange(900.0)
    corners = place[:, None, None] * np.array([[1.0, 0, 0], [1, 0.1, 0], [1, 0, 0.1]])
    tree = hierarchy(corners)
    assert len(tree.levels) < 64
    assert np.array_equal(np.sort(tree.order), np.arange(900))


def test_no_ray_slips_between_triangles():
    """Rays from inside of a closed mesh through its corners, and through points of its edges, always meet it."""
    v, f = icosphere(3, radius=1.0)
    mesh = Mesh((v, f), T_world_solid=se3.random(rng=0))
    T, rng = mesh.T_world_solid, np.random.default_rng(2)
    edges = f[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    s = rng.random((len(edges), 1))
    targets = np.concatenate([v, v[edges[:, 0]] * s + v[edges[:, 1]] * (1 - s), v[f].mean(axis=1)])
    for start in (np.zeros(3), np.array([0.3, -0.2, 0.5]), v[0] * 0.999):
        d = (targets - start) @ T[:3, :3].T
        distance = ray_distances(Scene([mesh]), T[:3, :3] @ start + T[:3, 3], d)
        assert np.isfinite(distance).all()
        assert (np.abs(distance - np.linalg.norm(targets - start, axis=1)) < 1e-12).all()


def test_rays_along_the_axes_of_a_grid_meet_it():
    """A sheet of squares with corners at whole numbers, and rays through whole numbers straight down and aslant."""
    x, y = np.meshgrid(np.arange(-4.0, 5), np.arange(-4.0, 5))
    v = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1)
    a = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    f = np.concatenate([np.stack([a, a + 1, a + 10], 1), np.stack([a, a + 10, a + 9], 1)])
    scene = Scene([Mesh((v, f))])
    inner = np.abs(v[:, :2]).max(axis=1) < 4
    for shift in ([0, 0, 3.0], [2.0, 0, 3], [0, -1.0, 3], [0.5, 0.5, 3]):
        o = v[inner] * 0.5 + shift
        hits = ray_distances(scene, o, v[inner] - o)
        np.testing.assert_allclose(hits, np.linalg.norm(v[inner] - o, axis=1), rtol=1e-14)


def test_meshes_of_boxes_are_boxes():
    T = se3.random(rng=3)
    box, mesh = Box([1, 2, 0.5], T_world_solid=T), Mesh(box_mesh([1, 2, 0.5]), T_world_solid=T)
    o, d = rays(np.random.default_rng(4), 3000)
    a, b = cast_rays(Scene([box]), o, d), cast_rays(Scene([mesh]), o, d)
    np.testing.assert_allclose(a.distance, b.distance, rtol=1e-11, atol=1e-12)
    met = np.isfinite(a.distance)
    assert (np.abs(a.normal[met] - b.normal[met]).max(axis=1) < 1e-12).mean() > 0.999  # but at edges
    for backfaces in (False, True):
        np.testing.assert_allclose(
            ray_distances(Scene([box]), o, d, backfaces=backfaces),
            ray_distances(Scene([mesh]), o, d, backfaces=backfaces), rtol=1e-11, atol=1e-12,
        )  # fmt: skip


def test_meshes_of_balls_become_balls():
    """Chords leave out h²/8r: each level of triangles has a quarter of the error."""
    o, d = rays(np.random.default_rng(5), 4000, inside=1.0)
    exact = ray_distances(Scene([Sphere(1.0)]), o, d)
    errors = [np.abs(ray_distances(Scene([Mesh(icosphere(k))]), o, d) - exact).mean() for k in range(1, 5)]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 3.4).all() and (ratios < 4.6).all()


def test_moved_copies_share_one_tree():
    mesh = Mesh(icosphere(2))
    moved = mesh.at([3.0, 0, 0])
    assert moved.triangles is mesh.triangles
    assert ray_distances(Scene([mesh, moved]), [3.0, 0, 5.0], [0, 0, -1.0]) == pytest.approx(4, abs=0.02)
    o, d = rays(np.random.default_rng(6), 500)
    T = se3.random(rng=7)
    here = ray_distances(Scene([mesh]), o, d)
    there = ray_distances(Scene([mesh.at(T)]), o @ T[:3, :3].T + T[:3, 3], d @ T[:3, :3].T)
    agree = np.isfinite(here) & np.isfinite(there)
    assert (np.isfinite(here) == np.isfinite(there)).all()
    np.testing.assert_allclose(here[agree], there[agree], atol=1e-12)


def test_huge_and_tiny_meshes():
    v, f = icosphere(2)
    o, d = np.array([0, 0, 3.0]), units(np.random.default_rng(8).normal(size=(300, 3)) * 0.2 - [0, 0, 1.0])
    want = ray_distances(Scene([Mesh((v, f))]), o, d)
    for scale in (1e-6, 1e6, 1e100):
        got = ray_distances(Scene([Mesh((scale * v, f))]), scale * o, d)
        np.testing.assert_allclose(got, scale * want, rtol=1e-11)
    away = np.array([1e7, 0, 0])
    got = ray_distances(Scene([Mesh((v, f), T_world_solid=away)]), o + away, d)
    assert (np.isfinite(got) == np.isfinite(want)).mean() > 0.99


def test_a_batch_of_rays_does_not_notice_its_neighbours():
    scene = Scene([Mesh(icosphere(3)), Plane(T_world_solid=[0, 0, -1.0])])
    o, d = rays(np.random.default_rng(9), 333)
    whole = cast_rays(scene, o, d)
    order = np.random.default_rng(10).permutation(333)
    mixed = cast_rays(scene, o[order], d[order])
    np.testing.assert_array_equal(whole.distance[order], mixed.distance)
    np.testing.assert_array_equal(whole.triangle[order], mixed.triangle)
    one = [float(ray_distances(scene, o[k], d[k])) for k in range(0, 333, 37)]
    np.testing.assert_allclose(one, whole.distance[::37], rtol=1e-14)
    d[5] = np.nan
    bad = cast_rays(scene, o, d)
    assert np.isnan(bad.distance[5])
    np.testing.assert_array_equal(np.delete(bad.distance, 5), np.delete(whole.distance, 5))


# --- where meshes come from -------------------------------------------------------------------------------------------


def test_meshes_from_arrays_trimesh_drawings_and_files(tmp_path):
    v, f = icosphere(1)
    peer = trimesh.Trimesh(v, f, process=False)
    path = tmp_path / "ball.stl"
    peer.export(path)
    down = ([0.1, 0.2, 5.0], [0, 0, -1.0])
    want = ray_distances(Scene([Mesh((v, f))]), *down)
    for given, tolerance in ((peer, 1e-15), (path, 1e-6), (str(path), 1e-6), (Mesh((v, f)).triangles, 0)):
        assert ray_distances(Scene([Mesh(given)]), *down) == pytest.approx(float(want), abs=tolerance + 1e-15)
    assert ray_distances(Scene([Mesh(ball(0.5))]), [0, 0, 5.0], [0.01, 0.02, -1.0]) == pytest.approx(4.5, abs=0.02)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((np.zeros((4, 3)), [[0, 1, 2, 3]]), "cut polygons into triangles"),
        ((np.zeros((4, 3)), np.zeros((0, 3), int)), "m above 0"),
        ((np.zeros((4, 3)), [[0, 1, 4]]), "there are 0 to 3"),
        ((np.zeros((4, 3)), [[0, 1, -1]]), "there are 0 to 3"),
        ((np.zeros((4, 3)), [[0, 1, 1.5]]), "whole numbers"),
        ((np.zeros((4, 2)), [[0, 1, 2]]), "vertices have shape"),
        (([[0, 0, 0], [np.nan, 0, 0], [1, 1, 1]], [[0, 1, 2]]), "vertex 1 is not finite"),
        ((np.zeros((4, 3)), [[0, 1, 2], [0, 1, 2, 3]]), "cut polygons into triangles"),
        (("here", [[0, 1, 2]]), "vertices"),
        (42, "pair"),
        (None, "pair"),
    ],
)
def test_bad_meshes_are_named(given, words):
    with pytest.raises(ArgumentError, match=words):
        Mesh(given)


def test_bad_files_are_named(tmp_path):
    for name, data in (("a.stl", b""), ("a.xyz", b"1 2 3"), ("none.stl", None)):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(ModelError, match=name):
            Mesh(path)
