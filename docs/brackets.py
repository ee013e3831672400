"""What the reference page needs besides docstrings: brackets that are no links, notes, and a label on every kernel."""

import re

import griffe

# After the list of parameters: an empty line, and a line that is no name of a parameter, as no indented line follows
_TEXT = re.compile(r"(\n {4}\S[^\n]*\n)\n(?=\S[^\n]*(?:\n(?! {4}|-)|$))")


def with_notes(text: str) -> str:
    """The docstring with the text that follows its list of parameters in a section of its own."""
    before, title, after = text.partition("\nParameters\n----------\n")
    return before + title + _TEXT.sub(r"\1\nNotes\n-----\n", after, count=1)


class Brackets(griffe.Extension):
    """Escapes brackets outside code spans, as in [w] for a skew matrix, and labels functions that are kernels."""

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            text = with_notes(obj.docstring.value)
            obj.docstring.value = re.sub(r"(`+[^`]*`+)|\[", lambda m: m[1] or "\\[", text)
        if obj.is_function and any(str(d.value).partition("(")[0] == "kernel" for d in obj.decorators):
            obj.labels.add("kernel")
