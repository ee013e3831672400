"""A second formulation of AL: a grammar of lark for the statements of the book's tables, and its instructions.

It shares no line with the parser that it is compared with.
"""

from functools import cache
from typing import Any

import lark

from adjoint.program.instructions import (
    Abort,
    Assign,
    Attach,
    Binary,
    Block,
    Call,
    Detach,
    ForceClause,
    Guard,
    Here,
    If,
    Literal,
    Move,
    MoveHand,
    Name,
    Parallel,
    Program,
    Quantity,
    Reading,
    Repeat,
    Unary,
    UnitName,
    While,
    Wrt,
)

GRAMMAR = r"""
start: "BEGIN" NAME body "END" NAME "."
body: (stmt? ";")*
?stmt: assign | move | hand | affix | unfix | abort | ifs | loop | whiles | compound | cobegin
compound: "BEGIN" body "END"
cobegin: "COBEGIN" body "COEND"
assign: NAME ("←"|"=") expr
move: "MOVE" NAME "TO" expr clause*
?clause: via | directly | withc | on
via: "VIA" expr ("," expr)*
directly: "DIRECTLY"
withc: "WITH" NAME ["(" NAME ")"] "=" sum
on: "ON" expr "DO" stmt
hand: (OPEN|CLOSE) NAME "TO" expr
affix: "AFFIX" NAME "TO" NAME [RIGIDLY|NONRIGIDLY]
unfix: "UNFIX" NAME "FROM" NAME
abort: "ABORT" "(" STRING ")"
ifs: "IF" expr "THEN" stmt ["ELSE" stmt]
loop: "DO" body "UNTIL" expr
whiles: "WHILE" expr "DO" stmt
?expr: conj ("OR" conj)* -> or_
?conj: neg ("AND" neg)* -> and_
?neg: "NOT" neg -> not_ | cmp
?cmp: sum [(LT|GT|LE|GE|EQ) sum]
?sum: term ((PLUS|MINUS) term)*
?term: unary (STAR unary)*
?unary: MINUS unary -> minus | wrt
?wrt: atom ["WRT" NAME]
?atom: NUMBER -> num | NAME -> var | NAME "(" [expr ("," expr)*] ")" -> call | HERE -> here | STRING -> string
    | "(" expr ")" -> paren
HERE: "⊗" | "⊕"
OPEN: "OPEN"
CLOSE: "CLOSE"
RIGIDLY: "RIGIDLY"
NONRIGIDLY: "NONRIGIDLY"
LE: "<="
GE: ">="
LT: "<"
GT: ">"
EQ: "="
PLUS: "+"
MINUS: "-"
STAR: "*"
NAME: /[A-Za-z_][A-Za-z_0-9]*/
NUMBER: /\d+(\.\d+)?/
STRING: /"[^"]*"/
%ignore /\{[^}]*\}/
%ignore /\s+/
"""

_UNITS = {"inches", "deg", "ounces", "seconds", "mm", "cm"}
_CLAUSES = {"APPROACH": "approach", "DEPARTURE": "departure", "DURATION": "duration"}


class _Instructions(lark.Transformer):
    """Instructions from the bottom of the tree to its top."""

    def start(self, parts):
        name, body, end = parts
        assert name == end
        return Program(body, str(name))

    def body(self, parts):
        return tuple(p for p in parts if p is not None)

    def compound(self, parts):
        return Block(parts[0])

    def cobegin(self, parts):
        return Parallel(tuple(_single(p) for p in parts[0]))

    def assign(self, parts):
        return Assign(Name(str(parts[0])), parts[1])

    def move(self, parts):
        mover, to, *clauses = parts
        fields = {k: v for kind, k, v in clauses if kind == "field"}
        for many in ("via", "forces", "guards"):
            found = tuple(x for kind, _, v in clauses if kind == many for x in v)
            fields |= {many: found} if found else {}
        return Move(str(mover), to, **fields)

    def via(self, parts):
        return "via", "", tuple(parts)

    def directly(self, _):
        return "field", "straight", True

    def withc(self, parts):
        word, axis, value = parts
        if word in _CLAUSES:
            return "field", _CLAUSES[word], value
        return "forces", "", (ForceClause(str(axis).lower(), value, word == "TORQUE"),)

    def on(self, parts):
        return "guards", "", (Guard(parts[0], _single(parts[1])),)

    def hand(self, parts):
        return MoveHand(str(parts[1]), str(parts[0]) == "OPEN", parts[2])

    def affix(self, parts):
        return Attach(str(parts[0]), str(parts[1]), "rigid" if parts[2] == "RIGIDLY" else "nonrigid")

    def unfix(self, parts):
        return Detach(str(parts[0]), str(parts[1]))

    def abort(self, parts):
        return Abort(Literal(str(parts[0])[1:-1]))

    def ifs(self, parts):
        condition, then, otherwise = parts
        return If(condition, _single(then), () if otherwise is None else _single(otherwise))

    def loop(self, parts):
        return Repeat(parts[0], parts[1])

    def whiles(self, parts):
        return While(parts[0], _single(parts[1]))

    def or_(self, parts):
        return _joined("or", parts)

    def and_(self, parts):
        return _joined("and", parts)

    def not_(self, parts):
        return Unary("not", parts[0])

    def cmp(self, parts):
        left, sign, right = parts
        return left if sign is None else Binary(str(sign), _plain(left), _plain(right))

    def sum(self, parts):
        return _chain(parts)

    def term(self, parts):
        return _chain(parts)

    def minus(self, parts):
        value: Any = parts[1]
        return Literal(-float(value.value)) if isinstance(value, Literal) else Unary("-", _plain(value))

    def wrt(self, parts):
        return parts[0] if parts[1] is None else Wrt(_plain(parts[0]), Name(str(parts[1])))

    def num(self, parts):
        return Literal(float(parts[0]))

    def var(self, parts):
        name = str(parts[0])
        if name in ("true", "false"):
            return Literal(name == "true")
        return UnitName(name) if name in _UNITS else Name(name)

    def call(self, parts):
        name, *arguments = parts
        if name in ("FORCE", "TORQUE"):
            return Reading(name.lower(), axis=arguments[0].name.lower())
        return Call(str(name), tuple(_plain(a) for a in arguments if a is not None))

    def here(self, _):
        return Here()

    def string(self, parts):
        return Literal(str(parts[0])[1:-1])

    def paren(self, parts):
        return ("paren", parts[0])


def _plain(value):
    """A value without the mark of its parentheses."""
    while isinstance(value, tuple) and len(value) == 2 and value[0] == "paren":
        value = value[1]
    return value


def _single(statement):
    return statement.body if isinstance(statement, Block) else (statement,)


def _joined(operator, parts):
    found = _plain(parts[0])
    for part in parts[1:]:
        found = Binary(operator, found, _plain(part))
    return found


def _chain(parts):
    """a - b + c, a * b: from left to right; a number times a unit is a quantity."""
    found = parts[0]
    for sign, part in zip(parts[1::2], parts[2::2], strict=True):
        if sign == "*" and isinstance(found, Literal) and isinstance(part, UnitName):
            found = Quantity(found.value, part.unit)
        else:
            found = Binary(str(sign), _plain(found), _plain(part))
    return found


@cache
def _lark() -> lark.Lark:
    return lark.Lark(GRAMMAR, parser="lalr", maybe_placeholders=True)


def tree(text: str) -> lark.Tree:
    """The tree of a program, BEGIN name ... END name."""
    return _lark().parse(text)


def instructions(text: str) -> Any:
    """The instructions of a program, without its comments. Statements alone get a BEGIN and an END."""
    whole = text if "BEGIN" in text else f"BEGIN part {text} END part."
    return _unmarked(_Instructions().transform(tree(whole)))


def _unmarked(thing):
    """Data whose fields have no marks of parentheses."""
    thing = _plain(thing)
    if isinstance(thing, tuple):
        return tuple(_unmarked(x) for x in thing)
    if hasattr(thing, "__dataclass_fields__"):
        fields = {k: _unmarked(getattr(thing, k)) for k in thing.__dataclass_fields__ if k not in ("at", "source")}
        return type(thing)(**fields)
    return thing
