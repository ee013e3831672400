"""Line drawings: junctions, labels of lines, drawings of blocks, and impossible objects.

| file | contents |
|---|---|
| `line_drawings` | `Drawing`: vertices and lines, the junctions between them, and regions |
| `junction_labels` | the dictionary of labelled junctions, generated from octants |
| `line_labels` | all labelings of a drawing, conflicts, and labels in words |
| `realizations` | whether planes fit a labelled drawing |
| `bodies` | which regions are faces of one body, and what is in front |
| `blocks` | convex solids |
| `block_drawings` | drawings of blocks with the true labels |
"""

from .block_drawings import BlockDrawing as BlockDrawing
from .block_drawings import draw_blocks as draw_blocks
from .blocks import Block as Block
from .blocks import box_block as box_block
from .blocks import convex_block as convex_block
from .bodies import DrawingBodies as DrawingBodies
from .bodies import drawing_bodies as drawing_bodies
from .junction_labels import junction_dictionary as junction_dictionary
from .line_drawings import Drawing as Drawing
from .line_drawings import Junction as Junction
from .line_drawings import drawing_junctions as drawing_junctions
from .line_drawings import line_regions as line_regions
from .line_labels import LineLabels as LineLabels
from .line_labels import explain_labels as explain_labels
from .line_labels import label_lines as label_lines
from .line_labels import labels_fit as labels_fit
from .realizations import Realization as Realization
from .realizations import realize_drawing as realize_drawing

__all__ = [
    "Block",
    "BlockDrawing",
    "Drawing",
    "DrawingBodies",
    "Junction",
    "LineLabels",
    "Realization",
    "box_block",
    "convex_block",
    "draw_blocks",
    "drawing_bodies",
    "drawing_junctions",
    "explain_labels",
    "junction_dictionary",
    "label_lines",
    "labels_fit",
    "line_regions",
    "realize_drawing",
]


def __dir__() -> list[str]:
    return __all__
