"""The documentation builds without warnings, its links lead somewhere, and it is read from disk without a network."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.browser import Browser
from support.doc_hooks import DOCS, hook

ROOT = DOCS.parent
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}


class Page(HTMLParser):
    """What a page of the site loads and links to, and the places in it that can be linked to."""

    def __init__(self, path: Path):
        super().__init__()
        self.path, self.text = path, path.read_text(encoding="utf-8")
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        given = {key: value or "" for key, value in attrs}
        self.ids |= {given[key] for key in ("id", "name") if key in given}
        self.loaded += [given[key] for kind, key in LOADED if kind == tag and key in given]
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def built(folder: Path) -> dict[Path, Page]:
    """The pages of the site, which is built into `folder` as `make docs` builds it."""
    paths = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=500)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return {path: Page(path) for path in sorted(folder.rglob("*.html")) if path.name != "404.html"}


def check_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    for page in pages.values():
        for address in page.loaded:
            assert not urlsplit(address).netloc, f"{page.path} loads {address}"
            if not address.startswith(("#", "data:")):
                assert (page.path.parent / unquote(urlsplit(address).path)).is_file(), f"{page.path}: no {address}"
    for style in site.rglob("*.css"):
        for address in re.findall(r"url\(\s*[\"']?([^)\"']*)", style.read_text(encoding="utf-8")):
            assert not urlsplit(address).netloc, f"{style} loads {address}"


def check_links(pages: dict[Path, Page]) -> None:
    """Every link inside the site leads to a file, and to a place in it."""
    for page in pages.values():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            assert target.is_file(), f"{page.path}: no file for {link}"
            if parts.fragment and target in pages and not parts.fragment.startswith("__"):
                assert unquote(parts.fragment) in pages[target].ids, f"{page.path}: no place for {link}"


def check_formulas_are_loaded_where_they_are(site: Path, pages: dict[Path, Page]) -> None:
    with_formulas = {p.path for p in pages.values() if 'class="arithmatex"' in p.text}
    with_program = {p.path for p in pages.values() if any("mathjax" in x for x in p.loaded)}
    assert with_formulas == with_program
    assert site / "dynamics.html" in with_formulas and site / "platforms.html" not in with_formulas


# A text node outside of code that still has the signs of TeX, or a formula that MathJax does not understand
LEFT = """(() => {
  const left = [...document.querySelectorAll("mjx-merror")].map((error) => error.textContent);
  const walk = document.createTreeWalker(document.querySelector("article") ?? document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.parentElement.closest("code, pre, mjx-container, script, style") && /\\$|\\\\[(\\[]/.test(node.data))
      left.push(node.data.trim());
  }
  return left;
})()"""


def check_pages_in_a_browser(pages: dict[Path, Page]) -> None:
    """On a phone, from disk: all formulas are typeset, no page is wider than the screen, nothing complains."""
    with Browser(390, 800) as browser:
        for page in pages.values():
            browser.open(page.path)
            if 'class="arithmatex"' in page.text:
                browser.wait("window.MathJax && MathJax.startup && MathJax.startup.promise.then(() => true)")
                assert browser.run("document.querySelectorAll('mjx-container').length") > 0
            assert browser.run(LEFT) == [], page.path
            assert browser.run("document.documentElement.scrollWidth") <= 390, page.path
            assert browser.complaints == [], page.path


def check_search_from_disk(site: Path) -> None:
    with Browser() as browser:
        browser.open(site / "index.html")
        browser.run("document.querySelector('[data-md-toggle=search]').click()")
        browser.run(
            "(box => { box.focus(); box.value = 'inverse_dynamics'; box.dispatchEvent(new Event('keyup')); })"
            "(document.querySelector('.md-search__input'))"
        )
        browser.wait("document.querySelectorAll('.md-search-result__item').length > 3")


@pytest.mark.slow
def test_the_documentation(tmp_path):
    """One build, which takes most of the time, and all that is asked of it."""
    site = tmp_path / "site"
    pages = built(site)
    check_nothing_is_loaded_from_elsewhere(site, pages)
    check_links(pages)
    check_formulas_are_loaded_where_they_are(site, pages)
    for tutorial in (DOCS / "tutorials").glob("*.md"):
        if "```python" in tutorial.read_text(encoding="utf-8"):
            assert (site / "tutorials" / f"{tutorial.stem}.ipynb").is_file()
    check_search_from_disk(site)
    check_pages_in_a_browser(pages)


def test_folders_in_the_navigation_stand_for_their_pages(tmp_path):
    navigation = hook("navigation")
    (tmp_path / "howto").mkdir()
    texts = {"b.md": "# B", "a.md": "<!-- order: 2 -->\n# A", "c.md": "<!-- order: 1 -->\n# C", "index.md": "# All"}
    for name, text in texts.items():
        (tmp_path / "howto" / name).write_text(text, encoding="utf-8")
    (tmp_path / "howto.md").write_text("# How", encoding="utf-8")
    pages = ["howto.md", "howto/index.md", "howto/c.md", "howto/a.md", "howto/b.md"]
    assert navigation.expanded({"How-to": "howto/"}, tmp_path) == [{"How-to": pages}]
    assert navigation.expanded({"Guide": ["x.md", "howto/"]}, tmp_path) == [{"Guide": ["x.md", *pages]}]
    assert navigation.expanded({"Start": "index.md"}, tmp_path) == [{"Start": "index.md"}]
    assert navigation.expanded({"Nothing": "nothing/"}, tmp_path) == []


def test_pictures_of_the_gallery_link_to_examples():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\[!\[.*?\]\(images/(.*?)\)\]\(examples/(.*?)\.md\)$", gallery, re.MULTILINE)
    assert len({picture for picture, _ in shown}) == len(shown) > 30
    for picture, example in shown:
        assert (DOCS / "images" / picture).is_file()
        assert "png" in (ROOT / "examples" / f"{example}.py").read_text(encoding="utf-8")


def test_examples_of_docstrings_are_fenced():
    docstrings = hook("docstrings")
    text = "One.\n\n    >>> f([1])\n    2\n\nThe [w] of `a[0]`.\n\n    x = y²+z\n\n>>> g()\n3"
    assert hook("escaping").escaped("a < b | `c|<`", "<|") == "a &lt; b \\| `c|<`"
    fenced = docstrings.escaped(docstrings.with_fences(text))
    assert "```pycon\n>>> f([1])\n2\n```" in fenced and "The \\[w] of `a[0]`." in fenced
    assert "```text\nx = y²+z\n```" in fenced and "```pycon\n>>> g()\n3\n```" in fenced


def test_parameters_of_docstrings_become_a_list():
    text = "One.\n\nParameters\n----------\nq, v\n    The state:\n    two lines.\ndt\n    A step.\n\nThe end."
    listed = "One.\n\n**Parameters**\n\n- `q`, `v`: The state: two lines.\n- `dt`: A step.\n\n\nThe end."
    assert hook("docstrings").with_parameters(text) == listed
    assert hook("docstrings").with_parameters("One.") == "One."
