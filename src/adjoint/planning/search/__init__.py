"""Problem solving by search: state spaces, AND/OR graphs and means-ends analysis, with traces that explain each step.

| file | contents |
|---|---|
| `state_spaces` | `SearchProblem`, and `explicit_graph`, which makes one of a table |
| `open_lists` | one running search: its open list, and the step that expands a state |
| `search_results` | `SearchResult`, `Trace`, `Expansion`, `Successor` |
| `searches` | `breadth_first`, `depth_first`, `iterative_deepening`, `uniform_cost` |
| | `greedy_best_first`, `a_star`, `weighted_a_star` |
| `anytime` | `anytime_a_star` |
| `two_ended` | `bidirectional` |
| `state_graphs` | `reachable_states`, `all_optimal_plans`, `count_optimal_plans` |
| `and_or` | `AndOrProblem`, `ao_star` |
| `difference_tables` | `DifferenceTable`, and `difference_table`, which makes one of a domain |
| `goal_trees` | `means_ends` |
| `tree_layout` | columns and rows of the nodes of a drawn graph |
| `search_plots` | `plot_search`, `plot_and_or` |
| `toy_problems`, `toy_tasks` | the book's examples |
"""

from .and_or import AndOrProblem as AndOrProblem
from .and_or import AndOrResult as AndOrResult
from .and_or import HyperArc as HyperArc
from .and_or import Revision as Revision
from .and_or import ao_star as ao_star
from .anytime import anytime_a_star as anytime_a_star
from .difference_tables import Difference as Difference
from .difference_tables import DifferenceTable as DifferenceTable
from .difference_tables import difference_table as difference_table
from .goal_trees import Goal as Goal
from .goal_trees import MeansEndsResult as MeansEndsResult
from .goal_trees import means_ends as means_ends
from .search_plots import plot_and_or as plot_and_or
from .search_plots import plot_search as plot_search
from .search_results import Expansion as Expansion
from .search_results import SearchResult as SearchResult
from .search_results import Successor as Successor
from .search_results import Trace as Trace
from .searches import a_star as a_star
from .searches import breadth_first as breadth_first
from .searches import depth_first as depth_first
from .searches import greedy_best_first as greedy_best_first
from .searches import iterative_deepening as iterative_deepening
from .searches import uniform_cost as uniform_cost
from .searches import weighted_a_star as weighted_a_star
from .state_graphs import Arc as Arc
from .state_graphs import StateGraph as StateGraph
from .state_graphs import all_optimal_plans as all_optimal_plans
from .state_graphs import count_optimal_plans as count_optimal_plans
from .state_graphs import reachable_states as reachable_states
from .state_spaces import SearchProblem as SearchProblem
from .state_spaces import explicit_graph as explicit_graph
from .toy_problems import and_or_example as and_or_example
from .toy_problems import bar_path as bar_path
from .toy_problems import desk_with_two_objects as desk_with_two_objects
from .toy_problems import missionaries_and_cannibals as missionaries_and_cannibals
from .toy_problems import monkey_and_bananas as monkey_and_bananas
from .toy_problems import moving_blocks as moving_blocks
from .toy_problems import tower_of_hanoi as tower_of_hanoi
from .toy_tasks import desk_task as desk_task
from .toy_tasks import monkey_task as monkey_task
from .two_ended import bidirectional as bidirectional

__all__ = [
    "AndOrProblem",
    "AndOrResult",
    "Arc",
    "Difference",
    "DifferenceTable",
    "Expansion",
    "Goal",
    "HyperArc",
    "MeansEndsResult",
    "Revision",
    "SearchProblem",
    "SearchResult",
    "StateGraph",
    "Successor",
    "Trace",
    "a_star",
    "all_optimal_plans",
    "and_or_example",
    "anytime_a_star",
    "ao_star",
    "bar_path",
    "bidirectional",
    "breadth_first",
    "count_optimal_plans",
    "depth_first",
    "desk_task",
    "desk_with_two_objects",
    "difference_table",
    "explicit_graph",
    "greedy_best_first",
    "iterative_deepening",
    "means_ends",
    "missionaries_and_cannibals",
    "monkey_and_bananas",
    "monkey_task",
    "moving_blocks",
    "plot_and_or",
    "plot_search",
    "reachable_states",
    "tower_of_hanoi",
    "uniform_cost",
    "weighted_a_star",
]


def __dir__() -> list[str]:
    return __all__
