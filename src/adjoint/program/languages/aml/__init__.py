"""AML, IBM's "A Manufacturing Language" for its RS-1 arm (Taylor, Summers & Meyer 1983; Fu, Gonzalez & Lee 1987).

| file | contents |
|---|---|
| `words` | the words of AML, for hover and completion, and the sets of words that its parser and printer share |
| `plain_numbers` | AML's numbers without units, as quantities of the instructions, and back |
| `expression_reader` | expressions |
| `sensor_reader` | readings of joints, lines, sensors and monitors |
| `move_reader` | moves and monitors |
| `command_reader` | statements that are one word with values |
| `body_reader` | rows of statements, their comments, and how reading goes on after a mistake |
| `statement_reader` | all other statements, and `parse_aml` |
| `expression_printer` | expressions as text |
| `statement_printer` | statements as text, and `aml_text` |
"""

from .statement_printer import aml_text as aml_text
from .statement_reader import parse_aml as parse_aml
from .words import AML_WORDS as AML_WORDS

__all__ = ["AML_WORDS", "aml_text", "parse_aml"]


def __dir__() -> list[str]:
    return __all__
