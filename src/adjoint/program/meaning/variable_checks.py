"""Types of variables, in the order of the text."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...world.state import World
from ..instructions.expressions import Index
from ..instructions.sources import Source, Span
from ..instructions.statements import Assign, Body, Declare, For
from ..instructions.value_types import ANY, FRAME, LENGTH, NUMBER, Type
from .name_checks import NameChecker
from .operator_types import ZERO, fits, in_words, unit_hint

__all__: list[str] = []

_HAND, _ARM = re.compile(r"[A-Za-z]?hand", re.IGNORECASE), re.compile(r"[A-Za-z]?arm", re.IGNORECASE)
_REFINED = {("zero", "scalar"), ("zeros", "vector")}  # a variable that was 0 gets the unit of its next value


class VariableChecker(NameChecker):
    """Gives variables their types, and reports values that do not fit them."""

    def __init__(
        self, source: Source | None, world: World | None, arms: dict[str, str], line_of: Callable[[Span], int]
    ):
        super().__init__(source, world, arms)
        self.line_of = line_of
        self.hands: set[str] = set()

    def body(self, statements: Body) -> None:
        """Check statements."""
        raise NotImplementedError

    def other_name(self, name: str) -> Type | None:
        """Frames of the world are frames; a hand's name is its width, an arm's name its pose."""
        if self.world is not None and (name in self.world.frames or name in self.world.parts):
            return FRAME
        if name in self.hands or _HAND.fullmatch(name):
            return LENGTH
        return FRAME if _ARM.fullmatch(name) or name in self.given_arms else None

    def assign_rule(self, s: Assign) -> None:
        """A variable gets its type with its first value, and keeps it."""
        value = self.rules[type(s.value)](s.value)
        target = s.target
        if type(target) is Index:
            element = self.type_of(target)
            if not fits(value, element) and element is not ZERO:
                self._kept("this element", element, s, value)
            return
        name = target.name  # type: ignore[union-attr]
        known = self.variables.get(name) or self._new(name, s)
        if known is None or known.kind == "any" or (known.kind, value.kind) in _REFINED:
            if known is None or value.kind != "any":
                self.variables[name] = value
                self.first.setdefault(name, s.at)
        elif not fits(value, known):
            self._kept(f"'{name}'", known, s, value)

    def _new(self, name: str, s: Assign) -> Type | None:
        """The type that a variable has before its first assignment: that of a frame of the world."""
        if self.world is not None and name in self.world.frames:
            return FRAME
        if name in self.hands or (_HAND.fullmatch(name) and (name in self.given_arms or len(name) == 5)):
            self.report(f"'{name}' is a hand, whose width is read", s.at, "OPEN and CLOSE move it", "name")
        return None

    def _kept(self, what: str, known: Type, s: Assign, value: Type) -> None:
        line = self.line_of(self.first.get(what.strip("'"), Span(-1, -1)))
        since = f" since line {line}" if line else ""
        code = "unit" if value.kind == known.kind else "type"
        text = f"{what} is {in_words(known)}{since}, and {self.shown(s.value)} is {in_words(value)}"
        self.report(text, s.value.at if s.value.at.start >= 0 else s.at, unit_hint(s.value, value, known), code)

    def declare_rule(self, s: Declare) -> None:
        """Variables and arrays get the types that they are declared with."""
        for name in s.names:
            self.first[name] = s.at
            if s.bounds is None:
                self.variables[name] = s.type
            else:
                self.variables[name], self.arrays[name] = Type("array"), s.type
        for bound in s.bounds or ():
            self.needs("the bounds of an array", bound, (NUMBER,))

    def for_rule(self, s: For) -> None:
        """The variable of FOR has the type of its first value."""
        first = self.type_of(s.first)
        for what, value in (("the last value of FOR", s.last), ("the step of FOR", s.step)):
            if value is None:
                continue
            found = self.type_of(value)
            if first is ZERO and found.kind == "scalar":
                first = found
            elif not fits(found, first) and found is not ZERO:
                text = f"{what} is {in_words(found)}, and its first value is {in_words(first)}"
                self.report(text, value.at, unit_hint(value, found, first), "unit")
        if not fits(first, NUMBER, any_unit=True):
            self.report(f"FOR counts numbers, and {self.shown(s.first)} is {in_words(first)}", s.first.at)
            first = ANY
        known = self.variables.get(s.variable)
        first = NUMBER if first is ZERO else first
        if known is not None and known is not ZERO and not fits(first, known):
            self.report(f"'{s.variable}' is {in_words(known)}, and FOR counts {in_words(first)}", s.at, code="unit")
        self.variables[s.variable] = first if known is None or known is ZERO else known
        self.body(s.body)
