"""Fixman's method as Lee, Wang & Chirikjian (2007) print it: six coordinates to a link, and their two examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.trees import close

import adjoint as aj
from adjoint.errors import ArgumentError, ModelError
from adjoint.fixman import (
    DHChain,
    blocks,
    constrained_mass_matrix,
    dh_partition,
    fixman_blocks,
    fixman_logdet,
    fixman_solve,
    logdet,
    paper,
    solve,
)
from adjoint.fixman.dh_links import (
    COORDINATES,
    FORMS,
    as_robot,
    choose_forms,
    com_placements,
    lie_derivatives,
    link_coordinates,
    link_jacobians,
    link_placements,
)
from adjoint.lie import se3, so3

every_form = pytest.mark.parametrize("form", FORMS)


def random_chain(rng, n: int, forms: str | None = None) -> DHChain:
    """Links with all six coordinates at random, away from the singularities of their forms by 0.2 rad."""
    angles = rng.uniform(-np.pi, np.pi, (n, 3))
    angles[:, 0] = rng.uniform(-1.3, 1.3, n)
    angles[:, 1:] = np.sign(angles[:, 1:]) * rng.uniform(0.2, np.pi - 0.2, (n, 2))
    A = rng.normal(size=(n, 3, 3))
    inertias = A @ A.mT + 0.3 * np.eye(3)
    forms = "".join(rng.choice(list(FORMS), n)) if forms is None else forms
    coordinates = np.concatenate([angles, rng.normal(size=(n, 3))], axis=1)
    return DHChain(coordinates, rng.uniform(0.5, 2, n), inertias, se3.random(n, rng=rng), forms)


# --- parametrisations -------------------------------------------------------------------------------------------------


@every_form
def test_coordinates_of_placements(form):
    chain = random_chain(np.random.default_rng(0), 20, form)
    T = link_placements(chain.coordinates, chain.forms)
    close(link_coordinates(T, chain.forms), chain.coordinates, 1e-12)
    close(T[:, :3, :3] @ T[:, :3, :3].mT, np.tile(np.eye(3), (20, 1, 1)), 1e-14)


@every_form
def test_all_forms_are_modified_dh_without_the_dummies(form):
    rng = np.random.default_rng(1)
    rows = np.zeros((5, 6))
    rows[:, [1, 2, 4, 5]] = rng.normal(size=(5, 4))
    for row, T in zip(rows, link_placements(rows, form * 5), strict=True):
        _, beta, gamma, _, b, c = row
        close(T, aj.model.dh.dh_matrix(gamma, c, b, beta, "modified"), 1e-14)  # (23)


@every_form
def test_jacobians_and_their_determinants(form):
    """Columns by differences; det: sin² β, sin² γ, cos² α up to the order of columns."""
    rows = random_chain(np.random.default_rng(2), 6, form).coordinates
    forms, step = form * 6, 1e-6
    J, back = link_jacobians(rows, forms), se3.inverse(link_placements(rows, forms))
    for k in range(6):
        ends = [link_placements(rows + sign * step * np.eye(6)[k], forms) for sign in (1, -1)]
        rate = back @ (ends[0] - ends[1]) / (2 * step)
        close(J[:, :, k], np.stack([se3.vee.eager(X) for X in rate]), 1e-8)
    alpha, beta, gamma = rows[:, :3].T
    expected = {"A": np.sin(beta) ** 2, "B": np.sin(gamma) ** 2, "C": np.cos(alpha) ** 2}[form]
    close(np.abs(np.linalg.det(J)), expected, 1e-12)


def test_printed_coordinates_of_form_C():
    """§4.1: the six expressions, and the matrix (27) that they invert."""
    row = np.array([[0.2, -0.7, 1.1, 0.3, -0.4, 0.5]])
    T = link_placements(row, "C")[0]
    close(T[:2, 3], [-0.3006653346, 0.5451407682], 1e-9)
    rho = np.hypot(T[0, 0], T[0, 1])
    a = (T[1, 3] * T[2, 2] - T[2, 3] * T[1, 2]) / rho
    c = (T[1, 3] * T[1, 2] + T[2, 3] * T[2, 2]) / rho**2
    close([a, T[0, 3] - T[0, 2] * c, c], link_coordinates(T[None], "C")[0, 3:], 1e-14)
    inverse = np.linalg.inv(link_jacobians(row, "C"))[0]
    close(inverse[4], [-0.4265211606, -0.2867101784, 0, 0.4628217426, -0.9093334884, 0], 1e-9)
    close(np.linalg.det(inverse), 1 / np.cos(0.2) ** 2, 1e-12)


def printed_derivatives(T, D):
    """(28) as it stands: ∂(α, β, γ, a, b, c) of T (4, 4) changing by D (4, 4)."""
    (T11, T12, T13, _), (_, _, T23, T24), (_, _, T33, T34) = T[:3]
    (D11, D12, D13, D14), (_, _, D23, D24), (_, _, D33, D34) = D[:3]
    r2 = T11**2 + T12**2
    r, fall = np.sqrt(r2), T11 * D11 + T12 * D12
    d_sum = T24 * D23 + T23 * D24 + T34 * D33 + T33 * D34
    return np.array(
        [
            (r2 * D13 - T13 * fall) / r,
            (T23 * D33 - T33 * D23) / (T23**2 + T33**2),
            (T12 * D11 - T11 * D12) / r2,
            (T24 * D33 + T33 * D24 - T34 * D23 - T23 * D34) / r - (T24 * T33 - T34 * T23) * fall / r**3,
            D14 - (T24 * T23 + T34 * T33) * (r2 * D13 - 2 * T13 * fall) / r2**2 - T13 * d_sum / r2,
            d_sum / r2 - 2 * (T23 * T24 + T33 * T34) * fall / r2**2,
        ]
    )


def test_lie_derivatives_are_the_printed_ones():
    """(22) in (28), entry by entry, against 𝒥⁻¹ of the relative twist."""
    chain = random_chain(np.random.default_rng(3), 4, "CCCC")
    own, before = lie_derivatives(chain)
    T, Q = link_placements(chain.coordinates, chain.forms), np.concatenate([np.eye(4)[None], chain.com])
    for k in range(4):
        inner, outer = np.linalg.inv(Q[k]) @ T[k] @ Q[k + 1], np.linalg.inv(Q[k + 1])  # (T^c_{k-1})⁻¹ T^c_k, Q_k⁻¹
        for i, E in enumerate(se3.hat(np.eye(6))):
            close(printed_derivatives(T[k], Q[k] @ inner @ E @ outer), own[k, :, i], 1e-11)
            close(printed_derivatives(T[k], -Q[k] @ E @ inner @ outer), before[k, :, i], 1e-11)


def test_lie_derivatives_are_derivatives():
    """(16): df/dt of f(T exp(t E_i)), for every form, by differences."""
    chain = random_chain(np.random.default_rng(4), 6)
    own, before = lie_derivatives(chain)
    T, Q, step = link_placements(chain.coordinates, chain.forms), chain.com, 1e-6
    last = np.concatenate([np.eye(4)[None], Q[:-1]])
    for i in range(6):
        move = se3.exp(step * np.eye(6)[i]), se3.exp(-step * np.eye(6)[i])
        for derivative, moved in (
            (own, [T @ Q @ m @ se3.inverse(Q) for m in move]),
            (before, [last @ se3.inverse(m) @ se3.inverse(last) @ T for m in move]),
        ):
            change = np.subtract(*(link_coordinates(X, chain.forms) for X in moved))
            close(change / (2 * step), derivative[:, :, i], 1e-7)


def test_the_form_is_chosen_away_from_singularities():
    rng = np.random.default_rng(5)
    R = so3.random(200, rng=rng)
    R[0], R[1], R[2] = so3.rotation_x(0.3), so3.rotation_z(0.3), so3.rotation_y(np.pi / 2)  # singular: B, A, C
    T = se3.from_rotation_translation(R, rng.normal(size=(200, 3)))
    forms = choose_forms(T)
    rows = link_coordinates(T, forms)
    close(link_placements(rows, forms), T, 1e-13)
    determinants = np.abs(np.linalg.det(link_jacobians(rows, forms)))
    assert determinants.min() > 0.5  # R_13² + R_33² <= 1, so they are not both above 1/2
    assert set(forms) == set("ABC")


# --- soft and hard ----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 6]))
def test_random_partitions(seed, n):
    """Any coordinate of any link soft or hard, any forms: M, M⁻¹ and det M of dense algebra."""
    rng = np.random.default_rng(seed)
    chain, soft = random_chain(rng, n), rng.random((n, 6)) < rng.random()
    parted = dh_partition(chain, soft)
    f = int(soft.sum())
    M, b = constrained_mass_matrix(parted), rng.normal(size=f)
    assert parted.soft.shape == (f, 6 * n)
    conditions = [np.linalg.cond(X) for X in (M, blocks(parted).H22.toarray()) if X.size]
    close(solve(parted, b), np.linalg.solve(M, b), 1e-14 * max(conditions))
    assert abs(logdet(parted) - np.linalg.slogdet(M)[1]) < 1e-14 * max(conditions) + 1e-11


@pytest.mark.parametrize("soft", COORDINATES)
def test_one_soft_coordinate_is_a_robot(soft):
    chain = random_chain(np.random.default_rng(6), 5)
    robot, q, b = as_robot(chain, soft), np.zeros(5), np.arange(5.0)
    parted = dh_partition(chain, soft)
    close(constrained_mass_matrix(parted), aj.mass_matrix.eager(robot, q), 1e-12)
    close(solve(parted, b), fixman_solve(robot, q, b), 1e-10)
    close(logdet(parted), fixman_logdet(robot, q), 1e-11)


def test_every_form_of_a_dh_link_has_the_same_mass_matrix():
    """β, γ, b, c soft and the dummies hard: what the hard coordinates are does not matter."""
    rng = np.random.default_rng(7)
    chain = random_chain(rng, 4)
    rows = chain.coordinates.copy()
    rows[:, [0, 3]] = 0
    soft = rng.random((4, 6)) < 0.5
    soft[:, [0, 3]] = False
    found = [
        constrained_mass_matrix(dh_partition(DHChain(rows, chain.masses, chain.inertias, chain.com, form), soft))
        for form in (*FORMS, "ABCA")
    ]
    for M in found[1:]:
        close(M, found[0], 1e-11)


def near_singularity(form: str, gap: float) -> DHChain:
    """Three DH links (of form C: with a dummy angle), the second a rotation of `gap` away from where `form` fails."""
    chain = random_chain(np.random.default_rng(8), 3, "CCC")
    rows = chain.coordinates.copy()
    rows[:, [0, 3]] = 0
    rows[1, {"A": 1, "B": 2, "C": 0}[form]] = gap if form != "C" else np.pi / 2 - gap
    return DHChain(rows, chain.masses, chain.inertias, chain.com)


@pytest.mark.parametrize("gap", [1e-1, 1e-2, 1e-3])
@every_form
def test_near_singularities(form, gap):
    """A form loses digits as 1/gap⁴, the square of its determinant; the one chosen, and the robot, lose none."""
    chain, b = near_singularity(form, gap), np.ones(3)
    T = link_placements(chain.coordinates, chain.forms)
    x = fixman_solve(as_robot(chain, "gamma"), np.zeros(3), b)
    bodies = chain.masses, chain.inertias, chain.com
    near = DHChain(link_coordinates(T, form * 3), *bodies, form * 3)
    close(solve(dh_partition(near, "gamma"), b), x, 1e-14 / gap**4 + 1e-11)
    forms = "CAC" if form == "C" else "CCC"  # A has the same soft γ: z(c, γ) is last
    best = DHChain(link_coordinates(T, forms), *bodies, forms)
    close(solve(dh_partition(best, "gamma"), b), x, 1e-11)


@every_form
def test_singularities_are_refused(form):
    chain = near_singularity(form, 1e-5)
    T = link_placements(chain.coordinates, chain.forms)
    near = DHChain(link_coordinates(T, form * 3), chain.masses, chain.inertias, chain.com, form * 3)
    with pytest.raises(ArgumentError, match=rf"form {form} is singular at link 2, .*choose_forms"):
        dh_partition(near, "gamma")


def test_frozen_torsions():
    """§4.3: β_3 = β_6 = 180°, hard; the same as the robot with those joints locked."""
    chain = paper.polypeptide()
    rows = chain.coordinates.copy()
    rows[[2, 5], 1] = np.pi
    chain = DHChain(rows, chain.masses, chain.inertias, chain.com)
    soft = np.zeros((7, 6), bool)
    soft[[0, 1, 3, 4, 6], 1] = True
    robot = as_robot(chain, "beta")
    locked = robot.locked({robot.joint_names[2]: 0.0, robot.joint_names[5]: 0.0})
    parted, b = dh_partition(chain, soft), np.arange(5.0)
    close(solve(parted, b), fixman_solve(locked, np.zeros(5), b), 1e-11)
    close(logdet(parted), fixman_logdet(locked, np.zeros(5)), 1e-12)


# --- the paper's numbers ----------------------------------------------------------------------------------------------

PUMA = np.array(
    [
        [7.0719, 3.6036, 0.3138, -0.0723, -0.0004, -0.0002],
        [3.6036, 2.8533, 0.3379, 0.0722, -0.0004, -0.0006],
        [0.3138, 0.3379, 0.3259, 0.1446, 0.0002, -0.0005],
        [-0.0723, 0.0722, 0.1446, 0.2883, 0.0003, -0.0003],
        [-0.0004, -0.0004, 0.0002, 0.0003, 0.0007, 0.0002],
        [-0.0002, -0.0006, -0.0005, -0.0003, 0.0002, 0.0004],
    ]
)
PUMA_INVERSE = np.array(
    [
        [0.4130, -0.5346, 0.0655, 0.2043, -0.0775, -0.3333],
        [-0.5346, 1.0959, -0.5659, -0.1247, 0.4489, 0.3780],
        [0.0655, -0.5659, 4.537, -2.1106, -2.288, 4.0852],
        [0.2043, -0.1247, -2.1106, 4.6143, -2.0481, 1.6933],
        [-0.0775, 0.4489, -2.288, -2.0481, 1810.6, -908.69],
        [-0.3333, 0.3780, 4.0852, 1.6933, -908.69, 2682.8],
    ]
)
PUMA_UNITS = np.full((6, 6), 1e-4)  # of the last digit printed
PUMA_UNITS[2, [2, 4]] = PUMA_UNITS[4, 2] = 1e-3
PUMA_UNITS[[4, 5, 4, 5], [4, 5, 5, 4]] = [0.1, 0.1, 0.01, 0.01]

POLY = np.array(
    [
        [870.7768, 54.2187, 161.5036, 234.8087, -176.7587, 16.9382, -1.8702],
        [54.2187, 434.7277, 58.8923, 157.5614, -93.0816, -41.1893, -10.7686],
        [161.5036, 58.8923, 189.6189, 103.2236, -79.4282, 53.5038, 20.2896],
        [234.8087, 157.5614, 103.2236, 163.9448, -113.3383, -13.8750, -10.3724],
        [-176.7587, -93.0816, -79.4282, -113.3383, 95.9587, 13.0774, 11.6638],
        [16.9382, -41.1893, 53.5038, -13.8750, 13.0774, 63.0571, 29.1266],
        [-1.8702, -10.7686, 20.2896, -10.3724, 11.6638, 29.1266, 23.1711],
    ]
)
POLY_INVERSE = np.array(
    [
        [0.0025, 0.0014, 0.0016, -0.0047, 0.0022, -0.0021, -0.0012],
        [0.0014, 0.0049, 0.0010, -0.0089, -0.0021, 0.0026, -0.0047],
        [0.0016, 0.0010, 0.0194, -0.0078, 0.0137, -0.0202, -0.0015],
        [-0.0047, -0.0089, -0.0078, 0.0536, 0.0389, 0.0064, -0.0013],
        [0.0022, -0.0021, 0.0137, 0.0389, 0.0735, -0.0127, -0.0164],
        [-0.0021, 0.0026, -0.0202, 0.0064, -0.0127, 0.0629, -0.0510],
        [-0.0012, -0.0047, -0.0015, -0.0013, -0.0164, -0.0510, 0.1140],
    ]
)


def test_puma():
    """β soft: all printed digits of M; of M⁻¹ all but those of three entries, which round to the next one."""
    parted = dh_partition(paper.puma(), "beta")
    M = constrained_mass_matrix(parted)
    assert np.abs(M - PUMA).max() <= 0.5001e-4
    off = np.abs(solve(parted, np.eye(6)) - PUMA_INVERSE) / PUMA_UNITS
    assert off.max() <= 0.55
    assert np.argwhere(off > 0.5).tolist() == [[1, 2], [2, 1], [3, 3]]
    close(np.diag(M)[[0, 3, 5]], [7.071897653, 0.288274336, 0.00045], 1e-9)
    close([logdet(parted), parted.logdet_G], [-16.03532292, -71.65280894], 1e-9)


def test_puma_as_the_text_has_it():
    """γ soft: other matrices than printed, equal to inverse dynamics; coinciding axes 5 and 6 give M_56 = M_66."""
    parted = dh_partition(paper.puma(), "gamma")
    M = constrained_mass_matrix(parted)
    close(M[0], [7.404170923, 3.664764016, 0.213373441, -0.000033354, 0.000225, 0.000075], 1e-9)
    close([M[4, 5], logdet(parted)], [M[5, 5], -22.14292938], 1e-9)
    assert np.abs(M - PUMA).max() > 0.3


def test_polypeptide():
    parted = dh_partition(paper.polypeptide(), "beta")
    M = constrained_mass_matrix(parted)
    close(M[0], [870.778392, 54.213089, 161.500403, 234.803612, -176.754421, 16.935880, -1.872699], 1e-9)
    assert np.abs(M - POLY).max() < 0.0065
    assert np.abs(solve(parted, np.eye(7)) - POLY_INVERSE).max() <= 0.5e-4
    close(logdet(parted), 29.77265797, 1e-9)


def test_com_frames():
    """T_k^c as printed, to half a unit of three digits and the digits of the offsets."""
    puma, poly = com_placements(paper.puma()), com_placements(paper.polypeptide())
    close(puma[1, :3, 3], [0.108, 0.026, 0.561], 1.5e-3)
    close(puma[5, 0], [0.813, 0.541, -0.217, -0.091], 1e-3)
    close(puma[5, :3, 3], [-0.091, -0.223, 0.645], 1.5e-3)
    close(poly[3, 0], [-0.968, -0.065, 0.242, 3.093], 3e-4)
    close(poly[6, 1:3], [[-0.465, -0.885, -0.032, 3.535], [-0.415, 0.186, 0.891, -2.292]], 3e-4)


def test_table_as_printed_does_not_give_the_printed_matrix():
    """γ_4 = 289.5° and γ_7 = 70.5° of Table II: off by half."""
    chain = paper.polypeptide()
    rows = chain.coordinates.copy()
    rows[[3, 6], 2] = np.radians([289.5, 70.5])
    other = DHChain(rows, chain.masses, chain.inertias, chain.com)
    assert np.abs(constrained_mass_matrix(dh_partition(other, "beta")) - POLY).max() > 400


def test_blocks_of_both_forms_have_the_same_shape():
    chain = paper.long_polypeptide(6)
    ours = fixman_blocks(as_robot(chain, "beta"), np.zeros(6))
    for one, other in zip(ours, blocks(dh_partition(chain, "beta")), strict=True):
        assert one.shape == other.shape


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_refusals():
    chain = paper.polypeptide()
    bodies = chain.masses, chain.inertias, chain.com
    with pytest.raises(ArgumentError, match=r"link 2 has an inertia without inverse"):
        DHChain(
            chain.coordinates, chain.masses, [*chain.inertias[:1], np.diag([0.0, 1, 1]), *chain.inertias[2:]], chain.com
        )
    with pytest.raises(ArgumentError, match=r"link 1 has an inertia without inverse \(mass 0"):
        DHChain(chain.coordinates, 0 * chain.masses, *bodies[1:])
    with pytest.raises(ArgumentError, match="one letter A, B or C, or 7"):
        DHChain(chain.coordinates, *bodies, forms="AB")
    with pytest.raises(ModelError, match="masses"):
        DHChain(chain.coordinates, chain.masses[:3], *bodies[1:])
    with pytest.raises(ArgumentError, match="form A is singular at link 1"):
        dh_partition(DHChain(chain.coordinates, *bodies, forms="A"), "beta")
    with pytest.raises(ArgumentError, match="no coordinate delta; there are alpha, beta"):
        dh_partition(chain, "delta")
    with pytest.raises(ArgumentError, match=r"truth values \(7, 6\); got float64"):
        dh_partition(chain, np.zeros((7, 6)))
    with pytest.raises(ArgumentError, match="one coordinate"):
        as_robot(chain, ("beta", "gamma"))
