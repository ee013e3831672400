"""Attack: random programs, with loops. The eager function, the compiled kernel and the exported C must agree.

Every operation is exact on small whole numbers, so all ways of computing must agree to the bit.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import common
import numpy as np

import adjoint as aj

SIZE = 4  # the length of the input x


def _scan(a, b):
    return aj.scan(lambda c, x: (np.clip(c + x, -9, 9), np.clip(c - x, -9, 9)), a, np.stack([a, b, a]))


def _steps(a, b):
    """Adds b once for each step from a to 5, at most eight times."""

    def step(c):
        return c[0] + 1, np.clip(c[1] + b, -9, 9)

    return aj.while_loop(lambda c: c[0] < 5, step, (a, b), max_iterations=8)[1]


OPERATIONS = [
    lambda a, b: np.clip(a + b, -9, 9),
    lambda a, b: np.clip(a - b, -9, 9),
    lambda a, b: np.clip(a * b, -9, 9),
    lambda a, b: np.where(a < b, a, -b),
    lambda a, b: np.where((a >= 0) & ~(b == a) | (b > 3), a, 1.0),
    lambda a, b: np.floor(a / 4),
    lambda a, b: np.rint(b / 2),
    lambda a, b: np.clip(np.sign(a) + np.abs(b), -9, 9),
    lambda a, b: np.remainder(a, 5),
    lambda a, b: (a != b) * 3,
    lambda a, b: np.maximum(a, np.minimum(b, 2)),
    lambda a, b: np.clip(np.sqrt(a * a) - b, -9, 9),
    lambda a, b: np.clip(np.stack([a, b, 1.0]) @ np.stack([b, a, a]), -9, 9),
    lambda a, b: np.cross(np.stack([a, b, 1.0]), np.stack([b, 1.0, a]))[1] % 7,
    lambda a, b: np.clip(_scan(a, b)[0], -9, 9),
    lambda a, b: _scan(b, a)[1][1],
    _steps,
]


def random_program(rng: np.random.Generator):
    """A function of x (SIZE,) that applies random operations to earlier values and returns the last five."""
    n = int(rng.choice([3, 12, 40, 400]))
    program = [tuple(rng.integers([len(OPERATIONS), 10**6, 10**6]).tolist()) for _ in range(n)]

    def function(x):
        values = list(x)
        for op, i, j in program:
            values.append(OPERATIONS[op](values[i % len(values)], values[j % len(values)]))
        return np.stack([1.0 * v for v in values[-5:]])

    return function


def by_c(kernel, x: np.ndarray) -> np.ndarray:
    """The results (n, 5) of the exported C99 file, compiled by the system's compiler, for the samples x (n, SIZE)."""
    text = kernel.source("c")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "k.c"), Path(folder, "k.so")
        source.write_text(text)
        command = ["cc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source, "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        function = getattr(ctypes.CDLL(str(library)), kernel.__name__)
        out = np.full((len(x), 5), np.nan)
        work = np.zeros(100_000)
        for row, result in zip(x, out, strict=True):
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (row, result)]
            extra = [work.ctypes.data_as(ctypes.c_void_p)] if ", double *work)" in text else []
            function(*pointers, *extra)
        return out


def attempt(rng: np.random.Generator) -> None:
    program = aj.kernel(x=SIZE)(random_program(rng))
    x = rng.integers(-9, 10, (int(rng.integers(1, 40)), SIZE)).astype(float)
    want = np.stack([np.asarray(program.eager(row), float) for row in x])
    common.same(program(x), want, "compiled, in a batch")
    common.same(program(x[0]), want[0], "compiled, alone")
    common.same(program(x.astype(np.float32)), want, "compiled, float32")
    common.same(program(np.asfortranarray(x)), want, "compiled, other strides")
    if shutil.which("cc"):
        common.same(by_c(program, x), want, "C")


if __name__ == "__main__":
    common.repeat(attempt)
