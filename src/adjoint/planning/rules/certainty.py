"""Certainty factors of MYCIN.

Reference: Shortliffe & Buchanan (1975), "A model of inexact reasoning in medicine", Mathematical Biosciences 23; for
mixed signs van Melle (1980), "A domain-independent system that aids in constructing knowledge-based consultation
programs". Fu, Gonzalez & Lee (1987), Sec. 10.10.2 describe the method without its formulas.
"""

from __future__ import annotations

from collections.abc import Iterable

from .rule_types import checked_certainty

__all__ = ["BELIEVED", "combine"]

BELIEVED = 0.2
"""A condition of a rule holds if the certainty of its fact is above this number, as in MYCIN."""


def combine(a: float, b: float) -> float:
    """The certainty factor from two pieces of evidence for the same fact.

        >>> combine(0.6, 0.5), combine(-0.6, -0.5), combine(0.75, -0.5)
        (0.8, -0.8, 0.5)

    It is a + b (1 - a) if both are positive, a + b (1 + a) if both are negative, else (a + b) / (1 - min(|a|, |b|)).
    Certain evidence for and against, 1 and -1, gives 0.
    """
    a, b = checked_certainty(a, "combine: a certainty"), checked_certainty(b, "combine: a certainty")
    if a >= 0 and b >= 0:
        return a + b * (1 - a)
    if a <= 0 and b <= 0:
        return a + b * (1 + a)
    least = min(abs(a), abs(b))
    return 0.0 if least == 1 else max(-1.0, min(1.0, (a + b) / (1 - least)))


def combined(evidence: Iterable[float]) -> float:
    """The certainty factor from all pieces of evidence, in any order; 0 if there is none."""
    total, known = 0.0, sorted(evidence)  # so that rounding is the same in any order, too
    if 1.0 in known and -1.0 in known:
        return 0.0
    for piece in known:
        total = combine(total, piece)
    return total
