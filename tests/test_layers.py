"""The layers of the library: a file imports only lower layers or its own folder, and `import adjoint` stays light."""

import ast
import importlib
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "adjoint"
FILES = sorted(PACKAGE.rglob("*.py"))

TABLE = re.findall(r"^\| \d+ \| `(\w+)` \|", (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
HEIGHT = {name: k for k, name in enumerate(TABLE)}  # of each folder or module directly under `adjoint`


def unit(module: str) -> str:
    """The folder or module directly under `adjoint` that a dotted name belongs to."""
    return [*module.split("."), "__init__"][1]


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


def imports(source: str, module: str, is_package: bool) -> set[str]:
    """Dotted names of this package's modules imported anywhere in `source`, at top level or inside functions."""
    base = module.split(".") if is_package else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(base[: len(base) - node.level + 1]) if node.level else ""
            origin = ".".join(filter(None, [above, node.module]))
            found |= {f"{origin}.{alias.name}" for alias in node.names} if origin == "adjoint" else {origin}
    return {name for name in found if name.split(".")[0] == "adjoint"}


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    here = unit(module)
    bad = []
    for name in sorted(imports(source, module, is_package)):
        there = unit(name)
        if there not in HEIGHT:
            bad.append(f"{module} imports {name}, which is not in the table of CONTRIBUTING.md: {', '.join(TABLE)}")
        elif HEIGHT[there] > HEIGHT[here]:
            bad.append(f"{module} imports {name}, which stands below `{here}` in the table of CONTRIBUTING.md")
    return bad


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_file_imports_only_lower_layers(path):
    module = name_of(path)
    assert unit(module) in HEIGHT, f"{module} is not in the table of CONTRIBUTING.md"
    is_package = path.name == "__init__.py" and path.parent != PACKAGE
    assert violations(path.read_text(), module, is_package) == []


def test_the_table_is_complete():
    there = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()} - {"__pycache__", "py"}
    assert there - {"py.typed"} == set(TABLE), "each folder and file at the top has a row in CONTRIBUTING.md"
    assert len(set(TABLE)) == len(TABLE)


COMPILER = ("graph", "codegen", "machine", "front", "transform")  # each folder uses only those before it


@pytest.mark.parametrize("path", sorted((PACKAGE / "compile").rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_folders_of_the_compiler_have_an_order(path):
    height = {f"adjoint.compile.{name}": k for k, name in enumerate(COMPILER)}
    here = height.get(".".join(name_of(path).split(".")[:3]), len(COMPILER))
    for name in modules_imported(path):
        there = height.get(".".join(name.split(".")[:3]), len(COMPILER) if ".compile" in name else -1)
        assert there <= here, f"{name_of(path)} imports {name}"


def test_no_module_is_hidden_by_a_function_of_its_name():
    """`adjoint.x.y` is a module wherever there is a file y, so that `from adjoint.x import y` means one thing."""
    for name in MODULES:
        parent, _, last = name.rpartition(".")
        if parent and last != "__init__":
            value = getattr(importlib.import_module(parent), last, None)
            assert value is None or isinstance(value, types.ModuleType), name


@pytest.mark.parametrize(
    ("source", "module", "allowed"),
    [
        ("from ..compile import kernel", "adjoint.lie.se3", True),
        ("from . import so3", "adjoint.lie.se3", True),
        ("from ...lie import se3", "adjoint.compile.graph.tracing", False),
        ("def f():\n    from adjoint import lie", "adjoint.compile.graph.tracing", False),
        ("import adjoint.model", "adjoint.compile.graph.tracing", False),
        ("from adjoint.nonsense import x", "adjoint.lie.se3", False),
        ("from ...errors import AdjointError", "adjoint.compile.graph.tracing", True),
        ("import numpy, os.path", "adjoint.errors", True),
    ],
)
def test_the_walker_sees_what_it_should(source, module, allowed):
    assert (violations(source, module) == []) is allowed


# --- no cycles --------------------------------------------------------------------------------------------------------

MODULES = {name_of(path): path for path in FILES}


def statements(tree: ast.AST):
    """All nodes of a module but those under `if TYPE_CHECKING:`, which never run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from (found for other in node.orelse for found in [other, *statements(other)])
        else:
            yield node
            yield from statements(node)


def modules_imported(path: Path, source: str | None = None) -> set[str]:
    """Our modules whose names this file imports, at its top or inside a function."""
    base, found = path.relative_to(PACKAGE.parent).parent.parts, set()
    for node in statements(ast.parse(path.read_text() if source is None else source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = base[: len(base) - node.level + 1] if node.level else ()
            origin = ".".join([*above, *filter(None, [node.module])])
            inner = {f"{origin}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else origin for name in inner}
    return {name for name in found if name in MODULES} - {name_of(path)}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that reach each other (strongly connected components of two or more)."""
    reached = {name: set(graph[name]) for name in graph}
    for middle in graph:
        for name in graph:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    groups = {frozenset(a for a in graph if a in reached[b] and b in reached[a]) for b in graph}
    return [set(group) for group in groups if group]


@pytest.mark.slow
def test_no_modules_import_each_other():
    """Imports inside functions count: what a newcomer reads first must not need what comes later."""
    found = cycles({name: modules_imported(path) for name, path in MODULES.items()})
    assert found == []


def test_the_search_finds_cycles():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert cycles({"a": {"b"}, "b": set()}) == []
    lazy = "def f():\n    from .robot import Robot\n"
    only_types = "if TYPE_CHECKING:\n    from .robot import Robot\nelse:\n    from . import joints\n"
    path = PACKAGE / "model" / "parts.py"
    assert modules_imported(path, lazy) == {"adjoint.model.robot"}
    assert modules_imported(path, only_types) == {"adjoint.model.joints"}


# --- private names ----------------------------------------------------------------------------------------------------


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def borrowed(path: Path, source: str | None = None) -> list[str]:
    """Private names of other modules of ours that a file imports, or reads as `module._name`."""
    tree = ast.parse(path.read_text() if source is None else source)
    base, ours, found = path.relative_to(PACKAGE.parent).parent.parts, set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = base[: len(base) - node.level + 1] if node.level else ()
            origin = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names if origin.split(".")[0] == PACKAGE.name else ():
                ours |= {alias.asname or alias.name} if f"{origin}.{alias.name}" in MODULES else set()
                found += [f"{origin}.{alias.name}"] if is_private(alias.name) else []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and is_private(node.attr):
            found += [f"{node.value.id}.{node.attr}"] if node.value.id in ours else []
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_private_names_stay_in_their_file(path):
    assert borrowed(path) == []


def test_the_walker_sees_private_names():
    path = PACKAGE / "lie" / "se3.py"
    assert borrowed(path, "from .so3 import _quat") == ["adjoint.lie.so3._quat"]
    assert borrowed(path, "from . import so3\nso3._quat(R)") == ["so3._quat"]
    assert borrowed(path, "from .. import lie\nfrom lxml import etree\netree._Element, pair._replace, _own") == []


# --- the tests' own house ---------------------------------------------------------------------------------------------

TESTS = Path(__file__).parent


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda p: str(p.relative_to(TESTS)))
def test_what_tests_share_is_in_support(path):
    """No file imports from a file of tests: what two of them use is in `tests/support`, and there are no tests."""
    tree = ast.parse(path.read_text())
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert [name for name in named if any(part.startswith("test_") for part in name.split("."))] == []
    if path.parent.name == "support":
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert [name for name in names if name.startswith("test_")] == []


# --- what is loaded ---------------------------------------------------------------------------------------------------


def test_import_is_light():
    heavy = ("casadi", "llvmlite", "matplotlib", "scipy", "sympy")
    script = f"import sys, adjoint; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_dynamics_load_nothing_slow():
    """A later process loads machine code from the disk and calls it; SciPy alone would take longer than all of that."""
    script = "import sys, adjoint; adjoint.inverse_dynamics, adjoint.linearize; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
