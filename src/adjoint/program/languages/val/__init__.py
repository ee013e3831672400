"""VAL, the language of Unimation's PUMA robots: lines of one instruction each, with numbers as labels.

| file | contents |
|---|---|
| `words` | instructions and functions with their forms and an explanation of each |
| `shapes` | how distances, angles and locations of VAL look as expressions, and how to recognise them |
| `val_expressions` | from tokens to locations, whole numbers and amounts |
| `val_instructions` | from the tokens of a line to statements |
| `val_parser` | `parse_val`: from text to instructions |
| `val_expression_texts` | from expressions to text |
| `val_statement_texts` | from single statements to lines |
| `val_printer` | `val_text`: from instructions to text |
"""

from .val_parser import parse_val as parse_val
from .val_printer import val_text as val_text
from .words import VAL_WORDS as VAL_WORDS

__all__ = ["VAL_WORDS", "parse_val", "val_text"]


def __dir__() -> list[str]:
    return __all__
