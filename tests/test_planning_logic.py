"""Formulas, truth tables, unification and clause form, against brute force over all interpretations and small terms."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false, reportOptionalSubscript=false

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint import ArgumentError
from adjoint.errors import SolveError
from adjoint.planning.logic import (
    EQUIVALENCES,
    MISPRINTED_LAW,
    And,
    Atom,
    Exists,
    ForAll,
    Function,
    Iff,
    Implies,
    Interpretation,
    Not,
    Or,
    Variable,
    clause_form,
    equivalent,
    formula,
    holds,
    is_satisfiable,
    is_valid,
    prove,
    substitute,
    term,
    truth_table,
    unify,
)  # fmt: skip
from adjoint.program import ProgramError

# --- random formulas, and their meaning by definition -----------------------------------------------------------------

NAMES = "PQRS"
propositions = st.recursive(
    st.sampled_from(NAMES).map(Atom),
    lambda inside: st.one_of(
        inside.map(Not), *(st.tuples(inside, inside).map(lambda ab, k=kind: k(*ab)) for kind in (And, Or, Implies, Iff))
    ),
    max_leaves=10,
)


def value(x, world: dict) -> bool:
    """The truth value by definition: the second formulation of `truth_table`."""
    match x:
        case Atom(name=name):
            return world[name]
        case Not(inside=inside):
            return not value(inside, world)
    a, b = (value(part, world) for part in x.parts)
    return {And: a and b, Or: a or b, Implies: (not a) or b, Iff: a == b}[type(x)]


WORLDS = [dict(zip(NAMES, row, strict=True)) for row in itertools.product([True, False], repeat=len(NAMES))]


def interpretations(size: int, functions: dict, relations: dict, rng: random.Random):
    """A random interpretation; `functions` and `relations` are {name: number of arguments}."""
    cells = {
        (name, objects): rng.randrange(size)
        for name, arity in functions.items()
        for objects in itertools.product(range(size), repeat=arity)
    }
    atoms = [(n, o) for n, arity in relations.items() for o in itertools.product(range(size), repeat=arity)]
    return Interpretation(size, cells, frozenset(atom for atom in atoms if rng.random() < 0.5))


# --- texts ------------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(propositions)
def test_a_formula_is_read_as_it_is_printed(x):
    assert formula(str(x)) == x
    assert eval(repr(x), {"formula": formula}) == x


@pytest.mark.parametrize(
    "text, printed",
    [
        ("(∀x)[ROBOT(x) ⇒ COLOR(x, GRAY)]", "∀x. ROBOT(x) ⇒ COLOR(x, GRAY)"),
        ("(∃x)INROOM(x, r1)", "∃x. INROOM(x, r1)"),
        ("MARRIED[father(JOHN), mother(JOHN)]", "MARRIED(father(JOHN), mother(JOHN))"),
        ("(∀x ∀s){~ONBOX(s) ⇒ AT(BOX, x, pushbox(x, s))}", "∀x s. ~ONBOX(s) ⇒ AT(BOX, x, pushbox(x, s))"),
        ("(forall x) P(x) -> Q", "(∀x. P(x)) ⇒ Q"),
        ("forall x. P(x) -> Q", "∀x. P(x) ⇒ Q"),
        ("not P and Q or R implies S iff P", "~P ∧ Q ∨ R ⇒ S ⇔ P"),
        ("exists x, y. P(x, ?z) # a remark", "∃x y. P(x, ?z)"),
    ],
)
def test_spellings_of_the_book_and_of_keyboards(text, printed):
    assert str(formula(text)) == printed
    assert formula(printed) == formula(text)


def test_precedence():
    assert formula("P & Q | R") == Or(And(Atom("P"), Atom("Q")), Atom("R"))
    assert formula("P -> Q -> R") == Implies(Atom("P"), Implies(Atom("Q"), Atom("R")))
    assert formula("P <-> Q <-> R") == Iff(Iff(Atom("P"), Atom("Q")), Atom("R"))
    assert formula("forall x. P(x) & Q(x)") == ForAll(
        Variable("x"), And(Atom("P", (Variable("x"),)), Atom("Q", (Variable("x"),)))
    )
    assert formula("P(x)") == Atom("P", (Function("x"),))
    assert formula("exists x. P(x)").free == frozenset() != formula("P(?x)").free


@pytest.mark.parametrize(
    "text, line, column, told",
    [
        ("P ->", 1, 5, "a formula is missing"),
        ("P &\n& Q", 2, 1, "a formula is missing; '&' stands here"),
        ("P(x", 1, 4, "')' is missing"),
        ("(P]", 1, 3, "')' is missing"),
        ("forall x P(x)", 1, 11, "'.' is missing"),
        ("forall . P", 1, 8, "the name of a variable is missing"),
        ("(forall x, y)", 1, 14, "a formula is missing"),
        ("(forall x P(x))", 1, 12, "'.' or ')' is missing after the variables"),
        ("P Q", 1, 3, "ends before this"),
        ("", 1, 1, "a formula is missing"),
        ("P() & Q", 1, 3, "a term is missing"),
        ("?x", 1, 1, "a predicate is missing"),
        ("forall x. x", 1, 11, "a predicate is missing"),
        ("P & é", 1, 5, "has no meaning here"),
        ("(" * 500 + "P", 1, 101, "nested more than 100 deep"),
        ("~" * 500 + "P", 1, 101, "nested more than 100 deep"),
        ("P(" + "f(" * 500, 1, 202, "nested more than 100 deep"),
    ],
)
def test_what_cannot_be_read_is_shown(text, line, column, told):
    with pytest.raises(ProgramError, match="formula:") as caught:
        formula(text)
    assert caught.value.position == (line, column)
    assert told in str(caught.value)


def test_long_chains_and_other_types():
    chain = formula(" & ".join(f"P{i}" for i in range(150)))
    assert chain.height == 150 and formula(str(chain)) == chain
    with pytest.raises(ProgramError, match="more than 200 levels"):
        formula(" & ".join(f"P{i}" for i in range(1000)))
    with pytest.raises(ArgumentError, match="formula: a text is needed"):
        formula(3)
    with pytest.raises(ArgumentError, match="term: a text is needed"):
        term(None)
    with pytest.raises(ProgramError, match="term:1:3"):
        term("f(")


def called_deep(frames: int, function):
    return function() if frames == 0 else called_deep(frames - 1, function)


def test_the_deepest_formulas_are_usable_far_down_the_stack():
    deep = Function("A")
    for _ in range(199):
        deep = Function("f", (deep,))
    x = Atom("P", (deep, Variable("x0")))
    for i in range(199):
        x = (ForAll, Exists)[i % 2](Variable(f"x{i}"), x)
    one = Interpretation(1, {("A", ()): 0, ("f", (0,)): 0}, {("P", (0, 0))})
    for function in (
        lambda: str(deep) + repr(deep) + str(x) + repr(x),
        lambda: clause_form(x),
        lambda: holds(x, one),
        lambda: unify(deep, deep) == {} and substitute(deep, {Variable("x"): deep}),
        lambda: prove([x], "Q").status == "not provable",
    ):
        assert called_deep(200, function)
    with pytest.raises(ArgumentError, match="at most 200 levels"):
        Function("f", (deep,))
    with pytest.raises(ArgumentError, match="more than 200 levels"):
        Not(x)


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: Function("f", ("x",)), "Function f: argument 1 is no term but 'x'"),
        (lambda: Function("f", [Variable("x")]), "Function f: the arguments are a tuple of terms, got list"),
        (lambda: Function(None), "Function: a name is a text such as 'P', got None"),
        (lambda: Variable(3), "Variable: a name is a text"),
        (lambda: Atom(""), "Atom: a name is a text"),
        (lambda: Atom("P", (Atom("Q"),)), "Atom P: argument 1 is no term"),
        (lambda: And("P", "Q"), "And: its parts are formulas, got 'P'"),
        (lambda: Not(None), "Not: its parts are formulas, got None"),
        (lambda: ForAll("x", Atom("P")), "ForAll: the variable must be a Variable, got str"),
        (lambda: Exists(Variable("x"), "P"), "Exists: its parts are formulas"),
        (lambda: clause_form("P", taken=3), "clause_form: taken must be a Collection"),
    ],
)
def test_parts_of_a_wrong_kind(make, told):
    with pytest.raises(ArgumentError, match=told):
        make()
    assert ForAll(Variable("x"), Atom("P", (Function("f", (Variable("x"),)),))) == formula("forall x. P(f(x))")


# --- truth tables -----------------------------------------------------------------------------------------------------


def test_the_truth_table_of_the_book():
    table = truth_table("P | Q", "P & Q", "P -> Q", "~P")
    assert ["".join("FT"[x] for x in row) for row in table.rows] == ["TTTTTF", "FTTFTT", "TFTFFF", "FFFFTT"]
    assert str(table).splitlines()[0].split("  ") == ["P", "Q", "P ∨ Q", "P ∧ Q", "P ⇒ Q", "~P"]


@settings(deadline=None)
@given(propositions, propositions)
def test_truth_tables_against_the_definition(a, b):
    table = truth_table(a)
    for row in table.rows:
        world = {atom.name: v for atom, v in zip(table.atoms, row, strict=False)}
        assert value(a, world) == row[-1]
    assert is_valid(a) == all(value(a, w) for w in WORLDS)
    assert is_satisfiable(a) == any(value(a, w) for w in WORLDS)
    assert equivalent(a, b) == all(value(a, w) == value(b, w) for w in WORLDS)


@pytest.mark.parametrize("law", [law for law in EQUIVALENCES if law != "quantifiers"])
def test_the_equivalences_of_the_book(law):
    for a, b in EQUIVALENCES[law]:
        assert equivalent(a, b) and is_valid(Iff(formula(a), formula(b)))


def test_the_associative_law_is_misprinted():
    assert not equivalent(*MISPRINTED_LAW)
    assert equivalent(MISPRINTED_LAW[0].replace("|", "&"), MISPRINTED_LAW[1])


def test_the_laws_of_quantifiers():
    rng = random.Random(0)
    for a, b in EQUIVALENCES["quantifiers"]:
        assert prove([], Iff(formula(a), formula(b))) and prove([a], b) and prove([b], a)
        for size in (1, 2, 3):
            for _ in range(10):
                meaning = interpretations(size, {}, {"P": 1}, rng)
                assert holds(a, meaning) == holds(b, meaning)
    assert not prove(["exists x. P(x)"], "forall x. P(x)")


def test_tables_of_what_has_none():
    for function in (truth_table, is_valid, is_satisfiable):
        with pytest.raises(ArgumentError, match=f"{function.__name__}: a formula has a quantifier"):
            function("forall x. P(x)")
        with pytest.raises(ArgumentError, match="21 atoms"):
            function(" | ".join(f"P{i}" for i in range(21)))
    assert is_valid(" | ".join(f"P{i}" for i in range(19)) + " | ~P3")
    assert equivalent("P(A) & Q(f(B))", "Q(f(B)) & P(A)")


# --- unification ------------------------------------------------------------------------------------------------------

VARIABLES = [Variable(x) for x in "xyz"]
terms = st.recursive(
    st.sampled_from([*VARIABLES, Function("A"), Function("B")]),
    lambda inside: st.one_of(
        inside.map(lambda a: Function("f", (a,))), st.tuples(inside, inside).map(lambda ab: Function("g", ab))
    ),
    max_leaves=5,
)


def small_terms() -> list:
    """Some terms without variables."""
    plain = [Function("A"), Function("B")]
    return [
        *plain,
        *(Function("f", (a,)) for a in plain),
        *(Function("g", ab) for ab in itertools.product(plain, plain)),
    ]


@settings(deadline=None)
@given(terms, terms)
def test_a_unifier_makes_equal_and_is_idempotent(a, b):
    to = unify(a, b)
    assert (unify(b, a) is None) == (to is None)
    if to is None:
        return
    assert substitute(a, to) == substitute(b, to)
    assert all(substitute(t, to) == t for t in to.values())
    assert all(variable not in t.variables for variable in to for t in to.values())
    assert set(to) <= a.variables | b.variables


@pytest.mark.slow
@settings(deadline=None)
@given(terms, terms)
def test_the_unifier_is_the_most_general(a, b):
    """Every assignment of small terms that makes both equal is an instance of the unifier, and None means none does."""
    to = unify(a, b)
    for values in itertools.product(small_terms(), repeat=3):
        ground = dict(zip(VARIABLES, values, strict=True))
        if substitute(a, ground) == substitute(b, ground):
            assert to is not None
            # The assignment after the unifier is the assignment itself: it factors through the unifier.
            assert all(substitute(t, ground) == ground[v] for v, t in to.items())


def test_unification_examples():
    assert unify("P(?x, f(?y))", "P(g(?y), f(A))") == {Variable("x"): term("g(A)"), Variable("y"): term("A")}
    assert unify("?x", "f(?x)") is None and unify("f(?x, ?y)", "f(g(?y), g(?x))") is None
    assert unify("f(?x)", "g(?x)") is None and unify("f(A)", "f(A, B)") is None
    assert unify("A", "A") == {}
    assert unify(formula("P(?x)"), "P(A)") == {Variable("x"): term("A")}
    swapped = {Variable("x"): Variable("y"), Variable("y"): Variable("x")}
    assert str(substitute("f(?x, ?y)", swapped)) == "f(?y, ?x)"
    assert substitute(formula("P(?x)"), {Variable("x"): term("A")}) == formula("P(A)")


def test_unification_of_what_is_no_term():
    with pytest.raises(ArgumentError, match="unify: a term or an atom is needed"):
        unify("A", 3)
    with pytest.raises(ArgumentError, match="substitute: a term or an atom is needed"):
        substitute(None, {})
    left = ", ".join(f"?x{i}" for i in range(1, 60))
    right = ", ".join(f"g(?x{i}, ?x{i})" for i in range(59))
    with pytest.raises((ArgumentError, SolveError), match="too large"):  # the result has 2^59 symbols
        unify(f"f({left})", f"f({right})")


# --- clause form ------------------------------------------------------------------------------------------------------


def as_formula(found) -> str:
    clauses = ["(" + " | ".join(map(str, x.literals)) + ")" for x in found.clauses]
    return " & ".join(clauses) or "P | ~P"


@settings(deadline=None)
@given(propositions)
def test_clauses_of_propositions_are_equivalent(x):
    found = clause_form(x)
    assert equivalent(x, as_formula(found))
    assert all(equivalent(x, step.formula) for step in found.steps)


PREDICATE_FORMULAS = [
    "forall x. P(x) -> exists y. Q(x, y)",
    "(forall x. exists y. Q(x, y)) -> exists y. forall x. Q(x, y)",
    "~(exists x. P(x) & forall y. Q(x, y) <-> P(y))",
    "exists x. P(x) & forall x. ~P(x) | exists x. Q(x, x)",
    "forall x. (exists y. Q(x, y)) <-> P(x)",
]


@pytest.mark.parametrize("text", PREDICATE_FORMULAS)
def test_clauses_imply_the_formula_and_are_satisfiable_if_it_is(text):
    """In every interpretation the clauses imply the formula; where it holds, some Skolem functions make them hold."""
    found = clause_form(text)
    skolem = {}
    for clause in found.clauses:
        for literal in clause.literals:
            for argument in literal.atom.arguments:
                if isinstance(argument, Function):
                    skolem[argument.name] = len(argument.arguments)
    rng, size = random.Random(1), 2
    cells = [(n, o) for n, arity in skolem.items() for o in itertools.product(range(size), repeat=arity)]
    seen = set()
    for _ in range(40):
        meaning = interpretations(size, {}, {"P": 1, "Q": 2}, rng)
        choices = (
            Interpretation(size, dict(zip(cells, values, strict=True)), meaning.relations)
            for values in itertools.product(range(size), repeat=len(cells))
        )
        good = any(holds(as_formula(found), choice) for choice in choices)
        assert good == holds(text, meaning)
        seen.add(good)
    assert seen == {True, False}


def test_steps_of_the_clause_form():
    found = clause_form("~exists x. forall y. P(x, y) -> Q")
    assert [step.done for step in found.steps] == [
        "formula", "without ⇒ and ⇔", "~ at atoms", "different names", "Skolem functions", "∀ understood", "∨ inside ∧",
    ]  # fmt: skip
    assert [str(x) for x in found.clauses] == ["P(?x, sk1(?x))", "~Q"]
    assert str(clause_form("exists x. P(x, sk1)", taken=["sk2"]).clauses[0]) == "P(sk3, sk1)"
    renamed = clause_form("(forall x. P(x)) & forall x. Q(x, ?x1)").clauses
    assert [str(x) for x in renamed] == ["P(?x)", "Q(?x2, ?x1)"]
    assert clause_form("P | ~P").clauses == ()
    assert repr(clause_form("P")) == "<ClauseForm: 1 clause>"


def test_the_sentences_of_problem_10_3():
    """(a) and (b) are read with predicates of their own, (c) is about blocks."""
    a = "forall p. MAINIMPLIES(p) -> exists q. MAINOR(q) & EQUIVALENT(p, q)"
    b = (
        "forall r. ROBOT(r) & (exists t. CANDO(r, t) & forall h. HUMAN(h) & DOES(h, t) -> NEEDSINT(h, t))"
        " -> INTELLIGENT(r)"
    )
    c = "forall x. BLOCK(x) & ONTABLE(x) -> ~exists y. BLOCK(y) & ON(x, y)"
    assert prove([a, "MAINIMPLIES(F)"], "exists q. EQUIVALENT(F, q)")
    assert isinstance(formula(a), ForAll) and isinstance(formula(a).inside.right, Exists)
    can = ["ROBOT(R)", "CANDO(R, CHESS)", "forall h. HUMAN(h) & DOES(h, CHESS) -> NEEDSINT(h, CHESS)"]
    assert prove([b, *can], "exists r. INTELLIGENT(r)").answer == {"r": term("R")}
    for left in range(3):
        assert not prove([b, *can[:left], *can[left + 1 :]], "INTELLIGENT(R)", max_clauses=200)
    assert prove([c, "BLOCK(A)", "ONTABLE(A)", "BLOCK(B)"], "~ON(A, B)")
    assert not prove([c, "BLOCK(A)", "BLOCK(B)"], "~ON(A, B)")
    assert prove([c], "forall x y. BLOCK(x) & BLOCK(y) & ON(x, y) -> ~ONTABLE(x)")


def test_formulas_that_need_too_many_clauses():
    with pytest.raises(SolveError, match="more than 5000 clauses"):
        clause_form(" | ".join(f"(P{i} & Q{i})" for i in range(30)))
    with pytest.raises(SolveError, match="parts"):
        clause_form(" <-> ".join(f"P{i}" for i in range(30)))
    # A formula of few atoms has few clauses that say something and are different.
    assert prove([], " <-> ".join("PQ" * 4)) and not prove([], " <-> ".join("PQP" * 3))
    assert len(clause_form(" & ".join(f"(P{i} | Q{i})" for i in range(150))).clauses) == 150
