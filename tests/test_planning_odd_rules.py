"""Rules, formulas, tables and memories with odd input: explosions end by their budgets, wrong arguments are named."""

import random
import re
import time
from dataclasses import replace

import pytest

import adjoint as aj
from adjoint.planning import (
    And,
    Atom,
    Condition,
    KnowledgeBase,
    MacroStore,
    PlanMemory,
    Rule,
    Variable,
    backward_chain,
    book_task,
    clause_form,
    decide,
    expand,
    find_countermodel,
    formula,
    forward_chain,
    generalise,
    highest_kernel,
    holds,
    instantiate,
    kernel,
    knowledge_base,
    learn_differences,
    load_memory,
    monitor,
    prove,
    relevant_part,
    solve,
    substitute,
    term,
    triangle_table,
    truth_table,
    with_macros,
)
from adjoint.program import ProgramError

BLOCKS = book_task("blocks")
PLAN = solve(BLOCKS)

# --- explosions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["", " AND never"])
def test_joins_of_many_conditions_end(end):
    """Eight conditions over sixty facts have 60^8 ways to hold; with a condition that never does, none is found."""
    conditions = " AND ".join(f"?a{k} ?b{k}" for k in range(8))
    rules, facts = knowledge_base(f"IF {conditions}{end} THEN boom"), [f"f{k} g{k}" for k in range(60)]
    began = time.perf_counter()
    for found in (forward_chain(rules, facts, max_seconds=0.2), backward_chain(rules, "boom", facts, max_seconds=0.2)):
        assert end or (not found.finished and found.reason)
    assert time.perf_counter() - began < 5


@pytest.mark.slow
def test_long_chains_backward_are_followed_rule_by_rule():
    rules = knowledge_base("\n".join(f"IF a{k} THEN a{k + 1}" for k in range(2000)))
    assert backward_chain(rules, "a2000", ["a0"]).holds("a2000")


def test_formulas_that_share_their_parts_have_a_bound():
    shared = Atom("P")
    with pytest.raises(aj.ArgumentError, match="more than 1000000 parts"):
        for _ in range(60):
            shared = And(shared, shared)
    assert shared.size <= 1_000_000


# --- random texts -----------------------------------------------------------------------------------------------------

RULES = """RULE one SALIENCE 3: IF power fails AND backup ?b AND NOT ?b broken THEN switch to ?b CF 0.8
IF switch to ?b AND switch to ?c AND ?b <> ?c THEN NOT switch to ?c  # a remark
ASK ?b broken"""
FORMULAS = [
    "forall x s. AT(BOX, x, s) & ~ONBOX(s) -> AT(BOX, x, climbbox(s))",
    "(∀x)[ROBOT(x) ∧ {∃t (CANDO(x, t))} ⇒ ~INTELLIGENT(x)] <-> P | Q(?y)",
    "exists y. P(f(g(?x)), y) -> (Q -> R) and not S",
]
WORDS = "RULE IF AND NOT THEN CF ASK SALIENCE : <> ?b ?x -1 0.5 1e999 nan 9999999999999999999 # ~ ( ) [ ] { } . , ->"
WORDS = [
    *WORDS.split(),
    "∀",
    "∃",
    "<->",
    "forall",
    "exists",
    "\u202e",
    "é",
    "\x00",
    "\n",
    "",
    "'",
    '"',
    "\\",
    "?" * 50,
    "(" * 300,
]


def mutated(text: str, draw: random.Random) -> str:
    """The text with words or letters replaced, left out, doubled or moved."""
    words = re.split(r"(\s+|[()])", text)
    for _ in range(draw.randint(1, 4)):
        at, kind = draw.randrange(len(words)), draw.randrange(4)
        if kind == 0:
            words[at] = draw.choice(WORDS)
        elif kind == 1:
            words.insert(at, draw.choice(WORDS))
        elif kind == 2:
            words[at] = words[at][1:]
        else:
            words.insert(draw.randrange(len(words)), words[at])
    return "".join(words)


@pytest.mark.slow
def test_random_changes_give_rules_and_formulas_or_errors_with_places():
    draw = random.Random(0)
    counts = {"read": 0, "refused": 0}
    for k in range(10_000):
        text = RULES if k % 2 else draw.choice(FORMULAS)
        text = mutated(text, draw)
        try:
            found = knowledge_base(text) if k % 2 else formula(text)
        except ProgramError as error:
            assert error.position is not None
            assert all(0 <= d.span.start <= d.span.end <= len(text) for d in error.diagnostics), text
            counts["refused"] += 1
            continue
        counts["read"] += 1
        again = knowledge_base(str(found)) if isinstance(found, KnowledgeBase) else formula(str(found))
        assert again == found
        if isinstance(found, KnowledgeBase):
            assert forward_chain(found, ["power fails", "backup p", "backup q"], max_firings=50).facts
        elif k % 20 == 0:
            assert prove([found], "Z", max_seconds=0.05).status in ("not provable", "budget", "proved")
    assert counts["read"] > 500 and counts["refused"] > 5000


# --- arguments of other kinds -----------------------------------------------------------------------------------------

ONE = knowledge_base("IF a THEN b    ASK a")
TABLE = triangle_table(PLAN)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: forward_chain(ONE, 3), "facts are a list, got int"),
        (lambda: forward_chain(ONE, ["a"], max_seconds="long"), "max_seconds must be a number above 0"),
        (lambda: backward_chain(ONE, "b", max_firings=None), "max_firings must be a number above 0"),
        (lambda: backward_chain(ONE, "b", ask=3), "ask must be a function"),
        (lambda: Rule("r", Condition(), adds=(("b",),), certainty="x"), "has the certainty x"),
        (lambda: Rule("r", None, adds=(("b",),)), "needs must be a Condition"),
        (lambda: KnowledgeBase(3), "must be a Rule, got int"),
        (lambda: prove(["P"], "P", max_clauses="many"), "max_clauses must be a number above 0"),
        (lambda: prove(3, "P"), "axioms are a list of formulas, got int"),
        (lambda: find_countermodel(3, "P"), "axioms are a list of formulas, got int"),
        (lambda: find_countermodel(["P"], "Q", max_objects="x"), "max_objects must be a number above 0"),
        (lambda: holds("P", 3), "must be an Interpretation, got int"),
        (lambda: substitute("P(?x)", {"x": "A"}), "a dict {Variable: term} is needed"),
        (lambda: Atom("P", (3,)), "argument 1 is no term but 3"),
        (lambda: truth_table(3), "a text is needed"),
        (lambda: clause_form(None), "a text is needed"),
        (lambda: kernel(3, 1), "must be a TriangleTable, got int"),
        (lambda: highest_kernel(PLAN, []), "must be a TriangleTable, got Plan"),
        (lambda: decide(TABLE, [], after="x"), "decide: after must be a whole number"),
        (lambda: decide(None, []), "must be a TriangleTable, got NoneType"),
        (lambda: monitor(PLAN, 3, lambda a: None), "'sense' must be a function, got int"),
        (lambda: monitor(PLAN, lambda: (), None), "'act' must be a function, got NoneType"),
        (lambda: monitor(PLAN, lambda: (), lambda a: None, replan=PLAN), "'replan' must be a function, got Plan"),
        (lambda: with_macros(3, []), "must be a Problem, got int"),
        (lambda: expand(3, []), "must be a Plan, got int"),
        (lambda: expand(PLAN, [3]), "a PlanSchema is needed"),
        (lambda: learn_differences(3, []), "must be a DifferenceTable, got int"),
        (lambda: instantiate(generalise(PLAN), 3), "must be a Problem, got int"),
        (lambda: MacroStore().learn(PLAN).find(3), "must be a Problem, got int"),
        (lambda: relevant_part(generalise(PLAN), BLOCKS, [3]), "3 is no fact"),
        (lambda: PlanMemory().remember(3), "must be a Plan, got int"),
        (lambda: load_memory("no/such/file.json"), "the file cannot be read: No such file"),
    ],
)
def test_arguments_of_other_kinds_are_named(call, message):
    with pytest.raises(aj.ArgumentError, match=message):
        call()


def test_a_macro_of_one_step_has_a_name_of_its_own():
    short = replace(BLOCKS, goal=Condition((("holding", "c"),)))
    store = MacroStore().learn(solve(short))
    more = with_macros(short, store)
    assert [operator.name for operator in more.domain.operators][-1] == "unstack-macro"
    assert solve(more) and len(expand(solve(more), store.macros)) == 1


def test_substitutions_may_have_texts():
    assert substitute("P(?x)", {Variable("x"): "f(A)"}) == term("P(f(A))")


def test_salience_stands_behind_the_name():
    with pytest.raises(ProgramError, match=r"1:15: error: SALIENCE stands behind the name"):
        knowledge_base("IF a THEN b   SALIENCE 5")
