"""Which sentences a grammar generates, and by which productions: a chart that is filled bit-parallel.

The chart of Cocke, Younger & Kasami says for every symbol X, place i and place j whether X becomes the symbols i ...
j - 1 of the sentence. Here, `ends[X][i]` is a whole number whose bit j says so, and `starts[X][j]` one whose bit i
does. A pair X Y makes i ... j if some place k between is an end of X from i and a start of Y to j: ends[X][i] &
starts[Y][j] ≠ 0, which is one operation for all k. Productions need no normal form: A → X Y Z is read as (X Y) Z, and
A → B hands on what B has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from ...errors import ArgumentError
from ...model.input_checks import count
from .grammars import Grammar, Production
from .symbols import listed, symbols_of

__all__ = ["Derivation", "derivation", "derivations"]

_WORK = 40_000_000  # pairs of symbols at places of a chart, of which a second looks at a few millions
_LONGEST = 2000  # symbols of a sentence for a chart, which has the square of this many entries


class Derivation(NamedTuple):
    """A leftmost derivation of a sentence: the numbers of its `productions` in order, counted from 1.

    `forms` are the strings of symbols between the start symbol and the sentence, both included: each follows from the
    one before by rewriting its leftmost nonterminal. `counts` {number: times} says how often each production is
    applied.
    """

    productions: tuple[int, ...]
    grammar: Grammar

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The strings of symbols from the start symbol to the sentence, one more than there are productions."""
        form: list[str] = [self.grammar.start]
        found, nonterminals, place = [tuple(form)], set(self.grammar.nonterminals), 0
        for number in self.productions:
            while form[place] not in nonterminals:
                place += 1
            form[place : place + 1] = self.grammar.productions[number - 1].right
            found.append(tuple(form))
        return tuple(found)

    @property
    def counts(self) -> dict[int, int]:
        """How often each production that is applied at all is applied."""
        return dict(sorted(Counter(self.productions).items()))

    def __str__(self) -> str:
        return " => ".join("".join(form) or "λ" for form in self.forms)


def derivation(grammar: Grammar, sentence: str | Sequence[str]) -> Derivation | None:
    """The first leftmost `Derivation` of a `sentence`, or None if it is not in the language of the `grammar`.

        >>> from adjoint.vision.recognition.grammars import parse_grammar
        >>> wrench = parse_grammar("S -> aA; A -> bA | bB; B -> c")
        >>> derivation(wrench, "abbbbbc").productions
        (1, 2, 2, 2, 2, 3, 4)
        >>> print(derivation(wrench, "abbc"))
        S => aA => abA => abbB => abbc

    The sentence is a text or a sequence of symbols. For regular grammars, the time grows with its length; for others,
    with the square of its length, which is 2000 at most, and less for grammars of many productions. Cocke & Schwartz
    (1970), Younger (1967), Kasami (1965).
    """
    return next(iter(all_derivations(grammar, sentence, "derivation")), None)


def derivations(grammar: Grammar, sentence: str | Sequence[str], *, limit: int = 100) -> tuple[Derivation, ...]:
    """All leftmost derivations of a `sentence`, at most `limit`: more than one if the grammar is ambiguous.

        >>> from adjoint.vision.recognition.grammars import parse_grammar
        >>> len(derivations(parse_grammar("S -> SS | a"), "aaaa"))
        5

    Derivations that run in a circle, such as A ⇒ B ⇒ A, are left out: there is no end of them.
    """
    limit = count(limit, "derivations: limit")
    return tuple(islice(all_derivations(grammar, sentence, "derivations"), limit))


def in_language(grammar: Grammar, symbols: tuple[str, ...]) -> bool:
    """Whether a chart finds the symbols in the language of a grammar."""
    if not symbols:
        return grammar.has_empty_sentence
    return bool(_chart(_rules(grammar), symbols)[0][grammar.start][0] >> len(symbols) & 1)


class _Rules(NamedTuple):
    """Productions as a chart reads them. Pairs (X Y) are tuples of symbols; a right side is one, too.

    `pairs` [(whole, head, last)] join two neighbours; `above` {X: (all A with A ⇒* X by units)}, X included.
    """

    grammar: Grammar
    pairs: tuple[tuple[tuple[str, ...], object, str], ...]
    above: dict[Any, tuple[Any, ...]]
    by_left: dict[str, tuple[tuple[int, Production], ...]]


@lru_cache(maxsize=64)
def _rules(grammar: Grammar) -> _Rules:
    pairs: dict[tuple[str, ...], tuple[object, str]] = {}
    up: dict[object, list[object]] = {}
    by_left: dict[str, list[tuple[int, Production]]] = {A: [] for A in grammar.nonterminals}
    for number, production in enumerate(grammar.productions, 1):
        left, right = production
        by_left[left].append((number, production))
        for size in range(2, len(right) + 1):
            pairs[right[:size]] = (right[0] if size == 2 else right[: size - 1], right[size - 1])
        if right:
            up.setdefault(right[0] if len(right) == 1 else right, []).append(left)
    above = {x: tuple(_reached(x, up)) for x in (*grammar.terminals, *grammar.nonterminals, *pairs)}
    joins = tuple((whole, head, last) for whole, (head, last) in pairs.items())
    return _Rules(grammar, joins, above, {A: tuple(rules) for A, rules in by_left.items()})


def _reached(symbol, up: dict[object, list[object]]) -> list[object]:
    """The symbol and all nonterminals that become it by units."""
    found, seen = [symbol], {symbol}
    for x in found:
        new = [A for A in up.get(x, ()) if A not in seen]
        seen.update(new)
        found += dict.fromkeys(new)
    return found


def _chart(rules: _Rules, symbols: tuple[str, ...]):
    """The numbers `ends` {X: [n]} and `starts` {X: [n + 1]} of a sentence of n symbols, as the file says."""
    n = len(symbols)
    ends = {x: [0] * n for x in rules.above}
    starts = {x: [0] * (n + 1) for x in rules.above}
    known = set(rules.grammar.terminals)
    for i, symbol in enumerate(symbols):
        for A in rules.above[symbol] if symbol in known else ():
            ends[A][i] |= 1 << (i + 1)
            starts[A][i + 1] |= 1 << i
    joins = [(ends[head], starts[last], rules.above[whole]) for whole, head, last in rules.pairs]
    for size in range(2, n + 1):
        for i in range(n - size + 1):
            j = i + size
            for head, last, above in joins:
                if head[i] & last[j]:
                    for A in above:
                        ends[A][i] |= 1 << j
                        starts[A][j] |= 1 << i
    return ends, starts


def all_derivations(grammar: Grammar, sentence, caller: str) -> Iterator[Derivation]:
    """Leftmost derivations one by one: what is still to be rewritten lies on a list of (symbol, from, to)."""
    symbols = checked_symbols(grammar, sentence, caller)
    if not symbols:
        empty = [k for k, production in enumerate(grammar.productions, 1) if not production.right]
        yield from (Derivation((k,), grammar) for k in empty)
        return
    rules = _rules(grammar)
    if grammar.kind == "regular":
        yield from _regular_derivations(rules, symbols)
        return
    chart = _chart(rules, symbols)
    n, known = len(symbols), set(grammar.terminals)
    # Lists are pairs (first, rest), which all alternatives share; `units` are nonterminals of the same span before.
    open_ends: list[tuple] = [(((grammar.start, 0, n, ()), None), None)] if chart[0][grammar.start][0] >> n & 1 else []
    while open_ends:
        waiting, chosen = open_ends.pop()
        while waiting is not None and waiting[0][0] in known:
            waiting = waiting[1]
        if waiting is None:
            yield Derivation(listed(chosen), grammar)
            continue
        (x, i, j, units), rest = waiting
        open_ends += reversed(list(_choices(rules, chart, x, i, j, units, rest, chosen)))


def _regular_derivations(rules: _Rules, symbols: tuple[str, ...]) -> Iterator[Derivation]:
    """Derivations by productions A → aB and A → a; `good[i]` has the nonterminals that make symbols[i:]."""
    grammar, n = rules.grammar, len(symbols)
    good: list[set[str]] = [set() for _ in range(n + 1)]
    for i in reversed(range(n)):
        good[i] = {A for A, right in grammar.productions if _fits(right, symbols, i, good)}
    open_ends: list[tuple] = [(grammar.start, 0, None)]
    while open_ends:
        A, i, chosen = open_ends.pop()
        if i == n:
            yield Derivation(listed(chosen), grammar)
            continue
        fitting = [(k, p.right) for k, p in rules.by_left[A] if _fits(p.right, symbols, i, good)]
        open_ends += [(right[-1], i + 1, (k, chosen)) for k, right in reversed(fitting)]


def _fits(right: tuple[str, ...], symbols: tuple[str, ...], i: int, good: list[set[str]]) -> bool:
    """Whether the right side a makes the last symbol i, or aB makes all from symbol i on."""
    if not right or right[0] != symbols[i]:
        return False
    return i == len(symbols) - 1 if len(right) == 1 else right[1] in good[i + 1]


def _choices(rules: _Rules, chart, x, i: int, j: int, units: tuple, rest, chosen) -> Iterator[tuple]:
    """What the symbol or pair x from i to j can become, each as a pair of what waits and what is chosen."""
    ends, starts = chart
    if isinstance(x, tuple):  # the pair of `head` and `last`, at every place k between
        head, last = (x[0] if len(x) == 2 else x[:-1]), x[-1]
        common = ends[head][i] & starts[last][j]
        while common:
            k = (common & -common).bit_length() - 1
            common &= common - 1
            yield ((head, i, k, ()), ((last, k, j, ()), rest)), chosen
        return
    for number, production in rules.by_left[x]:
        right = production.right
        if len(right) == 1 and not _leads(rules, ends, right[0], i, j, (*units, x)):
            continue
        whole = right[0] if len(right) == 1 else right
        if right and ends[whole][i] >> j & 1:
            yield ((whole, i, j, (*units, x) if len(right) == 1 else ()), rest), (number, chosen)


def _leads(rules: _Rules, ends, x: str, i: int, j: int, used: tuple) -> bool:
    """Whether x becomes i ... j without the nonterminals that units have come through."""
    if x in used:
        return False
    if x not in rules.by_left:
        return bool(ends[x][i] >> j & 1)
    found, seen = [x], {x, *used}
    for A in found:
        for _, (_, right) in rules.by_left[A]:
            if len(right) > 1 and ends[right][i] >> j & 1:
                return True
            if len(right) == 1 and right[0] not in seen:
                if right[0] not in rules.by_left:
                    if ends[right[0]][i] >> j & 1:
                        return True
                else:
                    seen.add(right[0])
                    found.append(right[0])
    return False


def checked_symbols(grammar: Grammar, sentence, caller: str) -> tuple[str, ...]:
    """The symbols of a sentence that is not too long for a chart."""
    if not isinstance(grammar, Grammar):
        raise ArgumentError(f"{caller}: a Grammar is needed, as parse_grammar makes one, got {type(grammar).__name__}")
    symbols = symbols_of(sentence, grammar.terminals, caller)
    if len(symbols) > _LONGEST and grammar.kind != "regular":
        raise ArgumentError(f"{caller}: the sentence has {len(symbols)} symbols; at most {_LONGEST} can be parsed")
    if grammar.kind != "regular" and len(symbols) ** 2 // 2 * len(_rules(grammar).pairs) > _WORK:
        raise ArgumentError(
            f"{caller}: the sentence has {len(symbols)} symbols, too many for a grammar of this size: a chart "
            f"looks at each of {len(_rules(grammar).pairs)} pairs of symbols for all first and last places"
        )
    return symbols


def __dir__() -> list[str]:
    return __all__
