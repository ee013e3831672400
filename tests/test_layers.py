"""The layers of the library: a file imports only lower layers or its own folder, and `import adjoint` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "adjoint"
FILES = sorted(PACKAGE.rglob("*.py"))

# Top-level folder or module -> layer. A new one must be entered here.
LAYERS = {
    "errors": 0,
    "extras": 0,
    "folders": 0,
    "lazy": 0,
    "compile": 1,
    "lie": 1,
    "model": 2,
    "robots": 3,
    "sweep": 2,
    "rolled": 2,
    "kinematics": 3,
    "dynamics": 3,
    "geometry": 3,
    "fixman": 3,
    "equations": 4,
    "identification": 4,
    "polymer": 4,
    "trajectory": 4,
    "other_names": 6,
    "__init__": 7,
}
# (importer, imported) of equal height
SAME_LAYER = {
    ("extras", "errors"),
    ("lie", "compile"),
    ("sweep", "model"),
    ("sweep", "rolled"),
    ("rolled", "model"),
    ("dynamics", "kinematics"),
}
SAME_LAYER |= {("geometry", "dynamics"), ("geometry", "kinematics"), ("fixman", "dynamics"), ("fixman", "kinematics")}


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
        if there not in LAYERS:
            bad.append(f"{module} imports {name}, which has no layer; choose one of {', '.join(LAYERS)}")
        elif here != there and LAYERS[there] >= LAYERS[here] and (here, there) not in SAME_LAYER:
            bad.append(f"{module} (layer {LAYERS[here]}) imports {name} (layer {LAYERS[there]})")
    return bad


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_file_imports_only_lower_layers(path):
    module = name_of(path)
    assert unit(module) in LAYERS, f"{module} has no layer"
    is_package = path.name == "__init__.py" and path.parent != PACKAGE
    assert violations(path.read_text(), module, is_package) == []


@pytest.mark.parametrize(
    ("source", "module", "allowed"),
    [
        ("from ..compile import kernel", "adjoint.lie.se3", True),
        ("from . import so3", "adjoint.lie.se3", True),
        ("from ..lie import se3", "adjoint.compile.tracing", False),
        ("def f():\n    from adjoint import lie", "adjoint.compile.tracing", False),
        ("import adjoint.model", "adjoint.compile.tracing", False),
        ("from adjoint.nonsense import x", "adjoint.lie.se3", False),
        ("from ..errors import AdjointError", "adjoint.compile.tracing", True),
        ("import numpy, os.path", "adjoint.errors", True),
    ],
)
def test_the_walker_sees_what_it_should(source, module, allowed):
    assert (violations(source, module) == []) is allowed


def test_import_is_light():
    heavy = ("casadi", "llvmlite", "matplotlib", "scipy", "sympy")
    script = f"import sys, adjoint; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_dynamics_load_nothing_slow():
    """A later process loads machine code from the disk and calls it; SciPy alone would take longer than all of that."""
    script = "import sys, adjoint; adjoint.inverse_dynamics, adjoint.linearize; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
