"""Roadmaps: values that are made once and asked many times, also where obstacles have moved."""

import networkx
import numpy as np
import pytest

import adjoint as aj
from adjoint.collision import collision_model, is_free
from adjoint.errors import ArgumentError
from adjoint.sensing import Sphere
from adjoint.world.motion import Roadmap, plan_motion, roadmap, roadmap_path
from adjoint.world.motion.edge_checks import Checker, free_edges
from adjoint.world.motion.roadmaps import star_neighbours
from adjoint.world.motion.spaces import configuration_space

PLANAR = aj.robots.planar(2)
ARM = PLANAR.replace(lower=np.full(2, -3.0), upper=np.full(2, 3.0))
POSTS = [Sphere(0.15, T_world_solid=[x, y, 0.0], name=f"post {x}") for x, y in ((1.2, 0.9), (-0.9, 1.2), (0.3, -1.5))]
MODEL = collision_model(ARM, POSTS, pairs=())
ROADS = roadmap(MODEL, samples=400, resolution=0.05, rng=1)
ENDS = np.array([[-0.6, 0.5], [1.9, 0.4]])


def test_nodes_and_edges_are_free():
    assert is_free(MODEL, ROADS.nodes).all()
    space = configuration_space(ARM)
    a, b = ROADS.nodes[ROADS.edges[:, 0]], ROADS.nodes[ROADS.edges[:, 1]]
    checker = Checker.of(space, lambda q: is_free(MODEL, q), 0.05)
    assert ROADS.checked.all()
    assert free_edges(checker, a, b - a).all()
    np.testing.assert_allclose(ROADS.lengths, np.linalg.norm(b - a, axis=1))
    assert np.all(ROADS.edges[:, 0] < ROADS.edges[:, 1])
    assert "nodes" in repr(ROADS)


def test_every_node_has_its_nearest_neighbours():
    space, n = configuration_space(ARM), len(ROADS.nodes)
    lazy = roadmap(MODEL, samples=400, rng=1, lazy=True)
    k = star_neighbours(n, 2)
    assert k == int(np.ceil(np.e * 1.5 * np.log(n)))
    pairs = set(map(tuple, lazy.edges.tolist()))
    far = np.linalg.norm(space.difference(lazy.nodes[:, None], lazy.nodes), axis=-1)
    for i in range(0, n, 17):
        for j in np.argsort(far[i])[1 : k + 1].tolist():
            assert (min(i, j), max(i, j)) in pairs


@pytest.mark.parametrize("robot", [ARM, PLANAR], ids=["limits", "turns"])
def test_paths_are_the_shortest_of_the_graph(robot):
    """networkx finds a path of the same length on the graph of the same free edges."""
    model = collision_model(robot, POSTS, pairs=())
    roads = roadmap(model, samples=200, rng=2)
    path = roadmap_path(model, roads, *ENDS)
    assert path is not None
    np.testing.assert_array_equal(path[0], ENDS[0])
    space = configuration_space(robot)
    checker = Checker.of(space, lambda q: is_free(model, q), roads.resolution)
    graph = networkx.Graph()
    graph.add_weighted_edges_from(zip(*roads.edges.T.tolist(), roads.lengths.tolist(), strict=True))
    near = 2 * star_neighbours(len(roads.nodes) + 2, 2)
    for name, q in zip(("start", "goal"), ENDS, strict=True):
        v = space.difference(q, roads.nodes)
        for j in np.argsort(np.linalg.norm(v, axis=1))[:near]:
            if free_edges(checker, q[None], v[j : j + 1])[0]:
                graph.add_edge(name, int(j), weight=float(np.linalg.norm(v[j])))
    best = networkx.shortest_path_length(graph, "start", "goal", weight="weight")
    assert space.lengths(path).sum() == pytest.approx(best, rel=1e-9)


def test_roadmaps_are_saved_and_loaded(tmp_path):
    file = ROADS.save(tmp_path / "roads.npz")
    again = Roadmap.load(file)
    for name in ("nodes", "edges", "lengths", "checked"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ROADS, name))
    assert again.resolution == ROADS.resolution
    with pytest.raises(ArgumentError, match="npz"):
        ROADS.save(tmp_path / "roads.json")
    np.savez(tmp_path / "other.npz", nodes=np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match="no roadmap"):
        Roadmap.load(tmp_path / "other.npz")
    with pytest.raises(ValueError, match="read-only"):
        ROADS.nodes[0] = 0.0


def test_a_roadmap_serves_where_obstacles_have_moved():
    there = MODEL.with_obstacles([*POSTS[1:], Sphere(0.15, T_world_solid=[1.35, 0.75, 0.0], name="moved")])
    path = roadmap_path(there, ROADS, *ENDS)
    assert path is not None
    space = configuration_space(ARM)
    v = space.difference(path[:-1], path[1:])
    assert free_edges(Checker.of(space, lambda q: is_free(there, q), 0.05), path[:-1], v).all()
    plan = plan_motion(there, None, *ENDS, method="prm", roadmap=ROADS, timing=None)
    assert plan.solved
    assert plan.recheck(finer=4).free


@pytest.mark.parametrize("method", ["prm", "prm_star"])
def test_plans_on_growing_roadmaps(method):
    plan = plan_motion(MODEL, None, *ENDS, method=method, iterations=1500, shortcut=False, timing=None)
    assert plan.solved
    assert plan.recheck(finer=4).free
    if method == "prm_star":  # asymptotically optimal: shorter than the first path, near the best with shortcuts
        first = plan_motion(MODEL, None, *ENDS, method="prm", iterations=1500, shortcut=False, timing=None)
        assert plan.length <= first.length + 1e-12
        assert plan.statistics.iterations == 1500


def test_a_roadmap_without_a_way():
    walls = [Sphere(0.3, T_world_solid=[np.cos(a), np.sin(a), 0.0]) for a in (0.8, -0.8)]
    model = collision_model(ARM, walls, pairs=())
    assert roadmap_path(model, roadmap(model, samples=100), [0.0, 0.0], [3.0, 0.0]) is None
    plan = plan_motion(model, None, [0.0, 0.0], [3.0, 0.0], method="prm", iterations=300, timing=None)
    assert plan.reason.startswith("no path within the budget of 300 iterations: the roadmap has ")
    assert roadmap_path(MODEL, ROADS, ENDS[0], [[10.0, 0.0]]) is None or is_free(MODEL, np.array([10.0, 0.0]))


def test_bad_arguments_are_told():
    with pytest.raises(ArgumentError, match="samples"):
        roadmap(MODEL, samples=-1)
    with pytest.raises(ArgumentError, match="resolution"):
        roadmap(MODEL, resolution=0.0)
    with pytest.raises(ArgumentError, match="Roadmap"):
        roadmap_path(MODEL, "roads", *ENDS)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="one configuration"):
        roadmap_path(MODEL, ROADS, ENDS, ENDS)
    other = collision_model(aj.robots.planar(3), POSTS, pairs=())
    with pytest.raises(ArgumentError, match="roadmap has configurations"):
        roadmap_path(other, ROADS, np.zeros(3), np.ones(3))
    with pytest.raises(ArgumentError, match="roadmap has configurations"):
        plan_motion(other, None, np.zeros(3), np.ones(3), roadmap=ROADS)
    assert len(roadmap(MODEL, samples=0).nodes) == 0
