"""The command line for tests: in this process, and in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from adjoint.cli.app import app

SOURCES = Path(__file__).parents[2] / "src"


def adjoint(*words: object, input: str | None = None, code: int = 0):
    """What a command prints, as the result of a run in this process; `code` is the exit code that it must have."""
    done = CliRunner().invoke(app, [str(word) for word in words], input=input, catch_exceptions=False)
    assert done.exit_code == code, f"exit code {done.exit_code}: {done.stdout}{done.stderr}"
    return done


def as_json(*words: object, input: str | None = None, code: int = 0) -> Any:
    """The data that a command prints with --json; nothing that JSON does not know may be in it."""
    text = adjoint(*words, "--json", input=input, code=code).stdout
    return json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))


def refused(*words: object, input: str | None = None, code: int = 2) -> str:
    """The one line on standard error of a command that fails; it has printed no results."""
    done = adjoint(*words, input=input, code=code)
    assert done.stdout == "" and "Traceback" not in done.stderr
    return done.stderr


def command(*words: object) -> list[str]:
    """The words that start the program in a process of its own."""
    return [sys.executable, "-m", "adjoint", *(str(word) for word in words)]


def environment(**more: str) -> dict[str, str]:
    """The environment of such a process, which finds the library of these tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), *filter(None, sys.path)]), **more}


def process(*words: object, input: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """A run in a process of its own, whose output goes to pipes."""
    return subprocess.run(
        command(*words), input=input, env=environment(**more), capture_output=True, text=True, timeout=120
    )
