"""Templates: where a small image is in a larger one, by the correlation coefficient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, positive, truth
from ..image_checks import gray, opencv

__all__ = ["TemplateMatches", "correlation_coefficients", "match_template"]


class TemplateMatches(NamedTuple):
    """Where a template was found: `centers` (k, 2), pixels (u, v) of its middle, and `coefficients` (k,), best first.

    >>> TemplateMatches(np.zeros((0, 2)), np.zeros(0)).coefficients.size
    0
    """

    centers: np.ndarray
    coefficients: np.ndarray


def correlation_coefficients(image, template) -> np.ndarray:
    """The correlation coefficient γ of a template (h, w) with each window of an image (rows, columns), by OpenCV.

    The result is (rows - h + 1, columns - w + 1), float32, in [-1, 1]: element [v, u] belongs to the window whose
    top-left pixel is (u, v). Its centre, by which the textbook counts, is (u + (w - 1)/2, v + (h - 1)/2). It is 1 where
    the window is a·template + b with a > 0, and 0 where the window is flat (its variance is below 10⁻⁶ of its mean
    square), as there is nothing to correlate. OpenCV computes in single precision.

        >>> image = np.zeros((4, 4), np.uint8)
        >>> image[1:3, 1:3] = [[15, 20], [25, 30]]
        >>> correlation_coefficients(image, np.array([[1, 2], [3, 4]], np.uint8)).round(4)[1].tolist()
        [0.6324999928474426, 1.0, -0.2581999897956848]

    Reference: Fu, Gonzalez & Lee (1987), (8.5-5); `cv2.matchTemplate` with TM_CCOEFF_NORMED.
    """
    caller = "correlation_coefficients"
    cv2, f, w = opencv(caller), gray(image, caller), gray(template, caller)
    if w.shape[0] > f.shape[0] or w.shape[1] > f.shape[1]:
        raise ArgumentError(f"{caller}: the template {w.shape} is larger than the image {f.shape}")
    f, w = _single(f, caller), _single(w, caller)
    if f.dtype != w.dtype:
        f, w = f.astype(np.float32), w.astype(np.float32)
    if not np.isfinite(w).all() or w.min() == w.max():
        raise ArgumentError(f"{caller}: the template is flat, or has a NaN; its intensities must differ")
    # OpenCV itself gives 0 for windows whose variance is only what rounding leaves.
    return cv2.matchTemplate(f, w, cv2.TM_CCOEFF_NORMED)


def _single(image: np.ndarray, caller: str) -> np.ndarray:
    """The image as uint8 or float32, the two that OpenCV correlates."""
    if image.dtype in (np.uint8, np.float32):
        return image
    if image.dtype == np.bool_:
        return image.view(np.uint8)
    with np.errstate(over="ignore"):
        single = image.astype(np.float32)
    if image.dtype.kind == "f" and image.size and not np.isfinite(single).all():
        raise ArgumentError(f"{caller}: an image has a NaN, an infinity, or a number beyond single precision")
    return single


def match_template(
    image, template, *, accept: float = 0.9, most: int = 1, apart: float | None = None, subpixel: bool = True
) -> TemplateMatches:
    """Where a template (h, w) is in an image (rows, columns): up to `most` windows with coefficients from `accept` on.

    `centers` are pixels (u, v) of the template's middle, (w - 1)/2 and (h - 1)/2 from its first pixel; with `subpixel`,
    they are the peaks of quadratic surfaces through the neighbouring coefficients. Windows are found one by one, the
    best first, at least `apart` [pixel] from each other along u or v: by default half of the template's size. Objects
    that are turned or have another size do not match.

        >>> image = np.zeros((20, 30))
        >>> image[5:9, 10:16] = np.arange(24).reshape(4, 6)
        >>> match_template(image, np.arange(24).reshape(4, 6), subpixel=False).centers.tolist()
        [[12.5, 6.5]]

    Reference: Fu, Gonzalez & Lee (1987), section 8.5.1, Fig. 8.51.
    """
    gamma = correlation_coefficients(image, template)
    n, smooth = count(most, "match_template: most"), truth(subpixel, "match_template: subpixel")
    if not isinstance(accept, int | float | np.integer | np.floating) or not -1 <= accept <= 1:
        raise ArgumentError(f"match_template: 'accept' is {accept!r:.60}; a coefficient from -1 to 1 is needed")
    h, w = np.shape(template)
    reach = (h / 2, w / 2) if apart is None else (positive(apart, "match_template: 'apart'", or_zero=True),) * 2
    left, centers, found = gamma.copy() if n > 1 else gamma, [], []
    while len(found) < n:
        row, column = divmod(int(left.argmax()), left.shape[1])
        best = float(left[row, column])
        if not best >= accept - 1e-6:  # what single precision leaves of a perfect match
            break
        off = _peak(gamma, row, column) if smooth else (0.0, 0.0)
        centers.append((column + off[0] + (w - 1) / 2, row + off[1] + (h - 1) / 2))
        found.append(best)
        if n > 1:
            (top, bottom), (first, last) = (_around(x, far) for x, far in zip((row, column), reach, strict=True))
            left[top:bottom, first:last] = -np.inf
    return TemplateMatches(np.array(centers).reshape(-1, 2), np.array(found))


def _around(place: int, reach: float) -> tuple[int, int]:
    """The places that are nearer than `reach`, at least the place itself."""
    far = max(int(np.ceil(reach)) - 1, 0)
    return max(place - far, 0), place + far + 1


def _peak(gamma: np.ndarray, row: int, column: int) -> tuple[float, float]:
    """How far from a largest element (Δu, Δv) the quadratic surface through it and its neighbours has its peak."""
    inner = np.array([0 < place < size - 1 for place, size in zip((column, row), gamma.shape[::-1], strict=True)])
    near = (
        np.clip(np.arange(-1, 2) + place, 0, size - 1) for place, size in zip((row, column), gamma.shape, strict=True)
    )
    g = gamma[np.ix_(*near)].astype(float)
    slope = np.array([g[1, 2] - g[1, 0], g[2, 1] - g[0, 1]]) / 2
    mixed = (g[2, 2] - g[2, 0] - g[0, 2] + g[0, 0]) / 4
    bend = np.array([[g[1, 2] - 2 * g[1, 1] + g[1, 0], mixed], [mixed, g[2, 1] - 2 * g[1, 1] + g[0, 1]]])
    # Along an axis on which a neighbour is missing, the peak stays where it is.
    slope, bend = slope * inner, np.where(np.outer(inner, inner), bend, -np.eye(2))
    if bend[0, 0] >= 0 or np.linalg.det(bend) <= 0:
        return 0.0, 0.0
    du, dv = np.clip(-np.linalg.solve(bend, slope), -0.75, 0.75).tolist()
    return du, dv
