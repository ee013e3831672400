"""Who gives what to whom: the one bookkeeping of triangle tables, of their survivors, and of schemata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..strips.task_types import Action, Condition, Fact
from .literals import effects, literals, opposite

__all__ = ["SupportLink", "givers", "support_links"]


class SupportLink(NamedTuple):
    """A literal that the step `user` needs, numbered from 1, or the goal behind the last step, and who gives it."""

    literal: Fact
    giver: int
    """the last step that made the literal true; 0 for the initial state"""
    user: int


def givers(steps: Sequence[Action]) -> Iterator[Mapping[Fact, int]]:
    """Before each step, and at the end: {literal that steps made true: the last step that did}.

    It is one mapping that changes, not a new one for each step.
    """
    giver: dict[Fact, int] = {}
    for i, step in enumerate(steps, 1):
        yield giver
        for literal in effects(step):
            giver.pop(opposite(literal), None)
            giver[literal] = i
    yield giver


def support_links(steps: Sequence[Action], goal: Condition) -> Iterator[SupportLink]:
    """The links of all that steps and goal need, in the order of the users and of their literals.

    >>> walk = Action("walk", needs=Condition((("here",),)), adds=(("there",),), deletes=(("here",),))
    >>> [tuple(link) for link in support_links([walk], Condition((("there",),), (("here",),)))]
    [(('here',), 0, 1), (('there',), 1, 2), (('not', 'here'), 1, 2)]
    """
    users = (*(step.needs for step in steps), goal)
    for user, (giver, needs) in enumerate(zip(givers(steps), users, strict=True), 1):
        for literal in literals(needs):
            yield SupportLink(literal, giver.get(literal, 0), user)
