"""Images of a scene: depth, range, solids and intensity at every pixel of a camera."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from ...randomness import Rng, generator
from .casting import need_scene
from .lights import BackLight, DiffuseLight, lights_of
from .range_noise import RangeNoise, as_range_noise, noisy_distances
from .scene_checks import number
from .scenes import Scene
from .shading import radiance, spots_of
from .views import Depths, View, lattice, nearest_depths, view_of

__all__ = ["depth_image", "intensity_image", "range_image", "segmentation_image"]


def depth_image(
    scene: Scene, camera, *, backfaces: bool = True, noise: RangeNoise | float | None = None, rng: Rng = None
) -> np.ndarray:
    """Depths (rows, columns) [m] along the optical axis, z of the camera's frame, as depth cameras give them.

        >>> from adjoint.sensing import DirectionalLight, Plane, Scene, Sphere
        >>> T = [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 2.0], [0, 0, 0, 1]]  # 2 m above the floor
        >>> camera = aj.vision.Camera.pinhole((64, 48), focal_length=50).at(T)
        >>> depth_image(Scene([Plane()]), camera).round(12)[24, 30:33]
        array([2., 2., 2.])

    Parameters
    ----------
    scene
        The `Scene`; where it has nothing, and where the distortion cannot be inverted, the depth is ∞.
    camera
        An object with `matrix` (3, 3), `size` (columns, rows), `T_world_camera` (4, 4) and, perhaps, `distortion`, such
        as `vision.Camera`. A camera inside of a solid sees its surface from inside.
    backfaces
        Whether surfaces are seen from behind. If not, solids that the camera is in are not seen.
    noise, rng
        `RangeNoise` of the sensor, whose distances are the depths, or a standard deviation [m]; a generator or a seed.

    `range_image` has the distances along the rays instead.
    """
    noise = None if noise is None else as_range_noise(noise, "depth_image")
    view, seen = _seen(scene, camera, "depth_image", noise is not None, backfaces)
    return seen.depth if noise is None else noisy_distances(seen.depth, _cosines(scene, view, seen), noise, rng=rng)


def range_image(
    scene: Scene, camera, *, backfaces: bool = True, noise: RangeNoise | float | None = None, rng: Rng = None
) -> np.ndarray:
    """Distances (rows, columns) [m] along the rays of the pixels, from the lens centre to the surface; ∞ without one.

        >>> from adjoint.sensing import DirectionalLight, Plane, Scene, Sphere
        >>> T = [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 2.0], [0, 0, 0, 1]]  # 2 m above the floor
        >>> camera = aj.vision.Camera.pinhole((64, 48), focal_length=50).at(T)
        >>> bool(range_image(Scene([Plane()]), camera).min() >= 2)
        True

    Arguments are those of `depth_image`: a distance is the depth times √(1 + x² + y²) for the pixel at (x, y, 1).
    """
    noise = None if noise is None else as_range_noise(noise, "range_image")
    view, seen = _seen(scene, camera, "range_image", noise is not None, backfaces)
    distance = seen.depth * np.sqrt(1 + view.x * view.x + view.y * view.y)
    if view.x.ndim == 2:
        distance[np.isnan(distance)] = np.inf  # pixels that the lens shows nothing at
    return distance if noise is None else noisy_distances(distance, _cosines(scene, view, seen), noise, rng=rng)


def segmentation_image(scene: Scene, camera, *, backfaces: bool = True) -> np.ndarray:
    """Numbers (rows, columns), int32, of the solids that a camera sees at its pixels; -1 where it sees none.

    >>> from adjoint.sensing import Plane, Scene, Sphere
    >>> T = [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 2.0], [0, 0, 0, 1]]  # 2 m above the floor
    >>> camera = aj.vision.Camera.pinhole((64, 48), focal_length=50).at(T)
    >>> np.unique(segmentation_image(Scene([Plane(), Sphere(0.3)]), camera))
    array([0, 1], dtype=int32)
    """
    seen = _seen(scene, camera, "segmentation_image", True, backfaces)[1]
    assert seen.solid is not None
    return seen.solid


def _seen(scene, camera, caller: str, named: bool, backfaces: bool) -> tuple[View, Depths]:
    need_scene(scene, caller)
    view = view_of(camera, caller)
    return view, nearest_depths(scene, view, named=named, backfaces=backfaces)


def _spots(scene: Scene, view: View, seen: Depths):
    """The pixels (n,) that show a solid, numbered row by row, and their `Spots`."""
    assert seen.solid is not None
    pixels = np.flatnonzero(seen.solid >= 0)
    x, y = (np.broadcast_to(a, view.shape).ravel()[pixels] for a in (view.x, view.y))
    triangle = None if seen.triangle is None else seen.triangle.ravel()[pixels]
    return pixels, spots_of(scene, view.T, x, y, seen.depth.ravel()[pixels], seen.solid.ravel()[pixels], triangle)


def _cosines(scene: Scene, view: View, seen: Depths) -> np.ndarray:
    """Cosines (rows, columns) of the angles of incidence; 1 where nothing is seen."""
    pixels, spots = _spots(scene, view, seen)
    cosines = np.ones(view.shape)
    cosines.flat[pixels] = spots.front
    return cosines


# --- intensity --------------------------------------------------------------------------------------------------------


def intensity_image(
    scene: Scene, camera, lights=(), *, ambient: float = 0.0, background: float = 0.0, colour: bool = False,
    samples: int = 1, dtype=np.uint8, noise: float = 0.0, rng: Rng = None
) -> np.ndarray:  # fmt: skip
    """What a camera sees of a scene under lights: an image (rows, columns), or (rows, columns, 3), red, green, blue.

        >>> from adjoint.sensing import DirectionalLight, Plane, Scene, Sphere
        >>> T = [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 2.0], [0, 0, 0, 1]]  # 2 m above the floor
        >>> camera = aj.vision.Camera.pinhole((64, 48), focal_length=50).at(T)
        >>> image = intensity_image(Scene([Plane(), Sphere(0.3)]), camera, DirectionalLight([1, 0, -1]), ambient=0.2)
        >>> image.shape, image.dtype
        ((48, 64), dtype('uint8'))

    Parameters
    ----------
    scene, camera
        As for `depth_image`.
    lights
        One or several of `DiffuseLight`, `BackLight`, `DirectionalLight`, `StructuredLight` and `LightSheet`, or pairs
        of them as `double_light_plane` makes. Without any it is a `DiffuseLight()`.
    ambient, background
        Light from everywhere, which all surfaces scatter, and what is seen where there is no solid, from 0 to 1.
    colour
        Whether the image has colours; if not, gray levels are 0.299 red + 0.587 green + 0.114 blue.
    samples
        Rays for each pixel, whose mean it shows: edges become as wide as pixels, and can be found to a part of one. A
        perspective image of a target for calibration wants 16 or more.
    dtype
        `np.uint8`: 1 becomes 255, and more is cut off; or `np.float64`, which is not limited.
    noise, rng
        Standard deviation of the noise of every pixel, where 1 is white, and a generator or a seed.

    A surface of a colour c scatters c · (ambient + Σ cosines of incidence · intensities); see `Solid` for what it
    mirrors. Reference for the schemes of lighting: Fu, Gonzalez & Lee (1987), section 7.3.
    """
    who = "intensity_image"
    need_scene(scene, who)
    lights = lights_of(lights, who) or (DiffuseLight(),)
    ambient = number(ambient, "ambient", who, least=0)
    behind = number(background, "background", who, least=0)
    behind += sum(light.intensity for light in lights if isinstance(light, BackLight) and not light.panel)
    noise = number(noise, "noise", who, least=0)
    rays = count(samples, f"{who}: samples")
    if rays < 1:
        raise ArgumentError(f"{who}: samples must be 1 or more, got {samples}")
    if np.dtype(dtype) not in (np.uint8, np.float64, np.float32):
        raise ArgumentError(f"{who}: dtype must be uint8, float32 or float64, got {np.dtype(dtype)}")
    total = 0.0
    for shift in lattice(rays):
        view = view_of(camera, who, tuple(shift))
        seen = nearest_depths(scene, view)
        image = np.full((*view.shape, 3) if colour else view.shape, behind)
        pixels, spots = _spots(scene, view, seen)
        if len(pixels):
            image.reshape(-1, *image.shape[2:])[pixels] = radiance(scene, spots, lights, ambient, gray=not colour)
        total = total + image
    image = np.asarray(total) / rays
    if noise:
        image += noise * generator(rng, who).normal(size=image.shape)
    return np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8) if np.dtype(dtype) == np.uint8 else image.astype(dtype)
