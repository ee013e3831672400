"""Sensors in a scene: rays, beams and pads against solids and meshes; depth, range and intensity images.

| file | contents |
|---|---|
| `solids` | `Plane`, `Sphere`, `Box`, `Cylinder`, `Capsule`, `Mesh`, `Textured`: frozen data with a pose and a look |
| `scenes` | `Scene`, a tuple of solids that finds them by name; robots as solids |
| `triangle_sets`, `hierarchy` | triangles with the tree of boxes that rays are cast against |
| `ray_solids` | one ray and one solid, as kernels: where it enters and leaves, and the normals there |
| `mesh_rays` | one ray and one mesh: a walk through the table of a tree |
| `casting` | the nearest hit of rays over all solids: `cast_rays`, `ray_distances` |
| `lenses` | the numbers of a lens, distortion and its inverse |
| `views` | pixels of a camera, where solids are in its image, and their depths |
| `scene_images` | `depth_image`, `range_image`, `segmentation_image`, `intensity_image` |
| `lights`, `shading` | the four schemes of lighting, and how bright surfaces are under them |
| `beam_sensors` | lidar scans, ultrasonic beams, optical proximity |
| `touch_pads` | tactile imprints |
| `range_noise` | noise of distances, and readings that are lost |
| `scene_checks` | checks of what users give |
"""

from .beam_sensors import BeamEcho as BeamEcho
from .beam_sensors import LidarScan as LidarScan
from .beam_sensors import beam_directions as beam_directions
from .beam_sensors import beam_echo as beam_echo
from .beam_sensors import lidar_directions as lidar_directions
from .beam_sensors import lidar_scan as lidar_scan
from .beam_sensors import proximity_signal as proximity_signal
from .casting import Hits as Hits
from .casting import cast_rays as cast_rays
from .casting import ray_distances as ray_distances
from .lights import BackLight as BackLight
from .lights import DiffuseLight as DiffuseLight
from .lights import DirectionalLight as DirectionalLight
from .lights import LightSheet as LightSheet
from .lights import StructuredLight as StructuredLight
from .lights import double_light_plane as double_light_plane
from .range_noise import RangeNoise as RangeNoise
from .range_noise import noisy_distances as noisy_distances
from .range_noise import range_sigma as range_sigma
from .ray_solids import RayHit as RayHit
from .ray_solids import ray_box as ray_box
from .ray_solids import ray_capsule as ray_capsule
from .ray_solids import ray_cylinder as ray_cylinder
from .ray_solids import ray_plane as ray_plane
from .ray_solids import ray_sphere as ray_sphere
from .ray_solids import ray_triangle as ray_triangle
from .scene_images import depth_image as depth_image
from .scene_images import intensity_image as intensity_image
from .scene_images import range_image as range_image
from .scene_images import segmentation_image as segmentation_image
from .scenes import Scene as Scene
from .scenes import robot_solids as robot_solids
from .solids import Box as Box
from .solids import Capsule as Capsule
from .solids import Cylinder as Cylinder
from .solids import Mesh as Mesh
from .solids import Plane as Plane
from .solids import Solid as Solid
from .solids import Sphere as Sphere
from .solids import Textured as Textured
from .touch_pads import TactileImprint as TactileImprint
from .touch_pads import tactile_imprint as tactile_imprint
from .triangle_sets import Triangles as Triangles

__all__ = [
    "BackLight",
    "BeamEcho",
    "Box",
    "Capsule",
    "Cylinder",
    "DiffuseLight",
    "DirectionalLight",
    "Hits",
    "LidarScan",
    "LightSheet",
    "Mesh",
    "Plane",
    "RangeNoise",
    "RayHit",
    "Scene",
    "Solid",
    "Sphere",
    "StructuredLight",
    "TactileImprint",
    "Textured",
    "Triangles",
    "beam_directions",
    "beam_echo",
    "cast_rays",
    "depth_image",
    "double_light_plane",
    "intensity_image",
    "lidar_directions",
    "lidar_scan",
    "noisy_distances",
    "proximity_signal",
    "range_image",
    "range_sigma",
    "ray_box",
    "ray_capsule",
    "ray_cylinder",
    "ray_distances",
    "ray_plane",
    "ray_sphere",
    "ray_triangle",
    "robot_solids",
    "segmentation_image",
    "tactile_imprint",
]


def __dir__() -> list[str]:
    return __all__
