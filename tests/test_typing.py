"""Types as editors and type checkers see them: pyright on tests/typing_cases.py."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("typing_cases.py")
ROOT = CASES.parents[1]


def found(tmp_path: Path) -> list[tuple[int, str, str]]:
    """(line, rule, message) of every error that pyright finds there, with nothing switched off."""
    settings = {
        "extraPaths": [str(ROOT / "src")],
        "pythonVersion": "3.11",
        "typeCheckingMode": "basic",
        "reportMissingModuleSource": False,
    }
    shutil.copy(CASES, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == 1
    return [(d["range"]["start"]["line"] + 1, d.get("rule", ""), d["message"]) for d in report["generalDiagnostics"]]


def test_right_uses_are_accepted_and_wrong_ones_flagged(tmp_path):
    lines = CASES.read_text(encoding="utf-8").splitlines()
    wanted = {k: m[1] for k, line in enumerate(lines, 1) if (m := re.search(r"# wrong: (\w+)$", line))}
    got = found(tmp_path)
    unexpected = [(lines[k - 1], rule, text) for k, rule, text in got if k not in wanted]
    assert unexpected == []
    missed = [lines[k - 1] for k, rule in wanted.items() if rule not in {r for j, r, _ in got if j == k}]
    assert missed == []
