"""Paul's drive transform: straight lines whose approach vector swings in a plane while the frame turns about it."""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...lie import se3, so3
from .pose_trajectory import PoseTrajectory, pose_pieces
from .straight import alternating, corners, scheduled

__all__ = ["drive", "drive_transform", "paul_lines"]

_ALIGNED = 1e-12  # approach vectors whose angle has a smaller sine do not define a plane


@kernel(T_a=(4, 4), T_b=(4, 4))
def drive_transform(T_a, T_b) -> np.ndarray:
    """The parameters (x, y, z, ψ, θ, φ) (6,) of Paul's drive transform from the pose T_a to T_b (4, 4).

    `drive` turns them into T_a⁻¹ T_b: a translation by (x, y, z) [m], a rotation by θ in [0, π] about the axis
    (-sin ψ, cos ψ, 0), which swings the approach vector (z axis) of T_a into that of T_b, and a rotation by φ about the
    approach vector, all seen from T_a. If both approach vectors are parallel, ψ is 0; so is the axis of a swing by
    θ = π, which could be any. The poses must be rigid motions: as in all kernels, they are not checked, and NaN gives
    NaN. Fu, Gonzalez & Lee (1987), (4.4-22) to (4.4-27), with λ = 1 in the formulas of φ.

        >>> drive_transform(np.eye(4), se3.from_rotation_translation(so3.rotation_y(0.5), [1.0, 0, 0]))
        array([1. , 0. , 0. , 0. , 0.5, 0. ])
    """
    D = se3.compose(se3.inverse(T_a), T_b)
    n, s, a = D[:3, 0], D[:3, 1], D[:3, 2]  # (n_A·n_B, s_A·n_B, a_A·n_B), ...
    swing = np.hypot(a[0], a[1])
    aligned = swing < _ALIGNED
    psi = np.arctan2(np.where(aligned, 0.0, a[1]), np.where(aligned, 1.0, a[0]))
    theta = np.arctan2(swing, a[2])
    Sp, Cp, St, Ct = np.sin(psi), np.cos(psi), np.sin(theta), np.cos(theta)
    V = 1 - Ct
    row = np.stack([-Sp * Cp * V, Cp * Cp * V + Ct, -Sp * St])  # (4.4-25), (4.4-26)
    phi = np.arctan2(np.dot(row, n), np.dot(row, s))
    return np.concatenate([D[:3, 3], np.stack([psi, theta, phi])])


@kernel(parameters=6)
def drive(parameters, fraction) -> np.ndarray:
    """Paul's drive transform D(λ) (4, 4) of the parameters (x, y, z, ψ, θ, φ) (6,) at the fraction λ of the way.

    D(λ) = Trans(λ (x, y, z)) Rot((-sin ψ, cos ψ, 0), λ θ) Rot(z, λ φ), so D(0) = 1 and D(1) = T_a⁻¹ T_b. Fu, Gonzalez &
    Lee (1987), (4.4-15) to (4.4-21), corrected.

        >>> T_b = se3.exp([0.3, -0.2, 0.5, 1, 2, 3])
        >>> assert np.allclose(drive(drive_transform(np.eye(4), T_b), 1.0), T_b)
    """
    psi, theta, phi = parameters[3], fraction * parameters[4], fraction * parameters[5]
    swing = so3.rotation_z(psi) @ so3.rotation_y(theta) @ so3.rotation_z(phi - psi)
    return se3.from_rotation_translation(swing, fraction * parameters[:3])


def _exponents(x: np.ndarray, psi, theta, phi) -> np.ndarray:
    """The coefficients (..., 4, 6, order) of Trans(x) Rz(ψ) Ry(θ) Rz(φ - ψ), from those of x (..., 3, order), ψ, ..."""
    z = np.zeros_like(psi)
    rows = [[z, z, z, x[..., 0, :], x[..., 1, :], x[..., 2, :]], [z, z, psi], [z, theta, z], [z, z, phi - psi]]
    return np.stack([np.stack(row + [z] * (6 - len(row)), axis=-2) for row in rows], axis=-3)


def paul_lines(poses, durations, *, blend=0.0) -> PoseTrajectory:
    """Straight lines through poses (..., N, 4, 4) by Paul's drive transform, with smooth transitions at inner poses.

    Segment i is T_i D(λ), with the `drive` transform D from pose i to pose i + 1. `durations` and `blend` are those of
    `lines`: a transition begins τ before its corner B and ends τ after it. In it, q = (x, y, z, θ, φ) of the drive from
    B has a constant second derivative. With λ = (t + τ) / 2τ, the time t since the corner, and the drives ΔB to the
    place at t = -τ and ΔC to the next pose, which is reached within T:

        q = ((ΔC τ/T + ΔB) λ - 2 ΔB) λ + ΔB
        ψ = ψ_AB + (ψ_BC - ψ_AB) (3 λ² - 2 λ³)

    Fu, Gonzalez & Lee (1987), (4.4-28) to (4.4-33), have ψ linear in λ, with which the angular velocity jumps at both
    ends of a transition; with this ψ the twist is continuous. ψ changes by 90 degrees at most, since a swing by θ in
    the direction ψ is one by -θ in the direction ψ + π. The origin moves as in `lines`; orientations in between differ
    (Problems 4.7 to 4.9). A frame that moves or a tool is put around the whole: `C @ paul_lines(...) @ tool`.

        >>> T = se3.from_rotation_translation(so3.rotation_z(1.0) @ so3.rotation_y(0.5), [0.3, 0.1, 0.0])
        >>> path = paul_lines([np.eye(4), T], 2.0)
        >>> assert np.allclose(path(1.0).T, drive(drive_transform(np.eye(4), T), 0.5))
    """
    P, T, tau = corners("paul_lines", poses, durations, blend)
    go = drive_transform(P[..., :-1, :, :], P[..., 1:, :, :])
    rate = go / T[..., None]
    psi, zero = go[..., 3], np.zeros_like(T)

    def linear(x):
        return np.stack([tau[..., :-1] * x, x, zero, zero], axis=-1)

    x = np.stack([linear(rate[..., k]) for k in range(3)], axis=-2)
    fixed = np.stack([psi, zero, zero, zero], axis=-1)
    straight = _exponents(x, fixed, linear(rate[..., 4]), linear(rate[..., 5]))
    rounded = _transitions(P, go, T, tau)
    anchors = alternating(P[..., :-1, :, :], P[..., 1:-1, :, :], -3)
    return pose_pieces(scheduled(T, tau), alternating(straight, rounded, -4), anchors)


def _transitions(P: np.ndarray, go: np.ndarray, T: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The coefficients (..., N - 2, 4, 6, 4) of the transitions around inner poses."""
    half, h = tau[..., 1:-1], 2 * tau[..., 1:-1]
    h = np.where(h > 0, h, np.inf)
    # The way back from B is the same way: Rot(k, θ) Rz(φ) undone is Rot(k', -θ) Rz(-φ), where k' = Rz(-φ) k.
    step = P[..., :-2, :3, 3] - P[..., 1:-1, :3, 3]
    back = np.einsum("...ji,...j->...i", P[..., 1:-1, :3, :3], step)
    _, _, _, psi_A, theta_A, phi_A = np.moveaxis(go[..., :-1, :], -1, 0)
    _, _, _, psi_C, theta_C, phi_C = np.moveaxis(go[..., 1:, :], -1, 0)
    psi_B = np.where(theta_A < _ALIGNED, psi_C, psi_A - phi_A)
    psi_C = np.where(theta_C < _ALIGNED, psi_B, psi_C)
    turn = _wrapped(psi_C - psi_B)
    flipped = np.abs(turn) > np.pi / 2
    psi_B, theta_B = psi_B + np.pi * flipped, np.where(flipped, theta_A, -theta_A)
    turn = _wrapped(psi_C - psi_B)

    def parabola(behind, ahead):
        """((ΔC τ/T + ΔB) λ - 2 ΔB) λ + ΔB, with λ = s / 2τ and ΔB at t = -τ."""
        behind, ahead = behind * half / T[..., :-1], ahead * half / T[..., 1:]
        return np.stack([behind, -2 * behind / h, (ahead + behind) / h**2, np.zeros_like(behind)], axis=-1)

    x = np.stack([parabola(back[..., k], go[..., 1:, k]) for k in range(3)], axis=-2)
    psi = np.stack([psi_B, 0 * psi_B, 3 * turn / h**2, -2 * turn / h**3], axis=-1)
    return _exponents(x, psi, parabola(theta_B, theta_C), parabola(-phi_A, phi_C))


def _wrapped(angle: np.ndarray) -> np.ndarray:
    return angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
