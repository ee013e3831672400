"""`draw_robot`: pictures of robots for papers, as seen from far away. They need matplotlib, the extra `[plot]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..extras import package
from ..kinematics.center import center_of_mass as center_of_mass_at
from ..kinematics.forward import forward_kinematics
from ..model.input_checks import floats, positive, truth
from ..model.needs import need_robot
from ..model.robot import Robot
from .actors import configurations
from .axes import axis_of, upright
from .robot_shapes import shapes
from .shading import corner_normals, cut, lit, rendered
from .style import house_style, new_figure

__all__ = ["draw_robot"]

_MOST = 50  # configurations in one picture
_LARGEST = 100  # [inch] of a picture; images have bounds
_GHOST = 0.72  # how much of the color of a further configuration is white
_FINE = 0.03  # longer edges, in parts of the picture, are cut in two if triangles are sorted by their distance
_PIXELS = 240  # of surfaces, in one inch
_INK = "#2b2f36"
_RED, _GREEN, _BLUE = "#d64545", "#3a9d4f", "#2f6fd0"  # x, y, z


class _Surfaces(NamedTuple):
    """Triangles in the base frame: corners and normals (m, 3, 3), colors (m, 3), and which ones are pale (m,)."""

    corners: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    pale: np.ndarray


def draw_robot(
    robot: Robot,
    q=None,
    *,
    view: tuple[float, float] = (-0.95, 0.38),
    frames: bool | Sequence[str] = False,
    axes: bool = False,
    names: bool = False,
    center_of_mass: bool = False,
    floor: bool = True,
    meshes: bool = True,
    vector: bool = False,
    size: float = 5.0,
) -> Any:
    """A picture of a robot at q (nq,), as a matplotlib `Figure`; at q (k, nq), the first in full, the others pale.

        figure = draw_robot(robot, [0.3, -0.8, 0.5, 0.0, 0.6, 0.0], axes=True)
        figure.savefig("arm.pdf")

    `view` is the azimuth and elevation [rad] from which it is seen, `size` the width and height of the picture [inch].
    `frames` draws the frames of all bodies, or those named, x red, y green, z blue; `axes` the axes of the joints;
    `names` their names; `center_of_mass` the center of mass. Without `floor`, there is no ground. The background is
    transparent. `meshes` is that of `shapes`. In .pdf and .svg files, surfaces are an image of 240 pixels per inch and
    all else is made of lines; with `vector=True`, surfaces are triangles too, which takes larger files, and edges where
    bodies cut each other are rougher.
    """
    need_robot(robot, "draw_robot")
    switches = {"axes": axes, "names": names, "center_of_mass": center_of_mass, "floor": floor, "vector": vector}
    for label, value in switches.items():
        truth(value, f"draw_robot: {label}")
    azimuth, elevation = _angles(view)
    side = positive(size, "draw_robot: size [inch]")
    if side > _LARGEST:
        raise ArgumentError(f"draw_robot: size is {side:g} inch; it must be at most {_LARGEST}")
    states, shown = _configurations(robot, q), _frame_names(robot, frames)
    R = upright(robot)
    camera = _directions(azimuth, elevation) @ R  # rows: right, up, towards the viewer
    T = [_placements(robot, state) for state in states]
    surfaces = _surfaces(robot, T, meshes)
    with house_style("draw_robot"):
        figure = new_figure("draw_robot", (side, side), facecolor="none")
        picture = figure.add_axes((0, 0, 1, 1))
        picture.set_axis_off()
        scale = _fit(picture, surfaces.corners.reshape(-1, 3) @ camera.T, 1.12 + 0.13 * (axes or names))
        if floor and robot.gravity.any():
            _floor(picture, camera @ R.T, surfaces.corners[~surfaces.pale] @ R.T, scale)
        (_sorted if vector else _image)(picture, camera, surfaces, scale, side)
        if axes or names:
            _joints(picture, camera, robot, T[0], 0.12 * scale, axes, names)
        for name in shown:
            _triad(picture, camera, forward_kinematics(robot, states[0], name), 0.11 * scale)
        if center_of_mass:
            x, y, _ = camera @ center_of_mass_at(robot, states[0])
            picture.plot(x, y, marker="o", ms=9, mfc="white", mec=_INK, mew=1.2, zorder=8)
            picture.plot(x, y, marker="+", ms=9, mec=_INK, mew=1.2, zorder=9)
    return figure


# --- arguments --------------------------------------------------------------------------------------------------------


def _configurations(robot: Robot, q) -> np.ndarray:
    """Configurations (k, nq) to draw."""
    found = configurations(robot, q, "draw_robot")
    if len(found) > _MOST:
        raise ArgumentError(f"draw_robot: q has shape {found.shape}; at most {_MOST} configurations are drawn")
    return found


def _angles(view) -> list[float]:
    angles = floats(view)
    if angles.shape != (2,) or not np.isfinite(angles).all():
        raise ArgumentError(f"draw_robot: view must be an azimuth and an elevation [rad], got {view!r}")
    return angles.tolist()


def _frame_names(robot: Robot, frames) -> tuple[str, ...]:
    if isinstance(frames, bool):
        return robot.body_names if frames else ()
    if isinstance(frames, str):
        frames = (frames,)
    if not isinstance(frames, Sequence):
        raise ArgumentError(f"draw_robot: frames must be True, False, or names of frames, got {frames!r}")
    return tuple(robot.frame(name).name for name in frames)


# --- space ------------------------------------------------------------------------------------------------------------


def _directions(azimuth: float, elevation: float) -> np.ndarray:
    """The directions right, up, and towards a viewer, as rows."""
    c, s, h, v = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    return np.array([[-s, c, 0.0], [-v * c, -v * s, h], [h * c, h * s, v]])


def _placements(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The placements (n + 1, 4, 4) of the bodies; that of the base is last, as its number is -1."""
    return np.concatenate([forward_kinematics(robot, q), np.eye(4)[None]])


def _surfaces(robot: Robot, placements: list[np.ndarray], meshes: bool) -> _Surfaces:
    """The surfaces of a robot at all placements of its bodies; those after the first are pale."""
    found = []
    for body, mesh, color in shapes(robot, meshes=meshes):
        normals, rgb = corner_normals(mesh), np.array(color[:3])
        for k, T in enumerate(placements[:1] if body < 0 else placements):
            white = 1 - color[3] * (1 - _GHOST if k else 1.0)
            corners = mesh.vertices.astype(float)[mesh.faces] @ T[body, :3, :3].T + T[body, :3, 3]
            colors = np.broadcast_to(white + (1 - white) * rgb, (len(corners), 3))
            found.append((corners, normals @ T[body, :3, :3].T, colors, np.full(len(corners), k > 0)))
    return _Surfaces(*(np.concatenate(column) for column in zip(*found, strict=True)))


# --- what is drawn ----------------------------------------------------------------------------------------------------


def _fit(picture, points: np.ndarray, margin: float) -> float:
    """Sets the limits of the picture so that it shows all points and `margin` times as much, and returns their size."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    scale = max(float((high - low).max()), 1e-9)
    for set_limits, middle in zip((picture.set_xlim, picture.set_ylim), (low + high) / 2, strict=True):
        set_limits(middle - margin / 2 * scale, middle + margin / 2 * scale)
    picture.set_aspect("equal")
    return scale


def _image(picture, camera: np.ndarray, surfaces: _Surfaces, scale: float, side: float) -> None:
    """Draws the surfaces as an image, in which the nearest are seen."""
    (left, right), (bottom, top) = picture.get_xlim(), picture.get_ylim()
    pixels = int(np.clip(_PIXELS * side, 100, 4000))
    x = (surfaces.corners @ camera.T - [left, bottom, 0]) * pixels / (right - left)
    x[surfaces.pale, :, 2] -= 1e-3 * pixels  # where surfaces coincide, the first configuration is seen
    image = rendered(x, surfaces.normals @ camera.T, surfaces.colors, pixels)
    picture.imshow(image, extent=(left, right, bottom, top), zorder=3, interpolation="antialiased")


def _sorted(picture, camera: np.ndarray, surfaces: _Surfaces, scale: float, side: float) -> None:
    """Draws the surfaces as triangles, the farthest first."""
    x, normals = surfaces.corners @ camera.T, surfaces.normals @ camera.T
    seen = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])[:, 2] > 0
    shaded = lit(normals[seen].mean(axis=1), surfaces.colors[seen])
    far = np.where(surfaces.pale[seen], 0.02 * scale, 0.0)
    x, shaded, far = cut(_FINE * scale, x[seen], shaded, far[:, None])
    order = np.argsort(x[..., 2].mean(axis=1) - far[:, 0])
    style = {"facecolors": shaded[order], "edgecolors": shaded[order], "linewidths": 0.35, "zorder": 3}
    picture.add_collection(_collections().PolyCollection(x[order][..., :2], **style), autolim=False)


def _collections() -> Any:
    return package("matplotlib.collections", "plot", "draw_robot")


def _floor(picture, camera: np.ndarray, corners: np.ndarray, scale: float) -> None:
    """Draws a grid on the ground, and the shadow of what stands on it; z is up."""
    collections = _collections()
    points = corners.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    height = low[2] - 1e-3 * scale
    step = 10.0 ** np.floor(np.log10(scale / 2))
    step *= min((1, 2, 5), key=lambda k: abs(scale / (k * step) - 8))
    first, last = np.floor(low[:2] / step) - 1, np.ceil(high[:2] / step) + 1
    ground = []
    for k in (0, 1):
        for value in np.arange(first[k], last[k] + 1) * step:
            ends = np.zeros((2, 3))
            ends[:, k], ends[:, 1 - k], ends[:, 2] = value, np.array([first[1 - k], last[1 - k]]) * step, height
            ground.append((ends @ camera.T)[:, :2])
    picture.add_collection(
        collections.LineCollection(ground, colors="#dfe2e6", linewidths=0.7, zorder=1), autolim=False
    )
    fall = points[:, 2] - height
    shadow = np.stack([points[:, 0] + 0.25 * fall, points[:, 1] + 0.1 * fall, np.full(len(points), height)], axis=-1)
    flat = (shadow @ camera.T)[:, :2].reshape(-1, 3, 2)
    style = {"facecolors": "#e9ebee", "edgecolors": "#e9ebee", "linewidths": 0.3, "zorder": 2}
    picture.add_collection(collections.PolyCollection(flat, **style), autolim=False)


def _joints(picture, camera: np.ndarray, robot: Robot, T: np.ndarray, length: float, axes: bool, names: bool) -> None:
    """Draws the axes of the joints as arrows, and their names beside them."""
    for i, name in enumerate(robot.body_joint_names):
        axis = axis_of(robot, i)
        point = T[i, :3, :3] @ axis.point + T[i, :3, 3]
        direction = T[i, :3, :3] @ axis.direction
        a, b = (camera @ (point - length * direction))[:2], (camera @ (point + length * direction))[:2]
        if axes and axis.direction.any():
            _arrow(picture, a, b, _INK, dashed=axis.kind == "slide")
        if names:
            box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.75}
            picture.annotate(name, b, (4, 3), textcoords="offset points", fontsize=8, zorder=9, bbox=box)


def _triad(picture, camera: np.ndarray, T: np.ndarray, length: float) -> None:
    """Draws a frame: x red, y green, z blue."""
    for k, color in enumerate((_RED, _GREEN, _BLUE)):
        start, end = (camera @ T[:3, 3])[:2], (camera @ (T[:3, 3] + length * T[:3, k]))[:2]
        _arrow(picture, start, end, color)


def _arrow(picture, start: np.ndarray, end: np.ndarray, color: str, dashed: bool = False) -> None:
    style = {
        "arrowstyle": "-|>,head_length=0.45,head_width=0.18",
        "color": color,
        "lw": 1.3,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    picture.annotate("", end, start, arrowprops=style | {"ls": "--" if dashed else "-"}, zorder=7)
