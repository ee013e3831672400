"""Random parts for tests: strategies of hypothesis for primitives, placements and booleans, and points inside parts."""

import numpy as np
from hypothesis import strategies as st

from adjoint.lie import se3
from adjoint.world.parts import (
    Part,
    cone,
    cuboid,
    cylinder,
    hemisphere,
    lamination,
    revolution,
    sphere,
    wedge,
)
from adjoint.world.parts.surface_queries import inside_mesh

L_SHAPE = [[0, 0], [0.3, 0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.3], [0, 0.3]]

sizes = st.floats(0.05, 0.4)


def poses(reach: float = 0.15):
    """Poses (4, 4) within some distance of the origin."""
    return st.builds(_pose, st.integers(0, 2**32 - 1), st.floats(0, reach))


def _pose(seed: int, distance: float) -> np.ndarray:
    T = se3.random(rng=seed)
    T[:3, 3] *= distance / np.linalg.norm(T[:3, 3])
    return T


polyhedra = st.one_of(
    st.builds(cuboid, sizes, sizes, sizes),
    st.builds(wedge, sizes, sizes, sizes),
    st.builds(cylinder, sizes, sizes, st.integers(3, 9)),
    st.builds(cone, sizes, sizes, st.sampled_from([0.0, 0.1, 0.2]), st.integers(3, 9)),
    st.builds(lamination, st.just(L_SHAPE), sizes),
)
round_ones = st.one_of(
    st.builds(cylinder, sizes, sizes),
    st.builds(sphere, sizes),
    st.builds(hemisphere, sizes),
    st.builds(cone, sizes, sizes, st.floats(0.05, 0.3)),
    st.just(revolution([[0.1, 0], [0.2, 0], [0.2, 0.1], [0.1, 0.1]])),
)
placed_polyhedra = st.builds(Part.at, polyhedra, poses())
placed_primitives = st.builds(Part.at, st.one_of(polyhedra, round_ones), poses())


def points_inside(part: Part, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points (k, 3) inside the mesh of a part, from some in a box around it."""
    mesh = part.mesh
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    points = rng.uniform(low, high, size=(count, 3))
    return points[inside_mesh(mesh, points)]
