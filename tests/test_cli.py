"""The command line as a whole: help, errors, robots by name and file, numbers that are typed and piped, tables."""

import builtins
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command_line import adjoint, as_json, refused
from support.robots import URDFS, urdf
from support.trees import close

import adjoint as aj
from adjoint import cli
from adjoint.cli import output, reaching, robots, tables, values
from adjoint.cli.app import app
from adjoint.errors import ArgumentError, ModelError

PUMA = aj.robots.puma560()
COMMANDS = (
    "info check convert fk ik jacobian torque simulate trajectory equations compile identify calibrate bench view demo "
    "cache program plan"
).split()
GROUPS = {
    "trajectory": "make check retime sample plot".split(),
    "program": "run check format trace".split(),
    "cache": "info clear where".split(),
}


# --- help -------------------------------------------------------------------------------------------------------------


def test_alone_it_shows_an_overview_of_all_commands():
    text = adjoint().stdout
    assert all(f" {name} " in text for name in COMMANDS)
    assert text == adjoint("--help").stdout == adjoint("-h").stdout
    assert "Compute" in text and "adjoint demo" in text and "\x1b" not in text


@pytest.mark.parametrize("words", [[x] for x in COMMANDS] + [[g, x] for g, names in GROUPS.items() for x in names])
def test_help_teaches_by_examples(words):
    text = adjoint(*words, "--help").stdout
    if words[0] in GROUPS and len(words) == 1:
        assert all(name in text for name in GROUPS[words[0]])
    else:
        assert f"adjoint {' '.join(words)}" in text.split("Examples:" if "Examples:" in text else "Example:")[1]
    assert "[bold" not in text and "\x1b" not in text and "<bool>" not in text


def test_help_keeps_what_stands_in_brackets():
    assert "x [mm], are understood" in " ".join(adjoint("calibrate", "--help").stdout.split())


def test_help_and_formulas_have_the_same_letters():
    law = adjoint("equations", "two_link").stdout.splitlines()[0].partition(" = ")[0]
    assert law == "M ddq + C dq + phi" and f"{law} + F = tau" in adjoint("equations", "--help").stdout


def test_version():
    assert adjoint("--version").stdout == f"adjoint {aj.__version__}\n"


@pytest.mark.slow
def test_all_commands_have_json_or_write_files():
    """Programs can read whatever is printed: by --json, or as the file or source text that is the result."""
    for name in set(COMMANDS) - {*GROUPS, "convert", "view", "demo"}:
        assert "--json" in adjoint(name, "--help").stdout, name


def test_without_its_packages_the_program_names_them(monkeypatch, capsys):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "typer":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.startswith("adjoint.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    assert "pip install 'adjoint[cli]'" in capsys.readouterr().err


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["info", "pumma"], "did you mean 'puma560'"),
        (["info", "nosuch.urdf"], "there is no such file"),
        (["info", "planar:x"], "'x' is no number"),
        (["info", "planar"], "planar"),
        (["info", "planar:inf"], "whole number"),
        (["info", "planar:nan"], "whole number"),
        (["info", "~nobody-of-this-name/arm.urdf"], "there is no such file"),
        (["info", "puma560", "--base", "free"], "stands on a fixed base"),
        (["info", "puma560", "--gravity", "1,2"], "--gravity"),
        (["info", "no_such_description"], "no robot 'no_such_description'"),
        (["fk", "puma560", "--frame", "toool"], "did you mean 'tool'"),
        (["fk", "puma560", "--q", "1,2"], "2 numbers, but there must be 6: q_joint1"),
        (["fk", "puma560", "--q", "nosuch.csv"], "--q: nosuch.csv: there is no such file"),
        (["fk", "puma560", "--q", "./q"], "--q: q: there is no such file"),
        (["fk", "puma560", "--q", "."], "--q: . is a folder"),
        (["ik", "puma560", "--pose", "nosuch.csv"], "--pose: nosuch.csv: there is no such file"),
        (["fk", "puma560", "--q", "pi/0"], "neither 6 numbers"),
        (["fk", "puma560", "--q", ".pi"], "neither 6 numbers"),
        (["fk", "puma560", "--q", "0", "--out", "poses.txt"], "must end in .csv or .npz"),
        (["ik", "puma560", "--pose", "1,2,3,4"], "has 4 numbers"),
        (["ik", "puma560", "--pose", "1,0,0,1,1,0,0"], "unit quaternion"),
        (["ik", "puma560", "--frame", "base", "--pose", "0,0,0"], "no joint of robot 'puma560' moves frame 'base'"),
        (["torque", "puma560", "--v", "1;2", "--a", "1;2;3"], "2 and 3 samples"),
        (["convert", "puma560", "arm.bin"], "does not say its format"),
        (["convert", "random_tree:0:9", "-", "--to", "urdf"], "joint"),
        (["trajectory", "make", "puma560", "--duration", "1"], "no goal"),
        (["trajectory", "check", "puma560", "nosuch.npz"], "no such file"),
        (["simulate", "puma560", "--controller", "pd"], "needs --goal or --trajectory"),
        (["simulate", "puma560", "--duration", "0.0015"], "not a whole number of steps"),
        (["compile", "puma560", "--function", "mass_matrx"], "did you mean 'mass_matrix"),
        (["compile", "puma560", "--function", "foo"], "static_torque\n"),
        (["info", "planar:0"], "planar:0: a robot of a family has at least one joint"),
        (["trajectory", "check", "puma560", "arm.urdf"], "error: arm.urdf must end in .npz, .json or .csv"),
        (["equations", "two_link", "--most-terms", "1"], "more than 1 terms"),
        (["identify", "puma560", "nosuch.csv"], "nosuch.csv"),
    ],
)
def test_wrong_input_is_one_line(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refused(*words)
    assert said in line and line.count("\n") == 1 and line.startswith("adjoint: error: ")


def test_unknown_options_and_commands_are_named():
    assert "--frrame" in adjoint("fk", "puma560", "--frrame", "x", code=2).stderr
    assert "simulat" in adjoint("simulat", code=2).stderr
    assert "computed-torque" in adjoint("simulate", "puma560", "--controller", "magic", code=2).stderr


def test_tracebacks_on_demand(monkeypatch):
    monkeypatch.setenv("ADJOINT_TRACEBACK", "full")
    with pytest.raises(ArgumentError, match="no robot"):
        adjoint("info", "pumma")


# --- robots -----------------------------------------------------------------------------------------------------------


def test_the_catalog_is_that_of_the_library():
    assert list(robots.CATALOG) == sorted(aj.robots.__all__)


@pytest.mark.parametrize(
    ("name", "robot"),
    [
        ("puma560", PUMA),
        ("planar:3", aj.robots.planar(3)),
        ("planar(3)", aj.robots.planar(3)),
        ("chain:4,0.5", aj.robots.chain(4, 0.5)),
        ("two_link:length=2", aj.robots.two_link(length=2)),
        ("random_tree:3:5", aj.robots.random_tree(3, 5)),
    ],
)
def test_names_of_the_catalog(name, robot):
    assert robots.find_robot(name) == robot


@pytest.mark.slow
def test_files_and_standard_input(tmp_path):
    path = tmp_path / "arm.urdf"
    text = aj.to_urdf(PUMA.reframed("joint"), path)
    assert robots.find_robot(str(path)) == aj.load(path)
    assert as_json("info", "-", input=text)["mass"] == pytest.approx(PUMA.mass)
    assert as_json("info", "-", input=tables.as_toml(tables.dh_table(PUMA, "tool")))["nv"] == 6
    assert "is empty" in refused("info", "-", input="")
    assert "neither a model in XML" in refused("info", "-", input="hello")
    assert "arm.urdf" in refused("info", tmp_path / "arn.urdf")


def test_gravity_and_base():
    moon = robots.find_robot("puma560", gravity="1.62")
    assert np.array_equal(moon.gravity, [0, 0, -1.62])
    assert np.array_equal(robots.find_robot("puma560", gravity="1,2,3").gravity, [1, 2, 3])
    free = robots.find_robot(str(urdf("go2")), base="free")
    assert free.joint_types[0] == "free"


@pytest.mark.slow
def test_names_of_example_robot_data(capsys):
    """Names are found without importing Pinocchio; the beginning of a name means the shortest one, and this is told."""
    files = robots.example_files()
    assert set(URDFS) <= set(files.values())
    assert robots.find_robot("panda") == aj.load(urdf("panda"))
    assert not capsys.readouterr().err
    assert robots.find_robot("ur5") == aj.load(urdf("ur5_robot"))
    assert "ur5 is ur5_robot of example-robot-data (there are also ur5_gripper" in capsys.readouterr().err
    for path in URDFS[::10]:
        name = next(name for name, file in files.items() if file == path)
        assert robots.find_robot(name) == aj.load(path)


def test_robot_descriptions_that_cannot_be_downloaded(monkeypatch):
    pretended = type(sys)("robot_descriptions")
    pretended.DESCRIPTIONS = {"arm_description": None, "leg_description": None}
    monkeypatch.setitem(sys.modules, "robot_descriptions", pretended)
    line = refused("info", "arm_description")
    assert "arm_description: robot_descriptions downloads it by git, and that failed" in line
    assert "did you mean 'arm_description'" in refused("info", "arn_description")
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)  # it is not installed
    assert "pip install robot_descriptions" in refused("info", "arm_description")


def test_robot_descriptions(monkeypatch, tmp_path):
    aj.to_urdf(PUMA.reframed("joint"), tmp_path / "arm.urdf")
    pretended, module = type(sys)("robot_descriptions"), type(sys)("robot_descriptions.arm_description")
    pretended.DESCRIPTIONS, pretended.__path__ = {"arm_description": None}, []
    module.URDF_PATH, module.PACKAGE_PATH = str(tmp_path / "arm.urdf"), str(tmp_path)
    monkeypatch.setitem(sys.modules, "robot_descriptions", pretended)
    monkeypatch.setitem(sys.modules, "robot_descriptions.arm_description", module)
    assert robots.find_robot("arm_description") == aj.load(tmp_path / "arm.urdf")


def test_paths_of_robots_that_are_wrong(tmp_path, monkeypatch):
    """A folder is called a folder, and files that are offered are in the folder that was asked for."""
    monkeypatch.chdir(tmp_path)
    for name in ("arm.urdf", "package.json", "panda/gripper.urdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in (".", "./", str(tmp_path)):
        assert f"{name} is a folder; a robot is a file; this one has arm.urdf\n" in refused("info", name)
    assert "panda/ is a folder; a robot is a file; this one has gripper.urdf" in refused("info", "panda/")
    assert robots.find_robot("panda").name == "panda"  # a folder does not hide a name
    assert refused("info", "arn.urdf").endswith("arn.urdf: there is no such file; did you mean 'arm.urdf'?\n")
    assert refused("info", "panda/arm.urdf").endswith("panda/arm.urdf: there is no such file\n")
    assert refused("info", "no/arm.urdf").endswith("there is no such file; there is no folder no\n")


def test_completion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").touch()
    (tmp_path / "arm.txt").touch()
    (tmp_path / "models").mkdir()
    assert robots.matching_files("a") == ["arm.urdf"]
    assert robots.matching_files("m") == ["models/"] and robots.matching_files("models/x") == []
    assert "puma560" in robots.robot_names() and "panda" in robots.robot_names()
    words = {"_ADJOINT_COMPLETE": "complete_bash", "COMP_WORDS": "adjoint fk pum", "COMP_CWORD": "2"}
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    from typer.testing import CliRunner

    assert "puma560" in CliRunner().invoke(app, [], prog_name="adjoint").stdout
    monkeypatch.setenv("COMP_WORDS", "adjoint fk puma560 --frame to")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert "tool" in CliRunner().invoke(app, [], prog_name="adjoint").stdout


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5), ("-1e-3", -1e-3), ("30deg", np.pi / 6), ("-90°", -np.pi / 2), ("pi", np.pi), ("2pi", 2 * np.pi),
        ("-pi/2", -np.pi / 2), ("0.5*pi", np.pi / 2), ("3pi/4", 0.75 * np.pi), ("x", None), ("", None), ("1,2", None),
    ],
)  # fmt: skip
def test_numbers_that_are_typed(text, value):
    found = values.parsed_number(text)
    assert found == pytest.approx(value, abs=1e-15) if value is not None else found is None


@pytest.mark.parametrize("text", ["0.1,0.2,0.3", "0.1 0.2 0.3", " [0.1, 0.2, 0.3] ", "0.1,  0.2 0.3"])
def test_lists_that_are_typed(text):
    assert np.array_equal(values.numbers(text, ["a", "b", "c"], "--x"), [0.1, 0.2, 0.3])


def test_several_samples_and_one_number_for_all():
    assert values.numbers("1,2; 3,4;5", ["a", "b"], "--x").tolist() == [[1, 2], [3, 4], [5, 5]]
    with pytest.raises(ArgumentError, match="1 number, but there must be 2"):
        values.numbers("1", ["a", "b"], "--x", alike=False)


def test_values_from_files(tmp_path):
    q = np.random.default_rng(0).normal(size=(5, 6))
    names = [f"q_{name}" for name in PUMA.joint_names]
    np.savez(tmp_path / "many.npz", q=q, other=q[:, :3])
    np.save(tmp_path / "one.npy", q)
    np.savetxt(tmp_path / "bare.csv", q, delimiter=",")
    np.savetxt(tmp_path / "tabs.csv", q, delimiter="\t", header="\t".join(names), comments="")
    rows = np.column_stack([np.arange(5), q[:, ::-1]])
    np.savetxt(tmp_path / "named.csv", rows, delimiter=",", header=",".join(["time", *names[::-1]]), comments="")
    bare = [name.removeprefix("q_") for name in names]
    np.savetxt(tmp_path / "joints.csv", q, delimiter=";", header=";".join(bare), comments="")
    degrees = [f"{name} [deg]" for name in names]
    np.savetxt(tmp_path / "degrees.csv", np.degrees(q), delimiter=",", header=",".join(degrees), comments="")
    for name in ("many.npz:q", "many.npz", "one.npy", "bare.csv", "tabs.csv", "named.csv", "joints.csv", "degrees.csv"):
        close(values.configurations(PUMA, str(tmp_path / name)), q, 1e-14)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "", "there are no numbers"),
        ("a.csv", "1,2\n3,4\n", "2 columns, but there must be 6"),
        ("a.csv", "q_joint1,q_joint2\n1,2\n", "no column q_joint3"),
        ("a.csv", "1,2,3,4,5,6\n1,2,x,4,5,6\n", "line 2 has no 6 numbers"),
        ("a.csv", ",".join(f"q_joint{k} [ft]" for k in range(1, 7)) + "\n1,2,3,4,5,6\n", "unit [ft]"),
        ("a.csv", "\udcff1,2,3,4,5,6\n", "a.csv is no text in UTF-8"),
        ("a.csv", "x" * 200_000, "field larger than field limit"),
        ("a.npy", "hello", "a.npy"),
        ("a.npy", "", "a.npy"),
        ("a.npz", "hello", "not a .npz file"),
    ],
)
def test_files_that_are_wrong(name, content, said, tmp_path):
    (tmp_path / name).write_text(content, encoding="utf-8", errors="surrogateescape")
    assert said in refused("fk", "puma560", "--q", tmp_path / name)


def test_arrays_that_are_wrong(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 5)), y=np.zeros(6))
    assert "no array 'q'" in refused("fk", "puma560", "--q", tmp_path / "a.npz")
    assert "shape (3, 5)" in refused("fk", "puma560", "--q", f"{tmp_path / 'a.npz'}:x")


def test_standard_input_serves_several_options():
    names = [f"{field}_{name}" for field in "qva" for name in ("joint1", "joint2")]
    rows = np.random.default_rng(1).normal(size=(3, 6))
    text = "\n".join([",".join(names), *(",".join(map(repr, row.tolist())) for row in rows)])
    found = as_json("torque", "planar:2", "--q", "-", "--v", "-", "--a", "-", input=text)
    close(found["tau"], aj.inverse_dynamics(aj.robots.planar(2), rows[:, :2], rows[:, 2:4], rows[:, 4:]), 1e-12)


def test_words_for_configurations():
    assert np.array_equal(values.configurations(PUMA, None), aj.neutral(PUMA))
    assert np.array_equal(values.configurations(PUMA, "random:7"), aj.random_configuration(PUMA, rng=7))
    free = robots.find_robot(str(urdf("go2")), base="free")
    with pytest.raises(ArgumentError, match="1 number, "):
        values.configurations(free, "0")


def test_degrees_are_of_joints_that_turn():
    arm = aj.robots.stanford()
    q = values.configurations(arm, "90,0,0.5,0,0,180", degrees=True)
    close(q, [np.pi / 2, 0, 0.5, 0, 0, np.pi], 1e-15)
    assert values.turning(arm, "v").tolist() == [True, True, False, True, True, True]


def test_a_number_with_a_unit_keeps_it(tmp_path):
    arm, q = aj.robots.stanford(), [np.pi / 2, np.pi / 6, 0.5, np.pi / 4, 0, np.pi]
    close(values.configurations(arm, "90,30deg,0.5,pi/4,0,180°", degrees=True), q, 1e-15)
    close(values.rates(arm, "90,30deg,0.5,pi/4,0,180", "--v", degrees=True), q, 1e-15)
    names = [f"q_{name}" for name in arm.joint_names]
    (tmp_path / "q.csv").write_text(
        f"{names[0]} [deg],{names[1]} [rad]," + ",".join(names[2:]) + "\n90,pi/6,0.5,45,0,180"
    )
    close(values.configurations(arm, str(tmp_path / "q.csv"), degrees=True), [q], 1e-15)
    np.save(tmp_path / "q.npy", [90, 30, 0.5, 45, 0, 180])
    close(values.configurations(arm, str(tmp_path / "q.npy"), degrees=True), [q], 1e-15)
    wanted = reaching.pose_matrices("0.4,0.15,0.3,0,pi/4,0.5", False)
    (tmp_path / "T.csv").write_text("x,y,z,roll,pitch,yaw [rad]\n0.4,0.15,0.3,0,45deg,0.5")
    close(reaching.pose_matrices(f"0.4,0.15,0.3,0,45deg,{np.degrees(0.5)}", True), wanted, 1e-15)
    close(reaching.pose_matrices("0.4,0.15,0.3,0,45,28.64788975654116", True), wanted, 1e-15)
    close(reaching.pose_matrices(str(tmp_path / "T.csv"), True)[0], wanted, 1e-15)


@pytest.mark.parametrize("bad", ["nan", "inf", "-inf"])
def test_numbers_that_are_not_finite(bad, tmp_path):
    row = f"0,{bad},0,0,0,0"
    for words in (["fk"], ["jacobian"], ["torque"]):
        assert f"--q: q_joint2 is {bad};" in refused(*words, "puma560", "--q", row)
    assert f"--v: v_joint2 is {bad};" in refused("torque", "puma560", "--v", row)
    assert f"--a: a_joint2 is {bad} in row 2" in refused("torque", "puma560", "--a", f"0;{row}")
    assert f"--start: q_joint2 is {bad};" in refused("simulate", "puma560", "--start", row)
    assert f"--near: q_joint2 is {bad};" in refused("ik", "puma560", "--pose", "0.4,0.1,0.3,0,0,0", "--near", row)
    assert f"--pose: y is {bad};" in refused("ik", "puma560", "--pose", row)
    (tmp_path / "q.csv").write_text(f"0,0,0,0,0,0\n{row}\n")
    assert f"q.csv: q_joint2 is {bad} in row 2" in refused("fk", "puma560", "--q", tmp_path / "q.csv")
    assert f"q.csv: y is {bad} in row 2" in refused("ik", "puma560", "--pose", tmp_path / "q.csv")
    np.savez(tmp_path / "q.npz", q=np.full((2, 6), float(bad)))
    assert f"q.npz: q_joint1 is {bad} in row 1" in refused("fk", "puma560", "--q", tmp_path / "q.npz")


# --- tables of robots -------------------------------------------------------------------------------------------------

SERIAL = [aj.robots.puma560(), aj.robots.stanford(), aj.robots.scara(), aj.robots.park3r(), aj.robots.planar(3)]


@pytest.mark.slow
@pytest.mark.parametrize("robot", SERIAL, ids=lambda robot: robot.name)
@pytest.mark.parametrize("write", [tables.as_json, tables.as_toml])
@pytest.mark.parametrize("form", ["dh", "space", "body"])
def test_tables_keep_kinematics_and_dynamics(robot, write, form):
    content = tables.dh_table(robot, "tool") if form == "dh" else tables.poe_table(robot, "tool", form)
    again = tables.robot_of_table(tables.parsed_table(write(content), "x"), "x")
    q, (v, a) = aj.random_configuration(robot, 20, rng=0), np.random.default_rng(0).normal(size=(2, 20, robot.nv))
    close(aj.forward_kinematics(again, q, "tool"), aj.forward_kinematics(robot, q, "tool"), 1e-12)
    close(aj.inverse_dynamics(again, q, v, a), aj.inverse_dynamics(robot, q, v, a), 1e-9)
    for field in ("lower", "upper", "velocity_limit", "effort_limit", "armature", "damping", "gravity"):
        assert np.array_equal(getattr(again, field), getattr(robot, field)), field


def test_a_table_written_by_hand(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text('format = "dh"\ntable = [[0, 0.4, 0, -1.5707963267948966], [0, 0, 0.3, 0]]\nupper = [inf, 2]\n')
    arm = robots.find_robot(str(path))
    assert arm.nv == 2 and arm.upper.tolist() == [np.inf, 2.0]
    path.write_text(
        '{"format": "poe", "screws": [[0, 0, 1, 0, 0, 0]], "home": [[1,0,0,1],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}'
    )
    close(aj.forward_kinematics(robots.find_robot(str(path)), [np.pi / 2], "tool")[:3, 3], [0, 1, 0], 1e-15)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "format is None"),
        ({"format": "dh"}, "'table' is missing"),
        ({"format": "dh", "table": [[0, 0, 0, 0]], "joint": "R"}, "did you mean 'joints'"),
        ({"format": "dh", "table": [[0, 0, 0]]}, "table"),
        ({"format": "dh", "table": [[0, 0, 0, "x"]]}, "table"),
        ({"format": "poe", "screws": [[0, 0, 2, 0, 0, 0]], "home": np.eye(4).tolist()}, "screw"),
        ({"format": "dh", "table": [[0, 0, 0, 0]], "damping": [1, 2]}, "damping"),
    ],
)
def test_tables_that_are_wrong(content, said, tmp_path):
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(content))
    assert said in refused("info", path)
    with pytest.raises(ModelError, match=r"arm\.json: "):
        robots.find_robot(str(path))


@pytest.mark.slow
def test_tables_of_robots_that_are_no_chain(tmp_path):
    robot = robots.find_robot("panda")
    said = adjoint("convert", "panda", tmp_path / "arm.dh.json", "--frame", "panda_link7").stderr
    assert "masses are left out" in said
    again = robots.find_robot(str(tmp_path / "arm.dh.json"))
    q = aj.random_configuration(robot, rng=0)
    close(aj.forward_kinematics(again, q[:7], "tool"), aj.forward_kinematics(robot, q, "panda_link7"), 1e-9)


# --- what is printed --------------------------------------------------------------------------------------------------


def test_tables_fit_a_narrow_terminal(monkeypatch, capsys):
    """Columns that do not fit come below with the first column again; no digit is cut."""
    header, rows = ["name", *(f"column{k}" for k in range(9))], [["row", *(k + 0.123456 for k in range(9))]]
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setattr(output, "print_line", lambda text="", style=None: print(text))
    output.print_table(header, rows)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60 and sum("row" in line for line in lines) == 2
    assert all(f"{k}.12346" in "".join(lines) for k in range(1, 9))
    monkeypatch.setattr(output, "is_terminal", lambda: False)
    output.print_table(header, rows)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_empty_columns_are_left_out(capsys):
    output.print_table(["a", "b", "c"], [["x", np.inf, 1.0], ["y", np.inf, 2.5]])
    assert capsys.readouterr().out == "a    c\nx    1\ny  2.5\n"


def test_json_has_no_infinity(capsys):
    output.print_json({"a": np.array([1.0, np.inf]), "b": (np.nan, 2), "c": Path("x"), "d": np.float64(3)})
    assert json.loads(capsys.readouterr().out) == {"a": [1.0, None], "b": [None, 2], "c": "x", "d": 3.0}


def test_files_appear_whole_or_not_at_all(tmp_path):
    target = tmp_path / "new" / "x.csv"
    with pytest.raises(ValueError):
        output.write_columns(str(target), {"a": [1.0, 2.0], "b": ["x", "y"]})
    assert list(target.parent.iterdir()) == []
    output.write_columns(str(target), {"a": [1.0, 0.1], "b": [3.0, 4.0]})
    assert target.read_text() == "a,b\n1,3\n0.10000000000000001,4\n"
