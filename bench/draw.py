"""The plots of the benchmarks, and the tables of the pages, from the JSON files alone.

python bench/draw.py                                reads bench/results, writes docs/images/bench/*.svg and the tables
python bench/draw.py --results R --images I         reads and writes these folders; the pages stay as they are
python bench/draw.py --format png --images build    other formats

All plots have a light background of their own, so that they can be read on a dark page, and colours that people with
any kind of colour blindness tell apart (Okabe and Ito).
"""

import argparse
from pathlib import Path

import matplotlib
import page
from common import FOLDER, digits, duration, find
from matplotlib.axes import Axes
from matplotlib.figure import Figure

IMAGES = FOLDER.parent / "docs/images/bench"
BLUE, ORANGE, GREEN, RED, PINK, SKY, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#8C8C8C",
)  # fmt: skip
COLOURS = {
    "adjoint": BLUE, "pinocchio": RED, "pinocchio batch": ORANGE, "pinocchio aba": RED, "mujoco": GREEN,
    "mujoco.batch": GREEN, "mujoco.rollout": SKY, "adjoint, scalar C": SKY, "numpy": GREY, "jax": PINK, "jaxlie": PINK,
    "jax 4x4": RED, "heyoka": ORANGE, "heyoka compact": YELLOW, "EAIK": ORANGE, "ssik": PINK, "adjoint, fixman": SKY,
    "adjoint, dense": GREY,
}  # fmt: skip
STYLE = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#555555",
    "axes.titlesize": 9.5, "axes.titlelocation": "left", "figure.facecolor": "#FFFFFF", "axes.facecolor": "#FFFFFF",
    "grid.color": "#DDDDDD", "grid.linewidth": 0.6, "legend.frameon": False, "legend.fontsize": 8.5,
    "svg.hashsalt": "adjoint", "svg.fonttype": "path",
}  # fmt: skip
ROBOTS = [  # (benchmark, subject, what)
    ("kinematics", "UR5", "placement"), ("kinematics", "UR5", "Jacobian"), ("dynamics", "UR5", "inverse_dynamics"),
    ("dynamics", "UR5", "forward_dynamics"), ("dynamics", "UR5", "mass_matrix"),
    ("derivatives", "UR5", "forward_dynamics_derivatives"), ("dynamics", "G1 free", "inverse_dynamics"),
    ("dynamics", "G1 free", "forward_dynamics"), ("dynamics", "G1 free", "mass_matrix"),
    ("derivatives", "G1 free", "forward_dynamics_derivatives"),
]  # fmt: skip
OTHERS = [
    ("compiler", "SE(3)", "exp", "batch"), ("compiler", "SE(3)", "log", "batch"),
    ("inverse", "UR5", "all branches of a pose", "batch"), ("inverse", "UR5", "all branches of a pose", "one call"),
    ("inverse_numeric", "UR5", "search", "batch"), ("inverse_numeric", "UR5", "step", "one call"),
    ("trajectory", "7 joints", "spline sampled", "batch"), ("trajectory", "6 joints", "S-curves made", "batch"),
    ("trajectory", "7 joints", "time-optimal path", "one call"), ("simulation", "UR5", "run", "last state kept"),
    ("optimal", "UR5 reaches, iLQR", "an iteration", "one problem"),
]  # fmt: skip


def colour(system: str) -> str:
    return COLOURS.get(system, GREY)


def figure(width: float, height: float, title: str, found: list[dict], columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, whose title names the machine."""
    drawn = Figure(figsize=(width, height), layout="constrained")
    machines = dict.fromkeys(data["machine"]["cpu"] for data in found)
    quick = ", quick run" if any(data["quick"] for data in found) else ""
    drawn.suptitle(f"{title}\n", fontsize=11, x=0.01, ha="left", fontweight="bold")
    drawn.text(0.01, 0.985 - 0.26 / height, f"{'; '.join(machines)}{quick}", fontsize=8, color="#555555", va="top")
    return drawn, list(drawn.subplots(1, columns, squeeze=False)[0])


# --- bars -------------------------------------------------------------------------------------------------------------


def bars(title: str, found: list[dict], rows: list[dict], names: list[str]) -> Figure:
    """Horizontal bars of times, one group for each row; the bars of peers say how many times faster ours is."""
    chosen = [{"adjoint": None} | fastest(row["peers"]) for row in rows]
    count = sum(len(c) for c in chosen)
    drawn, (axes,) = figure(8.2, 1.3 + 0.19 * count + 0.12 * len(rows), title, found)
    ticks, y = [], 0.0
    for row, peers in zip(rows, chosen, strict=True):
        ticks.append(y + (len(peers) - 1) / 2)
        for system, peer in peers.items():
            ns = row["ours_ns"] if peer is None else peer["ns"]
            axes.barh(y, ns, 0.86, color=colour(system))
            text = f"Adjoint: {duration(ns)}" if peer is None else _ratio(system, peer)
            axes.text(ns * 1.08, y, text, va="center", fontsize=7.5)
            y += 1
        y += 0.7
    axes.set(xscale="log", xlabel="time per sample (logarithmic; shorter is better)")
    axes.set_xlim(min(row["ours_ns"] for row in rows) / 4, axes.get_xlim()[1] * 22)
    axes.xaxis.set_major_formatter(lambda x, _: duration(x))
    axes.set_yticks(ticks, names)
    axes.set_ylim(y - 0.7, -0.8)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    return drawn


def fastest(peers: dict) -> dict:
    """The fastest way of each library, of those that are not ours, and the C code of ours."""
    best: dict[str, str] = {}
    for name in peers:
        library = name.split(" ")[0].split(",")[0].split(".")[0]
        if library == "adjoint" and name != "adjoint, scalar C":
            continue
        if library not in best or peers[name]["ns"] < peers[best[library]]["ns"]:
            best[library] = name
    return {name: peers[name] for name in best.values()}


def _ratio(system: str, peer: dict) -> str:
    low, high = digits(peer["ratio_low"]), digits(peer["ratio_high"])
    name = "the same as scalar C" if system == "adjoint, scalar C" else page.system_name(system)
    return f"{name}: {duration(peer['ns'])}, {digits(peer['ratio'])}× ({low} to {high})"


def chosen_bars(title: str, results: dict, wanted: list[tuple]) -> Figure | None:
    """Bars of the rows (benchmark, subject, what, how) that there are."""
    known = [w for w in wanted if w[0] in results]
    rows = {w: find(results[w[0]]["rows"], *w[1:]) for w in known}
    rows = {w: row for w, row in rows.items() if row is not None}
    if not rows:
        return None
    hows = {how for *_, how in rows}
    names = [f"{s}\n{page.words(what)}{'' if len(hows) == 1 else f', {how}'}" for _, s, what, how in rows]
    sources = [results[name] for name in dict.fromkeys(w[0] for w in rows)]
    return bars(title, sources, list(rows.values()), names)


def throughput(results: dict) -> Figure | None:
    return chosen_bars("Time per sample in batches, one core", results, [(*row, "batch") for row in ROBOTS])


def single_calls(results: dict) -> Figure | None:
    return chosen_bars("Time of one call from Python, one core", results, [(*row, "one call") for row in ROBOTS])


def other_tasks(results: dict) -> Figure | None:
    return chosen_bars("Other tasks beside the libraries made for them, one core", results, OTHERS)


# --- ratios -----------------------------------------------------------------------------------------------------------


def overview(results: dict) -> Figure | None:
    """Every comparison as a point, by benchmark."""
    found = {name: page.comparisons({name: data}) for name, data in results.items()}
    found = {name: list_ for name, list_ in found.items() if list_}
    if not found:
        return None
    title = "All comparisons: times faster than a peer"
    drawn, (axes,) = figure(8.2, 1.4 + 0.33 * len(found), title, list(results.values()))
    for y, list_ in enumerate(found.values()):
        for k, (_, _, _, peer) in enumerate(sorted(list_, key=lambda c: c[3]["ratio"])):
            shift, shade = 0.5 * (((k * 0.618) % 1) - 0.5), BLUE if peer["ratio"] >= 1 else RED  # equal ones stay apart
            axes.plot(peer["ratio"], y + shift, "o", ms=3.5, alpha=0.7, mew=0, color=shade)
    axes.axvline(1, color="#333333", lw=1)
    axes.set(xscale="log", xlabel="ratio of times (left of 1, in red: Adjoint is slower)")
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}×")
    axes.set_yticks(range(len(found)), [f"{name.replace('_', ' ')} ({len(c)})" for name, c in found.items()])
    axes.grid(axis="x")
    return drawn


def slower(results: dict) -> Figure | None:
    """The comparisons in which Adjoint is slower or gains least, with their spread."""
    found = page.slow(results)
    if not found:
        return None
    sources = [results[name] for name in dict.fromkeys(c[0] for c in found)]
    title = f"Where Adjoint is slower, or gains less than {page.LITTLE:g}×"
    drawn, (axes,) = figure(8.2, 1.3 + 0.2 * len(found), title, sources)
    for y, (_, _, _, peer) in enumerate(found):
        shade = BLUE if peer["ratio"] >= 1 else RED
        axes.plot([peer["ratio_low"], peer["ratio_high"]], [y, y], "-", color=shade, lw=2, alpha=0.5)
        axes.plot(peer["ratio"], y, "o", ms=5, color=shade)
    axes.axvline(1, color="#333333", lw=1)
    names = [f"{page.row_name(row)}, beside {page.system_name(peer)}" for _, row, peer, _ in found]
    axes.set_yticks(range(len(found)), names, fontsize=8)
    axes.set(xlabel="times faster: median and quartiles (left of 1, in red: Adjoint is slower)", xlim=(0, page.LITTLE))
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.grid(axis="x")
    return drawn


# --- curves -----------------------------------------------------------------------------------------------------------


def curve(axes: Axes, rows: list[dict], system: str, scale=lambda row, ns: ns, **style) -> None:
    """The times of a system over the sizes of rows."""
    points = [(r["size"], r["ours_ns"] if system == "adjoint" else r["peers"].get(system, {}).get("ns")) for r in rows]
    xy = [(n, scale(n, ns)) for n, ns in points if ns is not None]
    if xy:
        axes.plot(*zip(*xy, strict=True), color=colour(system), **{"marker": "o", "ms": 3.5, "lw": 1.6, **style})


def along(results: dict, name: str, how: str) -> list[dict]:
    return [r for r in results.get(name, {"rows": []})["rows"] if r["how"] == how]


def legend(axes: Axes, systems: dict[str, str]) -> None:
    """A legend of colours."""
    for system, text in systems.items():
        axes.plot([], [], "o-", color=colour(system), ms=3.5, label=text)
    axes.legend()


def by_batch(results: dict) -> Figure | None:
    rows = along(results, "scaling", "by batch")
    if not rows:
        return None
    subjects = list(dict.fromkeys(r["subject"] for r in rows))
    title = "Time per sample and size of the batch, one core"
    drawn, panels = figure(8.2, 3.9, title, [results["scaling"]], len(subjects))
    systems = {"adjoint": "Adjoint", "pinocchio": "Pinocchio, single calls", "pinocchio batch": "Pinocchio, batch call"}
    for axes, subject in zip(panels, subjects, strict=True):
        for what, line in (("inverse_dynamics", "-"), ("forward_dynamics", "--")):
            for system in systems:
                curve(axes, [r for r in rows if (r["subject"], r["what"]) == (subject, what)], system, ls=line)
        axes.set(xscale="log", yscale="log", xlabel="samples in a batch")
        axes.set_title(f"{subject}: inverse (—) and forward (- -) dynamics")
        _times(axes)
    legend(panels[0], systems)
    return drawn


def by_freedoms(results: dict) -> Figure | None:
    rows = along(results, "scaling", "by freedoms")
    if not rows:
        return None
    functions = list(dict.fromkeys(r["what"] for r in rows))
    title = "Time per sample and degrees of freedom: random trees, one core"
    drawn, panels = figure(8.2, 3.6, title, [results["scaling"]], len(functions))
    for axes, what in zip(panels, functions, strict=True):
        for system in ("adjoint", "pinocchio"):
            curve(axes, [r for r in rows if r["what"] == what], system)
        axes.set(xscale="log", yscale="log", xlabel="revolute joints", title=page.words(what))
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        _times(axes)
    legend(panels[0], {"adjoint": "Adjoint, batch", "pinocchio": "Pinocchio"})
    return drawn


def by_length(results: dict) -> Figure | None:
    rows = along(results, "chains", "one call")
    if not rows:
        return None
    drawn, (axes,) = figure(8.2, 4, "One long chain: the time to solve M x = b, one core", [results["chains"]])
    systems = {
        "adjoint": "Adjoint, solve_mass_matrix", "adjoint, fixman": "Adjoint, Fixman's method",
        "pinocchio aba": "Pinocchio, articulated bodies", "adjoint, dense": "Adjoint's M, solved by NumPy",
    }  # fmt: skip
    for system in systems:
        curve(axes, rows, system, lambda n, ns: n * ns)
    axes.set(xscale="log", yscale="log", xlabel="links")
    _times(axes)
    legend(axes, systems)
    return drawn


def by_threads(results: dict) -> Figure | None:
    rows = along(results, "threads", "by threads")
    if not rows:
        return None
    functions = list(dict.fromkeys(r["what"] for r in rows))
    title = f"Threads, batches of {results['threads']['more']['batch']}"
    drawn, panels = figure(8.2, 3.6, title, [results["threads"]], len(functions))
    for axes, what in zip(panels, functions, strict=True):
        for subject, line in (("UR5", "-"), ("G1 free", "--")):
            some = [r for r in rows if (r["subject"], r["what"]) == (subject, what)]
            for system in ("adjoint", "pinocchio batch"):
                curve(axes, some, system, lambda n, ns: 1e3 / ns, ls=line)
        axes.set(yscale="log", xlabel="threads", ylabel="million samples per second")
        axes.set(title=f"{page.words(what)}: UR5 (—), G1 (- -)", xticks=sorted({r["size"] for r in rows}))
        axes.grid(True)
    legend(panels[0], {"adjoint": "Adjoint", "pinocchio batch": "Pinocchio, parallel call"})
    return drawn


def _times(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(lambda y, _: duration(y))
    axes.grid(True)


# --- compile times and accuracy ---------------------------------------------------------------------------------------


def compile_times(results: dict) -> Figure | None:
    """Compile times by robot and function, and beside other compilers."""
    own, others = along(results, "compiling", "cold"), along(results, "compiler", "compiling")
    if not own or not others:
        return None
    sources = [results["compiling"], results["compiler"]]
    height = 1.6 + 0.22 * max(1.4 * len(own), 4.5 * len(others))
    drawn, (left, right) = figure(9, height, "Time to compile a function, one core", sources, 2)
    for y, row in enumerate(own):
        warm = find(results["compiling"]["rows"], row["subject"], row["what"], "warm")
        for found, shade, at in ((row, BLUE, y - 0.2), (warm, SKY, y + 0.2)):
            left.barh(at, found["ours_ns"], 0.38, color=shade)
            left.text(found["ours_ns"] * 1.1, at, duration(found["ours_ns"]), va="center", fontsize=7)
    left.set_yticks(range(len(own)), [f"{r['subject']}, {page.words(r['what'])}" for r in own], fontsize=8)
    left.set(title="by robot (light: from the disk cache)", ylim=(len(own) - 0.4, -0.6))
    y, ticks = 0.0, []
    for row in others:
        systems = {"adjoint": row["ours_ns"]} | {name: peer["ns"] for name, peer in row["peers"].items()}
        ticks.append(y + (len(systems) - 1) / 2)
        for system, ns in systems.items():
            right.barh(y, ns, 0.86, color=colour(system))
            right.text(ns * 1.1, y, f"{page.system_name(system)}: {duration(ns)}", va="center", fontsize=7)
            y += 1
        y += 0.7
    right.set_yticks(ticks, [f"{r['subject']}\n{r['what']}" for r in others], fontsize=8)
    right.set(title="beside other compilers", ylim=(y - 0.4, -0.8))
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlim(right=axes.get_xlim()[1] * 8)
        axes.xaxis.set_major_formatter(lambda x, _: duration(x))
        axes.grid(axis="x")
        axes.set_axisbelow(True)
    return drawn


def accuracy(results: dict) -> Figure | None:
    """Median and worst rounding errors of every system."""
    rows = along(results, "accuracy", "accuracy")
    if not rows:
        return None
    title = "Rounding errors against 50 digits: median (dot) to worst (bar)"
    drawn, (axes,) = figure(8.2, 1.4 + 0.42 * len(rows), title, [results["accuracy"]])
    systems = list(dict.fromkeys(name for r in rows for name in r["accuracy"]))
    for y, row in enumerate(rows):
        for k, (system, error) in enumerate(row["accuracy"].items()):
            at = y + 0.2 * (k - (len(row["accuracy"]) - 1) / 2)
            axes.plot([error["median"], error["worst"]], [at, at], "-", lw=2.4, alpha=0.5, color=colour(system))
            axes.plot(error["median"], at, "o", ms=4.5, color=colour(system))
            axes.plot(error["worst"], at, "|", ms=7, mew=1.6, color=colour(system))
    axes.set(xscale="log", xlabel="largest error of a result, in units of 2⁻⁵² of its largest entry")
    axes.set_yticks(range(len(rows)), [f"{r['subject']}, {page.words(r['what'])}" for r in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x")
    legend(axes, {system: page.system_name(system) for system in systems})
    return drawn


PLOTS = {
    "throughput": throughput, "single_calls": single_calls, "other_tasks": other_tasks, "overview": overview,
    "slower": slower, "batch": by_batch, "freedoms": by_freedoms, "length": by_length, "threads": by_threads,
    "compile": compile_times, "accuracy": accuracy,
}  # fmt: skip


def draw(results: dict, folder: Path, kind: str = "svg") -> list[Path]:
    """Draws every plot for which there are results."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    with matplotlib.rc_context(STYLE):
        for name, plot in PLOTS.items():
            found = plot(results)
            if found is not None:
                path = folder / f"{name}.{kind}"
                found.savefig(path, dpi=150, **({"metadata": {"Date": None}} if kind == "svg" else {}))
                drawn.append(path)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the plots of the benchmarks, and write the tables of the pages.")
    parser.add_argument("--results", type=Path, default=FOLDER / "results", help="the folder of JSON files")
    parser.add_argument("--images", type=Path, default=IMAGES, help="the folder of plots; the pages need the default")
    parser.add_argument("--format", default="svg", choices=["svg", "png", "pdf"])
    options = parser.parse_args()
    results = page.load(options.results)
    for path in draw(results, options.images, options.format):
        print(path)
    if options.results == FOLDER / "results" and options.images == IMAGES:
        for path in page.write(results):
            print(path)


if __name__ == "__main__":
    main()
