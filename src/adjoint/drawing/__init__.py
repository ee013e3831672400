"""What robots look like: triangles that are fixed to their bodies, from model files or from the kinematics alone.

- `triangles`: meshes, and those of simple solids; `simplification`: meshes with fewer triangles; `shading`: light.
- `robot_shapes`: the meshes of a robot, each fixed to a body; `from_visuals`, `mesh_files`: those of model files;
  `axes`, `from_kinematics`: those of robots without any; `molecules`: those of polymers; `skeletons`: lines instead.
- `actors`: robots and their motions; `pages`: the page that shows them in a browser; `scenes`, `films`: as lines.
- `plots`: pictures of robots; `style`: what all figures have in common; `reports`: HTML pages with text and figures.
"""

from .robot_shapes import Shape as Shape
from .robot_shapes import shape_notes as shape_notes
from .robot_shapes import shapes as shapes
from .triangles import Mesh as Mesh

__all__ = ["Mesh", "Shape", "shape_notes", "shapes"]


def __dir__() -> list[str]:
    return __all__
