"""Closed forms of hand-eye and robot-world calibration, for whole batches of problems at once.

With gripper poses G_i (in the base), camera poses X (in the gripper), target poses C_i (in the camera) and Z (in the
base), G_i X C_i = Z for all i. Two stations i < j give motions A = G_j⁻¹ G_i of the gripper and B = C_j C_i⁻¹ of the
camera with

    A X = X B:        R_A R_X = R_X R_B,        (R_A - 1) t_X = R_X t_B - t_A.                                      (1)

All pairs of stations are used, as in OpenCV. The methods of Tsai, Park and Horaud find R_X first, and t_X from it by
linear least squares; those of Andreff and Daniilidis find both together; those of Shah and Li find Z, too, from
C_i Z⁻¹ = X⁻¹ G_i⁻¹.
"""

from __future__ import annotations

import numpy as np

from ...lie import se3, so3

__all__ = ["METHODS", "closed_form", "target_in_base", "turns_about_two_axes"]

_SMALL_TURN, _LARGE_TURN = 0.3, 1.7  # 2 sin(θ/2) of pairs of stations that OpenCV's method of Tsai and Lenz leaves out

_ONE_AXIS = 1e-9  # turns about a second axis below this are rounding


# --- small tools ------------------------------------------------------------------------------------------------------


def _T(M: np.ndarray) -> np.ndarray:
    return np.swapaxes(M, -1, -2)


def _motions(G: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The motions A and B (..., pairs, 4, 4) of equation (1) between all pairs of stations."""
    i, j = np.triu_indices(G.shape[-3], 1)
    A = se3.compose(se3.inverse(G[..., j, :, :]), G[..., i, :, :])
    return A, se3.compose(C[..., j, :, :], se3.inverse(C[..., i, :, :]))


def _least_squares(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The x (..., p) nearest to rows (..., m, p) x = right (..., m), of least length if several are."""
    return (np.linalg.pinv(rows) @ right[..., None])[..., 0]


def _stacked(M: np.ndarray) -> np.ndarray:
    """Blocks (..., n, m, p) one below the other: (..., n m, p)."""
    return M.reshape(*M.shape[:-3], -1, M.shape[-1])


def _kron(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The products (..., 9, 9) of Kronecker of matrices (..., 3, 3)."""
    return np.einsum("...ij,...kl->...ikjl", A, B).reshape(*A.shape[:-2], 9, 9)


def _nearest_rotation(M: np.ndarray) -> np.ndarray:
    """The rotation (..., 3, 3) nearest to M / det(M)^(1/3): a solution that is known up to its scale and sign."""
    scale = np.linalg.det(M)
    return so3.project(M / np.cbrt(np.where(scale == 0, 1.0, scale))[..., None, None])


def _assembled(R_X: np.ndarray, A: np.ndarray, B: np.ndarray, weights=1.0) -> np.ndarray:
    """X (..., 4, 4) of its rotation; t_X solves the other part of equation (1) by least squares."""
    rows = weights * (A[..., :3, :3] - np.eye(3))
    right = (weights * (R_X[..., None, :, :] @ B[..., :3, 3, None] - A[..., :3, 3, None]))[..., 0]
    t_X = _least_squares(_stacked(rows), right.reshape(*right.shape[:-2], -1))
    return se3.from_rotation_translation(R_X, t_X)


# --- the rotation first, then the translation -------------------------------------------------------------------------


def _tsai(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """R. Y. Tsai & R. K. Lenz (1989), IEEE Trans. Robotics and Automation 5(3), (10) to (15).

    Rotations are vectors P = 2 sin(θ/2) n, and P_A - P_B = P_X' × (P_A + P_B) with P_X' = tan(θ_X/2) n_X. As in OpenCV,
    only pairs with 0.3 < |P_A| < 1.7 count, turns from 17° to 116°; all pairs count if this leaves fewer than two.
    """
    A, B = _motions(G, C)
    P_A, P_B = (2 * _positive(so3.to_quat_wxyz(M[..., :3, :3]))[..., 1:] for M in (A, B))
    size = np.linalg.norm(P_A, axis=-1)
    kept = (size > _SMALL_TURN) & (size < _LARGE_TURN)
    kept = (kept | (np.sum(kept, axis=-1, keepdims=True) < 2))[..., None, None]
    right = kept[..., 0] * (P_B - P_A)
    x = _least_squares(_stacked(kept * so3.hat(P_A + P_B)), right.reshape(*right.shape[:-2], -1))
    P = 2 * x / np.sqrt(1 + np.sum(x**2, axis=-1, keepdims=True))
    length = np.sum(P**2, axis=-1)[..., None, None]
    R_X = (1 - length / 2) * np.eye(3) + 0.5 * (P[..., :, None] * P[..., None, :] + np.sqrt(4 - length) * so3.hat(P))
    return _assembled(R_X, A, B, kept)


def _positive(quat_wxyz: np.ndarray) -> np.ndarray:
    """Of the two quaternions of a rotation, the one whose real part is not negative."""
    return np.where(quat_wxyz[..., :1] < 0, -quat_wxyz, quat_wxyz)


def _park(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """F. C. Park & B. J. Martin (1994), IEEE Trans. Robotics and Automation 10(5), (18) to (22).

    log R_A = R_X log R_B for all pairs: the best rotation between two sets of vectors, which is the polar factor.
    """
    A, B = _motions(G, C)
    alpha, beta = so3.log(A[..., :3, :3]), so3.log(B[..., :3, :3])
    return _assembled(so3.project(_T(alpha) @ beta), A, B)


def _horaud(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """R. Horaud & F. Dornaika (1995), Int. J. Robotics Research 14(3), (24) to (29).

    Unit axes obey n_A = R_X n_B, and the unit quaternion of R_X is the eigenvector of least eigenvalue of a (4, 4)
    matrix. As in OpenCV, the whole quaternions of A and B stand for the axes, which weights a pair by sin²(θ/2).
    """
    A, B = _motions(G, C)
    a, b = (_positive(so3.to_quat_wxyz(M[..., :3, :3])) for M in (A, B))
    rows = _stacked(_left(a) - _right(b))
    return _assembled(so3.from_quat_wxyz(np.linalg.eigh(_T(rows) @ rows)[1][..., 0]), A, B)


def _left(q: np.ndarray) -> np.ndarray:
    """The matrix (..., 4, 4) of p → q p."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.moveaxis(np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]), (0, 1), (-2, -1))


def _right(q: np.ndarray) -> np.ndarray:
    """The matrix (..., 4, 4) of p → p q."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.moveaxis(np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]]), (0, 1), (-2, -1))


# --- both together ----------------------------------------------------------------------------------------------------


def _andreff(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """N. Andreff, R. Horaud & B. Espiau (1999), 3-D Digital Imaging and Modeling, (13) to (16).

    R_A R_X R_Bᵀ = R_X and (1 - R_A) t_X + R_X t_B = t_A are linear in the twelve numbers of X.
    """
    A, B = _motions(G, C)
    R_A, R_B, t_A, t_B = A[..., :3, :3], B[..., :3, :3], A[..., :3, 3], B[..., :3, 3]
    one, none = np.broadcast_to(np.eye(3), R_A.shape), np.zeros((*R_A.shape[:-2], 9, 3))
    along = np.einsum("ij,...k->...ijk", np.eye(3), t_B).reshape(*t_B.shape[:-1], 3, 9)
    top = np.concatenate([np.eye(9) - _kron(R_A, R_B), none], axis=-1)
    rows = _stacked(np.concatenate([top, np.concatenate([along, one - R_A], axis=-1)], axis=-2))
    right = np.concatenate([none[..., 0], t_A], axis=-1)
    x = _least_squares(rows, right.reshape(*right.shape[:-2], -1))
    R_X = _nearest_rotation(x[..., :9].reshape(*x.shape[:-1], 3, 3))
    return se3.from_rotation_translation(R_X, x[..., 9:])


def _daniilidis(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """K. Daniilidis (1999), Int. J. Robotics Research 18(3), (31) to (35).

    Dual quaternions obey a x = x b. Their real parts, which are those of the screws' angles and pitches, say nothing of
    x, so six of eight rows remain: [a - b, [a + b]×, 0, 0; a' - b', [a' + b']×, a - b, [a + b]×] (q, q') = 0. The two
    right singular vectors of least singular values span the solution, and q · q = 1, q · q' = 0 choose it.
    """
    A, B = _motions(G, C)
    (a, a_dual), (b, b_dual) = _dual_quaternion(A), _dual_quaternion(B)
    real, dual = _screw_rows(a, b), _screw_rows(a_dual, b_dual)
    rows = np.concatenate([np.concatenate([real, 0 * real], -1), np.concatenate([dual, real], -1)], axis=-2)
    V = np.linalg.svd(_stacked(rows), full_matrices=False)[2]
    (u_1, v_1), (u_2, v_2) = (np.split(V[..., k, :], 2, axis=-1) for k in (6, 7))
    q, q_dual = _unit_combination(u_1, v_1, u_2, v_2)
    t_X = 2 * (_left(q_dual) @ (q * [1, -1, -1, -1])[..., None])[..., 1:, 0]
    return se3.from_rotation_translation(so3.from_quat_wxyz(q), t_X)


def _dual_quaternion(T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(q, q') (..., 4) of motions: q is the unit quaternion of R with a real part >= 0, and q' = (0, t) q / 2."""
    q = _positive(so3.to_quat_wxyz(T[..., :3, :3]))
    t = np.concatenate([np.zeros((*T.shape[:-2], 1)), T[..., :3, 3]], axis=-1)
    return q, 0.5 * (_left(t) @ q[..., None])[..., 0]


def _screw_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[a - b, [a + b]×] (..., 3, 4) of the vector parts of quaternions."""
    return np.concatenate([(a - b)[..., 1:, None], so3.hat((a + b)[..., 1:])], axis=-1)


def _unit_combination(u_1, v_1, u_2, v_2) -> tuple[np.ndarray, np.ndarray]:
    """λ_1 (u_1, v_1) + λ_2 (u_2, v_2) with q · q = 1 and q · q' = 0: a quadratic equation for s = λ_1 / λ_2.

    Of its two roots, the one with the larger s² u_1·u_1 + 2 s u_1·u_2 + u_2·u_2 belongs to the solution.
    """
    a, c = np.sum(u_1 * v_1, axis=-1), np.sum(u_2 * v_2, axis=-1)
    b = np.sum(u_1 * v_2 + u_2 * v_1, axis=-1)
    root, safe = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0)), np.where(a == 0, 1.0, 2 * a)
    s = np.stack([(-b + root) / safe, (-b - root) / safe], axis=-1)
    s = np.where((a == 0)[..., None], 0.0, s)
    products = [np.sum(x * y, axis=-1)[..., None] for x, y in ((u_1, u_1), (u_1, u_2), (u_2, u_2))]
    value = s**2 * products[0] + 2 * s * products[1] + products[2]
    best = np.argmax(value, axis=-1, keepdims=True)
    s, value = np.take_along_axis(s, best, axis=-1), np.take_along_axis(value, best, axis=-1)
    size = 1 / np.sqrt(value)
    return size * (s * u_1 + u_2), size * (s * v_1 + v_2)


# --- robot-world ------------------------------------------------------------------------------------------------------


def _shah(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """M. Shah (2013), J. Mechanisms and Robotics 5(3), (12) to (20): C_i Y = W G_i⁻¹, with Y = Z⁻¹ and W = X⁻¹.

    By rows, vec(R_C R_Y R_G) = (R_C ⊗ R_Gᵀ) vec R_Y: so the sum of these products takes vec R_Y to n vec R_W, and both
    are its first singular vectors.
    """
    D = se3.inverse(G)
    U = np.linalg.svd(np.sum(_kron(C[..., :3, :3], D[..., :3, :3]), axis=-3))[0]
    shape = (*U.shape[:-2], 3, 3)
    W = _nearest_rotation(U[..., :, 0].reshape(shape))
    rows = np.concatenate([C[..., :3, :3], np.broadcast_to(-np.eye(3), C[..., :3, :3].shape)], axis=-1)
    right = (W[..., None, :, :] @ D[..., :3, 3, None])[..., 0] - C[..., :3, 3]
    t = _least_squares(_stacked(rows), right.reshape(*right.shape[:-2], -1))
    return se3.inverse(se3.from_rotation_translation(W, t[..., 3:]))


def _li(G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """A. Li, L. Wang & D. Wu (2010), Int. J. Physical Sciences 5(10), §3.2: all 24 numbers of Y and W at once.

    R_C R_Y - R_W R_D = 0 and R_C t_Y - t_W - R_W t_D = -t_C with D_i = G_i⁻¹ are linear in them; see `_shah`.
    """
    D = se3.inverse(G)
    R_C, R_D, t_D = C[..., :3, :3], D[..., :3, :3], D[..., :3, 3]
    one, none = np.broadcast_to(np.eye(3), R_C.shape), np.zeros((*R_C.shape[:-2], 9, 3))
    along = np.einsum("ij,...k->...ijk", np.eye(3), t_D).reshape(*t_D.shape[:-1], 3, 9)
    top = np.concatenate([_kron(R_C, one), -_kron(one, _T(R_D)), none, none], axis=-1)
    low = np.concatenate([_T(none), -along, R_C, -one], axis=-1)
    rows = _stacked(np.concatenate([top, low], axis=-2))
    right = np.concatenate([none[..., 0], -C[..., :3, 3]], axis=-1)
    x = _least_squares(rows, right.reshape(*right.shape[:-2], -1))
    W = _nearest_rotation(x[..., 9:18].reshape(*x.shape[:-1], 3, 3))
    return se3.inverse(se3.from_rotation_translation(W, x[..., 21:]))


METHODS = {
    "tsai": _tsai,
    "park": _park,
    "horaud": _horaud,
    "andreff": _andreff,
    "daniilidis": _daniilidis,
    "shah": _shah,
    "li": _li,
}
"""{name: function of T_base_gripper and T_camera_target (..., n, 4, 4) that gives T_gripper_camera (..., 4, 4)}."""


def closed_form(T_base_gripper: np.ndarray, T_camera_target: np.ndarray, method: str) -> np.ndarray:
    """T_gripper_camera (..., 4, 4) by one of `METHODS`, of poses (..., n, 4, 4)."""
    with np.errstate(all="ignore"):
        return METHODS[method](T_base_gripper, T_camera_target)


def turns_about_two_axes(T_base_gripper: np.ndarray) -> np.ndarray:
    """Whether stations (..., n, 4, 4) turn about two axes or more, without which no position is determined."""
    turns = so3.log(_motions(T_base_gripper, T_base_gripper)[0][..., :3, :3])
    s = np.linalg.svd(np.where(np.isfinite(turns), turns, 0.0), compute_uv=False)
    return np.asarray(s[..., 1] > _ONE_AXIS * (1 + s[..., 0]))


def target_in_base(T_base_gripper: np.ndarray, T_gripper_camera: np.ndarray, T_camera_target: np.ndarray) -> np.ndarray:
    """The mean T_base_target (..., 4, 4) of G_i X C_i over all stations."""
    return se3.project(np.mean(T_base_gripper @ T_gripper_camera[..., None, :, :] @ T_camera_target, axis=-3))
