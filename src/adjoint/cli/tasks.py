"""The command `plan`: from a goal in PDDL to actions, and whether the plan of somebody else is right."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, nearest
from .guard import FAILED, WRONG, note
from .options import Json
from .output import number, print_json, print_line, write_result
from .robots import matching_files
from .values import read_text

if TYPE_CHECKING:
    from ..planning import Plan, Problem

__all__ = ["plan"]


def _complete_file(incomplete: str) -> list[str]:
    return matching_files(incomplete, (".pddl",))


def plan(
    domain: Annotated[
        str,
        typer.Argument(
            metavar="DOMAIN",
            help="A file of PDDL with the domain, or with domain and problem; - is standard input. Or a task of the "
            "textbook: blocks, fetch, hanoi, monkey.",
            autocompletion=_complete_file,
            show_default=False,
        ),
    ],
    problem: Annotated[
        str | None,
        typer.Argument(
            metavar="PROBLEM", help="A file of PDDL with the problem.", autocompletion=_complete_file,
            show_default=False,
        ),
    ] = None,
    optimal: Annotated[bool, typer.Option("--optimal", help="Find a plan than which none costs less.")] = False,
    heuristic: Annotated[
        str,
        typer.Option(metavar="NAME", help="Search by lm_cut, max, ff, add or blind, and not by landmarks."),
    ] = "",
    max_seconds: Annotated[float, typer.Option(metavar="SECONDS", help="The longest time that the search takes.")] = 60,
    validate: Annotated[
        Path | None,
        typer.Option("--validate", metavar="PLAN", help="Do not search: check the plan of this file, step by step."),
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Write its triangle table: what each step gives to whom.")
    ] = False,
    out: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write it into a file.")] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Find the actions that reach a goal: a planning task in PDDL, and its plan, an action a line.

    Examples:

      adjoint plan blocks
      adjoint plan domain.pddl problem.pddl --optimal --out plan.txt
      adjoint plan domain.pddl problem.pddl --validate plan.txt
      adjoint plan blocks --table

    Plans are written as the validators of the planning competitions read them. The exit code is 1 if there is no plan,
    if none was found in time, or if the plan that is checked is wrong; the reason is told. Mistakes in PDDL are told
    with line and column.
    """
    from ..planning import solve, triangle_table
    from ..program import ProgramError

    if validate is not None and (optimal or heuristic or out):
        raise ArgumentError("plan: --validate checks a plan; it goes with neither --optimal, --heuristic nor --out")
    try:
        task = _task(domain, *([] if problem is None else [problem]))
        if validate is None:
            found = solve(task, optimal=optimal, heuristic=heuristic, max_seconds=max_seconds)
            wrong = found.reason
        else:
            found, wrong = _checked(task, validate)
    except ProgramError as error:  # PDDL is wrong: the message has lines of the text
        print(error, file=sys.stderr)
        raise typer.Exit(WRONG) from None
    text = "" if wrong else str(triangle_table(found)) if table else found.text
    if text and out not in (None, "-"):
        write_result(out, text)
    if as_json:
        print_json(_data(found, wrong) | ({"table": text} if table else {}))
    elif validate is not None:
        _show_verdict(found, wrong, table)
    elif wrong:
        note(f"no plan was found: {wrong}")
    else:
        if out in (None, "-"):
            print_line(text.rstrip("\n"))
        else:
            note(f"wrote {out}")
        note(f"{_size(found)}; {found.statistics['expanded']:g} states expanded in {found.statistics['seconds']:.2g} s")
    if wrong:
        raise typer.Exit(FAILED)


def _task(*words: str) -> "Problem":
    """The task of files, of standard input, or of the textbook."""
    from ..planning import BOOK_TASKS, book_task, read_task

    if len(words) > 1 and words[0] in BOOK_TASKS and not Path(words[0]).exists():
        raise ArgumentError(f"plan: '{words[0]}' is a whole task of the textbook; '{words[1]}' is too much")
    if len(words) == 1 and words[0] != "-" and not Path(words[0] or "?").exists():
        if words[0] not in BOOK_TASKS:
            names = nearest(words[0], BOOK_TASKS)
            raise ArgumentError(f"plan: '{words[0]}' is neither a file nor a task of the textbook; {names}")
        return book_task(words[0])
    return read_task(*(_standard_input() if word == "-" else Path(word) for word in words))


def _standard_input() -> str:
    text = sys.stdin.read()
    if not text.strip():
        raise ArgumentError("plan: standard input is empty; a text of PDDL is needed")
    return text


def _checked(task: "Problem", path: Path) -> tuple["Plan", str]:
    """The plan of a file, and what is wrong with it, or ""."""
    from ..planning import read_plan, validate

    found = read_plan(read_text(path), task, str(path))
    return found, validate(found).reason


def _show_verdict(found: "Plan", wrong: str, table: bool) -> None:
    """Print whether a plan that was given is right."""
    from ..planning import triangle_table

    print_line(wrong or f"the plan is right: {_size(found)}", "bold red" if wrong else "bold")
    if table and not wrong:
        print_line(str(triangle_table(found)))


def _size(found: "Plan") -> str:
    from ..display import counted

    return f"{counted(len(found), 'action')}, cost {number(found.cost)}"


def _data(found: "Plan", wrong: str) -> dict[str, Any]:
    actions = [[action.name, *action.arguments] for action in found]
    data = {"problem": found.problem.name, "solved": not wrong, "reason": wrong, "cost": found.cost}
    return data | {"actions": actions, "statistics": dict(found.statistics)}
