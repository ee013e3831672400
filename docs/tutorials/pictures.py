"""Draw the pictures of the tutorials: run the code of the pages, and save every figure that has a name.

    python docs/tutorials/pictures.py                 all pages
    python docs/tutorials/pictures.py kinematics.md   one page

A page names a figure when it opens it, as in `plt.subplots(num="screws")`; it is then `images/screws.png`. So what a
reader sees on a page is what the code on that page draws.
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

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^([ \t]*)```python[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page in order, those of hidden solutions too."""
    return [textwrap.dedent(code) for _, code in BLOCK.findall(page.read_text(encoding="utf-8"))]


def run(page: Path) -> None:
    """Run the blocks of a page in one namespace; each is a file, because kernels read the source of their function."""
    namespace = {"__name__": page.stem}
    for k, code in enumerate(blocks(page)):
        path = Path(f"{page.stem}_{k}.py").resolve()
        path.write_text(code, encoding="utf-8")
        exec(compile(code, str(path), "exec"), namespace)


def save_figures() -> None:
    """Save the figures that are open under their names, and close them."""
    for number in plt.get_fignums():
        figure = plt.figure(number)
        if name := figure.get_label():
            figure.savefig(HERE / "images" / f"{name}.png", dpi=110)
            print(f"images/{name}.png")
    plt.close("all")


def main(names: list[str]) -> None:
    pages = [HERE / name for name in names] or sorted(HERE.glob("*.md"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            run(page)
            save_figures()
        os.chdir(HERE)  # Windows deletes no folder that somebody is in


if __name__ == "__main__":
    main(sys.argv[1:])
