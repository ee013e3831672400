"""Views of targets by simulated cameras, for tests of calibration and poses."""

import numpy as np

from adjoint.lie import se3
from adjoint.vision.cameras import Camera, chessboard_points, looking_at, pixel_of_point

BOARD = chessboard_points((8, 6), 0.03)
LENS = Camera([[610.0, 0, 325.0], [0, 600.0, 232.0], [0, 0, 1]], (640, 480), [-0.2, 0.06, 0.001, -0.0008, 0.01])


def solid(n: int = 60, rng=0) -> np.ndarray:
    """Points (n, 3) [m] of a target that is not flat."""
    return np.random.default_rng(rng).uniform(-0.12, 0.12, (n, 3))


def poses_around(n: int, points: np.ndarray, rng=0) -> np.ndarray:
    """Poses T_camera_target (n, 4, 4) of a target that cameras see from 0.4 to 0.7 m, up to 45° aslant."""
    rng = np.random.default_rng(rng)
    middle, found = points.mean(axis=0), []
    for _ in range(n):
        slope, turn = rng.uniform(0.2, 0.8), rng.uniform(0, 2 * np.pi)
        away = np.array([np.sin(slope) * np.cos(turn), np.sin(slope) * np.sin(turn), -np.cos(slope)])
        T = looking_at(middle + rng.uniform(0.4, 0.7) * away, middle + rng.uniform(-0.03, 0.03, 3), up=[0.1, -1, 0])
        found.append(se3.inverse(T))
    return np.array(found)


def views(camera: Camera, T_camera_target: np.ndarray, points: np.ndarray, noise=0.0, rng=1) -> np.ndarray:
    """Pixels (views, n, 2) with normal noise [pixels]."""
    T = se3.inverse(T_camera_target)[:, None]
    exact = pixel_of_point(points, T, camera.matrix, camera.distortion)
    return exact + noise * np.random.default_rng(rng).normal(size=exact.shape)
