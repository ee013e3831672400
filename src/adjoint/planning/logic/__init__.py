"""Propositional and predicate logic: formulas, truth tables, clause form, unification, proofs by resolution.

    >>> from adjoint.planning.logic import prove
    >>> prove(["forall x. MAN(x) -> MORTAL(x)", "MAN(JOHN)"], "exists y. MORTAL(y)").answer
    {'y': term('JOHN')}

| file | contents |
|---|---|
| `terms` | `Variable`, `Function`, and terms in the place of variables |
| `formulas` | `Atom`, `Not`, `And`, `Or`, `Implies`, `Iff`, `ForAll`, `Exists`, and how they print |
| `formula_reader` | `formula` and `term`, from text |
| `truth_tables` | `truth_table`, `is_valid`, `is_satisfiable`, `equivalent`, and the book's equivalences |
| `unification` | `unify` and `substitute` |
| `clauses` | `Literal`, `Clause`, and which clause says less than another |
| `clause_forms` | `clause_form`, step by step |
| `resolving` | the rules of inference: resolution and factoring |
| `problems` | axioms and a goal as clauses |
| `resolution` | `prove`, the search for a contradiction |
| `proofs` | `Proof`, its steps and its answer |
| `interpretations` | `Interpretation`, names over a few objects, and `holds` |
| `satisfiability` | values of propositions that make clauses true |
| `countermodels` | `find_countermodel`, which shows that there is no proof |
| `situation_calculus` | states as terms: the monkey and the bananas |

Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
"""

from .clause_forms import ClauseForm as ClauseForm
from .clause_forms import Step as Step
from .clause_forms import clause_form as clause_form
from .clauses import Clause as Clause
from .clauses import Literal as Literal
from .countermodels import find_countermodel as find_countermodel
from .formula_reader import formula as formula
from .formula_reader import term as term
from .formulas import And as And
from .formulas import Atom as Atom
from .formulas import Exists as Exists
from .formulas import ForAll as ForAll
from .formulas import Formula as Formula
from .formulas import Iff as Iff
from .formulas import Implies as Implies
from .formulas import Not as Not
from .formulas import Or as Or
from .interpretations import Interpretation as Interpretation
from .interpretations import holds as holds
from .proofs import Proof as Proof
from .proofs import ProofStep as ProofStep
from .resolution import prove as prove
from .resolving import resolvents as resolvents
from .situation_calculus import MONKEY_AXIOMS as MONKEY_AXIOMS
from .situation_calculus import MONKEY_FRAME as MONKEY_FRAME
from .situation_calculus import MONKEY_GOAL as MONKEY_GOAL
from .situation_calculus import situation_plan as situation_plan
from .terms import Function as Function
from .terms import Substitution as Substitution
from .terms import Term as Term
from .terms import Variable as Variable
from .truth_tables import EQUIVALENCES as EQUIVALENCES
from .truth_tables import MISPRINTED_LAW as MISPRINTED_LAW
from .truth_tables import TruthTable as TruthTable
from .truth_tables import equivalent as equivalent
from .truth_tables import is_satisfiable as is_satisfiable
from .truth_tables import is_valid as is_valid
from .truth_tables import truth_table as truth_table
from .unification import substitute as substitute
from .unification import unify as unify

__all__ = [
    "EQUIVALENCES",
    "MISPRINTED_LAW",
    "MONKEY_AXIOMS",
    "MONKEY_FRAME",
    "MONKEY_GOAL",
    "And",
    "Atom",
    "Clause",
    "ClauseForm",
    "Exists",
    "ForAll",
    "Formula",
    "Function",
    "Iff",
    "Implies",
    "Interpretation",
    "Literal",
    "Not",
    "Or",
    "Proof",
    "ProofStep",
    "Step",
    "Substitution",
    "Term",
    "TruthTable",
    "Variable",
    "clause_form",
    "equivalent",
    "find_countermodel",
    "formula",
    "holds",
    "is_satisfiable",
    "is_valid",
    "prove",
    "resolvents",
    "situation_plan",
    "substitute",
    "term",
    "truth_table",
    "unify",
]


def __dir__() -> list[str]:
    return __all__
