"""Rigid-body inertia: the three forms, change of frame, shapes, and what cannot exist."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import laws
from support.laws import check

from adjoint.errors import AdjointError
from adjoint.lie import inertia, se3, so3


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def random_inertia(rng, shape=()):
    """Point clouds: six positive point masses, so physical by construction."""
    masses, points = rng.uniform(0.1, 1, (*shape, 6)), rng.standard_normal((*shape, 6, 3))
    h = np.einsum("...k,...ki->...i", masses, points)
    S = np.einsum("...k,...ki,...kj->...ij", masses, points, points)
    second = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    return inertia.from_moments(masses.sum(-1), h, second)


# --- forms ------------------------------------------------------------------------------------------------------------


def test_forms_are_equivalent(rng):
    a = random_inertia(rng, (4,))
    check(inertia.from_moments(*inertia.moments(a)), a, units=0)
    check(inertia.from_matrix(inertia.matrix(a)), a, units=0)
    check(inertia.from_central(*inertia.central(a)), a)


def test_matrix_is_the_papers(rng):
    """PBP (21): J = [I_c - m[r]², m[r]; -m[r], m1], symmetric positive definite."""
    m, r, Ic = inertia.central(random_inertia(rng))
    J = inertia.matrix(inertia.from_central(m, r, Ic))
    X = so3.hat(r)
    check(J, np.block([[Ic - m * X @ X, m * X], [-m * X, m * np.eye(3)]]))
    check(J, J.T, units=0)
    assert np.linalg.eigvalsh(J)[0] > 0


def test_momentum_and_energy(rng):
    a, V = random_inertia(rng, (4,)), rng.standard_normal((4, 6))
    momentum = laws.mul(inertia.matrix(a), V)
    check(inertia.momentum(a, V), momentum)
    check(inertia.energy(a, V), 0.5 * np.sum(V * momentum, -1))


def test_energy_is_that_of_the_points(rng):
    """½ Σ m |v + w × x|², the definition."""
    masses, points = np.array([0.3, 0.5, 0.2, 0.9]), rng.standard_normal((4, 3))
    second = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True))
    a = inertia.from_moments(masses.sum(), masses @ points, second)
    V = rng.standard_normal(6)
    velocity = V[3:] + np.cross(V[:3], points)
    check(inertia.energy(a, V), 0.5 * np.sum(masses * np.sum(velocity**2, -1)))


def test_pseudo_inertia_is_the_second_moment_of_homogeneous_points(rng):
    masses, points = np.array([0.3, 0.5, 0.2, 0.9]), rng.standard_normal((4, 3))
    X = np.column_stack([points, np.ones(4)])
    second = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True))
    check(inertia.pseudo_inertia(inertia.from_moments(masses.sum(), masses @ points, second)), X.T * masses @ X)


# --- change of frame --------------------------------------------------------------------------------------------------


def test_transform_is_the_congruence(rng):
    a, T = random_inertia(rng, (4,)), se3.random(4, rng=rng)
    X = se3.Ad(se3.inverse(T))
    check(inertia.matrix(inertia.transform(T, a)), np.swapaxes(X, -1, -2) @ inertia.matrix(a) @ X)


def test_transform_is_an_action_and_keeps_the_energy(rng):
    a, A, B, V = random_inertia(rng, (4,)), se3.random(4, rng=rng), se3.random(4, rng=rng), rng.standard_normal((4, 6))
    check(inertia.transform(A @ B, a), inertia.transform(A, inertia.transform(B, a)))
    check(inertia.energy(inertia.transform(A, a), se3.Ad_action(A, V)), inertia.energy(a, V))


def test_inertias_add(rng):
    a, b = random_inertia(rng, (2,))
    check(inertia.matrix(inertia.add(a, b)), inertia.matrix(a) + inertia.matrix(b))
    check(inertia.add(a, b), a + b, units=0)


SIGNATURES = {
    "from_moments": "s3R", "from_central": "s3R", "box": "s3", "sphere": "ss", "cylinder": "sss", "rod": "ss",
    "moments": "j", "central": "j", "matrix": "j", "pseudo_inertia": "j", "momentum": "j6", "energy": "j6",
    "transform": "Tj", "add": "jj",
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_compiled_equals_eager(name):
    laws.compiled_equals_eager(inertia, name, SIGNATURES[name])


def test_every_public_kernel_is_compared():
    assert laws.public_kernels(inertia) == set(SIGNATURES) | {"from_matrix"}  # which `test_forms_are_equivalent` covers


# --- shapes -----------------------------------------------------------------------------------------------------------


def test_cube_and_block_about_a_corner():
    """FGL problems 3.5, 3.6: cube of side 2a and block 2a x 2b x 2c, M = 1."""
    a, b, c = 1.0, 2.0, 3.0
    corner = se3.from_rotation_translation(np.eye(3), [a, b, c])
    second = inertia.moments(inertia.transform(corner, inertia.box(1.0, [2 * a, 2 * b, 2 * c]))).second
    diagonal = 4 / 3 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    check(second, np.diag(diagonal) - np.array([[0, a * b, a * c], [a * b, 0, b * c], [a * c, b * c, 0]]))
    check(np.diag(inertia.central(inertia.box(3.0, [2.0, 2.0, 2.0])).inertia), np.full(3, 2.0))  # (2/3) M a²


def test_turned_block_about_a_corner():
    """FGL problems 3.7, 3.8: the same, turned by Rz(30°) Rx(45°); six printed decimals."""
    R = so3.rotation_z(np.deg2rad(30)) @ so3.rotation_x(np.deg2rad(45))
    printed = {
        (1.0, 1.0, 1.0): [2.916667, -0.433013, -1.224745, 3.416667, -0.707107, 1.666667],
        (1.0, 2.0, 3.0): [16.387628, 0.930904, -4.728529, 16.945706, 1.118984, 4.0],
    }
    for half, expected in printed.items():
        about_corner = inertia.transform(
            se3.from_rotation_translation(np.eye(3), half), inertia.box(1.0, 2 * np.array(half))
        )
        turned = inertia.transform(se3.from_rotation_translation(R, np.zeros(3)), about_corner)
        np.testing.assert_allclose(turned[4:], expected, atol=5.1e-7)


def test_other_shapes():
    check(np.diag(inertia.moments(inertia.sphere(2.0, 0.5)).second), np.full(3, 0.2))
    check(np.diag(inertia.moments(inertia.cylinder(2.0, 0.5, 3.0)).second), [1.625, 1.625, 0.25])
    check(np.diag(inertia.moments(inertia.rod(2.0, 3.0)).second), [1.5, 1.5, 0])
    # A long box is a rod.
    check(inertia.box(2.0, [0.0, 0.0, 3.0]), inertia.rod(2.0, 3.0))


# --- what cannot exist ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_point_clouds_are_admissible_in_every_frame(seed):
    rng = np.random.default_rng(seed)
    a = inertia.transform(se3.random(rng=rng, scale=3.0), random_inertia(rng))
    assert inertia.faults(a) == []
    assert np.linalg.eigvalsh(inertia.pseudo_inertia(a))[0] > 0


def test_limiting_shapes_are_admissible(rng):
    T = se3.random(rng=rng, scale=10.0)
    point = np.array([2.0, *np.zeros(9)])
    for a in (inertia.rod(1.0, 2.0), inertia.box(1.0, [1.0, 2.0, 0.0]), point):
        assert inertia.faults(a) == []
        assert inertia.faults(inertia.transform(T, a)) == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (np.zeros(9), "10 numbers"),
        ([np.nan, *np.zeros(9)], "NaN"),
        (np.zeros(10), "mass 0 kg"),
        ([-1.0, *np.zeros(9)], "mass -1 kg"),
        ([1, 0, 0, 0, 1, 0, 0, 1, 0, 2.5], "triangle"),
        ([1, 0, 0, 0, -0.1, 0, 0, 1, 0, 1], "negative"),
        ([1, 1, 0, 0, 1, 0, 0, 0.5, 0, 0.5], "negative"),  # com too far out for the moments about the origin
    ],
)
def test_impossible_inertias_are_named(bad, reason):
    found = inertia.faults(bad)
    assert len(found) == 1 and reason in found[0]
    if len(bad) == 10 and np.all(np.isfinite(bad)) and bad[0] > 0:
        assert np.linalg.eigvalsh(inertia.pseudo_inertia(np.array(bad, float)))[0] < 0


def test_wrong_shapes_are_refused():
    with pytest.raises(AdjointError):
        inertia.matrix(np.zeros(9))
    assert inertia.matrix(np.zeros(10)).shape == (6, 6)
