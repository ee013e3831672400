"""`parse_rapt`: from the text of a RAPT program to instructions."""

from __future__ import annotations

from ....errors import nearest
from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.programs import Program
from ...instructions.sources import Source
from ...instructions.statements import Place, RelationClause, Statement, TaskState
from ...texts.cursor import MOST_FINDINGS, Cursor, Unexpected
from ...texts.scanner import Words, scan
from .relation_texts import RELATION_WORDS, Comments, made, relation_at

__all__ = ["parse_rapt"]

LETTERS = "[A-Za-z_0-9]"
NAME = rf"[A-Za-z_]{LETTERS}*(?:[-.]{LETTERS}+)*"
_PATTERN = Words(comment=r"\$\$[^\n]*", operators=("(", ")", ":", ";", ",", "-"), name=NAME).pattern()
_STARTS = ("PLACE", "STATE", "CHECK", "ACHIEVE")
KEYWORDS = frozenset({*_STARTS, *RELATION_WORDS, "SO", "THAT", "AND", "BY"})


def parse_rapt(source: Source) -> Program:
    """Read a RAPT program: operations by relations of features, and states of the world.

        >>> from adjoint.program.instructions import Source
        >>> program = parse_rapt(Source("PLACE Block3 SO THAT (Block2-face3 AGAINST Block3-face1)"))
        >>> program.statements[0].relations
        (RelationClause(relation='against', first='Block2.face3', second='Block3.face1', value=None),)

    | statement | meaning |
    |---|---|
    | `PLACE part [BY arm] SO THAT (relation) [AND (relation)] ...` | the part is picked and placed: `Place` |
    | `STATE name: (relation) (relation) ...` | a state of the world gets a name: `TaskState` |
    | `CHECK name`, or `CHECK (relation) ...` | the program fails if the state does not hold now |
    | `ACHIEVE name [BY arm]`, or `ACHIEVE (relation) ...` | parts are placed until the state holds |

    A relation is `feature AGAINST feature`, with FITS, COPLANAR, ALIGNED, PARALLEL, ... instead of AGAINST, or `AT
    DISTANCE 2 MM FROM`, `AT ANGLE 30 DEG TO`. A feature is written `Block2-face3` and becomes the place "Block2.face3"
    of a world; a name in quotes stands for itself. `$$` begins a comment, as in APT. Semicolons may end statements. A
    `ProgramError` has all findings with their places. Reference: Popplestone, Ambler & Bellos (1978); Fu, Gonzalez &
    Lee (1987), Sec. 9.3.2 and Table 9.9.
    """
    return _Parser(source).program()


class _Parser:
    def __init__(self, source: Source):
        self.source = source
        self.cursor = Cursor(scan(source, _PATTERN), source)
        self.comments = Comments(self.cursor, lambda text: text.removeprefix("$$").strip())
        self.states: dict[str, TaskState] = {}
        self.found: list[Diagnostic] = []

    def program(self) -> Program:
        cursor, body = self.cursor, []
        while True:
            while cursor.accept(";"):
                pass
            self.comments.before(cursor.start, body)
            if cursor.kind == "end":
                break
            begun = cursor.index
            try:
                statement = self.statement()
                self.comments.before(cursor.start if cursor.key == ";" else statement.at.end, body)
                body.append(statement)
            except Unexpected as error:
                self.found.append(error.diagnostic)
                if len(self.found) >= MOST_FINDINGS:
                    break
                if cursor.index == begun:
                    cursor.next()
                cursor.skip_to((";", *_STARTS))
        if self.found:
            raise ProgramError(self.found, self.source)
        return Program(tuple(body), "", "rapt", self.source)

    def statement(self) -> Statement:
        cursor, start = self.cursor, self.cursor.start
        if cursor.accept("PLACE"):
            part = self.feature(cursor)
            arm = self.arm()
            if not cursor.accept("SO"):
                raise cursor.unexpected(f"'SO THAT' is missing after PLACE {part}", choices=["SO", "BY"])
            cursor.expect("THAT", "after SO")
            return made(Place, cursor, start, part, relations=self.relations("SO THAT"), arm=arm)
        if cursor.accept("STATE"):
            return self.definition(start)
        if cursor.key in ("CHECK", "ACHIEVE"):
            purpose = cursor.next().lower()
            name, relations = self.state(purpose)
            arm = self.arm() if purpose == "achieve" else ""
            return made(TaskState, cursor, start, name, relations, purpose, arm)
        raise cursor.unexpected("a statement begins with PLACE, STATE, CHECK or ACHIEVE", choices=_STARTS)

    def definition(self, start: int) -> TaskState:
        cursor = self.cursor
        at = cursor.here()
        name = self.word("a state")
        cursor.expect(":", f"after STATE {name}")
        state = made(TaskState, cursor, start, name, self.relations(f"STATE {name}:"))
        if name in self.states:
            raise Unexpected(Diagnostic(f"the state '{name}' is defined twice", at, code="name"))
        self.states[name] = state
        return state

    def state(self, purpose: str) -> tuple[str, tuple[RelationClause, ...]]:
        """The name of a state that is defined above, and its relations; or relations without a name."""
        cursor = self.cursor
        if cursor.key == "(":
            return "", self.relations(purpose.upper())
        at = cursor.here()
        name = self.word("a state")
        if name not in self.states:
            hint = nearest(name, list(self.states)) if self.states else "define it before: STATE A: (...) (...)"
            raise Unexpected(Diagnostic(f"no state '{name}' is defined above", at, hint, code="name"))
        return name, self.states[name].relations

    def relations(self, where: str) -> tuple[RelationClause, ...]:
        cursor, found = self.cursor, []
        while True:
            if not cursor.accept("("):
                raise cursor.unexpected(f"'(' is missing before a relation after {'AND' if found else where}")
            found.append(relation_at(cursor, self.feature))
            cursor.expect(")", "after the relation")
            if not cursor.accept("AND") and cursor.key != "(":
                return tuple(found)

    def arm(self) -> str:
        return self.word("an arm") if self.cursor.accept("BY") else ""

    def word(self, what: str) -> str:
        cursor = self.cursor
        if cursor.kind == "name" and cursor.key in KEYWORDS:
            raise cursor.unexpected(f"the name of {what} is missing")
        return _unquoted(cursor) if cursor.kind == "string" else cursor.name(what)

    def feature(self, cursor: Cursor) -> str:
        """The name of a part or feature: Block2-face3 is the place Block2.face3."""
        if cursor.kind == "string":
            return _unquoted(cursor)
        name = self.word("a part or feature")
        head, mark, tail = name.partition("-")
        return f"{head}.{tail}" if mark and "." not in head else name


def _unquoted(cursor: Cursor) -> str:
    if len(cursor.tokens.texts[cursor.index]) < 3:
        raise cursor.unexpected("this name is empty")
    return cursor.next()[1:-1]
