"""Predicates of a world, evaluated from its geometry with hysteresis, and its state as facts and relations.

| file | contents |
|---|---|
| `contact_gaps` | distances between the solids of parts |
| `truths` | `is_on`, `is_clear`, `is_holding`, `is_inside`, `is_touching`, `is_above`, `is_near`, `is_aligned` |
| `world_facts` | `facts`, and `state_relations`, the faces that are against each other |
"""

from .truths import is_above as is_above
from .truths import is_aligned as is_aligned
from .truths import is_clear as is_clear
from .truths import is_holding as is_holding
from .truths import is_inside as is_inside
from .truths import is_near as is_near
from .truths import is_on as is_on
from .truths import is_touching as is_touching
from .world_facts import facts as facts
from .world_facts import state_relations as state_relations

__all__ = [
    "facts",
    "is_above",
    "is_aligned",
    "is_clear",
    "is_holding",
    "is_inside",
    "is_near",
    "is_on",
    "is_touching",
    "state_relations",
]


def __dir__() -> list[str]:
    return __all__
