"""Pairs of facts that can never be true together, by the heuristic h² (Haslum & Geffner 2000).

A pair can be true together if it is at first, or if an action adds one of them and adds the other, or leaves it alone
where it can be true together with everything that the action needs. All other pairs exclude each other.
"""

from __future__ import annotations

import math
import time

import numpy as np

from ...errors import SolveError
from ..limits import check_kind, check_not_negative
from .ground_tasks import GroundTask, mask_of
from .task_types import Fact

__all__ = ["exclusive_goals", "together"]


def together(task: GroundTask, *, max_seconds: float = math.inf) -> list[int]:
    """For each fact the bits of the facts that may be true together with it; a fact that is never true has none.

        >>> from adjoint.planning import book_task, ground
        >>> task = ground(book_task("blocks"))
        >>> holding, empty = task.number_of["holding", "a"], task.number_of["handempty",]
        >>> together(task)[holding] >> empty & 1
        0

    A `SolveError` says so if it takes more than `max_seconds`.
    """
    check_kind("together", task, GroundTask, "the task")
    check_not_negative("together", max_seconds=max_seconds)
    end = time.perf_counter() + max_seconds
    rows = [task.initial if task.initial >> fact & 1 else 0 for fact in range(len(task.facts))]
    while True:
        before = list(rows)
        for action, needs in enumerate(task.needs):
            if not action & 255 and time.perf_counter() > end:
                raise SolveError(f"together: the pairs of facts are not known after {max_seconds:g} seconds")
            _apply(task, action, needs, rows)
        rows = _symmetric(rows)
        if rows == before:
            return rows


def _apply(task: GroundTask, action: int, needs: tuple[int, ...], rows: list[int]) -> None:
    wanted = task.need_masks[action]
    if needs:
        common = -1
        for fact in needs:
            common &= rows[fact]
        if common & wanted != wanted:
            return
    else:
        common = mask_of(fact for fact, row in enumerate(rows) if row >> fact & 1)
    after = common & task.keep_masks[action] | task.add_masks[action]
    for fact in task.adds[action]:
        rows[fact] |= after


def _symmetric(rows: list[int]) -> list[int]:
    """The matrix of bits with its transpose."""
    size = (len(rows) + 7) // 8
    if not size:
        return rows
    packed = np.frombuffer(b"".join(row.to_bytes(size, "little") for row in rows), np.uint8).reshape(len(rows), size)
    matrix = np.unpackbits(packed, axis=1, count=len(rows), bitorder="little")
    both = np.packbits(matrix | matrix.T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in both]


def exclusive_goals(task: GroundTask, *, max_seconds: float = math.inf) -> tuple[Fact, ...]:
    """A fact of the goal that can never be true, or two that can never be true together; empty if there are none."""
    check_kind("exclusive_goals", task, GroundTask, "the task")
    if task.impossible:
        return task.impossible[:1]
    rows = together(task, max_seconds=max_seconds)
    for a in task.goal:
        if not rows[a] >> a & 1:
            return (task.facts[a],)
        for b in task.goal:
            if not rows[a] >> b & 1:
                return task.facts[a], task.facts[b]
    return ()
