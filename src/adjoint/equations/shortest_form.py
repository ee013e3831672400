"""The shortest way to write a trigonometric polynomial: as a sum of cosines of sums of angles, or with products.

Where axes are parallel, sums of angles are short, such as cos(q2 + q3); elsewhere products are, such as cos(q1)
sin(q2). A wave is the cosine or sine of a sum of angles. Angles are split off a sum of waves one after the other, if
that leaves fewer terms. With F, G_k, H_k free of the angle θ,

    Σ c cos(k θ + r) + ··· = F + Σ_k (G_k cos kθ + H_k sin kθ),    cos(kθ + r) = cos kθ cos r - sin kθ sin r,

and cos 2kθ is written with cos² kθ or sin² kθ where that saves a term. All of this is exact.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from .trig import Frequency, TrigPoly, split_sign

__all__ = ["Factor", "Term", "shortest"]


class Factor(NamedTuple):
    """The cosine or sine of a sum of angles, to a power."""

    is_sine: bool
    angles: Frequency
    power: int = 1


class Term(NamedTuple):
    """The product coefficient · √radicand · monomial · factors."""

    coefficient: Fraction
    radicand: int
    monomial: int
    factors: tuple[Factor, ...]


Waves = frozenset
"""A set of ((angles, is_sine), coefficient), which stands for Σ coefficient · cos(angles) or sin(angles)."""

Products = tuple
"""A tuple of (coefficient, factors), which stands for their sum."""


def shortest(f: TrigPoly, bases: Iterable[tuple[Frequency, ...]]) -> list[Term]:
    """Return the terms of f, as few as are found.

    A basis names angles that may be split off; each is a sum of coordinates.
    """
    groups: dict[tuple[int, int], dict] = defaultdict(dict)
    for (angles, is_sine, monomial, radicand), c in f.terms.items():
        groups[monomial, radicand][angles, is_sine] = c
    found = []
    for (monomial, radicand), waves in groups.items():
        best = min((_written(waves, basis) for basis in bases), key=_cost)
        found += [Term(c, radicand, monomial, factors) for c, factors in best]
    return found


def _cost(products: Products) -> tuple[int, int]:
    """Return the number of terms, then the number of factors in them."""
    return len(products), sum(len(factors) for _, factors in products)


def _written(waves: dict, basis: tuple[Frequency, ...]) -> Products:
    """Return all waves written together, or those of equal coefficients by themselves: whichever is shorter."""
    of_size: dict[Fraction, dict] = defaultdict(dict)
    for wave, c in waves.items():
        of_size[abs(c)][wave] = c
    apart = tuple(p for part in of_size.values() for p in _split(_in_basis(part, basis)))
    together = _split(_in_basis(waves, basis))
    return _in_coordinates(min(apart, together, key=_cost), basis)


# --- splitting angles off ---------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=100_000)
def _split(waves: Waves) -> Products:
    """Return the shortest products for Σ coefficient · wave, splitting off none or any of the angles, in any order."""
    best = tuple((c, (Factor(is_sine, angles),) if angles else ()) for (angles, is_sine), c in sorted(waves))
    if len(waves) > 1:
        for k in sorted({k for (angles, _), _ in waves for k, _ in angles}):
            best = min(best, _split_off(waves, k), key=_cost)
    return best


def _split_off(waves: Waves, k: int) -> Products:
    """Return the products in which angle k has factors of its own."""
    parts: dict[tuple[bool, int | Fraction], dict] = defaultdict(lambda: defaultdict(Fraction))
    for (angles, is_sine), c in waves:
        multiple = dict(angles).get(k, 0)
        rest, sign = split_sign(tuple((j, m) for j, m in angles if j != k))
        turn = 1 if multiple > 0 else -1
        # cos(a + r) = cos a cos r - sin a sin r,  sin(a + r) = sin a cos r + cos a sin r
        for own_sine, weight in ((False, 1), (True, turn * (1 if is_sine else -1))):
            rest_sine = own_sine != is_sine
            if (multiple or not own_sine) and (rest or not rest_sine):
                parts[own_sine, abs(multiple)][rest, rest_sine] += c * weight * (sign if rest_sine else 1)
    return _assembled({key: _waves(part) for key, part in parts.items()}, k)


def _assembled(parts: dict[tuple[bool, int | Fraction], Waves], k: int) -> Products:
    """Return F + Σ (G_k cos kθ + H_k sin kθ), with cos 2θ = 2 cos² θ - 1 = 1 - 2 sin² θ where that is shorter."""
    plain = parts.pop((False, 0), frozenset())
    found: Products = ()
    for (is_sine, multiple), part in sorted(parts.items()):
        own = Factor(is_sine, ((k, multiple),))
        options = [(_times(own, part), plain)]
        if not is_sine and plain and multiple % 2 == 0:
            half = ((k, multiple // 2),)
            options.append((_times(Factor(False, half, 2), _sum(part, part)), _sum(plain, part, -1)))
            options.append((_times(Factor(True, half, 2), _sum(frozenset(), _sum(part, part), -1)), _sum(plain, part)))
        best, plain = min(options, key=lambda option: _cost(option[0] + _split(option[1])))
        found += best
    return found + _split(plain)


def _times(factor: Factor, waves: Waves) -> Products:
    """Return the products for factor · Σ coefficient · wave."""
    return tuple((c, (factor, *factors)) for c, factors in _split(waves))


def _sum(f: Waves, g: Waves, sign: int = 1) -> Waves:
    """Return f + sign · g."""
    total = dict(f)
    for wave, c in g:
        total[wave] = total.get(wave, 0) + sign * c
    return _waves(total)


def _waves(part: dict) -> Waves:
    """Return the waves whose coefficients are not 0."""
    return frozenset((wave, c) for wave, c in part.items() if c)


# --- other angles than the coordinates --------------------------------------------------------------------------------


def _in_basis(waves: dict, basis: tuple[Frequency, ...]) -> Waves:
    """Return the waves in the basis' angles, θ_k = q_k + earlier coordinates, replaced from the last to the first."""
    found: dict = defaultdict(Fraction)
    for (angles, is_sine), c in waves.items():
        left, own = dict(angles), {}
        for k in reversed(range(len(basis))):
            if multiple := left.pop(k, 0):
                own[k] = multiple
                for j, m in basis[k]:
                    if j != k:
                        left[j] = left.get(j, 0) - multiple * m
        angles, sign = split_sign(tuple(sorted((k, m) for k, m in own.items())))
        found[angles, is_sine] += c * (sign if is_sine else 1)
    return _waves(found)


def _in_coordinates(products: Products, basis: tuple[Frequency, ...]) -> Products:
    """Return the same products, with every angle written as a sum of coordinates again."""
    found = []
    for c, factors in products:
        again = []
        for is_sine, angles, power in factors:
            total: dict = defaultdict(int)
            for k, multiple in angles:
                for j, m in basis[k]:
                    total[j] += multiple * m
            angles, sign = split_sign(tuple(sorted((j, m) for j, m in total.items() if m)))
            c = c * sign if is_sine and power % 2 else c
            again.append(Factor(is_sine, angles, power))
        found.append((c, tuple(again)))
    return tuple(found)
