"""Docstrings as the reference shows them: lists of parameters, coloured code, and labels of kernels."""

import ast
import inspect
import re

import griffe
from escaping import escaped

# In a section of parameters: a line of names, and the indented lines below it
_PARAMETER = re.compile(r"^(\S[^\n]*)\n((?: {4}[^\n]*\n?)+)", re.MULTILINE)


def with_parameters(text: str) -> str:
    """The docstring with its section of parameters as a list; what follows it is plain text again."""
    before, title, after = text.partition("\nParameters\n----------\n")
    if not title:
        return text
    end = re.search(r"\n\n(?=\S)", after)  # parameters stand line after line
    section, rest = (after[: end.start()], after[end.start() :]) if end else (after, "")
    return f"{before}\n**Parameters**\n\n{_PARAMETER.sub(_item, section)}{rest}"


def _item(parameter: re.Match) -> str:
    names = ", ".join(f"`{name.strip()}`" for name in parameter[1].split(","))
    return f"- {names}: {' '.join(line.strip() for line in parameter[2].splitlines())}\n"


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

    return _PROMPT.sub(fenced, _CODE.sub(fenced, text))


class Docstrings(griffe.Extension):
    """Prepares docstrings for Markdown, and labels functions that are kernels."""

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = escaped(with_fences(with_parameters(inspect.cleandoc(obj.docstring.value))))
        if obj.is_function and any(str(d.value).partition("(")[0] == "kernel" for d in obj.decorators):
            obj.labels.add("kernel")
