"""The commands about robot programs: check, format, run, trace, and the language server's door."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command_line import adjoint, as_json, environment, process, refused

import adjoint as aj
from adjoint.cli.program_inputs import input_values
from adjoint.errors import ArgumentError
from adjoint.program import parse

START = "0.3,-0.8,2.0,0.3,0.7,0"
ROBOT = ("--robot", "puma560", "--start", START)
GOOD = (
    'BEGIN hop\n    { up, and down again }\n    OPEN bhand TO 2*inches;\n    MOVE barm TO ⊗ - 2*inches*Z DIRECTLY;\n'
    '    PRINT("below");\n    MOVE barm TO ⊗ + 2*inches*Z;\nEND hop.\n'
)  # fmt: skip
BAD = "BEGIN hop\n    r ← ROT(Z, 90);\n    MOVE barm TO r;\nEND hop.\n"
WAITING = ".PROGRAM wait\n        WAIT 3\n        SIGNAL 2\n.END\n"


@pytest.fixture
def file(tmp_path):
    def made(text: str, name: str = "hop.al") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


# --- check ------------------------------------------------------------------------------------------------------------


def test_check_prints_findings_as_compilers_do(file):
    path = file(BAD)
    lines = adjoint("program", "check", path, code=1).stdout.splitlines()
    assert lines[0].startswith(f"{path}:2:16: error: ")
    assert lines[1] == "        r ← ROT(Z, 90);" and lines[2].rstrip() == " " * 19 + "^^"
    assert lines[3].strip() == "hint: write 90*deg"
    assert lines[-1] == f"{path}: 2 errors"


def test_check_as_json(file):
    found = as_json("program", "check", file(BAD), code=1)
    assert not found["ok"] and [(d["line"], d["column"], d["length"]) for d in found["findings"]] == [
        (2, 16, 2),
        (3, 18, 1),
    ]
    assert as_json("program", "check", file(GOOD))["findings"] == []


def test_check_of_a_text_that_cannot_be_read(file):
    assert "hop.al:1:" in adjoint("program", "check", file("BEGIN hop ( END hop."), code=1).stdout


def test_hints_name_options(file, tmp_path):
    two = aj.world.World().add_robot("left", aj.robots.puma560()).add_robot("right", aj.robots.puma560(), at=[1, 0, 0])
    (tmp_path / "two.json").write_text(two.to_json())
    words = ("program", "check", file(GOOD), "--world", tmp_path / "two.json")
    assert "--arm barm=left" in adjoint(*words, code=1).stdout
    adjoint(*words, "--arm", "barm=left")


def test_check_reads_standard_input(file):
    assert "standard input" in adjoint("program", "check", "-", "--language", "al", input=BAD, code=1).stdout
    assert "--language" in refused("program", "check", "-", input=BAD)


def test_check_knows_the_names_of_a_world(file, tmp_path):
    path = file("BEGIN a\n    MOVE barm TO tabel;\nEND a.\n")
    world = aj.world.World().add_robot("arm", aj.robots.puma560()).add("table", at=[0.5, 0, 0])
    (tmp_path / "cell.json").write_text(world.to_json())
    adjoint("program", "check", path)
    text = adjoint("program", "check", path, "--world", tmp_path / "cell.json", code=1).stdout
    assert ":2:18: error:" in text and "table" in text
    assert "--world" in refused("program", "check", path, "--world", file("{", "bad.json"))
    assert "either" in refused("program", "check", path, "--world", tmp_path / "cell.json", "--robot", "puma560")


@pytest.mark.slow
def test_check_with_a_dry_run(file):
    far = file("BEGIN a\n    MOVE barm TO ⊗ + 5*m*Z;\nEND a.\n")
    adjoint("program", "check", far, *ROBOT)
    text = adjoint("program", "check", far, *ROBOT, "--dry-run", code=1).stdout
    assert f"{far}:2:5: error: this is out of reach" in text
    assert "nothing is wrong" in adjoint("program", "check", file(GOOD), *ROBOT, "--dry-run").stdout
    assert "--dry-run needs a world" in refused("program", "check", far, "--dry-run")


# --- format -----------------------------------------------------------------------------------------------------------


def test_format_prints_the_canonical_text(file):
    path = file("begin hop move barm to A { why } ; end hop.")
    text = adjoint("program", "format", path).stdout
    assert parse(text, "al") == parse(path.read_text(), "al") and "{ why }" in text
    again = file(text, "again.al")
    assert adjoint("program", "format", again).stdout == text
    assert adjoint("program", "format", again, "--check").stdout == ""
    assert "would change" in adjoint("program", "format", path, "--check", code=1).stderr


def test_format_in_place_writes_the_file_at_once(file, tmp_path):
    path = file("begin hop move barm to A; end hop.")
    if os.name != "nt":
        path.chmod(0o640)
    link = tmp_path / "link.al"
    link.symlink_to(path)
    wanted = adjoint("program", "format", path).stdout
    adjoint("program", "format", link, "--in-place")
    assert link.is_symlink() and path.read_text(encoding="utf-8") == wanted
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hop.al", "link.al"]
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = path.stat().st_mtime_ns
    adjoint("program", "format", path, "--in-place")
    assert path.stat().st_mtime_ns == before  # nothing to change, nothing written


def test_a_file_that_cannot_be_read_stays_as_it_is(file):
    path = file(BAD.replace("ROT(", "ROT(("))
    before = path.read_bytes()
    done = adjoint("program", "format", path, "--in-place", code=1)
    assert "hop.al:2:" in done.stderr and done.stdout == "" and path.read_bytes() == before


def test_format_into_another_language(file):
    path = file(".PROGRAM hop\n        MOVE A\n        MOVES B\n        OPEN\n.END\n", "hop.val")
    text = adjoint("program", "format", path, "--to", "al").stdout
    assert text.startswith("BEGIN hop") and parse(text, "al") == parse(path.read_text(), "val")
    lefty = file(".PROGRAM hop\n        LEFTY\n.END\n", "lefty.val")
    assert "lefty.val:2:9: error: " in adjoint("program", "format", lefty, "--to", "al", code=1).stderr
    assert "--to" in refused("program", "format", path, "--to", "al", "--in-place")
    assert "in place" in refused("program", "format", "-", "--language", "al", "--in-place", input=GOOD)


# --- run --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_run_tells_what_happens(file, tmp_path):
    path, page, trace = file(GOOD), tmp_path / "out" / "hop.html", tmp_path / "out" / "hop.jsonl"
    done = adjoint("program", "run", path, *ROBOT, "--page", page, "--trace", trace)
    lines = done.stdout.splitlines()
    assert lines[0].endswith("s  line 5    prints below") and lines[1] == "done" and " ticks, computed in " in lines[2]
    assert "wrote" in done.stderr and "PRINT" in page.read_text(encoding="utf-8")
    assert json.loads(trace.read_text().splitlines()[0])["trace"] == 1


@pytest.mark.slow
def test_speed_makes_moves_last_longer(file):
    path = file("BEGIN a\n    MOVE barm TO ⊗ - 4*inches*Z DIRECTLY;\nEND a.\n")
    full, half = (as_json("program", "run", path, *ROBOT, *more) for more in ((), ("--speed", "0.5")))
    assert full["status"] == "done" and np.isclose(half["duration"], 2 * full["duration"], atol=0.02)
    assert np.allclose(full["q"]["arm"], half["q"]["arm"])
    assert "--speed" in refused("program", "run", path, *ROBOT, "--speed", "2")


def test_inputs_come_from_outside(file):
    path = file(WAITING, "wait.val")
    found = as_json("program", "run", path, *ROBOT, "--input", "signal 3=0,1.5:1")
    assert found["status"] == "done" and np.isclose(found["duration"], 1.5, atol=0.011)
    assert [e["kind"] for e in found["events"]] == ["signal"]
    stuck = as_json("program", "run", path, *ROBOT, "--limit", "2", code=1)
    assert stuck["status"] == "limit" and np.isclose(stuck["duration"], 2)
    assert "--limit" in refused("program", "run", path, *ROBOT, "--limit", "-1")


def test_values_of_inputs():
    found = input_values(["signal 3=1", "force z=0,1:-2.5,2:0"])
    assert found["signal 3"] == 1.0
    assert found["force z"](np.array([0.0, 0.99, 1.0, 1.5, 2.0])).tolist() == [0, 0, -2.5, -2.5, 0]
    assert input_values(["x=2:1"])["x"](np.array([1.0, 2.0])).tolist() == [0, 1]
    for wrong in ("signal 3", "=1", "a=", "a=b", "a=0,1", "a=0,2:1,1:0"):
        with pytest.raises(ArgumentError, match="--input"):
            input_values([wrong])


def test_runs_that_fail_have_an_exit_code(file):
    done = adjoint("program", "run", file(BAD), *ROBOT, code=1)
    assert "hop.al:2:16: error:" in done.stderr and done.stdout == ""
    done = adjoint("program", "run", file('BEGIN a  ABORT("no bolt");  END a.'), *ROBOT, code=1)
    assert "aborted: no bolt" in done.stdout
    done = adjoint("program", "run", file("BEGIN a\n  MOVE barm TO ⊗ + 5*m*Z;\nEND a."), *ROBOT, code=1)
    assert "failed: this is out of reach" in done.stdout and "hop.al:2:3: error:" in done.stdout


def test_wrong_input_is_refused_in_one_line(file):
    path = file(GOOD)
    assert "give --world FILE or --robot NAME" in refused("program", "run", path)
    assert "no robot 'pumma'" in refused("program", "run", path, "--robot", "pumma")
    assert "suffixes are" in refused("program", "run", file(GOOD, "hop.txt"), *ROBOT)
    assert "no-such.al" in refused("program", "run", "no-such.al", *ROBOT)
    assert "--arm" in refused("program", "run", path, *ROBOT, "--arm", "barm")
    assert "no such robot" in refused("program", "run", path, *ROBOT, "--arm", "barm=left")
    assert "--gripper" in refused("program", "run", path, *ROBOT, "--gripper", "-1")
    assert "UTF-8" in refused("program", "run", _binary(path), *ROBOT)


def _binary(path: Path) -> Path:
    other = path.with_name("binary.al")
    other.write_bytes(b"BEGIN \xff\xfe")
    return other


# --- trace ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_traces_are_shown_and_compared(file, tmp_path):
    path, kept = file(GOOD), tmp_path / "hop.jsonl"
    adjoint("program", "run", path, *ROBOT, "--period", "0.02", "--trace", kept)
    table = adjoint("program", "trace", path, *ROBOT, "--period", "0.02").stdout
    lines = table.splitlines()
    assert lines[0].split() == ["t", "[s]", "until", "line", "thread", "what", "values"]
    assert [line.split()[4] for line in lines if " MoveJoints " in line or " Move " in line] == ["Move", "Move"]
    assert adjoint("program", "trace", kept).stdout == table
    assert "events are the same" in adjoint("program", "trace", path, *ROBOT, "--compare", kept).stdout
    assert as_json("program", "trace", path, *ROBOT, "--compare", kept)["equal"]
    other = file(GOOD.replace("below", "above"), "other.al")
    done = adjoint("program", "trace", other, *ROBOT, "--compare", kept, code=1)
    assert "the first difference from" in done.stdout
    events = as_json("program", "trace", kept)
    assert events["status"] == "done" and events["period"] == 0.02
    assert "FILE must be one" in refused("program", "trace", kept, "--compare", kept)
    assert "trace" in refused("program", "trace", file("{}", "bad.jsonl"))


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_help_needs_no_numpy():
    code = "import sys; from adjoint.cli.app import app\nassert 'numpy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], env=environment(), timeout=60).returncode == 0
    assert "--lsp" in process("program", "--help").stdout


def test_the_group_alone_shows_its_commands():
    text = adjoint("program").stdout
    assert all(name in text for name in ("run", "check", "format", "trace", "--lsp"))
