"""First poses of a target in front of a camera, from which a refinement begins."""

from __future__ import annotations

import itertools

import numpy as np

from ...errors import ArgumentError, SolveError
from ...lie import se3, so3
from ..image_checks import opencv
from .camera import Camera
from .linear_camera import flatness
from .projecting import undistort_points

__all__ = ["FLAT", "LEAST", "consensus_pose", "first_poses", "flat_poses", "need_pose", "poses_of_triples"]

LEAST = 4
FLAT = 1e-3  # points are flat if they are thinner than this part of their length
_THIN = 0.1  # thinner points have two minima as flat ones have, which a flat target's poses are near
_FEW = 5  # so few points that all triples of them are tried
_TRIPLES, _KEPT = 100, 4  # one of 100 triples has no outlier with 99.9 % if 60 % of the points are outliers


def need_pose(X: np.ndarray, caller: str) -> None:
    """Refuse points that are too few, or on a line."""
    if len(X) < LEAST:
        raise ArgumentError(f"{caller}: {len(X)} seen points are too few; {LEAST} or more are needed for one pose")
    extents = flatness(X).extents
    if not extents[1] > 1e-6 * extents[0]:
        raise ArgumentError(f"{caller}: the {len(X)} points lie on a line, about which the target may turn as it likes")


def first_poses(camera: Camera, X: np.ndarray, u: np.ndarray, caller: str) -> np.ndarray:
    """Poses (k, 4, 4) near the minima of the residuals, or a `SolveError`.

    They are those of SQPnP, for flat targets those of IPPE, for up to five points those of all triples, and the poses
    with the opposite tilt: no closed form finds the better one of two minima for sure.
    """
    x, flat = _ideal(camera, u, caller), flatness(X)
    found = [_solved(X, x, opencv(caller).SOLVEPNP_SQPNP, caller)]
    if flat.extents[2] <= _THIN * flat.extents[0]:
        found.append(flat_poses(camera, X, u, caller))
    if len(X) <= _FEW:
        found.append(poses_of_triples(camera, X, u, caller))
    poses = np.concatenate(found)
    poses = _in_front(np.concatenate([poses, _tilted_back(X, poses)]), X)
    if not len(poses):
        raise SolveError(
            f"{caller}: no pose explains these points in front of the camera; are they in the right order?"
        )
    return poses


def flat_poses(camera: Camera, X: np.ndarray, u: np.ndarray, caller: str) -> np.ndarray:
    """Both solutions of IPPE (k, 4, 4), for points of any plane."""
    flat = flatness(X)
    local = (X - flat.center) @ flat.axes
    T_target_plane = se3.from_rotation_translation(flat.axes, flat.center)
    local[:, 2] = 0.0
    found = _solved(local, _ideal(camera, u, caller), opencv(caller).SOLVEPNP_IPPE, caller)
    return found @ se3.inverse(T_target_plane)


def poses_of_triples(camera: Camera, X: np.ndarray, u: np.ndarray, caller: str) -> np.ndarray:
    """The poses (k, 4, 4) of triples of points that are best for half of all points: outliers do not matter.

    Each triple has up to four poses (`cv2.solveP3P`). All triples of few points are tried, else a hundred of them,
    which are the same in each call. Rousseeuw (1984), "Least median of squares regression".
    """
    cv2, x, n = opencv(caller), _ideal(camera, u, caller), len(X)
    rng = np.random.default_rng(0)
    few = n <= _FEW
    triples = itertools.combinations(range(n), 3) if few else (rng.permutation(n)[:3] for _ in range(_TRIPLES))
    found = [np.zeros((0, 4, 4))]
    for triple in map(list, triples):
        try:
            count, rvecs, tvecs = cv2.solveP3P(X[triple], x[triple], np.eye(3), None, cv2.SOLVEPNP_AP3P)
        except cv2.error:
            continue
        if count:
            found.append(_motions(rvecs, tvecs))
    poses = _in_front(np.concatenate(found), X)
    local = se3.act(poses[:, None], X)
    miss = np.linalg.norm(local[..., :2] / local[..., 2:] - x, axis=-1)
    order = np.argsort(miss.max(axis=1) if few else np.median(miss, axis=1), kind="stable")
    return poses[order[:_KEPT]]


def consensus_pose(camera: Camera, X, u, threshold: float, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Which points belong to one pose, and this pose, by OpenCV's RANSAC."""
    need_pose(X, caller)
    cv2, f = opencv(caller), float(np.abs(np.diag(camera.matrix)[:2]).mean())
    x = f * _ideal(camera, u, caller)
    found, rvec, tvec, inside = cv2.solvePnPRansac(
        X, x, np.diag([f, f, 1.0]), None, reprojectionError=threshold, iterationsCount=500, confidence=0.9999
    )
    if not found or inside is None or len(inside) < LEAST:
        raise SolveError(f"{caller}: no pose has {LEAST} points within ransac = {threshold:g} pixels")
    kept = np.zeros(len(X), bool)
    kept[np.ravel(inside)] = True
    return kept, _motions(rvec, tvec)[0]


# --- parts ------------------------------------------------------------------------------------------------------------


def _ideal(camera: Camera, u: np.ndarray, caller: str) -> np.ndarray:
    """The points (n, 2) of the plane z = 1 that pixels show, or an `ArgumentError` for those outside of the lens."""
    straight = undistort_points(camera, u)
    if np.isnan(straight).any():
        raise ArgumentError(f"{caller}: some pixels are where the distortion of the camera cannot be inverted")
    return np.linalg.solve(camera.matrix, np.column_stack([straight, np.ones(len(u))]).T)[:2].T


def _motions(rvecs, tvecs) -> np.ndarray:
    w, t = (np.asarray(x, float).reshape(-1, 3) for x in (rvecs, tvecs))
    found = se3.from_rotation_translation(so3.exp(w), t)
    return found[np.isfinite(found).all(axis=(1, 2))]


def _solved(X: np.ndarray, x: np.ndarray, method: int, caller: str) -> np.ndarray:
    """OpenCV's solutions (k, 4, 4) for points seen at x on the plane z = 1."""
    cv2, center = opencv(caller), X.mean(axis=0)
    try:
        _, rvecs, tvecs, _ = cv2.solvePnPGeneric(X - center, x, np.eye(3), None, flags=method)
    except cv2.error:
        return np.zeros((0, 4, 4))
    found = _motions(rvecs, tvecs) if len(rvecs) else np.zeros((0, 4, 4))
    found[:, :3, 3] -= found[:, :3, :3] @ center  # the solvers lose digits far from the origin
    return _in_front(found, X)


def _in_front(poses: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The poses for which all points are in front of the camera."""
    depths = poses[:, 2, :3] @ X.T + poses[:, 2, 3:]
    return poses[(depths > 0).all(axis=1)]


def _tilted_back(X: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """The poses with the opposite tilt, which look the same from far away if the target is flat.

    The target is turned by π about its normal, then by π about the line of sight to its middle: both turns change the
    signs of the coordinates that a distant camera sees.
    """
    flat = flatness(X)
    half = 2 * np.outer(flat.axes[:, 2], flat.axes[:, 2]) - np.eye(3)
    middle = se3.act(poses, flat.center)
    sight = middle / np.linalg.norm(middle, axis=-1, keepdims=True)
    R = (2 * sight[:, :, None] * sight[:, None] - np.eye(3)) @ poses[:, :3, :3] @ half
    return se3.from_rotation_translation(R, middle - R @ flat.center)
