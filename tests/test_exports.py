"""Every exported name exists and is documented; the code in the README and the docs runs."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import textwrap
from operator import attrgetter
from pathlib import Path

import pytest
from support.doc_hooks import DOCS, hook

import adjoint

ROOT = Path(__file__).parents[1]
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(adjoint.__path__, "adjoint.")
    if not any(part.startswith("_") for part in name.split("."))
]


def exports(name: str) -> list[str]:
    """`__all__`, or the public names a module defines."""
    module = importlib.import_module(name)
    defined = [n for n, v in vars(module).items() if getattr(v, "__module__", None) == name and not n.startswith("_")]
    return getattr(module, "__all__", defined)


EXPORTS = [(name, export) for name in ["adjoint", *MODULES] for export in exports(name)]
# Tutorials run as notebooks, in test_notebooks.py
TEXTS = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if p.parent != DOCS / "tutorials")]
BLOCK = re.compile(r"^( *)```python\b[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
BLOCKS = {
    page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix(): [
        textwrap.dedent(code) for _, code in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]
    for page in TEXTS
}
PAGES = {name: "\n".join(blocks) for name, blocks in BLOCKS.items() if blocks}


@pytest.mark.parametrize("name", ["adjoint", *MODULES])
def test_module_is_documented(name):
    assert importlib.import_module(name).__doc__, f"{name} has no docstring"
    assert len(set(exports(name))) == len(exports(name)), f"{name}.__all__ repeats a name"


@pytest.mark.parametrize(("name", "export"), EXPORTS, ids=lambda x: x)
def test_export_exists_and_is_documented(name, export):
    value = getattr(importlib.import_module(name), export)
    if getattr(value, "__module__", "").startswith("adjoint") or inspect.ismodule(value):  # not Python's own
        assert (value.__doc__ or "").strip(), f"{name}.{export} has no docstring"
        inherited = [base.__doc__ for base in type(value).__mro__[1:]]
        assert value.__doc__ not in inherited, f"{name}.{export} only shows the docstring of its class"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        adjoint.no_such_name  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_pages_have_code():
    assert {"README.md", "index.md", "compiler.md", "lie.md"} <= PAGES.keys()


@pytest.mark.parametrize("page", PAGES)
def test_names_on_the_page_exist(page):
    """`aj.name` and `from adjoint.x import name` are real."""
    for node in ast.walk(ast.parse(PAGES[page])):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("aj", "adjoint"):
            assert hasattr(adjoint, node.attr), f"adjoint.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "adjoint":
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                assert hasattr(module, alias.name), f"{node.module}.{alias.name}"


@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page, tmp_path, monkeypatch):
    """The Python blocks of a page run in order, as one script."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.py"  # a real file: functions defined in it have a source
    path.write_text(PAGES[page], encoding="utf-8")
    exec(compile(PAGES[page], str(path), "exec"), {"__name__": "page"})


def test_all_that_is_offered_is_in_the_reference():
    """Every name of the door, of its modules and of the modules they offer is on one page, as users type it."""
    pages = hook("reference_pages")
    shown = [entry for page in pages.PAGES for entry in pages.contents()[page]]
    assert len({entry.path for entry in shown}) == len(shown)
    values = {id(entry.value) for entry in shown}
    typed = {entry.typed for entry in shown}
    assert {f"aj.{name}" for name in adjoint.__all__} <= typed
    modules = [getattr(adjoint, name) for name in adjoint._MODULES]
    while modules:
        module = modules.pop()
        for value in (getattr(module, key) for key in module.__all__):
            if inspect.ismodule(value):
                modules.append(value)
            else:
                assert id(value) in values, f"{module.__name__}: {value}"
    for entry in shown:
        assert attrgetter(entry.typed.partition(".")[2])(adjoint) is entry.value, entry.typed
        assert pages.one_line(entry), entry.typed


@pytest.mark.slow
def test_pages_of_the_reference_show_their_names():
    pages = hook("reference_pages")
    for page in pages.PAGES:
        text = pages.text(page)
        for entry in pages.contents()[page]:
            assert f"| [`{entry.typed}`](#{entry.path}) |" in text and f"\n::: {entry.path}\n" in text


def test_a_module_that_nobody_planned_for_gets_a_page(monkeypatch):
    pages = hook("reference_pages")
    monkeypatch.delitem(pages._PLANNED, "geometry")
    assert pages.planned()["geometry"].modules == "geometry"


OPENED = [
    "lie.so3", "lie.se3", "lie.inertia", "kinematics.poe", "dynamics.ploen_park", "dynamics.lagrangian",
    "dynamics.textbook", "fixman.dh_links", "fixman.paper", "fixman.point_masses", "model.catalog",
]  # fmt: skip
"""Modules inside the topics that users open too: an editor completes their public names and nothing else."""


def test_the_door_and_what_editors_see_of_it_are_the_same():
    """The table of names is what the imports for type checkers say, and every name is where the table says."""
    tree = ast.parse(Path(adjoint.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {a.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert {name: home for name, home in seen.items() if home} == adjoint._HOME_OF
    assert tuple(sorted(name for name, home in seen.items() if home is None)) == adjoint._MODULES
    assert dir(adjoint) == sorted([*adjoint.__all__, *adjoint._MODULES])
    assert len(adjoint.__all__) <= 80
    for name in adjoint._MODULES:
        module = getattr(adjoint, name)
        assert dir(module) == sorted(module.__all__), name
    for name in OPENED:
        module = importlib.import_module(f"adjoint.{name}")
        assert dir(module) == sorted(module.__all__), name


@pytest.mark.parametrize("name", ["collision", "planning", "program", "sensing", "vision", "world"])
def test_doors_that_load_late_are_the_same_for_editors(name):
    """The table of homes is what the imports for type checkers say, and what the folders and files offer."""
    module = getattr(adjoint, name)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {a.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert seen == module._HOME_OF
    for home, names in module._HOMES.items():
        assert sorted(importlib.import_module(f"adjoint.{name}.{home}").__all__) == sorted(names.split()), home
        assert inspect.ismodule(getattr(module, home))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


def test_names_of_peers_are_answered_by_vision_too():
    with pytest.raises(AttributeError, match=r"what OpenCV calls solvePnP is adjoint.vision.pose_from_points\("):
        adjoint.vision.solvePnP  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="did you mean equalise_histogram"):
        adjoint.vision.equalize_histogram  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="did you mean lidar_scan"):
        adjoint.sensing.lidar  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    "name",
    [
        "rnea", "crba", "fkine", "mj_step", "computeJointJacobians", "geodesic", "lod", "rollout", "Simulator", "fdyn",
        "AdvanceTo", "stepSimulation", "xfrc_applied", "mj_contactForce", "constraintDynamics", "contact", "VectorEnv",
        "impedance", "MeshcatVisualizer", "teach", "page",
    ],
)  # fmt: skip
def test_names_of_peers_and_of_topics_are_answered(name):
    simulate = r"adjoint.simulate\(robot, controller, q=q, v=v, duration=duration, dt=dt\)"
    ours = {
        "rnea": "Pinocchio calls rnea is adjoint.inverse_dynamics", "crba": "adjoint.mass_matrix",
        "fkine": "adjoint.forward_kinematics", "mj_step": f"MuJoCo calls mj_step is {simulate}",
        "computeJointJacobians": "adjoint.jacobian", "geodesic": "it is adjoint.geometry.geodesic",
        "lod": "did you mean load", "rollout": simulate, "Simulator": f"Drake calls Simulator is {simulate}",
        "fdyn": f"the Robotics Toolbox calls fdyn is {simulate}", "AdvanceTo": "resume=run", "stepSimulation": simulate,
        "xfrc_applied": r"adjoint.simulation.applied\(frame, wrench\)", "mj_contactForce": r"run.wrench\(frame\)",
        "constraintDynamics": "adjoint.dynamics.constrained_forward_dynamics",
        "contact": "it is adjoint.simulation.contact", "VectorEnv": "it is adjoint.simulation.VectorEnv",
        "impedance": "it is adjoint.control.impedance", "MeshcatVisualizer": r"adjoint.view\(robot\)",
        "teach": r"the Robotics Toolbox calls teach is adjoint.view\(robot\)", "page": "it is adjoint.viewer.page",
    }  # fmt: skip
    with pytest.raises(AttributeError, match=ours[name]):
        getattr(adjoint, name)


def test_what_is_said_of_names_elsewhere_is_true():
    """Every function that the table of other names offers exists, and takes the arguments it is shown with."""
    from adjoint.other_names import PEERS

    for _, ours in PEERS.values():
        for name, given in re.findall(r"adjoint\.([\w.]*\w)(?:\(([^()]*)\))?", ours):
            value = attrgetter(name)(adjoint)
            if given and hasattr(value, "arguments"):
                names = [x.partition("=")[0].strip() for x in given.split(",")]
                known = [p.name for p in value.parameters]
                assert all(n in known for n in names if n.isidentifier()), f"{name}: {names}, {known}"


WITHOUT = """
import inspect, pathlib, pydoc, sys, tempfile

MISSING = ("sympy", "mujoco", "gemmi", "pyarrow", "matplotlib", "casadi", "mpmath", "cv2", "skimage")

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in MISSING:
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Blocked())
import numpy as np
import adjoint as aj
from adjoint import *
from adjoint.errors import MissingPackageError

assert hasattr(aj, "equations") and not hasattr(aj, "nothing") and not hasattr(aj.equations, "nothing")
found = dict(inspect.getmembers(aj))
assert set(aj.__all__) <= found.keys()
modules = [aj, *(value for value in found.values() if inspect.ismodule(value))]
for module in modules:
    inspect.getmembers(module)
for thing in (aj, aj.equations, aj.equations):
    pydoc.render_doc(thing)

folder, robot = pathlib.Path(tempfile.mkdtemp()), aj.robots.two_link()
(folder / "m.xml").write_text("<mujoco/>")
(folder / "m.parquet").write_bytes(b"")
calls = {
    "sympy": lambda: aj.equations.equations_of_motion(robot),
    "adjoint[sym]": lambda: aj.equations.Equations,
    "mujoco": lambda: aj.load(folder / "m.xml"),
    "gemmi": lambda: aj.polymer.read(folder / "m.pdb"),
    "pyarrow": lambda: aj.identification.read_samples(folder / "m.parquet", robot),
    "casadi": lambda: aj.optimal_motion(robot, np.zeros(2), np.ones(2), 1.0),
    "adjoint[casadi]": lambda: aj.mass_matrix.bind(robot).symbolic(),
    "mpmath": lambda: aj.check_grads(aj.lie.so3.exp, np.zeros(3)),
    "cv2": lambda: aj.vision.find_markers(np.zeros((9, 9), np.uint8)),
    "adjoint[vision]": lambda: aj.vision.chessboard_corners(np.zeros((9, 9), np.uint8), (3, 4)),
    "skimage": lambda: aj.vision.medial_axis(np.ones((5, 5), bool)),
    "matplotlib": lambda: aj.spline_motion(robot, np.zeros(2), np.ones(2), 1.0).plot(folder / "m.png"),
}
for package, call in calls.items():
    try:
        call()
    except MissingPackageError as error:
        assert package in str(error) and "pip install 'adjoint[" in str(error), error
    else:
        raise AssertionError(package)
print("fine")
"""


@pytest.mark.slow
def test_a_core_install_can_be_looked_at():
    """Without the optional packages all names are there, and say what is missing when they are used."""
    ran = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == "fine", ran.stderr
