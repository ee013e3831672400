"""`read_domain`, `read_problem` and `read_task`: planning tasks from texts or files of PDDL."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...errors import ArgumentError
from ...program.instructions.diagnostics import Diagnostic, ProgramError
from ...program.instructions.sources import Source, Span
from ..strips.task_types import Domain, Problem
from .domain_reader import domain_of
from .forms import LONGEST, Findings, Form, forms_of
from .problem_reader import problem_of

__all__ = ["read_domain", "read_problem", "read_task"]

PathOrText = str | os.PathLike[str]
_BEGINS_AS_TEXT = re.compile(r"\ufeff?(?:\s|;[^\n]*)*\(")


def read_domain(text_or_path: PathOrText, *, name: str | None = None) -> Domain:
    """Read the domain of a text or a file of PDDL: types, predicates, and operators with what they need and change.

        >>> text = '''(define (domain lamps) (:predicates (lit ?x))
        ...             (:action light :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?x)))'''
        >>> read_domain(text).operator("light").needs
        Condition: not (lit ?x)

    A str is a text if it begins with "(", after comments, or has several lines; else it is the path of a file. `name`
    is that of the text, for messages. PDDL has no case: all names are in small letters.

    The reader knows `:strips`, `:typing` with `either`, `:negative-preconditions`, `:equality`, `:action-costs` and
    constants. A `ProgramError` names all that is wrong or not supported, with line and column.
    Reference: Ghallab et al. (1998), "PDDL - The Planning Domain Definition Language"; for the operators Fu, Gonzalez &
    Lee (1987), Sec. 10.6.
    """
    findings, forms = _opened(text_or_path, name or "domain", "read_domain")
    domain = domain_of(_definition(forms, "domain", findings), findings)
    findings.raise_all()
    return domain


def read_problem(text_or_path: PathOrText, domain: Domain, *, name: str | None = None) -> Problem:
    """Read the problem of a text or a file of PDDL: its objects, what is true at first, and the goal.

        >>> lamps = read_domain("(define (domain lamps) (:predicates (lit ?x)))")
        >>> read_problem("(define (problem one) (:domain lamps) (:objects a) (:init) (:goal (lit a)))", lamps)
        <Problem one of lamps: 1 object, 0 facts, goal (lit a)>

    Text, path and `name` are as in `read_domain`. A `ProgramError` has all findings: names that do not exist, facts
    with the wrong number or types of arguments, and goals that contradict themselves.
    """
    if not isinstance(domain, Domain):
        raise ArgumentError(f"read_problem: domain must be a Domain, got {type(domain).__name__}; see read_domain")
    findings, forms = _opened(text_or_path, name or "problem", "read_problem")
    problem = problem_of(_definition(forms, "problem", findings), domain, findings)
    findings.raise_all()
    return problem


def read_task(domain: PathOrText | Domain | Problem, problem: PathOrText | Problem | None = None) -> Problem:
    """Read a domain and a problem, each from a text or a file of PDDL, or both from one.

        >>> task = read_task('''(define (domain lamps) (:predicates (lit ?x))
        ...                       (:action light :parameters (?x) :effect (lit ?x)))
        ...                     (define (problem one) (:domain lamps) (:objects a) (:init) (:goal (lit a)))''')
        >>> task.action("light", "a").adds
        (('lit', 'a'),)

    A `Domain` or a `Problem` that is at hand already may take the place of its text; a `Problem` brings its own
    domain. See `read_domain`.
    """
    if isinstance(problem, Problem):
        return problem
    if isinstance(domain, Problem):
        if problem is not None:
            raise ArgumentError(f"read_task: '{domain.name}' is a problem; a domain is needed beside another problem")
        return domain
    if problem is not None:
        return read_problem(problem, domain if isinstance(domain, Domain) else read_domain(domain))
    if isinstance(domain, Domain):
        raise ArgumentError("read_task: a problem is needed beside the domain, as a text or a path")
    findings, forms = _opened(domain, "task", "read_task")
    found = domain_of(_definition(forms, "domain", findings), findings)
    task = problem_of(_definition(forms, "problem", findings), found, findings)
    findings.raise_all()
    return task


def _opened(text_or_path: PathOrText, name: str, who: str) -> tuple[Findings, Form]:
    """The forms of a text or a file, and the place for what is wrong with them."""
    if isinstance(text_or_path, str) and ("\n" in text_or_path or _BEGINS_AS_TEXT.match(text_or_path)):
        source = Source(text_or_path.removeprefix("\ufeff"), name)
    else:
        source = Source(file_text(text_or_path, who).removeprefix("\ufeff"), os.fspath(text_or_path))
    findings = Findings(source)
    return findings, forms_of(findings)


def file_text(path: PathOrText, who: str) -> str:
    """The text of a file; an `ArgumentError` says why there is none."""
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise ArgumentError(f"{who}: a text of PDDL or the path of a file is needed, got {path!r}")
    try:
        with Path(path).open(encoding="utf-8") as file:
            return file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        hint = "a text of PDDL begins with '('"
        if not Path(path).suffix:
            hint += "; book_task(name) gives a task of the textbook"
        raise ArgumentError(f"{who}: the file '{path}' cannot be read: {why}; {hint}") from None


def _definition(forms: Form, kind: str, findings: Findings) -> Form:
    """The form (define (domain ...) ...) or (define (problem ...) ...) of a text."""
    found: list[Form] = []
    for item, form in enumerate(forms):
        if not isinstance(form, Form) or form.head != "define" or len(form) < 2 or not isinstance(form[1], Form):
            shown = f"'({form.head}'" if isinstance(form, Form) else f"'{form}'"
            what = "(define (domain ...) ...) or (define (problem ...) ...)"
            at = findings.span(forms, item)
            diagnostic = Diagnostic(f"{shown} stands outside of every definition", at, f"write {what}", code="syntax")
            raise ProgramError(diagnostic, findings.source)
        if form[1].head not in ("domain", "problem"):
            findings.add("a definition is one of a domain or of a problem", form, 1, hint=f"write ({kind} name)")
            findings.raise_all()
        found += [form] if form[1].head == kind else []
    if len(found) != 1:
        others = " and ".join(sorted({f"a {form[1].head}" for form in forms})) or "nothing"
        message = f"the text must define one {kind}; it defines {len(found) or others}"
        at = findings.span(found[1], 1) if found else Span(0, 0)
        hint = f"write (define ({kind} name) ...)"
        raise ProgramError(Diagnostic(message, at, hint, code="syntax"), findings.source)
    return found[0]
