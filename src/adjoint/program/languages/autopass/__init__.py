"""Task-level languages: AUTOPASS and RAPT say what becomes of parts, and leave the motions to the planner.

| file | contents |
|---|---|
| `relation_texts` | words of relations, units and comments, which both share |
| `rapt_parser` | from the text of a RAPT program to instructions |
| `rapt_printer` | instructions as a RAPT program |
| `autopass_expressions` | expressions of AUTOPASS: those of PL/I, with units and readings |
| `autopass_parser` | from the text of an AUTOPASS program to instructions |
| `autopass_printer` | instructions as an AUTOPASS program |
| `task_words` | the words of both with an explanation of each |
"""

from .autopass_parser import parse_autopass as parse_autopass
from .autopass_printer import autopass_text as autopass_text
from .rapt_parser import parse_rapt as parse_rapt
from .rapt_printer import rapt_text as rapt_text
from .task_words import AUTOPASS_WORDS as AUTOPASS_WORDS
from .task_words import RAPT_WORDS as RAPT_WORDS

__all__ = ["AUTOPASS_WORDS", "RAPT_WORDS", "autopass_text", "parse_autopass", "parse_rapt", "rapt_text"]


def __dir__() -> list[str]:
    return __all__
