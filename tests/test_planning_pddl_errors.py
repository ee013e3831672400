"""Texts of PDDL that are wrong: every message, and the place that it marks."""

import random
import re

import pytest

from adjoint.errors import ArgumentError
from adjoint.planning import solve
from adjoint.planning.pddl import (
    BOOK_TASKS,
    blocks_task,
    book_task,
    book_text,
    delivery_task,
    read_domain,
    read_plan,
    read_problem,
    read_task,
    write_domain,
    write_problem,
)
from adjoint.program.instructions import ProgramError

HEAD = "(define (domain d) (:requirements :strips) (:types block room - object cube - block) (:constants k - room)\n"
PREDICATES = "(:predicates (on ?x ?y - block) (in ?x - block ?r - room) (free))\n"
COSTS = "(:functions (total-cost) (way ?a ?b - room) - number)\n"


def action(needs: str = "(free)", effect: str = "(free)", parameters: str = "(?x ?y - block ?r - room)") -> str:
    """A domain with one operator."""
    parts = f":parameters {parameters}\n :precondition {needs}\n :effect {effect}"
    return f"{HEAD}{PREDICATES}{COSTS}(:action move {parts}))"


def problem(objects: str = "a b - block r - room", init: str = "(free)", goal: str = "(free)", more: str = "") -> str:
    """A problem of the domain `action()`."""
    return f"(define (problem p) (:domain d)\n (:objects {objects})\n (:init {init})\n (:goal {goal}) {more})"


# What is marked as « » has the message; the last column is a piece of the hint.
WRONG_DOMAINS = [
    (HEAD + "«(»:predicates (on ?x)\n(:action a :effect (on k)))", "this '(' is not closed", "before '(:action'"),
    ("(define «(»domain d\n(:predicates (p)))", "this '(' is not closed", "before '(:predicates' of line 2"),
    ("(define (domain d) (:predicates «(»free", "this '(' is not closed", "write ')'"),
    ("(define (domain d))\n«)»", "this ')' closes nothing", "'(define' of line 1 ends in line 1"),
    ("(define (domain d))\n«hello»", "'hello' stands outside of every definition", "(define (domain ...)"),
    ("(define (domain d))\n«(:action a)»", "'(:action' stands outside of every definition", ""),
    ("(define «(robot d)»)", "a definition is one of a domain or of a problem", "(domain name)"),
    ("(define (domain «?d»))", "the name of the domain is needed here, and '?d' is no name", "letter"),
    ("(define (domain d) («:predicate» (p)))", "no section ':predicate'", ":predicates"),
    ("(define (domain d) («:durative-action» a))", "':durative-action' is not supported", ":action"),
    ("(define (domain d) («:derived» (p) (q)))", "':derived' is not supported", ":action"),
    ("(define (domain d) «free»)", "a section such as (:init ...) is needed here", ""),
    ("(define (domain d) (:predicates) («:predicates» (p)))", "section ':predicates' stands here twice", ""),
    ("(define (domain d) (:requirements :strips «:typig»))", "':typig' is no requirement", "':typing'"),
    ("(define (domain d) (:types a - «b»))", "there is no type 'b'", "object, a"),
    ("(define (domain d) (:types «a» - b b - c c - a))", "the type 'a' is above itself", "tree"),
    ("(define (domain d) (:types a «a»))", "the type 'a' is defined twice", ""),
    ("(define (domain d) (:types b c - object «a» - (either b c)))", "several types above it", ""),
    ("(define (domain d) (:types a -«)»)", "a type is needed after '-'", "(either a b)"),
    ("(define (domain d) (:constants «-» object))", "'-' needs an object before it", ""),
    ("(define (domain d) (:constants a - «blok»))", "there is no type 'blok'", "object"),
    ("(define (domain d) (:constants a b «a»))", "the constant 'a' is defined twice", ""),
    ("(define (domain d) (:predicates (on ?x «?x»)))", "the variable '?x' is defined twice", ""),
    ("(define (domain d) (:predicates (on «x»)))", "a variable is needed here, not 'x'", "'?'"),
    ("(define (domain d) (:predicates (p) («p»)))", "the predicate 'p' is defined twice", ""),
    ("(define (domain d) (:predicates («and» ?x)))", "'and' is no name", ""),
    ("(define (domain d) (:predicates «p»))", "a predicate stands in parentheses", "(p)"),
    ("(define (domain d) (:functions (owner ?x) - «object»))", "functions of objects are not supported", "number"),
    (action("(«under» ?x ?y)"), "there is no predicate 'under'", "on, in, free"),
    (action("(and (free) («onn» ?x ?y))"), "there is no predicate 'onn'", "'on'"),
    (action("«(on ?x)»"), "'on' has 2 arguments, and 1 are given", "(on ?x - block ?y - block)"),
    (action("(on ?x «?z»)"), "there is no variable '?z'", "?x"),
    (action("(on ?x «z»)"), "there is no object 'z'", "k"),
    (action("(on ?x «?r»)"), "'?r' is of type room, and argument 2 of 'on' must be of type block", "?x, ?y"),
    (action("(on ?x «k»)"), "'k' is of type room", "nothing here has this type"),
    (action("(on ?x «(free)»)"), "a name is needed here, not a list in parentheses", ""),
    (action("(on «?x» ?y)", "()", "(?x - (either room cube) ?y - block)"), "'?x' is of type room or cube", ""),
    (action("(«or» (free) (on ?x ?y))"), "'or' is not supported here", "conditions are facts"),
    (action("(and («forall» (?z) (free)))"), "'forall' is not supported here", "conditions are facts"),
    (action("(not («exists» (?z) (free)))"), "'exists' is not supported here", "conditions are facts"),
    (action("(not («and» (free)))"), "'not' of 'and' is not supported", "conditions are facts"),
    (action("(and «free»)"), "'free' must stand in parentheses", "conditions"),
    (action("(«>=» (total-cost) 3)"), "'>=' is not supported here", "conditions are facts"),
    (action("«(= (total-cost) 3)»"), "conditions on numbers are not supported", "two objects"),
    (action("«(= ?x)»"), "'=' compares two objects, and 1 are given", ""),
    (action("(= ?x «?z»)"), "there is no variable '?z'", ""),
    (action(effect="(«when» (free) (on ?x ?y))"), "'when' is not supported here", "effects are facts"),
    (action(effect="(«assign» (total-cost) 3)"), "'assign' is not supported here", "effects are facts"),
    (
        action(effect="(in ?x «?y»)"),
        "'?y' is of type block, and argument 2 of 'in' must be of type room",
        "of this type are ?r",
    ),
    (action(effect="(increase «(way ?r ?r)» 1)"), "only 'total-cost' can be increased", "(total-cost)"),
    (action(effect="(increase (total-cost) «-1»)"), "a number, 0 or more, is needed here", ""),
    (action(effect="(increase (total-cost) (way «?x» ?r))"), "'?x' is of type block", ""),
    (action(effect="(increase (total-cost) («*» 2 3))"), "'*' is not supported here", "a number or a function"),
    (action(effect="(and (increase (total-cost) 1) «(increase (total-cost) 2)»)"), "is increased twice", ""),
    (HEAD + "(:action a :effect (increase «(total-cost)» 2)))", "the domain has no function 'total-cost'", "- number"),
    (HEAD + "(:action a :parameters () «:efect» ()))", "':efect' is no keyword of an operator", "':effect'"),
    (HEAD + "(:action a :effect () «:effect» ()))", "':effect' stands here twice", ""),
    (HEAD + "(:action a :parameters «?x»))", "':parameters' needs a list in parentheses after it", ""),
    (HEAD + "(:action a) (:action «a»))", "the operator 'a' is defined twice", ""),
    ("(define (domain d)\n (:types a«\u200b»))", "U+200B ZERO WIDTH SPACE has no meaning here", ""),
    ("(define (domain d) " + "(" * 49 + "«(»", "more than 50 parentheses are open here", ""),
]
WRONG_PROBLEMS = [
    (problem(objects="a b - «blok» r - room"), "there is no type 'blok'", "'block'"),
    (problem(objects="a «a» - block"), "the object 'a' is defined twice", ""),
    (problem(objects="«k» - room"), "the object 'k' is a constant of the domain already", ""),
    (problem(objects="«a» - (either block room)"), "the object 'a' has several types", "one type"),
    (problem(objects="«3» - block"), "an object is needed here, not '3'", ""),
    (problem(init="(on a «c»)"), "there is no object 'c'", "a, b, r"),
    (problem(init="(on a «r»)"), "'r' is of type room, and argument 2 of 'on' must be of type block", "a, b"),
    (problem(init="«(on a)»"), "'on' has 2 arguments, and 1 are given", ""),
    (problem(init="(«onn» a b)"), "there is no predicate 'onn'", "'on'"),
    (problem(init="(free) «free»"), "'free' must stand in parentheses", "(free)"),
    (problem(init="«()»"), "a predicate is needed here", "(on a b)"),
    (problem(init="(free) «(not (free))»"), "(free) is true at first, too", ""),
    (problem(init="«(at 5 (free))»"), "facts that begin at a later time are not supported", ""),
    (problem(init="(= (way r «a») 3)"), "'a' is of type block", "k, r"),
    (problem(init="(= (way r r) «x»)"), "a number, 0 or more, is needed here", ""),
    (problem(init="(= (way r r) 3) «(= (way r r) 4)»"), "(way r r) has two values", "3"),
    (problem(init="(= («weigh» r) 3)"), "there is no function 'weigh'", "total-cost, way"),
    (problem(init="(= (total-cost) «3»)"), "'total-cost' begins with 0", ""),
    (problem(init="«(= a b)»"), "'=' gives a function its value here", ""),
    (problem(goal="(and (free) «(not (free))»)"), "the goal asks for (free), too", ""),
    (problem(goal="(and «(not (on a b))» (on b a) (on a b))"), "the goal asks for (on a b), too", ""),
    (problem(goal="«(= a b)»"), "a and b are two objects", ""),
    (problem(goal="(on a «?x»)"), "there is no variable '?x'", "no variable is known here"),
    (problem(goal="(on a «c»)"), "there is no object 'c'", ""),
    (problem(goal="(«or» (free))"), "'or' is not supported here", "conditions are facts"),
    (problem(more="«(:metric maximize (total-cost))»"), "this metric is not supported", "minimize (total-cost)"),
    (problem(more="(:metric minimize «(total-time)»)"), "only 'total-cost' can be minimised", ""),
    (problem(more="(«:constraints» (free))"), "':constraints' is not supported", ":goal"),
    (problem(more="(«:gaol» (free))"), "there is no section ':gaol' in a problem", "':goal'"),
    (problem().replace("(:domain d)", "(:domain «e»)"), "the problem is one of the domain 'e'", "'d'"),
    ("(define (problem p) (:domain d) (:init)«)»", "the problem has no section ':goal'", "(:goal ...)"),
    (problem(goal="«free»"), "the goal is one condition in parentheses", "write (and ...)"),
]


def marked(text: str) -> tuple[str, int, int]:
    """The text without its marks, and the first and the last place that they marked."""
    start = text.index("«")
    return text.replace("«", "").replace("»", ""), start, text.index("»") - 1


def check(read, text: str, message: str, hint: str) -> None:
    text, start, end = marked(text)
    with pytest.raises(ProgramError) as error:
        read(text)
    found = [d for d in error.value.diagnostics if message in d.message and hint in d.hint]
    assert [(d.span.start, d.span.end) for d in found] == [(start, end)], str(error.value)
    place = text[:start].count("\n") + 1, start - text[:start].rfind("\n")
    assert f":{place[0]}:{place[1]}: error: {found[0].message}" in str(error.value)


@pytest.mark.parametrize(("text", "message", "hint"), WRONG_DOMAINS)
def test_wrong_domains_are_marked(text, message, hint):
    check(read_domain, text, message, hint)


@pytest.mark.parametrize(("text", "message", "hint"), WRONG_PROBLEMS)
def test_wrong_problems_are_marked(text, message, hint):
    domain = read_domain(action())
    check(lambda text: read_problem(text, domain), text, message, hint)


def test_the_texts_around_the_wrong_pieces_are_right():
    domain = read_domain(action("(and (on ?x ?y) (in ?x k))", "(increase (total-cost) (way ?r k))"))
    task = read_problem(problem(init="(on a b) (= (way r k) 2)", goal="(not (on a b))"), domain)
    assert task.initial == {("on", "a", "b")} and task.goal.absent == (("on", "a", "b"),)


def test_all_findings_come_at_once_in_the_order_of_the_text():
    text = problem(objects="a b - blok", init="(onn a b) (on a)", goal="(on a c)")
    with pytest.raises(ProgramError) as error:
        read_problem(text, read_domain(action()))
    lines = [text[: d.span.start].count("\n") for d in error.value.diagnostics]
    assert len(lines) >= 4 and lines == sorted(lines)


def test_a_task_in_one_text_has_the_findings_of_both_definitions():
    text = (
        book_text("blocks")
        .replace("(holding ?x)\n    :effect", "(holdng ?x)\n    :effect")
        .replace("(on c a)", "(on c d)")
    )
    with pytest.raises(ProgramError) as error:
        read_task(text)
    assert [d.message for d in error.value.diagnostics] == ["there is no predicate 'holdng'", "there is no object 'd'"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (book_text("blocks").partition("(define (problem")[0], "the text must define one problem; it defines a domain"),
        (book_text("blocks") + book_text("hanoi"), "the text must define one domain; it defines 2"),
        ("; only a comment\n", "the text must define one domain; it defines nothing"),
    ],
)
def test_texts_without_the_definition_say_what_they_have(text, message):
    with pytest.raises(ProgramError, match=re.escape(message)):
        read_task(text)


@pytest.mark.parametrize("path", ["missing.pddl", "", "a\0b", b"(define)", None, 3])
def test_paths_of_no_file_are_named(path):
    with pytest.raises(ArgumentError, match=r"read_domain: .*(cannot be read|is needed)"):
        read_domain(path)


def test_arguments_of_other_types_are_refused(tmp_path):
    (tmp_path / "bytes.pddl").write_bytes(b"\xff\xfe(")
    with pytest.raises(ArgumentError, match="it is no text"):
        read_domain(tmp_path / "bytes.pddl")
    with pytest.raises(ArgumentError, match="a problem is needed beside the domain"):
        read_task(book_task("blocks").domain)
    with pytest.raises(ArgumentError, match="domain must be a Domain, got str"):
        read_problem(problem(), action())


def test_texts_beyond_the_bound_are_refused():
    with pytest.raises(ProgramError, match="at most 10000000 are read"):
        read_domain("(" + " " * 10_000_000 + ")")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(unstack c a)\n(put c)", "plan:2:2: error: there is no operator 'put'"),
        ("(unstack c)", "plan:1:1: error: 'unstack' has 2 arguments, and 1 are given"),
        ("(unstack c d)", "plan:1:12: error: there is no object 'd'"),
        ("unstack c a", "plan:1:1: error: an action in parentheses is needed on this line"),
        ("\n  (unstack c a) (putdown c)", "plan:2:3: error: an action in parentheses is needed on this line"),
        ("(unstack c a", "plan:1:1: error: this '(' is not closed"),
        ("1..2: (unstack c a)", "plan:1:1: error: an action in parentheses is needed on this line"),
    ],
)
def test_wrong_plans_are_marked(text, message):
    with pytest.raises(ProgramError, match=re.escape(message)):
        read_plan(text, book_task("blocks"))


def test_plans_whose_costs_have_no_values_are_refused():
    domain = read_domain(action("()", "(increase (total-cost) (way ?r ?r))"))
    task = read_problem(problem(more="(:metric minimize (total-cost))"), domain)
    with pytest.raises(ProgramError, match=re.escape("the cost (way r r) of this action has no value")):
        read_plan("(move a b r)", task)
    with pytest.raises(ProgramError, match=re.escape("'r' is of type room, and argument 2 of 'move'")):
        read_plan("(move a r r)", task)
    with pytest.raises(ArgumentError, match="a text and a Problem are needed"):
        read_plan("(move a b r)", domain)


TEXTS = [book_text(name) for name in BOOK_TASKS]
TEXTS += [write_domain(task.domain) + write_problem(task) for task in (delivery_task(2), blocks_task(6))]
WORDS = sorted({word for text in TEXTS for word in re.findall(r"[()]|[^\s();]+", text)})
WORDS += ["or", "forall", "when", "either", "-", "5", "-1", "1e999", ":derived", "\u202e", "é", "İ", ";", "?", ":"]


def mutated(text: str, rng: random.Random) -> str:
    """The text with a word replaced, a word inserted, or a piece removed, doubled or moved."""
    start, length, kind = rng.randrange(len(text)), rng.randrange(60), rng.randrange(5)
    if kind < 2:
        words = re.split(r"(\s+|[()])", text)
        at = rng.randrange(len(words))
        words[at : at + 1 - kind] = [rng.choice(WORDS) + " " * kind]
        return "".join(words)
    piece, rest = text[start : start + length], text[:start] + text[start + length :]
    to = rng.randrange(len(rest) + 1)
    return [text[:start] + text[start + 1 :], rest, rest[:to] + piece + rest[to:]][kind - 2]


@pytest.mark.slow
def test_random_changes_give_tasks_or_errors_with_places():
    """A changed text is read, and written and read again as the same; or everything that is wrong has a place in it."""
    rng, right, wrong = random.Random(0), 0, 0
    for _ in range(3000):
        text = rng.choice(TEXTS)
        for _ in range(rng.randint(1, 3)):
            text = mutated(text, rng)
        text += "\n"
        try:
            task = read_task(text)
        except ProgramError as error:
            assert error.position is not None
            assert all(0 <= d.span.start <= d.span.end <= len(text) for d in error.diagnostics)
            wrong += 1
        else:
            assert read_task(write_domain(task.domain), write_problem(task)) == task
            right += 1
    assert right > 30 and wrong > 2000


@pytest.mark.slow
def test_random_changes_of_plans_give_plans_or_errors_with_places():
    rng, task, counts = random.Random(0), blocks_task(5), [0, 0]
    base = "".join(f"{k}.0: {action} [1]\n" for k, action in enumerate(solve(task)))
    pieces = [
        "(",
        ")",
        ";",
        "0.0:",
        "1e5:",
        "[1]",
        "-1:",
        "b1",
        "stack",
        "İ",
        "\u202e",
        "\r",
        "\n",
        "(())",
        "9" * 400 + ":",
    ]
    for _ in range(3000):
        words = re.split(r"(\s+|[()])", base)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(words))
            words[at : at + rng.randrange(2)] = [rng.choice(pieces)]
        text = "".join(words)
        try:
            read_plan(text, task)
            counts[0] += 1
        except ProgramError as error:
            assert all(0 <= d.span.start <= d.span.end <= len(text) for d in error.diagnostics)
            counts[1] += 1
    assert min(counts) > 20


MANY = {
    "names": problem(objects=" ".join(f"?o{k}" for k in range(20_000))),
    "twins": problem(objects="o " * 20_000),
    "words": problem(init=" ".join(f"o{k}" for k in range(20_000))),
    "objects": problem(" ".join(f"o{k}" for k in range(3000)), " ".join(f"(in x{k} r)" for k in range(3000))),
}


@pytest.mark.parametrize("kind", MANY)
def test_a_text_with_very_many_findings_is_read_no_further(kind):
    """Each finding looks up its place and similar names, so thousands of them would take minutes."""
    with pytest.raises(ProgramError) as error:
        read_problem(MANY[kind], read_domain(action()))
    assert len(error.value.diagnostics) == 100


def test_types_in_a_long_circle_are_all_named():
    circle = " ".join(f"t{(k + 1) % 90} - t{k}" for k in range(90))
    with pytest.raises(ProgramError) as error:
        read_domain(f"(define (domain d) (:types {circle} u - t1 v - u))")
    assert len(error.value.diagnostics) == 90 and "'t1' is above itself" in error.value.diagnostics[0].message
    long = " ".join(f"t{k + 1} - t{k}" for k in range(2000))
    assert read_domain(f"(define (domain d) (:types {long} t0))").is_a("t2000", "t0")
