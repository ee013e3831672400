"""A hook of mkdocs that shows each file of examples/ as a page: what it does, how to run it, and its source."""

import ast
import inspect
import re
from pathlib import Path

from mkdocs.structure.files import File

FOLDER = "examples/"


def examples(root: Path) -> list[Path]:
    """The examples in their order; files without a number are parts of others."""
    return sorted((root / "examples").glob("[0-9]*.py"))


def page_of(example: Path) -> str:
    return f"{FOLDER}{example.stem}.md"


def pictures(example: Path) -> list[str]:
    """The pictures of an example, as the gallery links them."""
    gallery = (example.parents[1] / "docs" / "gallery.md").read_text(encoding="utf-8")
    return re.findall(rf"^\[(!\[.*?\]\(images/.*?\))\]\(examples/{example.stem}\.md\)$", gallery, re.MULTILINE)


def text(example: Path) -> str:
    """The page of an example: its docstring, the command that runs it, its pictures, and its source."""
    source = example.read_text(encoding="utf-8")
    doc = inspect.cleandoc(ast.get_docstring(ast.parse(source)) or "")
    title = example.stem.partition("_")[2].replace("_", " ").capitalize()
    words = re.sub(r"^ *(python examples/.*)$", r"```bash\n\1\n```", doc, flags=re.MULTILINE)
    body = source.partition('"""\n\n')[2] if doc else source
    shown = "\n\n".join(picture.replace("(images/", "(../images/") for picture in pictures(example))
    return f"# {title}\n\n{words}\n\n{shown}\n\n## Source\n\n```python\n{body.rstrip()}\n```\n"


def on_files(files, config):
    for example in examples(Path(config.docs_dir).parent):
        files.append(File.generated(config, page_of(example), content=text(example)))
