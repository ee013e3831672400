"""The compiler beside NumPy, jaxlie (JAX) and heyoka: throughput, compile time, start of a process, latency.

python bench/compiler.py           one run, one core; writes bench/results/compiler.{json,png}
"""

import json
import os
import subprocess
import sys
import tempfile

from common import bars, cold, machine, one_core, race, save, table, versions

one_core()
os.environ["ADJOINT_CACHE"] = tempfile.mkdtemp(prefix="adjoint-bench-")

import heyoka as hy  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402

from adjoint import clear_cache, kernel  # noqa: E402
from adjoint.lie import se3  # noqa: E402

BATCH = 10_000
PROGRAMS = {"500 ops": (500, 16), "10 000 ops": (10_000, 64)}  # operations, registers
SYSTEMS = ["adjoint", "numpy", "jax", "jax 4x4", "heyoka", "heyoka compact"]
hy.llvm_state.set_diskcache_enabled(False)


class Row:
    """One function in several systems; every result is compared with the reference before it is timed."""

    def __init__(self, reference: np.ndarray):
        self.reference, self.calls, self.compile = reference, {}, {}

    def add(self, system: str, call, result=lambda r: r) -> None:
        error = np.abs(np.asarray(result(call())) - self.reference).max()
        assert error < 1e-9, f"{system} is off by {error}"
        self.calls[system] = call

    def add_adjoint(self, function, shapes: dict, *arrays) -> None:
        def build():
            f = kernel(function, **shapes)
            f(*(a[:8] for a in arrays))
            return f

        f, self.compile["adjoint"] = cold(build, clear_cache)
        self.add("adjoint", lambda: f(*arrays))

    def add_jax(self, system: str, function, *arrays, result=lambda r: r) -> None:
        arrays = [jnp.asarray(a) for a in arrays]
        f, self.compile[system] = cold(lambda: jax.jit(jax.vmap(function)).lower(*arrays).compile(), jax.clear_caches)
        self.add(system, lambda: f(*arrays).block_until_ready(), result)

    def add_heyoka(self, build, columns: np.ndarray, result=lambda r: r) -> None:
        columns = np.ascontiguousarray(columns)
        x = [hy.expression(f"x{k:03d}") for k in range(len(columns))]
        for system, compact in (("heyoka", False), ("heyoka compact", True)):
            make = lambda compact=compact: hy.cfunc(build(hy, x), x, compact_mode=compact)  # noqa: E731
            f, self.compile[system] = cold(make, hy.llvm_state.clear_memcache)
            self.add(system, lambda f=f: f(columns), result)

    def measure(self) -> dict[str, dict]:
        """{system: {"ns": nanoseconds per sample, "compile_s": seconds, or None if nothing is compiled}}."""
        seconds = race(self.calls)
        return {s: {"ns": 1e9 * seconds[s] / BATCH, "compile_s": self.compile.get(s)} for s in SYSTEMS if s in seconds}


def twists(rng) -> np.ndarray:
    """Twists with rotation angles from 0.01 to 3, where every peer's formula holds."""
    V = rng.normal(size=(BATCH, 6))
    V[:, :3] *= (rng.uniform(0.01, 3.0, BATCH) / np.linalg.norm(V[:, :3], axis=1))[:, None]
    return V


def columns(T: np.ndarray) -> np.ndarray:
    """Rigid motions (B, 4, 4) as heyoka takes them, 12 rows of B numbers."""
    return T[:, :3].reshape(len(T), 12).T


def from_columns(x: np.ndarray) -> np.ndarray:
    """Rigid motions (B, 4, 4) from 12 rows of B numbers."""
    bottom = np.broadcast_to(np.array([0.0, 0, 0, 1]), (x.shape[1], 1, 4))
    return np.concatenate([x.T.reshape(-1, 3, 4), bottom], 1)


def swap(V):
    """Twists (ω, v) as jaxlie's (v, ω), and back."""
    return np.concatenate([V[:, 3:], V[:, :3]], 1)


def lie_rows(rng) -> dict[str, Row]:
    """exp, log and the product of SE(3)."""
    V, W, jl = twists(rng), twists(rng), peers.jaxlie_functions()
    T, U = peers.numpy_exp(V), peers.numpy_exp(W)
    own, matrix = jax.vmap(jl["exp_own"]), jax.vmap(lambda x: jl["SE3"](x).as_matrix())
    x, y = own(swap(V)), own(swap(W))

    exp, log, compose = Row(T), Row(V), Row(T @ U)
    exp.add_adjoint(se3.exp.__wrapped__, {"V": 6}, V)
    exp.add("numpy", lambda: peers.numpy_exp(V))
    exp.add_jax("jax", jl["exp_own"], swap(V), result=matrix)
    exp.add_jax("jax 4x4", jl["exp"], swap(V))
    exp.add_heyoka(peers.heyoka_exp, V.T, from_columns)

    log.add_adjoint(se3.log.__wrapped__, {"T": (4, 4)}, T)
    log.add("numpy", lambda: peers.numpy_log(T))
    log.add_jax("jax", jl["log_own"], x, result=swap)
    log.add_jax("jax 4x4", jl["log"], T, result=swap)
    log.add_heyoka(peers.heyoka_log, columns(T), lambda r: r.T)

    compose.add_adjoint(se3.compose.__wrapped__, {"T_ab": (4, 4), "T_bc": (4, 4)}, T, U)
    compose.add("numpy", lambda: peers.numpy_compose(T, U))
    compose.add_jax("jax", jl["compose_own"], x, y, result=matrix)
    compose.add_jax("jax 4x4", jl["compose"], T, U)
    compose.add_heyoka(peers.heyoka_compose, np.concatenate([columns(T), columns(U)]), from_columns)
    return {"exp": exp, "log": log, "compose": compose}


def synthetic_row(code, registers: int, rng) -> Row:
    """A random program on registers."""
    X = rng.uniform(-1, 1, (BATCH, registers))
    XT = np.ascontiguousarray(X.T)
    row = Row(np.stack(peers.run(code, XT, np), -1))
    row.add_adjoint(lambda x: np.stack(peers.run(code, x, np)), {"x": registers}, X)
    row.add("numpy", lambda: peers.run(code, XT, np), result=lambda r: np.stack(r, -1))
    if len(code) < 1000:  # XLA needs minutes to compile the larger one
        row.add_jax("jax", lambda x: jnp.stack(peers.run(code, x, jnp)), X)
    row.add_heyoka(lambda hy, x: peers.run(code, x, hy), XT, lambda r: r.T)
    return row


START = """
import json, time
t = [time.perf_counter()]
def lap(): t.append(time.perf_counter())
import numpy as np; lap()
import adjoint; lap()
from adjoint.lie import se3; V = np.full((8, 6), 0.1); lap()
T = se3.exp(V); lap()
se3.log(T); lap()
names = "import numpy", "import adjoint", "import adjoint.lie", "first call of exp", "first call of log"
print(json.dumps({n: 1e3 * (b - a) for n, a, b in zip(names, t, t[1:])}))
"""


def starts() -> dict[str, dict[str, float]]:
    """Milliseconds of the first steps of a new process: once with an empty cache, best of seven with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "ADJOINT_CACHE": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # as most users run

        def new_process():
            done = subprocess.run([sys.executable, "-c", START], env=env, capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        empty, full = new_process(), [new_process() for _ in range(7)]
    return {"cold": empty, "warm": {name: min(f[name] for f in full) for name in empty}}


def targets(rows, start, latency) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""

    def ns(function, system):
        return rows[function][system]["ns"]

    def rival(key):
        """The number of the better of heyoka's modes, divided by ours."""
        big = rows["10 000 ops"]
        return min(big["heyoka"][key], big["heyoka compact"][key]) / big["adjoint"][key]

    least = [(f"{f}, times faster than numpy", ns(f, "numpy") / ns(f, "adjoint"), 20) for f in ("exp", "log")]
    least += [
        (f"{f}, times faster than jaxlie", min(ns(f, "jax"), ns(f, "jax 4x4")) / ns(f, "adjoint"), 3)
        for f in ("exp", "log")
    ]
    least += [("10 000 ops, times faster than heyoka", rival("ns"), 1)]
    least += [("10 000 ops, times faster to compile", rival("compile_s"), 4)]
    most = [("warm first call of exp, ms", start["warm"]["first call of exp"], 20)]
    most += [("import adjoint after numpy, ms", start["warm"]["import adjoint"], 100)]
    most += [("one call of exp, one sample, µs", latency, 1.5)]
    return [[name, x, f">= {t}", "met" if x >= t else "missed"] for name, x, t in least] + [
        [name, x, f"<= {t}", "met" if x <= t else "missed"] for name, x, t in most
    ]


def main() -> None:
    where, used = machine(), versions("adjoint", "numpy", "llvmlite", "jax", "jaxlie", "heyoka")
    print(f"{where['cpu']}, one core, batch {BATCH}, float64; {', '.join(f'{k} {v}' for k, v in used.items())}\n")
    rng = np.random.default_rng(0)
    made = lie_rows(rng)
    for name, (operations, registers) in PROGRAMS.items():
        made[name] = synthetic_row(peers.program(operations, registers), registers, rng)
    rows = {name: row.measure() for name, row in made.items()}

    def show(title, value):
        body = [[name, *(value(row, row[s]) if s in row else None for s in SYSTEMS)] for name, row in rows.items()]
        table([title, *SYSTEMS], body)

    show("ns per sample", lambda row, cell: cell["ns"])
    show("times ours", lambda row, cell: cell["ns"] / row["adjoint"]["ns"])
    show("compile, s", lambda row, cell: cell["compile_s"])

    start, V = starts(), np.full(6, 0.1)
    table(["new process, ms", "cold", "warm"], [[name, x, start["warm"][name]] for name, x in start["cold"].items()])
    latency = race({"": lambda: se3.exp(V)})[""] * 1e6
    verdicts = targets(rows, start, latency)
    table(["target", "measured", "wanted", ""], verdicts)

    data = {"machine": where, "versions": used, "batch": BATCH, "rows": rows, "start_ms": start, "latency_us": latency}
    print(save("compiler", {**data, "targets": verdicts}))
    groups = {name: {s: cell["ns"] for s, cell in row.items()} for name, row in rows.items()}
    print(bars("compiler", f"{where['cpu']}, one core, batch {BATCH}", groups, "ns per sample"))


if __name__ == "__main__":
    main()
