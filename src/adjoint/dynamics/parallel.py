"""One very long chain on many cores: M x = b with the chain divided, all its parts at the same time.

Seen from its ends, a part of a chain is a linear map. To the acceleration A of the body that carries it, and to the
wrench λ that what lies beyond asks of its tip, it answers with the wrench F that it asks for itself, and with its tip's
acceleration:

    F = J A + Φ λ + p,     A_tip = Φᵀ A + N λ + g,       J >= 0 >= N symmetric (6, 6)

Joining two such maps is associative, all that divide and conquer needs; Featherstone (1999), "A divide-and-conquer
articulated-body algorithm for parallel O(log(n)) calculation of rigid-body dynamics", IJRR 18(9). Three steps:

1. `part_map`, link by link, of all parts at once;
2. `joined`, part by part: what lies beyond each of them, inward; the acceleration of what carries it, outward;
3. `part_solve`, the two sweeps of `solve_mass_matrix` from the true values at a part's ends, all parts at once.

The parts are samples of a batch: SIMD lanes first, then threads, so dividing may pay on a single core.

Step 1 takes 776 operations a link that turns; step 3, all there is to do in one piece, 465: the work is 2.7 times that
of `solve_mass_matrix`. Keeping what step 1 finds would spare step 3 most of its work, 1.7 times, but moves twice the
memory, and was no faster. Joining maps of single links, to the bottom of the recursion, takes over 2600 each. Fixman's
block tridiagonal system can be divided likewise, but takes 1560 in one piece, before it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile import kernel, scan, static
from ..errors import ArgumentError
from ..lie import se3
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..rolled.rows import Long, Plan, for_loops, is_long
from ..rolled.stand_in import JointParts, JointValues, RolledRobot
from ..sweep import inward_keeping, joint_placements, rates
from .articulated import NOTHING, Symmetric, eliminated, freed, require_inertia
from .forward import accelerated, accelerations_outward, leftover, passed_on, solve_mass_matrix

__all__ = ["joined", "part_map", "part_solve", "solve_mass_matrix_parallel", "solved_in_parts"]

LENGTH = 250  # links of a part, at most: what it keeps, for eight lanes, stays in a core's cache


@kernel(robot=static, q="nq", b="nv", parts=static)
def solve_mass_matrix_parallel(robot, q, b, *, parts=None):
    """M(q)⁻¹ b (nv,), the same as `solve_mass_matrix`, for very long chains: in so many equal parts, on all cores.

    By default parts have up to 250 links. Results do not depend on the number of threads (`ADJOINT_THREADS`), and on
    `parts` by rounding errors only. Joints have one degree of freedom, but for a root of any kind. Chains of up to 48
    bodies are solved in one piece.
    """
    _number(parts, len(robot.body_names))
    return solve_mass_matrix(robot, q, b)


@solve_mass_matrix_parallel.instead
def _in_parts(statics: dict, names: tuple[str, ...]) -> Callable | None:
    robot = statics["robot"]
    if not is_long(robot):
        return None
    require_inertia(robot)
    long = for_loops(robot)
    assert long is not None
    if long.plan.branched or long.plan.kinds:
        what = "branches" if long.plan.branched else f"{long.plan.kinds[0]} joints"
        raise ArgumentError(
            f"solve_mass_matrix_parallel: robot '{robot.name}' has {what}, and only chains of joints with one degree "
            "of freedom are divided; solve_mass_matrix takes all robots"
        )
    parts = _number(statics["parts"], len(long.bodies))
    supports = _supports(robot, parts)

    def solved(given: dict) -> np.ndarray:
        (_, q), (root_b, b) = long.split(given["q"], "nq"), long.split(given["b"], "nv")
        return long.join(*solved_in_parts(long, q, b, root_b, parts, supports))

    return solved


def _number(parts: int | None, n: int) -> int:
    """Of parts, with a link at least; by default sixteen or a multiple, lanes for two cores."""
    if parts is None:
        return min(n, 16 * -(-n // (16 * LENGTH)))
    if not isinstance(parts, int) or parts < 1:
        raise ArgumentError(f"solve_mass_matrix_parallel: parts must be a whole number, 1 or more; got {parts!r}")
    return min(n, parts)


def solved_in_parts(long: Long, q, b, root_b, parts: int, supports) -> JointParts:
    """`JointParts` of M⁻¹ b, for q, b (..., n) of all bodies but the root; `supports` of all parts, see `part_map`."""
    n = q.shape[-1]
    found = np.empty((*np.broadcast_shapes(q.shape[:-1], b.shape[:-1]), n))
    cut = n - n % parts  # up to here parts are equal; what is left over is one more

    def divided(start: int, stop: int, parts: int) -> tuple:
        shape = parts, (stop - start) // parts
        numbers = (x[..., start:stop].reshape(*x.shape[:-1], *shape) for x in (q, b, found))
        rows = (x[start:stop].reshape(*shape, x.shape[1]) for x in (long.placements, long.bodies))
        return *numbers, tuple(rows)

    plan = long.plan._replace(root="", root_is_standard=False, root_rotors=False, resists=False)  # of a part
    pieces = [divided(0, cut, parts), divided(cut, n, 1)][: 1 + (cut < n)]
    ends = np.split(supports, [parts])
    maps = [part_map(q, b, *rows, s, plan=plan) for (q, b, _, rows), s in zip(pieces, ends, strict=False)]
    root, ends = joined(np.concatenate(maps, axis=-3), supports, long.root, root_b, plan=long.plan)
    for (q, b, x, rows), end in zip(pieces, np.split(ends, [parts], axis=-3), strict=False):
        part_solve(q, b, *rows, end, plan=plan, out=x)
    return JointParts(root, found)


@once_a_robot
def _supports(robot: Robot, parts: int) -> np.ndarray:
    """The moment of inertia and mass of an average body of each part (parts, 2); none for the one at the end."""
    long = for_loops(robot)
    assert long is not None
    numbers = long.bodies
    bodies = np.stack([numbers[:, [4, 7, 9]].mean(axis=1), numbers[:, 0]], axis=1)
    rest = len(bodies) % parts
    average = bodies[: len(bodies) - rest].reshape(parts, -1, 2).mean(axis=1)
    found = np.where(average > 0, average, bodies.mean(axis=0))
    return np.append(found if rest else found[:-1], np.zeros((1, 2)), axis=0)


# --- the three steps --------------------------------------------------------------------------------------------------


def _matrix(X: Symmetric):
    return np.block([[X.A, X.B], [X.B.T, X.C]])


def _symmetric(X) -> Symmetric:
    return Symmetric(X[:3, :3], X[:3, 3:], X[3:, 3:])


_PART = {"q": ..., "b": ..., "placements": (..., 12), "bodies": (..., "row"), "plan": static}


def _part(plan: Plan, placements, bodies, q, b) -> tuple:
    """The stand-in for a part of a chain, its joints' placements, and b of its joints."""
    robot = RolledRobot(plan, {"placements": placements, "bodies": bodies})
    return robot, joint_placements(robot, JointValues(None, q)), JointValues(None, b)


@kernel(support=2, **_PART)
def part_map(q, b, placements, bodies, support, plan):
    """[J, Φ, N, p, g] (6, 20) of a part of a chain, from its tip inward.

    `support` is the moment of inertia and mass of a body lent to the tip, which may have none of its own; `joined`
    takes it back, as part of λ.
    """
    J = Symmetric(support[0] * np.eye(3), np.zeros((3, 3)), support[1] * np.eye(3))

    robot, f, b = _part(plan, placements, bodies, q, b)

    def step(i, beyond):
        J, Phi, N, p, g = beyond
        (pivot,), J = freed(robot, i, J + Symmetric.of_inertia(robot.inertias[i]))
        (left,), p = leftover([pivot], rates(robot, b, i), p)
        t = pivot.s @ Phi  # a = left - t·λ/Ω - Π·y, and A = y + s a
        Phi, N, g = Phi - np.outer(pivot.Pi, t), N.without(t, t * pivot.inverse), g + t * left
        columns = np.concatenate([Phi, p[:, None]], axis=1).T
        *Phi, p = (se3.coAd_inv_action(f[i], column) for column in columns)
        return (J.moved(f[i]), np.stack(Phi, axis=1), N, p, g), None

    start = J, np.eye(6), NOTHING, np.zeros(6), np.zeros(6)
    (J, Phi, N, p, g), _ = inward_keeping(robot, step, start)
    return np.concatenate([_matrix(J), Phi, _matrix(N), p[:, None], g[:, None]], axis=1)


@kernel(maps=(..., 6, 20), support=(..., 2), root="root_row", root_b="nv", plan=static)
def joined(maps, support, root, root_b, plan):
    """`JointParts`: the root's accelerations, and [P, z, A] (6, 8) for each part: F = P A_tip + z lies beyond it."""

    def split(part):
        return part[:, :6], part[:, 6:12], part[:, 12:18], part[:, 18], part[:, 19]

    def beyond(after, x):
        P, z = after
        (J, Phi, N, p, g), (moment, mass) = split(x[0]), x[1]
        # λ = K A_tip + z with K = P - support, and so λ = (1 - K N)⁻¹ (K (Φᵀ A + g) + z)
        K = P - np.diag([moment] * 3 + [mass] * 3)
        found = np.linalg.solve(np.eye(6) - K @ N, np.concatenate([K, (K @ g + z)[:, None]], axis=1))
        L, l = found[:, :6] @ Phi.T, found[:, 6]
        return (J + Phi @ L, p + Phi @ l), (P, z, L, l)

    (P, z), (Ps, zs, L, l) = scan(beyond, (np.zeros((6, 6)), np.zeros(6)), (maps, support), reverse=True)
    A, root_a = np.zeros(6), np.zeros(0)
    if plan.root:
        body = RolledRobot(plan, {"root": root}).root
        J = _symmetric(P) + Symmetric.of_inertia(body.inertia)
        pivots, _ = eliminated(J, body.screws, body.armature, body.known.issuperset(("screws", "armature")))
        left, _ = leftover(pivots, root_b, z)
        found, A = accelerated(body.screws, [pivot.Pi for pivot in pivots], left, A)
        root_a = np.stack(found)

    def carried(A, x):
        part, P, z, L, l = x
        _, Phi, N, _, g = split(part)
        return Phi.T @ A + N @ (L @ A + l) + g, np.concatenate([P, z[:, None], A[:, None]], axis=1)

    return JointParts(root_a, scan(carried, A, (maps, Ps, zs, L, l))[1])


@kernel(ends=(6, 8), **_PART)
def part_solve(q, b, placements, bodies, ends, plan):
    """The accelerations of a part's joints, `ends` being its [P, z, A] of `joined`."""
    robot, f, b = _part(plan, placements, bodies, q, b)

    def step(i, beyond):
        J, wrench = beyond
        return passed_on(robot, f, i, Symmetric.of_inertia(robot.inertias[i]) + J, wrench, rates(robot, b, i))

    _, left = inward_keeping(robot, step, (_symmetric(ends[:, :6]), ends[:, 6]))
    return accelerations_outward(robot, f, left, ends[:, 7], None).rows
