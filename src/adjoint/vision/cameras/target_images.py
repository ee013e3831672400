"""Targets of calibration in images: chessboards, grids of circles, and ChArUco boards, found by OpenCV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count, positive
from ...sensing.scene.lenses import image_size
from ..image_checks import opencv
from .marker_images import dictionary_of, eight_bit

__all__ = [
    "CharucoBoard",
    "charuco_corners",
    "charuco_image",
    "charuco_points",
    "chessboard_corners",
    "chessboard_points",
    "circle_grid_centers",
    "circle_grid_points",
]

_WINDOW = 0.35  # the window of the refinement, from its middle, in distances between corners: neighbours stay outside


# --- chessboards ------------------------------------------------------------------------------------------------------


def chessboard_points(shape, spacing: float) -> np.ndarray:
    """The inner corners (n, 3) [m] of a chessboard with `shape` (columns, rows) of them, in the order of OpenCV.

        >>> chessboard_points((3, 2), 0.1)[:, :2].tolist()
        [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [0.0, 0.1], [0.1, 0.1], [0.2, 0.1]]

    `spacing` [m] is the length of a square's side. The board is z = 0 of the target's frame, x along rows of corners.
    """
    columns, rows = _grid_shape(shape, "chessboard_points")
    side = positive(spacing, "chessboard_points: spacing [m]")
    v, u = np.divmod(np.arange(columns * rows), columns)
    return side * np.column_stack([u, v, np.zeros(columns * rows)])


def chessboard_corners(image, shape) -> np.ndarray:
    """The pixels (n, 2) of the `shape` (columns, rows) inner corners of a chessboard; NaN if it is not found.

        >>> board = np.kron(np.indices((7, 8)).sum(0) % 2, np.ones((40, 40)))
        >>> image = np.pad(255 * board, 40, constant_values=255).astype(np.uint8)
        >>> np.ptp(chessboard_corners(image, (7, 6)), axis=0).round(1).tolist()
        [240.0, 200.0]

    `image` is gray or RGB, of any depth. All corners are found or none, so views without the board can be given to
    `calibrate_camera` as they are. Corners go along rows, as in `chessboard_points`, and the square between the first
    four is dark; but a board that looks the same when it is turned by 180° (both numbers odd, or both even) may begin
    at either end. OpenCV finds the corners
    (`findChessboardCorners`, or `findChessboardCornersSB` where it fails) and refines them (`cornerSubPix`), with
    windows that do not reach the neighbours of a corner.
    """
    cv2 = opencv("chessboard_corners")
    columns, rows = _grid_shape(shape, "chessboard_corners")
    picture = eight_bit(image, "chessboard_corners")
    found, corners = cv2.findChessboardCorners(picture, (columns, rows))
    if not found:
        found, corners = cv2.findChessboardCornersSB(picture, (columns, rows), flags=cv2.CALIB_CB_NORMALIZE_IMAGE)
        return _dark_first(picture, _pixels(corners if found else None, columns * rows), columns, rows)
    grid = corners.reshape(rows, columns, 2)
    steps = [np.linalg.norm(np.diff(grid, axis=k), axis=2).min() for k in (0, 1)]
    half = int(np.clip(_WINDOW * min(steps), 2, 15))
    refined = cv2.cornerSubPix(
        picture,
        corners.astype(np.float32),
        (half, half),
        (-1, -1),
        (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 50, 1e-3),
    )
    return _dark_first(picture, _pixels(refined, columns * rows), columns, rows)


def _dark_first(picture: np.ndarray, corners: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The corners (n, 2), from the other end if that makes the square between the first four of them a dark one."""
    if (columns + rows) % 2 == 0 or not np.isfinite(corners).all():
        return corners
    grid = corners.reshape(rows, columns, 2)
    middles = [np.rint(part.mean(axis=(0, 1))).astype(int) for part in (grid[:2, :2], grid[-2:, -2:])]
    first, last = (float(picture[v, u]) for u, v in middles)
    return corners[::-1].copy() if first > last else corners


def _pixels(corners: Any, n: int) -> np.ndarray:
    """OpenCV's corners, (n, 1, 2) or (n, 2) by version, as floats (n, 2); NaN if there are none."""
    return np.full((n, 2), np.nan) if corners is None else np.asarray(corners, float).reshape(n, 2)


def _grid_shape(shape, caller: str) -> tuple[int, int]:
    columns, rows = image_size(shape, caller)
    if columns < 2 or rows < 2:
        raise ArgumentError(f"{caller}: 'shape' is {shape}; (columns, rows) must be 2 or more each")
    return columns, rows


# --- grids of circles -------------------------------------------------------------------------------------------------


def circle_grid_points(shape, spacing: float, *, asymmetric: bool = False) -> np.ndarray:
    """The centres (n, 3) [m] of a grid of circles with `shape` (columns, rows) of them, in the order of OpenCV.

        >>> circle_grid_points((2, 3), 1.0, asymmetric=True)[:, :2].tolist()
        [[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [3.0, 1.0], [0.0, 2.0], [2.0, 2.0]]

    `spacing` [m] is the distance of neighbours along the axes. In asymmetric grids every other row is shifted by
    `spacing`, and circles of a row are 2 `spacing` apart.
    """
    columns, rows = _grid_shape(shape, "circle_grid_points")
    side = positive(spacing, "circle_grid_points: spacing [m]")
    v, u = np.divmod(np.arange(columns * rows), columns)
    u = 2 * u + v % 2 if asymmetric else u
    return side * np.column_stack([u, v, np.zeros(columns * rows)])


def circle_grid_centers(image, shape, *, asymmetric: bool = False) -> np.ndarray:
    """The pixels (n, 2) of the centres of dark circles in a grid with `shape` (columns, rows); NaN if it is not found.

        >>> v, u = np.indices((200, 250))
        >>> image = np.where(((u % 50 - 25) ** 2 + (v % 50 - 25) ** 2) < 150, 0, 255).astype(np.uint8)
        >>> circle_grid_centers(image, (5, 4)).shape
        (20, 2)

    OpenCV finds them (`findCirclesGrid`). The middle of a circle's image is not the image of its middle, which costs
    accuracy where circles are large in the image; `circle_poses` has no such bias.
    """
    cv2 = opencv("circle_grid_centers")
    columns, rows = _grid_shape(shape, "circle_grid_centers")
    picture = eight_bit(image, "circle_grid_centers")
    flags = cv2.CALIB_CB_ASYMMETRIC_GRID if asymmetric else cv2.CALIB_CB_SYMMETRIC_GRID
    found, centers = cv2.findCirclesGrid(picture, (columns, rows), flags=flags)
    return _pixels(centers if found else None, columns * rows)


# --- ChArUco ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CharucoBoard:
    """A chessboard with markers in its white squares, which tell its corners apart even if only a part is seen.

        >>> CharucoBoard((7, 5), square=0.03, marker=0.02).squares
        (7, 5)

    `squares` is (columns, rows) of squares, `square` and `marker` [m] are the sides of squares and markers, and
    `dictionary` is a name of `marker_dictionaries`.
    """

    squares: tuple[int, int]
    square: float
    marker: float
    dictionary: str = "4x4_250"

    def __post_init__(self):
        object.__setattr__(self, "squares", _grid_shape(self.squares, "CharucoBoard"))
        square, marker = (positive(getattr(self, n), f"CharucoBoard: {n} [m]") for n in ("square", "marker"))
        if marker >= square:
            raise ArgumentError(f"CharucoBoard: 'marker' is {marker} m; it must be smaller than a square, {square} m")

    def _opencv(self, caller: str) -> Any:
        aruco = opencv(caller).aruco
        return aruco.CharucoBoard(self.squares, self.square, self.marker, dictionary_of(self.dictionary, caller))


def charuco_points(board: CharucoBoard) -> np.ndarray:
    """The inner corners (n, 3) [m] of a `CharucoBoard`, in the order of `charuco_corners`.

    >>> charuco_points(CharucoBoard((3, 3), 0.03, 0.02)).shape
    (4, 3)
    """
    return np.asarray(board._opencv("charuco_points").getChessboardCorners(), float)


def charuco_image(board: CharucoBoard, pixels_per_square: int = 100) -> np.ndarray:
    """The image (rows, columns) of a `CharucoBoard` to print, 8-bit gray.

    >>> charuco_image(CharucoBoard((4, 3), 0.03, 0.02), 50).shape
    (150, 200)
    """
    n = count(pixels_per_square, "charuco_image: pixels_per_square")
    columns, rows = board.squares
    return np.asarray(board._opencv("charuco_image").generateImage((columns * n, rows * n)))


def charuco_corners(image, board: CharucoBoard) -> np.ndarray:
    """The pixels (n, 2) of the inner corners of a `CharucoBoard` in an image; NaN for those that are not seen.

    >>> board = CharucoBoard((5, 4), 0.03, 0.02)
    >>> pixels = charuco_corners(np.pad(charuco_image(board), 50, constant_values=255), board)
    >>> bool(np.isfinite(pixels).all())
    True
    """
    caller = "charuco_corners"
    aruco = opencv(caller).aruco
    columns, rows = board.squares
    found = np.full(((columns - 1) * (rows - 1), 2), np.nan)
    corners, ids = aruco.CharucoDetector(board._opencv(caller)).detectBoard(eight_bit(image, caller))[:2]
    if ids is not None and len(ids):
        found[np.ravel(ids)] = np.asarray(corners, float).reshape(-1, 2)
    return found
