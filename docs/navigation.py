"""A hook of mkdocs: in the `nav` of mkdocs.yml, a folder such as `tutorials/` stands for all pages in it.

A page with the name of the folder (papers.md for papers/) and index.md come first, then pages that begin with a comment
`<!-- order: 3 -->`, by this number, then the others by name. A folder that is not there leaves no trace.
"""

import re
from pathlib import Path

import command_pages
import example_pages
import reference_pages

_COMMENTS = re.compile(r"\A\s*(?:<!--.*?-->\s*)*", re.DOTALL)
_ORDER = re.compile(r"<!-- *order: *(\d+) *-->")


def without_comments(text: str) -> str:
    """A page without the comments at its start."""
    return _COMMENTS.sub("", text, count=1)


def order(page: Path) -> tuple[bool, float, str]:
    """What pages of a folder are sorted by."""
    text = page.read_text(encoding="utf-8")
    comment = _ORDER.search(text[: len(text) - len(without_comments(text))])
    return page.name != "index.md", float(comment[1]) if comment else float("inf"), page.name


def pages(docs: Path, folder: str) -> list[str]:
    """The pages of a folder in the order of the navigation, as mkdocs names them."""
    if folder == reference_pages.FOLDER:
        return [*(f"{folder}{page}.md" for page in ("index", *reference_pages.PAGES)), command_pages.PAGE]
    if folder == example_pages.FOLDER:
        return [example_pages.page_of(example) for example in example_pages.examples(docs.parent)]
    same_name = docs / f"{folder.rstrip('/')}.md"
    found = [same_name] if same_name.is_file() else []
    found += sorted((docs / folder).glob("*.md"), key=order)
    return [page.relative_to(docs).as_posix() for page in found]


def expanded(entry, docs: Path) -> list:
    """The entries that an entry of the navigation stands for."""
    if isinstance(entry, str):
        return pages(docs, entry) if entry.endswith("/") else [entry]
    ((title, content),) = entry.items()
    if isinstance(content, str) and not content.endswith("/"):
        return [entry]
    inner = [e for x in ([content] if isinstance(content, str) else content) for e in expanded(x, docs)]
    return [{title: inner}] if inner else []


def on_page_markdown(markdown: str, page, config, files) -> str:
    """mkdocs takes a page's title from its heading, but only if nothing is before it."""
    return without_comments(markdown)


def on_config(config):
    config.nav = [e for entry in config.nav for e in expanded(entry, Path(config.docs_dir))]
