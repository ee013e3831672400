"""Fixman's method for robots, without link parameters: H = N⁻¹ (1 - Γ) J⁻¹ (1 - Γ)ᵀ N⁻ᵀ.

Γ and J are those of Ploen & Park (1999), as in `dynamics.global_operators`: (1 - Γ) V are the twists of the bodies
relative to their parents. In the basis N_k = [S_k, C_k], the first components of such a twist are the rates of joint k,
which are soft; the others are motions that the joint forbids, which are hard. Any constant C_k that completes the
screws S_k to a basis will do, so there are no link parameters, and no singularities but those of J. Two hard rows meet
only at a body that they share. So H_22 is block tridiagonal for a chain, with blocks (5, 5), and for a tree its factors
have no fill if children are eliminated before parents.

    log det M = Σ log det J_k + 2 Σ log |det N_k| + log det H_22

Everything is computed in the frames of `robot.reframed("joint")`, where screws lie along z. Every body needs an inertia
that has an inverse: it may not be massless, a point, or a thin rod. `solve_mass_matrix` inverts no body's inertia and
takes such bodies too. LWC is Lee, Wang & Chirikjian (2007), see `partition`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..lie import se3
from ..model.input_checks import vectors
from ..model.needs import need_numbers, need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..sweep import joint_placement
from .chain_loops import Body, chain_logdets, chain_solve, inverse_inertia, link_rows
from .partition import Blocks, Partition, block_diagonal, blocks, blocks_at, logdet, solve

__all__ = ["fixman_blocks", "fixman_logdet", "fixman_solve", "robot_partition"]


def fixman_solve(robot: Robot, q, b) -> np.ndarray:
    """Return M(q)⁻¹ b (..., nv) by Fixman's method; `solve_mass_matrix` computes the same in another way.

    q is (..., nq) and b (..., nv). The cost is O(n) for chains, and for trees whose bodies have few children.

    A serial chain of joints with one degree of freedom and without armature runs as one compiled loop, whatever its
    length. All other robots (trees, joints with several degrees of freedom, mimics, armature) are solved with SciPy's
    sparse matrices, sample by sample.

        x = fixman_solve(robot, q, b)                                       # mass_matrix(robot, q) @ x is b

    Lee, Wang & Chirikjian (2007), (7).
    """
    q = _configurations(robot, q, "fixman_solve")
    b = vectors(b, robot.nv, "b", "fixman_solve")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], b.shape[:-1])
    except ValueError:
        raise ArgumentError(f"fixman_solve: the batch axes of q {q.shape} and b {b.shape} do not broadcast") from None
    if (chain := _chain(robot)) is not None:
        return chain_solve(chain.rows[:-1], chain.rows[1:], q, b)
    q, b = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, b))
    found = [solve(robot_partition(robot, q[at]), b[at]) for at in np.ndindex(batch)]
    return np.array(found).reshape(*batch, robot.nv)


def fixman_logdet(robot: Robot, q):
    """Return log det M(q) (...) by Fixman's theorem: the same as `mass_matrix_logdet`.

    q is (..., nq). The cost is that of `fixman_solve`. Lee, Wang & Chirikjian (2007), (6); Fixman (1974).
    """
    q = _configurations(robot, q, "fixman_logdet")
    if (chain := _chain(robot)) is not None:
        return chain.logdet_J + np.sum(chain_logdets(chain.rows[:-1], chain.rows[1:], q), axis=-1)
    found = [logdet(robot_partition(robot, q[at])) for at in np.ndindex(q.shape[:-1])]
    return np.array(found).reshape(q.shape[:-1])[()]


def fixman_blocks(robot: Robot, q) -> Blocks:
    """Return the `Blocks` H_11 (nv, nv), H_12 and H_22 at one configuration q (nq,), as SciPy sparse arrays.

    The hard rows of a body are those components of its twist relative to its parent that the joint forbids, in the
    joint's frame; after the rows of all bodies come one for each mimic and one for each rotor (armature). Lee, Wang &
    Chirikjian (2007), (8).
    """
    return blocks(robot_partition(robot, q))


def _configurations(robot: Robot, q, caller: str) -> np.ndarray:
    """Return q as an array (..., nq), after a check that Fixman's method takes the robot."""
    need_robot(robot, caller)
    need_numbers(robot, caller)
    return vectors(q, robot.nq, "q", caller)


# --- the robot's numbers, in joint frames -----------------------------------------------------------------------------


class Chain(NamedTuple):
    """The rows (n + 1, 27) of `link_rows` for a serial chain, and Σ log det J_k."""

    rows: np.ndarray
    logdet_J: float


@once_a_robot
def _chain(robot: Robot) -> Chain | None:
    """Return the robot as a `Chain`, or None if `chain_loops` is not made for it."""
    n = len(robot.body_names)
    serial = n > 0 and np.array_equal(robot.parents, np.arange(-1, n - 1)) and robot.n_dofs == robot.nv == n
    return _links(robot) if serial and not robot.armature.any() else None


def _links(robot: Robot) -> Chain:
    """Return the `Chain` of a serial robot."""
    framed = robot.reframed("joint")
    T, bodies = framed.placements, _inverse_bodies(framed)
    rows = link_rows(T[:, :3, :3], T[:, :3, 3], framed.screws[:, [2, 5]], bodies)
    return Chain(rows, _logdet_inertia(bodies))


_SINGULAR = 1e-12  # least moment of inertia about the centre of mass, relative to the largest about the origin
_FULL = [4, 5, 6, 5, 7, 8, 6, 8, 9]  # the places of the entries of I in an inertia (10,)


def _inverse_bodies(robot: Robot) -> Body:
    """Return the `Body` arrays (n, ...) of all bodies; an `ArgumentError` names a body whose inertia has no inverse."""
    m, I = robot.inertias[:, 0], robot.inertias[:, _FULL].reshape(-1, 3, 3)
    c = robot.inertias[:, 1:4] / np.where(m > 0, m, 1.0)[:, None]
    I_c = I - m[:, None, None] * (np.sum(c**2, axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :])
    least = np.linalg.eigvalsh(I_c)[:, 0]
    bad = (m <= 0) | (least <= _SINGULAR * np.abs(I).max(axis=(1, 2)))
    if bad.any():
        i = int(np.argmax(bad))
        what = f"mass {m[i]:g} kg, least moment of inertia about the centre of mass {least[i]:g} kg m²"
        raise ArgumentError(
            f"robot '{robot.name}': body '{robot.body_names[i]}' has an inertia without inverse ({what}), which "
            "Fixman's method needs of every body; solve_mass_matrix and mass_matrix_logdet do without"
        )
    return Body(np.linalg.inv(I_c), c, 1 / m)


def _logdet_inertia(bodies: Body) -> float:
    """Return Σ log det J_k = Σ (log det I_c + 3 log m)."""
    return -float(np.sum(np.linalg.slogdet(bodies.turning)[1]) + 3 * np.sum(np.log(bodies.sliding)))


# --- any robot, with sparse matrices ----------------------------------------------------------------------------------


def robot_partition(robot: Robot, q, completion: Sequence | None = None) -> Partition:
    """Return the `Partition` of a robot at one configuration q (nq,), in which the rates v are soft.

    The velocities ξ̇ are the twists of the bodies, and the speeds of the rotors. `completion` is a sequence with a
    matrix C_k (6, 6 - dofs) for each body, in the frames of `robot.reframed("joint")`. By default the columns of C_k
    are unit vectors, and one across the screw if it has a pitch. Armature is a rotor: one more mass that can only spin,
    and that a hard coordinate holds to the speed of its joint. In the same way hard coordinates hold mimics to their
    leaders.
    """
    from scipy import sparse

    q = _configurations(robot, q, "robot_partition")
    if q.ndim != 1:
        raise ArgumentError(f"robot_partition: q has shape {q.shape}; it takes one configuration ({robot.nq},)")
    framed = robot.reframed("joint")
    bodies, N = _inverse_bodies(framed), _bases(framed, completion)
    relative = _relative_twists(framed, q, np.linalg.inv(N))
    is_rate = (np.arange(6) < np.diff(robot.layout.dof_start)[:, None]).ravel()
    leads, follows = _mimic_rows(robot)
    v = leads @ relative[is_rate]
    rotors = np.flatnonzero(robot.armature)
    a = robot.armature[rotors]
    held = sparse.vstack([relative[~is_rate], follows @ relative[is_rate]])
    return Partition(
        soft=sparse.hstack([v, sparse.csr_array((robot.nv, len(a)))], format="csr"),
        hard=sparse.block_array([[held, None], [-v[rotors], sparse.eye_array(len(a))]], format="csr"),
        inverse_masses=sparse.block_diag(
            [block_diagonal(inverse_inertia(*bodies)), sparse.diags_array(1 / a)], format="csr"
        ),
        logdet_G=_logdet_inertia(bodies) + 2 * float(np.sum(np.linalg.slogdet(N)[1])) + float(np.sum(np.log(a))),
    )


def _bases(framed: Robot, completion: Sequence | None) -> np.ndarray:
    """Return the bases N_k = [S_k, C_k] (n, 6, 6)."""
    dofs = np.diff(framed.layout.dof_start)
    single, first = dofs == 1, framed.layout.dof_start[:-1]
    N = np.tile(np.eye(6), (len(dofs), 1, 1))
    if completion is None:
        t, d = framed.screws[np.array(first, int)[single]][:, [2, 5]].T
        length = t**2 + d**2
        N[single] = np.eye(6)[:, [2, 0, 1, 3, 4, 5]]
        N[single, 2, 0], N[single, 5, 0] = t, d
        N[single, 2, 5], N[single, 5, 5] = -d / length, t / length
    for i in np.flatnonzero(~single).tolist() if completion is None else range(len(dofs)):
        S = framed.screw(i).T
        # Such an S has only zeros and ones.
        C = np.eye(6)[:, ~np.any(np.abs(S) > 0.5, axis=1)] if completion is None else completion[i]
        N[i] = np.concatenate([S, C], axis=1)
    return N


def _relative_twists(framed: Robot, q, dual) -> Any:
    """Return N⁻¹ (1 - Γ) (6n, 6n): twists relative to the parents, in the bases whose inverses are `dual` (n, 6, 6)."""
    if not len(dual):
        return block_diagonal(dual)
    X = se3.Ad(se3.inverse(_placements(framed, q)))
    inner = np.flatnonzero(framed.parents >= 0)
    return block_diagonal(dual) - blocks_at(inner, framed.parents[inner], (dual @ X)[inner], len(dual))


def _placements(framed: Robot, q) -> np.ndarray:
    """Return f_i = M_i J_i(q_i) (n, 4, 4); joints with one screw, which lies along z, are computed all at once."""
    at = framed.layout
    coordinate = q[np.array(at.q_start)]
    for i, mimic in framed.mimics.items():
        coordinate[i] = mimic.multiplier * coordinate[i] + mimic.offset
    single = np.diff(at.dof_start) == 1
    t, d = (framed.screws[np.array(at.dof_start[:-1])][:, [2, 5]] * coordinate[:, None])[single].T
    moved = np.tile(np.eye(4), (len(t), 1, 1))
    moved[:, 0, 0] = moved[:, 1, 1] = np.cos(t)
    moved[:, 1, 0] = np.sin(t)
    moved[:, 0, 1], moved[:, 2, 3] = -moved[:, 1, 0], d
    f = framed.placements.copy()
    f[single] = f[single] @ moved
    with eagerly():
        for i in np.flatnonzero(~single):
            f[i] = joint_placement(framed, q, int(i))
    return f


def _mimic_rows(robot: Robot) -> tuple[Any, Any]:
    """Return the matrices that take the rates of all joints to v (nv,), and to rate_i - multiplier · rate_source."""
    from scipy import sparse

    start = robot.layout.dof_start
    one: Any = sparse.eye_array(robot.n_dofs, format="csr")
    own = np.setdiff1d(np.arange(robot.n_dofs), [start[i] for i in robot.mimics])
    pairs = [one[[start[i]]] - m.multiplier * one[[start[m.source]]] for i, m in robot.mimics.items()]
    return one[own], sparse.vstack([sparse.csr_array((0, robot.n_dofs)), *pairs], format="csr")
