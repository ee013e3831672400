"""Attack: damaged cache folders. Whatever files lie there, results must be right, and nothing may hang."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common
import numpy as np

USER = """
import numpy as np, adjoint as aj
from adjoint.lie import se3
x = np.linspace(-1, 1, 60).reshape(10, 6)
T, one = se3.exp(x), se3.exp(x[0])
assert np.array_equal(T[0], one) and np.allclose(se3.log(T), x), "wrong numbers"
assert np.allclose(T[0], se3.exp.eager(x[0]))
"""


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 8, 1000])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def other_contents(path: Path, chance: random.Random) -> None:
    entries = [entry for entry in sorted(path.parent.glob("*.ajo")) if entry.is_file()]  # some are folders by now
    shutil.copyfile(chance.choice(entries), path.with_suffix(".x"))
    os.replace(path.with_suffix(".x"), path)


def fifo(path: Path, _) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def folder(path: Path, _) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path, _) -> None:
    path.rename(path.with_suffix(".away"))
    path.symlink_to(path.with_suffix(".away"))


def anybody_may_write(path: Path, _) -> None:
    path.chmod(0o666)


def empty(path: Path, _) -> None:
    path.write_bytes(b"")


DAMAGES = [flip, truncate, other_contents, fifo, folder, link, anybody_may_write, empty]


def attempt(rng: np.random.Generator) -> None:
    chance = random.Random(int(rng.integers(2**31)))
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "ADJOINT_CACHE": str(Path(place, "cache"))}

        def user() -> None:
            done = subprocess.run([sys.executable, "-c", USER], env=environment, capture_output=True, timeout=120)
            if done.returncode:
                raise AssertionError(f"exit code {done.returncode}: {done.stderr.decode()[-2000:]}")

        user()
        entries = sorted(Path(place, "cache").glob("*.ajo"))
        for path in entries:
            if chance.random() < 0.7:
                chance.choice(DAMAGES)(path, chance)
        user()
        user()


if __name__ == "__main__":
    common.repeat(attempt)
