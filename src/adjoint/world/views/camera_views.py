"""`seen_by`: what a camera of a world sees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene import DirectionalLight, depth_image, intensity_image, segmentation_image
from ...vision.cameras.camera import Camera
from ..state import World

__all__ = ["CameraView", "seen_by"]


class CameraView(NamedTuple):
    """What a camera of a world sees: see `seen_by`."""

    colours: np.ndarray
    """(rows, columns, 3), uint8: red, green, blue"""
    depth: np.ndarray
    """(rows, columns) [m] along the optical axis; ∞ where nothing is"""
    solids: np.ndarray
    """(rows, columns): numbers of solids in `names`, or -1"""
    names: tuple[str, ...]
    """the names of the solids of `World.scene`, such as "cup" or "arm.link2" """

    def shows(self, name: str) -> np.ndarray:
        """Where a part or a robot is seen: truth values (rows, columns); all of its solids count."""
        own = [k for k, solid in enumerate(self.names) if solid == name or solid.startswith((f"{name}#", f"{name}."))]
        return np.isin(self.solids, own)


def seen_by(
    world: World, camera: str, *, exclude: Iterable[str] = (), lights=None, ambient: float = 0.25, samples: int = 1
) -> CameraView:
    """What a camera of a world sees: an image, depths, and which part or link each pixel shows.

        >>> from adjoint.sensing import Box
        >>> camera = aj.vision.Camera.pinhole((64, 48), field_of_view=1.0)
        >>> w = World().add("block", Box([0.2, 0.2, 0.1]))
        >>> w = w.add_sensor("eye", camera, at=aj.vision.looking_at([0, 0, 1.0], target=[0, 0, 0]))
        >>> view = seen_by(w, "eye")
        >>> view.names[view.solids[24, 32]], round(float(view.depth[24, 32]), 6)
        ('block', 0.95)

    `exclude` names parts and robots that it does not see; `lights` are those of `sensing.intensity_image`, one from
    above by default.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"seen_by: 'world' must be a World, got {type(world).__name__}")
    eye = world.sensor_at(camera)
    if not isinstance(eye, Camera):
        kind = type(eye.sensor).__name__
        raise ArgumentError(
            f"seen_by: '{camera}' is no Camera but of type {kind}; World.sensor_at gives it and its pose"
        )
    scene = world.scene(exclude)
    light = DirectionalLight([-0.3, 0.4, -1.0]) if lights is None else lights
    return CameraView(
        intensity_image(scene, eye, light, ambient=ambient, colour=True, samples=samples),
        depth_image(scene, eye),
        segmentation_image(scene, eye),
        tuple(solid.name for solid in scene),
    )
