"""What the benchmarks share: one core for every library, timing in turns, tables, JSON and plots in bench/results/."""

import json
import os
import platform
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def one_core() -> None:
    """Holds this process and every library in it to one thread; it is called before any of them is imported."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "ADJOINT"):
        os.environ[name + ("_THREADS" if name == "ADJOINT" else "_NUM_THREADS")] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def machine() -> dict:
    """The processor, the system and the Python version, which a reader needs to judge the numbers."""
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
        flags = next((line.split() for line in lines if line.startswith("flags")), [])
        cpu += next((f" ({name})" for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    elif sys.platform == "darwin":
        cpu = os.popen("sysctl -n machdep.cpu.brand_string").read().strip() or cpu
    return {"cpu": cpu, "system": platform.platform(terse=True), "python": platform.python_version()}


def versions(*packages: str) -> dict:
    from importlib.metadata import version

    return {name: version(name) for name in packages}


def race(calls: dict, rounds: int = 15, seconds: float = 0.02) -> dict[str, float]:
    """{name: seconds per call}, the best of several rounds.

    All calls take turns in each round, so that a slow moment of the machine hits all of them.
    """

    def lap(call, number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            call()
        return (time.perf_counter() - start) / number

    numbers = {name: max(1, int(seconds / min(lap(call, 1), lap(call, 1)))) for name, call in calls.items()}
    laps = [{name: lap(call, numbers[name]) for name, call in calls.items()} for _ in range(rounds)]
    return {name: min(one[name] for one in laps) for name in calls}


def cold(build, forget, rounds: int = 3) -> tuple:
    """The result of `build()` and the seconds of the fastest one; before each, `forget()` empties the caches."""
    laps, result = [], None
    for _ in range(rounds):
        forget()
        start = time.perf_counter()
        result = build()
        laps.append(time.perf_counter() - start)
    return result, min(laps)


def digits(x: float) -> str:
    """A number with three significant digits, or as a whole number if it is large."""
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"


def table(header: list[str], rows: list[list]) -> None:
    """Prints rows under a header; None becomes a dash."""
    text = {float: digits, type(None): lambda x: "-"}
    cells = [header] + [[text.get(type(x), str)(x) for x in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    for n, row in enumerate(cells):
        print("  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))))
        if n == 0:
            print("  ".join("-" * w for w in widths))
    print()


def save(name: str, data: dict) -> Path:
    """Writes the data as JSON into bench/results/."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(data, indent=1) + "\n")
    return path


def bars(name: str, title: str, groups: dict[str, dict[str, float]], unit: str) -> Path:
    """Draws a logarithmic bar chart {group: {system: height}} with one colour for each system."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    systems = list(dict.fromkeys(s for row in groups.values() for s in row))
    fig, ax = plt.subplots(figsize=(max(9, 0.9 * len(groups)), 4), layout="constrained")
    width = 0.8 / len(systems)
    for k, system in enumerate(systems):
        heights = {g: row[system] for g, row in enumerate(groups.values()) if system in row}
        shift = (k - (len(systems) - 1) / 2) * width
        drawn = ax.bar([g + shift for g in heights], list(heights.values()), width * 0.92, label=system)
        ax.bar_label(drawn, fmt=digits, fontsize=6, padding=1)
    ax.set(yscale="log", ylabel=unit)
    fig.suptitle(title, fontsize=9, x=0.01, ha="left")
    ax.set_xticks(range(len(groups)), groups)
    ax.spines[["top", "right"]].set_visible(False)
    fig.legend(loc="outside upper right", ncols=len(systems), frameon=False, fontsize=8)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.png"
    fig.savefig(path, dpi=150)
    return path
