"""Nested structures of arrays: tuples, lists, NamedTuples and dicts, whose leaves are arrays, numbers or sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["leaves", "map_leaves", "rebuild", "structure"]


def _parts(tree) -> list | None:
    """The parts of a structure, dicts in the order of their keys; None for a leaf."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [tree[k] for k in sorted(tree, key=repr)]
    return list(tree) if isinstance(tree, tuple | list) else None


def leaves(tree) -> list:
    """The leaves of a structure, in a fixed order."""
    parts = _parts(tree)
    return [tree] if parts is None else [leaf for part in parts for leaf in leaves(part)]


def rebuild(tree, values: Iterator) -> Any:
    """A structure like `tree` with these values as its leaves."""
    parts = _parts(tree)
    if tree is None or parts is None:
        return None if tree is None else next(values)
    made = [rebuild(part, values) for part in parts]
    if isinstance(tree, dict):
        return dict(zip(sorted(tree, key=repr), made, strict=True))
    return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)


def structure(tree):
    """What must stay the same of a carry: its nesting, and the types and keys in it."""
    parts = _parts(tree)
    if parts is None or tree is None:
        return None if tree is None else "leaf"
    keys = sorted(map(repr, tree)) if isinstance(tree, dict) else []
    return type(tree).__name__, keys, [structure(part) for part in parts]


def map_leaves(f: Callable, *trees):
    """A structure like the given ones, which are all alike: each leaf is f of their leaves in its place."""
    return rebuild(trees[0], map(f, *map(leaves, trees)))
