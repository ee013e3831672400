"""Draw the pictures of the tutorials: run the code of the pages, and save every figure that has a name.

    python docs/tutorials/pictures.py                 all pages
    python docs/tutorials/pictures.py kinematics.md   one page

A page names a figure when it opens it, as in `plt.subplots(num="screws")`; it is then `images/screws.png`. A figure
that a function of the library made has the name of its variable. So what a reader sees on a page is what the code on
that page draws.
"""

import os
import re
import sys
import tempfile
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^([ \t]*)```python[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page in order, those of hidden solutions too."""
    return [textwrap.dedent(code) for _, code in BLOCK.findall(page.read_text(encoding="utf-8"))]


def run(page: Path) -> dict:
    """Run the blocks of a page in one namespace; each is a file, because kernels read the source of their function."""
    namespace = {"__name__": page.stem}
    for k, code in enumerate(blocks(page)):
        path = Path(f"{page.stem}_{k}.py").resolve()
        path.write_text(code, encoding="utf-8")
        exec(compile(code, str(path), "exec"), namespace)
    return namespace


def save_figures(page: Path, namespace: dict) -> None:
    """Save the figures of a page under their names or those of their variables, and close what is open."""
    figures = {figure.get_label(): figure for figure in map(plt.figure, plt.get_fignums())}
    shown = page.read_text(encoding="utf-8")
    figures |= {k: x for k, x in namespace.items() if isinstance(x, Figure) and f"(images/{k}.png)" in shown}
    for name, figure in figures.items():
        if name:
            figure.savefig(HERE / "images" / f"{name}.png", dpi=110)
            print(f"images/{name}.png")
    plt.close("all")


def main(names: list[str]) -> None:
    pages = [HERE / name for name in names] or sorted(HERE.glob("*.md"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            save_figures(page, run(page))
        os.chdir(HERE)  # Windows deletes no folder that somebody is in


if __name__ == "__main__":
    main(sys.argv[1:])
