"""Shapes around links: they contain the links, and are no farther from them than they say."""

import coal
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as aj
from adjoint.collision.shape_excess import MeshSamples, excess_of, inside_depth, surface_samples
from adjoint.collision.shape_fitting import Fit, fitted_ball, fitted_capsule, hull_points, row_of_balls, volume_of
from adjoint.collision.shape_kernels import hull_gap
from adjoint.collision.shape_sources import link_pieces
from adjoint.collision.shape_splitting import clipped, split_fits
from adjoint.collision.shapes_of_links import LinkShapes, link_shapes, shape_solids
from adjoint.drawing.triangles import ball, box, tube
from adjoint.errors import ArgumentError
from adjoint.lie import so3
from adjoint.sensing import Scene, cast_rays, robot_solids

from .support.robots import urdf

ROUNDING = 1e-12  # [m], of coordinates of some m


def fits_of(shapes: LinkShapes, own) -> list[Fit]:
    return [Fit(shapes.starts[k], shapes.ends[k], float(shapes.radii[k])) for k in own]


def corners_of(mesh) -> np.ndarray:
    return np.asarray(mesh.vertices, float)[mesh.faces]


def on_triangles(triangles: np.ndarray, count: int, rng) -> np.ndarray:
    weights = rng.dirichlet(np.ones(3), count)
    return np.einsum("pc,pcx->px", weights, triangles[rng.integers(len(triangles), size=count)])


def certified(triangles: np.ndarray, fits: list[Fit], tolerance: float, levels: int = 60) -> bool:
    """Whether triangles lie in the union of convex shapes, padded by `tolerance`.

    A triangle lies in a convex shape if its corners do. What lies in none is cut in the middle of its longest edge.
    """
    for _ in range(levels):
        depth = np.array([inside_depth(fit, triangles.reshape(-1, 3)).reshape(-1, 3).min(axis=1) for fit in fits])
        triangles = triangles[depth.max(axis=0) < -tolerance]
        if not len(triangles):
            return True
        edges = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2)
        order = (np.argmax(edges, axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(triangles, order[..., None], axis=1).transpose(1, 0, 2)
        triangles = np.concatenate([np.stack([a, (a + b) / 2, c], axis=1), np.stack([(a + b) / 2, b, c], axis=1)])
        if len(triangles) > 200_000:
            return False
    return False


# --- robots -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def panda():
    return aj.load(urdf("panda.urdf"))


def check_cover(robot, shapes, rng):
    """Every link is inside of its shapes, by samples and by a certificate, and no shape is too far from its link."""
    for link in link_pieces(robot, "auto")[0]:
        own = np.flatnonzero([name == link.name for name in shapes.links])
        fits = fits_of(shapes, own)
        if not len(link.triangles):
            continue
        points = on_triangles(link.triangles, 3000, rng)
        assert np.max([inside_depth(fit, points) for fit in fits], axis=0).min() >= -ROUNDING
        assert certified(link.triangles, fits, 1e-6)
        mesh = MeshSamples(link.triangles)
        for k, fit in zip(own, fits, strict=True):
            surface = surface_samples(fit, 3000)
            for other in fits:
                surface = surface if other is fit else surface[inside_depth(other, surface) < 0]
            # The true distance is at most that to the nearest samples; the bound holds for it, so nearly for these.
            assert mesh.distance(surface).max(initial=0.0) <= shapes.excess[k] + 1e-9


@pytest.mark.parametrize("kind", ["capsules", "spheres"])
@pytest.mark.slow
def test_shapes_cover_drawings(kind):
    robot = aj.robots.stanford() if kind == "capsules" else aj.robots.two_link()
    check_cover(robot, link_shapes(robot, kind), np.random.default_rng(0))


@pytest.mark.slow
def test_shapes_cover_the_panda(panda):
    shapes = link_shapes(panda)
    check_cover(panda, shapes, np.random.default_rng(1))
    moving = shapes.bodies >= 0
    assert shapes.excess[moving].max() < 0.035
    assert max(len(own) for own in shapes.groups.values()) <= 6  # link 7 has the hand as well
    assert len(shapes.groups) == 10


@pytest.mark.slow
def test_shapes_are_kept_by_the_robot():
    robot = aj.robots.two_link()
    assert link_shapes(robot) is link_shapes(robot)
    assert link_shapes(robot, most=1) is not link_shapes(robot)
    assert not link_shapes(robot).starts.flags.writeable


@pytest.mark.slow
def test_capsules_shrink_with_their_number(panda):
    one, more = link_shapes(panda, most=1), link_shapes(panda, most=3)
    assert len(one) == 11  # links, one shape each
    assert more.excess[more.bodies >= 0].max() < one.excess[one.bodies >= 0].max()
    assert len(link_shapes(panda, most=3, tolerance=0.2)) == 11  # nothing is farther off


@pytest.mark.slow
def test_shapes_tell_of_themselves(panda):
    shapes = link_shapes(panda)
    assert "mm off its link" in repr(shapes)
    assert "panda_hand#2" in str(shapes)
    assert "panda_hand#2" in shapes._repr_html_()
    assert set(shapes.links) == {f"panda_link{k}" for k in range(8)} | {
        "panda_hand", "panda_leftfinger", "panda_rightfinger"
    }  # fmt: skip
    assert np.allclose(shapes.volumes, [volume_of(fit) for fit in fits_of(shapes, range(len(shapes)))])


@pytest.mark.slow
def test_hulls_lie_between_links_and_shapes(panda):
    shapes = link_shapes(panda)
    for k, fit in enumerate(fits_of(shapes, range(len(shapes)))):
        assert inside_depth(fit, shapes.hulls[k]).min() >= shapes.hull_radii[k] - ROUNDING


@pytest.mark.slow
def test_solids_hide_the_links():
    """Rays meet a shape before they meet the link inside of it."""
    robot = aj.robots.puma560()
    q = aj.random_configuration(robot, rng=3)
    solids = shape_solids(robot, link_shapes(robot), q, T_world_base=[0.1, 0.2, 0.3])
    links = Scene(robot_solids(robot, q, T_world_base=[0.1, 0.2, 0.3]))
    rng = np.random.default_rng(0)
    direction = rng.standard_normal((800, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    origin = np.array([0.1, 0.2, 0.3]) - 5 * direction + rng.uniform(-0.5, 0.5, (800, 3))
    first, behind = (cast_rays(scene, origin, direction).distance for scene in (Scene(solids), links))
    assert np.isfinite(behind).sum() > 50
    assert (first <= behind + 1e-9).all()


# --- primitives -------------------------------------------------------------------------------------------------------

PRIMITIVES = """<robot name="r">
<link name="base"><collision><geometry><sphere radius="0.2"/></geometry></collision></link>
<link name="a"><collision><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/><geometry><capsule radius="0.05"
length="0.4"/></geometry></collision></link>
<link name="b"><collision><geometry><box size="0.3 0.1 0.1"/></geometry></collision>
<collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="f" type="fixed"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/></joint></robot>"""


def test_primitives_are_exact():
    shapes = link_shapes(aj.load(PRIMITIVES))
    assert shapes.names[:2] == ("base", "a")
    assert list(shapes.bodies[:3]) == [-1, 0, 0]  # the box belongs to the body that its fixed joint leads to
    assert np.array_equal(shapes.excess[:2], [0.0, 0.0])
    assert np.allclose(shapes.starts[0], 0) and np.allclose(shapes.ends[0], 0) and shapes.radii[0] == 0.2
    ends = np.sort([shapes.starts[1, 0], shapes.ends[1, 0]])
    assert np.allclose(ends, [-0.1, 0.3]) and shapes.radii[1] == 0.05


@pytest.mark.slow
def test_boxes_and_cylinders_are_covered():
    robot = aj.load(PRIMITIVES)
    rng = np.random.default_rng(0)
    angle, z = rng.uniform(0, 2 * np.pi, 2000), rng.uniform(-0.25, 0.25, 2000)
    cylinder = np.stack([1 + 0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.2 + z], axis=1)
    cuboid = rng.uniform(-0.5, 0.5, (2000, 3)) * [0.3, 0.1, 0.1] + [1, 0, 0]
    for kind in ("capsules", "spheres"):
        shapes = link_shapes(robot, kind)
        fits = fits_of(shapes, np.flatnonzero([link == "b" for link in shapes.links]))
        for points in (cylinder, cuboid):
            assert np.max([inside_depth(fit, points) for fit in fits], axis=0).min() >= 0


def test_balls_cover_a_stated_capsule():
    fit = Fit(np.array([-0.2, 0, 0]), np.array([0.2, 0, 0.1]), 0.05)
    balls = row_of_balls(fit, 20, 0.004)
    assert max(x.radius for x in balls) <= 0.054
    surface = surface_samples(fit, 4000)
    assert np.max([inside_depth(x, surface) for x in balls], axis=0).min() >= -ROUNDING
    assert len(row_of_balls(fit, 1, 0.004)) == 1
    assert inside_depth(row_of_balls(fit, 1, 0.004)[0], surface).min() >= -ROUNDING


def test_models_of_mujoco():
    text = """<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/></body></worldbody></mujoco>"""
    shapes = link_shapes(aj.load(text))
    assert len(shapes) == 1 and shapes.excess[0] == 0
    assert np.allclose([shapes.radii[0], shapes.lengths[0]], [0.04, 0.3])


# --- fits -------------------------------------------------------------------------------------------------------------


def random_points(seed: int, count: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, 3)) * np.exp(rng.uniform(-2, 1, 3)) + rng.uniform(-1, 1, 3)


@given(st.integers(0, 10**6), st.sampled_from(["capsules", "spheres"]))
@settings(max_examples=8, deadline=None)
@pytest.mark.slow
def test_random_meshes_are_covered(seed, kind):
    """Random triangles, no solid at all: the surface is covered, and the bound of the excess holds."""
    rng = np.random.default_rng(seed)
    triangles = rng.standard_normal((12, 1, 3)) * 0.3 + rng.standard_normal((12, 3, 3)) * 0.1
    mesh = MeshSamples(triangles)
    fits = [x.fit for x in split_fits(triangles, kind, 4, 0.01, mesh)]
    points = on_triangles(triangles, 2000, rng)
    assert np.max([inside_depth(fit, points) for fit in fits], axis=0).min() >= -ROUNDING
    for fit in fits:
        others = [x for x in fits if x is not fit]
        surface = surface_samples(fit, 800)
        for other in others:
            surface = surface[inside_depth(other, surface) < 0]
        assert mesh.distance(surface).max(initial=0.0) <= excess_of(fit, mesh, others) + 1e-12


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_fits_move_with_their_points(seed):
    points = random_points(seed)
    rng = np.random.default_rng(seed)
    R = np.asarray(so3.exp(rng.standard_normal(3) * 2))
    t = rng.uniform(-1, 1, 3)
    for fitted in (fitted_capsule, fitted_ball):
        fit, moved = fitted(points), fitted(points @ R.T + t)
        assert inside_depth(fit, points).min() >= 0
        assert inside_depth(moved, points @ R.T + t).min() >= 0
        # The search for balls begins in a box along the axes, so their radii agree to what the search leaves: 1/300.
        tolerance = 1e-6 if fitted is fitted_capsule else 0.01
        assert np.isclose(moved.radius, fit.radius, rtol=tolerance)
        assert np.isclose(volume_of(moved), volume_of(fit), rtol=3 * tolerance)


def test_capsules_are_found_again():
    """Points on a capsule have a capsule around them of nearly the same volume, and a ball for those on a ball."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        true = Fit(rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), 0.2)
        fit = fitted_capsule(surface_samples(true, 2000))
        assert 0.97 < volume_of(fit) / volume_of(true) < 1.02
        true = true._replace(end=true.start)
        assert 0.99 < fitted_ball(surface_samples(true, 2000)).radius / 0.2 < 1.005


def test_parts_of_a_solid_cover_its_inside():
    """The hulls of the parts contain the solid, not only its surface."""
    triangles = corners_of(tube(0.1, 0.5, sides=16))
    found = split_fits(triangles, "spheres", 8, 0.005, MeshSamples(triangles))
    assert len(found) > 3
    rng = np.random.default_rng(0)
    angle, r = rng.uniform(0, 2 * np.pi, 3000), 0.098 * np.sqrt(rng.uniform(0, 1, 3000))
    inside = np.stack([r * np.cos(angle), r * np.sin(angle), rng.uniform(-0.25, 0.25, 3000)], axis=1)
    assert np.max([inside_depth(x.fit, inside) for x in found], axis=0).min() >= 0


def test_excess_of_known_shapes():
    # A ball around a cube of edge 2: the middle of a face is nearest, √3 - 1 from the ball's surface above it.
    mesh = MeshSamples(corners_of(box(2, 2, 2)))
    fit = Fit(np.zeros(3), np.zeros(3), np.sqrt(3.0))
    assert np.sqrt(3) - 1 <= excess_of(fit, mesh, []) <= np.sqrt(3) * 1.026 - 1
    # A fine mesh of a ball: nearly none, but 2.5 % for the patches and about 2 % for the samples of the mesh.
    assert excess_of(Fit(np.zeros(3), np.zeros(3), 1.0), MeshSamples(corners_of(ball(1.0, sides=64))), []) < 0.05
    # What another shape covers does not count.
    assert excess_of(fit, mesh, [fit._replace(radius=2.0)]) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_cuts_keep_all_area(seed):
    rng = np.random.default_rng(seed)
    triangles = rng.standard_normal((200, 3, 3))
    normal = rng.standard_normal(3)
    normal /= np.linalg.norm(normal)

    def area(x):
        return np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum()

    above, below = clipped(triangles, normal, 0.2), clipped(triangles, -normal, -0.2)
    assert np.isclose(area(above) + area(below), area(triangles))
    assert (above @ normal).min() >= 0.2 - ROUNDING and (below @ normal).max() <= 0.2 + ROUNDING


def test_gaps_between_hulls_are_proofs():
    """The gap never exceeds the distance of points of the hulls, and is nearly that of coal where they are apart."""
    rng = np.random.default_rng(0)
    a, b = (hull_points(rng.standard_normal((60, 3)) * size) for size in ([0.3, 0.1, 0.1], [0.1, 0.1, 0.2]))
    count = max(len(a), len(b))
    a, b = (x[np.minimum(np.arange(count), len(x) - 1)] for x in (a, b))
    T = np.tile(np.eye(4), (300, 1, 1))
    T[:, :3, :3] = so3.exp(rng.standard_normal((300, 3)) * 2)
    T[:, :3, 3] = rng.uniform(-0.8, 0.8, (300, 3))
    gap = hull_gap(a, b, T, np.inf)
    hulls = [coal.ConvexBase.convexHull(_vectors(x), True, "Qt") for x in (a, b)]
    here = coal.Transform3s()
    true = np.array(
        [
            coal.distance(hulls[0], here, hulls[1], coal.Transform3s(x[:3, :3], x[:3, 3]), coal.DistanceRequest(),
                          coal.DistanceResult())
            for x in T
        ]
    )  # fmt: skip
    apart = true > 0
    assert apart.sum() > 50 and (~apart).sum() > 20
    assert (gap[~apart] <= 1e-9).all()
    assert (gap[apart] <= true[apart] + 1e-6).all()
    assert np.quantile(true[apart] - gap[apart], 0.95) < 5e-3
    assert np.isclose(hull_gap.eager(a, b, T[0], np.inf), gap[0], atol=1e-12)


def _vectors(points):
    found = coal.StdVec_Vec3s()
    for x in np.unique(points, axis=0):
        found.append(x)
    return found


# --- what is odd or wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((1, 3)),
        np.ones((5, 3)),
        np.array([[0, 0, 0], [1.0, 0, 0]]),
        np.linspace(0, 1, 9)[:, None] * [1.0, 2, 3],
        np.random.default_rng(0).standard_normal((40, 3)) * [1, 1, 0],
        np.random.default_rng(0).standard_normal((40, 3)) * [1, 1, 1e-13],
        np.array([[0, 0, 0], [1.0, 0, 0], [0, 1, 0]]),
        1e6 + np.random.default_rng(0).standard_normal((40, 3)),
    ],
    ids=["point", "equal", "two", "line", "flat", "nearly flat", "triangle", "far"],
)
def test_degenerate_points(points):
    for fitted in (fitted_capsule, fitted_ball):
        fit = fitted(points)
        assert np.isfinite([*fit.start, *fit.end, fit.radius]).all()
        assert inside_depth(fit, points).min() >= 0
        size = np.linalg.norm(points - points.mean(axis=0), axis=1).max()
        assert fit.radius <= size * 1.01 + 1e-8


def test_flat_meshes_have_shapes():
    flat = corners_of(box(0.3, 0.2, 0.1))
    flat[..., 2] = 0.0
    for kind in ("capsules", "spheres"):
        found = split_fits(flat, kind, 3, 0.01, MeshSamples(flat))
        points = on_triangles(flat, 1000, np.random.default_rng(0))
        assert np.max([inside_depth(x.fit, points) for x in found], axis=0).min() >= -ROUNDING
    single = np.zeros((1, 3, 3))  # one point
    assert split_fits(single, "capsules", 3, 0.01, MeshSamples(single))[0].fit.radius < 1e-12


def test_robots_with_nothing():
    empty = aj.load("<robot name='r'><link name='only'/></robot>")
    shapes = link_shapes(empty)
    assert set(shapes.bodies) <= {-1}
    assert isinstance(repr(shapes), str) and isinstance(str(shapes), str)
    with pytest.raises(ArgumentError, match="'r' has no visuals; source='auto'"):
        link_shapes(empty, source="visual")
    with pytest.raises(ArgumentError, match="no shapes to collide with"):
        link_shapes(aj.robots.puma560(), source="collision")


def test_bodies_without_shapes_are_told():
    bare = PRIMITIVES.replace("<collision>", "<ignored>").replace("</collision>", "</ignored>")
    bare = bare.replace("<ignored>", "<collision>", 1).replace("</ignored>", "</collision>", 1)
    shapes = link_shapes(aj.load(bare.replace("ignored>", "visual>")), source="collision")
    assert list(shapes.bodies) == [-1]
    assert shapes.notes == ("the model states no shape of 'a': they meet nothing",)


def test_files_that_are_missing_are_told(tmp_path):
    """A body whose file is missing has the shape of its drawing, and a note says so."""
    text = PRIMITIVES.replace('<box size="0.3 0.1 0.1"/>', '<mesh filename="gone.stl"/>')
    path = tmp_path / "r.urdf"
    path.write_text(text)
    shapes = link_shapes(aj.load(path))
    assert any("gone.stl" in note and "drawing" in note for note in shapes.notes)
    assert {-1, 0} <= set(shapes.bodies)


def test_mesh_files_are_read(tmp_path):
    mesh = trimesh.creation.box([300, 100, 100])
    mesh.export(tmp_path / "part.stl")
    text = PRIMITIVES.replace(
        '<box size="0.3 0.1 0.1"/>', '<mesh filename="part.stl" scale="0.001 0.001 -0.001"/>'
    )  # mirrored, and in mm
    (tmp_path / "r.urdf").write_text(text)
    shapes = link_shapes(aj.load(tmp_path / "r.urdf"))
    fits = fits_of(shapes, np.flatnonzero([link == "b" for link in shapes.links]))
    corners = np.array([[x, y, z] for x in (0.85, 1.15) for y in (-0.05, 0.05) for z in (-0.05, 0.05)])
    assert np.max([inside_depth(fit, corners) for fit in fits], axis=0).min() >= 0


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"kind": "boxes"}, "link_shapes: kind is 'boxes'"),
        ({"source": "guess"}, "link_shapes: source is 'guess'"),
        ({"most": -1}, "link_shapes: most"),
        ({"most": 0}, "link_shapes: most"),
        ({"most": 2.5}, "link_shapes: most"),
        ({"tolerance": 0.0}, "link_shapes: tolerance"),
        ({"tolerance": np.nan}, "link_shapes: tolerance"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        link_shapes(aj.robots.two_link(), **wrong)


def test_wrong_robots_and_configurations():
    robot = aj.robots.two_link()
    with pytest.raises(ArgumentError, match="link_shapes"):
        link_shapes("robot")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="shape_solids"):
        shape_solids(robot, link_shapes(robot), [0.0])
    with pytest.raises(ArgumentError, match="shape_solids"):
        shape_solids(robot, link_shapes(robot), [0.0, np.nan])
    with pytest.raises(ArgumentError, match="'shapes' must be LinkShapes"):
        shape_solids(robot, None, [0.0, 0.0])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", ["capsules", "spheres"])
def test_links_that_are_nearly_lines(kind):
    """A box without a width has a capsule of a nanometre or so, whose surface needs no patch of that size."""
    link = '<collision><geometry><box size="0 1 0"/></geometry></collision>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    shapes = link_shapes(aj.load(f'<robot name="r"><link name="a"/><link name="b">{link}</link>{joint}</robot>'), kind)
    ends = np.array([[0, -0.5, 0], [0, 0.5, 0]])
    depths = [inside_depth(fit, ends) for fit in fits_of(shapes, range(len(shapes)))]
    assert np.max(depths, axis=0).min() >= 0
    assert kind == "spheres" or shapes.excess.max() < 1e-3
