"""Cameras: pinholes with distortion, the textbook's camera, calibration, and poses from one image.

| file | contents |
|---|---|
| `camera` | `Camera`, the pinhole with distortion somewhere in the world, and `looking_at` |
| `lens_model` | a camera for one sample, as kernels: pixels and directions |
| `projecting` | points to pixels, pixels to rays, depth images to points |
| `projection_slopes` | derivatives of pixels |
| `camera_frames` | OpenCV, ROS, OpenGL; resized, cropped and mirrored images |
| `textbook_camera` | perspective matrices and the gimbal camera of Fu, Gonzalez & Lee (1987) |
| `linear_camera` | the direct linear transform, its decomposition, homographies |
| `camera_first`, `camera_fit` | first values, and Levenberg-Marquardt's method with Schur complements |
| `camera_calibration` | `calibrate_camera` |
| `camera_report`, `camera_plots` | its result, `CameraCalibration`, and its plots |
| `target_images`, `marker_images` | chessboards, grids of circles, ChArUco boards and markers in images |
| `camera_poses` | poses from points, flat targets and markers |
| `first_poses`, `pose_refinement` | where the search for a pose begins, and the kernel that refines it |
| `ellipses`, `circle_pose` | the ellipse through points, and both poses of a circle that looks like it |
| `undistortion` | images without distortion |
| `camera_checks` | checks of what users give |
"""

from ...sensing.scene.lenses import distorted as distorted
from ...sensing.scene.lenses import undistorted as undistorted
from .camera import Camera as Camera
from .camera import looking_at as looking_at
from .camera_calibration import calibrate_camera as calibrate_camera
from .camera_frames import OpenCVCamera as OpenCVCamera
from .camera_frames import camera_from_info as camera_from_info
from .camera_frames import camera_from_opencv as camera_from_opencv
from .camera_frames import camera_info as camera_info
from .camera_frames import camera_to_opencv as camera_to_opencv
from .camera_frames import crop_camera as crop_camera
from .camera_frames import flip_camera as flip_camera
from .camera_frames import from_camera_frame as from_camera_frame
from .camera_frames import resize_camera as resize_camera
from .camera_frames import to_camera_frame as to_camera_frame
from .camera_poses import PlanarPoses as PlanarPoses
from .camera_poses import TargetPose as TargetPose
from .camera_poses import marker_poses as marker_poses
from .camera_poses import planar_poses as planar_poses
from .camera_poses import pose_from_points as pose_from_points
from .camera_report import CameraCalibration as CameraCalibration
from .camera_report import CameraParameter as CameraParameter
from .circle_pose import CirclePoses as CirclePoses
from .circle_pose import ConeCircles as ConeCircles
from .circle_pose import circle_poses as circle_poses
from .circle_pose import cone_circles as cone_circles
from .ellipses import Ellipse as Ellipse
from .ellipses import conic_ellipse as conic_ellipse
from .ellipses import ellipse_conic as ellipse_conic
from .lens_model import direction_of_pixel as direction_of_pixel
from .lens_model import pixel_of_point as pixel_of_point
from .linear_camera import ProjectionFit as ProjectionFit
from .linear_camera import decompose_projection as decompose_projection
from .linear_camera import direct_linear_transform as direct_linear_transform
from .marker_images import Markers as Markers
from .marker_images import find_markers as find_markers
from .marker_images import marker_dictionaries as marker_dictionaries
from .marker_images import marker_image as marker_image
from .marker_images import marker_points as marker_points
from .pose_refinement import RefinedPose as RefinedPose
from .pose_refinement import refine_pose as refine_pose
from .projecting import Rays as Rays
from .projecting import depth_points as depth_points
from .projecting import on_plane as on_plane
from .projecting import project as project
from .projecting import rays as rays
from .projecting import undistort_points as undistort_points
from .projecting import visible as visible
from .projection_slopes import ProjectionDerivatives as ProjectionDerivatives
from .projection_slopes import project_derivatives as project_derivatives
from .target_images import CharucoBoard as CharucoBoard
from .target_images import charuco_corners as charuco_corners
from .target_images import charuco_image as charuco_image
from .target_images import charuco_points as charuco_points
from .target_images import chessboard_corners as chessboard_corners
from .target_images import chessboard_points as chessboard_points
from .target_images import circle_grid_centers as circle_grid_centers
from .target_images import circle_grid_points as circle_grid_points
from .textbook_camera import GimbalCamera as GimbalCamera
from .textbook_camera import book_image_point as book_image_point
from .textbook_camera import book_object_point as book_object_point
from .textbook_camera import book_to_pixels as book_to_pixels
from .textbook_camera import clockwise_matrix as clockwise_matrix
from .textbook_camera import gimbal_camera as gimbal_camera
from .textbook_camera import gimbal_image_point as gimbal_image_point
from .textbook_camera import gimbal_matrix as gimbal_matrix
from .textbook_camera import gimbal_project as gimbal_project
from .textbook_camera import inverse_perspective_matrix as inverse_perspective_matrix
from .textbook_camera import perspective_matrix as perspective_matrix
from .textbook_camera import pixels_to_book as pixels_to_book
from .textbook_camera import scaling_matrix as scaling_matrix
from .textbook_camera import translation_matrix as translation_matrix
from .undistortion import undistort_image as undistort_image
from .undistortion import undistortion_map as undistortion_map

__all__ = [
    "Camera",
    "CameraCalibration",
    "CameraParameter",
    "CharucoBoard",
    "CirclePoses",
    "ConeCircles",
    "Ellipse",
    "GimbalCamera",
    "Markers",
    "OpenCVCamera",
    "PlanarPoses",
    "ProjectionDerivatives",
    "ProjectionFit",
    "Rays",
    "RefinedPose",
    "TargetPose",
    "book_image_point",
    "book_object_point",
    "book_to_pixels",
    "calibrate_camera",
    "camera_from_info",
    "camera_from_opencv",
    "camera_info",
    "camera_to_opencv",
    "charuco_corners",
    "charuco_image",
    "charuco_points",
    "chessboard_corners",
    "chessboard_points",
    "circle_grid_centers",
    "circle_grid_points",
    "circle_poses",
    "clockwise_matrix",
    "cone_circles",
    "conic_ellipse",
    "crop_camera",
    "decompose_projection",
    "depth_points",
    "direct_linear_transform",
    "direction_of_pixel",
    "distorted",
    "ellipse_conic",
    "find_markers",
    "flip_camera",
    "from_camera_frame",
    "gimbal_camera",
    "gimbal_image_point",
    "gimbal_matrix",
    "gimbal_project",
    "inverse_perspective_matrix",
    "looking_at",
    "marker_dictionaries",
    "marker_image",
    "marker_points",
    "marker_poses",
    "on_plane",
    "perspective_matrix",
    "pixel_of_point",
    "pixels_to_book",
    "planar_poses",
    "pose_from_points",
    "project",
    "project_derivatives",
    "rays",
    "refine_pose",
    "resize_camera",
    "scaling_matrix",
    "to_camera_frame",
    "translation_matrix",
    "undistort_image",
    "undistort_points",
    "undistorted",
    "undistortion_map",
    "visible",
]


def __dir__() -> list[str]:
    return __all__
