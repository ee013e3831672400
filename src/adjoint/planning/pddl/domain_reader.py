"""The form (define (domain ...) ...): from a form to a `Domain`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ...errors import nearest
from ..strips.task_types import OBJECT, Domain, Operator, Parameter
from .forms import NO_FORM, Findings, Form
from .formulas import TOTAL_COST, Effect, Scope, condition_of, condition_parts, read_effect
from .requirements import KNOWN, SUPPORTED, with_needed
from .typed_lists import named, objects_in, parameters_of, types_in

__all__: list[str] = []

_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
_OTHER_SECTIONS = ":durative-action :derived :axiom :constraints :process :event :task :method :observe".split()
_KEYS = (":parameters", ":precondition", ":effect")


def domain_of(form: Form, findings: Findings) -> Domain:
    """The domain that a form defines; what is wrong with it is noted in `findings`."""
    name = named(form[1], 1, "the domain", findings)
    sections = sections_of(form, _SECTIONS, _OTHER_SECTIONS, findings)
    only = {key: found[0] for key, found in sections.items()}
    types = types_in(only.get(":types", NO_FORM), findings)
    known = (OBJECT, *types)
    constants = objects_in(only.get(":constants", NO_FORM), known, {}, "the constant", findings)
    domain = Domain(
        name,
        (),
        _predicates(only.get(":predicates", NO_FORM), known, findings),
        types,
        constants,
        _functions(only.get(":functions", NO_FORM), known, findings),
        requirements_in(only.get(":requirements", NO_FORM), findings),
        findings.source,
    )
    operators: dict[str, Operator] = {}
    for section in sections.get(":action", ()):
        operator = _operator(section, domain, findings)
        if operator.name in operators:
            findings.add(f"the operator '{operator.name}' is defined twice", section, 1, code="name")
        operators[operator.name] = operator
    domain = dataclasses.replace(domain, operators=tuple(operators.values()))
    return dataclasses.replace(domain, requirements=with_needed(domain))


def sections_of(form: Form, known: tuple[str, ...], others: Sequence[str], findings: Findings) -> dict[str, list[Form]]:
    """{keyword: forms} of the sections of a (define ...). All but those of operators may stand there once."""
    found: dict[str, list[Form]] = {}
    for item, section in enumerate(form[2:], 2):
        key = section.head if isinstance(section, Form) else ""
        if key in others:
            findings.add(f"'{key}' is not supported", section, 0, hint=f"the sections are {', '.join(known)}")
        elif not key:
            findings.add("a section such as (:init ...) is needed here", form, item)
        elif key not in known:
            findings.add(f"there is no section '{key}' in a {form[1].head}", section, 0, hint=nearest(key, known))
        elif key in found and key != ":action":
            findings.add(f"the section '{key}' stands here twice", section, 0, hint="write one of both")
        else:
            found.setdefault(key, []).append(section)
    return found


def requirements_in(section: Form, findings: Findings) -> tuple[str, ...]:
    """The names of the section of requirements."""
    for item, name in enumerate(section[1:], 1):
        if name not in KNOWN:
            shown = f"'{name}'" if isinstance(name, str) else "a list in parentheses"
            hint = nearest(name, SUPPORTED) if isinstance(name, str) else ""
            findings.add(f"{shown} is no requirement of PDDL", section, item, hint=hint, code="name")
    return tuple(dict.fromkeys(name for name in section[1:] if name in KNOWN))


def _predicates(section: Form, known: tuple[str, ...], findings: Findings) -> dict[str, tuple[Parameter, ...]]:
    found = {}
    for item, predicate in enumerate(section[1:], 1):
        _enter(section, item, predicate, "predicate", known, found, findings)
    return found


def _functions(section: Form, known: tuple[str, ...], findings: Findings) -> dict[str, tuple[Parameter, ...]]:
    """Functions may be followed by their type, which is "- number"."""
    found = {}
    for item in range(1, len(section)):
        if section[item] == "-" or (section[item] == "number" and section[item - 1] == "-"):
            continue
        if section[item - 1] == "-":
            hint = "functions are costs, of the type number"
            findings.add("functions of objects are not supported", section, item, hint=hint, code="type")
        else:
            _enter(section, item, section[item], "function", known, found, findings)
    if found.get(TOTAL_COST):
        findings.add(f"'{TOTAL_COST}' has no arguments", section, code="type")
    return found


def _enter(section, item: int, form, kind: str, known: tuple[str, ...], found: dict, findings: Findings) -> None:
    """Enter the predicate or the function of a form, such as (on ?x ?y - block), into `found`."""
    if not isinstance(form, Form):
        findings.add(f"a {kind} stands in parentheses", section, item, hint=f"write ({form})")
        return
    name = named(form, 0, f"a {kind}", findings)
    if name in found:
        findings.add(f"the {kind} '{name}' is defined twice", form, 0, code="name")
    if name:
        found.setdefault(name, parameters_of(form, 1, known, findings))


def _operator(section: Form, domain: Domain, findings: Findings) -> Operator:
    """The operator of a section (:action name :parameters (...) :precondition (...) :effect (...))."""
    name = named(section, 1, "an operator", findings)
    values = _values(section, findings)
    known = (OBJECT, *domain.types)
    parameters = parameters_of(values.get(":parameters", NO_FORM), 0, known, findings)
    terms = {name: (kind,) for name, kind in domain.constants.items()} | dict(parameters)
    scope = Scope(domain, domain.predicates, terms, findings)
    functions = Scope(domain, domain.functions, terms, findings, "function")
    needs = condition_of(list(condition_parts(values.get(":precondition", NO_FORM), scope)))
    effect = Effect({}, {}, [])
    read_effect(values.get(":effect", NO_FORM), scope, functions, effect)
    # With total-cost an action that names no cost costs nothing; without it all actions count the same.
    cost = effect.costs[0] if effect.costs else 0.0 if TOTAL_COST in domain.functions else 1.0
    return Operator(name, parameters, needs, tuple(effect.adds), tuple(effect.deletes), cost, findings.span(section))


def _values(section: Form, findings: Findings) -> dict[str, Form]:
    """{keyword: form} of an operator."""
    found: dict[str, Form] = {}
    for item in range(2, len(section), 2):
        key, value = section[item], section[item + 1] if item + 1 < len(section) else None
        if not isinstance(key, str) or key not in _KEYS:
            shown = f"'{key}'" if isinstance(key, str) else "a list in parentheses"
            hint = nearest(key, _KEYS) if isinstance(key, str) else f"write one of {', '.join(_KEYS)} before it"
            findings.add(f"{shown} is no keyword of an operator", section, item, hint=hint)
            break  # what follows may be a value or a keyword
        if not isinstance(value, Form):
            findings.add(f"'{key}' needs a list in parentheses after it", section, item + 1)
            break
        if key in found:
            findings.add(f"'{key}' stands here twice", section, item)
        found[key] = value
    return found
