"""Draws the pictures of docs/planning_search.md: python docs/pictures/planning_search.py"""

from saving import save

from adjoint.planning.search import (
    a_star,
    and_or_example,
    ao_star,
    breadth_first,
    monkey_and_bananas,
    moving_blocks,
    plot_and_or,
    plot_search,
)

if __name__ == "__main__":
    save(plot_search(breadth_first(monkey_and_bananas(), trace=True)), "planning_search_monkey", dpi=110)
    save(plot_search(a_star(moving_blocks(), trace=True)), "planning_search_blocks", dpi=110)
    save(plot_and_or(ao_star(and_or_example(1))), "planning_search_and_or", dpi=110)
