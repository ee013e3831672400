"""What the reference page needs besides docstrings: brackets that are no links, and a label on every kernel."""

import re

import griffe


class Brackets(griffe.Extension):
    """Escapes brackets outside code spans, as in [w] for a skew matrix, and labels functions that are kernels."""

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = re.sub(r"(`+[^`]*`+)|\[", lambda m: m[1] or "\\[", obj.docstring.value)
        if obj.is_function and any(str(d.value).partition("(")[0] == "kernel" for d in obj.decorators):
            obj.labels.add("kernel")
