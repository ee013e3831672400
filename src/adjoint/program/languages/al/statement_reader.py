"""From tokens to statements of AL. After a wrong statement the next one is read, so that all is found at once."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

from ....lazy import cached_property
from ...instructions.diagnostics import Diagnostic
from ...instructions.expressions import Name
from ...instructions.sources import Source, Span
from ...instructions.statements import (
    Assign,
    Block,
    Body,
    CallProcedure,
    Comment,
    SetSpeed,
    Statement,
)
from ...texts.cursor import Unexpected
from ...texts.scanner import Tokens
from .flow_reader import CLOSERS, FlowReader
from .words import AL_WORDS, KINDS, POWERS, RESERVED, STATEMENTS

__all__: list[str] = []

MOST = 100  # findings; a text with more is no program, and would only take time
_ENDS = frozenset((*CLOSERS, "ELSE", ";"))
_ASSIGNS = frozenset(("←", "=", ":="))
_CLAUSE_WORDS = (
    "VIA", "WITH", "ON", "DIRECTLY", "AVOIDING", "NONSTOP", "NOWAIT", "RIGIDLY", "NONRIGIDLY", "CONDITIONALLY", "FROM",
    "INTO", "ELSE", "UNTIL", "STEP", "THEN", "WRT", "AND", "OR",
)  # fmt: skip


class Enough(Exception):
    """So much is wrong that nothing more is looked for."""


class StatementReader(FlowReader):
    """A place among tokens of AL, which reads statements, and remembers what is wrong."""

    def __init__(self, tokens: Tokens, source: Source):
        super().__init__(tokens, source)
        self.findings: list[Diagnostic] = []
        self.comments = tokens.comments
        self.comment, self.comment_at = -1, -1  # the next comment that no body has yet, and where it begins
        self._go_to_comment(0)
        self.open = []
        self.readers: dict[str, Callable[[], Statement | Body]] = {
            "MOVE": self.move, "OPEN": self.hand, "CLOSE": self.hand, "AFFIX": self.affix, "UNFIX": self.unfix,
            "LOCATE": self.locate,
            "ON": self.watch, "DISABLE": self.disable, "BEGIN": self._begin, "COBEGIN": self.cobegin_statement,
            "IF": self.if_statement, "WHILE": self.while_statement, "DO": self.repeat_statement,
            "FOR": self.for_statement, "CASE": self.case_statement, "ABORT": self.abort, "STOP": self.stop,
            "PAUSE": self.pause, "PROMPT": self.prompt, "PRINT": self.print, "SIGNAL": self.signal, "WAIT": self.wait,
            "OUTPUT": self.output, "RETURN": self.give_back, "PROCEDURE": self.procedure,
        }  # fmt: skip

    # --- bodies -------------------------------------------------------------------------------------------------------

    def body(self, found: list[Statement], *stops: str) -> Body:
        """Statements up to one of the words `stops`, or to the end, behind those that were `found` before."""
        while True:
            if self.comment_at < self.starts[self.index]:
                found.extend(self.comments_before(self.starts[self.index]))
            key = self.key
            if key == ";":
                self.next()
                continue
            if key in stops or self.kind == "end":
                break
            if key in CLOSERS:
                if any(closer == key for closer, _ in self.open):
                    break
                self._stray(key)
                continue
            first, depth, around = self.index, self.depth, len(self.open)
            try:
                statement = self.statement()
                # Comments inside a statement come before it.
                if self.comment_at < self.ends[self.index - 1]:
                    found.extend(self.comments_before(self.ends[self.index - 1]))
                if isinstance(statement, tuple):
                    found.extend(statement)
                else:
                    found.append(statement)
                if self.key == ";":
                    self.next()
                else:
                    self.separate()
            except Unexpected as error:
                if error.diagnostic.code == "size":
                    raise
                self.report(error.diagnostic)
                self.depth = depth
                del self.open[around:]
                self.recover(first, stops)
        return tuple(found)

    def statement(self) -> Statement | Body:
        """A statement; several for a declaration of lists of several sizes."""
        self.deeper()
        key, kind = self.key, self.kind
        if kind != "name":
            raise self.unexpected("a statement is missing")
        follows = self.keys[self.index + 1]
        if (key in KINDS or key in POWERS) and follows not in _ASSIGNS and self.tokens.kinds[self.index + 1] == "name":
            found = self.declaration()
        elif key in self.readers:
            found = self.readers[key]()
        elif key == "ELSE":
            hint = "leave out the ';' before ELSE"
            raise self.unexpected("there is no IF that this ELSE belongs to", hint=hint)
        elif key in RESERVED:
            if follows in _ASSIGNS:
                message = f"'{self.texts[self.index]}' is a word of AL, and no name"
                raise Unexpected(Diagnostic(message, self.here(), "give the variable another name", code="syntax"))
            raise self.unexpected("a statement is missing", hint=AL_WORDS.get(key, ""))
        else:
            found = self._named()
        self.depth -= 1
        return found

    def _named(self) -> Statement:
        """What begins with a name: an assignment, a call, or a monitor with a name."""
        index = self.index
        start, key = self.starts[index], self.key
        name = self.next()
        follows = self.key
        if follows == "(":
            arguments = self.arguments()
            return CallProcedure(name, arguments, at=self.since(start))
        if follows in _ENDS or self.kind == "end":
            return CallProcedure(name, at=self.since(start))
        if follows == ":" and self.ahead() == "ON":
            self.next()
            return self.watch(name, start)
        target: Name = Name(name, at=Span(start, self.ends[index]))
        if follows == "[":
            target = self.indexed(target, start)  # type: ignore[assignment]
            if self.index - index > MOST:
                self.check_height(target, index)
        if not self.assigns():
            self.index = index
            self.key, self.kind = self.keys[index], "name"
            words = [*STATEMENTS, *KINDS, *POWERS]
            hint = _alike(key, words) or _BEGIN
            raise Unexpected(Diagnostic(f"'{name[:40]}' begins no statement", self.here(), hint, code="syntax"))
        self.bound.add(name)
        value = self.expression()
        if key == "SPEED_FACTOR" and follows != "[":
            return self.made(SetSpeed, start, value, True)
        return Assign(target, value, at=Span(start, self.ends[self.index - 1]))

    def assigns(self) -> bool:
        """Whether an assignment stands here: ←, =, := or <-; if it does, go past it."""
        if self.key in _ASSIGNS:
            self.next()
            return True
        index = self.index
        if self.key == "<" and self.keys[index + 1] == "-" and self.ends[index] == self.starts[index + 1]:
            self.next()
            self.next()
            return True
        return False

    def single(self, where: str) -> Body:
        """The statement behind THEN, ELSE and DO, without the BEGIN and END around it."""
        if self.key == "BEGIN":  # it is no nesting of its own, so that what printers write can be read
            start = self.start
            name, body = self.block()
            return (Block(body, name, at=self.since(start)),) if name else body
        if self.key in _ENDS:
            return ()
        if self.kind == "end":
            raise self.unexpected(f"a statement is missing {where}")
        found = self.statement()
        return found if isinstance(found, tuple) else (found,)

    # --- comments -----------------------------------------------------------------------------------------------------

    def _go_to_comment(self, number: int) -> None:
        self.comment = number
        self.comment_at = self.comments[number][0] if number < len(self.comments) else len(self.source.text) + 1

    def comments_before(self, offset: int) -> list[Statement]:
        """The comments up to an offset that no body has yet."""
        found: list[Statement] = []
        while self.comment_at < offset:
            start, text = self.comments[self.comment]
            plain = "\n".join(line.strip() for line in text[1:-1].strip().splitlines())
            found.append(Comment(plain, at=Span(start, start + len(text))))
            self._go_to_comment(self.comment + 1)
        return found

    # --- blocks -------------------------------------------------------------------------------------------------------

    def block(self, also: str = "") -> tuple[str, Body]:
        """BEGIN ... END: its name and its body. `also` is a name that may stand behind END."""
        opened = self.here()
        self.next()
        name = self._block_name()
        self.open.append(("END", name))
        body = self.body([], "END")
        self.open.pop()
        if self.key != "END":
            self.report(Diagnostic("this BEGIN has no END", opened, _UNCLOSED, code="syntax"))
            return name, body
        behind = self._name_at(self.index + 1)
        outer = [n for _, n in self.open if n]
        if behind and behind != name and behind in outer:
            self.report(
                Diagnostic(f"this BEGIN has no END before the END of '{behind}'", opened, _UNCLOSED, code="syntax")
            )
            return name, body
        self.next()
        if not behind:
            return name, body
        follows = self.ahead()
        if behind in (name, also):
            self.next()
        elif name or follows in (";", ".", "END", "UNTIL", "COEND", "ELSE", ""):
            line = self.source.position(opened.start).line
            begun = f"'{name}'" if name else "without a name"
            message = f"this END is for '{behind[:40]}', but the block that began in line {line} is {begun}"
            if behind not in RESERVED:
                self.report(Diagnostic(message, self.here(), f"write END {name}".rstrip(), code="syntax"))
                self.next()
        return name, body

    def _name_at(self, index: int) -> str:
        """The name of a block that stands at a token, as a word or between quotes."""
        kind, text = self.tokens.kinds[index], self.texts[index]
        if kind == "string" and text[0] == '"':
            return text[1:-1].replace('""', '"')
        return text if kind == "name" and self.keys[index] not in RESERVED else ""

    def _block_name(self) -> str:
        """The name behind BEGIN: BEGIN insertion ... END insertion, or "". It is a name only if a statement follows."""
        name = self._name_at(self.index)
        if name and (self.kind == "string" or self._names_block(name)):
            self.next()
            return name
        return ""

    def _names_block(self, name: str) -> bool:
        """Whether the word behind BEGIN is a name, and does not begin a statement."""
        key, follows = self.key, self.ahead()
        if key in KINDS or key in POWERS:
            return False
        if follows == ";":  # BEGIN insertion; ... END insertion.
            return not self.open and name in self.texts[-4:-1] and "END" in self.keys[-5:-1]
        if follows == "END":
            return self._name_at(self.index + 2) == name
        if self.tokens.kinds[min(self.index + 1, len(self.keys) - 1)] != "name":
            return False
        return key in self._behind_end or not _alike(key, STATEMENTS)

    @cached_property
    def _behind_end(self) -> set[str]:
        """Words that stand behind END somewhere."""
        return {b for a, b in zip(self.keys, self.keys[1:], strict=False) if a == "END"}

    def _begin(self) -> Statement:
        start, depth = self.start, self.depth
        if self.open and self.open[-1][0] == "COEND":  # a branch of COBEGIN is no nesting of its own
            self.depth -= 1
        name, body = self.block()
        self.depth = depth
        return Block(body, name, at=self.since(start))

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def report(self, diagnostic: Diagnostic) -> None:
        """Remember a finding."""
        self.findings.append(diagnostic)
        if len(self.findings) >= MOST:
            raise Enough

    def expect_word(self, key: str, where: str) -> None:
        """Go past a word. If it is missing or wrongly spelt, this is reported, and reading goes on if it can."""
        if self.key == key:
            self.next()
            return
        hint = _alike(self.key, [key]) or (f"write {key} before it" if self.kind != "end" else "")
        error = self.unexpected(f"'{key}' is missing {where}", hint=hint)
        if self.kind == "name" and _alike(self.key, [key]) and self.key not in RESERVED:
            self.report(error.diagnostic)
            self.next()
        elif self.key in self.readers:
            self.report(error.diagnostic)
        else:
            raise error

    def separate(self) -> None:
        """Between two statements, where no ';' stands: it may be missing at the end of a body only."""
        if self.key in CLOSERS or self.kind == "end":
            return
        key, index = self.key, self.index
        if self.kind != "name" or (key in RESERVED and key not in self.readers and key not in KINDS):
            hint = "leave out the ';' before ELSE" if key == "ELSE" else ""
            raise self.unexpected("the statement before this ends here, or ';' is missing", hint=hint)
        clause = _alike(key, _CLAUSE_WORDS) if key not in self.readers else ""
        if clause and self.keys[index + 1] not in (*_ASSIGNS, "(", "[", ";", ""):
            raise self.unexpected("this belongs to no clause of the statement before it", hint=clause)
        line = self.source.position(self.ends[index - 1]).line
        same = line == self.source.position(self.start).line
        hint = "end the statement with ';'" + (", or put an operator between the two values" if same else "")
        self.report(Diagnostic("';' is missing behind this statement", self.span_before(), hint, code="syntax"))

    def _stray(self, key: str) -> None:
        """A word that ends a block where none is open."""
        begins = {"END": "BEGIN", "COEND": "COBEGIN", "UNTIL": "DO"}[key]
        self.report(Diagnostic(f"there is no {begins} that this {key} ends", self.here(), code="syntax"))
        self.next()
        if key == "UNTIL":
            self.recover(self.index - 1, ())
        elif self._name_at(self.index) and self.ahead() in (";", ".", ""):
            self.next()
        self.accept(".")

    def recover(self, first: int, stops: Iterable[str]) -> None:
        """Go to the end of the statement that began at the token `first`, past blocks inside it."""
        if self.index == first:
            self.next()
        depth = 0
        while self.kind != "end":
            key = self.key
            if depth == 0 and (key == ";" or key in stops or key == "COEND" or key == "END"):
                break
            if key == "BEGIN" or key == "COBEGIN":
                depth += 1
            elif key == "END" or key == "COEND":
                depth -= 1
            self.next()


def _alike(word: str, words: Iterable[str]) -> str:
    """A hint with the words that look like one, or ""."""
    close = difflib.get_close_matches(word, list(words), 2, 0.7) if len(word) > 1 else []
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


_BEGIN = "statements begin with a word such as MOVE, or are assignments: name ← value;"
_UNCLOSED = "every BEGIN needs an END"
