"""Linear bounds of poses: play, regions and tolerances of features, by two linear programs for each number (E2).

About a nominal placement, each part moves by small motions ξ and each feature with a tolerance by η. Equations become
J ξ + J_η η = 0, and inequalities J ξ + J_η η <= room. Every number that is linear in ξ and η is then bounded by two
linear programs. Taylor (1976); Fu, Gonzalez & Lee (1987), end of Sec. 10.9.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from ...errors import ArgumentError, SolveError, nearest
from ...model.input_checks import count
from ...sensing.scene.scene_checks import array, pose
from .families import Family
from .freedoms import RANK
from .play import play_equations
from .relation_systems import RelationSystem
from .row_kernels import row_slopes
from .solving import Placements
from .sources import Side

__all__ = ["PoseBounds", "Tolerance", "pose_bounds"]

_NOTHING = 1e-12  # coefficients below it are rounding errors


@dataclass(frozen=True)
class Tolerance:
    """How far the frame of a feature may be from where it should be: half-widths along and about its axes.

        >>> Tolerance(position=0.0005, angle=0.01)
        Tolerance(position=(0.0005, 0.0005, 0.0005), angle=(0.01, 0.01, 0.01))

    `position` [m] and `angle` [rad] are one number for all axes of the feature's frame, or three; all are 0 or more.
    """

    position: Any = 0.0
    angle: Any = 0.0

    def __post_init__(self):
        for name in ("position", "angle"):
            value = getattr(self, name)
            found = array(np.broadcast_to(value, 3) if np.ndim(value) == 0 else value, (3,), name, "Tolerance")
            if (found < 0).any():
                raise ArgumentError(f"Tolerance: '{name}' must be 0 or more, got {found.tolist()}")
            object.__setattr__(self, name, tuple(found.tolist()))


class PoseBounds(NamedTuple):
    """How far the frame of a part can be from its nominal pose, to first order.

    - `lower` and `upper` (6,) bound the small motion (ω, v) of the frame: angles [rad] about its axes and the shift [m]
      of its origin along them, both for the axes at the nominal pose `T_world_frame` (4, 4). A number without a bound
      is ∞: a freedom that nothing limits moves it.
    - `freedom_lower` and `freedom_upper` (dof,) bound the parameters of the family's freedoms.
    - `remainder` (2,) estimates what the linear bounds leave out: ½ θ² times levers, for the angles [rad] and for the
      shift [m], with the largest angle θ; ∞ if an angle has no bound.
    """

    lower: np.ndarray
    upper: np.ndarray
    T_world_frame: np.ndarray
    freedom_lower: np.ndarray
    freedom_upper: np.ndarray
    remainder: np.ndarray


def pose_bounds(
    placed: Placements | Family,
    tolerances: Mapping[str, Tolerance] | None = None,
    *,
    part: str | None = None,
    frame: Any = None,
    play: bool = True,
    limits: Mapping[int, tuple[float, float]] | None = None,
    sides: int = 16,
) -> PoseBounds:
    """Bound the pose of a placed part by linear programs: play in holes, regions, and tolerances of features.

        >>> from adjoint.world.features import Feature
        >>> from adjoint.world.relations import fixed_at, placements
        >>> tool = {"tool": [Feature("grip", "face", np.eye(4))]}
        >>> held = placements(tool, "tool", fixed_at("tool.grip", np.eye(4)))
        >>> loose = Tolerance(position=[0.0005, 0, 0], angle=[0, 0, 0.01])
        >>> tip = pose_bounds(held, {"tool.grip": loose}, frame=[0, 0.1, 0])         # 100 mm from the grip
        >>> [round(1000 * float(end[3]), 6) for end in (tip.lower, tip.upper)]       # dx + L dθ [mm]
        [-1.5, 1.5]

    - `placed` are `placements` (the nearest family counts) or one of their families.
    - `tolerances` {"part.feature": `Tolerance`} say how far features may be from where they should be; features that
      are fixed in the world are named by their own names.
    - `frame` is the frame to bound, as a pose (4, 4) or point (3,) in the frame of `part`, or a feature "part.feature",
      whose own tolerance then counts, too; by default the frame of the part itself.
    - With `play`, a shaft that fits a wider hole, or a ball in a wider socket, moves by the difference of the radii.
      The circle becomes a polygon of so many `sides` around it, so that the bounds are on the safe side. Both ends of
      the engaged length of the shaft stay in the hole, as they are at the nominal pose.
    - `limits` {number of a freedom: (lower, upper)} [rad, m] bound freedoms that the relations leave.

    Bounds count deviations for which all relations can hold together. They are exact to first order; `remainder`
    estimates the rest. Taylor (1976).
    """
    family = placed[0] if isinstance(placed, Placements) else placed
    if not isinstance(family, Family):
        raise ArgumentError(f"pose_bounds: the first argument must be placements, got {type(placed).__name__}")
    tolerances = _checked(family.system, {} if tolerances is None else tolerances)
    sides = count(sides, "pose_bounds: sides")
    if sides < 3:
        raise ArgumentError(f"pose_bounds: sides must be 3 or more, got {sides}")
    system = play_equations(family.system, family.x, sides) if play else family.system
    program = _Program(system, family, tolerances)
    program.limit(limits or {})
    target, T_world_frame, reach = program.frame_rows(part, frame)
    lower, upper = program.ends(target)
    freedom_lower, freedom_upper = program.ends(program.freedom_rows)
    remainder = program.remainder(reach)
    return PoseBounds(lower, upper, T_world_frame, freedom_lower, freedom_upper, remainder)


def _checked(system: RelationSystem, tolerances: Mapping[str, Tolerance]) -> dict[str, Tolerance]:
    labels = list(dict.fromkeys(side.label for e in system.equations for side in (e.first, e.second)))
    for name, value in tolerances.items():
        if name not in labels:
            raise ArgumentError(f"pose_bounds: no relation names feature {name!r:.60}; {nearest(name, labels)}")
        if not isinstance(value, Tolerance):
            raise ArgumentError(f"pose_bounds: tolerances['{name}'] must be a Tolerance, got {value!r:.60}")
    return dict(tolerances)


class _Program:
    """The linear program: variables are ξ (6 n) of the parts and η (6) of each feature with a tolerance."""

    def __init__(self, system: RelationSystem, family: Family, tolerances: dict[str, Tolerance]):
        self.system, self.family, self.names = system, family, list(tolerances)
        self.unknown = 6 * len(system.parts)
        width = np.array([[*tolerance.angle, *(np.array(tolerance.position) / system.length)]
                          for tolerance in tolerances.values()]).reshape(-1)  # fmt: skip
        free = [(None, None)] * self.unknown
        self.bounds: list = free + [(-w, w) for w in width.tolist()]
        rows, values = self._linear()
        bound = system.bounds
        self.A_eq, self.b_eq = rows[~bound], np.zeros((~bound).sum())
        self.A_ub, self.b_ub = rows[bound], -values[bound]
        self.freedom_rows = self._freedom_rows()

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients (m, variables) of all rows, and their values at the nominal pose."""
        system, n = self.system, len(self.system.parts)
        table = np.concatenate([np.eye(3, 4).reshape(1, 12), self.family.x.reshape(n, 12)])
        rows = system.rows.copy()
        rows[:, 2] = 0  # the values of inequalities that hold with room are needed, too
        i, j = rows[:, 0].astype(int), rows[:, 1].astype(int)
        found = row_slopes(rows, table[i], table[j])
        A = np.zeros((len(rows), self.unknown + 6 * len(self.names)))
        for k, equation in enumerate(system.equations):
            for part, slope, side in ((i[k], found.first[k], equation.first), (j[k], found.second[k], equation.second)):
                if part:
                    A[k, 6 * (part - 1) : 6 * part] += slope
                if side.label in self.names:
                    at = self.unknown + 6 * self.names.index(side.label)
                    A[k, at : at + 6] += self._about(slope, table[part].reshape(3, 4), side)
        return np.where(np.abs(A) < _NOTHING, 0.0, A), np.asarray(found.residual)

    def _about(self, slope: np.ndarray, M: np.ndarray, side: Side) -> np.ndarray:
        """The slope by the motion of a feature's frame, about its origin and along its axes."""
        F = self.system.local_frame(side)
        R, arm = M[:, :3] @ F[:, :3], M[:, :3] @ F[:, 3]
        return np.concatenate([R.T @ (slope[:3] - np.cross(arm, slope[3:])), R.T @ slope[3:]])

    def _freedom_rows(self) -> np.ndarray:
        """The parameters of the freedoms (dof, variables) as linear functions of ξ."""
        T = self.system.poses(self.family.x)
        centres = np.einsum("nij,nj->ni", T[:, :3, :3], self.system.centres) + T[:, :3, 3]
        moves = [
            np.concatenate([V[:, :3], (V[:, 3:] + np.cross(V[:, :3], centres)) / self.system.length], axis=1).ravel()
            for V in (freedom.twists for freedom in self.family.freedoms)
        ]
        rows = np.zeros((len(moves), self.unknown + 6 * len(self.names)))
        if moves:
            rows[:, : self.unknown] = np.linalg.pinv(np.array(moves).T)
        return rows

    def limit(self, limits: Mapping[int, tuple[float, float]]) -> None:
        """Bound some freedoms."""
        for k, pair in limits.items():
            if not isinstance(k, (int, np.integer)) or not 0 <= k < self.family.dof:
                raise ArgumentError(f"pose_bounds: limits names freedom {k!r:.60}; there are {self.family.dof}")
            low, high = array(pair, (2,), f"limits[{k}]", "pose_bounds")
            if low > high:
                raise ArgumentError(f"pose_bounds: limits[{k}] are in the wrong order: {low:g} > {high:g}")
            row = self.freedom_rows[k]
            self.A_ub = np.concatenate([self.A_ub, [row, -row]])
            self.b_ub = np.concatenate([self.b_ub, [high, -low]])

    def frame_rows(self, part: str | None, frame: Any) -> tuple[np.ndarray, np.ndarray, float]:
        """The small motion (6, variables) of a frame, its nominal pose, and its distance from the part's middle."""
        system, label = self.system, None
        if isinstance(frame, str):
            sides = {side.label: side for e in system.equations for side in (e.first, e.second)}
            if frame not in sides:
                raise ArgumentError(f"pose_bounds: no relation names feature '{frame}'; {nearest(frame, list(sides))}")
            label, part, given = frame, sides[frame].part, sides[frame].frame
        else:
            given = pose(frame, "frame", "pose_bounds")
        part = system.parts[0] if part is None else part
        if part not in system.parts:
            raise ArgumentError(f"pose_bounds: part {part!r:.60} is not placed; there are {', '.join(system.parts)}")
        k = system.parts.index(part)
        T = system.poses(self.family.x)[k]
        T_world_frame = T @ given
        arm = T[:3, :3] @ (given[:3, 3] - system.centres[k]) / system.length
        R = T_world_frame[:3, :3]
        rows = np.zeros((6, self.unknown + 6 * len(self.names)))
        rows[:3, 6 * k : 6 * k + 3] = R.T
        # v + ω × arm, along the axes of the frame.
        cross = np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
        rows[3:, 6 * k : 6 * k + 3], rows[3:, 6 * k + 3 : 6 * k + 6] = R.T @ cross, R.T
        if label in self.names:
            at = self.unknown + 6 * self.names.index(label)
            rows[:, at : at + 6] += np.eye(6)
        rows[3:] *= system.length
        return rows, T_world_frame, float(np.linalg.norm(arm)) * system.length

    def ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest value of each row (k, variables): two linear programs each."""
        low = np.array([self._least(row) for row in rows])
        high = np.array([0.0 - self._least(-row) for row in rows])
        return low.reshape(len(rows)), high.reshape(len(rows))

    def _least(self, row: np.ndarray) -> float:
        if not np.any(np.abs(row) > _NOTHING):
            return 0.0
        found = linprog(row, self.A_ub, self.b_ub, self.A_eq, self.b_eq, self.bounds, method="highs")
        if found.status == 3:
            return -np.inf
        if found.status != 0:
            raise SolveError(f"pose_bounds: the linear program has no solution: {found.message}")
        return float(found.fun) + 0.0

    def remainder(self, reach: float) -> np.ndarray:
        """½ θ² (κ, reach + κ length), with the largest angle θ; 1/κ is the least singular value of the equations."""
        rows = np.zeros((3 * len(self.system.parts), self.unknown + 6 * len(self.names)))
        for k in range(len(rows)):
            rows[k, 6 * (k // 3) + k % 3] = 1.0
        low, high = self.ends(rows)
        own = [np.linalg.norm([b[1] for b in self.bounds[self.unknown + 6 * k :][:3]]) for k in range(len(self.names))]
        theta = np.linalg.norm(np.maximum(np.abs(low), np.abs(high))) + sum(own)
        J = self.A_eq[:, : self.unknown]
        s = np.linalg.svd(J, compute_uv=False) if len(J) else np.ones(1)
        kappa = 1 / min(1.0, s[s > RANK].min(initial=1.0))
        return theta**2 / 2 * np.array([kappa, reach + kappa * self.system.length])


def __dir__() -> list[str]:
    return __all__
