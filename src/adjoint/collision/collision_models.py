"""`CollisionModel`: a robot as capsules among obstacles, with what it carries; the data that checks are made on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, nearest
from ..lazy import cached_property
from ..model.needs import need_numbers, need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..sensing.scene.scene_checks import pose
from ..sensing.scene.scenes import Scene
from ..sensing.scene.solids import Solid
from .body_pairs import BodyPairs, colliding_pairs
from .model_arguments import (
    body_numbers,
    carried_of,
    common_margin,
    ignored_pairs,
    link_of,
    margins_of,
    scene_of,
    shape_pairs_of,
)  # fmt: skip
from .model_carried import covering_capsules
from .model_plan import ModelPlan
from .model_tables import ObstacleTables, obstacle_tables
from .shapes_of_links import LinkShapes, link_shapes

__all__ = ["CollisionModel", "collision_model"]

_FEW = 512  # configurations that one thread checks
_FAR = 1e6  # where rows of the table of carried shapes that nobody needs are [m]


@dataclass(frozen=True, eq=False, repr=False)
class CollisionModel:
    """A robot and all that it may collide with: `collision_model` makes one, and `is_free` and others ask it.

    - `robot`, and its `shapes`: capsules around the links, see `link_shapes`.
    - `obstacles`: a `Scene`.
    - `pairs`: which bodies of the robot are checked against each other: `BodyPairs`, or numbers (p, 2), -1 for a base.
    - `carried`: pairs (frame of the robot, solid in that frame), covered by capsules with the excess `carried_excess`.
    - `ignore`: pairs of names, of what may touch an obstacle, and of the obstacle.
    - `T_world_base` (4, 4), and `margins` (n,) [m]: how far the robot stays away from each obstacle.

    A model never changes. `with_obstacles` and `with_carried` give others, without anything being compiled again.
    """

    robot: Robot
    shapes: LinkShapes
    obstacles: Scene
    pairs: BodyPairs | np.ndarray
    carried: tuple[tuple[str, Solid], ...]
    ignore: frozenset[tuple[str, str]]
    T_world_base: np.ndarray
    margins: np.ndarray
    _plan: ModelPlan

    def with_obstacles(self, obstacles, *, margin=None, ignore=None) -> CollisionModel:
        """The same robot among other `obstacles`, a `Scene` or a list of solids; nothing is compiled.

        The margin and the ignored pairs are those of this model, if they are not given: `margin` must be given if this
        model has margins that differ.
        """
        who = "with_obstacles"
        scene = scene_of(obstacles, who)
        if margin is None:
            margin = common_margin(self.margins, who)
        pairs = self._kept(scene) if ignore is None else ignore
        return dataclasses.replace(
            self, obstacles=scene, margins=margins_of(margin, scene, who), ignore=ignored_pairs(pairs, who)
        )._checked(who)

    def with_carried(self, carried, *, ignore=None) -> CollisionModel:
        """The same model with other `carried` solids, pairs (frame of the robot, solid in that frame).

        Nothing is compiled, but for the first solids that a robot ever carries.
        """
        who = "with_carried"
        new = dataclasses.replace(self, carried=carried_of(self.robot, carried, who))
        return dataclasses.replace(
            new,
            ignore=ignored_pairs(new._kept(self.obstacles) if ignore is None else ignore, who),
            _plan=self._plan.sized(len(new.carried_table)),
        )._checked(who)

    def _kept(self, scene: Scene) -> frozenset[tuple[str, str]]:
        """The ignored pairs whose solids are still there."""
        names = {solid.name for solid in scene} | {solid.name for _, solid in self.carried} | set(self._own_names)
        return frozenset(pair for pair in self.ignore if pair[0] in names and pair[1] in names)

    def _checked(self, caller: str) -> CollisionModel:
        """This model, or an `ArgumentError` if an ignored pair names what is not there."""
        if self.ignore:
            known = [name for name in (*self._own_names, *(s.name for _, s in self.carried)) if name]
            others = [solid.name for solid in self.obstacles if solid.name]
            for a, b in self.ignore:
                if a not in known:
                    raise ArgumentError(
                        f"{caller}: 'ignore' names '{a}', which is no part of the robot; {nearest(a, known)}"
                    )
                if b not in others and b not in known:
                    raise ArgumentError(f"{caller}: 'ignore' names the obstacle '{b}'; {nearest(b, others + known)}")
        return self

    @cached_property
    def _own_names(self) -> tuple[str, ...]:
        """Names of shapes, links and bodies."""
        links = [link_of(name) for name in self.shapes.names]
        return tuple(dict.fromkeys((*self.shapes.names, *links, self.robot.base_name, *self.robot.body_names)))

    # --- tables -----------------------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> ObstacleTables:
        """The obstacles as inputs of machine code."""
        return obstacle_tables(self.obstacles, self.T_world_base, self.margins, "collision_model")

    @cached_property
    def _carried(self) -> tuple[np.ndarray, tuple[int, ...], float]:
        """Rows (c, 8) of the carried shapes, the numbers of their solids, and the largest excess."""
        rows, owners, excess = [], [], 0.0
        for k, (name, solid) in enumerate(self.carried):
            frame = self.robot.frame(name)
            T = frame.placement @ solid.T_world_solid
            starts, ends, radii, more = covering_capsules(solid, "carried")
            excess = max(excess, more)
            for start, end, radius in zip(starts, ends, radii, strict=True):
                rows.append([frame.body, *(T[:3, :3] @ start + T[:3, 3]), *(T[:3, :3] @ end + T[:3, 3]), radius])
                owners.append(k)
        return np.array(rows, float).reshape(-1, 8), tuple(owners), excess

    @property
    def carried_table(self) -> np.ndarray:
        """Rows (c, 8) of the capsules around what is carried: number of a body, start, end, radius."""
        return self._carried[0]

    @property
    def carried_excess(self) -> float:
        """How far the capsules around carried solids are outside of them at most [m]."""
        return self._carried[2]

    @cached_property
    def shape_names(self) -> tuple[str, ...]:
        """The names of all shapes, those of carried solids last."""
        return (*self.shapes.names, *(self.carried_name(k) for k in self._carried[1]))

    def carried_name(self, k: int) -> str:
        """The name of a carried solid, or of the frame that holds it."""
        frame, solid = self.carried[k]
        return solid.name or f"what '{frame}' holds"

    @cached_property
    def obstacle_names(self) -> tuple[str, ...]:
        """The names of the obstacles; those without a name are called by their kind and number."""
        return tuple(solid.name or f"{type(solid).__name__} {k}" for k, solid in enumerate(self.obstacles))

    @cached_property
    def shape_bodies(self) -> np.ndarray:
        """The bodies of all shapes, those of carried solids last."""
        return np.concatenate([self.shapes.bodies, self.carried_table[:, 0].astype(int)])

    @cached_property
    def allowed(self) -> np.ndarray:
        """Whether a shape may touch an obstacle: (obstacles, shapes)."""
        found = np.zeros((len(self.obstacles), len(self.shape_names)), bool)
        for name, obstacle in self.ignore:
            for j, solid in enumerate(self.obstacles):
                if solid.name == obstacle:
                    found[j] |= self._called(name)
        return found

    def _called(self, name: str) -> np.ndarray:
        """Which shapes have this name: it is that of a shape, a link, a body or a carried solid."""
        bodies = {body: k for k, body in enumerate((self.robot.base_name, *self.robot.body_names), -1)}
        own = [n == name or link_of(n) == name for n in self.shape_names]
        return np.array(own, bool) | (self.shape_bodies == bodies.get(name, -2))

    @cached_property
    def checked(self) -> np.ndarray:
        """Which shapes of the robot a carried shape is checked against: (carried, shapes).

        These are all but those of the body that holds it, and of the bodies that a joint connects with that body.
        """
        found = np.ones((len(self.carried_table), len(self.shapes)), bool)
        parents = np.asarray(self.robot.parents)
        for row, owner, marks in zip(self.carried_table, self._carried[1], found, strict=True):
            body = int(row[0])
            joined = {body, *np.flatnonzero(parents == body).tolist()} | ({int(parents[body])} if body >= 0 else set())
            marks[np.isin(self.shapes.bodies, list(joined))] = False
            for a, b in self.ignore:
                for one, other in ((a, b), (b, a)):
                    if one == self.carried[owner][1].name:
                        marks[self._called(other)[: len(self.shapes)]] = False
        return found

    @cached_property
    def carried_rows(self) -> np.ndarray | None:
        """`carried_table` with as many rows as the machine code has room for; None if it has none.

        What is not needed is far away, and may touch everything (see `inputs`).
        """
        if not self._plan.carried:
            return None
        rows = np.full((self._plan.carried, 8), _FAR)
        rows[:, 0], rows[:, 7] = -1, 0.0
        rows[: len(self.carried_table)] = self.carried_table
        return rows

    @cached_property
    def inputs(self) -> tuple[np.ndarray, ...]:
        """What kernels take after q."""
        t = self.tables
        if not self.ignore and self.carried_rows is None:
            return t.rows, t.ends
        allowed = np.zeros((len(t.rows), self._plan.columns))
        allowed[: len(t.order), : self.allowed.shape[1]] = self.allowed[t.order]
        allowed[:, len(self.shape_names) :] = 1
        if self.carried_rows is None:
            return t.rows, t.ends, allowed
        checked = np.zeros((self._plan.carried, len(self.shapes)))
        checked[: len(self.checked)] = self.checked
        return t.rows, t.ends, allowed, self.carried_rows, checked

    def run(self, function, q: np.ndarray) -> Any:
        """The result of a `SizedKernel` at q (n, nq)."""
        n = len(q)
        bound = self._plan.bound(function.few if n < _FEW else function.many)
        if n != 1:
            return bound(q, *self.inputs)
        # Two samples take code for batches: code for one sample would have to be compiled, and is no faster.
        found = bound(np.concatenate([q, q]), *self.inputs)
        return type(found)(*(x[:1] for x in found)) if isinstance(found, tuple) else found[:1]

    def __repr__(self) -> str:
        held = f", {len(self.carried)} carried" if self.carried else ""
        return (
            f"<CollisionModel of '{self.robot.name}': {len(self.shapes)} shapes, {len(self.pairs)} pairs of bodies, "
            f"{len(self.obstacles)} obstacles{held}>"
        )


def collision_model(
    robot: Robot,
    obstacles=(),
    *,
    shapes: LinkShapes | None = None,
    pairs=None,
    carried=(),
    T_world_base=None,
    margin=0.0,
    ignore=(),
) -> CollisionModel:
    """A robot among obstacles, for `is_free`, `clearance`, `edges_free` and others: a `CollisionModel`.

        >>> from adjoint.sensing import Box, Plane, Sphere
        >>> model = collision_model(robot, [Plane(T_world_solid=[0, 0, -0.1], name="floor"), Sphere(0.1, name="ball")])
        >>> model
        <CollisionModel of 'puma560': ... shapes, ... pairs of bodies, 2 obstacles>

    Parameters
    ----------
    robot
        Any `Robot`; free bases, mimics, prismatic joints and several trees are welcome.
    obstacles
        A `Scene`, or solids of `aj.sensing`, `ConvexHull` and `HeightField`, in the world. A `Mesh` counts as its
        convex hull. A `Plane` is a half-space without end.
    shapes
        Capsules around the links; those of `link_shapes(robot)` by default.
    pairs
        Pairs of bodies that are checked against each other: `BodyPairs`, names, or numbers (p, 2) with -1 for the base.
        None stands for `colliding_pairs(robot, shapes)`, which are found once for a robot and its shapes.
    carried
        Pairs (frame of the robot, solid in that frame). They are checked against obstacles, and against all bodies of
        the robot but the one that holds them and those that a joint connects with it.
    T_world_base
        The pose (4, 4) of the base in the world; the identity by default.
    margin
        How far from obstacles the robot stays [m]: one number, or one for each obstacle, or {name: number}, where the
        others have 0. It does not apply between parts of the robot.
    ignore
        Pairs (what, obstacle) of names: a link, body, shape or carried solid, and an obstacle that it may touch.

    Shapes that are fixed to the base are not checked against obstacles: no motion of the robot changes what they touch.
    """
    who = "collision_model"
    need_robot(robot, who)
    need_numbers(robot, who)
    shapes = link_shapes(robot) if shapes is None else shapes
    if not isinstance(shapes, LinkShapes):
        raise ArgumentError(
            f"{who}: 'shapes' must be LinkShapes, such as link_shapes(robot), got {type(shapes).__name__}"
        )
    if len(shapes) and not -1 <= shapes.bodies.min() <= shapes.bodies.max() < len(robot.body_names):
        raise ArgumentError(
            f"{who}: 'shapes' has bodies {shapes.bodies.min()} to {shapes.bodies.max()}; robot '{robot.name}' has "
            f"{len(robot.body_names)} bodies, numbered from 0, and the base, -1"
        )
    scene = scene_of(obstacles, who)
    if pairs is None:
        pairs = _found_pairs(robot, shapes)
    if isinstance(pairs, BodyPairs):
        plan = ModelPlan(robot, shapes, pairs.shape_pairs)
    else:
        pairs = body_numbers(robot, pairs)
        plan = ModelPlan(robot, shapes, shape_pairs_of(shapes, pairs))
    model = CollisionModel(
        robot, shapes, scene, pairs, (), frozenset(), pose(T_world_base, "T_world_base", who),
        margins_of(margin, scene, who), plan,
    )  # fmt: skip
    return model.with_carried(carried, ignore=ignored_pairs(ignore, who))


@once_a_robot
def _found_pairs(robot: Robot, shapes: LinkShapes) -> BodyPairs:
    return colliding_pairs(robot, shapes)
