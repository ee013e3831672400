"""What is true of all languages of programs: bounded time, depth and findings, and printers that lose nothing."""

from pathlib import Path

import pytest

from adjoint.program import ProgramError, check, parse, run, to_text
from adjoint.program.instructions import (
    Aggregate,
    Block,
    Comment,
    DefineMonitor,
    If,
    Literal,
    MoveJoints,
    Name,
    Operate,
    Print,
    Program,
    Stop,
    TaskState,
    While,
)  # fmt: skip
from adjoint.program.languages import FRONT_ENDS
from adjoint.program.texts.cursor import MOST_FINDINGS
from adjoint.world import World

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "programs").iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("language", FRONT_ENDS)
def test_examples_in_other_languages_are_the_same_instructions_or_an_error_with_a_place(path, language):
    program = parse(path.read_text(encoding="utf-8"), name=path.name)
    try:
        text = to_text(program, language)
    except ProgramError as error:
        assert path.suffix != f".{language}"
        for finding in error.diagnostics:
            assert finding.code == "language" and finding.span.start >= 0
            assert FRONT_ENDS[language].title in finding.message
        assert str(error).startswith(path.name)
        return
    again = parse(text, language)
    assert again.statements == program.statements
    assert to_text(again, language) == text


@pytest.mark.parametrize("language, statement", [
    ("aml", Block((Stop(),), "inner")),
    ("aml", While(Name("c"), (Block((Stop(),), "inner"),))),
    ("autopass", Block((Stop(),), "inner")),
    ("autopass", Operate("driver", turning="left")),
    ("autopass", Print(())),
    ("aml", DefineMonitor("m", Literal(1.0), Literal(1.0), Literal(0.0), Literal(5.0))),
    ("val", MoveJoints(Literal("a"), Literal(2.0), True, length_unit="mm", angle_unit="deg")),
    ("rapt", TaskState("A")),
    ("autopass", If(Name("c"), (Stop(), Print((Aggregate(()),))))),
])  # fmt: skip
def test_printers_lose_nothing(language, statement):
    with pytest.raises(ProgramError) as caught:
        to_text(Program((Comment("first"), statement)), language)
    assert caught.value.diagnostics[0].code == "language"


NESTED = [
    ("al", "IF TRUE THEN ", "a ← 1;", ""),
    ("al", "IF TRUE THEN BEGIN ", "a ← 1;", " END"),
    ("al", "FOR i ← 1 STEP 1 UNTIL 2 DO ", "a ← 1;", ""),
    ("al", "COBEGIN a ← 1; ", "a ← 1;", " COEND;"),
    ("al", "MOVE barm TO f ON TRUE DO ", "a ← 1;", ""),
    ("al", "CASE 1 OF BEGIN [1] ", "a ← 1;", "; END"),
    ("al", "DO ", "a ← 1;", " UNTIL TRUE;"),
    ("aml", "IF TRUE THEN ", "a = 1;", ""),
    ("aml", "WHILE FALSE DO ", "a = 1;", ""),
    ("aml", "REPEAT ", "a = 1;", " UNTIL TRUE;"),
    ("autopass", "IF TRUE THEN ", "a = 1;", ""),
    ("autopass", "DO WHILE (TRUE); ", "a = 1;", " END;"),
]


@pytest.mark.parametrize("language, head, inner, tail", NESTED, ids=[f"{x[0]} {x[1][:8]}" for x in NESTED])
@pytest.mark.parametrize("depth", [10, 90, 99, 101, 5000])
def test_nesting_is_read_printed_and_read_again_or_refused(language, head, inner, tail, depth):
    text = head * depth + inner + tail * depth
    if depth > 100:
        with pytest.raises(ProgramError, match="nested more than 100 deep"):
            parse(text, language)
        return
    program = parse(text, language)
    check(program)
    assert hash(program) == hash(parse(to_text(program), language))
    assert parse(to_text(program), language) == program


WIDE = 100_000
HOSTILE = {
    "comments that have no end": ("autopass", "/* " * WIDE, "no end"),
    "conditions": ("autopass", "PLACE a ON b SUCH THAT FORCE > 1 OZ" + " AND FORCE > 1 OZ" * WIDE + ";", "levels"),
    "constraints": ("autopass", "PLACE a ON b WITH FORCE > 1 OZ" + " AND FORCE > 1 OZ" * WIDE + ";", "levels"),
    "chains in parentheses": ("autopass", "a = " + "(" * 60 + "1" + (" + 1" * 50 + ")") * 60 + ";", "levels"),
    "sums": ("al", "a ← 1" + "+1" * WIDE + ";", "levels"),
    "sums of AML": ("aml", "a = 1" + "+1" * WIDE + ";", "levels"),
}


@pytest.mark.parametrize("language, text, says", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts(language, text, says):
    with pytest.raises(ProgramError, match=says) as caught:
        parse(text[:1_000_000], language)
    assert caught.value.position is not None


@pytest.mark.parametrize("language, text", [
    ("al", "a ← ;\n"), ("aml", "a = ;\n"), ("val", "NONSENSE\n"), ("autopass", "a = ;\n"), ("autopass", "END;\n"),
    ("rapt", "PLACE a;\n"),
])  # fmt: skip
def test_findings_are_counted(language, text):
    with pytest.raises(ProgramError) as caught:
        parse(text * 5000, language)
    assert len(caught.value.diagnostics) <= MOST_FINDINGS + 1


@pytest.mark.parametrize("language, text", [
    ("al", "{ two\n lines }\na ← 1;\n"), ("val", "; one\n SETI a = 1\n"), ("aml", "-- one\na = 1;\n"),
    ("autopass", "/* two\n lines */\na = 1;\n"), ("rapt", "$$ one\nPLACE a SO THAT (a AGAINST b);\n"),
])  # fmt: skip
def test_ends_of_lines_and_marks_of_files_do_not_count(language, text):
    program = parse(text, language)
    assert len(program.statements) == 2
    for other in (text.replace("\n", "\r\n"), "\ufeff" + text, text.replace(" ", "\t"), text.rstrip("\n")):
        assert len(parse(other, language).statements) == 2
    assert parse(text.replace("\n", "\r\n"), language) == program
    assert parse("", language).statements == parse(" \r\n\t", language).statements == ()


def test_the_nearest_of_very_many_names_is_found_quickly():
    declared = "".join(f"SCALAR name_of_a_variable_{i};\n" for i in range(2000))
    found = check(parse(declared + "".join(f"x{i} ← nome_of_a_variable_{i};\n" for i in range(50)), "al"))
    assert len(found) == 50 and all("did you mean 'name_of_a_variable_" in d.hint for d in found)


@pytest.mark.parametrize("text, says", [
    ('IF INPUT("a") THEN a ← 1;', "a line has a whole number"),
    ("IF INPUT(1.5) THEN a ← 1;", "a line has a whole number"),
    ("a ← JOINT(1.5);", "a joint has a whole number"),
    ("a ← 1e308*10;", "no finite number"),
])  # fmt: skip
def test_runs_of_unchecked_programs_fail_with_a_message(text, says):
    found = run(parse(text, "al"), World(), check=False)
    assert found.status == "failed" and says in found.message


def test_a_procedure_stands_once():
    found = check(parse("PROCEDURE p; a ← 1; PROCEDURE p; a ← 2; p();", "al"))
    assert [d.message for d in found] == ["the procedure 'p' stands twice"]
