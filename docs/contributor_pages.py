"""A hook of mkdocs that writes two pages for contributors: CONTRIBUTING.md, and a map of the compiler's files."""

import importlib
import inspect
import pkgutil
import re
from itertools import groupby
from pathlib import Path

import reference_pages
from escaping import escaped
from mkdocs.structure.files import File

import adjoint.compile

FOLDER = "contributors/"


def contributing(root: Path) -> str:
    """CONTRIBUTING.md with links that start in the folder of these pages."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/([^)]*)\)", r"](../\1)", text)


def compiler_map() -> str:
    """A section for each folder of the compiler, with the files in it, what they are for and what they define."""
    names = [
        name for _, name, inner in pkgutil.walk_packages(adjoint.compile.__path__, "adjoint.compile.") if not inner
    ]
    names.sort(key=lambda name: (name.count("."), name))
    lines = [
        "# Inside the compiler",
        "Here you can find the file of the compiler that does a certain piece of work, and the functions it defines. "
        "[A call, step by step](../compiler_tour.md) walks through the same files in the order in which they run; what "
        "users need is in the [reference of kernels](../reference/kernels.md).",
    ]
    for folder, members in groupby(names, lambda name: name.rpartition(".")[0]):
        lines.append(f"## `{folder.replace('.', '/')}`")
        package = importlib.import_module(folder)
        if package.__doc__:
            lines.append(escaped(inspect.cleandoc(package.__doc__)))
        for name in members:
            lines += module_section(name)
    return "\n\n".join(lines) + "\n"


def module_section(name: str) -> list[str]:
    """What a module is for, and a table of the functions and classes that it defines."""
    module = importlib.import_module(name)
    own = [
        reference_pages.Entry(key, f"{name}.{key}", value)
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == name and _is_code(value)
    ]
    rows = [f"| `{e.typed}` | {reference_pages.one_line(e)} |" for e in own if e.value.__doc__]
    table = ["\n".join(["| name | what it is |", "|---|---|", *rows])] if rows else []
    return [f"### `{name.rpartition('.')[2]}.py`", escaped(inspect.cleandoc(module.__doc__ or "")), *table]


def _is_code(value) -> bool:
    return inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, adjoint.compile.Kernel)


def on_files(files, config):
    root = Path(config.docs_dir).parent
    for page, text in {"contributing": contributing(root), "compiler_map": compiler_map()}.items():
        files.append(File.generated(config, f"{FOLDER}{page}.md", content=text))
