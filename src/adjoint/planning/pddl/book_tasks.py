"""The tasks of the book as texts of PDDL, ready to read."""

from __future__ import annotations

from pathlib import Path

from ...errors import ArgumentError, nearest
from ..strips.task_types import Problem
from .task_reader import read_task

__all__ = ["BOOK_TASKS", "book_task", "book_text"]

_TEXTS = Path(__file__).parent / "book"
BOOK_TASKS = ("blocks", "fetch", "hanoi", "monkey")
"""The names of the tasks that `book_task` reads."""


def book_task(name: str) -> Problem:
    """A task of the book: "blocks", "fetch", "hanoi" or "monkey".

        >>> book_task("blocks")
        <Problem s of fgl: 3 objects, 6 facts, goal (on b c) (on a b)>

    Reference: Fu, Gonzalez & Lee (1987), Secs. 10.2.1, 10.4 and 10.6; Probs. 9.7 and 9.8.
    """
    return read_task(book_text(name))


def book_text(name: str) -> str:
    """The text of a task of the book, with its domain and its problem.

    >>> book_text("hanoi").splitlines()[2]
    '(define (domain hanoi)'
    """
    if name not in BOOK_TASKS:
        raise ArgumentError(f"the book has no task {name!r}; {nearest(name, BOOK_TASKS)}")
    return (_TEXTS / f"{name}.pddl").read_text(encoding="utf-8")
