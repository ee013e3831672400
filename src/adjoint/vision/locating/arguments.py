"""Checks of what users give to `locate` and `refine_model_pose`."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import motions, positive
from ...sensing.scene import Box, Cylinder, Mesh
from ..cameras import Camera, on_plane
from ..image_checks import binary, colour, gray
from .object_models import ObjectModel, block_model, cylinder_model, mesh_model

__all__ = ["as_model", "as_models", "check_view", "given_mask", "image_levels", "motion_of", "score_of"]

_BRIGHTEST = 2.0  # floats should end at 1, but filters and lights may go beyond


def motion_of(T, name: str, caller: str) -> np.ndarray:
    """The rigid motion (4, 4), or an error that names the argument."""
    return motions(T, (4, 4), f"{caller}: {name}")


def as_model(model, caller: str) -> ObjectModel:
    """The model, or that of a solid of a scene; else an `ArgumentError` tells how to make one."""
    if isinstance(model, ObjectModel):
        return model
    if isinstance(model, Box):
        return block_model(model.size, colour=model.colour)
    if isinstance(model, Cylinder):
        return cylinder_model(model.radius, model.length, colour=model.colour)
    if isinstance(model, Mesh):
        return mesh_model(model.triangles, colour=model.colour)
    raise ArgumentError(
        f"{caller}: a model is made by block_model, cylinder_model, prism_model or mesh_model, or is a Box, Cylinder "
        f"or Mesh of a scene; got {type(model).__name__}"
    )


def as_models(models, caller: str) -> dict[str, ObjectModel]:
    """The models {name: model} as a dictionary that is not empty."""
    try:
        found = dict(models)
    except (TypeError, ValueError):
        raise ArgumentError(f"{caller}: models must be a dictionary {{name: model}}, got {models!r:.60}") from None
    if not found:
        raise ArgumentError(f"{caller}: there are no models to look for")
    return {str(name): as_model(model, caller) for name, model in found.items()}


def image_levels(image, camera: Camera, caller: str, what: str = "image") -> np.ndarray:
    """The image (rows, columns, 1 or 3) as float32 from 0 to 1; it must have the size of the camera's images."""
    array = np.asarray(image)
    found = colour(array, caller) if array.ndim == 3 else gray(array, caller)[..., None]
    columns, rows = camera.size
    if found.shape[:2] != (rows, columns):
        raise ArgumentError(f"{caller}: the {what} has shape {found.shape[:2]}; the camera's is {(rows, columns)}")
    if found.dtype.kind in "ui" and found.dtype.itemsize > 2:
        raise ArgumentError(f"{caller}: an image of {found.dtype} is not taken; 8 or 16 bits, or floats, are needed")
    most = np.iinfo(found.dtype).max if found.dtype.kind in "ui" else 1.0
    levels = np.ascontiguousarray(found, np.float32) / np.float32(most)
    if not np.isfinite(levels).all():
        raise ArgumentError(f"{caller}: the {what} has NaN or infinity")
    if levels.max() > _BRIGHTEST:
        raise ArgumentError(
            f"{caller}: the {what} has floats up to {levels.max():g}; 0 to 1 is needed: divide 8-bit levels by 255"
        )
    return levels


def given_mask(mask, size: tuple[int, int], caller: str) -> np.ndarray | None:
    """The mask (rows, columns) as truth values, of the `size` (columns, rows) of images, or None."""
    if mask is None:
        return None
    found = binary(mask, caller)
    if found.shape != size[::-1]:
        raise ArgumentError(f"{caller}: mask has shape {found.shape}; the image's is {size[::-1]}")
    return found


def score_of(least, caller: str) -> float:
    """The least score, a number from 0 to 1."""
    found = positive(least, f"{caller}: least_score", or_zero=True)
    if found > 1:
        raise ArgumentError(f"{caller}: least_score is {found:g}; scores are from 0 to 1")
    return found


def check_view(camera: Camera, models: dict[str, ObjectModel], plane: np.ndarray, caller: str) -> None:
    """Raises an `ArgumentError` if the camera does not look at the plane, or a model is larger than what it sees."""
    columns, rows = camera.size
    corners = np.array([[u, v] for u in (0, (columns - 1) / 2, columns - 1) for v in (0, (rows - 1) / 2, rows - 1)])
    seen = on_plane(camera, corners, plane)
    away = np.linalg.norm(seen - camera.T_world_camera[:3, 3], axis=1)
    if not np.isfinite(away).any() or not np.nanmax(away) > 0:
        raise ArgumentError(
            f"{caller}: the camera at {camera.T_world_camera[:3, 3].round(3).tolist()} m does not look at the plane; "
            "are camera.T_world_camera, which is where the camera is, and T_world_plane right?"
        )
    for name, model in models.items():
        if model.size > np.nanmin(away):
            raise ArgumentError(
                f"{caller}: model '{name}' is {model.size:.3g} m large, and the camera only {np.nanmin(away):.3g} m "
                "away from the plane: are its lengths in metres?"
            )
