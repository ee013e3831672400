"""Families of placements: connected sets of poses that fulfil relations, each with a pose and its freedoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError, SolveError
from ...lie import se3
from ...randomness import Rng, generator
from ...sensing.scene.scene_checks import number, pose
from .freedoms import Freedom, freedoms_of, null_space
from .relation_systems import RelationSystem
from .walks import holds, tangents, towards, walk

__all__ = ["Family", "family_at", "grouped"]

_STEP = 0.1  # rad or units of length in one step along a family that is not exact


@dataclass(frozen=True, eq=False, repr=False)
class Family:
    """A connected set of poses that fulfil relations.

    - `poses` {part: T_world_part (4, 4)} is the nominal pose of each unknown part, the one nearest to where it was.
    - `freedoms` is a tuple of `Freedom`: translations, rotations and screws that the relations leave; `dof` is their
      number, and `rank` = 6 n - dof.
    - `exact` is True if all products of exponentials of the freedoms fulfil the relations, so that `family(parameters)`
      is a closed form: relations of faces, axes and balls (lower pairs) always give such families.
    - `shaky` counts motions that the relations allow to first order but not for any distance, as where surfaces touch
      tangentially; they are not among the freedoms.
    """

    system: RelationSystem
    x: np.ndarray
    freedoms: tuple[Freedom, ...]
    exact: bool
    shaky: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the unknown parts."""
        return self.system.parts

    @property
    def dof(self) -> int:
        """How many freedoms are left."""
        return len(self.freedoms)

    @property
    def rank(self) -> int:
        """How many freedoms the relations take away."""
        return 6 * len(self.parts) - self.dof

    @property
    def poses(self) -> dict[str, np.ndarray]:
        """{part: T_world_part (4, 4)} of the nominal placement."""
        return dict(zip(self.parts, self.system.poses(self.x), strict=True))

    @property
    def T_world_part(self) -> np.ndarray:
        """The nominal pose (4, 4) of the only unknown part."""
        return self.poses[self._only()]

    @property
    def basis(self) -> np.ndarray:
        """The space twists (dof, 6) of the freedoms of the only unknown part: T = exp(s V) T_world_part."""
        return self.twists(self._only())

    def twists(self, part: str) -> np.ndarray:
        """The space twists (dof, 6), (ω, v) in the world, of a part in each freedom."""
        if part not in self.parts:
            raise ArgumentError(f"twists: '{part}' is not placed here; there are {', '.join(self.parts)}")
        k = self.parts.index(part)
        return np.array([freedom.twists[k] for freedom in self.freedoms]).reshape(self.dof, 6)

    def __call__(self, parameters) -> Any:
        """The pose (4, 4) of the only part, or {part: pose}, after a motion along the freedoms.

        `parameters` (dof,) are in rad for rotations and screws and in m for translations. For an exact family the poses
        are exp(s₁ V₁) exp(s₂ V₂) ... T; else each short step goes along the tangent and back to the relations.
        """
        s = np.atleast_1d(np.asarray(parameters, float))
        if s.shape != (self.dof,) or not np.isfinite(s).all():
            raise ArgumentError(f"family: 'parameters' must be {self.dof} finite numbers, got shape {s.shape}")
        T = self.system.poses(self._moved(s))
        return T[0] if len(self.parts) == 1 else dict(zip(self.parts, T, strict=True))

    def residuals(self, poses=None) -> np.ndarray:
        """The residuals of all equations [rad, m] at poses, by default at the nominal pose; 0 for bounds that hold."""
        return self.system.residuals(self.x if poses is None else self._variables(poses, "residuals"))

    def nearest(self, poses) -> Any:
        """The placement of this family that is nearest to a pose (4, 4), or to {part: pose}; it is given likewise.

        Angles [rad] count as much as distances in units of the typical length of the features.
        """
        T = self.system.poses(self._walked(self._variables(poses, "nearest")))
        return T[0] if len(self.parts) == 1 else dict(zip(self.parts, T, strict=True))

    def sample(self, *, rng: Rng = None, spread: float = 0.1) -> Any:
        """A random placement, as a pose (4, 4) or {part: pose}.

        Angles are uniform over a turn, and translations normal with the deviation `spread` [m].

        Inequalities such as those of `on` and `in_` hold, too; a `SolveError` says if no such placement was found.
        """
        rng = generator(rng, "sample")
        spread = number(spread, "spread", "sample", least=0)
        for _ in range(200):
            s = [
                rng.uniform(-np.pi, np.pi) if np.any(freedom.twists[:, :3]) else spread * rng.normal()
                for freedom in self.freedoms
            ]
            x = self._moved(np.array(s))
            if holds(self.system, x, 1e-9 + 1e-9 * self.system.length):
                T = self.system.poses(x)
                return T[0] if len(self.parts) == 1 else dict(zip(self.parts, T, strict=True))
        raise SolveError(f"sample: none of 200 placements with spread {spread:g} m fulfils all bounds; change spread")

    def __repr__(self) -> str:
        moves = "; ".join(map(str, self.freedoms)) or "no freedom"
        return f"<Family of {', '.join(self.parts)}: {self.dof} dof: {moves}>"

    def _only(self) -> str:
        if len(self.parts) != 1:
            names = ", ".join(self.parts)
            raise ArgumentError(f"Family: there are several parts ({names}): ask poses[part] and twists(part)")
        return self.parts[0]

    def _variables(self, poses, caller: str) -> np.ndarray:
        given = poses if isinstance(poses, dict) else {self._only(): poses}
        missing = [part for part in self.parts if part not in given]
        if missing:
            raise ArgumentError(f"{caller}: there is no pose for {', '.join(missing)}")
        return self.system.variables(np.array([pose(given[part], f"pose of {part}", caller) for part in self.parts]))

    def _walked(self, target: np.ndarray) -> np.ndarray:
        """The nearest solution: the best end of walks from the nominal one and from some that are turned about."""
        starts = [self.x]
        for k, freedom in enumerate(self.freedoms):
            if np.any(freedom.twists[:, :3]):
                starts += [self._moved(np.eye(self.dof)[k] * angle) for angle in (-2.0, 2.0)]
        x, _ = walk(self.system, np.array(starts), target)
        return x[np.argmin(np.linalg.norm(towards(x, target), axis=1))]

    def _moved(self, s: np.ndarray) -> np.ndarray:
        """The variables after a motion by the parameters s."""
        if self.exact:
            T = self.system.poses(self.x)
            for freedom, amount in zip(reversed(self.freedoms), s[::-1], strict=True):
                T = se3.exp(amount * freedom.twists) @ T
            return self.system.variables(T)
        sizes = [np.abs(a) if np.any(f.twists[:, :3]) else np.abs(a) / self.system.length
                 for a, f in zip(s, self.freedoms, strict=True)]  # fmt: skip
        count = int(np.ceil(max(sizes, default=0.0) / _STEP))
        x = self.x[None]
        for _ in range(count):
            x = _step(self.system, x, self.freedoms, s / count)
        return x[0]


def _step(system: RelationSystem, x: np.ndarray, freedoms: tuple[Freedom, ...], s: np.ndarray) -> np.ndarray:
    """One step along the freedoms, brought to the tangent at x, and back to the relations."""
    T = system.poses(x)[0]
    centres = np.einsum("nij,nj->ni", T[:, :3, :3], system.centres) + T[:, :3, 3]
    V = np.tensordot(s, np.array([freedom.twists for freedom in freedoms]), 1)
    velocity = V[:, 3:] + np.cross(V[:, :3], centres)
    move = np.concatenate([V[:, :3], velocity / system.length], axis=1).reshape(-1)
    P, _ = tangents(system, x)
    projected = P[0] @ move
    size = np.linalg.norm(projected)
    # The step keeps its length: a freedom that turns with the part is followed around.
    projected = projected * (np.linalg.norm(move) / size if size > 1e-9 else 0.0)
    return system.settled(system.moved(x, projected[None])).poses


def family_at(system: RelationSystem, x: np.ndarray, tolerance: float) -> Family:
    """The family around a solution (12 n,)."""
    null = null_space(system.slopes(x)[1][~system.bounds])
    T = system.poses(x)
    centres = np.einsum("nij,nj->ni", T[:, :3, :3], system.centres) + T[:, :3, 3]
    freedoms = freedoms_of(null, system.directions, centres, system.length)
    family = Family(system, x, freedoms, True, 0)
    if _is_exact(family):
        return family
    finite = _finite(system, x, null, tolerance)
    if finite.shape[1] < null.shape[1]:
        freedoms = freedoms_of(finite, system.directions, centres, system.length, rough=1e-4)
    return Family(system, x, freedoms, False, null.shape[1] - finite.shape[1])


def _is_exact(family: Family) -> bool:
    """Whether products of exponentials of the freedoms stay on the equations, for some arbitrary parameters."""
    rng = np.random.default_rng(0)
    unit = np.array([1.0 if np.any(f.twists[:, :3]) else family.system.length for f in family.freedoms])
    equations = ~family.system.bounds
    for _ in range(3):
        x = family._moved(unit * rng.normal(size=family.dof))
        r = family.system.slopes(x)[0][equations]
        if np.abs(r).max(initial=0.0) > 1e-9:
            return False
    return True


def _finite(system: RelationSystem, x: np.ndarray, null: np.ndarray, tolerance: float) -> np.ndarray:
    """The part (6 n, d) of a null space along which motions of a finite size exist.

    Steps of a size h go in random directions of it and settle on the relations. What settling undoes is of the order h²
    along a motion that exists, and all of h along one that does not.
    """
    d, h = null.shape[1], 1e-3
    ways = np.random.default_rng(0).normal(size=(8 * d, d))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    starts = np.broadcast_to(x, (len(ways), len(x)))
    ends = system.settled(system.moved(starts, h * ways @ null.T)).poses
    kept = holds(system, ends, tolerance)
    gone = towards(starts[kept], ends[kept]) @ null / h
    if not kept.any():
        return null[:, :0]
    # Random unit vectors in d dimensions have singular values of about √(k / d).
    _, s, Vt = np.linalg.svd(gone, full_matrices=True)
    rank = int((s > 0.3 * np.sqrt(kept.sum() / d)).sum())
    return null @ Vt[:rank].T


def grouped(system: RelationSystem, x: np.ndarray) -> list[np.ndarray]:
    """Solutions (k, 12 n) in groups that walks connect: one group for each family.

    Solutions walk towards the first of their group; those that do not arrive try its nearest member.
    """
    _, dof = tangents(system, x)
    groups = []
    for freedom in np.unique(dof):
        left = x[dof == freedom]
        while len(left):
            group = left[:1]
            left = left[1:]
            goals = np.broadcast_to(group[0], left.shape)
            while len(left):
                _, arrived = walk(system, left, goals)
                if not arrived.any():
                    break
                fresh = left[arrived]
                group, left = np.concatenate([group, fresh]), left[~arrived]
                if len(left):
                    gaps = np.array([np.linalg.norm(towards(group, one), axis=1) for one in left])
                    goals = group[np.argmin(gaps, axis=1)]
            groups.append(group)
    return groups


def __dir__() -> list[str]:
    return __all__
