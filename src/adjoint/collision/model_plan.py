"""What the machine code of a collision model is made for: a robot, its shapes, and the pairs of shapes that may meet.

Obstacles, what the robot carries, margins and the place of its base are inputs (see `model_tables`): they may change
without anything being compiled again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compile import row_at, scan
from ..kinematics.forward import body_placements
from ..lazy import cached_property
from ..model.robot import Robot
from .shapes_of_links import LinkShapes

__all__: list[str] = []

CARRIED_SIZES = (0, 16, 64)  # rows of the table of carried shapes: each size has code of its own
SHAPE_SIZE = 10  # numbers of a placed shape in a table, see `Placed`


@dataclass(frozen=True, eq=False)
class ModelPlan:
    """The static argument of the kernels of a collision model; plans with the same `fingerprint` are equal.

    `pairs` (p, 2) are numbers of shapes of the robot that are checked against each other. `carried` is the number of
    rows of the table of carried shapes.
    """

    robot: Robot
    shapes: LinkShapes
    pairs: np.ndarray
    carried: int = 0

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that results depend on."""
        s = self.shapes
        arrays = (s.bodies.astype(np.int64), s.starts, s.ends, s.radii, self.pairs.astype(np.int64))
        found = hashlib.sha256(f"{self.robot.fingerprint} {self.carried} {[a.shape for a in arrays]}".encode())
        for a in arrays:
            found.update(np.ascontiguousarray(a).tobytes())
        return found.hexdigest()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __eq__(self, other) -> bool:
        return isinstance(other, ModelPlan) and self.fingerprint == other.fingerprint

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.robot.nq

    @property
    def count(self) -> int:
        """The number of shapes of the robot itself."""
        return len(self.shapes)

    @property
    def columns(self) -> int:
        """The number of columns of a table with one number for each shape, carried ones included; never 0."""
        return max(self.count + self.carried, 1)

    def sized(self, carried: int) -> ModelPlan:
        """The same plan for at least so many carried shapes; plans of one size are made once."""
        size = next((n for n in CARRIED_SIZES if n >= carried), -(-carried // CARRIED_SIZES[-1]) * CARRIED_SIZES[-1])
        sizes = self.__dict__.setdefault("_sizes", {self.carried: self})
        if size not in sizes:
            sizes[size] = ModelPlan(self.robot, self.shapes, self.pairs, size)
            sizes[size].__dict__["_sizes"] = sizes
        return sizes[size]

    def bound(self, function) -> Any:
        """A kernel bound to this plan, which is made once."""
        known = self.__dict__.setdefault("_bound", {})
        if function not in known:
            known[function] = function.bind(self)
        return known[function]

    @cached_property
    def moving(self) -> np.ndarray:
        """Numbers of the shapes that move: those that are fixed to the base meet the same obstacles at every q."""
        return np.flatnonzero(self.shapes.bodies >= 0)

    @cached_property
    def balls(self) -> dict[int, tuple[np.ndarray, float]]:
        """{body: (center (3,), radius)} of a ball around all shapes of each body, in the frame of the body."""
        return {body: _ball(self.shapes, own) for body, own in self.shapes.groups.items()}

    @cached_property
    def body_pairs(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """{(body, body): pairs of shapes} of all pairs that are checked, sorted by bodies."""
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for i, j in self.pairs.tolist():
            found.setdefault((int(self.shapes.bodies[i]), int(self.shapes.bodies[j])), []).append((i, j))
        return found

    @cached_property
    def marks(self) -> np.ndarray:
        """1 for the pairs of shapes (k, k) that are checked, and 0 for others."""
        found = np.zeros((self.count, self.count))
        found[self.pairs[:, 0], self.pairs[:, 1]] = 1.0
        return found


def _ball(shapes: LinkShapes, own: np.ndarray) -> tuple[np.ndarray, float]:
    """The center and the radius of a ball around some shapes: about the middle of a box around them."""
    ends, radii = np.stack([shapes.starts[own], shapes.ends[own]]), shapes.radii[own]
    center = ((ends - radii[:, None]).min(axis=(0, 1)) + (ends + radii[:, None]).max(axis=(0, 1))) / 2
    return center, float((np.linalg.norm(ends - center, axis=-1) + radii).max())


class Placed(NamedTuple):
    """A capsule in the base frame, from `start` (3,) along `way` (3,) with a `radius`, and its number.

    `square` is |way|² and `inverse` is 1 / |way|², or 0 for a ball.
    """

    start: Any
    way: Any
    radius: Any
    number: Any
    square: Any
    inverse: Any

    @property
    def end(self):
        return self.start + self.way

    @property
    def middle(self):
        return self.start + 0.5 * self.way

    def moved(self, zero) -> Placed:
        """The same shape, whose place depends on a number `zero`, which is 0: see `model_traversal.when`."""
        return self._replace(start=self.start + zero, way=self.way + zero)

    def row(self):
        """All numbers as a row (SHAPE_SIZE,)."""
        return np.stack([*self.start, *self.way, self.radius, self.number, self.square, self.inverse])


def placed_of_row(row) -> Placed:
    """The inverse of `Placed.row`."""
    return Placed(row[:3], row[3:6], row[6], row[7], row[8], row[9])


def placed_shapes(plan: ModelPlan, T: dict) -> list[Placed]:
    """The shapes of the robot in the base frame, with the placements T {body: (4, 4)}."""
    s, found = plan.shapes, []
    for k in range(len(s)):
        R, p = T[int(s.bodies[k])][:3, :3], T[int(s.bodies[k])][:3, 3]
        way = s.ends[k] - s.starts[k]
        square = float(way @ way)
        # A ball has no direction: zeros that are known when code is made save its computation.
        placed = R @ s.starts[k] + p, R @ way if square > 0 else np.zeros(3)
        found.append(Placed(*placed, float(s.radii[k]), float(k), square, 1 / square if square > 0 else 0.0))
    return found


def placed_balls(plan: ModelPlan, T: dict) -> dict[int, tuple[Any, float]]:
    """{body: (center (3,), radius)} of the balls around the shapes of each body, in the base frame."""
    return {body: (T[body][:3, :3] @ c + T[body][:3, 3], r) for body, (c, r) in plan.balls.items()}


def carried_rows(plan: ModelPlan, T: dict, carried) -> Any:
    """The rows (c, SHAPE_SIZE) of the carried shapes in the base frame; None if the model has no such rows.

    A row of `carried` (c, 8) is (number of a body, start, end, radius) in the frame of the body.
    """
    if carried is None:
        return None
    frames = np.stack([np.concatenate([T[b][:3, :3].reshape(9), T[b][:3, 3]]) for b in sorted(T)])

    def step(number, row):
        frame = row_at(frames, row[0] + 1)
        R, p = frame[:9].reshape(3, 3), frame[9:]
        way = R @ (row[4:7] - row[1:4])
        square = way @ way
        inverse = np.where(square > 0, 1 / np.where(square > 0, square, 1.0), 0.0)
        return number + 1, Placed(R @ row[1:4] + p, way, row[7], number, square, inverse).row()

    return scan(step, float(plan.count), carried)[1]


def placements(plan: ModelPlan, q) -> dict:
    """{body: T (4, 4)} in the base frame, with the base as -1."""
    return body_placements(plan.robot, q)
