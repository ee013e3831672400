"""Poses of symmetric parts: of all that look the same, the one that is nearest to where the program has the part."""

from __future__ import annotations

import numpy as np

from ...sensing.scene import Cylinder
from ...vision.locating.object_models import ObjectModel
from ...world.state.part_contents import solids_of
from ...world.state.placements import inverted

__all__: list[str] = []

_SAME = 1e-6  # of its size: vertices that differ by less are at one place
_MOST = 4000  # pairs of vertices that are tried


def least_turned(part, model: ObjectModel, T_seen: np.ndarray, T_before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pose (4, 4) that looks like `T_seen` and is turned least from `T_before`, and where `T_seen` is in it."""
    best, most = np.eye(4), -np.inf
    for S in symmetries(model):
        T = T_seen @ S
        kept = float(np.trace(T_before[:3, :3].T @ T[:3, :3]))
        if kept > most + 1e-9:
            best, most = S, kept
    solids = solids_of(part)
    if len(solids) == 1 and isinstance(solids[0], Cylinder):
        best = best @ _about_axis(solids[0].T_world_solid, (T_seen @ best)[:3, :3], T_before[:3, :3])
    return T_seen @ best, inverted(best)


def _about_axis(T_part_axis: np.ndarray, seen: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The turn (4, 4) about the z axis of a frame of the part, by which `seen` comes nearest to `before`."""
    A = T_part_axis[:3, :3]
    M = A.T @ before.T @ seen @ A  # tr(M Rz(φ)) is greatest at
    angle = np.arctan2(M[0, 1] - M[1, 0], M[0, 0] + M[1, 1])
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return T_part_axis @ turn @ inverted(T_part_axis)


def symmetries(model: ObjectModel) -> list[np.ndarray]:
    """The motions (4, 4) in the frame of a model after which it looks as before, the one that does nothing first.

    They turn about the centre of mass. Two vertices that are not on one line with it go to two others which are as far
    from it and from each other; a turn is one of the model if all vertices then are where vertices were.
    """
    from scipy.spatial import KDTree

    P = model.vertices - model.center
    size = model.size
    radius = np.linalg.norm(P, axis=1)
    # The rarest distance from the centre has the fewest candidates.
    same = [np.flatnonzero(np.abs(radius - r) < _SAME * size) for r in np.unique(np.round(radius / size, 6)) * size]
    same = [group for group in same if len(group) and radius[group[0]] > 1e-3 * size]
    group = min(same, key=len)
    i = int(group[0])
    away = np.linalg.norm(np.cross(P[i], P), axis=1)
    j = int(np.argmax(np.round(away / away.max(), 6)))
    seconds = np.flatnonzero(np.abs(radius - radius[j]) < _SAME * size)
    inner = P[i] @ P[j]
    pairs = [(a, b) for a in group for b in seconds if abs(P[a] @ P[b] - inner) < _SAME * size**2][:_MOST]
    own, tree, found = _frame(P[i], P[j]), KDTree(P), [np.eye(4)]
    for a, b in pairs:
        R = _frame(P[a], P[b]) @ own.T
        if (a, b) != (i, j) and tree.query(P @ R.T)[0].max() < 10 * _SAME * size:
            S = np.eye(4)
            S[:3, :3], S[:3, 3] = R, model.center - R @ model.center
            found.append(S)
    return found


def _frame(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) whose x axis is along a, and whose z axis is perpendicular to a and b."""
    x = a / np.linalg.norm(a)
    z = np.cross(a, b)
    z /= np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z], axis=1)
