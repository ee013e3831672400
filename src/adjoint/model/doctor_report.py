"""`Report`: the findings about a model, as text, as a table for notebooks, and as a sequence."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ..errors import shortened
from .parts import Finding

__all__ = ["LEVELS", "Report", "listed"]

LEVELS = ("error", "warning", "note")
_SHOWN = 5  # the text shows this many findings of one kind in full


@dataclass(frozen=True, repr=False)
class Report(Sequence):
    """What `check` found about a robot: a sequence of `Finding`s, the worst first, then in the order of the file.

    An error cannot be true of any robot (such as a negative mass), a warning is most likely a mistake, and a note is
    good to know. A report is true if it has findings. `print(report)` shows the findings in groups and cuts long
    groups; `for finding in report` gives all of them.

        report = check(load("robot.urdf"))
        for finding in report.errors:
            print(finding.where, finding.message)
    """

    robot: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> list[Finding]:
        """List the findings that cannot be true of any robot."""
        return [f for f in self if f.level == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """List the findings that are most likely mistakes."""
        return [f for f in self if f.level == "warning"]

    @property
    def notes(self) -> list[Finding]:
        """List the findings that are good to know."""
        return [f for f in self if f.level == "note"]

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, i):  # type: ignore[override]
        return self.findings[i]

    def __str__(self) -> str:
        return shortened("\n".join([_summary(self), *_lines(self)]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = [[f.level, f.code, f.element, f.message, _file_and_line(f)] for f in self]
        rows = ["".join(f"<td style='text-align:left'>{html.escape(str(x))}</td>" for x in row) for row in cells]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p><b>{html.escape(_summary(self))}</b></p>" + (f"<table>{body}</table>" if rows else "")


def _summary(report: Report) -> str:
    counts = [sum(f.level == level for f in report) for level in LEVELS]
    parts = [f"{n} {level}{'s' * (n > 1)}" for n, level in zip(counts, LEVELS, strict=True) if n]
    files = {f.where.file for f in report if f.where}
    return f"{report.robot}: {', '.join(parts) or 'no findings'}" + (f" in {files.pop()}" if len(files) == 1 else "")


def _file_and_line(finding: Finding) -> str:
    """Return "file:line" without the folders, which the summary shows."""
    where = finding.where
    return str(where._replace(file=PurePath(where.file).name)) if where else ""


def _lines(report: Report) -> Iterator[str]:
    """Yield the lines of the text: findings of one level and code together, the first few of them in full."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in report:
        groups.setdefault((finding.level, finding.code), []).append(finding)
    for (level, code), group in groups.items():
        yield f"{level}: {code}" + (f" ({len(group)} times)" if len(group) > 1 else "")
        for f in group[:_SHOWN]:
            yield "  " + ": ".join(filter(None, [_file_and_line(f), f.element, f.message]))
        if len(group) > _SHOWN:
            yield f"  ... and {len(group) - _SHOWN} more: {listed(f.element for f in group[_SHOWN:])}"


def listed(names: Iterable[str], most: int = 4) -> str:
    """Return the first names with commas between them, and "..." if there are more than `most`."""
    names = list(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
