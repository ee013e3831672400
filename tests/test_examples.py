"""Every example runs from start to end, in a folder and with a cache of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("[0-9]*.py"))
SECONDS = 120


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(path, tmp_path):
    env = {**os.environ, "ADJOINT_CACHE": str(tmp_path / "cache"), "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, encoding="utf-8", timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"


def test_there_are_examples():
    assert EXAMPLES
