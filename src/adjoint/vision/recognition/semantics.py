"""Semantics: what productions mean. Rules compute values along a derivation and refuse what makes no sense.

Syntax says how primitives are joined; semantics say how long they are, where they point, and how often a production
may be applied. Fu, Gonzalez & Lee, "Robotics" (1987), §8.5.2, "Use of Semantics".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ...errors import ArgumentError
from .charts import Derivation, all_derivations
from .grammars import Grammar
from .symbols import symbols_of
from .tree_grammars import TreeDerivation, TreeGrammar, tree_derivations
from .trees import Tree, as_tree

__all__ = ["Meaning", "Primitive", "Refusal", "check_semantics"]

_TRIED = 1000  # derivations of an ambiguous sentence that are looked at


class Primitive(NamedTuple):
    """A symbol of a sentence with a `value`: its length, its direction, or whatever semantic rules want to know.

    A symbol that is given alone is its own value.
    """

    symbol: str
    value: Any = None


class Refusal(NamedTuple):
    """What a semantic rule returns if what it sees makes no sense, with the `reason` in words."""

    reason: str


class Meaning(NamedTuple):
    """The meaning of a sentence: whether it is `accepted`, the `value` of its start symbol, and the `derivation` used.

    If it is not accepted, `reason` says why: there is no derivation, or why the first one was refused.
    """

    accepted: bool
    value: Any
    derivation: Derivation | TreeDerivation | None
    reason: str


def check_semantics(
    grammar: Grammar | TreeGrammar,
    sentence: Sequence[Primitive | str] | Tree | str,
    *,
    rules: Mapping[int, Callable[..., Any]] | None = None,
    at_most: Mapping[int, int] | None = None,
    same_count: Sequence[Iterable[int]] = (),
) -> Meaning:
    """The `Meaning` of a sentence: a derivation with productions applied as often as they may, whose rules agree.

        >>> from adjoint.vision.recognition.grammars import parse_grammar
        >>> wrench = parse_grammar("S -> aA; A -> bA | bB; B -> c")
        >>> check_semantics(wrench, "a" + 12 * "b" + "c", at_most={2: 10}).reason
        'production 2, A -> b A, is applied 11 times; at most 10 are allowed'

    - `sentence` has symbols or `Primitive`s; for a `TreeGrammar` it is a tree, whose nodes may have a `value`.
    - `rules` {number of a production: function}: the function gets one argument for each symbol of the right side,
      the value of a primitive or what the rule of a nonterminal has returned; for a tree, the value of the node, and
      then one for each child. It returns the value of the left side, or a `Refusal`. Without a rule, this is the
      tuple of arguments.
    - `at_most` {number: times} limits how often a production is applied.
    - `same_count` has groups of numbers of productions that must be applied equally often.

    An ambiguous sentence or tree is accepted if one of its first 1000 derivations is.
    """
    rules, at_most, groups = _checked(grammar, rules, at_most, same_count)
    first: Meaning | None = None
    for found, nodes in islice(_nodes(grammar, sentence), _TRIED):
        reason = _counted(grammar, found.counts, at_most, groups)
        value = None if reason else _evaluated(grammar, nodes, rules)
        if isinstance(value, Refusal):
            value, reason = None, value.reason
        if not reason:
            return Meaning(True, value, found, "")
        first = first or Meaning(False, None, found, reason)
    return first or Meaning(False, None, None, "the grammar has no derivation of it")


def _checked(grammar, rules, at_most, same_count) -> tuple[dict, dict, list[tuple[int, ...]]]:
    if not isinstance(grammar, Grammar | TreeGrammar):
        raise ArgumentError(f"check_semantics: a Grammar or TreeGrammar is needed, got {type(grammar).__name__}")
    rules, at_most = (x if x is not None else {} for x in (rules, at_most))
    whole = isinstance(rules, Mapping) and isinstance(at_most, Mapping)
    if not (whole and all(map(callable, rules.values())) and all(isinstance(k, int) for k in at_most.values())):
        raise ArgumentError("check_semantics: rules must be {number: function}, and at_most {number: times}")
    if not isinstance(same_count, list | tuple) or not all(isinstance(group, Iterable) for group in same_count):
        raise ArgumentError("check_semantics: same_count must be groups of numbers, such as [(2, 4, 6)]")
    groups, n = [tuple(group) for group in same_count], len(grammar.productions)
    numbers = (*rules, *at_most, *(k for group in groups for k in group))
    wrong = [k for k in numbers if not isinstance(k, int) or not 1 <= k <= n]
    if wrong:
        raise ArgumentError(f"check_semantics: there is no production {wrong[0]!r}; they are numbered 1 to {n}")
    return dict(rules), dict(at_most), groups


def _counted(grammar, counts: dict[int, int], at_most: dict[int, int], groups) -> str:
    """Why productions are applied too often, or not equally often; else an empty text."""
    for number, most in at_most.items():
        if counts.get(number, 0) > most:
            name = f"production {number}, {grammar.productions[number - 1]},"
            return f"{name} is applied {counts[number]} times; at most {most} are allowed"
    for group in groups:
        times = [counts.get(number, 0) for number in group]
        if len(set(times)) > 1:
            numbers, found = (", ".join(map(str, x)) for x in (group, times))
            return f"productions {numbers} must be applied equally often; they are applied {found} times"
    return ""


def _nodes(grammar, sentence) -> Iterator[tuple[Any, list[tuple[int, list]]]]:
    """Derivations, each with its productions (number, arguments); an argument is [value] or the place of a node."""
    if isinstance(grammar, TreeGrammar):
        tree = as_tree(sentence, "check_semantics")
        for found in tree_derivations(grammar, tree):
            yield found, _tree_nodes(found, tree)
        return
    if isinstance(sentence, str):
        sentence = symbols_of(sentence, grammar.terminals, "check_semantics")
    try:
        primitives = [x if isinstance(x, Primitive) else Primitive(x, x) for x in sentence]  # type: ignore[arg-type]
    except TypeError:
        name = type(sentence).__name__
        raise ArgumentError(f"check_semantics: a sentence is a text, symbols or Primitives, got {name}") from None
    for found in all_derivations(grammar, [p.symbol for p in primitives], "check_semantics"):
        yield found, _string_nodes(found, [p.value for p in primitives])


def _string_nodes(found: Derivation, values: Sequence) -> list[tuple[int, list]]:
    """The productions of a leftmost derivation, with the values of primitives and the places of nonterminals' nodes."""
    known, given, numbers = set(found.grammar.terminals), iter(values), iter(found.productions)
    nodes: list[tuple[int, list]] = []
    waiting: list[tuple[str, list | None]] = [(found.grammar.start, None)]
    while waiting:
        symbol, owner = waiting.pop()
        if symbol in known:
            assert owner is not None
            owner.append([next(given)])
            continue
        if owner is not None:
            owner.append(len(nodes))
        number, arguments = next(numbers), []
        nodes.append((number, arguments))
        waiting += [(x, arguments) for x in reversed(found.grammar.productions[number - 1].right)]
    return nodes


def _tree_nodes(found: TreeDerivation, tree: Tree) -> list[tuple[int, list]]:
    pairs = zip(found.productions, tree.nodes(), tree.places(), strict=True)
    return [(number, [[node.value], *places]) for number, node, places in pairs]


def _evaluated(grammar, nodes: list[tuple[int, list]], rules: dict[int, Callable]) -> Any:
    """The value of the first node, or the first `Refusal`; children come after their parents in the list."""
    values: list[Any] = [None] * len(nodes)
    for k in reversed(range(len(nodes))):
        number, arguments = nodes[k]
        given = tuple(x[0] if isinstance(x, list) else values[x] for x in arguments)
        values[k] = rules[number](*given) if number in rules else given
        if isinstance(values[k], Refusal):
            return Refusal(f"production {number}, {grammar.productions[number - 1]}: {values[k].reason}")
    return values[0]


def __dir__() -> list[str]:
    return __all__
