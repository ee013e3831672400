"""The requirements of PDDL: which exist, and which a domain needs."""

from __future__ import annotations

from ..strips.task_types import Domain
from .formulas import TOTAL_COST

__all__: list[str] = []

SUPPORTED = (":strips", ":typing", ":negative-preconditions", ":equality", ":action-costs")
# Domains may name these, too: what they allow beyond is refused where it is used.
KNOWN = (
    *SUPPORTED,
    *":adl :disjunctive-preconditions :existential-preconditions :universal-preconditions".split(),
    *":quantified-preconditions :conditional-effects :fluents :numeric-fluents :object-fluents".split(),
    *":durative-actions :duration-inequalities :continuous-effects :derived-predicates".split(),
    *":probabilistic-effects :rewards :mdp :contingent :non-deterministic :hierarchy :multi-agent".split(),
    *":timed-initial-literals :preferences :constraints :domain-axioms :goal-utilities :time".split(),
)
_IN_ADL = frozenset((":typing", ":negative-preconditions", ":equality"))


def with_needed(domain: Domain) -> tuple[str, ...]:
    """The requirements that a domain names, followed by those that it uses without naming them."""
    conditions = [operator.needs for operator in domain.operators]
    uses = {
        ":strips": not domain.requirements,
        ":typing": bool(domain.types),
        ":negative-preconditions": any(needs.absent for needs in conditions),
        ":equality": any(needs.same or needs.different for needs in conditions),
        ":action-costs": TOTAL_COST in domain.functions,
    }
    named = _IN_ADL.union(domain.requirements) if ":adl" in domain.requirements else domain.requirements
    return (*domain.requirements, *(name for name, used in uses.items() if used and name not in named))
