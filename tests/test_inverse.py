"""Inverse kinematics in closed form: every branch of every family, by forward kinematics and a second formulation."""

import itertools

import numpy as np
import pytest
from support.arms import (
    IIWA,
    apart,
    arm,
    check_solutions,
    general,
    nearly,
    planar,
    random_axes,
    spherical,
    turned,
    unit,
)
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint.inverse import all_branches, branches, indicators, inverse_kinematics, puma_solution, redundancy_of
from adjoint.inverse.arms import arm_of
from adjoint.inverse.chains import chain_of
from adjoint.inverse.general import elimination, solve_general
from adjoint.inverse.subproblems import circle_roots, conic_roots, quartic_roots
from adjoint.lie import se3, so3

MANY = 100_000
ur5 = aj.load(urdf("ur5_robot"))
panda = aj.load(urdf("panda"))
puma = aj.robots.puma560()
iiwa = aj.from_dh(IIWA, name="iiwa")


def free(robot):
    """The robot with all angles allowed, so that random configurations are of all kinds."""
    turns = np.array([kind != "prismatic" for kind in robot.joint_types])
    return robot.replace(lower=np.where(turns, -np.pi, -0.8), upper=np.where(turns, np.pi, 0.8))


# --- subproblems ------------------------------------------------------------------------------------------------------


def test_conics_meet_the_circle_as_often_as_their_quartic_has_real_roots():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b, d, e, f, g = conic = rng.normal(size=6)
        found = [root for root in conic_roots(conic) if root.exact]
        for (c, s), _ in found:
            assert abs(c * c + s * s - 1) < 1e-14
            assert abs(a * c * c + b * c * s + d * s * s + e * c + f * s + g) < 1e-11
        # The same equation in t = tan(θ/2), by the eigenvalues of a companion matrix.
        quartic = [a - e + g, 2 * f - 2 * b, 4 * d - 2 * a + 2 * g, 2 * b + 2 * f, a + e + g]
        real = [z for z in np.roots(quartic) if abs(z.imag) < 1e-9]
        assert len(found) == len(real)


@pytest.mark.parametrize("conic", [(1, 0, 1, 0, 0, -1), (1, 0, -1, 0, 0, 0), (0, 0, 0, 1, 0, -1), (0, 0, 0, 0, 0, 0)])
def test_degenerate_conics_give_numbers(conic):
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite([root.value for root in conic_roots([float(x) for x in conic])]).all()


def test_quartics_have_their_roots():
    roots = np.array([-1.5, 0.2, 0.3, 2.0])
    found = quartic_roots(np.polynomial.polynomial.polyfromroots(roots))
    close(np.sort([root.value for root in found]), roots, 1e-9)
    assert all(root.exact for root in found)
    assert sum(bool(root.exact) for root in quartic_roots([-6.0, 1.0, 1.0, 0.0, 0.0])) == 2  # of lower degree


def test_a_line_that_misses_the_circle_gives_the_nearest_point():
    for (c, s), exact in circle_roots(3.0, 4.0, 10.0):
        assert not exact
        close([c, s], [0.6, 0.8], 1e-15)
    touching = circle_roots(0.6, 0.8, 1.0)
    assert all(root.exact for root in touching)


# --- all branches -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "frame", "count"),
    [(puma, "tool", 8), (ur5, "tool0", 8), (aj.robots.stanford(), "tool", 8), (aj.robots.scara(), "tool", 2)],
    ids=lambda x: getattr(x, "name", None),
)
def test_every_branch_of_arms(robot, frame, count):
    robot = free(robot)
    q = aj.random_configuration(robot, MANY, rng=0)
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, frame), frame)
    assert found.q.shape == (MANY, count, robot.nq) and found.exact.dtype == bool
    check_solutions(robot, frame, q, found)
    counts = found.exact.sum(axis=1)
    assert set(counts) <= set(range(0, count + 1, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "frame"), [(panda, "panda_hand"), (iiwa, "tool")], ids=["panda", "iiwa"])
def test_every_branch_of_arms_with_seven_joints(robot, frame):
    q = aj.random_configuration(robot, MANY, rng=0)
    q[:, 7:] = 0  # fingers
    psi = redundancy_of(robot, q, frame)
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, frame), frame, redundancy=psi)
    assert found.q.shape == (MANY, 8, robot.nq)
    check_solutions(robot, frame, q, found)
    exact = redundancy_of(robot, found.q, frame)[found.exact]
    wanted = np.broadcast_to(psi[:, None], found.exact.shape)[found.exact]
    assert np.abs(turned(exact - wanted)).max() < 1e-6


FAMILIES = [
    *[(spherical, start, "RRR", meeting) for start, meeting in itertools.product(range(4), (False, True))],
    *[(spherical, 3, "".join(kinds), False) for kinds in itertools.product("RP", repeat=3) if "P" in kinds],
    *[(spherical, 0, kinds, False) for kinds in ("RRP", "PRR")],
    *[(planar, start, "RRR", meeting) for start, meeting in itertools.product(range(4), (False, True))],
    *[(planar, 1, kinds, False) for kinds in ("RRP", "PRR", "RPR")],
]


@pytest.mark.parametrize(("make", "start", "kinds", "meeting"), FAMILIES)
def test_every_branch_of_random_arms(make, start, kinds, meeting):
    robot = free(make(start, kinds, np.random.default_rng(start), meeting))
    q = aj.random_configuration(robot, 3000, rng=1)
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    check_solutions(robot, "tool", q, found)


def test_three_slides():
    rng = np.random.default_rng(5)
    d, x = rng.normal(size=(2, 6, 3))
    robot = free(arm("PRPRPR", [unit(k) for k in d], x, "slides"))
    q = aj.random_configuration(robot, 3000, rng=1)
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    assert found.q.shape[1] == 2 and "slides" in branches(robot, "tool").method
    check_solutions(robot, "tool", q, found)


def in_units_of(chain, T):
    """Poses T (..., 4, 4) with lengths in units of the arm's size."""
    T = T.copy()
    T[..., :3, 3] /= chain.size
    return T


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 1])
def test_elimination_finds_the_same_sets_as_the_closed_forms(start):
    """Raghavan & Roth's elimination, which knows nothing of families, is a second formulation for their arms."""
    robot = free(planar(start, "RRR", np.random.default_rng(2)))
    q = aj.random_configuration(robot, 500, rng=1)
    T = aj.forward_kinematics(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool")
    chain = chain_of(robot, "tool")
    how = elimination(chain.axes)
    assert how is not None

    @aj.kernel(T=(4, 4))
    def eliminated(T):
        rows = solve_general(how, chain.axes, T)
        return np.stack([np.stack([*row.q, np.where(row.exact, 1.0, 0.0)]) for row in rows])

    other = eliminated(in_units_of(chain, T) @ np.linalg.inv(chain.home))
    exact = other[..., -1] > 0.5
    same = exact.sum(axis=1) == found.exact.sum(axis=1)
    assert same.mean() > 0.99  # two solutions that nearly merge may count as one in one of the two
    for i in np.flatnonzero(same):
        for x in found.q[i][found.exact[i]]:
            assert apart(robot, other[i, exact[i], :-1], x).min() < 1e-5


@pytest.mark.slow
def test_general_arms_have_all_their_up_to_sixteen_solutions():
    robot = free(general(np.random.default_rng(3)))
    q = aj.random_configuration(robot, MANY, rng=0)
    T = aj.forward_kinematics(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool")
    assert found.q.shape == (MANY, 16, 6)
    check_solutions(robot, "tool", q, found)
    counts = found.exact.sum(axis=1)
    assert (counts % 2 == 0).mean() > 0.9999 and counts.max() >= 8
    assert (np.diff(found.exact.astype(int), axis=1) <= 0).all()  # exact ones come first
    # Each solution of a pose has the same set of solutions.
    again = inverse_kinematics(robot, aj.forward_kinematics(robot, found.q[:300, 1], "tool"), "tool")
    there = found.exact[:300, 1]
    assert (again.exact.sum(axis=1) == counts[:300])[there].mean() > 0.99


@pytest.mark.slow
def test_a_known_arm_with_sixteen_real_solutions():
    """The arm of R. Manseur & K. L. Doty (1989), "A robot manipulator with 16 real inverse kinematic solution sets"."""
    twist = np.radians([90.0, 1.0, 90.0, 1.0, 90.0, 1.0])
    a, d = [0.3, 1.0, 0.0, 1.5, 0.0, 0.0], [0.0, 0.0, 0.2, 0.0, 0.0, 0.0]
    robot = free(aj.from_dh([[0, d[i], a[i], twist[i]] for i in range(6)], name="manseur-doty"))
    q = aj.random_configuration(robot, 200_000, rng=0)
    T = aj.forward_kinematics(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool")
    off = np.abs(aj.forward_kinematics(robot, found.q, "tool") - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10
    missed = np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf).min(axis=1) > 1e-6
    counts = found.exact.sum(axis=1)
    # A tenth of the poses have sixteen. Where two of them nearly merge they may be lost: in 1 of 10 000 poses at most.
    assert missed.sum() <= 10 and (counts % 2).sum() <= 20
    assert (counts == 16).mean() > 0.1 and counts.max() == 16


@pytest.mark.parametrize(
    ("robot", "count"),
    [(aj.robots.planar(1), 1), (aj.robots.planar(2), 2), (aj.robots.planar(3), 2), (aj.robots.park3r(), 2)],
    ids=lambda x: getattr(x, "name", None),
)
def test_arms_with_fewer_joints(robot, count):
    robot = free(robot)
    q = aj.random_configuration(robot, 3000, rng=0)
    T = aj.forward_kinematics(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool")
    assert found.q.shape == (3000, count, robot.nq)
    check_solutions(robot, "tool", q, found)
    # At a pose that the arm cannot reach, the error is least: its gradient by the joints vanishes.
    off = T @ se3.exp(np.random.default_rng(0).normal(scale=0.05, size=(3000, 6)))
    lost = inverse_kinematics(robot, off, "tool")
    assert not lost.exact.any() and not np.isnan(lost.q).any()
    size = chain_of(robot, "tool").size

    def cost(q):
        E = se3.inverse(aj.forward_kinematics(robot, q, "tool")) @ off[:, None]
        return 0.5 * (so3.log(E[..., :3, :3]) ** 2).sum(axis=-1) + 0.5 * ((E[..., :3, 3] / size) ** 2).sum(axis=-1)

    h = 1e-5
    slopes = [(cost(lost.q + h * e) - cost(lost.q - h * e)) / (2 * h) for e in np.eye(robot.nq)]
    assert np.abs(slopes).max() < 1e-6  # of all branches of all samples


@pytest.mark.parametrize(
    ("make", "seed"),
    [(lambda rng: spherical(1, "RRR", rng), 111), (lambda rng: planar(1, "RRR", rng), 111)],
    ids=["spherical", "planar"],
)
def test_axes_that_pass_at_millimetres_are_solved_exactly(make, seed):
    """Quartics whose coefficients differ by orders of magnitude: their roots are refined, and verified by the pose."""
    robot = make(np.random.default_rng(seed))
    q = np.random.default_rng(0).uniform(-3, 3, (20_000, 6))
    T = aj.forward_kinematics(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool")
    off = np.abs(aj.forward_kinematics(robot, found.q, "tool") - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10
    values = np.linalg.svd(aj.jacobian(robot, q, "tool", "world"), compute_uv=False)
    missed = np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf).min(axis=1) > 1e-5
    assert not missed[values[:, -1] > 1e-3 * values[:, 0]].any()


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e3])
def test_units_make_no_difference(size):
    """An arm in millimetres, or one as small as a finger, is solved as one of a metre is."""
    one = general(np.random.default_rng(3))
    A, M, _ = aj.model.space_screws(one, "tool")
    M[:3, 3] *= size
    robot = aj.from_screws(A * np.repeat([1.0, size], 3), M, name=f"general {size}")
    q = np.random.default_rng(0).uniform(-3, 3, (500, 6))
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    assert (np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf).min(axis=1) < 1e-6).all()


@pytest.mark.parametrize("size", [0.1, 1.0, 4.0])
def test_branches_mean_the_same_for_large_and_small_arms(size):
    A, M, _ = aj.model.space_screws(puma, "tool")
    M[:3, 3] *= size
    robot = aj.from_screws(A * np.repeat([1.0, size], 3), M, name=f"puma {size}")
    assert branches(robot, "tool").branches == branches(puma, "tool").branches


def test_a_slide_along_an_axis_may_come_after_it():
    """A SCARA whose slide is last: R R R P, all parallel."""
    z, d = [0, 0, 1], 0.3
    robot = aj.from_screws([[*z, 0, -d * i, 0] for i in range(3)] + [[0, 0, 0, *z]], np.eye(4), name="scara last")
    q = np.random.default_rng(0).uniform(-1, 1, (500, 4))
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    check_solutions(robot, "tool", q, found)


@pytest.mark.parametrize("n", [4, 5])
def test_general_arms_with_fewer_joints(n):
    robot = arm("R" * n, *random_axes(n, np.random.default_rng(1)), f"general {n}")
    q = np.random.default_rng(0).uniform(-3, 3, (500, n))
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    check_solutions(robot, "tool", q, found)


@pytest.mark.parametrize("without", [0, 1, 2, 3, 5])  # without joint 5, joints 4 and 6 are the same
def test_arms_that_lack_a_joint(without):
    """A PUMA with one joint fixed: every reachable pose has an exact answer."""
    A, M, _ = aj.model.space_screws(puma, "tool")
    robot = aj.from_screws(np.delete(A, without, axis=0), M, name=f"puma without {without}")
    q = np.random.default_rng(0).uniform(-3, 3, (1000, 5))
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    assert (np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf).min(axis=1) < 1e-5).mean() > 0.998


@pytest.mark.parametrize("error", [1e-11, 1e-9, 1e-6, 1e-3])
def test_nearly_ideal_arms_with_seven_joints(error):
    robot = nearly(iiwa, error, np.random.default_rng(1))
    assert branches(robot, "tool").redundancy == "the arm angle [rad]"
    q = np.random.default_rng(0).uniform(-2.5, 2.5, (1000, 7))
    T, psi = aj.forward_kinematics(robot, q, "tool"), redundancy_of(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool", redundancy=psi)
    off = np.abs(aj.forward_kinematics(robot, found.q, "tool") - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10 and found.exact.mean() > 0.97
    # The arm angle is that of the ideal arm, up to the errors over the distance from singularities.
    near = np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf).min(axis=1)
    assert np.median(near) < max(20 * error, 1e-12)


def test_a_nearly_ideal_scara():
    robot = nearly(aj.robots.scara(), 1e-6, np.random.default_rng(1))
    q = aj.random_configuration(robot, 500, rng=0)
    found = inverse_kinematics(robot, aj.forward_kinematics(robot, q, "tool"), "tool")
    check_solutions(robot, "tool", q, found)


def test_arms_that_cannot_move_in_six_ways_are_refused():
    d, x = random_axes(6, np.random.default_rng(0))
    d[1], x[1] = d[0], x[0]
    with pytest.raises(aj.ArgumentError, match="no closed form is known"):
        inverse_kinematics(arm("RRRRRR", d, x, "coincident"), np.eye(4), "tool")


@pytest.mark.parametrize("name", ["z1", "so1", "kinova", "xarm7", "ur10_joint_limited"])
def test_real_arms(name):
    robot = aj.load(urdf(name))
    frame = robot.frame_names[-1]
    chain = chain_of(robot, frame)
    q = np.zeros((2000, robot.nq))
    places = list(chain.places)
    q[:, places] = np.random.default_rng(0).uniform(-3, 3, (2000, len(places)))
    psi = redundancy_of(robot, q, frame) if arm_of(robot, frame).is_redundant else None
    T = aj.forward_kinematics(robot, q, frame)
    found = inverse_kinematics(robot, T, frame, redundancy=psi)
    off = np.abs(aj.forward_kinematics(robot, found.q, frame) - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10
    near = np.abs(turned(found.q - q[:, None]))[..., places].max(axis=-1)
    assert ((near < 1e-4) & found.exact).any(axis=1).mean() > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("error", [1e-3, 1e-5])
def test_calibrated_arms_whose_axes_are_only_nearly_parallel(error):
    robot = nearly(ur5, error, np.random.default_rng(3))
    robot = robot.replace(lower=-np.pi, upper=np.pi)
    arm = arm_of(robot, "tool0")
    assert arm.refine and "refined" in branches(robot, "tool0").method
    q = aj.random_configuration(robot, 20_000, rng=0)
    T = aj.forward_kinematics(robot, q, "tool0")
    found = inverse_kinematics(robot, T, "tool0")
    off = np.abs(aj.forward_kinematics(robot, found.q, "tool0") - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10
    missed = np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf).min(axis=1) > 1e-5
    # Errors ε of the axes move solutions by ε over the smallest singular value: near singularities one may be lost.
    smallest = np.linalg.svd(aj.jacobian(robot, q, "tool0", "world"), compute_uv=False)[:, -1]
    assert missed.mean() < 0.01
    assert not missed[smallest > 0.3 * np.sqrt(error)].any()
    # The branches keep their meaning: they are near those of the ideal arm.
    ideal = inverse_kinematics(ur5, T, "tool0")
    both, clear = found.exact & ideal.exact, smallest > 0.05
    assert np.quantile(apart(robot, found.q, ideal.q)[both & clear[:, None]], 0.99) < 300 * error


# --- the textbook's PUMA ----------------------------------------------------------------------------------------------

F2 = np.array([
    [+1, +1, +1, -126.551054, -135, 65.372790, 167.121508, 44.049152, -25.937500],
    [+1, +1, -1, -126.551054, -135, 65.372790, -12.878492, -44.049152, 154.062500],
    [+1, -1, +1, -126.551054, -162.369798, 120, 170.556669, 70.821360, -32.141968],
    [+1, -1, -1, -126.551054, -162.369798, 120, -9.443331, -70.821360, 147.858032],
    [-1, +1, +1, 30, -45, 120, 20, 40, -60],
    [-1, +1, -1, 30, -45, 120, -160, -40, 120],
    [-1, -1, +1, 30, -17.630202, 65.372790, 13.908533, 66.149880, -50.138535],
    [-1, -1, -1, 30, -17.630202, 65.372790, -166.091467, -66.149880, 129.861465],
])  # fmt: skip


def test_the_eight_solutions_of_a_puma():
    T = aj.forward_kinematics(puma, np.radians([30, -45, 120, 20, 40, -60]), "tool")
    found = inverse_kinematics(puma, T, "tool")
    assert found.exact.all()
    for side, elbow, wrist, *degrees in F2:
        near = apart(puma, found.q, np.radians(degrees))
        assert near.min() < 1e-7
        told = indicators(puma, found.q[near.argmin()], "tool")
        assert tuple(told) == (side, elbow, wrist)
        named = branches(puma, "tool").branches[near.argmin()]
        assert named.arm == ("RIGHT" if side > 0 else "LEFT") and named.elbow == ("ABOVE" if elbow > 0 else "BELOW")
        close(puma_solution(T, side, elbow, wrist), np.radians(degrees), 1e-7)


def test_textbook_formulas_agree():
    robot = free(puma)
    q = aj.random_configuration(robot, 20_000, rng=4)
    T = aj.forward_kinematics(robot, q, "tool")
    found = inverse_kinematics(robot, T, "tool")
    told = indicators(robot, found.q, "tool")
    book = puma_solution(T[:, None], *told)
    clear = np.abs(np.sin(found.q[..., 4])) > 1e-4
    assert apart(robot, book, found.q)[found.exact & clear].max() < 1e-7
    # FLIP turns the wrist over: WRIST changes its sign.
    flipped = puma_solution(T[:, None], *told, 1.0)
    other = puma_solution(T[:, None], told.arm, told.elbow, -told.wrist)
    assert apart(robot, flipped, other)[found.exact & clear].max() < 1e-7
    # ARM and ELBOW are those of the branches, at all poses.
    for k, branch in enumerate(branches(robot, "tool").branches):
        there = found.exact[:, k]
        assert (told.arm[there, k] == (1 if branch.arm == "RIGHT" else -1)).mean() > 0.9999
        assert (told.elbow[there, k] == (1 if branch.elbow == "ABOVE" else -1)).mean() > 0.9999


def test_stanford_formulas_of_problem_2_17():
    robot = aj.robots.stanford()
    q = aj.random_configuration(robot, 1000, rng=0)
    T = aj.forward_kinematics(robot, q, "tool")
    x, y, z = np.moveaxis(T[:, :3, 3] - 0.263 * T[:, :3, 2], -1, 0)
    found = inverse_kinematics(robot, T, "tool")
    for sign in (1, -1):
        r = sign * np.sqrt(x**2 + y**2 - 0.154**2)
        first = np.arctan2(r * y - 0.154 * x, r * x + 0.154 * y), np.arctan2(r, z - 0.412), np.hypot(r, z - 0.412)
        wanted = np.stack(first, axis=-1)[:, None]
        off = np.abs(turned(found.q[..., :2] - wanted[..., :2])).max(-1) + np.abs(found.q[..., 2] - wanted[..., 2])
        assert (off.min(axis=1) < 1e-9).all()


def test_planar_arm_of_problem_2_15():
    robot = aj.from_dh([[0, 0, 1, 0], [0, 0, 1, 0]])
    for degrees in ([-15.746444, 92.005762], [76.259318, -92.005762]):
        T = aj.forward_kinematics(robot, np.radians(degrees), "tool")
        close(T[:2, 3], [1.2, 0.7], 1e-6)
        found = inverse_kinematics(robot, T, "tool")
        close(np.degrees(found.q[found.exact]), [degrees], 1e-9)


# --- singular and unreachable poses -----------------------------------------------------------------------------------


def straight_elbow(q, step):
    q[:, 2] = np.arctan2(0.43307, -0.02032) + step


def wrist_over_shoulder(q, step):
    """The wrist's centre over the first axis, as near as it gets: a_2 C_2 + a_3 C_23 + d_4 S_23 = 0."""
    c, s = np.cos(q[:, 2]), np.sin(q[:, 2])
    q[:, 1] = np.arctan2(-(0.4318 - 0.02032 * c + 0.43307 * s), 0.02032 * s + 0.43307 * c) + step


def coordinate(i):
    def place(q, step):
        q[:, i] = step

    return place


@pytest.mark.parametrize("step", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(
    ("robot", "frame", "place"),
    [
        (puma, "tool", coordinate(4)),
        (puma, "tool", straight_elbow),
        (puma, "tool", wrist_over_shoulder),
        (ur5, "tool0", coordinate(4)),
        (ur5, "tool0", lambda q, step: coordinate(4)(q, np.pi + step)),
        (ur5, "tool0", coordinate(2)),
        (aj.robots.stanford(), "tool", coordinate(4)),
        (panda, "panda_hand", coordinate(1)),
        (panda, "panda_hand", coordinate(5)),
        (iiwa, "tool", coordinate(3)),
        (iiwa, "tool", coordinate(1)),
    ],
)
def test_singular_poses_have_exact_answers_and_no_nan(robot, frame, place, step):
    q = np.random.default_rng(0).uniform(-2, 2, (300, robot.nq))
    place(q, step)
    T = aj.forward_kinematics(robot, q, frame)
    psi = redundancy_of(robot, q, frame) if robot.nq > 6 else None
    found = inverse_kinematics(robot, T, frame, redundancy=psi)
    assert not np.isnan(found.q).any()
    off = np.abs(aj.forward_kinematics(robot, found.q, frame) - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10
    assert found.exact.any(axis=1).all()


def test_arms_that_are_too_short_point_at_their_target():
    """The wrist's centre is as near to its place as it can be: on the sphere of its reach."""
    direction = np.random.default_rng(0).normal(size=(200, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    T = se3.from_rotation_translation(so3.random(200, rng=0), 2.0 * direction)
    T = T[np.hypot(T[:, 0, 3], T[:, 1, 3]) > 0.6]  # over the shoulder the arm cannot point straight up
    found = inverse_kinematics(puma, T, "tool")
    assert not found.exact.any() and not np.isnan(found.q).any()
    at = aj.forward_kinematics(puma, found.q, "tool")
    close(at[..., :3, :3], np.broadcast_to(T[:, None, :3, :3], at[..., :3, :3].shape), 1e-12)  # oriented exactly
    wrist = at[..., :3, 3] - 0.05625 * at[..., :3, 2]
    wanted = T[:, :3, 3] - 0.05625 * T[:, :3, 2]
    reach = np.sqrt(0.14909**2 + (0.4318 + np.hypot(0.43307, 0.02032)) ** 2)
    least = np.linalg.norm(wanted, axis=1) - reach
    close(np.linalg.norm(wrist - wanted[:, None], axis=-1), np.broadcast_to(least[:, None], found.exact.shape), 1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(0, 1), (2, 1), (1, 3), (3, 0)])
@pytest.mark.parametrize("robot", [puma, aj.robots.stanford(), aj.robots.scara()], ids=["puma", "stanford", "scara"])
def test_no_answer_to_a_pose_with_nan_is_exact(robot, place, value):
    T = aj.forward_kinematics(robot, np.full(robot.nq, 0.4), "tool")
    T[place] = value
    found = inverse_kinematics(robot, np.stack([T, T]), "tool")
    assert not found.exact.any() and np.isnan(found.q).all()


def test_neither_nan_nor_neighbours_spoil_a_sample():
    q = aj.random_configuration(puma, 50, rng=0)
    T = aj.forward_kinematics(puma, q, "tool")
    alone = inverse_kinematics(puma, T, "tool")
    T[7, 0, 3] = np.nan
    T[9] = np.nan
    found = inverse_kinematics(puma, T, "tool")
    assert not found.exact[[7, 9]].any()
    rest = np.delete(np.arange(50), [7, 9])
    assert np.array_equal(found.q[rest], alone.q[rest]) and np.array_equal(found.exact[rest], alone.exact[rest])


# --- as kernels -------------------------------------------------------------------------------------------------------


def test_solutions_of_one_pose_are_those_of_a_batch_and_eager_ones():
    q = aj.random_configuration(ur5, 20, rng=0)
    T = aj.forward_kinematics(ur5, q, "tool0")
    found = inverse_kinematics(ur5, T.reshape(4, 5, 4, 4), "tool0")
    assert found.q.shape == (4, 5, 8, 6)
    for i in range(20):
        one = inverse_kinematics(ur5, T[i], "tool0")
        close(one.q, found.q.reshape(20, 8, 6)[i], 1e-9)
        eager = all_branches.eager(ur5, T[i], "tool0")
        close(eager.q, one.q, 1e-9)
        assert np.array_equal(eager.exact > 0.5, one.exact)


def test_derivatives_of_solutions_by_the_pose():
    """J(q) dq = the twist of the pose: the derivative by T is the inverse of the Jacobian."""
    q = np.radians([30, -45, 120, 20, 40, -60.0])
    T = aj.forward_kinematics(puma, q, "tool")
    branch = int(apart(puma, inverse_kinematics(puma, T, "tool").q, q).argmin())
    slope = all_branches.bind(puma, frame="tool").jacobian("T")(T).q[branch]  # (6, 4, 4)
    twists = np.array([T @ se3.hat(e) for e in np.eye(6)])  # dT of body twists
    moved = np.einsum("iab,kab->ik", slope, twists)
    close(moved @ aj.jacobian(puma, q, "tool", "body"), np.eye(6), 1e-9)


def test_c_code_of_an_arm():
    assert "atan2" in all_branches.bind(puma, frame="tool").source("c")


# --- what cannot be solved --------------------------------------------------------------------------------------------


def test_messages():
    T = aj.forward_kinematics(puma, np.ones(6), "tool")
    with pytest.raises(aj.ArgumentError, match=r"T\[1\] is not a rigid motion"):
        inverse_kinematics(puma, np.stack([T, np.diag([1, 1, -1, 1.0]), np.zeros((4, 4))]), "tool")
    with pytest.raises(aj.ArgumentError, match="T is not a rigid motion"):
        inverse_kinematics(puma, 2 * np.eye(4), "tool")
    with pytest.raises(aj.ArgumentError, match=r"inverse_kinematics: argument 'T' has shape \(3, 3\)"):
        inverse_kinematics(puma, np.eye(3), "tool")
    with pytest.raises(aj.ArgumentError, match="no frame 'hand'"):
        inverse_kinematics(puma, T, "hand")
    with pytest.raises(aj.ArgumentError, match="inverse_kinematics needs a Robot"):
        inverse_kinematics(T, T, "tool")
    with pytest.raises(aj.ArgumentError, match=r"redundancy= the coordinate of joint 'panda_joint7' .*find_config"):
        inverse_kinematics(panda, T, "panda_hand")
    with pytest.raises(aj.ArgumentError, match=r"redundancy= the arm angle \[rad\], or let `best_redundancy`"):
        inverse_kinematics(iiwa, T, "tool")
    with pytest.raises(aj.ArgumentError, match="leave redundancy= out"):
        inverse_kinematics(puma, T, "tool", redundancy=0.0)
    with pytest.raises(aj.ArgumentError, match="no joint of robot 'puma560' moves frame 'base'"):
        inverse_kinematics(puma, T, "base")
    with pytest.raises(aj.ArgumentError, match=r"10 joints on the way.*find_configuration"):
        inverse_kinematics(aj.robots.planar(10), T, "tool")
    with pytest.raises(aj.ArgumentError, match="is spherical; closed forms"):
        ball = aj.Robot.builder("ball").link("a").link("b").joint("j", "spherical", "a", "b").build()
        inverse_kinematics(ball, T, "b")


def test_poses_written_with_few_digits_are_corrected():
    q = np.radians([30, -45, 120, 20, 40, -60.0])
    T = np.round(aj.forward_kinematics(puma, q, "tool"), 8)
    found = inverse_kinematics(puma, T, "tool")
    assert found.exact.all()
    off = np.abs(aj.forward_kinematics(puma, found.q, "tool") - T).max(axis=(-2, -1))
    assert off.max() < 3e-8


def test_a_follower_on_the_way():
    """A hand whose last joint follows the first: six axes, five coordinates."""
    builder = aj.Robot.builder("geared").link("l0")
    d = [[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    for i, axis in enumerate(d):
        builder.link(f"l{i + 1}")
        place = se3.from_rotation_translation.eager(np.eye(3), [0.3 * (i > 0), 0.0, 0.1])
        mimic = {"mimic": ("j2", -1.0, 0.2)} if i == 3 else {}
        builder.joint(f"j{i + 1}", "revolute", f"l{i}", f"l{i + 1}", place, axis=axis, **mimic)
    robot = builder.build()
    q = np.random.default_rng(0).uniform(-2, 2, (500, 4))
    T = aj.forward_kinematics(robot, q, "l5")
    found = inverse_kinematics(robot, T, "l5")
    check_solutions(robot, "l5", q, found)


def test_a_slide_that_a_turn_follows():
    """Angles of a geared joint are no full turns of its leader, which is a length."""
    builder = aj.Robot.builder("geared slide").link("l0")
    for i, (kind, axis) in enumerate([("revolute", [0, 0, 1]), ("prismatic", [0, 0, 1]), ("revolute", [0, 1, 0])]):
        builder.link(f"l{i + 1}")
        place = se3.from_rotation_translation.eager(np.eye(3), [0.3, 0.0, 0.1])
        options = {"mimic": ("j2", 1.0, 0.0)} if i == 2 else {}
        builder.joint(f"j{i + 1}", kind, f"l{i}", f"l{i + 1}", place, axis=axis, **options)
    robot = builder.frame("tip", "l3", se3.from_rotation_translation.eager(np.eye(3), [0.2, 0.1, 0.0])).build()
    q = np.random.default_rng(0).uniform(-8, 8, (500, 2)) * [0.3, 1.0]
    T = aj.forward_kinematics(robot, q, "tip")
    found = inverse_kinematics(robot, T, "tip")
    off = np.abs(aj.forward_kinematics(robot, found.q, "tip") - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max(initial=0.0) < 1e-9
    turned_ones = aj.inverse.with_turns(robot.replace(lower=-9, upper=9), found)
    off = np.abs(aj.forward_kinematics(robot, turned_ones.q, "tip") - T[:, None]).max(axis=(-2, -1))
    assert off[turned_ones.exact].max(initial=0.0) < 1e-9
