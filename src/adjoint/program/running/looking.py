"""Cameras of a world that look for a part: an image of what there is, and where it shows the part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene import Cylinder, DirectionalLight, Plane, Scene, depth_image, intensity_image
from ...vision.cameras import Camera, project
from ...vision.locating.arguments import check_view, image_levels
from ...vision.locating.candidates import LocatedObject
from ...vision.locating.finding import locate
from ...vision.locating.foreground import smooth_background
from ...vision.locating.object_models import ObjectModel, cylinder_model, mesh_model
from ...world.state import World
from ...world.state.attachment_edits import holder_of
from ...world.state.frame_tree import subtree
from ...world.state.part_contents import solids_of, surface_of
from .part_symmetries import least_turned

__all__ = ["CameraShot", "camera_shot"]

_SAME_HEIGHT = 2e-3  # [m] parts whose undersides differ by less lie on one plane
_BESIDE = 0.25  # of the image: parts that should be so far outside may still be in it
_SAMPLES = 3  # rays for each pixel
_LIGHT = DirectionalLight([-0.3, 0.4, -1.0], intensity=0.7, shadows=False)
_AMBIENT = 0.3

Images = Mapping[str, Callable[[World], Any]]
"""{camera: function of the world that the program has, which gives an image or a `CameraShot`}"""


class CameraShot(NamedTuple):
    """What a camera gives to a program that looks for a part.

    `image` (rows, columns) or (rows, columns, 3) is as `aj.vision.locate` takes it; `background` is an image of the
    same place without the parts, and `depth` (rows, columns) [m] that of a depth camera. Both may be None.
    """

    image: Any
    background: Any = None
    depth: Any = None


class Sighting(NamedTuple):
    """What a look has given: where the part is, or why it was not seen, and what else was."""

    located: LocatedObject | None
    others: tuple[str, ...] = ()
    reason: str = ""


def camera_shot(
    world: World, camera: str, *, exclude: Iterable[str] = (), depth: bool = False, noise: float = 0.0, rng: Any = None
) -> CameraShot:
    """The image that a camera of a world takes: robots and all parts, evenly lit, without shadows.

        >>> from adjoint.sensing import Box
        >>> w = aj.world.World().add("block", Box([0.2, 0.2, 0.1]))
        >>> at = aj.vision.looking_at([0, 0, 1.0], target=[0, 0, 0])
        >>> w = w.add_sensor("eye", aj.vision.Camera.pinhole((64, 48), field_of_view=1.0), at=at)
        >>> camera_shot(w, "eye").image.shape
        (48, 64, 3)

    `exclude` names parts that are not in it, `depth` tells whether it is a depth camera, and `noise` is the standard
    deviation of every pixel, where 1 is white. So programs that run on a simulated robot see; see `run`.
    """
    eye = world.sensor_at(camera)
    if not isinstance(eye, Camera):
        raise ArgumentError(f"camera_shot: '{camera}' is no Camera but of type {type(eye.sensor).__name__}")
    scene = world.scene(exclude)
    image = intensity_image(
        scene, eye, _LIGHT, ambient=_AMBIENT, colour=True, samples=_SAMPLES, noise=noise, rng=rng
    )  # fmt: skip
    return CameraShot(image, None, depth_image(scene, eye) if depth else None)


# --- looking ----------------------------------------------------------------------------------------------------------


class _Plane(NamedTuple):
    """The plane on which a part should lie, and the parts that lie on it and may be seen: models, by their looks."""

    T_world_plane: np.ndarray
    models: dict[str, ObjectModel]
    alike: dict[str, list[str]]
    """{name of a model: parts that look like it}"""


def look(world: World, part: str, camera: str, shot: CameraShot | None, actual: World, noise: float, rng) -> Sighting:
    """Look for a part by a camera; without a `shot`, the image shows the `actual` world."""
    eye = world.sensor_at(camera)
    if not isinstance(eye, Camera):
        raise ArgumentError(f"'{camera}' is no camera but of type {type(eye.sensor).__name__}")
    if part not in world.parts or isinstance(world.parts[part], Plane):
        raise ArgumentError(f"'{part}' has no shape that a camera could find")
    holder = holder_of(world, part)
    if holder is not None:
        return Sighting(None, reason=f"'{holder[0]}' holds it, and cameras find what lies on a plane")
    model = _model(world.parts[part])
    T = _plane_below(world, part)
    try:
        check_view(eye, {part: model}, T, "locate")
    except ArgumentError as error:
        return Sighting(None, reason=str(error).removeprefix("locate: "))
    plane = _on_plane(world, part, model, T, eye)
    loose = subtree(world, *(name for names in plane.alike.values() for name in names))
    if shot is None:
        empty = camera_shot(world, camera, exclude=[name for name in loose if name in world.parts])
        shot = camera_shot(actual, camera, noise=noise, rng=rng)._replace(background=empty.image)
    elif shot.background is None and shot.image is not None:
        shot = shot._replace(background=_smooth(world, eye, shot.image))
    found = locate(
        shot.image, eye, plane.models, T_world_plane=T, depth=shot.depth,
        background=shot.background if shot.depth is None else None,
    )  # fmt: skip
    return _named(world, part, plane, found)


def _plane_below(world: World, part: str) -> np.ndarray:
    """The horizontal plane on which a part lies, where the program has it: its frame has z upward."""
    size = float(np.linalg.norm(world.gravity))
    up = -world.gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])
    T = np.eye(4)
    if up[2] < 1 - 1e-12:
        x = np.cross([0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [0.0, 0.0, 1.0], up)
        x /= np.linalg.norm(x)
        T[:3, :3] = np.stack([x, np.cross(up, x), up], axis=1)
    T[:3, 3] = _underside(world, part, up) * up
    return T


def _underside(world: World, part: str, up: np.ndarray) -> float:
    """The height [m] of the lowest point of a part."""
    surface = surface_of(world.parts[part])
    assert surface is not None
    pose = world.pose(part)
    return float((surface[0] @ (pose[:3, :3].T @ up)).min() + up @ pose[:3, 3])


def _on_plane(world: World, part: str, model: ObjectModel, T: np.ndarray, eye: Camera) -> _Plane:
    """The part, and all others that lie on its plane and may be seen: they explain what else is in the image."""
    up, models, alike, looks = T[:3, 2], {part: model}, {part: [part]}, {_looks(world.parts[part]): part}
    for name, other in world.parts.items():
        if name == part or isinstance(other, Plane) or holder_of(world, name) is not None:
            continue
        if abs(_underside(world, name, up) - up @ T[:3, 3]) > _SAME_HEIGHT or not _may_show(eye, world.pose(name)):
            continue
        same = looks.setdefault(_looks(other), name)
        if same != name:
            alike[same].append(name)
            continue
        found = _model(other)
        if _fits(eye, name, found, T):
            models[name], alike[name] = found, [name]
    return _Plane(T, models, alike)


def _fits(eye: Camera, name: str, model: ObjectModel, T: np.ndarray) -> bool:
    try:
        check_view(eye, {name: model}, T, "locate")
    except ArgumentError:
        return False  # it is too large: a cupboard belongs to the background
    return True


def _may_show(eye: Camera, pose: np.ndarray) -> bool:
    u, v = project(eye, pose[:3, 3])
    columns, rows = eye.size
    a, b = _BESIDE * columns, _BESIDE * rows
    return bool(-a <= u <= columns + a and -b <= v <= rows + b)


def _looks(part) -> tuple:
    """What parts that nobody can tell apart have in common."""
    surface = surface_of(part)
    assert surface is not None
    return np.round(surface[0], 9).tobytes(), np.asarray(surface[1]).tobytes(), tuple(np.ravel(part.colour).tolist())


def _model(part) -> ObjectModel:
    """What `locate` knows of a part, in the frame of the part."""
    solids, colour = solids_of(part), tuple(np.ravel(part.colour).tolist())
    if len(solids) == 1 and isinstance(solids[0], Cylinder):
        round_one, T = cylinder_model(solids[0].radius, solids[0].length), solids[0].T_world_solid
        return ObjectModel(round_one.vertices @ T[:3, :3].T + T[:3, 3], round_one.faces, colour)
    surface = surface_of(part)
    assert surface is not None
    return mesh_model(_Surface(*surface), colour=colour)


class _Surface(NamedTuple):
    vertices: np.ndarray
    faces: np.ndarray


def _smooth(world: World, eye: Camera, image) -> np.ndarray:
    """The table without parts, as the image itself shows it; where robots are, nothing differs from it."""
    levels = image_levels(image, eye, "locate")
    empty = smooth_background(levels)
    solids = list(world.scene(list(world.parts)))
    if solids:
        robot = np.isfinite(depth_image(Scene(solids), eye))
        empty = np.where(robot[..., None], levels, empty)
    return np.clip(empty if np.ndim(image) == 3 else empty[..., 0], 0.0, 1.0)


def _named(world: World, part: str, plane: _Plane, found: tuple[LocatedObject, ...]) -> Sighting:
    """Which of the things that were found the part is; its pose is the one that turns it least."""
    names = []
    for model, parts in plane.alike.items():
        names += zip(*_assigned(world, parts, [x for x in found if x.name == model]), strict=True)
    others = tuple(sorted(name for name, _ in names if name != part))
    seen = next((thing for name, thing in names if name == part), None)
    if seen is None:
        return Sighting(None, others, "nothing in its image looks like it")
    T, turn = least_turned(world.parts[part], plane.models[part], seen.T_world_object, world.pose(part))
    # The covariance is that of a small motion in the frame of the object, which may have been turned.
    adjoint = _adjoint(turn)
    covariance = adjoint @ seen.covariance @ adjoint.T
    return Sighting(seen._replace(name=part, T_world_object=T, covariance=covariance), others)


def _assigned(world: World, parts: list[str], things: list[LocatedObject]) -> tuple[list[str], list[LocatedObject]]:
    """Names for things that look alike: together they are as near as they can be to where the program has them."""
    from scipy.optimize import linear_sum_assignment

    if not things:
        return [], []
    places = np.array([world.pose(name)[:3, 3] for name in parts])
    seen = np.array([thing.T_world_object[:3, 3] for thing in things])
    rows, columns = linear_sum_assignment(np.linalg.norm(places[:, None] - seen[None], axis=2))
    return [parts[i] for i in rows], [things[j] for j in columns]


def _adjoint(T: np.ndarray) -> np.ndarray:
    """The matrix (6, 6) that takes a motion (ω, v) in a frame to the frame in which that one is at T."""
    R, (x, y, z) = T[:3, :3], T[:3, 3]
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.block([[R, np.zeros((3, 3))], [cross @ R, R]])
