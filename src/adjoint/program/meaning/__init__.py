"""What programs mean: values, functions and constants, the evaluation of expressions, and checks.

| file | contents |
|---|---|
| `values` | values of programs while they run, and types and values in words |
| `scopes` | what an expression asks while it is evaluated |
| `constants` | names that every program knows |
| `functions` | functions that expressions call |
| `function_values` | functions of values that are known, and errors at their places |
| `arithmetic` | what operators do with values |
| `evaluation` | the value of an expression, now or at many ticks at once |
| `operator_types`, `expression_types` | types and units of expressions, and hints where something does not fit |
| `arm_names` | names of arms and hands, and the robots that they mean |
| `variable_checks` | types of variables, in the order of the text |
| `name_checks` | what only the whole program tells: labels, procedures, events, and names of the world |
| `checker` | `check`: what is wrong in a program, before anything moves |
"""

from .checker import check as check
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
    "check",
    "evaluate",
    "type_in_words",
    "value_in_words",
]


def __dir__() -> list[str]:
    return __all__
