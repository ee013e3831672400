"""The table of robot languages: facts of Table 9.11, its errata, and the page that shows it."""

from pathlib import Path

from adjoint.program.languages.comparison import LANGUAGE_TABLE

PAGE = Path(__file__).parents[1] / "docs" / "programs_languages.md"
BY_NAME = {language.name: language for language in LANGUAGE_TABLE}


def row(language) -> str:
    """A line of the page's table."""
    several = "yes" if language.several_robots else "no"
    runs = f"yes, `{language.runs_as}`" if language.runs_as else "no"
    return f"| {' | '.join([*language[:11], several, runs])} |"


def test_the_page_shows_the_data():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line.startswith("| ") and line.split(" | ")[0][2:] in BY_NAME]
    assert shown == [row(language) for language in LANGUAGE_TABLE]


def test_every_erratum_is_on_the_page():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for language in LANGUAGE_TABLE:
        assert not language.erratum or language.erratum in text, language.name


def test_facts_and_corrections():
    assert len(BY_NAME) == 11
    assert BY_NAME["AML"].basis == "Lisp, APL, Pascal" and BY_NAME["AUTOPASS"].basis == "PL/I"
    assert BY_NAME["VAL"].maker == "Unimation" and "force" in BY_NAME["AML"].sensing
    assert {x.name for x in LANGUAGE_TABLE if x.several_robots} == {"AL", "HELP", "MAPLE", "MCL"}
    assert {x.level for x in LANGUAGE_TABLE} == {"robot", "object", "mixed"}
    assert all(x.translation in ("compiler", "interpreter", "both") for x in LANGUAGE_TABLE)
    assert [x.runs_as for x in LANGUAGE_TABLE if x.runs_as] == ["al", "aml", "autopass", "val"]
