"""Distances of any two solids of a scene, and the solids that only collisions have."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from support.collisions import random_poses

from adjoint.collision.collision_solids import ConvexHull, HeightField
from adjoint.collision.solid_distances import is_convex, solid_distance
from adjoint.errors import ArgumentError, MissingPackageError
from adjoint.sensing import Box, Capsule, Cylinder, Mesh, Plane, Scene, Sphere, Textured, cast_rays

HULL = ConvexHull(np.random.default_rng(3).normal(size=(20, 3)) * 0.3)
CORNERS = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
MAKERS = {
    "sphere": lambda rng, T: Sphere(rng.uniform(0.1, 0.4), T_world_solid=T),
    "capsule": lambda rng, T: Capsule(rng.uniform(0.1, 0.3), rng.uniform(0, 0.8), T_world_solid=T),
    "box": lambda rng, T: Box(rng.uniform(0.1, 0.9, 3), T_world_solid=T),
    "cylinder": lambda rng, T: Cylinder(rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.9), T_world_solid=T),
    "hull": lambda rng, T: HULL.at(T),
    "mesh": lambda rng, T: Mesh(HULL.triangles, T_world_solid=T),
    "plane": lambda rng, T: Plane(T_world_solid=T),
}
ROUND = {"cylinder"}


def width(solid, n) -> float:
    """The support function of a convex solid along n (3,): how far it reaches."""
    m, p = solid.T_world_solid[:3, :3].T @ n, solid.T_world_solid[:3, 3]
    match solid:
        case Sphere():
            own = solid.radius
        case Capsule():
            own = solid.radius + solid.length / 2 * abs(m[2])
        case Box():
            own = np.abs(m) @ solid.size / 2
        case Cylinder():
            own = solid.radius * np.hypot(m[0], m[1]) + solid.length / 2 * abs(m[2])
        case Plane():
            own = 0.0 if np.allclose(m, [0, 0, 1], atol=1e-9) else np.inf
        case _:
            own = (solid.triangles.vertices @ m).max()
    return float(n @ p + own)


def pairs(kinds: tuple[str, str], count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    for T, U in zip(random_poses(rng, count), random_poses(rng, count), strict=True):
        yield MAKERS[kinds[0]](rng, T), MAKERS[kinds[1]](rng, U)


COMBINATIONS = [c for c in itertools.combinations_with_replacement(MAKERS, 2) if c != ("plane", "plane")]


@pytest.mark.parametrize("kinds", COMBINATIONS, ids="-".join)
def test_any_two_convex_solids_are_apart_as_their_normal_proves(kinds):
    # The planes through the two witness points separate the solids by the distance; a solid that is apart cannot be
    # nearer than that, and it is not farther, since the points belong to it.
    tolerance = 1e-10 if set(kinds) & ROUND and set(kinds) <= {"cylinder", "box", "hull", "mesh"} else 1e-13
    for a, b in pairs(kinds, 8):
        found = solid_distance(a, b)
        n = found.normal
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-14)
        np.testing.assert_allclose(found.point_b - found.point_a, found.distance * n, rtol=0, atol=1e-13)
        assert width(a, n) == pytest.approx(n @ found.point_a, abs=tolerance)
        assert -width(b, -n) == pytest.approx(n @ found.point_b, abs=tolerance)
        back = solid_distance(b, a)
        assert back.distance == pytest.approx(found.distance, abs=4 * tolerance)
        if found.distance > 0:
            np.testing.assert_allclose(back.normal, -n, rtol=0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [c for c in COMBINATIONS if "plane" not in c], ids="-".join)
def test_coal_agrees_about_all_solids(kinds):
    # coal stops at a relative gap of 1e-6, see tests/test_pair_distances.py. It takes a mesh as a surface of triangles,
    # so only distances of meshes are compared.
    for a, b in pairs(kinds, 40, seed=1):
        ours, theirs = solid_distance(a, b), solid_distance(a, b, exact=True)
        if "mesh" in kinds and ours.distance < 0:
            assert theirs.distance <= 0
            continue
        assert theirs.distance == pytest.approx(ours.distance, abs=1e-5)
        np.testing.assert_allclose(theirs.point_b - theirs.point_a, theirs.distance * theirs.normal, rtol=0, atol=1e-5)


@pytest.mark.parametrize("other", ["box", "cylinder", "hull"])
def test_depths_of_convex_solids_are_the_least(other):
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    deep = 0
    for a, b in pairs(("box", other), 40, seed=3):
        b = b.at(0.3 * b.T_world_solid[:3, 3] + 0.7 * a.T_world_solid[:3, 3])
        d = float(solid_distance(a, b).distance)
        deep += d < 0
        assert max(-width(a, n) - width(b, -n) for n in directions[:300]) <= d + 1e-10
    assert deep > 10


def test_solids_that_coincide_or_touch_have_a_result():
    box = Box([1, 1, 1.0])
    for other, distance in (
        (box, -1.0),
        (box.at([1.0, 0, 0]), 0.0),
        (box.at([1.0, 1, 1]), 0.0),
        (box.at([0.25, 0, 0]), -0.75),
        (Cylinder(0.5, 1.0), -1.0),
        (Cylinder(0.5, 1.0, T_world_solid=[0, 0, 1.0]), 0.0),
        (ConvexHull(CORNERS), -1.0),
        (Mesh(ConvexHull(CORNERS).triangles, T_world_solid=[0, 0, 2.0]), 1.0),
    ):
        found = solid_distance(box, other)
        assert found.distance == pytest.approx(distance, abs=1e-10)
        assert np.isfinite(np.concatenate([found.point_a, found.point_b, found.normal])).all()
        np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-6, 1e4])
def test_distances_scale_with_the_solids(scale):
    T = random_poses(np.random.default_rng(5), 2)
    a, b = Box([0.3, 0.4, 0.5]), Cylinder(0.2, 0.5)
    U = T.copy()
    U[:, :3, 3] *= scale
    one = solid_distance(a.at(T[0]), b.at(T[1]))
    other = solid_distance(Box(scale * a.size, T_world_solid=U[0]), Cylinder(0.2 * scale, 0.5 * scale).at(U[1]))
    assert other.distance == pytest.approx(scale * one.distance, rel=1e-9)


# --- planes, ground and meshes ----------------------------------------------------------------------------------------


def torus(m: int = 24, k: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A closed mesh that is not convex: a ring of the radius 1 and the thickness 0.6, about z."""
    s, t = np.meshgrid(np.arange(m) * 2 * np.pi / m, np.arange(k) * 2 * np.pi / k, indexing="ij")
    rho = 1 + 0.3 * np.cos(t)
    vertices = np.stack([rho * np.cos(s), rho * np.sin(s), 0.3 * np.sin(t)], axis=-1).reshape(-1, 3)
    n = np.arange(m * k).reshape(m, k)
    a, b, c, d = n, np.roll(n, -1, 0), np.roll(np.roll(n, -1, 0), -1, 1), np.roll(n, -1, 1)
    return vertices, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def test_planes_face_each_other_or_meet_without_end():
    floor = Plane()
    flipped = np.diag([1.0, -1, -1, 1])
    flipped[2, 3] = 2.5
    found = solid_distance(floor, Plane(T_world_solid=flipped))
    assert found.distance == pytest.approx(2.5) and found.normal == pytest.approx([0, 0, 1])
    with pytest.raises(ArgumentError, match="face each other"):
        solid_distance(floor, floor.at([0, 0, 1.0]))
    ring = Mesh(torus(), T_world_solid=[0, 0, 1.0])
    assert solid_distance(ring, floor).distance == pytest.approx(0.7, abs=1e-12)  # any mesh, without coal
    with pytest.raises(ArgumentError, match="no bottom"):
        solid_distance(floor, HeightField(np.zeros((2, 2))))


def test_meshes_that_are_not_convex_ask_for_coal():
    ring = Mesh(torus(), name="ring")
    assert not is_convex(ring) and is_convex(HULL) and is_convex(Mesh(HULL.triangles))
    vertices, faces = ConvexHull(CORNERS).triangles.vertices, ConvexHull(CORNERS).triangles.faces
    assert is_convex(Mesh((vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3))))  # as STL has it
    assert not is_convex(Mesh((vertices, faces[1:])))  # open
    with pytest.raises(ArgumentError, match=r"'ring' is not convex.*exact=True.*ConvexHull"):
        solid_distance(ring, Sphere(0.1))
    with pytest.raises(ArgumentError, match=r"HeightField 'hills'.*exact=True"):
        solid_distance(HeightField(np.zeros((2, 2)), name="hills"), Box([1, 1, 1]))
    # In the hole, beyond the ring, above it; the mesh of 24 x 12 pieces differs from the torus by 1 - cos(π/24) of
    # 1.3 m and 1 - cos(π/12) of 0.3 m at most: it is thinner, but for the hole.
    thin = 1.3 * (1 - np.cos(np.pi / 24)) + 0.3 * (1 - np.cos(np.pi / 12))
    for place, wanted in (([0, 0, 0], 0.6), ([2.0, 0, 0], 0.6), ([0, 0, 1.0], np.hypot(1, 1) - 0.4)):
        found = solid_distance(ring, Sphere(0.1).at(place), exact=True)
        assert wanted - thin <= found.distance <= wanted + thin
    ball = Sphere(0.1).at([1.0, 0, 0])  # inside the ring: 0.2 m of it are around the ball
    for inner in (ball, Mesh(HULL.triangles.__class__(HULL.points * 0.1, HULL.triangles.faces)).at([1.0, 0, 0])):
        found = solid_distance(ring, inner, exact=True)
        assert found.distance < -0.1
        np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-6)
    crossing = solid_distance(ring, Mesh(ConvexHull(CORNERS).triangles).at([1.5, 0, 0]), exact=True)
    assert crossing.distance < 0 and np.linalg.norm(crossing.normal) == pytest.approx(1)


def test_spheres_roll_over_ground():
    rng = np.random.default_rng(6)
    field = HeightField(rng.uniform(0, 0.3, (6, 7)), [0.2, 0.3], T_world_solid=random_poses(rng, 1)[0])
    T = field.T_world_solid
    vertices = field.triangles.vertices[:42]
    for local in rng.uniform([-1, -1, 0.5], [2, 3, 2], (20, 3)):
        found = solid_distance(Sphere(0.1, T_world_solid=T[:3, :3] @ local + T[:3, 3]), field)
        assert 0 < found.distance <= np.linalg.norm(vertices - local, axis=1).min() - 0.1
        back = solid_distance(field, Sphere(0.1, T_world_solid=T[:3, :3] @ local + T[:3, 3]))
        np.testing.assert_allclose(back.point_a, found.point_b, atol=1e-12)
    ball = Sphere(0.1, T_world_solid=T[:3, :3] @ [0.4, 0.5, 1.0] + T[:3, 3])
    assert solid_distance(field, ball, exact=True).distance == pytest.approx(solid_distance(field, ball).distance, 1e-6)


# --- the solids -------------------------------------------------------------------------------------------------------


def test_hulls_are_closed_convex_meshes_that_share_their_tables():
    points = np.random.default_rng(8).normal(size=(100, 3))
    hull = ConvexHull(points, name="stone")
    rows, faces = hull.tables.rows, hull.triangles.faces
    assert ((points @ rows[:, :3].T - rows[:, 3]).max(axis=0) < 1e-14).all()
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    assert {tuple(s) for s in sides} == {tuple(s[::-1]) for s in sides}  # closed, all turned outward
    a, b, c = hull.triangles.corners.transpose(1, 0, 2)
    assert (np.einsum("ki,ki->k", np.cross(b - a, c - a), rows[: len(faces), :3]) > 0).all()
    moved = hull.at([1, 2, 3])
    assert moved.tables is hull.tables and moved.triangles is hull.triangles and moved.name == "stone"
    assert hull.replace(name="other").tables is hull.tables
    assert len(hull.replace(points=CORNERS).points) == 8
    again = ConvexHull(hull.points)
    np.testing.assert_allclose(np.sort(again.points, axis=0), np.sort(hull.points, axis=0))


def test_large_faces_have_no_inner_edges():
    rows = ConvexHull(CORNERS).tables.rows
    assert len(rows) == 12  # 12 triangles and 12 edges, without the 6 diagonals
    lengths = np.linalg.norm(rows[:, 15:18], axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-14)
    assert len(np.unique(rows[:, :3].round(12), axis=0)) == 6


def test_cameras_see_hulls_and_ground():
    heights = np.random.default_rng(9).uniform(0, 0.3, (4, 5))
    field = HeightField(heights, 0.5, name="ground")
    scene = Scene([ConvexHull(CORNERS, name="cube").at([5.0, 0, 0]), field])
    hits = cast_rays(scene, [[5, 0, 3.0], [0.5, 1.0, 3.0], [0.5, 1.0, -3]], [[0, 0, -1.0], [0, 0, -1], [0, 0, 1]])
    assert hits.solid.tolist() == [0, 1, 1]
    assert hits.distance[0] == pytest.approx(2.5) and hits.distance[1] == pytest.approx(3 - heights[1, 2], abs=1e-12)
    assert field.at([1, 0, 0]).triangles is field.triangles
    assert field.replace(spacing=[1.0, 2.0]).spacing.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (np.zeros((5, 3)), "no volume"),
        (np.random.default_rng(0).normal(size=(9, 3)) * [1, 1, 0], "no volume"),
        (np.eye(3), "at least 4"),
        (np.zeros((5, 2)), r"\(k, 3\)"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]], "point 3 is not finite"),
    ],
)
def test_points_without_a_hull_are_refused(points, words):
    with pytest.raises(ArgumentError, match=words):
        ConvexHull(points)


@pytest.mark.parametrize(
    ("heights", "spacing", "words"),
    [
        (np.zeros(3), 1.0, r"\(nx, ny\)"),
        (np.zeros((1, 3)), 1.0, "2 or more"),
        ([[0, np.inf], [0, 0]], 1.0, "NaN or infinity"),
        (np.zeros((2, 2)), 0.0, "above 0"),
        (np.zeros((2, 2)), [1.0, -1], "above 0"),
        (np.zeros((2, 2)), [1.0, 1, 1], r"\(2,\)"),
    ],
)
def test_grids_that_are_no_ground_are_refused(heights, spacing, words):
    with pytest.raises(ArgumentError, match=words):
        HeightField(heights, spacing)


def test_what_has_no_volume_is_refused():
    with pytest.raises(ArgumentError, match="'solid_b' must be a Plane, Sphere"):
        solid_distance(Sphere(1.0), Textured([1, 1], np.zeros((2, 2))))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'solid_a'"):
        solid_distance("box", Sphere(1.0))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="is_convex"):
        is_convex(Sphere(1.0))  # type: ignore[arg-type]


def test_coal_is_asked_for_by_name_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(MissingPackageError, match=r"exact=True needs coal: pip install 'adjoint\[world\]'"):
        solid_distance(Sphere(1.0), Sphere(1.0), exact=True)
    assert solid_distance(Sphere(1.0), Sphere(1.0)).distance == -2
