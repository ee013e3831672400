"""From an image to named objects with poses.

| file | contents |
|---|---|
| `object_models` | `ObjectModel`: surface, edges, and the ways to lie on a plane; makers of models |
| `outlines` | where the edges of a model should appear, as a kernel |
| `image_edges` | where the edges of an image are, between pixels |
| `foreground` | what differs from the background |
| `hypotheses` | rough poses on a plane: many at once |
| `refinement` | `refine_model_pose`: edges of the model onto those of the image, with covariance |
| `candidates` | objects that may explain a region, and the choice among them |
| `from_depth` | poses from depth images |
| `finding` | `locate` itself |
| `overlays` | `draw_located`: what was found, drawn over the image |
| `arguments` | checks |
"""

from .candidates import LocatedObject as LocatedObject
from .finding import locate as locate
from .object_models import ObjectModel as ObjectModel
from .object_models import Rest as Rest
from .object_models import block_model as block_model
from .object_models import cylinder_model as cylinder_model
from .object_models import mesh_model as mesh_model
from .object_models import prism_model as prism_model
from .overlays import draw_located as draw_located
from .refinement import ModelPose as ModelPose
from .refinement import refine_model_pose as refine_model_pose

__all__ = [
    "LocatedObject",
    "ModelPose",
    "ObjectModel",
    "Rest",
    "block_model",
    "cylinder_model",
    "draw_located",
    "locate",
    "mesh_model",
    "prism_model",
    "refine_model_pose",
]


def __dir__() -> list[str]:
    return __all__
