"""The solids that cover a part: every point of the part is in one of them, and exact ones have its volume."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.collision.collision_solids import ConvexHull
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing.scene import Box, Cylinder, Scene, Sphere, ray_distances
from adjoint.world.parts import (
    cone,
    cuboid,
    cylinder,
    difference,
    hemisphere,
    intersection,
    lamination,
    mesh_part,
    part_cover,
    part_solids,
    revolution,
    sphere,
    volume,
    wedge,
)
from adjoint.world.parts.convex_cells import cell_minus, cell_of, cell_within
from adjoint.world.parts.moments import mesh_moments
from adjoint.world.parts.surface_queries import triangle_normals
from adjoint.world.parts.sweeps import PartMesh

from .support.random_parts import L_SHAPE, placed_polyhedra, placed_primitives, points_inside


def outside_by(solid, points: np.ndarray) -> np.ndarray:
    """How far points (k, 3) are outside a solid at most, by its own inequalities: 0 or less inside."""
    T = solid.T_world_solid
    local = (points - T[:3, 3]) @ T[:3, :3]
    if isinstance(solid, Box):
        return (np.abs(local) - solid.size / 2).max(axis=1)
    if isinstance(solid, Sphere):
        return np.linalg.norm(local, axis=1) - solid.radius
    if isinstance(solid, Cylinder):
        return np.maximum(np.linalg.norm(local[:, :2], axis=1) - solid.radius, np.abs(local[:, 2]) - solid.length / 2)
    assert isinstance(solid, ConvexHull)
    mesh = PartMesh(solid.triangles.vertices, solid.triangles.faces)
    normals = triangle_normals(mesh)
    offsets = np.einsum("ij,ij->i", normals, mesh.vertices[mesh.faces[:, 0]])
    return (local @ normals.T - offsets).max(axis=1)


def covered(solids, points: np.ndarray, slack: float = 1e-9) -> np.ndarray:
    return np.min([outside_by(s, points) for s in solids], axis=0) <= slack


def corners_of(solid) -> np.ndarray:
    assert isinstance(solid, ConvexHull)
    return solid.points


def solid_volume(solid) -> float:
    if isinstance(solid, Box):
        return float(np.prod(solid.size))
    assert isinstance(solid, ConvexHull)
    return float(mesh_moments(solid.triangles.vertices, solid.triangles.faces)[3, 3])


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(placed_primitives, placed_primitives, st.sampled_from([difference, intersection]), st.integers(0, 99))
def test_every_point_of_a_part_is_in_a_solid(a, b, combine, seed):
    rng = np.random.default_rng(seed)
    part = combine(a, b).at(se3.random(rng=seed))
    try:
        inside = points_inside(part, 100, rng)
    except ArgumentError:  # nothing is left
        return
    assert covered(part_solids(part), inside).all()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(placed_primitives, st.integers(0, 99))
def test_every_point_of_a_primitive_is_in_a_solid(part, seed):
    assert covered(part_solids(part), points_inside(part, 100, np.random.default_rng(seed))).all()


@settings(max_examples=25, deadline=None)
@given(placed_polyhedra, placed_polyhedra, st.sampled_from([difference, intersection]))
def test_polyhedra_are_filled_exactly(a, b, combine):
    """The pieces of a difference and of an intersection are disjoint, so their volumes add up to that of the part."""
    part = combine(a, b)
    try:
        expected = volume(part)
    except ArgumentError:
        return
    cover = part_cover(part)
    assert cover.exact and cover.error == 0 and cover.note == ""
    assert sum(map(solid_volume, cover.solids)) == pytest.approx(expected, abs=1e-9 * volume(a))


def test_primitives_are_what_they_are():
    kinds = {cuboid(1, 2, 3): Box, sphere(1): Sphere, cylinder(1, 2): Cylinder}
    for part, kind in kinds.items():
        T = se3.random(rng=0)
        (solid,) = part_solids(part.at(T).with_colour([0.1, 0.2, 0.3]))
        assert type(solid) is kind and solid.colour.tolist() == [0.1, 0.2, 0.3]
        np.testing.assert_allclose(solid.T_world_solid, T)
        assert part_cover(part).exact
    for part in (wedge(1, 2, 3), cylinder(1, 2, 6), cone(1, 2, 0.5, 5), hemisphere(1, 8), sphere(1, 8)):
        cover = part_cover(part)
        assert cover.exact and [type(s) for s in cover.solids] == [ConvexHull]
        assert solid_volume(cover.solids[0]) == pytest.approx(volume(part), rel=1e-12)
    plate = part_cover(lamination(L_SHAPE, 0.1))
    assert plate.exact and len(plate.solids) == 2
    assert sum(map(solid_volume, plate.solids)) == pytest.approx(0.005, rel=1e-12)
    ring = part_cover(revolution([[1, 0], [2, 0], [2, 1], [1, 1]], 12))
    assert ring.exact and len(ring.solids) == 12
    expected = volume(revolution([[1, 0], [2, 0], [2, 1], [1, 1]], 12))
    assert sum(map(solid_volume, ring.solids)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("facets", [8, 16, 32])
def test_the_error_of_round_surfaces_is_the_stated_one(facets):
    """Corners of the hulls are outside a cone by at most the error, and outside a hole's wall by at most the error."""
    cover = part_cover(cone(1, 2), facets=facets)
    assert cover.error == pytest.approx(1 / np.cos(np.pi / facets) - 1) and not cover.exact
    points = corners_of(cover.solids[0])
    slope = np.hypot(points[:, 0], points[:, 1]) - (1 - points[:, 2]) / 2
    assert slope.max() == pytest.approx(cover.error)
    drilled = part_cover(cuboid(4, 4, 1) - cylinder(1, 3), facets=facets)
    assert len(drilled.solids) == facets and f"{facets} facets" in drilled.note
    rng = np.random.default_rng(0)
    angles, depth = rng.uniform(0, 2 * np.pi, 500), 1 - drilled.error
    inner = np.column_stack([depth * np.cos(angles), depth * np.sin(angles), rng.uniform(-0.4, 0.4, 500)])
    assert not covered(drilled.solids, inner * [1 - 1e-9, 1 - 1e-9, 1], 0.0).any()
    dome = part_cover(hemisphere(1), facets=facets)
    assert np.linalg.norm(corners_of(dome.solids[0]), axis=1).max() <= 1 + dome.error + 1e-12


def test_a_ring_is_covered_from_both_sides():
    ring = revolution([[1, 0], [2, 0], [2, 1], [1.5, 1.5], [1, 1]])
    cover = part_cover(ring)
    rng = np.random.default_rng(1)
    angle, radius, height = rng.uniform(0, 7, 2000), rng.uniform(1, 2, 2000), rng.uniform(0, 1, 2000)
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    assert covered(cover.solids, points).all()
    hollow = points * (0.999 - cover.error) / radius[:, None] * [1, 1, 0] + [0, 0, 0.5]
    assert not covered(cover.solids, hollow).any()
    # A groove: the ring is cut from a block, with facets inside of it.
    block = part_cover(cuboid(5, 5, 1, at=[0, 0, 0.5]) - ring, most=300)
    assert covered(block.solids, points_inside(cuboid(5, 5, 1, at=[0, 0, 0.5]) - ring, 300, rng)).all()
    middle = np.column_stack([1.5 * np.cos(angle), 1.5 * np.sin(angle), height])[:100]
    assert not covered(block.solids, middle).any()


def test_what_is_not_cut_stays_what_it_was():
    part = (sphere(0.2, at=[2, 0, 0]) | cuboid(1, 1, 1)) - cuboid(0.5, 0.5, 2)
    solids = part_solids(part)
    assert type(solids[0]) is Sphere and len(solids) == 5 and part_cover(part).exact
    assert type(part_solids(cuboid(1, 1, 1) & cuboid(2, 2, 2))[0]) is Box


def test_meshes_are_split_into_convex_pieces():
    bracket = lamination(L_SHAPE, 0.1) - cuboid(0.05, 0.05, 1, at=[0.2, 0.05, 0])
    mesh = mesh_part(bracket.mesh).at(se3.random(rng=2))
    cover = part_cover(mesh)
    assert 1 < len(cover.solids) < 20 and cover.error < 1e-6
    assert sum(map(solid_volume, cover.solids)) == pytest.approx(volume(bracket), rel=1e-4)
    assert covered(cover.solids, points_inside(mesh, 500, np.random.default_rng(3)), 1e-7).all()
    assert part_cover(mesh_part(sphere(1, 12).mesh)).exact
    apart = mesh_part((cuboid(1, 1, 1) | cuboid(1, 1, 1, at=[3, 0, 0])).mesh)
    assert len(part_solids(apart)) == 2


def test_too_many_pieces_become_one_hull():
    holes = cuboid(1, 1, 0.1)
    for k in range(6):
        holes = holes - cylinder(0.05, 1.0, at=[0.15 * k - 0.4, 0, 0])
    cover = part_cover(holes, most=20)
    assert len(cover.solids) == 1 and not cover.exact and "more than 20" in cover.note
    assert covered(cover.solids, points_inside(holes, 300, np.random.default_rng(0))).all()
    assert len(part_solids(holes)) > 20
    bumpy = mesh_part(holes.mesh)
    assert len(part_solids(bumpy, most=20)) == 1 and "more than 20" in part_cover(bumpy, most=20).note


def test_scenes_see_the_solids():
    """A ray down the hole of a block hits the floor below it; beside the hole, the block."""
    block = cuboid(0.2, 0.2, 0.1) - cylinder(0.03, 1.0)
    scene = Scene((*part_solids(block), Box([1, 1, 0.1], T_world_solid=[0, 0, -0.5])))
    found = ray_distances(scene, [[0, 0, 1], [0.06, 0.01, 1.0]], [[0, 0, -1.0], [0, 0, -1.0]])
    np.testing.assert_allclose(found, [1.45, 0.95])


def test_cells():
    cube = cell_of(cuboid(1, 1, 1).mesh.vertices)
    assert cube is not None and len(cube.planes) == 12 and cube.volume == pytest.approx(1)
    half = cell_of(np.add(cube.points, [0.5, 0, 0]))
    touching, away = cell_of(np.add(cube.points, [1, 0, 0])), cell_of(np.add(cube.points, [3, 0, 0]))
    assert half and touching and away
    assert cell_within(cube, cell_of(2 * cube.points)) is cube  # type: ignore[arg-type]
    assert cell_within(cube, half).volume == pytest.approx(0.5)  # type: ignore[union-attr]
    assert cell_within(cube, away) is None and cell_within(cube, touching) is None
    assert cell_minus(cube, away) is None and cell_minus(cube, touching) is None
    assert [c.volume for c in cell_minus(cube, half) or []] == [pytest.approx(0.5)]
    assert cell_minus(cube, cell_of(2 * cube.points)) == []  # type: ignore[arg-type]
    assert cell_of(cube.points * [1, 1, 0]) is None and cell_of(cube.points[:2]) is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: part_solids(3), "'part' must be a Part"),
        (lambda: part_solids(sphere(1), facets=2), "'facets' must be a whole number from 6"),
        (lambda: part_solids(sphere(1), most=0), "'most'"),
        (lambda: part_solids(cuboid(1, 1, 1) - cuboid(2, 2, 2)), "the difference is empty"),
        (lambda: part_solids(cuboid(1, 1, 1) & cuboid(1, 1, 1, at=[5, 0, 0])), "the intersection is empty"),
    ],
)
def test_bad_requests_are_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
