"""Descriptions of shapes and textures: boundaries, polygons, regions, moments, skeletons.

| file | contents |
|---|---|
| `boundaries` | regions' boundaries: cracks between pixels, and lists of pixels |
| `chain_codes` | chain codes, their normal forms, and what can be read from them |
| `shape_orders` | shape numbers, also of given order on a grid along the basic rectangle |
| `extents` | diameter, convex hull and basic rectangle |
| `signatures` | distance and tangent signatures, slope density, and moments of amplitudes |
| `minimum_perimeter` | the minimum-perimeter polygon of a digital region |
| `polygons` | polygons by merging and by splitting |
| `fourier_boundaries` | Fourier descriptors of boundaries |
| `label_runs` | labelled images as runs, and the patterns where labels meet; not public |
| `regions` | simple descriptors of all regions of an image |
| `moments` | moments of images and regions, and Hu's invariants |
| `texture` | histogram texture, and co-occurrence matrices |
| `texture_grammar` | textures as strings of a grammar |
| `thinning`, `thinning_words` | thinning by safe points; its passes over whole images, not public |
| `skeletons` | the medial axis, and graphs of skeletons |
"""

from .boundaries import Boundary as Boundary
from .boundaries import crack_boundaries as crack_boundaries
from .boundaries import pixel_boundaries as pixel_boundaries
from .chain_codes import ChainCode as ChainCode
from .chain_codes import chain_area as chain_area
from .chain_codes import chain_code as chain_code
from .chain_codes import chain_code_of_segments as chain_code_of_segments
from .chain_codes import chain_perimeter as chain_perimeter
from .chain_codes import chain_points as chain_points
from .chain_codes import first_difference as first_difference
from .chain_codes import grid_cells as grid_cells
from .chain_codes import start_normalized as start_normalized
from .extents import BasicRectangle as BasicRectangle
from .extents import Diameter as Diameter
from .extents import basic_rectangle as basic_rectangle
from .extents import convex_deficiency as convex_deficiency
from .extents import convex_hull as convex_hull
from .extents import diameter as diameter
from .fourier_boundaries import fourier_boundary as fourier_boundary
from .fourier_boundaries import fourier_descriptors as fourier_descriptors
from .fourier_boundaries import fourier_invariants as fourier_invariants
from .fourier_boundaries import resampled_boundary as resampled_boundary
from .minimum_perimeter import minimum_perimeter_polygon as minimum_perimeter_polygon
from .moments import Moments as Moments
from .moments import RegionMoments as RegionMoments
from .moments import hu_invariants as hu_invariants
from .moments import image_moments as image_moments
from .moments import region_moments as region_moments
from .polygons import merged_polygon as merged_polygon
from .polygons import split_polygon as split_polygon
from .regions import RegionDescriptors as RegionDescriptors
from .regions import region_descriptors as region_descriptors
from .shape_orders import grid_coverage as grid_coverage
from .shape_orders import shape_number as shape_number
from .shape_orders import shape_numbers as shape_numbers
from .signatures import Signature as Signature
from .signatures import amplitude_moments as amplitude_moments
from .signatures import distance_signature as distance_signature
from .signatures import histogram_moments as histogram_moments
from .signatures import polygon_area as polygon_area
from .signatures import polygon_centroid as polygon_centroid
from .signatures import slope_density as slope_density
from .signatures import tangent_signature as tangent_signature
from .skeletons import MedialAxis as MedialAxis
from .skeletons import SkeletonBranch as SkeletonBranch
from .skeletons import SkeletonGraph as SkeletonGraph
from .skeletons import medial_axis as medial_axis
from .skeletons import skeleton_graph as skeleton_graph
from .texture import CooccurrenceDescriptors as CooccurrenceDescriptors
from .texture import HistogramTexture as HistogramTexture
from .texture import cooccurrence as cooccurrence
from .texture import cooccurrence_descriptors as cooccurrence_descriptors
from .texture import histogram_texture as histogram_texture
from .texture import relative_smoothness as relative_smoothness
from .texture_grammar import TEXTURE_RULES as TEXTURE_RULES
from .texture_grammar import texture_derivation as texture_derivation
from .texture_grammar import texture_image as texture_image
from .texture_grammar import texture_places as texture_places
from .texture_grammar import texture_string as texture_string
from .thinning import thin as thin

__all__ = [
    "TEXTURE_RULES",
    "BasicRectangle",
    "Boundary",
    "ChainCode",
    "CooccurrenceDescriptors",
    "Diameter",
    "HistogramTexture",
    "MedialAxis",
    "Moments",
    "RegionDescriptors",
    "RegionMoments",
    "Signature",
    "SkeletonBranch",
    "SkeletonGraph",
    "amplitude_moments",
    "basic_rectangle",
    "chain_area",
    "chain_code",
    "chain_code_of_segments",
    "chain_perimeter",
    "chain_points",
    "convex_deficiency",
    "convex_hull",
    "cooccurrence",
    "cooccurrence_descriptors",
    "crack_boundaries",
    "diameter",
    "distance_signature",
    "first_difference",
    "fourier_boundary",
    "fourier_descriptors",
    "fourier_invariants",
    "grid_cells",
    "grid_coverage",
    "histogram_moments",
    "histogram_texture",
    "hu_invariants",
    "image_moments",
    "medial_axis",
    "merged_polygon",
    "minimum_perimeter_polygon",
    "pixel_boundaries",
    "polygon_area",
    "polygon_centroid",
    "region_descriptors",
    "region_moments",
    "relative_smoothness",
    "resampled_boundary",
    "shape_number",
    "shape_numbers",
    "skeleton_graph",
    "slope_density",
    "split_polygon",
    "start_normalized",
    "tangent_signature",
    "texture_derivation",
    "texture_image",
    "texture_places",
    "texture_string",
    "thin",
]


def __dir__() -> list[str]:
    return __all__
