"""Fixman's method for point masses, planar and spatial: known numbers, closed forms, random partitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.trees import close

from adjoint.errors import ArgumentError, ModelError
from adjoint.fixman import blocks, constrained_mass_matrix, logdet, planar_partition, solve, spatial_partition
from adjoint.fixman.point_masses import planar_positions, spatial_positions

PLANAR = {"angles": [0.4, -0.7, 1.1], "lengths": [1, 0.8, 0.6]}
SPATIAL = {"torsions": [0.2, -0.6, 1.4, 2.2], "angles": [1, 1.3, 0.8, 1.9], "lengths": [1.2, 1, 0.9, 1.1]}


def symmetric(rows):
    """The matrix whose upper triangle has these rows."""
    n = len(rows)
    M = np.zeros((n, n))
    M[np.triu_indices(n)] = np.concatenate(rows)
    return np.maximum(M, M.T) + np.minimum(M, M.T) - np.diag(np.diag(M))


def random_planar(rng, n):
    return {"angles": rng.uniform(-np.pi, np.pi, n), "lengths": rng.uniform(0.5, 2, n)}


def random_spatial(rng, n):
    return {"torsions": rng.uniform(-np.pi, np.pi, n), "angles": rng.uniform(0.4, np.pi - 0.4, n)} | {
        "lengths": rng.uniform(0.5, 2, n)
    }


def definition(positions, chain: dict, masses) -> np.ndarray:
    """G = Jᵀ diag(m) J, (3), J of all coordinates, in the order of the partitions, by differences."""
    names, n, step = list(chain), len(masses), 1e-6
    columns = []
    for i in range(n):
        for name in names:
            ends = []
            for sign in (1, -1):
                moved = {key: np.array(value, float) for key, value in chain.items()}
                moved[name][i] += sign * step
                ends.append(positions(**moved))
            columns.append((ends[0] - ends[1]).ravel() / (2 * step))
    J = np.stack(columns, axis=1)
    return J.T @ (np.repeat(masses, J.shape[0] // n)[:, None] * J)


def test_planar_numbers():
    parted = planar_partition(**PLANAR, masses=[2, 1, 0.5])
    H11, H12, H22 = (block.toarray() for block in blocks(parted))
    M = symmetric([[7.245983984, 2.551855061, 0.5651813673], [1.357726138, 0.2888630691], [0.18]])
    close(constrained_mass_matrix(parted), M, 1e-9)
    close(H11, symmetric([[0.5, -0.9780263671, 0.4780263671], [3.799802734, -3.766768287], [12.56706717]]), 1e-9)
    close(H12, [[0, 0.3221088436, 0], [-0.4026360545, -0.3221088436, -1.1140092], [0.4026360545, 1.4853456, 1.1140092]],
          1e-9)  # fmt: skip
    close(H22, [[0.5, -0.3824210936, 0], [-0.3824210936, 1.5, -0.4535961214], [0, -0.4535961214, 3]], 1e-9)
    close(np.exp([logdet(parted), parted.logdet_G]), [0.3936125032, 0.2304], 1e-9)
    inverse = symmetric([[0.4089017266, -0.7521963459, -0.07678828816], [2.502072803, -1.653494832], [8.450182787]])
    close(solve(parted, np.eye(3)), inverse, 1e-9)


def test_spatial_numbers():
    parted = spatial_partition(**SPATIAL, masses=[1, 2, 1.5, 0.7])
    M = symmetric(
        [
            [20.53366084, 11.43025038, -0.54141397, -1.99111809],
            [7.93457166, -0.46675329, -0.78365613],
            [1.12194957, 0.36097684],
            [0.75847483],
        ]
    )
    close(constrained_mass_matrix(parted), M, 1e-9)
    close(np.exp([logdet(parted), parted.logdet_G]), [13.745996, 5.5883702], 1e-8)
    close(np.linalg.det(blocks(parted).H22.toarray()), 2.4597504, 3e-8)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_planar_equations(n):
    """H_22 is tridiagonal: 1/m_i + 1/m_{i-1} and -cos(θ_i)/m_{i-1}; θ involves three masses, a length two."""
    rng = np.random.default_rng(n)
    chain, m = random_planar(rng, n), rng.uniform(0.5, 2, n)
    parted = planar_partition(**chain, masses=m)
    before = np.concatenate([[0], 1 / m[:-1]])
    beside = -np.cos(chain["angles"]) * before
    H22 = np.diag(1 / m + before) + np.diag(beside[1:], 1) + np.diag(beside[1:], -1)
    close(blocks(parted).H22.toarray(), H22, 1e-13)
    pairs = {1: (1, 1), 2: (3, 3), 5: (12, 9)}[n]  # 3n - 3 (1 for n = 1) and 2n - 1 of 1x2 blocks
    found = tuple(np.any(rows.toarray().reshape(n, n, 2), axis=2).sum() for rows in (parted.soft, parted.hard))
    assert found == pairs


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["planar", "spatial"])
def test_all_coordinates_soft_is_the_definition(kind, n):
    """Nothing hard: M = G of (3), and its determinant in closed form."""
    rng = np.random.default_rng(n)
    make, parted, positions = {
        "planar": (random_planar, planar_partition, planar_positions),
        "spatial": (random_spatial, spatial_partition, spatial_positions),
    }[kind]
    chain, m = make(rng, n), rng.uniform(0.5, 2, n)
    everything = ("angle", "length") if kind == "planar" else ("torsion", "angle", "length")
    whole = parted(**chain, masses=m, soft=everything)
    G = definition(positions, chain, m)
    close(constrained_mass_matrix(whole), G, 1e-8)
    close(logdet(whole), np.linalg.slogdet(G)[1], 1e-8)
    close(solve(whole, G @ np.ones(len(G))), np.ones(len(G)), 1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 12]), st.booleans())
def test_random_partitions(seed, n, planar):
    rng = np.random.default_rng(seed)
    k, make, parting = (2, random_planar, planar_partition) if planar else (3, random_spatial, spatial_partition)
    soft = rng.random((n, k)) < rng.random()
    parted = parting(**make(rng, n), masses=rng.uniform(0.5, 2, n), soft=soft)
    M, b = constrained_mass_matrix(parted), rng.normal(size=int(soft.sum()))
    conditions = [np.linalg.cond(X) for X in (M, blocks(parted).H22.toarray()) if X.size]
    close(solve(parted, b), np.linalg.solve(M, b), 1e-14 * max(conditions))
    assert abs(logdet(parted) - np.linalg.slogdet(M)[1]) < 1e-14 * max(conditions) + 1e-11


def test_hard_angles_too():
    """Torsions alone, angles hard, is the larger problem with the rows of the angles moved."""
    rng = np.random.default_rng(3)
    chain, m = random_spatial(rng, 6), rng.uniform(0.5, 2, 6)
    both = spatial_partition(**chain, masses=m, soft=("torsion", "angle"))
    moved = both._replace(soft=both.soft[::2], hard=sparse.vstack([both.hard, both.soft[1::2]]))
    b = rng.normal(size=6)
    close(solve(moved, b), solve(spatial_partition(**chain, masses=m), b), 1e-11)


def test_a_long_chain_is_banded():
    rng = np.random.default_rng(4)
    chain, m = random_spatial(rng, 1000), rng.uniform(0.5, 2, 1000)
    parted = spatial_partition(**chain, masses=m)
    H22 = blocks(parted).H22
    i, j = H22.nonzero()
    assert np.max(np.abs(i // 2 - j // 2)) == 2  # an angle shares its masses with four others
    b = rng.normal(size=1000)
    H11, H12, _ = blocks(parted)
    x = solve(parted, b)
    dense = H11 @ b - H12 @ np.linalg.solve(H22.toarray(), H12.T @ b)
    close(x, dense, 1e-11)


def test_refusals():
    with pytest.raises(ArgumentError, match=r"masses must be positive; that of mass 2 is 0"):
        planar_partition(**PLANAR, masses=[1, 0, 1])
    with pytest.raises(ArgumentError, match="lengths must be positive; that of mass 1 is -1"):
        planar_partition([0, 0], [-1, 1], [1, 1])
    with pytest.raises(ModelError, match=r"angles must have shape \(2,\)"):
        planar_partition([0], [1, 1], [1, 1])
    with pytest.raises(ArgumentError, match="angle 2 is 0 rad: where bonds are in line"):
        spatial_partition([0, 0], [1, 0], [1, 1], [1, 1])
    with pytest.raises(ArgumentError, match="no coordinate torsion; there are angle, length"):
        planar_partition(**PLANAR, masses=[1, 1, 1], soft="torsion")
