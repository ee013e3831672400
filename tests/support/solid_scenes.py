"""Scenes of random solids, signed distances of solids, and cameras that look at them."""

from types import SimpleNamespace

import numpy as np

from adjoint.lie import so3
from adjoint.sensing.scene import Box, Capsule, Cylinder, Mesh, Plane, Scene, Sphere

__all__ = ["box_mesh", "icosphere", "looking", "pinhole", "random_scene", "signed_distance"]


def random_scene(rng, count=12, spread=0.6, floor=True, meshes=0):
    """A floor, and solids of all kinds at random poses above it."""
    solids = [Plane(name="floor", colour=0.5)] if floor else []
    makers = [
        lambda T: Sphere(0.08, T_world_solid=T),
        lambda T: Box([0.1, 0.15, 0.2], T_world_solid=T),
        lambda T: Cylinder(0.06, 0.2, T_world_solid=T),
        lambda T: Capsule(0.05, 0.15, T_world_solid=T),
    ]
    for k in range(count):
        solids.append(makers[k % 4](_pose(rng, spread)))
    mesh = Mesh(icosphere(2, 0.12))
    solids += [mesh.at(_pose(rng, spread)) for _ in range(meshes)]
    return Scene(solids)


def _pose(rng, spread):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = so3.random(rng=rng), [*rng.uniform(-spread, spread, 2), rng.uniform(0.05, 0.3)]
    return T


def signed_distance(solid, points):
    """The distance (...) from points (..., 3) to the surface of a solid, negative inside."""
    T = solid.T_world_solid
    p = (points - T[:3, 3]) @ T[:3, :3]
    if isinstance(solid, Plane):
        return p[..., 2]
    if isinstance(solid, Sphere):
        return np.linalg.norm(p, axis=-1) - solid.radius
    if isinstance(solid, Capsule):
        half = solid.length / 2
        axis = np.stack([0 * p[..., 2], 0 * p[..., 2], np.clip(p[..., 2], -half, half)], axis=-1)
        return np.linalg.norm(p - axis, axis=-1) - solid.radius
    if isinstance(solid, Cylinder):
        side = np.hypot(p[..., 0], p[..., 1]) - solid.radius
        beyond = np.stack([side, np.abs(p[..., 2]) - solid.length / 2], axis=-1)
    else:
        beyond = np.abs(p) - solid.size / 2
    return np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(axis=-1), 0)


def icosphere(levels, radius=1.0):
    """(vertices, faces) of a ball: an icosahedron, whose triangles are cut into four again and again."""
    g = (1 + 5**0.5) / 2
    v = np.array([(a, b, 0) for a in (-1, 1) for b in (-g, g)], float)
    v = np.concatenate([v, np.roll(v, 1, axis=1), np.roll(v, 2, axis=1)])
    near = [[j for j in range(12) if 0 < np.linalg.norm(v[i] - v[j]) < 2.1] for i in range(12)]
    faces = [(i, j, k) for i in range(12) for j in near[i] for k in near[j] if i < j < k and i in near[k]]
    faces = np.array([f if np.linalg.det(v[list(f)]) > 0 else f[::-1] for f in faces])
    for _ in range(levels):
        edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, which = np.unique(edges, axis=0, return_inverse=True)
        middle = which.reshape(-1, 3) + len(v)
        v = np.concatenate([v, v[unique].mean(axis=1)])
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        (a, b, c), (p, q, r) = faces.T, middle.T
        faces = np.concatenate([np.stack(f, axis=1) for f in ((a, p, r), (p, b, q), (r, q, c), (p, q, r))])
    return radius * v / np.linalg.norm(v, axis=1, keepdims=True), faces


def box_mesh(size):
    """(vertices, faces) of a box with edges of this size."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size) / 2
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([f for a, b, c, d in squares for f in ((a, b, c), (a, c, d))])


def looking(eye, target):
    """The pose of a camera at `eye` that looks at `target`, with z of the world upwards in its image."""
    eye = np.asarray(eye, float)
    z = np.asarray(target, float) - eye
    z /= np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0] if abs(z[2]) < 0.999 else [0.0, 1.0, 0.0])
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), eye
    return T


def pinhole(T, size=(64, 48), focal=60.0, distortion=(), skew=0.0):
    """A camera as plain data."""
    K = np.array([[focal, skew, (size[0] - 1) / 2], [0, focal, (size[1] - 1) / 2], [0, 0, 1]])
    return SimpleNamespace(matrix=K, size=size, distortion=distortion, T_world_camera=T)
