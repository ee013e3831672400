"""The compiler beside NumPy, jaxlie (JAX) and heyoka: throughput, compile time, start of a process, latency.

python bench/compiler.py           one run, one core; writes bench/results/compiler.json
"""

import json
import os
import subprocess
import sys
import tempfile

from common import cold, find, in_time, one_core, quick_or_full, race, ratio_target, report, row, target

one_core()

import heyoka as hy  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402

from adjoint import clear_cache, kernel  # noqa: E402
from adjoint.lie import se3  # noqa: E402

BATCH = 10_000
LIE, RANDOM = "SE(3)", "random program"
PROGRAMS = {"500 ops": (500, 16), "10 000 ops": (10_000, 64)}  # operations, registers
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

    def measure(self, subject: str, name: str) -> list[dict]:
        """The rows of throughput and of compile times."""
        compiled = row(subject, name, "compiling", self.compile)
        return [row(subject, name, "batch", race(self.calls), samples=BATCH), compiled]


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


def targets(rows: list[dict], start: dict, latency: float) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""

    def best(subject: str, what: str, how: str, peers: tuple[str, str], least: float) -> list[list]:
        """The target beside the better of two ways of a peer."""
        found = find(rows, subject, what, how)
        return ratio_target(found, min(peers, key=lambda p: found["peers"][p]["ns"]), least) if found else []

    verdicts = []
    for f in ("exp", "log"):
        verdicts += ratio_target(find(rows, LIE, f, "batch"), "numpy", 20)
        verdicts += best(LIE, f, "batch", ("jax", "jax 4x4"), 3)
    heyoka = "heyoka", "heyoka compact"
    verdicts += best(RANDOM, "10 000 ops", "batch", heyoka, 1) + best(RANDOM, "10 000 ops", "compiling", heyoka, 4)
    verdicts += [target("warm first call of exp, ms", start["warm"]["first call of exp"], "<= 20")]
    verdicts += [target("import adjoint after numpy, ms", start["warm"]["import adjoint"], "<= 100")]
    return [*verdicts, target("one call of exp, one sample, µs", latency, "<= 1.5")]


def started() -> None:
    """Lets every compiler compile something first, so that no compile time has the start of a library in it."""
    kernel(lambda x: x + 1.0, x=())(np.zeros(8))
    jax.jit(lambda x: x + 1.0)(1.0)
    x = hy.expression("x")
    hy.cfunc([x + 1.0], [x])


def main() -> None:
    started()
    rng, rows = np.random.default_rng(0), []
    for name, made in lie_rows(rng).items():
        rows += made.measure(LIE, name)
    for name in in_time(quick_or_full(["500 ops"], PROGRAMS)):
        operations, registers = PROGRAMS[name]
        rows += synthetic_row(peers.program(operations, registers), registers, rng).measure(RANDOM, name)
    start, V = starts(), np.full(6, 0.1)
    calls = {"adjoint": lambda: se3.exp(V), "numpy": lambda: peers.numpy_exp(V)}
    rows.append(row(LIE, "exp", "one call", race(calls)))
    verdicts = targets(rows, start, rows[-1]["ours_ns"] / 1000)
    report("compiler", ("numpy", "llvmlite", "jax", "jaxlie", "heyoka"), rows, verdicts, batch=BATCH, start_ms=start)


if __name__ == "__main__":
    main()
