"""`calibrate_arm_camera`: a camera on or beside an arm and the arm's own kinematics together, from pixels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ...calibration import Calibration, calibrate
from ...errors import ArgumentError
from ...kinematics.forward import forward_kinematics
from ...lie import se3
from ...model.input_checks import floats, nearest_motions, vectors
from ...model.needs import need_robot
from ...model.robot import Robot
from ..cameras.camera import Camera
from ..stereo.stereo_calibration import target_poses
from .closed_forms import target_in_base
from .missing import cause_of, unseen_words
from .pixel_samples import pixel_reading
from .pose_pairs import eye_to_hand, hand_eye, renamed

__all__ = ["ArmCamera", "CameraBesideArm", "calibrate_arm_camera", "calibrate_camera_beside_arm"]


class _PixelReport:
    """What both results have in common."""

    calibration: Calibration
    missing: tuple[str, ...]

    @property
    def robot(self) -> Robot:
        """The calibrated robot, with one more frame: "camera" in the hand, or "target" in the hand."""
        return self.calibration.robot

    @property
    def noise(self) -> float:
        """[pixels] The standard deviation of each coordinate of a pixel, as given or as estimated."""
        return float(self.calibration.noise[0])

    def summary(self) -> str:
        """The report as text: what is not seen, residuals in pixels before and after, and all parameters."""
        return "\n".join([*(f"WARNING: not seen: {text}" for text in self.missing), self.calibration.summary()])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        found = self.calibration
        before, after = found.errors(found.residuals_before)[0], found.errors()[0]
        doubts = f", {len(self.missing)} not seen" if self.missing else ""
        return (
            f"<{type(self).__name__} of '{found.model.name}' from {len(found.problem.q)} pixels: {before:.3g} -> "
            f"{after:.3g} px{doubts}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ArmCamera(_PixelReport):
    """The result of `calibrate_arm_camera`: a camera in the hand; `print(found)` shows the report."""

    T_gripper_camera: np.ndarray  # (4, 4) the camera in the frame that carries it
    T_base_target: np.ndarray  # (4, 4) the target in the base of the arm
    camera: Camera  # as it was given
    missing: tuple[str, ...]  # what the views do not show of the camera, and why, in words
    calibration: Calibration  # the report, the covariance of all parameters, outliers, and what is not seen of the arm

    def camera_at(self, q) -> np.ndarray:
        """T_base_camera (..., 4, 4) where the encoders read q (..., nq), by the calibrated kinematics."""
        return self.T_base_target @ self.calibration.predict(q)


@dataclass(frozen=True, eq=False, repr=False)
class CameraBesideArm(_PixelReport):
    """The result of `calibrate_camera_beside_arm`; `print(found)` shows the report."""

    T_base_camera: np.ndarray  # (4, 4) the camera in the base of the arm
    T_gripper_target: np.ndarray  # (4, 4) the target in the frame that carries it
    camera: Camera  # the camera as given, now in the base's frame: its T_world_camera is T_base_camera
    missing: tuple[str, ...]
    calibration: Calibration


def calibrate_arm_camera(
    robot: Robot, frame: str, q, pixels, target_points, camera: Camera, *,
    estimate=("screws", "offsets", "base", "tool"), noise: float | None = None, loss: str = "squares",
    T_gripper_camera=None,
) -> ArmCamera:  # fmt: skip
    """A camera in the hand, the target it sees, and the arm's own kinematics, all from pixels: an `ArmCamera`.

        >>> camera, q = Camera.pinhole((640, 480), 1.0), 0.2 * np.random.default_rng(0).normal(size=(20, 6))
        >>> points = 0.04 * np.array([[x, y, 0] for x in range(-2, 3) for y in range(-2, 3)])
        >>> T = forward_kinematics(robot, q, "tool") @ se3.exp([0.1, 0.2, 0.3, 0.01, 0, 0.02])        # T_base_camera
        >>> target = T[0] @ se3.exp([0, 0, 0, 0, 0, 0.5])
        >>> pixels = aj.vision.cameras.pixel_of_point(se3.act(target, points), T[:, None], camera.matrix)
        >>> found = calibrate_arm_camera(robot, "tool", q, pixels, points, camera, estimate=("base", "tool"))
        >>> np.allclose(found.T_gripper_camera, se3.exp([0.1, 0.2, 0.3, 0.01, 0, 0.02]))
        True

    - `frame` is the name of the frame that carries the camera, and `q` (n, nq) [rad or m] what the encoders read where
      n images were taken. `pixels` (n, k, 2) are where `target_points` (k, 3) [m] of a target that rests were seen,
      with NaN for points that were not. `camera` has the lens; where it is does not matter.
    - `estimate` names what is estimated, as in `calibrate`: "tool" is the camera in the hand, "base" the target in the
      base; "screws", "offsets", "gears" and "placements" are numbers of the arm. ("base", "tool") is hand-eye
      calibration from pixels with a perfect arm.
    - `noise` [pixels] is the standard deviation of each coordinate of a pixel, which is estimated if it is None. `loss`
      is "squares", or "huber" or "tukey" where some pixels may be wrong.
    - `T_gripper_camera` (4, 4) is a first guess. If it is None, poses of the target by linear equations and `hand_eye`
      give one.

    The result minimises the sum of squares of pixels, Σ |measured - projected|²/σ², over all chosen numbers: maximum
    likelihood on SE(3) and the adjoint orbits of the screws. Its covariance, that of `calibration`, is the bound of
    Cramér and Rao. The scale of everything comes from the target, and with errors of the arm from `target_points` that
    are good. Reference: Strobl & Hirzinger (2006), "Optimal hand-eye calibration", IROS; Park (1994).
    """
    caller = "calibrate_arm_camera"
    q, pixels, points = _views(robot, frame, q, pixels, target_points, camera, caller)
    G = forward_kinematics(robot, q, frame)
    X, Z = _first(G, pixels, points, camera, T_gripper_camera, hand_eye, caller)
    found = _fit(robot, frame, "camera", q, pixel_reading(pixels, points, camera, True), X, Z, estimate, noise, loss)
    missing = _missing(found, "tool", "camera", frame, G)
    _warn(missing, found, caller)
    X = se3.inverse(robot.frame(frame).placement) @ found.numbers.tool
    return ArmCamera(X, se3.inverse(found.base), camera, missing, found)


def calibrate_camera_beside_arm(
    robot: Robot, frame: str, q, pixels, target_points, camera: Camera, *,
    estimate=("screws", "offsets", "base", "tool"), noise: float | None = None, loss: str = "squares",
    T_base_camera=None,
) -> CameraBesideArm:  # fmt: skip
    """A camera beside an arm, the target in the hand, and the arm's own kinematics, from pixels: a `CameraBesideArm`.

    Arguments are those of `calibrate_arm_camera`: `frame` carries the target, "base" is estimated for the camera in the
    base, and "tool" for the target in the hand. `T_base_camera` (4, 4) is a first guess.
    """
    caller = "calibrate_camera_beside_arm"
    q, pixels, points = _views(robot, frame, q, pixels, target_points, camera, caller)
    G = forward_kinematics(robot, q, frame)
    X, Z = _first(se3.inverse(G), pixels, points, camera, T_base_camera, eye_to_hand, caller)
    found = _fit(robot, frame, "target", q, pixel_reading(pixels, points, camera, False), Z, X, estimate, noise, loss)
    missing = _missing(found, "base", "camera", "base", se3.inverse(G))
    _warn(missing, found, caller)
    T, Z = se3.inverse(found.base), se3.inverse(robot.frame(frame).placement) @ found.numbers.tool
    return CameraBesideArm(T, Z, camera.at(T), missing, found)


# --- arguments --------------------------------------------------------------------------------------------------------


def _views(robot, frame, q, pixels, target_points, camera, caller: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arguments as numbers q (n, nq), pixels (n, k, 2) and points (k, 3)."""
    need_robot(robot, caller)
    robot.frame(frame)
    if not isinstance(camera, Camera):
        raise ArgumentError(f"{caller}: 'camera' must be a Camera, got {type(camera).__name__}")
    q, pixels, points = vectors(q, robot.nq, "q", caller), floats(pixels), floats(target_points)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ArgumentError(f"{caller}: 'target_points' has shape {points.shape}; finite numbers (k, 3) [m] are needed")
    if q.ndim != 2 or pixels.shape != (len(q), len(points), 2):
        raise ArgumentError(
            f"{caller}: 'pixels' has shape {pixels.shape} and 'q' {q.shape}; with {len(points)} target points, "
            f"(n, {len(points)}, 2) and (n, {robot.nq}) are needed"
        )
    return q, pixels, points


def _first(G, pixels, points, camera: Camera, guess, solver, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """First guesses of the camera in its carrier, X, and of the target in its own, Z: G_i X C_i = Z."""
    C = target_poses(camera, pixels, points)
    whole = np.isfinite(C).all(axis=(1, 2)) & np.isfinite(G).all(axis=(1, 2))
    if guess is not None:
        X, bad = nearest_motions(floats(guess).reshape(-1, 4, 4)) if floats(guess).shape == (4, 4) else (None, 0)
        if X is None or bad is not None or not whole.any():
            raise ArgumentError(
                f"{caller}: the first guess must be a rigid motion (4, 4), and one view must show 4 points"
            )
        return X[0], target_in_base(G[whole], X[0], C[whole])
    if whole.sum() < 3:
        raise ArgumentError(
            f"{caller}: {whole.sum()} views show the target well enough for a first guess; three are the least: 4 "
            "points of a plane, or 6 points in space, not all in one line"
        )
    stations = G[whole] if solver is hand_eye else se3.inverse(G[whole])
    with warnings.catch_warnings(), renamed(caller):
        warnings.simplefilter("ignore")
        found = solver(stations, C[whole], loss="huber")
    return (found.T_gripper_camera, found.T_base_target) if solver is hand_eye else (
        found.T_base_camera, found.T_gripper_target)  # fmt: skip


# --- the fit ----------------------------------------------------------------------------------------------------------


def _fit(robot: Robot, frame: str, name: str, q, reading, T_frame, T_other, estimate, noise, loss: str) -> Calibration:
    """The calibration of the robot with one more frame: the camera, or the target, that the hand carries.

    The measuring frame is the other one of the two. Its placement in the base is T_other.
    """
    while name in [f.name for f in robot.frames] or name in robot.body_names:
        name += "_"
    more = robot.with_frame(name, frame, T_frame)
    caller = "calibrate_arm_camera" if reading.fixed["eye_in_hand"] else "calibrate_camera_beside_arm"
    with warnings.catch_warnings(), renamed(caller):
        warnings.simplefilter("ignore")  # they are given again, with the name of the caller
        return calibrate(more, name, q, reading, estimate=estimate, noise=noise, loss=loss, base=se3.inverse(T_other))


def _missing(found: Calibration, owner: str, thing: str, carrier: str, G: np.ndarray) -> tuple[str, ...]:
    """What the views do not show of the camera, if nothing but its place and that of the target is estimated."""
    owners = np.array([parameter.owner for parameter in found.parameters])
    if not set(owners) <= {"base", "tool"}:
        return ()  # the arm's own numbers move the camera, too: `calibration.unseen` and `gauge` name combinations
    directions = np.concatenate([found.unseen_directions, found.gauge_directions]) * found.problem.scales
    twists = directions[:, owners == owner]
    if owner == "tool":  # T exp(x) with x seen from the camera: seen from its carrier, it is Ad(T) x
        inside = se3.inverse(found.model.frame(carrier).placement) @ found.numbers.tool
        twists = np.array([se3.Ad_action(inside, x) for x in twists]).reshape(-1, 6)
    return tuple(f"{text}: {cause_of(G, carrier)}" for text in unseen_words(twists, thing, carrier))


def _warn(missing: tuple[str, ...], found: Calibration, caller: str) -> None:
    for text in [f"not seen: {text}" for text in missing] or found.warnings:
        warnings.warn(f"{caller}: {text}", stacklevel=3)
