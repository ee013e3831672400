"""Recursive least squares with explicit forgetting: one step, which all laws that identify something use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Fit", "recursive_least_squares"]


class Fit(NamedTuple):
    """Coefficients theta (n,) or (n, m), and the matrix P (n, n) that says how uncertain they are."""

    theta: Any
    P: Any


def recursive_least_squares(estimate: Fit, psi, y, forgetting, *, forget: bool = True, limit=None) -> Fit:
    """The `Fit` after one more measurement y = θᵀψ, for ψ (n,) and y, or for m measurements y (m,) with one ψ.

    With the forgetting factor ρ, 0 < ρ <= 1, and the gain γ = 1 / (ρ + ψᵀPψ), the step is

        θ ← θ + γ P ψ (y - θᵀψ),    P ← (P - γ P ψ ψᵀ P) / ρ.

    θ is the least-squares solution in which a measurement that is k steps old counts ρᵏ times (corrected from (5.8-14)
    and (5.8-33) of Fu, Gonzalez & Lee 1987). `forget=False` leaves the division by ρ out, as (5.8-33) is printed: then
    θ is the ordinary solution whatever ρ is, and P = ρ (Σ ψψᵀ)⁻¹.

    Where ψ excites too little, P grows with ρ⁻ᵏ. With `limit`, a step whose P would have a larger trace does not
    forget. γ P ψ ψᵀ P is computed from the products of one vector P ψ with itself, so P stays exactly symmetric.

        >>> start = Fit(np.zeros(2), 1e6 * np.eye(2))
        >>> once = recursive_least_squares(start, np.array([1.0, 2.0]), 3.0, 0.99)

    It is NumPy for one sample, to be used in laws and kernels.
    """
    theta, P = estimate
    g = P @ psi
    scale = 1 / (forgetting + psi @ g)
    error = y - theta.T @ psi
    theta = theta + (scale * g * error if np.ndim(theta) == 1 else np.outer(scale * g, error))
    kept = P - scale * np.outer(g, g)
    if not forget:
        return Fit(theta, kept)
    grown = kept * (1 / forgetting)
    return Fit(theta, grown if limit is None else np.where(np.trace(grown) > limit, kept, grown))
