"""Segmentation: edges, paths, regions and motion in images.

| file | contents |
|---|---|
| `edge_linking` | edge pixels with similar gradients are linked (`link_edges`), also along rows or columns |
| `hough` | lines, segments, circles and any other curve by the Hough transform |
| `edge_paths` | the edge that crosses an image with the least cost (`edge_path`) |
| `crack_sweeps`, `crack_search` | how it is found: for whole images at once, and by the book's search |
| `thresholds` | one threshold, bands of them, and thresholds of neighbourhoods |
| `thresholds_optimum`, `thresholds_fit` | thresholds with the fewest errors, and Gaussians fitted to histograms |
| `thresholds_dynamic` | a surface of thresholds, from those of tiles (`dynamic_threshold`) |
| `thresholds_boundary` | thresholds by the pixels near edges |
| `thresholds_colour` | clusters of colours, and pixels near one |
| `adjacency` | which regions touch (`region_adjacency`) |
| `regions` | regions that grow from seeds, and what makes labels a segmentation (`is_segmentation`) |
| `uniformity` | predicates of regions (`Uniformity`) |
| `quadtrees` | images split into quadrants (`quadtree`) |
| `split_merge` | quadrants merged to regions (`split_and_merge`) |
| `motion` | accumulated differences of frames, and references without what moves |
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
from .motion import AccumulatedDifferences as AccumulatedDifferences
from .motion import accumulate_differences as accumulate_differences
from .motion import difference_image as difference_image
from .motion import settle_reference as settle_reference
from .motion import start_differences as start_differences
from .motion import stationary_reference as stationary_reference
from .quadtrees import Quadtree as Quadtree
from .quadtrees import quadtree as quadtree
from .regions import SegmentationFault as SegmentationFault
from .regions import grow_regions as grow_regions
from .regions import is_segmentation as is_segmentation
from .regions import segmentation_faults as segmentation_faults
from .split_merge import SplitMerge as SplitMerge
from .split_merge import split_and_merge as split_and_merge
from .thresholds import local_threshold as local_threshold
from .thresholds import threshold as threshold
from .thresholds import threshold_bands as threshold_bands
from .thresholds_boundary import boundary_histogram as boundary_histogram
from .thresholds_boundary import boundary_labels as boundary_labels
from .thresholds_boundary import boundary_objects as boundary_objects
from .thresholds_boundary import fill_scan_lines as fill_scan_lines
from .thresholds_colour import ColourClusters as ColourClusters
from .thresholds_colour import colour_clusters as colour_clusters
from .thresholds_colour import colour_histogram as colour_histogram
from .thresholds_colour import nearest_colour as nearest_colour
from .thresholds_colour import pixels_near_colour as pixels_near_colour
from .thresholds_dynamic import DynamicThreshold as DynamicThreshold
from .thresholds_dynamic import dynamic_threshold as dynamic_threshold
from .thresholds_optimum import DecisionIntervals as DecisionIntervals
from .thresholds_optimum import Mixture as Mixture
from .thresholds_optimum import classify_levels as classify_levels
from .thresholds_optimum import decision_intervals as decision_intervals
from .thresholds_optimum import fit_mixture as fit_mixture
from .thresholds_optimum import gaussian_crossings as gaussian_crossings
from .thresholds_optimum import minimum_error_threshold as minimum_error_threshold
from .thresholds_optimum import optimum_threshold as optimum_threshold
from .thresholds_optimum import otsu_thresholds as otsu_thresholds
from .uniformity import Uniformity as Uniformity

__all__ = [
    "AccumulatedDifferences",
    "ColourClusters",
    "CurveVotes",
    "DecisionIntervals",
    "DynamicThreshold",
    "EdgePath",
    "EdgeRuns",
    "HoughCircles",
    "HoughLines",
    "LineVotes",
    "Mixture",
    "Quadtree",
    "SegmentationFault",
    "SplitMerge",
    "Uniformity",
    "accumulate_differences",
    "boundary_histogram",
    "boundary_labels",
    "boundary_objects",
    "classify_levels",
    "colour_clusters",
    "colour_histogram",
    "curve_peaks",
    "decision_intervals",
    "difference_image",
    "dynamic_threshold",
    "edge_path",
    "edge_pixels",
    "edge_runs",
    "fill_scan_lines",
    "fit_mixture",
    "gaussian_crossings",
    "grow_regions",
    "hough_circles",
    "hough_curve",
    "hough_lines",
    "hough_segments",
    "hough_votes",
    "is_segmentation",
    "link_edges",
    "local_threshold",
    "minimum_error_threshold",
    "nearest_colour",
    "optimum_threshold",
    "otsu_thresholds",
    "pixels_near_colour",
    "quadtree",
    "region_adjacency",
    "segmentation_faults",
    "settle_reference",
    "split_and_merge",
    "start_differences",
    "stationary_reference",
    "textbook_line",
    "threshold",
    "threshold_bands",
]


def __dir__() -> list[str]:
    return __all__
