"""Robot programs: reading and checking of 1000 lines, runs in kinematics and in dynamics, conditions, and dry runs.

python bench/program.py            one run, one core; writes bench/results/program.json

Programs of 1000 lines are made of those of examples/programs, again and again with other names. Beside our reader of AL
stands lark, with the LALR grammar of the tests for the statements of the textbook; both give the same instructions
before anything is timed. Times are those of the processor. How many times faster than real time a run is, is computed
in every round: rows have the median and the quartiles. The first run in dynamics compiles, and its time is told apart.
"""

import functools
import re
import statistics
import time
from typing import NamedTuple

from common import in_time, one_core, race, report, row, target

one_core()

import sys  # noqa: E402
from pathlib import Path  # noqa: E402

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import numpy as np  # noqa: E402
from support import al_grammar  # noqa: E402

import adjoint as aj  # noqa: E402
from adjoint.lie import se3, so3  # noqa: E402
from adjoint.program import Program, VariableScope, check, dry_run, evaluate, insertion_world, parse, run  # noqa: E402
from adjoint.program.instructions import (  # noqa: E402
    Assign,
    Comment,
    Declare,
    DefineMonitor,
    Index,
    Procedure,
    statements_in,
)  # fmt: skip
from adjoint.world import Gripper, World  # noqa: E402

FOLDER = ROOT / "examples" / "programs"
LINES, TICKS = 1000, 10_000
LONG = {  # the programs of which long ones are made; the grammar of the tests knows no procedures and declarations
    "al": ("insertion.al", "hanoi.al", "pallet.al", "frames.al"),
    "val": ("pallet.val", "peg.val", "tour.val"),
    "aml": ("pallet.aml", "guarded.aml", "hanoi.aml", "frames.aml"),
    "book": ("insertion.al", "insertion_as_printed.al", "frames.al"),
}
NAMES = {"al": "AL", "val": "VAL", "aml": "AML", "book": "AL, statements of the textbook"}

raced = functools.partial(race, clock=time.process_time)


# --- long programs ----------------------------------------------------------------------------------------------------


def own_names(text: str, language: str) -> set[str]:
    """The names that a program gives: of variables, procedures, parameters, and of programs of VAL."""
    found = set(re.findall(r"(?m)^\.PROGRAM (\w+)", text))
    for s in statements_in(parse(text, language)):
        match s:
            case Assign():
                target = s.target
                while isinstance(target, Index):
                    target = target.value
                found.add(target.name)
            case Declare():
                found.update(s.names)
            case DefineMonitor():
                found.add(s.name)
            case Procedure():
                found.update([s.name, *(p.name for p in s.parameters)])
    return found


def renamed(text: str, names: set[str], ending: str) -> str:
    """A text in which these names have an ending; words of comments that are spelled so get it as well."""
    return re.sub(rf"\b({'|'.join(names)})\b", rf"\g<1>{ending}", text)


def long_text(kind: str, lines: int = LINES) -> str:
    """A program of so many lines, made of several programs with names of their own."""
    language = "al" if kind == "book" else kind
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in LONG[kind]]
    names = [own_names(text, language) for text in texts]
    if language == "al":
        texts = [re.search(r"BEGIN \w+\n(.*)END \w+\.", text, re.DOTALL)[1] for text in texts]
    found, k = [], 0
    while len(found) < lines:
        found += renamed(texts[k % len(texts)], names[k % len(texts)], f"_{k}").splitlines()
        k += 1
    # Whole programs alone can be read: the last one ends a little after the last line.
    return "\n".join(["BEGIN long", *found, "END long."] if language == "al" else found) + "\n"


def reading() -> list[dict]:
    """Programs of 1000 lines: read, checked, and both; AL beside lark."""
    rows = []
    for language in ("al", "val", "aml"):
        text = long_text(language)
        program = parse(text, language)
        wrong = [d for d in check(program) if d.severity == "error"]
        assert not wrong, wrong[0]
        calls = {
            "adjoint": lambda text=text, language=language: check(parse(text, language)),
            "adjoint, parse": lambda text=text, language=language: parse(text, language),
            "adjoint, check": lambda program=program: check(program),
        }
        laps = raced(calls, seconds=0.05)
        more = {
            "lines": text.count("\n"),
            "statements": sum(not isinstance(s, Comment) for s in statements_in(program)),
        }
        more |= {f"{what}_ms": 1e3 * min(laps[f"adjoint, {what}"]) for what in ("parse", "check")}
        rows.append(row(f"{NAMES[language]}, {LINES} lines", "parse and check", "one call", laps, peers=(), **more))
    return [*rows, beside_lark()]


def beside_lark() -> dict:
    """Reading alone of statements of the textbook, with the same instructions in the end."""
    text = long_text("book")
    assert parse(re.sub(r"\{[^}]*\}", "", text), "al") == al_grammar.instructions(text)  # which has no comments
    calls = {
        "adjoint": lambda: parse(text, "al"), "lark, tree": lambda: al_grammar.tree(text),
        "lark, instructions": lambda: al_grammar.instructions(text),
    }  # fmt: skip
    lines = text.count("\n")
    return row(f"{NAMES['book']}, {LINES} lines", "parse", "one call", raced(calls, seconds=0.05), lines=lines)


# --- runs -------------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """A program and the world in which it runs."""

    program: Program
    world: World


def tasks() -> dict[str, Task]:
    """The programs that run: nine parts onto a pallet, the tower of Hanoi, and the insertion of a bolt."""

    def read(name: str) -> Program:
        return parse((FOLDER / name).read_text(encoding="utf-8"), name.partition(".")[2], name=name)

    def place(x, y, z) -> np.ndarray:
        return se3.from_rotation_translation(so3.from_oat(np.deg2rad([0.0, 90.0, 0.0])), np.array([x, y, z]))

    puma, grip = aj.robots.puma560(), np.eye(4)
    hand = Gripper(opening=0.05, depth=0.04, breadth=0.02, tip=0.01, T_tool_grip=grip)
    tray = World().add_robot("arm", puma, q=np.deg2rad([0.0, -45.0, 150.0, 0.0, 60.0, 0.0]), gripper=hand)
    tray = tray.add("FEED", at=place(0.45, 0.2, -0.1)).add("TRAY", at=place(0.4, -0.25, -0.1))
    wide = Gripper(opening=0.1, depth=0.05, breadth=0.02, T_tool_grip=grip)
    pegs = World().add_robot("puma", puma, q=[0, -0.8, 2.4, 0, 1.0, 0], at=[0, 0, 0.3], gripper=wide)
    return {
        "pallet.val": Task(read("pallet.val"), tray), "hanoi.al": Task(read("hanoi.al"), pegs),
        "insertion.al": Task(read("insertion.al"), insertion_world()),
    }  # fmt: skip


def timed_run(name: str, what: str, call, first_s: float | None = None) -> dict:
    """The row of a run: the time of a run, and how many times faster than real time it is."""
    result = call()
    assert result.status == "done", name
    laps = raced({"adjoint": call}, seconds=0.05)
    often = [result.duration / lap for lap in laps["adjoint"]]
    low, middle, high = statistics.quantiles(often, n=4, method="inclusive")
    more = {"simulated_s": result.duration, "times_real": middle, "times_real_low": low, "times_real_high": high}
    if first_s is not None:
        more["first_s"] = first_s
    return row(name, what, "one run", laps, **more)


def kinematic_runs() -> list[dict]:
    return [
        timed_run(name, "run in kinematics", functools.partial(run, task.program, task.world))
        for name, task in tasks().items()
    ]


def dynamic_runs() -> list[dict]:
    """The insertion with masses, control and contact; its first run in a new process compiles."""
    task = tasks()["insertion.al"]
    call = functools.partial(run, task.program, task.world, backend="dynamic")
    start = time.process_time()
    call()
    return [timed_run("insertion.al", "run in dynamics", call, time.process_time() - start)]


def dry_runs() -> list[dict]:
    """The insertion, with limits, reach and collisions checked at every tick."""
    task = tasks()["insertion.al"]
    call = functools.partial(dry_run, task.program, task.world)
    assert not call().findings
    return [timed_run("insertion.al", "dry run", call)]


# --- conditions -------------------------------------------------------------------------------------------------------


class Ticks(VariableScope):
    """A scope with variables, and with forces at one tick or at many."""

    def __init__(self, force: np.ndarray | float, **variables):
        super().__init__(variables)
        self.force = force

    def reading(self, reading, number):
        return self.force


def conditions() -> list[dict]:
    """A condition of a guard at one tick and at 10⁴ ticks, which are one call; beside NumPy written by hand."""
    text = "MOVE barm TO place ON FORCE(Z) > 10*ounces AND tries < 4 DO STOP;"
    condition = parse(f"BEGIN a {text} END a.", "al").statements[0].guards[0].condition
    forces = np.random.default_rng(0).normal(size=TICKS) * 5
    limit = 10 * 0.028349523125 * 9.80665
    one, many = Ticks(float(forces[0]), tries=2.0), Ticks(forces, tries=2.0)

    def by_hand() -> np.ndarray:
        """The same with NumPy: numbers that differ by 1e-9 of themselves are equal, as they are in programs."""
        near = np.abs(forces - limit) <= 1e-9 * np.maximum(1.0, np.maximum(np.abs(forces), abs(limit)))
        return np.logical_and((forces > limit) & ~near, 2.0 < 4.0)

    assert np.array_equal(evaluate(condition, many), by_hand())
    assert evaluate(condition, one) == (forces[0] > limit)
    subject = "FORCE(Z) > 10*ounces AND tries < 4"
    rows = [row(subject, "evaluate", "one tick", raced({"adjoint": lambda: evaluate(condition, one)}))]
    calls = {
        "adjoint": lambda: evaluate(condition, many),
        "numpy, by hand": by_hand,
    }
    return [*rows, row(subject, "evaluate", f"{TICKS} ticks", raced(calls), samples=TICKS)]


# --- all of them ------------------------------------------------------------------------------------------------------


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    found = []
    for r in rows:
        if r["what"] == "parse and check":
            found.append(target(f"{r['subject']}, parse and check, ms", 1e-6 * r["ours_ns"], "<= 50"))
        elif r["what"] in ("run in kinematics", "run in dynamics"):
            wanted = ">= 1000" if r["what"] == "run in kinematics" else ">= 50"
            found.append(target(f"{r['subject']}, {r['what']}, times real time", r["extra"]["times_real"], wanted))
    return found


def main() -> None:
    parts = {  # the run that compiles comes first, as nothing must be compiled before
        "runs in dynamics": dynamic_runs, "runs in kinematics": kinematic_runs, "dry runs": dry_runs,
        "texts": reading, "conditions": conditions,
    }  # fmt: skip
    rows: list[dict] = []
    for name in in_time(parts):
        rows += parts[name]()
    report("program", ("numpy", "lark"), rows, targets(rows))


if __name__ == "__main__":
    main()
