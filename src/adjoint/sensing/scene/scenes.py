"""`Scene`: solids that sensors meet. It never changes; adding, moving and replacing give new scenes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...drawing import shapes
from ...errors import ArgumentError, nearest
from ...kinematics import forward_kinematics
from ...lazy import cached_property
from ...model.needs import need_robot
from ...model.once import once_a_robot
from ...model.robot import Robot
from .ray_solids import KINDS
from .scene_checks import array, pose
from .solids import Mesh, Solid
from .triangle_sets import triangles_of

__all__ = ["ROW_SIZE", "Scene", "robot_solids"]

ROW_SIZE = 16  # numbers of a solid in a table: rotation (9), position (3), dimensions (3), its number


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """Solids in the world: a tuple `solids`. A number or a name finds one of them.

        >>> from adjoint.sensing import Box, Plane, Sphere
        >>> scene = Scene([Plane(name="floor"), Sphere(0.1, T_world_solid=[0, 0, 0.1], name="ball")])
        >>> scene["ball"]
        <Sphere 'ball' at (0, 0, 0.1)>
        >>> scene.move("ball", [1.0, 0, 0.1]).add(Box([0.1, 0.1, 0.1]))
        <Scene of 3 solids: Plane 'floor', Sphere 'ball', Box>

    Names that are not empty differ. Poses and dimensions are inputs of machine code, so that nothing is compiled again
    when solids move, come or go.
    """

    solids: Any = ()

    def __post_init__(self):
        if isinstance(self.solids, Solid):
            raise ArgumentError("Scene: 'solids' must be a list of solids, got one solid; write Scene([solid])")
        solids = tuple(self.solids)
        for solid in solids:
            if not isinstance(solid, Solid) or type(solid) is Solid:
                raise ArgumentError(f"Scene: solids are Plane, Sphere, Box, ...; got {type(solid).__name__}")
        names = [solid.name for solid in solids if solid.name]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentError(f"Scene: two solids have the name '{twice}'; names must differ")
        object.__setattr__(self, "solids", solids)

    def __len__(self) -> int:
        return len(self.solids)

    def __iter__(self) -> Iterator[Solid]:
        return iter(self.solids)

    def __getitem__(self, which: int | str) -> Solid:
        return self.solids[self.index(which)]

    def __repr__(self) -> str:
        shown = [f"{type(s).__name__}{f' {s.name!r}' if s.name else ''}" for s in self.solids[:8]]
        more = ", ..." if len(self) > 8 else ""
        kind = "solid" if len(self) == 1 else "solids"
        return f"<Scene of {len(self)} {kind}{': ' * bool(shown)}{', '.join(shown)}{more}>"

    def index(self, which: int | str) -> int:
        """The number of a solid that is given by its name, or by its number."""
        if isinstance(which, str):
            names = [solid.name for solid in self.solids]
            if not which or which not in names:
                raise ArgumentError(f"the scene has no solid '{which}'; {nearest(which, [n for n in names if n])}")
            return names.index(which)
        if not isinstance(which, int | np.integer) or not -len(self) <= which < len(self):
            raise ArgumentError(f"the scene has {len(self)} solids, numbered from 0; {which!r:.60} is none of them")
        return int(which) % len(self)

    def add(self, *solids: Solid) -> Scene:
        """The scene with further solids at its end."""
        return Scene((*self.solids, *solids))

    def remove(self, *which: int | str) -> Scene:
        """The scene without some solids, given by names or numbers."""
        gone = {self.index(x) for x in which}
        return Scene([solid for k, solid in enumerate(self.solids) if k not in gone])

    def replace(self, *solids: Solid) -> Scene:
        """The scene with each of these solids in the place of the one that has the same name."""
        found = list(self.solids)
        for solid in solids:
            found[self.index(solid.name)] = solid
        return Scene(found)

    def move(self, which: int | str | Mapping[str, Any], T_world_solid=None) -> Scene:
        """The scene with a solid at another pose (4, 4) or position (3,); a mapping {name: pose} moves several."""
        moves = which if isinstance(which, Mapping) else {which: T_world_solid}
        found = list(self.solids)
        for key, T in moves.items():
            if T is None:
                raise ArgumentError(f"Scene.move: where to? Give the pose (4, 4) of {key!r} or its position (3,)")
            found[self.index(key)] = self[key].at(T)
        return Scene(found)

    @cached_property
    def tables(self) -> dict[str, np.ndarray]:
        """{kind: rows (n, 16)} of the solids of each kind that has no triangles; see `ROW_SIZE`."""
        rows: dict[str, list[np.ndarray]] = {}
        for k, solid in enumerate(self.solids):
            if solid.KIND in KINDS:
                T = solid.T_world_solid
                rows.setdefault(solid.KIND, []).append(np.array([*T[:3, :3].flat, *T[:3, 3], *solid.dimensions, k]))
        return {kind: np.array(table) for kind, table in rows.items()}

    @cached_property
    def poses(self) -> np.ndarray:
        """The poses (n, 4, 4) of all solids."""
        return np.array([solid.T_world_solid for solid in self.solids]).reshape(-1, 4, 4)

    @cached_property
    def extents(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points (n, 8, 3) and radii (n,): balls of this radius about the points have the solid in their hull.

        Whether a solid is infinite (n,) comes third.
        """
        found = [solid.hull for solid in self.solids]
        points = np.array([np.zeros((8, 3)) if hull is None else hull[0] for hull in found]).reshape(-1, 8, 3)
        radii = np.array([0.0 if hull is None else hull[1] for hull in found])
        return points, radii, np.array([hull is None for hull in found], bool)

    @cached_property
    def meshes(self) -> list[tuple[int, Mesh]]:
        """The meshes with their numbers."""
        return [(k, solid) for k, solid in enumerate(self.solids) if isinstance(solid, Mesh)]


# --- robots -----------------------------------------------------------------------------------------------------------


def robot_solids(robot: Robot, q, *, T_world_base=None, meshes: bool = True) -> tuple[Mesh, ...]:
    """The shapes of a robot at q (nq,) as meshes, named after its bodies: "puma560.link2", then "puma560.link2#2".

        >>> from adjoint.sensing import Plane
        >>> scene = Scene([Plane()]).add(*robot_solids(robot, q))
        >>> moved = scene.replace(*robot_solids(robot, q + 0.1))                # the robot in another configuration

    They are those of `adjoint.drawing.shapes`, in the world if the base is at `T_world_base` (4, 4). With
    `meshes=False` they are drawn from the kinematics instead of mesh files. Trees over triangles are built once for a
    robot, whatever its configurations.
    """
    need_robot(robot, "robot_solids")
    base = pose(T_world_base, "T_world_base", "robot_solids")
    q = array(q, (robot.nq,), "q", "robot_solids")
    places = base @ forward_kinematics(robot, q)
    found = []
    for body, name, triangles, colour in _parts(robot, bool(meshes)):
        T = base if body < 0 else places[body]
        found.append(Mesh(triangles, T_world_solid=T, name=name, colour=colour))
    return tuple(found)


@once_a_robot
def _parts(robot: Robot, meshes: bool) -> list[tuple]:
    """The shapes of a robot: (body, name, triangles, colour)."""
    found, seen = [], {}
    for shape in shapes(robot, meshes=meshes):
        name = f"{robot.name}.{robot.bodies[shape.body].name if shape.body >= 0 else 'base'}"
        seen[name] = seen.get(name, 0) + 1
        name = name if seen[name] == 1 else f"{name}#{seen[name]}"
        found.append((shape.body, name, triangles_of(shape.mesh, "robot_solids"), np.clip(shape.color[:3], 0, 1)))
    return found
