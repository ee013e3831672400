"""The two chains of Lee, Wang & Chirikjian (2007), §4, with numbers that reproduce the matrices which the paper prints.

Not all of these numbers are those that the paper states: see `puma` and `polypeptide`. Both chains are there to compare
with, not to be used as models; `robots.puma560` is a model of the real arm.
"""

from __future__ import annotations

import numpy as np

from .dh_links import DHChain

__all__ = ["long_polypeptide", "polypeptide", "puma"]


def __dir__() -> list[str]:
    return __all__


def puma() -> DHChain:
    """Return the PUMA arm of Lee, Wang & Chirikjian (2007), §4.2: their Table I at γ_k = 60°, in kg and m.

    The matrix M_puma of the paper is that of soft β, although the text says γ. M agrees with all printed digits. M⁻¹
    agrees except for the entries 23, 32 and 44, which were rounded to the neighbouring last digit: -0.56595 is printed
    as -0.5659, and 4.61425 as 4.6143.

    Table I holds classic DH numbers, which the paper uses in the modified DH matrix (23). It does not print its
    inertias. Its matrices determine 13 combinations of them, and the inertias here are one set that gives these.
    """
    beta, b, c = [90, 0, -90, 90, -90, 0], [0, 0.4318, 0.0191, 0, 0, 0], [0, 0, 0.1254, 0.4318, 0, 0]
    com = [[0, 0.08, 0], [0.216, 0, -0.026], [0, -0.216, 0], [0, 0, -0.02], [0, 0, 0], [0, 0, 0.01]]
    principal = np.array(
        [
            [0.16125, 0.1, 0.1],
            [0.56008, 1.8688, 1.87],
            [0.36, 0.0066996, 0.36],
            [0.0038273, 0.0038926, 0.0008],
            [2.16e-4, 2.16e-4, 2e-4],
            [4.37e-4, 4.37e-4, 1e-4],
        ]
    )
    masses = np.array([10, 10, 4.80, 1.18, 0.32, 0.13])
    return DHChain(_rows(beta, [60] * 6, b, c), masses, principal[:, :, None] * np.eye(3), np.array(com))


def polypeptide() -> DHChain:
    """Return the polypeptide of Lee, Wang & Chirikjian (2007), §4.3, in Å and amu.

    It has seven links at β = (0, 60°, ..., 60°), and the torsions β are soft. The printed matrices need γ_4 = 190.5°
    and γ_7 = 69.5° where Table II has 289.5° and 70.5°, and the bodies that `_atoms` describes. With these, M_poly is
    reproduced to 7e-6 of its largest entry, M_poly⁻¹ to all printed digits, and the frames T_k^c to three digits,
    except for five entries that were rounded to the neighbouring third digit.
    """
    gamma = [70.5, 296.2, 58.3, 190.5, 63.8, 301.7, 69.5]
    return DHChain(_rows([0, 60, 60, 60, 60, 60, 60], gamma, _bond_lengths(7), [0.0] * 7), *_atoms(7))


def long_polypeptide(n: int) -> DHChain:
    """Return a chain of n links like those of `polypeptide`, in Å and amu, at β = (0, 60°, 60°, ...).

    The bond angles are those of Table II as it stands, repeated over and over.
    """
    gamma = np.resize([296.2, 58.3, 289.5, 63.8, 301.7, 70.5], max(n - 1, 0))
    beta = np.concatenate([[0.0], np.full(max(n - 1, 0), 60.0)])[:n]
    return DHChain(_rows(beta, np.concatenate([[70.5], gamma])[:n], _bond_lengths(n), np.zeros(n)), *_atoms(n))


def _rows(beta, gamma, b, c) -> np.ndarray:
    """Return the coordinates (n, 6) of links with α = a = 0, from angles in degrees."""
    zero = np.zeros(len(beta))
    return np.stack([zero, np.radians(beta), np.radians(gamma), zero, b, c], axis=1)


def _bond_lengths(n: int) -> np.ndarray:
    """Return the lengths (n,) [Å] of the bonds before the links."""
    return np.concatenate([[0.0], np.resize([1.525, 1.329, 1.458], max(n - 1, 0))])[:n]


C, N, H, O = 12.0107, 14.00674, 1.00794, 15.9994  # amu, LWC §4.3
CH3 = C + 3 * H


def _atoms(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return masses, inertias and centres of mass of n links: in turn C_α with CH3 and H, C' with O, and N with H.

    They are those of the paper: the mass of the first kind is that of CH3 alone, although its centre of mass is that of
    all its atoms. Products of inertia are left out, because C' = O and N - H are two atoms each, whose inertias have no
    inverse otherwise. Lengths are in Å; x points to the next atom of the chain.
    """
    half = np.arccos(-1 / 3) / 2  # half the tetrahedral angle
    side = np.cos(half) * _direction(np.degrees(np.pi + half)), np.sin(half) * np.array([0.0, 0, 1])
    groups = [
        ([C, CH3, H], [0 * side[0], 1.521 * (side[0] + side[1]), 1.08 * (side[0] - side[1])]),
        ([C, O], [np.zeros(3), 1.231 * _direction(123.3)]),
        ([N, H], [np.zeros(3), 1.01 * _direction(-119.15)]),
    ]
    masses, inertias, com = (np.array(part) for part in zip(*(_rigid(*group) for group in groups), strict=True))
    masses[0] = CH3
    kind = np.arange(n) % 3
    return masses[kind], inertias[kind], com[kind]


def _direction(azimuth: float) -> np.ndarray:
    """Return the unit vector in the xy plane at an angle of `azimuth` degrees from x."""
    return np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])


def _rigid(masses: list[float], positions: list[np.ndarray]) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mass of point masses, their moments of inertia (3, 3) without products, and their centre of mass."""
    m, x = np.array(masses), np.array(positions)
    com = m @ x / m.sum()
    squares = m @ (x - com) ** 2
    return m.sum(), np.diag(squares.sum() - squares), com
