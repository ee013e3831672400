"""Segmentation: edges, paths, regions and motion in images.

| file | contents |
|---|---|
| `edge_linking` | edge pixels with similar gradients are linked (`link_edges`), also along rows or columns |
| `hough` | lines, segments, circles and any other curve by the Hough transform |
| `edge_paths` | the edge that crosses an image with the least cost (`edge_path`) |
| `crack_sweeps`, `crack_search` | how it is found: for whole images at once, and by the book's search |
| `adjacency` | which regions touch (`region_adjacency`) |
| `regions` | regions that grow from seeds, and what makes labels a segmentation (`is_segmentation`) |
| `uniformity` | predicates of regions (`Uniformity`) |
| `quadtrees` | images split into quadrants (`quadtree`) |
| `split_merge` | quadrants merged to regions (`split_and_merge`) |
"""

from .adjacency import region_adjacency as region_adjacency
from .edge_linking import EdgeRuns as EdgeRuns
from .edge_linking import edge_pixels as edge_pixels
from .edge_linking import edge_runs as edge_runs
from .edge_linking import link_edges as link_edges
from .edge_paths import EdgePath as EdgePath
from .edge_paths import edge_path as edge_path
from .hough import CurveVotes as CurveVotes
from .hough import HoughCircles as HoughCircles
from .hough import HoughLines as HoughLines
from .hough import LineVotes as LineVotes
from .hough import curve_peaks as curve_peaks
from .hough import hough_circles as hough_circles
from .hough import hough_curve as hough_curve
from .hough import hough_lines as hough_lines
from .hough import hough_segments as hough_segments
from .hough import hough_votes as hough_votes
from .hough import textbook_line as textbook_line
from .quadtrees import Quadtree as Quadtree
from .quadtrees import quadtree as quadtree
from .regions import SegmentationFault as SegmentationFault
from .regions import grow_regions as grow_regions
from .regions import is_segmentation as is_segmentation
from .regions import segmentation_faults as segmentation_faults
from .split_merge import SplitMerge as SplitMerge
from .split_merge import split_and_merge as split_and_merge
from .uniformity import Uniformity as Uniformity

__all__ = [
    "CurveVotes",
    "EdgePath",
    "EdgeRuns",
    "HoughCircles",
    "HoughLines",
    "LineVotes",
    "Quadtree",
    "SegmentationFault",
    "SplitMerge",
    "Uniformity",
    "curve_peaks",
    "edge_path",
    "edge_pixels",
    "edge_runs",
    "grow_regions",
    "hough_circles",
    "hough_curve",
    "hough_lines",
    "hough_segments",
    "hough_votes",
    "is_segmentation",
    "link_edges",
    "quadtree",
    "region_adjacency",
    "segmentation_faults",
    "split_and_merge",
    "textbook_line",
]


def __dir__() -> list[str]:
    return __all__
