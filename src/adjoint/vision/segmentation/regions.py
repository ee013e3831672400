"""Regions that grow from seeds, and the five conditions that a segmentation has to meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats, positive
from ..image_checks import colour, gray, opencv
from .adjacency import checked_labels, components_of_pairs, neighbours, region_adjacency

__all__ = ["SegmentationFault", "grow_regions", "is_segmentation", "segmentation_faults"]


def grow_regions(image, seeds, threshold: float, *, connectivity: int = 4) -> np.ndarray:
    """Regions that grow from seeds: labels (rows, columns), k for the region of the k-th seed, 0 for no region.

        >>> image = np.array([[0, 0, 5, 6, 7], [1, 1, 5, 8, 7], [0, 1, 6, 7, 7], [2, 0, 7, 6, 6], [0, 1, 5, 6, 5]])
        >>> grow_regions(image, [(1, 2), (3, 2)], 3)[0].tolist()                          # seeds (u, v)
        [1, 1, 2, 2, 2]

    A pixel belongs to a region if |f - f(seed)| < `threshold`, strictly, and a path of such pixels leads from the seed
    to it. The first region takes all its pixels, then the second one what is left, and so on. So a pixel that is like
    two seeds goes to the first region, all regions are connected, and a seed that lies in an earlier region gets none.

    - `image` (rows, columns), or (rows, columns, 3), in which the difference of two colours is their distance.
    - `seeds` (n, 2) or (2,) are pixels (u, v) = (column, row). The book's (row, column) start at 1.
    - `threshold` is a positive number.
    - `connectivity` 4 or 8 says which pixels are neighbours.

    OpenCV's `floodFill` fills the regions. Fu, Gonzalez & Lee (1987), §8.2.3, figure 8.17.
    """
    cv2 = opencv("grow_regions")
    image = colour(image, "grow_regions") if np.ndim(image) == 3 else gray(image, "grow_regions")
    seeds = _pixels(seeds, image.shape)
    T = positive(threshold, "grow_regions: threshold")
    if connectivity not in (4, 8):
        raise ArgumentError(f"grow_regions: connectivity must be 4 or 8, got {connectivity!r}")
    labels = np.zeros(image.shape[:2], np.int32)
    for k, (u, v) in enumerate(seeds.tolist(), start=1):
        if labels[v, u]:
            continue
        similar = _similar(image, image[v, u], T)
        if not similar[v, u]:
            raise ArgumentError(f"grow_regions: the image is not a finite number at the seed (u, v) = ({u}, {v})")
        if k > 1:
            similar &= labels == 0
        marks = np.ascontiguousarray(similar).view(np.uint8)
        # OpenCV fills from (x, y) = (u, v), and returns the rectangle that it has touched.
        x, y, width, height = cv2.floodFill(marks, None, (u, v), 2, flags=connectivity)[3]
        window = np.s_[y : y + height, x : x + width]
        labels[window][marks[window] == 2] = k
    return labels


def _pixels(seeds, shape: tuple[int, ...]) -> np.ndarray:
    found = np.atleast_2d(floats(seeds))
    if found.ndim != 2 or found.shape[1] != 2 or not (found == np.rint(found)).all():
        raise ArgumentError(f"grow_regions: seeds must be whole numbers (n, 2), pixels (u, v), got {seeds!r:.80}")
    bad = ((found < 0) | (found >= shape[1::-1])).any(axis=1)
    if bad.any():
        raise ArgumentError(
            f"grow_regions: the seed (u, v) = {tuple(found[bad][0].astype(int).tolist())} is not in the image, which "
            f"has {shape[1]} columns and {shape[0]} rows"
        )
    return found.astype(int)


def _similar(image: np.ndarray, seed: np.ndarray, T: float) -> np.ndarray:
    """Where |f - f(seed)| < T."""
    if image.ndim == 3:
        with np.errstate(invalid="ignore", over="ignore"):
            return ((image.astype(float) - seed.astype(float)) ** 2).sum(axis=2) < T * T
    if image.dtype.kind == "f":
        image = image.astype(np.float32) if image.dtype == np.float16 else image  # differences could overflow
        with np.errstate(invalid="ignore", over="ignore"):
            return np.abs(image - image.dtype.type(seed)) < T
    info = np.iinfo(np.uint8 if image.dtype == np.bool_ else image.dtype)
    value = int(seed)
    least = max(value - int(np.ceil(min(T, 2.0**64))) + 1, info.min)
    most = min(value + int(np.ceil(min(T, 2.0**64))) - 1, info.max)
    return (image >= image.dtype.type(least)) & (image <= image.dtype.type(most))


# --- conditions -------------------------------------------------------------------------------------------------------


class SegmentationFault(NamedTuple):
    """A condition, 1 to 5, that is not met, and the labels of the regions of which it is not."""

    condition: int
    regions: tuple[int, ...]


def segmentation_faults(labels, image, predicate: Callable[[np.ndarray], bool]) -> tuple[SegmentationFault, ...]:
    """What keeps labels from being a segmentation of the image under a predicate P; nothing, if they are one.

        >>> image = np.array([[3, 3, 9], [3, 3, 9]])
        >>> segmentation_faults([[1, 2, 3], [1, 2, 3]], image, lambda values: np.ptp(values) == 0)
        (SegmentationFault(condition=5, regions=(1, 2)),)

    The five conditions are: (1) every pixel is in a region; (2) each region is connected, along sides of pixels;
    (3) regions have no pixel in common, which labels cannot violate; (4) P holds for each region; (5) P does not hold
    for two regions together. The book asks (5) of any two regions; then two equal objects that do not touch would be a
    fault. It is asked here of regions that touch.

    - `labels` (rows, columns) are whole numbers; those below 1 are of no region.
    - `image` (rows, columns) or (rows, columns, channels) has the values.
    - `predicate` takes values (n,) or (n, channels), and gives True or False; a `vision.Uniformity` is one.

    It calls P once for each region and each pair: it is for tests of segmentations more than for large images.
    Fu, Gonzalez & Lee (1987), §8.2.3.
    """
    labels = checked_labels(labels, "segmentation_faults")
    image = np.asarray(image)
    if image.shape[:2] != labels.shape:
        raise ArgumentError(f"segmentation_faults: labels have shape {labels.shape}, the image has {image.shape}")
    faults = [] if (labels > 0).all() else [SegmentationFault(1, ())]
    here = np.arange(labels.size).reshape(labels.shape)
    both = zip(neighbours(labels), neighbours(here), strict=True)
    inside = [np.stack([p[a == b], q[a == b]], axis=1) for (a, b), (p, q) in both]
    part = components_of_pairs(np.concatenate(inside), labels.size)
    _, first = np.unique(part, return_index=True)
    names, parts = np.unique(labels.reshape(-1)[first], return_counts=True)
    faults += [SegmentationFault(2, (int(name),)) for name in names[(parts > 1) & (names > 0)]]
    order = np.argsort(labels, axis=None, kind="stable")
    flat = image.reshape(labels.size, *image.shape[2:])[order]
    ends = np.searchsorted(labels.reshape(-1)[order], names, side="right")
    values = {int(name): part for name, part in zip(names, np.split(flat, ends[:-1]), strict=True) if name > 0}
    faults += [SegmentationFault(4, (name,)) for name, each in values.items() if not predicate(each)]
    pairs = region_adjacency(labels).tolist()
    faults += [SegmentationFault(5, (a, b)) for a, b in pairs if predicate(np.concatenate([values[a], values[b]]))]
    return tuple(faults)


def is_segmentation(labels, image, predicate: Callable[[np.ndarray], bool]) -> bool:
    """Whether labels meet the five conditions of a segmentation; `vision.segmentation_faults` says which are not met.

    >>> image = np.array([[3, 3, 9], [3, 3, 9]])
    >>> is_segmentation([[1, 1, 2], [1, 1, 2]], image, lambda values: np.ptp(values) == 0)
    True
    """
    return not segmentation_faults(labels, image, predicate)
