"""The benchmarks' bookkeeping: rows and ratios, time limits, failures, committed results, plots and tables of pages."""

import json
import math
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import common  # noqa: E402  # pyright: ignore[reportMissingImports]
import draw  # noqa: E402  # pyright: ignore[reportMissingImports]
import page  # noqa: E402  # pyright: ignore[reportMissingImports]
import run  # noqa: E402  # pyright: ignore[reportMissingImports]

COMMITTED = sorted(p for p in (ROOT / "bench/results").glob("*.json") if p.stem != "run")


class Clock:
    """A clock that only calls move on."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# --- ratios -----------------------------------------------------------------------------------------------------------


def test_race_takes_turns_and_repeats_short_calls():
    clock, order = Clock(), []

    def call(name, seconds):
        order.append(name)
        clock.now += seconds

    calls = {"a": lambda: call("a", 0.001), "b": lambda: call("b", 0.1), "c": lambda: call("c", 2.0)}
    laps = common.race(calls, rounds=3, seconds=0.0105, clock=clock)
    assert laps["a"] == pytest.approx([0.001] * 3) and laps["b"] == pytest.approx([0.1] * 3)
    assert "".join(order) == "aabbc" + 3 * (10 * "a" + "bc")  # first, two calls tell how often to repeat short ones


def test_ratios_are_of_the_same_round():
    """A machine that is ten times slower in some rounds changes the times, but no ratio."""
    busy = [1, 10, 1, 10, 1]
    laps = {"adjoint": [2e-9 * b for b in busy], "peer": [6e-9 * b for b in busy]}
    found = common.row("robot", "what", "batch", laps)
    assert found["ours_ns"] == pytest.approx(2) and found["rounds"] == 5
    peer = found["peers"]["peer"]
    assert [peer[key] for key in ("ns", "ratio", "ratio_low", "ratio_high")] == pytest.approx([6, 3, 3, 3])


def test_spread_is_the_quartiles():
    laps = {"adjoint": [1.0] * 5, "peer": [5.0, 1.0, 3.0, 2.0, 4.0]}
    peer = common.row("", "", "", laps)["peers"]["peer"]
    assert [peer[key] for key in ("ratio_low", "ratio", "ratio_high")] == [2, 3, 4]
    one = common.row("", "", "", {"adjoint": [1.0], "peer": [2.0]})["peers"]["peer"]
    assert one["ratio_low"] == one["ratio"] == one["ratio_high"] == 2


def test_rows_count_samples_and_choose_peers():
    laps = {"adjoint": [1.0], "batch": [3.0], "peer": [8.0]}
    found = common.row("", "", "", laps, "batch", peers=["peer"], samples={"batch": 100, "peer": 4}, size=7, flops=5)
    assert found["ours_ns"] == pytest.approx(3e7) and list(found["peers"]) == ["peer"]
    assert found["peers"]["peer"]["ratio"] == pytest.approx(2 / 0.03)
    assert found["size"] == 7 and found["extra"] == {"flops": 5}


def test_targets():
    assert common.target("a", 3.0, ">= 2")[-1] == common.target("a", 1.0, "<= 1.5")[-1] == "met"
    assert common.target("a", 1.0, ">= 2")[-1] == common.target("a", 3.0, "<= 1.5")[-1] == "missed"
    found = common.row("robot", "what", "batch", {"adjoint": [1.0], "peer": [2.0]})
    assert common.ratio_target(found, "peer", 3) == [["robot, what, batch, times peer", 2.0, ">= 3", "missed"]]
    assert common.ratio_target(None, "peer", 3) == common.ratio_target(found, "other", 3) == []


@pytest.mark.parametrize(
    "ns, text",
    [(0.5, "0.5 ns"), (17.84, "17.8 ns"), (999.6, "1 µs"), (4.2e6, "4.2 ms"), (2.5e9, "2.5 s"), (5e12, "5000 s")],
)
def test_duration(ns, text):
    assert common.duration(ns) == text


def test_cases_after_the_deadline_are_left_out(monkeypatch):
    """All but the first one of a process, so that there are results."""
    for name, value in {"left_out": [], "begun": [], "DEADLINE": math.inf}.items():
        monkeypatch.setattr(common, name, value)
    assert list(common.in_time("ab")) == ["a", "b"] and common.left_out == []
    monkeypatch.setattr(common, "DEADLINE", 0.0)
    assert list(common.in_time("ab", str.upper)) == [] and common.left_out == ["A", "B"]
    monkeypatch.setattr(common, "begun", [])
    assert list(common.in_time("cd")) == ["c"] and common.left_out[2:] == ["d"]
    laps = common.race({"x": lambda: None}, rounds=9, seconds=1e-6)
    assert len(laps["x"]) == common.LEAST_ROUNDS


def test_json_appears_whole_or_not_at_all(tmp_path):
    path = common.write_json(tmp_path / "new/a.json", {"x": 1})
    with pytest.raises(ValueError):
        common.write_json(path, {"x": math.nan})
    assert json.loads(path.read_text()) == {"x": 1} and list(path.parent.iterdir()) == [path]


# --- the driver -------------------------------------------------------------------------------------------------------


def fake(name: str, code: str, share: float = 1.0) -> "run.Benchmark":
    return run.Benchmark(name, [sys.executable, "-c", code], share)


def test_a_failure_costs_the_others_nothing(capfd):
    every = [
        fake("bad", "raise ValueError('no robot')"),
        run.Benchmark("absent", None, 1.0),
        fake("good", "print('measured')"),
    ]
    outcomes = run.run_all(every, 60.0, {})
    assert [o["status"] for o in outcomes] == ["failed", "not installed", "done"]
    assert outcomes[0]["message"] == "ValueError: no robot"
    out, err = capfd.readouterr()
    assert "measured" in out and "no robot" in err


def test_a_benchmark_that_hangs_is_ended_with_its_children():
    child = "import subprocess, sys, time; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    outcomes = run.run_all([fake("hangs", child), fake("good", "pass", 19.0)], 20.0, {}, patience=0.0)
    assert [o["status"] for o in outcomes] == ["out of time", "done"]
    assert outcomes[0]["seconds"] < 30  # of the 60 that it would take


def test_deadlines_share_the_time_that_is_left(tmp_path):
    """A benchmark that needs little leaves its time to the others."""
    here = f"pathlib.Path({str(tmp_path)!r}, str(time.time()))"
    tell = f"import os, time, pathlib; {here}.write_text(os.environ['BENCH_DEADLINE'])"
    run.run_all([fake("a", tell, 1.0), fake("b", tell, 1.0), fake("c", tell, 2.0)], 100.0, {"BENCH_QUICK": "1"})
    given = sorted((float(p.name), float(p.read_text())) for p in tmp_path.iterdir())
    assert [end - start for start, end in given] == pytest.approx([25, 33, 100], abs=6)


def test_record_keeps_what_did_not_run(tmp_path):
    path = tmp_path / "run.json"
    run.record(path, [{"name": "chains", "status": "done"}, {"name": "dynamics", "status": "failed"}], {"quick": True})
    run.record(path, [{"name": "dynamics", "status": "done"}], {"quick": False})
    found = json.loads(path.read_text())
    assert found["quick"] is False
    assert found["benchmarks"] == [{"name": "dynamics", "status": "done"}, {"name": "chains", "status": "done"}]


def test_every_benchmark_exists_and_has_a_place():
    assert set(run.SHARES) == set(page.ORDER)
    assert sum(full for full, _ in run.SHARES.values()) < 1800 and sum(quick for _, quick in run.SHARES.values()) < 300
    assert all((ROOT / f"bench/{name}.py").exists() for name in run.SHARES)


# --- results, plots and pages -----------------------------------------------------------------------------------------

NUMBER = (int, float)
SCHEMA = {
    "benchmark": str, "machine": dict, "versions": dict, "date": str, "revision": str, "threads": int, "quick": bool,
    "left_out": list, "rows": list, "targets": list, "more": dict,
}  # fmt: skip
ROW = {
    "subject": str, "what": str, "how": str, "size": (*NUMBER, type(None)), "ours_ns": (*NUMBER, type(None)),
    "peers": dict, "rounds": int, "accuracy": (dict, type(None)), "extra": dict,
}  # fmt: skip


def check_schema(data: dict) -> None:
    assert data.keys() == SCHEMA.keys()
    assert all(isinstance(data[key], kind) for key, kind in SCHEMA.items())
    assert data["machine"].keys() == {"cpu", "cores", "system", "python"} and data["versions"]["adjoint"]
    assert data["rows"] and all(verdict in ("met", "missed") for *_, verdict in data["targets"])
    names = [tuple(row[key] for key in ("subject", "what", "how", "size")) for row in data["rows"]]
    assert len(set(names)) == len(names)
    for row in data["rows"]:
        assert row.keys() == ROW.keys() and all(isinstance(row[key], kind) for key, kind in ROW.items())
        assert row["accuracy"] or row["ours_ns"] > 0
        for peer in row["peers"].values():
            assert peer["ns"] > 0 and 0 < peer["ratio_low"] <= peer["ratio"] <= peer["ratio_high"]
        for error in (row["accuracy"] or {}).values():
            assert 0 <= error["median"] <= error["worst"]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_committed_results(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["benchmark"] == path.stem
    check_schema(data)


def test_results_of_every_benchmark_are_committed():
    assert {path.stem for path in COMMITTED} == set(page.ORDER)


@pytest.fixture
def small(tmp_path, monkeypatch) -> dict:
    """Results of a small made-up run, written as benchmarks write them."""
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(common, "left_out", [])

    def row(subject, what, how, ours, size=None, **peers):
        laps = {"adjoint": [ours, 1.1 * ours], **{k.replace("_", " "): [x, x] for k, x in peers.items()}}
        return common.row(subject, what, how, laps, size=size)

    dynamics = [row("UR5", "inverse_dynamics", how, 1e-8, pinocchio=1e-6, mujoco=4e-6) for how in ("batch", "one call")]
    dynamics.append(row("UR5", "mass_matrix", "batch", 3e-8, pinocchio=1e-8, mujoco=5e-8))
    errors = common.accuracy_row("UR5", "inverse_dynamics", {"adjoint": [0.3, 1.0], "pinocchio": [0.4, 2.0]})
    scaling = [row("random tree", "mass_matrix", "by freedoms", n * 1e-8, n, pinocchio=n * 1e-7) for n in (1, 6)]
    scaling += [
        row("UR5", "inverse_dynamics", "by batch", 1e-8, n, pinocchio=1e-6, pinocchio_batch=5e-7) for n in (1, 64)
    ]
    common.report("dynamics", ("numpy",), dynamics, [common.target("speed", 1.0, ">= 2")], batch=2)
    common.report("accuracy", (), [errors])
    common.report("scaling", (), scaling, exponents={"mass_matrix": 1.0})
    return page.load(tmp_path)


def test_report_prints_and_writes_the_schema(small, capsys):
    assert list(small) == ["dynamics", "scaling", "accuracy"]
    for data in small.values():
        check_schema(data)


def test_a_benchmark_without_results_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    with pytest.raises(SystemExit, match="dynamics: there was no time for any case"):
        common.report("dynamics", (), [])
    assert not list(tmp_path.iterdir())


def test_show_has_every_time_and_ratio(capsys):
    laps = {"adjoint": [1e-8] * 3, "pinocchio": [1e-6, 2e-6, 3e-6]}
    common.show([common.row("UR5", "f", "batch", laps, size=1000)])
    out = capsys.readouterr().out
    assert "UR5, f, batch, 1 000" in out and "10 ns" in out and "1 µs, 200× (150 to 250)" in out


@pytest.mark.slow
def test_draw_from_small_results(small, tmp_path):
    drawn = {path.stem for path in draw.draw(small, tmp_path / "images", "svg")}
    assert drawn == {"throughput", "single_calls", "overview", "slower", "batch", "freedoms", "accuracy"}
    again = {p.name: p.read_bytes() for p in (tmp_path / "images").iterdir()}
    draw.draw(small, tmp_path / "images", "svg")
    assert {p.name: p.read_bytes() for p in (tmp_path / "images").iterdir()} == again


def test_slow_rows_are_all_listed(small):
    listed = [(row["what"], peer) for _, row, peer, _ in page.slow(small)]
    assert listed == [("mass_matrix", "pinocchio"), ("mass_matrix", "mujoco")]
    text = page.slow_table(small)
    assert "Adjoint is slower in 1, and gains less than 2× in 2" in text and "0.3" in text


def test_pages_are_filled_between_markers(small):
    text = "before\n<!-- bench: missed -->\nold\n<!-- /bench -->\n"
    text += "between\n<!-- bench: readme -->\n<!-- /bench -->\nafter\n"
    new = page.filled(text, small)
    assert "old" not in new and "1 targets, of which this run missed 1" in new
    assert "| UR5, inverse dynamics | 10 ns | Pinocchio: 1 µs | 95.5 (93.2 to 97.7) |" in new
    assert new.startswith("before\n") and "\nbetween\n" in new and new.endswith("after\n")
    assert page.filled(new, small) == new
    with pytest.raises(ValueError, match="no table nothing; there are runs"):
        page.filled("<!-- bench: nothing -->\n<!-- /bench -->", small)


def test_page_tells_of_failures_and_of_what_is_left_out(small, tmp_path):
    run.record(tmp_path / "run.json", [{"name": "scaling", "status": "failed"}], {})
    results = page.load(tmp_path)
    results["dynamics"]["left_out"] = ["Talos"]
    text = page.runs(results)
    assert "failed in the last run: these are earlier results" in next(x for x in text.splitlines() if "`scaling`" in x)
    assert "left out, for lack of time: Talos" in next(x for x in text.splitlines() if "`dynamics`" in x)
    assert "no results" in next(x for x in text.splitlines() if "`chains`" in x)


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        run.main(["dynamic"])
    assert "no benchmark dynamic; there are kinematics, dynamics" in capsys.readouterr().err


def test_every_table_bears_missing_benchmarks():
    for table in page.TABLES.values():
        assert isinstance(table({}), str)


@pytest.mark.parametrize("path", page.PAGES, ids=lambda path: path.name)
def test_pages_are_fresh(path):
    """No number between markers differs from the committed results: `python bench/draw.py` writes them."""
    text = path.read_text(encoding="utf-8")
    assert page.filled(text, page.load(ROOT / "bench/results")) == text


def test_page_has_no_measured_number_by_hand():
    text = page.MARKED.sub("", (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8"))
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert re.findall(r"\d[\d.]* ?(?:ns|µs|s|×|times)\b", prose) == []


def test_page_shows_every_plot():
    shown = re.findall(r"images/bench/(\w+)\.svg", (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(draw.PLOTS)
    assert all((draw.IMAGES / f"{name}.svg").exists() for name in shown)
