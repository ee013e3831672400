"""Simple descriptors of regions: area, perimeter, axes, Euler number and more, for all regions of an image at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .boundaries import four_or_eight
from .extents import basic_rectangle
from .label_runs import Runs, corner_patterns, label_image, label_runs
from .moments import region_moments

__all__ = ["RegionDescriptors", "region_descriptors"]

_BITS = np.array([bin(pattern).count("1") for pattern in range(16)])
_TOUCH = np.isin(np.arange(16), (6, 9))
_ONE, _TWO, _THREE = (_BITS == 1), (_BITS == 2) & ~_TOUCH, (_BITS == 3)
# Twice two pixels that touch at a corner join 8-connected parts, and part 4-connected ones.
_EULER = {8: _ONE - 1 * _THREE - 2 * _TOUCH, 4: _ONE - 1 * _THREE + 2 * _TOUCH}
_LENGTH = np.sqrt(0.5) * (_ONE + 1 * _THREE + 2 * _TOUCH) + _TWO


class RegionDescriptors(NamedTuple):
    """Descriptors of n regions, each an array whose first axis is n.

    | field | what it is |
    |---|---|
    | `labels` | the label of each region, in increasing order |
    | `area` | the number of pixels |
    | `centroid` | (n, 2), pixels (u, v) |
    | `bounding_box` | (n, 4), first u, first v, last u, last v: pixels that belong to it |
    | `perimeter` | the length [pixel] of the contour through the middles of all cracks, holes included |
    | `compactness` | perimeter² / area |
    | `euler_number` | connected parts minus holes |
    | `major_axis`, `minor_axis` | the diameter of the region's outline, and its extent across it [pixel] |
    | `eccentricity` | major / minor axis, 1 or more: the textbook's |
    | `ellipse_major`, `ellipse_minor` | axes of the ellipse with the same second moments [pixel] |
    | `ellipse_eccentricity` | √(1 - minor²/major²) of that ellipse, 0 to 1: scikit-image's |
    | `orientation` | the angle of its major axis from u towards v [rad], in (-π/2, π/2] |
    """

    labels: np.ndarray
    area: np.ndarray
    centroid: np.ndarray
    bounding_box: np.ndarray
    perimeter: np.ndarray
    compactness: np.ndarray
    euler_number: np.ndarray
    major_axis: np.ndarray
    minor_axis: np.ndarray
    eccentricity: np.ndarray
    ellipse_major: np.ndarray
    ellipse_minor: np.ndarray
    ellipse_eccentricity: np.ndarray
    orientation: np.ndarray


def region_descriptors(labels, *, connectivity: int = 8) -> RegionDescriptors:
    """Descriptors of all regions of a labelled image (rows, columns), or of one region, the True pixels of an image.

    Labels are whole numbers, of which 0 is the background. A region may have several parts; whether pixels that touch
    at a corner are connected, `connectivity` says (8: yes, 4: no), which only the Euler number needs. See
    `RegionDescriptors` for all fields. The perimeter is that of `skimage.measure.find_contours` at level 0.5: exact
    along rows and columns and their diagonals, up to 8 % too long in between, with cut corners.

        >>> ring = np.ones((5, 5), bool)
        >>> ring[2, 2] = False
        >>> found = region_descriptors(ring)
        >>> found.area.tolist(), found.euler_number.tolist(), found.centroid.tolist()
        ([24], [0], [[2.0, 2.0]])

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.2.
    """
    four_or_eight(connectivity, "region_descriptors: 'connectivity'")
    image, runs = label_image(labels, "region_descriptors"), label_runs(labels, "region_descriptors")
    moments = region_moments(labels)
    patterns = corner_patterns(image, runs.labels)
    perimeter = patterns @ _LENGTH
    order, starts = _sorted_runs(runs)
    boxes, axes = _boxes(runs, order, starts), _axes(runs, order, starts)
    return RegionDescriptors(
        moments.labels, moments.area, moments.centroid, boxes, perimeter, perimeter**2 / moments.area,
        patterns @ _EULER[connectivity] // 4, axes[:, 0], axes[:, 1], axes[:, 0] / axes[:, 1],
        *_ellipses(moments.central),
    )  # fmt: skip


def _sorted_runs(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    """The runs in the order of regions, and where each region begins."""
    order = np.argsort(runs.region, kind="stable")
    return order, np.searchsorted(runs.region[order], np.arange(len(runs.labels)))


def _boxes(runs: Runs, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    if not len(starts):
        return np.zeros((0, 4), np.int64)
    first, row, last = runs.first[order], runs.row[order], (runs.first + runs.length - 1)[order]
    lows = (np.minimum.reduceat(x, starts) for x in (first, row))
    highs = (np.maximum.reduceat(x, starts) for x in (last, row))
    return np.stack([*lows, *highs], axis=1)


def _axes(runs: Runs, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The diameter of each region's outline, of whole pixels, and its extent across it: (n, 2)."""
    left, right, row = runs.first[order] - 0.5, (runs.first + runs.length)[order] - 0.5, runs.row[order]
    corners = np.stack([np.stack([u, row + dv], axis=1) for u in (left, right) for dv in (-0.5, 0.5)], axis=1)
    found = [basic_rectangle(part.reshape(-1, 2)) for part in np.split(corners, starts[1:])] if len(starts) else []
    return np.array([(box.major, box.minor) for box in found]).reshape(-1, 2)


def _ellipses(central: np.ndarray) -> tuple[np.ndarray, ...]:
    """Axes, eccentricity and orientation of the ellipses with the same second moments; a pixel is a point here."""
    area = central[:, 0, 0]
    a, b, c = central[:, 2, 0] / area, central[:, 1, 1] / area, central[:, 0, 2] / area
    middle, off = (a + c) / 2, np.hypot((a - c) / 2, b)
    large, small = middle + off, np.maximum(middle - off, 0.0)
    ratio = np.sqrt(1 - small / np.where(large > 0, large, 1.0)) * (large > 0)
    return 4 * np.sqrt(large), 4 * np.sqrt(small), ratio, 0.5 * np.arctan2(2 * b, a - c)
