"""Chains of rigid bodies with six coordinates for each link, each of them soft or hard, as in LWC.

LWC is Lee, Wang & Chirikjian (2007), see `partition`; equation numbers are theirs. The placement of a link in the one
before it is a product of three screws. x(b, β) is a turn by β about x and a slide by b along it, and so on. `FORMS` has
three orders,

    A: z(a, α) x(b, β) z(c, γ)      B: x(b, β) z(c, γ) x(a, α)      C: x(b, β) y(a, α) z(c, γ)      (24), (25), (26)

all of which are the modified DH matrix x(b, β) z(c, γ), (23), at α = a = 0. Their Jacobians have the determinants
sin² β, sin² γ and cos² α. So C is not singular at DH links, and `choose_forms` finds the best form for any other link.
At α = a = 0, β, γ, b or c as a soft coordinate is the same joint in every form.

Lengths may be in m or Å and masses in kg or amu: any consistent units.
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


def __dir__() -> list[str]:
    return __all__


COORDINATES = ("alpha", "beta", "gamma", "a", "b", "c")
"""The names of the six coordinates of a link, in their order: three angles [rad] and three lengths."""


class Form(NamedTuple):
    """Three screws in their order: their axes (0, 1, 2 for x, y, z), and the pair (α, a), (β, b) or (γ, c) of each."""

    axes: tuple[int, int, int]
    pairs: tuple[int, int, int]


FORMS = {"A": Form((2, 0, 2), (0, 1, 2)), "B": Form((0, 2, 0), (1, 2, 0)), "C": Form((0, 1, 2), (1, 0, 2))}
"""{letter: the three screws of a link in this form}."""


@dataclass(frozen=True, eq=False)
class DHChain:
    """A chain of n rigid bodies at one configuration.

    `coordinates` (n, 6) has rows (α, β, γ, a, b, c): angles in rad, then lengths. `masses` is (n,). `inertias`
    (n, 3, 3) are about the centres of mass, in the axes of the frames `com` (n, 4, 4) there, the paper's Q_k, which are
    given in the frames of the links; points (n, 3) stand for frames parallel to these. `forms` is a letter A, B or C
    for each link, or one letter for all.
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
    """Raise an `ArgumentError` unless `forms` has one letter of `FORMS` for each of n links."""
    if not isinstance(forms, str) or len(forms) != n or not set(forms) <= set(FORMS):
        raise ArgumentError(f"forms is {forms!r:.60}; it must be one letter A, B or C, or {n} of them")


def _check_bodies(chain: DHChain) -> None:
    """Raise an `ArgumentError` that names the first link whose inertia has no inverse."""
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
    """Return screw(e_axis, length, angle) (n, 4, 4): turns about a coordinate axis with slides along it."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T = np.tile(np.eye(4), (len(angle), 1, 1))
    T[:, i, i] = T[:, j, j] = np.cos(angle)
    T[:, j, i] = np.sin(angle)
    T[:, i, j], T[:, axis, 3] = -T[:, j, i], length
    return T


def _factors(coordinates: np.ndarray, form: Form) -> list[np.ndarray]:
    """Return the three screws, each (n, 4, 4), whose product is the placement."""
    return [
        _screws(axis, coordinates[:, 3 + pair], coordinates[:, pair])
        for axis, pair in zip(form.axes, form.pairs, strict=True)
    ]


def _by_form(function, forms: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return function(rows of array, form) -> (k, *shape), called once for all links of each form, as (n, *shape)."""
    _check_forms(forms, len(array))
    found, letters = np.empty((len(array), *shape)), np.array(list(forms))
    for name, form in FORMS.items():
        links = np.flatnonzero(letters == name)
        if len(links):
            found[links] = function(array[links], form)
    return found


def link_placements(coordinates, forms: str) -> np.ndarray:
    """Return the placements T_k^{k-1} (n, 4, 4) of coordinates (n, 6), with a letter of `forms` for each: (24)-(27)."""

    def placed(rows: np.ndarray, form: Form) -> np.ndarray:
        first, second, third = _factors(rows, form)
        return first @ second @ third

    return _by_form(placed, forms, np.asarray(coordinates, float), (4, 4))


def link_coordinates(T, forms: str) -> np.ndarray:
    """Return the coordinates (n, 6) of placements T (n, 4, 4), |α| <= π/2: the inverse of `link_placements`, §4.1."""

    def read(T: np.ndarray, form: Form) -> np.ndarray:
        angles = _ANGLES[form](T[:, :3, :3])
        # p = Σ length_i · axis_i, where each axis is turned by the screws before it.
        rows = np.concatenate([angles, np.zeros_like(angles)], axis=1)
        first, second, _ = _factors(rows, form)
        turned = [np.tile(np.eye(4), (len(T), 1, 1)), first, first @ second]
        axes = np.stack([R[:, :3, axis] for R, axis in zip(turned, form.axes, strict=True)], axis=2)
        lengths = np.linalg.solve(axes, T[:, :3, 3:])[:, :, 0]
        return np.concatenate([angles, lengths[:, np.argsort(form.pairs)]], axis=1)

    return _by_form(read, forms, np.asarray(T, float), (6,))


def _angles_A(R: np.ndarray) -> np.ndarray:
    """Return (α, β, γ) (n, 3) of R = Rz(α) Rx(β) Rz(γ)."""
    side = np.where(R[:, 1, 2] > 0, -1.0, 1.0)  # the sign of sin β that makes |α| <= π/2
    beta = np.arctan2(side * np.hypot(R[:, 0, 2], R[:, 1, 2]), R[:, 2, 2])
    alpha = np.arctan2(side * R[:, 0, 2], -side * R[:, 1, 2])
    return np.stack([alpha, beta, np.arctan2(side * R[:, 2, 0], side * R[:, 2, 1])], axis=1)


def _angles_B(R: np.ndarray) -> np.ndarray:
    """Return (α, β, γ) (n, 3) of R = Rx(β) Rz(γ) Rx(α)."""
    side = np.where(R[:, 0, 1] > 0, -1.0, 1.0)  # the sign of sin γ that makes |α| <= π/2
    gamma = np.arctan2(side * np.hypot(R[:, 1, 0], R[:, 2, 0]), R[:, 0, 0])
    alpha = np.arctan2(side * R[:, 0, 2], -side * R[:, 0, 1])
    return np.stack([alpha, np.arctan2(side * R[:, 2, 0], side * R[:, 1, 0]), gamma], axis=1)


def _angles_C(R: np.ndarray) -> np.ndarray:
    """Return (α, β, γ) (n, 3) of R = Rx(β) Ry(α) Rz(γ), as in §4.1."""
    alpha = np.arctan2(R[:, 0, 2], np.hypot(R[:, 0, 0], R[:, 0, 1]))
    beta, gamma = np.arctan2(-R[:, 1, 2], R[:, 2, 2]), np.arctan2(-R[:, 0, 1], R[:, 0, 0])
    return np.stack([alpha, beta, gamma], axis=1)


_ANGLES = dict(zip(FORMS.values(), (_angles_A, _angles_B, _angles_C), strict=True))


def choose_forms(T) -> str:
    """Return the letter of the form with the largest determinant for each placement T (n, 4, 4).

    The largest of sin² β, sin² γ and cos² α is at least 1/2.
    """
    R = np.asarray(T, float)[:, :3, :3]
    determinants = 1 - np.stack([R[:, 0, 2], R[:, 2, 2], R[:, 0, 0]], axis=1) ** 2  # those of the forms C, A, B
    return "".join("CAB"[k] for k in np.argmax(determinants, axis=1))


# --- Lie derivatives --------------------------------------------------------------------------------------------------


def link_jacobians(coordinates, forms: str) -> np.ndarray:
    """Return 𝒥 (n, 6, 6): the twist vee(T⁻¹ Ṫ) of a link relative to the one before is 𝒥 q̇, (15)."""

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
    """Return ∂q_k/∂ξ_k and ∂q_k/∂ξ_{k-1} (n, 6, 6), defined by (16), (22), (28); ξ_k moves the frame T_k^c = T_k Q_k.

    By (22) the twist of a link relative to the one before changes by Ad(Q_k) ξ_k - Ad(T⁻¹ Q_{k-1}) ξ_{k-1}, with
    T = T_k^{k-1}. By (18) its coordinates change by 𝒥⁻¹ times that. 𝒥 takes the place of (28), so that this holds for
    every form.
    """
    if not len(chain.masses):
        return np.zeros((0, 6, 6)), np.zeros((0, 6, 6))
    inverse = _inverse_jacobians(chain)
    before = np.concatenate([np.eye(4)[None], chain.com[:-1]])
    T = link_placements(chain.coordinates, chain.forms)
    return inverse @ se3.Ad(chain.com), -inverse @ se3.Ad(se3.compose(se3.inverse(T), before))


_SINGULAR = 1e-7  # least determinant of 𝒥: rounding errors are divided by its square


def _inverse_jacobians(chain: DHChain) -> np.ndarray:
    """Return 𝒥⁻¹ (n, 6, 6) of all links; an `ArgumentError` names a link at which its form is singular."""
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
    """Return the `Partition` of a `DHChain` whose `soft` coordinates move.

    `soft` has names among `COORDINATES` ("alpha", "beta", "gamma", "a", "b", "c"), or truth values (n, 6).
    H = 𝒥_⊕⁻¹ (𝓘_1 ⊕ ... ⊕ 𝓘_n)⁻¹ 𝒥_⊕⁻ᵀ with 𝓘_k = I_k ⊕ m_k 1, and det 𝒥_⊕ is the product of the links' det 𝒥.

        partition = dh_partition(paper.polypeptide(), "beta")
        x = solve(partition, b)                                             # M⁻¹ b

    Lee, Wang & Chirikjian (2007), (20).
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
    """Return the frames T_k^c = T_1^0 ··· T_k^{k-1} Q_k (n, 4, 4) at the centres of mass, in the base."""
    found, T = np.empty_like(chain.com), np.eye(4)
    for k, step in enumerate(link_placements(chain.coordinates, chain.forms)):
        T = T @ step
        found[k] = T @ chain.com[k]
    return found


def as_robot(chain: DHChain, soft: str, name: str = "chain") -> Robot:
    """Return the `Robot` whose joint k moves the coordinate `soft` of link k; its q = 0 is the chain as it is now."""
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
