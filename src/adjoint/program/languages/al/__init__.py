"""AL, the language of the Stanford Artificial Intelligence Laboratory (Fu, Gonzalez & Lee 1987, Tables 9.2-9.7).

| file | contents |
|---|---|
| `words` | the words of AL, for hover and completion, and the sets of words that its parser and printer share |
| `expression_reader` | expressions |
| `move_reader` | moves with their clauses, hands and affixments |
| `action_reader` | declarations, procedures, and what talks with the user |
| `flow_reader` | IF, CASE, loops and COBEGIN |
| `statement_reader` | statements one after the other, and what is wrong with them |
| `program_reader` | `parse_al` |
| `expression_printer` | expressions as text |
| `statement_printer` | `al_text` |
"""

from .program_reader import parse_al as parse_al
from .statement_printer import al_text as al_text
from .words import AL_WORDS as AL_WORDS

__all__ = ["AL_WORDS", "al_text", "parse_al"]


def __dir__() -> list[str]:
    return __all__
