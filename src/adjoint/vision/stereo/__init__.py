"""Stereo: aligned and rectified pairs, matching, and points in space with their uncertainty.

| file | contents |
|---|---|
| `aligned` | the textbook's aligned stereo, with its inverse and its errors, as kernels |
| `pairs` | `StereoPair`, essential and fundamental matrices, epipolar lines |
| `triangulation` | points from two or more cameras by maximum likelihood, with covariance |
| `rectification` | `rectify`: cameras and images whose rows correspond |
| `matching` | disparities by OpenCV, and the points in the world that they mean |
| `stereo_calibration` | the right camera beside the left one, from shared views of a target |
"""

from .aligned import AlignedImages as AlignedImages
from .aligned import aligned_covariance as aligned_covariance
from .aligned import aligned_images as aligned_images
from .aligned import aligned_point as aligned_point
from .matching import StereoPoints as StereoPoints
from .matching import match_stereo as match_stereo
from .matching import reproject_disparity as reproject_disparity
from .pairs import StereoPair as StereoPair
from .pairs import epipolar_distance as epipolar_distance
from .pairs import epipolar_line as epipolar_line
from .pairs import essential_matrix as essential_matrix
from .pairs import fundamental_matrix as fundamental_matrix
from .rectification import Rectified as Rectified
from .rectification import rectify as rectify
from .stereo_calibration import StereoCalibration as StereoCalibration
from .stereo_calibration import calibrate_stereo as calibrate_stereo
from .triangulation import Triangulated as Triangulated
from .triangulation import triangulate as triangulate

__all__ = [
    "AlignedImages",
    "Rectified",
    "StereoCalibration",
    "StereoPair",
    "StereoPoints",
    "Triangulated",
    "aligned_covariance",
    "aligned_images",
    "aligned_point",
    "calibrate_stereo",
    "epipolar_distance",
    "epipolar_line",
    "essential_matrix",
    "fundamental_matrix",
    "match_stereo",
    "rectify",
    "reproject_disparity",
    "triangulate",
]


def __dir__() -> list[str]:
    return __all__
