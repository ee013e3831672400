"""Facts, conditions and effects: from forms to data, with names, numbers of arguments and types checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...errors import nearest
from ..strips.task_types import Condition, Domain, Fact, Parameter, fact_text
from .forms import Findings, Form

__all__: list[str] = []

TOTAL_COST = "total-cost"
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?")
_CONDITIONS = "conditions are facts, (not (...)) of a fact, (= a b) and (and ...)"
_EFFECTS = "effects are facts, (not (...)) of a fact, (increase (total-cost) ...) and (and ...)"
_NOT_SUPPORTED = frozenset(
    "or imply forall exists when preference at-end always sometime within at-most-once sometime-after sometime-before "
    "hold-during hold-after over < > <= >= + - * / assign decrease scale-up scale-down oneof probabilistic".split()
)


class Scope:
    """What may be said at a place: the facts of a `table`, about `terms` (objects and variables) with their types.

    `kind` says what the table has: "predicate", "function" or "operator".
    """

    def __init__(
        self,
        domain: Domain,
        table: Mapping[str, tuple[Parameter, ...]],
        terms: Mapping[str, tuple[str, ...]],
        findings: Findings,
        kind: str = "predicate",
    ):
        self.domain, self.table, self.terms, self.findings, self.kind = domain, table, terms, findings, kind
        self._fitting: dict[tuple[str, ...], frozenset[str]] = {}
        self._slots: dict[str, list[frozenset[str]]] = {}

    def fact(self, form: Form) -> Fact | None:
        """The fact that a form says; None after noting what is wrong with it."""
        slots = self.slots(form.head)
        # map is the fastest loop over the arguments of the many facts of a problem
        if slots is not None and len(slots) == len(form) - 1 and all(map(frozenset.__contains__, slots, form[1:])):
            return tuple(form)
        note_wrong_fact(form, self)
        return None

    def slots(self, name: str) -> list[frozenset[str]] | None:
        """The terms that fit each argument of a predicate; None if there is no such predicate."""
        if name not in self._slots and name in self.table:
            self._slots[name] = [self.fitting(parameter.types) for parameter in self.table[name]]
        return self._slots.get(name)

    def fitting(self, types: tuple[str, ...]) -> frozenset[str]:
        """The terms that are certain to have one of the types."""
        if types not in self._fitting:
            fits = {kind: not set(self.domain.ancestors(kind)).isdisjoint(types) for kind in self._kinds()}
            self._fitting[types] = frozenset(
                name for name, kinds in self.terms.items() if all(fits[kind] for kind in kinds)
            )
        return self._fitting[types]

    def _kinds(self) -> set[str]:
        return {kind for kinds in self.terms.values() for kind in kinds}


class Part(NamedTuple):
    """One thing that a condition asks for, and the form that says it."""

    field: str
    fact: Fact
    form: Form


def condition_parts(form: Form, scope: Scope) -> Iterator[Part]:
    """What a condition asks for, one thing after the other; what is wrong is noted and left out."""
    head = form.head
    if head == "and":
        for inner in inner_forms(form, _CONDITIONS, scope.findings):
            yield from condition_parts(inner, scope)
    elif head == "=":
        yield from _equation(form, scope, "same")
    elif head == "not" and len(form) == 2 and isinstance(form[1], Form):
        if form[1].head == "=":
            yield from _equation(form[1], scope, "different")
        else:
            yield from _fact_part(form[1], scope, "absent", form)
    elif form:
        yield from _fact_part(form, scope, "facts", form)


def _fact_part(inner: Form, scope: Scope, field: str, form: Form) -> Iterator[Part]:
    if inner.head in _NOT_SUPPORTED and inner.head not in scope.table:
        scope.findings.add(f"'{inner.head}' is not supported here", inner, 0, hint=_CONDITIONS)
        return
    if inner.head in ("and", "not"):
        message = (
            f"'{inner.head}' cannot stand in this place"
            if inner is form
            else f"'not' of '{inner.head}' is not supported"
        )
        scope.findings.add(message, inner, 0, hint=_CONDITIONS)
        return
    fact = scope.fact(inner)
    if fact is not None:
        yield Part(field, fact, form)


def _equation(form: Form, scope: Scope, field: str) -> Iterator[Part]:
    """The two terms of (= a b)."""
    findings = scope.findings
    if any(isinstance(x, Form) or _NUMBER.fullmatch(x) for x in form[1:]):
        findings.add("conditions on numbers are not supported", form, hint="'=' compares two objects", code="type")
        return
    if len(form) != 3:
        findings.add(f"'=' compares two objects, and {len(form) - 1} are given", form)
        return
    unknown = [item for item in (1, 2) if form[item] not in scope.terms]
    for item in unknown:
        _note_unknown_term(form, item, scope)
    if not unknown:
        yield Part(field, (form[1], form[2]), form)


def condition_of(parts: list[Part]) -> Condition:
    """The condition that asks for all parts; what is said twice is asked for once."""
    fields: dict[str, dict[Fact, None]] = {"facts": {}, "absent": {}, "same": {}, "different": {}}
    for part in parts:
        fields[part.field][part.fact] = None
    return Condition(*(tuple(facts) for facts in fields.values()))  # type: ignore[arg-type]


class Effect(NamedTuple):
    """What an operator changes, and the costs that it names."""

    adds: dict[Fact, None]
    deletes: dict[Fact, None]
    costs: list[float | Fact]


def read_effect(form: Form, scope: Scope, functions: Scope, effect: Effect) -> None:
    """Enter what a form says into `effect`; what is wrong is noted."""
    head, findings = form.head, scope.findings
    if head == "and":
        for inner in inner_forms(form, _EFFECTS, findings):
            read_effect(inner, scope, functions, effect)
    elif head == "increase":
        cost = _increase(form, functions)
        if cost is not None and effect.costs:
            findings.add(f"'{TOTAL_COST}' is increased twice", form, hint="an action has one cost")
        effect.costs.extend([] if cost is None else [cost])
    elif head in _NOT_SUPPORTED and head not in scope.table:
        findings.add(f"'{head}' is not supported here", form, 0, hint=_EFFECTS)
    elif form:
        negative = head == "not" and len(form) == 2 and isinstance(form[1], Form)
        inner = form[1] if negative else form
        if inner.head in ("not", "and", "=", "increase"):
            findings.add(f"'{inner.head}' cannot stand in this place", inner, 0, hint=_EFFECTS)
            return
        fact = scope.fact(inner)
        if fact is not None:
            (effect.deletes if negative else effect.adds)[fact] = None


def _increase(form: Form, functions: Scope) -> float | Fact | None:
    """The cost of (increase (total-cost) cost): a number or a function of objects."""
    findings = functions.findings
    if len(form) != 3 or not isinstance(form[1], Form):
        findings.add("'increase' needs a function and a cost", form, hint="write (increase (total-cost) 1)")
        return None
    if list(form[1]) != [TOTAL_COST]:
        shown = f"'{form[1].head}'" if form[1].head else "this"
        findings.add(f"only '{TOTAL_COST}' can be increased, not {shown}", form, 1, hint=f"write ({TOTAL_COST})")
        return None
    if TOTAL_COST not in functions.table:
        hint = f"write (:functions ({TOTAL_COST}) - number)"
        findings.add(f"the domain has no function '{TOTAL_COST}'", form, 1, hint=hint, code="name")
        return None
    cost = form[2]
    if isinstance(cost, str):
        return number_at(form, 2, findings)
    if cost.head in ("+", "-", "*", "/"):
        findings.add(f"'{cost.head}' is not supported here", cost, 0, hint="a cost is a number or a function")
        return None
    return functions.fact(cost)


def number_at(form: Form, item: int, findings: Findings) -> float | None:
    """The number, 0 or more, at a place of a form; None after noting that there is none."""
    word = form[item] if item < len(form) else ""
    if isinstance(word, str) and _NUMBER.fullmatch(word) and math.isfinite(float(word)):
        return float(word)
    findings.add("a number, 0 or more, is needed here", form, item, hint="such as 2 or 0.5", code="type")
    return None


def inner_forms(form: Form, hint: str, findings: Findings) -> Iterator[Form]:
    """The items after the head of a form, all of which must be forms."""
    for item, inner in enumerate(form[1:], 1):
        if isinstance(inner, Form):
            yield inner
        else:
            findings.add(f"'{inner}' must stand in parentheses", form, item, hint=hint)


def note_wrong_fact(form: Form, scope: Scope) -> None:
    """Note why a form is no fact."""
    findings, kind, name = scope.findings, scope.kind, form.head
    if not name:
        findings.add(f"a {kind} is needed here", form, 0 if form else None, hint="such as (on a b)")
    elif name not in scope.table:
        hint = nearest(name, list(scope.table)) if scope.table else f"the domain has no {kind}s"
        findings.add(f"there is no {kind} '{name}'", form, 0, hint=hint, code="name")
    elif len(form) - 1 != len(scope.table[name]):
        shown = fact_text((name, *map(_parameter_text, scope.table[name])))
        message = f"'{name}' has {len(scope.table[name])} arguments, and {len(form) - 1} are given"
        findings.add(message, form, hint=f"write {shown}", code="type")
    else:
        for item, parameter in enumerate(scope.table[name], 1):
            _note_wrong_term(form, item, parameter, scope)


def _note_wrong_term(form: Form, item: int, parameter: Parameter, scope: Scope) -> None:
    term = form[item]
    if term not in scope.terms:
        _note_unknown_term(form, item, scope)
    elif term not in scope.fitting(parameter.types):
        has, needed = (" or ".join(types) for types in (scope.terms[term], parameter.types))
        message = f"'{term}' is of type {has}, and argument {item} of '{form.head}' must be of type {needed}"
        others = sorted(name for name in scope.fitting(parameter.types) if (name[0] == "?") == (term[0] == "?"))
        hint = f"of this type are {', '.join(others[:8])}" if others else "nothing here has this type"
        scope.findings.add(message, form, item, hint=hint, code="type")


def _note_unknown_term(form: Form, item: int, scope: Scope) -> None:
    term = form[item]
    if isinstance(term, Form):
        scope.findings.add("a name is needed here, not a list in parentheses", form, item)
        return
    variable = term[0] == "?"
    known = [name for name in scope.terms if (name[0] == "?") == variable]
    what = "variable" if variable else "object"
    hint = nearest(term, known) if known else f"no {what} is known here"
    scope.findings.add(f"there is no {what} '{term}'", form, item, hint=hint, code="name")


def _parameter_text(parameter: Parameter) -> str:
    return f"{parameter.name} - {' or '.join(parameter.types)}"
