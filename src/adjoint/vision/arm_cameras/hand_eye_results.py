"""`HandEye` and `EyeToHand`: the results of calibrations from pairs of poses, with their report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...calibration import Calibration

__all__ = ["EyeToHand", "HandEye"]


class _Report:
    """What the results of this file have in common: errors, and a report."""

    covariance: np.ndarray
    noise: np.ndarray
    residuals: np.ndarray
    outliers: np.ndarray
    missing: tuple[str, ...]
    calibration: Calibration
    _poses = ("", "")  # the names of the two fields with poses

    @property
    def standard_error(self) -> np.ndarray:
        """(12,) [rad, m] The roots of the diagonal of `covariance`; infinite for numbers that are not seen."""
        return np.sqrt(np.diag(self.covariance))

    def summary(self) -> str:
        """The report as text: both poses with their errors, residuals, and which motions are missing."""
        rms = np.sqrt(np.mean(np.delete(self.residuals, self.outliers, axis=0).reshape(-1, 2, 3) ** 2, axis=(0, 2)))
        lines = [repr(self), *(f"WARNING: not seen: {text}" for text in self.missing), ""]
        for name, errors in zip(self._poses, self.standard_error.reshape(2, 2, 3), strict=True):
            lines += [f"{name} =", *("  " + row for row in str(getattr(self, name).round(6)).splitlines())]
            turn, shift = 1e3 * errors
            lines += [f"  standard errors: rotation {_three(turn)} mrad, position {_three(shift)} mm"]
        lines += ["", f"residuals: rotation {1e3 * rms[0]:.4g} mrad, position {1e3 * rms[1]:.4g} mm, root mean square"]
        lines += [f"noise:     rotation {1e3 * self.noise[0]:.4g} mrad, position {1e3 * self.noise[1]:.4g} mm"]
        return "\n".join(lines + ([f"outliers: stations {self.outliers.tolist()}"] if len(self.outliers) else []))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        turn, shift = np.linalg.norm(self.standard_error.reshape(4, 3)[:2], axis=1)
        doubts = f", {len(self.missing)} not seen" if self.missing else ""
        return (
            f"<{type(self).__name__} from {len(self.residuals)} stations: {self._poses[0]} to {1e3 * turn:.3g} mrad "
            f"and {1e3 * shift:.3g} mm{doubts}>"
        )


def _three(x: np.ndarray) -> str:
    return " ".join(f"{v:.3g}" for v in x)


@dataclass(frozen=True, eq=False, repr=False)
class HandEye(_Report):
    """The result of `hand_eye` and `robot_world`: a camera in the hand; `print(found)` shows the report."""

    T_gripper_camera: np.ndarray  # (4, 4) the camera in the gripper
    T_base_target: np.ndarray  # (4, 4) the target (or the world) in the base of the arm
    covariance: np.ndarray  # (12, 12) of twists (ξ, ζ): T_gripper_camera exp(ξ), T_base_target exp(ζ); ∞ if not seen
    noise: np.ndarray  # (2,) [rad, m] the standard deviations of target poses: as they were given, or as estimated
    residuals: np.ndarray  # (n, 6) [rad, m] log(predicted⁻¹ measured) of T_camera_target
    outliers: np.ndarray  # numbers of the stations that are too far off to be noise
    missing: tuple[str, ...]  # what the motions do not show, and why, in words
    calibration: Calibration  # the fit itself: the robot is one free joint, its base T_camera_gripper

    _poses = ("T_gripper_camera", "T_base_target")


@dataclass(frozen=True, eq=False, repr=False)
class EyeToHand(_Report):
    """The result of `eye_to_hand`: a camera beside the arm; `print(found)` shows the report."""

    T_base_camera: np.ndarray  # (4, 4) the camera in the base of the arm
    T_gripper_target: np.ndarray  # (4, 4) the target in the gripper
    covariance: np.ndarray  # (12, 12) of twists (ξ, ζ): T_base_camera exp(ξ), T_gripper_target exp(ζ); ∞ if not seen
    noise: np.ndarray  # (2,) [rad, m]
    residuals: np.ndarray  # (n, 6) [rad, m]
    outliers: np.ndarray
    missing: tuple[str, ...]
    calibration: Calibration

    _poses = ("T_base_camera", "T_gripper_target")
