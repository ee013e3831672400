"""Draws the pictures of docs/planning_monitoring.md: python docs/pictures/planning_tables.py"""

from saving import save

from adjoint.planning.monitoring import monitor, plot_execution, plot_table, triangle_table
from adjoint.planning.pddl import book_task
from adjoint.planning.strips import Plan

STEPS = "unstack c a, putdown c, pickup b, stack b c, pickup a, stack a b"


def blocks_plan() -> Plan:
    """The plan of Sec. 10.6: B on C, and A on B."""
    task = book_task("blocks")
    return Plan(task, tuple(task.action(*step.split()) for step in STEPS.split(", ")))


def faulty_state(plan: Plan) -> frozenset:
    """After four steps the arm has grabbed B instead of A."""
    lost, found = {("on", "b", "c"), ("handempty",), ("clear", "b")}, {("holding", "b"), ("clear", "c")}
    return (plan.states[4] - lost) | found


def faulty_execution(plan: Plan):
    """The plan carried out with that fault at the fifth action."""
    states = [plan.problem.initial]

    def act(action):
        states.append(faulty_state(plan) if len(states) == 5 else action.result(states[-1]))

    return monitor(plan, lambda: states[-1], act)


if __name__ == "__main__":
    blocks = blocks_plan()
    table = triangle_table(blocks)
    save(plot_table(table), "planning_table_blocks", dpi=110)
    save(plot_table(table, faulty_state(blocks)), "planning_table_kernel", dpi=110)
    save(plot_execution(faulty_execution(blocks)), "planning_table_execution", dpi=110)
