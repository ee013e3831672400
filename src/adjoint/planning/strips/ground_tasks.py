"""`GroundTask`: a planning task without variables. A state is a whole number whose bits are the facts that are true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...errors import ArgumentError
from ...lazy import cached_property
from .task_types import Action, Fact, Problem

__all__ = ["GroundTask", "bits"]


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, in ascending order.

    >>> list(bits(0b10110))
    [1, 2, 4]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True, repr=False, eq=False)
class GroundTask:
    """All facts and actions that can ever matter for a problem, by number; see `ground`.

    - `facts[i]` is the fact of bit i; facts that never change are left out. The action k is `calls[k]` = (operator,
      *objects), it needs the facts `needs[k]`, deletes `deletes[k]`, adds `adds[k]`, and counts `costs[k]`.
    - A fact ("not", *fact) stands for the absence of a fact that some condition asks for.
    - `initial` is the state at first. `impossible` are facts of the goal that can never become true.
    """

    problem: Problem
    facts: tuple[Fact, ...]
    calls: tuple[tuple[str, ...], ...]
    needs: tuple[tuple[int, ...], ...]
    adds: tuple[tuple[int, ...], ...]
    deletes: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]
    initial: int
    goal: tuple[int, ...]
    impossible: tuple[Fact, ...] = ()
    static: frozenset[Fact] = field(default=frozenset())

    @cached_property
    def number_of(self) -> dict[Fact, int]:
        """{fact: its bit}."""
        return {fact: k for k, fact in enumerate(self.facts)}

    @cached_property
    def goal_mask(self) -> int:
        """The bits of the goal."""
        return mask_of(self.goal)

    @cached_property
    def need_masks(self) -> list[int]:
        """The bits of what each action needs."""
        return [mask_of(x) for x in self.needs]

    @cached_property
    def add_masks(self) -> list[int]:
        """The bits that each action sets."""
        return [mask_of(x) for x in self.adds]

    @cached_property
    def delete_masks(self) -> list[int]:
        """The bits that each action clears."""
        return [mask_of(x) for x in self.deletes]

    @cached_property
    def keep_masks(self) -> list[int]:
        """The bits that each action does not delete."""
        everything = (1 << len(self.facts)) - 1
        return [everything & ~x for x in self.delete_masks]

    @cached_property
    def users(self) -> list[list[int]]:
        """The actions that need each fact."""
        return self._listed(self.needs)

    @cached_property
    def adders(self) -> list[list[int]]:
        """The actions that add each fact."""
        return self._listed(self.adds)

    def _listed(self, rows: Iterable[tuple[int, ...]]) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.facts]
        for k, row in enumerate(rows):
            for fact in row:
                found[fact].append(k)
        return found

    @cached_property
    def need_counts(self) -> list[int]:
        """The numbers of facts that the actions need."""
        return [len(x) for x in self.needs]

    @cached_property
    def always(self) -> list[int]:
        """The actions that need nothing."""
        return [action for action, needs in enumerate(self.needs) if not needs]

    @cached_property
    def _watched(self) -> list[list[int]]:
        """For each fact the actions that are looked at where it is true.

        Each action is watched by one of its needs, the one that the fewest actions have.
        """
        watched: list[list[int]] = [[] for _ in self.facts]
        shared = [len(x) for x in self.users]
        for k, needs in enumerate(self.needs):
            if needs:
                watched[min(needs, key=shared.__getitem__)].append(k)
        return watched

    def applicable(self, state: int) -> list[int]:
        """The numbers of the actions that apply in a state, in ascending order."""
        watched, needs, found = self._watched, self.need_masks, list(self.always)
        for fact in bits(state):
            for k in watched[fact]:
                if needs[k] & state == needs[k]:
                    found.append(k)
        found.sort()
        return found

    def result(self, state: int, action: int) -> int:
        """The state after an action: (state - deletes) ∪ adds."""
        return state & self.keep_masks[action] | self.add_masks[action]

    def is_goal(self, state: int) -> bool:
        """Whether everything that the goal needs holds."""
        return not self.impossible and state & self.goal_mask == self.goal_mask

    def check_state(self, caller: str, state: int) -> None:
        """Refuse what is no state of this task."""
        if isinstance(state, bool) or not isinstance(state, int) or state < 0 or state >> len(self.facts):
            size = len(self.facts)
            raise ArgumentError(
                f"{caller}: a state of this task is a whole number of {size} bits, got {state!r:.60}; "
                "task.state_of(facts) makes one"
            )

    def state_of(self, facts: Iterable[Fact]) -> int:
        """The bits of facts; facts that never change, or never become true, have none."""
        known = self.number_of
        true = frozenset(facts)
        found = mask_of(known[fact] for fact in true if fact in known)
        return found | mask_of(k for k, fact in enumerate(self.facts) if fact[0] == "not" and fact[1:] not in true)

    def facts_of(self, state: int) -> frozenset[Fact]:
        """The facts of a state, with those that never change."""
        return self.static | {self.facts[k] for k in bits(state) if self.facts[k][0] != "not"}

    def action(self, number: int) -> Action:
        """The action of a number, with its facts as the operator names them."""
        name, *objects = self.calls[number]
        return self.problem.action(name, *objects)

    def __repr__(self) -> str:
        return f"<GroundTask of {self.problem.name}: {len(self.facts)} facts, {len(self.calls)} actions>"


def mask_of(numbers: Iterable[int]) -> int:
    """The whole number with these bits set."""
    found = 0
    for k in numbers:
        found |= 1 << k
    return found
