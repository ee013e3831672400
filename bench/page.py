"""The tables of the pages, from the JSON files of a run: no number in a page can differ from what the run printed.

A page has pairs of markers; `write` puts the table of that name between them, and a test finds pages that differ:

    <!-- bench: readme -->
    <!-- /bench -->
"""

import json
import re
from pathlib import Path

from common import FOLDER, digits, duration, find, label

ROOT = FOLDER.parent
PAGES = [ROOT / "docs/benchmarks.md", ROOT / "docs/index.md", ROOT / "README.md"]
LITTLE = 2.0  # what gains less than so many times is listed
MARKED = re.compile(r"(<!-- bench: (?P<name>[\w-]+) -->\n).*?(<!-- /bench -->)", re.DOTALL)
NAMES = {
    "adjoint": "Adjoint", "pinocchio": "Pinocchio", "mujoco": "MuJoCo", "numpy": "NumPy", "jax": "JAX",
    "roboticstoolbox": "Robotics Toolbox", "mujoco.batch": "MuJoCo batch", "mujoco.rollout": "MuJoCo rollout",
    "PPoly": "SciPy's PPoly", "OpenCV projectPoints, 10000 a call": "OpenCV",
}  # fmt: skip
ORDER = [
    "kinematics", "dynamics", "derivatives", "compiler", "inverse", "inverse_numeric", "trajectory", "simulation",
    "optimal", "calibration", "vision", "world", "program", "planning", "chains", "parallel", "scaling", "threads",
    "compiling", "accuracy",
]  # fmt: skip


def load(folder: Path) -> dict[str, dict]:
    """{benchmark: its JSON} of a folder; "outcome" in its "more" is what came of it in the last run of all."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    last = {outcome["name"]: outcome["status"] for outcome in found.get("run", {"benchmarks": []})["benchmarks"]}
    for name in found.keys() & last.keys():
        found[name]["more"]["outcome"] = last[name]
    return {name: found[name] for name in ORDER if name in found}


# --- words ------------------------------------------------------------------------------------------------------------


def words(what: str) -> str:
    """The name of a function in words."""
    what = re.sub(r"^(\w+)_derivatives$", r"derivatives of \1", what)
    return what.replace("_", " ")


def system_name(system: str) -> str:
    """The name of a library as its authors write it, with the way of calling it that may follow."""
    library = re.split(r"[ ,]", system)[0]
    return NAMES.get(library, library) + system[len(library) :]


def row_name(row: dict) -> str:
    return label(row | {"what": words(row["what"])})


def machine_name(data: dict) -> str:
    threads = data["threads"]
    return f"{data['machine']['cpu']}, {threads} thread{'s' if threads > 1 else ''}"


def times(peer: dict) -> str:
    """How many times faster, with its spread."""
    return f"{digits(peer['ratio'])} ({digits(peer['ratio_low'])} to {digits(peer['ratio_high'])})"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


# --- choices ----------------------------------------------------------------------------------------------------------


def is_peer(name: str) -> bool:
    """Whether a name is of another library: names of our other ways begin with ours."""
    return not name.startswith("adjoint")


def comparisons(results: dict) -> list[tuple[str, dict, str, dict]]:
    """(benchmark, row, peer, what is known of it) of all comparisons with other libraries."""
    return [
        (name, row, peer, found)
        for name, data in results.items()
        for row in data["rows"]
        for peer, found in row["peers"].items()
        if is_peer(peer) and row["how"] != "wrapped"  # what wraps another library cannot be faster than it
    ]


def slow(results: dict) -> list[tuple[str, dict, str, dict]]:
    """The comparisons in which ours is slower or gains little, the worst first."""
    return sorted((c for c in comparisons(results) if c[3]["ratio"] < LITTLE), key=lambda c: c[3]["ratio"])


# --- tables -----------------------------------------------------------------------------------------------------------


def fastest(row: dict) -> tuple[str | None, dict]:
    """The name of the fastest other library of a row, or None, and all that are compared."""
    peers = {name: peer for name, peer in row["peers"].items() if is_peer(name)}
    return (min(peers, key=lambda name: peers[name]["ns"]) if peers else None), peers


def rows_table(rows: list[dict]) -> str:
    """Our time, the fastest peer's, and the ratio, of each row."""
    lines = []
    for row in rows:
        best, peers = fastest(row)
        theirs = ["", ""]
        if best is not None:
            theirs = [f"{system_name(best)}: {duration(peers[best]['ns'])}", times(peers[best])]
        lines.append([row_name(row), duration(row["ours_ns"]), *theirs])
    return markdown(["", "Adjoint", "fastest peer", "times faster (quartiles)"], lines)


def benchmark_table(name: str, *hows: str):
    """A function that makes the table of a benchmark, of all ways of calling or of some."""

    def made(results: dict) -> str:
        data = results.get(name)
        return rows_table([r for r in data["rows"] if not hows or r["how"] in hows]) if data else absent(name)

    return made


def absent(name: str) -> str:
    return f"The run has no results of `bench/{name}.py`.\n"


def runs(results: dict) -> str:
    """When and where each benchmark ran."""
    lines = []
    for name, data in results.items():
        notes = [f"left out, for lack of time: {'; '.join(data['left_out'])}"] if data["left_out"] else []
        if data["more"].get("outcome", "done") != "done":
            notes.append(f"{data['more']['outcome']} in the last run: these are earlier results")
        quick = ", quick run" if data["quick"] else ""
        when = f"{data['date'][:10]}, {data['revision']}{quick}"
        lines.append([f"`{name}`", machine_name(data), when, str(len(data["rows"])), "; ".join(notes)])
    missing = [name for name in ORDER if name not in results]
    lines += [[f"`{name}`", "no results", "", "", ""] for name in missing]
    return markdown(["benchmark", "machine", "date, revision", "rows", ""], lines)


def packages(results: dict) -> str:
    """The versions of all packages of the run."""
    used: dict[str, list[str]] = {}
    for data in results.values():
        for package, version in data["versions"].items():
            used.setdefault(package, []).append(version)
    pythons = sorted({data["machine"]["python"] for data in results.values()})
    listed = [f"{package} {', '.join(dict.fromkeys(found))}" for package, found in sorted(used.items())]
    return f"Python {', '.join(pythons)}; {'; '.join(listed)}.\n"


def slow_table(results: dict) -> str:
    found, every = slow(results), comparisons(results)
    below = sum(c[3]["ratio"] < 1 for c in found)
    head = f"Of {len(every)} comparisons Adjoint is slower in {below}, and gains less than {LITTLE:g}× in {len(found)}:"
    lines = [
        [f"`{name}`", row_name(row), duration(row["ours_ns"]), f"{system_name(peer)}: {duration(x['ns'])}", times(x)]
        for name, row, peer, x in found
    ]
    return head + "\n\n" + markdown(["benchmark", "", "Adjoint", "peer", "times faster (quartiles)"], lines)


def missed(results: dict) -> str:
    """The targets that a run missed."""
    every = [(name, *t) for name, data in results.items() for t in data["targets"]]
    lines = [[f"`{name}`", what, digits(x), wanted] for name, what, x, wanted, verdict in every if verdict == "missed"]
    head = f"The benchmarks have {len(every)} targets, of which this run missed {len(lines)}:\n\n"
    return head + markdown(["benchmark", "target", "measured", "wanted"], lines)


def matrices(results: dict) -> str:
    """Large results: in memory, in the cache, packed, and what writing alone takes."""
    lines = []
    for name in ("dynamics", "derivatives"):
        rows = results.get(name, {"rows": []})["rows"]
        for row in (r for r in rows if "writing_ns" in r["extra"] and r["subject"] in ("UR5", "G1 free", "G1")):
            forms = [find(rows, row["subject"], row["what"], form) for form in ("in cache", "packed")]
            ours = [row["ours_ns"], row["extra"]["writing_ns"], *(f and f["ours_ns"] for f in forms)]
            theirs = [row["peers"].get(peer, {}).get("ns") for peer in ("pinocchio", "pinocchio kept")]
            lines.append([f"{row['subject']}, {words(row['what'])}", *(x and duration(x) for x in (*ours, *theirs))])
    lines = [[x or "" for x in line] for line in lines]
    return markdown(["", "batch", "writing alone", "in cache", "packed", "Pinocchio", "Pinocchio, kept"], lines)


def start(results: dict) -> str:
    """The first steps of a process."""
    if "compiler" not in results:
        return absent("compiler")
    found = results["compiler"]["more"]["start_ms"]
    lines = [[name, *(f"{digits(found[how][name])} ms" for how in ("cold", "warm"))] for name in found["cold"]]
    return markdown(["a new process", "empty cache", "full cache"], lines)


def compile_table(results: dict) -> str:
    if "compiling" not in results:
        return absent("compiling")
    rows = results["compiling"]["rows"]
    robots = list(dict.fromkeys(r["subject"] for r in rows))
    lines = []
    for what in dict.fromkeys(r["what"] for r in rows):
        pairs = [[find(rows, robot, what, how) for how in ("cold", "warm")] for robot in robots]
        lines.append([words(what), *("; ".join(duration(x["ours_ns"]) for x in pair if x) for pair in pairs)])
    return markdown(["compiled; from the disk cache", *robots], lines)


def accuracy_table(results: dict) -> str:
    if "accuracy" not in results:
        return absent("accuracy")
    rows = results["accuracy"]["rows"]
    systems = list(dict.fromkeys(name for r in rows for name in r["accuracy"]))
    lines = []
    for r in rows:
        cells = [r["accuracy"].get(name) for name in systems]
        texts = [f"{digits(x['median'])}; {digits(x['worst'])}" if x else "" for x in cells]
        lines.append([f"{r['subject']}, {words(r['what'])}", *texts])
    return markdown(["median; worst error [2⁻⁵²]", *map(system_name, systems)], lines)


def inverse_table(results: dict) -> str:
    """What is known of the branches beside their times."""
    if "inverse" not in results:
        return absent("inverse")
    lines = []
    for r in (r for r in results["inverse"]["rows"] if r["how"] == "batch"):
        x = r["extra"]
        prepared = f"{duration(1e9 * x['compile_s'])}; {duration(1e9 * x['from_cache_s'])}"
        lines.append([r["subject"], digits(x["branches"]), f"{x['worst_error']:.1e}", prepared])
    return markdown(["", "branches a pose", "worst error", "prepared; from the disk cache"], lines)


def search_table(results: dict) -> str:
    """The shares of solved poses, and late answers."""
    if "inverse_numeric" not in results:
        return absent("inverse_numeric")
    lines = []
    for r in (r for r in results["inverse_numeric"]["rows"] if "roboticstoolbox_solved" in r["extra"]):
        x = r["extra"]
        for name, key in (("Adjoint", ""), ("Robotics Toolbox", "roboticstoolbox_")):
            solved, late = f"{100 * x[f'{key}solved']:.1f} %", duration(1e3 * x[f"{key}p95_us"])
            lines.append([r["subject"], name, solved, late, f"{x[f'{key}error']:.1e}"])
    return markdown(["", "", "solved", "95th percentile, one call", "worst residual"], lines)


def plans_table(results: dict) -> str:
    """Of motion plans: how many problems are solved, the times, and the lengths of the paths."""
    if "world" not in results:
        return absent("world")
    lines = []
    for r in (r for r in results["world"]["rows"] if r["what"] == "plan"):
        for name in ("adjoint", *r["peers"]):
            x = r["extra"][name]
            took = [duration(1e6 * x[key]) for key in ("median_ms", "p95_ms")]
            solved = f"{x['solved']} of {r['extra']['problems']}"
            lines.append([f"{r['subject']}, {r['how']}", system_name(name), solved, *took, f"{x['length']:.1f} rad"])
    parts = [x for r in results["world"]["rows"] for key, x in r["extra"].items() if key.endswith("time in checks")]
    inside = f"OMPL spent {100 * min(parts):.0f} to {100 * max(parts):.0f} % of its time in Pinocchio.\n" * bool(parts)
    head = ["", "", "solved", "median", "95th percentile", "median length"]
    return f"{markdown(head, lines)}\n{inside}{results['world']['more']['published']}\n"


def program_runs_table(results: dict) -> str:
    """Of runs of robot programs: how long they last, how long they take, and how many times faster that is."""
    if "program" not in results:
        return absent("program")
    lines = []
    for r in (r for r in results["program"]["rows"] if "times_real" in r["extra"]):
        x = r["extra"]
        often = f"{digits(x['times_real'])} ({digits(x['times_real_low'])} to {digits(x['times_real_high'])})"
        first = duration(1e9 * x["first_s"]) if "first_s" in x else ""
        lines.append(
            [f"{r['subject']}, {r['what']}", f"{x['simulated_s']:.2f} s", duration(r["ours_ns"]), often, first]
        )
    head = ["", "lasts", "takes", "times faster than real time (quartiles)", "the first run, which compiles"]
    return markdown(head, lines)


def exponents(results: dict) -> str:
    """How times grow: the exponents p of nᵖ."""
    lines = [
        [f"`{name}`", words(what), digits(p)]
        for name in ("chains", "scaling")
        for what, p in results.get(name, {"more": {}})["more"].get("exponents", {}).items()
    ]
    return markdown(["benchmark", "time ~ nᵖ", "p"], lines)


README = [  # (benchmark, subject, what, how, perhaps a size, text)
    ("kinematics", "UR5", "placement", "batch", "UR5, placement of a frame"),
    ("kinematics", "UR5", "Jacobian", "batch", "UR5, Jacobian"),
    ("dynamics", "UR5", "inverse_dynamics", "batch", "UR5, inverse dynamics"),
    ("dynamics", "UR5", "forward_dynamics", "batch", "UR5, forward dynamics"),
    ("dynamics", "UR5", "inverse_dynamics", "one call", "UR5, inverse dynamics, one call from Python"),
    ("dynamics", "G1 free", "inverse_dynamics", "batch", "G1 humanoid, inverse dynamics"),
    ("dynamics", "G1 free", "forward_dynamics", "batch", "G1 humanoid, forward dynamics"),
    ("dynamics", "G1 free", "mass_matrix", "batch", "G1 humanoid, mass matrix (35 x 35)"),
    ("derivatives", "G1 free", "forward_dynamics_derivatives", "batch", "G1 humanoid, derivatives of forward dynamics"),
    ("derivatives", "G1 free", "forward_dynamics_derivatives", "one call", "the same, one call from Python"),
    ("inverse", "UR5", "all branches of a pose", "batch", "UR5, inverse kinematics, all branches"),
    ("simulation", "UR5", "run", "last state kept", "UR5, one step of a simulation"),
    ("vision", "lens of 5 coefficients", "projection", "1000000 points", "a million points through a lens"),
    ("vision", "mesh of 5120 triangles", "rays", "1000 at once", "a ray against a mesh of 5120 triangles"),
    ("world", "Panda, 20 obstacles", "is_free", "batch", 4096, "Panda among 20 obstacles: is it free of collisions?"),
    ("world", "Panda, table", "plan", "with shortcuts", "Panda on a table: a plan with shortcuts, median"),
    ("compiler", "SE(3)", "exp", "batch", "exponential of SE(3)"),
]


def readme(results: dict) -> str:
    """The compact table: our time, the fastest peer's, and how many times faster ours is."""
    rows = [(find(results[name]["rows"], *key), text) for name, *key, text in README if name in results]
    named = [row | {"subject": text, "what": "", "how": "", "size": None} for row, text in rows if row is not None]
    machines = "; ".join(dict.fromkeys(machine_name(results[name]) for name, *_ in README if name in results))
    return f"{rows_table(named)}\nMeasured on {machines}, in float64; in batches unless one call is named.\n"


THREE = [
    ("dynamics", "UR5", "inverse_dynamics", "batch", "for the torques of a UR5, per sample of a batch"),
    ("simulation", "UR5", "run", "last state kept", "for one step of a simulated UR5 under control"),
    ("inverse", "UR5", "all branches of a pose", "batch", "for all eight inverse kinematic solutions of a pose"),
]


def three(results: dict) -> str:
    """Three numbers, each with the fastest peer's."""
    lines = []
    for name, *key, text in THREE:
        row = find(results[name]["rows"], *key) if name in results else None
        best, peers = fastest(row) if row is not None else (None, {})
        if row is None or best is None:
            continue
        ratio, theirs = digits(float(f"{peers[best]['ratio']:.2g}")), duration(peers[best]["ns"])
        peer = f"{system_name(best)} takes {theirs}: {ratio} times as long"
        lines.append(f"- **{duration(row['ours_ns'])}** {text}. {peer}.\n")
    machines = "; ".join(dict.fromkeys(machine_name(results[name]) for name, *_ in THREE if name in results))
    return f"{''.join(lines)}\nMeasured on {machines}.\n"


TABLES = {
    "runs": runs, "packages": packages, "slower": slow_table, "missed": missed, "matrices": matrices, "start": start,
    "compiling": compile_table, "accuracy": accuracy_table, "inverse-branches": inverse_table, "search": search_table,
    "exponents": exponents, "readme": readme, "three": three, "compile-peers": benchmark_table("compiler", "compiling"),
    "compiler": benchmark_table("compiler", "batch", "one call"), "kinematics": benchmark_table("kinematics"),
    "dynamics": benchmark_table("dynamics", "batch", "one call"),
    "derivatives": benchmark_table("derivatives", "batch", "one call"),
    "inverse": benchmark_table("inverse"), "inverse-numeric": benchmark_table("inverse_numeric"),
    "trajectory": benchmark_table("trajectory"), "simulation": benchmark_table("simulation"),
    "optimal": benchmark_table("optimal"), "calibration": benchmark_table("calibration"),
    "vision": benchmark_table("vision"), "world": benchmark_table("world"),
    "world-plans": plans_table, "program": benchmark_table("program"), "program-runs": program_runs_table,
    "planning": benchmark_table("planning"),
    "chains": benchmark_table("chains"),
    "threads": benchmark_table("threads"),
}  # fmt: skip


def filled(text: str, results: dict) -> str:
    """The text of a page with the tables of these results between its markers."""
    unknown = {match["name"] for match in MARKED.finditer(text)} - TABLES.keys()
    if unknown:
        raise ValueError(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    return MARKED.sub(lambda m: f"{m[1]}\n{TABLES[m['name']](results)}\n{m[3]}", text)


def write(results: dict, pages: list[Path] = PAGES) -> list[Path]:
    """Fills the tables of the pages, and returns the pages that changed."""
    changed = []
    for path in pages:
        text = path.read_text(encoding="utf-8")
        new = filled(text, results)
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed
