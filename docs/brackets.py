"""Docstrings write [w] for the skew matrix of w; keep Markdown from taking it for a link."""

import re

import griffe


class Brackets(griffe.Extension):
    """Escapes brackets outside code spans."""

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = re.sub(r"(`+[^`]*`+)|\[", lambda m: m[1] or "\\[", obj.docstring.value)
