"""Satisfiability of clauses of propositions by the procedure of Davis, Logemann & Loveland.

Reference: Davis, Logemann & Loveland (1962), "A machine program for theorem-proving", Communications of the ACM 5.
"""

from __future__ import annotations

import time
from collections import defaultdict

__all__: list[str] = []


def satisfying(clauses: list[tuple[int, ...]], until: float) -> set[int] | None:
    """Literals that make all clauses true, or None if nothing does.

    A literal is a number n for a proposition, and -n for its opposite.
    After the time `until` of `time.monotonic` a `TimeoutError` says that neither is known.
    """
    watchers: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for clause in clauses:
        for literal in clause:
            watchers[-literal].append(clause)
    true: set[int] = set()
    trail: list[int] = []
    decisions: list[tuple[int, int]] = []  # how long the trail was, and the literal that was tried
    if () in clauses or not _assume([c[0] for c in clauses if len(c) == 1], true, trail, watchers):
        return None
    names = sorted({abs(literal) for clause in clauses for literal in clause})
    while (choice := next((n for n in names if n not in true and -n not in true), None)) is not None:
        if time.monotonic() > until:
            raise TimeoutError
        decisions.append((len(trail), -choice))
        good = _assume([-choice], true, trail, watchers)
        while not good:
            if not decisions:
                return None
            length, tried = decisions.pop()
            while len(trail) > length:
                true.discard(trail.pop())
            good = _assume([-tried], true, trail, watchers)
    return true


def _assume(literals: list[int], true: set[int], trail: list[int], watchers: dict) -> bool:
    """Make literals true with all that follows from clauses of which one literal is left; False if one is left none."""
    ahead = list(literals)
    while ahead:
        literal = ahead.pop()
        if literal in true:
            continue
        if -literal in true:
            return False
        true.add(literal)
        trail.append(literal)
        for clause in watchers[literal]:
            if any(x in true for x in clause):
                continue
            left = [x for x in clause if -x not in true]
            if not left:
                return False
            if len(left) == 1:
                ahead.append(left[0])
    return True
