"""Shared by the benchmarks: one core for everybody, timing in turns, tables, JSON and plots in bench/results/."""

import json
import os
import platform
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def one_core() -> None:
    """Hold this process and every library in it to one thread; call it before importing any of them."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "ADJOINT"):
        os.environ[name + ("_THREADS" if name == "ADJOINT" else "_NUM_THREADS")] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def machine() -> dict:
    """What a reader needs to judge the numbers."""
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
    """Seconds per call of each: the best of `rounds`, in which all take turns, so that a slow moment hits everybody."""

    def lap(call, number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            call()
        return (time.perf_counter() - start) / number

    numbers = {name: max(1, int(seconds / min(lap(call, 1), lap(call, 1)))) for name, call in calls.items()}
    laps = [{name: lap(call, numbers[name]) for name, call in calls.items()} for _ in range(rounds)]
    return {name: min(one[name] for one in laps) for name in calls}


def cold(build, forget, rounds: int = 3) -> tuple:
    """(result, seconds) of the fastest `build()`, each after `forget()` has emptied the caches."""
    laps, result = [], None
    for _ in range(rounds):
        forget()
        start = time.perf_counter()
        result = build()
        laps.append(time.perf_counter() - start)
    return result, min(laps)


def digits(x: float) -> str:
    """Three significant digits, without exponents for large numbers."""
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"


def table(header: list[str], rows: list[list]) -> None:
    """Print rows under a header; None becomes a dash."""
    text = {float: digits, type(None): lambda x: "-"}
    cells = [header] + [[text.get(type(x), str)(x) for x in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    for n, row in enumerate(cells):
        print("  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))))
        if n == 0:
            print("  ".join("-" * w for w in widths))
    print()


def save(name: str, data: dict) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(data, indent=1) + "\n")
    return path


def bars(name: str, title: str, groups: dict[str, dict[str, float]], unit: str) -> Path:
    """A logarithmic bar chart: one group of bars per function, one colour per system."""
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
