"""`run` runs a program in a world, and `Session` runs it step by step."""

from __future__ import annotations

from collections.abc import Mapping

from ..world.state import World
from .instructions.programs import Program
from .running.backends import Backend
from .running.machine import RunLimits
from .running.program_runs import ProgramRun
from .running.readings import Input
from .running.sessions import BasicSession

__all__ = ["Session", "run"]


class Session(BasicSession):
    """A program that runs under control."""


def run(
    program: Program, world: World, *, backend: str | Backend = "kinematic", period: float = 0.01,
    arms: Mapping[str, str] | None = None, inputs: Mapping[str, Input] | None = None,
    noise: Mapping[str, float] | None = None, limit: int | RunLimits | None = None, check: bool = True, rng: int = 0,
) -> ProgramRun:  # fmt: skip
    """Run a program in a world up to its end: a `ProgramRun`."""
    return Session(
        program, world, backend=backend, period=period, arms=arms, inputs=inputs, noise=noise, limit=limit, rng=rng
    ).go_on()
