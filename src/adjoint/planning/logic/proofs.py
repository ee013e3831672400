"""Proofs by resolution: their steps, the answer that they give, and what would have been needed where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...display import counted
from .clauses import Clause, Literal
from .formulas import Formula, Not
from .terms import Term

__all__ = ["Proof", "ProofStep"]


class ProofStep(NamedTuple):
    """A clause of a proof: the numbers of the clauses that it follows from, and how, such as "resolve" or "axiom 2".

    >>> from adjoint.planning.logic import prove
    >>> prove(["P"], "P").steps[-1]
    ProofStep(clause=<Clause contradiction>, parents=(1, 2), how='resolve')
    """

    clause: Clause
    parents: tuple[int, ...]
    how: str


@dataclass(frozen=True, repr=False)
class Proof:
    """A proof of `goal`, or why there is none; it is true if the goal is proved, and `print` explains it.

        >>> from adjoint.planning.logic import prove
        >>> prove(["P", "P -> Q"], "Q")
        <Proof of Q: proved, 5 steps>

    | `status` | |
    |---|---|
    | "proved" | the negated goal and the axioms contradict each other; `steps` lead to the contradiction |
    | "not provable" | no further clause follows: the goal does not follow from the axioms, if these are consistent |
    | "budget" | the search was stopped, as the `reason` says |

    - `answers` are {variable: term} for what the goal says to exist. More than one means that one of them is right, and
      that no proof of a single one was found; the `reason` tells whether there is none, if the axioms are consistent,
      or the search for it was stopped.
    - `open_goals` are literals that the search came to need, and that no axiom can give: what may be missing.
    - `statistics` are {"generated": ..., "kept": ..., "seconds": ...}, of all searches together.
    - `reason` tells what ended the search, or why there is no single answer.

    Reference: Robinson (1965), Journal of the ACM 12; Green (1969), "Application of theorem proving to problem
    solving", for the answers.
    """

    goal: Formula
    status: str
    steps: tuple[ProofStep, ...] = ()
    answers: tuple[Mapping[str, Term], ...] = ()
    open_goals: tuple[Formula, ...] = ()
    reason: str = ""
    statistics: Mapping[str, float] = field(default_factory=dict, compare=False)

    def __bool__(self) -> bool:
        return self.status == "proved"

    @property
    def answer(self) -> Mapping[str, Term] | None:
        """What the variables of the goal stand for; None without a proof, or if the proof has several answers."""
        return self.answers[0] if len(self.answers) == 1 else None

    def __str__(self) -> str:
        head = f"{self.goal}: {self.status}" + (f" ({self.reason})" if self.reason else "")
        if not self:
            needed = [f"  nothing says that  {literal}" for literal in self.open_goals]
            return "\n".join([head, *needed])
        wide = max(len(str(step.clause)) for step in self.steps)
        lines = [
            f"{i:4}  {step.clause!s:{wide}}  {' and '.join(map(str, step.parents))}{' ' * bool(step.parents)}{step.how}"
            for i, step in enumerate(self.steps, 1)
        ]
        answers = [f"{'or' if i else 'answer':>8}  {_answer_text(answer)}" for i, answer in enumerate(self.answers)]
        return "\n".join([head, *lines, *answers])

    def __repr__(self) -> str:
        steps = f", {counted(len(self.steps), 'step')}" if self else ""
        told = f", answer {_answer_text(self.answer)}" if self.answer else ""
        return f"<Proof of {self.goal}: {self.status}{steps}{told}>"


def _answer_text(answer: Mapping[str, Term]) -> str:
    return ", ".join(f"{name} = {term}" for name, term in answer.items())


def negated(literal: Literal) -> Formula:
    """The opposite of a literal, as a formula."""
    return Not(literal.atom) if literal.positive else literal.atom
