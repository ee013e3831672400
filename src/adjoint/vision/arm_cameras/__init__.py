"""Cameras on and beside arms: hand-eye and robot-world calibration, alone and jointly with the arm's kinematics.

| file | contents |
|---|---|
| `closed_forms` | OpenCV's five closed forms of A X = X B and its two of A X = Z B, for batches of problems |
| `pose_pairs` | maximum likelihood from pairs of poses: `hand_eye`, `eye_to_hand`, `robot_world` |
| `pixel_samples` | pixels of a target as samples of `adjoint.calibration`: residuals and slopes as a kernel |
| `arm_camera` | camera and arm together, from pixels: `calibrate_arm_camera`, `calibrate_camera_beside_arm` |
| `hand_eye_results` | their results, with a report |
| `missing` | which motions are missing, in words |
"""

from .arm_camera import ArmCamera as ArmCamera
from .arm_camera import CameraBesideArm as CameraBesideArm
from .arm_camera import calibrate_arm_camera as calibrate_arm_camera
from .arm_camera import calibrate_camera_beside_arm as calibrate_camera_beside_arm
from .hand_eye_results import EyeToHand as EyeToHand
from .hand_eye_results import HandEye as HandEye
from .pose_pairs import eye_to_hand as eye_to_hand
from .pose_pairs import hand_eye as hand_eye
from .pose_pairs import hand_eye_closed_form as hand_eye_closed_form
from .pose_pairs import robot_world as robot_world

__all__ = [
    "ArmCamera",
    "CameraBesideArm",
    "EyeToHand",
    "HandEye",
    "calibrate_arm_camera",
    "calibrate_camera_beside_arm",
    "eye_to_hand",
    "hand_eye",
    "hand_eye_closed_form",
    "robot_world",
]


def __dir__() -> list[str]:
    return __all__
