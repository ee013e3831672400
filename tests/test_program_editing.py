"""What editors ask about programs: findings, meanings, completions, and a language server over standard input."""

import importlib
import json
import queue
import subprocess
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import command, environment

from adjoint.errors import ArgumentError, MissingPackageError
from adjoint.program.editing import completions, findings, hover, language_server
from adjoint.program.editing.client_positions import ClientPositions
from adjoint.program.languages import FRONT_ENDS, parse

WRONG = {  # {language: (text with one error, the piece that is wrong)}
    "al": ("BEGIN a\n  r ← ROT(Z, 90);\n  t ← 5*sec;\nEND a.\n", "90"),
    "val": (".PROGRAM a\n  MOVE A\n  APPRO B\n.END\n", None),
    "aml": ("a: SUBR;\n  n: NEW 3;\n  n = n + + ;\nEND;\n", None),
    "autopass": ("PLACE bolt ON beam SUCH bolt_tip IS ALIGNED WITH beam_bore;\n", None),
    "rapt": ("PLACE block1 SO THAT (block1/bottom AGAINST)\n", None),
}
LONG = 1_000_000


# --- findings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", WRONG)
def test_findings_stand_where_the_text_is_wrong(language):
    text, piece = WRONG[language]
    found = findings(text, language)
    assert any(d.severity == "error" for d in found)
    for d in found:
        assert 0 <= d.span.start <= d.span.end <= len(text)
    if piece is not None:
        assert [text[d.span.start : d.span.end] for d in found] == [piece]
        assert found[0].hint == "write 90*deg"


def test_spans_count_a_byte_order_mark():
    text = "\ufeff" + WRONG["al"][0]
    (found,) = findings(text, "al")
    assert text[found.span.start : found.span.end] == "90"


def test_a_program_without_faults_has_no_findings():
    assert findings("BEGIN a\n  r ← ROT(Z, 90*deg);\nEND a.", "al") == ()


def test_unknown_languages_are_named():
    with pytest.raises(ArgumentError, match="'all' is no language"):
        findings("", "all")
    with pytest.raises(ArgumentError, match="is no language"):
        hover("", "all", 0)


# --- hover ------------------------------------------------------------------------------------------------------------


def told(text: str, language: str, offset: int):
    found = hover(text, language, offset)
    assert found is not None
    return found


def test_a_variable_goes_before_a_constant_that_differs_in_case():
    text = "BEGIN a\n  x ← 5*inches;\n  v ← x*X;\nEND a."
    meaning, span = told(text, "al", text.index("x*X"))
    assert meaning == "A variable of this program, line 2: x ← 5*inches;" and text[span.start : span.end] == "x"
    meaning, _ = told(text, "al", text.index("X;"))
    assert "variable" not in meaning and meaning


@pytest.mark.parametrize(
    ("text", "language", "word", "meant"),
    [
        ("BEGIN a MOVE barm TO A; END a.", "al", "MOVE", "arm"),
        ("BEGIN a move barm TO A; END a.", "al", "move", "arm"),
        ("BEGIN a v ← 5*kilograms; END a.", "al", "kilograms", "kg"),
        ("BEGIN a v ← SQRT(4); END a.", "al", "SQRT", "root"),
        (".PROGRAM a\nMOVES B\n.END", "val", "MOVES", "straight"),
    ],
)  # fmt: skip
def test_words_of_languages_are_explained(text, language, word, meant):
    meaning, span = told(text, language, text.index(word) + 1)
    assert meant in meaning and text[span.start : span.end] == word


def test_names_are_explained_where_the_program_defines_them():
    text = (
        "BEGIN a\n  DISTANCE SCALAR d;\n  PROCEDURE hop(SCALAR n);\n  BEGIN d ← n*d; END;\n"
        "  FOR i ← 1 STEP 1 UNTIL 3 DO hop(i);\nEND a."
    )
    means = {name: told(text, "al", text.rindex(name))[0] for name in ("hop", "i)", "n*d", "d;")}
    assert means["hop"].startswith("A procedure of this program, line 3:")
    assert means["i)"].startswith("A variable of a loop") and means["n*d"].startswith("A parameter of hop")
    assert means["d;"].startswith("A scalar of this program, line 2")


def test_nothing_is_said_about_what_is_not_known():
    text = "BEGIN a MOVE barm TO nowhere; END a."
    assert hover(text, "al", text.index("nowhere")) is None
    assert hover(text, "al", -1) is None and hover(text, "al", len(text)) is None and hover("", "al", 0) is None
    assert hover(text, "al", text.index(" MOVE")) is None


# --- completion -------------------------------------------------------------------------------------------------------


def words_at(text: str, language: str = "al") -> list[str]:
    at = text.index("|")
    return [c.text for c in completions(text.replace("|", ""), language, at)]


def test_words_that_begin_like_the_one_before_the_cursor():
    assert words_at("BEGIN a\n  bolt_tip ← nilvect;\n  MOVE barm TO bolt|;\nEND a.") == ["bolt_tip"]
    assert words_at("BEGIN a  bolt_tip ← nilvect;  BO|") == ["bolt_tip", "BOOLEAN"]  # while it is being written
    assert "inches" in words_at("BEGIN a  x ← 5*in|") and "INVERSE" in words_at("BEGIN a  x ← 5*in|")
    assert "MOVES" in words_at(".PROGRAM a\n  mov|\n.END", "val")
    assert words_at("BEGIN a  zzz| END a.") == []  # what is being written is no suggestion for itself
    everything = words_at("BEGIN a  | END a.")
    assert len(everything) > 100 and {"MOVE", "inches", "SQRT"} <= set(everything)


def test_completions_have_kinds_and_meanings():
    found = {c.text: c for c in completions("BEGIN a  x ← 5*inches;  ", "al", 24)}
    assert found["x"].kind == "variable" and found["SQRT"].kind in ("function", "keyword")
    assert found["kilograms"].kind == "unit" if "kilograms" in found else True
    assert all(c.meaning for c in found.values())


# --- hostile texts ----------------------------------------------------------------------------------------------------

HOSTILE = {
    "parentheses": "(" * LONG, "name": "a" * LONG, "junk": "$" * LONG, "too long": "x" * (LONG + 1), "nul": "\0" * 1000,
    "blocks": "BEGIN " * 30_000, "minus": "a ← " + "-" * 200_000, "statements": "a ← 1;\n" * 10_000,
    "marks": "a=" * 50_000, "brackets": "a[" * 50_000,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("language", ["al", "val"])
def test_hostile_texts_are_answered(kind, language):
    text = HOSTILE[kind]
    for d in findings(text, language):
        assert d.span.start <= len(text)
    hover(text, language, len(text) // 2)
    assert len(completions(text, language, len(text))) <= 500


@given(st.text(st.sampled_from("aXé⊗😀\r\n\t \u2028\x0c"), max_size=30), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_places_of_editors_lead_back(text, units):
    places = ClientPositions(text, units)
    for offset in range(len(text) + 1):
        line, column = places.position(offset)
        back = places.offset(line, column)
        assert back == offset or (text[offset - 1 : offset + 1] == "\r\n" and back == offset - 1)


def test_columns_are_those_of_utf_16():
    places = ClientPositions("a\r\n⊗ 😀x\rb\n", "utf-16")
    assert places.position(places.text.index("x")) == (1, 4) and places.offset(1, 4) == places.text.index("x")
    assert places.position(places.text.index("b")) == (2, 0)
    assert ClientPositions("⊗ 😀x", "utf-8").position(3) == (0, 8)
    assert places.offset(0, 99) == 1 and places.offset(99, 0) == len(places.text)


# --- the server -------------------------------------------------------------------------------------------------------


class Client:
    """An editor that speaks to a server in a process of its own."""

    def __init__(self):
        self.process: Any = subprocess.Popen(
            command("program", "--lsp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(),
        )  # fmt: skip
        self.inbox: queue.Queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.last = 0

    def _read(self) -> None:
        out = self.process.stdout
        while line := out.readline():
            size = int(line.split(b":")[1])
            while out.readline().strip():
                pass
            self.inbox.put(json.loads(out.read(size)))

    def send(self, method: str, parameters=None, **more) -> None:
        message = {"jsonrpc": "2.0", "method": method, **more}
        if parameters is not None:
            message["params"] = parameters
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def ask(self, method: str, parameters=None):
        self.last += 1
        self.send(method, parameters, id=self.last)
        return self.wait(lambda m: m.get("id") == self.last and "method" not in m)["result"]

    def wait(self, wanted) -> dict:
        while True:
            message = self.inbox.get(timeout=60)
            if wanted(message):
                return message

    def findings(self) -> dict:
        return self.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics")["params"]


@pytest.fixture
def client():
    made = Client()
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.mark.slow
def test_a_conversation_with_the_server(client):
    answer = client.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    offered = answer["capabilities"]
    assert offered["hoverProvider"] and offered["completionProvider"] is not None
    assert offered["documentFormattingProvider"] and answer["serverInfo"]["name"] == "adjoint"
    client.send("initialized", {})
    uri = "file:///nowhere/hop.al"
    bad = "BEGIN hop\n  x ← 5*inches; { ⊗ and 😀 } r ← ROT(Z, 90);\n  MOVE barm TO ⊗ + x*Z;\nEND hop.\n"
    opened = {"uri": uri, "languageId": "al", "version": 1, "text": bad}
    client.send("textDocument/didOpen", {"textDocument": opened})
    told = client.findings()
    assert told["uri"] == uri and told["version"] == 1
    (found,) = told["diagnostics"]
    before = bad.splitlines()[1].partition("90")[0]
    column = len(before.encode("utf-16-le")) // 2
    assert column == len(before) + 1  # the emoji counts twice
    assert found["range"] == {"start": {"line": 1, "character": column}, "end": {"line": 1, "character": column + 2}}
    assert found["severity"] == 1 and found["source"] == "adjoint" and "hint: write 90*deg" in found["message"]

    here = {"textDocument": {"uri": uri}}
    assert client.ask("textDocument/formatting", {**here, "options": {"tabSize": 4, "insertSpaces": True}})
    good = bad.replace("90)", "90*deg)")
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": good}]}
    client.send("textDocument/didChange", change)
    told = client.findings()
    assert told["diagnostics"] == [] and told["version"] == 2

    third = good.splitlines()[2]
    at = {"line": 2, "character": third.index("x*Z")}
    told = client.ask("textDocument/hover", {**here, "position": at})
    assert told["contents"]["value"].startswith("A variable of this program, line 2:")
    assert told["range"] == {"start": at, "end": {**at, "character": at["character"] + 1}}
    assert client.ask("textDocument/hover", {**here, "position": {"line": 0, "character": 5}}) is None
    found = client.ask("textDocument/completion", {**here, "position": {"line": 2, "character": 4}})
    assert any(item["label"] == "MOVE" for item in found["items"])

    (edit,) = client.ask("textDocument/formatting", {**here, "options": {"tabSize": 4, "insertSpaces": True}})
    assert edit["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 4, "character": 0}}
    assert parse(edit["newText"], "al") == parse(good, "al") and "😀" in edit["newText"]

    client.send("textDocument/didClose", here)
    assert client.findings()["diagnostics"] == []
    client.send("textDocument/didOpen", {"textDocument": {**opened, "uri": "untitled:1", "languageId": "plaintext"}})
    assert client.findings()["diagnostics"] == []  # no language of ours
    assert client.ask("shutdown") is None
    client.send("exit")
    assert client.process.wait(timeout=60) == 0


def test_without_pygls_the_extra_is_named(monkeypatch):
    kept = importlib.import_module

    def missing(name, *rest):
        if name.partition(".")[0] in ("pygls", "lsprotocol"):
            raise ImportError(name)
        return kept(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingPackageError, match=r"pip install 'adjoint\[lsp\]'"):
        language_server()


def test_all_languages_have_words_to_explain():
    for language, front_end in FRONT_ENDS.items():
        word = next(iter(front_end.words))
        assert hover(f" {word} ", language, 1) == (front_end.words[word], (1, 1 + len(word)))
