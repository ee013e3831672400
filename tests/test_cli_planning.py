"""The command `plan`: plans that are found, written, read again and checked; what is wrong is told with its place."""

from pathlib import Path

import pytest
from support.command_line import adjoint, as_json, refused

from adjoint.planning import (
    book_task,
    book_text,
    read_plan,
    solve,
    triangle_table,
    validate,
    write_domain,
    write_problem,
)

SUSSMAN = ["(unstack c a)", "(putdown c)", "(pickup b)", "(stack b c)", "(pickup a)", "(stack a b)"]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_written_as_validators_read_it(here):
    done = adjoint("plan", "blocks", "--optimal")
    assert done.stdout.splitlines() == [*SUSSMAN, "; cost = 6"]
    assert done.stderr.startswith("adjoint: 6 actions, cost 6; ")
    assert validate(read_plan(done.stdout, book_task("blocks")))
    assert adjoint("plan", "blocks", "--optimal", "--out", "made/plan.txt").stdout == ""
    assert Path("made/plan.txt").read_text() == done.stdout


def test_tasks_come_from_two_files_from_one_and_from_standard_input(here):
    task = book_task("fetch")
    Path("domain.pddl").write_text(write_domain(task.domain))
    Path("problem.pddl").write_text(write_problem(task))
    Path("both.pddl").write_text(book_text("fetch"))
    wanted = solve(task).text
    assert adjoint("plan", "domain.pddl", "problem.pddl").stdout == wanted
    assert adjoint("plan", "both.pddl").stdout == wanted
    assert adjoint("plan", "-", input=book_text("fetch")).stdout == wanted
    assert adjoint("plan", "domain.pddl", "-", input=write_problem(task)).stdout == wanted
    Path("blocks").write_text(book_text("fetch"))  # a file goes before a task of the textbook
    assert adjoint("plan", "blocks").stdout == wanted


def test_plans_as_data_and_as_triangle_tables(here):
    data = as_json("plan", "blocks", "--optimal")
    assert data["solved"] and data["cost"] == 6 and data["statistics"]["expanded"] > 0
    assert [f"({' '.join(words)})" for words in data["actions"]] == SUSSMAN
    table = str(triangle_table(solve(book_task("blocks"), optimal=True)))
    both = as_json("plan", "blocks", "--optimal", "--table", "--out", "table.txt")
    assert both["table"] == table and Path("table.txt").read_text() == table + "\n"
    assert adjoint("plan", "blocks", "--optimal", "--table").stdout == table + "\n"


def test_plans_of_others_are_checked_step_by_step(here):
    Path("good.txt").write_text("\n".join(SUSSMAN))
    Path("bad.txt").write_text("\n".join(SUSSMAN[:1] + SUSSMAN[2:]))
    assert adjoint("plan", "blocks", "--validate", "good.txt").stdout == "the plan is right: 6 actions, cost 6\n"
    table = adjoint("plan", "blocks", "--validate", "good.txt", "--table").stdout.partition("\n")[2]
    assert table == adjoint("plan", "blocks", "--optimal", "--table").stdout
    reason = "step 2, (pickup b): (handempty) does not hold"
    assert adjoint("plan", "blocks", "--validate", "bad.txt", code=1).stdout == reason + "\n"
    data = as_json("plan", "blocks", "--validate", "bad.txt", code=1)
    assert not data["solved"] and data["reason"] == reason
    Path("bad.txt").write_text("(unstack c q)")
    assert "bad.txt:1:12: error: there is no object 'q'" in refused("plan", "blocks", "--validate", "bad.txt")


def test_goals_out_of_reach_have_reasons_and_exit_code_1(here):
    Path("never.pddl").write_text(book_text("blocks").replace("(on b c) (on a b)", "(on b a) (on a b)"))
    said = refused("plan", "never.pddl", code=1)
    assert said == "adjoint: no plan was found: (on b a) and (on a b) can never hold together\n"
    assert as_json("plan", "never.pddl", code=1)["reason"] in said


def test_wrong_pddl_and_options_are_named(here):
    Path("wrong.pddl").write_text(book_text("blocks").replace("(on c a)", "(on c)"))
    assert "wrong.pddl:27:30: error: 'on' has 2 arguments, and 1 are given" in refused("plan", "wrong.pddl")
    assert "'hanoy' is neither a file nor a task of the textbook; did you mean 'hanoi'?" in refused("plan", "hanoy")
    assert "'blocks' is a whole task of the textbook; 'more.pddl' is too much" in refused("plan", "blocks", "more.pddl")
    assert "'' is neither a file nor a task" in refused("plan", "")
    assert "'.' is a folder; the name of a file is needed" in refused("plan", "blocks", "--out", ".")
    assert "'nowhere' cannot be read" in refused("plan", "nowhere", "never")
    assert "there is no heuristic 'fff'; did you mean 'ff'" in refused("plan", "blocks", "--heuristic", "fff")
    assert "max_seconds must be a number" in refused("plan", "blocks", "--max-seconds", "-1")
    assert "--validate checks a plan" in refused("plan", "blocks", "--validate", "x", "--optimal")
