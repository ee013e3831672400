"""`read_plan`: plans from texts, as planners and validators of PDDL write them."""

from __future__ import annotations

import re

from ...errors import ArgumentError
from ...program.instructions.diagnostics import Diagnostic
from ...program.instructions.sources import Source, Span
from ..strips.task_types import Action, Plan, Problem, fact_text
from .forms import Findings, Form, forms_of
from .formulas import Scope

__all__ = ["read_plan"]

# A line of a plan: "(stack a b)", or with its time and its duration "0.0: (stack a b) [1]".
_STEP = re.compile(r"\s*(?:([0-9]+(?:\.[0-9]*)?)\s*:)?\s*(\([^()]*\))\s*(?:\[\s*[0-9.]+\s*\])?\s*")


def read_plan(text: str, problem: Problem, name: str = "plan") -> Plan:
    """Read a plan for a problem: an action a line, with comments after ";", and times such as "0.0: (stack a b) [1]".

        >>> from adjoint.planning.pddl import book_task
        >>> read_plan("(unstack c a)  ; first\\n(putdown c)\\n; cost = 2", book_task("blocks"))
        <Plan of s: 2 actions, cost 2: (unstack c a) (putdown c)>

    Actions with times are put in the order of their times. A `ProgramError` names operators and objects that do not
    exist, and arguments of wrong types. Whether the actions apply one after the other is not checked here. `name` is
    what messages call the text.
    """
    if not isinstance(text, str) or not isinstance(problem, Problem):
        got = f"{type(text).__name__} and {type(problem).__name__}"
        raise ArgumentError(f"read_plan: a text and a Problem are needed, got {got}")
    findings = Findings(Source(text.removeprefix("\ufeff"), name))
    forms = forms_of(findings)
    times = _times(findings)
    findings.raise_all()
    # Operators are looked up as facts of their parameters: names, numbers and types of arguments are checked alike.
    operators = {operator.name: operator.parameters for operator in problem.domain.operators}
    terms = {name: (kind,) for name, kind in problem.all_objects.items()}
    scope = Scope(problem.domain, operators, terms, findings, "operator")
    actions = [_action(form, problem, scope) for form in forms if isinstance(form, Form)]
    findings.raise_all()
    order = sorted(range(len(actions)), key=times.__getitem__)
    return Plan(problem, tuple(action for k in order if (action := actions[k]) is not None))


def _times(findings: Findings) -> list[float]:
    """The time of each line with an action; lines without one come in the order of the text."""
    times: list[float] = []
    offset = 0
    for line in findings.source.text.split("\n"):
        step = line.partition(";")[0].rstrip()
        found = _STEP.fullmatch(step)
        if found:
            times.append(float(found[1]) if found[1] else times[-1] if times else 0.0)
        elif step.strip():
            begin = offset + len(step) - len(step.lstrip())
            hint = "write (stack a b), or 0.0: (stack a b) [1]"
            message = "an action in parentheses is needed on this line"
            findings.diagnostics.append(Diagnostic(message, Span(begin, offset + len(step)), hint, code="syntax"))
        offset += len(line) + 1
    return times


def _action(form: Form, problem: Problem, scope: Scope) -> Action | None:
    """The action of a line; None after noting what is wrong with it."""
    step = scope.fact(form)
    if step is None:
        return None
    operator = problem.domain.operator(step[0])
    assert operator is not None  # it is in the table of the scope
    missing = problem.unknown_cost(operator, step[1:]) if problem.minimise else None
    if missing is not None:
        message = f"the cost {fact_text(missing)} of this action has no value in the problem"
        scope.findings.add(message, form, hint=f"write (= {fact_text(missing)} 1) in its :init", code="name")
        return None
    return operator.ground(*step[1:], costs=problem.costs)
