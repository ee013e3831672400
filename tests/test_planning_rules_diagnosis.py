"""Diagnosis of a robot cell: causes and remedies of typical symptoms, and what holds for all symptoms."""

import itertools

import pytest

from adjoint import ArgumentError
from adjoint.planning.rules import REMEDIES, SYMPTOMS, diagnose, diagnosis_rules, knowledge_base


@pytest.mark.parametrize(
    "symptoms, cause, remedy",
    [
        (["width below expected"], "grasp-missed", "retry"),
        (["width below expected", "retried already"], "grasp-missed", "look again"),
        (["width below expected", "part moved"], "part-moved", "look again"),
        (["part moved", "retried already"], "part-moved", "replan"),
        (["width above expected"], "grasp-misaligned", "look again"),
        (["part lost", "during transfer"], "part-dropped", "replan"),
        (["part lost", "during transfer", "part missing"], "part-dropped", "look again"),
        (["part lost", "during transfer", "kernel holds"], "part-dropped", "use kernel"),
        (["width below expected", "during transfer"], "part-dropped", "replan"),
        (["goal blocked"], "goal-occupied", "replan"),
        (["goal blocked", "kernel holds"], "goal-occupied", "use kernel"),
        (["force exceeded", "near goal", "goal blocked"], "goal-occupied", "replan"),
        (["force exceeded", "near goal"], "part-jammed", "retry"),
        (["force exceeded", "near goal", "retried already"], "part-jammed", "give up"),
        (["force exceeded"], "path-blocked", "replan"),
        (["collision felt"], "path-blocked", "replan"),
        (["collision predicted"], "path-blocked", "replan"),
        (["part missing"], "part-unseen", "look again"),
        (["part missing", "retried already"], "part-unseen", "give up"),
        (["part missing", "view blocked"], "part-hidden", "look again"),
        (["pose unreachable"], "out-of-reach", "replan"),
        (["pose unreachable", "retried already"], "out-of-reach", "give up"),
        ([], "unknown", "look again"),
        (["retried already"], "unknown", "give up"),
    ],
)
def test_causes_and_remedies(symptoms, cause, remedy):
    found = diagnose(symptoms)
    assert (found.cause, found.remedy) == (cause, remedy)
    assert found.certainty == found.causes.get(cause, 0.0)
    if cause != "unknown":
        assert f"remedy {cause} {remedy}" in found.explanation and f"cause {cause}" in found.explanation
        assert any(symptom in found.explanation for symptom in symptoms)


@pytest.mark.slow
def test_every_cause_has_one_remedy_whatever_the_symptoms_are():
    """For up to three symptoms: a cause always has a remedy, there is no other one of it, and the same call repeats."""
    for count in (1, 2, 3):
        for symptoms in itertools.combinations(SYMPTOMS, count):
            found = diagnose(symptoms)
            assert found.remedy in REMEDIES
            assert (found.cause == "unknown") == (not found.causes)
            assert found.certainty == max(found.causes.values(), default=0.0)
            assert found == diagnose(symptoms)


def test_certainties_of_symptoms_count():
    sure, unsure = diagnose(["goal blocked"]), diagnose({"goal blocked": 0.5})
    assert sure.certainty == pytest.approx(0.9) and unsure.certainty == pytest.approx(0.45)
    assert diagnose({"goal blocked": 0.1}).cause == "unknown"
    for denied in (-1.0, 0.1):
        found = diagnose({"retried already": denied})
        assert found.remedy == "look again" and found.explanation.endswith("for: no symptoms that are believed")
    first = diagnose({"collision felt": 0.3, "width below expected": 0.9})
    assert first.cause == "grasp-missed" and set(first.causes) == {"grasp-missed", "path-blocked"}
    assert diagnose({"part lost": 1.0, "during transfer": 1.0}).certainty == pytest.approx(0.6 + 0.8 * 0.4)
    assert diagnose(["force exceeded", "collision felt"]).certainty == pytest.approx(0.6 + 0.8 * 0.4)


def test_a_cause_without_a_remedy_is_told():
    rules = knowledge_base("IF motor hot THEN cause overload CF 0.9")
    found = diagnose(["motor hot"], rules)
    assert (found.cause, found.remedy, found.certainty) == ("overload", "look again", 0.9)
    assert "no rule has a remedy for: overload" in found.explanation and "motor hot: 1, given" in found.explanation
    assert diagnose(["motor cold"], rules).cause == "unknown"


def test_symptoms_of_the_rules_are_those_that_are_known():
    """Every condition of a rule is a symptom or a cause that a rule concludes, and every symptom matters to a rule."""
    needed = {" ".join(f) for r in diagnosis_rules().rules for f in (*r.needs.facts, *r.needs.absent)}
    causes = {" ".join(fact) for rule in diagnosis_rules().rules for fact in rule.adds if fact[0] == "cause"}
    assert {x for x in needed if not x.startswith("cause ")} == set(SYMPTOMS)
    assert {x for x in needed if x.startswith("cause ")} == causes
    remedies = {" ".join(fact[2:]) for rule in diagnosis_rules().rules for fact in rule.adds if fact[0] == "remedy"}
    assert remedies == set(REMEDIES)


def test_own_rules_and_bad_input():
    own = knowledge_base(
        "IF smoke THEN cause motor burnt CF 0.7    IF cause motor burnt THEN remedy motor burnt give up"
    )
    found = diagnose(["smoke"], own)
    assert (found.cause, found.remedy, found.certainty) == ("motor burnt", "give up", pytest.approx(0.7))
    assert repr(found) == "<Diagnosis: motor burnt (0.7), give up>" and str(found).startswith(
        "motor burnt (0.7): give up\n"
    )
    with pytest.raises(ArgumentError, match="'part mooved' is no symptom; did you mean 'part moved'"):
        diagnose(["part mooved"])
    with pytest.raises(ArgumentError, match="a KnowledgeBase is needed, got list"):
        diagnose(["part moved"], [])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="facts are a list"):
        diagnose("part moved")
    with pytest.raises(ArgumentError, match="from -1 to 1"):
        diagnose({"part moved": 3})
