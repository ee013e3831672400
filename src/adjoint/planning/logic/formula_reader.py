"""From text to formulas and terms; what cannot be read is reported with line and column."""

from __future__ import annotations

from ...errors import ArgumentError
from ...program.instructions import Diagnostic, ProgramError, Source
from ...program.texts.cursor import Cursor, Unexpected
from ...program.texts.scanner import Words, scan
from .formulas import BINDING, And, Atom, Exists, ForAll, Formula, Iff, Implies, Not, Or
from .terms import Function, Term, Variable

__all__ = ["formula", "term"]

_CONNECTIVES = {
    And: ("&", "∧", "AND"),
    Or: ("|", "∨", "OR"),
    Implies: ("->", "=>", "→", "⇒", "IMPLIES"),
    Iff: ("<->", "<=>", "↔", "⇔", "IFF"),
}
_BINARY = {spelling: kind for kind, spellings in _CONNECTIVES.items() for spelling in spellings}
_NOT = ("~", "¬", "NOT")
_QUANTIFIERS = {"∀": ForAll, "FORALL": ForAll, "∃": Exists, "EXISTS": Exists}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_RESERVED = {"AND", "OR", "NOT", "IMPLIES", "IFF", *_QUANTIFIERS}
_OPERATORS = sorted(
    [s for s in (*_BINARY, *_NOT, *_QUANTIFIERS, *_CLOSING, *_CLOSING.values(), ",", ".") if not s.isalpha()],
    key=len,
    reverse=True,
)
# Every name is one token, also 1 and ?x; numbers are names of constants.
_PATTERN = Words(
    comment="#[^\n]*", operators=tuple(_OPERATORS), number=r"(?!)", name=r"\??[A-Za-z_0-9]+", string=r"(?!)"
).pattern()


def formula(text: str | Formula, name: str = "formula") -> Formula:
    """Read a formula; a `ProgramError` shows the line and the column of what cannot be read.

        >>> print(formula("forall x. ROBOT(x) -> COLOR(x, GRAY)"))
        ∀x. ROBOT(x) ⇒ COLOR(x, GRAY)
        >>> print(formula("(∀x)[~P(x)] ∧ Q"))
        (∀x. ~P(x)) ∧ Q

    | | spellings, from the tightest to the loosest |
    |---|---|
    | not | `~P`, `¬P`, `not P` |
    | and | `P & Q`, `P ∧ Q`, `P and Q` |
    | or | `P | Q`, `P ∨ Q`, `P or Q` |
    | implies, which groups to the right | `P -> Q`, `P => Q`, `P ⇒ Q`, `P implies Q` |
    | if and only if | `P <-> Q`, `P <=> Q`, `P ⇔ Q`, `P iff Q` |
    | for all, exists | `forall x y. P`, `∀x y. P`, `exists x. P`, `∃x. P`; the book's `(∀x)[P]` |

    A quantifier reaches to the end of its parentheses; the book's form reaches only to the formula behind it. A name is
    a variable where a quantifier binds it, and everywhere if it begins with "?"; every other name is a constant. The
    brackets ( ), [ ] and { } mean the same. `name` is what messages call the text; a formula is returned as it is.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    if isinstance(text, Formula):
        return text
    return _read(text, name, "formula", lambda cursor: _expression(cursor, frozenset(), 0))


def term(text: str | Term, name: str = "term") -> Term:
    """Read a term, in which variables begin with "?"; a term is returned as it is.

        >>> print(term("grasp(climbbox(?s))"))
        grasp(climbbox(?s))

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    if isinstance(text, Variable | Function):
        return text
    return _read(text, name, "term", lambda cursor: _term(cursor, frozenset()))


def _read(text, name: str, what: str, parser):
    if not isinstance(text, str):
        example = "'P -> Q'" if what == "formula" else "'f(?x)'"
        raise ArgumentError(f"{name}: a text is needed, such as {example}, got {type(text).__name__}")
    source = Source(text, name)
    cursor = Cursor(scan(source, _PATTERN), source)
    try:
        found = parser(cursor)
        if cursor.kind != "end":
            raise cursor.unexpected(f"the {what} ends before this", choices=["AND", "OR", "IMPLIES", "IFF"])
    except Unexpected as error:
        raise ProgramError(error.diagnostic, source) from None
    except ArgumentError as error:  # too large
        raise ProgramError(Diagnostic(str(error), cursor.here(), code="size"), source) from None
    return found


def _expression(cursor: Cursor, bound: frozenset[str], least: int) -> Formula:
    """A formula whose connectives bind at least as tightly as `least`, by precedence climbing."""
    left = _unary(cursor, bound)
    while (kind := _BINARY.get(cursor.key)) is not None and BINDING[kind] >= least:
        cursor.next()
        cursor.deeper()
        right = _expression(cursor, bound, BINDING[kind] + (kind is not Implies))
        cursor.shallower()
        left = kind(left, right)
    return left


def _unary(cursor: Cursor, bound: frozenset[str]) -> Formula:
    cursor.deeper()
    if cursor.key in _NOT:
        cursor.next()
        found: Formula = Not(_unary(cursor, bound))
    elif cursor.key in _QUANTIFIERS:
        quantified = _quantifiers(cursor)
        if not cursor.accept("."):
            raise cursor.unexpected("'.' is missing after the variables", hint="write forall x. P(x), or (∀x)[P(x)]")
        found = _bind(quantified, _expression(cursor, bound.union(n for _, n in quantified), 0))
    elif cursor.key in _CLOSING and cursor.ahead() in _QUANTIFIERS:
        found = _quantified_in_brackets(cursor, bound)
    elif cursor.key in _CLOSING:
        closing = _CLOSING[cursor.next()]
        found = _expression(cursor, bound, 0)
        cursor.expect(closing, "after the formula")
    else:
        found = _atom(cursor, bound)
    cursor.shallower()
    return found


def _quantified_in_brackets(cursor: Cursor, bound: frozenset[str]) -> Formula:
    """(∀x) Q, the book's form, in which only the next formula is bound; or (∀x. P), brackets around a formula."""
    closing = _CLOSING[cursor.next()]
    quantified = _quantifiers(cursor)
    inner = bound.union(name for _, name in quantified)
    if cursor.accept(closing):
        return _bind(quantified, _unary(cursor, inner))
    if not cursor.accept("."):
        raise cursor.unexpected(f"'.' or '{closing}' is missing after the variables")
    found = _bind(quantified, _expression(cursor, inner, 0))
    cursor.expect(closing, "after the formula")
    return found


def _quantifiers(cursor: Cursor) -> list[tuple[type, str]]:
    """The quantifiers and their variables that stand here, such as [(ForAll, "x"), (ForAll, "s")] of ∀x ∀s."""
    found: list[tuple[type, str]] = []
    while cursor.key in _QUANTIFIERS:
        kind = _QUANTIFIERS[cursor.next().upper()]
        count = len(found)
        while cursor.kind == "name" and cursor.key not in _RESERVED:
            found.append((kind, cursor.next().lstrip("?")))
            cursor.accept(",")
        if len(found) == count:
            raise cursor.unexpected("the name of a variable is missing")
    return found


def _bind(quantified: list[tuple[type, str]], inside: Formula) -> Formula:
    for kind, name in reversed(quantified):
        inside = kind(Variable(name), inside)
    return inside


def _atom(cursor: Cursor, bound: frozenset[str]) -> Formula:
    if cursor.kind != "name" or cursor.key in _RESERVED:
        raise cursor.unexpected("a formula is missing")
    if cursor.key.startswith("?") or cursor.tokens.texts[cursor.index] in bound:
        raise cursor.unexpected(
            "a predicate is missing", hint="a variable stands only inside of a predicate, as in P(?x)"
        )
    return Atom(cursor.next(), _arguments(cursor, bound))


def _arguments(cursor: Cursor, bound: frozenset[str]) -> tuple[Term, ...]:
    if cursor.key not in ("(", "["):
        return ()
    closing = _CLOSING[cursor.next()]
    found = [_term(cursor, bound)]
    while cursor.accept(","):
        found.append(_term(cursor, bound))
    cursor.expect(closing, "after the arguments")
    return tuple(found)


def _term(cursor: Cursor, bound: frozenset[str]) -> Term:
    if cursor.kind != "name" or cursor.key in _RESERVED:
        raise cursor.unexpected("a term is missing")
    name = cursor.next()
    if name.startswith("?") or name in bound:
        return Variable(name.lstrip("?"))
    cursor.deeper()
    arguments = _arguments(cursor, bound)
    cursor.shallower()
    return Function(name, arguments)
