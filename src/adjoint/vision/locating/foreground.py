"""What in an image is not the background: objects on a table that is about equally bright everywhere."""

from __future__ import annotations

import numpy as np

from ..image_checks import opencv

__all__ = ["differs_from", "foreground", "smooth_background"]

_ROUNDS = 8  # of fitting the background without what does not belong to it
_SIGMAS = 5.0  # a pixel differs if it is this many standard deviations off
_LEAST = 0.02  # of the range of the image; smaller differences are never objects
_NOISY = 0.015  # of the range of the image: with more noise it is smoothed, too
_BLUR = 1.2  # [pixel]
_POINTS = 4000  # pixels that are enough to fit the background


def foreground(levels: np.ndarray, background: np.ndarray | None, caller: str) -> np.ndarray:
    """Truth values (rows, columns): where the image (rows, columns, channels) differs from its background.

    `background` is an image of the empty table of the same shape; None stands for a smooth one, see
    `smooth_background`. Single pixels are left out, and single holes are filled.
    """
    cv2 = opencv(caller)
    empty = smooth_background(levels) if background is None else background
    mask = np.uint8(differs_from(levels, empty, caller))
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, cross)
    return cv2.morphologyEx(mask, cv2.MORPH_CLOSE, cross).astype(bool)


def differs_from(levels: np.ndarray, background: np.ndarray, caller: str) -> np.ndarray:
    """Truth values (rows, columns): where a channel is off by more than noise explains."""
    off = levels - background
    sigma = _deviation(off)
    found = np.any(np.abs(off) > np.maximum(_SIGMAS * sigma, _LEAST), axis=2)
    if sigma.max() > _NOISY:  # means of neighbours have less noise, and tell faint objects from it
        smooth = opencv(caller).GaussianBlur(off, (0, 0), _BLUR).reshape(off.shape)
        found |= np.any(np.abs(smooth) > np.maximum(_SIGMAS * _deviation(smooth), _LEAST), axis=2)
    return found


def _deviation(off: np.ndarray) -> np.ndarray:
    """The standard deviation (channels,) of most pixels, which are background."""
    return 1.4826 * np.median(np.abs(off[::4, ::4]).reshape(-1, off.shape[2]), axis=0)


def smooth_background(levels: np.ndarray) -> np.ndarray:
    """The quadratic surface (rows, columns, channels) nearest to the border of the image, and to what agrees with it.

    Each channel is fitted by least squares to pixels that are spread over the image; those that are farther off than
    noise explains are left out, and the fit is repeated. It begins with the border, where objects are rare.
    """
    rows, columns, channels = levels.shape
    step = max(1, int(np.sqrt(rows * columns / _POINTS)))
    v, u = np.mgrid[0:rows:step, 0:columns:step]
    points = _powers(u.ravel() / columns, v.ravel() / rows)
    sampled = levels[::step, ::step].reshape(-1, channels)
    rim = max(1, min(rows, columns) // 12)
    at_border = ((u < rim) | (v < rim) | (u >= columns - rim) | (v >= rows - rim)).ravel()
    surface = np.empty_like(levels)
    grid = _powers(np.arange(columns)[None, :] / columns, np.arange(rows)[:, None] / rows)
    for k in range(channels):
        kept, fit = at_border, np.zeros(points.shape[1])
        for _ in range(_ROUNDS):
            fit = np.linalg.lstsq(points[kept], sampled[kept, k], rcond=None)[0]
            off = np.abs(sampled[:, k] - points @ fit)
            nearby = max(3 * 1.4826 * float(np.median(off[kept])), _LEAST / 2)
            kept = off <= nearby
            if kept.sum() < 2 * points.shape[1]:
                kept = at_border
                break
        surface[..., k] = grid @ fit
    return surface


def _powers(u, v) -> np.ndarray:
    """1, u, v, u², u v, v² along a last axis."""
    u, v = np.broadcast_arrays(u, v)
    return np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=-1)
