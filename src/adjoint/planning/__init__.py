"""Task planning, from a goal to torques: search, logic, STRIPS, triangle tables, learning, rules, motions of robots.

`solve` finds the actions that reach a goal of PDDL, `triangle_table` and `monitor` watch them being done, `plan_task`
and `execute_task` turn symbols into motions of the robots of a world. Fu, Gonzalez & Lee (1987), Chapter 10.

| where | what |
|---|---|
| `search` | Problem solving by search: state spaces, AND/OR graphs and means-ends analysis, with explained traces |
| `logic` | Propositional and predicate logic: formulas, truth tables, clause form, unification, proofs by resolution |
| `rules` | Rule-based expert systems: rules with certainty factors, chained forward and backward, and explanations |
| `strips` | STRIPS: tasks as data, from variables to ground actions, and what heuristics know of them |
| `pddl` | PDDL: planning tasks and plans from texts, as texts, and from and to unified-planning |
| `solving` | `solve`: from a goal to a plan, by landmarks and relaxed plans (fast), or by A* (a best plan) |
| `validation` | `validate`: whether actions can be done one after the other, and reach the goal |
| `goal_stacking` | Linear planning by a stack of goals, for teaching: how it works, and where it takes detours |
| `monitoring` | Plans carried out under watch: triangle tables, kernels, and the monitor that repeats and skips steps |
| `learning` | Learning from plans: schemata, macros, and memories of solved tasks |
| `refining` | From symbols to motion: actions of a plan become motions, and failures of geometry become facts |
| `cell` | A cell that shows it all: a PUMA, a camera, a table with blocks; calibrate, look, plan, act, watch, recover |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .cell import CellCalibration as CellCalibration
    from .cell import CellContact as CellContact
    from .cell import CellLook as CellLook
    from .cell import CellRun as CellRun
    from .cell import CellScene as CellScene
    from .cell import Meddler as Meddler
    from .cell import Sightings as Sightings
    from .cell import calibrate_cell as calibrate_cell
    from .cell import draw_sightings as draw_sightings
    from .cell import random_cell as random_cell
    from .cell import random_goal as random_goal
    from .cell import run_cell as run_cell
    from .cell import see_blocks as see_blocks
    from .goal_stacking import GoalStackPlan as GoalStackPlan
    from .goal_stacking import GoalStep as GoalStep
    from .goal_stacking import goal_stack_plan as goal_stack_plan
    from .learning import Candidate as Candidate
    from .learning import MacroStore as MacroStore
    from .learning import MacroUse as MacroUse
    from .learning import PlanMemory as PlanMemory
    from .learning import PlanSchema as PlanSchema
    from .learning import TaskDistance as TaskDistance
    from .learning import expand as expand
    from .learning import generalise as generalise
    from .learning import instantiate as instantiate
    from .learning import learn_differences as learn_differences
    from .learning import load_memory as load_memory
    from .learning import macro_operator as macro_operator
    from .learning import relevant_part as relevant_part
    from .learning import task_distance as task_distance
    from .learning import with_macros as with_macros
    from .logic import EQUIVALENCES as EQUIVALENCES
    from .logic import MISPRINTED_LAW as MISPRINTED_LAW
    from .logic import MONKEY_AXIOMS as MONKEY_AXIOMS
    from .logic import MONKEY_FRAME as MONKEY_FRAME
    from .logic import MONKEY_GOAL as MONKEY_GOAL
    from .logic import And as And
    from .logic import Atom as Atom
    from .logic import Clause as Clause
    from .logic import ClauseForm as ClauseForm
    from .logic import Exists as Exists
    from .logic import ForAll as ForAll
    from .logic import Formula as Formula
    from .logic import Function as Function
    from .logic import Iff as Iff
    from .logic import Implies as Implies
    from .logic import Interpretation as Interpretation
    from .logic import Literal as Literal
    from .logic import Not as Not
    from .logic import Or as Or
    from .logic import Proof as Proof
    from .logic import ProofStep as ProofStep
    from .logic import Step as Step
    from .logic import Substitution as Substitution
    from .logic import Term as Term
    from .logic import TruthTable as TruthTable
    from .logic import Variable as Variable
    from .logic import clause_form as clause_form
    from .logic import equivalent as equivalent
    from .logic import find_countermodel as find_countermodel
    from .logic import formula as formula
    from .logic import holds as holds
    from .logic import is_satisfiable as is_satisfiable
    from .logic import is_valid as is_valid
    from .logic import prove as prove
    from .logic import resolvents as resolvents
    from .logic import situation_plan as situation_plan
    from .logic import substitute as substitute
    from .logic import term as term
    from .logic import truth_table as truth_table
    from .logic import unify as unify
    from .monitoring import Decision as Decision
    from .monitoring import Execution as Execution
    from .monitoring import TriangleTable as TriangleTable
    from .monitoring import decide as decide
    from .monitoring import highest_kernel as highest_kernel
    from .monitoring import kernel as kernel
    from .monitoring import monitor as monitor
    from .monitoring import plot_execution as plot_execution
    from .monitoring import plot_table as plot_table
    from .monitoring import triangle_table as triangle_table
    from .pddl import BOOK_TASKS as BOOK_TASKS
    from .pddl import blocks_task as blocks_task
    from .pddl import book_task as book_task
    from .pddl import book_text as book_text
    from .pddl import delivery_task as delivery_task
    from .pddl import from_unified_planning as from_unified_planning
    from .pddl import hanoi_task as hanoi_task
    from .pddl import read_domain as read_domain
    from .pddl import read_plan as read_plan
    from .pddl import read_problem as read_problem
    from .pddl import read_task as read_task
    from .pddl import to_unified_planning as to_unified_planning
    from .pddl import write_domain as write_domain
    from .pddl import write_problem as write_problem
    from .refining import Learned as Learned
    from .refining import NotSeen as NotSeen
    from .refining import Refinement as Refinement
    from .refining import TaskEvent as TaskEvent
    from .refining import TaskPlan as TaskPlan
    from .refining import TaskRound as TaskRound
    from .refining import TaskRun as TaskRun
    from .refining import execute_task as execute_task
    from .refining import joined_run as joined_run
    from .refining import manipulation_domain as manipulation_domain
    from .refining import plan_task as plan_task
    from .refining import problem_of as problem_of
    from .refining import refine as refine
    from .refining import run_refinement as run_refinement
    from .refining import sensed_facts as sensed_facts
    from .rules import BELIEVED as BELIEVED
    from .rules import REMEDIES as REMEDIES
    from .rules import SYMPTOMS as SYMPTOMS
    from .rules import Conclusions as Conclusions
    from .rules import Diagnosis as Diagnosis
    from .rules import Firing as Firing
    from .rules import KnowledgeBase as KnowledgeBase
    from .rules import Question as Question
    from .rules import Rule as Rule
    from .rules import backward_chain as backward_chain
    from .rules import combine as combine
    from .rules import diagnose as diagnose
    from .rules import diagnosis_rules as diagnosis_rules
    from .rules import fact_words as fact_words
    from .rules import forward_chain as forward_chain
    from .rules import knowledge_base as knowledge_base
    from .search import AndOrProblem as AndOrProblem
    from .search import AndOrResult as AndOrResult
    from .search import Arc as Arc
    from .search import Difference as Difference
    from .search import DifferenceTable as DifferenceTable
    from .search import Expansion as Expansion
    from .search import Goal as Goal
    from .search import HyperArc as HyperArc
    from .search import MeansEndsResult as MeansEndsResult
    from .search import Revision as Revision
    from .search import SearchProblem as SearchProblem
    from .search import SearchResult as SearchResult
    from .search import StateGraph as StateGraph
    from .search import Successor as Successor
    from .search import Trace as Trace
    from .search import a_star as a_star
    from .search import all_optimal_plans as all_optimal_plans
    from .search import and_or_example as and_or_example
    from .search import anytime_a_star as anytime_a_star
    from .search import ao_star as ao_star
    from .search import bar_path as bar_path
    from .search import bidirectional as bidirectional
    from .search import breadth_first as breadth_first
    from .search import count_optimal_plans as count_optimal_plans
    from .search import depth_first as depth_first
    from .search import desk_task as desk_task
    from .search import desk_with_two_objects as desk_with_two_objects
    from .search import difference_table as difference_table
    from .search import explicit_graph as explicit_graph
    from .search import greedy_best_first as greedy_best_first
    from .search import iterative_deepening as iterative_deepening
    from .search import means_ends as means_ends
    from .search import missionaries_and_cannibals as missionaries_and_cannibals
    from .search import monkey_and_bananas as monkey_and_bananas
    from .search import monkey_task as monkey_task
    from .search import moving_blocks as moving_blocks
    from .search import plot_and_or as plot_and_or
    from .search import plot_search as plot_search
    from .search import reachable_states as reachable_states
    from .search import tower_of_hanoi as tower_of_hanoi
    from .search import uniform_cost as uniform_cost
    from .search import weighted_a_star as weighted_a_star
    from .solving import HEURISTICS as HEURISTICS
    from .solving import solve as solve
    from .strips import Action as Action
    from .strips import Condition as Condition
    from .strips import Domain as Domain
    from .strips import Fact as Fact
    from .strips import GroundTask as GroundTask
    from .strips import Landmarks as Landmarks
    from .strips import Operator as Operator
    from .strips import Parameter as Parameter
    from .strips import Plan as Plan
    from .strips import Problem as Problem
    from .strips import RelaxedPlan as RelaxedPlan
    from .strips import exclusive_goals as exclusive_goals
    from .strips import fact_text as fact_text
    from .strips import find_landmarks as find_landmarks
    from .strips import ground as ground
    from .strips import h_add as h_add
    from .strips import h_ff as h_ff
    from .strips import h_max as h_max
    from .strips import lm_cut as lm_cut
    from .strips import relaxed_plan as relaxed_plan
    from .strips import together as together
    from .validation import Validation as Validation
    from .validation import validate as validate

# Where each name is defined: a file or folder is loaded when one of its names is first used. A test keeps this
# table and the imports above, which editors and type checkers read, the same.
_HOMES = {
    "cell": "CellCalibration CellContact CellLook CellRun CellScene Meddler Sightings calibrate_cell draw_sightings "
    "random_cell random_goal run_cell see_blocks",
    "goal_stacking": "GoalStackPlan GoalStep goal_stack_plan",
    "learning": "Candidate MacroStore MacroUse PlanMemory PlanSchema TaskDistance expand generalise instantiate "
    "learn_differences load_memory macro_operator relevant_part task_distance with_macros",
    "logic": "And Atom Clause ClauseForm EQUIVALENCES Exists ForAll Formula Function Iff Implies Interpretation "
    "Literal MISPRINTED_LAW MONKEY_AXIOMS MONKEY_FRAME MONKEY_GOAL Not Or Proof ProofStep Step "
    "Substitution Term TruthTable Variable clause_form equivalent find_countermodel formula holds "
    "is_satisfiable is_valid prove resolvents situation_plan substitute term truth_table unify",
    "monitoring": "Decision Execution TriangleTable decide highest_kernel kernel monitor plot_execution plot_table "
    "triangle_table",
    "pddl": "BOOK_TASKS blocks_task book_task book_text delivery_task from_unified_planning hanoi_task "
    "read_domain read_plan read_problem read_task to_unified_planning write_domain write_problem",
    "refining": "Learned NotSeen Refinement TaskEvent TaskPlan TaskRound TaskRun execute_task joined_run "
    "manipulation_domain plan_task problem_of refine run_refinement sensed_facts",
    "rules": "BELIEVED Conclusions Diagnosis Firing KnowledgeBase Question REMEDIES Rule SYMPTOMS backward_chain "
    "combine diagnose diagnosis_rules fact_words forward_chain knowledge_base",
    "search": "AndOrProblem AndOrResult Arc Difference DifferenceTable Expansion Goal HyperArc MeansEndsResult "
    "Revision SearchProblem SearchResult StateGraph Successor Trace a_star all_optimal_plans "
    "and_or_example anytime_a_star ao_star bar_path bidirectional breadth_first count_optimal_plans "
    "depth_first desk_task desk_with_two_objects difference_table explicit_graph greedy_best_first "
    "iterative_deepening means_ends missionaries_and_cannibals monkey_and_bananas monkey_task "
    "moving_blocks plot_and_or plot_search reachable_states tower_of_hanoi uniform_cost weighted_a_star",
    "solving": "HEURISTICS solve",
    "strips": "Action Condition Domain Fact GroundTask Landmarks Operator Parameter Plan Problem RelaxedPlan "
    "exclusive_goals fact_text find_landmarks ground h_add h_ff h_max lm_cut relaxed_plan together",
    "validation": "Validation validate",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
