"""Languages of grammars and automata: which sentences are in one, and which of several has a sentence.

Equation and rule numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), §8.5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ...errors import ArgumentError
from .automata import Automaton, need_automaton, run_automaton
from .charts import checked_symbols, in_language
from .grammars import Grammar, Production
from .tree_grammars import TreeGrammar, tree_states

__all__ = ["SyntacticClass", "accepts", "automaton_of_grammar", "classify_by_grammars", "grammar_of_automaton"]


def automaton_of_grammar(grammar: Grammar) -> Automaton:
    """The nondeterministic `Automaton` whose language is that of a regular `grammar`.

        >>> from adjoint.vision.recognition.grammars import parse_grammar
        >>> wrench = automaton_of_grammar(parse_grammar("S -> aA; A -> bA | bB; B -> c"))
        >>> wrench.transitions[1, "b"], sorted(wrench.final)
        ((1, 2), [3])

    State i stands for nonterminal i, and 0 for the start symbol; n + 1 is final. (1) Xi → a Xj becomes a transition
    to j, and (2) Xi → a one to n + 1. If the empty sentence is in the language, the start is final as well: no
    transition leads to it, since the start symbol of such a grammar is on no right side.
    """
    if not isinstance(grammar, Grammar) or grammar.kind != "regular":
        kind = f"a {grammar.kind} one" if isinstance(grammar, Grammar) else type(grammar).__name__
        raise ArgumentError(
            f"automaton_of_grammar: a regular grammar is needed, with productions A -> aB and A -> a, got {kind}"
        )
    return _automaton(grammar)


@lru_cache(maxsize=64)
def _automaton(grammar: Grammar) -> Automaton:
    order = [grammar.start, *(A for A in grammar.nonterminals if grammar.start != A)]
    number = {A: k for k, A in enumerate(order)}
    last = len(order)
    transitions: dict[tuple[int, str], set[int]] = {}
    for left, right in grammar.productions:
        if right:
            target = number[right[1]] if len(right) == 2 else last
            transitions.setdefault((number[left], right[0]), set()).add(target)
    final = {last, 0} if grammar.has_empty_sentence else {last}
    return Automaton(tuple(range(last + 1)), grammar.terminals, transitions, 0, frozenset(final))  # type: ignore[arg-type]


def grammar_of_automaton(automaton: Automaton) -> Grammar:
    """The regular `Grammar` whose language is that of an `automaton`.

        >>> even = Automaton(range(2), "a", {(0, "a"): 1, (1, "a"): 0}, 0, {0})
        >>> print(grammar_of_automaton(even))
        regular grammar, start S
        1. S -> λ
        2. S -> a X1
        3. X0 -> a X1
        4. X1 -> a X0
        5. X1 -> a

    Xi stands for state i in the order of `states`, the start first: (1) a transition by a to j becomes Xi → a Xj, and
    (2) Xi → a if j is final. By these rules of the textbook the empty sentence is lost if the start is final, as it
    is in the textbook's own example. Here, a start symbol S that is on no right side then has the productions of X0,
    and S → λ. Productions that lead to no sentence are left out.
    """
    need_automaton(automaton, "grammar_of_automaton")
    order = [automaton.start, *(q for q in automaton.states if q != automaton.start)]
    name = {q: f"X{k}" for k, q in enumerate(order)}
    useful = _useful(automaton)
    rules = []
    for q in order:
        for a in automaton.alphabet:
            for p in automaton.transitions.get((q, a), ()):
                rules += [Production(name[q], (a, name[p]))] if p in useful else []
                rules += [Production(name[q], (a,))] if p in automaton.final else []
    rules, start = list(dict.fromkeys(rules)), "X0"
    if automaton.start in automaton.final:
        first = [Production("S", right) for left, right in rules if left == "X0"]
        again = {right[1] for _, right in rules if len(right) == 2}
        rules = [Production("S", ()), *first, *(rule for rule in rules if rule.left != "X0" or "X0" in again)]
        start = "S"
    if not rules:  # the language is empty: a production that never ends says so
        if not automaton.alphabet:
            raise ArgumentError("grammar_of_automaton: the automaton accepts nothing, and its alphabet has no symbol")
        rules = [Production("X0", (automaton.alphabet[0], "X0"))]
    nonterminals = dict.fromkeys([start, *(rule.left for rule in rules)])
    return Grammar(tuple(nonterminals), automaton.alphabet, tuple(rules), start)


def _useful(automaton: Automaton) -> set:
    """The states from which at least one more symbol leads to a final state."""
    before: dict = {}
    for (q, _), targets in automaton.transitions.items():
        for p in targets:
            before.setdefault(p, []).append(q)
    useful, waiting = set(), list(automaton.final)
    while waiting:
        new = set(before.get(waiting.pop(), ())) - useful
        useful |= new
        waiting += new
    return useful


def accepts(language, sentence) -> bool:
    """Whether a sentence is in the language of a `Grammar` or an `Automaton`, or a tree in that of a `TreeGrammar`.

        >>> from adjoint.vision.recognition.grammars import parse_grammar
        >>> wrench = parse_grammar("S -> aA; A -> bA | bB; B -> c")
        >>> accepts(wrench, "abbc"), accepts(wrench, "ac")
        (True, False)

    A sentence is a text or a sequence of symbols; symbols that the language does not have make it False. Regular
    grammars are read by their automaton, in time that grows with the length; context-free ones by a chart (see
    `derivation`).
    """
    if isinstance(language, TreeGrammar):
        return language.start in tree_states(language, sentence)[0]
    if isinstance(language, Automaton):
        return run_automaton(language, sentence).accepted
    if not isinstance(language, Grammar):
        raise ArgumentError(f"accepts: a Grammar, TreeGrammar or Automaton is needed, got {type(language).__name__}")
    symbols = checked_symbols(language, sentence, "accepts")
    if language.kind == "regular":
        return run_automaton(_automaton(language), symbols).accepted
    return in_language(language, symbols)


class SyntacticClass(NamedTuple):
    """The class of a sentence: its `name` if only one language has it, else None.

    `verdict` is "accepted", "rejected" (no language has it) or "ambiguous" (several do); `accepted_by` names those
    that do.
    """

    name: str | None
    verdict: str
    accepted_by: tuple[str, ...]


def classify_by_grammars(grammars: Mapping[str, Grammar | Automaton | TreeGrammar], sentence) -> SyntacticClass:
    """The `SyntacticClass` of a sentence or tree: that of the only one of `grammars` {class: grammar} which accepts it.

    >>> from adjoint.vision.recognition.grammars import parse_grammar
    >>> classes = {"wrench": parse_grammar("S -> aA; A -> bA | bB; B -> c"), "rod": parse_grammar("S -> bS | b")}
    >>> classify_by_grammars(classes, "abbc")
    SyntacticClass(name='wrench', verdict='accepted', accepted_by=('wrench',))
    """
    if not isinstance(grammars, Mapping) or not grammars:
        raise ArgumentError("classify_by_grammars: grammars must be a dict {class: grammar} with one class at least")
    accepting = tuple(name for name, language in grammars.items() if accepts(language, sentence))
    verdict = ("rejected", "accepted", "ambiguous")[min(len(accepting), 2)]
    return SyntacticClass(accepting[0] if len(accepting) == 1 else None, verdict, accepting)


def __dir__() -> list[str]:
    return __all__
