"""The edges of an image: the strength of its gradient, and the nearest edge along a normal, between pixels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..image_checks import opencv

__all__ = ["EdgeMap", "coarseness", "edge_map", "offsets_along"]

_EUCLIDEAN = 2  # cv2.DIST_L2
_BLUR = 1.0  # [pixel] the standard deviation of the smoothing before the gradient is taken
_NOISE_EDGES = 6.0  # an edge is this many times stronger than the noise
_QUARTER_TO_MEDIAN = 1.55  # the ratio of the median of noise to its lowest quarter: √(ln 2 / ln (4/3))
_AROUND = 7  # [pixel] of a window: edges may be 3 pixels outside of a mask
_LEAST = 0.01  # of the range of the image: weaker edges are not looked at


_USUAL = 800  # [pixel] up to this width or height, images are searched at the usual spacing


def coarseness(size: tuple[int, int]) -> float:
    """How much coarser than usual a large image is searched, 1 or more: its objects have more pixels, too."""
    return max(1.0, max(size) / _USUAL)


class EdgeMap(NamedTuple):
    """What is looked at to find edges: the `strength` (rows, columns) of the gradient, and the `least` one."""

    strength: np.ndarray  # float32
    least: float
    distance: np.ndarray  # (rows, columns) float32, distance to the nearest edge pixel


def edge_map(
    levels: np.ndarray, caller: str, background: np.ndarray | None = None, there: np.ndarray | None = None
) -> EdgeMap:
    """The `EdgeMap` of an image (rows, columns, channels) of float32 from 0 to 1; channels are looked at together.

    An edge of the `background`, an image of the empty table, is none of an object: it is in the image, but not in what
    the image differs by; where an object hides it, it is the other way around. So the weaker one of both gradients
    counts. If it is known where objects are `there` (rows, columns), the noise is also looked for among them, and edges
    are looked for there and a little around.
    """
    across, down = _slopes(levels, caller)
    strength = _strength(across, down)
    if background is not None:
        strength = np.minimum(strength, _strength(*_slopes(levels - background, caller)))
    # Most pixels show no edge, so the median is that of the noise.
    noise = float(np.median(strength))
    if there is not None and there.any():
        noise = min(noise, _QUARTER_TO_MEDIAN * float(np.quantile(strength[there], 0.25)))
        strength = strength * opencv(caller).dilate(np.uint8(there), np.ones((_AROUND, _AROUND), np.uint8))
    least = max(_NOISE_EDGES * noise, _LEAST)
    ridge = (strength > least) & _is_ridge(strength, across, down)
    if not ridge.any():
        return EdgeMap(strength, least, np.full(strength.shape, np.inf, np.float32))
    return EdgeMap(strength, least, opencv(caller).distanceTransform(np.uint8(~ridge), _EUCLIDEAN, 5))


def _slopes(levels: np.ndarray, caller: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The slopes to the right and downwards of each smoothed channel."""
    cv2 = opencv(caller)
    channels = [levels[..., k] for k in range(levels.shape[2])]
    smooth = [cv2.GaussianBlur(x, (0, 0), _BLUR, borderType=cv2.BORDER_REPLICATE) for x in channels]
    across = [cv2.Sobel(x, cv2.CV_32F, 1, 0, scale=0.125, borderType=cv2.BORDER_REPLICATE) for x in smooth]
    down = [cv2.Sobel(x, cv2.CV_32F, 0, 1, scale=0.125, borderType=cv2.BORDER_REPLICATE) for x in smooth]
    return across, down


def _strength(across: list[np.ndarray], down: list[np.ndarray]) -> np.ndarray:
    return np.sqrt(np.max([x * x + y * y for x, y in zip(across, down, strict=True)], axis=0))


def _is_ridge(strength: np.ndarray, across: list[np.ndarray], down: list[np.ndarray]) -> np.ndarray:
    """Where the strength is largest across the edge: beside the pixel, or above and below it, whichever is steeper."""
    x, y = np.max(np.abs(across), axis=0), np.max(np.abs(down), axis=0)
    padded = np.pad(strength, 1, mode="edge")
    beside = (strength >= padded[1:-1, :-2]) & (strength >= padded[1:-1, 2:])
    above = (strength >= padded[:-2, 1:-1]) & (strength >= padded[2:, 1:-1])
    return np.where(x >= y, beside, above)


def offsets_along(edges: EdgeMap, pixels: np.ndarray, normals: np.ndarray, reach: float, caller: str) -> np.ndarray:
    """How far (k,) [pixel] along their normals (k, 2) edges are from pixels (k, 2); NaN if there is none in reach.

    Of several edges within `reach` [pixel] the nearest counts. The strength across a smoothed edge is nearly a normal
    distribution, so the top of the parabola through three of its logarithms is its place between the pixels.
    """
    cv2 = opencv(caller)
    places = np.arange(-np.ceil(reach) - 1, np.ceil(reach) + 2)
    where = (pixels[:, None] + places[:, None] * normals[:, None]).astype(np.float32)
    profile = cv2.remap(
        edges.strength, where[..., 0], where[..., 1], cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_CONSTANT, borderValue=0
    ).astype(float)
    low, top, high = profile[:, :-2], profile[:, 1:-1], profile[:, 2:]
    peak = (top >= low) & (top > high) & (top > edges.least)
    distance = np.where(peak, np.abs(places[1:-1]), np.inf)
    best = np.argmin(distance, axis=1)
    rows = np.arange(len(pixels))
    a, b, c = (np.log(np.maximum(x[rows, best], 1e-9)) for x in (low, top, high))
    bend = a - 2 * b + c
    shift = 0.5 * (a - c) / np.where(bend < 0, bend, -1.0)
    found = places[1:-1][best] + np.clip(shift, -0.5, 0.5)
    return np.where(np.isfinite(distance[rows, best]) & (np.abs(found) <= reach), found, np.nan)
