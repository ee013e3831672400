"""The form (define (problem ...) ...): from a form and a domain to a `Problem`."""

from __future__ import annotations

from ...errors import nearest
from ..strips.task_types import OBJECT, Condition, Domain, Fact, Problem, fact_text
from .domain_reader import requirements_in, sections_of
from .forms import NO_FORM, Findings, Form
from .formulas import TOTAL_COST, Part, Scope, condition_of, condition_parts, number_at
from .typed_lists import named, objects_in

__all__: list[str] = []

# (:length ...) is a guess of the plan's length, in old texts; it has no meaning and is skipped.
_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
_OTHER_SECTIONS = ":constraints :situation :htn :utility".split()


def problem_of(form: Form, domain: Domain, findings: Findings) -> Problem:
    """The problem that a form defines; what is wrong with it is noted in `findings`."""
    name = named(form[1], 1, "the problem", findings)
    sections = {key: found[0] for key, found in sections_of(form, _SECTIONS, _OTHER_SECTIONS, findings).items()}
    for key in (":domain", ":init", ":goal"):
        if key not in sections:
            findings.add(f"the problem has no section '{key}'", form, len(form), hint=f"write ({key} ...)")
    requirements_in(sections.get(":requirements", NO_FORM), findings)
    if ":domain" in sections:
        _check_domain(sections[":domain"], domain, findings)
    known = (OBJECT, *domain.types)
    objects = objects_in(sections.get(":objects", NO_FORM), known, domain.constants, "the object", findings)
    terms = {name: (kind,) for name, kind in {**domain.constants, **objects}.items()}
    scope = Scope(domain, domain.predicates, terms, findings)
    functions = Scope(domain, domain.functions, terms, findings, "function")
    initial, costs = _initial(sections.get(":init", NO_FORM), scope, functions)
    goal = _goal(sections.get(":goal", NO_FORM), scope)
    minimise = _minimises(sections.get(":metric", NO_FORM), domain, findings)
    return Problem(name, domain, objects, initial, goal, costs, minimise, findings.source)


def _check_domain(section: Form, domain: Domain, findings: Findings) -> None:
    name = named(section, 1, "the domain", findings)
    if name and name != domain.name:
        hint = f"the domain at hand is '{domain.name}'"
        findings.add(f"the problem is one of the domain '{name}'", section, 1, hint=hint, code="name")


def _initial(section: Form, scope: Scope, functions: Scope) -> tuple[frozenset[Fact], dict[Fact, float]]:
    """What is true at first, and the values of functions."""
    facts: dict[Fact, Form] = {}
    absent: dict[Fact, Form] = {}
    costs: dict[Fact, float] = {}
    for item, form in enumerate(section[1:], 1):
        head = form.head if isinstance(form, Form) else ""
        if not isinstance(form, Form):
            scope.findings.add(f"'{form}' must stand in parentheses", section, item, hint=f"write ({form})")
        elif head == "=":
            _enter_cost(form, functions, costs)
        elif head == "not" and len(form) == 2 and isinstance(form[1], Form):
            fact = scope.fact(form[1])
            absent |= {} if fact is None else {fact: form}
        elif head == "at" and len(form) == 3 and isinstance(form[2], Form):
            scope.findings.add("facts that begin at a later time are not supported", form, hint="write the fact alone")
        else:
            fact = scope.fact(form)
            if fact is not None:
                facts[fact] = form
    for fact in absent.keys() & facts.keys():
        scope.findings.add(f"{fact_text(fact)} is true at first, too", absent[fact], code="contradiction")
    return frozenset(facts), costs


def _enter_cost(form: Form, functions: Scope, costs: dict[Fact, float]) -> None:
    """Enter the value of (= (distance a b) 3) into `costs`; that of the total cost is 0, and is not kept."""
    findings = functions.findings
    if len(form) != 3 or not isinstance(form[1], Form):
        findings.add("'=' gives a function its value here", form, hint="such as (= (distance a b) 3)")
        return
    value, fact = number_at(form, 2, findings), functions.fact(form[1])
    if value is None or fact is None:
        return
    if fact == (TOTAL_COST,):
        if value:
            findings.add(f"'{TOTAL_COST}' begins with 0", form, 2, code="type")
    elif costs.setdefault(fact, value) != value:
        message = f"{fact_text(fact)} has two values"
        findings.add(message, form, hint=f"the other one is {costs[fact]:g}", code="contradiction")


def _goal(section: Form, scope: Scope) -> Condition:
    """The condition of the goal; parts that contradict each other are noted."""
    if not section:
        return Condition()
    if len(section) != 2 or not isinstance(section[1], Form):
        scope.findings.add("the goal is one condition in parentheses", section, 1, hint="write (and ...)")
        return Condition()
    parts = list(condition_parts(section[1], scope))
    goal = condition_of(parts)
    wanted = set(goal.facts)
    for part in parts:
        _note_contradiction(part, wanted, scope.findings)
    return goal


def _note_contradiction(part: Part, wanted: set[Fact], findings: Findings) -> None:
    if part.field == "absent" and part.fact in wanted:
        message = f"the goal asks for {fact_text(part.fact)}, too: both cannot be"
        findings.add(message, part.form, code="contradiction")
    elif part.field in ("same", "different") and (part.field == "same") != (part.fact[0] == part.fact[1]):
        what = "are two objects" if part.field == "same" else "are the same object"
        findings.add(f"{part.fact[0]} and {part.fact[1]} {what}", part.form, code="contradiction")


def _minimises(section: Form, domain: Domain, findings: Findings) -> bool:
    """Whether the sum of costs shall be least."""
    if not section:
        return False
    if len(section) != 3 or section[1] != "minimize" or not isinstance(section[2], Form):
        findings.add("this metric is not supported", section, hint=f"write (:metric minimize ({TOTAL_COST}))")
    elif list(section[2]) != [TOTAL_COST]:
        findings.add(f"only '{TOTAL_COST}' can be minimised", section, 2, hint=f"write ({TOTAL_COST})")
    elif TOTAL_COST not in domain.functions:
        hint = nearest(TOTAL_COST, list(domain.functions)) if domain.functions else "it has no functions"
        message = f"the domain has no function '{TOTAL_COST}'"
        findings.add(message, section, 2, hint=hint, code="name")
    return True
