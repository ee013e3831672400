"""Trees of primitives: frozen, of any depth, from text or nested tuples."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ...errors import ArgumentError

__all__ = ["Tree", "as_tree", "parse_tree"]

_PIECES = re.compile(r"""\s*(?:"(?P<quoted>[^"]+)"|(?P<name>[^\s(),"]+)|(?P<mark>[(),])|(?P<wrong>.))""", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of primitives: the `label` of its root, and its `children`, which are trees.

    `value` is anything that semantic rules want to know about the root; trees are compared without it.

        >>> tree = Tree("a", (Tree("c", (Tree("a"), Tree("a"))),))
        >>> print(tree, len(tree.nodes()))
        a(c(a, a)) 4
    """

    label: str
    children: tuple[Tree, ...] = ()
    value: Any = field(default=None, repr=False)

    def __post_init__(self):
        try:
            children = tuple(self.children)
        except TypeError:
            children = (None,)
        object.__setattr__(self, "children", children)
        if not isinstance(self.label, str) or not self.label or not all(isinstance(x, Tree) for x in self.children):
            raise ArgumentError("Tree: a label, which is a text, and children, which are trees, are needed")

    def nodes(self) -> list[Tree]:
        """All subtrees, the root first, then child by child."""
        found: list[Tree] = []
        waiting: list[Tree] = [self]
        while waiting:
            tree = waiting.pop()
            found.append(tree)
            waiting += reversed(tree.children)
        return found

    def sizes(self) -> list[int]:
        """The number of nodes of each subtree, in the order of `nodes`."""
        nodes, waiting = self.nodes(), []
        sizes = [1] * len(nodes)
        for k in reversed(range(len(nodes))):
            for _ in nodes[k].children:
                sizes[k] += sizes[waiting.pop()]
            waiting.append(k)
        return sizes

    def places(self) -> list[list[int]]:
        """For each subtree, the numbers of its children in the order of `nodes`."""
        nodes, sizes, found = self.nodes(), self.sizes(), []
        for k, tree in enumerate(nodes):
            at, places = k + 1, []
            for _ in tree.children:
                places.append(at)
                at += sizes[at]
            found.append(places)
        return found

    def _key(self) -> tuple:
        return tuple((tree.label, len(tree.children)) for tree in self.nodes())

    def __eq__(self, other) -> bool:
        return isinstance(other, Tree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        pieces: list[str] = []
        waiting: list[Any] = [self]
        while waiting:
            tree = waiting.pop()
            if isinstance(tree, str):
                pieces.append(tree)
                continue
            pieces.append(tree.label if re.fullmatch(r'[^\s(),"]+', tree.label) else f'"{tree.label}"')
            if tree.children:
                between = [x for child in tree.children for x in (", ", child)]
                waiting += reversed(["(", *between[1:], ")"])
        return "".join(pieces)

    def __repr__(self) -> str:
        return f"<Tree {str(self)[:200]}>"


def parse_tree(text: str) -> Tree:
    """The `Tree` that a text such as "a(c(a, a))" describes; labels with spaces or brackets stand between quotes.

    >>> parse_tree("a(b, c)").children
    (<Tree b>, <Tree c>)
    """
    if not isinstance(text, str):
        raise ArgumentError(f"parse_tree: a text is needed, got {type(text).__name__}")
    open_nodes: list[tuple[str, list[Tree]]] = []  # from the root to here
    done: Tree | None = None  # the subtree that ends here
    label: str | None = None  # a label whose brackets may follow
    for match in [*_PIECES.finditer(text.rstrip()), None]:
        kind, piece = (match.lastgroup, match[match.lastgroup]) if match and match.lastgroup else ("end", "")
        place = match.start(match.lastgroup) if match and match.lastgroup else len(text)
        if label is not None and piece != "(":
            label, done = None, Tree(label)
        if kind in ("name", "quoted") and done is None:
            label = piece
        elif kind == "mark" and piece == "(" and label is not None:
            open_nodes.append((label, []))
            label = None
        elif kind == "mark" and piece in ",)" and done is not None and open_nodes:
            open_nodes[-1][1].append(done)
            done = None
            if piece == ")":
                name, children = open_nodes.pop()
                done = Tree(name, tuple(children))
        elif kind != "end" or done is None or open_nodes:
            what = f"{piece!r} does not belong there" if piece else "the text ends too early"
            raise ArgumentError(f"parse_tree: at character {place + 1}: {what}; a tree is written a(b, c(d))")
    assert done is not None
    return done


def as_tree(tree, caller: str) -> Tree:
    """The argument as a `Tree`: itself, a text, or nested tuples (label, child, child ...)."""
    if isinstance(tree, Tree):
        return tree
    if isinstance(tree, str):
        return parse_tree(tree)
    steps, waiting = [], [tree]  # labels and numbers of children, root first
    while waiting:
        item = waiting.pop()
        item = (item,) if isinstance(item, str) else item
        if isinstance(item, Tree):
            steps.append((item, 0))
            continue
        if not isinstance(item, tuple | list) or not item or not isinstance(item[0], str):
            raise ArgumentError(
                f"{caller}: a tree is a Tree, a text or nested tuples such as ('a', ('b', 'c')); got {_shown(item)}"
            )
        steps.append((item[0], len(item) - 1))
        waiting += reversed(item[1:])
    done: list[Tree] = []
    for label, n in reversed(steps):
        children = tuple(done.pop() for _ in range(n))
        done.append(label if isinstance(label, Tree) else Tree(label, children))
    return done[0]


def _shown(item) -> str:
    return f"{item!r:.60}" if isinstance(item, int | float | str | None) else type(item).__name__


def __dir__() -> list[str]:
    return __all__
