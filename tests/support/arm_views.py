"""Stations of arms with cameras, for tests: pairs of poses, and views of a target by a camera in the hand."""

from typing import NamedTuple

import numpy as np

import adjoint as aj
from adjoint.lie import se3, so3
from adjoint.vision.cameras import Camera, looking_at, pixel_of_point, visible

X = se3.from_rotation_translation(so3.exp(np.array([0.3, -0.2, 1.2])), [0.03, -0.05, 0.11])  # the camera in the gripper
Z = se3.from_rotation_translation(so3.exp(np.array([0.1, 2.9, 0.2])), [0.6, 0.1, 0.0])  # the target in the base


def stations(n: int = 12, *, turn: float = 0.6, noise=(0.0, 0.0), shape=(), seed: int = 5, beside=False):
    """T_base_gripper (n, 4, 4) and T_camera_target (*shape, n, 4, 4) with noise [rad, m] of shape (*shape, n).

    With `beside`, X is the camera in the base, and Z the target in the gripper.
    """
    rng = np.random.default_rng(seed)
    G = se3.from_rotation_translation(so3.exp(turn * rng.normal(size=(n, 3))), rng.normal([0.5, 0, 0.5], 0.15, (n, 3)))
    errors = np.repeat(noise, 3) * rng.normal(size=(*shape, n, 6))
    return G, se3.inverse((se3.inverse(G) if beside else G) @ X) @ Z @ se3.exp(errors)


class View(NamedTuple):
    """A true arm that differs from its model, a camera in its hand, and what it saw of a target."""

    model: aj.Robot
    true: aj.Robot
    T_gripper_camera: np.ndarray
    T_base_target: np.ndarray
    camera: Camera
    points: np.ndarray
    q: np.ndarray
    pixels: np.ndarray  # without noise; NaN where the image does not show a point


def views(
    n: int = 25, *, wrong: float = 0.0, model: aj.Robot | None = None, frame: str = "tool", seed: int = 0
) -> View:
    """n views of a chessboard of 7 x 6 corners by a camera in the hand of a PUMA, or another arm with closed forms.

    `wrong` [rad, m] is the standard deviation of errors of the true arm's home placements.
    """
    rng = np.random.default_rng(seed)
    model = aj.robots.puma560() if model is None else model
    errors = wrong * rng.normal(size=(len(model.body_names), 6))
    true = model.replace(placements=model.placements @ se3.exp(errors))
    mount = se3.from_rotation_translation(so3.exp(np.array([0.1, -0.2, 0.7])), [0.03, -0.05, 0.08])
    target = se3.from_rotation_translation(np.eye(3), [0.5, -0.1, -0.2])
    camera = Camera.pinhole((1280, 960), 1.0, distortion=[-0.15, 0.05, 0.0005, -0.0003, 0])
    points = np.array([[x, y, 0] for x in np.linspace(-0.1, 0.1, 7) for y in np.linspace(-0.075, 0.075, 6)])
    found: list = []
    while len(found) < n:
        away = rng.normal([0, 0, 1.5], 1.0)
        position = target[:3, 3] + rng.uniform(0.3, 0.55) * away / np.linalg.norm(away)
        T = looking_at(position, target[:3, 3] + 0.03 * rng.normal(size=3), up=rng.normal(size=3))
        solutions = aj.inverse_kinematics(model, T @ se3.inverse(mount), frame)
        exact = np.flatnonzero(solutions.exact)
        found += [solutions.q[rng.choice(exact)]] if len(exact) and position[2] > target[2, 3] else []
    q = np.array(found)
    T = aj.forward_kinematics(true, q, frame) @ mount
    places = se3.act(target, points)
    pixels = pixel_of_point(places, T[:, None], camera.matrix, camera.distortion)
    seen = np.array([visible(camera.at(t), places) for t in T])
    return View(model, true, mount, target, camera, points, q, np.where(seen[..., None], pixels, np.nan))


def rotation_and_position(e: np.ndarray) -> np.ndarray:
    """(2,) Root mean squares [rad, m] of the lengths of both parts of twists (..., 6)."""
    return np.sqrt(np.mean(np.sum(e.reshape(-1, 2, 3) ** 2, axis=-1), axis=0))
