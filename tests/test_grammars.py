"""Grammars, automata and tree grammars: languages found in two ways are the same, and the textbook's examples hold."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

from adjoint.errors import ArgumentError, SolveError
from adjoint.vision.recognition import (
    Automaton,
    Grammar,
    Primitive,
    Refusal,
    Tree,
    TreeGrammar,
    accepts,
    automaton_of_grammar,
    check_semantics,
    classify_by_grammars,
    count_tree_derivations,
    derivation,
    derivations,
    determinized,
    grammar_of_automaton,
    minimized,
    parse_grammar,
    parse_tree,
    parse_tree_grammar,
    run_automaton,
    same_language,
    sentences_of_grammar,
    shortest_difference,
    tree_derivation,
    tree_states,
    trees_of_grammar,
)

WRENCH = parse_grammar("S -> aA; A -> bA | bB; B -> c")
WRENCH_AUTOMATON = Automaton(range(4), "abc", {(0, "a"): 1, (1, "b"): (1, 2), (2, "c"): 3}, 0, {3})
THREE_STATES = Automaton(
    range(3), "ab", {(0, "a"): 2, (0, "b"): 1, (1, "a"): 2, (1, "b"): 0, (2, "a"): 0, (2, "b"): 1}, 0, {0}
)
LEGS = "S -> a(A1); A1 -> b(A1) | c(A2, A3); A2 -> d(A2) | a; A3 -> e(A3) | a"
RANKS = {"a": (0, 1), "b": 1, "c": 2, "d": 1, "e": 1}


def derived(grammar, sentence) -> Any:
    """The derivation of a sentence or tree that the grammar is known to generate."""
    found = (tree_derivation if isinstance(grammar, TreeGrammar) else derivation)(grammar, sentence)
    assert found is not None
    return found


def words(alphabet: str, length: int):
    """All sentences of at most so many symbols."""
    return itertools.chain.from_iterable(itertools.product(alphabet, repeat=n) for n in range(length + 1))


def rewritten(grammar: Grammar, length: int) -> set:
    """The language up to a length by rewriting leftmost nonterminals in all ways; no form ever gets shorter."""
    found, seen, waiting = set(), {(grammar.start,)}, [(grammar.start,)]
    while waiting:
        form = waiting.pop()
        place = next((k for k, x in enumerate(form) if x in grammar.nonterminals), None)
        if place is None:
            found.add(form)
            continue
        for left, right in grammar.productions:
            new = (*form[:place], *right, *form[place + 1 :])
            if left == form[place] and len(new) <= length and new not in seen:
                seen.add(new)
                waiting.append(new)
    return found


def random_grammar(rng, *, regular: bool) -> Grammar:
    names, letters = "SABC"[: rng.integers(1, 5)], "ab"
    rules = []
    for A in names:
        for _ in range(rng.integers(1, 4)):
            if regular:
                right = [rng.choice(list(letters))] + ([rng.choice(list(names))] if rng.random() < 0.6 else [])
            else:
                right = list(rng.choice(list(names + letters), size=rng.choice([1, 1, 2, 2, 3])))
            rules.append((A, tuple(map(str, right))))
    return Grammar(names, letters, rules, "S")


def random_automaton(rng) -> Automaton:
    n = int(rng.integers(1, 6))
    transitions = {
        (q, a): set(rng.integers(0, n, size=rng.integers(0, 3)).tolist()) for q in range(n) for a in "ab"
    }  # fmt: skip
    return Automaton(range(n), "ab", transitions, 0, set(rng.integers(0, n, size=rng.integers(0, 3)).tolist()))


# --- the textbook -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "language", [WRENCH, WRENCH_AUTOMATON, automaton_of_grammar(WRENCH), determinized(WRENCH_AUTOMATON)]
)
def test_the_wrench_is_what_the_textbook_says(language):
    assert all(accepts(language, word) for word in ("abc", "abbc", "abbbbbc"))
    assert not any(accepts(language, word) for word in ("ac", "abb", "abbbbcb", "", "abba", "aB", "x"))


def test_the_wrench_has_the_derivation_that_was_meant():
    """The textbook prints abbbbcb for productions 1, 2, 2, 2, 2, 3, 4, and abba for abbA."""
    found = derived(WRENCH, "abbbbbc")
    assert found.productions == (1, 2, 2, 2, 2, 3, 4)
    assert "".join(found.forms[3]) == "abbA"
    assert found.counts == {1: 1, 2: 4, 3: 1, 4: 1}
    assert derivation(WRENCH, "abbbbcb") is None
    assert WRENCH.kind == "regular"
    assert sentences_of_grammar(WRENCH, 40) == tuple(tuple("a" + n * "b" + "c") for n in range(1, 39))


def test_the_automaton_of_the_wrench_is_that_of_the_textbook():
    found = automaton_of_grammar(WRENCH)
    assert dict(found.transitions) == {(0, "a"): (1,), (1, "b"): (1, 2), (2, "c"): (3,)}
    assert found.final == {3} and not found.deterministic


def test_the_automaton_with_three_states_goes_through_the_printed_ones():
    run = run_automaton(THREE_STATES, "abbabb")
    assert run.accepted and run.path == (0, 2, 1, 0, 2, 1, 0)
    run = run_automaton(THREE_STATES, "aabab")
    assert not run.accepted and run.path == (0, 2, 0, 1, 2, 1)
    assert run_automaton(THREE_STATES, "").accepted
    assert THREE_STATES.deterministic


def test_the_empty_sentence_is_not_lost_on_the_way_to_a_grammar():
    found = grammar_of_automaton(THREE_STATES)
    assert found.kind == "regular" and accepts(found, "") and derived(found, "").productions == (1,)
    assert same_language(automaton_of_grammar(found), THREE_STATES)


def test_an_opaque_string_is_a_sentence_too():
    word = "aaabcbccddcd"
    assert accepts(parse_grammar("S -> aS | bS | cS | dS | d"), word)


def wrench_rules(theta_tolerance=0.05):
    """Primitives have (length [m], direction [rad]); nonterminals have the length and directions of theirs."""

    def arms(a, rest):
        if abs(a[0] - 0.03) > 1e-4:
            return Refusal(f"the arms are {a[0]:g} m long, not 0.03 m")
        if max(abs(angle - a[1]) for angle in rest[1]) > theta_tolerance:
            return Refusal("a part does not point along the arms")
        return rest[0]

    def body(b, rest):
        if abs(b[0] - 0.0025) > 1e-4:
            return Refusal(f"a piece of the body is {b[0]:g} m long, not 0.0025 m")
        return b[0] + rest[0], (b[1], *rest[1])

    return {1: arms, 2: body, 3: body, 4: lambda c: (0.0, (c[1],))}


def wrench(pieces: int, *, theta=0.3, bent=0.0):
    body = [Primitive("b", (0.0025, theta + bent * k)) for k in range(pieces)]
    return [Primitive("a", (0.03, theta)), *body, Primitive("c", (0.03, theta))]


def test_semantics_of_the_wrench_limit_its_body():
    """1 to 11 pieces: a body of 0.25 to 2.75 cm, since production 2 is applied at most 10 times."""
    for pieces in range(1, 15):
        found = check_semantics(WRENCH, wrench(pieces), rules=wrench_rules(), at_most={2: 10})
        assert found.accepted == (pieces <= 11)
        if found.accepted:
            assert found.value == pytest.approx(0.0025 * pieces)
        else:
            assert f"applied {pieces - 1} times; at most 10" in found.reason
    bent = check_semantics(WRENCH, wrench(5, bent=0.1), rules=wrench_rules(), at_most={2: 10})
    assert not bent.accepted and bent.reason == "production 1, S -> a A: a part does not point along the arms"
    short = [Primitive("a", (0.02, 0.0)), *wrench(1)[1:]]
    assert "0.02 m long" in check_semantics(WRENCH, short, rules=wrench_rules()).reason
    assert check_semantics(WRENCH, "ac").reason == "the grammar has no derivation of it"


def test_the_tree_grammar_is_that_of_the_textbook():
    legs = parse_tree_grammar(LEGS, ranks=RANKS)
    assert [str(tree) for tree in trees_of_grammar(legs, 4)] == ["a(c(a, a))"]
    found = derived(legs, "a(b(b(c(d(a), e(e(a))))))")
    assert found.productions == (1, 2, 2, 3, 4, 5, 6, 6, 7)
    assert found.counts == {1: 1, 2: 2, 3: 1, 4: 1, 5: 1, 6: 2, 7: 1}
    with pytest.raises(ArgumentError, match=r"production 5, A2 -> e, gives 'e' 0 children; its ranks are 1"):
        parse_tree_grammar(LEGS.replace("d(A2) | a", "d(A2) | e"), ranks=RANKS)


def test_equal_counts_make_equal_legs():
    legs = parse_tree_grammar(LEGS)
    for body, left, right in itertools.product(range(3), repeat=3):
        tree = Tree("c", (_chain("d", left), _chain("e", right)))
        for _ in range(body):
            tree = Tree("b", (tree,))
        tree = Tree("a", (tree,))
        assert check_semantics(legs, tree, same_count=[(4, 6)]).accepted == (left == right)
        assert check_semantics(legs, tree, same_count=[(2, 4, 6)]).accepted == (body == left == right)


def _chain(label: str, n: int) -> Tree:
    tree = Tree("a")
    for _ in range(n):
        tree = Tree(label, (tree,))
    return tree


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("regular", [True, False])
def test_charts_and_automata_agree_with_rewriting(seed, regular):
    rng = np.random.default_rng([seed, regular])
    grammar = random_grammar(rng, regular=regular)
    language = rewritten(grammar, 5)
    assert set(sentences_of_grammar(grammar, 5)) == language
    for word in words("ab", 5):
        assert accepts(grammar, word) == (word in language)
        found = derivation(grammar, word)
        assert (found is not None) == (word in language)
        if found is not None:
            assert found.forms[-1] == word
            _check_leftmost(found)


def _check_leftmost(found):
    for before, after, number in zip(found.forms, found.forms[1:], found.productions, strict=False):
        left, right = found.grammar.productions[number - 1]
        place = next(k for k, x in enumerate(before) if x in found.grammar.nonterminals)
        assert before[place] == left and (*before[:place], *right, *before[place + 1 :]) == after


def test_derivations_of_ambiguous_sentences_are_counted_by_catalan():
    grammar = parse_grammar("S -> SS | a")
    for n, catalan in zip(range(1, 8), (1, 1, 2, 5, 14, 42, 132), strict=True):
        found = derivations(grammar, "a" * n, limit=1000)
        assert len(set(found)) == len(found) == catalan
        assert all(d.forms[-1] == tuple("a" * n) for d in found)
    assert len(derivations(grammar, "a" * 8, limit=10)) == 10


def test_units_that_run_in_circles_end():
    grammar = parse_grammar("S -> A | b; A -> B | aS; B -> S | A | a")
    assert [d.productions for d in derivations(grammar, "b")] == [(2,)]
    assert {word for word in words("ab", 4) if accepts(grammar, word)} == rewritten(grammar, 4)


@pytest.mark.parametrize("seed", range(40))
def test_automata_keep_their_language(seed):
    rng = np.random.default_rng([seed, 3])
    automaton = random_automaton(rng)
    dfa, smallest = determinized(automaton), minimized(automaton)
    grammar = grammar_of_automaton(automaton)
    back = automaton_of_grammar(grammar)
    assert dfa.deterministic and smallest.deterministic and len(smallest.states) <= len(dfa.states)
    for word in words("ab", 6):
        assert len({accepts(x, word) for x in (automaton, dfa, smallest, grammar, back)}) == 1, word
    assert all(same_language(automaton, x) for x in (dfa, smallest, back))
    again = minimized(back)
    assert dict(again.transitions) == dict(smallest.transitions) and again.final == smallest.final


@pytest.mark.parametrize("seed", range(30))
def test_the_shortest_difference_is_the_first_that_enumeration_finds(seed):
    rng = np.random.default_rng([seed, 4])
    one, two = random_automaton(rng), random_automaton(rng)
    first = next((word for word in words("ab", 8) if accepts(one, word) != accepts(two, word)), None)
    found = shortest_difference(one, two)
    assert found == first or len(found) == len(first)
    assert same_language(one, two) == (found is None)


def test_a_minimal_automaton_has_as_many_states_as_residues():
    """Binary numbers that 5 divides need 5 states; every word ending in a needs 2."""
    for n in range(1, 8):
        modulo = Automaton(range(n), "01", {(q, b): (2 * q + int(b)) % n for q in range(n) for b in "01"}, 0, {0})
        odd = n
        while odd % 2 == 0:
            odd //= 2
        twos = (n // odd).bit_length() - 1
        assert len(minimized(modulo).states) == odd + twos
    ends = Automaton("xy", "ab", {("x", "a"): {"x", "y"}, ("x", "b"): "x"}, "x", "y")
    assert len(minimized(ends).states) == 2


def test_deep_languages_do_not_overflow():
    word = "a" + 20_000 * "b" + "c"
    assert accepts(WRENCH, word)
    assert len(derived(WRENCH, word).productions) == 20_002
    nested = parse_grammar("S -> aSb | ab")
    assert accepts(nested, 150 * "a" + 150 * "b") and not accepts(nested, 150 * "a" + 149 * "b")
    assert derived(nested, 150 * "a" + 150 * "b").counts == {1: 149, 2: 1}
    deep = parse_tree("b(" * 5000 + "c" + ")" * 5000)
    assert accepts(parse_tree_grammar("S -> b(S) | c"), deep) and hash(deep) == hash(parse_tree(str(deep)))


def random_tree_grammar(rng) -> TreeGrammar:
    names = "SAB"[: rng.integers(1, 4)]
    rules = [("S", "a", ())]
    for A in names:
        for _ in range(rng.integers(1, 4)):
            rules.append((A, str(rng.choice(list("ab"))), tuple(map(str, rng.choice(list(names), rng.integers(0, 3))))))
    return TreeGrammar(tuple(rules), "S")


def all_trees(labels: str, size: int):
    """All trees with exactly so many nodes, each with at most two children."""
    if size < 1:
        return
    for label in labels:
        if size == 1:
            yield Tree(label)
        else:
            yield from (Tree(label, (child,)) for child in all_trees(labels, size - 1))
            for n in range(1, size - 1):
                for pair in itertools.product(all_trees(labels, n), all_trees(labels, size - 1 - n)):
                    yield Tree(label, pair)


@pytest.mark.parametrize("seed", range(20))
def test_tree_automata_accept_what_the_grammar_generates(seed):
    grammar = random_tree_grammar(np.random.default_rng([seed, 5]))
    language = set(trees_of_grammar(grammar, 5))
    every = [tree for n in range(1, 6) for tree in all_trees("ab", n)]
    assert {tree for tree in every if accepts(grammar, tree)} == language
    for tree in language:
        found = derived(grammar, tree)
        assert _grown(grammar, iter(found.productions)) == tree
        assert count_tree_derivations(grammar, tree) == _count(grammar, grammar.start, tree) >= 1
        assert grammar.start in tree_states(grammar, tree)[0]


def _grown(grammar: TreeGrammar, numbers) -> Tree:
    production = grammar.productions[next(numbers) - 1]
    return Tree(production.label, tuple(_grown(grammar, numbers) for _ in production.children))


def _count(grammar: TreeGrammar, A: str, tree: Tree) -> int:
    return sum(
        int(np.prod([_count(grammar, B, child) for B, child in zip(children, tree.children, strict=True)], dtype=int))
        for left, label, children in grammar.productions
        if (left, label, len(children)) == (A, tree.label, len(tree.children))
    )


def test_values_of_trees_reach_the_rules():
    """The number of a tree of sums."""
    grammar = parse_tree_grammar("S -> plus(S, S) | one".replace("plus", '"+"').replace("one", "n"))
    tree = Tree("+", (Tree("n", value=2.0), Tree("+", (Tree("n", value=3.0), Tree("n", value=4.0)))))
    rules = {1: lambda _, x, y: x + y, 2: lambda n: n}
    assert check_semantics(grammar, tree, rules=rules).value == 9.0


def test_ambiguous_sentences_are_accepted_if_one_derivation_makes_sense():
    grammar = parse_grammar("S -> A | B; A -> a; B -> a")
    rules = {3: lambda a: Refusal("not this way"), 1: lambda x: x, 2: lambda x: x, 4: lambda a: "by B"}
    assert check_semantics(grammar, "a", rules=rules).value == "by B"


def test_classes_are_told_apart_by_their_grammars():
    classes = {
        "wrench": WRENCH,
        "even": parse_grammar("S -> aA; A -> aS | a"),
        "short": parse_grammar("S -> a | aa | abc"),
    }
    assert classify_by_grammars(classes, "abbc") == ("wrench", "accepted", ("wrench",))
    assert classify_by_grammars(classes, "aa") == (None, "ambiguous", ("even", "short"))
    assert classify_by_grammars(classes, "b") == (None, "rejected", ())


# --- texts and bad input ----------------------------------------------------------------------------------------------


def test_texts_of_grammars():
    grammar = parse_grammar(
        """
        S0 -> <left arm> "edge" s1   # comments end with the line
            | a S0
        <left arm> -> s8 ( )
        """
    )
    assert grammar.nonterminals == ("S0", "left arm") and grammar.terminals == ("edge", "s1", "a", "s8", "(", ")")
    assert accepts(grammar, "a s8() edge s1") and accepts(grammar, ["s8", "(", ")", "edge", "s1"])
    assert accepts(parse_grammar("S -> λ | aA; A -> b"), "") and not accepts(WRENCH, "")
    codes = parse_grammar("S -> 0 S 2 | 0 2")
    assert accepts(codes, "000222") and codes.kind == "context-free"
    bar = parse_grammar('S -> "|" S | "|"')
    assert accepts(bar, "|||")
    assert pickle.loads(pickle.dumps(WRENCH)) == WRENCH
    assert same_language(pickle.loads(pickle.dumps(THREE_STATES)), THREE_STATES)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "no productions"),
        ("S -> ", r"line 1, column 6: a production of S needs symbols .* the text ends"),
        ("S -> a\nb -> c", r"line 2, column 1: the left side .* must be a nonterminal.*'b'"),
        ("S = a", r"line 1, column 3: '->' is needed after S; there is '='"),
        ("S -> aA", r"production 1, S -> a A, has the nonterminal A, for which there is no production"),
        ("S -> a |", "needs symbols"),
        ("S -> aλ", "or λ alone"),
        ("S -> aA; A -> λ", "production 2, A -> λ, is empty; only a start symbol"),
        ("S -> aS | λ", "is empty"),
        ("S -> a -> b", r"line 1, column 8: a production ends with"),
        (7, "a text of at most"),
    ],
)
def test_bad_texts_are_named_with_their_place(text, message):
    with pytest.raises(ArgumentError, match=message):
        parse_grammar(text)


@pytest.mark.parametrize(
    "text, message",
    [
        ("S -> a(", "a child must be a nonterminal"),
        ("S -> a(S", r"column 9: '\)' is needed"),
        ("S -> A", "begins with a terminal"),
        ("S -> a(B)", "'B' has no production"),
        ("", "no productions"),
    ],
)
def test_bad_texts_of_tree_grammars(text, message):
    with pytest.raises(ArgumentError, match=message):
        parse_tree_grammar(text)


@pytest.mark.parametrize("text", ["", "a(", "a)", "a(b", "a(,b)", "a b", "a(b)c", "(a)", "a()", '"'])
def test_bad_trees(text):
    with pytest.raises(ArgumentError, match="parse_tree"):
        parse_tree(text)


@pytest.mark.slow
def test_bad_input_of_grammars_and_automata():
    for bad, message in [
        (lambda: Grammar("SA", "aA", [("S", "a")], "S"), "'A' is a nonterminal and a terminal"),
        (lambda: Grammar("S", "a", [("S", "a")], "T"), "start symbol 'T'"),
        (lambda: Grammar("S", "a", [], "S"), "no productions"),
        (lambda: Grammar("S", "a", [("S", "ab")], "S"), "has the symbol 'b'"),
        (lambda: Grammar("S", "a", [("a", "a")], "S"), "rewrites 'a'"),
        (lambda: Grammar(3, "a", [("S", "a")], "S"), "nonterminals must be symbols"),
        (lambda: Grammar("S", "a", [("S",)], "S"), "pairs"),
        (lambda: Automaton(range(2), "a", {(0, "b"): 1}, 0, {1}), "key"),
        (lambda: Automaton(range(2), "a", {(0, "a"): 5}, 0, {1}), "leads to 5"),
        (lambda: Automaton(range(2), "a", {}, 7, {1}), "7 is the start or final"),
        (lambda: Automaton(range(2), "a", [], 0, {1}), "must be a dict"),
        (lambda: accepts("S -> a", "a"), "a Grammar, TreeGrammar or Automaton"),
        (lambda: accepts(WRENCH, 5), "a sentence is a text"),
        (lambda: accepts(WRENCH, [1, 2]), "a sentence is a text"),
        (lambda: accepts(parse_grammar("S -> SS | a"), "a" * 3000), "3000 symbols"),
        (lambda: automaton_of_grammar(parse_grammar("S -> aSb | ab")), "a regular grammar is needed"),
        (lambda: automaton_of_grammar([1]), "got list"),
        (lambda: grammar_of_automaton(Automaton(range(1), "", {}, 0, ())), "accepts nothing"),
        (lambda: derivation(THREE_STATES, "a"), "a Grammar is needed"),
        (lambda: check_semantics(WRENCH, "abc", at_most={5: 1}), "no production 5; they are numbered 1 to 4"),
        (lambda: check_semantics(THREE_STATES, "abc"), "a Grammar or TreeGrammar"),
        (lambda: check_semantics(WRENCH, "abc", rules=[1]), "rules must be"),
        (lambda: check_semantics(WRENCH, "abc", same_count=3), "same_count must be"),
        (lambda: check_semantics(WRENCH, 5), "a sentence is"),
        (lambda: sentences_of_grammar(THREE_STATES, 3), "a Grammar is needed"),
        (lambda: parse_tree_grammar(LEGS, ranks=3), "ranks must be"),
        (lambda: Automaton([0, 1], "a", {}, [0], {1}), "start or final"),
        (lambda: classify_by_grammars({}, "a"), "one class at least"),
        (lambda: tree_derivation(WRENCH, "a"), "a TreeGrammar is needed"),
        (lambda: accepts(parse_tree_grammar(LEGS), ("a", 3)), "nested tuples"),
        (lambda: sentences_of_grammar(WRENCH, -1), "length must be a whole number"),
        (lambda: sentences_of_grammar(parse_grammar("S -> aS | bS | a | b"), 30), "more than 100000"),
        (lambda: Tree("a", ("b",)), "children, which are trees"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            bad()
    n = 16  # the symbol at this place from the end is an a: 2ⁿ states
    far = {(0, "a"): (0, 1), (0, "b"): 0} | {(k, x): k + 1 for k in range(1, n) for x in "ab"}
    with pytest.raises(SolveError, match="more than 20000 states"):
        determinized(Automaton(range(n + 1), "ab", far, 0, {n}))


def test_nested_tuples_are_trees():
    assert accepts(parse_tree_grammar(LEGS), ("a", ("c", "a", ("e", "a"))))
    assert not accepts(parse_tree_grammar(LEGS), ("a", ("c", "a")))


def test_meanings_of_ambiguous_trees_try_all_derivations():
    grammar = parse_tree_grammar("S -> a(A, A) | a(A, B) | a(B, B); A -> b; B -> b")
    found = check_semantics(grammar, "a(b, b)", at_most={1: 0, 2: 0})
    assert found.accepted and found.derivation is not None
    assert found.derivation.productions == (3, 5, 5)
    refused = check_semantics(grammar, "a(b, b)", rules={4: lambda value: Refusal("no A")})
    assert refused.accepted and refused.derivation == found.derivation
    assert check_semantics(grammar, "a(b, b)", at_most={1: 0, 2: 0, 3: 0}).reason.startswith("production 1")


def test_deep_trees_are_named_in_errors():
    deep: Any = 3
    for _ in range(5000):
        deep = ("a", deep)
    with pytest.raises(ArgumentError, match=r"nested tuples .* got 3"):
        tree_derivation(parse_tree_grammar("S -> a(S) | a"), deep)
    bad: Any = ["a", deep]
    for _ in range(5000):
        bad = [bad]
    with pytest.raises(ArgumentError, match=r"nested tuples .* got list"):
        tree_derivation(parse_tree_grammar("S -> a(S) | a"), bad)


def test_large_automata_take_little_time():
    """A chain of states: a minimisation by rounds, or a search of all states at each step, would take a minute."""
    n = 10_000
    chain = Automaton(range(n), "a", {(k, "a"): k + 1 for k in range(n - 1)}, 0, {n - 1})  # type: ignore[arg-type]
    assert len(minimized(chain).states) == n
    assert run_automaton(chain, "a" * (n - 1)).accepted
    assert len(grammar_of_automaton(chain).productions) == n - 1


def test_states_of_minimal_automata_are_all_told_apart_by_sentences():
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        steps = {(q, a): tuple(rng.choice(n, rng.integers(1, 3)).tolist()) for q in range(n) for a in "ab"}
        some = {key: value for key, value in steps.items() if rng.random() < 0.7}
        automaton = Automaton(tuple(range(n)), ("a", "b"), some, 0, frozenset(np.flatnonzero(rng.random(n) < 0.4)))
        found = minimized(automaton)
        assert same_language(automaton, found)
        starts = [Automaton(found.states, ("a", "b"), found.transitions, q, found.final) for q in found.states]
        assert not any(same_language(one, other) for one, other in itertools.combinations(starts, 2))


def test_what_would_take_too_long_is_an_error():
    """Each of these would need minutes or more without a bound."""
    rng = np.random.default_rng(0)
    names = tuple(f"N{k}" for k in range(60))
    pairs = [(A, (names[i], names[j])) for A in names for i, j in rng.integers(0, 60, (4, 2))]
    large = Grammar(names, ("a",), tuple(pairs) + tuple((A, ("a",)) for A in names), "N0")  # type: ignore[arg-type]
    for call, message in (
        (lambda: accepts(large, "a" * 1500), "1500 symbols, too many for a grammar of this size"),
        (lambda: sentences_of_grammar(parse_grammar("S -> aS | a"), 10**6), "must be 2000 or less"),
        (lambda: trees_of_grammar(parse_tree_grammar("S -> a"), 10**9), "must be 2000 or less"),
        (lambda: trees_of_grammar(parse_tree_grammar(f"S -> a({','.join('S' * 12)}) | c | d"), 100), "nodes in all"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()


def test_numbers_of_trees_by_generating_functions():
    """Binary trees of n inner nodes are counted by Catalan's numbers."""
    found = trees_of_grammar(parse_tree_grammar("S -> a(S, S) | b"), 17)
    sizes = [len(tree.nodes()) for tree in found]
    assert [sizes.count(2 * n + 1) for n in range(9)] == [1, 1, 2, 5, 14, 42, 132, 429, 1430]
