"""Chains of rigid bodies as LWC parametrise them: six coordinates to a link, each of them soft or hard.

A link sits at a product of three screws in the one before; `FORMS` has the orders

    A: z(a, α) x(b, β) z(c, γ)      B: x(b, β) z(c, γ) x(a, α)      C: x(b, β) y(a, α) z(c, γ)      (24), (25), (26)

all of which are the modified DH matrix x(b, β) z(c, γ), (23), at α = a = 0. Their Jacobians have the determinants
sin² β, sin² γ, cos² α: C has no singularity at DH links, and of any other link `choose_forms` finds the best. Whatever
the form, a soft angle or length is that of the same joint as long as it is one of the four at α = a = 0.
Lengths in m or Å, masses in kg or amu: any consistent units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..lie import se3
from ..model.input_checks import motions, numbers
from ..model.robot import Robot
from ..model.screws import serial
from .partition import Partition, block_diagonal, blocks_at, soft_mask

__all__ = [
    "COORDINATES",
    "FORMS",
    "DHChain",
    "as_robot",
    "choose_forms",
    "com_placements",
    "dh_partition",
    "lie_derivatives",
    "link_coordinates",
    "link_jacobians",
    "link_placements",
]

COORDINATES = ("alpha", "beta", "gamma", "a", "b", "c")


class Form(NamedTuple):
    """Three screws in their order: the axes (0, 1, 2 for x, y, z), and which pair (α, a), (β, b), (γ, c) each has."""

    axes: tuple[int, int, int]
    pairs: tuple[int, int, int]


FORMS = {"A": Form((2, 0, 2), (0, 1, 2)), "B": Form((0, 2, 0), (1, 2, 0)), "C": Form((0, 1, 2), (1, 0, 2))}


@dataclass(frozen=True, eq=False)
class DHChain:
    """A chain of n rigid bodies at one configuration.

    `coordinates` (n, 6): rows (α, β, γ, a, b, c); `masses` (n,), `inertias` (n, 3, 3) about the centres of mass, in the
    axes of the frames `com` (n, 4, 4) there, the paper's Q_k, given in the links' frames (or just the points (n, 3));
    `forms`: a letter A, B or C for each link, or one for all.
    """

    coordinates: np.ndarray
    masses: np.ndarray
    inertias: np.ndarray
    com: np.ndarray
    forms: str = "C"

    def __post_init__(self):
        coordinates = numbers(self.coordinates, (None, 6), "DHChain: coordinates")
        n = len(coordinates)
        com = np.asarray(self.com, float)
        if com.shape == (n, 3):
            com = np.tile(np.eye(4), (n, 1, 1))
            com[:, :3, 3] = self.com
        forms = self.forms * n if self.forms in FORMS else self.forms
        _check_forms(forms, n)
        found = {
            "coordinates": coordinates,
            "masses": numbers(self.masses, (n,), "DHChain: masses"),
            "inertias": numbers(self.inertias, (n, 3, 3), "DHChain: inertias"),
            "com": motions(com, (n, 4, 4), "DHChain: com"),
            "forms": forms,
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)
        _check_bodies(self)


def _check_forms(forms: str, n: int) -> None:
    if not isinstance(forms, str) or len(forms) != n or not set(forms) <= set(FORMS):
        raise ArgumentError(f"forms is {forms!r:.60}; it must be one letter A, B or C, or {n} of them")


def _check_bodies(chain: DHChain) -> None:
    least = np.linalg.eigvalsh(chain.inertias)[:, 0] if len(chain.masses) else np.zeros(0)
    bad = (chain.masses <= 0) | (least <= 1e-12 * np.abs(chain.inertias).max(axis=(1, 2), initial=0))
    if bad.any():
        k = int(np.argmax(bad))
        raise ArgumentError(
            f"DHChain: link {k + 1} has an inertia without inverse (mass {chain.masses[k]:g}, least moment of inertia "
            f"{least[k]:g}), as a rod or two atoms have; Fixman's method needs one of every body"
        )


# --- placements and coordinates ---------------------------------------------------------------------------------------


def _screws(axis: int, length: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """screw(e_axis, length, angle) (n, 4, 4): a turn about a coordinate axis and a slide along it."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T = np.tile(np.eye(4), (len(angle), 1, 1))
    T[:, i, i] = T[:, j, j] = np.cos(angle)
    T[:, j, i] = np.sin(angle)
    T[:, i, j], T[:, axis, 3] = -T[:, j, i], length
    return T


def _factors(coordinates: np.ndarray, form: Form) -> list[np.ndarray]:
    return [
        _screws(axis, coordinates[:, 3 + pair], coordinates[:, pair])
        for axis, pair in zip(form.axes, form.pairs, strict=True)
    ]


def _by_form(function, forms: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """function(rows of array, form) -> (k, *shape), for the links of each form together."""
    _check_forms(forms, len(array))
    found, letters = np.empty((len(array), *shape)), np.array(list(forms))
    for name, form in FORMS.items():
        links = np.flatnonzero(letters == name)
        if len(links):
            found[links] = function(array[links], form)
    return found


def link_placements(coordinates, forms: str) -> np.ndarray:
    """T_k^{k-1} (n, 4, 4) of coordinates (n, 6), a letter of `forms` for each: (24)-(27)."""

    def placed(rows: np.ndarray, form: Form) -> np.ndarray:
        first, second, third = _factors(rows, form)
        return first @ second @ third

    return _by_form(placed, forms, np.asarray(coordinates, float), (4, 4))


def link_coordinates(T, forms: str) -> np.ndarray:
    """Coordinates (n, 6) of placements T (n, 4, 4), with |α| <= π/2: the inverse of `link_placements`, §4.1."""

    def read(T: np.ndarray, form: Form) -> np.ndarray:
        angles = _ANGLES[form](T[:, :3, :3])
        # p = Σ length_i · axis_i: the axes of the three screws as the ones before have turned them
        rows = np.concatenate([angles, np.zeros_like(angles)], axis=1)
        first, second, _ = _factors(rows, form)
        turned = [np.tile(np.eye(4), (len(T), 1, 1)), first, first @ second]
        axes = np.stack([R[:, :3, axis] for R, axis in zip(turned, form.axes, strict=True)], axis=2)
        lengths = np.linalg.solve(axes, T[:, :3, 3:])[:, :, 0]
        return np.concatenate([angles, lengths[:, np.argsort(form.pairs)]], axis=1)

    return _by_form(read, forms, np.asarray(T, float), (6,))


def _angles_A(R: np.ndarray) -> np.ndarray:
    """(α, β, γ) (n, 3) of R = Rz(α) Rx(β) Rz(γ)."""
    side = np.where(R[:, 1, 2] > 0, -1.0, 1.0)  # of sin β, for |α| <= π/2
    beta = np.arctan2(side * np.hypot(R[:, 0, 2], R[:, 1, 2]), R[:, 2, 2])
    alpha = np.arctan2(side * R[:, 0, 2], -side * R[:, 1, 2])
    return np.stack([alpha, beta, np.arctan2(side * R[:, 2, 0], side * R[:, 2, 1])], axis=1)


def _angles_B(R: np.ndarray) -> np.ndarray:
    """(α, β, γ) (n, 3) of R = Rx(β) Rz(γ) Rx(α)."""
    side = np.where(R[:, 0, 1] > 0, -1.0, 1.0)  # of sin γ, for |α| <= π/2
    gamma = np.arctan2(side * np.hypot(R[:, 1, 0], R[:, 2, 0]), R[:, 0, 0])
    alpha = np.arctan2(side * R[:, 0, 2], -side * R[:, 0, 1])
    return np.stack([alpha, np.arctan2(side * R[:, 2, 0], side * R[:, 1, 0]), gamma], axis=1)


def _angles_C(R: np.ndarray) -> np.ndarray:
    """(α, β, γ) (n, 3) of R = Rx(β) Ry(α) Rz(γ), as in §4.1."""
    alpha = np.arctan2(R[:, 0, 2], np.hypot(R[:, 0, 0], R[:, 0, 1]))
    beta, gamma = np.arctan2(-R[:, 1, 2], R[:, 2, 2]), np.arctan2(-R[:, 0, 1], R[:, 0, 0])
    return np.stack([alpha, beta, gamma], axis=1)


_ANGLES = dict(zip(FORMS.values(), (_angles_A, _angles_B, _angles_C), strict=True))


def choose_forms(T) -> str:
    """The form with the largest determinant, sin² β, sin² γ or cos² α >= 1/2, of each placement T (n, 4, 4)."""
    R = np.asarray(T, float)[:, :3, :3]
    determinants = 1 - np.stack([R[:, 0, 2], R[:, 2, 2], R[:, 0, 0]], axis=1) ** 2  # of C, A, B
    return "".join("CAB"[k] for k in np.argmax(determinants, axis=1))


# --- Lie derivatives --------------------------------------------------------------------------------------------------


def link_jacobians(coordinates, forms: str) -> np.ndarray:
    """𝒥 (n, 6, 6), eq. (15): the twist (T⁻¹ Ṫ)^∨ of a link relative to the one before is 𝒥 q̇."""

    def jacobian(rows: np.ndarray, form: Form) -> np.ndarray:
        _, second, third = _factors(rows, form)
        beyond = [second @ third, third, np.tile(np.eye(4), (len(rows), 1, 1))]
        J = np.empty((len(rows), 6, 6))
        for T, axis, pair in zip(beyond, form.axes, form.pairs, strict=True):
            back = se3.Ad(se3.inverse(T))
            J[:, :, pair], J[:, :, 3 + pair] = back[:, :, axis], back[:, :, 3 + axis]
        return J

    return _by_form(jacobian, forms, np.asarray(coordinates, float), (6, 6))


def lie_derivatives(chain: DHChain) -> tuple[np.ndarray, np.ndarray]:
    """∂q_k/∂ξ_k and ∂q_k/∂ξ_{k-1} (n, 6, 6), as (16), (22) and (28) define them; ξ_k moves the frame T_k^c = T_k Q_k.

    By (22) the link's twist relative to the one before changes by Ad(Q_k) ξ_k - Ad(T⁻¹ Q_{k-1}) ξ_{k-1},
    T = T_k^{k-1}, and by (18) its coordinates by 𝒥⁻¹ of that: with 𝒥 in the place of (28), for every form.
    """
    if not len(chain.masses):
        return np.zeros((0, 6, 6)), np.zeros((0, 6, 6))
    inverse = _inverse_jacobians(chain)
    before = np.concatenate([np.eye(4)[None], chain.com[:-1]])
    T = link_placements(chain.coordinates, chain.forms)
    return inverse @ se3.Ad(chain.com), -inverse @ se3.Ad(se3.compose(se3.inverse(T), before))


_SINGULAR = 1e-7  # least determinant of 𝒥: rounding errors are divided by its square


def _inverse_jacobians(chain: DHChain) -> np.ndarray:
    J = link_jacobians(chain.coordinates, chain.forms)
    bad = np.abs(np.linalg.det(J)) < _SINGULAR
    if bad.any():
        k = int(np.argmax(bad))
        raise ArgumentError(
            f"DHChain: form {chain.forms[k]} is singular at link {k + 1}, coordinates "
            f"{chain.coordinates[k].tolist()}; choose_forms(link_placements(...)) finds another"
        )
    return np.linalg.inv(J)


# --- the chain as free bodies -----------------------------------------------------------------------------------------


def dh_partition(chain: DHChain, soft) -> Partition:
    """`Partition` of a chain whose `soft` coordinates move: names among `COORDINATES`, or truth values (n, 6).

    H = 𝒥_⊕⁻¹ (𝓘_1 ⊕ ... ⊕ 𝓘_n)⁻¹ 𝒥_⊕⁻ᵀ, (20), with 𝓘_k = I_k ⊕ m_k 1; det 𝒥_⊕ is the product of the links' det 𝒥.
    """
    n = len(chain.masses)
    mask = soft_mask(soft, COORDINATES, n).ravel()
    own, before = lie_derivatives(chain)
    each = np.arange(n)
    moves = blocks_at(each, each, own, n) + blocks_at(each[1:], each[:-1], before[1:], n)
    masses = np.zeros((n, 6, 6))
    masses[:, :3, :3], masses[:, 3:, 3:] = chain.inertias, chain.masses[:, None, None] * np.eye(3)
    logdets = [np.linalg.slogdet(X)[1].sum() for X in (masses, own)]
    return Partition(
        moves[mask], moves[~mask], block_diagonal(np.linalg.inv(masses)), float(logdets[0] - 2 * logdets[1])
    )


def com_placements(chain: DHChain) -> np.ndarray:
    """T_k^c (n, 4, 4): the frames at the centres of mass in the base, T_1^0 ··· T_k^{k-1} Q_k."""
    found, T = np.empty_like(chain.com), np.eye(4)
    for k, step in enumerate(link_placements(chain.coordinates, chain.forms)):
        T = T @ step
        found[k] = T @ chain.com[k]
    return found


def as_robot(chain: DHChain, soft: str, name: str = "chain") -> Robot:
    """The robot whose joint k moves the `soft` coordinate of link k; the chain as it is now is its q = 0."""
    columns = np.flatnonzero(soft_mask(soft, COORDINATES, 1)[0])
    if len(columns) != 1:
        raise ArgumentError(f"as_robot: soft is {soft!r}; a joint moves one coordinate of {', '.join(COORDINATES)}")
    column = columns[0]
    n, T = len(chain.masses), link_placements(chain.coordinates, chain.forms)
    R, c, m = chain.com[:, :3, :3], chain.com[:, :3, 3], chain.masses[:, None]
    square = np.sum(c**2, axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    I = (R @ chain.inertias @ R.mT + m[:, :, None] * square).reshape(n, 9)
    return serial(
        name,
        types=("revolute" if column < 3 else "prismatic",) * n,
        placements=T,
        screws=link_jacobians(chain.coordinates, chain.forms)[:, :, column],
        inertias=np.concatenate([m, m * c, I[:, [0, 1, 2, 4, 5, 8]]], axis=1),
    )
