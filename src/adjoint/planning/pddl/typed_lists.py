"""Names and their types: lists such as "?x ?y - block ?r - (either room hall)"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from ...errors import nearest
from ..strips.task_types import OBJECT, Parameter
from .forms import Findings, Form

__all__: list[str] = []

_NAME = re.compile(r"(?![0-9.]+$)[a-z0-9_][a-z0-9_.@#+-]*")
_WORDS_OF_PDDL = frozenset("and or not imply forall exists when = either define increase decrease assign".split())


class Typed(NamedTuple):
    """A name of a typed list, its types, and its number among the items of the form."""

    name: str
    types: tuple[str, ...]
    item: int


def is_name(word: object) -> bool:
    """Whether a word can name a type, an object, a predicate or an operator."""
    return isinstance(word, str) and _NAME.fullmatch(word) is not None and word not in _WORDS_OF_PDDL


def is_title(word: object) -> bool:
    """Whether a word can name a domain or a problem, which may be called 7, too."""
    return is_name(word) or (isinstance(word, str) and word.isascii() and word.isdigit())


def is_variable(word: object) -> bool:
    """Whether a word can name a variable."""
    return isinstance(word, str) and word[:1] == "?" and _NAME.fullmatch(word[1:]) is not None


def named(form: Form, item: int, what: str, findings: Findings) -> str:
    """The name that stands at a place of a form; "" after noting that it is none."""
    word = form[item] if item < len(form) else ""
    right = is_title if what in ("the domain", "the problem") else is_name
    if right(word):
        return word
    shown = f"'{word}' is no name" if isinstance(word, str) and word else "there is none"
    findings.add(f"the name of {what} is needed here, and {shown}", form, item, hint="names begin with a letter")
    return ""


def typed_list(form: Form, first: int, what: str, known: Collection[str], findings: Findings) -> list[Typed]:
    """The names from item `first` on, each with the types after the next "-".

    `what` says what is named: "a variable", "an object". `known` are the types that exist.
    """
    right = is_variable if what == "a variable" else is_name
    found: list[Typed] = []
    waiting: list[tuple[str, int]] = []  # names whose types have not come yet
    item, end = first, len(form)
    while item < end:
        word = form[item]
        if word == "-":
            if not waiting:
                findings.add(f"'-' needs {what} before it", form, item)
            types = _types_at(form, item + 1, known, findings)
            found += [Typed(name, types, at) for name, at in waiting]
            waiting = []
            item += 1
        elif right(word):
            waiting.append((word, item))
        else:
            shown = f"'{word}'" if isinstance(word, str) else "a list in parentheses"
            hint = "variables begin with '?'" if what == "a variable" else "names begin with a letter"
            findings.add(f"{what} is needed here, not {shown}", form, item, hint=hint)
        item += 1
    found += [Typed(name, (OBJECT,), at) for name, at in waiting]
    return found


def _types_at(form: Form, item: int, known: Collection[str], findings: Findings) -> tuple[str, ...]:
    """The type, or the types of an "(either ...)", at a place of a form; "object" stands in for what is wrong."""
    kind = form[item] if item < len(form) else ""
    if isinstance(kind, Form) and kind.head == "either" and len(kind) > 1:
        return tuple(dict.fromkeys(_type_at(kind, k, known, findings) for k in range(1, len(kind))))
    return (_type_at(form, item, known, findings),)


def _type_at(form: Form, item: int, known: Collection[str], findings: Findings) -> str:
    kind = form[item] if item < len(form) else ""
    if not is_name(kind):
        findings.add("a type is needed after '-'", form, item, hint="write a name, or (either a b)")
        return OBJECT
    if kind not in known:
        findings.add(f"there is no type '{kind}'", form, item, hint=nearest(kind, list(known)), code="name")
        return OBJECT
    return kind


def without_twins(listed: Iterable[Typed], what: str, form: Form, findings: Findings) -> list[Typed]:
    """The list without the names that it has already had; each of these is noted."""
    found: dict[str, Typed] = {}
    for typed in listed:
        if typed.name in found:
            findings.add(f"{what} '{typed.name}' is defined twice", form, typed.item, code="name")
        found.setdefault(typed.name, typed)
    return list(found.values())


def parameters_of(form: Form, first: int, known: Collection[str], findings: Findings) -> tuple[Parameter, ...]:
    """The variables from item `first` on, with their types."""
    listed = without_twins(typed_list(form, first, "a variable", known, findings), "the variable", form, findings)
    return tuple(Parameter(name, types) for name, types, _ in listed)


def objects_in(
    form: Form, known: Collection[str], taken: Mapping[str, str], what: str, findings: Findings
) -> dict[str, str]:
    """{name: type} of a section of objects or constants; `taken` are names that may not be used again."""
    found = {}
    for name, types, item in without_twins(typed_list(form, 1, "an object", known, findings), what, form, findings):
        if len(types) > 1:
            findings.add(f"{what} '{name}' has several types", form, item, hint="an object has one type", code="type")
        if name in taken:
            findings.add(f"{what} '{name}' is a constant of the domain already", form, item, code="name")
        found[name] = next(iter(types))
    return found


def types_in(form: Form, findings: Findings) -> dict[str, str]:
    """{type: the type above it} of the section of types; "object" itself is left out."""
    defined = [name for before, name in pairwise(form) if before != "-" and is_name(name)]
    types = typed_list(form, 1, "a type", (OBJECT, *defined), findings)
    listed = without_twins(types, "the type", form, findings)
    found = {typed.name: typed.types[0] for typed in listed}
    if found.pop(OBJECT, OBJECT) != OBJECT:
        findings.add(f"nothing is above the type '{OBJECT}'", form, code="type")
    circular = _above_themselves(found)
    for name, types, item in listed:
        if len(types) > 1:
            findings.add(f"the type '{name}' has several types above it", form, item, hint="one is possible")
        if name in circular:
            findings.add(f"the type '{name}' is above itself", form, item, hint="types form a tree", code="type")
            found[name] = OBJECT
    return found


def _above_themselves(types: Mapping[str, str]) -> set[str]:
    """The types that stand above themselves; each type is walked over once."""
    walk_of: dict[str, int] = {}  # {type: the number of the walk that came to it first}
    found: set[str] = set()
    for number, start in enumerate(types):
        kind, way = start, []
        while kind in types and kind not in walk_of:
            walk_of[kind] = number
            way.append(kind)
            kind = types[kind]
        if walk_of.get(kind) == number:
            found.update(way[way.index(kind) :])
    return found
