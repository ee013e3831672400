"""Square markers with numbers (ArUco, AprilTag) in images, found by OpenCV."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, nearest
from ...model.input_checks import count, positive
from ..image_checks import gray, opencv

__all__ = [
    "Markers",
    "dictionary_of",
    "eight_bit",
    "find_markers",
    "marker_dictionaries",
    "marker_image",
    "marker_points",
]


class Markers(NamedTuple):
    """Markers in an image: their numbers, and the corners of each, clockwise in the printed marker from upper left."""

    ids: np.ndarray  # (n,) in ascending order
    corners: np.ndarray  # (n, 4, 2) pixels (u, v)


def marker_dictionaries() -> tuple[str, ...]:
    """The names of the dictionaries of markers that OpenCV knows.

    >>> "4x4_50" in marker_dictionaries() and "apriltag_36h11" in marker_dictionaries()
    True
    """
    names = (name[5:].lower() for name in dir(opencv("marker_dictionaries").aruco) if name.startswith("DICT_"))
    return tuple(sorted(set(names)))


def dictionary_of(name: str, caller: str) -> Any:
    """OpenCV's dictionary with one of the names of `marker_dictionaries`."""
    aruco = opencv(caller).aruco
    known = {key[5:].lower(): key for key in dir(aruco) if key.startswith("DICT_")}
    if not isinstance(name, str) or name.lower() not in known:
        raise ArgumentError(f"{caller}: dictionary is {name!r:.60}; {nearest(name, sorted(known))}")
    return aruco.getPredefinedDictionary(getattr(aruco, known[name.lower()]))


def marker_image(marker_id: int, dictionary: str = "4x4_50", *, size: int = 200, margin: int = 0) -> np.ndarray:
    """The image of one marker to print, 8-bit gray: `size` pixels wide, with a white `margin` [pixels] around it.

        >>> marker_image(7, size=120, margin=20).shape
        (160, 160)

    A marker needs a white margin to be found.
    """
    book = dictionary_of(dictionary, "marker_image")
    number, wide = count(marker_id, "marker_image: marker_id"), count(size, "marker_image: size")
    most, bits = len(book.bytesList), book.markerSize + 2
    if number >= most:
        raise ArgumentError(f"marker_image: marker_id is {number}; dictionary '{dictionary}' has 0 to {most - 1}")
    if wide < bits:
        raise ArgumentError(f"marker_image: size is {wide} pixels; a marker of '{dictionary}' has {bits} cells across")
    image = opencv("marker_image").aruco.generateImageMarker(book, number, wide)
    return np.pad(image, count(margin, "marker_image: margin"), constant_values=255)


def marker_points(length: float) -> np.ndarray:
    """The corners (4, 3) [m] of a marker with sides of `length` [m] in its own frame, in the order of `find_markers`.

        >>> marker_points(0.2)[:2]
        array([[-0.1,  0.1,  0. ],
               [ 0.1,  0.1,  0. ]])

    x points right and y up in the printed marker, and z out of it, towards the one who looks.
    """
    half = positive(length, "marker_points: length [m]") / 2
    return half * np.array([[-1.0, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]])


def find_markers(image, dictionary: str = "4x4_50", *, refine: bool = True) -> Markers:
    """The square markers of a `dictionary` in an image: `Markers` with their numbers and corners.

        >>> find_markers(marker_image(7, size=120, margin=40)).ids
        array([7])

    `image` is gray or RGB, of any depth. Dictionaries are those of ArUco ("4x4_50", "6x6_250", ...) and AprilTag
    ("apriltag_36h11", ...): see `marker_dictionaries`. OpenCV finds them, and with `refine` it moves the corners to
    where edges meet, to a fraction of a pixel. `marker_poses` gives their poses.
    """
    cv2 = opencv("find_markers")
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX if refine else cv2.aruco.CORNER_REFINE_NONE
    detector = cv2.aruco.ArucoDetector(dictionary_of(dictionary, "find_markers"), settings)
    corners, ids = detector.detectMarkers(eight_bit(image, "find_markers"))[:2]
    if ids is None or not len(ids):
        return Markers(np.zeros(0, int), np.zeros((0, 4, 2)))
    numbers = np.ravel(ids).astype(int)
    order = np.argsort(numbers, kind="stable")
    return Markers(numbers[order], np.asarray(corners, float).reshape(-1, 4, 2)[order])


def eight_bit(image, caller: str) -> np.ndarray:
    """The image as 8-bit gray levels: itself if it is, else a copy with its range stretched to 0 ... 255."""
    found = np.asarray(image)
    if found.ndim == 3 and found.shape[2] == 3 and found.dtype == np.uint8 and found.size:
        cv2 = opencv(caller)
        return cv2.cvtColor(np.ascontiguousarray(found), cv2.COLOR_RGB2GRAY)
    if found.ndim == 3 and found.shape[2] == 3 and found.dtype.kind in "uif" and found.size:
        found = found @ np.array([0.299, 0.587, 0.114])
    found = gray(found, caller)
    if found.dtype == np.uint8:
        return np.ascontiguousarray(found)
    found = found.astype(float)
    low, high = (float(x) for x in (np.nanmin(found), np.nanmax(found)))
    if not np.isfinite([low, high]).all():
        raise ArgumentError(f"{caller}: the image contains infinity, or nothing but NaN")
    return np.nan_to_num((found - low) * (255 / (high - low) if high > low else 0.0)).round().astype(np.uint8)
