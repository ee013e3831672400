"""One long chain in parts: the same as in one piece, however it is divided; the law of its maps; refusals."""

import numpy as np
import pytest
from support.trees import close, on_free_base, random_chain

import adjoint as aj
from adjoint import polymer, robots
from adjoint.dynamics.parallel import joined, part_map, part_solve, solve_mass_matrix_parallel, solved_in_parts
from adjoint.errors import ArgumentError
from adjoint.fixman import fixman_solve
from adjoint.rolled.rows import Plan, in_rows

CHAIN = Plan()


def thick_chain(n: int):
    """Rods 0.4 m thick, which Fixman's method takes too."""
    rod = aj.lie.inertia.from_central.eager(1.0, np.array([0.5, 0, 0]), np.diag([0.02, 0.09, 0.09]))
    return robots.chain(n).replace(inertias=np.tile(rod, (n, 1)))


def universal_chain(n: int):
    """n bodies, every third massless: parts may end with one."""
    axes = np.tile(np.eye(6)[[2, 1, 0]], (n // 3, 1))
    return thick_chain(n).replace(screws=axes, inertias=np.where(np.arange(n)[:, None] % 3, thick_chain(n).inertias, 0))


def numbers(robot, *batch: int):
    rng = np.random.default_rng(0)
    return aj.random_configuration(robot, batch, rng=rng), rng.normal(size=(*batch, robot.nv))


CHAINS = {
    "any joints": random_chain(1, 53),
    "armature": random_chain(2, 60).replace(armature=np.linspace(0.1, 1, 60)),
    "rods": robots.chain(80),
    "massless bodies": universal_chain(90),
    "flying": on_free_base(random_chain(3, 60).replace(armature=np.ones(60))),
    "molecule": polymer.bead_chain(70).robot,
    "long": thick_chain(1000),
}


@pytest.mark.slow
@pytest.mark.parametrize("robot", CHAINS.values(), ids=CHAINS)
def test_as_in_one_piece(robot):
    """The condition of M bounds what both lose against exact numbers, far above what dividing adds."""
    q, b = numbers(robot)
    x = aj.solve_mass_matrix(robot, q, b)
    for parts in (1, 2, 3, 7, 16, robot.nv // 2, robot.nv, 10 * robot.nv, None):
        close(solve_mass_matrix_parallel(robot, q, b, parts=parts), x, 1e-12)


def test_one_part_is_the_recursion_to_the_last_bit():
    robot = thick_chain(60)
    q, b = numbers(robot)
    assert np.array_equal(solve_mass_matrix_parallel(robot, q, b, parts=1), aj.solve_mass_matrix(robot, q, b))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 17, 31, 48, 50])
def test_short_chains_divided_in_every_way(n):
    """Below 49 bodies nobody would: the numbers are divided all the same, and compared with Fixman's method."""
    robot = random_chain(n, n)
    q, b = numbers(robot)
    long, x = in_rows(robot), fixman_solve(robot, q, b)
    uncertain = 1e-12 + 50 * np.finfo(float).eps * np.linalg.cond(aj.mass_matrix.eager(robot, q))
    for parts in {1, 2, 3, n // 3, n // 2, n - 1, n} & set(range(1, n + 1)):
        supports = np.ones((parts + (n % parts > 0), 2))
        found = solved_in_parts(long, q, b, np.zeros(0), parts, supports)
        assert found.root.shape == (0,)
        close(found.bodies, x, uncertain)
    if n < 5:  # what users get: one piece
        close(solve_mass_matrix_parallel(robot, q, b, parts=2), x, uncertain)


def test_of_a_long_chain_fixmans_method_says_the_same():
    robot = thick_chain(5000)
    q, b = numbers(robot)
    x = solve_mass_matrix_parallel(robot, q, b)
    close(x, fixman_solve(robot, q, b))
    assert np.array_equal(x, solve_mass_matrix_parallel(robot, q, b, parts=32))  # the default


def test_maps_are_joined_by_redheffers_product():
    """The map of a chain is that of its halves, joined: an associative operation, here in dense matrices."""
    robot, none = thick_chain(60), np.zeros(2)
    q, b = numbers(robot)
    long = in_rows(robot)

    def seen(start, stop):
        numbers = (x[start:stop] for x in (q, b, long.placements, long.bodies))
        part = part_map(*numbers, none, plan=long.plan)
        return *np.split(part[:, :18], 3, axis=1), part[:, 18], part[:, 19]

    def join(first, second):
        J, Phi, N, p, g = first
        K, Psi, O, z, h = second
        D = np.linalg.inv(np.eye(6) - K @ N)  # λ = D (K (Φᵀ A + g) + Ψ μ + z)
        through = (np.eye(6) + N @ D @ K).T @ Psi
        return (
            J + Phi @ D @ K @ Phi.T,
            Phi @ D @ Psi,
            O + Psi.T @ N @ D @ Psi,
            p + Phi @ D @ (K @ g + z),
            h + through.T @ g + Psi.T @ N @ D @ z,
        )

    one, two, three = seen(0, 7), seen(7, 11), seen(11, 16)
    for got in (join(join(one, two), three), join(one, join(two, three))):
        for x, y in zip(got, seen(0, 16), strict=True):
            close(x, y, 1e-11)
    J, _, N, _, _ = one
    assert (np.linalg.eigvalsh(J) > -1e-14).all() and (np.linalg.eigvalsh(N) < 1e-14).all()


@pytest.mark.slow
def test_batches_and_bits():
    """Configurations and right-hand sides broadcast; the number of threads does not matter, to the last bit."""
    robot = thick_chain(1001)
    q, b = numbers(robot, 2, 3)
    x = solve_mass_matrix_parallel(robot, q[:, :1], b, parts=20)
    close(x, aj.solve_mass_matrix(robot, q[:, :1], b), 1e-12)
    close(solve_mass_matrix_parallel(robot, q[0, 0], b, parts=20), aj.solve_mass_matrix(robot, q[0, 0], b), 1e-12)
    assert solve_mass_matrix_parallel(robot, q[:0], b[0, 0]).shape == (0, 3, 1001)
    out = np.empty_like(x)
    assert solve_mass_matrix_parallel(robot, q[:, :1], b, parts=20, out=out) is out and np.array_equal(out, x)
    try:
        for threads in (1, 3):
            part_map.threads = part_solve.threads = threads
            assert np.array_equal(solve_mass_matrix_parallel(robot, q[:, :1], b, parts=20), x)
    finally:
        part_map.threads = part_solve.threads = None


def test_work():
    """Of operations a link it takes 2.7 times as many as the recursion in one piece; a seam as many as six links."""
    alone = sum(aj.solve_mass_matrix.bind(robots.chain(60)).operations) / 60
    assert sum(part_map.bind(CHAIN).operations) + sum(part_solve.bind(CHAIN).operations) < 2.7 * alone
    assert sum(joined.bind(plan=CHAIN).operations) < 6 * alone


def test_refusals():
    robot = robots.chain(60)
    q = np.zeros(60)
    for bad in (0, -1, 2.5, "4"):
        with pytest.raises(ArgumentError, match="parts must be a whole number, 1 or more; got"):
            solve_mass_matrix_parallel(robot, q, q, parts=bad)
        with pytest.raises(ArgumentError, match="parts must be a whole number"):
            solve_mass_matrix_parallel(robots.chain(5), q[:5], q[:5], parts=bad)
    for bad in (np.zeros(59), np.zeros((60, 1)), 0.0):
        with pytest.raises(ArgumentError, match="solve_mass_matrix_parallel: argument 'b' has shape"):
            solve_mass_matrix_parallel(robot, q, bad)
    with pytest.raises(ArgumentError, match="has branches, and only chains of joints with one degree"):
        solve_mass_matrix_parallel(robot.replace(parents=np.full(60, -1)), q, q)
    empty = np.where(np.arange(60)[:, None] < 50, robot.inertias, 0)
    with pytest.raises(ArgumentError, match=f"'{robot.body_names[59]}' and all beyond it have no inertia"):
        solve_mass_matrix_parallel(robot.replace(inertias=empty), q, q)
    balls = robots.random_tree(0, 60, ["spherical"]).replace(parents=np.arange(-1, 59))
    with pytest.raises(ArgumentError, match="has spherical joints, and only chains of joints with one degree"):
        solve_mass_matrix_parallel(balls, aj.neutral(balls), np.zeros(balls.nv))
