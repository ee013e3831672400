"""Signed distances of two solids by coal, also of meshes that are not convex: the extra `[world]`."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import coo_array, csgraph

from ..errors import ArgumentError
from ..extras import package
from ..sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere
from ..sensing.scene.triangle_sets import Triangles
from .collision_solids import ConvexHull
from .pair_distances import PairDistance

__all__ = []

_MODELS: WeakKeyDictionary[Triangles, Any] = WeakKeyDictionary()  # trees of triangles are made once


def coal_model(solid: Solid, caller: str) -> Any:
    """The solid as a geometry of coal, in its own frame."""
    coal = package("coal", "world", f"{caller} with exact=True")
    match solid:
        case Sphere():
            return coal.Sphere(solid.radius)
        case Box():
            return coal.Box(*solid.size)
        case Cylinder():
            return coal.Cylinder(solid.radius, solid.length)
        case Capsule():
            return coal.Capsule(solid.radius, solid.length)
        case Plane():
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        case Mesh():
            if solid.triangles not in _MODELS:
                _MODELS[solid.triangles] = _triangle_model(coal, solid)
            return _MODELS[solid.triangles]
    raise ArgumentError(f"{caller}: a {type(solid).__name__} has no volume and does not collide")


def _triangle_model(coal: Any, solid: Mesh) -> Any:
    vertices, faces = solid.triangles.vertices, solid.triangles.faces
    if isinstance(solid, ConvexHull):
        points = coal.StdVec_Vec3s()
        for point in vertices:
            points.append(point)
        return coal.Convex.convexHull(points, True, "Qt")
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    model.addVertices(vertices)
    model.addTriangles(faces)
    model.endModel()
    return model


def coal_transform(coal: Any, T: np.ndarray) -> Any:
    """A pose (4, 4) as coal's."""
    found = coal.Transform3s()
    found.setRotation(T[:3, :3])
    found.setTranslation(T[:3, 3])
    return found


def coal_distance(solid_a: Solid, solid_b: Solid, caller: str) -> PairDistance:
    """The signed distance of two solids by coal. Depths of meshes that are not convex are those of their triangles."""
    coal = package("coal", "world", f"{caller} with exact=True")
    models = coal_model(solid_a, caller), coal_model(solid_b, caller)
    poses = coal_transform(coal, solid_a.T_world_solid), coal_transform(coal, solid_b.T_world_solid)
    result = coal.DistanceResult()
    d = coal.distance(models[0], poses[0], models[1], poses[1], coal.DistanceRequest(), result)
    pa, pb = result.getNearestPoint1(), result.getNearestPoint2()
    meshes = [isinstance(s, Mesh) and not isinstance(s, ConvexHull) for s in (solid_a, solid_b)]
    if all(meshes) and d <= 0:  # two meshes cross; coal says where, and how deep, when it looks for contacts
        return _deepest_contact(coal, models, poses)
    size = np.linalg.norm(pb - pa)
    normal = np.sign(d) * (pb - pa) / size if size > 1e-12 else np.array(result.normal)
    if not 0.5 < np.linalg.norm(normal) < 2:
        normal = np.array([0.0, 0.0, 1.0])
    if d > 0 and any(meshes) and (_contains(solid_a, solid_b) or _contains(solid_b, solid_a)):
        d, normal = -d, -normal
    return PairDistance(np.asarray(d), pa, pa + d * normal, normal / np.linalg.norm(normal))


def _deepest_contact(coal: Any, models, poses) -> PairDistance:
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts = 10_000
    coal.collide(models[0], poses[0], models[1], poses[1], request, result)
    contacts = [result.getContact(i) for i in range(result.numContacts())]
    if not contacts:  # they touch, and no triangle goes through another
        found = coal.DistanceResult()
        coal.distance(models[0], poses[0], models[1], poses[1], coal.DistanceRequest(), found)
        point = found.getNearestPoint1()
        return PairDistance(np.zeros(()), point, point, np.array([0.0, 0.0, 1.0]))
    deepest = min(contacts, key=lambda contact: contact.penetration_depth)
    d, n, middle = min(deepest.penetration_depth, 0.0), np.array(deepest.normal), np.array(deepest.pos)
    return PairDistance(np.asarray(d), middle - d / 2 * n, middle + d / 2 * n, n)


def _contains(outer: Solid, inner: Solid) -> bool:
    """Whether a piece of the surface of `inner`, which does not meet that of the closed mesh `outer`, is inside it."""
    if not isinstance(outer, Mesh) or isinstance(outer, ConvexHull):
        return False
    T = np.linalg.inv(outer.T_world_solid) @ inner.T_world_solid
    points = _one_of_each_piece(inner) @ T[:3, :3].T + T[:3, 3]
    return bool((np.abs(_winding_numbers(outer.triangles, points)) > 0.5).any())


def _one_of_each_piece(solid: Solid) -> np.ndarray:
    """A point (k, 3) of each piece of a solid, in its frame."""
    if not isinstance(solid, Mesh):
        return np.zeros((1, 3))
    faces = solid.triangles.faces
    ends = faces[:, [0, 1, 1, 2]].reshape(-1, 2)
    count = len(solid.triangles.vertices)
    _, piece = csgraph.connected_components(coo_array((np.ones(len(ends)), ends.T), (count, count)), directed=False)
    _, first = np.unique(piece[faces[:, 0]], return_index=True)
    return solid.triangles.vertices[faces[first, 0]]


def _winding_numbers(triangles: Triangles, points: np.ndarray) -> np.ndarray:
    """How often a closed mesh goes round each point (k, 3): the sum of solid angles (van Oosterom & Strackee 1983)."""
    found = []
    for point in points:
        a, b, c = (triangles.corners - point).transpose(1, 0, 2)
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        volume = np.einsum("ki,ki->k", a, np.cross(b, c))
        dots = [np.einsum("ki,ki->k", x, y) for x, y in ((a, b), (b, c), (c, a))]
        angles = 2 * np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
        found.append(angles.sum() / (4 * np.pi))
    return np.array(found)
