"""The commands `program run`, `check`, `format` and `trace`: robot programs in AL, VAL, AML, AUTOPASS and RAPT."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .guard import FAILED, in_options, note
from .options import Json
from .output import print_json, print_line, write_result
from .program_inputs import Situation, input_values, pairs_of
from .program_options import (
    OPENING,
    ArmOption,
    File,
    GripperOption,
    InputOption,
    Language,
    LanguageOption,
    LimitOption,
    PeriodOption,
    Place,
    PlaceOption,
    RobotOption,
    SpeedOption,
    StartOption,
    WorldOption,
)
from .program_reports import TOLD, counted, event_data, finding_data, print_events, print_findings, print_run
from .values import read_text

if TYPE_CHECKING:
    from ..program import Diagnostic, Program, ProgramError, ProgramRun

__all__ = ["check", "format", "program", "run", "trace"]


def program(
    ctx: typer.Context,
    lsp: Annotated[
        bool, typer.Option("--lsp", help="Serve an editor as a language server, over standard input and output.")
    ] = False,
) -> None:
    """Check, format, run and trace robot programs in AL, VAL, AML, AUTOPASS and RAPT; serve editors."""
    if ctx.invoked_subcommand is not None:
        return
    if not lsp:
        print(ctx.get_help())
        return
    import contextlib
    import os

    from ..program import language_server

    server = language_server(sys.modules[__name__.partition(".")[0]].__version__)
    # The server closes its output at the end, and nothing else may be written into it.
    with contextlib.redirect_stdout(sys.stderr), os.fdopen(os.dup(sys.__stdout__.fileno()), "wb") as out:  # type: ignore[union-attr]
        server.start_io(sys.stdin.buffer, out)


# --- check ------------------------------------------------------------------------------------------------------------


def check(
    file: File,
    language: LanguageOption = None,
    world: WorldOption = None,
    robot: RobotOption = None,
    gripper: GripperOption = OPENING,
    start: StartOption = None,
    arm: ArmOption = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Also run it in kinematics: limits, reach, branches and collisions."),
    ] = False,
    inputs: InputOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    as_json: Json = False,
) -> None:
    """Find what is wrong in a program before anything moves: syntax, types, units, names.

    Examples:

      adjoint program check insertion.al
      adjoint program check pallet.val --robot puma560
      adjoint program check insertion.al --world cell.json --dry-run

    Findings are printed as compilers do: file:line:column, what is wrong, the line with the piece underlined, and a
    hint. Without --world or --robot, names that a world could have are not looked up. --dry-run needs a world. The exit
    code is 1 if there are errors, and with --strict also if there are warnings.
    """
    from ..program import ProgramError
    from ..program import check as checked
    from ..program.rehearsal import dry_run as rehearsed

    around = Situation(world, robot, gripper, start, pairs_of(arm, "--arm")) if world or robot else None
    if dry_run and around is None:
        raise ArgumentError("program check: --dry-run needs a world: --world FILE or --robot NAME")
    found: tuple[Diagnostic, ...]
    try:
        read = _read(file, language)
        source = read.source
        found = checked(read, around.world if around else None, arms=around.arms if around else None)
        if dry_run and around is not None and not any(d.severity == "error" for d in found):
            found += rehearsed(read, around.world, arms=around.arms, inputs=input_values(inputs)).findings
    except ProgramError as error:
        found, source = error.diagnostics, error.source
    failed = any(d.severity == "error" or (strict and d.severity == "warning") for d in found)
    if as_json:
        print_json({"file": file, "ok": not failed, "findings": [finding_data(d, source) for d in found]})
    else:
        print_findings(found, source)
        print_line(counted(file, found))
    if failed:
        raise typer.Exit(FAILED)


# --- format -----------------------------------------------------------------------------------------------------------


def format(
    file: File,
    language: LanguageOption = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write the text into the file itself.")] = False,
    only_check: Annotated[
        bool, typer.Option("--check", help="Print nothing; the exit code is 1 if the text would change.")
    ] = False,
    to: Annotated[Language | None, typer.Option("--to", help="Write the program in another language.")] = None,
) -> None:
    """Print a program in the canonical layout of its language, or in another language.

    Examples:

      adjoint program format insertion.al
      adjoint program format insertion.al --in-place
      adjoint program format insertion.al --check || echo "not formatted"
      adjoint program format pallet.val --to al

    Comments stay. A file appears whole or not at all, and only if its text reads as the same program. The exit code is
    1 if the program cannot be read, or if the other language has no words for one of its instructions.
    """
    from ..program import ProgramError, parse, to_text

    if (in_place or only_check) and to is not None:
        raise ArgumentError("program format: --to prints the program; it goes with neither --in-place nor --check")
    if in_place and file == "-":
        raise ArgumentError("program format: standard input cannot be written in place")
    try:
        read = _read(file, language)
        text = to_text(read, None if to is None else str(to)).rstrip("\n") + "\n"
    except ProgramError as error:
        raise _failed(error) from None
    before = "" if read.source is None else read.source.text
    if only_check:
        if text != before:
            note(f"{file} would change")
            raise typer.Exit(FAILED)
    elif not in_place:
        write_result("-", text)
    elif text != before:
        if parse(text, read.language) != read:  # the printers see to it; a file is worth a second look
            raise ArgumentError(f"program format: the new text of {file} would be another program; it was not written")
        _replaced(Path(file), text)
        note(f"wrote {file}")


def _replaced(path: Path, text: str) -> None:
    """Write a file at once, with the rights that it has; a link stays a link."""
    import shutil

    from ..files import whole_file

    target = path.resolve()
    with whole_file(target) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        shutil.copymode(target, unfinished)


# --- run --------------------------------------------------------------------------------------------------------------


def run(
    file: File,
    language: LanguageOption = None,
    world: WorldOption = None,
    robot: RobotOption = None,
    gripper: GripperOption = OPENING,
    start: StartOption = None,
    arm: ArmOption = None,
    backend: PlaceOption = Place.kinematic,
    period: PeriodOption = 0.01,
    limit: LimitOption = None,
    inputs: InputOption = None,
    speed: SpeedOption = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a .html page that plays the run beside its text.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all events as lines of JSON, for trace --compare.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a program on the robots of a world, and tell what happens.

    Examples:

      adjoint program run tour.val --robot puma560
      adjoint program run insertion.al --world cell.json --page insertion.html
      adjoint program run insertion.al --world cell.json --backend dynamic --trace run.jsonl
      adjoint program run wait.val --robot puma560 --input 'signal 3=0,1.5:1'

    What the program prints, its signals, grasps and guards are printed with their times and lines, and then the
    outcome. The exit code is 1 if the program has errors, aborts, fails, or comes to --limit.
    """
    from ..program import ProgramError

    around = _situation("run", world, robot, gripper, start, arm)
    began = time.perf_counter()
    try:
        done = _ran(_read(file, language), around, backend, period, limit, inputs, speed)
    except ProgramError as error:
        raise _failed(error) from None
    took = time.perf_counter() - began
    files = _written(done, page, trace)
    if as_json:
        print_json({"file": file, **_run_data(done, took), "files": files})
    else:
        print_run(done, took)
        for name in files:
            note(f"wrote {name}")
    if done.status not in ("done", "paused"):
        raise typer.Exit(FAILED)


def _run_data(done: "ProgramRun", took: float) -> dict[str, Any]:
    events = [event_data(e, done.period) for e in done.trace if e.kind in TOLD]
    found = {"status": done.status, "message": done.message, "duration": done.duration, "seconds": took}
    return found | {
        "printed": done.printed,
        "events": events,
        "q": {name: known.q for name, known in done.world.robots.items()},
    }


def _situation(who: str, world, robot, gripper, start, arm) -> Situation:
    if not world and not robot:
        raise ArgumentError(f"program {who}: a program runs in a world; give --world FILE or --robot NAME")
    return Situation(world, robot, gripper, start, pairs_of(arm, "--arm"))


def _ran(
    read: "Program", around: Situation, backend: Place, period: float, limit: float | None,
    inputs: list[str] | None, speed: float | None,
) -> "ProgramRun":  # fmt: skip
    from ..program import run

    values = input_values(inputs)
    return run(
        _slowed(read, around, speed), around.world, backend=str(backend), period=period, arms=around.arms,
        inputs=values, limit=_ticks(limit, period),
    )  # fmt: skip


def _ticks(limit: float | None, period: float) -> int | None:
    if limit is None:
        return None
    if not 0 < limit < float("inf") or not period > 0:
        raise ArgumentError(f"--limit: {limit:g} s must be above 0, and so must --period, {period:g} s")
    return max(1, round(limit / period))


def _slowed(read: "Program", around: Situation, speed: float | None) -> "Program":
    """The program with a speed for every robot before its first statement."""
    from dataclasses import replace

    from ..program import Literal, SetSpeed

    if speed is None:
        return read
    if not 0 < speed <= 1:
        raise ArgumentError(f"--speed: {speed:g} must be a fraction of the full speed, above 0 and at most 1")
    first = [SetSpeed(Literal(speed), permanent=True, arm=name) for name in around.world.robots]
    return replace(read, statements=(*first, *read.statements))


def _written(done: "ProgramRun", page: Path | None, trace: Path | None) -> list[str]:
    from ..files import whole_file
    from ..program import write_trace
    from ..viewer import page as paged

    files = []
    if page is not None:
        files.append(str(paged(done).save(page)))
    if trace is not None:
        trace.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(trace) as unfinished:
            write_trace(done, unfinished)
        files.append(str(trace))
    return files


# --- trace ------------------------------------------------------------------------------------------------------------


def trace(
    file: File,
    language: LanguageOption = None,
    world: WorldOption = None,
    robot: RobotOption = None,
    gripper: GripperOption = OPENING,
    start: StartOption = None,
    arm: ArmOption = None,
    backend: PlaceOption = Place.kinematic,
    period: PeriodOption = 0.01,
    limit: LimitOption = None,
    inputs: InputOption = None,
    speed: SpeedOption = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="TRACE", help="Run as this trace says, and compare all events with it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show all events of a run as a table: of a program that is run now, or of a .jsonl trace that run wrote.

    Examples:

      adjoint program trace tour.val --robot puma560
      adjoint program trace run.jsonl
      adjoint program trace insertion.al --world cell.json --compare run.jsonl

    With --compare the program runs again with the period, the back end and the inputs of the trace. Runs are
    deterministic: the exit code is 0 if all events are the same to the last bit, and 1 at the first difference.
    """
    from ..program import ProgramError

    if Path(file).suffix.lower() == ".jsonl":
        if compare is not None:
            raise ArgumentError("program trace: --compare runs a program; FILE must be one, not a trace")
        _print_file(Path(file), as_json)
        return
    around = _situation("trace", world, robot, gripper, start, arm)
    try:
        read = _read(file, language)
        if compare is not None:
            _compared(read, around, compare, limit, speed, as_json)
            return
        done = _ran(read, around, backend, period, limit, inputs, speed)
    except ProgramError as error:
        raise _failed(error) from None
    print_events(done.trace, done.period, as_json, done.status)
    if done.status not in ("done", "paused"):
        raise typer.Exit(FAILED)


def _compared(read, around: Situation, compare: Path, limit: float | None, speed: float | None, as_json: bool) -> None:
    from ..program import read_trace, replay

    kept = read_trace(compare)
    ticks = _ticks(limit, kept.options.get("period", 0.01))
    found = replay(kept, _slowed(read, around, speed), around.world, limit=ticks)
    if as_json:
        print_json({"equal": found.equal, "difference": found.difference, "events": len(found.run.trace)})
    else:
        same = f"all {len(found.run.trace)} events are the same as in {compare}"
        print_line(same if found.equal else f"the first difference from {compare}: {found.difference}")
    if not found.equal:
        raise typer.Exit(FAILED)


def _print_file(path: Path, as_json: bool) -> None:
    from ..program import read_trace

    kept = read_trace(path)
    status = kept.events[-1].kind if kept.events else ""
    print_events(kept.events, float(kept.options.get("period", 0.01)), as_json, status)


# --- what several commands do -----------------------------------------------------------------------------------------


def _read(file: str, language: Language | None) -> "Program":
    """The program of a file, or of standard input."""
    from ..program import parse

    if file == "-":
        if language is None:
            raise ArgumentError("a program on standard input needs --language")
        return parse(sys.stdin.read(), str(language), name="standard input")
    return parse(read_text(Path(file)), None if language is None else str(language), name=file)


def _failed(error: "ProgramError") -> typer.Exit:
    """Print what is wrong with a program on standard error, and give the exit code."""
    sys.stdout.flush()
    print(in_options(str(error)), file=sys.stderr)
    return typer.Exit(FAILED)
