"""Plans of other planners, and plans as the validator of unified-planning sees them."""

from __future__ import annotations

import tempfile
from contextlib import chdir

from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import OneshotPlanner, PlanValidator

__all__ = ["solved_by", "up_validates"]


def solved_by(engine: str, up_problem):
    """What a planner of unified-planning says: `.plan`, `.status`.

    It runs in a folder of its own, as Fast Downward writes output.sas into the current one, which others may share.
    """
    with tempfile.TemporaryDirectory() as folder, chdir(folder), OneshotPlanner(name=engine) as planner:
        return planner.solve(up_problem)  # type: ignore[attr-defined]


def up_validates(up_problem, plan) -> bool:
    """Whether the validator of unified-planning finds a plan right."""
    steps = [ActionInstance(up_problem.action(a.name), tuple(map(up_problem.object, a.arguments))) for a in plan]
    with PlanValidator(name="sequential_plan_validator") as validator:
        return validator.validate(up_problem, SequentialPlan(steps)).status.name == "VALID"  # type: ignore[attr-defined]
