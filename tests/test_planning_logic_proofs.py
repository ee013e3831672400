"""Proofs by resolution against truth tables, closures and countermodels; the monkey and the bananas."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false, reportOptionalSubscript=false

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint import ArgumentError, SolveError
from adjoint.planning.logic import (
    MONKEY_AXIOMS,
    MONKEY_FRAME,
    MONKEY_GOAL,
    And,
    Atom,
    Clause,
    Iff,
    Implies,
    Interpretation,
    Literal,
    Not,
    Or,
    clause_form,
    find_countermodel,
    formula,
    holds,
    is_satisfiable,
    is_valid,
    prove,
    resolvents,
    situation_plan,
    substitute,
    term,
    unify,
)
from adjoint.planning.logic.clauses import subsumes
from adjoint.planning.logic.satisfiability import satisfying
from adjoint.program import ProgramError

propositions = st.recursive(
    st.sampled_from("PQRS").map(Atom),
    lambda inside: st.one_of(
        inside.map(Not), *(st.tuples(inside, inside).map(lambda ab, k=kind: k(*ab)) for kind in (And, Or, Implies, Iff))
    ),
    max_leaves=5,
)


def conjunction(formulas):
    found = formula("P | ~P")
    for x in formulas:
        found = And(found, x)
    return found


def check(proof) -> None:
    """Every step of a proof follows from its parents: by resolution, or by making two literals one."""
    for number, step in enumerate(proof.steps, 1):
        assert all(0 < parent < number for parent in step.parents)
        parents = [proof.steps[parent - 1].clause for parent in step.parents]
        if step.how == "resolve":
            assert any(set(x.literals) == set(step.clause.literals) for x in resolvents(*parents))
        elif step.how == "factor":
            assert subsumes(Clause(step.clause.literals), step.clause)
            assert len(step.clause.with_answers.literals) < len(parents[0].with_answers.literals)
        else:
            assert not parents and step.how.split()[0] in ("axiom", "negated")
    assert proof.steps[-1].clause.literals == ()


# --- against second formulations --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(propositions, max_size=4), propositions)
def test_propositions_follow_as_truth_tables_say(axioms, goal):
    follows = is_valid(Implies(conjunction(axioms), goal))
    complete = prove(axioms, goal, support="all")
    assert complete.status == ("proved" if follows else "not provable")
    from_goal = prove(axioms, goal)
    # Contradictory axioms prove everything, but not by steps that have to do with the goal.
    if is_satisfiable(conjunction(axioms)):
        assert bool(from_goal) == follows
    assert follows or not from_goal
    for proof in filter(bool, (complete, from_goal)):
        check(proof)
    model = find_countermodel(axioms, goal)
    assert (model is None) == follows
    if model is not None:
        assert all(holds(x, model) for x in axioms) and not holds(goal, model)


@pytest.mark.slow
@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_ground_horn_clauses_follow_as_the_forward_closure_says(rng):
    atoms = [f"P({x})" for x in "ABCDEF"]
    facts = rng.sample(atoms, 2)
    rules = [(rng.sample(atoms, rng.randint(1, 3)), rng.choice(atoms)) for _ in range(8)]
    closure = set(facts)
    while new := {head for body, head in rules if closure.issuperset(body)} - closure:
        closure |= new
    axioms = [*facts, *(f"{' & '.join(body)} -> {head}" for body, head in rules)]
    for atom in atoms:
        assert prove(axioms, atom).status == ("proved" if atom in closure else "not provable")
    answer = prove(axioms, "P(?x)").answer
    assert answer is not None and f"P({answer['x']})" in closure


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_datalog_of_paths(rng):
    """Paths of a random graph: the search of the graph reaches what is proved, and the rest has a countermodel."""
    nodes = "ABCD"
    edges = [(a, b) for a in nodes for b in nodes if a != b and rng.random() < 0.3]
    reached = set(edges)
    while new := {(a, d) for a, b in reached for c, d in edges if b == c} - reached:
        reached |= new
    axioms = [f"E({a}, {b})" for a, b in edges]
    axioms += ["forall x y. E(x, y) -> PATH(x, y)", "forall x y z. PATH(x, y) & E(y, z) -> PATH(x, z)"]
    a, b = rng.sample(nodes, 2)
    proof = prove(axioms, f"PATH({a}, {b})", max_clauses=200, max_seconds=0.5)
    assert bool(proof) == ((a, b) in reached)
    if proof:
        check(proof)
    else:
        model = find_countermodel(axioms, f"PATH({a}, {b})")
        assert model is not None and all(holds(x, model) for x in axioms)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 5).flatmap(lambda n: st.sampled_from([n, -n])), max_size=3), max_size=20))
def test_satisfiability_against_all_values(clauses):
    worlds = itertools.product([True, False], repeat=5)
    good = any(all(any(w[abs(x) - 1] == (x > 0) for x in c) for c in clauses) for w in worlds)
    found = satisfying([tuple(dict.fromkeys(c)) for c in clauses], float("inf"))
    assert (found is not None) == good
    if found is not None:
        assert all(any(x in found for x in c) for c in clauses) and not any(-x in found for x in found)


# --- theorems of predicate logic --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "axioms, goal",
    [
        (["forall x. MAN(x) -> MORTAL(x)", "MAN(JOHN)"], "MORTAL(JOHN)"),
        (["forall x. P(x) -> Q(x)", "forall x. Q(x) -> R(x)"], "forall x. P(x) -> R(x)"),
        ([], "(exists y. forall x. P(x, y)) -> forall x. exists y. P(x, y)"),
        ([], "exists x. D(x) -> forall y. D(y)"),  # the drinker
        ([], "~exists x. forall y. S(x, y) <-> ~S(y, y)"),  # the barber: needs factoring
        (["forall x. P(x) | Q(x)", "~forall x. P(x)"], "exists x. Q(x)"),
        (["forall x y z. R(x, y) & R(y, z) -> R(x, z)", "forall x. ~R(x, x)"], "forall x y. R(x, y) -> ~R(y, x)"),
        (["P(ZERO)", "forall n. P(n) -> P(s(n))"], "P(s(s(s(ZERO))))"),
    ],
)
def test_theorems(axioms, goal):
    proof = prove(axioms, goal)
    assert proof
    check(proof)
    assert find_countermodel(axioms, goal, max_objects=2) is None


@pytest.mark.parametrize(
    "axioms, goal",
    [
        ([], "(forall x. exists y. P(x, y)) -> exists y. forall x. P(x, y)"),
        (["exists x. P(x)", "exists x. Q(x)"], "exists x. P(x) & Q(x)"),
        (["forall x y. R(x, y) -> R(y, x)", "forall x y z. R(x, y) & R(y, z) -> R(x, z)"], "forall x. R(x, x)"),
    ],
)
def test_what_does_not_follow_has_a_countermodel(axioms, goal):
    assert not prove(axioms, goal, max_clauses=200, max_seconds=2)
    model = find_countermodel(axioms, goal)
    assert model is not None
    assert all(holds(x, model) for x in axioms) and not holds(goal, model)


def test_answers():
    axioms = ["P(A, B)", "forall x. P(x, B) -> Q(f(x))"]
    assert prove(axioms, "exists x. Q(x)").answer == {"x": term("f(A)")}
    assert prove(axioms, "P(?x, ?y)").answer == {"x": term("A"), "y": term("B")}
    assert prove(axioms, "P(A, B)").answer is None and prove(axioms, "P(A, B)").answers == ()
    either = prove(["P(A) | P(B)"], "exists x. P(x)")
    assert either and either.answer is None
    assert sorted(str(answer["x"]) for answer in either.answers) == ["A", "B"]
    anything = prove(["forall x. P(x)"], "exists x. P(x)").answer
    assert anything is not None and anything["x"].variables


@pytest.mark.parametrize(
    "axioms, answer",
    [
        (["P(A) | P(B)", "~P(A)"], "B"),
        (["P(A) | P(B)", "Q(C)", "R(C)", "forall x. Q(x) & R(x) -> P(x)"], "C"),
        (["P(A) | P(B)", "forall x. P(x) -> P(f(x))", "P(f(A)) -> P(A)", "P(B) -> P(A)"], "A"),
        (["forall x. P(x) | P(A)"], "A"),  # whatever x is: also A
    ],
)
def test_a_single_answer_is_preferred(axioms, answer):
    proof = prove(axioms, "exists x. P(x)")
    check(proof)
    assert proof.answer == {"x": term(answer)} and proof.reason == ""
    assert prove(axioms, f"P({answer})")


def test_why_there_is_no_single_answer():
    either = prove(["P(A) | P(B)"], "exists x. P(x)")
    assert either and either.reason == "no single answer was found: none follows from the axioms"
    assert str(either).endswith("  answer  x = A\n      or  x = B")
    # No drinker has a name: sk1, of whom the negated goal says that he does not drink, is none.
    assert prove([], "exists x. D(x) -> forall y. D(y)").answer is None
    endless = ["P(A) | P(B)", "forall x. P(f(x)) -> P(x)"]
    proof = prove(endless, "exists x. P(x)", max_depth=10)
    assert len(proof.answers) == 2 and "no single answer was found: the search left out" in proof.reason
    proof = prove(endless, "exists x. P(x)", max_clauses=20)
    assert len(proof.answers) == 2 and proof.reason == "no single answer was found: more than 20 clauses were kept"


@pytest.mark.slow
@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_there_is_a_single_answer_if_the_goal_is_proved_of_one_constant(rng):
    atoms = [f"{name}({x})" for name in "PQ" for x in "ABC"]
    clauses = [" | ".join(rng.choice(["", "~"]) + x for x in rng.sample(atoms, 2)) for _ in range(6)]
    axioms = [*clauses, "forall x. Q(x) -> P(x)"]
    proof = prove(axioms, "exists x. P(x)", support="all")
    proved = [x for x in "ABC" if prove(axioms, f"P({x})", support="all")]
    if () in {step.clause.answers for step in proof.steps[-1:]}:  # the axioms contradict each other
        assert proved == ["A", "B", "C"]
    elif proof.answer is None:
        assert not proved
    else:
        assert str(proof.answer["x"]) in proved or proof.answer["x"].variables


# --- the monkey and the bananas, Sec. 10.4 ----------------------------------------------------------------------------


def test_the_printed_axioms_do_not_give_the_bananas():
    proof = prove(MONKEY_AXIOMS, MONKEY_GOAL, max_clauses=100)
    assert not proof and proof.status == "budget" and "100 clauses" in proof.reason
    # What is missing is named: the box is nowhere after climbing.
    assert str(proof.open_goals[0]) == "AT(BOX, C, climbbox(?s))"
    assert "nothing says that  AT(BOX, C, climbbox(?s))" in str(proof)
    model = find_countermodel(MONKEY_AXIOMS, MONKEY_GOAL)
    assert model is not None and model.size == 2
    assert all(holds(axiom, model) for axiom in MONKEY_AXIOMS)
    assert not holds(MONKEY_GOAL, model) and not holds(MONKEY_FRAME, model)


def test_the_frame_axiom_gives_the_plan():
    proof = prove((*MONKEY_AXIOMS, MONKEY_FRAME), MONKEY_GOAL)
    check(proof)
    assert proof.answer == {"s": term("grasp(climbbox(pushbox(C, s0)))")}
    assert situation_plan(proof.answer["s"]) == (("pushbox", "C"), ("climbbox",), ("grasp",))
    assert find_countermodel((*MONKEY_AXIOMS, MONKEY_FRAME), MONKEY_GOAL, max_objects=2) is None
    used = {step.how for step in proof.steps}
    assert "axiom 8" in used and "axiom 2" not in used  # where the box was does not matter


def test_plans_of_what_is_no_state():
    assert situation_plan("s0") == ()
    with pytest.raises(ArgumentError, match="any state"):
        situation_plan("grasp(?s)")


def test_long_plans_and_deep_inputs():
    """Inputs are kept however deep they are, and the search goes as deep as `max_depth` says."""
    deep = formula(f"P({'f(' * 90}A{')' * 90})")
    assert deep.arguments[0].depth == 91
    assert prove([deep], deep, max_depth=5) and prove([deep, "forall x. P(f(x)) -> P(x)"], "P(A)", max_depth=5)
    walk = ["AT(n0, s0)", *(f"forall s. AT(n{i}, s) -> AT(n{i + 1}, go(s))" for i in range(60))]
    plan = prove(walk, "exists s. AT(n60, s)").answer
    assert plan is not None and len(situation_plan(plan["s"])) == 60
    assert prove(["N(Z)", "forall x. N(s(x)) -> N(x)"], "N(A)", max_depth=1e9).status == "budget"


# --- ends, and bad input ----------------------------------------------------------------------------------------------


def test_endless_searches_end():
    growing = ["P(A)", "forall x. P(x) -> P(f(x))", "forall x. P(f(x)) -> P(x)"]
    proof = prove(growing, "Q(A)")
    assert proof.status == "not provable" and proof.open_goals == (formula("Q(A)"),)
    proof = prove(["forall x. P(f(x)) -> P(x)"], "P(A)", max_clauses=50)
    assert proof.status == "budget" and "50 clauses" in proof.reason
    proof = prove(["forall x. P(f(x)) -> P(x)"], "P(A)", max_depth=20)
    assert (
        proof.status == "budget"
        and proof.reason == "the search left out 1 clause of more than 20 levels or 200 symbols"
    )
    proof = prove(MONKEY_AXIOMS, MONKEY_GOAL, max_seconds=0.05)
    assert proof.status == "budget" and "s have passed" in proof.reason and proof.statistics["seconds"] < 5
    assert find_countermodel(["forall x. ~R(x, x)", "forall x. R(x, f(x))", *TRANSITIVE], "Q", max_objects=3) is None


@pytest.mark.slow
def test_large_inputs_end():
    """Long clauses, many clauses, and quantifiers inside each other."""
    long = " | ".join(f"P(?x{i}, ?y{i % 7})" for i in range(60))
    proof = prove([long, "forall x y. ~P(x, y) | P(y, x)"], "Q", support="all", max_seconds=1)
    assert not proof and proof.statistics["seconds"] < 5
    many = " | ".join(f"(P{i} & Q{i})" for i in range(12))  # 4096 clauses
    assert prove([many], "P0 | Q1", support="all").status == "not provable"  # there is nothing to resolve
    proof = prove([many, many.replace("P", "~P").replace("Q", "~Q")], "P0 | Q1", support="all", max_seconds=1)
    assert proof.status == "budget" and "1 s have passed" in proof.reason and proof.statistics["seconds"] < 5
    chain = ["P0", *(f"P{i} -> P{i + 1}" for i in range(20))]
    assert prove(chain, "P20") and prove(chain, "P20", max_clauses=15).status == "budget"
    thirty = "forall " + " ".join(f"x{i}" for i in range(30))
    with pytest.raises(
        SolveError, match=r"not decided after \d+ steps; .* 31 quantifiers inside each other, .* 3 objects"
    ):
        holds(f"{thirty}. exists y. ~P(x0)", Interpretation(3))
    assert not holds(f"{thirty}. P(x0)", Interpretation(3))
    assert holds("forall x y z. P(x) -> P(x)", Interpretation(3))


def test_many_axioms():
    """The time covers the making of clauses, also of axioms that never end; and facts are not compared one by one."""
    proof = prove((f"P(A{i})" for i in itertools.count()), "Q", max_seconds=0.2)
    assert proof.status == "budget" and proof.reason == "0.2 s have passed" and proof.statistics["seconds"] < 5
    assert find_countermodel((f"P(A{i})" for i in itertools.count()), "Q", max_seconds=0.2) is None
    facts = [f"P(A{i})" for i in range(1000)]
    assert prove([*facts, "forall x. P(x) -> Q(x)"], "Q(A7)", max_seconds=100)
    skolem = find_countermodel([f"exists x. P{i}(x)" for i in range(5)], "Q")
    assert skolem is not None and {name for name, _ in skolem.functions} == {f"sk{i}" for i in range(1, 6)}


TRANSITIVE = ["forall x y z. R(x, y) & R(y, z) -> R(x, z)"]


def test_bad_input():
    with pytest.raises(ArgumentError, match="axioms are a list"):
        prove("P", "P")
    with pytest.raises(ArgumentError, match="axioms are a list"):
        find_countermodel("P", "P")
    with pytest.raises(ProgramError, match="axiom 2:1:5"):
        prove(["P", "P ->"], "Q")
    with pytest.raises(ProgramError, match="goal:1:1"):
        prove(["P"], "")
    with pytest.raises(ArgumentError, match="support is 'goal' or 'all'"):
        prove(["P"], "P", support="axioms")
    with pytest.raises(ArgumentError, match="above 0"):
        prove(["P"], "P", max_clauses=0)
    with pytest.raises(ArgumentError, match="above 0"):
        find_countermodel(["P"], "P", max_objects=0)
    with pytest.raises(ArgumentError, match="axiom 2: a text is needed"):
        prove(["P", None], "P")
    with pytest.raises(ArgumentError, match="goal: a text is needed"):
        find_countermodel(["P"], None)
    with pytest.raises(ArgumentError, match="max_depth must be a number above 0"):
        prove(["P"], "P", max_depth=-1)
    with pytest.raises(SolveError, match=r"axiom 2: .*more than 5000 clauses"):
        prove(["P", " | ".join(f"(P{i} & Q{i})" for i in range(30))], "P")
    with pytest.raises(ArgumentError, match="Clause: its literals are"):
        Clause(("P",))
    with pytest.raises(ArgumentError, match="b must be a Clause"):
        list(resolvents(clause_form("P").clauses[0], "~P"))
    with pytest.raises(ArgumentError, match="does not say what f\\(0\\) is"):
        holds("P(f(A))", Interpretation(1, {("A", ()): 0}))


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("a",), "size must be a whole number"),
        ((-1,), "size must be a whole number"),
        ((0,), "size must be 1 or more"),  # "for all" would be true of nothing
        ((2, [("A", ())]), "functions must be a Mapping"),
        ((2, {"A": 0}), "'A' is no pair of a name and a tuple of objects"),
        ((2, {("A", ()): 2}), "A is 2; the objects are 0 to 1"),
        ((2, {}, "P"), "relations must be a Set"),
        ((2, {}, {("P", (2,))}), "the objects are 0 to 1"),
    ],
)
def test_interpretations_of_no_meaning(arguments, told):
    with pytest.raises(ArgumentError, match=f"Interpretation: .*{told}"):
        Interpretation(*arguments)
    assert holds("P(A)", Interpretation(2, {("A", ()): 1}, {("P", (1,))}))


def random_formula(rng: random.Random, depth: int, bound: tuple[str, ...] = ()) -> str:
    """A formula of all kinds without free variables, with constants and a function."""
    if not depth or rng.random() < 0.1:
        terms = [rng.choice([*bound, "A", "B", "f(A)", *(f"f({x})" for x in bound)]) for _ in range(2)]
        return rng.choice([f"P({terms[0]})", f"R({', '.join(terms)})", "Q"])
    inside = [random_formula(rng, depth - 1, bound) for _ in range(2)]
    variable = f"x{len(bound)}"
    quantified = f"{rng.choice(['forall', 'exists'])} {variable}. {random_formula(rng, depth - 1, (*bound, variable))}"
    return rng.choice(
        [f"~({inside[0]})", f"({quantified})", *(f"({inside[0]} {x} {inside[1]})" for x in ("&", "|", "->", "<->"))]
    )


def proof_and_countermodel_agree(seed: int) -> tuple[bool, bool]:
    rng = random.Random(seed)
    axioms = [random_formula(rng, 2) for _ in range(rng.randint(0, 3))]
    goal = random_formula(rng, 3)
    proof = prove(axioms, goal, support="all", max_seconds=0.2)
    model = find_countermodel(axioms, goal, max_objects=2, max_seconds=0.5)
    assert not (proof and model)
    assert proof.status != "not provable" or model is not None or find_countermodel(axioms, goal, max_objects=5)
    if proof:
        check(proof)
    if model:  # the model tells what all names of the formulas are, also those of tautologies
        assert all(holds(axiom, model) for axiom in axioms) and not holds(goal, model)
    return bool(proof), model is not None


def test_countermodels_of_random_formulas_are_countermodels():
    found = [proof_and_countermodel_agree(seed) for seed in range(40)]
    assert {(True, False), (False, True)} <= set(found)


@pytest.mark.slow
def test_countermodels_of_many_random_formulas_are_countermodels():
    for seed in range(40, 500):
        proof_and_countermodel_agree(seed)


def test_names_of_tautologies_and_of_odd_predicates_have_a_meaning():
    model = find_countermodel(["P(f(A)) -> P(f(A))"], "Q")
    assert model is not None and holds("P(f(A)) -> P(f(A))", model)
    equal = Atom("=", (term("A"), term("B")))
    model = find_countermodel([equal], Not(equal))
    assert model is not None and holds(equal, model)


def test_subsumption():
    general, special = (clause_form(x).clauses[0] for x in ("P(?x) | Q(?y)", "P(A) | Q(f(B)) | R"))
    assert subsumes(general, special) and not subsumes(special, general)
    both, one = Clause((Literal(formula("P(?x)")), Literal(formula("P(?y)")))), Clause((Literal(formula("P(A)")),))
    assert not subsumes(both, one) and subsumes(one, Clause((*one.literals, *both.literals)))
    to = unify("P(?x)", "P(?y)")
    assert to is not None and substitute("P(?x)", to) == substitute("P(?y)", to)


def test_random_interpretations_agree_with_clauses():
    """In a model of the axioms, everything that is proved holds."""
    rng = random.Random(3)
    axioms, goal = ["forall x. P(x) -> Q(x)", "exists x. P(x)"], "exists x. Q(x)"
    assert prove(axioms, goal)
    models = 0
    for _ in range(60):
        relations = frozenset((name, (i,)) for name in "PQ" for i in range(3) if rng.random() < 0.5)
        meaning = Interpretation(3, {}, relations)
        if all(holds(x, meaning) for x in axioms):
            models += 1
            assert holds(goal, meaning)
    assert models > 5
