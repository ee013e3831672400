"""From text to rules; what cannot be read is reported with line and column."""

from __future__ import annotations

from ...errors import ArgumentError
from ...program.instructions import Diagnostic, ProgramError, Source
from ...program.texts.cursor import Cursor, Unexpected
from ...program.texts.scanner import Words, scan
from ..strips.task_types import Condition, Fact
from .rule_types import LONGEST, KnowledgeBase, Rule

__all__ = ["knowledge_base"]

_KEYWORDS = ("RULE", "SALIENCE", "IF", "AND", "NOT", "THEN", "CF", "ASK")
_NO_WORDS = {
    "OR": "write one rule for each of the two facts",
    "ELSE": "write another rule, with NOT before the condition",
}
_PATTERN = Words(
    comment="#[^\n]*",
    operators=("<>", ":"),
    number=r"(?!)",
    name=r"\??[A-Za-z_0-9]+(?:[.-][A-Za-z_0-9]+)*|-[0-9]+(?:\.[0-9]+)?",
    string=r"(?!)",
).pattern()


def knowledge_base(text: str, name: str = "rules") -> KnowledgeBase:
    """Read rules; a `ProgramError` shows the line and the column of what cannot be read.

        >>> print(knowledge_base('''
        ... IF power fails AND backup ?b AND NOT ?b broken THEN switch to ?b CF 0.8
        ... RULE two SALIENCE 5: IF switch to ?b AND switch to ?c AND ?b <> ?c THEN NOT switch to ?c
        ... ASK ?b broken
        ... '''))
        RULE rule1: IF power fails AND backup ?b AND NOT ?b broken THEN switch to ?b CF 0.8
        RULE two SALIENCE 5: IF switch to ?b AND switch to ?c AND ?b <> ?c THEN NOT switch to ?c
        ASK ?b broken

    - A rule without IF always holds; it begins a line.
    - A fact is words; "?b" is a variable. NOT in a condition: no such fact is there; after THEN: the fact is deleted.
    - CF is the certainty factor of what the rule adds, from -1 to 1. SALIENCE is a whole number.
    - RULE gives a name; without it, rules are rule1, rule2, ... ASK names facts that can be asked for.
    - Keywords may be in small letters. Text behind # is a remark. `name` is what messages call the text.

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.10.2.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"knowledge_base: a text is needed, such as 'IF a THEN b', got {type(text).__name__}")
    source = Source(text, name)
    cursor = Cursor(scan(source, _PATTERN), source)
    rules: list[Rule] = []
    askable: list[Fact] = []
    try:
        while cursor.kind != "end":
            if cursor.accept("ASK"):
                askable.append(_fact(cursor, "after ASK"))
            else:
                rules.append(_rule(cursor, rules))
    except Unexpected as error:
        raise ProgramError(error.diagnostic, source) from None
    return KnowledgeBase(tuple(rules), tuple(askable), source)


def _rule(cursor: Cursor, before: list[Rule]) -> Rule:
    start = cursor.start
    name, salience = f"rule{len(before) + 1}", 0
    if cursor.accept("RULE"):
        if cursor.key in _KEYWORDS or cursor.kind != "name":
            raise cursor.unexpected("the name of the rule is missing")
        name_at = cursor.here()
        name = cursor.next()
        if name in {rule.name for rule in before}:
            raise Unexpected(Diagnostic(f"there is a rule '{name}' already", name_at, code="name"))
        salience = int(_number(cursor, "SALIENCE", whole=True)) if cursor.accept("SALIENCE") else 0
        cursor.expect(":", "after the name of the rule")
    needs = _conditions(cursor) if cursor.accept("IF") else Condition()
    if needs == Condition() and cursor.key == "THEN" and not _begins_line(cursor, start):  # it is one THEN too much
        raise cursor.unexpected("IF is missing", hint="a rule that always holds, THEN ..., begins a line")
    if not cursor.accept("THEN"):
        choices = ["AND", "THEN"] if needs != Condition() else ["IF", "THEN"]
        raise cursor.unexpected(f"{' or '.join(choices)} is missing", choices=choices)
    adds, deletes = _actions(cursor)
    certainty = _number(cursor, "CF") if cursor.accept("CF") else 1.0
    if cursor.key == "SALIENCE":
        raise cursor.unexpected("SALIENCE stands behind the name", hint="RULE name SALIENCE 5: IF ... THEN ...")
    try:
        return Rule(name, needs, adds, deletes, certainty, salience, cursor.since(start))
    except ArgumentError as error:
        raise Unexpected(Diagnostic(str(error), cursor.since(start), code="rule")) from None


def _begins_line(cursor: Cursor, start: int) -> bool:
    """Whether a rule, which begins at `start` of the text, is the first on its line."""
    return not cursor.source.text[:start].rpartition("\n")[2].strip()


def _conditions(cursor: Cursor) -> Condition:
    facts: list[Fact] = []
    absent: list[Fact] = []
    different: list[tuple[str, str]] = []
    for _ in range(LONGEST):
        if cursor.accept("NOT"):
            absent.append(_fact(cursor, "after NOT"))
        elif cursor.kind == "name" and cursor.ahead() == "<>":
            a = cursor.next()
            cursor.next()
            if cursor.kind != "name" or cursor.key in _KEYWORDS:
                raise cursor.unexpected(f"the word from which '{a}' differs is missing")
            different.append((a, cursor.next()))
        else:
            facts.append(_fact(cursor, "in the condition"))
        if not cursor.accept("AND"):
            return Condition(tuple(facts), tuple(absent), (), tuple(different))
    raise cursor.unexpected(f"a rule has more than {LONGEST} conditions")


def _actions(cursor: Cursor) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    adds: list[Fact] = []
    deletes: list[Fact] = []
    for _ in range(LONGEST):
        deleted = cursor.accept("NOT")
        (deletes if deleted else adds).append(_fact(cursor, "after THEN"))
        if not cursor.accept("AND"):
            return tuple(adds), tuple(deletes)
    raise cursor.unexpected(f"a rule has more than {LONGEST} actions")


def _fact(cursor: Cursor, where: str) -> Fact:
    words = []
    while cursor.kind == "name" and cursor.key not in _KEYWORDS:
        if words and (word := cursor.source[cursor.here()]) in _NO_WORDS:
            raise cursor.unexpected(f"a rule has no {word}", hint=_NO_WORDS[word])
        words.append(cursor.next())
    if not words:
        raise cursor.unexpected(f"a fact is missing {where}", hint="a fact is words, such as: power fails")
    return tuple(words)


def _number(cursor: Cursor, what: str, whole: bool = False) -> float:
    here = cursor.here()
    if cursor.kind != "name":
        raise cursor.unexpected(f"a number is missing after {what}")
    try:
        return (int if whole else float)(cursor.next())
    except ValueError:
        message = f"{what} needs a {'whole ' * whole}number; '{cursor.source[here]}' stands here"
        raise Unexpected(Diagnostic(message, here, code="syntax")) from None
