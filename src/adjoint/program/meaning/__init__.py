"""What programs mean: values, functions and constants, and the evaluation of expressions.

| file | contents |
|---|---|
| `values` | values of programs while they run, and types and values in words |
| `scopes` | what an expression asks while it is evaluated |
| `constants` | names that every program knows |
| `functions` | functions that expressions call |
| `arithmetic` | what operators do with values |
| `evaluation` | the value of an expression, now or at many ticks at once |
"""

from .constants import CONSTANTS as CONSTANTS
from .evaluation import evaluate as evaluate
from .functions import FUNCTIONS as FUNCTIONS
from .functions import FunctionParameter as FunctionParameter
from .functions import ProgramFunction as ProgramFunction
from .scopes import Scope as Scope
from .scopes import VariableScope as VariableScope
from .values import Value as Value
from .values import type_in_words as type_in_words
from .values import value_in_words as value_in_words

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "FunctionParameter",
    "ProgramFunction",
    "Scope",
    "Value",
    "VariableScope",
    "evaluate",
    "type_in_words",
    "value_in_words",
]


def __dir__() -> list[str]:
    return __all__
