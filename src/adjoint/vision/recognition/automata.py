"""Finite automata, the recognisers of regular languages.

An automaton (8.5-11) of Fu, Gonzalez & Lee, "Robotics" (1987), is A = (Q, Σ, δ, q0, F): states, an alphabet, a
mapping δ from a state and a symbol to a set of states, a start and final states.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import ArgumentError, SolveError
from .symbols import symbols_of

__all__ = [
    "Automaton",
    "AutomatonRun",
    "determinized",
    "minimized",
    "run_automaton",
    "same_language",
    "shortest_difference",
]

_STATES = 20_000  # of a deterministic automaton, at most


@dataclass(frozen=True, eq=False)
class Automaton:
    """A finite automaton A = (Q, Σ, δ, q0, F), deterministic or not (8.5-11).

    - `states` are any hashable values, such as numbers or names; `alphabet` has texts.
    - `transitions` {(state, symbol): states}: where the automaton may go; one state alone may stand for a set of one.
      What is not listed leads nowhere.
    - `start` is a state and `final` are states: a sentence is accepted if it can lead from the start to one of them.

    `deterministic` is True if no transition has a choice. Automata are compared by `same_language`.

        >>> automaton = Automaton(
        ...     range(3), "ab", {(0, "a"): 2, (0, "b"): 1, (1, "a"): 2, (1, "b"): 0, (2, "a"): 0, (2, "b"): 1}, 0, {0}
        ... )
        >>> run_automaton(automaton, "abbabb").path
        (0, 2, 1, 0, 2, 1, 0)
    """

    states: tuple[Any, ...]
    alphabet: tuple[str, ...]
    transitions: Mapping[Any, Any]
    start: Hashable
    final: frozenset

    def __post_init__(self):
        states, alphabet = (_unique(x, name) for x, name in ((self.states, "states"), (self.alphabet, "alphabet")))
        if not all(isinstance(symbol, str) and symbol for symbol in alphabet):
            raise ArgumentError("Automaton: symbols of the alphabet must be texts that are not empty")
        final = frozenset(_unique(self.final, "final"))
        strange = [q for q in (self.start, *final) if not _is_state(q, set(states))]
        if strange:
            raise ArgumentError(f"Automaton: {strange[0]!r} is the start or final, and is not among the states")
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "alphabet", alphabet)
        object.__setattr__(self, "transitions", MappingProxyType(_transitions(self.transitions, states, alphabet)))
        object.__setattr__(self, "final", final)

    @property
    def deterministic(self) -> bool:
        """Whether there is never a choice."""
        return all(len(targets) == 1 for targets in self.transitions.values())

    def step(self, states: frozenset, symbol: str) -> frozenset:
        """Where a symbol can lead from one of some states."""
        return frozenset(q for state in states for q in self.transitions.get((state, symbol), ()))

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "nondeterministic"
        return f"<Automaton, {kind}: {len(self.states)} states, alphabet {', '.join(self.alphabet)}>"

    def __reduce__(self):
        return Automaton, (self.states, self.alphabet, dict(self.transitions), self.start, self.final)


def _unique(values, name: str) -> tuple:
    try:
        return tuple(dict.fromkeys(values))
    except TypeError:
        raise ArgumentError(f"Automaton: {name} must be several hashable values, got {values!r:.80}") from None


def _transitions(given, states: tuple, alphabet: tuple[str, ...]) -> dict:
    known, symbols, found = set(states), set(alphabet), {}
    order = {q: k for k, q in enumerate(states)}
    if not isinstance(given, Mapping):
        raise ArgumentError("Automaton: transitions must be a dict, such as {(0, 'a'): {1, 2}}")
    for key, targets in given.items():
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] in known and key[1] in symbols):
            raise ArgumentError(f"Automaton: a transition has the key {key!r:.80}; (state, symbol) is needed")
        if _is_state(targets, known):
            targets = (targets,)
        if not isinstance(targets, set | frozenset | tuple | list) or not all(_is_state(q, known) for q in targets):
            raise ArgumentError(f"Automaton: transition {key!r:.80} leads to {targets!r:.80}, which are not all states")
        if targets:
            found[key] = tuple(sorted(dict.fromkeys(targets), key=lambda q: order[q]))
    return found


def _is_state(value, known: set) -> bool:
    try:
        return value in known
    except TypeError:
        return False


def need_automaton(automaton, caller: str) -> None:
    """Raise an `ArgumentError` if the argument is no automaton."""
    if not isinstance(automaton, Automaton):
        raise ArgumentError(f"{caller}: an Automaton is needed, got {type(automaton).__name__}")


# --- runs -------------------------------------------------------------------------------------------------------------


class AutomatonRun(NamedTuple):
    """What an automaton does with a sentence: whether it is `accepted`, and the states it went through.

    `sets` has the states that are possible before the first symbol and after each one; the last set is empty if no
    state is left, and symbols after that are not read. `path` is one way through them: an accepting one if there is
    one.
    """

    accepted: bool
    sets: tuple[frozenset, ...]
    path: tuple[Hashable, ...]


def run_automaton(automaton: Automaton, sentence: str | Sequence[str]) -> AutomatonRun:
    """The `AutomatonRun` of a `sentence`, a text or a sequence of symbols.

    >>> wrench = Automaton(range(4), "abc", {(0, "a"): 1, (1, "b"): (1, 2), (2, "c"): 3}, 0, {3})
    >>> run_automaton(wrench, "abbc")
    AutomatonRun(accepted=True, sets=(frozenset({0}), ..., frozenset({3})), path=(0, 1, 1, 2, 3))
    """
    need_automaton(automaton, "run_automaton")
    symbols = symbols_of(sentence, automaton.alphabet, "run_automaton")
    sets = [frozenset([automaton.start])]
    for symbol in symbols:
        sets.append(automaton.step(sets[-1], symbol))
        if not sets[-1]:
            break
    accepted = bool(sets[-1] & automaton.final)
    last = sets if sets[-1] else sets[:-1]
    ends = last[-1] & automaton.final if accepted else last[-1]
    order = {q: k for k, q in enumerate(automaton.states)}
    path = [min(ends, key=order.__getitem__)]
    for k in reversed(range(len(last) - 1)):
        before = [q for q in last[k] if path[-1] in automaton.transitions.get((q, symbols[k]), ())]
        path.append(min(before, key=order.__getitem__))
    return AutomatonRun(accepted, tuple(sets), tuple(reversed(path)))


# --- other automata with the same language ----------------------------------------------------------------------------


def determinized(automaton: Automaton) -> Automaton:
    """The deterministic `Automaton` with the same language: each of its states is a set of states (Rabin & Scott 1959).

        >>> wrench = Automaton(range(4), "abc", {(0, "a"): 1, (1, "b"): (1, 2), (2, "c"): 3}, 0, {3})
        >>> determinized(wrench).states
        (0, 1, 2, 3)

    States are numbers in the order in which sentences reach them, 0 the start; what leads nowhere is left out. There
    may be 2ⁿ of them: a `SolveError` says so beyond 20 000.
    """
    need_automaton(automaton, "determinized")
    numbers = {frozenset([automaton.start]): 0}
    found, transitions = list(numbers), {}
    for subset in found:
        for symbol in automaton.alphabet:
            target = automaton.step(subset, symbol)
            if not target:
                continue
            if target not in numbers:
                numbers[target] = len(found)
                found.append(target)
                if len(found) > _STATES:
                    raise SolveError(f"determinized: the automaton needs more than {_STATES} states")
            transitions[numbers[subset], symbol] = numbers[target]
    final = {k for subset, k in numbers.items() if subset & automaton.final}
    return Automaton(tuple(range(len(found))), automaton.alphabet, transitions, 0, frozenset(final))


def minimized(automaton: Automaton) -> Automaton:
    """The deterministic `Automaton` with the same language that has the fewest states.

        >>> twice = Automaton(range(3), "a", {(0, "a"): 1, (1, "a"): 2, (2, "a"): 1}, 0, {0, 2})
        >>> minimized(twice).states
        (0, 1)

    States that no sentence tells apart become one (Hopcroft 1971), and states from which nothing is accepted are left
    out, except the start. Numbers are those of `determinized`, so automata with one alphabet and language become equal.
    """
    need_automaton(automaton, "minimized")
    automaton = determinized(automaton)
    n, nowhere = len(automaton.states), len(automaton.states)
    after = [[automaton.transitions.get((q, a), (nowhere,))[0] for a in automaton.alphabet] for q in range(n)]
    after.append([nowhere] * len(automaton.alphabet))
    block = _blocks(after, automaton.final)
    dead = block[nowhere]
    pairs = [(q, a, p) for q in range(n) for a, p in zip(automaton.alphabet, after[q], strict=True)]
    transitions = {(block[q], a): block[p] for q, a, p in pairs if dead not in (block[q], block[p])}
    merged = Automaton(
        tuple(dict.fromkeys(block)), automaton.alphabet, transitions, block[0],
        frozenset(block[q] for q in automaton.final),
    )  # fmt: skip
    return determinized(merged)


def _blocks(after: list[list[int]], final) -> list[int]:
    """The block of each state: those in one block are told apart by no sentence.

    A set of states splits every block that a symbol leads into it only in part; of both halves, the smaller one is
    such a set again, so that each state is looked at O(log n) times.
    """
    n = len(after)
    before: list[list[list[int]]] = [[[] for _ in range(n)] for _ in after[0]]
    for q, targets in enumerate(after):
        for a, p in enumerate(targets):
            before[a][p].append(q)
    blocks = [set(final), set(range(n)) - set(final)]
    block = [int(q not in final) for q in range(n)]
    waiting = [(min((0, 1), key=lambda k: len(blocks[k])), a) for a in range(len(before))]
    while waiting:
        k, a = waiting.pop()
        inside: dict[int, set[int]] = {}
        for p in blocks[k]:
            for q in before[a][p]:
                inside.setdefault(block[q], set()).add(q)
        for j, part in inside.items():
            if len(part) == len(blocks[j]):
                continue
            blocks[j] -= part
            small, large = sorted((blocks[j], part), key=len)
            blocks[j] = large  # whoever waits with number j has one half, and the other gets a number of its own
            blocks.append(small)
            for q in small:
                block[q] = len(blocks) - 1
            waiting += [(len(blocks) - 1, b) for b in range(len(before))]
    return block


def shortest_difference(first: Automaton, second: Automaton) -> tuple[str, ...] | None:
    """A shortest sentence that only one of two automata accepts, or None if their languages are the same.

    >>> even = Automaton(range(2), "a", {(0, "a"): 1, (1, "a"): 0}, 0, {0})
    >>> every = Automaton(range(1), "a", {(0, "a"): 0}, 0, {0})
    >>> shortest_difference(even, every)
    ('a',)
    """
    need_automaton(first, "shortest_difference")
    need_automaton(second, "shortest_difference")
    alphabet = tuple(dict.fromkeys((*first.alphabet, *second.alphabet)))
    begin = (frozenset([first.start]), frozenset([second.start]))
    came: dict[tuple, tuple] = {begin: ()}
    waiting = [begin]
    for pair in waiting:  # the pairs of sets that sentences lead to, the shortest first
        if bool(pair[0] & first.final) != bool(pair[1] & second.final):
            return _way(came, pair)
        for symbol in alphabet:
            target = (first.step(pair[0], symbol), second.step(pair[1], symbol))
            if target not in came:
                came[target] = (pair, symbol)
                waiting.append(target)
        if len(waiting) > _STATES:
            raise SolveError(f"shortest_difference: more than {_STATES} pairs of states would have to be compared")
    return None


def _way(came: dict, pair) -> tuple[str, ...]:
    word = []
    while came[pair]:
        pair, symbol = came[pair]
        word.append(symbol)
    return tuple(reversed(word))


def same_language(first: Automaton, second: Automaton) -> bool:
    """Whether two automata accept the same sentences; symbols that one of them does not know are refused by it.

    >>> even = Automaton(range(2), "a", {(0, "a"): 1, (1, "a"): 0}, 0, {0})
    >>> same_language(even, minimized(even))
    True
    """
    return shortest_difference(first, second) is None


def __dir__() -> list[str]:
    return __all__
