"""`run_refinement`: the motions of a refinement, run as they were planned, in kinematics or in dynamics."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ...program.execution import Session
from ...program.running.backends import Backend
from ...program.running.program_runs import ProgramRun
from ...world import World
from ..limits import check_kind
from .refinements import Refinement
from .transfers import PERIOD

__all__ = ["run_refinement"]


def run_refinement(
    refinement: Refinement, world: World, *, actual: World | None = None, backend: str | Backend = "kinematic",
    **options: Any,
) -> ProgramRun:  # fmt: skip
    """Run the motions of a refinement in a world, without planning again.

        >>> from adjoint.planning.refining import manipulation_domain, refine
        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.325])
        >>> w = w.add("a", cuboid(0.05, 0.05, 0.05), at=[0.5, -0.1, -0.275])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.14]))
        >>> found = refine(w, manipulation_domain(w).operator("pick").ground("arm", "a", "table"))
        >>> run_refinement(found, w).world.holding("arm")
        ['a']

    `actual` is the world as it is, if it differs from the one that is believed; `backend` and other `options` are those
    of `adjoint.program.run`. The result is a `ProgramRun`, whose status and message tell what went wrong.
    """
    check_kind("run_refinement", refinement, Refinement, "the first argument")
    if not refinement.solved:
        raise ArgumentError(f"run_refinement: {refinement.action} has no motions: {refinement.reason}")

    class Prepared(Session):
        """A session whose tasks have been refined already."""

        refine = staticmethod(lambda *arguments, **named: refinement.steps)

    return Prepared(
        refinement.program, world, check=False, backend=backend, period=PERIOD, actual=actual, **options
    ).go_on()  # fmt: skip


def __dir__() -> list[str]:
    return __all__
