"""Cameras: pinholes with distortion, the textbook's camera, calibration, and poses from one image.

| file | contents |
|---|---|
| `camera` | `Camera`, the pinhole with distortion somewhere in the world, and `looking_at` |
| `projecting` | points to pixels, pixels to rays, depth images to points, and derivatives |
| `camera_checks` | checks of what users give |
"""

from .camera import Camera as Camera
from .camera import looking_at as looking_at
from .projecting import ProjectionDerivatives as ProjectionDerivatives
from .projecting import Rays as Rays
from .projecting import depth_points as depth_points
from .projecting import direction_of_pixel as direction_of_pixel
from .projecting import distorted as distorted
from .projecting import on_plane as on_plane
from .projecting import pixel_of_point as pixel_of_point
from .projecting import project as project
from .projecting import project_derivatives as project_derivatives
from .projecting import rays as rays
from .projecting import undistort_points as undistort_points
from .projecting import undistorted as undistorted
from .projecting import visible as visible

__all__ = [
    "Camera",
    "ProjectionDerivatives",
    "Rays",
    "depth_points",
    "direction_of_pixel",
    "distorted",
    "looking_at",
    "on_plane",
    "pixel_of_point",
    "project",
    "project_derivatives",
    "rays",
    "undistort_points",
    "undistorted",
    "visible",
]


def __dir__() -> list[str]:
    return __all__
