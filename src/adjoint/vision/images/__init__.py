"""Images at the low level: pixels and their neighbours, filters, histograms and gradients.

This is the textbook's §7.2, 7.5 and 7.6 (Fu, Gonzalez & Lee, 1987). Images are (rows, columns[, 3]); pixels are
(u, v) = (column, row), where the textbook's (x, y) is (row, column).

| file | contents |
|---|---|
| `options` | windows, borders and pixels that users give |
| `levels` | gray levels of any dtype as whole numbers, maps of levels |
| `sampling` | gray levels of colours, bits, fewer pixels, fewer levels |
| `neighbourhoods` | neighbours N4, ND, N8; 4-, 8- and m-adjacency |
| `connectivity` | components, shortest paths and their lengths |
| `distances` | distances D_e, D_4, D_8 and distance transforms |
| `masks` | masks that move over an image, the detector of points |
| `fourier` | Fourier transforms with the textbook's factors |
| `smoothing` | means, medians, means of frames |
| `binary_smoothing` | Unger's rules, 64 pixels at a time |
| `morphology` | erosion, dilation, opening, closing |
| `histograms` | counts, equalization, specification |
| `enhancement` | local equalization, local mean and variance |
| `gradients` | differences, Sobel, Laplacian, edges |
"""

from .binary_smoothing import smooth_binary as smooth_binary
from .connectivity import Components as Components
from .connectivity import connected_components as connected_components
from .connectivity import path_between as path_between
from .connectivity import path_distance as path_distance
from .connectivity import path_distances as path_distances
from .distances import distance_transform as distance_transform
from .distances import pixel_distance as pixel_distance
from .enhancement import enhance_locally as enhance_locally
from .enhancement import equalise_locally as equalise_locally
from .fourier import fourier_1d as fourier_1d
from .fourier import fourier_2d as fourier_2d
from .fourier import inverse_fourier_1d as inverse_fourier_1d
from .fourier import inverse_fourier_2d as inverse_fourier_2d
from .gradients import Gradient as Gradient
from .gradients import first_differences as first_differences
from .gradients import gradient_direction as gradient_direction
from .gradients import gradient_edges as gradient_edges
from .gradients import gradient_magnitude as gradient_magnitude
from .gradients import laplacian as laplacian
from .gradients import sobel as sobel
from .histograms import equalise_histogram as equalise_histogram
from .histograms import histogram as histogram
from .histograms import match_histogram as match_histogram
from .histograms import specify_histogram as specify_histogram
from .levels import map_levels as map_levels
from .masks import POINT_MASK as POINT_MASK
from .masks import apply_mask as apply_mask
from .masks import isolated_points as isolated_points
from .morphology import closing as closing
from .morphology import dilation as dilation
from .morphology import erosion as erosion
from .morphology import opening as opening
from .neighbourhoods import NEIGHBOUR_STEPS as NEIGHBOUR_STEPS
from .neighbourhoods import adjacent as adjacent
from .neighbourhoods import neighbours as neighbours
from .sampling import gray_levels as gray_levels
from .sampling import image_bits as image_bits
from .sampling import requantise as requantise
from .sampling import subsample as subsample
from .smoothing import FrameMean as FrameMean
from .smoothing import average_frames as average_frames
from .smoothing import mean_filter as mean_filter
from .smoothing import median_filter as median_filter

__all__ = [
    "NEIGHBOUR_STEPS",
    "POINT_MASK",
    "Components",
    "FrameMean",
    "Gradient",
    "adjacent",
    "apply_mask",
    "average_frames",
    "closing",
    "connected_components",
    "dilation",
    "distance_transform",
    "enhance_locally",
    "equalise_histogram",
    "equalise_locally",
    "erosion",
    "first_differences",
    "fourier_1d",
    "fourier_2d",
    "gradient_direction",
    "gradient_edges",
    "gradient_magnitude",
    "gray_levels",
    "histogram",
    "image_bits",
    "inverse_fourier_1d",
    "inverse_fourier_2d",
    "isolated_points",
    "laplacian",
    "map_levels",
    "match_histogram",
    "mean_filter",
    "median_filter",
    "neighbours",
    "opening",
    "path_between",
    "path_distance",
    "path_distances",
    "pixel_distance",
    "requantise",
    "smooth_binary",
    "sobel",
    "specify_histogram",
    "subsample",
]


def __dir__() -> list[str]:
    return __all__
