"""A hook of mkdocs that writes the reference of the command line from the commands themselves."""

import inspect
import re
from typing import Any

from escaping import escaped
from mkdocs.structure.files import File

PAGE = "reference/command_line.md"
TITLE, SAYS = "Command line", "Use the library from a terminal, without Python: every command, with its arguments."


def program():
    """The command `adjoint`, with all commands in it, as click describes it."""
    import typer.main

    from adjoint.cli.app import app

    return typer.main.get_command(app)


def commands(command, name: str) -> list[tuple[str, Any]]:
    """(name, command) of a command's own commands, and of theirs."""
    inner = getattr(command, "commands", {})
    return [(name, command)] if not inner else [pair for n, c in inner.items() for pair in commands(c, f"{name} {n}")]


def text() -> str:
    """The page: a table of all commands, and a section for each."""
    whole = program()
    found = commands(whole, "adjoint")
    rows = [f"| [`{name}`](#{name.replace(' ', '-')}) | {first_line(c)} |" for name, c in found]
    table = "\n".join(["| command | what it does |", "|---|---|", *rows])
    parts = [f"# {TITLE}", SAYS, words(whole.help), table]
    for name, command in found:
        parts += [f"## `{name}` {{ #{name.replace(' ', '-')} }}", words(command.help), parameters(command)]
    return "\n\n".join(parts) + "\n"


def first_line(command) -> str:
    return plain((command.help or "").partition("\n\n")[0].partition(". ")[0].rstrip("."))


def words(help_text: str | None) -> str:
    """A help text as Markdown: paragraphs that are indented are commands to type."""
    paragraphs = inspect.cleandoc(help_text or "").split("\n\n")
    return "\n\n".join(
        f"```text\n{inspect.cleandoc(p)}\n```" if p.startswith(" ") else plain(p) for p in paragraphs if p.strip()
    )


def parameters(command) -> str:
    """A table of the arguments and options of a command, as its own help lists them."""
    import typer

    context = typer.Context(command)
    records = [p.get_help_record(context) for p in command.params]
    rows = [f"| `{name}` | {plain(said)} |" for name, said in filter(None, records)]
    return "\n".join(["| argument | what it is |", "|---|---|", *rows]) if rows else ""


def plain(line: str) -> str:
    """Text without the marks of rich, such as [bold], in which all signs are themselves; \\[ is a bracket there."""
    unmarked = re.sub(r"\[/?(?:bold|dim|italic|cyan|green|red|yellow|blue)[^\]]*\]", "", line.replace("\n", " "))
    return escaped(unmarked.replace(r"\[", "["), "[<|*_")


def on_files(files, config):
    files.append(File.generated(config, PAGE, content=text()))
