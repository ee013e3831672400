"""`write_domain` and `write_problem`: planning tasks as texts of PDDL."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from ...errors import ArgumentError
from ...program.texts.number_texts import number_text
from ..limits import check_kind
from ..strips.task_checks import check_task, no_predicate
from ..strips.task_types import OBJECT, Condition, Domain, Fact, Operator, Parameter, Problem, fact_text
from .formulas import TOTAL_COST
from .requirements import with_needed
from .typed_lists import is_name, is_title, is_variable

__all__ = ["write_domain", "write_problem"]

_WIDE = 100  # characters of a line


def write_domain(domain: Domain) -> str:
    """The text of a domain in PDDL, from which `read_domain` reads the same data.

        >>> from adjoint.planning.strips.task_types import Operator
        >>> print(write_domain(Domain("lamps", (Operator("light", adds=(("lit",),)),), {"lit": ()})), end="")
        (define (domain lamps)
          (:requirements :strips)
          (:predicates (lit))
          (:action light
            :parameters ()
            :precondition ()
            :effect (lit)))

    Requirements that the domain uses without naming them are added, the predicates of operators if the domain names
    none, and the function total-cost if a cost is not 1. An `ArgumentError` names what PDDL cannot say, such as a name
    with a space.
    """
    check_kind("write_domain", domain, Domain, "the argument")
    domain = _complete(domain)
    _check_names("write_domain", domain.name, domain.types, domain.constants, domain.predicates, domain.functions)
    lines = [f"(define (domain {domain.name})", *_section(":requirements", domain.requirements)]
    if domain.types:
        lines += _section(":types", _typed((name, (above,)) for name, above in domain.types.items()))
    if domain.constants:
        lines += _section(":constants", _typed((name, (kind,)) for name, kind in domain.constants.items()))
    lines += _section(":predicates", [_signature(name, ps) for name, ps in domain.predicates.items()])
    if domain.functions:
        lines += _section(":functions", [_signature(name, ps) + " - number" for name, ps in domain.functions.items()])
    for operator in domain.operators:
        lines += _operator_lines(operator, TOTAL_COST in domain.functions)
    return "\n".join(lines) + ")\n"


def write_problem(problem: Problem) -> str:
    """The text of a problem in PDDL, from which `read_problem` reads the same data.

        >>> lamps = Domain("lamps", (), {"lit": (Parameter("?lamp"),)})
        >>> problem = Problem("one", lamps, {"a": "object"}, frozenset(), Condition((("lit", "a"),)))
        >>> print(write_problem(problem), end="")
        (define (problem one)
          (:domain lamps)
          (:objects a)
          (:init)
          (:goal (lit a)))

    Facts of the initial state are sorted. Where all actions cost 1, `minimise` says nothing, and is left out. An
    `ArgumentError` names what PDDL cannot say.
    """
    check_kind("write_problem", problem, Problem, "the argument")
    _check_names("write_problem", problem.name, problem.objects)
    domain = _complete(problem.domain)
    check_task(dataclasses.replace(problem, domain=domain))
    if unknown := [fact for fact in _facts(problem) if fact[0] not in domain.predicates]:
        raise ArgumentError(f"write_problem: {fact_text(unknown[0])}: {no_predicate(unknown[0][0], domain.predicates)}")
    counts = TOTAL_COST in domain.functions
    initial = [fact_text(fact) for fact in sorted(problem.initial)]
    initial += [f"(= ({TOTAL_COST}) 0)"] if counts else []
    initial += [f"(= {fact_text(fact)} {_cost_text(value)})" for fact, value in problem.costs.items()]
    lines = [f"(define (problem {problem.name})", f"  (:domain {problem.domain.name})"]
    if problem.objects:
        lines += _section(":objects", _typed((name, (kind,)) for name, kind in problem.objects.items()))
    lines += _section(":init", initial)
    lines += [f"  (:goal {_condition_text(problem.goal)})"]
    lines += [f"  (:metric minimize ({TOTAL_COST}))"] if problem.minimise and counts else []
    return "\n".join(lines) + ")\n"


def _complete(domain: Domain) -> Domain:
    """The domain with all that it needs in PDDL: predicates, total-cost if costs are not all 1, and requirements."""
    functions, predicates = domain.functions, dict(domain.predicates)
    if not predicates:
        for fact in (fact for operator in domain.operators for fact in _facts_of(operator)):
            predicates.setdefault(fact[0], tuple(Parameter(f"?x{k}") for k in range(1, len(fact))))
    if TOTAL_COST not in functions and any(operator.cost != 1 for operator in domain.operators):
        functions = {TOTAL_COST: (), **functions}
    domain = dataclasses.replace(domain, functions=functions, predicates=predicates)
    return dataclasses.replace(domain, requirements=with_needed(domain))


def _facts_of(operator: Operator) -> Iterator[Fact]:
    yield from (*operator.needs.facts, *operator.needs.absent, *operator.adds, *operator.deletes)


def _facts(problem: Problem) -> Iterator[Fact]:
    yield from (*sorted(problem.initial), *problem.goal.facts, *problem.goal.absent)


def _check_names(who: str, name: str, *tables: Mapping[str, object]) -> None:
    wrong = [word for table in tables for word in table if not is_name(word)]
    wrong += [] if is_title(name) else [name]
    if wrong:
        needed = "names have small letters, digits, '-' and '_', and begin with a letter"
        raise ArgumentError(f"{who}: '{wrong[0]}' is no name of PDDL; {needed}")


def _section(keyword: str, items: Iterable[str]) -> list[str]:
    """The lines of a section, as wide as they may be."""
    lines, line = [], f"  ({keyword}"
    for item in items:
        if len(line) + len(item) > _WIDE:
            lines.append(line)
            line = "   "
        line += f" {item}"
    return [*lines, f"{line})"]


def _typed(listed: Iterable[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Names with their types; those that follow each other with the same type share it."""
    runs = [(types, [name for name, _ in run]) for types, run in groupby(listed, key=lambda x: x[1])]
    found = []
    for k, (types, names) in enumerate(runs):
        kind = types[0] if len(types) == 1 else f"(either {' '.join(types)})"
        # Names without a type belong at the end: before another type they would get that one.
        shown = "" if types == (OBJECT,) and k == len(runs) - 1 else f" - {kind}"
        found += [*names[:-1], names[-1] + shown]
    return found


def _signature(name: str, parameters: tuple[Parameter, ...]) -> str:
    return fact_text((name, *_typed(parameters)))


def _operator_lines(operator: Operator, counts: bool) -> list[str]:
    """The section of an operator; `counts` says whether it names its cost."""
    words = [operator.name, *(parameter.name[1:] for parameter in operator.parameters)]
    _check_names("write_domain", words[0], dict.fromkeys(words))
    for parameter in operator.parameters:
        if not is_variable(parameter.name):
            raise ArgumentError(
                f"write_domain: the variable '{parameter.name}' of '{operator.name}' must begin with '?'"
            )
    effect = [*map(fact_text, operator.adds), *(f"(not {fact_text(fact)})" for fact in operator.deletes)]
    if counts and operator.cost != 0:
        effect.append(f"(increase ({TOTAL_COST}) {_cost_text(operator.cost)})")
    return [
        f"  (:action {operator.name}",
        f"    :parameters ({' '.join(_typed(operator.parameters))})",
        f"    :precondition {_condition_text(operator.needs)}",
        f"    :effect {_all_of(effect)})",
    ]


def _condition_text(condition: Condition) -> str:
    parts = [fact_text(fact) for fact in condition.facts]
    parts += [f"(not {fact_text(fact)})" for fact in condition.absent]
    parts += [f"(= {a} {b})" for a, b in condition.same] + [f"(not (= {a} {b}))" for a, b in condition.different]
    return _all_of(parts)


def _all_of(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})" if parts else "()"


def _cost_text(cost: float | Fact) -> str:
    if isinstance(cost, tuple):
        return fact_text(cost)
    if not (math.isfinite(cost) and cost >= 0):
        raise ArgumentError(f"PDDL has no cost {cost}; a cost is a number, 0 or more")
    return number_text(cost)
