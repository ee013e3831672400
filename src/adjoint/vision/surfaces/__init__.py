"""Surfaces in space: planar patches of range images, gradients of volumes, and generalized cones.

| file | contents |
|---|---|
| `cells` | planes in the cells of a point image, and links between cells |
| `patches` | planar, curved and undefined surfaces of a range image |
| `volume_gradients` | the gradient of voxels |
| `spines` | curves that carry a frame, made of screw motions |
| `cones` | generalized cones: points, normals, meshes, volumes |
| `cone_fits` | fits of generalized cones to points |
"""

from .cone_fits import ConeFit as ConeFit
from .cone_fits import fit_cone as fit_cone
from .cones import ConeMesh as ConeMesh
from .cones import ConePoints as ConePoints
from .cones import GeneralizedCone as GeneralizedCone
from .cones import circle_section as circle_section
from .cones import cone_mesh as cone_mesh
from .cones import cone_points as cone_points
from .cones import cone_volume as cone_volume
from .cones import ring_section as ring_section
from .cones import swept_point as swept_point
from .patches import Patches as Patches
from .patches import planar_patches as planar_patches
from .spines import Spine as Spine
from .spines import arc_spine as arc_spine
from .spines import spine_coordinates as spine_coordinates
from .spines import spine_through as spine_through
from .spines import straight_spine as straight_spine
from .volume_gradients import VolumeGradient as VolumeGradient
from .volume_gradients import volume_gradient as volume_gradient

__all__ = [
    "ConeFit",
    "ConeMesh",
    "ConePoints",
    "GeneralizedCone",
    "Patches",
    "Spine",
    "VolumeGradient",
    "arc_spine",
    "circle_section",
    "cone_mesh",
    "cone_points",
    "cone_volume",
    "fit_cone",
    "planar_patches",
    "ring_section",
    "spine_coordinates",
    "spine_through",
    "straight_spine",
    "swept_point",
    "volume_gradient",
]


def __dir__() -> list[str]:
    return __all__
