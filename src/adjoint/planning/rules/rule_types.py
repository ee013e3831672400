"""Rules and knowledge bases as frozen data: IF conditions THEN actions, with a certainty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ...display import counted
from ...errors import ArgumentError, nearest
from ...lazy import cached_property
from ...program.instructions import NOWHERE, Source, Span
from ..limits import check_kind
from ..strips.task_types import Condition, Fact

__all__ = ["KnowledgeBase", "Rule", "fact_words"]

LONGEST = 100  # conditions or actions of a rule


def is_variable(word: str) -> bool:
    """Whether a word of a fact is a variable, such as ?x."""
    return word.startswith("?")


def fact_words(fact: str | Fact) -> Fact:
    """A fact as a tuple of words, from such a tuple or from a text.

    >>> fact_words("power fails")
    ('power', 'fails')
    """
    words = tuple(fact.split()) if isinstance(fact, str) else fact
    if not _is_fact(words):
        raise ArgumentError(f"a fact is words, such as 'power fails' or ('power', 'fails'), got {fact!r:.60}")
    return words


def _is_fact(words) -> bool:
    return isinstance(words, tuple) and bool(words) and all(isinstance(word, str) and word for word in words)


def _check_facts(where: str, facts, what: str) -> None:
    """Refuse what is no tuple of facts that are tuples of words; a text would fall apart into its letters."""
    check_kind(where, facts, tuple, what)
    for fact in facts:
        if not _is_fact(fact):
            raise ArgumentError(f"{where}: {what} has {fact!r:.60}; a fact is words, such as ('power', 'fails')")


def sentence(fact: Fact) -> str:
    """A fact as text."""
    return " ".join(fact)


@dataclass(frozen=True, repr=False)
class Rule:
    """A production rule: if its conditions hold, it adds and deletes facts.

        >>> rule = Rule("backup", Condition((("power", "fails"), ("backup", "?b"))), adds=(("switch", "to", "?b"),))
        >>> print(rule)
        RULE backup: IF power fails AND backup ?b THEN switch to ?b

    - `needs` are facts that must be there, facts that must be `absent`, and words that differ. Words that begin with
      "?" are variables; one that stands only in an absent fact means that no such fact may be there, whatever it is.
    - `certainty` is the certainty factor from -1 to 1 of what the rule adds if its conditions are certain.
    - Of several rules that could fire, the one of the highest `salience` does.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.10.2.
    """

    name: str
    needs: Condition
    adds: tuple[Fact, ...] = ()
    deletes: tuple[Fact, ...] = ()
    certainty: float = 1.0
    salience: int = 0
    at: Span = field(default=NOWHERE, compare=False)

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f"the name of a rule must be a text, got {self.name!r:.60}")
        where = f"rule '{self.name}'"
        check_kind(where, self.needs, Condition, "needs")
        for what in ("facts", "absent", "different"):
            _check_facts(where, getattr(self.needs, what), f"needs.{what}")
        for what in ("adds", "deletes"):
            _check_facts(where, getattr(self, what), what)
        if longer := [pair for pair in self.needs.different if len(pair) != 2]:
            raise ArgumentError(f"{where}: needs.different has {longer[0]!r:.60}; it has pairs of words")
        if isinstance(self.salience, bool) or not isinstance(self.salience, int):
            raise ArgumentError(f"{where}: salience must be a whole number, got {self.salience!r:.60}")
        if not (self.adds or self.deletes):
            raise ArgumentError(f"rule '{self.name}' neither adds nor deletes a fact")
        if self.needs.same:
            raise ArgumentError(f"rule '{self.name}' compares words for being the same; write one variable twice")
        if not isinstance(self.certainty, (int, float)) or not -1 <= self.certainty <= 1 or self.certainty == 0:
            raise ArgumentError(f"rule '{self.name}' has the certainty {self.certainty}; it is from -1 to 1, and not 0")
        bound = {word for fact in self.needs.facts for word in fact if is_variable(word)}
        for what, words in self._words_that_need_a_value():
            for word in words:
                if is_variable(word) and word not in bound:
                    raise ArgumentError(f"rule '{self.name}': {word} in {what} stands in no condition that holds")

    def _words_that_need_a_value(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from ((f"'{sentence(fact)}'", fact) for fact in (*self.adds, *self.deletes))
        yield from ((f"'{a} <> {b}'", (a, b)) for a, b in self.needs.different)

    @property
    def specificity(self) -> int:
        """The number of conditions: R1 prefers rules that have more of them (Sec. 10.10.2)."""
        return len(self.needs.facts) + len(self.needs.absent) + len(self.needs.different)

    def __str__(self) -> str:
        needs = [sentence(fact) for fact in self.needs.facts]
        needs += [f"NOT {sentence(fact)}" for fact in self.needs.absent]
        needs += [f"{a} <> {b}" for a, b in self.needs.different]
        does = [sentence(fact) for fact in self.adds] + [f"NOT {sentence(fact)}" for fact in self.deletes]
        salience = f" SALIENCE {self.salience}" if self.salience else ""
        certainty = f" CF {self.certainty:g}" if self.certainty != 1 else ""
        condition = f"IF {' AND '.join(needs)} " if needs else ""
        return f"RULE {self.name}{salience}: {condition}THEN {' AND '.join(does)}{certainty}"

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, repr=False)
class KnowledgeBase:
    """Rules in their order, and `askable` facts, which may have variables, that a user or a sensor can be asked for.

    >>> KnowledgeBase((Rule("alarm", Condition((("fire",),)), adds=(("ring",),)),))
    <KnowledgeBase: 1 rule>
    """

    rules: tuple[Rule, ...]
    askable: tuple[Fact, ...] = ()
    source: Source | None = field(default=None, compare=False)

    def __post_init__(self):
        for rule in self.rules if isinstance(self.rules, tuple) else (self.rules,):
            check_kind("KnowledgeBase", rule, Rule, "each of `rules`, a tuple,")
        _check_facts("KnowledgeBase", self.askable, "askable")
        names = [rule.name for rule in self.rules]
        twice = [name for name, other in zip(sorted(names), sorted(names)[1:], strict=False) if name == other]
        if twice:
            raise ArgumentError(f"a knowledge base has several rules with the name '{twice[0]}'")

    @cached_property
    def _by_name(self) -> dict[str, Rule]:
        return {rule.name: rule for rule in self.rules}

    def rule(self, name: str) -> Rule:
        """The rule of a name."""
        if name not in self._by_name:
            raise ArgumentError(f"the knowledge base has no rule '{name}'; {nearest(name, list(self._by_name))}")
        return self._by_name[name]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rules), *(f"ASK {sentence(fact)}" for fact in self.askable)])

    def __repr__(self) -> str:
        asked = f", {len(self.askable)} askable" if self.askable else ""
        return f"<KnowledgeBase: {counted(len(self.rules), 'rule')}{asked}>"


Facts = Iterable[str | Fact] | Mapping[Fact, float] | Mapping[str, float]
"""Facts, or {fact: certainty factor}; a fact is a tuple of words or a text."""


def given_facts(facts: Facts, caller: str) -> dict[Fact, float]:
    """The facts that are given with their certainty, which is 1 if none is given."""
    if isinstance(facts, str):
        raise ArgumentError(f"{caller}: facts are a list; put '{facts:.60}' into brackets")
    if not isinstance(facts, Iterable):
        raise ArgumentError(f"{caller}: facts are a list, got {type(facts).__name__}")
    items = list(facts.items()) if isinstance(facts, Mapping) else [(fact, 1.0) for fact in facts]
    if isinstance(facts, (set, frozenset)):
        items.sort(key=lambda item: fact_words(item[0]))  # the order decides between rules, and a set has none
    found = {}
    for fact, certainty in items:
        words = fact_words(fact)
        if any(map(is_variable, words)):
            raise ArgumentError(f"{caller}: the fact '{sentence(words)}' has a variable")
        found[words] = checked_certainty(certainty, f"{caller}: the certainty of '{sentence(words)}'")
    return found


def checked_certainty(value, what: str) -> float:
    """A certainty factor, if it is one."""
    if not isinstance(value, (int, float)) or not -1 <= value <= 1:
        raise ArgumentError(f"{what} must be a number from -1 to 1, got {value!r:.60}")
    return float(value)
