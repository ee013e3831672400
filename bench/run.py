"""All benchmarks within a time limit; then the plots, and the tables of the pages.

python bench/run.py                all, in 30 minutes at most; writes bench/results/, docs/images/bench/ and the pages
python bench/run.py --quick        fewer robots, sizes and rounds, in 5 minutes at most; writes build/bench/ alone
python bench/run.py dynamics ...   some

Each benchmark is a process of its own. It gets a share of the time that is left, and leaves out cases when its share is
used up; long after that it is ended. One that fails costs the others nothing: its last words are in the table at the
end and in run.json, and the exit code is 1.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from common import FOLDER, table, write_json

ROOT = FOLDER.parent
SHARES = {  # about the seconds that each takes on an idle machine: all of it, and with --quick
    "kinematics": (40, 7), "dynamics": (250, 27), "derivatives": (280, 32), "compiler": (50, 12), "inverse": (25, 5),
    "inverse_numeric": (40, 14), "trajectory": (30, 10), "simulation": (280, 15), "scaling": (90, 9),
    "threads": (40, 6), "compiling": (70, 10), "accuracy": (50, 7), "chains": (50, 10), "parallel": (70, 7),
    "calibration": (45, 13), "optimal": (70, 12), "vision": (100, 25), "world": (150, 45),
    "program": (30, 12), "planning": (30, 10),
}  # fmt: skip
OPTIMAL = ROOT / ".venv-optimal/bin/python"  # crocoddyl needs an older Pinocchio than the others


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, its command (None if what it needs is not installed), and its share of the time."""

    name: str
    command: list[str] | None
    share: float


def benchmarks(names: Iterable[str], quick: bool) -> list[Benchmark]:
    def command(name: str) -> list[str] | None:
        python = sys.executable if name != "optimal" else str(OPTIMAL)
        ready = name != "optimal" or (OPTIMAL.parents[1] / ".crocoddyl").exists()
        return [python, str(FOLDER / f"{name}.py")] if ready else None

    return [Benchmark(name, command(name), SHARES[name][quick]) for name in names]


def run_all(every: list[Benchmark], seconds: float, environment: dict[str, str], patience: float = 30) -> list[dict]:
    """Runs benchmarks one after the other: [{"name", "status", "seconds", "message"}].

    A benchmark's deadline is its share of the time that is left. It is ended when it has taken twice as long or is
    `patience` seconds late, whatever is later, or when all time is over.
    """
    end, outcomes = time.time() + seconds, []
    for k, benchmark in enumerate(every):
        now = time.time()
        share = max(0.0, end - now) * benchmark.share / sum(b.share for b in every[k:])
        if benchmark.command is None:
            status, message = "not installed", "its libraries cannot be installed: see the Makefile"
        else:
            print(f"--- {benchmark.name}: {share:.0f} s\n", flush=True)
            given = environment | {"BENCH_DEADLINE": str(now + share)}
            status, message = run_one(benchmark.command, min(share + max(share, patience), end - now), given)
        taken = time.time() - now
        outcomes.append({"name": benchmark.name, "status": status, "seconds": round(taken, 1), "message": message})
    return outcomes


def run_one(command: list[str], seconds: float, environment: dict[str, str]) -> tuple[str, str]:
    """Runs a process, and ends it and its children when the time is over: (status, the last line of its errors)."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            command, env=os.environ | environment, stderr=errors, cwd=ROOT, start_new_session=True
        )  # fmt: skip
        try:
            code = process.wait(timeout=max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return "out of time", f"ended after {seconds:.0f} s"
        finally:
            _end(process)
        errors.seek(0)
        text = errors.read().strip()
    if code == 0:
        return "done", ""
    print(text, "\n", file=sys.stderr, flush=True)
    return "failed", text.splitlines()[-1] if text else f"exit code {code}"


def _end(process: subprocess.Popen) -> None:
    """Ends a process that still runs, and its children, which are in its session."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def record(path: Path, outcomes: list[dict], head: dict) -> None:
    """Writes what came of the benchmarks; those that did not run this time keep what is written of them."""
    before = json.loads(path.read_text(encoding="utf-8"))["benchmarks"] if path.exists() else []
    found = {outcome["name"]: outcome for outcome in (*before, *outcomes)}
    write_json(path, {**head, "benchmarks": [found[name] for name in SHARES if name in found]})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the benchmarks, draw the plots, and write the tables.")
    parser.add_argument("names", nargs="*", metavar="benchmark", help=", ".join(SHARES))
    parser.add_argument("--quick", action="store_true", help="fewer robots, sizes and rounds; writes build/bench/")
    parser.add_argument("--seconds", type=float, help="for all together: 1800, or 300 with --quick")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - SHARES.keys():
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(SHARES)}")
    results = ROOT / "build/bench" if options.quick else FOLDER / "results"
    environment = {"BENCH_QUICK": str(int(options.quick)), "BENCH_RESULTS": str(results)}
    seconds = options.seconds or (300 if options.quick else 1800)
    begun = time.time()
    drawing = 20.0  # kept for the plots
    outcomes = run_all(benchmarks(options.names or SHARES, options.quick), seconds - drawing, environment)
    started = datetime.fromtimestamp(begun, UTC).isoformat(timespec="seconds")
    record(results / "run.json", outcomes, {"date": started, "quick": options.quick})
    places = ["--results", str(results), "--images", str(results)] if options.quick else []
    status, message = run_one([sys.executable, str(FOLDER / "draw.py"), *places], 120.0, {})
    outcomes.append({"name": "plots and pages", "status": status, "seconds": 0.0, "message": message})
    table(["benchmark", "", "s", ""], [list(outcome.values()) for outcome in outcomes])
    print(f"{time.time() - begun:.0f} s in all; results are in {results}")
    return int(any(outcome["status"] in ("failed", "out of time") for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
