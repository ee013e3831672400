"""The rule engine against brute-force fixpoints; certainty factors, the order of firing, explanations, and loops."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint import ArgumentError
from adjoint.planning.rules import (
    BELIEVED,
    Conclusions,
    KnowledgeBase,
    Rule,
    backward_chain,
    combine,
    fact_words,
    forward_chain,
    knowledge_base,
)
from adjoint.planning.strips.task_types import Condition
from adjoint.program import ProgramError

# --- brute force ------------------------------------------------------------------------------------------------------


def fixpoint(rules: KnowledgeBase, facts: set, words: list[str]) -> set:
    """All facts that follow, by trying all words for all variables of all rules, again and again."""
    known = set(facts)
    while True:
        new = set()
        for rule in rules.rules:
            names = sorted({w for fact in rule.needs.facts for w in fact if w.startswith("?")})
            for values in itertools.product(words, repeat=len(names)):
                to = dict(zip(names, values, strict=True))
                if any(to.get(a, a) == to.get(b, b) for a, b in rule.needs.different):
                    continue
                if all(tuple(to.get(w, w) for w in fact) in known for fact in rule.needs.facts):
                    new |= {tuple(to.get(w, w) for w in fact) for fact in rule.adds}
        if new <= known:
            return known
        known |= new


WORDS = ["a", "b", "c"]


@st.composite
def horn_rules(draw) -> KnowledgeBase:
    """Random rules of the predicates p (one word) and q (two words), with variables and constants."""
    word = st.sampled_from(["?x", "?y", "?z", *WORDS[:2]])
    pattern = st.one_of(st.tuples(st.just("p"), word), st.tuples(st.just("q"), word, word))
    rules = []
    for i in range(draw(st.integers(1, 5))):
        facts = tuple(draw(st.lists(pattern, min_size=1, max_size=3)))
        bound = sorted({w for fact in facts for w in fact if w.startswith("?")}) + WORDS
        head = draw(st.one_of(st.just("p"), st.just("q")))
        adds = ((head, *(draw(st.sampled_from(bound)) for _ in range(1 if head == "p" else 2))),)
        variables = [w for w in bound if w.startswith("?")]
        different = ((variables[0], variables[1]),) if len(variables) > 1 and draw(st.booleans()) else ()
        rules.append(Rule(f"r{i}", Condition(facts, different=different), adds))
    return KnowledgeBase(tuple(rules))


ground = st.one_of(
    st.tuples(st.just("p"), st.sampled_from(WORDS)),
    st.tuples(st.just("q"), st.sampled_from(WORDS), st.sampled_from(WORDS)),
)


@pytest.mark.slow
@settings(deadline=None)
@given(horn_rules(), st.sets(ground, max_size=4))
def test_the_forward_closure_is_the_fixpoint(rules, facts):
    found = forward_chain(rules, facts)
    assert found.finished and found.believed == fixpoint(rules, facts, WORDS)
    assert all(value == 1 for value in found.facts.values())
    # Refraction: nothing fires twice.
    assert len({(f.rule.name, f.premises) for f in found.firings}) == len(found.firings)


@pytest.mark.slow
@settings(deadline=None)
@given(horn_rules(), st.sets(ground, max_size=4))
def test_backward_chaining_proves_exactly_the_forward_closure(rules, facts):
    closure = fixpoint(rules, facts, WORDS)
    for goal in (("p", "?x"), ("q", "?x", "?y"), ("q", "?x", "?x"), ("q", "a", "?x")):
        fits = {f for f in closure if len(f) == len(goal) and f[0] == goal[0]}
        fits = {f for f in fits if goal[1:] != ("?x", "?x") or f[1] == f[2]}
        fits = {f for f in fits if goal[1] != "a" or f[1] == "a"}
        assert set(backward_chain(rules, goal, facts).answers) == fits
    for goal in [("p", a) for a in WORDS] + [("q", a, b) for a in WORDS for b in WORDS]:
        assert backward_chain(rules, goal, facts).holds(goal) == (goal in closure)


@settings(deadline=None)
@given(st.data())
def test_certainties_are_the_same_forward_backward_and_in_every_order(data):
    """Rules without circles: p0 supports p1 and so on; the certainty is that of the recursive definition."""
    factor = st.sampled_from([-0.8, -0.3, 0.4, 0.6, 0.9])
    rules = []
    for i in range(data.draw(st.integers(1, 7))):
        head = data.draw(st.integers(2, 5))
        body = data.draw(st.lists(st.integers(0, head - 1), min_size=1, max_size=2, unique=True))
        rules.append(
            Rule(f"r{i}", Condition(tuple((f"p{b}",) for b in body)), ((f"p{head}",),), certainty=data.draw(factor))
        )
    given_ = {("p0",): data.draw(st.sampled_from([0.3, 0.7, 1.0])), ("p1",): data.draw(st.sampled_from([0.1, 0.5]))}

    def certainty(i: int) -> float:
        total = given_.get((f"p{i}",), 0.0)
        for rule in rules:
            if rule.adds == ((f"p{i}",),):
                least = min(certainty(int(fact[0][1:])) for fact in rule.needs.facts)
                total = combine(total, rule.certainty * least if least > BELIEVED else 0.0)
        return total

    forward = forward_chain(KnowledgeBase(tuple(rules)), given_)
    other = forward_chain(KnowledgeBase(tuple(reversed(rules))), dict(reversed(given_.items())))
    for i in range(6):
        expected = certainty(i)
        backward = backward_chain(KnowledgeBase(tuple(rules)), f"p{i}", given_)
        for found in (forward, other, backward):
            assert found.certainty(f"p{i}") == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@settings(deadline=None)
@given(horn_rules(), st.dictionaries(ground, st.sampled_from([-0.5, 0.3, 0.6, 1.0]), max_size=4), st.data())
def test_every_certainty_is_that_of_its_reasons(rules, facts, data):
    """Also in circles: a fact has the certainty that what was given and its reasons give together."""
    factor = st.sampled_from([-0.7, 0.3, 0.6, 0.9])
    some = KnowledgeBase(tuple(Rule(r.name, r.needs, r.adds, certainty=data.draw(factor)) for r in rules.rules))
    found = forward_chain(some, facts)
    assert found.finished and set(found.facts) <= fixpoint(rules, set(facts), WORDS)
    for fact, value in found.facts.items():
        total = facts.get(fact, 0.0)
        for firing in found.reasons.get(fact, ()):
            least = min(found.certainty(premise) for premise in firing.premises)
            total = combine(total, firing.rule.certainty * least if least > BELIEVED else 0.0)
        # Certain evidence is given once at most, so the order of combination does not matter.
        assert value == pytest.approx(total, abs=1e-9) and -1 <= value <= 1


def fits(goal: tuple, fact: tuple) -> bool:
    """Whether some words for the goal's variables make it the fact."""
    pairs = list(zip(goal, fact, strict=False))
    same = all(b == d for a, b in pairs for c, d in pairs if a == c)
    return len(goal) == len(fact) and same and all(a == b for a, b in pairs if not a.startswith("?"))


def leading_to(goal: tuple, found: Conclusions) -> set:
    """The firings whose conditions hold at the end, and which are evidence for a goal, or for what is evidence."""
    wanted = {fact for fact in found.facts if fits(goal, fact)}
    leading: set = set()
    while True:
        more = {f for f in found.firings if wanted & set(f.adds) and all(map(found.holds, f.premises))}
        if more == leading:
            return leading
        leading, wanted = more, wanted | {premise for firing in more for premise in firing.premises}


GOALS = [("p", "?x"), ("q", "?x", "?y"), ("q", "?x", "?x"), ("q", "a", "?x"), ("p", "a"), ("q", "b", "a")]


@pytest.mark.slow
@settings(deadline=None)
@given(horn_rules(), st.dictionaries(ground, st.sampled_from([-1.0, 0.1, 0.3, 0.6, 1.0]), max_size=4), st.data())
def test_the_same_knowledge_gives_the_same_certainties(rules, facts, data):
    """Circles, too: in any order of facts and rules, forward and backward, and the same rules fire."""
    factor = st.sampled_from([0.3, 0.5, 0.6, 0.9, 1.0])
    rules = [Rule(r.name, r.needs, r.adds, certainty=data.draw(factor)) for r in rules.rules]
    forward = forward_chain(KnowledgeBase(tuple(rules)), facts)
    mixed = KnowledgeBase(tuple(data.draw(st.permutations(rules))))
    other = forward_chain(mixed, dict(data.draw(st.permutations(list(facts.items())))))
    assert other.believed == forward.believed and leading_to(("p", "?x"), other) == leading_to(("p", "?x"), forward)
    assert all(other.certainty(fact) == pytest.approx(value, abs=1e-9) for fact, value in forward.facts.items())
    for goal in GOALS:
        backward = backward_chain(mixed, goal, facts)
        assert all(forward.certainty(x) == pytest.approx(value, abs=1e-9) for x, value in backward.facts.items())
        assert set(backward.answers) == {fact for fact in forward.believed if fits(goal, fact)}
        assert leading_to(goal, forward) <= set(backward.firings) <= set(forward.firings)
        assert len(set(backward.firings)) == len(backward.firings)
        assert all(backward.holds(premise) for firing in backward.firings for premise in firing.premises)


def test_circles_do_not_depend_on_the_order_of_facts():
    rules = knowledge_base("IF a THEN b CF 0.5   IF b THEN a CF 0.5")
    for facts in ({"a": 0.5, "b": 0.5}, {"b": 0.5, "a": 0.5}):
        for found in (
            forward_chain(rules, facts),
            backward_chain(rules, "a", facts),
            backward_chain(rules, "b", facts),
        ):
            assert (found.certainty("a"), found.certainty("b")) == (0.5, 0.625)  # the first rule counts
    # What the order of the facts hides at first is believed at the end, and used.
    more = knowledge_base("IF a THEN b CF 0.5   IF b THEN a CF 0.5   IF b THEN c CF 0.5   IF c THEN d")
    for facts in ({"a": 0.3, "b": 0.3}, {"b": 0.3, "a": 0.3}):
        assert forward_chain(more, facts).certainty("d") == pytest.approx(0.5 * (0.3 + 0.15 * 0.7))


# --- the book's rule, Sec. 10.10.2 ------------------------------------------------------------------------------------

BACKUP = "IF power fails AND backup available AND cause gone THEN switch to backup"
PREMISES = ["power fails", "backup available", "cause gone"]


def test_the_rule_of_the_book_fires_once():
    found = forward_chain(knowledge_base(BACKUP), PREMISES)
    assert len(found.firings) == 1 and found.holds("switch to backup") and found.finished
    for dropped in PREMISES:
        fewer = [fact for fact in PREMISES if fact != dropped]
        assert forward_chain(knowledge_base(BACKUP), fewer).firings == ()
        assert not backward_chain(knowledge_base(BACKUP), "switch to backup", fewer).answers


# --- certainty factors ------------------------------------------------------------------------------------------------

factors = st.floats(-1, 1, allow_subnormal=False)
inner = st.floats(-0.99, 0.99, allow_subnormal=False)


@settings(deadline=None)
@given(factors, factors)
def test_combination_is_commutative_bounded_and_signed(a, b):
    assert combine(a, b) == pytest.approx(combine(b, a), abs=1e-12)
    assert -1 <= combine(a, b) <= 1
    assert combine(a, 0.0) == a and combine(-a, -b) == pytest.approx(-combine(a, b), abs=1e-12)
    if a > 0 and b > 0:
        assert combine(a, b) >= max(a, b) - 1e-12
        assert combine(a, b) == pytest.approx(1 - (1 - a) * (1 - b), abs=1e-12)  # the second formulation
    if abs(a) < 1 and abs(b) < 1 and a > 0 > b:
        assert b - 1e-12 <= combine(a, b) <= a + 1e-12


@settings(deadline=None)
@given(inner, inner, inner)
def test_combination_is_associative(a, b, c):
    assert combine(combine(a, b), c) == pytest.approx(combine(a, combine(b, c)), abs=1e-9)


def test_combination_of_extremes():
    assert combine(1, -1) == combine(-1, 1) == 0
    assert combine(1, -0.5) == combine(1, 0.5) == 1 and combine(-1, 0.9) == -1
    for bad in (1.5, -2, "0.5", None, float("nan")):
        with pytest.raises(ArgumentError, match="from -1 to 1"):
            combine(0.5, bad)


def test_certainty_of_a_conclusion():
    rules = knowledge_base("IF a AND b THEN c CF 0.8   IF d THEN c CF 0.5   IF c THEN e CF 0.5   IF f THEN e CF -0.4")
    found = forward_chain(rules, {"a": 0.9, "b": 0.5})
    assert found.certainty("c") == pytest.approx(0.4) and found.certainty("e") == pytest.approx(0.2)
    found = forward_chain(rules, {"a": 0.9, "b": 0.5, "d": 1.0})
    assert found.certainty("c") == pytest.approx(0.4 + 0.5 * 0.6)
    assert found.certainty("e") == pytest.approx(0.35)
    found = forward_chain(rules, {"a": 0.9, "b": 0.5, "d": 1.0, "f": 1.0})
    assert found.certainty("e") == pytest.approx((0.35 - 0.4) / (1 - 0.35))
    # At or below 0.2 a premise does not count.
    assert forward_chain(rules, {"d": 0.2}).firings == () and forward_chain(rules, {"d": 0.21}).firings != ()


def test_a_circle_does_not_make_itself_certain():
    rules = knowledge_base("IF a THEN b CF 0.9   IF b THEN a CF 0.9")
    found = forward_chain(rules, {"a": 0.5})
    assert found.certainty("a") == 0.5 and found.certainty("b") == pytest.approx(0.45)
    assert backward_chain(rules, "a", {"a": 0.5}).certainty("a") == 0.5
    assert not forward_chain(rules, []).facts and not backward_chain(rules, "a").answers


def test_late_evidence_reaches_what_followed():
    """The conclusion d was drawn before the second evidence for b came, and is corrected; so are those that fall."""
    rules = knowledge_base("""
        IF a THEN b CF 0.5
        RULE first SALIENCE 10: IF b THEN d
        IF c THEN b CF 0.5
        IF e THEN b CF -0.9""")
    assert forward_chain(rules, ["a", "c"]).certainty("d") == pytest.approx(0.75)
    found = forward_chain(rules, ["a", "c", "e"])
    assert not found.holds("d") and found.certainty("b") == pytest.approx((0.75 - 0.9) / 0.25)


# --- order ------------------------------------------------------------------------------------------------------------


def order(text: str, facts) -> list[str]:
    return [firing.rule.name for firing in forward_chain(knowledge_base(text), facts).firings]


def test_order_of_firing():
    three = """
        RULE one: IF a THEN x
        RULE two: IF a AND b THEN y
        RULE three: IF a AND b AND NOT c THEN z"""
    assert order(three, ["a", "b"]) == ["three", "two", "one"]  # R1: most conditions first
    assert order(three.replace("one:", "one SALIENCE 1:"), ["a", "b"]) == ["one", "three", "two"]
    assert order(three.replace("three:", "three SALIENCE -1:"), ["a", "b"]) == ["two", "one", "three"]
    recent = "RULE old: IF a THEN x    RULE new: IF b THEN y"
    assert order(recent, ["a", "b"]) == ["new", "old"] and order(recent, ["b", "a"]) == ["old", "new"]
    assert order("RULE i: IF a THEN b   RULE j: IF c THEN d   RULE k: IF b THEN e", ["c", "a"]) == ["i", "k", "j"]
    assert order("RULE i: IF a THEN x   RULE j: IF a THEN y", ["a"]) == ["i", "j"]


def test_a_specific_rule_can_keep_a_general_one_from_firing():
    text = """
        RULE general:  IF order ?x AND NOT done ?x THEN box ?x AND done ?x
        RULE specific: IF order ?x AND fragile ?x AND NOT done ?x THEN padded box ?x AND done ?x"""
    found = forward_chain(knowledge_base(text), ["order cup", "fragile cup", "order bolt"])
    assert found.holds("padded box cup") and not found.holds("box cup") and found.holds("box bolt")


def test_facts_are_deleted_and_rules_that_were_blocked_fire():
    text = """
        RULE take: IF hand empty AND part ?x AND NOT packed ?x AND NOT held ?x THEN held ?x AND NOT hand empty
        RULE pack: IF held ?x THEN packed ?x AND NOT held ?x AND hand empty"""
    found = forward_chain(knowledge_base(text), ["hand empty", "part a", "part b", "part c"])
    assert [f.rule.name for f in found.firings] == ["take", "pack"] * 3
    assert found.believed >= {("packed", x) for x in "abc"} and found.holds("hand empty") and not found.holds("held a")
    text = "RULE stop SALIENCE -1: IF alarm THEN NOT alarm     RULE go: IF start AND NOT alarm THEN run"
    assert order(text, ["start", "alarm"]) == ["stop", "go"]
    assert "alarm: deleted since" in forward_chain(knowledge_base(text), ["start", "alarm"]).why("alarm")


def test_a_second_then_is_no_rule_without_conditions():
    for text, place in (("IF a THEN b THEN c", 13), ("IF a THEN b ELSE c", 13), ("IF a IF b THEN c", 6)):
        with pytest.raises(ProgramError, match=f"rules:1:{place}: error: "):
            knowledge_base(text)
    assert len(knowledge_base("IF a THEN b\n  THEN c").rules) == 2


def test_rules_without_conditions_and_absent_facts_with_variables():
    found = forward_chain(knowledge_base("THEN start   IF start AND NOT obstacle ?o THEN go"), [])
    assert found.believed == {("start",), ("go",)}
    blocked = forward_chain(knowledge_base("THEN start   IF start AND NOT obstacle ?o THEN go"), ["obstacle box"])
    assert not blocked.holds("go")


# --- ends -------------------------------------------------------------------------------------------------------------


def test_loops_end():
    flip = knowledge_base("IF on THEN off AND NOT on    IF off THEN on AND NOT off")
    found = forward_chain(flip, ["on"], max_firings=50)
    assert not found.finished and len(found.firings) == 50 and "50 rules have fired" in found.reason
    found = forward_chain(flip, ["on"], max_seconds=0.05, max_firings=10**9)
    assert not found.finished
    circle = knowledge_base("IF link ?x ?y THEN path ?x ?y    IF path ?x ?y AND link ?y ?z THEN path ?x ?z")
    links = ["link a b", "link b c", "link c a"]
    assert forward_chain(circle, links).finished
    assert len(backward_chain(circle, "path ?x ?y", links).answers) == 9
    assert not backward_chain(circle, "path a ?y", links, max_firings=2).finished


def test_left_and_mutual_recursion():
    rules = knowledge_base("IF path ?x ?y AND path ?y ?z THEN path ?x ?z   IF link ?x ?y THEN path ?x ?y")
    links = [f"link n{i} n{i + 1}" for i in range(8)]
    assert len(backward_chain(rules, "path n0 ?y", links).answers) == 8
    both = knowledge_base("IF even ?x AND next ?x ?y THEN odd ?y   IF odd ?x AND next ?x ?y THEN even ?y\nTHEN even 0")
    numbers = [f"next {i} {i + 1}" for i in range(9)]
    assert set(backward_chain(both, "odd ?n", numbers).answers) == {("odd", str(i)) for i in (1, 3, 5, 7, 9)}


@pytest.mark.slow
def test_many_facts_are_matched_by_their_words():
    """2000 pairs joined by a word: without an index, 4 million pairs would be compared."""
    rules = knowledge_base("IF parent ?x ?y AND parent ?y ?z THEN grandparent ?x ?z")
    found = forward_chain(rules, [f"parent n{i} n{i + 1}" for i in range(2000)], max_seconds=30)
    assert found.finished and len(found.firings) == 1999


# --- questions --------------------------------------------------------------------------------------------------------


def test_questions_are_asked_once_and_only_if_needed():
    text = (
        "IF noise ?x AND hot ?x THEN worn ?x CF 0.9   IF worn ?x AND old ?x THEN replace ?x   ASK hot ?x   ASK old ?x"
    )
    asked = []

    def ask(fact):
        asked.append(fact)
        return {"hot": 0.5, "old": True}[fact[0]]

    found = backward_chain(knowledge_base(text), "replace ?m", ["noise pump"], ask=ask)
    assert asked == [("hot", "pump"), ("old", "pump")]
    assert found.answers == {("replace", "pump"): pytest.approx(0.45)}
    assert [(q.rule, q.answer) for q in found.questions] == [("rule1", 0.5), ("rule2", 1.0)]
    asked.clear()
    assert not backward_chain(
        knowledge_base(text), "replace ?m", ["noise pump"], ask=lambda fact: asked.append(fact)
    ).answers
    assert asked == [("hot", "pump")]  # unknown: so its age does not matter
    for denied in (False, -0.4, 0.1):
        found = backward_chain(knowledge_base(text), "replace ?m", ["noise pump"], ask=lambda fact, cf=denied: cf)
        assert [q.fact for q in found.questions] == [("hot", "pump")]  # denied or not believed: no matter, either
        assert not found.answers and not found.firings and found.certainty("worn pump") == 0
    assert backward_chain(knowledge_base(text), "old fan", ask=lambda fact: 0.7).questions[0].rule == ""
    with pytest.raises(ArgumentError, match="the answer about 'hot pump'"):
        backward_chain(knowledge_base(text), "worn ?m", ["noise pump"], ask=lambda fact: "yes")


@pytest.mark.parametrize(
    ("text", "facts", "asked"),
    [
        ("IF a AND c THEN b", {"a": -1.0}, []),
        ("IF a AND c THEN b", {"a": 0.2}, []),
        ("IF a AND c THEN b", {"a": 0.3}, ["c"]),
        ("IF s THEN a CF 0.5   IF t THEN a CF -0.9   IF a AND c THEN b", ["s", "t"], []),  # evidence against it
        ("IF s THEN a CF 0.2   IF t THEN a CF 0.2   IF a AND c THEN b", ["s", "t"], ["c"]),  # both together
        ("IF x ?u AND x ?v AND ?u <> ?v AND c THEN b", ["x 1"], []),  # no two that differ
        ("IF c AND NOT d THEN b", {"d": 0.1}, ["c"]),
    ],
)
def test_questions_are_asked_only_where_all_conditions_before_hold(text, facts, asked):
    found = backward_chain(knowledge_base(text + "   ASK c   ASK d"), "b", facts, ask=lambda fact: True)
    assert [" ".join(question.fact) for question in found.questions] == asked
    assert found.holds("b") == bool(asked)


def test_answers_for_absent_facts_are_known_everywhere():
    rules = knowledge_base("IF any ?x AND NOT hot y AND hot ?x THEN b   IF hot ?x THEN any z   ASK hot y")
    assert not backward_chain(rules, "b", [], ask=lambda fact: True).answers


def test_answers_reach_goals_with_variables():
    """The table of "hot ?x" exists before "hot pump" is asked for."""
    text = (
        "IF hot ?x THEN alarm   IF unit ?x AND hot ?x THEN checked ?x   IF alarm AND checked ?x THEN done   ASK hot ?x"
    )
    found = backward_chain(knowledge_base(text), "done", ["unit pump"], ask=lambda fact: True)
    both = knowledge_base(text.replace("alarm AND checked ?x", "checked ?x AND alarm"))
    assert backward_chain(both, "done", ["unit pump"], ask=lambda fact: True).holds("done")
    assert not found.answers  # an alarm of any unit is not asked for, and without it the units are not checked


def test_absent_facts_backward():
    rules = knowledge_base("IF bird ?x AND NOT odd ?x THEN flies ?x    IF penguin ?x THEN odd ?x")
    facts = ["bird tux", "bird tweety", "penguin tux"]
    assert set(backward_chain(rules, "flies ?x", facts).answers) == {("flies", "tweety")}
    with pytest.raises(ArgumentError, match="depends on itself"):
        backward_chain(knowledge_base("IF NOT q THEN p   IF NOT p THEN q"), "p")
    chain = knowledge_base("   ".join(f"IF NOT p{i + 1} THEN p{i}" for i in range(20)))
    assert backward_chain(chain, "p0").holds("p0") == (20 % 2 == 1)
    with pytest.raises(ArgumentError, match="more than 50"):
        backward_chain(knowledge_base("   ".join(f"IF NOT p{i + 1} THEN p{i}" for i in range(200))), "p0")


# --- explanations -----------------------------------------------------------------------------------------------------


def test_explanations_have_every_premise():
    rules = knowledge_base("""
        RULE low:  IF level ?t low AND NOT sensor ?t broken THEN empty ?t CF 0.9
        RULE stop: IF empty ?t AND pump ?p uses ?t THEN stop ?p
        RULE call: IF stop ?p AND empty ?t THEN call service""")
    found = forward_chain(rules, {"level t1 low": 0.8, "pump p1 uses t1": 1.0})
    how = found.how("call service")
    for firing in found.firings:
        assert firing.rule.name in how
        assert all(" ".join(premise) in how for premise in (*firing.premises, *firing.absent))
    assert "sensor t1 broken: not there" in how and "level t1 low: 0.8, given" in how and "see above" in how
    why = found.why("level t1 low")
    assert all(text in why for text in ("empty t1", "stop p1", "call service", "by rule low with ?t = t1"))
    assert found.how("pump p1 uses t1") == "pump p1 uses t1: 1, given"
    backward = backward_chain(rules, "call service", {"level t1 low": 0.8, "pump p1 uses t1": 1.0})
    assert sorted(backward.how("call service").split()) == sorted(how.split())
    with pytest.raises(ArgumentError, match="nothing is known about 'stop p2'; did you mean 'stop p1'"):
        found.how("stop p2")
    with pytest.raises(ArgumentError, match="nothing is known"):
        found.why("weather")


def test_explanations_say_when_a_fact_was_absent():
    rules = knowledge_base("IF start AND NOT alarm AND NOT smoke ?x THEN run   IF run THEN alarm AND smoke a")
    how = forward_chain(rules, ["start"]).how("run")
    assert "alarm: not there when the rule fired" in how and "smoke ?x: not there when the rule fired" in how
    assert forward_chain(knowledge_base("IF start AND NOT alarm THEN run"), ["start"]).how("run").endswith("not there")


def test_explanations_of_circles_and_ladders_end():
    circle = knowledge_base("IF a THEN b   IF b THEN c   IF c THEN a")
    found = forward_chain(circle, ["a"])
    assert found.how("c").count("\n") < 10 and found.why("a").count("\n") < 10
    ladder = "   ".join(f"IF l{i} THEN l{i + 1}   IF r{i} THEN l{i + 1}   IF l{i} THEN r{i + 1}" for i in range(40))
    found = forward_chain(knowledge_base(ladder), ["l0", "r0"])
    assert found.how("l40").count("\n") < 1000  # there are more than 2^20 ways


# --- texts ------------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(horn_rules())
def test_rules_are_read_as_they_are_printed(rules):
    assert knowledge_base(str(rules)) == rules


def test_texts_of_rules():
    read = knowledge_base("""
        # a remark
        rule r1 salience -3: if power fails and not ?b broken and backup ?b and ?b <> main
        then switch to ?b and not main on cf -0.5
        ask ?b broken""")
    rule = read.rule("r1")
    assert rule.needs == Condition((("power", "fails"), ("backup", "?b")), (("?b", "broken"),), (), (("?b", "main"),))
    assert rule.adds == (("switch", "to", "?b"),) and rule.deletes == (("main", "on"),)
    assert (rule.certainty, rule.salience, read.askable) == (-0.5, -3, (("?b", "broken"),))
    assert knowledge_base(str(read)) == read and read.source[rule.at].startswith("rule r1")  # pyright: ignore[reportOptionalSubscript]
    assert knowledge_base("").rules == ()


@pytest.mark.parametrize(
    "text, line, column, told",
    [
        ("IF a b", 1, 7, "AND or THEN is missing; the text ends here"),
        ("IF a THEN", 1, 10, "a fact is missing after THEN"),
        ("IF THEN b", 1, 4, "a fact is missing in the condition"),
        ("IF a AND\nTHEN b", 2, 1, "a fact is missing in the condition"),
        ("IFF a THEN b", 1, 1, "IF or THEN is missing; 'IFF' stands here"),
        ("IF a THEN b CF high", 1, 16, "CF needs a number; 'high' stands here"),
        ("IF a THEN b CF", 1, 15, "a number is missing after CF"),
        ("IF a THEN b CF 1.5", 1, 1, "certainty 1.5; it is from -1 to 1"),
        ("IF a THEN b CF 0", 1, 1, "not 0"),
        ("RULE x SALIENCE 1.5: IF a THEN b", 1, 17, "whole number"),
        ("RULE IF a THEN b", 1, 6, "the name of the rule is missing"),
        ("RULE x IF a THEN b", 1, 8, "':' is missing"),
        ("RULE x: IF a THEN b\nRULE x: IF b THEN c", 2, 6, "there is a rule 'x' already"),
        ("IF a ?x THEN b ?y", 1, 1, "?y in 'b ?y' stands in no condition"),
        ("IF a ?x AND NOT c ?z THEN b ?z", 1, 1, "?z in 'b ?z' stands in no condition"),
        ("IF a AND ?x <> b THEN c", 1, 1, "?x in '?x <> b' stands in no condition"),
        ("IF a ? b THEN c", 1, 6, "has no meaning here"),
        ("ASK", 1, 4, "a fact is missing after ASK"),
        ("IF " + " AND ".join(["a"] * 101) + " THEN b", 1, 604, "more than 100 conditions"),
    ],
)
def test_what_cannot_be_read_is_shown(text, line, column, told):
    with pytest.raises(ProgramError, match="rules:") as caught:
        knowledge_base(text)
    assert told in str(caught.value)
    assert caught.value.position == (line, column)


def test_bad_input():
    rules = knowledge_base(BACKUP)
    for chain in (forward_chain, lambda r, f, **o: backward_chain(r, "switch", f, **o)):
        with pytest.raises(ArgumentError, match="a KnowledgeBase is needed"):
            chain(BACKUP, [])
        with pytest.raises(ArgumentError, match="facts are a list"):
            chain(rules, "power fails")
        with pytest.raises(ArgumentError, match="'power \\?x' has a variable"):
            chain(rules, ["power ?x"])
        with pytest.raises(ArgumentError, match="the certainty of 'power fails' must be a number from -1 to 1"):
            chain(rules, {"power fails": 2})
        with pytest.raises(ArgumentError, match="a fact is words"):
            chain(rules, [3])
        with pytest.raises(ArgumentError, match="must be a number above 0"):
            chain(rules, [], max_firings=0)
    with pytest.raises(ArgumentError, match="a fact is words"):
        fact_words("")
    with pytest.raises(ArgumentError, match="no rule 'rule2'; did you mean 'rule1'"):
        rules.rule("rule2")
    with pytest.raises(ArgumentError, match="neither adds nor deletes"):
        Rule("r", Condition((("a",),)))
    with pytest.raises(ArgumentError, match="write one variable twice"):
        Rule("r", Condition((("a", "?x", "?y"),), same=(("?x", "?y"),)), (("b",),))
    with pytest.raises(ArgumentError, match="several rules with the name 'r'"):
        KnowledgeBase((Rule("r", Condition(), (("a",),)), Rule("r", Condition(), (("b",),))))
    with pytest.raises(ArgumentError, match="rule 'rule1' deletes facts"):
        backward_chain(knowledge_base("IF a THEN NOT a"), "b")
    with pytest.raises(ArgumentError, match="a text is needed"):
        knowledge_base(["IF a THEN b"])
    assert isinstance(forward_chain(rules, frozenset({("power", "fails")})), Conclusions)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": None}, "the name of a rule must be a text, got None"),
        ({"adds": ("switch on",)}, r"rule 'r': adds has 'switch on'; a fact is words, such as \('power', 'fails'\)"),
        ({"adds": "switch"}, "rule 'r': adds must be a tuple, got str"),
        ({"adds": ("switch", "on")}, "adds has 'switch'"),
        ({"deletes": (("a", ""),)}, "deletes has"),
        ({"needs": Condition(("power fails",))}, "needs.facts has 'power fails'"),
        ({"needs": Condition(absent=[("a",)])}, "needs.absent must be a tuple, got list"),
        ({"salience": "high"}, "salience must be a whole number, got 'high'"),
        ({"salience": True}, "salience must be a whole number, got True"),
    ],
)
def test_rules_of_wrong_parts(change, message):
    good = {"name": "r", "needs": Condition((("a",),)), "adds": (("switch", "on"),)}
    assert forward_chain(KnowledgeBase((Rule(**good),)), ["a"]).holds("switch on")
    with pytest.raises(ArgumentError, match=message):
        Rule(**good | change)


def test_askable_facts_of_other_kinds():
    for bad in (5, "hot", ("hot",)):
        with pytest.raises(ArgumentError, match="KnowledgeBase: askable"):
            KnowledgeBase((), bad)  # type: ignore[arg-type]


def test_conditions_have_no_or():
    with pytest.raises(ProgramError, match=r"rules:1:6: error: a rule has no OR"):
        knowledge_base("IF a OR b THEN c")
