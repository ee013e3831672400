"""Situation calculus: states as terms, operators as functions of states; the monkey and the bananas.

The printed axioms lack a frame axiom: nothing says that the box stays where it is while the monkey climbs it. So the
goal cannot be proved from them, which `find_countermodel` shows, and the `open_goals` of the failed proof name what is
missing. With `MONKEY_FRAME` the proof gives the plan.
"""

from __future__ import annotations

from ...errors import ArgumentError
from .formula_reader import term
from .terms import Function, Term, Variable

__all__ = ["MONKEY_AXIOMS", "MONKEY_FRAME", "MONKEY_GOAL", "situation_plan"]

MONKEY_AXIOMS = (
    "~ONBOX(s0)",
    "AT(BOX, B, s0)",
    "AT(BANANAS, C, s0)",
    "~HB(s0)",
    "forall s. ONBOX(s) & AT(BOX, C, s) -> HB(grasp(s))",
    "forall s. ONBOX(climbbox(s))",
    "forall x s. ~ONBOX(s) -> AT(BOX, x, pushbox(x, s))",
)
"""The monkey and the bananas of Fu, Gonzalez & Lee (1987), Sec. 10.4, with the state s0 that the first facts lack."""

MONKEY_FRAME = "forall x s. AT(BOX, x, s) -> AT(BOX, x, climbbox(s))"
"""The frame axiom that Sec. 10.4 lacks: the box stays where it is while the monkey climbs it."""

MONKEY_GOAL = "exists s. HB(s)"
"""In some state the monkey has the bananas."""


def situation_plan(state: str | Term) -> tuple[tuple[str, ...], ...]:
    """The operators that lead to a state, the first one first, each as its name and its arguments.

        >>> situation_plan("grasp(climbbox(pushbox(C, s0)))")
        (('pushbox', 'C'), ('climbbox',), ('grasp',))

    The last argument of an operator is the state before it; the initial state is a constant.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    found = []
    inside = term(state, "situation_plan")
    while isinstance(inside, Function) and inside.arguments:
        found.append((inside.name, *map(str, inside.arguments[:-1])))
        inside = inside.arguments[-1]
    if isinstance(inside, Variable):
        raise ArgumentError(f"situation_plan: the plan begins in any state {inside}; a constant such as s0 is needed")
    return tuple(found[::-1])
