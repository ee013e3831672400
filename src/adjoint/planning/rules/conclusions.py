"""What rules concluded: facts with certainties, the firings in their order, and the explanation of every fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...display import counted
from ...errors import ArgumentError, nearest
from ...lazy import cached_property
from ..strips.task_types import Fact
from .certainty import BELIEVED
from .evidence import Evidence, Firing
from .matching import match
from .rule_types import fact_words, sentence

__all__ = ["Conclusions", "Question"]


@dataclass(frozen=True)
class Question:
    """A fact that was asked for, the `rule` that needed it ("" if it was the goal), and the certainty of the answer.

    >>> from adjoint.planning.rules import backward_chain, knowledge_base
    >>> backward_chain(knowledge_base("ASK hot"), "hot", ask=lambda fact: True).questions
    (Question(fact=('hot',), rule='', answer=1.0),)
    """

    fact: Fact
    rule: str
    answer: float


@dataclass(frozen=True, repr=False)
class Conclusions:
    """The facts that rules concluded from given ones, with certainties, and why.

        >>> from adjoint.planning.rules import forward_chain, knowledge_base
        >>> forward_chain(knowledge_base("IF a THEN b"), ["a"])
        <Conclusions: 2 facts, 1 firing>

    - `facts` is {fact: certainty factor} of all facts that are there; a fact is believed if its certainty is above 0.2.
    - `firings` are the rules that fired, in their order; `given` the facts at the start; `questions` what was asked.
    - `finished` is False if the budget ended first; `reason` then tells which.
    - `goal` is what backward chaining was asked for, and `answers` are the believed facts that fit it.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.10.
    """

    facts: Mapping[Fact, float]
    firings: tuple[Firing, ...]
    given: Mapping[Fact, float]
    reasons: Mapping[Fact, tuple[Firing, ...]]
    finished: bool = True
    reason: str = ""
    questions: tuple[Question, ...] = ()
    goal: Fact = ()

    @cached_property
    def believed(self) -> frozenset[Fact]:
        """The facts whose certainty is above 0.2."""
        return frozenset(fact for fact, certainty in self.facts.items() if certainty > BELIEVED)

    @property
    def answers(self) -> dict[Fact, float]:
        """{fact: certainty factor} of the believed facts that fit the goal, the most certain first."""
        fits = [x for x in self.believed if self.goal and match(self.goal, x, {}) is not None]
        return {fact: self.facts[fact] for fact in sorted(fits, key=lambda x: (-self.facts[x], x))}

    def certainty(self, fact: str | Fact) -> float:
        """The certainty factor of a fact, from -1 to 1; 0 if nothing is known about it."""
        return self.facts.get(fact_words(fact), 0.0)

    def holds(self, fact: str | Fact) -> bool:
        """Whether a fact is believed."""
        return self.certainty(fact) > BELIEVED

    def how(self, fact: str | Fact) -> str:
        """How a fact was concluded, as a tree: the rules that gave evidence, their premises, how these were concluded.

        >>> from adjoint.planning.rules import forward_chain, knowledge_base
        >>> rules = knowledge_base("RULE backup: IF power fails AND backup available THEN switch CF 0.8")
        >>> print(forward_chain(rules, {"power fails": 0.9, "backup available": 1.0}).how("switch"))
        switch: 0.72
          by rule backup (CF 0.8)
            power fails: 0.9, given
            backup available: 1, given
        """
        words = self._known(fact)
        lines: list[str] = []
        told: set[Fact] = set()
        ahead: list[tuple[int, Fact | str]] = [(0, words)]
        while ahead:
            depth, x = ahead.pop()
            if isinstance(x, str):
                lines.append("  " * depth + x)
                continue
            firings = self.reasons.get(x, ())
            again = ", see above" if x in told and firings else ""
            lines.append("  " * depth + self._told(x) + again)
            if not again:
                ahead += reversed([line for firing in firings for line in self._because(firing, depth + 1)])
            told.add(x)
        return "\n".join(lines)

    def why(self, fact: str | Fact) -> str:
        """Why a fact matters, as a tree: the rules that used it, what they concluded, and what followed from that."""
        words = self._known(fact)
        lines: list[str] = []
        told: set[Fact] = set()
        ahead: list[tuple[int, Fact, str]] = [(0, words, "")]
        while ahead:
            depth, x, by = ahead.pop()
            uses = [firing for firing in self.firings if x in firing.premises]
            again = ", see above" if x in told and uses else ""
            lines.append("  " * depth + by + self._told(x) + again)
            if not again:
                ahead += reversed([(depth + 1, y, f"by rule {f}: ") for f in uses for y in f.adds])
            told.add(x)
        return "\n".join(lines)

    def _because(self, firing: Firing, depth: int) -> list[tuple[int, Fact | str]]:
        lines: list[tuple[int, Fact | str]] = [(depth, f"by rule {firing} (CF {firing.rule.certainty:g})")]
        lines += [(depth + 1, premise) for premise in firing.premises]
        for pattern in firing.absent:
            came = any(match(pattern, fact, {}) is not None for fact in self.believed)
            lines.append((depth + 1, f"{sentence(pattern)}: not there{' when the rule fired' * came}"))
        return lines

    def _told(self, fact: Fact) -> str:
        shown = f"{self.facts[fact]:.3g}" if fact in self.facts else "deleted since"
        return f"{sentence(fact)}: {shown}{', given' if fact in self.given else ''}"

    def _known(self, fact: str | Fact) -> Fact:
        words = fact_words(fact)
        if words not in self.facts and not any(words in firing.premises for firing in self.firings):
            known = [sentence(x) for x in self.facts]
            raise ArgumentError(f"nothing is known about '{sentence(words)}'; {nearest(sentence(words), known)}")
        return words

    def __str__(self) -> str:
        lines = [f"{sentence(fact)}: {certainty:.3g}" for fact, certainty in self.facts.items()]
        return "\n".join([*lines, *([self.reason] if self.reason else [])])

    def __repr__(self) -> str:
        ended = "" if self.finished else f", not finished: {self.reason}"
        return f"<Conclusions: {counted(len(self.facts), 'fact')}, {counted(len(self.firings), 'firing')}{ended}>"


def conclusions(evidence: Evidence, firings: list[Firing], given: Mapping[Fact, float], **more) -> Conclusions:
    """The conclusions that some evidence stands for."""
    reasons = {fact: tuple(all_) for fact, all_ in evidence.reasons.items() if all_}
    return Conclusions(dict(evidence.certainty), tuple(firings), dict(given), reasons, **more)
