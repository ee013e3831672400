"""How far points of a robot can move between two configurations, at most: bounds from joint motions and distances.

Along an edge, q moves with a constant velocity v for a unit of time. In the frame of body i, its joint moves a point x
with the velocity ω_i × (x - c_i) + t_i, where c_i is a point on the axis (or the one that turns least). So a point at
the distance ρ from c_i moves by at most |ω_i| ρ + |t_i|. Distances ρ through several joints are bounded by the lengths
of the polygon c_i, c_j, ... of the joints between, which do not change when joints turn. All bounds are of the length
of paths, so that parts of an edge have the same parts of the bound. Schwarzer, Saha & Latombe (2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile import kernel, static
from ..lie import series
from ..model.configuration import difference
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..sweep import joint_motion, rates
from .collision_models import CollisionModel

__all__: list[str] = []


@dataclass(frozen=True, eq=False)
class JointPoints:
    """The points c_i (n, 3) of the joints, in the frames of their bodies, and the tree around them.

    `above` (n + 1, n) says whether joint i moves body b; the last row is the base. `apart` (n, n) is the length of the
    polygon from c_i to c_b where it does. `between` (n, n, n) says of i, j, b that j is after i, and moves b.
    """

    centers: np.ndarray
    above: np.ndarray
    apart: np.ndarray
    between: np.ndarray


@once_a_robot
def joint_points(robot: Robot) -> JointPoints:
    """The points of the joints of a robot."""
    n = len(robot.body_names)
    centers = np.zeros((n, 3))
    for i in range(n):
        S = robot.screw(i)
        if np.any(S[:, :3]):
            hats = np.concatenate([_hat(w) for w in S[:, :3]])
            centers[i] = np.linalg.lstsq(hats, -S[:, 3:].ravel(), rcond=None)[0]
    above, apart = np.zeros((n + 1, n), bool), np.zeros((n, n))
    for b in range(n):
        path = robot.path(b)
        above[b, path] = True
        length = 0.0
        for parent, child in zip(path[-2::-1], path[:0:-1], strict=True):
            M = robot.placements[child]
            length += float(np.linalg.norm(centers[parent] - (M[:3, :3] @ centers[child] + M[:3, 3])))
            apart[parent, b] = length
    between = np.zeros((n, n, n), bool)
    for i in range(n):
        for j in range(n):
            between[i, j] = above[:n, j] & (i != j) & above[j, i]
    return JointPoints(centers, above, apart, between)


def _hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


@kernel(robot=static, start="nq", end="nq")
def joint_moves(robot: Robot, start, end):
    """What the joints do along an edge (n, 3): |ω_i|, |t_i|, and how far c_i is moved by its own joint at most."""
    v = difference(robot, start, end)
    rows, points = [], joint_points(robot)
    for i in range(len(robot.body_names)):
        c, twist = points.centers[i], robot.screw(i).T @ rates(robot, v, i)
        turn, slide = twist[:3], twist[3:] + np.stack(list(np.cross(twist[:3], c)))
        T = joint_motion(robot, start, i)
        t = series.norm(slide)
        rows.append(np.stack([series.norm(turn), t, series.norm(T[:3, :3] @ c + T[:3, 3] - c) + t]))
    return np.stack(rows) if rows else np.zeros((0, 3))


class EdgeMotions:
    """Bounds of the motions of shapes along edges from `starts` to `ends` (e, nq)."""

    def __init__(self, model: CollisionModel, starts: np.ndarray, ends: np.ndarray):
        robot = model.robot
        self.model, self.points = model, joint_points(robot)
        moves = joint_moves(robot, starts, ends)
        self.turn, self.slide = moves[..., 0], moves[..., 1]
        # Σ_j of what joints between i and b move their points: 0 for revolute joints, whose points stay.
        self.shift = np.einsum("ijb,ej->eib", self.points.between.astype(float), moves[..., 2])
        self.reach = _reaches(model, self.points.centers)

    def bounds(self, bodies: np.ndarray, reach: np.ndarray, after: np.ndarray | None = None) -> np.ndarray:
        """How far points at most `reach` (k,) from c of their `bodies` (k,) move (e, k) [m].

        With bodies `after` (k,), as seen from those: only joints after them count.
        """
        p = self.points
        counts = p.above[bodies]
        if after is not None:
            counts = counts & ~p.above[after]
        body = np.maximum(bodies, 0)
        arms = p.apart[:, body] + reach + self.shift[:, :, body]  # (e, n, k)
        return np.einsum("ki,eik,ei->ek", counts.astype(float), arms, self.turn) + self.slide @ counts.T

    def of_shapes(self) -> np.ndarray:
        """How far the points of all shapes move (e, k), carried ones last."""
        return self.bounds(self.model.shape_bodies, self.reach)

    def of_pairs(self) -> np.ndarray:
        """How far the shapes of the pairs of bodies that are checked move with respect to each other (e, p)."""
        pairs = list(self.model._plan.body_pairs)
        if not pairs:
            return np.zeros((len(self.turn), 0))
        shapes, robot = self.model.shapes, self.model.robot
        far = {b: self.reach[own].max() for b, own in shapes.groups.items()}
        common = np.array([_meeting(robot, a, b) for a, b in pairs])
        total = np.zeros(())
        for side in np.array(pairs).T:
            total = total + self.bounds(side, np.array([far[int(b)] for b in side]), common)
        return total


def _meeting(robot: Robot, a: int, b: int) -> int:
    """The last body that both bodies come after, or one of them; -1 is the base."""
    both = [i for i, j in zip(robot.path(a), robot.path(b), strict=False) if i == j]
    return both[-1] if both else -1


def _reaches(model: CollisionModel, centers: np.ndarray) -> np.ndarray:
    """How far the points of each shape are from c of its body at most (k,), carried ones last."""
    rows = model.carried_table
    starts, ends = (
        np.concatenate([model.shapes.starts, rows[:, 1:4]]),
        np.concatenate([model.shapes.ends, rows[:, 4:7]]),
    )
    radii = np.concatenate([model.shapes.radii, rows[:, 7]])
    c = np.concatenate([centers, np.zeros((1, 3))])[model.shape_bodies]
    return np.maximum(np.linalg.norm(starts - c, axis=1), np.linalg.norm(ends - c, axis=1)) + radii
