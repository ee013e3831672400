"""Worlds for programs in AML: a Cartesian arm like the RS-1, with a hand, and inches."""

import numpy as np

import adjoint as aj
from adjoint.program.execution import run
from adjoint.program.instructions import Source
from adjoint.program.languages.aml import parse_aml
from adjoint.world import DEGREE, INCH, Gripper, World

UNITS = np.array([INCH] * 3 + [DEGREE] * 3)
"""What one of AML's numbers is for each joint [m, rad]."""


def cartesian_arm() -> aj.Robot:
    """The Cartesian arm of the catalog: three joints that slide, then three that turn; its dimensions are ours."""
    return aj.robots.gantry()


def cell(q=(0, 0, 0, 0, 0, 0)) -> World:
    """A world with the arm, at q (6,) in inches and degrees, whose hand opens up to 4 inches."""
    hand = Gripper(opening=4 * INCH, depth=1.5 * INCH, breadth=0.8 * INCH, tip=0.5 * INCH, T_tool_grip=np.eye(4))
    return World().add_robot("arm", cartesian_arm(), q=np.asarray(q, float) * UNITS, gripper=hand)


def ran(text: str, world: World | None = None, **options):
    """The run of a text of AML in a cell."""
    return run(parse_aml(Source(text, "test.aml")), cell() if world is None else world, **options)


def inches(run) -> np.ndarray:
    """Where the arm is after a run, (6,) in inches and degrees."""
    return run.world.robots["arm"].q / UNITS
