"""Landmarks: facts that every plan makes true at some time, the orders between them, and how many are still to come.

Landmarks of the task without deletions are the greatest solution of two equations (Keyder, Richter & Helmert 2010):

    L(fact)   = {fact}                                       where it is true at first
    L(fact)   = {fact} ∪ ⋂ L(action), over actions that add it
    L(action) = ⋃ L(fact), over facts that it needs

A set of facts is a whole number here, so that unions and intersections are single operations of the processor's words.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import SolveError
from ..limits import check_kind, check_not_negative
from .ground_tasks import GroundTask, bits, mask_of

__all__ = ["Landmarks", "find_landmarks"]


class Wanted(NamedTuple):
    """Landmarks that must stay or return: for those that can come `now`, and for `later` ones and the goal."""

    now: int
    later: int


@dataclass(frozen=True, repr=False, eq=False)
class Landmarks:
    """The landmarks of a task, numbered so that what must come first has the lower number; see `find_landmarks`.

    - `facts[k]` is the number of the fact that landmark k is. Sets of landmarks are whole numbers with bits k.
    - `before[k]` are the landmarks that must have been true before k is, or that should have been, since they could not
      become true later without destroying it; those of `during[k]` belong to the goal and should be true then.
    - `fed_by[k]` are the landmarks that all first makers of k need: until k is there, they must stay or return.
      `refed_by[k]` are those of lower number that all makers of k need, whenever it is: if k was lost, they are needed
      again.
    - `goal` are the landmarks of the goal; `adds` and `keeps` are what each action does to landmarks.
    """

    task: GroundTask
    facts: tuple[int, ...]
    before: tuple[int, ...]
    during: tuple[int, ...]
    fed_by: tuple[int, ...]
    refed_by: tuple[int, ...]
    goal: int
    adds: tuple[int, ...]
    keeps: tuple[int, ...]

    def true_in(self, state: int) -> int:
        """The landmarks that are true in a state."""
        return mask_of(k for k, fact in enumerate(self.facts) if state >> fact & 1)

    def accepted(self, reached: int, true: int) -> int:
        """The landmarks that count as reached when a path with `reached` comes to a state where others are `true`."""
        before, during = self.before, self.during
        for k in bits(true & ~reached):
            if not before[k] & ~reached and not during[k] & ~true:
                reached |= 1 << k
        return reached

    def wanted(self, reached: int) -> Wanted:
        """The landmarks that those need which are to come, when a path has reached some."""
        now, later = 0, self.goal
        for k in bits(((1 << len(self.facts)) - 1) & ~reached):
            if self.before[k] & ~reached:
                later |= self.fed_by[k]
            else:
                now |= self.fed_by[k]
        return Wanted(now, later)

    def left(self, reached: int, wanted: Wanted, true: int) -> int:
        """How far a path is from the goal, in landmarks: those to come, and those that are needed again.

        A landmark that was never reached counts 6. One that was lost counts 2 if a landmark that can come next needs
        it, and 1 if a later one does: so new landmarks are worth what they cost, and nothing is taken up too early.
        """
        lost = reached & ~true
        urgent = self._with_needed(wanted.now & lost, lost)
        later = self._with_needed(wanted.later & lost & ~urgent, lost & ~urgent)
        return 6 * (len(self.facts) - reached.bit_count()) + 2 * urgent.bit_count() + later.bit_count()

    def _with_needed(self, marks: int, lost: int) -> int:
        """Landmarks, and the lost ones that are needed to make them again."""
        waiting = marks
        while waiting:  # from the last landmark to the first, since one that is needed again may need earlier ones
            k = waiting.bit_length() - 1
            waiting = waiting ^ 1 << k | self.refed_by[k] & lost & ~marks
            marks |= waiting
        return marks

    def __repr__(self) -> str:
        return f"<Landmarks of {self.task.problem.name}: {len(self.facts)} facts>"


def find_landmarks(task: GroundTask, *, max_seconds: float = math.inf) -> Landmarks:
    """The landmarks of a task, with the orders between them.

        >>> from adjoint.planning import book_task, ground
        >>> found = find_landmarks(ground(book_task("blocks")))
        >>> [found.task.facts[fact] for fact in found.facts if not found.task.initial >> fact & 1][:3]
        [('clear', 'a'), ('holding', 'b'), ('holding', 'a')]

    Orders are natural (every plan has them) or reasonable (Hoffmann, Porteous & Sebastia 2004): of two facts of the
    goal, the one comes first whose making would destroy the other. A `SolveError` says so if the landmarks are not
    known after `max_seconds`.
    """
    check_kind("find_landmarks", task, GroundTask, "the task")
    check_not_negative("find_landmarks", max_seconds=max_seconds)
    of_fact = _needed_before(task, max_seconds)
    of_action = [_united(of_fact, needs) for needs in task.needs]
    lost = _renewed(task, of_fact, of_action)
    everything = task.goal_mask
    for fact in task.goal:
        everything |= of_fact[fact]
    # A landmark of a landmark is one, so that the number of those before a fact grows along every natural order.
    facts = sorted(bits(everything), key=lambda fact: (of_fact[fact].bit_count(), fact))
    number = {fact: k for k, fact in enumerate(facts)}
    mark_of = [1 << number[fact] if fact in number else 0 for fact in range(len(task.facts))]

    def marks(mask: int) -> int:
        return _united(mark_of, bits(mask & everything))

    makers_need = {fact: _common(task.need_masks[a] for a in task.adders[fact]) for fact in facts}
    first_need = {fact: _common(task.need_masks[a] for a in _first_makers(task, fact, of_action)) for fact in facts}
    fed_by = [marks(makers_need[f] if f in lost else 0 if task.initial >> f & 1 else first_need[f]) for f in facts]
    refed_by = [marks(makers_need[f]) for f in facts]
    again = mask_of(lost)
    natural = [marks(of_fact[fact] & ~again & ~(1 << fact) | lost.get(fact, 0)) for fact in facts]
    deleted = {number[g]: marks(_common(task.delete_masks[a] for a in task.adders[g])) for g in task.goal}
    along = [marks(_common(task.add_masks[a] for a in task.adders[fact])) & ~(1 << k) for k, fact in enumerate(facts)]
    feeds, refeeds = (_turned([_own_needs(needs, along) for needs in rows]) for rows in (fed_by, refed_by))
    before = _with_reasonable(natural, feeds, refeeds, deleted, along)
    goal, all_ = marks(task.goal_mask), (1 << len(facts)) - 1
    return Landmarks(
        task,
        tuple(facts),
        tuple(before),
        tuple(now & ~always & goal for now, always in zip(before, natural, strict=True)),
        tuple(fed_by),
        tuple(needs & ((1 << k) - 1) for k, needs in enumerate(refed_by)),
        goal,
        tuple(_united(mark_of, row) for row in task.adds),
        tuple(all_ & ~_united(mark_of, row) for row in task.deletes),
    )


def _renewed(task: GroundTask, of_fact: list[int], of_action: list[int]) -> dict[int, int]:
    """{fact of the goal that is true at first, but is lost on every way: the landmarks that cost it}.

    All first makers of these landmarks delete the fact, so it has to be made again. `of_fact` gets what that needs.
    """
    renewed: dict[int, int] = {}
    while True:
        everything = 0
        for fact in task.goal:
            everything |= of_fact[fact]
        kept = mask_of(fact for fact in task.goal if task.initial >> fact & 1 and fact not in renewed)
        new: dict[int, int] = {}
        for mark in bits(everything & ~task.initial):
            gone = _common(task.delete_masks[a] for a in _first_makers(task, mark, of_action))
            for fact in bits(gone & kept):
                new[fact] = new.get(fact, 0) | 1 << mark
        if not new:
            return renewed
        renewed |= new
        for fact in new:
            of_fact[fact] = 1 << fact | _common(_united(of_fact, task.needs[a]) for a in task.adders[fact])


def _united(of_fact: list[int], facts: Iterable[int]) -> int:
    """⋃ L(fact), over some facts; it is L(action) for those that an action needs."""
    found = 0
    for fact in facts:
        found |= of_fact[fact]
    return found


def _needed_before(task: GroundTask, max_seconds: float) -> list[int]:
    """L(fact) of all facts: a worklist, from facts that are true on, until nothing changes any more."""
    everything = (1 << len(task.facts)) - 1
    of_fact = [everything] * len(task.facts)
    for fact in bits(task.initial):
        of_fact[fact] = 1 << fact
    waiting, queue = task.need_counts.copy(), list(task.always)
    for fact in bits(task.initial):
        for action in task.users[fact]:
            waiting[action] -= 1
            if not waiting[action]:
                queue.append(action)
    queued, at, ready = set(queue), 0, set(bits(task.initial))
    end = time.perf_counter() + max_seconds
    while at < len(queue):
        action = queue[at]
        at += 1
        if not at & 255 and time.perf_counter() > end:
            raise SolveError(f"the landmarks are not known after {max_seconds:.3g} seconds")
        queued.discard(action)
        before = _united(of_fact, task.needs[action])
        for fact in task.adds[action]:
            known = of_fact[fact]
            found = known & (before | 1 << fact)
            if found == known and fact in ready:
                continue
            of_fact[fact] = found
            for user in task.users[fact]:
                if fact not in ready:
                    waiting[user] -= 1
                if not waiting[user] and user not in queued:
                    queued.add(user)
                    queue.append(user)
            ready.add(fact)
    return of_fact


def _turned(rows: list[int]) -> list[int]:
    """The rows whose bits are the columns of these rows."""
    found = [0] * len(rows)
    for k, row in enumerate(rows):
        for column in bits(row):
            found[column] |= 1 << k
    return found


def _common(masks: Iterable[int]) -> int:
    """The bits that all of them have; none, if there are none."""
    found = -1
    for mask in masks:
        found &= mask
        if not found:
            break
    return max(found, 0)


def _first_makers(task: GroundTask, fact: int, of_action: list[int]) -> list[int]:
    """The actions that can be the first to make a fact true: those that do not need it themselves before."""
    return [action for action in task.adders[fact] if not of_action[action] >> fact & 1]


def _own_needs(needs: int, along: list[int]) -> int:
    """The landmarks of `needs` that have to be made for their own sake: the others come `along` with one of them.

    All that makes (holding a) may make (hand-full), too. Who needs both need not care for the second.
    """
    own = needs
    for k in bits(needs):
        for other in bits(along[k] & needs):
            if not along[other] >> k & 1:  # of two that come together, both count
                own &= ~(1 << other)
    return own


def _with_reasonable(
    natural: list[int], feeds: list[int], refeeds: list[int], deleted: dict[int, int], along: list[int]
) -> list[int]:
    """The natural orders, and reasonable ones: what the making of a goal would hinder comes before the goal.

    All makers of the goal `last` delete `deleted[last]`. That hinders landmarks that need one of these facts, and those
    that need what can then not be made again, unless it comes `along` with the goal. `feeds[k]` and `refeeds[k]` are
    those that need k.
    """
    before = list(natural)
    for last, gone in deleted.items():
        hindered = gone
        for k in bits(gone):
            hindered |= refeeds[k] & ~along[last]
        for k in bits(hindered):
            before[last] |= feeds[k] | refeeds[k]
        before[last] &= ~(1 << last)
    for last in deleted:
        for k in bits(before[last] & ~natural[last]):
            if before[k] >> last & 1:  # each would come before the other
                before[last] &= ~(1 << k)
                if not natural[k] >> last & 1:
                    before[k] &= ~(1 << last)
    return before
