"""Configuration spaces of two or three joints as grids of cells: which are free, and ways through them.

The picture of free space in Fu, Gonzalez & Lee (1987), Sec. 10.9.2, after Lozano-Pérez (1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csgraph

from ...collision import CollisionModel, contacts, edges_free, is_free
from ...dynamics.regressors import coordinate_names
from ...errors import ArgumentError
from ...model.input_checks import count, positive, vectors
from .path_checks import need_model, path_length, plain_space
from .plane_graphs import shortest_way
from .spaces import ConfigurationSpace

__all__ = ["ConfigurationGrid", "GridPlan", "configuration_grid", "plan_on_grid"]

_MOST = 20_000_000  # cells


@dataclass(frozen=True, eq=False, repr=False)
class ConfigurationGrid:
    """Cells of a configuration space: `free` (n_1, ..., n_nq) tells which of their centres are free of collisions.

    `axes` are the coordinates (n_k,) of the centres, and `turning` (nq,) tells which joints go round, so that the last
    cell is beside the first one.
    """

    model: CollisionModel
    free: np.ndarray
    axes: tuple[np.ndarray, ...]
    turning: np.ndarray

    def cell(self, q) -> tuple[int, ...]:
        """The cell of a configuration q (nq,), by its indices."""
        found = []
        for x, axis, turns in zip(np.asarray(q, float), self.axes, self.turning, strict=True):
            step = axis[1] - axis[0]
            k = int(np.floor((x - axis[0]) / step + 0.5))
            found.append(k % len(axis) if turns else min(max(k, 0), len(axis) - 1))
        return tuple(found)

    @property
    def components(self) -> np.ndarray:
        """The number, from 0 on, of the connected region of free cells that each cell is in; -1 if it is not free."""
        a, b = self._neighbours()
        n = self.free.size
        graph = coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
        labels = csgraph.connected_components(graph, directed=False)[1]
        _, renumbered = np.unique(labels[self.free.ravel()], return_inverse=True)
        found = np.full(n, -1)
        found[self.free.ravel()] = renumbered
        return found.reshape(self.free.shape)

    def _neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of free cells that are beside each other, along one axis."""
        numbers, pairs = np.arange(self.free.size).reshape(self.free.shape), []
        for k, turns in enumerate(self.turning):
            other = np.roll(numbers, -1, axis=k)
            if not turns:
                keep = [slice(None)] * numbers.ndim
                keep[k] = slice(0, -1)
                pairs.append((numbers[tuple(keep)].ravel(), other[tuple(keep)].ravel()))
            else:
                pairs.append((numbers.ravel(), other.ravel()))
        a, b = (np.concatenate(x) for x in zip(*pairs, strict=True))
        both = self.free.ravel()[a] & self.free.ravel()[b]
        return a[both], b[both]

    def __repr__(self) -> str:
        cells = " x ".join(map(str, self.free.shape))
        return f"<ConfigurationGrid of '{self.model.robot.name}': {cells} cells, {self.free.mean():.1%} free>"


@dataclass(frozen=True, eq=False)
class GridPlan:
    """A path (k, nq) through free cells, its length [rad, m], or the reason why there is none (path None)."""

    path: np.ndarray | None
    length: float
    reason: str

    @property
    def found(self) -> bool:
        """Whether there is a path."""
        return self.path is not None


def configuration_grid(model: CollisionModel, cells: int | Sequence[int] = 180) -> ConfigurationGrid:
    """The configuration space of a robot with two or three joints as a grid of cells, free or not.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> arm = aj.robots.two_link()
        >>> model = collision_model(arm, [Sphere(0.3, T_world_solid=[1.2, 1.2, 0])])
        >>> configuration_grid(model, 60).free.shape
        (60, 60)

    `cells` is the number of cells along each axis, or one for all. Joints without limits go round; others run from
    limit to limit. The centres of all cells are checked by one call of machine code.
    """
    caller = "configuration_grid"
    model = need_model(model, caller)
    space, nq = plain_space(caller, model), model.robot.nq
    if not 1 <= nq <= 3:
        raise ArgumentError(f"{caller}: robot '{model.robot.name}' has {nq} coordinates; grids are for one to three")
    numbers = list(cells) if isinstance(cells, Sequence | np.ndarray) else [cells] * nq
    if len(numbers) != nq:
        raise ArgumentError(f"{caller}: cells must be a number, or {nq} of them; got {len(numbers)}")
    shape = [count(n, f"{caller}: cells") for n in numbers]
    if min(shape) < 3 or np.prod(shape, dtype=float) > _MOST:
        raise ArgumentError(f"{caller}: there must be 3 cells or more along each axis, and at most {_MOST:,} in all")
    axes = _axes(space, shape, caller)
    q = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return ConfigurationGrid(model, is_free(model, q.reshape(-1, nq)).reshape(shape), axes, space.turning)


def _axes(space: ConfigurationSpace, shape: Sequence[int], caller: str) -> tuple[np.ndarray, ...]:
    """The coordinates (n_k,) of the centres of cells along each axis."""
    axes = []
    for k, (n, low, high, turns) in enumerate(
        zip(shape, space.sample_lower, space.sample_upper, space.turning, strict=True)
    ):
        if not low < high:
            raise ArgumentError(
                f"{caller}: joint '{coordinate_names(space.robot)[k]}' cannot move, both of its limits are {low:.4g}; "
                "give a model of the robot without it, see Robot.locked"
            )
        axes.append(low + (high - low) * (np.arange(n) + 0.5) / n if turns else np.linspace(low, high, n))
    return tuple(axes)


def plan_on_grid(grid: ConfigurationGrid, start, goal, *, resolution: float = 0.02) -> GridPlan:
    """The shortest way through the free cells of a grid, from start to goal (nq,).

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(aj.robots.two_link(), [Sphere(0.3, T_world_solid=[1.2, 1.2, 0])])
        >>> plan = plan_on_grid(configuration_grid(model, 60), [0.0, 0.3], [2.0, 0.3])
        >>> plan.found
        True

    Cells are joined with the neighbours that touch them, diagonal ones included. The ways between centres are checked
    at the resolution [rad, m], all in one call, so that the path is free between the cells, too. The path leads through
    centres; `smooth_path` makes it short and smooth.
    """
    caller = "plan_on_grid"
    model, nq = grid.model, grid.model.robot.nq
    fine = positive(resolution, f"{caller}: resolution")
    ends = []
    for name, given in (("start", start), ("goal", goal)):
        q = vectors(given, nq, name, caller)
        if q.shape != (nq,) or not is_free(model, q):
            what = contacts(model, q)[0] if q.shape == (nq,) and np.isfinite(q).all() else f"must be one q ({nq},)"
            raise ArgumentError(f"{caller}: {name}: {what}")
        ends.append(q)
    centres = np.stack(np.meshgrid(*grid.axes, indexing="ij"), axis=-1).reshape(-1, nq)
    a, b, ways = _links(grid, centres)
    open_ = edges_free(model, centres[a], centres[a] + ways, resolution=fine) if len(a) else np.zeros(0, bool)
    n, period = len(centres), np.where(grid.turning, 2 * np.pi, np.inf)
    edges, lengths = [np.stack([a, b], axis=1)[open_]], [np.linalg.norm(ways[open_], axis=1)]
    for k, q in enumerate(ends):
        near, off = _around(grid, centres, q, period)
        seen = (
            edges_free(model, np.broadcast_to(q, off.shape), q + off, resolution=fine)
            if len(near)
            else np.zeros(0, bool)
        )
        edges.append(np.stack([np.full(int(seen.sum()), n + k), near[seen]], axis=1))
        lengths.append(np.linalg.norm(off[seen], axis=1))
    way = shortest_way(n + 2, np.concatenate(edges), np.concatenate(lengths), n, n + 1)
    if not way:
        return GridPlan(None, np.inf, f"no way through the free cells joins start and goal, in {_shown(grid)} cells")
    points = np.concatenate([centres, ends])[way]
    steps = np.diff(points, axis=0)
    turns = np.where(grid.turning, np.rint(steps / (2 * np.pi)), 0.0)
    path = np.concatenate([points[:1], points[0] + np.cumsum(steps - 2 * np.pi * turns, axis=0)])
    return GridPlan(path, path_length(path), "")


def _shown(grid: ConfigurationGrid) -> str:
    return " x ".join(map(str, grid.free.shape))


def _links(grid: ConfigurationGrid, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of free cells that touch each other, and the ways (m, nq) between their centres."""
    shape, nq = grid.free.shape, grid.free.ndim
    places = np.stack(np.nonzero(grid.free), axis=1)
    offsets = np.stack(np.meshgrid(*[[-1, 0, 1]] * nq, indexing="ij"), axis=-1).reshape(-1, nq)
    offsets = offsets[len(offsets) // 2 + 1 :]  # each pair once
    steps = np.array([axis[1] - axis[0] for axis in grid.axes])
    found_a, found_b, ways = [], [], []
    for o in offsets:
        other = places + o
        inside = (((other >= 0) & (other < shape)) | grid.turning).all(axis=1)
        other = np.where(grid.turning, other % shape, other)
        good = np.flatnonzero(inside)
        good = good[grid.free[tuple(other[good].T)]]
        found_a.append(np.ravel_multi_index(tuple(places[good].T), shape))
        found_b.append(np.ravel_multi_index(tuple(other[good].T), shape))
        ways.append(np.broadcast_to(o * steps, (len(good), nq)))
    return np.concatenate(found_a), np.concatenate(found_b), np.concatenate(ways)


def _around(grid: ConfigurationGrid, centres, q, period) -> tuple[np.ndarray, np.ndarray]:
    """The free cells whose centres are within two cells of q, and the ways (m, nq) there."""
    steps = np.array([axis[1] - axis[0] for axis in grid.axes])
    off = centres - q
    finite = np.isfinite(period)
    off[:, finite] -= period[finite] * np.rint(off[:, finite] / period[finite])
    near = np.flatnonzero(grid.free.ravel() & (np.abs(off) <= 2 * steps).all(axis=1))
    return near, off[near]
