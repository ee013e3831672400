"""What the reference needs besides docstrings: brackets that are no links, notes, coloured code, labels of kernels."""

import ast
import inspect
import re

import griffe
from escaping import escaped

# After the list of parameters: an empty line, and a line that is no name of a parameter, as no indented line follows
_TEXT = re.compile(r"(\n {4}\S[^\n]*\n)\n(?=\S[^\n]*(?:\n(?! {4}|-)|$))")


def with_notes(text: str) -> str:
    """The docstring with the text that follows its list of parameters in a section of its own."""
    before, title, after = text.partition("\nParameters\n----------\n")
    return before + title + _TEXT.sub(r"\1\nNotes\n-----\n", after, count=1)


# Indented blocks after an empty line are code; so are lines that begin with >>>, up to the next empty line
_CODE = re.compile(r"(?:(?<=\n\n)|^)((?: {4}[^\n]*(?:\n|$)|\n(?= {4}))+)")
_PROMPT = re.compile(r"(?:(?<=\n\n)|^)(>>> [^\n]*(?:\n(?!\n)[^\n]*)*)\n?")


def language(code: str) -> str:
    """What a block of a docstring is coloured as: a session, Python, or a formula, which is not."""
    if code.startswith(">>>"):
        return "pycon"
    try:
        ast.parse(code)
    except SyntaxError:
        return "text"
    return "python"


def with_fences(text: str) -> str:
    """The docstring with its examples in fences, so that they are coloured."""

    def fenced(match: re.Match) -> str:
        code = inspect.cleandoc(match[1])
        return f"```{language(code)}\n{code}\n```\n"

    before, title, after = text.partition("\nParameters\n----------\n")
    return _PROMPT.sub(fenced, _CODE.sub(fenced, before)) + title + after


class Brackets(griffe.Extension):
    """Prepares docstrings for Markdown, and labels functions that are kernels."""

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = escaped(with_fences(with_notes(inspect.cleandoc(obj.docstring.value))))
        if obj.is_function and any(str(d.value).partition("(")[0] == "kernel" for d in obj.decorators):
            obj.labels.add("kernel")
