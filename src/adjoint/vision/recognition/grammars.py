"""String grammars: rules of syntax that generate sentences of symbols.

A grammar (8.5-10) of Fu, Gonzalez & Lee, "Robotics" (1987), is G = (N, Σ, P, S): nonterminals, terminals, productions
and a start symbol. Its language is the set of sentences of terminals that productions make of the start symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import ArgumentError
from ...model.input_checks import count
from .symbols import Reader, quoted

__all__ = ["Grammar", "Production", "parse_grammar", "sentences_of_grammar"]

_EMPTY = ("λ", "ε")
LONGEST = 2000  # symbols of sentences, or nodes of trees, that are generated
_MANY = 100_000  # sentences of one nonterminal and one length that `sentences_of_grammar` makes at most


class Production(NamedTuple):
    """A rewriting rule `left` → `right`: a nonterminal, and the symbols that may stand in its place."""

    left: str
    right: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.left} -> {' '.join(self.right) or _EMPTY[0]}"


@dataclass(frozen=True)
class Grammar:
    """A grammar G = (N, Σ, P, S) whose productions are regular or context-free (8.5-10).

    - `nonterminals` and `terminals` are disjoint tuples of symbols, which are texts.
    - `productions` are pairs (left, right); number 1 is the first, as in the textbook. Right sides are not empty,
      except that the start symbol may have one if it is on no right side: the empty sentence is then in the language.
    - `start` is a nonterminal.

    `kind` is "regular" if all productions have the form A → aB or A → a, else "context-free". `parse_grammar` reads a
    grammar from text.

        >>> wrench = Grammar("SAB", "abc", [("S", "aA"), ("A", "bA"), ("A", "bB"), ("B", "c")], "S")
        >>> wrench.kind
        'regular'
    """

    nonterminals: tuple[str, ...]
    terminals: tuple[str, ...]
    productions: tuple[Production, ...]
    start: str

    def __post_init__(self):
        nonterminals, terminals = _symbols(self.nonterminals, "nonterminals"), _symbols(self.terminals, "terminals")
        object.__setattr__(self, "nonterminals", nonterminals)
        object.__setattr__(self, "terminals", terminals)
        object.__setattr__(self, "productions", _productions(self.productions))
        both = set(nonterminals) & set(terminals)
        if both:
            raise ArgumentError(f"Grammar: {quoted(both)} is a nonterminal and a terminal; it must be one of both")
        if not isinstance(self.start, str) or self.start not in nonterminals:
            raise ArgumentError(f"Grammar: the start symbol {self.start!r} is not one of {', '.join(nonterminals)}")
        self._check_productions()

    def _check_productions(self) -> None:
        nonterminals = set(self.nonterminals)
        known = nonterminals | set(self.terminals)
        inside = {symbol for _, right in self.productions for symbol in right}
        for number, (left, right) in enumerate(self.productions, 1):
            name = f"Grammar: production {number}, {Production(left, right)},"
            if left not in nonterminals:
                raise ArgumentError(f"{name} rewrites {left!r}, which is no nonterminal")
            unknown = [symbol for symbol in right if symbol not in known]
            if unknown:
                raise ArgumentError(f"{name} has the symbol {unknown[0]!r}, which is neither nonterminal nor terminal")
            if not right and (left != self.start or left in inside):
                raise ArgumentError(
                    f"{name} is empty; only a start symbol that is on no right side may become the empty sentence"
                )

    @property
    def kind(self) -> str:
        """The kind of the grammar by the form of its productions: "regular" or "context-free"."""
        terminals, nonterminals = set(self.terminals), set(self.nonterminals)
        regular = all(
            not right or (right[0] in terminals and (len(right) == 1 or (len(right) == 2 and right[1] in nonterminals)))
            for _, right in self.productions
        )
        return "regular" if regular else "context-free"

    @property
    def has_empty_sentence(self) -> bool:
        """Whether the empty sentence is in the language."""
        return any(not right for _, right in self.productions)

    def __str__(self) -> str:
        rules = "\n".join(f"{number}. {production}" for number, production in enumerate(self.productions, 1))
        return f"{self.kind} grammar, start {self.start}\n{rules}"


def _symbols(symbols: Iterable[str], name: str) -> tuple[str, ...]:
    try:
        found = tuple(dict.fromkeys(symbols))
    except TypeError:
        raise ArgumentError(f"Grammar: {name} must be symbols, such as 'SAB' or ('S', 'A1'), got {symbols!r}") from None
    bad = [symbol for symbol in found if not isinstance(symbol, str) or not symbol]
    if bad:
        raise ArgumentError(f"Grammar: {name} must be texts that are not empty, got {bad[0]!r}")
    return found


def _productions(productions) -> tuple[Production, ...]:
    try:
        found = tuple(Production(left, tuple(right)) for left, right in productions)
    except (TypeError, ValueError):
        example = "[('S', 'aA'), ('A', 'b')]"
        raise ArgumentError(f"Grammar: productions must be pairs (left, right), such as {example}") from None
    if not found:
        raise ArgumentError("Grammar: there are no productions; one is needed at least")
    if not all(isinstance(symbol, str) for left, right in found for symbol in (left, *right)):
        raise ArgumentError("Grammar: symbols of productions must be texts")
    return found


def parse_grammar(text: str, *, start: str | None = None) -> Grammar:
    """The `Grammar` that a text describes, one nonterminal in a line or between semicolons.

        >>> wrench = parse_grammar("S -> aA; A -> bA | bB; B -> c")
        >>> wrench.terminals, len(wrench.productions)
        (('a', 'b', 'c'), 4)

    A capital letter is a nonterminal, any other character is a terminal, and digits, `_` and `'` after a letter
    belong to it: A1, s8. Spaces separate symbols where this would be wrong, as in "S 0". Other names are written
    <body> for a nonterminal and "edge" for a terminal. `λ` or `ε` stands for the empty sentence, and `#` begins a
    comment. `start` is the left side of the first production by default.
    """
    reader = Reader(text, "parse_grammar")
    rules: list[Production] = []
    terminals: dict[str, None] = {}
    while reader.more_rules():
        left = reader.nonterminal("the left side of a production")
        reader.expect("->", f"after {left}")
        while True:
            right = _right_side(reader, terminals, left)
            rules.append(Production(left, right))
            if not reader.skip("|"):
                break
    if not rules:
        raise ArgumentError("parse_grammar: the text has no productions, such as S -> aS | b")
    return _with_symbols(reader, rules, terminals, rules[0].left if start is None else start)


def _right_side(reader: Reader, terminals: dict[str, None], left: str) -> tuple[str, ...]:
    symbols, empty = [], False
    while (token := reader.symbol()) is not None:
        if token.kind == "terminal" and token.name in _EMPTY:
            empty = True
            continue
        if token.kind == "terminal":
            terminals[token.name] = None
        symbols.append(token.name)
    if empty == bool(symbols):
        raise reader.error(f"a production of {left} needs symbols on its right side, or λ alone")
    return tuple(symbols)


def _with_symbols(reader: Reader, rules: list[Production], terminals, start: str) -> Grammar:
    """The grammar of rules in which every nonterminal has a production."""
    nonterminals = dict.fromkeys(rule.left for rule in rules)
    for number, (left, right) in enumerate(rules, 1):
        for symbol in right:
            if symbol not in terminals and symbol not in nonterminals:
                raise ArgumentError(
                    f"{reader.caller}: production {number}, {Production(left, right)}, has the nonterminal {symbol}, "
                    f"for which there is no production"
                )
    return Grammar(tuple(nonterminals), tuple(terminals), tuple(rules), start)


def sentences_of_grammar(grammar: Grammar, length: int) -> tuple[tuple[str, ...], ...]:
    """All sentences of the language of a `grammar` that have at most `length` symbols, the shortest first.

        >>> ["".join(s) for s in sentences_of_grammar(parse_grammar("S -> aA; A -> bA | bB; B -> c"), 5)]
        ['abc', 'abbc', 'abbbc']

    Sentences are tuples of terminals; those of one length are in alphabetical order. The length is 2000
    at most. An `ArgumentError` says so if there are more than 100 000 of one length for one nonterminal.
    """
    if not isinstance(grammar, Grammar):
        raise ArgumentError(f"sentences_of_grammar: a Grammar is needed, got {type(grammar).__name__}")
    length = generated_size(length, "sentences_of_grammar: length")
    words = _Words(grammar)
    found = [()] if grammar.has_empty_sentence else []
    for n in range(1, length + 1):
        words.extend(n)
        found += sorted(words.of[grammar.start][n])
    return tuple(found)


def generated_size(size, label: str) -> int:
    """Return the size of what is generated if it is a whole number that is not too large."""
    if count(size, label) > LONGEST:
        raise ArgumentError(f"{label} is {size}; it must be {LONGEST} or less")
    return int(size)


class _Words:
    """Sentences of every symbol by their length: of[symbol][n] is a set of tuples of n terminals."""

    def __init__(self, grammar: Grammar):
        self.of: dict[str, list[set]] = {t: [set(), {(t,)}] for t in grammar.terminals}
        self.of |= {A: [set()] for A in grammar.nonterminals}
        self.units: list[tuple[str, str]] = []
        self.longer: list[Production] = []
        for production in grammar.productions:
            if len(production.right) == 1:
                self.units.append((production.left, production.right[0]))
            elif production.right:
                self.longer.append(production)

    def extend(self, n: int) -> None:
        """Add the sentences of length n; all shorter ones are there."""
        for words in self.of.values():
            while len(words) <= n:
                words.append(set())
        for left, right in self.longer:
            self.of[left][n] |= self._joined(right, n)
        changed = True
        while changed:  # A → B hands on what B has
            changed = False
            for left, right in self.units:
                new = self.of[right][n] - self.of[left][n]
                self.of[left][n] |= new
                changed |= bool(new)

    def _joined(self, right: Sequence[str], n: int) -> set:
        """Sentences of n terminals of several symbols, each of which has a terminal at least."""
        begun: Mapping[int, set] = {0: {()}}
        for place, symbol in enumerate(right):
            after, last = len(right) - place - 1, place == len(right) - 1
            grown: dict[int, set] = {}
            for used, heads in begun.items():
                for size in [n - used] if last else range(1, n - used - after + 1):
                    tails = self.of[symbol][size] if heads else set()
                    _few(len(heads) * len(tails))
                    if tails:
                        grown.setdefault(used + size, set()).update(h + t for h in heads for t in tails)
            begun = grown
        return begun.get(n, set())


def _few(number: int) -> None:
    if number > _MANY:
        raise ArgumentError(
            f"sentences_of_grammar: there are more than {_MANY} of one length; a smaller 'length' has fewer"
        )


def __dir__() -> list[str]:
    return __all__
