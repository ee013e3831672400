"""The nonlinear program behind an optimal motion: its cost and constraints as functions of control points.

The unknowns x are the control points that the states at both ends leave free; the duration T, unless it is given; and
for the energy the powers of all joints at all nodes. In the unit of time s = t / T the cost is T Σ_k w_k l(z_k), by a
Gauss-Lobatto rule on every segment, with z = (q, v, a) at its nodes:

    q = Σ B_l c_l,    v = Σ B'_l c_l / T,    a = Σ B''_l c_l / T²,    c_l = c̄_l(x) + T r_l,

where r_l carries the velocities of the two states. At each node only six control points count. So all derivatives are
small dense blocks with respect to u = (these six, T), which are added up into sparse matrices. The energy has the power
|τ v|, which is not smooth where it is 0. It is the least number p with -p <= τ v <= p, and the solver treats p as an
unknown: this is smooth, and exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...lazy import cached_property
from ..torque import Torque
from .kinetic import Kinetic
from .path import PathCondition
from .splines import DEGREE, basis, inner, rate_points

__all__ = ["Bounds", "EndCondition", "Pattern", "Problem", "lobatto"]


def lobatto(segments: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes s (4 · segments + 1,) of [0, 1] and their weights in the Gauss-Lobatto rule.

    Each segment has five nodes, and shares those at its ends. The rule is exact for polynomials up to degree 7.
    """
    inner = np.sqrt(3 / 7)
    nodes = (np.array([-1, -inner, 0, inner, 1]) + 1) / 2
    weights = np.array([1 / 10, 49 / 90, 32 / 45, 49 / 90, 1 / 10]) / 2
    s = (np.arange(segments)[:, None] + nodes[:-1]) / segments
    w = np.tile(weights[:-1], (segments, 1)) / segments
    w[1:, 0] *= 2
    return np.append(s, 1.0), np.append(w, weights[-1] / segments)


class Pattern:
    """The places (row, column) of the entries of a sparse matrix, column by column.

    It is made from parts, arrays (rows, columns) that broadcast. Entries at the same place are added, and entries with
    row or column -1 are left out.
    """

    def __init__(self, shape: tuple[int, int], *parts: tuple):
        rows, columns = (np.concatenate([np.broadcast_arrays(*p)[k].ravel() for p in parts]) for k in (0, 1))
        self.shape = shape
        self._kept = np.flatnonzero((rows >= 0) & (columns >= 0))
        places = columns[self._kept].astype(np.int64) * shape[0] + rows[self._kept]
        found, self._slot = np.unique(places, return_inverse=True)
        self.rows, self.columns = found % max(shape[0], 1), found // max(shape[0], 1)

    def add(self, *parts: np.ndarray) -> np.ndarray:
        """The values of the matrix in the order of `rows` and `columns`, from the entries of every part."""
        return np.bincount(self._slot, np.concatenate([p.ravel() for p in parts])[self._kept], len(self.rows))


class Bounds(NamedTuple):
    """Limits of positions, speeds and torques, each (n,); infinity stands for no limit."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class EndCondition(NamedTuple):
    """A condition e(q) = 0 that the last configuration q satisfies, if it is not given."""

    error: Callable[[np.ndarray], np.ndarray]  # e(q) (m,)
    jacobian: Callable[[np.ndarray], np.ndarray]  # ∂e/∂q (m, n)
    curvature: Callable[[np.ndarray, np.ndarray], np.ndarray]  # ∂²(λ · e)/∂q² (n, n) as a function of q and λ (m,)


class _Support(NamedTuple):
    """Which unknowns count at P points of time."""

    near: np.ndarray  # (P, 6) the numbers of the control points
    values: np.ndarray  # (3, P, 6) their basis splines and two derivatives
    columns: np.ndarray  # (P, 6n + 1) the place in x of every entry of u, or -1 if it is given


class _PathPoints(NamedTuple):
    """What one condition of the path needs at its P points, for one x."""

    q: np.ndarray  # (P, n)
    Q: np.ndarray  # (P, n, 6n + 1): ∂q/∂u


class _Nodes(NamedTuple):
    """What the cost and the constraints need at the N nodes, for one x."""

    T: float  # the duration [s]
    z: tuple[np.ndarray, np.ndarray, np.ndarray]  # q, v and a, each (N, n)
    Z: np.ndarray  # (N, 3n, 6n + 1): ∂z/∂u
    tau: np.ndarray  # (N, n) the torques
    tau_z: np.ndarray  # (N, n, 3n): ∂τ/∂z
    path: list[_PathPoints]


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise cost(x) with range[0] <= constraints(x) <= range[1] and box[0] <= x <= box[1]; derivatives are sparse.

    The cost is ½ ∫ Σ w τ² dt with `weights` w (n,), plus ∫ Σ |τ v| dt if `power` [W], the unit of powers, is not 0,
    plus ∫ ½ vᵀ M v dt if `kinetic` is given. `start` and `goal` are states (q, v), each (2, n); with an `end` condition
    the q of the goal does not count. `duration` are the shortest and the longest duration [s].

    The constraints are, in this order and each as a fraction of its limit: the torques at the nodes, of joints that
    have limits; the control points of velocities, as ± D c / vmax - T <= 0; ± τ v - p <= 0; the end condition; and the
    conditions of the `path`. Its equations hold at one point for each free control point, so that there are never more
    equations than unknowns; its inequalities hold at the nodes.
    """

    torque: Torque
    weights: np.ndarray
    power: float
    segments: int
    start: np.ndarray
    goal: np.ndarray
    duration: tuple[float, float]
    bounds: Bounds
    end: EndCondition | None = None
    kinetic: Kinetic | None = None
    path: tuple[PathCondition, ...] = ()

    @property
    def n(self) -> int:
        """The number of joints."""
        return self.start.shape[1]

    # --- unknowns -----------------------------------------------------------------------------------------------------

    @cached_property
    def block(self) -> np.ndarray:
        """For each control point the number of its block of n unknowns, or -1 if it is given.

        The states give the first two and the last two; with an end condition the last two are one block.
        """
        inner = np.arange(self.segments + DEGREE - 4)
        last = [len(inner)] * 2 if self.end else [-1, -1]
        return np.array([-1, -1, *inner, *last])

    @cached_property
    def _starts(self) -> tuple[int, int, int]:
        """The places in x where the duration and the powers begin, and where x ends."""
        points = self.n * (int(self.block.max()) + 1)
        powers = points + (self.duration[0] < self.duration[1])
        return points, powers, powers + (len(self.times) * self.n if self.power else 0)

    @property
    def size(self) -> int:
        """The length of x."""
        return self._starts[2]

    @property
    def _T_column(self) -> int:
        """The place of the duration in x, or -1 if it is given."""
        points, powers, _ = self._starts
        return points if powers > points else -1

    @cached_property
    def _power_columns(self) -> np.ndarray:
        """The places (N, n) of the powers in x; (0, n) if there are none."""
        _, powers, size = self._starts
        return np.arange(powers, size).reshape(-1, self.n)

    @cached_property
    def rate(self) -> np.ndarray:
        """The part r (K, n) of the control points that is in proportion to T."""
        r = np.zeros((len(self.block), self.n))
        r[1], r[-2] = self.start[1], -self.goal[1]
        return r / (DEGREE * self.segments)

    def unpack(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        """The control points (K, n) and the duration of x."""
        points, _, _ = self._starts
        T = float(x[points]) if self._T_column >= 0 else self.duration[0]
        c = np.concatenate([x[:points].reshape(-1, self.n), self.start[:1]])[self.block]  # block -1 is the start
        if not self.end:
            c[-2:] = self.goal[0]
        return c + T * self.rate, T

    def pack(self, control_points: np.ndarray, duration: float) -> np.ndarray:
        """The x of a path, with the powers that it takes: the inverse of `unpack`."""
        chosen = [np.flatnonzero(self.block == b)[-1] for b in range(self.block.max() + 1)]
        x = np.zeros(self.size)
        points, powers, _ = self._starts
        x[:points] = np.ravel((control_points - duration * self.rate)[chosen])
        x[points:powers] = duration
        if self.power:
            at = self._evaluate(x)
            x[powers:] = np.abs(at.tau * at.z[1]).ravel() / self.power
        return x

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper bounds of x; limits of positions bound control points, whose hull contains the path."""
        points, powers, size = self._starts
        low, high = np.zeros(size), np.full(size, np.inf)
        low[:points], high[:points] = np.resize(self.bounds.lower, points), np.resize(self.bounds.upper, points)
        low[points:powers], high[points:powers] = self.duration
        return low, high

    # --- nodes --------------------------------------------------------------------------------------------------------

    @cached_property
    def _rule(self) -> tuple[np.ndarray, np.ndarray]:
        """The nodes and weights of the integration rule, (N,) each."""
        return lobatto(self.segments)

    @property
    def times(self) -> np.ndarray:
        """The nodes (N,) as fractions of the duration."""
        return self._rule[0]

    def _support(self, s: np.ndarray) -> _Support:
        """The `_Support` at points s (P,) of [0, 1]."""
        first, values = basis(self.segments, s)
        near = first[:, None] + np.arange(DEGREE + 1)
        block = self.block[near][:, :, None]
        columns = np.where(block < 0, -1, block * self.n + np.arange(self.n)).reshape(len(block), -1)
        columns = np.concatenate([columns, np.full((len(columns), 1), self._T_column)], axis=1)
        return _Support(near, values, columns)

    @cached_property
    def _at_nodes(self) -> _Support:
        return self._support(self.times)

    @cached_property
    def _at_path(self) -> list[_Support]:
        """The points at which each condition of the path holds; given ends are none of them."""
        nodes = self.times[1:] if self.end else self.times[1:-1]
        return [self._support(inner(self.segments) if condition.held else nodes) for condition in self.path]

    def _at(self, x: np.ndarray) -> _Nodes:
        """The nodes of x. Those of the last x are kept, as the solver calls all functions with one x in turn."""
        known = self.__dict__.get("_known")
        if known is None or not np.array_equal(known[0], x):
            known = np.array(x), self._evaluate(x)
            object.__setattr__(self, "_known", known)
        return known[1]

    def _evaluate(self, x: np.ndarray) -> _Nodes:
        """The nodes of x, computed."""
        (c, T), (near, values, _) = self.unpack(x), self._at_nodes
        scaled = values / T ** np.arange(3)[:, None, None]  # ∂(q, v, a)/∂c_l
        q, v, a = np.einsum("dkl,kln->dkn", scaled, c[near])
        by_T = np.einsum("dkl,kln->kdn", scaled, self.rate[near]) - np.stack([0 * q, v, 2 * a], axis=1) / T
        Z = self._by_u(scaled, by_T)
        path = [self._path_points(c, support) for support in self._at_path]
        return _Nodes(T, (q, v, a), Z, self.torque.value(q, v, a), self.torque.jacobian(q, v, a), path)

    def _by_u(self, values: np.ndarray, by_T: np.ndarray) -> np.ndarray:
        """Derivatives (P, d n, 6n + 1) by u, from the basis splines (d, P, 6) and from derivatives (P, d, n) by T."""
        by_c = np.einsum("dkl,ij->kdilj", values, np.eye(self.n)).reshape(len(by_T), values.shape[0] * self.n, -1)
        return np.concatenate([by_c, by_T.reshape(len(by_T), -1, 1)], axis=2)

    def _path_points(self, c: np.ndarray, support: _Support) -> _PathPoints:
        """Configurations at the points of one condition of the path, from the control points c (K, n)."""
        near, values, _ = support
        q, by_T = (np.einsum("kl,kln->kn", values[0], x[near]) for x in (c, self.rate))
        return _PathPoints(q, self._by_u(values[:1], by_T[:, None]))

    # --- cost ---------------------------------------------------------------------------------------------------------

    def _running(self, x: np.ndarray) -> np.ndarray:
        """The running cost l (N,) at the nodes."""
        at = self._at(x)
        found = 0.5 * at.tau**2 @ self.weights
        if self.power:
            found += self.power * x[self._power_columns].sum(axis=1)
        return found + self.kinetic.value(*at.z[:2]) if self.kinetic else found

    def _running_by_u(self, at: _Nodes) -> np.ndarray:
        """The derivatives ∂l/∂u (N, 6n + 1) of the running cost."""
        by_z = np.einsum("kn,knz->kz", self.weights * at.tau, at.tau_z)
        if self.kinetic:
            by_z[:, : 2 * self.n] += self.kinetic.gradient(*at.z[:2])
        return np.einsum("kz,kzu->ku", by_z, at.Z)

    def cost(self, x: np.ndarray) -> float:
        """The cost T Σ w_k l_k."""
        return self._at(x).T * float(self._rule[1] @ self._running(x))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """The gradient ∂cost/∂x."""
        at, w = self._at(x), self._rule[1]
        by_u = at.T * w[:, None] * self._running_by_u(at)
        by_u[:, -1] += w * self._running(x)
        columns = self._at_nodes.columns
        kept = columns >= 0
        found = np.bincount(columns[kept], by_u[kept], self.size)
        if self.power:
            found[self._power_columns] = at.T * w[:, None] * self.power
        return found

    # --- constraints --------------------------------------------------------------------------------------------------

    @cached_property
    def _limited(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The joints with torque limits, those with speed limits, and D without its first and last row.

        The states at both ends give the velocities that these two rows stand for.
        """
        limits = self.bounds.effort, self.bounds.velocity
        torques, speeds = (np.flatnonzero(np.isfinite(limit)) for limit in limits)
        return torques, speeds, rate_points(self.segments)[1:-1]

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """The values (m,) of the constraints."""
        at, (c, T) = self._at(x), self.unpack(x)
        torques, joints, D = self._limited
        parts = [at.tau[:, torques] / self.bounds.effort[torques]]
        speeds = D @ c[:, joints] / self.bounds.velocity[joints]
        parts += [speeds - T, -speeds - T]
        if self.power:
            works, powers = at.tau * at.z[1] / self.power, x[self._power_columns]
            parts += [works - powers, -works - powers]
        if self.end:
            parts += [self.end.error(c[-1])]
        parts += [condition.value(points.q) for condition, points in zip(self.path, at.path, strict=True)]
        return np.concatenate([p.ravel() for p in parts])

    @cached_property
    def _rows(self) -> tuple[np.ndarray, ...]:
        """The numbers of the constraints of each kind: torques, speeds, powers and the end condition.

        Their shapes are (N, limited joints), (2, rows of D, limited joints), (2, N or 0, n) and (m,).
        """
        torques, joints, D = self._limited
        ends = len(self.end.error(self.goal[0])) if self.end else 0
        shapes = (len(self.times), len(torques)), (2, len(D), len(joints)), (2, *self._power_columns.shape), (ends,)
        stops = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = np.split(np.arange(stops[-1]), stops[:-1])
        return tuple([part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])

    @cached_property
    def _path_rows(self) -> list[np.ndarray]:
        """The numbers (P, m) of the constraints of each condition of the path, which come last."""
        shapes = [(len(s.columns), len(c.chosen)) for c, s in zip(self.path, self._at_path, strict=True)]
        starts = np.cumsum([sum(part.size for part in self._rows), *(p * m for p, m in shapes)])
        return [start + np.arange(p * m).reshape(p, m) for start, (p, m) in zip(starts, shapes, strict=False)]

    @cached_property
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the constraints."""
        torques, speeds, powers, ends = (part.size for part in self._rows)
        path = [condition.range(len(rows)) for condition, rows in zip(self.path, self._path_rows, strict=True)]
        low = [-np.ones(torques), np.full(speeds + powers, -np.inf), np.zeros(ends), *(bounds[0] for bounds in path)]
        high = [np.ones(torques), np.zeros(speeds + powers + ends), *(bounds[1] for bounds in path)]
        return np.concatenate(low), np.concatenate(high)

    def _with_T(self, by_joint: np.ndarray) -> np.ndarray:
        """A mask of joints (m, n) as a mask of the columns of u (m, 6n + 1), in which T is always true."""
        last = np.ones((len(by_joint), 1), bool)
        return np.concatenate([np.tile(by_joint, DEGREE + 1), last], axis=1)

    @cached_property
    def _end_columns(self) -> np.ndarray:
        """The places (n,) of the last configuration in x."""
        return self.n * self.block[-1] + np.arange(self.n)

    @cached_property
    def jacobian_pattern(self) -> Pattern:
        """The pattern of ∂constraints/∂x."""
        torques, speeds, powers, ends = self._rows
        _, joints, D = self._limited
        coupled = self._with_T(self.torque.coupled)[:, None]
        by_u = np.where(coupled, self._at_nodes.columns, -1).swapaxes(0, 1)
        by_point = np.where((self.block < 0) | (D[:, None] == 0), -1, self.block * self.n + joints[:, None])
        path = [
            (rows[:, :, None], np.where(self._with_T(condition.coupled), support.columns[:, None], -1))
            for condition, support, rows in zip(self.path, self._at_path, self._path_rows, strict=True)
        ]
        return Pattern(
            (len(self.range[0]), self.size),
            (torques[:, :, None], by_u[:, self._limited[0]]),
            (speeds[..., None], by_point),
            (speeds, self._T_column),
            (powers[..., None], by_u[: powers.shape[1]]),
            (powers, self._power_columns),
            (ends[:, None], self._end_columns),
            *path,
        )

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """The values of ∂constraints/∂x in the order of `jacobian_pattern`."""
        at, (c, _) = self._at(x), self.unpack(x)
        torques, joints, D = self._limited
        sign = np.array([1.0, -1.0]).reshape(2, 1, 1)
        limit = self.bounds.velocity[joints]
        by_point = sign[..., None] * D[:, None] / limit[:, None]
        by_T = sign * (D @ self.rate[:, joints]) / limit - 1.0
        powers = sign[..., None] * self._work_by_z(at) @ at.Z / self.power if self.power else np.zeros(0)
        return self.jacobian_pattern.add(
            at.tau_z[:, torques] @ at.Z / self.bounds.effort[torques][:, None],
            by_point,
            by_T,
            powers,
            -np.ones(self._rows[2].size),
            self.end.jacobian(c[-1]) if self.end else np.zeros(0),
            *(condition.jacobian(q) @ Q for condition, (q, Q) in zip(self.path, at.path, strict=True)),
        )

    def _work_by_z(self, at: _Nodes) -> np.ndarray:
        """The derivatives ∂(τ_i v_i)/∂z (N, n, 3n) of each joint's power."""
        _, v, _ = at.z
        by_z = v[:, :, None] * at.tau_z
        by_z[:, :, self.n : 2 * self.n] += at.tau[:, :, None] * np.eye(self.n)
        return by_z

    # --- second derivatives -------------------------------------------------------------------------------------------

    @cached_property
    def hessian_pattern(self) -> Pattern:
        """The pattern of the upper triangle of the Hessian of cost and constraints."""
        e = self._end_columns if self.end else np.zeros(0, int)
        powers = self._power_columns
        T = np.full_like(powers, self._T_column)
        return Pattern(
            (self.size, self.size),
            self._pairs(self._at_nodes.columns, self.torque.coupled),
            (T, powers),
            (np.where(e[:, None] <= e, e[:, None], -1), e),
            *(self._pairs(s.columns, c.coupled) for c, s in zip(self.path, self._at_path, strict=True)),
        )

    def _pairs(self, u: np.ndarray, coupled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The upper triangle of blocks (P, 6n + 1, 6n + 1) at columns u, of joints that occur in one row of a mask."""
        every = self._with_T(coupled)
        met = every.T.astype(int) @ every > 0
        return np.where(met & (u[:, :, None] <= u[:, None]), u[:, :, None], -1), u[:, None]

    def hessian(self, x: np.ndarray, on_cost: float, on_constraints: np.ndarray) -> np.ndarray:
        """The values of on_cost ∂²cost/∂x² + Σ on_constraints ∂²constraints/∂x² in the order of `hessian_pattern`."""
        at, (c, T) = self._at(x), self.unpack(x)
        torques, _, powers, ends = self._rows
        limited = self._limited[0]
        w = on_cost * self._rule[1][:, None]
        # At every node l_k = ½ Σ α τ² + λ · τ + Σ ν τ v + κ ½ vᵀ M v, with κ = T w.
        alpha, lam, nu = T * w * self.weights, np.zeros_like(at.tau), np.zeros_like(at.tau)
        lam[:, limited] = on_constraints[torques] / self.bounds.effort[limited]
        if self.power:
            nu = (on_constraints[powers[0]] - on_constraints[powers[1]]) / self.power
        H = self._node_hessians(at, alpha, lam, nu)
        if self.kinetic:
            H += self._kinetic_hessians(at, T * w)
        once = w * self._running_by_u(at)  # the mixed derivatives that come from the factor T of the cost
        H[:, -1] += once
        H[:, :, -1] += once
        by_power = np.broadcast_to(w * self.power, self._power_columns.shape) if self.power else np.zeros(0)
        bend = self.end.curvature(c[-1], on_constraints[ends]) if self.end else np.zeros(0)
        path = [
            Q.swapaxes(1, 2) @ condition.curvature(q, on_constraints[rows]) @ Q
            for condition, rows, (q, Q) in zip(self.path, self._path_rows, at.path, strict=True)
        ]
        return self.hessian_pattern.add(H, by_power, bend, *path)

    def _node_hessians(self, at: _Nodes, alpha: np.ndarray, lam: np.ndarray, nu: np.ndarray) -> np.ndarray:
        """The Hessians Zᵀ (∂²l/∂z²) Z + (∂l/∂z) ∂²z/∂u² (N, 6n + 1, 6n + 1) of l = ½ Σ α τ² + λ · τ + Σ ν τ v."""
        n, (_, v, _) = self.n, at.z
        by_tau = alpha * at.tau + lam + nu * v
        K = self.torque.curvature(*at.z, by_tau) + at.tau_z.swapaxes(1, 2) @ (alpha[:, :, None] * at.tau_z)
        mixed = nu[:, :, None] * at.tau_z
        K[:, n : 2 * n] += mixed
        K[:, :, n : 2 * n] += mixed.swapaxes(1, 2)
        by_z = np.einsum("kn,knz->kz", by_tau, at.tau_z)
        by_z[:, n : 2 * n] += nu * at.tau
        return at.Z.swapaxes(1, 2) @ K @ at.Z + self._bend(at, by_z)

    def _kinetic_hessians(self, at: _Nodes, kappa: np.ndarray) -> np.ndarray:
        """The Hessians (N, 6n + 1, 6n + 1) of κ ½ vᵀ M v, with κ (N, 1)."""
        assert self.kinetic
        q, v, _ = at.z
        by_z = np.concatenate([kappa * self.kinetic.gradient(q, v), 0 * q], axis=1)
        Z = at.Z[:, : 2 * self.n]
        return Z.swapaxes(1, 2) @ (kappa[:, :, None] * self.kinetic.hessian(q, v)) @ Z + self._bend(at, by_z)

    def _bend(self, at: _Nodes, by_z: np.ndarray) -> np.ndarray:
        """The sum Σ by_z ∂²z/∂u² (N, 6n + 1, 6n + 1).

        z is linear in the control points, and they are linear in T; but v has a factor 1/T, and a has 1/T².
        """
        n, a = self.n, at.z[2]
        power = np.repeat([0.0, 1.0, 2.0], n)
        # ∂²z/∂c∂T = -power ∂z/∂c / T;  v_TT = -2 v_T / T,  a_TT = -(4 a_T + 2 a / T) / T
        mixed = -np.einsum("kz,kzu->ku", by_z * power, at.Z) / at.T
        z_TT: np.ndarray = -2 * power * at.Z[:, :, -1] / at.T
        z_TT[:, 2 * n :] -= 2 * a / at.T**2
        H = np.zeros((len(mixed), mixed.shape[1], mixed.shape[1]))
        H[:, -1], H[:, :, -1] = mixed, mixed
        H[:, -1, -1] = np.sum(by_z * z_TT, axis=1)
        return H
