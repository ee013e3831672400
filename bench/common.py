"""What the benchmarks share: one core for every library, timing in turns, rows with ratios, time limits, and JSON.

A benchmark is a file of this folder that runs as one process. It compares results first, times all libraries in turns
with `race`, makes a `row` of each comparison, and hands all of them to `report`, which prints them and writes
bench/results/NAME.json. `run.py` runs all benchmarks within a time limit; `draw.py` and `page.py` read the JSON alone.
"""

import atexit
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = Path(os.environ.get("BENCH_RESULTS", FOLDER / "results"))
QUICK = os.environ.get("BENCH_QUICK") == "1"  # fewer robots, sizes and rounds
DEADLINE = float(os.environ.get("BENCH_DEADLINE", "inf"))  # of this process, on the clock of time.time()
LEAST_ROUNDS = 3  # a spread needs some
begun: list[str] = []  # the cases of this process
left_out: list[str] = []  # those for which there was no time


# --- one core, and what a reader needs to judge the numbers -----------------------------------------------------------


def one_core() -> None:
    """Holds this process and every library in it to one thread; it is called before any of them is imported.

    The process gets a cache of compiled kernels of its own, too, as benchmarks of compile times empty it.
    """
    os.environ["ADJOINT_CACHE"] = folder = tempfile.mkdtemp(prefix="adjoint-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "ADJOINT"):
        os.environ[name + ("_THREADS" if name == "ADJOINT" else "_NUM_THREADS")] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def machine() -> dict:
    """The processor, the number of its cores, the system and the Python version."""
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
        flags = next((line.split() for line in lines if line.startswith("flags")), [])
        cpu += next((f" ({name})" for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    elif sys.platform == "darwin":
        cpu = os.popen("sysctl -n machdep.cpu.brand_string").read().strip() or cpu
    system, python = platform.platform(terse=True), platform.python_version()
    return {"cpu": cpu, "cores": os.cpu_count() or 1, "system": system, "python": python}


def versions(*packages: str) -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in packages}


def revision() -> str:
    """The commit that is measured, with a + if the library or the benchmarks have changed since."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=FOLDER, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "../src", "*.py")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# --- time limits ------------------------------------------------------------------------------------------------------


def quick_or_full(quick, full):
    """The first of both in `make bench-quick`, the second otherwise."""
    return quick if QUICK else full


def in_time(cases: Iterable, name: Callable = str) -> Iterator:
    """The first case of a process, and more as long as there is time; the names of the others go into the JSON."""
    for case in cases:
        if time.time() < DEADLINE or not begun:
            begun.append(name(case))
            yield case
        else:
            left_out.append(name(case))


# --- timing -----------------------------------------------------------------------------------------------------------


def race(calls: dict[str, Callable], rounds: int = 15, seconds: float = 0.02, clock=time.perf_counter) -> dict:
    """{name: [seconds per call, in each round]}.

    All calls take turns in each round, so that a slow moment of the machine hits all of them, and ratios of one round
    are ratios of the same moment. In a round a call is repeated until it takes about `seconds`.
    """
    rounds, seconds = quick_or_full((min(rounds, 5), seconds / 4), (rounds, seconds))

    def lap(call, number: int) -> float:
        start = clock()
        for _ in range(number):
            call()
        return (clock() - start) / number

    def number(call) -> int:
        """How often a call is repeated in a round; its second lap tells, as something may be made in the first."""
        first = lap(call, 1)
        return 1 if first > 1.0 else max(1, int(seconds / min(first, lap(call, 1))))

    numbers = {name: number(call) for name, call in calls.items()}
    laps: dict[str, list[float]] = {name: [] for name in calls}
    for k in range(rounds):
        if k >= LEAST_ROUNDS and time.time() > DEADLINE:
            break
        for name, call in calls.items():
            laps[name].append(lap(call, numbers[name]))
    return laps


def cold(build: Callable, forget: Callable, rounds: int = 3) -> tuple:
    """The result of `build()` and the seconds of each; before each, `forget()` empties the caches."""
    laps, result = [], None
    for _ in range(quick_or_full(1, rounds)):
        forget()
        start = time.perf_counter()
        result = build()
        laps.append(time.perf_counter() - start)
    return result, laps


# --- rows -------------------------------------------------------------------------------------------------------------


def row(
    subject: str, what: str, how: str, laps: dict[str, list[float]], ours: str = "adjoint", *,
    peers: Iterable[str] | None = None, samples: int | dict[str, int] = 1, size: float | None = None,
    accuracy: dict | None = None, **extra,
) -> dict:  # fmt: skip
    """One comparison, for the JSON: nanoseconds a sample, and how many times faster ours is than each peer.

    `subject` is the robot or the problem, `what` the function, `how` the way of calling it ("batch", "one call"), and
    `size` the number along a curve of scaling. `laps` are what `race` returns, of which `peers` are compared with
    `ours`: all others by default. A call computes `samples`, or as many as a dictionary has for its name.
    Names of peers that begin with "adjoint" are other ways of ours. `extra` are more numbers of the row.

    Times are the least of all rounds. A ratio is computed in every round: `ratio` is the median, and `ratio_low` and
    `ratio_high` are the quartiles.
    """

    def per_sample(name: str) -> list[float]:
        n = samples.get(name, 1) if isinstance(samples, dict) else samples
        return [1e9 * lap / n for lap in laps[name]]

    own, beside = per_sample(ours), {}
    for name in (name for name in laps if name != ours) if peers is None else peers:
        theirs = per_sample(name)
        ratios = sorted(y / x for x, y in zip(own, theirs, strict=False))
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        beside[name] = {"ns": min(theirs), "ratio": middle, "ratio_low": low, "ratio_high": high}
    found = {"subject": subject, "what": what, "how": how, "size": size, "ours_ns": min(own), "peers": beside}
    return found | {"rounds": len(own), "accuracy": accuracy, "extra": extra}


def accuracy_row(subject: str, what: str, errors: dict[str, list[float]]) -> dict:
    """A row without times: {system: errors of samples} in units of the spacing of numbers, 2⁻⁵²."""
    accuracy = {name: {"median": statistics.median(e), "worst": max(e)} for name, e in errors.items()}
    found = {"subject": subject, "what": what, "how": "accuracy", "size": None, "ours_ns": None, "peers": {}}
    return found | {"rounds": 0, "accuracy": accuracy, "extra": {}}


def find(rows: list[dict], subject: str, what: str, how: str, size: float | None = None) -> dict | None:
    """The row of these names, or None if there is none, as in a run with fewer robots."""
    names = {"subject": subject, "what": what, "how": how, "size": size}
    return next((r for r in rows if all(r[k] == x for k, x in names.items())), None)


def target(name: str, measured: float, wanted: str) -> list:
    """(name, measured, wanted, verdict) of a target such as ">= 20"."""
    sign, limit = wanted.split()
    met = measured >= float(limit) if sign == ">=" else measured <= float(limit)
    return [name, measured, wanted, "met" if met else "missed"]


def ratio_target(found: dict | None, peer: str, least: float) -> list[list]:
    """A list with the target of a row, "at least so many times faster than a peer"; empty if there is no such row."""
    if found is None or peer not in found["peers"]:
        return []
    return [target(f"{label(found)}, times {peer}", found["peers"][peer]["ratio"], f">= {least:g}")]


# --- printing and writing ---------------------------------------------------------------------------------------------


def digits(x: float) -> str:
    """A number with three significant digits, or as a whole number if it is large."""
    return f"{x:.3g}" if abs(x) < 999.5 else f"{x:.0f}"


def duration(ns: float) -> str:
    """A time with its unit."""
    unit, scale = next(((u, s) for u, s in (("ns", 1), ("µs", 1e3), ("ms", 1e6)) if ns < 999.5 * s), ("s", 1e9))
    return f"{digits(ns / scale)} {unit}"


def comparison(peer: dict) -> str:
    """A peer's time, and how many times faster ours is, with its spread."""
    low, high = digits(peer["ratio_low"]), digits(peer["ratio_high"])
    return f"{duration(peer['ns'])}, {digits(peer['ratio'])}× ({low} to {high})"


def table(header: list[str], rows: list[list]) -> None:
    """Prints rows under a header; None becomes a dash."""
    text = {float: digits, type(None): lambda x: "-"}
    cells = [header] + [[text.get(type(x), str)(x) for x in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    for n, line in enumerate(cells):
        padded = [c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True))]
        print("  ".join(padded))
        if n == 0:
            print("  ".join("-" * w for w in widths))
    print()


def label(found: dict) -> str:
    """The name of a row in a table."""
    size = None if found["size"] is None else f"{found['size']:,.0f}".replace(",", " ")
    return ", ".join(x for x in (found["subject"], found["what"], found["how"], size) if x)


def show(rows: list[dict]) -> None:
    """Prints rows, one table for each way of calling: our time, and each peer's with its ratio to ours."""
    for how in dict.fromkeys(r["how"] for r in rows if r["ours_ns"] is not None):
        these = [r for r in rows if r["how"] == how]
        names = list(dict.fromkeys(name for r in these for name in r["peers"]))
        body = [[duration(r["ours_ns"]), *(r["peers"].get(name) for name in names)] for r in these]
        body = [[x if isinstance(x, str) else x and comparison(x) for x in line] for line in body]
        table(["", "adjoint", *names], [[label(r), *line] for r, line in zip(these, body, strict=True)])
    errors = [r for r in rows if r["accuracy"]]
    names = list(dict.fromkeys(name for r in errors for name in r["accuracy"]))
    if errors:
        both = [[r["accuracy"].get(n) for n in names] for r in errors]
        cells = [[x and f"{digits(x['median'])} ({digits(x['worst'])})" for x in line] for line in both]
        table(["error / 2⁻⁵²: median (worst)", *names], [[label(r), *c] for r, c in zip(errors, cells, strict=True)])


def write_json(path: Path, data: dict) -> Path:
    """Writes a JSON file, which appears whole or not at all."""
    from adjoint.files import whole_file

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write_text(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return path


def report(
    name: str, packages: tuple[str, ...], rows: list[dict], targets: list[list] = (), threads: int = 1, **more
) -> None:  # fmt: skip
    """Prints the rows and the targets of a benchmark, and writes them, with the machine and the versions, as JSON."""
    if not rows:
        raise SystemExit(f"{name}: there was no time for any case")
    where, used = machine(), versions("adjoint", *packages)
    print(f"{name}: {where['cpu']}, {threads} thread{'s'[: threads > 1]}, float64;", end=" ")
    print(", ".join(f"{k} {v}" for k, v in used.items()), "\n")
    show(rows)
    if targets:
        table(["target", "measured", "wanted", ""], list(targets))
    if left_out:
        print("left out, as there was no time:", "; ".join(left_out))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    head = {"benchmark": name, "machine": where, "versions": used, "date": now}
    head |= {"revision": revision(), "threads": threads, "quick": QUICK, "left_out": left_out}
    print(write_json(RESULTS / f"{name}.json", {**head, "rows": rows, "targets": list(targets), "more": more}))
