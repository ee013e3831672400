"""Tutorials as Jupyter notebooks: `notebook` converts the text of a page, and a hook of mkdocs puts the file beside it.

Blocks of Python become cells with code, and a block of text right below one becomes what the cell has printed. Pictures
are put into the notebook, so that it can be moved; notes become quotations; links to pages lead to their HTML.
"""

import base64
import mimetypes
import re
import textwrap
from pathlib import Path

import nbformat
from mkdocs.structure.files import File

FOLDER = "tutorials/"

_NOTE = re.compile(
    r'^(?:!!!|\?\?\?\+?) +([\w-]+)[^"\n]*(?:"(.*)")?[ ]*\n((?:(?: {4}[^\n]*| *)(?:\n|$))*)', re.MULTILINE
)
_CODE = re.compile(r"^```python\b[^\n]*\n(.*?)^```[ ]*\n?(?:\s*^```text\n(.*?)^```[ ]*\n?)?", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)(?:\{[^}\n]*\})?")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:)([^)\s]*?)\.md(#[^)\s]*)?\)(?:\{[^}\n]*\})?")


def notebook(text: str, folder: Path) -> nbformat.NotebookNode:
    """The notebook of a tutorial; `folder` is where its relative links start."""
    cells, end = [], 0
    text = _NOTE.sub(_unfolded, re.sub(r"\A(<!--.*?-->\s*)+", "", text))
    for block in _CODE.finditer(text):
        cells += [_words(text[end : block.start()], folder), _code(block[1], block[2])]
        end = block.end()
    cells = [cell for cell in (*cells, _words(text[end:], folder)) if cell.source]
    for number, cell in enumerate(cells):  # nbformat would draw random ones
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def _unfolded(note: re.Match) -> str:
    """A note as a quotation; with code in it, which must become cells, as plain text below its title."""
    title = note[2] if note[2] is not None else note[1].capitalize()
    body = textwrap.dedent(note[3]).strip()
    text = f"**{title}**\n\n{body}" if title else body
    return f"{text}\n\n" if _CODE.search(body) else textwrap.indent(text, "> ", lambda _: True) + "\n\n"


def _code(source: str, printed: str | None) -> nbformat.NotebookNode:
    outputs = [nbformat.v4.new_output("stream", text=printed)] if printed else []
    return nbformat.v4.new_code_cell(source.rstrip(), outputs=outputs)


def _words(text: str, folder: Path) -> nbformat.NotebookNode:
    """A cell with text; its pictures are attached."""
    attached = {}

    def picture(match: re.Match) -> str:
        path = folder / match[2]
        kind = mimetypes.guess_type(path.name)[0]
        if kind is None or not path.is_file():
            return match[0]
        attached[path.name] = {kind: base64.b64encode(path.read_bytes()).decode()}
        return f"![{match[1]}](attachment:{path.name})"

    text = _LINK.sub(lambda m: f"[{m[1]}]({m[2]}.html{m[3] or ''})", _PICTURE.sub(picture, text))
    cell = nbformat.v4.new_markdown_cell(text.strip())
    if attached:
        cell.attachments = attached
    return cell


def _has_notebook(file: File) -> bool:
    return file.src_uri.startswith(FOLDER) and file.src_uri.endswith(".md") and "```python" in file.content_string


def on_files(files, config):
    for file in [f for f in files.documentation_pages() if _has_notebook(f)]:
        made = nbformat.writes(notebook(file.content_string, Path(config.docs_dir) / FOLDER))
        files.append(File.generated(config, f"{file.src_uri.removesuffix('.md')}.ipynb", content=made))


def on_page_markdown(markdown: str, page, config, files) -> str:
    if not _has_notebook(page.file):
        return markdown
    link = f"[Download as a notebook]({Path(page.file.src_uri).stem}.ipynb){{ .notebook download }}"
    return re.sub(r"^(# .*)$", rf"\1\n\n{link}", markdown, count=1, flags=re.MULTILINE)
