"""Rule-based expert systems: rules with certainty factors, chained forward and backward, and explanations.

    >>> from adjoint.planning.rules import forward_chain, knowledge_base
    >>> rules = knowledge_base("IF power fails AND backup available AND cause gone THEN switch to backup")
    >>> forward_chain(rules, ["power fails", "backup available", "cause gone"]).holds("switch to backup")
    True

| file | contents |
|---|---|
| `rule_types` | `Rule` and `KnowledgeBase` |
| `rule_reader` | `knowledge_base`, from text |
| `certainty` | `combine`, the certainty factors of MYCIN |
| `evidence` | `Firing`, and the certainties of facts while rules fire |
| `matching` | facts that fit patterns, by an index |
| `conclusions` | `Conclusions`: facts, firings, `how` and `why` |
| `forward_chaining` | `forward_chain`, from facts to conclusions |
| `backward_chaining` | `backward_chain`, from a goal to facts and questions |
| `robot_diagnosis` | `diagnose`, from symptoms of a robot cell to a cause and a remedy |

Reference: Fu, Gonzalez & Lee (1987), Sec. 10.10.
"""

from .backward_chaining import backward_chain as backward_chain
from .certainty import BELIEVED as BELIEVED
from .certainty import combine as combine
from .conclusions import Conclusions as Conclusions
from .conclusions import Question as Question
from .evidence import Firing as Firing
from .forward_chaining import forward_chain as forward_chain
from .robot_diagnosis import REMEDIES as REMEDIES
from .robot_diagnosis import SYMPTOMS as SYMPTOMS
from .robot_diagnosis import Diagnosis as Diagnosis
from .robot_diagnosis import diagnose as diagnose
from .robot_diagnosis import diagnosis_rules as diagnosis_rules
from .rule_reader import knowledge_base as knowledge_base
from .rule_types import KnowledgeBase as KnowledgeBase
from .rule_types import Rule as Rule
from .rule_types import fact_words as fact_words

__all__ = [
    "BELIEVED",
    "REMEDIES",
    "SYMPTOMS",
    "Conclusions",
    "Diagnosis",
    "Firing",
    "KnowledgeBase",
    "Question",
    "Rule",
    "backward_chain",
    "combine",
    "diagnose",
    "diagnosis_rules",
    "fact_words",
    "forward_chain",
    "knowledge_base",
]


def __dir__() -> list[str]:
    return __all__
