"""Text of docstrings as Markdown: signs that Markdown would take for its own stay what they are."""

import re


def escaped(text: str, signs: str = "[<") -> str:
    """The text with the `signs` escaped, outside of code; by default those of links and tags, as in [w] and a < b."""
    marks = re.compile(rf"(```.*?```|`+[^`]*`+)|([{re.escape(signs)}])", re.DOTALL)
    return marks.sub(lambda m: m[1] or ("&lt;" if m[2] == "<" else f"\\{m[2]}"), text)
