"""Curvature of the kinetic metric: its symmetries, closed forms of small robots, and robots that are flat."""

import numpy as np
import pytest
from support.trees import close, sample, tree
from support.worked_examples import (
    PUMA_LIKE,
    digits,
    from_central,
    planar_2r,
    pose,
    puma_like_example,
    serial,
    sliders,
    spherical_pendulum,
)

import adjoint as aj
from adjoint import robots
from adjoint.dynamics.composite import mass_matrix
from adjoint.errors import ArgumentError
from adjoint.geometry.christoffel_symbols import christoffel
from adjoint.geometry.curvature_tensors import (
    curvature,
    is_flat,
    ricci_curvature,
    scalar_curvature,
    sectional_curvature,
)
from adjoint.model import Robot

ONE_DOF = ("revolute", "prismatic", "helical", "screw", "mimic")
ROBOTS = [
    *(tree(seed, 5, ONE_DOF) for seed in range(2)), robots.park3r(), robots.scara(), robots.planar(4), robots.stanford()
]  # fmt: skip
every_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: f"{r.name}-{r.nv}")


def polar_arm(mass=2.0, moment=0.1) -> Robot:
    J = from_central((1.0, mass), [(0, 0, 0)] * 2, [(0, 0, 0), (moment, moment, moment)])
    return serial("RP", ["revolute", "prismatic"], [pose(), pose()], [(0, 0, 1), (1, 0, 0)], J, pose())


# --- the tensor -------------------------------------------------------------------------------------------------------


@every_robot
def test_it_is_that_of_the_paper(robot):
    """(66), with the compiler's derivatives of the Christoffel symbols."""
    q, *_ = sample(robot)
    G, dG = christoffel.eager(robot, q), christoffel.bind(robot).jacobian("q").eager(q)
    products = np.einsum("ilr,rs,jks->iljk", G, np.linalg.inv(mass_matrix.eager(robot, q)), G)
    want = np.einsum("jlik->ijkl", dG) - np.einsum("jkil->ijkl", dG)
    want = want + np.einsum("iljk->ijkl", products) - np.einsum("ikjl->ijkl", products)
    close(curvature.eager(robot, q), want, 1e-12)


@every_robot
def test_symmetries(robot):
    """Exact in pairs; the first identity of Bianchi is not built in."""
    q, *_ = sample(robot)
    R = curvature.eager(robot, q)
    assert np.array_equal(R, -R.transpose(1, 0, 2, 3)) and np.array_equal(R, -R.transpose(0, 1, 3, 2))
    assert np.array_equal(R, R.transpose(2, 3, 0, 1))
    cyclic = R + np.einsum("iklj->ijkl", R) + np.einsum("iljk->ijkl", R)
    np.testing.assert_allclose(cyclic, 0, atol=1e-12 * np.abs(R).max())


@pytest.mark.parametrize("robot", [robots.park3r(), robots.planar(3)], ids=lambda r: r.name)
def test_second_identity_of_bianchi(robot):
    """∇_m R_ijkl + ∇_k R_ijlm + ∇_l R_ijmk = 0."""
    q, *_ = sample(robot)
    G2 = np.einsum("kh,ijh->ijk", np.linalg.inv(mass_matrix.eager(robot, q)), christoffel.eager(robot, q))  # Γ^k_ij
    R, D = curvature.eager(robot, q), curvature.bind(robot).jacobian("q").eager(q)
    for place in range(4):
        moved = np.moveaxis(np.tensordot(G2, R, (2, place)), (1, 0), (place, 4))  # Γ^r_mi R_rjkl, and so on
        D = D - moved
    cyclic = D + np.einsum("ijlmk->ijklm", D) + np.einsum("ijmkl->ijklm", D)
    np.testing.assert_allclose(cyclic, 0, atol=1e-12 * np.abs(D).max())


@pytest.mark.parametrize("robot", [tree(0, 4, ONE_DOF), robots.park3r()], ids=lambda r: r.name)
def test_sectional_curvature_needs_no_tensor(robot):
    """Its O(n) form equals the contraction; it depends on the plane only."""
    q, x, y = sample(robot)
    M, R = mass_matrix.eager(robot, q), curvature.eager(robot, q)
    want = np.einsum("ijkl,i,j,k,l", R, x, y, x, y) / ((x @ M @ x) * (y @ M @ y) - (x @ M @ y) ** 2)
    close(sectional_curvature.eager(robot, q, x, y), want, 1e-9)  # terms much larger than the sum
    close(sectional_curvature.eager(robot, q, 2 * x - y, x + y), want, 1e-9)


@pytest.mark.slow
def test_directions_that_span_no_plane():
    """NaN, whatever the rounding of lengths; 1e-6 rad apart, they do span one. None in a robot with one joint."""
    robot = robots.puma560()
    q, x, y = sample(robot)
    for factor in (1.0, -2.0, np.pi, 1e-5, 0.0):
        assert np.isnan(sectional_curvature(robot, q, x, factor * x))
        assert np.isnan(sectional_curvature.eager(robot, q, factor * x, x))
    want = sectional_curvature.eager(robot, q, x, y)
    np.testing.assert_allclose(sectional_curvature.eager(robot, q, x, x + 1e-6 * y), want, rtol=1e-3)
    for n in (0, 1):
        assert np.isnan(sectional_curvature(robots.chain(n), *np.ones((3, n))))
        assert np.isnan(sectional_curvature(robots.chain(n), np.ones((4, n)), *np.ones((2, n)))).shape == (4,)


@every_robot
def test_contractions(robot):
    """In an orthonormal basis R_ijij are sectional curvatures: Ric_jj their sum over i, the scalar that of all."""
    q, *_ = sample(robot)
    basis = np.linalg.inv(np.linalg.cholesky(mass_matrix.eager(robot, q)))  # rows
    K = np.einsum("ijkl,ai,bj,ak,bl->ab", curvature.eager(robot, q), *[basis] * 4)
    Ric = ricci_curvature.eager(robot, q)
    slack = 1e-12 * np.abs(K).max()
    np.testing.assert_allclose(np.einsum("ki,ij,kj->k", basis, Ric, basis), K.sum(0), atol=slack)
    np.testing.assert_allclose(scalar_curvature.eager(robot, q), K.sum(), atol=slack * robot.nv)
    np.testing.assert_allclose(Ric, Ric.T, atol=1e-12 * np.abs(Ric).max())


def test_frames_are_free_and_inertia_scales():
    """Twice the inertia: R doubles, and K is halved."""
    robot = robots.park3r()
    q, x, y = sample(robot)
    R, K = curvature.eager(robot, q), sectional_curvature.eager(robot, q, x, y)
    close(curvature.eager(robot.reframed("com"), q), R, 1e-12)
    heavy = robot.replace(inertias=2 * robot.inertias, armature=2 * robot.armature)
    close(curvature.eager(heavy, q), 2 * R, 1e-13)
    close(sectional_curvature.eager(heavy, q, x, y), K / 2, 1e-13)


@pytest.mark.slow
def test_compiled_equals_eager():
    robot = robots.park3r()
    rng = np.random.default_rng(0)
    q, x, y = aj.random_configuration(robot, 5, rng=rng), *rng.normal(size=(2, 5, 3))
    close(curvature(robot, q), [curvature.eager(robot, p) for p in q], 1e-12)
    close(scalar_curvature(robot, q), [scalar_curvature.eager(robot, p) for p in q], 1e-12)
    want = [sectional_curvature.eager(robot, *sample) for sample in zip(q, x, y, strict=True)]
    close(sectional_curvature(robot, q, x, y), want, 1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((robots.two_link(), 0), "samples must be 1 or more, got 0"),
        ((robots.two_link(), "many"), "samples must be a whole number"),
        (("arm",), "is_flat needs a Robot"),
    ],
)
def test_flat_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        is_flat(*arguments)


def test_joints_without_coordinates_are_refused():
    robot = tree(1)
    q, x, y = sample(robot)
    with pytest.raises(ArgumentError, match="curvature is for joints with one degree of freedom"):
        curvature.eager(robot, q)
    with pytest.raises(ArgumentError, match="curvature is for joints with one degree of freedom"):
        sectional_curvature.eager(robot, q, x, y)


# --- known curvatures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "elbow, det, R, K",
    [
        (0.3, 0.07094558957, 0.2309961681, 3.255962343),
        (1.2, 0.1256513989, 0.04947024297, 0.3937102444),
        (2.5, 0.08990772381, -0.1528576523, -1.700161519),
    ],
)
def test_planar_2r(elbow, det, R, K):
    """M = [a + 2b cos, d + b cos; ., d]: R_1212 = b cos (d (a - d) - b²) / det M."""
    robot, q = planar_2r(), np.array([0.4, elbow])
    a, b, d = 0.85469, 0.2646, 0.20876
    digits(np.linalg.det(mass_matrix.eager(robot, q)), det)
    digits(curvature.eager(robot, q)[0, 1, 0, 1], R)
    close(curvature.eager(robot, q)[0, 1, 0, 1], b * np.cos(elbow) * (d * (a - d) - b * b) / det, 1e-9)
    digits(sectional_curvature.eager(robot, q, *np.eye(2)), K)
    digits(scalar_curvature.eager(robot, q), 2 * K, 9)


def test_polar_arm():
    """R_1212 = -m I / (I + m r²)."""
    digits(curvature.eager(polar_arm(), np.array([0.3, 0.7]))[0, 1, 0, 1], -0.1851851852)


def test_a_spherical_pendulum_is_a_sphere():
    for q in ([0.3, 0.8], [1.0, -0.2]):
        digits(sectional_curvature.eager(spherical_pendulum(), np.array(q), *np.eye(2)), 1.020408163)


def test_puma_like_arm():
    digits(scalar_curvature.eager(puma_like_example(), np.array(PUMA_LIKE[0])), -380.661448, 9)


# --- flat robots ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "robot",
    [
        robots.chain(0),
        robots.chain(1),
        sliders(),
        planar_2r(centers=(0.31, 0.0)),  # the second link is balanced: M is constant
        planar_2r(masses=(1.0, 0.9), centers=(0.0, 0.42), moments=(0.0, 0.0)),  # a point mass in a plane,
        polar_arm(moment=0.0),  # and in polar coordinates
        robots.planar(3).replace(inertias=robots.planar(3).inertias * [[0], [0], [0]], armature=np.ones(3)),
    ],
    ids=["nothing", "one joint", "sliders", "balanced", "point mass", "polar", "armatures"],
)
def test_flat_robots(robot):
    assert is_flat(robot)


@pytest.mark.parametrize(
    "robot",
    [
        *ROBOTS,
        planar_2r(centers=(0.31, 1e-5)),  # nearly balanced
        planar_2r(masses=(1.0, 0.9), centers=(0.0, 0.42), moments=(1e-5, 0.0)),
        polar_arm(moment=1e-6),
        planar_2r().replace(inertias=1e-9 * planar_2r().inertias),
        planar_2r().replace(inertias=1e9 * planar_2r().inertias),
    ],
    ids=lambda r: r.name,
)
def test_curved_robots(robot):
    assert not is_flat(robot)


def test_a_tiny_wrist_does_not_hide_the_arm():
    """Curvatures are judged entry by entry, each by its own rounding errors."""
    J = [*planar_2r().inertias, 1e-9 * planar_2r().inertias[1]]
    homes = [pose(), pose(x=0.7), pose(x=0.5)]
    assert not is_flat(serial("wrist", ["revolute"] * 3, homes, [(0, 0, 1)] * 3, J, pose()))
    tiny = [x * [1, 0, 0, 0, 1, 1, 1, 1, 1, 1] for x in J]  # all balanced
    assert is_flat(serial("balanced", ["revolute"] * 3, [pose()] * 3, [(0, 0, 1)] * 3, tiny, pose()))


def test_what_is_always_zero_is_not_minus_zero():
    factors = aj.curvature.bind(robots.scara()).packing.factors
    assert not np.signbit(factors[factors == 0]).any()
