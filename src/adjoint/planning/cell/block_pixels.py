"""Pixels of coloured blocks: which colour they have, what arms hide, and what an object would cover."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...lie import se3
from ...sensing.scene import depth_image, intensity_image
from ...vision.cameras import Camera, project
from ...vision.image_checks import opencv
from ...vision.locating.object_models import ObjectModel
from ...world.parts import Part
from ...world.state import World
from ...world.state.attachment_edits import holder_of

__all__: list[str] = []

_DARK = 0.15  # of red, green and blue together: too dark for a colour
_AROUND = 7  # [pixel] wide: by what arms are drawn larger than they are


def arm_pixels(camera: Camera, world: World, labels: np.ndarray, blocks: Mapping[str, Part]) -> np.ndarray:
    """Truth values (rows, columns): the pixels that arms, hands and what they hold may cover. Joints are measured.

    Pixels with the label of a block belong to it, before the arm, if nothing of the arm near them has its colour.
    """
    arms = world.scene([name for name in world.parts if holder_of(world, name) is None])
    shown = _dilated(np.isfinite(depth_image(arms, camera)))
    own = block_labels(intensity_image(arms, camera, colour=True), blocks)
    alike = np.any([(labels == k) & _dilated(own == k) for k in range(len(blocks))], axis=0)
    return shown & ((labels < 0) | alike)


def _dilated(pixels: np.ndarray) -> np.ndarray:
    cv2 = opencv("see_blocks")
    return cv2.dilate(np.uint8(pixels), np.ones((_AROUND, _AROUND), np.uint8)) > 0


def block_labels(image: np.ndarray, blocks: Mapping[str, Part]) -> np.ndarray:
    """The number (rows, columns) of the block whose colour a pixel has, or -1. Shading does not change the shares of
    red, green and blue."""
    cv2 = opencv("see_blocks")
    values = np.asarray(image, np.float32) / 255.0
    total = values.sum(axis=2)
    known = np.array([*(np.asarray(part.colour)[:3] for part in blocks.values()), [1.0, 1.0, 1.0]], np.float32)
    known /= known.sum(axis=1, keepdims=True)
    # |s - k|² is least where 2 s·k - |k|² is largest, s = values / total.
    likeness = 2 * values @ known.T - total[..., None] * (known * known).sum(axis=1)
    nearest = likeness.argmax(axis=2)
    labels = np.where((nearest < len(blocks)) & (total > _DARK), nearest, -1)
    solid = np.zeros(labels.shape, bool)
    for k in range(len(blocks)):  # single pixels of a colour are noise, or borders between two others
        solid |= cv2.morphologyEx(np.uint8(labels == k), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0
    return np.where(solid, labels, -1)


def with_neighbours(own: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Pixels of a colour, with those beside them that something known hides."""
    cv2 = opencv("see_blocks")
    count, parts = cv2.connectedComponents(np.uint8(own | hidden))
    return np.isin(parts, np.unique(parts[own])) & (own | hidden) if count else own


def outlines(camera: Camera, model: ObjectModel, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Truth values (rows, columns): the pixels that an object at T covers for sure, and those that it may cover."""
    cv2 = opencv("see_blocks")
    drawn, around = np.uint8(covered(camera, model, T)), np.ones((5, 5), np.uint8)
    return cv2.erode(drawn, around) > 0, cv2.dilate(drawn, around) > 0


def covered(camera: Camera, model: ObjectModel, T: np.ndarray, window: tuple[slice, slice] | None = None) -> np.ndarray:
    """Truth values (rows, columns): the pixels that an object at T covers, in the image or in a window of it."""
    cv2 = opencv("see_blocks")
    rows, columns = window or (slice(0, camera.size[1]), slice(0, camera.size[0]))
    hull = cv2.convexHull(project(camera, se3.act(T, model.vertices)).astype(np.float32)) - [columns.start, rows.start]
    drawn = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.uint8)
    return cv2.fillConvexPoly(drawn, np.rint(hull).astype(np.int32), 1) > 0


def window_of(pixels: np.ndarray, margin: int) -> tuple[slice, slice]:
    """The rows and columns in which pixels (rows, columns) are true, with a margin around them."""
    found = []
    for axis in (1, 0):
        where = np.flatnonzero(pixels.any(axis=axis))
        found.append(slice(max(0, int(where[0]) - margin), min(pixels.shape[1 - axis], int(where[-1]) + 1 + margin)))
    return found[0], found[1]
