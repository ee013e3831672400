"""Tree grammars: productions that grow trees of primitives, and the tree automaton that recognises them.

A tree grammar (8.5-12) of Fu, Gonzalez & Lee, "Robotics" (1987), is G = (N, Σ, P, r, S), where the ranking r says how
many children a terminal may have. Productions here are expansive, A → a(A1 ... An): a terminal above nonterminals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import ArgumentError
from .grammars import generated_size
from .symbols import Reader, listed
from .trees import Tree, as_tree

__all__ = [
    "TreeDerivation", "TreeGrammar", "TreeProduction", "count_tree_derivations", "parse_tree_grammar",
    "tree_derivation", "tree_states", "trees_of_grammar",
]  # fmt: skip

_MANY = 2_000_000  # nodes of all trees that `trees_of_grammar` makes


class TreeProduction(NamedTuple):
    """An expansive production `left` → `label`(`children`): a terminal whose children, if any, are nonterminals."""

    left: str
    label: str
    children: tuple[str, ...] = ()

    def __str__(self) -> str:
        below = f"({', '.join(self.children)})" if self.children else ""
        return f"{self.left} -> {self.label}{below}"


@dataclass(frozen=True)
class TreeGrammar:
    """A tree grammar G = (N, Σ, P, r, S) with expansive productions (8.5-12).

    `productions` are (left, label, children); number 1 is the first. `start` is a nonterminal. `ranks` {label:
    numbers} say how many children a terminal may have; they are those of the productions by default, and checked if
    they are given. `parse_tree_grammar` reads a grammar from text.

        >>> grammar = TreeGrammar([("S", "a", ["A"]), ("A", "b", ["A"]), ("A", "c")], "S")
        >>> grammar.ranks["a"]
        (1,)
    """

    productions: tuple[TreeProduction, ...]
    start: str
    ranks: Mapping[str, tuple[int, ...]] = field(default=None, hash=False)  # type: ignore[assignment]

    def __post_init__(self):
        try:
            found = tuple(TreeProduction(p[0], p[1], tuple(p[2]) if len(p) > 2 else ()) for p in self.productions)
        except (TypeError, IndexError, KeyError):
            found = ()
        if not found or not all(isinstance(name, str) and name for p in found for name in (p[0], p[1], *p[2])):
            raise ArgumentError("TreeGrammar: productions must be (left, label, children) of texts, and one at least")
        object.__setattr__(self, "productions", found)
        lefts, labels = {p.left for p in found}, {p.label for p in found}
        if not isinstance(self.start, str) or self.start not in lefts:
            raise ArgumentError(f"TreeGrammar: the start symbol {self.start!r} has no production")
        for number, production in enumerate(found, 1):
            strange = [A for A in production.children if A not in lefts]
            if strange or production.left in labels:
                why = f"{strange[0]!r} has no production" if strange else f"{production.left!r} is a terminal elsewhere"
                raise ArgumentError(f"TreeGrammar: production {number}, {production}: {why}")
        object.__setattr__(self, "ranks", MappingProxyType(self._checked_ranks()))

    def _checked_ranks(self) -> dict[str, tuple[int, ...]]:
        used: dict[str, set[int]] = {}
        for production in self.productions:
            used.setdefault(production.label, set()).add(len(production.children))
        if self.ranks is None:
            return {label: tuple(sorted(numbers)) for label, numbers in used.items()}
        try:
            given = {a: tuple(sorted({n} if isinstance(n, int) else set(n))) for a, n in dict(self.ranks).items()}
        except (TypeError, ValueError):
            raise ArgumentError("TreeGrammar: ranks must be a dict {label: numbers}, such as {'a': (0, 1)}") from None
        for number, production in enumerate(self.productions, 1):
            if len(production.children) not in given.get(production.label, ()):
                ranks = ", ".join(map(str, given.get(production.label, ()))) or "none"
                raise ArgumentError(
                    f"TreeGrammar: production {number}, {production}, gives {production.label!r} "
                    f"{len(production.children)} children; its ranks are {ranks}"
                )
        return given

    @property
    def nonterminals(self) -> tuple[str, ...]:
        """The nonterminals, in the order in which productions rewrite them."""
        return tuple(dict.fromkeys(p.left for p in self.productions))

    @property
    def terminals(self) -> tuple[str, ...]:
        """The labels of nodes, in order."""
        return tuple(dict.fromkeys(p.label for p in self.productions))

    def __str__(self) -> str:
        rules = "\n".join(f"{number}. {production}" for number, production in enumerate(self.productions, 1))
        return f"tree grammar, start {self.start}\n{rules}"

    def __reduce__(self):
        return TreeGrammar, (self.productions, self.start, dict(self.ranks))


def parse_tree_grammar(text: str, *, start: str | None = None, ranks: Mapping[str, Iterable[int]] | None = None):
    """The `TreeGrammar` that a text describes; symbols are those of `parse_grammar`.

        >>> legs = parse_tree_grammar("S -> a(A1); A1 -> b(A1) | c(A2, A3); A2 -> d(A2) | a; A3 -> e(A3) | a")
        >>> len(legs.productions), legs.ranks["a"]
        (7, (0, 1))

    `ranks` {label: numbers} are checked if they are given: they find the textbook's misprint A2 → e.
    """
    reader = Reader(text, "parse_tree_grammar")
    rules: list[TreeProduction] = []
    while reader.more_rules():
        left = reader.nonterminal("the left side of a production")
        reader.expect("->", f"after {left}")
        while True:
            token = reader.peek()
            if token is None or token.kind != "terminal":
                raise reader.error("a right side begins with a terminal, such as the a of a(A, B)")
            reader.symbol()
            rules.append(TreeProduction(left, token.name, _children(reader)))
            if reader.peek() is not None and reader.peek().kind == "end":  # type: ignore[union-attr]
                reader.symbol()  # a bar may follow on a new line
            if not reader.skip("|"):
                break
    if not rules:
        raise ArgumentError("parse_tree_grammar: the text has no productions, such as S -> a(S, S) | b")
    return TreeGrammar(tuple(rules), rules[0].left if start is None else start, ranks)  # type: ignore[arg-type]


def _children(reader: Reader) -> tuple[str, ...]:
    if not reader.skip("("):
        return ()
    names = [reader.nonterminal("a child")]
    while reader.skip(","):
        names.append(reader.nonterminal("a child"))
    reader.expect(")", "after the children")
    return tuple(names)


# --- recognition ------------------------------------------------------------------------------------------------------


class TreeDerivation(NamedTuple):
    """A derivation of a tree: the numbers of its `productions`, counted from 1, root first and then child by child.

    `counts` {number: times} says how often each production is applied.
    """

    productions: tuple[int, ...]
    grammar: TreeGrammar

    @property
    def counts(self) -> dict[int, int]:
        """How often each production that is applied at all is applied."""
        return dict(sorted(Counter(self.productions).items()))


def _ways(grammar: TreeGrammar, tree: Tree) -> list[dict[str, int]]:
    """For each node in preorder, {nonterminal: number of derivations of the subtree}: a bottom-up tree automaton."""
    nodes = tree.nodes()
    by_node: dict[tuple[str, int], list[TreeProduction]] = {}
    for production in grammar.productions:
        by_node.setdefault((production.label, len(production.children)), []).append(production)
    states: list[dict[str, int]] = [{} for _ in nodes]
    waiting: list[int] = []  # roots of subtrees to the right, the next child last
    for k in reversed(range(len(nodes))):
        n = len(nodes[k].children)
        below = [states[waiting.pop()] for _ in range(n)]
        for left, _, children in by_node.get((nodes[k].label, n), ()):
            ways = 1
            for A, state in zip(children, below, strict=True):
                ways *= state.get(A, 0)
            if ways:
                states[k][left] = states[k].get(left, 0) + ways
        waiting.append(k)
    return states


def tree_states(grammar: TreeGrammar, tree) -> tuple[frozenset[str], ...]:
    """The states of the bottom-up tree automaton at the nodes of a `tree`, in the order root, then child by child.

        >>> legs = parse_tree_grammar("S -> a(A1); A1 -> b(A1) | c(A2, A3); A2 -> d(A2) | a; A3 -> e(A3) | a")
        >>> [sorted(states) for states in tree_states(legs, "a(c(a, a))")]
        [['S'], ['A1'], ['A2', 'A3'], ['A2', 'A3']]

    The state of a node is the set of nonterminals that become its subtree; the tree is accepted if that of the root has
    the start symbol. Trees are `Tree`, texts or nested tuples.
    """
    return tuple(frozenset(state) for state in _ways(*_checked(grammar, tree, "tree_states")))


def count_tree_derivations(grammar: TreeGrammar, tree) -> int:
    """The number of derivations of a `tree`; it is 0 if the `grammar` does not generate it.

    >>> count_tree_derivations(parse_tree_grammar("S -> a(A) | a(B); A -> b; B -> b"), "a(b)")
    2
    """
    return _ways(*_checked(grammar, tree, "count_tree_derivations"))[0].get(grammar.start, 0)


def tree_derivation(grammar: TreeGrammar, tree) -> TreeDerivation | None:
    """The first `TreeDerivation` of a `tree`, or None if the `grammar` does not generate it.

    >>> legs = parse_tree_grammar("S -> a(A1); A1 -> b(A1) | c(A2, A3); A2 -> d(A2) | a; A3 -> e(A3) | a")
    >>> tree_derivation(legs, "a(b(c(d(a), e(a))))").counts
    {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1}
    """
    return next(tree_derivations(*_checked(grammar, tree, "tree_derivation")), None)


def tree_derivations(grammar: TreeGrammar, tree: Tree) -> Iterator[TreeDerivation]:
    """All derivations of a tree, one by one: what is still to be rewritten are pairs ((nonterminal, node), rest)."""
    states, nodes, places = _ways(grammar, tree), tree.nodes(), tree.places()
    by_node: dict[tuple, list[tuple[int, tuple[str, ...]]]] = {}
    for number, (left, label, children) in enumerate(grammar.productions, 1):
        by_node.setdefault((left, label, len(children)), []).append((number, children))
    open_ends: list[tuple] = [(((grammar.start, 0), None), None)] if grammar.start in states[0] else []
    while open_ends:
        waiting, chosen = open_ends.pop()
        if waiting is None:
            yield TreeDerivation(listed(chosen), grammar)
            continue
        (A, k), rest = waiting
        for number, children in reversed(by_node.get((A, nodes[k].label, len(places[k])), [])):
            if all(B in states[place] for B, place in zip(children, places[k], strict=True)):
                below = rest
                for child in reversed(list(zip(children, places[k], strict=True))):
                    below = (child, below)
                open_ends.append((below, (number, chosen)))


def _checked(grammar, tree, caller: str) -> tuple[TreeGrammar, Tree]:
    if not isinstance(grammar, TreeGrammar):
        raise ArgumentError(f"{caller}: a TreeGrammar is needed, got {type(grammar).__name__}")
    return grammar, as_tree(tree, caller)


# --- generation -------------------------------------------------------------------------------------------------------


def trees_of_grammar(grammar: TreeGrammar, size: int) -> tuple[Tree, ...]:
    """All trees that a `grammar` generates with at most `size` nodes, 2000 or less, the smallest first.

    An `ArgumentError` says so if they have more than two million nodes together.

    >>> legs = parse_tree_grammar("S -> a(A1); A1 -> b(A1) | c(A2, A3); A2 -> d(A2) | a; A3 -> e(A3) | a")
    >>> [str(tree) for tree in trees_of_grammar(legs, 5)]
    ['a(c(a, a))', 'a(b(c(a, a)))', 'a(c(a, e(a)))', 'a(c(d(a), a))']
    """
    if not isinstance(grammar, TreeGrammar):
        raise ArgumentError(f"trees_of_grammar: a TreeGrammar is needed, got {type(grammar).__name__}")
    size = generated_size(size, "trees_of_grammar: size")
    found: dict[str, list[set[Tree]]] = {A: [set()] for A in grammar.nonterminals}
    numbers = _numbers(grammar)
    total = 0
    for n in range(1, size + 1):
        total += n * next(numbers)
        if total > _MANY:
            raise ArgumentError(f"trees_of_grammar: trees of up to {n} nodes have {total} nodes in all, above {_MANY}")
        new: dict[str, set[Tree]] = {A: set() for A in grammar.nonterminals}
        for left, label, children in grammar.productions:
            new[left].update(Tree(label, below) for below in _forests(children, n - 1, found))
        for A in new:
            found[A].append(new[A])
    return tuple(tree for some in found[grammar.start] for tree in sorted(some, key=str))


def _numbers(grammar: TreeGrammar) -> Iterator[int]:
    """How many derivations of trees of 1, 2, 3 ... nodes there are, of all nonterminals together."""
    trees: dict[str, list[int]] = {A: [0] for A in grammar.nonterminals}
    # forests[i][m]: how many rows of trees the first i children of a production have, with m nodes together
    rules = [(left, children, [[1], *([0] for _ in children)]) for left, _, children in grammar.productions]
    for n in count_from(1):
        new = dict.fromkeys(trees, 0)
        for left, _, forests in rules:
            new[left] += forests[-1][n - 1]
        for A, number in new.items():
            trees[A].append(number)
        for _, children, forests in rules:
            forests[0].append(0)
            for i, A in enumerate(children, 1):
                forests[i].append(sum(trees[A][m] * forests[i - 1][n - m] for m in range(1, n + 1) if trees[A][m]))
        yield sum(new.values())


def _forests(children: tuple[str, ...], n: int, found: dict[str, list[set[Tree]]]) -> Iterable[tuple[Any, ...]]:
    """Rows of trees, one for each nonterminal, with n nodes together."""
    if len(children) <= 1:
        return [(tree,) for tree in found[children[0]][n]] if children else ([()] if n == 0 else [])
    first, rest = children[0], children[1:]
    return [
        (head, *tail)
        for m in range(1, n)
        if found[first][m]
        for head, tail in product(found[first][m], list(_forests(rest, n - m, found)))
    ]


def __dir__() -> list[str]:
    return __all__
