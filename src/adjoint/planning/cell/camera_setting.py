"""`calibrate_cell`: the lens of the camera and its place beside the arm, from photos of a board in the hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError, SolveError
from ...inverse import inverse_kinematics, within_limits
from ...lie import se3
from ...model.input_checks import count
from ...randomness import Rng, generator
from ...sensing.scene import DirectionalLight, Scene, Textured, intensity_image
from ...vision.arm_cameras import calibrate_camera_beside_arm
from ...vision.cameras import Camera, calibrate_camera, chessboard_corners, chessboard_points, looking_at, rays, visible
from ...world.state import World
from ..limits import check_kind
from .cell_scenes import ROBOT, VIEWED, VIEWPOINT, CellScene

__all__ = ["CellCalibration", "calibrate_cell"]

CORNERS, SPACING = (8, 5), 0.026  # inner corners of the board, and their distance [m]
_HELD = np.array([0.02, -0.03, 0.4, 0.004, -0.006, 0.16])  # exp of it is how the hand holds the board; nobody knows
_ABOUT = Camera.pinhole((640, 480), 0.6).at(looking_at(VIEWPOINT, VIEWED))  # where the camera was put up, about
_LIGHT = DirectionalLight([-0.5, 0.1, -0.8], intensity=0.6, shadows=False)
_FAR = 0.5, 1.0  # [m] from the camera to the board
_TILT = 0.6  # [rad] of the board, away from the camera
_LEAST = 4  # photos
_TRIES = 4000


class CellCalibration(NamedTuple):
    """What the calibration of the cell's camera found, and how far it is from the truth.

    `camera` is the camera as the program knows it from now on, with its pose; `photo` and `corners` (k, 2) are one of
    the photos and what was found in it. `pixels` is the noise of a corner [pixel], `turn_error` [rad] and
    `shift_error` [m] are those of the pose, and `focal_error` is that of the focal length, as a share.
    """

    camera: Camera
    photos: int
    photo: np.ndarray
    corners: np.ndarray
    pixels: float
    turn_error: float
    shift_error: float
    focal_error: float

    def __repr__(self) -> str:
        return (
            f"<CellCalibration: {self.photos} photos, {self.pixels:.2f} pixels; the camera is "
            f"{1e3 * self.turn_error:.2f} mrad and {1e3 * self.shift_error:.2f} mm, its focal length "
            f"{100 * self.focal_error:.3f} % off>"
        )


def calibrate_cell(scene: CellScene, *, photos: int = 16, noise: float = 0.005, rng: Rng = 0) -> CellCalibration:
    """Find the lens and the place of the cell's camera: the arm shows it a chessboard, turned in many ways.

        found = calibrate_cell(random_cell(rng=0))
        found.camera                                                # what `see_blocks` needs

    At least 4 `photos` are needed. `noise` is the standard deviation of every pixel, where 1 is white. The camera is
    used for its photos alone; its true numbers serve to tell the errors.
    """
    check_kind("calibrate_cell", scene, CellScene, "the first argument")
    if count(photos, "calibrate_cell: 'photos'") < _LEAST:
        raise ArgumentError(f"calibrate_cell: 'photos' must be {_LEAST} or more, got {photos}")
    rng = generator(rng, "calibrate_cell")
    q = _stations(scene.told, photos, rng)
    images = [_photo(scene, x, noise, rng) for x in q]
    corners = np.array([chessboard_corners(image, CORNERS) for image in images])
    seen = np.isfinite(corners).all(axis=(1, 2))
    if seen.sum() < _LEAST:
        raise SolveError(f"calibrate_cell: the board was found in {seen.sum()} of {photos} photos; {_LEAST} are needed")
    points, true = chessboard_points(CORNERS, SPACING), scene.camera
    lens = calibrate_camera(
        points, corners[seen], true.size, loss="tukey", estimate=("f", "cx", "cy", "k1", "k2")
    )  # fmt: skip
    robot = scene.told.robots[ROBOT]
    placed = calibrate_camera_beside_arm(
        robot.robot, robot.tool, q[seen], corners[seen], points, lens.camera, estimate=("base", "tool"), loss="tukey"
    )
    camera = placed.camera.at(scene.told.pose(ROBOT) @ placed.T_base_camera)
    off = se3.log(se3.inverse(true.T_world_camera) @ camera.T_world_camera)
    first = int(np.flatnonzero(seen)[0])
    return CellCalibration(
        camera, int(seen.sum()), images[first], corners[first], placed.noise,
        float(np.linalg.norm(off[:3])), float(np.linalg.norm(off[3:])),
        float(abs(camera.matrix[0, 0] / true.matrix[0, 0] - 1)),
    )  # fmt: skip


def _stations(world: World, photos: int, rng: np.random.Generator) -> np.ndarray:
    """Configurations (photos, n) at which the arm shows the board to where the camera should be."""
    rim = SPACING * np.array([[x, y, 0] for x in (-5, 5) for y in (-3.5, 3.5)])
    known, base, found = world.robots[ROBOT], se3.inverse(world.pose(ROBOT)), []
    for _ in range(_TRIES):
        ray = rays(_ABOUT, rng.uniform(0, 1, 2) * _ABOUT.size)
        spot = VIEWPOINT + rng.uniform(*_FAR) * ray.directions
        board = looking_at(spot, VIEWPOINT, up=[*rng.normal(size=2), 1.0])  # z of the board looks at the camera
        board = board @ se3.exp([*rng.uniform(-_TILT, _TILT, 2), rng.uniform(-np.pi, np.pi), 0, 0, 0])
        if not visible(_ABOUT, se3.act(board, rim)).all():
            continue
        sought = inverse_kinematics(known.robot, base @ board @ se3.exp(-_HELD), known.tool)
        sought = within_limits(known.robot, sought)
        q = sought.q[sought.exact]
        if len(q):
            found.append(q[np.argmin(np.abs(q).sum(axis=1))])
        if len(found) == photos:
            return np.array(found)
    raise SolveError(f"calibrate_cell: the arm can show the board in {len(found)} ways only; {photos} were asked for")


def _photo(scene: CellScene, q: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """What the camera sees of the board in the hand, with the arm at q."""
    world = scene.told.set_configuration(ROBOT, q)
    squares = np.pad(np.indices((CORNERS[1] + 1, CORNERS[0] + 1)).sum(axis=0) % 2, 1, constant_values=1)
    size = SPACING * np.array([CORNERS[0] + 3, CORNERS[1] + 3])
    at = world.pose(f"{ROBOT}.tool") @ se3.exp(_HELD)
    solids = [*world.scene(), Textured(size, squares, T_world_solid=at)]
    return intensity_image(
        Scene(solids), scene.camera, _LIGHT, ambient=0.35, samples=3, noise=noise, rng=rng
    )  # fmt: skip
