"""Fixman's method for serial chains of any length: one compiled loop over the links, whatever their number.

H_22 is block tridiagonal with 5 hard rows for each joint, so a step of its block Cholesky factorisation needs the links
on the two sides of one joint. The blocks of a joint are computed where they are used, forward and again backward. All
that is kept of a link are its factored pivot, its right-hand side and one entry of b: 21 numbers. The base is a body of
infinite inertia. `bodies` explains H; (7) is that of Lee, Wang & Chirikjian (2007), see `partition`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel
from ..compile.graph.loops import scan
from ..dynamics.factorization import MassFactors, factor, solve_factored, sqrt_solve_factored
from ..lie import so3

__all__ = ["Body", "Link", "chain_logdets", "chain_solve", "inverse_inertia", "link_rows"]


class Body(NamedTuple):
    """The inverse of a link's inertia: I_c⁻¹ (3, 3) about its centre of mass c (3,), and 1/m."""

    turning: np.ndarray
    com: np.ndarray
    sliding: np.ndarray


class Link(NamedTuple):
    """Home placement R (3, 3), p (3,) in the link before, (t, d) of the screw S = (0, 0, t, 0, 0, d), and the body."""

    rotation: np.ndarray
    offset: np.ndarray
    screw: np.ndarray
    body: Body


def link_rows(rotation, offset, screw, body: Body) -> np.ndarray:
    """Return the links as rows of numbers (n + 1, 27); the first row is the base, which no wrench moves."""
    parts = (rotation, offset, screw, *body)
    rows = np.concatenate([np.reshape(part, (len(rotation), -1)) for part in parts], axis=1)
    base = np.concatenate([np.zeros(12), np.ones(2), np.zeros(13)])
    return np.concatenate([base[None], rows])


def _link(row) -> Link:
    """Return the `Link` of a row (27,)."""
    body = Body(row[14:23].reshape(3, 3), row[23:26], row[26])
    return Link(row[:9].reshape(3, 3), row[9:12], row[12:14], body)


def _placed(link: Link, q):
    """Return f = M exp(S q) of a screw along z as R (3, 3) and p (3,)."""
    turn, slide = link.screw[0] * q, link.screw[1] * q
    x, y, z = link.rotation.T
    cos, sin = np.cos(turn), np.sin(turn)
    return np.stack([cos * x + sin * y, cos * y - sin * x, z], axis=1), link.offset + slide * z


@kernel(turning=(3, 3), com=3)
def inverse_inertia(turning, com, sliding) -> np.ndarray:
    """Return J⁻¹ = Ad(c) diag(I_c⁻¹, 1/m) Ad(c)ᵀ (6, 6) of the numbers of a `Body`."""
    C = so3.hat(com)
    B = turning @ C.T
    return np.block([[turning, B], [B.T, C @ B + sliding * np.eye(3)]])


def _in_basis(X, screw):
    """Return N⁻¹ X (6, k) with N = [S, C].

    Its first row is soft, (t, d)/(t² + d²) times the rows (w_z, v_z) of X; its last row is hard, (-d, t) times them.
    """
    t, d = screw[0], screw[1]
    soft, hard = (t * X[2] + d * X[5]) / (t * t + d * d), t * X[5] - d * X[2]
    return np.stack([soft, X[0], X[1], X[3], X[4], hard])


def _joint_blocks(before: Link, link: Link, q):
    """Return the blocks H_kk and H_k,k-1 (6, 6) of H = N⁻¹ (1 - Γ) J⁻¹ (1 - Γ)ᵀ N⁻ᵀ."""
    R, p = _placed(link, q)
    turning, com = R.T @ before.body.turning, R.T @ (before.body.com - p)
    # J_k⁻¹ + X J_{k-1}⁻¹ Xᵀ with X = Ad(f⁻¹): the link before, seen from this one
    D = inverse_inertia(*link.body) + inverse_inertia(turning @ R, com, before.body.sliding)
    # X J_{k-1}⁻¹
    B, C = turning @ so3.hat(before.body.com).T, so3.hat(com)
    E = np.block([[turning, B], [C @ turning, C @ B + before.body.sliding * R.T]])
    H = _in_basis(_in_basis(D, link.screw).T, link.screw)
    return H, -_in_basis(_in_basis(E, link.screw).T, before.screw).T


_UPPER = [(i, j) for i in range(5) for j in range(i + 1, 5)]


def _packed(pivot: MassFactors):
    """Return the entries of W above its diagonal, then Ω, as an array (15,), of a factored pivot W Ω Wᵀ."""
    return np.concatenate([np.stack([pivot.W[i, j] for i, j in _UPPER]), pivot.Omega])


def _unpacked(packed) -> MassFactors:
    """Return the factored pivot of the numbers that `_packed` has made of it."""
    above = {place: packed[k] for k, place in enumerate(_UPPER)} | {(i, i): 1.0 for i in range(5)}
    return MassFactors(np.stack([np.stack([above.get((i, j), 0.0) for j in range(5)]) for i in range(5)]), packed[10:])


_NO_PIVOT = MassFactors(np.eye(5), np.ones(5))  # stands for the pivot before that of the first joint


@kernel(before=(..., 27), link=(..., 27), q=(...,), b=(...,))
def chain_solve(before, link, q, b) -> np.ndarray:
    """Return M⁻¹ b (n,) by (7): H_22 d = H_12ᵀ b, x = H_11 b - H_12 d.

    `link` are the `link_rows` without the first one, and `before` those without the last one.
    """

    def forward(last, row):
        pivot, c, b_before = last  # c is the right-hand side of joint k - 1 without the share of joint k
        before, link, q, b = row
        H, E = _joint_blocks(_link(before), _link(link), q)
        c = c + E[0, 1:] * b
        solved = sqrt_solve_factored(pivot, np.concatenate([E[1:, 1:].T, c[:, None]], axis=1))
        Y, z = solved[:, :5], solved[:, 5]
        c_own = H[1:, 0] * b + E[1:, 0] * b_before - Y.T @ z
        return (factor(H[1:, 1:] - Y.T @ Y), c_own, b), (_packed(pivot), c, b_before)

    def backward(later, row):
        d, pending = later
        (pivot, c, b_before), (before, link, q, b) = row
        H, E = _joint_blocks(_link(before), _link(link), q)
        d_before = solve_factored(_unpacked(pivot), c - E[1:, 1:].T @ d)
        x = pending + H[0, 0] * b - H[0, 1:] @ d + E[0, 0] * b_before - E[0, 1:] @ d_before
        return (d_before, E[0, 0] * b - E[1:, 0] @ d), x

    links = (before, link, q, b)
    (pivot, c, _), kept = scan(forward, (_NO_PIVOT, np.zeros(5), 0.0), links)
    return scan(backward, (solve_factored(pivot, c), 0.0), (kept, links), reverse=True)[1]


@kernel(before=(..., 27), link=(..., 27), q=(...,))
def chain_logdets(before, link, q) -> np.ndarray:
    """Return log det (n,) of the pivot blocks of H_22, whose sum is log det H_22; links are as in `chain_solve`."""

    def step(pivot: MassFactors, row):
        before, link, q = row
        H, E = _joint_blocks(_link(before), _link(link), q)
        Y = sqrt_solve_factored(pivot, E[1:, 1:].T)
        pivot = factor(H[1:, 1:] - Y.T @ Y)
        return pivot, np.log(np.prod(pivot.Omega))

    return scan(step, _NO_PIVOT, (before, link, q))[1]
