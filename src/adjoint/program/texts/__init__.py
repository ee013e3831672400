"""What all languages share on the way from text to instructions: tokens, places, and what was not expected.

| file | contents |
|---|---|
| `scanner` | from text to tokens |
| `cursor` | a place among tokens, errors, and expressions of binary operators |
| `number_texts` | numbers as text |
"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
