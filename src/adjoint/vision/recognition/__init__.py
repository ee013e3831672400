"""Recognition: classifiers, matching, strings, grammars and automata.

| file | contents |
|---|---|
| `classifiers` | the minimum-distance classifier |
| `templates` | matching by correlation coefficients |
| `shape_matching`, `string_matching` | similarity of shape numbers and of strings |
| `symbols` | symbols in texts: the reader of productions, and sentences as tuples of symbols |
| `grammars` | string grammars, from text too, and the sentences that they generate |
| `charts` | derivations of sentences by a chart |
| `automata` | finite automata: runs, determinisation, minimisation, equivalence |
| `trees`, `tree_grammars` | trees of primitives, and grammars that generate and recognise them |
| `languages` | membership, classes by grammars, and the way between regular grammars and automata |
| `semantics` | values and limits of productions |
"""

from .automata import Automaton as Automaton
from .automata import AutomatonRun as AutomatonRun
from .automata import determinized as determinized
from .automata import minimized as minimized
from .automata import run_automaton as run_automaton
from .automata import same_language as same_language
from .automata import shortest_difference as shortest_difference
from .charts import Derivation as Derivation
from .charts import derivation as derivation
from .charts import derivations as derivations
from .classifiers import Classified as Classified
from .classifiers import MinimumDistanceClassifier as MinimumDistanceClassifier
from .classifiers import classify as classify
from .classifiers import decision_values as decision_values
from .classifiers import fit_minimum_distance as fit_minimum_distance
from .grammars import Grammar as Grammar
from .grammars import Production as Production
from .grammars import parse_grammar as parse_grammar
from .grammars import sentences_of_grammar as sentences_of_grammar
from .languages import SyntacticClass as SyntacticClass
from .languages import accepts as accepts
from .languages import automaton_of_grammar as automaton_of_grammar
from .languages import classify_by_grammars as classify_by_grammars
from .languages import grammar_of_automaton as grammar_of_automaton
from .semantics import Meaning as Meaning
from .semantics import Primitive as Primitive
from .semantics import Refusal as Refusal
from .semantics import check_semantics as check_semantics
from .shape_matching import shape_distance as shape_distance
from .shape_matching import similarity_degree as similarity_degree
from .shape_matching import similarity_matrix as similarity_matrix
from .shape_matching import similarity_tree as similarity_tree
from .string_matching import StringMatch as StringMatch
from .string_matching import angle_symbols as angle_symbols
from .string_matching import interior_angles as interior_angles
from .string_matching import string_match as string_match
from .string_matching import string_matches as string_matches
from .templates import TemplateMatches as TemplateMatches
from .templates import correlation_coefficients as correlation_coefficients
from .templates import match_template as match_template
from .tree_grammars import TreeDerivation as TreeDerivation
from .tree_grammars import TreeGrammar as TreeGrammar
from .tree_grammars import TreeProduction as TreeProduction
from .tree_grammars import count_tree_derivations as count_tree_derivations
from .tree_grammars import parse_tree_grammar as parse_tree_grammar
from .tree_grammars import tree_derivation as tree_derivation
from .tree_grammars import tree_states as tree_states
from .tree_grammars import trees_of_grammar as trees_of_grammar
from .trees import Tree as Tree
from .trees import parse_tree as parse_tree

__all__ = [
    "Automaton",
    "AutomatonRun",
    "Classified",
    "Derivation",
    "Grammar",
    "Meaning",
    "MinimumDistanceClassifier",
    "Primitive",
    "Production",
    "Refusal",
    "StringMatch",
    "SyntacticClass",
    "TemplateMatches",
    "Tree",
    "TreeDerivation",
    "TreeGrammar",
    "TreeProduction",
    "accepts",
    "angle_symbols",
    "automaton_of_grammar",
    "check_semantics",
    "classify",
    "classify_by_grammars",
    "correlation_coefficients",
    "count_tree_derivations",
    "decision_values",
    "derivation",
    "derivations",
    "determinized",
    "fit_minimum_distance",
    "grammar_of_automaton",
    "interior_angles",
    "match_template",
    "minimized",
    "parse_grammar",
    "parse_tree",
    "parse_tree_grammar",
    "run_automaton",
    "same_language",
    "sentences_of_grammar",
    "shape_distance",
    "shortest_difference",
    "similarity_degree",
    "similarity_matrix",
    "similarity_tree",
    "string_match",
    "string_matches",
    "tree_derivation",
    "tree_states",
    "trees_of_grammar",
]


def __dir__() -> list[str]:
    return __all__
