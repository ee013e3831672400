"""Languages of robot programs: from text to instructions, and back.

| folder or file | contents |
|---|---|
| `al` | AL of Stanford |
| `val` | VAL of Unimation |
| `aml` | AML of IBM |
| `autopass` | task statements of AUTOPASS and RAPT |
| `comparison` | the textbook's table of languages, as data |
| `front_ends` | `parse` and `to_text` for all of them |
"""

from .al import AL_WORDS as AL_WORDS
from .al import al_text as al_text
from .al import parse_al as parse_al
from .aml import AML_WORDS as AML_WORDS
from .aml import aml_text as aml_text
from .aml import parse_aml as parse_aml
from .autopass import AUTOPASS_WORDS as AUTOPASS_WORDS
from .autopass import RAPT_WORDS as RAPT_WORDS
from .autopass import autopass_text as autopass_text
from .autopass import parse_autopass as parse_autopass
from .autopass import parse_rapt as parse_rapt
from .autopass import rapt_text as rapt_text
from .comparison import LANGUAGE_TABLE as LANGUAGE_TABLE
from .comparison import RobotLanguage as RobotLanguage
from .front_ends import FRONT_ENDS as FRONT_ENDS
from .front_ends import FrontEnd as FrontEnd
from .front_ends import language_of as language_of
from .front_ends import parse as parse
from .front_ends import to_text as to_text
from .val import VAL_WORDS as VAL_WORDS
from .val import parse_val as parse_val
from .val import val_text as val_text

__all__ = [
    "AL_WORDS",
    "AML_WORDS",
    "AUTOPASS_WORDS",
    "FRONT_ENDS",
    "LANGUAGE_TABLE",
    "RAPT_WORDS",
    "VAL_WORDS",
    "FrontEnd",
    "RobotLanguage",
    "al_text",
    "aml_text",
    "autopass_text",
    "language_of",
    "parse",
    "parse_al",
    "parse_aml",
    "parse_autopass",
    "parse_rapt",
    "parse_val",
    "rapt_text",
    "to_text",
    "val_text",
]


def __dir__() -> list[str]:
    return __all__
