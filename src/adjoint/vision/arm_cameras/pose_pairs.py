"""`hand_eye`, `eye_to_hand` and `robot_world`: where a camera is on or beside an arm, from pairs of poses.

Both are the same problem. A camera that a gripper carries sees a target that rests in the base, or a camera that rests
in the base sees a target that the gripper carries:

    T_camera_target = T_gripper_camera⁻¹ · T_base_gripper⁻¹ · T_base_target                    (a camera in the hand)
    T_camera_target = T_base_camera⁻¹ · T_base_gripper · T_gripper_target                      (a camera beside the arm)

To `calibrate`, the arm is one free joint whose poses are known, seen from the camera: its base is the inverse of the
camera's placement, and its tool is the target's. So maximum likelihood, robust losses, and what is not seen come from
`adjoint.calibration`.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...calibration import Calibration, Poses, calibrate
from ...errors import ArgumentError, SolveError
from ...lie import se3
from ...model.input_checks import floats, nearest_motions, one_of
from ...model.robot import Robot
from .closed_forms import METHODS, closed_form, target_in_base, turns_about_two_axes
from .hand_eye_results import EyeToHand, HandEye
from .missing import cause_of, unseen_words

__all__ = ["eye_to_hand", "hand_eye", "hand_eye_closed_form", "renamed", "robot_world"]

_PART = 1e-3  # a smaller part of a unit direction is rounding or noise
_FAR = 0.2  # a misfit above this, in rad and parts of the way, is a reason to look for mistakes
_BETTER = 0.2  # a correction that leaves less than this part of the misfit is believed
_STARTS = ("park", "daniilidis", "li")  # the closed forms from which the best one is refined


# --- public functions -------------------------------------------------------------------------------------------------


def hand_eye_closed_form(T_base_gripper, T_camera_target, *, method: str = "park") -> np.ndarray:
    """T_gripper_camera (..., 4, 4) of a camera in the hand in closed form; leading axes are a batch of problems.

        >>> G, X, Z = se3.random(9, rng=0), se3.random(rng=1), se3.random(rng=2)
        >>> C = se3.inverse(G @ X) @ Z
        >>> np.allclose(hand_eye_closed_form(G, C, method="daniilidis"), X)
        True

    Poses are (..., n, 4, 4) with n >= 3 stations. `method` is one of OpenCV's: "tsai" (Tsai & Lenz 1989), "park" (Park
    & Martin 1994), "horaud" (Horaud & Dornaika 1995), "andreff" (Andreff, Horaud & Espiau 1999), "daniilidis"
    (Daniilidis 1999), and, of its robot-world calibration, "shah" (Shah 2013) and "li" (Li, Wang & Wu 2010); results
    agree with those of OpenCV to rounding. Stations that turn about one axis only, or not at all, have NaN; "tsai",
    "park", "horaud", "daniilidis" and "shah" may be wrong where all turns are half turns. No closed form knows the
    noise: `hand_eye` is more exact, and tells how exact it is.
    """
    caller = "hand_eye_closed_form"
    one_of(method, METHODS, f"{caller}: method")
    G, C = _stations(T_base_gripper, T_camera_target, caller, several=True)
    return np.where(turns_about_two_axes(G)[..., None, None], closed_form(G, C, method), np.nan)


def hand_eye(T_base_gripper, T_camera_target, *, noise=None, arm_noise=None, loss: str = "squares") -> HandEye:
    """Where a camera is in the hand that carries it, from poses of the hand and of a target that rests: a `HandEye`.

        >>> G, X, Z = se3.random(12, rng=0), se3.random(rng=1), se3.random(rng=2)
        >>> C = se3.inverse(G @ X) @ Z @ se3.exp(1e-3 * np.random.default_rng(3).normal(size=(12, 6)))
        >>> found = hand_eye(G, C)
        >>> found.T_gripper_camera.shape, found.covariance.shape, found.missing
        ((4, 4), (12, 12), ())

    - `T_base_gripper` (n, 4, 4) are poses of the gripper, by forward kinematics, and `T_camera_target` (n, 4, 4) those
      of the target in the camera, as from `pose_from_points`. Stations with NaN are left out.
    - `noise` is (rotation [rad], position [m]), the standard deviations of T_camera_target, or covariances (6, 6) or
      (n, 6, 6) of the twists ν in T_camera_target exp(ν). With None, both are estimated.
    - `arm_noise` (rotation [rad], position [m]) is that of T_base_gripper, such as the arm's repeatability. It needs
      `noise`.
    - `loss` is "squares", or "huber" or "tukey" where some stations may be wrong altogether.

    The result minimises Σ |Σ^(-1/2) log((X⁻¹ G_i⁻¹ Z)⁻¹ C_i)|² over X = T_gripper_camera and Z = T_base_target: maximum
    likelihood on SE(3) for normal noise, from the best of three closed forms. Its covariance is the bound of Cramér and
    Rao. If the motions do not show something, such as the position along the one axis about which the gripper turned,
    it stays as the closed form has it, `missing` says so, and a Python warning does.

    References: Park & Martin (1994), "Robot sensor calibration: solving AX = XB on the Euclidean group", IEEE Trans.
    Robotics and Automation 10(5); Strobl & Hirzinger (2006), "Optimal hand-eye calibration", IROS.
    """
    G, C = _stations(T_base_gripper, T_camera_target, "hand_eye")
    return HandEye(*_solved(_Sides("hand_eye", G, C, "gripper", "base"), noise, arm_noise, loss))


def eye_to_hand(T_base_gripper, T_camera_target, *, noise=None, arm_noise=None, loss: str = "squares") -> EyeToHand:
    """Where a camera beside an arm is, from poses of the hand and of a target that the hand holds: an `EyeToHand`.

        >>> G, X, Z = se3.random(12, rng=0), se3.random(rng=1), se3.random(rng=2)
        >>> found = eye_to_hand(G, se3.inverse(X) @ G @ Z)
        >>> np.allclose(found.T_base_camera, X) and np.allclose(found.T_gripper_target, Z)
        True

    Arguments and method are those of `hand_eye`.
    """
    G, C = _stations(T_base_gripper, T_camera_target, "eye_to_hand")
    return EyeToHand(*_solved(_Sides("eye_to_hand", se3.inverse(G), C, "base", "gripper"), noise, arm_noise, loss))


def robot_world(T_base_gripper, T_world_camera, *, noise=None, arm_noise=None, loss: str = "squares") -> HandEye:
    """Both unknowns of A_i X = Z B_i: the camera in the gripper, X, and the world in the base of the arm, Z.

        >>> G, X, Z = se3.random(12, rng=0), se3.random(rng=1), se3.random(rng=2)
        >>> found = robot_world(G, se3.inverse(Z) @ G @ X)
        >>> np.allclose(found.T_gripper_camera, X) and np.allclose(found.T_base_target, Z)
        True

    T_base_gripper · T_gripper_camera = T_base_world · T_world_camera, where `T_world_camera` (n, 4, 4) are measured
    poses of a camera, or of any tool that a tracker follows, in a world whose place is unknown. This is `hand_eye` with
    T_camera_target = T_world_camera⁻¹: the world is the target. `noise` is that of these inverses.
    """
    G, B = _stations(T_base_gripper, T_world_camera, "robot_world")
    return HandEye(*_solved(_Sides("robot_world", G, se3.inverse(B), "gripper", "base"), noise, arm_noise, loss))


# --- the fit ----------------------------------------------------------------------------------------------------------


class _Sides(NamedTuple):
    """A problem G_i X C_i = Z, and the names of what carries the camera and of what carries the target."""

    caller: str
    G: np.ndarray  # (n, 4, 4) the carrier of the camera in that of the target
    C: np.ndarray  # (n, 4, 4) the target in the camera
    carrier: str
    anchor: str


class _Solved(NamedTuple):
    """The fields of a result, in their order."""

    X: np.ndarray
    Z: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    residuals: np.ndarray
    outliers: np.ndarray
    missing: tuple[str, ...]
    calibration: Calibration


def _stations(first, second, caller: str, several: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Both arguments as poses (..., n, 4, 4); of one problem without the stations that have NaN."""
    names = ("T_base_gripper", "T_world_camera" if caller == "robot_world" else "T_camera_target")
    found = [floats(x) for x in (first, second)]
    for T, name in zip(found, names, strict=True):
        if T.shape[-2:] != (4, 4) or T.ndim < 3 or (T.ndim > 3 and not several):
            wanted = "(..., n, 4, 4)" if several else "(n, 4, 4)"
            raise ArgumentError(f"{caller}: '{name}' has shape {T.shape}; poses {wanted} are needed")
    if len(found[0]) != len(found[1]) and not several:
        raise ArgumentError(f"{caller}: there are {len(found[0])} poses {names[0]} and {len(found[1])} {names[1]}")
    if not several:
        whole = np.isfinite(found[0]).all(axis=(1, 2)) & np.isfinite(found[1]).all(axis=(1, 2))
        found = [T[whole] for T in found]
    if found[0].shape[-3] < 3:
        raise ArgumentError(
            f"{caller}: {found[0].shape[-3]} stations are too few; three are the least, and ten are good"
        )
    return _rigid(found[0], names[0], caller), _rigid(found[1], names[1], caller)


def _rigid(T: np.ndarray, name: str, caller: str) -> np.ndarray:
    fixed, bad = nearest_motions(np.where(np.isfinite(T), T, np.eye(4)).reshape(-1, 4, 4))
    if bad is not None:
        raise ArgumentError(
            f"{caller}: pose {bad} of '{name}' is not a rigid motion [R p; 0 1] with R Rᵀ = 1, det R = 1"
        )
    return np.where(np.isfinite(T), fixed.reshape(T.shape), T)


def _start(G: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X and Z of the closed form whose residuals are least; degenerate motions may leave none but the identity."""
    best = (np.inf, np.eye(4), np.eye(4))
    for method in (*_STARTS, None):
        with np.errstate(all="ignore"):
            X = np.eye(4) if method is None else closed_form(G, C, method)
            Z = target_in_base(G, X, C)
            cost = float(np.sum(se3.log(se3.inverse(Z) @ G @ X @ C) ** 2))
        if cost < best[0]:
            best = (cost, X, Z)
    return best[1], best[2]


@functools.cache
def _free_arm() -> Robot:
    """One free joint: what carries the target, seen from what carries the camera."""
    builder = Robot.builder("arm").link("carrier").link("anchor").joint("arm", "free", "carrier", "anchor")
    return builder.frame("target", "anchor", np.eye(4)).build()


@contextlib.contextmanager
def renamed(caller: str) -> Iterator[None]:
    """Errors of `calibrate` name the function that the user called."""
    try:
        yield
    except (ArgumentError, SolveError) as error:
        raise type(error)(str(error).replace("calibrate:", f"{caller}:", 1)) from None


def _solved(sides: _Sides, noise, arm_noise, loss: str) -> _Solved:
    """The result of a problem."""
    X, Z = _start(sides.G, sides.C)
    _raise_doubts(sides)
    robot = _free_arm()
    robot = robot.replace(frames=tuple(f._replace(placement=Z) for f in robot.frames))
    q = se3.to_xyz_quat_wxyz(se3.inverse(sides.G))
    total = _total_noise(sides, noise, arm_noise, Z)
    given: dict[str, Any] = {"noise": total, "loss": loss, "base": se3.inverse(X)}
    with warnings.catch_warnings(), renamed(sides.caller):
        warnings.simplefilter("ignore")  # `missing` has better words
        found = calibrate(robot, "target", q, Poses(sides.C), estimate=("base", "tool"), check=False, **given)
    X, Z = se3.inverse(found.base), found.numbers.tool
    # B = X⁻¹ becomes B exp(b), so X becomes exp(-b) X = X exp(-Ad(X⁻¹) b).
    M = np.zeros((12, 12))
    M[:6, :6], M[6:, 6:] = -se3.Ad(se3.inverse(X)), np.eye(6)
    covariance = _with_unseen(M @ found.covariance @ M.T, _unseen(found) @ M.T)
    missing = _missing(sides, found)
    for text in missing:
        warnings.warn(f"{sides.caller}: not seen: {text}", stacklevel=3)
    return _Solved(X, Z, covariance, found.noise, found.residuals, found.outliers, missing, found)


def _raise_doubts(sides: _Sides) -> None:
    """Raises an `ArgumentError` if poses fit much better inverted, or in millimetres."""
    here = _misfit(sides.G, sides.C)
    if not here > _FAR:
        return
    scaled = sides.C.copy()
    scaled[:, :3, 3] *= 1e-3
    for C, text in ((se3.inverse(sides.C), "inverted: is T_ab given for T_ba?"), (scaled, "in mm; they must be in m")):
        if _misfit(sides.G, C) < _BETTER * here:
            raise ArgumentError(
                f"{sides.caller}: poses of the camera and its target fit the arm much better if they are {text}"
            )


def _misfit(G: np.ndarray, C: np.ndarray) -> float:
    """How far the closed form leaves G X C from one place Z: turns [rad], and shifts as a part of the way of C."""
    X, Z = _start(G, C)
    off = se3.log(se3.inverse(Z) @ G @ X @ C)
    way = np.linalg.norm(C[:, :3, 3] - C[:, :3, 3].mean(axis=0), axis=1)
    turns, shifts = (np.sqrt(np.mean(np.sum(x**2, axis=1))) for x in (off[:, :3], off[:, 3:]))
    return float(turns + shifts / max(float(np.sqrt(np.mean(way**2))), 1e-9))


def _total_noise(sides: _Sides, noise, arm_noise, Z: np.ndarray) -> Any:
    """The covariances (n, 6, 6) of residuals from the noise of the camera and that of the arm, or `noise` as it is.

    A gripper at G exp(μ) moves the predicted target by Ad(Z⁻¹ G) μ, seen from the target, if it carries the camera, and
    by Ad(Z⁻¹) μ if it carries the target.
    """
    if arm_noise is None:
        return noise
    caller = sides.caller
    arm = floats(arm_noise)
    if arm.shape != (2,) or not ((arm > 0) & np.isfinite(arm)).all():
        raise ArgumentError(f"{caller}: 'arm_noise' must be (rotation [rad], position [m]), two positive numbers")
    if noise is None:
        raise ArgumentError(f"{caller}: 'arm_noise' needs 'noise', that of the camera; both cannot be told apart")
    camera = floats(noise)
    camera = np.diag(np.repeat(camera, 3) ** 2) if camera.shape == (2,) else camera
    if camera.shape[-2:] != (6, 6):
        raise ArgumentError(f"{caller}: 'noise' must be (rotation [rad], position [m]), or covariances (6, 6)")
    at = sides.G if sides.carrier == "gripper" else np.broadcast_to(np.eye(4), sides.G.shape)
    moved = se3.Ad(se3.inverse(Z) @ at)
    total = camera + (moved * np.repeat(arm, 3) ** 2) @ np.swapaxes(moved, -1, -2)
    return (total + np.swapaxes(total, -1, -2)) / 2


def _unseen(found: Calibration) -> np.ndarray:
    """The twists (d, 12) of base and tool that the poses do not show."""
    return np.concatenate([found.unseen_directions, found.gauge_directions]) * found.problem.scales


def _with_unseen(covariance: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The covariance with infinite variances of numbers that have a part in directions (d, 12) that are not seen."""
    if not len(directions):
        return covariance
    lost = np.abs(directions / np.linalg.norm(directions, axis=1, keepdims=True)).max(axis=0) > _PART
    return np.where(np.diag(lost), np.inf, covariance)


def _missing(sides: _Sides, found: Calibration) -> tuple[str, ...]:
    """What the motions do not show of the camera, and why, in words."""
    words = unseen_words(_unseen(found)[:, :6], "camera", sides.carrier)
    if not words:
        return ()
    return tuple(f"{text}: {cause_of(sides.G, sides.carrier)}" for text in words)
