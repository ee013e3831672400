"""A hook of mkdocs that ships MathJax, which a Python package brings, and loads it on pages with formulas."""

import shutil
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.utils import get_relative_url

PACKAGE = "sphinx-mathjax-offline"
PROGRAM = "tex-chtml.js"
PARTS = (PROGRAM, "output/chtml/fonts/woff-v2", "input/tex/extensions")
"""What the pages need of MathJax: the program, its fonts, and what it loads for rare commands such as \\boldsymbol."""


def mathjax() -> Path:
    """The folder in which the package keeps MathJax."""
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        raise PluginError(f"formulas need the package {PACKAGE}: pip install 'adjoint[docs]'") from None
    return next(Path(str(file.locate())).parent for file in listed if file.name == PROGRAM)


def on_config(config):
    mathjax()  # before the work, not after it


def on_post_page(output: str, page, config) -> str:
    if 'class="arithmatex"' not in output:
        return output
    tags = [f'<script src="{get_relative_url(f"assets/{path}", page.url)}"></script>'
            for path in ("formulas.js", f"mathjax/{PROGRAM}")]  # fmt: skip
    return output.replace("</body>", "\n".join((*tags, "</body>")))


def on_post_build(config):
    source, target = mathjax(), Path(config.site_dir) / "assets" / "mathjax"
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / part, target / part)
