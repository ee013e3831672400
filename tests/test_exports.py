"""Every exported name exists and is documented; the code in the README and the docs runs."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

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
BLOCKS = {
    page.name: re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
PAGES = {name: "\n".join(blocks) for name, blocks in BLOCKS.items() if blocks}


@pytest.mark.parametrize("name", ["adjoint", *MODULES])
def test_module_is_documented(name):
    assert importlib.import_module(name).__doc__, f"{name} has no docstring"
    assert len(set(exports(name))) == len(exports(name)), f"{name}.__all__ repeats a name"


@pytest.mark.parametrize(("name", "export"), EXPORTS, ids=lambda x: x)
def test_export_exists_and_is_documented(name, export):
    value = getattr(importlib.import_module(name), export)
    if callable(value) or inspect.ismodule(value):
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
