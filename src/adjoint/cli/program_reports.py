"""How the commands about programs show what they found: findings as compilers do, events, and runs."""

from typing import TYPE_CHECKING, Any

from .guard import in_options
from .output import number, print_json, print_line, print_lines, print_table

if TYPE_CHECKING:
    from ..program import Diagnostic, ProgramRun, Source, TraceEvent

__all__ = ["TOLD", "counted", "event_data", "finding_data", "print_events", "print_findings", "print_run"]

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
TOLD = ("print", "signal", "grasp", "release", "guard", "monitor", "watch")  # events that `run` prints


def print_findings(found: "tuple[Diagnostic, ...]", source: "Source | None") -> None:
    """Print findings as compilers do."""
    from ..program import rendered

    for diagnostic in found:
        first, *rest = in_options(rendered(diagnostic, source)).split("\n")
        print_line(first, _STYLES[diagnostic.severity])
        print_lines("\n".join(rest), {})


def counted(file: str, found: "tuple[Diagnostic, ...]") -> str:
    """How many findings there are, in words."""
    counts = {word: sum(d.severity == word for d in found) for word in _STYLES}
    told = [f"{n} {word}{'s' * (n > 1)}" for word, n in counts.items() if n]
    return f"{file}: {', '.join(told) or 'nothing is wrong'}"


def finding_data(diagnostic: "Diagnostic", source: "Source | None") -> dict[str, Any]:
    """A finding as data for JSON."""
    d = diagnostic
    at = source.position(d.span.start) if source is not None and d.span.start >= 0 else None
    return {
        "severity": d.severity, "code": d.code, "message": d.message, "hint": d.hint,
        "line": at and at.line, "column": at and at.column, "length": max(0, d.span.end - d.span.start),
    }  # fmt: skip


def print_run(done: "ProgramRun", took: float) -> None:
    """Print what happened during a run, its outcome and its time."""
    events = [e for e in done.trace if e.kind in TOLD]
    width = len(f"{done.duration:.2f}")
    for event in events:
        line = f"line {event.line}" if event.line else ""
        print_line(f"{event.tick * done.period:{width}.2f} s  {line:<9} {_told(event)}".rstrip())
    outcome = f"{done.status}: {done.message}" if done.message else done.status
    print_line(outcome, "bold" if done.status == "done" else "bold red")
    if done.error is not None:
        print_findings(done.error.diagnostics, done.error.source)
    print_line(f"{number(done.duration)} s in {len(done) - 1} ticks, computed in {took:.2f} s")


def _told(event: "TraceEvent") -> str:
    """An event in words."""
    data = event.data
    match event.kind:
        case "print":
            return f"prints {data.get('text', '')}"
        case "signal":
            return "signals " + _shown(data)
        case "grasp":
            return f"{data.get('robot')} grasps {data.get('part')}"
        case "release":
            return f"{data.get('robot')} lets go of {data.get('part')}"
    return f"{event.kind} holds {_shown(data)}".rstrip()


def _shown(data: Any) -> str:
    """Values of an event, short."""
    if isinstance(data, dict):
        return ", ".join(f"{key} {_shown(value)}" for key, value in data.items())
    if hasattr(data, "tolist"):
        data = data.tolist()
    if isinstance(data, list | tuple):
        return "(" + " ".join(_shown(x) for x in data) + ")"
    return number(data, 5) if isinstance(data, float) else str(data)


def event_data(event: "TraceEvent", period: float) -> dict[str, Any]:
    """An event as data for JSON."""
    return {"t": event.tick * period, **event._asdict()}


def print_events(events: "tuple[TraceEvent, ...]", period: float, as_json: bool, status: str) -> None:
    """Print events as a table, each statement in one row with its beginning and end, or as JSON."""
    if as_json:
        print_json({"status": status, "period": period, "events": [event_data(e, period) for e in events]})
        return
    rows: list[list[str]] = []
    begun: dict[tuple[int, int], list[str]] = {}  # the rows of statements that have not ended, by thread and line
    for e in events:
        line, what = str(e.line) if e.line else "", e.statement if e.kind == "start" else e.kind
        if e.kind == "end" and (row := begun.pop((e.thread, e.line), None)) is not None:
            ended = f"{e.tick * period:.2f}"
            row[1], row[5] = ended if ended != row[0] else "", row[5] or _shown(e.data)
            continue
        rows.append([f"{e.tick * period:.2f}", "", line, str(e.thread), what, _shown(e.data)])
        if e.kind == "start":
            begun[e.thread, e.line] = rows[-1]
    print_table(["t [s]", "until", "line", "thread", "what", "values"], rows, fold="values")
