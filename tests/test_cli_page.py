"""The page about the command line: all its commands run, in order, and print what the page shows."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import environment

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "command_line.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
VARIES = (
    "bench",
    "demo",
    "identify",
    "simulate",
    "retime",
    "program run",
    "plan blocks --optimal",
)  # these print times, or numbers as small as rounding errors


def steps() -> list[tuple[str, str]]:
    """(command, what the page shows below it) in the order of the page."""
    found = []
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            found.append((line, shown))
    return found


def agrees(command: str, shown: str, printed: str) -> bool:
    """Whether a command prints what the page shows; "..." stands for anything, and numbers of some may differ."""
    if any(word in command for word in VARIES):
        shown, printed = (re.sub(r"-?[\d.]*\d(e[+-]?\d+)?", "0", text) for text in (shown, printed))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown.strip() + "\n", printed.strip() + "\n", flags)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a shell of Unix")
def test_the_commands_of_the_page_print_what_it_shows(tmp_path):
    tools, place = tmp_path / "tools", tmp_path / "place"
    tools.mkdir()
    place.mkdir()
    (tools / "adjoint").write_text(f'#!/bin/sh\nexec {sys.executable} -m adjoint "$@"\n')
    (tools / "adjoint").chmod(0o755)
    around = environment(PATH=f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    wrong = []
    for command, shown in steps():
        script = ["bash", "-c", f"{{ {command}; }} 2>&1"]
        done = subprocess.run(script, cwd=place, env=around, capture_output=True, text=True, timeout=120)
        if not agrees(command, shown, done.stdout):
            wrong.append(f"$ {command}\n{done.stdout}\nbut the page shows\n{shown}")
    assert not wrong, "\n".join(wrong)


def test_the_page_shows_all_commands():
    names = set(re.findall(r"^\$ adjoint (\w+)", "\n".join(BLOCKS), re.MULTILINE)) | set(
        re.findall(r"`adjoint (\w+)", TEXT)
    )
    named = names | set(re.findall(r"`(\w+)`", TEXT))
    for (
        name
    ) in "info check convert fk ik jacobian torque simulate trajectory equations compile identify calibrate bench \
                 view demo cache program plan".split():
        assert name in named, name


def test_differences_are_seen():
    assert agrees("adjoint fk", "a ... b  1.5", "a 3 4 b 1.5") and not agrees("adjoint fk", "a 1.5", "a 1.6")
    assert agrees("adjoint bench", "took 1.5e-3 s", "took 20 s") and not agrees(
        "adjoint bench", "took 1 s", "takes 1 s"
    )
