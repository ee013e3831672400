"""Solids of a scene: frozen data with a pose and a look. A mesh shares its triangles with all its moved copies."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ...compile.front.arguments import unmasked
from ...errors import ArgumentError
from .scene_checks import colour_of, lengths, number, pose
from .triangle_sets import Triangles, triangles_of

__all__ = ["Box", "Capsule", "Cylinder", "Mesh", "Plane", "Solid", "Sphere", "Textured"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Solid:
    """What all solids have in common: where a solid is, its name and its look.

    - `T_world_solid` (4, 4) is the pose of the solid's frame in the world; a position (3,) stands for a pose with the
      axes of the world.
    - `name` is how a `Scene` finds the solid; the empty name is that of nobody.
    - `colour` (3,) is the part of red, green and blue light that the surface scatters, from 0 to 1; one number is gray.
    - `specular` from 0 to 1 is how much light it mirrors, in a lobe cosⁿ with n = `shininess` (Phong's model).
    """

    KIND: ClassVar[str] = ""
    T_world_solid: Any = None
    name: str = ""
    colour: Any = 0.7
    specular: float = 0.0
    shininess: float = 20.0

    def __post_init__(self):
        who = type(self).__name__
        if not isinstance(self.name, str):
            raise ArgumentError(f"{who}: 'name' must be a string, got {self.name!r:.60}")
        self._set(
            T_world_solid=pose(self.T_world_solid, "T_world_solid", who),
            colour=colour_of(self.colour, "colour", who),
            specular=number(self.specular, "specular", who, least=0, most=1),
            shininess=number(self.shininess, "shininess", who, least=0, above=True),
        )

    def _set(self, **values) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def at(self, T_world_solid) -> Self:
        """The same solid at another pose (4, 4), or at a position (3,) with the axes of the world."""
        return dataclasses.replace(self, T_world_solid=T_world_solid)

    def replace(self, **fields) -> Self:
        """The same solid with other values of some fields."""
        try:
            return dataclasses.replace(self, **fields)
        except TypeError as error:
            raise ArgumentError(f"{type(self).__name__}.replace: {error}") from None

    @property
    def dimensions(self) -> np.ndarray:
        """The three numbers (3,) that the kernels of its kind take."""
        return np.zeros(3)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The lowest and the highest corner (3,), (3,) of a box around the solid in its own frame; None if infinite."""
        return None

    @property
    def hull(self) -> tuple[np.ndarray, float] | None:
        """Points (8, 3) in the solid's frame and a radius: balls of it about them have the solid in their hull."""
        if self.bounds is None:
            return None
        low, high = self.bounds
        return np.array(
            [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
        ), 0.0

    def __repr__(self) -> str:
        named = f" '{self.name}'" if self.name else ""
        x, y, z = self.T_world_solid[:3, 3]
        return f"<{type(self).__name__}{named} at ({x:.4g}, {y:.4g}, {z:.4g})>"


@dataclass(frozen=True, eq=False, repr=False)
class Plane(Solid):
    """The half-space z ≤ 0 of its frame: a floor or a wall, whose surface is the plane z = 0 and whose normal is z.

    >>> floor = Plane(name="floor", colour=0.4)
    """

    KIND = "plane"


@dataclass(frozen=True, eq=False, repr=False)
class Sphere(Solid):
    """A ball of a `radius` [m] about the origin of its frame.

    >>> Sphere(0.1, T_world_solid=[0.5, 0, 0.1], name="ball")
    <Sphere 'ball' at (0.5, 0, 0.1)>
    """

    KIND = "sphere"
    radius: float

    def __post_init__(self):
        super().__post_init__()
        self._set(radius=number(self.radius, "radius", "Sphere", least=0, above=True))

    @property
    def dimensions(self) -> np.ndarray:
        return np.array([self.radius, 0.0, 0.0])

    @property
    def bounds(self):
        return np.full(3, -self.radius), np.full(3, self.radius)

    @property
    def hull(self):
        return np.zeros((8, 3)), self.radius


@dataclass(frozen=True, eq=False, repr=False)
class Box(Solid):
    """A cuboid with edges of `size` (3,) [m] along the axes of its frame, whose origin is its centre.

    >>> Box([0.2, 0.1, 0.05], name="block").size
    array([0.2 , 0.1 , 0.05])
    """

    KIND = "box"
    size: Any

    def __post_init__(self):
        super().__post_init__()
        self._set(size=lengths(self.size, (3,), "size", "Box"))

    @property
    def dimensions(self) -> np.ndarray:
        return self.size / 2

    @property
    def bounds(self):
        return -self.size / 2, self.size / 2


@dataclass(frozen=True, eq=False, repr=False)
class _Round(Solid):
    """A solid of revolution about z, with a `radius` and a `length` [m]; the origin is its centre."""

    radius: float
    length: float

    def __post_init__(self):
        super().__post_init__()
        who = type(self).__name__
        self._set(
            radius=number(self.radius, "radius", who, least=0, above=True),
            length=number(self.length, "length", who, least=0, above=self.KIND == "cylinder"),
        )

    @property
    def dimensions(self) -> np.ndarray:
        return np.array([self.radius, self.length / 2, 0.0])


@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(_Round):
    """A cylinder of a `radius` and a `length` [m] along z; the origin of its frame is its centre.

    >>> can = Cylinder(0.03, 0.12, T_world_solid=[0.4, 0.1, 0.06])
    """

    KIND = "cylinder"

    @property
    def bounds(self):
        corner = np.array([self.radius, self.radius, self.length / 2])
        return -corner, corner


@dataclass(frozen=True, eq=False, repr=False)
class Capsule(_Round):
    """A cylinder of a `radius` and a `length` [m] along z between two halves of a ball of the same radius.

    >>> link = Capsule(0.05, 0.4, T_world_solid=[0, 0, 0.3])
    """

    KIND = "capsule"

    @property
    def bounds(self):
        corner = np.array([self.radius, self.radius, self.length / 2 + self.radius])
        return -corner, corner

    @property
    def hull(self):
        ends = np.zeros((8, 3))
        ends[::2, 2], ends[1::2, 2] = self.length / 2, -self.length / 2
        return ends, self.radius


@dataclass(frozen=True, eq=False, repr=False)
class Textured(Solid):
    """A thin rectangle with an image on it: a chessboard, a marker or a photograph, to be seen by cameras.

        >>> board = Textured([0.08, 0.06], np.indices((6, 8)).sum(axis=0) % 2, name="board")

    `size` (2,) [m] is its (width, height) along x and y of its frame, whose origin is the middle of the rectangle. The
    `image` (rows, columns[, 3]), of uint8, truth values or floats from 0 to 1, is seen upright by a viewer on the side
    of z with y up: the pixel in column c and row r covers

        x = ((c + ½ ± ½) / columns - ½) width,      y = (½ - (r + ½ ± ½) / rows) height.

    Each pixel of the image is a rectangle of one colour with sharp borders. From behind, `colour` is seen.
    """

    KIND = "textured"
    size: Any
    image: Any

    def __post_init__(self):
        super().__post_init__()
        self._set(size=lengths(self.size, (2,), "size", "Textured"), image=_texture(self.image))

    @property
    def dimensions(self) -> np.ndarray:
        return np.array([*self.size / 2, 0.0])

    @property
    def bounds(self):
        return -self.dimensions, self.dimensions

    def corners(self) -> np.ndarray:
        """The corners (4, 3) [m] in the world: upper left, upper right, lower right, lower left, as seen upright."""
        x, y = self.size / 2
        local = np.array([[-x, y, 0], [x, y, 0], [x, -y, 0], [-x, -y, 0]])
        return local @ self.T_world_solid[:3, :3].T + self.T_world_solid[:3, 3]


def _texture(image) -> np.ndarray:
    """The image as floats from 0 to 1, (rows, columns) or (rows, columns, 3)."""
    try:
        found = np.asarray(unmasked(image))
    except (TypeError, ValueError):
        found = np.asarray(None)
    if (
        found.dtype.kind not in "buif"
        or found.ndim not in (2, 3)
        or not found.size
        or found.shape[2:] not in ((), (3,))
    ):
        raise ArgumentError(
            "Textured: 'image' must be an array (rows, columns) or (rows, columns, 3) of real numbers, got shape "
            f"{found.shape} of {found.dtype}"
        )
    floats = found.astype(float) / (255 if found.dtype == np.uint8 else 1)
    if not ((floats >= 0) & (floats <= 1)).all():
        raise ArgumentError("Textured: 'image' must be of uint8, or have values from 0 to 1")
    floats.setflags(write=False)
    return floats


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Solid):
    """Triangles, seen from both sides.

        >>> faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        >>> Mesh(([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], faces)).triangles
        <Triangles: 4 vertices, 4 faces>

    `triangles` is a pair (vertices (k, 3) [m], faces (m, 3)), such as `adjoint.drawing.Mesh`, an object of trimesh, the
    path of a mesh file (STL, OBJ, PLY, ...; read by trimesh, the extra `[view]`), or the `triangles` of another mesh.
    Faces are counterclockwise seen from outside, where this matters: normals point there. The tree that rays are cast
    against is built once, at the first use, and belongs to all copies of the mesh at other poses.
    """

    KIND = "mesh"
    triangles: Any

    def __post_init__(self):
        super().__post_init__()
        self._set(triangles=triangles_of(self.triangles, "Mesh"))

    @property
    def bounds(self):
        t: Triangles = self.triangles
        return t.lowest, t.highest
