"""Traces: what a run did as lines of JSON, and the first difference between two runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from .recording import TraceEvent

if TYPE_CHECKING:
    from .program_runs import ProgramRun

__all__ = ["ProgramTrace", "read_trace", "write_trace"]

_MOST = 100_000_000  # characters of a file


class ProgramTrace(NamedTuple):
    """A trace that was written: `options` of the run, `inputs` {name: (N,) at the ticks}, and `events`."""

    options: dict[str, Any]
    inputs: dict[str, np.ndarray]
    events: tuple[TraceEvent, ...]


def write_trace(run: ProgramRun, path: str | os.PathLike) -> None:
    """Write what a run did as lines of JSON: how it was run, every event, and what came from outside.

    Each event has its tick, time [s], kind, line of the source, thread, statement and values; `read_trace` reads it,
    and `replay` runs the program again and compares.
    """
    Path(path).write_text("\n".join(trace_lines(run)) + "\n", encoding="utf-8")


def trace_lines(run: ProgramRun) -> list[str]:
    """The lines of the trace of a run."""
    options = {k: x for k, x in (run.options or {}).items() if k != "inputs"}
    head = {"trace": 1, "program": run.program.name, "world": run.start.fingerprint, **options}
    lines = [json.dumps(head)]
    for event in run.trace:
        lines.append(json.dumps({"t": round(event.tick * run.period, 9), **event._asdict(), "data": plain(event.data)}))
    lines.append(json.dumps({"inputs": {k: _changes(x) for k, x in sampled_inputs(run).items()}, "ticks": len(run)}))
    return lines


def sampled_inputs(run: ProgramRun) -> dict[str, np.ndarray]:
    """The values (N,) of all inputs of a run at its ticks, without noise."""
    found = {}
    for name, value in (run.options or {}).get("inputs", {}).items():
        if callable(value):
            of_time: Any = value
            whole = np.asarray(of_time(run.t), float)
            if whole.shape != run.t.shape:
                whole = np.array([float(of_time(t)) for t in run.t])
        else:
            whole = np.asarray(value, float)
            ticks = np.arange(len(run.t))
            whole = np.full(len(run.t), whole) if whole.ndim == 0 else whole[np.clip(ticks, 0, len(whole) - 1)]
        found[name] = whole
    return found


def _changes(values: np.ndarray) -> list[list[float]]:
    """(tick, value) where a value differs from the one before."""
    at = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return [[int(k), float(values[k])] for k in at]


def read_trace(path: str | os.PathLike) -> ProgramTrace:
    """The trace that `write_trace` wrote; an `ArgumentError` names a line that is none."""
    text = Path(path).read_text(encoding="utf-8")
    if len(text) > _MOST:
        raise ArgumentError(f"read_trace: the file has {len(text)} characters, more than {_MOST}")
    return trace_of(text.splitlines())


def trace_of(lines: Iterable[str]) -> ProgramTrace:
    """The trace that lines of JSON have."""
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(json.loads(line))
            if not isinstance(found[-1], dict):
                raise ValueError("an object {...} is needed")
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"read_trace: line {number} is no JSON of a trace: {error}") from None
    if len(found) < 2 or found[0].get("trace") != 1 or "inputs" not in found[-1]:
        raise ArgumentError("read_trace: this is no trace, or its end is missing")
    try:
        events = tuple([TraceEvent(*(e[name] for name in TraceEvent._fields)) for e in found[1:-1]])
        inputs = {name: _whole(pairs, found[-1]["ticks"]) for name, pairs in found[-1]["inputs"].items()}
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ArgumentError(f"read_trace: an event is damaged: {type(error).__name__} {error}") from None
    options = {k: x for k, x in found[0].items() if k not in ("trace", "program")}
    return ProgramTrace(options, inputs, events)


def _whole(pairs: list, ticks: int) -> np.ndarray:
    at, values = np.array([p[0] for p in pairs], int), np.array([p[1] for p in pairs], float)
    return values[np.searchsorted(at, np.arange(int(ticks)), side="right") - 1]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(x) for k, x in value.items()}
    return [plain(x) for x in value] if isinstance(value, list | tuple) else value


def first_difference(before: Iterable[TraceEvent], after: Iterable[TraceEvent]) -> str:
    """Where two traces differ first, in words; an empty text if they are equal."""
    a, b = list(before), list(after)
    for k, (x, y) in enumerate(zip(a, b, strict=False)):
        for name in TraceEvent._fields:
            was, now = plain(getattr(x, name)), plain(getattr(y, name))
            if was != now:
                where = f"event {k + 1}, tick {x.tick}, line {x.line}, {x.kind} {x.statement}".rstrip()
                return f"{where}: '{name}' was {was!r:.200} and is {now!r:.200}"
    if len(a) != len(b):
        more, word = (a, "is missing") if len(a) > len(b) else (b, "is new")
        event = more[min(len(a), len(b))]
        return f"event {min(len(a), len(b)) + 1}, tick {event.tick}, line {event.line}, {event.kind}: it {word}"
    return ""
