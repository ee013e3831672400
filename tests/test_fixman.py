"""Fixman's method for robots: against articulated bodies and dense algebra, its blocks, its refusals, its memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from support.robots import urdf
from support.trees import close, random_chain, sample
from support.worked_examples import PUMA_LIKE, RPR, RRR, puma_like_example, rpr_example, rrr_example

import adjoint as aj
from adjoint import fixman, robots
from adjoint.errors import ArgumentError
from adjoint.fixman import fixman_blocks, fixman_logdet, fixman_solve
from adjoint.fixman.bodies import _chain
from adjoint.fixman.chain_loops import chain_solve
from adjoint.model import JOINTS

WITH_INERTIA = (*JOINTS, "mimic", "fixed")  # a universal joint has a massless cross


def slack(*matrices) -> float:
    """Rounding errors grow with the condition of what is factored: M, and H_22, which has nothing to do with it."""
    return 50 * np.finfo(float).eps * max(np.linalg.cond(M) for M in matrices if M.size) + 1e-13


ROBOTS = [
    *(random_chain(seed, n) for seed, n in enumerate((1, 2, 3, 9))),
    *(robots.random_tree(seed, 12, WITH_INERTIA) for seed in (3, 4)),
    robots.random_tree(5, 4, ["free"]),
    robots.random_tree(6, 15, ["revolute"]).replace(armature=np.zeros(15)),
    robots.puma560(),
    aj.load(urdf("panda.urdf")),
    aj.load(urdf("solo12.urdf"), base="free"),
]
every_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")


@every_robot
def test_solves_as_dense_algebra_does(robot):
    q, b, _ = sample(robot)
    M, H22 = aj.mass_matrix.eager(robot, q), fixman_blocks(robot, q).H22.toarray()
    tolerance = slack(M, H22)
    close(fixman_solve(robot, q, b), np.linalg.solve(M, b), tolerance)
    close(fixman_logdet(robot, q), np.linalg.slogdet(M)[1], tolerance)


@every_robot
def test_the_theorem_in_dense_matrices(robot):
    """G H = 1 by blocks: M is G_11, M⁻¹ the Schur complement, det M = det G det H_22."""
    q, b, _ = sample(robot, 1)
    parted = fixman.robot_partition(robot, q)
    H11, H12, H22 = (block.toarray() for block in fixman.blocks(parted))
    M = aj.mass_matrix.eager(robot, q)
    tolerance = slack(M, H22)
    close(fixman.constrained_mass_matrix(parted), M, tolerance)
    close((H11 - H12 @ np.linalg.solve(H22, H12.T)) @ M, np.eye(robot.nv), tolerance)
    close(parted.logdet_G, np.linalg.slogdet(M)[1] - np.linalg.slogdet(H22)[1], tolerance)
    close(-np.linalg.slogdet(np.block([[H11, H12], [H12.T, H22]]))[1], parted.logdet_G, tolerance)
    close(fixman.solve(parted, b), np.linalg.solve(M, b), tolerance)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_the_loop_is_the_sparse_method(n):
    """Two implementations, a compiled loop and sparse matrices, for several configurations and right-hand sides."""
    robot = random_chain(n, n)
    rng = np.random.default_rng(n)
    q, b = aj.random_configuration(robot, (4, 1), rng=rng), rng.normal(size=(3, n))
    x, logdet = fixman_solve(robot, q, b), fixman_logdet(robot, q)
    assert x.shape == (4, 3, n) and logdet.shape == (4, 1)
    for i in range(4):
        parted = fixman.robot_partition(robot, q[i, 0])
        tolerance = slack(fixman.blocks(parted).H22.toarray())
        close(x[i].T, fixman.solve(parted, b.T), tolerance)
        close(logdet[i, 0], fixman.logdet(parted), tolerance)
    chain = _chain(robot)
    assert chain is not None
    close(chain_solve.eager(chain.rows[:-1], chain.rows[1:], q[0, 0], b[0]), x[0, 0], 1e-11)


def test_a_batch_of_trees():
    robot = robots.random_tree(0, 5, WITH_INERTIA)
    q, b = aj.random_configuration(robot, (2, 1), rng=0), np.random.default_rng(0).normal(size=(3, robot.nv))
    x = fixman_solve(robot, q, b)
    assert x.shape == (2, 3, robot.nv) and fixman_logdet(robot, q).shape == (2, 1)
    close(x[1, 2], fixman_solve(robot, q[1, 0], b[2]), 0)


@pytest.mark.parametrize(
    ("robot", "q", "logdet_J", "logdet_H22", "H11"),
    [
        (rrr_example(), RRR[0], -32.56299681, 28.10620785, [[100, 0, 0], [0, 70, -20], [0, -20, 70.31446541]]),
        (
            rpr_example(), RPR[0], -36.25083907, 33.06991081,
            [[40, -0.8, 0], [-0.8, 1.228468193, 1.526717557], [0, 1.526717557, 193.7477281]],
        ),
        (puma_like_example(), PUMA_LIKE[0], -74.765602, 51.74314379, None),
    ],
    ids=["RRR", "RPR", "6R"],
)  # fmt: skip
def test_known_numbers(robot, q, logdet_J, logdet_H22, H11):
    parted = fixman.robot_partition(robot, q)
    close(parted.logdet_G, logdet_J, 1e-9)
    close(fixman_logdet(robot, q), logdet_J + logdet_H22, 3e-9)  # of ten digits of either
    if H11 is not None:
        close(fixman.blocks(parted).H11.toarray(), H11, 1e-9)


def test_any_completion_will_do():
    """H_22, and its determinant, depend on the forbidden motions chosen; M⁻¹ and det M do not."""
    robot = robots.random_tree(2, 8, WITH_INERTIA)
    q, b, _ = sample(robot)
    rng = np.random.default_rng(0)
    C = [rng.normal(size=(6, 6 - k)) for k in np.diff(robot.layout.dof_start)]
    one, other = fixman.robot_partition(robot, q), fixman.robot_partition(robot, q, C)
    tolerance = slack(*(fixman.blocks(p).H22.toarray() for p in (one, other)))
    assert abs(one.logdet_G - other.logdet_G) > 1
    close(fixman.solve(other, b), fixman.solve(one, b), tolerance)
    close(fixman.logdet(other), fixman.logdet(one), tolerance)


def test_blocks_of_a_chain_are_banded():
    robot = random_chain(7, 9)
    H11, H12, H22 = fixman_blocks(robot, sample(robot)[0])
    joint = np.arange(9)
    for block, rows, columns in ((H11, joint, joint), (H12, joint, joint.repeat(5)), (H22, *[joint.repeat(5)] * 2)):
        i, j = block.nonzero()
        assert np.max(np.abs(rows[i] - columns[j])) == 1


def test_a_tree_factors_without_fill():
    """Children before parents: L has no block that H_22 has not. Siblings meet at their parent, so they are in H_22."""
    robot = robots.random_tree(6, 15, ["revolute"]).replace(armature=np.zeros(15))
    assert len(set(robot.parents)) < 14
    H22 = fixman_blocks(robot, sample(robot)[0]).H22.toarray()[::-1, ::-1]
    body = np.arange(15).repeat(5)[::-1]
    i, j = np.nonzero(np.abs(np.linalg.cholesky(H22)) > 1e-12)
    parent = robot.parents
    for a, b in {*zip(body[i].tolist(), body[j].tolist(), strict=True)}:
        assert a == b or parent[b] == a or (parent[a] == parent[b] >= 0)


def test_freezing_a_joint_makes_it_hard():
    robot = rrr_example()
    q, b, _ = sample(robot)
    soft, hard, masses, logdet_G = fixman.robot_partition(robot, q)
    parted = fixman.Partition(soft[[0, 2]], sparse.vstack([hard, soft[[1]]]), masses, logdet_G)
    locked = robot.locked({robot.joint_names[1]: q[1]})
    close(fixman.solve(parted, b[[0, 2]]), fixman_solve(locked, q[[0, 2]], b[[0, 2]]), 1e-11)
    close(fixman.logdet(parted), aj.mass_matrix_logdet.eager(locked, q[[0, 2]]), 1e-11)


def test_nothing_hard_and_nothing_at_all():
    free = robots.random_tree(7, 1, ["free"])
    q, b, _ = sample(free)
    close(fixman_solve(free, q, b), np.linalg.solve(aj.mass_matrix.eager(free, q), b), 1e-11)
    close(fixman_logdet(free, q), aj.mass_matrix_logdet.eager(free, q), 1e-12)
    nobody = robots.random_tree(0, 0)
    assert fixman_solve(nobody, np.zeros((2, 0)), np.zeros(0)).shape == (2, 0)
    assert fixman_logdet(nobody, np.zeros(0)) == 0
    for empty in (
        fixman.planar_partition([], [], []),
        fixman.spatial_partition([], [], [], []),
        fixman.dh_partition(fixman.paper.long_polypeptide(0), "beta"),
    ):
        assert fixman.logdet(empty) == 0 and fixman.solve(empty, np.zeros(0)).shape == (0,)


def long_chain(n: int):
    return fixman.dh_links.as_robot(fixman.paper.long_polypeptide(n), "beta")


def test_a_thousand_links():
    """As articulated bodies have it, and as the paper's own form has it."""
    robot = long_chain(1000)
    rng = np.random.default_rng(0)
    q, b = rng.uniform(-0.3, 0.3, 1000), rng.normal(size=1000)
    close(fixman_solve(robot, q, b), aj.solve_mass_matrix(robot, q, b), 1e-11)
    close(fixman_logdet(robot, q), aj.mass_matrix_logdet(robot, q), 1e-12)
    parted = fixman.dh_partition(fixman.paper.long_polypeptide(1000), "beta")
    close(fixman_logdet(robot, 0 * q), fixman.logdet(parted), 1e-12)
    close(fixman_solve(robot, 0 * q, b), fixman.solve(parted, b), 1e-11)


def test_memory_is_linear():
    """Less than 2 kB a link at the peak, with what is kept of the robot; the same for ten times as many links."""

    def peak(n: int) -> float:
        robot, q = long_chain(n), np.zeros(n)
        tracemalloc.start()
        try:
            fixman_solve(robot, q, q)
            return tracemalloc.get_traced_memory()[1] / n
        finally:
            tracemalloc.stop()

    peak(10)  # compiles
    few, many = peak(2_000), peak(20_000)
    assert many < 1.1 * few < 2200


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [lambda r, q: fixman_solve(r, q, np.zeros(r.nv)), fixman_logdet, fixman_blocks])
def test_inertias_without_inverse(function):
    """Rods and massless bodies: named, with what takes them; and it does."""
    rods = robots.chain(3)
    with pytest.raises(ArgumentError, match=r"body 'link1' has an inertia without inverse.*solve_mass_matrix"):
        function(rods, np.zeros(3))
    close(aj.solve_mass_matrix.eager(rods, np.ones(3), aj.mass_matrix.eager(rods, np.ones(3)) @ [1, 2, 3]), [1, 2, 3])
    massless = robots.random_tree(0, 2, ["universal"])
    with pytest.raises(ArgumentError, match=r"cross' has an inertia without inverse \(mass 0 kg"):
        function(massless, np.zeros(massless.nq))


def test_wrong_shapes():
    robot = rrr_example()
    with pytest.raises(ArgumentError, match=r"fixman_solve: argument 'q' has shape \(2,\); \(..., 3\) is needed"):
        fixman_solve(robot, np.zeros(2), np.zeros(3))
    with pytest.raises(ArgumentError, match=r"fixman_solve: argument 'b' has shape \(\)"):
        fixman_solve(robot, np.zeros(3), 1.0)
    with pytest.raises(ArgumentError, match="one configuration"):
        fixman_blocks(robot, np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match="fixman_logdet"):
        fixman_logdet("robot", np.zeros(3))  # type: ignore[arg-type]
