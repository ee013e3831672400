"""Signed distances of parts as tables: one machine code for all parts, whose poses and sizes are inputs.

A tree of unions, intersections and differences is written as a union of terms, each of which is an intersection of
primitives, or of what is outside of primitives. The distance is then the least over the terms of the largest over
their primitives: the tree's sign is exact, and so is the depth of points that are less deep than the part is thick
there. In front of edges and corners the distance is too small, as always with such combinations.

Row of a table: rotation (9), position (3), sizes (3), kind, sign (-1: the outside), and 1 where a term ends.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...collision.collision_solids import ConvexHull
from ...compile import Kernel, kernel, row_at, while_loop
from ...sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere
from ...world import Part
from ...world.parts import part_solids
from ...world.parts.primitive_kinds import KINDS
from ...world.parts.sweeps import FACETS

__all__: list[str] = []

ROW_SIZE = 18
_BOX, _ROUND, _BALL, _ROD = 0.0, 1.0, 2.0, 3.0
_FAR = 1e9  # half the length [m] of what does not end
MOST_ROWS = 4096
ROOMS = (32, 256, MOST_ROWS)
_MOST_ROWS = 256  # of one part

Literal = tuple[float, np.ndarray, tuple[float, float, float], float]  # kind, T (4, 4), sizes, sign
Terms = list[list[Literal]]


# --- trees as tables --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def part_table(part) -> np.ndarray:
    """The table (n, 18) of a part, or of a solid of a scene, in its own frame."""
    terms = _tree(part, np.eye(4), True) if isinstance(part, Part) else _solid(part, np.eye(4))
    rows = [_row(literal, k == len(term) - 1) for term in terms for k, literal in enumerate(term)]
    return np.array(rows).reshape(-1, ROW_SIZE)


def moved_table(table: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The table of a part that stands at T (4, 4)."""
    moved = table.copy()
    moved[:, :9] = (T[:3, :3] @ table[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
    moved[:, 9:12] = table[:, 9:12] @ T[:3, :3].T + T[:3, 3]
    return moved


def _row(literal: Literal, last: bool) -> np.ndarray:
    kind, T, sizes, sign = literal
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3], sizes, [kind, sign, float(last)]])


def _tree(part: Part, T: np.ndarray, inside: bool) -> Terms:
    """The terms of a part at T, or of all that is outside of it; of its convex solids if there are too many."""
    found = _expanded(part, T, inside)
    if found is None:
        found = [term for solid in part_solids(part.standing) for term in _solid(solid, T @ part.T_part_solid)]
        found = found if inside else _product([_opposite(term) for term in found]) or []
    return found


def _expanded(part: Part, T: np.ndarray, inside: bool) -> Terms | None:
    T = T @ part.T_part_solid
    if part.kind in KINDS:
        term = _primitive(part, T)
        return None if term is None else [term] if inside else _opposite(term)
    signs = [inside if k == 0 or part.kind != "difference" else not inside for k in range(len(part.operands))]
    each = [_expanded(p, T, sign) for p, sign in zip(part.operands, signs, strict=True)]
    if any(x is None for x in each):
        return None
    known = [x for x in each if x is not None]
    together = (part.kind == "union") == inside
    return [term for terms in known for term in terms] if together else _product(known)


def _opposite(term: list[Literal]) -> Terms:
    return [[(kind, T, sizes, -sign)] for kind, T, sizes, sign in term]


def _product(factors: list[Terms]) -> Terms | None:
    """The terms of an intersection; None if they have too many rows."""
    found: Terms = [[]]
    for terms in factors:
        found = [a + b for a in found for b in terms]
        if sum(map(len, found)) > _MOST_ROWS:
            return None
    return found


def _primitive(part: Part, T: np.ndarray) -> list[Literal] | None:
    """A convex primitive as one term; None for what is not convex."""
    kind, values = part.kind, part.values
    if kind == "cuboid":
        return [(_BOX, T, _half(values), 1.0)]
    if kind in ("wedge", "mesh", "lamination") or values[-1] is not None:
        return None if kind == "revolution" else _planes(KINDS[kind].mesh(values, FACETS, "on"), T)
    if kind == "cylinder":
        return [_rod(T, values[0], values[1] / 2)]
    if kind == "sphere":
        return [(_BALL, T, (values[0], 0.0, 0.0), 1.0)]
    if kind == "hemisphere":
        return [(_BALL, T, (values[0], 0.0, 0.0), 1.0), (_ROUND, T @ _FLIP, (0.0, 1.0, 0.0), 1.0)]
    if kind == "cone":
        radius, height, top = values[:3]
        slope = np.hypot(height, radius - top)
        c, s = height / slope, (radius - top) / slope
        # ρ c + z s = h at both rims, z = -height/2 and height/2; the ends are those of a box that is wide enough.
        wall: Literal = (_ROUND, T, (c, s, c * (radius + top) / 2), 1.0)
        return [wall, (_BOX, T, (_FAR, _FAR, height / 2), 1.0)]
    return None


_FLIP = np.diag([1.0, -1.0, -1.0, 1.0])


def _half(size) -> tuple[float, float, float]:
    x, y, z = (float(value) / 2 for value in size)
    return x, y, z


def _rod(T: np.ndarray, radius: float, half: float) -> Literal:
    return _ROD, T, (float(radius), float(half), 0.0), 1.0


def _planes(mesh, T: np.ndarray) -> list[Literal] | None:
    """A convex polyhedron as half-spaces; None if it is not convex."""
    vertices, faces = np.asarray(mesh[0]), np.asarray(mesh[1])
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=1)
    normals, a = normals[sizes > 0] / sizes[sizes > 0, None], a[sizes > 0]
    heights = np.einsum("ij,ij->i", normals, a)
    reach = np.abs(vertices).max()
    if (vertices @ normals.T - heights > 1e-9 * reach).any():
        return None
    unique = np.unique(np.round(np.column_stack([normals, heights / reach]), 9), axis=0, return_index=True)[1]
    return [_half_space(T, normals[k], normals[k] * heights[k]) for k in unique]


def _half_space(T: np.ndarray, normal: np.ndarray, point: np.ndarray) -> Literal:
    """The half-space below a plane: its distance is z of a frame on the plane."""
    x = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    x /= np.linalg.norm(x)
    at = np.eye(4)
    at[:3, :3], at[:3, 3] = np.column_stack([x, np.cross(normal, x), normal]), point
    return _ROUND, T @ at, (0.0, 1.0, 0.0), 1.0


def _solid(solid: Solid, T: np.ndarray) -> Terms:
    """A solid of a scene as terms."""
    T = T @ solid.T_world_solid
    if isinstance(solid, Plane):
        return [[(_ROUND, T, (0.0, 1.0, 0.0), 1.0)]]
    if isinstance(solid, Box):
        return [[(_BOX, T, _half(solid.size), 1.0)]]
    if isinstance(solid, Sphere):
        return [[(_BALL, T, (float(solid.radius), 0.0, 0.0), 1.0)]]
    if isinstance(solid, Capsule):
        return [[(_BALL, T, (float(solid.radius), float(solid.length) / 2, 0.0), 1.0)]]
    if isinstance(solid, Cylinder):
        return [[_rod(T, solid.radius, solid.length / 2)]]
    if isinstance(solid, Mesh):
        hull = solid if isinstance(solid, ConvexHull) else ConvexHull(points=solid.triangles.vertices)
        planes = _planes((hull.triangles.vertices, hull.triangles.faces), T)
        return [] if planes is None else [planes]
    return []


# --- distances --------------------------------------------------------------------------------------------------------


def nearest_surface(table, count, x) -> tuple:
    """The signed distance [m] of a point x (3,) from the union of all parts of a table, and the unit normal (3,).

    The first `count` rows of the table count.
    """
    up = np.array([0.0, 0.0, 1.0]) + 0.0 * x
    far = _FAR + 0.0 * x[0]

    def step(now):
        k, best, normal, most, facing = now
        row = row_at(table, k)
        d, n = _leaf(row, x)
        d, n = row[16] * d, row[16] * n
        inner = d > most
        most, facing = np.where(inner, d, most), np.where(inner, n, facing)
        ends = row[17] > 0
        nearer = ends & (most < best)
        best, normal = np.where(nearer, most, best), np.where(nearer, facing, normal)
        return k + 1.0, best, normal, np.where(ends, -_FAR, most), facing

    start = 0.0 * x[0], far, up, -far, up
    _, best, normal, _, _ = while_loop(lambda now: now[0] < count, step, start, max_iterations=MOST_ROWS)
    return best, normal


def _leaf(row, x) -> tuple:
    """The distance of a point from one primitive, and its normal."""
    R = row[:9].reshape(3, 3)
    local, (a, b, c), kind = R.T @ (x - row[9:12]), (row[12], row[13], row[14]), row[15]
    z, side = np.abs(local[2]), np.where(local[2] < 0, -1.0, 1.0)
    zero = 0.0 * z
    # Boxes: the farthest of three pairs of planes.
    over = np.abs(local) - row[12:15]
    first = (over[0] >= over[1]) & (over[0] >= over[2])
    second = (over[1] >= over[2]) & ~first
    one = np.stack([np.where(first, 1.0, 0.0), np.where(second, 1.0, 0.0), np.where(first | second, 0.0, 1.0)])
    box, box_normal = np.maximum(np.maximum(over[0], over[1]), over[2]), one * np.where(local < 0, -1.0, 1.0)
    # Round about z: cones, half-spaces, and rods, which end at z = ± b.
    rho = np.sqrt(local[0] * local[0] + local[1] * local[1])
    out = np.stack([local[0], local[1], zero]) / np.where(rho > 0, rho, 1.0)
    up = np.stack([zero, zero, zero + 1.0])
    cone, cone_normal = a * rho + b * local[2] - c, a * out + b * up
    wall, end = rho - a, z - b
    rod, rod_normal = np.maximum(wall, end), np.where(wall >= end, out, side * up)
    # Balls, and capsules of the half length b.
    away = local - np.clip(local[2], -b, b) * up
    size = np.sqrt(np.dot(away, away))
    ball, ball_normal = size - a, away / np.where(size > 0, size, 1.0)
    is_box, is_round, is_ball = kind < 0.5, (kind > 0.5) & (kind < 1.5), (kind > 1.5) & (kind < 2.5)
    d = np.where(is_box, box, np.where(is_round, cone, np.where(is_ball, ball, rod)))
    n = np.where(is_box, box_normal, np.where(is_round, cone_normal, np.where(is_ball, ball_normal, rod_normal)))
    return d, R @ n


def padded(rows: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Rows with zeros below, so that there are as many as the first of the sizes that suffices."""
    room = next((size for size in sizes if len(rows) <= size), len(rows))
    return np.concatenate([rows, np.zeros((room - len(rows), rows.shape[1]))])


@lru_cache(maxsize=8)
def _distance_kernel(room: int) -> Kernel:
    @kernel(table=(room, ROW_SIZE), x=3)
    def surface_distance(table, count, x):
        """The signed distance [m] of a point x (3,) from the union of all parts of a table; negative inside."""
        return nearest_surface(table, count, x)[0]

    return surface_distance


def surface_distances(table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The signed distances (N,) [m] of points x (N, 3) from the union of all parts of a table; negative inside."""
    full = padded(table, ROOMS)
    return np.asarray(_distance_kernel(len(full))(full, float(len(table)), x))
