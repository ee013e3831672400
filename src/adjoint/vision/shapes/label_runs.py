"""Labelled images as runs of equal labels in rows, and as the places where labels meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ..image_checks import gray

__all__ = ["Runs", "corner_patterns", "label_image", "label_runs"]


class Runs(NamedTuple):
    """Runs of equal labels in rows, without the background: `region` numbers the `labels` that occur, in their order.

    Each run has its `row`, its `first` column and its `length` in pixels.
    """

    labels: np.ndarray
    region: np.ndarray
    row: np.ndarray
    first: np.ndarray
    length: np.ndarray


def label_image(labels, caller: str) -> np.ndarray:
    """Labels (rows, columns) as whole numbers, or an `ArgumentError`; truth values become 0 and 1."""
    image = gray(labels, caller)
    if image.dtype == np.bool_:
        return image.view(np.uint8)
    if image.dtype.kind not in "ui":
        raise ArgumentError(f"{caller}: labels must be whole numbers, 0 for the background, got {image.dtype}")
    return image


def label_runs(labels, caller: str) -> Runs:
    """The runs of a labelled image."""
    image = label_image(labels, caller)
    columns = image.shape[1]
    begins = np.ones(image.shape, bool)
    np.not_equal(image[:, 1:], image[:, :-1], out=begins[:, 1:])
    start = np.flatnonzero(begins)
    length = np.diff(start, append=image.size)
    label = image.ravel()[start]
    object_ = label != 0
    start, length, label = start[object_], length[object_], label[object_]
    if label.size and label.min() < 0:
        raise ArgumentError(f"{caller}: the label {label.min()} is negative; labels are 0, the background, or more")
    if not label.size:
        return Runs(np.zeros(0, image.dtype), *(np.zeros(0, np.int64) for _ in range(4)))
    found, region = _numbered(label)
    row, first = np.divmod(start, columns)
    return Runs(found, region, row, first, length)


def _numbered(label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels that occur, in their order, and the number of each run's label among them."""
    most = int(label.max())
    if most > 4 * label.size + 1000:  # few and far between: a table of all would be too long
        return np.unique(label, return_inverse=True)
    present = np.zeros(most + 1, bool)
    present[label] = True
    return np.flatnonzero(present).astype(label.dtype), (np.cumsum(present) - 1)[label]


def corner_patterns(image: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How often each pattern of 2 · 2 pixels occurs around the regions: (n, 16).

    Bits of a pattern are NW 1, NE 2, SW 4, SE 8: pixels with the region's label. Patterns 0 and 15 are not counted. The
    image counts as background beyond its border.
    """
    framed = np.pad(image, 1)
    beside = framed[:, 1:] != framed[:, :-1]
    at = np.flatnonzero(beside[1:] | beside[:-1] | (framed[1:, 1:] != framed[:-1, 1:]))
    row = framed.shape[1]
    at += at // (row - 1)
    flat = framed.ravel()
    four = [flat[at], flat[at + 1], flat[at + row], flat[at + row + 1]]
    counts = np.zeros(len(labels) * 16, np.int64)
    for k, own in enumerate(four):
        new = own != 0
        for earlier in four[:k]:
            new &= own != earlier
        own = own[new]
        pattern = sum((other[new] == own).astype(np.int64) << bit for bit, other in enumerate(four))
        counts += np.bincount(np.searchsorted(labels, own) * 16 + pattern, minlength=counts.size)
    return counts.reshape(-1, 16)
