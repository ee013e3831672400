"""Diagnosis of errors of a robot cell: from symptoms to a cause and a remedy, by rules with certainty factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...errors import ArgumentError, nearest
from ..strips.task_types import Fact
from .certainty import BELIEVED
from .conclusions import Conclusions
from .forward_chaining import forward_chain
from .rule_reader import knowledge_base
from .rule_types import Facts, KnowledgeBase, given_facts, sentence

__all__ = ["REMEDIES", "SYMPTOMS", "Diagnosis", "diagnose", "diagnosis_rules"]

SYMPTOMS = {
    "width below expected": "the fingers closed farther than the part is wide",
    "width above expected": "the fingers stopped before they reached the width of the part",
    "part lost": "the part was held, and is not any more",
    "during transfer": "the error happened while the part was carried",
    "part moved": "the part is not where the plan expects it",
    "part missing": "the camera does not see the part",
    "view blocked": "something stands between the camera and the part",
    "goal blocked": "something is where the part shall go",
    "force exceeded": "a guarded motion met more force than its limit",
    "near goal": "the error happened close to the goal of the motion",
    "pose unreachable": "inverse kinematics has no solution for the pose",
    "collision predicted": "the path of the plan meets a solid",
    "collision felt": "the arm touched something outside of a guarded motion",
    "kernel holds": "a kernel of the plan is true, so a step of it can go on from here",
    "retried already": "the same step failed before, and was tried again",
}
"""What `diagnose` understands, as {symptom: what it means}."""

REMEDIES = ("retry", "look again", "use kernel", "replan", "give up")
"""What an executor can do, from the cheapest to the last."""

_RULES = """
# From symptoms to causes.
RULE missed:        IF width below expected AND NOT during transfer THEN cause grasp-missed CF 0.8
RULE missed-moved:  IF width below expected AND part moved THEN cause part-moved CF 0.7
RULE clamped-wrong: IF width above expected THEN cause grasp-misaligned CF 0.7
RULE moved:         IF part moved AND NOT part lost THEN cause part-moved CF 0.7
RULE dropped:       IF part lost THEN cause part-dropped CF 0.6
RULE dropped-away:  IF part lost AND during transfer THEN cause part-dropped CF 0.8
RULE slipped:       IF width below expected AND during transfer THEN cause part-dropped CF 0.8
RULE hidden:        IF part missing AND view blocked THEN cause part-hidden CF 0.8
RULE gone:          IF part missing AND NOT view blocked THEN cause part-unseen CF 0.6
RULE gone-dropped:  IF part missing AND part lost THEN cause part-dropped CF 0.5
RULE occupied:      IF goal blocked THEN cause goal-occupied CF 0.9
RULE jammed:        IF force exceeded AND near goal AND NOT goal blocked THEN cause part-jammed CF 0.7
RULE hit-at-goal:   IF force exceeded AND goal blocked THEN cause goal-occupied CF 0.6
RULE obstacle:      IF force exceeded AND NOT near goal THEN cause path-blocked CF 0.6
RULE touched:       IF collision felt THEN cause path-blocked CF 0.8
RULE predicted:     IF collision predicted THEN cause path-blocked CF 0.9
RULE too-far:       IF pose unreachable THEN cause out-of-reach CF 0.9
RULE moved-far:     IF pose unreachable AND part moved THEN cause part-moved CF 0.4

# From causes to remedies. A kernel needs no search, so it is tried before a new plan.
RULE grasp-again:   IF cause grasp-missed AND NOT retried already THEN remedy grasp-missed retry CF 0.9
RULE look-for-it:   IF cause grasp-missed AND retried already THEN remedy grasp-missed look again CF 0.9
RULE align-again:   IF cause grasp-misaligned AND NOT retried already THEN remedy grasp-misaligned look again CF 0.8
RULE other-grasp:   IF cause grasp-misaligned AND retried already THEN remedy grasp-misaligned replan CF 0.8
RULE moved-look:    IF cause part-moved AND NOT retried already THEN remedy part-moved look again CF 0.9
RULE moved-plan:    IF cause part-moved AND retried already THEN remedy part-moved replan CF 0.9
RULE dropped-go-on: IF cause part-dropped AND kernel holds THEN remedy part-dropped use kernel CF 0.9
RULE dropped-look:  IF cause part-dropped AND NOT kernel holds AND part missing
                    THEN remedy part-dropped look again CF 0.8
RULE dropped-plan:  IF cause part-dropped AND NOT kernel holds AND NOT part missing
                    THEN remedy part-dropped replan CF 0.8
RULE hidden-look:   IF cause part-hidden AND NOT retried already THEN remedy part-hidden look again CF 0.8
RULE hidden-plan:   IF cause part-hidden AND retried already THEN remedy part-hidden replan CF 0.8
RULE unseen-look:   IF cause part-unseen AND NOT retried already THEN remedy part-unseen look again CF 0.9
RULE unseen-stop:   IF cause part-unseen AND retried already THEN remedy part-unseen give up CF 0.9
RULE occupied-go:   IF cause goal-occupied AND kernel holds THEN remedy goal-occupied use kernel CF 0.7
RULE occupied-plan: IF cause goal-occupied AND NOT kernel holds THEN remedy goal-occupied replan CF 0.9
RULE jammed-again:  IF cause part-jammed AND NOT retried already THEN remedy part-jammed retry CF 0.8
RULE jammed-stop:   IF cause part-jammed AND retried already THEN remedy part-jammed give up CF 0.8
RULE blocked-plan:  IF cause path-blocked AND NOT retried already THEN remedy path-blocked replan CF 0.9
RULE blocked-look:  IF cause path-blocked AND retried already THEN remedy path-blocked look again CF 0.7
RULE far-plan:      IF cause out-of-reach AND NOT retried already THEN remedy out-of-reach replan CF 0.9
RULE far-stop:      IF cause out-of-reach AND retried already THEN remedy out-of-reach give up CF 0.9
"""


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What went wrong, what to do, and why.

        >>> found = diagnose(["goal blocked"])
        >>> found.cause, found.remedy, found.certainty
        ('goal-occupied', 'replan', 0.9)

    `cause` is a name such as "grasp-missed", or "unknown"; `remedy` is one of `REMEDIES`. `certainty` is the certainty
    factor of the cause, `causes` those of all causes that are believed, and `explanation` the rules that were used.
    """

    cause: str
    remedy: str
    certainty: float
    causes: dict[str, float]
    explanation: str

    def __str__(self) -> str:
        return f"{self.cause} ({self.certainty:.2g}): {self.remedy}\n{self.explanation}"

    def __repr__(self) -> str:
        return f"<Diagnosis: {self.cause} ({self.certainty:.2g}), {self.remedy}>"


@cache
def diagnosis_rules() -> KnowledgeBase:
    """The rules by which `diagnose` finds causes and remedies.

    >>> diagnosis_rules()
    <KnowledgeBase: 39 rules>
    """
    return knowledge_base(_RULES, "diagnosis rules")


def diagnose(symptoms: Facts, rules: KnowledgeBase | None = None) -> Diagnosis:
    """The most certain cause of symptoms of a robot cell, and what to do about it.

        >>> diagnose(["width below expected"])
        <Diagnosis: grasp-missed (0.8), retry>
        >>> print(diagnose({"part lost": 0.9, "during transfer": 1.0, "kernel holds": 1.0}))
        part-dropped (0.87): use kernel
        remedy part-dropped use kernel: 0.784
          by rule dropped-go-on (CF 0.9)
            cause part-dropped: 0.871
              by rule dropped-away (CF 0.8)
                part lost: 0.9, given
                during transfer: 1, given
              by rule dropped (CF 0.6)
                part lost: 0.9, given
            kernel holds: 1, given

    `symptoms` are some of `SYMPTOMS`, or {symptom: certainty factor}. Other `rules` conclude facts of the same form,
    "cause ..." and "remedy CAUSE ...", from symptoms of their own. If no cause is believed, it is "unknown". If no rule
    has a remedy for any cause, the remedy is to look again, or to give up if "retried already" is believed.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.10 (rules) and Sec. 10.6 (kernels).
    """
    given = given_facts(symptoms, "diagnose")
    if rules is None:
        for fact in given:
            if sentence(fact) not in SYMPTOMS:
                known = nearest(sentence(fact), list(SYMPTOMS))
                raise ArgumentError(f"diagnose: '{sentence(fact)}' is no symptom; {known}")
    found = forward_chain(diagnosis_rules() if rules is None else rules, given)
    causes = {sentence(fact[1:]): value for fact, value in _ranked(found, ("cause",))}
    for cause, certainty in causes.items():
        for fact, _ in _ranked(found, ("remedy", *cause.split())):
            remedy = sentence(fact[1 + len(cause.split()) :])
            return Diagnosis(cause, remedy, certainty, causes, found.how(fact))
    remedy = "give up" if found.holds("retried already") else "look again"
    for cause, certainty in causes.items():
        told = f"no rule has a remedy for: {cause}\n{found.how(('cause', *cause.split()))}"
        return Diagnosis(cause, remedy, certainty, causes, told)
    told = ", ".join(sentence(fact) for fact in given if found.holds(fact)) or "no symptoms that are believed"
    return Diagnosis("unknown", remedy, 0.0, causes, f"no rule has a cause for: {told}")


def _ranked(found: Conclusions, head: Fact) -> list[tuple[Fact, float]]:
    """The believed facts that begin with some words, the most certain first; equals keep the order of the rules."""
    facts = [(fact, value) for fact, value in found.facts.items() if fact[: len(head)] == head and value > BELIEVED]
    return sorted(facts, key=lambda item: -item[1])
