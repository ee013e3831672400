"""`parse_autopass`: from the text of an AUTOPASS program to instructions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.expressions import Binary, Expression, Name
from ...instructions.programs import Program
from ...instructions.sources import Source, Span
from ...instructions.statements import (
    Abort,
    Assign,
    Block,
    Comment,
    Delay,
    For,
    If,
    Operate,
    Parallel,
    Pause,
    Place,
    Print,
    RelationClause,
    Repeat,
    Signal,
    Statement,
    Stop,
    Wait,
    While,
)
from ...texts.cursor import MOST_FINDINGS, Cursor, Unexpected, check_chain
from ...texts.scanner import scan
from .autopass_expressions import KEYWORDS, PATTERN, READINGS, STARTS, conjunction_at, expression_at, unquoted
from .relation_texts import Comments, made, quantity_at, relation_at

__all__ = ["parse_autopass"]

ATTACHMENTS = {"RIGIDLY": "rigid", "NONRIGIDLY": "nonrigid", "CONDITIONALLY": "conditional"}
Body = tuple[Statement, ...]


def parse_autopass(source: Source) -> Program:
    """Read an AUTOPASS program: what is to be done with parts and tools, and the flow of PL/I around it.

        >>> from adjoint.program.instructions import Source
        >>> text = "PLACE bolt ON beam SUCH THAT bolt_tip IS ALIGNED WITH beam_bore;"
        >>> parse_autopass(Source(text)).statements
        (Place(part='bolt', where='on', support='beam', relations=(RelationClause(relation='aligned', ...),), ...),)

    | statement | meaning |
    |---|---|
    | `PLACE part ON|IN part [BY arm] [GRASPING feature] [SUCH THAT ...] [WITH ...] [AND HOLD]` | `Place` |
    | `OPERATE tool [WITH load] [AT place] [ATTACHED RIGIDLY] [SUCH THAT ...] [CLOCKWISE] [SPEED ...]` | `Operate` |
    | `DRIVE IN part [AT place] [SUCH THAT ...] USING tool ...` | `Operate` with a part |
    | `DO I = 1 TO 9 [BY 2]; ... END;`, `DO WHILE (...)`, `DO UNTIL (...)`, `DO; ... END;` | loops and groups |
    | `IF ... THEN ...; ELSE ...;`, `I = I + 1;`, `IN PARALLEL DO; ... END;` | flow of control |
    | `SIGNAL 1 [OFF];`, `WAIT (...);`, `DELAY 2 SEC;`, `PUT LIST (...);`, `ABORT '...';`, `STOP;` | the rest |

    Conditions after SUCH THAT are relations (`bolt_tip IS ALIGNED WITH beam_bore`) and readings (`TORQUE IS EQ 12.0
    IN-LBS`), with AND between them. Parts may have indices, `PLACE part(I) IN tray.bin(I)`; a name in single quotes
    stands for itself. Comments are those of PL/I. A `ProgramError` has all findings with their places. Reference:
    Lieberman & Wesley (1977); Fu, Gonzalez & Lee (1987), Sec. 9.3.2 and Table 9.10.
    """
    return _Parser(source).program()


class _Parser:
    def __init__(self, source: Source):
        self.source = source
        self.cursor = Cursor(scan(source, PATTERN), source)
        comments = self.cursor.tokens.comments
        if comments and (len(comments[-1][1]) < 4 or not comments[-1][1].endswith("*/")):
            at = comments[-1][0]
            raise ProgramError(
                Diagnostic("this comment has no end", Span(at, at + 2), "close it with */", code="syntax"), source
            )
        self.comments = Comments(self.cursor, lambda text: text[2:-2].strip())
        self.found: list[Diagnostic] = []
        self.parsers: dict[str, Callable[[int], Statement]] = {
            "PLACE": self.place, "OPERATE": self.operate, "DRIVE": self.drive, "DO": self.do, "IF": self.if_,
            "IN": self.parallel, "PUT": self.put, "SIGNAL": self.signal, "WAIT": self.wait, "DELAY": self.delay,
            "ABORT": self.abort, "PAUSE": self.pause, "STOP": self.stop,
        }  # fmt: skip

    def program(self) -> Program:
        cursor = self.cursor
        body = self.body("")
        while cursor.key == "END" and len(self.found) < MOST_FINDINGS:
            self.found.append(cursor.unexpected("this END closes nothing").diagnostic)
            cursor.next()
            body += self.body("")
        if self.found:
            raise ProgramError(sorted(self.found, key=lambda d: d.span.start), self.source)
        return Program(body, "", "autopass", self.source)

    def body(self, opened: str) -> Body:
        """Statements up to END, which is not passed, or up to the end of the text."""
        cursor, body = self.cursor, []
        while True:
            while cursor.accept(";"):
                pass
            self.comments.before(cursor.start, body)
            if cursor.kind == "end" and opened:
                raise cursor.unexpected(f"'END;' is missing after {opened}")
            if cursor.kind == "end" or cursor.key == "END":
                return tuple(body)
            begun, depth = cursor.index, cursor.depth
            try:
                statement = self.statement()
                self.comments.before(statement.at.end, body)
                body.append(statement)
            except Unexpected as error:
                self.found.append(error.diagnostic)
                cursor.depth = depth
                if len(self.found) >= MOST_FINDINGS or error.diagnostic.code == "size":
                    cursor.skip_to(())
                if cursor.kind == "end":
                    return tuple(body)
                if cursor.index == begun:
                    cursor.next()
                cursor.skip_to((";",))

    def statement(self) -> Statement:
        cursor, start = self.cursor, self.cursor.start
        parser = self.parsers.get(cursor.key) if cursor.kind == "name" else None
        if parser is not None:
            cursor.next()
            return parser(start)
        if cursor.kind == "name" and cursor.ahead() == "=" and cursor.key not in KEYWORDS:
            at = cursor.here()
            target = Name(cursor.next(), at=at)
            cursor.next()
            return self.ended(Assign, start, target, expression_at(cursor))
        raise cursor.unexpected("a statement is missing", choices=STARTS)

    def ended(self, kind: type, start: int, *args: Any, **fields: Any) -> Any:
        """A statement that a semicolon ends."""
        found = made(kind, self.cursor, start, *args, **fields)
        self.cursor.expect(";", "at the end of the statement")
        return found

    # --- tasks --------------------------------------------------------------------------------------------------------

    def place(self, start: int) -> Statement:
        cursor = self.cursor
        part = self.thing(cursor, "the part to place")
        if cursor.key not in ("IN", "ON"):
            raise cursor.unexpected(f"IN or ON is missing after PLACE {part}", choices=["IN", "ON"])
        fields: dict[str, Any] = {"where": cursor.next().lower()}
        fields["support"] = self.thing(cursor, "what it is placed on")
        while cursor.key != ";":
            clause = self.place_clause(fields)
            if not clause:
                break
        return self.ended(Place, start, part, **fields)

    def place_clause(self, fields: dict[str, Any]) -> bool:
        cursor = self.cursor
        key, after = cursor.key, cursor.ahead()
        if key == "BY":
            self.once(fields, "arm")
            fields["arm"] = self.thing(cursor, "an arm")
        elif key == "GRASPING":
            self.once(fields, "grasp")
            fields["grasp"] = self.thing(cursor, "the feature to grasp")
        elif key == "SUCH":
            self.once(fields, "relations")
            fields["relations"], fields["final"] = self.such_that(True)
        elif key == "WITH":
            self.once(fields, "constraint")
            fields["constraint"] = conjunction_at(cursor)
        elif key in ("AND", "THEN") and after == "HOLD":
            self.once(fields, "hold")
            cursor.next()
            fields["hold"] = True
        else:
            return False
        return True

    def operate(self, start: int) -> Statement:
        fields: dict[str, Any] = {"tool": self.thing(self.cursor, "the tool")}
        while self.cursor.key != ";" and self.tool_clause(fields, False):
            pass
        return self.ended(Operate, start, **fields)

    def drive(self, start: int) -> Statement:
        cursor = self.cursor
        cursor.expect("IN", "after DRIVE")
        fields: dict[str, Any] = {"action": "drive in", "part": self.thing(cursor, "the part to drive in")}
        while cursor.key != ";" and self.tool_clause(fields, True):
            pass
        if "tool" not in fields:
            raise cursor.unexpected("'USING' and a tool are missing in DRIVE IN", choices=["USING"])
        return self.ended(Operate, start, **fields)

    def tool_clause(self, fields: dict[str, Any], drives: bool) -> bool:
        cursor = self.cursor
        key, after = cursor.key, cursor.ahead()
        if key == "USING" and drives:
            self.once(fields, "tool")
            fields["tool"] = self.thing(cursor, "the tool")
        elif key == "WITH":
            self.once(fields, "loads")
            fields["loads"] = self.things("an accessory")
        elif key == "AT":
            self.once(fields, "place")
            fields["place"] = self.thing(cursor, "the place of work")
        elif key == "ATTACHED":
            self.once(fields, "attachment")
            if cursor.key not in ATTACHMENTS:
                raise cursor.unexpected("how it is attached is missing", choices=ATTACHMENTS)
            fields["attachment"] = ATTACHMENTS[cursor.next().upper()]
        elif key == "SUCH":
            self.once(fields, "final")
            fields["final"] = self.such_that(False)[1]
        elif key in ("CLOCKWISE", "COUNTERCLOCKWISE"):
            self.once(fields, "turning")
            fields["turning"] = key.lower()
        elif key == "SPEED":
            self.once(fields, "speed")
            fields["speed"] = quantity_at(cursor, "SPEED")
        elif key == "BY":
            self.once(fields, "arm")
            fields["arm"] = self.thing(cursor, "an arm")
        elif key in ("AND", "THEN") and after == "HOLD":
            self.once(fields, "hold")
            cursor.next()
            fields["hold"] = True
        else:
            return False
        return True

    def once(self, fields: dict[str, Any], name: str) -> None:
        """Go past the first word of a clause that may stand in a statement once."""
        cursor = self.cursor
        if name in fields:
            raise cursor.unexpected("this clause stands here twice")
        cursor.next()

    def such_that(self, may_relate: bool) -> tuple[tuple[RelationClause, ...], Expression | None]:
        """Conditions with AND between them: relations, and the rest as one expression."""
        cursor, relations, final = self.cursor, [], None
        cursor.expect("THAT", "after SUCH")
        for count in itertools.count(1):
            check_chain(cursor, count)
            start = cursor.start
            if cursor.key in READINGS or cursor.key in ("(", "NOT", "^", "-") or cursor.kind == "number":
                found = expression_at(cursor, 3)
                final = found if final is None else Binary("and", final, found, at=cursor.since(final.at.start))
            elif may_relate:
                relations.append(relation_at(cursor, lambda c: self.thing(c, "a feature")))
            else:
                raise cursor.unexpected("a condition such as TORQUE IS EQ 12 IN-LBS is missing", choices=READINGS)
            if cursor.key not in ("AND", "&") or cursor.ahead() == "HOLD" or cursor.start == start:
                return tuple(relations), final
            cursor.next()
        raise AssertionError

    def things(self, what: str) -> tuple[str, ...]:
        found = [self.thing(self.cursor, what)]
        while self.cursor.accept(","):
            found.append(self.thing(self.cursor, what))
        return tuple(found)

    def thing(self, cursor: Cursor, what: str) -> str:
        """The name of a part, feature, tool or arm: bolt, beam.bore, bin(I,J), part(I).top, or 'any name'."""
        if cursor.kind == "string":
            if len(cursor.tokens.texts[cursor.index]) < 3:
                raise cursor.unexpected("this name is empty")
            return unquoted(cursor.next())
        if cursor.kind != "name" or cursor.key in KEYWORDS:
            raise cursor.unexpected(f"the name of {what} is missing")
        name = cursor.next()
        if not cursor.accept("("):
            return name
        indices = [self.index()]
        while cursor.accept(","):
            indices.append(self.index())
        cursor.expect(")", "after the indices")
        name = f"{name}({','.join(indices)})"
        return f"{name}.{cursor.name('a feature')}" if cursor.accept(".") else name

    def index(self) -> str:
        """A whole number, a variable, or a variable and a whole number: 3, I, I+1."""
        cursor, pieces = self.cursor, []
        if cursor.kind == "name" and cursor.key not in KEYWORDS and "." not in cursor.key:
            pieces.append(cursor.next())
            if cursor.key not in ("+", "-"):
                return pieces[0]
            pieces.append(cursor.next())
        if cursor.kind != "number" or not cursor.tokens.texts[cursor.index].isdigit():
            raise cursor.unexpected(
                "an index is missing", hint="write a number or a variable: bin(3), bin(I), bin(I+1)"
            )
        return "".join([*pieces, cursor.next()])

    # --- flow of control ----------------------------------------------------------------------------------------------

    def do(self, start: int) -> Statement:
        cursor = self.cursor
        cursor.deeper()
        key = cursor.key
        if cursor.accept(";"):
            found = made(Block, cursor, start, self.body("DO;"))
        elif key in ("WHILE", "UNTIL"):
            cursor.next()
            cursor.expect("(", f"after {key}")
            condition = expression_at(cursor)
            cursor.expect(")", "after the condition")
            cursor.expect(";", f"after DO {key} (...)")
            body = self.body(f"DO {key}")
            found = (
                made(While, cursor, start, condition, body)
                if key == "WHILE"
                else made(Repeat, cursor, start, body, condition)
            )
        else:
            found = self.loop(start)
        cursor.expect("END", "at the end of DO")
        cursor.expect(";", "after END")
        cursor.shallower()
        return found

    def loop(self, start: int) -> Statement:
        cursor = self.cursor
        if cursor.kind != "name" or cursor.key in KEYWORDS:
            raise cursor.unexpected("';', WHILE, UNTIL or a variable is missing after DO", choices=["WHILE", "UNTIL"])
        variable = cursor.next()
        cursor.expect("=", "after the variable of DO")
        first = expression_at(cursor)
        cursor.expect("TO", "after the first value of DO")
        last = expression_at(cursor)
        step = expression_at(cursor) if cursor.accept("BY") else None
        cursor.expect(";", "after the values of DO")
        return made(For, cursor, start, variable, first, last, step, self.body(f"DO {variable}"))

    def if_(self, start: int) -> Statement:
        cursor = self.cursor
        cursor.deeper()
        condition = expression_at(cursor)
        cursor.expect("THEN", "after the condition of IF")
        then = self.branch()
        otherwise = self.branch() if cursor.accept("ELSE") else ()
        cursor.shallower()
        return made(If, cursor, start, condition, then, otherwise)

    def branch(self) -> Body:
        """One statement; DO; ... END; stands for several."""
        body: list[Statement] = []
        self.comments.before(self.cursor.start, body)
        depth = self.cursor.depth
        if self.cursor.key == "DO":  # it is no nesting of its own, so that what printers write can be read
            self.cursor.depth -= 1
        statement = self.statement()
        self.cursor.depth = depth
        if isinstance(statement, Block) and not body:
            return statement.body
        self.comments.before(statement.at.end, body)
        return (*body, statement)

    def parallel(self, start: int) -> Statement:
        cursor = self.cursor
        cursor.expect("PARALLEL", "after IN")
        cursor.expect("DO", "after IN PARALLEL")
        cursor.expect(";", "after IN PARALLEL DO")
        cursor.deeper()
        body = self.body("IN PARALLEL DO;")
        cursor.shallower()
        branches, comments = [], []
        for statement in body:
            if isinstance(statement, Comment):
                comments.append(statement)
            else:
                plain = statement.body if isinstance(statement, Block) and not comments else (*comments, statement)
                branches.append(plain)
                comments = []
        if comments:
            branches.append(tuple(comments))
        cursor.expect("END", "at the end of IN PARALLEL DO")
        return self.ended(Parallel, start, tuple(branches))

    # --- the rest -----------------------------------------------------------------------------------------------------

    def put(self, start: int) -> Statement:
        cursor = self.cursor
        cursor.expect("LIST", "after PUT")
        cursor.expect("(", "after PUT LIST")
        values = [expression_at(cursor)]
        while cursor.accept(","):
            values.append(expression_at(cursor))
        cursor.expect(")", "after the values")
        return self.ended(Print, start, tuple(values))

    def signal(self, start: int) -> Statement:
        line = expression_at(self.cursor)
        return self.ended(Signal, start, line, not self.cursor.accept("OFF"))

    def wait(self, start: int) -> Statement:
        return self.ended(Wait, start, expression_at(self.cursor))

    def delay(self, start: int) -> Statement:
        return self.ended(Delay, start, expression_at(self.cursor))

    def abort(self, start: int) -> Statement:
        return self.ended(Abort, start, expression_at(self.cursor))

    def pause(self, start: int) -> Statement:
        cursor = self.cursor
        return self.ended(Pause, start, unquoted(cursor.next()) if cursor.kind == "string" else "")

    def stop(self, start: int) -> Statement:
        return self.ended(Stop, start)
