"""`link_shapes`: capsules or spheres around the links of a robot, fixed to its bodies, with stated errors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..display import html_table
from ..errors import ArgumentError
from ..kinematics import forward_kinematics
from ..lazy import cached_property
from ..model.input_checks import count, one_of, positive
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..sensing.scene.scene_checks import array, pose
from ..sensing.scene.solids import Capsule, Sphere
from .shape_excess import MeshSamples, excess_of
from .shape_fitting import Fit, row_of_balls
from .shape_keeping import KeptResult, constant, keep, kept, key_of_shape
from .shape_sources import SOURCES, LinkPiece, link_pieces
from .shape_splitting import split_fits

_MOST = {"capsules": 3, "spheres": 16}  # shapes of a link, unless the user says another number
_ARRAYS = ("starts", "ends", "radii", "excess", "hull_radii")  # of `LinkShapes`
_NUMBERED = re.compile(r"#\d+$")

__all__ = ["LinkShapes", "link_shapes", "shape_solids"]


@dataclass(frozen=True, eq=False, repr=False)
class LinkShapes:
    """Capsules around the links of a robot, each fixed to a body: see `link_shapes`.

    - `bodies` (k,) are the numbers of the bodies, -1 for the base.
    - `starts` and `ends` (k, 3) [m] are the ends of the segments in the frames of the bodies; both are equal for balls.
    - `radii` (k,) [m].
    - `excess` (k,) [m] is how far the surface of each shape is from the link at most, where no other shape of the link
      covers it; 0 for shapes that the model itself states.
    - `names` (k,) are the names of the links; a second shape of a link is "link#2".
    - `kind` is "capsules" or "spheres", and `notes` tell what could not be read.
    - `hulls` (k,) of points (n, 3) [m] in the frames of the bodies, and `hull_radii` (k,) [m]: a shape contains the
      convex hull of its points, padded by the radius, and all these hulls contain the links. They are nearer to the
      links than the shapes are. Without any, both are empty.
    """

    bodies: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    radii: np.ndarray
    excess: np.ndarray
    names: tuple[str, ...]
    kind: str = "capsules"
    notes: tuple[str, ...] = ()
    hulls: tuple[np.ndarray, ...] = ()
    hull_radii: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.bodies)

    @cached_property
    def groups(self) -> dict[int, np.ndarray]:
        """{body: numbers of its shapes}, in the order of the bodies; -1 is the base."""
        return {int(body): np.flatnonzero(self.bodies == body) for body in np.unique(self.bodies)}

    @property
    def links(self) -> tuple[str, ...]:
        """The names (k,) of the links that the shapes are around: `names` without "#2", "#3", ..."""
        return tuple(_NUMBERED.sub("", name) for name in self.names)

    @property
    def lengths(self) -> np.ndarray:
        """How far apart the ends (k,) of the segments are [m]."""
        return np.linalg.norm(self.ends - self.starts, axis=1)

    @property
    def volumes(self) -> np.ndarray:
        """The volumes (k,) π r² L + 4/3 π r³ [m³]."""
        return np.pi * self.radii**2 * (self.lengths + 4 / 3 * self.radii)

    def __repr__(self) -> str:
        most = f", each at most {1e3 * self.excess.max():.1f} mm off its link" if len(self) else ""
        return f"<LinkShapes: {len(self)} {self.kind} around {len(self.groups)} bodies{most}>"

    def __str__(self) -> str:
        wide = max([*map(len, self.names), 5])
        lines = [f"{'shape':<{wide}}  body  radius [mm]  length [mm]  excess [mm]"]
        for row in self._rows():
            lines.append(f"{row[0]:<{wide}}  {row[1]:>4}  {row[2]:>11.1f}  {row[3]:>11.1f}  {row[4]:>11.1f}")
        return "\n".join([repr(self)[1:-1], *lines, *self.notes])

    def _rows(self):
        values = zip(self.names, self.bodies, self.radii, self.lengths, self.excess, strict=True)
        return [(name, int(body), 1e3 * r, 1e3 * long, 1e3 * e) for name, body, r, long, e in values]

    def _repr_html_(self) -> str:
        header = ["shape", "body", "radius [mm]", "length [mm]", "excess [mm]"]
        return html_table(repr(self)[1:-1], header, self._rows(), self.notes)


def link_shapes(
    robot: Robot, kind: str = "capsules", *, most: int | None = None, tolerance: float = 0.02, source: str = "auto"
) -> LinkShapes:
    """Capsules or spheres around the links of a robot: see `LinkShapes`.

        >>> link_shapes(robots.two_link())
        <LinkShapes: ...>

    `most` is the number of shapes of a link at most, 3 capsules or 16 spheres by default; there are fewer if each is
    within `tolerance` [m] of the link, or if more do not pay. `source` is what shapes are made from: "collision",
    "visual", "drawing", or the first of them that the model has, "auto". The shapes contain the links, also what is
    inside of closed meshes. A link takes some tenths of a second; results are kept on disk, beside the machine code of
    kernels, and the next process has them at once, unless the robot, a mesh file or the library has changed.
    """
    need_robot(robot, "link_shapes")
    one_of(kind, tuple(_MOST), "link_shapes: kind")
    one_of(source, SOURCES, "link_shapes: source")
    number = count(_MOST[kind] if most is None else most, "link_shapes: most")
    if number == 0:
        raise ArgumentError("link_shapes: most must be 1 or more, got 0")
    return _found(robot, kind, number, positive(tolerance, "link_shapes: tolerance"), source)


class _Found(NamedTuple):
    """A shape of a link, its excess [m], and the points (n, 3) with a radius [m] whose hull it contains."""

    fit: Fit
    excess: float
    hull: np.ndarray
    padding: float


@once_a_robot
def _found(robot: Robot, kind: str, most: int, tolerance: float, source: str) -> LinkShapes:
    """The shapes that another process has kept on disk, or new ones, which are kept there."""
    name = key_of_shape(robot, "link_shapes", kind, most, tolerance, source)
    known = kept(name) if name is not None else None
    if known is not None:
        return _unpacked(known)
    found = _made(robot, kind, most, tolerance, source)
    if name is not None:
        facts = {"names": found.names, "kind": kind, "notes": found.notes, "bodies": found.bodies.tolist()}
        keep(name, facts, [getattr(found, field) for field in _ARRAYS] + [*found.hulls])
    return found


def _unpacked(known: KeptResult) -> LinkShapes:
    facts, n = known.facts, len(_ARRAYS)
    return LinkShapes(
        bodies=constant(np.array(facts["bodies"], int)),
        **dict(zip(_ARRAYS, known.arrays[:n], strict=True)),
        names=tuple(facts["names"]),
        kind=facts["kind"],
        notes=tuple(facts["notes"]),
        hulls=tuple(known.arrays[n:]),
    )


def _made(robot: Robot, kind: str, most: int, tolerance: float, source: str) -> LinkShapes:
    links, notes = link_pieces(robot, source)
    bodies, names, found = [], [], []
    for link in sorted(links, key=lambda x: x.body):
        own = _of_link(link, kind, most, tolerance)
        found += own
        bodies += [link.body] * len(own)
        names += [link.name, *(f"{link.name}#{k + 2}" for k in range(len(own) - 1))][: len(own)]
    return LinkShapes(
        bodies=constant(np.array(bodies, int)),
        starts=constant(np.array([x.fit.start for x in found]).reshape(-1, 3)),
        ends=constant(np.array([x.fit.end for x in found]).reshape(-1, 3)),
        radii=constant(np.array([x.fit.radius for x in found], float)),
        excess=constant(np.array([x.excess for x in found], float)),
        names=tuple(names),
        kind=kind,
        notes=notes,
        hulls=tuple(constant(x.hull) for x in found),
        hull_radii=constant(np.array([x.padding for x in found], float)),
    )


def _of_link(link: LinkPiece, kind: str, most: int, tolerance: float) -> list[_Found]:
    """The shapes of a link: those that its model states, and those around its triangles."""
    found = []
    for solid in link.solids:
        for fit in [solid] if kind == "capsules" else row_of_balls(solid, most, tolerance):
            found.append(_Found(fit, fit.radius - solid.radius, np.stack([solid.start, solid.end]), solid.radius))
    if len(link.triangles):
        mesh = MeshSamples(link.triangles)
        parts = split_fits(link.triangles, kind, most, tolerance, mesh)
        fits = [fit._replace(radius=fit.radius + link.slack) for fit, _ in parts]
        for fit, (_, corners) in zip(fits, parts, strict=True):
            excess = excess_of(fit, mesh, [x for x in fits if x is not fit]) + link.slack
            found.append(_Found(fit, excess, corners, link.slack))
    return found


def shape_solids(robot: Robot, shapes: LinkShapes, q, *, T_world_base=None) -> tuple[Capsule | Sphere, ...]:
    """The shapes at q (nq,) as solids in the world, with the names of the shapes, to be drawn or met by rays.

        >>> from adjoint.sensing import Scene
        >>> scene = Scene(shape_solids(robot, link_shapes(robot, most=1), q))

    `T_world_base` (4, 4) is the pose of the base. Solids of `robot_solids` show the links themselves.
    """
    need_robot(robot, "shape_solids")
    need_shapes(robot, shapes, "shape_solids")
    base = pose(T_world_base, "T_world_base", "shape_solids")
    places = base @ forward_kinematics(robot, array(q, (robot.nq,), "q", "shape_solids"))
    found = []
    for body, start, end, radius, name in zip(
        shapes.bodies, shapes.starts, shapes.ends, shapes.radii, shapes.names, strict=True
    ):
        T = base if body < 0 else places[body]
        middle, way = (start + end) / 2, end - start
        length = float(np.linalg.norm(way))
        local = np.eye(4)
        local[:3, 3] = middle
        if length > 0:
            z = way / length
            x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
            x /= np.linalg.norm(x)
            local[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
            found.append(Capsule(radius, length, T_world_solid=T @ local, name=name))
        else:
            found.append(Sphere(radius, T_world_solid=T @ local, name=name))
    return tuple(found)


def need_shapes(robot: Robot, shapes, caller: str) -> None:
    """Raise an `ArgumentError` if `shapes` are no shapes of a robot with so many bodies."""
    if not isinstance(shapes, LinkShapes):
        given = type(shapes).__name__
        raise ArgumentError(f"{caller}: 'shapes' must be LinkShapes, such as link_shapes(robot); got {given}")
    n = len(robot.body_names)
    if shapes.bodies.max(initial=-1) >= n:
        last = shapes.bodies.max()
        raise ArgumentError(f"{caller}: a shape belongs to body {last}, but '{robot.name}' has {n} bodies")
