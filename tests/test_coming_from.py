"""The tables for people who come from other libraries: the right column runs, and gives what the left column gives."""

import inspect
import re
import tempfile
from pathlib import Path

import modern_robotics as mr
import numpy as np
import pinocchio as pin
import pytest

import adjoint as aj
from adjoint.lie import se3, so3

PAGES = Path(__file__).parents[1] / "docs" / "coming_from"
SWAPPED = [3, 4, 5, 0, 1, 2]  # linear part first


def rows(page: str) -> list[tuple[str, str, str]]:
    """The rows of the table below the heading "The table": what they call it, what we call it, and a remark."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8").partition("## The table")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [(left, right.strip("`"), (rest or [""])[0].strip(" |")) for left, right, *rest in found]


def cases(*pages: str) -> list:
    found = [pytest.param(page, *row, id=f"{page}: {row[1][:50]}") for page in pages for row in rows(page)]
    assert len(found) > 20 * len(pages)
    return found


class Names(dict):
    """What the tables call by name; a robot is loaded once for all rows."""

    def __init__(self):
        rng = np.random.default_rng(0)
        robot = aj.robots.puma560().reframed("joint").replace(damping=0.0, friction=0.0, armature=0.0)
        folder = Path(tempfile.mkdtemp())
        path = str(folder / "puma.urdf")
        aj.to_urdf(robot, path)
        q, v, a, tau = rng.uniform(-1, 1, (4, 6))
        V = rng.uniform(-1, 1, 6)
        more = {"Q": rng.uniform(-1, 1, (5, 6)), "T": se3.exp(V), "T_goal": se3.exp(V[::-1]), "V": V}
        box = aj.sensing.Box([0.1, 0.1, 1.0], T_world_solid=[0.9, 0.6, 0.0])
        more["model"] = aj.collision.collision_model(robot, [box])
        super().__init__(aj=aj, np=np, se3=se3, so3=so3, robot=robot, path=path, q=q, v=v, a=a, tau=tau, **more)


@pytest.fixture(scope="module")
def names():
    return Names()


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "theirs", "ours", "remark"), cases("robotics_toolbox", "drake", "mujoco"))
def test_the_right_column_runs(names, page, theirs, ours, remark):
    if ours.startswith(("aj.view(", "aj.plot(")):  # their own tests open browsers and draw
        assert callable(getattr(aj, ours[3:7]))
        return
    more = {"robot": aj.robots.stanford()} if page == "mujoco" else {}  # MuJoCo refuses a PUMA's published inertias
    value = eval(ours, names | more)
    assert value is not None
    for array in value if isinstance(value, tuple) else (value,):
        if isinstance(array, np.ndarray):
            assert np.isfinite(array).all()


@pytest.mark.parametrize(("page", "theirs", "ours", "remark"), cases("mujoco"))
def test_names_of_mujoco_exist(page, theirs, ours, remark):
    import mujoco
    import mujoco.rollout
    import mujoco.viewer  # noqa: F401

    for name in re.findall(r"mujoco\.([\w.]+)", theirs):
        assert inspect.getattr_static(eval(f"mujoco.{name}".rpartition(".")[0]), name.rpartition(".")[2])


def evaluated(code: str, names: dict):
    """The value of the last of several statements, separated by semicolons."""
    *before, last = code.split("; ")
    for statement in before:
        exec(statement, names)
    return eval(last, names)


# --- Pinocchio --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pinocchio_names(names):
    model = pin.buildModelFromUrdf(names["path"])
    theirs = {"data": model.createData(), "tool": model.getFrameId("tool"), "pool": pin.ModelPool(model, 2)}
    return {**names, "pin": pin, "model": model, **theirs}


def in_their_order(value, ours: str, remark: str):
    """Our result as Pinocchio orders it."""
    if remark == "rows swapped":
        return value[SWAPPED]
    if remark == "samples are rows":
        return value.T
    if remark == "upper triangle":
        return np.triu(value)
    if remark == "order of the ten parameters":  # m, h, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz there
        return value.reshape(6, -1, 10)[..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]].reshape(6, -1)
    return value


@pytest.mark.slow
@pytest.mark.parametrize(("page", "theirs", "ours", "remark"), cases("pinocchio"))
def test_both_columns_of_pinocchio_agree(pinocchio_names, page, theirs, ours, remark):
    here, there = dict(pinocchio_names), dict(pinocchio_names)
    if remark == "order of V":
        there["V"] = here["V"][SWAPPED]
    if remark == "samples are rows":
        there["Q"] = np.asfortranarray(here["Q"].T)
    value, expected = eval(ours, here), evaluated(theirs.strip("`"), there)
    if isinstance(value, aj.Robot):
        assert (value.nq, value.nv) == (expected.nq, expected.nv)
        assert value.mass == pytest.approx(sum(body.mass for body in expected.inertias[1:]))
    elif remark == "the numbers":
        assert value.shape == expected.shape
    else:
        if "computeMinverse" in theirs:
            expected = np.triu(expected)
        np.testing.assert_allclose(in_their_order(value, ours, remark), expected, rtol=1e-9, atol=1e-9)


# --- Modern Robotics --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book_names():
    """The names that the page's own first block makes, and those that its table uses besides."""
    text = (PAGES / "modern_robotics.md").read_text(encoding="utf-8")
    found: dict = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], found)
    rng = np.random.default_rng(1)
    V, tau = rng.uniform(-1, 1, (2, 6))
    found |= {"so3": so3, "V": V, "tau": tau, "T": se3.exp(V), "Q": rng.uniform(-1, 1, (5, 6)), "mr": mr}
    found["T_goal"] = aj.forward_kinematics(found["robot"], found["q"], "tool")
    found["Blist"] = se3.Ad(se3.inverse(found["M"])) @ found["Slist"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("page", "theirs", "ours", "remark"), cases("modern_robotics"))
def test_both_columns_of_modern_robotics_agree(book_names, page, theirs, ours, remark):
    value, expected = eval(ours, dict(book_names)), np.array(eval(theirs.strip("`"), dict(book_names)))
    loose = 1e-6 if "find_configuration" in ours else 1e-9  # both stop when their error is small enough
    np.testing.assert_allclose(value, expected, rtol=0, atol=loose)


def test_names_of_the_page_of_opencv_are_those_of_vision():
    """Every function in the right column of its table is offered by `aj.vision`, and the page names many."""
    page = (Path(__file__).parents[1] / "docs/coming_from/opencv.md").read_text(encoding="utf-8")
    table = page.partition("## Functions")[2]
    ours = re.findall(r"`(\w+)", " ".join(line.split("|")[2] for line in table.splitlines() if line.startswith("|")))
    missing = [name for name in ours if name != "aj" and not hasattr(aj.vision, name)]
    assert len(ours) > 40 and not missing
