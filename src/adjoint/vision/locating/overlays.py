"""`draw_located`: what `locate` found, drawn over the image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...lie import se3
from ...sensing.scene import Solid
from ..cameras import Camera, project
from ..image_checks import opencv
from .arguments import as_models, image_levels
from .candidates import LocatedObject
from .object_models import ObjectModel
from .outlines import seen_edges

__all__ = ["draw_located"]

_COLOURS = ((64, 224, 240), (250, 160, 60), (120, 230, 120), (240, 120, 200), (250, 230, 90))


def draw_located(
    image, camera: Camera, found: Iterable[LocatedObject], models: Mapping[str, ObjectModel | Solid]
) -> np.ndarray:
    """The image (rows, columns, 3), 8 bits, with the visible edges and the names of what `locate` found.

        >>> from adjoint import sensing, vision
        >>> camera = vision.Camera.pinhole((320, 240), 0.6).at(vision.looking_at([0.2, -0.3, 0.5], [0, 0, 0]))
        >>> drawn = draw_located(np.zeros((240, 320), np.uint8), camera, [], {"brick": sensing.Box([0.1, 0.06, 0.03])})
        >>> drawn.shape
        (240, 320, 3)

    Arguments are those of `locate`, and its result. `matplotlib.pyplot.imshow` shows the picture, and
    `skimage.io.imsave(path, drawn)` writes it.
    """
    caller = "draw_located"
    cv2, known = opencv(caller), as_models(models, caller)
    levels = np.clip(image_levels(image, camera, caller), 0, 1)
    drawn = np.ascontiguousarray(np.broadcast_to(np.uint8(255 * levels), (*levels.shape[:2], 3)))
    names = list(known)
    for thing in found:
        edges, colour = known[thing.name].edges, _COLOURS[names.index(thing.name) % len(_COLOURS)]
        seen = seen_edges(
            edges.ends, edges.normals, thing.T_world_object, camera.T_world_camera, camera.matrix, camera.distortion
        )
        shown = (seen.contour > 0) | ((seen.inner > 0) & edges.crease)
        for ends in project(camera, se3.act(thing.T_world_object, edges.ends[shown])):
            if np.isfinite(ends).all():
                a, b = np.clip(np.rint(16 * ends), -(2**20), 2**20).astype(int)
                cv2.line(drawn, tuple(map(int, a)), tuple(map(int, b)), colour, 1, cv2.LINE_AA, 4)
        u, v = project(camera, thing.T_world_object[:3, 3])
        if np.isfinite([u, v]).all():
            cv2.putText(drawn, thing.name, (int(u), int(v)), cv2.FONT_HERSHEY_SIMPLEX, 0.45, colour, 1, cv2.LINE_AA)
    return drawn
