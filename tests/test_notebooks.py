"""Tutorials become notebooks, and the notebooks run."""

import base64
import os
from pathlib import Path

import nbclient
import nbclient.exceptions
import nbformat
import pytest
from support.doc_hooks import DOCS, hook

TUTORIALS = sorted(p for p in (DOCS / "tutorials").glob("*.md") if "```python" in p.read_text(encoding="utf-8"))

PAGE = """<!-- order: 1 -->
# A page

Formulas such as $x^2$ stay. [Dynamics](../dynamics.md#torques) and [elsewhere](https://example.org/a.md) are links.

```python
import adjoint as aj

x = 2 + aj.robots.puma560().nq
print(x)
```

```text
8
```

![A picture](dot.png){ width=200 }

!!! warning "Beware"
    The first line.

    The second, with `code`.

??? success "Solution"
    You multiply:

    ```python
    assert x * x == 64
    ```

    That is all.

```text
not printed by a cell
```

```bash
make docs
```
"""


def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """The notebook after its cells ran in a kernel of its own, which finds the library as this process does."""
    paths = os.pathsep.join(filter(None, [str(DOCS.parent / "src"), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    return client.execute(env=env)


@pytest.fixture
def converted(tmp_path):
    (tmp_path / "dot.png").write_bytes(b"a picture")
    return hook("notebooks").notebook(PAGE, tmp_path)


def test_a_page_becomes_cells(converted):
    nbformat.validate(converted)
    assert [cell.cell_type for cell in converted.cells] == ["markdown", "code", "markdown", "code", "markdown"]
    first, code, _, solution, last = converted.cells
    assert first.source.startswith("# A page\n") and "$x^2$" in first.source
    assert "[Dynamics](../dynamics.html#torques)" in first.source
    assert "[elsewhere](https://example.org/a.md)" in first.source
    assert code.source.endswith("print(x)") and code.outputs[0].text == "8\n"
    assert solution.source == "assert x * x == 64" and solution.outputs == []
    assert "not printed by a cell" in last.source and "make docs" in last.source and "That is all." in last.source


def test_pictures_are_in_the_notebook(converted):
    cell = converted.cells[2]
    assert cell.source.startswith("![A picture](attachment:dot.png)\n")
    assert base64.b64decode(cell.attachments["dot.png"]["image/png"]) == b"a picture"


def test_notes_become_quotations_or_titles(converted):
    text = converted.cells[2].source
    assert "> **Beware**\n> \n> The first line.\n> \n> The second, with `code`." in text
    assert text.endswith("**Solution**\n\nYou multiply:")


def test_a_missing_picture_stays_as_it_is(tmp_path):
    made = hook("notebooks").notebook("![A picture](nowhere.png)", tmp_path)
    assert made.cells[0].source == "![A picture](nowhere.png)" and "attachments" not in made.cells[0]


def test_the_same_page_is_the_same_notebook(converted, tmp_path):
    assert nbformat.writes(hook("notebooks").notebook(PAGE, tmp_path)) == nbformat.writes(converted)


@pytest.mark.slow
def test_a_notebook_runs(converted, tmp_path):
    assert run(converted, tmp_path).cells[1].outputs[0].text == "8\n"


@pytest.mark.slow
def test_a_notebook_with_a_fault_fails(tmp_path):
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="ZeroDivisionError"):
        run(hook("notebooks").notebook("```python\n1 / 0\n```\n", tmp_path), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs(page, tmp_path):
    made = hook("notebooks").notebook(page.read_text(encoding="utf-8"), page.parent)
    nbformat.validate(made)
    run(made, tmp_path)
