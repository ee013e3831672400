"""Writes the pages of docs/papers, which say where each equation of the papers and the textbook is computed.

    python docs/papers_pages.py

All of it comes from docs/papers/equations.toml, whose head explains its fields. A test sees to it that the pages are
those of the data, that every name exists, and that every number of a document stands in exactly one row.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "papers"
GENERATED = "<!-- Written by docs/papers_pages.py from docs/papers/equations.toml: change the data, not this page. -->"
# What a row says where it names no function.
STATUS = {
    "step": "step of a derivation",
    "prose": "nothing to compute",
    "left out": "left out on purpose",
    "planned": "not in the library yet",
}

_EQUATION = r"\((?P<head>(?:[\dA-C]+\.)?(?:\d+-)?)(?P<first>\d+)\)(?:-\((?P=head)(?P<last>\d+)\))?"
_NAMED = r"(?P<word>[A-Z][a-z]+) (?P<head>(?:\d+\.)?)(?P<first>\d+)(?:-(?P=head)(?P<last>\d+))?"


def labels(places: str) -> list[str]:
    """The single labels of places such as "(1), (3)-(5)" or "Problem 2.1-2.4"; what is no number stays as it is."""
    return [label for place in places.split(", ") for label in _labels(place)]


def _labels(place: str) -> list[str]:
    if found := re.fullmatch(_EQUATION, place):
        form = f"({found['head']}{{}})"
    elif found := re.fullmatch(_NAMED, place):
        form = f"{found['word']} {found['head']}{{}}"
    else:
        return [place]
    first = int(found["first"])
    return [form.format(n) for n in range(first, int(found["last"] or first) + 1)]


def is_equation(label: str) -> bool:
    """Whether a label is the number of an equation, not the name of a table, a problem, a lemma or a section."""
    return re.fullmatch(_EQUATION, label) is not None


def rows(document: dict) -> Iterator[dict]:
    """All rows of a document, in order."""
    return (row for part in document["part"] for row in part["row"])


def read() -> dict:
    """The data."""
    return tomllib.loads((FOLDER / "equations.toml").read_text(encoding="utf-8"))


def pages(data: dict) -> dict[str, str]:
    """{name of the file: text} of all pages."""
    found = {f"{document['key']}.md": _page(document, order) for order, document in enumerate(data["document"])}
    return {"index.md": _index(data)} | found


# --- one document -----------------------------------------------------------------------------------------------------


def _page(document: dict, order: int) -> str:
    # The navigation of the documentation reads the order.
    lines = [f"<!-- order: {order} -->", GENERATED, "", f"# {document['name']}", ""]
    lines += [_source(document), "", document["about"].strip(), "", _summary(document), ""]
    deep = any("chapter" in part for part in document["part"])
    for part in document["part"]:
        if "chapter" in part:
            lines += [f"## {part['chapter']}", ""]
        lines += [f"{'###' if deep else '##'} {part['title']}{_range(part)}", ""]
        lines += _table(["equation", "what it says, and where it is computed"], map(_cells, part["row"]))
    return "\n".join(lines + _errata(document)).rstrip() + "\n"


def _source(document: dict) -> str:
    return f'{document["authors"]}, "{document["title"]}", {document["published"]}.'


def _summary(document: dict) -> str:
    count = {"computed": 0, "corrected": 0} | dict.fromkeys(STATUS, 0)
    for row in rows(document):
        count[row.get("status", "computed")] += sum(map(is_equation, labels(row["at"])))
        count["corrected"] += len(row.get("errata", ()))
    parts = [f"{count['computed']} belong to functions that the rows name"]
    parts += [f"{n} {_WORDS[status][n > 1]}" for status in STATUS if (n := count[status])]
    total = sum(count[key] for key in ("computed", *STATUS))
    return (
        f"Of its {total} numbered equations, {', '.join(parts)}. "
        f"[{count['corrected']} corrections](#errata) are listed at the end."
    )


# What the summary says of one equation, and of several.
_WORDS = {
    "step": ["to a derivation whose result stands in another row", "to derivations whose results stand in other rows"],
    "prose": ["is notation", "are notation or discussion"],
    "left out": ["is left out on purpose", "are left out on purpose"],
    "planned": ["is not in the library yet", "are not in the library yet"],
}


def _range(part: dict) -> str:
    """The first and the last equation of a part, as they stand in its heading."""
    found = [label for row in part["row"] for label in labels(row["at"]) if is_equation(label)]
    found.sort(key=lambda label: [int(number) for number in re.findall(r"\d+", label)])
    return "" if not found else f": {found[0]}" if len(found) == 1 else f": {found[0]}-{found[-1]}"


def _cells(row: dict) -> list[str]:
    """Two cells, which fit on a phone: in the second one, formulas, names and tests have lines of their own."""
    lines = [row["says"] + (" **[corrected](#errata)**" if "errata" in row else "")]
    lines += [f"${formula}$" for formula in _formulas(row.get("tex", ""))]
    inside = [label for label in labels(row["at"]) if is_equation(label) and label not in row["at"]]
    hidden = f"<span hidden>{' '.join(inside)}</span>" if inside else ""  # a search finds numbers within a range
    return [row["at"] + hidden, "<br>".join([*lines, _where(row), *_checked(row.get("tests", []))])]


def _formulas(tex: str) -> list[str]:
    """The formulas that commas separate; a comma inside parentheses is part of one."""
    found: list[str] = []
    for part in filter(None, tex.split(r",\ ")):
        if found and found[-1].count("(") > found[-1].count(")"):
            found[-1] += rf",\ {part}"
        else:
            found.append(part)
    return found


def _where(row: dict) -> str:
    if "status" in row:
        return f"*{STATUS[row['status']]}*: {row['why']}"
    names = ", ".join(map(shown_name, row["where"]))
    files = ", ".join(f"`{file}`" for file in row.get("inside", ()))
    return names + (f"; inside: {files}" if files else "") + (f". {row['note']}" if "note" in row else "")


def _checked(tests: list[str]) -> list[str]:
    """The line of the tests "file::name", if there are any, file by file; the names are sentences."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        file, _, name = test.partition("::")
        by_file.setdefault(file, []).extend([name.replace("_", " ")] if name else [])
    found = [f"`test_{file}.py`" + (f": {', '.join(names)}" if names else "") for file, names in by_file.items()]
    return [f"<small>checked by {'; '.join(found)}</small>"] if found else []


def shown_name(name: str) -> str:
    """How a public name, relative to `adjoint`, is shown."""
    return f"`{name}`"


def _errata(document: dict) -> list[str]:
    """The section of all errata, one table for each chapter if there are chapters."""
    lines = ["## Errata", "", document["misprints"].strip(), ""]
    tables: dict[str, list] = {}
    chapter = ""
    for part in document["part"]:
        chapter = part.get("chapter", chapter)
        for row in part["row"]:
            for e in row.get("errata", ()):
                corrected = f"{e['corrected']}<br>Why: {e['why']}."
                tables.setdefault(chapter, []).append([e.get("at", row["at"]), e["printed"], corrected])
    for chapter, found in tables.items():
        lines += [f"### Errata: {chapter}", ""] if chapter else []
        lines += _table(["place", "printed", "corrected: how, and why"], found)
    return lines


def _table(head: list[str], found) -> list[str]:
    lines = [head, ["---"] * len(head), *found]
    for cells in lines:
        if any("|" in cell or "\n" in cell for cell in cells):
            raise ValueError(f"a cell of a table has a bar or a new line: {cells}")
    return [*("| " + " | ".join(cells) + " |" for cells in lines), ""]


# --- the page of all documents ----------------------------------------------------------------------------------------


def _index(data: dict) -> str:
    lines = [GENERATED, "", "# The papers and the textbook", "", data["about"].strip(), ""]
    documents = [[f"[{d['name']}]({d['key']}.md)", f'"{d["title"]}"', d["subject"]] for d in data["document"]]
    lines += _table(["document", "title", "what it is about"], documents)
    lines += [data["use"].strip(), "", "## Other papers and methods", "", data["others"].strip(), ""]
    for method in data["method"]:
        lines += [f"### {method['title']}", ""]
        lines += _table(["idea", "where"], ([row["says"], _where(row)] for row in method["row"]))
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    for file, text in pages(read()).items():
        (FOLDER / file).write_text(text, encoding="utf-8")
        print(f"docs/papers/{file}: {text.count(chr(10))} lines")
