"""From a rough pose of an object to a precise one: `refine_model_pose` moves its edges onto those of the image.

The model is projected with the camera; from each sample of its visible edges the image is searched along the normal;
the offsets r_k found there are explained by a small motion ξ of the object,

    minimise Σ_k w_k (r_k - J_k ξ)²,        T ← T exp(ξ),

again and again: Harris & Stennett (1990), "RAPID - a video rate object tracker"; Fu, Gonzalez & Lee (1987), §8.6 has
the idea of projecting a model and comparing. Tukey's weights w_k leave out edges of other objects.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import SolveError
from ...lie import se3
from ..cameras import Camera
from ..cameras.camera import need_camera
from .arguments import as_model, image_levels, motion_of
from .image_edges import EdgeMap, coarseness, edge_map, offsets_along
from .object_models import ObjectModel
from .outlines import Samples, outline

__all__ = ["Evidence", "ModelPose", "Refined", "plane_directions", "refine_model_pose", "refined"]

_REACHES = (8.0, 5.0, 3.0, 2.0, 1.5, 1.5)  # [pixel] how far edges are looked for, in each round
_CORRELATED = 4.0  # [pixel] offsets of samples this near to each other have the same noise, for the gradient is smooth
_LEAST_SIGMA = 0.02  # [pixel] edges are not known better, however well they fit: rendering and lenses have errors
_TUKEY = 4.685
_FEWEST = 6  # samples that must be found


class ModelPose(NamedTuple):
    """A pose that fits an image.

    `covariance` (6, 6) is that of the error ξ = (ω, v) in T_true = T_world_object exp(ξ), in the frame of the object
    [rad, m]; motions that are not free have none.
    """

    T_world_object: np.ndarray
    covariance: np.ndarray
    rms: float  # [pixel] of the offsets that count
    found: float  # the part of the visible edges, by length, that the image shows where they should be, from 0 to 1


class Evidence(NamedTuple):
    """What the image says of k samples of visible edges: how much each agrees, from 0 to 1, and how much it counts."""

    pixels: np.ndarray  # (k, 2)
    weight: np.ndarray  # (k,) [pixel of edge]; 0 outside of the image
    agreement: np.ndarray  # (k,)

    @property
    def share(self) -> float:
        """The part of the edges, by their length, that agrees."""
        return float(self.weight @ self.agreement / max(self.weight.sum(), 1e-9))


class Refined(NamedTuple):
    """A refined pose and its evidence."""

    pose: ModelPose
    evidence: Evidence


def plane_directions(T_plane_object: np.ndarray) -> np.ndarray:
    """The twists (3, 6) of an object, in its own frame, that keep it lying: along x and y of the plane, and about z."""
    slide = np.zeros((3, 6))
    slide[0, 3], slide[1, 4], slide[2, 2] = 1.0, 1.0, 1.0
    slide[2, 3:] = np.cross(T_plane_object[:3, 3], [0.0, 0.0, 1.0])  # about an axis through the object
    return slide @ se3.Ad(se3.inverse(T_plane_object)).T


def refine_model_pose(image, camera: Camera, model: ObjectModel, T_world_object, *, T_world_plane=None) -> ModelPose:
    """The pose near `T_world_object` (4, 4) at which the edges of a model fit those of an image best.

        >>> from adjoint.vision import Camera, looking_at, block_model
        >>> camera = Camera.pinhole((64, 48), 0.5, T_world_camera=looking_at([0.3, 0, 0.3], [0, 0, 0]))
        >>> image = np.zeros((48, 64)); image[15:30, 20:40] = 1.0
        >>> refine_model_pose(image, camera, block_model((0.1, 0.1, 0.02)), np.eye(4)).rms < 2
        True

    - `image` (rows, columns) or (rows, columns, 3) is one of `camera`. Floats are from 0 to 1.
    - `T_world_object` is wrong by a few pixels at most.
    - With `T_world_plane` (4, 4), the object lies on the plane z = 0 of that frame, and only slides and turns on it.

    A `SolveError` says that too few edges are there. References: Harris & Stennett (1990), "RAPID - a video rate object
    tracker"; Drummond & Cipolla (2002), "Real-time visual tracking of complex structures".
    """
    caller = "refine_model_pose"
    need_camera(camera, caller)
    model, T = as_model(model, caller), motion_of(T_world_object, "T_world_object", caller)
    edges = edge_map(image_levels(image, camera, caller), caller)
    directions = np.eye(6)
    if T_world_plane is not None:
        directions = plane_directions(se3.inverse(motion_of(T_world_plane, "T_world_plane", caller)) @ T)
    found = refined(edges, camera, model, T, directions, caller)
    if found is None:
        raise SolveError(
            f"{caller}: the image has too few edges where the object should be; is its pose wrong by more than "
            f"{_REACHES[0]:g} pixels, is it outside of the image, or does it not differ from the background?"
        )
    return found.pose


def refined(
    edges: EdgeMap, camera: Camera, model: ObjectModel, T: np.ndarray, directions: np.ndarray, caller: str
) -> Refined | None:
    """The `Refined` pose of an object that moves along `directions` (d, 6), or None if too few edges are found."""
    scale = np.where(np.arange(6) < 3, model.size / 2, 1.0)  # turns and shifts as ways [m] of the farthest point
    A = None
    rms, evidence = np.inf, None
    for reach in _reaches(camera):
        samples = outline(camera, model, T)
        r = offsets_along(edges, samples.pixels, samples.normals, reach, caller) if len(samples.pixels) else np.empty(0)
        there = np.isfinite(r)
        if there.sum() < _FEWEST:
            return None
        evidence = _evidence(samples, np.where(there, 1 - (r / reach) ** 2, 0.0), camera)
        J, r, w = samples.slopes[there] @ directions.T, r[there], samples.weight[there]
        sigma = max(1.4826 * float(np.median(np.abs(r - np.median(r)))), _LEAST_SIGMA)
        w = w * np.maximum(0.0, 1 - (r / max(_TUKEY * sigma, 1.0)) ** 2) ** 2
        A = J.T @ (w[:, None] * J)
        step, *_ = np.linalg.lstsq(A, J.T @ (w * r), rcond=1e-9)
        if not np.isfinite(step).all() or np.linalg.norm(step @ directions * scale) > model.size:
            return None
        T = T @ se3.exp(step @ directions)
        rms = float(np.sqrt(np.sum(w * r * r) / max(w.sum(), 1e-300)))
    if A is None or evidence is None or np.linalg.matrix_rank(A, tol=1e-9 * np.abs(A).max()) < len(directions):
        return None
    # One independent offset for each stretch of edge as long as the smoothing; A has a weight of 1 for each pixel.
    noise = max(rms, _LEAST_SIGMA) ** 2 * _CORRELATED
    covariance = noise * directions.T @ np.linalg.inv(A) @ directions
    return Refined(ModelPose(se3.project(T), covariance, rms, evidence.share), evidence)


def _reaches(camera: Camera) -> list[float]:
    """How far edges are looked for [pixel]: at first farther in a large image, whose hypotheses are coarser."""
    least = _REACHES[-1]
    return [least + (reach - least) * coarseness(camera.size) for reach in _REACHES]


def _evidence(samples: Samples, agreement: np.ndarray, camera: Camera) -> Evidence:
    columns, rows = camera.size
    u, v = samples.pixels.T
    inside = (u > 1) & (u < columns - 2) & (v > 1) & (v < rows - 2)
    return Evidence(samples.pixels, samples.weight * inside, agreement)
