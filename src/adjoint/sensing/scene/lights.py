"""Light for cameras: the four schemes of a robot's work space (Fu, Gonzalez & Lee 1987, section 7.3, figure 7.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel, static
from ...errors import ArgumentError
from ...model.input_checks import one_of
from .scene_checks import array, number, pose, unit_vector

__all__ = [
    "BackLight",
    "DiffuseLight",
    "DirectionalLight",
    "LightSheet",
    "StructuredLight",
    "double_light_plane",
    "lambert",
    "lights_of",
    "pattern_light",
    "sheet_light",
    "sky_share",
]

PATTERNS = ("stripes", "grid", "dots")


def _frozen(light, **values) -> None:
    for name, value in values.items():
        object.__setattr__(light, name, value)


@dataclass(frozen=True, eq=False)
class DiffuseLight:
    """Diffuse lighting: a bright, even sky above. It shows smooth surfaces as they are, without shadows.

        >>> DiffuseLight(intensity=0.8).intensity
        0.8

    A surface with the normal n gets `intensity` · (1 + n · up) / 2, the exact share of a hemisphere of sky about `up`.
    """

    intensity: float = 1.0
    up: Any = (0.0, 0.0, 1.0)

    def __post_init__(self):
        who = "DiffuseLight"
        _frozen(self, intensity=number(self.intensity, "intensity", who, least=0), up=unit_vector(self.up, "up", who))


@dataclass(frozen=True, eq=False)
class BackLight:
    """Backlighting: a bright panel behind the objects, which are seen as black silhouettes.

        >>> BackLight(panel="table").panel
        'table'

    The panel is everything behind the scene, or, with a name, the solid of this name, which shines by itself.
    """

    intensity: float = 1.0
    panel: str = ""

    def __post_init__(self):
        if not isinstance(self.panel, str):
            raise ArgumentError(f"BackLight: 'panel' must be the name of a solid, got {self.panel!r:.60}")
        _frozen(self, intensity=number(self.intensity, "intensity", "BackLight", least=0))


@dataclass(frozen=True, eq=False)
class DirectionalLight:
    """Directional lighting: a parallel beam along `direction` (3,). Scratches and edges scatter it to the camera.

        >>> DirectionalLight([0, 0, -2.0]).direction
        array([ 0.,  0., -1.])

    A surface with the normal n gets `intensity` · max(-n · direction, 0) (Lambert), and nothing in the shadow of other
    solids, if `shadows`.
    """

    direction: Any
    intensity: float = 1.0
    shadows: bool = True

    def __post_init__(self):
        who = "DirectionalLight"
        _frozen(
            self,
            direction=unit_vector(self.direction, "direction", who),
            intensity=number(self.intensity, "intensity", who, least=0),
        )


@dataclass(frozen=True, eq=False)
class StructuredLight:
    """Structured lighting: a projector of "stripes", a "grid" or "dots". Where the pattern bends, there is an object.

        >>> projector = StructuredLight([0, 0, 2.0], pattern="grid", period=0.1, width=0.02)

    `T_world_light` (4, 4) is the pose of the projector, which shines from its origin along z; a position (3,) stands
    for one that shines down, along -z of the world. Stripes are planes of light x = w z of its frame, with slopes w
    that are multiples of `period` ± `width` / 2; a grid has those of y, too; dots are where both meet. Beyond the slope
    `field` there is no light. Surfaces get `intensity` · cos of the angle of incidence, at any distance.
    """

    T_world_light: Any
    pattern: str = "stripes"
    period: float = 0.1
    width: float = 0.05
    field: float = 1.0
    intensity: float = 1.0
    shadows: bool = True

    def __post_init__(self):
        who = "StructuredLight"
        one_of(self.pattern, PATTERNS, f"{who}: pattern")
        _frozen(
            self,
            T_world_light=_light_pose(self.T_world_light, who),
            **{k: number(getattr(self, k), k, who, least=0, above=True) for k in ("period", "width", "field")},
            intensity=number(self.intensity, "intensity", who, least=0),
        )
        if self.width > self.period:
            raise ArgumentError(f"{who}: 'width' is {self.width:g}; it must be at most 'period', {self.period:g}")


@dataclass(frozen=True, eq=False)
class LightSheet:
    """A sheet of light, x = 0 with z > 0 of the frame `T_world_light` (4, 4), of a `thickness` [m], from its origin.

        >>> laser = LightSheet([0, 0, 1.0], thickness=0.002)

    A position (3,) stands for a sheet that shines down, in the plane of y and z of the world.
    """

    T_world_light: Any
    thickness: float = 0.002
    intensity: float = 1.0
    shadows: bool = True

    def __post_init__(self):
        who = "LightSheet"
        _frozen(
            self,
            T_world_light=_light_pose(self.T_world_light, who),
            thickness=number(self.thickness, "thickness", who, least=0, above=True),
            intensity=number(self.intensity, "intensity", who, least=0),
        )


Light = DiffuseLight | BackLight | DirectionalLight | StructuredLight | LightSheet


def _light_pose(value, caller: str) -> np.ndarray:
    T = pose(value, "T_world_light", caller)
    if np.shape(value) == (3,):
        T = T.copy()
        T[:3, :3] = np.diag([1.0, -1.0, -1.0])
        T.setflags(write=False)
    return T


def double_light_plane(
    point, along, *, height: float = 1.0, angle: float = np.pi / 4, thickness: float = 0.002, intensity: float = 1.0
) -> tuple[LightSheet, LightSheet]:
    """Two sheets of light that meet in one stripe on a conveyor belt: one source would not do.

        >>> left, right = double_light_plane([0, 0, 0], along=[0, 1.0, 0])

    The stripe goes through `point` (3,) along `along` (3,), which is horizontal. The sources are `height` [m] above it,
    on either side, and their sheets are tilted by `angle` [rad] from the vertical. A line scan camera above sees a
    bright line. An object ahead of the line or behind it keeps one of the sheets from the stripe, not both; it breaks
    the line only directly below the camera. Reference: Fu, Gonzalez & Lee (1987), figure 7.10.
    """
    who = "double_light_plane"
    start, y = array(point, (3,), "point", who), unit_vector(along, "along", who)
    if abs(y[2]) > 1e-9:
        raise ArgumentError(f"{who}: 'along' must be horizontal, its z is {y[2]:g}")
    height = number(height, "height", who, least=0, above=True)
    angle = number(angle, "angle", who, least=0, most=1.5, above=True)
    side = np.cross(y, [0.0, 0, 1])
    sheets = []
    for sign in (-1.0, 1.0):
        z = -np.array([0, 0, np.cos(angle)]) - sign * np.sin(angle) * side
        T = np.eye(4)
        T[:3, :3] = np.stack([np.cross(y, z), y, z], axis=1)
        T[:3, 3] = start - z * height / np.cos(angle)
        sheets.append(LightSheet(T, thickness=thickness, intensity=intensity))
    return sheets[0], sheets[1]


def lights_of(lights, caller: str) -> tuple[Light, ...]:
    """One light or several, as a tuple; others raise an `ArgumentError`."""
    found = (lights,) if isinstance(lights, Light) else tuple(lights)
    for light in found:
        if not isinstance(light, Light):
            raise ArgumentError(
                f"{caller}: lights are DiffuseLight, BackLight, DirectionalLight, StructuredLight and LightSheet, got "
                f"{type(light).__name__}"
            )
    return found


# --- what a point of a surface gets, as kernels -----------------------------------------------------------------------


class Lit(NamedTuple):
    """What a surface scatters evenly and what it mirrors, from 0 to 1."""

    diffuse: np.ndarray
    mirrored: np.ndarray


def _reflected(normal, to_light, to_eye, shininess) -> Lit:
    """Lambert's cosine, and Phong's lobe about the mirrored ray."""
    cosine = normal @ to_light
    mirrored = 2 * cosine * normal - to_light
    lobe = np.maximum(mirrored @ to_eye, 0.0)
    lit = cosine > 0
    safe = np.where(lobe > 0, lobe, 1.0)
    return Lit(np.maximum(cosine, 0.0), np.where(lit & (lobe > 0), np.exp(shininess * np.log(safe)), 0.0))


@kernel(normal=3, up=3)
def sky_share(normal, up):
    """The share of a hemisphere about `up` that a surface sees, weighted by the cosine of incidence."""
    return (1 + normal @ up) / 2


@kernel(normal=3, to_light=3, to_eye=3)
def lambert(normal, to_light, to_eye, shininess) -> Lit:
    """What a surface gets and mirrors of a parallel beam. All vectors are unit vectors."""
    return _reflected(normal, to_light, to_eye, shininess)


def _towards(T, point):
    local = T[:3, :3].T @ (point - T[:3, 3])
    away = T[:3, 3] - point
    return local, away / np.sqrt(np.maximum(away @ away, 1e-300))


@kernel(pattern=static, T=(4, 4), point=3, normal=3, to_eye=3)
def pattern_light(pattern, T, period, width, field, point, normal, to_eye, shininess) -> Lit:
    """What a point of a surface gets of a projector's pattern."""
    local, to_light = _towards(T, point)
    in_front = local[2] > 0
    z = np.where(in_front, local[2], 1.0)
    slopes = local[0] / z, local[1] / z
    off = [np.abs(w / period - np.floor(w / period + 0.5)) * period for w in slopes]
    on = [x <= width / 2 for x in off]
    shines = {"stripes": on[0], "grid": on[0] | on[1], "dots": on[0] & on[1]}[pattern]
    shines = shines & in_front & (np.abs(slopes[0]) <= field) & (np.abs(slopes[1]) <= field)
    lit = _reflected(normal, to_light, to_eye, shininess)
    return Lit(np.where(shines, lit.diffuse, 0.0), np.where(shines, lit.mirrored, 0.0))


@kernel(T=(4, 4), point=3, normal=3, to_eye=3)
def sheet_light(T, thickness, point, normal, to_eye, shininess) -> Lit:
    """What a point of a surface gets of a sheet of light."""
    local, to_light = _towards(T, point)
    shines = (np.abs(local[0]) <= thickness / 2) & (local[2] > 0)
    lit = _reflected(normal, to_light, to_eye, shininess)
    return Lit(np.where(shines, lit.diffuse, 0.0), np.where(shines, lit.mirrored, 0.0))
