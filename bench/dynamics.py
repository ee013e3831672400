"""Dynamics beside Pinocchio (single calls, and its batch call on one thread), MuJoCo, and scalar C from the same graph.

Pinocchio's calls overwrite one result. Of matrices they write the upper triangle only, without the entries that are
zero because of the tree. For a fair comparison of functions whose results are matrices there are more columns: "packed"
computes only these numbers; "in cache" computes whole matrices, in small batches that overwrite one result; "pinocchio
kept" is a loop that keeps Pinocchio's results; and "writing" is the time that writing our results to memory takes.

python bench/dynamics.py           one run, one core; writes bench/results/dynamics.json
"""

import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import cold, find, in_time, one_core, quick_or_full, race, ratio_target, report, row, target

one_core()
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402
import pinocchio as pin  # noqa: E402
from support.robots import pinocchio_model, pinocchio_q, urdf, velocity_map  # noqa: E402

import adjoint as aj  # noqa: E402

BATCH = 4096
SOME = 512  # the number of samples in a loop over single calls
FEW = 16  # the number of samples in a batch whose results stay in the cache
ROBOTS = {  # URDF in example-robot-data, and the base
    "UR5": ("ur5_robot", "fixed"),
    "xArm7": ("xarm7", "fixed"),
    "Panda": ("panda", "fixed"),
    "G1": ("g1_29dof_rev_1_0", "fixed"),
    "G1 free": ("g1_29dof_rev_1_0", "free"),
    "Talos": ("talos_reduced", "fixed"),
    "Talos free": ("talos_reduced", "free"),
}
ARMS = ("UR5", "xArm7", "Panda")
INPUTS = {
    "inverse_dynamics": "qva",
    "forward_dynamics": "qva",
    "mass_matrix": "q",
    "mass_matrix_inverse": "q",
    "solve_mass_matrix": "qv",
}
FORMS = ("in cache", "packed")  # the other ways to compute a batch, see above
LOOPED = ("pinocchio", "pinocchio kept", "mujoco")  # peers that are called in a loop over some samples
FLOAT64 = "adjoint, float64"
MATRICES = ("mass_matrix", "mass_matrix_inverse")  # results so large that writing them takes most of the time
LEAST = {  # (Pinocchio's call, how many times faster than it arms should be, and humanoids)
    "inverse_dynamics": ("pinocchio batch", 25, 15),
    "forward_dynamics": ("pinocchio batch", 25, 18),
    "mass_matrix": ("pinocchio", 25, 12),
    "mass_matrix_inverse": ("pinocchio", 15, 8),
    "solve_mass_matrix": ("pinocchio", 15, 8),
}


def upper_to_full(M: np.ndarray) -> np.ndarray:
    return np.triu(M) + np.triu(M, 1).T


def looped(call, *rows):
    """A function that calls `call` with every row, one after the other."""

    def run():
        for arguments in zip(*rows, strict=True):
            call(*arguments)

    return run


def keeping(call, *rows):
    """A function that calls `call` with every row and keeps the results, as a batch of ours does."""
    first = call(*(x[0] for x in rows))
    tables = [np.empty((len(rows[0]), *x.shape)) for x in (first if isinstance(first, tuple) else [first])]

    def run():
        for k, arguments in enumerate(zip(*rows, strict=True)):
            result = call(*arguments)
            for kept, x in zip(tables, result if isinstance(result, tuple) else [result], strict=True):
                kept[k] = x

    return run


@aj.kernel(x=(), count=aj.static)
def _repeated(x, count):
    return x * np.ones(count)


def writing(*results: np.ndarray):
    """A function that writes as many numbers to memory as the results have, and computes nothing."""
    fill, x = _repeated.bind(count=sum(r[0].size for r in results)), np.ones(len(results[0]))
    out = fill(x)
    return lambda: fill(x, out=out)


def in_cache(kernel, arrays: list[np.ndarray]):
    """A function that calls the kernel on all samples, few at a time; each batch overwrites the results before."""
    batches = [[a[k : k + FEW] for a in arrays] for k in range(0, BATCH, FEW)]
    out = kernel(*batches[0])
    out = tuple(out) if isinstance(out, tuple) else out

    def run():
        for batch in batches:
            kernel(*batch, out=out)

    return run


def packed(kernel, arrays: list[np.ndarray], whole):
    """A function that calls `kernel.packed`, whose results have no zeros and repetitions; they are checked first."""
    few, results = [a[:8] for a in arrays], whole if isinstance(whole, tuple) else (whole,)
    values = kernel.packed(*few)
    found = kernel.unpack(*values) if isinstance(values, tuple) else kernel.unpack(values)
    for x, want in zip(found if isinstance(found, tuple) else (found,), results, strict=True):
        assert np.array_equal(x, want[:8]), f"{kernel.__name__}.packed differs"
    out = kernel.packed(*arrays)
    out = tuple(out) if isinstance(out, tuple) else out
    return lambda: kernel.packed(*arrays, out=out)


def scalar_c(kernel, arrays: list[np.ndarray]):
    """A function that calls the exported C function of the same graph, compiled by cc, on every sample of a batch."""
    text, out = kernel.source("c"), np.empty_like(kernel(*arrays))
    name = text.rsplit("\nvoid ", 1)[1].split("(")[0]
    inputs = ", ".join(f"const double *x{k}" for k in range(len(arrays)))
    row = ", ".join(f"x{k} + b * {a.shape[1]}" for k, a in enumerate(arrays))
    step = f"{name}({row}, y + b * {out[0].size});"
    loop = f"void loop(long n, {inputs}, double *y) {{ for (long b = 0; b < n; b++) {step} }}"
    folder = Path(tempfile.mkdtemp(prefix="adjoint-bench-"))
    (folder / "f.c").write_text(text + loop)
    flags = ["-O2", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "f.c", "-o", "f.so", "-lm"], cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "f.so")).loop
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
    return lambda: function(ctypes.c_long(len(out)), *pointers)


class Case:
    """One robot without damping and friction, and samples; each peer gets them in its own order."""

    def __init__(self, name: str):
        self.name, (file, base) = name, ROBOTS[name]
        self.path, self.base = urdf(file), base
        robot = aj.load(self.path, base=base)
        self.robot = robot.replace(damping=0 * robot.damping, friction=0 * robot.friction)
        rng = np.random.default_rng(0)
        self.samples = {"q": aj.random_configuration(robot, BATCH, rng=rng)}
        self.samples |= dict(zip("va", rng.normal(size=(2, BATCH, robot.nv)), strict=True))

    def measure(self, function: str) -> list[dict]:
        """The rows of a function: in a batch, in its other forms, in single precision, and in single calls."""
        kernel = getattr(aj, function).bind(self.robot)
        arrays = [self.samples[k] for k in INPUTS[function]]
        _, compiling = cold(lambda: self.compiled(function), aj.clear_cache, rounds=2)
        out = kernel(*arrays)
        one = [a[0].copy() for a in arrays]
        # Large results are written into the same memory again, as the system would take it back after each call.
        large = out.nbytes > 1 << 24
        batch = {"adjoint": (lambda: kernel(*arrays, out=out)) if large else (lambda: kernel(*arrays))}
        shorter = [a.astype(np.float32) for a in arrays]
        small = kernel(*shorter)
        batch["float32"] = (lambda: kernel(*shorter, out=small)) if large else (lambda: kernel(*shorter))
        single = {"adjoint": lambda: kernel(*one)}
        if function in ("inverse_dynamics", "forward_dynamics"):
            batch["adjoint, scalar C"] = scalar_c(kernel, arrays)
        if function in MATRICES:
            batch |= {"in cache": in_cache(kernel, arrays), "packed": packed(kernel, arrays, out)}
            batch["writing"] = writing(out)
        for system, (many, few) in (self.pinocchio(function, out) | self.mujoco(function)).items():
            batch[system] = many
            if few is not None:
                single[system] = few
        return rows_of(self.name, function, kernel, race(batch, rounds=7), race(single, rounds=7), compiling)

    def compiled(self, function: str):
        """Compiles the function from nothing, for a robot with a new name, and calls it."""
        robot = self.robot.replace(name=f"{self.robot.name}, compiled anew at {time.perf_counter()}")
        getattr(aj, function).bind(robot)(*(self.samples[k][:8] for k in INPUTS[function]))

    def pinocchio(self, function: str, ours: np.ndarray) -> dict:
        """{system: (batch, single call or None)} of Pinocchio's functions, whose results are compared with ours."""
        model = pinocchio_model(self.path, self.base)
        data, E = model.createData(), velocity_map(model, self.robot)
        q = np.stack([pinocchio_q(model, self.robot, x) for x in self.samples["q"]])
        v, a = self.samples["v"] @ E.T, self.samples["a"] @ E.T
        pool, columns = pin.ModelPool(model, 1), [np.asfortranarray(x.T) for x in (q, v, a)]
        result = np.empty((model.nv, BATCH), order="F")
        call, rows, check = {
            "inverse_dynamics": (pin.rnea, (q, v, a), lambda r: E.T @ r),
            "forward_dynamics": (pin.aba, (q, v, a), lambda r: np.linalg.lstsq(E, r, rcond=None)[0]),
            "mass_matrix": (pin.crba, (q,), lambda r: E.T @ upper_to_full(r) @ E),
            "mass_matrix_inverse": (pin.computeMinverse, (q,), upper_to_full),
            "solve_mass_matrix": (lambda m, d, q, v: pin.computeMinverse(m, d, q) @ v, (q, v), None),
        }[function]
        if check is not None and (E.shape[0] == E.shape[1] or function in ("inverse_dynamics", "mass_matrix")):
            want = check(call(model, data, *(x[0] for x in rows)))
            want = E.T @ want @ E if function == "mass_matrix_inverse" else want
            same = np.allclose(ours[0], want, rtol=1e-8, atol=1e-8 * np.abs(want).max())
            assert same, f"{function} of {self.path.stem} differs from Pinocchio's"
        few = [x[:SOME] for x in rows]
        first = [x[0] for x in few]
        found: dict[str, tuple] = {
            "pinocchio": (looped(lambda *x: call(model, data, *x), *few), lambda: call(model, data, *first))
        }
        if function in MATRICES:
            found["pinocchio kept"] = (keeping(lambda *x: call(model, data, *x), *few), None)
        parallel = {"inverse_dynamics": pin.rneaInParallel, "forward_dynamics": pin.abaInParallel}.get(function)
        if parallel is not None:
            found["pinocchio batch"] = (lambda: parallel(1, pool, *columns, result), None)
        return found

    def mujoco(self, function: str) -> dict:
        """{"mujoco": (batch, single call)} without contacts; for fixed bases, as its URDF reader knows no others."""
        steps = peers.mujoco_dynamics().get(function)
        if steps is None or self.base == "free":
            return {}
        mj: Any = mujoco  # an extension module without stubs
        model = mj.MjModel.from_xml_string(peers.without_meshes(self.path))
        data = mj.MjData(model)
        names = [model.joint(k).name for k in range(model.njnt)]
        rows = [peers.in_order_of(self.robot, names, self.samples[k][:SOME], k == "q") for k in "qva"]
        first = [x[0] for x in rows]
        return {"mujoco": (looped(lambda *x: steps(model, data, *x), *rows), lambda: steps(model, data, *first))}


def peak() -> float:
    """The most operations per nanosecond that one core does, measured with multiply-adds in registers."""

    def chains(x):
        y = [x[0] + k for k in range(20)]
        for _ in range(100):
            y = [t * x[1] + x[2] for t in y]
        return np.stack(y)

    fn, x = aj.kernel(chains, x=3), np.ones((BATCH, 3))
    out = fn(x)
    o = fn.operations
    return (o.adds + o.muls) * BATCH / (1e9 * min(race({"": lambda: fn(x, out=out)})[""]))


def rows_of(robot: str, function: str, kernel, batch: dict, single: dict, compiling: list[float]) -> list[dict]:
    """The rows of a function from what `race` found: of each form of ours beside all peers."""
    samples = {s: SOME if s in LOOPED else BATCH for s in batch}
    o = kernel.operations
    extra = {"compile_s": min(compiling), "operations": o.adds + o.muls}
    if "writing" in batch:
        extra["writing_ns"] = 1e9 * min(batch["writing"]) / BATCH
    beside = [s for s in batch if s not in ("adjoint", *FORMS, "writing", "float32")]
    found = [row(robot, function, "batch", batch, peers=beside, samples=samples, **extra)]
    for form in (form for form in FORMS if form in batch):
        found.append(row(robot, function, form, batch, form, peers=beside, samples=samples))
    if "float32" in batch:
        laps = {"float32": batch["float32"], FLOAT64: batch["adjoint"]}
        found.append(row(robot, function, "float32", laps, "float32", samples=BATCH))
    return [*found, row(robot, function, "one call", single)]


def forms(robot: str, function: str) -> tuple[str, ...]:
    """The ways to compute a batch for which there are targets: three for the matrices of humanoids, which are large."""
    small = robot in ARMS or function in INPUTS.keys() - MATRICES
    return ("batch",) if small else ("batch", *FORMS)


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    verdicts = []
    for r in (r for r in rows if r["how"] == "batch"):
        robot, function = r["subject"], r["what"]
        peer, arms, humanoids = LEAST[function]
        least, most = (arms, 0.3) if robot in ARMS else (humanoids, 1.5)
        for form in forms(robot, function):
            verdicts += ratio_target(find(rows, robot, function, form), peer, least)
        verdicts += ratio_target(find(rows, robot, function, "float32"), FLOAT64, 1.6)
        if function in ("inverse_dynamics", "forward_dynamics"):
            verdicts += ratio_target(find(rows, robot, function, "one call"), "pinocchio", 4 if robot in ARMS else 2)
        if function in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            name = f"{robot}, {function}, compiling, s"
            verdicts.append(target(name, r["extra"]["compile_s"], f"<= {most}"))
    return verdicts


def main() -> None:
    best, rows, made = peak(), [], {}
    every = [(robot, function) for robot in quick_or_full(["UR5", "G1 free"], ROBOTS) for function in INPUTS]
    for robot, function in in_time(every, ", ".join):
        made = made if robot in made else {robot: Case(robot)}
        rows += made[robot].measure(function)
    for r in (r for r in rows if r["how"] == "batch"):
        r["extra"]["share_of_peak"] = r["extra"]["operations"] / r["ours_ns"] / best
    report("dynamics", ("numpy", "pin", "mujoco"), rows, targets(rows), batch=BATCH, peak_per_ns=best)


if __name__ == "__main__":
    main()
