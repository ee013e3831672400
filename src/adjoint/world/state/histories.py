"""`History`: a world with those before it and those that were undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import ArgumentError
from .world_changes import Changes, changes
from .worlds import World

__all__ = ["History"]


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """A world, the worlds before it, and those that were undone. It never changes; its methods return new histories.

        >>> h = History(World()).do(lambda w: w.add("table"), "bring a table").do(lambda w: w.add("cup"), "bring a cup")
        >>> h.labels, h.undo().labels, h.undo().redo().world == h.world
        (['bring a table', 'bring a cup'], ['bring a table'], True)

    `label` is that of the edit that led to `world`. An edit after `undo` starts a new branch, from which `redo` leads
    nowhere; the older history is still a value that can be kept.
    """

    world: World
    label: str = ""
    past: Any = None  # (history before the last edit), or None
    future: Any = None  # (history before the last undo), or None

    def __post_init__(self):
        if not isinstance(self.world, World):
            raise ArgumentError(f"History: 'world' must be a World, got {type(self.world).__name__}")

    def do(self, edit: Callable[[World], World] | World, label: str = "") -> History:
        """The history with one more world: what a function makes of the present one, or a world that is given."""
        if not isinstance(label, str):
            raise ArgumentError(f"History.do: 'label' must be a string, got {type(label).__name__}")
        world = edit(self.world) if callable(edit) else edit
        if not isinstance(world, World):
            raise ArgumentError(
                f"History.do: an edit must give a World, got {type(world).__name__}; for example "
                "do(lambda w: w.move('cup', [0, 0, 1]), 'lift the cup')"
            )
        return History(world, label, self)

    def undo(self) -> History:
        """The history before the last edit."""
        if self.past is None:
            raise ArgumentError("History.undo: there is nothing to undo; this is the first world")
        return History(self.past.world, self.past.label, self.past.past, self)

    def redo(self) -> History:
        """The history before the last `undo`."""
        if self.future is None:
            raise ArgumentError("History.redo: there is nothing to redo; the last step was an edit, not an undo")
        return self.future

    @property
    def labels(self) -> list[str]:
        """The labels of all edits that led to the present world, the first one first."""
        found, at = [], self
        while at.past is not None:
            found.append(at.label)
            at = at.past
        return found[::-1]

    @property
    def undone(self) -> list[str]:
        """The labels of the edits that `redo` brings back, the next one first."""
        found, at = [], self.future
        while at is not None:
            found.append(at.label)
            at = at.future
        return found

    @property
    def last_changes(self) -> Changes:
        """What the last edit changed."""
        if self.past is None:
            return Changes()
        return changes(self.past.world, self.world)

    def __reduce__(self):
        # As a list: nested histories would need as many levels of recursion as there are edits.
        before, at = [], self
        while at is not None:
            before.append((at.world, at.label))
            at = at.past
        after, at = [], self.future
        while at is not None:
            after.append((at.world, at.label))
            at = at.future
        return _restored, (before[::-1] + after, len(after))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        n = len(self)
        return f"<History: {n} edit{'s' * (n != 1)}, {len(self.undone)} undone, {self.world!r}>"


def _restored(steps: list[tuple[World, str]], undone: int) -> History:
    """The history of worlds with the labels of the edits that led to them, of which the last ones are undone."""
    found = History(*steps[0])
    for world, label in steps[1:]:
        found = History(world, label, found)
    for _ in range(undone):
        found = found.undo()
    return found
